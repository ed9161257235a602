"""The instance: every input form, exactness, read-only data, arcs against their definition, shares by hand."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import instances

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.allocation import Times
from fairalloc.models.errors import InstanceError
from fairalloc.models.exact import rationals as in_rationals
from fairalloc.models.exact.proofs import ExactLayer
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.feasibility import infeasibility, overloads, slack_of
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.shares import asset_share, dominant_resource, gamma, global_dominant_share, task_share, vds
from fairalloc.models.transformations.merged_users import merged_users
from fairalloc.models.tree import Tree

ULPS = 4e-16
"""Two divisions and a reciprocal in a row are rounded at most this much, relative."""

D, C = [[0.5, 1], [1, 0.25]], [[2, 12], [12, 2]]
F = Fraction
FORMS = {
    "lists": (D, C),
    "tuples": (tuple(map(tuple, D)), tuple(map(tuple, C))),
    "arrays": (np.array(D), np.array(C)),
    "float32": (np.array(D, dtype=np.float32), np.array(C, dtype=np.int8)),
    "list of arrays": ([np.array(d) for d in D], [np.array(c) for c in C]),
    "fractions": ([[F(1, 2), F(1)], [F(1), F(1, 4)]], [[F(v) for v in c] for c in C]),
    "strings": ([["1/2", "1"], ["1.0", " 25e-2 "]], [["2", "+12"], ["24/2", "2."]]),
    "object array": (np.array([["1/2", 1], [1.0, F(1, 4)]], dtype=object), C),
    "text array": (np.array([["1/2", "1"], ["1", ".25"]]), C),
    "one variant": ([[d] for d in D], C),
    "variants in one array": (np.array(D)[:, None, :], C),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_instance(form):
    instance = Instance(*FORMS[form])
    plain = Instance(D, C)
    assert fingerprint(instance) == fingerprint(plain)
    assert instance.exact == plain.exact
    assert instance.demands[1].dtype == np.float64
    np.testing.assert_array_equal(np.concatenate(instance.demands), D)
    np.testing.assert_array_equal(instance.capacities, C)


@pytest.mark.parametrize("limits", [[None, 2], [np.inf, "2"], np.array([np.inf, 2]), np.array([np.inf, 2], dtype=np.float32)])
def test_every_form_of_unlimited(limits):
    instance = Instance(D, C, max_tasks=limits)
    assert instance.exact.max_tasks == (None, 2)
    np.testing.assert_array_equal(instance.max_tasks, [np.inf, 2])


def test_defaults():
    instance = Instance(D, C)
    assert (instance.users, instance.servers, instance.resources) == (("u1", "u2"), ("s1", "s2"), ("r1", "r2"))
    assert (instance.N, instance.K, instance.R) == (2, 2, 2)
    assert (instance.name, dict(instance.demands_on), instance.single_variant) == ("", {}, True)
    for array, value in ((instance.weights, 1), (instance.counts, 1), (instance.max_tasks, np.inf), (instance.placement, True)):
        assert np.all(array == value)
    assert repr(Instance(D, C, name="two")) == "Instance(two: 2 users, 2 servers, 2 resources, 4 arcs)"


def test_demands_on_by_name_and_by_number_are_the_same():
    one = Instance(D, C, demands_on={("u2", "s1"): [1, 1]})
    other = Instance(D, C, demands_on={(1, 0): [[1, 1]]})
    assert fingerprint(one) == fingerprint(other) != fingerprint(Instance(D, C))
    np.testing.assert_array_equal(one.arcs.demand[2], [1, 1])


def test_demands_on_decide_where_a_user_fits():
    """Server 2 has no resource 2: only the demand that holds there counts."""
    plain = Instance([[1, 1], [1, 0]], [[4, 4], [4, 0]])
    assert plain.eligible.tolist() == [[True, False], [True, True]]
    other = plain.replace(demands_on={(0, 1): [1, 0], (1, 1): [1, 1]})
    assert other.eligible.tolist() == [[True, True], [True, False]]


# ---- exactness ------------------------------------------------------------------------------------------------------


def test_floats_are_the_decimals_they_print_as():
    exact = Instance([[0.2, 1e-7]], [[0.1, 3]], weights=[0.3], max_tasks=[1.1]).exact
    assert exact.demands == (((F(1, 5), F(1, 10**7)),),)
    assert exact.capacities == ((F(1, 10), F(3)),)
    assert (exact.weights, exact.max_tasks) == ((F(3, 10),), (F(11, 10),))


def test_rationals_and_big_integers_survive():
    exact = Instance([["1/3", F(2, 7)]], [[2**60 + 1, "1e3"]], demands_on={(0, 0): ["5/9", 1]}).exact
    assert exact.demands == (((F(1, 3), F(2, 7)),),)
    assert exact.capacities == ((F(2**60 + 1), F(1000)),)
    assert exact.demands_on[0, 0] == ((F(5, 9), F(1)),)


@given(instances(rates=False))
def test_floats_are_the_nearest_to_the_exact_data(instance):
    exact = instance.exact
    for floats, rationals in zip(instance.demands, exact.demands, strict=True):
        assert floats.tolist() == [[float(v) for v in row] for row in rationals]
    assert instance.capacities.tolist() == [[float(v) for v in row] for row in exact.capacities]
    assert instance.weights.tolist() == [float(v) for v in exact.weights]
    assert instance.max_tasks.tolist() == [np.inf if v is None else float(v) for v in exact.max_tasks]
    assert {k: v.tolist() for k, v in instance.demands_on.items()} == {
        k: [[float(v) for v in row] for row in rows] for k, rows in exact.demands_on.items()
    }


# ---- read-only ------------------------------------------------------------------------------------------------------

FULL = {
    "weights": [1.0, 2.0],
    "counts": [1, 2],
    "eligible": [[True, False], [True, True]],
    "max_tasks": [3.0, 4.0],
    "demands_on": {(1, 1): [1.0, 1.0]},
}


def full():
    """An instance with everything given as something that can be changed."""
    given = {key: value if isinstance(value, dict) else np.array(value) for key, value in FULL.items()}
    given["demands_on"] = {key: np.array(value) for key, value in FULL["demands_on"].items()}
    given |= {"demands": np.array(D), "capacities": np.array(C, dtype=float)}
    return Instance(**given), given


def arrays(instance):
    """Every array an instance shows."""
    arcs = instance.arcs
    own = [*instance.demands, *instance.demands_on.values(), instance.capacities, instance.counts, instance.weights]
    own += [instance.placement, instance.max_tasks, instance.pools, instance.totals, instance.eligible]
    return [*own, arcs.user, arcs.variant, arcs.server, arcs.demand, arcs.gamma, arcs.load.data, arcs.owner.data]


@pytest.mark.parametrize(
    "remake", [lambda i: i, copy.copy, copy.deepcopy, lambda i: pickle.loads(pickle.dumps(i)), Instance.replace]
)
def test_arrays_are_read_only_in_copies_too(remake):
    instance = remake(full()[0])
    assert fingerprint(instance) == fingerprint(full()[0])
    for k, array in enumerate(arrays(instance)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert not array.flags.writeable, k


def test_attributes_are_read_only():
    instance = full()[0]
    for name in ("weights", "name", "arcs", "something_new"):
        with pytest.raises(AttributeError, match=f"an Instance is read-only: use instance.replace\\({name}=...\\)"):
            setattr(instance, name, 1)
    with pytest.raises(AttributeError, match="an Instance is read-only"):
        del instance.weights
    for mapping in (instance.demands_on, instance.exact.demands_on):
        with pytest.raises(TypeError):
            mapping[0, 0] = None


def test_changing_what_was_given_changes_nothing():
    instance, given = full()
    before = fingerprint(full()[0])
    for value in given.values():
        for array in value.values() if isinstance(value, dict) else [value]:
            array[...] = 1
    given["demands_on"].clear()
    assert fingerprint(instance) == before
    assert instance.demands[0].tolist() == [D[0]]
    assert len(instance.demands_on) == len(instance.exact.demands_on) == 1


def test_changing_a_given_list_changes_nothing():
    demands = copy.deepcopy(D)
    instance = Instance(demands, C)
    demands[0][0] = 7
    demands.append([1, 1])
    assert instance.exact == Instance(D, C).exact
    assert instance.replace(name="x").N == 2


# ---- arcs -----------------------------------------------------------------------------------------------------------


def arcs_by_definition(instance):
    """(user, variant, server, demand) of every arc, slowly and in rationals."""
    exact = instance.exact
    for n, vectors in enumerate(exact.demands):
        for v in range(len(vectors)):
            for i, capacity in enumerate(exact.capacities):
                demand = exact.demands_on.get((n, i), vectors)[v]
                if instance.placement[n, i] and all(c > 0 for c, d in zip(capacity, demand, strict=True) if d > 0):
                    yield n, v, i, demand


@settings(max_examples=drawn(150))
@given(instances(rates=False))
def test_arcs_are_their_definition(instance):
    arcs, expected = instance.arcs, list(arcs_by_definition(instance))
    assert [(n, v, i) for n, v, i, _ in expected] == list(zip(arcs.user, arcs.variant, arcs.server, strict=True))
    load, owner = arcs.load.toarray(), arcs.owner.toarray()
    assert load.shape == (instance.K * instance.R, len(arcs))
    pools = [[int(q) * c for c in row] for q, row in zip(instance.counts, instance.exact.capacities, strict=True)]
    for a, (n, _, i, demand) in enumerate(expected):
        parts = {i * instance.R + r: d / pools[i][r] for r, d in enumerate(demand) if d}
        column = [float(parts.get(k, 0)) for k in range(len(load))]
        np.testing.assert_allclose(load[:, a], column, rtol=ULPS, atol=0)
        assert arcs.gamma[a] == pytest.approx(float(1 / max(parts.values())), rel=ULPS)
        assert arcs.demand[a].tolist() == [float(d) for d in demand]
        assert owner[:, a].tolist() == [float(m == n) for m in range(instance.N)]
    seen = {(n, i) for n, _, i, _ in expected}
    assert instance.eligible.tolist() == [[(n, i) in seen for i in range(instance.K)] for n in range(instance.N)]


@pytest.mark.parametrize("users", [4, 90])
def test_sums_and_costs_over_arcs_are_products_with_their_matrices(users):
    """Of few arcs, which need no matrix for their costs, and of many."""
    arcs, rng = generators.variants(users, 3, 4, 0).arcs, np.random.default_rng(0)
    x, prices = rng.random(len(arcs)), rng.random(12)
    np.testing.assert_allclose(arcs.totals(x), arcs.owner @ x, rtol=1e-14)
    np.testing.assert_allclose(arcs.costs(prices), arcs.load.toarray().T @ prices, rtol=1e-14)
    assert ("by_arc" in vars(arcs)) == (users == 90)


@settings(max_examples=drawn(50))
@given(instances())
def test_pools_and_totals(instance):
    exact = [[int(q) * c for c in row] for q, row in zip(instance.counts, instance.exact.capacities, strict=True)]
    np.testing.assert_allclose(instance.pools, [[float(c) for c in row] for row in exact], rtol=ULPS)
    np.testing.assert_allclose(instance.totals, [float(sum(column)) for column in zip(*exact, strict=True)], rtol=2 * ULPS)


# ---- shares ---------------------------------------------------------------------------------------------------------


def test_shares_of_wang_fig2():
    """By hand: 14 of each resource; user 1 is bound by memory on server 2, by cpu on server 1 (W 3.1)."""
    wang = example("wang-fig2").instance
    np.testing.assert_allclose(gamma(wang), [[10, 2], [2, 10]], rtol=ULPS)
    assert dominant_resource(wang).tolist() == [1, 0]
    np.testing.assert_allclose(global_dominant_share(wang), [1 / 14, 1 / 14], rtol=ULPS)
    np.testing.assert_allclose(task_share(wang), [1 / 12, 1 / 12], rtol=ULPS)
    np.testing.assert_allclose(vds(wang, np.array([6.0, 6.0])), [[0.6, 3], [3, 0.6]], rtol=ULPS)


def test_shares_of_khamse_fig1():
    """gamma_1 = 4, gamma_2 = 12, gamma_3 = gamma_4 = 4 + 16 = 20 are printed in K 2.2."""
    khamse = example("khamse-fig1").instance
    np.testing.assert_allclose(gamma(khamse), [[4, 0], [12, 0], [4, 16], [4, 16]], rtol=ULPS)
    np.testing.assert_allclose(task_share(khamse), [1 / 4, 1 / 12, 1 / 20, 1 / 20], rtol=ULPS)
    np.testing.assert_allclose(global_dominant_share(khamse), [1 / 15, 1 / 15, 1 / 20, 1 / 20], rtol=ULPS)
    assert dominant_resource(khamse).tolist() == [2, 2, 1, 1]
    shares = vds(khamse, np.array([2.0, 6.0, 8.0, 8.0]))
    np.testing.assert_allclose(shares, [[0.5, np.inf], [0.5, np.inf], [2, 0.5], [2, 0.5]], rtol=ULPS)


def test_task_share_ignores_placement_and_gamma_does_not():
    """K 2.2: "as if there were no placement constraints"."""
    instance = example("wang-fig2").instance.replace(eligible=[[True, False], [True, True]])
    np.testing.assert_allclose(gamma(instance), [[10, 0], [2, 10]], rtol=ULPS)
    np.testing.assert_allclose(gamma(instance, placement=False), [[10, 2], [2, 10]], rtol=ULPS)
    np.testing.assert_allclose(task_share(instance), [1 / 12, 1 / 12], rtol=ULPS)


def test_a_class_of_servers_is_one_pool():
    wang = example("wang-fig2").instance.replace(counts=[3, 1])
    np.testing.assert_allclose(gamma(wang), [[30, 2], [6, 10]], rtol=ULPS)
    np.testing.assert_allclose(global_dominant_share(wang), [1 / 38, 1 / 18], rtol=ULPS)


@given(instances(variants=False))
def test_gamma_is_its_definition(instance):
    """K (8) in rationals, with the demand that holds on the server."""
    expected = np.zeros((instance.N, instance.K))
    for n, _, i, demand in arcs_by_definition(instance):
        pool = [int(instance.counts[i]) * c for c in instance.exact.capacities[i]]
        expected[n, i] = float(min(c / d for c, d in zip(pool, demand, strict=True) if d > 0))
    np.testing.assert_allclose(gamma(instance), expected, rtol=ULPS, atol=0)


# ---- replace --------------------------------------------------------------------------------------------------------


@settings(max_examples=drawn(50))
@given(instances())
def test_replace_keeps_the_rest_exactly(instance):
    other = instance.replace(name="other")
    assert other.exact == instance.exact
    assert fingerprint(other.replace(name=instance.name)) == fingerprint(instance)


def test_replace_changes_what_it_says_and_validates():
    instance = full()[0]
    heavier = instance.replace(weights=["1/3", 1])
    assert heavier.exact.weights == (F(1, 3), F(1))
    assert instance.exact.weights == (1, 2)
    np.testing.assert_array_equal(heavier.placement, instance.placement)
    with pytest.raises(InstanceError, match="the weight of user 'u1' is 0"):
        instance.replace(weights=[0, 1])


def test_replaced_names_move_no_demands_of_a_server():
    """Names that change places, or are new: what a user takes on a server is of its place, as its placement is."""
    instance = Instance([[1], [1]], [[6], [6]], users=["ann", "bob"], demands_on={("ann", "s1"): [2]})
    for names in (["bob", "ann"], ["cat", "dan"]):
        assert instance.replace(users=names).exact.own == {(0, 0): ((2,),)}
    assert instance.replace(servers=["s2", "s1"]).exact.own == {(0, 0): ((2,),)}
    shorter = {"demands": [[1]], "users": ["ann"], "weights": None}
    assert instance.replace(**shorter).exact.own == {(0, 0): ((2,),)}


@pytest.mark.parametrize(
    "family", ["generic", "tied", "zero_demand", "placement", "finite", "variants", "badly_scaled", "planted"]
)
def test_generators_repeat_themselves_and_depend_on_every_argument(family):
    make = getattr(generators, family)
    prints = [fingerprint(make(*size)) for size in [(5, 3, 2, 1), (5, 3, 2, 2), (6, 3, 2, 1), (5, 4, 2, 1), (5, 3, 3, 1)]]
    assert fingerprint(make(5, 3, 2, 1)) == prints[0]
    assert len(set(prints)) == len(prints)


def test_instances_are_equal_by_exact_content_and_names():
    one = Instance([["1/5", 1]], [[2, 12]], name="a")
    assert one == Instance([[0.2, Fraction(1)]], np.array([[2.0, 12.0]]), name="a")
    assert hash(one) == hash(Instance([[0.2, 1]], [[2, 12]], name="a"))
    assert one == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)
    assert Instance([[1, 0.0]], [[1, 1]]) == Instance([[1, -0.0]], [[1, 1]])
    assert hash(Instance([[1, 0.0]], [[1, 1]])) == hash(Instance([[1, -0.0]], [[1, 1]]))
    assert len({one, one.replace(name="a"), one.replace(name="b")}) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"demands": [["1/5", 2]]},
        {"demands": [[Fraction(1, 5) + Fraction(1, 10**30), 1]]},
        {"capacities": [[2, 13]]},
        {"weights": [2]},
        {"counts": [2]},
        {"max_tasks": [1]},
        {"demands_on": {(0, 0): [1, 1]}},
        {"name": "b"},
        {"users": ["x"]},
        {"servers": ["x"]},
        {"resources": ["x", "y"]},
    ],
)
def test_any_change_makes_another_instance(change):
    one = Instance([["1/5", 1]], [[2, 12]], name="a")
    assert one != one.replace(**change)
    assert one.replace(**change) == one.replace(**change)
    assert one != "a"


def test_a_cached_result_of_one_instance_serves_its_equals():
    """The caches of njc and ps-dsf-tdm are by instance: what they give is the same for equal ones, and another for others."""
    pool = Instance([[1, 2], [2, 1]], [[3, 3]])
    again, other = Instance([[1, 2], [2, 1]], [[3, 3]]), Instance([[1, 2], [2, 1]], [[3, 6]])
    for name in ("njc", "ps-dsf-tdm"):
        assert mechanism(name).domain(pool) == mechanism(name).domain(again) != mechanism(name).domain(other)


BEYOND_FLOATS = [
    lambda third: {"demands": [[third], [1]]},
    lambda third: {"capacities": [[third]]},
    lambda third: {"weights": [third, 1]},
    lambda third: {"max_tasks": [third, None]},
    lambda third: {"min_tasks": [third / 100, 0]},
    lambda third: {"demands_on": {(0, 0): [[third]]}},
    lambda third: {"rates": [[third], [1]]},
]


@pytest.mark.parametrize("given", BEYOND_FLOATS)
def test_instances_whose_floats_alone_are_equal_are_not(given):
    third = Fraction(1, 3)
    one, same, near = (
        Instance(**{"demands": np.ones((2, 1)), "capacities": np.ones((1, 1)), **given(v)}) for v in (third, third, 1 / 3)
    )
    assert one == same
    assert fingerprint(one) == fingerprint(same)
    assert one != near
    assert fingerprint(one) != fingerprint(near)


# ---- groups ---------------------------------------------------------------------------------------------------------

TREE = {
    "a": {"weight": 3, "guarantee": "1/2", "groups": {"b": {"weight": "1/2", "guarantee": "1/5", "users": [0, 2]}}, "users": [3]},
    "c": {"users": [1], "guarantee": "2/3"},
}
PARTS = {"a": F(3, 6), "b": F(3, 6) * F(1, 3), "c": F(1, 6), "u1": F(1, 6) * F(1, 3), "u2": F(1, 6), "u3": F(1, 6) * F(2, 3)}
PARTS |= {"u4": F(3, 6) * F(2, 3), "u5": F(2, 6)}
BELOW = {"a": [0, 2, 3], "b": [0, 2], "c": [1], "u1": [0], "u2": [1], "u3": [2], "u4": [3], "u5": [4]}


def test_rates_and_floors_of_the_same_numbers_are_not_the_same():
    data, numbers = (np.ones((2, 1)), np.array([[6.0]])), np.array([2.0, 3.0])
    rated, floored = Instance(*data, rates=numbers[:, None]), Instance(*data, min_tasks=numbers)
    assert rated != floored
    assert fingerprint(rated) != fingerprint(floored)


def test_a_tree_of_groups_is_its_definition_in_rationals_and_in_floats():
    """By hand: children of a node share its part by weights, and V / phi adds up the shares of the users below."""
    limits = [1, None, 2, None, 3]
    demands = [[1, 2], [2, 1], [1, 1], [3, 1], [1, 0]]
    instance = Instance(demands, [[10, 20], [30, 20]], weights=[1, 1, 2, 1, 2], max_tasks=limits, groups=TREE)
    sigma = [F(1, 20), F(1, 20), F(1, 40), F(3, 40), F(1, 40)]
    tasks = [F(1, 3), F(2), F(1, 7), F(5), F(1)]
    exact, floats = ExactTree.of(instance), Tree.of(instance)
    names = list(floats.names)
    assert (sorted(names[:3]), names[3:]) == (["a", "b", "c"], list(instance.users))
    expected = [sum(sigma[n] * tasks[n] for n in BELOW[name]) / PARTS[name] for name in names]
    assert exact.levels(tasks) == expected
    x = np.zeros(len(instance.arcs))
    for n, u in enumerate(tasks):
        x[np.flatnonzero(instance.arcs.user == n)[1]] = float(u)
    np.testing.assert_allclose(floats.levels(x), [float(v) for v in expected], rtol=1e-14)
    assert dict(zip(names, exact.depth, strict=True)) == {"a": 1, "b": 2, "c": 1, "u1": 3, "u2": 2, "u3": 3, "u4": 2, "u5": 1}
    asked = {"a": None, "b": F(1, 20) + F(2, 40), "c": None}  # what limits leave of a share; None = no limit
    promised = {"a": F(1, 2), "b": min(F(1, 5), asked["b"]), "c": F(2, 3)}
    assert exact.floors == (*(promised[name] / PARTS[name] for name in names[:3]), 0, 0, 0, 0, 0)
    np.testing.assert_allclose(floats.gamma, [*(float(promised[name]) for name in names[:3]), 0, 0, 0, 0, 0], rtol=1e-14)


def test_the_cheapest_task_at_a_server_is_by_its_prices_there():
    instance = Instance([[[1, 2], [3, 1]], [[2, 2]]], [[4, 8], [12, 6]])
    arcs = exact_arcs(instance)
    layer = ExactLayer(1, (F(1, 4), F(3, 4)))
    here = [a for a, (i, _) in enumerate(zip(instance.arcs.server, arcs.load, strict=True)) if i == 1]
    costs = {(0, 0): F(1, 48) + F(1, 4), (0, 1): F(1, 16) + F(1, 8), (1, 0): F(1, 24) + F(1, 4)}
    place = zip(instance.arcs.user.tolist(), instance.arcs.variant.tolist(), strict=True)
    of_arc = {a: key for a, key in enumerate(place) if a in here}
    assert {of_arc[a]: layer.cost(arcs, a) for a in here} == costs
    assert [layer.cheapest(arcs, here, n) for n in (0, 1)] == [F(3, 16), F(7, 24)]


@pytest.mark.parametrize("rates", [None, [[1, 2], [1, 1], [3, 1]]])
def test_users_taken_together_are_one_whose_tasks_are_those_of_its_members(rates):
    """What the one takes for the worth of a task of a member is what that task takes, and it can run as much alone."""
    instance = Instance([[1, 2], [2, 1], [1, 1]], [[4, 8], [12, 6]], max_tasks=[3, 5, None], rates=rates, weights=[1, 2, 3])
    of, worth = np.array([1, 0, 1]), np.array([2.0, 3.0, 0.5])
    chosen = np.array([0, 2, 3, 4, 5])
    one, source = merged_users(instance, of, worth, np.array([7.0, 9.0]), chosen)
    assert (one.N, one.K, one.weights.tolist(), one.max_tasks.tolist()) == (2, 2, [7, 9], [15, np.inf])
    assert sorted(source.tolist()) == chosen.tolist()
    assert one.arcs.user.tolist() == of[instance.arcs.user[source]].tolist()
    assert one.arcs.variant.tolist() == [0, 1, 0, 1, 2]
    unit = worth[instance.arcs.user[source]]
    np.testing.assert_allclose(one.arcs.load.toarray() * unit, instance.arcs.load.toarray()[:, source], rtol=ULPS)
    np.testing.assert_allclose(one.arcs.gamma, instance.arcs.gamma[source] * unit, rtol=ULPS)
    np.testing.assert_allclose(one.arcs.demand * unit[:, None], instance.arcs.demand[source], rtol=ULPS)
    np.testing.assert_allclose(one.arcs.owner.toarray(), np.eye(2)[:, one.arcs.user])


# ---- what is handed out ---------------------------------------------------------------------------------------------


def test_more_may_be_handed_out_than_tasks_use_and_counts_against_the_capacity():
    instance = Instance([[1, 1], [2, 0]], [[4, 8], [4, 0]], eligible=[[True, False], [True, True]], min_tasks=[0, "5/2"])
    x = [2.0, 0.5, 1.5]  # u1 on s1, u2 on s1 and on s2
    used = Allocation(instance, x)
    np.testing.assert_allclose(used.load, [[3 / 4, 2 / 8], [3 / 4, 0]], rtol=ULPS)
    np.testing.assert_allclose(used.utilisation, [6 / 8, 2 / 8], rtol=ULPS)
    assert overloads(used) == pytest.approx({"capacity": -1 / 4, "sign": -1 / 4, "limit": -1.0, "floor": 1 / 5}, abs=1e-15)
    bundles = used.used.copy()
    bundles[0, 0] = [4, 1]  # of the first resource twice what it uses, of the second less
    assert overloads(Allocation(instance, x, bundles=bundles))["capacity"] == pytest.approx(5 / 4 - 1)
    assert infeasibility(Allocation(instance, x, bundles=bundles)) == pytest.approx(1 / 4)
    assert infeasibility(Allocation(instance, [-0.4, 0, 2.5])) == pytest.approx(1 / 4)  # 5 of 4 on s2, and -1 / 10 of what it can


def test_the_worst_user_counts():
    instance = Instance([[1], [1]], [[10]], max_tasks=[2, 4], min_tasks=[1, 2])
    found = overloads(Allocation(instance, [3, 1]))
    assert (found["limit"], found["floor"]) == (1 / 2, 1 / 2)


def test_slack_that_may_be_rounding_is_none():
    """Of a sum of 4 terms a few units in the last place are rounding, of one of 10^8 terms ten thousand times as many."""
    load = np.array([0.5, 1 - 2.0**-52, 1 + 1e-9, 1 - 1e-12])
    assert slack_of(load, 4).tolist() == [0.5, 0, 0, 1 - load[3]]
    assert slack_of(load, 10**8).tolist() == [0.5, 0, 0, 0]


def test_a_resource_that_is_nowhere_is_not_used():
    instance = Instance([[1, 0], [2, 0]], [[4, 0]])
    assert Allocation(instance, [1, 1]).utilisation.tolist() == [3 / 4, 0]


def test_times_add_up_by_phase():
    assert (Times(1, 2, 4, 8, 16, 32).total, Times(64, 128, 256, 512, 1024, 2048).total) == (15, 960)


# ---- in rationals, and parts of instances ---------------------------------------------------------------------------


@settings(max_examples=drawn(60))
@given(instances(rates=False, variants=False))
def test_shares_in_rationals_are_those_in_floats(instance):
    np.testing.assert_allclose([float(v) for v in in_rationals.task_share(instance)], task_share(instance), rtol=4 * ULPS)
    alone = np.where(instance.eligible, gamma(instance), 0).sum(axis=1)
    np.testing.assert_allclose([float(v) for v in in_rationals.monopoly(instance)], alone, rtol=4 * ULPS)
    if not instance.demands_on:
        shares = [float(v) for v in in_rationals.global_dominant_share(instance)]
        np.testing.assert_allclose(shares, global_dominant_share(instance), rtol=4 * ULPS)
        np.testing.assert_allclose([float(v) for v in in_rationals.asset_share(instance)], asset_share(instance), rtol=8 * ULPS)


@settings(max_examples=drawn(60))
@given(instances())
def test_what_a_user_could_run_alone_is_the_sum_of_its_best_ways(instance):
    best = {}
    for a, (n, i) in enumerate(zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), strict=True)):
        load = [part for _, part in exact_arcs(instance).load[a]]
        best[n, i] = max(best.get((n, i), 0), 1 / max(load))
    expected = [sum(v for (m, _), v in best.items() if m == n) for n in range(instance.N)]
    assert list(in_rationals.monopoly(instance)) == expected


@given(
    st.lists(st.dictionaries(st.integers(0, 3), st.fractions(F(1, 8), 3, max_denominator=8), min_size=1), min_size=1, max_size=4)
)
def test_the_best_mixture_of_variants_is_proved_by_its_prices(loads):
    """Feasible tasks and prices of equal sums: each proves the other the best."""
    tasks, prices = in_rationals.best_mixture(loads)
    assert len(tasks) == len(loads)
    assert min(*tasks, *prices.values()) >= 0
    used = [sum(load.get(r, 0) * u for load, u in zip(loads, tasks, strict=True)) for r in range(4)]
    assert max(used) <= 1
    assert min(sum(part * prices.get(r, 0) for r, part in load.items()) for load in loads) >= 1
    assert sum(tasks) == sum(prices.values())


@settings(max_examples=drawn(60))
@given(instances(rates=False), st.data())
def test_chosen_users_and_servers_are_the_instance_of_these_alone(instance, data):
    servers = sorted(data.draw(st.sets(st.sampled_from(range(instance.K)), min_size=1)))
    users = [n for n in range(instance.N) if instance.eligible[n, servers].any()]
    assume(users)
    weights, limits = np.arange(2.0, 2 + len(users)), np.arange(3.0, 3 + len(users))
    part = instance.chosen(np.array(users), np.array(servers), weights, limits, instance.counts[servers])
    exact = instance.exact
    own = {(users.index(n), servers.index(i)): d for (n, i), d in exact.demands_on.items() if n in users and i in servers}
    expected = Instance(
        [exact.demands[n] for n in users],
        [exact.capacities[i] for i in servers],
        counts=instance.counts[servers],
        weights=weights,
        max_tasks=limits,
        eligible=instance.placement[np.ix_(users, servers)],
        demands_on=own,
        users=[instance.users[n] for n in users],
        servers=[instance.servers[i] for i in servers],
        resources=instance.resources,
        name=instance.name,
    )
    assert part.users == expected.users
    assert part.servers == expected.servers
    assert arrays_of(part) == arrays_of(expected)


def arrays_of(instance):
    return [array.tolist() for array in arrays(instance)]
