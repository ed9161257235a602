"""Seeded families of random instances, `family(n_users, n_servers, n_resources, seed)`: same arguments, same instance.

Each family stresses one thing. Size: generic. Structure: ties, zero demands, placement, few servers a user (sparse), users and
servers that are alike (identical), finite tasks, several variants. Numbers: heavy tails, units, weights or demands that are many
powers of ten apart, degeneracy by degrees (degenerate). Answers: known (planted). Data: the server mix of a real cell
(google_mix), requests and entitlements as in D (njc). `market` and `network` have sizes of their own.

`n_users`, `n_servers` and `n_resources` are positive whole numbers (InstanceError otherwise). `seed` fixes the random numbers.
"""

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import require
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.examples.networks import Graph, nodes_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, rational

GOOGLE_MIX: tuple[tuple[int, str, str], ...] = (
    (6732, "0.50", "0.50"),
    (3863, "0.50", "0.25"),
    (1001, "0.50", "0.75"),
    (795, "1.00", "1.00"),
    (126, "0.25", "0.25"),
    (52, "0.50", "0.12"),
    (5, "0.50", "0.03"),
    (5, "0.50", "0.97"),
    (3, "1.00", "0.50"),
    (1, "0.50", "0.06"),
)
"""(count, cpu, memory) of the 12,583 machines of W Table 1."""


LINK_CLASSES = (10.0, 40.0, 100.0)
"""Capacities of links in `network`, Gb/s; half of the links have the first, three in ten the second."""


def _powers_of_ten(exponents: Any) -> Floats:
    """10^e, by the C library: NumPy's last digits differ from processor to processor, and an instance must not."""
    return np.array([10.0**e for e in exponents.tolist()])


class _Draws(np.random.Generator):
    """The generator of a family at one size, with shapes `users` (N, R) and `servers` (K, R); `key` is the seed."""

    def __init__(self, family: str, n_users: int, n_servers: int, n_resources: int, *key: object) -> None:
        drawn = [own.item() if isinstance(own, np.generic) else own for own in (n_users, n_servers, n_resources, *key)]
        self.n_users, self.n_servers = n_users, n_servers
        self.users, self.servers = (n_users, n_resources), (n_servers, n_resources)
        self.name = "-".join([family.replace("_", "-"), f"{n_users}x{n_servers}x{n_resources}", *map(str, drawn[3:])])
        super().__init__(np.random.PCG64([ord(c) for c in repr((family, *drawn))]))

    def as_generic(self) -> dict[str, Any]:
        """Demands, capacities and weights of the generic family."""
        demands, capacities = self.spread(self.users), self.capacities()
        return {"demands": demands, "capacities": capacities, "weights": self.uniform(0.5, 2.0, self.n_users)}

    def capacities(self) -> Floats:
        """(K, R) those of the generic family: about as much for a user whatever the numbers."""
        return self.n_users * self.spread(self.servers) / self.n_servers

    def spread(self, shape: tuple[int, ...]) -> Floats:
        """Numbers from 0.3 to 3.2."""
        return np.exp(self.uniform(-1.15, 1.15, shape)).round(4)

    def far_apart(self, size: int, decades: int) -> Floats:
        """Powers of ten from 0 to `decades`, the first two at the ends."""
        require(0 <= decades <= 100, "decades is", decades, "it must be a whole number from 0 to 100")
        exponents = self.uniform(0, decades, size)
        exponents[:2] = (decades, 0)[:size]
        return _powers_of_ten(exponents)

    def heavy(self, shape: tuple[int, ...]) -> Floats:
        """Numbers from 1 on with a heavy tail."""
        return (1.0 + self.pareto(1.5, shape)).round(4)

    def few(self, part: float) -> sp.csr_array:
        """True on a random part of the servers of every user, rounded up to whole ones; sparse."""
        degree = ceil(rational(part, "the part") * self.n_servers)
        servers = np.concatenate([np.sort(self.choice(self.n_servers, degree, replace=False)) for _ in range(self.n_users)])
        start = degree * np.arange(self.n_users + 1)
        return sp.csr_array((np.ones(len(servers), bool), servers, start), shape=(self.n_users, self.n_servers))

    def some(self, shape: tuple[int, int], part: float) -> np.ndarray:
        """True with probability `part`, and at least once in every row."""
        result = self.random(shape) < part
        result[np.arange(shape[0]), self.integers(shape[1], size=shape[0])] = True
        return result


@checked
def generic(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Positive demands and capacities with a spread of about ten, uneven weights, no constraints."""
    rng = _Draws("generic", n_users, n_servers, n_resources, seed)
    return Instance(**rng.as_generic(), name=rng.name)


@checked
def tied(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Demands 1 to 3 and capacities 4, 8 or 12: many users, servers and dominant resources are equal."""
    rng = _Draws("tied", n_users, n_servers, n_resources, seed)
    return Instance(rng.integers(1, 4, rng.users), 4 * rng.integers(1, 4, rng.servers), name=rng.name)


@checked
def zero_demand(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """A quarter (2 resources) to half of the demands and some capacities are zero: bottlenecks come at different levels."""
    rng = _Draws("zero_demand", n_users, n_servers, n_resources, seed)
    demands = rng.spread(rng.users) * rng.some(rng.users, 0.5)
    capacities = n_users * rng.spread(rng.servers) * (rng.random(rng.servers) < 0.8)
    capacities[0] = np.maximum(capacities[0], 1.0)  # it has every resource, so that every user has an eligible server
    return Instance(demands, capacities, name=rng.name)


@checked
def placement(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Every user may use a random third of the servers, at least one."""
    rng = _Draws("placement", n_users, n_servers, n_resources, seed)
    return Instance(**rng.as_generic(), eligible=rng.some((n_users, n_servers), 1 / 3), name=rng.name)


@checked
def heavy_tailed(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Numbers of Pareto's law, index 1.5 (of a thousand the largest is about 100 medians), a third of the servers for each."""
    rng = _Draws("heavy_tailed", n_users, n_servers, n_resources, seed)
    return Instance(
        0.1 * rng.heavy(rng.users),
        n_users * rng.heavy(rng.servers) / n_servers,
        weights=rng.heavy((n_users,)),
        eligible=rng.some((n_users, n_servers), 1 / 3),
        name=rng.name,
    )


@checked
def sparse(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, part: float = 0.01) -> Instance:
    """The generic family where every user may use a random `part` of the servers, in (0, 1], rounded up to whole ones."""
    require(0 < part <= 1, "part is", part, "it must be above 0 and at most 1")
    rng = _Draws("sparse", n_users, n_servers, n_resources, seed)
    return Instance(**rng.as_generic(), eligible=rng.few(part), name=rng.name)


@checked
def identical(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, classes: Count = 10) -> Instance:
    """The generic family with at most `classes` different users, and as many different servers: others can be merged."""
    rng = _Draws("identical", n_users, n_servers, n_resources, seed)
    user, server = rng.integers(classes, size=n_users), rng.integers(classes, size=n_servers)
    return Instance(
        rng.spread((classes, n_resources))[user],
        n_users * rng.spread((classes, n_resources))[server] / n_servers,
        weights=rng.uniform(0.5, 2.0, classes)[user],
        name=rng.name,
    )


@checked
def racks(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, several: bool = False) -> Instance:
    """Racks of five servers (half of fewer than ten), nine users in ten bound to one; `several`: one to three variants each."""
    base = (variants if several else generic)(n_users, n_servers, n_resources, seed)
    rng = _Draws("racks", n_users, n_servers, n_resources, seed)
    rack_of_server = np.arange(n_servers) // min(5, max(1, n_servers // 2))
    rack_of_user = rng.integers(rack_of_server.max() + 1, size=n_users)
    anywhere = rng.random(n_users) < 0.1
    return base.replace(eligible=(rack_of_user[:, None] == rack_of_server) | anywhere[:, None], name=rng.name)


@checked
def finite(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Half of the users have few tasks (W 5.1), some fewer than their fair share."""
    rng = _Draws("finite", n_users, n_servers, n_resources, seed)
    limits = np.where(rng.random(n_users) < 0.5, rng.uniform(0.1, 3.0, n_users), np.inf)
    return Instance(rng.spread(rng.users), rng.capacities(), max_tasks=limits, name=rng.name)


@checked
def variants(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """One to three ways to run a task (Z II-A)."""
    rng = _Draws("variants", n_users, n_servers, n_resources, seed)
    ways = [int(rng.integers(1, 4)) for _ in range(n_users)]
    demands = [rng.spread((v, n_resources)) * rng.some((v, n_resources), 0.7) for v in ways]
    return Instance(demands, rng.capacities(), name=rng.name)


@checked
def badly_scaled(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """The generic family in badly chosen units: resources over 12 orders of magnitude, tasks over 8, weights over 2."""
    base = generic(n_users, n_servers, n_resources, seed)
    rng = _Draws("badly_scaled", n_users, n_servers, n_resources, seed)
    resource = _powers_of_ten(rng.uniform(-6, 6, n_resources))
    task = _powers_of_ten(rng.uniform(-4, 4, n_users))
    return Instance(
        np.concatenate(base.demands) * task[:, None] * resource,
        base.capacities * resource,
        weights=_powers_of_ten(rng.uniform(-1, 1, n_users)),
        name=rng.name,
    )


@checked
def google_mix(n_users: Count, n_servers: Count = 12_583, n_resources: Count = 2, seed: int = 0) -> Instance:
    """The machines of W Table 1 as classes with counts, or a sample of them (W 6.1), and synthetic users.

    Users: lognormal requests with the medians, spreads and correlation (0.58) of the 2011 trace's jobs, in the trace's units
    (the largest machine has 1 of each); a synthetic stand-in for the trace's own users.
    """
    require(n_resources == 2, "n_resources is", n_resources, "the machines of W Table 1 have 2: cpu and memory")
    rng = _Draws("google_mix", n_users, n_servers, n_resources, seed)
    counts = np.array([q for q, _, _ in GOOGLE_MIX])
    if n_servers != counts.sum():
        counts = rng.multinomial(n_servers, counts / counts.sum())
    kinds = [(int(q), [cpu, memory]) for q, (_, cpu, memory) in zip(counts, GOOGLE_MIX, strict=True) if q]
    first, second = rng.normal(size=(2, n_users))
    requests = np.column_stack([0.0375 * np.exp(1.4 * first), 0.0186 * np.exp(1.5 * (0.58 * first + 0.81 * second))])
    return Instance(
        np.clip(requests, 1e-4, 0.5).round(5),
        [capacity for _, capacity in kinds],
        counts=[q for q, _ in kinds],
        name=f"google-mix-{n_users}x{n_servers}-{seed}",
        resources=["cpu", "memory"],
        servers=[f"{cpu}-{memory}" for _, (cpu, memory) in kinds],
    )


@checked
def market(buyers: Count, goods: Count, density: float = 1.0, seed: int = 0) -> Instance:
    """A Fisher market, by the distribution of cuPDCS (arXiv 2505.00311): goods are servers with one resource each.

    Weights, the budgets, and rates, the worth of a good, are uniform on (0, 1); of every good there are buyers / 4. The answer
    of `nb` is the equilibrium.

    Parameters
    ----------
    buyers, goods : how many
    density : the random part of the goods that a buyer wants, in (0, 1], rounded up to whole ones
    seed : of the random numbers
    """
    require(0 < density <= 1, "density is", density, "it must be above 0 and at most 1")
    rng = _Draws("market", buyers, goods, 1, float(density), seed)
    wanted = rng.few(density)
    worth = 1.0 - rng.random(wanted.nnz)
    rates = sp.csr_array((worth, wanted.indices, wanted.indptr), shape=wanted.shape)
    budgets, supply = 1.0 - rng.random(buyers), np.full((goods, 1), buyers / 4)
    return Instance(np.ones((buyers, 1)), supply, weights=budgets, rates=rates, name=rng.name, resources=["good"])


@checked
def network(flows: Count, links: Count, paths: Count = 4, seed: int = 0, equal: bool = False) -> Instance:
    """Flows through a wide-area network: links are the resources of one server, the shortest paths of a flow its variants.

    The graph is that of networks.py; a link and the one backwards have a capacity of LINK_CLASSES. Flows join different pairs of
    nodes, and max_tasks, their demands, follow the gravity model with exponential masses of nodes (M. Roughan, ACM CCR 35,
    2005). On their shortest paths all demands together would take as much as there is of all links together.

    Parameters
    ----------
    flows : how many, at most one for each ordered pair of nodes
    links : an even number from 6 on
    paths : at most for each flow
    seed : of the random numbers
    equal : whether weights are 1, so that shares are rates; else they are the demands, and shares are fractions of these
    """
    require(links % 2 == 0 and links >= 6, "links is", links, "it must be an even number from 6 on")
    nodes = nodes_of(links // 2)
    require(flows <= nodes * (nodes - 1), "flows is", flows, f"{links} links join {nodes * (nodes - 1)} pairs of nodes")
    rng = _Draws("network", flows, links, paths, seed)
    graph = Graph.drawn(links // 2, rng)
    source, other = np.divmod(np.sort(rng.choice(nodes * (nodes - 1), flows, replace=False)), nodes - 1)
    target = other + (other >= source)
    matrix, flow = graph.paths(source, target, paths)
    capacities = rng.choice(LINK_CLASSES, links // 2, p=(0.5, 0.3, 0.2))[graph.edge]
    mass = rng.exponential(size=nodes)
    demand = mass[source] * mass[target]
    hops = matrix.sum(axis=1)[np.searchsorted(flow, np.arange(flows))]
    limits = (demand * capacities.sum() / (demand @ hops)).round(4).clip(1e-4)
    weights, name = (None, f"{rng.name}-equal") if equal else (limits, rng.name)
    return Instance((matrix, flow), capacities[None], weights=weights, max_tasks=limits, name=name, servers=["network"])


@checked
def njc(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0) -> Instance:
    """Requests and entitlements as in D, rationals with small denominators: ties, zeros, small requests.

    A full request takes up to 1 / ceil(n_users / 10) of a resource. One user in five asks for an eighth of an equal part at most;
    every third instance has equal entitlements; for odd seeds the last resource is dominated by the first; every seventh instance
    has one user without a limit.
    """
    rng = _Draws("njc", n_users, n_servers, n_resources, seed)
    fine = (4, 8, 12, 40)[seed % 4]
    parts = rng.integers(1, fine + 1, rng.users) * rng.some(rng.users, (1.0, 0.7, 0.5, 0.9)[seed % 4])
    if seed % 2 and n_resources > 1:
        parts[:, -1] = parts[:, 0] * (rng.random(n_users) < 0.7)
        parts[parts.sum(axis=1) == 0, 0] = fine
    shrink = fine * np.where(rng.random(n_users) < 0.2, 8 * n_users, -(-n_users // 10))
    weights = np.ones(n_users, int) if seed % 3 == 0 else rng.integers(1, 6, n_users)
    limits: list[int | None] = [1] * n_users
    if seed % 7 == 3:
        limits[0] = None
    return Instance(
        [[Fraction(int(v) * n_servers, int(s)) for v in row] for row, s in zip(parts, shrink, strict=True)],
        np.ones(rng.servers),
        weights=weights,
        max_tasks=limits,
        name=rng.name,
    )


@checked
def degenerate(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, severity: int = 50) -> Instance:
    """Numbers like those of `generic`, made degenerate by a severity from 0 (not at all) to 100.

    A fraction severity / 200 of the users has the same demands and weight (ties), and another one these but for the sixth digit
    of demands (nearly parallel). Of a fraction severity / 100 of the servers the last of several resources is
    twice what all could use there (redundant). Units of users and of resources are powers of ten, up to
    10^ceil(severity / 20) apart.
    """
    require(0 <= severity <= 100, "severity is", severity, "it must be an integer from 0 to 100")
    rng = _Draws("degenerate", n_users, n_servers, n_resources, seed)
    demands, capacities = rng.spread(rng.users), rng.spread(rng.servers)
    weights = rng.integers(1, 5, n_users)
    kind, bent = rng.random(n_users), 1 + 1e-6 * rng.uniform(-1, 1, rng.users)
    part = severity / 200
    same, near = kind < part, (part <= kind) & (kind < 2 * part)
    demands[same | near], weights[same | near] = demands[0], weights[0]
    demands[near] *= bent[near]
    loose = rng.random(n_servers) < severity / 100
    first = slice(0, max(n_resources - 1, 1))
    most = (capacities[:, None, first] / demands[None, :, first]).min(axis=2) * demands[None, :, -1]
    capacities[loose, -1] = np.maximum(capacities[:, -1], 2 * n_users * most.max(axis=1))[loose] if n_resources > 1 else 1.0
    user_units = _powers_of_ten(rng.integers(-severity // 40, severity // 40 + 1, n_users))
    units = _powers_of_ten(rng.integers(-severity // 40, severity // 40 + 1, n_resources))
    name = f"degenerate-{severity}-{n_users}x{n_servers}x{n_resources}-{seed}"
    return Instance(demands * user_units[:, None] * units, 10 * capacities * units, weights=weights, name=name)


@checked
def weights(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, decades: int = 12) -> Instance:
    """`generic` with weights up to `decades` powers of ten apart: the first two are, the others lie between them."""
    rng = _Draws("weights", n_users, n_servers, n_resources, seed)
    given = rng.as_generic() | {"weights": rng.far_apart(n_users, decades)}
    return Instance(**given, name=f"weights-{decades}-{n_users}x{n_servers}x{n_resources}-{seed}")


@checked
def demands(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, decades: int = 12) -> Instance:
    """`generic` with a factor for the demands of each user: two are `decades` powers of ten apart, the others lie between."""
    rng = _Draws("demands", n_users, n_servers, n_resources, seed)
    given = rng.as_generic()
    given["demands"] = given["demands"] * rng.far_apart(n_users, decades)[:, None]
    return Instance(**given, name=f"demands-{decades}-{n_users}x{n_servers}x{n_resources}-{seed}")


@checked
def planted(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, mechanism: str = "drfh") -> Instance:
    """An instance whose answer for "drfh" or "nb" is known at any size, see `planted_tasks`.

    Prices p[i, r] > 0 are drawn first. Every user buys u_n tasks on the server where a task is cheapest, q_n, and the capacities
    are set to what is bought, so the market clears. Hence for weights q_n u_n the tasks u are the nb allocation, proved by the
    prices; for weights sigma_n u_n the users have equal weighted shares on their cheapest servers, so u is the drfh allocation.
    All numbers are rationals with small denominators. A server that is the cheapest for no user is left out.
    """
    return _plant(n_users, n_servers, n_resources, seed, mechanism)[0]


@checked
def planted_tasks(n_users: Count, n_servers: Count, n_resources: Count, seed: int = 0, mechanism: str = "drfh") -> Rationals:
    """(N,) the exact tasks in the answer of `planted` with the same arguments."""
    return _plant(n_users, n_servers, n_resources, seed, mechanism)[1]


def _plant(n_users: int, n_servers: int, n_resources: int, seed: int, mechanism: str) -> tuple[Instance, Rationals]:
    require(mechanism in ("drfh", "nb"), "mechanism is", mechanism, "answers are planted for 'drfh' and 'nb' only")
    rng = _Draws("planted", n_users, n_servers, n_resources, seed)
    prices = [[Fraction(int(v), int(row.sum())) for v in row] for row in rng.integers(1, 17, rng.servers)]
    demands = [[Fraction(int(v), 4) for v in row] for row in rng.integers(1, 17, rng.users)]
    tasks = [Fraction(int(v), 2) for v in rng.integers(1, 17, n_users)]
    cost = [[sum((p * d for p, d in zip(row, demand, strict=True)), Fraction(0)) for row in prices] for demand in demands]
    server = [min(range(n_servers), key=row.__getitem__) for row in cost]
    bought = {i: [Fraction(0)] * n_resources for i in sorted(set(server))}
    for n, i in enumerate(server):
        bought[i] = [c + tasks[n] * d for c, d in zip(bought[i], demands[n], strict=True)]
    totals = [sum((c[r] for c in bought.values()), Fraction(0)) for r in range(n_resources)]
    shares = [max(d / c for d, c in zip(demand, totals, strict=True)) for demand in demands]
    worth = shares if mechanism == "drfh" else [row[i] for row, i in zip(cost, server, strict=True)]
    weights = [w * u for w, u in zip(worth, tasks, strict=True)]
    name = f"planted-{mechanism}-{n_users}x{n_servers}x{n_resources}-{seed}"
    return Instance(demands, list(bought.values()), weights=weights, name=name), tuple(tasks)
