"""P.T2.pareto is refuted. It says (P Table I; P Theorem 2):

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
problem = (demands, capacities, eligible, weights)
most = exact(["7/9", "14/9"])
better = exact([["1/4", "19/36"], ["1/4", "17/12"]])
steps = [["use 0 1", "1:1/3 3:4/27 4:5/9", "by 1 1", "use 0 0", "0:1/45 1:7/45 3:1/5 5:4/45 6:2/5", "use 1 0",
          "1:1/9 2:1/6 5:2/9 6:2/3", "by 0 0", "1:7/36 3:7/36 6:1/2 7:1/36", "1:7/36 3:7/36 6:1/2 7:1/36", "use 0 0",
          "0:1/45 1:7/45 3:1/5 5:4/45 6:2/5", "use 1 0", "1:1/9 2:1/6 5:2/9 6:2/3", "by 0 0",
          "1:7/36 3:7/36 6:1/2 7:1/36", "1:7/36 3:7/36 6:1/2 7:1/36"],
         ["use 1 1", "0:1/2 2:19/72 4:17/36", "by 0 1", "use 0 0", "0:5/18 2:7/36 3:1/6 5:1/3 6:8/9", "use 0 1",
          "0:16/63 1:2/21 2:19/63 5:4/21 6:50/63", "use 1 0", "1:2/9 2:1/3 5:4/9 6:2/3", "by 0 0",
          "0:3/10 2:3/10 7:1/5", "0:3/10 2:3/10 7:1/5", "use 0 0", "0:5/18 2:7/36 3:1/6 5:1/3 6:8/9", "use 0 1",
          "0:16/63 1:2/21 2:19/63 5:4/21 6:50/63", "use 1 0", "1:2/9 2:1/3 5:4/9 6:2/3", "by 0 0",
          "0:3/10 2:3/10 7:1/5", "0:3/10 2:3/10 7:1/5"]]


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def arcs(problem):
    """{(user, place, server): {resource: demand}} of those who may run there; places are servers for each of a user's vectors."""
    demands, capacities, eligible, _ = problem
    need = {}
    for n, rows in enumerate(demands):
        vectors = rows if isinstance(rows[0], list) else [rows]
        for k, (d, i) in enumerate((d, i) for d in vectors for i in range(len(capacities))):
            if eligible[n][i] and alone(d, capacities[i]) > 0:
                need[n, k, i] = {r: q for r, q in enumerate(d) if q}
    return need


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fits(problem, tasks):
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def undominated(need, room, y, tasks, have, *logic):
    """Where y, {user: tasks} in all, is feasible and gives nobody less than it has, it gives nobody more: Pareto (W 3.3)."""
    all_, _, implies, ge, _ = logic
    no_less, no_more = all_([ge(tasks[n], u) for n, u in have.items()]), all_([ge(u, tasks[n]) for n, u in have.items()])
    return implies(all_([feasible(need, room, y, *logic), no_less]), no_more)


def dominating(problem, have, better):
    """Who gains most by the tasks `better`, which are feasible and give nobody less than it has."""
    y, tasks = fits(problem, better), [sum(row) for row in better]
    assert not undominated(arcs(problem), tables(problem[1]), y, tasks, dict(enumerate(have)), *EXACT)
    gains = [sum(row) - u for row, u in zip(better, have)]
    n = gains.index(max(gains))
    return {"user": n + 1, "have": have[n], "more": sum(better[n])}


def ps_dsf_rows(problem, known):
    """rows . x <= sides for x_ni, all servers of user 1 first, that a case of `every_ps_dsf` knows."""
    (demands, capacities, eligible, weights), (full, none, used) = problem, known
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


def splits(problem, known):
    """The ways to split a case by what it does not know yet, all counted from 0.

    "by n i" splits it by which resource makes n content at i, "use n i" by whether n has tasks at i.
    """
    (demands, capacities, eligible, _), (full, none, used) = problem, known
    places = [(n, i) for n in range(len(demands)) for i in range(len(capacities))]
    arcs = [(n, i) for n, i in places if eligible[n][i] and alone(demands[n], capacities[i]) > 0]
    unknown = [arc for arc in arcs if arc not in none and arc not in used]
    found = {f"use {n} {i}": [(full, [*none, (n, i)], used), (full, none, [*used, (n, i)])] for n, i in unknown}
    for n, i in arcs:
        if (n, i) not in [(m, j) for m, j, _ in full]:
            found[f"by {n} {i}"] = [([*full, (n, i, r)], none, used) for r, q in enumerate(demands[n]) if q]
    return found


def at_most(rows, sides, factors, objective):
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def every_ps_dsf(problem, objective, most, steps, known=((), (), ())):
    """For every PS-DSF allocation sum_n objective_n x_n <= most, by cases, which are read from the steps one after the other.

    A case knows full resources r of server i that make n content there (n, i, r), arcs (m, i) with no task, and others, where m
    has no larger share than n if it demands that r. A step that is none of its `splits` has factors of its rows, row:factor, that
    prove the bound.
    """
    step, ways = next(steps), splits(problem, known)
    if step in ways:
        return all(every_ps_dsf(problem, objective, most, steps, way) for way in ways[step])
    rows, sides = ps_dsf_rows(problem, known)
    given = {int(k): F(v) for k, v in (word.split(":") for word in step.split())}
    factors = [given.get(k, F(0)) for k in range(len(rows))]
    return at_most(rows, sides, factors, [v for v in objective for _ in problem[1]]) <= most


def unit_of(n, count, sign=1):
    """sign x_n as an objective."""
    return [F(sign * int(m == n)) for m in range(count)]


def ps_dsf_without_pareto_optimality(problem, most, better, steps):
    """No PS-DSF allocation exceeds a bound of each user; other feasible tasks reach all of these bounds, and exceed one."""
    for n, value in enumerate(most):
        assert every_ps_dsf(problem, unit_of(n, len(most)), value, iter(steps[n]))
    return dominating(problem, most, better)


found = ps_dsf_without_pareto_optimality(problem, most, better, steps)
print(
    "P.T2.pareto: PS-DSF gives user {user} at most {have} tasks; others that fit give it "
    "{more}, and nobody less than PS-DSF does".format(**found)
)
