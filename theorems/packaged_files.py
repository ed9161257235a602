"""The texts, tables and records that stand beside the code of this room and come with the package."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def packaged_text(path: str) -> str:
    """The text of a file, by its path below theorems/, such as "search/witnesses.json"."""
    return files("fairalloc.theorems").joinpath(path).read_text(encoding="utf-8")


@cache
def packaged_toml(path: str) -> dict[str, Any]:
    """What a TOML file holds, by its path below theorems/, once for all who read it."""
    return tomllib.loads(packaged_text(path))


def joined(text: str) -> str:
    return " ".join(text.split())
