"""`pyomo:path`: without PATH one sentence; an executable of that name gets the conditions, and its word is not believed."""

import os
import stat

import pytest

from fairalloc.formulations import mechanism
from fairalloc.models import NotInstalled, generators
from fairalloc.solvers import METHODS, solve

ONES = """#!/usr/bin/env python3
# Reads the size of the problem and answers that everything is 1.
import sys
stub = sys.argv[1].removesuffix(".nl")
n, m = (int(v) for v in open(stub + ".nl").read().splitlines()[1].split()[:2])
open(stub + ".sol", "w").write(f"all ones\\n\\nOptions\\n3\\n0\\n1\\n0\\n{m}\\n0\\n{n}\\n{n}\\n" + "1.0\\n" * n + "objno 0 0\\n")
"""
GAME = generators.generic(4, 2, 2, 1)


def test_without_the_executable_it_says_where_to_get_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not METHODS["pyomo:path"].is_available()
    with pytest.raises(NotInstalled, match="pyomo:path needs the solver PATH: put its executable pathampl"):
        solve(GAME, "alpha-pf-vds", "pyomo:path", alpha=3)


def test_what_it_answers_is_judged(monkeypatch, tmp_path):
    program = tmp_path / "pathampl"
    program.write_text(ONES)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    allocation = solve(GAME, "alpha-pf-vds", "pyomo:path", alpha=3)
    assert allocation.has_point
    assert allocation.termination == "inaccurate"
    assert allocation.message.startswith("its answer proves no more than a residual of ")


def test_it_is_for_finite_alpha():
    assert "finite alpha" in METHODS["pyomo:path"].applies(mechanism("alpha-pf-vds").configure(alpha="inf"), GAME)
