"""The methods in turn, each answered and judged within the time of the call.

1. A method writes the mechanism's model on its domain in canonical units, solves it, and its tasks come back (`_answered`).
2. The answer is judged by the mechanism's definition (judge.py); the first that meets the accuracy is returned, else the best.

**Time.** A limit is for the whole call: a method that others can follow gets SHARE of what is left, and writing, compiling,
solving and judging count alike. Where a limit is given, native code runs in a child process that is ended when its time is over
(isolated.py), and so does everything on instances with LARGE entries or more, whose phases are long. Python code stays here on
smaller ones, where what it changes in memory is kept, and an alarm ends it. The call then ends within 1.2 times the limit and a
second, with the best point that arrived.

**Ctrl-C** is a limit too: the best point so far is returned with the termination "interrupted"; KeyboardInterrupt is raised only
where there is none. Native code hears it only when it ends, so in the main thread it runs in a child on large instances without
a limit too.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN, Allocation, Times
from fairalloc.models.errors import FairallocError
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import isolated
from fairalloc.solvers.judge import ModelFacts, judged
from fairalloc.solvers.method import Answer, Limits, Method
from fairalloc.solvers.own import OwnFunction, failure
from fairalloc.solvers.processor import processor_seconds
from fairalloc.solvers.registry import METHODS
from fairalloc.solvers.start import equal_partition, scaled_down, start_on
from fairalloc.solvers.threads import threads_used

__all__ = ["LARGE", "Request", "best_attempt", "ended_by_alarm", "in_child", "is_large", "meets"]

LARGE = 10_000
"""Arcs times resources from which Python code is isolated too: on smaller instances its steps take no second."""

SHARE = 0.5
"""The part of the time left that a method gets where others can follow."""

TIGHT = 1e-4
"""Seconds for each arc and resource: solvers in native code needed about as long for `nb` on 600 users and 100 servers."""


@dataclass(frozen=True)
class Request:
    """What is asked of every method alike.

    Attributes
    ----------
    mechanism : configured and settled
    instance : the problem
    limits : accuracy, deadline and clock of the whole call
    reference : whether an independent reference may judge; None = on at most `Judging.reference_arcs` arcs
    warm_start : an allocation to start from, or None
    merge : whether identical users and servers are solved as one, where the mechanism allows it
    """

    mechanism: Mechanism
    instance: Instance
    limits: Limits
    reference: bool | None = None
    warm_start: Allocation | None = None
    merge: bool = False


def best_attempt(
    request: Request, methods: Iterable[Method], keep: Callable[[Allocation], None] = lambda _: None
) -> Allocation | None:
    """The first allocation that meets the accuracy, else the best when methods or time have come to an end.

    Parameters
    ----------
    request : what is asked
    methods : that compute the mechanism there, fastest first
    keep : gets each allocation that is better than those before

    Returns
    -------
    The allocation, judged; None where there are no methods

    Raises
    ------
    KeyboardInterrupt : Ctrl-C before there was a point
    """
    limits = request.limits
    best: Allocation | None = None
    queue = _Queue(methods, limits.limited)
    if _is_tight(request):
        queue.prefer_anytime()
    for method in queue:
        part = replace(request, limits=limits if queue.is_last else limits.share(SHARE))
        try:
            allocation = _attempt(part, method)
        except KeyboardInterrupt:
            if best is None or not best.has_point:
                raise
            return _interrupted(best)
        if best is None or _rank(allocation, limits.promised) < _rank(best, limits.promised):
            best = allocation
            keep(best)
        if meets(best, limits.promised) or limits.late or allocation.termination == "interrupted":
            break
        if _proves_infeasible(request.mechanism, method, allocation):
            return allocation
        if allocation.termination == "time_limit" and is_large(request.instance):
            queue.prefer_anytime()
        if allocation.termination == "inaccurate" and request.mechanism.linear and not is_large(request.instance):
            queue.postpone_first_order()
    return best


def _is_tight(request: Request) -> bool:
    """Whether a method that has a point only when it has ended will probably leave none."""
    instance, limits = request.instance, request.limits
    return is_large(instance) and limits.limited and limits.deadline - limits.clock() < TIGHT * len(instance.arcs) * instance.R


class _Queue:
    """The methods in turn; without a limit nobody asks which is the last, and none is looked for before it is needed."""

    def __init__(self, methods: Iterable[Method], limited: bool) -> None:
        self._rest, self._limited = iter(methods), limited
        self._next: list[Method] = []

    def __iter__(self) -> Iterator[Method]:
        while self._next or self._look():
            yield self._next.pop()

    def _look(self) -> bool:
        self._next = [*islice(self._rest, 1)]
        return bool(self._next)

    @property
    def is_last(self) -> bool:
        """Whether there are no more, where there is a limit."""
        return not self._limited or not (self._next or self._look())

    def prefer_anytime(self) -> None:
        """Go on with methods that have a point at any time, if there are some: what else needs as long as the last one did."""
        rest = self._taken_out()
        self._rest = iter([method for method in rest if method.anytime] or rest)

    def postpone_first_order(self) -> None:
        """Where another method was inaccurate they are too, after many iterations: rational arithmetic takes less on few arcs."""
        self._rest = iter(sorted(self._taken_out(), key=lambda method: method.kind == "first-order"))

    def _taken_out(self) -> list[Method]:
        """All that are left."""
        rest, self._next = [*self._next, *self._rest], []
        return rest


def _proves_infeasible(mechanism: Mechanism, method: Method, allocation: Allocation) -> bool:
    """Whether there is no allocation: models with a residual of their own always have one, and first-order methods only guess."""
    return allocation.termination == "infeasible" and not mechanism.has_residual and method.kind != "first-order"


def meets(allocation: Allocation, promised: float) -> bool:
    """Whether it claims success, and the residual, where it is judged, is what was promised; the rational answer is the answer.

    What rounding the rational answer leaves is all that numbers in double precision can say.
    """
    claims = allocation.claims_success or allocation.termination == USER_ERROR_NOT_KNOWN
    return claims and (allocation.x_exact is not None or allocation.residual <= promised)


def _rank(allocation: Allocation, promised: float) -> tuple[bool, float, bool, bool]:
    """What is better comes first: what meets the accuracy, small residuals, then what its solver calls solved, then any point."""
    called = allocation.termination in ("optimal", "stationary")
    return not meets(allocation, promised), allocation.residual, not called, not allocation.has_point


def _attempt(request: Request, method: Method) -> Allocation:
    """The method's answer, judged; in a child process where it might overrun."""
    large = is_large(request.instance)
    if isolated.AVAILABLE and _needs_child(request, method):
        return in_child(partial(_work, request, method, large), request.limits, _nothing(request, method))
    known: list[Allocation] = []
    rung = [False]
    try:
        with isolated.alarm(_end(request.limits) - request.limits.clock()) as rung:
            _work(request, method, large and request.limits.limited, known.append)
    except KeyboardInterrupt:
        if rung[0] or (known and known[-1].has_point):
            return (_late if rung[0] else _interrupted)(known[-1] if known else _nothing(request, method))
        raise
    return _late(known[-1]) if rung[0] else known[-1]


@contextmanager
def ended_by_alarm(limits: Limits) -> Iterator[list[bool]]:
    """End the Python code inside when the time is over, if this is the main thread; the yielded list is [True] then."""
    rung = [False]
    try:
        with isolated.alarm(_end(limits) - limits.clock()) as rung:
            yield rung
    except KeyboardInterrupt:
        if not rung[0]:
            raise


def _end(limits: Limits) -> float:
    """When what is done under these limits is ended."""
    if not limits.limited:
        return np.inf
    now = limits.clock()
    return isolated.end_of(now, max(limits.deadline - now, 0.0))


def _late(allocation: Allocation) -> Allocation:
    """What was ended at its limit, not by itself."""
    if allocation.termination not in ("given", "interrupted"):
        return allocation
    return replace(allocation, termination="time_limit", message="it did not end by itself at the time limit")


def _needs_child(request: Request, method: Method) -> bool:
    """Whether it might overrun its limit or, where it has none, leave Ctrl-C unheard for long.

    A solver whose log is wanted needs one, and one that users own: the streams that are redirected are the whole process's.
    """
    if bool(method.packages) and (request.limits.log or method.kind == "other") and not isolated.watched():
        return True
    if request.limits.limited:
        return _may_overrun(request.instance, method)
    native = bool(method.packages) and is_large(request.instance)
    return native and not isolated.watched() and threading.current_thread() is threading.main_thread()


def _may_overrun(instance: Instance, method: Method) -> bool:
    """Whether it might look at no clock for long: large ones, and native code where nobody else ends this process."""
    return is_large(instance) or bool(method.packages and not isolated.watched())


def is_large(instance: Instance) -> bool:
    """Whether even Python code might look at no clock for long."""
    return len(instance.arcs) * instance.R >= LARGE


def _nothing(request: Request, method: Method) -> Allocation:
    """The allocation of a method that left no point."""
    home = request.mechanism.home(request.instance)
    return _early(request.mechanism, method, home, np.full(len(home.arcs), np.nan), "there is no point")


def _early(mechanism: Mechanism, method: Method, home: Instance, x: Floats, reason: str) -> Allocation:
    """Tasks (A,) of a method that has not ended, not judged for this reason."""
    facts: dict[str, Any] = {"mechanism": mechanism.id, "method": method.id, "parameters": mechanism.parameters}
    return _unjudged(Allocation(home, x, **facts), reason)


def _work(request: Request, method: Method, early: bool, keep: Callable[[Allocation], None]) -> None:
    """The answer, first as it is and then judged, each kept as soon as it is there; if `early`, also the points before."""
    answered, facts = _answered(request, method, early, keep)
    keep(_unjudged(answered, "there was no time left to judge it"))
    keep(_judged(request, method, answered, facts))


def _unjudged(allocation: Allocation, reason: str) -> Allocation:
    return replace(allocation, residuals={"feasibility": infeasibility(allocation)}, not_judged=f"not judged: {reason}")


def _interrupted(allocation: Allocation) -> Allocation:
    return replace(allocation, termination="interrupted", message="interrupted: this is the best point so far")


def in_child(work: Callable[[Callable[[Allocation], None]], object], limits: Limits, nothing: Allocation) -> Allocation:
    """The last allocation that the work had kept when it ended in a child, or was ended.

    Parameters
    ----------
    work : gets a function that keeps an allocation
    limits : its deadline is when a solver should end; it is ended a little later, for what it returns is to be read and judged
    nothing : what is returned where no allocation arrived; its instance does not travel

    Raises
    ------
    KeyboardInterrupt : Ctrl-C before there was a point
    """
    names = [field.name for field in fields(Allocation) if field.name != "rule"]

    def facts(allocation: Allocation) -> dict[str, Any]:
        known = {name: getattr(allocation, name) for name in names}
        return known | {"instance": None if allocation.instance is nothing.instance else allocation.instance}

    outcome = isolated.isolated(lambda send: work(lambda allocation: send(facts(allocation))), _end(limits), limits.clock)
    allocation = nothing
    if outcome.messages:
        last = outcome.messages[-1]
        allocation = Allocation(**{**last, "instance": last["instance"] or nothing.instance})
    if outcome.ending == "interrupted":
        if not allocation.has_point:
            raise KeyboardInterrupt
        return _interrupted(allocation)
    if outcome.ending == "died" and not outcome.messages:
        return replace(allocation, termination="error", message=f"its process ended with exit code {outcome.code}")
    return _late(allocation) if outcome.ending == "time" else allocation


def _answered(request: Request, method: Method, early: bool, keep: Callable[[Allocation], None]) -> tuple[Allocation, ModelFacts]:
    """Step 1: the method's answer on the mechanism's home, not judged, and what is known of the model there.

    If `early`, `keep` gets the points that the method has before.
    """
    mechanism, instance, warm_start = request.mechanism, request.instance, request.warm_start
    domain, home = mechanism.domain(instance), mechanism.home(instance)

    def offered(x: Floats) -> None:
        keep(_early(mechanism, method, home, scaled_down(domain, x), "there was no time left to judge it"))

    if early and method.anytime:
        offered(equal_partition(domain))
    scaled, unit = mechanism.canonical(domain) if method.canonical else (domain, np.ones(domain.N))
    limits = replace(request.limits, options=method.options, solver_options=method.solver_options)
    if warm_start is not None:
        start, prices = start_on(domain, unit, warm_start)
        limits = replace(limits, start=start, start_prices=prices) if method.starts(mechanism) else limits
    if early:
        limits = replace(limits, keep=lambda x: offered(x * unit[domain.arcs.user]))
    answer = _answer(mechanism, method, scaled, limits)
    x = answer.x * unit[domain.arcs.user]
    layers = prices = None
    if answer.prices is not None and np.isfinite(answer.prices).all() and (domain.K, domain.R) == (home.K, home.R):
        layers = np.asarray(answer.prices).reshape(-1, domain.K, domain.R)
        prices = mechanism.model_prices(domain, scaled, x, layers)
        prices = prices if np.isfinite(prices).all() else None
    allocation = Allocation(
        instance=home,
        x=x,
        mechanism=mechanism.id,
        method=method.id,
        parameters=mechanism.parameters,
        termination=answer.termination,
        prices=prices,
        round_prices=layers if mechanism.takes_rounds else None,
        times=answer.times,
        iterations=answer.iterations,
        trace=answer.trace,
        versions=method.versions(),
        threads=threads_used(),
        message=answer.message,
        log=answer.log,
        x_exact=answer.x_exact,
    )
    return allocation, ModelFacts(answer.optimality, answer.objective, answer.doubt)


def _judged(request: Request, method: Method, allocation: Allocation, facts: ModelFacts) -> Allocation:
    """Step 2; what a function of one's own claims without prices is left standing."""
    own = isinstance(method, OwnFunction) and allocation.prices is None
    result = judged(request.mechanism, allocation, request.limits, facts, request.reference, claimed=own)
    unused = {
        f"warm_start is not used: {method.id} takes no start for {request.mechanism.id}": request.warm_start is not None
        and not method.starts(request.mechanism),
        f"there is no trace: {method.id} keeps none for {request.mechanism.id}": request.limits.trace and not result.trace,
        f"there is no log: {method.id} prints nothing": request.limits.log and not result.log,
    }
    said = [sentence for sentence, holds in unused.items() if holds]
    return replace(result, message="; ".join(filter(None, (result.message, *said)))) if said else result


def _own_answer(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> Answer:
    try:
        return method.run(mechanism, instance, limits)
    except FairallocError:
        raise
    except (Exception, SystemExit) as error:
        termination, message = ("time_limit", "") if limits.late else ("error", failure(method.id, error))
        return Answer(np.full(len(instance.arcs), np.nan), None, termination, Times(), message=message)


def _answer(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> Answer:
    """What the method answers, with the clocks around it; what it raises ends it alone."""
    ours = METHODS.get(method.id) is method or type(method).__module__.startswith("fairalloc.")
    start, cpu = limits.clock(), processor_seconds()
    answer = (_own_answer if ours else _foreign_answer)(mechanism, method, instance, limits)
    wall, cpu = limits.clock() - start, processor_seconds() - cpu
    phases = answer.times if ours else Times(solve=wall)  # phases that are reported elsewhere are not believed
    return replace(answer, times=replace(phases, wall=wall, cpu=cpu))


def _foreign_answer(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> Answer:
    """What a method not of this package answers; whatever it raises, and whatever is no answer, is an error of its own."""
    nowhere = np.full(len(instance.arcs), np.nan)
    try:
        answer = method.run(mechanism, instance, limits)
    except (Exception, SystemExit) as error:
        return Answer(nowhere, None, "error", Times(), message=failure(method.id, error))
    x = np.asarray(answer.x, dtype=float) if isinstance(answer, Answer) else np.empty(0)
    if x.shape != (len(instance.arcs),):
        said = f"{method.id} returned no Answer with tasks on the {len(instance.arcs)} arcs of the instance"
        return Answer(nowhere, None, "error", Times(), message=said)
    return replace(answer, x=x)
