"""K.E104 is refuted. It says (K (104), and alike (103) and (106)):

    Where a user is served and one resource has a price, d lambda is (104).

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 2, 3, 1, A in 1, 2, B in 1,
0.5, 0. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[2]])
eligible = [[1], [1]]
weights = exact([1, 2])
problem = (demands, capacities, eligible, weights)
alpha = 3
A = 1
B = 1
points = exact([[[1], [1]]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def formula_104(problem, alpha, A, B, points):
    """g'(z) / gamma with g'(z) = (A / z)^alpha + B / z (22), against the right side that is printed."""
    for n, row in enumerate(points[0]):
        gamma, x, phi = alone(problem[0][n], problem[1][0]), sum(row), problem[3][n]
        z = x / (phi * gamma)
        needed = ((A / z) ** alpha + B / z) / gamma
        printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
        if needed != printed:
            return {"user": n + 1, "needed": needed, "printed": printed}
    raise AssertionError("(104) is right here")


found = formula_104(problem, alpha, A, B, points)
print(
    "K.E104: where user {user} is served and one resource has a price, a task costs {needed},"
    " and {printed} by (104)".format(**found)
)
