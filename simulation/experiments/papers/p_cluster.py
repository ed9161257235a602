"""P V: four users on the cluster of P Fig. 5; Tables III and IV, and Fig. 6, in which user 4 is away from 100 to 250 s."""

from collections.abc import Callable, Sequence

import numpy as np

from fairalloc.analysis.plots.panels import Panel
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import gamma
from fairalloc.simulation.experiments.experiment import Experiment, Judged, Outcomes, Size, Trial, TrialResult
from fairalloc.simulation.experiments.figures import bars, curves, figure
from fairalloc.solvers import solve
from fairalloc.solvers.game.psdsf_distributed import Event, cluster, simulate

__all__ = ["EXPERIMENTS", "TABLE3", "TABLE4"]

TABLE3 = ((80, 340, 82.5, 55), (40, 170, 41.25, 41.25), (0, 0, 82.5, 27.5), (0, 0, 27.5, 27.5))
"""Tasks of users 1 to 4 with a monopoly on classes A to D, as printed."""

TABLE4 = {
    "ps-dsf": (("40", "170", "0", "0"), ("20", "85", "0", "0"), ("0", "0", "82.5", "0"), ("0", "0", "0", "27.5")),
    "tsf": (("35", "170", "0", "0"), ("22.5", "85", "0", "0"), ("0", "0", "58.33", "0"), ("0", "0", "8.05", "27.5")),
}
"""Tasks of users 1 to 4 on classes A to D, as printed."""

ROUNDING = 1e-13  # the part of the most tasks up to which a number of tasks is what rounding leaves of 0
SLOW = 10.0  # seconds within which convergence is prompt: ours, for the paper gives no number
AWAY = (100.0, 250.0)
END = 300.0

HERE = "the printed cluster, users and weights; nothing is generated"


def _monopolies(_: Trial) -> TrialResult:
    instance = cluster()
    alone = gamma(instance)
    return TrialResult({f"user {n + 1} on class {'ABCD'[i]}": alone[n, i] for n in range(4) for i in range(4)})


def _table3(outcomes: Outcomes) -> Judged:
    label = outcomes.labels[0]
    found = np.array([outcomes.mean(label, name) for name in outcomes.names]).reshape(4, 4)
    wrong = int((np.abs(found - np.array(TABLE3)) > 1e-9).sum())
    return Judged.whether(not wrong, f"{16 - wrong} of 16 numbers are those printed")


def _tasks(trial: Trial) -> TrialResult:
    """Tasks on A and B together, for the classes are alike and only the sum is unique, and on C and D."""
    x = solve(cluster(), trial.competitor).by_server
    x = np.where(x > ROUNDING * x.max(), x, 0.0)
    columns = {"A and B": x[:, 0] + x[:, 1], "C": x[:, 2], "D": x[:, 3]}
    return TrialResult({f"user {n + 1} on {name}": values[n] for n in range(4) for name, values in columns.items()})


def _table4(outcomes: Outcomes) -> Judged:
    off = [text for label in TABLE4 for n in range(4) for text in _misprints(outcomes, label, n)]
    count = 3 * 4 * len(TABLE4)
    said = f"{count - len(off)} of {count} numbers (A and B together, C, D) are what is printed, within its rounding"
    return Judged.whether(not off, f"{said}; not {', '.join(off)}" if off else said)


def _misprints(outcomes: Outcomes, label: str, n: int) -> list[str]:
    """The numbers of a user that differ from what is printed by more than half a unit of its last digit."""
    row = TABLE4[label][n]
    printed = {"A and B": (float(row[0]) + float(row[1]), row[0]), "C": (float(row[2]), row[2]), "D": (float(row[3]), row[3])}
    found = []
    for name, (value, text) in printed.items():
        ours = outcomes.mean(label, f"user {n + 1} on {name}")
        rounding = 0.5 * 10.0 ** -len(text.partition(".")[2]) if value else 0.0
        if abs(ours - value) > max(rounding, 1e-6) + 1e-9:
            found.append(f"{ours:.5g} and not {value:g} tasks of user {n + 1} on {name} under {label}")
    return found


def _curves(trial: Trial) -> TrialResult:
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
    inside = {"all active": times < AWAY[0], "user 4 away": (times > AWAY[0] + SLOW) & (times <= AWAY[1])}
    numbers = {f"CPU of {name}, {when}": use[name][there].mean() for name in "CD" for when, there in inside.items()}
    counts = everybody.counts[2:] / everybody.counts[2:].sum()
    for when in inside:
        numbers[f"CPU of C and D, {when}"] = counts @ [numbers[f"CPU of {name}, {when}"] for name in "CD"]
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


def _fig6(outcomes: Outcomes) -> Judged:
    others = ("tsf", "c-drfh")
    told, more = [], True
    for when in ("all active", "user 4 away"):
        name = f"CPU of C and D, {when}"
        own, best = outcomes.mean("ps-dsf", name), max(outcomes.mean(other, name) for other in others)
        more &= own > best
        told.append(f"{own:.1%} against at most {best:.1%} with {when}")
    seconds = float(outcomes.values("ps-dsf", "seconds to rest").max())
    text = f"CPU of classes C and D together: {', '.join(told)}; the servers are at rest at most {seconds:.0f} s after a change"
    away = outcomes.mean("ps-dsf", "CPU of D, user 4 away")
    if away < max(outcomes.mean(other, "CPU of D, user 4 away") for other in others):
        text += f". On class D alone PS-DSF uses less while user 4 is away ({away:.1%})"
    return Judged.whether(more and seconds <= SLOW, text)


def _tasks_of_users(columns: Sequence[str]) -> Callable[[Outcomes], list[Panel]]:
    names = [[f"user {n} on {name}" for n in pair for name in columns] for pair in ((1, 2), (3, 4))]
    return figure(bars(names[0], "users 1 and 2", "tasks"), bars(names[1], "users 3 and 4", "tasks"))


ONCE = {"small": Size((0,)), "full": Size((0,))}

EXPERIMENTS = (
    Experiment(
        "P.Table3",
        "tasks of a monopoly on each class of servers",
        "Table III: the tasks that each user may run when it monopolises each class of servers.",
        HERE,
        "none",
        ("measured",),
        ONCE,
        _monopolies,
        _table3,
        _tasks_of_users([f"class {name}" for name in "ABCD"]),
    ),
    Experiment(
        "P.Table4",
        "tasks under PS-DSF and TSF",
        "Table IV: the tasks of each user on each class of servers under PS-DSF and under TSF.",
        HERE,
        "mechanism",
        ("ps-dsf", "tsf", "c-drfh"),
        ONCE,
        _tasks,
        _table4,
        _tasks_of_users(("A and B", "C", "D")),
        needs=tuple(TABLE4),
    ),
    Experiment(
        "P.Fig6",
        "CPU of classes C and D while user 4 comes and goes",
        "PS-DSF, executed by the servers themselves, uses more CPU of classes C and D than TSF and C-DRFH, and converges "
        "promptly when users come and go.",
        f"{HERE} but the order of the servers in a period, which is drawn; TSF, C-DRFH and mechanisms of one's own are computed "
        "exactly every second, as in the paper",
        "mechanism",
        ("ps-dsf", "tsf", "c-drfh"),
        {"small": Size((0,)), "full": Size(tuple(range(10)))},
        _curves,
        _fig6,
        figure(*(curves(f"CPU of {name}", f"CPU of class {name}", ("seconds", "part in use")) for name in "CD")),
    ),
)
