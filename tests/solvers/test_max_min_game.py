"""PS-DSF with several variants for each user: definition, residual, three ways to compute it, certificates."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from changed_certificates import assert_that_no_number_can_be_changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted_games import TWO_WAYS, game_with_variants
from profiles import drawn
from scipy.optimize import linprog
from strategies import instances
from tolerances import RESIDUAL, ROUNDING, SHARES, VISIBLE

from fairalloc.analysis.certificates import certify
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.game_certificate import PricesCertificate
from fairalloc.formulations import mechanism
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.ps_dsf_variants import OneServer, max_min_gap
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf_tdm import mixed
from fairalloc.models import Allocation, Instance
from fairalloc.models.exact.rationals import best_mixture, exact_monopolies
from fairalloc.models.feasibility import scaled_down
from fairalloc.solvers import solve

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
ONE = Instance([TWO_WAYS], [[1, 1]])
PS_DSF = mechanism("ps-dsf")


def judged(instance, x):
    """The residual of tasks x (A,), from the instance alone."""
    return PS_DSF.residual(Allocation(instance, np.asarray(x, float)))


# ---- the definition -------------------------------------------------------------------------------------------------


def test_levels_do_not_tell_a_bad_choice_of_variants():
    """Both need the full first resource, on which nobody has a larger share; but half of each runs 4/3 times as many tasks."""
    assert judged(ONE, [2 / 3, 2 / 3]) <= ROUNDING
    assert judged(ONE, [1, 0]) >= VISIBLE
    for method in ("continuation", "best-response", "exact"):
        answer = solve(ONE, "ps-dsf", method)
        np.testing.assert_allclose(answer.tasks, [4 / 3], rtol=ROUNDING)
        assert answer.residual <= ROUNDING
    assert solve(ONE, "ps-dsf", "exact").tasks_exact == (Fraction(4, 3),)


def test_what_somebody_wastes_of_a_resource_with_a_small_price_is_seen():
    """Half of user 1's tasks take twice as much as needed of what user 2 could use, which has a large share from elsewhere."""
    instance = Instance([[[1, 2], [1, 1]], [0, 1]], [[2, 3], [0, 100]])
    assert judged(instance, [1, 1, 0, 100]) >= VISIBLE
    assert judged(instance, [0, 2, 1, 100]) <= ROUNDING


@settings(max_examples=drawn(12), suppress_health_check=SLOW)
@given(instances(variants=False, scales=False), st.integers(0, 10**6))
def test_one_variant_has_the_residual_of_theorem_1(instance, seed):
    """Two computations that share nothing: linear programs here, comparisons of levels there."""
    game = Game(instance, np.inf)
    x = scaled_down(game.instance, game.gamma * np.random.default_rng(seed).random(len(game.gamma)))
    for i, server in enumerate(game.at_servers(x, np.arange(instance.K))):
        assert max_min_gap(server) == pytest.approx(bottleneck_gap(game, x, i), rel=0.021, abs=10 * ROUNDING)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_who_could_have_more_is_found(seed):
    """Every user's tasks in turn a tenth fewer: it, or who could use what is free then, could have more."""
    instance = game_with_variants(seed)
    answer = solve(instance, "ps-dsf", "continuation")
    assert judged(instance, answer.x) <= RESIDUAL
    below = np.flatnonzero(answer.tasks < 0.99 * instance.max_tasks)
    for n in below[:2]:
        assert judged(instance, np.where(instance.arcs.user == n, 0.9 * answer.x, answer.x)) >= VISIBLE / 10


def test_a_server_with_nobody_to_prove_anything_for_has_no_residual():
    server = OneServer(np.ones((1, 1)), np.array([0.8]), np.array([0.8]), np.array([0.0]), np.array([0]), np.array([0.8]))
    assert max_min_gap(server) == 0
    assert max_min_gap(replace(server, wanted=np.array([1.0]))) == pytest.approx(0.25, rel=0.021)


@pytest.mark.parametrize(("used", "gap"), [(1.0, 0.0), (0.9, 1 / 6), (0.5, 0.5)])
def test_a_price_of_what_a_user_does_not_take_keeps_the_ways_of_others(used, gap):
    """Users 1 and 2 halve resource 1, and 1 wants more: 2 may keep to it where resource 2, which 3 uses, is full."""
    w, user = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), np.array([0, 1, 1, 2])
    y, wanted = np.array([0.5, 0.5, 0, used]), np.array([0.5, 0, 0, 0])
    server = OneServer(w, y, np.ones(4), wanted, user, np.array([0.5, 0.5, 0.5, used]))
    assert max_min_gap(server) == pytest.approx(gap, rel=0.021)


def has_prices(server, n, tau):
    """(i) to (iii) of formulations/game/ps_dsf_variants.py for user n, whose cheapest task costs at least 1."""
    own = np.flatnonzero(server.user == n)
    rows, sides = [server.slack, *-server.w[own]], [tau * server.total[own[0]], *-np.ones(len(own))]
    for a in np.flatnonzero(server.own > tau):
        if 1 - server.z[own[0]] / server.z[a] > tau:
            rows.append(server.w[a])
            sides.append(0.0)
            continue
        for b in np.flatnonzero(server.user == server.user[a]):
            rows.append(server.w[a] - server.w[b])
            sides.append(tau)
    return linprog(np.zeros(server.w.shape[1]), np.array(rows), np.array(sides), method="highs-ds").success


@pytest.mark.parametrize("solved", [False, True])
def test_prices_for_all_are_prices_for_each(solved):
    """At points with full and empty resources, unused variants and satisfied users, one linear program for each user."""
    seen = []
    for seed in range(2):
        rng, instance = np.random.default_rng(seed), game_with_variants(seed)
        game = Game(instance, np.inf)
        x = scaled_down(game.instance, game.gamma * rng.random(len(game.gamma)) * (rng.random(len(game.gamma)) < 0.8) * 3)
        x = solve(instance, "ps-dsf", "continuation").x * rng.choice([1, 0.9], len(x)) if solved else x
        for server in game.at_servers(x, np.arange(2)):
            for tau in (1e-6, 0.1, 0.3, 0.6):
                wanting = np.unique(server.user[server.wanted > tau])
                seen.append(all(has_prices(server, n, tau) for n in wanting))
                assert server.proves(tau) == seen[-1]
    assert set(seen) == {True, False}


# ---- monopolies in rationals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_mixture_is_proved_by_its_prices(seed):
    instance = game_with_variants(seed)
    rational = np.array([float(g) for g in exact_monopolies(instance)])
    np.testing.assert_allclose(rational, Game(instance, np.inf).gamma, rtol=1e3 * ROUNDING)


def test_the_best_mixture_of_two_ways():
    tasks, prices = best_mixture([{0: Fraction(1), 1: Fraction(1, 2)}, {0: Fraction(1, 2), 1: Fraction(1)}])
    assert tasks == (Fraction(2, 3),) * 2
    assert sum(prices.values()) == sum(tasks)


# ---- methods --------------------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 6, 7, 8, 9])
def test_methods_find_answers(seed):
    """Ties, zeros, weights, limits, counts, placement; x_n need not be unique, so residuals are compared."""
    instance = game_with_variants(seed, users=4, servers=2)
    for method in ("continuation", "best-response"):
        answer = solve(instance, "ps-dsf", method)
        assert answer.termination == "optimal", method
        assert answer.residual <= RESIDUAL


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(10))
def test_methods_agree_on_one_server(seed):
    """Where tasks are unique."""
    instance = game_with_variants(seed, servers=1)
    answers = [solve(instance, "ps-dsf", method).tasks for method in ("continuation", "best-response", "exact")]
    np.testing.assert_allclose(answers[1], answers[0], rtol=SHARES)
    np.testing.assert_allclose(answers[2], answers[0], rtol=SHARES)
    other = solve(instance, "alpha-pf-vds", "continuation", alpha="inf")
    np.testing.assert_allclose(other.tasks, answers[0], rtol=SHARES)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_limit_of_alpha_fairness(seed):
    instance = game_with_variants(seed, servers=1)
    far, end = solve(instance, "alpha-pf-vds", "continuation", alpha=300), solve(instance, "ps-dsf", "continuation")
    np.testing.assert_allclose(far.tasks, end.tasks, rtol=0.02)


# ---- metamorphic: an answer stays one -----------------------------------------------------------------------------


def changed(instance, x, change):
    """The same problem in another form, and the tasks there."""
    exact, arcs = instance.exact, instance.arcs
    of = {(int(n), int(v), int(i)): value for n, v, i, value in zip(arcs.user, arcs.variant, arcs.server, x, strict=True)}
    if change == "rescaled":
        demands = [[[v[0] * 1000, *v[1:]] for v in vectors] for vectors in exact.demands]
        return instance.replace(demands=demands, capacities=[[c[0] * 1000, *c[1:]] for c in exact.capacities]), x
    if change == "relabelled":
        other = instance.replace(
            demands=exact.demands[::-1],
            weights=exact.weights[::-1],
            max_tasks=exact.max_tasks[::-1],
            eligible=instance.eligible[::-1],
        )
        return other, on(other, lambda n, v, i: of[instance.N - 1 - n, v, i])
    if change == "split":
        counts = np.append(np.ones(1, int), instance.counts[1:])
        other = instance.replace(
            capacities=[*exact.capacities, exact.capacities[0]],
            counts=[*counts, 1],
            eligible=np.hstack([instance.eligible, instance.eligible[:, :1]]),
            servers=None,
        )
        return other, on(other, lambda n, v, i: of[n, v, i % instance.K] / (2 if i % instance.K == 0 else 1))
    if change == "duplicated user":
        other = instance.replace(
            demands=[*exact.demands, exact.demands[0]],
            weights=[exact.weights[0] / 2, *exact.weights[1:], exact.weights[0] / 2],
            max_tasks=[halved(exact.max_tasks[0]), *exact.max_tasks[1:], halved(exact.max_tasks[0])],
            eligible=np.vstack([instance.eligible, instance.eligible[:1]]),
            users=None,
        )
        return other, on(other, lambda n, v, i: of[n % instance.N, v, i] / (2 if n % instance.N == 0 else 1))
    more = {"duplicate variant": lambda d: d[0], "dominated variant": lambda d: tuple(2 * value for value in d[0])}[change]
    other = instance.replace(demands=[[*d, more(d)] for d in exact.demands])
    return other, on(other, lambda n, v, i: of.get((n, v, i), 0.0))


def halved(limit):
    return None if limit is None else limit / 2


def on(instance, value):
    arcs = instance.arcs
    return np.array([value(int(n), int(v), int(i)) for n, v, i in zip(arcs.user, arcs.variant, arcs.server, strict=True)])


CHANGES = ["rescaled", "relabelled", "split", "duplicated user", "duplicate variant", "dominated variant"]


@pytest.mark.few(1)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(3))
def test_an_answer_stays_one(change, seed):
    """And what is none stays none, by the same number where the parts are the same."""
    instance = game_with_variants(seed)
    instance = instance.replace(counts=[2, *instance.counts[1:]])
    good = solve(instance, "ps-dsf", "continuation").x
    for x, is_one in ((good, True), (good * np.linspace(0.7, 1, len(good)), False)):
        other, tasks = changed(instance, x, change)
        residual = judged(other, tasks)
        assert (residual <= RESIDUAL) == is_one
        if not is_one and change in ("rescaled", "relabelled", "duplicate variant", "dominated variant"):
            assert residual == pytest.approx(judged(instance, x), rel=0.021)


# ---- certificates ---------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", [0, 1, 3, 6])
def test_no_number_of_the_prices_can_be_changed(seed):
    instance = game_with_variants(seed, users=4, servers=2)
    certificate = certified_answer(instance, "ps-dsf")
    assert isinstance(certificate, PricesCertificate)
    assert_that_no_number_can_be_changed(certificate, instance)
    assert not certificate.verify(ONE)
    assert not replace(certificate, layers=certificate.layers[1:]).verify(instance)
    assert not replace(certificate, mechanism="alpha-pf-vds").verify(instance)


def test_what_is_none_is_not_certified():
    half = certify(Allocation(ONE, [1.0, 0.0], x_exact=(Fraction(1), Fraction(0))), "ps-dsf")
    assert not half
    assert "no exact levels have the pattern" in str(half)


def test_alpha_infinity_is_certified_as_ps_dsf():
    certificate = certify(solve(ONE, "alpha-pf-vds", alpha="inf"))
    assert (certificate.mechanism, certificate.tasks) == ("ps-dsf", (Fraction(4, 3),))


# ---- time sharing ---------------------------------------------------------------------------------------------------


def test_time_is_shared_between_users_and_not_between_their_variants():
    """Half of the time each: 2/3 of a task by the mixture that runs 4/3 alone."""
    answer = solve(Instance([TWO_WAYS, [1, 1]], [[1, 1]]), "ps-dsf-tdm")
    np.testing.assert_allclose(answer.tasks, [2 / 3, 1 / 2], rtol=SHARES)
    assert answer.instance.single_variant
    np.testing.assert_allclose(answer.instance.demands_on[0, 0], [[3 / 4, 3 / 4]], rtol=ROUNDING)
    assert certified_answer(Instance([TWO_WAYS, [1, 1]], [[1, 1]]), "ps-dsf-tdm").tasks == (Fraction(2, 3), Fraction(1, 2))


@pytest.mark.parametrize("seed", range(4))
def test_with_time_sharing_more_of_the_same_changes_nothing(seed):
    instance = game_with_variants(seed).replace(max_tasks=None)
    exact = [[list(v) for v in vectors] for vectors in instance.exact.demands]
    mixture = [[*d, [(a + 2 * b) / Fraction(3) for a, b in zip(d[0], d[-1], strict=True)]] for d in exact]
    old = solve(instance, "ps-dsf-tdm")
    for demands in ([[*d, d[0]] for d in exact], mixture):
        np.testing.assert_allclose(solve(instance.replace(demands=demands), "ps-dsf-tdm").tasks, old.tasks, rtol=SHARES)
    assert mixed(answered := mixed(instance)) is answered
