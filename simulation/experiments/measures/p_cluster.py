"""P V: four users on the cluster of P Fig. 5, whose user 4 is away from 100 to 250 s."""

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.models.shares import gamma
from fairalloc.simulation.experiments.trial import Trial, TrialResult
from fairalloc.solvers import solve
from fairalloc.solvers.game.psdsf_distributed import Event, cluster, simulate

__all__ = ["PARTS", "WHEN", "monopolies", "tasks", "use_over_time"]

PARTS = ("A and B", "C", "D")
"""Of the classes of servers; A and B are alike, and only their sum is unique."""

WHEN = ("all active", "user 4 away")

ROUNDING = 1e-13  # the part of the most tasks up to which a number of tasks is what rounding leaves of 0
SLOW = 10.0  # seconds after a change that are left out
AWAY = (100.0, 250.0)
END = 300.0


def monopolies(_: Trial) -> TrialResult:
    """Tasks of each user with a monopoly on each class of servers."""
    instance = cluster()
    alone = gamma(instance)
    return TrialResult({f"user {n + 1} on class {'ABCD'[i]}": alone[n, i] for n in range(4) for i in range(4)})


def tasks(trial: Trial) -> TrialResult:
    """Tasks of each user on A and B together, and on C and D."""
    x = solve(cluster(), trial.competitor).by_server
    x = np.where(x > ROUNDING * x.max(), x, 0.0)
    columns = dict(zip(PARTS, (x[:, 0] + x[:, 1], x[:, 2], x[:, 3]), strict=True))
    return TrialResult({f"user {n + 1} on {name}": values[n] for n in range(4) for name, values in columns.items()})


def use_over_time(trial: Trial) -> TrialResult:
    """The CPU of classes C and D over time: PS-DSF by the servers themselves, any other mechanism exactly every second."""
    everybody = cluster()
    if trial.label == "ps-dsf":
        events = [Event(AWAY[0], "user 4", False), Event(AWAY[1], "user 4", True)]
        history = simulate(everybody, events, horizon=END, seed=trial.seed)
        times = history.times
        use = {name: history.load(name, "cpu") for name in "ABCD"}
        settled = _seconds_to_rest(history.x, times)
    else:
        times = np.arange(0.0, END + 1.0)
        kept = {name: getattr(everybody, name)[:3] for name in ("demands", "weights", "users")}
        without = everybody.replace(**kept, eligible=everybody.placement[:3], max_tasks=None)
        present, absent = (solve(system, trial.competitor) for system in (everybody, without))
        away = (times > AWAY[0]) & (times <= AWAY[1])
        use = {name: np.where(away, absent.load[i, 0], present.load[i, 0]) for i, name in enumerate("ABCD")}
        settled = 0.0
    inside = dict(zip(WHEN, (times < AWAY[0], (times > AWAY[0] + SLOW) & (times <= AWAY[1])), strict=True))
    numbers = {f"CPU of {name}, {when}": use[name][there].mean() for name in "CD" for when, there in inside.items()}
    drawn = {f"CPU of {name}": (times.tolist(), use[name].tolist()) for name in "CD"}
    return TrialResult(numbers | {"seconds to rest": settled}, drawn)


def _seconds_to_rest(x: Floats, times: Floats) -> float:
    """The longest time after the start or a change until the tasks are, within 1e-6, what they stay until the next change."""
    longest = 0.0
    for begin, end in ((0.0, AWAY[0]), AWAY, (AWAY[1], END + 1.0)):
        there = np.flatnonzero((times >= begin) & (times < end))
        last = x[there[-1]]
        moving = there[(np.abs(x[there] - last) > 1e-6 * (1 + np.abs(last))).any(axis=1)]
        longest = max(longest, float(times[moving[-1]] + 1.0 - begin) if len(moving) else 0.0)
    return longest
