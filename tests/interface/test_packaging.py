"""The wheel is the tree: every module and data file, importable once, under one name."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from wheels import built_wheel

import fairalloc

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {path.parent.name for path in ROOT.glob("*/__init__.py")}


def in_tree():
    """What the wheel should hold, computed from the folders."""
    kinds = ("*.py", "*.json", "*.toml", "*.csv", "*.xz", "*.html", "py.typed")
    files = [file.relative_to(ROOT) for folder in FOLDERS for kind in kinds for file in (ROOT / folder).rglob(kind)]
    return {str(file) if file.parts[0] == "fairalloc" else f"fairalloc/{file}" for file in files}


@pytest.fixture(scope="module")
def unpacked(source, tmp_path_factory):
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-c", f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        archive.extractall(folder, filter="data")
    return folder / built.name.removesuffix(".tar.gz")


def relative_files(folder, *parts):
    """Files below some parts of a folder; links and caches are left out."""
    found = (file for part in parts for file in ((folder / part).rglob("*") if (folder / part).is_dir() else [folder / part]))
    return {str(file.relative_to(folder)) for file in found if file.is_file() and "__pycache__" not in file.parts}


def test_the_sdist_holds_what_its_tests_need_and_every_file_once(source, unpacked):
    parts = (*FOLDERS - {"fairalloc"}, "fairalloc/cli", "tests", "notebooks", "docs", ".ci", ".github")
    tops = ("Makefile", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "CITATION.cff")
    assert relative_files(unpacked, *parts, *tops) == relative_files(source, *parts, *tops)
    assert {file.name for file in (unpacked / "fairalloc").iterdir()} == {
        file.name for file in (source / "fairalloc").iterdir() if not file.is_symlink() and file.name != "__pycache__"
    }


@pytest.mark.deep
def test_a_wheel_from_the_sdist_is_the_wheel(unpacked, wheel, tmp_path):
    def held(file):
        return {info.filename: info.CRC for info in zipfile.ZipFile(file).infolist() if ".dist-info/" not in info.filename}

    assert held(built_wheel(unpacked, tmp_path)) == held(wheel)


def test_the_wheel_holds_exactly_the_tree(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == in_tree()
    assert "fairalloc/py.typed" in held
    assert "fairalloc/models/files/instance.schema.json" in held


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


# ---- a release -------------------------------------------------------------------------------------------------------


def test_the_version_stands_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert set(re.findall(r"^ *version: (.*)$", citation, re.MULTILINE)) == {fairalloc.__version__}
    newest = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest[1] == fairalloc.__version__
    assert f"date-released: {newest[2]}" in citation
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= set(project["urls"])
    versions = {text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+$", text)}
    tests = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert versions == set(re.findall(r'"(3\.\d+)"', tests))
    assert {"windows-latest", "macos-latest", "ubuntu-latest"} <= set(re.findall(r"\b\w+-latest\b", tests))


def test_workflows_are_yaml_with_jobs_that_run_commands():
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
        assert all(isinstance(step.get("run", step.get("uses")), str) for job in jobs.values() for step in job["steps"])


def test_workflows_call_targets_that_the_makefile_has():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {}
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        called[file.stem] = set(re.findall(r"run: make ([\w-]+)", file.read_text(encoding="utf-8")))
    assert {"ci", "docs", "release"} == set(called)
    assert set().union(*called.values()) <= targets
    assert called["release"] == {"system", "test", "dist", "docs"}
