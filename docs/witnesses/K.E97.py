"""K.E97 is refuted. It says (K (97), the proof of Theorem 6):

    df_ni/dx_n = -g''(z_ni) / (phi_n gamma_ni^2) is positive for every strictly concave g.

Assumed: g'(z) = 1 / (2 + (z - 1)^3), which is positive and falls strictly for z >= 0. Shown about the numbers below;
no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1]])
capacities = exact([[1]])
points = exact([[[1]]])


def concave_without_curvature(demands, capacities, points):
    """The marginal utility is positive and falls strictly for z >= 0, as the cube rises; one user runs z tasks."""
    assert demands == [[1]]
    assert capacities == [[1]]
    z = points[0][0][0]
    slope = 3 * (z - 1) ** 2 / (2 + (z - 1) ** 3) ** 2
    assert slope == 0
    return {"z": z, "slope": slope}


found = concave_without_curvature(demands, capacities, points)
print(
    "K.E97: where g'(z) = 1 / (2 + (z - 1)^3) is the marginal utility and z = {z}, df/dx is "
    "{slope}".format(**found)
)
