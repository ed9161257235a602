"""D.L3.step is refuted. It says (D Lemma 3, proof):

    For a bottleneck j the limit exists only if the numerator x_i r_ij - e_i vanishes as well.

Assumed: one server, one variant, same demands. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, "1/2"], ["1/2", 1]])
entitlements = exact(["1/2", "1/2"])
x = exact(["2/3", "2/3"])
upper = exact([[[2, 0, 0, 0, 2, 1], [2, 0, 0, 0, 2, 0, 2], [4, 0, 0, 0, 3, 2, 0], [0, 4, 0, 0, 2, 0, 3],
                [0, 4, 0, 0, 2, 0, 0, 6], ["4/3", 0, 0, 0, 0, 0, "2/3", 0], [0, 2, 0, 0, 0, 2, 2],
                [0, 2, 0, 0, 0, 2, 0, 4], [4, 0, 0, 0, 2, 6, 0, 0]],
               [[2, 0, 0, 0, 2, 1], [2, 0, 0, 0, 2, 0, 2], [4, 0, 0, 0, 3, 2, 0], [0, 4, 0, 0, 2, 0, 3],
                [0, 4, 0, 0, 2, 0, 0, 6], [0, "4/3", 0, 0, "2/3", 0, 0, 0], [0, 2, 0, 0, 0, 2, 2],
                [0, 2, 0, 0, 0, 2, 0, 4], [4, 0, 0, 0, 2, 6, 0, 0]]])
lower = exact([[[2, 0, 0, 0, 2, 1], [2, 0, 0, 0, 2, 0, 2], [4, 0, 0, 0, 3, 2, 0], [0, 4, 0, 0, 2, 0, 3],
                [0, 4, 0, 0, 2, 0, 0, 6], [0, "2/3", 0, 0, "4/3", 0, 0, 0], [0, 2, 0, 0, 0, 2, 2],
                [0, 2, 0, 0, 0, 2, 0, 4], [4, 0, 0, 0, 2, 6, 0, 0]],
               [[2, 0, 0, 0, 2, 1], [2, 0, 0, 0, 2, 0, 2], [4, 0, 0, 0, 3, 2, 0], [0, 4, 0, 0, 2, 0, 3],
                [0, 4, 0, 0, 2, 0, 0, 6], ["2/3", 0, 0, 0, 0, 0, "4/3", 0], [0, 2, 0, 0, 0, 2, 2],
                [0, 2, 0, 0, 0, 2, 0, 4], [4, 0, 0, 0, 2, 6, 0, 0]]])


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


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def reasons(count, resources):
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def complaint_rows(requests, entitlements, way):
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def bound(requests, entitlements, objective, proofs):
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)


def unit_of(n, count, sign=1):
    """sign x_n as an objective."""
    return [F(sign * int(m == n)) for m in range(count)]


def numerator_that_does_not_vanish(requests, entitlements, x, upper, lower):
    """The trajectory ends at an NJC allocation (Lemma 3), and x is the only one: each x_i is bounded from above and below.

    As section 5.1 assumes, all resources are asked for in full, and everybody asks for its entitlement of one. No dummy is full.
    """
    assert max(x) < 1
    assert min(loads_of(requests, [1] * len(x))) >= 1
    assert all(max(row) >= e for row, e in zip(requests, entitlements))
    assert fair(requests, entitlements, x)
    for n, value in enumerate(x):
        assert bound(requests, entitlements, unit_of(n, len(x)), upper[n]) == value
        assert bound(requests, entitlements, unit_of(n, len(x), -1), lower[n]) == -value
    full = [j for j, load in enumerate(loads_of(requests, x)) if load == 1]
    gaps = {(n, j): x[n] * requests[n][j] - entitlements[n] for n in range(len(x)) for j in full}
    n, j = max(gaps, key=lambda place: abs(gaps[place]))
    assert gaps[n, j] != 0
    return {"x": listed(x), "user": n + 1, "resource": j + 1, "gap": gaps[n, j]}


found = numerator_that_does_not_vanish(requests, entitlements, x, upper, lower)
print(
    "D.L3.step: the limit is x = {x}, the only NJC allocation; for user {user} and full "
    "resource {resource} the numerator is {gap}".format(**found)
)
