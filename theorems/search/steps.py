"""What changes a draft in a search: the moves of a climb, the steps that make a violation smaller, and what "smaller" means."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np

from fairalloc.theorems.cases import REPORTED, Draft, DraftUser
from fairalloc.theorems.hypotheses import POOLS, draw_misreport
from fairalloc.theorems.statement import Statement

FINEST = 1000
"""The largest denominator that a small step of a climb leads to."""

Move: TypeAlias = Callable[[Draft], object]

# ---- moves ----------------------------------------------------------------------------------------------------------


def random_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:
    """A random change that can be made once more to its result."""
    kinds: list[Callable[[np.random.Generator, Draft, Statement], Move]] = [_number_move] * 6
    kinds += [_place_move] if not statement.hypotheses.everywhere and len(draft.capacities) > 1 else []
    kinds += [_misreport_move] * 2 if statement.misreports else []
    kinds += [_parameter_move] if statement.hypotheses.parameters else []
    kinds += [_twin_move] if len(draft.users) > 1 else []
    return kinds[rng.integers(len(kinds))](rng, draft, statement)


def _number_move(rng: np.random.Generator, draft: Draft, _: Statement) -> Move:
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

    def move(made: Draft) -> None:
        for slot in islice(made.slots(), k, k + 1):
            slot.set(change(slot.value))

    return move


def _place_move(rng: np.random.Generator, draft: Draft, _: Statement) -> Move:
    n, i = int(rng.integers(len(draft.users))), int(rng.integers(len(draft.capacities)))
    return lambda made: made.users[n].placement.__setitem__(i, not made.users[n].placement[i])


def _misreport_move(rng: np.random.Generator, draft: Draft, statement: Statement) -> Move:
    liars = [n for n, user in enumerate(draft.users) if user.misreports]
    again = len(liars) == statement.misreports or rng.random() < 0.6
    n = int(rng.choice(liars)) if again else int(rng.integers(len(draft.users)))
    return lambda made: draw_misreport(statement.hypotheses, rng, made, n)


def _parameter_move(rng: np.random.Generator, _: Draft, statement: Statement) -> Move:
    names = list(statement.hypotheses.parameters)
    name = names[rng.integers(len(names))]
    values = statement.hypotheses.parameters[name]
    value = values[int(rng.integers(len(values)))]
    return lambda made: made.parameters.update({name: value})


def _twin_move(rng: np.random.Generator, draft: Draft, _: Statement) -> Move:
    n, m = (int(v) for v in rng.permutation(len(draft.users))[:2])
    return lambda made: made.users.__setitem__(n, made.copy().users[m])


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


def deletions(draft: Draft) -> Iterator[Draft]:
    """Without a user, a server or a resource, of which one stays, without a variant or a misreport."""
    n_users, n_servers, n_resources = draft.size
    yield from (draft.without_user(n) for n in range(n_users) if n_users > 1)
    yield from (draft.without_server(i) for i in range(n_servers) if n_servers > 1)
    yield from (draft.without_resource(r) for r in range(n_resources) if n_resources > 1)
    for n, user in enumerate(draft.users):
        yield from (draft.without_variant(n, v) for v in range(len(user.demands)) if len(user.demands) > 1)
        yield from (_with(draft, n, {name: None}) for name in REPORTED if getattr(user, name) is not None)
        if (rows := user.reported) is not None and len(rows) > 1:
            yield from (_with(draft, n, {"reported": rows[:v] + rows[v + 1 :]}) for v in range(len(rows)))


def _simplifications(draft: Draft) -> Iterator[Draft]:
    """Without a limit, a placement constraint, demands of its own, or servers of a class beyond the first."""
    for n, user in enumerate(draft.users):
        if user.limit[0] is not None:
            yield _with(draft, n, {"limit": [None]})
        if not all(user.placement):
            yield _with(draft, n, {"placement": [True] * len(user.placement)})
            for i in range(len(user.placement)):
                yield _with(draft, n, {"placement": [may or j == i for j, may in enumerate(user.placement)]})
        yield from (_with(draft, n, {"own": {j: rows for j, rows in user.own.items() if j != i}}) for i in user.own)
    for i in range(len(draft.counts)):
        made = draft.copy()
        made.counts[i] = 1
        yield made


def _rescalings(draft: Draft) -> Iterator[Draft]:
    """A resource or all tasks of a user or all weights in other units, in which the numbers are small integers."""
    for r in range(draft.size[2]):
        made, unit = draft.copy(), _unit([row[r] for row in draft.rows if row[r]])
        for row in made.rows:
            row[r] *= unit
        yield made
    for n, user in enumerate(draft.users):
        rows = [*user.demands, *(row for part in user.own.values() for row in part)]
        made = draft.copy()
        _rescale(made.users[n], _unit([v for row in rows for v in row if v]))
        yield made
    made, unit = draft.copy(), _unit([user.weight[0] for user in draft.users])
    for user in made.users:
        user.weight[0] *= unit
    yield made


def _replacements(draft: Draft) -> Iterator[Draft]:
    """All numbers of one value replaced by a simpler one, so that ties stay ties."""
    for value in sorted({slot.value for slot in draft.slots()}, key=_complexity, reverse=True):
        for number in simpler(value):
            made = draft.copy()
            for slot in made.slots():
                if slot.value == value:
                    slot.set(number)
            yield made


STEPS = (deletions, _simplifications, _rescalings, _replacements)
"""Each gives the drafts that one step leads to."""


def simpler(value: Fraction) -> list[Fraction]:
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


def _with(draft: Draft, n: int, changed: dict[str, Any]) -> Draft:
    made = draft.copy()
    made.users[n] = replace(made.users[n], **deepcopy(changed))
    return made


def with_number(draft: Draft, k: int, value: Fraction) -> Draft:
    made = draft.copy()
    next(islice(made.slots(), k, None)).set(value)
    return made


def _unit(values: list[Fraction]) -> Fraction:
    """The factor that makes the values coprime integers."""
    if not values:
        return Fraction(1)
    common = lcm(*(v.denominator for v in values))
    return Fraction(common, gcd(*(int(v * common) for v in values)))


def _rescale(user: DraftUser, factor: Fraction) -> None:
    """Tasks that are `factor` as large."""
    for row in user.rows:
        row[:] = [v * factor for v in row]
    if user.limit[0] is not None:
        user.limit[0] /= factor
    user.points = [{key: x / factor for key, x in point.items()} for point in user.points]
