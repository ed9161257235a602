"""docs/TEMPLATE.py runs as it is, and the page of solvers names every method that a plain installation lacks."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guides/more-solvers.md").read_text(encoding="utf-8")
TEMPLATE = ROOT / "docs/TEMPLATE.py"


@pytest.fixture(scope="module")
def template():
    spec = importlib.util.spec_from_file_location("template", TEMPLATE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.deep
def test_it_runs_as_a_script(tmp_path):
    done = subprocess.run([sys.executable, TEMPLATE], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "half-fair by barrier, optimal" in done.stdout
    assert "envy-freeness" in done.stdout


def test_its_commands_run(capsys):
    name = str(TEMPLATE)
    assert main(["solve", "wang-fig2", "-m", f"{name}:HalfFair", "-m", "nb", "--method", f"{name}:barrier"]) == 0
    assert main(["solve", "khamse-fig1", "-m", f"{name}:EQUAL_TASKS"]) == 0
    assert "optimal" in capsys.readouterr().out
    assert main(["solve", "wang-fig2", "-m", "drfh", "--method", f"{name}:barrier"]) == 2


@pytest.mark.parametrize("family", ["generic", "finite", "placement", "zero_demand"])
@pytest.mark.few(1)
def test_its_solver_agrees_with_clarabel(template, family):
    instance = getattr(fa.generators, family)(6, 3, 2, 1)
    mine, other = (fa.solve(instance, template.HalfFair, method) for method in (template.barrier, "cvxpy:clarabel"))
    assert mine.termination == "optimal"
    assert np.abs(mine.tasks - other.tasks).max() < 1e-4 * other.tasks.max()


def test_its_residual_finds_a_wrong_answer(template):
    instance = fa.example("khamse-fig1").instance
    right = fa.solve(instance, template.HalfFair, "cvxpy:clarabel")
    wrong = fa.Allocation(instance, 0.9 * right.x)
    assert template.HalfFair().residual(right) < 1e-6
    assert template.HalfFair().residual(wrong) > 0.05


def test_the_page_names_every_solver_that_is_off_and_its_command():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = {name: method.install for name, method in fa.METHODS.items() if "fairalloc[" in getattr(method, "install", "")}
    named = {re.search(r"fairalloc\[(\w+)\]", told)[1]: name for name, told in asked.items()}
    assert {"ipopt", "path", "ortools", "hipo", "uno", "qtqp", "moreau"} == set(named)
    for extra, method in named.items():
        assert extra in extras
        assert re.search(rf"\| `{re.escape(method)}` \|.*\.\[{extra}\]", PAGE), method
    together = extras["solvers"][0]
    assert set(re.findall(r"\w+", together)) - {"fairalloc"} == set(named) - {"ipopt", "moreau"}
