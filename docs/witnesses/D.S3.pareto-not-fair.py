"""D.S3.pareto-not-fair is confirmed. It says (D 3):

    Not every Pareto optimal allocation is free of justified complaints.

Assumed: one server, one variant, same demands, at least 2 users. Shown about the numbers below; no mechanism is
asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], [1]])
entitlements = exact(["1/2", "1/2"])
x = exact([1, 0])


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def justified(need, room, entitlement, x, a, *logic):
    """The user of arc a has all of its request, or its entitlement of a full resource (D (2))."""
    all_, any_, _, ge, eq = logic
    full = {j: eq(used(need, x, i, j), c) for (i, j), c in room.items()}
    return any_([eq(x[a], 1), *(all_([full[j], ge(x[a] * need[a].get(j, 0), entitlement[a[0]])]) for j in full)])


def no_complaint(need, room, entitlement, x, *logic):
    """The fractions x fit, nobody has more than its request, and nobody has a complaint (D (1)-(2))."""
    all_, _, _, ge, _ = logic
    most = [ge(1, v) for v in x.values()]
    return all_([feasible(need, room, x, *logic), *most, *(justified(need, room, entitlement, x, a, *logic) for a in need)])


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fair(requests, entitlements, x):
    """x has no complaint."""
    need = {(n, 0): {j: r for j, r in enumerate(row) if r} for n, row in enumerate(requests)}
    room = {(0, j): F(1) for j in range(len(requests[0]))}
    return no_complaint(need, room, entitlements, {(n, 0): v for n, v in enumerate(x)}, *EXACT)


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def in_brackets(**points):
    """Points as text."""
    return {name: listed(point) for name, point in points.items()}


def pareto_optimum_with_complaint(requests, entitlements, x):
    """One resource, full, that everybody requests: more for one is less for another. Yet somebody has a complaint."""
    assert all(len(row) == 1 and row[0] > 0 for row in requests)
    assert loads_of(requests, x) == [1]
    assert all(0 <= v <= 1 for v in x)
    assert not fair(requests, entitlements, x)
    short = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if v < 1 and v * row[0] < e]
    return {**in_brackets(x=x, e=entitlements), "user": short[0] + 1}


found = pareto_optimum_with_complaint(requests, entitlements, x)
print(
    "D.S3.pareto-not-fair: x = {x} gives user 1 all it can have and is Pareto optimal, and "
    "user {user} has a complaint".format(**found)
)
