"""Arguments about the game for finite alpha and Nash bargaining, its case of alpha = 1 on one server: prices prove equilibria."""

from fractions import Fraction as F
from typing import Any

from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.definitions import EXACT, equilibrium
from fairalloc.theorems.papers.k.problem_3 import alphas
from fairalloc.theorems.standalone.certificates import given, least_prices, rounded
from fairalloc.theorems.standalone.definitions import (
    alone,
    arcs,
    bargain,
    better_off,
    fits,
    game,
    held,
    listed,
    of_totals,
    per_server,
    short_of_its_part,
    tables,
    vertex_equilibrium,
    virtual_shares,
)
from fairalloc.theorems.standalone.merit import full_resources, root
from fairalloc.theorems.standalone.per_server import make_of_ps_dsf


def priced(instance: Instance, tasks: Any, alphas: Any, B: Any = 0) -> Any:
    """The prices of an equilibrium by server and resource, for g_i' = z^-alpha_i + B / z."""
    problem = given(Case(instance))["problem"]
    z, found = virtual_shares(problem, tasks), []
    for i, capacity in enumerate(problem[1]):
        needs: list[F | None] = []
        for n, d in enumerate(problem[0]):
            share = z.get((n, i, i))
            needs.append(None if share is None else (falling(share, alphas[i]) + B / share) / alone(d, capacity))
        found.append(least_prices(problem[0], needs, capacity))
    return found


def make_simple_equilibrium(case: Case, alpha: int) -> dict[str, Any]:
    """The solver's answer where simple fractions are the answer, and its prices; also to a misreport."""
    tasks = rounded(case.instance, "alpha-pf-vds", alpha=alpha)
    made = {"tasks": tasks, "prices": priced(case.instance, tasks, [alpha] * case.instance.K)}
    after = make_simple_equilibrium(Case(case.reported), alpha) if case.misreport else {}
    return made | {f"{key}_after": value for key, value in after.items()}


# ---- Nash bargaining ------------------------------------------------------------------------------------------------------


def nash_misreport(
    problem: Any, report: Any, misreporting: Any, tasks: Any, prices: Any, tasks_after: Any, prices_after: Any
) -> Any:
    """NB before and after, each the only one; the user is given what its reported tasks take."""
    assert bargain(problem, tasks, prices)
    assert bargain(report, tasks_after, prices_after)
    (n,) = misreporting
    more = better_off(arcs(problem), held(report, tasks_after, n), n, sum(tasks[n]))
    return {"user": n + 1, "have": sum(tasks[n]), "more": more}


def nash_bargain_that_is_not_lmmf(problem: Any, tasks: Any, prices: Any, better: Any) -> Any:
    """The only Nash bargain, and tasks that fit whose sorted utilities are lexicographically larger."""
    assert bargain(problem, tasks, prices)
    assert fits(problem, better)
    have, more = (sorted(sum(row) for row in x) for x in (tasks, better))
    assert more > have
    return {"have": listed(have), "better": listed(more)}


def utility_of_proposition_7(problem: Any, reported: Any, tasks: Any, prices: Any) -> Any:
    """NB after the misreport, the only one: each user spends 1 at prices at which everything costs 2."""
    report = (reported, *problem[1:])
    assert bargain(report, tasks, prices)
    assert reported[0] == problem[0][0]
    bundle = list(held(report, tasks, 1).values())
    assert alone(problem[0][1], bundle) > F("0.835")
    return {"bundle": listed(bundle), "worth": alone(problem[0][1], bundle)}


def equilibrium_with_envy(problem: Any, alpha: int, tasks: Any, prices: Any) -> Any:
    """What another has in all, wherever it lies, would be worth more tasks. For alpha = 1 every equilibrium is a Nash bargain."""
    assert alpha == 1
    assert bargain(problem, tasks, prices)
    return of_totals(problem, [sum(x) for x in tasks])


# ---- alpha below 1 --------------------------------------------------------------------------------------------------------


def make_vertex(case: Case) -> dict[str, Any]:
    """Tasks at which as many resources are full as users are served, and bounds on z^-alpha, of which a power is rational."""
    alpha, problem, bounds = F(str(case.parameters["alpha"])), given(case)["problem"], []
    tasks = [sum(row) for row in rounded(case.instance, "alpha-pf-vds", alpha=float(alpha))]
    for n, x in enumerate(tasks):
        z = x / (problem[3][n] * alone(problem[0][n], problem[1][0]))
        low = F(int(float(z) ** -float(alpha) * 10**6), 10**6)
        exact = z**-alpha.numerator == low**alpha.denominator
        bounds.append([low, low if exact else low + F(1, 10**6)])
    return {"alpha": alpha, "x": tasks, "bounds": bounds}


def equilibrium_without_sharing_incentive(problem: Any, alpha: Any, x: Any, bounds: Any) -> Any:
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(problem, alpha, x, bounds)
    return short_of_its_part(problem, problem[3], [[v] for v in x])


def equilibrium_below_1_with_envy(problem: Any, alpha: Any, x: Any, bounds: Any) -> Any:
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(problem, alpha, x, bounds)
    return of_totals(problem, x)


# ---- several equilibria ---------------------------------------------------------------------------------------------------


def make_two_points(case: Case) -> dict[str, Any]:
    """Alpha of each server, B, and both points with their prices."""
    tasks, other = given(case)["points"]
    alpha, B = [F(v) for v in alphas(case)[: case.instance.K]], F(case.parameters.get("B", 0))
    prices = [priced(case.instance, x, alpha, B) for x in (tasks, other)]
    return {"alpha": alpha, "B": B, "tasks": tasks, "other_tasks": other, "prices": prices[0], "other_prices": prices[1]}


def falling(z: Any, alpha: Any) -> Any:
    """z^-alpha where that is rational: alpha is a whole number, or half of one and z the square of a rational."""
    return z**-alpha if alpha == int(alpha) else root(z) ** int(-2 * alpha)


def two_equilibria_at_ties(problem: Any, alpha: Any, tasks: Any, prices: Any, other_tasks: Any, other_prices: Any) -> Any:
    """Two equilibria with different totals, for g' = z^-alpha with the alpha of each server."""
    demands, capacities, _, _ = problem
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        z = virtual_shares(problem, x)
        worth = {a: falling(share, alpha[a[-1]]) / alone(demands[a[0]], capacities[a[-1]]) for a, share in z.items()}
        assert equilibrium(arcs(problem), tables(capacities), worth, fits(problem, x), tables(p), *EXACT)
    first, second = (listed(map(sum, x)) for x in (tasks, other_tasks))
    assert first != second
    return {"first": first, "second": second}


def two_isolated_equilibria(
    problem: Any, alpha: Any, B: Any, tasks: Any, prices: Any, other_tasks: Any, other_prices: Any
) -> Any:
    """Two strict solutions for one alpha: at each server as many users are served as resources have a price, and these have a
    regular matrix.

    Near such a solution the users who are served, the resources with a price, the slacks and the excess prices are the same, so
    its equations hold, whose only solution it is: it is isolated, and a connected set of several points has no isolated one.
    """
    demands, (power,) = problem[0], {int(v) for v in alpha}
    for x, p in ((tasks, prices), (other_tasks, other_prices)):
        assert game(problem, lambda z: z**-power + B / z, x, p)
        for i, capacity in enumerate(problem[1]):
            served, paid = [n for n, row in enumerate(x) if row[i]], [r for r, v in enumerate(p[i]) if v]
            assert full_resources(problem, x, i) == paid
            assert len(served) == len(paid) <= 2
            block = [[demands[n][r] for r in paid] for n in served]
            assert len(block) == 1 or block[0][0] * block[1][1] != block[0][1] * block[1][0]
            for n, d in enumerate(demands):
                gamma = alone(d, capacity)
                z = sum(x[n]) / (problem[3][n] * gamma)
                assert n in served or sum(v * q for v, q in zip(p[i], d)) > (z**-power + B / z) / gamma
    first, second = (listed(map(sum, x)) for x in (tasks, other_tasks))
    assert first != second
    return {"first": first, "second": second}


def unbounded_multiplier(problem: Any, tasks: Any, prices: Any) -> Any:
    """A resource that a server does not have: nobody who may run there demands it, and its multiplier occurs in no condition."""
    demands, capacities, eligible, _ = problem
    i, r = next((i, r) for i, row in enumerate(capacities) for r, c in enumerate(row) if c == 0)
    assert all(not d[r] or not places[i] for d, places in zip(demands, eligible))
    for multiplier in (F(0), F(1), F(10**100)):
        others = [[multiplier if (j, q) == (i, r) else p for q, p in enumerate(row)] for j, row in enumerate(prices)]
        assert game(problem, lambda z: z**-2, tasks, others)
    return {"server": i + 1, "resource": r + 1}


# ---- K 6.2 ----------------------------------------------------------------------------------------------------------------


def make_at_two_alphas(case: Case) -> dict[str, Any]:
    """The equilibrium of alpha = 1, and the answer of PS-DSF, which is that of alpha = infinity."""
    return make_simple_equilibrium(case, 1) | {"tasks_at_infinity": make_of_ps_dsf(case)["tasks"]}


def less_utilisation(problem: Any, tasks: Any, prices: Any, tasks_at_infinity: Any) -> Any:
    """One server, where the tasks of the equilibrium are unique: a strictly concave program, and max-min fair shares."""
    (capacity,), used = problem[1], []
    assert game(problem, lambda z: 1 / z, tasks, prices)
    assert per_server(problem, tasks_at_infinity)
    for x in (tasks, tasks_at_infinity):
        parts = [sum(row[0] * d[r] for row, d in zip(x, problem[0])) / c for r, c in enumerate(capacity)]
        used.append(sum(parts) / len(parts))
    assert used[0] < used[1]
    return {"one": used[0], "infinite": used[1]}


def make_one_full_resource(case: Case) -> dict[str, Any]:
    """The equilibrium of alpha = 1, where one resource is full, and a point beyond that of alpha = 3 where it is full too."""
    made = make_simple_equilibrium(case, 1)
    tasks, (d, e), (capacity,) = made["tasks"], *(given(case)["problem"][k] for k in (0, 1))
    r = full_resources(given(case)["problem"], tasks, 0)[0]
    first = F(str(solve(case.instance, "alpha-pf-vds", alpha=3, accuracy="high").x[0]))
    far = tasks[0][0] + F(round(120 * (first - tasks[0][0])), 100)
    return made | {"beyond": [[far], [(capacity[r] - far * d[r]) / e[r]]]}


def less_utilisation_than_at_3(problem: Any, tasks: Any, prices: Any, beyond: Any) -> Any:
    """Two users of one server, where the tasks of the equilibrium are unique. At alpha = 3 they lie between tasks and beyond.

    One resource r is full at both points and between them, and no other one between them. With a price p of r alone, p d_nr =
    h_n = g'(z_n) / gamma_n is possible iff h_1 / d_1r = h_2 / d_2r. h_n falls with x_n, so this is so at one point of the line.
    """
    demands, (capacity,), _, _ = problem
    assert game(problem, lambda z: 1 / z, tasks, prices)
    (r,) = full_resources(problem, tasks, 0)
    assert full_resources(problem, beyond, 0) == [r]
    gaps, used = [], []
    for x in (tasks, beyond):
        assert fits(problem, x)
        z = [*virtual_shares(problem, x).values()]
        first, second = (share**-3 / alone(d, capacity) / d[r] for share, d in zip(z, demands))
        gaps.append(first - second)
        used.append(sum(sum(row[0] * d[k] for row, d in zip(x, demands)) / c for k, c in enumerate(capacity)) / len(capacity))
    assert gaps[0] * gaps[1] < 0
    assert used[0] < used[1]
    return {"one": used[0], "three": used[1]}


def make_bracket(case: Case) -> dict[str, Any]:
    """The equilibrium of alpha = 1, and points on both sides of that of alpha = 3, on the line where both resources are full."""
    made = make_simple_equilibrium(case, 1)
    (a, b, c), (e, f, g) = zip(*(rows[0] for rows in case.instance.exact.demands), strict=True)
    step = (b * g - c * f, c * e - a * g, a * f - b * e)
    found = solve(case.instance, "alpha-pf-vds", alpha=3, accuracy="high").x
    near = F(round((F(float(found[0])) - made["tasks"][0][0]) / step[0] * 10**6), 10**6)
    ends = (near - F(2, 10**6), near + F(2, 10**6))
    low, high = ([[x[0] + end * s] for x, s in zip(made["tasks"], step, strict=True)] for end in ends)
    return made | {"low": low, "high": high}


def deviation_of(problem: Any, tasks: Any) -> Any:
    """The mean by weight of sum_i (x_ni / x_n) (z_ni / min_m z_mi - 1) (K 58), where everybody may run everywhere."""
    z, servers, weights = virtual_shares(problem, tasks), range(len(problem[1])), problem[3]
    least = [min(share for (_, _, j), share in z.items() if j == i) for i in servers]
    own = [sum((row[i] / sum(row) * (z[n, i, i] / least[i] - 1) for i in servers), F(0)) for n, row in enumerate(tasks)]
    return sum(w * v for w, v in zip(weights, own)) / sum(weights)


def more_deviation(problem: Any, tasks: Any, prices: Any, low: Any, high: Any) -> Any:
    """One server, where the tasks of the equilibrium are unique. At alpha = 3 these are between low and high.

    Three users fill both resources at low, high and all points between. Prices with p d_n = h_n = g'(z_n) / gamma_n exist iff
    high - low, which fills nothing, times h is 0. That product falls from low to high, as h_n falls with x_n: it changes its sign
    once. Prices are linear in h, so they are positive if they are for all h between those of the ends.
    """
    demands, (capacity,), _, weights = problem
    assert game(problem, lambda z: 1 / z, tasks, prices)
    for x in (low, high):
        assert fits(problem, x)
        assert full_resources(problem, x, 0) == list(range(len(capacity)))
    z = [list(virtual_shares(problem, x).values()) for x in (low, high)]
    h = [[s**-3 / alone(d, capacity) for s, d in zip(row, demands)] for row in z]
    step = [b[0] - a[0] for a, b in zip(low, high)]
    assert sum(s * v for s, v in zip(step, h[0])) > 0 > sum(s * v for s, v in zip(step, h[1]))
    (a, b), (e, f) = demands[1], demands[2]
    for u, v in ((u, v) for u in (h[0][1], h[1][1]) for v in (h[0][2], h[1][2])):
        assert (u * f - v * b) / (a * f - b * e) > 0
        assert (v * a - u * e) / (a * f - b * e) > 0
    one, least = deviation_of(problem, tasks), min(max(s, t) for s, t in zip(*z))
    three = sum(w * max(min(s, t) / least - 1, F(0)) for w, s, t in zip(weights, *z)) / sum(weights)
    assert one < three
    return {"one": one, "three": F(int(three * 10**4), 10**4)}
