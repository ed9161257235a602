"""K.E111 is refuted. It says (K (111), the proof of Lemma 3):

    dPsi/dlambda v_lambda < 0 for each price that moves.

Assumed: one variant, same demands, no idle server, unlimited, at least 2 users, alpha in 2, price in 1. Shown about
the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1], [1]])
capacities = exact([[2], [1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
tasks = exact([[1, 0], [1, 0]])
prices = exact([[2], [0]])


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


def slopes(x, f):
    """psi_a and psi_b at (x, f), for psi = (rho - x - f)^2 / 2 with rho = sqrt(x^2 + f^2) (K 35-37)."""
    rho = root(x**2 + f**2)
    return (rho - x - f) * (x / rho - 1), (rho - x - f) * (f / rho - 1)


def merit_gradient(problem, alphas, tasks, prices):
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for g' = z^-alpha of each server.

    Psi = sum psi(x_ni, f_ni) (`slopes`); for users who are not eligible there is no term.
    """
    demands, capacities, eligible, weights = problem
    have = [sum(row) for row in tasks]
    by_x = [[F(0) for _ in demands] for _ in capacities]
    by_price = [[F(0) for _ in capacity] for capacity in capacities]
    pull = [F(0) for _ in demands]
    for i, capacity in enumerate(capacities):
        for n, d in enumerate(demands):
            if not eligible[n][i]:
                continue
            gamma, x = alone(d, capacity), tasks[n][i]
            need = (weights[n] * gamma / have[n]) ** alphas[i] / gamma
            f = sum(p * q for p, q in zip(prices[i], d)) - need
            by_x[i][n], by_f = slopes(x, f)
            pull[n] += by_f * alphas[i] * need / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def full_resources(problem, tasks, i):
    """The resources of server i that are full."""
    return [r for r, c in enumerate(problem[1][i]) if sum(x[i] * d[r] for x, d in zip(tasks, problem[0])) == c]


def price_that_moves_along_nothing(problem, tasks, prices):
    """alpha = 2. With dPsi/dlambda = 0 and beta > 0, (47) has U(0) = 1, so the direction of a price > 0 is beta (48)."""
    assert fits(problem, tasks)
    by_x, by_price = merit_gradient(problem, [2 for _ in problem[1]], tasks, prices)
    for i in range(len(problem[1])):
        for r in full_resources(problem, tasks, i):
            beta = -sum(slope * d[r] for slope, d in zip(by_x[i], problem[0]))  # (45)
            if prices[i][r] > 0 and by_price[i][r] == 0 and beta > 0:
                return {"server": i + 1, "resource": r + 1, "beta": beta}
    raise AssertionError("no such price")


found = price_that_moves_along_nothing(problem, tasks, prices)
print(
    "K.E111: dPsi/dlambda = 0 for resource {resource} of server {server}, and its price moves"
    " by beta = {beta}".format(**found)
)
