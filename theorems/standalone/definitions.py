"""What standalone scripts check with, beside theorems/definitions.py: their data, and who violates a property, by how much.

The source of these functions is copied into the scripts (script.py), so they use nothing but `Fraction`, each other and builtins.
A `problem` is (demands, capacities, eligible, weights): vectors, or lists of vectors, by user; eligible[user][server].
"""

from fractions import Fraction as F
from typing import Any

from fairalloc.theorems.definitions import EXACT, content, equilibrium, feasible, keeps, no_complaint, ps_dsf, undominated, used


def exact(value: Any) -> Any:
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


def listed(numbers: Any) -> str:
    """As text, such as (1/2, 3)."""
    return "(" + ", ".join(map(str, numbers)) + ")"


def unit_of(n: int, count: int, sign: int = 1) -> Any:
    """sign x_n as an objective."""
    return [F(sign * int(m == n)) for m in range(count)]


def alone(demand: Any, capacity: Any) -> Any:
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def tables(rows: Any) -> Any:
    """{(server, resource): number}."""
    return {(i, r): v for i, row in enumerate(rows) for r, v in enumerate(row)}


def arcs(problem: Any) -> Any:
    """{(user, place, server): {resource: demand}} of those who may run there; places are servers for each of a user's vectors."""
    demands, capacities, eligible, _ = problem
    need = {}
    for n, rows in enumerate(demands):
        vectors = rows if isinstance(rows[0], list) else [rows]
        for k, (d, i) in enumerate((d, i) for d in vectors for i in range(len(capacities))):
            if eligible[n][i] and alone(d, capacities[i]) > 0:
                need[n, k, i] = {r: q for r, q in enumerate(d) if q}
    return need


def fits(problem: Any, tasks: Any) -> Any:
    """{arc: tasks} of tasks by user and place, which are feasible, and 0 where a user may not run."""
    need, room = arcs(problem), tables(problem[1])
    x = {a: tasks[a[0]][a[1]] for a in need}
    assert all(v == 0 or (n, k) in {a[:2] for a in need} for (n, k), v in tables(tasks).items())
    assert feasible(need, room, x, *EXACT)
    return x


def held(problem: Any, tasks: Any, n: int, times: Any = 1) -> Any:
    """{(server, resource): amount} that the tasks of user n take, so many times."""
    need = arcs(problem)
    x = {a: tasks[a[0]][a[1]] * times for a in need if a[0] == n}
    return {(i, r): used(need, x, i, r) for i, r in tables(problem[1])}


def amounts(problem: Any, tasks: Any, r: int) -> Any:
    """What each user has of resource r, by weight."""
    return [sum(row) * d[r] / w for row, d, w in zip(tasks, problem[0], problem[3])]


def unit(rule: str, problem: Any) -> Any:
    """The tasks of a share of 1: all servers as one pool (drfh), one by one (tsf), the eligible ones as a pool, or one task."""
    demands, capacities, eligible, weights = problem
    if rule == "lmmf":
        return list(weights)
    if rule == "tsf":
        return [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    open_to = eligible if rule == "eligible" else [[1 for _ in capacities] for _ in demands]
    pools = [[sum(c for c, may in zip(column, row) if may) for column in zip(*capacities)] for row in open_to]
    return [w * alone(d, pool) for d, w, pool in zip(demands, weights, pools)]


def lexicographic(rule: str, problem: Any, tasks: Any, rounds: Any) -> Any:
    """All answers of the rule have the totals of these tasks: prices of each round keep its users from more (`keeps`)."""
    need, room, x = arcs(problem), tables(problem[1]), fits(problem, tasks)
    share = {n: sum(row) / one for n, (row, one) in enumerate(zip(tasks, unit(rule, problem)))}
    kept = [keeps(need, room, share, x, users, tables(prices), *EXACT) for users, prices in rounds]
    return all(kept) and {n for users, _ in rounds for n in users} == set(share)


def virtual_shares(problem: Any, tasks: Any) -> Any:
    """{arc: tasks of the user / (phi_n gamma_ni)}."""
    need, (demands, capacities, _, weights) = arcs(problem), problem
    return {a: sum(tasks[a[0]]) / (weights[a[0]] * alone(demands[a[0]], capacities[a[2]])) for a in need}


def per_server(problem: Any, tasks: Any) -> Any:
    """These tasks are PS-DSF."""
    return ps_dsf(arcs(problem), tables(problem[1]), virtual_shares(problem, tasks), fits(problem, tasks), *EXACT)


def drf_per_server(problem: Any, tasks: Any) -> Any:
    """These tasks are DRF on each server by itself, where PS-DSF is DRF."""
    demands, capacities, eligible, weights = problem
    ones = [(demands, [c], [[places[i]] for places in eligible], weights) for i, c in enumerate(capacities)]
    return all(per_server(one, [[row[i]] for row in tasks]) for i, one in enumerate(ones))


def game(problem: Any, marginal: Any, tasks: Any, prices: Any) -> Any:
    """These tasks are an equilibrium for g' at these prices."""
    need, z = arcs(problem), virtual_shares(problem, tasks)
    worth = {a: marginal(z[a]) / alone(problem[0][a[0]], problem[1][a[2]]) for a in need}
    return equilibrium(need, tables(problem[1]), worth, fits(problem, tasks), tables(prices), *EXACT)


def bargain(problem: Any, tasks: Any, prices: Any) -> Any:
    """These tasks are the only Nash bargain: sum_n w_n y_n / u_n <= sum w for all feasible y, and weighted means do the rest."""
    need = arcs(problem)
    worth = {a: problem[3][a[0]] / sum(tasks[a[0]]) for a in need}
    return equilibrium(need, tables(problem[1]), worth, fits(problem, tasks), tables(prices), *EXACT)


def fair(requests: Any, entitlements: Any, x: Any) -> Any:
    """x has no complaint."""
    need = {(n, 0): {j: r for j, r in enumerate(row) if r} for n, row in enumerate(requests)}
    room = {(0, j): F(1) for j in range(len(requests[0]))}
    return no_complaint(need, room, entitlements, {(n, 0): v for n, v in enumerate(x)}, *EXACT)


def with_dummies(requests: Any) -> Any:
    """Requests, and a dummy for each user, of which it alone requests all (D 5)."""
    return [[*row, *(F(int(k == n)) for k in range(len(requests)))] for n, row in enumerate(requests)]


def better_off(need: Any, bundle: Any, n: int, have: Any) -> Any:
    """The tasks that user n could run with a bundle on its arcs; they are more than it has."""
    y = {a: min(bundle[a[-1], r] / q for r, q in d.items()) for a, d in need.items() if a[0] == n}
    assert not content(need, bundle, y, sum(y.values()), have, *EXACT)
    return sum(y.values())


def short_of_its_part(problem: Any, parts: Any, tasks: Any) -> Any:
    """The user with the least of what it could run with its part of every server that it may use; it has less."""
    need, room = arcs(problem), tables(problem[1])
    own = [sum(alone(problem[0][n], problem[1][a[-1]]) for a in need if a[0] == n) * w / sum(parts) for n, w in enumerate(parts)]
    n = min(range(len(own)), key=lambda n: sum(tasks[n]) / own[n])
    part = better_off(need, {key: c * parts[n] / sum(parts) for key, c in room.items()}, n, sum(tasks[n]))
    return {"user": n + 1, "have": sum(tasks[n]), "part": part}


def envious(needs: Any, bundles: Any, have: Any) -> Any:
    """Who could run the most, in parts of what it has, with the bundle of another, bundles[n][m]; and who that is."""
    pairs = [(n, m) for n in range(len(have)) for m in range(len(have)) if n != m]
    n, m = max(pairs, key=lambda pair: alone(needs[pair[0]], bundles[pair[0]][pair[1]]) / have[pair[0]])
    need = {(n, 0): {r: q for r, q in enumerate(needs[n]) if q}}
    more = better_off(need, tables([bundles[n][m]]), n, have[n])
    return {"user": n + 1, "envied": m + 1, "have": have[n], "more": more}


def of_totals(problem: Any, have: Any) -> Any:
    """Envy where everything that another has, by weight, lay on one server."""
    demands, weights = problem[0], problem[3]
    bundles = [[[v * q * w / u for q in d] for v, d, u in zip(have, demands, weights)] for w in weights]
    return envious(demands, bundles, have)


def dominating(problem: Any, have: Any, better: Any) -> Any:
    """Who gains most by the tasks `better`, which are feasible and give nobody less than it has."""
    y, tasks = fits(problem, better), [sum(row) for row in better]
    assert not undominated(arcs(problem), tables(problem[1]), y, tasks, dict(enumerate(have)), *EXACT)
    gains = [sum(row) - u for row, u in zip(better, have)]
    n = gains.index(max(gains))
    return {"user": n + 1, "have": have[n], "more": sum(better[n])}


def whole_tasks(demands: Any, capacities: Any, best_fit: bool) -> list[int]:
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


def vertex_equilibrium(problem: Any, alpha: F, x: Any, bounds: Any) -> bool:
    """One server with two full resources: x > 0 is the equilibrium for g' = z^-alpha. All users but one need resource 1 alone.

    These are alike. With h = z^-alpha / gamma the price of resource 1 is their h_n / d_n1, and that of resource 2 is to pay the
    rest of the other user's h: it exists iff that rest is not negative. Bounds enclose z^-alpha, of which a power is rational.
    """
    demands, (capacity,), _, weights = problem
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
