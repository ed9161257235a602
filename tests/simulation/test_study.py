"""Workloads of one's own: what is kept is not simulated again, and the command compares schedulers, mechanisms and one's own."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairalloc.analysis.plots.panels import Panel, element
from fairalloc.cli import main
from fairalloc.formulations import mechanism
from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.simulation import Cluster, TaskLog, Workload, simulate_tasks
from fairalloc.simulation import study as study_of
from fairalloc.simulation.experiments import Measured, RunSetting, Trial, TrialResult, find_experiments, report, run_experiments
from fairalloc.simulation.experiments.experiment import Outcomes, PaperClaim
from fairalloc.simulation.experiments.runner import compared
from fairalloc.simulation.metrics import completion_times, utilisation
from fairalloc.simulation.over_time import fragmentation, jain_over_time, share_deficits
from fairalloc.simulation.schedulers import FIFO, Slots
from fairalloc.simulation.study import study

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


def files(folder):
    (folder / "jobs.csv").write_text(TABLE)
    (folder / "machines.csv").write_text("count,cpu\n2,1\n")
    return str(folder / "jobs.csv"), str(folder / "machines.csv")


def test_a_trial_keeps_its_log_and_its_metrics(tmp_path):
    found, logs = study(*files(tmp_path), str(tmp_path / "kept")), []
    for until in (None, 1234567.0, 1234568.0, 20.0):
        settings = found.sizes["full"].settings | {"until": until}
        one = found.measure(Trial("slots/4", Slots(4), 1, found.workloads[0], settings))
        logs += [path for path in (tmp_path / "kept").rglob("*.parquet") if path not in logs]
    last = simulate_tasks(JOBS, MACHINES, Slots(4), None, 1).until
    assert [path.stem for path in logs] == [f"slots-4 seed 1 until {end:.7g}" for end in (last, 1234567, 1234568, 20)]
    log = TaskLog.load(logs[-1], JOBS, MACHINES)
    assert log.start.tolist() == simulate_tasks(JOBS, MACHINES, Slots(4), 20, 1).start.tolist()
    assert one.numbers["cpu in use"] == pytest.approx(utilisation(log, [0, 20])[0, 0])
    assert [panel.title for panel in found.panels(Measured({"slots/4": {1: one}}), "")][-2:] == [
        "Jain's index",
        "largest share deficit",
    ]
    whole = found.measure(Trial("drfh", mechanism("drfh"), 0, found.workloads[0], found.sizes["full"].settings))
    assert whole.numbers["part of jobs completed"] == 1
    assert "mean share deficit" not in whole.numbers


def test_what_cannot_be_compared_is_one_sentence(tmp_path):
    workload, cluster = files(tmp_path)
    with pytest.raises(InstanceError, match=r"jobs.csv has no machines"):
        study(workload)
    for wanted, error, words in ((("fifo", "fifo"), InstanceError, "two competitors are named 'fifo'"), *UNKNOWN):
        with pytest.raises(error, match=words):
            run_experiments([study(workload, cluster)], tmp_path / "records.sqlite", RunSetting(competitors=wanted))


def test_a_folder_named_by_a_number_is_a_folder_and_a_file_of_machines_so_named_is_none(tmp_path, monkeypatch, capsys):
    workload, cluster = files(tmp_path)
    monkeypatch.chdir(tmp_path)
    command = ["simulate", "--workload", workload, "--mechanisms", "fifo", "--set"]
    assert main([*command, f"cluster={cluster}", "logs=3"]) == 0
    assert list((tmp_path / "3").rglob("fifo seed 0 until *.parquet"))
    assert main([*command, "cluster=3"]) == 2
    assert "the file of a workload is '3', but its name must end in .csv" in capsys.readouterr().err
    for words in (["--set", "until=0"], ["--set", "until=nan"], ["--set", "until=true"], ["--set", "until=abc"]):
        assert main(["simulate", "--workload", workload, "--cluster", cluster, *words]) == 2
        assert "--set until is" in capsys.readouterr().err


UNKNOWN = ((("best-fit",), UnknownName, r"no scheduler or mechanism 'best-fit'.*best-fit-drfh"),)


@pytest.mark.deep
def test_the_command_compares_schedulers_mechanisms_and_ones_own(tmp_path, monkeypatch, capsys):
    workload, cluster = files(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    command = ["simulate", "--workload", workload, "--cluster", cluster, "--mechanisms", "random", "drfh", "own.py:Last"]
    assert main([*command, "--seeds", "0-1", "--jobs", "2", "--format", "json", "--figures", "drawn"]) == 0
    found = json.loads(capsys.readouterr().out)
    trials = [(one["competitor"], one["seed"]) for one in found[0]["trials"]]
    assert trials == [(label, seed) for label in ("random", "drfh", "last") for seed in (0, 1)]
    logs = sorted(path.name for path in (tmp_path / "results").rglob("*.parquet"))
    assert [name.partition(" until")[0] for name in logs] == [f"{label} seed {k}" for label in ("last", "random") for k in (0, 1)]
    assert "Jain" in (tmp_path / "drawn" / "jobs.csv.svg").read_text()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("*.parquet")}
    assert main([*command, "--seeds", "0-1", "--jobs", "2", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (tmp_path / "jobs.csv").write_text(TABLE.replace("ann,3,1", "ann,3,2"))
    assert main([*command, "--seeds", "0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["trials"] != found[0]["trials"][::2]


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
    assert report.listing([found.experiment]).rows[0][-1] == "-, 2"
    with pytest.raises(InstanceError, match="the size of mine is 'small', but it has full"):
        run_experiments([str(path)], tmp_path / "records.sqlite", RunSetting("small"), progress=False)
    assert found.failed == ()
    assert report.document([found])[0]["id"] == "mine"
    before = (tmp_path / "records.sqlite").read_bytes()
    (again,) = run_experiments([f"{path}:mine"], tmp_path / "records.sqlite", progress=False)
    assert (found.command, again.command) == (f"fairalloc simulate {path}", f"fairalloc simulate {path}:mine")
    assert report.document([replace(again, experiment=found.experiment)]) == report.document([found])
    assert (tmp_path / "records.sqlite").read_bytes() == before
    other = tmp_path / "other.py"
    other.write_text(EXPERIMENT.replace('"mine", "two', '"K.Fig9", "two'))
    with pytest.raises(InstanceError, match=r"has the id 'K.Fig9', but another one has it"):
        find_experiments([str(other)])
    (tmp_path / "none.py").write_text("")
    with pytest.raises(UnknownName, match="no experiment"):
        find_experiments([str(tmp_path / "none.py")])


def test_functions_of_an_own_experiment_that_fail_are_one_sentence(tmp_path):
    path = tmp_path / "failing.py"
    path.write_text(EXPERIMENT)
    (mine,) = find_experiments([str(path)])
    results, fails = {"fifo": TrialResult({"seconds": 1.0})}, lambda *_: 1 / 0
    with pytest.raises(InstanceError, match=r"^the comparison of mine failed: ZeroDivisionError: division by zero$"):
        compared(replace(mine, compare=fails), ["fifo"], {0: results})
    with pytest.raises(InstanceError, match=r"^the comparison of mine failed: AttributeError: "):
        compared(replace(mine, compare=lambda _: None), ["fifo"], {0: results})
    found = compared(mine, ["fifo"], {0: results})
    with pytest.raises(InstanceError, match=r"^the claim 'that' failed: ZeroDivisionError"):
        PaperClaim("that", "It is so.", fails).judged(found)
    with pytest.raises(InstanceError, match=r"^the figure of mine failed: ZeroDivisionError"):
        _ = Outcomes(replace(mine, panels=fails), "full", "", {"": found}).panels
    with pytest.raises(InstanceError, match=r"^the drawing of the panel 'a' failed: ZeroDivisionError"):
        element(Panel("a", (), fails))


def test_numbers_are_means_and_quantiles_over_jobs_and_curves_go_over_hours():
    log = simulate_tasks(JOBS, MACHINES, "fifo", 24.0)
    found, times = study_of._judged(log), completion_times(log)
    done = sorted(times[np.isfinite(times)])
    assert found.numbers["part of jobs completed"] == len(done) / len(JOBS)
    assert found.numbers["completion, mean"] == pytest.approx(sum(done) / len(done))
    assert found.numbers["completion, 95 %"] == pytest.approx(np.interp(0.95, [0, 0.5, 1], done))
    hours, use = found.curves["cpu in use"]
    assert hours == pytest.approx([24 * k / 40 / 3600 for k in range(1, 41)])
    assert np.mean(use) == pytest.approx(found.numbers["cpu in use"])
    instants = [2.4 * k for k in range(10)]
    deficits = share_deficits(log, instants)
    assert found.curves["largest share deficit"] == (pytest.approx([t / 3600 for t in instants]), deficits.max(axis=1).tolist())
    assert found.numbers["mean share deficit"] == pytest.approx(deficits.mean())
    assert found.numbers["Jain's index, mean"] == pytest.approx(np.nanmean(jain_over_time(log, np.linspace(0, 24, 41))))
    short = replace(JOBS, arrival=JOBS.arrival / 2**40, duration=JOBS.duration / 2**40)
    same = study_of._judged(simulate_tasks(short, MACHINES, "fifo", 24.0 / 2**40))
    assert same.numbers["cpu in use"] == pytest.approx(found.numbers["cpu in use"]), "of times below a billionth of a second"


def test_use_and_fragmentation_are_drawn_by_class_of_machines_where_these_are_few(tmp_path):
    jobs, machines = files(tmp_path)
    for classes, drawn in ((1, 0), (4, 8), (5, 0)):
        (tmp_path / "machines.csv").write_text("class,cpu\n" + "".join(f"m{k},{k}\n" for k in range(1, classes + 1)))
        found = study(jobs, machines, str(tmp_path / "kept"))
        one = found.measure(Trial("fifo", FIFO(), 0, jobs, found.sizes["full"].settings))
        titles = [panel.title for panel in found.panels(Measured({"fifo": {0: one}}), "")]
        assert [title for title in titles if " on m" in title] == [
            f"cpu {what} on m{k}" for what in ("in use", "fragmented") for k in range(1, classes + 1) if drawn
        ]
    log = simulate_tasks(JOBS, Cluster(["cpu"], [[1], [3]], names=["a", "b"]), "fifo", 24.0)
    curves, instants = study_of._judged(log).curves, [2.4 * k for k in range(10)]
    assert curves["cpu fragmented on b"] == (
        pytest.approx([t / 3600 for t in instants]),
        fragmentation(log, instants)[:, 1, 0].tolist(),
    )
    assert curves["cpu in use on b"][1] == utilisation(log, np.linspace(0, 24, 41), by_class=True)[::4, 1, 0].tolist()


def test_what_is_left_out_of_a_file_is_told(tmp_path):
    (tmp_path / "a.swf").write_text(
        "; MaxProcs: 2\n" + "1 0 5 60 2 -1 -1 4 -1 -1 1 12 1 -1 1 -1 -1 -1\n" * 2 + "1 0 5 0" + " -1" * 14
    )
    text = study(str(tmp_path / "a.swf")).setting
    assert "2 jobs of 1 users with 4 tasks on 2 machines" in text
    assert "left out: 1 jobs of no run time" in text


def test_a_file_of_jobs_that_never_ran_is_one_sentence(tmp_path):
    (tmp_path / "a.swf").write_text("; MaxProcs: 4\n1 0 -1 -1 2 -1 -1 2 -1 -1 0 5 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InstanceError, match=r"all jobs of .*a\.swf are left out"):
        study(str(tmp_path / "a.swf"))
