"""Each notebook is executed once, into build/notebooks, where others find it with its outputs; stored it has none.

`make notebooks` executes them by the same command.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
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


@pytest.mark.deep
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


def test_the_code_fits_a_page():
    for script in SCRIPTS:
        long = [line for line in script.read_text("utf-8").splitlines() if len(line) > 100 and not line.startswith("#")]
        assert not long, script.stem


@pytest.mark.few(6)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_the_notebook_is_the_script(script):
    stored = read(script.with_suffix(".ipynb"))
    assert as_written(stored) == as_written(jupytext.read(script)), "make notebooks writes it again"
    assert not outputs(stored)
    assert not any(cell.get("execution_count") for cell in stored.cells)


def test_the_extra_of_the_notebooks_installs_what_they_import_and_the_guide_names_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = {re.split(r"[>=<\[]", item)[0] for room in ("notebooks", "plots", "traces") for item in extras[room]}
    names |= {re.split(r"[>=<]", item)[0] for item in project["dependencies"]}
    trees = [ast.parse(script.read_text("utf-8")) for script in SCRIPTS]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {name.split(".")[0] for node in nodes for name in (getattr(node, "module", None) or node.names[0].name,)}
    assert imported - sys.stdlib_module_names - {"mpl_toolkits"} <= names  # mpl_toolkits is Matplotlib's
    assert "fairalloc[plots,traces]" in extras["notebooks"]
    assert "| `notebooks` |" in (ROOT / "docs" / "guides" / "install.md").read_text("utf-8")


def test_a_notebook_without_checks_is_seen():
    cell, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    checks = cell("assert 1", metadata={"tags": ["checks"]})
    assert ends_with_checks(nbformat.v4.new_notebook(cells=[text("words"), checks]))
    for cells in ([checks, text("assert ")], [cell("assert 1")], [cell("1", metadata={"tags": ["checks"]})]):
        assert not ends_with_checks(nbformat.v4.new_notebook(cells=cells))
