"""Solvers that users own: those that CVXPY or Pyomo finds here, a stand-in, and those that are known but missing."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from tolerances import RESIDUAL, ROUNDING, SHARES

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models import NotApplicable, NotInstalled, UnknownName
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS, methods_for, solve
from fairalloc.solvers.catalogue import installed

SMALL = generators.generic(6, 3, 2)


class StandIn:
    """A solver in Pyomo's factory: HiGHS, with duals of the other sign, as some conventions have them, where `sign` is -1."""

    calls: list = []  # noqa: RUF012
    sign = -1

    def __init__(self, **_):
        self.highs = pyo.SolverFactory("appsi_highs")

    def available(self, exception_flag=True):
        return True

    def solve(self, model, **options):
        StandIn.calls.append(dict(options))
        if "no_such_option" in options.pop("options", {}):
            raise ValueError("unknown option no_such_option")
        options.pop("timelimit", None)
        results = self.highs.solve(model, **(options | {"load_solutions": True}))
        for row in list(model.dual):
            model.dual[row] *= StandIn.sign
        results.solution.clear()
        return results


@pytest.fixture
def stand_in():
    """Registered as `standin` while a test runs."""
    pyo.SolverFactory.register("standin")(StandIn)
    installed._found_by_pyomo.cache_clear()
    StandIn.calls.clear()
    yield
    pyo.SolverFactory.unregister("standin")
    installed._found_by_pyomo.cache_clear()


def others(item):
    """The methods beyond ours that compute a mechanism on SMALL."""
    return [m.id for m in methods_for(mechanism(item), SMALL) if m.id not in METHODS]


def test_what_cvxpy_finds_is_a_method():
    found = {f"cvxpy:{name.lower()}" for name in cp.installed_solvers()}
    assert {"cvxpy:osqp", "cvxpy:scipy"} <= found
    assert set(others("drfh")) >= {"cvxpy:osqp", "cvxpy:scipy"}
    assert found <= {*METHODS, *others("drfh")}
    assert not {m.id for m in methods_for(mechanism("drfh"), SMALL, available=False)} - set(METHODS)


def test_what_a_solver_can_do_is_read_off_its_tables():
    assert "cvxpy:osqp" not in others("nb"), "it knows no logarithms"
    assert "cvxpy:scipy" not in others("nb")
    assert "cvxpy:scipy" in others("ps-dsf"), "its HiGHS takes integers"
    assert "cvxpy:osqp" not in others("ps-dsf")
    with pytest.raises(NotApplicable, match="method 'cvxpy:osqp' does not compute 'nb'"):
        solve(SMALL, "nb", "cvxpy:osqp")
    needs = installed.other_method("cvxpy:osqp").applies(mechanism("nb"), SMALL)
    assert needs == "cvxpy:osqp takes no ExpCone, which 'nb' needs"
    with pytest.raises(NotApplicable, match="method 'cvxpy:osqp' does not compute 'ps-dsf'"):
        solve(SMALL, "ps-dsf", "cvxpy:osqp")


@pytest.mark.parametrize("item", ["drfh", "utilitarian", "ps-dsf"])
def test_they_compute(item):
    allocation = solve(SMALL, item, "cvxpy:scipy")
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL
    if item == "drfh":
        np.testing.assert_allclose(allocation.tasks, solve(SMALL, item, "highs").tasks, rtol=SHARES)


def test_their_accuracy_is_their_own_and_is_judged():
    rough = solve(SMALL, "drfh", "cvxpy:osqp")
    exact = solve(SMALL, "drfh", "cvxpy:osqp", options={"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000})
    assert exact.claims_success
    assert exact.residual < rough.residual


def test_a_solver_of_pyomo(stand_in, monkeypatch):
    monkeypatch.setattr(
        "fairalloc.solvers.running.time_limits.AVAILABLE", False
    )  # its calls are looked at here, not in a child process
    allocation = solve(SMALL, "drfh", "pyomo:standin", time_limit=60, options={"speed": 3})
    assert allocation.method == "pyomo:standin"
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL
    assert StandIn.calls[0]["options"] == {"speed": 3}
    assert 1 <= StandIn.calls[0]["timelimit"] <= 60
    with pytest.raises(NotApplicable, match="unknown option no_such_option"):
        solve(SMALL, "drfh", "pyomo:standin", options={"no_such_option": 1})


@pytest.mark.parametrize("sign", [1, -1])
def test_duals_of_either_convention_are_the_prices(sign, stand_in, monkeypatch):
    monkeypatch.setattr(StandIn, "sign", sign)
    prices = solve(SMALL, "utilitarian", "pyomo:standin").prices
    np.testing.assert_allclose(prices, solve(SMALL, "utilitarian", "pyomo:highs").prices, rtol=SHARES, atol=ROUNDING)


def test_a_model_of_ones_own_needs_no_capacity():
    class Alone(fa.Mechanism):
        id = "alone"

        def write_pyomo(self, instance):
            model = pyo.ConcreteModel()
            model.x = pyo.Var(range(instance.A), bounds=(0, 1))
            model.goal = pyo.Objective(expr=sum(model.x.values()), sense=pyo.maximize)
            return model

    one = fa.Instance([[1], [1]], [[3]])
    np.testing.assert_allclose(solve(one, Alone(), "pyomo:appsi_highs").tasks, 1.0)


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("cvxpy:gurobi", "cvxpy:gurobi needs the solver GUROBI, which CVXPY does not find: pip install gurobipy"),
        ("cvxpy:ecos", "cvxpy:ecos needs the solver ECOS, which CVXPY does not find: pip install ecos"),
        ("cvxpy:pdcs", "cvxpy:pdcs needs the solver PDCS, which CVXPY does not find: see cvxpy.org/tutorial/solvers"),
        ("pyomo:glpk", "pyomo:glpk needs the solver glpk, which Pyomo does not find: put its executable on the search path"),
        ("pyomo:baron", "pyomo:baron needs the solver baron, which Pyomo does not find: put its executable on the search path"),
    ],
)
def test_known_but_missing_ones_say_what_to_install(method, sentence):
    if installed.other_method(method).is_available():
        pytest.skip(f"{method} is here")
    with pytest.raises(NotInstalled) as error:
        solve(SMALL, "drfh" if method != "pyomo:baron" else "nb", method)
    assert str(error.value) == sentence


@pytest.mark.parametrize("method", ["cvxpy:nothing", "pyomo:nothing", "cvxpy:", "pyomo:", "nothing:gurobi"])
def test_names_that_nobody_knows(method):
    with pytest.raises(UnknownName, match=f"there is no method '{method}'"):
        solve(SMALL, "drfh", method)


def test_interfaces_of_pyomo_to_one_solver_can_do_what_it_can():
    with pytest.raises(NotApplicable, match="method 'pyomo:appsi_highs' does not compute 'nb'"):
        solve(SMALL, "nb", "pyomo:appsi_highs")
    assert solve(SMALL, "drfh", "pyomo:appsi_highs").residual <= RESIDUAL


def test_a_limit_on_iterations_is_not_one_of_time():
    allocation = solve(SMALL, "drfh", "cvxpy:osqp", options={"max_iter": 1})
    assert allocation.termination == "iteration_limit"


def test_they_have_no_options_of_ours():
    assert fa.options("cvxpy:osqp") == ()


def test_nothing_is_imported_before_it_is_needed():
    code = "import sys, fairalloc; fairalloc.METHODS['highs']; print({'cvxpy', 'pyomo'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
