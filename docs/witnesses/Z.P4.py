"""Z.P4 is confirmed. It says (Z Proposition 4, Example 3):

    LMMF violates envy-freeness.

Assumed: one server, same demands, unlimited, equal weights, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1]], [["1/2"]]])
capacity = exact([1])
weights = exact([1, 1])
tasks = exact([["2/3"], ["2/3"]])
rounds = exact([["2/3"]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


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


def most_envious(demands, held, have):
    """Who could run the most, in parts of what it has, with what another one holds, and who that is; it is more than it has."""
    pairs = [(n, m) for n in range(len(have)) for m in range(len(have)) if n != m]
    n, m = max(pairs, key=lambda pair: alone(demands[pair[0]], held[pair[1]]) / have[pair[0]])
    assert alone(demands[n], held[m]) > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "more": alone(demands[n], held[m])}


def packed(demands, capacity, tasks):
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def lmmf_with_envy(variants, capacity, weights, tasks, rounds):
    """LMMF, of users with one demand vector each, whose totals are these in all answers; each holds what its tasks take."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert all(len(rows) == 1 for rows in variants)
    held = [[x[0] * q for q in rows[0]] for x, rows in zip(tasks, variants)]
    return most_envious([rows[0] for rows in variants], held, [x[0] for x in tasks])


found = lmmf_with_envy(variants, capacity, weights, tasks, rounds)
print("Z.P4: user {user} runs {have} tasks, and {more} with what user {envied} holds".format(**found))
