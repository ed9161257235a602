"""D.S5.3.not-unique is confirmed. It says (D 5.3, D 5.5):

    With more than two users the solution need not be unique.

Assumed: one server, one variant, same demands, at least 3 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], [1], ["1/4"]])
entitlements = exact(["1/3", "1/3", "1/3"])
x = exact(["1/3", "5/12", 1])
other = exact(["5/12", "1/3", 1])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def two_allocations_without_complaints(requests, entitlements, x, other):
    """More than two users with positive entitlements, and two different NJC allocations."""
    assert len(requests) > 2
    assert min(entitlements) > 0
    assert sum(entitlements) == 1
    assert x != other
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(requests, entitlements, other)
    texts = map(listed, (x, other))
    return dict(zip(("x", "other"), texts))


found = two_allocations_without_complaints(requests, entitlements, x, other)
print("D.S5.3.not-unique: {x} and {other} both are without complaints".format(**found))
