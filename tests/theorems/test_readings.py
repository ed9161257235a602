"""Proofs that somebody else than their author read, as they are now."""

import json
from dataclasses import replace
from importlib.resources import files

from fairalloc.theorems.ours import ours
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import packaged
from fairalloc.theorems.statement import Proof, keep_readings

STATEMENTS = {**all_statements(), **ours()}


def test_every_proof_was_read():
    assert sum(bool(item.proof) for item in STATEMENTS.values()) > 150
    assert not {name for name, item in STATEMENTS.items() if item.proof and not item.proof_read}, "changed since: read it again"
    assert all("by a session that had not written" in item.proof_read for item in STATEMENTS.values() if item.proof_read)
    assert STATEMENTS["K.L2"].proof_read == "", "it has no proof"


def test_a_page_says_who_read_the_proof():
    """A page said that a second reader had checked it, and below that only its author had read it."""
    item, checked = STATEMENTS["K.T1"], "a second reader has checked"
    assert checked in statement_page(item, packaged())
    assert checked not in statement_page(replace(item, proof=f"{item.proof} And so on."), packaged())


def test_a_proof_that_was_changed_counts_as_not_read():
    item = STATEMENTS["K.T1"]
    assert replace(item, proof=f"{item.proof} And so on.").proof_read == ""
    assert replace(item, id="K.T9").proof_read == ""


def test_a_reading_takes_the_place_of_an_earlier_one(tmp_path):
    path = tmp_path / "readings.json"
    keep_readings({"K.T1": STATEMENTS["K.T1"].proof}, "2026-11-22", "by one: all", path)
    first = json.loads(path.read_text())["readings"]
    assert first["K.T1"] == json.loads(files("fairalloc.theorems").joinpath("readings.json").read_text())["readings"]["K.T1"]
    keep_readings({"K.T1": "other words", "K.T2.limit": Proof("a name", "because")}, "2026-11-23", "by another: all", path)
    document = json.loads(path.read_text())
    assert document["readers"] == {"2026-11-22": "by one: all", "2026-11-23": "by another: all"}
    second = document["readings"]
    assert [day for day, _ in second.values()] == ["2026-11-23"] * 2
    assert second["K.T1"] != first["K.T1"]
