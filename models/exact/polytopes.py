r"""Polytopes in rationals: rows, vertices by the double description method (Motzkin et al. 1953), dimension.

`polytope_vertices` computes the vertices of {low <= x <= high, equations, inequalities} without a linear program, so its result
is independent of every solver:

1. Begin with the vertices of the box low <= x <= high.
2. Add one equation or inequality after the other. Each keeps the vertices on its side and adds the points where it cuts an edge
   (`_cut`). Two vertices are joined by an edge iff no third one lies on all the faces that they share.

The box has 2^N vertices, so this is for few variables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_flint, as_fraction

if TYPE_CHECKING:
    from flint import fmpq

LinearRow: TypeAlias = tuple[Mapping[int, Fraction], Fraction]
"""({i: a_i}, b) for sum_i a_i x_i <= b or = b."""


@dataclass(frozen=True)
class Piece:
    """A polytope of allocations.

    bottlenecks : rows i R + r of capacities that are full in all of it; those of njc justify everybody
    equations, inequalities : rows ({arc: coefficient}, side), in tasks; with those of the same form this is all of the piece
    vertices : (A,) tasks on the arcs each, sorted
    """

    bottlenecks: tuple[int, ...]
    equations: tuple[LinearRow, ...]
    inequalities: tuple[LinearRow, ...]
    vertices: tuple[Rationals, ...]

    @cached_property
    def dimension(self) -> int:
        """That of the affine hull of the vertices."""
        from flint import fmpq_mat

        first, *rest = self.vertices
        entries = [as_flint(a - b) for v in rest for a, b in zip(v, first, strict=True)]
        return int(fmpq_mat(len(rest), len(first), entries).rank()) if rest else 0

    @property
    def centre(self) -> Rationals:
        """(A,) the mean of the vertices, a point of the relative interior."""
        return tuple(sum(column, Fraction(0)) / len(self.vertices) for column in zip(*self.vertices, strict=True))

    def contains(self, tasks: Sequence[Fraction]) -> bool:
        """Whether these tasks (A,) fulfil every row."""
        full = all(value_at(row, tasks) == row[1] for row in self.equations)
        return full and all(value_at(row, tasks) <= row[1] for row in self.inequalities)


def value_at(row: LinearRow, point: Sequence[Fraction]) -> Fraction:
    """The left side of a row at a point."""
    return sum((a * point[i] for i, a in row[0].items()), Fraction(0))


def capacity_rows(arcs: ExactArcs) -> dict[int, LinearRow]:
    """For each row i R + r that somebody needs: what is used of it, in parts of what there is, is at most 1."""
    found: dict[int, dict[int, Fraction]] = {}
    for a, load in enumerate(arcs.load):
        for row, part in load:
            found.setdefault(row, {})[a] = part
    return {row: (found[row], Fraction(1)) for row in sorted(found)}


def full_rows(capacities: Mapping[int, LinearRow], vertices: Sequence[Rationals]) -> tuple[int, ...]:
    """Which of the capacities are full at all vertices."""
    return tuple(row for row, load in capacities.items() if all(value_at(load, x) == load[1] for x in vertices))


def best_vertex(cost: Rationals, vertices: Iterable[Rationals]) -> tuple[Fraction, Rationals]:
    """The largest value of cost . x and the vertex that attains it; of equal ones the lexicographically largest."""
    return max((value_at((dict(enumerate(cost)), Fraction(0)), x), x) for x in vertices)


def outermost(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces without those that another one contains; of equal ones that with the most bottlenecks stays."""
    kept: list[Piece] = []
    for piece in sorted(pieces, key=lambda one: (-one.dimension, -len(one.bottlenecks), one.bottlenecks, one.vertices)):
        if not any(all(other.contains(v) for v in piece.vertices) for other in kept):
            kept.append(piece)
    return tuple(kept)


def polytope_vertices(
    low: Sequence[Fraction], high: Sequence[Fraction], equations: Iterable[LinearRow], inequalities: Iterable[LinearRow]
) -> list[Rationals]:
    """The vertices of {low <= x <= high, equations, inequalities}, (N,) rationals each; none where it is empty.

    low[i] = high[i] fixes x[i]; rows ({i: a_i}, b) mean sum_i a_i x_i = b and sum_i a_i x_i <= b.
    """
    ends = [[as_flint(v) for v in side] for side in (low, high)]
    # 1.
    free = [i for i in range(len(low)) if low[i] < high[i]]
    points = []
    for chosen in product((0, 1), repeat=len(free)):
        x, faces = list(ends[0]), 0
        for place, (i, end) in enumerate(zip(free, chosen, strict=True)):
            x[i] = ends[end][i]
            faces |= 1 << (2 * place + end)
        points.append((x, faces))
    # 2.
    rows = [(row, True) for row in equations] + [(row, False) for row in inequalities]
    for k, ((coefficients, side), equal) in enumerate(rows):
        row = [(i, as_flint(a)) for i, a in coefficients.items()]
        points = _cut(points, row, as_flint(side), equal, 1 << (2 * len(free) + k), len(free))
        if not points:
            return []
    return [tuple(as_fraction(v) for v in x) for x, _ in points]


Vertex: TypeAlias = "tuple[list[fmpq], int]"
"""Coordinates of a vertex, and the faces that contain it, one bit each."""


def _cut(points: list[Vertex], row: list[tuple[int, Any]], side: Any, equal: bool, bit: int, free: int) -> list[Vertex]:
    """Step 2: the vertices after one more row, whose face has this bit; the box has `free` dimensions."""
    over = [sum((a * x[i] for i, a in row), -side) for x, _ in points]
    on = [(x, faces | bit) for (x, faces), v in zip(points, over, strict=True) if v == 0]
    below = [(p, v) for p, v in zip(points, over, strict=True) if v < 0]
    above = [(p, v) for p, v in zip(points, over, strict=True) if v > 0]
    for (x, one), v in below:
        for (y, other), w in above:
            shared = one & other
            if shared.bit_count() >= free - 1 and sum(1 for _, faces in points if faces & shared == shared) == 2:
                part = v / (v - w)
                on.append(([a + part * (b - a) for a, b in zip(x, y, strict=True)], shared | bit))
    return on if equal else on + [p for p, _ in below]
