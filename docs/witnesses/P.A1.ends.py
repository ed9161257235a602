"""P.A1.ends is refuted. It says (P III-C):

    Algorithm I ends, and then every user has a bottleneck at every eligible server.

Assumed: exact arithmetic; rounds from DRF on each server. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


demands = exact([[1, 0], [1, 1], [1, 0]])
capacities = exact([[1, 0], [1, 1]])
eligible = [[1, 1], [1, 1], [1, 0]]
weights = exact([1, 1, 1])
problem = (demands, capacities, eligible, weights)


def alone(demand, capacity):
    """The tasks that fit where nothing else runs."""
    return min(c / q for q, c in zip(demand, capacity) if q)


def rounds_without_end(problem):
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


found = rounds_without_end(problem)
print("P.A1.ends: each of {rounds} rounds changes tasks by {ratio} times as much as the one before".format(**found))
