"""What the mechanisms of the game have in common: an allocation is judged server by server (game.py)."""

from abc import abstractmethod

import numpy as np

from fairalloc.formulations.common.tasks import tasks_in_units
from fairalloc.formulations.game.game import Game, monopolies
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


class Equilibrium(Mechanism):
    """A mechanism in which every server is fair on its own, given what the others do. Prices are the kappa (K, R) of game.py."""

    linear, integer, convex = False, False, False
    merges_users = True
    chooses = False
    """Whether an objective chooses one of its answers: methods that end at one of them do not compute that."""
    _last: Game | None = None

    @abstractmethod
    def write_game(self, instance: Instance) -> Game:
        """The game on an instance that is a domain already."""

    def game(self, instance: Instance) -> Game:
        """What `write_game` returns; the last game is kept, because one solve uses it several times."""
        last = self._last
        if last is None or last.instance is not instance:
            last = self._last = self.write_game(instance)
        return last

    def domain(self, instance: Instance) -> Instance:
        """The instance itself; InstanceError where the game is not defined on it, or a parameter does not fit the servers."""
        self.game(instance)
        return instance

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """Tasks in units of the best server; the weights stay, for prices are levels and those have the weights' scale."""
        return tasks_in_units(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The "deviation": the weighted mean of D_n (K 58), 0 where every server is max-min fair to those who use it."""
        instance = allocation.instance
        return {"deviation": float(instance.weights @ deviation(instance, allocation.x) / instance.weights.sum())}

    def residual(self, allocation: Allocation) -> float:
        """See game/residual.py; 1 where there is no point, or `Game.defined` says no."""
        game = self.game(allocation.instance)
        return game.residual(allocation.x, allocation.prices) if allocation.has_point else 1.0


def deviation(instance: Instance, x: Floats) -> Floats:
    """(N,) D_n = sum_i (x_ni / x_n) (z_ni / min_m z_mi - 1) of tasks x (A,) (K 58); nan where a user has none.

    The minimum runs over the users eligible at server i.
    """
    arcs = instance.arcs
    tasks = np.bincount(arcs.user, x, instance.N)
    least = np.full(instance.K, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):  # no point, no deviation: nan
        z = tasks[arcs.user] / (instance.weights[arcs.user] * monopolies(instance))
        np.minimum.at(least, arcs.server, z)
        each = np.bincount(arcs.user, x / tasks[arcs.user] * (z / least[arcs.server] - 1.0), instance.N)
    return each.astype(float)
