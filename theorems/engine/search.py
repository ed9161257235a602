"""The search for a violation: restarts, climbing on the signed margin, then shrinking to the smallest case.

1. A restart draws a few samples; where users misreport, several misreports of each true instance.
2. From the sample with the largest margin it climbs by changing single numbers, places, misreports and parameters; a change that
   helped is repeated (pattern search).
3. A violation in floating point counts only where `confirm` has seen it in rationals.
4. Where a climb ends without one, and the violation is linear in the weights, a program finds the worst weights
   (worst_weights.py); a margin below the tolerance is decided in rationals.
5. A violation is shrunk: users, servers, resources and variants are taken out and numbers replaced by simpler ones for as long as
   the violation is confirmed again after each step.
6. Then smaller sizes are searched for a while, and what is found there is shrunk as well.

Cases, rejected samples, sizes and programs are counted.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, inf, isnan, lcm
from typing import TypeAlias

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import FairallocError
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import REPORTED, Case, Draft, Slot
from fairalloc.theorems.engine.worst_weights import worst_weights
from fairalloc.theorems.hypotheses import MOST, POOLS
from fairalloc.theorems.statement import Statement

SAMPLES = 16
"""Samples of a restart, from the worst of which it climbs."""

MISREPORTS = 8
"""Samples of a restart with one true instance, where users misreport: most misreports change nothing or harm the user."""

PATIENCE = 16
"""Changes in a row that do not raise the margin by GAIN of it, after which a climb ends."""

GAIN = 0.05

FINEST = 1000
"""The largest denominator that a small step of a climb leads to."""

ROUNDING = 1e-10
"""Smaller margins count as 0; where a climb ends between this and the tolerance of verdicts, rationals decide."""

Move: TypeAlias = Callable[[Draft], Draft]


@dataclass(frozen=True)
class Violation:
    """A confirmed violation: the case, its exact verdict, and the trial at which it was first seen."""

    draft: Draft
    case: Case
    verdict: Verdict
    trial: int


@dataclass
class Limit:
    """The limit of a search: a number of cases, tried or rejected, or seconds, whichever is reached first.

    Attributes
    ----------
    cases, seconds : of the search; inf = any
    shrinking : seconds since the start at which shrinking ends too; None = twice those of the search and PATIENCE more
    """

    cases: float = inf
    seconds: float = inf
    shrinking: float | None = None
    start: float = field(default_factory=lambda: time.monotonic())  # looked up when it is called, so that a test can set it

    def reached(self, cases: int) -> bool:
        """Whether the search must stop."""
        return cases >= self.cases or self.elapsed >= self.seconds

    @property
    def overdue(self) -> bool:
        """Whether shrinking must stop."""
        return self.elapsed > (2 * self.seconds + PATIENCE if self.shrinking is None else self.shrinking)

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self.start


class Search:
    """One search with its counts; the same seed and enough time give the same cases.

    `smallest` is the smallest confirmed violation so far, which an interrupt leaves; `because` says why one was rejected.
    """

    def __init__(
        self,
        statement: Statement,
        seed: tuple[int, ...],
        limit: Limit,
        tell: Callable[["Search"], None] = lambda _: None,
        most: tuple[int, int, int] = MOST,
    ) -> None:
        """Nothing is drawn yet."""
        self.statement, self.limit, self._tell, self.most = statement, limit, tell, most
        self.rng = np.random.default_rng(seed)
        self.trials = self.rejected = self.undecided = self.programs = 0
        self.unconfirmed: list[Case] = []
        self.failed: list[tuple[Case, str]] = []
        self.sizes: Counter[tuple[int, int, int]] = Counter()
        self.answers: Counter[str] = Counter()
        self.smallest: Violation | None = None
        self.because = ""
        self._last: tuple[Draft | None, Instance | None] = None, None

    def run(self) -> Violation | None:
        """Search until a violation is confirmed and shrunk, or the limit is reached."""
        found = self._first(self.most, self.limit)
        if found is None or self.statement.hypotheses.instances is not None:  # smaller ones need not be of the family
            return found
        # 5.
        found = self.shrunk(found)
        # 6.
        while (smaller := self._of_smaller_size(found)) is not None:
            found = self.shrunk(smaller)
        return found

    @property
    def drawn(self) -> int:
        """Cases that were tried or rejected."""
        return self.trials + self.rejected

    # ---- finding

    def _first(self, most: tuple[int, int, int], limit: Limit) -> Violation | None:
        while not limit.reached(self.drawn):
            found = self._restart(most, limit)
            if found is not None:
                return found
        return None

    def _of_smaller_size(self, found: Violation) -> Violation | None:
        """A violation of smaller size, searched for with a part of the remaining limit."""
        n, k, r = found.draft.size
        caps = [(n - 1, *self.most[1:]), (n, k - 1, self.most[2]), (n, k, r - 1)]
        caps = [cap for cap in caps if min(cap) > 0 and cap[0] >= self.statement.hypotheses.users]
        for cap in caps:
            left = max(0.0, self.limit.seconds - self.limit.elapsed)
            cases = min(self.limit.cases, self.drawn + SAMPLES * PATIENCE)
            smaller = self._first(cap, Limit(cases, left / 4))
            if smaller is not None and smaller.draft.size < found.draft.size:
                return smaller
        return None

    def _restart(self, most: tuple[int, int, int], limit: Limit) -> Violation | None:
        # 1.
        best, score = None, -inf
        for draft in self._samples(most):
            margin, found = self._tried(draft)
            if found is not None or limit.reached(self.drawn):
                return found
            if margin > score or best is None:
                best, score = draft, margin
        if best is None or score == -inf:
            return None
        if self.statement.hypotheses.instances is not None:
            return self._below_tolerance(best, score)
        # 2.
        top, score, found = self._climb(best, score, limit)
        # 4.
        return found or self._at_worst_weights(top) or self._below_tolerance(top, score)

    def _samples(self, most: tuple[int, int, int]) -> Iterator[Draft]:
        """Samples of the hypotheses; where users misreport, each true instance with several misreports."""
        hypotheses, misreports = self.statement.hypotheses, self.statement.misreports
        for _ in range(SAMPLES // MISREPORTS if misreports else SAMPLES):
            draft = hypotheses.sample(self.rng, misreports, most)
            yield draft
            for _ in range(MISREPORTS - 1 if misreports else 0):
                other = draft.copy()
                hypotheses.draw_misreports(self.rng, other, misreports)
                yield other

    def _climb(self, draft: Draft, score: float, limit: Limit) -> tuple[Draft, float, Violation | None]:
        """Where single changes lead from a draft and the margin there, or the violation on the way."""
        failed, again = 0, None
        while failed < PATIENCE and not limit.reached(self.drawn):
            move = again or _move(self.rng, draft, self.statement)
            changed = move(draft.copy())
            self.statement.hypotheses.impose(changed)
            margin, found = self._tried(changed)
            if found is not None:
                return changed, margin, found
            again = move if margin > score else None
            failed = 0 if margin > score + GAIN * abs(score) else failed + 1
            if margin >= score:
                draft, score = changed, margin
        return draft, score, None

    def _below_tolerance(self, draft: Draft, score: float) -> Violation | None:
        """A violation below the tolerance of floating point that rationals confirm."""
        if not ROUNDING < score <= TOLERANCE:
            return None
        case = draft.case()
        exact = self._checked(self.statement.violated, case)
        return None if exact is None else self._kept(Violation(draft, case, exact, self.trials))

    def _at_worst_weights(self, draft: Draft) -> Violation | None:
        """The violation, if there is one, at the weights that a program finds worst (worst_weights.py)."""
        statement = self.statement
        if statement.hypotheses.equal_weights or not statement.mechanism or statement.own:
            return None
        case = worst_weights(draft.case(), statement.mechanism, statement.property)
        if case is None:
            return None
        self.programs += 1
        changed = Draft.of(case)
        statement.hypotheses.impose(changed)
        return self._tried(changed)[1]

    def _tried(self, draft: Draft) -> tuple[float, Violation | None]:
        """The margin of a draft, and the violation where it is a confirmed one."""
        tried = self._trial(draft)
        if tried is None:
            self.rejected += 1
            return -inf, None
        case, verdict = tried
        self.trials += 1
        self.sizes[draft.size] += 1
        self.answers[verdict.answers] += verdict.holds is not None
        if verdict.holds is not False:
            self.undecided += verdict.holds is None
            return (-inf if isnan(verdict.margin) else verdict.margin), None
        # 3.
        exact = self._checked(self.statement.violated, case)
        if exact is None:
            self.unconfirmed.append(case)
            return 0.0, None
        return verdict.margin, self._kept(Violation(draft, case, exact, self.trials))

    def _kept(self, found: Violation) -> Violation:
        """The violation, which is noted where it is the smallest so far."""
        if self.smallest is None or measure(found.draft) < measure(self.smallest.draft):
            self.smallest = found
        return found

    def _trial(self, draft: Draft) -> tuple[Case, Verdict] | None:
        """The case and its verdict in floating point; None where the claim is not about it."""
        self._tell(self)
        last, truth = self._last
        try:
            case = draft.case(truth if last is not None and draft.same_truth(last) else None)
        except FairallocError as fault:
            self.because = str(fault)
            return None
        self._last = draft, case.instance
        with np.errstate(all="ignore"):  # badly scaled cases overflow; what that spoils is nan and decides nothing
            applies = self.statement.applies_to(case)
            verdict = self._checked(self.statement.trial, case) if applies else None
        self.because = self.because if applies else "it does not satisfy the hypotheses"
        return None if verdict is None else (case, verdict)

    def _checked(self, check: Callable[[Case], Verdict | None], case: Case) -> Verdict | None:
        """What a check says; None where the claim is not about the case, or where the check fails, which is recorded."""
        try:
            return check(case)
        except FairallocError as fault:
            self.because = str(fault)
            return None
        except (Exception, SystemExit) as error:  # a check of somebody's own may call sys.exit
            self.failed.append((case, " ".join(f"{type(error).__name__}: {error}".split())))
            return None

    # ---- shrinking

    def shrunk(self, found: Violation) -> Violation:
        """The smallest violation that single steps lead to; every step is confirmed."""
        before = None
        while before != (before := measure(found.draft)):
            for step in (_deletions, _simplifications, _rescalings, _replacements):
                found = self._repeated(step, found)
            found = self._with_simpler_numbers(found)
            if before == measure(found.draft):
                break
        return found

    def _repeated(self, step: Callable[[Draft], Iterator[Draft]], found: Violation) -> Violation:
        """Take a step for as long as one of its drafts is a smaller violation."""
        while True:
            candidates = (self._smaller_violation(draft, found) for draft in step(found.draft))
            smaller = next((candidate for candidate in candidates if candidate is not None), None)
            if smaller is None:
                return found
            found = smaller

    def _with_simpler_numbers(self, found: Violation) -> Violation:
        k = 0
        while k < len(slots := list(found.draft.slots())):
            candidates = (self._smaller_violation(_with(found.draft, k, value), found) for value in _simpler(slots[k].value))
            smaller = next((candidate for candidate in candidates if candidate is not None), None)
            found, k = (smaller, k) if smaller is not None else (found, k + 1)
        return found

    def _smaller_violation(self, draft: Draft, found: Violation) -> Violation | None:
        """The draft, made to satisfy the hypotheses, where it is a smaller confirmed violation."""
        if not draft.users or not draft.capacities or not draft.capacities[0] or self.limit.overdue:
            return None
        self.statement.hypotheses.impose(draft)
        if not measure(draft) < measure(found.draft):
            return None
        tried = self._trial(draft)
        if tried is None or not (tried[1].holds is False or tried[1].margin > ROUNDING):
            return None
        exact = self._checked(self.statement.violated, tried[0])
        return None if exact is None else self._kept(replace(found, draft=draft, case=tried[0], verdict=exact))


def search(statement: Statement, seed: int = 0, trials: float = inf, seconds: float = 10.0) -> tuple[Violation | None, Search]:
    """Look for a violation of the property; the smallest found and the search with its counts."""
    made = Search(statement, seeded(statement, seed), Limit(trials, seconds))
    return made.run(), made


def seeded(statement: Statement, seed: int) -> tuple[int, int]:
    """The seed of a statement's search: another one for each statement, the same in every process."""
    return seed, int.from_bytes(statement.id.encode(), "big") % (2**61 - 1)


# ---- moves ----------------------------------------------------------------------------------------------------------


def _move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:
    """A random change that can be made once more to its result."""
    kinds = ["number"] * 6
    kinds += ["place"] if not statement.hypotheses.everywhere and len(draft.capacities) > 1 else []
    kinds += ["misreport"] * 2 if statement.misreports else []
    kinds += ["parameter"] if statement.hypotheses.parameters else []
    kinds += ["twin"] if len(draft.users) > 1 else []
    kind = kinds[rng.integers(len(kinds))]
    return _MOVES[kind](rng, draft, statement)


def _number_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:  # noqa: ARG001
    slots = list(draft.slots())
    k = int(rng.integers(len(slots)))
    kind, value = slots[k].kind, slots[k].value
    others = [slot.value for slot in slots if slot.kind in (kind, "demand")]
    pool = POOLS[rng.integers(len(POOLS))]
    other, fresh = others[rng.integers(len(others))], pool[rng.integers(len(pool))]
    near = 1 + Fraction(int(rng.choice((-1, 1))), 4 ** int(rng.integers(1, 5)))
    choices: list[Callable[[Fraction], Fraction]] = [
        lambda _: other,
        lambda _: fresh,
        lambda v: 2 * v,
        lambda v: v / 2,
        lambda v: v + 1,
        lambda v: v - 1 if v > 1 else v / 3,
        lambda _: Fraction(0),
        *[lambda v: (v * near).limit_denominator(FINEST)] * 3,
    ]
    change = choices[rng.integers(len(choices))]
    if (kind in ("weight", "limit") and change(value) <= 0) or abs(value) > 10**6 or (value and abs(value) < Fraction(1, 10**6)):
        change = choices[1]

    def move(changed: Draft) -> Draft:
        slot = _slot(changed, k)
        if slot is not None:
            slot.set(change(slot.value))
        return changed

    return move


def _place_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:  # noqa: ARG001
    n, i = int(rng.integers(len(draft.users))), int(rng.integers(len(draft.capacities)))

    def move(changed: Draft) -> Draft:
        changed.users[n].placement[i] = not changed.users[n].placement[i]
        return changed

    return move


def _misreport_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:
    misreporters = [n for n, user in enumerate(draft.users) if user.misreports]
    n = (
        int(rng.choice(misreporters))
        if len(misreporters) == statement.misreports or rng.random() < 0.6
        else int(rng.integers(len(draft.users)))
    )

    def move(changed: Draft) -> Draft:
        statement.hypotheses.draw_misreport(rng, changed, n)
        return changed

    return move


def _parameter_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:  # noqa: ARG001
    names = list(statement.hypotheses.parameters)
    name = names[rng.integers(len(names))]
    values = statement.hypotheses.parameters[name]
    value = values[int(rng.integers(len(values)))]

    def move(changed: Draft) -> Draft:
        changed.parameters[name] = value
        return changed

    return move


def _twin_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:  # noqa: ARG001
    n, m = (int(v) for v in rng.permutation(len(draft.users))[:2])

    def move(changed: Draft) -> Draft:
        changed.users[n] = changed.copy().users[m]
        return changed

    return move


_MOVES = {
    "number": _number_move,
    "place": _place_move,
    "misreport": _misreport_move,
    "parameter": _parameter_move,
    "twin": _twin_move,
}


def _slot(draft: Draft, k: int) -> Slot | None:
    return next((slot for j, slot in enumerate(draft.slots()) if j == k), None)


# ---- steps of shrinking ---------------------------------------------------------------------------------------------


def measure(draft: Draft) -> tuple[int, ...]:
    """What shrinking makes smaller, in this order: users, servers, resources, variants, misreports, special features, numbers."""
    variants = sum(len(rows) for user in draft.users for rows in (user.demands, user.reported or []))
    misreports = sum(getattr(user, name) is not None for user in draft.users for name in REPORTED)
    special = sum(user.limit[0] is not None for user in draft.users) + sum(len(user.own) for user in draft.users)
    special += sum(q > 1 for q in draft.counts) + sum(not allowed for user in draft.users for allowed in user.placement)
    numbers = sum(_complexity(slot.value) for slot in draft.slots())
    numbers += sum(_complexity(value) for value in draft.parameters.values() if isinstance(value, Fraction | int))
    return (*draft.size, variants, misreports, special, numbers)


def _complexity(value: Fraction | int) -> int:
    value = Fraction(value)
    return abs(value.numerator) + value.denominator


def _deletions(draft: Draft) -> Iterator[Draft]:
    """Without a user, a server, a resource, a variant or a misreport."""
    n_users, n_servers, n_resources = draft.size
    yield from (draft.without_user(n) for n in range(n_users))
    yield from (draft.without_server(i) for i in range(n_servers))
    yield from (draft.without_resource(r) for r in range(n_resources))
    for n, user in enumerate(draft.users):
        yield from (draft.without_variant(n, v) for v in range(len(user.demands)) if len(user.demands) > 1)
        for name in REPORTED:
            if getattr(user, name) is not None:
                yield _changed(draft, lambda made, n=n, name=name: setattr(made.users[n], name, None))  # type: ignore[misc]
        if user.reported is not None and len(user.reported) > 1:
            for v in range(len(user.reported)):
                yield _changed(draft, lambda made, n=n, v=v: made.users[n].reported.pop(v))  # type: ignore[misc]


def _simplifications(draft: Draft) -> Iterator[Draft]:
    """Without a limit, a placement constraint, demands of its own, or servers of a class beyond the first."""
    for n, user in enumerate(draft.users):
        if user.limit[0] is not None:
            yield _changed(draft, lambda made, n=n: made.users[n].limit.__setitem__(0, None))  # type: ignore[misc]
        if not all(user.placement):
            yield _changed(draft, lambda made, n=n: _open(made, n))  # type: ignore[misc]
            for i in range(len(user.placement)):
                yield _changed(draft, lambda made, n=n, i=i: made.users[n].placement.__setitem__(i, True))  # type: ignore[misc]
        for i in user.own:
            yield _changed(draft, lambda made, n=n, i=i: made.users[n].own.pop(i))  # type: ignore[misc]
    for i in range(len(draft.counts)):
        yield _changed(draft, lambda made, i=i: made.counts.__setitem__(i, 1))  # type: ignore[misc]


def _rescalings(draft: Draft) -> Iterator[Draft]:
    """A resource or all tasks of a user or all weights in other units, in which the numbers are small integers."""
    for r in range(draft.size[2]):
        column = [row for row in _all_rows(draft) if row[r]]
        factor = _unit([row[r] for row in column])
        yield _changed(draft, lambda made, r=r, f=factor: _multiply(_all_rows(made), r, f))  # type: ignore[misc]
    for n, user in enumerate(draft.users):
        rows = [*user.demands, *(row for part in user.own.values() for row in part)]
        factor = _unit([v for row in rows for v in row if v])
        yield _changed(draft, lambda made, n=n, f=factor: _rescale(made, n, f))  # type: ignore[misc]
    factor = _unit([user.weight[0] for user in draft.users])
    yield _changed(draft, lambda made: _multiply([user.weight for user in made.users], 0, factor))


def _replacements(draft: Draft) -> Iterator[Draft]:
    """All numbers of one value replaced by a simpler one, so that ties stay ties."""
    for value in sorted({slot.value for slot in draft.slots()}, key=_complexity, reverse=True):
        for simpler in _simpler(value):
            made = draft.copy()
            for slot in made.slots():
                if slot.value == value:
                    slot.set(simpler)
            yield made


def _simpler(value: Fraction) -> list[Fraction]:
    """Simpler rationals, the simplest first: the few simplest ones, those next to the value, and smaller parts of a fraction."""
    near = [Fraction(value.__floor__()), Fraction(value.__ceil__()), *(value.limit_denominator(q) for q in (2, 3, 4, 10))]
    near += [Fraction(p, value.denominator) for p in _smaller_parts(value.numerator)]
    near += [Fraction(value.numerator, q) for q in _smaller_parts(value.denominator)]
    choices = {v for v in (*_SIMPLEST, *near) if v >= 0 and _complexity(v) < _complexity(value)}
    return sorted(choices, key=lambda v: (_complexity(v), v))


def _smaller_parts(part: int) -> list[int]:
    """Half of it, three quarters, and one less: from any number a few of these steps lead to the smallest that is enough."""
    return [p for p in (part // 2, part - part // 4, part - 1) if 0 < p < part]


_SIMPLEST = [Fraction(p, q) for q in range(1, 5) for p in range(7) if gcd(p, q) == 1 and p + q <= 7]


def _changed(draft: Draft, change: Callable[[Draft], object]) -> Draft:
    made = draft.copy()
    change(made)
    return made


def _with(draft: Draft, k: int, value: Fraction) -> Draft:
    made = draft.copy()
    slot = _slot(made, k)
    assert slot is not None, "a copy has the same slots"
    slot.set(value)
    return made


def _open(draft: Draft, n: int) -> None:
    draft.users[n].placement = [True] * len(draft.users[n].placement)


def _all_rows(draft: Draft) -> list[list[Fraction]]:
    rows = list(draft.capacities)
    for user in draft.users:
        rows += [*user.demands, *(user.reported or []), *(row for part in user.own.values() for row in part)]
    return rows


def _unit(values: list[Fraction]) -> Fraction:
    """The factor that makes the values coprime integers."""
    if not values:
        return Fraction(1)
    common = lcm(*(v.denominator for v in values))
    return Fraction(common, gcd(*(int(v * common) for v in values)))


def _multiply(rows: list[list[Fraction]], r: int, factor: Fraction) -> None:
    for row in rows:
        row[r] *= factor


def _rescale(draft: Draft, n: int, factor: Fraction) -> None:
    """Tasks of a user that are `factor` as large."""
    user = draft.users[n]
    for row in [*user.demands, *(user.reported or []), *(row for part in user.own.values() for row in part)]:
        row[:] = [v * factor for v in row]
    if user.limit[0] is not None:
        user.limit[0] /= factor
    user.points = [{key: x / factor for key, x in point.items()} for point in user.points]
