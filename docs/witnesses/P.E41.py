"""P.E41 is refuted. It says (P (40) and (41), the induction in the proof of Theorem 2, at a case of ours):

    After user n_0 has exchanged its part with another user, sharing incentive among the others gives each of them
    (41).

Assumed: demands, capacities and weights below; user 1 is n_0. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1], [1]])
capacities = exact([[1], [1]])
eligible = [[0, 1], [1, 1], [0, 1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def induction_for_sharing(problem):
    """User 1 gives user 2 its third of server 1, which it may not use, for a quarter of server 2; both gain."""
    demands, capacities, eligible, weights = problem
    part, given = F(1, 3), F(1, 4)
    gamma = [[alone(d, c) * may for c, may in zip(capacities, places)] for d, places in zip(demands, eligible)]
    assert weights == [1, 1, 1]
    assert gamma[0][0] == gamma[2][0] == 0
    assert given * gamma[0][1] > 0
    assert part * gamma[1][0] - given * gamma[1][1] > 0
    left = [1 - 0 * part, 1 - part - given]  # server 1 is for user 2 alone; user 1 has 1/3 + 1/4 of server 2
    promised = [sum(c * g for c, g in zip(left, row)) / 2 / sum(row) for row in gamma[1:]]
    assert min(promised) < part
    return {"promised": min(promised), "part": part}


found = induction_for_sharing(problem)
print(
    "P.E41: sharing incentive among users 2 and 3 promises user 3 {promised} of what it runs "
    "alone, and (41) says {part}".format(**found)
)
