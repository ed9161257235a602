"""`rates`: a task of user n on server i takes d_n / rates[n, i], in every mechanism, file, table and exact number."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fairalloc as fa
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.files.jsonio import fingerprint, instance_document, parse_instance
from fairalloc.solvers.symmetry import classes_of

D, C = [[1, 2], [2, 1], [1, "1/2"], [3, 1]], [[4, 4], [6, 3], [5, 5]]
Q = [["1/2", 1, 0], [2, 0, 3], ["1/3", 4, 1], [0, 1, 5]]


def spelled_out(instance: fa.Instance) -> fa.Instance:
    """The same with the demands of each pair in full."""
    on = {pair: [[d / rate for d in v] for v in instance.exact.demands[pair[0]]] for pair, rate in instance.exact.rates.items()}
    return instance.replace(rates=None, eligible=instance.placement, demands_on=on | dict(instance.exact.own))


def test_a_task_takes_its_demands_over_the_rate() -> None:
    instance = fa.Instance(D, C, rates=Q)
    assert instance.A == 9
    assert not instance.eligible[0, 2]
    assert instance.arcs.demand.tolist()[:2] == [[2, 4], [1, 2]]
    assert instance.exact.demands_on[2, 0] == ((Fraction(3), Fraction(3, 2)),)
    assert instance.arcs.load.toarray() == pytest.approx(spelled_out(instance).arcs.load.toarray(), rel=1e-15)
    assert exact_arcs(instance) == exact_arcs(spelled_out(instance))


def test_task_shares_do_not_guess_the_rate_of_a_server_that_placement_excludes() -> None:
    """Counted at the rate 1, it made shares depend on the unit of a user's tasks."""
    eligible = [[1, 0], [1, 1]]
    for unit in (1, 2):  # two tasks at twice the rate are the same tasks
        pair = fa.Instance([[unit], [1]], [[4], [4]], rates=[[unit, unit], [1, 1]], eligible=eligible)
        if unit == 1:
            assert fa.solve(pair, "tsf").tasks == pytest.approx([4, 4])
            continue
        with pytest.raises(fa.NotApplicable, match="but user 'u1' has no rate on server 's2'"):
            fa.solve(pair, "tsf")


@pytest.mark.parametrize("name", sorted(fa.MECHANISMS))
def test_every_mechanism_answers_as_with_demands_by_server(name: str) -> None:
    instance = fa.Instance(D, C, rates=Q)
    tasks = []
    for one in (instance, spelled_out(instance)):
        try:
            tasks.append(fa.solve(one, name).tasks)
        except fa.NotApplicable as error:
            tasks.append(str(error))
    if name == "tsf":
        assert tasks[0] == "the task share counts servers that a user may not use, but user 'u1' has no rate on server 's3'"
    elif isinstance(tasks[0], str):
        assert tasks[0] == tasks[1]
    else:
        assert tasks[0] == pytest.approx(tasks[1], rel=1e-6)


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csc_array, lambda q: q.tolist(), pd.DataFrame])
def test_kinds_of_input(kind: object) -> None:
    q = np.array([[0.5, 1, 0], [2, 0, 3], [0.25, 4, 1], [0, 1, 5]])
    instance = fa.Instance(D, C, rates=kind(q))  # type: ignore[operator]
    assert instance == fa.Instance(D, C, rates=q)
    assert instance.rates is not None
    assert np.array_equal(instance.rates.toarray(), q)


def test_rates_by_name() -> None:
    named = {"ann": {"gpu": 2}, "bob": {"gpu": "1/2", "cpu": 1}}
    instance = fa.Instance({"ann": [1], "bob": [1]}, {"cpu": [4], "gpu": [4]}, rates=named)
    assert instance.exact.rates == {(0, 1): 2, (1, 0): 1, (1, 1): Fraction(1, 2)}
    more = fa.Instance({"ann": [1], "bob": [1], "eve": [1]}, {"cpu": [4], "gpu": [4]}, rates=named)
    assert more.exact.rates == instance.exact.rates | {(2, 0): 1, (2, 1): 1}, "a user without rates has the default"


def test_rates_of_one_are_none_and_equal_placement() -> None:
    q = np.array([[1.0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    assert fa.Instance(D, C, rates=np.ones((4, 3))) == fa.Instance(D, C)
    tasks = [fa.solve(one, "nb").tasks for one in (fa.Instance(D, C, rates=q), fa.Instance(D, C, eligible=q > 0))]
    assert tasks[0] == pytest.approx(tasks[1])


def test_what_is_replaced_and_what_stays() -> None:
    instance = fa.Instance(D, C, rates=Q, eligible=[[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]])
    assert instance.A == 8
    assert instance.replace(eligible=None) == fa.Instance(D, C, rates=Q)
    assert instance.replace(rates=None).A == 11
    assert instance.replace(weights=[1, 2, 3, 4]).exact.rates == instance.exact.rates


def test_demands_of_a_pair_do_not_know_the_rate() -> None:
    instance = fa.Instance(D, C, rates=Q, demands_on={(0, 0): [7, 1]})
    assert instance.arcs.demand[0].tolist() == [7, 1]
    assert instance.exact.demands_on[0, 0] == ((7, 1),)
    assert fa.solve(instance, "nb").tasks == pytest.approx(fa.solve(spelled_out(instance), "nb").tasks)


def test_files_keep_them() -> None:
    instance = fa.Instance(D, C, rates=Q, demands_on={(3, 1): ["1/7", 1]})
    document = instance_document(instance)
    assert document["users"][0]["rates"] == {"s1": 0.5, "s2": 1}
    assert parse_instance(document) == instance
    assert fingerprint(parse_instance(document)) == fingerprint(instance)
    document["users"][1]["rates"] = None
    assert parse_instance(document).exact.rates[1, 2] == 1
    document["schema"] = "fairalloc-instance/1"
    with pytest.raises(fa.InstanceError, match="unknown field 'rates'"):
        parse_instance(document)


def test_files_of_before_are_read_and_have_no_groups() -> None:
    document = instance_document(fa.Instance(D, C))
    assert parse_instance(document | {"schema": "fairalloc-instance/1"}) == fa.Instance(D, C)
    with pytest.raises(fa.InstanceError, match="only 'fairalloc-instance/2' has them"):
        parse_instance(document | {"schema": "fairalloc-instance/1", "groups": {"A": ["u1"]}})


@pytest.mark.parametrize(
    ("rates", "sentence"),
    [
        ([[1, 1, 1]], "rates are .* but they must be 4 lists"),
        (np.ones((3, 4)), r"rates are 3 x 4 of type float64, but they must be 4 x 3 numbers"),
        (np.full((4, 3), -1.0), r"the rate of user 'u1' on server 's1' is -1, but it must be a finite number, at least 0"),
        (np.diag([1.0, np.inf, 1, 1])[:, :3], r"the rate of user 'u2' on server 's2' is inf"),
        ([[1, 1, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1]], "user 'u2' has no eligible server"),
        ([[1, 1, "x"], [1, 1, 1], [1, 1, 1], [1, 1, 1]], "the rate of user 'u1' on server 's3' is 'x'"),
        (np.full((4, 3), 1e-320), "out of range: change units"),
        ({"nobody": [1, 1, 1]}, "nobody"),
        ("fast", "rates are 'fast'"),
    ],
)
def test_bad_rates(rates: object, sentence: str) -> None:
    with pytest.raises(fa.InstanceError, match=sentence):
        fa.Instance(D, C, rates=rates)


@given(st.integers(0, 10**6), st.sampled_from(["nb", "mmf", "lmmf"]))
@settings(max_examples=15)
def test_faster_servers_are_a_change_of_units(seed: int, name: str) -> None:
    """Rates that are the same for all users of a server make it as much larger."""
    rng = np.random.default_rng(seed)
    N, K = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    demands, capacities = rng.integers(1, 9, (N, 2)), rng.integers(1, 30, (K, 2))
    rates = np.exp(rng.normal(size=K))
    fast = fa.Instance(demands, capacities, rates=np.tile(rates, (N, 1)))
    assert fa.solve(fast, name).tasks == pytest.approx(
        fa.solve(fa.Instance(demands, capacities * rates[:, None]), name).tasks, rel=1e-6
    )


def test_alike_users_and_servers_are_merged_by_their_rates() -> None:
    rng = np.random.default_rng(1)
    rates = np.repeat(np.repeat(rng.random((3, 4)), 40, axis=0), 30, axis=1)
    instance = fa.Instance(np.ones((120, 1)), np.ones((120, 1)), rates=rates)
    found = classes_of(fa.mechanism("nb"), instance)
    assert found is not None
    assert (found.merged.N, found.merged.K) == (3, 4)
    rates[0, 0] *= 2
    other = classes_of(fa.mechanism("nb"), fa.Instance(np.ones((120, 1)), np.ones((120, 1)), rates=rates))
    assert other is not None
    assert (other.merged.N, other.merged.K) == (4, 5)
    assert fa.solve(instance, "nb").tasks == pytest.approx(np.repeat(fa.solve(found.merged, "nb").tasks / 40, 40), rel=1e-6)


def test_a_copy_a_pickle_and_the_overview() -> None:
    import pickle

    instance = fa.Instance(D, C, rates=Q)
    again = pickle.loads(pickle.dumps(instance))
    assert again == instance
    assert again.exact.rates == instance.exact.rates
    assert "Rates go from 0.333 to 5" in str(fa.show(instance)._repr_html_())
    assert instance != fa.Instance(D, C, rates=[*Q[:3], [0, 1, 6]])
