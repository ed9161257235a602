r"""All NJC allocations of an instance, exactly: a finite union of polytopes (D 5.5, which leaves it open).

By njc.py the set is the union over sets I of resources of

    P_I:   sum_i u_i d_ij = c_j (j in I),   sum_i u_i d_ij <= c_j (all j),   l_i(I) <= u_i <= q_i                  in tasks u

The steps, all in rationals and without a linear program, so that the result is independent of every method:

1. For every set I of resources that can be full, compute the bounds l(I) (`polytopes`).
2. Compute the vertices of P_I by the double description method (Motzkin et al. 1953; `polytope_vertices`): begin with the
   vertices of the box l(I) <= u <= q, and add one equation or inequality after the other.
3. Each of these keeps the vertices on its side and adds the points where it cuts an edge (`_cut`). Two vertices are joined by an
   edge iff no third one lies on all the faces that they share.
4. Leave out each P_I that is contained in another one; of equal ones keep that with the most bottlenecks.

The number of sets I doubles with each resource, and the box has 2^N vertices, so both numbers are limited to LARGEST.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, TypeAlias

from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.rationals import Rationals, as_flint, as_fraction
from fairalloc.models.tables import Grid

if TYPE_CHECKING:
    from flint import fmpq

__all__ = ["LinearRow", "Piece", "SolutionSet", "polytope_vertices", "polytopes", "solution_set"]

LARGEST = 10

LinearRow: TypeAlias = tuple[Mapping[int, Fraction], Fraction]
"""({i: a_i}, b) for sum_i a_i u_i <= b or = b."""


@dataclass(frozen=True)
class Piece:
    """One polytope of NJC allocations.

    Attributes
    ----------
    bottlenecks : indices of the resources that are full in all of it, and justify everybody in all of it
    equations, inequalities : rows ({user: coefficient}, side), in tasks; with those of the same form this is all of the piece
    vertices : (N,) tasks each, sorted
    dimension : of the polytope
    """

    bottlenecks: tuple[int, ...]
    equations: tuple[LinearRow, ...]
    inequalities: tuple[LinearRow, ...]
    vertices: tuple[Rationals, ...]
    dimension: int

    def contains(self, tasks: Sequence[Fraction]) -> bool:
        """Whether these tasks fulfil every row."""
        full = all(_at(row, tasks) == row[1] for row in self.equations)
        return full and all(_at(row, tasks) <= row[1] for row in self.inequalities)


@dataclass(frozen=True)
class SolutionSet:
    """All NJC allocations, as tasks of the users; `instance` is the pool they live on."""

    instance: Instance
    pieces: tuple[Piece, ...]

    @cached_property
    def requests(self) -> Requests:
        """Requests r_ij and entitlements e_i in D's notation."""
        return requests(self.instance)

    @property
    def dimension(self) -> int:
        """The largest of a piece; 0 where there are finitely many allocations."""
        return max(piece.dimension for piece in self.pieces)

    @property
    def is_single(self) -> bool:
        """Whether there is only one allocation."""
        return len(self.pieces) == 1 and self.dimension == 0

    @property
    def vertices(self) -> tuple[Rationals, ...]:
        """All vertices of all pieces, each once."""
        return tuple(sorted({v for piece in self.pieces for v in piece.vertices}))

    def contains(self, tasks: Sequence[Fraction]) -> bool:
        """Whether these tasks are an NJC allocation."""
        return any(piece.contains(tasks) for piece in self.pieces)

    def best(self, objective: str) -> Fraction:
        """The largest value of the objective `utilisation` or `sum` (njc.py): both are linear, so it is attained at a vertex."""
        if objective not in ("utilisation", "sum"):
            raise InstanceError(f"objective is {objective!r}, but it must be utilisation or sum, which are linear")
        d = self.requests
        if objective == "sum":
            return max(sum((u / q for u, q in zip(v, d.unit, strict=True)), Fraction(0)) for v in self.vertices)
        loads = (d.loads([u / q for u, q in zip(v, d.unit, strict=True)]) for v in self.vertices)
        return max(sum(load, Fraction(0)) / d.R for load in loads)

    def __repr__(self) -> str:
        return f"<solution set of {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """For notebooks: each piece with its vertices."""
        head, *lines = str(self).splitlines()
        return Grid(head, ["piece", "vertices"], [line.split(": ", 1) for line in lines])._repr_html_()

    def __str__(self) -> str:
        kinds = {0: "point", 1: "segment", 2: "polygon"}
        lines = [f"{self.instance.name or 'instance'}: {len(self.pieces)} piece(s), dimension {self.dimension}"]
        for piece in self.pieces:
            names = ", ".join(self.instance.resources[j] for j in piece.bottlenecks)
            listed = "; ".join("(" + ", ".join(map(str, v)) + ")" for v in piece.vertices)
            lines.append(f"{kinds.get(piece.dimension, f'{piece.dimension}-polytope')} with bottlenecks {names}: {listed}")
        return "\n".join(lines)


def solution_set(instance: Instance) -> SolutionSet:
    """All NJC allocations of an instance of up to LARGEST users and resources; NotApplicable for larger ones.

    Examples
    --------
    >>> print(solution_set(Instance([[1, 1], [0, 1], [1, 0]], [[1, 1]], weights=[5, 3, 2], name="three")))
    three: 1 piece(s), dimension 1
    segment with bottlenecks r1, r2: (1/2, 1/2, 1/2); (7/10, 3/10, 3/10)
    """
    home = NoJustifiedComplaints().domain(instance)
    if max(home.N, home.R) > LARGEST:
        raise NotApplicable(f"the instance has {home.N} users and {home.R} resources, but all solutions take at most {LARGEST}")
    d = requests(home)
    loads = _load_rows(d)
    found = [(_dimension(vertices), chosen, low, vertices) for chosen, low, vertices in polytopes(d)]
    kept: list[Piece] = []
    for dimension, chosen, low, vertices in sorted(found, key=lambda item: (-item[0], -len(item[1]), item[1])):
        tasks = tuple(sorted(d.tasks(v) for v in vertices))
        if not any(all(piece.contains(v) for v in tasks) for piece in kept):
            kept.append(Piece(chosen, *_rows(d, chosen, loads, low), tasks, dimension))
    return SolutionSet(home, tuple(kept))


def polytopes(d: Requests) -> Iterator[tuple[tuple[int, ...], Rationals, list[Rationals]]]:
    """Every set I of resources with a point in P_I: I, l(I), and the vertices of P_I in fractions of requests."""
    loads, ones = _load_rows(d), [Fraction(1)] * len(d.parts)
    most = d.loads(ones)
    able = [j for j in range(d.R) if most[j] >= 1]
    for size in range(len(able) + 1):
        for chosen in combinations(able, size):
            low = d.lowest(chosen)
            if all(load <= 1 for load in d.loads(low)):
                others = [row for j, row in enumerate(loads) if j not in chosen]
                vertices = polytope_vertices(low, ones, [loads[j] for j in chosen], others)
                if vertices:
                    yield chosen, low, vertices


def _load_rows(d: Requests) -> list[LinearRow]:
    """sum_i x_i r_ij <= 1 for every resource."""
    return [({i: part[j] for i, part in enumerate(d.parts) if j in part}, Fraction(1)) for j in range(d.R)]


def _rows(
    d: Requests, chosen: Sequence[int], loads: Sequence[LinearRow], low: Rationals
) -> tuple[tuple[LinearRow, ...], tuple[LinearRow, ...]]:
    """The equations and inequalities of P_I, in tasks."""
    in_tasks = [({i: a / d.unit[i] for i, a in row.items()}, side) for row, side in loads]
    at_least = [({i: Fraction(-1)}, -value * q) for i, (value, q) in enumerate(zip(low, d.unit, strict=True))]
    at_most = [({i: Fraction(1)}, q) for i, q in enumerate(d.unit)]
    others = [row for j, row in enumerate(in_tasks) if j not in chosen]
    return tuple(in_tasks[j] for j in chosen), (*others, *at_least, *at_most)


def _at(row: LinearRow, point: Sequence[Fraction]) -> Fraction:
    return sum((a * point[i] for i, a in row[0].items()), Fraction(0))


def _dimension(vertices: Sequence[Rationals]) -> int:
    """The dimension of the affine hull."""
    from flint import fmpq, fmpq_mat

    first, rest = vertices[0], vertices[1:]
    entries = [fmpq((a - b).numerator, (a - b).denominator) for v in rest for a, b in zip(v, first, strict=True)]
    return int(fmpq_mat(len(rest), len(first), entries).rank()) if rest else 0


# ---- double description -----------------------------------------------------------------------------------------------


def polytope_vertices(
    low: Sequence[Fraction], high: Sequence[Fraction], equations: Iterable[LinearRow], inequalities: Iterable[LinearRow]
) -> list[Rationals]:
    """The vertices of the polytope {low <= x <= high, equations, inequalities}.

    Parameters
    ----------
    low, high : (N,) bounds; low[i] = high[i] fixes x[i]
    equations, inequalities : rows ({i: a_i}, b) for sum_i a_i x_i = b and sum_i a_i x_i <= b

    Returns
    -------
    (N,) rationals for each vertex; no vertex where the polytope is empty
    """
    exact_low, exact_high = [as_flint(v) for v in low], [as_flint(v) for v in high]
    free = [i for i in range(len(low)) if low[i] < high[i]]
    points = []
    for ends in product((0, 1), repeat=len(free)):
        x, faces = list(exact_low), 0
        for place, (i, end) in enumerate(zip(free, ends, strict=True)):
            x[i] = exact_high[i] if end else exact_low[i]
            faces |= 1 << (2 * place + end)
        points.append((x, faces))
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
    """Step 3: the vertices after one more row, an equation or an inequality, whose face has this bit; the box has `free`
    dimensions.
    """
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
