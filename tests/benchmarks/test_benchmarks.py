"""The benchmark runner, its records, metrics and report.

This file is also the fake package of methods and the fake suite that the runs below use: the runner takes both by module name.
"""

import ast
import contextlib
import ctypes
import importlib
import io
import math
import os
import platform
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_made import record, summary_of
from rich.console import Console
from tolerances import AMPLE

from fairalloc.benchmarks import SUITES, BenchmarkError, Setting, Suite, SuiteCase, compare, metrics, print_summary, report, run
from fairalloc.benchmarks.ranking import ranking
from fairalloc.benchmarks.records import BenchmarkStore, Record
from fairalloc.benchmarks.report import FailedCase, milliseconds, percent
from fairalloc.benchmarks.runner import _record, selected
from fairalloc.formulations import Mechanism, mechanism
from fairalloc.models import Instance, Times
from fairalloc.models.errors import FairallocError
from fairalloc.runs import fingerprint
from fairalloc.solvers import METHODS
from fairalloc.solvers.catalogue.own import own_method
from fairalloc.solvers.method import Answer, Limits, Method, Session

# ---- the fakes: found by the processes under the name of this file ------------------------------------------------

FAKES = Path(__file__).stem


class FakeMethod(Method):
    """A method that misbehaves in the way its name says; it behaves during the warm-up, which has servers of two kinds."""

    kind = "exact"

    def __init__(self, name: str, needs: str = "") -> None:
        self.id, self.needs = name, needs

    def computes(self, mechanism: Mechanism) -> bool:
        return mechanism.id == "drfh" and self.id != "idle"

    def missing(self) -> str:
        return self.needs

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        raise NotImplementedError

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        if instance.K == 1:
            _misbehave(self.id)
        elif self.id == "wakes":  # its first call takes longer than the limit
            time.sleep(1.5)
        share = 0.0 if self.id in ("lies", "priced") else math.nan if self.id == "nan" else 1 / instance.N
        x = np.full(len(instance.arcs), share)
        times = Times(build=0.02 if ":" in self.id else 0.01, solve=0.1)
        prices = np.ones((1, instance.K, instance.R)) if self.id == "priced" else None
        return Answer(x, prices, "inaccurate" if self.id == "modest" else "optimal", times)


_NAMES = (
    "highs",
    "lies",
    "nan",
    "priced",
    "modest",
    "naps",
    "wakes",
    "sleeps",
    "forks",
    "spins",
    "winds",
    "freezes",
    "hogs",
    "aborts",
    "exits",
    "raises",
    "chats",
    "one:highs",
    "idle",
)
FAKE = {name: FakeMethod(name) for name in _NAMES} | {"absent": FakeMethod("absent", "install <it> first")}


def _misbehave(method: str) -> None:
    if method == "sleeps":
        subprocess.Popen(["sleep", os.environ["FAKE_SLEEP"]])
        time.sleep(60)
    elif method == "forks":  # what it starts leaves the session, and its parent ends
        subprocess.run(["setsid", "--fork", "sleep", os.environ["FAKE_SLEEP"]], check=True)
    elif method == "spins":  # a process that has lost its parent and its session computes, and another one when that has ended
        for _ in range(2):
            _wait_for(_spun_in_another_session)
    elif method == "winds":
        time.perf_counter = lambda: 0.0
        time.sleep(0.3)
    elif method == "freezes":
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        ctypes.CDLL(None).pause()
    elif method == "naps":
        time.sleep(0.2)
    elif method == "hogs":
        np.ones(2 * 2**30, dtype=np.uint8)
    elif method == "aborts":
        os.abort()
    elif method == "exits":
        os._exit(7)
    elif method == "raises":
        raise ValueError("the fake & its <error>")
    elif method == "chats":
        print('{"termination": "optimal"}', flush=True)


def _spun_in_another_session() -> bool:
    """Start a process that computes for 0.2 s and lives on; whether it has said that it is done."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while time.process_time() < 0.2:
                pass
            os.write(writing, b"done")
            time.sleep(60)
        os._exit(0)
    return os.read(reading, 4) == b"done"


def _two_variants() -> Instance:
    return Instance([[[1, 2], [2, 1]], [[1, 1]]], [[1, 2]])


def _instance(size: int) -> Instance:
    return Instance(np.ones((size, 2)), [[1, 2]])


def _built_once(marker: Path) -> Instance:
    marker.touch(exist_ok=False)
    return _instance(2)


SUITE = Suite("fake", "two cases", (SuiteCase("a", "drfh", partial(_instance, 2)), SuiteCase("b", "drfh", partial(_instance, 3))))


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    monkeypatch.setenv("FAKE_SLEEP", f"60.{time.monotonic_ns()}")


def _twin(seconds: float) -> Any:
    def twin(*_: Any) -> None:
        time.sleep(seconds)

    return twin


def fake_run(records: Path, *methods: str, **options: Any) -> Any:
    setting = Setting(**{"memory_mb": 1024, "repeats": 1} | options)
    return run(FAKES, records, methods=[FAKE[name] for name in methods or ("highs",)], setting=setting, progress=False)


# ---- metrics, by hand ---------------------------------------------------------------------------------------------


def test_success_and_honesty_are_the_four_cases_of_claim_and_truth() -> None:
    good, liar = record(), record(definition=1e-5)
    modest, failed = record(claims=False), record(claims=False, feasibility=math.inf)
    runs = [good, liar, modest, failed]
    assert [metrics.succeeded(r) for r in runs] == [True, False, False, False]
    assert [metrics.honest(r) for r in runs] == [True, False, False, True]


def test_a_claim_that_nobody_could_judge_is_neither_success_nor_a_lie() -> None:
    unknown, nowhere = record(definition=math.inf), record(definition=math.inf, feasibility=math.inf)
    assert [metrics.unjudged(r) for r in (unknown, nowhere, record())] == [True, False, False]
    assert [metrics.succeeded(r) for r in (unknown, nowhere)] == [False, False]
    assert [metrics.honest(r) for r in (unknown, nowhere)] == [None, False]
    assert FailedCase(1, 1, unknown).what == "claims success, and no residual is known"
    for feasibility, told in ((0.0, "no residual is known"), (math.inf, "no point")):
        ended = record(claims=False, termination="iteration_limit", definition=math.inf, feasibility=feasibility)
        assert FailedCase(1, 1, ended).what == f"iteration_limit, {told}"


def test_the_larger_residual_decides_and_the_tolerance_itself_passes() -> None:
    assert metrics.passes(record(feasibility=1e-6, definition=0.0))
    assert not metrics.passes(record(feasibility=2e-6, definition=0.0))


def test_shifted_geometric_mean_by_hand() -> None:
    # (0.03 + 0.01) (0.15 + 0.01) = 0.0064, its root is 0.08
    assert metrics.shifted_geometric_mean([0.03, 0.15]) == pytest.approx(0.07)
    # (1 + 3) (13 + 3) = 64, its root is 8
    assert metrics.shifted_geometric_mean([1.0, 13.0], shift=3.0) == pytest.approx(5.0)
    assert math.isnan(metrics.shifted_geometric_mean([]))


def test_cost_is_our_clock_whatever_the_method_reports() -> None:
    assert metrics.cost(record(wall=0.5, build=0.0, solve=0.0)) == 0.5
    assert metrics.cost(record(definition=1.0)) == math.inf
    assert metrics.cost(record(claims=False), target=1e-6) == 0.1, "a target asks for the residual alone"
    assert metrics.cost(record(), target=1e-10) == math.inf


def test_costs_are_those_of_the_accuracy_that_reaches_the_target_soonest() -> None:
    runs = [record(accuracy="low", definition=1e-4, wall=0.1), record(wall=0.7), record(repeat=1, wall=0.5)]
    other = record(case="b", claims=False, definition=1e-2)
    assert metrics.costs_to([*runs, other], 1e-3) == {"a": [0.1], "b": [math.inf]}
    assert metrics.costs_to(runs, 1e-6) == {"a": [0.7, 0.5]}


def test_phases_far_from_the_clock_are_flagged() -> None:
    assert metrics.split_badly(record(wall=0.5, solve=0.0))
    assert metrics.split_badly(record(wall=0.5, solve=0.9))
    assert not metrics.split_badly(record(wall=0.5, build=0.1, solve=0.399))


def test_intervals_hold_the_mean_and_shrink_with_agreement() -> None:
    values = [[0.1, 0.2], [0.4, 0.5], [0.2, 0.3], [0.9, 0.4], [0.3, 0.3], [0.6, 0.5]]
    mean = metrics.shifted_geometric_mean(map(min, values))
    low, high = metrics.interval([values])
    assert low < mean < high
    assert metrics.interval([[[0.3]] * 6]) == pytest.approx((0.3, 0.3))
    assert all(map(math.isnan, metrics.interval([[[0.3]] * 5]))), "5 cases have no interval"
    assert metrics.interval([values, [[2 * v + metrics.SHIFT for v in case] for case in values]])[1] < 1
    assert all(map(math.isnan, metrics.interval([[]])))


def test_the_chance_of_a_difference_by_hand() -> None:
    low, high = (0.1,) * 6, (0.2,) * 6
    assert metrics.chance(low, high) == 2 / 2**6
    assert metrics.chance(low, (0.2,) * 5 + (0.05,)) > 2 / 2**6
    assert metrics.chance(low, low) == 1.0
    assert metrics.chance(low[:5], high[:5]) == 1.0, "5 cases are too few"
    assert metrics.chance((0.1,) * 40, (0.2,) * 40) == pytest.approx(2 / 5001)


def test_the_correction_for_many_pairs_by_hand() -> None:
    # the k-th smallest of n counts n / k times, and never more than a larger one
    assert metrics.corrected([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert metrics.corrected([0.9, 0.5]) == pytest.approx([0.9, 0.9])
    assert metrics.corrected([]) == []


def test_how_busy_a_machine_was() -> None:
    runs = [record(wall=wall, cpu=0.01) for wall in (0.01, 0.02, 0.03)]
    waits = record(wall=9.0, cpu=1e-6)
    assert metrics.busyness([*runs, waits, record(claims=False, cpu=1.0)]) == pytest.approx(2.0)
    assert math.isnan(metrics.busyness([waits]))


def test_a_ranking_is_over_common_cases_and_partial_methods_have_their_own_block() -> None:
    cases = "abcdefgh"
    slow_on_all = [record(method="all", case=c, wall=0.5 if c == "h" else 0.02) for c in cases]
    other = [record(method="other", case=c, wall=0.3) for c in cases]
    part = [record(method="part", case=c, wall=0.03) for c in "ab"]
    found = ranking("drfh", [*slow_on_all, *other, *part])
    assert [(r.method, r.cases) for r in found.rows] == [("all", 8), ("other", 8)]
    assert [(r.method, r.cases) for r in found.partial] == [("part", 2)]
    assert found.partial[0].mean < found.rows[0].mean, "the mean over its two easy cases is smaller"
    assert found.partial[0].to_best.ratio == pytest.approx(0.03 / 0.02), "on the same cases it is slower"
    assert found.partial[0].to_best.cases == 2
    assert "the same 8 cases" in found.sentence
    failed = ranking("drfh", [record(method="m", wall=0.1, definition=1.0)], target=1e-6)
    assert (failed.rows[0].solved, failed.rows[0].mean) == (0, pytest.approx(metrics.PENALTY * 10.0))


def test_median_times_leave_out_runs_without_a_point() -> None:
    runs = [record(build=0.1), record(build=0.3), record(feasibility=math.inf, solve=0.0)]
    assert [*map(milliseconds, summary_of(runs).rows[0].times)] == ["200", "0.00", "100", "0.00", "100", "0.00"]
    assert [*map(milliseconds, summary_of(runs[2:]).rows[0].times)] == ["-"] * 6


def test_layer_ratios_pair_case_and_repeat() -> None:
    direct = [record(method="highs", build=0.1, compile=0.1), record(method="highs", case="b", build=1.0)]
    layered = [record(method="x:highs", build=0.2, compile=0.4), record(method="x:highs", case="b", build=5.0)]
    unpaired = record(method="x:highs", case="b", repeat=1, build=99.0)
    other = record(method="x:scs", build=3.0)
    assert metrics.layer_ratios([*direct, *layered, unpaired, other]) == pytest.approx({"x:highs": 4.0})


def test_profile_is_in_units_of_the_best_and_counts_missing_and_failed_cases() -> None:
    fast = [record(method="fast", wall=0.1), record(method="fast", case="b", claims=False)]
    slow = [record(method="slow", wall=0.4), record(method="slow", case="b", wall=2.0)]
    part = [record(method="part", wall=0.2)]
    ratios = metrics.profile([*fast, *slow, *part])
    assert ratios == {"fast": [1.0, math.inf], "slow": pytest.approx([4.0, 1.0]), "part": [2.0, math.inf]}


def test_a_rate_is_shown_as_100_percent_only_when_it_is() -> None:
    assert [percent(r) for r in (1.0, 0.9999, 2 / 3, 0.0)] == ["100 %", "99.9 %", "66.6 %", "0 %"]


# ---- suites -------------------------------------------------------------------------------------------------------


def test_duplicates_raise() -> None:
    case = SUITE.cases[0]
    with pytest.raises(BenchmarkError, match="two cases of the suite 'x' have the name 'a'"):
        Suite("x", "", (case, case))
    with pytest.raises(FairallocError, match="two suites are named 'fake'"):
        SUITES.by_id([SUITE, replace(SUITE)])
    with pytest.raises(BenchmarkError, match="the suite 'x' has no cases"):
        Suite("x", "", ())


def test_a_name_in_full_is_that_case_alone_and_names_are_printable() -> None:
    suite = Suite("x", "", [replace(SUITE.cases[0], name=name) for name in ("a[1]", "a1", "b")])
    for wanted, names in ((["a[1]"], ["a[1]"]), (["a[[]1]"], ["a[1]"]), (["a*"], ["a[1]", "a1"]), (["a[0-9]", "b"], ["a1", "b"])):
        assert [case.name for case in selected(suite, wanted).cases] == names
    with pytest.raises(FairallocError, match="the id of a suite is"):
        replace(suite, id="\x1b[2J")
    with pytest.raises(FairallocError, match="the name of a case is"):
        replace(SUITE.cases[0], name="\x1b[2J")
    assert replace(SUITE.cases[0], parameters={"alpha": np.int64(3)}).label == "drfh alpha=3"


# ---- runs ---------------------------------------------------------------------------------------------------------


def one(summary: Any, case: str = "a") -> Record:
    (found,) = [r for r in summary.records if r.case == case]
    assert isinstance(found, Record)
    return found


def test_a_warm_up_may_take_longer_than_the_limit_of_a_solve(tmp_path: Path) -> None:
    assert one(fake_run(tmp_path / "r", "wakes", time_limit=0.1)).termination == "optimal"


def test_an_instance_that_cannot_be_given_is_no_failure_of_the_method(tmp_path: Path) -> None:
    """As on a full disk: nothing is on record, and the run goes on later."""
    suite = Suite("fake", "", [SuiteCase("a", "drfh", partial(_built_once, tmp_path / "marker"))])
    with pytest.raises(BenchmarkError, match="the instance of a cannot be given to a method: FileExistsError"):
        run(suite, tmp_path / "r", [FAKE["highs"]], progress=False)
    with BenchmarkStore(tmp_path / "r") as store:
        assert store.records() == []


def test_a_run_is_recorded_and_a_second_run_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "r.sqlite"
    first = fake_run(path, repeats=2)
    assert (first.before, first.added, len(first.records)) == (0, 4, 4)
    assert [(r.repeat, r.case) for r in first.records] == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]
    assert all(metrics.succeeded(r) and r.peak_mb > 1 and r.wall >= 0 for r in first.records)
    second = fake_run(path, repeats=3)
    assert (second.before, second.added) == (4, 2)
    assert second.records[:4] == first.records


def test_over_the_time_limit_is_ended_with_all_it_started(tmp_path: Path) -> None:
    found = one(fake_run(tmp_path / "r", "sleeps", time_limit=0.2))
    assert found.wall == 0.0, "it did not live to tell what it took"
    assert (found.termination, found.claims, found.residual) == ("time_limit", False, math.inf)
    assert "time limit" in found.message
    assert not _sleeping()


def _sleeping() -> bool:
    """Whether the process that the fake method `sleeps` starts in this test is alive."""
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            commands.append(file.read_bytes())
    return f"sleep\0{os.environ['FAKE_SLEEP']}\0".encode() in commands


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + AMPLE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def _start_run(path: Path, **arguments: Any) -> subprocess.Popen[bytes]:
    """`fake_run` in a process of its own, in another folder."""
    folders = [str(Path(__file__).parents[k]) for k in (0, 1)]
    start = f"import sys; sys.path[:0] = {folders}; import {FAKES} as fakes; from pathlib import Path"
    call = f"fakes.fake_run(Path({str(path)!r}), *{arguments.pop('methods', ())!r}, **{arguments!r})"
    return subprocess.Popen([sys.executable, "-c", f"{start}; {call}"], cwd=path.parent)


@pytest.mark.deep
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_leaves_nothing_running(tmp_path: Path, stop: signal.Signals) -> None:
    process = _start_run(tmp_path / "r", methods=("sleeps",))
    _wait_for(_sleeping)
    process.send_signal(stop)
    process.wait(timeout=20)
    _wait_for(lambda: not _sleeping())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "termination", "says"),
    [
        ("aborts", "error", "its process ended by signal SIGABRT"),
        ("exits", "error", "its process ended with exit code 7 and no answer"),
        ("raises", "error", "ValueError: the fake & its <error>"),
        ("hogs", "memory", "over the memory limit of 1024 MB"),
    ],
)
def test_a_solve_that_breaks_is_recorded_and_the_next_one_runs(tmp_path: Path, method: str, termination: str, says: str) -> None:
    summary = fake_run(tmp_path / "r", method, "highs")
    assert [r.method for r in summary.records] == [method, "highs"] * 2
    for broken in summary.records[::2]:
        assert (broken.termination, broken.claims) == (termination, False)
        assert says in broken.message
    assert all(metrics.succeeded(r) for r in summary.records[1::2])


@pytest.mark.deep
def test_what_a_solver_prints_is_not_taken_for_its_answer(tmp_path: Path) -> None:
    assert metrics.succeeded(one(fake_run(tmp_path / "r", "chats")))


@pytest.mark.deep
def test_a_lie_lowers_honesty_and_so_does_modesty(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "lies", "modest")
    rates = {row.method: (row.success, row.honesty) for row in summary.rows}
    assert rates == {"highs": (1.0, 1.0), "lies": (0.0, 0.0), "modest": (0.0, 0.0)}
    told = {f.record.method: f.what for f in summary.failures}
    assert told["lies"] == "claims success, but the residual is 1.0e+00"
    assert re.fullmatch(r"inaccurate, but the residual \S+ passes", told["modest"])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "what"),
    [("nan", "claims success without a finite feasible point"), ("priced", "claims success, but the residual is 1.0e+00")],
)
def test_a_claim_that_solve_would_not_make_is_dishonest(tmp_path: Path, method: str, what: str) -> None:
    """What counts is what the method calls its answer, also where its answer shows to `solve` that it is wrong."""
    summary = fake_run(tmp_path / "r", method)
    assert [(row.success, row.honesty) for row in summary.rows] == [(0.0, 0.0)]
    assert {f.what for f in summary.failures} == {what}


@pytest.mark.deep
def test_a_method_that_naps_and_reports_no_time_pays_for_it(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "naps")
    (found,) = summary.rankings()
    assert [rank.method for rank in found.rows] == ["highs", "naps"]
    assert found.rows[1].mean >= 0.2
    assert all(r.cpu < r.wall for r in summary.records if r.method == "naps")
    assert all(r.solve == pytest.approx(r.wall, rel=0.1, abs=0.01) for r in summary.records), "invented phases are not believed"


@pytest.mark.deep
def test_processor_seconds_in_other_processes_are_counted(tmp_path: Path) -> None:
    found = one(fake_run(tmp_path / "r", "spins"))
    assert found.cpu >= 0.35, "two times 0.2 s, in ticks"
    assert found.message == "", "the clocks inside and outside agree"


@pytest.mark.deep
def test_who_changes_the_clock_of_its_process_pays_by_ours(tmp_path: Path) -> None:
    found = one(fake_run(tmp_path / "r", "winds"))
    assert found.wall >= 0.3
    assert found.call >= found.wall
    assert re.search(r"^wall: the clock in its process showed \S+ s, ours outside it 0\.\d+ s, which counts", found.message)


@pytest.mark.deep
def test_a_hang_in_native_code_that_takes_no_signal_is_ended(tmp_path: Path) -> None:
    found = one(fake_run(tmp_path / "r", "freezes", time_limit=0.2))
    assert (found.termination, found.claims, found.residual) == ("time_limit", False, math.inf)


@pytest.mark.deep
def test_what_left_its_session_is_ended_too(tmp_path: Path) -> None:
    assert metrics.succeeded(one(fake_run(tmp_path / "r", "forks")))
    assert not _sleeping()


@pytest.mark.deep
def test_a_killed_run_loses_the_running_row_at_most_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    process = _start_run(path, repeats=40)
    _wait_for(lambda: len(_rows(path)) >= 5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = _rows(path)
    assert 5 <= len(kept) < 80
    summary = fake_run(path, repeats=40)
    assert (summary.before, summary.added) == (len(kept), 80 - len(kept))
    assert list(summary.records[: len(kept)]) == kept
    assert len({r.key for r in summary.records}) == len(summary.records) == 80


def _rows(path: Path) -> list[Record]:
    with BenchmarkStore(path) as store:
        return store.records()


@pytest.mark.deep
def test_other_code_versions_and_settings_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.sqlite"
    old = fake_run(path)
    assert old.note == ""
    monkeypatch.setattr(platform, "python_version", lambda: "99.0")
    new = fake_run(path)
    assert (new.before, new.added, len(new.records), new.others) == (0, 2, 2, 2)
    assert new.note.startswith("r.sqlite also holds 2 rows of other runs, or of code, versions and machines")
    assert report(path).run.details["python"] == "99.0"
    assert {found.key for found in _rows(path)} == {found.key for found in (*old.records, *new.records)}
    assert len(fake_run(path, accuracies=("low",)).records) == 2
    assert report(path).others == 4
    exact = fake_run(path, accuracies=(1e-7,))
    assert {(found.accuracy, found.tolerance) for found in exact.records} == {("1e-07", 1e-7)}
    assert fake_run(path, accuracies=(1e-7,)).added == 0


def test_a_run_that_keeps_iterations_is_not_answered_by_one_that_does_not(tmp_path: Path) -> None:
    for trace, added in ((False, 1), (True, 1), (True, 0)):
        suite = Suite("fake", "", SUITE.cases[:1], methods=["highs"], repeats=1, trace=trace)
        assert run(suite, tmp_path / "r", progress=False).added == added


@pytest.mark.deep
def test_one_more_method_leaves_the_records_of_the_others_valid(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fake_run(path)
    wider = fake_run(path, "highs", "one:highs")
    assert (wider.before, wider.added) == (2, 2)


def test_records_cannot_be_changed(tmp_path: Path) -> None:
    fake_run(tmp_path / "r")
    with sqlite3.connect(tmp_path / "r") as database:
        for statement in ("UPDATE record SET claims = 1", "DELETE FROM record"):
            with pytest.raises(sqlite3.IntegrityError, match="records are only added"):
                database.execute(statement)


def test_a_message_that_no_file_takes_is_kept_with_escapes(tmp_path: Path) -> None:
    """It had ended the run."""
    found = _record(record(), {"termination": "error", "message": "a \ud800"})
    with BenchmarkStore(tmp_path / "r") as store:
        store.add(found)
        assert [kept.message for kept in store.records()] == [r"a \ud800"]


def test_a_report_has_the_rows_of_its_run(tmp_path: Path) -> None:
    with BenchmarkStore(tmp_path / "r") as store:
        rows = [record(**changes) for changes in ({}, {"case": "b"}, {"fingerprint": "newer"})]
        for row in rows:
            store.add(row)
        store.add_run("2026", "s", {"place": "nosuch", "cases": {}}, [row.key for row in rows[1:]])
    summary = report(tmp_path / "r")
    assert [(r.case, r.fingerprint) for r in summary.records] == [("b", "f"), ("a", "newer")]
    assert summary.others == 1


def test_an_accuracy_that_is_named_twice_is_asked_once() -> None:
    assert Setting(accuracies=("mid", 1e-6, "mid", "low", 0.000001)).accuracies == ("mid", 1e-6, "low")


def test_a_run_that_was_stopped_is_said_to_be_unfinished(tmp_path: Path) -> None:
    made = summary_of([record(), record(case="b"), record(case="c")])
    stopped = replace(made, rows_of_run=made.rows_of_run[:2])
    assert (made.warnings, stopped.warnings) == ([], ["the run is not finished: 1 of its 3 rows is missing"])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: run("nosuch", p), "there is no suite 'nosuch': the suites are approximations, day, degenerate, first"),
        (lambda p: run(FAKES, p, methods=["nosuch"]), "there is no method 'nosuch': the methods are "),
        (lambda p: run(FAKES, p, cases=["nosuch"]), "there is no case 'nosuch'"),
        (lambda p: run(SUITE, p, methods=[_twin(1), _twin(2)]), "two methods have the id 'twin', but ids must be distinct"),
        (lambda p: fake_run(p, "absent"), "the method 'absent' is not available: install <it> first"),
        (lambda p: fake_run(p, accuracies=("nosuch",)), "accuracy is 'nosuch', but it must be one of low, mid"),
        (lambda p: fake_run(p, repeats=0), "repeats is 0, but it must be a whole number from 1 to 1,000"),
        (lambda p: fake_run(p, time_limit=math.nan), "time_limit is nan, but it must be a positive, finite number"),
        (lambda p: run("json.decoder", p), "the module 'json.decoder' defines no SUITE"),
        (lambda p: report(p), "there is no records file"),
    ],
)
def test_bad_requests_are_one_sentence(tmp_path: Path, call: Callable[[Path], Any], says: str) -> None:
    with pytest.raises(FairallocError, match=re.escape(says)):
        call(tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_an_empty_file_is_no_records_file_and_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "r").touch()
    for call in (lambda: report(tmp_path / "r"), lambda: compare(tmp_path / "r", tmp_path / "r")):
        with pytest.raises(BenchmarkError, match="there is no records file"):
            call()
    assert not (tmp_path / "r").read_bytes(), "tables were made in it"


@pytest.mark.deep
def test_a_named_method_that_fits_nothing_is_said_and_the_others_run(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "idle")
    assert {r.method for r in summary.records} == {"highs"}
    told = "not asked: idle fits no case of the suite 'test_benchmarks': it computes none of the mechanisms there"
    assert told in summary.warnings
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=200))
    assert told in out.getvalue()
    with pytest.raises(
        FairallocError, match=r"^idle fits no case of the suite 'test_benchmarks': it computes none of the mechanisms there$"
    ):
        fake_run(tmp_path / "none", "idle")


@pytest.mark.deep
def test_why_a_method_fits_no_case_is_its_own_reason(tmp_path: Path) -> None:
    placed = SuiteCase("placed", "drfh", partial(Instance, np.ones((2, 2)), [[1, 2], [2, 1]]))
    grouped = SuiteCase("grouped", "drfh", partial(Instance, [[1], [1]], [[1]], groups={"a": ["u1"], "b": ["u2"]}))
    floors = SuiteCase("floors", "utilitarian", partial(Instance, [[1], [1]], [[1]], min_tasks=["1/4", 0]))
    asked = {"setting": Setting(repeats=1), "progress": False}
    summary = run(Suite("p", "", (placed, grouped, floors)), tmp_path / "r", methods=["highs", "progressive-filling"], **asked)
    assert {(r.case, r.method) for r in summary.records} == {("placed", "highs")}
    assert {r.case for r in summary.undefined} == {"grouped"}
    (told,) = [sentence for sentence in summary.warnings if "fits no case" in sentence]
    assert "progressive-filling needs one variant and one server for each user, but user " in told


@pytest.mark.deep
def test_a_case_that_cannot_be_solved_is_a_record_and_the_others_run(tmp_path: Path) -> None:
    cases = (
        SUITE.cases[0],
        SuiteCase("unbuilt", "drfh", partial(_instance, 0)),
        SuiteCase("undefined", "drf-per-server", _two_variants),
    )
    summary = run(Suite("odd", "", cases), tmp_path / "r", methods=[FAKE["highs"]], setting=Setting(repeats=1), progress=False)
    assert [r.case for r in summary.records] == ["a"]
    said = {r.case: (r.termination, r.message) for r in summary.undefined}
    assert said["unbuilt"][0] == "error"
    assert said["unbuilt"][1].startswith("the instance cannot be built: ")
    assert said["undefined"][0] == "undefined"
    assert (
        run(Suite("odd", "", cases), tmp_path / "r", methods=[FAKE["highs"]], setting=Setting(repeats=1), progress=False).added
        == 0
    )
    with pytest.raises(FairallocError, match="idle fits no case of the suite 'odd'"):
        run(Suite("odd", "", cases), tmp_path / "none", methods=[FAKE["idle"]], setting=Setting(repeats=1), progress=False)


def test_comments_and_texts_change_no_identity(tmp_path: Path) -> None:
    code = ast.parse("def f(x):\n    'one text'\n    return x + 1\n")
    other = ast.parse("def f(x):  # a comment\n    'another text'\n    return x + 1\n")
    assert fingerprint._dumped(code) == fingerprint._dumped(other)
    assert fingerprint._dumped(code) != fingerprint._dumped(ast.parse("def f(x):\n    return x + 2\n"))


def test_only_the_modules_of_a_method_count() -> None:
    behind = fingerprint.modules_behind(METHODS["highs"], mechanism("drfh"))
    assert {"fairalloc.solvers.backends.highs", "fairalloc.models.shares"} <= behind
    assert (
        not {"fairalloc.formulations.nb", "fairalloc.solvers.backends.pyomo", "fairalloc.solvers.catalogue.method_registry"}
        & behind
    )


def test_the_judge_and_the_clock_are_part_of_the_identity(monkeypatch) -> None:
    known, digest = fingerprint.code_of(METHODS["highs"], mechanism("drfh")), fingerprint._digest
    for changed in ("judge", "running.dispatch"):
        monkeypatch.setattr(fingerprint, "_digest", lambda name, to=changed: "new" if name.endswith(to) else digest(name))
        assert fingerprint.code_of(METHODS["highs"], mechanism("drfh")) != known


def test_options_and_code_of_ones_own_are_part_of_the_identity() -> None:
    item, method = mechanism("alpha-pf-vds"), METHODS["continuation"]
    option = next(field.name for field in fields(method.options) if isinstance(getattr(method.options, field.name), int))
    changed = method.configure({option: getattr(method.options, option) + 1})
    assert fingerprint.code_of(method, item) != fingerprint.code_of(changed, item)
    assert fingerprint.code_of(method, item) != fingerprint.code_of(method, item.configure(alpha=2))
    one, two = ({}, {})
    exec("def _typed_in(instance, mechanism, limits):\n    return 1", one)
    exec("def _typed_in(instance, mechanism, limits):\n    return 2", two)
    codes = {fingerprint.code_of(own_method(names["_typed_in"]), item) for names in (one, two)}
    assert len(codes) == 2


def test_what_is_imported_by_a_relative_name_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = "from . import one\nfrom .two import two\ndef solves(instance, mechanism, limits):\n    from ... import far\n"
    (package := tmp_path / "their_package").mkdir()
    for name, text in {"__init__": "", "one": "", "two": "two = 2", "main": main}.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    behind = fingerprint.modules_behind(importlib.import_module("their_package.main").solves)
    assert behind == {"their_package.main", "their_package.one", "their_package.two"}


def test_where_a_function_lies_in_memory_is_no_part_of_its_identity() -> None:
    """Another process has it elsewhere, and a killed run of own functions would begin anew."""
    twins = [own_method(_twin(seconds)) for seconds in (0.0, 0.0)]
    assert len({fingerprint.code_of(twin, mechanism("drfh")) for twin in twins}) == 1


def test_files_that_are_not_records_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("not a database, but text long enough to be looked at as one" * 20)
    with pytest.raises(BenchmarkError, match="cannot be used as a records file"):
        report(path)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(BenchmarkError, match="has records of layout 99, but this version writes 5"):
        report(path)


# ---- report -------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_the_page_needs_no_network_and_is_the_same_twice(tmp_path: Path) -> None:
    fake_run(tmp_path / "r", "highs", "one:highs", "lies", "raises")
    pages = [tmp_path / "1.html", tmp_path / "2.html"]
    for page in pages:
        report(tmp_path / "r", html=page)
    text = pages[0].read_text()
    assert pages[1].read_text() == text
    assert not re.search(r"https?:|<script|<link|@import|\bsrc=", text)
    assert "the fake &amp; its &lt;error&gt;" in text
    for part in ("Modelling layers", "Performance profile", "<svg", "Failures", "Known limitations", "shift 10 ms"):
        assert part in text


@pytest.mark.deep
def test_a_summary_is_a_short_text_and_tables_in_a_notebook(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "one:highs")
    assert repr(summary) == f"<summary of suite {summary.run.suite}: {summary.counts}>"
    html = summary._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert "<td>one:highs</td>" in html


@pytest.mark.deep
def test_the_table_fits_100_columns(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "one:highs", "lies", "raises")
    long = tuple(replace(r, method=r.method.replace("one", "cvxpy-clarabel"), wall=12345.6) for r in summary.records)
    out = io.StringIO()
    absent = {"methods": {"absent": {"kind": "exact", "missing": "install <it> first", "about": ""}}}
    run_ = replace(summary.run, details={**summary.run.details, **absent})
    print_summary(replace(summary, run=run_, rows_of_run=long), Console(file=out, width=100))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert "shift 10 ms" in out.getvalue()
    assert "lies on a: claims success, but the residual is 1.0e+00" in out.getvalue()
    assert "not available: install <it> first" in out.getvalue()


@pytest.mark.deep
def test_a_real_method_is_measured(tmp_path: Path) -> None:
    found = one(run(FAKES, tmp_path / "r", methods=["highs"], setting=Setting(repeats=1), progress=False))
    assert metrics.succeeded(found), found
    assert found.versions.startswith("highspy ")
    assert found.call >= found.wall >= found.phases > 0
