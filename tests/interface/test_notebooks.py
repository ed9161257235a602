"""Each notebook is executed once, into build/notebooks, where others find it with its outputs; stored it has none.

`make notebooks` executes them by the same command.
"""

import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "notebooks").glob("*.py"))
EXECUTED = ROOT / "build" / "notebooks"


def read(file):
    return nbformat.read(file, as_version=4)


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def as_written(notebook):
    return [(cell.cell_type, cell.source, cell.metadata.get("tags", [])) for cell in notebook.cells]


def ends_with_checks(notebook):
    """Whether the last cell is tagged and asserts."""
    last = notebook.cells[-1]
    return last.cell_type == "code" and "checks" in last.metadata.get("tags", ()) and "assert " in last.source


def figures(notebook):
    """How many of its outputs are pictures."""
    return sum("image/png" in output.get("data", {}) for output in outputs(notebook))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_it_runs(script, tmp_path):
    EXECUTED.mkdir(parents=True, exist_ok=True)
    elsewhere = {name: str(tmp_path) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    given = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # the kernel's own shows figures
    command = [sys.executable, "-m", "jupyter", "execute", "--timeout=60", f"--output={EXECUTED}/{{notebook_name}}"]
    run = subprocess.run(
        [*command, script.with_suffix(".ipynb")], env={**given, **elsewhere}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    executed = read(EXECUTED / f"{script.stem}.ipynb")
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")
    assert not [output.text for output in outputs(executed) if output.get("name") == "stderr"]
    assert ends_with_checks(executed)
    assert figures(executed) or "fa.plots" not in script.read_text("utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_the_notebook_is_the_script(script):
    stored = read(script.with_suffix(".ipynb"))
    assert as_written(stored) == as_written(jupytext.read(script)), "make notebooks writes it again"
    assert not outputs(stored)
    assert not any(cell.get("execution_count") for cell in stored.cells)


def test_a_notebook_without_checks_is_seen():
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    checks = cell("assert 1", metadata={"tags": ["checks"]})
    assert ends_with_checks(nbformat.v4.new_notebook(cells=[text("words"), checks]))
    for cells in ([checks, text("assert ")], [cell("assert 1")], [cell("1", metadata={"tags": ["checks"]})]):
        assert not ends_with_checks(nbformat.v4.new_notebook(cells=cells))
