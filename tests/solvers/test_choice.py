"""The order in which methods are asked where none is named: what was measured, and what is done where nothing was."""

import json
import math
from dataclasses import replace

import cvxpy as cp
import pytest

import fairalloc as fa
from fairalloc.formulations.common.tasks import cvxpy_tasks
from fairalloc.models import generators
from fairalloc.solvers import METHODS
from fairalloc.solvers.choice import TABLE, Features, Measured, distance, features_of, order, ordered, overall, read_table

SMALL, LARGE = Features(100, 10, 1.0, False), Features(10_000, 100, 1.0, False)
CASES = (
    Measured("m", SMALL, {"quick": 0.001, "sure": 0.003}, ("never",)),
    Measured("m", LARGE, {"sure": 0.3}, ("quick", "never")),
    Measured("n", LARGE, {"sure": 0.3, "other": 0.31}),
)
OVERALL = overall(CASES)


def test_overall_those_that_claim_come_first_and_then_the_fast_ones():
    assert OVERALL == ["other", "sure", "quick", "never"]


@pytest.mark.parametrize(
    ("arcs", "expected"),
    [(30, ["quick", "sure", "never", "other"]), (5_000_000, ["sure", "quick", "never", "other"])],
)
def test_the_nearest_case_decides(arcs, expected):
    assert ordered(CASES, "m", Features(arcs, arcs // 50 + 1, 1.0, False)) == expected


def test_where_nothing_was_measured_the_order_overall_is_taken():
    assert ordered(CASES, "unknown", SMALL) == OVERALL


def test_a_case_that_nobody_claimed_decides_nothing():
    cases = (*CASES, Measured("m", Features(10**6, 100, 1.0, False), {}, ("sure", "quick", "never")))
    assert ordered(cases, "m", Features(10**6, 100, 1.0, False))[0] == "sure"


def test_in_games_the_order_is_the_same_for_all_sizes_and_that_of_the_nearest_alpha():
    one, three = (Features(100, 10, 1.0, False, alpha) for alpha in (1.0, 3.0))
    cases = (Measured("g", one, {"a": 0.1, "b": 0.2}), Measured("g", three, {"b": 0.1, "a": 0.2}))
    large = Features(10**6, 1000, 1.0, False)
    assert [ordered(cases, "g", replace(large, alpha=alpha), steady=True)[0] for alpha in (0.5, 20.0, math.inf)] == [
        "a",
        "b",
        "b",
    ]


def test_times_that_are_nearly_equal_are_no_reason():
    larger = Measured("m", LARGE, {"sure": 0.3}, ("other",))
    assert ordered((Measured("m", SMALL, {"other": 0.1, "sure": 0.105}), larger), "m", SMALL) == ["sure", "other"]
    assert ordered((Measured("m", SMALL, {"other": 0.1, "sure": 0.2}), larger), "m", SMALL) == ["other", "sure"]


def test_the_distance_is_what_its_text_says():
    far = Features(1_000, 1_000, 0.1, True, alpha=math.inf)
    assert distance(SMALL, far) == pytest.approx(1 + 0.5 * 2 + 1 + 1)
    assert distance(Features(100, 10, 1.0, False, 1.0), far) == pytest.approx(1 + 1 + 1 + 1 + 3)
    assert distance(far, far) == 0


def test_features_are_read_off_the_instance():
    racks, zeros = generators.racks(20, 10, 2), generators.zero_demand(20, 10, 2)
    found = features_of(fa.mechanism("alpha-pf-vds").configure(alpha="inf"), racks)
    assert found == Features(len(racks.arcs), 20, len(racks.arcs) / 200, False, math.inf)
    assert features_of(fa.mechanism("drfh"), zeros).zeros
    assert features_of(fa.mechanism("drfh"), zeros).alpha is None


def test_the_table_is_what_was_measured():
    document = json.loads(TABLE.read_text(encoding="utf-8"))
    cases = read_table(document)
    assert {case.mechanism for case in cases} == set(fa.MECHANISMS)
    assert {method for case in cases for method in (*case.seconds, *case.silent)} <= set(METHODS)
    assert {run["suite"] for run in document["made"]} == {"choose"}
    assert all(run["machine"]["cores"] for run in document["made"])
    seen = {}
    for case in cases:
        if case.seconds and seen.setdefault((case.mechanism, case.features), case) is case:
            found = ordered(cases, case.mechanism, case.features)
            assert set(found[: len(case.seconds)]) == set(case.seconds)
            assert case.seconds[found[0]] <= 1.1 * min(case.seconds.values())
    assert len(seen) > 100


def test_the_first_method_of_the_table_is_the_one_that_is_taken():
    instance = generators.generic(10, 4, 2, 1)
    for name in ("drfh", "nb", "ps-dsf"):
        assert fa.solve(instance, name).method == order(fa.mechanism(name), instance)[0]


class OnlyHere(fa.Mechanism):
    """A program that no table knows."""

    id = "only-here"

    def write_cvxpy(self, instance):
        x, constraints = cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


def test_a_mechanism_that_is_not_in_the_table_is_solved():
    found = fa.solve(generators.generic(4, 2, 2), OnlyHere)
    assert found.claims_success
    assert order(OnlyHere(), None) == order(OnlyHere(), generators.generic(4, 2, 2))


def test_what_is_here_to_be_compared_with_is_not_asked_without_being_named(monkeypatch):
    instance = generators.generic(4, 2, 2)
    peers = [key for key, method in METHODS.items() if method.peer]
    assert {"highs:ipx", "ortools:pdlp", "cvxpy:rounds"} <= set(peers)
    monkeypatch.setattr("fairalloc.solvers.registry.order", lambda *_: peers)
    assert fa.solve(instance, "drfh").method not in peers
    assert fa.solve(instance, "drfh", "highs:ipx").method == "highs:ipx"
