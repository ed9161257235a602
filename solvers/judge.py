"""What an answer is worth: its values and residuals, computed from the instance, and what its method may claim.

1. The mechanism's residual at the allocation's own prices, once. Where it is small, that is the residual; so it is where it is
   what was promised and users' tasks are not unique.
2. Otherwise an independent reference is asked: for a lexicographic rule the rounds by another solver
   (`reference_allocation`), for a program of utilities the prices that prove most (duality_gap.py). The best proof counts.
3. A method claims success where its own prices prove what the accuracy promises; without prices, where the residual does. The
   word of an approximation is "approximate".
4. Where the right tasks are unique, the error of every user is bounded (common/user_error.py), for alpha-fair and nb to first
   order by a Newton step (interior_point/next_step.py), on few arcs by the right tasks themselves. "optimal" is claimed where it
   is what the accuracy allows; where nothing bounds it so, that is the termination.

With weights or tasks many orders of magnitude apart, rounding alone is a residual above every accuracy. On few arcs the answer in
rationals or to many digits decides then; on larger instances a rule's residual says "not decided". `Judging` says what is few.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.duality_gap import reference_prices
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.utilitarian import Utilitarian, idle
from fairalloc.formulations.utilitarian import mechanism as utilitarian
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN, Allocation
from fairalloc.models.errors import FairallocError, shown
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, linear_program, told_apart, worst
from fairalloc.models.shares import global_dominant_share
from fairalloc.solvers.exact.exact import Exact, in_rationals, solve_exactly, without_floors
from fairalloc.solvers.lexicographic.rounds import solve_nested_rounds, solve_rounds
from fairalloc.solvers.method import Limits, Stopped
from fairalloc.solvers.options import allowed_user_error

BY_ROUNDS = Leximin, NestedMaxMin
"""Mechanisms whose reference is all rounds by another solver."""

UNANSWERED = "infeasible", "unbounded", "error", "time_limit", "iteration_limit", "interrupted"
"""How a method ends whose point, if it left one, is no answer of its model."""

FIRST_ORDER = 1e-10
"""The bound on errors of levels up to which no right answer is asked for: users that nearly tie may give way by more."""

ALIKE = 1e-14, 1e-6
"""Numbers of an instance nearly tie that differ by a part between these: products of such differences are below rounding."""

GROSS, DIGITS = 1.0, "many-digits"
"""A gain for which rounding is to blame, or an answer that is far off: of nb and the like, tasks to many digits tell which.

Those are proved, so the answer of their method needs no such gain.
"""


class ModelFacts(NamedTuple):
    """The residual of a model's optimality conditions, its objective, and why it may not be convex ("" where it is)."""

    optimality: float | None = None
    objective: float | None = None
    doubt: str = ""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # of tasks and prices out of range
def judged(
    mechanism: Mechanism,
    allocation: Allocation,
    limits: Limits | None = None,
    model: ModelFacts | None = None,
    reference: bool | None = None,
    claimed: bool = False,
) -> Allocation:
    """The allocation with its values and residuals, and with a claim that these support.

    Parameters
    ----------
    mechanism : whose definition it is judged by, with its parameters
    allocation : on the mechanism's home instance
    limits : the accuracy its method was asked for, and the time left; None leaves the termination as it is
    model : what is known of the model that was solved, for a mechanism without a residual of its own
    reference : whether an independent reference may be asked; None = on at most `Judging.reference_arcs` arcs
    claimed : whether the termination is left as it is

    Returns
    -------
    The allocation with `residuals` {"feasibility", "definition"}, or for a mechanism without a residual of its own
    {"feasibility", "optimality"}, or {"feasibility"} and the reason in `not_judged`
    """
    mechanism, promise = mechanism.kept(allocation.instance), None if limits is None or claimed else limits.promised
    ruled = mechanism.keeps_floors and isinstance(without_floors(mechanism), Leximin)
    if ruled and allocation.method == _EXACT.id and allocation.has_point:
        found = in_rationals(mechanism, allocation.instance)  # nested max-min fairness, whose prices the answer has
        assert found is not None, "the method 'exact' computes it"
        result = judged(found[0], replace(allocation, instance=found[1]), limits, None, reference, claimed)
        told = {"values": mechanism.values(allocation), "user_error": result.user_error if mechanism.unique else None}
        return replace(result, instance=allocation.instance).noted(**told)
    if not mechanism.has_residual:
        result = _judged_by_model(mechanism, allocation, promise, model or ModelFacts())
        return result if limits is None else _of_each_user(mechanism, result, limits)
    own, errors = mechanism.measured(allocation)
    needed = (promise or 0.0) if errors is None else 0.0  # users' errors may need better prices
    known = _with_reference(mechanism, allocation, own, limits or Limits(), reference, needed)
    residuals = {"feasibility": infeasibility(allocation), "definition": known.residual}
    enough = np.inf if limits is None else allowed_user_error(limits.promised)
    errors = errors if known.proof is None else mechanism.user_errors(known.proof)
    user = _bounded(errors, enough)
    facts: dict[str, Any] = {"values": mechanism.values(allocation), "residuals": residuals, "not_judged": known.not_judged}
    result = allocation.noted(user_error=user, **facts)
    if promise is not None and result.x_exact is None and not known.not_judged:
        unpriced = allocation.prices is None and allocation.round_prices is None
        result = _claim(result, known.residual if known.exact or unpriced else own, promise)
    elif promise is not None and result.claims_success and promise < result.residual < np.inf:
        result = result.noted(message=result.message or "right in rationals, x_exact; the residual is that of its rounded tasks")
    if user is None and promise is not None and limits is not None:
        return _of_each_user(mechanism, result, limits)
    if user is None or limits is None or known.not_judged or user <= _sure(mechanism, allocation, enough, limits):
        return result
    if promise is not None and (result.termination != "optimal" or (result.x_exact is None and result.residual > promise)):
        return result
    each = user_error(mechanism, known.proof or allocation, enough, limits, errors)
    return _noted(result, each, enough) if promise is not None else result.noted(user_error=each.error)


def _sure(mechanism: Mechanism, allocation: Allocation, enough: float, limits: Limits) -> float:
    """The bound on users' errors up to which it counts; none does where several rounds are proved and numbers nearly tie.

    A user that takes nothing of a lower level but 1e-16 of it may have to give up all that it has above that. Where there are too
    many arcs for rationals, nothing else would tell.
    """
    if not isinstance(mechanism, Leximin):
        return enough
    instance, layers = allocation.instance, allocation.round_prices
    asked = layers is not None and len(layers) > 1 and limits.judging.exact_arcs >= instance.A
    return -1.0 if asked and _nearly_tied(mechanism, mechanism.domain(instance)) else FIRST_ORDER


def _nearly_tied(rule: Leximin, instance: Instance) -> bool:
    """Whether two loads, or the weighted shares of two tasks, differ by a part within ALIKE."""
    for numbers in (instance.arcs.load.data, rule.rate(instance)):
        order = np.sort(numbers)
        apart = np.diff(order) / order[1:]
        if ((apart > ALIKE[0]) & (apart < ALIKE[1])).any():
            return True
    return False


def _noted(result: Allocation, each: "UserError", enough: float) -> Allocation:
    """What is claimed where the error of a user is known, or not."""
    result = result.noted(user_error=each.error)
    if each.error is None or each.error <= enough:
        return result
    if each.sentence:
        return result.noted(termination="inaccurate", message=each.sentence)
    return result.noted(termination=USER_ERROR_NOT_KNOWN)


def _of_each_user(mechanism: Mechanism, result: Allocation, limits: Limits) -> Allocation:
    """Nested answers and those with floors, whose residual says little of a user where the numbers are far apart."""
    base = without_floors(mechanism)
    enough = allowed_user_error(limits.promised)
    if base is not mechanism and isinstance(base, Utilitarian) and result.termination == "optimal":
        wasted = idle(result)
        sentence = f"a user could have {wasted:.1e} of its tasks more on what is free"
        return result.noted(termination="inaccurate", message=sentence) if wasted > limits.promised else result
    if base is not mechanism and isinstance(base, AlphaFair) and result.termination == "optimal":
        return _noted(result, UserError(_bounded(base.user_errors(result), enough)), enough)
    ruled = isinstance(base, NestedMaxMin) or (isinstance(base, Leximin) and base.several_rounds)
    if base is not mechanism and result.termination in ("infeasible", "unbounded"):
        right = _right_answer(utilitarian, result.instance, limits)
        sentence = f"its solver calls the model {result.termination}, but all floors can be kept"
        return result if right is None else result.noted(termination="error", message=sentence)
    if not ruled or result.termination != "optimal":
        return result
    few = _right_answer(mechanism, result.instance, limits) is not None
    if not few and result.residual * _spread(base, result.instance) <= enough:
        return result
    return _noted(result, user_error(mechanism, result, enough, limits, np.full(result.instance.N, np.inf)), enough)


def _spread(rule: Mechanism, instance: Instance) -> float:
    """How many times as much of a capacity a share may cost of one resource or user as of another."""
    sigma = rule.rate(instance) if isinstance(rule, Leximin) else global_dominant_share(instance)
    load = instance.arcs.load.tocsc()
    cost = load.data / np.repeat(sigma[instance.arcs.user], np.diff(load.indptr))
    return float(cost.max() / cost.min())


def _bounded(errors: Floats | None, enough: float) -> float | None:
    """The largest error; inf where it is more than enough."""
    bound = None if errors is None else worst(errors)
    return np.inf if bound is not None and bound > enough else bound


class UserError(NamedTuple):
    """A bound on the relative error of every user's tasks, None where the right ones are not unique; whose are off by it."""

    error: float | None
    sentence: str = ""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def user_error(
    mechanism: Mechanism,
    allocation: Allocation,
    enough: float,
    limits: Limits,
    errors: Floats | None = None,
) -> UserError:
    """How far the tasks of any user may be from the right ones, which are computed where `errors` (N,) prove not `enough`."""
    errors = mechanism.user_errors(allocation) if errors is None else errors
    bound = _bounded(errors, enough)
    if bound == np.inf and errors is not None and isinstance(mechanism, AlphaFair) and not limits.late:
        from fairalloc.solvers.interior_point.next_step import errors_by_next_step  # most answers need none

        bound = _bounded(errors_by_next_step(mechanism, allocation, errors), enough)
    if bound is None or bound <= _sure(mechanism, allocation, enough, limits):
        return UserError(bound)
    if allocation.x_exact is not None and allocation.method == _EXACT.id:
        return UserError(0.0)
    right = right_tasks(mechanism, allocation.instance, limits) if allocation.has_point else None
    if right is None:
        return UserError(bound)
    alone = map(Fraction, allocation.instance.arcs.totals(allocation.instance.arcs.gamma).tolist())
    each = zip(_exact_tasks(allocation), right.tasks, alone, strict=True)
    pairs = [(v, t) if t else (v + most, most) for v, t, most in each]  # where none are right, in parts of the most
    far = _apart([v for v, _ in pairs], [t for _, t in pairs])
    n = int(np.argmax(far))
    own, known = told_apart(allocation.tasks[n], float(right.tasks[n]))
    what = f"user {allocation.instance.users[n]!r} runs {own} tasks, but {known} are right"
    return UserError(far[n] + right.error, what)


def _exact_tasks(allocation: Allocation) -> tuple[Fraction, ...]:
    """(N,) the tasks as rationals; floats are read as they are."""
    return allocation.tasks_exact or tuple(map(Fraction, allocation.tasks.tolist()))


def _apart(values: Iterable[Fraction], right: Iterable[Fraction]) -> list[float]:
    """The relative difference of each value from the right one, at most 1e300 where that is not 0."""
    most = Fraction(10**300)
    return [float(min(abs(v / t - 1), most)) if t else np.inf if v else 0.0 for v, t in zip(values, right, strict=True)]


class RightTasks(NamedTuple):
    """(N,) the right tasks, and a bound on their own relative error."""

    tasks: tuple[Fraction, ...]
    error: float = 0.0


def right_tasks(mechanism: Mechanism, home: Instance, limits: Limits) -> RightTasks | None:
    """The right tasks where they are unique; None where there are too many arcs, no such method, or not enough time."""
    if (x := _right_answer(mechanism, home, limits)) is not None:
        return RightTasks(exact_arcs(home).tasks(x))
    memo, key = home.memo, (mechanism, "right tasks")
    if not isinstance(mechanism, AlphaFair) or limits.judging.digits_arcs < home.A or limits.late or _EXACT.missing():
        return None
    if key not in memo:
        from fairalloc.solvers.exact.many_digits import many_digits

        with suppress(Stopped, ArithmeticError, RuntimeError):
            answer = many_digits(mechanism, mechanism.domain(home), limits)
            if answer is not None or not limits.late:
                memo[key] = RightTasks(answer.tasks, answer.error) if answer is not None and answer.error <= TRUSTED else None
    return memo.get(key)


def _right_answer(mechanism: Mechanism, home: Instance, limits: Limits) -> Rationals | None:
    """(A,) the tasks on arcs of the answer in rationals, of ours computed once an instance; None as for `right_tasks`."""
    memo, key = home.memo if without_floors(mechanism).is_ours else {}, (mechanism, "right answer")
    if limits.judging.exact_arcs < home.A or limits.late or _EXACT.missing():
        return None
    if key not in memo:
        with suppress(Stopped, ArithmeticError, RuntimeError, FairallocError):
            found = in_rationals(mechanism, home)
            memo[key] = None if found is None else solve_exactly(*found, limits).x
    return memo.get(key)


TRUSTED = 1e-10
"""The relative error of tasks to many digits above which they decide nothing."""


def _judged_by_model(mechanism: Mechanism, allocation: Allocation, promise: float | None, model: ModelFacts) -> Allocation:
    values = mechanism.values(allocation) if allocation.has_point else {}
    if not values and model.objective is not None:
        values = {"objective": model.objective}
    known = {} if model.optimality is None else {"stationarity" if model.doubt else "optimality": model.optimality}
    residuals = {"feasibility": infeasibility(allocation), **known}
    result = allocation.noted(values=values, residuals=residuals)
    if promise is not None and (model.optimality is not None or residuals["feasibility"] > promise):
        result = _claim(result, model.optimality or 0.0, promise)
    if model.doubt and result.termination == "optimal":
        result = result.noted(termination="stationary", message=allocation.message)
    if result.termination in UNANSWERED and model.optimality is None:
        result = result.noted(not_judged="not judged: its method ended without an answer")
    elif model.doubt or model.optimality is None:
        why = "its method gave neither dual prices nor a bound from which optimality could be checked"
        why = model.doubt or f"{why}: fa.check(allocation, mechanism) compares it with another method's answer"
        result = result.noted(not_judged=f"not judged: {mechanism.id!r} has no residual, and {why}")
    return result.noted(message="; ".join(filter(None, (result.message, mechanism.remark))))


_EXACT = Exact()


class Known(NamedTuple):
    """The best residual that is proved, inf and why (`not_judged`) where none is, or why it decides nothing (`not_decided`).

    `exact` : whether it was computed in rationals; `proof` : the allocation with the reference's prices, where these prove most.
    """

    residual: float
    not_judged: str = ""
    not_decided: str = ""
    exact: bool = False
    proof: Allocation | None = None


def residual(mechanism: Mechanism, allocation: Allocation) -> float | None:
    """What `proved` proves; None for a mechanism without a residual of its own, inf where nothing is known."""
    mechanism = mechanism.kept(allocation.instance)
    return proved(mechanism, allocation).residual if mechanism.has_residual else None


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def proved(mechanism: Mechanism, allocation: Allocation, limits: Limits | None = None, reference: bool | None = None) -> Known:
    """The residual by the allocation's own prices or by an independent reference, for a mechanism with a residual of its own."""
    return _with_reference(mechanism, allocation, mechanism.residual(allocation), limits or Limits(), reference)


def _with_reference(
    mechanism: Mechanism, allocation: Allocation, own: float, limits: Limits, reference: bool | None, promise: float = 0.0
) -> Known:
    """The best residual that is proved, `own` at the allocation's own prices, which is enough where it is what was promised."""
    most, trusted = limits.judging.reference_arcs, limits.judging.trusted
    number = not isinstance(own, bool | np.bool_ | str) and np.size(own) == 1 and hasattr(own, "__float__")
    if not number or own < -limits.judging.rounding:
        raise TypeError(f"its residual is {shown(own)}, but it must be a number of at least 0")
    proved = min(limits.judging.proved, limits.promised)
    if own <= max(proved, 0.0 if reference else promise) or infeasibility(allocation) == np.inf:
        return Known(own)
    if not isinstance(mechanism, BY_ROUNDS) and mechanism.marginal(allocation) is None:  # its residual is not what prices prove
        return Known(own)
    if not (most >= allocation.instance.A if reference is None else reference):
        return _without_reference(allocation, own, f"an independent reference is for {most} arcs or on request")
    better = None if limits.late else _by_reference(mechanism, allocation, own, limits)
    if better is None and limits.late:
        return _without_reference(allocation, own, "there was no time left for an independent reference")
    best, proof = (own, None) if better is None else better
    least = proved if allocation.method == DIGITS else GROSS
    decidable = (isinstance(mechanism, BY_ROUNDS) and best > trusted) or (isinstance(mechanism, AlphaFair) and best > least)
    return (_decided(mechanism, allocation, best, limits) if decidable else Known(best))._replace(proof=proof)


def _decided(rule: Mechanism, allocation: Allocation, best: float, limits: Limits) -> Known:
    """By the right answer where there are few arcs; otherwise not where rounding explains the residual of a rule."""
    here = replace(allocation, instance=rule.domain(allocation.instance))
    exact = _by_digits(rule, allocation, limits) if isinstance(rule, AlphaFair) else _by_rationals(rule, allocation, here, limits)
    if exact is not None:
        return Known(exact if exact <= limits.judging.trusted else max(best, exact), exact=True)
    if not isinstance(rule, Leximin) or best > _rounding(rule, here, limits.judging.rounding):
        return Known(best)
    return Known(
        best, not_decided=f"not decided: rounding explains a residual of {best:.3g}, and there is no exact answer in time"
    )


def _by_digits(mechanism: AlphaFair, allocation: Allocation, limits: Limits) -> float | None:
    """The largest relative difference of a user's tasks from the right ones to many digits; None where these are others."""
    right = right_tasks(mechanism, allocation.instance, limits)
    error = np.inf if right is None else max(_apart(_exact_tasks(allocation), right.tasks)) + right.error
    return error if error <= limits.judging.trusted else None


def _by_rationals(rule: Mechanism, allocation: Allocation, here: Allocation, limits: Limits) -> float | None:
    """The largest relative difference of a user's tasks (of the level, where one round is all) from the answer in rationals."""
    x = _right_answer(rule, allocation.instance, limits)
    if x is None:
        return None
    tasks, right = _exact_tasks(here), exact_arcs(here.instance).tasks(x)
    if not isinstance(rule, Leximin) or rule.several_rounds:
        return max(_apart(tasks, right))
    rate = rule.exact_rate(here.instance)
    level, best = (min(r * u for r, u in zip(rate, part, strict=True)) for part in (tasks, right))
    return max(_apart([level], [best]))


def _rounding(rule: Leximin, here: Allocation, part: float) -> float:
    """The residual that (*) has from rounding alone: a gap of `part` of the sum of the prices."""
    layers = rule.proofs(here)
    if layers is None:
        return 0.0
    rate = rule.rate(here.instance)
    v = rate * here.tasks
    most = np.full(len(v), np.inf)
    for p in layers:
        y = cheapest(here.instance, p) / rate
        most = np.minimum(most, np.divide(part * p.sum(), y, out=np.full_like(v, np.inf), where=y > 0))
    finite = np.isfinite(most) & (v > 0)
    return float((most[finite] / (v[finite] + most[finite])).max(initial=0.0))


def _without_reference(allocation: Allocation, own: float, reason: str) -> Known:
    """What its own prices prove; without any nothing is known."""
    if allocation.prices is not None:
        return Known(own)
    return Known(np.inf, f"not judged: the allocation has no prices that prove it, and {reason}")


def _by_reference(mechanism: Mechanism, allocation: Allocation, own: float, limits: Limits) -> tuple[float, Allocation] | None:
    """The better of `own` and what the reference proves, and the allocation with its prices; None without an answer in time."""
    if isinstance(mechanism, BY_ROUNDS):
        return _by_rounds(mechanism, allocation, own, limits)
    marginal = mechanism.marginal(allocation)
    assert marginal is not None
    prices = reference_prices(allocation, marginal, limits.deadline - limits.clock())
    proof = replace(allocation, prices=prices)
    bound = mechanism.residual(proof)  # where everybody is at its limit, prices of 0 prove it
    return (min(own, bound), proof) if bound < np.inf else None


def _by_rounds(
    rule: Leximin | NestedMaxMin, allocation: Allocation, own: float, limits: Limits
) -> tuple[float, Allocation] | None:
    """By the reference's prices, or, where these prove its own shares, by the largest relative difference from these.

    In deep sequences a proof is sharper than arithmetic (somebody may be raised by 1e-4 if others lose 1e-13); there the
    difference from the reference is what counts, if the reference itself is proved.
    """
    here = replace(allocation, instance=rule.domain(allocation.instance))
    reference = reference_allocation(rule, here.instance, limits)
    if reference is None:
        return None
    priced = replace(allocation, round_prices=reference.round_prices)
    best = min(own, rule.residual(priced))
    deviation = worst([*np.abs(here.tasks / reference.tasks - 1.0), rule.residual(reference)])
    return (min(best, deviation) if deviation <= limits.judging.trusted else best), priced


def reference_allocation(rule: Leximin | NestedMaxMin, instance: Instance, limits: Limits) -> Allocation | None:
    """The rule's allocation on its domain by SciPy's dual simplex, which no method uses, with prices; None where it fails."""
    (scaled, unit), tolerance = rule.canonical(instance), limits.judging.reference_tolerance

    def solve(now: Any) -> tuple[Floats, Floats]:
        lp = rule.lp(scaled, now)
        rows, sides = sp.vstack([lp.matrix, -lp.matrix], format="csr"), np.concatenate([lp.upper, -lp.lower])
        given, bounds = np.isfinite(sides), np.column_stack([np.zeros(len(lp.most)), lp.most])
        facts: dict[str, Any] = {"bounds": bounds, "presolve": not lp.far_apart}
        answer = linear_program(-lp.cost, rows[given], sides[given], tolerance, limits.left, **facts)
        if not answer.success:
            raise ArithmeticError(answer.message)
        dual = np.zeros(len(sides))
        dual[given] = -answer.ineqlin.marginals
        above, below = np.split(dual, 2)
        return answer.x[:-1], (above - below)[: scaled.K * scaled.R].reshape(scaled.K, scaled.R)

    with suppress(ArithmeticError, Stopped):
        nested = isinstance(rule, NestedMaxMin)
        x, prices = (solve_nested_rounds if nested else solve_rounds)(rule, scaled, solve, tolerance)  # type: ignore[arg-type]
        return Allocation(instance, x * unit[instance.arcs.user], round_prices=prices)
    return None


def _claim(allocation: Allocation, proved: float, promise: float) -> Allocation:
    """What is claimed is what the answer proves, whatever its solver calls it, where no capacity or limit is exceeded by more."""
    beyond, proved = allocation.residuals["feasibility"], worst([proved])
    if allocation.termination not in ("optimal", "inaccurate", "approximate"):
        return allocation
    if max(proved, beyond) > promise:
        reason = f"proves no more than a residual of {proved:.1e}" if proved > promise else f"is infeasible by {beyond:.1e}"
        known = allocation.message if allocation.termination != "optimal" else ""
        called = "approximate" if allocation.termination == "approximate" else "inaccurate"
        return allocation.noted(termination=called, message=known or f"its answer {reason}")
    if allocation.termination != "optimal" and "objective" not in allocation.parameters:  # of which the residual knows nothing
        sentence = f"called {allocation.termination}, but its answer proves a residual of {proved:.1e}"
        return allocation.noted(termination="optimal", message=sentence)
    return allocation
