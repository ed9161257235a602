r"""`njc-ode`: the trajectory of D 5.4 from the origin to the boundary, by SciPy's integrator, then the exact answer at its end.

1. Start at x = 0.
2. Integrate x'(t) with the Runge-Kutta method DOP853 until the residual of the definition is at most what was asked for, or some
   slack is FLOOR.
3. Read the prices p_j = 1 / (c s_j) and the bottlenecks {j: p_j > s_j}.
4. Compute the exact NJC allocation with these bottlenecks nearest to the end of the trajectory (pieces.py).

With a dummy resource for each user (r_i,m'+i = 1, D 5), m resources in all and the slacks s_j = 1 - sum_k x_k r_kj,

    f(x) = - sum_j log s_j                                                                                          (D 5)
    f(x(t)) = t,     sum_j x_i r_ij / s_j = c(t) e_i   for every user i                                        (D 11, 12)

so summed over i: c = sum_j (1 - s_j) / s_j. The derivatives in t, with b_ij = r_ij / s_j, are

    sum_j sum_k x'_k r_kj / s_j = 1,      sum_j b_ij x'_i + x_i sum_j sum_k b_ij b_kj x'_k = c' e_i  for every i        (D 13)

The second is solved for c' = 1 and the result scaled to fulfil the first. docs/reference/derivations.md says what D prints
otherwise, why the matrix is regular, and that the trajectory ends at the market's allocation of njc.py (c).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, largest_complaint
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Session
from fairalloc.solvers.njc.eisenberg_gale import ExactNjcMethod

FLOOR = 1e-11
"""The least slack that is worth computing with: it is a difference of numbers of order one."""

RTOL = 1e-8
"""The relative tolerance of a step of the integrator."""


@dataclass(frozen=True)
class NjcTrajectory:
    """The values t (T,) of f, x (T, N), the residual at the end and whether it is what was asked for, calls, and why."""

    t: Floats
    x: Floats
    complaint: float
    reached: bool
    evaluations: int
    message: str


class TrajectoryEquations:
    """The right-hand side and the events."""

    def __init__(self, d: Requests, limits: Limits, weighting: Floats | None = None) -> None:
        self.r, self.e, self.limits = d.matrix(), np.array(d.entitlement, float), limits
        self.w = np.ones(d.R + len(self.e)) if weighting is None else weighting

    def slack(self, x: Floats) -> Floats:
        """(m,) s_j, those of the dummies last."""
        return np.concatenate([1.0 - x @ self.r, 1.0 - x])

    def velocity(self, _: float, x: Floats) -> Floats:
        """(N,) dx/dt."""
        _ = self.limits.left
        s = np.maximum(self.slack(x), FLOOR * 1e-3)  # a trial step of the integrator may leave the domain
        rate, count = self.w / s, self.r.shape[1]
        b, dummy = self.r * rate[:count], rate[count:]
        matrix = x[:, None] * (b @ (self.r / s[:count]).T)
        matrix.flat[:: len(x) + 1] += b.sum(axis=1) + dummy + x * dummy / s[count:]
        step = np.linalg.solve(matrix, self.e)
        return np.asarray(step / ((b.sum(axis=1) + dummy) @ step))

    def complaint(self, x: Floats) -> float:
        """The residual of njc.py at a feasible x."""
        return largest_complaint((x[:, None] * self.r).T, 1.0 - x, self.e, self.slack(x)[: self.r.shape[1]])

    def scale(self, x: Floats) -> float:
        """The factor c of (D 12)."""
        s = self.slack(x)
        return float((self.w * (1.0 - s) / s).sum())

    def prices(self, x: Floats) -> Floats:
        """(m',) w_j / (c s_j)."""
        return (self.w / self.slack(x) / self.scale(x))[: self.r.shape[1]]


def trajectory(
    d: Requests,
    accuracy: float = 1e-6,
    limits: Limits | None = None,
    weighting: Floats | None = None,
    keep: Callable[[Floats], None] = lambda _: None,
) -> NjcTrajectory:
    """Integrate from the origin until the largest complaint is `accuracy`, or as far as floating point goes; Stopped when late.

    weighting (m' + N,) are the w_j > 0 of the terms of f, those of the dummy resources last; None = 1. `keep` gets each x.
    """
    from scipy.integrate import solve_ivp

    path = TrajectoryEquations(d, limits or Limits(), weighting)

    def fair(_: float, x: Floats) -> float:
        keep(x)
        return path.complaint(x) - accuracy

    def boundary(_: float, x: Floats) -> float:
        return float(path.slack(x).min()) - FLOOR

    fair.terminal = boundary.terminal = True  # type: ignore[attr-defined]
    scale = max(FLOOR / 100, min(1e-8, accuracy / 100))
    given: dict[str, Any] = {"rtol": RTOL, "atol": scale, "events": (fair, boundary), "first_step": 1e-3}
    run = solve_ivp(path.velocity, (0.0, np.inf), np.zeros(len(d.parts)), "DOP853", **given)
    x = run.y[:, -1]
    complaint = path.complaint(x)
    reached = bool(len(run.t_events[0])) and complaint <= 2 * accuracy
    where = f"t = {run.t[-1]:.4g}, c = {path.scale(x):.2g}, largest complaint {complaint:.1e}"
    said = f"the trajectory ends at {where}" + ("" if reached else f"; {accuracy:.1e} was asked for and is out of its reach")
    return NjcTrajectory(run.t, run.y.T, complaint, reached, int(run.nfev), said)


class Ode(ExactNjcMethod):
    """The trajectory, polished; the trace has `t` and `x` of every step."""

    id = "njc-ode"
    packages = ("highspy", "flint")

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:  # noqa: ARG002
        """The end of the trajectory, and the exact answer next to it."""
        path = TrajectoryEquations(d, session.limits)
        with session.phase("solve"):
            way = trajectory(d, session.limits.promised, session.limits, keep=lambda x: setattr(session, "x", x))  # 1, 2
        session.x, session.iterations = way.x[-1], way.evaluations
        session.message = "" if way.reached else way.message
        for t, x in zip(way.t, way.x, strict=True):
            session.note(t=float(t), x=tuple(x.tolist()))
        return self.near(d, session, session.x, path.prices(session.x))  # 3, 4


methods = (Ode(),)
