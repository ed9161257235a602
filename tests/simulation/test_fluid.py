"""The simulation of divisible tasks: what the plain one does, by exact allocations made anew at every event."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from plain_fluid import PlainFluid
from profiles import drawn
from strategies import simulations
from tolerances import RESIDUAL

from fairalloc.formulations import mechanism
from fairalloc.models import Instance
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.simulation import Cluster, ServerEvents, Workload, simulate_fluid


def simulated(made):
    """(ours, the plain simulation's): work done, and times of completion with `until` for none."""
    workload, cluster, events, until = made
    workload = replace(workload, eligible=None)
    log = simulate_fluid(workload, cluster, "drfh", until, events=events)
    done, completed = PlainFluid(workload, cluster, events).run(until)
    return (log.done, np.nan_to_num(log.completed, nan=until)), (np.array(done), np.nan_to_num(completed, nan=until))


@settings(max_examples=drawn(25))
@given(made=simulations())
def test_work_and_completions_are_those_of_the_plain_simulation(made):
    ours, plain = simulated(made)
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=len(made[0]) * RESIDUAL, atol=len(made[0]) * RESIDUAL)


def test_the_comparison_sees_another_weight():
    """One user with twice the weight is done sooner: the plain simulation of the other workload is far from this one."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 0], [4, 4], [10, 10], [[0.5], [0.5]])
    cluster, events = Cluster(["cpu"], [[2]]), ServerEvents()
    ours, _ = simulated((jobs, cluster, events, 18.0))
    _, other = simulated((replace(jobs, weights=[2, 1]), cluster, events, 18.0))
    assert np.abs(ours[0] - other[0]).max() > 1.0


def test_a_task_that_fits_on_no_machine_is_refused():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [1], [1], [[3]])
    with pytest.raises(InstanceError, match="fits on no machine"):
        simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh")


def test_a_measure_that_fails_is_one_sentence():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [1], [1], [[1]])
    with pytest.raises(InstanceError, match=r"^a measure failed: TypeError: int\(\) argument"):
        simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh", measures={"a": int})


@pytest.mark.parametrize("limited", [False, True])
def test_of_several_answers_of_ps_dsf_that_of_the_method_is_taken(limited):
    """Without limits every (x, x) with 3 <= x <= 4 is PS-DSF."""
    jobs = Workload(["cpu", "memory"], ["a", "b"], [1, 1], [0, 1], [0, 0], [3, 20], [1, 1], [[2, 1], [1, 2]])
    cluster = Cluster(["cpu", "memory"], [[6, 6]], [2])
    for method in ("continuation", "best-response"):
        one, same = (simulate_fluid(jobs, cluster, "ps-dsf", 0.1, limited=limited, method=method) for _ in range(2))
        assert one.methods == (method,)
        assert one.steps[0].tasks.tolist() == same.steps[0].tasks.tolist()
        assert one.residual <= RESIDUAL
    assert simulate_fluid(jobs, cluster, "ps-dsf", 0.1, limited=limited).methods == ("continuation",)


ONE = Cluster(["cpu"], [[1]])


def spans(log):
    """From when to when, the users and how many tasks each runs."""
    return [(step.start, step.end, step.users.tolist(), step.tasks.round(9).tolist()) for step in log.steps]


def test_with_a_period_jobs_that_arrive_wait_and_jobs_that_end_leave_their_part_idle():
    """Every 4 s. Ann's job ends at 6, after which nothing runs until 8; bob's arrives at 5 and runs from 8 on, eve's from 24."""
    jobs = Workload(["cpu"], ["ann", "bob", "eve"], [1] * 3, [0, 1, 2], [0, 5, 20.5], [1] * 3, [6, 3, 1], [[1]] * 3)
    log = simulate_fluid(jobs, ONE, "drfh", every=4)
    assert log.completed.tolist() == [6, 11, 25]
    assert [span for span in spans(log) if any(span[3])] == [
        (0, 4, [0], [1]),
        (4, 6, [0], [1]),
        (8, 11, [1], [1]),
        (24, 25, [2], [1]),
    ]
    at_a_turn = simulate_fluid(replace(jobs, arrival=[0, 8, 20]), ONE, "drfh", every=4)
    assert at_a_turn.completed.tolist() == [6, 11, 21]
    assert log.solves == 3, "one for each of the three"


def test_who_leaves_and_what_goes_down_change_a_period():
    """At 3 ann leaves and bob gets all; at 5 the machine goes down until 7, in the middle of a period of 100 s."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 0], [9, 9], [9, 9], [[0.5], [0.5]], leave=[3, np.inf])
    log = simulate_fluid(jobs, ONE, "drfh", 9.0, 100.0, events=ServerEvents([5, 7], [0, 0], [False, True]))
    assert spans(log) == [(0, 3, [0, 1], [1, 1]), (3, 5, [1], [2]), (5, 7, [], []), (7, 9, [1], [2])]
    assert log.done.tolist() == [3, 3 + 2 * 2 + 2 * 2]
    assert log.cancelled.tolist() == [81 - 3, 0]
    assert [step.machines.tolist() for step in log.steps] == [[1], [1], [0], [1]]


def test_with_a_period_a_simulation_ends_where_nothing_can_run_any_more():
    """The machine goes down at 5 s for good; of two jobs the second comes after that."""
    jobs = Workload(["cpu"], ["ann"], [1], [0, 0], [0, 12], [1, 1], [9, 9], [[0.5]] * 2)
    for every in (None, 4):
        log = simulate_fluid(jobs, ONE, "drfh", every=every, events=ServerEvents([5], [0], [False]))
        assert (log.done.tolist(), log.until, log.steps[-1].end) == ([5, 0], 12, 12)


def test_a_job_with_a_millionth_left_goes_on():
    """When another one arrives."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 10 - 1e-6], [1, 1], [10, 1], [[0.25], [0.25]])
    assert simulate_fluid(jobs, ONE, "drfh").completed[0] == 10


def test_without_limits_a_user_gets_all_that_there_is():
    """Two tasks of 4 s, of which eight have room: their work of 8 s is done in one."""
    jobs = Workload(["cpu"], ["ann"], [1], [0], [0], [2], [4], [[0.125]])
    log = simulate_fluid(jobs, ONE, "drfh", limited=False)
    assert (log.completed.tolist(), spans(log)) == ([1], [(0, 1, [0], [8])])
    assert simulate_fluid(jobs, ONE, "drfh").completed.tolist() == [4]


def test_a_mechanism_of_one_pool_places_nothing():
    """But for one class of machines, which is the pool."""
    jobs = Workload(["cpu"], ["ann"], [1], [0], [0], [2], [4], [[0.125]])
    for name in ("drf", "fds", "h-drf", "njc"):
        assert simulate_fluid(jobs, Cluster(["cpu"], [[1]], [2]), name).completed == pytest.approx([4], rel=RESIDUAL)
    for name in ("drf", "fds"):
        with pytest.raises(NotApplicable, match=f"^{name} allocates another instance .*: drf over machines is drfh$"):
            simulate_fluid(jobs, Cluster(["cpu"], [[1], [2]]), name)


def test_an_answer_may_stand_on_an_equal_instance():
    """ps-dsf-tdm keeps the instances that it has seen: its second simulation was refused."""
    jobs = Workload(["cpu"], ["ann"], [1], [0], [0], [2], [4], [[0.125]])
    for _ in range(2):
        log = simulate_fluid(jobs, Cluster(["cpu"], [[1], [2]]), "ps-dsf-tdm")
        assert log.completed == pytest.approx([4], rel=RESIDUAL)


@pytest.mark.parametrize(("every", "late", "turns"), [(0.3, 0.0, [0.0, 0.3, 0.6, 0.9]), (0.3, 1e16, [1e16, 1e16 + 2, 1e16 + 4])])
def test_a_period_has_decimal_multiples_and_goes_on_where_times_are_rounded(every, late, turns):
    """Who arrives at .9, above 3 * .3 by rounding, is served then; at 1e16 two numbers are 2 seconds apart."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [late, turns[-1]], [1, 1], [9, 9], [[0.5], [0.5]])
    log = simulate_fluid(jobs, ONE, "drfh", turns[-1] + 0.1 + 2 * (late > 0), every)
    assert [step.start for step in log.steps if len(step.users)] == turns
    assert log.started.tolist() == [late, turns[-1]]


def doubled(self, instance):
    return instance.replace(capacities=2 * instance.capacities)


def one_user_less(self, instance):
    return Instance(instance.demands[:1], instance.capacities)


@pytest.mark.parametrize(
    ("domain", "method"),
    [(doubled, None), (one_user_less, None), (None, lambda i, *_: np.full(i.A, 1e3)), (None, lambda i, *_: -np.ones(i.A))],
)
def test_what_the_machines_do_not_allow_is_not_simulated(domain, method):
    """Jobs ran on twice the machines with a residual of 1e-8, ended a thousand times too early, or had less than no work done."""
    own = type("Own", (type(mechanism("nb")),), {"id": "own", **({"domain": domain} if domain else {})})
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 0], [4, 4], [10, 10], [[0.5], [0.5]])
    told = r"^at 0 seconds the feasibility residual of nb by .* is .*, but it must"
    error, told = (NotApplicable, r"^nb allocates another instance") if domain else (InstanceError, told)
    with pytest.raises(error, match=told):
        simulate_fluid(jobs, Cluster(["cpu"], [[1]]), own, method=method)
