"""All lone scripts: by statement, and as the files of docs/witnesses."""

from collections.abc import Iterator
from pathlib import Path

from fairalloc.models.files.writing import write_file
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.arguments import ARGUMENTS
from fairalloc.theorems.lone.script import LoneScript
from fairalloc.theorems.registry import all_statements

EXCEPTIONS = {
    "P.A1.later": "its witness is a run of an algorithm",
}
"""Statements with a witness on record and no script, and why.

What rests on experiments (K.6.*, W.S6.*) has no witness but a simulation. Cases that show that a proved statement needs one of
its hypotheses are not exported either: nothing that is printed is wrong by them.
"""

FORMS = ("python", "latex")
"""The forms of a script: the methods of `LoneScript` that write it."""


def has_script(name: str) -> bool:
    """Whether a statement has a lone script."""
    return name in ARGUMENTS


def lone_script(name: str, case: Case | None = None) -> LoneScript:
    """The script of a statement."""
    return LoneScript.of(name, case)


def lone_scripts() -> Iterator[LoneScript]:
    """Those of all statements that have one, in the order of the statements."""
    return (lone_script(name) for name in all_statements() if has_script(name))


def write_scripts(folder: str | Path) -> None:
    """Write ID.py for every statement that has a script, and take away what has none."""
    made = {f"{item.about.id}.py": item.python() for item in lone_scripts()}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.py"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        write_file(target / name, text)
