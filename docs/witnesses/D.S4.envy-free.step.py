"""D.S4.envy-free.step is refuted. It says (D 4, third attribute):

    A user who prefers another's allocation could gain by mimicking the other's requirements.

Assumed: one server, one variant, same demands, equal weights, at least 2 users. Shown for the answer below; a claim
about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], ["1/4"], [1]])
entitlements = exact(["1/3", "1/3", "1/3"])
x = exact(["1/3", 1, "5/12"])
after = exact(["1/3", 1, "5/12"])
user = 0
envied = 2


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def imitation_without_gain(requests, entitlements, x, after, user, envied):
    """NJC allocations before and after the user requests what the envied one does; by these it need not gain."""
    copied = [requests[envied] if n == user else row for n, row in enumerate(requests)]
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(copied, entitlements, after)
    worth = min([F(1)] + [x[envied] * s / r for s, r in zip(requests[envied], requests[user]) if r])
    got = min([F(1)] + [after[user] * s / r for s, r in zip(copied[user], requests[user]) if r])
    assert worth > x[user] >= got
    texts = [*map(listed, (x, after))]
    return {"x": texts[0], "after": texts[1], "user": user + 1, "envied": envied + 1, "have": x[user], "got": got}


found = imitation_without_gain(requests, entitlements, x, after, user, envied)
print(
    "D.S4.envy-free.step: at x = {x} user {user} envies user {envied}; requesting the same it"
    " may get {got} of its request, and had {have}".format(**found)
)
