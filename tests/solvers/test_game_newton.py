"""Newton methods for the game: what must hold of `continuation`, agreement, honesty, Lemke's pivoting, invariance."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_games import planted_game
from profiles import drawn
from scipy.optimize import linprog
from scipy.special import logsumexp
from strategies import instances
from tolerances import BARGAINING, DIFFERENCES, EXACT, RESIDUAL, ROUNDING, SHARES

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.transformations.aggregation import expand
from fairalloc.solvers import ACCURACY, METHODS, methods_for, solve
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathPoint, fits
from fairalloc.solvers.game.complementarity import Complementarity, Linearization
from fairalloc.solvers.game.equations import LevelEquations, equal, levels_at
from fairalloc.solvers.game.josephy_newton import lemke
from fairalloc.solvers.method import Limits

GAME, HIGH = "alpha-pf-vds", ACCURACY["high"]
NEWTON = ("continuation", "semismooth-newton", "josephy-newton")
FINITE = NEWTON[1:]
FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "badly_scaled")
ALPHAS = (0.5, 1, 2, 3, 5, 10, 50, np.inf)
KINDS = (*ALPHAS, "mixed", "family")
SMALL = (*((4, 2, 3, seed) for seed in range(3)), *((12, 4, 3, seed) for seed in range(2)))


def game(kind, family, size):
    """An instance, uneven weights for odd seeds, and the parameters of the kind of game."""
    instance = getattr(generators, family)(*size)
    rng = np.random.default_rng([*size, len(family)])
    if size[-1] % 2:
        instance = instance.replace(weights=rng.uniform(0.3, 3.0, instance.N))
    if kind not in ("mixed", "family"):
        return instance, {"alpha": kind}
    alpha = rng.choice(ALPHAS, instance.K)
    if kind == "mixed":
        return instance, {"alpha": alpha.tolist()}
    finite = np.isfinite(alpha)
    A = np.where(finite, rng.uniform(0.0, 2.0, instance.K) * (rng.random(instance.K) < 0.8), 1.0)
    B = np.where(finite, rng.uniform(0.1, 2.0, instance.K), 0.0)
    return instance, {"alpha": alpha.tolist(), "A": A.tolist(), "B": B.tolist()}


def meets(instance, method="continuation", **parameters):
    """The method says "optimal" and the definition agrees at accuracy "high"."""
    allocation = solve(instance, GAME, method, accuracy="high", **parameters)
    assert allocation.termination == "optimal", (allocation.message, allocation.residual, parameters)
    assert allocation.residual <= HIGH, (allocation.residual, instance.name, parameters)
    return allocation


# ---- continuation: every game ---------------------------------------------------------------------------------------


@pytest.mark.few(4)
@pytest.mark.parametrize(("kind", "family"), list(product(KINDS, FAMILIES)))
def test_continuation_solves_every_game(kind, family):
    """Five small games each: 300 in all."""
    for size in SMALL:
        instance, parameters = game(kind, family, size)
        meets(instance, **parameters)


def test_there_are_300_games():
    assert len(KINDS) * len(FAMILIES) * len(SMALL) == 300


@pytest.mark.parametrize(("family", "kind"), [*zip(FAMILIES, (10, 50, 5, np.inf, "mixed", "family"), strict=True)])
def test_continuation_solves_larger_games(family, kind):
    instance, parameters = game(kind, family, (50, 10, 4, 1))
    meets(instance, **parameters)


@settings(max_examples=drawn(25))
@given(instances(variants=False, limits=False), st.sampled_from([0.5, 1.0, 2.0, 10.0, np.inf]))
def test_continuation_solves_every_feature(instance, alpha):
    """One user, one server, counts, overrides, placement, hostile units, ties."""
    meets(instance, alpha=alpha)


def test_prices_prove_the_answer(monkeypatch):
    """The residual needs no linear program of its own: the levels that come with the tasks are enough."""
    monkeypatch.setattr("fairalloc.formulations.game.prices.recovered_prices", lambda *_: pytest.fail("prices were looked for"))
    for alpha in (1, 3, 50):
        meets(generators.zero_demand(12, 4, 3, 5), alpha=alpha)


def test_time_sharing_is_a_game_too():
    for method in NEWTON:
        allocation = solve(generators.placement(8, 3, 3, 1), "ps-dsf-tdm", method, accuracy="high")
        assert allocation.claims_success
        assert allocation.residual <= HIGH


def test_continuation_is_the_default():
    for name in (GAME, "ps-dsf", "ps-dsf-tdm"):
        assert methods_for(mechanism(name))[0].id == "continuation"


# ---- one server and alpha = 1: unique answers, by other mechanisms --------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_ps_dsf_on_one_server_is_drf(family):
    """Water filling by events is exact."""
    for seed in range(3):
        instance = getattr(generators, family)(9, 1, 3, seed)
        filled = solve(instance, "drf", "progressive-filling")
        np.testing.assert_allclose(meets(instance, alpha=np.inf).tasks, filled.tasks, rtol=EXACT)


@pytest.mark.parametrize("method", NEWTON)
@pytest.mark.parametrize("alpha", [0.5, 3, 10])
def test_one_server_is_fds(method, alpha):
    instance = generators.generic(9, 1, 3, 4)
    other = solve(instance, "fds", "cvxpy:clarabel", alpha=alpha)
    np.testing.assert_allclose(meets(instance, method, alpha=alpha).tasks, other.tasks, rtol=BARGAINING)


@pytest.mark.few(6)
@pytest.mark.parametrize("method", NEWTON)
@pytest.mark.parametrize("family", ["generic", "tied", "placement", "racks"])
def test_alpha_1_is_nash_bargaining(method, family):
    instance = getattr(generators, family)(8, 3, 3, 3)
    other = solve(instance, "nb", "cvxpy:clarabel", accuracy="high")
    np.testing.assert_allclose(meets(instance, method, alpha=1).tasks, other.tasks, rtol=BARGAINING)


# ---- the other two --------------------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize("method", FINITE)
@pytest.mark.parametrize("alpha", [2, 5, 50])
def test_complementarity_methods_solve_small_games(method, alpha):
    for family in FAMILIES:
        meets(getattr(generators, family)(4, 2, 3, 1), method, alpha=alpha)


@pytest.mark.parametrize("method", FINITE)
def test_an_infinite_alpha_is_refused(method):
    with pytest.raises(NotApplicable, match=f"{method} needs finite alpha, but it is inf on server 's2'"):
        solve(generators.generic(4, 2, 2), GAME, method, alpha=[2, "inf"])
    assert not METHODS[method].computes(mechanism("ps-dsf"))


def test_a_game_too_large_for_the_tableau_is_refused():
    with pytest.raises(NotApplicable, match="josephy-newton needs at most 1500 arcs and prices together, but there are 2080"):
        solve(generators.generic(100, 20, 4), GAME, "josephy-newton")


# ---- honesty --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "few"),
    [
        ("continuation", 4),
        ("semismooth-newton", 2),
        ("josephy-newton", 1),
    ],
)
def test_too_few_iterations_are_no_success(method, few):
    allocation = solve(generators.generic(12, 4, 3, 0), GAME, method, alpha=5, options={"max_steps": few})
    assert allocation.termination == "iteration_limit"
    assert "its own residual is" in allocation.message
    assert allocation.has_point
    assert allocation.residual > RESIDUAL


@pytest.mark.parametrize("method", NEWTON)
def test_no_time_is_a_time_limit(method):
    allocation = solve(generators.generic(60, 20, 4), GAME, method, time_limit=1e-3, alpha=3)
    assert allocation.termination == "time_limit"
    assert not allocation.claims_success


@pytest.mark.parametrize("method", NEWTON)
def test_the_trace_ends_at_the_target(method):
    trace = solve(generators.generic(6, 3, 2), GAME, method, trace=True, alpha=3).trace
    assert {"iteration", "seconds"} <= set(trace[0])
    assert trace[-1]["residual"] <= RESIDUAL < max(entry.get("merit", 0.0) for entry in trace)


# ---- the pieces -----------------------------------------------------------------------------------------------------


WIDER = {
    "max_tasks": [None, 0.5, None, 0.1, 2.0],
    "demands": [[1, 2, 1], [[1, 1, 2], [2, 0, 1]], [0, 1, 1], [[1, 1, 1], [0, 3, 0], [1, 0, 2]], [2, 1, 0]],
}


def levels_of(alpha=(0.5, 3.0, 20.0), A=1.0, B=(0.0, 0.5, 1.0), **changes):
    instance = generators.placement(5, 3, 3, 2).replace(**changes)
    return LevelEquations(mechanism(GAME).configure(alpha=list(alpha), A=A, B=list(B)).game(instance))


def test_the_derivatives_are_those_of_the_equations():
    problem = Complementarity(levels_of())
    rng = np.random.default_rng(0)
    v = problem.vector(*equal(problem.levels)) * rng.uniform(0.5, 1.5, problem.arcs + problem.levels.row.sum())
    J, step = problem.linear(v).J.toarray(), 1e-6
    for column, unit in enumerate(np.eye(len(v))):
        slope = (problem.value(v + step * unit).F - problem.value(v - step * unit).F) / (2 * step)
        np.testing.assert_allclose(J[:, column], slope, atol=DIFFERENCES)


@pytest.mark.parametrize("wider", [False, True])
@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-40, 0.0])
def test_prices_are_sums_of_exponentials_whatever_their_size(least, wider):
    """By SciPy's logarithm of a sum of exponentials: 1e-40^20 underflows, and 0 has no logarithm."""
    levels = levels_of(**WIDER) if wider else levels_of()
    levels.unit = np.array([0.1, 1.0, 30.0])
    k = np.where(np.arange(levels.R) == levels.R - 1, 1.0, least) * np.linspace(0.5, 1.5, levels.K)[:, None]
    log_p, share = levels._price(k)
    with np.errstate(divide="ignore"):
        each = (levels.beta[:, None] * np.log(k * levels.unit[:, None]))[levels.server] + np.log(levels.w)
    whole = logsumexp(each, axis=1)
    paying = np.isfinite(whole)
    assert paying.any()
    np.testing.assert_allclose((log_p * levels.beta[levels.server])[paying], whole[paying], rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(share[paying], np.exp(each[paying] - whole[paying][:, None]), rtol=EXACT, atol=EXACT)
    assert not share[~paying].any()


def test_the_generalised_jacobian_is_that_of_phi():
    """By differences where Phi is smooth; where both numbers are 0, a limit of derivatives from a direction of equal parts."""
    problem = Complementarity(levels_of())
    rng = np.random.default_rng(3)
    v = problem.vector(*equal(problem.levels)) * rng.uniform(0.5, 1.5, problem.arcs + problem.levels.row.sum())
    here, step = problem.linear(v), 1e-6
    J = here.generalised.toarray()
    np.testing.assert_allclose(here.phi, v + here.F - np.sqrt(v**2 + here.F**2), atol=ROUNDING)
    assert here.merit == pytest.approx(sum(here.phi**2) / 2.0, rel=ROUNDING)
    for column, unit in enumerate(np.eye(len(v))):
        slope = (problem.value(v + step * unit).phi - problem.value(v - step * unit).phi) / (2 * step)
        np.testing.assert_allclose(J[:, column], slope, atol=DIFFERENCES)
    kink = Linearization(np.zeros(1), np.zeros(1), sp.csr_array([[3.0]]))
    np.testing.assert_allclose(kink.generalised.toarray(), [[4.0 * (1.0 - np.sqrt(0.5))]], rtol=ROUNDING)


def path_point(levels, seed):
    """A point of order one with tau = 0.1, where all equations lack something."""
    rng = np.random.default_rng(seed)
    y, k = equal(levels)
    spread = [rng.uniform(0.5, 2.0, shape) for shape in (y.shape, k.shape, y.shape, k.shape, levels.N, levels.N)]
    first = y, k, np.full(len(y), 0.3), np.where(levels.row, 0.3, 1.0), np.where(levels.limited, 0.4, 0.0), np.full(levels.N, 0.2)
    return CentralPathPoint(*(part * factor for part, factor in zip(first, spread, strict=True)), np.log(0.1))


@pytest.mark.parametrize("wider", [False, True])
@pytest.mark.parametrize("enlarged", [None, "y", "k", "e", "s", "h", "t"])
def test_the_error_of_a_point_is_the_most_that_an_equation_lacks(enlarged, wider):
    """In units of tau, one number after the other, also where one kind of number is far too large."""
    levels = levels_of(**WIDER) if wider else levels_of()
    point = path_point(levels, 5)
    if enlarged:
        point = point._replace(**{enlarged: 20.0 * getattr(point, enlarged)})
    y, k, e, s, h, t, tau = *point[:6], 0.1
    newton, lack = CentralPathNewton(levels, point), []
    tasks = np.bincount(levels.user, levels.gamma * y)
    for a, (n, excess) in enumerate(zip(levels.user, levels.derivatives(y, k).excess, strict=True)):
        lack += [(excess + h[n] - e[a]) / tau, levels.N * y[a] * e[a] / tau - 1.0]
    for i, r in np.argwhere(levels.row):
        load = sum(levels.w[a, r] * y[a] for a in np.flatnonzero(levels.server == i))
        lack += [(1.0 - load - s[i, r]) / tau, k[i, r] * s[i, r] / tau - 1.0]
    for n in np.flatnonzero(levels.limited):
        lack += [(1.0 - tasks[n] / levels.limits[n] - t[n]) / tau, h[n] * t[n] / tau - 1.0]
    assert newton.error == pytest.approx(max(map(abs, lack)), rel=EXACT)


@pytest.mark.parametrize("wider", [False, True])
def test_a_tangent_changes_products_with_tau_and_nothing_else(wider):
    """To first order: E + h - e by minus what E drifts, slacks and limits not at all, all products as tau."""
    levels = levels_of(**WIDER) if wider else levels_of()
    point, small = path_point(levels, 6), 1e-6
    newton = CentralPathNewton(levels, point)
    drift = np.random.default_rng(0).normal(size=len(levels))
    change = newton.tangent(drift)
    moved = CentralPathNewton(levels, point.times(1.0 + small * change, point.theta))
    np.testing.assert_allclose((moved.changes[0] - newton.changes[0]) / small, -drift, atol=DIFFERENCES)
    np.testing.assert_allclose((moved.changes[1] - newton.changes[1]) / small, 0.0, atol=DIFFERENCES)
    np.testing.assert_allclose((moved.changes[2] - newton.changes[2]) / small, 0.0, atol=DIFFERENCES)
    pairs = (("y", "e", 1.0 / levels.N), ("k", "s", levels.row), ("h", "t", levels.limited))
    for one, other, rate in pairs:
        more = getattr(moved.point, one) * getattr(moved.point, other) - getattr(point, one) * getattr(point, other)
        used = np.broadcast_to(rate, more.shape) > 0
        np.testing.assert_allclose((more / small)[used], np.broadcast_to(0.1 * rate, more.shape)[used], atol=DIFFERENCES)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize(
    ("least", "most", "part"), [(-4.0, 2.0, 0.225), (-0.1, 20.0, 0.25), (-0.5, 4.0, 1.0), (-9.0, 100.0, 0.05), (0.1, 0.2, 1.0)]
)
def test_a_step_leaves_a_tenth_of_everything_and_multiplies_nothing_by_more_than_six(place, least, most, part):
    change = np.concatenate([[least, most] if k == place else [0.0, 0.1] for k in range(6)])
    assert fits(change) == pytest.approx(part, rel=ROUNDING)
    factors = 1.0 + part * change
    assert 0.1 - ROUNDING <= factors.min() <= factors.max() <= 6.0 + ROUNDING


@pytest.mark.parametrize("alpha", [0.5, 2.0, 9.0, np.inf, [3.0, np.inf, 1.0]])
@pytest.mark.parametrize("held", [False, True])
def test_levels_of_an_equilibrium_are_found_from_its_tasks(alpha, held):
    """E = 0 on arcs in use and no price where there is room; what a user at its limit asks for does not count."""
    for seed in range(4):
        planted = planted_game(seed, alpha=alpha)
        instance, tasks = planted.instance, np.bincount(planted.instance.arcs.user, planted.x)
        limits = np.where(held & (np.arange(instance.N) == seed), tasks, np.inf)
        if held:
            instance = instance.replace(max_tasks=limits)
        levels = LevelEquations(mechanism(GAME).configure(**planted.parameters).game(instance))
        levels.scale(np.full(len(levels), 0.7 / levels.N))
        y = planted.x / levels.game.gamma
        k = levels_at(levels, y)
        used = (y > 0) & np.isinf(limits)[levels.user]
        assert used.any()
        assert np.abs(levels.derivatives(y, k).excess[used]).max() <= EXACT
        assert not k[levels.slack(y) > 1e-6].any()
        assert k.min() >= 0


def test_a_warm_start_may_fill_a_resource_that_only_users_at_their_limits_demand():
    """No price of it fits anybody: that ended in an error."""
    limits = ["1/2", None, None]
    instance = Instance([[1, 1], [1, 0], [1, 0]], [["5/2", "1/2"]], max_tasks=limits, weights=[10, 1, 1])
    for alpha in (0.5, 2, np.inf):
        warm = solve(instance, GAME, "continuation", alpha=alpha, warm_start=solve(instance, GAME, "continuation", alpha=alpha))
        assert warm.claims_success
        np.testing.assert_allclose(warm.tasks, [0.5, 1.0, 1.0], rtol=EXACT)


def test_a_warm_start_is_shrunk_and_must_give_every_user_something():
    instance = generators.placement(5, 3, 2, 1)
    answer, (first, second) = solve(instance, GAME, alpha=2.0), np.flatnonzero(instance.arcs.user == 0)[:2]
    start = 3.0 * answer.x
    start[first] += 1.0
    start[second] = -1.0
    sessions = []
    for x in (start, np.where(instance.arcs.user == 0, -1.0, answer.x), None):
        sessions.append(METHODS["continuation"].open(mechanism(GAME).configure(alpha=2.0), instance, Limits(start=x)))
    y, k = sessions[0].warm_start()
    game = sessions[0].game
    expected = scaled_down(instance, start) / game.gamma
    np.testing.assert_allclose(y, expected, rtol=ROUNDING)
    assert y[second] == 0.0
    np.testing.assert_array_equal(k, levels_at(sessions[0].levels, y))
    assert [session.warm_start() for session in sessions[1:]] == [None, None]


@pytest.mark.parametrize("plan", ["rows", "sparse rows"])
@pytest.mark.parametrize("wider", [False, True])
def test_newton_steps_solve_the_linearised_equations(plan, wider):
    """As differences show; with limits and variants too, by LAPACK's LU and by SuperLU's."""
    levels = levels_of(**WIDER) if wider else levels_of()
    levels.plan = plan
    y, k = equal(levels)
    rng = np.random.default_rng(1)
    spread = [rng.uniform(0.3, 3.0, shape) for shape in (y.shape, k.shape)]
    h, t = np.where(levels.limited, 0.4, 0.0), np.full(levels.N, 0.2)
    e, s = np.full(len(y), 0.3), np.where(levels.row, 0.3, 1.0)
    point = CentralPathPoint(y * spread[0], k * spread[1], e, s, h, t, np.log(0.1))
    newton = CentralPathNewton(levels, point)
    step = newton.correction()
    small = 1e-6
    moved = CentralPathNewton(levels, point.times(1.0 + small * step, point.theta))
    np.testing.assert_allclose((moved.changes[0] - newton.changes[0]) / small, -newton.changes[0], atol=DIFFERENCES)
    np.testing.assert_allclose((moved.changes[1] - newton.changes[1]) / small, -newton.changes[1], atol=DIFFERENCES)
    np.testing.assert_allclose((moved.changes[2] - newton.changes[2]) / small, -newton.changes[2], atol=DIFFERENCES)
    limits = (moved.point.h * moved.point.t - point.h * point.t) / small
    np.testing.assert_allclose(limits[levels.limited], (0.1 - point.h * point.t)[levels.limited], atol=DIFFERENCES)
    products = (moved.point.y * moved.point.e - point.y * point.e) / small
    np.testing.assert_allclose(products, 0.1 / levels.N - point.y * point.e, atol=DIFFERENCES)


# ---- Lemke ----------------------------------------------------------------------------------------------------------

ENTRIES = st.integers(-3, 3)


def fractions(rows):
    return np.array([[Fraction(v) for v in row] for row in rows], dtype=object)


def enumerated(M, q):
    """All solutions at complementary bases, in fractions."""
    size, found = len(q), []
    for basic in product([False, True], repeat=size):
        B = [k for k in range(size) if basic[k]]
        z = np.array([Fraction(0)] * size, dtype=object)
        if B:
            answer = gauss([[M[r, c] for c in B] + [-q[r]] for r in B])
            if answer is None:
                continue
            z[B] = answer
        if min(z) >= 0 and min(M @ z + q) >= 0:
            found.append(z)
    return found


def gauss(rows):
    """The solution of a square system of fractions given with its right side; None where it is singular."""
    size = len(rows)
    for c in range(size):
        pivot = next((r for r in range(c, size) if rows[r][c]), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for r in range(size):
            if r != c:
                rows[r] = [a - rows[r][c] * b for a, b in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


@st.composite
def problems(draw, definite):
    """M = L L' + S (+ I) with skew S, small integers: monotone, degenerate more often than not."""
    size = draw(st.integers(1, 4))
    L, S = (fractions([[draw(ENTRIES) for _ in range(size)] for _ in range(size)]) for _ in range(2))
    M = L @ L.T + S - S.T + (np.diag([Fraction(1)] * size) if definite else 0)
    return M, np.array([Fraction(draw(ENTRIES)) for _ in range(size)], dtype=object)


@given(problems(definite=True))
def test_lemke_gives_the_enumerated_answer(problem):
    M, q = problem
    answers = enumerated(M, q)
    assert answers
    for guess in (np.zeros(len(q), bool), np.arange(len(q)) % 2 == 0):
        z = lemke(M.astype(float), q.astype(float), guess, 1000)
        for other in answers:
            np.testing.assert_allclose(z, other.astype(float), atol=EXACT)


@given(problems(definite=False))
def test_lemke_ends_and_tells_whether_there_is_an_answer(problem):
    """A monotone problem has an answer iff M z + q >= 0, z >= 0 is feasible; ties must not make it cycle."""
    M, q = (part.astype(float) for part in problem)
    z = lemke(M, q, np.zeros(len(q), bool), 1000)
    feasible = linprog(np.zeros(len(q)), A_ub=-M, b_ub=q).status == 0
    assert (z is not None) == feasible
    if z is not None:
        w = M @ z + q
        assert min(z) >= -EXACT
        assert min(w) >= -EXACT
        assert abs(z @ w) <= EXACT


def test_lemke_on_a_tied_problem_and_a_ray():
    nothing, tied = np.zeros(3, bool), np.array([[0.0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
    z = lemke(tied, np.array([-1.0, 1, 1]), nothing, 100)
    assert z[0] <= 1
    assert z[1] + z[2] == 1
    assert lemke(np.zeros((2, 2)), np.array([1.0, -1]), nothing[:2], 100) is None


# ---- what must not change the answer --------------------------------------------------------------------------------

PARAMETERS = {"alpha": [0.5, 4.0, np.inf], "A": [1.5, 0.7, 1.0], "B": [0.3, 0.0, 0.0]}


def residual(instance, x, **parameters):
    """The residual of tasks (N, K) that came from another instance."""
    arcs = instance.arcs
    return mechanism(GAME).configure(**parameters).residual(Allocation(instance, x[arcs.user, arcs.server]))


@pytest.mark.parametrize("seed", range(3))
def test_names_and_order_do_not_matter(seed):
    instance = generators.placement(7, 3, 3, seed)
    users, servers = np.random.default_rng(seed).permutation(7), np.array([2, 0, 1])
    other = Instance(
        [instance.demands[n][0] for n in users],
        instance.capacities[servers],
        weights=instance.weights[users],
        eligible=instance.placement[np.ix_(users, servers)],
    )
    turned = {name: [values[i] for i in servers] for name, values in PARAMETERS.items()}
    back = np.zeros((7, 3))
    back[np.ix_(users, servers)] = meets(other, **turned).by_server
    assert residual(instance, back, **PARAMETERS) <= RESIDUAL
    one, same = meets(instance, alpha=1), meets(other, alpha=1)
    np.testing.assert_allclose(same.tasks, one.tasks[users], rtol=SHARES)


@pytest.mark.parametrize("seed", range(3))
def test_units_of_a_resource_do_not_matter(seed):
    instance = generators.zero_demand(7, 3, 3, seed)
    scale = np.array([1e6, 1.0, 1e-5])
    other = instance.replace(demands=[d * scale for d in instance.demands], capacities=instance.capacities * scale)
    np.testing.assert_allclose(meets(other, **PARAMETERS).tasks, meets(instance, **PARAMETERS).tasks, rtol=SHARES)


@pytest.mark.parametrize("seed", range(3))
def test_a_pool_is_its_servers_with_twice_the_coefficients(seed):
    """Two equal halves of a server: z is twice as large there, so A and B are too (formulations/game/game.py)."""
    pool = generators.generic(6, 3, 2, seed).replace(counts=[1, 2, 1])
    single = expand(pool)
    alpha, A, B = PARAMETERS["alpha"], PARAMETERS["A"], PARAMETERS["B"]
    halves = {"alpha": [alpha[i] for i in (0, 1, 1, 2)]}
    halves |= {name: [v[0], 2 * v[1], 2 * v[1], v[2]] for name, v in (("A", A), ("B", B))}
    tasks = meets(pool, **PARAMETERS).by_server
    assert residual(single, tasks[:, [0, 1, 1, 2]] / [1, 2, 2, 1], **halves) <= RESIDUAL
    split = meets(single, **halves).by_server
    merged = np.column_stack([split[:, 0], split[:, 1] + split[:, 2], split[:, 3]])
    assert residual(pool, merged, **PARAMETERS) <= RESIDUAL


@pytest.mark.parametrize("seed", range(3))
def test_a_user_is_two_with_half_the_weight(seed):
    instance = generators.generic(5, 3, 3, seed)
    twice = np.array([0, 0, 1, 2, 3, 4])
    part = np.array([0.5, 0.5, 1.0, 1.0, 1.0, 1.0])
    other = Instance([instance.demands[n][0] for n in twice], instance.capacities, weights=instance.weights[twice] * part)
    assert residual(other, meets(instance, **PARAMETERS).by_server[twice] * part[:, None], **PARAMETERS) <= RESIDUAL
    split = meets(other, **PARAMETERS).by_server
    merged = np.vstack([split[0] + split[1], split[2:]])
    assert residual(instance, merged, **PARAMETERS) <= RESIDUAL


def test_systems_that_would_overrun_any_limit_are_refused():
    """One sparse LU of 25,000 arcs took more than a minute under a limit of ten seconds."""
    with pytest.raises(NotApplicable, match="semismooth-newton needs at most 10000 arcs and prices together, but there are"):
        solve(generators.generic(500, 50, 1), GAME, "semismooth-newton", alpha=3)


def test_a_system_that_superlu_cannot_factor_is_a_singular_one():
    """SuperLU raises an error on it instead of warning; the damped step is taken, as for any singular matrix."""
    instance = Instance(
        [[3, 1, 0], [3, 1, 1], [2, 1, 1], [2, "1/2", 3]],
        [[1, "3/2", "1/2"], [4, 1, 6]],
        weights=[2, 3, 2, "1/2"],
        demands_on={(3, 0): [[2, 3, "1/2"]]},
    )
    meets(instance, "semismooth-newton", alpha=2, A=2, B=1)
