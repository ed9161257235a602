"""`solve`: from an instance and a mechanism to an allocation.

1. The mechanism with its parameters, and the methods to try: the one that was asked for, or the fastest first.
2. Each writes the mechanism's model on its domain in canonical units, solves it, and its tasks are brought back (`_computed`).
3. The answer is judged by the mechanism's definition (judge.py); the first that meets the accuracy is returned, else the best.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.mechanism import Edited
from fairalloc.models.allocation import Allocation, Times
from fairalloc.models.errors import InstanceError, NotApplicable, NotInstalled
from fairalloc.models.instance import Instance
from fairalloc.solvers.conflict import conflict
from fairalloc.solvers.judge import ModelFacts, judged
from fairalloc.solvers.method import Answer, Limits, Method
from fairalloc.solvers.options import Accuracy, promised
from fairalloc.solvers.own import Own, OwnFunction, failure, own_method
from fairalloc.solvers.registry import METHODS, candidates, find_method, methods_for
from fairalloc.solvers.start import start_on

__all__ = ["solve"]


def solve(
    instance: Instance,
    mechanism: str | Mechanism,
    method: str | Own | None = None,
    accuracy: Accuracy = "mid",
    time_limit: float | None = None,
    trace: bool = False,
    log: bool = False,
    options: Mapping[str, Any] | None = None,
    warm_start: Allocation | None = None,
    **parameters: Any,
) -> Allocation:
    """Compute a mechanism's allocation and judge it by the mechanism's definition.

    Parameters
    ----------
    instance : the problem
    mechanism : id or alias, see `fairalloc list`, or a mechanism of your own
    method : id, or a method of your own: a `Method` or a function `(instance, mechanism, limits) -> tasks` (solvers/own.py);
        None takes the fastest available one whose residual meets the accuracy, else the best found
    accuracy : "low", "mid" or "high" (ACCURACY), or a number: the residual promised; each solver's own options follow from it
    time_limit : seconds for the whole call, obeyed inside the solver and between phases; None = no limit
    trace : whether an algorithm of this package keeps its events or iterations in `Allocation.trace`
    log : whether what the solver prints, or the algorithm's trace as text, is kept in `Allocation.log`, line by line
    options : of the method, which must be named: those of an algorithm of this package (`fa.options`), and those of the solver
        behind a method in the solver's own names, on top of what the accuracy means
    warm_start : an allocation to start from, on an instance with the same arcs; a method that cannot says so in `message`
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
    limits = Limits(accuracy, deadline, trace, log)
    if options and method is None:
        named = ", ".join(map(str, options))
        raise NotApplicable(f"options {named} were given, but options are of one method, which must be named")
    chosen = [_chosen(item, method, instance, options or {})] if method is not None else candidates(item, instance)
    best: Allocation | None = None
    for candidate in chosen:
        allocation = _computed(item, candidate, instance, limits, warm_start)
        if best is None or _rank(allocation) < _rank(best):
            best = allocation
        done = best.claims_success if best.not_judged else best.residual <= limits.promised
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


def _computed(
    mechanism: Mechanism, method: Method, instance: Instance, limits: Limits, warm_start: Allocation | None
) -> Allocation:
    domain, home = mechanism.domain(instance), mechanism.home(instance)
    scaled, unit = mechanism.canonical(domain) if method.canonical else (domain, np.ones(domain.N))
    limits = replace(limits, options=method.options, solver_options=method.solver_options)
    if warm_start is not None:
        x, prices = start_on(domain, unit, warm_start)
        limits = replace(limits, start=x, start_prices=prices) if method.starts(mechanism) else limits
    answer = _answer(mechanism, method, scaled, limits)
    used = warm_start is None or method.starts(mechanism)
    unused = "" if used else f"warm_start is not used: {method.id} takes no start for {mechanism.id}"
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
        log=answer.log,
        x_exact=answer.x_exact,
    )
    asked = None if isinstance(method, OwnFunction) and answer.prices is None else limits.accuracy
    result = judged(mechanism, allocation, asked, ModelFacts(answer.optimality, answer.objective))
    return replace(result, message="; ".join(filter(None, (result.message, unused)))) if unused else result


def _answer(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> Answer:
    """What the method answers; one that is not of this package has the clock around it, and what it raises ends it alone."""
    if METHODS.get(method.id) is method or type(method).__module__.startswith("fairalloc."):
        return method.run(mechanism, instance, limits)
    start = time.perf_counter()
    try:
        answer = method.run(mechanism, instance, limits)
    except Exception as error:
        spent, nowhere = Times(solve=time.perf_counter() - start), np.full(len(instance.arcs), np.nan)
        return Answer(nowhere, None, "error", spent, message=failure(method.id, error))
    spent = Times(solve=time.perf_counter() - start)
    x = np.asarray(answer.x, dtype=float) if isinstance(answer, Answer) else np.empty(0)
    if x.shape != (len(instance.arcs),):
        nowhere = np.full(len(instance.arcs), np.nan)
        said = f"{method.id} returned no Answer with tasks on the {len(instance.arcs)} arcs of the instance"
        return Answer(nowhere, None, "error", spent, message=said)
    return replace(answer, x=x, times=spent)


def _chosen(mechanism: Mechanism, asked: str | Own, instance: Instance, options: Mapping[str, Any]) -> Method:
    method = find_method(asked) if isinstance(asked, str) else own_method(asked)
    if not method.computes(mechanism):
        fit = ", ".join(m.id for m in methods_for(mechanism, available=False))
        raise NotApplicable(f"method {method.id!r} does not compute {mechanism.id!r}: the methods that do are {fit}")
    method = method.configure(options) if options else method
    if reason := method.missing():
        raise NotInstalled(reason)
    if reason := method.applies(mechanism, instance):
        raise NotApplicable(reason)
    return method


def _check(accuracy: Accuracy, time_limit: float | None) -> None:
    promised(accuracy)
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise InstanceError(f"time_limit is {time_limit!r} seconds, but it must be positive")
