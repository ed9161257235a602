"""One workload of one's own under several schedulers and mechanisms, seed by seed: `fairalloc simulate --workload FILE`.

1. A trial is a scheduler or a mechanism with a seed. Each runs in a process of its own, `jobs` at a time.
2. What it was judged by is kept in a folder, under a hash of the data, the competitor, the seed and the code. So a run that was
   stopped goes on where it was. The log of a scheduler stands beside it as parquet.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.analysis.plots.panels import write_panels
from fairalloc.formulations import MECHANISMS
from fairalloc.models.arguments import Processes, check_fields
from fairalloc.models.errors import InstanceError, UnknownName, no_such, shown
from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.models.tables import Grid
from fairalloc.runs.fingerprint import code_behind
from fairalloc.runs.objects import MECHANISM, ObjectKind, is_in_file, load_objects
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task
from fairalloc.runs.progress import Progress
from fairalloc.simulation import metrics, over_time
from fairalloc.simulation.experiments.competitors import Competitor, competitor, competitors
from fairalloc.simulation.experiments.report import told
from fairalloc.simulation.files import read_cluster, read_workload
from fairalloc.simulation.fluid import simulate_fluid
from fairalloc.simulation.log import ServerEvents, TaskLog, data_hash
from fairalloc.simulation.schedulers import SCHEDULERS, Scheduler, as_scheduler, find_scheduler
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["Study", "StudyResult", "kept_simulation", "run_study"]

LONGEST = 8 * 3600.0  # seconds that one trial may take
INSTANTS = 10  # at which share deficits are found
DEFAULT = ("best-fit-drfh", "fifo", "shortest-job-first", "least-attained-service", "finish-time-fair", "random")
KINDS = {"scheduler": ObjectKind("scheduler", as_scheduler), "mechanism": MECHANISM}


@dataclass(frozen=True)
class Study:
    """What is compared on which data.

    Attributes
    ----------
    workload, cluster : files (files.py); cluster "" = the machines that the file of the workload has
    competitors : schedulers or mechanisms, ids with parameters or FILE.py:NAME; () = DEFAULT
    seeds : of what schedulers draw
    until : seconds at which simulations stop; None = when all is done
    folder : where logs and numbers are kept
    jobs : trials at the same time
    """

    workload: str
    cluster: str = ""
    competitors: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    until: float | None = None
    folder: str = "results/simulations"
    jobs: Processes = 1

    def __post_init__(self) -> None:
        check_fields(self)
        if self.until is not None and not self.until > 0:
            raise InstanceError(f"until is {shown(self.until)}, but it must be positive")


@dataclass(frozen=True)
class StudyResult:
    """What was measured: of each competitor by its label, seed -> numbers and file of the log; trials without an answer."""

    study: Study
    about: str
    measured: Mapping[str, Mapping[int, Document]]
    failed: Sequence[str]

    def grid(self) -> Grid:
        """The numbers by competitor, mean ± standard deviation over the seeds."""
        each = {label: [one["numbers"] for one in seeds.values()] for label, seeds in self.measured.items()}
        names = dict.fromkeys(name for seeds in each.values() for numbers in seeds for name in numbers)
        rows = [(name, *(told(np.array([one.get(name, np.nan) for one in seeds])) for seeds in each.values())) for name in names]
        return Grid(self.study.workload, ("", *each), rows, [self.about], right=range(1, len(each) + 1))

    def draw(self, file: Path) -> None:
        """The metrics of the first seed of the schedulers over jobs and over time, in a figure; none where there is no log."""
        workload, cluster, _ = _data(self.study.workload, self.study.cluster)
        found = {label: next(iter(seeds.values()))["log"] for label, seeds in self.measured.items() if seeds}
        logs = {label: TaskLog.load(path, workload, cluster) for label, path in found.items() if path}
        if logs:
            times = np.linspace(0.0, max(log.until for log in logs.values()), 4 * INSTANTS + 1)
            write_panels([*logs], over_time.panels(logs, times), file)


def kept_simulation(
    folder: str | Path, workload: Workload, cluster: Cluster, scheduler: Any, until: float | None = None, seed: int = 0
) -> TaskLog:
    """What `simulate_tasks` gives, or gave before: the log is kept as parquet in a folder, under a hash of all that decides it.

    So one simulation of a workload under a scheduler with a seed serves all that looks at it. The other parameters are those of
    `simulate_tasks`; NotInstalled is raised where pyarrow is missing.
    """
    chosen = find_scheduler(scheduler)
    path = Path(folder) / f"{_key(workload, cluster, chosen, until, seed)}.parquet"
    return _log_kept_in(path, workload, cluster, chosen, until, seed)


def _log_kept_in(path: Path, workload: Workload, cluster: Cluster, chosen: Any, until: float | None, seed: int) -> TaskLog:
    if path.exists():
        return TaskLog.load(path, workload, cluster)
    log = simulate_tasks(workload, cluster, chosen, until, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    log.save(path)
    return log


def _key(workload: Workload, cluster: Cluster, item: Any, until: float | None, seed: int) -> str:
    """A hash of the data, of what runs on it with its parameters, and of the code of both."""
    runs: Any = simulate_fluid
    own: list[tuple[str, str]] = []
    if isinstance(item, Scheduler):  # of a mechanism the options count with its code
        runs, own = simulate_tasks, sorted((name, repr(value)) for name, value in vars(item).items() if not name.startswith("_"))
    asked = [
        data_hash(workload, cluster, ServerEvents.none()),
        type(item).__qualname__,
        own,
        until,
        seed,
        code_behind(runs, item),
    ]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


def run_study(study: Study, progress: bool = True) -> StudyResult:
    """Steps 1 and 2; what is kept of former runs is not measured again.

    UnknownName is raised where there is no such scheduler or mechanism, InstanceError where a file or a value breaks a rule.
    """
    workload, cluster, about = _data(study.workload, study.cluster)
    workload.check_on(cluster)
    asked = [_found(wanted) for wanted in study.competitors or DEFAULT]
    measured: dict[str, dict[int, Document]] = {one.label: {} for _, one in asked}
    if len(measured) < len(asked):
        raise InstanceError(f"the competitors are {shown([one.label for _, one in asked])}, but their names must differ")
    failed, given = [], {name: getattr(study, name) for name in ("workload", "cluster", "until", "folder")}
    trials = [(kind, one, seed) for seed in study.seeds for kind, one in asked]
    with Progress(progress, what="trials") as shown_now, Pool(__name__, study.jobs) as pool:
        shown_now.begin(len(trials))
        requests = ({**given, "label": one.label, "kind": kind, "sent": one.sent, "seed": seed} for kind, one, seed in trials)
        for task, found in pool.answers(Task(request, LONGEST) for request in requests):
            label, seed = task.request["label"], task.request["seed"]
            if isinstance(found, NoAnswer):
                failed.append(f"{label} seed {seed}: {found.sentence}")
            else:
                measured[label][seed] = found
            shown_now.step(f"{label} seed {seed}")
    return StudyResult(study, about, {label: dict(sorted(seeds.items())) for label, seeds in measured.items()}, failed)


def _found(wanted: str) -> tuple[str, Competitor]:
    """Whether a competitor is a scheduler or a mechanism, and what another process makes it from."""
    name = wanted.partition(" ")[0]
    kind = "scheduler" if name in SCHEDULERS else "mechanism"
    if is_in_file(wanted) and load_objects(wanted.partition(":")[0], KINDS["scheduler"]):
        kind = "scheduler"
    known = [*SCHEDULERS, *(one for item in MECHANISMS.values() for one in (item.id, *item.aliases))]
    if name not in known and not is_in_file(wanted):
        raise UnknownName(no_such("scheduler or mechanism", name, known))
    return kind, competitors((), [wanted], kind)[0]


@lru_cache(maxsize=1)
def _data(workload: str, cluster: str) -> tuple[Workload, Cluster, str]:
    """Jobs, machines, and a sentence on them."""
    found = read_workload(workload)
    machines = read_cluster(cluster) if cluster else found.cluster
    if machines is None:
        raise InstanceError(f"{workload} has no machines: name a file of them as cluster")
    jobs, size = found.workload, int(machines.counts.sum())
    told_of = [f"{len(jobs)} jobs of {len(jobs.users)} users with {int(jobs.tasks.sum())} tasks on {size} machines"]
    told_of += [found.generated] if found.generated else []
    return jobs, machines, "; ".join(told_of + [f"left out: {count} {why}" for why, count in found.left_out.items() if count])


def _numbers(log: metrics.Log) -> dict[str, float]:
    """What a simulation is judged by."""
    end = max(log.until, 1e-9)
    used = metrics.utilisation(log, [0.0, end])[0]
    found = {f"{name} in use": part for name, part in zip(log.cluster.resources, used.tolist(), strict=True)}
    found["jobs completed"] = np.isfinite(metrics.completion_times(log)).mean()
    for name, of in over_time.BY_JOB.items():
        there = (values := of(log))[np.isfinite(values)]
        found |= {f"{name}, mean": there.mean(), f"{name}, 95 %": np.quantile(there, 0.95)} if len(there) else {}
    jain = over_time.jain_over_time(log, np.linspace(0.0, end, 4 * INSTANTS + 1))
    found |= {"Jain's index, mean": np.nanmean(jain)} if np.isfinite(jain).any() else {}
    if isinstance(log, TaskLog):
        found["mean share deficit"] = over_time.share_deficits(log, np.linspace(0.0, end, INSTANTS, endpoint=False)).mean()
    return {name: float(value) for name, value in found.items()}


# ---- the handler of runs/processes.py ---------------------------------------------------------------------------------


def prepare(_: Document) -> None:
    """Nothing is to be done before the first request."""


def answer(request: Document, _: Callable[[], object]) -> Document:
    """Measure one trial, unless its numbers are kept."""
    data = _data(request["workload"], request["cluster"])[:2]
    folder, seed, until = (request[name] for name in ("folder", "seed", "until"))
    item = competitor(request["sent"], request["kind"])
    kept = Path(folder) / _key(*data, item, until, seed)
    if kept.with_suffix(".json").exists():
        return dict(read_json(kept.with_suffix(".json")))
    log: metrics.Log
    if request["kind"] == "mechanism":
        log = simulate_fluid(*data, item, until)
    else:
        log = _log_kept_in(kept.with_suffix(".parquet"), *data, item, until, seed)
    found: Document = {"numbers": _numbers(log), "log": str(kept.with_suffix(".parquet")) if isinstance(log, TaskLog) else ""}
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_json(found, kept.with_suffix(".json"))
    return found
