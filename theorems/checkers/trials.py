"""How statements about a mechanism are tried and confirmed: one judgement, of an answer in floating point and of a proved one.

A judge is a function of a case and of `answer`, which computes the mechanism on any instance: the true one, the reported
one, or the one without a user who leaves. `attempted` gives it the fast method's answers, `proved` the rational ones of a
certificate that was verified without a solver; a judge computes in rationals where the allocation has them.

Margins of the judges for claims of several papers are in tasks as parts of what the user's best server runs alone, so that one
tolerance fits all.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairalloc.analysis.certificates.certificate import Certificate
from fairalloc.analysis.certificates.construct import NotCertified, certified_answer
from fairalloc.analysis.certificates.dual_solutions import BoundsCertificate, LeximinCertificate
from fairalloc.analysis.certificates.game_certificate import ResidualCertificate
from fairalloc.analysis.holdings import Holdings, Unsolved, ratio
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE, check
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES
from fairalloc.analysis.properties.strategyproofness import leaving, misreporting
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance
from fairalloc.solvers import METHODS, solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.standalone.certificates import by_place, exact_maximum, given
from fairalloc.theorems.standalone.definitions import alone, bargain

Answer: TypeAlias = Callable[[Instance], Allocation]
Judge: TypeAlias = Callable[[Case, Answer], Verdict]
Parameters: TypeAlias = tuple[tuple[str, Any], ...]


class Routes(NamedTuple):
    """How a statement is tried: a case in floating point; and confirmed: in rationals or intervals, by an unrelated route."""

    trial: Callable[[Case], Verdict]
    confirm: Callable[[Case], Verdict]


def once(decide: Callable[[Case], Verdict]) -> Routes:
    """Routes of a claim that one exact check decides: of one printed case, or with a second implementation in the tests."""
    return Routes(decide, decide)


RATIONAL = "rational arithmetic"


def exact_verdict(name: str, margin: Any, sentence: str, method: str = RATIONAL) -> Verdict:
    """The verdict of a margin in rationals: positive is a violation."""
    return Verdict(name, bool(margin <= 0), float(margin), sentence, method)


def yes_or_no(name: str, holds: bool, sentence: str, method: str = RATIONAL) -> Verdict:
    """The verdict of what has no margin."""
    return exact_verdict(name, -1 if holds else 1, sentence, method)


SAFETY = 10.0
"""A margin decides if it is this many times what tasks can be off: it depends on the tasks of two users, scaled by weights."""


def only_where(holds: object, reason: str) -> None:
    """NotApplicable where a case does not have what a claim is about."""
    if not holds:
        raise NotApplicable(reason)


def misreport_of(case: Case) -> Misreport:
    """NotApplicable where there is none."""
    if case.misreport is None:
        raise NotApplicable("nobody misreports")
    return case.misreport


class Undecided(Exception):  # noqa: N818 (a finding, not an error)
    """There is no proof on which a verdict could rest."""


def attempted(mechanism: str | Mechanism, judge: Judge, method: str | None = None) -> Callable[[Case], Verdict]:
    """A trial in floating point by the fastest method, or the given one;
    many misreports about one true instance need its answer once.
    """
    answers = lru_cache(maxsize=4)(partial(answered, mechanism, method))
    return lambda case: decided(judge, case, partial(answers, tuple(case.parameters.items())), "floating point")


def proved(mechanism: str | Mechanism, judge: Judge) -> Callable[[Case], Verdict]:
    """The judgement on certified rational answers."""
    return proved_by(judge, lambda _, widths: partial(certified_allocation, mechanism, widths=widths))


def proved_by(judge: Callable[[Case, Any], Verdict], answer: Callable[[Case, list[float]], Any]) -> Callable[[Case], Verdict]:
    """The judgement on certified answers to a case, which add to a list how far they are off."""

    def confirm(case: Case) -> Verdict:
        widths: list[float] = []
        return decided(judge, case, answer(case, widths), "certificate", widths)

    return confirm


def decided(judge: Judge, case: Case, answer: Answer, method: str, widths: Sequence[float] = ()) -> Verdict:
    """The verdict of a judge; not decided where it has no answer, or where answers that are off by `widths` cannot bear it."""
    try:
        verdict = judge(case, answer)
    except (Undecided, Unsolved) as reason:
        return undecided(reason, method)
    if any(widths) and abs(verdict.margin) <= SAFETY * max(widths):
        return replace(verdict, holds=None, sentence=f"not decided: {verdict.sentence}")
    return verdict


def answered(mechanism: str | Mechanism, method: str | None, parameters: Parameters, instance: Instance) -> Allocation:
    """A method's answer; Undecided where its residual is too large to rest a verdict on."""
    allocation = solve(instance, mechanism, method, **dict(parameters))
    if allocation.not_judged and allocation.termination == "optimal":
        return allocation
    if allocation.termination == "stationary":
        raise Undecided(f"the {allocation.mechanism} allocation is a stationary point, {allocation.not_judged}")
    if not allocation.residual <= TOLERANCE:
        raise Undecided(f"the residual of the {allocation.mechanism} allocation is {allocation.residual:.1e}")
    return allocation


def certified_allocation(mechanism: str | Mechanism, instance: Instance, widths: list[float]) -> Allocation:
    """The allocation of a verified certificate; its distance from the mechanism's own is added to `widths`."""
    certificate, item = proof_of(certified_answer(instance, mechanism)), find_mechanism(mechanism)
    widths.append(width(certificate, instance))
    rule = None if isinstance(mechanism, str) else item
    method = "exact" if METHODS["exact"].computes(item.kept(instance)) else "a certificate"
    return rational_allocation(item.home(instance), certificate.x, item.id, method).noted(rule=rule)


def proof_of(found: Certificate | NotCertified) -> Certificate:
    """The certificate; Undecided where there is none."""
    if isinstance(found, NotCertified):
        raise Undecided(found.reason)
    return found


def rational_allocation(instance: Instance, x: Rationals, mechanism: str = "", method: str = "") -> Allocation:
    return Allocation(instance, np.array([float(v) for v in x]), mechanism, method, x_exact=x)


def width(certificate: Certificate, instance: Instance) -> float:
    """How far tasks can be from those of the mechanism, relative: 0 for exact answers.

    For nb, what proofs.py leaves out of its bound is sum_n w_n phi(s_n u'_n / w_n) with phi(r) = r - 1 - log r >= 0, which
    at the optimum u' is therefore at most the gap; so s_n u'_n / w_n differs from 1 by about sqrt(2 gap / w_n) at most.
    In the game the objective of a server is strongly concave in logarithms of shares, with the least weight and min(1, alpha)
    as its modulus, so a gain of at most b leaves at most sqrt(2 b / modulus).
    """
    if isinstance(certificate, BoundsCertificate):
        return float(np.sqrt(2 * float(certificate.gap) / instance.weights.min()))
    if not isinstance(certificate, ResidualCertificate):
        return 0.0
    least = min([1.0, *(float(a) for a in certificate.alpha if a)])
    return float(np.sqrt(2 * float(certificate.bound) / (least * float(instance.weights.min() / instance.weights.sum()))))


def property_judge(property: str | Mechanism) -> Callable[[Case, Answer], Verdict]:  # noqa: A002
    """A judge of a case and of `answer`, as `attempted` wants it, for any property here or in checks.py.

    A property of an allocation is checked at the answer to the reported instance; the margin is exact where the answer is.
    """

    def judged(case: Case, answer: Answer) -> Verdict:
        if property == "population-monotonicity":
            return leaving(case.instance, answer)
        if property in MECHANISM_PROPERTIES:
            return replace(misreporting(case.instance, misreport_of(case), answer), property=str(property))
        allocation = answer(case.reported)
        verdict = check(allocation, property)
        if verdict.holds is None:
            raise NotApplicable(f"{property} is not about this case: {verdict.sentence}")
        return verdict

    return judged


# ---- judges of several papers, beside checks.py and strategyproofness.py ----------------------------------------


Row: TypeAlias = tuple[str, str, Fraction]
"""A name, the printed text, and the computed value."""


def holdings_of(allocation: Allocation) -> Holdings:
    """The numbers of an allocation, in rationals where it has them."""
    return Holdings(allocation, allocation.x_exact is not None)


def certified(instance: Instance, name: str) -> Holdings:
    """A mechanism's certified rational answer."""
    return Holdings(certified_allocation(name, instance, []), True)


def verdict_of(h: Holdings, name: str, margin: Any, sentence: str) -> Verdict:
    """The verdict of a margin: positive is a violation."""
    holds = not margin > (0 if h.exact else TOLERANCE)
    return Verdict(name, bool(holds), float(margin), sentence, "rational arithmetic" if h.exact else "floating point")


def maximum_worth(h: Holdings, worth: Any, floors: Any) -> Any:
    """Max sum_n worth_n u_n  over feasible u with u_n >= floors_n; Undecided where the program is not solved."""
    instance, arcs = h.instance, h.instance.arcs
    limited = np.flatnonzero(np.isfinite(instance.max_tasks))
    load = h.zeros(instance.K * instance.R, len(arcs))
    parts = ratio(h.demand, h.pools[arcs.server]) * h.gamma[:, None]
    for a, (i, row) in enumerate(zip(arcs.server.tolist(), parts, strict=True)):
        load[i * instance.R : (i + 1) * instance.R, a] = row
    share = h.zeros(instance.N, len(arcs))
    share[arcs.user, np.arange(len(arcs))] = h.gamma / h.alone[arcs.user]
    ones = h.array(np.ones(len(load), dtype=int))
    sides = np.concatenate([ones, -floors / h.alone, h.limits[limited] / h.alone[limited]])
    best = maximum((worth * h.alone) @ share, np.concatenate([load, -share, share[limited]]), sides, h.exact)
    if best is None:
        raise Undecided("a linear program was not solved")
    return best.value


def most_of(h: Holdings, n: int, floors: Any) -> Any:
    """The most that user n can run, in parts of what it runs alone, while all have at least these floors (N,)."""
    only = h.zeros(h.instance.N)
    only[n] = 1 / h.alone[n]
    return maximum_worth(h, only, floors * (1 if h.exact else 1 - 1e-9))


def optimum(cost: Sequence[Any], rows: Sequence[Any], sides: Sequence[Any]) -> Any:
    """Max cost z  over rows z <= sides and z >= 0, in rationals; NotApplicable where the program is not solved."""
    best = exact_maximum(cost, rows, sides)
    if best is None:
        raise NotApplicable("a linear program was not solved")
    return best.value


def about_mechanism(mechanism: str | Mechanism, judge: Judge) -> Routes:
    """How a statement about a mechanism is tried and confirmed."""
    return confirmed_at_once(attempted(mechanism, judge), proved(mechanism, judge))


def confirmed_at_once(quick: Callable[[Case], Verdict], exact: Callable[[Case], Verdict]) -> Routes:
    """Routes by which a violation in floating point must be confirmed in rationals.

    The search climbs to numbers of very different size, where a millionth of one user's tasks is many of another's.
    """

    def trial(case: Case) -> Verdict:
        verdict = quick(case)
        if verdict.holds is not False:
            return verdict
        again = exact(case)
        return verdict if again.holds is False else again

    return Routes(trial, exact)


def few_rounds(mechanism: str, domain: Callable[[Instance], Instance] = lambda instance: instance) -> Routes:
    """How "at most n rounds" is tried, of an instance or another one made of it: programs of `highs:leximin`, certificates."""

    def counted(instance: Instance, count: int, method: str) -> Verdict:
        most = instance.N
        return Verdict("polynomial-time", count <= most, count - most, f"{count} linear programs for {most} users", method)

    def trial(case: Case) -> Verdict:
        prices = solve(domain(case.reported), mechanism, "highs:leximin").round_prices
        if prices is None:
            raise NotApplicable("the rounds are not known")
        return counted(case.reported, len(prices), "HiGHS")

    def confirm(case: Case) -> Verdict:
        certificate = certified_answer(domain(case.reported), mechanism)
        if not isinstance(certificate, LeximinCertificate):
            return undecided(certificate, "certificate", "polynomial-time")
        return counted(case.reported, len(certificate.rounds), "certificate")

    return Routes(trial, confirm)


# ---- judges ---------------------------------------------------------------------------------------------------------


def leximin_in(unit: Callable[[Instance], Sequence[Any]], case: Case, answer: Answer) -> Verdict:
    """The judge of lexicographic max-min fairness of unit_n u_n / w_n.

    Utilities form a convex set, so an allocation is lexicographically largest iff no user can gain while all others keep at
    least the smaller of their level and this user's: one linear program for each user, independent of the rounds.
    """
    h = holdings_of(answer(case.reported))
    rate = h.array(list(unit(h.instance))) / h.weights
    v = rate * h.tasks
    gains = [most_of(h, n, np.minimum(v, v[n]) / rate) - h.tasks[n] / h.alone[n] for n in range(h.instance.N)]
    n = int(np.argmax([float(g) for g in gains]))
    user, tasks = h.instance.users[n], float(h.tasks[n])
    sentence = f"user {user!r} runs {tasks:.6g} tasks and can gain while nobody falls below what it has"
    return verdict_of(h, "leximin", gains[n], sentence)


leximin: Judge = partial(leximin_in, lambda instance: [Fraction(1)] * instance.N)
"""Lexicographic max-min fairness of the numbers of tasks (Z Def 1)."""


def max_min_fair(case: Case, answer: Answer) -> Verdict:
    """The least number of tasks is as large as it can be (Z II-B, MMF)."""
    h = holdings_of(answer(case.reported))
    most = (certified(h.instance, "mmf") if h.exact else holdings_of(solve(h.instance, "mmf"))).tasks.min()
    sentence = f"the least number of tasks is {h.tasks.min()}, and {most} is possible"
    return verdict_of(h, "max-min", (most - h.tasks.min()) / h.alone.min(), sentence)


def strict_misreporting(case: Case, answer: Answer) -> Verdict:
    """Of the users who misreport together, somebody loses where somebody gains: the strong form of group strategyproofness."""
    told = misreport_of(case)
    users, own = list(told.users), case.instance.exact.demands
    each = zip(users, told.demands, told.eligible, strict=True)
    if any(places is None and (rows is None or {*rows} == {*own[n]}) for n, rows, places in each):
        raise NotApplicable("a member of the coalition reports the truth")
    h, reported = holdings_of(answer(case.instance)), holdings_of(answer(case.reported))
    after = [h.utilities(n, reported.bundles[n : n + 1])[0] for n in users]
    gains = [(u - h.tasks[n]) / h.alone[n] for n, u in zip(users, after, strict=True)]
    harmless = min(gains) >= (0 if h.exact else -TOLERANCE)
    sentence = ", ".join(f"{h.instance.users[n]!r} runs {u} for {h.tasks[n]}" for n, u in zip(users, after, strict=True))
    return verdict_of(h, "group-strategyproofness", max(gains) if harmless else min(gains), f"by misreporting, user {sentence}")


def as_one_pool(case: Case, answer: Answer) -> Verdict:
    """Everybody runs what progressive filling of the pooled resources gives it (W Propositions 6 and 7, W 4.5.3)."""
    h = holdings_of(answer(case.reported))
    expected = progressive_filling(case.reported)
    worst: tuple[Any, int] = max((abs(u - e) / g, n) for n, (u, e, g) in enumerate(zip(h.tasks, expected, h.alone, strict=True)))
    n = worst[1]
    sentence = f"user {h.instance.users[n]!r} runs {h.tasks[n]} tasks, and {expected[n]} in one pool"
    return verdict_of(h, "reduction", worst[0], sentence)


def progressive_filling(instance: Instance) -> Rationals:
    """(N,) tasks by progressive filling of dominant shares in one pool of all resources, in rationals and without a solver."""
    exact, demands = instance.exact, [rows[0] for rows in instance.exact.demands]
    pool = instance.counts.astype(object) @ np.array(exact.capacities, dtype=object)
    return hierarchical_filling(Instance(demands, [pool.tolist()], weights=exact.weights, max_tasks=exact.max_tasks))


# ---- printed numbers ------------------------------------------------------------------------------------------------


def printed_numbers(rows: Callable[[Case], Sequence[Row]]) -> Routes:
    """The check, by both routes, of numbers as printed: decimals to the last digit that is printed, fractions exactly."""

    def confirm(case: Case) -> Verdict:
        wrong = [(name, printed, value) for name, printed, value in rows(case) if _distance(printed, value) > 0]
        margin = max((float(_distance(printed, value)) for _, printed, value in wrong), default=0.0)
        said = [f"{name} is {value}, not {printed}" for name, printed, value in wrong]
        sentence = "; ".join(said) or f"all {len(rows(case))} numbers are as printed"
        return Verdict("printed numbers", not wrong, margin, sentence, "rational arithmetic")

    return once(confirm)


def printed_tasks(mechanism: str, *printed: str) -> Routes:

    def rows(case: Case) -> Sequence[Row]:
        h = certified(case.instance, mechanism)
        return [(f"x_{n + 1}", text, h.tasks[n]) for n, text in enumerate(printed)]

    return printed_numbers(rows)


def monopoly(instance: Instance, n: int, i: int) -> Fraction:
    """gamma_ni in rationals, placement ignored; 0 where the server lacks what n demands.

    NotApplicable where users have several demand vectors, or other ones on some server.
    """
    only_where(instance.single_variant and not instance.exact.demands_on, "gamma is computed for one demand vector a user")
    gamma: Fraction = int(instance.counts[i]) * alone(instance.exact.demands[n][0], instance.exact.capacities[i])
    return gamma


def _distance(printed: str, value: Fraction) -> Fraction:
    """The distance of a value from the interval of values that round to the printed number."""
    digits = len(printed.split(".")[1]) if "." in printed else None
    allowed = Fraction(0) if digits is None else Fraction(1, 2 * 10**digits)
    return max(Fraction(0), abs(value - Fraction(printed)) - allowed)


def is_nash_bargain(instance: Instance, x: Sequence[Fraction], prices: Sequence[Fraction]) -> bool:
    """Whether x is the equilibrium of the market in which income is the weight, with prices (K R,) in parts of capacity."""
    problem, tasks, price = given(Case(instance))["problem"], by_place(instance, x), iter(prices)
    rows = [[p / c if c else p for c, p in zip(row, price, strict=False)] for row in problem[1]]
    try:
        return bool(bargain(problem, tasks, rows))
    except (AssertionError, ZeroDivisionError):  # x does not fit, or somebody has nothing
        return False


def others_changed(instance: Instance, x: Rationals, i: int) -> tuple[Instance, Rationals]:
    """Servers beside i three times as large, and everybody's tasks there on the last of them."""
    exact, arcs, moved = instance.exact, instance.arcs, list(x)
    grown = instance.replace(capacities=[[c if k == i else 3 * c for c in row] for k, row in enumerate(exact.capacities)])
    for n in range(instance.N):
        others = np.flatnonzero((arcs.user == n) & (arcs.server != i)).tolist()
        for a in others:
            moved[a] = sum((x[b] for b in others), Fraction(0)) if a == others[-1] else Fraction(0)
    return grown, tuple(moved)
