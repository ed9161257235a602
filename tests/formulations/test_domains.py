"""The instances that uniform and drf-per-server are written on: their floats against their rationals, which no solve reads."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import instances

import fairalloc as fa
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.input.validation import Derived

RATES = st.sampled_from([0, 1, 3, 0.7, "5/7", Fraction(1, 3), 49])
ITEMS = {name: fa.mechanism(name) for name in ("uniform", "drf-per-server")}


def with_rates(instance, data):
    """Some rates of any form, where everybody keeps a server."""
    rates = [[data.draw(RATES) for _ in range(instance.K)] for _ in range(instance.N)]
    try:
        return instance.replace(rates=rates)
    except fa.InstanceError:
        return assume(False)


@pytest.mark.parametrize("name", ITEMS)
@given(instance=instances(), data=st.data())
def test_floats_and_rationals_are_the_same_numbers(name, instance, data):
    if name == "drf-per-server":
        instance = instance.replace(demands=[own[:1] for own in instance.exact.demands], demands_on=None, max_tasks=None)
    instance = with_rates(instance, data) if data.draw(st.booleans()) else instance
    domain = ITEMS[name].domain(instance)
    exact = exact_arcs(domain)
    for column, load in enumerate(exact.load):
        entries = slice(*domain.arcs.load.indptr[column : column + 2])
        found = dict(zip(domain.arcs.load.indices[entries].tolist(), domain.arcs.load.data[entries], strict=True))
        assert found == pytest.approx({row: float(part) for row, part in load}, rel=1e-14)
    assert domain.weights == pytest.approx([float(w) for w in domain.exact.weights], rel=1e-14)
    assert len(domain.arcs) == len(instance.arcs)
    assert pickle.loads(pickle.dumps(domain)) == domain


@pytest.mark.parametrize("name", ITEMS)
def test_a_solve_reads_no_rationals(name, monkeypatch):
    """They were made before each solve, which took 20 times as long at 2 x 10^5 arcs."""
    instance = fa.generators.generic(20, 5, 3, 1)
    monkeypatch.setattr(Derived, "rows", None)
    assert fa.solve(instance, name, isolate=False).termination == "optimal"
