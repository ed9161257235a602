"""Times at which so little is left of a job that the clock does not move."""

from fairalloc.simulation import Cluster, Workload, simulate_fluid


def test_a_job_with_less_work_than_the_clock_shows_is_completed():
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [1e4, 1e4], [1, 1], [1e-14, 2.0], [[1], [1]])
    log = simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh", limited=False)
    assert log.completed.tolist() == [1e4, 1e4 + 1.0]
    assert log.solves == 2
