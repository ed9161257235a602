r"""What kind of program a model is, and whether it is proved to be convex.

A model of CVXPY is read by CVXPY's own rules, with the values of its parameters. An expression of Pyomo is proved by

1. its polynomial degree, 1 or less;
2. else the rules below, from the leaves up: each part has bounds, and flags for convex, concave, log-convex and log-concave;
3. else, where it is quadratic in part, the eigenvalues of that part, and rules 2 for the rest.

    sum             is what all its terms are, but not log-concave
    c f             is what f is, turned round where c < 0
    f g             is log-convex or log-concave where both are
    f^p             convex for p > 1 and convex f >= 0, for even p and affine f, and for p < 0 and concave f > 0;
                    concave for 0 < p < 1 and concave f >= 0
    exp f           log-convex for convex f, log-concave for concave f
    log f           concave for concave or log-concave f, convex for log-convex f
    |f|, max, min   by their definition

A concave f >= 0 is log-concave, and what is log-convex is convex. The domains of log and of powers that are not whole numbers
count as constraints. Bounds are those of variables; fixed variables and parameters are numbers.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.kkt_residual import active, has_integers, value_of_pyomo
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.models.numbers import Floats

DENSE = 1_000
"""Variables in a quadratic part, as far as they are connected, up to which its eigenvalues are computed."""

MOST = 700.0
"""The exponential of more is taken for infinite."""

UNREADABLE = (ArithmeticError, ValueError, TypeError, NotImplementedError, RecursionError)
"""What Pyomo raises of an expression with the logarithm of 0, a parameter without a value, or an inequality in it."""

HUGE = sys.float_info.max

PARTS = frozenset(("Block", "Var", "Constraint", "Objective", "Expression", "Param", "Suffix", "ExternalFunction")) | frozenset(
    ("Set", "RangeSet", "SetOf", "ContinuousSet", "Port", "BooleanVar", "BuildAction", "BuildCheck")
)
"""Parts of a Pyomo model that solvers take, and those that restrict nothing: HiGHS leaves all others out without a word."""


def doubt(model: Any) -> str:
    """Why a CVXPY problem or a Pyomo model is not known to be a convex program but for integers; "" where that is proved."""
    return _doubt_of_cvxpy(model) if hasattr(model, "is_dcp") else _doubt_of_pyomo(model)


def with_values(problem: "cp.Problem") -> "cp.Problem":
    """The CVXPY problem, or where only the values of its parameters make it follow CVXPY's rules, that with these values."""
    if problem.is_dcp() or not problem.parameters():
        return problem
    try:
        valued: cp.Problem = cp.reductions.EvalParams().apply(problem)[0]
    except cp.error.ParameterError:  # one has no value
        return problem
    return valued if valued.is_dcp() else problem


def _doubt_of_cvxpy(problem: "cp.Problem") -> str:
    problem = with_values(problem)
    if problem.is_dcp():
        return ""
    if not problem.objective.is_dcp():
        curvature = "concave" if type(problem.objective).__name__ == "Maximize" else "convex"
        return f"its objective is not proved to be {curvature} by CVXPY's rules"
    name = next((title(c) for c in problem.constraints if not c.is_dcp()), "one")
    return f"its constraint {name} is not proved to be convex by CVXPY's rules"


def _doubt_of_pyomo(model: "pyo.ConcreteModel") -> str:
    goals = active(model, "Objective")
    if len(goals) != 1:
        return f"it has {len(goals)} objectives"
    concave = not goals[0].is_minimizing()
    if not _proved(goals[0].expr, not concave, concave):
        return f"its objective is not proved to be {'concave' if concave else 'convex'}"
    for row in active(model, "Constraint"):
        given = (side is not None and not math.isinf(value_of_pyomo(side)) for side in (row.upper, row.lower))
        if not _proved(row.body, *given):
            return f"its constraint {row.name} is not proved to be convex"
    return ""


def _proved(expr: Any, convex: bool, concave: bool) -> bool:
    """Whether an expression of Pyomo is proved to be convex, concave, or both, as asked."""
    try:
        shown = pyo.polynomial_degree(expr) in (0, 1) or _shape_of(expr).curves(convex, concave)
        return shown or _proved_in_parts(expr, convex, concave)
    except UNREADABLE:
        return False


def unsolvable(model: Any) -> str:
    """Why no solver can be right about a CVXPY problem or a Pyomo model, or "".

    It has nan, inf, a number without value, two objectives, two variables "x" or "g", or what no solver of Pyomo takes.
    """
    is_cvxpy = hasattr(model, "is_dcp")
    if not is_cvxpy and (count := len(active(model, "Objective"))) > 1:
        return f"it has {count} objectives"
    names = [v.name() for v in model.variables()] if is_cvxpy else []
    for name in ("x", "g"):
        if names.count(name) > 1:
            return f"it has {names.count(name)} variables called {name!r}"
    parts = [] if is_cvxpy else [(part.ctype.__name__, part.name) for part in model.component_objects(active=True)]
    for kind, name in sorted(part for part in parts if part[0] not in PARTS)[-1:]:
        return f"it has the {kind} {name}, which must be transformed, for solvers take equations and inequalities alone"
    return next(filter(None, _faults_in_cvxpy(model) if is_cvxpy else _faults_in_pyomo(model)), "")


def _fault(name: str, part: str, value: Any, most: float = math.inf) -> str:
    """What is wrong with the value of something in a part of a model, or ""; a number above `most` is wrong, too."""
    if value is None:
        return f"the {name} in its {part} has no value"
    numbers = np.abs(value.data if sp.issparse(value) else value)
    wrong = "nan" if np.isnan(numbers).any() else "inf" if np.any(numbers > most) else ""
    return wrong and f"there is {wrong} in its {part}"


def _faults_in_cvxpy(problem: "cp.Problem") -> Iterator[str]:
    """What is wrong with each constant and parameter, or ""."""
    parts = parts_of_cvxpy(problem)
    each = ((name, leaf) for name, part in parts for leaf in [*part.parameters(), *part.constants()])
    return (_fault(f"parameter {leaf.name()}", name, leaf.value, sys.float_info.max) for name, leaf in each)


def parts_of_cvxpy(problem: "cp.Problem") -> list[tuple[str, Any]]:
    """The objective and the constraints of a problem, by names for a sentence."""
    return [("objective", problem.objective), *((f"constraint {title(c)}", c) for c in problem.constraints)]


def title(constraint: Any) -> str:
    """What a constraint of CVXPY is called in sentences: its label, or what it says."""
    return constraint.label or " ".join(str(constraint).split())


def _faults_in_pyomo(model: "pyo.ConcreteModel") -> Iterator[str]:
    """The same, of fixed variables and functions too."""
    sides = ((v, side) for v in active(model, "Var") for side in (v.lower, v.upper))
    left = [(f"bounds of {v.name}", side, math.inf) for v, side in sides if type(side) not in (int, float, type(None))]
    left += [("objective", goal.expr, math.inf) for goal in active(model, "Objective")]
    left += [(f"constraint {row.name}", side, math.inf) for row in active(model, "Constraint") for side in row.expr.args]
    while left:
        part, expr, most = left.pop()
        if type(expr) in pyo.native_numeric_types:
            yield _fault("", part, float(expr), most)
        elif expr.is_expression_type():
            yield "" if (function := _untaken(expr)) is None else f"its {part} has {function}, which solvers do not take"
            left += [(part, one, sys.float_info.max) for one in expr.args]  # inf is no number but the side of a row
        elif expr.is_parameter_type():
            yield _fault(f"parameter {expr.name}", part, expr(exception=False), most)
        elif expr.is_variable_type() and (expr.fixed or expr.value != expr.value):  # Ipopt cannot start at nan
            yield _fault(f"fixed variable {expr.name}", part, expr.value)
            if expr.value not in expr.domain:  # a logarithm of 0 would end in the words of Pyomo
                yield f"the variable {expr.name} is fixed to {expr.value}, but it must be in {expr.domain}"


def _untaken(expr: Any) -> str | None:
    """The name of a function of variables that the Ipopt of CasADi's wheel does not read."""
    name = {"Expr_ifExpression": "Expr_if", "ExternalFunctionExpression": "an ExternalFunction"}.get(type(expr).__name__)
    if type(expr).__name__ == "UnaryFunctionExpression" and expr.getname() in ("asinh", "acosh", "atanh"):
        name = expr.getname()
    return None if name is None or expr.is_fixed() else name


class Shape(NamedTuple):
    """What is known of an expression: its curvature and its bounds. A constant has equal bounds."""

    convex: bool = False
    concave: bool = False
    low: float = -math.inf
    high: float = math.inf
    log_convex: bool = False
    log_concave: bool = False

    def curves(self, convex: bool, concave: bool) -> bool:
        """Whether it is proved to be convex, concave, or both, as asked."""
        return self.convex >= convex and self.concave >= concave

    @property
    def constant(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high and math.isfinite(self.low)


UNKNOWN = Shape()


def _shape(convex: bool, concave: bool, low: float, high: float, log_convex: bool = False, log_concave: bool = False) -> Shape:
    """With what follows from the signs: f is log-concave where it is concave and not negative, convex where it is log-convex."""
    low, high = min(low, HUGE), max(high, -HUGE)
    return Shape(convex or log_convex, concave, low, high, log_convex, log_concave or (concave and low >= 0))


def _number(value: float) -> Shape:
    return _shape(True, True, value, value, value > 0)


def _sum(parts: Iterable[Shape]) -> Shape:
    parts = list(parts)
    low, high = sum(p.low for p in parts), sum(p.high for p in parts)
    return _shape(all(p.convex for p in parts), all(p.concave for p in parts), low, high, all(p.log_convex for p in parts))


def _product(f: Shape, g: Shape) -> Shape:
    if g.constant:
        f, g = g, f
    ends = [a * b if a and b else 0.0 for a in (f.low, f.high) for b in (g.low, g.high)]
    logs = f.log_convex and g.log_convex, f.log_concave and g.log_concave
    if not f.constant:
        return _shape(False, False, min(ends), max(ends), *logs)
    turned = f.low < 0
    convex, concave = (g.concave, g.convex) if turned else (g.convex, g.concave)
    return _shape(convex, concave, min(ends), max(ends), *logs) if f.low else _number(0.0)


def _power(f: Shape, p: float) -> Shape:
    """f^p for a number p."""
    if f.constant or p == 0:
        return _number(f.low**p)
    whole = p == int(p)
    if not whole:  # it is defined for f >= 0 alone
        f = f._replace(low=max(f.low, 0.0), convex=f.convex and (f.low >= 0 or f.concave))
    even = whole and p % 2 == 0
    if f.low < 0 and f.high <= 0:
        return _product(_number(1.0 if even else -1.0), _power(_product(_number(-1.0), f), p))
    if f.low < 0:
        return f if p == 1 else _shape(even and p > 0 and f.curves(True, True), False, 0.0 if even else -math.inf, math.inf)
    with np.errstate(divide="ignore", over="ignore"):
        low, high = sorted(np.float_power(np.abs([f.low, f.high]), p).tolist())
    logs = (f.log_concave, f.log_convex) if p < 0 else (f.log_convex, f.log_concave)
    return _shape(f.concave if p < 0 else p >= 1 and f.convex, 0 < p <= 1 and f.concave, low, high, *logs)


def _exp(f: Shape) -> Shape:
    low, high = (math.exp(side) if side < MOST else math.inf for side in (f.low, f.high))
    return _number(low) if f.constant and low < HUGE else _shape(False, False, low, high, f.convex, f.concave)


def _log(f: Shape) -> Shape:
    low, high = (math.log(side) if side > 0 else -math.inf for side in (f.low, f.high))
    return _shape(f.log_convex, f.concave or f.log_concave, low, high)


def _abs(f: Shape) -> Shape:
    if f.low >= 0 or f.high <= 0:
        return f if f.low >= 0 else _product(_number(-1.0), f)
    return _shape(f.curves(True, True), False, 0.0, max(-f.low, f.high))


FUNCTIONS = {
    "log": _log,
    "log10": lambda f: _product(_number(1 / math.log(10)), _log(f)),
    "exp": _exp,
    "sqrt": lambda f: _power(f, 0.5),
    "abs": _abs,
}


def _shape_of(expr: Any) -> Shape:
    """Rules 2 on an expression of Pyomo, however deep."""
    from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

    first, below = _leaf, lambda _, child, __: _leaf(child)
    result: Shape = StreamBasedExpressionVisitor(initializeWalker=first, beforeChild=below, exitNode=_node).walk_expression(expr)
    return result


def _leaf(part: Any) -> tuple[bool, Any]:
    """Whether to descend into it, else its shape."""
    if not pyo.is_potentially_variable(part) or (part.is_variable_type() and part.fixed):
        return False, _number(float(pyo.value(part)))
    if not part.is_variable_type():
        return True, None
    low, high = part.bounds
    return False, _shape(True, True, -math.inf if low is None else low, math.inf if high is None else high)


def _node(node: Any, parts: list[Shape]) -> Shape:
    """The shape of an expression whose arguments have these shapes."""
    if node.is_named_expression_type():
        return parts[0]
    name = node.getname()
    if name in ("sum", "linear"):
        return _sum(parts)
    if name in ("max", "min"):
        curved = name == "max" and all(p.convex for p in parts), name == "min" and all(p.concave for p in parts)
        which = max if name == "max" else min
        return _shape(*curved, which(p.low for p in parts), which(p.high for p in parts))
    if name == "neg":
        return _product(_number(-1.0), parts[0])
    if name in ("prod", "mon"):
        return _square_or_entropy(node, parts) or _product(*parts)
    if name == "div":
        return _product(parts[0], _power(parts[1], -1.0))
    if name == "pow":
        f, p = parts
        if f.constant and f.low > 0 and not p.constant:
            return _exp(_product(_number(math.log(f.low)), p))
        return _power(f, p.low) if p.constant else UNKNOWN
    known = name in FUNCTIONS and isinstance(node, pyo.numeric_expr.UnaryFunctionExpression)
    return FUNCTIONS[name](parts[0]) if known else UNKNOWN


def _square_or_entropy(node: Any, parts: list[Shape]) -> Shape | None:
    """The shape of f f, and of f log f with an affine f, which is convex and at least -1 / e; None for other products."""
    first, second = node.args
    if first is second:
        return _power(parts[0], 2.0)
    for f, other, shape in ((first, second, parts[0]), (second, first, parts[1])):
        if getattr(other, "name", "") == "log" and other.args[0] is f and shape.curves(True, True):
            return _shape(True, False, -1.0, math.inf)
    return None


def _proved_in_parts(expr: Any, convex: bool, concave: bool) -> bool:
    """Rule 3: the quadratic part by its eigenvalues, and what is left by rules 2."""
    from pyomo.repn import generate_standard_repn

    parts = generate_standard_repn(expr, quadratic=True, compute_values=True)
    if not len(parts.quadratic_vars) or (convex and concave):
        return False
    coefficients = np.array(parts.quadratic_coefs, dtype=float)
    if not _semidefinite(parts.quadratic_vars, coefficients if convex else -coefficients):
        return False
    return parts.nonlinear_expr is None or _shape_of(parts.nonlinear_expr).curves(convex, concave)


def _semidefinite(pairs: list[tuple[Any, Any]], coefficients: Floats) -> bool:
    """Whether sum_k c_k v_k w_k is convex, v_k w_k the pairs; up to rounding in the eigenvalues of its connected parts."""
    place: dict[int, int] = {}
    ends = np.array([[place.setdefault(id(v), len(place)) for v in pair] for pair in pairs])
    both = np.concatenate([ends, ends[:, ::-1]])
    matrix = sp.csr_array((np.tile(coefficients / 2, 2), (both[:, 0], both[:, 1])), shape=(len(place), len(place)))
    _, part = sp.csgraph.connected_components(matrix, directed=False)
    groups = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])
    if max(map(len, groups)) > DENSE:
        return False
    spectra = [np.linalg.eigvalsh(matrix[group][:, group].toarray()) for group in groups]
    return all(values[0] >= -len(values) * np.finfo(float).eps * np.abs(values).max() for values in spectra)


def read_off(model: Any) -> dict[str, bool]:
    """{"linear", "integer", "convex"} of a CVXPY problem or a Pyomo model.

    A piecewise linear concave program counts as linear, for CVXPY writes it as one. A CVXPY problem that only the values of its
    parameters make a concave program is none here, for CVXPY's solvers of concave programs refuse it.
    """
    return _of_cvxpy(model) if hasattr(model, "is_dcp") else _of_pyomo(model)


def _of_cvxpy(problem: "cp.Problem") -> dict[str, bool]:
    convex = bool(problem.is_dcp())
    parts = [problem.objective.expr, *(part for c in problem.constraints for part in c.args)]
    simple = "Equality", "Inequality", "Zero", "NonNeg", "NonPos", "FiniteSet"  # no cones
    linear = convex and all(type(c).__name__ in simple for c in problem.constraints) and all(part.is_pwl() for part in parts)
    return {"linear": linear, "integer": has_integers(problem), "convex": convex}


def _of_pyomo(model: "pyo.ConcreteModel") -> dict[str, bool]:
    from pyomo.core.expr.visitor import identify_variables

    parts = [*(row.body for row in active(model, "Constraint")), *(goal.expr for goal in active(model, "Objective"))]
    linear = all(pyo.polynomial_degree(part) in (0, 1) for part in parts)
    named = (v for part in parts for v in identify_variables(part, include_fixed=False))  # also of blocks that are not active
    integer = any(not v.is_continuous() for v in chain(active(model, "Var"), named))
    return {"linear": linear, "integer": integer, "convex": not doubt(model)}


def rises_with(goal: Any, level: Any) -> bool:
    """Whether an objective of CVXPY or Pyomo is affine in this variable alone, at the values of parameters, and rises with it."""
    slopes = _slopes_in_cvxpy(goal) if hasattr(goal, "is_dcp") else _slopes_in_pyomo(goal)
    return slopes is not None and slopes.pop(id(level), 0.0) > 0 and not any(slopes.values())


def _slopes_in_cvxpy(goal: Any) -> dict[int, float] | None:
    """{id of a variable: derivative} of an objective as a maximum, of an array the largest entry; None where it is not affine."""
    expr = goal.expr
    if not expr.is_affine() or any(p.value is None for p in expr.parameters()):
        return None
    before = [(v, v.value) for v in expr.variables()]
    for v, _ in before:
        v.save_value(np.zeros(v.shape))
    slopes = {id(v): np.ravel(part.toarray() if hasattr(part, "toarray") else part) for v, part in expr.grad.items()}
    for v, value in before:
        v.save_value(value)
    sign = -1.0 if type(goal).__name__ == "Minimize" else 1.0
    return {v: sign * float(part[np.argmax(np.abs(part))]) for v, part in slopes.items()}


def _slopes_in_pyomo(goal: Any) -> dict[int, float] | None:
    """{id of a variable: derivative} of an objective as a maximum; None where it is not affine, or Pyomo cannot read it."""
    from pyomo.repn import generate_standard_repn

    try:
        parts = generate_standard_repn(goal.expr, compute_values=False, quadratic=False)  # Pyomo prints what has no value
    except UNREADABLE:
        return None
    if parts.nonlinear_expr is not None:
        return None
    sign = -1.0 if goal.is_minimizing() else 1.0
    return {id(v): sign * value_of_pyomo(c) for v, c in zip(parts.linear_vars, parts.linear_coefs, strict=True)}
