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


@settings(max_examples=drawn(40), deadline=None)
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


def test_frames_have_the_metrics():
    log = simulate_tasks(JOBS, CLUSTER, "fifo", 20)
    jobs, times = over_time.job_frame(log), over_time.time_frame(log, BOUNDS)
    assert jobs["completion"].tolist() == metrics.completion_times(log).tolist()
    assert times["cpu in use"].tolist() == metrics.utilisation(log, BOUNDS)[:, 0].tolist()
    assert times["jobs completed"].tolist() == [0, 0, 1, 1]
    assert times["Jain's index"].between(0.5, 1).all()
