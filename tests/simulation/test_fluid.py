"""The simulation of divisible tasks: what the plain one does, by exact allocations made anew at every event."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from plain_fluid import PlainFluid
from profiles import drawn
from strategies import simulations
from tolerances import RESIDUAL

from fairalloc.models.errors import InstanceError
from fairalloc.simulation import Cluster, ServerEvents, Workload, simulate_fluid


def simulated(made):
    """(ours, the plain simulation's): work done, and times of completion with `until` for none."""
    workload, cluster, events, until = made
    workload = replace(workload, eligible=None)
    log = simulate_fluid(workload, cluster, "drfh", until, events=events)
    done, completed = PlainFluid(workload, cluster, events).run(until)
    return (log.done, np.nan_to_num(log.completed, nan=until)), (np.array(done), np.nan_to_num(completed, nan=until))


@settings(max_examples=drawn(25), deadline=None)
@given(made=simulations())
def test_work_and_completions_are_those_of_the_plain_simulation(made):
    ours, plain = simulated(made)
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=len(made[0]) * RESIDUAL, atol=len(made[0]) * RESIDUAL)


def test_the_comparison_sees_another_weight():
    """One user with twice the weight is done sooner: the plain simulation of the other workload is far from this one."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 0], [4, 4], [10, 10], [[0.5], [0.5]])
    cluster, events = Cluster(["cpu"], [[2]]), ServerEvents.none()
    ours, _ = simulated((jobs, cluster, events, 18.0))
    _, other = simulated((replace(jobs, weights=[2, 1]), cluster, events, 18.0))
    assert np.abs(ours[0] - other[0]).max() > 1.0


def test_a_task_that_fits_on_no_machine_is_refused():
    jobs = Workload(["cpu"], ["u"], [1], [0], [0], [1], [1], [[3]])
    with pytest.raises(InstanceError, match="fits on no machine"):
        simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh")


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
