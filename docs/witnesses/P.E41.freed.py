"""P.E41.freed is refuted. It says (P after (41), the induction in the proof of Theorem 2):

    PS-DSF of all resources gives nobody fewer tasks than PS-DSF of the rest does while one user keeps its part.

Assumed: demands, capacities and weights below; user 3 is n_0, and keeps a third of the server. Shown for every answer
of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[2, 1], [1, 2], [1, 1]])
capacities = exact([[1, 1]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def tasks_without_reservation(problem):
    """On one server nobody can exchange. With positive demands all use each full resource, so PS-DSF gives all the same share."""
    demands, (pool,), _, weights = problem
    assert weights == [1, 1, 1]
    assert all(all(d) for d in demands)
    gamma = [alone(d, pool) for d in demands]
    loads = [[d[r] * g for d, g in zip(demands, gamma)] for r in range(len(pool))]
    of_rest = min(F(2, 3) * c / sum(load[:2]) for c, load in zip(pool, loads))  # user 3 keeps the other third
    of_all = min(c / sum(load) for c, load in zip(pool, loads))
    assert of_all < of_rest
    return {"before": of_rest * gamma[0], "after": of_all * gamma[0]}


found = tasks_without_reservation(problem)
print(
    "P.E41.freed: user 1 runs {before} tasks while user 3 keeps a third of the server, and "
    "{after} by PS-DSF of all".format(**found)
)
