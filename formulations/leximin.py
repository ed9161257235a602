r"""Lexicographic max-min fairness of shares: the common form of DRF, DRFH, TSF and LMMF (W (6) and 5.1, K Def 1, Z III-A).

With v_n = sigma_n u_n / phi_n, the weighted share of user n, an allocation is fair when no v_n can be raised without
lowering some v_m <= v_n (K Def 1). It is found in rounds (Z III-A). Round t, over users still active:

    max   g
    s.t.  sum_n d_nr x_ni <= c_ir                  for all servers i, resources r                         (W 4)
          sigma_n sum_i x_ni / phi_n >= g          for active users n                                     (W 6)
          sigma_n sum_i x_ni / phi_n >= level_n    for users fixed in earlier rounds
          sum_i x_ni <= max_tasks_n                for users with finitely many tasks                     (W 5.1)

then the users who cannot get more than g are fixed at g. With positive demands, no placement constraints and unlimited tasks
one round fixes everybody and this is W's (6); W writes `= g`, which is the same when x may be cut back.

**Who is stuck.** Any prices p >= 0 on the capacities give every user the cost q_n(p) of its cheapest task, and for every
feasible x'

    sum_n y_n v'_n <= sum_ir p_ir,    y_n = q_n(p) phi_n / sigma_n            (weak duality, capacities scaled to 1).

So no x' that leaves every m at min(v_m, v_n) or more can raise v_n by more than

    excess_n = (sum_ir p_ir - sum_m y_m min(v_m, v_n)) / y_n                                                      (*)

nor above the user's own limit. A user is fixed when excess_n is (numerically) 0 for the round's dual prices. At least one user
has y_n > 0, so every round fixes somebody.

**The face.** A later round as above has no interior: complementary slackness already makes equalities of its inequalities. With
the prices p of an earlier round, in every allocation that keeps its levels

    a priced row is full (p_ir > 0), a fixed user is at its level, an arc dearer than its user's cheapest carries nothing.

Simplex codes do not mind. For interior-point and first-order codes the round is written on that face: full rows and levels as
equations, dear arcs closed; one full row a round is left out when every priced user is fixed, because it is then implied by the
others (sum_n y_n v_n = sum_ir p_ir).

**Residual.** The bound (*) over the prices of all rounds is a proof that needs no solver, whoever handed the prices over; bad
prices can only make it larger.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from fairalloc.formulations.mechanism import Mechanism, cheapest, linear_rows, pyomo_tasks
from fairalloc.formulations.scaling import canonical
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["LP", "Leximin", "Round"]


@dataclass(frozen=True)
class Round:
    """What one round of the sequence starts from.

    Attributes
    ----------
    active : (N,) bool, users who still rise
    level : (N,) weighted share that each other user keeps
    closed : (A,) bool, arcs that carry nothing; all false unless the round is written on its face
    full : (K R,) the load of rows that are full, nan = at most 1, inf = implied by the other rows
    on_face : whether levels and full rows are equations
    """

    active: NDArray[np.bool_]
    level: Floats
    closed: NDArray[np.bool_]
    full: Floats
    on_face: bool = False

    @classmethod
    def first(cls, instance: Instance) -> "Round":
        """Everybody is active, nothing is known."""
        arcs, rows = len(instance.arcs), instance.K * instance.R
        return cls(np.ones(instance.N, bool), np.zeros(instance.N), np.zeros(arcs, bool), np.full(rows, np.nan))

    @property
    def at_most(self) -> NDArray[np.bool_]:
        """(K R,) rows that are inequalities."""
        result: NDArray[np.bool_] = np.isnan(self.full)
        return result

    @property
    def exactly(self) -> NDArray[np.bool_]:
        """(K R,) rows that are equations."""
        result: NDArray[np.bool_] = np.isfinite(self.full)
        return result


@dataclass(frozen=True)
class LP:
    """max cost @ z  subject to  lower <= matrix @ z <= upper,  z = (x, g) >= 0; the first K R rows are the capacities."""

    cost: Floats
    matrix: sp.csc_array
    lower: Floats
    upper: Floats


RoundSolver: TypeAlias = Callable[[Round], tuple[Floats, Floats]]


class Leximin(Mechanism):
    """The mechanism that is lexicographically max-min fair in sigma_n u_n / phi_n.

    Parameters
    ----------
    id, title, source, aliases : see Mechanism
    share : function from an instance to sigma (N,), the share one task of each user stands for
    domain : function from an instance to the instance that is allocated (default: itself)
    """

    def __init__(
        self,
        id: str,  # noqa: A002 (the public name of the attribute)
        share: Callable[[Instance], Floats],
        *,
        title: str,
        source: str,
        aliases: tuple[str, ...] = (),
        domain: Callable[[Instance], Instance] = lambda instance: instance,
    ) -> None:
        self.id, self.share, self.title, self.source, self.aliases = id, share, title, source, aliases
        self._domain = domain

    def domain(self, instance: Instance) -> Instance:
        """The instance whose servers the mechanism allocates; InstanceError where shares are not defined."""
        result = self._domain(instance)
        self.share(result)
        return result

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n: the weighted share of one task."""
        return self.share(instance) / instance.weights

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """As for every mechanism, and the level of an equal partition becomes 1."""
        return canonical(instance, self.rate)

    # ---- the round as a model -----------------------------------------------------------------------------------

    def cvxpy(self, instance: Instance, round: Round | None = None) -> "cp.Problem":  # noqa: A002
        """The LP of a round, by default the first; variables "x" and "g".

        Constraints "capacity", "fairness" and "limit", in later rounds "level", on a face also "full", "open" and "closed".
        """
        import cvxpy as cp

        now = round or Round.first(instance)
        arcs, share = instance.arcs, sp.diags_array(self.rate(instance)) @ instance.arcs.owner
        x = cp.Variable(len(arcs), nonneg=not now.closed.any(), name="x")
        g = cp.Variable(nonneg=True, name="g")
        constraints = [
            (arcs.load[now.at_most] @ x <= 1).set_label("capacity"),
            (share[now.active] @ x >= g).set_label("fairness"),
        ]
        capped = np.isfinite(instance.max_tasks)
        if capped.any():
            constraints.append((arcs.owner[capped] @ x <= instance.max_tasks[capped]).set_label("limit"))
        if not now.active.all():
            kept, level = share[~now.active] @ x, now.level[~now.active]
            constraints.append((kept == level if now.on_face else kept >= level).set_label("level"))
        if now.exactly.any():
            constraints.append((arcs.load[now.exactly] @ x == now.full[now.exactly]).set_label("full"))
        if now.closed.any():
            constraints += [(x[~now.closed] >= 0).set_label("open"), (x[now.closed] == 0).set_label("closed")]
        return cp.Problem(cp.Maximize(g), constraints)

    def pyomo(self, instance: Instance, round: Round | None = None) -> "pyo.ConcreteModel":  # noqa: A002
        """The LP of a round, by default the first; variables `x` and `g`.

        Constraints `capacity`, `fairness` and `limit`, in later rounds `level`, on a face also `full`; closed arcs are fixed.
        """
        import pyomo.environ as pyo

        now = round or Round.first(instance)
        model = pyomo_tasks(instance, now.full)
        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        x = list(model.x.values())
        weighted = sp.csr_array(sp.diags_array(self.rate(instance)) @ instance.arcs.owner)
        share = dict(zip(instance.users, linear_rows(weighted, x), strict=True))
        level = dict(zip(instance.users, now.level.tolist(), strict=True))
        rising = [u for u, active in zip(instance.users, now.active, strict=True) if active]
        fixed = [u for u, active in zip(instance.users, now.active, strict=True) if not active]
        model.fairness = pyo.Constraint(rising, rule=lambda m, u: share[u] - m.g >= 0)
        model.level = pyo.Constraint(fixed, rule=lambda _, u: share[u] == level[u] if now.on_face else share[u] >= level[u])
        for a in np.flatnonzero(now.closed):
            x[a].fix(0.0)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)
        return model

    def lp(self, instance: Instance, round: Round) -> LP:  # noqa: A002
        """The round as sparse arrays: capacity rows, then fairness, then limits; never on a face."""
        arcs = instance.arcs
        capped = np.isfinite(instance.max_tasks)
        share = sp.diags_array(self.rate(instance)) @ arcs.owner
        column = sp.csc_array(-round.active[:, None].astype(float))
        matrix = sp.block_array([[arcs.load, None], [share, column], [arcs.owner[capped], None]], format="csc")
        rows = instance.K * instance.R
        minus = np.full(rows, -np.inf), np.full(capped.sum(), -np.inf)
        return LP(
            cost=np.append(np.zeros(len(arcs)), 1.0),
            matrix=matrix,
            lower=np.concatenate([minus[0], round.level, minus[1]]),
            upper=np.concatenate([np.ones(rows), np.full(instance.N, np.inf), instance.max_tasks[capped]]),
        )

    # ---- the rounds -----------------------------------------------------------------------------------------------

    def rounds(self, instance: Instance, solve: RoundSolver, tolerance: float, on_face: bool = False) -> tuple[Floats, Floats]:
        """Run all rounds with `solve(round) -> (x, prices (K, R))`; returns the last x and the prices of every round.

        A user is fixed when (*) leaves it less than `tolerance` relative; the least improvable one always is.
        """
        rate = self.rate(instance)
        now = Round.first(instance)
        history = []
        while True:
            x, prices = solve(now)
            v = rate * (instance.arcs.owner @ feasible(instance, x))
            slack = excess(instance, rate, v, prices[None], now) / np.maximum(v, 1e-300)
            slack[~now.active] = np.inf
            stuck = slack <= max(tolerance, 2.0 * slack.min())
            history.append(prices)
            now = replace(now, active=now.active & ~stuck, level=np.where(stuck, v, now.level))
            if not now.active.any():
                return x, np.array(history)
            if on_face:
                now = self.face(instance, now, x, prices)

    def face(self, instance: Instance, now: Round, x: Floats, prices: Floats) -> Round:
        """The next round on the face that the last one's x and prices show, by strict complementarity.

        Prices are measured in the level g they carry. A row is full when its price exceeds its slack; an arc is closed when what
        the whole server costs above the user's cheapest arc exceeds the part of the server it has.
        """
        arcs, p = instance.arcs, prices.ravel() / now.level.max()
        load = arcs.load @ x
        full = now.at_most & (p > np.maximum(1.0 - load, SEPARATED))
        q = cheapest(instance, p, now.closed)
        dear = (arcs.load.T @ p) - q[arcs.user]
        closed = now.closed | (dear * arcs.gamma > np.maximum(x / arcs.gamma, SEPARATED))
        rows = np.where(full, load, now.full)
        priced_and_rising = now.active & (q > SEPARATED * self.rate(instance))
        if full.any() and not priced_and_rising.any():
            rows[np.argmax(np.where(full, p, 0.0))] = np.inf
        return replace(now, closed=closed, full=rows, on_face=True)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """g, the smallest weighted share: 5/7 in W Fig. 4."""
        return {"g": float((self.rate(allocation.instance) * allocation.tasks).min())}

    def residual(self, allocation: Allocation) -> float:
        """The largest fraction of an attainable weighted share that some user misses, in [0, 1], proved by (*).

        max_n e_n / (v_n + e_n), with e_n the most v_n can be raised while every m keeps min(v_m, v_n). The allocation's
        own prices are tried first; where they prove too little, the rounds are run here for prices that do.
        """
        own = self._missing(allocation, allocation.prices)
        return own if own <= PROVED else min(own, self._missing(allocation, self.referee(allocation.instance)))

    def referee(self, instance: Instance) -> Floats | None:
        """(T, K, R) prices that prove the fair shares, from SciPy's simplex: slow, but independent of every method.

        None where SciPy fails; then the prices of the allocation are all there is.
        """
        scaled, _ = self.canonical(instance)

        def solve(round: Round) -> tuple[Floats, Floats]:  # noqa: A002
            lp = self.lp(scaled, round)
            below, above = np.isfinite(lp.upper), np.isfinite(lp.lower)
            rows = sp.vstack([lp.matrix.tocsr()[below], -lp.matrix.tocsr()[above]])
            sides = np.concatenate([lp.upper[below], -lp.lower[above]])
            answer = linprog(-lp.cost, A_ub=rows, b_ub=sides, method="highs-ds", options=REFEREE)
            if not answer.success:
                raise ArithmeticError(answer.message)
            marginals = -answer.ineqlin.marginals[: instance.K * instance.R]
            return answer.x[:-1], marginals.reshape(instance.K, instance.R)

        try:
            return self.rounds(scaled, solve, 1e-9)[1]
        except ArithmeticError:
            return None

    def _missing(self, allocation: Allocation, prices: Floats | None) -> float:
        if prices is None or not allocation.has_point:
            return 1.0
        instance = allocation.instance
        rate = self.rate(instance)
        v = rate * (instance.arcs.owner @ feasible(instance, allocation.x))
        e = excess(instance, rate, v, prices)
        return float(np.max(1.0 - np.divide(v, v + e, out=np.zeros_like(v), where=v + e > 0)))


REFEREE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}

PROVED = 1e-7
"""Below this the residual is not worth a second look by the referee."""


def feasible(instance: Instance, x: Floats) -> Floats:
    """The nearest allocation below x that the bound (*) may be used for: no negative tasks, everything shrunk to fit."""
    x = np.maximum(x, 0.0)
    load = (instance.arcs.load @ x).max(initial=0.0)
    limit = ((instance.arcs.owner @ x) / instance.max_tasks).max(initial=0.0)
    result: Floats = x / max(1.0, load, limit)
    return result


def excess(instance: Instance, rate: Floats, v: Floats, prices: Floats, on: Round | None = None) -> Floats:
    """(N,) the bound (*) on how much each weighted share v_n of a feasible x can be raised, the best over layers (T, K, R).

    On the face of a round only its open arcs count, equations may have prices of either sign, and fixed users stay put.
    The sums are in floating point, so the gap is never taken to be less than ROUNDING times the prices.
    """
    best: Any = np.maximum(rate * instance.max_tasks - v, 0.0)
    order = np.argsort(v, kind="stable")
    on = on if on is not None and on.on_face else Round.first(instance)
    for layer in prices.reshape(len(prices), -1):
        p = np.where(on.at_most, np.maximum(layer, 0.0), np.where(on.exactly, layer, 0.0))
        y = cheapest(instance, p, on.closed) / rate
        worth = p @ np.where(on.exactly, on.full, 1.0) - (y * v)[~on.active].sum()
        y = np.where(on.active, y, 0.0)
        below = np.cumsum((y * v)[order])
        above = y.sum() - np.cumsum(y[order])
        kept = np.empty_like(v)
        kept[order] = below + v[order] * above
        gap = np.maximum(worth - kept, ROUNDING * np.abs(p).sum())
        best = np.minimum(best, np.divide(gap, y, out=np.full_like(v, np.inf), where=y > 0))
    result: Floats = best
    return result


SEPARATED = 1e-7
"""A price or a reduced cost below this part of the level is taken for noise."""

ROUNDING = 1e-15
"""A few units in the last place: a dual price below 1e-9 of the others proves nothing to 1e-6."""
