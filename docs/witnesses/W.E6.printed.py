"""W.E6.printed is refuted. It says (W (6), and alike (8)):

    (6) with the sum of g_il over l in U, as it is printed, has the value of (5).

Assumed: one variant, same demands, everywhere, positive, unlimited, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[1], [1], [1]])
eligible = [[1, 1, 1], [1, 1, 1]]
weights = exact([1, 1])


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def program_6_as_printed(demands, capacities, eligible, weights):
    """One resource. Equal parts of all servers have the least share `five`; of servers 1, ..., |U| alone nobody has all `six`."""
    users, servers = range(len(demands)), range(len(capacities))
    assert len(capacities[0]) == 1
    assert len(users) < len(servers)
    assert all(w == 1 for w in weights)
    total = sum(c[0] for c in capacities)
    tasks = [[c[0] / len(users) / d[0] for c in capacities] for d in demands]
    assert fits(demands, capacities, eligible, tasks)
    five = min(sum(x) * d[0] / total for x, d in zip(tasks, demands))
    rows = [[F(int(j == i)) for _ in users for j in users] + [F(0)] for i in users]  # what server i has, in shares of the total
    rows += [[F(-int(n == m)) for m in users for _ in users] + [F(1)] for n in users]  # g - sum of g_nl over l in U <= 0
    sides = [capacities[i][0] / total for i in users] + [F(0)] * len(users)
    factors = [F(1, len(users))] * (2 * len(users))
    six = at_most(rows, sides, factors, [F(0)] * len(users) ** 2 + [F(1)])
    assert six < five
    return {"five": five, "six": six}


found = program_6_as_printed(demands, capacities, eligible, weights)
print(
    "W.E6.printed: (5) has the value {five} or more, and (6) with the sum over l in U at most"
    " {six}".format(**found)
)
