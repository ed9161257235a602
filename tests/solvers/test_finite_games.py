"""The game with finite tasks: its definition, the two unrelated ways to compute it, its proofs, and what refuses it."""

from fractions import Fraction

import numpy as np
import pytest
from tolerances import BARGAINING, EQUILIBRIUM, RESIDUAL, ROUNDING, VISIBLE

from fairalloc.analysis.certificates import certify
from fairalloc.formulations import mechanism
from fairalloc.formulations.game.game import Game
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.models.examples import generators
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.solvers.game.best_response import water_filling
from fairalloc.solvers.game.psdsf_distributed import simulate

GAMES = [
    ("ps-dsf", {}),
    ("ps-dsf-tdm", {}),
    ("alpha-pf-vds", {"alpha": 0.5}),
    ("alpha-pf-vds", {"alpha": 1}),
    ("alpha-pf-vds", {"alpha": 2}),
    ("alpha-pf-vds", {"alpha": 3, "B": 0.5}),
    ("alpha-pf-vds", {"alpha": [0.5, 2, "inf"]}),
]


def finite_game(seed, shared=True, users=5, servers=3, resources=3):
    """Users with limits, zero demands, placement, weights and counts; `shared`: users with limits may have several servers."""
    rng = np.random.default_rng(seed)
    draw = (lambda *s: rng.integers(1, 5, s).astype(float)) if seed % 2 else (lambda *s: rng.uniform(0.2, 3, s))
    demands = draw(users, resources) * (rng.random((users, resources)) < 0.7)
    demands[demands.sum(axis=1) == 0, 0] = 1.0
    eligible = rng.random((users, servers)) < 0.7
    eligible[np.arange(users), rng.integers(0, servers, users)] = True
    limited = (rng.random(users) < 0.6) & (shared | (eligible.sum(axis=1) == 1))
    limits = [float(m) if some else None for m, some in zip(rng.choice([0.1, 0.5, 1, 2, 4], users), limited, strict=True)]
    return Instance(
        demands,
        3 * draw(servers, resources),
        weights=draw(users),
        eligible=eligible,
        max_tasks=limits,
        counts=rng.integers(1, 3, servers),
    )


def judged(instance, name, x, parameters):
    """The residual of tasks x (A,), from the instance alone."""
    return mechanism(name).configure(**parameters).residual(Allocation(instance, np.asarray(x, float)))


# ---- worked examples ------------------------------------------------------------------------------------------------

SHARED = Instance([[1], [1], [1]], [[1], [1]], eligible=[[1, 0], [0, 1], [1, 1]], max_tasks=[None, None, "1/2"])
"""Users 1 and 2 have a server each, user 3 has both and wants 1/2: any split of the 1/2 is an equilibrium."""


@pytest.mark.parametrize(("name", "parameters"), GAMES[:6])
def test_a_satisfied_user_leaves_the_rest(name, parameters):
    instance = Instance([[1], [1]], [[1]], max_tasks=["1/4", None])
    np.testing.assert_allclose(solve(instance, name, **parameters).tasks, [0.25, 0.75], rtol=RESIDUAL)
    assert judged(instance, name, [0.25, 0.75], parameters) <= ROUNDING
    assert judged(instance, name, [0.25, 0.65], parameters) >= VISIBLE  # user 2 wants what is left
    assert judged(instance, name, [0.15, 0.85], parameters) >= VISIBLE  # user 1 has less than it wants, and less than user 2
    assert judged(instance.replace(max_tasks=["1/2", None]), name, [0.25, 0.75], parameters) >= VISIBLE


@pytest.mark.parametrize(("name", "parameters"), GAMES[:6])
@pytest.mark.parametrize("part", [Fraction(0), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2)])
def test_any_split_between_the_servers_is_an_equilibrium(name, parameters, part):
    """Whose multipliers are its servers' own (formulations/game/game.py)."""
    x = [1 - part, Fraction(1, 2) + part, part, Fraction(1, 2) - part]
    assert judged(SHARED, name, x, parameters) <= ROUNDING
    if name.startswith("ps-dsf"):
        domain = mechanism(name).domain(SHARED)
        assert levels(domain, x) == (1 / (1 - part), 1 / (Fraction(1, 2) + part))
        assert certify(Allocation(SHARED, np.array(x, float), x_exact=tuple(x)), name)


@pytest.mark.parametrize(("name", "parameters"), GAMES[:6])
def test_the_multipliers_of_continuation_are_in_proportion(name, parameters):
    np.testing.assert_allclose(solve(SHARED, name, "continuation", **parameters).x, [0.75, 0.75, 0.25, 0.25], rtol=EQUILIBRIUM)


def test_rational_answers_with_users_at_their_limits():
    """One server (12, 6), d = (1, 1), (2, 1), (3, 0), so gamma = (6, 6, 4)."""
    instance = Instance([[1, 1], [2, 1], [3, 0]], [[12, 6]], max_tasks=[1, 2, None])
    answer = solve(instance, "ps-dsf", "exact")
    assert answer.x_exact == (1, 2, Fraction(7, 3))  # user 3 fills the first resource: 1 + 4 + 7 = 12
    assert certify(answer, "ps-dsf").kappa == (Fraction(12, 7), 0)
    other = instance.replace(max_tasks=[1, 3, None])  # users 2 and 3 stop at one level: 2 x_2 + 3 x_3 = 11, x_2 / 6 = x_3 / 4
    assert solve(other, "ps-dsf", "exact").x_exact == (1, Fraction(11, 4), Fraction(11, 6))
    assert solve(other, "ps-dsf", "best-response").x_exact == (1, Fraction(11, 4), Fraction(11, 6))


# ---- it is the papers' definition where limits do not bind -------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_limits_that_do_not_bind_change_nothing(name, parameters, seed):
    instance = generators.placement(5, 3, 2, seed)
    old = solve(instance, name, **parameters)
    loose = instance.replace(max_tasks=old.tasks * 1.5)
    found = solve(loose, name, **parameters)
    assert judged(instance, name, found.x, parameters) <= RESIDUAL
    if name != "ps-dsf":  # which may have several answers
        np.testing.assert_allclose(found.tasks, old.tasks, rtol=EQUILIBRIUM)
    assert judged(loose, name, old.x, parameters) <= RESIDUAL
    tight = instance.replace(max_tasks=old.tasks * (1 + 1e-12))
    assert judged(tight, name, old.x, parameters) <= RESIDUAL  # an equilibrium stays one under limits that it obeys
    one = int(seed % 5)
    half = instance.replace(max_tasks=[u / 2 if n == one else None for n, u in enumerate(old.tasks.tolist())])
    new = solve(half, name, **parameters)
    assert new.residual <= RESIDUAL
    assert new.tasks[one] == pytest.approx(old.tasks[one] / 2, rel=EQUILIBRIUM)
    assert judged(instance, name, new.x, parameters) >= RESIDUAL  # without the limit it would not do


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(8))
def test_answers_are_the_games_with_smaller_weights(seed):
    """Continuation's choice: h_n lowers the weight of a user at its limit, and the game with lower weights has no limits."""
    instance = finite_game(seed)
    answer = solve(instance, "alpha-pf-vds", "continuation", accuracy="high", alpha=2)
    game = Game(instance, 2.0)
    E = game.excess(answer.tasks, answer.prices)
    at_limit = answer.tasks >= instance.max_tasks * (1 - 1e-7)
    h = np.zeros(instance.N)
    np.maximum.at(h, game.user, np.where(at_limit[game.user] & (answer.x > 1e-6 * game.gamma), -E, 0.0))
    if not np.all(h < 5):
        pytest.skip("a user at its limit pays nothing: its weight would be 0")
    lower = instance.replace(weights=instance.weights * np.exp(-h), max_tasks=None)
    plain = solve(lower, "alpha-pf-vds", "best-response", alpha=2)
    assert plain.residual <= RESIDUAL
    np.testing.assert_allclose(plain.tasks, answer.tasks, rtol=EQUILIBRIUM)


# ---- two unrelated ways ------------------------------------------------------------------------------------------------


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_continuation_and_best_response_both_find_equilibria(name, parameters, seed):
    """The same tasks where no limit is shared by several servers; else each its own choice, by the same definition."""
    instance = finite_game(seed, shared=bool(seed % 3))
    one = solve(instance, name, "continuation", **parameters)
    other = solve(instance, name, "best-response", **parameters)
    for answer in (one, other):
        assert answer.termination == "optimal"
        assert answer.residual <= RESIDUAL
        assert np.all(answer.tasks <= instance.max_tasks * (1 + RESIDUAL))
    if not seed % 3 and parameters.get("alpha", np.inf) not in (np.inf,):
        np.testing.assert_allclose(one.tasks, other.tasks, rtol=EQUILIBRIUM)


@pytest.mark.few(11)
@pytest.mark.parametrize("seed", range(20))
def test_alpha_1_is_nash_bargaining_under_limits(seed):
    instance = finite_game(seed)
    one = solve(instance, "alpha-pf-vds", "continuation", alpha=1)
    np.testing.assert_allclose(one.tasks, solve(instance, "nb", "cvxpy:clarabel", "high").tasks, rtol=BARGAINING)
    assert judged(instance, "alpha-pf-vds", solve(instance, "nb", "cvxpy:clarabel", "high").x, {"alpha": 1}) <= RESIDUAL


@pytest.mark.parametrize("seed", range(6))
def test_the_merit_problem_makes_the_same_choice(seed):
    instance = finite_game(seed, users=4, servers=2, resources=2)
    for alpha in (0.5, 2):
        one = solve(instance, "alpha-pf-vds", "pyomo:ipopt", alpha=alpha)
        if one.termination == "optimal":  # a merit problem has stationary points that are no equilibria
            other = solve(instance, "alpha-pf-vds", "continuation", alpha=alpha)
            np.testing.assert_allclose(one.tasks, other.tasks, rtol=EQUILIBRIUM)


@pytest.mark.few(8)
@pytest.mark.parametrize("layer", ["cvxpy:highs", "pyomo:highs"])
@pytest.mark.parametrize("seed", range(8))
def test_the_mixed_integer_program_knows_limits(layer, seed):
    instance = finite_game(seed, users=4, servers=2, resources=2)
    answer = solve(instance, "ps-dsf", layer)
    assert answer.termination == "optimal"
    assert answer.residual <= RESIDUAL


@pytest.mark.few(13)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["ps-dsf", "ps-dsf-tdm"])
def test_exact_answers_are_certified(name, seed):
    instance = finite_game(seed)
    answer = solve(instance, name, "exact")
    certificate = certify(answer, name)
    assert certificate, str(certificate)
    assert certificate.x == answer.x_exact
    at = [u == m for u, m in zip(certificate.tasks, instance.exact.max_tasks, strict=True)]
    some = instance.replace(max_tasks=[None if a else m for a, m in zip(at, instance.max_tasks, strict=True)])
    moved = levels(mechanism(name).domain(some), answer.x_exact)  # without the limits that bind: only a coincidence holds
    assert moved is None or judged(some, name, answer.x, {}) <= RESIDUAL


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("parameters", [{"alpha": 1}, {"alpha": 2}, {"alpha": 20}, {"alpha": [0.5, 2, "inf"]}])
def test_bounds_on_the_residual_are_certified(parameters, seed):
    instance = finite_game(seed)
    answer = solve(instance, "alpha-pf-vds", "continuation", accuracy="high", **parameters)
    certificate = certify(answer, "alpha-pf-vds")
    assert certificate, str(certificate)


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_other_tasks_are_rejected(name, parameters, seed):
    instance = finite_game(seed)
    answer = solve(instance, name, **parameters)
    below = answer.tasks < instance.max_tasks * 0.99
    for n in np.flatnonzero(below)[:2]:
        less = np.where(instance.arcs.user == n, 0.8 * answer.x, answer.x)
        assert judged(instance, name, less, parameters) >= 100 * RESIDUAL


# ---- water filling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_filling_up_to_limits_is_the_server_s_answer(seed):
    """In rationals: feasible, and who is below its limit has a bottleneck; the same in floating point."""
    rng = np.random.default_rng(seed)
    m, R = rng.integers(2, 6), rng.integers(1, 4)
    w = np.array([[Fraction(int(v), 4) for v in row] for row in rng.integers(0, 5, (m, R))], dtype=object)
    w[np.arange(m), rng.integers(0, R, m)] = Fraction(1)
    phi, b = (np.array([Fraction(int(v), 2) for v in rng.integers(k, 5, m)], dtype=object) for k in (1, 0))
    most = np.array([Fraction(int(v), 4) if v < 8 else np.inf for v in rng.integers(1, 12, m)], dtype=object)
    y, level = water_filling(w, phi, b, 0, most)
    z, load = b + y / phi, (w * y[:, None]).sum(axis=0)
    assert min(y) >= 0
    assert max(load) <= 1
    assert all(z[n] <= max(most[n], b[n]) for n in range(m))
    for n in range(m):
        bottlenecks = [
            r for r in range(R) if w[n, r] and load[r] == 1 and all(z[n] >= z[k] for k in range(m) if y[k] and w[k, r])
        ]
        assert bottlenecks or z[n] >= most[n]
    floats = [np.array(v, float) for v in (w, phi, b, most)]
    again, levels_again = water_filling(*floats[:3], most=floats[3])
    np.testing.assert_allclose(again, y.astype(float), atol=ROUNDING)
    assert np.all(np.isinf(levels_again) == np.isinf(level.astype(float)))


# ---- who refuses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("ps-dsf", "psdsf-algorithm-1"),
        ("ps-dsf", "psdsf-distributed"),
        ("alpha-pf-vds", "ps-mfa"),
        ("alpha-pf-vds", "vds-distributed"),
        ("alpha-pf-vds", "semismooth-newton"),
        ("alpha-pf-vds", "josephy-newton"),
    ],
)
def test_the_papers_algorithms_are_for_users_without_limits(name, method):
    with pytest.raises(NotApplicable, match=f"{method} is for users without limits, but user 'u3' has max_tasks 0.5"):
        solve(SHARED, name, method)


def test_the_distributed_simulation_refuses_limits():
    with pytest.raises(NotApplicable, match="the distributed algorithm is for users without limits, but user 'u3'"):
        simulate(SHARED)
