"""D.S4.envy-free is refuted. It says (D 4, third attribute):

    No user prefers another user's allocation.

Assumed: one server, one variant, same demands, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/4"], [1], [1]])
entitlements = exact(["1/3", "1/3", "1/3"])
x = exact([1, "1/3", "5/12"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def njc_with_envy(requests, entitlements, x):
    """An NJC allocation for equal entitlements, and what each could have with the bundle of another."""
    assert no_complaint(requests, entitlements, x)
    assert len(set(entitlements)) == 1
    pairs = [(n, m) for n in range(len(x)) for m in range(len(x)) if n != m]
    worth = {(n, m): min([F(1)] + [x[m] * s / r for s, r in zip(requests[m], requests[n]) if r]) for n, m in pairs}
    n, m = max(pairs, key=lambda pair: worth[pair] - x[pair[0]])
    assert worth[n, m] > x[n]
    return {"x": listed(x), "user": n + 1, "envied": m + 1, "have": x[n], "more": worth[n, m]}


found = njc_with_envy(requests, entitlements, x)
print(
    "D.S4.envy-free: at x = {x} user {user} could have {more} of its request with what user "
    "{envied} holds".format(**found)
)
