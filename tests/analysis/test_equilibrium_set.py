"""All PS-DSF allocations: each vertex judged by P's Theorem 1, the ranges against the mixed-integer program, what is refused."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import RESIDUAL

from fairalloc.analysis import ps_dsf_set
from fairalloc.formulations import mechanism
from fairalloc.models import Instance, InstanceError, NotApplicable
from fairalloc.models.published import example
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import levels

TWO_BY_TWO = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any), min_size=2, max_size=2)
CAPACITIES = st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=2), min_size=2, max_size=2)


def ranges(instance):
    """(N,) the least and the most tasks of each user over the answers of the mixed-integer program."""
    problem = mechanism("ps-dsf").write_cvxpy(instance)
    x = problem.var_dict["x"]
    totals = [instance.arcs.owner[[n]] @ x for n in range(instance.N)]
    ends = (cp.Minimize, cp.Maximize)
    return np.array([[cp.Problem(end(cp.sum(u)), problem.constraints).solve(solver="HIGHS") for end in ends] for u in totals])


@settings(max_examples=12, deadline=None)
@given(demands=TWO_BY_TWO, capacities=CAPACITIES, weights=st.sampled_from([(1, 1), (1, 2)]))
def test_the_ranges_are_those_of_the_mixed_integer_program(demands, capacities, weights):
    instance = Instance(demands, capacities, weights=weights)
    found = ps_dsf_set(instance)
    assert all(levels(instance, x) is not None for x in found.vertices)
    np.testing.assert_allclose(np.array(found.totals, dtype=float), ranges(instance), rtol=RESIDUAL, atol=RESIDUAL)


def test_the_example_with_two_answers():
    """The middle of two of its allocations is none, so the set is not convex; every method's answer is in it."""
    instance = example("two-answers").instance
    found = ps_dsf_set(instance)
    assert found.totals == ((3, 4), (3, 4))
    assert not found.is_single
    one, other = found.vertices[0], found.vertices[-1]
    middle = tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
    assert levels(instance, middle) is None
    for method in ("continuation", "best-response", "exact"):
        tasks = solve(instance, "ps-dsf", method).tasks
        assert all(least - RESIDUAL <= u <= most + RESIDUAL for u, (least, most) in zip(tasks, found.totals, strict=True))


def test_equal_totals_with_different_utilisation():
    """Resource 2 stops everybody: the totals are (1, 1), and where the tasks run decides what is used of resource 1."""
    instance = Instance([[0, 1], [1, 1]], [[1, 1], [2, 1]])
    found = ps_dsf_set(instance)
    assert found.is_single
    assert found.totals == ((1, 1), (1, 1))
    assert found.best("utilisation")[0] == Fraction(3, 4)
    assert found.best("tasks")[0] == 2
    assert {sum(x, Fraction(0)) for x in found.vertices} == {Fraction(2)}


def test_what_is_refused():
    with pytest.raises(NotApplicable, match="8 arcs"):
        ps_dsf_set(Instance([[1, 1]] * 4, [[1, 1]] * 2))
    with pytest.raises(NotApplicable, match="no limit"):
        ps_dsf_set(Instance([[1, 1]], [[1, 1]], max_tasks=[1]))
    with pytest.raises(InstanceError, match="fairness"):
        ps_dsf_set(Instance([[1, 1]], [[1, 1]])).best("fairness")
