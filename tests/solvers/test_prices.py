"""`Allocation.prices` are the dual values that a user sees in the mechanism's own CVXPY problem and Pyomo model."""

import numpy as np
import pyomo.environ as pyo
import pytest
from tolerances import DUALS, ROUNDING, VISIBLE

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples.published import example
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.backends.pyomo import CasadiProgram, _silent
from fairalloc.solvers.options import solver_options

CORNERS = Instance([[1, 0], [0, 1]], [[1, 1]], weights=[3, 5])
WEIGHTED = Instance([[1, 4], [3, 1], [2, 2]], [[9, 18]], weights=[2, 1, 7])
SCALED = Instance([[1, 4e6], [3, 1e6], [2, 3e6]], [[900, 18e8], [350, 21e8]], weights=[2, 1, 7])
LIMITED = Instance([[1, 4], [3, 1], [2, 2]], [[9, 18]], weights=[2, 1, 7], max_tasks=["1/2", None, None])
FIRST = Instance([[1, 4], [3, 1], [2, 2]], [[9, 18]], weights=[2, 1, 7], max_tasks=["1/10", None, None])
INSTANCES = {"corners": CORNERS, "weighted": WEIGHTED, "scaled": SCALED, "limited": LIMITED, "first": FIRST}
PROGRAMS = [
    ("nb", {}),
    ("utilitarian", {}),
    ("drf", {}),
    ("drfh", {}),
    ("drfh-lp", {}),
    ("mmf", {}),
    ("lmmf", {}),
    ("tsf", {}),
    *(("fds", {"alpha": alpha}) for alpha in (0.5, 1, 2, 4)),
]


def capacity_duals(problem):
    return next(c.dual_value for c in problem.constraints if c.label == "capacity")


def by_cvxpy(item, instance):
    """The duals of the problem that the user sees, solved by CVXPY and Clarabel."""
    problem = item.cvxpy(instance)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    domain = item.domain(instance)
    return capacity_duals(problem).reshape(domain.K, domain.R)


def by_pyomo(item, instance):
    """Those of the Pyomo model, by HiGHS where it is linear, otherwise by Ipopt."""
    model, domain = item.pyomo(instance), item.domain(instance)
    if item.linear:
        solver = _silent()
        duals = solver.solve(model).solution_loader.get_duals()
    else:
        duals = CasadiProgram(model, solver_options("IPOPT in CasADi", "mid")).solve()[1]
    return np.array([duals[row] for row in model.capacity.values()]).reshape(domain.K, domain.R)


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "parameters"), PROGRAMS, ids=lambda v: v if isinstance(v, str) else str(v.get("alpha", "")))
@pytest.mark.parametrize("instance", INSTANCES.values(), ids=INSTANCES)
def test_prices_are_the_duals_of_the_users_own_models(name, parameters, instance):
    item = mechanism(name).configure(**parameters)
    seen, other = by_cvxpy(item, instance), by_pyomo(item, instance)
    scale = max(seen.max(), VISIBLE)
    np.testing.assert_allclose(other, seen, atol=DUALS * scale)
    methods = [key for key, m in METHODS.items() if m.computes(item) and not m.missing() and not m.applies(item, instance)]
    checked = 0
    for key in methods:
        allocation = solve(instance, name, key, **parameters)
        if allocation.prices is None or not allocation.claims_success:
            continue
        assert allocation.prices.shape == (allocation.instance.K, allocation.instance.R)
        np.testing.assert_allclose(allocation.prices, seen, atol=DUALS * scale, err_msg=key)
        checked += 1
    assert checked


def test_the_example_of_two_corners():
    """Budgets 3 and 5 for a pool of one unit each: each user pays its budget for what only it uses."""
    np.testing.assert_allclose(solve(CORNERS, "nb").prices, [[3, 5]], rtol=DUALS)


def test_rounds_have_a_name_of_their_own():
    allocation = solve(example("khamse-fig1").instance, "drfh", "highs")
    assert allocation.round_prices.shape == (2, 2, 3)
    item = mechanism("drfh")
    assert item.residual(Allocation(allocation.instance, allocation.x, round_prices=allocation.round_prices)) <= DUALS
    assert item.residual(Allocation(allocation.instance, allocation.x, prices=allocation.prices)) > 0.1, "the first round alone"
    first = allocation.round_prices[0]
    np.testing.assert_allclose(allocation.prices / allocation.prices.sum(), first / first.sum(), atol=ROUNDING)
    assert solve(CORNERS, "nb").round_prices is None


def test_prices_bound_the_level():
    """G = sum p for max-min fairness, by strong duality."""
    for instance in (WEIGHTED, SCALED):
        allocation = solve(instance, "drfh-lp")
        assert allocation.prices.sum() == pytest.approx(allocation.values["g"], rel=DUALS)


@pytest.mark.parametrize("shape", [(1, 1, 2), (2,), (2, 1)])
def test_prices_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"prices has shape .*, but it must be 1 x 2"):
        Allocation(CORNERS, [1, 1], prices=np.ones(shape))
    with pytest.raises(ValueError, match=r"round_prices has shape .*, but it must be any x 1 x 2"):
        Allocation(CORNERS, [1, 1], round_prices=np.ones((2,)))


@pytest.mark.parametrize("method", ["highs:leximin", "interior-point", "cvxpy:clarabel"])
def test_capacities_have_no_price_where_the_poorest_runs_all_its_tasks(method):
    """The first round ends at u1's limit: its dual is positive alone, though the solver's answer has prices of capacities."""
    allocation = solve(Instance([[2], [2], [1]], [[5], [8], [3]], max_tasks=[1, 2, 3]), "drfh", method)
    assert allocation.claims_success
    assert not allocation.prices.any()


@pytest.mark.parametrize("method", ["highs:leximin", "interior-point", "cvxpy:clarabel", "pyomo:highs", "exact"])
@pytest.mark.parametrize("limits", [(9, 0.9, 9, 1.9), (9, 0.9, 1.4, 1.9)], ids=["a full server between", "limits alone later"])
def test_prices_are_of_the_first_round_whatever_ends_the_last(method, limits):
    """Each user has a server of its own: that of the poorest, which is full, has the whole price of the least level."""
    instance = Instance(np.ones((4, 1)), [[0.5], [1], [1.5], [2]], eligible=np.eye(4, dtype=bool), max_tasks=limits)
    np.testing.assert_allclose(solve(instance, "lmmf", method).prices.ravel(), [0.5, 0, 0, 0], atol=DUALS)


def assert_duals_of_cvxpy(item, instance, allocation):
    """The prices are those of the problem that the user sees, whose duals are unique."""
    seen = by_cvxpy(item, instance)
    assert seen.max() > VISIBLE
    np.testing.assert_allclose(allocation.prices, seen, atol=DUALS * seen.max())


POORER_FIRST = Instance([[1, 4], [3, 1], [2, 2]], [[9, 18], [30, 50]], eligible=[[1, 0], [1, 0], [0, 1]], weights=[2, 1, 3])


@pytest.mark.parametrize("method", ["highs", "cvxpy:clarabel", "cvxpy:highs", "pyomo:highs", "exact"])
def test_prices_of_nested_rounds_are_of_the_first(method):
    """A group of two and a user on another server, which go on to a second round and a third."""
    instance, item = POORER_FIRST.replace(groups={"both": {"users": ["u1", "u2"], "weight": 2}}), mechanism("nested-leximin")
    allocation = solve(instance, item, method)
    assert allocation.claims_success
    assert len(allocation.round_prices) > 1
    assert_duals_of_cvxpy(item, instance, allocation)


@pytest.mark.parametrize("method", ["cvxpy:clarabel", "cvxpy:highs", "pyomo:highs"])
def test_prices_of_edited_rounds_are_of_the_first(method):
    def capped(problem, instance):
        return type(problem)(problem.objective, [*problem.constraints, problem.var_dict["x"][2] <= 10])

    def capped_in_pyomo(model, instance):
        model.capped = pyo.Constraint(expr=list(model.x.values())[2] <= 10)

    item = mechanism("drfh").edited("capped", cvxpy=capped, pyomo=capped_in_pyomo)
    allocation = solve(POORER_FIRST, item, method)
    assert allocation.claims_success
    assert len(allocation.round_prices) > 1
    assert_duals_of_cvxpy(item, POORER_FIRST, allocation)


@pytest.mark.parametrize("method", ["cvxpy:clarabel", "cvxpy:highs", "pyomo:highs", "exact"])
@pytest.mark.parametrize("name", ["drfh", "lmmf", "tsf", "asset"])
def test_prices_with_floors_are_in_units_of_the_level(name, method):
    instance, item = POORER_FIRST.replace(min_tasks=["1/2", 2, 0]), mechanism(name)
    allocation = solve(instance, item, method)
    assert allocation.claims_success
    assert_duals_of_cvxpy(item, instance, allocation)


@pytest.mark.parametrize("method", ["njc-market", "njc-ode", "cvxpy:clarabel", "pyomo:ipopt"])
def test_prices_of_no_justified_complaints_are_in_units_of_the_weights(method):
    assert_duals_of_cvxpy(mechanism("njc"), WEIGHTED, solve(WEIGHTED, "njc", method))
