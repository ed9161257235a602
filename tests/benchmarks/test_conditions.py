"""Runs under bad conditions: builds that hang or grow, a caller that is killed, full disks, damaged files; several at a time."""

import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import deque
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from tolerances import AMPLE

from fairalloc.benchmarks import BenchmarkError, Setting, Suite, SuiteCase, report, run, runner
from fairalloc.benchmarks.metrics import succeeded
from fairalloc.benchmarks.records import BenchmarkStore, Record
from fairalloc.models import Instance
from fairalloc.runs.progress import EVERY, Progress
from fairalloc.solvers.running import listeners

HERE = Path(__file__)


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(HERE.parent)


def plain():
    return Instance(np.ones((2, 2)), [[1, 2]])


def hangs():
    time.sleep(60)


def grows():
    return Instance(np.ones((2, 2 * 2**30)), [[1, 2]])


def hangs_later(folder):
    """The first time, in a child, it is built; the second time, in the process that forks the children, it hangs."""
    if (folder / "built").exists():
        subprocess.Popen(["sleep", (folder / "built").read_text()])
        time.sleep(60)
    (folder / "built").write_text(f"60.{time.monotonic_ns()}")
    return plain()


def suite(**builds):
    return Suite("conditions", "", tuple(SuiteCase(name, "drfh", build) for name, build in builds.items()))


def row(**changes):
    asked = {"suite": "s", "case": "a", "fingerprint": "f", "mechanism": "drfh", "method": "m", "accuracy": "mid", "code": "c"}
    limits = {"time_limit": 10.0, "memory_mb": 100, "repeat": 0, "jobs": 1, "threads": 1, "machine": "e"}
    return Record(**asked | limits | {"started": "2026", "tolerance": 1e-6, "termination": "optimal"} | changes)


# ---- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_builds_are_under_limits_too(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "BUILD_SECONDS", 10.0)
    setting = Setting(repeats=1, memory_mb=1024)
    asked = suite(a=plain, slow=hangs, large=grows)
    summary = run(asked, tmp_path / "r", methods=["highs:leximin"], setting=setting, progress=False)
    assert [(r.case, succeeded(r)) for r in summary.records] == [("a", True)]
    assert {r.case: (r.termination, r.message) for r in summary.undefined} == {
        "slow": ("time", "the instance cannot be built: it took too long"),
        "large": ("memory", "the instance cannot be built: over the memory limit of 1024 MB"),
    }


def sleeping(folder):
    """Whether the process that `hangs_later` starts runs."""
    file = folder / "built"
    wanted = f"sleep\0{file.read_text()}\0".encode() if file.exists() else b"nothing"
    return any(wanted == command(found) for found in Path("/proc").glob("[0-9]*/cmdline"))


def command(file):
    """What a process was started with; nothing where it has ended meanwhile."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def wait_for(condition):
    deadline = time.monotonic() + AMPLE
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


@pytest.mark.deep
def test_all_processes_end_with_a_caller_that_is_killed_while_an_instance_is_built(tmp_path):
    folders = [str(HERE.parent), str(HERE.parents[1])]
    start = f"import sys; sys.path[:0] = {folders}; import {HERE.stem} as t; t.start({str(tmp_path)!r})"
    process = subprocess.Popen([sys.executable, "-c", start], cwd=tmp_path)
    wait_for(lambda: sleeping(tmp_path))
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: not sleeping(tmp_path))
    assert process.returncode == -signal.SIGKILL


def start(folder):
    asked = suite(a=partial(hangs_later, Path(folder)))
    run(asked, Path(folder) / "r", methods=["highs:leximin"], setting=Setting(repeats=1), progress=False)


def where(instance, mechanism, limits):
    """A method of one's own that tells the core it runs on."""
    raise ValueError(f"on {sorted(os.sched_getaffinity(0))}")


@pytest.mark.deep
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process to a core")
def test_several_at_a_time_have_cores_of_their_own_and_the_report_says_so(tmp_path):
    setting = Setting(repeats=3, jobs=2)
    summary = run(suite(a=plain, b=plain), tmp_path / "r", methods=[where], setting=setting, progress=False)
    cores = sorted(os.sched_getaffinity(0))[:2]
    assert {r.message.rpartition("on ")[2] for r in summary.records} <= {f"[{core}]" for core in cores}
    assert {r.jobs for r in summary.records} == {2}
    assert "2 solves at a time on cores of their own" in summary.limits


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1", "TERM": "dumb"}])
def test_without_a_terminal_that_draws_there_is_a_line_now_and_then(monkeypatch, terminal):
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    said, clock = io.StringIO(), count(0.0, 0.6 * EVERY)
    monkeypatch.setattr(sys, "stderr", said)
    with Progress(True, lambda: next(clock)) as progress:
        progress.begin(3)
        for case in "abc":
            progress.step(f"highs {case}")
    assert said.getvalue().splitlines() == ["2 of 3 solves, about 6 s left: highs b"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_progress_that_nobody_can_read_ends_no_run(monkeypatch):
    clock = count(0.0, 2 * EVERY)
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        with Progress(True, lambda: next(clock)) as progress:
            progress.begin(3)
            progress.step("highs a")
        monkeypatch.setattr(listeners, "EVERY", 0.0)
        with listeners.listening(True):
            listeners.tell(method="highs", iteration=1)
    assert progress._done == 1


# ---- files ----------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_one_sentence_and_what_was_kept_stays(tmp_path):
    path = tmp_path / "r"
    with BenchmarkStore(path) as store:
        ((pages,),) = store.select("PRAGMA page_count")
        store.select(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(BenchmarkError, match=r"nothing can be kept in the records file: database or disk is full"):
            deque((store.add(row(repeat=k, message=500 * "x")) for k in range(1000)), maxlen=0)
        kept = len(store.records())
    with BenchmarkStore(path) as store:
        assert [record.repeat for record in store.records()] == list(range(kept))
        store.add(row(repeat=kept))
        assert len(store.keys()) == kept + 1 > 1


@pytest.mark.parametrize("place", ["file/r", "/proc/fairalloc/r"])
def test_a_place_where_nothing_can_be_written_is_one_sentence(tmp_path, place):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="cannot be used as a records file"):
        run(suite(a=plain), tmp_path / place, methods=["highs:leximin"], setting=Setting(repeats=1), progress=False)


def test_a_database_of_something_else_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "r"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE cats (name)")
    before = path.read_bytes()
    with pytest.raises(BenchmarkError, match="is no records file, but a database with the tables cats"):
        report(path)
    assert path.read_bytes() == before


def test_damaged_files_are_one_sentence(tmp_path):
    path = tmp_path / "r"
    with BenchmarkStore(path) as store:
        for k in range(200):
            store.add(row(repeat=k, message=100 * "x"))
        store.add_run("2026", "s", {}, [row(repeat=k).key for k in range(200)])
    data = bytearray(path.read_bytes())
    data[8192:20480] = os.urandom(12288)
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(BenchmarkError, match=r"cannot be used as a records file: database disk image is malformed"):
        report(tmp_path / "damaged")
    with sqlite3.connect(path) as database:
        database.execute("DROP TRIGGER no_update")
        database.execute("UPDATE record SET trace = 'nonsense' WHERE repeat = 7")
    with pytest.raises(BenchmarkError, match=r"has a row that is no record, \('s', 'a', 'f', 'drfh', 'm'"):
        report(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE record SET trace = '[]', time_limit = time_limit + 1 WHERE repeat = 7")
    with pytest.raises(BenchmarkError, match=r"has a row that is no record, .*: its key is that of another job"):
        report(path)
