"""W.S6.1.exact is refuted. It says (W 6.1, Fig. 5: 'precisely achieves the DRFH allocation'):

    The shares of Fig. 5, 62% for user 1 alone and 26% for each of three users, are those of DRFH (6).

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/5", "3/10"], ["1/2", "1/10"], ["1/10", "3/10"]])
capacities = exact([[3366, 3366], ["3863/2", "3863/4"], ["1001/2", "3003/4"], [795, 795], ["63/2", "63/2"],
                    [26, "156/25"], ["5/2", "3/20"], ["5/2", "97/20"], [3, "3/2"], ["1/2", "3/50"]])
eligible = [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def memory_of_user_1(problem):
    """DRFH (6) gives a user who is alone all that it can run; the servers of a class are in the case as one pool."""
    cpu, memory = problem[0][0]
    assert memory > cpu  # of 52.75 CPUs and 51.32 of memory: memory is what it uses most
    parts = [alone(problem[0][0], capacity) * memory / capacity[1] for capacity in problem[1]]
    assert min(parts) > F("0.625")
    return {"least": min(parts)}


found = memory_of_user_1(problem)
print(
    "W.S6.1.exact: user 1 alone can use {least} of the memory of any server of Table 1, or "
    "more, and has 62 % in Fig. 5".format(**found)
)
