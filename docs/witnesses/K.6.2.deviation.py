"""K.6.2.deviation is refuted. It says (K 6.2, read for each system instead of averages over an hour):

    In every system the mean deviation (58) is larger for smaller alpha.

Assumed: one variant, same demands, everywhere, positive, unlimited, at least 2 users. Shown for the answer below; a
claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [2, 1], [1, 2]])
capacities = exact([[3, 4], [2, 1]])
eligible = [[1, 1], [1, 1], [1, 1]]
weights = exact([1, 4, 4])
tasks = exact([["5/9", 0], ["13/27", 1], ["40/27", 0]])
prices = exact([["9/10", "9/10"], ["9/10", "9/10"]])
low = exact("597509/1000000")
high = exact("597511/1000000")


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
    """At alpha = 3 with a = x_11: users 2 and 3 fill server 1 beside user 1, and user 2 has server 2: linear in a.

    Prices of server 1 exist iff 3 h_11 = h_21 + h_31, h = g'(z) / gamma. h_1 falls with a, for x_1 rises, and h_2 and h_3
    rise: so there is one such a, and it is between low and high, if 3 h_11 - h_21 - h_31 changes its sign there.
    """
    assert equilibrium(demands, capacities, eligible, weights, lambda z: 1 / z, tasks, prices)
    assert demands == [[1, 1], [2, 1], [1, 2]]
    ends = []
    for a in (low, high):
        b = (2 - a) / 3
        x = [[a, F(0)], [b, F(1)], [b + 1, F(0)]]
        assert fits(demands, capacities, eligible, x)
        assert all(sum(row[i] * d[r] for row, d in zip(x, demands)) == capacities[i][r] for i in (0, 1) for r in (0, 1))
        gamma = [[alone(d, c) for c in capacities] for d in demands]
        z = [[sum(row) / (w * g) for g in own] for row, w, own in zip(x, weights, gamma)]
        ends.append((x, z, [[s**-3 / g for s, g in zip(row, own)] for row, own in zip(z, gamma)]))
    (x, z, h), (y, s, k) = ends
    assert 3 * h[0][0] - h[1][0] - h[2][0] > 0 > 3 * k[0][0] - k[1][0] - k[2][0]
    assert h[1][0] - h[0][0] > 0  # the prices of server 1 are h_21 - h_11 and 2 h_11 - h_21
    assert 2 * k[0][0] - k[1][0] > 0
    assert h[1][1] > max(h[0][1], k[2][1] / 2)  # that of resource 2 at server 2 is h_22, and covers users 1 and 3
    one = sum(w * deviation_of(tasks, weights, demands, capacities)[n] for n, w in enumerate(weights)) / sum(weights)
    parts = [F(0)] * 3
    for n in range(3):
        for i in (0, 1):
            least = min(max(z[m][i], s[m][i]) for m in range(3))
            ratio = min(z[n][i], s[n][i]) / least - 1
            parts[n] += min(x[n][i], y[n][i]) / max(sum(x[n]), sum(y[n])) * max(ratio, F(0))
    three = sum(w * part for w, part in zip(weights, parts)) / sum(weights)
    assert one < three
    return {"one": one, "three": F(int(three * 10**4), 10**4)}


found = more_deviation(demands, capacities, eligible, weights, tasks, prices, low, high)
print("K.6.2.deviation: the mean deviation is {one} at alpha = 1 and more than {three} at alpha = 3".format(**found))
