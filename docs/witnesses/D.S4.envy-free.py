"""D.S4.envy-free is refuted. It says (D 4, third attribute):

    No user prefers another user's allocation.

Assumed: one server, one variant, same demands, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/4"], [1], [1]])
entitlements = exact(["1/3", "1/3", "1/3"])
x = exact([1, "1/3", "5/12"])


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


def part_of_the_truth(part, reported, needed):
    """The part of its request that a user can run with this part of the reported one, at most all."""
    return min([F(1)] + [part * told / true for told, true in zip(reported, needed) if true])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def njc_with_envy(requests, entitlements, x):
    """An NJC allocation for equal entitlements, and what each could have with the bundle of another."""
    assert fair(requests, entitlements, x)
    assert len(set(entitlements)) == 1
    pairs = [(n, m) for n in range(len(x)) for m in range(len(x)) if n != m]
    worth = {(n, m): part_of_the_truth(x[m], requests[m], requests[n]) for n, m in pairs}
    n, m = max(pairs, key=lambda pair: worth[pair] - x[pair[0]])
    assert worth[n, m] > x[n]
    return {"x": listed(x), "user": n + 1, "envied": m + 1, "have": x[n], "more": worth[n, m]}


found = njc_with_envy(requests, entitlements, x)
print(
    "D.S4.envy-free: at x = {x} user {user} could have {more} of its request with what user "
    "{envied} holds".format(**found)
)
