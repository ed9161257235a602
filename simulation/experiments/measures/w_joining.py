"""W 6.1, Fig. 5: three users join and leave a cluster of 100 servers; and W 5.2: what smaller tasks change."""

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.trial import Trial, TrialResult
from fairalloc.simulation.metrics import dominant_shares
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.simulation.workloads.clusters import TABLE1
from fairalloc.solvers import solve

__all__ = ["PHASES", "POOL", "SHARES", "hundred_servers", "joining", "smaller_tasks"]

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


def _three_users(mean: float, seed: int) -> Workload:
    """So many single tasks that each user always has some; each runs 0.5 to 1.5 of the mean."""
    rng = np.random.default_rng(seed)
    tasks = np.ceil(1.5 * (LEAVE - JOIN) / mean * (POOL / DEMAND).min(axis=1)).astype(int)
    user = np.repeat(np.arange(3), tasks)
    ones = np.ones(len(user), dtype=np.int64)
    duration = mean * rng.uniform(0.5, 1.5, len(user))
    return Workload(["cpu", "memory"], ["1", "2", "3"], np.ones(3), user, JOIN[user], ones, duration, DEMAND[user], leave=LEAVE)


def joining(trial: Trial) -> TrialResult:
    """Shares of each user in each phase and over time, and the share of each of DRFH of divisible tasks."""
    cluster = hundred_servers(trial.seed)
    workload = _three_users(trial.settings["mean"], trial.seed)
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
    gaps = [float(np.abs(_started(demand, cluster, trial, m) / exact - 1.0).max()) for m in parts]
    numbers = {f"largest distance at 1/{m}": gap for m, gap in zip(parts, gaps, strict=True)}
    return TrialResult(numbers, {"distance": ([1.0 / m for m in parts], gaps)})


def _started(demand: Floats, cluster: Cluster, trial: Trial, m: int) -> Floats:
    """(N,) tasks that run at once, in units of undivided ones."""
    users = len(demand)
    plenty = np.ceil(m * cluster.totals / demand.min(axis=0)).max()
    each = (np.arange(users), np.zeros(users), np.full(users, plenty), np.ones(users))
    jobs = Workload(["cpu", "memory"], [f"u{n}" for n in range(users)], np.ones(users), *each, demand / m)
    log = simulate_tasks(jobs, cluster, trial.competitor, 0.5, trial.seed)
    return np.bincount(log.job, log.tasks, users) / m
