"""D.S5.2.simplex is refuted. It says (D 5.2):

    The region of legal allocations is a simplex.

Assumed: one server, one variant, same demands. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2"], [1]])
vertices = exact([[0, 0], [0, 1], [1, 0], [1, "1/2"]])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def region_with_many_vertices(requests, vertices):
    """0 <= x <= 1 and sum_i x_i r_ij <= 1 for two users: a vertex fulfils two of these with equality that are independent."""
    assert len(requests) == 2
    rows = [list(column) for column in zip(*requests)] + [[F(1), F(0)], [F(0), F(1)], [F(-1), F(0)], [F(0), F(-1)]]
    sides = [F(1)] * (len(requests[0]) + 2) + [F(0), F(0)]
    for x in vertices:
        values = [row[0] * x[0] + row[1] * x[1] for row in rows]
        assert all(v <= side for v, side in zip(values, sides))
        tight = [row for row, v, side in zip(rows, values, sides) if v == side]
        assert any(a[0] * b[1] != a[1] * b[0] for a in tight for b in tight)
    different = {tuple(x) for x in vertices}
    assert len(different) > 3
    return {"count": len(different), "vertices": ", ".join(listed(x) for x in vertices)}


found = region_with_many_vertices(requests, vertices)
print(
    "D.S5.2.simplex: the region of two users has at least the {count} vertices {vertices}, "
    "and a triangle has 3".format(**found)
)
