"""Random instances whose answers are known at any size, as rationals."""

from fractions import Fraction

from fairalloc.models.arguments import checked
from fairalloc.models.errors import require
from fairalloc.models.examples.draws import Draws
from fairalloc.models.instance import Instance

__all__ = ["planted", "planted_tasks"]


@checked
def planted(n_users: int, n_servers: int, n_resources: int, seed: int = 0, mechanism: str = "drfh") -> Instance:
    """An instance whose answer for "drfh" or "nb" is known at any size, see `planted_tasks`.

    Prices p[i, r] > 0 are drawn first. Every user buys u_n tasks on the server where a task is cheapest, q_n, and the capacities
    are set to what is bought, so the market clears. Hence for weights q_n u_n the tasks u are the nb allocation, proved by the
    prices; for weights sigma_n u_n the users have equal weighted shares on their cheapest servers, so u is the drfh allocation.
    All numbers are rationals with small denominators. A server that is the cheapest for no user is left out.
    """
    return _plant(n_users, n_servers, n_resources, seed, mechanism)[0]


@checked
def planted_tasks(n_users: int, n_servers: int, n_resources: int, seed: int = 0, mechanism: str = "drfh") -> tuple[Fraction, ...]:
    """(N,) the exact tasks in the answer of `planted` with the same arguments."""
    return _plant(n_users, n_servers, n_resources, seed, mechanism)[1]


def _plant(n_users: int, n_servers: int, n_resources: int, seed: int, mechanism: str) -> tuple[Instance, tuple[Fraction, ...]]:
    require(mechanism in ("drfh", "nb"), "mechanism is", mechanism, "answers are planted for 'drfh' and 'nb' only")
    rng = Draws("planted", n_users, n_servers, n_resources, seed)
    prices = [[Fraction(int(v), int(row.sum())) for v in row] for row in rng.integers(1, 17, (n_servers, n_resources))]
    demands = [[Fraction(int(v), 4) for v in row] for row in rng.integers(1, 17, (n_users, n_resources))]
    tasks = [Fraction(int(v), 2) for v in rng.integers(1, 17, n_users)]
    cost = [[sum((p * d for p, d in zip(row, demand, strict=True)), Fraction(0)) for row in prices] for demand in demands]
    server = [min(range(n_servers), key=row.__getitem__) for row in cost]
    bought = {i: [Fraction(0)] * n_resources for i in sorted(set(server))}
    for n, i in enumerate(server):
        bought[i] = [c + tasks[n] * d for c, d in zip(bought[i], demands[n], strict=True)]
    totals = [sum((c[r] for c in bought.values()), Fraction(0)) for r in range(n_resources)]
    shares = [max(d / c for d, c in zip(demand, totals, strict=True)) for demand in demands]
    worth = shares if mechanism == "drfh" else [row[i] for row, i in zip(cost, server, strict=True)]
    instance = Instance(
        demands,
        list(bought.values()),
        weights=[w * u for w, u in zip(worth, tasks, strict=True)],
        name=f"planted-{mechanism}-{n_users}x{n_servers}x{n_resources}-{seed}",
    )
    return instance, tuple(tasks)
