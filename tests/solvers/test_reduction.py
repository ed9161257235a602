"""Constraint reduction: loads of some arcs, which are kept, steps without the others, and where all are kept again."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import EXACT, RESIDUAL, ROUNDING, SHARES

from fairalloc.formulations import mechanism
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.examples import generators
from fairalloc.solvers import solve
from fairalloc.solvers.interior_point import program as kernel
from fairalloc.solvers.interior_point import reduction
from fairalloc.solvers.interior_point.iterates import ENOUGH, InteriorPointOptions
from fairalloc.solvers.interior_point.max_min import MaxMinArrow
from fairalloc.solvers.interior_point.program import FAR, WORSE, ArrowProgram
from fairalloc.solvers.interior_point.reduction import DIGITS, FALLING, FOLLOWING, KEPT, ROOM, KeptArcs
from fairalloc.solvers.kkt.loads import loads_of, restricted
from fairalloc.solvers.method import Limits

METHOD = "interior-point"
LAYOUTS = [
    generators.generic(8, 5, 3),
    generators.placement(8, 5, 3),
    generators.variants(8, 4, 3, 3),
    generators.sparse(9, 30, 2),
]
SIZED = [
    generators.heavy_tailed(150, 60, 3, 1),
    generators.sparse(600, 200, 4, 1, part=0.04),
    generators.finite(150, 60, 3, 1),
]


@pytest.mark.parametrize("instance", LAYOUTS, ids=lambda i: i.name)
@settings(max_examples=drawn(20))
@given(seed=st.integers(0, 2**32 - 1))
def test_the_loads_of_some_arcs_are_those_of_all_with_nothing_on_the_others(instance, seed):
    rng, whole = np.random.default_rng(seed), loads_of(instance, np.ones(instance.N))
    kept = rng.random(len(whole)) < 0.5
    kept[np.unique(whole.user, return_index=True)[1]] = True  # each user has one
    where = np.flatnonzero(kept)
    few, own = restricted(whole, where), rng.random(len(where))
    spread = np.zeros(len(whole))
    spread[where] = own
    p = rng.random(instance.K * instance.R)
    one, two = few.twins
    pairs = own[one] * own[two]
    of_all = spread[whole.twins[0]] * spread[whole.twins[1]]
    same = {
        "rows": (few.rows(own), whole.rows(spread)),
        "priced": (few.priced(p), whole.priced(p)[where]),
        "totals": (few.totals(own), whole.totals(spread)),
        "most": (few.most(own), whole.most(spread)),
        "of_users": (few.of_users(p[: few.N]), whole.of_users(p[: few.N])[where]),
        "blocks": (few.blocks(own, pairs), whole.blocks(spread, of_all)),
        "coupling": (few.coupling(own), whole.coupling(spread)),
        "sparse": (few.sparse_coupling(own).toarray(), whole.sparse_coupling(spread).toarray()),
    }
    for found, expected in same.values():
        np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING)
    own[0] *= 2.0
    assert not np.allclose(few.rows(own), same["rows"][1], rtol=EXACT), "another number is seen"


def test_arcs_are_kept_that_carry_much_or_fall_and_one_of_each_user():
    """Two users with three arcs each, u = y = 1 nearly; the ratio of x to d decides."""
    loads = loads_of(generators.generic(2, 3, 2), np.ones(2))
    arcs, everywhere, pays = KeptArcs(loads), np.ones(6, bool), np.ones(2)
    x, d = np.array([1.0, 1e-3, 1e-9, 1e-9, 2e-9, 1e-9]), np.array([1e-9, 5e-3, 1.0, 50.0, 50.0, 50.0])
    assert not arcs.choose(x, d, pays, everywhere), "which d falls is not known yet"
    assert arcs.kept.all()
    assert arcs.choose(x, d, pays, everywhere)
    assert arcs.kept.tolist() == [True, True, False, False, True, False]
    assert not arcs.choose(x, d, pays, everywhere), "the same point needs no other arcs"
    falls = np.where(np.arange(6) == 2, 0.9 * FALLING * d, d)
    assert arcs.choose(x, falls, pays, everywhere)
    assert arcs.kept.tolist() == [True, True, True, False, True, False]
    closed = np.arange(6) != 0
    other = KeptArcs(loads)
    other.before = d
    assert other.choose(x, d, pays, closed)
    assert not other.kept[0], "a closed arc carries nothing"
    between = np.array([1.0, 1e-3, 1e-9, 1e-9, 2e-9, 1e-9]), np.array([1e-9, 1e-3 / (0.5 * KEPT), 1.0, 50.0, 50.0, 50.0])
    assert ROOM < 0.5, "an arc at half of the ratio is kept where arcs are chosen, but is not needed"
    roomy = KeptArcs(loads)
    roomy.before = between[1]
    assert roomy.choose(*between, pays, everywhere)
    assert roomy.kept[1]


def reduce_small_ones(monkeypatch, fewest=100):
    """Steps are reduced from so many arcs on, and where nine tenths of a grid are kept."""
    monkeypatch.setattr(kernel, "FEWEST", fewest)
    monkeypatch.setattr(kernel, "GRID", 0.9)


def reduced_steps(monkeypatch, name, instance, fewest=100):
    """(arrow, kept arcs, iterate, step, lengths on the kept arcs, error, whether it is taken) of each reduced step of a solve."""
    steps, reduced, following = [], ArrowProgram._reduced, ArrowProgram._next_by_few

    def noted(self, few, arcs, now, error):
        step, ahead = reduced(self, few, arcs, now, error)
        steps.append((copy(self), arcs.kept.copy(), now, step, ahead, error))
        return step, ahead

    def followed(self, now, error):
        before = len(steps)
        found = following(self, now, error)
        steps[before:] = [(*step, found is not None) for step in steps[before:]]
        return found

    monkeypatch.setattr(ArrowProgram, "_reduced", noted)
    monkeypatch.setattr(ArrowProgram, "_next_by_few", followed)
    reduce_small_ones(monkeypatch, fewest)
    allocation = solve(instance, name, METHOD)
    monkeypatch.undo()
    return steps, allocation


def test_what_fell_is_known_from_far_iterations_and_not_where_a_solve_starts_near(monkeypatch):
    """A warm start keeps all arcs for one iteration; a cold one knows which d fall when the error first is small enough."""
    known, choose = [], KeptArcs.choose

    def noted(self, *iterate):
        known.append(self.before is not None)
        return choose(self, *iterate)

    instance = generators.heavy_tailed(150, 60, 3, 1)
    monkeypatch.setattr(KeptArcs, "choose", noted)
    monkeypatch.setattr(kernel, "FEWEST", 3000)
    answer = solve(instance, "drfh", METHOD)
    assert known, "cold"
    assert all(known), "cold"
    known.clear()
    solve(instance, "drfh", METHOD, warm_start=answer)
    assert known[:1] == [False]
    assert all(known[1:])


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["drfh", "nb"])
@pytest.mark.parametrize("instance", SIZED, ids=lambda i: i.name)
def test_a_reduced_step_meets_all_equations(name, instance, monkeypatch):
    """Of arcs that are kept and of the others; and the answer is that with all arcs."""
    steps, found = reduced_steps(monkeypatch, name, instance)
    steps = [step for *step, taken in steps if taken]
    assert len(steps) > 3
    for arrow, kept, now, step, _, error in steps:
        assert DIGITS < error <= FAR
        then = now.after(step, 1.0, 1.0)
        lack, small = arrow.residuals(then), 1e-3 * error + ROUNDING
        assert np.abs(lack.rows).max() <= 0.1 * error + ROUNDING, "that of conjugate gradients"
        assert max(np.abs(part).max() for part in (lack.users, lack.limits, lack.arcs)) <= small
        x, d = now.primal[arrow.parts[0]][~kept], now.dual[arrow.parts[0]][~kept]
        wanted = (x + step.primal[arrow.parts[0]][~kept]) * d
        assert (wanted <= x * d * (1 + ROUNDING)).all()
        lower = wanted < 0.99 * x * d
        counted = arrow.central & np.concatenate([kept, np.ones(len(arrow.central) - len(kept), bool)])
        mean = float((now.primal * now.dual)[counted].mean())
        np.testing.assert_allclose(wanted[lower], FOLLOWING * mean, rtol=EXACT)
    unreduced, expected = reduced_steps(monkeypatch, name, instance, fewest=len(arrow.loads) + 1)
    assert not unreduced
    assert found.residual <= 1e-2 * RESIDUAL
    np.testing.assert_allclose(found.tasks, expected.tasks, rtol=SHARES)


def test_where_the_others_shorten_the_step_all_arcs_are_kept(monkeypatch):
    """Of identical users a whole face of answers is best, whose arcs all become cheap together."""
    steps, found = reduced_steps(monkeypatch, "nb", generators.tied(300, 60, 4, 0))
    shortest = [min(np.divide(kernel.lengths(arrow.pairs, now, step), ahead)) for arrow, _, now, step, ahead, *_ in steps]
    assert min(shortest[:-1], default=1.0) >= reduction.BLOCKED
    assert shortest[-1] < reduction.BLOCKED, "the last reduced step is the one that was too short"
    assert found.residual <= 1e-2 * RESIDUAL


def test_a_step_that_raises_the_error_is_done_again_with_all_arcs(monkeypatch):
    """Here one that goes the other way."""
    reduced, following, errors = ArrowProgram._reduced, ArrowProgram._next, []

    def reversed_step(self, few, arcs, now, error):
        step, _ = reduced(self, few, arcs, now, error)
        errors.append(error)
        return step._replace(primal=-step.primal, dual=-step.dual, g=-step.g), (1e-9, 1e-9)

    def noted(self, now, lack, error):
        found = following(self, now, lack, error)
        assert not errors or found[2] <= WORSE * error
        return found

    monkeypatch.setattr(ArrowProgram, "_reduced", reversed_step)
    monkeypatch.setattr(ArrowProgram, "_next", noted)
    monkeypatch.setattr(kernel, "RISES", 1.0)
    reduce_small_ones(monkeypatch)
    found = solve(generators.heavy_tailed(150, 60, 3, 1), "drfh", METHOD)
    assert len(errors) == 1
    assert found.residual <= 1e-2 * RESIDUAL


def test_a_system_without_a_factor_is_solved_with_all_arcs(monkeypatch):
    asked, predicted = [], ArrowProgram._predicted

    def fails(self, now, lack, error):
        asked.append(len(self.loads))
        if len(self.loads) < len(whole.loads):
            raise np.linalg.LinAlgError
        return predicted(self, now, lack, error)

    item = mechanism("drfh")
    scaled, _ = item.canonical(item.domain(generators.heavy_tailed(150, 60, 3, 1)))
    whole = MaxMinArrow(item.rate(scaled), scaled).compile(InteriorPointOptions())
    monkeypatch.setattr(ArrowProgram, "_predicted", fails)
    reduce_small_ones(monkeypatch)
    assert whole.solve(Round.first(scaled), Limits()).error <= ENOUGH
    assert sum(arcs < len(whole.loads) for arcs in asked) == 1
