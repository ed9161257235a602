"""The pages: what a mechanism's file says is its model, and all forms of it are the same on published and generated instances."""

import ast
import importlib.util
import tempfile
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from small_jobs import jobs
from tolerances import EXACT, RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.formulations.game.ncp import ncp_pyomo
from fairalloc.formulations.game.printed import covers, printed_functions
from fairalloc.formulations.lexicographic.linear_program import ParametricRound, Round
from fairalloc.formulations.lmmf import iterations
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.models import FairallocError, Instance
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.tree import Tree
from fairalloc.solvers.backends.pyomo import ipopt

ROOM = Path(__file__).resolve().parents[2] / "formulations"
WANG, KHAMSE, ROUNDS = (example(name).instance for name in ("wang-fig2", "khamse-fig1", "zarchy-rounds"))
WEIGHTED = KHAMSE.replace(weights=[1, 2, 1, 3])


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda file: file.stem)
def test_a_file_opens_with_at_most_25_lines(file):
    text = ast.get_docstring(ast.parse(file.read_text()))
    assert 1 <= len(text.splitlines()) <= 25


# ---- the text is the model -------------------------------------------------------------------------------------------


def altered(tmp_path, file, old, new):
    """A copy of a file of formulations/ with another text in one place, imported."""
    text = (ROOM / file).read_text()
    assert text.count(old) == 1
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / "copy.py"
    path.write_text(text.replace(old, new))
    spec = importlib.util.spec_from_file_location("copy_of_a_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tasks_in(model, layer):
    """The tasks of a solved model."""
    if layer == "cvxpy":
        model.solve(solver=cp.HIGHS if model.is_mixed_integer() else cp.CLARABEL)
        return model.var_dict["x"].value
    if any(v.is_binary() for v in model.component_data_objects(pyo.Var)):
        pyo.SolverFactory("appsi_highs").solve(model)
    else:
        ipopt(model)
    return np.array([v.value for v in model.x.values()])


LEVEL = [("cvxpy", ">= g)", ">= 2 * g)"), ("pyomo", ">= m.g)", ">= 2 * m.g)")]


@pytest.mark.parametrize(("layer", "old", "new"), LEVEL, ids=["cvxpy", "pyomo"])
def test_another_coefficient_in_drfh_is_another_level(tmp_path, layer, old, new):
    item = altered(tmp_path, "drfh.py", old, new).mechanism
    for rule, level in ((mechanism("drfh"), 5 / 7), (item, 5 / 14)):
        model = getattr(rule, layer)(WANG)
        tasks_in(model, layer)
        assert float(model.var_dict["g"].value if layer == "cvxpy" else model.g.value) == pytest.approx(level, rel=RESIDUAL)
    half = altered(tmp_path, "drfh.py", "(arcs.load @ x <= 1)", "(2 * arcs.load @ x <= 1)").mechanism
    assert fa.solve(WANG, half, "cvxpy:highs").tasks == pytest.approx([5, 5], rel=RESIDUAL), "solve takes the text"


def test_another_coefficient_in_lmmf_is_another_answer(tmp_path):
    module = altered(tmp_path, "lmmf.py", "(cp.multiply(1 / phi, u) >= a)", "(cp.multiply(1 / phi, u) >= 2 * a)")
    assert next(a for a, _, _ in module.iterations(ROUNDS)) == pytest.approx(0.5, rel=EXACT)
    assert [(round(a, 6), p.tolist()) for a, p, _ in iterations(ROUNDS)] == [(1.0, [0, 1]), (2.0, [2])]


EACH = [("cvxpy", ">= g)", ">= cp.multiply(phi, g))"), ("pyomo", ">= m.g)", ">= phi[n] * m.g)")]


@pytest.mark.parametrize(("layer", "old", "new"), EACH, ids=["cvxpy", "pyomo"])
def test_a_level_for_each_user_in_drfh_is_in_all_rounds_or_the_answer_says_so(tmp_path, layer, old, new):
    """A later round had been a ValueError, and an edit kept the levels of the shares and was called optimal."""
    item, right = altered(tmp_path, "drfh.py", old, new).mechanism, fa.solve(WEIGHTED.replace(weights=[1, 4, 1, 9]), "drfh")
    assert fa.solve(WEIGHTED, item, f"{layer}:highs").tasks == pytest.approx(right.tasks, rel=RESIDUAL)
    edit = fa.solve(WEIGHTED, item.edited("same", **{layer: lambda model, _: model}))
    assert "one program" in edit.message
    assert (edit.tasks >= right.tasks.min() * (1 - RESIDUAL)).all()


OTHERS = [
    ("nb.py", "cvxpy", "cp.Maximize(w @", "cp.Maximize(instance.weights**2 @", {}),
    ("nb.py", "pyomo", "sum(w[n] * pyo.log", "sum(w[n] ** 2 * pyo.log", {}),
    ("alpha_fair.py", "cvxpy", "np.log(phi) + (1 - alpha)", "np.log(phi**2) + (1 - alpha)", {}),
    ("alpha_fair.py", "pyomo", "sum(phi[n] * model.v[n] ** (1 - alpha", "sum(phi[n] ** 2 * model.v[n] ** (1 - alpha", {}),
    ("alpha_fair.py", "cvxpy", "+= phi[alpha == a] @", "+= phi[alpha == a] ** 2 @", {"alpha": [0.5, 1, 2, 2]}),
    ("alpha_fair.py", "pyomo", "sum(phi[n] * terms[n]", "sum(phi[n] ** 2 * terms[n]", {"alpha": [0.5, 1, 2, 2]}),
    ("njc.py", "cvxpy", "cp.Maximize((1.0 / unit) @ x)", "cp.Maximize((-1.0 / unit) @ x)", {"objective": "sum"}),
    ("njc.py", "pyomo", "sum(x[n] / unit[n] for n in x)", "sum(-x[n] / unit[n] for n in x)", {"objective": "sum"}),
    ("ps_dsf.py", "cvxpy", "(chosen == 1)", "(chosen == 0)", {"objective": "tasks"}),
    ("ps_dsf.py", "pyomo", "+ satisfied[arc[0]] == 1)", "+ satisfied[arc[0]] == 0)", {"objective": "tasks"}),
    ("utilitarian.py", "cvxpy", "cp.Maximize(instance.weights @", "cp.Maximize(instance.weights**4 @", {}),
    ("utilitarian.py", "pyomo", "sp.csr_array(instance.weights[None] @", "sp.csr_array(instance.weights[None] ** 4 @", {}),
]
POOL = Instance([[1, 0.25], [0.25, 1], [0.5, 0.5]], [[3, 3]], max_tasks=[2, 6, 4], weights=[1, 1, 2])


@pytest.mark.parametrize(("file", "layer", "old", "new", "parameters"), OTHERS, ids=lambda value: str(value)[:9])
def test_another_coefficient_is_another_answer(tmp_path, file, layer, old, new, parameters):
    module = altered(tmp_path, file, old, new)
    instance = POOL if file == "njc.py" else WEIGHTED
    found = []
    for item in (mechanism(module.mechanism.id), module.mechanism):
        item = item.configure(**parameters)
        found.append(tasks_in(getattr(item, layer)(item.domain(instance)), layer))
    assert np.abs(found[0] - found[1]).max() > 1e-3


@pytest.mark.parametrize(
    ("old", "new"),
    [("cp.multiply(1 / gamma, g)  # (31)", "cp.multiply(2 / gamma, g)"), ("- g[ni] / gamma[ni]", "- 2 * g[ni] / gamma[ni]")],
    ids=["cvxpy", "pyomo"],
)
def test_another_coefficient_in_k_31_is_another_merit(tmp_path, old, new):
    module, item = altered(tmp_path, "game/printed.py", old, new), mechanism("alpha-pf-vds")
    values = [page.printed_cvxpy(item.game(KHAMSE)).objective.value for page in (module, page_of_printed())]
    values += [pyo.value(page.printed_pyomo(item.game(KHAMSE)).objective) for page in (page_of_printed(), module)]
    assert values[1] == pytest.approx(values[2], rel=EXACT)
    assert (abs(values[0] - values[1]) > 1e-3) == ("cp." in old)
    assert (abs(values[3] - values[2]) > 1e-3) == ("cp." not in old)
    assert item.cvxpy(KHAMSE).objective.value == values[1], "what is handed out is the page"


def page_of_printed():
    return importlib.import_module("fairalloc.formulations.game.printed")


# ---- all forms are the same ------------------------------------------------------------------------------------------

FAMILIES = ("generic", "placement", "tied", "zero_demand")
SIZES = ((3, 2, 2), (4, 2, 3), (5, 3, 2), (2, 3, 3), (6, 1, 2))


@cache
def instances():
    """All published ones, and 200 generated; a part with limits and weights."""
    made = [getattr(generators, FAMILIES[seed % 4])(*SIZES[seed % 5], seed) for seed in range(200)]
    for seed in range(0, 200, 3):
        one, random = made[seed], np.random.default_rng(seed)
        limits = [None if random.random() < 0.5 else float(m) for m in random.integers(1, 9, one.N)]
        made[seed] = one.replace(max_tasks=limits, weights=random.integers(1, 4, one.N).tolist())
    return [e.instance for e in EXAMPLES] + made


def named_values(problem, seed):
    """A random value for each variable of a CVXPY problem, of one sign."""
    random = np.random.default_rng(seed)
    return {v.name(): random.uniform(0.1, 2.0, v.shape) for v in problem.variables()}


def at(problem, values):
    """The objective of a CVXPY problem at these values, and its largest violation."""
    for v in problem.variables():
        v.save_value(values[v.name()])
    return float(problem.objective.value), max(float(np.max(c.violation(), initial=0.0)) for c in problem.constraints)


def pyomo_at(model, values):
    """The same of a Pyomo model."""
    for name, value in values.items():
        for v, number in zip(getattr(model, name).values(), np.ravel(value).tolist(), strict=True):
            v.value = number
    worst = [0.0]
    for row in model.component_data_objects(pyo.Constraint, active=True):
        body = pyo.value(row.body)
        worst += [body - pyo.value(row.upper)] if row.has_ub() else []
        worst += [pyo.value(row.lower) - body] if row.has_lb() else []
    return float(pyo.value(next(model.component_data_objects(pyo.Objective, active=True)))), max(worst)


def close(one, other):
    assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


def domains(item, many):
    for seed, instance in enumerate(many):
        try:
            yield seed, item.domain(instance)
        except FairallocError:
            continue


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ("alpha-pf-vds", "h-drf")])
def test_cvxpy_and_pyomo_are_one_model(name):
    """At random values of all variables: the objective, and how far the constraints are violated at most."""
    item, compared = mechanism(name), 0
    many = map(jobs, range(200)) if name.startswith("gavel") else instances()
    for seed, domain in domains(item, many):
        if item.unwritten(domain, "cvxpy"):
            continue
        problem = item.write_cvxpy(domain)
        values = named_values(problem, seed)
        model, tasks = item.write_pyomo(domain), domain.arcs.owner @ values["x"]
        for extra, number in (("u", tasks), ("v", tasks * item.rate(domain) if name in ("alpha-fair", "fds") else None)):
            if hasattr(model, extra) and extra not in values:
                values[extra] = number  # a variable that CVXPY does without
        for one, other in zip(at(problem, values), pyomo_at(model, values), strict=True):
            close(one, other)
        compared += 1
    assert compared >= 150


def test_the_programs_of_njc_are_one_in_both_layers():
    item, compared = NoJustifiedComplaints("sum"), 0
    for seed, domain in domains(item, instances()):
        given = [domain.resources[domain.arcs.load.nonzero()[0][0]]]
        for details in ({"model": "milp"}, {"bottlenecks": given}):
            problem = item.write_cvxpy(domain, **details)
            values = named_values(problem, seed)
            for one, other in zip(at(problem, values), pyomo_at(item.write_pyomo(domain, **details), values), strict=True):
                close(one, other)
            compared += 1
    assert compared >= 300


def rounds(domain, seed):
    """The first round, a later one, and one on a face."""
    random, first = np.random.default_rng(seed), Round.first(domain)
    active = random.random(domain.N) < 0.5
    active[0] = True
    later = replace(first, active=active, level=np.where(active, 0.0, random.uniform(0.1, 0.4, domain.N)))
    used = np.diff(domain.arcs.load.tocsr().indptr) > 0  # what nobody uses is never full
    implied = np.arange(len(used)) == len(used) - 1
    full = used & (random.random(len(used)) < 0.3) & ~implied
    return first, later, replace(later, closed=random.random(len(domain.arcs)) < 0.3, full=full, implied=implied, on_face=True)


def violation_of_arrays(lp, x, g):
    z = np.append(x, g)
    rows = lp.matrix @ z
    return float(max(np.max(lp.lower - rows), np.max(rows - lp.upper), np.max(z - lp.most), 0.0))


@pytest.mark.deep
@pytest.mark.parametrize("name", ["drfh", "lmmf", "tsf"])
def test_arrays_cvxpy_and_pyomo_are_one_program_in_every_round(name):
    item, compared = mechanism(name), 0
    for seed, domain in domains(item, instances()):
        random = np.random.default_rng(seed)
        x, g = random.uniform(0.0, 1.0, len(domain.arcs)) * domain.arcs.gamma, float(random.uniform(0.0, 1.0))
        parametric = ParametricRound.of(domain, item.write_cvxpy(domain))
        for now in rounds(domain, seed):
            wanted = violation_of_arrays(item.lp(domain, now), x, g)
            close(at(item.write_cvxpy(domain, now), {"x": x, "g": g})[1], wanted)
            if not now.on_face:
                parametric.set(now)
                close(at(parametric.problem, {"x": x, "g": g})[1], wanted)
            model = item.write_pyomo(domain, now)
            shut = [value for value, v in zip(x, model.x.values(), strict=True) if v.fixed]
            close(max([pyomo_at(model, {"x": x, "g": g})[1], *shut]), wanted)
            compared += 1
    assert compared >= 600


def in_groups(many):
    """The instances with two groups, of which one has a guarantee; those where it cannot be kept are left out."""
    groups = {"A": [0], "B": {"users": [1], "weight": 2, "guarantee": "1/20"}}
    for seed, one in enumerate(many):
        groups["B"]["users"] = [*range(1, one.N)]
        with suppress(FairallocError):
            yield seed, mechanism("nested-leximin").domain(one.replace(groups=groups))


@pytest.mark.deep
@pytest.mark.parametrize("compared", ["all", "borrowed"])
def test_nested_rounds_are_one_program_in_arrays_cvxpy_and_pyomo(compared):
    item, compared = mechanism("nested-leximin", compared=compared), 0
    for seed, domain in in_groups(one for one in instances() if one.N > 1):
        random, first = np.random.default_rng(seed), item.first(domain)
        levels, fixed = random.uniform(0.0, 0.4, len(first.active)), first.active & (random.random(len(first.active)) < 0.5)
        values = {"x": random.uniform(0.0, 1.0, domain.A) * domain.arcs.gamma, "g": float(random.uniform(0.0, 1.0))}
        for now in (first, first.after(Tree.of(domain), fixed, levels), first.after(Tree.of(domain), first.active, levels)):
            wanted = violation_of_arrays(item.lp(domain, now), *values.values())
            close(at(item.write_cvxpy(domain, now), values)[1], wanted)
            close(pyomo_at(item.write_pyomo(domain, now), values)[1], wanted)
            compared += 1
    assert compared >= 600


@pytest.mark.deep
def test_z_as_printed_and_the_fast_rounds_have_one_answer():
    for instance in instances():
        *_, (_, _, x) = iterations(instance)
        right = fa.solve(instance, "lmmf", "highs:leximin").tasks
        np.testing.assert_allclose(instance.arcs.owner @ x, right, rtol=RESIDUAL)


@pytest.mark.deep
def test_k_as_printed_and_in_levels_are_the_same_conditions():
    """gamma_ni f_ni = g_i'(z_ni) (exp(beta_i E_ni) - 1), and c_ir slack_ir = f_ir, in both layers."""
    compared = 0
    for seed, instance in enumerate(instances()):
        item = mechanism("alpha-pf-vds", alpha=(0.5, 1, 2, 3)[seed % 4])
        instance = instance.replace(max_tasks=None)  # K has none
        if not covers(game := item.game(instance)):
            continue
        random = np.random.default_rng(seed)
        x, kappa = random.uniform(0.1, 1.0, len(game.user)) * game.gamma, random.uniform(0.5, 2.0, (instance.K, instance.R))
        used = game.load(game.fractions(x)) > 0
        kappa = np.where(used, kappa, 0.0)
        lam = np.divide(kappa ** game.beta[:, None], instance.pools, out=np.zeros_like(kappa), where=used)
        printed, f_r, f_n = printed_functions(game)
        levels, values = ncp_pyomo(game), {"x": x, "u": game.tasks(x)}
        pyomo_at_values(printed, values | {"lam": lam})
        pyomo_at_values(levels, values | {"kappa": kappa})
        E = np.array([pyo.value(e) for e in levels.excess.values()])
        np.testing.assert_allclose(E, game.excess(game.tasks(x), kappa), rtol=1e-9, atol=1e-9)
        g = np.exp(game.log_marginal(game.shares(game.tasks(x))))
        f = np.array([pyo.value(f_n[ni]) for ni in printed.x])
        np.testing.assert_allclose(game.gamma * f, g * np.expm1(game.beta[game.server] * E), rtol=1e-7, atol=1e-9 * g.max())
        slack = (1.0 - game.load(game.fractions(x))) * instance.pools
        np.testing.assert_allclose([pyo.value(row) for row in f_r.values()], slack[used], rtol=1e-9, atol=1e-9)
        merit = float(((np.hypot(x, f) - x - f) ** 2).sum()) / 2
        problem = item.cvxpy(instance)
        assert at(problem, values | {"lam": lam})[0] == pytest.approx(merit, rel=1e-7, abs=ROUNDING)
        model = item.pyomo(instance)
        assert pyomo_at(model, values | {"lam": lam})[0] == pytest.approx(merit, rel=1e-7, abs=ROUNDING)
        compared += 1
    assert compared >= 200


def pyomo_at_values(model, values):
    for name, value in values.items():
        for v, number in zip(getattr(model, name).values(), np.ravel(value).tolist(), strict=True):
            v.value = number


def test_the_merit_in_levels_is_one_in_both_layers():
    compared = 0
    for seed, instance in enumerate(instances()):
        item = mechanism("alpha-pf-vds", alpha=(0.5, 1, 2, 3)[seed % 4], B=0.5 * (seed % 2))
        problem = item.cvxpy(instance, form="levels")
        values = named_values(problem, seed)
        found = pyomo_at(item.pyomo(instance, form="levels"), values)
        for one, other in zip(at(problem, values), found, strict=True):
            assert one == pytest.approx(other, rel=1e-7)
        compared += 1
    assert compared >= 200
