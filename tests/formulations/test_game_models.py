"""The editable formulations of the game: every one is solved, judged by the definition, edited and solved again."""

from contextlib import nullcontext

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize_scalar
from tolerances import BARGAINING, EQUILIBRIUM, EXACT, PRINTED, RESIDUAL, ROUNDING

from fairalloc.formulations import mechanism
from fairalloc.formulations.alpha_pf_vds import best_response
from fairalloc.formulations.game import game
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.marginal import Utility
from fairalloc.formulations.game.merit import SCALE
from fairalloc.formulations.game.printed import RELAXATION
from fairalloc.formulations.ps_dsf import LevelBounds
from fairalloc.models import Allocation, FairallocError, Instance
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.solvers import METHODS, methods_for, solve
from fairalloc.solvers.backends.cvxpy import unpack
from fairalloc.solvers.backends.cvxpy_nlp import compiled
from fairalloc.solvers.backends.pyomo import ipopt
from fairalloc.solvers.options import solver_options
from fairalloc.solvers.running import dispatch

FIG1 = example("khamse-fig1").instance  # K Fig. 1: placement by a resource that server 2 lacks
INSTANCES = [
    FIG1,
    FIG1.replace(weights=[1, 2, 1, 3], name="khamse-fig1-weights"),
    generators.generic(5, 2, 3, 1),
    generators.placement(5, 3, 3, 1),
    generators.tied(5, 2, 3, 2),
    generators.zero_demand(5, 2, 3, 0),
]
PARAMETERS = [{"alpha": 0.5}, {"alpha": 2}, {"alpha": 3, "B": 0.5}, {"alpha": 20}]


def name_of(value):
    return getattr(value, "name", None) or "-".join(f"{k}{v}" for k, v in value.items())


def configured(**parameters):
    return mechanism("alpha-pf-vds").configure(**parameters)


def scaled(item, instance):
    return item.canonical(item.domain(instance))[0]


def judged(item, instance, model):
    """The residual of a solved Pyomo model, with kappa as a hint where there is one."""
    x = np.array([v.value for v in model.x.values()])
    hint = np.array([v.value for v in model.kappa.values()]).clip(0) if hasattr(model, "kappa") else None
    prices = None if hint is None else hint.reshape(instance.K, instance.R)
    return item.residual(Allocation(instance, x.clip(0), prices=prices)), x


def available(method_id):
    if METHODS[method_id].missing():
        pytest.skip(METHODS[method_id].missing())
    return method_id


# ---- the merit problem ----------------------------------------------------------------------------------------------


@pytest.mark.few(12)
@pytest.mark.parametrize("parameters", PARAMETERS, ids=name_of)
@pytest.mark.parametrize("instance", INSTANCES, ids=name_of)
def test_merit_problem_in_pyomo(instance, parameters):
    """The route from wheels alone is the reliable one: all of these end at an equilibrium."""
    allocation = solve(instance, "alpha-pf-vds", "pyomo:ipopt", **parameters)
    assert allocation.residual <= RESIDUAL
    assert allocation.termination in ("optimal", "inaccurate")
    assert allocation.prices.shape == (instance.K, instance.R)


@pytest.mark.few(3)
@pytest.mark.parametrize("method", ["cvxpy:ipopt", "cvxpy:uno"])
@pytest.mark.parametrize("instance", INSTANCES[:4], ids=name_of)
def test_merit_problem_in_cvxpy(instance, method):
    """CVXPY's nonlinear route may stop early: then it says so; where it claims an equilibrium, it is the one of the others."""
    allocation = solve(instance, "alpha-pf-vds", available(method), time_limit=20, alpha=2)
    assert allocation.termination != "optimal" or allocation.residuals["definition"] <= RESIDUAL
    if allocation.residual <= RESIDUAL:
        other = solve(instance, "alpha-pf-vds", "pyomo:ipopt", alpha=2)
        np.testing.assert_allclose(allocation.tasks, other.tasks, rtol=EQUILIBRIUM)
    else:
        assert allocation.termination != "optimal"


@pytest.mark.parametrize("method", ["cvxpy:ipopt", "cvxpy:uno"])
def test_cvxpy_solves_some(method):
    """The test above is not empty."""
    assert solve(INSTANCES[3], "alpha-pf-vds", available(method), time_limit=20, alpha=2).residual <= RESIDUAL


def test_a_stationary_point_is_not_called_optimal():
    """A method may call it optimal only with a residual below its accuracy."""
    messages = []
    for seed in range(3):
        allocation = solve(generators.generic(20, 5, 3, seed), "alpha-pf-vds", "pyomo:ipopt", alpha=200)
        messages.append(allocation.message)
        assert allocation.termination != "optimal" or allocation.residuals["definition"] <= RESIDUAL
    assert any("proves no more than" in message for message in messages), "choose instances on which a solver gets stuck"


def test_alpha_of_each_server():
    """Different alpha, A and B on the servers, in both layers."""
    parameters = {"alpha": [2, 0.5, 3], "A": [1, 2, 1], "B": {"s1": 0, "s2": 1, "s3": 0.5}}
    allocation = solve(INSTANCES[3], "alpha-pf-vds", "pyomo:ipopt", **parameters)
    assert allocation.residual <= RESIDUAL
    item = configured(**parameters)
    instance = scaled(item, INSTANCES[3])
    problem, model = item.cvxpy(instance, form="levels"), item.pyomo(instance, form="levels")
    assert problem.objective.value == pytest.approx(pyo.value(model.objective), rel=EXACT)
    printed, same = item.cvxpy(instance, form="printed"), item.pyomo(instance, form="printed")
    assert printed.objective.value == pytest.approx(pyo.value(same.objective), rel=EXACT)


@pytest.mark.parametrize("parameters", PARAMETERS[:3], ids=name_of)
def test_both_layers_write_the_same_merit(parameters):
    """At the equal partition, where both start, and at the equilibrium, where both are 0."""
    item = configured(**parameters)
    instance = scaled(item, FIG1)
    problem, model = item.cvxpy(instance, form="levels"), item.pyomo(instance, form="levels")
    assert problem.objective.value == pytest.approx(pyo.value(model.objective), rel=EXACT)
    assert problem.objective.value > 0.01 * SCALE
    ipopt(model)
    for name, variable in problem.var_dict.items():
        variable.value = np.array([v.value for v in getattr(model, name).values()]).reshape(variable.shape)
    assert problem.objective.value <= SCALE * RESIDUAL**2
    assert all(constraint.violation().max() <= RESIDUAL for constraint in problem.constraints)


def printed_psi(problem, instance, x, lam):
    """Psi (K 37) at a point; inf where (K 38-40) fail."""
    for name, value in {"x": x, "u": instance.arcs.owner @ x, "lam": lam}.items():
        problem.var_dict[name].save_value(value)
    allowed = all(constraint.violation().max() <= RELAXATION for constraint in problem.constraints)
    return problem.objective.value if allowed else np.inf


@pytest.mark.parametrize("instance", [INSTANCES[0], INSTANCES[3], INSTANCES[5]], ids=name_of)
def test_printed_merit_is_zero_exactly_at_equilibria(instance):
    """Psi (K 37) is 0 at the equilibrium; where tasks or prices move it is positive, or the point is not allowed (K 38-40)."""
    allocation = solve(instance, "alpha-pf-vds", "pyomo:ipopt", accuracy="high", alpha=2)
    game = Game(instance, 2)
    kappa = allocation.prices.clip(0)
    room = 1 - game.load(game.fractions(allocation.x))
    with np.errstate(divide="ignore", invalid="ignore"):
        lam = np.where(room < 1e-9, np.nan_to_num(kappa**2 / instance.pools, posinf=0.0), 0.0)
    x, problem = allocation.x.clip(0) * (1 - 1e-12), mechanism("alpha-pf-vds", alpha=2).cvxpy(instance)
    assert printed_psi(problem, instance, x, lam) <= RESIDUAL**1.5 * max(1.0, x.max()) ** 2
    assert printed_psi(problem, instance, x, lam * 1.1) > 1e-6
    assert printed_psi(problem, instance, x * 0.9, np.zeros_like(lam)) > 1e-6
    assert printed_psi(problem, instance, x * 0.9, lam) == np.inf
    assert printed_psi(problem, instance, x * 1.1, lam) == np.inf


@pytest.mark.parametrize("instance", INSTANCES[:4], ids=name_of)
def test_printed_problem_is_solved(instance):
    """As printed, with (K 40) as a relaxed complementarity condition: alpha = 1/2, where f_ni is of order one."""
    item = configured(alpha=0.5)
    instance = scaled(item, instance)
    model = item.pyomo(instance, form="printed")
    ipopt(model)
    residual, x = judged(item, instance, model)
    assert residual <= PRINTED
    expected = solve(instance, "alpha-pf-vds", "pyomo:ipopt", alpha=0.5)
    np.testing.assert_allclose(instance.arcs.owner @ x, expected.tasks, rtol=EQUILIBRIUM)


@pytest.mark.parametrize("form", ["printed", "ncp-printed"])
def test_the_price_of_a_resource_that_nobody_uses_is_zero(form):
    """As (K 28) and (K 40) say: it has no row."""
    model = configured(alpha=0.5).pyomo(Instance([[1, 0], [2, 0]], [[4, 3], [1, 2]]), form=form)
    assert [row for row, price in model.lam.items() if price.fixed] == [("s1", "r2"), ("s2", "r2")]
    assert {price.value for price in model.lam.values() if price.fixed} == {0.0}


def test_printed_problem_in_cvxpy():
    """A researcher tightens the relaxation step by step."""
    item = configured(alpha=2)
    instance = scaled(item, FIG1)
    problem = item.cvxpy(instance, form="printed")
    assert [c.label for c in problem.constraints] == ["capacity", "tasks", "saturated"]
    available("cvxpy:ipopt")
    for relaxation in (1e-2, 1e-4, 1e-6, 1e-8):
        problem.param_dict["relaxation"].value = relaxation
        chosen = {**solver_options("IPOPT", "mid"), "max_iter": 300}
        data, chain, inverse = compiled(problem, "IPOPT", chosen)
        unpack(problem, chain.solve_via_data(problem, data, False, False, chosen), chain, inverse)
    x = problem.var_dict["x"].value.clip(0)
    assert item.residual(Allocation(instance, x)) <= PRINTED


def test_derivatives_are_taken_where_they_are_asked_for():
    """CVXPY's own oracles answer with the values of the last call of `objective`, see `Reduced`."""
    problem = configured(alpha=2).cvxpy(INSTANCES[3], form="levels")
    data, _, _ = compiled(problem, "UNO", {})
    oracles, x = problem._solver_cache["oracles"], data["x0"]
    step = 1e-6 * np.eye(len(x))[0]
    slope = (oracles.objective(x + step) - oracles.objective(x - step)) / 2e-6
    oracles.objective(2 * x)
    assert oracles.gradient(x)[0] == pytest.approx(slope, abs=1e-3 * (1 + abs(slope)))
    assert np.abs(oracles.gradient(x) - oracles.gradient(1.5 * x)).max() > 1e-3


def test_roots_and_logarithms_that_cvxpy_lifts_are_eliminated_with_exact_derivatives():
    """By central differences of the objective, of the constraints and of the slopes of the Lagrangian."""
    problem = configured(alpha=2).cvxpy(ANY, form="levels")
    x = problem.var_dict["x"]
    problem = cp.Problem(problem.objective, [*problem.constraints, cp.sqrt(cp.square(x[0]) + cp.square(x[1])) * x[2] <= 3])
    data, _, _ = compiled(problem, "IPOPT", {})
    oracles, at = problem._solver_cache["oracles"], 1.1 * data["x0"] + 0.03
    assert len(at) == sum(v.size for v in problem.variables())
    size, factor, duals = len(at), 0.7, np.random.default_rng(0).normal(size=len(data["cl"]))

    def jacobian(at):
        return sp.csr_array((oracles.jacobian(at), oracles.jacobianstructure()), shape=(len(duals), size)).toarray()

    def slope(at):
        return factor * oracles.gradient(at) + jacobian(at).T @ duals

    def differences(function):
        return np.array([(function(at + step) - function(at - step)) / 2e-6 for step in 1e-6 * np.eye(size)]).T

    lower = sp.csr_array((oracles.hessian(at, duals, factor), oracles.hessianstructure()), shape=(size, size)).toarray()
    hessian = lower + np.tril(lower, -1).T
    pairs = (oracles.gradient(at), oracles.objective), (jacobian(at), oracles.constraints), (hessian, slope)
    for exact, function in pairs:
        np.testing.assert_allclose(exact, differences(function), atol=1e-6 * np.abs(exact).max())


SPARSE = generators.sparse(20, 5, 2, 1)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_an_edit_that_does_not_bind_leaves_the_equilibrium(layer):
    """Ipopt's own start ended at a merit of .37 in Pyomo, and not within 20 s in CVXPY, whose answers nothing judged."""
    base = mechanism("alpha-pf-vds", alpha=5)
    right = solve(SPARSE, base)
    edits = {
        "cvxpy": lambda p, i: cp.Problem(
            p.objective, [*p.constraints, i.arcs.owner[[0]] @ p.var_dict["x"] <= 10 * right.tasks[0]]
        ),
        "pyomo": lambda m, _: setattr(m, "cap", pyo.Constraint(expr=next(iter(m.u.values())) <= 10 * float(right.tasks[0]))),
    }
    found = solve(SPARSE, base.edited("mine", **{layer: edits[layer]}), available(f"{layer}:ipopt"))
    assert found.termination == "stationary"
    assert found.residuals["stationarity"] <= RESIDUAL
    np.testing.assert_allclose(found.tasks, right.tasks, rtol=EQUILIBRIUM)


@pytest.mark.parametrize("termination", ["interrupted", "optimal"])
def test_who_ends_the_search_for_a_start_ends_the_solve_and_a_start_that_is_given_needs_none(termination, monkeypatch):
    right = solve(FIG1, "alpha-pf-vds", alpha=3)
    mine = mechanism("alpha-pf-vds", alpha=3).edited("mine", pyomo=lambda m, _: m.x["u1", 0, "s1"].fix(1.0))
    asked, attempt = [], dispatch.best_attempt
    found = right.noted(termination=termination)

    def attempts(request, *given):
        asked.append(request.method and request.method.id)
        return found if asked[-1] == "continuation" else attempt(request, *given)

    monkeypatch.setattr(dispatch, "best_attempt", attempts)
    with pytest.raises(KeyboardInterrupt) if termination == "interrupted" else nullcontext():
        solve(FIG1, mine)
    assert asked == ["continuation", None][: 1 + (termination == "optimal")]
    solve(FIG1, mine, warm_start=right)
    assert asked[-1] is None
    assert asked.count("continuation") == 1


def test_a_start_leaves_what_an_edit_has_fixed():
    """The start of the solver replaced the value of a fixed variable, and with it the edit."""
    mine = mechanism("alpha-pf-vds", alpha=3).edited("mine", pyomo=lambda m, _: m.x["u1", 0, "s1"].fix(1.0))
    assert solve(FIG1, mine).tasks[0] == 1.0


@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"alpha": 3, "A": 2, "B": 0.5}, {"alpha": 20}])
def test_the_merit_is_0_at_the_values_of_an_equilibrium(parameters):
    item = configured(**parameters)
    answer = solve(LIMITED, item, accuracy="high")
    problem = item.settled(LIMITED).cvxpy(LIMITED)
    for name, values in item.settled(LIMITED).first_values(LIMITED, answer.x, answer.prices).items():
        problem.var_dict[name].save_value(values.reshape(problem.var_dict[name].shape))
    assert problem.objective.value <= SCALE * RESIDUAL**1.5
    assert max(np.abs(c.residual).max() for c in problem.constraints) <= RESIDUAL


def test_a_warm_start_of_a_merit_is_used():
    answer = solve(SPARSE, "alpha-pf-vds", alpha=5)
    found = solve(SPARSE, "alpha-pf-vds", "pyomo:ipopt", alpha=5, warm_start=answer)
    assert (found.termination, found.residual <= RESIDUAL) == ("optimal", True)
    assert found.message == "" or found.message.startswith("called inaccurate, but its answer proves a residual of")
    assert found.iterations < solve(SPARSE, "alpha-pf-vds", "pyomo:ipopt", alpha=5).iterations


# ---- the models at any point ----------------------------------------------------------------------------------------


ANY = generators.placement(4, 3, 2, 2).replace(max_tasks=[None, 1.5, None, 0.5], weights=[1, 2, 3, 1])
POINTS = [
    {"alpha": 0.5},
    {"alpha": 3, "A": 2, "B": 0.5},
    {"alpha": [0.5, 2, 3], "A": [1, 0, 2], "B": [0, 3, 0.5]},
    {"utility": [Utility(lambda z: 1 / (1 + z) ** 2), None, Utility(lambda z: 3 * z**-2.0)], "alpha": 2, "B": 1},
]


def log_g(parameters, i, z):
    """Log g_i' (K 22), or of the utility of one's own."""
    own = parameters.get("utility", [None] * 3)[i]
    if own is not None:
        return np.log(own.marginal(z))
    alpha, A, B = (np.broadcast_to(parameters.get(name, usual), 3)[i] for name, usual in (("alpha", 2), ("A", 1), ("B", 0)))
    return np.log((A / z) ** alpha + B / z)


def psi(a, b):
    return np.sqrt(a**2 + b**2) - a - b


def at_random(model, layer, chance):
    """{name: values} of the model's variables, of which those that may be have either sign."""
    names = list(model.var_dict) if layer == "cvxpy" else [v.local_name for v in model.component_objects(pyo.Var)]
    values = {}
    for name in names:
        variable = model.var_dict[name] if layer == "cvxpy" else getattr(model, name)
        size = variable.size if layer == "cvxpy" else len(variable)
        signed = name in ("x", "kappa", "level", "slack")
        values[name] = chance.normal(size=size) if signed else chance.uniform(0.2, 2, size)
        if layer == "cvxpy":
            variable.save_value(values[name].reshape(variable.shape))
        for v, value in zip([] if layer == "cvxpy" else variable.values(), values[name], strict=layer != "cvxpy"):
            v.set_value(value, skip_validation=True)
    return values


def starts(model, layer, name):
    variable = model.var_dict[name].value if layer == "cvxpy" else [v.value for v in getattr(model, name).values()]
    return np.ravel(np.array(variable, dtype=float))


def objective_of(model, layer):
    return float(model.objective.value) if layer == "cvxpy" else pyo.value(model.objective)


def rows_of(model, layer, name):
    """The bodies of a constraint less what they must be, or be at most."""
    if layer == "pyomo":
        return np.array([pyo.value(row.body) - pyo.value(row.upper) for row in getattr(model, name).values()])
    one = next(c for c in model.constraints if c.label == name)
    return np.ravel(one.args[0].value - one.args[1].value)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize("parameters", POINTS, ids=lambda p: "-".join(p))
def test_the_merit_is_that_of_the_text_at_any_point(parameters, layer):
    """Term by term: psi of x and F, of prices and slack, of what limits pay and leave; started at the equal partition."""
    item, arcs, M = configured(**parameters), ANY.arcs, ANY.max_tasks
    model = getattr(item, layer)(ANY, form="levels")
    w, R, phi = arcs.load.toarray().reshape(ANY.K, ANY.R, ANY.A) * arcs.gamma, ANY.R, ANY.weights
    equal = arcs.gamma / ANY.N
    equal *= np.minimum(1, 0.7 * M / (arcs.owner @ equal))[arcs.user]
    assert starts(model, layer, "x") == pytest.approx(equal, rel=ROUNDING)
    assert starts(model, layer, "u") == pytest.approx(arcs.owner @ equal, rel=ROUNDING)
    assert starts(model, layer, "slack") == pytest.approx(1 - arcs.load @ equal, rel=ROUNDING, abs=ROUNDING)
    z = (arcs.owner @ equal)[arcs.user] / phi[arcs.user] / arcs.gamma
    beta = np.maximum(item.game(ANY).alpha, 1)
    each = np.array([log_g(parameters, i, one) / beta[i] for i, one in zip(arcs.server, z, strict=True)])
    k = np.repeat([np.exp(each[arcs.server == i].mean()) for i in range(ANY.K)], R)
    assert starts(model, layer, "kappa") == pytest.approx(k, rel=ROUNDING)
    assert starts(model, layer, "level") == pytest.approx(np.log(k), rel=ROUNDING, abs=ROUNDING)
    v = at_random(model, layer, np.random.default_rng(0))
    limited = np.flatnonzero(np.isfinite(M))
    sigma = dict(zip(limited.tolist(), v["sigma"], strict=True))
    merit = 0.0
    for a, (n, i) in enumerate(zip(arcs.user.tolist(), arcs.server.tolist(), strict=True)):
        g = np.exp(log_g(parameters, i, v["u"][n] / phi[n] / arcs.gamma[a]))
        price = sum(w[i, r, a] * np.exp(beta[i] * v["level"][i * R + r]) for r in range(R)) + sigma.get(n, 0) * g
        merit += psi(v["x"][a] / arcs.gamma[a], (np.log(price) - np.log(g)) / beta[i]) ** 2
    merit += (psi(v["kappa"] / k, v["slack"]) ** 2).sum() + (psi(v["sigma"], 1 - (v["u"] / M)[limited]) ** 2).sum()
    assert objective_of(model, layer) == pytest.approx(SCALE * merit / 2, rel=1e-9)
    assert rows_of(model, layer, "capacity") == pytest.approx(arcs.load @ v["x"] + v["slack"] - 1, rel=ROUNDING, abs=ROUNDING)
    assert rows_of(model, layer, "tasks") == pytest.approx(arcs.owner @ v["x"] - v["u"], rel=ROUNDING, abs=ROUNDING)
    levels = v["kappa"] / k - np.exp(v["level"]) / k
    assert rows_of(model, layer, "levels") == pytest.approx(levels, rel=1e-9, abs=ROUNDING)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize("parameters", POINTS, ids=lambda p: "-".join(p))
def test_the_printed_problem_is_k_s_at_any_point(parameters, layer):
    """Psi (K 37), and (K 38) and (K 40) with its relaxation, in tasks and prices with units."""
    instance = ANY.replace(max_tasks=None)
    item, arcs = configured(**parameters), instance.arcs
    model, c = getattr(item, layer)(instance, form="printed"), instance.pools.ravel()
    v = at_random(model, layer, np.random.default_rng(1))
    takes = arcs.load.toarray() * c[:, None]
    total = 0.0
    for a, (n, i) in enumerate(zip(arcs.user.tolist(), arcs.server.tolist(), strict=True)):
        g = np.exp(log_g(parameters, i, v["u"][n] / instance.weights[n] / arcs.gamma[a]))
        total += psi(v["x"][a], v["lam"] @ takes[:, a] - g / arcs.gamma[a]) ** 2 / 2
    assert objective_of(model, layer) == pytest.approx(total, rel=1e-9)
    left = c - takes @ v["x"]
    assert rows_of(model, layer, "capacity") == pytest.approx(-left / c, rel=1e-9, abs=ROUNDING)
    assert rows_of(model, layer, "saturated") == pytest.approx(v["lam"] * left - 1e-8, rel=1e-9, abs=ROUNDING)
    assert rows_of(model, layer, "tasks") == pytest.approx(arcs.owner @ v["x"] - v["u"], rel=1e-9, abs=ROUNDING)


# ---- complementarity ------------------------------------------------------------------------------------------------


def as_nlp(model, bound):
    return pyo.TransformationFactory("mpec.simple_nonlinear").create_using(model, mpec_bound=bound)


@pytest.mark.few(2)
@pytest.mark.parametrize("form", ["ncp", "ncp-printed"])
@pytest.mark.parametrize("instance", [INSTANCES[0], INSTANCES[3]], ids=name_of)
def test_complementarity_conditions(instance, form):
    item = configured(alpha=2)
    instance = scaled(item, instance)
    model = item.pyomo(instance, form=form)
    assert len(model.users) == len(instance.arcs)
    for bound in 10.0 ** -np.arange(2, 14, 2):
        ipopt(nlp := as_nlp(model, bound))
        for part in model.component_objects(pyo.Var):
            part.set_values({key: variable.value for key, variable in nlp.find_component(part).items()}, skip_validation=True)
    residual, x = judged(item, instance, model)
    assert residual <= RESIDUAL
    expected = solve(instance, "alpha-pf-vds", "pyomo:ipopt", alpha=2)
    np.testing.assert_allclose(instance.arcs.owner @ x, expected.tasks, rtol=EQUILIBRIUM)


def test_complementarity_conditions_can_be_edited():
    """User 1 may run at most half of what it does: the conditions are transformed and solved with the new row."""
    item = configured(alpha=2)
    instance = scaled(item, FIG1)
    model = item.pyomo(instance, form="ncp")
    nlp = as_nlp(model, bound=1e-6)
    assert ipopt(nlp) in ("optimal", "inaccurate")
    half = nlp.u["u1"].value / 2
    edited = as_nlp(model, bound=1e-6)
    edited.cap = pyo.Constraint(expr=edited.u["u1"] <= half)
    ipopt(edited)
    assert judged(item, instance, edited)[0] > 1e-3, "no equilibrium respects it"


# ---- one server -----------------------------------------------------------------------------------------------------


RESPONSES = [{"alpha": 0.5}, {"alpha": 1}, {"alpha": 3}, {"alpha": 3, "B": 1}, {"alpha": 50}]


@pytest.mark.parametrize("parameters", RESPONSES, ids=name_of)
def test_an_equilibrium_is_everybodys_best_response(parameters):
    item = configured(**parameters)
    instance = scaled(item, INSTANCES[3])
    allocation = solve(instance, "alpha-pf-vds", "pyomo:ipopt", **parameters)
    assert allocation.residual <= RESIDUAL
    moved = 0.0
    for i in np.unique(instance.arcs.server):
        here, server = instance.arcs.server == i, instance.servers[i]
        elsewhere = np.bincount(instance.arcs.user, np.where(here, 0.0, allocation.x.clip(0)), instance.N)
        problem = best_response(instance, server, elsewhere, **parameters)
        problem.var_dict["x"].value = allocation.x[here].clip(0)
        at_equilibrium = problem.objective.value
        best = problem.solve(solver=cp.CLARABEL)
        assert at_equilibrium >= best - BARGAINING * max(1.0, abs(best))
        problem.param_dict["elsewhere"].value = np.zeros(here.sum())
        problem.solve(solver=cp.CLARABEL)
        moved = max(moved, np.abs(problem.var_dict["x"].value - allocation.x[here]).max())
    assert moved > 0.01, "alone on its server, a server allocates otherwise"


SPLIT = 1e-3
"""What Clarabel's gap of 1e-8 leaves of the answer of a concave program: its square root, and a factor for the curvature."""


@pytest.mark.parametrize("parameters", [{"alpha": a, "A": A, "B": B} for a in (0.5, 1, 3) for A, B in ((2, 0), (0, 3), (2, 0.7))])
@pytest.mark.parametrize("elsewhere", [(0, 0), (0.3, 0.1)])
def test_a_best_response_is_the_best_split(parameters, elsewhere):
    """Of a resource of which user 2 needs twice as much for a part of its monopoly: the sum of phi_n g(z_n) on a line."""
    instance = Instance([[1, 2], [2, 0]], [[4, 4], [5, 5]], weights=[1, 3])
    gamma, phi, (alpha, A, B) = np.array([2, 2]), np.array([1, 3]), parameters.values()

    def worth(part):
        z = (np.array([part, 1 - part / 2]) * gamma + elsewhere) / gamma / phi
        first = A**alpha * (np.log(z) if alpha == 1 else z ** (1 - alpha) / (1 - alpha))
        return phi @ (first + B * np.log(z))

    best = minimize_scalar(lambda part: -worth(part), bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-9}).x
    problem = best_response(instance, "s1", np.array(elsewhere), **parameters)
    problem.solve(solver=cp.CLARABEL)
    found = problem.var_dict["x"].value / gamma
    assert found[0] / 2 + found[1] == pytest.approx(1, rel=RESIDUAL)
    assert worth(found[0]) >= worth(best) - RESIDUAL
    np.testing.assert_allclose(found, [best, 1 - best / 2], rtol=SPLIT)
    if alpha > 1 and A and B:  # the larger of the two coefficients is 1, and s0 that of an equal partition
        problem.var_dict["x"].value = gamma / 2
        z = (gamma / 2 + elsewhere) / gamma / phi
        powers, logs = A**alpha / (alpha - 1), B / (phi @ z ** (1 - alpha))
        expected = (logs * (phi @ np.log(z)) - powers) / max(powers, logs)
        assert problem.objective.value == pytest.approx(expected, rel=1e-9)


def test_best_responses_lead_to_the_equilibrium():
    """Gauss-Seidel sweeps of best responses from the equal partition."""
    instance, arcs = FIG1, FIG1.arcs
    x = arcs.gamma / instance.N
    for _ in range(15):
        for i, server in enumerate(instance.servers):
            here = arcs.server == i
            problem = best_response(instance, server, np.bincount(arcs.user, np.where(here, 0.0, x), instance.N), alpha=2)
            problem.solve(solver=cp.CLARABEL)
            x[here] = problem.var_dict["x"].value.clip(0)
    assert configured(alpha=2).residual(Allocation(instance, x)) <= 1e-4


# ---- alpha = 1 and time sharing: concave programs -----------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"alpha": 1}, {"alpha": 1, "A": 2, "B": 1}, {"alpha": 3, "A": 0, "B": 2}], ids=name_of)
@pytest.mark.parametrize("method", ["cvxpy:clarabel", "cvxpy:scs", "pyomo:ipopt"])
def test_proportional_fairness_is_nb(method, parameters):
    """K Theorem 2; the prices are the levels of the game, whatever A and B."""
    allocation = solve(FIG1, "alpha-pf-vds", method, **parameters)
    expected = solve(FIG1, "nb", "pyomo:ipopt")
    np.testing.assert_allclose(allocation.tasks, expected.tasks, rtol=BARGAINING)
    assert allocation.residual <= RESIDUAL
    game = configured(**parameters).game(FIG1)
    excess = game.excess(allocation.tasks, allocation.prices)
    assert np.abs(excess[allocation.x > 0.01]).max() <= BARGAINING


@pytest.mark.parametrize("instance", [INSTANCES[0], INSTANCES[3], INSTANCES[4]], ids=name_of)
def test_time_sharing_does_not_depend_on_g(instance):
    """K Theorem 5: the Eisenberg-Gale program gives what every alpha gives on the instance whose resource is time."""
    item = mechanism("ps-dsf-tdm")
    allocation = solve(instance, "ps-dsf-tdm", "pyomo:ipopt")
    assert allocation.residual <= RESIDUAL
    for alpha in (0.5, 3):
        assert Game(item.domain(instance), alpha).residual(allocation.x) <= BARGAINING
    pfvds = solve(item.domain(instance), "alpha-pf-vds", "pyomo:ipopt", alpha=3)
    np.testing.assert_allclose(pfvds.tasks, allocation.tasks, rtol=EQUILIBRIUM)
    other = allocation.x * np.linspace(0.5, 1.0, len(allocation.x))
    assert item.residual(Allocation(instance, other)) > 0.01


# ---- PS-DSF as a mixed-integer program ------------------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("method", ["cvxpy:highs", "pyomo:highs"])
@pytest.mark.parametrize("instance", INSTANCES, ids=name_of)
def test_ps_dsf_by_levels(instance, method):
    allocation = solve(instance, "ps-dsf", method)
    assert allocation.termination == "optimal"
    assert allocation.residual <= EXACT
    game = Game(instance, np.inf)
    excess = game.excess(allocation.tasks, allocation.prices)
    assert excess.min() >= -RESIDUAL
    assert np.abs(excess[allocation.x > RESIDUAL]).max() <= RESIDUAL


@pytest.mark.few(3)
@pytest.mark.parametrize("instance", INSTANCES, ids=name_of)
def test_the_bounds_of_the_program_hold(instance):
    """phi_n / Phi_n <= x_n / G_n <= 1 and low <= levels <= high, on an answer found with other objectives."""
    item = mechanism("ps-dsf")
    instance = scaled(item, instance)
    part = LevelBounds(item.game(instance))
    problem = item.cvxpy(instance)
    u, level = problem.var_dict["u"], problem.var_dict["level"]
    met = instance.placement.astype(float) @ instance.placement.T > 0
    for sign in (1, -1):
        edited = cp.Problem(cp.Maximize(sign * u[0]), problem.constraints)
        edited.solve(solver=cp.HIGHS, mip_feasibility_tolerance=1e-9)
        assert item.residual(Allocation(instance, problem.var_dict["x"].value)) <= RESIDUAL
        share = u.value / part.G
        assert np.all(share <= 1 + EXACT)
        assert np.all(share >= instance.weights / (met @ instance.weights) - EXACT)
        assert np.all((level.value >= part.low - EXACT) & (level.value <= part.high + EXACT))


@pytest.mark.parametrize("method", ["cvxpy:highs", "pyomo:highs"])
def test_the_bounds_of_the_program_cut_off_no_answer(method):
    """User 1 has (0, 2) and weight 2, user 2 (2, 1) and weight 3; the bounds m_nir times 0.6 leave no allocation."""
    instance = Instance([[0, 2], [2, 1]], [[3, 2], [1, 2], [3, 1]], weights=[2, 3])
    allocation = solve(instance, "ps-dsf", method)
    assert allocation.termination == "optimal"
    np.testing.assert_allclose(allocation.tasks, [1.25, 2.5], rtol=EXACT)
    assert [float(v) for v in solve(instance, "ps-dsf", "exact").tasks_exact] == [1.25, 2.5]


@pytest.mark.parametrize("method", ["cvxpy:highs", "pyomo:highs"])
@pytest.mark.parametrize("objective", [None, "utilisation", "sum", "tasks"])
def test_ps_dsf_with_limits(method, objective):
    """User 1 runs all its tasks, so that it needs no bottleneck; user 3 is far from its limit."""
    instance = Instance([[1, 1], [1, 2], [2, 1]], [[8, 8], [6, 6]], max_tasks=[1, None, 50], eligible=[[1, 0], [1, 0], [1, 1]])
    allocation = solve(instance, "ps-dsf", method, **({} if objective is None else {"objective": objective}))
    assert allocation.termination == "optimal"
    assert allocation.residual <= EXACT
    exact = solve(instance, "ps-dsf", "exact")
    np.testing.assert_allclose(allocation.tasks, [float(v) for v in exact.tasks_exact], rtol=EXACT)
    if objective is not None:
        worth = {"tasks": allocation.tasks.sum(), "utilisation": allocation.load.mean()}
        worth["sum"] = allocation.tasks @ [1 / 1, 1 / 4, 1 / 7]
        assert allocation.values[objective] == pytest.approx(worth[objective], rel=EXACT)


def test_ps_dsf_can_be_edited():
    """Among all answers the one with the most tasks; and with a cap on a user there is none."""
    item, instance = mechanism("ps-dsf"), Instance([[1], [1]], [[1], [1]])
    model = item.pyomo(instance)
    solver = pyo.SolverFactory("appsi_highs")
    model.objective.deactivate()
    model.most = pyo.Objective(expr=model.u["u1"], sense=pyo.maximize)
    solver.solve(model)
    assert model.u["u1"].value == pytest.approx(1, rel=EXACT), "one resource: x_n is unique"
    problem = item.cvxpy(instance)
    capped = cp.Problem(problem.objective, [*problem.constraints, problem.var_dict["u"][0] <= 0.9])
    capped.solve(solver=cp.HIGHS)
    assert capped.status in ("infeasible", "infeasible_or_unbounded")


# ---- who computes what, and what is refused -----------------------------------------------------------------------


def test_methods_say_what_they_compute():
    ids = {m.id for m in methods_for(configured(alpha=2), available=False)}
    assert {"cvxpy:ipopt", "cvxpy:uno", "pyomo:ipopt"} <= ids
    assert not ids & {"cvxpy:clarabel", "cvxpy:scs", "cvxpy:highs", "pyomo:highs", "highs"}
    assert {"cvxpy:clarabel", "cvxpy:scs", "pyomo:ipopt"} <= {m.id for m in methods_for(configured(alpha=1).settled(FIG1))}
    assert {"cvxpy:clarabel", "cvxpy:scs"} <= {m.id for m in methods_for(configured(alpha={"s1": 1, "s2": 1}).settled(FIG1))}
    ids = {m.id for m in methods_for(mechanism("ps-dsf"), available=False)}
    assert {"cvxpy:highs", "pyomo:highs"} <= ids
    assert not ids & {"cvxpy:clarabel", "cvxpy:scs", "cvxpy:ipopt", "cvxpy:uno", "pyomo:ipopt", "highs"}


def test_k_s_own_model_is_handed_out_where_k_has_the_game_and_other_forms_are_asked_for():
    """Printed for A = 1, B = 0; elsewhere in levels, which `solve` takes; every alpha alike."""
    levels = {"x", "u", "kappa", "level", "slack"}
    for parameters in ({"alpha": 1}, {"alpha": 2}, {"alpha": [1, 3]}):
        item = configured(**parameters)
        assert set(item.cvxpy(FIG1).var_dict) == {"x", "u", "lam"}
        assert {part.name for part in item.pyomo(FIG1).component_objects(pyo.Var)} == {"x", "u", "lam"}
        assert set(item.cvxpy(FIG1, form="levels").var_dict) == levels
    for parameters in ({"alpha": 3, "A": 0, "B": 1}, {"alpha": 3, "B": 0.5}):
        assert set(configured(**parameters).cvxpy(FIG1).var_dict) == levels
    assert set(configured(alpha=2).cvxpy(LIMITED).var_dict) == levels | {"sigma"}
    assert set(configured(alpha=2).settled(FIG1).cvxpy(FIG1).var_dict) == levels
    for parameters in ({"alpha": 1}, {"alpha": 3, "A": 0, "B": 1}):
        one = configured(**parameters)
        problem = one.cvxpy(FIG1, form="nb")
        assert problem.is_dcp()
        assert not one.cvxpy(FIG1).is_dcp()
        problem.solve(solver=cp.CLARABEL)
        expected = solve(FIG1, one, "cvxpy:clarabel", "high")
        assert expected.residual <= RESIDUAL
        np.testing.assert_allclose(problem.var_dict["x"].value, expected.x, atol=EQUILIBRIUM * expected.x.max())
        assert {part.name for part in one.pyomo(FIG1, form="nb").component_objects(pyo.Var)} == {"x", "u"}


@pytest.mark.parametrize("alpha", [1, 2])
def test_the_merit_is_no_welfare_and_no_edit_replaces_it(alpha):
    base = mechanism("alpha-pf-vds", alpha=alpha)

    def most(problem, instance):
        return cp.Problem(cp.Maximize(cp.sum(problem.var_dict["x"])), problem.constraints)

    def same(problem, instance):
        return cp.Problem(problem.objective, [*problem.constraints, problem.var_dict["u"][0] <= 9])

    def deactivated(model, instance):
        model.objective.deactivate()
        model.most = pyo.Objective(expr=sum(model.x.values()), sense=pyo.maximize)

    def replaced(model, instance):
        model.objective.expr = sum(model.x.values())

    for edit in ({"cvxpy": most}, {"pyomo": deactivated}, {"pyomo": replaced}):
        with pytest.raises(FairallocError, match=r"is no welfare, so it cannot be replaced: .* utility=fa.Utility\(marginal\)"):
            solve(FIG1, base.edited("own", **edit))
    edited = base.edited("own", cvxpy=same)
    for item in (edited, edited.configure(alpha=3)):  # `solve` and `check` configure what they are given
        assert "level" in item.cvxpy(FIG1).var_dict
    free = mechanism("ps-dsf").edited("most", cvxpy=most)  # its constraints say what an answer is, so an objective chooses one
    assert free.cvxpy(FIG1).objective.NAME == "maximize"


LIMITED = FIG1.replace(max_tasks=[1, None, None, None])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: solve(FIG1, "alpha-pf-vds", "pyomo:ipopt", alpha="inf"), "the merit problem is for finite alpha"),
        (lambda: configured(alpha=[2, "inf"]).cvxpy(FIG1), "the merit problem is for finite alpha"),
        (lambda: configured(alpha=2).pyomo(FIG1, form="other"), "form is 'other'"),
        (lambda: configured(alpha=2).cvxpy(FIG1, form="ncp"), "form is 'ncp'"),
        (
            lambda: configured(alpha=2).cvxpy(FIG1, form="nb"),
            "form 'nb' is for alpha = 1 or A = 0 on every server, but server 's1' has alpha = 2",
        ),
        (lambda: configured(alpha=[1, 3]).pyomo(FIG1, form="nb"), "but server 's2' has alpha = 3"),
        (lambda: configured(alpha=0).cvxpy(FIG1), "must be positive"),
        (lambda: configured(alpha=[1, 2, 3]).cvxpy(FIG1), "has 3 entries"),
        (lambda: configured(alpha=2, A=0).cvxpy(FIG1), "not both 0"),
        (lambda: configured(beta=2), "has no parameter 'beta'"),
        (lambda: best_response(FIG1, "s9", [0] * 4), "there is no server 's9'"),
        (lambda: best_response(FIG1, "s1", [0] * 3), "one finite number >= 0 for each of the 4 users"),
        (lambda: best_response(FIG1, "s1", [0, 0, 0, -1.0]), "one finite number >= 0"),
        (lambda: best_response(FIG1, "s1", [0, 0, 0, "a"]), "an entry of tasks_elsewhere is 'a'"),
        (lambda: best_response(FIG1, "s1", [0] * 4, alpha="inf"), "is for finite alpha"),
        (lambda: configured(alpha=2).cvxpy(LIMITED, form="printed"), "the models as printed have no limits, but user 'u1'"),
        (lambda: configured(alpha=2).pyomo(LIMITED, form="printed"), "the models as printed have no limits, but user 'u1'"),
        (lambda: configured(alpha=2).pyomo(LIMITED, form="ncp-printed"), "the models as printed have no limits, but user 'u1'"),
        (lambda: best_response(LIMITED, "s1", [0] * 4), "is written for users without limits"),
    ],
)
def test_wrong_parameters_are_refused(call, sentence):
    with pytest.raises(FairallocError, match=sentence):
        call()


def test_the_mixtures_of_all_pairs_are_one_linear_program(monkeypatch):
    """One for each pair took 8 s for 100 users and 10 servers, before any method and its time limit."""
    calls, solve_it = [], game.linear_program
    monkeypatch.setattr(game, "linear_program", lambda *given: calls.append(given) or solve_it(*given))
    one = generators.variants(5, 3, 2, 1)
    together = game.monopolies(one)
    assert len(calls) == 1
    arcs = one.arcs
    for a, most in enumerate(together):
        same = np.flatnonzero((arcs.user == arcs.user[a]) & (arcs.server == arcs.server[a]))
        rows = arcs.load[:, same].toarray() * arcs.gamma[same]
        assert most == pytest.approx(-linprog(-arcs.gamma[same], rows, np.ones(len(rows))).fun, rel=ROUNDING)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_an_edit_takes_users_with_variants(layer):
    """The equal partition counts every variant, so its slack was below 0, which variables with a sign refuse."""
    edits = {"cvxpy": lambda problem, _: problem, "pyomo": lambda *_: None}
    item = mechanism("alpha-pf-vds").edited("as it is", **{layer: edits[layer]})
    instance = generators.variants(4, 3, 2, 1)
    found = solve(instance, item, f"{layer}:ipopt")
    np.testing.assert_allclose(found.tasks, solve(instance, "alpha-pf-vds").tasks, rtol=EQUILIBRIUM)
