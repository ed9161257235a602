"""Claims of P in floating point: second implementations of what theorems/papers/p decides exactly, by unrelated routes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.game.psdsf_algorithm_1 import drf_alone, server_procedure
from fairalloc.solvers.game.session import ServerArrays, servers_of
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import shares
from fairalloc.theorems.checkers.trials import Answer, attempted, others_changed, property_judge
from fairalloc.theorems.papers.p import trials as claims_p
from fairalloc.theorems.papers.p.algorithm_1 import MOST_ROUNDS, ROUNDS
from fairalloc.theorems.standalone.certificates import of_eligible

F = Fraction
NEAR = 1e-7
FULL = 1e-9
"""What counts as full, as equal and as nothing in floating point, in parts of 1."""

RATIO = 1e-3
"""How much ratios of changes that are called constant may differ in floating point."""


def condition_15(share: float, served: Any) -> bool:
    """(15), for the share of n and those of the users of r."""
    return not (served > share * (1 + FULL)).any()


def bottleneck_by_release(case: Case) -> Verdict:
    """(14) and (15) at the case's point: r stays full when all with a larger share leave the server; in floating point."""
    game, x = ps_dsf.game(case.instance), np.array([float(v) for v in case.points[0]])
    tasks, worst = game.tasks(x), -1.0
    for server in servers_of(game):
        y, z = x[server.arcs] / server.gamma, tasks[server.user] / (server.phi * server.gamma)
        for r in np.flatnonzero(y @ server.w >= 1 - FULL):
            needs = server.w[:, r] > 0
            for share in z[needs & (z <= z[needs].min() * (1 + FULL))]:
                if condition_15(share, z[needs & (y > 0)]):
                    stays = np.where(z > share * (1 + FULL), 0.0, y) @ server.w[:, r]
                    worst = max(worst, float(1 - 2 * FULL - stays))
    return Verdict("bottleneck", not worst > 0, worst, "r has slack when all with a larger share leave", "floating point")


def feasible_in_floats(case: Case) -> Verdict:
    """The same on arrays, in parts of a monopoly, from the linear programs of DRF on each server."""
    game, x = ps_dsf.game(case.instance), solve(case.instance, "drf-per-server", "highs").x
    tasks, worst = game.tasks(x), -1.0
    for server in servers_of(game):
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


def rising(case: Case) -> Verdict:
    """S* rises with each update of one server procedure, in three rounds; in floating point."""
    falls = [a - b for server in _rounds_in_floats(case.instance) for a, b in pairwise(server.minima)]
    worst = max([-1.0, *falls])
    return Verdict("monotonicity", not worst > FULL, worst, f"S* falls by {worst:.3g}", "a run of three rounds")


def kept_by_later_servers(case: Case) -> Verdict:
    """After each procedure everybody has a bottleneck at the earlier servers of the round, by the gap of P Theorem 1."""
    game, worst = ps_dsf.game(case.instance), -1.0
    for made in _rounds_in_floats(case.instance):
        worst = max([worst, *(bottleneck_gap(game, made.x, server.index) for server in made.earlier)])
    margin = worst - 1e-6
    return Verdict("bottleneck", not margin > 0, margin, f"an earlier server has a gap of {worst:.3g}", "a run of three rounds")


def ends_in_floats(case: Case) -> Verdict:
    """The same for the solver's rounds: without an update, or with changes in one ratio below 1."""
    game, sizes = ps_dsf.game(case.instance), list[float]()
    servers, method = servers_of(game), f"{MOST_ROUNDS} rounds in floating point"
    x = np.zeros(len(game.user))
    drf_alone(servers, x)
    for count in range(1, MOST_ROUNDS + 1):
        before, tasks, updates = x.copy(), game.tasks(x), 0
        for server in servers:
            y, minima = server_procedure(server, server.elsewhere(x, tasks), x[server.arcs] / server.gamma)
            server.put(y, x, tasks)
            updates += len(minima)
        if not updates:
            gap = max(bottleneck_gap(game, x, server.index) for server in servers)
            return Verdict(
                "termination", gap <= 1e-6, gap - 1e-6, f"it ends after {count} rounds with a gap of {gap:.1e}", method
            )
        sizes.append(float(np.abs((x - before) / game.gamma).max()))
    ratios = [b / a for a, b in pairwise(sizes[-4:]) if a]
    geometric = len(ratios) == 3 and max(ratios) - min(ratios) <= RATIO and RATIO < ratios[-1] < 1 - RATIO
    words = f"changes in the ratio {ratios[-1]:.4g}" if geometric else f"not decided after {MOST_ROUNDS} rounds"
    return Verdict("termination", False if geometric else None, ratios[-1] if geometric else np.nan, words, method)


def utilisation_by_program(case: Case) -> Verdict:
    """The same by linear programs in floating point: one for each user, which can gain nothing, and one for the used parts."""
    load = case.instance.arcs.load.toarray()
    x = np.array([float(v) for v in case.points[0]])
    alone = 1 / load.max(axis=0)
    left = np.maximum(1 - load @ x, 0.0)
    for a, most in enumerate(alone):
        best = maximum((np.arange(len(x)) == a) / most, load, left, False)
        if best is None or best.value > NEAR:
            raise NotApplicable("somebody can gain while nobody loses: the point is not Pareto optimal")
    best = maximum(load.sum(axis=0), load, np.ones(len(load)), False)
    margin = np.nan if best is None else best.value - float((load @ x).sum()) - NEAR
    return Verdict("utilisation", not margin > 0, margin, f"another allocation uses {margin:.3g} more of the capacities", "LP")


def increase_in_floats(case: Case) -> Verdict:
    """The same by a linear program: the largest least share that what is left and released at the server allows."""
    game, x = ps_dsf.game(case.instance), np.array([float(v) for v in case.points[0]])
    tasks, worst = game.tasks(x), -1.0
    for server in servers_of(game):
        y, b = x[server.arcs] / server.gamma, server.elsewhere(x, tasks)
        z = b + y / server.phi
        lowest = z <= z.min() * (1 + NEAR)
        full = np.flatnonzero((y @ server.w >= 1 - NEAR) & (server.w[lowest] > 0).any(axis=0))
        top = [np.where((y > 0) & (server.w[:, r] > 0), z, -np.inf) for r in full]
        if any(shares.max() <= z.min() * (1 + NEAR) for shares in top):
            continue
        released = np.array([shares.argmax() for shares in top], dtype=int)
        f, D = 1 - y @ server.w + y[released] @ server.w[released], server.phi[lowest] @ server.w[lowest]
        kept = np.where(np.isin(np.arange(len(y)), released), 0.0, y)
        shares = np.hstack([-np.diag(1 / server.phi), np.ones((len(y), 1))])  # s - y_m / phi_m <= the share that is kept
        matrix = np.vstack([shares, np.hstack([server.w.T, np.zeros((server.w.shape[1], 1))])])
        best = maximum(np.eye(len(y) + 1)[-1], matrix, np.concatenate([b + kept / server.phi, 1 - kept @ server.w]), False)
        risen = -np.inf if best is None else best.value - z.min()
        worst = max(worst, float(risen - (f[D > 0] / D[D > 0]).min() - NEAR * max(1.0, risen)))
    return Verdict("bound", not worst > 0, worst, f"S* can rise by {worst:.3g} more than z*", "LP")


def local_in_floats(case: Case) -> Verdict:
    """The same for the solver's server procedure, in floating point."""
    worst = 0.0
    for k, server in enumerate(servers_of(ps_dsf.game(case.instance))):
        ends = []
        for instance, point in ((case.instance, case.points[0]), others_changed(case.instance, case.points[0], server.index)):
            game, x = ps_dsf.game(instance), np.array([float(v) for v in point])
            own = servers_of(game)[k]
            y, _ = server_procedure(own, own.elsewhere(x, game.tasks(x)), x[own.arcs] / own.gamma)
            ends.append(y)
        worst = max(worst, float(np.abs(ends[0] - ends[1]).max()))
    return Verdict("locality", worst <= NEAR, worst - NEAR, f"an update differs by {worst:.3g}", "floating point")


def raised_by_program(h: Holdings, n: int) -> bool:
    """Whether x_n can rise while no x_mi falls with z_mi <= z_ni."""
    instance, user, server = h.instance, h.instance.arcs.user, h.instance.arcs.server
    z = shares(h)
    own = {int(server[a]): z[a] for a in np.flatnonzero(user == n)}
    floors = [h.x[a] if user[a] != n and int(server[a]) in own and z[a] <= own[int(server[a])] else F(0) for a in range(len(h.x))]
    floors = [v if user[a] == n or int(server[a]) in own else h.x[a] for a, v in enumerate(floors)]
    arcs = exact_arcs(instance)
    matrix = np.array(arcs.matrix(), dtype=object)
    sides = np.array([F(1)] * arcs.rows, dtype=object) - matrix @ np.array(floors, dtype=object)
    cost = np.array([F(int(m == n)) for m in user], dtype=object)
    best = maximum(cost, matrix, sides, True)
    if best is None:
        raise NotApplicable("a linear program was not solved")
    return bool(best.value > h.tasks[n])


def by_programs(check: Callable[[Case], Verdict]) -> Callable[[Case], Verdict]:
    """A check of Definition 1 or 2 by linear programs."""

    def second(case: Case) -> Verdict:
        somebody = lambda h: any(raised_by_program(h, n) for n in range(h.instance.N))  # noqa: E731
        with patch.object(claims_p, "can_rise", somebody):
            return check(case)

    return second


def over_eligible(case: Case, answer: Answer) -> Verdict:
    """Strategyproofness of drfh with the dominant resource over a user's own eligible servers (P II-B, [15])."""
    own = lambda instance: replace(answer(of_eligible(instance)), instance=instance)  # noqa: E731
    return property_judge("strategyproofness")(case, own)


SECOND = {
    "P.C1": bottleneck_by_release,
    "P.A1.feasible": feasible_in_floats,
    "P.A1.defined": maximum_defined_in_floats,
    "P.A1.rising": rising,
    "P.A1.later": kept_by_later_servers,
    "P.A1.increase": increase_in_floats,
    "P.III-D.local": local_in_floats,
    "P.T1": by_programs(claims_p.definition),
    "P.II-A.max-min": by_programs(claims_p.max_min),
    "P.II-A.utilization": utilisation_by_program,
    "P.II-B.eligible": attempted("drfh", over_eligible),
}
"""Of what one exact route, or the check of a script, tries and confirms, by statement."""

OTHER = {
    "P.A1.ends": ends_in_floats,
}
"""Of exact trials, of which a script confirms the violations that its check is about."""
