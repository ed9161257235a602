"""What lone scripts check with: definitions of mechanisms as tests of given answers, by comparisons of rationals.

The source of these functions is copied into the scripts (script.py), so they use nothing but `Fraction`, each other and builtins.

    demands[n][r], capacities[i][r], eligible[n][i], weights[n], tasks[n][i], prices[i][r]     user n, server i, resource r
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

__all__ = [
    "alone",
    "at_most",
    "bound",
    "complaint_rows",
    "deviation_of",
    "equilibrium",
    "every_ps_dsf",
    "exact",
    "fits",
    "lexicographic",
    "lexicographic_in_a_pool",
    "listed",
    "merit_gradient",
    "more_of_the_bottleneck",
    "most_envious",
    "nash_bargain",
    "no_complaint",
    "no_descent",
    "packed",
    "part_of_the_truth",
    "price_moves",
    "ps_dsf",
    "ps_dsf_rows",
    "reasons",
    "root",
    "short_of_its_part",
    "vertex_equilibrium",
    "whole_root",
    "whole_tasks",
]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]


def exact(value: Any) -> Any:
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


def listed(numbers: Any) -> str:
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def alone(demand: Row, capacity: Row) -> F:
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def fits(demands: Rows, capacities: Rows, eligible: Places, tasks: Rows) -> bool:
    """No capacity is exceeded, no task is negative, and nobody has one where it may not run."""
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if sum(x[i] * d[r] for x, d in zip(tasks, demands)) > c:
                return False
    return all(x == 0 if not may else x >= 0 for row, places in zip(tasks, eligible) for x, may in zip(row, places))


# ---- properties -----------------------------------------------------------------------------------------------------------


def short_of_its_part(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> dict[str, Any]:
    """The user with the least of what it could run on its part, by weight, of every server that it may use; it has less."""
    own = [sum(alone(d, c) for c, may in zip(capacities, places) if may) for d, places in zip(demands, eligible)]
    part = [v * w / sum(weights) for v, w in zip(own, weights)]
    short = [sum(x) / v for x, v in zip(tasks, part)]
    n = short.index(min(short))
    assert short[n] < 1
    return {"user": n + 1, "have": sum(tasks[n]), "part": part[n]}


def more_of_the_bottleneck(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, resource: int, user: int, better: Rows
) -> dict[str, Any]:
    """The resource is dominant for all at every server they may use (K Def. 2); in `better`, which fits, the user has more of it.

    And nobody who has as little of it as the user, by weight, has less.
    """
    for d, places in zip(demands, eligible):
        here = [c for c, may in zip(capacities, places) if may and alone(d, c) > 0]
        assert all(c[resource] == alone(d, c) * d[resource] for c in here)
    assert fits(demands, capacities, eligible, better)
    have, more = ([sum(x) * d[resource] / w for x, d, w in zip(part, demands, weights)] for part in (tasks, better))
    assert more[user] > have[user]
    assert all(b >= a for a, b in zip(have, more) if a <= have[user])
    return {"user": user + 1, "resource": resource + 1, "have": have[user], "more": more[user]}


def most_envious(demands: Rows, held: Rows, have: Row) -> dict[str, Any]:
    """Who could run the most, in parts of what it has, with what another one holds, and who that is; it is more than it has."""
    pairs = [(n, m) for n in range(len(have)) for m in range(len(have)) if n != m]
    n, m = max(pairs, key=lambda pair: alone(demands[pair[0]], held[pair[1]]) / have[pair[0]])
    assert alone(demands[n], held[m]) > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "more": alone(demands[n], held[m])}


# ---- lexicographic max-min fairness ---------------------------------------------------------------------------------------


def lexicographic(demands: Rows, capacities: Rows, eligible: Places, unit: Row, tasks: Rows, rounds: list[Rows]) -> bool:
    """Nobody can have a larger share, its tasks / unit, while nobody with an equal or smaller share has less.

    At the prices of a round let cost_m be what a share of 1 costs m at least. All capacities together cost no more than
    sum_m cost_m min(share_m, share_n), and cost_n > 0: so no feasible tasks give n more and all others as much as that.
    """
    users = range(len(demands))
    share = [sum(row) / one for row, one in zip(tasks, unit)]
    kept = set()
    for prices in rounds:
        paid = [[sum(p * q for p, q in zip(row, d)) for row in prices] for d in demands]
        may = [[e and alone(d, c) > 0 for e, c in zip(row, capacities)] for d, row in zip(demands, eligible)]
        cost = [unit[m] * min(v for v, here in zip(paid[m], may[m]) if here) for m in users]
        value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
        positive = all(p >= 0 for row in prices for p in row)
        kept |= {n for n in users if positive and cost[n] > 0 and value <= sum(cost[m] * min(share[m], share[n]) for m in users)}
    return len(kept) == len(demands) and fits(demands, capacities, eligible, tasks)


def packed(demands: list[Rows], capacity: Row, tasks: Rows) -> bool:
    """The tasks of every user, one number for each of its demand vectors, fit into one pool."""
    each = [(x, d) for row, vectors in zip(tasks, demands) for x, d in zip(row, vectors)]
    return all(x >= 0 for x, _ in each) and all(sum(x * d[r] for x, d in each) <= c for r, c in enumerate(capacity))


def lexicographic_in_a_pool(demands: list[Rows], capacity: Row, unit: Row, tasks: Rows, rounds: Rows) -> bool:
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


# ---- whole tasks ----------------------------------------------------------------------------------------------------------


def whole_tasks(demands: Rows, capacities: Rows, best_fit: bool) -> list[int]:
    """Progressive filling (W 5.2): who has the least share runs a task on the first server that fits, or on the best by (9)."""
    total = [sum(column) for column in zip(*capacities)]
    rest, tasks = [list(c) for c in capacities], [0 for _ in demands]
    active = set(range(len(demands)))
    while active:
        n = min(active, key=lambda m: (tasks[m] / alone(demands[m], total), m))
        d = demands[n]
        fitting = [c for c in rest if all(a >= q for a, q in zip(c, d))]
        if not fitting:
            active.remove(n)
            continue
        chosen = min(fitting, key=lambda c: sum(abs(q / d[0] - a / c[0]) for q, a in zip(d, c))) if best_fit else fitting[0]
        chosen[:] = [a - q for a, q in zip(chosen, d)]
        tasks[n] += 1
    return tasks


# ---- shares at each server, and the game ----------------------------------------------------------------------------------


def ps_dsf(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> bool:
    """At every server each user has a full resource that it demands, and that serves nobody with a larger share (P Theorem 1)."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        here = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        share = {n: have[n] / (weights[n] * alone(demands[n], capacity)) for n in here}
        for n in here:
            full = [r for r, c in enumerate(capacity) if demands[n][r] and sum(tasks[m][i] * demands[m][r] for m in here) == c]
            if not any(all(share[m] <= share[n] for m in here if tasks[m][i] and demands[m][r]) for r in full):
                return False
    return fits(demands, capacities, eligible, tasks)


def deviation_of(tasks: Rows, weights: Row, demands: Rows, capacities: Rows) -> Row:
    """D_n = sum_i (x_ni / x_n) (z_ni / min_m z_mi - 1) of each user (K 58), where everybody may run everywhere."""
    servers = range(len(capacities))
    z = [[sum(row) / (w * alone(d, c)) for c in capacities] for row, w, d in zip(tasks, weights, demands)]
    least = [min(row[i] for row in z) for i in servers]
    return [sum((row[i] / sum(row) * (own[i] / least[i] - 1) for i in servers), F(0)) for row, own in zip(tasks, z)]


def equilibrium(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, marginal: Callable[[F], F], tasks: Rows, prices: Rows
) -> bool:
    """Only full resources have a price; where n may run, a task costs marginal(z_n) / gamma_n or more, and that where n runs."""
    have = [sum(row) for row in tasks]
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            if prices[i][r] < 0 or (prices[i][r] > 0 and sum(x[i] * d[r] for x, d in zip(tasks, demands)) != c):
                return False
        for n, d in enumerate(demands):
            gamma = alone(d, capacity)
            if eligible[n][i] and gamma > 0:
                f = sum(p * q for p, q in zip(prices[i], d)) - marginal(have[n] / (weights[n] * gamma)) / gamma
                if f < 0 or (tasks[n][i] and f):
                    return False
    return fits(demands, capacities, eligible, tasks)


def every_ps_dsf(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, objective: Row, most: F, steps: Iterator[str], known: Any
) -> bool:
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


def ps_dsf_rows(demands: Rows, capacities: Rows, eligible: Places, weights: Row, known: Any) -> tuple[Rows, Row]:
    """rows . x <= sides for x_ni, all servers of user 1 first, that a case of `every_ps_dsf` knows."""
    full, none, used = known
    users, servers = range(len(demands)), range(len(capacities))
    rows: Rows = []
    sides: Row = []
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


def vertex_equilibrium(demands: Rows, capacity: Row, weights: Row, alpha: F, x: Row, bounds: Rows) -> bool:
    """One server with two full resources: x > 0 is the equilibrium for g' = z^-alpha. All users but one need resource 1 alone.

    These are alike. With h = z^-alpha / gamma the price of resource 1 is their h_n / d_n1, and that of resource 2 is to pay the
    rest of the other user's h: it exists iff that rest is not negative. Bounds enclose z^-alpha, of which a power is rational.
    """
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in (0, 1)]
    if len(capacity) != 2 or used != capacity or min(x) <= 0:
        return False
    ends = []
    for d, w, v, (low, high) in zip(demands, weights, x, bounds):
        power = (v / (w * alone(d, capacity))) ** -alpha.numerator
        assert low**alpha.denominator <= power <= high**alpha.denominator
        ends.append([low / alone(d, capacity), high / alone(d, capacity)])
    first = next(n for n, d in enumerate(demands) if d[1] == 0)
    others = [n for n, d in enumerate(demands) if d[1] > 0]
    same = [n for n, d in enumerate(demands) if d[1] == 0]
    alike = all(demands[n] == demands[first] and x[n] / weights[n] == x[first] / weights[first] for n in same)
    at_least = [ends[n][0] - ends[first][1] * demands[n][0] / demands[first][0] for n in others]
    return alike and len(others) == 1 and min(at_least) >= 0


def nash_bargain(demands: Rows, capacity: Row, weights: Row, x: Row, prices: Row) -> bool:
    """What x_n > 0 tasks cost is w_n or more at prices at which the pool costs sum w: x is the only maximum of sum w_n log x_n.

    For feasible y sum w_n y_n / x_n <= sum y_n (p . d_n) <= sum w, and by the weighted means the product of (y_n / x_n)^w_n is at
    most 1, and 1 for y = x alone.
    """
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in range(len(capacity))]
    paid = [v * sum(p * q for p, q in zip(prices, d)) for v, d in zip(x, demands)]
    fit = min(x) > 0 and min(prices) >= 0 and all(u <= c for u, c in zip(used, capacity))
    return fit and all(a >= w for a, w in zip(paid, weights)) and sum(p * c for p, c in zip(prices, capacity)) <= sum(weights)


# ---- Problem 3 and PS-MFA of K --------------------------------------------------------------------------------------------


def whole_root(square: int) -> int:
    """The largest integer whose square is at most this, by Newton's method from above."""
    found = square
    while found * found > square:
        found = (found + square // found) // 2
    return found


def price_moves(
    demands: Rows, capacities: Rows, eligible: Places, tasks: Rows, prices: Rows, factors: Rows, by_x: Rows, by_price: Rows
) -> Rows:
    """v_lambda (47-48) at a point (38-40) where v_x = 0 by these factors, for every resource, full or not."""
    assert fits(demands, capacities, eligible, tasks)
    moves = []
    for i, capacity in enumerate(capacities):
        full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
        assert all(price >= 0 and (r in full or price == 0) for r, price in enumerate(prices[i]))
        assert no_descent(by_x[i], [[d[r] for d in demands] for r in full], [prices[i][r] > 0 for r in full], factors[i])
        betas = [-sum(a * d[r] for a, d in zip(by_x[i], demands)) for r in range(len(capacity))]
        v = [-slope + (beta if slope * beta <= 0 else 0) for slope, beta in zip(by_price[i], betas)]  # (47), U(0) = 1
        moves.append([part if price > 0 else max(part, F(0)) for part, price in zip(v, prices[i])])  # (48)
    return moves


def root(square: F) -> F:
    """The square root of the square of a rational."""
    found = F(whole_root(square.numerator), whole_root(square.denominator))
    assert found * found == square
    return found


def merit_gradient(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alphas: list[int], tasks: Rows, prices: Rows
) -> tuple[Rows, Rows]:
    """dPsi/dx by server and user, and dPsi/dlambda by server and resource (K 93, 94), for g' = z^-alpha of each server.

    Psi = sum psi(x_ni, f_ni) with psi(a, b) = (sqrt(a^2 + b^2) - a - b)^2 / 2; for users who are not eligible there is no term.
    """
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
            rho = root(x**2 + f**2)
            by_f = (rho - x - f) * (f / rho - 1)
            by_x[i][n] = (rho - x - f) * (x / rho - 1)
            pull[n] += by_f * alphas[i] * need / have[n]
            for r, q in enumerate(d):
                by_price[i][r] += by_f * q
    return [[v + pull[n] if eligible[n][i] else F(0) for n, v in enumerate(row)] for i, row in enumerate(by_x)], by_price


def no_descent(gradient: Row, columns: Rows, priced: list[bool], factors: Row) -> bool:
    """-gradient is in the normal cone of what (46) allows, a sum of the columns d_r of full resources, so v_x = 0.

    The factor of a resource without a price must not be negative, for there v.d_r <= 0; where it has one, v.d_r = 0.
    """
    parts = [sum(s * column[n] for s, column in zip(factors, columns)) for n in range(len(gradient))]
    return parts == [-g for g in gradient] and all(s >= 0 or p for s, p in zip(factors, priced))


# ---- no justified complaints ----------------------------------------------------------------------------------------------


def no_complaint(requests: Rows, entitlements: Row, x: Row) -> bool:
    """x fits, and each user has all of its request, or its entitlement of a full resource (D 1, 2)."""
    used = [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    each = zip(x, requests, entitlements)
    return max(used) <= 1 and all(0 <= v <= 1 and (v == 1 or any(v * row[j] >= e for j in full)) for v, row, e in each)


def at_most(rows: Rows, sides: Row, factors: Row, objective: Row) -> F:
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


def part_of_the_truth(part: F, reported: Row, needed: Row) -> F:
    """The part of its request that a user can run with this part of the reported one, at most all."""
    return min([F(1)] + [part * told / true for told, true in zip(reported, needed) if true])


def reasons(count: int, resources: int) -> list[list[int]]:
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways: list[list[int]] = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def complaint_rows(requests: Rows, entitlements: Row, way: list[int]) -> tuple[Rows, Row]:
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def bound(requests: Rows, entitlements: Row, objective: Row, proofs: Rows) -> F:
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)
