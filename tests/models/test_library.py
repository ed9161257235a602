"""The frozen library: every instance is made as it was, and small ones still have the answers that are told of them."""

import pytest
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models import InstanceError, UnknownName
from fairalloc.models.examples import generators, traces
from fairalloc.models.examples.library import Frozen
from fairalloc.models.files.jsonio import fingerprint

FROZEN = [fa.library(name) for name in fa.library()]
TRACES = [item for item in FROZEN if item.source != "example" and item.source not in generators.__all__]
SMALL = [(item.name, answer) for item in FROZEN if item not in TRACES and item.size[-1] <= 60 for answer in item.answers]


@pytest.mark.parametrize("name", [item.name for item in FROZEN if item not in TRACES])
def test_an_instance_is_what_was_frozen(name):
    item = fa.library(name)
    made = item.made()
    assert (made.name, fingerprint(made)) == (name, item.hash)
    assert item.size == (made.N, made.K, made.R, made.A)


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
    assert {name: values[name] for name in told} == pytest.approx(told, rel=1e-6, abs=1e-9)


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
