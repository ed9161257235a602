"""Fisher markets: nb with one resource a server and a rate for each user and server; their factor, start and accuracy."""

from fractions import Fraction

import numpy as np
import pytest
from tolerances import DEGENERATE, EXACT, PROVED, ROUNDING, SHARES

import fairalloc as fa
from fairalloc.analysis.certificates import certify
from fairalloc.formulations import mechanism
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import ACCURACY, solve
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairArrow
from fairalloc.solvers.interior_point.equations import ArrowEquations
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.kkt.dominant import PANEL, factor_of_dominant
from fairalloc.solvers.kkt.matrices import cholesky, solved
from fairalloc.solvers.kkt.schur import NEGLIGIBLE
from fairalloc.solvers.method import Limits, Session
from fairalloc.solvers.options import allowed_user_error

METHOD = "interior-point"


def market(buyers, goods, seed=0, **more):
    """Uniform weights and utilities, and a supply of a quarter of the buyers of each good."""
    rng = np.random.default_rng(seed)
    weights, rates = rng.random(buyers), rng.random((buyers, goods))
    given = {"weights": weights, "rates": rates, **more}
    return Instance(np.ones((buyers, 1)), np.full((goods, 1), buyers / 4), **given)


def tied(buyers, goods, seed):
    rates = np.random.default_rng(seed).integers(1, 4, (buyers, goods))
    return market(buyers, goods, seed, weights=np.ones(buyers), rates=rates)


def with_zeros(buyers, goods, seed):
    rng = np.random.default_rng(seed)
    rates = rng.random((buyers, goods)) * (rng.random((buyers, goods)) < 0.4)
    rates[np.arange(buyers), np.arange(buyers)] = 0.5
    return market(buyers, goods, seed, rates=rates)


def twins(buyers, goods, seed):
    one = market(buyers, goods, seed)
    return one.replace(rates=np.repeat(one.rates.toarray()[::2], 2, axis=0)[:buyers], weights=np.ones(buyers))


def limited(buyers, goods, seed):
    return market(buyers, goods, seed, max_tasks=np.random.default_rng(seed).exponential(goods / 4.0, buyers))


def apart(buyers, goods, seed):
    """Incomes, utilities and supplies over four, six and twelve decades."""
    rng = np.random.default_rng(seed)
    rates = 10.0 ** (rng.uniform(-6, 0, (buyers, 1)) + rng.uniform(-3, 3, (buyers, goods)))
    more = {"weights": 10.0 ** rng.uniform(-2, 2, buyers), "rates": rates}
    return Instance(np.ones((buyers, 1)), 10.0 ** rng.uniform(-6, 6, (goods, 1)), **more)


KINDS = (market, tied, with_zeros, twins, limited, apart)


def arrow_of(instance, plan="users"):
    item = mechanism("nb")
    scaled, _ = item.canonical(item.domain(instance))
    arrow = AlphaFairArrow(item, scaled).compile(InteriorPointOptions())
    arrow.plan = plan
    return arrow


def solved_to(arrow, accuracy):
    return arrow.solve(Session(mechanism("nb"), arrow.instance, Limits(accuracy)))


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_small_markets_agree_with_clarabel_and_prove_their_gap(kind, seed):
    instance = kind(4 + seed, 10 * (seed + 1), seed)
    found = solve(instance, "nb", METHOD, accuracy="high")
    assert found.claims_success
    certificate = certify(found, "nb")
    assert certificate, str(certificate)
    assert 0 <= certificate.gap <= PROVED * instance.weights.sum()
    if kind is not apart:  # there Clarabel claims nothing
        other = solve(instance, "nb", "cvxpy:CLARABEL", accuracy="high")
        assert other.residual <= ACCURACY["mid"]
        np.testing.assert_allclose(found.tasks, other.tasks, rtol=DEGENERATE)


def test_an_equilibrium_by_hand():
    """Each buys the good it likes best, the first two one together: what a third of its money buys is a third of it."""
    instance = Instance([[1], [1], [1]], [[3], [6]], weights=[1, 2, 3], rates=[[4, 1], [3, 1], [1, 5]])
    found = solve(instance, "nb", METHOD, accuracy=1e-11)
    np.testing.assert_allclose(found.tasks, [4.0, 6.0, 30.0], rtol=EXACT)
    np.testing.assert_allclose(found.prices.ravel(), np.array([1.0, 1.0]) * found.prices[0, 0], rtol=EXACT)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_users_keep_all_digits_to_the_end(kind):
    """With the matrix of users, never that of rows: where its diagonal is a difference they are lost.

    The median of three markets, for one may lose half a digit by the rounding of the processor.
    """
    arrows = [arrow_of(kind(20, 120, seed)) for seed in range(1, 4)]
    assert np.median([solved_to(arrow, 1e-13).error for arrow in arrows]) <= ROUNDING
    assert {arrow.exact.plan for arrow in arrows} == {"users"}


def test_what_a_factor_leaves_of_the_rows_is_refined_away(monkeypatch):
    """Near the answer the solve alone leaves a 1e-10th to a 1e-7th of the rows; no lack of more than a 1e-9th is left."""
    lacks, solve = [], ArrowSystem.solve

    def watched(self, rows, users, h):
        answer = solve(self, rows, users, h)
        if self.balance is not None:
            each = [abs(rows - self._rows(one)).max() for one in (self._solve(rows, users, h), answer)]
            lacks.append(np.array(each) / abs(rows).max())
        return answer

    monkeypatch.setattr(ArrowSystem, "solve", watched)
    assert solved_to(arrow_of(generators.market(30, 100, seed=0)), 1e-13).error <= ROUNDING
    plain, refined = np.array(lacks).T
    assert (plain > 1e-9).sum() >= 3
    assert (refined[plain > 1e-9] < 1e-13).all()


def test_where_the_diagonal_is_a_difference_digits_are_lost(monkeypatch):
    instance = market(20, 400, 1)
    assert solved_to(arrow_of(instance), 1e-13).error <= ROUNDING
    monkeypatch.setattr(ArrowEquations, "balanced", False)
    arrow = arrow_of(instance)
    arrow.options = InteriorPointOptions(max_rows=20)
    monkeypatch.setattr(AlphaFairArrow, "exact", Way("users", refined=True, negligible=NEGLIGIBLE))
    assert solved_to(arrow, 1e-13).error > ROUNDING


@pytest.mark.parametrize("count", [1, 7, PANEL + 1, 3 * PANEL + 5])
def test_a_factor_has_all_digits_next_to_a_singular_matrix(count):
    """Solutions of A x = A v + w with w >= 0: rows that lack 1e-20 of what they are made of, which the diagonal does not hold."""
    rng = np.random.default_rng(count)
    weights = np.tril(10.0 ** rng.uniform(-3, 3, (count, count)), -1)
    v, e = rng.uniform(0.5, 2.0, count), 1e-20 * rng.uniform(0.5, 2.0, count)
    factor = factor_of_dominant(np.asfortranarray(-weights), v, e)
    np.testing.assert_allclose(solved(factor, e), v, rtol=1e-11)
    both = weights + weights.T
    matrix = np.diag((e + both @ v) / v) - both
    plain = cholesky(np.asfortranarray(matrix))
    assert count == 1 or plain is None or np.abs(solved(plain, e) / v - 1.0).max() > 0.1


def test_a_factor_is_that_of_rationals():
    rng = np.random.default_rng(3)
    weights, v, e = rng.integers(1, 9, (5, 5)), rng.integers(1, 9, 5), rng.integers(0, 2, 5)
    both = np.tril(weights, -1) + np.tril(weights, -1).T
    exact = [[Fraction(-int(b)) for b in row] for row in both]
    for k in range(5):
        exact[k][k] = Fraction(int(e[k] + both[k] @ v), int(v[k]))
    factor = np.tril(factor_of_dominant(np.asfortranarray(-1.0 * both), v.astype(float), e.astype(float)))
    expected = np.array(exact, dtype=float)
    np.testing.assert_allclose(factor @ factor.T, expected, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("e", [[-1.0, 0.0], [np.nan, 1.0]])
def test_a_matrix_that_is_not_dominant_has_no_factor(e):
    with pytest.raises(np.linalg.LinAlgError):
        factor_of_dominant(np.asfortranarray([[0.0, 0.0], [-1.0, 0.0]]), np.array([2.0, 1.0]), np.array(e) * 5.0)


@pytest.mark.parametrize("kind", [market, limited], ids=lambda kind: kind.__name__)
def test_the_balance_is_what_the_arrow_makes_of_prices(kind):
    """Computed with the whole matrix: at a start where d is what it is to be and at one where it is not."""
    arrow = arrow_of(kind(5, 8, 2))
    for now in (arrow.start(Limits()), arrow.start(Limits(start=np.full(40, 1e-2)))):
        system = ArrowSystem(arrow, now, Way("users", refined=True, negligible=NEGLIGIBLE))
        load, owner, theta = arrow.loads.load.toarray(), arrow.instance.arcs.owner.toarray(), np.diag(system.theta)
        corner = load @ theta @ owner.T
        rows = np.diag(system.s) + load @ theta @ load.T
        matrix = np.block([[rows, -corner], [-corner.T, np.diag(system.ends) + owner @ theta @ owner.T]])
        p, l, by_rows, by_users = system.balance  # noqa: E741
        expected, size = matrix @ np.concatenate([p, l]), np.abs(matrix) @ np.concatenate([p, l])
        np.testing.assert_array_less(np.abs(expected - np.concatenate([by_rows, by_users])), EXACT * size)
        assert (np.concatenate([p, l]) > 0).all()


@pytest.mark.parametrize("name", ["nb", "fds", "mmf", "drfh-lp"])
def test_more_accuracy_takes_more_iterations_and_every_claim_holds(name):
    taken = []
    for family in ("generic", "tied", "heavy_tailed", "finite"):
        instance = getattr(generators, family)(60, 20, 3, 1)
        if name in ("fds", "drfh-lp") and instance.allowed is not None:
            continue  # not defined there
        answers = {word: solve(instance, name, METHOD, accuracy=word, merge=False) for word in (*ACCURACY, 1e-11)}
        taken.append([answer.iterations for answer in answers.values()])
        assert taken[-1] == sorted(taken[-1])
        for word, promise in ACCURACY.items():
            assert answers[word].claims_success
            assert answers[word].residual <= promise
            if name in ("nb", "fds"):
                assert answers[word].user_error <= allowed_user_error(promise)
                np.testing.assert_allclose(answers[word].tasks, answers[1e-11].tasks, rtol=allowed_user_error(promise))
    low, mid, high, best = np.sum(taken, axis=0)
    assert low < best, "for max-min a projection onto the face ends most rounds at once"
    assert low < mid < high or name != "nb"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_markets_keep_what_each_accuracy_promises(kind):
    instance = kind(15, 40, 4)
    best = solve(instance, "nb", METHOD, accuracy=1e-11).tasks
    for word, promise in ACCURACY.items():
        found = solve(instance, "nb", METHOD, accuracy=word)
        assert found.claims_success
        assert found.residual <= promise
        np.testing.assert_allclose(found.tasks, best, rtol=allowed_user_error(promise) + SHARES)


def test_a_market_is_entered_by_its_rates_and_solved_by_default():
    found = fa.solve(market(30, 60, 7), "nb")
    assert found.method == METHOD
    assert found.claims_success
    assert found.message == ""


def test_rates_that_highs_would_drop_or_refuse():
    """Loads of 1e-20 to 1e20 of a server are outside of what HiGHS takes in a matrix, so arcs have units of their own."""
    rng = np.random.default_rng(1)
    wide = market(15, 20, 1, rates=10.0 ** rng.uniform(-10, 10, (15, 20)))
    best = (wide.weights[:, None] * wide.rates.toarray()).max(axis=0) @ wide.capacities[:, 0]
    for method in ("highs", "exact"):
        found = solve(wide, "utilitarian", method)
        assert found.termination == "optimal"
        assert found.values["objective"] == pytest.approx(best, rel=EXACT)
    assert solve(wide, "lmmf").termination == "optimal"
    assert solve(wide, "lmmf", "geometric-binner").termination == "approximate"
