"""`solution_set`: all answers of a mechanism on an instance, their pieces, ranges of tasks, best answers and membership."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from fairalloc.analysis.solution_sets.game_answers import equilibrium_pieces
from fairalloc.analysis.solution_sets.njc_answers import njc_pieces
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.ps_dsf import PsDsf, linear_objective
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Count, Seconds, checked
from fairalloc.models.errors import InstanceError, NotApplicable, require
from fairalloc.models.exact.polytopes import Piece, best_vertex
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import is_vector, rational
from fairalloc.models.tables import Grid
from fairalloc.solvers.exact.ps_dsf_pieces import LARGEST, ps_dsf_pieces
from fairalloc.solvers.running.time_limits import within

SEVERAL = ("alpha-pf-vds", "njc", "ps-dsf", "ps-dsf-tdm")
"""The mechanisms of the papers that may have several answers, which are listed where they can be."""

UNLISTED = ("drfh-lp", "gavel-makespan", "gavel-max-min", "mmf", "utilitarian")
"""Mechanisms whose answers are all optima of a linear program, and are not listed."""

MULTIVALUED = (*SEVERAL, *UNLISTED)
"""All that may have several answers."""


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


@checked
def solution_set(
    instance: Instance,
    mechanism: str | Mechanism,
    /,
    *,
    largest: Count = LARGEST,
    time_limit: Seconds | None = None,
    **parameters: Any,
) -> SolutionSet:
    """All answers that a mechanism allows on a small instance, exactly: a union of polytopes in rationals.

    Parameters
    ----------
    instance : up to `largest` arcs for ps-dsf and ps-dsf-tdm, up to 10 users and 10 resources in one pool for njc
    mechanism : "ps-dsf", "ps-dsf-tdm", "njc", or "alpha-pf-vds" where its equilibria are rational (game_answers.py); an id,
        or the mechanism itself
    largest : arcs of a game that are allowed; a tenth of a second for 6, and about three times as long for each more
    time_limit : seconds for the whole call, which then runs in a child process; None = no limit
    parameters : of the mechanism, such as alpha

    Raises
    ------
    InstanceError : the instance is no Instance, or `largest` is no positive integer
    NotApplicable : the answers of this mechanism on this instance cannot be listed, or not in time; the sentence says why

    Examples
    --------
    >>> found = solution_set(Instance([[2, 1], [1, 2]], [[6, 6], [6, 6]], name="two"), "ps-dsf")
    >>> [(str(least), str(most)) for least, most in found.totals]
    [('3', '4'), ('3', '4')]
    >>> str(found.best("tasks").value)
    '8'
    >>> print(solution_set(Instance([[1, 1], [0, 1], [1, 0]], [[1, 1]], weights=[5, 3, 2], name="three"), "njc"))
    three: 1 piece(s), dimension 1
    segment with bottlenecks r1, r2: (1/2, 1/2, 1/2); (7/10, 3/10, 3/10)
    """
    asked = find_mechanism(mechanism)
    found = within(time_limit or math.inf, lambda _: _listed(asked.configure(**parameters), instance, largest), None)
    if found is None:
        raise NotApplicable(f"the answers of {asked.id} were not listed within the time limit of {time_limit:g} seconds")
    return found


def _listed(item: Mechanism, instance: Instance, largest: int) -> SolutionSet:
    item.kept(instance)  # refused where it knows no floors or groups
    if getattr(item, "objective", None) is not None:
        why = "chooses one of its answers: ask the set without an objective for its best"
        raise NotApplicable(f"the objective of {item.id} {why}")
    if isinstance(item, NoJustifiedComplaints):
        home = item.domain(instance)
        return SolutionSet(item.id, home, home, njc_pieces(home))
    if isinstance(item, PsDsf | TimeShared):
        domain = item.domain(instance)
        return SolutionSet(item.id, item.home(instance), domain, ps_dsf_pieces(domain, largest))
    if isinstance(item, AlphaPfVds):
        return SolutionSet(item.id, instance, instance, equilibrium_pieces(item, instance, largest))
    if item.unique:
        same = f"every answer of {item.id} gives each user the same tasks"
        raise NotApplicable(f"{same}, so there is no set to choose from: solve it once")
    raise NotApplicable(f"the answers of {item.id} are not listed: solution_set is for {', '.join(SEVERAL)}")
