"""D.S5.5.bottlenecks is confirmed. It says (D 5.5):

    The set of bottlenecks is not unique.

Assumed: one server, one variant, same demands, at least 3 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2", 1], [1, "1/2"], ["1/4", 1]])
entitlements = exact(["2/15", "4/5", "1/15"])
x = exact(["2/15", "86/105", "16/35"])
other = exact(["4/15", "4/5", "4/15"])


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


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def two_allocations(requests, entitlements, x, other):
    """Two different NJC allocations, and the resources that are full in each; entitlements add up to 1."""
    assert sum(entitlements) == 1
    assert x != other
    assert fair(requests, entitlements, x)
    assert fair(requests, entitlements, other)
    full, others = ([j + 1 for j, load in enumerate(loads_of(requests, part)) if load == 1] for part in (x, other))
    return {**in_brackets(x=x, other=other, e=entitlements), "full": full, "others": others}


def two_bottleneck_sets(requests, entitlements, x, other):
    """Two NJC allocations in which different resources are full."""
    found = two_allocations(requests, entitlements, x, other)
    assert found["full"] != found["others"]
    return found


found = two_bottleneck_sets(requests, entitlements, x, other)
print(
    "D.S5.5.bottlenecks: {x} and {other} both are without complaints, with the full resources"
    " {full} and {others}".format(**found)
)
