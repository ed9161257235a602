"""Z.T1.GSP.strict is refuted. It says (Z V, the words after Theorem 1):

    Over simplex demands, if a member of a misreporting coalition gains, another is worse off.

Assumed: one server, same demands, unlimited, equal weights, simplex, at least 2 users. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


variants = exact([[[1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [["1/2", 0, "1/2"], [0, "1/2", "1/2"]]])
reported_variants = exact([[[1, 0, 0]], [[0, 1, 0]], [["1/2", 0, "1/2"]]])
misreporting = [1, 2]
capacity = exact([2, 2, "1/2"])
weights = exact([1, 1, 1])
tasks = exact([["7/4"], ["7/4", 0], ["1/2", "1/2"]])
rounds = exact([[0, 0, 2], ["1/2", "1/2", "1/2"]])
tasks_after = exact([["3/2"], [2], [1]])
rounds_after = exact([[0, 0, 2], [1, 0, 0], [0, 1, 0]])


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


def coalition_without_loss(
    variants, reported_variants, misreporting, capacity, weights, tasks, rounds, tasks_after, rounds_after
):
    """LMMF before and after. Each misreporting user reports some of its own ways and not all, so it runs what it is given."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert lexicographic_in_a_pool(reported_variants, capacity, weights, tasks_after, rounds_after)
    assert all(d in variants[n] for n in misreporting for d in reported_variants[n])
    assert all(any(d not in reported_variants[n] for d in variants[n]) for n in misreporting)
    assert all(sum(d) == 1 for rows in (*variants, *reported_variants) for d in rows)
    gains = {n: sum(tasks_after[n]) - sum(tasks[n]) for n in misreporting}
    n = max(gains, key=lambda m: gains[m])
    assert min(gains.values()) >= 0
    assert gains[n] > 0
    told = "{" + ", ".join(str(m + 1) for m in misreporting) + "}"
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n]), "coalition": told}


found = coalition_without_loss(
    variants, reported_variants, misreporting, capacity, weights, tasks, rounds, tasks_after, rounds_after
)
print(
    "Z.T1.GSP.strict: user {user} runs {more} tasks instead of {have} when users {coalition} "
    "misreport, and none of these runs fewer".format(**found)
)
