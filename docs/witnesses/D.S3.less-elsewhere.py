"""D.S3.less-elsewhere is confirmed. It says (D 3):

    A user can get less than its entitlement of other resources, and of full ones among them.

Assumed: one server, one variant, same demands, at least 2 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2", 1], [1, "2/3"]])
entitlements = exact(["1/2", "1/2"])
x = exact(["1/2", "3/4"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def less_of_another_bottleneck(requests, entitlements, x):
    """User i is cut back, asks for its entitlement of the full resource j, and gets less of it."""
    assert no_complaint(requests, entitlements, x)
    full = [j for j, column in enumerate(zip(*requests)) if sum(v * r for v, r in zip(x, column)) == 1]
    for i, (v, row, e) in enumerate(zip(x, requests, entitlements)):
        for j in full:
            if v < 1 and v * row[j] < e <= row[j]:
                return {"x": listed(x), "user": i + 1, "j": j + 1, "held": v * row[j], "due": e}
    raise AssertionError("everybody has its entitlement of the full resources")


found = less_of_another_bottleneck(requests, entitlements, x)
print(
    "D.S3.less-elsewhere: x = {x} has no complaint, and user {user} has {held} of full "
    "resource {j}, less than its entitlement {due}".format(**found)
)
