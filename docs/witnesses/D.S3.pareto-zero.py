"""D.S3.pareto-zero is refuted. It says (D 3 with the hypotheses of D Theorem 1):

    The same where entitlements may be 0, as Theorem 1 allows.

Assumed: one server, one variant, same demands, unentitled in 0, 1. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[0, 1], [1, 0]])
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


def njc_without_pareto_optimality(requests, entitlements, x, better):
    """The first is NJC, the second fits and gives nobody less and somebody more; entitlements add up to 1, and one is 0."""
    assert sum(entitlements) == 1
    assert min(entitlements) == 0
    assert no_complaint(requests, entitlements, x)
    assert all(0 <= a <= b <= 1 for a, b in zip(x, better))
    assert x != better
    assert all(sum(v * row[j] for v, row in zip(better, requests)) <= 1 for j in range(len(requests[0])))
    texts = map(listed, (x, better, entitlements))
    return dict(zip(("x", "better", "e"), texts))


found = njc_without_pareto_optimality(requests, entitlements, x, better)
print("D.S3.pareto-zero: x = {x} has no complaint, and {better} fits as well".format(**found))
