"""K.L3 is refuted. It says (K Lemma 3):

    The direction v of PS-MFA is a strict descent direction unless it is 0.

Assumed: g' = z^-alpha; it is shown of all prices (to the letter), and so of those of full resources (as (40) asks).
Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, "2009/1369"], ["2009/1369", 1]])
capacities = exact([["422208075153205244464332800000/377254397903513154061654683",
                     "337766460122564195571466240000/377254397903513154061654683"],
                    ["337766460122564195571466240000/377254397903513154061654683",
                     "422208075153205244464332800000/377254397903513154061654683"],
                    ["50273740038537715372862929154867200000/46954549505424693917169687621242187",
                     "50273740038537715372862929154867200000/46954549505424693917169687621242187"]])
eligible = [[1, 1, 1], [1, 1, 1]]
weights = exact(["84441615030641048892866560000/518345889303512229941543067",
                 "84441615030641048892866560000/518345889303512229941543067"])
problem = (demands, capacities, eligible, weights)
alphas = [3, 3, 3]
tasks = exact([["84441615030641048892866560000/518345889303512229941543067",
                "337766460122564195571466240000/518345889303512229941543067",
                "44648081739376301396858729267200000/102895287447972302229005889600969"],
               ["337766460122564195571466240000/518345889303512229941543067",
                "84441615030641048892866560000/518345889303512229941543067",
                "44648081739376301396858729267200000/102895287447972302229005889600969"]])
prices = exact([["2810120443516841945955864412160000/3236033386921826851525053367281", 0],
                [0, "2810120443516841945955864412160000/3236033386921826851525053367281"],
                ["216251987296565499947465508982857713344430080000000/451172101332864759420680029614222231988185190809",
                 "216251987296565499947465508982857713344430080000000/451172101332864759420680029614222231988185190809"]])
factors = exact([["4405509564670258991399936000/1837771789348816087974561783"],
                 ["4405509564670258991399936000/1837771789348816087974561783"],
                 ["2202754782335129495699968000/1548034369915443218054347959",
                  "2202754782335129495699968000/1548034369915443218054347959"]])


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


def no_descent(gradient, columns, priced, factors):
    """-gradient is in the normal cone of what (46) allows, a sum of the columns d_r of full resources, so v_x = 0.

    The factor of a resource without a price must not be negative, for there v.d_r <= 0; where it has one, v.d_r = 0.
    """
    parts = [sum(s * column[n] for s, column in zip(factors, columns)) for n in range(len(gradient))]
    return parts == [-g for g in gradient] and all(s >= 0 or p for s, p in zip(factors, priced))


def price_moves(problem, tasks, prices, factors, by_x, by_price):
    """v_lambda (47-48) of every resource, full or not, by server, at a point (38-40) where v_x = 0 by these factors."""
    demands, moves = problem[0], []
    for i, of_prices in enumerate(by_price):
        full = full_resources(problem, tasks, i)
        assert all(price >= 0 and (r in full or price == 0) for r, price in enumerate(prices[i]))
        assert no_descent(by_x[i], [[d[r] for d in demands] for r in full], [prices[i][r] > 0 for r in full], factors[i])
        betas = [-sum(a * d[r] for a, d in zip(by_x[i], demands)) for r in range(len(of_prices))]
        v = [-slope + (beta if slope * beta <= 0 else 0) for slope, beta in zip(of_prices, betas)]  # (47), U(0) = 1
        moves.append([part if price > 0 else max(part, F(0)) for part, price in zip(v, prices[i])])  # (48)
    return moves


def listed(numbers):
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def direction_without_descent(problem, alphas, tasks, prices, factors):
    """-grad_x is normal to what (46) allows at every server, so v_x = 0; prices move by (47-48), and Psi with none of them."""
    assert fits(problem, tasks)
    by_x, by_price = merit_gradient(problem, alphas, tasks, prices)
    v = price_moves(problem, tasks, prices, factors, by_x, by_price)
    assert all(move == 0 or slope == 0 for row, slopes in zip(v, by_price) for move, slope in zip(row, slopes))
    assert any(row[r] for i, row in enumerate(v) for r in full_resources(problem, tasks, i))
    return {"moves": listed([move for row in v for move in row])}


found = direction_without_descent(problem, alphas, tasks, prices, factors)
print(
    "K.L3: nothing but prices with dPsi/dlambda = 0 moves, by {moves}: v is not 0, and Psi "
    "has the slope 0 along it".format(**found)
)
