"""No paper imports from another paper, checkers and search from none: what papers share is in checkers/."""

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[3] / "theorems"
PAPERS = "fairalloc.theorems.papers"


def foreign(place, text):
    """The papers, other than its own, from which a file at `place`, relative to theorems/, imports; lazy imports too."""
    own = Path(place).parts[1] if Path(place).parts[0] == "papers" else ""
    for node in ast.walk(ast.parse(text)):
        names = [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            paper = name.removeprefix(f"{PAPERS}.").split(".")[0]
            if name.startswith(f"{PAPERS}.") and paper != own:
                yield paper


def test_papers_are_independent():
    files = [file for folder in ("checkers", "search", "papers") for file in (ROOM / folder).rglob("*.py")]
    assert len(files) > 25
    found = {(place := str(file.relative_to(ROOM))): list(foreign(place, file.read_text(encoding="utf-8"))) for file in files}
    assert {place: papers for place, papers in found.items() if papers} == {}


@pytest.mark.parametrize(
    ("place", "line", "paper"),
    [
        ("checkers/game.py", f"from {PAPERS}.k.problem_3 import price_factor", "k"),
        ("papers/k/trials.py", f"from {PAPERS}.p import trials", "p"),
        ("checkers/own.py", f"def lazy():\n    import {PAPERS}.w.trials", "w"),
        ("search/search.py", f"from {PAPERS} import k", "k"),
    ],
)
def test_a_foreign_paper_is_seen(place, line, paper):
    assert list(foreign(place, line)) == [paper]
    assert not list(foreign("papers/k/trials.py", f"from {PAPERS}.k import lemma_3"))
