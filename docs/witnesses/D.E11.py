"""D.E11 is refuted. It says (D, after (12)):

    (11) differentiated: sum_k x'_k r_kj / (1 - sum_k x_k r_kj) = 1, for each j as there is no sum over j.

Assumed: two users with equal entitlements who request 3/4 of one resource, so that no inequality is dominated (5.1).
Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["3/4"], ["3/4"]])
entitlements = exact(["1/2", "1/2"])
x = exact(["1/2", "1/2"])


def with_dummies(requests):
    """Requests, and a dummy for each user, of which it alone requests all (D 5)."""
    return [[*row, *(F(int(k == n)) for k in range(len(requests)))] for n, row in enumerate(requests)]


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def slacks_of(requests, x):
    """1 - sum_i x_i r_ij of resources and dummies."""
    return [1 - load for load in loads_of(with_dummies(requests), x)]


def derivative_of_11(requests, entitlements, x):
    """The trajectory of f = -sum_j log s_j, with slacks s_j of the resource and of the dummies, at a point x of (12).

    Users are alike, so are their speeds; f grows at the rate 1 by (11).
    """
    rows, slacks = with_dummies(requests), slacks_of(requests, x)
    nu = [v * sum(r / s for r, s in zip(row, slacks)) for v, row in zip(x, rows)]
    assert all(value / e == nu[0] / entitlements[0] for value, e in zip(nu, entitlements))  # (12), with c = nu_i / e_i
    assert requests[0] == requests[1]
    terms = [sum(row[j] for row in rows) / slacks[j] for j in range(len(slacks))]
    rates = [term / sum(terms) for term in terms]
    assert sum(rates) == 1
    assert rates[0] != 1
    return {"first": rates[0], "second": rates[1]}


found = derivative_of_11(requests, entitlements, x)
print(
    "D.E11: the term of the resource is {first} and those of the dummies are {second}: their "
    "sum is 1, and not each of them".format(**found)
)
