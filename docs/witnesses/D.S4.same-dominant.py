"""D.S4.same-dominant is refuted. It says (D 4):

    If all users have the same dominant resource, DRF and NJC are equivalent.

Assumed: one server, one variant, same demands, equal weights, bottleneck, at least 2 users. Shown for the answer
below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], [1], ["1/4"]])
entitlements = exact(["1/3", "1/3", "1/3"])
x = exact(["1/3", "5/12", 1])
better = exact(["3/8", "3/8", 1])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def njc_that_is_not_drf(requests, entitlements, x, better):
    """One dominant resource for all. Sorted shares x_i max_j r_ij / e_i are lexicographically largest in DRF."""
    resources = range(len(requests[0]))
    assert any(all(row[j] == max(row) for row in requests) for j in resources)
    assert no_complaint(requests, entitlements, x)
    assert all(0 <= v <= 1 for v in better)
    assert all(sum(v * row[j] for v, row in zip(better, requests)) <= 1 for j in resources)
    shares = [sorted(v * max(row) / e for v, row, e in zip(part, requests, entitlements)) for part in (x, better)]
    assert shares[0] < shares[1]
    texts = [*map(listed, (x, better, *shares))]
    return dict(zip(("x", "better", "shares", "others"), texts))


found = njc_that_is_not_drf(requests, entitlements, x, better)
print(
    "D.S4.same-dominant: x = {x} has no complaint and is not DRF: {better} fits and has "
    "lexicographically larger dominant shares".format(**found)
)
