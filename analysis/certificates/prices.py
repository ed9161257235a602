r"""The certificate of PS-DSF where users have several variants: layers of prices at each server.

The definition is that of formulations/game/ps_dsf_variants.py.

With sum_r p_r = 1 and c_m(p) the cost of m's cheapest task on server i, a layer of prices at server i with

    1 = sum over m of c_m(p) x_mi,     x_mi = the tasks of m on i                                                        (*)

proves that nobody n with c_n(p) > 0 can have more there without less for an m with z_m <= z_n, if nobody with a larger share than
n pays anything. So every user below its limit needs such a layer at every server where it has arcs. gamma_ni in z_ni is computed
from the data with its own proof, a solution of a linear program and of its dual of the same value (models/exact/rationals.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fairalloc.analysis.certificates.certificate import Certificate, feasible, require
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.exact.proofs import ExactLayer
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import unit


@dataclass(frozen=True, repr=False)
class PricesCertificate(Certificate):
    """Exact PS-DSF tasks x_n (N,), which x must add up to, and at each server a layer for each share that needs its own."""

    kind: ClassVar[str] = "prices"
    tasks: Rationals
    layers: tuple[ExactLayer, ...]

    @property
    def claim(self) -> str:
        return f"per-server dominant-share fair, {len(self.layers)} layers of prices show that nobody can have more at any server"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, PsDsf), f"{self.mechanism!r} is not about shares at each server")
        arcs = exact_arcs(domain)
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        require(all(u > 0 for u in self.tasks), "a user has no task")
        shares = [self.tasks[n] / one for n, one in zip(arcs.user, unit(domain, arcs), strict=True)]
        server = domain.arcs.server
        proved: set[tuple[int, int]] = set()
        for layer in self.layers:
            require(0 <= layer.server < domain.K and len(layer.prices) == domain.R, "a layer has no server or not its prices")
            here = np.flatnonzero(server == layer.server).tolist()
            proved |= {(n, layer.server) for n in _proved(layer, arcs, here, self.x, shares)}
        for n, i in zip(arcs.user, server.tolist(), strict=True):
            fault = f"no prices keep user {domain.users[n]!r} from more at server {domain.servers[i]!r}"
            require(self.tasks[n] == arcs.limits[n] or (n, i) in proved, fault)


def _proved(layer: ExactLayer, arcs: ExactArcs, here: list[int], x: Sequence[Fraction], shares: Sequence[Fraction]) -> set[int]:
    """The users for whom a layer proves (*), from the arcs of its server and (A,) tasks and shares z; Refuted if it is wrong."""
    require(all(p >= 0 for p in layer.prices), "a price is negative")
    require(sum(layer.prices) == 1, "the prices of a layer do not add up to 1")
    least = {n: layer.cheapest(arcs, here, n) for n in {arcs.user[a] for a in here}}
    paid = sum((least[arcs.user[a]] * x[a] for a in here), Fraction(0))
    require(paid == 1, "the prices of a layer leave an excess")
    highest = max((shares[a] for a in here if x[a] and layer.cost(arcs, a)), default=Fraction(0))
    return {arcs.user[a] for a in here if least[arcs.user[a]] and shares[a] >= highest}
