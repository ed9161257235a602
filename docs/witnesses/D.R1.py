"""D.R1 is refuted. It says (D Remark 1):

    f is positive in the interior of D and diverges as x tends to the boundary.

Assumed: one server, one variant, same demands. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1]])
x = exact([0])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def in_brackets(**points):
    """Points as text."""
    return {name: listed(point) for name, point in points.items()}


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def with_dummies(requests):
    """Requests, and a dummy for each user, of which it alone requests all (D 5)."""
    return [[*row, *(F(int(k == n)) for k in range(len(requests)))] for n, row in enumerate(requests)]


def slacks_of(requests, x):
    """1 - sum_i x_i r_ij of resources and dummies."""
    return [1 - load for load in loads_of(with_dummies(requests), x)]


def boundary_where_f_is_finite(requests, x):
    """The terms of f have logarithms of slacks, those of resources and 1 - x_i of the dummies, and diverge where one is 0."""
    assert min(x) == 0
    assert max(x) <= 1
    assert min(slacks_of(requests, x)) > 0
    return in_brackets(x=x, slacks=slacks_of(requests, x))


found = boundary_where_f_is_finite(requests, x)
print(
    "D.R1: x = {x} is on the boundary, for a user has nothing; the slacks are {slacks}, so "
    "all terms of f are finite".format(**found)
)
