"""The two profiles: what each runs, with one process and with two, and how many examples a test draws."""

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from profiles import representatives

TESTS = Path(__file__).resolve().parents[1]
SAMPLE = """
import pytest
from hypothesis import given, settings, strategies as st
from profiles import drawn
seen = []

def test_plain(): assert True
@pytest.mark.deep
def test_deep(): assert True
@pytest.mark.few(2)
@pytest.mark.parametrize("letter", "ab")
@pytest.mark.parametrize("number", range(3))
def test_family(letter, number): assert True
@settings(max_examples=drawn(40), derandomize=True)
@given(st.integers())
def test_drawn(number):
    seen.append(number)
    assert len(seen) <= MOST
"""
DEEP = {"test_deep", "test_family[0-b]", "test_family[1-a]", "test_family[1-b]", "test_family[2-a]", "test_drawn"}


@pytest.fixture
def passed(tmp_path):
    """What passes of the sample, by name, and what is said."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("conftest.py", "profiles.py"):
        (tests / name).write_text((TESTS / name).read_text())
    (tmp_path / "pyproject.toml").write_text((TESTS.parent / "pyproject.toml").read_text())

    def ran(most, *options):
        (tests / "test_sample.py").write_text(SAMPLE.replace("MOST", str(most)))
        command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        lines = [line.partition(" tests/test_sample.py::") for line in said.splitlines()]
        return {name for word, _, name in lines if word == "PASSED"}, said

    return ran


@pytest.mark.parametrize("options", [(), pytest.param(("-n", "1"), marks=pytest.mark.deep)])
def test_the_quick_profile_leaves_the_deep_tests_out_and_says_how_many(passed, options):
    names, said = passed(10, *options)
    assert names == {"test_plain", "test_drawn", "test_family[0-a]", "test_family[2-b]"}
    assert "5 deep tests were left out" in said


@pytest.mark.deep
def test_the_deep_profile_runs_them_with_all_examples(passed):
    names, said = passed(40, "-m", "deep")
    assert names == DEEP
    assert "left out" not in said
    assert "test_drawn" not in passed(39, "-m", "deep")[0]


def test_representatives_differ_in_every_parameter():
    cases = [{("method", m), ("instance", i)} for m, i in product(range(4), range(3))]
    chosen = [cases[k] for k in representatives(cases, 4)]
    assert {value for case in chosen for name, value in case if name == "method"} == {0, 1, 2, 3}
    assert {value for case in chosen for name, value in case if name == "instance"} == {0, 1, 2}
    assert representatives([{("id", k)} for k in range(9)], 3) == [0, 8, 4]
    assert representatives([{("id", 0)}], 3) == [0]
