"""K.E107 is refuted. It says (K Theorem 7, proof):

    At a solution with one priced resource at each server and B_i > 0, the matrix [D, V] of (107) has column rank N +
    S.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 2, 3, A in 1, 2, B in 1,
0.5. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1], [1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
alpha = 2
A = 1
B = 1
points = exact([[["1/2", "1/2"], ["1/2", "1/2"]]])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def kernel_of_107(problem, alpha, A, B, points):
    """Everybody is served everywhere, all pay alike, and dx = 1 for all users with dlambda = -omega / d for all servers."""
    (tasks,), (demands, capacities, _, weights), rates = points, problem, []
    for i, capacity in enumerate(capacities):
        assert sum(row[i] * d[0] for row, d in zip(tasks, demands)) == capacity[0]
        for d, row, phi in zip(demands, tasks, weights):
            assert row[i] > 0
            x, gamma = sum(row), alone(d, capacity)
            h = (A * phi * gamma / x) ** alpha / gamma + B * phi / x
            omega = alpha * h / x + B * (1 - alpha) / x**2  # (106)
            rates.append((h / d[0], omega / d[0]))
    assert len(set(rates)) == 1
    assert len(rates) >= len(demands) + len(capacities)
    change = [-rates[0][1]] * len(capacities) + [F(1)] * len(demands)
    return {"change": listed(change), "columns": len(change)}


found = kernel_of_107(problem, alpha, A, B, points)
print(
    "K.E107: the change {change} of lambda and x solves (105), so [D, V] times it is 0: its "
    "{columns} columns are dependent".format(**found)
)
