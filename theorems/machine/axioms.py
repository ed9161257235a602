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
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import z3

from fairalloc.analysis.properties.fairness import global_bottlenecks, server_bottlenecks, whole_bottlenecks
from fairalloc.models.exact.rationals import Rationals, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.machine.reals import Outcome, Term, real, total


@dataclass(frozen=True)
class Profile:
    """The data of one instance and its unknown tasks."""

    instance: Instance

    @cached_property
    def users(self) -> range:
        return range(self.instance.N)

    @cached_property
    def servers(self) -> range:
        return range(self.instance.K)

    @cached_property
    def arcs(self) -> list[tuple[int, int]]:
        return list(zip(self.instance.arcs.user.tolist(), self.instance.arcs.server.tolist(), strict=True))

    @cached_property
    def demands(self) -> list[tuple[Fraction, ...]]:
        return [rows[0] for rows in self.instance.exact.demands]

    @cached_property
    def capacities(self) -> list[list[Fraction]]:
        counts = self.instance.counts.tolist()
        return [[q * c for c in row] for q, row in zip(counts, self.instance.exact.capacities, strict=True)]

    @cached_property
    def gamma(self) -> Mapping[tuple[int, int], Fraction]:
        return dict(zip(self.arcs, exact_monopolies(self.instance), strict=True))

    @cached_property
    def x(self) -> Mapping[tuple[int, int], Term]:
        return {arc: real(f"x{arc}") for arc in self.arcs}

    def demanded(self, n: int) -> list[int]:
        """The resources that a user demands."""
        return [r for r, d in enumerate(self.demands[n]) if d]

    def tasks(self, n: int) -> Term:
        """x_n."""
        return total(self.x[arc] for arc in self.arcs if arc[0] == n)

    def here(self, i: int) -> list[int]:
        """The users who may run on a server."""
        return [n for n, k in self.arcs if k == i]

    def load(self, i: int, r: int) -> Term:
        """What of a resource is used at a server."""
        return total(_number(self.demands[n][r]) * self.x[n, i] for n in self.here(i) if self.demands[n][r])

    def full(self, i: int, r: int) -> Term:
        """Whether a resource is full at a server."""
        return self.load(i, r) == _number(self.capacities[i][r])


def _number(value: Fraction) -> Term:
    return z3.Q(value.numerator, value.denominator)


# ---- the properties ---------------------------------------------------------------------------------------------------


def _feasible(p: Profile) -> list[Term]:
    within = [p.load(i, r) <= _number(p.capacities[i][r]) for i in p.servers for r in range(p.instance.R)]
    return [*(x >= 0 for x in p.x.values()), *within]


def _sharing(p: Profile, part: Callable[[int], Fraction]) -> list[Term]:
    alone = [sum((g for arc, g in p.gamma.items() if arc[0] == n), Fraction(0)) for n in p.users]
    return [p.tasks(n) >= _number(part(n) * alone[n]) for n in p.users]


def _by_weights(p: Profile) -> list[Term]:
    weights = p.instance.exact.weights
    return _sharing(p, lambda n: weights[n] / sum(weights))


def _equally(p: Profile) -> list[Term]:
    return _sharing(p, lambda _: Fraction(1, p.instance.N))


def _no_envy(p: Profile, servers: Callable[[int], Iterable[int]]) -> list[Term]:
    weights, found = p.instance.exact.weights, []
    for n in p.users:
        for m in p.users:
            worth = min(p.demands[m][r] / p.demands[n][r] for r in p.demanded(n)) * weights[n] / weights[m]
            held = total(p.x[m, i] for i in servers(n) if (m, i) in p.x)
            found += [p.tasks(n) >= _number(worth) * held] * (m != n and worth > 0)
    return found


def _own_servers(p: Profile) -> list[Term]:
    return _no_envy(p, lambda n: [i for k, i in p.arcs if k == n])


def _all_servers(p: Profile) -> list[Term]:
    return _no_envy(p, lambda _: p.servers)


def _weak_sharing(p: Profile) -> list[Term]:
    b = {(n, i, r): real(f"b{n, i, r}") for n in p.users for i in p.servers for r in range(p.instance.R)}
    y = {arc: real(f"y{arc}") for arc in p.arcs}
    found = [v >= 0 for v in b.values()]
    for i in p.servers:
        found += [total(b[n, i, r] for n in p.users) <= _number(c) for r, c in enumerate(p.capacities[i])]
    for n in p.users:
        for r in range(p.instance.R):
            part = sum((row[r] for row in p.capacities), Fraction(0)) / p.instance.N
            found.append(total(b[n, i, r] for i in p.servers) >= _number(part))
        found.append(total(v for arc, v in y.items() if arc[0] == n) <= p.tasks(n))
    for n, i in p.arcs:
        found.append(z3.Or(*(y[n, i] * _number(p.demands[n][r]) >= b[n, i, r] for r in p.demanded(n))))
    return found


def _pareto(p: Profile) -> list[Term]:
    w = [real(f"w{n}") for n in p.users]
    prices = {(i, r): real(f"p{i, r}") for i in p.servers for r in range(p.instance.R)}
    found = [*(v >= 1 for v in w), *(v >= 0 for v in prices.values())]
    found += [z3.Or(v == 0, p.full(i, r)) for (i, r), v in prices.items()]
    for n, i in p.arcs:
        cost = total(prices[i, r] * _number(p.demands[n][r]) for r in p.demanded(n))
        found += [cost >= w[n], z3.Or(p.x[n, i] == 0, cost == w[n])]
    return found


def _bottlenecks(p: Profile, resources: Mapping[int, Sequence[int]], share: Callable[[int, int], Fraction]) -> list[Term]:
    """Everybody has a bottleneck among the resources of each server there; its share is its tasks times `share`."""
    found = []
    for i, allowed in resources.items():
        here = p.here(i)
        s = {n: p.tasks(n) * _number(share(n, i)) for n in here}
        for n in here:
            reasons = []
            for r in (r for r in allowed if p.demands[n][r]):
                others = [z3.Or(p.x[m, i] == 0, s[n] >= s[m]) for m in here if m != n and p.demands[m][r]]
                reasons.append(z3.And(p.full(i, r), *others))
            found.append(z3.Or(*reasons))
    return found


def _amount(p: Profile, r: int) -> Callable[[int, int], Fraction]:
    """What a task takes of a resource, by weight."""
    return lambda n, _: p.demands[n][r] / p.instance.exact.weights[n]


def _virtual(p: Profile) -> Callable[[int, int], Fraction]:
    """The part of what runs alone on a server that a task is, by weight."""
    return lambda n, i: 1 / (p.instance.exact.weights[n] * p.gamma[n, i])


def _one_for_all(p: Profile) -> list[Term]:
    common = whole_bottlenecks(p.instance)
    return _bottlenecks(p, {i: [min(common)] for i in p.servers}, _amount(p, min(common))) if common else []


def _one_for_each(p: Profile) -> list[Term]:
    return _bottlenecks(p, {i: [r] for i, r in server_bottlenecks(p.instance).items()}, _virtual(p))


def _one_resource(p: Profile) -> list[Term]:
    return _bottlenecks(p, {i: [0] for i in p.servers}, _amount(p, 0)) if p.instance.R == 1 else []


def _one_server(p: Profile) -> list[Term]:
    return _bottlenecks(p, {0: range(p.instance.R)}, _virtual(p)) if p.instance.K == 1 else []


def _one_globally(p: Profile) -> list[Term]:
    """The tasks of drfh, which are unique and its definition there."""
    if not global_bottlenecks(p.instance):
        return []
    tasks = solve(p.instance, "drfh", "exact").tasks_exact
    assert tasks is not None, "drfh has exact answers"
    return [p.tasks(n) == _number(v) for n, v in enumerate(tasks)]


AXIOMS: Mapping[str, Callable[[Profile], list[Term]]] = {
    "feasibility": lambda _: [],
    "pareto": _pareto,
    "envy-freeness": _own_servers,
    "total-envy-freeness": _all_servers,
    "sharing-incentive": _by_weights,
    "strong-sharing-incentive": _equally,
    "weak-sharing-incentive": _weak_sharing,
    "bottleneck-fairness": _one_for_all,
    "server-bottleneck-fairness": _one_for_each,
    "global-bottleneck-fairness": _one_globally,
    "single-resource-fairness": _one_resource,
    "single-server-reduction": _one_server,
}
"""The properties of one allocation that have formulas, which are those of `check` on instances as above."""


def possible(instance: Instance, axioms: Iterable[str], seconds: float = 20.0) -> tuple[Outcome, Rationals]:
    """Whether some feasible tasks have these properties.

    Parameters
    ----------
    instance : users with one demand vector, the same on all servers, and no limits
    axioms : names of AXIOMS
    seconds : for the solver

    Returns
    -------
    "sat" and (A,) such tasks, "unsat" where there are none, or "unknown"; without tasks in these two cases
    """
    profile = Profile(instance)
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", max(1, int(1000 * seconds)))
    solver.add(*_feasible(profile))
    for name in axioms:
        solver.add(*AXIOMS[name](profile))
    outcome: Any = str(solver.check())
    if outcome != "sat":
        return outcome, ()
    model = solver.model()
    return outcome, tuple(model.eval(profile.x[arc], model_completion=True).as_fraction() for arc in profile.arcs)
