"""The trace readers: on the real samples where they are present, and on small files written here."""

import gzip
import logging
import re
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

from fairalloc.models import FairallocError, InstanceError
from fairalloc.models.examples import traces

MIX = "count,cpu,memory\n3,0.5,0.25\n1,1,1\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\na,8000,2048,2,T4\nb,8000,2048,2,T4\nc,16000,4096,4,G2\nd,32000,1024,0,\n"
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p0,1000,512,0,0,\n"
    "p1,500,256,1,250,T4|G2\np2,500,256,1,250,G2|T4|T4\np3,500,256,1,250,T4\n"
    "p4,0,0,0,0,\np5,0,0,2,0,\np6,1000,512,0,0,\np7,1000,512,0,0,\n"
)
VMS = "vm,cpu_max,mem_max\n7,1500,1048576\n8,0,0\n9,0,2097152\n"


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder with the real samples."""
    pytest.importorskip("pyarrow", reason="reading the samples needs pyarrow")
    folder = traces.data_dir()
    if folder is None:
        pytest.skip("the real samples are not here: set FAIRALLOC_DATA to their folder")
    return folder


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def small_google(folder: Path, **columns: list[float]) -> Path:
    """Users 4 (two tasks), 6 (one task without memory, three in all), 9 (requests nothing); other columns replace these."""
    pyarrow = pytest.importorskip("pyarrow", reason="writing a parquet file needs pyarrow")
    from pyarrow import parquet

    default = {"user": [6, 4, 6, 4, 9, 6], "cpu_req": [0.1, 0.2, 0.1, 0.4, 0.0, 0.1], "mem_req": [0.0, 0.1, 0.0, 0.3, 0.0, 0.0]}
    write(folder, "google2011/machine_mix.csv", MIX)
    parquet.write_table(pyarrow.table({**default, **columns}), folder / "google2011" / "tasks_t0.parquet")
    return folder


def fails(message: str) -> AbstractContextManager[object]:
    """Expect an error that says exactly this."""
    return pytest.raises(FairallocError, match=rf"\A{re.escape(message)}\Z")


# ---- the folder -------------------------------------------------------------------------------------------------


def test_data_dir_is_the_variable_when_it_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRALLOC_DATA", str(tmp_path))
    assert traces.data_dir() == tmp_path
    monkeypatch.setenv("FAIRALLOC_DATA", "no-such-folder")
    with fails("FAIRALLOC_DATA is 'no-such-folder', but it must be a folder"):
        traces.data_dir()


def test_data_dir_is_beside_the_current_folder_then_beside_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/here", "a/shared/data", "b/checkout/models", "b/shared/data", "c/here"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.delenv("FAIRALLOC_DATA", raising=False)
    monkeypatch.setattr(traces, "__file__", str(tmp_path / "b/checkout/models/examples/traces.py"))
    monkeypatch.chdir(tmp_path / "a/here")
    assert Path(traces.data_dir() or "").resolve() == (tmp_path / "a/shared/data").resolve()
    monkeypatch.chdir(tmp_path / "c/here")
    assert traces.data_dir() == (tmp_path / "b/shared/data").resolve()
    (tmp_path / "b/shared/data").rmdir()
    assert traces.data_dir() is None


@pytest.mark.parametrize(
    "load", [traces.google_machine_mix, traces.google2011, traces.google2019_demands, traces.bitbrains, traces.alibaba]
)
def test_a_folder_that_is_not_there(load: object) -> None:
    assert callable(load)
    with fails("the data folder is 'no-such-folder', but there is no such folder"):
        load("no-such-folder")


# ---- damaged files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "{path} has no rows"),
        ("count,cpu,memory\n", "{path} has no rows"),
        ("count,cpu\n1,1\n", "{path} has 0 columns 'memory', but it must have one: the columns are count, cpu"),
        (
            "count,cpu,memory,cpu\n1,1,1,1\n",
            "{path} has 2 columns 'cpu', but it must have one: the columns are count, cpu, memory, cpu",
        ),
        (MIX + "1\n", "line 4 of {path} has 1 field, but it must have 3"),
        (MIX + "1,1\n", "line 4 of {path} has 2 fields, but it must have 3"),
        (MIX + "1,1,1,1\n", "line 4 of {path} has 4 fields, but it must have 3"),
        (MIX + '1,"1,1\n', "{path} is not CSV: unexpected end of data in line 4"),
        (MIX + "\n1,big,1\n", "cpu in line 5 of {path} is 'big', but it must be a finite number"),
        (MIX + "1,1_0,1\n", "cpu in line 4 of {path} is '1_0', but it must be a finite number"),
        (MIX + "1,\u0661,1\n", "cpu in line 4 of {path} is '\u0661', but it must be a finite number"),
        (MIX + "1,big,1\n", "cpu in line 4 of {path} is 'big', but it must be a finite number"),
        (MIX + "1,1,\n", "memory in line 4 of {path} is '', but it must be a finite number"),
        (MIX + "1,1,nan\n", "memory in line 4 of {path} is 'nan', but it must be a finite number"),
        (MIX + "1.5,1,1\n", "count in line 4 of {path} is '1.5', but it must be a whole number"),
    ],
)
def test_a_damaged_csv_file(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "google2011/machine_mix.csv", text)
    with fails(message.format(path=path)):
        traces.google_machine_mix(tmp_path)


def test_a_missing_file(tmp_path: Path) -> None:
    with fails(f"{tmp_path / 'google2011' / 'machine_mix.csv'} cannot be read: No such file or directory"):
        traces.google_machine_mix(tmp_path)
    write(tmp_path, "google2011/machine_mix.csv", MIX)
    pytest.importorskip("pyarrow")
    with fails(f"{tmp_path / 'google2011' / 'tasks_t0.parquet'} cannot be read: No such file or directory"):
        traces.google2011(tmp_path)


def test_a_gzip_file_that_is_cut_or_not_gzip_or_not_text(tmp_path: Path) -> None:
    path = write(tmp_path, "bitbrains/rnd_vms.csv.gz", VMS)
    path.write_bytes(path.read_bytes()[:-12])
    with fails(f"{path} cannot be read: Compressed file ended before the end-of-stream marker was reached"):
        traces.bitbrains(tmp_path)
    path.write_text(VMS)
    with fails(f"{path} cannot be read: Not a gzipped file (b'vm')"):
        traces.bitbrains(tmp_path)
    path.write_bytes(gzip.compress(b"vm\xff"))
    with pytest.raises(InstanceError, match=r"rnd_vms.csv.gz cannot be read: 'utf-8' codec can't decode byte 0xff"):
        traces.bitbrains(tmp_path)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = small_google(tmp_path, cpu_req=[0.1] * 5 + [np.nan]) / "google2011" / "tasks_t0.parquet"
    with fails(f"column 'cpu_req' of {path} holds something else than finite numbers"):
        traces.google2011(tmp_path)
    (tmp_path / "google2019").mkdir()
    other = path.rename(tmp_path / "google2019" / "instances.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    pyarrow.parquet.write_table(pyarrow.table({"cpu_req": [1.0]}), other)
    with fails(f"{other} has no column 'mem_req'"):
        traces.google2019_demands(tmp_path)
    other.write_bytes(other.read_bytes()[:-9])
    with fails(f"{other} cannot be read: it is not a whole parquet file"):
        traces.google2019_demands(tmp_path)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "google2011/machine_mix.csv", MIX)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with fails('parquet files need pyarrow: pip install "fairalloc[traces]"'):
        traces.google2011(tmp_path)


# ---- small files, known answers ---------------------------------------------------------------------------------


def test_google2011_takes_means_keeps_zeros_and_counts_who_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "fairalloc"):
        loaded = traces.google2011(small_google(tmp_path), finite=True)
    instance = loaded.instance
    assert instance.users == ("user-4", "user-6")
    np.testing.assert_allclose(np.concatenate(instance.demands), [[0.3, 0.2], [0.1, 0.0]], atol=1e-15)
    assert instance.max_tasks.tolist() == [2, 3]
    assert instance.servers == ("cpu0.5-mem0.25", "cpu1-mem1")
    assert instance.totals.tolist() == [2.5, 1.75]
    assert loaded.left_out == {"users that request nothing": 1, "users with fewer tasks": 0}
    assert f"google2011-2-finite: left out {loaded.left_out}" in caplog.text


def test_google2011_takes_the_users_with_most_tasks(tmp_path: Path) -> None:
    loaded = traces.google2011(small_google(tmp_path), users=1)
    assert loaded.instance.users == ("user-6",)
    assert np.isinf(loaded.instance.max_tasks).all()
    assert loaded.left_out == {"users that request nothing": 1, "users with fewer tasks": 1}
    tied = small_google(tmp_path, user=[6, 4, 6, 4, 9, 9])
    assert traces.google2011(tied, users=1).instance.users == ("user-4",)


@pytest.mark.parametrize("users", [0, 3, 1.0, "all"])
def test_google2011_users_out_of_range(tmp_path: Path, users: int) -> None:
    whole = isinstance(users, int)
    rule = "an integer from 1 to 2" if whole else "a whole number or None"
    with fails(f"users is {users!r}, but it must be {rule}"):
        traces.google2011(small_google(tmp_path), users=users)


def test_numbers_of_numpy_count_and_a_negative_seed_is_refused(tmp_path: Path) -> None:
    assert traces.google2011(small_google(tmp_path), users=np.int64(1)).instance.N == 1  # type: ignore[arg-type]
    with fails("seed is -1, but it must be a whole number, 0 or more"):
        traces.bitbrains(tmp_path, seed=-1)


def test_bitbrains_converts_units_and_counts_vms_that_used_nothing(tmp_path: Path) -> None:
    write(tmp_path, "bitbrains/rnd_vms.csv.gz", VMS)
    loaded = traces.bitbrains(tmp_path, finite=True)
    assert loaded.instance.users == ("vm-7", "vm-9")
    assert np.concatenate(loaded.instance.demands).tolist() == [[1.5, 1.0], [0.0, 2.0]]
    assert loaded.instance.max_tasks.tolist() == [1, 1]
    assert loaded.left_out == {"VMs that never used anything": 1}


@pytest.mark.parametrize("file", ["pods.csv.gz", "pods_gpuspec33.csv.gz"])
def test_alibaba_groups_pods_and_nodes_and_honours_gpu_types(tmp_path: Path, file: str) -> None:
    write(tmp_path, "alibaba2023/nodes.csv.gz", NODES)
    write(tmp_path, f"alibaba2023/{file}", PODS)
    loaded = traces.alibaba(tmp_path, gpuspec="gpuspec" in file, finite=True)
    instance = loaded.instance
    assert instance.servers == ("cpu-32c-1G", "4xG2-16c-4G", "2xT4-8c-2G")
    assert instance.counts.tolist() == [1, 1, 2]
    assert instance.capacities.tolist() == [[32, 1, 0], [16, 4, 4], [8, 2, 2]]
    assert instance.users == ("1000m-512Mi-0x0", "500m-256Mi-1x250-G2|T4", "500m-256Mi-1x250-T4")
    assert np.concatenate(instance.demands).tolist() == [[1, 0.5, 0], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    assert instance.placement.tolist() == [[True, True, True], [False, True, True], [False, False, True]]
    assert instance.max_tasks.tolist() == [3, 2, 1]
    assert loaded.left_out == {"pods that request nothing": 2, "pods in rarer groups": 0}


def test_alibaba_takes_the_most_common_groups(tmp_path: Path) -> None:
    write(tmp_path, "alibaba2023/nodes.csv.gz", NODES)
    write(tmp_path, "alibaba2023/pods.csv.gz", PODS)
    loaded = traces.alibaba(tmp_path, pods=1)
    assert loaded.instance.users == ("1000m-512Mi-0x0",)
    assert loaded.left_out == {"pods that request nothing": 2, "pods in rarer groups": 3}
    with fails("pods is 4, but it must be an integer from 1 to 3"):
        traces.alibaba(tmp_path, pods=4)


def test_alibaba_with_a_gpu_type_that_no_node_has(tmp_path: Path) -> None:
    write(tmp_path, "alibaba2023/nodes.csv.gz", NODES)
    write(tmp_path, "alibaba2023/pods.csv.gz", PODS + "p8,1000,512,1,1000,H100\n")
    with fails("user '1000m-512Mi-1x1000-H100' has no eligible server: its placement allows no server"):
        traces.alibaba(tmp_path)


def test_raw_bitbrains_keeps_off_and_repeated_rows(tmp_path: Path) -> None:
    header = ";\t".join(traces.BITBRAINS_COLUMNS)
    off, on = ";\t".join(["1375308176", "0"] + ["0"] * 9), ";\t".join(["1375308176", *map(str, range(10))])
    table = traces.read_bitbrains_raw(write(tmp_path, "1.csv", f"{header}\n{off}\n{on}\n"))
    assert table["ts"].tolist() == [1375308176, 1375308176]
    assert table["cores"].tolist() == [0, 0]
    assert [table[c][1] for c in ("cap_mhz", "cpu_mhz", "cpu_percent", "mem_kb", "net_tx")] == [1, 2, 3, 5, 9]
    comma = write(tmp_path, "2.csv", f"{header}\n{on}\n".replace(";", ","))
    with pytest.raises(InstanceError, match=r"2.csv has 0 columns 'Timestamp \[ms\]', but it must have one"):
        traces.read_bitbrains_raw(comma)


# ---- the real samples, against the README of the data ------------------------------------------------------------


def test_machine_mix_is_table_1_of_w(data: Path) -> None:
    counts, capacities = traces.google_machine_mix(data)
    assert counts.tolist() == [6732, 3863, 1001, 795, 126, 52, 5, 5, 3, 1]
    assert counts.sum() == 12583
    cpu = [0.5, 0.5, 0.5, 1, 0.25, 0.5, 0.5, 0.5, 1, 0.5]
    memory = [0.5, 0.25, 0.75, 1, 0.25, 0.12, 0.03, 0.97, 0.5, 0.06]
    np.testing.assert_allclose(capacities, np.column_stack([cpu, memory]), rtol=0, atol=0.0050001)


def test_google2011_has_every_user_of_the_sample(data: Path) -> None:
    loaded = traces.google2011(data, finite=True)
    instance = loaded.instance
    assert (instance.N, instance.K, instance.counts.sum()) == (245, 10, 12583)
    np.testing.assert_allclose(instance.totals, [6659, 5915], rtol=0, atol=0.5)
    assert instance.max_tasks.sum() == 33302
    assert loaded.left_out == {"users that request nothing": 0, "users with fewer tasks": 0}
    assert np.isinf(traces.google2011(data).instance.max_tasks).all()


def test_google2011_mean_times_tasks_is_what_the_trace_requests(data: Path) -> None:
    from pyarrow import compute, parquet

    tasks = parquet.read_table(data / "google2011" / "tasks_t0.parquet")
    total: list[float] = [compute.sum(tasks[c]).as_py() for c in ("cpu_req", "mem_req")]
    instance = traces.google2011(data, finite=True).instance
    np.testing.assert_allclose(instance.max_tasks @ np.concatenate(instance.demands), total, rtol=1e-12)
    one = tasks.filter(compute.equal(tasks["user"], int(instance.users[100].removeprefix("user-"))))
    assert instance.demands[100][0, 1] == pytest.approx(compute.mean(one["mem_req"]).as_py(), rel=1e-12)


def test_google2011_users_are_the_busiest(data: Path) -> None:
    every, few = (traces.google2011(data, users=n, finite=True) for n in (None, 20))
    assert few.instance.N == 20
    assert sorted(few.instance.max_tasks) == sorted(every.instance.max_tasks)[-20:]
    assert few.left_out["users with fewer tasks"] == 225
    assert set(few.instance.users) < set(every.instance.users)


def test_google2019_demands_are_distinct_and_positive(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "fairalloc"):
        demands = traces.google2019_demands(data)
    assert demands.shape == (20841, 2)
    assert demands.min() > 0
    assert demands.max() <= 1
    assert len({tuple(d) for d in demands.tolist()}) == len(demands)
    # 354,179 rows = distinct + the two counts
    assert "{'rows not positive in both': 5839, 'rows that repeat others': 327499}" in caplog.text
    assert 20841 + 5839 + 327499 == 354179


def test_bitbrains_is_the_cluster_of_k_fig_5(data: Path) -> None:
    loaded = traces.bitbrains(data)
    instance = loaded.instance
    assert (instance.N, instance.counts.sum()) == (500, 250)
    assert instance.totals.tolist() == [2300, 2000]
    types = [("type1", (4, 12), [25, 25, 25]), ("type2", (8, 8), [33, 34, 33]), ("type3", (16, 4), [25, 25, 25])]
    for k, (name, capacity, counts) in enumerate(types):
        rows = slice(3 * k, 3 * k + 3)
        assert instance.servers[rows] == tuple(f"{name}-location{p}" for p in (1, 2, 3))
        assert (instance.capacities[rows] == capacity).all()
        assert instance.counts[rows].tolist() == counts
    assert loaded.left_out == {"VMs that never used anything": 0}
    # FINDINGS: the peaks of the VMs add up to 2,460 GHz and 3,130 GB; three never used CPU.
    np.testing.assert_allclose(np.concatenate(instance.demands).sum(axis=0), [2460, 3130], rtol=0, atol=0.5)
    assert (np.concatenate(instance.demands)[:, 0] == 0).sum() == 3


def test_bitbrains_users_reach_their_own_and_adjacent_locations(data: Path) -> None:
    placement = traces.bitbrains(data, seed=3).instance.placement.reshape(500, 3, 3)
    assert (placement == placement[:, :1]).all(), "the type of a server does not matter"
    reach = [tuple(row) for row in placement[:, 0].tolist()]
    expected = [(True, True, False), (True, True, True), (False, True, True)]
    numbers = [reach.count(e) for e in expected]
    assert sum(numbers) == 500
    assert min(numbers) > 120, "uniform: 167 expected, standard deviation 10.5"
    again, other = (traces.bitbrains(data, seed=s).instance.placement.reshape(500, 3, 3) for s in (3, 4))
    assert (again == placement).all()
    assert (other != placement).any()


@pytest.mark.parametrize(("gpuspec", "groups"), [(False, 151), (True, 447)])
def test_alibaba_counts_every_node_and_pod(data: Path, gpuspec: bool, groups: int) -> None:
    loaded = traces.alibaba(data, gpuspec=gpuspec, finite=True)
    instance = loaded.instance
    assert len(instance.users) == groups
    assert (instance.K, instance.R) == (27, 3)
    assert instance.counts.sum() == 1523
    assert instance.max_tasks.sum() == 8152
    assert loaded.left_out == {"pods that request nothing": 0, "pods in rarer groups": 0}
    np.testing.assert_allclose(instance.totals, [125514, 612028416 / 1024, 6212])
    assert instance.placement.all() == (not gpuspec)
    few = traces.alibaba(data, gpuspec=gpuspec, pods=10, finite=True)
    assert few.instance.max_tasks.sum() + few.left_out["pods in rarer groups"] == 8152
    assert few.instance.max_tasks.tolist() == sorted(instance.max_tasks)[::-1][:10]


def test_alibaba_total_request_does_not_depend_on_the_grouping(data: Path) -> None:
    totals = []
    for gpuspec in (False, True):
        instance = traces.alibaba(data, gpuspec=gpuspec, finite=True).instance
        totals.append(instance.max_tasks @ np.concatenate(instance.demands))
    np.testing.assert_allclose(totals[0], totals[1], rtol=1e-12)
    assert totals[0][2] == pytest.approx(6086.8)


def test_alibaba_gpu_types_of_one_user(data: Path) -> None:
    instance = traces.alibaba(data, gpuspec=True).instance
    n = next(n for n, user in enumerate(instance.users) if user.endswith("-V100M16|V100M32"))
    allowed = {server.split("-")[0].split("x")[-1] for server in np.array(instance.servers)[instance.placement[n]]}
    assert allowed == {"V100M16", "V100M32"}
    assert len({server.split("-")[0].split("x")[-1] for server in instance.servers} - {"cpu"}) == 7, "7 GPU types"


@pytest.mark.parametrize(
    ("file", "rows", "cores"), [("raw_rnd_2013-8_vm1.csv.gz", 8627, 2), ("raw_fastStorage_vm99.csv.gz", 8619, 1)]
)
def test_raw_bitbrains_files_have_the_documented_size(data: Path, file: str, rows: int, cores: int) -> None:
    values = traces.read_bitbrains_raw(data / "bitbrains" / file)
    assert len(values) == 11
    assert {len(column) for column in values.values()} == {rows}
    assert np.median(values["cores"]) == cores
    assert 1.37e9 < values["ts"].min() < values["ts"].max() < 1.39e9, "Unix seconds of August and September 2013"
    assert (values["mem_kb"] <= values["mem_cap_kb"]).all()
