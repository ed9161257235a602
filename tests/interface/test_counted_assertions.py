"""tests/conftest.py fails an item in which no assertion ran, and only such an item."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SAMPLE = """
import numpy as np
import pytest
from hypothesis import given, strategies as st

def test_silent_says_nothing(): pass
def test_silent_loop():
    for number in []:
        assert number
def test_silent_arrays(): np.testing.assert_allclose([], [])
@given(st.integers())
def test_silent_property(number): pass

def test_counted_assertion(): assert True
def test_counted_error():
    with pytest.raises(ZeroDivisionError):
        1 / 0
def test_counted_arrays(): np.testing.assert_allclose([1], [1])
@given(st.integers())
def test_counted_property(number): assert number == number
@pytest.mark.asserts_elsewhere("in another process")
def test_counted_elsewhere(): pass

def test_other_failure(): assert False
def test_other_skip(): pytest.skip("not here")
"""


@pytest.mark.deep
def test_an_item_without_an_assertion_fails(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("conftest.py", "profiles.py"):
        (tests / name).write_text((TESTS / name).read_text())
    (tests / "test_sample.py").write_text(SAMPLE)
    (tmp_path / "pyproject.toml").write_text((TESTS.parent / "pyproject.toml").read_text())
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "--tb=line"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    outcomes = {}
    for line in run.stdout.splitlines():
        word, _, name = line.partition(" tests/test_sample.py::test_")
        if name:
            outcomes.setdefault(word, set()).add(name.partition(" ")[0])
    assert outcomes["FAILED"] == {"silent_says_nothing", "silent_loop", "silent_arrays", "silent_property", "other_failure"}
    assert outcomes["PASSED"] == {f"counted_{what}" for what in ("assertion", "error", "arrays", "property", "elsewhere")}
    assert run.stdout.count("no assertion ran in this test") >= 4
    assert "1 tests assert elsewhere" in run.stdout
