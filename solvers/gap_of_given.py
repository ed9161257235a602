"""How far a given allocation is from any mechanism's answer, also from one without a residual of its own.

1. A mechanism with a residual is asked (judge.py).
2. Otherwise, where the allocation has prices and its model has no other constraint than the capacities, the optimality conditions
   at these prices say it, and nothing is solved.
3. Else the mechanism is solved once, and where its answer is proved the allocation is compared with it in what is unique: the
   shares of an edited lexicographic rule, those of whole tasks in rising order, the objective of one program, the tasks too where
   floors leave them unique. The answer is kept, by the content of the model: the next allocation is compared without solving.
4. A model that is not proved to be convex has no answer to compare with; its constraints tell whether it allows the tasks.
5. The objective of the given tasks is computed from the model; only a model with variables besides the tasks is solved for these.
"""

import hashlib
import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.conic import TINY, Bound
from fairalloc.formulations.common.convexity import doubt, read_off, unsolvable, with_values
from fairalloc.formulations.common.kkt_residual import (
    active,
    gap_of_cvxpy,
    gap_of_pyomo,
    has_integers,
    optimality_of_cvxpy,
    value_of_pyomo,
    violation_of_cvxpy,
    violation_of_pyomo,
)
from fairalloc.formulations.common.modelling import cp, layer_to_read
from fairalloc.formulations.common.tasks import variables_of
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.floors import WithFloors
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.utilitarian import Utilitarian, idle
from fairalloc.formulations.whole_rounds import WholeRounds
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import callers
from fairalloc.models.instance import Instance
from fairalloc.models.instance_data import Arcs
from fairalloc.models.numbers import Floats, told_apart, worst
from fairalloc.solvers.backends.cvxpy import solved
from fairalloc.solvers.backends.pyomo import highs, ipopt
from fairalloc.solvers.exact.exact import without_floors
from fairalloc.solvers.judge import UserError, proved, user_error
from fairalloc.solvers.method import Limits, Stopped
from fairalloc.solvers.options import ACCURACY, solver_options
from fairalloc.solvers.solve import solve

GIVEN = 1e-9
"""How far tasks may be from the given ones, relative to those of the user, when the model is solved for its other variables."""

KEPT = 32
"""How many answers are kept."""


def distance(
    mechanism: Mechanism,
    allocation: Allocation,
    limits: Limits | None = None,
    reference: bool | None = None,
    most: tuple[float, float] = (np.inf, np.inf),
) -> tuple[float | None, str]:
    """The distance, dimensionless and 0 at the mechanism's answer, and how it is known.

    It is inf where the model does not allow the tasks, None where it cannot be told. `most` are a residual and the relative error
    of a user's tasks: what is within the first must be within the second too, where the right tasks are unique.
    """
    if mechanism.has_residual:
        with callers(f"the residual of {mechanism.id!r}"):
            known = proved(mechanism, allocation, limits, reference)
        if known.not_judged or known.not_decided:
            return None, known.not_judged or known.not_decided
        if known.residual == np.inf and allocation.has_point and isinstance(mechanism, Utilitarian):
            return None, "not decided: no prices were found that prove a bound"
        user = UserError(None)
        if known.residual <= most[0]:
            user = user_error(mechanism, known.proof or allocation, most[1], limits or Limits())
        if user.error is None or user.error <= most[1]:
            return known.residual, "the residual of its definition, from the instance alone"
        if user.sentence:
            return user.error, user.sentence
        return None, f"not decided: the residual is {known.residual:.3g}, but the tasks of each user are not bounded by it"
    if not allocation.has_point:
        return np.inf, "there is no point"
    item = mechanism.settled(allocation.instance)
    try:
        if layer_to_read(item.layers) == "cvxpy":
            return _in_cvxpy(item, allocation, limits or Limits(), most)
        return _in_pyomo(item, allocation, limits or Limits())
    except (_Unanswered, Stopped) as reason:
        return getattr(reason, "far", None), str(reason) or "not decided: the time was not enough"


class _Unanswered(Exception):  # noqa: N818 (a signal, not an error)
    """Why nothing is compared; `far` is inf where the model does not allow the tasks."""

    def __init__(self, words: str, far: float | None = None) -> None:
        super().__init__(words)
        self.far = far


def _in_cvxpy(item: Mechanism, allocation: Allocation, limits: Limits, most: tuple[float, float]) -> tuple[float | None, str]:
    domain = item.domain(allocation.instance)
    problem = _solvable(item, item.write_cvxpy(domain), domain)
    if shares := _unique_shares(item, domain):
        _put(item, problem, allocation)
        return _by_shares(item, _content_of_cvxpy(item, problem), allocation, limits, shares)
    unsure = doubt(problem)
    own = None if unsure else _by_own_prices(problem, allocation)
    if own is not None and own <= ACCURACY["mid"]:
        return own, "the optimality conditions of its model at the allocation's own prices"
    _put(item, problem, allocation, unsure)
    problem = with_values(problem)
    values = {v: v.value for v in problem.variables()}  # an edited model is one object, in which solving leaves its own
    answer = _answer(_content_of_cvxpy(item, problem), item, allocation.instance, limits)
    if item.values(answer):  # which need not be the model's objective
        right: Any = item.write_cvxpy(domain)
        _put(item, right, answer, far=None)
        best = right.objective.value
    else:
        best = answer.values["objective"]
    for v, value in values.items():
        v.save_value(value)
    least = -best if type(problem.objective).__name__ == "Maximize" else best
    wasted = idle(allocation) if isinstance(without_floors(item), Utilitarian) else 0.0  # as without floors
    gap = worst([gap_of_cvxpy(problem, Bound(least, 0.0, 0.0)), wasted])
    if item.unique and answer.user_error is not None and gap <= most[0]:
        return _by_tasks(allocation, answer, answer.user_error, most[1]) or (gap, COMPARED)
    return gap, COMPARED


def _by_tasks(allocation: Allocation, answer: Allocation, error: float, most: float) -> tuple[float | None, str] | None:
    """Whose tasks are further than `most` from unique ones, which the answer has up to an error; None where nobody's are."""
    far = np.abs(allocation.tasks / answer.tasks - 1.0)
    n = int(np.argmax(far))
    if far[n] - error > most:
        user, (own, right) = allocation.instance.users[n], told_apart(allocation.tasks[n], answer.tasks[n])
        return float(far[n]), f"user {user!r} runs {own} tasks, but {right} are right"
    return None if far[n] + error <= most else (None, "not decided: the right tasks of each user are not known well enough")


def _unique_shares(item: Mechanism, domain: Instance) -> Callable[[Allocation], Floats] | None:
    """Gives the shares of an edited rule, or of whole tasks in rising order, which are unique; None for other mechanisms."""
    if isinstance(item, WholeRounds):  # of mmf and drfh-lp the least share is unique
        rate, asked = item.rate(domain), domain.N if item.base.several_rounds else 1
        return lambda one: np.sort(rate * domain.arcs.totals(one.x))[:asked]
    return (lambda one: domain.arcs.totals(one.x)) if item.takes_rounds and isinstance(item, Edited) else None


def _by_shares(
    item: Mechanism, content: bytes, allocation: Allocation, limits: Limits, shares: Callable[[Allocation], Floats]
) -> tuple[float | None, str]:
    """Where shares (n,) are unique, and the first round, which has this content, allows the tasks."""
    own, right = shares(allocation), shares(_answer(content, item, allocation.instance, limits))
    size = np.maximum(np.abs(right), GIVEN * np.abs(right).max(initial=0.0))
    return float((np.abs(own - right) / (size + TINY)).max()), SHARES


def _put(item: Mechanism, model: Any, allocation: Allocation, unsure: str = "", far: float | None = np.inf) -> None:
    """Put the tasks into a model, and the best values of its other variables.

    The level g of a rule that keeps its rounds, or has floors alone, is the least share of the tasks. _Unanswered where the model
    does not allow the tasks, at the distance `far`, or it is `unsure` whether it is convex.
    """
    domain, cvxpy = item.domain(allocation.instance), hasattr(model, "is_dcp")
    unsure = unsure and f"not judged: {item.id!r} has no residual, and {unsure}"
    x = [model.var_dict["x"]] if cvxpy else variables_of(model, domain)
    tasks, known = {id(v) for v in x}, model.variables() if cvxpy else active(model, "Var")
    others = [v for v in known if id(v) not in tasks and (cvxpy or not v.fixed)]
    if unsure and others:
        raise _Unanswered(unsure)
    base = item.base if isinstance(item, Edited) and (item.takes_rounds or isinstance(item, WithFloors)) else None
    if isinstance(base, Leximin) and [v.name() if cvxpy else v.name for v in others] == ["g"]:
        level, g = base.values(replace(allocation, instance=domain))["g"], others.pop()
        g.save_value(np.array(level)) if cvxpy else g.set_value(level)
    ended = (_ended_in_cvxpy if cvxpy else _ended_in_pyomo)(model, domain.arcs, x, allocation.x, bool(others))
    if ended == "infeasible":
        raise _Unanswered(f"the model of {item.id!r} does not allow these tasks", far)
    if ended not in SOLVED:
        raise _Unanswered(f"not judged: its solver cannot tell whether the model of {item.id!r} allows these tasks")
    if unsure:
        raise _Unanswered(unsure)


def _ended_in_cvxpy(problem: Any, arcs: Arcs, x: list[Any], values: Floats, others: bool) -> str:
    """How it ends to put values (A,) into x, with a search for `others`: "infeasible" where constraints are violated."""
    x[0].save_value(values)
    if others:
        near = cp.abs(x[0] - values) <= GIVEN * arcs.totals(np.abs(values))[arcs.user]
        trial = cp.Problem(problem.objective, [*problem.constraints, near])
        simplex = trial.is_lp() or has_integers(trial)  # which is right also where tasks differ by orders of magnitude
        solver = "HIGHS" if simplex else "CLARABEL"
        if (ended := solved(trial, solver=solver, **solver_options(solver, "high"))) not in SOLVED:
            return ended
    return "optimal" if violation_of_cvxpy(problem) <= ACCURACY["mid"] else "infeasible"


def _by_own_prices(problem: Any, allocation: Allocation) -> float | None:
    """The residual of the optimality conditions at the allocation's prices, None where the model has duals besides these."""
    labels = [c.label for c in problem.constraints]
    if allocation.prices is None or labels != ["capacity"] or {v.name() for v in problem.variables()} != {"x"}:
        return None
    problem.var_dict["x"].save_value(allocation.x)
    capacity = problem.constraints[0]
    if np.size(allocation.prices) != capacity.size:
        return None
    capacity.save_dual_value(allocation.prices.ravel())
    return optimality_of_cvxpy(problem)


def _in_pyomo(item: Mechanism, allocation: Allocation, limits: Limits) -> tuple[float | None, str]:
    domain = item.domain(allocation.instance)
    model = _solvable(item, item.write_pyomo(domain), domain)
    content = _content_of_pyomo(item, model)  # before values change, which are written too
    _put(item, model, allocation, doubt(model))
    if shares := _unique_shares(item, domain):
        return _by_shares(item, content, allocation, limits, shares)
    answer = _answer(content, item, allocation.instance, limits)
    best = answer.values.get("objective", np.nan)
    if item.values(answer):  # which need not be the model's objective
        _put(item, model, answer, far=None)
        best = value_of_pyomo(active(model, "Objective")[0])
        _put(item, model, allocation)
    return gap_of_pyomo(model, best), COMPARED


def _ended_in_pyomo(model: Any, _: Arcs, x: list[Any], values: Floats, others: bool) -> str:
    """As `_ended_in_cvxpy`."""
    from pyomo.util.subsystems import TemporarySubsystemManager

    for variable, value in zip(x, values.tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
    if others:
        with TemporarySubsystemManager(to_fix=x):
            ended = highs(model) if read_off(model)["linear"] else ipopt(model, "high")
        if ended not in SOLVED:
            return ended
    return "optimal" if violation_of_pyomo(model) <= ACCURACY["mid"] else "infeasible"


def _solvable(item: Mechanism, model: Any, domain: Instance) -> Any:
    """The model; _Unanswered where no solver can be right about it, or it has no tasks."""
    if why := unsolvable(model):
        raise _Unanswered(f"not judged: the model of {item.id!r} cannot be solved: {why}")
    shape = np.shape(model.var_dict.get("x")) if hasattr(model, "is_dcp") else (len(getattr(model, "x", ())),)
    if shape != (domain.A,):
        raise _Unanswered(f"not judged: the model of {item.id!r} has no variable 'x' with one number for each arc")
    return model


SOLVED = "optimal", "inaccurate"
"""How a solver ends that has found a point."""

COMPARED = "objective compared with that of an optimal answer, for which the model was solved once"

SHARES = "shares compared with those of an optimal answer, for which the model was solved once"

_KEPT: dict[bytes, Allocation] = {}


def _answer(content: bytes, item: Mechanism, instance: Instance, limits: Limits) -> Allocation:
    """The answer of the model, which must be proved and is kept."""
    answer = _KEPT[content] if content in _KEPT else solve(instance, item, time_limit=limits.left)
    if answer.not_judged or not answer.residual <= ACCURACY["mid"]:
        why = answer.not_judged or answer.message
        raise _Unanswered(f"not judged: no answer of {item.id!r} is known to be optimal ({why})")
    _KEPT[content] = answer
    for oldest in [*_KEPT][: len(_KEPT) - KEPT]:
        _KEPT.pop(oldest, None)
    return answer


def _content_of_cvxpy(item: Mechanism, problem: Any) -> bytes:
    """A hash of the canonical program (of the first round), with the values of parameters."""
    solver = "HIGHS" if has_integers(problem) else "CLARABEL"
    data, _, inverse = problem.get_problem_data(solver, solver_opts={})
    constant = inverse[-1]["offset"]  # of the objective
    result = hashlib.sha256(f"{item.id} {item.takes_rounds} {type(problem.objective).__name__} {constant}".encode())
    for name in sorted(data.keys() - {"param_prob"}):
        value = data[name]
        parts = (value.data, value.indices, value.indptr) if sp.issparse(value) else (value,)
        for part in parts:
            result.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return result.digest()


def _content_of_pyomo(item: Mechanism, model: Any) -> bytes:
    from pyomo.common.errors import InfeasibleConstraintException
    from pyomo.repn.plugins.nl_writer import NLWriter

    text = io.StringIO()
    with suppress(InfeasibleConstraintException):  # of a model that allows no tasks the content does not matter
        NLWriter().write(model, text, symbolic_solver_labels=False, linear_presolve=False, scale_model=False)
    return hashlib.sha256(f"{item.id} {item.takes_rounds} {text.getvalue()}".encode()).digest()
