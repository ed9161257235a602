"""Z.P7.numbers is refuted. It says (Z Proposition 7):

    The allocations of Proposition 7, and utilities of 1 and 0.83 after the misreport.

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["2/3", "1/3"], ["1/4", "3/4"]])
capacity = exact([1, 1])
reported = exact([["2/3", "1/3"], ["1/3", "2/3"]])
tasks = exact([1, 1])
prices = exact([1, 1])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def utility_of_proposition_7(demands, capacity, reported, tasks, prices):
    """NB after the misreport: each user spends 1 at prices at which everything costs 2.

    So all feasible y have sum y_n / x_n <= 2, and by the means of two numbers y_1 y_2 <= x_1 x_2, with equality for x alone.
    """
    assert packed([[d] for d in reported], capacity, [[x] for x in tasks])
    assert reported[0] == demands[0]
    assert all(x * sum(p * q for p, q in zip(prices, d)) == 1 for x, d in zip(tasks, reported))
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, capacity)) == 2
    bundle = [tasks[1] * q for q in reported[1]]
    assert alone(demands[1], bundle) > F("0.835")
    return {"bundle": listed(bundle), "worth": alone(demands[1], bundle)}


found = utility_of_proposition_7(demands, capacity, reported, tasks, prices)
print(
    "Z.P7.numbers: after the misreport user 2 holds {bundle}, worth {worth} of its tasks; "
    "0.83 is printed".format(**found)
)
