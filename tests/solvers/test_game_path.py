"""The path of `continuation`: its linear algebra against dense systems, its orientation, and what it does at both ends."""

from itertools import pairwise, product

import numpy as np
import pytest
from tolerances import EXACT, RESIDUAL, ROUNDING, SHARES

from fairalloc.formulations import mechanism
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import ACCURACY, solve
from fairalloc.solvers.game import central_path, continuation
from fairalloc.solvers.game.active_set import ActiveStep, Guess
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathPoint
from fairalloc.solvers.game.continuation import STARTS, Continuation, ContinuationSession, PathFollowing
from fairalloc.solvers.game.equations import LevelEquations, equal
from fairalloc.solvers.game.level_path import LevelPath
from fairalloc.solvers.method import Limits

GAME = "alpha-pf-vds"


def levels_of(instance, alpha):
    return LevelEquations(mechanism(GAME).configure(alpha=alpha).game(instance))


def near_the_end(levels, tau, seed=0):
    """A point with y and e far apart: some arcs of every user in use, most of them empty."""
    rng = np.random.default_rng(seed)
    y, k = equal(levels)
    used = rng.random(y.shape) < 0.3
    y = np.where(used, y, tau * rng.uniform(0.5, 2.0, y.shape))
    y[levels.loads.first + rng.integers(levels.loads.counts)] = 1.0 / levels.N
    e = tau / levels.N / y
    full = rng.random(k.shape) < 0.7
    s = np.where(levels.row, np.where(full, tau / k, 0.3), 1.0)
    k = np.where(full, k, tau / s)
    return CentralPathPoint(y, k, e, s, np.zeros(levels.N), np.ones(levels.N), float(np.log(tau)))


def dense(newton):
    """The linearised equations in (l, u): e l + pull (gamma y / x) l + share u = q, and w y l - s u = .. for the rows."""
    levels, point, at, n, arcs = newton.levels, newton.point, newton.at, newton.levels.user, len(newton.levels)
    rows = levels.K * levels.R
    J = np.zeros((arcs + rows, arcs + rows))
    J[:arcs, :arcs] = (n[:, None] == n) * np.outer(at.pull, levels.gamma * point.y) / at.tasks[n]
    J[np.arange(arcs), np.arange(arcs)] += point.e
    for a in range(arcs):
        own = slice(arcs + levels.server[a] * levels.R, arcs + (levels.server[a] + 1) * levels.R)
        J[a, own] = at.share[a]
        J[own, a] = levels.w[a] * point.y[a]
    J[arcs + np.arange(rows), arcs + np.arange(rows)] = -np.where(levels.row, point.s, 1.0).ravel()
    return J


@pytest.mark.parametrize("plan", ["rows", "sparse rows"])
@pytest.mark.parametrize("seed", range(4))
def test_the_step_and_the_orientation_are_those_of_the_dense_system(plan, seed):
    levels = levels_of(generators.placement(5, 3, 3, seed), [0.5, 2.0, 9.0])
    levels.plan = plan
    newton = CentralPathNewton(levels, near_the_end(levels, 1e-2, seed))
    J = dense(newton)
    sign, _ = np.linalg.slogdet(J)
    assert newton.orientation == sign * (-1.0) ** (levels.K * levels.R)
    point, tau = newton.point, newton.point.tau
    y, k, *_ = point.split(newton.correction())
    q = (tau / levels.N - point.y * point.e) / point.y - newton.changes[0]
    supply = np.where(levels.row, newton.changes[1] - (tau - point.k * point.s) / point.k, 0.0)
    z = np.linalg.solve(J, np.concatenate([q, supply.ravel()]))
    np.testing.assert_allclose(np.concatenate([y, k.ravel()]), z, atol=EXACT * np.abs(z).max())


def missing_in_rows(newton):
    """What the rows lack after a Newton step, in units of tau."""
    point, levels = newton.point, newton.levels
    y, k, *_ = point.split(newton.correction())
    supply = newton.changes[1] - (point.tau - point.k * point.s) / point.k
    return np.abs(np.where(levels.row, 1.0 - levels.slack(point.y * y) - point.s * k - supply, 0.0)).max() / point.tau


@pytest.mark.parametrize("family", ["generic", "placement"])
def test_refinement_keeps_the_digits_of_rows(family, monkeypatch):
    """Users with several arcs in use cost them: y / e is 1e8 there."""
    levels = levels_of(getattr(generators, family)(30, 6, 3, 1), 3.0)
    point = near_the_end(levels, 1e-8)
    assert missing_in_rows(CentralPathNewton(levels, point)) <= 0.1
    monkeypatch.setattr(central_path, "REFINEMENTS", 0)
    assert missing_in_rows(CentralPathNewton(levels, point)) > 1.0


def test_alpha_1_is_solved_as_a_program_and_by_the_path_alike(monkeypatch):
    """The trace of the program has no tau."""
    instance = generators.placement(20, 5, 3, 4)
    program = solve(instance, GAME, "continuation", alpha=1, trace=True)
    monkeypatch.setattr(ContinuationSession, "_bargained", lambda _: False)
    path = solve(instance, GAME, "continuation", alpha=1, trace=True)
    assert not any("tau" in event for event in program.trace)
    assert any("tau" in event for event in path.trace)
    assert max(program.residual, path.residual) <= ACCURACY["high"]
    np.testing.assert_allclose(program.tasks, path.tasks, rtol=SHARES)


def test_points_on_the_way_of_the_program_are_in_the_units_of_the_user():
    instance, points = generators.generic(12, 4, 3, 2), []
    answer = Continuation().run(mechanism(GAME).configure(alpha=1), instance, Limits(keep=points.append))
    np.testing.assert_allclose(points[-1], answer.x, rtol=SHARES)


def test_a_path_without_numbers_leaves_the_point_before(monkeypatch):
    monkeypatch.setattr(continuation, "STARTS", ((np.inf, 30.0),))
    answer = solve(generators.generic(4, 2, 2), GAME, "continuation")
    assert (answer.termination, answer.has_point) == ("iteration_limit", True)


@pytest.mark.parametrize("alpha", [1.0, 4.0])
def test_logarithms_with_other_coefficients_are_the_program_too(alpha):
    """With A = 0 it is g' = B / z for any alpha; the prices are B times those of nb."""
    instance = generators.generic(12, 4, 3, 2)
    answer = solve(instance, GAME, "continuation", alpha=alpha, A=0.0, B=[0.5, 1.0, 2.0, 3.0], trace=True)
    assert not any("tau" in event for event in answer.trace)
    assert answer.residual <= ACCURACY["high"]
    np.testing.assert_allclose(answer.tasks, solve(instance, "nb").tasks, rtol=SHARES)


@pytest.mark.parametrize("alpha", [300.0, 1e4])
def test_an_answer_of_ps_dsf_starts_games_with_a_large_alpha(alpha):
    """The marginal utilities of one server's users differ by more than floating point has; that ended in an error."""
    instance = generators.zero_demand(60, 10, 3, 1)
    start = solve(instance, "ps-dsf", "continuation")
    warm, cold = (solve(instance, GAME, "continuation", alpha=alpha, warm_start=s) for s in (start, None))
    assert warm.claims_success
    assert warm.residual <= RESIDUAL
    assert warm.iterations < cold.iterations


@pytest.mark.few(2)
@pytest.mark.parametrize("family", ["placement", "degenerate", "racks", "tied", "badly_scaled"])
def test_the_path_in_one_unknown_per_server_has_the_same_end(family, monkeypatch):
    """Where tasks are not unique, too: servers of a rack share users in many ways."""
    instance = getattr(generators, family)(20, 5, 3, 1)
    with monkeypatch.context() as patch:
        patch.setattr(LevelPath, "fits", lambda _: False)
        whole = solve(instance, "ps-dsf", "continuation")
    if family != "degenerate":  # whose last step fails on some processors
        monkeypatch.setattr(PathFollowing, "follow", None)  # it is not needed
    answer = solve(instance, "ps-dsf", "continuation")
    assert answer.claims_success
    assert answer.residual <= ROUNDING
    np.testing.assert_allclose(answer.x / instance.arcs.gamma, whole.x / instance.arcs.gamma, atol=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize(("family", "alpha"), [("zero_demand", np.inf), ("generic", 300.0), ("variants", np.inf)])
def test_games_in_which_the_cap_helps_keep_it(family, alpha, monkeypatch):
    caps = []
    begin = PathFollowing.__init__
    monkeypatch.setattr(PathFollowing, "__init__", lambda *a: caps.append(a[3]) or begin(*a))
    assert solve(getattr(generators, family)(12, 4, 3, 1), GAME, "continuation", alpha=alpha).claims_success
    assert caps[0] == 30.0


@pytest.mark.parametrize("alpha", [0.5, 3.0, np.inf])
def test_steps_on_the_arcs_in_use_square_the_error(alpha):
    instance = generators.racks(12, 4, 3, 3)
    answer = solve(instance, GAME, "continuation", alpha=alpha, accuracy="high")
    levels = levels_of(instance, alpha)
    y = answer.x / levels.game.gamma
    k = answer.prices / levels.unit[:, None]
    guess = Guess(y > RESIDUAL, k > RESIDUAL, np.zeros(levels.N, bool))
    rng = np.random.default_rng(0)
    off = np.where(guess.arcs, y * rng.uniform(1.0 - 1e-3, 1.0 + 1e-3, y.shape), 0.0)
    price = np.where(guess.rows, k * rng.uniform(1.0 - 1e-3, 1.0 + 1e-3, k.shape), 0.0)
    errors = []
    for _ in range(4):
        at = levels.derivatives(off, price)
        errors.append(max(np.abs(at.excess[guess.arcs]).max(), np.abs(levels.slack(off)[guess.rows]).max()))
        step = ActiveStep(levels, off, price, guess)
        change, prices = step.least()
        off, price = off + step.own * change, price * np.exp(prices)
    assert errors[0] > 1e-4
    assert errors[2] <= 1e-2 * errors[1] + ROUNDING
    assert errors[3] <= ROUNDING


def test_a_guess_is_corrected_by_what_the_point_says():
    """Arc by arc, row by row and user by user."""
    rng, seen = np.random.default_rng(2), set()
    for seed in range(12):
        instance = generators.placement(6, 3, 2, seed)
        levels = levels_of(instance.replace(max_tasks=[0.2, 0.4, 0.6, None, 0.1, None]), 2.0)
        y, k = equal(levels)
        y = np.where(rng.random(y.shape) < 0.6, y * rng.uniform(0.2, 4.0, y.shape), 0.0)
        y[levels.loads.first] += 0.05
        y /= levels.loads.rows(levels.gamma * y).max()
        k *= rng.uniform(0.0, 2.0, k.shape) * (rng.random(k.shape) < 0.7)
        had = Guess(rng.random(y.shape) < 0.5, rng.random(k.shape) < 0.5, levels.limited & (rng.random(6) < 0.5))
        found, E = had.corrected(levels, y, k), levels.derivatives(y, k).excess
        left, slack = levels.left(levels.tasks(y)), levels.slack(y)
        for n in range(6):
            own = np.flatnonzero(levels.user == n)
            stays = had.held[n] and not any(y[a] > 0 and E[a] > max(left[n], 0.0) for a in own)
            held = left[n] < 0 or stays
            assert found.held[n] == held
            assert [found.arcs[a] for a in own] == [levels.N * y[a] > E[a] for a in own]
            seen.add((bool(held), bool(had.held[n]), bool(left[n] < 0)))
        for i, r in np.argwhere(levels.row):
            assert found.rows[i, r] == (k[i, r] > slack[i, r])
    assert {(False, True, False), (True, True, False), (True, False, True)} <= seen


def test_a_resource_that_is_full_at_no_price_on_one_server_is_told_from_the_others():
    """All arcs are pivots; without steps on the arcs in use the path ends at 8e-8, for k and slack of a row are roots of tau."""
    instance = Instance([[0, 2, 1, 1], [1, 4, 1, 1], [4, 1, 1, 1]], [[2, 2, 1, 1]])
    answer = solve(instance, GAME, "continuation", alpha=1, accuracy="high")
    assert answer.residual <= ROUNDING
    np.testing.assert_allclose(answer.tasks, [1 / 3, 2 / 9, 4 / 9], rtol=EXACT)


def test_users_at_their_limits_cost_no_digits():
    """H and the pull of a limit are each 1e8 times their difference: computed as one, the path stalled for 9,000 systems."""
    instance = Instance(
        [[2, 3], [3, 2], [4, 2], [2, 1], [3, 2], [3, 4]],
        [[2, 1], [2, 3], [5, 2], [5, 1]],
        max_tasks=[None, 0.005, 0.02, 0.009, 0.8, 0.01],
        weights=[1e-4, 30, 3000, 6000, 0.04, 0.002],
        eligible=[[0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]],
    )
    answer = solve(instance, GAME, "continuation", alpha=1000, merge=False)
    assert answer.claims_success
    assert answer.iterations < 400


@pytest.mark.parametrize("tau", [1e-4, 1e-8, 1e-12])
def test_equations_of_limits_hold_after_a_step_however_small_tau_is(tau):
    """T m + m t = tau to first order: what is left of the limit after the step, with the tasks of the changed arcs."""
    instance = generators.generic(8, 3, 2, 1)
    limits = 0.5 * solve(instance, GAME, "continuation", alpha=3.0).tasks
    levels = levels_of(instance.replace(max_tasks=[*limits[:5], None, None, None]), 3.0)
    point = near_the_end(levels, tau)
    h = np.where(levels.limited, 0.5, 0.0)
    point = point._replace(h=h, t=np.where(levels.limited, tau / 0.5, 1.0))
    newton = CentralPathNewton(levels, point)
    y, _, _, _, _, t = point.split(newton.correction())
    moved = levels.loads.totals(levels.gamma * point.y * y) / levels.limits
    lack = newton.changes[2] - moved - point.t * t
    assert np.abs(lack[levels.limited]).max() <= 1e-3 * max(tau, np.abs(newton.changes[2]).max())


def test_users_who_are_tied_everywhere_end_too():
    """All arcs of forty equal users are in use: the equations of step 5 are dependent."""
    twins = Instance([[1, 2, 1]] * 40, [[40, 30, 20], [10, 50, 40], [30, 30, 30]])
    for alpha in (0.5, 20, "inf"):
        answer = solve(twins, GAME, "continuation", alpha=alpha)
        assert answer.claims_success
        assert answer.residual <= ACCURACY["high"]


@pytest.mark.parametrize(("family", "seed", "alpha"), [("tied", 1, 2.0), ("tied", 2, 2.0), ("zero_demand", 2, 20.0)])
def test_ties_and_near_ties_end_at_the_highest_accuracy(family, seed, alpha):
    """Resources are full that need no price, and equations of arcs differ by less than the target: both stopped step 5 before."""
    answer = solve(getattr(generators, family)(100, 20, 3, seed), GAME, "continuation", alpha=alpha, accuracy="high")
    assert answer.claims_success
    assert answer.residual <= ACCURACY["high"]


def test_a_small_price_falls_linearly_to_zero():
    """Two resources that all users need alike: a price of 1e-6 falls by 0.6 of itself, or vanishes; the others by exp u."""
    instance = Instance([[1, 1], [2, 2], [3, 3]], [[9, 9]])
    levels = levels_of(instance, 3.0)
    y, _ = equal(levels)
    k = np.array([[1.0, 1e-2]])
    step = ActiveStep(levels, y, k, Guess(y > 0, k > 0, np.zeros(3, bool)))
    np.testing.assert_allclose(step.factors(np.array([[-0.2, -0.2]])), [[np.exp(-0.2), 0.4 ** (1 / 3)]], rtol=EXACT)
    np.testing.assert_allclose(step.factors(np.array([[0.2, -0.4]])), [[np.exp(0.2), 0.0]], rtol=EXACT)


# ---- when and how the path ends -----------------------------------------------------------------------------------------


def session_of(instance, accuracy="mid", **parameters):
    return Continuation().open(mechanism(GAME).configure(**parameters), instance, Limits(accuracy))


def test_most_of_a_step_along_levels_is_foreseen(monkeypatch):
    """What Newton's method adds to the tasks that the tangent tells."""
    path, seen = LevelPath(session_of(generators.heavy_tailed(12, 4, 2, 1), alpha="inf")), []
    corrected = path._corrected

    def watched(t, tau, log_x, most):
        found = corrected(t, tau, log_x, most)
        seen.append((log_x.copy(), found[0].log_x))
        return found

    monkeypatch.setattr(path, "_corrected", watched)
    path.follow()
    assert len(seen) == 5
    for (_, before), (foreseen, there) in pairwise(seen[1:]):  # the first step is long
        assert np.linalg.norm(there - foreseen) <= 0.2 * np.linalg.norm(there - before)


@pytest.mark.parametrize(("family", "alpha"), [("zero_demand", 20.0), ("generic", 3.0), ("tied", 0.5)])
def test_when_an_end_is_tried_again(family, alpha, monkeypatch):
    """At the first point below 1e-6, then at the first below a hundredth of the last one, and at the end of the path."""
    session, seen, tried = session_of(getattr(generators, family)(20, 5, 3, 1), alpha=alpha), [], []
    path = PathFollowing(session, *STARTS[0])
    oriented, end = path._oriented, path._try_to_end
    monkeypatch.setattr(PathFollowing, "_enough", lambda _: False)
    monkeypatch.setattr(path, "_oriented", lambda newton, along: seen.append(newton.point.tau) or oriented(newton, along))
    monkeypatch.setattr(path, "_try_to_end", lambda newton, along: tried.append(newton.point.tau) or end(newton, along))
    path.follow()
    due, expected = 1e-6, []
    for tau in seen:
        if tau < due:
            expected.append(tau)
            due = tau / 100.0
    assert len(expected) >= 3
    assert tried[:-1] == expected
    assert tried[-1] <= continuation.LAST_TAU


def test_a_path_that_is_lost_is_tried_to_end_where_it_was():
    """Weights of twelve orders of magnitude: the path is lost between two attempts, and the next start's too."""
    assert solve(generators.weights(20, 6, 3, 3), GAME, "continuation", alpha=1.0).claims_success


def test_what_is_enough_depends_on_how_long_the_path_is():
    """The target; on a path of more than 150 systems ten times the target."""
    session = session_of(generators.generic(6, 3, 2, 1), "low", alpha=3.0)
    path = PathFollowing(session, *STARTS[0])
    path.begun = 40
    for part, done in product((0.9, 9.0, 11.0), (190, 191)):
        session.gap, session.done = part * session.target, done
        assert path._enough() == (part == 0.9 or (part == 9.0 and done == 191))


@pytest.mark.parametrize("family", ["generic", "variants"])
def test_alpha_is_bounded_by_tau(family):
    """By 0.3 / tau, with variants by 0.3 / sqrt(tau), but not below the first bound."""
    session = session_of(getattr(generators, family)(4, 2, 2, 1), alpha="inf")
    path = PathFollowing(session, 0.1, 30.0)
    for tau in (1e-1, 1e-2, 1e-4, 1e-6):
        path._cap(np.log(tau))
        bound = max(30.0, 0.3 / (np.sqrt(tau) if family == "variants" else tau))
        np.testing.assert_allclose(session.levels.alpha, bound, rtol=ROUNDING)


@pytest.mark.parametrize("alpha", ["inf", 3.0])
def test_levels_drift_with_the_bound_on_alpha(alpha):
    """As differences of both sides show; where no alpha is bounded they do not."""
    session = session_of(generators.placement(6, 3, 2, 1), alpha=[alpha, 2.0, alpha])
    path, small = PathFollowing(session, 1e-3, 30.0), 1e-5
    newton = path._newton(path.now)
    found, E = path._drift(newton), []
    for theta in (np.log(1e-3) + small, np.log(1e-3) - small):
        path._cap(theta)
        E.append(session.levels.derivatives(path.now.y, path.now.k).excess)
    np.testing.assert_allclose(found, (E[0] - E[1]) / (2.0 * small), atol=1e-3 * np.abs(found).max())
    assert found.any() == (alpha == "inf")


def test_a_tangent_has_length_1_where_each_kind_of_number_counts_alike():
    """With log tau as one more number, and from the start on towards smaller tau."""
    levels = (session := session_of(generators.finite(8, 3, 2, 1), alpha=3.0)).levels
    path = PathFollowing(session, 0.1, 30.0)
    newton = path._center()
    assert newton.error <= 0.3
    path.orientation = newton.orientation
    tangent = path._oriented(newton, newton.tangent(path._drift(newton)))
    y, k, e, s, h, t = newton.point.split(tangent.change)
    kinds = [np.mean(part[used] ** 2) for part, used in ((y, ...), (k, levels.row), (e, ...), (s, levels.row))]
    kinds += [np.mean(part[levels.limited] ** 2) for part in (h, t)]
    assert sum(kinds) + tangent.theta**2 == pytest.approx(1.0, rel=EXACT)
    assert levels.limited.any()
    assert tangent.theta < 0


@pytest.mark.parametrize(("family", "alpha", "count"), [("variants", "inf", 1), ("variants", 2.0, 3), ("zero_demand", "inf", 3)])
def test_which_starts_are_tried(family, alpha, count, monkeypatch):
    """With variants at infinite alpha the first alone."""
    tried = []

    def lost(path):
        tried.append((np.exp(path.now.theta), path.first))
        raise continuation.PathLost

    monkeypatch.setattr(PathFollowing, "follow", lost)
    monkeypatch.setattr(continuation, "finish_by_sweeps", lambda session: None)
    session = session_of(getattr(generators, family)(8, 3, 3, 1), alpha=alpha)
    session.iterate()
    np.testing.assert_allclose(tried, STARTS[:count], rtol=ROUNDING)


def guesses(monkeypatch, session, follow):
    """What is guessed to be in use at the ends that are tried, where no guess is followed."""
    seen = []
    monkeypatch.setattr(continuation, "newton_on_active_arcs", lambda _, y, k, *guess: seen.append(guess))
    follow(session)
    return seen


def in_use(answer):
    """Arcs, rows with a price and users at their limits of an answer, which are far from what is not in use."""
    game = mechanism(GAME).configure(**answer.parameters).game(answer.instance)
    limits = answer.instance.max_tasks
    parts = (
        answer.x / game.gamma,
        answer.prices / answer.prices.max(),
        np.where(np.isfinite(limits), answer.tasks / limits, 0.0),
    )
    for part in parts[:2]:
        assert not ((part > 1e-6) & (part < 1e-4)).any()
    return parts[0] > 1e-5, parts[1] > 1e-5, parts[2] > 1.0 - 1e-6


@pytest.mark.parametrize(("family", "alpha"), [("finite", 0.5), ("finite", 4.0), ("generic", 3.0), ("placement", 20.0)])
def test_the_guess_at_the_end_of_a_path_is_what_is_in_use(family, alpha, monkeypatch):
    """Of arcs, prices and limits, at tau = 1e-10."""
    instance = getattr(generators, family)(10, 4, 3, 2)
    expected = in_use(solve(instance, GAME, "continuation", alpha=alpha, accuracy="high", merge=False))

    def follow(session):
        path = PathFollowing(session, *STARTS[0])
        monkeypatch.setattr(continuation, "LAST_TAU", 1e-10)
        monkeypatch.setattr(path, "_enough", lambda: False)
        path.follow()

    seen = guesses(monkeypatch, session_of(instance, alpha=alpha), follow)
    assert len(seen) >= 2
    for found, used in zip(seen[-1], expected, strict=True):
        np.testing.assert_array_equal(found, used)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.8])
def test_the_guess_from_the_concave_program_is_what_is_in_use(part, monkeypatch):
    """Without limits, and where half of the users have this part of what they had without."""
    instance = generators.placement(12, 4, 3, 2)
    if part:
        instance = instance.replace(max_tasks=[*(part * solve(instance, "nb").tasks[:6]), *6 * [None]])
    expected = in_use(solve(instance, GAME, "continuation", alpha=1.0, accuracy="high", merge=False))
    assert expected[2].any() == (part > 0)
    monkeypatch.setattr(continuation, "MARGIN", 0.0)
    (guess,) = guesses(monkeypatch, session_of(instance, alpha=1.0), ContinuationSession._bargained)
    for found, used in zip(guess, expected, strict=True):
        np.testing.assert_array_equal(found, used)
