"""P.T2.envy.letter is refuted. It says (P (24) to (28) to the letter):

    Nobody prefers the totals x_m d_m of another, scaled by the weights, wherever they lie.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for the answer below; a claim about every
answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([["1/2"], [1]])
eligible = [[1, 1], [1, 0]]
weights = exact([1, 1])
tasks = exact([[0, 1], ["1/2", 0]])


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


def ps_dsf_with_envy(demands, capacities, eligible, weights, tasks):
    """The tasks are PS-DSF. What another has in all, wherever it lies, would be worth more tasks."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    have, users = [sum(x) for x in tasks], range(len(tasks))
    worth = [[alone(demands[n], [have[m] * q * weights[n] / weights[m] for q in demands[m]]) for m in users] for n in users]
    n, m = max(((n, m) for n in users for m in users), key=lambda pair: worth[pair[0]][pair[1]] / have[pair[0]])
    assert worth[n][m] > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "other": worth[n][m]}


found = ps_dsf_with_envy(demands, capacities, eligible, weights, tasks)
print(
    "P.T2.envy.letter: user {user} runs {have} tasks, and {other} with the resources of user "
    "{envied}, scaled by the weights".format(**found)
)
