"""Seeded families of random instances, `family(n_users, n_servers, n_resources, seed)`: same arguments, same instance.

Each family stresses one thing: size alone (generic), ties, zero demands, placement, few servers a user (sparse), heavy tails,
users and servers that are alike (identical), finite tasks, several variants, units, a known answer (planted), degeneracy by
degrees (degenerate), weights or demands that are many powers of ten apart, the server mix of a real cell (google_mix), or
requests and entitlements as in D (njc).
All families raise InstanceError where a number of users, servers or resources is not a positive integer.
"""

from fractions import Fraction

import numpy as np

from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.examples.draws import Draws
from fairalloc.models.examples.planted import planted, planted_tasks
from fairalloc.models.instance import Instance

__all__ = [
    "GOOGLE_MIX",
    "badly_scaled",
    "degenerate",
    "demands",
    "finite",
    "generic",
    "google_mix",
    "heavy_tailed",
    "identical",
    "njc",
    "placement",
    "planted",
    "planted_tasks",
    "racks",
    "sparse",
    "tied",
    "variants",
    "weights",
    "zero_demand",
]

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


@checked
def generic(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Positive demands and capacities with a spread of about ten, uneven weights, no constraints.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("generic", n_users, n_servers, n_resources, seed)
    return Instance(
        **rng.as_generic(),
        name=f"generic-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def tied(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Demands 1 to 3 and capacities 4, 8 or 12: many users, servers and dominant resources are equal.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("tied", n_users, n_servers, n_resources, seed)
    return Instance(
        rng.integers(1, 4, (n_users, n_resources)),
        4 * rng.integers(1, 4, (n_servers, n_resources)),
        name=f"tied-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def zero_demand(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """About half of the demands and some capacities are zero, so users reach their bottlenecks at different levels.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("zero_demand", n_users, n_servers, n_resources, seed)
    demands = rng.spread((n_users, n_resources)) * rng.some((n_users, n_resources), 0.5)
    capacities = n_users * rng.spread((n_servers, n_resources)) * (rng.random((n_servers, n_resources)) < 0.8)
    capacities[0] = np.maximum(
        capacities[0], 1.0
    )  # the first server has every resource, so that every user has an eligible server
    return Instance(demands, capacities, name=f"zero-demand-{n_users}x{n_servers}x{n_resources}-{seed}")


@checked
def placement(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Every user may use a random third of the servers, at least one.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("placement", n_users, n_servers, n_resources, seed)
    return Instance(
        **rng.as_generic(),
        eligible=rng.some((n_users, n_servers), 1 / 3),
        name=f"placement-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def heavy_tailed(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Demands, capacities and weights of Pareto's law (index 1.5: the largest of a thousand is a hundred times the median), and
    every user may use a random third of the servers.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("heavy_tailed", n_users, n_servers, n_resources, seed)
    return Instance(
        0.1 * rng.heavy((n_users, n_resources)),
        n_users * rng.heavy((n_servers, n_resources)) / n_servers,
        weights=rng.heavy((n_users,)),
        eligible=rng.some((n_users, n_servers), 1 / 3),
        name=f"heavy-tailed-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def sparse(n_users: int, n_servers: int, n_resources: int, seed: int = 0, part: float = 0.01) -> Instance:
    """The generic family where every user may use few servers: a random part of them, at least one.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    part : of the servers that one user may use, in (0, 1], rounded up to whole servers

    Returns
    -------
    Instance
    """
    if not 0 < part <= 1:
        raise InstanceError(f"part is {part!r}, but it must be above 0 and at most 1")
    rng = Draws("sparse", n_users, n_servers, n_resources, seed)
    degree = int(np.ceil(part * n_servers))
    return Instance(
        **rng.as_generic(),
        eligible=rng.few(degree),
        name=f"sparse-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def identical(n_users: int, n_servers: int, n_resources: int, seed: int = 0, classes: Count = 10) -> Instance:
    """The generic family with a few classes of users, and as many of servers, that are alike: they can be merged.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    classes : how many different users, and how many different servers, there are at most

    Returns
    -------
    Instance
    """
    rng = Draws("identical", n_users, n_servers, n_resources, seed)
    user, server = rng.integers(classes, size=n_users), rng.integers(classes, size=n_servers)
    return Instance(
        rng.spread((classes, n_resources))[user],
        n_users * rng.spread((classes, n_resources))[server] / n_servers,
        weights=rng.uniform(0.5, 2.0, classes)[user],
        name=f"identical-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def racks(n_users: int, n_servers: int, n_resources: int, seed: int = 0, several: bool = False) -> Instance:
    """Racks of five servers (or half of fewer than ten), nine users in ten bound to one: about as many levels as racks.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    several : whether every user has one to three variants (Z II-A)

    Returns
    -------
    Instance
    """
    base = (variants if several else generic)(n_users, n_servers, n_resources, seed)
    rng = Draws("racks", n_users, n_servers, n_resources, seed)
    rack_of_server = np.arange(n_servers) // (5 if n_servers >= 10 else max(1, n_servers // 2))
    rack_of_user = rng.integers(rack_of_server.max() + 1, size=n_users)
    anywhere = rng.random(n_users) < 0.1
    return base.replace(
        eligible=(rack_of_user[:, None] == rack_of_server) | anywhere[:, None],
        name=f"racks-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def finite(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Half of the users have few tasks (W 5.1), some fewer than their fair share.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("finite", n_users, n_servers, n_resources, seed)
    limits = np.where(rng.random(n_users) < 0.5, rng.uniform(0.1, 3.0, n_users), np.inf)
    return Instance(
        rng.spread((n_users, n_resources)),
        n_users * rng.spread((n_servers, n_resources)) / n_servers,
        max_tasks=limits,
        name=f"finite-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def variants(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """One to three ways to run a task (Z II-A).

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("variants", n_users, n_servers, n_resources, seed)
    ways = [int(rng.integers(1, 4)) for _ in range(n_users)]
    return Instance(
        [rng.spread((v, n_resources)) * rng.some((v, n_resources), 0.7) for v in ways],
        n_users * rng.spread((n_servers, n_resources)) / n_servers,
        name=f"variants-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def badly_scaled(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """The generic family in badly chosen units: resources over 12 orders of magnitude, tasks over 8, weights over 2.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    base = generic(n_users, n_servers, n_resources, seed)
    rng = Draws("badly_scaled", n_users, n_servers, n_resources, seed)
    resource = 10.0 ** rng.uniform(-6, 6, n_resources)
    task = 10.0 ** rng.uniform(-4, 4, n_users)
    return Instance(
        np.concatenate(base.demands) * task[:, None] * resource,
        base.capacities * resource,
        weights=10.0 ** rng.uniform(-1, 1, n_users),
        name=f"badly-scaled-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def google_mix(n_users: int, n_servers: int = 12_583, n_resources: int = 2, seed: int = 0) -> Instance:
    """The machines of W Table 1 as classes with counts, or a sample of them (W 6.1), and synthetic users.

    Users: lognormal requests with the medians, spreads and correlation (0.58) of the 2011 trace's jobs, in the trace's units
    (the largest machine has 1 of each); a synthetic stand-in for the trace's own users.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    if n_resources != 2:
        raise InstanceError(f"n_resources is {n_resources}, but the machines of W Table 1 have 2: cpu and memory")
    rng = Draws("google_mix", n_users, n_servers, n_resources, seed)
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
def njc(n_users: int, n_servers: int, n_resources: int, seed: int = 0) -> Instance:
    """Requests and entitlements as in D, rationals with small denominators: ties, zeros, small requests.

    A full request takes up to all of a resource, or up to a tenth of it for every ten users. One user in five asks for an eighth
    of an equal part at most; every third instance has equal entitlements; for odd seeds the last resource is dominated by the
    first; every seventh instance has one user without a limit.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers

    Returns
    -------
    Instance
    """
    rng = Draws("njc", n_users, n_servers, n_resources, seed)
    fine = (4, 8, 12, 40)[seed % 4]
    parts = rng.integers(1, fine + 1, (n_users, n_resources)) * rng.some((n_users, n_resources), (1.0, 0.7, 0.5, 0.9)[seed % 4])
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
        np.ones((n_servers, n_resources)),
        weights=weights,
        max_tasks=limits,
        name=f"njc-{n_users}x{n_servers}x{n_resources}-{seed}",
    )


@checked
def degenerate(n_users: int, n_servers: int, n_resources: int, seed: int = 0, severity: int = 50) -> Instance:
    """`generic` made degenerate by a severity from 0 (it is `generic` but for rounding) to 100.

    Each of four kinds of degeneracy meets a fraction severity / 100: users whose demands and weight equal those of the first
    user (ties); users whose demands differ from its in the sixth digit (nearly parallel); servers whose last resource is twice
    as much as anybody there could use (redundant); and users and resources in units up to 10^(severity / 20) apart.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    severity : from 0 to 100

    Returns
    -------
    Instance
    """
    if not 0 <= severity <= 100:
        raise InstanceError(f"severity is {severity!r}, but it must be an integer from 0 to 100")
    rng = Draws("degenerate", n_users, n_servers, n_resources, seed)
    demands, capacities = rng.spread((n_users, n_resources)), rng.spread((n_servers, n_resources))
    weights = rng.integers(1, 5, n_users)
    kind, bent = rng.random(n_users), 1 + 1e-6 * rng.uniform(-1, 1, (n_users, n_resources))
    part = severity / 200
    same, near = kind < part, (part <= kind) & (kind < 2 * part)
    demands[same | near], weights[same | near] = demands[0], weights[0]
    demands[near] *= bent[near]
    loose = rng.random(n_servers) < severity / 100
    first = slice(0, max(n_resources - 1, 1))
    most = (capacities[:, None, first] / demands[None, :, first]).min(axis=2) * demands[None, :, -1]
    capacities[loose, -1] = np.maximum(capacities[:, -1], 2 * n_users * most.max(axis=1))[loose] if n_resources > 1 else 1.0
    user_units = 10.0 ** rng.integers(-severity // 40, severity // 40 + 1, n_users)
    units = 10.0 ** rng.integers(-severity // 40, severity // 40 + 1, n_resources)
    name = f"degenerate-{severity}-{n_users}x{n_servers}x{n_resources}-{seed}"
    return Instance(demands * user_units[:, None] * units, 10 * capacities * units, weights=weights, name=name)


@checked
def weights(n_users: int, n_servers: int, n_resources: int, seed: int = 0, decades: int = 12) -> Instance:
    """`generic` with weights that are up to `decades` powers of ten apart.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    decades : the first two weights are 10^decades apart, the others between them
    """
    rng = Draws("weights", n_users, n_servers, n_resources, seed)
    given = rng.as_generic() | {"weights": rng.far_apart(n_users, decades)}
    return Instance(**given, name=f"weights-{decades}-{n_users}x{n_servers}x{n_resources}-{seed}")


@checked
def demands(n_users: int, n_servers: int, n_resources: int, seed: int = 0, decades: int = 12) -> Instance:
    """`generic` with users whose demands are up to `decades` powers of ten apart.

    Parameters
    ----------
    n_users, n_servers, n_resources : numbers of users, servers and resources, positive
    seed : of the random numbers
    decades : the demands of the first two users are 10^decades apart, those of the others between them
    """
    rng = Draws("demands", n_users, n_servers, n_resources, seed)
    given = rng.as_generic()
    given["demands"] = given["demands"] * rng.far_apart(n_users, decades)[:, None]
    return Instance(**given, name=f"demands-{decades}-{n_users}x{n_servers}x{n_resources}-{seed}")
