"""How a case is solved and measured, in a child process of runs/processes.py.

1. the server builds the instance once, before children are forked
2. a child warms the method up on a tiny instance: first calls import packages and set them up
3. the clock of the time limit starts again
4. the child solves the case, and answers what it measured
"""

import contextlib
import importlib
import math
import resource
import time
from collections.abc import Callable
from functools import lru_cache, partial

from fairalloc.benchmarks.suites.suite import SuiteCase, find_suite
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.jsonio import fingerprint
from fairalloc.runs.objects import unpacked
from fairalloc.runs.processes import Document

__all__ = ["answer", "prepare"]


def prepare(request: Document) -> None:
    """Build the instance of a request's case."""
    _instance(request["suite"], request["case"])


def answer(request: Document, restart: Callable[[], object]) -> Document:
    """Solve a case with "method", or describe it where the request names none."""
    instance = _instance(request["suite"], request["case"])
    return _solved(request, instance, restart) if "method" in request else _described(request, instance)


@lru_cache(maxsize=256)
def _instance(suite: str, case: str) -> Instance:
    return _case(suite, case).build()


def _case(suite: str, case: str) -> SuiteCase:
    return find_suite(unpacked(suite)).case(case)


def _described(request: Document, instance: Instance) -> Document:
    """The fingerprint of the case's instance, and which of the methods compute its mechanism there."""
    case = _case(request["suite"], request["case"])
    item = mechanism(case.mechanism).configure(**case.parameters).settled(instance)
    methods = importlib.import_module(request["solvers"]).METHODS
    asked = {key: methods[key] if packed is None else unpacked(packed) for key, packed in request["methods"].items()}
    fit = [key for key, method in asked.items() if method.computes(item) and not method.applies(item, instance)]
    return {"fingerprint": fingerprint(instance), "methods": fit}


def _solved(job: Document, instance: Instance, restart: Callable[[], object]) -> Document:
    solve = importlib.import_module(job["solvers"]).solve
    case = _case(job["suite"], job["case"])
    options = {"method": unpacked(job["method"]), "accuracy": job["accuracy"], "time_limit": job["time_limit"], **case.parameters}
    asked = partial(solve, mechanism=case.mechanism, **options)
    _warm_up(asked)
    restart()
    return _measure(asked, instance)


def _warm_up(asked: Callable[[Instance], Allocation]) -> None:
    """Solve a tiny instance; an error here is ignored, because the case itself will show it too."""
    tiny = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], name="warm-up")
    with contextlib.suppress(Exception):
        asked(tiny)


def _measure(asked: Callable[[Instance], Allocation], instance: Instance) -> Document:
    start = time.perf_counter()
    allocation = asked(instance)
    wall = time.perf_counter() - start
    times = allocation.times
    return {
        "termination": allocation.termination,
        "claims": allocation.claims_success,
        "feasibility": _residual(allocation, "feasibility"),
        "definition": _residual(allocation, "definition", "optimality"),
        "build": times.build,
        "compile": times.compile,
        "solve": times.solve,
        "read": times.read,
        "wall": wall,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "iterations": allocation.iterations,
        "message": allocation.message,
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(allocation.versions.items())),
    }


def _residual(allocation: Allocation, *names: str) -> float:
    """The residual of the first of these names as a number that can be compared; inf where there is none, no point, or NaN."""
    found = [allocation.residuals[name] for name in names if name in allocation.residuals and allocation.has_point]
    value = float(found[0]) if found else math.inf
    return math.inf if math.isnan(value) else value
