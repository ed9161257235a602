r"""What is left of a round of max-min fairness on arcs that use few of many resources, by connected components.

1. A row that cannot be full whatever its users do, because the limits and levels of all add up to less, needs no price.
2. A user with an open arc on such rows alone runs all tasks there, and takes nothing from others. Without it go on with 1.
3. Users and the rows that their open arcs use are the nodes of a graph; its components share nothing.

A component is a program on an instance of its own, with its rows as the resources of one server.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

__all__ = ["Left", "Presolve"]

SLACK = 1e-9
"""How much less than full a row must stay to need no price."""


Part: TypeAlias = tuple[NDArray[np.intp], ...]
"""The users, arcs and rows of a component."""


class Left(NamedTuple):
    """`alone` : the open arcs of users left out by step 2, one each; `parts` : the components of the others."""

    alone: NDArray[np.intp]
    parts: list[Part]


class Presolve:
    """Of one instance, with the entries of its loads sorted by row, and in a row by user.

    row, arc, user : (entries,)
    pairs, rows : where the entries of a row and a user begin, and where such pairs of a row do
    """

    def __init__(self, instance: Instance) -> None:
        self.instance, by_row = instance, instance.arcs.load.tocsr()
        self.load, self.arc = by_row.data, by_row.indices
        self.row, self.user = np.repeat(np.arange(by_row.shape[0]), np.diff(by_row.indptr)), instance.arcs.user[self.arc]
        self.pairs = np.flatnonzero(np.diff(self.row * instance.N + self.user, prepend=-1))
        self.used, self.rows = np.unique(self.row[self.pairs], return_index=True)

    def left(self, round: Round, most: Floats) -> Left:  # noqa: A002
        """Steps 1 to 3, where users run at most so many tasks (N,)."""
        arcs, alone = self.instance.arcs, np.full(self.instance.N, -1)
        while True:
            there = ~round.closed & (alone < 0)[arcs.user]
            entry = there[self.arc]
            needed = self._can_be_full(entry, most) | ~round.at_most
            entry &= needed[self.row]
            free = there & ~_marked(len(arcs), self.arc[entry])
            if not free.any():
                return Left(alone[alone >= 0], self._components(entry))
            users, first = np.unique(arcs.user[free], return_index=True)
            alone[users] = np.flatnonzero(free)[first]

    def _can_be_full(self, entry: NDArray[np.bool_], most: Floats) -> NDArray[np.bool_]:
        """(K R,) which rows can, when each user uses the arc, of those whose entries are there, that uses most of it."""
        with np.errstate(invalid="ignore"):
            largest = np.maximum.reduceat(np.where(entry, self.load * most[self.user], 0.0), self.pairs)
        result = np.zeros(self.instance.K * self.instance.R, bool)
        result[self.used] = np.add.reduceat(largest, self.rows) > 1.0 - SLACK
        return result

    def _components(self, entry: NDArray[np.bool_]) -> list[Part]:
        from scipy.sparse.csgraph import connected_components

        users, rows = self.instance.N, self.instance.K * self.instance.R
        size, ends = users + rows, (self.user[entry], users + self.row[entry])
        label = connected_components(sp.coo_array((np.ones(len(ends[0]), bool), ends), shape=(size, size)), directed=False)[1]
        user, arc, row = _marked(users, ends[0]), _marked(self.instance.A, self.arc[entry]), _marked(rows, self.row[entry])
        parts = (user, label[:users]), (arc, label[self.instance.arcs.user]), (row, label[users:])
        return [tuple(np.flatnonzero(there & (of == one)) for there, of in parts) for one in np.unique(label[:users][user])]


def _marked(size: int, where: NDArray[Any]) -> NDArray[np.bool_]:
    """(size,) true at these places."""
    result = np.zeros(size, bool)
    result[where] = True
    return result
