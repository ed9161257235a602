r"""Lexicographic max-min fairness of shares: the common form of DRF, DRFH, TSF and LMMF (W (6) and 5.1, K Def 1, Z III-A).

With v_n = sigma_n u_n / phi_n, the weighted share of user n, an allocation is fair when no v_n can be raised without
lowering some v_m <= v_n (K Def 1). It is found in rounds (Z III-A): each maximises the least share g of the users still active
(linear_program.py), then the users who cannot get more than g are fixed at g. The loop over the rounds is in
solvers/lexicographic/rounds.py. With positive demands, no placement constraints and unlimited tasks one round fixes everybody
and this is W's (6); W writes `= g`, which is the same when x may be cut back.

**Residual.** The largest fraction of an attainable weighted share that some user misses, max_n e_n / (v_n + e_n), with e_n the
most by which v_n can be raised while every m keeps min(v_m, v_n). The bound (*) of weak_duality.py on e_n at the allocation's own
prices, one layer for each round, is a proof that needs no solver.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, canonical, cheapest, cvxpy_tasks, pyomo_arcs, pyomo_limit, scaled_to_one
from fairalloc.formulations.common.user_error import errors_of_levels
from fairalloc.formulations.lexicographic.linear_program import LP, Round, cvxpy_round, pyomo_round, round_as_lp
from fairalloc.formulations.lexicographic.same_model import MOST_ARCS, differences
from fairalloc.formulations.lexicographic.weak_duality import excess, feasible
from fairalloc.formulations.mechanism import Mechanism, written_here
from fairalloc.models.allocation import SAME, Allocation
from fairalloc.models.errors import InstanceError, NotApplicable, callers, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, floats, frozen, rational, worst

AT_LIMIT = 1e-6
"""A share within this of a user's limit is at the limit."""


class Leximin(Mechanism):
    """The mechanism that is lexicographically max-min fair in sigma_n u_n / phi_n; a rule of one's own needs only its share.

    >>> def heaviest(instance):
    ...     return np.array([d.max() for d in instance.demands])  # the largest demand of one task, whatever the capacities
    >>> Leximin("heaviest", heaviest)
    <mechanism heaviest>

    Parameters
    ----------
    id, title, source, aliases : see Mechanism
    share : function from an instance to sigma (N,), the share one task of each user stands for
    exact_share : the same as rationals; without it there are no exact answers and no certificates
    domain : function from an instance to the instance that is allocated; None = itself
    """

    linear, integer, convex = True, False, True
    takes_rounds = True
    several_rounds = True
    unique = merges_users = merges_servers = True

    def __init__(
        self,
        id: str,  # noqa: A002 (the public name of the attribute)
        share: Callable[[Instance], Floats],
        *,
        exact_share: Callable[[Instance], tuple[Fraction, ...]] | None = None,
        title: str = "",
        source: str = "",
        aliases: tuple[str, ...] = (),
        domain: Callable[[Instance], Instance] | None = None,
    ) -> None:
        self.id, self.share, self.title, self.source, self.aliases = id, share, title, source, aliases
        self.exact_share, self._domain = exact_share, domain

    def check_models(self, instance: Instance) -> None:
        """NotApplicable where a class of one's own writes another model than its share means."""
        for layer in ("cvxpy", "pyomo"):
            for part in self.other_parts(instance, layer)[:1]:
                what = f"the model of {self.id!r} in {layer} is not that of its share: {part!r} differs"
                raise NotApplicable(f"{what}, but the share decides: change it too, or name a method of {layer}")

    def other_parts(self, instance: Instance, layer: str) -> list[str]:
        """The parts in which a model of one's own differs from the one that its share means; [] beyond MOST_ARCS arcs."""
        name = f"write_{layer}"
        if written_here(getattr(type(self), name)) or (domain := self.domain(instance)).A > MOST_ARCS:
            return []
        return differences(layer, getattr(self, name)(domain), getattr(Leximin, name)(self, domain), domain)

    def domain(self, instance: Instance) -> Instance:
        """The instance whose servers the mechanism allocates; NotApplicable where shares are not defined."""
        result = instance
        if self._domain is not None:
            with callers(f"the domain of {self.id!r}"):
                result = self._domain(instance)
            require(isinstance(result, Instance), f"the domain of {self.id!r} is", result, "it must be an Instance")
        self.rate(result)
        return result

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n: the weighted share of one task; NotApplicable for shares that are not N positive numbers.

        Shares of one's own are asked each time: they may read other numbers than before.
        """
        rate: Floats | None = instance.memo.get((self, "rate"))
        if rate is None:
            rate = self._rate(instance)
            if self.is_ours:
                instance.memo[self, "rate"] = rate
        return rate

    def _rate(self, instance: Instance) -> Floats:
        with callers(f"the share of {self.id!r}"):
            share = floats(self.share(instance), f"the share of {self.id!r}")
        if share.shape != (instance.N,):
            rule = f"it must be ({instance.N},), one a user"
            raise NotApplicable(f"the share of {self.id!r} has shape {share.shape}, but {rule}")
        for n in np.flatnonzero(~((share > 0) & (share < np.inf)))[:1]:
            where = f"the share of {self.id!r} for user {instance.users[n]!r}"
            raise NotApplicable(f"{where} is {share[n]}, but it must be positive")
        return frozen(share / instance.weights)

    def exact_shares(self, instance: Instance) -> tuple[Fraction, ...]:
        """(N,) sigma_n as rationals; NotApplicable where there are none, InstanceError where they are not those of `share`."""
        if self.exact_share is None:
            raise NotApplicable(f"mechanism {self.id!r} has no exact_share, so there are no rational answers")
        about = f"the exact_share of {self.id!r}"
        with callers(about):
            shares = tuple(rational(value, about) for value in self.exact_share(instance))
        require(len(shares) == instance.N, f"{about} has the length", len(shares), f"it must be {instance.N}, one a user")
        for n, share in enumerate((self.rate(instance) * instance.weights).tolist()):
            if abs(shares[n] - Fraction(share)) > SAME * share:
                raise InstanceError(f"{about} for user {instance.users[n]!r} is {shares[n]}, but its share is {share}")
        return shares

    def exact_rate(self, instance: Instance) -> tuple[Fraction, ...]:
        """(N,) sigma_n / phi_n as rationals."""
        return tuple(s / w for s, w in zip(self.exact_shares(instance), instance.exact.weights, strict=True))

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """As for every mechanism, and the level of an equal partition becomes 1."""
        return canonical(instance, self.rate)

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002
        """The dual prices of the first round, scaled so that sum_n y_n = 1; parameters as in `Mechanism.model_prices`.

        By the column of g, sum_n y_n = 1 with rate_n y_n = q_n(p) + z_n and z the duals of the limits. Where the least share g is
        that of a user at its limit, and p does not bound it, p = 0 is optimal: that user's z alone bounds g.
        """
        rate, p = self.rate(domain), np.maximum(given[0], 0.0)
        y = float((cheapest(domain, p) / rate).sum())
        g = float((rate * domain.arcs.totals(x)).min())
        limited = g >= (1.0 - AT_LIMIT) * float((rate * domain.max_tasks).min())
        if not y > 0 or (limited and p.sum() > (1.0 + AT_LIMIT) * g * y):
            return np.zeros_like(p)
        return np.asarray(p / y)

    def proofs(self, allocation: Allocation) -> Floats | None:
        """(T, K, R) the prices by rounds, or the allocation's only ones, each layer in parts of its largest; None without any."""
        if allocation.round_prices is not None:
            return scaled_to_one(allocation.round_prices)
        return None if allocation.prices is None else scaled_to_one(allocation.prices[None])

    def write_cvxpy(self, instance: Instance, round: Round | None = None) -> "cp.Problem":  # noqa: A002
        """Variables "x" and "g", constraints "capacity", "fairness", "limit" of the first round; others by `cvxpy_round`."""
        x, (capacity, *limit) = cvxpy_tasks(instance)
        g = cp.Variable(nonneg=True, name="g")
        v = cp.multiply(self.rate(instance), instance.arcs.owner @ x)  # sigma_n x_n / phi_n
        fairness = (v >= g).set_label("fairness")
        return cvxpy_round(cp.Problem(cp.Maximize(g), [capacity, fairness, *limit]), instance, round)

    def write_pyomo(self, instance: Instance, round: Round | None = None) -> "pyo.ConcreteModel":  # noqa: A002
        """Variables `x` and `g`, expressions `share`, constraints `capacity`, `fairness`, `limit`; others by `pyomo_round`."""
        model, load, tasks = pyomo_arcs(instance)
        rate = by_user(instance, self.rate(instance))
        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        model.share = pyo.Expression(instance.users, rule=lambda _, n: rate[n] * tasks[n])  # sigma_n x_n / phi_n
        model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
        model.fairness = pyo.Constraint(instance.users, rule=lambda m, n: m.share[n] >= m.g)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)
        return pyomo_round(pyomo_limit(model, instance, tasks), instance, round)

    def lp(self, instance: Instance, round: Round | None = None) -> LP:  # noqa: A002
        """The LP of a round, by default the first, as sparse arrays."""
        return round_as_lp(instance, self.rate(instance), round or Round.first(instance))

    def values(self, allocation: Allocation) -> dict[str, float]:
        """g, the smallest weighted share: 5/7 in W Fig. 4."""
        return {"g": float((self.rate(allocation.instance) * allocation.tasks).min())}

    def residual(self, allocation: Allocation) -> float:
        """The bound of weak_duality.py, in [0, 1], at the allocation's own prices; 1 without prices or without a point."""
        return self.measured(allocation)[0]

    def user_errors(self, allocation: Allocation) -> Floats | None:
        """(N,) first-order bounds by its own prices (common/user_error.py); inf without prices or without a point."""
        return self.measured(allocation)[1]

    def measured(self, allocation: Allocation) -> tuple[float, Floats | None]:
        instance, layers = allocation.instance, self.proofs(allocation)
        if layers is None or not allocation.has_point:
            return 1.0, np.full(instance.N, np.inf)
        x, rate = feasible(instance, allocation.x), self.rate(instance)
        v = rate * instance.arcs.totals(x)
        e = excess(instance, rate, v, layers)
        missed = 1.0 - np.divide(v, v + e, out=np.zeros_like(v), where=v + e > 0)
        return worst(missed), errors_of_levels(instance, x, v, missed, len(layers))


class MaxMin(Leximin):
    """Max-min only: the first round alone, max g with sigma_n u_n / phi_n >= g. Any allocation that reaches g will do."""

    several_rounds = unique = False

    def measured(self, allocation: Allocation) -> tuple[float, None]:
        """The residual 1 - g / bound: g <= sum p / sum y for every feasible allocation, and g <= sigma_n max_tasks_n / phi_n."""
        layers = self.proofs(allocation)
        if layers is None or not allocation.has_point:
            return 1.0, None
        instance, rate = allocation.instance, self.rate(allocation.instance)
        g = float((rate * instance.arcs.totals(feasible(instance, allocation.x))).min())
        bounds = [float((rate * instance.max_tasks).min())]
        for layer in layers:
            y = float((cheapest(instance, layer) / rate).sum())
            bounds += [float(layer.sum()) / y] if y > 0 else []
        return worst([1.0 - g / min(bounds)]), None
