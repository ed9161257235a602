"""D.S5.3.slopes is refuted. It says (D 5.3):

    With two users the slopes of the lines that define the boundary are negative.

Assumed: one server, one variant, same demands, at least 2 users. Shown about the numbers below; no mechanism is
asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1], ["1/2"]])
first = exact("1/2")


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def in_brackets(**points):
    """Points as text."""
    return {name: listed(point) for name, point in points.items()}


def loads_of(requests, x):
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def boundary_with_a_level_line(requests, first):
    """No x_2 is above 1, which is all of the request of user 2, and with it user 1 can have any part up to the first one."""
    assert 0 < first <= 1
    for x in ([F(0), F(1)], [first, F(1)]):
        assert max(loads_of(requests, x)) <= 1
    return in_brackets(left=[F(0), F(1)], right=[first, F(1)]) | {"first": first}


found = boundary_with_a_level_line(requests, first)
print("D.S5.3.slopes: {left} and {right} fit, and x_2 <= 1: between them the boundary is level".format(**found))
