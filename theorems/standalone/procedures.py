"""Arguments about procedures and single formulas of P and W: Algorithm I, filling with whole tasks, programs, printed tables; and
about sentences and printed formulas that no theorem of the papers rests on.
"""

from fractions import Fraction as F
from typing import Any

from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import vertices
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals, drf_on_each_server
from fairalloc.theorems.standalone.certificates import by_place, given
from fairalloc.theorems.standalone.definitions import alone, arcs, drf_per_server, fits, virtual_shares, whole_tasks
from fairalloc.theorems.standalone.every_answer import at_most


def induction_for_sharing(problem: Any) -> Any:
    """User 1 gives user 2 its third of server 1, which it may not use, for a quarter of server 2; both gain."""
    demands, capacities, eligible, weights = problem
    part, given = F(1, 3), F(1, 4)
    gamma = [[alone(d, c) * may for c, may in zip(capacities, places)] for d, places in zip(demands, eligible)]
    assert weights == [1, 1, 1]
    assert gamma[0][0] == gamma[2][0] == 0
    assert given * gamma[0][1] > 0
    assert part * gamma[1][0] - given * gamma[1][1] > 0
    left = [1 - 0 * part, 1 - part - given]  # server 1 is for user 2 alone; user 1 has 1/3 + 1/4 of server 2
    promised = [sum(c * g for c, g in zip(left, row)) / 2 / sum(row) for row in gamma[1:]]
    assert min(promised) < part
    return {"promised": min(promised), "part": part}


def tasks_without_reservation(problem: Any) -> Any:
    """On one server nobody can exchange. With positive demands all use each full resource, so PS-DSF gives all the same share."""
    demands, (pool,), _, weights = problem
    assert weights == [1, 1, 1]
    assert all(all(d) for d in demands)
    gamma = [alone(d, pool) for d in demands]
    loads = [[d[r] * g for d, g in zip(demands, gamma)] for r in range(len(pool))]
    of_rest = min(F(2, 3) * c / sum(load[:2]) for c, load in zip(pool, loads))  # user 3 keeps the other third
    of_all = min(c / sum(load) for c, load in zip(pool, loads))
    assert of_all < of_rest
    return {"before": of_rest * gamma[0], "after": of_all * gamma[0]}


def make_drf_on_servers(case: Case) -> dict[str, Any]:
    """DRF on each server, and a server at which the first update exceeds a capacity."""
    places = ServerInRationals.all_of(case.instance)
    x = drf_on_each_server(case.instance, places)
    data = given(case)["problem"], by_place(case.instance, [*x.values()])
    found = (i for i in range(case.instance.K) if max(updated_loads(*data, i), default=0) > 1)
    return {"tasks": data[1], "server": next(found) + 1}


def updated_loads(problem: Any, tasks: Any, i: int) -> Any:
    """What Update-Allocation at server i takes of its resources; nothing where it does not update.

    N* has the least share; for every full resource that N* demands, the user of it with the largest share is chosen. f_r is
    what is left of r plus what those users hold of it, once for every resource they are chosen for; z* = min f_r / D_r with D_r
    what N* needs for a share of 1; beta is the largest part that keeps the order of shares (P III-C, Algorithm I).
    """
    demands, capacity, here = problem[0], problem[1][i], [a for a in arcs(problem) if a[-1] == i]
    z = {a[0]: virtual_shares(problem, tasks)[a] for a in here}
    x, unit = {n: tasks[n][i] for n in z}, {n: sum(tasks[n]) / share for n, share in z.items()}
    lowest, resources = [n for n in z if z[n] == min(z.values())], range(len(capacity))
    used = [sum(x[n] * demands[n][r] for n in x) for r in resources]
    full = [r for r in resources if used[r] == capacity[r] and any(demands[n][r] for n in lowest)]
    chosen = [max((n for n in x if x[n] and demands[n][r]), key=lambda n: z[n]) for r in full]
    if not chosen or any(n in lowest for n in chosen):
        return []
    f = [capacity[r] - used[r] + sum(x[n] * demands[n][r] for n in chosen) for r in resources]
    D = [sum(unit[n] * demands[n][r] for n in lowest) for r in resources]
    rise = min(f[r] / D[r] for r in resources if D[r])
    beta = min([F(1)] + [(z[n] - min(z.values())) / (rise + x[n] / unit[n]) for n in chosen])
    after = {n: v * (1 - beta) if n in chosen else v + beta * unit[n] * rise * (n in lowest) for n, v in x.items()}
    return [sum(v * demands[n][r] for n, v in after.items()) / capacity[r] for r in resources]


def update_allocation(problem: Any, tasks: Any, server: int) -> Any:
    """The start of Algorithm I, DRF on each server, and the first update at a server."""
    assert drf_per_server(problem, tasks)
    loads = updated_loads(problem, tasks, server - 1)
    assert max(loads) > 1
    return {"server": server, "resource": loads.index(max(loads)) + 1, "load": max(loads)}


def rounds_without_end(problem: Any) -> Any:
    """One user may use both servers, each with one other user, and only resource 1 matters, of which each server has one unit.

    A server's procedure is one update: who has the larger share has h there, so f = z* = h, beta = (difference of shares) / 2 h,
    and beta h tasks go from one to the other. Every round applies the same linear equations to what the round before has left.
    """
    demands, capacities, eligible, weights = problem
    assert weights == [1, 1, 1]
    may = [[e and alone(d, c) > 0 for e, c in zip(row, capacities)] for d, row in zip(demands, eligible)]
    both = next(n for n in range(3) if all(may[n]))
    own = [next(n for n in range(3) if n != both and may[n][i]) for i in (0, 1)]
    assert own[0] != own[1]
    assert not may[own[0]][1]
    assert not may[own[1]][0]
    here = [(n, i) for i in (0, 1) for n in (both, own[i])]
    assert all(alone(demands[n], capacities[i]) == demands[n][0] == capacities[i][0] == 1 for n, i in here)
    x, y = [F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]  # of user `both` and of the others: DRF on each server by itself
    changes = []
    for _ in range(20):
        before = list(x)
        for i in (0, 1):
            more = sum(x) - y[i]  # how much the share of user `both` is larger
            h = x[i] if more > 0 else y[i]
            beta = min(F(1), abs(more) / (2 * h))
            x[i], y[i] = (x[i] - beta * h, y[i] + beta * h) if more > 0 else (x[i] + beta * h, y[i] - beta * h)
            assert sum(x) == y[i]
            assert x[i] + y[i] == 1
            assert beta < 1
        changes.append([a - b for a, b in zip(x, before)])
    ratio = changes[2][0] / changes[1][0]
    assert 0 < ratio < 1
    assert all(changes[h + 1] == [ratio * v for v in changes[h]] for h in range(1, len(changes) - 1))
    return {"rounds": len(changes), "ratio": ratio}


def tasks_of_a_share(problem: Any, points: Any) -> Any:
    """In parts of all there is: D_i is what a task takes, D_ir* its largest part; a bundle of x tasks has the share x D_ir*."""
    for row, d in zip(points[0], problem[0]):
        D = max(q / c for q, c in zip(d, problem[1][0]))
        share = sum(row) * D
        if share * D != sum(row):
            return {"share": share, "tasks": sum(row), "printed": share * D}
    raise AssertionError("the printed step is right here")


def shares_of_a_coalition_of_all(demands: Any, capacities: Any, reported: Any, misreporting: Any) -> Any:
    """One server, positive demands. All get the same share g of what they need most, the largest that fits (W Lemma 1, (6)).

    Of what it gets for a report d' with largest part 1 a user can use g' min_r d'_r / d_r.
    """
    (pool,) = capacities
    assert misreporting == list(range(len(demands)))
    assert all(q > 0 for d in demands + reported for q in d)
    true, told = (
        [[q / c / max(v / b for v, b in zip(d, pool)) for q, c in zip(d, pool)] for d in part] for part in (demands, reported)
    )
    before, after = (1 / max(map(sum, zip(*part))) for part in (true, told))
    shares = [after * min(b / a for a, b in zip(*pair)) for pair in zip(true, told)]
    assert after > before
    assert min(shares) >= before
    return {"before": before, "after": after, "least": min(shares)}


def program_6_as_printed(problem: Any) -> Any:
    """One resource. Equal parts of all servers have the least share `five`; of servers 1, ..., |U| alone nobody has all `six`."""
    demands, capacities, _, weights = problem
    users, servers = range(len(demands)), range(len(capacities))
    assert len(capacities[0]) == 1
    assert len(users) < len(servers)
    assert all(w == 1 for w in weights)
    total = sum(c[0] for c in capacities)
    tasks = [[c[0] / len(users) / d[0] for c in capacities] for d in demands]
    assert fits(problem, tasks)
    five = min(sum(x) * d[0] / total for x, d in zip(tasks, demands))
    rows = [[F(int(j == i)) for _ in users for j in users] + [F(0)] for i in users]  # what server i has, in shares of the total
    rows += [[F(-int(n == m)) for m in users for _ in users] + [F(1)] for n in users]  # g - sum of g_nl over l in U <= 0
    sides = [capacities[i][0] / total for i in users] + [F(0)] * len(users)
    factors = [F(1, len(users))] * (2 * len(users))
    six = at_most(rows, sides, factors, [F(0)] * len(users) ** 2 + [F(1)])
    assert six < five
    return {"five": five, "six": six}


def best_fit_and_first_fit(problem: Any, better: int) -> Any:
    """Progressive filling with whole tasks, by the two rules; shares are of the global dominant resource."""
    demands, capacities, _, _ = problem
    total = [sum(column) for column in zip(*capacities)]
    least = [min(u / alone(d, total) for u, d in zip(whole_tasks(demands, capacities, rule), demands)) for rule in (False, True)]
    assert (least[1] - least[0]) * better > 0
    return {"first": least[0], "best": least[1]}


def slots_of_table_2(table: Any) -> Any:
    """Table 2 as printed: slots on the maximum server, utilisation of CPU and of memory in percent."""
    cpu = {slots: used for slots, used, _ in table}
    slots = max(cpu, key=lambda key: cpu[key])
    assert slots != 14
    assert cpu[slots] > cpu[F(14)]
    return {"slots": slots, "cpu": cpu[slots], "at_14": cpu[F(14)]}


def memory_of_user_1(problem: Any) -> Any:
    """DRFH (6) gives a user who is alone all that it can run; the servers of a class are in the case as one pool."""
    cpu, memory = problem[0][0]
    assert memory > cpu  # of 52.75 CPUs and 51.32 of memory: memory is what it uses most
    parts = [alone(problem[0][0], capacity) * memory / capacity[1] for capacity in problem[1]]
    assert min(parts) > F("0.625")
    return {"least": min(parts)}


# ---- sentences and formulas on which no theorem rests ----------------------------------------------------------------


def make_best_used(case: Case) -> dict[str, Any]:
    """The vertex of what one server allows with the largest sum of used parts."""
    arcs = exact_arcs(case.instance)
    corners = vertices(case.instance, range(len(arcs.user)))
    return {"better": list(max((sum(arcs.loads(x), F(0)), x) for x in corners)[1])}


def unused_by_pareto_optimality(demands: Any, capacities: Any, points: Any, better: Any) -> Any:
    """Everybody demands a full resource, so nobody can gain while nobody loses; another allocation uses no resource less."""
    assert len(capacities) == 1
    resources = range(len(capacities[0]))
    x = [row[0] for row in points[0]]
    used = [sum(v * d[r] for v, d in zip(x, demands)) / capacities[0][r] for r in resources]
    more = [sum(v * d[r] for v, d in zip(better, demands)) / capacities[0][r] for r in resources]
    assert min(x) >= 0
    assert min(better) >= 0
    assert max(used) <= 1
    assert max(more) <= 1
    assert all(any(used[r] == 1 and d[r] for r in resources) for d in demands)
    assert all(b >= a for a, b in zip(used, more))
    assert sum(more) > sum(used)
    return {"used": sum(used), "more": sum(more)}


def printed_condition_of_fig_4(gamma: Any, part: Any) -> Any:
    """Channel 1 for user 1, channel 3 for user 2, half of channel 2 each: PS-DSF, as printed."""
    x = [sum(g * p for g, p in zip(rates, parts)) for rates, parts in zip(gamma, part)]
    assert x == [F("1.5"), 1]
    assert all(sum(column) <= 1 for column in zip(*part))
    assert part[1][1] > 0
    assert x[1] / gamma[1][1] > x[0] * gamma[0][1]  # so taking from user 2 there is not excluded
    assert x[1] / gamma[1][1] == x[0] / gamma[0][1]  # but by x_n / gamma_ni, which is meant, it is
    return {"x": x[0], "ratio": x[1] / gamma[1][1], "bound": x[0] * gamma[0][1]}


def after_epsilon(demands: Any, capacities: Any, points: Any) -> Any:
    """Two alike users of one server, j = user 2; A' gives nobody less than g, epsilon leaves j g, and all get half of epsilon."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    shares = [row[0] for row in points[0]]
    g = min(shares)
    epsilon = shares[1] - g
    assert epsilon > 0
    delta = epsilon / 2
    after = shares[1] - epsilon + delta
    assert after != shares[1] + delta
    return {"share": after, "printed": shares[1] + delta}


def concave_without_curvature(demands: Any, capacities: Any, points: Any) -> Any:
    """The marginal utility is positive and falls strictly for z >= 0, as the cube rises; one user runs z tasks."""
    assert demands == [[1]]
    assert capacities == [[1]]
    z = points[0][0][0]
    slope = 3 * (z - 1) ** 2 / (2 + (z - 1) ** 3) ** 2
    assert slope == 0
    return {"z": z, "slope": slope}


def divided_by_a_decrease(demands: Any, capacities: Any, points: Any) -> Any:
    """Two alike users of one server: both have the share 1/2, so (16) holds for every alpha, as y fits; user 1 has less in y."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    x, y = ([row[0] for row in point] for point in points)
    assert x == [F(1, 2), F(1, 2)]
    assert min(y) >= 0
    assert sum(y) <= 1
    assert y[0] < x[0]
    h = -(y[1] - x[1]) / (y[0] - x[0])
    assert h < 1
    return {"h": h}


def idle_at_an_equilibrium(demands: Any, capacities: Any, weights: Any) -> Any:
    """User 1 demands as much of both resources, user 2 twice as much of the second, of which there is 1: x_1 + 2 x_2 <= 1."""
    assert demands == [[1, 1], [1, 2]]
    assert capacities == [[1, 1]]
    assert weights == [1, 1]
    least = alone(demands[1], capacities[0]) / 2
    used = 1 - least
    assert used < 1
    return {"least": least, "used": used}
