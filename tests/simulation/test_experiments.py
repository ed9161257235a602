"""Experiments: each one's smallest version, records that resume, verdicts that can fail, own objects, the command line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tolerances import AMPLE

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.panels import composed, element
from fairalloc.cli import main
from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.runs.fingerprint import modules_behind
from fairalloc.simulation.experiments import (
    Check,
    Judged,
    Measured,
    Outcomes,
    PaperClaim,
    RunSetting,
    Size,
    Trial,
    TrialResult,
    all_experiments,
    find_experiments,
    report,
    run_experiments,
)
from fairalloc.simulation.experiments.claims import RULE, agreed, together
from fairalloc.simulation.experiments.competitors import KINDS, competitor, competitors
from fairalloc.simulation.experiments.figures import bars, bubbles, curves, figure, lettered
from fairalloc.simulation.experiments.measures import k_cluster
from fairalloc.simulation.experiments.records import ExperimentStore
from fairalloc.simulation.experiments.runner import _trials, compared
from fairalloc.simulation.experiments.trial import thinned
from fairalloc.simulation.experiments.verdicts import KeptVerdict, keep_verdicts, kept_verdicts
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import investigate
from fairalloc.theorems.statement import Status

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


WORDS = ("confirmed", "contradicted", "undecided", "cannot be compared")


def claim_id(item, claim):
    return f"{item.id}.{claim.name}" if claim.name else item.id


def measured(item, workload=""):
    """The outcomes of the smallest version, without processes; variants of another workload are left out."""
    size, variants = item.sizes["small"], {}
    for name, settings in size.variants.items():
        by_seed = {s: {label: trial(item, label, s, workload, settings) for label in item.competitors} for s in size.seeds}
        variants[name] = compared(item, item.competitors, by_seed)
    return Outcomes(item, "small", workload, variants, size.seeds)


def trial(item, label, seed, workload, settings, cache={}):  # noqa: B006 (experiments share what they measure)
    """One trial of the smallest version."""
    given = {**item.sizes["small"].settings, **settings}
    key = (item.measure, label, seed, workload, str(given))
    if key not in cache:
        cache[key] = item.measure(Trial(label, competitor(label, item.kind), seed, workload, given))
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
def test_the_smallest_version_of_each_experiment_has_a_figure_and_judges_every_claim(smallest, name):
    item, outcomes = EXPERIMENTS[name], smallest(name)
    assert set(outcomes.labels) <= set(item.competitors)
    assert outcomes.judged.keys() == {claim_id(item, claim) for claim in item.claims}
    assert {judged.word for judged in outcomes.judged.values()} <= set(WORDS)
    assert all(judged.because for judged in outcomes.judged.values())
    for part in outcomes.variants.values():
        assert all(any(np.isfinite(part.values(label, key)).any() for label in part.labels) for key in part.names if key in WHOLE)
    assert "<svg" in element(outcomes.panels[0])
    rows = report.numbers_table(outcomes).rows
    assert 0 < len(rows) <= 40
    assert len({len(row) for row in rows}) == 1


WHOLE = ("CPU", "memory", "mean", "mean, all", "users", "seconds to rest")
"""Numbers that every trial has."""


@pytest.mark.few(2)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_label_of_a_figure_is_shortened(smallest, name, tmp_path):
    report.write_figures([smallest(name)], tmp_path)
    text = (tmp_path / f"{name}.svg").read_text()
    panels = lettered(smallest(name).panels)
    assert "…" not in text
    assert all(panel.title in text for panel in panels)
    assert all(label in text for panel in panels for label in panel.names)
    assert (
        all(panel.title.startswith(f"({letter}) ") for letter, panel in zip("abcdefghij", panels, strict=False))
        or len(panels) == 1
    )


def test_the_figure_of_table_2_has_a_curve_for_each_reading(smallest):
    assert len(smallest("W.Table2").panels[0].names) == 4


def test_the_printed_parts_of_fig_8_are_dotted(smallest):
    drawn = [drawn_on(panel).collections for panel in smallest("K.Fig8").panels]
    dotted = [[segment[0][1] for lines in panel for segment in lines.get_segments()] for panel in drawn]
    assert dotted == pytest.approx(np.array([[0.38, 1 - 0.16], [0.53, 1 - 0.05]]))


def test_a_name_that_is_too_long_is_shortened_and_seen(tmp_path):
    found = {"a label that is much wider than the space that a legend has for its names": {0: TrialResult({"CPU": 0.5})}}
    item = EXPERIMENTS["K.Fig10"]
    wide = Outcomes(item, "small", "", {"": Measured(found)}, (0,))
    report.write_figures([wide], tmp_path)
    assert "…" in (tmp_path / "K.Fig10.svg").read_text()


@pytest.mark.few(3)
@pytest.mark.parametrize("name", {item.measure: name for name, item in EXPERIMENTS.items()}.values())
def test_the_same_seed_gives_the_same_numbers(smallest, name):
    item = EXPERIMENTS[name]
    label, size = item.competitors[0], item.sizes["small"]
    workload, more = "generated" if item.workloads else "", next(iter(size.variants.values()))
    first = trial(item, label, size.seeds[0], workload, more)
    again = item.measure(Trial(label, competitor(label, item.kind), size.seeds[0], workload, {**size.settings, **more}))
    assert list(again.numbers) == list(first.numbers)
    np.testing.assert_array_equal(list(again.numbers.values()), list(first.numbers.values()))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_trials_nothing_is_compared(name):
    item = EXPERIMENTS[name]
    empty = Outcomes(item, "small", "", {"": compared(item, item.competitors, {})}, (0,))
    assert {judged.word for judged in empty.judged.values()} == {"cannot be compared"}
    assert empty.panels == []
    assert report.numbers_table(empty).notes[0].startswith("no seed")


def test_a_comparison_may_name_what_it_makes():
    own = replace(next(iter(EXPERIMENTS.values())), compare=lambda results: results | {"both": TrialResult({"x": 2.0})})
    found = compared(own, ["one"], {0: {"one": TrialResult({"x": 1.0})}})
    assert {label: found.mean(label, "x") for label in found.labels} == {"one": 1.0, "both": 2.0}


# ---- the rule --------------------------------------------------------------------------------------------------------


def over(*values):
    return np.array(values, dtype=float)


@pytest.mark.parametrize(
    ("check", "word"),
    [
        (Check("x", over(1, 2, 3, 2, 2), low=0.5), "confirmed"),
        (Check("x", over(1, 2, 3, 2, 2), low=1.8), "undecided"),
        (Check("x", over(1, 2, 3, 2, 2), low=3.0), "contradicted"),
        (Check("x", over(1, 2, 3, 2, 2), high=0.5), "contradicted"),
        (Check("x", over(1, 2, 3, 2, 2), 1.0, 3.0), "confirmed"),
        (Check("x", over(0, 0, 0, 0, 0), low=0.0), "undecided"),
        (Check("x", over(1, 2, 3, 2), low=0.5), "cannot be compared"),
        (Check("x", over(1, 2, 3, 2, np.nan), low=0.5), "cannot be compared"),
        (Check("x", over(1, 2, 3, 2, 2), low=4.0, most=3.9), "cannot be compared"),
        (Check("x", over(0, 0, 0, 0, 0.1), high=0.5, most=0.4), "cannot be compared"),
        (Check("x", over(3), 3.0, 3.0, drawn=False), "confirmed"),
        (Check("x", over(2), 3.0, 3.0, drawn=False), "contradicted"),
        (Check("x", over(), 3.0, 3.0, drawn=False), "cannot be compared"),
    ],
)
def test_two_standard_errors_decide(check, word):
    assert check.judged.word == word, check.judged.because


def test_the_rule_says_that_a_mean_at_an_end_of_the_range_does_not_decide():
    assert Check("x", np.zeros(5), low=0.0).judged.word == "undecided"
    assert "or a mean of drawn values is within 1e-09 of an end of the range" in RULE[1]


def test_a_printed_number_that_is_one_draw_has_the_error_of_one():
    values = over(1, 2, 3, 2, 2)
    assert Check("x", values, 2.8, 3.2).judged.word == "contradicted"
    assert Check("x", values, 2.8, 3.2, one_draw=True).judged.word == "undecided"


def test_a_number_of_fewer_than_ten_jobs_leaves_its_seed_out():
    found = {seed: TrialResult({"late": -10.89, "early": 0.5}, {}, {"late": 2, "early": 12}) for seed in range(5)}
    one = Measured({"best": found})
    late, early = (one.check("best", name, low=0.0).judged for name in ("late", "early"))
    assert (late.word, early.word) == ("cannot be compared", "confirmed")
    assert "0 of the 5 seeds that are needed have it" in late.because
    assert "n=12" in early.because


def test_a_number_that_some_seeds_lack_is_not_told_as_one_of_all_seeds():
    found = {seed: TrialResult({"late": 0.5}, {}, {"late": 12 if seed == 3 else 2}) for seed in range(5)}
    (item,) = find_experiments(["P.Table3"])
    outcomes = Outcomes(item, "small", "", {"": Measured({"best": found})}, tuple(found))
    (row,) = report.numbers_table(outcomes).rows
    assert row[1] == "0.5, n=12, 1 of 5 seeds"


def test_a_claim_about_a_competitor_that_took_no_part_says_so():
    told = Measured({"nb": {0: TrialResult({"x": 1.0})}}).check("tsf", "x", 0.0, drawn=False).judged
    assert told == Judged("cannot be compared", "tsf, x: no trial has it")


def test_numbers_of_a_claim_and_variants_of_a_workload_are_judged_together():
    yes, no, unsure, never = (Judged(word, word[:3]) for word in WORDS)
    assert [together(parts).word for parts in ((yes, yes), (yes, unsure), (unsure, never), (never, no), ())] == [
        "confirmed",
        "undecided",
        "cannot be compared",
        "contradicted",
        "cannot be compared",
    ]
    assert together((no, yes, yes, unsure)).because == "con; 2 more: confirmed; 1 more: undecided"
    many = [Judged("contradicted", str(k)) for k in range(5)]
    assert together([*many, yes]).because == "0; 1; 2; 2 more: contradicted; 1 more: confirmed"
    assert together([*many, yes], 1).because == "0; 4 more: contradicted; 1 more: confirmed"
    alike = {"a": yes, "b": never, "c": unsure}
    assert agreed(alike).word == "confirmed"
    assert agreed(alike).because == "a: confirmed: con. b: cannot be compared. c: undecided"
    assert agreed({**alike, "d": no}).word == "undecided"
    assert agreed({"a": never, "b": unsure}).word == "undecided"
    assert agreed({"a": never, "b": never}).word == "cannot be compared"


def test_the_jobs_of_k_offer_what_the_settings_say():
    """The CPU of all quanta over that of the servers in so many hours, within the load; the largest time of an event, too."""
    settings = EXPERIMENTS["K.Fig9"].sizes["small"].settings
    jobs, cluster = k_cluster.system("generated", 0, settings)
    least, most = settings["load"]
    assert least <= jobs.work @ jobs.demand[:, 0] / (cluster.totals[0] * 3600 * settings["hours"]) <= most
    assert jobs.arrival.max() <= 3600 * settings["hours"]


def test_a_size_with_one_seed_says_what_it_cannot_show(smallest):
    outcomes = smallest("K.Fig9")
    assert outcomes.judged["K.Fig9"].because == "1 of the 5 seeds that are needed"
    assert "decides nothing" in " ".join(report.numbers_table(outcomes).notes)


# ---- claims that can fail --------------------------------------------------------------------------------------------


def word(outcomes, name=""):
    """What the claim of this name is, "" = the only one."""
    item = outcomes.experiment
    return outcomes.judged[f"{item.id}.{name}" if name else item.id].word


def changed(outcomes, label, **numbers):
    """The outcomes with other numbers of one competitor."""
    parts = {
        name: Measured(
            {**part.by_label, label: {s: replace(one, numbers={**one.numbers, **numbers}) for s, one in seeds.items()}}
        )
        for name, part in outcomes.variants.items()
        for seeds in [part.by_label[label]]
    }
    return replace(outcomes, variants=parts)


def test_a_wrong_number_contradicts(smallest):
    good = smallest("P.Table3")
    assert word(good) == "confirmed"
    assert word(changed(good, "measured", **{"user 1 on class A": 81.0})) == "contradicted"


def test_table_iv_prints_one_number_wrong(smallest):
    judged = smallest("P.Table4").judged["P.Table4"]
    assert judged.word == "contradicted"
    assert "not the 58.33 tasks of user 3 on C under tsf, which has 58.343: 23 (claim: 24)" in judged.because
    assert "23" in judged.because
    assert word(changed(smallest("P.Table4"), "tsf", **{"user 3 on C": 58.33})) == "confirmed"


@pytest.mark.parametrize(("ours", "expected"), [(58.334, "confirmed"), (58.326, "confirmed"), (58.337, "contradicted")])
def test_half_a_unit_of_the_last_printed_digit_is_rounding(smallest, ours, expected):
    """58.33 is printed."""
    assert word(changed(smallest("P.Table4"), "tsf", **{"user 3 on C": ours})) == expected


def outcomes_of(name, numbers, seeds=5):
    """Outcomes with these numbers, by label, the same for the seeds but for a little."""
    item = EXPERIMENTS[name]
    found = {
        label: {seed: TrialResult({key: value * (1 + 1e-4 * seed) for key, value in of.items()}) for seed in range(seeds)}
        for label, of in numbers.items()
    }
    return Outcomes(item, "full", "generated", {"": Measured(found)}, tuple(range(seeds)))


def test_fig_6_of_p_is_judged_for_c_and_d_apart():
    names = [f"CPU of {c}, {when}" for c in "CD" for when in ("all active", "user 4 away")]
    own = dict.fromkeys(names, 0.9) | {"seconds to rest": 3.0}
    others = dict.fromkeys(names, 0.8)
    good = outcomes_of("P.Fig6", {"ps-dsf": own, "tsf": others, "c-drfh": others})
    assert [word(good, name) for name in ("C", "D", "prompt")] == ["confirmed"] * 3
    less = changed(good, "tsf", **{"CPU of D, user 4 away": 0.95})
    assert [word(less, name) for name in ("C", "D", "prompt")] == ["confirmed", "contradicted", "confirmed"]
    assert word(changed(good, "ps-dsf", **{"seconds to rest": 11.0}), "prompt") == "contradicted"


def test_utilisation_by_alpha_could_fail():
    names = ("cpu", "memory", "disk", "send", "receive", "mean")
    one, three, infinite = EXPERIMENTS["K.Fig7"].competitors
    good = outcomes_of("K.Fig7", {label: dict.fromkeys(names, use) for label, use in ((one, 0.8), (three, 0.6), (infinite, 0.5))})
    assert word(good) == "confirmed"
    assert word(changed(good, infinite, memory=0.7)) == "contradicted"
    assert word(outcomes_of("K.Fig7", {infinite: dict.fromkeys(names, 0.5)})) == "cannot be compared"


def test_the_merit_must_fall_straight():
    good = {"log10 of Psi at the start": 5.0, "log10 of Psi at the end": -3.0, "straightness, 1 is a line": 0.96}
    (label,) = EXPERIMENTS["K.Fig6"].competitors
    assert word(outcomes_of("K.Fig6", {label: good})) == "confirmed"
    assert word(outcomes_of("K.Fig6", {label: good | {"log10 of Psi at the end": 4.0}})) == "contradicted"
    assert word(outcomes_of("K.Fig6", {label: good | {"straightness, 1 is a line": 0.5}})) == "contradicted"


def test_claims_by_alpha():
    one, three, infinite = EXPERIMENTS["K.Fig9"].competitors
    use = "mean, all"
    good = outcomes_of("K.Fig9", {one: {use: 0.7}, three: {use: 0.6}, infinite: {use: 0.5}})
    assert word(good) == "confirmed"
    assert "alpha-pf-vds alpha=1 less alpha-pf-vds alpha=3, mean, all 10.00%±0.0" in good.judged["K.Fig9"].because
    assert word(outcomes_of("K.Fig9", {one: {use: 0.7}, three: {use: 0.5}, infinite: {use: 0.5}})) == "undecided"
    assert word(outcomes_of("K.Fig9", {one: {use: 0.7}, three: {use: 0.5}, infinite: {use: 0.6}})) == "contradicted"
    most = {"average deviation": 0.2, "maximum deviation": 0.9}
    none = dict.fromkeys(most, 0.0)
    half = {name: value / 2 for name, value in most.items()}
    assert word(outcomes_of("K.Fig10", {one: most, three: half, infinite: none})) == "confirmed"
    assert word(outcomes_of("K.Fig10", {one: half, three: most, infinite: none})) == "contradicted"
    delay = "delay of short jobs, std"
    assert word(outcomes_of("K.Fig11", {one: {delay: 0.4}, three: {delay: 0.3}, infinite: {delay: 0.2}})) == "confirmed"
    assert word(outcomes_of("K.Fig11", {one: {delay: 0.4}, three: {delay: 0.2}, infinite: {delay: 0.3}})) == "contradicted"


def test_claims_over_a_day():
    base = {"mean, all": 0.5, "mean, A and B": 0.5, "mean, C and D": 0.5}
    better = {"mean, all": 0.55, "mean, C and D": 0.8, "mean, A and B": 0.55}
    good = {"ps-dsf": better, "drfh": base, "tsf": base}
    assert word(outcomes_of("K.Fig13", good)) == "confirmed"
    assert word(outcomes_of("K.Fig14", good)) == "confirmed"
    assert word(outcomes_of("K.Fig13", {**good, "tsf": base | {"mean, all": 0.4}})) == "contradicted"
    assert word(outcomes_of("K.Fig14", {**good, "ps-dsf": better | {"mean, A and B": 0.95}})) == "contradicted"


def test_the_claim_on_ps_dsf_against_the_others():
    full = dict.fromkeys(("cpu", "memory", "disk", "send", "receive", "mean"), 0.5)
    more = full | {"cpu": 0.6, "mean": 0.52}
    assert word(outcomes_of("K.Fig12", {"ps-dsf": more, "drfh": full, "tsf": full})) == "confirmed"
    assert word(outcomes_of("K.Fig12", {"ps-dsf": more | {"send": 0.4}, "drfh": full, "tsf": full})) == "contradicted"
    assert word(outcomes_of("K.Fig12", {"ps-dsf": full, "drfh": more, "tsf": full})) == "contradicted"


def test_what_is_measured_of_fig_8_is_judged_and_what_is_generated_is_not():
    numbers = {"in one interval": 0.36, "over 24 hours": 0.16, "under 10 quanta": 0.5, "over 10,000 quanta": 0.05}
    real = outcomes_of("K.Fig8", {"measured": numbers}, seeds=1)
    assert [word(real, name) for name in ("period", "day", "quanta")] == ["confirmed", "confirmed", "cannot be compared"]
    assert word(changed(real, "measured", **{"over 24 hours": 0.3}), "day") == "contradicted"


# ---- competitors -----------------------------------------------------------------------------------------------------


def test_competitors_have_parameters():
    assert competitor("alpha-pf-vds alpha=3", "mechanism").parameters == {"alpha": 3.0}
    assert competitor("slots per_maximum=10", "scheduler").per_maximum == 10
    with pytest.raises(InstanceError, match="a parameter of alpha-pf-vds is '3', but it must be name=value"):
        competitor("alpha-pf-vds 3", "mechanism")
    with pytest.raises(UnknownName, match="there is no scheduler 'slot'"):
        competitor("slot", "scheduler")
    with pytest.raises(UnknownName, match="there is no argument 'many': Slots takes per_maximum, one_each"):
        competitor("slots many=3", "scheduler")
    with pytest.raises(InstanceError, match="the scheduler 'fifo' has not the parameters many"):
        competitor("fifo many=3", "scheduler")
    assert set(KINDS) == {"mechanism", "scheduler", "either", "none"}


def test_a_setting_of_the_run_holds_in_every_variant():
    """The variant of all jobs has a share of its own."""
    asked = _trials(EXPERIMENTS["W.Fig7"], RunSetting(workload="generated", seeds=(0,), settings={"share": 0.25}))
    assert {one.variant for one in asked} >= {"all jobs", "load .5"}
    assert {json.loads(one.settings)["share"] for one in asked} == {0.25}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("kind", "both"), ("sizes", {}), ("claims", "abc"), ("competitors", ()), ("measure", 3), ("printed", {"a": 3})),
        *(("id", 5), ("id", "a\x1b[31m"), ("id", ""), ("title", None), ("workloads", "abc"), ("claims", [PaperClaim(3, "")])),
        *(("seeds", ()), ("seeds", ("a",)), ("settings", 3), ("variants", {}), ("settings", {"a": object()})),
    ],
)
def test_an_experiment_with_a_field_of_another_kind_is_refused(name, value):
    """All of these were internal errors of `fairalloc simulate`."""
    sizes = {"small": Size((0,)), "full": replace(Size((0,)), **{name: value})} if name in vars(Size((0,))) else {}
    with pytest.raises(InstanceError, match=rf"\b{name}\b|^name is 3"):
        replace(EXPERIMENTS["P.Table4"], **({"sizes": sizes} if sizes else {name: value}))


def test_ones_own_stands_beside_the_others_and_names_replace_them(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    beside = competitors(("drfh", "tsf"), [str(file)], "mechanism")
    assert [one.label for one in beside] == ["drfh", "tsf", "my-rule"]
    instead = competitors(("drfh", "tsf"), ["ps-dsf", str(file)], "mechanism")
    assert [one.label for one in instead] == ["ps-dsf", "my-rule"]
    with pytest.raises(InstanceError, match="two competitors are named 'drfh'"):
        competitors((), ["drfh", "drfh"], "mechanism")
    with pytest.raises(UnknownName, match="there is no mechanism ''"):
        competitors((), [" "], "mechanism")


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
    deadline = time.monotonic() + AMPLE
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
    assert [one.variants for one in again] == [one.variants for one in found]
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


@pytest.mark.parametrize("name", ["W.Fig6", "W.Fig7", "W.Fig8", "W.Fig9", "W.Table2"])
def test_trials_of_tasks_do_not_depend_on_solvers(name):
    """They take hours, and an edit of a solver leaves them valid; whoever solves depends on it."""

    def behind(item):
        asked = [competitor(sent, item.kind) for sent in item.competitors]
        return [module for module in modules_behind(item.measure, *asked) if ".solvers" in module]

    (item,), (solving,) = find_experiments([name]), find_experiments(["P.Table4"])
    assert behind(item) == [] != behind(solving)


@pytest.mark.deep
def test_the_first_seeds_of_all_experiments_are_measured_first(tmp_path):
    run_experiments(["P.Table3", "P.Table4"], tmp_path / "r.sqlite", RunSetting("small", seeds=(0, 1)), progress=False)
    with ExperimentStore(tmp_path / "r.sqlite") as store:
        assert [seed for (seed,) in store.select("SELECT seed FROM trial ORDER BY rowid")] == [0] * 4 + [1] * 4


def test_a_trial_that_fails_is_told_and_not_recorded(tmp_path, capsys):
    file = tmp_path / "broken.py"
    file.write_text(OWN.replace('fa.mechanism("mmf").cvxpy(instance)', "1 / 0").replace("my-rule", "broken"))
    words = ["simulate", "P.Table4", "--small", "--mechanisms", "tsf", str(file), "--records", str(tmp_path / "r.sqlite")]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert "failed: P.Table4 broken seed 0:" in text
    assert "user 3 on C" in text


def test_a_curve_that_is_drawn_has_few_points_and_its_ends():
    right, up = thinned(np.arange(1000), 2 * np.arange(1000), 30)
    assert (len(right), right[0], right[-1], up[-1]) == (30, 0, 999, 1998)
    assert thinned(np.arange(3), np.arange(3), 30)[0] == [0, 1, 2]


@pytest.mark.parametrize("hours", [0.01, 0.25])
def test_use_is_measured_to_the_end_of_a_part_of_an_interval(hours):
    """0.01 hours had no interval and failed, and of 0.25 hours the last five minutes were not drawn."""
    item = EXPERIMENTS["W.Fig6"]
    settings = {**item.sizes["small"].variants["all jobs"], "hours": hours}
    outcome = trial(item, "first-fit-drfh", 0, "generated", settings)
    assert outcome.curves["CPU"][0][-1] == pytest.approx(hours)


@pytest.mark.deep
def test_settings_of_a_size_have_other_values_and_no_trial_is_begun_after_the_time_limit(tmp_path):
    given = RunSetting("small", workload="generated", settings={"users": 12})
    (found,) = run_experiments(["K.Fig7"], tmp_path / "r.sqlite", given, progress=False)
    assert found.command == "fairalloc simulate K.Fig7 --small --workload generated --set users=12"
    assert "size small, users=12" in report.numbers_table(found).notes[0]
    late = replace(given, settings={"users": 13}, time_limit=1e-9)
    (none,) = run_experiments(["K.Fig7"], tmp_path / "r.sqlite", late, progress=False)
    assert (none.labels, len(rows(tmp_path / "r.sqlite"))) == ([], 3)
    assert "No trial is on record." in report.report_markdown([none])


def test_the_command_has_the_seeds_of_the_run():
    (item,) = find_experiments(["P.Table3"])
    one = Outcomes(item, "full", "", {}, (3, 5), settings={"hours": 6})
    assert one.command == "fairalloc simulate P.Table3 --seeds 3 5 --set hours=6"
    assert replace(one, seeds=(3, 4, 5), settings={}).command == "fairalloc simulate P.Table3 --seeds 3-5"
    other = replace(one, seeds=(3,), settings={}, competitors=["nb", "alpha-pf-vds alpha=3"])
    assert other.command == "fairalloc simulate P.Table3 --mechanisms nb 'alpha-pf-vds alpha=3' --seeds 3"
    assert replace(one, seeds=item.sizes["full"].seeds, settings={}).command == "fairalloc simulate P.Table3"


def test_a_small_size_says_what_one_seed_lacks_where_it_has_one_and_none_counts_who_was_left_out():
    (item,) = find_experiments(["P.Fig6"])
    results = {seed: TrialResult({"x": 1.0}) for seed in (0, 1)}
    part = Measured({"ps-dsf": {0: results[0]}, "tsf": {}})
    (note, lacks) = report.numbers_table(Outcomes(item, "small", "", {"": part}, (0,))).notes
    assert (note, lacks) == ("one seed; size small", "one seed decides nothing")
    (note,) = report.numbers_table(Outcomes(item, "small", "", {"": part}, (0,), settings={"hours": 24})).notes
    assert note == "one seed; size small, hours=24", "what the size lacks may be there with other settings"
    part = Measured({"ps-dsf": results, "tsf": {}})
    (note,) = report.numbers_table(Outcomes(item, "small", "", {"": part}, (0, 1))).notes
    assert note == "mean ± standard deviation over 2 of 2 seeds; size small"


def test_settings_that_are_none():
    with pytest.raises(InstanceError, match="size is 'tiny', but it must be one of 'small', 'full'"):
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
    assert document["command"] == f"fairalloc simulate P.Table4 --small --mechanisms {file}:Mine"
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
        (["K.Fig7", "--set", "share=0.5"], "there is no setting of K.Fig7 'share'"),
        (["W.Fig9", "--set", "hours=abc"], "the setting hours of W.Fig9 is 'abc', but it must be a number"),
        (["K.Fig9", "--set", "whole_users=1"], "the setting whole_users of K.Fig9 is 1, but it must be True or False"),
        (["K.Fig9", "--set", "load=[1]"], "the setting load of K.Fig9 is [1], but it must be (a number, a number)"),
        (["K.Fig7", "--set", "users"], "--set is 'users', but it must be name=value"),
        (["K.Fig7", "--set", "users=3", "users=4"], "--set users is given twice"),
        (["P.Table4", "--mechanisms", "tsf x=1 x=2"], "a parameter of tsf x is given twice"),
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
        ("--figures text", "cannot be written"),
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
    grid = report.numbers_table(Outcomes(replace(item, printed={}), "full", "", {"": Measured({"one": results})}, (0, 1, 2, 3)))
    assert [list(row) for row in grid.rows] == [["a", "2±1"], ["b", "2"]]
    assert grid.notes == ["mean ± standard deviation over 3 of 4 seeds; size full"]
    both = Measured({"one": results, "two": {0: TrialResult({"a": 0.0})}})
    assert both.gaps("one", "two", "a").tolist() == [1.0], "of the seeds of both"


def test_numbers_of_several_variants_stand_side_by_side_with_what_is_printed():
    found = {
        name: Measured(
            {label: {0: TrialResult({"CPU": cpu, "users": 7}, {}, {"CPU": 12})} for label, cpu in (("a", 0.5), ("b", 1))}
        )
        for name in ("low", "high")
    }
    item = replace(EXPERIMENTS["P.Table3"], printed={"a": {"CPU": 0.4}})
    grid = report.numbers_table(Outcomes(item, "full", "", found, (0,)))
    assert list(grid.columns) == ["", "low", "high", "printed"]
    assert [list(row) for row in grid.rows] == [
        ["a: CPU", "0.5, n=12", "0.5, n=12", "0.4"],
        ["b: CPU", "1, n=12", "1, n=12", ""],
        ["users", "7", "7", ""],
    ]


def test_a_number_that_one_competitor_has_on_every_variant_is_one_row():
    numbers = {"high": {"a": 2.0}, "low": {"a": 1.0, "b": 1.0}}
    found = {
        variant: Measured({label: {0: TrialResult({"users": value})} for label, value in by_label.items()})
        for variant, by_label in numbers.items()
    }
    item = EXPERIMENTS["K.Fig9"]
    assert report.numbers_table(Outcomes(item, "full", "", found, (0,))).rows == [("users", "2", "1")]
    found["high"] = Measured({**found["high"].by_label, "b": {0: TrialResult({"users": 3.0})}})
    rows = report.numbers_table(Outcomes(item, "full", "", found, (0,))).rows
    assert rows == [("a: users", "2", "1"), ("b: users", "3", "1")]


def test_a_curve_without_points_is_not_drawn():
    """No job may have been completed by both: then W.Fig7 has no curve of completion times."""
    found = {"one": {0: TrialResult({}, {"times": ([], [])}), 1: TrialResult({})}}
    found["two"] = {0: TrialResult({}, {"times": ([1], [1])})}
    assert Measured(found).curves("one", "times") == []
    (panel,) = figure(curves("times", "", ("right", "up")))(Measured(found), "")
    assert panel.names == ("two",)


def test_a_curve_is_the_mean_over_seeds_with_a_band():
    ends = {seed: TrialResult({}, {"use": ([0.0, 1.0], [0.0, float(seed)])}) for seed in range(3)}
    (panel,) = figure(curves("use", "", ("right", "up")))(Measured({"one": ends}), "")
    ax = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    panel.draw(ax)
    assert ax.lines[0].get_ydata().tolist() == [0.0, 1.0]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 2.0


def test_every_user_is_a_bubble_and_one_printed_number_a_line():
    pytest.importorskip("matplotlib")
    found = Measured({"best": {0: TrialResult({"a": 1.0}, {"users": ([0.1, 0.2], [0.3, 0.4], [1, 1000])})}})
    bubble, bar = figure(bubbles("users", "best", "", ("x", "y")), bars(["a"], "", "up", printed={"best": {"a": 2.0}}))(found, "")
    shapes = []
    for panel in (bubble, bar):
        ax = style.new_figure(4, 3).add_subplot()
        panel.draw(ax)
        shapes.append(ax)
    (circles,) = shapes[0].collections
    assert circles.get_offsets().tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert circles.get_sizes()[1] > circles.get_sizes()[0]
    assert [2.0, 2.0] in [segment[:, 1].tolist() for lines in shapes[1].collections for segment in lines.get_segments()]


# ---- kept verdicts, and statements that rest on them -------------------------------------------------------------------


def test_verdicts_are_kept_beside_those_of_others(tmp_path, smallest):
    file = tmp_path / "verdicts.json"
    keep_verdicts([smallest("P.Table3")], file)
    first = file.read_text()
    keep_verdicts([smallest("P.Table4")], file)
    keep_verdicts([smallest("P.Table3")], file)
    kept = kept_verdicts(file)
    assert {name: one.word for name, one in kept.items()} == {"P.Table3": "confirmed", "P.Table4": "contradicted"}
    assert kept["P.Table4"].command == "fairalloc simulate P.Table4 --small"
    assert json.loads(first)["P.Table3"] == json.loads(file.read_text())["P.Table3"]
    assert kept_verdicts(tmp_path / "none.json") == {}
    file.write_text('{"P.Table3": {"word": "confirmed"}}')
    kept_verdicts.cache_clear()
    with pytest.raises(InstanceError, match="holds no verdicts of experiments"):
        kept_verdicts(file)


CLAIMS = {claim_id(item, claim) for item in EXPERIMENTS.values() for claim in item.claims}


def test_what_is_kept_is_of_full_runs_and_of_claims_that_there_are():
    kept = kept_verdicts()
    assert set(kept) <= CLAIMS
    assert {one.size.partition(",")[0] for one in kept.values()} <= {"full"}
    assert {one.word for one in kept.values()} <= set(WORDS)


def test_a_statement_rests_on_the_kept_verdict_of_its_experiment(monkeypatch):
    made = KeptVerdict("confirmed", "it is so", "full", "generated", 3, "2026-11-22", "fairalloc simulate K.Fig9")
    words = {"K.Fig9": made, "K.Fig10": replace(made, word="contradicted"), "K.Fig11": replace(made, word="undecided")}
    monkeypatch.setattr("fairalloc.simulation.experiments.verdicts.kept_verdicts", lambda: words)
    statements = all_statements()
    found = {name: investigate(statements[f"K.6.2.{name}"]) for name in ("Fig9", "Fig10", "Fig11", "Fig7")}
    assert [one.status for one in found.values()] == ["not refuted", Status.IN_FLOATS, "not decided", "not decided"]
    assert found["Fig9"].sentence.startswith("experiment K.Fig9 (fairalloc simulate K.Fig9; 3 seeds, 2026-11-22): confirmed")
    assert "no run of the experiment K.Fig7 is kept" in found["Fig7"].sentence


def test_every_statement_that_rests_on_an_experiment_names_a_claim():
    measured_claims = {name: item.experiment for name, item in all_statements().items() if item.experiment}
    assert len(measured_claims) == 20
    assert all(name.startswith(("W.S6.", "K.6.")) for name in measured_claims)
    assert set(measured_claims.values()) <= CLAIMS


def test_what_was_not_run_shows_what_is_kept_of_an_earlier_run(monkeypatch):
    made = KeptVerdict("undecided", "it may be so", "full", "google2011", 3, "2026-11-22", "fairalloc simulate K.Fig9")
    monkeypatch.setattr(report, "kept_verdicts", lambda: {"K.Fig9": made})
    item = EXPERIMENTS["K.Fig9"]
    text = report.report_markdown([Outcomes(item, "full", "", {"": compared(item, item.competitors, {})}, (0,))])
    assert "| K.Fig9 | undecided, earlier run |" in text
    assert "| K.Fig9 | undecided | it may be so (fairalloc simulate K.Fig9; 3 seeds, 2026-11-22) |" in text


def empty(name):
    """No trial is on record."""
    item = EXPERIMENTS[name]
    return Outcomes(item, "full", "", {variant: compared(item, item.competitors, {}) for variant in item.sizes["full"].variants})


def test_the_page_of_the_experiments_has_the_texts_of_the_report():
    page = (Path(__file__).parents[2] / "docs" / "EXPERIMENTS.md").read_text(encoding="utf-8")
    found = report.report_markdown([empty(name) for name in EXPERIMENTS])
    made, there = (re.split("\n\n+", text.strip()) for text in (found, page))
    assert len(made) > 100
    assert [part for part in made if part not in there and not part.startswith(("|", "`", "No trial"))] == []


def test_every_outcome_on_the_page_has_its_reason():
    page = (Path(__file__).parents[2] / "docs" / "EXPERIMENTS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (?:confirmed|contradicted|undecided|cannot be compared) \|(.*)\|$", page, re.MULTILINE)
    assert len(rows) > 60
    assert [name for name, reason in rows if not reason.strip()] == []


def test_what_experiments_share_is_said_once():
    item = EXPERIMENTS["K.Fig9"]
    text = report.report_markdown([empty("K.Fig9"), empty("K.Fig10"), empty("P.Table3")])
    assert text.count(item.common) == 1
    assert f"Here: {item.common}. {item.setting}.\n" in text
    assert f"Here: as in K.Fig9. {EXPERIMENTS['K.Fig10'].setting}.\n" in text


def test_variants_with_the_same_outcome_are_one_row(smallest):
    text = report.report_markdown([smallest("W.Fig8")])
    assert "| - all jobs; load .8 | cannot be compared | 1 of the 5 seeds that are needed |" in text


def test_the_experiments_are_written_as_markdown(smallest):
    text = report.report_markdown([smallest("P.Table3"), smallest("P.Table4")])
    assert text.startswith("# fairalloc: experiments\n"), "one's own, too"
    assert "| P.Table4 | contradicted |" in text
    assert all(paragraph.split(":")[0] in text for paragraph in RULE)
    assert "fairalloc simulate P.Table3 --small" in text
    assert "<svg" not in text


# ---- what is declared ------------------------------------------------------------------------------------------------


SAID = [
    ("K.Fig9", "full", "hours", 1.0, "over an hour"),
    ("K.Fig9", "full", "share", 0.02, "2 % of the users"),
    ("K.Fig9", "full", "load", (1.0, 3.0), "1 to 3 times the CPU"),
    ("K.Fig13", "full", "hours", 24.0, "over 24 hours"),
    ("K.Fig13", "full", "share", 0.02, "2 % of the jobs"),
    ("K.Fig8", "small", "share", 0.05, "5 % of the jobs"),
    ("K.Fig8", "full", "share", 1.0, "all jobs of the first day"),
    ("W.Fig6", "small", "hours", 1.0, "1 hour"),
    ("W.Fig6", "small", "share", 0.02, "2 % of the jobs"),
    ("W.Fig6", "full", "hours", 24.0, "24 hours of the trace"),
    ("K.Fig6", "full", "epsilon", 0.1, "one epsilon"),
    ("K.Fig6", "small", "epsilon", 0.1, "one epsilon"),
]


@pytest.mark.parametrize(("name", "size", "setting", "value", "words"), SAID)
def test_a_size_has_the_settings_that_its_texts_say(name, size, setting, value, words):
    item = EXPERIMENTS[name]
    assert item.sizes[size].settings[setting] == value
    assert words in " ".join((item.title, item.setting, item.common, item.sizes[size].lacks))


def test_small_sizes_take_less_of_everything_and_variants_have_the_loads_that_are_said():
    for item in EXPERIMENTS.values():
        small, full = (item.sizes[size].settings for size in ("small", "full"))
        assert all(small[name] <= (full[name] or np.inf) for name in ("hours", "share", "users", "machines") if name in small)
        assert all(small[name] >= full[name] for name in ("mean",) if name in small), item.id
    loads = [given["load"] for given in EXPERIMENTS["W.Fig6"].sizes["full"].variants.values()]
    assert loads == [None, 0.5, 0.8, 1.1, 0.8]
    assert EXPERIMENTS["W.Fig6"].sizes["small"].variants["load .8"]["load"] == 0.8
    low, high = EXPERIMENTS["K.Fig13"].sizes["full"].settings["load"]
    assert (low, high > 10) == (0, True), "no load is left out"
    assert EXPERIMENTS["W.Fig5"].sizes["full"].settings["mean"] < 20


@pytest.mark.parametrize("name", ["K.Fig8", "W.Fig5", "W.Fig8", "W.Fig9"])
def test_printed_parts_are_those_of_the_claims(name):
    text = " ".join(claim.text for claim in EXPERIMENTS[name].claims)
    printed = [value for of in EXPERIMENTS[name].printed.values() for value in of.values()]
    assert printed
    assert [value for value in printed if f"{100 * value:.0f} %" not in text] == []


def test_printed_utilisations_are_parts_and_14_slots_have_the_best():
    printed = EXPERIMENTS["W.Table2"].printed
    assert all(0.2 <= value["memory"] < value["CPU"] < 0.5 for value in printed.values())
    assert max(printed, key=lambda label: sum(printed[label].values())) == "slots per_maximum=14"


def drawn_on(panel):
    """The axes of a panel that is drawn alone."""
    ax = style.new_figure(4, 3).add_subplot()
    panel.draw(ax)
    return ax


def test_marks_of_competitors_stand_side_by_side_with_their_least_and_largest():
    pytest.importorskip("matplotlib")
    values = {"one": (1.0, 2.0, 6.0), "two": (4.0, 5.0, 6.0), "three": (2.0, 2.0, 2.0)}
    found = {label: {s: TrialResult({"a": v, "b": 10 * v}) for s, v in enumerate(of)} for label, of in values.items()}
    (panel,) = figure(bars(["a", "b"], "", "up", ("A", "B"), {"": {"a": 2.5}, "two": {"b": 7.0}}))(Measured(found), "")
    ax = drawn_on(panel)
    marks = dict(zip(values, (line.get_xydata() for line in ax.lines), strict=True))
    across = [marks[label][:, 0] for label in values]
    assert across[1] == pytest.approx([0, 1])
    assert (across[0] < across[1]).all()
    assert (across[0] + across[2]) / 2 == pytest.approx(across[1])
    assert marks["one"][:, 1] == pytest.approx([3, 30])
    lines = [segment for of in ax.collections for segment in of.get_segments()]
    spans = {(round(s[0][0], 6), s[0][1], s[1][1]) for s in lines if s[0][0] == s[1][0]}
    assert (round(across[0][0], 6), 1, 6) in spans
    assert (round(across[1][1], 6), 40, 60) in spans
    flat = [(s[:, 0].mean(), s[0][1]) for s in lines if s[0][0] < s[1][0]]
    assert np.array(sorted(flat)) == pytest.approx(np.array(sorted([*((x[0], 2.5) for x in across), (across[1][1], 7.0)])))
    width = across[1][0] - across[0][0]
    assert {round(s[1][0] - s[0][0], 6) for s in lines if s[0][0] < s[1][0]} == {round(width, 6)}
    assert 3 * width < 1
    assert ax.get_xlim()[0] < across[0][0] - width / 2
    assert ax.get_xlim()[1] > across[2][1] + width / 2


def test_a_curve_on_a_logarithmic_scale_is_the_geometric_mean_over_the_union_of_instants():
    pytest.importorskip("matplotlib")
    one, two = ([1.0, 3.0], [1.0, 100.0]), ([2.0, 3.0], [4.0, 1.0])
    found = Measured({"a": {0: TrialResult({}, {"c": one}), 1: TrialResult({}, {"c": two})}})
    (panel,) = figure(curves("c", "", ("x", "y"), ("linear", "log"), [(1.0, 2.0, 7.0)]))(found, "")
    ax = drawn_on(panel)
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert ax.lines[0].get_ydata() == pytest.approx([2, (50.5 * 4) ** 0.5, 10])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (1, 100)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("x", "y", "log")
    long = {s: TrialResult({}, {"c": (np.geomspace(1, 1e4, 150) + s, np.arange(1.0, 151.0))}) for s in range(2)}
    (panel,) = figure(curves("c", "", ("x", "y"), ("log", "log")))(Measured({"a": long}), "")
    across = drawn_on(panel).lines[0].get_xdata()
    assert len(across) == 200
    assert np.diff(np.log(across)) == pytest.approx(np.log(across[-1] / across[0]) / 199)


def test_the_radius_of_a_bubble_grows_with_the_logarithm_of_its_tasks_and_it_lies_inside():
    pytest.importorskip("matplotlib")
    columns = ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0], [0, 1, 1000])
    found = Measured({"best": {0: TrialResult({}, {"users": columns}), 1: TrialResult({}, {"users": ([0.2], [0.2], [9])})}})
    (panel,) = figure(bubbles("users", "best", "", ("x", "y")))(found, "")
    ax = drawn_on(panel)
    (circles,) = ax.collections
    sizes = circles.get_sizes()
    assert (sizes[0], (sizes[2] / sizes[1]) ** 0.5) == (sizes[1], pytest.approx(1 + 3))
    assert all("its radius grows" in EXPERIMENTS[name].caption for name in ("W.Fig8", "W.Fig9"))
    assert all(low < 0 < 1 < high for low, high in (ax.get_xlim(), ax.get_ylim()))
    assert (composed([], [panel] * 5).get_size_inches() == (12, 8)).all(), "five stood below one another: 20 inches"
    assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]


def test_tables_have_numbers_to_the_right_and_captions_end():
    item = EXPERIMENTS["W.Fig9"]
    found = {label: {s: TrialResult({"x": 1 + 1e-12 * s, "y": 1.0 + s / 100}) for s in range(2)} for label in item.competitors}
    one = Outcomes(item, "full", "generated", {"a": Measured(found), "b": Measured(found)}, (0, 1))
    grid = report.numbers_table(one)
    assert [*grid.right] == [*range(1, len(grid.columns))]
    assert grid.rows[0] == ("x", "1", "1", "")
    assert grid.rows[1][1] == "1.005±0.0071"
    for deviation, told in ((0.2, "0.45±0.2"), (0.0004, "0.4533±0.0004"), (2.0, "0.45±2"), (0.0, "0.4533")):
        seeds = {s: TrialResult({"x": 0.45333 + sign * deviation}) for s, sign in enumerate((-1.0, 0.0, 1.0))}
        assert report._cell(Measured({"a": seeds}), "a", "x") == told
    text = report.report_markdown([one], "figures")
    assert f"Figure: {one.panels[0].title}; {one.panels[1].title}. {item.caption}." in text.replace("(a) ", "").replace(
        "(b) ", ""
    )
    assert report.document([one])[0]["trials"][1]["numbers"]["y"] == 1.01
    assert report.document([one])[0]["claims"]["W.Fig9.fewer"]["outcome"] == "cannot be compared"
    assert report.report_text([one]).count("Outcomes") == 0
    assert report.report_text([one, one]).count("Outcomes") == 1
