"""The set of all answers of a mechanism on an instance: pieces, ranges of everybody's tasks, best answers, membership."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from fairalloc.formulations.ps_dsf import linear_objective
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, NotApplicable, require
from fairalloc.models.exact.polytopes import Piece, best_vertex
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import is_vector, rational
from fairalloc.models.tables import Grid


class Best(NamedTuple):
    """The largest value of an objective, and an answer (A,) in tasks that attains it."""

    value: Fraction
    x: Rationals


@dataclass(frozen=True)
class SolutionSet:
    """All answers of a mechanism on an instance, a union of polytopes.

    Attributes
    ----------
    mechanism : its id
    instance : the instance of its allocations; points are tasks (A,) on the arcs of `instance.arcs`
    domain : the instance whose capacities limit the pieces: `instance` itself, or its time where servers are shared in time
    pieces : the polytopes, none of which contains another
    """

    mechanism: str
    instance: Instance
    domain: Instance
    pieces: tuple[Piece, ...]

    @property
    def dimension(self) -> int:
        """The largest of a piece; 0 where there are finitely many answers."""
        return max(piece.dimension for piece in self.pieces)

    @property
    def is_single(self) -> bool:
        """Whether every user has the same tasks in all answers, wherever they run."""
        return all(least == most for least, most in self.totals)

    @cached_property
    def vertices(self) -> tuple[Rationals, ...]:
        """(A,) all vertices of all pieces, each once."""
        return tuple(sorted({v for piece in self.pieces for v in piece.vertices}))

    @cached_property
    def totals(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(N,) the least and the most tasks that each user has; both are attained, at vertices."""
        arcs = exact_arcs(self.instance)
        columns = zip(*map(arcs.tasks, self.vertices), strict=True)
        return tuple((min(column), max(column)) for column in columns)

    def contains(self, answer: Allocation | Sequence[Any]) -> bool:
        """Whether it is in one of the pieces: an allocation on `instance` with rational tasks, or (A,) fractions or decimals.

        Raises
        ------
        NotApplicable : the allocation has floats only, which are next to an answer at best
        InstanceError : the allocation is on another instance, or the numbers are not as many as the arcs
        """
        x = self._tasks_of(answer)
        return any(piece.contains(x) for piece in self.pieces)

    def _tasks_of(self, answer: Any) -> Rationals:
        if isinstance(answer, Allocation):
            if answer.instance != self.instance:
                raise InstanceError(f"the allocation is on {answer.instance!r}, but the answers are on {self.instance!r}")
            if answer.x_exact is None:
                raise NotApplicable(f"the allocation of {answer.method!r} has no rational tasks, so membership cannot be exact")
            return answer.x_exact
        right = is_vector(answer) and len(answer) == self.instance.A
        require(right, "the tasks are", answer, f"they must be {self.instance.A} numbers, one for each arc")
        return tuple(rational(v, "an entry of the tasks") for v in answer)

    @checked
    def best(self, objective: str) -> Best:
        """The best answer by "utilisation", "tasks" or "sum" (formulations/ps_dsf.py), attained at a vertex.

        Raises
        ------
        InstanceError : another objective
        """
        return Best(*best_vertex(linear_objective(self.instance, objective), self.vertices))

    def __repr__(self) -> str:
        return f"<{self.mechanism} answers of {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        head, *lines = str(self).splitlines()
        return Grid(head, ["piece", "vertices"], [line.split(": ", 1) for line in lines])._repr_html_()

    def __str__(self) -> str:
        kinds = {0: "point", 1: "segment", 2: "polygon"}
        lines = [f"{self.instance.name or 'instance'}: {len(self.pieces)} piece(s), dimension {self.dimension}"]
        for piece in self.pieces:
            names = ", ".join(map(self._named, piece.bottlenecks)) or "none"
            listed = "; ".join("(" + ", ".join(map(str, v)) + ")" for v in piece.vertices)
            lines.append(f"{kinds.get(piece.dimension, f'{piece.dimension}-polytope')} with bottlenecks {names}: {listed}")
        return "\n".join(lines)

    def _named(self, row: int) -> str:
        """The name of a capacity: that of its resource, and of its server where there are several."""
        i, r = divmod(row, self.domain.R)
        return self.domain.resources[r] + f" of {self.domain.servers[i]}" * (self.domain.K > 1)
