r"""The market view of nb: competitive equilibrium from given incomes (Z Prop 5; Eisenberg and Gale 1959).

User n has the budget w_n (equal ones in Z), and the prices are p_ir. Its cheapest task costs

    q_n = min over its variants v and servers i of  sum_r d_nvr p_ir

and x with p is an equilibrium when

    used_ir <= c_ir,  and used_ir = c_ir where p_ir > 0                 the market clears
    sum of x_a cost_a over its arcs <= min(w_n, q_n max_tasks_n)        nobody spends more than its budget, or all its tasks cost
    u_n >= min(w_n / q_n, max_tasks_n)                                  nobody can do better at these prices

where equality follows in the last two lines (docs/reference/derivations.md). The prices' common scale is the root s of

    s sum_ir p_ir c_ir = sum_n min(w_n, s q_n max_tasks_n)                                                        (*)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np

from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.formulations.common.duality_gap import reference_prices
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.nb import check_market
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Seconds, checked
from fairalloc.models.errors import FairallocError, NotApplicable
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, told_apart
from fairalloc.models.tables import Grid
from fairalloc.solvers.options import Judging
from fairalloc.solvers.solve import solve


@dataclass(frozen=True)
class PricedAllocation:
    """An allocation with prices of the resources, and what the users pay at these prices.

    Attributes
    ----------
    allocation : the tasks that the users buy
    prices : (K, R) p_ir, the price of a unit of each resource of each server, in units of the budgets
    """

    allocation: Allocation
    prices: Floats

    def __repr__(self) -> str:
        instance = self.allocation.instance
        return f"<market of {instance.name or 'instance'}: {instance.N} users, residual {self.residual:.1e}>"

    def _repr_html_(self) -> str:
        instance = self.allocation.instance
        rows = [[s, *(f"{p:.6g}" for p in prices)] for s, prices in zip(instance.servers, self.prices, strict=True)]
        columns = ["price on", *instance.resources]
        return Grid(repr(self).strip("<>"), columns, rows, right=range(1, len(columns))).head()._repr_html_()

    @property
    def budgets(self) -> Floats:
        """(N,) w_n, the weights of the instance."""
        return self.allocation.instance.weights

    @cached_property
    def worth(self) -> Floats:
        """(K, R) p_ir c_ir, what a whole capacity costs."""
        return np.asarray(self.prices * self.allocation.instance.pools)

    @cached_property
    def cost(self) -> Floats:
        """(N,) q_n, the cost of a user's cheapest task."""
        return cheapest(self.allocation.instance, self.worth)

    @cached_property
    def spending(self) -> Floats:
        """(N,) what each user pays for its tasks where they run."""
        arcs = self.allocation.instance.arcs
        return np.asarray(arcs.owner @ (self.allocation.x * (arcs.load.T @ self.worth.ravel())))

    @cached_property
    def due(self) -> Floats:
        """(N,) min(w_n, q_n max_tasks_n): a user's budget, or what all its tasks cost where that is less."""
        return np.asarray(np.minimum(self.budgets, _all_tasks(self.allocation.instance, self.cost)))

    @property
    def overspent(self) -> Floats:
        """(N,) what each user pays beyond what is due, as a part of its budget."""
        return np.asarray((self.spending - self.due) / self.budgets)

    @cached_property
    def demand(self) -> Floats:
        """(N,) min(w_n / q_n, max_tasks_n), the most tasks the budget can buy; inf for free tasks without a limit."""
        paid = np.divide(self.budgets, self.cost, out=np.full_like(self.cost, np.inf), where=self.cost > 0)
        return np.asarray(np.minimum(paid, self.allocation.instance.max_tasks))

    @cached_property
    def unsold(self) -> Floats:
        """(K, R) p_ir (c_ir - used_ir), the worth of what is not used."""
        return np.asarray(self.worth * (1.0 - self.allocation.load))

    @cached_property
    def residuals(self) -> Mapping[str, float]:
        """How far it is from an equilibrium, by names, dimensionless.

        `feasibility`: the largest violation of a capacity. `clearing`: the value of unsold resources as a part of all budgets.
        `spending`: the largest part of its budget that a user overspends. `choice`: the largest part of its best tasks that a
        user misses.
        """
        return {
            "feasibility": infeasibility(self.allocation),
            "clearing": float(np.abs(self.unsold).sum() / self.budgets.sum()),
            "spending": float(np.maximum(self.overspent, 0.0).max(initial=0.0)),
            "choice": float((1.0 - self.allocation.tasks / self.demand).max(initial=0.0)),
        }

    @property
    def residual(self) -> float:
        """The largest of the residuals."""
        return max(self.residuals.values())


@checked
def market(allocation: Allocation, time_limit: Seconds | None = None) -> PricedAllocation:
    """The market in which an allocation with tasks for everybody is bought.

    The prices are those of the allocation, scaled so that what users may spend buys all capacities. Where it has none, or their
    residual is not small, prices from an independent linear program (formulations/common/duality_gap.py) are computed too.
    Where these leave a residual, for HiGHS has tolerances, `nb` is solved. Prices with the smallest residual are taken.

    Parameters
    ----------
    allocation : of any mechanism; the budgets are the weights of its instance
    time_limit : seconds for both programs; where none has ended then, prices of the allocation's own are taken, or 0 where it
        has none

    Raises
    ------
    NotApplicable : a user has no tasks, or the instance is no market: it has floors, groups or users' own time

    Examples
    --------
    >>> from fairalloc.solvers import solve
    >>> pool = Instance([[1, 4], [3, 1]], [[9, 18]])  # W section 2
    >>> solved = market(solve(pool, "nb"))
    >>> solved.prices.round(6)
    array([[0.2     , 0.011111]])
    """
    instance = allocation.instance
    check_market(instance)
    for n in np.flatnonzero(~(allocation.tasks > 0))[:1]:
        raise NotApplicable(f"there is no market in which user {instance.users[n]!r} buys {allocation.tasks[n]:g} tasks")
    found: list[PricedAllocation] = []
    for prices in _prices(allocation, time_limit or np.inf):
        found.append(_at(allocation, prices))
        if found[-1].residual <= Judging().proved:  # they need no comparison with others
            break
    return min(found, key=lambda priced: priced.residual)


def _prices(allocation: Allocation, seconds: float) -> Iterator[Floats]:
    """Prices (K, R) in parts of capacity: its own, those of the linear program, and those of an answer of nb."""
    if allocation.prices is not None:
        yield allocation.prices
    instance, end = allocation.instance, perf_counter() + seconds
    yield reference_prices(allocation, instance.weights / allocation.tasks, seconds)
    left = end - perf_counter()
    if left > 0 and (prices := solve(instance, "nb", time_limit=left if left < np.inf else None).prices) is not None:
        yield prices


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of tasks out of range
def equilibrium(allocation: Allocation, tolerance: float) -> Verdict:
    """At some prices nothing is left unsold, everybody spends its budget and nobody can do better (nb; Z Prop 5)."""
    if allocation.mechanism not in ("", "nb"):
        return undecided(f"{allocation.mechanism!r} is not checked, 'nb' and answers of no mechanism are", "by name", "market")
    method = "prices of the allocation or of a linear program; residuals by direct computation"
    try:
        check_market(allocation.instance)
    except NotApplicable as reason:
        return undecided(str(reason), method, "market")
    try:
        found = market(allocation)
    except FairallocError as error:
        if np.all(allocation.tasks > 0):  # users who buy nothing are a finding, else no prices were found
            return undecided(str(error), method, "market")
        return Verdict("market", False, np.inf, f"no equilibrium: {error}", method)
    if found.residual <= tolerance:
        return Verdict("market", True, found.residual, "a market equilibrium", method, {"prices": found.prices})
    if found.residuals["feasibility"] > tolerance:
        return Verdict("market", False, found.residual, "no equilibrium: the allocation is not feasible", method)
    if found.residuals["spending"] > found.residuals["choice"]:
        n = int(np.argmax(found.overspent))
        facts = {"pays": float(found.spending[n]), "due": float(found.due[n])}
        pays, due = told_apart(*facts.values())
        sentence = f"pays {pays} where {due} is due"
    else:
        n = int(np.argmin(found.allocation.tasks / found.demand))
        facts = {"tasks": found.allocation.tasks[n], "demand": found.demand[n]}
        runs, demand = told_apart(*facts.values())
        sentence = f"runs {runs} tasks and could buy {demand}"
    user = allocation.instance.users[n]
    witness = {"prices": found.prices, "user": user, **facts}
    return Verdict("market", False, found.residual, f"no equilibrium: user {user!r} {sentence}", method, witness)


def _at(allocation: Allocation, prices: Floats) -> PricedAllocation:
    """The market at prices (K, R) in parts of capacity and any scale."""
    pools, worth = allocation.instance.pools, np.maximum(prices, 0.0)
    worth = worth * _scale(allocation.instance, worth)
    return PricedAllocation(allocation, np.divide(worth, pools, out=np.zeros_like(worth), where=pools > 0))


def _all_tasks(instance: Instance, cost: Floats) -> Floats:
    """(N,) q_n max_tasks_n; inf without a limit."""
    return np.multiply(cost, instance.max_tasks, out=np.full_like(cost, np.inf), where=np.isfinite(instance.max_tasks))


def _scale(instance: Instance, worth: Floats) -> float:
    """The root s of (*) by Newton's method from above: both sides are piecewise linear, so a few steps end it."""
    w, most = instance.weights, _all_tasks(instance, cheapest(instance, worth))
    total = float(worth.sum())
    if not total > 0:
        return 0.0
    s = w.sum() / total
    while True:
        limited = s * most < w
        rest = total - most[limited].sum()  # what the others' resources cost
        lower = w[~limited].sum() / rest if rest > 0 else s
        if lower >= s:
            return float(s)
        s = lower
