"""What an allocation takes, whether it is feasible, and what somebody could have instead, which every fairness property asks."""

from typing import Any


def used(need: Any, x: Any, i: Any, r: Any) -> Any:
    """What the tasks x take of resource r of server i."""
    return sum(x[a] * need[a][r] for a in x if a[-1] == i and r in need[a])


def feasible(need: Any, room: Any, x: Any, *logic: Any) -> Any:
    """No capacity is exceeded and no number of tasks is negative (K 10, W 3.2)."""
    all_, _, _, ge, _ = logic
    return all_([*(ge(v, 0) for v in x.values()), *(ge(c, used(need, x, i, r)) for (i, r), c in room.items())])


def content(need: Any, bundle: Any, y: Any, tasks: Any, have: Any, *logic: Any) -> Any:
    """Where y, so many tasks in all, fits into a bundle, capacities by server and resource, it is no more than a user has.

    With its part of every server as the bundle that is the sharing incentive (K 2.1, P III-B), with what another user holds, by
    weight, envy-freeness (K (1), W 3.3, Z II-B), with what it is given for a misreport strategyproofness.
    """
    _, _, implies, ge, _ = logic
    return implies(feasible(need, bundle, y, *logic), ge(have, tasks))


def undominated(need: Any, room: Any, y: Any, tasks: Any, have: Any, *logic: Any) -> Any:
    """Where y, {user: tasks} in all, is feasible and gives nobody less than it has, it gives nobody more: Pareto (W 3.3)."""
    all_, _, implies, ge, _ = logic
    no_less, no_more = all_([ge(tasks[n], u) for n, u in have.items()]), all_([ge(u, tasks[n]) for n, u in have.items()])
    return implies(all_([feasible(need, room, y, *logic), no_less]), no_more)
