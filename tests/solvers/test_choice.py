"""The order in which methods are asked where none is named."""

import subprocess
import sys
from importlib import import_module

import cvxpy as cp
import pytest

import fairalloc as fa
from fairalloc.formulations.common.tasks import cvxpy_tasks
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS
from fairalloc.solvers.catalogue.method_registry import MANY, ORDER, order
from fairalloc.solvers.running import dispatch


def test_every_name_of_the_order_is_a_method_that_may_be_asked():
    """And is the method of the file that is named beside it."""
    assert all(key in METHODS and not METHODS[key].peer for key in ORDER)
    for key, file in ORDER.items():
        assert METHODS[key] in import_module(f"fairalloc.solvers.{file}").methods


def test_no_method_is_asked_twice():
    large = generators.generic(50, 40, 2)
    assert large.A >= MANY
    for name in ("drfh", "mmf", "nb", "ps-dsf"):
        for instance in (large, generators.generic(4, 2, 2)):
            asked = order(fa.mechanism(name), instance)
            assert len(set(asked)) == len(asked)


def test_after_filling_in_floats_comes_filling_in_rationals(monkeypatch):
    """Weights far apart: the five methods between took two minutes for 6,000 pairs of users and servers, for nothing."""
    asked, attempt = [], dispatch._attempt
    monkeypatch.setattr(
        dispatch, "_attempt", lambda request, method, *rest: asked.append(method.id) or attempt(request, method, *rest)
    )
    one = generators.weights(30, 8, 3, 1, decades=12)
    given = fa.solve(one, "drf-per-server")
    assert asked == ["progressive-filling", "exact"]
    assert (given.termination, given.user_error) == ("optimal", 0)


def test_a_plain_answer_loads_the_files_of_no_other_method():
    """Nor SciPy's linear algebra; in a process of its own."""
    ask = "import sys, fairalloc as fa; fa.solve(fa.example('wang-fig2').instance, 'drfh'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True).stdout.split()
    assert "fairalloc.solvers.backends.highs" in loaded
    for file in ("scipy.linalg", "cvxpy", "pyomo", *(f"fairalloc.solvers.{room}.{file}" for room, file in NOT_ASKED)):
        assert file not in loaded


NOT_ASKED = [("game", "continuation"), ("interior_point", "program"), ("njc", "milp"), ("exact", "many_digits")]


@pytest.mark.parametrize(
    ("name", "small", "large"),
    [
        ("drfh", "highs:leximin", "interior-point"),
        ("mmf", "highs", "interior-point"),
        ("nb", "interior-point", "interior-point"),
        ("utilitarian", "highs", "highs"),
        ("drf-per-server", "progressive-filling", "progressive-filling"),
        ("ps-dsf", "continuation", "continuation"),
    ],
)
def test_the_first_method_by_mechanism_and_size(name, small, large):
    few, many = generators.generic(10, 4, 2, 1), generators.generic(100, MANY // 100, 2, 1)
    assert [fa.solve(instance, name, merge=False).method for instance in (few, many)] == [small, large]


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
    files = {key: type(METHODS[key]).__module__.removeprefix("fairalloc.solvers.") for key in peers}
    monkeypatch.setattr("fairalloc.solvers.catalogue.method_registry.ORDER", files)
    monkeypatch.setattr("fairalloc.solvers.catalogue.method_registry.order", lambda *_: peers)
    assert fa.solve(instance, "drfh").method not in peers
    assert fa.solve(instance, "drfh", "highs:ipx").method == "highs:ipx"
