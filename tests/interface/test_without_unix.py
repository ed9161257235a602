"""What works where Unix-only modules are absent, as on Windows: they are hidden in a process of its own."""

import subprocess
import sys

import pytest

HIDDEN = ("resource", "fcntl")
PRELUDE = f"""
import os, sys
for name in {HIDDEN!r}:
    sys.modules[name] = None
del os.fork
"""


def python(script, folder):
    start = [sys.executable, "-P", "-c", PRELUDE + script]
    return subprocess.run(start, cwd=folder, capture_output=True, text=True, check=False)


def command(folder, *arguments):
    return python(f"from fairalloc.cli import main; sys.exit(main({list(arguments)!r}))", folder)


@pytest.mark.parametrize("name", HIDDEN)
def test_they_are_hidden(tmp_path, name):
    assert f"import of {name} halted" in python(f"import {name}", tmp_path).stderr


def test_solving_checking_and_certifying_work(tmp_path):
    script = """
import fairalloc as fa
instance = fa.example("wang-fig2").instance
answer = fa.solve(instance, "drfh")
print(answer.tasks.round(9), fa.check(answer, "pareto").holds, bool(fa.certify(answer)))
"""
    done = python(script, tmp_path)
    assert (done.stdout, done.returncode) == ("[10. 10.] True True\n", 0), done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "wang-fig2", "-m", "drfh"),
        ("list", "suites"),
        ("theorems", "verify", "--id", "W.Fig2", "--time-limit", "1s"),
        ("theorems", "verify", "--id", "W.Fig2", "--time-limit", "1s", "--jobs", "1"),
    ],
)
def test_commands_work(tmp_path, arguments):
    done = command(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("bench", "run", "layers"), "benchmarks solve each case in a process of its own: "),
        (("theorems", "verify", "--id", "W.Fig2", "--jobs", "2"), "the jobs are 2, but here they must be 1: "),
    ],
)
def test_what_needs_them_says_so_in_one_sentence(tmp_path, arguments, sentence):
    done = command(tmp_path, *arguments)
    reason = "separate processes with limits need an operating system that can fork, such as Linux or macOS"
    assert (done.stderr, done.returncode) == (f"fairalloc: {sentence}{reason}\n", 2)
    assert done.stdout == ""
