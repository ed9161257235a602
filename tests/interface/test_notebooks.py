"""Each notebook runs as a script, asserts included, and its .ipynb is the same notebook with no outputs stored."""

import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_it_runs(script, tmp_path):
    env = {**os.environ, "MPLBACKEND": "agg"}
    run = subprocess.run([sys.executable, script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "assert " in script.read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_the_notebook_is_the_script(script):
    def cells(notebook):
        return [(c.cell_type, c.source) for c in notebook.cells]

    stored = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    assert cells(stored) == cells(jupytext.read(script))
    assert not any(c.get("outputs") for c in stored.cells)
