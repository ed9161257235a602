"""The errata of K and P: every block of code runs, and those that assert can fail."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fairalloc.analysis.certificates import certify
from fairalloc.analysis.properties import check
from fairalloc.models import Allocation, Instance
from fairalloc.solvers import solve

ERRATA = (Path(__file__).resolve().parents[3] / "docs" / "papers" / "errata.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([A-Z])\b[^\n]*\n(.*?)(?=^## |\Z)", ERRATA, flags=re.DOTALL | re.MULTILINE))
BLOCKS = [block for paper in "KP" for block in re.findall(r"```python\n(.*?)```", SECTIONS[paper], flags=re.DOTALL)]
NAMES = {
    "Allocation": Allocation,
    "Fraction": Fraction,
    "Instance": Instance,
    "certify": certify,
    "check": check,
    "np": np,
    "solve": solve,
}


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_errata_run(block):
    """Where a block asserts nothing, it is the system that the text speaks of."""
    names = dict(NAMES)
    exec(block, names)
    assert "assert " in block or isinstance(names["system"], Instance)


def test_there_are_assertions_and_they_can_fail():
    asserting = [block for block in BLOCKS if "assert" in block]
    assert len(asserting) >= 5
    with pytest.raises(AssertionError):
        exec(asserting[0].replace("[[1], [2]]", "[[1], [1]]"), dict(NAMES))
