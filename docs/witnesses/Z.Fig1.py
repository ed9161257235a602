"""Z.Fig1 is refuted. It says (Z II-A, Fig. 1):

    The optimal packing of user 1's demands in (11, 11, 13) is 5, 1 and 2.5, a utility of 8.5.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1, 2, 1], [0, 1, 3], [2, 0, 2]]])
capacity = exact([11, 11, 13])
tasks = exact([["31/6", "2/3", "35/12"]])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def packing_of_fig_1(variants, capacity, tasks):
    """Both packings fit; a task is one of the user's demand vectors, so the utility is the number of tasks."""
    printed = [[F(5), F(1), F("5/2")]]
    assert packed(variants, capacity, printed)
    assert packed(variants, capacity, tasks)
    assert sum(tasks[0]) > sum(printed[0])
    return {"printed": sum(printed[0]), "better": listed(tasks[0]), "value": sum(tasks[0])}


found = packing_of_fig_1(variants, capacity, tasks)
print("Z.Fig1: the printed packing holds {printed} tasks, and {better} hold {value}".format(**found))
