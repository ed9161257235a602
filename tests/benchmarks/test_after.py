"""Cases that come after smaller ones."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hand_made import record

from fairalloc.benchmarks import BenchmarkError, Suite, SuiteCase, run
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.models.examples import generators


def napping(instance, mechanism, limits):
    if instance.N > 2:  # not in the warm-up
        time.sleep(20)
    return np.zeros(len(instance.arcs))


def climbing(*sizes):
    cases = []
    for size in sizes:
        after = cases[-1].name if cases else ""
        cases.append(SuiteCase(f"c{size}", "drfh", lambda size=size: generators.generic(size, 2, 2), after=after))
    return Suite("climbing", "growing", tuple(cases), time_limit=0.2, repeats=1)


@pytest.mark.deep
def test_what_ran_out_of_time_is_not_asked_on_larger_cases(tmp_path):
    suite = climbing(3, 4, 5)
    summary = run(suite, tmp_path / "r.sqlite", methods=[napping], progress=False)
    assert [r.termination for r in summary.records] == ["time_limit", "skipped", "skipped"]
    assert summary.counts.endswith(", 1 solve, 2 not asked after a failure"), "what was not asked is no solve"
    assert {r.message for r in summary.records[1:]} == {"not asked: it ran out of time or memory on the easier case c3"}
    again = run(suite, tmp_path / "r.sqlite", methods=[napping], progress=False)
    assert (again.before, again.added) == (3, 0)
    alone = run(suite, tmp_path / "r.sqlite", methods=["highs"], cases=["c3"], progress=False)
    assert [(r.method, r.termination) for r in alone.records] == [("highs", "optimal")], "rows of other cases do not disturb"


@pytest.mark.deep
def test_larger_cases_alone_come_by_themselves(tmp_path):
    summary = run(climbing(3, 4, 5), tmp_path / "r.sqlite", methods=["highs"], cases=["c4", "c5"], progress=False)
    assert [(r.case, r.termination) for r in summary.records] == [("c4", "optimal"), ("c5", "optimal")]


def test_cases_of_other_runs_with_the_same_names_stop_nobody(tmp_path):
    file, told = tmp_path / "r.sqlite", {"method": "highs", "termination": "time_limit", "accuracy": "mid"}
    with BenchmarkStore(file) as store:
        store.add(record(case="c3", suite="another", **told))
    summary = run(replace(climbing(3, 4), time_limit=20.0), file, methods=["highs"], progress=False)
    assert [(r.case, r.termination) for r in summary.records] == [("c3", "optimal"), ("c4", "optimal")]


def test_a_case_comes_after_one_that_is_before_it():
    case = SuiteCase("b", "drfh", generators.generic, after="a")
    with pytest.raises(BenchmarkError, match="the case 'b' is after 'a', but no case before it has that name"):
        Suite("s", "t", (case,))
