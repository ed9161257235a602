"""D.S5.3.unique-zero is refuted. It says (D 5.3 with the hypotheses of D Theorem 1):

    The same where entitlements may be 0, as Theorem 1 allows.

Assumed: one server, one variant, same demands, at least 2 users, unentitled in 0, 1. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 0], [0, 1]])
entitlements = exact([1, 0])
x = exact([1, 0])
better = exact([1, 1])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def two_allocations_of_two_users(requests, entitlements, x, better):
    """Two users, of whom one is entitled to nothing, and two different NJC allocations."""
    assert len(requests) == 2
    assert sum(entitlements) == 1
    assert x != better
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(requests, entitlements, better)
    texts = map(listed, (x, better, entitlements))
    return dict(zip(("x", "better", "e"), texts))


found = two_allocations_of_two_users(requests, entitlements, x, better)
print("D.S5.3.unique-zero: {x} and {better} both are without complaints".format(**found))
