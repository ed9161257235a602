"""All lone scripts: by statement, and as the files of docs/witnesses."""

from collections.abc import Iterator
from pathlib import Path

from fairalloc.theorems.lone import d, k, p, properties, w, z
from fairalloc.theorems.lone.script import ARGUMENTS, LoneScript
from fairalloc.theorems.registry import all_statements

__all__ = ["FORMS", "has_script", "scripts", "write_scripts"]

BY_PAPER = (d, k, p, properties, w, z)
"""The modules whose arguments are registered when they are imported."""

FORMS = {"python": "py", "latex": "tex"}
"""The forms of a script, and how its file ends."""


def has_script(name: str) -> bool:
    """Whether a statement has a lone script."""
    return name in ARGUMENTS


def scripts() -> Iterator[LoneScript]:
    """Those of all statements that have one, in the order of the statements."""
    return (LoneScript.of(name) for name in all_statements() if has_script(name))


def write_scripts(folder: str | Path) -> None:
    """Write ID.py and ID.tex for every statement that has a script, and take away what has none."""
    made = {f"{item.about.id}.{end}": getattr(item, form)() for item in scripts() for form, end in FORMS.items()}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for old in [*target.glob("*.py"), *target.glob("*.tex")]:
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (target / name).write_text(text, encoding="utf-8")
