"""D.S5.1.order is confirmed. It says (D 5.1, third assumption):

    Depending on the order of removal of dominated inequalities different systems may remain.

Assumed: one server, one variant, same demands. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([[1, 1], [1, 1]])


def two_orders_of_removal(requests):
    """Two equal inequalities sum_i x_i r_ij <= 1: each follows from the others, and after one is removed the other does not."""
    columns = [list(column) for column in zip(*requests)]
    one, other = next((j, k) for k in range(len(columns)) for j in range(k) if columns[j] == columns[k])
    rest = [column for j, column in enumerate(columns) if j not in (one, other)]
    assert all(sum(column) <= 1 for column in rest)  # x = (1, ..., 1) is allowed by all that is left when both are removed
    assert sum(columns[one]) > 1
    return {"one": one + 1, "other": other + 1}


found = two_orders_of_removal(requests)
print(
    "D.S5.1.order: resources {one} and {other} are requested alike: each is dominated by the "
    "other, and either of them may be removed".format(**found)
)
