"""P V: four users on the cluster of P Fig. 5; Tables III and IV, and Fig. 6, in which user 4 is away from 100 to 250 s."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from fairalloc.analysis.plots.panels import Panel
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import gamma
from fairalloc.simulation.experiments.claims import Check
from fairalloc.simulation.experiments.experiment import Experiment, Measured, PaperClaim, Size, within
from fairalloc.simulation.experiments.figures import bars, curves, figure
from fairalloc.simulation.experiments.trial import Trial, TrialResult
from fairalloc.solvers import solve
from fairalloc.solvers.game.psdsf_distributed import Event, cluster, simulate

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


TABLE3 = ((80, 340, 82.5, 55), (40, 170, 41.25, 41.25), (0, 0, 82.5, 27.5), (0, 0, 27.5, 27.5))
"""Tasks of users 1 to 4 with a monopoly on classes A to D, as printed."""

TABLE4 = {
    "ps-dsf": ((210, 0, 0), (105, 0, 0), (0, 82.5, 0), (0, 0, 27.5)),
    "tsf": ((205, 0, 0), (107.5, 0, 0), (0, 58.33, 0), (0, 8.05, 27.5)),
}
"""Tasks of users 1 to 4 on A and B (printed apart), C and D."""

PRINTED3 = {f"user {n + 1} on class {name}": row[i] for n, row in enumerate(TABLE3) for i, name in enumerate("ABCD")}

PRINTED4 = {
    label: {f"user {n + 1} on {name}": value for n, row in enumerate(rows) for name, value in zip(PARTS, row, strict=True)}
    for label, rows in TABLE4.items()
}

PROMPT = 10.0  # seconds: ours, for the paper gives no number

SLIGHT = 0.005  # a part of a class that counts as nothing: ours

OTHERS = ("tsf", "c-drfh")

HERE = "the printed cluster, users and weights; nothing is generated"


def _as_printed(printed: Mapping[str, Mapping[str, float]], measured: Measured, exact: bool = False) -> list[Check]:
    """How many printed numbers agree within their rounding, half a unit of the last digit; 0 and what is exact has none."""
    count = sum(map(len, printed.values()))
    off, known = [], all(label in measured.labels for label in printed)
    for label, numbers in printed.items():
        for name, value in numbers.items():
            rounding = 0.0 if exact or not value else 0.5 * 10.0 ** -len(f"{value:g}".partition(".")[2])
            ours = measured.mean(label, name)
            if not abs(ours - value) <= max(rounding, 1e-6) + 1e-9:
                off.append(f"not the {value:g} tasks of {name} under {label}, which has {ours:.5g}")
    what = f"{', '.join(['printed numbers that agree within their rounding', *off])}:"
    right = np.array([count - len(off)] if known else [], dtype=float)
    return [Check(what, right, low=count, high=count, drawn=False, form="g")]


def _more_cpu(name: str, measured: Measured) -> list[Check]:
    """Of one class, in both phases and against both others; as much where another one uses all of it."""
    pairs = ((f"CPU of {name}, {when}", other) for when in WHEN for other in OTHERS)
    return [
        measured.more("ps-dsf", other, number, -SLIGHT if measured.mean(other, number) > 1 - SLIGHT else 0.0)
        for number, other in pairs
    ]


def _tasks_of_users(columns: Sequence[str], printed: Mapping[str, Mapping[str, float]]) -> Callable[[Measured, str], list[Panel]]:
    names = {n: [f"user {n} on {name}" for name in columns] for n in range(1, 5)}
    return figure(*(bars(of, f"user {n}", "tasks", columns, printed) for n, of in names.items()))


ONCE = {"small": Size((0,)), "full": Size((0,))}

DOTTED = "Dotted: printed"

EXPERIMENTS = (
    Experiment(
        "P.Table3",
        "tasks of a monopoly on each class of servers",
        (
            PaperClaim(
                "",
                "Table III: the tasks that each user may run when it monopolises each class of servers.",
                partial(_as_printed, {"measured": PRINTED3}, exact=True),
            ),
        ),
        HERE,
        "none",
        ("measured",),
        ONCE,
        monopolies,
        _tasks_of_users([f"class {name}" for name in "ABCD"], {"": PRINTED3}),
        DOTTED,
        printed={"": PRINTED3},
    ),
    Experiment(
        "P.Table4",
        "tasks under PS-DSF and TSF",
        (
            PaperClaim(
                "",
                "Table IV: the tasks of each user on each class of servers under PS-DSF and under TSF.",
                partial(_as_printed, PRINTED4),
            ),
        ),
        HERE,
        "mechanism",
        ("ps-dsf", *OTHERS),
        ONCE,
        tasks,
        _tasks_of_users(PARTS, PRINTED4),
        DOTTED,
        printed=PRINTED4,
    ),
    Experiment(
        "P.Fig6",
        "CPU of classes C and D while user 4 comes and goes",
        (
            PaperClaim("C", "PS-DSF uses more CPU of the servers of class C than TSF and C-DRFH.", partial(_more_cpu, "C")),
            PaperClaim("D", "PS-DSF uses more CPU of the servers of class D than TSF and C-DRFH.", partial(_more_cpu, "D")),
            PaperClaim(
                "prompt",
                "PS-DSF, executed by the servers themselves, converges promptly when users come and go.",
                within("ps-dsf", {"seconds to rest": (-np.inf, PROMPT)}, form=".1f"),
            ),
        ),
        f"{HERE} but the order of the servers in a period, which is drawn. TSF, C-DRFH and mechanisms of one's own are computed "
        f"exactly every second, as in the paper. Prompt means at rest within {PROMPT:.0f} seconds",
        "mechanism",
        ("ps-dsf", *OTHERS),
        {"small": Size((0,), lacks="one seed decides nothing"), "full": Size(tuple(range(10)))},
        use_over_time,
        figure(*(curves(f"CPU of {name}", f"CPU of class {name}", ("seconds", "part in use")) for name in "CD")),
    ),
)
