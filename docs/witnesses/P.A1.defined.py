"""P.A1.defined is refuted. It says (P III-C, Algorithm I):

    The maximum in Algorithm I's test is over somebody.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[0, 1], [1, 1]])
capacities = exact([[1, 1], [0, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([[0, 1], [1, 0]])


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


def maximum_over_nobody(demands, capacities, eligible, weights, tasks):
    """The tasks are PS-DSF, where Algorithm I has to end. Its test is made for each server, with N_i all who may use it.

    Where it passes for some r*, N_i loses all who demand the first of them.
    """
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    for i, capacity in enumerate(capacities):
        left = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        z = {n: sum(tasks[n]) / (weights[n] * alone(demands[n], capacity)) for n in left}
        while left:
            lowest = [n for n in left if z[n] == min(z[m] for m in left)]
            full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
            users = {r: [n for n in left if tasks[n][i] and demands[n][r]] for r in full if any(demands[n][r] for n in lowest)}
            done = [r for r, using in users.items() if using and max(z[n] for n in using) == z[lowest[0]]]  # (17)
            if not done:
                empty = [r for r, using in users.items() if not using]
                assert empty
                return {"server": i + 1, "resource": empty[0] + 1}
            left = [n for n in left if not demands[n][done[0]]]
    raise AssertionError("every maximum is over somebody")


found = maximum_over_nobody(demands, capacities, eligible, weights, tasks)
print(
    "P.A1.defined: at server {server} nobody who is left uses resource {resource}, which is "
    "full, and N* demands it".format(**found)
)
