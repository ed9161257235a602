r"""P III-C, Corollary 1 and Algorithm I: in rationals as printed, and in floating point by other ways.

    (13)  r is a bottleneck of n at i:  d_nr > 0,  r is full,  z_ni >= z_mi  for all m with x_mi d_mr > 0
    (14)  z_ni = min over m with d_mr > 0 of z_mi                  (15)  nobody with a larger share uses r
    (16)  S* = min over N_i of z_ni,  N* who attains it,  R* the full resources that somebody in N* demands
    (17)  N_i loses all who demand r in R*, where S* = max over n in N_i with x_ni d_nr > 0 of z_ni
    (18)  else Update-Allocation, see solvers/game/psdsf_algorithm_1.py for its text

Tried in floating point: (13) by releasing everybody with a larger share, after which r is still full; Update-Allocation on
arrays in parts of a monopoly; the maximum of (17) where the solver's Algorithm I ends; S* in that solver's server procedure.
Confirmed in rationals and P's own letters: shares compared; the update in tasks; the maximum at a certified PS-DSF allocation;
all of Algorithm I, from DRF on each server by progressive filling, for three rounds:

1. DRF on each server by itself (`drf_on_each_server`).
2. For each server in turn, with N_i all its users (`procedure`): S*, N* and R* by (16) (`ServerInRationals.test`).
3. Where (17) holds for some r in R*, N_i loses its users who demand r; back to 2., or to the next server where N_i is empty.
4. Otherwise Update-Allocation (18) (`ServerInRationals.updated`); back to 2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import NotCertified, certify
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.solvers.game.psdsf_algorithm_1 import drf_alone, server_procedure
from fairalloc.solvers.game.session import ServerArrays, servers_of
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import progressive_filling

ZERO, ONE = Fraction(0), Fraction(1)
FULL = 1e-9
"""What counts as full, as equal and as nothing in floating point, in parts of 1."""

ROUNDS = 3


# ---- Corollary 1 ------------------------------------------------------------------------------------------------------------


def bottleneck(case: Case) -> Verdict:
    """(14) and (15) at the case's point give (13), by shares in rationals."""
    arcs, x = exact_arcs(case.instance), case.points[0]
    tasks, loads = arcs.tasks(x), arcs.loads(x)
    z = [tasks[n] / one for n, one in zip(arcs.user, unit(case.instance, arcs), strict=True)]
    for row in [row for row, load in enumerate(loads) if load == 1]:
        users = [a for a, load in enumerate(arcs.load) if any(r == row for r, _ in load)]
        for a in [a for a in users if z[a] == min(z[b] for b in users)]:
            served = [b for b in users if x[b]]
            if _condition_15(z[a], [z[b] for b in served]) and not all(z[a] >= z[b] for b in served):
                return Verdict("bottleneck", False, 1.0, "(14) and (15) hold and (13) does not", "rational arithmetic")
    return Verdict("bottleneck", True, -1.0, "(13) holds wherever (14) and (15) do", "rational arithmetic")


def _condition_15(share: Any, served: Any) -> bool:
    """(15), for the share of n and those of the users of r."""
    return not any(other > share * (1 + (0 if isinstance(share, Fraction) else FULL)) for other in served)


def bottleneck_by_release(case: Case) -> Verdict:
    """(14) and (15) at the case's point: r stays full when all with a larger share leave the server; in floating point."""
    game, x = ps_dsf.game(case.instance), np.array([float(v) for v in case.points[0]])
    tasks, worst = game.tasks(x), -1.0
    for server in servers_of(game):
        y, z = x[server.arcs] / server.gamma, tasks[server.user] / (server.phi * server.gamma)
        for r in np.flatnonzero(y @ server.w >= 1 - FULL):
            needs = server.w[:, r] > 0
            for share in z[needs & (z <= z[needs].min() * (1 + FULL))]:
                if _condition_15(float(share), z[needs & (y > 0)].tolist()):
                    stays = np.where(z > share * (1 + FULL), 0.0, y) @ server.w[:, r]
                    worst = max(worst, float(1 - 2 * FULL - stays))
    return Verdict("bottleneck", not worst > 0, worst, "r has slack when all with a larger share leave", "floating point")


# ---- Update-Allocation as printed -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ServerInRationals:
    """One server in rationals, for tasks x (A,): its arcs, {row: part} and phi gamma by arc, and its rows."""

    here: tuple[int, ...]
    part: Mapping[int, Mapping[int, Fraction]]
    unit: Mapping[int, Fraction]
    user: Mapping[int, int]
    rows: range

    @classmethod
    def all_of(cls, instance: Instance) -> "list[ServerInRationals]":
        """The servers that somebody may use."""
        arcs, R = exact_arcs(instance), instance.R
        units, found = unit(instance, arcs), []
        for i in sorted(set(instance.arcs.server.tolist())):
            here = tuple(np.flatnonzero(instance.arcs.server == i).tolist())
            part = {a: dict(arcs.load[a]) for a in here}
            found.append(cls(here, part, {a: units[a] for a in here}, {a: arcs.user[a] for a in here}, range(i * R, (i + 1) * R)))
        return found

    @property
    def index(self) -> int:
        """The server's number i."""
        return self.rows[0] // len(self.rows)

    def shares(self, x: Mapping[int, Fraction], user: tuple[int, ...]) -> dict[int, Fraction]:
        """Z_ni by arc, of tasks everywhere."""
        tasks: dict[int, Fraction] = {}
        for a, value in x.items():
            tasks[user[a]] = tasks.get(user[a], ZERO) + value
        return {a: tasks[self.user[a]] / self.unit[a] for a in self.here}

    def load(self, x: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """Used part by row."""
        return {r: sum((x[a] * self.part[a].get(r, ZERO) for a in self.here), ZERO) for r in self.rows}

    def test(
        self, z: Mapping[int, Fraction], x: Mapping[int, Fraction], left: list[int]
    ) -> tuple[Fraction, list[int], dict[int, list[int]]]:
        """(16): S*, N*, and for each r in R* the arcs of N_i that use it."""
        least, load = min(z[a] for a in left), self.load(x)
        lowest = [a for a in left if z[a] == least]
        full = [r for r in self.rows if load[r] == 1 and any(r in self.part[a] for a in lowest)]
        return least, lowest, {r: [a for a in left if x[a] and r in self.part[a]] for r in full}

    def updated(
        self, z: Mapping[int, Fraction], x: Mapping[int, Fraction], lowest: list[int], released: list[int]
    ) -> dict[int, Fraction]:
        """Tasks on this server after Update-Allocation; f counts each of `released` as often as it is listed."""
        load, least = self.load(x), z[lowest[0]]
        f = {r: 1 - load[r] + sum((x[a] * self.part[a].get(r, ZERO) for a in released), ZERO) for r in self.rows}
        D = {r: sum((self.unit[a] * self.part[a].get(r, ZERO) for a in lowest), ZERO) for r in self.rows}
        rise = min(f[r] / D[r] for r in self.rows if D[r])
        beta = min([ONE, *((z[a] - least) / (rise + x[a] / self.unit[a]) for a in released)])
        kept = {a: x[a] * (1 - beta) if a in released else x[a] for a in self.here}
        return kept | {a: kept[a] + beta * self.unit[a] * rise for a in lowest}

    def without_bottleneck(self, x: Mapping[int, Fraction], user: tuple[int, ...]) -> list[int]:
        """The users with no bottleneck (13) here."""
        z, load = self.shares(x, user), self.load(x)
        most = {r: max((z[a] for a in self.here if x[a] and r in self.part[a]), default=ZERO) for r in self.rows}
        return [self.user[a] for a in self.here if not any(load[r] == 1 and z[a] >= most[r] for r in self.part[a])]


def feasible(case: Case) -> Verdict:
    """The first update from DRF on each server, at any of them: f counts a user once for every resource it is released from."""
    instance, arcs, places = case.instance, exact_arcs(case.instance), ServerInRationals.all_of(case.instance)
    x = drf_on_each_server(instance, places)
    for place in places:
        z = place.shares(x, arcs.user)
        least, lowest, users = place.test(z, x, list(place.here))
        if any(max((z[a] for a in using), default=least) == least for using in users.values()):
            continue
        released = [max(using, key=lambda a: z[a]) for using in users.values()]
        worst = max(place.load(place.updated(z, x, lowest, released)).values()) - 1
        if worst > 0:
            server = instance.servers[place.index]
            sentence = f"after Update-Allocation server {server!r} gives {float(worst):.3g} of a capacity too much"
            return Verdict("feasibility", False, float(worst), sentence, "rational arithmetic")
    return Verdict("feasibility", True, -1.0, "no capacity is exceeded", "rational arithmetic")


def feasible_in_floats(case: Case) -> Verdict:
    """The same on arrays, in parts of a monopoly."""
    game = ps_dsf.game(case.instance)
    x, servers = np.zeros(len(game.user)), servers_of(game)
    drf_alone(servers, x)
    tasks, worst = game.tasks(x), -1.0
    for server in servers:
        y, z = x[server.arcs] / server.gamma, tasks[server.user] / (server.phi * server.gamma)
        lowest = z <= z.min() * (1 + FULL)
        full = np.flatnonzero((y @ server.w >= 1 - FULL) & (server.w[lowest] > 0).any(axis=0))
        top = [np.where((y > 0) & (server.w[:, r] > 0), z, -np.inf) for r in full]
        if any(shares.max() <= z.min() * (1 + FULL) for shares in top):
            continue
        released = np.array([shares.argmax() for shares in top], dtype=int)
        worst = max(worst, float((_updated(server, y, z, lowest, released) @ server.w).max()) - 1 - FULL)
    return Verdict("feasibility", not worst > 0, worst, f"a capacity is exceeded by {worst:.3g}", "floating point")


def _updated(server: ServerArrays, y: Any, z: Any, lowest: Any, released: Any) -> Any:
    f = 1 - y @ server.w + y[released] @ server.w[released]
    D = server.phi[lowest] @ server.w[lowest]
    rise = (f[D > 0] / D[D > 0]).min()
    beta = min(1.0, ((z[released] - z.min()) / (rise + y[released] / server.phi[released])).min(initial=1.0))
    after = np.where(np.isin(np.arange(len(y)), released), y * (1 - beta), y)
    return after + np.where(lowest, beta * server.phi * rise, 0.0)


# ---- the maximum of (17) ----------------------------------------------------------------------------------------------------


def maximum_defined(case: Case) -> Verdict:
    """The maximum of (17) is over somebody, in the last round of Algorithm I, whose end is made exact and certified."""
    instance = case.instance
    certificate = certify(solve(instance, "ps-dsf", "psdsf-algorithm-1"))
    if isinstance(certificate, NotCertified):
        return Verdict("maximum", None, np.nan, f"not decided: {certificate.reason}", "certificate")
    x = dict(enumerate(certificate.x))
    for place in ServerInRationals.all_of(instance):
        z, left = place.shares(x, tuple(instance.arcs.user.tolist())), list(place.here)
        while left:
            least, _, users = place.test(z, x, left)
            done = [r for r, using in users.items() if using and max(z[a] for a in using) == least]
            if not done and not all(users.values()):
                server = instance.servers[place.index]
                sentence = f"at server {server!r} nobody in N_i uses a full resource that a remaining user demands"
                return Verdict("maximum", False, 1.0, sentence, "rational arithmetic")
            if not done:
                break
            left = [a for a in left if done[0] not in place.part[a]]
    return Verdict("maximum", True, -1.0, "every maximum is over somebody", "rational arithmetic")


def maximum_defined_in_floats(case: Case) -> Verdict:
    """The same where the solver's Algorithm I ends: the least part of a tested resource that its largest user in N_i has."""
    found = solve(case.instance, "ps-dsf", "psdsf-algorithm-1")
    if not found.residual <= FULL:
        return Verdict("maximum", None, np.nan, "not decided: Algorithm I has not ended", "floating point")
    game, worst = ps_dsf.game(case.instance), -1.0
    for server in servers_of(game):
        y, z = found.x[server.arcs] / server.gamma, found.tasks[server.user] / (server.phi * server.gamma)
        worst = max(worst, *(1e-6 - part for part in _largest_parts(server, y, z)), -1.0)
    return Verdict(
        "maximum", not worst > 0, worst, "nobody in N_i uses a full resource that a remaining user demands", "floating point"
    )


def _largest_parts(server: ServerArrays, y: Any, z: Any) -> Iterator[float]:
    """Of each tested r in R*, the part that its largest user in N_i has, while (17) removes users."""
    left, used = np.ones(len(y), bool), y[:, None] * server.w
    while left.any():
        least = z[left].min() * (1 + 1e-7)
        full = np.flatnonzero((y @ server.w >= 1 - 1e-7) & (server.w[left & (z <= least)] > 0).any(axis=0))
        done = [r for r in full if (on := left & (used[:, r] > 1e-7)).any() and z[on].max() <= least]
        if not done:
            yield from (float(used[left, r].max()) for r in full)
            return
        left = left & ~(server.w[:, done[0]] > 0)


# ---- S* ---------------------------------------------------------------------------------------------------------------------


def rising(case: Case) -> Verdict:
    """S* rises with each update of one server procedure, in three rounds; in floating point."""
    falls = [a - b for server in _rounds_in_floats(case.instance) for a, b in pairwise(server.minima)]
    worst = max([-1.0, *falls])
    return Verdict("monotonicity", not worst > FULL, worst, f"S* falls by {worst:.3g}", "a run of three rounds")


def rising_exactly(case: Case) -> Verdict:
    """The same in rationals, by Algorithm I as printed but for the least changes of solvers/game/psdsf_algorithm_1.py."""
    user, places = exact_arcs(case.instance).user, ServerInRationals.all_of(case.instance)
    # 1.
    x, worst = drf_on_each_server(case.instance, places), Fraction(-1)
    # 2. to 4.
    for place in places * ROUNDS:
        worst = max([worst, *(a - b for a, b in pairwise(list(procedure(place, x, user))))])
    return Verdict("monotonicity", worst <= 0, float(worst), f"S* falls by {float(worst):.3g}", f"{ROUNDS} rounds in rationals")


@dataclass(frozen=True)
class ProcedureInFloats:
    """One server procedure in floating point: the servers before it in the round, S* before each update, tasks (A,) after it."""

    earlier: list[ServerArrays]
    minima: list[float]
    x: Any


def _rounds_in_floats(instance: Instance) -> Iterator[ProcedureInFloats]:
    """The solver's server procedures of three rounds, from DRF on each server."""
    game = ps_dsf.game(instance)
    servers = servers_of(game)
    x = np.zeros(len(game.user))
    drf_alone(servers, x)
    for k, server in list(enumerate(servers)) * ROUNDS:
        tasks = game.tasks(x)
        y, minima = server_procedure(server, server.elsewhere(x, tasks), x[server.arcs] / server.gamma)
        server.put(y, x, tasks)
        yield ProcedureInFloats(servers[:k], minima, x.copy())


# ---- what later servers do --------------------------------------------------------------------------------------------------


def kept_by_later_servers(case: Case) -> Verdict:
    """After each procedure everybody has a bottleneck at the earlier servers of the round, by the gap of P Theorem 1."""
    game, worst = ps_dsf.game(case.instance), -1.0
    for made in _rounds_in_floats(case.instance):
        worst = max([worst, *(bottleneck_gap(game, made.x, server.index) for server in made.earlier)])
    margin = worst - 1e-6
    return Verdict("bottleneck", not margin > 0, margin, f"an earlier server has a gap of {worst:.3g}", "a run of three rounds")


def kept_by_later_servers_exactly(case: Case) -> Verdict:
    """The same in rationals, by (13) for each user."""
    instance, user, places = case.instance, exact_arcs(case.instance).user, ServerInRationals.all_of(case.instance)
    x = drf_on_each_server(instance, places)
    for k, place in list(enumerate(places)) * ROUNDS:
        _ = list(procedure(place, x, user))
        for earlier in places[:k]:
            if without := earlier.without_bottleneck(x, user):
                who, where = instance.users[without[0]], instance.servers[earlier.index]
                now = instance.servers[place.index]
                sentence = f"after the procedure of server {now!r} user {who!r} has no bottleneck at {where!r}"
                return Verdict("bottleneck", False, 1.0, sentence, f"{ROUNDS} rounds in rationals")
    return Verdict("bottleneck", True, -1.0, "bottlenecks stay", f"{ROUNDS} rounds in rationals")


def drf_on_each_server(instance: Instance, places: list[ServerInRationals]) -> dict[int, Fraction]:
    """Tasks by arc: DRF on each server as if there were no other, by progressive filling."""
    exact, x = instance.exact, dict.fromkeys(range(len(instance.arcs)), ZERO)
    for place in places:
        users, i = [place.user[a] for a in place.here], place.index
        pool = [int(instance.counts[i]) * c for c in exact.capacities[i]]
        demands = [exact.demands_on.get((n, i), exact.demands[n]) for n in users]
        alone = Instance(demands, [pool], weights=[exact.weights[n] for n in users])
        x |= dict(zip(place.here, progressive_filling(alone), strict=True))
    return x


def procedure(place: ServerInRationals, x: dict[int, Fraction], user: tuple[int, ...]) -> Iterator[Fraction]:
    """The inner loop for one server; x is changed in place."""
    left = list(place.here)
    for _ in range(20 * (len(place.here) * len(place.rows) + 10)):
        if not left:
            return
        # 2.
        z = place.shares(x, user)
        least, lowest, users = place.test(z, x, left)
        # 3.
        done = [r for r, using in users.items() if max((z[a] for a in using), default=least) == least]
        if done:
            left = [a for a in left if done[0] not in place.part[a]]
            continue
        # 4.
        yield least
        released = list(dict.fromkeys(max(using, key=lambda a: z[a]) for using in users.values()))
        x |= place.updated(z, x, lowest, released)
