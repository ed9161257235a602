"""Hypothesis strategies: small random instances with every feature, and allocations on them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from fairalloc.models import Allocation, Instance
from fairalloc.simulation import Cluster, ServerEvents, Workload

PLAIN = st.integers(1, 4)
"""Few small integers: ties between users, servers and resources are the rule."""

FRACTIONS = st.builds(Fraction, st.integers(1, 12), st.integers(1, 7))
DECIMALS = st.integers(1, 999).map(lambda k: k / 100)
TEXTS = FRACTIONS.map(str)


def numbers():
    """Positive numbers in every form that is read: int, Fraction, float, string."""
    return st.one_of(PLAIN, FRACTIONS, DECIMALS, TEXTS)


@st.composite
def instances(draw, placement=True, variants=True, overrides=True, rates=True, limits=True, counts=True, scales=True):
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
    if rates and draw(st.booleans()):
        more["rates"] = [
            [draw(numbers()) if i == home or draw(st.booleans()) else draw(st.sampled_from([0, 1])) for i in range(n_servers)]
            for _ in range(n_users)
        ]
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


@st.composite
def simulations(draw, churn=True):
    """(workload, cluster, events, until): a few machines and jobs with ties in sizes, times and weights, and what goes."""
    n_resources, n_classes, n_users = (draw(st.integers(1, most)) for most in (3, 3, 7))
    sizes = st.sampled_from([0.25, 0.5, 1, 0.3, 0.7])
    capacities = [[draw(sizes) for _ in range(n_resources)] for _ in range(n_classes)]
    cluster = Cluster([f"r{r}" for r in range(n_resources)], capacities, [draw(st.integers(1, 2)) for _ in range(n_classes)])
    jobs = draw(st.integers(1, 9))
    home = [draw(st.integers(0, n_classes - 1)) for _ in range(jobs)]
    part = [[draw(st.sampled_from([0, 0.1, 1 / 3, 0.5, 1])) for _ in range(n_resources)] for _ in range(jobs)]
    demand = [[p * c for p, c in zip(row, capacities[k], strict=True)] for row, k in zip(part, home, strict=True)]
    demand = [row if any(row) else capacities[k] for row, k in zip(demand, home, strict=True)]
    eligible = [[k == h or draw(st.booleans()) for k in range(n_classes)] for h in home] if draw(st.booleans()) else None
    times = st.sampled_from([0, 1, 2, 2.5, 5])
    workload = Workload(
        cluster.resources,
        [f"u{n}" for n in range(n_users)],
        [draw(st.sampled_from([1, 2])) for _ in range(n_users)],
        [draw(st.integers(0, n_users - 1)) for _ in range(jobs)],
        [draw(times) for _ in range(jobs)],
        [draw(st.integers(1, 4)) for _ in range(jobs)],
        [draw(st.sampled_from([1, 2.5, 3])) for _ in range(jobs)],
        demand,
        eligible,
        [draw(st.sampled_from([np.inf, np.inf, 2, 4])) for _ in range(n_users)] if churn else None,
    )
    turns = []
    for s in range(len(cluster.server_class)) if churn else ():
        up = draw(st.booleans())
        for time in draw(st.lists(times, max_size=3, unique=True).map(sorted)):
            turns.append((time, s, up))
            up = not up
    turns.sort()
    events = ServerEvents(*(list(column) for column in zip(*turns, strict=True))) if turns else ServerEvents()
    return workload, cluster, events, draw(st.sampled_from([3.0, 7.0, 1e3]))
