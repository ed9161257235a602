"""Pictures of two and three users: the feasible set, D's level sets and trajectory, and all NJC allocations (D Figs. 3 to 6).

Axes are x_i, fractions of full requests. Everything drawn is computed: the feasible polytope and the solutions by the exact
vertices of solution_set.py, the trajectory by solvers/njc/ode.py, level sets from (D 5).
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.analysis.plots.figure import new_figure
from fairalloc.analysis.solution_set import LinearRow, polytope_vertices, solution_set
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.errors import NotApplicable, UnknownName
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.published import example
from fairalloc.models.rationals import Rationals
from fairalloc.solvers.njc.ode import trajectory
from fairalloc.solvers.njc.pieces import as_floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LEVELS", "paper_figure", "picture"]

LEVELS = (1.0, 2.0, 4.0, 8.0)
"""Values of f whose level sets are drawn."""

ZERO, ONE = Fraction(0), Fraction(1)


def picture(
    instance: Instance, levels: Iterable[float] = LEVELS, with_trajectory: bool = True, with_solutions: bool = True
) -> "Figure":
    """The feasible polytope of two or three users, with level sets of f, the trajectory of D 5.4 and all NJC allocations.

    Parameters
    ----------
    instance : the problem, with two or three users
    levels : values of f (D 5) whose level sets are drawn
    with_trajectory : whether to draw the trajectory of D 5.4
    with_solutions : whether to draw all NJC allocations

    Returns
    -------
    matplotlib.figure.Figure; axes are x_i, the granted fractions of full requests

    Raises
    ------
    NotApplicable : for other numbers of users
    NotInstalled : without Matplotlib
    """
    figure = new_figure(7.0, 5.0)
    home = NoJustifiedComplaints().domain(instance)
    if home.N not in (2, 3):
        raise NotApplicable(f"the instance has {home.N} users, but a picture has two or three axes")
    d = requests(home)
    axes = figure.add_subplot(projection="3d" if home.N == 3 else None)
    _feasible(axes, d)
    for level in levels:
        (_level_curve if home.N == 2 else _level_surface)(axes, d, level)
    if home.N == 2:
        _bounds(axes, d, home.resources)
    if with_trajectory:
        axes.plot(*trajectory(d).x.T, color="C3", linewidth=2, label="trajectory (D 5.4)")
    if with_solutions:
        _solutions(axes, home, d)
    for name, user in zip(("x", "y", "z"), home.users, strict=False):
        getattr(axes, f"set_{name}label")(f"granted to {user}")
        getattr(axes, f"set_{name}lim")(0, 1.05)
    axes.set_title(home.name)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def paper_figure(number: int) -> "Figure":
    """D Fig. 3 (bounds), 4 (a level set rounds off the vertices), 5 (solutions for several entitlements) or 6 (level sets)."""
    if number not in PAPER:
        raise UnknownName(f"there is no figure {number!r}: those redrawn are {', '.join(map(str, PAPER))}")
    return PAPER[number]()


def _entitlements() -> "Figure":
    """Fig. 5: the allocation on the one bound depends on the ratio of the entitlements alone."""
    instance = example("dolev-fig5").instance
    figure = picture(instance, (), with_trajectory=False)
    for part in (Fraction(k, 10) for k in range(1, 10)):
        (point,) = solution_set(instance.replace(weights=[part, 1 - part])).vertices
        figure.axes[0].plot(*np.array([[0.0, 0.0], as_floats(point)]).T, color="0.6", linewidth=1, marker=".")
    return figure


PAPER: dict[int, Callable[[], "Figure"]] = {
    3: lambda: picture(example("dolev-fig3").instance, (), with_trajectory=False, with_solutions=False),
    4: lambda: picture(example("dolev-fig3").instance, (12.0,), with_trajectory=False),
    5: _entitlements,
    6: lambda: picture(example("dolev-fig3").instance, (0.5, *LEVELS, 16.0)),
}


def _loads(d: Requests) -> list[LinearRow]:
    rows = [({i: part[j] for i, part in enumerate(d.parts) if j in part}, ONE) for j in range(d.R)]
    return [row for row in rows if row[0]]


def _feasible(axes: Any, d: Requests) -> None:
    """The polytope: its polygon, or its facets."""
    users = len(d.parts)
    points = polytope_vertices([ZERO] * users, [ONE] * users, [], _loads(d))
    if users == 2:
        axes.fill(*_around(points).T, color="C0", alpha=0.15, label="feasible")
        return
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    ends: list[LinearRow] = [({i: ONE}, side) for i in range(users) for side in (ZERO, ONE)]
    facets = [[p for p in points if sum((a * p[i] for i, a in row.items()), ZERO) == side] for row, side in [*_loads(d), *ends]]
    shapes = [_around(facet) for facet in facets if len(facet) > 2]
    axes.add_collection3d(Poly3DCollection(shapes, facecolor="C0", edgecolor="C0", alpha=0.08, label="feasible"))


def _around(points: Sequence[Rationals]) -> Floats:
    """The vertices of a plane polygon in order."""
    places = np.array([as_floats(p) for p in points])
    middle = places - places.mean(axis=0)
    plane = np.linalg.svd(middle)[2][:2]
    angle = np.arctan2(middle @ plane[1], middle @ plane[0])
    result: Floats = places[np.argsort(angle)]
    return result


def _bounds(axes: Any, d: Requests, names: Sequence[str]) -> None:
    """The line of each resource, as far as it is in the unit square."""
    for j, (a, b) in enumerate(d.matrix().T):
        if a == b == 0:
            continue
        t = np.linspace(0, 1, 201)
        line = np.column_stack([t, (1 - a * t) / b] if b > 0 else [np.full(201, 1 / a), t])
        inside = line[(line >= 0).all(axis=1) & (line <= 1).all(axis=1)]
        axes.plot(*inside.T, linestyle="--", linewidth=1, color=f"C{4 + j}", label=f"{names[j]} is full")


def _barrier(d: Requests, x: Floats) -> Floats:
    """F of (D 5) with the dummy resources at points x (.., N); inf outside."""
    spare = np.concatenate([1.0 - x @ d.matrix(), 1.0 - x], axis=-1)
    inside = (spare > 0).all(axis=-1)
    result: Floats = np.where(inside, -np.log(np.where(spare > 0, spare, 1.0)).sum(axis=-1), np.inf)
    return result


def _rays(d: Requests, directions: Floats, level: float) -> Floats:
    """On each ray from the origin the point where f = level, by bisection: f grows along rays."""
    low, high = np.zeros(directions.shape[:-1]), np.full(directions.shape[:-1], 1.0) / directions.max(axis=-1)
    for _ in range(60):
        middle = (low + high) / 2
        below = _barrier(d, middle[..., None] * directions) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    result: Floats = low[..., None] * directions
    return result


def _level_curve(axes: Any, d: Requests, level: float) -> None:
    angle = np.linspace(0, np.pi / 2, 181)
    curve = _rays(d, np.column_stack([np.cos(angle), np.sin(angle)]), level)
    axes.plot(*curve.T, color="0.5", linewidth=0.8)
    axes.annotate(f"f = {level:g}", curve[90], fontsize=7, color="0.4")


def _level_surface(axes: Any, d: Requests, level: float) -> None:
    one, two = np.meshgrid(np.linspace(0, np.pi / 2, 31), np.linspace(0, np.pi / 2, 31))
    directions = np.stack([np.cos(one) * np.sin(two), np.sin(one) * np.sin(two), np.cos(two)], axis=-1)
    surface = _rays(d, directions, level)
    axes.plot_surface(surface[..., 0], surface[..., 1], surface[..., 2], color="0.5", alpha=0.12, linewidth=0)


def _solutions(axes: Any, home: Instance, d: Requests) -> None:
    """Every piece: a point, a segment, or the outline of a polygon."""
    label: str | None = "no justified complaints"
    for piece in solution_set(home).pieces:
        points = [tuple(u / q for u, q in zip(v, d.unit, strict=True)) for v in piece.vertices]
        outline = _around(points) if piece.dimension == 2 else np.array([as_floats(p) for p in points])
        closed = np.vstack([outline, outline[:1]])
        axes.plot(*closed.T, color="k", linewidth=3, marker="o", markersize=5, label=label)
        label = None
