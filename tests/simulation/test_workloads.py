"""Workloads: distributions go through what is printed, real samples give what is said of them, bad files end in a sentence."""

import sys
from pathlib import Path

import numpy as np
import pytest

from fairalloc.models.errors import InstanceError, NotInstalled, UnknownName
from fairalloc.models.examples.traces import data_dir
from fairalloc.simulation.workload import Cluster
from fairalloc.simulation.workloads import (
    alibaba_pods,
    bitbrains_day,
    bitbrains_files,
    bitbrains_instant,
    data_centre,
    default_workload,
    fitted,
    four_classes,
    google_files,
    google_intervals,
    google_machines,
    google_servers,
    google_tasks,
)
from fairalloc.simulation.workloads.clusters import TABLE1

DAY = 86400.0


@pytest.fixture
def data(monkeypatch):
    """The folder with the samples, wherever the machine has it."""
    if data_dir() is None:
        pytest.skip("the real samples are not here: set FAIRALLOC_DATA to their folder")
    return data_dir()


def write(path, text):
    """Write a file and return its path."""
    path.write_text(text)
    return path


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_activity_and_quanta_go_through_the_points_of_k_fig_8():
    assert fitted.ACTIVITY.at([0.38, 1 - 0.16]) == pytest.approx([300.0, DAY], rel=1e-12)
    assert fitted.QUANTA.at([0.53, 1 - 0.05]) == pytest.approx([10.0, 1e4], rel=1e-12)


def test_what_is_drawn_has_the_printed_parts():
    rng = np.random.default_rng(0)
    activity = fitted.ACTIVITY.at(rng.random(40_000))
    quanta = fitted.quanta_for(activity, rng)
    printed = {
        "38 %": (activity <= 300, 0.38),
        "16 %": (activity > DAY, 0.16),
        "53 %": (quanta < 10, 0.53),
        "5 %": (quanta > 1e4, 0.05),
    }
    for name, (found, part) in printed.items():
        assert abs(found.mean() - part) < 4 * np.sqrt(part * (1 - part) / 40_000), name


def test_a_distribution_that_misses_a_point_is_seen():
    moved = fitted.Printed(((1.0, 0.0), (400.0, 0.38), (DAY, 0.84), (29 * DAY, 1.0)))
    assert abs(moved.at([0.38])[0] - 300.0) > 10
    drawn = moved.at(np.random.default_rng(0).random(40_000))
    assert abs((drawn <= 300).mean() - 0.38) > 4 * np.sqrt(0.38 * 0.62 / 40_000)


def test_jobs_that_are_active_longer_need_more_quanta():
    rng = np.random.default_rng(1)
    activity = fitted.ACTIVITY.at(rng.random(5000))
    quanta = fitted.quanta_for(activity, rng)
    assert quanta[activity > DAY].mean() > 10 * quanta[activity <= 300].mean()


def test_servers_are_drawn_from_table_1_of_w():
    cell, drawn = google_servers(), google_servers(20_000, seed=3)
    assert cell.counts.tolist() == [row[0] for row in TABLE1]
    assert cell.counts.sum() == 12583
    parts = {name: count / 20_000 for name, count in zip(drawn.names, drawn.counts, strict=True)}
    for name, count in zip(cell.names, cell.counts / 12583, strict=True):
        assert abs(parts.get(name, 0.0) - count) <= 4 * np.sqrt(count * (1 - count) / 20_000), name
    assert google_servers(100, seed=1).counts.tolist() == google_servers(100, seed=1).counts.tolist()
    with pytest.raises(InstanceError, match="machines is 0, but it must be a positive whole number"):
        google_servers(0)


def test_the_clusters_of_k_and_p():
    assert four_classes().counts.sum() == 120
    assert four_classes().totals.tolist() == [64.0, 58.5]
    centre = data_centre()
    assert centre.totals[:2].tolist() == [75 * 4 + 100 * 8 + 75 * 16, 75 * 12 + 100 * 8 + 75 * 4]
    assert centre.totals[2:].tolist() == [6 * 32 + 3 * 100, 6 * 100 + 3 * 1000, 6 * 1000 + 3 * 2000]


def test_generated_jobs_have_the_marginals_and_say_that_they_are_generated():
    made = google_intervals("generated", share=0.3, seed=5)
    jobs = made.workload
    quanta = np.bincount(jobs.job_user, jobs.work * jobs.demand.max(axis=1), len(jobs.users))
    count = len(jobs.users)
    assert abs((quanta < 10).mean() - 0.53) < 5 * np.sqrt(0.25 / count), "those cut off by the end of the day need fewer"
    assert made.real == ""
    assert "everything" in made.generated
    assert jobs.demand.max() == pytest.approx(0.01)
    jobs.check_on(made.cluster)


def test_intervals_begin_at_multiples_of_five_minutes_or_at_arrivals():
    jobs = google_intervals("generated", share=0.01, seed=2).workload
    later = np.ones(len(jobs), dtype=bool)
    later[np.unique(jobs.job_user, return_index=True)[1]] = False
    assert later.any()
    assert (jobs.arrival[later] % 300 == 0).all()
    assert jobs.arrival.max() < DAY
    public = jobs.eligible.tolist()
    assert [True, True, False, False] in public
    assert [True] * 4 in public


def test_the_same_seed_gives_the_same_workload():
    one, same, other = (google_tasks("generated", hours=2, share=0.1, seed=seed).workload for seed in (4, 4, 5))
    assert one.arrival.tolist() == same.arrival.tolist()
    assert one.demand.tolist() == same.demand.tolist()
    assert one.arrival.tolist() != other.arrival.tolist()


def test_sources_and_hours_that_are_none():
    with pytest.raises(InstanceError, match="source is 'google2020', but it must be one of google2011, google2019, generated"):
        google_tasks("google2020")
    with pytest.raises(InstanceError, match="hours is 0, but it must be a positive, finite number"):
        google_intervals("generated", hours=0)
    with pytest.raises(InstanceError, match="source is 'x', but it must be one of bitbrains, generated"):
        bitbrains_instant("x")


def test_generated_vms_fit_the_data_centre():
    instance = bitbrains_instant("generated", seed=1, users=20)
    assert (instance.N, instance.K, instance.R) == (20, 9, 5)
    reach = instance.placement.reshape(20, 3, 3)
    assert (reach == reach[:, :1]).all(), "the type of a server does not matter"
    assert reach[:, 0, 1].all(), "the middle is near to everybody"


# ---- the registry ----------------------------------------------------------------------------------------------------


def test_the_default_workload_is_the_first_whose_samples_are_there(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRALLOC_DATA", str(tmp_path))
    assert default_workload(("google2011", "generated")) == "google2011"
    monkeypatch.setattr("fairalloc.simulation.workloads.data_missing", lambda: "the samples are not found")
    assert default_workload(("google2011", "generated")) == "generated"
    with pytest.raises(NotInstalled, match="the samples are not found"):
        default_workload(("google2011", "generated"), "google2011")
    with pytest.raises(UnknownName, match="there is no workload 'bitbrain'"):
        default_workload(("google2011", "generated"), "bitbrain")


def test_without_pyarrow_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotInstalled, match=r'raw files need pyarrow: pip install "fairalloc\[traces\]"'):
        google_files([write(tmp_path / "t.csv", "0,,1,0,,0,u,0,0,0.5,0.5,,\n")])


# ---- official raw files ----------------------------------------------------------------------------------------------

# time, missing, job, task, machine, event, user, class, priority, cpu, memory, disk, restriction
ROWS = """\
700000000,,7,0,,0,ann,2,9,0.5,0.25,,
600000000,,5,1,,0,bob,0,0,0.1,,,
600000000,,5,0,,0,bob,0,0,0.3,0.2,,
610000000,,5,0,11,1,bob,0,0,0.3,0.2,,
650000000,,5,0,11,4,bob,0,0,0.3,0.2,,
720000000,,7,0,11,1,ann,2,9,0.5,0.25,,
800000000,,9,0,,0,eve,0,0,0.1,0.1,,
"""


def test_raw_google_rows_become_jobs_in_any_order(tmp_path):
    made = google_files([write(tmp_path / "a.csv", ROWS)])
    jobs = made.workload
    assert [jobs.users[n] for n in jobs.job_user] == ["bob", "ann"]
    assert jobs.arrival.tolist() == [0.0, 100.0]
    assert jobs.tasks.tolist() == [2, 1]
    assert jobs.duration.tolist() == [40.0, 80.0]
    np.testing.assert_allclose(jobs.demand, [[0.2, 0.2], [0.5, 0.25]], rtol=1e-12)
    assert made.left_out == {"jobs that request nothing": 0, "jobs that never run": 1}
    lines = ROWS.splitlines(keepends=True)
    split = google_files([write(tmp_path / "b.csv", "".join(lines[4:])), write(tmp_path / "c.csv", "".join(lines[:4]))]).workload
    assert (split.arrival.tolist(), split.duration.tolist()) == (jobs.arrival.tolist(), jobs.duration.tolist())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("600000000,,5,1,,0,bob\n", "cannot be read as task_events, which has 13 fields in a row: .*13 columns, got 7"),
        ("-5,,5,1,,0,bob,0,0,0.1,0.1,,\n", "the time in row 1 of task_events is -5, but it must not be negative"),
        ("now,,5,1,,0,bob,0,0,0.1,0.1,,\n", "cannot be read as task_events.*now"),
        ("", "cannot be read as task_events, which has 13 fields in a row: Empty CSV file"),
    ],
)
def test_bad_google_files_end_in_one_sentence(tmp_path, text, says):
    pytest.importorskip("pyarrow")
    with pytest.raises(InstanceError, match=says) as caught:
        google_files([write(tmp_path / "bad.csv", text)])
    assert "\n" not in str(caught.value)


def test_no_file_and_no_machine_are_told(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(InstanceError, match="no files were given"):
        google_files([])
    with pytest.raises(InstanceError, match="leave no machine with a CPU and a memory capacity"):
        google_machines([write(tmp_path / "m.csv", "0,5,0,x,0.5,0.5\n9,5,1,x,0.5,0.5\n")])
    with pytest.raises(InstanceError, match="cannot be read as machine_events"):
        google_machines([tmp_path / "none.csv"])


def test_machines_at_the_end_are_counted_by_size(tmp_path):
    pytest.importorskip("pyarrow")
    text = "9,5,2,x,1,0.5\n0,5,0,x,0.5,0.5\n0,6,0,x,0.5,0.5\n3,7,0,x,0.5,0.5\n4,8,0,x,,\n"
    cluster = google_machines([write(tmp_path / "m.csv", text)])
    assert cluster.capacities.tolist() == [[0.5, 0.5], [1.0, 0.5]]
    assert cluster.counts.tolist() == [2, 1]


@pytest.mark.deep
def test_a_million_rows_are_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv

    count = 10**6
    k = np.arange(count)
    nothing = pyarrow.nulls(count)
    columns = [
        k[::-1] + 1,
        nothing,
        k % 1000,
        k // 2000,
        nothing,
        (k // 1000) % 2 * 4 + (k // 1000 + 1) % 2,
        k % 7,
        nothing,
        nothing,
    ]
    requests = [np.full(count, 0.0125), np.full(count, 0.0159), nothing, nothing]
    table = pyarrow.table([pyarrow.array(c) for c in (*columns, *requests)], names=[str(n) for n in range(13)])
    csv.write_csv(table, tmp_path / "t.csv", csv.WriteOptions(include_header=False, quoting_style="none"))
    jobs = google_files([tmp_path / "t.csv"]).workload
    assert len(jobs) == 1000
    assert jobs.tasks.sum() == 500_000
    assert (np.diff(jobs.arrival) >= 0).all()


def test_a_task_larger_than_every_machine_is_told(tmp_path):
    pytest.importorskip("pyarrow")
    jobs = google_files([write(tmp_path / "a.csv", ROWS)]).workload
    with pytest.raises(InstanceError, match=r"the tasks of job 1 demand \[0.5, 0.25\], which fits on no machine"):
        jobs.check_on(Cluster(["cpu", "memory"], [[0.4, 1.0]]))


HEADER = ";\t".join(
    [
        *("Timestamp [ms]", "CPU cores", "CPU capacity provisioned [MHZ]", "CPU usage [MHZ]", "CPU usage [%]"),
        *("Memory capacity provisioned [KB]", "Memory usage [KB]", "Disk read throughput [KB/s]", "Disk write throughput [KB/s]"),
        *("Network received throughput [KB/s]", "Network transmitted throughput [KB/s]"),
    ]
)


def vm_row(time, cores, cpu):
    """A row of a Bitbrains file."""
    return ";\t".join(map(str, (time, cores, 2000, cpu, 1, 1048576, 524288, 1000, 500, 125, 250)))


def test_the_traps_of_bitbrains_files(tmp_path):
    hour = 3600
    rows = [vm_row(5 * hour, 2, 900), vm_row(0, 2, 1000), vm_row(300, 0, 9999), vm_row(600, 2, 8888), vm_row(600, 2, 1500)]
    made = bitbrains_files([write(tmp_path / "1.csv", "\n".join([HEADER, *rows]) + "\n")])
    jobs = made.workload
    assert jobs.arrival.tolist() == [0.0, 5 * hour], "hours that are missing part two periods"
    np.testing.assert_allclose(jobs.demand[0], np.array([1.5, 0.5, 1.5, 2.0, 1.0]) * 1e-3, rtol=1e-12)
    np.testing.assert_allclose(jobs.work, hour / 1e-3, rtol=1e-12)
    assert made.left_out == {"rows whose time repeats": 1, "rows of VMs that are off": 1}
    with pytest.raises(InstanceError, match="no VM of these files ever used CPU"):
        bitbrains_files([write(tmp_path / "2.csv", f"{HEADER}\n{vm_row(0, 2, 0)}\n")])
    with pytest.raises(InstanceError, match=r"the time in row 1 of .*3.csv is -1, but it must not be negative"):
        bitbrains_files([write(tmp_path / "3.csv", f"{HEADER}\n{vm_row(-1, 2, 5)}\n")])


NODES = "sn,cpu_milli,memory_mib,gpu,model\nn1,8000,2048,2,T4\nn2,32000,1024,0,\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def test_pods_are_placed_by_gpu_type(tmp_path):
    nodes = write(tmp_path / "n.csv", NODES)
    pods = write(
        tmp_path / "p.csv",
        PODS
        + "a,1000,512,1,500,T4,LS,Running,100,160,110\nb,2000,512,0,0,,BE,Pending,50,90,\n"
        + "c,1000,512,1,500,G2,LS,Running,60,90,60\n",
    )
    made = alibaba_pods(nodes=nodes, pods=pods)
    jobs = made.workload
    assert made.cluster.capacities.tolist() == [[32, 1, 0], [8, 2, 2]]
    assert jobs.arrival.tolist() == [0.0, 50.0]
    assert jobs.duration.tolist() == [40.0, 50.0]
    assert jobs.eligible.tolist() == [[True, True], [False, True]]
    assert made.left_out["pods that fit on no node of their GPU types"] == 1
    with pytest.raises(InstanceError, match=r"the pod in line 2 of .* is created at 100 s and deleted at 60 s"):
        alibaba_pods(nodes=nodes, pods=write(tmp_path / "q.csv", PODS + "a,1000,512,1,500,,LS,Running,100,60,110\n"))
    with pytest.raises(InstanceError, match="has 0 columns 'deletion_time'"):
        alibaba_pods(
            nodes=nodes, pods=write(tmp_path / "r.csv", PODS.replace("deletion_time,", "") + "a,1,1,0,0,,LS,Running,1,1\n")
        )


# ---- the real samples ------------------------------------------------------------------------------------------------


def test_real_activity_is_close_to_what_k_prints(data: Path):
    jobs = google_tasks("google2011", seed=0)
    duration = jobs.workload.duration
    assert len(jobs.workload) == 23737
    assert abs((duration > DAY).mean() - 0.16) < 0.02, "K Fig. 8: 16 % are active for more than 24 hours"
    assert "a job of the same class" in jobs.generated
    assert jobs.left_out == {"jobs that never started": 0}


def test_real_requests_fit_on_the_servers_of_w(data: Path):
    for source in ("google2011", "google2019"):
        jobs = google_tasks(source, hours=1, share=0.1).workload
        jobs.check_on(google_servers(500))
        assert jobs.demand.min() > 0


def test_real_vms_are_those_that_are_active(data: Path):
    one, other = (bitbrains_instant("bitbrains", seed=seed) for seed in (0, 1))
    assert 300 < one.N < 500
    assert one.users != other.users
    day = bitbrains_day(minutes=60)
    day.workload.check_on(day.cluster)
    assert len(day.workload.users) + day.left_out["VMs that used no CPU on the day"] == 500
    assert day.workload.arrival.max() < DAY


def test_real_pods_keep_their_times(data: Path):
    made = alibaba_pods()
    assert len(made.workload) + sum(made.left_out.values()) == 8152
    assert made.cluster.counts.sum() == 1523
    assert not made.workload.eligible.all()
    made.workload.check_on(made.cluster)


def test_the_official_samples_are_read(data: Path):
    raw = data / "google2011" / "sample_raw"
    made = google_files([raw / "task_events_head.csv.gz"], [raw / "machine_events_head.csv.gz"])
    assert made.left_out == {"jobs that request nothing": 0, "jobs that never run": 128}, "the first rows are submissions alone"
    assert made.cluster.counts.sum() == 1523
    vms = bitbrains_files([data / "bitbrains" / name for name in ("raw_rnd_2013-8_vm1.csv.gz", "raw_fastStorage_vm99.csv.gz")])
    assert len(vms.workload.users) == 2
