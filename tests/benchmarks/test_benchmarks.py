"""The benchmark runner, its records, metrics and report.

This file is also the fake package of methods and the fake suite that the runs below use: the runner takes both by module name.
"""

import importlib.metadata
import io
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fairalloc.benchmarks import SUITES, BenchmarkError, Suite, SuiteCase, metrics, print_summary, report, run
from fairalloc.benchmarks.records import BenchmarkStore, Record
from fairalloc.benchmarks.report import percent
from fairalloc.benchmarks.suites.suite import register
from fairalloc.formulations import Mechanism
from fairalloc.models import Allocation, Instance, Times
from fairalloc.models.errors import FairallocError

# ---- the fakes: found by the runner under the name of this file ---------------------------------------------------

FAKES = Path(__file__).stem
ACCURACY = {"low": 1e-3, "mid": 1e-6}


class FakeMethod:
    """A method that misbehaves in the way its name says."""

    kind = "exact"

    def __init__(self, name: str, needs: str = "") -> None:
        self.id, self.needs = name, needs

    def computes(self, mechanism: Mechanism) -> bool:
        return mechanism.id == "drfh"

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return ""

    def missing(self) -> str:
        return self.needs


_NAMES = ("highs", "lies", "modest", "sleeps", "hogs", "aborts", "exits", "raises", "chats", "one:highs")
METHODS = {name: FakeMethod(name) for name in _NAMES} | {"absent": FakeMethod("absent", "install <it> first")}


def _misbehave(method: str) -> None:
    if method == "sleeps":
        subprocess.Popen(["sleep", os.environ["FAKE_SLEEP"]])
        time.sleep(60)
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


def solve(instance: Instance, mechanism: str, method: str, **_: object) -> Allocation:
    """A fake `solve`; it behaves during the warm-up."""
    if instance.name != "warm-up":
        _misbehave(method)
    times = Times(build=0.02 if ":" in method else 0.01, solve=0.1)
    error = 0.5 if method == "lies" else 0.0
    termination = "inaccurate" if method == "modest" else "optimal"
    residuals = {"feasibility": 0.0, "definition": error}
    x = np.zeros(len(instance.arcs))
    return Allocation(instance, x, mechanism, method, termination=termination, residuals=residuals, times=times)


def _instance(size: int) -> Instance:
    return Instance(np.ones((size, 2)), [[1, 2]])


SUITE = Suite("fake", "two cases", (SuiteCase("a", "drfh", partial(_instance, 2)), SuiteCase("b", "drfh", partial(_instance, 3))))


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    monkeypatch.setenv("FAKE_SLEEP", f"60.{time.monotonic_ns()}")


def fake_run(records: Path, *methods: str, **options: Any) -> Any:
    settings: dict[str, Any] = {"time_limit": 20.0, "memory_mb": 1024, "repeats": 1, "progress": False}
    return run(FAKES, records, methods=methods or ("highs",), solvers=FAKES, **settings | options)


def record(**changes: Any) -> Record:
    """A success of 0.1 s but for the changes."""
    job = {"suite": "s", "case": "a", "fingerprint": "f", "mechanism": "drfh", "method": "m", "accuracy": "mid"}
    limits = {"time_limit": 10.0, "memory_mb": 100, "repeat": 0, "environment": "e"}
    outcome = {"started": "2026-01-01", "tolerance": 1e-6, "termination": "optimal", "claims": True}
    residuals = {"feasibility": 0.0, "definition": 1e-9, "solve": 0.1}
    values: dict[str, Any] = job | limits | outcome | residuals | changes
    return Record(**values)


# ---- metrics, by hand ---------------------------------------------------------------------------------------------


def test_success_and_honesty_are_the_four_cases_of_claim_and_truth() -> None:
    good, liar = record(), record(definition=1e-5)
    modest, failed = record(claims=False), record(claims=False, feasibility=math.inf)
    runs = [good, liar, modest, failed]
    assert [metrics.succeeded(r) for r in runs] == [True, False, False, False]
    assert [metrics.honest(r) for r in runs] == [True, False, False, True]
    assert metrics.rate(runs, metrics.succeeded) == 0.25
    assert metrics.rate(runs, metrics.honest) == 0.5
    assert math.isnan(metrics.rate([], metrics.honest))


def test_the_larger_residual_decides_and_the_tolerance_itself_passes() -> None:
    assert metrics.passes(record(feasibility=1e-6, definition=0.0))
    assert not metrics.passes(record(feasibility=2e-6, definition=0.0))


def test_shifted_geometric_mean_by_hand() -> None:
    # (0.03 + 0.01) (0.15 + 0.01) = 0.0064, its root is 0.08
    assert metrics.shifted_geometric_mean([0.03, 0.15]) == pytest.approx(0.07)
    # (1 + 3) (13 + 3) = 64, its root is 8
    assert metrics.shifted_geometric_mean([1.0, 13.0], shift=3.0) == pytest.approx(5.0)
    assert math.isnan(metrics.shifted_geometric_mean([]))


def test_cost_is_the_total_or_the_limit_and_the_median_over_repeats() -> None:
    assert metrics.cost(record(build=0.2, compile=0.3, read=0.4)) == pytest.approx(1.0)
    assert metrics.cost(record(definition=1.0)) == 10.0
    runs = [record(repeat=k, solve=s) for k, s in enumerate((0.1, 0.9, 0.2))] + [record(case="b", claims=False)]
    assert metrics.costs_by_case(runs) == {"a": 0.2, "b": 10.0}


def test_median_times_leave_out_runs_without_a_point() -> None:
    runs = [record(build=0.1), record(build=0.3), record(feasibility=math.inf, solve=0.0)]
    assert metrics.median_times(runs) == Times(build=0.2, solve=0.1)
    assert metrics.median_times(runs[2:]) is None


def test_layer_ratios_pair_case_and_repeat() -> None:
    direct = [record(method="highs", build=0.1, compile=0.1), record(method="highs", case="b", build=1.0)]
    layered = [record(method="x:highs", build=0.2, compile=0.4), record(method="x:highs", case="b", build=5.0)]
    unpaired = record(method="x:highs", case="b", repeat=1, build=99.0)
    other = record(method="x:scs", build=3.0)
    assert metrics.layer_ratios([*direct, *layered, unpaired, other]) == pytest.approx({"x:highs": 4.0})


def test_profile_is_in_units_of_the_best_and_counts_missing_and_failed_cases() -> None:
    fast = [record(method="fast", solve=0.1), record(method="fast", case="b", claims=False)]
    slow = [record(method="slow", solve=0.4), record(method="slow", case="b", solve=2.0)]
    part = [record(method="part", solve=0.2)]
    ratios = metrics.profile([*fast, *slow, *part])
    assert ratios == {"fast": [1.0, math.inf], "slow": pytest.approx([4.0, 1.0]), "part": [2.0, math.inf]}


def test_a_rate_is_shown_as_100_percent_only_when_it_is() -> None:
    assert [percent(r) for r in (1.0, 0.9999, 2 / 3, 0.0)] == ["100 %", "99.9 %", "66.6 %", "0 %"]


# ---- suites -------------------------------------------------------------------------------------------------------


def test_duplicates_raise() -> None:
    case = SUITE.cases[0]
    with pytest.raises(BenchmarkError, match="two cases of the suite 'x' have the name 'a'"):
        Suite("x", "", (case, case))
    with pytest.raises(BenchmarkError, match="two suites have the id 'fake'"):
        register([SUITE, SUITE])
    with pytest.raises(BenchmarkError, match="the suite 'x' has no cases"):
        Suite("x", "", ())


def test_suite_first_has_what_was_promised() -> None:
    cases = SUITES["first"].cases
    of = {kind: [c for c in cases if c.name.startswith(f"{kind}/")] for kind in ("published", "generated", "real")}
    assert sum(map(len, of.values())) == len(cases) >= 30
    generated = {c.name.rsplit("/", 1)[0] for c in of["generated"]}
    assert len(generated) >= 20
    assert of["published"]
    assert of["real"]
    assert {c.mechanism for c in cases} >= {"drf", "drfh", "nb"}


def test_every_suite_can_be_built() -> None:
    for suite in SUITES.values():
        assert all(isinstance(case.build(), Instance) for case in suite.cases)


# ---- runs ---------------------------------------------------------------------------------------------------------


def one(summary: Any, case: str = "a") -> Record:
    (found,) = [r for r in summary.records if r.case == case]
    assert isinstance(found, Record)
    return found


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
    assert (found.wall, found.peak_mb) == (0.0, 0.0), "it did not live to tell what it took"
    assert (found.termination, found.claims, found.residual) == ("time_limit", False, math.inf)
    assert "over the time limit of 0.2 s" in found.message
    assert not _sleeping()


def _sleeping() -> bool:
    """Whether the process that the fake method `sleeps` starts in this test is alive."""
    commands = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    return f"sleep\0{os.environ['FAKE_SLEEP']}\0".encode() in commands


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def _start_run(path: Path, **arguments: Any) -> subprocess.Popen[bytes]:
    """`fake_run` in a process of its own, in another folder."""
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import {FAKES} as fakes; from pathlib import Path"
    call = f"fakes.fake_run(Path({str(path)!r}), *{arguments.pop('methods', ())!r}, **{arguments!r})"
    return subprocess.Popen([sys.executable, "-c", f"{start}; {call}"], cwd=path.parent)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_leaves_nothing_running(tmp_path: Path, stop: signal.Signals) -> None:
    process = _start_run(tmp_path / "r", methods=("sleeps",))
    _wait_for(_sleeping)
    process.send_signal(stop)
    process.wait(timeout=20)
    _wait_for(lambda: not _sleeping())


@pytest.mark.parametrize(
    ("method", "termination", "says"),
    [
        ("hogs", "memory", "over the memory limit of 1024 MB"),
        ("aborts", "error", "its process ended by signal SIGABRT"),
        ("exits", "error", "its process ended with exit code 7 and no answer"),
        ("raises", "error", "ValueError: the fake & its <error>"),
    ],
)
def test_a_solve_that_breaks_is_recorded_and_the_next_one_runs(tmp_path: Path, method: str, termination: str, says: str) -> None:
    summary = fake_run(tmp_path / "r", method, "highs")
    assert [r.method for r in summary.records] == [method, "highs"] * 2
    for broken in summary.records[::2]:
        assert (broken.termination, broken.claims) == (termination, False)
        assert says in broken.message
    assert all(metrics.succeeded(r) for r in summary.records[1::2])


def test_what_a_solver_prints_is_not_taken_for_its_answer(tmp_path: Path) -> None:
    assert metrics.succeeded(one(fake_run(tmp_path / "r", "chats")))


def test_a_lie_lowers_honesty_and_so_does_modesty(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "lies", "modest")
    rates = {row.method: (row.success, row.honesty) for row in summary.rows}
    assert rates == {"highs": (1.0, 1.0), "lies": (0.0, 0.0), "modest": (0.0, 0.0)}
    assert {f.what for f in summary.failures} == {
        "claims success, but the residual is 5.0e-01",
        "inaccurate, but the residual 0.0e+00 passes",
    }


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


def test_environments_and_settings_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.sqlite"
    old = fake_run(path)
    assert old.note == ""
    installed = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99.0" if name == "fairalloc" else installed(name))
    new = fake_run(path)
    assert (new.before, new.added, len(new.records), new.others) == (0, 2, 2, 2)
    assert new.setting.environment != old.setting.environment
    assert new.note.startswith("r.sqlite also holds 2 rows of other suites, versions, machines, settings or data")
    assert report(path).details["fairalloc"] == "99.0"
    assert report(path, environment=old.setting.environment).records == old.records
    assert len(fake_run(path, accuracy="low").records) == 2
    assert report(path).others == 4
    exact = fake_run(path, accuracy=1e-7)
    assert {(found.accuracy, found.tolerance) for found in exact.records} == {(1e-7, 1e-7)}
    assert fake_run(path, accuracy=1e-7).added == 0


def test_records_cannot_be_changed(tmp_path: Path) -> None:
    fake_run(tmp_path / "r")
    with sqlite3.connect(tmp_path / "r") as database:
        for statement in ("UPDATE record SET claims = 1", "DELETE FROM record"):
            with pytest.raises(sqlite3.IntegrityError, match="records are only added"):
                database.execute(statement)


def test_a_case_whose_data_changed_leaves_its_old_rows_out(tmp_path: Path) -> None:
    with BenchmarkStore(tmp_path / "r") as store:
        store.add_environment("e", {"fairalloc": "1", "methods": {}})
        for changes in ({}, {"case": "b"}, {"fingerprint": "newer"}):
            store.add(record(**changes))
    summary = report(tmp_path / "r")
    assert [(r.case, r.fingerprint) for r in summary.records] == [("b", "f"), ("a", "newer")]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: run("nosuch", p), "there is no suite 'nosuch': the suites are first, game, game-size, layers"),
        (lambda p: fake_run(p, "nosuch"), "there is no method 'nosuch': the methods are highs"),
        (lambda p: fake_run(p, "absent"), "the method 'absent' is not available: install <it> first"),
        (lambda p: fake_run(p, accuracy="nosuch"), "the accuracy is 'nosuch', but it must be one of low, mid"),
        (lambda p: fake_run(p, repeats=0), "the number of repeats is 0, but it must be positive"),
        (lambda p: fake_run(p, time_limit=math.nan), "the time limit is nan, but it must be positive"),
        (lambda p: run("json.decoder", p), "the module 'json.decoder' defines no SUITE"),
        (lambda p: report(p), "there is no records file"),
    ],
)
def test_bad_requests_are_one_sentence(tmp_path: Path, call: Callable[[Path], Any], says: str) -> None:
    with pytest.raises(FairallocError, match=re.escape(says)):
        call(tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_files_that_are_not_records_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("not a database, but text long enough to be looked at as one" * 20)
    with pytest.raises(BenchmarkError, match="cannot be used as a records file"):
        report(path)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(BenchmarkError, match="has records of layout 99, but this version writes 1"):
        report(path)


# ---- report -------------------------------------------------------------------------------------------------------


def test_the_page_needs_no_network_and_is_the_same_twice(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "one:highs", "lies", "raises")
    pages = [tmp_path / "1.html", tmp_path / "2.html"]
    for page in pages:
        report(tmp_path / "r", html=page)
    text = pages[0].read_text()
    assert pages[1].read_text() == text
    assert not re.search(r"https?:|<script|<link|@import|\bsrc=", text)
    assert "the fake &amp; its &lt;error&gt;" in text
    assert "install &lt;it&gt; first" in text
    for part in ("Modelling layers", "Performance profile", "<svg", "Failures", "Known limitations", "shift of 10 ms"):
        assert part in text
    assert summary.layers == pytest.approx({"one:highs": 2.0})


def test_a_summary_is_a_short_text_and_tables_in_a_notebook(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "one:highs")
    assert repr(summary) == f"<summary of suite {summary.setting.suite}: {summary.counts}>"
    html = summary._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert "<td>one:highs</td>" in html


def test_the_table_fits_100_columns(tmp_path: Path) -> None:
    summary = fake_run(tmp_path / "r", "highs", "one:highs", "lies", "raises")
    long = tuple(replace(r, method=r.method.replace("one", "cvxpy-clarabel"), solve=12345.6) for r in summary.records)
    out = io.StringIO()
    print_summary(replace(summary, records=long), Console(file=out, width=100))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert "shift 10 ms" in out.getvalue()
    assert "lies on a: claims success, but the residual is 5.0e-01" in out.getvalue()
    assert "not available: install <it> first" in out.getvalue()


def test_a_real_method_is_measured(tmp_path: Path) -> None:
    found = one(run(FAKES, tmp_path / "r", methods=["highs"], repeats=1, progress=False))
    assert metrics.succeeded(found), found
    assert found.versions.startswith("highspy ")
    assert found.wall >= found.total > 0
