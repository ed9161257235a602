"""Editors and type checkers find the package from anywhere, in the environment that make builds."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYRIGHT = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"]

SCRIPT = """\
import fairalloc as fa
from fairalloc.models.instance import Instance
reveal_type(fa.solve(Instance([[1]], [[2]]), "drfh"))
"""


def on_a_path_file():
    """Whether the environment has the tree by a .pth file, as make installs it; a bare PYTHONPATH is no installation."""
    files = (file for folder in sys.path if Path(folder).is_dir() for file in Path(folder).glob("*.pth"))
    return any(Path(line) == ROOT for file in files for line in file.read_text().splitlines())


pytestmark = pytest.mark.skipif(
    find_spec("basedpyright") is None or not on_a_path_file(), reason="this environment was not made by make, for development"
)


def judged(script, folder):
    """(rule or None, message) of everything pyright says of a script outside the tree."""
    (folder / "script.py").write_text(script)
    run = subprocess.run([*PYRIGHT, "script.py"], cwd=folder, capture_output=True, text=True, check=False)
    return [(note.get("rule"), note["message"]) for note in json.loads(run.stdout)["generalDiagnostics"]]


@pytest.mark.deep
def test_a_script_outside_the_tree_is_understood(tmp_path):
    assert judged(SCRIPT, tmp_path) == [(None, 'Type of "fa.solve(Instance([[1]], [[2]]), "drfh")" is "Allocation"')]


def test_what_does_not_exist_is_reported(tmp_path):
    said = judged("from fairalloc.models.nowhere import a\nfrom fairalloc.solvers import nobody\nprint(a, nobody)\n", tmp_path)
    assert {rule for rule, _ in said} >= {"reportMissingImports", "reportAttributeAccessIssue"}


def test_go_to_definition_has_a_file_for_every_room():
    """Each room is a link in fairalloc/; git, unlike an sdist, holds them."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    for room in ROOT.glob("*/__init__.py"):
        name = room.parent.name
        if name != "fairalloc":
            assert (ROOT / "fairalloc" / name).resolve() == room.parent
