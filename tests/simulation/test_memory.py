"""Past use against its integral, and what memory does to shares over time."""

import numpy as np
import pytest

from fairalloc.models.errors import InstanceError
from fairalloc.simulation import Cluster, FluidLog, Memory, Workload, simulate_fluid
from fairalloc.simulation.metrics import dominant_shares, jain


def test_past_use_is_the_decayed_integral_and_does_not_depend_on_the_steps() -> None:
    memory, use = Memory(half_life=10.0), np.zeros(2)
    for seconds, shares in ((3.0, [0.5, 0.1]), (4.0, [0.2, 0.0])):
        for _ in range(7):
            use = memory.after(use, np.array(shares), seconds / 7)
    u = np.linspace(0.0, 7.0, 200_001)
    at = np.where(u[:, None] < 3.0, [0.5, 0.1], [0.2, 0.0]) * 2.0 ** (-(7.0 - u) / 10.0)[:, None]
    assert use == pytest.approx(np.trapezoid(at, u, axis=0), rel=1e-4)
    assert memory.after(use, np.zeros(2), 10.0) == pytest.approx(use / 2)


@pytest.mark.parametrize(("rule", "expected"), [("exponential", [2 ** (-1.5), 2 ** (-0.5)]), ("linear", [0.5, 1.5])])
def test_weights_fall_with_the_part_of_past_use(rule: str, expected: list[float]) -> None:
    memory = Memory(1.0, rule)  # type: ignore[arg-type]
    assert memory.weights(np.array([2.0, 2.0]), np.array([3.0, 1.0])) == pytest.approx(2 * np.array(expected))
    assert memory.weights(np.array([2.0, 6.0]), np.zeros(2)).tolist() == [2.0, 6.0]
    same = memory.weights(np.array([1.0, 3.0]), np.array([10.0, 30.0]))
    assert same[1] == pytest.approx(3 * same[0])


def log_of(memory: Memory | None) -> FluidLog:
    """User ann works alone for 100 seconds, then bob comes."""
    jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 100], [10**4, 10**4], [10, 10], [[0.1], [0.1]])
    return simulate_fluid(jobs, Cluster(["cpu"], [[1.0]]), "drfh", 200.0, 5.0, memory=memory)


@pytest.mark.parametrize("rule", ["exponential", "linear"])
def test_who_had_more_gets_less_and_in_the_long_run_all_have_the_same(rule: str) -> None:
    with_it, without = log_of(Memory(1000.0, rule)), log_of(None)  # type: ignore[arg-type]
    first = dominant_shares(with_it, [100.0, 105.0])[0]
    assert first[1] > 1.5 * first[0] > 0
    assert dominant_shares(without, [100.0, 105.0])[0] == pytest.approx([0.5, 0.5])
    whole = [float(jain(dominant_shares(log, [0.0, 200.0])[0])) for log in (with_it, without)]
    assert whole[0] > whole[1] + 0.05
    assert dominant_shares(with_it, [0.0, 50.0])[0] == pytest.approx([1.0, 0.0])  # alone, memory changes nothing


def test_a_short_half_life_forgets() -> None:
    late = dominant_shares(log_of(Memory(1.0)), [190.0, 200.0])[0]
    assert late == pytest.approx([0.5, 0.5], abs=1e-2)


@pytest.mark.parametrize(
    "bad", [{"half_life": 0.0}, {"half_life": np.inf}, {"half_life": 1.0, "strength": -1.0}, {"half_life": 1.0, "rule": 0}]
)
def test_bad_memory_is_one_sentence(bad: dict[str, object]) -> None:
    with pytest.raises(InstanceError, match=f"{list(bad)[-1]} is "):
        Memory(**bad)  # type: ignore[arg-type]


def test_a_weight_does_not_fall_to_nothing_and_strength_is_a_factor() -> None:
    """Who has had all has the ratio 2 of equal weights; a linear factor would be 1 - strength."""
    use = np.array([4.0, 0.0])
    for strength in (1.0, 3.0):
        low, high = Memory(5.0, "linear", strength).weights(np.ones(2), use)
        assert (low, high) == (pytest.approx(1e-3), 1 + strength)
    assert Memory(5.0, "linear", 0.25).weights(np.ones(2), use).tolist() == [0.75, 1.25]
    assert Memory(5.0, strength=2.0).weights(np.ones(2), use) == pytest.approx([2**-4, 1])
    assert Memory(5.0).weights(np.ones(2), use) == pytest.approx([2**-2, 1])


def test_a_long_half_life_adds_what_is_used() -> None:
    assert Memory(1e18).after(np.array([1.0, 0.0]), np.array([0.5, 0.25]), 10.0) == pytest.approx([6.0, 2.5])
