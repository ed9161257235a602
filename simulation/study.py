"""One workload of one's own under several schedulers and mechanisms: the experiment of `fairalloc simulate --workload FILE`.

It is run as those of the papers are. The log of each scheduler stands in a folder, as parquet.
"""

from itertools import product
from pathlib import Path

import numpy as np

from fairalloc.models.errors import InstanceError
from fairalloc.simulation import metrics, over_time
from fairalloc.simulation.experiments.experiment import Experiment, Size
from fairalloc.simulation.experiments.figures import curves, figure
from fairalloc.simulation.experiments.trial import Columns, Trial, TrialResult, thinned
from fairalloc.simulation.files import read_cluster, read_workload
from fairalloc.simulation.fluid import simulate_fluid
from fairalloc.simulation.log import ServerEvents, TaskLog, data_hash
from fairalloc.simulation.schedulers import Scheduler
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload

INSTANTS = 10  # at which share deficits are found
INTERVALS = 40  # of curves over time
DEFAULT = ("best-fit-drfh", "fifo", "shortest-job-first", "least-attained-service", "finish-time-fair", "random")
BY_CLASS, CLASSES = ("in use on", "fragmented on"), 4  # classes of machines that are drawn, at most; a frame has all
UNITS = dict(zip(over_time.BY_JOB, ("seconds", "seconds", "durations of a task", "times alone"), strict=True))


def study(workload: str, cluster: str = "", logs: str = "results/simulations") -> Experiment:
    """The comparison on the jobs of a file, with the settings cluster, until and logs.

    A cluster is a file, too, "" = the machines that the file of the workload has. In the folder of logs each workload has one.
    """
    jobs, machines, about = _data(workload, cluster)
    jobs.check_on(machines)
    settings = {"cluster": cluster, "until": None, "logs": logs, "data": data_hash(jobs, machines, ServerEvents())}
    over_jobs = (curves(name, name, (unit, "part of jobs")) for name, unit in UNITS.items())
    names = [*(f"{name} in use" for name in jobs.resources), "Jain's index", "largest share deficit"]
    if 1 < len(machines.names) <= CLASSES:
        names += map(" ".join, product(jobs.resources, BY_CLASS, machines.names))
    panels = figure(*over_jobs, *(curves(name, name, ("hours", "")) for name in names))
    sizes, own = dict.fromkeys(("small", "full"), Size((0,), settings)), (workload,)
    return Experiment(Path(workload).name, about, (), about, "either", DEFAULT, sizes, measured, panels, workloads=own)


def _data(workload: str, cluster: str) -> tuple[Workload, Cluster, str]:
    """Jobs, machines, and a sentence on them."""
    found = read_workload(workload)
    if not len(found.workload):
        raise InstanceError(f"all jobs of {workload} are left out")
    machines = read_cluster(cluster) if cluster else found.cluster
    if machines is None:
        raise InstanceError(f"{workload} has no machines: name a file of them as cluster")
    jobs, size = found.workload, int(machines.counts.sum())
    what = f"{len(jobs)} jobs of {len(jobs.users)} users with {int(jobs.tasks.sum())} tasks on {size} machines"
    left_out = (f"left out: {count} {why}" for why, count in found.left_out.items() if count)
    return jobs, machines, "; ".join(filter(None, (what, found.generated, *left_out)))


def measured(trial: Trial) -> TrialResult:
    """All metrics of a scheduler or a mechanism, over jobs and over time."""
    settings = trial.settings
    data, until = _data(trial.workload, str(settings["cluster"]))[:2], settings["until"]
    if not isinstance(trial.competitor, Scheduler):
        return _judged(simulate_fluid(*data, trial.competitor, until))
    log = simulate_tasks(*data, trial.competitor, until, trial.seed)
    log.keep(settings["logs"], f"{trial.label} seed {trial.seed}")
    return _judged(log)


def _judged(log: metrics.Log) -> TrialResult:
    end = max(log.until, 1e-300)
    bounds, instants = np.linspace(0.0, end, INTERVALS + 1), np.linspace(0.0, end, INSTANTS, endpoint=False)
    used, jain = metrics.utilisation(log, bounds).T, over_time.jain_over_time(log, bounds)
    found = dict(zip((f"{name} in use" for name in log.cluster.resources), metrics.utilisation(log, [0.0, end])[0], strict=True))
    hours = bounds[1:] / 3600.0
    drawn: dict[str, Columns] = {name: (hours.tolist(), values.tolist()) for name, values in zip(found, used, strict=True)}
    found["part of jobs completed"] = np.isfinite(metrics.completion_times(log)).mean()
    for name, of in over_time.BY_JOB.items():
        there = (values := of(log))[np.isfinite(values)]
        found |= {f"{name}, mean": there.mean(), f"{name}, 95 %": np.quantile(there, 0.95)} if len(there) else {}
        drawn[name] = thinned(*metrics.cdf(values))
    known = np.isfinite(jain)
    found |= {"Jain's index, mean": jain[known].mean()} if known.any() else {}
    drawn["Jain's index"] = hours[known].tolist(), jain[known].tolist()
    over = (instants / 3600.0).tolist()
    by_class = {BY_CLASS[0]: metrics.utilisation(log, bounds, by_class=True)[:: INTERVALS // INSTANTS]}
    if isinstance(log, TaskLog):
        by_class[BY_CLASS[1]] = over_time.fragmentation(log, instants)
        deficits = over_time.share_deficits(log, instants)
        found["mean share deficit"], drawn["largest share deficit"] = deficits.mean(), (over, deficits.max(axis=1).tolist())
    for what, values in by_class.items():
        for (k, kind), (r, name) in product(*map(enumerate, (log.cluster.names, log.cluster.resources))):
            drawn[f"{name} {what} {kind}"] = over, values[:, k, r].tolist()
    return TrialResult(found, drawn)
