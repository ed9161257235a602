"""A command as a person runs it; the wheel, built once from a copy of the tree, and folders beside it."""

import subprocess
from pathlib import Path

import pytest
from wheels import built_wheel

from fairalloc.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(capsys):
    """Run a command; returns exit code, standard output, standard error."""

    def command(*arguments):
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """A copy of the tree without what it made itself."""
    folder = tmp_path_factory.mktemp("source")
    made = {".git", ".venv", ".venv-lowest", ".dev", "build", "results", ".hypothesis"}
    for item in ROOT.iterdir():
        if item.name not in made and not item.name.endswith(("_cache", ".egg-info")):
            subprocess.run(["cp", "-r", str(item), str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def wheel(source, tmp_path_factory):
    return built_wheel(source, tmp_path_factory.mktemp("wheel"))
