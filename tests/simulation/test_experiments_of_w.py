"""The experiments of W: smaller tasks come closer to exact DRFH, and verdicts that follow what was measured."""

import json

import numpy as np
import pytest

from fairalloc.cli import main
from fairalloc.simulation.experiments import Outcomes, Trial, TrialResult, all_experiments
from fairalloc.simulation.experiments.papers.w_joining import POOL, hundred_servers
from fairalloc.simulation.schedulers import BestFitDRFH, FirstFitDRFH

EXPERIMENTS = all_experiments()


def outcomes(name, numbers, curves=None):
    """Made-up trials of one seed: {label: {number: value}}."""
    found = {label: {0: TrialResult(values, (curves or {}).get(label, {}))} for label, values in numbers.items()}
    return Outcomes(EXPERIMENTS[name], "small", "", found)


def test_best_fit_approaches_the_exact_shares_as_tasks_get_smaller_and_first_fit_does_not():
    item = EXPERIMENTS["W.Granularity"]
    settings = {"users": 4, "machines": 50, "halvings": 4}
    best, first = (
        item.measure(Trial(kind.id, kind(), 2, "", settings)).curves["distance"] for kind in (BestFitDRFH, FirstFitDRFH)
    )
    assert best[0] == [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]
    assert best[1][-1] < min(0.02, best[1][0] / 5)
    assert first[1][-1] > 2 * best[1][-1]


def test_the_servers_have_the_printed_totals():
    for seed in range(2):
        cluster = hundred_servers(seed)
        assert cluster.counts.sum() == 100
        assert np.abs(cluster.totals - POOL).max() < 0.13
        assert cluster.totals[0] == pytest.approx(POOL[0])


ALONE = {"user 1 alone, CPU": 0.4, "user 1 alone, memory": 0.62, "user 1 alone, DRFH of divisible tasks": 1.0}
DISTANCES = {"largest distance at 1/1": 0.2, "largest distance at 1/8": 0.01}
UTILISATION = {
    "slots": {"CPU": 0.4, "memory": 0.3},
    "first-fit-drfh": {"CPU": 0.8, "memory": 0.5},
    "best-fit-drfh": {"CPU": 0.9, "memory": 0.6},
}
OVER_TIME = {label: {name: ([1], [value]) for name, value in means.items()} for label, means in UTILISATION.items()}
SLOTS = {
    f"slots per_maximum={k}{more}": {"CPU": 0.5 if k == 14 else 0.4, "memory": 0.3}
    for k in (10, 12, 14, 16, 20)
    for more in ("", " one_each=true")
}
REDUCTIONS = {"reduction, jobs of 1-50 tasks": 0.0, "reduction, jobs of over 1000 tasks": 0.6}
RATIOS = {"mean completion ratio": 0.9, "more": 0.6, "less": 0.05, "only": 0.2}
CLOUDS = {"fewer": 0.02, "more": 0.5, "largest loss of a ratio": 0.1}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("W.Fig5", {"best-fit-drfh": ALONE}, {"best-fit-drfh": ALONE | {"user 1 alone, memory": 0.7}}),
        ("W.Granularity", {"best-fit-drfh": DISTANCES}, {"best-fit-drfh": DISTANCES | {"largest distance at 1/8": 0.1}}),
        ("W.Table2", SLOTS, SLOTS | {f"slots per_maximum=16{m}": {"CPU": 0.9, "memory": 0.9} for m in ("", " one_each=true")}),
        ("W.Fig6", UTILISATION, UTILISATION | {"slots": {"CPU": 0.85, "memory": 0.2}}),
        ("W.Fig7", {"slots": {}, "best-fit-drfh": REDUCTIONS}, {"slots": {}, "best-fit-drfh": dict.fromkeys(REDUCTIONS, 0.05)}),
        ("W.Fig8", {"best-fit-drfh": RATIOS}, {"best-fit-drfh": RATIOS | {"less": 0.4}}),
        ("W.Fig9", {"best-fit-drfh": CLOUDS}, {"best-fit-drfh": CLOUDS | {"fewer": 0.2}}),
    ],
)
def test_a_verdict_follows_what_was_measured(name, good, bad):
    assert outcomes(name, good, OVER_TIME).judged.word == "confirmed"
    assert outcomes(name, bad, OVER_TIME).judged.word == "not confirmed"
    other = outcomes(name, {"mine": ALONE})
    assert other.judged.word == "cannot be compared"


def test_best_fit_below_first_fit_at_some_time_is_not_uniformly_more():
    lower = OVER_TIME | {"best-fit-drfh": {"CPU": ([1], [0.7]), "memory": ([1], [0.6])}}
    judged = outcomes("W.Fig6", UTILISATION, lower).judged
    assert judged.word == "not confirmed"
    assert "not uniformly above" in judged.because


OWN = """\
from fairalloc.simulation import Scheduler


class LastFit(Scheduler):
    id = "last-fit"

    def server(self, state, job):
        there = state.with_room(job).nonzero()[0]
        return there[-1] if len(there) else -1
"""


@pytest.mark.deep
def test_an_own_scheduler_enters_an_experiment_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    words = ["simulate", "W.Granularity", "--small", "--records", str(tmp_path / "r.sqlite"), "--mechanisms", str(file)]
    assert main([*words, "--format", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert [trial["competitor"] for trial in document["trials"]] == [*EXPERIMENTS["W.Granularity"].competitors, "last-fit"]
    assert all(0 <= value < 1 for value in document["trials"][-1]["numbers"].values())
