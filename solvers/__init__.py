"""Back ends and algorithms behind one interface; a file of these folders that defines `methods` is found."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.solvers, not as solvers: it is mapped into fairalloc")

import time
from dataclasses import replace
from importlib import import_module
from numbers import Real
from pkgutil import walk_packages
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.solvers.method import ACCURACY, Answer, Limits, Method

__all__ = ["ACCURACY", "METHODS", "Method", "judged", "methods_for", "solve"]


def _discover() -> dict[str, Method]:
    found: dict[str, Method] = {}
    for module in walk_packages(__path__, f"{__name__}."):
        for item in getattr(import_module(module.name), "methods", ()):
            _add(found, item)
    return dict(sorted(found.items()))


def _add(found: dict[str, Method], item: Method) -> None:
    if item.id in found:
        raise ValueError(f"two methods are named {item.id!r}, but names must be distinct")
    found[item.id] = item


METHODS: dict[str, Method] = _discover()
"""All methods by id, available or not."""

FASTEST = (
    "continuation",
    "progressive-filling",
    "highs:leximin",
    "highs",
    "interior-point",
    "njc-market",
    "njc-milp",
    "cvxpy:clarabel",
    "pyomo:ipopt",
    "cvxpy:highs",
)
"""The order in which `method=None` tries them: measured by the suite `first`; the others follow by name."""


def methods_for(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> list[Method]:
    """The methods that compute a mechanism (on this instance), fastest first."""
    order = [*FASTEST, *(key for key in METHODS if key not in FASTEST)]
    fit = [METHODS[key] for key in order if METHODS[key].computes(mechanism)]
    fit = fit if instance is None else [method for method in fit if not method.applies(mechanism, instance)]
    return [method for method in fit if method.is_available() or not available]


def solve(
    instance: Instance,
    mechanism: str,
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
    mechanism : id or alias, see `fairalloc list`
    method : id; None takes the fastest available one whose residual meets the accuracy, else the best found
    accuracy : "low", "mid" or "high", the residual promised (ACCURACY); each solver's own options follow from it
    time_limit : seconds for the whole call, obeyed inside the solver and between phases; None = no limit
    trace : whether an algorithm of this package keeps its events or iterations in `Allocation.trace`
    parameters : of the mechanism, such as alpha for "fds"

    Returns
    -------
    Allocation with `residuals` {"feasibility", "definition"} computed from the instance alone

    Raises
    ------
    InstanceError : unknown names, a method that is missing or does not compute the mechanism here, or an undefined mechanism

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> solve(wang, "drfh").tasks
    array([10., 10.])
    """
    item = find_mechanism(mechanism).configure(**parameters)
    _check(accuracy, time_limit)
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    limits = Limits(accuracy, deadline, trace)
    chosen = [_chosen(item, method, instance)] if method else methods_for(item, instance)
    best: Allocation | None = None
    for candidate in chosen:
        allocation = _computed(item, candidate, instance, limits)
        if best is None or allocation.residual < best.residual:
            best = allocation
        if best.residual <= ACCURACY[accuracy] or time.perf_counter() > deadline:
            break
    if best is None:
        raise InstanceError(item.unwritten(instance) or f"no method that is installed computes {item.id!r} on this instance")
    return best


def judged(mechanism: Mechanism, allocation: Allocation) -> Allocation:
    """The allocation with its values and residuals, computed from the instance alone."""
    residuals = {"feasibility": infeasibility(allocation), "definition": mechanism.residual(allocation)}
    return replace(allocation, values=mechanism.values(allocation), residuals=residuals)


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
    return judged(mechanism, allocation)


def _chosen(mechanism: Mechanism, name: str, instance: Instance) -> Method:
    if name not in METHODS:
        raise InstanceError(f"there is no method {name!r}: the methods are {', '.join(METHODS)}")
    method = METHODS[name]
    if not method.computes(mechanism):
        fit = ", ".join(m.id for m in methods_for(mechanism, available=False))
        raise InstanceError(f"method {name!r} does not compute {mechanism.id!r}: the methods that do are {fit}")
    if reason := method.missing() or method.applies(mechanism, instance):
        raise InstanceError(reason)
    return method


def _check(accuracy: str, time_limit: float | None) -> None:
    if accuracy not in ACCURACY:
        raise InstanceError(f"accuracy is {accuracy!r}, but it must be one of {', '.join(ACCURACY)}")
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise InstanceError(f"time_limit is {time_limit!r} seconds, but it must be positive")
