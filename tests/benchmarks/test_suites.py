"""The suites: everything that is registered is somewhere, every case has its instance, and real data are never replaced."""

import pytest

from fairalloc import generators
from fairalloc.benchmarks import SUITES, Setting, metrics, run
from fairalloc.benchmarks.suites.real import SAMPLES
from fairalloc.benchmarks.suites.wan import ROUNDS
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models import Instance
from fairalloc.models.errors import InstanceError, NotInstalled
from fairalloc.models.examples import traces
from fairalloc.solvers import METHODS, solve

HEAVY = ("random", "scaling", "limits", "game-size", "fisher", "wan", "day", "approximations", "mechanisms-at-size")
"""Suites whose largest instances, or thousands of small ones, are not built in a test."""


def test_every_mechanism_and_method_is_in_smoke():
    cases = SUITES["smoke"].cases
    assert {case.mechanism for case in cases} == set(MECHANISMS)
    items = [mechanism(case.mechanism).configure(**case.parameters) for case in cases]
    assert {key for key, method in METHODS.items() if any(map(method.computes, items))} == set(METHODS)


@pytest.mark.parametrize("name", [name for name in SUITES if name not in (*HEAVY, "real", "first")])
def test_every_case_has_its_instance(name):
    assert all(isinstance(case.build(), Instance) for case in SUITES[name].cases)


@pytest.mark.parametrize("name", HEAVY)
def test_the_smallest_cases_of_heavy_suites_can_be_built(name):
    assert isinstance(SUITES[name].cases[0].build(), Instance)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_sample_has_its_instance_where_the_data_are(sample):
    pytest.importorskip("pyarrow", reason="reading the samples needs pyarrow")
    if traces.data_dir() is None:
        pytest.skip("the real samples are not here: set FAIRALLOC_DATA to their folder")
    assert isinstance(SAMPLES[sample](), Instance)


def test_without_data_nothing_else_takes_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr("fairalloc.models.examples.traces.data_dir", lambda: None)
    real = [case for case in SUITES["first"].cases if case.name.startswith("real/")]
    assert real
    for case in real:
        with pytest.raises(NotInstalled, match="the workload samples are not found: say where they are by the env"):
            case.build()
    with pytest.raises(NotInstalled, match="the suite 'real' cannot run: the workload samples are not found"):
        run("real", tmp_path / "r", setting=Setting(repeats=1), progress=False)


def test_printed_answers_belong_to_the_cases():
    for case in SUITES["papers"].cases:
        assert case.answer is not None
        item = mechanism(case.mechanism).configure(**case.parameters)
        assert len(case.answer) == item.home(case.build()).N


def test_degeneracy_grows_with_severity():
    mild, severe = (generators.degenerate(30, 6, 3, 1, severity=s) for s in (0, 100))
    demands = [[tuple(vector) for demand in instance.demands for vector in demand] for instance in (mild, severe)]

    def nearly_parallel(vectors):
        """Pairs whose demands are proportional to four digits in the units of the resources."""
        shapes = {
            tuple(round(value / vector[0] / (vectors[0][k] / vectors[0][0]), 4) for k, value in enumerate(vector))
            for vector in vectors
        }
        return len(vectors) - len(shapes)

    assert nearly_parallel(demands[0]) == 0
    assert nearly_parallel(demands[1]) > 10
    spread = [max(map(max, vectors)) / min(map(min, vectors)) for vectors in demands]
    assert spread[1] > 1000 * spread[0]
    with pytest.raises(InstanceError, match="severity is 101, but it must be an integer from 0 to 100"):
        generators.degenerate(3, 1, 1, 0, severity=101)


def test_the_folder_of_the_data_is_remembered(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("FAIRALLOC_DATA", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert main(["data", str(tmp_path / "nowhere")]) == 2
    assert "the data folder is" in capsys.readouterr().err
    assert main(["data", str(tmp_path)]) == 0
    assert main(["data"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}\n" * 2


@pytest.mark.parametrize("family", ROUNDS)
def test_networks_have_the_rounds_that_are_told(family):
    cases = [case for case in SUITES["wan"].cases if case.family == family and case.mechanism == "lmmf"][:2]
    answers = [solve(case.build(), "lmmf", "highs:leximin") for case in cases]
    assert tuple(len(answer.round_prices) for answer in answers) == ROUNDS[family][:2]
    assert max(max(rounds) for rounds in ROUNDS.values()) >= 30


@pytest.mark.deep
def test_smoke_runs_and_every_claim_is_true(tmp_path):
    summary = run("smoke", tmp_path / "r", progress=False)
    solved = {record.mechanism for record in summary.records if metrics.succeeded(record)}
    assert solved == {case.label for case in SUITES["smoke"].cases}
    liars = {(record.method, record.case) for record in summary.records if record.claims and not metrics.passes(record)}
    assert not liars
    asked = {key for key, method in METHODS.items() if not method.missing() and method.kind != "approximate"}
    assert {row.method for row in summary.rows} == asked
