"""Rounds by connected components: what no open arc connects is solved apart, and only once."""

from dataclasses import replace

import numpy as np
import pytest

from fairalloc.formulations import mechanism
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import solve
from fairalloc.solvers.interior_point.max_min import MaxMinArrow
from tests.tolerances import RESIDUAL, SHARES

METHOD = "interior-point"


def islands(*seeds, users=6, servers=3):
    """One island of users and servers for each seed; equal seeds give equal islands."""
    parts = [generators.generic(users, servers, 2, seed) for seed in seeds]
    island = np.arange(len(seeds))
    return Instance(
        np.concatenate([part.vectors.matrix.toarray() for part in parts]),
        np.concatenate([part.capacities for part in parts]),
        eligible=np.repeat(island, users)[:, None] == np.repeat(island, servers),
    )


@pytest.fixture
def solved(monkeypatch):
    """The numbers of arcs of all programs that are solved."""
    sizes, whole = [], MaxMinArrow.solve

    def counted(arrow, *arguments):
        sizes.append(len(arrow.instance.arcs))
        return whole(arrow, *arguments)

    monkeypatch.setattr(MaxMinArrow, "solve", counted)
    return sizes


@pytest.mark.parametrize("name", ["drfh", "lmmf", "tsf"])
def test_islands_are_solved_apart_and_once(name, solved):
    instance = islands(1, 2, 3)
    found, other = solve(instance, name, METHOD), solve(instance, name, "highs")
    assert solved == [18, 18, 18]
    assert found.residual <= 1e-2 * RESIDUAL
    np.testing.assert_allclose(found.tasks, other.tasks, rtol=SHARES)


def test_equal_islands_end_in_the_same_round(solved):
    found = solve(islands(1, 2, 1), "lmmf", METHOD)
    assert found.residual <= 1e-2 * RESIDUAL
    assert len(found.round_prices) == 2
    assert len(solved) == 3


def test_what_falls_apart_in_later_rounds_is_solved_apart(solved):
    instance = generators.racks(60, 20, 3, 1)
    found, other = solve(instance, "drfh", METHOD), solve(instance, "drfh", "highs")
    assert solved[0] == len(instance.arcs) > solved[-1]
    np.testing.assert_allclose(found.tasks, other.tasks, rtol=SHARES)


def test_where_all_hang_together_there_is_one_program(solved):
    instance = generators.zero_demand(12, 5, 3, 1)
    found = solve(instance, "lmmf", METHOD)
    assert set(solved) == {len(instance.arcs)}
    assert len(solved) == len(found.round_prices) > 1


def test_a_round_is_new_where_one_of_its_numbers_is():
    now = Round.first(generators.generic(4, 2, 2, 1))
    assert now.is_like(replace(now))
    assert not now.is_like(None)
    for changed in (
        replace(now, active=now.active & (np.arange(4) > 0)),
        replace(now, level=now.level + np.eye(4)[2]),
        replace(now, closed=np.arange(8) == 3),
        replace(now, full=np.arange(4) == 1),
        replace(now, implied=np.arange(4) == 1),
    ):
        assert not now.is_like(changed)


def test_out_of_time_an_island_keeps_its_equal_partition():
    found = solve(islands(1, 2, 3), "drfh", METHOD, time_limit=1e-9)
    assert found.termination == "time_limit"
    assert found.has_point
    assert (found.tasks > 0).all()
    assert not found.claims_success


def test_islands_take_their_part_of_a_warm_start(solved):
    instance = islands(1, 2, 3)
    cold = solve(instance, "drfh", METHOD)
    heavier = instance.replace(weights=1.0 + 0.01 * np.eye(18)[0])
    warm, again = solve(heavier, "drfh", METHOD, warm_start=cold), solve(heavier, "drfh", METHOD)
    assert len(solved) == 9
    assert warm.iterations < again.iterations
    np.testing.assert_allclose(warm.tasks, again.tasks, rtol=SHARES)


def test_prices_of_one_island_prove_its_level_alone():
    """Those of the others, raised by a hundredth, leave a gap: the residual is computed from the prices that are there."""
    item = mechanism("drfh")
    found = solve(islands(1, 2, 3), item, METHOD)
    assert item.residual(found) <= 1e-2 * RESIDUAL
    assert item.residual(replace(found, round_prices=found.round_prices[:1])) > RESIDUAL


def test_a_round_that_proves_nothing_is_the_last():
    """Weights 1e12 apart: the 22 rounds took 1,292 Newton systems, and from the fifth on none bounded its level."""
    given = solve(generators.weights(20, 4, 2, 0, decades=12), "drf-per-server", METHOD, trace=True)
    assert given.termination == "inaccurate"
    assert "a round ends with an error of" in given.message
    assert given.iterations < 400
    assert all(step["error"] < 1 for step in given.trace[:-1])
