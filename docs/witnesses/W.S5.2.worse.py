"""W.S5.2.worse is refuted. It says (not claimed explicitly; W 6.2 finds Best-Fit better at all times):

    The least share by Best-Fit is never smaller than by First-Fit.

Assumed: one variant, same demands, everywhere, positive, unlimited, equal weights, at least 2 users. Shown about the
numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([["1/2", 1], [1, 1]])
capacities = exact([["1/2", 2], [1, 1]])
eligible = [[1, 1], [1, 1]]
weights = exact([1, 1])
problem = (demands, capacities, eligible, weights)
better = -1


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def whole_tasks(demands, capacities, best_fit):
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


def best_fit_and_first_fit(problem, better):
    """Progressive filling with whole tasks, by the two rules; shares are of the global dominant resource."""
    demands, capacities, _, _ = problem
    total = [sum(column) for column in zip(*capacities)]
    least = [min(u / alone(d, total) for u, d in zip(whole_tasks(demands, capacities, rule), demands)) for rule in (False, True)]
    assert (least[1] - least[0]) * better > 0
    return {"first": least[0], "best": least[1]}


found = best_fit_and_first_fit(problem, better)
print("W.S5.2.worse: the least share is {best} by Best-Fit and {first} by First-Fit".format(**found))
