"""Clusters and workloads: what they hold, and one sentence about what they refuse."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.simulation import Cluster, TaskLog, Workload

JOB = {"user": ["ann"], "arrival": [0], "tasks": [1], "duration": [1], "cpu": [1]}
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
        ({"tasks": [2, 2.0**60, 1]}, r"tasks\[1\] is 1.15.*e\+18, but it must be positive integers up to 9007199254740992"),
        ({"arrival": np.array([1, 2, 3], "datetime64[s]")}, "arrival is .*1970-01-01.* but it must be an array of numbers"),
        ({"duration": np.array([1, 2, 3], "timedelta64[us]")}, "duration is .* but it must be an array of numbers"),
        ({"arrival": np.ma.array([1, 2, 3], mask=[1, 0, 0])}, "arrival is .* but nothing in it must be masked"),
        ({"duration": [1, 0, 1]}, r"duration\[1\] is 0.0, but it must be positive"),
        ({"duration": [1, 1, 1e308], "tasks": [1, 1, 2]}, r"duration\[2\] is 1e\+308, but it must .* finite times the tasks"),
        ({"duration": [1, np.nan, 1]}, r"duration\[1\] is nan, but it must be finite"),
        ({"demand": [[1, 1], [0, 0], [1, 1]]}, r"demand\[1\] is \[0.0, 0.0\], but it must have a positive entry"),
        ({"demand": [[1], [0], [1, 1]]}, "demand is .* but it must be an array of numbers"),
        ({"job_user": [0, 2, 0]}, r"job_user\[1\] is 2.0, but it must be the number of a user, 0 to 1"),
        ({"tasks": [1, 1]}, "tasks has 2 rows, but there are 3 times of arrival"),
        ({"weights": [1, 0]}, r"weights\[1\] is 0.0, but it must be positive"),
        ({"users": ["ann", "ann"]}, "two users have the name .ann., but names must be distinct"),
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
        ((["cpu"], [[1, 1]]), "the number of resource names is 1, but the data has 2 resources"),
        ((["cpu"], [[-1]]), r"capacities\[0\] is \[-1.0\], but it must not be negative"),
        ((["cpu"], [[1]], [0.5]), r"the count of server 'c1' is 0.5, but it must be an integer from 1"),
        ((["cpu"], [[1]], [2.0**63]), "must be an integer from 1 to 9007199254740992"),
        ((["cpu"], []), "capacities has 1 dimensions, but it must have 2"),
        ((["cpu"], np.zeros((0, 1))), "capacities have 0 rows and 1 columns"),
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


def test_jobs_that_are_users_have_weights_and_leave_as_theirs():
    jobs = Workload(**JOBS, leave=[np.inf, 90]).by_job()
    assert (jobs.weights.tolist(), jobs.leave.tolist()) == ([1, 2, 2], [np.inf, 90, 90])
    assert jobs.job_user.tolist() == [0, 1, 2]


def test_placement_of_users_is_that_of_their_jobs_if_it_is_one():
    placed = Workload(**JOBS, eligible=[[True, False], [True, True], [True, False]])
    assert placed.user_eligible.tolist() == [[True, True], [True, False]]
    with pytest.raises(NotApplicable, match="the jobs of user 'bob' may run on different classes of machines"):
        _ = Workload(**JOBS, eligible=[[True, False], [True, True], [True, True]]).user_eligible
    assert Workload(**JOBS).user_eligible is None


def test_a_cluster_of_other_resources_or_classes_is_refused():
    with pytest.raises(InstanceError, match="the jobs demand cpu, memory, but the cluster has cpu, gpu"):
        Workload(**JOBS).fitting(Cluster(["cpu", "gpu"], [[1, 1]]))
    with pytest.raises(InstanceError, match="eligible has 1 columns, but the cluster has 2 classes of machines"):
        Workload(**JOBS, eligible=[[True]] * 3).fitting(CLUSTER)
    with pytest.raises(InstanceError, match="eligible has 1 dimensions, but it must have 2"):
        Workload(**JOBS, eligible=[True] * 3)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda jobs: jobs.fitting(3), "cluster is 3, but it must be a Cluster"),
        (lambda jobs: jobs.check_on(None), "cluster is None, but it must be a Cluster"),
        (lambda jobs: jobs.chosen([3]), "jobs is [3], but it must be numbers of its 3 jobs, or (J,) bool"),
        (lambda jobs: jobs.chosen("x"), "jobs is 'x', but it must be numbers of its 3 jobs, or (J,) bool"),
        (lambda _: Workload.from_columns(JOB, 3), "resources is 3, but it must be a list, each a text"),
        (lambda jobs: TaskLog.load(3, jobs, CLUSTER), "path is 3, but it must be a path"),
    ],
)
def test_an_argument_of_another_kind_is_one_sentence(ask, sentence):
    with pytest.raises(InstanceError, match=f"^{re.escape(sentence)}$"):
        ask(Workload(**JOBS))


def test_a_capacity_or_a_user_of_number_0_is_one():
    """The first user has the number 0; a machine may lack a resource, and a job may arrive at 0."""
    jobs = Workload(["cpu", "gpu"], ["a"], [1], [0], [0], [1], [1], [[1, 0]], leave=[0])
    assert jobs.fitting(Cluster(["cpu", "gpu"], [[1, 0]])).tolist() == [[True]]
    for wrong in ({"job_user": [-1]}, {"job_user": [0.5]}):
        with pytest.raises(InstanceError, match="must be the number of a user"):
            replace(jobs, **wrong)


def test_users_of_a_table_have_weight_1_and_stay_unless_it_says_otherwise():
    columns = {"user": ["b", "a", "b"], "arrival": [5, 3, 6], "tasks": [1, 2, 1], "duration": [9, 9, 9], "cpu": [1, 0.5, 1]}
    jobs = Workload.from_columns(columns)
    assert (jobs.weights.tolist(), jobs.leave.tolist()) == ([1, 1], [np.inf, np.inf])
    assert Workload.from_columns(columns | {"leave": [7, np.inf, 7]}).leave.tolist() == [np.inf, 7]
    with pytest.raises(InstanceError, match="leave of user 'b' is 7 and 8, but it must be one"):
        Workload.from_columns(columns | {"leave": [7, np.inf, 8]})


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (None, "the jobs are None, but they must be a table or a mapping of columns"),
        ([1, 2], "the jobs are [1, 2], but they must be a table or a mapping of columns"),
        ({name: JOB[name] for name in JOB if name != "cpu"}, "there must be one for each resource"),
        *(
            (JOB | {"user": users}, "but it must be a list of names")
            for users in ("ann", None, 3, np.array("ann"), (name for name in ["ann"]), [("ann", 1)], [["ann"]])
        ),
        (JOB | {"user": np.ma.array(["ann"], mask=[True])}, "but it must be a list of names"),
    ],
)
def test_a_table_that_is_none_or_has_no_list_of_users(columns, sentence):
    with pytest.raises(InstanceError, match=re.escape(sentence)):
        Workload.from_columns(columns)


@pytest.mark.parametrize("names", [np.array(["a", "b"]), pd.Series(["a", "b"]), ["a", "b"], (name for name in "ab")])
def test_names_of_machines_may_be_an_array_or_a_column(names):
    assert Cluster(["cpu"], [[1], [2]], names=names).names == ("a", "b")


@pytest.mark.parametrize("names", [(), [], None, np.array([])])
def test_machines_without_names_are_numbered(names):
    assert Cluster(["cpu"], [[1], [2]], names=names).names == ("c1", "c2")
