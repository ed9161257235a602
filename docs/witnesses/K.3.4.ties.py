"""K.3.4.ties is confirmed. It says (beside K 3.4, where each B is positive):

    With B = 0 the tasks of an equilibrium need not be unique, for two users and two servers.

Assumed: one variant, same demands, everywhere, positive, unlimited, at least 2 users, alpha in 3, 2. Shown for the
answer below; a claim about every answer is refuted by one.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[4, 1], [1, 4]])
capacities = exact([[8, 4], [4, 8]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
alpha = exact([3, 3])
tasks = exact([[2, 0], [0, 2]])
prices = exact([["1/8", 0], [0, "1/8"]])
other_tasks = exact([["15/8", "1/2"], ["1/2", "15/8"]])
other_prices = exact([["512/6859", 0], [0, "512/6859"]])


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


def virtual_shares(problem, tasks):
    """{arc: tasks of the user / (phi_n gamma_ni)}."""
    need, (demands, capacities, _, weights) = arcs(problem), problem
    return {a: sum(tasks[a[0]]) / (weights[a[0]] * alone(demands[a[0]], capacities[a[2]])) for a in need}


def used(need, x, i, r):
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def equilibrium(need, room, worth, x, prices, *logic):
    """Only full resources have a price; a task costs what it is worth or more, and just that where it runs (K (28)-(29)).

    worth[a] = g'(x_n / (phi_n gamma_ni)) / gamma_ni in the game; with worth[a] = w_n / u_n it is Nash bargaining (Z (3)).
    """
    all_, any_, _, ge, eq = logic
    cost = {a: sum(prices[a[-1], r] * q for r, q in d.items()) for a, d in need.items()}
    full = [any_([eq(p, 0), eq(used(need, x, i, r), room[i, r])]) for (i, r), p in prices.items()]
    paid = [all_([ge(cost[a], worth[a]), any_([eq(x[a], 0), eq(cost[a], worth[a])])]) for a in need]
    return all_([*(ge(p, 0) for p in prices.values()), *full, *paid])


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def tables(rows):
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


def feasible(need, room, x, *logic):
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


EXACT = (all, any, lambda a, b: not a or b, lambda a, b: a >= b, lambda a, b: a == b)


def fits(problem, tasks):
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def whole_root(square):
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def root(square):
    """The square root of the square of a rational."""
    found = F(whole_root(square.numerator), whole_root(square.denominator))
    assert found * found == square
    return found


def falling(z, alpha):
    """z^-alpha where that is rational: alpha is a whole number, or half of one and z the square of a rational."""
    return z**-alpha if alpha == int(alpha) else root(z) ** int(-2 * alpha)


def two_equilibria_at_ties(problem, alpha, tasks, prices, other_tasks, other_prices):
    """Two equilibria with different totals, for g' = z^-alpha with the alpha of each server."""
    demands, capacities, _, _ = problem
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        z = virtual_shares(problem, x)
        worth = {a: falling(share, alpha[a[-1]]) / alone(demands[a[0]], capacities[a[-1]]) for a, share in z.items()}
        assert equilibrium(arcs(problem), tables(capacities), worth, fits(problem, x), tables(p), *EXACT)
    first, second = (listed(map(sum, x)) for x in (tasks, other_tasks))
    assert first != second
    return {"first": first, "second": second}


found = two_equilibria_at_ties(problem, alpha, tasks, prices, other_tasks, other_prices)
print("K.3.4.ties: the totals {first} and {second} are two equilibria".format(**found))
