"""D.S5.dummies-zero is refuted. It says (D 5 with the hypotheses of D Theorem 1):

    The same where entitlements may be 0, as Theorem 1 allows.

Assumed: one server, one variant, same demands, unentitled in 0, 1. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2"], [1]])
entitlements = exact([1, 0])
x = exact([1, 0])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def dummy_that_justifies(requests, entitlements, x):
    """A dummy for each user, of which it alone requests all: full where x_i = 1. With them x has no complaint, else it has."""
    users = range(len(x))
    dummies = [[*row, *(F(int(k == n)) for k in users)] for n, row in enumerate(requests)]
    used = [sum(v * row[j] for v, row in zip(x, dummies)) for j in range(len(dummies[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    assert max(used) <= 1
    assert all(any(v * row[j] >= e for j in full) for v, row, e in zip(x, dummies, entitlements))
    assert not no_complaint(requests, entitlements, x)
    n = next(n for n in users if entitlements[n] == 0 and x[n] < 1)
    texts = [*map(listed, (x, entitlements))]
    return {"x": texts[0], "e": texts[1], "user": x.index(F(1)) + 1, "other": n + 1}


found = dummy_that_justifies(requests, entitlements, x)
print(
    "D.S5.dummies-zero: at x = {x} the full dummy of user {user} justifies user {other}, who "
    "is entitled to 0; (2) does not".format(**found)
)
