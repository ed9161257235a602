"""Where the code of a public name is read on the forge."""

import inspect
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import fairalloc

ROOT = Path(__file__).resolve().parents[2]
FORGE = f"https://github.com/fairalloc/fairalloc/blob/v{fairalloc.__version__}"


def source_of(module: str, name: str) -> str | None:
    """The address of the lines of an object; None for what has none, such as data and modules."""
    try:
        found: Any = inspect.unwrap(resolve_name(f"{module}:{name}"))
        found = found.fget if isinstance(found, property) else getattr(found, "func", found)
        file, (lines, first) = inspect.getsourcefile(found), inspect.getsourcelines(found)
    except (AttributeError, ImportError, OSError, TypeError, ValueError):
        return None
    place = Path(file or "").resolve()
    if not place.is_relative_to(ROOT):
        return None
    return f"{FORGE}/{place.relative_to(ROOT).as_posix()}#L{first}-L{first + len(lines) - 1}"
