"""D.S5.5.weights is refuted. It says (D 5.5):

    Weighting factors in f could lead to other solutions in this example.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 1], [0, 1], [1, 0]])
entitlements = exact(["1/2", "3/10", "1/5"])
x = exact(["1/2", "1/2", "1/2"])
prices = exact(["2/5", "3/5"])


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


def one_end_for_all_weights(requests, entitlements, x, prices):
    """On the trajectory of weights w (12) is x_i(t) sum_j w_j r_ij / s_j = c e_i, dummies included, with slacks s.

    For y that fits, sum_i e_i y_i / x_i(t) = (1/c) sum_j w_j sum_i y_i r_ij / s_j <= (1/c) sum_j w_j / s_j, and as 1 = s_j +
    sum_i x_i(t) r_ij this is (1/c) (sum_j w_j + c). So with y = x* it is at most 1 + delta, delta = sum w / c. By the prices
    sum_i e_i y_i / x_i* <= 1 for all y that fit, x(t) too. Adding both, with u = x_i(t) / x_i*: e_i (1/u + u - 2) <= delta.
    """
    assert fair(requests, entitlements, x)
    assert sum(entitlements) == 1
    assert min(prices) >= 0
    assert sum(prices) <= 1
    assert all(sum(p * r for p, r in zip(prices, row)) >= e / v for row, e, v in zip(requests, entitlements, x))
    delta = F(1, 10**12)
    for e in entitlements:
        for u in (1 - F(1, 10**5), 1 + F(1, 10**5)):  # u + 1/u - 2 grows as u leaves 1
            assert e * (1 / u + u - 2) > delta
    return {"end": listed(x)}


found = one_end_for_all_weights(requests, entitlements, x, prices)
print(
    "D.S5.5.weights: with any weights w every x(t) with sum w_j <= c / 10^12 is within 10^-5 "
    "of {end}".format(**found)
)
