"""The lexicographic rounds: Z's saturation test, faces, lifted proofs, deep sequences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from scipy.optimize import linprog
from tolerances import EXACT, RESIDUAL, SHARES

from fairalloc.formulations import mechanism
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.weak_duality import excess, feasible
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.transformations.own_time import with_own_time
from fairalloc.solvers import METHODS, residual, solve
from fairalloc.solvers.backends import highs_session
from fairalloc.solvers.lexicographic import rounds
from fairalloc.solvers.lexicographic.faces import Proofs
from fairalloc.solvers.lexicographic.rounds import solve_rounds
from fairalloc.solvers.method import Limits

SEEDS = st.integers(0, 10_000)
TAKEN = rounds._taken


def can_rise(instance, utilities, n, protected):
    """By one LP: whether user n can have more while the protected users keep what they have."""
    arcs = instance.arcs
    rows = np.vstack([arcs.load.toarray(), -arcs.owner.toarray()[protected]])
    sides = np.concatenate([np.ones(instance.K * instance.R), -utilities[protected]])
    answer = linprog(-arcs.owner.toarray()[n], A_ub=rows, b_ub=sides)
    return -answer.fun > utilities[n] + 1e-9


def test_zs_printed_saturation_test_does_not_end():
    """Z III-A, round t >= 2, protects only users of earlier rounds: two users who share what is left are never placed.

    Users 1 and 2 share resource 1 and stop at 1/2 in round 1; users 3 and 4 share resource 2 and stop at 1 in round 2.
    """
    instance = Instance([[1, 0], [1, 0], [0, "1/2"], [0, "1/2"]], [[1, 1]])
    fair = solve(instance, "lmmf", "highs").tasks
    np.testing.assert_allclose(fair, [0.5, 0.5, 1, 1], rtol=EXACT)
    placed_before = [0, 1]
    assert all(can_rise(instance, fair, n, placed_before) for n in (2, 3)), "as printed, round 2 places nobody, for ever"
    assert not any(can_rise(instance, fair, n, [0, 1, 2, 3]) for n in (2, 3)), "protecting everybody, it places both"
    assert len(solve(instance, "lmmf", "highs").round_prices) == 2


def test_the_rounds_of_zs_three_users():
    """a_1 = 1 for users 1 and 2, a_2 = 2 for user 3, as printed; every round can be looked at."""
    instance, item = example("zarchy-rounds").instance, mechanism("lmmf")
    seen = []
    scaled, _ = item.canonical(instance)
    session = METHODS["highs:leximin"].open(item, scaled, Limits())

    def watched(now):
        seen.append(now)
        return session.solve(now)

    solve_rounds(item, scaled, watched, 1e-9)
    assert [now.active.tolist() for now in seen] == [[True, True, True], [False, False, True]]


def test_a_round_lost_in_rounding_is_not_used():
    """A later round that takes more from users fixed before than the active ones could gain: the round before is the answer.

    User 2 pays a ten-thousandth of what user 1 pays, so that a gap of 1e-9 leaves it a rise of 1e-5.
    """
    instance, item = Instance([[1, "1/20"], ["1/1000", 1]], [[1, 1]], weights=[1, "1/10"]), mechanism("drfh")
    scaled, _ = item.canonical(instance)

    class Spoilt:
        def __init__(self, part):
            self.part, self.answers = part, []
            self.session = METHODS["highs:leximin"].open(item, scaled, Limits())

        def solve_round(self, now):
            x, prices = self.session.solve(now)
            self.answers.append((1.0 - 1e-9 if now.active.all() else self.part) * x)
            return self.answers[-1], prices

    lost, kept = Spoilt(0.01), Spoilt(1.0)
    x, layers = solve_rounds(item, scaled, lost.solve_round, 1e-8)
    assert len(lost.answers) == 2
    assert len(layers) == 1
    np.testing.assert_array_equal(x, lost.answers[0])
    x, layers = solve_rounds(item, scaled, kept.solve_round, 1e-8)
    assert len(layers) == 2
    assert not np.array_equal(x, kept.answers[0])


def test_sums_are_known_to_rounding():
    """A load above 1 by what summing 10^4 products loses stays; more is shrunk."""
    instance = Instance(np.ones((10_000, 1)), [[1.0]])
    for over, shrunk in ((1e-15, False), (1e-12, True)):
        x = np.full(10_000, (1.0 + over) / instance.arcs.load.sum())
        assert (feasible(instance, x) is not x and feasible(instance, x).sum() < x.sum()) == shrunk


@pytest.mark.parametrize("seed", [1545, 1585])
def test_a_round_in_which_primal_simplex_fails_is_solved_from_no_basis(seed):
    """On these HiGHS' primal simplex, started from the last round's basis, ends with no answer."""
    assert solve(generators.zero_demand(8, 5, 2, seed), "lmmf", "highs:leximin").claims_success


def test_the_pivots_before_no_basis_count(monkeypatch):
    wang = example("wang-fig2").instance
    pivots = solve(wang, "drfh", "highs:leximin").iterations
    monkeypatch.setattr(highs_session, "LOST", {"optimal"})
    monkeypatch.setattr(highs_session, "COLD", {})
    assert solve(wang, "drfh", "highs:leximin").iterations == 2 * pivots > 0


@pytest.mark.deep
@settings(max_examples=drawn(30))
@given(st.sampled_from(["zero_demand", "racks", "finite", "placement"]), SEEDS, st.booleans())
def test_faces_change_nothing_but_the_digits(family, seed, lexicographic_tasks):
    """With and without faces, hot or cold: the same fair shares."""
    name = "lmmf" if lexicographic_tasks else "tsf"
    instance = getattr(generators, family)(8, 5, 2, seed)
    expected = solve(instance, name, "highs").tasks
    for method in ("highs:leximin", "cvxpy:rounds", "cvxpy:clarabel"):
        np.testing.assert_allclose(solve(instance, name, method).tasks, expected, rtol=SHARES, err_msg=method)


@settings(max_examples=drawn(40))
@given(st.sampled_from(["zero_demand", "racks", "finite", "variants"]), SEEDS)
def test_lifted_prices_prove_every_round_without_a_reference(family, seed):
    """The prices that come back are proofs over all arcs, whatever faces the rounds were solved on."""
    instance, item = getattr(generators, family)(8, 5, 2, seed), mechanism("lmmf")
    allocation = solve(instance, "lmmf", "highs:leximin")
    assert (allocation.round_prices >= 0).all()
    v = item.rate(instance) * (instance.arcs.owner @ feasible(instance, allocation.x))
    assert (excess(instance, item.rate(instance), v, allocation.round_prices) <= RESIDUAL * v).all()


def in_turn(proofs, instance, prices, now):
    """`Proofs.lifted` as it is defined: all rounds before, the last first, whether something lacks or not."""
    result, lacking = np.where(now.at_most, np.maximum(prices, 0.0), np.where(now.full, prices, 0.0)), []
    for k in reversed(range(len(proofs.prices))):
        proof = proofs.prices[k]
        open_ = (proofs.closed_by < 0) | (proofs.closed_by > k)
        more = [0.0, *(-result[row] / proof[row] for row in np.flatnonzero((proofs.filled_by == k) & (proof > 0)))]
        for a in np.flatnonzero(proofs.closed_by == k):
            others = np.flatnonzero(open_ & (instance.arcs.user == instance.arcs.user[a]))
            costs, before = instance.arcs.costs(result), instance.arcs.costs(proof)
            if before[a] > before[others].min():
                more.append((costs[others].min() - costs[a]) / (before[a] - before[others].min()))
        lacking += [k] if max(more) > 0.0 else []
        result = result + max(more) * proof
    return np.maximum(result, 0.0), lacking


def test_only_rounds_that_lack_something_are_read_again(monkeypatch):
    """As many rounds as users with their own time had taken time with the square of their number; racks need several."""
    lifted, one, told, needed = Proofs.lifted, Proofs._lacking, [], []

    def both(self, instance, prices, now):
        expected, lacking = in_turn(self, instance, prices, now)
        needed.append(len(lacking))
        result = lifted(self, instance, prices, now)
        np.testing.assert_allclose(result, expected, rtol=0, atol=EXACT * expected.max())
        return result

    monkeypatch.setattr(Proofs, "lifted", both)
    monkeypatch.setattr(Proofs, "_lacking", lambda *given: told.append(given[-1]) or one(*given))
    timed = with_own_time(generators.market(30, 5))
    assert len(solve(timed, "lmmf", "highs:leximin", isolate=False).round_prices) == 30
    assert not told
    for seed in range(40):
        solve(generators.racks(20, 10, 2, seed), "lmmf", "highs:leximin", isolate=False)
    assert 0 < sum(needed) <= len(told) <= 2 * sum(needed)


def test_a_proof_fails_where_the_last_user_misses_something():
    """Rounds of prices, but the user of the last round got a millionth too little: the residual shows it."""
    instance = example("zarchy-rounds").instance
    allocation = solve(instance, "lmmf", "highs:leximin")
    x = np.array(allocation.x)
    x[instance.arcs.user == 2] *= 1 - 4e-6
    assert 3e-6 < residual(mechanism("lmmf"), replace(allocation, x=x)) < 1e-5


def test_deep_sequences_keep_their_digits():
    """Many rounds, several variants, two servers a user: every kind of solver agrees, and none is believed without proof."""
    rng = np.random.default_rng(0)
    base = generators.variants(100, 20, 3, 1)
    eligible = np.zeros((100, 20), bool)
    for n in range(100):
        eligible[n, rng.choice(20, 2, replace=False)] = True
    instance = base.replace(eligible=eligible)
    answers = {m: solve(instance, "lmmf", m) for m in ("highs:leximin", "highs", "cvxpy:highs", "cvxpy:clarabel")}
    assert len(answers["highs"].round_prices) > 10
    for method, allocation in answers.items():
        assert allocation.residual <= RESIDUAL, method
        np.testing.assert_allclose(allocation.tasks, answers["highs"].tasks, rtol=1e-9, err_msg=method)


def test_the_reference_catches_a_wrong_answer_with_plausible_prices():
    """The deviation from the reference's shares is no loophole: a wrong allocation deviates as much as it is wrong."""
    instance = generators.racks(20, 10, 2, 3)
    allocation = solve(instance, "tsf", "highs:leximin")
    x = np.array(allocation.x)
    x[instance.arcs.user == 7] *= 0.99
    assert residual(mechanism("tsf"), Allocation(instance, x)) >= 0.009


def test_wang_6_is_not_enough_under_placement():
    """drfh-lp reaches g for all, but K Fig. 1's users 3 and 4 could go on: its residual as drfh says so."""
    instance = example("khamse-fig1").instance
    single = solve(instance, "drfh-lp", "cvxpy:clarabel")
    assert single.values["g"] == pytest.approx(0.2, rel=1e-8)
    assert single.residual <= RESIDUAL
    assert residual(mechanism("drfh"), single) > 0.01


@settings(max_examples=drawn(30))
@given(SEEDS)
def test_wang_6_is_enough_with_positive_demands(seed):
    """Under W's hypotheses the single LP is DRFH (W Prop 2)."""
    instance = generators.generic(6, 3, 3, seed)
    np.testing.assert_allclose(solve(instance, "drfh-lp").tasks, solve(instance, "drfh").tasks, rtol=SHARES)


def test_the_first_round_knows_nothing():
    instance = example("wang-fig2").instance
    first = Round.first(instance)
    assert first.active.all()
    assert first.at_most.all()
    assert not first.closed.any()
    assert not first.full.any()


# ---- steps of a round, by hand ------------------------------------------------------------------------------------------

ONE_POOL = Instance([[1]] * 5, [[1]])


def test_how_far_shares_can_rise_is_measured_from_the_least_that_rises():
    """In a pool of 1 that is all priced, 0.2 and 0.3 leave 1 - 0.4 to the first and 1 - 0.5 to the second."""
    two, v, prices = Instance([[1]] * 2, [[1]]), np.array([0.2, 0.3]), np.ones((1, 1))
    now = Round.first(two)
    np.testing.assert_allclose(rounds._rise(two, np.ones(2), v, prices, now), [0.8 / 0.2 - 1, 0.8 / 0.2 - 1])
    later = replace(now, active=np.array([False, True]))
    np.testing.assert_allclose(rounds._rise(two, np.ones(2), v, prices, later), [np.inf, 0.8 / 0.3 - 1])
    assert rounds._rise(two, np.ones(2), np.zeros(2), prices, now).min() > 1e290, "from nothing"


def test_of_two_faces_that_is_kept_whose_answer_takes_less_from_fixed_users():
    """On the first the fixed user loses a fifth of its level, as where an arc that is a little dear was left open."""
    two = Instance([[1]] * 2, [[1]])
    first = replace(Round.first(two), active=np.array([False, True]), level=np.array([0.5, 0.0]))
    other, asked = replace(first, implied=np.array([True])), []

    def solver(now):
        asked.append(now)
        return np.array([0.5, 0.5] if now.implied.any() else [0.4, 0.6]), np.ones((1, 1))

    now, x, _, taken = rounds._solved(two, np.ones(2), solver, [first, other], 1e-9)
    assert (now, x.tolist(), taken) == (other, [0.5, 0.5], 0.0)
    assert rounds._solved(two, np.ones(2), solver, [first], 1e-9)[3] == pytest.approx(0.2)
    asked.clear()
    rounds._solved(two, np.ones(2), solver, [other, first], 1e-9)
    assert len(asked) == 1, "the second is not asked where the first takes nothing"


def test_what_is_taken_is_the_largest_part_of_a_level_that_was_fixed():
    now = replace(Round.first(ONE_POOL), active=np.array([True, False, False, False, False]), level=np.array([9.0, 1, 2, 4, 0]))
    assert TAKEN(now, np.array([1.0, 0.9, 1.9, 5, 0])) == pytest.approx(0.1)
    assert TAKEN(now, np.array([1.0, 1.1, 2.0, 4, 0])) == 0
    assert TAKEN(Round.first(ONE_POOL), np.zeros(5)) == 0


@pytest.mark.parametrize("seed", range(6))
def test_users_with_limits_below_the_level_run_all_their_tasks(seed):
    """The level g is that with sum min(limit, g) = 1, which bisection finds; whoever has a limit below it is fixed there."""
    limits = np.random.default_rng(seed).uniform(0.02, 0.2 if seed == 5 else 0.6, 5)
    limits[0] = limits[0] if seed == 5 else np.inf
    instance, asked = ONE_POOL.replace(max_tasks=limits), []

    def water(now):
        asked.append(now)
        return np.where(now.active, (1 - now.level[~now.active].sum()) / now.active.sum(), now.level), np.ones((1, 1))

    first = replace(Round.first(instance), unlimited=True)
    now, x, _ = rounds._below_limits(instance, np.ones(5), water, first, 1e-9)
    low, high = 0.0, 1.0
    for _ in range(60):
        low, high = (low, middle) if np.minimum(limits, middle := (low + high) / 2).sum() >= 1 else (middle, high)
    np.testing.assert_allclose(x, np.minimum(limits, high), rtol=1e-12)
    assert now.active.tolist() == (limits > high).tolist()
    np.testing.assert_allclose(now.level[~now.active], limits[~now.active])
    assert 1 < len(asked) <= 5 or seed == 5
    same, capped, _ = rounds._below_limits(instance, np.ones(5), water, Round.first(instance), 1e-9)
    assert same.active.all()
    np.testing.assert_allclose(capped, np.minimum(0.2, limits))


def test_a_status_of_highs_that_is_none_is_an_error_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With numbers 24 orders of magnitude apart a later round ended as 'kNotset', and the message was empty."""
    monkeypatch.delitem(highs_session.TERMINATION, "kOptimal")
    answer = solve(generators.generic(5, 3, 2), "lmmf", "highs")
    assert (answer.termination, answer.message) == ("error", "its solver ended without an answer")


@pytest.mark.parametrize("method", ["highs", "highs:leximin", "cvxpy:highs"])
def test_who_runs_all_its_tasks_above_the_level_of_a_round_may_have_to_give_way(method):
    """The first round may let u6 run all its 7/4 tasks, of which u5 needs 11/16."""
    demands = [[4, 3, 4], [0, 1, 2], [1, 1, 0], [3, 3, 1], [0, 0, 3], [0, 0, 1]]
    instance = Instance(demands, [[3, 2, 6]], max_tasks=[None, None, 2, None, None, "7/4"])
    allocation = solve(instance, "lmmf", method)
    assert allocation.claims_success
    np.testing.assert_allclose(allocation.tasks, [1 / 4] * 4 + [17 / 16] * 2, rtol=1e-9)
