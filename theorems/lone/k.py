"""Arguments against statements of K: the game for finite alpha, its multipliers, and PS-MFA."""

from fractions import Fraction
from typing import Any

from fairalloc.models.exact.rationals import solved
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, least_prices, rational_answer
from fairalloc.theorems.lone.definitions import (
    alone,
    deviation_of,
    equilibrium,
    fits,
    listed,
    merit_gradient,
    no_descent,
    price_moves,
    ps_dsf,
    whole_root,
)
from fairalloc.theorems.lone.script import argument, given
from fairalloc.theorems.papers.k.directions import dot
from fairalloc.theorems.papers.k.problem_3 import alphas
from fairalloc.theorems.papers.k.several_equilibria import strict_solution, two_best

__all__ = ["prices_of"]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]


NOTHING = F(0)


def prices_of(instance: Instance, tasks: Rows, alpha: int, B: Fraction = NOTHING) -> Rows:
    """The prices of an equilibrium by server and resource, for g' = z^-alpha + B / z.

    Parameters
    ----------
    instance : the problem
    tasks : by user and server
    alpha : a whole number
    B : of (22)
    """
    exact, found = instance.exact, []
    demands, have = [rows[0] for rows in exact.demands], [sum(row, F(0)) for row in tasks]
    for i, capacity in enumerate(exact.capacities):
        needs: list[Fraction | None] = []
        for n, d in enumerate(demands):
            gamma = alone(list(d), list(capacity))
            z = have[n] / (exact.weights[n] * gamma) if gamma and instance.placement[n, i] else None
            needs.append(None if z is None else (z**-alpha + B / z) / gamma)
        found.append(least_prices([list(d) for d in demands], needs, capacity))
    return found


def _simple_equilibrium(instance: Instance, alpha: int) -> dict[str, Any]:
    """The solver's answer where simple fractions are the answer; its prices."""
    x = solve(instance, "alpha-pf-vds", alpha=alpha, accuracy="high").x
    tasks = by_server(instance, [F(float(v)).limit_denominator(1000) for v in x])
    return {"tasks": tasks, "prices": prices_of(instance, tasks, alpha)}


# ---- Theorem 3 and 4.4 ----------------------------------------------------------------------------------------------------


@argument(
    "K.T3.envy.letter",
    answers="all",
    sentence="user {user} runs {have} tasks, and {other} with the resources of user {envied}, scaled by the weights",
    formula=r"x_{{{user}}} = {have} < {other} = \min_r "
    r"\tfrac{{\varphi_{{{user}}} x_{{{envied}}} d_{{{envied}r}}}}{{\varphi_{{{envied}}} d_{{{user}r}}}}",
    more=lambda case: _simple_equilibrium(case.instance, case.parameters["alpha"]),
)
def equilibrium_with_envy(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alpha: int, tasks: Rows, prices: Rows
) -> dict[str, Any]:
    """What another has in all, wherever it lies, would be worth more tasks. For alpha = 1 the totals of equilibria are unique.

    A task of n costs phi_n / x_n or more at these prices, and all servers cost sum phi. So sum phi_n y_n / x_n <= sum phi for all
    feasible y: x is the only maximum of sum phi_n log x_n, by the weighted means; and so is every equilibrium for alpha = 1.
    """
    assert alpha == 1
    assert sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity)) == sum(weights)
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, tasks, prices)
    have, users = [sum(x) for x in tasks], range(len(tasks))
    worth = [[alone(demands[n], [have[m] * q * weights[n] / weights[m] for q in demands[m]]) for m in users] for n in users]
    n, m = max(((n, m) for n in users for m in users), key=lambda pair: worth[pair[0]][pair[1]] / have[pair[0]])
    assert worth[n][m] > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "other": worth[n][m]}


@argument(
    "K.4.4.bounded",
    sentence="the multiplier of resource {resource} on server {server} may be 0, 1 or 10^100 at one equilibrium for alpha = 2",
    formula=r"c_{{{server}{resource}}} = 0: \quad \lambda_{{{server}{resource}}} \ge 0 \ \text{{is arbitrary in (28)-(29)}}",
    more=lambda case: _simple_equilibrium(case.instance, 2),
)
def unbounded_multiplier(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, prices: Rows
) -> dict[str, Any]:
    """A resource that a server does not have: nobody who may run there demands it, and its multiplier occurs in no condition."""
    i, r = next((i, r) for i, row in enumerate(capacities) for r, c in enumerate(row) if c == 0)
    assert all(not d[r] or not places[i] for d, places in zip(demands, eligible))
    for multiplier in (F(0), F(1), F(10**100)):
        others = [[multiplier if (j, q) == (i, r) else p for q, p in enumerate(row)] for j, row in enumerate(prices)]
        assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-2, tasks, others)
    return {"server": i + 1, "resource": r + 1}


# ---- several equilibria ---------------------------------------------------------------------------------------------------


def _two_equilibria(case: Case) -> dict[str, Any]:
    """B, and two isolated solutions of (28)-(29) with their prices."""
    pair, alpha = two_best(case), int(case.parameters["alpha"])
    made: dict[str, Any] = {"B": pair.B}
    for k, each in enumerate(pair.solutions):
        x = strict_solution(case, each, pair.B)
        assert x is not None, "the witness is confirmed"
        tasks = by_server(case.instance, x)
        prices = prices_of(case.instance, tasks, alpha, pair.B)
        made |= {("tasks", "other_tasks")[k]: tasks, ("prices", "other_prices")[k]: prices}
    return made


@argument(
    *("K.L2", "K.C4", "K.3.4.unique"),
    answers="some",
    sentence="with g'(z) = z^-alpha + B / z the totals {first} and {second} are two equilibria, and both are isolated",
    formula=r"x = {first} \ne {second} = x', \qquad \text{{both strict solutions of (28)-(29)}}",
    more=_two_equilibria,
)
def two_isolated_equilibria(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    alpha: int,
    B: F,
    tasks: Rows,
    prices: Rows,
    other_tasks: Rows,
    other_prices: Rows,
) -> dict[str, Any]:
    """Two strict solutions: at each server as many users are served as resources have a price, and these have a regular matrix.

    Near such a solution the users who are served, the resources with a price, the slacks and the excess prices are the same, so
    its equations hold, whose only solution it is: it is isolated, and a connected set of several points has no isolated one.
    """
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha + B / z, x, p)
        for i, capacity in enumerate(capacities):
            served, priced = [n for n, row in enumerate(x) if row[i]], [r for r, v in enumerate(p[i]) if v]
            full = [r for r, c in enumerate(capacity) if sum(row[i] * d[r] for row, d in zip(x, demands)) == c]
            assert full == priced
            assert len(served) == len(priced) <= 2
            block = [[demands[n][r] for r in priced] for n in served]
            assert len(block) == 1 or block[0][0] * block[1][1] != block[0][1] * block[1][0]
            for n, d in enumerate(demands):
                gamma = alone(d, capacity)
                z = sum(x[n]) / (weights[n] * gamma)
                assert n in served or sum(v * q for v, q in zip(p[i], d)) > (z**-alpha + B / z) / gamma
    first, second = ([str(sum(row)) for row in x] for x in (tasks, other_tasks))
    assert first != second
    return {"first": f"({', '.join(first)})", "second": f"({', '.join(second)})"}


# ---- formulas -------------------------------------------------------------------------------------------------------------


@argument(
    "K.E104",
    sentence="where user {user} is served and one resource has a price, a task costs {needed}, and {printed} by (104)",
    formula=r"\frac{{g'(z)}}{{\gamma}} = {needed} \ne {printed} = "
    r"\varphi^\alpha \gamma^{{\alpha - 1}} \frac{{A^\alpha}}{{x^\alpha}} + \frac{{B}}{{x}}",
)
def formula_104(demands: Rows, capacities: Rows, weights: Row, alpha: int, A: F, B: F, points: list[Rows]) -> dict[str, Any]:
    """g'(z) / gamma with g'(z) = (A / z)^alpha + B / z (22), against the right side that is printed."""
    (tasks,) = points
    for n, row in enumerate(tasks):
        gamma, x, phi = alone(demands[n], capacities[0]), sum(row), weights[n]
        z = x / (phi * gamma)
        needed = ((A / z) ** alpha + B / z) / gamma
        printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
        if needed != printed:
            return {"user": n + 1, "needed": needed, "printed": printed}
    raise AssertionError("(104) is right here")


@argument(
    "K.Fn8",
    sentence="at x = {x} the derivative of what is added is {slope} for user {user}, where that of (55) is {wanted}",
    formula=r"\frac{{\partial}}{{\partial x_{{{user}}}}} "
    r"\frac{{(\sum_m x_m d_{{mr}} - c_r + \epsilon)^2}}{{2 \epsilon^2}} = {slope} \ne {wanted} = -\lambda_r d_{{{user}r}}",
    more=lambda case: {"epsilon": F(1, 4)},
)
def penalty_of_footnote_8(demands: Rows, capacities: Rows, points: list[Rows], epsilon: F) -> dict[str, Any]:
    """In parts of the capacity: what is added is quadratic, so its derivative is the excess / epsilon^2 times the demand."""
    (tasks,) = points
    for n, d in enumerate(demands):
        load = sum(row[0] * q[0] for row, q in zip(tasks, demands)) / capacities[0][0]
        slope = (load - 1 + epsilon) / epsilon**2 * d[0] / capacities[0][0]
        price = max(load - 1 + epsilon, F(0)) / epsilon**2  # (57)
        wanted = -price * d[0] / capacities[0][0]  # (55)
        if slope != wanted:
            return {"x": [str(sum(row)) for row in tasks], "user": n + 1, "slope": slope, "wanted": wanted}
    raise AssertionError("(57) is the derivative of what is added")


@argument(
    "K.5.1.eligible",
    sentence="where resource {resource} of server {server} is full, the direction of user {user}, who is not eligible, is {v}",
    formula=r"v_{{{user}}} = {v} \ne 0, \qquad \text{{user }} {user} \text{{ not eligible}}",
)
def projection_moves_ineligible(demands: Rows, capacities: Rows, eligible: Places) -> dict[str, Any]:
    """(46) for the gradient -1 at those who are eligible, 0 at others: -gradient without its part along d_r, if that is > 0."""
    for i in range(len(capacities)):
        for r in range(len(capacities[0])):
            d, push = [row[r] for row in demands], [F(places[i]) for places in eligible]
            along = sum(a * b for a, b in zip(push, d)) / sum(a * a for a in d)
            v = [a - max(along, F(0)) * b for a, b in zip(push, d)]
            moved = [n for n, places in enumerate(eligible) if not places[i] and v[n]]
            if moved:
                return {"server": i + 1, "resource": r + 1, "user": moved[0] + 1, "v": v[moved[0]]}
    raise AssertionError("nobody moves who is not eligible")


# ---- 6.2 ------------------------------------------------------------------------------------------------------------------


def _at_two_alphas(case: Case) -> dict[str, Any]:
    """The equilibrium of alpha = 1 with its prices, and the answer of PS-DSF, which is that of alpha = infinity."""
    made = _simple_equilibrium(case.instance, 1)
    return made | {"tasks_at_infinity": by_server(case.instance, rational_answer(case.instance, "ps-dsf").x)}


@argument(
    "K.6.2.utilisation",
    answers="all",
    sentence="the mean utilisation is {one} at alpha = 1 and {infinite} at alpha = infinity",
    formula=r"u(\alpha = 1) = {one} < {infinite} = u(\alpha = \infty)",
    more=_at_two_alphas,
)
def less_utilisation(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, prices: Rows, tasks_at_infinity: Rows
) -> dict[str, Any]:
    """One server, where the tasks of the equilibrium are unique: a strictly concave program, and max-min fair shares."""
    assert len(capacities) == 1
    assert equilibrium(demands, capacities, eligible, weights, lambda z: 1 / z, tasks, prices)
    assert ps_dsf(demands, capacities, eligible, weights, tasks_at_infinity)
    used = []
    for x in (tasks, tasks_at_infinity):
        parts = [sum(row[0] * d[r] for row, d in zip(x, demands)) / c for r, c in enumerate(capacities[0])]
        used.append(sum(parts) / len(parts))
    assert used[0] < used[1]
    return {"one": used[0], "infinite": used[1]}


def _bracket(case: Case) -> dict[str, Any]:
    """The equilibrium of alpha = 1, and points on both sides of that of alpha = 3, on the line where both resources are full."""
    made = _simple_equilibrium(case.instance, 1)
    (a, b, c), (e, f, g) = zip(*(rows[0] for rows in case.instance.exact.demands), strict=True)
    step = (b * g - c * f, c * e - a * g, a * f - b * e)
    found = solve(case.instance, "alpha-pf-vds", alpha=3, accuracy="high").x
    t = (F(float(found[0])) - made["tasks"][0][0]) / step[0]
    near = F(round(t * 10**6), 10**6)
    ends = (near - F(2, 10**6), near + F(2, 10**6))
    low, high = ([[x[0] + end * s] for x, s in zip(made["tasks"], step, strict=True)] for end in ends)
    return made | {"low": low, "high": high}


@argument(
    "K.6.2.deviation",
    answers="all",
    sentence="the mean deviation is {one} at alpha = 1 and more than {three} at alpha = 3",
    formula=r"D(\alpha = 1) = {one} < {three} < D(\alpha = 3)",
    more=_bracket,
)
def more_deviation(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, prices: Rows, low: Rows, high: Rows
) -> dict[str, Any]:
    """One server, where the tasks of the equilibrium are unique. At alpha = 3 these are between low and high.

    Three users fill both resources at low, high and all points between. Prices with p d_n = h_n = g'(z_n) / gamma_n exist iff the
    sum of step_n h_n is 0, with step = high - low, which fills nothing. That sum falls from low to high, as h_n falls with x_n:
    it changes its sign once. Prices are linear in h, so they are positive if they are for all h between those of the ends.
    """
    assert len(capacities) == 1
    assert equilibrium(demands, capacities, eligible, weights, lambda z: 1 / z, tasks, prices)
    for x in (low, high):
        assert fits(demands, capacities, eligible, x)
        assert all(sum(row[0] * d[r] for row, d in zip(x, demands)) == c for r, c in enumerate(capacities[0]))
    gamma = [alone(d, capacities[0]) for d in demands]
    z = [[x[n][0] / (w * g) for n, (w, g) in enumerate(zip(weights, gamma))] for x in (low, high)]
    h = [[s**-3 / g for s, g in zip(row, gamma)] for row in z]
    step = [b[0] - a[0] for a, b in zip(low, high)]
    assert sum(s * v for s, v in zip(step, h[0])) > 0 > sum(s * v for s, v in zip(step, h[1]))
    (a, b), (e, f) = demands[1], demands[2]
    for u, v in ((u, v) for u in (h[0][1], h[1][1]) for v in (h[0][2], h[1][2])):
        assert (u * f - v * b) / (a * f - b * e) > 0
        assert (v * a - u * e) / (a * f - b * e) > 0
    one = sum(w * v for w, v in zip(weights, deviation_of(tasks, weights, demands, capacities))) / sum(weights)
    least = min(max(s, t) for s, t in zip(*z))
    three = sum(w * max(min(s, t) / least - 1, F(0)) for w, s, t in zip(weights, *z)) / sum(weights)
    assert one < three
    return {"one": one, "three": F(int(three * 10**4), 10**4)}


# ---- PS-MFA ---------------------------------------------------------------------------------------------------------------


@argument(
    "K.E111",
    sentence="dPsi/dlambda = 0 for resource {resource} of server {server}, and its price moves by beta = {beta}",
    formula=r"\frac{{\partial \Psi}}{{\partial \lambda}} v_\lambda = 0 \cdot {beta} \not< 0",
    more=lambda case: _priced_point(case),
)
def price_that_moves_along_nothing(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, prices: Rows
) -> dict[str, Any]:
    """alpha = 2. With dPsi/dlambda = 0 and beta > 0, (47) has U(0) = 1, so the direction of a price > 0 is beta (48)."""
    assert fits(demands, capacities, eligible, tasks)
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, [2 for _ in capacities], tasks, prices)
    for i, capacity in enumerate(capacities):
        for r, c in enumerate(capacity):
            full = sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c
            beta = -sum(slope * d[r] for slope, d in zip(by_x[i], demands))  # (45)
            if full and prices[i][r] > 0 and by_price[i][r] == 0 and beta > 0:
                return {"server": i + 1, "resource": r + 1, "beta": beta}
    raise AssertionError("no such price")


@argument(
    "K.E48",
    sentence="resource {resource} of server {server} has room and the price 0, which rises by {v} or more",
    formula=r"\lambda = 0, \qquad v_\lambda = {v} > 0, \qquad \text{{and there is room}}",
    more=lambda case: {"prices": [[F(0)] * case.instance.R for _ in range(case.instance.K)], "tasks": given(case)["points"][0]},
)
def price_where_there_is_room(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alpha: int, tasks: Rows, prices: Rows
) -> dict[str, Any]:
    """All prices are 0. psi_FB = rho - x - f is enclosed by a bound of rho; psi_b < 0 for f < 0, so -dPsi/dlambda > 0 (47)."""
    assert fits(demands, capacities, eligible, tasks)
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


def _priced_point(case: Case) -> dict[str, Any]:
    """The case's point, with the price of each full server at which a task costs its first served user what it is worth."""
    data = given(case)
    (tasks,), factor = data["points"], F(case.parameters["price"])
    prices = [[F(0)] * len(row) for row in data["capacities"]]
    for i, capacity in enumerate(data["capacities"]):
        if sum(row[i] * d[0] for row, d in zip(tasks, data["demands"], strict=True)) == capacity[0]:
            n = next(n for n, row in enumerate(tasks) if row[i])
            gamma, d = alone(data["demands"][n], capacity), data["demands"][n][0]
            prices[i][0] = factor * (sum(tasks[n]) / (data["weights"][n] * gamma)) ** -2 / gamma / d
    return {"tasks": tasks, "prices": prices}


def _normal_cone(case: Case) -> dict[str, Any]:
    """The data of a point of PS-MFA, and for each server factors of d_r of its full resources that add up to -grad_x."""
    data, R = given(case), case.instance.R
    demands, capacities, (tasks,) = data["demands"], data["capacities"], data["points"]
    prices = [list(data["prices"][i * R : (i + 1) * R]) for i in range(case.instance.K)]
    data |= {"tasks": tasks, "prices": prices, "alphas": alphas(case)}
    by_x, _ = merit_gradient(demands, capacities, data["eligible"], data["weights"], data["alphas"], tasks, prices)
    factors = []
    for i, capacity in enumerate(capacities):
        full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands, strict=True)) == c]
        columns = [[d[r] for d in demands] for r in full]
        factors.append(
            list(solved([[dot(one, q) for q in columns] for one in columns], [-dot(d, by_x[i]) for d in columns]) or ())
        )
    return data | {"factors": factors}


@argument(
    *("K.L3", "K.L3.letter"),
    sentence="nothing but prices with dPsi/dlambda = 0 moves, by {moves}: v is not 0, and Psi has the slope 0 along it",
    formula=r"v_x = 0, \qquad \frac{{\partial \Psi}}{{\partial \lambda}} v_\lambda = 0, \qquad v_\lambda = {moves}",
    more=_normal_cone,
    assumed="g' = z^-alpha; it is shown of all prices (to the letter), and so of those of full resources (as (40) asks)",
)
def direction_without_descent(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alphas: list[int], tasks: Rows, prices: Rows, factors: Rows
) -> dict[str, Any]:
    """-grad_x is normal to what (46) allows at every server, so v_x = 0; prices move by (47-48), and Psi with none of them."""
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, alphas, tasks, prices)
    v = price_moves(demands, capacities, eligible, tasks, prices, factors, by_x, by_price)
    full = [
        [sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c for r, c in enumerate(row)] for i, row in enumerate(capacities)
    ]
    assert all(move == 0 or slope == 0 for row, slopes in zip(v, by_price) for move, slope in zip(row, slopes))
    assert any(move for row, at in zip(v, full) for move, is_full in zip(row, at) if is_full)
    return {"moves": listed([move for row in v for move in row])}


@argument(
    *("K.L4", "K.L4.letter", "K.T8", "K.T8.letter"),
    sentence="v = 0, and the gradient by the tasks of user {user} on server {server} is {slope}: PS-MFA ends where it starts",
    formula=r"v = 0, \qquad \frac{{\partial \Psi}}{{\partial x_{{{user}{server}}}}} = {slope} \ne 0",
    more=_normal_cone,
    assumed="Assumption 2, g' = z^-alpha of each server; it is shown of all prices (to the letter), and so of those of full "
    "resources (as (40) asks)",
)
def stop_without_solution(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alphas: list[int], tasks: Rows, prices: Rows, factors: Rows
) -> dict[str, Any]:
    """Assumption 2 holds, nothing moves by (46)-(48), and grad_x Psi is not 0."""
    for i, capacity in enumerate(capacities):
        assert all(any(d[r] and not places[i] for d, places in zip(demands, eligible)) for r in range(len(capacity)))
    by_x, by_price = merit_gradient(demands, capacities, eligible, weights, alphas, tasks, prices)
    v = price_moves(demands, capacities, eligible, tasks, prices, factors, by_x, by_price)
    assert not any(move for row in v for move in row)
    i, n = max(((i, n) for i in range(len(by_x)) for n in range(len(demands))), key=lambda place: abs(by_x[place[0]][place[1]]))
    assert by_x[i][n] != 0
    return {"server": i + 1, "user": n + 1, "slope": by_x[i][n]}


@argument(
    "K.E116",
    sentence="v_x = 0, and for resource {resource} of server {server} beta is 0 and varsigma {factor}",
    formula=r"v_x = 0, \qquad \beta_{{{server}{resource}}} = 0, \qquad \varsigma_{{{server}{resource}}} = {factor} \ne 0",
    more=_normal_cone,
    assumed="g' = z^-alpha of each server; the demands for full resources are independent",
)
def factor_without_beta(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, alphas: list[int], tasks: Rows, prices: Rows, factors: Rows
) -> dict[str, Any]:
    """v_x = 0 at a server by (115) with its factors, of which one is not 0 where beta is; (45)."""
    assert fits(demands, capacities, eligible, tasks)
    by_x, _ = merit_gradient(demands, capacities, eligible, weights, alphas, tasks, prices)
    for i, capacity in enumerate(capacities):
        full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
        columns = [[d[r] for d in demands] for r in full]
        still = no_descent(by_x[i], columns, [prices[i][r] > 0 for r in full], factors[i])
        if still and len(full) == 2:
            cross = [a * demands[0][full[1]] - b * demands[0][full[0]] for a, b in zip(*columns)]
            assert any(cross)  # they are independent
            for r, column, factor in zip(full, columns, factors[i]):
                if factor and sum(a * b for a, b in zip(by_x[i], column)) == 0:
                    return {"server": i + 1, "resource": r + 1, "factor": factor}
    raise AssertionError("no factor without beta")


@argument(
    "K.E107",
    sentence="the change {change} of lambda and x solves (105), so [D, V] times it is 0: its {columns} columns are dependent",
    formula=r"[D, V] \, {change}^T = 0",
)
def kernel_of_107(demands: Rows, capacities: Rows, weights: Row, alpha: int, A: F, B: F, points: list[Rows]) -> dict[str, Any]:
    """Everybody is served everywhere, all pay alike, and dx = 1 for all users with dlambda = -omega / d for all servers."""
    (tasks,) = points
    rates = []
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


@argument(
    "K.T8.steps",
    sentence="all steps together are at most {most}, so x stays below {end}, and |v| is at least {least} in every iteration",
    formula=r"\sum_h \eta^h v^h \le {most}, \qquad x^h < {end}, \qquad |v^h| \ge {least}",
    more=lambda case: {"start": case.points[0][0]},
    assumed="steps that satisfy (51)-(53); only prices of full resources move, as (40) asks",
)
def steps_that_become_small(alpha: int, start: F, first: F, shrink: F) -> dict[str, Any]:
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
