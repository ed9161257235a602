r"""Certificates of the game (formulations/game/game.py): PS-DSF by levels or prices, any other alpha by a bound on the residual.

**Levels.** x is PS-DSF iff every arc of a user below its limit reaches a level: kappa_ir = 1 / l_ir, where l_ir is the largest
z_mi that a full resource serves, and 0 where a resource is not full (P Theorem 1, ps_dsf.py). All of it is rational.

**Prices**, where users have several variants (formulations/game/ps_dsf_variants.py). With sum_r p_r = 1 and c_m(p) the cost of
m's cheapest task on server i, a layer of prices at server i with

    1 = sum over m of c_m(p) x_mi,     x_mi = the tasks of m on i                                                        (*)

proves that nobody n with c_n(p) > 0 can have more there without less for an m with z_m <= z_n, if nobody with a larger share than
n pays anything. So every user below its limit needs such a layer at every server where it has arcs. gamma_ni in z_ni is computed
from the data with its own proof, a solution of a linear program and of its dual of the same value (models/exact/rationals.py).

**Residual.** For finite alpha an equilibrium is not rational, so the certificate holds rational tasks near it, rational kappa and
an upper bound on the residual of game.py. The bound is computed from exp and log in ball arithmetic, whose balls contain the
exact value: for server i with beta = max(alpha, 1), P_n = sum_r w_nr kappa_r^beta, g_n = (A / z_n)^alpha + B / z_n and y_n

    gain    1 - (sum_n y_n g_n) / (max_n g_n / P_n  *  sum_r kappa_r^beta)
    levels  the larger of min(t_n, 1 - q_n) and min(o_n, 1 - min(1, c_n) / q_n),    q_n = (P_n / g_n)^(1 / beta)
    slack   min(s_nr, t_n, 1 - q_n without the prices of r and of all resources with as large an s)

with c_n the least q of the user's variants there, t_n = 1 - x_n / M_n, 1 without a limit, and o_n and s_nr of
formulations/game/residual.py. On a server with alpha = infinity it is the rational gap of Theorem 1 (`bottleneck_gap`).
docs/reference/derivations.md says who counts as satisfied, and why no changed number passes unnoticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fairalloc.analysis.certificates.certificate import Certificate, feasible, require, rounded, short
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.models.exact.proofs import ExactLayer
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_ball, exact_arcs, exact_monopolies, point_as_fraction
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels, unit

STEP = Fraction(1, 10**24)
"""The numbers of a residual certificate are rounded to multiples of this."""

SATISFIED, VISIBLE = Fraction(1, 10**12), Fraction(1, 10**16)
"""The part of its limit up to which a user is satisfied in `gain`; each price is at least this part of what some user pays."""


@dataclass(frozen=True, repr=False)
class LevelsCertificate(Certificate, kind="levels"):
    """Exact PS-DSF tasks x_n (N,), which x must add up to, and kappa (K R,): 1 / level of each full resource, 0 of others."""

    tasks: Rationals
    kappa: Rationals

    @property
    def claim(self) -> str:
        full = sum(1 for value in self.kappa if value)
        count = "one resource is" if full == 1 else f"{full} resources are"
        return (
            f"per-server dominant-share fair, {count} full and every user below its limit has a bottleneck at each of its servers"
        )

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, PsDsf | TimeShared), f"{self.mechanism!r} is not about levels")
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        right = levels(domain, self.x)
        require(right is not None, "a user has no bottleneck at one of its servers")
        require(self.kappa == right, "a level is not the largest share that its resource serves")


@dataclass(frozen=True, repr=False)
class PricesCertificate(Certificate, kind="prices"):
    """Exact PS-DSF tasks x_n (N,), which x must add up to, and at each server a layer for each share that needs its own."""

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


@dataclass(frozen=True, repr=False)
class ResidualCertificate(Certificate, kind="residual"):
    """A bound on the residual of formulations/game/residual.py at rational tasks x_n (N,), which x must add up to.

    alpha (0 for infinity), A and B (K 22) are (K,). Prices as levels kappa (K R,) and ratios q_n (A,), rounded down to STEP, are
    0 on servers with alpha = infinity. The bounds (K,) are multiples of STEP.
    """

    tasks: Rationals
    alpha: Rationals
    A: Rationals
    B: Rationals
    kappa: Rationals
    ratios: Rationals
    bounds: Rationals

    @property
    def bound(self) -> Fraction:
        """What the residual does not exceed; no residual exceeds 1."""
        return max(self.bounds, default=Fraction(1))

    @property
    def claim(self) -> str:
        own = zip(self.alpha, self.A, self.B, strict=False)  # nothing is said of them before they are verified
        servers = {(v, f" (A = {short(a)}, B = {short(b)})" * (a != 1 or b != 0)) for v, a, b in own}
        alphas = sorted(f"{rounded(v):.15g}{rest}" if v else f"inf{rest}" for v, rest in servers)
        return f"an equilibrium for alpha = {', '.join(alphas)} up to a residual of {rounded(self.bound):.3g}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, AlphaPfVds), f"{self.mechanism!r} is not about a game with parameters")
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        ratios, bounds = residual_proof(domain, self.x, self.alpha, self.A, self.B, self.kappa)
        require(self.ratios == ratios, "a user does not have this ratio of price and marginal utility")
        require(self.bounds == bounds, "the bound of a server is not that of x and the prices")


def residual_proof(
    instance: Instance, x: Sequence[Fraction], alpha: Rationals, A: Rationals, B: Rationals, kappa: Rationals
) -> tuple[Rationals, Rationals]:
    """(A,) the ratios q_n rounded down to STEP, and (K,) bounds on the residuals that feasible tasks and prices prove.

    The numbers are those of a ResidualCertificate. Refuted where they do not fit the instance, or a user of a server with finite
    alpha pays no price there.
    """
    from flint import ctx

    K, rows = instance.K, instance.K * instance.R
    require(len(alpha) == len(A) == len(B) == K, f"there are not {K} parameters, one for each server")
    require(len(kappa) == rows, f"there are {len(kappa)} prices, but {rows} capacities")
    require(all(0 <= v < 2**1023 for v in (*alpha, *A, *B, *kappa)), "a parameter or a price is negative or no double")
    require(all(v == Fraction(str(float(v))) for v in (*alpha, *A, *B)), "a parameter is not a decimal number")
    require(all(v == Fraction(float(v)) for v in kappa), "a price is not a double")
    require(all(a + b > 0 for a, b in zip(A, B, strict=True)), "A and B are both 0 on a server")
    arcs = exact_arcs(instance)
    tasks, units = arcs.tasks(x), unit(instance, arcs)
    require(all(u > 0 for u in tasks), "a user has no task")
    ratios, bounds = [Fraction(0)] * len(x), [Fraction(0)] * K
    with ctx.workprec(320):
        for i in range(K):
            here = [a for a, load in enumerate(arcs.load) if load[0][0] // instance.R == i]
            own = kappa[i * instance.R : (i + 1) * instance.R]
            server = ExactServer.of(arcs, instance, i, here, x, [tasks[arcs.user[a]] / units[a] for a in here])
            if not here:
                require(not any(own), "a server that nobody may use has a price")
            elif alpha[i] == 0:
                require(len({arcs.user[a] for a in here}) == len(here), "a server with alpha = infinity has a user with variants")
                require(A[i] == 1 and B[i] == 0, "A and B are not 1 and 0 on a server with alpha = infinity")
                require(not any(own), "a server with alpha = infinity has a price")
                bounds[i] = server.bottleneck_gap()
            else:
                bounds[i], found = server.finite_gap(alpha[i], A[i], B[i], own)
                for a, q in zip(here, found, strict=True):
                    ratios[a] = q
    return tuple(ratios), tuple(-(-bound // STEP) * STEP for bound in bounds)


class ExactServer(NamedTuple):
    """One server in rationals: parts w (n, r), parts of a monopoly y, o as `own`, shares z, s as `gains` (n, r), t_n as `wanted`,
    user (n,), in the letters of formulations/game/residual.py.
    """

    w: list[list[Fraction]]
    y: list[Fraction]
    own: list[Fraction]
    z: list[Fraction]
    gains: list[list[Fraction]]
    wanted: list[Fraction]
    user: list[int]

    @classmethod
    def of(
        cls, arcs: ExactArcs, instance: Instance, i: int, here: list[int], x: Sequence[Fraction], z: list[Fraction]
    ) -> "ExactServer":
        """The numbers of server i, whose arcs are `here` (n,): x (A,) are tasks on all arcs, z (n,) shares of their owners."""
        R = instance.R
        gamma = [exact_monopolies(instance)[a] for a in here]
        loads = [dict(arcs.load[a]) for a in here]
        w = [[load.get(i * R + r, Fraction(0)) * g for r in range(R)] for load, g in zip(loads, gamma, strict=True)]
        y = [x[a] / g for a, g in zip(here, gamma, strict=True)]
        used = [sum((row[r] * part for row, part in zip(w, y, strict=True)), Fraction(0)) for r in range(R)]
        tasks, limits, user = arcs.tasks(x), arcs.limits, [arcs.user[a] for a in here]
        left = [Fraction(1) if limit is None else 1 - u / limit for u, limit in zip(tasks, limits, strict=True)]
        own = [x[a] / tasks[n] for a, n in zip(here, user, strict=True)]
        room = [[part * tasks[n] / g for part in row] for row, n, g in zip(w, user, gamma, strict=True)]
        gains = [[min(1 - u, r) / r if r else Fraction(1) for u, r in zip(used, row, strict=True)] for row in room]
        return cls(w, y, own, z, gains, [left[n] for n in user], user)

    def bottleneck_gap(self) -> Fraction:
        """The gap of Theorem 1 (formulations/game/residual.py) in rationals."""
        users = range(len(self.y))

        def missing(n: int, r: int) -> Fraction:
            envied = (min(self.own[m], 1 - self.z[n] / self.z[m]) for m in users if self.w[m][r] and self.z[m] > self.z[n])
            return max([self.gains[n][r], *envied])

        return max(min(self.wanted[n], *(missing(n, r) for r, part in enumerate(self.w[n]) if part)) for n in users)

    def finite_gap(self, alpha: Fraction, A: Fraction, B: Fraction, kappa: Rationals) -> tuple[Fraction, list[Fraction]]:
        """A bound on the gap at a server with finite alpha and prices kappa (R,) as levels, and (n,) q_n rounded down to STEP."""
        beta = max(alpha, Fraction(1))
        mu = [_power(value, beta) for value in kappa]
        terms = [(_power(A / z, alpha), as_ball(B / z)) for z in self.z]
        g = [first + second for first, second in terms]
        for k in [k for k, value in enumerate((A, B)) if value]:
            visible = any(_upper(pair[k] / own) > VISIBLE for pair, own in zip(terms, g, strict=True))
            require(visible, f"nobody notices the coefficient {'AB'[k]} of a server")
        q = self._ratios(mu, g, beta)
        priced = all(value is not None or t <= SATISFIED for value, t in zip(q, self.wanted, strict=True))
        require(priced, "a server has no price for one of its users")
        paid = list(zip(self.w, self._prices(mu), strict=True))
        for r in (r for r, value in enumerate(kappa) if value):
            seen = any(row[r] and _upper(as_ball(row[r]) * mu[r] / p) > VISIBLE for row, p in paid)
            require(seen, "nobody pays a visible part for a price")
        gaps = [self._gain(mu, g)]
        least = self._cheapest([as_ball(0) if value is None else value for value in q])
        for value, low, part, t in zip(q, least, self.own, self.wanted, strict=True):
            gaps += [t] if value is None else [min(t, _upper(1 - value)), min(part, _upper(1 - low.min(as_ball(1)) / value))]
        known = cache(lambda fuller: self._ratios([m * here for m, here in zip(mu, fuller, strict=True)], g, beta))
        for n, gains in enumerate(self.gains):
            for gain in {gain for gain in gains if gain}:
                value = known(tuple(other < gain for other in gains))[n]
                gaps.append(min(gain, self.wanted[n], Fraction(1) if value is None else _upper(1 - value)))
        ratios = [Fraction(0) if value is None else point_as_fraction(value.mid()) // STEP * STEP for value in q]
        return max(Fraction(0), *gaps), ratios

    def _ratios(self, mu: list[Any], g: list[Any], beta: Fraction) -> list[Any]:
        """(n,) (P / g)^(1 / beta), None where P is 0."""
        prices = self._prices(mu)
        return [None if p.is_zero() else (((p / own).log()) / as_ball(beta)).exp() for p, own in zip(prices, g, strict=True)]

    def _cheapest(self, values: list[Any]) -> list[Any]:
        """(n,) the least of values (n,) over the variants of the arc's user."""
        result: dict[int, Any] = {}
        for n, value in zip(self.user, values, strict=True):
            result[n] = result[n].min(value) if n in result else value
        return [result[n] for n in self.user]

    def _prices(self, mu: list[Any]) -> list[Any]:
        """(n,) P."""
        return [sum((as_ball(w) * m for w, m in zip(row, mu, strict=True) if w), as_ball(0)) for row in self.w]

    def _gain(self, mu: list[Any], g: list[Any]) -> Fraction:
        satisfied = [t <= SATISFIED for t in self.wanted]
        prices, total = self._prices(mu), sum(mu, as_ball(0))
        gaps = [t for t, out in zip(self.wanted, satisfied, strict=True) if out]
        known = list(zip(g, self._cheapest(prices), satisfied, strict=True))
        for factor in [own / p for own, p, out in zip(g, prices, satisfied, strict=True) if not out]:
            worth = [own.min(factor * p) if out else own for own, p, out in known]
            value = sum((as_ball(part) * own for part, own in zip(self.y, worth, strict=True)), as_ball(0))
            gaps.append(_upper(1 - value / (factor * total)))
        return max(gaps)


def _power(base: Fraction, exponent: Fraction) -> Any:
    """A ball around the power; 0 for the base 0."""
    return as_ball(0) if base == 0 else (as_ball(exponent) * as_ball(base).log()).exp()


def _upper(ball: Any) -> Fraction:
    require(ball.is_finite(), "a bound is not finite")
    return point_as_fraction(ball.upper())
