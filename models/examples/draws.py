"""What the families of generators.py draw: spreads, tails and patterns, from a generator of its own for each instance."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.errors import require
from fairalloc.models.numbers import Floats

__all__ = ["Draws"]


class Draws(np.random.Generator):
    """The generator of one family at one size; `key` tells instances of that size apart, such as by the seed.

    users, servers : the shapes (N, R) and (K, R)
    name : of the instance
    """

    def __init__(self, family: str, n_users: int, n_servers: int, n_resources: int, *key: object) -> None:
        for what, size in (("n_users", n_users), ("n_servers", n_servers), ("n_resources", n_resources)):
            require(isinstance(size, int | np.integer) and size >= 1, f"{what} is", size, "it must be a positive integer")
        self.n_users, self.n_servers = n_users, n_servers
        self.users, self.servers = (n_users, n_resources), (n_servers, n_resources)
        self.name = "-".join([family.replace("_", "-"), f"{n_users}x{n_servers}x{n_resources}", *map(str, key)])
        super().__init__(np.random.PCG64([ord(c) for c in repr((family, n_users, n_servers, n_resources, *key))]))

    def as_generic(self) -> dict[str, Any]:
        """Demands, capacities and weights of the generic family."""
        return {
            "demands": self.spread(self.users),
            "capacities": self.capacities(),
            "weights": self.uniform(0.5, 2.0, self.n_users),
        }

    def capacities(self) -> Floats:
        """(K, R) those of the generic family: about as much for a user whatever the numbers."""
        return self.n_users * self.spread(self.servers) / self.n_servers

    def spread(self, shape: tuple[int, ...]) -> Floats:
        """Numbers from 0.3 to 3.2."""
        result: Floats = np.exp(self.uniform(-1.15, 1.15, shape)).round(4)
        return result

    def far_apart(self, size: int, decades: int) -> Floats:
        """Powers of ten from 0 to `decades`, the first two at the ends."""
        require(0 <= decades <= 100, "decades is", decades, "it must be a whole number from 0 to 100")
        exponents = self.uniform(0, decades, size)
        exponents[:2] = (decades, 0)[:size]
        result: Floats = 10.0**exponents
        return result

    def heavy(self, shape: tuple[int, ...]) -> Floats:
        """Numbers from 1 on with a heavy tail."""
        result: Floats = (1.0 + self.pareto(1.5, shape)).round(4)
        return result

    def few(self, degree: int) -> sp.csr_array:
        """True on `degree` random servers of every user; sparse."""
        servers = np.concatenate([np.sort(self.choice(self.n_servers, degree, replace=False)) for _ in range(self.n_users)])
        start = degree * np.arange(self.n_users + 1)
        return sp.csr_array((np.ones(len(servers), bool), servers, start), shape=(self.n_users, self.n_servers))

    def some(self, shape: tuple[int, int], part: float) -> np.ndarray:
        """True with probability `part`, and at least once in every row."""
        result = self.random(shape) < part
        result[np.arange(shape[0]), self.integers(shape[1], size=shape[0])] = True
        return result
