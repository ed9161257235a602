"""Clusters and workloads: what they hold, and one sentence about what they refuse."""

import numpy as np
import pytest

from fairalloc.models.errors import InstanceError
from fairalloc.simulation import Cluster, Workload

CLUSTER = Cluster(["cpu", "memory"], [[1, 1], [0.5, 0.25]], [2, 3])
JOBS = {
    "resources": ["cpu", "memory"],
    "users": ["ann", "bob"],
    "weights": [1, 2],
    "job_user": [1, 0, 1],
    "arrival": [30, 10, 30],
    "tasks": [2, 1, 3],
    "duration": [60, 50, 40],
    "demand": [[0.5, 0.25], [1, 0], [0.6, 0.1]],
}


def test_jobs_are_sorted_by_arrival_and_equal_times_keep_their_order():
    jobs = Workload(**JOBS)
    assert jobs.arrival.tolist() == [10, 30, 30]
    assert jobs.tasks.tolist() == [1, 2, 3]
    assert jobs.demand[:, 0].tolist() == [1, 0.5, 0.6]
    assert jobs.work.tolist() == [50, 120, 120]
    assert len(jobs.chosen(jobs.arrival > 20)) == 2


def test_the_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Workload(**JOBS).demand[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        CLUSTER.capacities[0, 0] = 2


def test_machines_are_listed_class_by_class():
    assert CLUSTER.totals.tolist() == [3.5, 2.75]
    assert CLUSTER.server_class.tolist() == [0, 0, 1, 1, 1]


def test_what_fits_where():
    jobs = Workload(**JOBS)
    assert jobs.fitting(CLUSTER).tolist() == [[True, False], [True, True], [True, False]]
    placed = Workload(**JOBS, eligible=[[False, True], [True, True], [True, True]])
    assert placed.fitting(CLUSTER).tolist() == [[True, False], [False, True], [True, False]]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"arrival": [30, -10, 30]}, r"arrival\[1\] is -10.0, but it must not be negative"),
        ({"tasks": [2, 0, 1.5]}, r"tasks\[1\] is 0.0 and 1 more rows, but it must be positive integers"),
        ({"duration": [1, 0, 1]}, r"duration\[1\] is 0.0, but it must be positive"),
        ({"duration": [1, np.nan, 1]}, r"duration\[1\] is nan, but it must be finite"),
        ({"demand": [[1, 1], [0, 0], [1, 1]]}, r"demand\[1\] is \[0.0, 0.0\], but it must have a positive entry"),
        ({"demand": [[1], [0], [1, 1]]}, "demand is .* but it must be an array of numbers"),
        ({"job_user": [0, 2, 0]}, r"job_user\[1\] is 2.0, but it must be the number of a user, 0 to 1"),
        ({"tasks": [1, 1]}, "tasks has 2 rows, but there are 3 times of arrival"),
        ({"weights": [1, 0]}, r"weights\[1\] is 0.0, but it must be positive"),
        ({"users": ["ann", "ann"]}, "names of user are .* but they must differ"),
        ({"leave": [1, -1]}, r"leave\[1\] is -1.0"),
        ({"eligible": [[1, 0]] * 3}, "eligible is .* but it must be an array of true and false"),
    ],
)
def test_a_bad_workload_is_refused_in_one_sentence(changes, sentence):
    with pytest.raises(InstanceError, match=sentence):
        Workload(**JOBS | changes)


def test_a_task_larger_than_every_machine_is_named():
    jobs = Workload(**JOBS | {"demand": [[0.5, 0.25], [2, 0], [0.6, 0.1]]})
    with pytest.raises(InstanceError, match=r"job 0 demand \[2.0, 0.0\], which fits on no machine .* \(1 of 3 jobs\)"):
        jobs.check_on(CLUSTER)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((["cpu"], [[1, 1]]), "1 names of resource for 2"),
        ((["cpu"], [[-1]]), r"capacities\[0\] is \[-1.0\], but it must not be negative"),
        ((["cpu"], [[1]], [0.5]), r"counts\[0\] is 0.5, but it must be positive integers"),
        ((["cpu"], []), "0 rows"),
    ],
)
def test_a_bad_cluster_is_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(InstanceError, match=sentence):
        Cluster(*arguments)


def test_a_table_of_jobs():
    columns = {"user": ["b", "a"], "arrival": [5, 3], "tasks": [1, 2], "duration": [9, 9], "cpu": [1, 0.5], "weight": [3, 1]}
    jobs = Workload.from_columns(columns, ["cpu"])
    assert jobs.users == ("a", "b")
    assert jobs.weights.tolist() == [1, 3]
    assert jobs.job_user.tolist() == [0, 1]
    del columns["tasks"]
    with pytest.raises(InstanceError, match="no column 'tasks'"):
        Workload.from_columns(columns, ["cpu"])


def test_a_million_jobs_are_read_at_once():
    size = 10**6
    ones = np.ones(size)
    jobs = Workload(["cpu"], ["u"], [1], np.zeros(size), ones[::-1], ones, ones, ones[:, None])
    assert len(jobs) == size
