"""Times at which so little is left of a job that the clock does not move, and times as decimals."""

from decimal import Context, Inexact, localcontext

import numpy as np
import pytest

from fairalloc.simulation import Cluster, Workload, simulate_fluid, simulate_tasks
from fairalloc.simulation.accounting import account


def test_a_job_with_less_work_than_the_clock_shows_is_completed():
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [1e4, 1e4], [1, 1], [1e-14, 2.0], [[1], [1]])
    log = simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh", limited=False)
    assert log.completed.tolist() == [1e4, 1e4 + 1.0]
    assert log.solves == 2


def test_the_precision_of_the_callers_decimals_changes_nothing():
    rng = np.random.default_rng(0)
    times, seconds = np.sort(rng.uniform(0, 100, 40)), rng.uniform(1, 50, 40)
    jobs = Workload(
        ["cpu"], ["ann", "bob"], [1, 2], rng.integers(0, 2, 40), times, [3] * 40, seconds, rng.uniform(0.1, 1, (40, 1))
    )
    expected = simulate_tasks(jobs, Cluster(["cpu"], [[2]]), "finish-time-fair")
    with localcontext(Context(prec=3, traps=[Inexact])):
        found = simulate_tasks(jobs, Cluster(["cpu"], [[2]]), "finish-time-fair")
    with localcontext(Context(prec=3)):
        rounded = simulate_tasks(jobs, Cluster(["cpu"], [[2]]), "finish-time-fair")
    assert expected.end.tolist() == found.end.tolist() == rounded.end.tolist()
    assert expected.job.tolist() == found.job.tolist() == rounded.job.tolist()


@pytest.mark.parametrize("seconds", [1e9, 1e12, 1e300])
def test_what_is_done_of_a_long_job_is_not_the_difference_of_its_work_and_what_is_left(seconds):
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 0], [3, 1], [seconds, 1], [[0.1], [0.7]])
    log = simulate_fluid(jobs, Cluster(["cpu"], [[1]]), "drfh", 5.3)
    assert log.done == pytest.approx([15.9, 1], rel=1e-14)
    assert account(log).violations == ()
