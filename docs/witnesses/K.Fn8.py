"""K.Fn8 is refuted. It says (K footnote 8):

    (57) is the same as adding the quadratic function of footnote 8 to the objective and relaxing (13).

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
points = exact([[[0], [0]]])
epsilon = exact("1/4")


def penalty_of_footnote_8(problem, points, epsilon):
    """In parts of the capacity: what is added is quadratic, so its derivative is the excess / epsilon^2 times the demand."""
    (tasks,), demands, c = points, problem[0], problem[1][0][0]
    for n, d in enumerate(demands):
        load = sum(row[0] * q[0] for row, q in zip(tasks, demands)) / c
        slope = (load - 1 + epsilon) / epsilon**2 * d[0] / c
        price = max(load - 1 + epsilon, F(0)) / epsilon**2  # (57)
        wanted = -price * d[0] / c  # (55)
        if slope != wanted:
            return {"x": [str(sum(row)) for row in tasks], "user": n + 1, "slope": slope, "wanted": wanted}
    raise AssertionError("(57) is the derivative of what is added")


found = penalty_of_footnote_8(problem, points, epsilon)
print(
    "K.Fn8: at x = {x} the derivative of what is added is {slope} for user {user}, where that"
    " of (55) is {wanted}".format(**found)
)
