"""D.S4.utilisation-lower is confirmed. It says (D 4, by the limits 1/2 and 2/3):

    NJC's utilisation can be lower than DRF's.

Assumed: one server, one variant, same demands, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


requests = exact([["1/2", 0, 0, 0, 1], [1, 1, 1, 1, 0]])
entitlements = exact(["1/2", "1/2"])
x = exact(["2/3", "2/3"])
rounds = exact([["4/3", 0, 0, 0, 0]])
proofs = exact([
    [2, 0, 0, 0, 0, 0, 0, 1, 2],
    ["4/5", 0, 0, 0, 0, 0, 0, "1/10", 0, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
    [2, 0, 0, 0, 0, 0, 0, 0, 2, 2],
    ["4/5", 0, 0, 0, 0, 0, 0, 0, "1/5", 0, 0],
    [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 0, 2],
    ["4/5", 0, 0, 0, 0, 0, 0, "1/10", 0, 0, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0],
    [2, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
])


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def bound(requests, entitlements, objective, proofs):
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)


def complaint_rows(requests, entitlements, way):
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def lexicographic_in_a_pool(demands, capacity, unit, tasks, rounds):
    """Nobody can have a larger share, its tasks / unit, while nobody with an equal or smaller share has less.

    At the prices of a round let cost_m be what a share of 1 costs m at least, by its cheapest demand vector. The pool costs no
    more than sum_m cost_m min(share_m, share_n), and cost_n > 0: so no feasible tasks give n more and all others as much.
    """
    users = range(len(demands))
    share = [sum(row) / one for row, one in zip(tasks, unit)]
    kept = set()
    for prices in rounds:
        cost = [unit[m] * min(sum(p * q for p, q in zip(prices, d)) for d in demands[m]) for m in users]
        value = sum(p * c for p, c in zip(prices, capacity))
        positive = min(prices) >= 0
        kept |= {n for n in users if positive and cost[n] > 0 and value <= sum(cost[m] * min(share[m], share[n]) for m in users)}
    return len(kept) == len(demands) and packed(demands, capacity, tasks)


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def reasons(count, resources):
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def njc_uses_less(requests, entitlements, x, rounds, proofs):
    """The mean of the used parts of all resources, in all NJC allocations and in the only DRF allocation x, of requests."""
    resources = range(len(requests[0]))
    unit = [e / max(row) for row, e in zip(requests, entitlements)]
    assert lexicographic_in_a_pool([[row] for row in requests], [F(1) for _ in resources], unit, [[v] for v in x], rounds)
    assert max(x) <= 1
    drf = sum(v * sum(row) for v, row in zip(x, requests)) / len(resources)
    njc = bound(requests, entitlements, [sum(row, F(0)) / len(resources) for row in requests], proofs)
    assert njc < drf
    return {"njc": njc, "drf": drf}


found = njc_uses_less(requests, entitlements, x, rounds, proofs)
print("D.S4.utilisation-lower: NJC uses at most {njc} of the resources, and DRF {drf}".format(**found))
