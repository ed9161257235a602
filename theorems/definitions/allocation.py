"""What an allocation takes, whether it is feasible, and what somebody could have instead, which every fairness property asks."""

from typing import Any

__all__ = ["content", "feasible", "runs", "undominated", "used"]


def used(need: Any, x: Any, i: Any, r: Any) -> Any:
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def runs(x: Any, n: Any) -> Any:
    """The tasks of user n on all its arcs."""
    return sum(v for a, v in x.items() if a[0] == n)


def feasible(need: Any, room: Any, x: Any, *logic: Any) -> Any:
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def content(need: Any, bundle: Any, y: Any, have: Any, *logic: Any) -> Any:
    """Tasks y that fit into a bundle, as capacities by server and resource, are no more than a user has.

    With its part of every server as the bundle that is the sharing incentive (K 2.1, P III-B), with what another user holds, by
    weight, envy-freeness (K (1), W 3.3, Z II-B), with what it is given for a misreport strategyproofness.
    """
    _, _, implies, ge, _ = logic
    return implies(feasible(need, bundle, y, *logic), ge(have, sum(y.values())))


def undominated(need: Any, room: Any, have: Any, y: Any, *logic: Any) -> Any:
    """Feasible tasks y that give nobody less than {user: tasks} `have` give nobody more: Pareto optimality (W 3.3)."""
    all_, _, implies, ge, _ = logic
    no_less = all_([ge(runs(y, n), u) for n, u in have.items()])
    no_more = all_([ge(u, runs(y, n)) for n, u in have.items()])
    return implies(all_([feasible(need, room, y, *logic), no_less]), no_more)
