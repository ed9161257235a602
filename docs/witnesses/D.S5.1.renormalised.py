"""D.S5.1.renormalised is refuted. It says (D 5.1, second assumption):

    The renormalised problem is one of Theorem 1 again, with requests of at most 1.

Assumed: one server, one variant, same demands, at least 2 users. Shown about the numbers below; no mechanism is
asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/4"], [1]])
entitlements = exact(["1/2", "1/2"])


def renormalised_request(requests, entitlements):
    """Who requests less than its entitlement of everything is removed, and the others share what is left (5.1)."""
    for n, (row, e) in enumerate(zip(requests, entitlements)):
        for m, other in enumerate(requests):
            for j, r in enumerate(other):
                if m != n and all(own < e for own in row) and r / (1 - row[j]) > 1:
                    return {"user": n + 1, "other": m + 1, "resource": j + 1, "request": r / (1 - row[j])}
    raise AssertionError("no request exceeds 1")


found = renormalised_request(requests, entitlements)
print(
    "D.S5.1.renormalised: without user {user}, who asks for little, user {other} requests "
    "{request} of what is left of resource {resource}".format(**found)
)
