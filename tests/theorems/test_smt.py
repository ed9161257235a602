"""Proofs by machine: some run again, false claims are refuted, and what is changed in a formula is noticed."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
import z3

from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.models.exact.rationals import exact_monopolies, global_dominant_share, task_share
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.method import now
from fairalloc.theorems.registry import all_statements, statement
from fairalloc.theorems.smt.claims import questions, smallest_size
from fairalloc.theorems.smt.game import GameFormulas
from fairalloc.theorems.smt.leximin import LeximinFormulas, layers
from fairalloc.theorems.smt.patterns import InstancePattern, patterns, report_patterns
from fairalloc.theorems.smt.prove import prove
from fairalloc.theorems.smt.reals import Question, ask, real
from fairalloc.theorems.smt.record import keep, recorded
from fairalloc.theorems.smt.requests import RequestFormulas

AT_ONCE = ("P.T2.sharing", "K.C2.sharing", "P.II-A.misreports", "W.P3", "W.P9", "Z.P5.EF", "D.S5.3.unique", "D.S5.1.satisfied")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", AT_ONCE)
def test_a_proof_runs_again(name):
    found = prove(statement(name), time_limit=30)
    assert found.verdict == "proved", found.sentence
    (kept,) = [item for item in recorded()[name] if tuple(item["size"]) == found.size]
    assert (kept["verdict"], kept["patterns"]) == ("proved", found.patterns)


@pytest.mark.parametrize("name", ["K.2.2.drfh.sharing", "P.T2.pareto", "D.S4.envy-free"])
def test_a_false_property_has_an_instance_that_is_checked(name):
    found = prove(statement(name), time_limit=30)
    assert found.verdict == "refuted"
    assert found.case.instance.N >= 2
    assert "refuted: " in found.sentence


def test_what_refutes_violates_the_statement():
    found = prove(statement("W.P4"), time_limit=30)
    assert statement("W.P4").violated(found.case).holds is False


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


def test_a_second_solver_is_asked():
    pytest.importorskip("cvc5")
    found = prove(statement("W.P2"), time_limit=30, judge=True)
    assert found.verdict == "proved"
    assert [name.split()[0] for name in found.solvers] == ["z3", "cvc5"]


def test_what_is_covered_is_what_was_asked():
    assert questions(statement("Z.P5.PO"), (3, 1, 2))[1] == "at most two demand vectors a user"
    assert questions(statement("K.T3.pareto"), (2, 2, 2))[1] == ""
    for name, items in recorded().items():
        assert all(questions(statement(name), tuple(item["size"]))[1] == item.get("covers", "") for item in items)


# ---- checkers fail where something is wrong -----------------------------------------------------------------------------


def first(name):
    asked, _ = questions(statement(name), smallest_size(statement(name)))
    return next(iter(asked))


@pytest.mark.parametrize("name", ["P.T2.sharing", "K.C2.sharing", "W.P1", "P.II-A.misreports", "Z.P5.PO", "D.S3.pareto"])
def test_the_assumptions_alone_are_satisfiable(name):
    question = first(name)
    found = ask(Question("", question.assumptions, [], question.lemmas, question.steps), now() + 20)
    assert found.outcome == "sat"


# The exact answers of the package, in the units of the formulas, satisfy formulas and lemmas; what is not an answer does not.

POSITIVE = InstancePattern(((0, 1), (0, 1)), ((0, 1), (0, 1)))
DEMANDS, CAPACITIES = [[2, 1], [1, 3]], [[4, 3], [3, 5]]


def satisfiable(formulas, numbers):
    fixed = [z3.And(*(unknown == z3.Q(*value.as_integer_ratio()) for unknown, value in numbers))]
    return ask(Question("", {"formulas": formulas, "numbers": fixed}, []), now() + 20).outcome


def in_shares(mechanism, instance, model, scale=1):
    """The numbers of an exact answer, x_n counted in shares."""
    exact = instance.exact
    share = {"drfh": global_dominant_share, "tsf": task_share}[mechanism](instance)
    size = [sum(c[r] for c in exact.capacities) for r in range(instance.R)]
    rate = [sigma / w for sigma, w in zip(share, exact.weights, strict=True)]
    x = solve(instance, mechanism, "exact").x_exact
    tasks = zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), x, strict=True)
    yield from ((model.x[n, i], v * rate[n] * scale) for n, i, v in tasks)
    yield from ((v, exact.demands[n][0][r] / rate[n] / size[r]) for (n, r), v in model.a.items())
    yield from ((v, exact.capacities[i][r] / size[r]) for (i, r), v in model.c.items())
    yield from zip(model.phi, exact.weights, strict=True)


@pytest.mark.parametrize("mechanism", ["drfh", "tsf"])
@pytest.mark.parametrize("weights", [[1, 1], [2, 3]])
def test_exact_lexicographic_answers_satisfy_the_formulas(mechanism, weights):
    instance, model = Instance(DEMANDS, CAPACITIES, weights=weights), LeximinFormulas(POSITIVE, 2, 2)
    whole = {(0, 0): z3.Q(1, 100), (1, 1): z3.Q(1, 100)}
    said = [*model.shares(mechanism), *model.feasible(), *model.exchange(whole), *model.exchange({})]
    for order in layers(2):
        answer = [*said, *model.ordered(order), *model.priced(order)]
        assert satisfiable(answer, in_shares(mechanism, instance, model)) == ("sat" if order == [[0, 1]] else "unsat")
        assert satisfiable(answer, in_shares(mechanism, instance, model, Fraction(9, 10))) == "unsat"


def in_parts(instance, model, scale=1):
    """The numbers of an exact PS-DSF allocation, x_n = phi_n."""
    exact, arcs = instance.exact, instance.arcs
    x = [v * scale for v in solve(instance, "ps-dsf", "exact").x_exact]
    pairs = list(zip(arcs.user.tolist(), arcs.server.tolist(), exact_monopolies(instance), x, strict=True))
    tasks = [sum(v for m, _, _, v in pairs if m == n) for n in range(instance.N)]
    yield from zip(model.phi, exact.weights, strict=True)
    for n, i, gamma, v in pairs:
        yield from ((model.y[n, i], v / gamma), (model.g[n, i], gamma * exact.weights[n] / tasks[n]))
        yield from ((model.w[n, i, r], gamma * exact.demands[n][0][r] / exact.capacities[i][r]) for r in range(instance.R))


@pytest.mark.parametrize("weights", [[1, 1], [2, 3]])
def test_an_exact_ps_dsf_allocation_satisfies_the_formulas(weights):
    instance, model = Instance(DEMANDS, CAPACITIES, weights=weights), GameFormulas(POSITIVE, 2, 2)
    said = [f for formulas in model.instance().values() for f in formulas] + model.ps_dsf()
    assert satisfiable([*said, *model.same_demands()[0]], in_parts(instance, model)) == "sat"
    assert satisfiable(said, in_parts(instance, model, Fraction(9, 10))) == "unsat"


@pytest.mark.parametrize("alpha", [1, 2])
def test_an_equilibrium_by_hand_satisfies_the_formulas_and_lemmas(alpha):
    """Demands (1, 1/2) and (1/2, 1) of a server (1, 1): 2/3 of a task each, at prices 1/2."""
    model = GameFormulas(InstancePattern(((0,), (0,)), ((0, 1), (0, 1))), 1, 2)
    game_, lemmas = model.equilibrium()
    powers = [real(f"k{a}") == (real(f"h{a}") if alpha == 1 else real(f"h{a}") ** 2) for a in model.pattern.arcs]
    said = [*(f for formulas in model.instance().values() for f in formulas), *game_, *lemmas, *powers]
    parts = {(n, 0, r): Fraction(1, 1 + (n != r)) for n in range(2) for r in range(2)}
    numbers = [(v, parts[key]) for key, v in model.w.items()]
    numbers += [(v, Fraction(2, 3)) for v in model.y.values()] + [(v, Fraction(1)) for v in model.phi]
    assert satisfiable(said, [*numbers, *((v, Fraction(3, 2)) for v in model.g.values())]) == "sat"
    unequal = [(model.y[0, 0], Fraction(1)), (model.y[1, 0], Fraction(0))]
    assert satisfiable(said, unequal) == "unsat"


def test_an_njc_allocation_satisfies_the_formulas():
    """One resource, e = (1/3, 1/3, 1/3), requests of all of it by two users; the third requests the other resource."""
    model = RequestFormulas(InstancePattern(((0,),) * 3, ((0,), (0,), (1,))), 2)
    numbers = [*((v, Fraction(1)) for v in model.r.values()), *((e, Fraction(1, 3)) for e in model.e)]
    for x, outcome in (((1, 2, 3), "sat"), ((1, 1, 3), "unsat"), ((0, 3, 3), "unsat")):
        at = [(v, Fraction(part, 3)) for v, part in zip(model.x, x, strict=True)]
        assert satisfiable([*model.instance()["entitlements"], *model.fair(model.x)], [*numbers, *at]) == outcome


def test_without_the_bottlenecks_nothing_is_proved():
    question = first("P.T2.sharing")
    left = {key: value for key, value in question.assumptions.items() if key != "bottlenecks"}
    assert ask(Question("", left, question.violation), now() + 20).outcome == "sat"


def test_a_changed_definition_is_noticed(monkeypatch):
    """Bottlenecks at which others may have more: everybody just meets a full resource."""

    def full(self):
        return [z3.Or(*(self.load[i, r] == 1 for r in self.pattern.demanded[n])) for n, i in self.pattern.arcs]

    monkeypatch.setattr(GameFormulas, "ps_dsf", full)
    assert prove(statement("P.T2.sharing"), time_limit=2).verdict == "unknown"


def test_a_changed_property_is_noticed():
    """The part of every server that user 1 has, without the inequality that it runs fewer tasks than with this."""
    question = first("K.2.1.sharing")
    assert ask(Question("", question.assumptions, question.violation[:-1]), now() + 20).outcome == "sat"


def test_a_query_is_decided_until_its_deadline():
    x = real("x")
    asked = Question("", {"a square": [x * x == 2]}, [x > 2])
    assert ask(asked, now() + 10).outcome == "unsat"
    assert ask(Question("", {"a square": [x * x == 2]}, [x > 1], data={"x": x}), now() + 10).values["x"] ** 2 == pytest.approx(2)
    assert ask(asked, now() - 1).outcome == "unknown"


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
    keep([prove(statement("P.T2.sharing"), time_limit=30)], kept)
    assert len(json.loads(kept.read_text())["proofs"]) == 1
    assert main(["theorems", "show", "P.T2.sharing"]) == 0
    assert "in exact arithmetic.\n\n- proved for all instances of size 2x2x2" in capsys.readouterr().out
    assert main(["theorems", "prove", "W.P4"]) == 1
    assert "Instance(" in capsys.readouterr().out


def test_a_size_that_is_none_is_named(capsys):
    assert main(["theorems", "prove", "P.T2.sharing", "--size", "2by2"]) == 2
    assert "users x servers x resources" in capsys.readouterr().err


def test_of_several_statements_those_with_formulas_are_proved(capsys):
    """K.T3 stands for four statements, of which one has no formulas; named in full, this is said, and nothing is written."""
    assert main(["theorems", "prove", "K.T3", "--property", "pareto", "--property", "total-envy-freeness"]) == 0
    shown = capsys.readouterr()
    assert "K.T3.pareto" in shown.out
    assert "1 of 2 statements are left out: there is nothing of them to prove" in shown.err
    assert main(["theorems", "prove", "K.T3.envy.letter"]) == 2
    assert "cannot be proved by machine at 2x2x2: there are no formulas for it" in capsys.readouterr().err


def test_the_command_line_says_that_z3_is_missing():
    code = (
        "import sys; sys.modules['z3'] = None; from fairalloc.cli import main; sys.exit(main(['theorems', 'prove', 'K.T3.envy']))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    said = "fairalloc: this needs z3, which is not installed: pip install fairalloc[smt]\n"
    assert (ended.returncode, ended.stderr) == (2, said)


def test_the_record_is_about_statements():
    assert set(recorded()) <= set(all_statements())
