"""The wheel is the tree: every module and data file, importable once, under one name."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {path.parent.name for path in ROOT.glob("*/__init__.py")}


def in_tree():
    """What the wheel should hold, computed from the folders."""
    kinds = ("*.py", "*.json", "*.html", "py.typed")
    files = [file.relative_to(ROOT) for folder in FOLDERS for kind in kinds for file in (ROOT / folder).rglob(kind)]
    return {str(file) if file.parts[0] == "fairalloc" else f"fairalloc/{file}" for file in files}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignore = {".git", ".venv", "build", "results", ".hypothesis", "tests", "notebooks", "docs"}
    source.mkdir()
    for item in ROOT.iterdir():
        if item.name not in ignore and not item.name.endswith(".egg-info"):
            subprocess.run(["cp", "-r", str(item), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_exactly_the_tree(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == in_tree()
    assert "fairalloc/py.typed" in held
    assert "fairalloc/models/instance.schema.json" in held


def test_every_folder_of_code_is_a_package():
    """A new top-level folder with code that is not in pyproject.toml would be silently absent."""
    code = (path.relative_to(ROOT).parts[0] for path in ROOT.glob("*/**/*.py"))
    with_code = {top for top in code if not top.startswith(".")} - {"tests", "notebooks", "docs", "build"}
    assert with_code == FOLDERS


def test_the_wheel_runs_outside_the_tree(wheel, tmp_path):
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    code = "import fairalloc as fa; print(fa.__file__, fa.solve(fa.example('wang-fig2').instance, 'drfh').tasks)"
    env = {**os.environ, "PYTHONPATH": str(target)}
    run = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert run.stdout == f"{target}/fairalloc/__init__.py [10. 10.]\n"


@pytest.mark.parametrize("folder", sorted(FOLDERS - {"fairalloc"}))
def test_a_mapped_folder_cannot_be_imported_twice(folder):
    run = subprocess.run([sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"import this package as fairalloc.{folder}, not as {folder}" in run.stderr
    assert run.returncode == 1
