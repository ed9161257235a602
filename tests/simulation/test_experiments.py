"""Experiments: each one's smallest version, records that resume, verdicts that can fail, own objects, the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

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
from fairalloc.simulation.experiments.verdicts import KeptVerdict, keep_verdicts, kept_verdicts
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import investigate
from fairalloc.theorems.status import Status

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


def measured(item, workload=""):
    """The outcomes of the smallest version, without processes."""
    found = {
        label: {seed: trial(item, label, seed, workload) for seed in item.sizes["small"].seeds} for label in item.competitors
    }
    return Outcomes(item, "small", workload, found)


def trial(item, label, seed, workload, cache={}):  # noqa: B006 (experiments share what they measure)
    """One trial of the smallest version."""
    settings = item.sizes["small"].settings
    key = (item.measure, label, seed, workload, str(settings))
    if key not in cache:
        cache[key] = item.measure(Trial(label, competitor(label, item.kind), seed, workload, settings))
    return cache[key]


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


@pytest.mark.few(1)
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


@pytest.mark.few(3)
@pytest.mark.parametrize("name", {item.measure: name for name, item in EXPERIMENTS.items()}.values())
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
    assert changed(good, "measured", **{"user 1 on class A": 81.0}).judged.word == "not confirmed"


def test_table_iv_prints_one_number_wrong(smallest):
    judged = smallest("P.Table4").judged
    assert judged.word == "not confirmed"
    assert judged.because.endswith("not 58.343 and not 58.33 tasks of user 3 on C under tsf")
    corrected = changed(smallest("P.Table4"), "tsf", **{"user 3 on C": 58.33})
    assert corrected.judged.word == "confirmed"


@pytest.mark.parametrize(("ours", "word"), [(58.334, "confirmed"), (58.326, "confirmed"), (58.337, "not confirmed")])
def test_half_a_unit_of_the_last_printed_digit_is_rounding(smallest, ours, word):
    """58.33 is printed."""
    assert changed(smallest("P.Table4"), "tsf", **{"user 3 on C": ours}).judged.word == word


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
    assert set(KINDS) == {"mechanism", "scheduler", "none"}


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


@pytest.mark.deep
def test_a_killed_run_resumes(tmp_path):
    records = tmp_path / "r.sqlite"
    words = [sys.executable, "-P", "-m", "fairalloc", "simulate", "P.Table4", "--small", "--records", str(records)]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not rows(records):
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = rows(records)
    assert before
    found = run_experiments(["P.Table4"], records, RunSetting("small"), progress=False)
    assert rows(records)[: len(before)] == before, "what is on record is not measured again"
    assert [len(one.labels) for one in found] == [3]
    assert len(rows(records)) == 3
    again = run_experiments(["P.Table4"], records, RunSetting("small"), progress=False)
    assert [one.measured for one in again] == [one.measured for one in found]
    assert len(rows(records)) == 3


def rows(records):
    """Keys and times of what is on record."""
    if not os.path.exists(records):
        return []
    try:
        with ExperimentStore(records) as store:
            return store.select("SELECT key, started FROM trial ORDER BY rowid")
    except InstanceError:  # it is being made
        return []


def test_a_trial_that_fails_is_told_and_not_recorded(tmp_path, capsys):
    file = tmp_path / "broken.py"
    file.write_text(OWN.replace('fa.mechanism("mmf").cvxpy(instance)', "1 / 0").replace("my-rule", "broken"))
    words = ["simulate", "P.Table4", "--small", "--mechanisms", "tsf", str(file), "--records", str(tmp_path / "r.sqlite")]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert "failed: P.Table4 broken seed 0:" in text
    assert "user 3 on C" in text


def test_settings_that_are_none():
    with pytest.raises(UnknownName, match="there is no size 'tiny'"):
        RunSetting("tiny")
    with pytest.raises(InstanceError, match="jobs is 0, but it must be a whole number from 1 to 1024"):
        RunSetting(jobs=0)
    with pytest.raises(InstanceError, match="jobs is 2, but with a scheduler its workers say"):
        RunSetting(jobs=2, scheduler="tcp://here:1")


# ---- the command line ------------------------------------------------------------------------------------------------


def test_the_list_names_every_experiment(capsys):
    assert main(["simulate", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in EXPERIMENTS)


@pytest.mark.deep
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
    assert main([*words, "--format", "markdown", "--figures", str(figures)]) == 0
    assert f"]({figures.as_posix()}/P.Table4.svg)" in capsys.readouterr().out
    assert "http-equiv=Content-Security-Policy" in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["K.Fig99"], "there is no experiment 'K.Fig99'"),
        (["P.Table3", "--seeds", "9-3"], "--seeds is '9-3', but it must be a number such as 3, or a range such as 0-9"),
        (["P.Table4", "--mechanisms", "drfx"], "there is no mechanism 'drfx'"),
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


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--keep no-such-folder/file.json", "cannot be written"),
        ("--keep text", "is not JSON"),
        ("--figures text", "cannot be used"),
    ],
)
def test_what_cannot_be_written_is_refused_before_a_trial(tmp_path, monkeypatch, capsys, option, says):
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("no JSON")
    assert main(["simulate", "P.Table4", "--small", "--records", "r.sqlite", *option.split()]) == 2
    out, error = capsys.readouterr()
    assert not out
    assert says in error
    assert not Path("r.sqlite").exists()
    assert Path("text").read_text() == "no JSON"


def test_numbers_over_seeds_are_told_with_their_spread():
    item = EXPERIMENTS["P.Table3"]
    results = {seed: TrialResult({"a": 1.0 + seed, "b": 2.0}) for seed in range(3)}
    grid = report.numbers_table(Outcomes(item, "full", "", {"one": results}))
    assert [list(row) for row in grid.rows] == [["a", "2 ± 1"], ["b", "2"]]
    assert grid.notes == ["mean ± standard deviation over 3 seeds; size full"]
    outcomes = Outcomes(item, "full", "", {"one": results, "two": {0: TrialResult({"a": 0.0})}})
    mean, error = outcomes.difference("one", "two", "a")
    assert mean == 1.0
    assert np.isnan(error), "one seed has no standard error"


def test_a_curve_without_points_is_not_drawn():
    """No job may have been completed by both: then W.Fig7 has no curve of completion times."""
    found = {"one": {0: TrialResult({}, {"times": ([], [])}), 1: TrialResult({})}}
    found["two"] = {0: TrialResult({}, {"times": ([1], [1])})}
    outcomes = Outcomes(EXPERIMENTS["W.Fig7"], "small", "", found)
    assert outcomes.curves("one", "times") == []
    assert outcomes.experiment.panels(outcomes)[0].names == ("two",)


# ---- kept verdicts, and statements that rest on them -------------------------------------------------------------------


def test_verdicts_are_kept_beside_those_of_others(tmp_path, smallest):
    file = tmp_path / "verdicts.json"
    keep_verdicts([smallest("P.Table3")], file)
    first = file.read_text()
    keep_verdicts([smallest("P.Table4")], file)
    keep_verdicts([smallest("P.Table3")], file)
    kept = kept_verdicts(file)
    assert {name: one.word for name, one in kept.items()} == {"P.Table3": "confirmed", "P.Table4": "not confirmed"}
    assert kept["P.Table4"].command == "fairalloc simulate P.Table4 --small"
    assert json.loads(first)["P.Table3"] == json.loads(file.read_text())["P.Table3"]
    assert kept_verdicts(tmp_path / "none.json") == {}
    file.write_text('{"P.Table3": {"word": "confirmed"}}')
    kept_verdicts.cache_clear()
    with pytest.raises(InstanceError, match="holds no verdicts of experiments"):
        kept_verdicts(file)


def test_the_kept_verdicts_are_of_full_runs_of_experiments_that_there_are():
    kept = kept_verdicts()
    assert set(kept) <= set(EXPERIMENTS)
    assert {one.size for one in kept.values()} <= {"full"}
    assert {one.word for one in kept.values()} <= {"confirmed", "not confirmed", "cannot be compared"}


def test_a_statement_rests_on_the_kept_verdict_of_its_experiment(monkeypatch):
    made = KeptVerdict("confirmed", "it is so", "full", "generated", 3, "2026-11-22", "fairalloc simulate K.Fig9")
    words = {"K.Fig9": made, "K.Fig10": replace(made, word="not confirmed"), "K.Fig11": replace(made, word="cannot be compared")}
    monkeypatch.setattr("fairalloc.simulation.experiments.verdicts.kept_verdicts", lambda: words)
    statements = all_statements()
    found = {name: investigate(statements[f"K.6.2.{name}"]) for name in ("Fig9", "Fig10", "Fig11", "Fig7")}
    assert [one.status for one in found.values()] == ["not refuted", Status.IN_FLOATS, "not decided", "not decided"]
    assert found["Fig9"].sentence.startswith("experiment K.Fig9 (fairalloc simulate K.Fig9; 3 seeds, 2026-11-22): confirmed")
    assert "no run of the experiment K.Fig7 is kept" in found["Fig7"].sentence


def test_every_measured_claim_names_its_experiment():
    measured_claims = {name: item.experiment for name, item in all_statements().items() if item.experiment}
    assert len(measured_claims) == 20
    assert all(name.startswith(("W.S6.", "K.6.")) for name in measured_claims)
    assert set(measured_claims.values()) <= set(EXPERIMENTS)


def test_the_experiments_are_written_as_markdown(smallest):
    text = report.report_markdown([smallest("P.Table3"), smallest("P.Table4")])
    assert text.startswith("# fairalloc: experiments of the papers")
    assert "| P.Table4 | not confirmed |" in text
    assert "fairalloc simulate P.Table3 --small" in text
    assert "<svg" not in text


# ---- verdicts of K on the cluster ---------------------------------------------------------------------------------------


def outcomes_of(name, numbers):
    """Outcomes with these numbers, the same for three seeds but for a little."""
    item = EXPERIMENTS[name]
    found = {
        label: {seed: TrialResult({key: value * (1 + 1e-4 * seed) for key, value in of.items()}) for seed in range(3)}
        for label, of in numbers.items()
    }
    return Outcomes(item, "full", "generated", found)


def test_verdicts_by_alpha():
    one, three, infinite = EXPERIMENTS["K.Fig9"].competitors
    good = outcomes_of("K.Fig9", {one: {"mean": 0.7}, three: {"mean": 0.6}, infinite: {"mean": 0.5}})
    assert good.judged.word == "confirmed"
    assert "mean 70.0%, 60.0% and 50.0% (differences 10.0% ± 0.0%" in good.judged.because
    same = outcomes_of("K.Fig9", {one: {"mean": 0.7}, three: {"mean": 0.5}, infinite: {"mean": 0.5}})
    assert same.judged.word == "not confirmed"
    most = {"average deviation": 0.2, "maximum deviation": 0.9}
    none = dict.fromkeys(most, 0.0)
    half = {name: value / 2 for name, value in most.items()}
    assert outcomes_of("K.Fig10", {one: most, three: half, infinite: none}).judged.word == "confirmed"
    assert outcomes_of("K.Fig10", {one: half, three: most, infinite: none}).judged.word == "not confirmed"


def test_verdicts_over_a_day():
    base = {"cpu": 0.5, "memory": 0.5, "mean": 0.5, "mean of A and B": 0.5, "mean of C and D": 0.5}
    better = {**base, "cpu": 0.6, "mean": 0.55, "mean of C and D": 0.8, "mean of A and B": 0.55}
    good = {"ps-dsf": better, "drfh": base, "tsf": base}
    assert outcomes_of("K.Fig13", good).judged.word == "confirmed"
    assert outcomes_of("K.Fig14", good).judged.word == "confirmed"
    apart = {**good, "tsf": {**base, "mean": 0.4}}
    assert outcomes_of("K.Fig13", apart).judged.word == "not confirmed"
    public = {**good, "ps-dsf": {**better, "mean of A and B": 0.95}}
    assert outcomes_of("K.Fig14", public).judged.word == "not confirmed"


def test_the_verdict_on_ps_dsf_against_the_others():
    names = ("cpu", "memory", "disk", "send", "receive")
    full = dict.fromkeys([*names, *(f"{name}, of all" for name in names)], 0.5)
    more = {**full, "cpu": 0.6}
    assert outcomes_of("K.Fig12", {"ps-dsf": more, "drfh": full, "tsf": full}).judged.word == "confirmed"
    assert outcomes_of("K.Fig12", {"ps-dsf": full, "drfh": more, "tsf": full}).judged.word == "not confirmed"


def test_printed_marginals_could_fail():
    numbers = {"in one interval": 0.36, "over 24 hours": 0.16, "under 10 quanta": 0.5, "over 10,000 quanta": 0.05}
    real = replace(outcomes_of("K.Fig8", {"measured": {**numbers, "end within 300 s": 0.54}}), workload="google2011")
    assert real.judged.word == "confirmed"
    assert replace(real, workload="generated").judged.word == "cannot be compared"
    assert changed(real, "measured", **{"over 24 hours": 0.3}).judged.word == "not confirmed"
