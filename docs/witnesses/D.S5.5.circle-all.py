"""D.S5.5.circle-all is refuted. It says (D 5.5):

    There are 6 additional solutions.

Assumed: what is printed. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]])
entitlements = exact(["1/4", "1/4", "1/4", "1/4"])
x = exact(["1/4", "1/4", "1/4", "1/2"])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def no_complaint(requests, entitlements, x):
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def eighth_solution_of_the_circle(requests, entitlements, x):
    """The printed six give two users 3/8 and two 1/4; all of them and x have no complaint."""
    pairs = [(n, m) for n in range(4) for m in range(n)]
    printed = [[F(3, 8) if n in pair else F(1, 4) for n in range(4)] for pair in pairs] + [[F(1, 3)] * 4]
    assert all(no_complaint(requests, entitlements, one) for one in [*printed, x])
    assert x not in printed
    return {"x": listed(x)}


found = eighth_solution_of_the_circle(requests, entitlements, x)
print("D.S5.5.circle-all: beside (1/3, 1/3, 1/3, 1/3) and the printed six there is {x}".format(**found))
