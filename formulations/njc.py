r"""NJC: no justified complaints (D sections 3 and 5; Dolev, Feitelson, Halpern, Kupferman, Linial).

User i is entitled to the part e_i of everything, sum_i e_i = 1, and requests the part r_ij <= 1 of resource j. It is granted the
fraction x_i of its request, 0 <= x_i <= 1, such that

    for each resource j:  sum_i x_i r_ij <= 1,    with = for the bottlenecks                                       (D 1)
    for each user i:      x_i = 1,  or  x_i r_ij >= e_i for some bottleneck j                                      (D 2)

On one pool, e_i = weight_i / sum of weights, and a full request is q_i = min(max_tasks_i, what the pool runs for i alone) tasks.

    (a) given the set I of bottlenecks, a linear program (D 5.2), with l_i = min(1, e_i / max_{j in I} r_ij):
        sum_i x_i r_ij = 1 (j in I),   sum_i x_i r_ij <= 1 (all j),   l_i <= x_i <= 1
    (b) a mixed-integer program: b_j, j is a bottleneck; z_ij, user i is justified by j; z_i, it gets all it asks for
        b_j <= sum_i x_i r_ij <= 1,    z_ij <= b_j,    z_i + sum_j z_ij = 1,    x_i >= z_i + sum_j z_ij e_i / r_ij
    (c) a market, nb on the pool: max sum_i e_i log x_i. Its optimum satisfies (D 1)-(D 2).

In (b) only j with r_ij >= e_i count, and z may be relaxed. Without `objective` the model is (c), with one it is (b), and the best
answer by "utilisation" (the mean of the used parts), "sum" (sum_i x_i), "min" (min_i x_i) or "closest" (to `target`, in tasks).
Residual: the largest complaint, over users of min(1 - x_i, min_j max(free_j, short_ij)), or the infeasibility where that is more;
without a limit 1 - x_i is left out. free_j is 1 - load_j by what those load on j who want more. short_ij is what i lacks,
s = max(0, e_i - x_i r_ij), by e_i, or where that is more min(s, x_k r_kj - e_k) by the load of a user k who has more than its
entitlement. docs/theory/njc.md has the proofs.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_tasks, linear_rows, pyomo_full, pyomo_tasks
from fairalloc.formulations.mechanism import Mechanism, one_of
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, NotApplicable, place_of, require, shown
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction, exact_arcs
from fairalloc.models.feasibility import infeasibility, slack_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, finite, frozen, is_vector, rational
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.transformations.aggregation import pooled

if TYPE_CHECKING:
    from flint import fmpq

OBJECTIVES = ("utilisation", "sum", "min", "closest")


class NoJustifiedComplaints(Mechanism):
    """Everybody gets all it asks for, or its entitlement on a bottleneck."""

    id = "njc"
    title = "no justified complaints: all one asks for, or one's entitlement on a bottleneck; parameter objective"
    source = "D (1)-(2)"
    convex = True
    own_parameters = ("objective", "target")

    def __init__(self, objective: str | None = None, target: Any = None) -> None:
        """`objective`: one of OBJECTIVES, or None; `target`: the tasks of each user, for "closest"."""
        if objective is not None:
            one_of("objective", objective, OBJECTIVES)
        if (target is not None) != (objective == "closest"):
            both = f"objective is {objective!r} and target is {shown(target)}"
            raise InstanceError(f"{both}, but 'closest' and target come together")
        self.objective, self.target = objective, None if target is None else _target(target)
        self.linear = self.integer = objective is not None  # a choice among all NJC allocations needs the MILP

    def write_cvxpy(
        self, instance: Instance, model: str | None = None, bottlenecks: Iterable[str] | None = None, relaxed: bool = True
    ) -> "cp.Problem":
        """The market (c); with `objective` or `model="milp"` the MILP (b); with `bottlenecks` the program (a).

        `bottlenecks` are names of resources; the z of (b) are continuous where it is `relaxed`. There are the variable "x" and
        the constraints "capacity" and "limit"; for (a) also the constraints "full" and "share"; for (b) the variables b_j, z_ij
        and z_i, "bottleneck" (R,), "justified" (pairs of user and resource) and "satisfied" (N,), and the constraints
        "full_at_bottleneck", "justified_by_bottleneck", "one_justification" and "share". InstanceError for an unknown model or
        resource, or a bottleneck that nobody requests.
        """
        if bottlenecks is not None:
            return self._cvxpy_given(instance, _places(instance, bottlenecks))
        if self._is_market(model):
            return NashBargaining().write_cvxpy(instance)
        return self._cvxpy_milp(instance, relaxed)

    def write_pyomo(
        self, instance: Instance, model: str | None = None, bottlenecks: Iterable[str] | None = None, relaxed: bool = True
    ) -> "pyo.ConcreteModel":
        """The same models with the same names: `x[user, variant, server]`, `bottleneck[resource]`, `satisfied[user]`."""
        if bottlenecks is not None:
            return self._pyomo_given(instance, _places(instance, bottlenecks))
        if self._is_market(model):
            return NashBargaining().write_pyomo(instance)
        return self._pyomo_milp(instance, relaxed)

    def written_by(self, layer: str) -> "tuple[Callable[..., Any], ...]":
        """(a), (b) and (c) of the opening text."""
        own = ("given", "milp", "objective")
        return *(getattr(type(self), f"_{layer}_{part}") for part in own), getattr(NashBargaining, f"write_{layer}")

    def _is_market(self, model: str | None) -> bool:
        if model is None:
            return not self.integer
        one_of("model", model, ("market", "milp"))
        return model == "market"

    def _cvxpy_given(self, instance: Instance, bottlenecks: list[int]) -> "cp.Problem":
        (x, constraints), d = cvxpy_tasks(instance), requests(instance)
        share = np.array(d.tasks(d.lowest(bottlenecks)), dtype=float)
        constraints += [(instance.arcs.load[bottlenecks] @ x == 1).set_label("full"), (x >= share).set_label("share")]
        return cp.Problem(self._cvxpy_objective(instance, x), constraints)

    def _cvxpy_milp(self, instance: Instance, relaxed: bool) -> "cp.Problem":
        x, constraints = cvxpy_tasks(instance)
        users, resources, least, unit = _pairs(instance)
        count, kind = len(users), {"nonneg" if relaxed else "boolean": True}
        b = cp.Variable(instance.R, boolean=True, name="bottleneck")
        z = cp.Variable(count, name="justified", **kind)
        satisfied = cp.Variable(instance.N, name="satisfied", **kind)
        of_user = sp.csr_array((np.ones(count), (users, np.arange(count))), shape=(instance.N, count))
        of_resource = sp.csr_array((np.ones(count), (np.arange(count), resources)), shape=(count, instance.R))
        constraints += [
            (instance.arcs.load @ x >= b).set_label("full_at_bottleneck"),
            (z <= of_resource @ b).set_label("justified_by_bottleneck"),
            (satisfied + of_user @ z == 1).set_label("one_justification"),
            (x >= cp.multiply(unit, satisfied) + (of_user @ sp.diags_array(least)) @ z).set_label("share"),
        ]
        return cp.Problem(self._cvxpy_objective(instance, x), constraints)

    def _cvxpy_objective(self, instance: Instance, x: Any) -> Any:
        unit = np.array(requests(instance).unit, dtype=float)
        if self.objective == "utilisation":
            return cp.Maximize((instance.arcs.load.sum(axis=0) / np.count_nonzero(instance.capacities)) @ x)
        if self.objective == "sum":
            return cp.Maximize((1.0 / unit) @ x)
        if self.objective == "min":
            return cp.Maximize(cp.min(cp.multiply(1.0 / unit, x)))
        if self.objective == "closest":
            wish = np.array(self.wish(requests(instance)), dtype=float)
            return cp.Maximize(-cp.norm1(cp.multiply(1.0 / unit, x) - wish))
        return cp.Maximize(0)

    def _pyomo_given(self, instance: Instance, bottlenecks: list[int]) -> "pyo.ConcreteModel":
        full = np.isin(np.arange(instance.R), bottlenecks)
        model = pyomo_full(pyomo_tasks(instance), instance, full, np.zeros_like(full))
        x = by_user(instance, model.x.values())
        d = requests(instance)
        share = by_user(instance, d.tasks(d.lowest(bottlenecks)))
        model.share = pyo.Constraint(instance.users, rule=lambda _, n: x[n] >= float(share[n]))
        self._pyomo_objective(instance, model, x)
        return model

    def _pyomo_milp(self, instance: Instance, relaxed: bool) -> "pyo.ConcreteModel":
        model, users, resources = pyomo_tasks(instance), instance.users, instance.resources
        x = by_user(instance, model.x.values())
        load = dict(zip(resources, linear_rows(instance.arcs.load, list(x.values())), strict=True))
        n_of, j_of, least, unit = _pairs(instance)
        pairs = [(users[n], resources[j]) for n, j in zip(n_of, j_of, strict=True)]
        tasks, full = dict(zip(pairs, least.tolist(), strict=True)), by_user(instance, unit)
        own = {n: [pair for pair in pairs if pair[0] == n] for n in users}
        kind = pyo.UnitInterval if relaxed else pyo.Binary
        model.bottleneck = b = pyo.Var(resources, domain=pyo.Binary)
        model.justified = z = pyo.Var(pairs, domain=kind)
        model.satisfied = pyo.Var(users, domain=kind)
        model.full_at_bottleneck = pyo.Constraint(resources, rule=lambda _, j: (0 if load[j] is None else load[j]) - b[j] >= 0)
        model.justified_by_bottleneck = pyo.Constraint(pairs, rule=lambda _, n, j: z[n, j] <= b[j])
        model.one_justification = pyo.Constraint(users, rule=lambda m, n: m.satisfied[n] + sum(z[p] for p in own[n]) == 1)
        share = {n: full[n] * model.satisfied[n] + sum(tasks[p] * z[p] for p in own[n]) for n in users}
        model.share = pyo.Constraint(users, rule=lambda _, n: x[n] >= share[n])
        self._pyomo_objective(instance, model, x)
        return model

    def _pyomo_objective(self, instance: Instance, model: Any, x: Mapping[str, Any]) -> None:
        unit = by_user(instance, map(float, requests(instance).unit))
        if self.objective == "utilisation":
            worth = sp.csr_array(instance.arcs.load.sum(axis=0)[None] / np.count_nonzero(instance.capacities))
            (value,) = linear_rows(worth, list(x.values()))
        elif self.objective == "sum":
            value = sum(x[n] / unit[n] for n in x)
        elif self.objective == "min":
            model.least = pyo.Var()
            model.at_least = pyo.Constraint(instance.users, rule=lambda m, n: x[n] / unit[n] >= m.least)
            value = model.least
        elif self.objective == "closest":
            wish = by_user(instance, map(float, self.wish(requests(instance))))
            model.distance = pyo.Var(instance.users, domain=pyo.NonNegativeReals)
            model.above = pyo.Constraint(instance.users, rule=lambda m, n: m.distance[n] >= x[n] / unit[n] - wish[n])
            model.below = pyo.Constraint(instance.users, rule=lambda m, n: m.distance[n] >= wish[n] - x[n] / unit[n])
            value = -sum(model.distance.values())
        else:
            value = 0.0
        model.objective = pyo.Objective(expr=value, sense=pyo.maximize)

    @property
    def parameters(self) -> dict[str, Any]:
        """The objective and, for "closest", the target, where they are given."""
        given = {"objective": self.objective, "target": None if self.target is None else [float(v) for v in self.target]}
        return {name: value for name, value in given.items() if value is not None}

    def domain(self, instance: Instance) -> Instance:
        """One pool and one demand vector for each user; InstanceError where there is none."""
        result = _pool(instance)
        if self.target is not None and len(self.target) != instance.N:
            raise InstanceError(f"target has {len(self.target)} entries, but there are {instance.N} users")
        return result

    def wish(self, d: "Requests") -> Rationals:
        """(N,) target_i / q_i, or nothing where there is no target."""
        return () if self.target is None else tuple(t / q for t, q in zip(self.target, d.unit, strict=True))

    def in_requests(self, instance: Instance) -> "tuple[NoJustifiedComplaints, Instance]":
        """The same in D's own form, without rounding: capacities 1, demands r_ij, limits 1, weights e_i, and so the target."""
        d = requests(instance)
        demands = [[part.get(j, Fraction(0)) for j in range(d.R)] for part in d.parts]
        ones, limits = [[Fraction(1)] * d.R], [Fraction(1)] * instance.N
        scaled = instance.replace(demands=demands, capacities=ones, max_tasks=limits, weights=d.entitlement)
        return NoJustifiedComplaints(self.objective, self.wish(d) or None), scaled

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """D's own form, but the instance itself where there is a target, which is in its tasks."""
        if self.target is not None:
            return super().canonical(instance)
        return self.in_requests(instance)[1], np.array(requests(instance).unit, dtype=float)

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002
        """In units of the weights, of which entitlements are parts; parameters as in `Mechanism.model_prices`."""
        return np.asarray(given[0] * (domain.weights.sum() / scaled.weights.sum()))

    def values(self, allocation: Allocation) -> dict[str, float]:
        """`utilisation`, `sum` and `min` as above, and for "closest" the `distance`."""
        domain, d = allocation.instance, requests(allocation.instance)
        x = allocation.tasks / np.array(d.unit, dtype=float)
        used = float(allocation.load[domain.capacities > 0].mean())
        result = {"utilisation": used, "sum": float(x.sum()), "min": float(x.min())}
        wish = [float(v) for v in self.wish(d)]
        return result | ({"distance": float(np.abs(x - wish).sum())} if wish else {})

    def residual(self, allocation: Allocation) -> float:
        """The largest complaint, as above; inf without a point."""
        if not allocation.has_point:
            return np.inf
        instance, over = allocation.instance, max(1.0, float(allocation.load.max()))
        tasks = allocation.tasks / over  # a feasible point: an overload may be all that a small user has
        used, unmet = instance.arcs.load.toarray() * tasks, np.maximum(1.0 - tasks / instance.max_tasks, 0.0)
        slack = slack_of(allocation.load[0] / over, instance.N)
        return max(infeasibility(allocation), largest_complaint(used, unmet, instance.weights / instance.weights.sum(), slack))


def largest_complaint(used: Floats, unmet: Floats, entitlement: Floats, slack: Floats) -> float:
    """The largest complaint of users at a feasible point.

    The loads `used` (R, N) are x_i r_ij, `unmet` (N,) is 1 - x_i, the part of its request that each user wants yet (1 without a
    limit), `entitlement` (N,) e_i, and `slack` (R,) 1 - load_j.
    """
    free = np.minimum(slack / np.maximum(used @ unmet, np.finfo(float).tiny), 1.0)
    short = np.array([_short(entitlement, row) for row in used])
    return float(np.minimum(unmet, np.maximum(free[:, None], short).min(axis=0)).max())


def _short(entitlement: Floats, used: Floats) -> Floats:
    """(N,) short_ij of one resource j, for the loads x_i r_ij (N,)."""
    lack, more = np.maximum(entitlement - used, 0.0), used - entitlement
    order = np.argsort(more)[np.count_nonzero(more <= 0) :]
    rising, load = more[order], used[order]
    given_up = np.concatenate([[0.0], np.maximum.accumulate(rising / load)])  # by users who have less to give than is lacking
    least = np.append(np.minimum.accumulate(load[::-1])[::-1], np.inf)  # the smallest load of those who have as much
    place = np.searchsorted(rising, lack)
    own = np.divide(lack, entitlement, out=np.zeros(len(lack)), where=entitlement > 0)
    return frozen(np.maximum(own, np.maximum(given_up[place], lack / least[place])))


@dataclass(frozen=True)
class Requests:
    """D's data of an instance as rationals: one pool, x in fractions of full requests.

    parts : for each user {j: r_ij} for r_ij > 0
    entitlement, unit : (N,) e_i, and q_i, the tasks of a full request
    R : number of resources
    """

    parts: tuple[Mapping[int, Fraction], ...]
    entitlement: Rationals
    unit: Rationals
    R: int

    def loads(self, x: Sequence[Fraction]) -> Rationals:
        """(R,) used part of each resource."""
        result = [as_flint(0)] * self.R
        for part, value in zip(self._entries, x, strict=True):
            granted = as_flint(value)
            for j, r in part if granted else ():
                result[j] += r * granted
        return tuple(as_fraction(load) for load in result)

    @cached_property
    def _entries(self) -> "list[list[tuple[int, fmpq]]]":
        """The parts as fmpq, which are ten times as fast as Fraction."""
        return [[(j, as_flint(r)) for j, r in part.items()] for part in self.parts]

    def lowest(self, bottlenecks: Collection[int]) -> Rationals:
        """(N,) l_i(I); 0 for a user with e_i = 0, whom any bottleneck answers (D Theorem 1 allows it)."""
        most = (max((r for j, r in part.items() if j in bottlenecks), default=Fraction(0)) for part in self.parts)
        answered = len(bottlenecks) > 0
        return tuple(
            e / r if r > e else Fraction(0 if e == 0 and answered else 1) for r, e in zip(most, self.entitlement, strict=True)
        )

    def bottlenecks(self, x: Sequence[Fraction]) -> frozenset[int]:
        """The resources that x fills."""
        return frozenset(j for j, load in enumerate(self.loads(x)) if load == 1)

    def fair(self, x: Sequence[Fraction]) -> bool:
        """Whether (D 1) and (D 2) hold, exactly."""
        loads = self.loads(x)
        if not all(0 <= value <= 1 for value in x) or max(loads) > 1:
            return False
        low = self.lowest({j for j, load in enumerate(loads) if load == 1})
        return all(value >= least for value, least in zip(x, low, strict=True))

    def tasks(self, x: Sequence[Fraction]) -> Rationals:
        """(N,) x_i q_i."""
        return tuple(value * q for value, q in zip(x, self.unit, strict=True))

    def matrix(self) -> Floats:
        """(N, R) r_ij in floating point."""
        return np.array([[float(part.get(j, 0)) for j in range(self.R)] for part in self.parts])


@lru_cache(maxsize=8)
def requests(instance: Instance) -> Requests:
    """The requests and entitlements of an instance that is one pool already."""
    arcs, weights = exact_arcs(instance), instance.exact.weights
    alone = [1 / max(part for _, part in load) for load in arcs.load]
    unit = tuple(a if limit is None else min(a, limit) for a, limit in zip(alone, arcs.limits, strict=True))
    parts = tuple({j: part * q for j, part in load} for load, q in zip(arcs.load, unit, strict=True))
    total = sum(weights)
    return Requests(parts, tuple(w / total for w in weights), unit, instance.R)


@lru_cache(maxsize=8)
def _pool(instance: Instance) -> Instance:
    """The pool, the same object for the same instance; NotApplicable where servers or variants cannot be pooled."""
    if instance.K > 1 and np.all(instance.placement.sum(axis=1) == 1):
        why = "entitlements are among the users of one server, so each server is an instance of its own"
        raise NotApplicable(f"njc is for one pool, but every user may use one server only: {why}")
    result = pooled(instance)
    global_dominant_share(result)
    return result


def _target(value: Any) -> tuple[Fraction, ...]:
    require(is_vector(value), "target is", value, "it must be a list of tasks, one number for each user")
    result = tuple(rational(v, "an entry of target") for v in value)
    for given, v in zip(value, result, strict=True):
        if finite(given, "an entry of target") < 0:
            raise InstanceError(f"target has the entry {v}, but it must not be negative")
    return result


def _places(instance: Instance, names: Iterable[str]) -> list[int]:
    chosen = [names] if isinstance(names, str) else list(names)
    places = sorted({place_of(name, instance.resources, "resource") for name in chosen})
    for j in np.setdiff1d(places, instance.arcs.load.nonzero()[0])[:1]:
        raise NotApplicable(f"resource {instance.resources[j]!r} cannot be a bottleneck: nobody requests it")
    return places


def _pairs(instance: Instance) -> tuple[list[int], list[int], Floats, Floats]:
    """The users and resources with r_ij >= e_i, decided exactly; the tasks that make x_i r_ij = e_i; (N,) full requests."""
    d = requests(instance)
    entitled = list(zip(d.parts, d.entitlement, strict=True))
    found = [(i, j, e / r * d.unit[i]) for i, (part, e) in enumerate(entitled) for j, r in part.items() if r >= e]
    users, resources, least = zip(*found, strict=True) if found else ((), (), ())
    return list(users), list(resources), np.array(least, dtype=float), np.array(d.unit, dtype=float)


mechanism = NoJustifiedComplaints()
