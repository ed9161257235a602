"""Run experiments.

1. List the trials: every experiment with each of its competitors, variants and seeds.
2. Leave out those that are on record, and take the seeds one after another: a run that is stopped has compared everybody on the
   first ones.
3. Measure each of the others in a process of its own, `jobs` at a time, and write its row as soon as it is answered.
4. Give what is on record then, compared seed by seed.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from fairalloc.models.arguments import Duration, Processes, check_fields, check_like
from fairalloc.models.errors import UnknownName, callers, no_such, require
from fairalloc.runs.cluster import RemotePool
from fairalloc.runs.fingerprint import code_behind
from fairalloc.runs.machine import installed_version
from fairalloc.runs.objects import packed, unpacked
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task
from fairalloc.runs.progress import Progress
from fairalloc.simulation.experiments.competitors import competitor, competitors
from fairalloc.simulation.experiments.experiment import Experiment, Measured, Outcomes, Size
from fairalloc.simulation.experiments.records import Asked, ExperimentStore
from fairalloc.simulation.experiments.registry import all_experiments, find_experiments
from fairalloc.simulation.experiments.trial import Trial, TrialResult
from fairalloc.simulation.workloads import default_workload

LONGEST = 8 * 3600.0  # seconds that one trial may take


@dataclass(frozen=True)
class RunSetting:
    """How experiments are run.

    Attributes
    ----------
    size : "small" or "full"
    workload : id; "" = the first one of the experiment whose samples are there
    competitors : ids with parameters, FILE.py:NAME, or objects; () = those of the experiment (competitors.py)
    seeds : () = those of the size
    jobs : trials at the same time
    scheduler : "tcp://HOST:PORT" of a cluster of dask, whose workers measure instead of this machine; "" = none
    time_limit : seconds after which no trial is begun
    settings : other values of settings of the size, such as {"share": 0.25}
    """

    size: Literal["small", "full"] = "full"
    workload: str = ""
    competitors: tuple[Any, ...] = ()
    seeds: tuple[int, ...] = ()
    jobs: Processes = 1
    scheduler: str = ""
    time_limit: Duration | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        alone = self.jobs == 1 or not self.scheduler
        require(alone, "jobs is", self.jobs, "with a scheduler its workers say how many trials run at a time")


def run_experiments(
    wanted: Sequence[str | Experiment], records: str | Path, setting: RunSetting | None = None, progress: bool = True
) -> list[Outcomes]:
    """Measure what is not on record yet, and return what is on record then.

    Parameters
    ----------
    wanted : ids of experiments, or the beginnings of some, or experiments; () = all
    records : the file, made if it is not there
    setting : size, workload, competitors, seeds, and where it is run; None = the defaults
    progress : whether the error stream is told how far the run is

    Raises
    ------
    UnknownName : there is no such experiment, competitor or workload
    NotInstalled : a workload needs samples or a package that are not there
    """
    asked = setting or RunSetting()
    plan = {item.id: (item, _trials(item, asked)) for item in find_experiments(wanted)}
    failed: dict[str, list[str]] = {name: [] for name in plan}
    with ExperimentStore(records) as store:
        every = (one for _, trials in plan.values() for one in trials)
        left = sorted((one for one in every if store.measured(one.key) is None), key=lambda one: one.seed)
        if left:
            with Progress(progress, what="trials") as shown:
                _measure(left, asked, store, shown, failed)
        return [_outcomes(item, trials, asked, store, failed[name]) for name, (item, trials) in plan.items()]


def _trials(item: Experiment, setting: RunSetting) -> list[Asked]:
    """Step 1."""
    require(setting.size in item.sizes, f"the size of {item.id} is", setting.size, f"it has {', '.join(item.sizes)}")
    size = item.sizes[setting.size]
    for name in [name for name in setting.settings if name not in size.settings][:1]:
        has = f"has {', '.join(size.settings)}" if size.settings else "has none"
        raise UnknownName(no_such(f"setting of {item.id}", name, size.settings, f"the size {setting.size} {has}"))
    for name, value in setting.settings.items():
        check_like(f"the setting {name} of {item.id}", value, size.settings[name])
    workload = default_workload(item.workloads, setting.workload) if item.workloads or setting.workload else ""
    taking_part = competitors(item.competitors, setting.competitors, item.kind)
    solvers = {} if item.kind == "scheduler" else {name: installed_version(name) for name in ("cvxpy", "highspy")}
    codes = {one.label: code_behind(item.measure, competitor(one.sent, item.kind), versions=solvers) for one in taking_part}
    measure, sent = f"{item.measure.__module__}.{item.measure.__qualname__}", {"measure": packed(item.measure), "kind": item.kind}
    return [
        Asked(
            *(item.id, measure, setting.size, place, name, one.label, sent | {"competitor": one.sent}),
            *(seed, settings, codes[one.label]),
        )
        for seed in setting.seeds or size.seeds
        for name, place, settings in _variants(size, setting, workload, workload == (item.workloads or ("",))[0])
        for one in taking_part
    ]


def _variants(size: Size, setting: RunSetting, workload: str, real: bool) -> Iterator[tuple[str, str, str]]:
    """Of each variant its name, workload and settings as JSON; those of another workload where that of the run is real."""
    for name, settings in size.variants.items():
        if real or "workload" not in settings:
            given = {**size.settings, **settings, **setting.settings}
            place = given.pop("workload", workload)
            yield name, place, json.dumps(given, sort_keys=True)


def _measure(
    left: Sequence[Asked], setting: RunSetting, store: ExperimentStore, shown: Progress, failed: Mapping[str, list[str]]
) -> None:
    """Step 3."""
    end = time.monotonic() + (math.inf if setting.time_limit is None else setting.time_limit)
    by_key = {one.key: one for one in left}
    shown.begin(len(by_key))
    tasks = (Task(asdict(one) | {"key": key}, LONGEST) for key, one in by_key.items() if time.monotonic() < end)
    with RemotePool(setting.scheduler, __name__) if setting.scheduler else Pool(__name__, setting.jobs) as pool:
        for task, answer in pool.answers(tasks):
            one = by_key[task.request["key"]]
            name = " ".join(filter(None, (one.experiment, one.competitor, one.variant, f"seed {one.seed}")))
            if isinstance(answer, NoAnswer):
                failed[one.experiment].append(f"{name}: {answer.sentence}")
            else:
                store.add(one, datetime.now(UTC).isoformat(timespec="seconds"), answer)
            shown.step(name)


def _outcomes(
    item: Experiment, trials: Sequence[Asked], setting: RunSetting, store: ExperimentStore, failed: Sequence[str]
) -> Outcomes:
    """Step 4."""
    found: dict[str, dict[int, dict[str, TrialResult]]] = {one.variant: {} for one in trials}
    for one in trials:
        if (measured := store.measured(one.key)) is not None:
            found[one.variant].setdefault(one.seed, {})[one.competitor] = measured
    labels = tuple(dict.fromkeys(one.competitor for one in trials))
    variants = {name: compared(item, labels, by_seed) for name, by_seed in found.items()}
    seeds = tuple(setting.seeds or item.sizes[setting.size].seeds)
    words = [one for one in setting.competitors if isinstance(one, str)]
    return Outcomes(item, setting.size, trials[0].workload, variants, seeds, tuple(failed), setting.settings, words)


def compared(item: Experiment, labels: Sequence[str], by_seed: Mapping[int, Mapping[str, TrialResult]]) -> Measured:
    """What was measured of a variant, seed -> label -> result, compared as the experiment says."""
    result: dict[str, dict[int, TrialResult]] = {label: {} for label in labels}
    for seed, results in by_seed.items():
        with callers(f"the comparison of {item.id}"):
            for label, one in item.compare(results).items():
                result.setdefault(label, {})[seed] = one
    return Measured(result)


# ---- the handler of runs/processes.py ---------------------------------------------------------------------------------


def prepare(_: Document) -> None:
    """Import the experiments once, before children are forked."""
    all_experiments()


def answer(request: Document, _: Callable[[], object]) -> Document:
    """Measure one trial; what it is made from was sent."""
    sent = request["sent"]
    found, start = competitor(sent["competitor"], sent["kind"]), time.perf_counter()
    trial = Trial(request["competitor"], found, request["seed"], request["workload"], json.loads(request["settings"]))
    measured = unpacked(sent["measure"])(trial)
    numbers = {kind: {k: float(v) for k, v in getattr(measured, kind).items()} for kind in ("numbers", "counts", "most")}
    curves = {name: [[float(v) for v in values] for values in columns] for name, columns in measured.curves.items()}
    return {**numbers, "curves": curves, "seconds": time.perf_counter() - start}
