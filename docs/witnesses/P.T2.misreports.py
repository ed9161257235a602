"""P.T2.misreports is refuted. It says (P Table I; P Theorem 2):

    ps-dsf is strategyproof, about demands and eligible servers.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[0, 1], [0, 1], [1, 1], [1, 0]])
capacities = exact([[1, 1], [1, 2]])
eligible = [[1, 1], [1, 1], [1, 1], [1, 1]]
weights = exact([1, 1, 1, 1])
problem = (demands, capacities, eligible, weights)
reported = exact([[0, 1], ["1/2", 1], [1, 1], [1, 0]])
eligible_told = [[1, 1], [1, 1], [1, 1], [1, 1]]
report = (reported, capacities, eligible_told, weights)
user = 1
before = exact(1)
after = exact("8/7")
steps_before = ["use 1 1", "1:1 4:1", "by 0 1", "use 0 1", "1:1 5:1 6:2", "by 0 0", "by 1 0", "by 1 1", "by 3 0",
                "use 3 0", "1:1/2 3:1/2 8:1/2 9:1/2 10:1", "by 3 1", "use 3 1", "1:1/2 3:1/2 9:1/2 10:1/2 11:1",
                "by 2 1", "1:1/2 3:1/2 8:1/4 9:1/4 11:1 13:1/4", "by 2 0", "1:1/2 3:1/2 8:1/4 9:1/4 12:1 16:1/4",
                "use 0 0", "use 1 0", "3:1/2 12:1/2 13:1/2 14:1", "1:1/3 3:1/3 14:1/3 18:1/3",
                "1:1/3 3:1/3 12:4/3 17:1/3"]
steps_after = ["by 0 0", "by 0 1", "use 0 1", "2:8/7 5:8/7 6:8/7", "by 3 0", "by 3 1", "by 1 1", "use 0 0", "use 2 0",
               "use 1 0", "4:8/7 9:8/7 10:8/7 11:1/7", "use 3 1", "0:2/7 4:10/7 9:10/7 10:8/7 11:2/7 13:2/7",
               "6:8/7 10:8/7 12:2/7 13:10/7", "use 3 1", "0:4/7 4:8/7 7:4/7 9:8/7 10:8/7 12:4/7",
               "6:4/7 7:4/7 11:4/7 12:8/7", "by 1 0", "use 1 0", "use 1 1", "use 2 0", "use 3 0",
               "6:8/7 12:8/7 13:8/7", "6:8/7 10:5/7 11:1/7 12:8/7 13:8/7", "use 3 0",
               "6:8/7 10:5/7 11:1/7 12:8/7 15:8/7", "6:4/7 7:4/7 10:3/7 11:3/7 14:4/7 15:4/7", "use 2 0", "use 3 0",
               "6:8/7 11:8/7 12:8/7", "by 2 0", "2:2/7 6:10/7 11:6/7 12:12/7 15:8/7 16:2/7",
               "2:2/7 4:1/7 5:1/7 6:1 11:9/14 12:9/7 15:1 16:1/7", "use 3 0",
               "2:2/7 6:10/7 10:6/7 11:12/7 14:2/7 16:8/7", "use 3 1", "use 2 1",
               "6:2/7 7:6/7 11:4/7 12:4/7 17:2/7 18:2/7", "by 2 0", "6:4/7 7:4/7 19:6/7 21:2/7 22:2/7",
               "4:8/21 5:8/21 19:2/7 20:10/21 22:8/21", "6:4/7 7:4/7 13:2/7 15:6/7 16:2/7", "use 1 1", "use 2 0",
               "use 3 0", "6:8/7 11:8/7 12:8/7", "use 2 1", "6:4/7 7:4/7 11:4/7 12:4/7 15:4/7", "use 3 1",
               "6:3/7 7:5/7 10:1/7 12:2/7 17:5/7 18:3/7", "6:4/7 7:4/7 16:4/7 17:4/7", "use 3 1",
               "0:2/7 7:10/7 10:6/7 11:12/7 15:2/7 16:8/7", "6:4/7 7:4/7 14:2/7 15:6/7 16:2/7", "use 2 0", "use 3 0",
               "6:8/7 10:8/7 11:8/7", "use 2 1", "6:4/7 7:4/7 10:4/7 11:4/7 16:4/7", "by 2 0",
               "6:4/7 7:4/7 18:6/7 19:2/7 21:2/7", "4:8/21 5:8/21 18:16/21 20:8/21", "use 3 0",
               "1:12/7 2:2/7 6:22/7 10:24/7 15:2/7 17:8/7", "use 3 1", "use 2 1",
               "6:2/7 7:6/7 10:4/7 11:4/7 18:2/7 19:2/7", "by 2 0", "6:4/7 7:4/7 20:6/7 22:2/7 24:2/7",
               "4:8/21 5:8/21 20:16/21 23:8/21", "6:4/7 7:4/7 14:2/7 16:6/7 17:2/7", "use 2 0", "use 1 0",
               "2:4/7 4:4/7 5:4/7 10:4/7 11:1/7 12:4/7", "0:2/7 2:5/7 4:5/7 5:5/7 10:3/7 12:2/7 13:5/7",
               "0:2/7 2:2/7 4:4/7 5:4/7 11:2/7 12:4/7", "use 2 0", "use 1 0", "2:4/7 4:4/7 5:4/7 9:4/7 10:1/7 11:8/7",
               "0:2/7 2:5/7 4:5/7 5:5/7 9:3/7 11:2/7 12:10/7", "0:2/7 2:2/7 4:4/7 5:4/7 10:2/7 11:8/7"]


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
    "P.T2.misreports: user {user} runs at most {before} tasks by the truth, and at least "
    "{after} by its misreport".format(**found)
)
