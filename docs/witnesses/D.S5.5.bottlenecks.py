"""D.S5.5.bottlenecks is confirmed. It says (D 5.5):

    The set of bottlenecks is not unique.

Assumed: one server, one variant, same demands, at least 3 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2", 1], [1, "1/2"], ["1/4", 1]])
entitlements = exact(["2/15", "4/5", "1/15"])
x = exact(["2/15", "86/105", "16/35"])
other = exact(["4/15", "4/5", "4/15"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def two_sets_of_bottlenecks(requests, entitlements, x, other):
    """Two NJC allocations and the resources that are full in each."""
    found = []
    for part in (x, other):
        assert no_complaint(requests, entitlements, part)
        found.append([j + 1 for j in range(len(requests[0])) if sum(v * row[j] for v, row in zip(part, requests)) == 1])
    assert found[0] != found[1]
    texts = [*map(listed, (x, other))]
    return {"x": texts[0], "other": texts[1], "full": found[0], "others": found[1]}


found = two_sets_of_bottlenecks(requests, entitlements, x, other)
print(
    "D.S5.5.bottlenecks: {x} and {other} both are without complaints, with the full resources"
    " {full} and {others}".format(**found)
)
