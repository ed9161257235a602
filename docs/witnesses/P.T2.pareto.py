"""P.T2.pareto is refuted. It says (P Theorem 2):

    ps-dsf is Pareto optimal.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[2, 3], [2, 1]])
capacities = exact([[1, 1], [4, 3]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([["1/3", "4/9"], [0, "14/9"]])
better = exact([["1/4", "19/36"], ["1/4", "17/12"]])


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


def ps_dsf_without_pareto_optimality(demands, capacities, eligible, weights, tasks, better):
    """The first tasks are PS-DSF; with the second somebody runs more and nobody fewer."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    assert fits(demands, capacities, eligible, better)
    have, more = [sum(x) for x in tasks], [sum(x) for x in better]
    gains = [b - a for a, b in zip(have, more)]
    assert min(gains) >= 0
    assert max(gains) > 0
    n = gains.index(max(gains))
    return {"user": n + 1, "have": have[n], "more": more[n]}


found = ps_dsf_without_pareto_optimality(demands, capacities, eligible, weights, tasks, better)
print("P.T2.pareto: user {user} can run {more} tasks instead of {have} while nobody runs fewer".format(**found))
