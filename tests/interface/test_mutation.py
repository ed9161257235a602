"""tests/mutation.py makes one small fault at a time, and sees which of them tests notice."""

import ast
import re
from pathlib import Path

import pytest
from mutation import killed, mutants

SOURCE = '''def least(numbers: "list[1 < 2]", ß: float = 0.5) -> float:
    """The least, and half of it."""
    first = min(numbers[:2])
    if not ß == 0 and first < ß:
        raise ValueError(1 + 2)
    second = first + ß
    return second
'''
MADE = [
    ("0.5", "0.3"),
    ("min", "max"),
    (":2", ":1"),
    ("not ß == 0", "ß == 0"),
    ("ß == 0", "ß != 0"),
    ("first < ß", "first >= ß"),
    ("first + ß", "first - ß"),
    ("return second", "return first"),
]


def test_each_place_is_changed_alone_and_messages_and_types_are_not():
    found = mutants(SOURCE)
    assert sorted((one.before, re.sub(r"^\((.*)\)$", r"\1", one.after)) for one in found) == sorted(MADE)
    whole = ast.unparse(ast.parse(SOURCE))
    for one in found:
        assert len(ast.unparse(ast.parse(one.source)).splitlines()) == len(whole.splitlines())
        differing = [line for line, kept in zip(one.source.splitlines(), SOURCE.splitlines(), strict=True) if line != kept]
        assert len(differing) == 1


@pytest.mark.deep
def test_a_mutant_that_a_test_notices_is_killed_and_the_file_is_itself_again(tmp_path):
    file, tests = Path("models/least.py"), tmp_path / "tests/models"
    tests.mkdir(parents=True)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").touch()
    (tmp_path / file).write_text("def least(a, b):\n    return min(a, b) + 0.5\n")
    (tests / "test_least.py").write_text("from models.least import least\ndef test_it(): assert int(least(1, 2)) == 1\n")
    source = (tmp_path / file).read_text()
    found = {one.before: killed(file, one, tmp_path, 600.0) for one in mutants(source)}
    assert found == {"min(a, b) + 0.5": True, "min": True, "0.5": False}
    assert (tmp_path / file).read_text() == source
