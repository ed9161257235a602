"""K.3.3.below.envy is confirmed. It says (K 3.3):

    Equilibria may lack envy-freeness for alpha < 1.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 0.5, 0.25, 0.75, 0.1. Shown
for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 0], [1, 0]])
capacity = exact([2, 1])
weights = exact([1, 1, 1])
alpha = exact("1/4")
x = exact([1, "1/2", "1/2"])
bounds = exact([[1, 1], ["1414213/1000000", "707107/500000"], ["1414213/1000000", "707107/500000"]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def vertex_equilibrium(demands, capacity, weights, alpha, x, bounds):
    """One server with two full resources: x > 0 is the equilibrium for g' = z^-alpha. All users but one need resource 1 alone.

    These are alike. With h = z^-alpha / gamma the price of resource 1 is their h_n / d_n1, and that of resource 2 is to pay the
    rest of the other user's h: it exists iff that rest is not negative. Bounds enclose z^-alpha, of which a power is rational.
    """
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in (0, 1)]
    if len(capacity) != 2 or used != capacity or min(x) <= 0:
        return False
    ends = []
    for d, w, v, (low, high) in zip(demands, weights, x, bounds):
        power = (v / (w * alone(d, capacity))) ** -alpha.numerator
        assert low**alpha.denominator <= power <= high**alpha.denominator
        ends.append([low / alone(d, capacity), high / alone(d, capacity)])
    first = next(n for n, d in enumerate(demands) if d[1] == 0)
    others = [n for n, d in enumerate(demands) if d[1] > 0]
    same = [n for n, d in enumerate(demands) if d[1] == 0]
    alike = all(demands[n] == demands[first] and x[n] / weights[n] == x[first] / weights[first] for n in same)
    at_least = [ends[n][0] - ends[first][1] * demands[n][0] / demands[first][0] for n in others]
    return alike and len(others) == 1 and min(at_least) >= 0


def equilibrium_below_1_with_envy(demands, capacity, weights, alpha, x, bounds):
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(demands, capacity, weights, alpha, x, bounds)
    users = range(len(x))
    worth = {
        (n, m): alone(demands[n], [x[m] * q * weights[n] / weights[m] for q in demands[m]])
        for n in users
        for m in users
        if n != m
    }
    n, m = max(worth, key=lambda pair: worth[pair] / x[pair[0]])
    assert worth[n, m] > x[n]
    return {"user": n + 1, "envied": m + 1, "have": x[n], "other": worth[n, m]}


found = equilibrium_below_1_with_envy(demands, capacity, weights, alpha, x, bounds)
print(
    "K.3.3.below.envy: user {user} runs {have} tasks, and {other} with the resources of user "
    "{envied}".format(**found)
)
