r"""The rounds of lexicographic max-min fairness: as sparse arrays, and in CVXPY and Pyomo made of a rule's first round.

    max   g
    s.t.  sum_n d_nr x_ni <= c_ir                  for all servers i, resources r                         (W 4)
          sigma_n sum_i x_ni / phi_n >= g          for active users n                                     (W 6)
          sigma_n sum_i x_ni / phi_n >= level_n    for users fixed in earlier rounds                      (Z III-A)
          sum_i x_ni <= max_tasks_n                for users with finitely many tasks                     (W 5.1)

`rate` is sigma_n / phi_n, the weighted share of one task. The first round has everybody active; the models of first rounds stand
in the files of the rules, and `cvxpy_round` and `pyomo_round` change what these say.

**The face.** A later round has no interior: with the prices p of an earlier round, in every allocation that keeps its levels

    a priced row is full (p_ir > 0), a fixed user is at its level, an arc dearer than its user's cheapest carries nothing.

For interior-point and first-order codes the round is written on that face: full rows and levels as equations, dear arcs closed,
one full row a round left out when every priced user is fixed, because the others imply it (solvers/lexicographic/faces.py).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, pyomo_full, variables_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, pivots


@dataclass(frozen=True)
class Round:
    """What one round of the sequence starts from.

    active, level : (N,) users who still rise; the weighted share that each other user keeps
    closed : (A,) arcs that carry nothing; all false unless the round is written on its face
    full, implied : (K R,) rows that are full; those that the other rows imply; the rest are at most 1
    on_face : whether levels and full rows are equations
    unlimited : whether limits may be exceeded, to see who is at its limit before a row is full (solvers/lexicographic/rounds.py)
    """

    active: NDArray[np.bool_]
    level: Floats
    closed: NDArray[np.bool_]
    full: NDArray[np.bool_]
    implied: NDArray[np.bool_]
    on_face: bool = False
    unlimited: bool = False

    @classmethod
    def first(cls, instance: Instance) -> "Round":
        """Everybody is active, nothing is known."""
        N, none = instance.N, np.zeros(instance.K * instance.R, bool)
        return cls(np.ones(N, bool), np.zeros(N), np.zeros(instance.A, bool), none, none)

    @property
    def at_most(self) -> NDArray[np.bool_]:
        """(K R,) rows that are inequalities."""
        return ~(self.full | self.implied)

    def is_like(self, other: "Round | None") -> bool:
        """Whether another round asks the same."""
        if other is None or self.unlimited != other.unlimited:
            return False
        mine, theirs = ((one.active, one.level, one.closed, one.full, one.implied) for one in (self, other))
        return all(map(np.array_equal, mine, theirs))


@dataclass(frozen=True)
class LP:
    """max cost @ z  subject to  lower <= matrix @ z <= upper,  0 <= z <= most; z = (x, g); first the K R capacity rows."""

    cost: Floats
    matrix: sp.csc_array
    lower: Floats
    upper: Floats
    most: Floats

    def scaled(self, scale: Floats) -> "LP":
        """The same with x (A,) counted in units of `scale`; bounds of x are 0 or inf."""
        if np.all(scale == 1.0):
            return self
        unit = np.append(scale, np.ones(len(self.cost) - len(scale)))
        return replace(self, cost=self.cost * unit, matrix=self.matrix @ sp.diags_array(unit, format="csc"))

    @property
    def far_apart(self) -> bool:
        """Whether entries differ by 1e10: HiGHS (to 1.15) may then write beyond its memory after its own presolve."""
        entries = np.abs(self.matrix.data[self.matrix.data != 0])
        return bool(len(entries) and entries.max() > 1e10 * entries.min())

    @property
    def pivots(self) -> int:
        """Iterations that a simplex method may take."""
        return pivots(*self.matrix.shape)


def program_as_lp(instance: Instance, cost: Floats, rows: sp.csr_array, lower: Floats) -> LP:
    """Max cost @ z over capacities, `rows` (M, A + ..) @ z >= `lower` (M,), limits; variables beyond tasks are the rows'."""
    arcs, limits = instance.arcs, instance.max_tasks[np.isfinite(instance.max_tasks)]
    parts = arcs.load, arcs.owner[np.isfinite(instance.max_tasks)]
    load, owned = (sp.hstack([part, sp.csr_array((part.shape[0], len(cost) - len(arcs)))]) for part in parts)
    least = np.concatenate([np.full(load.shape[0], -np.inf), lower, np.full(len(limits), -np.inf)])
    most = np.concatenate([np.ones(load.shape[0]), np.full(len(lower), np.inf), limits])
    return LP(cost, sp.vstack([load, rows, owned], format="csc"), least, most, np.full(len(cost), np.inf))


def round_as_lp(instance: Instance, rate: Floats, round: Round) -> LP:  # noqa: A002
    """The round as sparse arrays: capacity rows, then fairness, then limits; written column by column. `rate` (N,) as above."""
    arcs, load, rows = instance.arcs, instance.arcs.load.tocsc(), instance.K * instance.R
    capped = np.isfinite(instance.max_tasks)
    limit = rows + instance.N - 1 + np.cumsum(capped)  # the row of each limit
    with_limit = capped[arcs.user]
    start = load.indptr + np.arange(instance.A + 1, dtype=load.indptr.dtype)
    start[1:] += np.cumsum(with_limit)
    fair, last = start[1:] - with_limit - 1, start[1:][with_limit] - 1  # an arc's own entries stand below its load
    rising, g = np.flatnonzero(round.active), slice(start[-1], None)  # and the column of g is the last
    data, index = np.empty(start[-1] + len(rising)), np.empty(start[-1] + len(rising), np.int32)
    loads = np.ones(len(data), bool)
    loads[fair] = loads[last] = loads[g] = False
    data[loads], data[fair], data[last], data[g] = load.data, rate[arcs.user], 1.0, -1.0
    index[loads], index[fair], index[last], index[g] = load.indices, rows + arcs.user, limit[arcs.user[with_limit]], rows + rising
    shape = (rows + instance.N + int(capped.sum()), instance.A + 1)
    matrix = sp.csc_array((data, index, np.append(start, np.int32(len(data)))), shape=shape)
    return LP(np.append(np.zeros(instance.A), 1.0), matrix, *round_bounds(instance, round))


def round_bounds(instance: Instance, round: Round) -> tuple[Floats, Floats, Floats]:  # noqa: A002
    """The LP's `lower`, `upper` and `most`: all that changes from round to round but the column of g."""
    limits = instance.max_tasks[np.isfinite(instance.max_tasks)]
    level = np.where(round.active, 0.0, round.level)
    fixed = np.where(round.active | (not round.on_face), np.inf, level)
    limits = np.where(round.unlimited, np.inf, limits)
    lower = np.concatenate([np.where(round.full, 1.0, -np.inf), level, np.full(len(limits), -np.inf)])
    upper = np.concatenate([np.where(round.implied, np.inf, 1.0), fixed, limits])
    return lower, upper, np.append(np.where(round.closed, 0.0, np.inf), np.inf)


def cvxpy_round(problem: "cp.Problem", instance: Instance, round: Round | None) -> "cp.Problem":  # noqa: A002
    """A first round's problem made that of another: "level" for fixed users, on a face also "full", "open" and "closed"."""
    if round is None or round.is_like(Round.first(instance)):
        return problem
    capacity, fairness, *others = problem.constraints
    x, load, (g, share) = problem.var_dict["x"], capacity.args[0], fairness.args
    rising = ((share - g)[round.active] >= 0).set_label("fairness")  # g may be an edit's, one number for each user
    constraints = [(load[round.at_most] <= 1).set_label("capacity"), rising, *others]
    if not round.active.all():
        kept, level = share[~round.active], round.level[~round.active]
        constraints.append((kept == level if round.on_face else kept >= level).set_label("level"))
    if round.full.any():
        constraints.append((load[round.full] == 1).set_label("full"))
    if round.closed.any():
        x.attributes["nonneg"] = False  # arcs that are closed have no interior
        constraints += [(x[~round.closed] >= 0).set_label("open"), (x[round.closed] == 0).set_label("closed")]
    return cp.Problem(problem.objective, constraints)


@dataclass(frozen=True)
class ParametricRound:
    """One CVXPY problem that serves every round: it is compiled once, and a round sets its parameters.

    shares_n >= active_n g + level_n    for all users n, labelled "fairness"
    """

    instance: Instance
    problem: "cp.Problem"
    active: "cp.Parameter"
    level: "cp.Parameter"

    @classmethod
    def of(cls, instance: Instance, problem: "cp.Problem") -> "ParametricRound":
        """From the problem of a first round, as for `cvxpy_round`; set to the first round."""
        capacity, fairness, *others = problem.constraints
        active, level = (cp.Parameter(instance.N, nonneg=True, name=name) for name in ("active", "level"))
        g, share = fairness.args
        rising = (share >= cp.multiply(active, g) + level).set_label("fairness")
        result = cls(instance, cp.Problem(problem.objective, [capacity, rising, *others]), active, level)
        result.set(None)
        return result

    def set(self, round: Round | None) -> None:  # noqa: A002
        """Make it this round's problem; None = the first round."""
        round = round or Round.first(self.instance)  # noqa: A001
        self.active.value = round.active.astype(float)
        self.level.value = np.where(round.active, 0.0, round.level)


def pyomo_round(model: "pyo.ConcreteModel", instance: Instance, round: Round | None) -> "pyo.ConcreteModel":  # noqa: A002
    """A first round's model, with `share[user]`, made that of another: `level`, on a face also `full`; closed arcs are fixed."""
    if round is None or round.is_like(Round.first(instance)):
        return model
    level = by_user(instance, round.level)
    fixed = [n for n, active in by_user(instance, round.active).items() if not active]
    for n in fixed:
        del model.fairness[n]
    model.level = pyo.Constraint(fixed, rule=lambda m, n: m.share[n] == level[n] if round.on_face else m.share[n] >= level[n])
    model = pyomo_full(model, instance, round.full, round.implied)
    for variable, closed in zip(variables_of(model, instance), round.closed, strict=True):
        if closed:
            variable.fix(0.0)
    return model
