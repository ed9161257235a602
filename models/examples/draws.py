"""What the families of generators.py draw: a generator for each instance, spreads, tails and patterns."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.errors import InstanceError
from fairalloc.models.numbers import Floats

__all__ = ["as_generic", "far_apart", "few", "generator", "pareto", "some", "spread"]


def generator(family: str, n_users: int, n_servers: int, n_resources: int, *key: object) -> np.random.Generator:
    """A generator of its own for each family, size and key."""
    for what, size in (("n_users", n_users), ("n_servers", n_servers), ("n_resources", n_resources)):
        if not isinstance(size, int | np.integer) or size < 1:
            raise InstanceError(f"{what} is {size!r}, but it must be a positive integer")
    key = (family, n_users, n_servers, n_resources, *key)
    return np.random.default_rng([ord(c) for c in repr(key)])


def as_generic(rng: np.random.Generator, n_users: int, n_servers: int, n_resources: int) -> dict[str, Any]:
    """Demands, capacities and weights of the generic family."""
    return {
        "demands": spread(rng, (n_users, n_resources)),
        "capacities": n_users * spread(rng, (n_servers, n_resources)) / n_servers,
        "weights": rng.uniform(0.5, 2.0, n_users),
    }


def spread(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Numbers from 0.3 to 3.2."""
    result: Floats = np.exp(rng.uniform(-1.15, 1.15, shape)).round(4)
    return result


def far_apart(rng: np.random.Generator, size: int, decades: int) -> Floats:
    """Powers of ten from 0 to `decades`, the first two at the ends."""
    if not 0 <= decades <= 100:
        raise InstanceError(f"decades is {decades}, but it must be a whole number from 0 to 100")
    exponents = rng.uniform(0, decades, size)
    exponents[:2] = (decades, 0)[:size]
    result: Floats = 10.0**exponents
    return result


def pareto(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Numbers from 1 on with a heavy tail."""
    result: Floats = (1.0 + rng.pareto(1.5, shape)).round(4)
    return result


def few(rng: np.random.Generator, n_users: int, n_servers: int, degree: int) -> sp.csr_array:
    """True on `degree` random servers of every user; sparse."""
    servers = np.concatenate([np.sort(rng.choice(n_servers, degree, replace=False)) for _ in range(n_users)])
    start = degree * np.arange(n_users + 1)
    return sp.csr_array((np.ones(len(servers), bool), servers, start), shape=(n_users, n_servers))


def some(rng: np.random.Generator, shape: tuple[int, int], part: float) -> np.ndarray:
    """True with probability `part`, and at least once in every row."""
    result = rng.random(shape) < part
    result[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = True
    return result
