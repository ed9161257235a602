"""W 6.1, Fig. 5: three users join and leave a cluster of 100 servers; and W 5.2: what smaller tasks change."""

from typing import Any

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.simulation.experiments.claims import Check
from fairalloc.simulation.experiments.experiment import Experiment, Measured, PaperClaim, Size
from fairalloc.simulation.experiments.figures import curves, figure
from fairalloc.simulation.experiments.trial import Trial, TrialResult
from fairalloc.simulation.metrics import dominant_shares
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.simulation.workloads.clusters import TABLE1
from fairalloc.solvers import solve

DEMAND = np.array([[0.2, 0.3], [0.5, 0.1], [0.1, 0.3]])  # CPU and memory of a task of users 1 to 3, as printed

JOIN, LEAVE = np.array([0.0, 200.0, 500.0]), np.array([1080.0, 1400.0, 1700.0])
"""Seconds. Printed: the joining, and that user 1 departs at 1080; the other two departures are ours."""

POOL = np.array([52.75, 51.32])  # printed CPU and memory of the 100 servers

PHASES = {
    "user 1 alone": (100, 200, (0,)),
    "users 1 and 2": (350, 500, (0, 1)),
    "all three": (650, 1080, (0, 1, 2)),
    "users 2 and 3": (1230, 1400, (1, 2)),
}
"""Seconds over which shares are averaged, after what ran before has ended, and who is there."""

SHARES = ("CPU", "memory", "dominant share")


def hundred_servers(seed: int) -> Cluster:
    """100 servers drawn from W Table 1, again and again until they have the printed CPU, and memory within 0.13 of the printed.

    Memory in the rounded numbers of Table 1 comes in steps of about 0.25.
    """
    table = np.array(TABLE1)
    draws = np.random.default_rng(seed).multinomial(100, table[:, 0] / table[:, 0].sum(), size=50_000)
    total = draws @ table[:, 1:]
    fit = np.flatnonzero((np.abs(total[:, 0] - POOL[0]) < 1e-9) & (np.abs(total[:, 1] - POOL[1]) < 0.13))
    counts = draws[fit[0]]
    there = np.flatnonzero(counts)
    return Cluster(["cpu", "memory"], table[there, 1:], counts[there], [f"class {k + 1}" for k in there])


def joining(trial: Trial) -> TrialResult:
    """Shares of each user in each phase and over time, and the share of each of DRFH of divisible tasks.

    There are so many single tasks that each user always has some; each runs 0.5 to 1.5 of the mean.
    """
    cluster, mean = hundred_servers(trial.seed), trial.settings["mean"]
    tasks = np.ceil(1.5 * (LEAVE - JOIN) / mean * (POOL / DEMAND).min(axis=1)).astype(int)
    user = np.repeat(np.arange(3), tasks)
    duration = mean * np.random.default_rng(trial.seed).uniform(0.5, 1.5, len(user))
    each: tuple[Any, ...] = (user, JOIN[user], np.ones(len(user)), duration, DEMAND[user], None, LEAVE)
    workload = Workload(["cpu", "memory"], ["1", "2", "3"], np.ones(3), *each)
    log = simulate_tasks(workload, cluster, trial.competitor, float(LEAVE.max()), trial.seed)
    numbers: dict[str, float] = {}
    for phase, (start, end, users) in PHASES.items():
        shares = dominant_shares(log, [start, end], resources=True)[0]
        if phase == "user 1 alone":
            numbers |= {"user 1 alone, CPU": shares[0, 0], "user 1 alone, memory": shares[0, 1]}
        else:
            numbers |= {f"{phase}, user {n + 1}": shares[n].max() for n in users}
        exact = solve(Instance(DEMAND[list(users)], cluster.capacities, counts=cluster.counts), "drfh")
        numbers[f"{phase}, DRFH of divisible tasks"] = exact.values["g"]
    bounds = np.arange(0.0, LEAVE.max() + 1, 20.0)
    every = dominant_shares(log, bounds, resources=True)
    of = {"CPU": every[:, :, 0], "memory": every[:, :, 1], "dominant share": every.max(axis=2)}
    right = bounds[1:].tolist()
    return TrialResult(numbers, {f"user {n + 1}, {name}": (right, of[name][:, n].tolist()) for n in range(3) for name in SHARES})


def smaller_tasks(trial: Trial) -> TrialResult:
    """Users with tasks without end start them at once; tasks are a 1/m part of those drawn, for m = 1, 2, 4, .."""
    rng = np.random.default_rng(trial.seed)
    counts = np.round(np.array([0.54, 0.31, 0.08, 0.07]) * trial.settings["machines"]).astype(int)
    cluster = Cluster(["cpu", "memory"], [row[1:] for row in TABLE1[:4]], counts)  # type: ignore[arg-type]
    demand = rng.uniform(0.02, 0.25, (trial.settings["users"], 2))
    instance = Instance(demand, cluster.capacities, counts=cluster.counts)
    exact = solve(instance, "drfh").tasks
    parts = [2**k for k in range(trial.settings["halvings"] + 1)]
    gaps, users = [], len(demand)
    for m in parts:
        plenty = np.ceil(m * cluster.totals / demand.min(axis=0)).max()
        each = (np.arange(users), np.zeros(users), np.full(users, plenty), np.ones(users))
        jobs = Workload(["cpu", "memory"], [f"u{n}" for n in range(users)], np.ones(users), *each, demand / m)
        log = simulate_tasks(jobs, cluster, trial.competitor, 0.5, trial.seed)
        gaps.append(float(np.abs(np.bincount(log.job, log.tasks, users) / m / exact - 1.0).max()))
    numbers = {f"largest distance at 1/{m}": gap for m, gap in zip(parts, gaps, strict=True)}
    return TrialResult(numbers, {"distance": ([1.0 / m for m in parts], gaps)})


BEST, FIRST = "best-fit-drfh", "first-fit-drfh"

PRINTED = {
    "user 1 alone, CPU": 0.4,
    "user 1 alone, memory": 0.62,
    **{f"users 1 and 2, user {n}": 0.44 for n in (1, 2)},
    **{f"all three, user {n}": 0.26 for n in (1, 2, 3)},
}
"""Shares, as printed; of users 2 and 3 the paper says that they are the same."""

NEAR = 0.015
"""How far a share may be from the printed one: its rounding, and one task of the largest demand, 0.5 of 52.75 CPUs."""


def _as_printed(measured: Measured) -> list[Check]:
    """The paper drew its servers once, as each seed draws its own."""
    checks = [measured.check(BEST, name, value - NEAR, value + NEAR, one_draw=True) for name, value in PRINTED.items()]
    two, three = (measured.values(BEST, f"users 2 and 3, user {n}") for n in (2, 3))
    return [*checks, Check("users 2 and 3, the share of 2 less that of 3", two - three, -NEAR, NEAR, one_draw=True)]


def _exact(measured: Measured) -> list[Check]:
    """Of the least share in each phase, against that of DRFH."""
    checks = []
    for phase, (_, _, users) in PHASES.items():
        names = [f"{phase}, user {n + 1}" for n in users] if len(users) > 1 else ["user 1 alone, memory"]
        least = np.min([measured.values(BEST, name) for name in names], axis=0)
        exact = measured.values(BEST, f"{phase}, DRFH of divisible tasks")
        checks.append(Check(f"{phase}, the least share less that of DRFH", least - exact, -NEAR, NEAR))
    return checks


def _approaches(measured: Measured) -> list[Check]:
    """What is left of the distance of best-fit from exact DRFH, and how far first-fit stays."""
    first, *_, last = measured.names
    left = measured.values(BEST, last) / measured.values(BEST, first)
    return [
        Check(f"of best-fit's distance of whole tasks is left at {last.split()[-1]}", left, high=LEFT),
        measured.check(FIRST, last, high=FAIRLY_GOOD),
        measured.more(FIRST, BEST, last),
    ]


LEFT, FAIRLY_GOOD = 0.25, 0.15
"""Ours: the paper says "leads to", and "fairly good"."""

ONE = "one seed shows that it runs, and decides nothing"

DOTTED = {
    "CPU": [(100.0, 200.0, 0.4)],
    "memory": [(100.0, 200.0, 0.62)],
    "dominant share": [(100.0, 200.0, 0.62), (350.0, 500.0, 0.44), (650.0, 1080.0, 0.26)],
}

EXPERIMENTS = (
    Experiment(
        "W.Fig5",
        "three users join and leave 100 servers",
        (
            PaperClaim(
                "shares",
                "User 1 alone has 40 % of the CPU and 62 % of the memory; users 1 and 2 have a dominant share of 44 % each, "
                "all three 26 % each, and users 2 and 3 the same when user 1 has left.",
                _as_printed,
            ),
            PaperClaim(
                "exact", "Best-Fit DRFH precisely achieves the DRFH allocation at all times; that of divisible tasks.", _exact
            ),
        ),
        "100 servers drawn from W Table 1 with the printed CPU, and the printed memory within the steps of the table. Demands, "
        "joining times and the departure of user 1 are printed. Our choice: single tasks of 0.5 to 1.5 of a mean time, more than "
        "can run, and when users 2 and 3 leave. Shares are means of a phase, after what ran before has ended",
        "scheduler",
        (BEST, FIRST),
        {"small": Size((0,), {"mean": 60.0}, lacks=ONE), "full": Size(tuple(range(10)), {"mean": 10.0})},
        joining,
        figure(
            *(
                curves({f"user {n}": f"user {n}, {name}" for n in (1, 2, 3)}, name, ("seconds", "share"), printed=DOTTED[name])
                for name in SHARES
            )
        ),
        "Best-fit DRFH; dotted: printed",
        printed={BEST: PRINTED},
    ),
    Experiment(
        "W.Granularity",
        "best-fit DRFH with smaller and smaller tasks",
        (
            PaperClaim(
                "",
                "W 5.2: progressive filling over heterogeneous servers leads to a DRFH allocation; First-Fit offers a fairly "
                "good approximation, Best-Fit a better one.",
                _approaches,
            ),
        ),
        "users with endless tasks, all there at once, on servers in the proportions of W Table 1, with drawn demands. A task is "
        "divided into 1, 2, 4, .. equal ones. A distance is the largest relative one of a user's tasks from the exact DRFH "
        "allocation of divisible tasks",
        "scheduler",
        (BEST, FIRST, "two-choice-drfh"),
        {
            "small": Size((0,), {"users": 3, "machines": 30, "halvings": 3}, lacks=ONE),
            "full": Size(tuple(range(20)), {"users": 6, "machines": 100, "halvings": 6}),
        },
        smaller_tasks,
        figure(curves("distance", "", ("size of a task, a part of those drawn", "largest distance"), ("log", "log"))),
    ),
)
