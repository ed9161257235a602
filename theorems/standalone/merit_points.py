"""Arguments against formulas of K: its derivatives, its prices, and what PS-MFA does at single points."""

from fractions import Fraction as F
from typing import Any

from fairalloc.models.exact.rationals import solved
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import only_where
from fairalloc.theorems.papers.k.directions import numbers
from fairalloc.theorems.papers.k.problem_3 import ExactMeritPoint, alphas, totals
from fairalloc.theorems.standalone.certificates import given
from fairalloc.theorems.standalone.definitions import alone, fits, listed
from fairalloc.theorems.standalone.merit import dot, full_resources, merit_gradient, no_descent, price_moves, whole_root


def make_served_point(case: Case) -> dict[str, Any]:
    """NotApplicable where a user has no task at the case's point."""
    totals(case.instance, case.points[0])
    return {}


def formula_104(problem: Any, alpha: int, A: Any, B: Any, points: Any) -> Any:
    """g'(z) / gamma with g'(z) = (A / z)^alpha + B / z (22), against the right side that is printed."""
    for n, row in enumerate(points[0]):
        gamma, x, phi = alone(problem[0][n], problem[1][0]), sum(row), problem[3][n]
        z = x / (phi * gamma)
        needed = ((A / z) ** alpha + B / z) / gamma
        printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
        if needed != printed:
            return {"user": n + 1, "needed": needed, "printed": printed}
    raise AssertionError("(104) is right here")


def penalty_of_footnote_8(problem: Any, points: Any, epsilon: Any) -> Any:
    """In parts of the capacity: what is added is quadratic, so its derivative is the excess / epsilon^2 times the demand."""
    (tasks,), demands, c = points, problem[0], problem[1][0][0]
    for n, d in enumerate(demands):
        load = sum(row[0] * q[0] for row, q in zip(tasks, demands)) / c
        slope = (load - 1 + epsilon) / epsilon**2 * d[0] / c
        price = max(load - 1 + epsilon, F(0)) / epsilon**2  # (57)
        wanted = -price * d[0] / c  # (55)
        if slope != wanted:
            return {"x": [str(sum(row)) for row in tasks], "user": n + 1, "slope": slope, "wanted": wanted}
    raise AssertionError("(57) is the derivative of what is added")


def projection_moves_ineligible(problem: Any) -> Any:
    """(46) for the gradient -1 at those who are eligible, 0 at others: -gradient without its part along d_r, if that is > 0."""
    demands, capacities, eligible, _ = problem
    for i in range(len(capacities)):
        for r in range(len(capacities[0])):
            d, push = [row[r] for row in demands], [F(places[i]) for places in eligible]
            along = sum(a * b for a, b in zip(push, d)) / (sum(a * a for a in d) or 1)
            v = [a - max(along, F(0)) * b for a, b in zip(push, d)]
            moved = [n for n, places in enumerate(eligible) if not places[i] and v[n]]
            if moved:
                return {"server": i + 1, "resource": r + 1, "user": moved[0] + 1, "v": v[moved[0]]}
    raise AssertionError("nobody moves who is not eligible")


# ---- PS-MFA ---------------------------------------------------------------------------------------------------------------


def make_priced_point(case: Case) -> dict[str, Any]:
    """The case's point with its prices."""
    data, priced, R = given(case), ExactMeritPoint.of(case).price, case.instance.R
    rows = enumerate(data["capacities"])
    prices = [[priced.get(i * R + r, F(0)) / (c or 1) for r, c in enumerate(capacity)] for i, capacity in rows]
    return {"tasks": data["points"][0], "prices": prices}


def price_that_moves_along_nothing(problem: Any, tasks: Any, prices: Any) -> Any:
    """alpha = 2. With dPsi/dlambda = 0 and beta > 0, (47) has U(0) = 1, so the direction of a price > 0 is beta (48)."""
    assert fits(problem, tasks)
    by_x, by_price = merit_gradient(problem, [2 for _ in problem[1]], tasks, prices)
    for i in range(len(problem[1])):
        for r in full_resources(problem, tasks, i):
            beta = -sum(slope * d[r] for slope, d in zip(by_x[i], problem[0]))  # (45)
            if prices[i][r] > 0 and by_price[i][r] == 0 and beta > 0:
                return {"server": i + 1, "resource": r + 1, "beta": beta}
    raise AssertionError("no such price")


def price_where_there_is_room(problem: Any, alpha: int, tasks: Any, prices: Any) -> Any:
    """All prices are 0. psi_FB = rho - x - f is enclosed by a bound of rho; psi_b < 0 for f < 0, so -dPsi/dlambda > 0 (47)."""
    demands, capacities, eligible, weights = problem
    assert fits(problem, tasks)
    assert not any(map(any, prices))
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            users = [n for n, d in enumerate(demands) if d[r] and eligible[n][i]]
            if users and sum(tasks[n][i] * demands[n][r] for n in users) < c:
                gamma = [alone(demands[n], capacity) for n in users]
                f = [-((weights[n] * g / sum(tasks[n])) ** alpha) / g for n, g in zip(users, gamma)]
                least = [max(tasks[n][i], -v) for n, v in zip(users, f)]  # rho is at least that, and b / rho - 1 is below -1
                v = sum((rho - tasks[n][i] - b) * demands[n][r] for n, b, rho in zip(users, f, least))
                assert v > 0  # at most -dPsi/dlambda; with beta of the same sign (47) adds it, else U = 0
                return {"server": i + 1, "resource": r + 1, "v": v}
    raise AssertionError("all resources are full")


def make_normal_cone(case: Case) -> dict[str, Any]:
    """The data of a point of PS-MFA, and for each server factors of d_r of its full resources that add up to -grad_x."""
    data, R = given(case), case.instance.R
    only_where("prices" in data, "the case has no prices of its own")
    (tasks,), problem, powers = data["points"], data["problem"], alphas(case)
    prices = [list(data["prices"][i * R : (i + 1) * R]) for i in range(case.instance.K)]
    by_x, _ = merit_gradient(problem, powers, tasks, prices)
    factors = []
    for i, slope in enumerate(by_x):
        columns = [[d[r] for d in problem[0]] for r in full_resources(problem, tasks, i)]
        found = solved([[dot(one, q) for q in columns] for one in columns], [-dot(d, slope) for d in columns])
        factors.append(list(found or ()))
    return {"tasks": tasks, "prices": prices, "alphas": powers, "factors": factors}


def direction_without_descent(problem: Any, alphas: Any, tasks: Any, prices: Any, factors: Any) -> Any:
    """-grad_x is normal to what (46) allows at every server, so v_x = 0; prices move by (47-48), and Psi with none of them."""
    assert fits(problem, tasks)
    by_x, by_price = merit_gradient(problem, alphas, tasks, prices)
    v = price_moves(problem, tasks, prices, factors, by_x, by_price)
    assert all(move == 0 or slope == 0 for row, slopes in zip(v, by_price) for move, slope in zip(row, slopes))
    assert any(row[r] for i, row in enumerate(v) for r in full_resources(problem, tasks, i))
    return {"moves": listed([move for row in v for move in row])}


def stop_without_solution(problem: Any, alphas: Any, tasks: Any, prices: Any, factors: Any) -> Any:
    """Assumption 2 holds, nothing moves by (46)-(48), and grad_x Psi is not 0."""
    demands, capacities, eligible, _ = problem
    assert fits(problem, tasks)
    for i, capacity in enumerate(capacities):
        assert all(any(d[r] and not places[i] for d, places in zip(demands, eligible)) for r in range(len(capacity)))
    by_x, by_price = merit_gradient(problem, alphas, tasks, prices)
    assert not any(move for row in price_moves(problem, tasks, prices, factors, by_x, by_price) for move in row)
    i, n = max(((i, n) for i in range(len(by_x)) for n in range(len(demands))), key=lambda place: abs(by_x[place[0]][place[1]]))
    assert by_x[i][n] != 0
    return {"server": i + 1, "user": n + 1, "slope": by_x[i][n]}


def factor_without_beta(problem: Any, alphas: Any, tasks: Any, prices: Any, factors: Any) -> Any:
    """v_x = 0 at a server by (115) with its factors, of which one is not 0 where beta is; (45)."""
    demands = problem[0]
    assert fits(problem, tasks)
    by_x, _ = merit_gradient(problem, alphas, tasks, prices)
    for i, slopes in enumerate(by_x):
        full = full_resources(problem, tasks, i)
        columns = [[d[r] for d in demands] for r in full]
        still = no_descent(slopes, columns, [prices[i][r] > 0 for r in full], factors[i])
        if still and len(full) == 2:
            cross = [a * demands[0][full[1]] - b * demands[0][full[0]] for a, b in zip(*columns)]
            assert any(cross)  # they are independent
            for r, column, factor in zip(full, columns, factors[i]):
                if factor and sum(a * b for a, b in zip(slopes, column)) == 0:
                    return {"server": i + 1, "resource": r + 1, "factor": factor}
    raise AssertionError("no factor without beta")


def kernel_of_107(problem: Any, alpha: int, A: Any, B: Any, points: Any) -> Any:
    """Everybody is served everywhere, all pay alike, and dx = 1 for all users with dlambda = -omega / d for all servers."""
    (tasks,), (demands, capacities, _, weights), rates = points, problem, []
    for i, capacity in enumerate(capacities):
        assert sum(row[i] * d[0] for row, d in zip(tasks, demands)) == capacity[0]
        for d, row, phi in zip(demands, tasks, weights):
            assert row[i] > 0
            x, gamma = sum(row), alone(d, capacity)
            h = (A * phi * gamma / x) ** alpha / gamma + B * phi / x
            omega = alpha * h / x + B * (1 - alpha) / x**2  # (106)
            rates.append((h / d[0], omega / d[0]))
    assert len(set(rates)) == 1
    assert len(rates) >= len(demands) + len(capacities)
    change = [-rates[0][1]] * len(capacities) + [F(1)] * len(demands)
    return {"change": listed(change), "columns": len(change)}


def make_start(case: Case) -> dict[str, Any]:
    """Where the run begins."""
    return {"start": numbers(case)[1]}


def steps_that_become_small(alpha: int, start: Any, first: Any, shrink: Any) -> Any:
    """One user alone on a server of capacity 1, d = 1, lambda = 0, from x = start; f = -x^-alpha, rho = sqrt(x^2 + f^2).

    v = psi (1 - x / rho) + psi (1 - f / rho) alpha x^(-alpha - 1) with psi = rho - x - f (K 93). Let start <= x < 1: as x < rho
    and f < 0, psi is between -f >= 1 and -2 f, 1 - x / rho between 0 and 1, 1 - f / rho between 1 and 2: alpha <= v <= M. Steps
    first (end - start) / M shrink^h keep x below end = (1 + start) / 2, where nothing is full; each lowers Psi, as dPsi/dx = -v.
    The sums below follow x with v enclosed by rho's bounds of 10^-30: Psi = psi^2 / 2 falls in each iteration.
    """
    assert 0 < start < 1
    assert 0 < shrink < 1
    assert first / (1 - shrink) <= 1
    end, M = (1 + start) / 2, 2 * start**-alpha * (1 + 2 * alpha * start ** (-alpha - 1))
    x, step, before = start, first * (end - start) / M, None
    for _ in range(24):
        f, digits = -(x**-alpha), 10**30
        low = F(whole_root((x * x + f * f).numerator * digits**2 // (x * x + f * f).denominator), digits)
        rho, high = low, low + F(1, digits)
        assert rho * rho <= x * x + f * f <= high * high
        assert x < rho
        v_low = (rho - x - f) * (1 - x / rho) + (rho - x - f) * (1 - f / high) * alpha * x ** (-alpha - 1)
        v_high = (high - x - f) * (1 - x / high) + (high - x - f) * (1 - f / rho) * alpha * x ** (-alpha - 1)
        assert alpha <= v_low
        assert v_high <= M
        assert before is None or (high - x - f) < before
        before = rho - x - f
        x = F(int((x + step * v_low) * 10**20), 10**20)  # a little less than the step: as good a step of this kind
        step *= shrink
        assert x < end
    return {"most": end - start, "end": end, "least": alpha}
