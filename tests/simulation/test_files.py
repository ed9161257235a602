"""Workloads of one's own from files, and logs as files: what is written is read again, and what is wrong is one sentence."""

import gzip
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from fairalloc.models.errors import InstanceError
from fairalloc.simulation import Cluster, ServerEvents, TaskLog, Workload, simulate_tasks
from fairalloc.simulation.files import read_cluster, read_table, read_workload

FRAME = pd.DataFrame(
    {
        "user": ["bob", "ann", "bob"],
        "arrival": [5.0, 0.0, 7.5],
        "tasks": [2, 3, 1],
        "duration": [10.0, 4.0, 2.5],
        "cpu": [0.5, 0.25, 1.0],
        "memory": [1.0, 0.0, 2.0],
        "weight": [2.0, 1.0, 2.0],
    }
)
COLUMNS = ("weights", "job_user", "arrival", "tasks", "duration", "demand", "leave")

SWF = """; Version: 2.2
; MaxNodes: 3
; MaxProcs: 7
  1 0 5 60 4 -1 -1 4 -1 -1 1 12 1 -1 1 -1 -1 -1
  2 10 5 -1 4 -1 -1 4 -1 -1 0 12 1 -1 1 -1 -1 -1
  3 20 5 30 -1 -1 -1 2 -1 -1 1 9 1 -1 1 -1 -1 -1
  4 25 5 30 -1 -1 -1 -1 -1 -1 1 9 1 -1 1 -1 -1 -1
"""


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS) and one.users == other.users


def written(folder, ending, frame=FRAME):
    path = folder / f"jobs{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_a_frame_and_its_files_are_one_workload(ending, tmp_path):
    jobs = Workload.from_columns(FRAME)
    assert jobs.users == ("ann", "bob")
    assert jobs.weights.tolist() == [1, 2]
    assert jobs.resources == ("cpu", "memory")
    assert same(read_workload(written(tmp_path, ending)).workload, jobs)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_is_empty_in_a_file_has_its_default_but_names_have_none(ending, tmp_path):
    jobs = read_workload(written(tmp_path, ending, FRAME.assign(weight=np.nan, leave=np.nan))).workload
    assert (jobs.weights.tolist(), jobs.leave.tolist()) == ([1, 1], [np.inf, np.inf])
    with pytest.raises(InstanceError, match=r"user\[1\] is (None|nan), but it must be a name|user 1 has the name ''"):
        read_workload(written(tmp_path, ending, FRAME.assign(user=["ann", None, "ann"])))


def test_columns_of_parquet_of_other_types(tmp_path):
    """Whole numbers with empty fields are what pandas writes of Int64."""
    path = tmp_path / "a.parquet"
    FRAME.assign(leave=pd.array([None, 9, None], "Int64"), weight=pd.array([2, None, 2], "Int64")).to_parquet(path)
    jobs = read_workload(path).workload
    assert (jobs.weights.tolist(), jobs.leave.tolist()) == ([1, 2], [9, np.inf])
    dates, spans = pd.to_datetime(["2020", None, "2020"]), pd.to_timedelta([1, None, 1], "s")
    for leave in (dates, spans, ["x", None, "x"], [[1], None, [1, 2]]):
        FRAME.assign(leave=leave).to_parquet(path)
        with pytest.raises(InstanceError, match=r"leave is .*numbers"):
            read_workload(path)
    for frame, words in (
        (pd.DataFrame({"class": ["a", None], "cpu": [1, 2]}), r"class\[1\] is None, but it must be a name"),
        (pd.DataFrame({"cpu": [1, 2, 3], "memory": dates}), "memory is .* but it must be an array of numbers"),
    ):
        frame.to_parquet(path)
        with pytest.raises(InstanceError, match=words):
            read_cluster(path)
    twice = pa.table([pa.array([1]), pa.array([2])], names=["cpu", "cpu"])
    pa.parquet.write_table(twice, path)
    with pytest.raises(InstanceError, match="has 2 columns 'cpu', but it must have one"):
        read_cluster(path)


def test_the_jobs_of_the_parallel_workloads_archive(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    packed = tmp_path / "log.swf.gz"
    packed.write_bytes(gzip.compress(SWF.encode()))
    found = read_workload(path)
    jobs = found.workload
    assert same(read_workload(packed).workload, jobs)
    assert jobs.users == ("user-12", "user-9")
    assert (jobs.arrival.tolist(), jobs.tasks.tolist(), jobs.duration.tolist()) == ([0, 20], [4, 2], [60, 30])
    assert found.left_out == {"jobs of no run time": 1, "jobs without processors": 1, "jobs never submitted": 0}
    assert (found.cluster.capacities.tolist(), found.cluster.counts.tolist()) == ([[3], [2]], [1, 2])


def test_users_of_an_archive_with_long_numbers_stay_apart(tmp_path):
    (tmp_path / "log.swf").write_text(SWF.replace(" 12 ", " 1234567 ").replace(" 9 ", " 1234568 "))
    assert read_workload(tmp_path / "log.swf").workload.users == ("user-1234567", "user-1234568")


def test_machines_from_a_file(tmp_path):
    path = tmp_path / "machines.csv"
    path.write_text("\ufeffclass,count,cpu,memory\nbig,2,1,2\nsmall,3,0.5,1\n")  # as spreadsheets write it
    cluster = read_cluster(path)
    assert (cluster.names, cluster.counts.tolist()) == (("big", "small"), [2, 3])
    assert cluster.capacities.tolist() == [[1, 2], [0.5, 1]]


WRONG = {
    "a.csv": ("user,arrival,tasks,cpu\nann,0,1,1\n", "no column 'duration'"),
    "b.csv": ("user,arrival,tasks,duration,cpu\nann,0,1,x,1\n", "duration in line 2 .* is 'x'"),
    "c.csv": ("user,arrival,tasks,duration,cpu,weight\nann,0,1,1,1,1\nann,0,1,1,1,2\n", "weight of user 'ann' is 1 and 2"),
    "d.csv": ("user,arrival,tasks,duration,cpu\nann,0,1.5,1,1\n", "tasks.* must be positive integers"),
    "e.swf": ("; MaxProcs: 3\n1 2 3\n", "1 jobs of 3 fields, .* 18 finite numbers each"),
    "f.swf": (SWF.replace("60", "sixty"), "cannot be read: could not convert string .sixty."),
    "g.swf": (SWF.replace("MaxNodes: 3", "MaxNodes: 9"), "MaxNodes and MaxProcs"),
    "k.swf": (SWF.replace("MaxNodes: 3", "MaxNodes: \u00b2"), "MaxNodes and MaxProcs"),
    "h.swf": ("; Version: 2\n", "has 0 jobs .* must have jobs"),
    "i.txt": ("", "must end in .csv, .parquet, .swf"),
    "j.parquet": ("no parquet", "not a whole parquet file"),
    "l.swf": (SWF.replace("MaxProcs: 7", "MaxProcs: " + "7" * 5000), "MaxNodes and MaxProcs"),
    "m.swf": (SWF.replace("  1 0 5", "# 1 0 5"), "cannot be read: could not convert string '#'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_one_sentence(name, tmp_path):
    (tmp_path / name).write_text(WRONG[name][0])
    with pytest.raises(InstanceError, match=WRONG[name][1]):
        read_workload(tmp_path / name)


def test_lines_without_fields_and_the_mark_of_utf_8_are_no_jobs(tmp_path):
    """Editors and spreadsheets write them."""
    path = written(tmp_path, ".csv")
    path.write_text("\n" + path.read_text().replace("ann", "\n , ,,,,,\nann") + "\n\n")
    assert same(read_workload(path).workload, Workload.from_columns(FRAME))
    (tmp_path / "log.swf").write_text(f"\ufeff{SWF}\n")
    assert read_workload(tmp_path / "log.swf").cluster.counts.tolist() == [1, 2]


def test_parquet_with_any_byte_changed_and_names_that_no_file_has_are_one_sentence(tmp_path):
    data = written(tmp_path, ".parquet", FRAME[["user", "cpu"]]).read_bytes()
    path = tmp_path / "changed.parquet"
    for k in range(data.rindex(b"cpu") - 9, data.rindex(b"cpu") + 9):
        path.write_bytes(data[:k] + b"\xb2" + data[k + 1 :])
        with suppress(InstanceError):
            read_table(path, ("user",), {})
    for name in ("a\0b", "\ud800"):
        for ending in (".csv", ".parquet", ".swf"):
            with pytest.raises(InstanceError, match="cannot be read"):
                read_workload(tmp_path / f"{name}{ending}")


def test_a_log_is_saved_and_loaded_and_that_of_other_data_is_refused(tmp_path):
    jobs, machines = Workload.from_columns(FRAME), Cluster(["cpu", "memory"], [[1, 2]], [2])
    events = ServerEvents([6.0, 8.0], [0, 0], [False, True])
    log = simulate_tasks(jobs, machines, "best-fit-drfh", 9, events=events)
    log.save(tmp_path / "log.parquet")
    again = TaskLog.load(tmp_path / "log.parquet", jobs, machines, events)
    for name in ("job", "server", "tasks", "start", "end", "outcome", "waiting", "cancelled"):
        assert getattr(again, name).tolist() == getattr(log, name).tolist()
    assert (again.scheduler, again.until) == ("best-fit-drfh", 9)
    assert len(again.to_frame()) == len(log)
    assert set(again.to_frame()["outcome"]) == {"running", "finished", "lost"}
    with pytest.raises(InstanceError, match="of other jobs or machines"):
        TaskLog.load(tmp_path / "log.parquet", jobs, machines)
    FRAME.to_parquet(tmp_path / "jobs.parquet")
    with pytest.raises(InstanceError, match="holds no log"):
        TaskLog.load(tmp_path / "jobs.parquet", jobs, machines, events)


ROW = "1 0 5 60 {used} -1 -1 {asked} -1 -1 1 12 1 -1 1 -1 -1 -1\n"


def test_jobs_of_an_archive_that_nobody_submitted_are_left_out_and_told(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(SWF.replace("1 0 5", "1 -1 5"))
    found = read_workload(path)
    assert (len(found.workload), found.left_out["jobs never submitted"]) == (1, 1)
    path.write_text(SWF.replace("5 60", "5 nan"))
    with pytest.raises(InstanceError, match="it must have jobs, of 18 finite numbers each"):
        read_workload(path)


def test_machines_of_an_archive_are_what_its_header_tells(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(ROW.format(used=2, asked=4))
    found = read_workload(path)
    assert found.cluster is None
    assert found.workload.tasks.tolist() == [2], "what was used counts, not what was asked for"
    for header, sizes, counts in (("; MaxProcs: 6\n", [[1]], [6]), ("; MaxNodes: 3 x\n; MaxProcs: 6\n", [[2]], [3])):
        path.write_text(header + ROW.format(used=0, asked=4))
        machines = read_workload(path).cluster
        assert (machines.capacities.tolist(), machines.counts.tolist()) == (sizes, counts)
        assert read_workload(path).workload.tasks.tolist() == [4]


def test_machines_without_a_resource_are_refused(tmp_path):
    path = tmp_path / "machines.csv"
    path.write_text("class,count\nbig,2\n")
    with pytest.raises(
        InstanceError, match=r"the columns of .* are \['class', 'count'\], but there must be one for each resource"
    ):
        read_cluster(path)


def test_a_machine_is_up_after_its_last_turn():
    events = ServerEvents([1, 2, 2, 4, 6], [0, 2, 0, 0, 2], [False, True, True, False, False])
    times = (-1, 0, 1, 1.5, 2, 4, 5, 7)
    expected = [[True, True, False]] * 2 + [[False, True, False]] * 2 + [[True, True, True]] + [[False, True, True]] * 2
    assert [events.up_at(time, 3).tolist() for time in times] == [*expected, [False, True, False]]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (([1, 2], [0], [True]), "2 times, 1 machines and 1 directions"),
        (([-1], [0], [False]), "must be finite, ascending and not negative"),
        (([np.inf], [0], [False]), "must be finite"),
        (([1], [0.5], [False]), r"server\[0\] is 0.5, but it must be the number of a machine"),
        (([1], [-1], [False]), r"server\[0\] is -1.0, but it must be the number of a machine"),
        (([1], [2**70], [False]), "must be the number of a machine"),
        (([1], [np.nan], [False]), r"server\[0\] is nan, but it must be finite"),
        (([1], ["a"], [False]), "server is .* but it must be an array of numbers"),
        ((1, 0, False), "up has 0 dimensions, but it must have 1"),
        (([1], [0], ["False"]), "up is .*, but it must be an array of"),
        (([1], [0], [2]), "up is .*, but it must be an array of true and false"),
    ],
)
def test_events_that_are_none(columns, words):
    with pytest.raises(InstanceError, match=words):
        ServerEvents(*columns)
    ServerEvents([0, 0, 1], [0, 1, 0], [False, False, True]).check_on(Cluster(["cpu"], [[1]], [2]))
