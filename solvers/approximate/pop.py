"""`pop`: users in random parts, each with its part of every capacity (POP: Narayanan et al., SOSP 2021).

1. The users are put into k parts of equal size, at random.
2. Each part gets a k-th of every capacity. Solved are its users with all capacities and k times their limits, which is the
   same with k times the tasks, by the default method.
3. The answers, divided by k, are put together: they are feasible.

With one part it is the exact answer. It loses more with more parts, and where a few users need what others do not.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Count, Seed
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session, Stopped
from fairalloc.solvers.options import AlgorithmOptions
from fairalloc.solvers.solve import solve


@dataclass(frozen=True)
class PopOptions(AlgorithmOptions):
    """Of the partition.

    Attributes
    ----------
    parts : parts of the users, at most one a user; 1 = the exact answer
    seed : of the random partition
    """

    parts: Count = 4
    seed: Seed = 0


class PopSession(Session):
    """The parts of one instance."""

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002, ARG002
        """Each part in turn; prices are the sums over the parts, where every part has some, and then those of all rounds."""
        options, instance = self.limits.own(PopOptions), self.instance
        count = min(options.parts, instance.N)
        order = np.random.default_rng(options.seed).permutation(instance.N)
        x, parts = np.zeros(instance.A), list[Allocation]()
        for number, part in enumerate(np.array_split(order, count)):
            answer = self._answer(np.sort(part), count)
            if not answer.has_point:
                raise Stopped(answer.termination, f"part {number + 1} of {count}: {answer.message}")
            if not answer.claims_success:
                self.message = f"part {number + 1} of {count} ended with {answer.termination!r}"
            x[np.isin(instance.arcs.user, part)] = answer.x / count
            self.x = x
            if answer.termination == "interrupted":
                raise KeyboardInterrupt
            parts.append(answer)
        prices = [one.prices for one in parts if one.prices is not None]
        if len(prices) < count:
            return x, None
        rounds = [one.round_prices for one in parts if one.round_prices is not None]
        return x, np.concatenate([np.sum(prices, axis=0)[None], *rounds])

    def _answer(self, users: NDArray[np.intp], count: int) -> Allocation:
        """Of the users alone, with all capacities and their limits times `count`."""
        whole, limits = self.instance, self.limits
        with self.phase("build"):
            servers = np.arange(whole.K)
            here = whole.chosen(users, servers, whole.weights[users], whole.max_tasks[users] * count, whole.counts)
        with self.phase("solve"):
            return solve(here, self.mechanism, accuracy=limits.accuracy, time_limit=limits.left, threads=limits.threads)


class Pop(Method):
    """An approximation by the exact answers of random parts of the users."""

    id = "pop"
    kind = "approximate"
    kinds, but = (Leximin, NashBargaining), (MaxMin,)
    session = PopSession
    at_once = True
    options = PopOptions()


methods = (Pop(),)
