"""What is known of a statement, in one word from one place, and the page that says it."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import get_args

import pytest

from fairalloc.analysis.verdict import Verdict
from fairalloc.cli import main
from fairalloc.models.errors import FairallocError
from fairalloc.theorems import status
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.witnesses import WitnessRecord, on_record, packaged
from fairalloc.theorems.machine.record import recorded, sizes_proved
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import Finding, Reading
from fairalloc.theorems.status import FLOATING_POINT, MEANINGS, Status, described, status_by_case, status_of

STATEMENTS = all_statements()
EXACT, FLOATS = "rational arithmetic", f"{FLOATING_POINT}: an LP"


def about(quantifier, proof="", name="K.planted"):
    return replace(STATEMENTS["K.T3.envy"], id=name, quantifier=quantifier, proof=proof, printed=STATEMENTS["Z.P4"].printed)


@pytest.mark.parametrize(
    ("quantifier", "holds", "method", "known"),
    [
        ("all", False, EXACT, "refuted"),
        ("run", False, EXACT, "refuted"),
        ("all", False, FLOATS, "not decided: violated in floating point"),
        ("some", False, EXACT, "proved"),
        ("some", False, FLOATS, "not decided: violated in floating point"),
        ("one", True, EXACT, "proved"),
        ("one", True, FLOATS, "not refuted"),
        ("one", False, EXACT, "refuted"),
        ("one", False, FLOATS, "not decided: violated in floating point"),
        ("one", None, EXACT, "not decided"),
    ],
)
def test_a_case_decides(quantifier, holds, method, known):
    assert status_by_case(about(quantifier), Verdict("p", holds, 1.0, "so", method)) == known


def test_a_proof_in_prose_counts_more_than_one_by_machine_and_both_more_than_trials(monkeypatch):
    monkeypatch.setattr(status, "sizes_proved", lambda name: ["2x2x2", "3x1x2"] if name == "K.by-machine" else [])
    plain, prose, machine = about("all"), about("all", "because"), about("all", name="K.by-machine")
    for searched in (Status.NOT_DECIDED, Status.NOT_REFUTED):
        assert status_of(plain, searched) == searched
        assert status_of(prose, searched) == Status.PROVED
        assert status_of(machine, searched) == Status.BY_MACHINE
    assert {status_of(item, Status.REFUTED) for item in (plain, prose, machine)} == {Status.REFUTED}
    assert status_of(plain, Status.PROVED) == Status.NOT_REFUTED, "a proof on record that is there no more"
    assert described(plain, Status.NOT_REFUTED, 1099) == "not refuted in 1,099 trials"
    assert described(plain, Status.NOT_REFUTED, 1) == "not refuted in 1 trial"
    assert described(prose, Status.PROVED, 0) == "proved (K.planted)"
    assert described(machine, Status.BY_MACHINE, 50) == "proved by machine for 2x2x2, 3x1x2"
    assert described(about("some"), Status.PROVED, 3) == "proved (by an exact case)"


def test_no_word_but_these_is_on_record():
    record = packaged()
    assert {last["status"] for last in record.searched.values()} <= set(Status) == set(MEANINGS)
    text = files("fairalloc.theorems.engine").joinpath("witnesses.json").read_text(encoding="utf-8")
    assert re.findall(r'"held"', text) == []
    for name, item in STATEMENTS.items():
        found = on_record(item, record, again=False)
        assert found.status != Status.REFUTED or item.quantifier == "one" or found.case is not None, name
        assert found.status != Status.BY_MACHINE or sizes_proved(name), name
        assert found.status != Status.NOT_REFUTED or found.trials > 0, name


def test_the_record_counts_a_witness_only_where_it_is_one():
    item, record = STATEMENTS["Z.P6"], packaged()
    broken = json.loads(json.dumps([one for one in record.witnesses if one["statement"] == "Z.P6"]))
    broken[0]["verdict"]["margin"] = 7.0
    assert on_record(item, WitnessRecord(broken, record.searched)).status == "not decided"
    assert on_record(item, record).status == "proved"
    with pytest.raises(ValueError, match="'held' is not a valid Status"):
        on_record(item, WitnessRecord([], {"Z.P6": {"status": "held", "trials": 3}}))
    assert isinstance(on_record(item, WitnessRecord()), Finding)


def test_the_page_of_a_statement_is_what_show_prints(capsys):
    record = packaged()
    assert main(["theorems", "show", "P.T2.envy", "K.L3"]) == 0
    assert capsys.readouterr().out == "".join(statement_page(STATEMENTS[name], record) + "\n" for name in ("P.T2.envy", "K.L3"))


def test_a_page_has_all_that_is_known():
    record = packaged()
    pages = {name: statement_page(item, record) for name, item in STATEMENTS.items()}
    without = {one["statement"] for one in record.witnesses if one["without"]}
    for name, page in pages.items():
        item = STATEMENTS[name]
        assert page.startswith(f"# {name}\n\n> {item.text}\n")
        assert ("## Proof\n" in page) == bool(item.proof)
        assert ("## Proof by machine\n" in page) == (name in recorded())
        assert ("## Violated without" in page) == (name in without)
        assert f"fairalloc theorems verify --id {name}\n" in page
    assert "Status: **proved (ps-dsf: envy-freeness), by machine for 2x2x2" in pages["P.T2.envy"]
    assert "The same proof, *ps-dsf: envy-freeness*, serves K.Table1.ps-dsf.envy" in pages["P.T2.envy"]
    assert "Hypotheses: one variant" in pages["P.T2.envy"]
    assert "## Witness\n\nprices move, nothing else does" in pages["K.L3"]
    assert "Status: **refuted (of a repaired text)**" in pages["K.L3"]
    assert "Status: **refuted (to the letter)**" in pages["K.L3.letter"]
    changed = replace(STATEMENTS["K.T1"], proof="other words")
    assert "Only its author has read it so far." in statement_page(changed, record)
    assert "Read on 2026-11-22 by a session that had not written it" in pages["K.T1"]
    assert "What is true instead: docs/ERRATA.md, at K.L3" in pages["K.L3"]
    assert "## Evidence\n\nexperiment K.Fig9 " in pages["K.6.2.Fig9"]


def test_no_hypothesis_excludes_its_own_witness():
    """The case that a page shows is what its judge looks at, and not a stand-in beside parameters."""
    for witness in packaged().witnesses:
        item, case = STATEMENTS[witness["statement"]], parse_case(witness["case"])
        if item.quantifier == "one" or witness["without"]:
            continue
        assert item.applies_to(case), item.id
        with pytest.raises((LookupError, FairallocError)):  # FairallocError where a mechanism asks for an instance
            item.confirm(replace(case, instance=Unread()))


class Unread:
    """An instance that must not be ignored."""

    def __getattr__(self, name):
        raise LookupError(name)


def test_every_refutation_says_how_the_words_are_read():
    record = packaged()
    read = {name: item.reading for name, item in STATEMENTS.items() if on_record(item, record, again=False).status == "refuted"}
    assert {read[name] for name in ("K.L3", "K.L4", "K.T8", "K.T8.steps")} == {"of a repaired text"}
    assert {read[name] for name in ("K.L3.letter", "K.L4.letter", "K.T8.letter", "K.E48", "Z.P3")} == {"to the letter"}
    assert read["K.6.2.deviation"] == "ours"
    assert set(read.values()) == set(get_args(Reading))
