r"""Whether an instance has feasible tasks with several properties, decided by z3: formulas that are linear in the tasks.

Data are rational numbers; every user has one demand vector, the same on all servers, and no limit:

    d_nr, c_ir, phi_n     demands, capacities (of all servers of a class), weights; user n, server i, resource r
    gamma_ni              min over r with d_nr > 0 of c_ir / d_nr, the tasks that n runs alone on i (K 8)
    x_ni, x_n             tasks of n on i, where it may run, and their sum over i: the unknowns

    feasibility           x_ni >= 0,  sum_n d_nr x_ni <= c_ir
    sharing incentive     x_n >= (phi_n / sum phi) sum_i gamma_ni                              (K 3.3; W Def 2 with 1 / N)
    envy-freeness         x_n >= (phi_n / phi_m) sum_i q x_mi, over the servers of n, with q = min over r with d_nr > 0 of
                          d_mr / d_nr; by totals: over all servers                             (W 3.3; K 2.1)
    weak sharing          sum_i y_ni <= x_n,  and for one r of each n and i  y_ni d_nr >= b_nir;  sum_n b_nir <= c_ir,
                          N sum_i b_nir >= sum_i c_ir                                          (W Defs 3 and 4)
    Pareto optimality     w_n >= 1, p_ir >= 0,  sum_r p_ir d_nr >= w_n, and = where x_ni > 0;  p_ir = 0 where r is not full at i:
                          x is an optimum of a linear program with positive weights, as every efficient point of a polytope is
    bottlenecks           for one r of each n and i: r is full at i, and s_n >= s_m for all m who use it there, with the shares s
                          of fairness.py (K Def 2, Cor 1; P II-A; W 3.3)

A property that is not defined on an instance, such as bottleneck fairness where no resource is a bottleneck, asks nothing of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import z3

from fairalloc.analysis.properties.fairness import global_bottlenecks, server_bottlenecks, whole_bottlenecks
from fairalloc.models.exact.rationals import Rationals, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.definitions import bottleneck, equilibrium, feasible
from fairalloc.theorems.smt.reals import FORMULAS, Outcome, Term, real, total


class Profile:
    """The data of one instance as the definitions take them, and its unknown tasks."""

    def __init__(self, instance: Instance) -> None:
        exact, arcs = instance.exact, instance.arcs
        self.instance, self.users, self.weights = instance, range(instance.N), exact.weights
        self.arcs = list(zip(arcs.user.tolist(), arcs.server.tolist(), strict=True))
        self.demands = [{r: d for r, d in enumerate(rows[0]) if d} for rows in exact.demands]
        self.need = {a: self.demands[a[0]] for a in self.arcs}
        pools = zip(instance.counts.tolist(), exact.capacities, strict=True)
        self.room = {(i, r): q * c for i, (q, row) in enumerate(pools) for r, c in enumerate(row)}
        self.gamma = dict(zip(self.arcs, exact_monopolies(instance), strict=True))
        self.x = {a: real(f"x{a}") for a in self.arcs}
        self.tasks = [self.of_user(n, self.x) for n in self.users]

    def of_user(self, n: int, x: Mapping[tuple[int, int], Any], servers: Iterable[int] | None = None) -> Any:
        """The sum over the arcs of a user, at some servers or at all."""
        return sum(v for (m, i), v in x.items() if m == n and (servers is None or i in servers))


# ---- the properties ---------------------------------------------------------------------------------------------------


def _sharing(p: Profile, parts: Sequence[Fraction]) -> list[Term]:
    return [p.tasks[n] >= parts[n] / sum(parts) * p.of_user(n, p.gamma) for n in p.users]


def _no_envy(p: Profile, servers: Callable[[int], Iterable[int]]) -> list[Term]:
    found = []
    for n, own in enumerate(p.demands):
        for m, other in enumerate(p.demands):
            worth = min(other.get(r, Fraction(0)) / d for r, d in own.items()) * p.weights[n] / p.weights[m]
            found += [p.tasks[n] >= worth * p.of_user(m, p.x, servers(n))] * (m != n and worth > 0)
    return found


def _weak_sharing(p: Profile) -> list[Term]:
    b = {(n, *pool): real(f"b{(n, *pool)}") for n in p.users for pool in p.room}
    y = {a: real(f"y{a}") for a in p.arcs}
    found = [v >= 0 for v in b.values()] + [total(b[n, *pool] for n in p.users) <= c for pool, c in p.room.items()]
    for n in p.users:
        for r in range(p.instance.R):
            pools = [(i, s) for i, s in p.room if s == r]
            part = sum(p.room[pool] for pool in pools) / p.instance.N
            found.append(total(b[n, *pool] for pool in pools) >= part)
        found.append(p.of_user(n, y) <= p.tasks[n])
    return found + [z3.Or(*(y[n, i] * d >= b[n, i, r] for r, d in need.items())) for (n, i), need in p.need.items()]


def _pareto(p: Profile) -> list[Term]:
    w = [real(f"w{n}") for n in p.users]
    prices = {pool: real(f"p{pool}") for pool in p.room}
    return [*(v >= 1 for v in w), equilibrium(p.need, p.room, {a: w[a[0]] for a in p.arcs}, p.x, prices, *FORMULAS)]


def _bottlenecks(p: Profile, resources: Mapping[int, Sequence[int]], amount_of: int | None = None) -> list[Term]:
    """Everybody has a bottleneck among the resources of each server there.

    Shares are amounts of one resource, or parts of what runs alone on the server, by weight.
    """
    part = {a: 1 / p.gamma[a] if amount_of is None else need.get(amount_of, Fraction(0)) for a, need in p.need.items()}
    share = {a: p.tasks[a[0]] * (v / p.weights[a[0]]) for a, v in part.items()}
    own = {a: [r for r in resources[a[1]] if r in p.need[a]] for a in p.arcs if a[1] in resources}
    return [z3.Or(*(bottleneck(p.need, p.room, share, p.x, a, r, *FORMULAS) for r in own[a])) for a in own]


def _one_amount(p: Profile, r: int) -> list[Term]:
    return _bottlenecks(p, {i: [r] for i in range(p.instance.K)}, r)


def _one_globally(p: Profile) -> list[Term]:
    """The tasks of drfh, which are unique and its definition there."""
    if not global_bottlenecks(p.instance):
        return []
    tasks = solve(p.instance, "drfh", "exact").tasks_exact
    assert tasks is not None, "drfh has exact answers"
    return [p.tasks[n] == v for n, v in enumerate(tasks)]


AXIOMS: Mapping[str, Callable[[Profile], list[Term]]] = {
    "feasibility": lambda _: [],
    "pareto": _pareto,
    "envy-freeness": lambda p: _no_envy(p, lambda n: [i for m, i in p.arcs if m == n]),
    "total-envy-freeness": lambda p: _no_envy(p, lambda _: range(p.instance.K)),
    "sharing-incentive": lambda p: _sharing(p, p.weights),
    "strong-sharing-incentive": lambda p: _sharing(p, [Fraction(1)] * p.instance.N),
    "weak-sharing-incentive": _weak_sharing,
    "bottleneck-fairness": lambda p: _one_amount(p, min(common)) if (common := whole_bottlenecks(p.instance)) else [],
    "server-bottleneck-fairness": lambda p: _bottlenecks(p, {i: [r] for i, r in server_bottlenecks(p.instance).items()}),
    "global-bottleneck-fairness": _one_globally,
    "single-resource-fairness": lambda p: _one_amount(p, 0) if p.instance.R == 1 else [],
    "single-server-reduction": lambda p: _bottlenecks(p, {0: range(p.instance.R)}) if p.instance.K == 1 else [],
}
"""The properties of one allocation that have formulas, which are those of `check` on instances as above."""


def possible(instance: Instance, axioms: Iterable[str], seconds: float = 20.0) -> tuple[Outcome, Rationals]:
    """Whether some feasible tasks have these properties.

    "sat" and (A,) such tasks, "unsat" where there are none, or "unknown". Users have one demand vector, the same on all servers,
    and no limits.
    """
    profile = Profile(instance)
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", max(1, int(1000 * seconds)))
    solver.add(feasible(profile.need, profile.room, profile.x, *FORMULAS))
    for name in axioms:
        solver.add(*AXIOMS[name](profile))
    outcome: Any = str(solver.check())
    if outcome != "sat":
        return outcome, ()
    model = solver.model()
    return outcome, tuple(model.eval(profile.x[arc], model_completion=True).as_fraction() for arc in profile.arcs)
