r"""Whether a method ends at an answer: by its residual, and in rationals by what each server could still gain alone.

    (16)           sum_n (y_ni - x_ni) / gamma_ni g_i'(z_ni) <= 0  for all y_i that fit,         z_ni = x_n / (phi_n gamma_ni)
    (22)           g_i'(z) = (A_i / z)^alpha_i + B_i / z                                                        (K 3.1 and 3.4)

What fits server i is a polytope, so (16) holds iff it holds at each of its vertices. They are rational (`vertices`), and so for
whole alpha is everything in (16); for other alpha g' is enclosed in balls. No prices are used.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.game_certificate import ExactServer
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs, point_as_fraction
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.solvers.options import ACCURACY
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import fitted, of_servers
from fairalloc.theorems.checkers.trials import Routes, not_decided

ZERO = Fraction(0)


# ---- rational tasks, and what a server can do with them ------------------------------------------------------------------


def rational(instance: Instance, x: Any) -> Rationals:
    """(A,) the doubles as rationals, each server shrunk until it fits."""
    arcs, server = exact_arcs(instance), instance.arcs.server.tolist()
    exact = [max(ZERO, Fraction(v)) for v in np.asarray(x, dtype=float).tolist()]
    loads = arcs.loads(exact)
    over = [max([Fraction(1), *loads[i * instance.R : (i + 1) * instance.R]]) for i in range(instance.K)]
    return tuple(v / over[i] for v, i in zip(exact, server, strict=True))


def vertices(instance: Instance, here: Sequence[int]) -> list[Rationals]:
    """The vertices of what fits one server: tasks on its arcs `here`."""
    load = [dict(exact_arcs(instance).load[a]) for a in here]
    used = sorted({row for part in load for row in part})
    rows = [({k: part[row] for k, part in enumerate(load) if row in part}, Fraction(1)) for row in used]
    return polytope_vertices([ZERO] * len(here), [1 / max(part.values()) for part in load], [], rows)


def arcs_of_servers(instance: Instance) -> list[list[int]]:
    """The arcs of each server that has some."""
    server = instance.arcs.server
    return [np.flatnonzero(server == i).tolist() for i in range(instance.K) if (server == i).any()]


def gain_left(instance: Instance, x: Rationals, parameters: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    """Bounds on the largest relative gain that (16) leaves to a server at tasks x (A,), all users served.

    Where alpha = infinity, the gap of P Theorem 1 (formulations/game/residual.py), which is rational.
    """
    arcs = exact_arcs(instance)
    tasks, units = arcs.tasks(x), unit(instance, arcs)
    z = [tasks[n] / one for n, one in zip(arcs.user, units, strict=True)]
    low = high = ZERO
    each = [of_servers(parameters, name, instance.K) for name in ("alpha", "A", "B")]
    for here in arcs_of_servers(instance):
        i = int(instance.arcs.server[here[0]])
        alpha, A, B = (values[i] for values in each)
        if alpha == np.inf:
            gap = ExactServer.of(arcs, instance, i, here, x, [z[a] for a in here]).bottleneck_gap()
            low, high = max(low, gap), max(high, gap)
            continue
        worth = [_marginal(z[a], max(p for _, p in arcs.load[a]), alpha, A, B) for a in here]
        corner = vertices(instance, here)
        best = [max(_worth(y, [w[end] for w in worth]) for y in corner) for end in (0, 1)]
        now = [_worth([x[a] for a in here], [w[end] for w in worth]) for end in (0, 1)]
        low, high = max(low, 1 - now[1] / best[0]), max(high, 1 - now[0] / best[1])
    return low, high


def _worth(y: Sequence[Fraction], worth: Sequence[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(y, worth, strict=True)), ZERO)


def _marginal(z: Fraction, part: Fraction, alpha: float, A: float, B: float) -> tuple[Fraction, Fraction]:
    """Rationals around g'(z) / gamma, equal for whole alpha; alpha, A and B as the decimals that were asked for."""
    if alpha.is_integer():
        value = part * ((Fraction(str(A)) / z) ** int(alpha) + Fraction(str(B)) / z)
        return value, value
    from flint import ctx

    with ctx.workprec(256):
        ball = as_ball(Fraction(str(B)) / z)
        if A:
            ball += (as_ball(Fraction(str(A)) / z).log() * as_ball(Fraction(str(alpha)))).exp()
        ball *= as_ball(part)
        return point_as_fraction(ball.lower()), point_as_fraction(ball.upper())


def converges(name: str, method: str, accuracy: str = "low") -> Routes:
    """The method ends at an answer; a run that reaches a limit decides nothing against it.

    Tried: its residual is at most the accuracy. Confirmed: another run, and the gain that (16), or P Theorem 1 for ps-dsf,
    leaves at its end, in rationals: a lower bound above the accuracy is a violation, an upper bound below it shows that none is.
    """
    allowed = ACCURACY[accuracy]

    def run(case: Case) -> tuple[Allocation, bool, dict[str, Any]]:
        """The answer, whether a limit was reached, and the parameters."""
        own = fitted(case.parameters, case.instance)
        found = solve(case.instance, name, method, accuracy, time_limit=2.0, **own)
        return found, found.termination in ("iteration_limit", "time_limit"), own

    def trial(case: Case) -> Verdict:
        found, cut, _ = run(case)
        margin = found.residual - allowed
        sentence = f"{method} ended {found.termination} with the residual {found.residual:.1e}"
        return Verdict("convergence", None if cut and margin > 0 else margin <= 0, margin, sentence, "a run")

    def confirm(case: Case) -> Verdict:
        found, cut, own = run(case)
        x = rational(case.instance, found.x) if found.has_point else None
        if x is None or not all(exact_arcs(case.instance).tasks(x)):
            return not_decided("a user has nothing", "a run", "convergence")
        low, high = gain_left(case.instance, x, {"alpha": "inf"} if name == "ps-dsf" else own)
        exact = Fraction(str(allowed))
        holds = True if high <= exact else False if low > exact and not cut else None
        sentence = f"{method} ended {found.termination} where a server can still gain {float(high):.1e}"
        return Verdict("convergence", holds, float(high - exact), sentence, "vertices in rationals")

    return Routes(trial, confirm)
