"""Whether a class of one's own writes the model that its share means: rounds, fast methods and residuals know the share alone.

Models are affine in tasks x >= 0 and g alone, so each row is compared at three points: the origin, tasks drawn at random, and
g = 1. A row may be scaled.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fairalloc.formulations.common.kkt_residual import active
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import variables_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

MOST_ARCS = 2_000
"""Of instances on which models are compared: beyond, to write one in Pyomo takes longer than a solve."""

DIGITS = 1e-9
"""Rows whose largest entry is 1 are the same up to this."""

Rows = dict[str, Floats]


def differences(layer: str, own: Any, rule: Any, instance: Instance) -> list[str]:
    """The names of the parts in which the model `own` differs from `rule`; `layer` is "cvxpy" or "pyomo"."""
    for name, size in (("x", instance.A), ("g", 1)):
        variable = own.var_dict.get(name) if layer == "cvxpy" else own.component(name)
        if variable is None or (variable.size if layer == "cvxpy" else len(variable)) != size:
            return [name]
    x = np.random.default_rng(0).uniform(1.0, 2.0, instance.A)
    mine, theirs = _rows(layer, own, instance, x), _rows(layer, rule, instance, x)
    common = {part for part in mine.keys() & theirs.keys() if mine[part].shape == theirs[part].shape}
    same = {part for part in common if np.allclose(_scaled(mine[part]), _scaled(theirs[part]), rtol=0.0, atol=DIGITS)}
    return [*_strange(layer, own), *(part for part in [*theirs, *mine] if part not in same)]


def _strange(layer: str, model: Any) -> list[str]:
    """The variables besides tasks and g, and these where they are bounded, fixed or whole, or tasks may be negative."""
    if layer == "cvxpy":
        facts = {
            v.name(): {k for k, told in v.attributes.items() if told is not None and told is not False} for v in model.variables()
        }
        allowed = {"x": ({"nonneg"}, {"pos"}), "g": (set(), {"nonneg"}, {"pos"})}
        return [name for name, known in facts.items() if known not in allowed.get(name, ())]
    least = {"x": (0,), "g": (0, None)}
    found = [(v.parent_component().name, v) for v in model.component_data_objects(pyo.Var)]
    return [name for name, v in found if v.fixed or v.ub is not None or not v.is_continuous() or v.lb not in least.get(name, ())]


def _rows(layer: str, model: Any, instance: Instance, x: Floats) -> Rows:
    """{part: (rows, 3)} the rows of a model at the three points."""
    read: Callable[[Any, Floats, float], Rows] = _of_cvxpy if layer == "cvxpy" else partial(_of_pyomo, instance)
    columns = [read(model, *point) for point in ((0.0 * x, 0.0), (x, 0.0), (0.0 * x, 1.0))]
    return {part: np.stack([column[part] for column in columns], axis=1) for part in columns[0]}


def _scaled(rows: Floats) -> Floats:
    largest = np.abs(rows).max(axis=1, keepdims=True)
    result: Floats = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    return result


def _of_cvxpy(problem: "cp.Problem", tasks: Floats, level: float) -> Rows:
    """{part: (rows,)} what each row is there, where at most 0 is feasible; the objective is a row."""
    for variable in problem.variables():
        at = {"x": tasks, "g": np.array([level])}.get(variable.name(), np.zeros(variable.size))
        variable.save_value(at.reshape(variable.shape, order="F"))  # also beyond its bounds
    parts = {"objective": problem.objective.expr * (1.0 if isinstance(problem.objective, cp.Maximize) else -1.0)}
    for c in problem.constraints:
        kind = "" if isinstance(c, cp.constraints.Inequality) else f" {type(c).__name__}"
        parts[f"{c.label or c.name()}{kind}"] = c.expr if hasattr(c, "expr") else c.args[0]
    return {part: np.atleast_1d(np.asarray(expr.value, float)).ravel() for part, expr in parts.items()}


def _of_pyomo(instance: Instance, model: "pyo.ConcreteModel", tasks: Floats, level: float) -> Rows:
    """As `_of_cvxpy`, with a model of Pyomo."""
    for variable in model.component_data_objects(pyo.Var):
        variable.set_value(0.0, skip_validation=True)
    for variable, value in zip(variables_of(model, instance), tasks, strict=True):
        variable.set_value(value, skip_validation=True)
    model.g.set_value(level, skip_validation=True)
    rows = {"objective": [goal.sense * -pyo.value(goal.expr) for goal in active(model, "Objective")]}
    for c in active(model, "Constraint"):
        sides = [] if c.upper is None else [pyo.value(c.body) - pyo.value(c.upper)]
        sides += [] if c.lower is None else [pyo.value(c.lower) - pyo.value(c.body)]
        rows.setdefault(f"{c.parent_component().name}{' equality' * c.equality}", []).extend(sides)
    return {part: np.array(values) for part, values in rows.items()}
