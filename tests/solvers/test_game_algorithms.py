"""The papers' own algorithms for the game: by the definition, in rationals, against linear programs, and what they claim."""

import re
from fractions import Fraction
from itertools import count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from scipy.optimize import approx_fprime, linprog
from strategies import instances
from tolerances import BARGAINING, DIFFERENCE, DIFFERENCES, EXACT, GRADIENTS, RESIDUAL, ROUNDING

from fairalloc.formulations import mechanism
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.marginal import Marginals
from fairalloc.models import Allocation, FairallocError, Instance, NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.game import best_response
from fairalloc.solvers.game.best_response import ServerDual, rational_sweeps, water_filling
from fairalloc.solvers.game.ps_mfa import Merit, PsMfaSession, projected
from fairalloc.solvers.game.psdsf_algorithm_1 import drf_alone, server_procedure, update_allocation
from fairalloc.solvers.game.psdsf_distributed import Event, cluster, section_v, simulate
from fairalloc.solvers.game.session import GameSession, servers_of
from fairalloc.solvers.game.vds_distributed import VdsDistributed, VdsDistributedSession
from fairalloc.solvers.method import Limits
from fairalloc.solvers.running.dispatch import Request, best_attempt

FILLING = ["best-response", "psdsf-algorithm-1", "psdsf-distributed"]
FOLLOWING = ["ps-mfa", "vds-distributed"]
FAMILIES = ["generic", "tied", "zero_demand", "placement", "racks", "badly_scaled"]
KHAMSE = Instance([[1, 1, 5], ["1/2", "1/3", 5], ["1/4", 1, 0], ["1/4", 1, 0]], [[12, 4, 75], [8, 16, 0]])
"""K Fig. 1, with demands that agree with all that is printed; with user 4 at (1, 1/2, 0) only 1/4 cpu for user 3 does."""
KHAMSE_4 = KHAMSE.replace(demands=[[1, 1, 5], ["1/2", "1/3", 5], ["1/4", 1, 0], [1, "1/2", 0]])
ENDLESS = Instance([[1]] * 3, [[1], [1]], eligible=[[1, 0], [1, 1], [0, 1]])
"""Every round moves user 2 a quarter of what the last one did."""


def family_of(alpha, A, B, arcs):
    """(K 22) with the same numbers on all arcs."""
    with np.errstate(divide="ignore"):
        return Marginals(*(np.broadcast_to(part, arcs) for part in (np.asarray(alpha, float), np.log(A), np.log(B))))


def one_server(seed, n_users=5, n_resources=3):
    """w, phi, b of one server in rationals, with ties and zeros, and b = 0 for somebody."""
    rng = np.random.default_rng(seed)
    w = [[Fraction(int(v), 6) for v in row] for row in rng.integers(0, 7, (n_users, n_resources))]
    for row, r in zip(w, rng.integers(0, n_resources, n_users), strict=True):
        row[r] = Fraction(1)
    phi = [Fraction(int(v), 2) for v in rng.integers(1, 5, n_users)]
    b = [Fraction(int(v), 4) for v in rng.integers(0, 6, n_users)]
    return tuple(np.array(v, dtype=object) for v in (w, phi, b))


def floats(*arrays):
    return tuple(a.astype(float) for a in arrays)


def has_bottlenecks(w, y, z):
    """P Definition 3 for every user of one server, in whatever arithmetic the numbers are."""
    load = (w * y[:, None]).sum(axis=0)
    return all(load <= 1) and all(
        any(
            w[n, r] > 0 and load[r] == 1 and all(z[n] >= z[m] for m in range(len(z)) if y[m] * w[m, r] > 0)
            for r in range(w.shape[1])
        )
        for n in range(len(z))
    )


def leximin(w, phi, b):
    """The levels z of one server by linear programs, a user fixed where none can raise it."""
    m, fixed = len(b), {}
    while len(fixed) < m:
        free = [n for n in range(m) if n not in fixed]
        level = raised(w, phi, b, fixed, dict.fromkeys(free, None), None)
        stuck = [n for n in free if raised(w, phi, b, fixed, dict.fromkeys(free, level), n) <= level + 1e-8]
        fixed.update({n: max(level, b[n]) for n in stuck})
    return np.array([fixed[n] for n in range(m)])


def raised(w, phi, b, fixed, free, one):
    """The largest t s.t. z >= fixed, and z_n >= t for the free (one is None), or z >= their level and z_one >= t."""
    m = len(b)
    rows, rhs = [np.append(w[:, r], 0.0) for r in range(w.shape[1])], [1.0] * w.shape[1]
    for n, least in {**fixed, **free}.items():
        rises = least is None or n == one
        rows.append(np.append(-np.eye(m)[n] / phi[n], 1.0 if rises else 0.0))
        rhs.append(b[n] if rises else b[n] - least + 1e-10)
    answer = linprog(np.append(np.zeros(m), -1.0), A_ub=np.array(rows), b_ub=rhs)
    return -answer.fun


# ---- water filling --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_filling_gives_everybody_a_bottleneck_exactly(seed):
    w, phi, b = one_server(seed)
    y, level = water_filling(w, phi, b, 0)
    z = b + y / phi
    assert has_bottlenecks(w, y, z)
    np.testing.assert_array_equal(z, np.maximum(b, np.where(w > 0, level, np.inf).min(axis=1)))
    np.testing.assert_allclose(water_filling(*floats(w, phi, b))[0], y.astype(float), atol=ROUNDING)
    taker, giver = int(np.argmin(z)), int(np.argmax(y))
    if taker != giver:
        wrong = y.copy()
        wrong[giver] *= Fraction(9, 10)
        assert not has_bottlenecks(w, wrong, b + wrong / phi)


@pytest.mark.parametrize("seed", range(30))
def test_filling_under_limits_gives_who_wants_more_a_bottleneck_exactly(seed):
    """In rationals: nobody is above its limit or misses it without a bottleneck; half of the seeds want all that there is."""
    w, phi, b = one_server(seed)
    rng = np.random.default_rng([seed, 1])
    wanted = [Fraction(int(v), 60) for v in rng.integers(0, 40, len(b))]
    most = np.array([np.inf if seed % 2 and rng.random() < 0.4 else m + v for m, v in zip(b, wanted, strict=True)], dtype=object)
    most[0] = max(b[0] - Fraction(1, 8), 0)  # this user has too much already
    if not seed % 2:
        w = w / 20  # all that is wanted fits
    y, level = water_filling(w, phi, b, 0, most)
    z, load = b + y / phi, (w * y[:, None]).sum(axis=0)
    assert all(load <= 1)
    assert all(z <= np.maximum(most, b))
    for n in np.flatnonzero(z < most):
        full = [r for r in range(w.shape[1]) if w[n, r] > 0 and load[r] == 1]
        assert any(all(z[m] <= z[n] for m in range(len(z)) if y[m] * w[m, r] > 0) for r in full)
    assert all(load[np.isfinite(level.astype(float))] == 1)
    assert (seed % 2 == 1) or (all(z == np.maximum(most, b)) and not np.isfinite(level.astype(float)).any())
    np.testing.assert_allclose(water_filling(*floats(w, phi, b), most=most.astype(float))[0], y.astype(float), atol=ROUNDING)


@pytest.mark.parametrize("seed", range(15))
def test_filling_is_leximin_by_linear_programs(seed):
    w, phi, b = one_server(seed)
    y, _ = water_filling(w, phi, b, 0)
    np.testing.assert_allclose(leximin(*floats(w, phi, b)), (b + y / phi).astype(float), atol=BARGAINING)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("family", ["generic", "tied", "zero_demand"])
def test_filling_one_server_is_drf_in_rationals(family, seed):
    instance = getattr(generators, family)(6, 1, 3, seed)
    fair, drf = solve(instance, "ps-dsf", "best-response"), solve(instance, "drf", "exact")
    assert fair.tasks_exact == drf.tasks_exact


# ---- P's server procedure -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_the_procedure_ends_where_filling_does_and_its_minimum_rises(seed):
    """From any feasible point; (P 16) rises with every update."""
    w, phi, b = floats(*one_server(seed))
    start = np.random.default_rng(seed).random(len(b)) * (np.arange(len(b)) % 2)
    start /= max((start @ w).max(), 1.0)
    instance = Instance([[1.0]], [[1.0]])
    (server,) = servers_of(Game(instance, np.inf))
    server = server.__class__(0, np.arange(len(b)), np.arange(len(b)), w, phi, np.ones(len(b)), np.full(len(b), np.inf))
    y, minima = server_procedure(server, b, start)
    np.testing.assert_allclose(y, water_filling(w, phi, b)[0], atol=EXACT)
    assert np.all(np.diff(minima) > 0)


def test_a_servers_minimum_falls_when_another_takes():
    """Deviation (d): monotone within a procedure, not from round to round."""
    game = Game(Instance([[1], [1]], [[1], [1]], eligible=[[1, 1], [0, 1]]), np.inf)
    servers, x = servers_of(game), np.zeros(3)
    drf_alone(servers, x)
    np.testing.assert_allclose(game.tasks(x), [1.5, 0.5])
    before = game.tasks(x)[0]
    y, _ = server_procedure(servers[1], servers[1].elsewhere(x, game.tasks(x)), x[servers[1].arcs])
    servers[1].put(y, x, game.tasks(x))
    np.testing.assert_allclose(game.tasks(x), [1, 1])
    assert game.tasks(x)[0] < before


def test_a_user_counted_twice_overloads_the_server():
    """Deviation (b): as printed, with f twice what there is; as it is here, once."""
    (server,) = servers_of(Game(Instance([[1, 1], [1, 1]], [[1, 1]]), np.inf))
    for released, load in (([1, 1], 4 / 3), ([1], 1.0)):
        y = np.array([0.0, 1.0])
        update_allocation(server, y.copy(), y, 0.0, np.array([True, False]), np.array(released))
        np.testing.assert_allclose(y.sum(), load)


def test_an_empty_maximum_counts_as_a_bottleneck():
    """Deviation (a): user 1 has filled both resources, user 2 demands the second only and has tasks elsewhere."""
    instance = Instance([[1, 1], [0, 1]], [[1, 1], [0, 2]])
    allocation = solve(instance, "ps-dsf", "psdsf-algorithm-1")
    assert allocation.claims_success
    np.testing.assert_allclose(allocation.tasks, [1, 2], atol=ROUNDING)


def test_rationals_that_are_too_long_or_too_late_are_not_begun(monkeypatch):
    """The sums of one server with 2,000 users took half a minute under a limit of one second."""
    monkeypatch.setattr(best_response, "water_filling", lambda *_: pytest.fail("sums of rationals were begun"))
    assert rational_sweeps(Game(generators.badly_scaled(200, 1, 4), np.inf)) is None
    assert rational_sweeps(Game(KHAMSE, np.inf), late=lambda: True) is None


def test_rounds_need_not_end_in_exact_arithmetic():
    """Deviation (e)."""
    assert rational_sweeps(Game(ENDLESS, np.inf), 60) is None
    for method in FILLING:
        allocation = solve(ENDLESS, "ps-dsf", method)
        assert allocation.claims_success
        assert allocation.x_exact is None
        np.testing.assert_allclose(allocation.tasks, 2 / 3, rtol=BARGAINING)


# ---- one server with finite alpha -----------------------------------------------------------------------------------


@pytest.mark.few(28)
@pytest.mark.parametrize("parameters", [(0.5, 1, 0), (1, 1, 0), (2, 1, 0), (20, 1, 0), (3, 2, 0.5), (0.5, 1, 2), (2, 0, 3)])
@pytest.mark.parametrize("seed", range(8))
def test_a_market_clears(seed, parameters):
    """(K 28-29) to rounding, and the first-order condition (K 16) against random feasible answers."""
    alpha, A, B = parameters
    w, phi, b = floats(*one_server(seed))
    (one,) = servers_of(Game(Instance([[1.0]], [[1.0]]), np.inf))
    server = one.__class__(0, np.arange(len(b)), np.arange(len(b)), w, phi, np.ones(len(b)), np.full(len(b), np.inf))
    dual = ServerDual(server, family_of(alpha, A, B, len(b)), max(alpha, 1.0))
    y, kappa = dual.answer(b, np.zeros(w.shape[1]))
    load, z = y @ w, b + y / phi
    g = (A / z) ** alpha + B / z
    price = w @ kappa**dual.beta
    assert np.all(load <= 1 + ROUNDING)
    assert np.all((kappa == 0) | (load >= 1 - ROUNDING))
    assert np.all(price >= g * (1 - EXACT))
    np.testing.assert_allclose(price[y > 0], g[y > 0], rtol=EXACT)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = rng.random(len(y)) ** 3
        other /= (other @ w).max()
        assert (other - y) @ g <= EXACT * (y @ g)


def market_of(seed, alpha, limited):
    """The dual of one server with eight users, and what they have from elsewhere; `limited`: half of them want little more."""
    w, phi, b = floats(*one_server(seed, 8))
    (one,) = servers_of(Game(Instance([[1.0]], [[1.0]]), np.inf))
    most = np.where(limited & (np.arange(8) % 2 == 0), b + 0.05, np.inf)
    server = one.__class__(0, np.arange(8), np.arange(8), w, phi, np.ones(8), most)
    return ServerDual(server, family_of(alpha, 1.0, 0.2, 8), max(alpha, 1.0)), b


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("seed", [0, 2, 4, 6])
def test_a_newton_step_fills_priced_resources_to_first_order(seed, limited):
    """Loads change by what they differ from 1, as differences show, and a free resource stays free."""
    dual, b = market_of(seed, 2.0, limited)
    u, small = np.array([0.3, -np.inf, -0.2]), 1e-6

    def load(prices):
        return dual.demand(prices, b)[0] @ dual.server.w

    y, log_q = dual.demand(u, b)
    step = dual.direction(u, y, b, log_q)
    change = (load(u + small * step) - load(u - small * step)) / (2.0 * small)
    np.testing.assert_allclose(change[[0, 2]], (1.0 - load(u))[[0, 2]], atol=DIFFERENCES)
    assert step[1] == 0.0
    assert np.abs(step).max() > 0.1


@pytest.mark.parametrize("alpha", [0.5, 3.0])
@pytest.mark.parametrize("limited", [False, True])
def test_a_cleared_price_fills_its_resource_or_is_zero(alpha, limited):
    """From prices far too low or too high, from 0, and beside others of which some are 0."""
    kinds = set()
    for seed, r, first in product(range(6), range(3), (-30.0, 0.0, 20.0, -np.inf)):
        dual, b = market_of(seed, alpha, limited)
        u = np.random.default_rng(seed).choice([-np.inf, -1.0, 4.0], 3)
        u[r] = first
        u[r] = dual._cleared(u, b, r)
        wanting = dual.server.w[:, r] > 0  # the others may pay nothing at all
        load = dual.demand(u, b)[0][wanting] @ dual.server.w[wanting, r]
        kinds.add(bool(np.isfinite(u[r])))
        assert load == pytest.approx(1.0, rel=EXACT) if np.isfinite(u[r]) else load <= 1.0
    assert kinds == {True, False}


def test_marginal_utilities_are_inverted():
    log_z = np.linspace(-30, 30, 61)
    for parameters in ((0.3, 1, 0), (50, 2, 0), (50, 1, 1e-3), (0.2, 3, 5), (3, 0, 2)):
        family = family_of(*parameters, len(log_z))
        np.testing.assert_allclose(family.inverse(family.log(log_z)), log_z, atol=EXACT)


# ---- equilibria -----------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("alpha", [0.5, 1, 2, 8, "inf", "mixed"])
def test_best_responses_reach_equilibria(family, alpha):
    for seed in range(2):
        instance = getattr(generators, family)(8, 3, 3, seed)
        parameter = [2, "inf", 1] if alpha == "mixed" else alpha
        allocation = solve(instance, "alpha-pf-vds", "best-response", alpha=parameter)
        assert allocation.claims_success, allocation.message
        assert allocation.residual <= RESIDUAL


@pytest.mark.deep
def test_the_broader_class_of_utilities():
    """(K 22), and a pool of two servers is the two servers."""
    pool = generators.generic(6, 2, 2, 4).replace(counts=[2, 1])
    single = pool.replace(
        capacities=pool.capacities[[0, 0, 1]], counts=[1, 1, 1], eligible=np.ones((6, 3), bool), servers=["a", "b", "c"]
    )
    one = solve(pool, "alpha-pf-vds", "best-response", "high", alpha=3, A=[0.5, 1], B=[0.05, 0.1])
    two = solve(single, "alpha-pf-vds", "best-response", "high", alpha=3, A=1, B=0.1)
    assert one.claims_success
    assert two.claims_success
    np.testing.assert_allclose(one.tasks, two.tasks, rtol=BARGAINING)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", FILLING)
@pytest.mark.parametrize("family", FAMILIES)
def test_ps_dsf(method, family):
    for name, seed in (("ps-dsf", 0), ("ps-dsf", 1), ("ps-dsf-tdm", 0)):
        allocation = solve(getattr(generators, family)(9, 4, 3, seed), name, method)
        assert allocation.claims_success, allocation.message
        assert allocation.residual <= RESIDUAL


@settings(max_examples=drawn(40))
@given(instances(variants=False, limits=False))
def test_whatever_the_instance_success_is_not_claimed_without_it(instance):
    for method in FILLING:
        allocation = solve(instance, "ps-dsf", method)
        assert not allocation.claims_success or allocation.residual <= RESIDUAL
        assert allocation.claims_success


def test_rational_answers_have_bottlenecks_exactly():
    """Theorem 1 of P with == for =, computed from the instance's own fractions."""
    found = 0
    for seed in range(12):
        instance = generators.tied(6, 3, 2, seed)
        allocation = solve(instance, "ps-dsf", "best-response")
        if allocation.x_exact is None:
            continue
        found += 1
        arcs = exact_arcs(instance)
        gamma = [1 / max(part for _, part in load) for load in arcs.load]
        tasks, weights = arcs.tasks(allocation.x_exact), instance.exact.weights
        for i in range(instance.K):
            here = np.flatnonzero(instance.arcs.server == i)
            parts = [dict(arcs.load[a]) for a in here]
            w = np.array(
                [[p.get(i * instance.R + r, 0) * gamma[a] for r in range(instance.R)] for a, p in zip(here, parts, strict=True)]
            )
            y = np.array([allocation.x_exact[a] / gamma[a] for a in here])
            z = np.array([tasks[n] / (weights[n] * gamma[a]) for a, n in zip(here, instance.arcs.user[here], strict=True)])
            assert has_bottlenecks(w, y, z)
    assert found >= 6


# ---- what is unique must agree --------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["generic", "placement", "zero_demand"])
def test_alpha_one_is_nash_bargaining(family):
    instance = getattr(generators, family)(6, 3, 2, 1)
    fair = solve(instance, "alpha-pf-vds", "best-response", "high", alpha=1)
    np.testing.assert_allclose(fair.tasks, solve(instance, "nb", "cvxpy:clarabel", "high").tasks, rtol=BARGAINING)


@pytest.mark.parametrize("alpha", [0.5, 2, 6])
def test_one_server_is_fds(alpha):
    instance = generators.generic(6, 1, 3, 2)
    fair = solve(instance, "alpha-pf-vds", "best-response", "high", alpha=alpha)
    np.testing.assert_allclose(fair.tasks, solve(instance, "fds", "cvxpy:clarabel", "high", alpha=alpha).tasks, rtol=BARGAINING)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_time_shared_servers_have_one_answer(seed):
    instance = generators.placement(7, 4, 3, seed)
    answers = [solve(instance, "ps-dsf-tdm", method, "high").tasks for method in FILLING]
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], rtol=BARGAINING)


@pytest.mark.few(1)
@pytest.mark.parametrize("alpha", [0.5, 1, 2])
@pytest.mark.parametrize(
    "instance", [KHAMSE, KHAMSE_4, generators.generic(3, 1, 2, 0), generators.placement(6, 3, 2, 0)], ids=range(4)
)
def test_gradient_methods_agree_with_best_responses_where_they_succeed(instance, alpha):
    expected = solve(instance, "alpha-pf-vds", "best-response", alpha=alpha)
    claimed = 0
    for method in FOLLOWING:
        allocation = solve(instance, "alpha-pf-vds", method, "low", alpha=alpha, time_limit=4.0)
        assert not allocation.claims_success or allocation.residual <= 1e-3
        claimed += allocation.claims_success
        if allocation.claims_success and (alpha == 1 or instance.K == 1):
            np.testing.assert_allclose(allocation.tasks, expected.tasks, rtol=GRADIENTS)
    assert claimed


# ---- published ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("instance", "tasks"), [(KHAMSE, (2, 6, 8, 8)), (KHAMSE_4, (2, 6, Fraction(32, 3), Fraction(16, 3)))])
def test_k_fig_1(instance, tasks):
    assert solve(instance, "ps-dsf", "best-response").tasks_exact == tuple(map(Fraction, tasks))
    for method in FILLING[1:]:
        np.testing.assert_allclose(solve(instance, "ps-dsf", method).tasks, [float(v) for v in tasks], rtol=EXACT)


@pytest.mark.parametrize("alpha", [0.5, 1, 3, 20])
def test_k_fig_3(alpha):
    """Server 1 is the same for every alpha; at alpha = 1 both resources of server 2 are full, by prices 5/24 and 1/48."""
    allocation = solve(KHAMSE_4, "alpha-pf-vds", "best-response", alpha=alpha)
    np.testing.assert_allclose(allocation.tasks[:2], [2, 6], rtol=RESIDUAL)
    if alpha == 1:
        np.testing.assert_allclose(allocation.tasks[2:], [96 / 7, 32 / 7], rtol=RESIDUAL)


def test_p_table_iv():
    expected = [[40, 170, 0, 0], [20, 85, 0, 0], [0, 0, 82.5, 0], [0, 0, 0, 27.5]]
    for method in FILLING:
        np.testing.assert_allclose(solve(cluster(), "ps-dsf", method).by_server, expected, rtol=EXACT, atol=EXACT)
    gamma = [[80, 340, 82.5, 55], [40, 170, 41.25, 41.25], [82.5, 27.5], [27.5, 27.5]]
    np.testing.assert_allclose(cluster().arcs.gamma, np.concatenate(gamma))


# ---- users and servers come and go ----------------------------------------------------------------------------------


def test_p_section_v():
    """User 4 is away in (100, 250): then user 2 takes class D, of whose cpu it uses 3/4; class A never uses more of its own."""
    run = section_v()
    np.testing.assert_array_equal(run.times, np.arange(301.0))
    here = (run.times < 100) | (run.times >= 250)
    settled = (run.times >= 10) & ((run.times < 100) | (run.times >= 260))
    away = (run.times >= 105) & (run.times < 250)
    for server, there, gone in (("C", 1.0, 1.0), ("D", 1.0, 0.75)):
        np.testing.assert_allclose(run.load(server, "cpu")[settled], there, rtol=EXACT)
        np.testing.assert_allclose(run.load(server, "cpu")[away], gone, rtol=EXACT)
    np.testing.assert_allclose(run.load("A", "cpu")[settled], 0.75, rtol=EXACT)  # P V: "fully utilized"
    user_4 = run.x[:, run.instance.arcs.user == 3].sum(axis=1)
    assert np.all((user_4 > 0) == here)
    three = cluster().replace(
        demands=cluster().demands[:3], weights=[2, 2, 1], eligible=cluster().placement[:3], users=cluster().users[:3]
    )
    np.testing.assert_allclose(run.at(200).tasks[:3], solve(three, "ps-dsf", "best-response").tasks, rtol=EXACT)
    assert run.x[run.times == 104, :].max() == pytest.approx(run.x[away].max())  # at rest after a few seconds


def test_a_server_that_is_away_has_no_tasks():
    instance = generators.generic(5, 3, 2, 1)
    events = [Event(0.0, "u2", False), Event(60.0, "s2", False), Event(60.0, "u2", True), Event(120.0, "s2", True)]
    run = simulate(instance, events, 240.0, offsets=[0.5, 1.0, 0.5])
    on_2, of_2 = run.instance.arcs.server == 1, run.instance.arcs.user == 1
    assert not run.x[run.times < 60][:, of_2].any()
    assert not run.x[(run.times >= 60) & (run.times < 120)][:, on_2].any()
    without = instance.replace(
        counts=[1, 1], capacities=instance.capacities[[0, 2]], servers=["s1", "s3"], eligible=instance.placement[:, [0, 2]]
    )
    np.testing.assert_allclose(run.at(119).tasks, solve(without, "ps-dsf", "best-response").tasks, rtol=RESIDUAL)
    assert mechanism("ps-dsf").residual(run.at(240)) <= RESIDUAL
    assert all((run.instance.arcs.load @ x).max() <= 1 + ROUNDING for x in run.x)


def test_a_schedule_is_a_minute_of_seconds_and_its_first_event_may_be_at_once():
    run = simulate(Instance([[1], [1]], [[1]]), [Event(0.0, "u1", False), Event(60.0, "u1", True)], offsets=[1.0])
    np.testing.assert_array_equal(run.times, np.arange(61.0))
    np.testing.assert_allclose(run.x[:60], np.tile([0.0, 1.0], (60, 1)), atol=ROUNDING)
    np.testing.assert_allclose(run.x[60], [0.5, 0.5], rtol=ROUNDING)
    np.testing.assert_allclose(run.at(59.5).tasks, [0.0, 1.0], atol=ROUNDING)


NO_TIME = "but it must be a number of seconds that is not negative"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"events": [Event(1.0, "u9", True)]}, "the event at 1 s names no user and no server: 'u9'"),
        ({"events": [Event(-1.0, "u1", True)]}, f"the time of the event of 'u1' is -1.0, {NO_TIME}"),
        ({"events": [Event("1", "u1", True)]}, f"the time of the event of 'u1' is '1', {NO_TIME}"),
        ({"events": [Event(1.0, "u1", "no")]}, "active of the event of 'u1' is 'no', but it must be true or false"),
        ({"period": 0.0}, "period is 0.0, but it must be a positive, finite number"),
        ({"horizon": np.inf}, "horizon is inf, but it must be a positive, finite number"),
        ({"horizon": "a minute"}, "horizon is 'a minute', but it must be a positive, finite number"),
        ({"events": [("u1", 3.0)]}, "events[0] is ('u1', 3.0), but it must be an Event"),
        ({"seed": -1}, "seed is -1, but it must be a whole number, 0 or more"),
        ({"offsets": [2.0]}, "offsets are [2.0], but they must be 1 numbers in (0, 1]"),
    ],
)
def test_bad_schedules(arguments, message):
    with pytest.raises(FairallocError) as error:
        simulate(Instance([[1]], [[1]]), **arguments)
    assert str(error.value) == message


def test_a_history_has_whole_periods_within_the_horizon_and_nothing_before():
    run = simulate(Instance([[1]], [[1]]), horizon=2.7, period=0.9)
    assert run.times.tolist() == [0.0, 0.9, 1.8, 2.7]
    assert simulate(Instance([[1]], [[1]]), horizon=2.6, period=1.0).times.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(FairallocError, match="time is -1 s, but it must not be negative"):
        run.at(-1.0)
    with pytest.raises(FairallocError, match="'s2'"):
        run.load("s2", "r1")


# ---- K's Algorithm I ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 1, 3])
def test_the_gradient_of_the_merit(alpha):
    game = Game(generators.placement(5, 3, 2, 0), alpha, 1.2, 0.3)
    merit, rng = Merit(game), np.random.default_rng(0)
    y, mu = rng.uniform(0.3, 1.0, len(game.user)), rng.random((3, 2))
    by_y, by_mu = merit.gradient(y, mu)
    point, split = np.append(y, mu), len(y)
    numeric = approx_fprime(point, lambda p: merit.value(p[:split], p[split:].reshape(3, 2)), 1e-7)
    np.testing.assert_allclose(np.append(by_y, by_mu), numeric, rtol=DIFFERENCE, atol=DIFFERENCE)


@pytest.mark.parametrize("seed", range(20))
def test_directions_are_projections(seed):
    """(K 109): in the cone, and what is left over makes no acute angle with it."""
    rng = np.random.default_rng(seed)
    gradient, d, equal = rng.normal(size=5), rng.random((5, 3)), rng.random(3) < 0.5
    v = projected(gradient, d, equal)
    assert np.all(v @ d <= ROUNDING)
    np.testing.assert_allclose((v @ d)[equal], 0, atol=ROUNDING)
    assert v @ (gradient - v) == pytest.approx(0, abs=ROUNDING)
    for _ in range(20):
        other = projected(rng.normal(size=5), d, equal)
        assert (gradient - v) @ other <= ROUNDING


def test_projecting_with_users_who_are_not_eligible_moves_them():
    """Deviation (d): what Assumption 2 of K would buy."""
    np.testing.assert_allclose(projected(np.array([1.0, 0.0]), np.ones((2, 1)), np.array([False])), [0.5, -0.5])


def test_the_merit_falls_strictly():
    allocation = solve(KHAMSE_4, "alpha-pf-vds", "ps-mfa", alpha=2, trace=True)
    merit = [entry["merit"] for entry in allocation.trace]
    assert allocation.claims_success
    assert np.all(np.diff(merit) < 0)
    assert merit[-1] <= ROUNDING
    assert {"iteration", "direction", "seconds"} <= set(allocation.trace[0])


def test_zero_merit_is_an_equilibrium_and_only_that():
    game = Game(KHAMSE_4, 1.0)
    fair = solve(KHAMSE_4, "alpha-pf-vds", "best-response", "high", alpha=1)
    merit = Merit(game)
    mu = fair.prices / np.exp(merit.log_G)[:, None]
    assert merit.value(fair.x / game.gamma, mu) <= ROUNDING
    assert merit.value(fair.x / game.gamma * 0.9, mu) > 1e-4


# ---- K's distributed heuristic --------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [0.2, 0.05])
def test_a_finite_epsilon_gives_the_equilibrium_of_smaller_servers(epsilon):
    """Loads 1 - epsilon + epsilon^2 mu of priced resources; the tasks are right for servers with just that."""
    instance, item = generators.generic(4, 2, 2, 0), mechanism("alpha-pf-vds").configure(alpha=1)
    session = VdsDistributedSession(item, instance, Limits(options=VdsDistributed.options))
    session.y, session.epsilon = session.merit.equal.copy(), epsilon
    session._rest()
    load, mu = session.game.load(session.y), session.penalties()
    np.testing.assert_allclose(load[mu > 0], (1 - epsilon + epsilon**2 * mu)[mu > 0], rtol=ROUNDING)
    assert np.all(load < 1)
    smaller = instance.replace(capacities=instance.capacities * np.where(mu > 0, load, 1 - epsilon))
    # gamma changes with capacities, but for alpha = 1 it drops out
    np.testing.assert_allclose(
        session.game.tasks(session.y * session.game.gamma), solve(smaller, "nb", "cvxpy:clarabel").tasks, rtol=GRADIENTS
    )


@pytest.mark.deep
def test_epsilon_falls_and_so_does_the_residual():
    allocation = solve(KHAMSE_4, "alpha-pf-vds", "vds-distributed", "low", alpha=3, trace=True)
    assert allocation.claims_success
    assert np.all(np.diff([entry["epsilon"] for entry in allocation.trace]) < 0)
    assert allocation.trace[-1]["residual"] == min(entry["residual"] for entry in allocation.trace)


# ---- honesty --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "few"),
    [("best-response", 2), ("psdsf-algorithm-1", 2), ("psdsf-distributed", 2), ("ps-mfa", 20), ("vds-distributed", 200)],
)
def test_too_few_iterations_are_no_success(method, few):
    instance, alpha = generators.generic(12, 4, 3, 0), 2 if method in FOLLOWING else "inf"
    allocation = solve(instance, "alpha-pf-vds", method, alpha=alpha, options={"max_iterations": few})
    assert allocation.termination == "iteration_limit"
    assert allocation.has_point
    assert allocation.residuals["feasibility"] <= ROUNDING
    assert allocation.residual > RESIDUAL
    assert "its own residual is" in allocation.message


@pytest.mark.few(2)
@pytest.mark.parametrize("method", [*FILLING, *FOLLOWING])
def test_time_limits_are_obeyed_inside(method):
    """By a clock that is one second later whenever it is looked at: a busy machine changes nothing."""
    instance, alpha = generators.generic(40, 10, 3, 0), 2 if method in FOLLOWING else "inf"
    ticks = count()
    limits = Limits(deadline=20.0, clock=lambda: float(next(ticks)))
    asked = Request(mechanism("alpha-pf-vds").configure(alpha=alpha), instance, limits)
    allocation = best_attempt(asked, [METHODS[method]])
    assert allocation.termination == "time_limit"
    assert allocation.has_point
    assert allocation.iterations >= 1
    assert allocation.residuals["feasibility"] <= ROUNDING
    assert next(ticks) < 40, "nobody goes on for long after the limit"


@pytest.mark.parametrize(("method", "what"), [("best-response", "sweeps"), ("psdsf-algorithm-1", "rounds")])
def test_a_point_at_rest_that_is_no_answer_is_said_to_be_at_rest(method, what, monkeypatch):
    monkeypatch.setattr(Game, "residual", lambda *_: 0.5)
    ended = solve(generators.generic(4, 2, 2, 0), "ps-dsf", method)
    assert ended.termination == "inaccurate"
    assert re.match(rf"at rest after \d+ {what}: its own residual is 5.0e-01", ended.message)
    short = solve(generators.generic(4, 2, 2, 0), "ps-dsf", method, options={"max_iterations": 1})
    assert short.termination == "iteration_limit"
    assert short.message.startswith(f"not at rest after 1 {what}")


def test_the_slope_of_a_direction_is_that_of_the_merit_along_it(monkeypatch):
    slopes, direction, t = [], PsMfaSession._direction, 1e-6

    def watched(session, *gradient):
        vy, vmu, slope = direction(session, *gradient)
        near = [session.merit.value(session.y + s * vy, session.mu + s * vmu) for s in (-t, t)]
        slopes.append((slope, (near[1] - near[0]) / (2 * t)))
        return vy, vmu, slope

    monkeypatch.setattr(PsMfaSession, "_direction", watched)
    solve(generators.generic(5, 3, 2, 1), "alpha-pf-vds", "ps-mfa", alpha=2, options={"max_iterations": 20})
    assert len(slopes) == 20
    for slope, measured in slopes:
        assert measured == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize(
    ("method", "place"),
    [
        ("best-response", "best_response.rational_sweeps"),
        ("ps-mfa", "ps_mfa.PsMfaSession._direction"),
        ("vds-distributed", "vds_distributed.VdsDistributedSession.move"),
    ],
)
def test_an_interrupt_leaves_the_point_so_far(method, place, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"fairalloc.solvers.game.{place}", interrupt)
    allocation = solve(KHAMSE, "alpha-pf-vds", method, alpha=2 if method in FOLLOWING else "inf")
    assert (allocation.termination, allocation.has_point) == ("interrupted", True)


@pytest.mark.parametrize("method", FOLLOWING)
@pytest.mark.parametrize("most", [0, 1, 50])
def test_no_more_steps_are_taken_than_there_may_be(method, most):
    allocation = solve(KHAMSE, "alpha-pf-vds", method, options={"max_iterations": most})
    assert (allocation.termination, allocation.iterations, allocation.has_point) == ("iteration_limit", most, True)


@pytest.mark.parametrize(("method", "said"), [("ps-mfa", "has no gradient in floating point"), ("vds-distributed", "overflow")])
def test_where_numbers_overflow_the_point_before_is_left_and_that_is_said(method, said):
    allocation = solve(KHAMSE, "alpha-pf-vds", method, alpha=1e6)
    assert (allocation.termination, allocation.has_point) == ("inaccurate", True)
    assert said in allocation.message


def test_demands_that_overflow_for_small_alpha_are_large_numbers():
    """Tasks were nan for alpha = 0.001, and no answer for 0.1: y of inf has no violation that a step could lower."""
    instance = Instance([[1, 2], [3, 1], [0, 1]], [[9, 18], [5, 4]])
    for alpha in (0.03, 0.1):
        assert solve(instance, "alpha-pf-vds", "best-response", alpha=alpha).claims_success
    assert np.isfinite(solve(instance, "alpha-pf-vds", "best-response", alpha=0.001).tasks).all()


def test_the_judge_sees_a_perturbation():
    instance, item = generators.generic(6, 3, 2, 0), mechanism("ps-dsf")
    session, right = GameSession(item, instance, Limits()), solve(instance, "ps-dsf", "best-response").x
    assert session.game.residual(right) <= RESIDUAL
    wrong = right.copy()
    wrong[np.argmax(wrong)] *= 0.99
    assert session.game.residual(wrong) > RESIDUAL
    assert session.game.residual(np.zeros_like(right)) == 1.0
    assert item.residual(Allocation(instance, wrong)) > RESIDUAL


@pytest.mark.parametrize("method", FOLLOWING)
def test_infinite_alpha_is_refused(method):
    with pytest.raises(NotApplicable, match=f"{method} needs finite alpha, but it is inf on server 's2'"):
        solve(KHAMSE, "alpha-pf-vds", method, alpha=[1, "inf"])


@pytest.mark.parametrize("method", FILLING[1:])
def test_finite_alpha_is_refused(method):
    with pytest.raises(NotApplicable, match=f"{method} needs alpha = inf on every server, but it is 3 on server 's1'"):
        solve(KHAMSE, "alpha-pf-vds", method, alpha=[3, "inf"])


@settings(max_examples=drawn(8))
@given(instances(variants=False, limits=False, scales=False), st.sampled_from([0.5, 1, 3]))
def test_gradient_methods_never_claim_too_much(instance, alpha):
    for method in FOLLOWING:
        allocation = solve(instance, "alpha-pf-vds", method, "low", alpha=alpha, time_limit=0.2)
        assert allocation.residuals.get("feasibility", 0) <= ROUNDING
        assert not allocation.claims_success or allocation.residual <= 1e-3


def test_a_demand_that_overflows_is_a_violation_and_no_warning():
    """With alpha = 0.01 demand is the hundredth power of 1 / price; a resource nobody there takes must not make it nan."""
    game = Game(Instance([[1, 0]], [[1, 1]]), 0.01)
    dual = ServerDual(servers_of(game)[0], game.marginals, 1.0)
    prices = np.array([-100.0, -np.inf])
    tasks, _ = dual.demand(prices, np.zeros(1))
    assert np.isfinite(tasks).all()
    assert dual.violation(tasks, prices) > 1
