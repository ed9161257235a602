"""What is known of a statement, in one word from one place, and the page that says it."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from math import inf, nan
from typing import get_args

import pytest

from fairalloc.analysis.verdict import Verdict
from fairalloc.cli import main
from fairalloc.models.errors import FairallocError
from fairalloc.theorems import statement as status
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.pages import instead, statement_page
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import WitnessRecord, on_record, packaged
from fairalloc.theorems.smt.record import recorded, sizes_proved
from fairalloc.theorems.statement import (
    FLOATING_POINT,
    MEANINGS,
    READINGS,
    Finding,
    Reading,
    Status,
    described,
    parse_verdict,
    status_by_case,
    status_of,
    verdict_document,
)
from fairalloc.theorems.titles import shortened, title_of

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
    text = files("fairalloc.theorems.search").joinpath("witnesses.json").read_text(encoding="utf-8")
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
        title, subtitle, *_ = page.split("\n\n")
        assert title == f"# {title_of(item, on_record(item, record, again=False).status)}"
        assert subtitle.startswith(f"`{name}`, {item.place.rstrip('.')}. Status: **"), "no two full stops"
        assert f"\n\n> {item.text}\n\n" in page
        assert ("## Proof\n" in page) == bool(item.proof)
        assert ("- Status: by a proof in prose" in page) == bool(item.proof and "Status: **proved (" in page), name
        assert ("## Proof by machine\n" in page) == (name in recorded())
        assert ("## Violated without" in page) == (name in without)
        assert f"fairalloc theorems verify --id {name}\n" in page
    assert "Status: **proved (ps-dsf: envy-freeness), by machine for 2x2x2" in pages["P.T2.envy"]
    assert "The same proof, *ps-dsf: envy-freeness*, serves K.Table1.ps-dsf.envy" in pages["P.T2.envy"]
    assert "Hypotheses: one variant" in pages["P.T2.envy"]
    assert "## Witness\n\nnothing but prices with dPsi/dlambda = 0 moves" in pages["K.L3"]
    assert "Status: **refuted (of a repaired text)**" in pages["K.L3"]
    assert "Status: **refuted (to the letter)**" in pages["K.L3.letter"]
    assert "Only its author has read it so far." in statement_page(replace(STATEMENTS["K.T1"], proof="because"), record)
    assert "Read on 2026-11-22 by a session that had not written it" in pages["K.T1"]
    assert "What is true instead: v is a strict descent direction for alpha = 1, and with one server;" in pages["K.L3"]
    assert " More: docs/papers/errata.md, at K.L3\n" in pages["K.L3"]
    assert "- Reading: of a repaired text, a text without another slip" in pages["K.L3"]
    order = [pages["K.T3.envy"].index(f"## {head}\n") for head in ("Proof", "Letters", "Definition", "Proof by machine")]
    assert order == sorted(order), "a reader sees the proof before code"
    assert "Unknowns are explained at the head of `game.py`" in pages["K.T3.envy"]
    assert "Mechanism: ps-dsf, per-server dominant-share fairness: a bottleneck for every user" in pages["P.T2.envy"]
    assert "Property: envy-freeness: Nobody could run more with another's bundles" in pages["P.T2.envy"]
    assert "Paper: P, Khamse-Ashari, Lambadaris, Kesidis, Urgaonkar, Zhao, Per-Server Dominant-Share" in pages["P.T2.envy"]
    assert "that is: each user has one demand vector; a user's demands are the same on all servers" in pages["P.T2.envy"]
    assert "user 'u2' runs 1/7 tasks more in its worst allocation than in its best before" in pages["P.T2.misreports"]
    assert "## Evidence\n\nexperiment K.Fig13 " in pages["K.6.3.Fig13"]


def test_a_page_of_d_says_what_entitlements_and_requests_are():
    """They are weights and limits, and its proofs need e > 0, which no page had said."""
    zero, positive = (statement_page(STATEMENTS[name], packaged()) for name in ("D.S5.3.unique-zero", "D.S5.3.unique"))
    assert "Entitlements e_i are weights divided by their sum. User i requests `max_tasks[i]` tasks" in zero
    assert "Tried with: unentitled in 0, 1; `unentitled` of the last users are entitled to nothing" in zero
    assert ("all are entitled to something" in zero, "all are entitled to something" in positive) == (False, True)
    assert "Entitlements" not in statement_page(STATEMENTS["Z.T2.leftovers"], packaged())


def test_what_is_true_instead_is_said_of_every_refutation_and_leads_to_what_is_not_refuted():
    record = packaged()
    status = {name: on_record(item, record, again=False).status for name, item in STATEMENTS.items()}
    refuted = {name for name, known in status.items() if known == Status.REFUTED}
    told = {name: instead()[name] for name in STATEMENTS if instead().get(name)}
    assert told.keys() == refuted
    for name, text in told.items():
        assert text.endswith("."), name
        for led in re.findall(r"(?<![\w.])([A-Z](?:\.[\w-]+)+)", text):
            assert status[led] != Status.REFUTED, f"{name} leads to {led}"
            assert led != name


@pytest.mark.deep
def test_every_page_leads_to_its_neighbours():
    record, names = packaged(), list(STATEMENTS)
    for k, name in enumerate(names):
        around = [f"Previous: {names[k - 1]}"] * (k > 0) + [f"Next: {one}" for one in names[k + 1 : k + 2]]
        assert statement_page(STATEMENTS[name], record).endswith(f"\n{' · '.join(around)}\n")


def test_titles_are_in_words_and_true():
    record = packaged()
    titles = {name: title_of(item, on_record(item, record, again=False).status) for name, item in STATEMENTS.items()}
    assert titles["P.T2.misreports"] == "PS-DSF is not strategyproof"
    assert titles["K.T3.envy"] == "alpha-PF-VDS is envy-free for alpha >= 1"
    assert titles["K.3.3.below.envy"] == "alpha-PF-VDS is not envy-free for alpha < 1"
    assert titles["Z.T1"] == "LMMF is strategyproof with one server, with equal weights, for demands that sum to 1"
    assert titles["P.II-A.misreports"] == "DRF is strategyproof"
    assert titles["K.T7"].startswith("Not decided: With alpha_i >= 1")
    assert title_of(STATEMENTS["P.T2.sharing"], Status.NOT_REFUTED) == "Does PS-DSF provide the sharing incentive?"
    assert title_of(STATEMENTS["P.T2.envy"], Status.NOT_DECIDED) == "Is PS-DSF envy-free?"
    for name, title in titles.items():
        status = on_record(STATEMENTS[name], record, again=False).status
        assert name not in title
        assert not title.endswith(".")
        assert status != Status.REFUTED or title.startswith("Refuted: ") or " not " in title, name


def test_a_text_is_shortened_at_the_end_of_a_word():
    assert [shortened("one two three", most) for most in (13, 12, 8, 7, 2)] == [
        "one two three",
        "one two…",
        "one two…",
        "one…",
        "o…",
    ]


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
    assert {read[name] for name in ("K.6.2.deviation", "P.II-A.utilization")} == {"ours"}
    assert set(read.values()) == set(get_args(Reading)) == set(READINGS)


@pytest.mark.parametrize(
    ("letter", "repaired"),
    [
        ("Z.L4.leftovers", ("Z.L4", "Z.T1.case3", "Z.VI.SP")),
        ("Z.T1.leftovers", ("Z.T1", "Z.T1.GSP", "Z.T1.pivot")),
        ("Z.T2.leftovers", ("Z.T2", "Z.VI.EF.common")),
        ("K.T3.envy.letter", ("K.T3.envy", "K.3.4.mixed.envy", "K.C2.envy")),
        ("P.T2.envy.letter", ("P.T2.envy", "K.Table1.ps-dsf.envy")),
        ("W.E6.printed", ("W.E6",)),
        ("Z.P3", ("Z.P3.true", "Z.P1", "Z.V.LMMF.CE", "Z.V.LMMF.LMMF")),
    ],
)
def test_a_proof_of_what_is_refuted_to_the_letter_says_that_the_text_is_repaired(letter, repaired):
    """Both were "to the letter", and no page of a proof said how the print is read."""
    assert on_record(STATEMENTS[letter], packaged(), again=False).status == "refuted"
    for name in repaired:
        item = STATEMENTS[name]
        assert on_record(item, packaged(), again=False).status == "proved", name
        assert f"- Reading: of a repaired text, {READINGS['of a repaired text']}\n" in statement_page(item, packaged()), name
        assert item.note or name == "Z.P3.true", name
    assert "Reading:" not in statement_page(STATEMENTS["Z.C3"], packaged())


@pytest.mark.parametrize("margin", [-inf, nan, inf, 0.5])
def test_a_margin_comes_back_from_json(margin):
    """That of a confirmed experiment, minus infinity, came back as the largest violation."""
    kept = json.loads(json.dumps(verdict_document(Verdict("a", None, margin, "b", "c")), allow_nan=False))
    assert str(parse_verdict(kept).margin) == str(margin)
