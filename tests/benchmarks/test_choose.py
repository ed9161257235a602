"""The suite `choose` and the table that is made of its records; cases that come after smaller ones."""

import json
import time

import numpy as np
import pytest

from fairalloc import cli
from fairalloc.benchmarks import BenchmarkError, Setting, Suite, SuiteCase, choice_document, find_suite, run
from fairalloc.formulations import mechanism
from fairalloc.models import generators
from fairalloc.solvers import METHODS
from fairalloc.solvers.choice import features_of, ordered, read_table


def test_peers_are_not_measured():
    asked = {method for case in find_suite("choose").cases for method in case.methods}
    assert asked == {key for key, method in METHODS.items() if not method.peer}


CASES = ["generic-10x4x2/drfh", "zero_demand-10x4x2/drfh"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return run(
        "choose",
        tmp_path_factory.mktemp("choose") / "r.sqlite",
        methods=["highs", "exact"],
        cases=CASES,
        setting=Setting(repeats=2, time_limit=20),
        progress=False,
    )


def test_the_table_says_what_the_records_say(measured, capsys):
    document = choice_document(measured)
    assert [case["case"] for case in document["cases"]] == CASES
    for case in document["cases"]:
        rows = [record for record in measured.records if record.case == case["case"]]
        assert {r.method for r in rows} == {"highs", "exact"} == set(case["seconds"]) | set(case["silent"])
        for method, seconds in case["seconds"].items():
            assert seconds == pytest.approx(min(r.cpu for r in rows if r.method == method), rel=1e-2)
        fastest = min(case["seconds"], key=case["seconds"].get)
        instance = find_suite("choose").case(case["case"]).build()
        found = ordered(read_table(document), "drfh", features_of(mechanism("drfh"), instance))
        assert case["seconds"][found[0]] <= 1.1 * case["seconds"][fastest]
    assert cli.main(["bench", "choose", str(measured.path)]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_of_several_runs_the_last_that_has_a_method_counts(measured, tmp_path):
    case = CASES[0]
    again = run("choose", tmp_path / "r.sqlite", methods=["highs"], cases=[case], setting=Setting(repeats=1), progress=False)
    both = choice_document(measured, again)["cases"][0]["seconds"]
    assert both["highs"] == pytest.approx(again.records[0].cpu, rel=1e-2)
    assert both["exact"] == choice_document(measured)["cases"][0]["seconds"]["exact"]


def test_of_a_table_stays_what_is_not_measured_anew(measured, tmp_path, capsys):
    whole = choice_document(measured)
    slow = {**whole["cases"][0], "seconds": {"exact": 7.0, "nb-only": 1.0}, "silent": ["highs", "pdhg"]}
    before = {"made": [{"suite": "before"}], "cases": [slow, {"case": "gone", "seconds": {}}]}
    (tmp_path / "t.json").write_text(json.dumps(before))
    assert cli.main(["bench", "choose", str(measured.path), "--table", str(tmp_path / "t.json")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cases"][0]["seconds"] == {"nb-only": 1.0, **whole["cases"][0]["seconds"]}
    assert found["cases"][0]["silent"] == ["pdhg", *whole["cases"][0]["silent"]]
    assert found["cases"][1:] == whole["cases"][1:]
    assert [made["suite"] for made in found["made"]] == ["before", "choose"]
    (tmp_path / "t.json").write_text("[]")
    assert cli.main(["bench", "choose", str(measured.path), "--table", str(tmp_path / "t.json")]) == 2
    assert "is no table" in capsys.readouterr().err


def test_the_file_is_written_where_it_is_wanted(measured, tmp_path):
    assert cli.main(["bench", "choose", str(measured.path), "--output", str(tmp_path / "t.json")]) == 0
    assert json.loads((tmp_path / "t.json").read_text()) == choice_document(measured)


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


def test_what_ran_out_of_time_is_not_asked_on_larger_cases(tmp_path):
    suite = climbing(3, 4, 5)
    summary = run(suite, tmp_path / "r.sqlite", methods=[napping], progress=False)
    assert [r.termination for r in summary.records] == ["time_limit", "skipped", "skipped"]
    assert {r.message for r in summary.records[1:]} == {"not asked: it ran out of time or memory on the smaller case c3"}
    again = run(suite, tmp_path / "r.sqlite", methods=[napping], progress=False)
    assert (again.before, again.added) == (3, 0)
    alone = run(suite, tmp_path / "r.sqlite", methods=["highs"], cases=["c3"], progress=False)
    assert [(r.method, r.termination) for r in alone.records] == [("highs", "optimal")], "rows of other cases do not disturb"


def test_larger_cases_alone_come_by_themselves(tmp_path):
    summary = run(climbing(3, 4, 5), tmp_path / "r.sqlite", methods=["highs"], cases=["c4", "c5"], progress=False)
    assert [(r.case, r.termination) for r in summary.records] == [("c4", "optimal"), ("c5", "optimal")]


def test_a_case_comes_after_one_that_is_before_it():
    case = SuiteCase("b", "drfh", generators.generic, after="a")
    with pytest.raises(BenchmarkError, match="the case 'b' is after 'a', but no case before it has that name"):
        Suite("s", "t", (case,))
