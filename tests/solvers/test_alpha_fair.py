"""The interior-point method for nb and fds: known answers, Clarabel's, what changes nothing, its proofs, its algebra."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import instances
from tolerances import DEGENERATE, EXACT, PROVED, RESIDUAL, ROUNDING, SHARES

from fairalloc.analysis.certificates import certify
from fairalloc.formulations import mechanism
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import solve
from fairalloc.solvers.interior_point import program
from fairalloc.solvers.interior_point.alpha_fair import FLOOR, LAG, AlphaFairArrow
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.kkt.schur import NEGLIGIBLE
from fairalloc.solvers.method import Limits

METHOD = "interior-point"
FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "finite", "variants", "planted", "badly_scaled")


def answer(instance, name="nb", **parameters):
    """By the method, claimed and proved to nine digits."""
    allocation = solve(instance, name, METHOD, accuracy="high", **parameters)
    assert allocation.claims_success, allocation.message
    assert allocation.residual <= PROVED
    return allocation


def reach(*allocations):
    """(N,) how far the users' tasks can be apart by what the residuals promise, relative: sqrt(2 rho W / w) each."""
    part = [np.sqrt(2 * a.residual * a.instance.weights.sum() / a.instance.weights) for a in allocations]
    return np.sum(part, axis=0) + SHARES


def test_it_is_the_default():
    """On small instances and on large ones, for nb under both names and for fds."""
    for size in ((4, 2, 2), (60, 20, 4)):
        instance = generators.generic(*size, 1)
        assert [solve(instance, name).method for name in ("nb", "ceei", "fds")] == 3 * [METHOD]


def test_the_irrational_answer_of_three_users():
    allocation = answer(Instance([[1, 0], [0, 1], [1, 1]], [[1, 2]]))
    third = 1 - 1 / np.sqrt(3)
    np.testing.assert_allclose(allocation.tasks, [1 - third, 2 - third, third], rtol=EXACT)
    # first-order conditions: prices 1 / u_1 and 1 / u_2 in units of the resources
    np.testing.assert_allclose(allocation.prices, [[1 / (1 - third), 2 / (2 - third)]], rtol=EXACT)


@pytest.mark.parametrize("seed", range(4))
def test_planted_answers_are_found(seed):
    size = (30, 6, 3, seed, "nb")
    expected = np.array([float(u) for u in generators.planted_tasks(*size)])
    np.testing.assert_allclose(answer(generators.planted(*size)).tasks, expected, rtol=SHARES)


@pytest.mark.few(4)
@pytest.mark.parametrize("family", FAMILIES)
def test_it_proves_its_answers(family):
    """By the gap of Eisenberg and Gale in rationals, and the test sees a hundred-thousandth too little."""
    for seed in range(2):
        instance = getattr(generators, family)(15, 6, 3, seed)
        allocation = answer(instance)
        certificate = certify(allocation, "nb")
        assert certificate, str(certificate)
        assert 0 <= certificate.gap <= PROVED * instance.weights.sum()
        fewer = np.where(instance.arcs.user == 0, 1 - 10 * RESIDUAL, 1.0)
        assert mechanism("nb").residual(replace(allocation, x=allocation.x * fewer)) > RESIDUAL / instance.N


@settings(max_examples=drawn(40))
@given(instances())
def test_it_is_right_on_anything(instance):
    """Ties, zeros, weights, limits, placement, variants, counts, overrides, hostile units; against Clarabel where that claims."""
    found, other = solve(instance, "nb", METHOD), solve(instance, "nb", "cvxpy:clarabel")
    assert found.claims_success, found.message
    assert found.residual <= PROVED
    assert found.residuals["feasibility"] <= EXACT
    if other.claims_success:
        assert (np.abs(found.tasks / other.tasks - 1) <= reach(found, other)).all()


@settings(max_examples=drawn(40))
@given(instances(scales=False), st.integers(0, 2**16))
def test_what_is_the_same_problem_has_the_same_answer(instance, seed):
    """Other orders of users and servers, other units of weights and capacities, rows of identical servers for their counts."""
    rng = np.random.default_rng(seed)
    plain = Instance(instance.demands, instance.capacities, weights=instance.weights, eligible=instance.eligible)
    users, servers = rng.permutation(plain.N), rng.permutation(plain.K)
    changed = Instance(
        [3 * plain.demands[n] for n in users],
        7 * plain.capacities[servers],
        weights=5 * plain.weights[users],
        eligible=plain.eligible[np.ix_(users, servers)],
    )
    one, two = answer(plain), answer(changed)
    assert (np.abs(two.tasks / (7 / 3) / one.tasks[users] - 1) <= reach(one, two)[users]).all()
    twice = answer(plain.replace(counts=np.full(plain.K, 2)))
    rows = Instance(
        plain.demands,
        np.repeat(plain.capacities, 2, axis=0),
        weights=plain.weights,
        eligible=np.repeat(plain.eligible, 2, axis=1),
    )
    apart = answer(rows)
    assert (np.abs(twice.tasks / apart.tasks - 1) <= reach(twice, apart)).all()


@pytest.mark.parametrize("instance", [generators.generic(10_000, 1, 4, seed) for seed in (1, 2, 4)], ids=lambda i: i.name)
def test_with_many_users_the_free_gain_is_within_the_promise_too(instance):
    """Beyond 5,000 arcs the free gain is bounded by what the user pays that pays least."""
    allocation = solve(instance, "fds", METHOD)
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0, 7.5])
def test_every_alpha_of_fds(alpha):
    """Against nb on the pool for alpha = 1, and Clarabel's tasks and prices."""
    for family in ("generic", "zero_demand", "finite"):
        instance = getattr(generators, family)(12, 3, 3, 4)
        allocation = answer(instance, "fds", alpha=alpha)
        if alpha == 1.0:
            pool = mechanism("fds").domain(instance)
            np.testing.assert_allclose(allocation.tasks, answer(pool).tasks, rtol=SHARES)
        else:
            other = solve(instance, "fds", "cvxpy:clarabel", alpha=alpha)
            np.testing.assert_allclose(allocation.tasks, other.tasks, rtol=DEGENERATE if alpha < 1 else SHARES)
            np.testing.assert_allclose(allocation.prices, other.prices, rtol=RESIDUAL, atol=RESIDUAL * other.prices.max())


@pytest.mark.parametrize("alpha", [0.5, 2.0, 3.0])
def test_beside_users_who_pay_next_to_nothing_right_tasks_are_claimed(alpha):
    """Shares in proportion to weights. By rounding a user with 1e-11 of all could have more, and no program in floats tells."""
    weights = [3000, 100, "1e-7", "3e-8"]
    allocation = solve(Instance([[1]] * 4, [[1]], weights=weights), "alpha-fair", alpha=alpha, share="dominant-share")
    assert allocation.termination == "optimal", allocation.message


def test_large_alpha_is_proved_or_not_claimed():
    """Marginal utilities of users with much to spare are 1e-30 of others' there, which no gap shows."""
    for family in ("generic", "zero_demand", "finite"):
        instance = getattr(generators, family)(12, 3, 3, 4)
        allocation = solve(instance, "fds", METHOD, alpha=50.0)
        assert allocation.residual <= RESIDUAL or not allocation.claims_success


@pytest.mark.parametrize(("flows", "links", "alpha"), [(200, 60, 2.0), (100, 40, 3.0), (200, 60, 5.0), (600, 150, 5.0)])
def test_limits_and_weights_far_apart_are_no_obstacle(flows, links, alpha):
    """In units of an equal partition the first two ended after 61 and 86 iterations, with residuals of 0.8 and 21.

    The others took 42 and 33, which lost digits of the rows, while the demand of users at their limits counted as an error.
    """
    allocation = solve(generators.network(flows, links), "alpha-fair", METHOD, alpha=alpha)
    assert (allocation.residual <= RESIDUAL, allocation.iterations <= 25) == (True, True)


@pytest.mark.parametrize(("family", "alpha"), [("badly_scaled", 100.0), ("degenerate", 300.0)])
def test_large_alpha_starts_where_utilities_are_numbers(family, alpha):
    """At an equal partition marginal utilities are 1e600 apart: no step could be taken."""
    for seed in range(6):
        allocation = solve(getattr(generators, family)(4, 2, 2, seed), "alpha-fair", METHOD, alpha=alpha)
        assert allocation.termination == "optimal"


def test_numbers_out_of_range_are_no_warning_and_no_claim():
    """pyproject.toml makes warnings of this package errors; the limit of a user is worth 1e800 times what others pay."""
    allocation = solve(Instance([[1], [10]], [[1]], max_tasks=[1e-3, None]), "alpha-fair", METHOD, alpha=400.0)
    assert (allocation.termination, allocation.has_point) == ("inaccurate", True)


@pytest.mark.parametrize("iterations", [0, 3, 6])
def test_cut_off_it_claims_nothing_that_it_does_not_prove(iterations):
    allocation = solve(generators.finite(40, 12, 3, 1), "nb", METHOD, options={"max_iterations": iterations}, trace=True)
    assert allocation.iterations == iterations
    assert allocation.has_point
    assert not allocation.claims_success
    assert allocation.residual > RESIDUAL
    assert allocation.trace[0]["error"] > RESIDUAL
    assert allocation.residuals["feasibility"] <= ROUNDING


def test_out_of_time_it_keeps_its_point_and_claims_nothing():
    allocation = solve(generators.generic(30, 8, 3, 1), "nb", METHOD, time_limit=1e-9)
    assert allocation.termination == "time_limit"
    assert allocation.has_point
    assert not allocation.claims_success


@pytest.mark.parametrize("name", ["nb", "fds"])
def test_a_whole_step_fills_the_linear_equations_and_halves_the_others(name):
    """Rows, users, limits and arcs to rounding; what users demand and the products to second order."""
    item, instance = mechanism(name), generators.finite(8, 4, 3, 3)
    scaled, _ = item.canonical(item.domain(instance))
    arrow = AlphaFairArrow(item, scaled).compile(InteriorPointOptions())
    now = arrow.start(Limits())
    towards = arrow.towards(now)
    step = ArrowSystem(arrow, now, Way(arrow.plan, refined=True, negligible=NEGLIGIBLE)).step(now, arrow.residuals(now), towards)
    for part in (1.0, 1e-4):
        after = now.after(step, part, part)
        before, lack = arrow.residuals(now), arrow.residuals(after)
        for left, first in zip(lack, before, strict=True):
            np.testing.assert_allclose(left, (1 - part) * first, atol=ROUNDING)
    users = arrow.parts[2]
    left, first = arrow.demand(after.dual[users]) - after.primal[users], towards[users]
    change = step.dual[users] / now.dual[users]
    np.testing.assert_allclose(left, (1 - part) * first, atol=1e-8 * float(1 + np.square(change).max()) * 2)
    products = (now.primal * now.dual)[arrow.central]
    np.testing.assert_allclose(
        (after.primal * after.dual)[arrow.central],
        (1 - part) * products + part**2 * (step.primal * step.dual)[arrow.central],
        atol=ROUNDING,
    )


def test_the_trace_has_its_one_round():
    allocation = solve(generators.generic(12, 4, 3), "nb", METHOD, trace=True)
    (entry,) = allocation.trace
    assert entry["iterations"] == allocation.iterations
    assert entry["error"] <= PROVED


def test_an_error_that_grows_at_first_is_waited_for(monkeypatch):
    """With many users on few servers the error is small after 5 steps, grows, and is smaller again only 10 or 20 steps later."""
    instance = generators.google_mix(20_000, 12_583, 2, 0)
    monkeypatch.setattr(program, "PATIENCE", ((np.inf, 9),))
    answer = solve(instance, "nb", "interior-point")
    monkeypatch.setattr(program, "PATIENCE", ((np.inf, 3),))
    hasty = solve(instance, "nb", "interior-point")
    assert not hasty.claims_success
    assert answer.claims_success
    assert answer.residual <= PROVED


def test_the_gap_waits_for_tasks_that_are_not_what_users_demand():
    """A gap of 1e-13 with an error of 1e-8 took a hundred iterations more: x and d of the boundary's arcs let no step through."""
    arrow = AlphaFairArrow(mechanism("nb"), generators.generic(20, 5, 3)).compile(InteriorPointOptions())
    now = arrow.start(Limits())
    users = arrow.parts[2]
    paid = now.primal[users] * now.dual[users]
    np.testing.assert_allclose(arrow.floor(now), FLOOR * len(paid) * paid.min(), rtol=EXACT)
    dual = now.dual.copy()
    dual[users.start] /= 1.0 + 1e-3
    np.testing.assert_allclose(arrow.floor(now._replace(dual=dual)), LAG * 1e-3 * len(paid) * paid[0], rtol=2e-3)


def test_who_pays_little_does_not_keep_the_gap_from_closing():
    """What demands differ from tasks is counted by what users pay: else one of a millionth kept mu at 1e-10 of all for good."""
    allocation = answer(generators.zero_demand(4, 2, 2, 548), "alpha-fair", alpha=5)
    assert allocation.iterations <= 20


def test_a_step_that_leads_away_is_not_taken(monkeypatch):
    """With alpha below 1 the corrector may overshoot: the error then grew a million times with each step."""
    rng = np.random.default_rng(8)
    rng.integers(2, 30), rng.integers(1, 5)
    instance = Instance(rng.uniform(0.01, 1, (22, 2)), rng.uniform(1, 20, (1, 2)), weights=rng.uniform(0.1, 5, 22))
    monkeypatch.setattr(program, "PATIENCE", ((np.inf, 15),))
    monkeypatch.setattr(program, "INSIDE", 0.1)
    answer = solve(instance, "fds", "interior-point", alpha=0.3)
    monkeypatch.setattr(program, "WORSE", np.inf)
    taken = solve(instance, "fds", "interior-point", alpha=0.3)
    assert not taken.claims_success
    assert answer.claims_success
    assert answer.residual <= PROVED


# ---- the equations, by dense matrices -----------------------------------------------------------------------------------


def arrow_of(name, instance, **parameters):
    item = mechanism(name).configure(**parameters)
    scaled, _ = item.canonical(item.domain(instance))
    return AlphaFairArrow(item, scaled).compile(InteriorPointOptions())


def by_definition(arrow, now):
    """What rows, users, limits and arcs lack, and the error, from dense matrices and the text of alpha_fair.py."""
    arcs, capped = arrow.instance.arcs, np.isfinite(arrow.limit)
    load, owner = arcs.load.toarray() * arrow.tasks[arcs.user], arcs.owner.toarray()
    (x, s, t, r), (d, p, y, z) = arrow.split(now.primal), arrow.split(now.dual)
    rows, users = 1.0 - load @ x - s, t - owner @ x
    limits = np.where(capped, np.where(capped, arrow.limit, 0.0) - owner @ x - r, 0.0)
    of_arcs = d - (load.T @ p - owner.T @ (y - z))
    worth, demand = arrow.c / t**arrow.alpha, (arrow.c / y) ** (1.0 / arrow.alpha)
    bound = p.sum() + np.maximum(worth - (y - z), 0.0)[capped] @ arrow.limit[capped]
    parts = [rows, users / t, limits, of_arcs / (owner.T @ y + d), (demand / t - 1.0)[~capped], [bound / (worth @ t) - 1.0]]
    return (rows, users, limits, of_arcs), max(np.abs(part).max() for part in parts)


@pytest.mark.parametrize(("name", "parameters"), [("nb", {}), ("alpha-fair", {"alpha": 0.5}), ("alpha-fair", {"alpha": 3.0})])
def test_the_error_is_the_most_that_any_equation_lacks(name, parameters):
    """At an answer nothing is lacking; then one kind of number after the other is a hundredth too large or too small."""
    instance = generators.generic(8, 4, 3, 3)
    less = 0.6 * solve(instance, name, **parameters).tasks[:3]
    arrow = arrow_of(name, instance.replace(max_tasks=[*less, 1e3, *4 * [None]]), **parameters)
    now, _, _ = arrow.iterate(arrow.start(Limits()), Limits(), lambda _: None)
    assert arrow.error(now, arrow.residuals(now)) <= PROVED
    errors = set()
    for which, part, factor in ((w, part, f) for w in ("primal", "dual") for part in arrow.parts for f in (0.99, 1.01)):
        values = getattr(now, which).copy()
        values[part] *= factor
        values[part] += 0.02 * (factor - 1.0) * (values[part] != 0)
        off = now._replace(**{which: values})
        lack, error = by_definition(arrow, off)
        for found, expected in zip(arrow.residuals(off), lack, strict=False):
            np.testing.assert_allclose(found, expected, atol=ROUNDING)
        assert arrow.error(off, arrow.residuals(off)) == pytest.approx(error, rel=EXACT)
        errors.add(float(f"{error:.3g}"))
    assert len(errors) > 8
    nowhere = now._replace(dual=np.full_like(now.dual, np.nan))
    assert arrow.error(nowhere, arrow.residuals(nowhere)) == np.inf


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(("name", "family"), [("nb", "finite"), ("nb", "variants"), ("fds", "generic"), ("nb", "market")])
def test_a_start_is_positive_and_meets_the_primal_equations(name, family, warm):
    rates = np.random.default_rng(0).uniform(0.1, 1.0, (6, 9))
    market = Instance(np.ones((6, 1)), np.ones((9, 1)), rates=rates, max_tasks=[0.2, *5 * [None]])
    arrow = arrow_of(name, market if family == "market" else getattr(generators, family)(8, 4, 3, 3))
    now = arrow.start(Limits(start=0.3 * arrow.instance.arcs.gamma) if warm else Limits())
    for left in by_definition(arrow, now)[0][:3]:
        np.testing.assert_allclose(left, 0.0, atol=ROUNDING)
    assert now.primal[arrow.paired].min() > 0
    assert now.dual[arrow.paired].min() > 0
    unpaired = np.delete(np.flatnonzero(~arrow.paired), np.isin(np.flatnonzero(~arrow.paired), arrow.parts[2]))
    assert not now.primal[unpaired].any()
    assert not now.dual[unpaired].any()


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_the_second_order_leaves_users_an_error_of_third_order(alpha):
    """Where t is what is demanded at y: after a change of y by e the tasks are right to e^3, so half of e leaves an eighth."""
    arrow = arrow_of("alpha-fair", generators.generic(8, 4, 3, 3), alpha=alpha)
    users, rng, left = arrow.parts[2], np.random.default_rng(1), []
    now = arrow.start(Limits())
    primal = now.primal.copy()
    primal[users] = arrow.demand(now.dual[users])
    now, direction = (
        now._replace(primal=primal),
        rng.uniform(0.5, 1.0, arrow.instance.N) * rng.choice([-1.0, 1.0], arrow.instance.N),
    )
    np.testing.assert_allclose(arrow.towards(now)[users], 0.0, atol=ROUNDING)
    for size in (2e-2, 1e-2):
        dual = np.zeros_like(now.dual)
        dual[users] = size * direction * now.dual[users]
        affine = now._replace(primal=-arrow.ratio(now) * dual, dual=dual)
        t = now.primal[users] + affine.primal[users] + arrow.second_order(now, affine, 0.0)[users]
        left.append(arrow.demand(now.dual[users] + dual[users]) / t - 1.0)
    np.testing.assert_allclose(left[0] / left[1], 8.0, rtol=0.1)
    assert np.abs(left[0]).max() < 1e-4
