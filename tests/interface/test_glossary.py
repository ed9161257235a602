"""The glossary names what exists: every name in its column "in the code" is one of the package."""

import re
from importlib import import_module
from inspect import get_annotations
from pathlib import Path

import pytest

from fairalloc.analysis.properties import MECHANISM_PROPERTIES, PROPERTIES
from fairalloc.formulations import MECHANISMS

GLOSSARY = (Path(__file__).parents[2] / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
COLUMNS = [
    ["concept", "K", "P", "W", "Z", "D", "in the code", "definition"],
    ["concept", "in the code", "definition"],
]
"""Of the tables with the papers' letters, and of the words of this package."""


def rows():
    """The cells of every row of every table, without heads."""
    lines = [line for line in GLOSSARY.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("concept", "---")]


def exists(name):
    """Whether this is the id of a mechanism or property, or the dotted name of something below `fairalloc`."""
    if name in (*MECHANISMS, *PROPERTIES, *MECHANISM_PROPERTIES):
        return True
    parts = name.split(".")
    for k in range(len(parts), 1, -1):
        try:
            item = import_module("fairalloc." + ".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        return _inside(item, parts[k:])
    return False


def _inside(item, names):
    """Whether attributes lead from `item` along `names`; annotated fields count."""
    for k, name in enumerate(names):
        if not hasattr(item, name):
            return k == len(names) - 1 and any(name in get_annotations(base) for base in getattr(item, "__mro__", ()))
        item = getattr(item, name)
    return True


def test_every_row_has_all_columns_and_a_name_in_the_code():
    heads = [line for line in GLOSSARY.splitlines() if line.startswith("| concept")]
    assert all([cell.strip() for cell in line.strip("|").split("|")] in COLUMNS for line in heads)
    assert len(rows()) >= 50
    for row in rows():
        assert len(row) in map(len, COLUMNS), row[0]
        assert all(row), row[0]
        assert re.findall(r"`([^`]+)`", row[-2]), row[0]


@pytest.mark.parametrize("name", sorted({name for row in rows() for name in re.findall(r"`([^`]+)`", row[-2])}))
def test_names_of_the_glossary_exist(name):
    assert exists(name)


@pytest.mark.parametrize("name", ["models.instance.Instance.M", "models.nothing", "drf-2", "models.instance.Instance.N.x"])
def test_names_that_do_not_exist_are_seen(name):
    assert not exists(name)
