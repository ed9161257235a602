"""The residual of the game (game/residual.py): zero at known equilibria, large next to them; oracles without its code."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from planted_games import game_with_variants, planted_game
from profiles import drawn
from scipy.optimize import linprog
from strategies import allocations, instances
from tolerances import RECOVERED, RESIDUAL, ROUNDING, VISIBLE

from fairalloc.formulations import mechanism
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.prices import recovered_prices
from fairalloc.formulations.game.residual import bottleneck_gap, definition_gap, gaps, level_gap
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.feasibility import infeasibility, scaled_down

ALPHAS = [0.3, 0.5, 1, 2, 10, 50, 1000, "inf", [1, 50, "inf"], [0.5, 2, 5]]


def planted(seed, alpha, **more):
    """A planted game with "inf" understood."""
    values = [float(v) for v in alpha] if isinstance(alpha, list) else float(alpha)
    return planted_game(seed, alpha=values, **more)


def residual(game, x=None, prices=False):
    """The definition residual of the planted tasks, or of others."""
    return mechanism("alpha-pf-vds").configure(**game.parameters).residual(game.allocation(x, prices))


def judged(game, x):
    """The larger of both residuals, as `solve` reports them."""
    return max(residual(game, x), infeasibility(game.allocation(x)))


# ---- zero at equilibria ---------------------------------------------------------------------------------------------


@pytest.mark.few(6)
@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_planted_equilibria_have_no_residual(alpha):
    for seed in range(6):
        game = planted(seed, alpha, ties=seed % 2 == 0)
        assert residual(game, prices=True) <= 100 * ROUNDING, seed
        assert residual(game) <= RECOVERED, seed


@pytest.mark.parametrize("alpha", [0.5, 3, 50])
def test_planted_equilibria_of_the_wider_family_have_no_residual(alpha):
    for seed in range(6):
        game = planted_game(seed, alpha=alpha, A=[2, 1, 0.5], B=[0.5, 1, 0])
        assert residual(game, prices=True) <= 100 * ROUNDING, seed
        assert residual(game) <= RECOVERED, seed


@pytest.mark.parametrize(
    ("instance", "x"),
    [
        (Instance([[1]], [[3]]), [3]),
        (Instance([[1, 2]], [[3, 4], [5, 0], [1, 9]]), [2, 1]),  # server 2 has nothing for the one user
        (Instance([[1], [2]], [[4]]), [2, 1]),
        (Instance([[1], [1]], [[3], [0]]), [1.5, 1.5]),  # an empty server
        (Instance([[1, 0], [0, 1]], [[4, 2]]), [4, 2]),  # nothing in common
        (Instance([[1], [1]], [[3], [9]], eligible=[[1, 1], [1, 0]]), [0, 9, 3]),  # a user with one server less
        (Instance([[1], [1]], [[3]], weights=[1, 2], counts=[2]), [2, 4]),
    ],
)
@pytest.mark.parametrize("alpha", [0.5, 1, 3, 1000, "inf"])
def test_equilibria_by_hand(instance, x, alpha):
    """The single-user, single-server and disjoint cases, where every alpha agrees."""
    item = mechanism("alpha-pf-vds").configure(alpha=alpha)
    assert item.residual(Allocation(instance, x)) <= RECOVERED


@pytest.mark.parametrize("alpha", [0.5, 1, 1.7, 1.8, 3, 50, "inf"])
def test_server_2_of_khamse_figure_3_in_closed_form(alpha):
    """y_3 / 2 + y_4 <= 1 is cpu, y_3 + y_4 / 4 <= 1 memory. cpu alone is full, y_3 = 2^(1 / alpha) y_4, until memory is too."""
    instance = Instance([["1/4", 1], [1, "1/2"]], [[8, 16]])
    ratio = min(2 ** (1 / float(alpha)), 1.5)
    y4 = 1 / (1 + ratio / 2)
    item = mechanism("alpha-pf-vds").configure(alpha=alpha)
    assert item.residual(Allocation(instance, [16 * ratio * y4, 8 * y4])) <= RECOVERED
    assert item.residual(Allocation(instance, [16 * ratio * y4 - 0.02, 8 * y4])) > 1e-4


# ---- large next to them ---------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("alpha", [0.5, 1, 2, 50, 1000, "inf"])
@pytest.mark.parametrize("step", [1e-2, 1e-6])
def test_every_arc_counts(alpha, step):
    """More or less of one user on one server by a part `step` of it is seen, in proportion to the step."""
    for seed in range(2):
        game = planted(seed, alpha)
        gamma = game.instance.arcs.gamma
        for a in range(len(gamma)):
            for change in (step, -step):
                x = game.x.copy()
                x[a] += change * gamma[a]
                if x[a] >= 0:
                    assert judged(game, x) >= VISIBLE * step, (seed, a, change)


@pytest.mark.parametrize("alpha", [50, 1000, "inf"])
def test_large_alpha_sees_users_with_large_shares(alpha):
    """User 1 alone pays for memory and has four times the share of the others; (K 16) weighs it by 4^-alpha."""
    instance = Instance([[0, 1], [1, 0], [1, 0]], [[8, 4]], weights=[1, 2, 2])
    right, wrong = Allocation(instance, [4, 4, 4]), Allocation(instance, [3.9, 4, 4])
    item = mechanism("alpha-pf-vds").configure(alpha=alpha)
    assert item.residual(right) <= RECOVERED
    assert item.residual(wrong) == pytest.approx(0.1 / 3.9)
    game = Game(instance, 50)
    assert definition_gap(game, wrong.x, recovered_prices(game, wrong.x, np.arange(1)))[0] <= RESIDUAL


@pytest.mark.parametrize("alpha", [50, 200, 1000])
def test_rounding_on_idle_arcs_does_not_hide_an_equilibrium(alpha):
    """A point whose idle arcs hold 1e-9 of a server: the prices are found although such users could never pay them."""
    for seed in range(8):
        game = planted_game(seed, alpha=alpha, idle=0.5)
        idle = np.where(game.x == 0, 1e-9 * game.instance.arcs.gamma, 0.0)
        assert residual(game, game.x + idle) <= 1e4 * RECOVERED, seed


@pytest.mark.parametrize("name", ["alpha-pf-vds", "ps-dsf-tdm"])
def test_a_server_may_be_small_for_all_its_users(name):
    """Each runs a part of 1e-15 of its tasks there, and yet has prices there."""
    instance = Instance([[1], [1]], [[1], [1e-15]])
    assert mechanism(name).residual(Allocation(instance, [0.5, 5e-16, 0.5, 5e-16])) <= RECOVERED
    assert mechanism(name).residual(Allocation(instance, [0.4, 4e-16, 0.6, 6e-16])) >= VISIBLE


@pytest.mark.parametrize("missing", [1e-13, 1e-11, 1e-9])
@pytest.mark.parametrize("alpha", [0.5, 2, 20])
def test_prices_are_found_where_a_user_is_at_its_limit_up_to_rounding(alpha, missing):
    """It pays less than a task is worth to it, as one does that runs all its tasks."""
    limited = Instance([[1], [1]], [[1]], max_tasks=["1/4", None])
    allocation = Allocation(limited, [0.25 * (1 - missing), 0.75])
    assert mechanism("alpha-pf-vds", alpha=alpha).residual(allocation) == pytest.approx(missing, rel=1e-2)


def test_no_task_is_no_equilibrium():
    instance = Instance([[1], [1]], [[3]])
    for name in ("alpha-pf-vds", "ps-dsf", "ps-dsf-tdm"):
        assert mechanism(name).residual(Allocation(instance, [3, 0])) == 1
        assert mechanism(name).residual(Allocation(instance, [3, np.nan])) == 1


def test_next_to_nothing_of_a_full_resource_is_not_nothing():
    """PS-DSF jumps: user 1 takes 1e-7 of memory a task, so its share must not exceed that of user 2, who weighs 100."""
    instance = Instance([[1, 1e-7], [0, 1]], [[1, 1]], weights=[1, 100])
    item = mechanism("ps-dsf")
    assert item.residual(Allocation(instance, [1, 1 - 1e-7])) > 0.9
    x = 1 / (100 + 1e-7)
    assert item.residual(Allocation(instance, [x, 100 * x])) <= RECOVERED


def test_a_wasteful_point_with_two_empty_resources_is_seen():
    """Either price alone would keep user 1 away from server 2, where nothing is full and no price is due."""
    instance = Instance([[1, 1], [1, 1]], [[2, 2], [1, 1]], eligible=[[1, 1], [1, 0]])
    game, x = Game(instance, 2.0), np.array([1.0, 0.0, 1.0])
    prices = np.array([[1.5, 1.5], [9.0, 9.0]])
    assert level_gap(game, x, prices)[1] == 1
    assert gaps(game, x).max() > 0.4


@pytest.mark.parametrize(
    ("part", "limit", "gap"), [(1, None, 0), (0.9, None, 0.1), (0.3, None, 0.7), (0.3, 0.625, 0.2), (2, None, 0.5)]
)
def test_levels_that_are_too_low_or_too_high_by_a_part(part, limit, gap):
    """Two users halve a server: at 0.9 of the right price 0.1 is not paid, and nobody wants more than is left of its limit."""
    game, x = Game(Instance([[1], [1]], [[1]], max_tasks=[limit, limit]), 2.0), np.array([0.5, 0.5])
    right = recovered_prices(game, x, np.arange(1))
    assert level_gap(game, x, part * right)[0] == pytest.approx(gap, abs=RECOVERED)


def test_prices_are_hints_and_not_believed():
    game = planted_game(3, alpha=2.0)
    wrong = game.x * np.where(game.instance.arcs.server == 0, 0.5, 1.0)
    assert residual(game, wrong, prices=True) > 0.1
    bad = replace(game.allocation(prices=True), prices=np.full((3, 3), 7.0))
    assert mechanism("alpha-pf-vds").configure(**game.parameters).residual(bad) <= RECOVERED
    with pytest.raises(InstanceError, match="prices holds a number that is not finite"):
        replace(bad, prices=np.full((3, 3), np.nan))


# ---- oracles --------------------------------------------------------------------------------------------------------


def gain_left(game, x, i):
    """The relative gain left by (K 16) at server i, by the linear program as it is written there."""
    instance, arcs = game.instance, game.instance.arcs
    here = np.flatnonzero(arcs.server == i)
    z = game.shares(game.tasks(x))[here]
    worth = ((game.A[i] / z) ** game.alpha[i] + game.B[i] / z) / arcs.gamma[here]
    best = linprog(-worth, A_ub=arcs.demand[here].T, b_ub=instance.pools[i], method="highs")
    return 1.0 - float(worth @ x[here]) / -best.fun


@pytest.mark.few(2)
@pytest.mark.parametrize("alpha", [0.5, 1, 2, 5])
def test_the_gap_is_a_bound_on_the_linear_program_of_k_16(alpha):
    rng = np.random.default_rng(1)
    for seed in range(8):
        planted_ = planted_game(seed, alpha=alpha, B=float(seed % 2))
        game = Game(planted_.instance, alpha, 1.0, float(seed % 2))
        for x in (planted_.x, planted_.x * rng.uniform(0.5, 1, len(planted_.x))):
            left = np.array([gain_left(game, x, i) for i in range(3) if np.any(game.server == i)])
            for kappa in (planted_.kappa, rng.uniform(0, 1, (3, 3)), recovered_prices(game, x, np.arange(3))):
                gap = definition_gap(game, x, kappa)[np.unique(game.server)]
                assert np.all(gap >= left - 1e3 * ROUNDING), seed
        assert np.max(left) > 0.01  # the second point is none


def is_bottleneck_everywhere(instance, x):
    """Theorem 1 of P in rationals, word for word."""
    exact, arcs = instance.exact, instance.arcs
    on = {(int(n), int(i)): Fraction(v) for n, i, v in zip(arcs.user, arcs.server, x, strict=True)}
    tasks = [sum((v for (m, _), v in on.items() if m == n), Fraction(0)) for n in range(instance.N)]
    resources = range(instance.R)

    def share(n, i):
        gamma = min(exact.capacities[i][r] / exact.demands[n][0][r] for r in resources if exact.demands[n][0][r])
        return tasks[n] / gamma / exact.weights[n]

    def bottleneck(n, i, r):
        used = sum(v * exact.demands[m][0][r] for (m, j), v in on.items() if j == i)
        rivals = [m for (m, j), v in on.items() if j == i and v * exact.demands[m][0][r] > 0]
        demanded = exact.demands[n][0][r] > 0
        return demanded and used == exact.capacities[i][r] and all(share(n, i) >= share(m, i) for m in rivals)

    return all(any(bottleneck(n, i, r) for r in resources) for n, i in on)


@given(st.data())
def test_ps_dsf_is_theorem_1_of_p(data):
    """On small integers, where ties and full resources are frequent, the residual is 0 iff the theorem holds in rationals."""
    users, servers, resources = (data.draw(st.integers(1, 3)) for _ in range(3))
    small = st.sampled_from([0, 1, 1, 2])
    vectors = st.lists(small, min_size=resources, max_size=resources).filter(any)
    instance = Instance(
        [data.draw(vectors) for _ in range(users)],
        [data.draw(st.lists(st.sampled_from([2, 4]), min_size=resources, max_size=resources)) for _ in range(servers)],
        weights=[data.draw(st.sampled_from([1, 2])) for _ in range(users)],
    )
    x = np.array([data.draw(st.sampled_from([0, 0.5, 1, 1, 2])) for _ in instance.arcs.user])
    allocation = Allocation(instance, x)
    assume(not infeasibility(allocation) and np.all(allocation.tasks > 0))
    gap = mechanism("ps-dsf").residual(allocation)
    assert (gap <= ROUNDING) == is_bottleneck_everywhere(instance, x)


def test_both_sides_of_theorem_1_occur():
    instance = Instance([[1, 0], [1, 1]], [[2, 2]])
    assert is_bottleneck_everywhere(instance, [1, 1])
    assert mechanism("ps-dsf").residual(Allocation(instance, [1, 1])) == 0
    assert not is_bottleneck_everywhere(instance, [1.5, 0.5])
    assert mechanism("ps-dsf").residual(Allocation(instance, [1.5, 0.5])) == 1 - 0.5 / 1.5


def test_ties_have_no_bottleneck_trouble():
    """Three users with the same share at one server, whose numbers are not exact in floating point."""
    instance = Instance([["1/3", 1], ["1/7", "3/7"], [1, 3]], [[1, 3]])
    x = np.array([1.0, 7 / 3, 1 / 3])
    assert bottleneck_gap(Game(instance, np.inf), x, 0) <= ROUNDING


def printed_gap(game, x, i):
    """The formula of `bottleneck_gap`, every pair of users compared."""
    here, y, tasks = np.flatnonzero(game.server == i), game.fractions(x), game.tasks(x)
    z, w, slack = game.shares(tasks), game.w[here], np.maximum(1.0 - y[here] @ game.w[here], 0.0)
    own, total = x / tasks[game.user], tasks[game.user] / game.gamma
    wanted, worst = game.wanted(tasks)[game.user[here]], 0.0
    for n, a in enumerate(here):
        gaps = [wanted[n]]
        for r in np.flatnonzero(w[n] > 0):
            envied = [min(own[b], 1.0 - z[a] / z[b]) for m, b in enumerate(here) if w[m, r] > 0]
            gaps.append(max(slack[r] / (w[n, r] * total[a]), *envied))
        worst = max(worst, min(1.0, *gaps))
    return worst


@settings(max_examples=drawn(60))
@given(instances(variants=False), st.integers(0, 10**6))
def test_bottlenecks_found_by_sorting_are_those_of_all_pairs(instance, seed):
    """With tasks that tie, on servers that are full or not."""
    game, rng = Game(instance, np.inf), np.random.default_rng(seed)
    parts = rng.integers(1, 4, len(game.gamma)) if seed % 2 else rng.random(len(game.gamma)) ** 3
    x = scaled_down(game.instance, game.gamma * parts)
    if np.all(game.tasks(x) > 0):
        for i in range(instance.K):
            assert bottleneck_gap(game, x, i) == pytest.approx(printed_gap(game, x, i), abs=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_the_arrays_of_a_game_are_what_its_text_says(seed):
    """Arc by arc, with several variants, limits, weights, and servers of finite and infinite alpha."""
    instance = game_with_variants(seed)
    game, rng = Game(instance, [0.5, 3, np.inf], [2, 1, 1], [0.5, 0, 0]), np.random.default_rng(seed)
    arcs, load, A, R = instance.arcs, instance.arcs.load.toarray(), range(instance.A), range(instance.R)
    x, kappa = game.gamma * rng.random(instance.A) * rng.integers(0, 2, instance.A), rng.random((3, instance.R))
    kappa[rng.integers(3), rng.integers(instance.R)] = 0.0
    u = [sum(x[a] for a in A if arcs.user[a] == n) for n in range(instance.N)]
    used = (load @ x).reshape(3, instance.R)
    excess, beta = np.empty(instance.A), (1, 3, 1)
    for a in A:
        n, i = int(arcs.user[a]), int(arcs.server[a])
        w = [load[i * instance.R + r, a] * game.gamma[a] for r in R]
        z = u[n] / instance.weights[n] / game.gamma[a]
        with np.errstate(divide="ignore"):
            marginal = np.log(((2 / z) ** 0.5 + 0.5 / z, z**-3.0, 1 / z)[i])
            terms = [w[r] * kappa[i, r] ** beta[i] for r in R] if i < 2 else [kappa[i, r] * (w[r] > 0) for r in R]
            excess[a] = (np.log(sum(terms) if i < 2 else max(terms)) - marginal) / beta[i]
        same = [b for b in A if arcs.user[b] == n and arcs.server[b] == i]
        assert game.cheapest(x)[a] == min(x[b] for b in same)
        assert game.several[i] == any(len([b for b in A if (arcs.user[b], arcs.server[b]) == (m, i)]) > 1 for m in arcs.user)
        assert game.own_parts(x)[a] == pytest.approx(x[a] / u[n] if u[n] else 0, rel=ROUNDING)
        assert game.wanted(np.array(u))[n] == pytest.approx(max(1 - u[n] / instance.max_tasks[n], 0), rel=ROUNDING)
        for r in R:
            slack, takes = max(1 - used[i, r], 0), w[r] * u[n] / game.gamma[a]
            gain = 1 if slack >= takes else slack / takes
            assert game.gains(x)[a, r] == pytest.approx(gain, rel=1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(game.excess(np.array(u), kappa), excess, rtol=1e-9)
    np.testing.assert_allclose(game.load(game.fractions(x)), used, rtol=ROUNDING, atol=ROUNDING)
    for i in range(2):
        costs = np.array([load[i * instance.R :][: instance.R, a] * kappa[i] ** beta[i] for a in A if arcs.server[a] == i])
        total = costs.sum(axis=1)[:, None]
        right = np.divide(costs, total, out=np.zeros_like(costs), where=total > 0).max(axis=0)
        np.testing.assert_allclose(game.parts(kappa)[i], right, rtol=1e-9, atol=ROUNDING)
    fits, parts = scaled_down(game.instance, 3 * x), arcs.owner @ scaled_down(game.instance, 3 * x)
    over = np.maximum(3 * used.max(axis=1), 1)[arcs.server]
    over = over * np.maximum((arcs.owner @ (3 * x / over)) / instance.max_tasks, 1)[arcs.user]
    np.testing.assert_allclose(fits, 3 * x / over, rtol=ROUNDING)
    assert np.all(parts <= instance.max_tasks * (1 + ROUNDING))
    np.testing.assert_array_equal(scaled_down(game.instance, 0.9 * fits), 0.9 * fits)


# ---- invariance -----------------------------------------------------------------------------------------------------


def points(alpha):
    """An equilibrium and a point that is none, on one instance."""
    game = planted(5, alpha)
    return [(game, game.x), (game, game.x * np.linspace(0.6, 1, len(game.x)))]


@pytest.mark.few(8)
@pytest.mark.parametrize("alpha", [0.5, 2, 50, "inf", [1, 3, "inf"]], ids=str)
@pytest.mark.parametrize("change", ["resources", "tasks", "weights", "names", "order"])
def test_the_residual_does_not_depend_on_units_or_order(alpha, change):
    for game, x in points(alpha):
        other, tasks, parameters = changed(game, x, change)
        item = mechanism("alpha-pf-vds").configure(**parameters)
        assert item.residual(Allocation(other, tasks)) == pytest.approx(residual(game, x), rel=1e-4, abs=RECOVERED)


def changed(game, x, change):
    """The same problem in other units (powers of 2 and 10) or another order."""
    instance, arcs = game.instance, game.instance.arcs
    own = {(int(n), int(i)): d for n, i, d in zip(arcs.user, arcs.server, arcs.demand, strict=True)}
    base = np.concatenate(instance.demands)
    if change == "resources":
        unit = np.array([1e6, 1, 1e-3])
        scaled = {key: d * unit for key, d in own.items()}
        return instance.replace(demands=base * unit, capacities=instance.capacities * unit, demands_on=scaled), x, game.parameters
    if change == "tasks":
        unit = np.array([1e3, 1, 1e-5, 7])
        scaled = {(n, i): d / unit[n] for (n, i), d in own.items()}
        return instance.replace(demands=base / unit[:, None], demands_on=scaled), x * unit[arcs.user], game.parameters
    if change == "weights":
        return instance.replace(weights=instance.weights * 37.0), x, game.parameters
    if change == "names":
        return instance.replace(users=["d", "c", "b", "a"], servers=["z", "y", "x"]), x, game.parameters
    users, servers = [2, 0, 3, 1], [1, 2, 0]
    moved = {(users.index(n), servers.index(i)): d for (n, i), d in own.items()}
    tasks = {(users.index(n), servers.index(i)): v for (n, i), v in zip(own, x, strict=True)}
    other = Instance(
        base[users],
        instance.capacities[servers],
        weights=instance.weights[users],
        eligible=instance.placement[np.ix_(users, servers)],
        demands_on=moved,
    )
    order = zip(other.arcs.user.tolist(), other.arcs.server.tolist(), strict=True)
    alpha = [game.parameters["alpha"][i] for i in servers]
    return other, np.array([tasks[key] for key in order]), {"alpha": alpha}


@pytest.mark.parametrize("alpha", [0.5, 2, "inf"])
def test_splitting_a_pool_keeps_an_equilibrium(alpha):
    """A row with count 2 is two servers that share evenly; with A and B halved, see the docstring of game/game.py."""
    pool = planted(2, alpha)
    split = pool.instance.replace(counts=[2, 2, 2], capacities=pool.instance.capacities / 2)
    item = mechanism("alpha-pf-vds").configure(**pool.parameters)
    assert item.residual(Allocation(split, pool.x)) <= RECOVERED


# ---- any input ------------------------------------------------------------------------------------------------------


@settings(max_examples=drawn(40))
@given(st.data(), st.sampled_from([0.5, 1, 2, 50, "inf"]))
def test_any_point_has_a_residual_between_0_and_1(data, alpha):
    instance = data.draw(instances(variants=False, limits=False))
    allocation = data.draw(allocations(instance))
    for item in (mechanism("alpha-pf-vds").configure(alpha=alpha), mechanism("ps-dsf"), mechanism("ps-dsf-tdm")):
        assert 0 <= item.residual(allocation) <= 1


@settings(max_examples=drawn(25))
@given(st.integers(0, 10**6), st.sampled_from(ALPHAS), st.booleans())
@example(612296, [1, 50, "inf"], True)  # an idle user needs a price of e^-33.6 of the others': the program took one with slack
def test_any_planted_game_has_no_residual(seed, alpha, ties):
    game = planted(seed, alpha, ties=ties)
    assert residual(game) <= RECOVERED


def test_the_integer_program_knows_no_variants():
    with pytest.raises(NotApplicable, match="needs one demand vector for each user, but user 'u1' has 2"):
        mechanism("ps-dsf").cvxpy(Instance([[[1], [2]]], [[3]]))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"alpha": 0}, "alpha is 0 for server 's1', but it must be positive or inf"),
        ({"alpha": [1, -2]}, "alpha is -2 for server 's2'"),
        ({"alpha": [1]}, "alpha has 1 entries, but there are 2 servers"),
        ({"alpha": "x"}, "alpha is 'x', but it must be a number"),
        ({"alpha": 10**400}, "alpha is 1000.*, but it must be a number"),
        ({"alpha": 10**5000}, "alpha is an integer of thousands of digits, but it must be a number"),
        ({"alpha": np.complex128(1)}, "alpha is .*, but it must be a number"),
        ({"alpha": np.array("x")}, "alpha is 'x', but it must be a number"),
        ({"alpha": {"s1": 1}}, "alpha lacks server 's2'"),
        ({"alpha": {"s1": 1, "s3": 1}}, "alpha names server 's3'"),
        ({"A": 0}, "A, B are 0, 0 for server 's1', but they must be >= 0, finite and not both 0"),
        ({"A": 1e308, "B": 1e308}, r"A, B are 1e\+308, 1e\+308 for server 's1', but they must be >= 0, finite and not both 0"),
        ({"A": -1, "B": 2}, "A, B are -1, 2 for server 's1'"),
        ({"A": 2, "B": -1}, "A, B are 2, -1 for server 's1'"),
        ({"alpha": "inf", "B": 1}, "A, B are 1, 1 for server 's1', but with alpha = inf they must be 1 and 0"),
        ({"gamma": 1}, "mechanism 'alpha-pf-vds' has no parameter 'gamma': it has alpha, A, B"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, sentence):
    with pytest.raises(FairallocError, match=sentence.replace("(", r"\(")):
        mechanism("alpha-pf-vds").configure(**parameters).domain(Instance([[1], [1]], [[1], [1]]))


@pytest.mark.parametrize(("alpha", "read"), [(np.array(3), 3.0), (range(2, 4), [2.0, 3.0]), (Fraction(1, 2), 0.5)])
def test_parameters_may_be_any_real_numbers(alpha, read):
    item = mechanism("alpha-pf-vds").configure(alpha=alpha)
    assert np.all(item.game(Instance([[1], [1]], [[1], [1]])).alpha == read)
    assert item.parameters == {"alpha": read}


def test_time_shared_servers_are_judged_by_time():
    """One server, two users who share nothing: a divisible server serves both fully, a time-shared one gives halves."""
    instance = Instance([[1, 0], [0, 1]], [[4, 2]])
    assert mechanism("ps-dsf-tdm").residual(Allocation(instance, [2, 1])) <= RECOVERED
    assert mechanism("ps-dsf-tdm").residual(Allocation(instance, [2.1, 0.95])) > 0.04
    assert mechanism("ps-dsf").residual(Allocation(instance, [2, 1])) == 1  # each could run twice as much


def test_generated_families_give_finite_residuals():
    for family in ("generic", "tied", "zero_demand", "placement", "badly_scaled"):
        instance = getattr(generators, family)(8, 3, 3, 1)
        even = Allocation(instance, instance.arcs.gamma / instance.N)
        for alpha in (1, 50, "inf"):
            assert 0 < mechanism("alpha-pf-vds").configure(alpha=alpha).residual(even) <= 1


def test_time_shared_instances_are_made_once():
    """Every residual asks for one, and making it takes a rational for every arc."""
    instance = Instance([[1, 2], [2, 1]], [[4, 2]])
    item = mechanism("ps-dsf-tdm")
    assert item.domain(instance) is item.domain(instance)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_as_many_arcs_as_servers_are_not_taken_for_servers(alpha):
    """Prices of arcs (A, R) were read as those of servers where A = K, and an equilibrium had the residual 1."""
    eligible = [[False, True, False], [True, True, False]]
    instance = Instance([[2, 0, 0, 1], [2, 0, 0, 1]], [[2, 2, 3, 2], [3, 1, 1, 1], [3, 4, 4, 4]], eligible=eligible)
    assert gaps(Game(instance, alpha), np.array([1.0, 1.0, 0.0])).max() <= ROUNDING
