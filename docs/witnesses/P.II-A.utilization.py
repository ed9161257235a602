"""P.II-A.utilization is refuted. It says (P II-A: 'Pareto optimality results in maximizing system utilization'):

    A Pareto optimal allocation of one server has the largest sum of used parts of its capacities.

Assumed: one server, one variant, same demands, everywhere, unlimited, at least 2 users. Shown about the numbers
below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 0]])
capacities = exact([[1, 1]])
points = exact([[["1/2"], ["1/2"]]])
better = exact([1, 0])


def unused_by_pareto_optimality(demands, capacities, points, better):
    """Everybody demands a full resource, so nobody can gain while nobody loses; another allocation uses no resource less."""
    assert len(capacities) == 1
    resources = range(len(capacities[0]))
    x = [row[0] for row in points[0]]
    used = [sum(v * d[r] for v, d in zip(x, demands)) / capacities[0][r] for r in resources]
    more = [sum(v * d[r] for v, d in zip(better, demands)) / capacities[0][r] for r in resources]
    assert min(x) >= 0
    assert min(better) >= 0
    assert max(used) <= 1
    assert max(more) <= 1
    assert all(any(used[r] == 1 and d[r] for r in resources) for d in demands)
    assert all(b >= a for a, b in zip(used, more))
    assert sum(more) > sum(used)
    return {"used": sum(used), "more": sum(more)}


found = unused_by_pareto_optimality(demands, capacities, points, better)
print(
    "P.II-A.utilization: the used parts of a Pareto optimal allocation add up to {used}, "
    "those of another one to {more}".format(**found)
)
