"""D.S4.sharing-incentive.step is refuted. It says (D 4, first attribute):

    In a fair allocation the fraction y of its request that a user performs has y r_ij = e_i for some resource j.

Assumed: one server, one variant, same demands. Shown for the answer below; a claim about every answer is refuted by
one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2"]])
entitlements = exact([1])
x = exact([1])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def entitlement_missed(requests, entitlements, x):
    """An NJC allocation in which somebody has x_i r_ij = e_i for no resource j."""
    assert no_complaint(requests, entitlements, x)
    missed = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if all(v * r != e for r in row)]
    return {"x": listed(x), "user": missed[0] + 1, "e": entitlements[missed[0]]}


found = entitlement_missed(requests, entitlements, x)
print(
    "D.S4.sharing-incentive.step: x = {x} has no complaint, and user {user} has its "
    "entitlement {e} of no resource exactly".format(**found)
)
