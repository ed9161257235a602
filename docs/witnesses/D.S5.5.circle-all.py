"""D.S5.5.circle-all is refuted. It says (D 5.5):

    There are 6 additional solutions.

Assumed: what is printed. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]])
entitlements = exact(["1/4", "1/4", "1/4", "1/4"])
x = exact(["1/4", "1/4", "1/4", "1/2"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


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


def eighth_solution_of_the_circle(requests, entitlements, x):
    """The printed six give two users 3/8 and two 1/4; all of them and x have no complaint."""
    pairs = [(n, m) for n in range(4) for m in range(n)]
    printed = [[F(3, 8) if n in pair else F(1, 4) for n in range(4)] for pair in pairs] + [[F(1, 3)] * 4]
    assert all(fair(requests, entitlements, one) for one in [*printed, x])
    assert x not in printed
    return {"x": listed(x)}


found = eighth_solution_of_the_circle(requests, entitlements, x)
print("D.S5.5.circle-all: beside (1/3, 1/3, 1/3, 1/3) and the printed six there is {x}".format(**found))
