"""P.V.cpu is refuted. It says (P V):

    The CPU of the first two classes is fully used under each mechanism.

Assumed: what is printed. Shown for the answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/10", "1/10"], ["1/10", "1/5"], ["1/5", "1/10"], ["1/5", "3/10"]])
capacities = exact([[8, 8], [34, 34], ["33/2", "33/4"], ["11/2", "33/4"]])
eligible = [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]]
weights = exact([2, 2, 1, 1])
tasks = exact([[40, 170, 0, 0], [20, 85, 0, 0], [0, 0, "165/2", 0], [0, 0, 0, "55/2"]])


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


def cpu_of_table_4(demands, capacities, eligible, weights, tasks):
    """Table IV for PS-DSF: the tasks are PS-DSF, and fill the memory of classes A and B, but not their CPU."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    used = [sum(x[i] * d[r] for x, d in zip(tasks, demands) for i in (0, 1)) for r in (0, 1)]
    total = [capacities[0][r] + capacities[1][r] for r in (0, 1)]
    assert used[0] < total[0]
    assert used[1] == total[1]
    return {"used": used[0], "total": total[0], "memory": used[1]}


found = cpu_of_table_4(demands, capacities, eligible, weights, tasks)
print(
    "P.V.cpu: by Table IV classes A and B use {used} of their CPU, {total}, and {memory} of "
    "their memory, all of it".format(**found)
)
