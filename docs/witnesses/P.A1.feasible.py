"""P.A1.feasible is refuted. It says (P III-C, Algorithm I):

    Update-Allocation keeps the allocation feasible.

Assumed: one variant, same demands, unlimited, at least 2 users. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 1], [10, 1]])
capacities = exact([[1, "1/10"]])
eligible = [[1], [1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
points = exact([[[0], ["1/10"]]])


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def update_allocation(problem, points):
    """One server. N* has the least share; for every full resource that N* demands, the user of it with the largest share.

    f_r is what is left of r plus what those users hold of it, once for every resource they are chosen for; z* = min f_r / D_r
    with D_r what N* needs for a share of 1; beta is the largest part that keeps the order of shares (P III-C, Algorithm I).
    """
    demands, (capacity,), _, weights = problem
    x, resources = [row[0] for row in points[0]], range(len(capacity))
    unit = [w * alone(d, capacity) for d, w in zip(demands, weights)]
    z = [v / one for v, one in zip(x, unit)]
    lowest = [n for n, share in enumerate(z) if share == min(z)]
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in resources]
    full = [r for r in resources if used[r] == capacity[r] and any(demands[n][r] for n in lowest)]
    chosen = [max((n for n, v in enumerate(x) if v and demands[n][r]), key=lambda n: z[n]) for r in full]
    assert full
    assert all(z[n] > min(z) for n in chosen)
    f = [capacity[r] - used[r] + sum(x[n] * demands[n][r] for n in chosen) for r in resources]
    D = [sum(unit[n] * demands[n][r] for n in lowest) for r in resources]
    rise = min(f[r] / D[r] for r in resources if D[r])
    beta = min([F(1)] + [(z[n] - min(z)) / (rise + x[n] / unit[n]) for n in chosen])
    after = [v * (1 - beta) if n in chosen else v + beta * unit[n] * rise * (n in lowest) for n, v in enumerate(x)]
    loads = [sum(v * d[r] for v, d in zip(after, demands)) / capacity[r] for r in resources]
    assert max(loads) > 1
    return {"resource": loads.index(max(loads)) + 1, "load": max(loads)}


found = update_allocation(problem, points)
print("P.A1.feasible: after Update-Allocation resource {resource} is used {load} times".format(**found))
