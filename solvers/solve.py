"""`solve`: from an instance and a mechanism to an allocation.

1. The mechanism with its parameters, and the methods to try: the one that was asked for, or the fastest first.
2. Each writes the mechanism's model on its domain in canonical units, solves it, and its tasks are brought back (`_computed`).
3. The answer is judged by the mechanism's definition (judge.py); the first that meets the accuracy is returned, else the best.
"""

import time
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.mechanism import Edited
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, NotApplicable, NotInstalled, UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.solvers.conflict import conflict
from fairalloc.solvers.judge import ModelFacts, judged
from fairalloc.solvers.method import Answer, Limits, Method
from fairalloc.solvers.options import ACCURACY
from fairalloc.solvers.registry import METHODS, candidates, methods_for

__all__ = ["solve"]


def solve(
    instance: Instance,
    mechanism: str | Mechanism,
    method: str | None = None,
    accuracy: str = "mid",
    time_limit: float | None = None,
    trace: bool = False,
    **parameters: Any,
) -> Allocation:
    """Compute a mechanism's allocation and judge it by the mechanism's definition.

    Parameters
    ----------
    instance : the problem
    mechanism : id or alias, see `fairalloc list`, or a mechanism of your own
    method : id; None takes the fastest available one whose residual meets the accuracy, else the best found
    accuracy : "low", "mid" or "high", the residual promised (ACCURACY); each solver's own options follow from it
    time_limit : seconds for the whole call, obeyed inside the solver and between phases; None = no limit
    trace : whether an algorithm of this package keeps its events or iterations in `Allocation.trace`
    parameters : of the mechanism, such as alpha for "fds"

    Returns
    -------
    Allocation with `residuals` {"feasibility", "definition"} computed from the instance alone; a mechanism without a residual of
    its own is judged by the optimality conditions of its model ({"feasibility", "optimality"}) or says `not_judged`

    Raises
    ------
    UnknownName : there is no such mechanism or method
    NotInstalled : the method needs a package or a solver that is missing
    NotApplicable : the mechanism is not defined here or has no such parameter, or the method does not compute it
    InstanceError : a parameter or a limit is out of range

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> solve(wang, "drfh").tasks
    array([10., 10.])
    """
    item = find_mechanism(mechanism).configure(**parameters).settled(instance)
    _check(accuracy, time_limit)
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    limits = Limits(accuracy, deadline, trace)
    chosen = [_chosen(item, method, instance)] if method else candidates(item, instance)
    best: Allocation | None = None
    for candidate in chosen:
        allocation = _computed(item, candidate, instance, limits)
        if best is None or _rank(allocation) < _rank(best):
            best = allocation
        done = best.claims_success if best.not_judged else best.residual <= ACCURACY[accuracy]
        if done or time.perf_counter() > deadline:
            break
    if best is None:
        raise NotApplicable(item.unwritten(instance) or f"no method that is installed computes {item.id!r} on this instance")
    if best.termination == "infeasible" and isinstance(item, Edited):
        return replace(best, message=conflict(item, item.domain(instance)))
    return best


def _rank(allocation: Allocation) -> tuple[float, bool]:
    """What is better comes first: small residuals, then claims of what is not judged."""
    return allocation.residual, not allocation.claims_success


def _computed(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> Allocation:
    domain, home = mechanism.domain(instance), mechanism.home(instance)
    scaled, unit = mechanism.canonical(domain) if method.canonical else (domain, np.ones(domain.N))
    answer: Answer = method.run(mechanism, scaled, limits)
    allocation = Allocation(
        instance=home,
        x=answer.x * unit[domain.arcs.user],
        mechanism=mechanism.id,
        method=method.id,
        parameters=mechanism.parameters,
        termination=answer.termination,
        prices=answer.prices if (domain.K, domain.R) == (home.K, home.R) else None,
        times=answer.times,
        iterations=answer.iterations,
        trace=answer.trace,
        versions=method.versions(),
        message=answer.message,
        x_exact=answer.x_exact,
    )
    return judged(mechanism, allocation, limits.accuracy, ModelFacts(answer.optimality, answer.objective))


def _chosen(mechanism: Mechanism, name: str, instance: Instance) -> Method:
    if name not in METHODS:
        raise UnknownName(no_such("method", name, METHODS))
    method = METHODS[name]
    if not method.computes(mechanism):
        fit = ", ".join(m.id for m in methods_for(mechanism, available=False))
        raise NotApplicable(f"method {name!r} does not compute {mechanism.id!r}: the methods that do are {fit}")
    if reason := method.missing():
        raise NotInstalled(reason)
    if reason := method.applies(mechanism, instance):
        raise NotApplicable(reason)
    return method


def _check(accuracy: str, time_limit: float | None) -> None:
    if accuracy not in ACCURACY:
        raise UnknownName(f"accuracy is {accuracy!r}, but it must be one of {', '.join(ACCURACY)}")
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise InstanceError(f"time_limit is {time_limit!r} seconds, but it must be positive")
