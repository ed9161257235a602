"""Z.C2 is refuted. It says (Z Claim 2):

    For pivots i of Y and j of Y', <Y'> is larger than <Y> if and only if u_j(Y'_j) > u_i(Y_i).

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown about the numbers below; no
mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1]], [[1]]])
capacity = exact([1])
points = exact([[[0], ["1/2"]], [[1], [0]]])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def pivots_of_two_allocations(variants, capacity, points):
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2)."""
    assert all(packed(variants, capacity, point) for point in points)
    assert all(len(vectors) == 1 for vectors in variants)
    u, v = ([sum(row) for row in point] for point in points)
    changed = [n for n, (a, b) in enumerate(zip(u, v)) if a != b]
    i, j = min(u[n] for n in changed), min(v[n] for n in changed)
    assert (sorted(v) > sorted(u)) != (j > i)
    first, second, before, after = map(listed, (u, v, sorted(u), sorted(v)))
    return {"first": first, "second": second, "i": i, "j": j, "larger": sorted(v) > sorted(u), "before": before, "after": after}


found = pivots_of_two_allocations(variants, capacity, points)
print(
    "Z.C2: the utilities are {first} in Y and {second} in Y': the pivots have {i} and {j}, "
    "and <Y'> is larger is {larger}".format(**found)
)
