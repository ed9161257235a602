"""Workloads from the Google 2011 and 2019 traces: tasks for schedulers (W 6), jobs by 5-minute intervals (K 6), raw files.

What the samples have: of every job of the 29 days its user, scheduling class, arrival and end; of 1,145 jobs that ran at the
start their tasks and requests; of 2019 a pool of requests. What they lack is generated, and every workload says so:

| id | arrivals, run times, users, classes | tasks of a job | requests of a task |
| --- | --- | --- | --- |
| google2011 | real | of a job of the same class at the start of the trace | of the same job |
| google2019 | real, of 2011 | of a job of the same class at the start of the 2011 trace | of a row of 2019 |
| generated | Poisson arrivals, run times by K Fig. 8 | quantiles of those at the start | fitted to those at the start |

The official raw files of 2011 (task_events, machine_events) have no header; the fields are those of the format + schema document,
in its order. Rows may stand in any order and in several files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Rule, Seed, checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.examples.traces import found_data, google2019_demands
from fairalloc.models.files.trace_files import parquet_columns, pyarrow, sample_file
from fairalloc.models.numbers import Floats
from fairalloc.simulation.workload import Cluster, DescribedWorkload, Workload, check_rows
from fairalloc.simulation.workloads import fitted
from fairalloc.simulation.workloads.clusters import four_classes

SOURCES = ("google2011", "google2019", "generated")
Source = Annotated[str, Rule(lambda value: value in SOURCES, f"one of {', '.join(SOURCES)}")]
Hours = Annotated[float, Rule(lambda value: 0 < value <= 8760, "a positive number of hours, at most 8760")]
Part = Annotated[float, Rule(lambda value: 0 <= value <= 1, "a part of all, 0 to 1")]

FIELDS = {
    "task_events": "time_us missing_info job_id task machine_id event_type user sched_class priority cpu_req mem_req disk_req "
    "different_machines",
    "machine_events": "time_us machine_id event_type platform_id cpu memory",
}
"""The official fields of raw files in order (Reiss, Wilkes, Hellerstein 2011); those of HASHES are no numbers."""

HASHES = ("user", "platform_id")

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
def google_tasks(source: Source = "google2011", hours: Hours = 24.0, share: Part = 1.0, seed: Seed = 0) -> DescribedWorkload:
    """Jobs with tasks, as W 6 schedules them: the first hours of the trace, with the jobs that are there at its start.

    All tasks of a job are equal and run as long as the job did in the trace, from its first start to its end; a job that had
    ended within a second runs 1 s, one that had not ended runs until the end of the trace.

    Parameters
    ----------
    source : "google2011", "google2019" or "generated"
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
    source: Source = "google2011", hours: Hours = 24.0, share: Part = 0.02, seed: Seed = 0, whole_users: bool = False
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
    arrival, end = jobs.arrival[there], end[there]
    first = np.floor(arrival / INTERVAL)
    counts = (np.ceil(end / INTERVAL) - first).astype(np.int64)  # intervals of 300 s in which each is active
    user = np.repeat(np.arange(len(there)), counts)
    left = (first[user] + np.arange(len(user)) - np.repeat(np.cumsum(counts) - counts, counts)) * INTERVAL
    begin = np.maximum(left, arrival[user])
    length = np.minimum(left + INTERVAL, end[user]) - begin
    unit = demand[there] / demand[there].max(axis=1, keepdims=True) * PIECE
    eligible = (jobs.sched_class[there] >= 2)[user, None] | np.array([True, True, False, False])
    each = (user, begin, np.ones(len(user), dtype=np.int64), rate[there][user] * length / PIECE, unit[user], eligible)
    workload = Workload(["cpu", "memory"], [f"job-{n}" for n in there], np.ones(len(there)), *each)
    real, generated = _TOLD[source]
    made = "quanta by K Fig. 8, with more for jobs that run longer, at an even rate; of requests the proportion alone counts"
    return DescribedWorkload(workload, four_classes(), real, f"{generated}; {made}", jobs.left_out)


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
    submitted, started = (table[name] - START * 1e3 for name in ("submit_ms", "schedule_ms"))  # whole: decimals stay decimals
    ended = np.where(table["end_ms"] >= 0, table["end_ms"], END * 1e3) - START * 1e3
    inside = (submitted < hours * HOUR * 1e3) & (ended > 0)
    never = inside & (table["schedule_ms"] < 0)
    user, sched_class = (table[name].astype(np.int64) for name in ("user", "sched_class"))
    arrival, duration = np.maximum(submitted, 0.0) / 1e3, np.maximum(ended - np.maximum(started, 0.0), 1e3) / 1e3
    jobs = Jobs(user, sched_class, arrival, duration, {"jobs that never started": int(never.sum())})
    return jobs.chosen(inside & ~never)


def _generated_jobs(hours: float, rng: np.random.Generator) -> Jobs:
    """As many jobs as on the first day of the trace, at even chance over the window; those there at its start are the longest."""
    arriving = rng.poisson(JOBS_A_DAY * hours / 24.0)
    count = arriving + PRESENT
    arrival = np.concatenate([np.zeros(PRESENT), np.sort(rng.random(arriving)) * hours * HOUR])
    weight = 1.0 / np.arange(1, USERS + 1)
    duration = fitted.values_at(fitted.ACTIVITY, rng.random(count))
    longest = np.argpartition(-duration, PRESENT - 1)[:PRESENT]
    duration = np.concatenate([duration[longest], np.delete(duration, longest)])
    user, sched_class = rng.choice(USERS, count, p=weight / weight.sum()), rng.choice(4, count, p=CLASS_PARTS / CLASS_PARTS.sum())
    return Jobs(user, sched_class, arrival, duration, {})


def _tasks(source: str, sched_class: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """(J,) numbers of tasks and (J, 2) requests of one task."""
    count = len(sched_class)
    if source == "generated":
        tasks, (center, spread, correlation) = np.floor(fitted.values_at(fitted.TASKS, rng.random(count)) + 1e-9), fitted.REQUEST
        score = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], count)
        return tasks.astype(np.int64), np.minimum(np.exp(center + spread * score), 0.5)
    columns = ("job_id", "sched_class", "cpu_req", "mem_req")  # of tasks that ran at the start
    table = parquet_columns(sample_file(found_data(), "google2011", "tasks_t0.parquet"), columns)
    _, first, of, number = np.unique(table["job_id"], return_index=True, return_inverse=True, return_counts=True)
    mean = np.column_stack([np.bincount(of, weights=table[c]) for c in ("cpu_req", "mem_req")]) / number[:, None]
    kept = np.flatnonzero((mean > 0).all(axis=1))
    drawn = np.zeros(count, dtype=np.int64)
    for k in range(4):
        here = np.flatnonzero(sched_class == k)
        drawn[here] = rng.choice(kept[table["sched_class"][first[kept]] == k], len(here))
    if source == "google2019":
        pool = google2019_demands(found_data())
        return number[drawn], pool[rng.integers(len(pool), size=count)]
    return number[drawn], mean[drawn]


_REAL = "arrival, run time, user and scheduling class of each job: Google 2011, first hours of the window"
_TOLD = {
    "google2011": (_REAL, "tasks of a job and their requests, those of a job of the same class at the start of the trace"),
    "google2019": (_REAL, "tasks as those of a 2011 job of the same class at the start; requests drawn from Google 2019"),
    "generated": ("", "everything: Poisson arrivals, run times by K Fig. 8, tasks and requests fitted to those at the start"),
}


# ---- official raw files --------------------------------------------------------------------------------------------------

SUBMIT, SCHEDULE = 0, 1
ENDS = (2, 3, 4, 5, 6)  # of tasks: evicted, failed, finished, killed, lost
REMOVE = 1  # of machines; 0 adds one, 2 updates one
NEVER = 2.0**63  # the mark 2**63 - 1 for after the end of the trace, as a float


@checked
def google_files(task_events: Sequence[str | Path], machine_events: Sequence[str | Path] = ()) -> DescribedWorkload:
    """The jobs of some parts of task_events; needs pyarrow (extra traces).

    A job arrives when its first task is submitted, has as many tasks as there are task indexes, each of which demands the mean
    request of the submissions and runs for the mean time from a task's first start to its last end, at least 1 s. A task that has
    not ended since its last start runs until the last event of the files. Times are relative to the first event after time 0,
    the mark for before the window.

    The files are .csv or .csv.gz; without machine_events the workload has no cluster. InstanceError is raised where a file cannot
    be read, has another number of fields, or a time is negative; NotInstalled where pyarrow is not there.
    """
    wanted = ("time_us", "job_id", "task", "event_type", "user", "cpu_req", "mem_req")
    table = _joined(task_events, "task_events", wanted)
    time = table["time_us"] / 1e6
    inside = time[(time > 0) & (table["time_us"] < NEVER)]
    zero, last = (float(inside.min()), float(inside.max())) if len(inside) else (0.0, 1.0)
    time = np.clip(time, zero, last) - zero
    jobs, first, of = np.unique(table["job_id"], return_index=True, return_inverse=True)
    submitted = _least(of, np.where(table["event_type"] == SUBMIT, time, np.inf), len(jobs))
    arrival = np.where(np.isfinite(submitted), submitted, _least(of, time, len(jobs)))
    counts = (table["event_type"] == SUBMIT) | ~np.isfinite(submitted)[of]
    demand = np.column_stack([_mean(of[counts], table[name][counts], len(jobs)) for name in ("cpu_req", "mem_req")])
    tasks, duration = _runs(of, table["task"], time, table["event_type"], last - zero, len(jobs))
    users, user_of_row = np.unique(np.array([name or "no name" for name in table["user"]]), return_inverse=True)
    starts, asks = duration > 0, (np.nan_to_num(demand) > 0).any(axis=1)
    each: Any = (part[starts & asks] for part in (user_of_row[first], arrival, tasks, duration, np.nan_to_num(demand)))
    workload = Workload(["cpu", "memory"], users.tolist(), np.ones(len(users)), *each)
    cluster = google_machines(machine_events) if len(machine_events) else None
    left_out = {"jobs that request nothing": int((starts & ~asks).sum()), "jobs that never run": int((~starts).sum())}
    return DescribedWorkload(workload, cluster, f"{len(task_events)} files of task_events", "", left_out)


@checked
def google_machines(machine_events: Sequence[str | Path]) -> Cluster:
    """The machines that are there at the end of some parts of machine_events, by CPU and memory; needs pyarrow (extra traces).

    Machines without a CPU or memory capacity in their last row are left out.
    """
    table = _joined(machine_events, "machine_events", ("time_us", "machine_id", "event_type", "cpu", "memory"))
    order = np.argsort(table["time_us"], kind="stable")[::-1]
    last = order[np.unique(table["machine_id"][order], return_index=True)[1]]
    there = last[table["event_type"][last] != REMOVE]
    sizes = np.column_stack([table["cpu"][there], table["memory"][there]])
    kinds, counts = np.unique(sizes[np.isfinite(sizes).all(axis=1)], axis=0, return_counts=True)
    if len(kinds) == 0:
        raise InstanceError("the files of machine_events leave no machine with a CPU and a memory capacity")
    return Cluster(["cpu", "memory"], kinds, counts, [f"cpu{cpu:g}-mem{memory:g}" for cpu, memory in kinds])


def _joined(paths: Sequence[str | Path], table: str, wanted: Sequence[str]) -> dict[str, Any]:
    """These columns of all files, with checked times: numbers with nan where a field is empty, hashes as texts."""
    if len(paths) == 0:
        raise InstanceError("no files were given, but there must be at least one")
    found, names = pyarrow("raw files"), FIELDS[table].split()
    kinds = {name: found.string() if name in HASHES else found.float64() for name in names}
    convert = {"column_types": kinds, "include_columns": list(wanted), "strings_can_be_null": True}
    asked = found.csv.ReadOptions(column_names=names), None, found.csv.ConvertOptions(**convert)
    parts = []
    for path in paths:
        try:
            parts.append(found.csv.read_csv(path, *asked))
        except (OSError, found.ArrowException) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise InstanceError(f"{path} cannot be read as {table}, which has {len(names)} fields in a row: {reason}") from None
    joined = found.concat_tables(parts)
    times = joined["time_us"].to_numpy()
    check_rows(times, ~(times >= 0), f"the time of {table}", "must not be negative")
    return {name: joined[name].to_numpy() for name in wanted}


def _least(of: NDArray[np.intp], values: Floats, count: int) -> Floats:
    result = np.full(count, np.inf)
    np.minimum.at(result, of, values)
    return result


def _mean(of: NDArray[np.intp], values: Floats, count: int) -> Floats:
    """Of what is not missing; nan where all is."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(of[there], values[there], count) / np.bincount(of[there], minlength=count)


def _runs(
    of: NDArray[np.intp], task: Floats, time: Floats, event: Floats, until: float, count: int
) -> tuple[NDArray[np.int64], Floats]:
    """(J,) tasks of each job, and the mean seconds that those which started ran; 0 where none did."""
    pairs, row_of = np.unique(np.column_stack([of, task]), axis=0, return_inverse=True)
    row_of = row_of.ravel()
    job = pairs[:, 0].astype(np.int64)
    start = _least(row_of, np.where(event == SCHEDULE, time, np.inf), len(pairs))
    again, end = (-_least(row_of, np.where(np.isin(event, ones), -time, np.inf), len(pairs)) for ones in (SCHEDULE, ENDS))
    ran = np.isfinite(start)
    seconds = np.where(end >= again, end, until) - start
    total = np.bincount(job[ran], np.maximum(seconds[ran], 1.0), count)
    return np.bincount(job, minlength=count), total / np.maximum(np.bincount(job[ran], minlength=count), 1)
