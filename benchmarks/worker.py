"""How a case is described, or solved and measured, in a child process of runs/processes.py.

Described: the child builds the instance, within the limits of a child, and answers its fingerprint and the methods that compute
the mechanism there. Solved:

1. the server builds the instance, once, before children are forked
2. a child warms the method up on a tiny instance: first calls import packages and set them up
3. the clock of the time limit starts again
4. the child solves the case, and the clock starts once more: the server knows how long that took
5. the child answers what it measured itself
"""

import contextlib
import json
import math
import resource
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from fairalloc.benchmarks.references import printed_quantities, unique_quantities
from fairalloc.benchmarks.suites.suite import SuiteCase, find_suite
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.models.jsonio import fingerprint
from fairalloc.runs.objects import unpacked
from fairalloc.runs.processes import Document
from fairalloc.solvers import solve
from fairalloc.solvers.isolated import be_watched
from fairalloc.solvers.options import read_accuracy
from fairalloc.solvers.processor import processor_seconds
from fairalloc.solvers.registry import method_of

__all__ = ["answer", "prepare"]

TRACE_POINTS = 200
"""How many points of a trace are kept, evenly spread over its iterations."""

MERITS = ("residual", "merit", "change")
"""What a trace measures by, best first."""


def prepare(request: Document) -> None:
    """Build the instance of a case that is to be solved."""
    if "method" in request:
        _instance(request)


def answer(request: Document, restart: Callable[[], object]) -> Document:
    """Solve a case with "method", or describe it where the request names none."""
    be_watched()
    instance = _instance(request)
    return _solved(request, instance, restart) if "method" in request else _described(request, instance)


def _instance(request: Document) -> Instance:
    return _built(json.dumps(request["suite"]), request["case"])


@lru_cache(maxsize=2)
def _built(suite: str, case: str) -> Instance:
    return _case({"suite": json.loads(suite), "case": case}).build()


def _case(request: Document) -> SuiteCase:
    return find_suite(unpacked(request["suite"])).case(request["case"])


def _described(request: Document, instance: Instance) -> Document:
    """The fingerprint of the case's instance, the methods that compute its mechanism there, or why it is not defined there."""
    case = _case(request)
    facts: Document = {"fingerprint": fingerprint(instance), "methods": [], "undefined": "", "printed": []}
    try:
        item = mechanism(case.mechanism).configure(**case.parameters).settled(instance)
        item.domain(instance)
    except NotApplicable as error:
        return facts | {"undefined": str(error)}
    asked = {key: method_of(unpacked(given)) for key, given in request["methods"].items()}
    fit = [key for key, method in asked.items() if method.computes(item) and not method.applies(item, instance)]
    return facts | {"methods": fit, "printed": printed_quantities(case, item, instance)}


def _solved(job: Document, instance: Instance, restart: Callable[[], object]) -> Document:
    case = _case(job)
    options = {"accuracy": read_accuracy(job["accuracy"]), "time_limit": job["time_limit"], "trace": job["trace"]}
    options["threads"] = job["threads"]
    asked = partial(solve, mechanism=case.mechanism, method=method_of(unpacked(job["method"])), **options, **case.parameters)
    _warm_up(asked)
    restart()
    return _measured(case, asked, instance, restart)


def _warm_up(asked: Callable[[Instance], Allocation]) -> None:
    """Solve a tiny instance; an error here is ignored, because the case itself will show it too."""
    tiny = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], name="warm-up")
    with contextlib.suppress(Exception):
        asked(tiny)


def _measured(
    case: SuiteCase, asked: Callable[[Instance], Allocation], instance: Instance, restart: Callable[[], object]
) -> Document:
    start, busy = time.perf_counter(), processor_seconds()
    allocation = asked(instance)
    call, busy = time.perf_counter() - start, processor_seconds() - busy
    restart()
    if allocation.termination == "error" and MemoryError.__name__ in allocation.message:
        raise MemoryError  # which the server says better
    times = allocation.times
    return {
        "termination": allocation.termination,
        "claims": allocation.termination == "optimal",  # also without a point
        "feasibility": _residual(allocation, "feasibility"),
        "definition": _residual(allocation, "definition", "optimality"),
        "wall": times.wall,
        "cpu": times.cpu,
        "build": times.build,
        "compile": times.compile,
        "solve": times.solve,
        "read": times.read,
        "call": call,
        "busy": busy,
        "peak_mb": max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024,
        "iterations": allocation.iterations,
        "message": allocation.message or allocation.not_judged,
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(allocation.versions.items())),
        "trace": _trace(allocation.trace),
        "quantities": unique_quantities(case, instance, allocation),
        "rational": allocation.x_exact is not None,
        "arcs": len(instance.arcs),
    }


def _residual(allocation: Allocation, *names: str) -> float:
    """The residual of the first of these names as a number that can be compared; inf where there is none, or no finite point."""
    finite = allocation.has_point and bool(np.isfinite(allocation.x).all())
    found = [allocation.residuals[name] for name in names if name in allocation.residuals and finite]
    value = float(found[0]) if found else math.inf
    return math.inf if math.isnan(value) else value


def _trace(events: tuple[Mapping[str, Any], ...]) -> list[list[float]]:
    """[seconds, value] of the iterations of an algorithm that keeps both."""
    name = next((merit for merit in MERITS if any(merit in event for event in events)), "")
    points = [[float(event["seconds"]), float(event[name])] for event in events if "seconds" in event and name in event]
    keep = np.unique(np.linspace(0, len(points) - 1, min(len(points), TRACE_POINTS)).astype(int))
    return [points[k] for k in keep]
