"""P.T2.pareto is refuted. It says (P Theorem 2):

    ps-dsf is Pareto optimal.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[2, 3], [2, 1]])
capacities = exact([[1, 1], [4, 3]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
most = exact(["7/9", "14/9"])
better = exact([["1/4", "19/36"], ["1/4", "17/12"]])
steps = [
    [
        'use 0 1', '1:1/3 3:4/27 4:5/9', 'by 1 1', 'use 0 0', '0:1/45 1:7/45 3:1/5 5:4/45 6:2/5', 'use 1 0',
        '1:1/9 2:1/6 5:2/9 6:2/3', 'by 0 0', '1:7/36 3:7/36 6:1/2 7:1/36', '1:7/36 3:7/36 6:1/2 7:1/36', 'use 0 0',
        '0:1/45 1:7/45 3:1/5 5:4/45 6:2/5', 'use 1 0', '1:1/9 2:1/6 5:2/9 6:2/3', 'by 0 0',
        '1:7/36 3:7/36 6:1/2 7:1/36', '1:7/36 3:7/36 6:1/2 7:1/36',
    ],
    [
        'use 1 1', '0:1/2 2:19/72 4:17/36', 'by 0 1', 'use 0 0', '0:5/18 2:7/36 3:1/6 5:1/3 6:8/9', 'use 0 1',
        '0:16/63 1:2/21 2:19/63 5:4/21 6:50/63', 'use 1 0', '1:2/9 2:1/3 5:4/9 6:2/3', 'by 0 0',
        '0:3/10 2:3/10 7:1/5', '0:3/10 2:3/10 7:1/5', 'use 0 0', '0:5/18 2:7/36 3:1/6 5:1/3 6:8/9', 'use 0 1',
        '0:16/63 1:2/21 2:19/63 5:4/21 6:50/63', 'use 1 0', '1:2/9 2:1/3 5:4/9 6:2/3', 'by 0 0',
        '0:3/10 2:3/10 7:1/5', '0:3/10 2:3/10 7:1/5',
    ],
]


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def every_ps_dsf(demands, capacities, eligible, weights, objective, most, steps, known):
    """For every PS-DSF allocation sum_n objective_n x_n <= most, by cases, which are read from the steps one after the other.

    A case knows full resources r of server i that make n content there (n, i, r), arcs (m, i) with no task, and others, where m
    has no larger share than n if it demands that r. "by n i" splits it by which resource it is for n at i, "use m i" by whether
    m has tasks at i, all counted from 0. A case that is not split has factors of its rows, row:factor, that prove the bound.
    """
    full, none, used = known
    words = next(steps).split()
    if words[0] in ("by", "use"):
        n, i = int(words[1]), int(words[2])
        assert eligible[n][i]
        assert alone(demands[n], capacities[i]) > 0
        ways = [([*full, (n, i, r)], none, used) for r, q in enumerate(demands[n]) if q]
        ways = ways if words[0] == "by" else [(full, [*none, (n, i)], used), (full, none, [*used, (n, i)])]
        return all(every_ps_dsf(demands, capacities, eligible, weights, objective, most, steps, way) for way in ways)
    rows, sides = ps_dsf_rows(demands, capacities, eligible, weights, known)
    given = {int(word.split(":")[0]): F(word.split(":")[1]) for word in words}
    factors = [given.get(k, F(0)) for k in range(len(rows))]
    return at_most(rows, sides, factors, [v for v in objective for _ in capacities]) <= most


def fits(demands, capacities, eligible, tasks):
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


def ps_dsf_rows(demands, capacities, eligible, weights, known):
    """rows . x <= sides for x_ni, all servers of user 1 first, that a case of `every_ps_dsf` knows."""
    full, none, used = known
    users, servers = range(len(demands)), range(len(capacities))
    rows = []
    sides = []
    for i in servers:
        for r, c in enumerate(capacities[i]):
            rows.append([demands[n][r] * (j == i) for n in users for j in servers])
            sides.append(c)
    for _, i, r in full:
        rows.append([-demands[n][r] * (j == i) for n in users for j in servers])
        sides.append(-capacities[i][r])
    idle = [(n, i) for n in users for i in servers if not eligible[n][i]]
    for m, i in [*none, *idle]:
        rows.append([F(int((n, j) == (m, i))) for n in users for j in servers])
        sides.append(F(0))
    for n, i, r in full:
        for m, j in used:
            if j == i and m != n and demands[m][r]:
                ones = {k: 1 / (weights[k] * alone(demands[k], capacities[i])) for k in (m, n)}
                rows.append([ones[m] if k == m else -ones[n] if k == n else F(0) for k in users for _ in servers])
                sides.append(F(0))
    return rows, sides


def ps_dsf_without_pareto_optimality(demands, capacities, eligible, weights, most, better, steps):
    """No PS-DSF allocation gives user n more than most_n; other feasible tasks give everybody that or more, and somebody more."""
    users = range(len(demands))
    for n in users:
        unit = [F(int(m == n)) for m in users]
        assert every_ps_dsf(demands, capacities, eligible, weights, unit, most[n], iter(steps[n]), ([], [], []))
    assert fits(demands, capacities, eligible, better)
    gains = [sum(row) - most[n] for n, row in enumerate(better)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"user": n + 1, "have": most[n], "more": sum(better[n])}


found = ps_dsf_without_pareto_optimality(demands, capacities, eligible, weights, most, better, steps)
print(
    "P.T2.pareto: PS-DSF gives user {user} at most {have} tasks; others that fit give it "
    "{more}, and nobody less than PS-DSF does".format(**found)
)
