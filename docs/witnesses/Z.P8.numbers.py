"""Z.P8.numbers is refuted. It says (Z Proposition 8):

    In Proposition 8, u_2(E) = 3/2 and u_2(Y_2) = 1/2.

Assumed: what is printed. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[0, 1, 0]], [[1, 0, 0], [0, "1/2", "1/2"]]])
capacity = exact([1, 1, 1])
weights = exact([1, 1])
tasks = exact([[1], [1, 0]])
rounds = exact([[0, 1, 0], [1, 2, 0]])
bundle = exact([1, 0, 0])


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


def utility_of_proposition_8(variants, capacity, weights, tasks, rounds, bundle):
    """(1, 0, 0) is what LMMF leaves to user 2 when user 1 has all it can use, and one of user 2's demand vectors."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    held = [[sum(x * d[r] for x, d in zip(row, vectors)) for r in range(len(capacity))] for row, vectors in zip(tasks, variants)]
    assert held[1] == bundle
    assert bundle in variants[1]
    assert sum(tasks[1]) == 1
    return {"worth": sum(tasks[1])}


found = utility_of_proposition_8(variants, capacity, weights, tasks, rounds, bundle)
print("Z.P8.numbers: user 2 can run {worth} task with (1, 0, 0), which it holds; 1/2 is printed".format(**found))
