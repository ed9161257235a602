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
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from fairalloc.formulations.common.scaling import canonical
from fairalloc.formulations.mechanism import Mechanism, cheapest, linear_rows, pyomo_tasks
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

    def full_since(self, before: "Round") -> NDArray[np.bool_]:
        """(K R,) rows that were inequalities before."""
        result: NDArray[np.bool_] = before.at_most & ~self.at_most
        return result

    @property
    def exactly(self) -> NDArray[np.bool_]:
        """(K R,) rows that are equations."""
        result: NDArray[np.bool_] = np.isfinite(self.full)
        return result


@dataclass(frozen=True)
class LP:
    """max cost @ z  subject to  lower <= matrix @ z <= upper,  0 <= z <= most; z = (x, g); first the K R capacity rows."""

    cost: Floats
    matrix: sp.csc_array
    lower: Floats
    upper: Floats
    most: Floats


RoundSolver: TypeAlias = Callable[[Round], tuple[Floats, Floats]]


class Leximin(Mechanism):
    """The mechanism that is lexicographically max-min fair in sigma_n u_n / phi_n.

    Parameters
    ----------
    id, title, source, aliases : see Mechanism
    share : function from an instance to sigma (N,), the share one task of each user stands for
    exact_share : the same as rationals
    domain : function from an instance to the instance that is allocated (default: itself)
    """

    linear = True

    def __init__(
        self,
        id: str,  # noqa: A002 (the public name of the attribute)
        share: Callable[[Instance], Floats],
        *,
        exact_share: Callable[[Instance], tuple[Fraction, ...]],
        title: str,
        source: str,
        aliases: tuple[str, ...] = (),
        domain: Callable[[Instance], Instance] = lambda instance: instance,
    ) -> None:
        self.id, self.share, self.title, self.source, self.aliases = id, share, title, source, aliases
        self.exact_share, self._domain = exact_share, domain

    def domain(self, instance: Instance) -> Instance:
        """The instance whose servers the mechanism allocates; InstanceError where shares are not defined."""
        result = self._domain(instance)
        self.share(result)
        return result

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n: the weighted share of one task."""
        return self.share(instance) / instance.weights

    def exact_rate(self, instance: Instance) -> tuple[Fraction, ...]:
        """(N,) the same as rationals."""
        return tuple(s / w for s, w in zip(self.exact_share(instance), instance.exact.weights, strict=True))

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """As for every mechanism, and the level of an equal partition becomes 1."""
        return canonical(instance, self.rate)

    # ---- the round as a model -----------------------------------------------------------------------------------

    def write_cvxpy(self, instance: Instance, round: Round | None = None) -> "cp.Problem":  # noqa: A002
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

    def write_pyomo(self, instance: Instance, round: Round | None = None) -> "pyo.ConcreteModel":  # noqa: A002
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
        """The round as sparse arrays: capacity rows, then fairness, then limits."""
        arcs = instance.arcs
        capped = np.isfinite(instance.max_tasks)
        share = sp.diags_array(self.rate(instance)) @ arcs.owner
        column = sp.csc_array(-round.active[:, None].astype(float))
        matrix = sp.block_array([[arcs.load, None], [share, column], [arcs.owner[capped], None]], format="csc")
        return LP(np.append(np.zeros(len(arcs)), 1.0), matrix, *self.bounds(instance, round))

    def bounds(self, instance: Instance, round: Round) -> tuple[Floats, Floats, Floats]:  # noqa: A002
        """The round's `lower`, `upper` and `most`: all that changes from round to round but the column of g."""
        limits = instance.max_tasks[np.isfinite(instance.max_tasks)]
        level = np.where(round.active, 0.0, round.level)
        fixed = np.where(round.active | (not round.on_face), np.inf, level)
        return (
            np.concatenate([np.where(round.exactly, round.full, -np.inf), level, np.full(len(limits), -np.inf)]),
            np.concatenate([np.where(round.at_most, 1.0, round.full), fixed, limits]),
            np.append(np.where(round.closed, 0.0, np.inf), np.inf),
        )

    # ---- the rounds -----------------------------------------------------------------------------------------------

    def rounds(self, instance: Instance, solve: RoundSolver, tolerance: float, faces: bool = True) -> tuple[Floats, Floats]:
        """Run all rounds with `solve(round) -> (x, prices (K, R))`; returns the last x and proving prices for every round.

        A user is fixed when (*) leaves it less than `tolerance` above the round's level g, relative; the least improvable one
        always is. A user that happens to be at its own limit above g is not fixed: others may still need what it has. Without
        `faces` every round is the LP of Z III-A, with levels as inequalities.
        """
        rate = self.rate(instance)
        now = Round.first(instance)
        proofs: list[Proof] = []
        while True:
            x, prices = solve(now)
            x = feasible(instance, x)
            v = rate * (instance.arcs.owner @ x)
            g = max(v[now.active].min(), 1e-300)
            slack = (v + excess(instance, rate, v, prices[None], now)) / g - 1.0
            slack[~now.active] = np.inf
            stuck = slack <= max(tolerance, 2.0 * slack.min())
            proof = lifted(instance, prices.ravel(), now, proofs)
            # Levels follow this x, so that the next round has a feasible point for certain: it drifts by the solver's rounding.
            level = np.where(now.active | now.on_face, v, np.minimum(v, now.level))
            now = replace(now, active=now.active & ~stuck, level=level)
            later = self.face(instance, now, x, prices) if faces and now.active.any() else now
            proofs.append(Proof(proof, later.full_since(now), later.closed & ~now.closed))
            if not now.active.any():
                return x, np.array([p.prices.reshape(prices.shape) for p in proofs])
            now = later

    def face(self, instance: Instance, now: Round, x: Floats, prices: Floats) -> Round:
        """The next round on the face that the last one's x and prices show, by strict complementarity.

        Prices are measured in the level g they carry. A row is full when its price exceeds its slack; an arc is closed when what
        the whole server costs above the user's cheapest arc exceeds the part of the server it has.
        """
        arcs, p = instance.arcs, prices.ravel() / now.level[~now.active].max()
        load = arcs.load @ x
        full = now.at_most & (p > np.maximum(1.0 - load, SEPARATED))
        q = cheapest(instance, p, now.closed)
        dear = (arcs.load.T @ p) - q[arcs.user]
        closed = now.closed | (dear * arcs.gamma > np.maximum(x / arcs.gamma, SEPARATED))
        rows = np.where(full | now.exactly, load, now.full)
        # Whoever has an open arc on a priced row pays there, however little: cheap tasks are no noise.
        priced = full | (now.exactly & (np.abs(p) > SEPARATED))
        paying = (arcs.load[priced].sum(axis=0) > 0) & ~closed & now.active[arcs.user]
        if full.any() and not paying.any():
            rows[np.argmax(np.where(full, p, 0.0))] = np.inf
        return replace(now, closed=closed, full=rows, on_face=True)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """g, the smallest weighted share: 5/7 in W Fig. 4."""
        return {"g": float((self.rate(allocation.instance) * allocation.tasks).min())}

    def provable(self, allocation: Allocation) -> float:
        """The bound (*) at the allocation's own prices, where it has any."""
        return float("nan") if allocation.prices is None else self._missing(allocation, allocation.prices)

    def residual(self, allocation: Allocation) -> float:
        """The largest fraction of an attainable weighted share that some user misses, in [0, 1], proved by (*).

        max_n e_n / (v_n + e_n), with e_n the most v_n can be raised while every m keeps min(v_m, v_n). The allocation's
        own prices are tried first. Where they prove too little, a referee runs the rounds here: its prices may prove more, and
        where they prove its own shares, the largest relative difference from these counts. In deep sequences the proof is sharper
        than arithmetic (somebody may be raised by 1e-4 if others lose 1e-13), and then the residual stays large: not proved.
        """
        own = self._missing(allocation, allocation.prices)
        if own <= PROVED or not allocation.has_point:
            return own
        referee = self.referee(allocation.instance)
        if referee is None:
            return own
        best = min(own, self._missing(allocation, referee.prices))
        trust = self._missing(referee, referee.prices)
        deviation = float(np.abs(allocation.tasks / referee.tasks - 1.0).max())
        return min(best, max(deviation, trust)) if max(deviation, trust) <= TRUSTED else best

    def referee(self, instance: Instance) -> Allocation | None:
        """The fair allocation from SciPy's simplex, with its prices: slow, but by another solver than the methods'.

        None where SciPy fails; then the prices of the allocation under test are all there is.
        """
        scaled, unit = self.canonical(instance)

        def solve(round: Round) -> tuple[Floats, Floats]:  # noqa: A002
            lp = self.lp(scaled, round)
            rows = sp.vstack([lp.matrix, -lp.matrix], format="csr")
            sides = np.concatenate([lp.upper, -lp.lower])
            given = np.isfinite(sides)
            bounds = np.column_stack([np.zeros(len(lp.most)), lp.most])
            answer = linprog(-lp.cost, rows[given], sides[given], bounds=bounds, method="highs-ds", options=REFEREE)
            if not answer.success:
                raise ArithmeticError(answer.message)
            dual = np.zeros(len(sides))
            dual[given] = -answer.ineqlin.marginals
            above, below = np.split(dual, 2)
            return answer.x[:-1], (above - below)[: instance.K * instance.R].reshape(instance.K, instance.R)

        try:
            x, prices = self.rounds(scaled, solve, 1e-9)
        except ArithmeticError:
            return None
        return Allocation(instance, x * unit[instance.arcs.user], prices=prices)

    def _missing(self, allocation: Allocation, prices: Floats | None) -> float:
        if prices is None or not allocation.has_point:
            return 1.0
        instance = allocation.instance
        rate = self.rate(instance)
        v = rate * (instance.arcs.owner @ feasible(instance, allocation.x))
        e = excess(instance, rate, v, prices)
        return float(np.max(1.0 - np.divide(v, v + e, out=np.zeros_like(v), where=v + e > 0)))


TRUSTED = 1e-6
"""A referee whose own proof is looser than this is not compared with: it may have gone wrong where the method did."""

REFEREE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


class MaxMin(Leximin):
    """Max-min only: the first round alone, max g with sigma_n u_n / phi_n >= g. Any allocation that reaches g will do."""

    def rounds(self, instance: Instance, solve: RoundSolver, tolerance: float, faces: bool = True) -> tuple[Floats, Floats]:
        """The first round; it needs no tolerance and no faces."""
        del tolerance, faces
        x, prices = solve(Round.first(instance))
        return x, prices[None]

    def _missing(self, allocation: Allocation, prices: Floats | None) -> float:
        """1 - g / bound, with g <= sum p / sum y for every feasible allocation, and g <= sigma_n max_tasks_n / phi_n."""
        if prices is None or not allocation.has_point:
            return 1.0
        instance, rate = allocation.instance, self.rate(allocation.instance)
        g = float((rate * (instance.arcs.owner @ feasible(instance, allocation.x))).min())
        bound = float((rate * instance.max_tasks).min())
        for layer in np.maximum(prices, 0.0):
            y = float((cheapest(instance, layer) / rate).sum())
            bound = min(bound, float(layer.sum()) / y) if y > 0 else bound
        return max(1.0 - g / bound, 0.0)


PROVED = 1e-7
"""Below this the residual is not worth a second look by the referee."""


@dataclass(frozen=True)
class Proof:
    """Prices (K R,) >= 0 that prove a round for all feasible x, and the rows and arcs that they made full and closed."""

    prices: Floats
    full: NDArray[np.bool_]
    closed: NDArray[np.bool_]


def lifted(instance: Instance, prices: Floats, now: Round, proofs: list[Proof]) -> Floats:
    """Prices (K R,) that prove on all arcs and rows what `prices` prove on the round's face.

    The prices of an earlier round cost nothing in (*): its users are at their level, its rows are full. Enough of them make up
    for negative prices of rows that they filled, and keep the arcs that they closed dearer than the open ones.
    """
    result = np.where(now.at_most, np.maximum(prices, 0.0), np.where(now.exactly, prices, 0.0))
    closed = now.closed
    for proof in reversed(proofs):
        share = proof.prices > 0
        short = np.divide(-result, proof.prices, out=np.zeros_like(result), where=share & proof.full)
        cost, earlier = instance.arcs.load.T @ result, instance.arcs.load.T @ proof.prices
        here = proof.closed & (closed | proof.closed)
        least = cheapest(instance, result, closed)[instance.arcs.user]
        dearer = earlier - cheapest(instance, proof.prices, closed)[instance.arcs.user]
        lacking = np.divide(least - cost, dearer, out=np.zeros_like(cost), where=here & (dearer > 0))
        result = result + max(0.0, float(short.max()), float(lacking.max())) * proof.prices
        closed = closed & ~proof.closed
    return np.maximum(result, 0.0)


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
