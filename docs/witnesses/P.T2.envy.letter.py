"""P.T2.envy.letter is refuted. It says (P (24) to (28) to the letter):

    Nobody prefers the totals x_m d_m of another, scaled by the weights, wherever they lie.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown for every answer of the mechanism.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([["1/2"], [1]])
eligible = [[1, 1], [1, 0]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
user = 1
envied = 0
most = exact("1/2")
least = exact(1)
steps_most = ["0:1 2:1"]
steps_least = ["by 0 1", "2:1 3:1"]


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


def ps_dsf_with_envy(problem, user, envied, most, least, steps_most, steps_least):
    """In every PS-DSF allocation one user has at most `most`, and the other at least `least`, wherever that lies."""
    users = len(problem[0])
    assert every_ps_dsf(problem, unit_of(user, users), most, iter(steps_most))
    assert every_ps_dsf(problem, unit_of(envied, users, -1), -least, iter(steps_least))
    demands, weights = problem[0], problem[3]
    more = alone(demands[user], [least * q * weights[user] / weights[envied] for q in demands[envied]])
    assert more > most
    return {"user": user + 1, "envied": envied + 1, "have": most, "more": more}


found = ps_dsf_with_envy(problem, user, envied, most, least, steps_most, steps_least)
print(
    "P.T2.envy.letter: user {user} runs at most {have} tasks, and {more} or more with the "
    "resources of user {envied}, by weight".format(**found)
)
