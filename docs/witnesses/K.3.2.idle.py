"""K.3.2.idle is confirmed. It says (K 3.2):

    At a solution of Problem 1 not all capacity constraints need be active.

Assumed: alpha >= 1, and x_2 >= gamma_2 / 2, which is (41) for two users of equal weight. Shown about the numbers
below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 2]])
capacities = exact([[1, 1]])
weights = exact([1, 1])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def idle_at_an_equilibrium(demands, capacities, weights):
    """User 1 demands as much of both resources, user 2 twice as much of the second, of which there is 1: x_1 + 2 x_2 <= 1."""
    assert demands == [[1, 1], [1, 2]]
    assert capacities == [[1, 1]]
    assert weights == [1, 1]
    least = alone(demands[1], capacities[0]) / 2
    used = 1 - least
    assert used < 1
    return {"least": least, "used": used}


found = idle_at_an_equilibrium(demands, capacities, weights)
print("K.3.2.idle: user 2 runs at least {least} by (41), so at most {used} of resource 1 is used".format(**found))
