"""The bound of first order at its best scale: the least over all kinks, found without looking at all of them."""

import tracemalloc

import numpy as np
import pytest
from tolerances import ROUNDING

from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples import generators


def least_over_all_kinks(allocation, marginal):
    """The definition, one scale after the other; inf where users without a limit pay nothing."""
    instance, q = allocation.instance, cheapest(allocation.instance, allocation.prices)
    capped = np.isfinite(instance.max_tasks)
    if np.any((q == 0) & (marginal > 0) & ~capped):
        return np.inf
    kinks = np.divide(marginal, q, out=np.zeros_like(q), where=q > 0)
    least = kinks[~capped].max(initial=0.0)
    scales = [least, *(max(kink, least) for kink in kinks)]
    rest = [np.maximum(marginal - s * q, 0.0)[capped] @ instance.max_tasks[capped] for s in scales]
    bound = min(s * allocation.prices.sum() + more for s, more in zip(scales, rest, strict=True))
    return max(bound / (marginal @ allocation.tasks) - 1.0, 0.0)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_scale_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    instance = generators.finite(*rng.integers(1, 12, 3), seed)
    limits = np.where(rng.random(instance.N) < seed % 3 / 2, np.inf, rng.lognormal(0, 3, instance.N))
    instance = instance.replace(max_tasks=limits)
    prices = rng.random((instance.K, instance.R)) * (rng.random((instance.K, instance.R)) < rng.uniform(0.3, 1))
    allocation = Allocation(instance, instance.arcs.gamma * rng.random(len(instance.arcs)) / instance.N, prices=prices)
    marginal = rng.random(instance.N) * (rng.random(instance.N) < 0.8) + 1e-3
    expected = least_over_all_kinks(allocation, marginal)
    assert first_order_gain(allocation, marginal) == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def test_its_memory_does_not_grow_with_the_square_of_the_users():
    rng = np.random.default_rng(0)
    users = 20_000
    instance = Instance(rng.uniform(0.1, 1, (users, 2)), rng.uniform(5, 20, (2, 2)), max_tasks=rng.lognormal(0, 1, users))
    allocation = Allocation(instance, instance.arcs.gamma / users, prices=rng.random((2, 2)))
    tracemalloc.start()
    try:
        gain = first_order_gain(allocation, 1.0 / allocation.tasks)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert gain >= 0
    assert most < users**2
