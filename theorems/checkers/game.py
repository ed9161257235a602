r"""Judges for the claims of K and P about the game: equilibria for some alpha, PS-DSF, the merit of Problem 3, and algorithms.

PS-DSF allocations and equilibria for alpha != 1 need not be unique. A mechanism has a property if every one of them does: on
instances whose answers can be listed all of them are judged (answers.py), on others the one that the method gives, and one that
violates the property refutes it. Misreports are there, too.

Whether a method ends at an answer is seen by its residual, and in rationals by what each server could still gain alone:

    (16)           sum_n (y_ni - x_ni) / gamma_ni g_i'(z_ni) <= 0  for all y_i that fit,         z_ni = x_n / (phi_n gamma_ni)
    (22)           g_i'(z) = (A_i / z)^alpha_i + B_i / z                                                        (K 3.1 and 3.4)

What fits server i is a polytope, so (16) holds iff it holds at each of its vertices. They are rational (`vertices`), and so for
whole alpha is everything in (16); for other alpha g' is enclosed in balls. No prices are used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from operator import truediv
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certify
from fairalloc.analysis.certificates.game_certificate import ExactServer
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import FOR_ALL, Verdict, for_the_answer_of, undecided
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs, point_as_fraction
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.solvers.options import ACCURACY
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.answers import gaining_for_every_choice, has_one, over_answers
from fairalloc.theorems.checkers.trials import (
    Answer,
    Judge,
    Routes,
    Undecided,
    answered,
    attempted,
    certified,
    confirmed_at_once,
    decided,
    exact_verdict,
    holdings_of,
    maximum_worth,
    only_where,
    proof_of,
    proved_by,
    rational_allocation,
    verdict_of,
    width,
)
from fairalloc.theorems.standalone.merit import dot

ALGORITHM = "psdsf-algorithm-1"


# ---- equilibria for given parameters ----------------------------------------------------------------------------------


def about_equilibria(judge: Judge, name: str = "") -> Routes:
    """How a statement about alpha-pf-vds is tried and confirmed; a parameter that is a tuple has one entry for each server."""
    judge = over_answers(judge, name)
    proof = proved_by(judge, lambda case, widths: partial(proved_equilibrium, parameters=case.parameters, widths=widths))
    return Routes(_at_equilibria(judge), proof)


def _at_equilibria(judge: Judge) -> Callable[[Case], Verdict]:
    """The judgement in floating point."""
    return lambda case: decided(judge, case, partial(solved, parameters=case.parameters), "floating point")


def fitted(parameters: Mapping[str, Any], instance: Instance) -> dict[str, Any]:
    """The parameters of alpha-pf-vds; of a tuple the first K entries."""
    own = {name: value for name, value in parameters.items() if name in ("alpha", "A", "B")}
    return {name: list(value[: instance.K]) if isinstance(value, tuple) else value for name, value in own.items()}


def solved(instance: Instance, parameters: Mapping[str, Any], accuracy: str = "mid") -> Allocation:
    """The equilibrium that the fastest method finds; Undecided where its residual is too large."""
    allocation = solve(instance, "alpha-pf-vds", accuracy=accuracy, **fitted(parameters, instance))
    if not allocation.residual <= TOLERANCE:
        raise Undecided(f"the residual of the equilibrium is {allocation.residual:.1e}")
    return allocation


def proved_equilibrium(instance: Instance, parameters: Mapping[str, Any], widths: list[float]) -> Allocation:
    """Rational tasks with a certificate; how far those of an equilibrium may be is added to `widths`."""
    near = solved(instance, parameters, "high")
    certificate = proof_of(certify(near))
    widths.append(width(certificate, instance))
    x = np.array([float(v) for v in certificate.x])
    return replace(near, x=x, x_exact=certificate.x, prices=None)


def proportional(case: Case, answer: Answer) -> Verdict:
    """No feasible y has sum_n phi_n (y_n - x_n) / x_n > 0 (K 62): one linear program."""
    h = holdings_of(answer(case.reported))
    total = h.weights.sum()
    best = maximum_worth(h, h.weights / h.tasks, h.zeros(h.instance.N))
    gain = (best - total) / total
    words = f"relative changes of another allocation add up to {float(gain):.3g} sum phi"
    return verdict_of(h, "proportional fairness", gain, words)


def same_as_fds(case: Case, answer: Answer) -> Verdict:
    """With one server, the equilibrium is alpha-fair by dominant shares: fds, another program and other solvers."""
    h = holdings_of(answer(case.reported))
    other = solve(h.instance, "fds", alpha=case.parameters["alpha"])
    if not other.residual <= TOLERANCE:
        raise Undecided(f"the residual of the fds allocation is {other.residual:.1e}")
    off = max(abs(float(a) - b) / b for a, b in zip(h.tasks, other.tasks, strict=True))
    return verdict_of(h, "reduction", max(0.0, off - 1e-3), f"tasks differ by {off:.1e}, relative")


def limit_rate(case: Case, answer: Answer) -> Verdict:
    """The gap of PS-DSF (P Theorem 1) is at most log(R (1 + B / A) / least w_nir > 0) / alpha_i, from 10 on: K.T2.limit."""
    h = holdings_of(answer(case.reported))
    alphas, A, B = (of_servers(case.parameters, name, h.instance.K) for name in ("alpha", "A", "B"))
    if "A" in case.parameters and any(A[i] < float(z) for i, z in zip(h.instance.arcs.server, shares(h), strict=True)):
        raise NotApplicable("a share is larger than A (K Corollary 3)")
    large = [(i, alphas[i]) for i in range(h.instance.K) if alphas[i] >= 10]
    only_where(large, "no server has a large alpha")
    game = Game(h.instance, np.inf)
    rate = np.log(h.instance.R * (1 + max(map(truediv, B, A))) / float(game.w[game.w > 0].min()))
    over, i = max((_gap(h, i) - rate / alpha, i) for i, alpha in large)
    server = h.instance.servers[i]
    return verdict_of(h, "limit", over, f"at server {server!r} the gap of PS-DSF is {over:.3g} above the rate's bound")


def of_servers(parameters: Mapping[str, Any], name: str, count: int) -> list[float]:
    """Alpha, A or B at each of so many servers."""
    value = parameters.get(name, {"alpha": 2, "A": 1, "B": 0}[name])
    return [*map(float, value[:count] if isinstance(value, tuple | list) else [value] * count)]


def shares(h: Holdings) -> Any:
    """(A,) weighted virtual dominant shares."""
    user = h.instance.arcs.user
    return h.tasks[user] / (h.weights[user] * h.gamma)


def _gap(h: Holdings, i: int) -> float:
    instance = h.instance
    if not h.exact:
        return bottleneck_gap(Game(instance, np.inf), h.allocation.x, i)
    arcs, here = exact_arcs(instance), np.flatnonzero(instance.arcs.server == i).tolist()
    units = unit(instance, arcs)
    z = [h.tasks[arcs.user[a]] / units[a] for a in here]
    return float(ExactServer.of(arcs, instance, i, here, list(h.x), z).bottleneck_gap()) if here else 0.0


def same_as_ps_dsf(domain: Callable[[Instance], Instance] = lambda instance: instance) -> Routes:
    """Problem 1 and PS-DSF have the same solutions: both ways, on the instance or on another one made of it (K Theorems 4, 5).

    Tried: the residual of each one's answer in the other's definition. Confirmed: the optimality conditions of Problem 1 at the
    exact PS-DSF allocation with the price g'(largest share that is served), in rationals for whole alpha.
    """

    def residuals(case: Case, answer: Answer) -> Verdict:
        instance = domain(case.instance)
        ours, fair = answer(instance), answered("ps-dsf", None, (), instance)
        there = max(bottleneck_gap(Game(instance, np.inf), ours.x, i) for i in range(instance.K))
        back = Game(instance, case.parameters["alpha"]).residual(fair.x)
        margin = max(there, back) - 10 * TOLERANCE
        sentence = f"the gap of PS-DSF at the equilibrium is {there:.1e}, the residual of the game at PS-DSF {back:.1e}"
        return exact_verdict("coincidence", margin, sentence, "residuals in floating point")

    def confirm(case: Case) -> Verdict:
        instance, alpha = domain(case.instance), case.parameters["alpha"]
        h = certified(instance, "ps-dsf")
        worst = max(_kkt(h, i, int(alpha)) for i in set(instance.arcs.server.tolist()))
        sentence = f"with the price of the largest served share somebody is off by {float(worst):.3g}, relative"
        return exact_verdict("coincidence", worst, sentence, "optimality conditions in rationals")

    return Routes(_at_equilibria(residuals), confirm)


def _kkt(h: Holdings, i: int, alpha: int) -> Any:
    """How far server i is from g'(z_n) <= mu for all and = mu for those served, and from being full, with one price mu."""
    here = np.flatnonzero(h.instance.arcs.server == i)
    z, x = shares(h)[here], h.x[here]
    mu = max(1 / z[k] ** alpha for k in range(len(here)) if x[k])
    unserved = [1 - mu * z[k] ** alpha for k in range(len(here))]
    served = [mu * z[k] ** alpha - 1 for k in range(len(here)) if x[k]]
    return max([*unserved, *served, 1 - sum(x / h.gamma[here])])


def about_ps_dsf(judge: Judge, name: str = "") -> Routes:
    """How a statement about ps-dsf is tried and confirmed: at the allocation that P's own Algorithm I reaches, made exact.

    A property of the mechanism is one of every PS-DSF allocation: on small instances all of them are judged (answers.py).
    Algorithm I starts from DRF on each server and so ends at other ones than methods that come from finite alpha do, and it is
    fast.
    """
    judge = over_answers(judge, name, ALGORITHM)

    def answer(instance: Instance) -> Allocation:
        x = proof_of(certify(solve(instance, "ps-dsf", ALGORITHM))).x
        return rational_allocation(instance, x, "ps-dsf", "certificate")

    return confirmed_at_once(attempted("ps-dsf", judge, ALGORITHM), lambda case: decided(judge, case, answer, "certificate"))


def about_several(mechanism: str, judge: Judge, name: str) -> Routes | None:
    """How a statement about a registered mechanism of the game is tried and confirmed over its answers; None for another one."""
    if mechanism == "ps-dsf":
        return about_ps_dsf(gaining_for_every_choice if name == "strategyproofness" else judge, name)
    return about_equilibria(judge, name) if mechanism == "alpha-pf-vds" else None


def least_served(case: Case, answer: Answer) -> Verdict:
    """A user with tasks on a server has the least share of all who are eligible there (K 6.2, before (58))."""
    h = holdings_of(answer(case.reported))
    z, server = shares(h), h.instance.arcs.server
    gaps = [min(h.x[a] / h.gamma[a], 1 - min(z[server == server[a]]) / z[a]) for a in range(len(z))]
    worst = max(gaps)
    words = f"somebody has {float(worst):.3g} of a server on which another has a smaller share"
    return verdict_of(h, "least share", worst, words)


def utilisation(h: Holdings) -> Any:
    """Mean used part of the capacities of all servers."""
    some = h.pools > 0
    return sum(h.used[some] / h.pools[some]) / int(some.sum())


def not_rising_in_alpha(measure: Callable[[Holdings], Any], alphas: Sequence[Any] = (1, 3, "inf")) -> Routes:

    def judge(_: Case, answer: Callable[[Any], Allocation]) -> Verdict:
        found = [holdings_of(answer(alpha)) for alpha in alphas]
        values = [measure(h) for h in found]
        rise = max(later - earlier for earlier, later in pairwise(values))
        sentence = ", ".join(f"{float(v):.6g} at alpha = {alpha}" for v, alpha in zip(values, alphas, strict=True))
        method = "certificates" if found[0].exact else "floating point"
        known = FOR_ALL if all(has_one(h.allocation) for h in found) else for_the_answer_of(found[0].allocation.method)
        return Verdict("order", not rise > TOLERANCE, float(rise), sentence, method, answers=known)

    def trial(case: Case) -> Verdict:
        return decided(judge, case, lambda alpha: solved(case.instance, {"alpha": alpha}), "floating point")

    proof = proved_by(judge, lambda case, widths: lambda alpha: proved_equilibrium(case.instance, {"alpha": alpha}, widths))
    return Routes(trial, proof)


def missing(what: str) -> Callable[[Case], Verdict]:
    """The check of a claim that rests on data that are not published: it decides nothing."""
    return lambda _: undecided(what, "not examined", "experiment")


# ---- whether a method ends at an answer ------------------------------------------------------------------------------


ZERO = Fraction(0)


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
        best = [max(dot(y, [w[end] for w in worth]) for y in corner) for end in (0, 1)]
        now = [dot([x[a] for a in here], [w[end] for w in worth]) for end in (0, 1)]
        low, high = max(low, 1 - now[1] / best[0]), max(high, 1 - now[0] / best[1])
    return low, high


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
            return undecided("a user has nothing", "a run", "convergence")
        low, high = gain_left(case.instance, x, {"alpha": "inf"} if name == "ps-dsf" else own)
        exact = Fraction(str(allowed))
        holds = True if high <= exact else False if low > exact and not cut else None
        sentence = f"{method} ended {found.termination} where a server can still gain {float(high):.1e}"
        return Verdict("convergence", holds, float(high - exact), sentence, "vertices in rationals")

    return Routes(trial, confirm)
