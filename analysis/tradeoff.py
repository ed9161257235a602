"""Efficiency against fairness over alpha (K 3.2, 6.2, Figs. 3, 7, 9 and 10).

Efficiency is the utilisation of the resources, fairness the deviation D_n (K 58) of each user from PS-DSF. At PS-DSF it is 0
where all demands are positive and no user is at its limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.formulations.game.parameters import number
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve


@dataclass(frozen=True)
class TradeOff:
    """The allocations of alpha-pf-vds for T values of alpha, inf allowed."""

    instance: Instance
    alphas: tuple[float, ...]
    allocations: tuple[Allocation, ...]

    @cached_property
    def tasks(self) -> Floats:
        """(T, N) x_n."""
        return np.array([allocation.tasks for allocation in self.allocations])

    @cached_property
    def utilisation(self) -> Floats:
        """(T, R) used fraction of each resource over all servers."""
        return np.array([allocation.utilisation for allocation in self.allocations])

    @cached_property
    def deviation(self) -> Floats:
        """(T, N) D_n (K 58)."""
        return np.array([deviation(self.instance, allocation.x) for allocation in self.allocations])

    @property
    def mean_deviation(self) -> Floats:
        """(T,) sum_n phi_n D_n / sum_n phi_n."""
        return np.average(self.deviation, axis=1, weights=self.instance.weights)

    @property
    def max_deviation(self) -> Floats:
        """(T,) max_n D_n."""
        return np.asarray(self.deviation.max(axis=1))


@checked
def tradeoff(instance: Instance, alphas: Sequence[Any] = (1, 2, 3, 5, 10, "inf"), **options: Any) -> TradeOff:
    """Solve alpha-pf-vds for each alpha.

    Parameters
    ----------
    instance : the problem
    alphas : T numbers > 0, or "inf"
    options : further arguments of `solve`, such as method, accuracy or time_limit

    Raises
    ------
    InstanceError : where `alphas` is empty, or as `solve` does

    Examples
    --------
    >>> from fairalloc.models.examples.published import example
    >>> item = tradeoff(example("khamse-fig3").instance, [1, "inf"])
    >>> item.tasks.round(3)
    array([[ 2.   ,  6.   , 13.714,  4.571],
           [ 2.   ,  6.   , 10.667,  5.333]])
    >>> bool(np.all(item.utilisation[0] >= item.utilisation[1] - 1e-6)), item.mean_deviation.round(3).tolist()
    (True, [0.125, 0.0])
    """
    require(len(alphas), "alphas is", alphas, "a trade-off needs at least one alpha")
    require("alpha" not in options, "alpha is", options.get("alpha"), "a trade-off takes all of them as alphas")
    numbers = tuple(number(alpha, "alpha") for alpha in alphas)
    return TradeOff(instance, numbers, tuple(solve(instance, "alpha-pf-vds", alpha=alpha, **options) for alpha in numbers))
