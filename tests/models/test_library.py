"""The frozen library: every instance is made as it was, and small ones still have the answers that are told of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.benchmarks import freeze
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models import InstanceError, UnknownName
from fairalloc.models.examples import generators, traces
from fairalloc.models.examples.library import MANIFEST, Frozen
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.solvers.judge import right_tasks
from fairalloc.solvers.method import Limits

FROZEN = [fa.library(name) for name in fa.library()]
TRACES = [item for item in FROZEN if item.source != "example" and not hasattr(generators, item.source)]
SMALL = [(item.name, answer) for item in FROZEN if item not in TRACES and item.size[-1] <= 60 for answer in item.answers]


@pytest.mark.parametrize("name", [item.name for item in FROZEN if item not in TRACES])
def test_an_instance_is_what_was_frozen(name):
    item = fa.library(name)
    made = item.made()
    assert (made.name, fingerprint(made)) == (name, item.hash)
    assert item.size == (made.N, made.K, made.R, made.A)


def test_what_is_frozen_stays_and_another_instance_is_frozen_after_it(tmp_path, monkeypatch):
    before = json.loads(MANIFEST.read_text(encoding="utf-8"))[:2]
    file = tmp_path / "library.json"
    file.write_text(json.dumps(before))
    monkeypatch.setattr(freeze, "MANIFEST", file)
    monkeypatch.setattr(freeze, "EXAMPLES", ())
    monkeypatch.setattr(freeze, "MECHANISMS", {"tied": ["drfh"]})
    monkeypatch.setattr(freeze, "GENERAL", ())
    for _ in range(2):
        freeze.main(["tied", '{"n_users": 3, "n_servers": 2, "n_resources": 2, "seed": 1}'] * 2)
    *kept, new = json.loads(file.read_text(encoding="utf-8"))
    assert kept == before
    assert (new["name"], new["size"], new["hash"]) == ("tied-3x2x2-1", [3, 2, 2, 6], fingerprint(generators.tied(3, 2, 2, 1)))
    assert new["answers"]["drfh"]["residual"] <= RESIDUAL


@pytest.mark.parametrize("family", ["generic", "tied", "planted", "google_mix"])
def test_the_same_numbers_of_another_kind_make_the_same_instance(family):
    make = getattr(generators, family)
    one, same = make(4, 3, 2, seed=3), make(np.int64(4), np.int32(3), np.int64(2), seed=np.int64(3))
    assert (one.name, fingerprint(one)) == (same.name, fingerprint(same))
    assert fingerprint(generators.market(3, 2, density=1)) == fingerprint(generators.market(3, 2, density=np.float64(1)))


@pytest.mark.parametrize("part", [0.07, 0.14, 0.28, 0.55, 1])
def test_a_part_of_the_servers_is_rounded_up_from_its_decimal(part):
    """In floats 0.07 * 100 is 7.000000000000001, whose ceiling is 8."""
    for made in (generators.sparse(2, 100, 1, part=part), generators.market(2, 100, density=part)):
        assert np.bincount(made.arcs.user).tolist() == [round(100 * part)] * 2


@pytest.mark.parametrize("severity", [0, 1, 50, 100])
def test_degenerate_is_what_it_says(severity):
    made = generators.degenerate(2000, 2, 2, severity=severity)
    rows = np.concatenate(made.demands)
    by_first = rows[:, 1] / rows[:, 0] / (rows[0, 1] / rows[0, 0])
    assert np.unique(by_first.round(12), return_counts=True)[1].max() / 2000 == pytest.approx(severity / 200, abs=0.05)
    assert np.mean(np.abs(by_first - 1) < 1e-5) == pytest.approx(severity / 100, abs=0.05)
    assert np.ptp(np.log10(rows[:, 0])) <= np.ceil(severity / 20) + 1.1, "units, and numbers from 0.3 to 3.2"


@pytest.mark.parametrize("name", [item.name for item in TRACES])
def test_an_instance_of_a_trace_is_what_was_frozen_where_the_data_are(name):
    pytest.importorskip("pyarrow", reason="reading the samples needs pyarrow")
    if traces.data_dir() is None:
        pytest.skip("the real samples are not here: set FAIRALLOC_DATA to their folder")
    assert fingerprint(fa.library(name).made()) == fa.library(name).hash


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "asked"), SMALL)
def test_a_small_instance_has_the_answers_that_are_told(name, asked):
    item = fa.library(name)
    told = dict(item.answers[asked])
    proved = told.pop("residual")
    assert 0 <= proved <= RESIDUAL
    found = fa.solve(item.instance, asked, accuracy="high")
    values = {**mechanism(asked).values(found), "tasks": found.tasks.sum()}
    assert told
    if asked != "ps-dsf":  # of which the manifest has one of many answers
        assert {name: values[name] for name in told} == pytest.approx(told, rel=1e-6, abs=1e-9)
    assert found.residual <= RESIDUAL


UNIQUE = [case for case in SMALL if mechanism(case[1]).unique]


@pytest.mark.few(10)
@pytest.mark.parametrize(("name", "asked"), UNIQUE)
def test_the_tasks_that_are_told_have_no_digit_that_is_not_proved(name, asked):
    item = fa.library(name)
    right = right_tasks(mechanism(asked), item.instance, Limits())
    assert right is not None
    assert item.answers[asked]["tasks"] == pytest.approx(float(sum(right.tasks)), rel=1e-11)


@pytest.mark.parametrize(("error", "told"), [(0.0, 3.14159265359), (3e-5, 3.1416), (None, None), (np.inf, None), (2.0, None)])
def test_as_many_digits_are_told_as_are_proved(error, told, monkeypatch):
    monkeypatch.setattr(freeze, "right_tasks", lambda *_: None)
    found = replace(fa.solve(fa.Instance([[1.0]], [[np.pi]]), "nb"), x=np.array([np.pi]))
    assert freeze.answer(replace(found, user_error=error)).get("tasks") == told


@pytest.mark.parametrize(
    ("name", "residual", "told"),
    [
        ("nb", 1e-14, 3.43418965755),
        ("nb", 2e-6, 3.43419),
        ("utilitarian", 2e-6, 31.4159),
        ("lmmf", 1e-3, 3.14),
        ("lmmf", 0, 3.14159265359),
    ],
)
def test_a_value_has_the_digits_that_its_residual_proves(name, residual, told):
    """The objective of nb is 3 log pi with an error of 3 times the residual; others have it relative to the value."""
    found = fa.solve(fa.Instance([[1.0]], [[np.pi]], weights=[3.0 if name == "nb" else 1.0]), name)
    found = replace(
        found, residuals={"definition": residual}, x=np.array([np.pi * (10 if name == "utilitarian" else 1)]), x_exact=None
    )
    values = freeze.answer(found)
    assert next(iter(values.values())) == told


def test_the_library_holds_what_it_promises():
    sources = [item.source for item in FROZEN]
    assert sources.count("example") == len(fa.EXAMPLES)
    assert len(TRACES) == 10
    markets, networks = sources.count("market"), sources.count("network")
    assert min(markets, networks) >= 5
    assert len(FROZEN) - len(fa.EXAMPLES) - len(TRACES) - markets - networks == 40
    assert all(item.answers and set(item.answers) <= set(MECHANISMS) for item in FROZEN)
    assert len({item.hash for item in FROZEN}) == len(FROZEN)


def test_a_changed_instance_is_refused():
    item = Frozen("wang-fig2", "example", {}, (2, 2, 2, 4), "0" * 16, {})
    with pytest.raises(InstanceError, match=r"'wang-fig2' has the hash .*, but the one in the library has 0000000000000000"):
        _ = item.instance


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(UnknownName, match=r"there is no instance of the library 'wang-fig'.*wang-fig2"):
        fa.library("wang-fig")


def test_without_data_a_trace_says_so(monkeypatch):
    monkeypatch.setattr("fairalloc.models.examples.traces.data_dir", lambda: None)
    with pytest.raises(fa.NotInstalled, match="the workload samples are not found: say where they are"):
        TRACES[0].made()


def test_the_command_line_lists_it(capsys):
    assert main(["list", "library"]) == 0
    assert all(item.hash in capsys.readouterr().out for item in FROZEN[:1])
