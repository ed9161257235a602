"""What the elimination of users leaves for the prices, in rationals."""

from fractions import Fraction

import numpy as np


def remaining(theta, ends, s, loads):
    """P + S - B (D + E)^-1 B^T of the rows of some loads."""
    exact = [[Fraction(float(v)) for v in row] for row in loads.transposed.toarray()]
    rows = range(loads.transposed.shape[1])
    weight = [Fraction(float(t)) for t in theta]
    result = [[Fraction(float(s[r])) if r == q else Fraction(0) for q in rows] for r in rows]
    for n in range(loads.N):
        arcs = np.flatnonzero(loads.user == n)
        shaft = sum((weight[a] for a in arcs), Fraction(float(ends[n])))
        pushed = [sum(weight[a] * exact[a][r] for a in arcs) for r in rows]
        for r in rows:
            for q in rows:
                result[r][q] += sum(weight[a] * exact[a][r] * exact[a][q] for a in arcs) - pushed[r] * pushed[q] / shaft
    return np.array([[float(v) for v in row] for row in result])
