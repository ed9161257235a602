"""`solve`: from an instance and a mechanism to an allocation.

1. The mechanism with its parameters, and the methods to try: the one that was asked for, or the fastest first.
2. Each is asked in turn within the time of the call, and judged by the mechanism's definition (running/dispatch.py).
3. The first that meets the accuracy is returned, else the best.

Where a limit is given, the packages that the first method needs are imported before the clock starts, once in a process.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism, as_mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Processes, Seconds, checked
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, NotInstalled, shown
from fairalloc.models.instance import Instance
from fairalloc.solvers.catalogue.method_registry import candidates, installed_candidates, method_of, methods_for
from fairalloc.solvers.catalogue.own import Own
from fairalloc.solvers.iis import conflict
from fairalloc.solvers.judge import judged
from fairalloc.solvers.method import Limits, Method, now
from fairalloc.solvers.options import Accuracy, Judging, promised
from fairalloc.solvers.running import dispatch, time_limits
from fairalloc.solvers.running.dispatch import Keep, Request
from fairalloc.solvers.running.listeners import ProgressStep, listening
from fairalloc.solvers.running.threads import limited_threads
from fairalloc.solvers.symmetry import classes_of


@checked
def solve(
    instance: Instance,
    mechanism: str | Mechanism | type[Mechanism],
    method: str | Own | None = None,
    accuracy: Accuracy = "mid",
    time_limit: Seconds | None = None,
    trace: bool = False,
    log: bool = False,
    options: Mapping[str, Any] | None = None,
    warm_start: Allocation | None = None,
    reference: bool | None = None,
    threads: Processes | None = None,
    merge: bool | None = None,
    isolate: bool = True,
    progress: bool | Callable[[ProgressStep], object] = False,
    **parameters: Any,
) -> Allocation:
    """Compute a mechanism's allocation and judge it by the mechanism's definition.

    Parameters
    ----------
    instance : the problem
    mechanism : id or alias, see `fairalloc list`, or a mechanism of your own
    method : id, or a method of your own: a `Method` or a function `(instance, mechanism, limits) -> tasks` (catalogue/own.py);
        None takes the fastest available one whose residual meets the accuracy or whose answer is rational, else the best found
    accuracy : "low", "mid" or "high" (ACCURACY), or a number: the promised residual, which sets each solver's own options.
        Where `Allocation.user_error` is a number, "optimal" bounds each user's relative error by 100 times that, and never more
        than 1e-2. If nothing shows it, that is inf and the termination is "optimal, user error not known"
    time_limit : seconds for the whole call, judging included; None = no limit. The clock starts when the packages of the first
        method are imported, which is done once in a process; those of later methods are imported within the limit. The call takes
        at most 1.2 times as long and a second more
    trace : whether an algorithm of this package keeps its events or iterations in `Allocation.trace`
    log : whether what the solver prints, or the algorithm's trace as text, is kept in `Allocation.log`, line by line
    options : of the method, which must be named: those of an algorithm of this package (`fa.options`), or those of the solver
        behind it in the solver's own names. They override the options that the accuracy sets. {"judge": {...}} are options of the
        judge (`fa.options("judge")`), which any method may have
    warm_start : an allocation to start from, on an instance with the same arcs; a method that cannot says so in `message`
    reference : whether an independent reference judges the answer where its own prices prove too little; None = on instances of
        at most 5,000 arcs (the judge's `reference_arcs`), where it costs no more than solving
    threads : that linear algebra and solvers may use; None = as the environment says (OMP_NUM_THREADS and its like).
        `Allocation.threads` says how many it were
    merge : whether identical users and servers of larger instances are solved as one (solvers/symmetry.py) and the answer split,
        where this is right for the mechanism; None = where no method is named and nothing is traced
    isolate : whether, under a limit, code that may not watch the clock runs in a child process, which is then ended. This is
        solvers in native code, mechanisms and methods that are not of this package, and everything on large instances. What they
        change in memory stays in the child. With False, or where Python cannot fork safely (macOS, Windows), a limit is a request
    progress : True writes a line to standard error every second: the seconds so far, the method, its iteration and its residual,
        or what else it measures. A function gets a `ProgressStep` with these instead. A solver in native code says no iterations
    parameters : of the mechanism, such as alpha for "fds"

    Returns
    -------
    Allocation with `residuals` {"feasibility", "definition"} computed from the instance alone. The optimality conditions of its
    model ({"feasibility", "optimality"}) judge a mechanism without a residual of its own. `not_judged` says why neither was
    possible, for example that no time was left. Ctrl-C returns the best point so far, with the termination "interrupted"

    Raises
    ------
    KeyboardInterrupt : Ctrl-C before there was a point
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
    if not isinstance(mechanism, str) and as_mechanism(mechanism) is None:
        raise InstanceError(f"mechanism is {shown(mechanism)}, but it must be an id or a Mechanism")
    promised(accuracy)
    seconds = time_limit or np.inf
    own = dict(options or {})
    judging = Judging.of("judge", own.pop("judge")) if "judge" in own else Limits.judging
    if own and method is None:
        named = ", ".join(map(str, own))
        raise NotApplicable(f"options {named} were given, but options are of one method, which must be named")
    found, chosen, start = find_mechanism(mechanism), None if method is None else method_of(method), now()
    with time_limits.configuring(found, seconds):
        item = found.configure(**parameters).kept(instance)
    seconds -= now() - start
    if seconds < np.inf:
        _import_first(item, instance, chosen)
    limits = Limits(accuracy, now() + seconds, trace, log, judging=judging, threads=threads and int(threads))
    merged = (method is None and not (trace or log)) if merge is None else merge
    request = Request(item, instance, limits, chosen, reference, warm_start, merged, isolate)
    with listening(progress), limited_threads(limits.threads, instance.A):
        answer = dispatch.whole_call(request, lambda given, keep: _solved(given, own, keep))
    return answer if isinstance(mechanism, str) and not item.functions else answer.noted(rule=item)


def _import_first(mechanism: Mechanism, instance: Instance, first: Method | None) -> None:
    """Import what the first method needs, the only one where it is given; whatever is wrong with it is said later."""
    with suppress(FairallocError):
        if first is None and mechanism.is_ours:
            where = None if dispatch.is_large(instance, mechanism) else instance  # whose domain may take longer than the limit
            first = next(candidates(mechanism.settled(instance), where), None)
        needed = sorted(mechanism.layers)[:1] if first is None else first.packages
        time_limits.import_all("pyomo.environ" if name == "pyomo" else name for name in needed)  # which loads Pyomo's parts


def _solved(request: Request, options: Mapping[str, Any], keep: Keep | None) -> Allocation:
    """The best allocation; `keep` gets each that is better than those before."""
    instance = request.instance
    item = request.mechanism.settled(instance)
    chosen, later = _asked(item, request.method, instance, options)
    request = replace(request, mechanism=item, start=_start(request, item))
    best = _merged(request, options, keep) if request.merge else None
    if best is not None and dispatch.is_last_word(best, request.limits):
        return best
    best = dispatch.best_attempt(request, chosen, keep, later, best)
    if best is None:
        why = ": its model has integers and is not linear" * bool(item.integer and item.linear is False)
        nobody = f"no method that is installed computes {item.id!r} on this instance{why}"
        raise NotApplicable(item.unwritten(instance, "cvxpy") or nobody)
    if best.termination == "infeasible" and isinstance(item, Edited):
        for termination, sentence in conflict(item, item.canonical(item.domain(instance))[0]):
            best = best.noted(termination=termination, message=sentence)
            if keep is not None:
                keep(best)
    return best


def _start(request: Request, mechanism: Mechanism) -> Allocation | None:
    """An answer of the game whose merit is edited, from which the nonlinear solvers start: theirs alone have a worse merit."""
    base = mechanism.base if isinstance(mechanism, Edited) and not mechanism.integer else None
    if request.warm_start is not None or not isinstance(base, Equilibrium):
        return None
    limits, method = request.limits.share(dispatch.SHARE), method_of("continuation")
    asked = replace(request, mechanism=base, method=method, limits=limits, reference=False)
    with suppress(NotApplicable):
        answer = _solved(asked, {}, None)
        if answer.termination == "interrupted":  # there is no point of the edit
            raise KeyboardInterrupt
        return answer if answer.claims_success else None
    return None


def _merged(request: Request, options: Mapping[str, Any], keep: Keep | None) -> Allocation | None:
    """The answer of the instance whose identical users and servers are one each, split and judged; None where there are few.

    `keep` gets what is found on the way, split.
    """
    item, instance = request.mechanism, request.instance
    classes = classes_of(item, instance) if item.is_ours and request.warm_start is None else None
    if classes is None:
        return None
    small = classes.merged
    chosen, later = _asked(item, request.method, small, options)
    keep_split = keep and (lambda found: keep(dispatch.unjudged(classes.split(found), dispatch.LATE)))
    answer = dispatch.best_attempt(replace(request, instance=small), chosen, keep_split, later)
    if answer is None or not answer.has_point:
        return None
    found = classes.split(answer)
    return dispatch.judged_unless_ended(found, keep, lambda: judged(item, found, request.limits, reference=request.reference))


def _asked(
    mechanism: Mechanism, method: Method | None, instance: Instance, options: Mapping[str, Any]
) -> tuple[Iterable[Method], Iterable[Method]]:
    """The method that is named; or those that are asked where none is, available or not, and solvers of the user after them."""
    chosen = None if method is None else _chosen(mechanism, method, instance, options)
    if chosen is None or chosen.id.partition(":")[0] not in mechanism.layers:
        mechanism.check_models(instance)
    if chosen is not None:
        return [chosen], ()
    known = candidates(mechanism, instance, available=False)
    return (item for item in known if not item.peer), installed_candidates(mechanism, instance)


def _chosen(mechanism: Mechanism, method: Method, instance: Instance, options: Mapping[str, Any]) -> Method:
    if not method.computes(mechanism):
        fit = ", ".join(m.id for m in methods_for(mechanism, available=False))
        best = getattr(mechanism, "objective", None)
        what = repr(mechanism.id) + " with floors" * instance.has_floors + f" with the objective {best!r}" * (best is not None)
        raise NotApplicable(f"method {method.id!r} does not compute {what}: the methods that do are {fit}")
    method = method.configure(options) if options else method
    if reason := method.missing():
        raise NotInstalled(reason)
    if reason := method.applies(mechanism, instance):
        raise NotApplicable(reason)
    return method
