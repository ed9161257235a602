"""Two record files compared: pairs, ratios, gains and losses, and what is wrong with files in one sentence."""

import json
import math

import pytest

from fairalloc.benchmarks import compare
from fairalloc.benchmarks.metrics import PENALTY, SHIFT
from fairalloc.benchmarks.records import BenchmarkStore, Record
from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.cli import main
from fairalloc.models import InstanceError

DETAILS = {"machine": {"cpu": "C", "system": "S"}, "fairalloc": "1", "python": "3", "packages": {"numpy": "2"}, "setting": {}}
DETAILS |= {"place": "nosuch", "cases": {}}


def row(seconds, case="a", method="m", busy=1.0, **changes):
    """A row for each processor time, a success on a machine so busy; None fails."""
    asked = {"suite": "s", "case": case, "fingerprint": f"f{case}", "mechanism": "drfh", "method": method, "accuracy": "mid"}
    limits = {"code": "c", "time_limit": 10.0, "memory_mb": 100, "jobs": 1, "threads": 1, "machine": "e"}
    outcome = {"started": "2026", "tolerance": 1e-6, "termination": "optimal", "feasibility": 0.0, "definition": 0.0}
    return [
        Record(**asked | limits | outcome | changes, repeat=k, cpu=cpu or 0.0, wall=busy * (cpu or 0.0), claims=cpu is not None)
        for k, cpu in enumerate(seconds)
    ]


def file(path, *rows, **details):
    path.parent.mkdir(exist_ok=True)
    with BenchmarkStore(path) as store:
        records = [record for some in rows for record in some]
        for record in records:
            store.add(record)
        store.add_run("2026", "s", DETAILS | details, [record.key for record in records])
    return path


def compared(tmp_path, before, now, **options):
    return compare(file(tmp_path / "a", *before), file(tmp_path / "b", *now), **options)


STEADY = [0.100, 0.101, 0.099]


CASES = "abcdefgh"


def everywhere(seconds, cases=CASES, **changes):
    """The same processor times on several cases."""
    return [row(seconds, case, **changes) for case in cases]


def test_a_ratio_by_hand(tmp_path):
    before, now = row([0.09]), row([0.19], code="another", machine="other", suite="renamed", case="a")
    found = compared(tmp_path, [before], [now])
    (change,) = found.by_case
    assert change.ratio == pytest.approx((0.19 + SHIFT) / (0.09 + SHIFT)) == pytest.approx(2.0)
    assert (change.low, change.high, change.chance, change.verdict) == (None, None, 1.0, ""), "one case tells nothing"
    assert not found.regressed
    assert found.unpaired == (0, 0)


@pytest.mark.parametrize(
    ("now", "verdict"),
    [
        ([0.2, 0.201, 0.199], "loss"),
        ([0.05, 0.051, 0.049], "gain"),
        ([0.11, 0.111, 0.109], ""),  # below the threshold
        ([None, None, 0.1], "loss"),
    ],
)
def test_a_change_counts_beyond_the_threshold_on_enough_cases(tmp_path, now, verdict):
    (change,) = compared(tmp_path, everywhere(STEADY), everywhere(now)).by_method
    assert change.verdict == verdict
    assert change.low <= change.high
    assert change.high > 1 if verdict == "loss" else change.low < 1.2
    few = compared(tmp_path / "few", everywhere(STEADY, "abcde"), everywhere(now, "abcde"))
    assert few.by_method[0].low is None
    assert few.by_method[0].verdict == ("loss" if None in now else "")


def test_one_more_solved_case_does_not_hide_that_the_others_take_longer(tmp_path):
    cases = [chr(ord("a") + k) for k in range(20)]
    before = [*everywhere([0.1], cases[1:]), row([None], "a")]
    found = compared(tmp_path, before, everywhere([10.0], cases, time_limit=100.0))
    (change,) = found.by_method
    assert (change.solved_before, change.solved_now, change.verdict) == (19, 20, "loss")
    assert change.ratio > 1.2
    assert found.regressed


def test_a_change_on_half_of_the_cases_is_chance(tmp_path):
    mixed = [row([0.3] if k % 2 else [0.08], case) for k, case in enumerate(CASES)]
    (change,) = compared(tmp_path, everywhere([0.1]), mixed).by_method
    assert change.ratio > 1.2
    assert (change.verdict, change.chance > 0.05) == ("", True)


def test_many_methods_are_corrected_together(tmp_path):
    """8 cases of one sign have a chance of 2 / 2^8, and the least of 6 or 7 methods counts 6 or 7 times."""
    for count, verdict in ((6, "loss"), (7, "")):
        names = [f"m{k}" for k in range(count)]
        before = [one for name in names for one in everywhere([0.1], method=name)]
        now = [one for name in names for one in everywhere([0.2] if name == "m0" else [0.1], method=name)]
        found = {change.method: change for change in compared(tmp_path / str(count), before, now).by_method}
        assert found["m0"].chance == pytest.approx(count * 2 / 2**8)
        assert found["m0"].verdict == verdict
        assert found["m1"].chance == 1.0


def test_where_no_test_could_find_a_loss_the_comparison_says_so(tmp_path):
    """All 6 signs are alike with a chance of 1/32, which is above 5 % for the better of two methods."""
    few, enough = ([*everywhere([0.1], own), *everywhere([0.1], own, method="n")] for own in ("abcdef", "abcdefg"))
    slow = [[*everywhere([0.2], own), *everywhere([0.1], own, method="n")] for own in ("abcdef", "abcdefg")]
    missed, found = compared(tmp_path / "few", few, slow[0]), compared(tmp_path / "enough", enough, slow[1])
    assert (missed.regressed, found.regressed) == (False, True)
    told = "With 2 methods a loss of one alone is found on 7 cases or more."
    assert [told in notes for notes in (missed.notes, found.notes)] == [True, False]


def test_a_busy_machine_is_no_loss_and_is_said(tmp_path, capsys):
    """The same code: 14.68 and 14.73 ms of the processor, 14.7 and 33 ms on the clock."""
    before, now = everywhere([0.01468] * 3, busy=14.7 / 14.68), everywhere([0.01473] * 3, busy=33 / 14.73)
    found = compared(tmp_path, before, now)
    assert not found.regressed
    assert found.by_method[0].ratio == pytest.approx(1.0, abs=0.01)
    says = "the machine was busy, or methods waited: wall time is 2.2 times processor time in the median"
    assert found.busy == ("", says)
    assert main(["bench", "compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert f"B: {says}" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_was_stopped_is_said_to_be_unfinished(tmp_path):
    path = file(tmp_path / "a", row([0.1]))
    with BenchmarkStore(path) as store:
        store.add_run("2026", "s", DETAILS, [*store.keys(), "lost", "gone"])
    found = compare(file(tmp_path / "b", row([0.1])), path)
    assert found.notes[2] == "B: the run is not finished: 2 of its 3 rows are missing"
    assert found.to_dict()["busy"] == ["", "the run is not finished: 2 of its 3 rows are missing"]


def test_where_a_machine_was_too_busy_nothing_is_compared(tmp_path, capsys):
    a, b = (file(tmp_path / name, *everywhere(STEADY, busy=busy)) for name, busy in (("a", 1.0), ("b", 3.1)))
    for files in ((a, b), (b, a)):
        assert main(["bench", "compare", *map(str, files)]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert "run 1 of" in said
        assert "methods waited: wall time is 3.1 times processor time in the median, but nothing is compared from 3 on" in said


def test_a_failure_costs_a_multiple_of_the_limit_and_both_failing_is_no_change(tmp_path):
    change, same = compared(tmp_path, [row([0.1]), row([None], "b")], [row([None]), row([None], "b")]).by_case
    assert change.now == pytest.approx(PENALTY * 10.0)
    assert (change.solved_before, change.solved_now, change.verdict) == (1, 0, "loss")
    assert (same.ratio, same.verdict) == (1.0, "")


def test_a_shorter_limit_and_what_was_not_asked_are_no_loss(tmp_path):
    long = [row([40.0], "a", time_limit=60.0), row([0.1], "b", time_limit=60.0), row([0.1], "c", time_limit=60.0)]
    short = [row([None], "a"), row([0.1], "b"), row([None], "c", termination="skipped")]
    found = compared(tmp_path, long, short)
    assert [(c.case, c.solved_before, c.verdict) for c in found.by_case] == [("a", 0, ""), ("b", 1, "")]
    assert (found.regressed, found.unpaired) == (False, (1, 0))
    back = compared(tmp_path / "back", short, long)
    assert [c.verdict for c in (*back.by_method, *back.by_case)] == [""] * 3, "a longer limit is no gain"


def test_solved_means_that_the_median_repeat_is_a_success(tmp_path):
    """Several threads may take more processor time than a failure costs, and of two repeats one may fail."""
    (change,) = compared(tmp_path, [row([40.0, 40.0])], [row([0.1, None])]).by_case
    assert (change.solved_before, change.solved_now, change.verdict) == (1, 0, "loss")


def test_pairs_are_by_instance_mechanism_method_and_accuracy(tmp_path):
    before = [row(STEADY), row(STEADY, "b"), row(STEADY, "c", fingerprint="changed")]
    now = [row(STEADY, "renamed", fingerprint="fa"), row(STEADY, "b", accuracy="high"), row(STEADY, "c", method="other")]
    found = compared(tmp_path, before, now)
    assert [change.case for change in found.by_case] == ["renamed"]
    assert found.unpaired == (2, 2)
    assert not found.regressed


def test_a_method_is_compared_over_all_its_cases(tmp_path):
    before, now = ([row([cpu * k for k in (1, 1.01)], case) for case in "abcdef"] for cpu in (0.1, 0.13))
    (change,) = compared(tmp_path, before, now).by_method
    assert (change.cases, change.solved_before, change.solved_now) == (6, 6, 6)
    assert change.verdict == "loss"
    assert 1.2 < change.low < change.high < 1.35


def test_one_file_is_compared_with_its_run_before(tmp_path):
    file(tmp_path / "a", *everywhere(STEADY))
    file(tmp_path / "a", *everywhere([2 * cpu for cpu in STEADY], code="slower"))
    assert compare(tmp_path / "a", tmp_path / "a").regressed


def test_a_run_that_was_resumed_is_one_run(tmp_path):
    """The last two runs had been one, so nothing had ever changed."""
    a = file(tmp_path / "a", *everywhere(STEADY))
    file(a, *everywhere([2 * cpu for cpu in STEADY], code="slower"))
    with BenchmarkStore(a) as store:
        before, now = store.runs()
        store.add_run("2027", "s", DETAILS, now.keys[::-1])
    assert compare(a, a).regressed
    with BenchmarkStore(a) as store:
        store.add_run("2028", "s", DETAILS, before.keys)
    assert [run.number for run in compare(a, a).runs] == [3, 4]


def test_the_command_says_what_differs_and_exits_with_1_on_a_loss(tmp_path, capsys):
    a = file(tmp_path / "a", *everywhere(STEADY))
    b = file(tmp_path / "b", *everywhere([2 * cpu for cpu in STEADY]), python="4", packages={"numpy": "3"})
    assert main(["bench", "compare", str(a), str(b)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "different: numpy 2 and 3, python 3 and 4" in said
    assert main(["bench", "compare", str(b), str(a), "--format", "markdown"]) == 0
    said = capsys.readouterr().out
    assert "| gain |" in said
    assert said.count("| chance |") == 1, "of one case there is no interval and no test"
    assert main(["bench", "compare", str(a), str(b), "--threshold", "3", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["by_case"][0]["ratio"] > 1.9
    assert document["regressed"] is False


def test_what_cannot_be_compared_is_one_sentence(tmp_path):
    a = file(tmp_path / "a", row(STEADY))
    b = file(tmp_path / "b", row(STEADY, "b"))
    for files, options, says in [
        ((a, b), {}, "have no case, mechanism, method and accuracy in common"),
        ((a, tmp_path / "none"), {}, "there is no records file"),
        ((a, a), {}, "holds 1 run, but 2 are needed"),
        ((a, b), {"suite": "x"}, "holds 0 runs of the suite 'x', but 1 are needed"),
        ((a, b), {"threshold": 1.0}, "threshold is 1.0, but it must be a finite number above 1"),
        ((a, b), {"threshold": math.nan}, "threshold is nan, but it must be a finite number above 1"),
    ]:
        with pytest.raises(InstanceError, match=says):
            compare(*files, **options)
    assert not (tmp_path / "none").exists()


def test_two_cases_with_one_instance_and_mechanism_are_no_repeats_of_one_another(tmp_path):
    before = [row([0.1, 0.1, 0.1], "fast", fingerprint="f"), row([1.0, 1.0, 1.0], "slow", fingerprint="f")]
    now = [row([1.0, 1.0, 1.0], "slow", fingerprint="f"), row([0.2, 0.2, 0.2], "fast", fingerprint="f")]
    found = compared(tmp_path, before, now)
    ratios = {change.case: change.ratio for change in found.by_case}
    assert ratios == pytest.approx({"fast": (0.2 + SHIFT) / (0.1 + SHIFT), "slow": 1.0})


def test_a_page_that_cannot_be_written_is_told_before_the_first_solve_and_a_folder_hides_no_suite(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("layers", "r.html"):
        (tmp_path / name).mkdir()
    assert main(["bench", "run", "layers", "--records", "r.sqlite"]) == 2
    assert "'r.html' cannot be written" in capsys.readouterr().err
    assert not (tmp_path / "r.sqlite").exists()


@pytest.mark.parametrize(
    "details",
    [
        {"asked": 5},
        {"asked": {"methods": 5}},
        {"asked": {"cases": "x"}},
        {"cases": {"a": 5}},
        {"cases": {"a": {"family": 5}}},
        {"cases": {"a": {"printed": 5}}},
    ],
)
def test_parts_of_a_run_that_are_of_another_kind_are_one_sentence(tmp_path, details):
    path = file(tmp_path / "r.sqlite", row(STEADY), **details)
    with pytest.raises(BenchmarkError, match="is no record"):
        compare(path, path)
