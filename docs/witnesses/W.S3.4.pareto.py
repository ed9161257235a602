"""W.S3.4.pareto is confirmed. It says (W 3.4, Fig. 3):

    DRF applied to each server separately violates Pareto optimality.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, "1/2"]])
capacities = exact([[1, "1/2"], [1, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
tasks = exact([["1/4", "1/2"], ["1/2", "1/2"]])
better = exact([[0, "3/4"], [1, "1/4"]])


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


def drf_per_server_without_pareto_optimality(demands, capacities, eligible, weights, tasks, better):
    """DRF on each server by itself, where PS-DSF is DRF: these tasks and no others."""
    everywhere = [[1] for _ in demands]
    for i, capacity in enumerate(capacities):
        assert ps_dsf(demands, [capacity], everywhere, weights, [[x[i]] for x in tasks])
    assert fits(demands, capacities, eligible, better)
    have, more = [sum(x) for x in tasks], [sum(x) for x in better]
    gains = [b - a for a, b in zip(have, more)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"user": n + 1, "have": have[n], "more": more[n]}


found = drf_per_server_without_pareto_optimality(demands, capacities, eligible, weights, tasks, better)
print("W.S3.4.pareto: user {user} can run {more} tasks instead of {have} while nobody runs fewer".format(**found))
