"""An instance in other units, made without validating again, is the one that the constructor makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import instances
from tolerances import EXACT

import fairalloc as fa
from fairalloc.models.instance import Instance


@settings(max_examples=drawn(60))
@given(instances(rates=False))
def test_it_is_what_the_constructor_makes(instance):
    unit = np.linspace(0.5, 3.0, instance.N)
    weights = np.linspace(1.0, 2.0, instance.N)
    found = instance.rescaled(weights, unit)
    made = instance.replace(
        demands=[d * u for d, u in zip(instance.demands, unit, strict=True)],
        demands_on={(n, i): d * unit[n] for (n, i), d in instance.demands_on.items()},
        max_tasks=instance.max_tasks / unit,
        capacities=instance.capacities,
        weights=weights,
    )
    assert found == made
    assert found.exact == made.exact
    assert hash(found) == hash(made)
    for name in ("user", "variant", "server", "demand", "gamma"):
        np.testing.assert_allclose(getattr(found.arcs, name), getattr(made.arcs, name), rtol=EXACT)
    np.testing.assert_allclose(found.arcs.load.toarray(), made.arcs.load.toarray(), rtol=EXACT)
    assert not found.arcs.demand.flags.writeable
    assert not found.demands[0].flags.writeable
    again = found.rescaled(instance.weights)
    assert again.arcs is found.arcs
    assert again == made.replace(weights=instance.weights)


def test_servers_that_were_pooled_before_are_pooled_again():
    instance = fa.Instance([[1], [1]], [[6], [6]])
    weights, unit = np.array([1.0, 2.0]), np.array([2.0, 2.0])
    assert instance.pool.weights.tolist() == [1, 1]
    assert instance.rescaled(weights).pool.weights.tolist() == [1, 2]
    assert instance.rescaled(np.array([3.0, 1.0])).pool.weights.tolist() == [3, 1]
    assert instance.rescaled(weights, unit).pool.demands[0].tolist() == [[2]]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_leaves_the_range_is_refused():
    instance = Instance([[1, 2]], [[3, 4]], max_tasks=[1e-10])
    with pytest.raises(fa.FairallocError, match="max_tasks of user 'u1' is out of the range"):
        instance.rescaled(np.ones(1), np.array([np.inf]))
    for unit in (1e305, 1e308):  # the second overflows
        with pytest.raises(fa.FairallocError, match="out of range"):
            Instance([[1, 2]], [[3, 4]]).rescaled(np.ones(1), np.array([unit]))
    with pytest.raises(fa.FairallocError, match="the weight of user 'u1', beside those of others, is out of the range"):
        instance.rescaled(np.zeros(1))
    for far in ([1e-200, 1e200], [1e-160, 1e160, 1]):  # "the weight of user 'u1' is 0" was said of what is positive
        with pytest.raises(fa.FairallocError, match="the weight of user 'u1', beside those of others, is out of the range"):
            fa.solve(Instance([[1, 2]] * len(far), [[3, 4]], weights=far), "drfh")


@pytest.mark.filterwarnings("always")
def test_limits_whose_level_is_rounding_beside_the_others_write_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    demands, weights = [[1e-85], [1e-85], [1e-85], [2.9999999999999996e-85]], [1.000000001, 1.000000001, 1, 2]
    fa.solve(fa.Instance(demands, [[1], [2], [1]], weights=weights, max_tasks=[None, 0.5, None, 0.5]), "drfh")
    assert not [str(warning.message) for warning in recwarn]
