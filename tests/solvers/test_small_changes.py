"""The linear programs at the end of a path: what they keep, how far they bring the residual, and what they depend on."""

from dataclasses import replace

import numpy as np
import pytest
from tolerances import EXACT, ROUNDING

from fairalloc.formulations import mechanism
from fairalloc.models.examples import generators
from fairalloc.solvers import ACCURACY, solve
from fairalloc.solvers.game import continuation
from fairalloc.solvers.game.continuation import STARTS, Continuation, PathFollowing
from fairalloc.solvers.game.small_changes import CHANGES, SmallChanges, end_by_programs, weights_at
from fairalloc.solvers.method import Limits, Stopped

GAME = "alpha-pf-vds"

FAMILIES = [("finite", 20.0), ("variants", 3.0), ("tied", 3.0), ("zero_demand", 3.0), ("zero_demand", 0.5), ("racks", 20.0)]


def on_the_path(family, alpha, size=(40, 8, 3), seed=1):
    """A session and a point of its path with a tau of about 2e-7, from where on programs are tried."""
    instance = getattr(generators, family)(*size, seed)
    session = Continuation().open(mechanism(GAME).configure(alpha=alpha), instance, Limits())
    path = PathFollowing(session, *STARTS[0])
    path._try_to_end = lambda newton, along: None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(continuation, "LAST_TAU", 2e-7)
        path.follow()
    session.levels.cap(np.inf)
    return session, path.now


@pytest.mark.parametrize(("family", "alpha"), FAMILIES)
def test_the_residual_is_a_hundredth_of_that_of_the_point(family, alpha):
    session, point = on_the_path(family, alpha)
    before = session.levels.gap(point.y, point.k)
    assert before > ACCURACY["mid"]
    end_by_programs(session, point)
    assert session.gap < 1e-2 * before


@pytest.mark.parametrize(("family", "alpha"), FAMILIES)
def test_small_changes_keep_capacities_limits_and_every_user(family, alpha):
    session, point = on_the_path(family, alpha)
    levels, weights = session.levels, weights_at(session.levels, point)
    y, k = SmallChanges(levels, point.y, point.k, weights, CHANGES[0]).solve(np.inf)
    assert y.min() >= 0
    assert k[levels.row].min() > 0
    assert levels.slack(y).min() >= -EXACT
    assert levels.left(levels.tasks(y)).min() >= -EXACT
    np.testing.assert_allclose(levels.tasks(y), levels.tasks(point.y), rtol=1.01 * CHANGES[0])
    excess = levels.derivatives(y, k).excess
    wanted = levels.of_user(~levels.limited)
    assert excess[wanted].min() >= -levels.beta.max() * (1 + levels.R) ** 2 * CHANGES[0] ** 2  # the square of the changes


def test_the_error_of_the_equations_is_the_square_of_the_changes():
    """With weights that ask for the largest changes, a tenth of them errs by less than a thirtieth."""
    session, point = on_the_path("generic", 0.5)
    levels, weights, least = session.levels, weights_at(session.levels, point), []
    for most in (1e-2, 1e-3):
        program = SmallChanges(levels, point.y, point.k, weights._replace(y=np.ones_like(point.y)), most)
        y, k = program.solve(np.inf)
        least.append(levels.derivatives(y, k).excess.min())
    assert least[0] < -1e-6
    assert 0.03 * least[0] < least[1] < -ROUNDING


def test_without_the_weights_of_the_path_the_residual_stays():
    """With weights of 1 nothing tells which arcs are in use: the checker above sees that."""
    session, point = on_the_path("zero_demand", 3.0)
    weights = weights_at(session.levels, point)
    ones = weights._replace(y=np.ones_like(point.y), e=np.ones_like(point.y))
    y, k = SmallChanges(session.levels, point.y, point.k, ones, CHANGES[0]).solve(np.inf)
    assert session.levels.gap(y, k) > 1e-2 * session.levels.gap(point.y, point.k)


def test_limits_pay_for_what_their_users_do_not_want():
    """E + h is 0 on the arcs in use of a user at its limit and positive on its others."""
    session, point = on_the_path("finite", 20.0)
    levels, weights = session.levels, weights_at(session.levels, point)
    full = levels.of_user(point.h > 1e-2)
    used = weights.y > 1e-2
    assert (full & used).any()
    assert (full & ~used).any()
    assert weights.e[full & used].max() < 1e-2 < weights.e[full & ~used].min()


def test_each_program_brings_the_residual_down():
    """Three of them; for alpha = 300 they need the second, because the first errs by more than changes of 1e-5 can mend."""
    session, point = on_the_path("zero_demand", 300.0, (60, 10, 4), 4)
    levels, y, k, weights, gaps = session.levels, point.y, point.k, weights_at(session.levels, point), []
    for most in CHANGES:
        y, k = SmallChanges(levels, y, k, weights, most).solve(np.inf)
        gaps.append(levels.gap(y, k))
    assert gaps[-1] < 1e-3 * gaps[0]


@pytest.mark.parametrize(("begun", "tau", "tried"), [(0, 1.9e-7, True), (0, 2.1e-7, False), (50, 1.9e-7, False)])
def test_when_programs_are_tried(begun, tau, tried, monkeypatch):
    """From 2e-7 on, after more than 150 systems."""
    session, point = on_the_path("generic", 3.0)
    path, seen = PathFollowing(session, *STARTS[0]), []
    monkeypatch.setattr(continuation, "newton_on_active_arcs", lambda *given: None)
    monkeypatch.setattr(continuation, "end_by_programs", lambda _, point: seen.append(point.tau))
    path.begun, session.done, session.gap = begun, 151, np.inf
    newton = path._newton(point._replace(theta=np.log(tau)))
    session.done = 151
    path._try_to_end(newton, newton.tangent(path._drift(newton)))
    assert bool(seen) is tried


def test_prices_follow_users_exactly():
    """Where E = 0, x (1 + v) and k / (1 - u) with u = -v leave E as it is."""
    session, point = on_the_path("zero_demand", 3.0)
    program = SmallChanges(session.levels, point.y, point.k, weights_at(session.levels, point), CHANGES[0])
    u = np.full(len(program.row), -0.1)
    solution = np.concatenate([np.zeros(len(program.arcs) + session.levels.N), u / 1e-3])
    factors = (program._moved(solution)[1] / point.k).flat[program.row]
    np.testing.assert_allclose(factors, 1.0 / 1.1, rtol=EXACT)


def test_no_answer_and_no_time_leave_the_session_as_it_is():
    session, point = on_the_path("zero_demand", 3.0)
    program = SmallChanges(session.levels, point.y, point.k, weights_at(session.levels, point), CHANGES[0])
    assert program.solve(1e-9) is None
    session.limits = replace(session.limits, deadline=session.limits.clock() - 1.0)
    with pytest.raises(Stopped):
        end_by_programs(session, point)
    assert session.gap == np.inf


@pytest.mark.deep
@pytest.mark.parametrize("seed", [2, 39])
def test_programs_shorten_the_end_of_a_long_path(seed, monkeypatch):
    instance = generators.zero_demand(200, 30, 4, seed)
    with_programs = solve(instance, GAME, "continuation", alpha=20)
    monkeypatch.setattr(continuation, "LONG_PATH", 10**6)
    without = solve(instance, GAME, "continuation", alpha=20)
    assert with_programs.claims_success
    assert with_programs.residual <= 1e-8
    assert with_programs.iterations < 0.7 * without.iterations
