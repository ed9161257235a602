"""K.Table1.drfh.bottleneck is confirmed. It says (K Table 1):

    drfh does not satisfy: is max-min fair on a resource that everybody dominantly requests at every server it may
    use.

Assumed: one variant, same demands, no idle server, unlimited, bottleneck, at least 2 users. Shown for every answer of
the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 0]])
capacities = exact([[1, 1], [1, 0]])
eligible = [[1, 0], [1, 1]]
weights = exact([1, 1])
tasks = exact([["2/3", 0], ["1/3", 1]])
rounds = exact([[["1/3", 0], ["1/3", 0]]])
resource = 0
user = 0
better = exact([[1, 0], [0, 0]])


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


def lexicographic(demands, capacities, eligible, unit, tasks, rounds):
    """Nobody can have a larger share, its tasks / unit, while nobody with an equal or smaller share has less.

    At the prices of a round let cost_m be what a share of 1 costs m at least. All capacities together cost no more than
    sum_m cost_m min(share_m, share_n), and cost_n > 0: so no feasible tasks give n more and all others as much as that.
    """
    users = range(len(demands))
    share = [sum(row) / one for row, one in zip(tasks, unit)]
    kept = set()
    for prices in rounds:
        paid = [[sum(p * q for p, q in zip(row, d)) for row in prices] for d in demands]
        may = [[e and alone(d, c) > 0 for e, c in zip(row, capacities)] for d, row in zip(demands, eligible)]
        cost = [unit[m] * min(v for v, here in zip(paid[m], may[m]) if here) for m in users]
        value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
        positive = all(p >= 0 for row in prices for p in row)
        kept |= {n for n in users if positive and cost[n] > 0 and value <= sum(cost[m] * min(share[m], share[n]) for m in users)}
    return len(kept) == len(demands) and fits(demands, capacities, eligible, tasks)


def more_of_the_bottleneck(demands, capacities, eligible, weights, tasks, resource, user, better):
    """The resource is dominant for all at every server they may use (K Def. 2); in `better`, which fits, the user has more of it.

    And nobody who has as little of it as the user, by weight, has less.
    """
    for d, places in zip(demands, eligible):
        here = [c for c, may in zip(capacities, places) if may and alone(d, c) > 0]
        assert all(c[resource] == alone(d, c) * d[resource] for c in here)
    assert fits(demands, capacities, eligible, better)
    have, more = ([sum(x) * d[resource] / w for x, d, w in zip(part, demands, weights)] for part in (tasks, better))
    assert more[user] > have[user]
    assert all(b >= a for a, b in zip(have, more) if a <= have[user])
    return {"user": user + 1, "resource": resource + 1, "have": have[user], "more": more[user]}


def drfh_without_bottleneck_fairness(demands, capacities, eligible, weights, tasks, rounds, resource, user, better):
    """DRFH, with these totals in all answers; one resource is dominant for all at every server they may use (K Def. 2)."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    return more_of_the_bottleneck(demands, capacities, eligible, weights, tasks, resource, user, better)


found = drfh_without_bottleneck_fairness(
    demands, capacities, eligible, weights, tasks, rounds, resource, user, better
)
print(
    "K.Table1.drfh.bottleneck: user {user} could have {more} of resource {resource} instead "
    "of {have} while nobody with as little has less".format(**found)
)
