"""K.E63 is refuted. It says (K (63), the proof of Theorem 2):

    By (16) the right side of (63) is at least 1 for each feasible y and each user n with y_ni other than x_ni.

Assumed: what is printed, for any alpha: both users have the same share. Shown about the numbers below; no mechanism
is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1]])
points = exact([[["1/2"], ["1/2"]], [["1/4"], ["1/2"]]])


def divided_by_a_decrease(demands, capacities, points):
    """Two alike users of one server: both have the share 1/2, so (16) holds for every alpha, as y fits; user 1 has less in y."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    x, y = ([row[0] for row in point] for point in points)
    assert x == [F(1, 2), F(1, 2)]
    assert min(y) >= 0
    assert sum(y) <= 1
    assert y[0] < x[0]
    h = -(y[1] - x[1]) / (y[0] - x[0])
    assert h < 1
    return {"h": h}


found = divided_by_a_decrease(demands, capacities, points)
print("K.E63: user 1 has less in y, and the right side of (63) is {h}".format(**found))
