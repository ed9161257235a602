"""What a long solve tells while it runs: to a function, to standard error, and from child processes."""

import itertools
import os
import pickle
import time

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.solvers.running import listeners, time_limits
from fairalloc.solvers.running.cpu_time import processes_below

GAME = fa.example("khamse-fig1").instance
POOL = fa.Instance([[1, 2], [2, 1], [1, 1]], [[9, 12]])


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(listeners, "EVERY", 0.0)


@pytest.mark.parametrize(
    ("instance", "mechanism", "method", "measure"),
    [
        (POOL, "nb", "interior-point", "error"),
        (POOL, "nb", "pdhg", "residual"),
        (GAME, "alpha-pf-vds", "continuation", "residual"),
        (GAME, "alpha-pf-vds", "best-response", "change"),
        (GAME, "drfh", "highs:leximin", ""),
    ],
)
def test_iterations_are_told_to_a_function(instance, mechanism, method, measure):
    told = []
    quiet = fa.solve(instance, mechanism, method)
    loud = fa.solve(instance, mechanism, method, progress=told.append)
    assert loud.tasks.tolist() == quiet.tasks.tolist()
    assert {step.method for step in told} == {method}
    assert told[-1].measure == measure
    iterations = [step.iteration for step in told if step.iteration is not None]
    assert len(iterations) > 1
    assert iterations == sorted(iterations)
    assert [step.seconds for step in told] == sorted(step.seconds for step in told)


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_children_hand_over_what_they_are_told():
    """A mechanism of one's own under a limit runs in a child, and its native solver says nothing but its name."""
    mine = fa.Leximin("equal-tasks", share=lambda instance: [1.0] * instance.N)
    told = []
    fa.solve(GAME, mine, "cvxpy:clarabel", time_limit=30, progress=told.append)
    assert {step.method for step in told} == {"cvxpy:clarabel"}
    assert max(step.iteration or 0 for step in told) > 1


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_no_child_is_left_where_a_listener_raises():
    def gives_up(step):
        raise LookupError(step.method)

    def waits(send):
        listeners.tell(method="waits")
        time.sleep(60)

    with pytest.raises(LookupError), listeners.listening(gives_up):
        time_limits.isolated(waits, np.inf, time.perf_counter)
    assert not [*processes_below(os.getpid())]


def test_lines_on_standard_error(capsys):
    fa.solve(POOL, "nb", "pdhg", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert lines[-1].startswith("fairalloc: 0.")
    assert " s, pdhg, iteration " in lines[-1]
    assert ", residual " in lines[-1]
    assert main(["solve", "wang-pool", "-m", "nb", "--method", "pdhg", "--progress"]) == 0
    assert " s, pdhg, iteration " in capsys.readouterr().err
    assert main(["solve", "wang-pool", "-m", "nb", "--method", "pdhg"]) == 0
    assert capsys.readouterr().err == ""


def test_no_line_comes_before_its_time(monkeypatch):
    monkeypatch.setattr(listeners, "EVERY", 60.0)
    told = []
    fa.solve(POOL, "nb", "pdhg", progress=told.append)
    assert told == []


def test_nobody_listens_after_the_call():
    told = []
    fa.solve(POOL, "nb", "pdhg", progress=told.append)
    count = len(told)
    fa.solve(POOL, "nb", "pdhg")
    assert 0 < count == len(told)
    with pytest.raises(fa.InstanceError, match="progress is 3, but it must be"):
        fa.solve(POOL, "nb", progress=3)


def test_steps_are_passed_on_when_it_is_time(monkeypatch):
    """On a clock that stands still until it is set: at most every two seconds, and none before a method is known."""
    clock, told = [10.0], []
    monkeypatch.setattr(listeners, "EVERY", 2.0)
    monkeypatch.setattr(listeners.time, "perf_counter", lambda: clock[0])
    with listeners.listening(told.append):
        clock[0] = 13.0
        listeners.tick()
        listeners.tell(method="one")
        assert [str(step) for step in told] == ["3.0 s, one"]
        clock[0] = 14.5
        listeners.tell(iteration=3, change=0.5, residual=0.25)
        assert len(told) == 1
        clock[0] = 15.0
        listeners.tick()
        assert str(told[-1]) == "5.0 s, one, iteration 3, residual 2.5e-01"
        clock[0] = 17.0
        listeners.tell(method="two")
        assert str(told[-1]) == "7.0 s, two"
        clock[0] = 19.5
        listeners.tell(iterations=0)
        assert str(told[-1]) == "9.5 s, two, iteration 0"
    assert len(told) == 4


@pytest.mark.parametrize("cut", range(1, 7))
def test_messages_arrive_whole_in_whatever_pieces(cut):
    sent = [{"a": 1}, "text" * 5, [1.5, None]]
    data = b"".join(time_limits._LENGTH.pack(len(one)) + one for one in map(pickle.dumps, sent))
    received = time_limits._Received()
    for start in range(0, len(data), cut):
        received._take(data[start : start + cut])
        whole = sum(start + cut >= end for end in ends_of(sent))
        assert received.messages == sent[:whole][-1:]
    assert received.messages == sent[-1:]


def ends_of(sent):
    """Where each message ends among the bytes."""
    return itertools.accumulate(time_limits._LENGTH.size + len(pickle.dumps(one)) for one in sent)


def test_a_limit_is_overrun_by_a_little_to_read_what_came_at_its_end(monkeypatch):
    """A tenth of the limit and less than a second; not at all where another process ends this one."""
    monkeypatch.setattr(time_limits, "watched", lambda: False)
    for seconds in (1e-3, 1.0, 1000.0):
        over = time_limits.end_of(50.0, seconds) - 50.0 - 1.1 * seconds
        assert 0.0 < over < 1.0
    monkeypatch.setattr(time_limits, "watched", lambda: True)
    assert time_limits.end_of(50.0, 10.0) == 60.0


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_work_under_a_limit_is_done_beside_and_its_end_is_told(monkeypatch):
    seen = []

    def work(_):
        seen.append(os.getpid())
        return os.getpid()

    assert time_limits.within(np.inf, work, None) == os.getpid() == seen[0]
    assert time_limits.within(60.0, work, None) != os.getpid()
    assert len(seen) == 1, "what a child changes stays there"
    with pytest.raises(fa.FairallocError, match=r"^its process ended with exit code 7$"):
        time_limits.within(60.0, lambda _: os._exit(7), None)
    assert time_limits.Outcome(code=None).death == "its process ended"
    monkeypatch.setattr(time_limits, "isolated", lambda *_: time_limits.Outcome(ending="time"))
    assert time_limits.within(1.0, work, "late") == "late"
    monkeypatch.setattr(time_limits, "isolated", lambda *_: time_limits.Outcome(["found"], ending="died"))
    assert time_limits.within(1.0, work, "late") == "found"
    monkeypatch.setattr(time_limits, "isolated", lambda *_: time_limits.Outcome(ending="interrupted"))
    with pytest.raises(KeyboardInterrupt):
        time_limits.within(1.0, work, "late")
