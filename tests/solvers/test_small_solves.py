"""What a solve of a small instance does not do: start a process, read rationals, or go through many layers."""

import os
import subprocess
import sys

import pytest
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.models.examples import generators
from fairalloc.solvers.running import cpu_time
from fairalloc.solvers.running.cpu_time import processor_seconds

CALLS = {"drfh": 430, "nb": 965}
"""Calls of functions of this package in a solve of 20 users, 5 servers and 2 resources: a tenth more than there are."""

SMALL = [generators.generic(20, 5, 2, seed) for seed in range(3)]


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_no_process_and_no_rationals(name, monkeypatch):
    def refused():
        raise AssertionError("a process was started")

    monkeypatch.setattr(os, "fork", refused)
    assert fa.solve(SMALL[0], name).residual <= RESIDUAL
    assert "exact" not in vars(SMALL[0])


COUNT = """
import os, sys
import fairalloc as fa
package, calls = os.path.dirname(os.path.realpath(fa.__file__)), []
root = os.path.dirname(package)
small = [fa.generators.generic(20, 5, 2, seed) for seed in (1, 2)]

def count(frame, event, _):
    file = os.path.realpath(os.path.join("/", frame.f_code.co_filename))  # "<string>" is no file of the folder we are in
    if event == "call" and file.startswith(root) and "site-packages" not in file:
        calls.append(frame.f_code.co_qualname)

fa.solve(small[0], sys.argv[1])  # what is imported and looked up once
sys.setprofile(count)
fa.solve(small[1], sys.argv[1])
sys.setprofile(None)
print(len(calls))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_few_calls(name):
    """Seconds differ from machine to machine; the number of calls, in a process of its own without coverage, does not."""
    done = subprocess.run([sys.executable, "-c", COUNT, name], capture_output=True, text=True, check=True)
    assert 50 < int(done.stdout) <= CALLS[name]


def test_children_that_have_ended_are_counted(monkeypatch):
    monkeypatch.setattr(cpu_time.time, "process_time", lambda: 1.0)
    monkeypatch.setattr(cpu_time.os, "times", lambda: os.times_result((9.0, 9.0, 2.0, 4.0, 9.0)))
    monkeypatch.setattr(cpu_time, "_has_children", lambda: False)
    assert processor_seconds() == 1.0 + 2.0 + 4.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are looked for where there is fork")
def test_children_are_counted_while_they_run():
    """None: nothing is read of them; one that computes: its seconds are among those of the process."""
    own = processor_seconds()
    assert own > 0
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            while processor_seconds() < 0.1:
                pass
        finally:
            os.write(writing, b"x")
            os.read(os.pipe()[0], 1)  # until it is ended
    os.read(reading, 1)
    try:
        assert processor_seconds() - own >= 0.05
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
