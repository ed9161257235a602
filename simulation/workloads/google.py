"""Workloads from the Google 2011 and 2019 traces: tasks for schedulers (W 6), and jobs by 5-minute intervals (K 6).

What the samples have: of every job of the 29 days its user, scheduling class, arrival and end; of 1,145 jobs that ran at the
start their tasks and requests; of 2019 a pool of requests. What they lack is generated, and every workload says so:

| id | arrivals, run times, users, classes | tasks of a job | requests of a task |
| --- | --- | --- | --- |
| google2011 | real | of a job of the same class at the start of the trace | of the same job |
| google2019 | real, of 2011 | of a job of the same class at the start of the 2011 trace | of a row of 2019 |
| generated | Poisson arrivals, run times by K Fig. 8 | quantiles of those at the start | fitted to those at the start |
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Duration, Rule, Seed, checked
from fairalloc.models.examples.traces import found_data, google2019_demands
from fairalloc.models.files.trace_files import parquet_columns, sample_file
from fairalloc.models.numbers import Floats
from fairalloc.simulation.workload import DescribedWorkload, Workload
from fairalloc.simulation.workloads import fitted
from fairalloc.simulation.workloads.clusters import four_classes

__all__ = ["SOURCES_OF_JOBS", "google_intervals", "google_tasks"]

SOURCES_OF_JOBS = ("google2011", "google2019", "generated")
Source = Annotated[str, Rule(lambda value: value in SOURCES_OF_JOBS, f"one of {', '.join(SOURCES_OF_JOBS)}")]

START, END = 600.0, 2506198.0  # seconds at which the window of the trace starts and its last event is
HOUR, INTERVAL = 3600.0, 300.0

JOBS_A_DAY, PRESENT, USERS = 19751, 3986, 580  # of the first day: jobs that arrive, jobs that are there already, users with jobs
CLASS_PARTS = np.array([0.349, 0.356, 0.25, 0.045])  # parts of the jobs of the first day in scheduling classes 0 to 3
PIECE = 0.01  # a task of K's jobs is this part of a quantum, so that it fits on every server; shares do not depend on it


@dataclass(frozen=True)
class Jobs:
    """Jobs of a window: user, scheduling class, seconds of arrival in it and of running, which may go on after the window."""

    user: NDArray[np.int64]
    sched_class: NDArray[np.int64]
    arrival: Floats
    duration: Floats
    left_out: dict[str, int]

    def chosen(self, kept: NDArray[np.bool_]) -> "Jobs":
        """Some of them."""
        return Jobs(self.user[kept], self.sched_class[kept], self.arrival[kept], self.duration[kept], self.left_out)


@checked
def google_tasks(source: Source = "google2011", hours: Duration = 24.0, share: float = 1.0, seed: Seed = 0) -> DescribedWorkload:
    """Jobs with tasks, as W 6 schedules them: the first hours of the trace, with the jobs that are there at its start.

    All tasks of a job are equal and run as long as the job did in the trace, from its first start to its end; a job that had
    ended in the same instant runs 1 s, one that had not ended runs until the end of the trace.

    Parameters
    ----------
    source : one of SOURCES_OF_JOBS
    hours : of the window
    share : part of the jobs that is drawn
    seed : of all that is drawn

    Raises
    ------
    NotInstalled : the samples or pyarrow are not there
    """
    rng = np.random.default_rng(seed)
    jobs, tasks, demand = _drawn(source, hours, share, rng)
    codes, job_user = np.unique(jobs.user, return_inverse=True)
    users = [f"user-{code}" for code in codes]
    each = (job_user, jobs.arrival, tasks, jobs.duration, demand)
    return DescribedWorkload(Workload(["cpu", "memory"], users, np.ones(len(users)), *each), None, *_TOLD[source], jobs.left_out)


@checked
def google_intervals(
    source: Source = "google2011", hours: Duration = 24.0, share: float = 0.02, seed: Seed = 0, whole_users: bool = False
) -> DescribedWorkload:
    """The quanta of jobs by 5-minute intervals, as K 6.2 allocates to them, on the cluster of K Fig. 4.

    A user is one job (K, footnote 9). In each interval in which it is active it demands q_n quanta, each its demand vector
    divided by the largest entry for one second: here as one job of the workload that arrives when the interval begins, or the
    user does. A task is PIECE of a quantum. Jobs of scheduling classes 2 and 3 may use all four classes of servers, others A
    and B.

    Parameters
    ----------
    source, hours, share, seed : as for `google_tasks`
    whole_users : whether users are drawn, with all their jobs, instead of jobs
    """
    rng = np.random.default_rng(seed)
    jobs, _, demand = _drawn(source, 24.0, share, rng, whole_users)
    quanta = fitted.quanta_for(jobs.duration, rng)
    rate = quanta / np.minimum(jobs.duration, 24 * HOUR)
    end = np.minimum(jobs.arrival + jobs.duration, hours * HOUR)
    there = np.flatnonzero(jobs.arrival < end)
    user, begin, length = _by_interval(jobs.arrival[there], end[there])
    unit = demand[there] / demand[there].max(axis=1, keepdims=True) * PIECE
    eligible = (jobs.sched_class[there] >= 2)[user, None] | np.array([True, True, False, False])
    each = (user, begin, np.ones(len(user), dtype=np.int64), rate[there][user] * length / PIECE, unit[user], eligible)
    workload = Workload(["cpu", "memory"], [f"job-{n}" for n in there], np.ones(len(there)), *each)
    real, generated = _TOLD[source]
    made = "quanta by K Fig. 8, with more for jobs that run longer, at an even rate; of requests the proportion alone counts"
    return DescribedWorkload(workload, four_classes(), real, f"{generated}; {made}", jobs.left_out)


def _by_interval(begin: Floats, end: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The parts of [begin, end) in the intervals of 300 s: whose it is, where it begins, and how long it is."""
    first, last = np.floor(begin / INTERVAL), np.ceil(end / INTERVAL)
    counts = (last - first).astype(np.int64)
    user = np.repeat(np.arange(len(begin)), counts)
    number = np.arange(len(user)) - np.repeat(np.cumsum(counts) - counts, counts)
    left = (first[user] + number) * INTERVAL
    start, stop = np.maximum(left, begin[user]), np.minimum(left + INTERVAL, end[user])
    long = stop > start
    return user[long], start[long], (stop - start)[long]


def _drawn(
    source: str, hours: float, share: float, rng: np.random.Generator, whole_users: bool = False
) -> tuple[Jobs, NDArray[np.int64], Floats]:
    """A part of the jobs of the first hours, or of their users, the (J,) numbers of tasks and (J, 2) requests of one task."""
    jobs = _generated_jobs(hours, rng) if source == "generated" else _real_jobs(hours)
    codes, of = np.unique(jobs.user, return_inverse=True)
    jobs = jobs.chosen((rng.random(len(codes)) < share)[of] if whole_users else rng.random(len(jobs.user)) < share)
    return jobs, *_tasks(source, jobs.sched_class, rng)


def _real_jobs(hours: float) -> Jobs:
    """The jobs that were submitted before the end of the window, first hours of the trace, and had not ended before its start."""
    columns = ("user", "sched_class", "submit_ms", "schedule_ms", "end_ms")
    table = parquet_columns(sample_file(found_data(), "google2011", "jobs.parquet"), columns)
    submitted, started = table["submit_ms"] / 1e3, table["schedule_ms"] / 1e3
    ended = np.where(table["end_ms"] >= 0, table["end_ms"] / 1e3, END)
    inside = (submitted < START + hours * HOUR) & (ended > START)
    never = inside & (started < 0)
    user, sched_class = (table[name].astype(np.int64) for name in ("user", "sched_class"))
    arrival, duration = np.maximum(submitted - START, 0.0), np.maximum(ended - np.maximum(started, START), 1.0)
    jobs = Jobs(user, sched_class, arrival, duration, {"jobs that never started": int(never.sum())})
    return jobs.chosen(inside & ~never)


def _generated_jobs(hours: float, rng: np.random.Generator) -> Jobs:
    """As many jobs as on the first day of the trace, at even chance over the window; those there at its start are the longest."""
    arriving = rng.poisson(JOBS_A_DAY * hours / 24.0)
    count = arriving + PRESENT
    arrival = np.concatenate([np.zeros(PRESENT), np.sort(rng.random(arriving)) * hours * HOUR])
    weight = 1.0 / np.arange(1, USERS + 1)
    duration = fitted.ACTIVITY.at(rng.random(count))
    longest = np.argpartition(-duration, PRESENT - 1)[:PRESENT]
    duration = np.concatenate([duration[longest], np.delete(duration, longest)])
    user, sched_class = rng.choice(USERS, count, p=weight / weight.sum()), rng.choice(4, count, p=CLASS_PARTS / CLASS_PARTS.sum())
    return Jobs(user, sched_class, arrival, duration, {})


def _tasks(source: str, sched_class: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """(J,) numbers of tasks and (J, 2) requests of one task."""
    count = len(sched_class)
    if source == "generated":
        return fitted.task_numbers(count, rng), fitted.demand_vectors(count, rng)
    known_class, known_tasks, known_request = _jobs_at_start()
    drawn = np.zeros(count, dtype=np.int64)
    for k in range(4):
        here = np.flatnonzero(sched_class == k)
        drawn[here] = rng.choice(np.flatnonzero(known_class == k), len(here))
    if source == "google2019":
        pool = google2019_demands(found_data())
        return known_tasks[drawn], pool[rng.integers(len(pool), size=count)]
    return known_tasks[drawn], known_request[drawn]


def _jobs_at_start() -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Class, number of tasks and mean positive request of the jobs that ran at the start of the 2011 trace."""
    columns = ("job_id", "sched_class", "cpu_req", "mem_req")
    table = parquet_columns(sample_file(found_data(), "google2011", "tasks_t0.parquet"), columns)
    _, first, of, number = np.unique(table["job_id"], return_index=True, return_inverse=True, return_counts=True)
    mean = np.column_stack([np.bincount(of, weights=table[c]) for c in ("cpu_req", "mem_req")]) / number[:, None]
    kept = (mean > 0).all(axis=1)
    return table["sched_class"][first][kept].astype(np.int64), number[kept].astype(np.int64), mean[kept]


_REAL = "arrival, run time, user and scheduling class of each job: Google 2011, first hours of the window"
_TOLD = {
    "google2011": (_REAL, "tasks of a job and their requests, those of a job of the same class at the start of the trace"),
    "google2019": (_REAL, "tasks as those of a 2011 job of the same class at the start; requests drawn from Google 2019"),
    "generated": (
        "",
        "everything: Poisson arrivals, run times by K Fig. 8, tasks and requests fitted to the start of Google 2011",
    ),
}
