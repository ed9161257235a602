"""Verdicts over all answers of a mechanism: for all, for some, or for the answer of a method."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tolerances import AMPLE

from fairalloc.analysis.properties import Misreport, check_mechanism
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict, for_the_answer_of
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.cells import cells_of, columns_of, evidence
from fairalloc.theorems.checkers import answers
from fairalloc.theorems.checkers.answers import gaining_for_every_choice, over_answers
from fairalloc.theorems.checkers.game import ALGORITHM, about_equilibria, about_ps_dsf
from fairalloc.theorems.checkers.trials import property_judge
from fairalloc.theorems.claims import claim
from fairalloc.theorems.ours import ours
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import investigate
from fairalloc.theorems.search.our_cells import known_cases, known_cells
from fairalloc.theorems.search.witnesses import on_record, packaged
from fairalloc.theorems.statement import Status, answers_known, parse_finding, weakest

F = Fraction
TWO = example("two-answers").instance
STATEMENTS = all_statements()


def allocation(instance, *x, exact=True):
    """A PS-DSF allocation with these tasks on the arcs."""
    rational = tuple(F(v) for v in x)
    return Allocation(instance, np.array([float(v) for v in x]), "ps-dsf", "mine", x_exact=rational if exact else None)


def judged(name, *x, exact=True):
    """The verdict over all answers of the example with two, where the method's answer is x."""
    return over_answers(property_judge(name), name)(Case(TWO), lambda _: allocation(TWO, *x, exact=exact))


@pytest.mark.parametrize("exact", [True, False])
def test_what_some_answers_lack(exact):
    """(2, 2, 2, 2) is Pareto optimal, and all other answers are not: the method's own answer does not decide."""
    best, worst = judged("pareto", 2, 2, 2, 2, exact=exact), judged("pareto", 3, 0, 0, 3, exact=exact)
    assert (best.holds, best.answers) == (worst.holds, worst.answers) == (False, FOR_SOME)
    assert solution_set(TWO, "ps-dsf").contains(best.witness["answer"])
    assert best.finding() == "fails for some"
    alone = property_judge("pareto")(Case(TWO), lambda _: allocation(TWO, 2, 2, 2, 2))
    assert alone.holds, "which the set corrects"


@pytest.mark.parametrize("name", ["envy-freeness", "sharing-incentive"])
def test_what_all_answers_have(name):
    verdict = judged(name, 3, 0, 0, 3)
    assert (verdict.holds, verdict.answers) == (True, FOR_ALL)
    found = solution_set(TWO, "ps-dsf")
    margins = [property_judge(name)(Case(TWO), lambda _, x=x: allocation(TWO, *x)).margin for x in found.vertices]
    assert verdict.margin == max(margins)


def test_what_no_answer_has():
    """All PS-DSF allocations of the case that refutes P's Pareto optimality are dominated, not only the one that is shown."""
    (witness,) = (one for one in packaged().witnesses if one["statement"] == "P.T2.pareto")
    verdict = STATEMENTS["P.T2.pareto"].violated(parse_case(witness["case"]))
    assert verdict.finding() == "fails for all"
    assert witness["verdict"]["answers"] == FOR_ALL


def test_a_point_that_is_no_answer_counts_for_nothing(monkeypatch):
    """A list with a wrong vertex, at which the property fails, refutes nothing."""
    found = solution_set(TWO, "ps-dsf")
    wrong = tuple(v - F(1, 2) for v in (2, 2, 2, 2))
    pieces = (replace(found.pieces[0], vertices=(wrong, (F(2),) * 4)),)
    monkeypatch.setattr(answers, "set_of", lambda *_: replace(found, pieces=pieces))
    assert judged("pareto", 2, 2, 2, 2).holds


def test_parameters_by_the_name_of_a_server_have_a_set():
    """The cache hashed them: TypeError."""
    everywhere_inf = {"alpha": dict.fromkeys(TWO.servers, "inf")}
    assert answers.set_of(TWO, "alpha-pf-vds", everywhere_inf).vertices == answers.set_of(TWO, "ps-dsf").vertices


def test_large_instances_are_about_one_answer():
    case = Case(generators.generic(4, 2, 2, seed=1))
    for part in ("trial", "confirm"):
        verdict = getattr(about_ps_dsf(property_judge("envy-freeness"), "envy-freeness"), part)(case)
        assert (verdict.holds, verdict.answers) == (True, for_the_answer_of(ALGORITHM))


def test_a_property_of_unknown_shape_is_decided_where_answers_are_finitely_many():
    def some_task(case, answer):
        return Verdict("mine", True, -1.0, f"{answer(case.reported).tasks.min()}", "rational arithmetic")

    point = Instance([[2, 1], [1, 3]], [[6, 6], [5, 7]])
    answer = solve(point, "ps-dsf", "exact")
    assert solution_set(point, "ps-dsf").dimension == 0
    assert over_answers(some_task)(Case(point), lambda _: answer).answers == FOR_ALL
    assert over_answers(some_task)(Case(TWO), lambda _: allocation(TWO, 2, 2, 2, 2)).answers == for_the_answer_of("mine")


def test_one_server_has_one_equilibrium_also_where_it_is_irrational():
    case = Case(Instance([[2, 1], [1, 3]], [[6, 6]]), parameters={"alpha": 3})
    verdict = about_equilibria(property_judge("envy-freeness"), "envy-freeness").trial(case)
    assert (verdict.holds, verdict.answers) == (True, FOR_ALL)
    nb = Case(Instance([[2, 1], [1, 3], [3, 1]], [[6, 6], [5, 7]]), parameters={"alpha": 1})
    assert about_equilibria(property_judge("pareto"), "pareto").trial(nb).answers == FOR_ALL, "the totals are unique"
    several = Case(Instance([[2, 1], [1, 3]], [[6, 6], [5, 7]]), parameters={"alpha": 3})
    verdict = about_equilibria(property_judge("envy-freeness"), "envy-freeness").trial(several)
    assert verdict.answers.startswith("for the answer of ")


def test_a_misreport_is_judged_for_every_choice():
    """Between answers with 3 and with 4 tasks a user that reports the truth gains by some choices and loses by others."""
    none = Misreport((0,), (((F(2), F(1)),),), (None,))
    verdict = gaining_for_every_choice(Case(TWO, none), lambda instance: solve(instance, "ps-dsf", "exact"))
    assert verdict.finding() == "holds for some"
    chosen = [allocation(TWO, *x) for x in ((3, 0, 0, 3), (2, 2, 2, 2))]
    verdict = gaining_for_every_choice(Case(TWO, none), lambda _: chosen.pop(0))
    assert (verdict.finding(), verdict.margin) == ("holds for some", float(F(-1, 3))), "by one choice it gains"


DOUBLED = (((F(2),),),)
HALF_OF_EACH = Instance([[1], [1]], [[1]])


@pytest.mark.parametrize(
    ("mechanism", "instance", "told", "margin"),
    [
        ("mmf", HALF_OF_EACH, Misreport((1,), DOUBLED, (None,)), F(1, 6)),
        ("drfh-lp", HALF_OF_EACH, Misreport((1,), DOUBLED, (None,)), None),
        ("utilitarian", HALF_OF_EACH, Misreport((1,), (((F(1, 2),),),), (None,)), None),
        ("utilitarian", Instance([[2], [1]], [[1]]), Misreport((0,), (((F(1, 2),),),), (None,)), F(1)),
        ("njc", Instance([[2, 1], [0, 1]], [[1, 1]]), Misreport((1,), (((F(1, 2), F(1)),),), (None,)), F(1, 6)),
        ("ps-dsf", TWO, Misreport((0, 1), (None, None), ((True, False), (False, True))), None),
    ],
)
def test_a_misreport_pays_if_it_does_for_every_choice_of_answers(mechanism, instance, told, margin):
    """What a method's own answers gain counts only up to what the worst after it has more than the best before."""
    named = claim("a", mechanism, "group-strategyproofness", "several variants").statement
    verdict = named.confirm(Case(instance, told))
    assert verdict.finding() == ("holds for some" if margin is None else "fails for all")
    assert margin is None or F(verdict.margin).limit_denominator(1000) == margin


def test_claims_of_ones_own_are_about_all_answers_where_they_are_listed():
    mine = claim("PS-DSF is Pareto optimal", mechanism="ps-dsf", property="pareto", hypotheses="one server")
    for part in (mine.statement.trial, mine.statement.confirm):
        assert part(Case(TWO)).finding() == "fails for some"
    one = Case(Instance([[2, 1], [1, 3]], [[6, 6]]), Misreport((0,), (((F(2), F(2)),),), (None,)))
    told = claim("a", mechanism="alpha-pf-vds", property="strategyproofness").statement
    assert told.confirm(one).answers == FOR_ALL, "both games have one equilibrium"


def test_one_optimum_of_a_linear_program_is_said_to_be_one():
    poor = Case(Instance([[1], [1]], [[1]]))
    found = claim("a", mechanism="utilitarian", property="envy-freeness").statement.confirm(poor)
    assert (found.holds, found.answers) == (False, for_the_answer_of("exact"))
    assert claim("a", mechanism="utilitarian", property="uniqueness").statement.confirm(poor).answers == FOR_ALL
    kept = claim("a", mechanism="mmf", property="max-min-tasks").search(time_limit=AMPLE, trials=30)
    assert (kept.status, kept.finding.answers[:18]) == ("not refuted", "for the answer of ")


def test_several_answers_show_by_their_totals_or_by_users_who_are_alike():
    games = claim("a", mechanism="ps-dsf", property="uniqueness").statement
    assert games.confirm(Case(TWO)).holds is False
    assert games.confirm(Case(Instance([[2, 1], [1, 3]], [[6, 6]]))).holds
    alike = Case(Instance([[1], [1]], [[1]]))
    assert claim("a", mechanism="utilitarian", property="uniqueness").statement.confirm(alike).margin == 1
    assert claim("a", mechanism="uniform", property="uniqueness").statement.confirm(alike).holds
    rest = Case(Instance([[1, 0], [1, 1]], [[1, 2]]))
    assert claim("a", mechanism="mmf", property="uniqueness").statement.confirm(rest).holds
    more = Case(Instance([[0, 1], [1, 0], [0, 1]], [[1, 3]]))
    found = claim("a", mechanism="mmf", property="uniqueness").statement.violated(more)
    assert found is not None, "the two who are alike may share what is left of the second resource in any way"


@pytest.mark.parametrize("name", ["drfh-lp", "gavel-makespan", "gavel-max-min", "mmf", "utilitarian"])
def test_both_routes_of_uniqueness_ask_for_all_optima(name):
    """In floating point, too: what no trial sees no search finds."""
    for _, case in known_cases(name, "uniqueness"):
        item = claim("a", mechanism=name, property="uniqueness", instances=lambda _, case=case: case.instance).statement
        assert [part(case).holds for part in (item.trial, item.confirm)] == [False, False]


def test_uniqueness_keeps_floors_and_says_nothing_of_answers_that_are_not_known():
    def said(asked, *arguments, **more):
        case = Case(Instance(*arguments, **more))
        item = claim("a", mechanism=asked, property="uniqueness", instances=lambda _: case.instance).statement
        return [part(case).holds for part in (item.trial, item.confirm)]

    assert said("utilitarian", [[1], [1]], [[1]], min_tasks=["1/2", "1/2"]) == [True, True], "each has its floor and no more"
    assert said("utilitarian", [[1], [1]], [[4]], min_tasks=["1/2", "1/2"]) == [False, False]
    assert said("mmf", [[0, 1], [1, 0], [0, 1]], [[1, 3]], min_tasks=["1/2", "1/2", "1/2"]) == [False, False]
    assert said("drfh", [[1], [1]], [[3]]) == [True, True]
    for whole in (mechanism("drfh").configure(integral=True), mechanism("utilitarian").edited("mine", cvxpy=lambda p, _: p)):
        with pytest.raises(NotApplicable, match="are not listed"):
            said(whole, [[1], [1]], [[3]])


def test_a_check_of_a_mechanism_says_whose_answer_it_is_about():
    assert check_mechanism(TWO, "ps-dsf", "envy-freeness").answers == for_the_answer_of("exact")
    assert check_mechanism(TWO, "njc", "population-monotonicity").answers == for_the_answer_of("njc-market")
    assert check_mechanism(TWO, "ps-dsf", "strategyproofness", trials=2).answers == for_the_answer_of("continuation")
    assert check_mechanism(TWO, "drfh", "envy-freeness").answers == ""


# ---- findings, pages, the matrix ------------------------------------------------------------------------------------


def test_all_trials_together_say_the_least():
    some_method = for_the_answer_of("m")
    assert weakest(["", FOR_ALL, FOR_ALL]) == FOR_ALL
    assert weakest([FOR_ALL, FOR_SOME]) == FOR_SOME
    assert weakest([some_method, FOR_ALL, FOR_SOME]) == some_method
    assert weakest([]) == ""


def test_a_proof_speaks_of_all_answers_unless_it_says_which():
    envy, limit = STATEMENTS["P.T2.envy"], STATEMENTS["D.L3"]
    assert answers_known(envy, Status.PROVED, None, "") == FOR_ALL
    assert answers_known(limit, Status.PROVED, None, "") == for_the_answer_of("njc-ode")
    assert answers_known(envy, Status.NOT_DECIDED, None, FOR_ALL) == ""
    assert answers_known(STATEMENTS["K.2.2.drfh.pareto"], Status.PROVED, None, "") == ""
    assert answers_known(replace(envy, proof=""), Status.NOT_REFUTED, None, FOR_SOME) == FOR_SOME


def test_a_search_notes_of_which_answers_it_speaks():
    sharing = STATEMENTS["P.T2.sharing"]
    one_server = replace(sharing.hypotheses, one_server=True)
    unproved = replace(sharing, id="P.x", proof="", hypotheses=one_server)
    finding = investigate(unproved, trials=21, seconds=30.0)
    assert finding.status == Status.NOT_REFUTED
    assert finding.answers == FOR_ALL, "one server has one answer"
    assert parse_finding(finding.document()) == finding


def test_every_finding_on_record_says_it():
    record = packaged()
    silent = [item.id for item in STATEMENTS.values() if item.of_several and not on_record(item, record, again=False).answers]
    assert silent == []
    assert on_record(STATEMENTS["P.T2.misreports"], record, again=False).answers == FOR_ALL
    assert on_record(STATEMENTS["D.S4.envy-free"], record, again=False).answers == FOR_SOME


def test_pages_and_the_matrix_show_it():
    record = packaged()
    assert "- Of several answers: for all: every answer" in statement_page(STATEMENTS["P.T2.pareto"], record)
    assert "- Of several answers: for the answer of njc-ode\n" in statement_page(STATEMENTS["D.L3"], record)
    assert "Of several answers" not in statement_page(STATEMENTS["K.2.2.drfh.pareto"], record)
    statements, findings = known_cells()
    about = {name: item for name, item in statements.items() if item.mechanism in ("ps-dsf", "njc", "drfh")}
    found = evidence(about, findings)
    columns = columns_of(about.values(), ())
    cells = cells_of(found, columns, ["pareto", "envy-freeness", "njc"], complete=False)
    marks = {(name, str(column)): cell.symbol + cell.quantifier for (name, column), cell in cells.items()}
    assert marks["pareto", "ps-dsf"] == "✗∀"
    assert marks["envy-freeness", "ps-dsf"] == "✓∀"
    assert marks["envy-freeness", "njc"] == "✗∃"
    assert marks["njc", "njc"] == "✓°"
    assert marks["pareto", "drfh"] == "✓"


def test_a_linear_program_with_one_optimum_has_no_other_answer():
    """What z3 says of all answers outside of the package; eleven cells spoke of the answer of a method alone."""
    shared = Case(Instance([[1], ["1/2"]], [[1]]))
    free = Case(Instance([[1], [1], [1]], [[2], ["1/2"]], eligible=[[1, 1], [0, 1], [1, 1]]))
    claims = [
        ("mmf", "envy-freeness", shared),
        ("mmf", "pareto", free),
        ("utilitarian", "sharing-incentive", Case(Instance([[1], [1]], [[1]]))),
    ]
    told = [ours()[f"ours.{mechanism}.{name}"].violated(case).answers for mechanism, name, case in claims]
    assert told == [FOR_ALL, "for the answer of exact", "for the answer of exact"]
