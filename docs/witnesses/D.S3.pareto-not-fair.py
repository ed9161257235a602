"""D.S3.pareto-not-fair is confirmed. It says (D 3):

    Not every Pareto optimal allocation is free of justified complaints.

Assumed: one server, one variant, same demands, at least 2 users. Shown about the numbers below; no mechanism is
asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], [1]])
entitlements = exact(["1/2", "1/2"])
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


def pareto_optimum_with_complaint(requests, entitlements, x):
    """One resource, full, that everybody requests: more for one is less for another. Yet somebody has a complaint."""
    assert len(requests[0]) == 1
    assert all(row[0] > 0 for row in requests)
    assert sum(v * row[0] for v, row in zip(x, requests)) == 1
    assert all(0 <= v <= 1 for v in x)
    assert not no_complaint(requests, entitlements, x)
    short = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if v < 1 and v * row[0] < e]
    texts = [*map(listed, (x, entitlements))]
    return {"x": texts[0], "e": texts[1], "user": short[0] + 1}


found = pareto_optimum_with_complaint(requests, entitlements, x)
print(
    "D.S3.pareto-not-fair: x = {x} gives user 1 all it can have and is Pareto optimal, and "
    "user {user} has a complaint".format(**found)
)
