"""The warm start of rules with rounds: the same allocations, fewer rounds, and the plain solve where the level was no guide."""

import numpy as np
import pytest
from tolerances import RESIDUAL, SHARES

from fairalloc.models.instance import Instance
from fairalloc.simulation.level_start import LevelStart
from fairalloc.solvers import solve


def crowded(seed, servers=1.0):
    """Thirty users, most of whom want little, on three classes of servers."""
    rng = np.random.default_rng(seed)
    demands = rng.uniform(0.1, 1, (30, 2))
    return Instance(
        demands, servers * rng.uniform(5, 20, (3, 2)), weights=rng.uniform(1, 2, 30), max_tasks=rng.uniform(0.1, 9, 30)
    )


@pytest.mark.parametrize("mechanism", ["drfh", "tsf", "lmmf"])
def test_from_the_level_before_the_answers_are_those_of_solve(mechanism):
    """At 3 the level before is too low for half of the users, at 0.3 it is higher than anybody gets."""
    warm = LevelStart(mechanism, {})
    for seed, servers in enumerate([1.0, 1.0, 1.1, 3.0, 0.3, 0.3, 100.0, 100.0, 0.5]):
        instance = crowded(seed % 3, servers)
        answer, plain = warm.solve(instance), solve(instance, mechanism)
        assert np.allclose(answer.tasks, plain.tasks, rtol=SHARES)
        assert answer.instance is instance
        assert answer.residual < RESIDUAL
    assert 4 <= warm.started <= 8


def test_a_start_has_fewer_rounds():
    warm, instance = LevelStart("drfh", {}), crowded(0)
    first, again = warm.solve(instance), warm.solve(instance)
    assert len(again.round_prices) < len(first.round_prices) / 2


def test_what_has_no_levels_or_no_limits_is_solved_plainly():
    unlimited = Instance([[1, 2], [2, 1]], [[5, 5]])
    for mechanism, instance in (("drfh", unlimited), ("nb", crowded(0)), ("drf", crowded(0))):
        warm = LevelStart(mechanism, {"accuracy": "mid"})
        for _ in range(2):
            assert warm.solve(instance).residual < RESIDUAL
        assert warm.started == 0
