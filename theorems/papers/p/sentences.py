"""Sentences of P between its theorems: units, what an update needs and reaches, and formulas as they are printed."""

from collections.abc import Callable
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.solvers.exact.ps_dsf import levels, unit
from fairalloc.solvers.game.psdsf_algorithm_1 import server_procedure
from fairalloc.solvers.game.session import servers_of
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certified, holdings_of, monopoly, others_changed
from fairalloc.theorems.judges.convergence import arcs_of_servers, vertices
from fairalloc.theorems.judges.trials import Answer
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals, procedure

F = Fraction
NEAR = 1e-7
EXACT = "rational arithmetic"


# ---- II-A -------------------------------------------------------------------------------------------------------------------


def utilisation_by_vertices(case: Case) -> Verdict:
    """No vertex of what one server allows has a larger sum of used parts than the Pareto optimal point; in rationals."""
    arcs, x = exact_arcs(case.instance), case.points[0]
    loads = arcs.loads(x)
    if not all(any(loads[row] == 1 for row, _ in load) for load in arcs.load):
        raise NotApplicable("somebody demands no full resource: the point is not Pareto optimal")
    (here,) = arcs_of_servers(case.instance)
    most = max(sum(arcs.loads(tuple(aim)), F(0)) for aim in vertices(case.instance, here))
    margin = most - sum(loads, F(0))
    return Verdict("utilisation", margin <= 0, float(margin), f"another allocation uses {margin} more of the capacities", EXACT)


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


# ---- III-C and III-D --------------------------------------------------------------------------------------------------------


def increase(case: Case) -> Verdict:
    """At S* + z*, with n_r without tasks at the server, what everybody there needs fills a resource; in rationals."""
    user, x, worst = exact_arcs(case.instance).user, dict(enumerate(case.points[0])), F(-1)
    for place in ServerInRationals.all_of(case.instance):
        z = place.shares(x, user)
        least, lowest, users = place.test(z, x, list(place.here))
        if any(max((z[a] for a in using), default=least) == least for using in users.values()):
            continue
        released = [max(using, key=lambda a: z[a]) for using in users.values()]
        load = place.load(x)
        f = {r: 1 - load[r] + sum((x[a] * place.part[a].get(r, F(0)) for a in released), F(0)) for r in place.rows}
        D = {r: sum((place.unit[a] * place.part[a].get(r, F(0)) for a in lowest), F(0)) for r in place.rows}
        aim = least + min(f[r] / D[r] for r in place.rows if D[r])
        kept = {a: F(0) if a in released else x[a] for a in place.here}
        need = {a: place.unit[a] * (aim - z[a]) + x[a] for a in place.here}  # for a share of aim, with tasks elsewhere
        after = place.load({a: max(kept[a], need[a]) for a in place.here})
        worst = max(worst, 1 - max(after[r] for a in lowest for r in place.part[a]))
    return Verdict("bound", worst <= 0, float(worst), f"S* can rise above S* + z*: {worst} of each resource is left", EXACT)


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


def local(case: Case) -> Verdict:
    """A server procedure gives the same where other servers and the tasks there are changed, with all x_n as before."""
    user, differences = exact_arcs(case.instance).user, [F(0)]
    for place in ServerInRationals.all_of(case.instance):
        ends = []
        for instance, x in ((case.instance, case.points[0]), others_changed(case.instance, case.points[0], place.index)):
            own = next(one for one in ServerInRationals.all_of(instance) if one.index == place.index)
            tasks = dict(enumerate(x))
            minima = list(procedure(own, tasks, user))
            ends.append([*minima, *(tasks[a] for a in own.here)])
        differences += [abs(a - b) for a, b in zip_longest(*ends, fillvalue=F(-1))]
    worst = max(differences)
    return Verdict("locality", worst == 0, float(worst), f"an update differs by {worst} with other servers changed", EXACT)


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


# ---- IV, V and the appendix -------------------------------------------------------------------------------------------------


def printed_condition(case: Case) -> Verdict:
    """P IV as printed: of the PS-DSF allocation x_n rises at the cost of none with x_m / gamma_mi <= x_n gamma_ni."""
    h, arcs = certified(case.instance, "ps-dsf"), exact_arcs(case.instance)
    user, server = arcs.user, case.instance.arcs.server
    for a, n in enumerate(user):
        here = [b for b in range(len(h.x)) if server[b] == server[a]]
        kept = [b for b in here if user[b] == n or h.tasks[user[b]] / h.gamma[b] <= h.tasks[n] * h.gamma[a]]
        loads = arcs.loads([v if b in kept or b not in here else F(0) for b, v in enumerate(h.x)])
        left = 1 - max(loads[row] for row, _ in arcs.load[a])
        if left > 0:
            who, where = case.instance.users[n], case.instance.servers[server[a]]
            sentence = f"user {who!r} can have {left} of {where!r} from users for whom the printed condition is false"
            return Verdict("printed condition", False, float(left), sentence, EXACT)
    return Verdict("printed condition", True, -1.0, "nobody can gain from those for whom it is false", EXACT)


def least_share(servers: tuple[int, ...]) -> Callable[[Case], Verdict]:
    """The least virtual dominant share of all who may use these servers is the largest of any allocation; in rationals."""

    def confirm(case: Case) -> Verdict:
        h, arcs = certified(case.instance, "ps-dsf"), exact_arcs(case.instance)
        units, count = unit(case.instance, arcs), len(h.x)
        own = [a for a in range(count) if case.instance.arcs.server[a] in servers]
        least = min(h.tasks[arcs.user[a]] / units[a] for a in own)
        matrix: Any = np.full((arcs.rows + len(own), count + 1), F(0), dtype=object)
        for a, load in enumerate(arcs.load):
            for row, part in load:
                matrix[row, a] = part
        for k, a in enumerate(own, start=arcs.rows):
            matrix[k, count] = units[a]
            matrix[k, [b for b in range(count) if arcs.user[b] == arcs.user[a]]] = F(-1)
        sides = np.array([F(int(k < arcs.rows)) for k in range(len(matrix))], dtype=object)
        cost = np.array([F(int(k == count)) for k in range(count + 1)], dtype=object)
        best = maximum(cost, matrix, sides, True)
        if best is None:
            raise NotApplicable("a linear program was not solved")
        margin = best.value - least
        return Verdict("max-min", margin <= 0, float(margin), f"the least share is {least}, and {best.value} is possible", EXACT)

    return confirm


def same_units(case: Case, answer: Answer) -> Verdict:
    """With each user's demands three times as large and a third of its tasks the allocation is PS-DSF again, with its shares."""
    h, instance = holdings_of(answer(case.instance)), case.instance
    worst = -1.0
    for n in range(instance.N):
        demands = [[[3 * d if m == n else d for d in row] for row in rows] for m, rows in enumerate(instance.exact.demands)]
        scaled = instance.replace(demands=demands)
        x = [v / 3 if m == n else v for m, v in zip(instance.arcs.user, h.x, strict=True)]
        if h.exact:
            shares = all(3 * monopoly(scaled, n, i) == monopoly(instance, n, i) for i in range(instance.K))
            worst = max(worst, -1.0 if shares and levels(scaled, tuple(x)) is not None else 1.0)
        else:
            game = ps_dsf.game(scaled)
            gaps = [bottleneck_gap(game, np.array(x), server.index) for server in servers_of(game)]
            worst = max(worst, max(gaps) - 1e-6)
    return Verdict("units", not worst > 0, worst, "in other units the allocation is not PS-DSF", EXACT if h.exact else "floats")
