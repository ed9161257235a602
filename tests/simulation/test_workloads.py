"""Workloads: distributions go through what is printed, real samples give what is said of them, bad files end in a sentence."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairalloc.models.errors import InstanceError, NotInstalled, UnknownName
from fairalloc.models.examples.traces import data_dir
from fairalloc.simulation.workload import Cluster
from fairalloc.simulation.workloads import (
    alibaba_pods,
    bitbrains,
    bitbrains_files,
    bitbrains_instant,
    data_centre,
    default_workload,
    fitted,
    four_classes,
    google,
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
    assert fitted.values_at(fitted.ACTIVITY, [0.38, 1 - 0.16]) == pytest.approx([300.0, DAY], rel=1e-12)
    assert fitted.values_at(fitted.QUANTA, [0.53, 1 - 0.05]) == pytest.approx([10.0, 1e4], rel=1e-12)


def test_what_is_drawn_has_the_printed_parts():
    rng = np.random.default_rng(0)
    activity = fitted.values_at(fitted.ACTIVITY, rng.random(40_000))
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
    moved = ((1.0, 0.0), (400.0, 0.38), (DAY, 0.84), (29 * DAY, 1.0))
    assert abs(fitted.values_at(moved, [0.38])[0] - 300.0) > 10
    drawn = fitted.values_at(moved, np.random.default_rng(0).random(40_000))
    assert abs((drawn <= 300).mean() - 0.38) > 4 * np.sqrt(0.38 * 0.62 / 40_000)


def test_jobs_that_are_active_longer_need_more_quanta():
    rng = np.random.default_rng(1)
    activity = fitted.values_at(fitted.ACTIVITY, rng.random(5000))
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
    with pytest.raises(InstanceError, match="hours is 0, but it must be a positive number of hours, at most 8760"):
        google_intervals("generated", hours=0)
    with pytest.raises(InstanceError, match="share is 5, but it must be a part of all, 0 to 1"):
        google_tasks("generated", share=5)
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
        ("-5,,5,1,,0,bob,0,0,0.1,0.1,,\n", r"the time of task_events\[0\] is -5.0, but it must not be negative"),
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
    with pytest.raises(InstanceError, match=r"the time of .*3.csv\[0\] is -1.0, but it must not be negative"):
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
    at_once = write(tmp_path / "o.csv", PODS + "a,1000,512,0,0,,LS,Running,100,100,100\n")
    assert alibaba_pods(nodes=nodes, pods=at_once).workload.duration.tolist() == [1.0], "times are whole seconds"
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


# ---- what is generated, by its definition ----------------------------------------------------------------------------


ENDS = {"ACTIVITY": (1.0, 29 * DAY), "QUANTA": (0.01, 2.5e6), "TASKS": (1.0, 3879.0)}
"""Ours, in seconds and quanta; and the largest job at the start of Google 2011."""


@pytest.mark.parametrize("name", ENDS)
def test_parts_ascend_with_values_from_end_to_end(name):
    found = getattr(fitted, name)
    values, parts = np.array(found).T
    assert (np.diff(values) > 0).all()
    assert (np.diff(parts) > 0).all()
    assert fitted.values_at(found, [0, 1]) == pytest.approx(ENDS[name])
    assert (fitted.values_at(found, parts) >= values * (1 - 1e-12)).all()


def test_between_two_points_the_logarithm_is_straight():
    assert fitted.values_at(((1.0, 0.2), (100.0, 0.6)), [0.1, 0.4, 0.5, 0.9]) == pytest.approx([1, 10, 10**1.5, 100])


@pytest.mark.parametrize("seed", [0, 1])
def test_generated_jobs_are_those_of_a_window_whose_longest_are_there_at_its_start(seed):
    jobs, expected = google._generated_jobs(6.0, np.random.default_rng(seed)), 19751 / 4
    there = jobs.arrival == 0
    assert there.sum() == 3986
    assert abs((~there).sum() - expected) < 5 * np.sqrt(expected)
    assert jobs.duration[there].min() >= jobs.duration[~there].max()
    assert (np.diff(jobs.arrival) >= 0).all()
    assert 0.9 * 6 * 3600 < jobs.arrival.max() < 6 * 3600
    parts = np.bincount(jobs.sched_class, minlength=4) / len(jobs.user)
    assert np.abs(parts - [0.349, 0.356, 0.25, 0.045]).max() < 0.03
    often = np.bincount(jobs.user, minlength=580) / len(jobs.user)
    assert np.abs(often[:2] - np.array([1, 1 / 2]) / sum(1 / k for k in range(1, 581))).max() < 0.02


def test_generated_tasks_have_sizes_in_parts_of_the_largest_server_that_go_together():
    _, tasks, demand = google._drawn("generated", 24.0, 1.0, np.random.default_rng(0))
    logs = np.log(demand[(demand < 0.5).all(axis=1)])
    assert 0 < demand.min() < demand.max() == 0.5
    assert np.quantile(demand, 0.5, axis=0) == pytest.approx(np.exp([-3.46, -4.01]), rel=0.05)
    assert 0.5 < np.corrcoef(logs.T)[0, 1] < 0.7
    assert np.abs(logs.std(axis=0) - 1.25).max() < 0.1
    assert [(tasks <= k).mean() for k in (1, 3, 10, 100)] == pytest.approx([0.65, 0.778, 0.855, 0.95], abs=0.015)


@pytest.mark.parametrize("hours", [1.0, 5.0])
def test_every_job_has_its_quanta_by_the_intervals_in_which_it_is_active(hours):
    """At an even rate: in an interval as much as the time in it, from its arrival to its end or that of the window."""
    rng = np.random.default_rng(4)
    jobs, _, demand = google._drawn("generated", 24.0, 0.01, rng)
    rates = fitted.quanta_for(jobs.duration, rng) / np.minimum(jobs.duration, DAY)
    expected = []
    for j, (begin, length) in enumerate(zip(jobs.arrival, jobs.duration, strict=True)):
        for k in range(int(hours * 12)):
            start, end = max(begin, 300 * k), min(begin + length, 300 * (k + 1))
            if end > start:
                expected.append((start, f"job-{j}", (end - start) * rates[j] / 0.01))
    found = google_intervals("generated", hours=hours, share=0.01, seed=4).workload
    rows = zip(found.arrival.tolist(), [found.users[n] for n in found.job_user], found.work.tolist(), strict=True)
    ours, plain = sorted(rows), sorted(expected)
    same = [row[:2] for row in ours] == [row[:2] for row in plain]
    assert same, "the same jobs at the same times"
    assert np.allclose([row[2] for row in ours], [row[2] for row in plain], rtol=1e-9)
    of = np.array([int(name[4:]) for name in found.users])[found.job_user]
    assert np.allclose(found.demand, 0.01 * demand[of] / demand[of].max(axis=1, keepdims=True), rtol=1e-12)
    assert np.array_equal(found.eligible[:, 2:], np.repeat(jobs.sched_class[of, None] >= 2, 2, axis=1))
    assert found.eligible[:, :2].all()


def test_a_part_of_the_users_has_all_their_jobs_and_a_part_of_the_jobs_has_not():
    every = google._drawn("generated", 2.0, 1.0, np.random.default_rng(3))[0]
    users = google._drawn("generated", 2.0, 0.5, np.random.default_rng(3), whole_users=True)[0]
    some = google._drawn("generated", 2.0, 0.5, np.random.default_rng(3))[0]
    counts = [np.bincount(one.user, minlength=580) for one in (every, users, some)]
    assert ((counts[1] == 0) | (counts[1] == counts[0])).all()
    assert 200 < (counts[1] > 0).sum() < 380
    assert abs(counts[2].sum() / counts[0].sum() - 0.5) < 0.03
    assert ((counts[2] > 0) & (counts[2] < counts[0])).any()


def test_a_correlation_matrix_and_vms_that_the_data_centre_can_serve():
    table = bitbrains.CORRELATIONS
    assert (table == table.T).all()
    assert (np.diag(table) == 1).all()
    assert np.linalg.eigvalsh(table).min() > 0
    means, spreads = bitbrains.LOGARITHMS
    rng = np.random.default_rng(1)
    logs, counts = np.zeros((0, 5)), []
    for _ in range(20):
        names, demand = bitbrains._generated(rng)
        logs, counts = np.vstack([logs, np.log(demand)]), [*counts, len(names)]
    assert abs(np.mean(counts) - 0.88 * 500) < 8
    assert np.abs(np.corrcoef(logs.T) - table).max() < 0.05
    assert np.abs(logs.mean(axis=0) - means).max() < 0.15
    assert np.abs(logs.std(axis=0) - spreads).max() < 0.1
    assert (np.exp(np.median(logs, axis=0)) < data_centre().capacities.max(axis=0)).all()
    assert ((spreads > 1.5) & (spreads < 3.1)).all(), "a factor of 5 to 20 is usual"


def test_the_machines_of_w_table_1_have_its_sizes():
    cell = google_servers()
    assert cell.totals.round().tolist() == [6659, 5922]
    assert sorted(set(cell.capacities[:, 0])) == [0.25, 0.5, 1]
    assert sorted(set(cell.capacities[:, 1])) == [0.03, 0.06, 0.12, 0.25, 0.5, 0.75, 0.97, 1]
    assert [*google_servers(3, seed=1).names] == sorted(google_servers(3, seed=1).names, key=cell.names.index)


# ---- samples of a few rows, by hand ----------------------------------------------------------------------------------


MS = 1000
JOBS_2011 = {  # the window starts at 600 s; -1: never
    "user": [7, 7, 3, 5, 9, 4, 8],
    "sched_class": [0, 1, 2, 3, 0, 1, 2],
    "submit_ms": [0, 700 * MS, 4000 * MS, 900 * MS, 100 * MS, 650 * MS, 4200 * MS],
    "schedule_ms": [10 * MS, 730 * MS, 4010 * MS, 950 * MS, 110 * MS, -1, 4300 * MS],
    "end_ms": [1600 * MS, 760 * MS, -1, 950 * MS, 600 * MS, -1, 4400 * MS],
}
AT_START = {
    "job_id": [1, 1, 2, 3, 3, 4, 5],
    "sched_class": [0, 0, 1, 2, 2, 3, 0],
    "cpu_req": [0.2, 0.4, 0.1, 0.3, 0.1, 0.25, 0.0],
    "mem_req": [0.1, 0.1, 0.2, 0.2, 0.4, 0.5, 0.3],
}


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """A folder of samples of a few rows."""
    monkeypatch.setenv("FAIRALLOC_DATA", str(tmp_path))
    for name, columns in (("google2011/jobs", JOBS_2011), ("google2011/tasks_t0", AT_START)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pd.DataFrame(columns).to_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "google2019").mkdir()
    pd.DataFrame({"cpu_req": [0.5, 0.0], "mem_req": [0.125, 0.5]}).to_parquet(tmp_path / "google2019" / "instances.parquet")
    (tmp_path / "bitbrains").mkdir()
    head = "vm,cpu_max,mem_max,disk_r_max,disk_w_max,tx_max,rx_max\n"
    rows = "3,2000,2097152,1000,2000,125,250\n5,0,0,0,0,0,0\n8,500,1048576,0,0,0,125\n"
    with gzip.open(tmp_path / "bitbrains" / "rnd_vms.csv.gz", "wt") as file:
        file.write(head + rows)
    hours = {"vm": [3, 8, 3, 8], "hour": [10, 10, 11, 11], "cpu_mhz": [7, 0, 0, 7]}
    pd.DataFrame(hours).to_parquet(tmp_path / "bitbrains" / "rnd_hourly.parquet")
    return tmp_path


def test_jobs_of_the_trace_by_hand(samples):
    """One had ended before the window, one never started, one was submitted after the first hour and one has not ended."""
    made = google_tasks("google2011", hours=1)
    jobs = made.workload
    assert [jobs.users[n] for n in jobs.job_user] == ["user-7", "user-7", "user-5", "user-3"]
    assert jobs.arrival.tolist() == [0, 100, 300, 3400]
    assert jobs.duration.tolist() == [1000, 30, 1, 2506198 - 4010], "a job that ended at once runs 1 s"
    assert jobs.tasks.tolist() == [2, 1, 1, 2], "of the job of its class at the start that requests something of both"
    assert jobs.demand == pytest.approx(np.array([[0.3, 0.1], [0.1, 0.2], [0.25, 0.5], [0.2, 0.3]]))
    assert made.left_out == {"jobs that never started": 1}
    later = google_tasks("google2011", hours=1.001).workload
    assert later.arrival.tolist()[-1] == 3600
    other = google_tasks("google2019", hours=1).workload
    assert other.demand.tolist() == [[0.5, 0.125]] * 4
    assert other.tasks.tolist() == jobs.tasks.tolist()


def test_times_of_the_trace_are_the_decimals_that_their_milliseconds_are(samples):
    """In floats 700.1 - 600 is 100.10000000000002."""
    late = {name: [row + 100 * (row > 0) for row in rows] if name.endswith("_ms") else rows for name, rows in JOBS_2011.items()}
    pd.DataFrame(late | {"end_ms": JOBS_2011["end_ms"]}).to_parquet(samples / "google2011" / "jobs.parquet")
    jobs = google_tasks("google2011", hours=1).workload
    assert jobs.arrival.tolist() == [0, 100.1, 300.1, 3400.1]
    assert jobs.duration.tolist() == [1000, 29.9, 1, 2506198 - 4010.1]


def test_vms_of_the_trace_by_hand(samples):
    """Of the three one never used anything; in each of the two hours another one used CPU."""
    found = {}
    for seed in range(6):
        one = bitbrains_instant("bitbrains", seed=seed)
        found[tuple(one.users)] = one.arcs.load.toarray()
        capacity = data_centre().capacities
        arcs = one.arcs
        demand = np.array([arcs.load.toarray().reshape(9, 5, -1)[arcs.server[a], :, a] for a in range(len(arcs))])
        expected = [2, 2, 3, 1, 2] if one.users == ("vm-3",) else [0.5, 1, 0, 0, 1]
        assert demand * capacity[arcs.server] == pytest.approx(np.tile(expected, (len(arcs), 1)))
    assert set(found) == {("vm-3",), ("vm-8",)}


def test_raw_google_rows_outside_of_the_window_and_without_an_end(tmp_path):
    """Before the window is 0, after it 2^63 - 1; the second task still runs at the last event, 300 s after the first one."""
    rows = "0,,4,0,,0,u,0,0,0.2,0.2,,\n0,,4,0,1,1,u,0,0,,,,\n600000000,,4,1,,0,u,0,0,0.4,,,\n620000000,,4,1,1,1,u,0,0,,,,\n"
    rows += "700000000,,4,0,1,4,u,0,0,,,,\n900000000,,6,0,1,1,v,0,0,0.3,0.1,,\n9223372036854775807,,6,0,1,5,v,0,0,0.3,0.1,,\n"
    evicted = "620000000,,4,1,1,1,u,0,0,,,,\n640000000,,4,1,1,2,u,0,0,,,,\n660000000,,4,1,1,1,u,0,0,,,,\n"  # and started again
    rows = rows.replace("620000000,,4,1,1,1,u,0,0,,,,\n", evicted)
    jobs = google_files([write(tmp_path / "a.csv", rows)]).workload
    assert [jobs.users[n] for n in jobs.job_user] == ["u", "v"]
    assert (jobs.arrival.tolist(), jobs.tasks.tolist()) == ([0, 300], [2, 1])
    assert jobs.duration.tolist() == [(100 + 280) / 2, 1], "a task runs for 1 s at least"
    assert jobs.demand == pytest.approx(np.array([[0.3, 0.2], [0.3, 0.1]]))


def test_quanta_have_the_order_of_activities_where_nothing_else_is_drawn(monkeypatch):
    monkeypatch.setattr(fitted, "DEPENDENCE", 1.0)
    found = fitted.quanta_for(np.array([3.0, 1.0, 2.0]), np.random.default_rng(0))
    np.testing.assert_allclose(found, fitted.values_at(fitted.QUANTA, np.array([5, 1, 3]) / 6))
