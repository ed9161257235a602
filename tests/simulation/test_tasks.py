"""The simulation of tasks: event by event what the plain one does, and what W says of the heuristic (9)."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from plain_scheduling import BASELINES, SEED, PlainCluster, plain_simulation
from profiles import drawn
from strategies import simulations

from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.simulation import Cluster, Scheduler, ServerEvents, Workload, simulate_tasks
from fairalloc.simulation.schedulers import Slots

OUTCOMES = ("running", "finished", "lost", "left")
RULES = {
    "best-fit-drfh": "best-fit-drfh",
    "first-fit-drfh": "first-fit-drfh",
    "two-choice-drfh": "two-choice-drfh",
    "best-fit-ps-dsf": "best-fit-ps-dsf",
    **{rule: rule for rule in (*BASELINES, "random")},
    "slots 4": Slots(4),
    "slots 10 each": Slots(10, one_each=True),
}


def rows(log):
    """(start, job, server, end, outcome) of every single task, sorted."""
    columns = (log.start, log.job, log.server, log.end, log.outcome)
    each = [np.repeat(column, log.tasks).tolist() for column in columns]
    return sorted((start, j, s, end, OUTCOMES[o]) for start, j, s, end, o in zip(*each, strict=True))


def many_users(seed, decimal=False):
    """Four to seven users with two jobs each, and five machines of three classes; in decimals of any size, many exact fits."""
    rng = np.random.default_rng(seed)
    users = int(rng.integers(4, 8))
    capacities = rng.choice([0.25, 0.3, 0.5, 0.7, 1.0], (3, 2))
    demand = capacities[rng.integers(3, size=2 * users)] * rng.choice([0.0, 0.1, 1 / 3, 0.5], (2 * users, 2))
    demand[:, 0] += np.where(demand.any(axis=1), 0.0, 0.1)
    weights, owners = rng.choice([1, 2], users), rng.integers(users, size=2 * users)
    if decimal:
        parts, weights = 10.0 ** rng.integers(-3, 5, 2), rng.choice([0.3, 0.7, 1.1, 2, 3], users)
        capacities, demand = rng.choice([8, 12, 16, 30], (3, 2)) / parts, rng.choice([0, 1, 2, 3], (2 * users, 2)) / parts
        demand[~demand.any(axis=1), 0] = 1 / parts[0]
    at, last = ([0, 0.1, 0.3], [0.1, 0.2, 0.3]) if decimal else ([0, 1, 2], [1, 2.5, 3])
    arrival, tasks, duration = (rng.choice(values, 2 * users) for values in (at, [1, 2, 3, 4], last))
    names = [f"u{n}" for n in range(users)]
    workload = Workload(["cpu", "memory"], names, weights, owners, arrival, tasks, duration, demand)
    return workload, Cluster(["cpu", "memory"], capacities, [1, 2, 2])


@pytest.mark.few(8)
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=drawn(60))
@given(made=simulations())
def test_every_start_and_end_is_that_of_the_plain_simulation(rule, made):
    workload, cluster, events, until = made
    if rule == "slots 4":  # else a task may be kept from the only machine with slots enough
        workload = replace(workload, eligible=None)
    log = simulate_tasks(workload, cluster, RULES[rule], until, seed=SEED, events=events)
    expected, waiting = plain_simulation(workload, cluster, rule, until, events)
    assert rows(log) == expected
    assert log.waiting.tolist() == waiting


@pytest.mark.parametrize("seed", [0, 28])
def test_many_users_are_asked_in_order(seed):
    """Who has no longer the least share waits for the least of all others, and not only for the next one in the heap."""
    workload, cluster = many_users(seed)
    log = simulate_tasks(workload, cluster, "best-fit-ps-dsf", 1e3)
    expected, waiting = plain_simulation(workload, cluster, "best-fit-ps-dsf", 1e3, ServerEvents())
    assert rows(log) == expected
    assert log.waiting.tolist() == waiting


@pytest.mark.parametrize("seed", [7, pytest.param(14, marks=pytest.mark.deep)])
def test_a_user_whose_job_has_no_room_any_more_is_asked_for_its_next_one(seed):
    """Under PS-DSF the next job may run on a machine where the user has less: it goes before users that were asked earlier."""
    rng = np.random.default_rng(seed)
    users, count = int(rng.integers(4, 9)), int(rng.integers(8, 30))
    capacities, demand = rng.choice([8, 12, 16, 30], (4, 2)) / 10, rng.choice([1, 2, 3, 5, 8, 13], (count, 2)) / 10
    weights, owners = rng.choice([1, 2, 3], users), rng.integers(users, size=count)
    times = (np.zeros(count), rng.choice([1, 2, 3, 5, 9], count), rng.choice([1, 2.5, 3], count))
    workload = Workload(["cpu", "memory"], [f"u{n}" for n in range(users)], weights, owners, *times, demand)
    cluster = Cluster(["cpu", "memory"], capacities, [2, 3, 4, 3])
    workload = workload.chosen(workload.placeable(cluster))
    log = simulate_tasks(workload, cluster, "best-fit-ps-dsf", 1e3)
    assert rows(log) == plain_simulation(workload, cluster, "best-fit-ps-dsf", 1e3, ServerEvents())[0]


@pytest.mark.few(7)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 916), marks=pytest.mark.deep)], ids=len)
def test_decimals_fit_and_tie_as_in_rationals(rule, seeds):
    """With all rules 10,000 traces."""
    for seed in seeds:
        workload, cluster = many_users(seed, decimal=True)
        log = simulate_tasks(workload, cluster, RULES[rule], 1e3, seed=SEED)
        expected, waiting = plain_simulation(workload, cluster, rule, 1e3, ServerEvents())
        assert rows(log) == expected, seed
        assert log.waiting.tolist() == waiting


def test_seven_tasks_of_a_tenth_fill_a_machine_of_seven_tenths():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [15], [1], [[0.1]])
    log = simulate_tasks(jobs, Cluster(["cpu"], [[0.7], [0.8]]), "first-fit-drfh")
    assert dict(zip(log.server.tolist(), log.tasks.tolist(), strict=True)) == {0: 7, 1: 8}


def test_what_starts_at_a_tenth_and_runs_for_two_tenths_is_over_at_three_tenths():
    jobs = Workload(["cpu"], ["a", "b"], [1, 1], [0, 1], [0.1, 0.3], [1, 1], [0.2, 1], [[1], [1]])
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1]], [2]), "first-fit-drfh")
    assert (log.start.tolist(), log.server.tolist()) == ([0.1, 0.3], [0, 0])


def test_equal_weighted_shares_go_by_the_number_of_the_user():
    """3 / 0.3 and 7 / 0.7 of a machine of 21: rounding would let the second user go first."""
    jobs = Workload(["cpu"], ["a", "b"], [0.3, 0.7], [1, 0, 0, 1], [0, 0, 1, 1], [7, 3, 1, 1], [9, 9, 5, 5], np.full((4, 1), 0.1))
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1.1]]), "first-fit-drfh", until=5)
    assert log.waiting.tolist() == [0, 0, 0, 1]


def test_finish_time_fairness_is_of_the_time_that_a_job_runs_alone():
    """With a third of the machine the large task runs 12 s and the small one 10 or 9. At 5 s the one waits 5, the other 4."""
    for seconds, starts in ((10, {0: 0, 1: 5, 2: 9}), (9, {0: 0, 2: 5, 1: 14})):
        each = [0, 1, 2], [0, 0, 1], [1, 1, 1], [5, 4, seconds], [[1, 0.1], [1, 0], [0.1, 0]]
        jobs = Workload(["cpu", "memory"], ["c", "a", "b"], [1, 1, 1], *each)
        log = simulate_tasks(jobs, Cluster(["cpu", "memory"], [[1, 1]]), "finish-time-fair")
        assert dict(zip(log.job.tolist(), log.start.tolist(), strict=True)) == starts


def test_the_example_of_the_heuristic():
    """W 5.2: a task of (1/10, 1/30) goes to server 1, (1/5, 1/15), and not to server 2, (1/8, 1/4): H is 0 and 5/3."""
    capacities = np.array([[1 / 5, 1 / 15], [1 / 8, 1 / 4]])
    rest = 1 - capacities.sum(axis=0)
    cluster = Cluster(["cpu", "memory"], [[1 / 8, 1 / 4], [1 / 5, 1 / 15], rest])
    jobs = Workload(["cpu", "memory"], ["u"], [1], [0], [0], [1], [10], [[1 / 10, 1 / 30]], [[True, True, False]])
    assert simulate_tasks(jobs, cluster, "best-fit-drfh").server.tolist() == [1]
    assert simulate_tasks(jobs, cluster, "first-fit-drfh").server.tolist() == [0]


@settings(max_examples=drawn(20))
@given(made=simulations())
def test_a_seed_decides_what_is_drawn(made):
    workload, cluster, events, until = made
    one, same = (rows(simulate_tasks(workload, cluster, "two-choice-drfh", until, 7, events)) for _ in range(2))
    assert one == same


def test_other_seeds_draw_other_machines():
    cluster = Cluster(["cpu"], [[1]], [50])
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [10], [10], [[1]])
    chosen = {tuple(simulate_tasks(jobs, cluster, "two-choice-drfh", seed=seed).server.tolist()) for seed in range(3)}
    assert len(chosen) == 3


def test_ten_tasks_of_a_tenth_fill_a_machine():
    """Sizes in whole units, rounded down: what fits in the given numbers fits."""
    jobs = Workload(["cpu"], ["u"], [1], [0, 0], [0, 0], [10, 3], [1, 1], [[0.1], [1 / 3]])
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1]], [2]), "best-fit-drfh")
    assert log.start.tolist() == [0, 0]


class LastFit(Scheduler):
    """A scheduler of one's own: the last machine with room."""

    id = "last-fit"

    def server(self, state, job):
        there = state.machines(job)
        assert np.all(state.free[there] >= state.workload.demand[job])
        return there[-1] if len(there) else -1


class Careless(Scheduler):
    """One that does not look whether there is room."""

    def server(self, state, job):
        return 0


def test_a_scheduler_of_ones_own():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [3], [5], [[1]])
    cluster = Cluster(["cpu"], [[1]], [2])
    for own in (LastFit, LastFit()):
        log = simulate_tasks(jobs, cluster, own)
        assert log.server.tolist() == [1, 0, 1]
        assert log.scheduler == "last-fit"
    with pytest.raises(InstanceError, match="machine 0 for a task of job 0, which has no room"):
        simulate_tasks(jobs, cluster, Careless())


def test_what_is_refused():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [3], [5], [[1]])
    cluster = Cluster(["cpu"], [[1]], [2])
    with pytest.raises(UnknownName, match=r"no scheduler 'best-fit' .*best-fit-drfh"):
        simulate_tasks(jobs, cluster, "best-fit")
    with pytest.raises(InstanceError, match="the scheduler is 3, but it must be an id or derive from Scheduler"):
        simulate_tasks(jobs, cluster, 3)
    for id_ in (5, None, "a\x1b[31m"):
        with pytest.raises(InstanceError, match=r"the id of the scheduler Own is .*, but"):
            simulate_tasks(jobs, cluster, type("Own", (Scheduler,), {"id": id_}))
    with pytest.raises(InstanceError, match=r"the scheduler Own\(\) cannot be made: TypeError"):
        simulate_tasks(jobs, cluster, type("Own", (Scheduler,), {"__init__": lambda self, how: None}))
    with pytest.raises(InstanceError, match="until is 0"):
        simulate_tasks(jobs, cluster, "slots", until=0)
    with pytest.raises(InstanceError, match="per_maximum is 0"):
        Slots(0)
    with pytest.raises(InstanceError, match="a server event is about machine 2, but there are 2"):
        simulate_tasks(jobs, cluster, "slots", events=ServerEvents([1], [2], [False]))
    with pytest.raises(InstanceError, match="the events of machine 1 must take turns"):
        simulate_tasks(jobs, cluster, "slots", events=ServerEvents([1, 2], [1, 1], [False, False]))
    with pytest.raises(InstanceError, match="ascending"):
        ServerEvents([2, 1], [0, 0], [False, True])


def test_a_task_of_a_whole_machine_takes_all_of_its_slots():
    """Seven slots of the second machine are fewer than the 14 by which its memory would cover the task."""
    jobs = Workload(["cpu", "memory"], ["u"], [1], [0], [0], [2], [3], [[0.25, 1]])
    log = simulate_tasks(jobs, Cluster(["cpu", "memory"], [[1, 0.5], [0.5, 1]]), Slots(14), until=100)
    assert (log.start.tolist(), log.server.tolist()) == ([0, 3], [1, 1])


class Elsewhere(Scheduler):
    """One that names a machine that is not there."""

    def server(self, state, job):
        return 99


class Two(Scheduler):
    """One that chooses two machines at once."""

    def server(self, state, job):
        return state.machines(job)


class Rising(Scheduler):
    """One whose priority of a job rises each time that it is asked for."""

    def begin(self, state):
        self.asked = 0

    def job_priority(self, state, user, job):
        self.asked += 1
        return state.rank(user) + self.asked


class Twice(Scheduler):
    """One whose order names a job twice."""

    def job_order(self, state):
        return [0, 0]


class Halves(Scheduler):
    """One that counts twice what tasks take."""

    id = "halves"

    def sizes(self, demand, capacities):
        return 2 * demand, capacities


def test_schedulers_that_are_wrong_are_one_sentence():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [3], [5], [[1]])
    with pytest.raises(InstanceError, match="chose machine 99 for a task of job 0, but it must be a whole number from -1 to 1"):
        simulate_tasks(jobs, Cluster(["cpu"], [[1]], [2]), Elsewhere())
    with pytest.raises(
        InstanceError, match=r"chose machine array\(\[0, 1\]\) for a task of job 0, but it must be a whole number from -1 to 1"
    ):
        simulate_tasks(jobs, Cluster(["cpu"], [[1]], [2]), Two())
    two = Workload(["cpu"], ["u", "v"], [1, 1], [0, 1], [0, 0], [3, 3], [5, 5], [[1], [1]])
    assert simulate_tasks(two, Cluster(["cpu"], [[1]], [2]), Rising()).tasks.sum() == 6
    with pytest.raises(InstanceError, match=r"order of jobs is \[0, 0\], but it must name each of the 2 jobs once"):
        simulate_tasks(two, Cluster(["cpu"], [[1]], [2]), Twice())
    with pytest.raises(InstanceError, match="job 0 fit on no machine as halves counts"):
        simulate_tasks(jobs, Cluster(["cpu"], [[1]], [2]), Halves())


def test_what_was_lost_does_not_happen_later():
    """All machines are gone at 2, so nothing happens at 10, when the lost task would have ended."""
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [1], [10], [[1]])
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "first-fit-drfh", events=ServerEvents([2], [0], [False]))
    assert log.until == 2
    assert log.waiting.tolist() == [1]


@pytest.mark.parametrize("rule", RULES)
def test_a_resource_that_no_machine_has_and_very_small_ones(rule):
    """A task of nothing of the second resource runs; machines of 1e-305 hold two tasks of a half."""
    jobs = Workload(["cpu", "gpu"], ["u"], [1], [0], [0], [3], [5], [[5e-306, 0]])
    log = simulate_tasks(jobs, Cluster(["cpu", "gpu"], [[1e-305, 0]]), RULES[rule], until=100)
    assert log.start.tolist()[0] == 0
    assert log.tasks.sum() == 3


@pytest.mark.parametrize("rule", ["slots 4", "slots 10", "slots 14", "slots 4 each", "slots 10 each"])
def test_slots_are_counted_as_in_plain_python(rule):
    """On machines of decimals of which one lacks a resource, and tasks up to a whole machine."""
    rng = np.random.default_rng(len(rule))
    capacities = np.vstack([rng.choice([0.25, 0.5, 0.7, 1.0], (3, 2)), [0.5, 0.0]])
    demand = capacities[rng.integers(4, size=20)] * rng.choice([0.1, 1 / 3, 0.5, 1], (20, 2))
    jobs = Workload(["cpu", "memory"], ["u"], [1], np.zeros(20), np.zeros(20), np.ones(20), np.ones(20), demand)
    cluster = Cluster(["cpu", "memory"], capacities)
    expected = PlainCluster(jobs, cluster, rule, ServerEvents()).counted()
    found = Slots(int(rule.split()[1]), one_each=rule.endswith("each")).sizes(demand, capacities)
    for ours, plain in zip(found, expected, strict=True):
        assert ours.tolist() == np.array(plain).tolist()


def test_shares_under_ps_dsf_that_overflow_are_compared_as_whole_numbers():
    """Capacities without a common multiple of 62 bits: who has less of its best machine goes first, as in rationals."""
    primes = [[999983.0, 999979.0], [999961.0, 999959.0], [999953.0, 999931.0]]
    jobs = Workload(["cpu", "memory"], ["a", "b"], [1, 1], [0, 1], [0, 0], [9, 9], [5, 5], [[99991.0, 3.0], [7.0, 99989.0]])
    cluster = Cluster(["cpu", "memory"], primes)
    log = simulate_tasks(jobs, cluster, "best-fit-ps-dsf", 6)
    assert rows(log) == plain_simulation(jobs, cluster, "best-fit-ps-dsf", 6, ServerEvents())[0]


def test_what_a_scheduler_counts_of_nothing_is_no_slot():
    with pytest.raises(InstanceError, match=r"per_maximum is 1\.5"):
        Slots(1.5)


@pytest.mark.parametrize(
    "sizes",
    [
        lambda demand, machines: None,
        lambda demand, machines: (demand[:, 0], machines[:, 0]),
        lambda demand, machines: (demand[:1], machines),
        lambda demand, machines: (demand[:, :0], machines[:, :0]),
        lambda demand, machines: (-demand, machines),
        lambda demand, machines: (demand, machines * np.nan),
        lambda demand, machines: (demand * 1e6, machines),
    ],
)
def test_a_scheduler_that_counts_nonsense_is_one_sentence(sizes):
    """The last one counts a task as a million machines: more than the numbers of units have room for."""
    two = Workload(["cpu"], ["u"], [1], [0, 0], [0, 0], [3, 3], [5, 5], [[1], [1]])
    own = type("Own", (Scheduler,), {"sizes": lambda _, *given: sizes(*given)})
    with pytest.raises(InstanceError, match=r"the scheduler.s sizes|fit on no machine as the scheduler counts"):
        simulate_tasks(two, Cluster(["cpu"], [[1]], [2]), own)
    for order in (None, ["a", 1], [0.5, 1], [0]):
        own = type("Own", (Scheduler,), {"job_order": lambda *_, order=order: order})
        with pytest.raises(InstanceError, match="the scheduler's order of jobs"):
            simulate_tasks(two, Cluster(["cpu"], [[1]], [2]), own)


TWO = Workload(["cpu"], ["a", "b"], [1, 1], [0, 1], [0, 0], [3, 3], [5, 5], [[1], [1]])


@pytest.mark.parametrize("name", ["priority", "server", "changed", "begin", "sizes", "job_priority", "job_order"])
def test_a_scheduler_that_fails_is_one_sentence(name):
    own = type("Own", (Scheduler,), {name: lambda _, *given: given[9]})
    with pytest.raises(InstanceError, match=r"^the scheduler 'Own' failed: "):
        simulate_tasks(TWO, Cluster(["cpu"], [[1]], [2]), own)


@pytest.mark.parametrize("value", [None, float("nan"), "first", (1, 2)])
@pytest.mark.parametrize("name", ["priority", "job_priority"])
def test_users_are_put_in_order_by_numbers(name, value):
    """Where all have None or nan, the order had been that of the users."""
    own = type("Own", (Scheduler,), {name: lambda *_: value})
    with pytest.raises(InstanceError, match=rf"^the scheduler's priority of (job|user) \d is {re.escape(repr(value))}, but"):
        simulate_tasks(TWO, Cluster(["cpu"], [[1]], [2]), own)


def test_a_task_lacks_nothing_where_a_machine_has_none_of_what_it_does_not_need():
    """A part of 1/4 on the large machine is the least, whatever the tasks that run there."""
    jobs = Workload(["cpu", "gpu"], ["ann"], [1], [0], [0], [3], [10], [[1, 0]])
    log = simulate_tasks(jobs, Cluster(["cpu", "gpu"], [[4, 0], [2, 1]]), "best-fit-ps-dsf")
    assert (log.server.tolist(), log.tasks.tolist()) == ([0], [3])
