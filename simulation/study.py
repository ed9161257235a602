"""One workload of one's own under several schedulers and mechanisms, seed by seed: `fairalloc simulate --workload FILE`.

1. A trial is a scheduler or a mechanism with a seed. Each runs in a process of its own, `jobs` at a time.
2. What it was judged by is kept in a folder, under a hash of the data, the competitor, the seed and the code. So a run that was
   stopped goes on where it was. The log of a scheduler stands beside it as parquet.
3. The table has means and standard deviations over seeds.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.analysis.plots.panels import write_panels
from fairalloc.models.arguments import Processes, check_fields
from fairalloc.models.errors import InstanceError, shown
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
    """What was measured: of each competitor by its label, seed -> numbers by name; sentences on trials without an answer.

    `logs` are the files of the logs of the first seed, by label.
    """

    study: Study
    about: str
    measured: Mapping[str, Mapping[int, Mapping[str, float]]]
    failed: Sequence[str] = ()
    logs: Mapping[str, str] = field(default_factory=dict)

    def grid(self) -> Grid:
        """The numbers by competitor, mean ± standard deviation over the seeds."""
        names = list(dict.fromkeys(name for seeds in self.measured.values() for numbers in seeds.values() for name in numbers))
        rows = []
        for name in names:
            each = ([numbers.get(name, np.nan) for numbers in seeds.values()] for seeds in self.measured.values())
            rows.append((name, *(told(np.array(values, dtype=float)) for values in each)))
        return Grid(self.study.workload, ("", *self.measured), rows, [self.about], right=range(1, len(self.measured) + 1))

    def draw(self, file: Path) -> None:
        """The metrics of the first seed of the schedulers over jobs and over time, in a figure."""
        workload, cluster, _ = _data(self.study.workload, self.study.cluster)
        logs = {label: TaskLog.load(path, workload, cluster) for label, path in self.logs.items()}
        times = np.linspace(0.0, max(log.until for log in logs.values()), 4 * INSTANTS + 1)
        write_panels([*logs], over_time.panels(logs, times), file)


def kept_simulation(
    folder: str | Path,
    workload: Workload,
    cluster: Cluster,
    scheduler: Any,
    until: float | None = None,
    seed: int = 0,
    events: ServerEvents | None = None,
) -> TaskLog:
    """What `simulate_tasks` gives, or gave before: the log is kept as parquet in a folder, under a hash of all that decides it.

    So one simulation of a workload under a scheduler with a seed serves all that looks at it. Parameters are those of
    `simulate_tasks`; NotInstalled is raised where pyarrow is missing.
    """
    chosen, turns = find_scheduler(scheduler), ServerEvents.none() if events is None else events
    path = Path(folder) / f"{_key(data_hash(workload, cluster, turns), chosen, until, seed)}.parquet"
    if path.exists():
        return TaskLog.load(path, workload, cluster, turns)
    log = simulate_tasks(workload, cluster, chosen, until, seed, turns)
    path.parent.mkdir(parents=True, exist_ok=True)
    log.save(path)
    return log


def _key(data: str, item: Any, until: float | None, seed: int) -> str:
    """A hash of the data, of what runs on it with its parameters, and of the code of both."""
    runs: Any = simulate_fluid
    own: list[tuple[str, str]] = []
    if isinstance(item, Scheduler):  # of a mechanism the options count with its code
        runs, own = simulate_tasks, sorted((name, repr(value)) for name, value in vars(item).items() if not name.startswith("_"))
    asked = [data, type(item).__qualname__, own, until, seed, code_behind(runs, item)]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


def run_study(study: Study, progress: bool = True) -> StudyResult:
    """Steps 1 to 3; what is kept of former runs is not measured again.

    UnknownName is raised where there is no such scheduler or mechanism, InstanceError where a file or a value breaks a rule.
    """
    workload, cluster, about = _data(study.workload, study.cluster)
    workload.check_on(cluster)
    asked = [(kind, one) for wanted in study.competitors or DEFAULT for kind, one in _found(wanted)]
    if len({one.label for _, one in asked}) < len(asked):
        raise InstanceError(f"the competitors are {shown([one.label for _, one in asked])}, but their names must differ")
    trials = {f"{one.label} seed {seed}": (kind, one, seed) for seed in study.seeds for kind, one in asked}
    measured: dict[str, dict[int, Any]] = {one.label: {} for _, one in asked}
    failed, logs = [], dict[str, str]()
    given = {name: value for name, value in asdict(study).items() if name in ("workload", "cluster", "until", "folder")}
    with Progress(progress, what="trials") as told_of, Pool(__name__, study.jobs) as pool:
        told_of.begin(len(trials))
        tasks = (
            Task({**given, "name": name, "kind": kind, "sent": one.sent, "seed": seed}, LONGEST)
            for name, (kind, one, seed) in trials.items()
        )
        for task, answered in pool.answers(tasks):
            name = task.request["name"]
            _, one, seed = trials[name]
            if isinstance(answered, NoAnswer):
                failed.append(f"{name}: {answered.sentence}")
            else:
                measured[one.label][seed] = answered["numbers"]
                logs |= {one.label: answered["log"]} if answered["log"] and seed == study.seeds[0] else {}
            told_of.step(name)
    measured = {label: dict(sorted(seeds.items())) for label, seeds in measured.items()}
    return StudyResult(study, about, measured, tuple(failed), logs)


def _found(wanted: str) -> list[tuple[str, Competitor]]:
    """Whether a competitor is a scheduler or a mechanism, and what another process makes it from."""
    if is_in_file(wanted):
        both = {"scheduler": ObjectKind("scheduler", as_scheduler), "mechanism": MECHANISM}
        kinds = [kind for kind, own in both.items() if load_objects(wanted.partition(":")[0], own)] or ["scheduler"]
    else:
        kinds = ["scheduler" if wanted.split()[:1] and wanted.split()[0] in SCHEDULERS else "mechanism"]
    return [(kinds[0], one) for one in competitors((), [wanted], kinds[0])]


@lru_cache(maxsize=1)
def _data(workload: str, cluster: str) -> tuple[Workload, Cluster, str]:
    """Jobs, machines, and a sentence on them."""
    found = read_workload(workload)
    machines = read_cluster(cluster) if cluster else found.cluster
    if machines is None:
        raise InstanceError(f"{workload} has no machines: name a file of them as cluster")
    left_out = [f"left out: {count} {reason}" for reason, count in found.left_out.items() if count]
    jobs, size = found.workload, int(machines.counts.sum())
    about = f"{len(jobs)} jobs of {len(jobs.users)} users with {int(jobs.tasks.sum())} tasks on {size} machines"
    return jobs, machines, "; ".join([about, *([found.generated] if found.generated else []), *left_out])


def _numbers(log: metrics.Log) -> dict[str, float]:
    """What a simulation is judged by; nan where nothing has it."""
    jobs, end = log.workload, max(log.until, 1e-9)
    used = metrics.utilisation(log, [0.0, end])[0]
    found = {f"{name} in use": part for name, part in zip(log.cluster.resources, used.tolist(), strict=True)}
    values = {name: of(log) for name, of in over_time.BY_JOB.items()}
    found["jobs completed"] = float(np.isfinite(values["completion"]).mean())
    for name, each in values.items():
        there = each[np.isfinite(each)]
        found |= {f"{name}, mean": there.mean(), f"{name}, 95 %": np.quantile(there, 0.95)} if len(there) else {}
    jain = over_time.jain_over_time(log, np.linspace(0.0, end, 4 * INSTANTS + 1))
    found |= {"Jain's index, mean": np.nanmean(jain)} if np.isfinite(jain).any() else {}
    if isinstance(log, TaskLog) and jobs.eligible is None:
        found["mean share deficit"] = over_time.share_deficits(log, np.linspace(0.0, end, INSTANTS, endpoint=False)).mean()
    return {name: float(value) for name, value in found.items()}


# ---- the handler of runs/processes.py ---------------------------------------------------------------------------------


def prepare(_: Document) -> None:
    """Nothing is to be done before the first request."""


def answer(request: Document, _: Callable[[], object]) -> Document:
    """Measure one trial, unless its numbers are kept."""
    workload, cluster, _about = _data(request["workload"], request["cluster"])
    item, folder, seed, until = (
        competitor(request["sent"], request["kind"]),
        Path(request["folder"]),
        request["seed"],
        request["until"],
    )
    key = _key(data_hash(workload, cluster, ServerEvents.none()), item, until, seed)
    kept = folder / f"{key}.json"
    if kept.exists():
        return dict(read_json(kept))
    if request["kind"] == "mechanism":
        log: metrics.Log = simulate_fluid(workload, cluster, item, until)
    else:
        log = kept_simulation(folder, workload, cluster, item, until, seed)
    found: Document = {"numbers": _numbers(log), "log": str(folder / f"{key}.parquet") if isinstance(log, TaskLog) else ""}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(found, kept)
    return found
