r"""Certificates: proofs in rationals that an allocation is what a mechanism asks for, verified without a solver.

A certificate is numbers. `verify(instance)` holds them against the exact data of the instance with additions, multiplications
and comparisons, so it does not matter who made them, nor how. Prices p >= 0 are in parts of capacity, q_n(p) is the cost of
user n's cheapest task, u_n its tasks, T_n its max_tasks, and x is feasible in every one of them.

**Leximin** (rule.py, v_n = rate_n u_n). A user is proved to be stuck at its share when it runs all its tasks, u_n = T_n, or
when some prices with y_n = q_n / rate_n > 0 leave no excess,

    sum_ir p_ir = sum_m y_m min(v_m, v_n)                                                                   (*), excess 0

One round holds prices for all users it fixes, who share the level v_n = g. Limits need no prices of their own: the dual of a
round has z_m >= 0 for them, with q_m + z_m = y_m rate_m and z_m > 0 only where u_m = T_m, so its value sum p + sum z_m T_m is
sum (q_m + z_m) u_m, from which the z cancel.

**Linear programs** max c u: with worth c_n <= q_n + z_n, z_n >= 0, and z_n = 0 without a limit, weak duality says

    c u'  <=  sum_n (q_n + z_n) u'_n  <=  sum_ir p_ir + sum_n z_n T_n      for every feasible u'

and the certificate shows the two ends equal. For the max-min programs c_n = y_n rate_n with y >= 0, sum y = 1: then g' <= c u'.

**nb** is not rational. With W = sum w and s_n = q_n + z_n > 0, for every feasible u'

    sum_n w_n log u'_n  <=  sum_n w_n log u_n + gap,    gap = sum p + sum_n z_n T_n - 2 W + sum_n w_n^2 / (s_n u_n)

(w log u' - s u' is largest at u' = w / s, and log r <= r - 1 with r = w_n / (s_n u_n)): a gap without logarithms, which is 0
exactly at the optimum. The bounds themselves need one, sum w_n log u_n, which is enclosed in ball arithmetic.

**njc** (njc.py): for each user either that it runs all its tasks, or the full resource of which it gets most and how much.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.models.numbers import rational, shown
from fairalloc.models.proofs import ExactProgram, ExactRound
from fairalloc.models.rationals import ExactArcs, Rationals, as_ball, exact_arcs

__all__ = [
    "STEP",
    "BoundsCertificate",
    "Certificate",
    "JustifiedCertificate",
    "LeximinCertificate",
    "ProgramCertificate",
    "Refuted",
    "dyadic",
    "feasible",
    "justified",
    "log_value",
    "must",
    "nb_gap",
    "parse_certificate",
]

SCHEMA = "fairalloc-certificate/1"
METHOD = "rational arithmetic, no solver"

STEP = Fraction(1, 10**15)
"""What the value at x is rounded to in the bounds of nb."""


class Refuted(Exception):  # noqa: N818 (a finding, not an error)
    """What in a certificate is not so."""


@dataclass(frozen=True)
class Certificate(ABC):
    """A proof for one allocation of one mechanism.

    Attributes
    ----------
    mechanism : its id
    x : (A,) the exact tasks on the arcs
    about : what the numbers were compared with when the certificate was made; not part of the proof
    """

    kind: ClassVar[str]

    mechanism: str
    x: Rationals
    about: str = field(default="", compare=False, kw_only=True)

    def verify(self, instance: Instance) -> Verdict:
        """Whether every number is right for this instance; the sentence names the first that is not."""
        item = find_mechanism(self.mechanism)
        try:
            self._hold(item, item.domain(instance))
        except Refuted as fault:
            return Verdict(self.mechanism, False, np.inf, f"the certificate is wrong: {fault}", METHOD)
        return Verdict(self.mechanism, True, 0.0, f"certified: {self.claim}", METHOD)

    @abstractmethod
    def _hold(self, item: Mechanism, domain: Instance) -> None:
        """Hold every number against the exact data; Refuted names the first that is wrong."""

    @property
    @abstractmethod
    def claim(self) -> str:
        """What is proved, in words."""

    def document(self) -> dict[str, Any]:
        """The certificate as a JSON document; rationals are strings, users and arcs are numbered as in the instance."""
        return {"schema": SCHEMA, "kind": self.kind, **_plain(self)}

    def __str__(self) -> str:
        return f"{self.mechanism}: {self.claim}" + (f"; {self.about}" if self.about else "")


@dataclass(frozen=True)
class LeximinCertificate(Certificate):
    """One layer of prices for each round, see (*)."""

    kind: ClassVar[str] = "leximin"

    rounds: tuple[ExactRound, ...]

    @property
    def claim(self) -> str:
        """The level of each round."""
        return f"lexicographic max-min fair, rounds at {', '.join(_short(part.level) for part in self.rounds)}"

    def _hold(self, item: Mechanism, domain: Instance) -> None:
        if not isinstance(item, Leximin) or isinstance(item, MaxMin):
            raise Refuted(f"{self.mechanism!r} is not computed in rounds")
        arcs, rate = exact_arcs(domain), item.exact_rate(domain)
        tasks = feasible(arcs, self.x)
        v = [r * u for r, u in zip(rate, tasks, strict=True)]
        once = sorted(n for part in self.rounds for n in part.users) == list(range(domain.N))
        must(once, "not every user is fixed exactly once")
        active = set(range(domain.N))
        for part in self.rounds:
            _hold_round(part, arcs, rate, v, active)
            for n in part.users:
                must(v[n] == part.level, f"user {domain.users[n]!r} is not at the level of its round")
                must(part.worth[n] > 0 or tasks[n] == arcs.limits[n], f"nothing keeps user {domain.users[n]!r} from more")
            active -= set(part.users)


def _hold_round(part: ExactRound, arcs: ExactArcs, rate: Rationals, v: Sequence[Fraction], active: Iterable[int]) -> None:
    """The prices of a round leave no excess at its level, and are scaled so that the active users are worth 1 together."""
    _hold_prices(arcs, part.prices)
    worth = tuple(q / r for q, r in zip(arcs.cheapest(part.prices), rate, strict=True))
    must(part.worth == worth, "a worth is not the cost of the cheapest task at the prices of its round")
    kept = sum(y * min(w, part.level) for y, w in zip(worth, v, strict=True))
    must(sum(part.prices) == kept, "the prices of a round leave an excess")
    must(not any(part.prices) or sum(worth[n] for n in active) == 1, "the active users of a round are not worth 1 together")


@dataclass(frozen=True)
class ProgramCertificate(Certificate):
    """Equal values of a linear program and its dual.

    Attributes
    ----------
    tasks : (N,) u_n, which x must add up to
    proof : the dual solution
    """

    kind: ClassVar[str] = "program"

    tasks: Rationals
    proof: ExactProgram

    @property
    def claim(self) -> str:
        """The optimal value."""
        return f"optimal, the value is {_short(self.proof.value)}"

    def _hold(self, item: Mechanism, domain: Instance) -> None:
        arcs, proof = exact_arcs(domain), self.proof
        must(self.tasks == feasible(arcs, self.x), "the tasks of a user are not the sum of x over its arcs")
        must(len(proof.worth) == domain.N, "the worth is not one number for each user")
        must(proof.value == self._value(item, domain), "the value is not that of x")
        costs, bound = _dual(arcs, proof.prices, proof.limits)
        must(all(c <= s for c, s in zip(proof.worth, costs, strict=True)), "a task is worth more than it costs")
        must(bound == proof.value, "the dual value is not the value")

    def _value(self, item: Mechanism, domain: Instance) -> Fraction:
        """The objective at x; Refuted where the worth is not what the objective says."""
        worth = self.proof.worth
        if isinstance(item, MaxMin):
            rate = item.exact_rate(domain)
            must(all(c >= 0 for c in worth), "a worth is negative")
            must(sum(c / r for c, r in zip(worth, rate, strict=True)) == 1, "the users of the bound are not worth 1 together")
            return min(r * u for r, u in zip(rate, self.tasks, strict=True))
        must(isinstance(item, Utilitarian), f"{self.mechanism!r} is not a linear program on the given data")
        must(worth == domain.exact.weights, "a worth is not the weight of its user")
        return sum((c * u for c, u in zip(worth, self.tasks, strict=True)), Fraction(0))


@dataclass(frozen=True)
class BoundsCertificate(Certificate):
    """lower <= sum_n w_n log u_n at x <= optimum <= upper, for nb.

    Attributes
    ----------
    prices, limits : p and z of the gap
    gap : how much any feasible allocation can exceed x, proved without logarithms
    lower, upper : bounds on the optimal value, apart by the gap and 2 STEP for rounding the logarithms
    """

    kind: ClassVar[str] = "bounds"

    prices: Rationals
    limits: Rationals
    gap: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def claim(self) -> str:
        """Both bounds and their distance."""
        low, high, width = (float(value) for value in (self.lower, self.upper, self.upper - self.lower))
        return f"the optimal value is between {low:.15g} and {high:.15g}, gap {width:.2g}"

    def _hold(self, item: Mechanism, domain: Instance) -> None:
        must(isinstance(item, NashBargaining), f"{self.mechanism!r} has no such bounds")
        arcs, weights = exact_arcs(domain), domain.exact.weights
        tasks = feasible(arcs, self.x)
        must(all(u > 0 for u in tasks), "a user has no task")
        must(self.gap == nb_gap(arcs, weights, tasks, self.prices, self.limits), "the gap is not that of x and the prices")
        least, most = log_value(weights, tasks)
        must(self.lower <= least and most <= self.lower + 2 * STEP, "the lower bound is not the value at x, rounded down")
        must(self.upper == self.lower + 2 * STEP + self.gap, "the upper bound is not the lower bound and the gap")


@dataclass(frozen=True)
class JustifiedCertificate(Certificate):
    """What answers the complaint of each user.

    Attributes
    ----------
    bottleneck : (N,) the full resource of which the user gets most, the first of several; -1 for one who runs all its tasks
    part : (N,) how much of that resource it gets; of its tasks, all = 1
    entitled : (N,) e_n, what it is entitled to
    """

    kind: ClassVar[str] = "justified"

    bottleneck: tuple[int, ...]
    part: Rationals
    entitled: Rationals

    @property
    def claim(self) -> str:
        """How many are answered in which way."""
        content = self.bottleneck.count(-1)
        return f"no justified complaints, {content} users run all their tasks, {len(self.bottleneck) - content} have a bottleneck"

    def _hold(self, item: Mechanism, domain: Instance) -> None:
        must(isinstance(item, NoJustifiedComplaints), f"{self.mechanism!r} is not about complaints")
        arcs, total = exact_arcs(domain), sum(domain.exact.weights)
        feasible(arcs, self.x)
        parts = tuple(w / total for w in domain.exact.weights)
        must(self.entitled == parts, "an entitlement is not the user's part of all weights")
        must((self.bottleneck, self.part) == justified(arcs, self.x), "a bottleneck or a part of it is not that of x")
        for user, j, part, e in zip(domain.users, self.bottleneck, self.part, self.entitled, strict=True):
            must(j == -1 or part >= e, f"user {user!r} has a justified complaint")


def justified(arcs: ExactArcs, x: Rationals) -> tuple[tuple[int, ...], Rationals]:
    """For each user of a pool the bottleneck and the part of a JustifiedCertificate; part 0 of resource 0 where there is none."""
    full = {j for j, load in enumerate(arcs.loads(x)) if load == 1}
    found = []
    for load, value, limit in zip(arcs.load, x, arcs.limits, strict=True):
        shares = [(part * value, -j) for j, part in load if j in full]
        found.append((Fraction(1), 1) if value == limit else max(shares, default=(Fraction(0), 0)))
    return tuple(-j for _, j in found), tuple(part for part, _ in found)


def nb_gap(arcs: ExactArcs, weights: Rationals, tasks: Rationals, prices: Rationals, limits: Rationals) -> Fraction:
    """The gap sum p + sum z T - 2 W + sum_n w_n^2 / (s_n u_n); Refuted where the prices prove none."""
    costs, bound = _dual(arcs, prices, limits)
    must(all(s > 0 for s in costs), "the tasks of a user cost nothing")
    return bound - 2 * sum(weights) + sum(w * w / (s * u) for w, s, u in zip(weights, costs, tasks, strict=True))


def log_value(weights: Rationals, tasks: Rationals) -> tuple[Fraction, Fraction]:
    """Rationals around sum_n w_n log u_n, much closer together than STEP."""
    from flint import ctx

    with ctx.workprec(256):
        total = sum((as_ball(w) * as_ball(u).log() for w, u in zip(weights, tasks, strict=True)), as_ball(0))
        return dyadic(total.lower()), dyadic(total.upper())


def dyadic(point: Any) -> Fraction:
    """The exact value of a ball without radius."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# ---- pieces of verification -----------------------------------------------------------------------------------------


def must(condition: bool, fault: str) -> None:
    """Refuted with the fault where the condition does not hold."""
    if not condition:
        raise Refuted(fault)


def feasible(arcs: ExactArcs, x: Rationals) -> Rationals:
    """The tasks of every user, once x is known to be feasible."""
    must(len(x) == len(arcs.user), f"x has {len(x)} entries, but the instance has {len(arcs.user)} arcs")
    must(all(value >= 0 for value in x), "x is negative on an arc")
    must(all(load <= 1 for load in arcs.loads(x)), "a capacity is exceeded")
    tasks = arcs.tasks(x)
    fits = all(limit is None or u <= limit for u, limit in zip(tasks, arcs.limits, strict=True))
    must(fits, "a user runs more than its max_tasks")
    return tasks


def _hold_prices(arcs: ExactArcs, prices: Rationals) -> None:
    must(len(prices) == arcs.rows, f"there are {len(prices)} prices, but {arcs.rows} capacities")
    must(all(p >= 0 for p in prices), "a price is negative")


def _dual(arcs: ExactArcs, prices: Rationals, limits: Rationals) -> tuple[list[Fraction], Fraction]:
    """(N,) what a task costs each user, s_n = q_n + z_n, and the bound sum p + sum z T on what all spend."""
    _hold_prices(arcs, prices)
    must(len(limits) == len(arcs.limits), f"there are {len(limits)} prices of limits, but {len(arcs.limits)} users")
    must(all(z >= 0 for z in limits), "the price of a limit is negative")
    must(not any(z and t is None for z, t in zip(limits, arcs.limits, strict=True)), "a limit that is not there has a price")
    costs = [q + z for q, z in zip(arcs.cheapest(prices), limits, strict=True)]
    return costs, sum(prices, Fraction(0)) + sum(z * t for z, t in zip(limits, arcs.limits, strict=True) if t is not None)


# ---- JSON -----------------------------------------------------------------------------------------------------------


def parse_certificate(document: Any) -> Certificate:
    """The certificate in a JSON document as `document()` writes it; nothing in it is believed before `verify`."""
    kinds = {cls.kind: cls for cls in Certificate.__subclasses__()}
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or document.get("kind") not in kinds:
        raise InstanceError(
            f"the certificate is {shown(document)}, but it must be an object of schema {SCHEMA!r} and a known kind"
        )
    return cast(Certificate, _read(kinds[document["kind"]], document))


def _plain(value: Any) -> Any:
    """Rationals as strings, dataclasses as objects, tuples as lists."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value


def _read(kind: Any, value: Any) -> Any:
    """A value of type `kind` from what `_plain` made of it."""
    if kind is Fraction:
        return rational(value, "a number of the certificate")
    if is_dataclass(kind):
        types = {f.name: get_type_hints(kind)[f.name] for f in fields(kind)}
        if not isinstance(value, dict) or not set(types) <= set(value):
            raise InstanceError(f"a part of the certificate is {shown(value)}, but it must be an object with {', '.join(types)}")
        return cast(Any, kind)(**{name: _read(part, value[name]) for name, part in types.items()})
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise InstanceError(f"a part of the certificate is {shown(value)}, but it must be a list")
        return tuple(_read(get_args(kind)[0], item) for item in value)
    if type(value) is not kind:
        raise InstanceError(f"a part of the certificate is {shown(value)}, but it must be of type {kind.__name__}")
    return value


def _short(value: Fraction) -> str:
    """The rational itself where it is short, else its first digits."""
    text = str(value)
    return text if len(text) <= 16 else f"{float(value):.9g}.."
