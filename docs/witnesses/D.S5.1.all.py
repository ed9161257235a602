"""D.S5.1.all is refuted. It says (D 5.1, second assumption, with entitlements of 0 as in Theorem 1):

    The entitlements of the users who remain can be renormalised, so that they sum to 1.

Assumed: one server, one variant, same demands, at least 2 users, unentitled in 0, 1. Shown about the numbers below;
no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2"], [1]])
entitlements = exact([1, 0])


def nothing_to_renormalise(requests, entitlements):
    """Who requests less than its entitlement of everything is removed; the rest of the entitlements is to be scaled to 1."""
    n = next(n for n, (row, e) in enumerate(zip(requests, entitlements)) if all(r < e for r in row))
    rest = sum(entitlements) - entitlements[n]
    assert rest == 0
    assert sum(entitlements) == 1
    assert len(requests) > 1
    return {"user": n + 1, "rest": rest}


found = nothing_to_renormalise(requests, entitlements)
print("D.S5.1.all: user {user} is removed, and the entitlements of the others add up to {rest}".format(**found))
