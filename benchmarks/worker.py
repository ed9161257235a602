"""How a case is described, or solved, measured and judged, in child processes of runs/processes.py.

Described: a child builds the instance, within the limits of a child, and answers its fingerprint and the methods that compute the
mechanism there. Solved:

1. a child builds the instance, once for all methods that come after each other on it
2. another child, which does not have it, warms the method up on a tiny instance: first calls import packages and set them up
3. the clock of the time limit starts again, and the child gets the instance
4. the child solves the case, and answers tasks, prices, what the method says of them, and what it measured, as numbers and texts
5. the server has read its own clocks when the child got the instance and when it answered
6. a third child, in which the method never ran, reads them, judges the tasks by the instance and answers the row

What a method of this package says of its model, and that its tasks are rational, is believed; what another says is not.
"""

import contextlib
import math
import pickle
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np

from fairalloc.benchmarks.references import printed_quantities, unique_quantities
from fairalloc.benchmarks.suites.suite import SuiteCase, find_suite
from fairalloc.formulations import mechanism
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN
from fairalloc.models.arguments import Rule, Whole, check_fields
from fairalloc.models.errors import NotApplicable, require
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.numbers import as_json
from fairalloc.runs.data import array_in, written
from fairalloc.runs.objects import unpacked
from fairalloc.runs.processes import START, Document
from fairalloc.solvers import solve
from fairalloc.solvers.catalogue.method_registry import find_method, method_of
from fairalloc.solvers.judge import ModelFacts, judged
from fairalloc.solvers.method import Answer, Limits, Method, now
from fairalloc.solvers.options import read_accuracy
from fairalloc.solvers.running.cpu_time import processor_seconds

TRACE_POINTS = 200
"""How many points of a trace are kept, evenly spread over its iterations."""

JUDGING = 20.0
"""Seconds that the judge may take at least, which the method's limit does not shorten."""

SPENT = ("wall", "cpu", "build", "compile", "solve", "read", "call", "busy", "peak_mb")
ARRAYS = ("x", "prices", "round_prices")

Finite = Annotated[float, Rule(math.isfinite, "a finite number")]


@dataclass(frozen=True)
class Said:
    """What the child that solved answers, each of its kind, else InstanceError; `spent` are seconds, and megabytes."""

    termination: str = ""
    message: str = ""
    doubt: str = ""
    versions: str = ""
    optimality: Finite | None = None
    objective: Finite | None = None
    iterations: Whole | None = None
    x: str | None = None
    prices: str | None = None
    round_prices: str | None = None
    x_exact: Sequence[str] | None = None
    trace: Sequence[tuple[Finite, Finite]] = ()
    spent: Mapping[str, Finite] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)


def prepare(_: Document) -> None:
    """Nothing: the process that forks the children has no instance."""


def given(hidden: Document) -> bytes:
    """The instance of a case, for the child that solves it; it is made by a child that runs nothing of a method."""
    return pickle.dumps(_case(hidden).build())


def answer(request: Document, restart: Callable[[], bytes]) -> Document:
    """Solve what restart() returns with "method", or describe a case where the request names none."""
    return _solved(request, restart) if "method" in request else _described(request)


def _case(place: Document) -> SuiteCase:
    return find_suite(unpacked(place["suite"])).case(place["case"])


def _described(request: Document) -> Document:
    """The fingerprint of the case's instance, which methods compute its mechanism there, why others do not, or why none can."""
    case = _case(request)
    instance = case.build()
    facts: Document = {"fingerprint": fingerprint(instance), "methods": [], "reasons": {}, "undefined": "", "printed": []}
    try:
        item = mechanism(case.mechanism, **case.parameters).kept(instance).settled(instance)
        item.domain(instance)
    except NotApplicable as error:
        return facts | {"undefined": str(error)}
    for key, packed in request["methods"].items():
        if (method := method_of(unpacked(packed))).computes(item):
            facts["reasons"][key] = method.applies(item, instance)
    fit = [key for key, reason in facts["reasons"].items() if not reason]
    return facts | {"methods": fit, "printed": printed_quantities(case, item, instance)}


def _solved(job: Document, restart: Callable[[], bytes]) -> Document:
    item, parameters = unpacked(job["mechanism"])
    options = {"accuracy": read_accuracy(job["accuracy"]), "time_limit": job["time_limit"], "trace": job["trace"]}
    options |= {"threads": job["threads"], "reference": False} | parameters
    method = method_of(unpacked(job["method"]))
    asked: Callable[..., Allocation] = partial(solve, mechanism=item, method=method, **options)
    tiny = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], name="warm-up")
    with contextlib.suppress(Exception):  # the case itself will show it too
        asked(tiny, time_limit=max(job["time_limit"], START))
    called = [] if method.is_ours else _overheard(method)
    result = _measured(asked, pickle.loads(restart()))
    return result | {"termination": called[-1]} if called and result["termination"] != "error" else result


def _overheard(method: Method) -> list[str]:
    """What a method calls its answers from now on: its claim, which `solve` judges."""
    run, called = method.run, list[str]()

    def overheard(mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        answer = run(mechanism, instance, limits)
        called.extend([answer.termination] if isinstance(answer, Answer) else ())
        return answer

    method.run = overheard  # type: ignore[method-assign]
    return called


def _measured(asked: Callable[[Instance], Allocation], instance: Instance) -> Document:
    start, busy = time.perf_counter(), processor_seconds()
    allocation = asked(instance)
    call, busy = time.perf_counter() - start, processor_seconds() - busy
    if allocation.termination == "error" and MemoryError.__name__ in allocation.message:
        raise MemoryError  # which the server says better
    times = allocation.times
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    seconds = {name: getattr(times, name) for name in SPENT if hasattr(times, name)}
    return {
        "spent": seconds | {"call": call, "busy": busy, "peak_mb": peak},
        **{name: written(getattr(allocation, name)) for name in ARRAYS},
        "x_exact": None if allocation.x_exact is None else list(map(str, allocation.x_exact)),
        **{name: getattr(allocation, name) for name in ("termination", "iterations", "message")},
        "optimality": as_json(allocation.residuals.get("optimality", allocation.residuals.get("stationarity"))),
        "doubt": allocation.not_judged.partition(", and ")[2] if "stationarity" in allocation.residuals else "",
        "objective": as_json(allocation.values.get("objective")),
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(allocation.versions.items())),
        "trace": _trace(allocation.trace),
    }


def _trace(events: tuple[Mapping[str, Any], ...]) -> list[list[float]]:
    """[seconds, value] of the iterations of an algorithm that keeps both."""
    name = next((best for best in ("residual", "merit", "change") if any(best in event for event in events)), "")
    told = [[float(event["seconds"]), float(event[name])] for event in events if "seconds" in event and name in event]
    points = [point for point in told if all(map(math.isfinite, point))]
    keep = np.unique(np.linspace(0, len(points) - 1, min(len(points), TRACE_POINTS)).astype(int))
    return [points[k] for k in keep]


def judge(request: Document, hidden: Document, given: bytes, answer: Any, outside: list[float]) -> Document:
    """The row of an answer: what the instance says of its tasks, beside what the child that solved, which may say anything, says.

    `outside` are wall and processor seconds by the clocks of the server. InstanceError where it is not what such a child answers.
    """
    start = time.process_time()
    require(isinstance(answer, dict), "the answer is", answer, "it must be a document")
    said = Said(**{part.name: answer[part.name] for part in fields(Said) if part.name in answer})
    case, instance = _case(hidden), pickle.loads(given)
    item = mechanism(case.mechanism, **case.parameters).kept(instance).settled(instance)
    ours = isinstance(request["method"], str) and find_method(request["method"]).is_ours
    claim = _claim(item, instance, said, ours)
    facts = ModelFacts(said.optimality, said.objective, said.doubt) if ours else ModelFacts(doubt=said.doubt)
    judged(item, claim, model=facts, reference=False, claimed=True)
    overhead = time.process_time() - start
    limits = Limits(read_accuracy(request["accuracy"]), now() + max(request["time_limit"], JUDGING))
    result = judged(item, claim, limits, facts, claimed=not ours)
    stands = result if ours else claim
    return (
        {name: max(0.0, said.spent.get(name, 0.0)) for name in SPENT}
        | {
            "termination": stands.termination,
            "claims": stands.termination in ("optimal", USER_ERROR_NOT_KNOWN),  # also without a point
            "user_error": None if result.user_error in (None, math.inf) else result.user_error,
            "feasibility": _residual(result, "feasibility"),
            "definition": _residual(result, "definition", "optimality"),
            "message": stands.message or result.not_judged,
            "quantities": unique_quantities(case, instance, result),
            "rational": claim.x_exact is not None,
            "arcs": instance.A,
            "iterations": said.iterations,
            "versions": said.versions,
            "trace": said.trace[:TRACE_POINTS],
            "ours": ours,
            "outside": outside,
            "overhead": overhead,
        }
    )


def _claim(item: Mechanism, instance: Instance, said: Said, ours: bool) -> Allocation:
    """The tasks and prices as an allocation that nobody has judged; prices that are no numbers prove nothing."""
    arrays = {name: array_in(getattr(said, name), name) for name in ARRAYS}
    known: Document = {k: array for k, array in arrays.items() if k == "x" or (array is not None and np.isfinite(array).all())}
    known |= {"termination": said.termination, "message": said.message, "mechanism": item.id, "parameters": item.parameters}
    exact = tuple(map(Fraction, said.x_exact)) if ours and said.x_exact is not None else None
    return Allocation(item.home(instance), x_exact=exact, **known)


def _residual(allocation: Allocation, *names: str) -> float:
    """The residual of the first of these names, not below 0, to be compared; inf where there is none, or no finite point."""
    finite = allocation.has_point and bool(np.isfinite(allocation.x).all())
    found = [allocation.residuals[name] for name in names if name in allocation.residuals and finite]
    value = float(found[0]) if found else math.inf
    return math.inf if math.isnan(value) else max(0.0, value)
