"""What a long solve tells while it runs: to a function, to standard error, and from child processes."""

import pytest

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.solvers.running import listeners, time_limits

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
