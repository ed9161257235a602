"""Methods that try to be taken for what they are not: none ranks as an honest one does.

Each liar is a method in this file. What is judged, by whom, and by which clock, is decided outside the process in which it runs.
"""

import base64
import gc
import io
import json
import math
import os
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hand_made import record, summary_of

from fairalloc.benchmarks import Setting, Suite, SuiteCase, metrics, run, worker
from fairalloc.benchmarks.records import Job
from fairalloc.benchmarks.runner import _record
from fairalloc.models import Allocation, Instance, InstanceError
from fairalloc.runs.data import written
from fairalloc.runs.objects import packed
from fairalloc.solvers import judge
from fairalloc.solvers.running import dispatch

HERE = Path(__file__)
RIGHT = "highs:leximin"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(HERE.parent)


def built():
    return Instance(np.array([[1, 2], [2, 1], [3, 1]]), [[9, 12]], name="hidden")


SUITE = Suite("liars", "", (SuiteCase("a", "drfh", built), SuiteCase("b", "nb", built)))


def nothing(instance, mechanism, limits):
    """Tasks that are far from right, which a method claims to be so."""
    return np.full(len(instance.arcs), 1e-3)


def pipes_above():
    """What the code above in the stack knows of the child's pipes."""
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if type(value).__name__ == "_Pipes":
                return value
        frame = frame.f_back
    raise AssertionError("there are no pipes above")


def is_warm_up(instance):
    return instance.name == "warm-up"


def forges_the_record(instance, mechanism, limits):
    """Writes the row that the judge would write of a perfect answer, with the child's own word, and exits."""
    if is_warm_up(instance):
        return nothing(instance, mechanism, limits)
    row = {"termination": "optimal", "claims": True, "feasibility": 0.0, "definition": 0.0, "wall": 1e-9, "call": 1e-9}
    tasks = written(nothing(instance, mechanism, limits))
    pipes_above().answer({"answer": row | {"x": tasks, "ours": True, "outside": [0.0, 0.0], "overhead": 99.0}, "modules": []})
    os._exit(0)


def forges_without_the_word(instance, mechanism, limits):
    if is_warm_up(instance):
        return nothing(instance, mechanism, limits)
    os.write(pipes_above()._writing, json.dumps({"answer": {"termination": "optimal"}}).encode() + b"\n")
    os._exit(0)


def restarts_its_clock(instance, mechanism, limits):
    if not is_warm_up(instance):
        for _ in range(20):
            time.sleep(0.3)
            pipes_above().restart()
    return nothing(instance, mechanism, limits)


FOUND = []


def finds_the_instance(instance, mechanism, limits):
    """Looks for the instance in all that this process holds during the warm-up, and computes then."""
    if is_warm_up(instance):
        texts = [value for frame in frames() for value in frame.f_locals.values() if isinstance(value, str)]
        FOUND.extend(item for item in gc.get_objects() if isinstance(item, Instance) and not is_warm_up(item))
        FOUND.extend(text for text in texts if "hidden" in text)
        FOUND.extend(item for item in gc.get_objects() if isinstance(item, dict) and "hidden" in item and "method" in item)
    if FOUND and not is_warm_up(instance):
        raise ValueError(f"it was found before the clock ran: {FOUND[0]!r}")
    time.sleep(0.0 if is_warm_up(instance) else 0.3)
    return nothing(instance, mechanism, limits)


def frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def patches_the_residual(instance, mechanism, limits):
    type(mechanism).residual = lambda *_: 0.0
    return nothing(instance, mechanism, limits)


def patches_the_judge(instance, mechanism, limits):
    def kind(mechanism, allocation, *_, **__):
        return replace(allocation, termination="optimal", residuals={"feasibility": 0.0, "definition": 0.0})

    dispatch.judged = judge.judged = worker.judged = kind
    worker.judge = lambda *_: {"termination": "optimal", "claims": True, "feasibility": 0.0, "definition": 0.0}
    return nothing(instance, mechanism, limits)


def measured(tmp_path, *methods, **setting):
    return run(SUITE, tmp_path / "r", methods=methods, cases=["a"], setting=Setting(**{"repeats": 1} | setting), progress=False)


@pytest.mark.deep
def test_four_liars_are_told_from_an_honest_method(tmp_path):
    liars = [forges_the_record, finds_the_instance, patches_the_residual, patches_the_judge]
    summary = measured(tmp_path, RIGHT, *liars)
    rates = {row.method: (row.success, row.honesty) for row in summary.rows}
    assert rates == {RIGHT: (1.0, 1.0)} | {liar.__name__: (0.0, 0.0) for liar in liars}
    residuals = {r.method: r.residual for r in summary.records}
    assert all(residuals[liar.__name__] > 0.5 for liar in liars), residuals
    assert not any("found before" in r.message for r in summary.records)
    (ranking,) = summary.rankings()
    assert ranking.rows[0].method == RIGHT
    assert [rank.solved for rank in ranking.rows] == [1, 0, 0, 0, 0]


@pytest.mark.deep
def test_the_clock_of_who_forges_its_record_is_ours(tmp_path):
    def naps_and_forges(instance, mechanism, limits):
        if not is_warm_up(instance):
            time.sleep(0.3)
        return forges_the_record(instance, mechanism, limits)

    (found,) = measured(tmp_path, naps_and_forges).records
    assert found.wall >= 0.3
    assert "ours outside it 0." in found.message


@pytest.mark.deep
def test_who_writes_without_its_word_has_no_answer(tmp_path):
    (found,) = measured(tmp_path, forges_without_the_word).records
    assert (found.termination, found.claims) == ("error", False)
    assert found.message.startswith("its process wrote what is no answer: ")


@pytest.mark.deep
def test_the_clock_is_set_back_once(tmp_path):
    start = time.monotonic()
    (found,) = measured(tmp_path, restarts_its_clock, time_limit=1.0).records
    assert (found.termination, found.claims) == ("error", False)
    assert "is no answer" in found.message
    assert time.monotonic() - start < 60


# ---- what the child that solves writes is data --------------------------------------------------------------------


ASKED = {"method": "exact", "accuracy": "mid", "time_limit": 10.0}
HIDDEN = {"suite": HERE.stem, "case": "a"}


def verdict(answer, case="a", **request):
    hidden = HIDDEN | {"case": case}
    return worker.judge(ASKED | request, hidden, worker.given(hidden), answer, [1.0, 1.0])


def solved(**changes):
    return {"termination": "optimal", "x": written(np.array([1.0, 2.0, 1.0])), "spent": {"wall": 0.1}} | changes


def test_a_plain_answer_is_judged():
    found = verdict(solved())
    assert found["feasibility"] == 0.0
    assert found["definition"] > 0.1
    assert not found["claims"], "without prices the residual decides"
    nb = verdict(solved(), case="b")
    assert nb["definition"] > 0.1
    assert not nb["claims"], "the judge takes the word of a method of this package back"


def test_an_answer_without_a_point_keeps_how_it_ended():
    """Its objective is nan: what did not end in time was an error, "its answer was not judged"."""
    known = {"termination": "time_limit", "values": {"objective": math.nan}, "residuals": {"optimality": math.inf}}
    known["trace"] = tuple({"iteration": 1, "seconds": 0.1, "residual": value} for value in (math.inf, 0.5))
    said = worker._measured(lambda instance: Allocation(instance, np.full(instance.A, math.nan), **known), built())
    found = verdict(json.loads(json.dumps(said)), case="b")
    assert (found["termination"], found["claims"], found["definition"]) == ("time_limit", False, math.inf)
    assert [*map(list, found["trace"])] == [[0.1, 0.5]]


def test_the_judge_has_time_of_its_own():
    """Without it an honest answer without prices is not judged where the method's limit is short."""
    assert math.isfinite(verdict(solved(), method=packed(nothing), time_limit=1e-9)["definition"])


def test_a_row_that_could_not_be_read_is_not_written(monkeypatch):
    """One such row would make all records unreadable; a residual below 0 is no larger than one of 0."""
    job = Job(**{f.name: getattr(record(), f.name) for f in fields(Job)})
    found = _record(job, {"termination": "optimal", "claims": True, "iterations": -3})
    assert (found.termination, found.claims) == ("error", False)
    assert found.message == "its answer is no record: iterations is -3, but it must be a whole number or None, not below 0"
    monkeypatch.setattr(worker, "judged", lambda _, allocation, *__, **___: allocation.noted(residuals={"definition": -1.0}))
    assert verdict(solved())["definition"] == 0.0


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([print], dtype=object), allow_pickle=True)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", "the answer is 'text', but it must be a document"),
        ({}, "x has shape"),
        (solved(termination="perfect"), "termination.*perfect"),
        (solved(termination=["optimal"]), "termination is .*, but it must be a text"),
        (solved(x=written(np.ones(4))), "x has shape"),
        (solved(x=pickled()), "x is .*, but it must be an array"),
        (solved(x=[1.0, 2.0]), "x is .*, but it must be a text"),
        (solved(x=written(np.ones(3))[:20]), "x is .*, but it must be an array"),
        (solved(prices=written(np.ones((7, 7)))), "prices"),
        (solved(spent={"wall": float("nan")}), "spent is .*nan.* each a finite number"),
        (solved(spent={"call": "fast"}), "spent is .*'fast'"),
        (solved(iterations=True), "iterations is True"),
        (solved(message=5), "message is 5, but it must be a text"),
        (solved(trace=[["a", "b"]]), "trace\\[0\\] is .*, but it must be \\(a finite number, a finite number\\)"),
        (solved(x_exact=["nothing"] * 3), "Invalid literal for Fraction"),
    ],
)
def test_what_is_no_answer_is_one_sentence(answer, says):
    with pytest.raises((InstanceError, ValueError), match=says) as caught:
        verdict(answer)
    assert "\n" not in str(caught.value)


def test_prices_that_are_no_numbers_prove_nothing_and_rationals_of_others_are_not_believed():
    prices = written(np.full((1, 2), np.inf))
    found = verdict(solved(prices=prices, x_exact=["1", "2", "1"]), method=packed(nothing))
    assert found["definition"] > 0.1
    assert found["claims"], "this is the method's word"
    assert not found["rational"]
    assert verdict(solved(x_exact=["1", "2", "1"]))["rational"]


# ---- answers far from a certified reference ------------------------------------------------------------------------


def test_who_contradicts_a_certified_reference_is_dishonest_and_unranked():
    right = {"quantities": (0.5, 0.5), "wall": 1.0}
    exact = record(method="exact", rational=True, **right)
    close = record(method="close", quantities=(0.5, 0.500001))
    liar = record(method="liar", quantities=(0.5, 0.145), wall=1e-9, definition=0.0)
    failed = record(method="failed", quantities=(0.5, 0.1), definition=0.7)
    summary = summary_of([exact, close, liar, failed])
    assert {row.method: row.honesty for row in summary.rows} == {"close": 1.0, "exact": 1.0, "failed": 0.0, "liar": 0.0}
    assert [rank.method for rank in summary.rankings()[0].rows] == ["close", "exact", "failed"]
    assert list(summary.dishonest) == ["liar"]
    assert summary.dishonest["liar"].startswith(
        "liar is dishonest and not ranked: on a its residual is 0e+00, but it is 0.71 away"
    )
    (what,) = [f.what for f in summary.failures if f.record.method == "liar"]
    assert what == "its residual of 0.0e+00 passes, but it is 0.71 away from the certified reference"


def test_what_is_not_certified_contradicts_nobody():
    first, second = record(method="a", quantities=(0.5,)), record(method="b", quantities=(0.1,))
    wrong = record(method="c", quantities=(0.9,), rational=True, definition=0.4)
    summary = summary_of([first, second, wrong])
    assert not summary.dishonest
    assert metrics.honest(first)
