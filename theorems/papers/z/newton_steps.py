r"""Z Proposition 2 and what "computationally efficient" can mean here: NB by a barrier method that counts its Newton steps.

    max  t sum_n w_n log u_n + sum_a log y_a + sum_r log s_r,   u_n = sum of gamma_a y_a over its arcs,   s = 1 - load(y)

for t = 1, FACTOR, FACTOR^2, ...: the path of centres, on which prices 1 / (t s_r) leave a gap of (number of barriers) / t. Theory
bounds the steps by O(sqrt(barriers) log(1 / accuracy)). The gap at the end is computed again in rationals (nb_gap), so that the
answer whose steps are counted is proved. No code of a solver is used.

1. Start at y = 1 / (2 A), t = 1.
2. Gradient and Newton's step by a QR factorisation, in parts of y (`_derivatives`).
3. End where the gap is small enough and Newton's decrement is at most CENTRE.
4. Where the decrement is at most CLOSE, raise t; go on with 2.
5. Otherwise take the step, halved until the function rises enough (`_moved`); go on with 2.
6. Prices 1 / (t s) after one more Newton step in s.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.nash_bargaining import nb_gap
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

FACTOR = 10.0
CLOSE = 0.1
"""Newton's decrement squared at which t is raised: well inside of the region of quadratic convergence."""

CENTRE = 1e-8
"""The same at the end. Prices 1 / (t s) are off by its root, relative; those after the next step, which are taken, by itself."""

MOST = 1000
"""The most Newton steps."""


def centre_path(instance: Instance, accuracy: float) -> tuple[Floats, Floats, int]:
    """Tasks (A,), prices (K R,) in parts of capacity, and how many Newton steps it took to a gap of `accuracy` sum w."""
    arcs, weights = instance.arcs, instance.weights
    own = np.zeros((instance.N, len(arcs)))
    own[arcs.user, np.arange(len(arcs))] = arcs.gamma
    load = arcs.load.toarray() * arcs.gamma
    # 1.
    y, t, steps = np.full(len(arcs), 0.5 / len(arcs)), 1.0, 0
    barriers = load.shape[0] + len(y)
    while steps < MOST:
        # 2.
        slope, root = _derivatives(own, load, weights, t, y)
        step = y * np.linalg.solve(root, np.linalg.solve(root.T, slope))
        decrement, last = float(slope @ (step / y)), barriers * 2.0 / t <= accuracy * weights.sum()
        # 3.
        if last and decrement <= CENTRE:
            break
        # 4.
        if decrement <= CLOSE and not last:
            t *= FACTOR
            continue
        # 5.
        y = _moved(own, load, weights, t, y, step, decrement)
        steps += 1
    # 6.
    s = 1.0 - load @ y
    return y * arcs.gamma, (1.0 + load @ step / s) / (t * s), steps


def _value(own: Floats, load: Floats, weights: Floats, t: float, y: Floats) -> float:
    s = 1.0 - load @ y
    if min(y.min(), s.min()) <= 0:
        return -np.inf
    return float(t * weights @ np.log(own @ y) + np.log(y).sum() + np.log(s).sum())


def _derivatives(own: Floats, load: Floats, weights: Floats, t: float, y: Floats) -> tuple[Floats, Floats]:
    """By log y: the gradient, and R with R^T R the negative of the second derivatives in parts of y, 1 and a part for each log.

    By QR, since R^T R has entries 1 / s^2, next to which the 1 would be lost.
    """
    u, s = own @ y, 1.0 - load @ y
    slope = y * (t * own.T @ (weights / u) + 1.0 / y - load.T @ (1.0 / s))
    parts = np.vstack([np.eye(len(y)), own * y * (np.sqrt(t * weights) / u)[:, None], load * y / s[:, None]])
    return slope, np.asarray(np.linalg.qr(parts, mode="r"))


def _moved(own: Floats, load: Floats, weights: Floats, t: float, y: Floats, step: Floats, decrement: float) -> Floats:
    now, size = _value(own, load, weights, t, y), 1.0
    while _value(own, load, weights, t, y + size * step) < now + 0.1 * size * decrement and size > 1e-12:
        size /= 2.0
    result: Floats = y + size * step
    return result


def proved_gap(instance: Instance, x: Any, prices: Any) -> Fraction:
    """In rationals, what any feasible allocation can have more of sum w log u than the tasks x."""
    arcs = exact_arcs(instance)
    exact = [Fraction(float(v)) for v in x]
    over = max([Fraction(1), *arcs.loads(exact)])
    tasks = arcs.tasks([v / over for v in exact])
    return nb_gap(arcs, instance.exact.weights, tasks, tuple(Fraction(float(p)) for p in prices), (Fraction(0),) * instance.N)
