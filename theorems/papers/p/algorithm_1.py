"""P III-C, Corollary 1 and Algorithm I as printed, in rationals.

(13)  r is a bottleneck of n at i:  d_nr > 0,  r is full,  z_ni >= z_mi  for all m with x_mi d_mr > 0
(14)  z_ni = min over m with d_mr > 0 of z_mi                  (15)  nobody with a larger share uses r
(16)  S* = min over N_i of z_ni,  N* who attains it,  R* the full resources that somebody in N* demands
(17)  N_i loses all who demand r in R*, where S* = max over n in N_i with x_ni d_nr > 0 of z_ni
(18)  else Update-Allocation, see solvers/game/psdsf_algorithm_1.py for its text
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import exact_verdict, progressive_filling, yes_or_no
from fairalloc.theorems.definitions import EXACT
from fairalloc.theorems.definitions import bottleneck as is_bottleneck

ZERO, ONE = Fraction(0), Fraction(1)
ROUNDS = 3
RATIONALS = "rounds in rationals"
MOST_ROUNDS = 10
"""Rounds after which it is not decided whether they end."""


def bottleneck(case: Case) -> Verdict:
    """(14) and (15) at the case's point give (13), as definitions.py has it, by shares in rationals."""
    arcs, x, server = exact_arcs(case.instance), case.points[0], case.instance.arcs.server.tolist()
    units, tasks = unit(case.instance, arcs), arcs.tasks(x)
    need = {(a, server[a]): dict(load) for a, load in enumerate(arcs.load)}
    z = {arc: tasks[arcs.user[arc[0]]] / units[arc[0]] for arc in need}
    given = need, {(i, row): ONE for (_, i), load in need.items() for row in load}, z, {arc: x[arc[0]] for arc in need}
    for row in [row for row, load in enumerate(arcs.loads(x)) if load == 1]:
        users = [arc for arc in need if row in need[arc]]
        for arc in [arc for arc in users if z[arc] == min(z[other] for other in users)]:
            if condition_15(z[arc], [z[b] for b in users if x[b[0]]]) and not is_bottleneck(*given, arc, row, *EXACT):
                return yes_or_no("bottleneck", False, "(14) and (15) hold and (13) does not")
    return yes_or_no("bottleneck", True, "(13) holds wherever (14) and (15) do")


def condition_15(share: Fraction, served: list[Fraction]) -> bool:
    """(15), for the share of n and those of the users of r."""
    return not any(other > share for other in served)


class Update(NamedTuple):
    """What Update-Allocation starts from: z_ni by arc, S*, the arcs of N*, and for each r in R* that of who is released."""

    z: Mapping[int, Fraction]
    least: Fraction
    lowest: list[int]
    released: list[int]


@dataclass(frozen=True)
class ServerInRationals:
    """Server i in rationals, for tasks x by arc: its arcs and rows; of all arcs the user, {row: part} and phi gamma."""

    i: int
    here: list[int]
    rows: range
    user: tuple[int, ...]
    part: list[dict[int, Fraction]]
    unit: Rationals

    @classmethod
    def all_of(cls, instance: Instance) -> "list[ServerInRationals]":
        """The servers that somebody may use."""
        arcs, server, R = exact_arcs(instance), instance.arcs.server.tolist(), instance.R
        rest = arcs.user, [dict(load) for load in arcs.load], unit(instance, arcs)
        here = {i: [a for a, place in enumerate(server) if place == i] for i in sorted({*server})}
        return [cls(i, own, range(i * R, (i + 1) * R), *rest) for i, own in here.items()]

    def shares(self, x: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """Z_ni by arc, of tasks everywhere."""
        tasks = {self.user[a]: ZERO for a in x}
        for a, value in x.items():
            tasks[self.user[a]] += value
        return {a: tasks[self.user[a]] / self.unit[a] for a in self.here}

    def taken(self, x: Mapping[int, Fraction], arcs: list[int]) -> dict[int, Fraction]:
        """By row, what so many tasks take on these arcs."""
        return {r: sum((x[a] * self.part[a].get(r, ZERO) for a in arcs), ZERO) for r in self.rows}

    def test(
        self, z: Mapping[int, Fraction], x: Mapping[int, Fraction], left: list[int]
    ) -> tuple[Fraction, list[int], dict[int, list[int]]]:
        """(16): S*, N*, and for each r in R* the arcs of N_i that use it."""
        least, load = min(z[a] for a in left), self.taken(x, self.here)
        lowest = [a for a in left if z[a] == least]
        full = [r for r in self.rows if load[r] == 1 and any(r in self.part[a] for a in lowest)]
        return least, lowest, {r: [a for a in left if x[a] and r in self.part[a]] for r in full}

    def update(self, x: Mapping[int, Fraction]) -> Update | None:
        """The first update from x; None where (17) holds for some r."""
        z = self.shares(x)
        least, lowest, users = self.test(z, x, self.here)
        if any(max((z[a] for a in using), default=least) == least for using in users.values()):
            return None
        return Update(z, least, lowest, [max(using, key=lambda a: z[a]) for using in users.values()])

    def rise(self, x: Mapping[int, Fraction], made: Update) -> Fraction:
        """z* = min_r f_r / D_r; f counts each of those who are released as often as it is listed."""
        load, free = self.taken(x, self.here), self.taken(x, made.released)
        D = self.taken(dict(enumerate(self.unit)), made.lowest)
        return min((1 - load[r] + free[r]) / D[r] for r in self.rows if D[r])

    def updated(self, x: Mapping[int, Fraction], made: Update) -> dict[int, Fraction]:
        """Tasks on this server after Update-Allocation."""
        rise = self.rise(x, made)
        beta = min([ONE, *((made.z[a] - made.least) / (rise + x[a] / self.unit[a]) for a in made.released)])
        kept = {a: x[a] * (1 - beta) if a in made.released else x[a] for a in self.here}
        return kept | {a: kept[a] + beta * self.unit[a] * rise for a in made.lowest}

    def without_bottleneck(self, x: Mapping[int, Fraction]) -> list[int]:
        """The users with no bottleneck (13) here."""
        z, load = self.shares(x), self.taken(x, self.here)
        most = {r: max((z[a] for a in self.here if x[a] and r in self.part[a]), default=ZERO) for r in self.rows}
        return [self.user[a] for a in self.here if not any(load[r] == 1 and z[a] >= most[r] for r in self.part[a])]


def drf_on_each_server(instance: Instance, places: list[ServerInRationals]) -> dict[int, Fraction]:
    """Tasks by arc: DRF on each server as if there were no other, by progressive filling."""
    exact, x = instance.exact, dict.fromkeys(range(len(instance.arcs)), ZERO)
    for place in places:
        users, i = [place.user[a] for a in place.here], place.i
        pool = [int(instance.counts[i]) * c for c in exact.capacities[i]]
        demands = [exact.demands_at(n, i) for n in users]
        alone = Instance(demands, [pool], weights=[exact.weights[n] for n in users])
        x |= dict(zip(place.here, progressive_filling(alone), strict=True))
    return x


def procedure(place: ServerInRationals, x: dict[int, Fraction]) -> Iterator[Fraction]:
    """The inner loop for one server: S* before each update; x is changed in place."""
    left = place.here
    for _ in range(20 * (len(place.here) * len(place.rows) + 10)):
        if not left:
            return
        z = place.shares(x)
        least, lowest, users = place.test(z, x, left)
        done = [r for r, using in users.items() if max((z[a] for a in using), default=least) == least]
        if done:
            left = [a for a in left if done[0] not in place.part[a]]
            continue
        yield least
        released = list(dict.fromkeys(max(using, key=lambda a: z[a]) for using in users.values()))
        x |= place.updated(x, Update(z, least, lowest, released))


def rounds(instance: Instance, count: int) -> Iterator[tuple[list[ServerInRationals], int, list[Fraction], dict[int, Fraction]]]:
    """Servers, the number of one, S* before each update of its procedure, and tasks after it; for some rounds.

    Algorithm I as printed but for the least changes of solvers/game/psdsf_algorithm_1.py.
    """
    places = ServerInRationals.all_of(instance)
    x = drf_on_each_server(instance, places)
    for k, place in list(enumerate(places)) * count:
        yield places, k, list(procedure(place, x)), x


def rising(case: Case) -> Verdict:
    """S* rises with each update of one server procedure, in three rounds."""
    worst = max((a - b for _, _, minima, _ in rounds(case.instance, ROUNDS) for a, b in pairwise(minima)), default=-ONE)
    return exact_verdict("monotonicity", worst, f"S* falls by {float(worst):.3g}", RATIONALS)


def kept_by_later_servers(case: Case) -> Verdict:
    """After each procedure everybody has a bottleneck (13) at the earlier servers of the round, for three rounds."""
    users, servers = case.instance.users, case.instance.servers
    for places, k, _, x in rounds(case.instance, ROUNDS):
        for earlier in places[:k]:
            if without := earlier.without_bottleneck(x):
                words = f"user {users[without[0]]!r} has no bottleneck at {servers[earlier.i]!r}"
                sentence = f"after the procedure of server {servers[places[k].i]!r} {words}"
                return yes_or_no("bottleneck", False, sentence, RATIONALS)
    return yes_or_no("bottleneck", True, "bottlenecks stay", RATIONALS)


def ends(case: Case) -> Verdict:
    """Algorithm I ends, and then every user has a bottleneck at every eligible server.

    It need not where the changes of tasks come to decrease in one ratio, which the script of P.A1.ends shows to go on for ever.
    """
    states, updates = list[Any](), 0
    for places, k, minima, x in rounds(case.instance, MOST_ROUNDS):
        updates += len(minima)
        if k < len(places) - 1:
            continue
        if not updates:
            settled = not any(place.without_bottleneck(x) for place in places)
            words = f"it ends after {len(states) + 1} rounds, where everybody {'has' if settled else 'lacks'} a bottleneck"
            return yes_or_no("termination", settled, words, RATIONALS)
        states, updates = [*states, np.array([*x.values()])], 0
    sizes = [abs(b - a).max() for a, b in pairwise(states[-5:])]
    one, *others = {b / a for a, b in pairwise(sizes)}
    if others or not 0 < one < 1:
        return undecided(f"{MOST_ROUNDS} rounds, and no ratio of their changes", RATIONALS, "termination")
    return exact_verdict("termination", one, f"every round changes tasks by {one} times the change before", RATIONALS)
