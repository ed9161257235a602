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

from fairalloc.formulations.common.conic import Bound
from fairalloc.formulations.common.convexity import doubt, unsolvable, with_values
from fairalloc.formulations.common.kkt_residual import (
    active,
    gap_of_cvxpy,
    gap_of_pyomo,
    has_integers,
    optimality_of_cvxpy,
    value_of_pyomo,
    violation_of_cvxpy,
)
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
        if "cvxpy" in item.layers:
            return _in_cvxpy(item, allocation, limits or Limits(), most)
        return _in_pyomo(item, allocation, limits or Limits())
    except (_Unanswered, Stopped) as reason:
        return None, str(reason) or "not decided: the time was not enough"


class _Unanswered(Exception):  # noqa: N818 (a signal, not an error)
    """Why there is no answer to compare with."""


def _in_cvxpy(item: Mechanism, allocation: Allocation, limits: Limits, most: tuple[float, float]) -> tuple[float | None, str]:
    domain = item.domain(allocation.instance)
    problem = _solvable(item, item.write_cvxpy(domain), domain)
    if item.takes_rounds and isinstance(item, Edited) and isinstance(item.base, Leximin):
        parts = _content_of_cvxpy(item, problem), _impossible(item, problem, allocation)
        return _by_shares(item, *parts, allocation, limits, lambda one: domain.arcs.totals(one.x))
    if isinstance(item, WholeRounds):  # of mmf and drfh-lp the least share is unique
        rate, asked = item.rate(domain), domain.N if item.base.several_rounds else 1
        parts = _content_of_cvxpy(item, problem), _impossible(item, problem, allocation)
        return _by_shares(item, *parts, allocation, limits, lambda one: np.sort(rate * domain.arcs.totals(one.x))[:asked])
    unsure = doubt(problem)
    own = None if unsure else _by_own_prices(problem, allocation)
    if own is not None and own <= ACCURACY["mid"]:
        return own, "the optimality conditions of its model at the allocation's own prices"
    if unsure and {v.name() for v in problem.variables()} != {"x"}:
        return None, _undecided(item, unsure)
    if words := _impossible(item, problem, allocation):
        return np.inf, words
    if unsure:
        return None, _undecided(item, unsure)
    problem = with_values(problem)
    values = {v: v.value for v in problem.variables()}  # an edited model is one object, in which solving leaves its own
    answer = _answer(_content_of_cvxpy(item, problem), item, allocation.instance, limits)
    if item.values(answer):  # which need not be the model's objective
        right: Any = item.write_cvxpy(domain)
        if words := _impossible(item, right, answer):
            return None, words
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


def _by_shares(
    item: Mechanism, content: bytes, words: str, allocation: Allocation, limits: Limits, shares: Callable[[Allocation], Floats]
) -> tuple[float | None, str]:
    """Where shares (n,) are unique; `words` say why the first round, which has this content, does not allow the tasks, or ""."""
    if words:
        return np.inf, words
    own, right = shares(allocation), shares(_answer(content, item, allocation.instance, limits))
    size = np.maximum(np.abs(right), GIVEN * np.abs(right).max(initial=0.0))
    return float((np.abs(own - right) / (size + TINY)).max()), SHARES


def _impossible(item: Mechanism, problem: Any, allocation: Allocation) -> str:
    """Put the tasks into the problem, and the values of its other variables; why they are not possible, or "".

    The level g of a rule that keeps its rounds, or has floors alone, is the least share of the tasks.
    """
    x = problem.var_dict["x"]
    others = {v.name(): v for v in problem.variables() if v is not x}
    x.save_value(allocation.x)
    base = item.base if isinstance(item, Edited) and (item.takes_rounds or isinstance(item, WithFloors)) else None
    if isinstance(base, Leximin) and set(others) == {"g"}:
        level = base.values(replace(allocation, instance=item.domain(allocation.instance)))["g"]
        others["g"].save_value(np.array(level))
    elif others and (words := _solve_for_others(item, problem, allocation)):
        return words
    return "" if violation_of_cvxpy(problem) <= ACCURACY["mid"] else f"the model of {item.id!r} does not allow these tasks"


def _solve_for_others(item: Mechanism, problem: Any, allocation: Allocation) -> str:
    """The best values of the other variables with these tasks; why there are none, or ""."""
    import cvxpy as cp

    arcs = item.domain(allocation.instance).arcs
    near = cp.abs(problem.var_dict["x"] - allocation.x) <= GIVEN * arcs.totals(np.abs(allocation.x))[arcs.user]
    trial = cp.Problem(problem.objective, [*problem.constraints, near])
    simplex = trial.is_lp() or has_integers(trial)  # which is right also where tasks differ by orders of magnitude
    solver = "HIGHS" if simplex else "CLARABEL"
    ended = solved(trial, solver=solver, **solver_options(solver, "high"))
    if ended not in ("optimal", "inaccurate", "infeasible"):
        raise _Unanswered(f"not judged: its solver cannot tell whether the model of {item.id!r} allows these tasks")
    return f"the model of {item.id!r} does not allow these tasks" if ended == "infeasible" else ""


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
    content, unsure = _content_of_pyomo(item, model), doubt(model)  # before values change, which are written too
    if unsure and _others_in_pyomo(model, domain):
        return None, _undecided(item, unsure)
    words = _impossible_in_pyomo(item, model, allocation)
    if item.takes_rounds and isinstance(item, Edited):
        return _by_shares(item, content, words, allocation, limits, lambda one: domain.arcs.totals(one.x))
    if words:
        return np.inf, words
    if unsure:
        return None, _undecided(item, unsure)
    answer = _answer(content, item, allocation.instance, limits)
    best = answer.values.get("objective", np.nan)
    if item.values(answer):  # which need not be the model's objective
        _impossible_in_pyomo(item, model, answer)
        best = value_of_pyomo(active(model, "Objective")[0])
        _impossible_in_pyomo(item, model, allocation)
    return gap_of_pyomo(model, best), COMPARED


def _others_in_pyomo(model: Any, domain: Instance) -> list[Any]:
    """The variables besides the tasks that are not fixed."""
    tasks = {id(v) for v in variables_of(model, domain)}
    return [v for v in active(model, "Var") if id(v) not in tasks and not v.fixed]


def _impossible_in_pyomo(item: Mechanism, model: Any, allocation: Allocation) -> str:
    """As `_impossible`."""
    domain = item.domain(allocation.instance)
    x, others = variables_of(model, domain), _others_in_pyomo(model, domain)
    for variable, value in zip(x, allocation.x.tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
    if item.takes_rounds and isinstance(item, Edited) and [v.name for v in others] == ["g"]:
        others[0].set_value(item.base.values(replace(allocation, instance=domain))["g"])
    elif others and (words := _solve_for_others_in_pyomo(item, model, x)):
        return words
    away = gap_of_pyomo(model, value_of_pyomo(active(model, "Objective")[0]))
    return "" if away is None or away <= ACCURACY["mid"] else f"the model of {item.id!r} does not allow these tasks"


def _solve_for_others_in_pyomo(item: Mechanism, model: Any, x: list[Any]) -> str:
    """As `_solve_for_others`, with these values of the tasks."""
    free = [v for v in x if not v.fixed]
    for variable in free:
        variable.fix()
    ended = highs(model) if item.linear else ipopt(model, "high")
    for variable in free:
        variable.unfix()
    if ended not in ("optimal", "inaccurate", "infeasible"):
        raise _Unanswered(f"not judged: its solver cannot tell whether the model of {item.id!r} allows these tasks")
    return f"the model of {item.id!r} does not allow these tasks" if ended == "infeasible" else ""


def _solvable(item: Mechanism, model: Any, domain: Instance) -> Any:
    """The model; _Unanswered where no solver can be right about it, or it has no tasks."""
    if why := unsolvable(model):
        raise _Unanswered(f"not judged: the model of {item.id!r} cannot be solved: {why}")
    shape = np.shape(model.var_dict.get("x")) if hasattr(model, "is_dcp") else (len(getattr(model, "x", ())),)
    if shape != (domain.A,):
        raise _Unanswered(f"not judged: the model of {item.id!r} has no variable 'x' with one number for each arc")
    return model


def _undecided(item: Mechanism, unsure: str) -> str:
    return f"not judged: {item.id!r} has no residual, and {unsure}"


COMPARED = "objective compared with that of an optimal answer, for which the model was solved once"

SHARES = "shares compared with those of an optimal answer, for which the model was solved once"

TINY = 1e-300

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
