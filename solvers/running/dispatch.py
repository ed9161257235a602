"""The methods in turn, each answered and judged within the time of the call.

1. Work is done in this process, or in a child process that is ended when its time is over (`whole_call`, `_attempt`).
2. A method writes the mechanism's model on its domain in canonical units, solves it, and its tasks come back (`_answered`).
3. The answer is judged by the mechanism's definition (judge.py).
4. The first answer that meets the accuracy is returned, else the best (`best_attempt`).

**Time.** A limit is for the whole call: a method that others can follow gets SHARE of what is left. Algorithms of this package
look at the clock between their steps and stay here on small instances. All that may not look at it runs in a child under a
limit: native code, code that is not of this package, the events of H-DRF, and everything on instances with LARGE entries or more.

**Ctrl-C** is a limit too. Native code hears it only when it ends, so in the main thread it runs in a child on large instances
without a limit too.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from operator import methodcaller
from typing import Any, TypeAlias

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.mechanism import written_here
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN, Allocation, Times
from fairalloc.models.arguments import check_fields
from fairalloc.models.errors import FairallocError, NotApplicable, require
from fairalloc.models.feasibility import infeasibility, scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, as_json
from fairalloc.solvers.catalogue.own import OwnFunction, failure
from fairalloc.solvers.judge import ModelFacts, judged
from fairalloc.solvers.method import SCALED, Answer, Limits, Method
from fairalloc.solvers.running import time_limits
from fairalloc.solvers.running.cpu_time import processor_seconds
from fairalloc.solvers.running.listeners import tell
from fairalloc.solvers.running.solver_log import printed
from fairalloc.solvers.running.threads import threads_used
from fairalloc.solvers.running.warm_start import equal_partition, start_on

Keep: TypeAlias = Callable[[Allocation], None]
"""Takes an allocation that is better than those before, in case that the work is ended."""

LARGE, GAME = 10_000, 1_000
"""Arcs times resources from which Python code is isolated too, the latter of games: below, steps and residuals take no second."""

SHARE = 0.5
"""The part of the time left that a method gets where others can follow."""

FAR = 1e8
"""The ratio of numbers from which HiGHS, in a method or in the judge, may write beyond its memory (`LP.far_apart`)."""

TIGHT = 1e-4
"""Seconds for each arc and resource that it takes: what solvers in native code needed for `nb` on 600 users and 100 servers."""

LATE = "there was no time left to judge it"
"""Why what is kept on the way is not judged."""


@dataclass(frozen=True)
class Request:
    """What is asked of one method, or of all alike; `inside` = in a child that ends with the call, `start` for methods."""

    mechanism: Mechanism
    instance: Instance
    limits: Limits
    method: Method | None = None
    reference: bool | None = None
    warm_start: Allocation | None = None
    merge: bool = False
    isolate: bool = True
    inside: bool = False
    start: Allocation | None = None


def _isolates_call(request: Request) -> bool:
    """Whether the whole call runs in a child: what comes before and after the methods may take long, and H-DRF's events do."""
    if not (request.isolate and time_limits.AVAILABLE and request.limits.limited) or time_limits.watched():
        return False
    item, ours = request.mechanism, request.method is None or request.method.is_ours
    return isinstance(item, HierarchicalDrf) or is_large(request.instance, item) or not (ours and item.is_ours)


def _isolates_method(request: Request, method: Method, last: bool) -> bool:
    """Whether a method runs in a child of its own; the last one of a call in a child is ended with it.

    One whose log is wanted needs one, and a solver that users own: the streams that are redirected are the whole process's.
    """
    if not (request.isolate and time_limits.AVAILABLE) or (request.inside and last):
        return False
    large, native, watched = is_large(request.instance), bool(method.packages), time_limits.watched()
    logged = request.limits.log and (native or not method.is_ours)
    if (logged or (native and method.kind == "other")) and not watched:
        return True
    if request.limits.limited:
        return large or ((native or not method.is_ours or _is_far_apart(request.instance)) and not watched)
    alone = not watched and threading.current_thread() is threading.main_thread()
    return alone and ((native and large) or _is_far_apart(request.instance))


def is_large(instance: Instance, mechanism: Mechanism | None = None) -> bool:
    """Whether even Python code might look at no clock for long; of a mechanism with its domain and the residual."""
    entries = instance.A * instance.R
    return entries >= (GAME if isinstance(mechanism, Equilibrium) else LARGE)


def _is_far_apart(instance: Instance) -> bool:
    """Whether weights, or the parts of resources that a user takes, differ by FAR."""
    load, gamma, weights = instance.arcs.load, instance.arcs.gamma, instance.weights
    far = load.data.min(initial=1.0) * gamma.min(initial=1.0) * FAR < 1.0  # otherwise no part is so small
    far = far and (load.data * np.repeat(gamma, np.diff(load.indptr))).min(initial=1.0) * FAR < 1.0
    return bool(far or weights.max() > FAR * weights.min())


def whole_call(request: Request, work: Callable[[Request, Keep | None], Allocation]) -> Allocation:
    """What the work returns, in a child where the limit of the call would not be kept here.

    The work gets the request, and a function that takes what is found on the way, None where nobody waits for it.
    """
    if not _isolates_call(request):
        return work(request, None)
    item, method, instance = request.mechanism, request.method, request.instance
    ours = item.is_ours
    home = item.home(instance) if ours and not is_large(instance, item) else instance  # which may take longer than the limit

    def inside(keep: Keep) -> Allocation:
        if not ours:
            keep(_nothing(item, method, home))  # with its parameters
        return work(replace(request, inside=True), keep)

    return _in_child(inside, request.limits, _nothing(item, method, home, asked=ours))


def _attempt(request: Request, method: Method, last: bool, keep: Keep | None) -> Allocation:
    if not _isolates_method(request, method, last):
        return _work(request, method, keep)
    nothing = _nothing(request.mechanism, method, request.mechanism.home(request.instance))
    return _in_child(lambda send: _work(request, method, send), request.limits, nothing)


def _nothing(mechanism: Mechanism, method: Method | None, home: Instance, asked: bool = True) -> Allocation:
    about = _about(mechanism, method) if asked else {"mechanism": mechanism.id}
    return unjudged(Allocation(home, np.full(home.A, np.nan), **about), "there is no point")


def _in_child(work: Callable[[Keep], Allocation], limits: Limits, nothing: Allocation) -> Allocation:
    """What the work returns from a child, or the last allocation that it had kept when it was ended, or `nothing`.

    The child is ended a little after the deadline, when its answer is read and judged. The instance of `nothing` does not travel.
    KeyboardInterrupt is raised at Ctrl-C before there was a point.
    """
    names = [field.name for field in fields(Allocation) if field.name != "rule"]

    def known(allocation: Allocation) -> dict[str, Any]:
        facts = {name: getattr(allocation, name) for name in names}
        return facts | {"instance": None if allocation.instance is nothing.instance else allocation.instance}

    def sent(send: Callable[[Any], None]) -> None:
        send(known(work(lambda allocation: send(known(allocation)))))

    now = limits.clock()
    end = time_limits.end_of(now, max(limits.deadline - now, 0.0)) if limits.limited else np.inf
    outcome = time_limits.isolated(sent, end, limits.clock)
    allocation = nothing
    if outcome.messages:
        last = outcome.messages[-1]
        allocation = Allocation(**{**last, "instance": last["instance"] or nothing.instance})
    if outcome.ending == "interrupted":
        if not allocation.has_point:
            raise KeyboardInterrupt
        return _interrupted(allocation)
    if outcome.ending == "died" and allocation.not_judged:
        facts = {"not_judged": f"not judged: {outcome.death}"} if allocation.has_point else {}
        ended = {"termination": "error", "message": outcome.death} if allocation.termination == "given" else {}
        return allocation.noted(**facts, **ended)
    if outcome.ending == "time" and allocation.termination in ("given", "interrupted"):
        return allocation.noted(termination="time_limit", message="it did not end by itself at the time limit")
    return allocation


def best_attempt(
    request: Request,
    methods: Iterable[Method],
    keep: Keep | None = None,
    later: Iterable[Method] = (),
    best: Allocation | None = None,
) -> Allocation | None:
    """The first judged allocation that meets the accuracy, else the best when methods or time have come to an end.

    None where none is available; NotApplicable where all that are refuse. `best` is what is known before, and `keep` gets each
    that is better than those before.
    KeyboardInterrupt is raised at Ctrl-C before there was a point.
    """
    limits, refusal = request.limits, None
    queue = _Queue(methods, later, limits.limited)
    if _is_tight(request):
        queue.prefer_anytime()

    def is_better(allocation: Allocation) -> bool:
        return best is None or _rank(allocation, limits.promised) < _rank(best, limits.promised)

    def keep_better(allocation: Allocation) -> None:
        if keep is not None and is_better(allocation):
            keep(allocation)

    for method in queue:
        last = queue.is_last
        part = request if last else replace(request, limits=limits.share(SHARE))
        tell(method=method.id)
        try:
            allocation = _attempt(part, method, last, keep and keep_better)
        except KeyboardInterrupt:
            if best is None or not best.has_point:
                raise
            return _interrupted(best)
        except NotApplicable as error:  # another one may know more, and what is known is not lost
            refusal = refusal or error
            continue
        keep_better(allocation)
        best = allocation if best is None or is_better(allocation) else best
        if allocation.termination == "interrupted":
            return best if best is allocation else _interrupted(best)
        if is_last_word(best, limits):
            break
        if _proves_infeasible(request.mechanism, method, allocation):
            return allocation
        if allocation.termination == "time_limit" and is_large(request.instance):
            queue.prefer_anytime()
        if allocation.termination == "inaccurate" and request.mechanism.linear and not is_large(request.instance):
            queue.postpone_first_order()
    if best is None and refusal is not None:
        raise refusal
    return best


def is_last_word(best: Allocation, limits: Limits) -> bool:
    """Whether nobody else is asked: it meets the accuracy, no time is left, or Ctrl-C ended it."""
    return meets(best, limits.promised) or limits.late or best.termination == "interrupted"


def _is_tight(request: Request) -> bool:
    """Whether a method that has a point only when it has ended will probably leave none."""
    instance, limits = request.instance, request.limits
    return limits.limited and is_large(instance) and limits.deadline - limits.clock() < TIGHT * instance.arcs.load.nnz


class _Queue:
    """The methods in turn; without a limit nobody asks which is the last, and none is looked for before it is needed.

    Those of `later` take seconds to be looked for: with a limit, too, nobody does before they are needed.
    """

    def __init__(self, methods: Iterable[Method], later: Iterable[Method], limited: bool) -> None:
        self._rest, self._later, self._limited = iter(methods), iter(later), limited

    def __iter__(self) -> Iterator[Method]:
        for part in (self._rest, self._later):
            self._rest = part
            while found := self._first():
                yield found[0]

    def _first(self) -> list[Method]:
        return [*islice(filter(methodcaller("is_available"), self._rest), 1)]

    @property
    def is_last(self) -> bool:
        """Whether there are no more but those of `later`, where there is a limit."""
        first = self._first() if self._limited else []
        self._rest = chain(first, self._rest)
        return not first

    def prefer_anytime(self) -> None:
        """Go on with methods that have a point at any time, if there are some: what else needs as long as the last one did."""
        rest = [*self._rest]
        self._rest = iter([method for method in rest if method.anytime and method.is_available()] or rest)

    def postpone_first_order(self) -> None:
        """Where another method was inaccurate they are too, after many iterations: rational arithmetic takes less on few arcs."""
        self._rest = iter(sorted(self._rest, key=lambda method: method.kind == "first-order"))


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


def _about(mechanism: Mechanism, method: Method | None) -> dict[str, Any]:
    return {"mechanism": mechanism.id, "method": "" if method is None else method.id, "parameters": mechanism.parameters}


def _work(request: Request, method: Method, keep: Keep | None) -> Allocation:
    """The answer, judged; on large instances the points on the way are kept too."""
    answered, facts = _answered(request, method, keep if is_large(request.instance) else None)
    return judged_unless_ended(answered, keep, lambda: _judged(request, method, answered, facts))


def judged_unless_ended(found: Allocation, keep: Keep | None, judge: Callable[[], Allocation]) -> Allocation:
    """What `judge` makes of the allocation, which is kept before that; not judged where Ctrl-C comes and nobody waits for it."""
    if keep is not None:
        keep(unjudged(found, LATE))
    try:
        return judge()
    except KeyboardInterrupt:
        if keep is not None or not found.has_point:
            raise
        return _interrupted(unjudged(found, "it was interrupted"))


def unjudged(allocation: Allocation, reason: str) -> Allocation:
    """The allocation with its infeasibility, and the reason why nothing else is known of it."""
    return allocation.noted(residuals={"feasibility": infeasibility(allocation)}, not_judged=f"not judged: {reason}")


def _interrupted(allocation: Allocation) -> Allocation:
    return allocation.noted(termination="interrupted", message="interrupted: this is the best point so far")


def _answered(request: Request, method: Method, keep: Keep | None) -> tuple[Allocation, ModelFacts]:
    """Step 2: the method's answer on the mechanism's home, not judged, and what is known of the model there.

    `keep` gets the points that the method has before; None = nobody waits for them.
    """
    mechanism, instance, warm_start = request.mechanism, request.instance, request.warm_start or request.start
    domain, home = mechanism.domain(instance), mechanism.home(instance)

    def offered(x: Floats) -> None:
        if keep is not None:
            keep(unjudged(Allocation(home, scaled_down(domain, x), **_about(mechanism, method)), LATE))

    if keep is not None and method.anytime:
        offered(equal_partition(domain))
    text = [part for layer in mechanism.layers if method.id.startswith(f"{layer}:") for part in mechanism.written_by(layer)]
    theirs = text and not written_here(*text)  # another model counts tasks as the user does, but for units of its own
    canonical = method.canonical and not (theirs and written_here(type(mechanism).canonical))
    scaled, unit = mechanism.canonical(domain) if canonical else (domain, np.ones(domain.N))
    limits = replace(request.limits, options=method.options, solver_options=method.solver_options)
    if warm_start is not None:
        start, prices = start_on(home, warm_start)
        prices, start = (prices if home.K == domain.K else None), start / unit[domain.arcs.user]
        limits = replace(limits, start=start, start_prices=prices) if method.starts(mechanism) else limits
    if keep is not None:
        limits = replace(limits, keep=lambda x: offered(x * unit[domain.arcs.user]))
    answer, times = _run(mechanism, method, scaled, limits)
    x = answer.x * unit[domain.arcs.user]
    layers = prices = None
    if answer.prices is not None and np.isfinite(answer.prices).all() and (domain.K, domain.R) == (home.K, home.R):
        layers = np.asarray(answer.prices).reshape(-1, domain.K, domain.R)
        prices = mechanism.model_prices(domain, scaled, x, layers)
        prices = prices if np.isfinite(prices).all() else None
    told = ("termination", "iterations", "trace", "message", "log", "x_exact")
    facts = _about(mechanism, method) | {name: getattr(answer, name) for name in told}
    facts |= {"prices": prices, "round_prices": layers if mechanism.takes_rounds else None}
    facts |= {"times": times, "versions": method.versions(), "threads": threads_used()}
    return Allocation(home, x, **facts), ModelFacts(answer.optimality, answer.objective, answer.doubt)


def _judged(request: Request, method: Method, allocation: Allocation, facts: ModelFacts) -> Allocation:
    """Step 3; where a mechanism that is not of this package raises, its answer is not lost."""
    mechanism, promise, exact, ours = request.mechanism, request.limits.promised, allocation.x_exact, method.is_ours
    if not ours:
        allocation = allocation.noted(x_exact=None)  # no word of others, in rationals either, is more than a residual
    try:
        result = judged(mechanism, allocation, request.limits, facts, request.reference)
        misses = result.termination == "inaccurate" and result.residuals["feasibility"] > promise
        if misses and ours and mechanism.has_residual and not mechanism.integer:
            fitting = replace(allocation, x=scaled_down(allocation.instance, allocation.x), x_exact=None)
            result = judged(mechanism, fitting, request.limits, facts, request.reference)
            result = result.noted(message="; ".join(filter(None, (result.message, SCALED))))
    except (Exception, SystemExit) as error:
        if mechanism.is_ours or isinstance(error, FairallocError):
            raise
        return unjudged(allocation, failure(mechanism.id, error))
    cold = request.warm_start is not None and not method.starts(mechanism)
    unused = {
        f"warm_start is not used: {method.id} takes no start for {mechanism.id}": cold,
        f"there is no trace: {method.id} keeps none for {mechanism.id}": request.limits.trace and not result.trace,
        f"there is no log: {method.id} prints nothing": request.limits.log and not result.log,
    }
    said = [result.message, *(sentence for sentence, holds in unused.items() if holds)]
    return result.noted(message="; ".join(filter(None, said)), x_exact=result.x_exact if ours else exact)


def _run(mechanism: Mechanism, method: Method, instance: Instance, limits: Limits) -> tuple[Answer, Times]:
    """What the method answers, with the clocks around it; what it raises ends it alone."""
    ours = method.is_ours and not isinstance(method, OwnFunction)
    start, cpu = limits.clock(), processor_seconds()
    lines: list[str] = []
    try:
        with printed(limits.log and not ours, lines):
            answer = method.run(mechanism, instance, limits)
    except (Exception, SystemExit) as error:
        if ours and isinstance(error, FairallocError):
            raise
        late = ours and limits.late
        ended, said = ("time_limit", "") if late else ("error", failure(method.id, error))
        answer = Answer(np.full(instance.A, np.nan), None, ended, Times(), message=said)
    wall, cpu = limits.clock() - start, processor_seconds() - cpu
    if ours:
        return answer, replace(answer.times, wall=wall, cpu=cpu)
    answer = _checked(answer, method, instance)
    times = Times(solve=wall, wall=wall, cpu=cpu)  # phases reported elsewhere are not believed
    return replace(answer, log=answer.log or tuple(lines)), times


def _checked(answer: Any, method: Method, instance: Instance) -> Answer:
    """What a method not of this package answers; whatever is no answer is an error of its own."""
    said = f"{method.id} returned no Answer with tasks on the {instance.A} arcs of the instance"
    try:
        if isinstance(answer, Answer):
            x = Allocation(instance, answer.x, termination=answer.termination, x_exact=answer.x_exact).x
            prices: Floats = np.asarray([] if answer.prices is None else answer.prices, dtype=float)
            layers = prices.reshape(-1, instance.K, instance.R) if prices.size else None
            told: dict[str, Any] = {"trace": tuple(map(dict, answer.trace)), "log": tuple(map(str, answer.log))}
            result = replace(answer, x=x, prices=layers, message=str(answer.message or ""), **told)
            check_fields(result)
            as_json(result.trace)  # so that it can be written
            units = answer.x_exact is None or not method.canonical
            require(units, "x_exact is", answer.x_exact, "rationals need the user's units: canonical = False")
            return result
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        said = f"{method.id} returned an Answer that cannot be read: {error}"
    return Answer(np.full(instance.A, np.nan), None, "error", Times(), message=said)
