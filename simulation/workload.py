"""The data of a simulation: classes of machines, and jobs of users that arrive over time.

A job is a number of equal tasks; a task takes its demand of a machine from its start to its end, `duration` seconds later.
Times are seconds from the start of the workload, capacities and demands are in the cluster's units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, NotApplicable, require, shown
from fairalloc.models.input.validation import LARGEST_COUNT, read_counts, read_names
from fairalloc.models.numbers import Floats, floats, frozen

COLUMNS = ("user", "arrival", "tasks", "duration")  # what a table of jobs has besides one column for each resource
OF_USERS = {"weight": 1.0, "leave": np.inf}  # columns that it may have, the same in all rows of a user, and what stands for none


@dataclass(frozen=True, eq=False)
class Cluster:
    """Classes of identical machines.

    Parameters
    ----------
    resources : (R,) names
    capacities : (K, R) >= 0, what one machine of each class has
    counts : (K,) positive int, machines of each class; default 1
    names : (K,) of the classes; default c1, c2, ..

    Raises
    ------
    InstanceError : one sentence with the thing, its value and the rule

    Examples
    --------
    >>> cluster = Cluster(["cpu", "memory"], [[1, 1], [0.5, 0.25]], [2, 3])
    >>> cluster.totals.tolist(), cluster.server_class.tolist()
    ([3.5, 2.75], [0, 0, 1, 1, 1])
    """

    resources: Sequence[str]
    capacities: Floats
    counts: NDArray[np.int64] = None  # type: ignore[assignment]
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        capacities = numbers(self.capacities, "capacities", 2)
        K, R = capacities.shape
        if K == 0 or R == 0:
            raise InstanceError(f"capacities have {K} rows and {R} columns, but there must be at least one of each")
        unnamed = self.names is None or not np.asarray(self.names, dtype=object).size
        names = read_names("server", [f"c{k + 1}" for k in range(K)] if unnamed else self.names, K)
        check_rows(capacities, capacities < 0, "capacities", "must not be negative")
        assign(self, resources=read_names("resource", self.resources, R), names=names)
        assign(self, capacities=frozen(capacities), counts=read_counts(self.counts, names))

    @cached_property
    def totals(self) -> Floats:
        """(R,) what all machines have together."""
        return frozen(self.counts @ self.capacities)

    @cached_property
    def server_class(self) -> NDArray[np.intp]:
        """(S,) the class of every machine, class by class."""
        return frozen(np.repeat(np.arange(len(self.counts)), self.counts))


@dataclass(frozen=True, eq=False)
class Workload:
    """Jobs of users, in the order in which they arrive; jobs that are given in another order are sorted, equal times keep theirs.

    Parameters
    ----------
    resources : (R,) names, those of the cluster in its order
    users : (N,) names
    weights : (N,) > 0
    job_user : (J,) int, whose each job is, 0 to N - 1
    arrival : (J,) >= 0, seconds
    tasks : (J,) positive int, tasks of each job
    duration : (J,) > 0, seconds that each task of the job runs
    demand : (J, R) >= 0, what a task takes; some resource must be > 0
    eligible : (J, K) bool, classes of machines that may run the tasks; default all
    leave : (N,) seconds at which the user goes and what it runs is killed; default inf, never

    Raises
    ------
    InstanceError : one sentence with the thing, its value and the rule

    Examples
    --------
    >>> jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [1, 0], [30, 10], [2, 1], [60, 60], [[0.5], [1]])
    >>> jobs.arrival.tolist(), [jobs.users[n] for n in jobs.job_user], jobs.work.tolist()
    ([10.0, 30.0], ['ann', 'bob'], [60.0, 120.0])
    """

    resources: Sequence[str]
    users: Sequence[str]
    weights: Floats
    job_user: NDArray[np.int64]
    arrival: Floats
    tasks: NDArray[np.int64]
    duration: Floats
    demand: Floats
    eligible: NDArray[np.bool_] | None = None
    leave: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        names = ("weights", "job_user", "arrival", "tasks", "duration")
        weights, user, arrival, tasks, duration = (numbers(getattr(self, name), name, 1) for name in names)
        demand = numbers(self.demand, "demand", 2)
        leave = np.full(len(weights), np.inf) if self.leave is None else numbers(self.leave, "leave", 1, unlimited=True)
        jobs = {"job_user": user, "arrival": arrival, "tasks": tasks, "duration": duration, "demand": demand}
        if self.eligible is not None:
            jobs["eligible"] = flags(self.eligible, "eligible", 2)
        for name, values in jobs.items():
            _same_length(name, values, "times of arrival", len(arrival))
        N = len(weights)
        _same_length("leave", leave, "users", N)
        check_rows(weights, weights <= 0, "weights", "must be positive")
        check_rows(user, ~np.isin(user, np.arange(N)), "job_user", f"must be the number of a user, 0 to {N - 1}")
        check_rows(arrival, arrival < 0, "arrival", "must not be negative")
        whole = (tasks >= 1) & (tasks <= LARGEST_COUNT) & (tasks == np.floor(tasks))
        check_rows(tasks, ~whole, "tasks", f"must be positive integers up to {LARGEST_COUNT}")
        endless = duration > np.finfo(float).max / tasks
        check_rows(duration, (duration <= 0) | endless, "duration", "must be positive, and finite times the tasks")
        check_rows(demand, demand < 0, "demand", "must not be negative")
        check_rows(demand, np.all(demand == 0, axis=1), "demand", "must have a positive entry")
        check_rows(leave, leave < 0, "leave", "must not be negative")
        order = np.argsort(arrival, kind="stable")
        assign(self, resources=read_names("resource", self.resources, demand.shape[1]), users=read_names("user", self.users, N))
        jobs |= {"job_user": user.astype(np.int64), "tasks": tasks.astype(np.int64)}
        assign(self, weights=frozen(weights), leave=frozen(leave), **{k: frozen(values[order]) for k, values in jobs.items()})

    @classmethod
    @checked
    def from_columns(cls, columns: Any, resources: Sequence[str] = ()) -> "Workload":
        """The jobs of a table, one a row: a DataFrame, or a mapping of columns.

        Parameters
        ----------
        columns : name -> (J,) values: "user" (names), "arrival", "tasks", "duration" and one for each resource; it may also have
            "weight" and "leave", which are the user's and the same in all its rows; default 1, and never
        resources : (R,) names of the columns with what a task takes; () = all others

        Examples
        --------
        >>> table = {"user": ["ann", "bob"], "arrival": [0, 5], "tasks": [3, 2], "duration": [10, 10], "cpu": [0.5, 0.5]}
        >>> jobs = Workload.from_columns(table)
        >>> jobs.resources, jobs.users, jobs.work.tolist()
        (('cpu',), ('ann', 'bob'), [30.0, 20.0])
        """
        require(hasattr(columns, "keys"), "the jobs are", columns, "they must be a table or a mapping of columns")
        wanted = tuple(resources) or tuple(str(name) for name in columns if name not in (*COLUMNS, *OF_USERS))
        require(wanted, "the columns of the jobs are", [*columns], "there must be one for each resource")
        for name in [name for name in (*COLUMNS, *wanted) if name not in columns][:1]:
            raise InstanceError(f"the jobs have no column {name!r}: the columns must be {', '.join((*COLUMNS, *wanted))}")
        users, job_user = np.unique(words(columns["user"], "user"), return_inverse=True)
        demand = [numbers(columns[name], name, 1) for name in wanted]
        for name, values in zip(wanted, demand, strict=True):
            _same_length(name, values, "jobs", len(job_user))
        phi, leave = (_of_users(columns, name, users, job_user) for name in OF_USERS)
        arrival, tasks, duration = (columns[name] for name in COLUMNS[1:])
        return cls(wanted, users.tolist(), phi, job_user, arrival, tasks, duration, np.column_stack(demand), leave=leave)

    def __len__(self) -> int:
        """J, the number of jobs."""
        return len(self.arrival)

    @cached_property
    def work(self) -> Floats:
        """(J,) seconds that the tasks of each job run, together."""
        return frozen(self.tasks * self.duration)

    @checked
    def fitting(self, cluster: Cluster) -> NDArray[np.bool_]:
        """(J, K) whether a task of the job may run on an empty machine of the class, by its size and by `eligible`."""
        if tuple(cluster.resources) != tuple(self.resources):
            mine, there = ", ".join(self.resources), ", ".join(cluster.resources)
            raise InstanceError(f"the jobs demand {mine}, but the cluster has {there}")
        K = len(cluster.counts)
        if self.eligible is not None and self.eligible.shape[1] != K:
            raise InstanceError(f"eligible has {self.eligible.shape[1]} columns, but the cluster has {K} classes of machines")
        small: NDArray[np.bool_] = np.all(self.demand[:, None, :] <= cluster.capacities, axis=2)
        return small if self.eligible is None else small & self.eligible

    def placeable(self, cluster: Cluster) -> NDArray[np.bool_]:
        """(J,) whether some empty machine may run a task of the job."""
        return np.asarray(self.fitting(cluster).any(axis=1))

    def check_on(self, cluster: Cluster) -> None:
        """InstanceError where a task fits on no machine."""
        nowhere = np.flatnonzero(~self.placeable(cluster))
        for j in nowhere[:1]:
            what = f"the tasks of job {j} demand {shown(self.demand[j].tolist())}, which fits on no machine that may run them"
            leave = "leave these out, as workload.chosen(workload.placeable(cluster)) does"
            raise InstanceError(f"{what} ({len(nowhere)} of {len(self)} jobs): {leave}")

    @cached_property
    def user_eligible(self) -> NDArray[np.bool_] | None:
        """(N, K) the classes of machines that each user may use, None = all; NotApplicable where its jobs differ in them."""
        if self.eligible is None:
            return None
        result = np.ones((len(self.users), self.eligible.shape[1]), dtype=bool)
        result[self.job_user] = self.eligible
        for j in np.flatnonzero(np.any(result[self.job_user] != self.eligible, axis=1))[:1]:
            name = self.users[self.job_user[j]]
            raise NotApplicable(f"the jobs of user {name!r} may run on different classes of machines: make each a user by_job()")
        return result

    def by_job(self) -> "Workload":
        """The same jobs, each a user of its own with the weight of its user, and gone when that goes."""
        own, names = self.job_user, [f"job {j}" for j in range(len(self))]
        return replace(self, users=names, weights=self.weights[own], job_user=np.arange(len(self)), leave=self.leave[own])

    def chosen(self, jobs: NDArray[Any]) -> "Workload":
        """Some jobs, by number or as (J,) bool; all users stay."""
        names = ("job_user", "arrival", "tasks", "duration", "demand", *(["eligible"] if self.eligible is not None else []))
        try:
            return replace(self, **{name: getattr(self, name)[jobs] for name in names})
        except IndexError:
            raise InstanceError(f"jobs is {shown(jobs)}, but it must be numbers of its {len(self)} jobs, or (J,) bool") from None


@dataclass(frozen=True)
class DescribedWorkload:
    """A workload and the cluster of the trace or of the paper, None where the trace has none.

    It says what is real, what the trace lacks and how that was generated, "" where nothing was, and what of the trace is left
    out: reason -> count, also where it is 0.
    """

    workload: Workload
    cluster: Cluster | None
    real: str
    generated: str
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        made = f"; generated: {self.generated}" if self.generated else ""
        return f"<{len(self.workload)} jobs of {len(self.workload.users)} users; real: {self.real or 'nothing'}{made}>"


def _of_users(columns: Any, name: str, users: NDArray[Any], job_user: NDArray[np.intp]) -> Floats:
    """(N,) the value of each user, the same in all its rows."""
    if name not in columns:
        return np.full(len(users), OF_USERS[name])
    values = numbers(columns[name], name, 1, unlimited=True)
    _same_length(name, values, "jobs", len(job_user))
    result = np.zeros(len(users))
    result[job_user] = values
    for j in np.flatnonzero(result[job_user] != values)[:1]:
        user = str(users[job_user[j]])
        raise InstanceError(f"{name} of user {user!r} is {values[j]:g} and {result[job_user[j]]:g}, but it must be one")
    return result


def assign(thing: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(thing, name, value)


def numbers(values: Any, name: str, dimensions: int, unlimited: bool = False) -> Floats:
    """A copy as floats, finite unless it may be unlimited."""
    result = floats(values, name)
    if result.ndim != dimensions:
        raise InstanceError(f"{name} has {result.ndim} dimensions, but it must have {dimensions}")
    check_rows(result, np.isnan(result) if unlimited else ~np.isfinite(result), name, "must be finite")
    return result


def words(values: Any, name: str) -> NDArray[np.str_]:
    """Names as texts, one for each row; a value that is missing or masked is none."""
    each = np.asarray(values, dtype=object)
    require(each.ndim == 1 and not np.ma.is_masked(values), f"{name} is", values, "it must be a list of names")
    for j, word in enumerate(each):
        missing = not isinstance(word, str) and str(word) in ("None", "nan", "NaN", "<NA>", "NaT")
        require(not missing, f"{name}[{j}] is", word, "it must be a name")
    return np.asarray(values, dtype=str)


def flags(values: Any, name: str, dimensions: int) -> NDArray[Any]:
    """A copy as truth values."""
    known, result = numbers(values, name, dimensions), np.array(values)
    require(result.dtype == bool or not known.size, f"{name} is", values, "it must be an array of true and false")
    return result.astype(bool)


def _same_length(name: str, values: NDArray[Any], what: str, length: int) -> None:
    if len(values) != length:
        raise InstanceError(f"{name} has {len(values)} rows, but there are {length} {what}")


def check_rows(values: NDArray[Any], wrong: NDArray[np.bool_], name: str, rule: str) -> None:
    """InstanceError that shows the first row that is wrong."""
    rows = np.flatnonzero(wrong if wrong.ndim == 1 else wrong.any(axis=1))
    for row in rows[:1]:
        more = f" and {len(rows) - 1} more rows" if len(rows) > 1 else ""
        raise InstanceError(f"{name}[{row}] is {shown(values[row].tolist())}{more}, but it {rule}")
