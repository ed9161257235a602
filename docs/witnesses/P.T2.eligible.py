"""P.T2.eligible is refuted. It says (P Theorem 2: 'by lying about their resource demands or the set of eligible servers'):

    ps-dsf is strategyproof where the set of eligible servers alone is misreported.

Assumed: one variant, same demands, unlimited, at least 2 users, misreported servers. Shown for every answer of the
mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [3, 1], [3, 1]])
capacities = exact([[5, 3], [3, 2]])
eligible = [[1, 1], [1, 1], [1, 0]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)
reported = exact([[1, 1], [3, 1], [3, 1]])
eligible_told = [[1, 0], [1, 1], [1, 0]]
report = (reported, capacities, eligible_told, weights)
user = 0
before = exact("11/6")
after = exact("24/13")
steps_before = ["use 0 0", "use 0 1", "4:1 5:1", "by 0 0", "by 0 1", "3:7/6 5:1/6 6:1", "by 1 0", "by 1 1",
                "3:7/6 7:1/6 8:1", "use 1 0", "3:11/12 8:11/12 9:1/6 11:1/6", "by 2 0",
                "0:1/6 3:1/2 9:1/3 12:1 13:5/6", "0:1/24 3:1 8:1/8 9:13/12", "0:1/24 3:1 6:1/8 7:13/12",
                "0:1/24 3:1 4:1/8 5:13/12", "by 2 0", "by 1 0", "use 1 1",
                "0:3/13 2:17/78 3:1/78 6:1/39 7:1/39 8:15/13 9:15/13", "by 0 1",
                "0:11/48 2:11/48 8:55/48 9:65/48 10:1/8", "0:11/48 2:11/48 8:55/48 9:65/48 10:1/8",
                "0:7/24 2:1/4 5:1/8 7:5/4 8:5/4", "0:29/33 3:1/66 4:19/22 5:58/33 6:65/22"]
steps_after = ["by 0 0", "by 1 0", "by 1 1", "use 1 1", "6:8/13 7:24/13 9:24/13", "by 2 0", "use 1 0", "use 2 0",
               "4:24/65 8:72/65 9:72/65", "4:24/65 8:72/65 11:24/13", "use 2 0",
               "4:3/13 6:3/13 8:9/13 10:9/13 11:15/13", "4:3/13 6:3/13 10:15/13 11:15/13", "0:6/13 7:18/13",
               "2:8/13 6:24/13 7:3/13", "0:6/13 5:18/13", "0:6/13 4:18/13"]


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


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


def misreport_of_ps_dsf(problem, report, user, before, after, steps_before, steps_after):
    """In every PS-DSF allocation the user has at most `before` by the truth, and after its misreport it can run `after` or more.

    Of what it is given for a reported task, the least reported / true demand is what it can run of its own. It reports no server
    on which it may not run.
    """
    up, down = unit_of(user, len(problem[0])), unit_of(user, len(problem[0]), -1)
    own = min(told / needed for told, needed in zip(report[0][user], problem[0][user]) if needed)
    assert all(told == d for n, (told, d) in enumerate(zip(report[0], problem[0])) if n != user)
    assert all(
        told == may or (n == user and told < may) for n, row in enumerate(report[2]) for told, may in zip(row, problem[2][n])
    )
    assert before < after
    assert every_ps_dsf(problem, up, before, iter(steps_before))
    assert every_ps_dsf(report, down, -after / own, iter(steps_after))
    return {"user": user + 1, "before": before, "after": after}


found = misreport_of_ps_dsf(problem, report, user, before, after, steps_before, steps_after)
print(
    "P.T2.eligible: user {user} runs at most {before} tasks by the truth, and at least "
    "{after} by its misreport".format(**found)
)
