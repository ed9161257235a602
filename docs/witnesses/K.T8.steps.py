"""K.T8.steps is refuted. It says (K Theorem 8 and its proof):

    With steps that satisfy (51)-(53), PS-MFA ends at a stationary point of Psi, or |v| tends to 0.

Assumed: steps that satisfy (51)-(53); only prices of full resources move, as (40) asks. Shown about the numbers
below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


alpha = 2
start = exact("1/2")
first = exact("1/2")
shrink = exact("1/2")


def whole_root(square):
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def steps_that_become_small(alpha, start, first, shrink):
    """One user alone on a server of capacity 1, d = 1, lambda = 0, from x = start; f = -x^-alpha, rho = sqrt(x^2 + f^2).

    v = psi (1 - x / rho) + psi (1 - f / rho) alpha x^(-alpha - 1) with psi = rho - x - f (K 93). Let start <= x < 1: as x < rho
    and f < 0, psi is between -f >= 1 and -2 f, 1 - x / rho between 0 and 1, 1 - f / rho between 1 and 2: alpha <= v <= M. Steps
    first (end - start) / M shrink^h keep x below end = (1 + start) / 2, where nothing is full; each lowers Psi, as dPsi/dx = -v.
    The sums below follow x with v enclosed by rho's bounds of 10^-30: Psi = psi^2 / 2 falls in each iteration.
    """
    assert 0 < start < 1
    assert 0 < shrink < 1
    assert first / (1 - shrink) <= 1
    end, M = (1 + start) / 2, 2 * start**-alpha * (1 + 2 * alpha * start ** (-alpha - 1))
    x, step, before = start, first * (end - start) / M, None
    for _ in range(24):
        f, digits = -(x**-alpha), 10**30
        low = F(whole_root((x * x + f * f).numerator * digits**2 // (x * x + f * f).denominator), digits)
        rho, high = low, low + F(1, digits)
        assert rho * rho <= x * x + f * f <= high * high
        assert x < rho
        v_low = (rho - x - f) * (1 - x / rho) + (rho - x - f) * (1 - f / high) * alpha * x ** (-alpha - 1)
        v_high = (high - x - f) * (1 - x / high) + (high - x - f) * (1 - f / rho) * alpha * x ** (-alpha - 1)
        assert alpha <= v_low
        assert v_high <= M
        assert before is None or (high - x - f) < before
        before = rho - x - f
        x = F(int((x + step * v_low) * 10**20), 10**20)  # a little less than the step: as good a step of this kind
        step *= shrink
        assert x < end
    return {"most": end - start, "end": end, "least": alpha}


found = steps_that_become_small(alpha, start, first, shrink)
print(
    "K.T8.steps: all steps together are at most {most}, so x stays below {end}, and |v| is at"
    " least {least} in every iteration".format(**found)
)
