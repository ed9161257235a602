"""Properties of mechanisms: who gains by a misreport, alone or in a coalition, and who loses when another user leaves.

**Strategyproofness** (W 3.3, P III-B, Z II-B, D 4): nobody gains by reporting other demand vectors, other ways to run a task or
other eligible servers; weights (D's entitlements) and max_tasks (1 in D) are given, not reported. What a misreporting user gets
is counted in TRUE tasks: those it can run with the bundles it is given on every server, in the best packing of its true
variants. Resources on a server where it truly may not run count nothing, nor do tasks beyond its true max_tasks.

**Group strategyproofness** (W 3.3): in every coalition that misreports somebody does not gain, so the margin is the smallest gain
in the coalition. **Population monotonicity** (W 3.3): no user who stays runs fewer tasks when another leaves.

Margins are gains in units of the tasks that the user's best arc could run alone, and losses in those of fairness.py. Where a
mechanism has several answers, all this is about the one that its method computes.

**The search** (`check_mechanism`) can refute strategyproofness, not prove it; where it finds nothing the verdict is not decided
and says how many misreports were tried. It takes these steps:

1. Simple misreports (`_single_changes`) of each user are tried in random order, with half of the trials.
2. Climbs: for the rest, random coalitions start from simple misreports and change one number or one server at a time, as long as
   the margin rises at least once in PATIENCE changes.
3. Confirmation: a misreport with a margin above the tolerance is computed again, in rationals where the mechanism has them.
4. Simplification (`_simpler`), as long as the violation stays confirmed.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import PROPERTIES, TOLERANCE, check
from fairalloc.analysis.properties.misreport import Misreport, Vectors
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES, Property
from fairalloc.analysis.verdict import Verdict, by_margin, for_the_answer_of, undecided
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Count, Seconds, Seed, Tolerance, checked
from fairalloc.models.errors import FairallocError, NotApplicable, UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import told_apart
from fairalloc.models.transformations.own_time import own_time
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.running.time_limits import within

AllocationRule: TypeAlias = Callable[[Instance], Allocation]

FACTORS, DENOMINATORS = tuple(Fraction(v) for v in ("1/2", 2, "9/10", "10/9", "1/10", 10)), (1, 2, 3, 4, 6, 10, 100, 10**4)
"""A simple misreport changes a number by one of these factors; simplification tries the nearest number with a denominator."""

PATIENCE = 12
"""A climb ends after this many changes in a row that do not raise the margin."""

NOISE = 1e-4
"""The least gain that counts without rational answers: tasks computed for nb can be wrong by some 1e-6, relative (nb.py)."""


@checked
def check_mechanism(
    instance: Instance,
    mechanism: str | Mechanism | type[Mechanism],
    property: str | Property | Callable[..., Any],  # noqa: A002
    *,
    trials: Count = 200,
    seed: Seed = 0,
    coalition: Count = 2,
    method: str | None = None,
    tolerance: Tolerance = TOLERANCE,
    time_limit: Seconds | None = None,
    **parameters: Any,
) -> Verdict:
    """Check a property of a mechanism at one instance.

    The witness of a violation is {"misreport": Misreport, "reported": Instance, "gains": {user: gain}} or {"left": user,
    "instance": without it, "user", "before", "after"}. Where there are several answers, the verdict says whose it is about.

    Parameters
    ----------
    instance : the true demands and placement
    mechanism, method, parameters : as in `solve`; the method computes the trials of the search
    property : one of MECHANISM_PROPERTIES, or of PROPERTIES, or a function as `check` takes it: these are checked of the
        mechanism's allocation
    trials : number of misreports to try, one solve each
    seed : seed of the search
    coalition : largest number of users who misreport together, for group-strategyproofness
    tolerance : the largest gain that counts as rounding; not used for rational answers
    time_limit : seconds for the whole call, which then runs in a child process; None = no limit. A verdict that is not decided in
        time says so

    Returns
    -------
    Verdict; `holds` is None where a search for misreports finds no gain, or the property is not defined or not decided

    Examples
    --------
    >>> found = check_mechanism(Instance([[1], ["1/2"]], [[1]]), "lmmf", "strategyproofness")
    >>> found.holds, found.witness["misreport"].users
    (False, (1,))
    """
    found, used = find_mechanism(mechanism), list[str]()

    def by(asked: str | None, known: Instance) -> Allocation:
        """The answer of a method, whose name is noted; NotApplicable where there is none, of which nothing holds."""
        answer = solve(known, mechanism, asked, **parameters)
        used.append(answer.method)
        if not answer.has_point:
            raise NotApplicable(f"mechanism {found.id!r} has no answer on {known!r}: {answer.message or answer.outcome}")
        return answer

    def work(_: object) -> Verdict:
        item = found.configure(**parameters)
        home = item.home(instance)
        quick, exact = partial(by, method), partial(by, "exact") if METHODS["exact"].computes(item.kept(home)) else None
        if not isinstance(property, str) or property in PROPERTIES:
            verdict = check((exact or quick)(home), property, tolerance)
        elif property == "population-monotonicity":
            verdict = leaving(home, exact or quick, tolerance)
        elif property in MECHANISM_PROPERTIES:
            search = _MisreportSearch(home, quick, exact, property, tolerance, seed)
            verdict = search.verdict(trials, 1 if property == "strategyproofness" else coalition)
        else:
            known = (*MECHANISM_PROPERTIES, *PROPERTIES)
            raise UnknownName(no_such("property", property, known, f"the properties of a mechanism are {', '.join(known)}"))
        several, confirmed = not item.unique and used, exact and verdict.holds is False  # else the trials are of their method
        return replace(verdict, answers=for_the_answer_of("exact" if confirmed else used[0])) if several else verdict

    about = property if isinstance(property, str) else getattr(property, "name", getattr(property, "__name__", "the property"))
    return within(time_limit or np.inf, work, undecided("the time was not enough", "not decided", about))


def misreporting(
    instance: Instance,
    misreport: Misreport,
    answer: AllocationRule,
    tolerance: float = TOLERANCE,
    honest: Allocation | None = None,
) -> Verdict:
    """Check that somebody in the coalition does not gain by this misreport; the margin is the smallest gain in the coalition.

    `instance` are the true data, on which allocations live (for "drf" the pool), and `honest` is the answer there, where it is
    known. The tolerance is not used in rationals. With demands of their own on servers it matters where users are placed, so the
    verdict is about the answer that was computed. InstanceError where nobody can be served as reported.
    """
    honest = answer(instance) if honest is None else honest
    false = misreport.reported(instance)
    reported = answer(false)
    each, exact = gains(instance, misreport, honest, reported)
    margin, n = min((gain, n) for n, gain in each.items())
    method = f"this one misreport, in {'rationals' if exact else 'floating point'}"
    before, after = told_apart(_runs(instance, honest, exact, n), _runs(instance, reported, exact, n))
    held = f"user {instance.users[n]!r} does not gain by this misreport"
    broken = f"by misreporting, user {instance.users[n]!r} runs {after} of its tasks instead of {before}"
    witness = {"misreport": misreport, "reported": false, "gains": {instance.users[k]: gain for k, gain in each.items()}}
    found = by_margin(margin, 0 if exact else tolerance, held, broken, method, witness, "strategyproofness")
    return replace(found, answers=for_the_answer_of(reported.method)) if instance.demands_on else found


def gains(instance: Instance, misreport: Misreport, honest: Allocation, reported: Allocation) -> tuple[dict[int, Any], bool]:
    """{member: gain} in true tasks that its best arc could run alone, and whether these numbers are exact."""
    exact = honest.x_exact is not None and reported.x_exact is not None
    alone, runs = Holdings(replace(honest, instance=instance), exact).alone, partial(_runs, instance)
    return {n: (runs(reported, exact, n) - runs(honest, exact, n)) / alone[n] for n in misreport.users}, exact


def _runs(truth: Instance, allocation: Allocation, exact: bool, n: int) -> Any:
    """The true tasks that user n can run with the bundles it is given."""
    bundles = Holdings(allocation, exact).bundles[n : n + 1]
    return Holdings(Allocation(truth, np.zeros(truth.A)), exact).utilities(n, bundles)[0]


def leaving(instance: Instance, answer: AllocationRule, tolerance: float = TOLERANCE) -> Verdict:
    """Check that nobody runs fewer tasks when any one user leaves and returns its resources (W 3.3)."""
    name = "population-monotonicity"
    if instance.N == 1:
        return undecided("there is nobody to stay when the user leaves", name=name)
    before = answer(instance)
    losses: list[tuple[Any, dict[str, Any], bool]] = []
    for n in range(instance.N):
        rest = without(instance, n)
        after = answer(rest)
        exact = before.x_exact is not None and after.x_exact is not None
        h, left = Holdings(before, exact), Holdings(after, exact)
        others = [m for m in range(instance.N) if m != n]
        worth = np.insert(left.worth, n, h.worth[n])
        lost = h.gains(worth, h.worth)
        for m in others:
            facts = {"left": instance.users[n], "instance": rest, "user": instance.users[m]}
            losses.append((lost[m], facts | {"before": h.worth[m], "after": worth[m]}, exact))
    margin, witness, exact = max(losses, key=lambda loss: loss[0])
    method = f"the answers without each user, in {'rationals' if exact else 'floating point'}"
    runs, ran = told_apart(witness["after"], witness["before"])
    broken = f"user {witness['user']!r} runs {runs} tasks instead of {ran} when user {witness['left']!r} leaves"
    return by_margin(margin, 0 if exact else tolerance, "nobody loses when another leaves", broken, method, witness, name)


def without(instance: Instance, n: int) -> Instance:
    exact, stay = instance.exact, [m for m in range(instance.N) if m != n]
    return instance.replace(
        **{name: [getattr(exact, name)[m] for m in stay] for name in ("demands", "weights", "max_tasks", "min_tasks")},
        groups=None if instance.groups is None else instance.groups.chosen(stay),
        eligible=instance.placement[stay],
        users=[instance.users[m] for m in stay],
        rates=exact.rates_of(stay, range(instance.K)),
        demands_on={(stay.index(m), i): rows for (m, i), rows in exact.own.items() if m != n},
    )


# ---- the search for a misreport --------------------------------------------------------------------------------------

Report: TypeAlias = tuple[Vectors | None, tuple[bool, ...] | None]
"""What one user reports: demand vectors and eligible servers; None = truthful."""


class _MisreportSearch:
    """The four steps in the text of this module."""

    def __init__(
        self, truth: Instance, quick: AllocationRule, exact: AllocationRule | None, name: str, tolerance: float, seed: int
    ) -> None:
        self.truth, self.quick, self.name = truth, quick, name
        self.tolerance = tolerance if exact is not None else max(tolerance, NOISE)
        self.rng, self.tried, self.left, self.best = np.random.default_rng(seed), 0, 0, -np.inf
        self.honest = quick(truth)
        self.confirming = (quick, self.honest) if exact is None else (exact, exact(truth))
        self.reports = [list(self._single_changes(n)) for n in range(truth.N)]

    def verdict(self, trials: int, most: int) -> Verdict:
        """The violation that was found, or how much was tried."""
        self.left = trials
        found = next((one for one in self._tries(most) if one is not None), None)
        if found is not None:
            return replace(found, property=self.name)
        method = f"search over misreports of up to {min(most, self.truth.N)} of {self.truth.N} users, {self.tried} tried"
        if not self.tried:
            return undecided("no misreport has an answer", method, self.name)
        return Verdict(self.name, None, self.best, f"not refuted by {self.tried} misreports, which is no proof", method)

    def _tries(self, most: int) -> Iterator[Verdict | None]:
        """Step 1 with half of the trials, then climbs of random coalitions of up to `most` users; the violations they find."""
        single = [{n: report} for n, reports in enumerate(self.reports) for report in reports]
        for k in self.rng.permutation(len(single))[: self.left // 2].tolist():
            yield self._try(single[k])[1]
        while self.left > 0:
            size = int(self.rng.integers(1, min(most, self.truth.N) + 1))
            users = sorted(self.rng.permutation(self.truth.N)[:size].tolist())
            yield self._climb({n: self._random_report(n) for n in users})

    def _climb(self, reports: dict[int, Report]) -> Verdict | None:
        """Step 2; the verdict of a confirmed violation, if it finds one."""
        score, found = self._try(reports)
        failed = 0
        while found is None and failed < PATIENCE and self.left > 0:
            n = int(self.rng.choice(list(reports)))
            changed = {**reports, n: self._changed_report(n, reports[n], 1 / (1 + failed))}
            margin, found = self._try(changed)
            failed = 0 if margin > score else failed + 1
            if margin >= score:
                reports, score = changed, margin
        return found

    def _try(self, reports: dict[int, Report]) -> tuple[float, Verdict | None]:
        """The margin of a misreport, and the confirmed and simplified verdict where it is a violation."""
        self.left -= 1
        try:
            reported = self.quick(_misreport(reports).reported(self.truth))
        except FairallocError:  # some user could not be served as reported
            return -np.inf, None
        if not reported.residual <= TOLERANCE:
            return -np.inf, None
        self.tried += 1
        each, _ = gains(self.truth, _misreport(reports), self.honest, reported)
        margin = float(min(each.values()))
        verdict = self._confirmed(reports) if margin > self.tolerance else None
        self.best = max(self.best, margin) if margin <= self.tolerance else self.best
        return margin, None if verdict is None else self._simplified(reports, verdict)

    def _confirmed(self, reports: dict[int, Report]) -> Verdict | None:
        """Step 3: the verdict of a misreport by which the whole coalition gains, in rationals where the mechanism has them."""
        answer, honest = self.confirming
        try:
            verdict = misreporting(self.truth, _misreport(reports), answer, self.tolerance, honest)
        except FairallocError:
            return None
        return verdict if verdict.holds is False else None

    def _single_changes(self, n: int) -> Iterator[Report]:
        """Another user's demands, one number changed, one variant more or less, one server more or less.

        Of a user with time of its own (`with_own_time`) one rate changed, or one kind of server less.
        """
        own = self.truth.exact.demands[n]
        others = [rows for m, rows in enumerate(self.truth.exact.demands) if m != n and rows != own and self.time[n] < 0]
        for rows in dict.fromkeys(others):
            yield rows, None
            yield from (((*own, row), None) for row in rows)
        for v in range(len(own) if len(own) > 1 else 0):
            yield (*own[:v], *own[v + 1 :]), None
        for v, r in product(range(len(own)), self._numbers(n)):
            values = [own[v][r] * f for f in FACTORS] if own[v][r] else [max(own[v]) * f for f in FACTORS]
            for value in (*values, Fraction(0)):
                rows = self._changed(n, own, v, r, value)
                if rows != own and any(rows[v]):
                    yield rows, None
        truth = tuple(self.truth.placement[n].tolist())
        for i in range(self.truth.K if self.truth.K > 1 else 0):
            allowed = (*truth[:i], not truth[i], *truth[i + 1 :])
            if any(allowed):
                yield None, allowed

    def _random_report(self, n: int) -> Report:
        demands, eligible = self.reports[n][self.rng.integers(len(self.reports[n]))]
        if self.rng.random() < 0.3:
            more, others = self.reports[n][self.rng.integers(len(self.reports[n]))]
            demands, eligible = demands or more, eligible or others
        return demands, eligible

    def _changed_report(self, n: int, report: Report, size: float) -> Report:
        """The report with one number or one server changed, or, with probability 0.15, a new random one."""
        demands, eligible = report
        choice = self.rng.random()
        if choice < 0.15:
            return self._random_report(n)
        if choice < 0.3 and self.truth.K > 1:
            allowed = list(eligible or self.truth.placement[n].tolist())
            i = int(self.rng.integers(self.truth.K))
            allowed[i] = not allowed[i]
            return demands, tuple(allowed)
        rows = demands or self.truth.exact.demands[n]
        v, r = int(self.rng.integers(len(rows))), int(self.rng.choice(self._numbers(n)))
        factor = Fraction(float(np.exp(size * self.rng.normal()))).limit_denominator(1000)
        value = rows[v][r] * factor if rows[v][r] else max(rows[v]) * factor / 10
        return self._changed(n, rows, v, r, value.limit_denominator(10**6) or value), eligible

    @cached_property
    def time(self) -> list[int]:
        """(N,) the resource that is a user's own time, -1 = none."""
        return [int(r) for r in own_time(self.truth)]

    def _numbers(self, n: int) -> range:
        """The resources of which a user reports what a task takes; of one with time of its own, that time."""
        return range(self.truth.R) if self.time[n] < 0 else range(self.time[n], self.time[n] + 1)

    def _changed(self, n: int, rows: Vectors, v: int, r: int, value: Fraction) -> Vectors:
        """The rows with a number changed; who has time of its own reports rates, so that all of the row changes in proportion."""
        factor = value / rows[v][r] if self.time[n] >= 0 else 1
        row = [number * factor for number in rows[v]]
        row[r] = value
        return (*rows[:v], tuple(row), *rows[v + 1 :])

    def _simplified(self, reports: dict[int, Report], verdict: Verdict) -> Verdict:
        while True:
            tried = ((simpler, self._confirmed(simpler)) for simpler in self._simpler(reports))
            reports, found = next((pair for pair in tried if pair[1] is not None), (reports, None))
            if found is None:
                return verdict
            verdict = found

    def _simpler(self, reports: dict[int, Report]) -> Iterator[dict[int, Report]]:
        """Simpler misreports: a smaller coalition, a truthful part, a smaller denominator; so simplification comes to an end."""
        for n, (demands, eligible) in reports.items():
            if len(reports) > 1:
                yield {m: report for m, report in reports.items() if m != n}
            if demands is not None and eligible is not None:
                yield {**reports, n: (None, eligible)}
                yield {**reports, n: (demands, None)}
            for v, r, most in product(range(len(demands or ())), self._numbers(n), DENOMINATORS):
                value = (demands or ())[v][r]
                near = value.limit_denominator(most)
                if near and near.denominator < value.denominator:
                    yield {**reports, n: (self._changed(n, demands or (), v, r, near), eligible)}


def _misreport(reports: dict[int, Report]) -> Misreport:
    users = tuple(sorted(reports))
    return Misreport(users, *zip(*(reports[n] for n in users), strict=True))
