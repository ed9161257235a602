"""K.6.2.deviation is refuted. It says (K 6.2, read for each system instead of averages over an hour):

    In every system of one server the mean deviation (58) is larger for smaller alpha.

Assumed: one server, one variant, same demands, everywhere, positive, unlimited, at least 2 users. Shown for every
answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [1, 3], [3, 1]])
capacities = exact([[3, 2]])
eligible = [[1], [1], [1]]
weights = exact([1, 1, 3])
tasks = exact([["1/2"], ["1/4"], ["3/4"]])
prices = exact([[1, 1]])
low = exact([["6799/12500"], ["11951/50000"], ["36951/50000"]])
high = exact([["33993/62500"], ["59757/250000"], ["184757/250000"]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def deviation_of(tasks, weights, demands, capacities):
    """D_n = sum_i (x_ni / x_n) (z_ni / min_m z_mi - 1) of each user (K 58), where everybody may run everywhere."""
    servers = range(len(capacities))
    z = [[sum(row) / (w * alone(d, c)) for c in capacities] for row, w, d in zip(tasks, weights, demands)]
    least = [min(row[i] for row in z) for i in servers]
    return [sum((row[i] / sum(row) * (own[i] / least[i] - 1) for i in servers), F(0)) for row, own in zip(tasks, z)]


def equilibrium(demands, capacities, eligible, weights, marginal, tasks, prices):
    """Only full resources have a price; where n may run, a task costs marginal(z_n) / gamma_n or more, and that where n runs."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if prices[i][r] < 0 or (prices[i][r] > 0 and sum(x[i] * d[r] for x, d in zip(tasks, demands)) != c):
                return False
        for n, d in enumerate(demands):
            gamma = alone(d, capacity)
            if eligible[n][i] and gamma > 0:
                f = sum(p * q for p, q in zip(prices[i], d)) - marginal(have[n] / (weights[n] * gamma)) / gamma
                if f < 0 or (tasks[n][i] and f):
                    return False
    return fits(demands, capacities, eligible, tasks)


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def more_deviation(demands, capacities, eligible, weights, tasks, prices, low, high):
    """One server, where the tasks of the equilibrium are unique. At alpha = 3 these are between low and high.

    Three users fill both resources at low, high and all points between. Prices with p d_n = h_n = g'(z_n) / gamma_n exist iff the
    sum of step_n h_n is 0, with step = high - low, which fills nothing. That sum falls from low to high, as h_n falls with x_n:
    it changes its sign once. Prices are linear in h, so they are positive if they are for all h between those of the ends.
    """
    assert len(capacities) == 1
    assert equilibrium(demands, capacities, eligible, weights, lambda z: 1 / z, tasks, prices)
    for x in (low, high):
        assert fits(demands, capacities, eligible, x)
        assert all(sum(row[0] * d[r] for row, d in zip(x, demands)) == c for r, c in enumerate(capacities[0]))
    gamma = [alone(d, capacities[0]) for d in demands]
    z = [[x[n][0] / (w * g) for n, (w, g) in enumerate(zip(weights, gamma))] for x in (low, high)]
    h = [[s**-3 / g for s, g in zip(row, gamma)] for row in z]
    step = [b[0] - a[0] for a, b in zip(low, high)]
    assert sum(s * v for s, v in zip(step, h[0])) > 0 > sum(s * v for s, v in zip(step, h[1]))
    (a, b), (e, f) = demands[1], demands[2]
    for u, v in ((u, v) for u in (h[0][1], h[1][1]) for v in (h[0][2], h[1][2])):
        assert (u * f - v * b) / (a * f - b * e) > 0
        assert (v * a - u * e) / (a * f - b * e) > 0
    one = sum(w * v for w, v in zip(weights, deviation_of(tasks, weights, demands, capacities))) / sum(weights)
    least = min(max(s, t) for s, t in zip(*z))
    three = sum(w * max(min(s, t) / least - 1, F(0)) for w, s, t in zip(weights, *z)) / sum(weights)
    assert one < three
    return {"one": one, "three": F(int(three * 10**4), 10**4)}


found = more_deviation(demands, capacities, eligible, weights, tasks, prices, low, high)
print("K.6.2.deviation: the mean deviation is {one} at alpha = 1 and more than {three} at alpha = 3".format(**found))
