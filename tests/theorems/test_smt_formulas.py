"""Formulas of Problem 3, of K Theorem 4 and of lmmf: answers satisfy them, what is changed in them is noticed."""

from fractions import Fraction

import pytest
import z3

from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.method import now
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements, statement
from fairalloc.theorems.search.witnesses import packaged
from fairalloc.theorems.smt.claims import questions
from fairalloc.theorems.smt.game import GameFormulas, MeritFormulas
from fairalloc.theorems.smt.leximin import TaskFormulas
from fairalloc.theorems.smt.patterns import InstancePattern, patterns
from fairalloc.theorems.smt.prove import prove
from fairalloc.theorems.smt.reals import Question, ask, real
from fairalloc.theorems.smt.record import WITHOUT_FORMULAS, recorded

ONE_ARC = InstancePattern(((0,),), ((0,),))


def outcome(*formulas):
    return ask(Question("", {"formulas": formulas}, []), now() + 20).outcome


def at(unknowns, values):
    return [unknown == z3.Q(*Fraction(value).as_integer_ratio()) for unknown, value in zip(unknowns, values, strict=True)]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["K.T4", "K.T6", "K.L4.priced", "Z.T1.GSP", "Z.T2"])
def test_a_proof_runs_again(name):
    found = prove(statement(name), time_limit=30)
    assert found.verdict == "proved", found.sentence
    (kept,) = recorded()[name]
    assert (kept["patterns"], kept["covers"]) == (found.patterns, found.covers)


def test_coalitions_are_of_any_number_of_users_and_one_round_is_asked_without_a_user_too():
    asked = {item: questions(statement(item), (3, 1, 2))[0] for item in ("Z.T1.GSP", "W.S3.4.drf.population-monotonicity")}
    assert [one.pattern.split()[0] for one in asked["Z.T1.GSP"]][1:] == ["1", "2", "3"]
    assert min(one.pattern.count("12") for one in asked["W.S3.4.drf.population-monotonicity"]) == 2
    assert sum(1 for _ in questions(statement("W.P3"), (3, 2, 2))[0]) == 2 * 3


def test_the_core_names_the_hypothesis_that_is_needed():
    """After another proof: in one context of z3 with the formulas of that one K.T4 would not be decided."""
    for name in ("P.T2.sharing", "K.T4"):
        found = prove(statement(name), time_limit=30, core=True)
        assert found.verdict == "proved", found.sentence
    assert "a dominant resource at each server" in found.needed
    assert "a dominant resource at each server" in statement_page(statement("K.T4"), packaged())


def test_most_proofs_were_confirmed_by_a_second_solver():
    proved = [item for items in recorded().values() for item in items if item["verdict"] == "proved"]
    assert sum(len(item["solvers"]) == 2 for item in proved) > len(proved) / 2


# ---- no idle server -----------------------------------------------------------------------------------------------------


def test_patterns_without_an_idle_server():
    kept = list(patterns((2, 2, 2), 2, used=True))
    assert all(pattern.at(i) for pattern in kept for i in (0, 1))
    assert len(kept) < len(list(patterns((2, 2, 2), 2)))


@pytest.mark.parametrize("name", ["K.2.2.drfh.sharing"])
def test_what_refutes_satisfies_the_hypotheses(name):
    found = prove(statement(name), time_limit=30)
    assert found.verdict == "refuted"
    assert statement(name).hypotheses.no_idle_server
    assert statement(name).applies_to(found.case)


# ---- Problem 3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "f", "e"), [(3, 4, -2), (3, -4, 6), (0, 2, 0), (-3, 4, 4)])
def test_a_point_of_the_merit_function(x, f, e):
    """Psi is half the square of e = sqrt(x^2 + f^2) - x - f; its derivatives at (3, 4) are -2 (3/5 - 1) and -2 (4/5 - 1)."""
    model, arc = MeritFormulas(ONE_ARC, 1, 1), (0, 0)
    point = at([model.x[arc], model.f[arc]], [x, f])
    assert outcome(*model.root(arc), *point, model.e[arc] == e) == "sat"
    assert outcome(*model.root(arc), *point, model.e[arc] == e + 1) == "unsat"
    if (x, f) == (3, 4):
        slopes = at([model.a[arc], model.b[arc]], ["4/5", "2/5"])
        assert outcome(*model.root(arc), *model.derivatives(arc), *point, *slopes) == "sat"
        assert outcome(*model.root(arc), *model.derivatives(arc), *point, slopes[0], model.b[arc] == 1) == "unsat"


def test_a_wrong_sign_in_the_gradient_is_noticed():
    model, arc = MeritFormulas(ONE_ARC, 1, 1), (0, 0)
    assert outcome(*model.root(arc), *model.derivatives(arc), z3.Not(model.signs(arc))) == "unsat"
    assert outcome(*model.root(arc), *model.derivatives(arc), z3.Not(model.a[arc] * model.b[arc] > 0)) == "sat"


def test_without_the_lemmas_of_one_arc_nothing_is_proved():
    model = MeritFormulas(InstancePattern(((0, 1), (0,)), ((0,), (0,))), 2, 1)
    for violation, lemmas in (model.other_solutions(), model.unstationary()):
        assert outcome(*violation, *lemmas) == "unsat"
        assert outcome(*violation) == "sat"


def test_a_resource_without_a_price_may_stop_the_algorithm():
    """K Lemma 4 needs beta = 0, which (47) gives where the price is positive: without that the gradient need not be 0."""
    model = MeritFormulas(InstancePattern(((0,), (0,)), ((0,), (0,))), 1, 1)
    violation, lemmas = model.stuck((0,))
    assert outcome(*violation, *lemmas) == "unsat"
    assert outcome(*violation[:2], *violation[3:], *lemmas) == "sat"


# ---- K Theorem 4 --------------------------------------------------------------------------------------------------------


def test_full_and_least_served_is_what_ps_dsf_does_at_bottlenecks():
    """Two users of one server: half of it for each is best, and a third is not."""
    model = GameFormulas(InstancePattern(((0,), (0,)), ((0, 1), (0,))), 1, 2)
    said = [f for formulas in model.instance().values() for f in formulas] + model.dominant_everywhere()
    equal = at([*model.y.values(), *model.g.values(), *model.phi], ["1/2", "1/2", 2, 2, 1, 1])
    assert outcome(*said, model.least_served(), *model.ps_dsf(), *equal) == "sat"
    unequal = at([*model.y.values(), *model.g.values(), *model.phi], ["1/3", "2/3", 3, "3/2", 1, 1])
    assert outcome(*said, *unequal) == "sat"
    assert outcome(*said, z3.Not(model.least_served()), z3.Not(z3.And(*model.ps_dsf())), *unequal) == "sat"
    assert outcome(*said, model.least_served(), *unequal) == "unsat"


# ---- lmmf ---------------------------------------------------------------------------------------------------------------


def test_exact_answers_of_lmmf_satisfy_the_definition():
    """Of the truth and of a report, at each other's tasks; what nobody should be content with does not."""
    instance = Instance([[["1/2", "1/2"]], [[1, 0], ["1/4", "3/4"]]], [[2, 1]])
    fair = solve(instance, "lmmf", "exact").tasks_exact
    model = TaskFormulas(2, 2)
    said = [*model.simplex(), *at(model.tasks, fair)]
    assert outcome(*said, *model.exchange([z3.RealVal(0)] * 2), *model.exchange(model.tasks)) == "sat"
    more = [model.tasks[0] + 1, model.tasks[1]]
    assert outcome(*said, *model.exchange(more)) == "unsat"


@pytest.mark.parametrize("name", ["envy", "gain"])
def test_without_simplex_demands_nothing_is_proved(name, monkeypatch):
    """Tasks of which it is not known how much they take."""

    def refuted():
        model, report = TaskFormulas(3, 2), TaskFormulas(3, 2, "'")
        violation, _, definition = model.envy() if name == "envy" else model.gain(report, 1)
        return outcome(*model.simplex(), *report.simplex(), *violation, *definition)

    assert refuted() == "unsat"
    monkeypatch.setattr(TaskFormulas, "worth", lambda _, packing: [real(f"worth of {row}") for row in packing])
    assert refuted() == "sat"


def test_what_a_user_holds_is_worth_no_more_to_others():
    model = TaskFormulas(2, 3)
    assert outcome(*model.simplex(), *model.too_many()) == "unsat"
    *fits, more = model.too_many()
    assert outcome(*model.simplex(), *fits, z3.Not(more), real("any") == 0) == "sat"


# ---- what has no formulas -----------------------------------------------------------------------------------------------


def test_why_there_are_no_formulas_is_said():
    assert not set(WITHOUT_FORMULAS) & set(recorded())
    for name, reason in WITHOUT_FORMULAS.items():
        item = all_statements()[name]
        with pytest.raises(NotApplicable) as caught:
            questions(item, (3, 1, 2) if item.hypotheses.one_server else (2, 2, 2))
        assert str(caught.value).endswith(reason)
