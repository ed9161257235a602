"""Section 5.4 along trajectories: by the integrator, and by Newton's method."""

from itertools import pairwise

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.solvers.method import Limits
from fairalloc.solvers.njc.ode import TrajectoryEquations, trajectory
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.barrier import barrier_value, central
from fairalloc.theorems.papers.d.complaints import (
    ZERO,
    MarginAndSentence,
    Route,
    brackets,
    complaint,
    data,
    fractions,
    full,
    users,
)
from fairalloc.theorems.papers.d.trajectory_points import fulfils_12

NEAR = 1e-5
"""What floating point is trusted with in claims about trajectories; the integrator asks for 1e-8 a step."""


SCALES = (1.0, 10.0, 1e3)
"""Values of c at which Newton's method looks for points of the trajectory."""


def exists_by_integration(case: Case) -> Verdict:
    """The integrated x(t) fulfils (11) and (12) (D Lemma 4)."""
    d = data(case)
    way = trajectory(d, 1e-3)
    path = TrajectoryEquations(d, Limits())
    errors = [fulfils_12(d, path, x) for x in way.x[1:]]
    errors += [abs(barrier_value(d, x) - t) / t for t, x in zip(way.t[1:], way.x[1:], strict=True)]
    return _verdict(max(errors) - NEAR * 100, "the integrated trajectory misses (11) or (12)", "integration")


def exists_by_newton(case: Case) -> Verdict:
    """There are points that fulfil (12) for several c, and f grows with c."""
    d = data(case)
    path, points = TrajectoryEquations(d, Limits()), [central(data(case), c) for c in SCALES]
    errors = [fulfils_12(d, path, x) for x in points]
    values = [barrier_value(d, x) for x in points]
    grows = all(a < b for a, b in pairwise(values))
    return _verdict(max(errors) - NEAR if grows else 1.0, "no point fulfils (12)", "Newton's method")


def boundary_by_integration(case: Case) -> Verdict:
    """x(t) comes to the boundary of D: the least spare part is at most m / c (D Lemma 2)."""
    d = data(case)
    x = trajectory(d, 1e-6).x[-1]
    path = TrajectoryEquations(d, Limits())
    spare = path.slack(x)
    return _verdict(float(spare.min()) - (1 + NEAR) * len(spare) / path.scale(x), "x(t) stays inside", "integration")


def boundary_by_newton(case: Case) -> Verdict:
    """The same at points of Newton's method."""
    d = data(case)
    path = TrajectoryEquations(d, Limits())
    gaps = [float(path.slack(x).min()) - (1 + NEAR) * (d.R + len(x)) / c for c in SCALES for x in [central(d, c)]]
    return _verdict(max(gaps), "x(t) stays inside", "Newton's method")


def limit_by_integration(case: Case) -> Verdict:
    """With any weights of the resources the objective at the end of the trajectory is within sum w / c of the market's
    optimum.
    """
    d, w = data(case), weighting(case)
    path = TrajectoryEquations(d, Limits(), w)
    return _loss_bounded(case, d, path, w, trajectory(d, 1e-5, weighting=w).x[-1], "integration")


def limit_by_newton(case: Case) -> Verdict:
    """The same at a point of Newton's method."""
    d, w = data(case), weighting(case)
    return _loss_bounded(case, d, TrajectoryEquations(d, Limits(), w), w, central(d, 1e3, w), "Newton's method")


def _loss_bounded(case: Case, d: Requests, path: TrajectoryEquations, w: Floats, x: Floats, how: str) -> Verdict:
    """The loss sum e log x* - sum e log x <= sum w / c: the optimum is unique, so x(t) tends to it as c grows (njc/ode.py)."""
    best = np.array(fractions(d, solve(case.instance, "njc", "njc-market")), dtype=float)
    lost = float(path.e @ (np.log(best) - np.log(x)))
    return _verdict(
        lost - float(w.sum()) / path.scale(x) - NEAR, f"the objective is {lost:.3g} below that of the market's allocation", how
    )


def weighting(case: Case) -> Floats:
    """1 for all resources but the first, which has the parameter `heavy`."""
    w = np.ones(case.instance.R + case.instance.N)
    w[0] = float(case.parameters.get("heavy", 1))
    return w


def limit_is_fair_by_integration(case: Case) -> Verdict:
    """The end of the trajectory is an NJC allocation up to the accuracy asked for (D Lemma 3; "a controllable error")."""
    asked = float(case.parameters.get("accuracy", 1e-5))
    way = trajectory(data(case), asked)
    if not way.reached:  # a resource that is full without a price: c beyond the reach of doubles
        return Verdict("njc", None, np.nan, f"not decided: {way.message}", "integration")
    return _verdict(way.complaint - 2 * asked, way.message, "integration")


def limit_is_fair_by_newton(case: Case) -> Verdict:
    """The point next to which the trajectory comes, the market's, is an NJC allocation; decided in rationals."""
    d = data(case)
    x = fractions(d, solve(case.instance, "njc", "njc-market"))
    near = float(np.abs(central(d, 1e3) - np.array(x, dtype=float)).max())
    gap = complaint(d, x)
    return _verdict(
        float(gap), f"x = {brackets(x)}, which is {near:.1e} from the trajectory, has a complaint", "rational arithmetic"
    )


def _verdict(margin: float, words: str, how: str) -> Verdict:
    """The verdict of a margin in floating point."""
    if not margin <= 0:
        return Verdict("njc", False, margin, words, how)
    return Verdict("njc", True, margin, "not " + words, how)


def vanishing_numerators(case: Case, route: Route) -> MarginAndSentence:
    """At the limit x_i r_ij = e_i for every bottleneck j, as the proof of D Lemma 3 says."""
    d = data(case)
    found = route(d)
    if len(found) > 1:
        raise NotApplicable("the claim is tried where the only NJC allocation must be the limit")
    x = found[0]
    gaps = [(abs(v * part.get(j, ZERO) - e), i, j) for j in full(d, x) for i, (v, part, e) in enumerate(users(d, x))]
    if not gaps:
        raise NotApplicable("there is no bottleneck")
    gap, i, j = max(gaps)
    return (
        gap,
        f"the limit is x = {brackets(x)}, and the numerator for user {i + 1} and its full resource {j + 1} tends to {gap}, not 0",
    )
