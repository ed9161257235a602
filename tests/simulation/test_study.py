"""Workloads of one's own: what is kept is not simulated again, and the command compares schedulers, mechanisms and one's own."""

import json

import numpy as np
import pytest

from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.simulation import Cluster, Workload, simulate_tasks, study
from fairalloc.simulation.experiments import find_experiments, report, run_experiments
from fairalloc.simulation.schedulers import Slots
from fairalloc.simulation.study import Study, answer, kept_simulation, run_study

JOBS = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1, 0], [0, 1, 3], [6, 2, 1], [10, 5, 2], [[0.5], [0.5], [1]])
MACHINES = Cluster(["cpu"], [[1]], [2])
TABLE = "user,arrival,tasks,duration,cpu\nann,0,6,10,0.5\nbob,1,2,5,0.5\nann,3,1,2,1\n"
OWN = """
from fairalloc.simulation import Scheduler


class Last(Scheduler):
    id = "last"

    def server(self, state, job):
        return int(state.machines(job)[-1])
"""


def test_a_simulation_that_is_kept_is_not_run_again(tmp_path, monkeypatch):
    first = kept_simulation(tmp_path, JOBS, MACHINES, Slots(4), 20)
    others = [kept_simulation(tmp_path, JOBS, MACHINES, *asked) for asked in ((Slots(3), 20), (Slots(4), 21), (Slots(4), 20, 1))]
    assert len(list(tmp_path.iterdir())) == 4
    assert first.start.tolist() == simulate_tasks(JOBS, MACHINES, Slots(4), 20).start.tolist()
    assert others[1].until == 21
    monkeypatch.setattr(study, "simulate_tasks", None)  # what is kept needs none
    monkeypatch.setattr(study, "code_behind", lambda *_: "")
    with pytest.raises(TypeError):
        kept_simulation(tmp_path, JOBS, MACHINES, Slots(4), 20)


def files(folder):
    (folder / "jobs.csv").write_text(TABLE)
    (folder / "machines.csv").write_text("count,cpu\n2,1\n")
    return str(folder / "jobs.csv"), str(folder / "machines.csv")


def test_a_trial_that_is_kept_is_answered_from_its_file(tmp_path):
    workload, cluster = files(tmp_path)
    request = {"workload": workload, "cluster": cluster, "sent": "fifo", "kind": "scheduler", "seed": 0, "until": None}
    request["folder"] = str(tmp_path / "kept")
    found = answer(request, lambda: None)
    assert found["numbers"]["jobs completed"] == 1
    assert found["numbers"]["waiting, mean"] == pytest.approx(np.mean([0, 9, 12]))
    (kept,) = (tmp_path / "kept").glob("*.json")
    kept.write_text(json.dumps({"numbers": {"told": 1.0}, "log": ""}))
    assert answer(request, lambda: None)["numbers"] == {"told": 1.0}


def test_what_cannot_be_compared_is_one_sentence(tmp_path):
    workload, cluster = files(tmp_path)
    with pytest.raises(InstanceError, match=r"jobs.csv has no machines"):
        run_study(Study(workload))
    with pytest.raises(InstanceError, match="names must differ"):
        run_study(Study(workload, cluster, ("fifo", "fifo")))
    with pytest.raises(UnknownName, match=r"no scheduler or mechanism 'best-fit'.*best-fit-drfh"):
        run_study(Study(workload, cluster, ("best-fit",)))
    with pytest.raises(InstanceError, match="until is -1"):
        Study(workload, cluster, until=-1.0)


@pytest.mark.deep
def test_the_command_compares_schedulers_mechanisms_and_ones_own(tmp_path, monkeypatch, capsys):
    workload, cluster = files(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    command = ["simulate", "--workload", workload, "--cluster", cluster, "--mechanisms", "random", "drfh", "own.py:Last"]
    assert main([*command, "--seeds", "0-1", "--jobs", "2", "--format", "json", "--figures", "drawn"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(label, *seeds) for label, seeds in found["measured"].items()] == [(x, "0", "1") for x in ("random", "drfh", "last")]
    assert [label for label, seeds in found["measured"].items() if seeds["0"]["log"]] == ["random", "last"]
    assert "Jain" in (tmp_path / "drawn" / "metrics.svg").read_text()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.*")}
    assert main([*command, "--seeds", "0-1", "--jobs", "2", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.*")} == before


EXPERIMENT = """
from fairalloc.simulation import Cluster, Workload, simulate_tasks
from fairalloc.simulation.experiments import Experiment, Size, TrialResult
from fairalloc.simulation.metrics import completion_times


def ends(trial):
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 1], [4, 1], [10, 5], [[0.5], [0.5]])
    log = simulate_tasks(jobs, Cluster(["cpu"], [[1]]), trial.competitor, seed=trial.seed)
    return TrialResult({"mean completion time": completion_times(log).mean()})


mine = Experiment(
    "mine", "two jobs", (), "one machine", "scheduler", ("fifo", "random"), {"full": Size((0, 1))}, ends, lambda measured, _: []
)
"""


@pytest.mark.deep
def test_an_experiment_of_ones_own_is_run_and_kept(tmp_path):
    path = tmp_path / "own_experiment.py"
    path.write_text(EXPERIMENT)
    (found,) = run_experiments([str(path)], tmp_path / "records.sqlite", progress=False)
    assert found.failed == ()
    assert report.document([found])[0]["id"] == "mine"
    before = (tmp_path / "records.sqlite").read_bytes()
    (again,) = run_experiments([f"{path}:mine"], tmp_path / "records.sqlite", progress=False)
    assert report.document([again]) == report.document([found])
    assert (tmp_path / "records.sqlite").read_bytes() == before
    other = tmp_path / "other.py"
    other.write_text(EXPERIMENT.replace('"mine", "two', '"K.Fig9", "two'))
    with pytest.raises(InstanceError, match=r"has the id 'K.Fig9', but another one has it"):
        find_experiments([str(other)])
    (tmp_path / "none.py").write_text("")
    with pytest.raises(UnknownName, match="no experiment"):
        find_experiments([str(tmp_path / "none.py")])
