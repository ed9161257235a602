r"""The rational answer of ps-dsf and ps-dsf-tdm next to one in floating point (P Theorem 1; with variants P Definition 2).

1. With a tolerance, read the pattern of the floating-point answer (solvers/game/price_layers.py).
2. Solve its linear equations in rationals, for the tasks on the arcs in use and the level of every layer. Unknowns that they
   leave free keep the value of the floating-point answer, as the simplest fraction near by.
3. Check exactly: Theorem 1 of P (`levels`) where users have one variant, else whether each user has its prices (`exact_layers`).
   Where it fails, repeat from 1 with the next tolerance.

**Prices in rationals** (`exact_layers`, condition (*) of ps_dsf_variants.py). For the users n of one share at a server, with
prices for full resources only that nobody with a larger share uses, all conditions on p are linear and homogeneous:

    max  sum_n s_n    s.t.   s_n <= 1,   s_n <= p . w_nv for all v,   p . w_mv <= p . w_mu where y_mv > 0, z_m <= z_n, for all u

is solved by the rational simplex method from p = 0. Users with s_n > 0 have their prices, and so have all with a larger share who
pay something at them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairalloc.formulations.game.game import Game
from fairalloc.models.exact.proofs import ExactLayer
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_flint, as_fraction, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.exact.simplex import RationalProgram, SimplexOptions, optimal_basic_solution
from fairalloc.solvers.game.price_layers import Pattern, equations, pattern
from fairalloc.solvers.method import Limits, Stopped

UNLIMITED = Limits()

MOST_PIVOTS, LARGEST = 20_000, 10**6
"""Pivots of the program for the prices of a layer, from p = 0; the largest denominator of tasks that the equations leave free."""

TOLERANCES = (1e-9, 1e-7, 1e-5, 1e-4)
"""Relative, for full, served and equal; the smallest one whose pattern passes the exact check is taken."""


def unit(instance: Instance, arcs: ExactArcs) -> Rationals:
    """(A,) phi_n gamma_ni in rationals, the tasks at which user n has the share 1 at server i."""
    weights = instance.exact.weights
    return tuple(weights[n] * gamma for n, gamma in zip(arcs.user, exact_monopolies(instance), strict=True))


def _shares(instance: Instance, x: Sequence[Fraction]) -> Rationals | None:
    """(A,) z of each arc's user for the tasks x (A,); None where x is not feasible, or leaves a user without tasks."""
    arcs = exact_arcs(instance)
    tasks, loads = arcs.tasks(x), arcs.loads(x)
    if any(value < 0 for value in x) or any(load > 1 for load in loads) or any(u == 0 for u in tasks):
        return None
    if any(limit is not None and u > limit for u, limit in zip(tasks, arcs.limits, strict=True)):
        return None
    return tuple(tasks[n] / one for n, one in zip(arcs.user, unit(instance, arcs), strict=True))


def levels(instance: Instance, x: Sequence[Fraction]) -> Rationals | None:
    """(K R,) kappa = 1 / level for the tasks x (A,), 0 where a resource is not full; None where x is not PS-DSF.

    A full resource has the largest share of those it serves as its level, and every arc of a user below its limit must reach one
    level of what it demands.
    """
    arcs, shares = exact_arcs(instance), _shares(instance, x)
    if shares is None:
        return None
    tasks, loads = arcs.tasks(x), arcs.loads(x)
    largest = [Fraction(0)] * arcs.rows
    for value, share, load in zip(x, shares, arcs.load, strict=True):
        for row, _ in load if value else ():
            largest[row] = max(largest[row], share)
    full = [load == 1 for load in loads]
    wanting = [u != limit for u, limit in zip(tasks, arcs.limits, strict=True)]
    reached = (
        any(full[row] and share >= largest[row] for row, _ in load)
        for n, share, load in zip(arcs.user, shares, arcs.load, strict=True)
        if wanting[n]
    )
    return tuple(1 / z if here else Fraction(0) for z, here in zip(largest, full, strict=True)) if all(reached) else None


def exact_layers(instance: Instance, x: Sequence[Fraction], limits: Limits = UNLIMITED) -> tuple[ExactLayer, ...] | None:
    """The prices that prove Definition 2 of P at every server for the tasks x (A,); None where x is not PS-DSF."""
    arcs, shares = exact_arcs(instance), _shares(instance, x)
    if shares is None:
        return None
    result: list[ExactLayer] = []
    with suppress(Stopped):
        for i in range(instance.K):
            here = np.flatnonzero(instance.arcs.server == i).tolist()
            result += _server_layers(arcs, i, range(i * instance.R, (i + 1) * instance.R), here, x, shares, limits)
        return tuple(result)
    return None


def _server_layers(
    arcs: ExactArcs, i: int, own: range, here: list[int], x: Sequence[Fraction], shares: Sequence[Fraction], limits: Limits
) -> list[ExactLayer]:
    """The layers of server i, with rows `own` and arcs `here`, the smallest shares first; Stopped where a user has no prices."""
    tasks, loads = arcs.tasks(x), arcs.loads(x)
    rows = {row for a in here for row, _ in arcs.load[a] if loads[row] == 1}
    wanting = {arcs.user[a]: shares[a] for a in here if tasks[arcs.user[a]] != arcs.limits[arcs.user[a]]}
    result: list[ExactLayer] = []
    for share in sorted(set(wanting.values())):
        needy = [n for n, z in wanting.items() if z == share and not any(part.cheapest(arcs, here, n) for part in result)]
        if not needy:
            continue
        barred = {row for a in here if x[a] and shares[a] > share for row, _ in arcs.load[a]}
        cheap = [a for a in here if x[a] and shares[a] <= share]
        price = _layer(arcs, here, needy, rows - barred, cheap, limits)
        result.append(ExactLayer(i, tuple(price.get(row, Fraction(0)) for row in own)))
        if not all(result[-1].cheapest(arcs, here, n) for n in needy):
            raise Stopped("error", "a user has no prices")
    return result


def _layer(
    arcs: ExactArcs, here: list[int], needy: list[int], rows: set[int], cheap: list[int], limits: Limits
) -> dict[int, Fraction]:
    """{row: price} of one layer at the server with the arcs `here`, of sum 1; none where nobody of the needy can be made to pay.

    Only `rows` may have a price, and the arcs `cheap` must be their user's cheapest.
    """
    loads, zero = {a: dict(arcs.load[a]) for a in here}, Fraction(0)
    own = [a for a in here if arcs.user[a] in needy]
    some = sorted(rows)
    place = {n: len(some) + k for k, n in enumerate(needy)}
    pairs = [(a, b) for a in cheap for b in here if b != a and arcs.user[b] == arcs.user[a]]
    inequalities = [{k: -loads[a].get(row, zero) for k, row in enumerate(some)} | {place[arcs.user[a]]: Fraction(1)} for a in own]
    inequalities += [{k: loads[a].get(row, zero) - loads[b].get(row, zero) for k, row in enumerate(some)} for a, b in pairs]
    inequalities += [{k: Fraction(1)} for k in place.values()]
    columns = [{j: row[k] for j, row in enumerate(inequalities) if row.get(k)} for k in range(len(some) + len(needy))]
    right = [0] * (len(inequalities) - len(needy)) + [1] * len(needy)
    program = RationalProgram.of_rows([0] * len(some) + [1] * len(needy), columns, right)
    solution, _ = optimal_basic_solution(program, program.slacks, replace(limits, options=SimplexOptions(MOST_PIVOTS)))
    p = [as_fraction(solution.values.get(k, 0)) for k in range(len(some))]
    total = sum(p, zero)
    return {row: value / total for row, value in zip(some, p, strict=True) if value}


def exact_levels(instance: Instance, x: Floats, limits: Limits = UNLIMITED) -> Rationals | None:
    """(A,) exact PS-DSF tasks with the pattern of tasks x (A,) in floats; None where no pattern is one, Stopped when late."""
    arcs, game = exact_arcs(instance), Game(instance, np.inf)
    units = unit(instance, arcs)
    if not np.all(game.tasks(x) > 0):
        return None
    for tolerance in TOLERANCES:
        _ = limits.left  # raises when there is no time
        if (found := _solved(arcs, units, pattern(game, x, tolerance), x)) is None:  # 1, 2
            continue
        if (levels(instance, found) if instance.single_variant else exact_layers(instance, found, limits)) is not None:  # 3
            return found
    return None


def _solved(arcs: ExactArcs, units: Rationals, found: Pattern, x: Floats) -> Rationals | None:
    """(A,) the tasks that solve the equations of a pattern and are next to x where they are free; None where there are none."""
    from flint import fmpq_mat

    rows = equations(found, arcs.user, arcs.load, units, arcs.limits)
    width = found.layers + len(found.served)
    entries = [as_flint(row[k]) if k in row else 0 for row in rows for k in (*range(width), -1)]
    reduced, rank = fmpq_mat(len(rows), width + 1, entries).rref()
    value = [Fraction(0)] * found.layers + [_simple(float(x[a])) for a in found.served]
    pivots = [next(k for k in range(width + 1) if reduced[i, k]) for i in range(rank)]
    if width in pivots:  # 0 = 1
        return None
    free = [k for k in range(width) if k not in set(pivots)]
    for i, k in enumerate(pivots):
        rest = sum((as_fraction(reduced[i, j]) * value[j] for j in free if reduced[i, j]), Fraction(0))
        value[k] = as_fraction(reduced[i, width]) - rest
    tasks = dict(zip(found.served, value[found.layers :], strict=True))
    return tuple(tasks.get(a, Fraction(0)) for a in range(len(arcs.user)))


def _simple(value: float) -> Fraction:
    """A fraction with few digits within a millionth of a value, relative."""
    scale = Fraction(10) ** int(np.floor(np.log10(value)))
    return Fraction(value / float(scale)).limit_denominator(LARGEST) * scale
