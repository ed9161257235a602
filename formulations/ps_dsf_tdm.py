r"""PS-DSF on servers that are shared in time only (K 3.4, (17), Problem 2).

A server runs one user at a time: x_ni / gamma_ni is the part of the time it gives to user n, and

    sum_n x_ni / gamma_ni <= 1                                                                                (K 17, 19)

That is an instance with the one resource "time", of which a task of n takes 1 / gamma_ni on server i. With one resource all g_i
agree (K Theorem 5), so Problem 2 is solved with g = log: the linear Fisher market

    max   sum_n phi_n log x_n     s.t.  (K 19),  x >= 0

whose equilibria are the PS-DSF allocations, and x_n is unique. With x_n <= M_n it gives one of the answers, a Pareto optimal one.
A user with several variants runs their best mixture: docs/reference/derivations.md derives both.
"""

from dataclasses import replace
from functools import lru_cache

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.rationals import best_mixture, exact_arcs
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import worst


class TimeShared(Equilibrium):
    """PS-DSF where servers can be shared in time only."""

    id = "ps-dsf-tdm"
    title = "PS-DSF on servers that are shared in time only"
    source = "K 3.4, Problem 2"
    convex = True
    write_cvxpy, write_pyomo = NashBargaining.write_cvxpy, NashBargaining.write_pyomo  # they read the instance alone

    def write_game(self, instance: Instance) -> Game:
        """On the instance whose one resource is time, g = log stands for all (K Theorem 5)."""
        return Game(instance, 1.0)

    def domain(self, instance: Instance) -> Instance:
        """The instance whose one resource is time; its arcs are those of the instance, in the same order."""
        return time_shared(self.home(instance))

    def home(self, instance: Instance) -> Instance:
        """The allocation is given on the servers themselves, where a user with several variants runs their best mixture."""
        return mixed(instance)

    def residual(self, allocation: Allocation) -> float:
        """By game/residual.py on the time-shared instance, or what a server runs beyond its time (at most 1)."""
        in_time = replace(allocation, instance=time_shared(allocation.instance), prices=None, round_prices=None)
        return worst([super().residual(in_time), min(infeasibility(in_time), 1.0)])


@lru_cache(maxsize=8)
def mixed(instance: Instance) -> Instance:
    """A task of a user on a server is one of its best mixture there; the instance itself where users have one variant."""
    if instance.single_variant:
        return instance
    arcs, exact = instance.arcs, instance.exact
    loads, of = exact_arcs(instance).load, dict[tuple[int, int], list[int]]()
    for a, pair in enumerate(zip(arcs.user.tolist(), arcs.server.tolist(), strict=True)):
        of.setdefault(pair, []).append(a)
    demands_on = {}
    for (n, i), own in of.items():
        tasks, _ = best_mixture([dict(loads[a]) for a in own])
        vectors = [exact.demands_at(n, i)[arcs.variant[a]] for a in own]
        total = sum(tasks)
        demands_on[n, i] = [sum(y * v[r] for y, v in zip(tasks, vectors, strict=True)) / total for r in range(instance.R)]
    eligible = [[(n, i) in of for i in range(instance.K)] for n in range(instance.N)]
    return instance.replace(demands=[d[0] for d in exact.demands], eligible=eligible, rates=None, demands_on=demands_on)


@lru_cache(maxsize=8)
def time_shared(instance: Instance) -> Instance:
    """The instance whose one resource is time, 1 / gamma_ni of server i for a task of n; always the same object."""
    arcs = zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), exact_arcs(instance).load, strict=True)
    demands_on = {(n, i): [max(part for _, part in load)] for n, i, load in arcs}
    tasks, servers = [[1]] * instance.N, [[1]] * instance.K
    changed = {"demands": tasks, "capacities": servers, "counts": None, "resources": ["time"]}
    return instance.replace(**changed, eligible=instance.eligible, rates=None, demands_on=demands_on)


mechanism = TimeShared()
