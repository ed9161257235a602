"""What a fresh pair of eyes found wrong once: kept so that it stays found."""

import json

import numpy as np
import pytest
from tolerances import RESIDUAL, SHARES

from fairalloc.analysis.properties import check
from fairalloc.cli import main
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples.published import example
from fairalloc.solvers import residual, solve


def steep(n):
    """A chain on which each user can give the next ten times what it loses: proofs multiply rounding by 10^n."""

    def unit(k, value):
        return [value * (j == k) for j in range(n + 1)]

    users = [unit(0, 1), *[[unit(k, 1), unit(k + 1, 10)] for k in range(n)], unit(n, 1)]
    return Instance(users, [[1.5] + [5.5] * (n - 1) + [6]], max_tasks=[None] + [1] * n + [None])


@pytest.mark.parametrize("method", [None, "highs:leximin", "cvxpy:scs", "exact"])
def test_a_reference_that_errs_with_the_method_proves_nothing(method):
    """Everybody gets 1. A method that stops early at 0.9999967 leaves the last user 6; the residual must not pass it."""
    allocation = solve(steep(6), "lmmf", method)
    right = bool(np.allclose(allocation.tasks, 1, rtol=SHARES))
    assert right == (allocation.residual <= RESIDUAL)
    assert right or method is not None, "the default method goes on until one is proved"


@pytest.mark.parametrize("alpha", [8, 10, 15, 20])
def test_fds_sees_users_with_large_shares(alpha):
    """Ten users share one resource, the eleventh is alone on the other: what it leaves is free, whatever alpha weighs it with."""
    instance = Instance([[1, 0]] * 10 + [[0, 1]], [[1, 1]])
    short = Allocation(instance, [0.1] * 10 + [0.5])
    assert residual(mechanism("fds").configure(alpha=alpha), short) == pytest.approx(1.0, rel=1e-6)
    assert residual(mechanism("fds").configure(alpha=alpha), Allocation(instance, [0.1] * 10 + [1])) <= RESIDUAL


def test_more_than_the_equal_partition_is_not_the_equal_partition():
    instance = example("wang-fig2").instance
    assert not check(solve(instance, "drfh"), "uniform").holds
    assert check(solve(instance, "uniform"), "uniform").holds


def test_an_answer_is_checked_with_its_own_parameters(tmp_path, capsys):
    assert main(["solve", "dolev-fig2", "-m", "fds", "--param", "alpha=5", "--format", "json"]) == 0
    document = capsys.readouterr().out
    assert json.loads(document)["parameters"] == {"alpha": 5.0}
    (tmp_path / "a.json").write_text(document)
    assert main(["check", "dolev-fig2", str(tmp_path / "a.json"), "--property", "fds"]) == 0
    (tmp_path / "a.json").write_text(document.replace("5.0", "1.0"))
    assert main(["check", "dolev-fig2", str(tmp_path / "a.json"), "--property", "fds"]) == 1


@pytest.mark.parametrize("name", ["method", "accuracy", "instance", "trace"])
def test_a_parameter_is_the_mechanisms_not_the_callers(name, capsys):
    assert main(["solve", "wang-fig2", "-m", "drfh", "--param", f"{name}=1"]) == 2
    assert f"mechanism 'drfh' has no parameter {name!r}" in capsys.readouterr().err


def test_a_mistyped_method_is_misuse_in_every_format(capsys):
    assert main(["solve", "wang-fig2", "-m", "drfh", "--format", "jsonl", "--method", "nosuch"]) == 2
    assert capsys.readouterr().out == ""
