"""Hypothesis strategies: small random instances with every feature, and allocations on them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from fairalloc.models import Allocation, Instance

__all__ = ["allocations", "instances", "numbers"]

PLAIN = st.integers(1, 4)
"""Few small integers: ties between users, servers and resources are the rule."""

FRACTIONS = st.builds(Fraction, st.integers(1, 12), st.integers(1, 7))
DECIMALS = st.integers(1, 999).map(lambda k: k / 100)
TEXTS = FRACTIONS.map(str)


def numbers():
    """Positive numbers in every form that is read: int, Fraction, float, string."""
    return st.one_of(PLAIN, FRACTIONS, DECIMALS, TEXTS)


@st.composite
def instances(draw, placement=True, variants=True, overrides=True, limits=True, counts=True, scales=True):
    """One to four users, servers and resources, with ties, zeros, weights and hostile units; the switches turn features off."""
    n_users, n_servers, n_resources = (draw(st.integers(1, 4)) for _ in range(3))
    entry = draw(st.sampled_from([PLAIN, numbers()]))
    unit = [_power(draw, scales) for _ in range(n_resources)]

    def vector(zeros, least=()):
        values = [draw(entry) if r in least or not (zeros and draw(st.booleans())) else 0 for r in range(n_resources)]
        return [Fraction(str(v)) * u if u != 1 else v for v, u in zip(values, unit, strict=True)]

    def demand():
        ways = draw(st.integers(1, 3)) if variants else 1
        rows = [vector(draw(st.booleans()), least={draw(st.integers(0, n_resources - 1))}) for _ in range(ways)]
        return rows if ways > 1 or draw(st.booleans()) else rows[0]

    def maybe(values):
        return values() if draw(st.booleans()) else None

    demands = [demand() for _ in range(n_users)]
    home = draw(st.integers(0, n_servers - 1))  # a server that has everything and is open to everybody
    capacities = [
        vector(i != home and draw(st.booleans()), least=range(n_resources) if i == home else ()) for i in range(n_servers)
    ]
    more = {
        "weights": maybe(lambda: [draw(numbers()) for _ in range(n_users)]),
        "counts": maybe(lambda: [draw(st.integers(1, 3)) for _ in range(n_servers)]) if counts else None,
        "max_tasks": maybe(lambda: [draw(st.none() | numbers()) for _ in range(n_users)]) if limits else None,
    }
    if placement and draw(st.booleans()):
        more["eligible"] = [[i == home or draw(st.booleans()) for i in range(n_servers)] for _ in range(n_users)]
    if overrides and draw(st.booleans()):
        pairs = draw(st.sets(st.tuples(st.integers(0, n_users - 1), st.integers(0, n_servers - 1)), max_size=2))
        more["demands_on"] = {(n, i): _like(demands[n], vector, n_resources) for n, i in pairs}
    return Instance(demands, capacities, **more)


@st.composite
def allocations(draw, instance):
    """Tasks on every arc of `instance`: nonnegative, mostly not feasible."""
    parts = draw(st.lists(st.integers(0, 8), min_size=len(instance.arcs), max_size=len(instance.arcs)))
    return Allocation(instance, np.array(parts) / 8 * instance.arcs.gamma)


def _power(draw, scales):
    return Fraction(10) ** draw(st.sampled_from([0, 0, 0, -9, 9])) if scales else 1


def _like(demand, vector, n_resources):
    """Demands with as many variants as `demand`."""
    rows = [vector(False, range(n_resources)) for _ in (demand if isinstance(demand[0], list) else [0])]
    return rows if len(rows) > 1 else rows[0]
