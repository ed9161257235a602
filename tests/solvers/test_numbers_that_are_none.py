"""Prices, tasks and residuals that are no numbers, or out of range: no exception, and nothing is claimed or confirmed by them."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from narrow import JOBS
from profiles import drawn

import fairalloc as fa
from fairalloc.benchmarks.records import Record
from fairalloc.formulations import MECHANISMS
from fairalloc.models.allocation import Times
from fairalloc.models.numbers import worst
from fairalloc.solvers.judge import judged
from fairalloc.solvers.method import Answer, Limits, Method

POOL = fa.Instance([[1, 2], [2, 1], [1, 1]], [[9, 12]])

NUMBERS = st.sampled_from([math.inf, -math.inf, math.nan, 1e308, -1e308, 1e-320, -1.0, 0.0, 1e-300, 1.0, 2.5])


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("field", ["prices", "round_prices"])
def test_prices_that_are_no_numbers_are_refused(field, value):
    prices = [[value, 1.0]] if field == "prices" else [[[value, 1.0]]]
    with pytest.raises(fa.FairallocError, match=f"{field} holds a number that is not finite"):
        fa.Allocation(POOL, [1, 1, 1], **{field: prices})


@pytest.mark.parametrize("name", ["cvxpy:ipopt", "pyomo:ipopt"])
def test_derivatives_that_are_no_numbers_end_ipopt_and_not_the_process(name):
    """MUMPS had a segmentation fault."""
    if fa.METHODS[name].missing():
        pytest.skip(fa.METHODS[name].missing())
    assert fa.solve(POOL, "fds", alpha=1e308, method=name).termination == "error"


def test_the_reciprocal_of_the_smallest_alpha_is_a_number():
    """1 / alpha is beyond floating point, and shares that are alike are 0 powers of 2 apart: 0 times inf was no number."""
    alike = fa.example("wang-fig2").instance
    assert fa.solve(alike, "fds", alpha=1e-320).tasks == pytest.approx(fa.solve(alike, "fds", alpha=1e-3).tasks, rel=0.01)


def test_no_success_is_claimed_with_a_residual_that_is_no_number():
    class Unknown(fa.Mechanism):
        id = "unknown"

        def residual(self, allocation):
            return math.nan

    answer = fa.Allocation(POOL, [1, 1, 1], termination="optimal")
    assert judged(Unknown(), answer, Limits(), reference=False).termination == "inaccurate"


def test_a_residual_that_is_no_number_is_infinite():
    assert fa.Allocation(POOL, [1, 1, 1], residuals={"feasibility": 0.0, "definition": math.nan}).residual == math.inf
    assert worst([0.0, math.nan, 1.0]) == math.inf
    assert worst([]) == 0.0
    facts = dict.fromkeys(("suite", "case", "fingerprint", "mechanism", "method", "accuracy", "code", "machine", "started"), "")
    numbers = {"time_limit": 1.0, "memory_mb": 1, "repeat": 0, "jobs": 1, "threads": 1, "tolerance": 1e-6}
    for residuals in ({"feasibility": 0.0, "definition": math.nan}, {"feasibility": math.nan, "definition": 0.0}):
        assert Record(**facts, **numbers, termination="optimal", **residuals).residual == math.inf


@settings(max_examples=drawn(60))
@given(
    name=st.sampled_from(sorted(set(MECHANISMS) - JOBS)),
    x=st.lists(NUMBERS, min_size=3, max_size=3),
    prices=st.lists(NUMBERS, min_size=2, max_size=2),
)
@example(name="uniform", x=[1, 1, 1], prices=[0.5, 0.5])  # whose model has other servers
@example(name="alpha-pf-vds", x=[1e-320] * 3, prices=[0.5, 0.5])  # whose prices from tasks are no floats
def test_nothing_is_claimed_by_them(name, x, prices):
    item = MECHANISMS[name]
    try:
        one = fa.Allocation(POOL, x, mechanism=name, termination="optimal", prices=[prices], round_prices=[[prices]])
    except fa.FairallocError:
        assert not np.all(np.isfinite(prices))
        return
    result = judged(item, one, Limits())
    exact = fa.certify(one, name)
    verdict = fa.check(one, name)
    assert not math.isnan(result.residual)
    assert not result.claims_success or result.residual <= 1e-6
    if result.claims_success or verdict.holds:
        assert max(abs(v) for v in x) < 100, "nothing feasible is larger"
        assert min(x) >= 0
        assert exact or "not" in str(exact)


@pytest.mark.parametrize("name", ["nb", "fds", "utilitarian", "drfh"])
def test_infinite_prices_of_a_method_prove_nothing(name):
    class Liar(Method):
        id = "liar"

        def computes(self, mechanism):
            return True

        def open(self, mechanism, instance, limits):
            raise AssertionError

        def run(self, mechanism, instance, limits):
            return Answer(np.full(len(instance.arcs), 0.1), np.full((1, instance.K, instance.R), np.inf), "optimal", Times())

    found = fa.solve(POOL, name, Liar, reference=False)
    assert found.prices is None
    assert found.has_point
    assert not found.claims_success or found.not_judged or name == "drfh", "words without prices stand beside the residual"
    assert not found.residual <= 1e-6
