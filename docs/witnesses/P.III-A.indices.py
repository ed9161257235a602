"""P.III-A.indices is refuted. It says (P III-A, to the letter):

    The shares of users 3 and 4 with respect to the second server in Fig. 2 are s_31 = s_41 = 8/12.

Assumed: what is printed. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, "1/2", 0]])
capacities = exact([[9, 12, 100], [12, 12, 0]])
eligible = [[1, 1], [1, 1], [1, 1], [1, 1]]
weights = exact([1, 1, 1, 1])
tasks = exact([["18/5", 0], ["18/5", 0], [0, 8], [0, 8]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def ps_dsf(demands, capacities, eligible, weights, tasks):
    """At every server each user has a full resource that it demands, and that serves nobody with a larger share (P Theorem 1)."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        here = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        share = {n: have[n] / (weights[n] * alone(demands[n], capacity)) for n in here}
        for n in here:
            full = [r for r, c in enumerate(capacity) if demands[n][r] and sum(tasks[m][i] * demands[m][r] for m in here) == c]
            if not any(all(share[m] <= share[n] for m in here if tasks[m][i] and demands[m][r]) for r in full):
                return False
    return fits(demands, capacities, eligible, tasks)


def indices_of_fig_2(demands, capacities, eligible, weights, tasks):
    """The tasks are PS-DSF, and 8 for user 4, as printed."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    assert sum(tasks[3]) == 8
    share = sum(tasks[3]) / alone(demands[3], capacities[0])
    assert share != F(8, 12)
    return {"share": share}


found = indices_of_fig_2(demands, capacities, eligible, weights, tasks)
print(
    "P.III-A.indices: user 4 has the share {share} on server 1; 8/12, its share on server 2, "
    "is printed".format(**found)
)
