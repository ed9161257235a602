"""Metrics over time, against sums over single tasks and numbers by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import simulations
from tolerances import RESIDUAL, ROUNDING

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.models.errors import InstanceError
from fairalloc.simulation import Cluster, ServerEvents, Workload, metrics, over_time, simulate_fluid, simulate_tasks

CLUSTER = Cluster(["cpu", "memory"], [[1, 2], [2, 2]], [1, 4])
JOBS = Workload(
    ["cpu", "memory"], ["ann", "bob"], [1, 1], [0, 1], [0, 1], [2, 5], [4, 2], [[1, 0.5], [0.5, 1]]
)  # fmt: skip
BOUNDS = [0.0, 0.5, 2.0, 3.75, 9.0]


def overlap(start, end, bounds):
    return [max(0.0, min(end, b) - max(start, a)) / (b - a) for a, b in pairwise(bounds)]


@settings(max_examples=drawn(40))
@given(made=simulations())
def test_utilisation_and_shares_are_sums_over_tasks(made):
    workload, cluster, events, until = made
    log = simulate_tasks(workload, cluster, "best-fit-drfh", until, events=events)
    used = np.zeros((4, len(cluster.counts), len(cluster.resources)))
    mine = np.zeros((4, len(workload.users), len(cluster.resources)))
    for b in range(len(log)):
        taken = np.outer(overlap(log.start[b], log.end[b], BOUNDS), log.tasks[b] * workload.demand[log.job[b]])
        used[:, cluster.server_class[log.server[b]]] += taken
        mine[:, workload.job_user[log.job[b]]] += taken
    capacity = cluster.counts[:, None] * cluster.capacities
    assert np.allclose(metrics.utilisation(log, BOUNDS, by_class=True) * capacity, used, atol=ROUNDING)
    assert np.allclose(metrics.utilisation(log, BOUNDS) * cluster.totals, used.sum(axis=1), atol=ROUNDING)
    assert np.allclose(metrics.dominant_shares(log, BOUNDS, resources=True) * cluster.totals, mine, atol=ROUNDING)
    assert np.array_equal(metrics.dominant_shares(log, BOUNDS), metrics.dominant_shares(log, BOUNDS, resources=True).max(axis=2))


@pytest.mark.parametrize("jobs", [JOBS, JOBS.by_job()])
def test_divisible_tasks_that_all_have_room_have_the_metrics_of_whole_ones(jobs):
    """Seven tasks have room at once: both simulations serve them alike."""
    fluid = simulate_fluid(jobs, CLUSTER, "drfh", 20)
    tasks = simulate_tasks(jobs, CLUSTER, "best-fit-drfh", 20)
    for metric in (metrics.utilisation, metrics.dominant_shares):
        assert np.allclose(metric(fluid, BOUNDS), metric(tasks, BOUNDS), atol=1e3 * ROUNDING)
    for metric in (metrics.completion_times, metrics.completion_ratios, metrics.delays_per_quantum):
        assert np.allclose(metric(fluid), metric(tasks), atol=1e3 * ROUNDING)
    assert metrics.completion_times(tasks).tolist() == [4.0, 2.0]
    assert metrics.delays_per_quantum(tasks).tolist() == [0.5, 0.2]


def test_by_class_the_used_parts_are_those_of_the_steps():
    fluid = simulate_fluid(JOBS, CLUSTER, "drfh", 20)
    parts = metrics.utilisation(fluid, [0, 1, 3], by_class=True)
    capacity = CLUSTER.counts[:, None] * CLUSTER.capacities
    assert np.allclose(parts[0] * capacity, fluid.steps[0].used, atol=ROUNDING)
    assert np.allclose((parts * capacity).sum(axis=1), [[2, 1], [4.5, 6]], atol=1e3 * ROUNDING)


def test_what_is_not_completed():
    log = simulate_tasks(JOBS, CLUSTER, "best-fit-drfh", 3.5)
    assert np.isnan(metrics.completion_times(log)[0])
    assert metrics.completion_ratios(log).tolist() == [0, 1]
    alone = simulate_tasks(JOBS.chosen(np.array([0])), CLUSTER, "best-fit-drfh")
    assert metrics.completion_ratios(alone)[0] == 1
    assert np.isnan(metrics.completion_ratios(alone)[1])


def test_the_deviation_as_a_measure_over_time():
    of = {"deviation": lambda allocation: deviation(allocation.instance, allocation.x).mean()}
    fair, other = (simulate_fluid(JOBS, CLUSTER, name, measures=of, limited=False) for name in ("ps-dsf", "tsf"))
    found = np.array([[step.measures["deviation"] for step in log.steps if len(step.users) == 2] for log in (fair, other)])
    assert np.all(np.abs(found[0]) < RESIDUAL)
    assert np.all(found[1] > 0.1)


def test_bounds_must_ascend():
    log = simulate_tasks(JOBS, CLUSTER, "best-fit-drfh")
    with pytest.raises(InstanceError, match="at least two ascending numbers of seconds"):
        metrics.utilisation(log, [0, 0])
    over = (over_time.fragmentation, over_time.share_deficits, over_time.jain_over_time, over_time.time_frame)
    for times in (5, ["a", "b"], [[0, 1]], [0, np.nan], [0, np.inf]):
        for of in (metrics.utilisation, *over):
            with pytest.raises(InstanceError, match="times"):
                of(log, times)
    nobody = simulate_tasks(Workload(["cpu"], [], [], [], [], [], [], np.zeros((0, 1))), Cluster(["cpu"], [[1]]), "fifo", 5)
    assert over_time.time_frame(nobody, [0, 5])["mean share deficit"].tolist() == [0]


TWO = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 1], [4, 1], [10, 5], [[0.5], [0.5]])


def test_waiting_slowdown_and_finish_time_fairness_by_hand():
    """One machine: ann takes both halves until 10, then two more; bob's task starts at 10 under DRFH, for ann has more."""
    log = simulate_tasks(TWO, Cluster(["cpu"], [[1]]), "best-fit-drfh")
    assert metrics.waiting_times(log).tolist() == [0, 9]
    assert metrics.completion_times(log).tolist() == [25, 14]
    assert metrics.slowdowns(log).tolist() == [2.5, 2.8]
    assert metrics.fair_durations(TWO, log.cluster).tolist() == [40, 5]  # half a machine runs one task at a time
    assert metrics.finish_time_fairness(log).tolist() == [25 / 40, 14 / 5]
    fluid = simulate_fluid(TWO, Cluster(["cpu"], [[1]]), "drfh")
    assert metrics.waiting_times(fluid).tolist() == [0, 0]


def test_with_a_period_a_job_waits_for_the_next_allocation_also_where_its_user_runs_others():
    """At 3 s the first job ends while the second runs; the third, of the same user, came at 2 s and runs from 10 s on."""
    jobs = Workload(["cpu"], ["ann"], [1], [0, 0, 0], [0, 0, 2], [1, 2, 1], [3, 20, 5], [[0.1]] * 3)
    log = simulate_fluid(jobs, Cluster(["cpu"], [[1]]), "drfh", every=10)
    assert (metrics.waiting_times(log).tolist(), log.completed.tolist()) == ([0, 0, 8], [3, 20, 15])
    assert np.isnan(metrics.waiting_times(simulate_fluid(jobs, log.cluster, "drfh", 10.0, 10))[2])


def test_share_deficit_is_what_drfh_gives_and_the_scheduler_does_not():
    log = simulate_tasks(TWO, Cluster(["cpu"], [[1]]), "best-fit-drfh")
    assert over_time.share_deficits(log, [0.5, 2, 12, 30]) == pytest.approx(
        np.array([[0, 0], [0, 0.5], [0, 0], [0, 0]]), abs=1e-6
    )
    stopped = simulate_tasks(TWO, Cluster(["cpu"], [[1]]), "best-fit-drfh", until=2)
    assert over_time.share_deficits(stopped, [2]) == pytest.approx(np.array([[0, 0.5]]), abs=1e-6)
    alone = simulate_tasks(TWO, Cluster(["cpu"], [[1]]), "best-fit-drfh", events=ServerEvents([2], [0], [False]), until=5)
    assert over_time.share_deficits(alone, [4]).tolist() == [[0, 0]]


def test_fragmentation_is_what_is_free_where_tasks_have_no_room():
    """Of five tasks four take 0.5 and one takes 1: half a machine is free on one of two, so a fifth of it is of no use."""
    jobs = Workload(["cpu"], ["u"], [1], [0, 0], [0, 5], [4, 1], [10, 10], [[0.5], [1]])
    log = simulate_tasks(replace(jobs, tasks=[1, 1]), Cluster(["cpu"], [[1]], [2]), "first-fit-drfh")
    many = replace(log, workload=jobs)
    assert over_time.fragmentation(many, [1.0])[0, 0, 0] == pytest.approx(0.2 * 0.5 / 1.5)
    assert over_time.fragmentation(many, [30.0])[0, 0, 0] == 0
    far = replace(jobs, arrival=[0, 0], tasks=[1, 1], demand=[[0.5], [8e11]])  # half of what is free on either machine
    log = simulate_tasks(far, Cluster(["cpu"], [[1], [1e12]]), "first-fit-drfh")
    assert over_time.fragmentation(log, [1.0]).ravel().tolist() == [0.5, 0.5]


def test_a_job_that_ends_with_an_interval_is_completed_in_it():
    log = simulate_tasks(Workload(["cpu"], ["u"], [1], [0], [0], [1], [10], [[1]]), Cluster(["cpu"], [[1]]), "fifo")
    assert over_time.time_frame(log, [0, 10, 20])["jobs completed"].tolist() == [1, 0]
    assert over_time.time_frame(log, [10, 20])["jobs completed"].tolist() == [0], "it was completed before"
    jobs = Workload(["cpu"], ["a", "b"], [1, 1], [0, 1, 0], [0.2, 0.7, 0.8], [1] * 3, [2.2, 1.4, 0.7], [[0.6]] * 3)
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "fifo")  # 0.7 + (end - 0.7) is above the end
    bounds = [0, *log.end]
    assert over_time.time_frame(log, bounds)["jobs completed"].tolist() == [1, 1, 1]
    assert over_time.jain_over_time(log, bounds)[-1] == 1, "only the last job is there"


def test_frames_have_the_metrics():
    log = simulate_tasks(JOBS, CLUSTER, "fifo", 20)
    jobs, times = over_time.job_frame(log), over_time.time_frame(log, BOUNDS)
    assert jobs["completion"].tolist() == metrics.completion_times(log).tolist()
    assert times["cpu in use"].tolist() == metrics.utilisation(log, BOUNDS)[:, 0].tolist()
    assert times["jobs completed"].tolist() == [0, 0, 1, 1]
    assert times["Jain's index"].between(0.5, 1).all()


def waterfill(wanted, weights, total):
    """Shares of one resource by the definition of max-min fairness: raise all by weight until they have what they want."""
    shares, level = np.zeros(len(wanted)), 0.0
    for level in sorted(want / w for want, w in zip(wanted, weights, strict=True)):
        raised = np.minimum(wanted, level * weights)
        if raised.sum() > total:
            break
        shares = raised
    else:
        return shares
    lower = shares.sum()
    open_ = wanted > level * weights * (1 - 1e-12)
    return np.where(open_, (total - (lower - shares[open_].sum())) * weights / weights[open_].sum(), wanted)


def busy(jobs, log, n, begin, end):
    """Whether a user is there with a job that has arrived before the end and is not completed before the beginning."""
    mine = [j for j in range(len(jobs)) if jobs.job_user[j] == n and jobs.arrival[j] < min(end, jobs.leave[n])]
    return jobs.leave[n] > begin and any(not log.completed[j] <= begin for j in mine)


@settings(max_examples=drawn(40))
@given(made=simulations())
def test_fairness_over_time_is_jains_index_of_those_with_work(made):
    workload, cluster, events, until = made
    log = simulate_tasks(workload, cluster, "fifo", until, events=events)
    shares = metrics.dominant_shares(log, BOUNDS) / workload.weights
    for t, (begin, end) in enumerate(pairwise(BOUNDS)):
        row = np.array([shares[t, n] for n in range(len(workload.users)) if busy(workload, log, n, begin, end)])
        expected = row.sum() ** 2 / (len(row) * (row**2).sum()) if row.any() else np.nan
        assert over_time.jain_over_time(log, BOUNDS)[t] == pytest.approx(expected, nan_ok=True)


def test_jobs_that_arrive_after_their_user_left_are_no_unfinished_jobs():
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 3], [1, 1], [9, 9], [[0.5]] * 2, leave=[np.inf, 2])
    for log in (simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "fifo"), simulate_fluid(jobs, Cluster(["cpu"], [[1]]), "drfh")):
        assert over_time.jain_over_time(log, [0, 4]).tolist() == [1]


def test_while_all_machines_are_down_nobody_has_anything():
    """Jain's index is nan then, and not that of what is left of 0.1 + 0.2 - 0.3; times that are late lose no digits."""
    jobs = Workload(["cpu"], ["a", "b"], [1, 1], [0, 0, 1], [0, 0, 0.125], [1, 2, 3], [0.375, 0.75, 9], [[0.3], [0.1], [0.2]])
    for late in (0.0, 2.0**31):
        events = ServerEvents([late + 1.125, late + 2], [0, 0], [False, True])
        log = simulate_tasks(replace(jobs, arrival=jobs.arrival + late), Cluster(["cpu"], [[1]]), "fifo", events=events)
        assert np.isnan(over_time.jain_over_time(log, np.array([0, 1.125, 2, 3]) + late)).tolist() == [False, True, False]
        assert metrics.dominant_shares(log, np.array([0.25, 0.5]) + late)[0] == pytest.approx([0.35, 0.5], abs=1e-12)


def running_at(log, time):
    """The groups that run at a time, those that still run at the end too."""
    still = (log.outcome == 0) & (time == log.until)
    return np.flatnonzero((log.start <= time) & ((log.end > time) | still))


@settings(max_examples=drawn(40))
@given(made=simulations())
def test_fragmentation_is_the_mean_over_tasks_of_what_has_no_room(made):
    workload, cluster, events, until = made
    log = simulate_tasks(workload, cluster, "fifo", until, events=events)
    allowed = np.ones((len(workload), len(cluster.counts)), bool) if workload.eligible is None else workload.eligible
    for time in (0.0, 2.0, until):
        free = cluster.capacities[cluster.server_class] * events.up_at(time, len(cluster.server_class))[:, None]
        for b in running_at(log, time):
            free[log.server[b]] -= log.tasks[b] * workload.demand[log.job[b]]
        free[free < 1e-9] = 0
        lost, every = np.zeros((2, len(cluster.counts), len(cluster.resources)))
        for s, k in enumerate(cluster.server_class):
            room = np.all(workload.demand <= free[s] + 1e-9, axis=1) & allowed[:, k]
            lost[k] += workload.tasks[~room].sum() / workload.tasks.sum() * free[s]
            every[k] += free[s]
        expected = np.where(every > 0, lost / np.where(every > 0, every, 1), 0)
        assert over_time.fragmentation(log, [time])[0] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_share_deficits_are_the_distance_from_max_min_fairness(seed):
    """Of one resource on machines of one size DRFH fills up the shares by weight."""
    rng = np.random.default_rng(seed)
    users, sizes = rng.integers(4, size=12), rng.choice([0.1, 0.25, 0.5], 12)
    weights, leave = rng.choice([1.0, 2.0, 3.0], 4), np.array([np.inf, np.inf, 7.0, np.inf])
    each = (users, rng.integers(0, 8, 12), rng.integers(1, 5, 12), rng.choice([2, 3.5], 12), sizes[:, None])
    jobs = Workload(["cpu"], list("abcd"), weights, *each, leave=leave)
    cluster, events = Cluster(["cpu"], [[1]], [3]), ServerEvents([1, 5], [2, 2], [False, True])
    log = simulate_tasks(jobs, cluster, "fifo", events=events)
    for time in (0.0, 2.0, 6.0, 8.0, 20.0):
        machines = 2 if 1 <= time < 5 else 3
        wanted, has = np.zeros(4), np.zeros(4)
        for j, n in enumerate(jobs.job_user):
            ended = sum(log.tasks[b] for b in np.flatnonzero((log.job == j) & (log.outcome == 1) & (log.end <= time)))
            if jobs.arrival[j] <= time < jobs.leave[n]:
                wanted[n] += (jobs.tasks[j] - ended) * jobs.demand[j, 0] / machines
        for b in running_at(log, time):
            has[jobs.job_user[log.job[b]]] += log.tasks[b] * jobs.demand[log.job[b], 0] / machines
        expected = np.where(wanted > 0, np.maximum(0, waterfill(wanted, weights, 1.0) - has), 0)
        assert over_time.share_deficits(log, [time])[0] == pytest.approx(expected, abs=1e-6), time


def test_a_frame_over_time_has_the_largest_and_the_mean_deficit_and_every_class():
    log = simulate_tasks(TWO, Cluster(["cpu"], [[1], [0.5]], names=["big", "small"]), "best-fit-drfh")
    bounds = [0, 0.5, 2, 12, 40]
    frame, deficits = over_time.time_frame(log, bounds), over_time.share_deficits(log, bounds[1:])
    assert deficits.max() > 0
    assert frame["largest share deficit"].tolist() == deficits.max(axis=1).tolist()
    assert frame["mean share deficit"].tolist() == deficits.mean(axis=1).tolist()
    assert frame["jobs completed"].sum() == 2
    assert frame["cpu in use on small"].tolist() == metrics.utilisation(log, bounds, by_class=True)[:, 1, 0].tolist()
    assert frame["cpu fragmented on big"].tolist() == over_time.fragmentation(log, bounds[1:])[:, 0, 0].tolist()


@settings(max_examples=drawn(30))
@given(made=simulations())
def test_completions_and_waits_are_read_of_single_tasks(made):
    workload, cluster, events, until = made
    log = simulate_tasks(workload, cluster, "fifo", until, events=events)
    completion, waiting = metrics.completion_times(log), metrics.waiting_times(log)
    done = np.zeros(len(workload))
    for j in range(len(workload)):
        mine, finished = np.flatnonzero(log.job == j), np.flatnonzero((log.job == j) & (log.outcome == 1))
        done[j] = sum(log.tasks[b] for b in finished)
        last = max((log.end[b] for b in finished), default=np.nan) if done[j] == workload.tasks[j] else np.nan
        assert completion[j] == pytest.approx(last - workload.arrival[j], nan_ok=True)
        assert waiting[j] == pytest.approx(min((log.start[b] for b in mine), default=np.nan) - workload.arrival[j], nan_ok=True)
    for n, ratio in enumerate(metrics.completion_ratios(log)):
        mine = (workload.job_user == n) & (workload.arrival <= until)
        assert ratio == pytest.approx(done[mine].sum() / workload.tasks[mine].sum() if mine.any() else np.nan, nan_ok=True)
