"""Proofs by machine: some run again, false claims are refuted, and what is changed in a formula is noticed."""

import json

import pytest
import z3

from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.solvers.method import now
from fairalloc.theorems.machine import game
from fairalloc.theorems.machine.claims import questions, smallest_size
from fairalloc.theorems.machine.patterns import InstancePattern, patterns, report_patterns
from fairalloc.theorems.machine.prove import prove
from fairalloc.theorems.machine.reals import Question, ask, real
from fairalloc.theorems.machine.record import keep, recorded
from fairalloc.theorems.registry import all_statements, statement

AT_ONCE = ("P.T2.sharing", "P.T2.envy", "P.T2.bottleneck", "K.C2.sharing", "K.C2.envy", "P.II-A.misreports", "W.P1", "W.P2")


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_proof_runs_again(name):
    found = prove(statement(name), seconds=30)
    assert found.verdict == "proved", found.sentence
    (kept,) = [item for item in recorded()[name] if tuple(item["size"]) == found.size]
    assert (kept["verdict"], kept["patterns"]) == ("proved", found.patterns)


@pytest.mark.parametrize("name", ["K.2.2.drfh.sharing", "W.P4"])
def test_a_false_property_has_an_instance_that_is_checked(name):
    found = prove(statement(name), seconds=30)
    assert found.verdict == "refuted"
    assert statement(name).violated(found.case).holds is False


def test_no_verdict_contradicts_the_statements():
    proved = {name for name, items in recorded().items() if any(item["verdict"] == "proved" for item in items)}
    refuted = {name for name, items in recorded().items() if any(item["verdict"] == "refuted" for item in items)}
    assert not proved & refuted
    for name in proved:
        assert statement(name).quantifier == "all"
    for name in refuted:
        assert not statement(name).proof


def test_at_least_forty_universal_claims_are_proved():
    proved = [item for items in recorded().values() for item in items if item["verdict"] == "proved"]
    large = {item["statement"] for item in proved if tuple(item["size"]) in ((2, 2, 2), (3, 1, 2), (3, 2, 2))}
    assert len(large) >= 40


# ---- checkers fail where something is wrong -----------------------------------------------------------------------------


def first(name):
    asked, _ = questions(statement(name), smallest_size(statement(name)))
    return next(iter(asked))


@pytest.mark.parametrize("name", ["P.T2.sharing", "P.T2.envy", "K.C2.sharing", "W.P1", "P.II-A.misreports"])
def test_the_assumptions_alone_are_satisfiable(name):
    question = first(name)
    found = ask(Question("", question.assumptions, [], question.lemmas), now() + 20)
    assert found.outcome == "sat"


def test_without_the_bottlenecks_nothing_is_proved():
    question = first("P.T2.sharing")
    left = {key: value for key, value in question.assumptions.items() if key != "bottlenecks"}
    assert ask(Question("", left, question.violation), now() + 20).outcome == "sat"


def test_a_changed_definition_is_noticed(monkeypatch):
    """Bottlenecks at which others may have more: everybody just meets a full resource."""

    def full(self):
        return [z3.Or(*(self.load[i, r] == 1 for r in self.pattern.demanded[n])) for n, i in self.pattern.arcs]

    monkeypatch.setattr(game.GameFormulas, "ps_dsf", full)
    assert prove(statement("P.T2.sharing"), seconds=2).verdict == "unknown"


def test_a_changed_property_is_noticed():
    """The part of every server that user 1 has, without the inequality that it runs fewer tasks than with this."""
    question = first("K.2.1.sharing")
    assert ask(Question("", question.assumptions, question.violation[:-1]), now() + 20).outcome == "sat"


def test_a_query_is_split_and_every_part_counts():
    x = real("x")
    split = Question("", {"a square": [x * x == 2]}, [x > 2], splits=[[x >= 0, x < 0]])
    assert ask(split, now() + 10).outcome == "unsat"
    assert ask(Question("", {"a square": [x * x == 2]}, [x > 1], data={"x": x}), now() + 10).values["x"] ** 2 == pytest.approx(2)
    assert ask(split, now() - 1).outcome == "unknown"


def test_the_core_names_what_was_needed():
    x = real("x")
    asked = Question("", {"used": [x >= 1], "idle": [real("y") >= 0]}, [x <= 0])
    assert ask(asked, now() + 10, core=True).core == {"used"}


# ---- patterns -----------------------------------------------------------------------------------------------------------


def test_every_pattern_is_in_one_class():
    """Of 81 patterns of two users, servers and resources, counted with Burnside's lemma: (81 + 9 + 9 + 1) / 4."""
    assert len(list(patterns((2, 2, 2), 2))) == 25
    assert list(patterns((2, 2, 2), 2, positive=True, everywhere=True)) == [InstancePattern(((0, 1), (0, 1)), ((0, 1), (0, 1)))]


def test_a_resource_that_everybody_demands_keeps_its_place():
    assert all(0 in own for pattern in patterns((2, 1, 2), 1, common=True) for own in pattern.demanded)


def test_reports_that_cannot_pay_are_left_out():
    truth = InstancePattern(((0,), (0, 1)), ((0, 1), (0,)))
    assert {str(report) for report in report_patterns(truth, (2, 2, 2))} == {
        "servers 12 12, resources 12 1",
        "servers 1 12, resources 12 1",
    }


# ---- what is refused, and the command line --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        ("W.P1", (1, 2, 2), "at least 2 users"),
        ("K.2.1.envy", (2, 2, 2), "one server"),
        ("K.T7", (2, 2, 2), "no set of instances"),
        ("W.S5.1.P1", (2, 2, 2), "limits"),
        ("K.4.4.bounded", (2, 2, 2), "no formulas"),
    ],
)
def test_what_cannot_be_asked_is_refused(name, size, words):
    with pytest.raises(NotApplicable, match=words):
        prove(statement(name), size)


def test_a_size_of_nothing_is_refused():
    with pytest.raises(InstanceError, match="the size is"):
        prove(statement("W.P1"), (2, 0, 2))


def test_the_command_line_proves_keeps_and_shows(tmp_path, capsys):
    kept = tmp_path / "record.json"
    assert main(["theorems", "prove", "P.T2.sharing", "--size", "2x2x2", "--keep", str(kept)]) == 0
    assert "proved for all instances of size 2x2x2" in capsys.readouterr().out
    (item,) = json.loads(kept.read_text())["proofs"]
    assert (item["statement"], item["size"], item["verdict"]) == ("P.T2.sharing", [2, 2, 2], "proved")
    keep([prove(statement("P.T2.sharing"), seconds=30)], kept)
    assert len(json.loads(kept.read_text())["proofs"]) == 1
    assert main(["theorems", "show", "P.T2.sharing"]) == 0
    assert "by machine: proved for all instances of size 2x2x2" in capsys.readouterr().out
    assert main(["theorems", "prove", "W.P4"]) == 1
    assert "Instance(" in capsys.readouterr().out


def test_a_size_that_is_none_is_named(capsys):
    assert main(["theorems", "prove", "P.T2.sharing", "--size", "2by2"]) == 2
    assert "users x servers x resources" in capsys.readouterr().err


def test_the_record_is_about_statements():
    assert set(recorded()) <= set(all_statements())
