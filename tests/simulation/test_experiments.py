"""Experiments: each one's smallest version, records that resume, verdicts that can fail, own objects, the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from fairalloc.analysis.plots.panels import element
from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.simulation.experiments import (
    Judged,
    Outcomes,
    RunSetting,
    Trial,
    TrialResult,
    all_experiments,
    find_experiments,
    report,
    run_experiments,
)
from fairalloc.simulation.experiments.competitors import KINDS, competitor, competitors
from fairalloc.simulation.experiments.records import ExperimentStore

EXPERIMENTS = all_experiments()

OWN = """\
import fairalloc as fa


class Mine(fa.Mechanism):
    "Max-min of tasks."

    id = "my-rule"
    title = "mine"
    source = "me"

    def write_cvxpy(self, instance):
        return fa.mechanism("mmf").cvxpy(instance)
"""


def measured(item, workload="", labels=None):
    """The outcomes of the smallest version, without processes."""
    size = item.sizes["small"]
    found = {}
    for label in labels or item.competitors:
        results = {}
        for seed in size.seeds:
            results[seed] = item.measure(Trial(label, competitor(label, item.kind), seed, workload, size.settings))
        found[label] = results
    return Outcomes(item, "small", workload, found)


@pytest.fixture(scope="module")
def smallest():
    """The outcomes of the smallest version of every experiment, on what is generated where it has no workload of its own."""
    cache = {}

    def get(name):
        if name not in cache:
            item = EXPERIMENTS[name]
            cache[name] = measured(item, "generated" if item.workloads else "")
        return cache[name]

    return get


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_smallest_version_of_each_experiment_has_a_figure_and_a_verdict(smallest, name):
    outcomes = smallest(name)
    assert outcomes.labels == list(EXPERIMENTS[name].competitors)
    assert outcomes.judged.word in ("confirmed", "not confirmed", "cannot be compared")
    assert outcomes.judged.because
    for label in outcomes.labels:
        assert all(np.isfinite(outcomes.values(label, key)).any() for key in outcomes.names if outcomes.values(label, key).size)
    panels = EXPERIMENTS[name].panels(outcomes)
    assert panels
    assert "<svg" in element(panels[0])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_same_seed_gives_the_same_numbers(smallest, name):
    item = EXPERIMENTS[name]
    label, size = item.competitors[0], item.sizes["small"]
    workload = "generated" if item.workloads else ""
    again = item.measure(Trial(label, competitor(label, item.kind), size.seeds[0], workload, size.settings))
    first = smallest(name).measured[label][size.seeds[0]]
    assert list(again.numbers) == list(first.numbers)
    np.testing.assert_array_equal(list(again.numbers.values()), list(first.numbers.values()))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_trials_nothing_is_compared(name):
    empty = Outcomes(EXPERIMENTS[name], "small", "", {label: {} for label in EXPERIMENTS[name].competitors})
    assert empty.judged.word == "cannot be compared"


def changed(outcomes, label, **numbers):
    """The outcomes with other numbers of one competitor."""
    seeds = {seed: replace(one, numbers={**one.numbers, **numbers}) for seed, one in outcomes.measured[label].items()}
    return replace(outcomes, measured={**outcomes.measured, label: seeds})


def test_a_wrong_number_is_not_confirmed(smallest):
    good = smallest("P.Table3")
    assert good.judged.word == "confirmed"
    assert changed(good, "ps-dsf", **{"user 1 on class A": 81.0}).judged.word == "not confirmed"


def test_table_iv_prints_one_number_wrong(smallest):
    judged = smallest("P.Table4").judged
    assert judged.word == "not confirmed"
    assert judged.because.endswith("not 58.343 and not 58.33 tasks of user 3 on C under tsf")
    corrected = changed(smallest("P.Table4"), "tsf", **{"user 3 on C": 58.33})
    assert corrected.judged.word == "confirmed"


def test_fig_6_of_p_is_confirmed_and_could_fail(smallest):
    good = smallest("P.Fig6")
    assert good.judged.word == "confirmed"
    assert changed(good, "ps-dsf", **{"seconds to rest": 11.0}).judged.word == "not confirmed"
    assert changed(good, "tsf", **{"CPU of C and D, all active": 0.999}).judged.word == "not confirmed"


def test_utilisation_by_alpha_could_fail(smallest):
    good = smallest("K.Fig7")
    assert good.judged.word == "confirmed"
    assert changed(good, "ps-dsf", memory=0.99).judged.word == "not confirmed"
    alone = replace(good, measured={"ps-dsf": good.measured["ps-dsf"]})
    assert alone.judged == Judged("cannot be compared", "alpha-pf-vds alpha=1 and alpha-pf-vds alpha=3 took no part")


def test_the_merit_falls_and_a_merit_that_does_not_is_seen(smallest):
    good = smallest("K.Fig6")
    assert good.judged.word == "confirmed"
    assert changed(good, "alpha-pf-vds alpha=3", **{"log10 of Psi at the end": 2.0}).judged.word == "not confirmed"


# ---- competitors -----------------------------------------------------------------------------------------------------


def test_competitors_have_parameters():
    assert competitor("alpha-pf-vds alpha=3", "mechanism").parameters == {"alpha": 3.0}
    assert competitor("slots per_maximum=10", "scheduler").per_maximum == 10
    with pytest.raises(InstanceError, match="a parameter of a competitor is '3', but it must be name=value"):
        competitor("alpha-pf-vds 3", "mechanism")
    with pytest.raises(UnknownName, match="there is no scheduler 'slot'"):
        competitor("slot", "scheduler")
    with pytest.raises(InstanceError, match="the scheduler 'slots' has not the parameters many"):
        competitor("slots many=3", "scheduler")
    assert set(KINDS) == {"mechanism", "scheduler"}


def test_ones_own_stands_beside_the_others_and_names_replace_them(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    beside = competitors(("drfh", "tsf"), [str(file)], "mechanism")
    assert [one.label for one in beside] == ["drfh", "tsf", "my-rule"]
    instead = competitors(("drfh", "tsf"), ["ps-dsf", str(file)], "mechanism")
    assert [one.label for one in instead] == ["ps-dsf", "my-rule"]
    with pytest.raises(InstanceError, match="two competitors are named 'drfh'"):
        competitors((), ["drfh", "drfh"], "mechanism")


def test_experiments_are_found_by_the_beginning_of_their_ids():
    assert {item.id for item in find_experiments(["P"])} == {"P.Fig6", "P.Table3", "P.Table4"}
    assert [item.id for item in find_experiments(["K.Fig7"])] == ["K.Fig7"]
    with pytest.raises(UnknownName, match=r"there is no experiment 'K\.Fig77'"):
        find_experiments(["K.Fig77"])


# ---- records ---------------------------------------------------------------------------------------------------------


def test_a_run_leaves_out_what_is_on_record(tmp_path):
    records = tmp_path / "r.sqlite"
    first = run_experiments(["P.Table3"], records, RunSetting("small"), progress=False)
    with ExperimentStore(records) as store:
        rows = store.select("SELECT key, started FROM trial")
    again = run_experiments(["P.Table3"], records, RunSetting("small"), progress=False)
    with ExperimentStore(records) as store:
        assert store.select("SELECT key, started FROM trial") == rows
    assert first[0].measured == again[0].measured
    assert len(rows) == 1


def test_a_killed_run_resumes(tmp_path):
    records = tmp_path / "r.sqlite"
    words = [sys.executable, "-P", "-m", "fairalloc", "simulate", "P.Table4", "P.Fig6", "--small", "--records", str(records)]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not kept(records):
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = kept(records)
    assert before
    found = run_experiments(["P.Table4", "P.Fig6"], records, RunSetting("small"), progress=False)
    assert before <= kept(records)
    assert [len(one.labels) for one in found] == [3, 3]
    assert len(kept(records)) == 6


def kept(records):
    """The keys on record."""
    if not os.path.exists(records):
        return set()
    try:
        with ExperimentStore(records) as store:
            return {key for (key,) in store.select("SELECT key FROM trial")}
    except InstanceError:  # it is being made
        return set()


def test_a_trial_that_fails_is_told_and_not_recorded(tmp_path, capsys):
    file = tmp_path / "broken.py"
    file.write_text(OWN.replace('fa.mechanism("mmf").cvxpy(instance)', "1 / 0").replace("my-rule", "broken"))
    words = ["simulate", "P.Table4", "--small", "--mechanisms", str(file), "--records", str(tmp_path / "r.sqlite")]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert "failed: P.Table4 broken seed 0:" in text
    assert "user 3 on C" in text


def test_settings_that_are_none():
    with pytest.raises(UnknownName, match="there is no size 'tiny'"):
        RunSetting("tiny")
    with pytest.raises(InstanceError, match="jobs is 0, but it must be a positive integer"):
        RunSetting(jobs=0)
    with pytest.raises(InstanceError, match="jobs is 2, but with a scheduler its workers say"):
        RunSetting(jobs=2, scheduler="tcp://here:1")


# ---- the command line ------------------------------------------------------------------------------------------------


def test_the_list_names_every_experiment(capsys):
    assert main(["simulate", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in EXPERIMENTS)


def test_an_own_mechanism_enters_an_experiment_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    words = ["simulate", "P.Table4", "--small", "--records", str(tmp_path / "r.sqlite"), "--mechanisms", f"{file}:Mine"]
    figures = tmp_path / "figures"
    assert main([*words, "--format", "json", "--jobs", "2", "--figures", str(figures)]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert {trial["competitor"] for trial in document["trials"]} == {"ps-dsf", "tsf", "c-drfh", "my-rule"}
    assert document["command"] == "fairalloc simulate P.Table4 --small"
    assert "<svg" in (figures / "P.Table4.svg").read_text()
    assert main([*words, "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "my-rule" in page
    assert page.count("<svg") >= 2
    assert "http-equiv=Content-Security-Policy" in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["K.Fig99"], "there is no experiment 'K.Fig99'"),
        (["P.Table3", "--seeds", "9-3"], "--seeds is '9-3', but it must be a number such as 3, or a range such as 0-9"),
        (["P.Table3", "--mechanisms", "drfx"], "there is no mechanism 'drfx'"),
        (["K.Fig7", "--workload", "yahoo"], "there is no workload 'yahoo'"),
        (["P.Table3", "--workload", "generated"], "there is no workload 'generated'"),
        (["P.Table3", "--data", "no-such-folder"], "--data is 'no-such-folder', but it must be a folder"),
    ],
)
def test_mistakes_end_in_one_sentence(tmp_path, capsys, words, says):
    assert main(["simulate", *words, "--small", "--records", str(tmp_path / "r.sqlite")]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.strip().splitlines()) == 1


def test_numbers_over_seeds_are_told_with_their_spread():
    item = EXPERIMENTS["P.Table3"]
    results = {seed: TrialResult({"a": 1.0 + seed, "b": 2.0}) for seed in range(3)}
    grid = report.numbers_table(Outcomes(item, "full", "", {"one": results}))
    assert [list(row) for row in grid.rows] == [["a", "2 ± 1"], ["b", "2"]]
    assert grid.notes == ["mean ± standard deviation over 3 seeds; size full"]
    outcomes = Outcomes(item, "full", "", {"one": results, "two": {0: TrialResult({"a": 0.0})}})
    assert outcomes.difference("one", "two", "a") == (1.0, 0.0)
