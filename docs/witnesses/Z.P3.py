"""Z.P3 is refuted. It says (Z Proposition 3, of the iterations in III-A):

    The LMMF mechanism, by its iterations as printed, places all users and is lexicographically max-min fair.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[0, 1]], [[2, 0]], [[0, 1]]])
capacity = exact([1, 2])
weights = exact([1, 1, 1])
tasks = exact([[1], ["1/2"], [1]])
rounds = exact([["1/2", 0], [0, "1/2"]])
more = exact([[[2], ["1/2"], [0]], [[1], ["1/2"], [1]], [[0], ["1/2"], [2]]])


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


def iteration_that_places_nobody(variants, capacity, weights, tasks, rounds, more):
    """Iteration 1 protects everybody, so it places those of the least utility a_1, and no others: they have more in LMMF.

    Iteration 2 gives the others at least a_2, the second level. It places who cannot have more without less for those placed in
    iteration 1, and in more[n] user n has more without less for these. The next iterations are the same.
    """
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    level = [sum(row) for row in tasks]
    placed = [n for n, u in enumerate(level) if u == min(level)]
    second = min(u for u in level if u > min(level))
    for n in range(len(level)):
        if n not in placed:
            assert packed(variants, capacity, more[n])
            assert sum(more[n][n]) > second
            assert all(sum(more[n][m]) >= level[m] for m in placed)
    return {"placed": [n + 1 for n in placed], "level": second}


found = iteration_that_places_nobody(variants, capacity, weights, tasks, rounds, more)
print(
    "Z.P3: users {placed} are placed in iteration 1; in iteration 2 all others could have "
    "more than {level}: nobody is placed".format(**found)
)
