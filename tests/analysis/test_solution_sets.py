"""All answers of ps-dsf, ps-dsf-tdm, alpha-pf-vds and njc: by the definition, by other programs, and what is refused."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.analysis.solution_sets import answers, game_answers, solution_set
from fairalloc.formulations import mechanism
from fairalloc.formulations.ps_dsf import linear_objective
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models import Allocation, Instance, InstanceError, NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.solvers.running import time_limits

TWO_BY_TWO = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any), min_size=2, max_size=2)
CAPACITIES = st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=2), min_size=2, max_size=2)


def ranges(instance):
    """(N,) the least and the most tasks of each user over the answers of the mixed-integer program."""
    problem = mechanism("ps-dsf").write_cvxpy(instance)
    x = problem.var_dict["x"]
    totals = [instance.arcs.owner[[n]] @ x for n in range(instance.N)]
    ends = (cp.Minimize, cp.Maximize)
    return np.array([[cp.Problem(end(cp.sum(u)), problem.constraints).solve(solver="HIGHS") for end in ends] for u in totals])


@settings(max_examples=drawn(12))
@given(demands=TWO_BY_TWO, capacities=CAPACITIES, weights=st.sampled_from([(1, 1), (1, 2)]))
def test_the_ranges_are_those_of_the_mixed_integer_program(demands, capacities, weights):
    instance = Instance(demands, capacities, weights=weights)
    found = solution_set(instance, "ps-dsf")
    assert all(levels(instance, x) is not None for x in found.vertices)
    np.testing.assert_allclose(np.array(found.totals, dtype=float), ranges(instance), rtol=RESIDUAL, atol=RESIDUAL)
    for piece in found.pieces:
        least_full = (instance.arcs.load @ np.array(piece.vertices, dtype=float).T).min(axis=1)
        assert set(piece.bottlenecks) == set(np.flatnonzero(least_full >= 1 - ROUNDING).tolist())


def test_the_example_with_two_answers():
    """The middle of two of its allocations is none, so the set is not convex; every method's answer is in it."""
    instance = example("two-answers").instance
    found = solution_set(instance, "ps-dsf")
    assert found.totals == ((3, 4), (3, 4))
    assert not found.is_single
    one, other = found.vertices[0], found.vertices[-1]
    middle = tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
    assert levels(instance, middle) is None
    for method in ("continuation", "best-response", "exact"):
        tasks = solve(instance, "ps-dsf", method).tasks
        assert all(least - RESIDUAL <= u <= most + RESIDUAL for u, (least, most) in zip(tasks, found.totals, strict=True))


def totals_and_best(instance):
    """The range of each user's tasks over all PS-DSF answers, and whether one answer gives everybody the most."""
    found = solution_set(instance, "ps-dsf")
    tasks = [[sum(np.array(x)[instance.arcs.user == n]) for n in range(instance.N)] for x in found.vertices]
    return found.totals, [most for _, most in found.totals] in tasks


def test_with_positive_demands_one_answer_is_best_and_grows_when_a_user_leaves():
    """By the prices of docs/theory/ps-dsf.md; by the choice of another answer users may have less."""
    three = Instance([[2, 1], [1, 2], [1, 1]], [[6, 6], [6, 6]], weights=[1, 1, "1/4"])
    (before, *_), is_best = totals_and_best(three)
    (after, _), _ = totals_and_best(example("two-answers").instance)
    assert (before[1], after) == (F(24, 7), (3, 4))
    assert is_best
    np.testing.assert_allclose(solve(three, "ps-dsf", objective="tasks").tasks[:2], 24 / 7, rtol=RESIDUAL)
    tieless, _ = totals_and_best(Instance([[2, 1], [1, 2]], [[6, 6], [6, 7]]))
    assert all(least == most for least, most in tieless), "3 x 7/2 is not 3 x 3"
    rng = np.random.default_rng(5)
    for _ in range(12):
        demands, capacities, weights = rng.integers(1, 4, (3, 2)), rng.integers(4, 9, (2, 2)), rng.integers(1, 4, 3)
        totals, is_best = totals_and_best(Instance(demands.tolist(), capacities.tolist(), weights=weights.tolist()))
        fewer, _ = totals_and_best(Instance(demands[:2].tolist(), capacities.tolist(), weights=weights[:2].tolist()))
        assert is_best
        assert all(after[1] >= before[1] for before, after in zip(totals[:2], fewer, strict=True))


def test_equal_totals_with_different_utilisation():
    """Resource 2 stops everybody: the totals are (1, 1), and where the tasks run decides what is used of resource 1."""
    instance = Instance([[0, 1], [1, 1]], [[1, 1], [2, 1]])
    found = solution_set(instance, "ps-dsf")
    assert found.is_single
    assert found.totals == ((1, 1), (1, 1))
    assert found.best("utilisation")[0] == Fraction(3, 4)
    assert found.best("tasks")[0] == 2
    assert {sum(x, Fraction(0)) for x in found.vertices} == {Fraction(2)}


def test_what_is_refused():
    with pytest.raises(NotApplicable, match="8 arcs"):
        solution_set(Instance([[1, 1]] * 4, [[1, 1]] * 2), "ps-dsf")
    with pytest.raises(NotApplicable, match="no limit"):
        solution_set(Instance([[1, 1]], [[1, 1]], max_tasks=[1]), "ps-dsf")
    with pytest.raises(InstanceError, match="fairness"):
        solution_set(Instance([[1, 1]], [[1, 1]]), "ps-dsf").best("fairness")


F = Fraction


@settings(max_examples=drawn(8))
@given(demands=TWO_BY_TWO, capacities=CAPACITIES, at=st.randoms(use_true_random=False))
def test_membership_is_the_definition(demands, capacities, at):
    """At mixtures of vertices of one piece, of two, and beside them; P's Theorem 1 in rationals decides by itself."""
    instance = Instance(demands, capacities)
    found = solution_set(instance, "ps-dsf")
    for _ in range(6):
        one, other = at.choice(found.vertices), at.choice(found.pieces).centre
        part = F(at.randint(0, 4), 4)
        x = [part * a + (1 - part) * b for a, b in zip(one, other, strict=True)]
        a, less = at.randrange(len(x)), F(at.choice([0, 0, 1]), 1000)
        x[a] = max(x[a] - less, F(0))
        assert found.contains(x) == (levels(instance, x) is not None)


@settings(max_examples=drawn(8))
@given(demands=TWO_BY_TWO, capacities=CAPACITIES)
def test_relabelled_users_and_servers_have_the_same_ranges(demands, capacities):
    instance, turned = Instance(demands, capacities), Instance(demands[::-1], capacities[::-1])
    found, other = solution_set(instance, "ps-dsf"), solution_set(turned, "ps-dsf")
    assert other.totals == found.totals[::-1]
    assert other.best("utilisation").value == found.best("utilisation").value
    assert [p.dimension for p in other.pieces] == [p.dimension for p in found.pieces]


def test_who_is_no_answer():
    """Each answer with a thousandth less of one task is none; floats and other instances are refused."""
    instance = example("two-answers").instance
    found = solution_set(instance, "ps-dsf")
    exact = solve(instance, "ps-dsf", "exact")
    assert found.contains(exact)
    for a, value in enumerate(exact.x_exact):
        if value:
            assert not found.contains([v - F(k == a, 1000) for k, v in enumerate(exact.x_exact)])
    with pytest.raises(NotApplicable, match="no rational tasks"):
        found.contains(solve(instance, "ps-dsf", "continuation"))
    with pytest.raises(InstanceError, match="the answers are on"):
        found.contains(solve(example("khamse-fig1").instance, "ps-dsf", "exact"))
    with pytest.raises(InstanceError, match="4 numbers"):
        found.contains([1, 2])


@pytest.mark.parametrize("objective", ["utilisation", "tasks", "sum"])
def test_the_best_is_that_of_the_mixed_integer_program(objective):
    instance = Instance([[0, 1], [1, 1]], [[1, 1], [2, 1]])
    problem = mechanism("ps-dsf").write_cvxpy(instance)
    cost = np.array(linear_objective(instance, objective), dtype=float)
    expected = cp.Problem(cp.Maximize(cost @ problem.var_dict["x"]), problem.constraints).solve(solver="HIGHS")
    best = solution_set(instance, "ps-dsf").best(objective)
    assert float(best.value) == pytest.approx(expected, rel=RESIDUAL)
    assert best.value == sum(c * x for c, x in zip(linear_objective(instance, objective), best.x, strict=True))


# ---- shared in time -------------------------------------------------------------------------------------------------


@settings(max_examples=drawn(6))
@given(demands=TWO_BY_TWO, capacities=CAPACITIES, weights=st.sampled_from([(1, 1), (1, 3)]))
def test_in_time_the_totals_are_those_of_the_market(demands, capacities, weights):
    """K Theorem 5: the totals are unique, and nb on the instance whose resource is time has them."""
    instance = Instance(demands, capacities, weights=weights)
    found = solution_set(instance, "ps-dsf-tdm")
    assert found.is_single
    expected = solve(time_shared(instance), "nb", accuracy="high").tasks
    np.testing.assert_allclose([float(least) for least, _ in found.totals], expected, rtol=RESIDUAL)
    assert found.contains(solve(instance, "ps-dsf-tdm", "exact"))


# ---- alpha-pf-vds ---------------------------------------------------------------------------------------------------


def test_infinite_alpha_is_ps_dsf():
    instance = example("two-answers").instance
    found = solution_set(instance, "alpha-pf-vds", alpha="inf")
    assert found.pieces == solution_set(instance, "ps-dsf").pieces


def test_where_one_resource_is_everybodys_largest_alpha_says_nothing():
    """K Theorem 4: all equilibria for alpha = 1/2, 3 or mixed are the PS-DSF allocations, and methods end among them."""
    instance = Instance([[2, 1], [3, 1]], [[6, 6], [9, 5]])
    found = solution_set(instance, "ps-dsf")
    for alpha in (0.5, 3, [2, "inf"]):
        equilibria = solution_set(instance, "alpha-pf-vds", alpha=alpha)
        assert equilibria.vertices == found.vertices
        tasks = solve(instance, "alpha-pf-vds", "best-response", alpha=alpha, accuracy="high").tasks
        least, most = np.array(found.totals, dtype=float).T
        assert np.all((least - RESIDUAL <= tasks) & (tasks <= most + RESIDUAL))


def test_all_equilibria_for_alpha_1_have_the_totals_of_nb():
    """With the totals (1, 1) resource 2 is full on both servers, and where the tasks run is free."""
    instance = Instance([[0, 1], [1, 1]], [[1, 1], [2, 1]])
    found = solution_set(instance, "alpha-pf-vds", alpha=1)
    assert found.totals == ((1, 1), (1, 1))
    assert found.dimension == 1
    assert found.best("utilisation").value == F(3, 4)
    residual = mechanism("nb").residual
    for x in found.vertices:
        assert residual(Allocation(instance, [float(v) for v in x], prices=np.array([[0, 1], [0, 1.0]]))) <= ROUNDING


def test_one_server_has_one_equilibrium():
    """It is rational where both resources are full, and for infinite alpha; an irrational one is refused."""
    instance = Instance([[2, 1], [1, 3]], [[6, 6]])
    assert solution_set(instance, "alpha-pf-vds", alpha=2).vertices == ((F(12, 5), F(6, 5)),)
    assert solution_set(instance, "alpha-pf-vds", alpha="inf").totals == ((2, 2), (F(4, 3), F(4, 3)))
    equal = Instance([[2, 1], [1, 2]], [[6, 6]])
    assert solution_set(equal, "alpha-pf-vds", alpha=1.5).totals == ((2, 2), (2, 2))
    with pytest.raises(NotApplicable, match="irrational"):
        solution_set(instance, "alpha-pf-vds", alpha=3)


@pytest.mark.parametrize("alpha", [1, 2, [2, "inf"]])
def test_a_wrong_guess_is_not_believed(alpha, monkeypatch):
    """The guess with a thousandth less, or more, of somebody's tasks proves nothing."""
    instance = Instance([[2, 1], [1, 2], [2, 1], [1, 3]], [[6, 6], [6, 6]], eligible=[[1, 0], [1, 0], [0, 1], [0, 1]])
    assert solution_set(instance, "alpha-pf-vds", alpha=alpha).is_single
    guess = game_answers._guess
    for n in range(4):
        for change in (F(1, 1000), -F(1, 1000)):
            monkeypatch.setattr(
                game_answers, "_guess", lambda v, n=n, d=change: tuple(u + d * (k == n) for k, u in enumerate(guess(v)))
            )
            with pytest.raises(NotApplicable, match="irrational"):
                solution_set(instance, "alpha-pf-vds", alpha=alpha)


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("drfh", {}, "every answer of drfh gives each user the same tasks"),
        ("alpha-fair", {}, "every answer of alpha-fair gives each user the same tasks"),
        ("nb", {"integral": True}, "the answers of nb are not listed"),  # (1, 0) and (0, 1) of one task that both want
        ("utilitarian", {}, "the answers of utilitarian are not listed: solution_set is for alpha-pf-vds"),
        ("njc", {"objective": "sum"}, "the objective of njc chooses one"),
        ("alpha-pf-vds", {"alpha": 2}, "need not be unique, and they are irrational"),
    ],
)
def test_mechanisms_without_a_set_say_why(name, parameters, sentence):
    with pytest.raises(NotApplicable, match=sentence):
        solution_set(example("two-answers").instance, name, **parameters)


@pytest.mark.parametrize("largest", [0, -1, 2.5, float("nan"), True, None, "x"])
def test_the_number_of_arcs_is_a_positive_integer(largest):
    with pytest.raises(InstanceError, match=r"largest is .*, but it must be a (positive )?whole number"):
        solution_set(Instance([[1]], [[1]]), "ps-dsf", largest=largest)


@pytest.mark.parametrize("given", [None, "khamse-fig1"])
def test_answers_are_of_an_instance(given):
    with pytest.raises(InstanceError, match="but it must be an Instance"):
        solution_set(given, "njc")


def test_a_marginal_with_both_parameters_by_hand():
    """(A / z)^alpha + B / z is 6 at 1/2 and 2 at 1, with alpha = 2 and A = B = 1."""
    game = mechanism("alpha-pf-vds").configure(alpha=2, A=1, B=1).game(Instance([[1]], [[1]]))
    assert game_answers._marginal(game, 0, Fraction(1, 2), Fraction(1)) == 3


def test_njc_where_every_resource_must_be_a_bottleneck():
    """Two users want all of resource 1, two all of resource 2: each has a quarter or more, and nothing is left."""
    instance = Instance([[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 1]], max_tasks=[1] * 4)
    least, most = Fraction(1, 4), Fraction(3, 4)
    corners = {(*one, *two) for one in ((least, most), (most, least)) for two in ((least, most), (most, least))}
    found = solution_set(instance, "njc")
    assert set(found.vertices) == corners
    assert found.dimension == 2


@pytest.mark.parametrize("name", ["ps-dsf", "ps-dsf-tdm", "njc", "alpha-pf-vds"])
def test_what_a_mechanism_refuses_has_no_set(name):
    instance = Instance([[2, 1], [1, 2]], [[6, 6]])
    for more, what in (({"min_tasks": [2, 0]}, "min_tasks"), ({"groups": {"a": [0], "b": [1]}}, "groups")):
        with pytest.raises(NotApplicable, match=f"mechanism '{name}' knows no {what}"):
            solution_set(instance.replace(**more), name)


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_a_limit_ends_what_looks_at_no_clock(monkeypatch):
    """Pieces of answers and misreports in rationals take minutes."""
    small, endless = Instance([[2, 1], [1, 2]], [[6, 6], [6, 6]]), iter(int, 1)
    monkeypatch.setattr(answers, "ps_dsf_pieces", lambda *_: any(endless))
    with pytest.raises(NotApplicable, match=r"the answers of ps-dsf were not listed within the time limit of 0\.2 seconds"):
        fa.solution_set(small, "ps-dsf", time_limit=0.2)
    found = fa.check_mechanism(small, "drfh", "strategyproofness", trials=1_000_000, time_limit=0.2)
    assert (found.holds, found.property) == (None, "strategyproofness")
    assert "the time was not enough" in found.sentence

    def endless_property(_):
        return any(endless)

    assert fa.check_mechanism(small, "drfh", endless_property, time_limit=0.2).property == "endless_property"
    assert fa.check_mechanism(small, "drfh", "strategyproofness", trials=2, time_limit=60.0).method == (
        fa.check_mechanism(small, "drfh", "strategyproofness", trials=2).method
    )


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_a_verdict_that_cannot_leave_its_process_is_one_sentence():
    """It was a RuntimeError, or "the time was not enough" where the child had ended when that was read."""
    small, own = Instance([[2, 1], [1, 2]], [[6, 6], [6, 6]]), fa.Verdict("own", False, 1.0, "s", "m", {"f": lambda: 0})
    for _ in range(3):
        with pytest.raises(fa.FairallocError, match="cannot be sent from its process to this one"):
            fa.check_mechanism(small, "drfh", lambda _: own, time_limit=60.0)
