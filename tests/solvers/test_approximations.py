"""Approximations against exact answers: what is proved of them holds, and nothing is claimed beyond what the residual proves."""

import importlib

import numpy as np
import pytest
from tolerances import RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS
from fairalloc.solvers.approximate.geometric_binner import bins
from fairalloc.solvers.catalogue.method_registry import methods_for

FAMILIES = (generators.generic, generators.racks, generators.variants, generators.zero_demand, generators.finite)

LP = 1e-6
"""Relative error of a level in the binner's program: HiGHS' tolerances are 1e-9, the last bin's worth is 1e-8 at least."""

MARKET = 1e-2
"""Relative error of a user's tasks after 160 rounds of proportional response on `market`; after 10 it is above."""


def levels(instance, name, allocation):
    """(N,) weighted shares in units of the least level of an equal partition, which are those of the binner."""
    scaled, unit = mechanism(name).canonical(instance)
    return mechanism(name).rate(scaled) * allocation.tasks / unit


def binned(instance, base=2.0, name="lmmf"):
    return levels(instance, name, fa.solve(instance, name, "geometric-binner", options={"base": base}, reference=False))


def exact(instance, name="lmmf"):
    return levels(instance, name, fa.solve(instance, name))


def bins_of(instance, base, name="lmmf"):
    """The ends and worth of the binner's bins on the instance."""
    scaled, _ = mechanism(name).canonical(instance)
    rate = mechanism(name).rate(scaled)
    return bins(float(np.minimum(rate * (scaled.arcs.owner @ scaled.arcs.gamma), rate * scaled.max_tasks).max()), base)


def market(n_users, n_goods, seed):
    """A market in which everybody has a rate of its own for every good."""
    rng = np.random.default_rng(seed)
    on = {(n, i): [rng.uniform(1.0, 5.0)] for n in range(n_users) for i in range(n_goods)}
    return fa.Instance(np.ones((n_users, 1)), np.ones((n_goods, 1)), weights=rng.uniform(0.5, 2.0, n_users), demands_on=on)


# ---- the binner ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [1.3, 2.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_least_level_is_what_the_proof_says(family, base):
    for seed in range(4):
        instance = family(4 + seed, 3, 2, seed)
        v, (ends, worth) = binned(instance, base), bins_of(instance, base)
        b = int(np.flatnonzero(ends <= exact(instance).min() * (1 + LP))[-1])
        excess = float(np.maximum(v - ends[b], 0.0).sum())
        proved = [ends[c] - worth[1] ** (b - c + 1) * excess for c in range(1, b + 1)]
        assert v.min() >= max(proved) - LP * ends[b]


@pytest.mark.parametrize("base", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("most", [0.5, 1.0, 3.0, 8.0, 8.1, 1e6])
def test_bins_reach_the_largest_level_and_each_is_worth_less(base, most):
    """Ends at 1 and its powers, the last below what can be had; a bin is worth a tenth of the one before, where these are few."""
    ends, worth = bins(most, base)
    assert (ends[0], ends[1], ends[-1], len(worth)) == (0, 1, np.inf, len(ends) - 1)
    np.testing.assert_allclose(ends[2:-1] / ends[1:-2], base)
    assert ends[-2] < max(most, base) <= ends[-2] * base * (1 + 1e-12)
    assert worth[0] == 1
    np.testing.assert_allclose(worth[1:] / worth[:-1], max(0.1, 1e-8 ** (1 / (len(worth) - 1))))
    assert worth[-1] >= 0.999e-8


@pytest.mark.parametrize("base", [1.1, 2.0, 4.0])
def test_every_level_is_within_alpha_where_levels_are_a_polymatroid(base):
    far = 1.0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        eligible = rng.random((7, 4)) < 0.4
        eligible[np.arange(7), rng.integers(4, size=7)] = True
        instance = fa.Instance(np.ones((7, 1)), rng.uniform(1.0, 30.0, (4, 1)), eligible=eligible)
        v, right = binned(instance, base), exact(instance)
        ends, _ = bins_of(instance, base)
        place = np.searchsorted(ends, right * (1 - LP))
        assert np.all(v >= ends[place - 1] * (1 - LP))
        assert np.all(v <= ends[place] * (1 + LP))
        far = max(far, float((v / right).max()), float((right / v).max()))
    assert 1.0 + LP < far <= base * (1 + LP), "an approximation, and no worse than alpha"


def test_one_user_may_lose_more_than_alpha_in_general():
    """The example of docs/reference/derivations.md."""
    instance = fa.Instance([[4, 0], [1, 20], [0, 1]], [[8, 60]])
    np.testing.assert_allclose(fa.solve(instance, "lmmf").tasks, [1.6, 1.6, 28.0], rtol=SHARES)
    found = fa.solve(instance, "lmmf", "geometric-binner")
    np.testing.assert_allclose(found.tasks, [4 / 3, 8 / 3, 20 / 3], rtol=LP)
    assert (found.termination, found.claims_success) == ("approximate", False)
    assert found.residual > 0.1


def test_the_binner_takes_limits_and_every_rule_with_shares():
    instance = generators.finite(6, 3, 2, 1)
    for name in ("drfh", "tsf", "lmmf"):
        found = fa.solve(instance, name, "geometric-binner", reference=False)
        assert found.residuals["feasibility"] <= RESIDUAL
        assert np.all(found.tasks <= instance.max_tasks * (1 + RESIDUAL))
        assert found.tasks.min() > 0
    assert not METHODS["geometric-binner"].computes(mechanism("mmf"))


# ---- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lmmf", "drfh", "nb"])
def test_one_part_is_exact(name):
    for family in set(FAMILIES) - ({generators.variants} if name == "drfh" else set()):
        instance = family(5, 3, 2, 1)
        found, right = fa.solve(instance, name, "pop", options={"parts": 1}), fa.solve(instance, name)
        np.testing.assert_allclose(found.tasks, right.tasks, rtol=SHARES)
        assert found.termination == "optimal", "its prices prove it"
        assert "called approximate, but its answer proves a residual of" in found.message


@pytest.mark.parametrize("name", ["lmmf", "nb"])
@pytest.mark.parametrize("parts", [2, 3])
def test_a_part_has_what_it_gets_alone_with_its_part_of_every_capacity(name, parts):
    instance = generators.finite(7, 3, 2, 7)
    found = fa.solve(instance, name, "pop", options={"parts": parts, "seed": 5})
    assert (found.termination, found.claims_success) == ("approximate", False)
    assert found.residual > RESIDUAL
    assert np.any(found.tasks >= instance.max_tasks * (1 - SHARES)), "some limit is reached"
    order = np.random.default_rng(5).permutation(7)
    for part in np.array_split(order, parts):
        users = np.sort(part)
        alone = fa.Instance(
            [instance.demands[n] for n in users],
            instance.capacities / parts,
            weights=instance.weights[users],
            max_tasks=instance.max_tasks[users],
        )
        np.testing.assert_allclose(found.tasks[users], fa.solve(alone, name).tasks, rtol=SHARES)


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_prices_are_those_of_all_parts(name):
    """They had been those of the first part for rules with rounds."""
    instance = generators.generic(12, 3, 2, 3)
    found, right = (fa.solve(instance, name, method) for method in ("pop", None))
    assert found.prices.sum() >= right.prices.sum() * (1 - SHARES), "the dual bounds the optimum"
    parts = [np.sort(part) for part in np.array_split(np.random.default_rng(0).permutation(12), 4)]
    alone = [
        instance.chosen(part, np.arange(3), instance.weights[part], instance.max_tasks[part], instance.counts) for part in parts
    ]
    total = sum(fa.solve(one, name).prices for one in alone)
    np.testing.assert_allclose(found.prices / found.prices.sum(), total / total.sum(), atol=SHARES)


def test_a_part_that_is_not_solved_is_named(monkeypatch):
    instance, module = generators.generic(4, 2, 2), importlib.import_module("fairalloc.solvers.approximate.pop")
    assert "part" not in fa.solve(instance, "nb", "pop").message
    monkeypatch.setattr(module, "solve", lambda *given, **named: fa.solve(*given, **named).noted(termination="inaccurate"))
    found = fa.solve(instance, "nb", "pop", options={"parts": 2}, reference=False)
    assert "part 2 of 2 ended with 'inaccurate'" in found.message
    nowhere = fa.Allocation(instance, [np.nan] * instance.A, termination="time_limit", message="too late")
    monkeypatch.setattr(module, "solve", lambda *_, **__: nowhere)
    none = fa.solve(instance, "nb", "pop", options={"parts": 2}, reference=False)
    assert (none.has_point, none.termination) == (False, "time_limit")
    assert "part 1 of 2: too late" in none.message


@pytest.mark.parametrize(
    ("file", "rule", "method"),
    [("pop", "nb", "pop"), ("one_by_one", "drfh", "best-fit"), ("one_by_one", "drfh", "sequential-minmax")],
)
def test_ctrl_c_in_a_solve_ends_what_is_made_of_it(monkeypatch, file, rule, method):
    """It had ended one part, and the rest went on from what it left."""
    module, asked = importlib.import_module(f"fairalloc.solvers.approximate.{file}"), []

    def ended(*given, **named):
        asked.append(given)
        return fa.solve(*given, **named).noted(termination=word)

    monkeypatch.setattr(module, "solve", ended)
    instance, word = generators.generic(8, 3, 2, 0), "interrupted"
    whole = {} if file == "pop" else {"integral": True}
    found = fa.solve(instance, rule, method, **whole)
    assert (found.termination, found.has_point, len(asked)) == ("interrupted", True, 1)
    word = "inaccurate"
    assert "in fractions is" not in (message := fa.solve(instance, rule, method, **whole).message)
    assert "ended with 'inaccurate'" in message


def test_as_many_parts_as_users_are_an_equal_partition():
    instance = generators.tied(5, 3, 2, 1)
    found = fa.solve(instance, "nb", "pop", options={"parts": 99})
    np.testing.assert_allclose(found.tasks, fa.solve(instance, "uniform").tasks, rtol=SHARES)


# ---- markets ---------------------------------------------------------------------------------------------------------


def test_proportional_response_converges_to_the_market():
    instance = market(6, 4, 1)
    right = fa.solve(instance, "nb", accuracy="high").tasks
    residuals, errors = [], []
    for rounds in (10, 40, 160):
        options = {"max_iterations": rounds}
        found = fa.solve(instance, "nb", "proportional-response", accuracy="high", options=options, reference=False)
        residuals.append(found.residual)
        errors.append(float(np.abs(found.tasks / right - 1).max()))
        assert found.iterations <= rounds
        assert (found.termination, found.claims_success) == ("iteration_limit", False)
    assert residuals[0] > 3 * residuals[1] > 9 * residuals[2]
    assert errors[-1] <= MARKET < errors[0]


def test_proportional_response_looks_at_its_residual_every_so_often():
    instance = market(6, 4, 1)

    def looks(rounds, accuracy="high"):
        options = {"max_iterations": rounds}
        return fa.solve(instance, "nb", "proportional-response", accuracy=accuracy, options=options, trace=True, reference=False)

    assert [row["iteration"] for row in looks(23).trace] == [0, 10, 20, 23]
    assert (looks(23).iterations, looks(23).termination) == (23, "iteration_limit")
    early = looks(100_000, "low")
    assert (early.iterations % 10, early.termination) == (0, "optimal")
    assert all(row["residual"] > 1e-3 for row in early.trace[:-1])
    assert early.trace[-1]["residual"] <= 1e-3


def test_proportional_response_says_where_there_is_no_market():
    several, limited = generators.generic(4, 2, 2), generators.finite(4, 2, 1)
    with pytest.raises(NotApplicable, match="proportional-response is for markets with one resource, but there are 2"):
        fa.solve(several, "nb", "proportional-response")
    with pytest.raises(NotApplicable, match="proportional-response is for users without a limit, but user 'u"):
        fa.solve(limited, "nb", "proportional-response")


# ---- all -------------------------------------------------------------------------------------------------------------


def relabelled(instance, seed, users=True):
    """The same instance with servers, resources and, where it is asked, users in another order, and that of the users."""
    rng = np.random.default_rng(seed)
    n, i, r = (rng.permutation(size) for size in (instance.N, instance.K, instance.R))
    n = n if users else np.arange(instance.N)
    place = {int(old): new for new, old in enumerate(n)}
    server = {int(old): new for new, old in enumerate(i)}
    on = {(place[a], server[b]): [row[r] for row in d] for (a, b), d in instance.demands_on.items()}
    demands = [instance.demands[k][:, r] for k in n]
    changed = {"eligible": instance.placement[n][:, i], "weights": instance.weights[n], "max_tasks": instance.max_tasks[n]}
    return fa.Instance(demands, instance.capacities[i][:, r], demands_on=on, **changed), n


@pytest.mark.parametrize("seed", range(3))
def test_names_and_order_do_not_matter(seed):
    network = generators.racks(6, 4, 3, seed, several=True)
    other, _ = relabelled(network, seed)
    ends, worth = bins_of(network, 2.0)
    filled = [np.clip(v[:, None] - ends[:-1], 0.0, np.diff(ends)).sum(axis=0) @ worth for v in map(binned, (network, other))]
    assert filled[0] == pytest.approx(filled[1], rel=LP), "what the bins are worth, for a program may have several answers"
    goods = market(5, 4, seed)
    same, m = relabelled(goods, seed)
    tasks = [fa.solve(one, "nb", "proportional-response", reference=False).tasks for one in (goods, same)]
    np.testing.assert_allclose(tasks[1], tasks[0][m], rtol=SHARES)
    apart, _ = relabelled(network, seed, users=False)
    halves = [fa.solve(one, "lmmf", "pop", options={"parts": 2}, reference=False).tasks for one in (network, apart)]
    np.testing.assert_allclose(halves[1], halves[0], rtol=SHARES)


def test_approximations_are_marked_and_never_asked_without_being_named():
    marked = {key for key, method in METHODS.items() if method.kind == "approximate"}
    assert marked == {
        *("best-fit", "geometric-binner", "pop", "proportional-response", "sequential-minmax", "task-by-task"),
    }
    instance = market(4, 3, 1)
    for name in ("lmmf", "nb"):
        asked = {method.id for method in methods_for(mechanism(name), instance)}
        assert asked
        assert not marked & asked
    for key, name in (("geometric-binner", "base"), ("pop", "parts"), ("proportional-response", "max_iterations")):
        assert name in [option.name for option in fa.options(key)]
    with pytest.raises(InstanceError, match=r"base is 1\.0, but it must be at least 1\.01 and finite"):
        fa.solve(instance, "lmmf", "geometric-binner", options={"base": 1.0})
    with pytest.raises(InstanceError, match=r"base is inf, but it must be at least 1\.01 and finite"):
        fa.solve(instance, "lmmf", "geometric-binner", options={"base": np.inf})
    with pytest.raises(InstanceError, match=r"task is 0\.0, but it must be above 0 and at most 1"):
        fa.solve(instance, "h-drf", "task-by-task", options={"task": 0.0})
    with pytest.raises(InstanceError, match="parts is 0, but it must be a positive whole number"):
        fa.solve(instance, "lmmf", "pop", options={"parts": 0})
