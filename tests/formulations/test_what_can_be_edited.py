"""The table of docs/guides/mechanism.md: every cell says what an edit of that kind does."""

import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from narrow import ALGORITHMS, JOBS
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.formulations import MECHANISMS

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "mechanism.md"
SERVERS = fa.example("khamse-fig1").instance
INSTANCES = {
    "njc": fa.Instance([[1, "1/4"], ["1/4", 1], ["1/2", "1/2"]], [[3, 3]], max_tasks=[3, 3, 4]),
    "ps-dsf": fa.example("two-answers").instance,
    **dict.fromkeys(JOBS, fa.example("gavel-three-jobs").instance),
}
WHAT = ("constraint", "objective", "parameter")
KINDS = [(kind, layer) for kind in WHAT for layer in ("cvxpy", "pyomo")]
LIMITS = {"constraint": (0.5,), "parameter": (0.5, 0.75)}
"""The parts of an arc's tasks that it may have, one after the other."""


def table():
    """{mechanism: its three cells, one for each kind of edit}."""
    rows = [line.strip("| ").split(" | ") for line in GUIDE.read_text().splitlines() if line.startswith("| `")]
    return {name: dict(zip(WHAT, cells, strict=True)) for names, *cells in rows for name in re.findall(r"`([^`]+)`", names)}


def edit_of(kind, layer, a, most):
    """An edit; `most` is a parameter of CVXPY, or for Pyomo {"value": number}."""

    def in_cvxpy(problem, instance):
        x = problem.var_dict["x"]
        if kind == "objective":
            return cp.Problem(cp.Maximize(x[a]), problem.constraints)
        return cp.Problem(problem.objective, [*problem.constraints, x[a] <= most])

    def in_pyomo(model, instance):
        x = list(model.x.values())
        if kind == "objective":
            model.objective.deactivate()
            model.mine = pyo.Objective(expr=x[a], sense=pyo.maximize)
        else:
            model.mine = pyo.Constraint(expr=x[a] <= most["value"])

    return {"cvxpy": in_cvxpy} if layer == "cvxpy" else {"pyomo": in_pyomo}


def outcome(name, kind, layer):
    """What `solve` makes of the edit, in the words of the table; the answer must respect it."""
    base, instance = fa.mechanism(name), INSTANCES.get(name, SERVERS)
    right = fa.solve(instance, name)
    a = int(np.argmax(right.x))
    most = cp.Parameter(nonneg=True, value=0.0) if layer == "cvxpy" else {}
    item, words = base.edited("mine", **edit_of(kind, layer, a, most)), set()
    for part in LIMITS.get(kind, (np.inf,)):
        limit = part * right.x[a]
        if layer == "cvxpy" and kind != "objective":
            most.value = limit
        elif layer == "pyomo":
            most["value"] = limit
        try:
            answer = fa.solve(instance, item)
        except fa.NotApplicable:
            return "refused"
        assert answer.has_point
        assert answer.x[a] <= limit * (1 + RESIDUAL)
        assert kind != "objective" or answer.x[a] >= right.x[a] * (1 - RESIDUAL)
        words.add(said(item.settled(instance), answer))
    (word,) = words
    return word


def said(item, answer):
    if answer.not_judged:
        return "not judged"
    assert answer.residual <= RESIDUAL
    if "one program without its later rounds" in answer.message:
        return "one program"
    return "all rounds" if item.takes_rounds else "yes"


def test_the_table_has_all_mechanisms():
    assert set(table()) == set(MECHANISMS) - ALGORITHMS


@pytest.mark.few(15)
@pytest.mark.parametrize(("kind", "layer"), KINDS, ids=lambda value: value)
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - ALGORITHMS))
def test_a_cell_says_what_an_edit_does(name, kind, layer):
    assert outcome(name, kind, layer) == table()[name][kind]


def reserve_in_pyomo(model, instance):
    model.reserve = pyo.Constraint(list(model.slack), rule=lambda m, *row: m.slack[row] >= 0.1)


def reserve_in_cvxpy(problem, instance):
    return cp.Problem(problem.objective, [*problem.constraints, problem.var_dict["slack"] >= 0.1])


@pytest.mark.parametrize("edit", [{"cvxpy": reserve_in_cvxpy}, {"pyomo": reserve_in_pyomo}], ids=["cvxpy", "pyomo"])
def test_a_reserve_in_the_game_is_a_bound_on_its_slack(edit):
    """Its rows "capacity" are load + slack = 1."""
    right = fa.solve(SERVERS, "alpha-pf-vds")
    found = fa.solve(SERVERS, fa.mechanism("alpha-pf-vds").edited("reserve", **edit))
    assert found.tasks == pytest.approx(0.9 * right.tasks, rel=RESIDUAL)
