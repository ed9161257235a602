"""W.P2.printed is refuted. It says (W Proposition 2, proof, to the letter):

    After j has given up epsilon and everybody has got delta, each user i has the share G_i(A'_i) + delta.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1]])
points = exact([[["1/4"], ["3/4"]]])


def after_epsilon(demands, capacities, points):
    """Two alike users of one server, j = user 2; A' gives nobody less than g, epsilon leaves j g, and all get half of epsilon."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    shares = [row[0] for row in points[0]]
    g = min(shares)
    epsilon = shares[1] - g
    assert epsilon > 0
    delta = epsilon / 2
    after = shares[1] - epsilon + delta
    assert after != shares[1] + delta
    return {"share": after, "printed": shares[1] + delta}


found = after_epsilon(demands, capacities, points)
print("W.P2.printed: user 2 has {share}, and {printed} is printed".format(**found))
