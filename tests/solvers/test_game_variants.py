"""The game with several variants for each user and finite alpha: definition, three ways to compute it, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from changed_certificates import assert_that_no_number_can_be_changed
from planted_games import TWO_WAYS, game_with_variants
from tolerances import BARGAINING, EQUILIBRIUM, RESIDUAL, ROUNDING, VISIBLE

from fairalloc.analysis.certificates import certify
from fairalloc.formulations import mechanism
from fairalloc.formulations.game.game import monopolies
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.solvers import solve

GAME = "alpha-pf-vds"


def judged(instance, x, **parameters):
    """The residual of tasks x (A,), from the instance alone."""
    return mechanism(GAME).configure(**parameters).residual(Allocation(instance, np.asarray(x, float)))


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 20])
def test_a_monopoly_runs_its_variants_side_by_side(alpha):
    """Gamma = 4/3 by 2/3 of each; two such users have half of it each."""
    one, two = Instance([TWO_WAYS], [[1, 1]]), Instance([TWO_WAYS, TWO_WAYS], [[1, 1]])
    np.testing.assert_allclose(monopolies(one), [4 / 3, 4 / 3], rtol=ROUNDING)
    np.testing.assert_allclose(solve(one, GAME, alpha=alpha).tasks, [4 / 3], rtol=RESIDUAL)
    np.testing.assert_allclose(solve(two, GAME, alpha=alpha).tasks, [2 / 3, 2 / 3], rtol=RESIDUAL)
    assert judged(one, [2 / 3, 2 / 3], alpha=alpha) <= ROUNDING
    assert judged(one, [1, 0], alpha=alpha) >= VISIBLE / alpha  # a bottleneck for both variants, but not the best mixture


def test_a_satisfied_user_runs_its_cheapest_variant():
    """It could use the full first resource or the free second one: all that user 2 does not take is for nobody else."""
    instance = Instance([[[1, 0], [0, 1]], [1, 0]], [[1, 1]], max_tasks=["1/2", None])
    assert judged(instance, [0, 0.5, 1], alpha=2) <= ROUNDING
    assert judged(instance, [0.25, 0.25, 0.75], alpha=2) >= VISIBLE
    np.testing.assert_allclose(solve(instance, GAME, alpha=2).tasks, [0.5, 1], rtol=RESIDUAL)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(10))
def test_more_of_the_same_changes_nothing(seed):
    """A variant twice, or a mixture of two variants as a third."""
    instance = game_with_variants(seed)
    exact = [[list(v) for v in vectors] for vectors in instance.exact.demands]
    twice = instance.replace(demands=[[*d, d[0]] for d in exact])
    mixed = instance.replace(demands=[[*d, [(a + 2 * b) / Fraction(3) for a, b in zip(d[0], d[-1], strict=True)]] for d in exact])
    old = solve(instance, GAME, alpha=2)
    for other in (twice, mixed):
        new = solve(other, GAME, alpha=2)
        assert new.residual <= RESIDUAL
        np.testing.assert_allclose(new.tasks, old.tasks, rtol=EQUILIBRIUM)


@pytest.mark.parametrize("method", ["continuation", "best-response"])
def test_a_variant_that_another_beats_is_left_out(method):
    """It took a path of 700 steps where its demands are 10^6 times as large, and best responses did not end."""
    small = [["1/1000000", "3/1000000"], ["2/1000000", "1/1000000"]]
    given = Instance([[[1, 2], [3, 1]], [[5, 4], *small], [[2, 2], [1, 5]]], [[9, 12], [14, 7]])
    found, few = (
        solve(one, "ps-dsf", method) for one in (given, given.replace(demands=[*given.demands[:1], small, given.demands[2]]))
    )
    assert (found.termination, found.iterations) == ("optimal", few.iterations)
    np.testing.assert_allclose(found.tasks, few.tasks, rtol=EQUILIBRIUM)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"alpha": 2}, {"alpha": 6}, {"alpha": 3, "B": 0.5}])
def test_continuation_finds_equilibria(parameters, seed):
    instance = game_with_variants(seed)
    answer = solve(instance, GAME, "continuation", **parameters)
    assert answer.termination == "optimal"
    assert answer.residual <= RESIDUAL
    below = answer.tasks < instance.max_tasks * 0.99
    for n in np.flatnonzero(below)[:1]:
        less = np.where(instance.arcs.user == n, 0.8 * answer.x, answer.x)
        assert judged(instance, less, **parameters) >= 100 * RESIDUAL


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(25))
def test_alpha_1_is_nash_bargaining(seed):
    instance = game_with_variants(seed)
    one, other = solve(instance, GAME, "continuation", alpha=1), solve(instance, "nb", "cvxpy:clarabel", "high")
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=BARGAINING)
    assert judged(instance, other.x, alpha=1) <= BARGAINING


@pytest.mark.few(5)
@pytest.mark.parametrize("alpha", [0.5, 2])
@pytest.mark.parametrize("seed", range(12))
def test_the_merit_problem_agrees_on_one_server(alpha, seed):
    """Where Problem 1 is one strictly concave program in the users' tasks."""
    instance = game_with_variants(seed, servers=1)
    one, other = solve(instance, GAME, "pyomo:ipopt", alpha=alpha), solve(instance, GAME, "continuation", alpha=alpha)
    if one.termination == "optimal":
        np.testing.assert_allclose(one.tasks, other.tasks, rtol=EQUILIBRIUM)


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"alpha": 2}, {"alpha": 20}, {"alpha": 3, "B": 0.5}])
def test_best_responses_agree_user_by_user_on_one_server(parameters, seed):
    """The same strictly concave program, by a path of the server alone; with limits, placement and zero demands."""
    instance = game_with_variants(seed, servers=1)
    one, other = (solve(instance, GAME, method, **parameters) for method in ("best-response", "continuation"))
    assert max(one.residual, other.residual) <= RESIDUAL
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=BARGAINING)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.5, 2, 6])
def test_best_responses_find_equilibria(alpha, seed):
    """Several servers: users at limits may have them filled in another way than by `continuation`."""
    answer = solve(game_with_variants(seed), GAME, "best-response", alpha=alpha)
    assert answer.termination == "optimal"
    assert answer.residual <= RESIDUAL


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(8))
def test_best_responses_for_alpha_1_are_nash_bargaining_without_limits(seed):
    instance = game_with_variants(seed).replace(max_tasks=None)
    one, other = solve(instance, GAME, "best-response", alpha=1), solve(instance, "nb", "cvxpy:clarabel", "high")
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=BARGAINING)


def test_the_best_response_to_users_who_can_have_all_they_want_has_no_prices():
    instance = Instance([[[1, 0], [0, 1]], [1, 0]], [[10, 10]], max_tasks=[1, 2])
    answer = solve(instance, GAME, "best-response", alpha=2)
    np.testing.assert_allclose(answer.tasks, [1, 2], rtol=ROUNDING)
    assert not answer.prices.any()


@pytest.mark.few(1)
@pytest.mark.parametrize("alpha", [[2, "inf", 1], ["inf", 0.5, 5]])
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_finite_and_infinite_alpha_side_by_side(alpha, seed):
    """Both methods give equilibria, and none is an equilibrium any more with a tenth less for a user below its limit."""
    instance = game_with_variants(seed)
    for method in ("continuation", "best-response"):
        answer = solve(instance, GAME, method, alpha=alpha)
        assert answer.residual <= RESIDUAL
        for n in np.flatnonzero(answer.tasks < instance.max_tasks * 0.99)[:1]:
            less = np.where(instance.arcs.user == n, 0.9 * answer.x, answer.x)
            assert judged(instance, less, alpha=alpha) >= 100 * RESIDUAL


def test_finite_and_infinite_alpha_side_by_side_are_not_certified():
    instance = game_with_variants(2)
    refused = certify(solve(instance, GAME, "best-response", alpha=[2, "inf", 1]))
    assert not refused
    assert "server 's2' has alpha = inf and a user with several variants" in str(refused)


def test_who_refuses():
    instance = Instance([TWO_WAYS], [[1, 1]])
    for method in ("semismooth-newton", "josephy-newton", "ps-mfa", "vds-distributed"):
        with pytest.raises(NotApplicable, match=f"{method} needs one demand vector for each user, but user 'u1' has 2"):
            solve(instance, GAME, method)


@pytest.mark.few(1)
@pytest.mark.parametrize("alpha", [0.5, 2, 6])
@pytest.mark.parametrize("seed", range(2))
def test_equilibria_are_certified(alpha, seed):
    """By a bound that is the residual, and is large where the variants are mixed wrongly."""
    instance = game_with_variants(seed, users=3, servers=2)
    certificate = certify(solve(instance, GAME, "continuation", "high", alpha=alpha))
    assert certificate.bound <= RESIDUAL
    assert_that_no_number_can_be_changed(certificate, instance)


def test_a_wrong_mixture_is_not_certified():
    one = Instance([TWO_WAYS], [[1, 1]])
    wrong = Allocation(one, [1.0, 0.0], mechanism=GAME, parameters={"alpha": 2.0})
    assert not certify(wrong, GAME)
    assert float(certify(wrong, GAME, tolerance=1.0).bound) == pytest.approx(judged(one, [1, 0], alpha=2), rel=RESIDUAL)
