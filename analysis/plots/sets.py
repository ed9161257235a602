"""Sets of two or three users' tasks: what is feasible, and D's level sets, trajectory and NJC allocations (D Figs. 3 to 6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.analysis.feasible_set import feasible_vertices
from fairalloc.analysis.plots import style
from fairalloc.analysis.solution_sets import solution_set as all_answers
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.njc import ode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLAT = 1e-7
"""Facets whose planes differ by no more than this are one."""


@checked
def feasible_region(
    instance: Instance, ax: "Axes | None" = None, *, points: Mapping[str, Allocation | Sequence[float]] | None = None
) -> "Axes":
    """The task totals that the servers allow two or three users, and the given allocations in it.

    Parameters
    ----------
    instance : the problem, with two or three users, else NotApplicable, and any number of servers and variants
    ax : Axes to draw on, in three dimensions for three users; None = a new figure
    points : {name: allocation or tasks (N,)} to mark

    Examples
    --------
    >>> axes = feasible_region(Instance([[1, 0], [1, 1]], [[3, 2]]), points={"middle": [1, 1]})
    >>> axes.patches[0].get_xy().max(axis=0).tolist()
    [3.0, 2.0]
    """
    ax = _space(instance, ax)
    vertices = feasible_vertices(instance)
    handles, names = [_region(ax, vertices)], ["feasible"]
    for k, (name, point) in enumerate((points or {}).items()):
        marker = {**style.line(k), "linestyle": "none", "markersize": 8, "markerfacecolor": style.line(k)["color"]}
        handles += ax.plot(*_tasks(instance, name, point)[:, None], **marker, label=name, zorder=5)
        names.append(name)
    _coordinates(ax, [f"tasks of {user}" for user in instance.users], vertices.max(axis=0))
    style.legend(ax, handles, names)
    return ax


@checked
def solution_set(
    instance: Instance,
    ax: "Axes | None" = None,
    *,
    levels: Iterable[float] = (),
    trajectory: bool = False,
    solutions: bool = True,
    entitlements: Iterable[Sequence[Any]] = (),
) -> "Axes":
    """All NJC allocations of two or three users in the feasible set, with level sets of f and the trajectory (D Figs. 3-6).

    The coordinates are x_i, the granted fractions of full requests.

    Parameters
    ----------
    instance : the problem, with two or three users; NotApplicable for others, or where njc is not defined
    ax : Axes to draw on, in three dimensions for three users; None = a new figure
    levels : values of f (D 5) whose level sets are drawn (Figs. 4 and 6)
    trajectory : whether to draw the trajectory of D 5.4, along which f grows
    solutions : whether to draw all NJC allocations
    entitlements : vectors (N,) of entitlements; a ray leads to the allocation of each (Fig. 5)
    """
    home = NoJustifiedComplaints().domain(instance)
    ax, d = _space(home, ax), requests(home)
    unit = np.array(d.unit, float)
    handles, names = [_region(ax, feasible_vertices(home) / unit)], ["feasible"]
    shown_levels = [(_level_curve if home.N == 2 else _level_surface)(ax, d, level) for level in levels]
    if shown_levels:
        handles.append(shown_levels[0])
        names.append("level sets of f")
    handles += _bounds(ax, d, home.resources) if home.N == 2 else []
    if trajectory:
        handles += ax.plot(*ode.trajectory(d).x.T, color=style.INKS[1], linewidth=2, zorder=3, label="trajectory (D 5.4)")
    if solutions:
        handles.append(_solutions(ax, home, d))
    names += [handle.get_label() for handle in handles[len(names) :]]
    for entitlement in entitlements:
        for point in all_answers(home.replace(weights=entitlement), "njc").vertices:
            ax.plot(*np.array([[0.0] * home.N, np.array(point, float) / unit]).T, color="0.6", linewidth=1, marker=".")
    _coordinates(ax, [f"granted to {user}" for user in home.users], np.ones(home.N))
    style.legend(ax, handles, names)
    return ax


def _space(instance: Instance, ax: Any) -> "Axes":
    if instance.N not in (2, 3):
        raise NotApplicable(f"the instance has {instance.N} users, but a picture has two or three axes")
    return style.one_axes(ax, 6.0, 5.6, solid=True) if instance.N == 3 else style.one_axes(ax, 7.4, 4.4)


def _tasks(instance: Instance, name: str, point: Any) -> Floats:
    tasks = np.array(point.tasks if isinstance(point, Allocation) else point, dtype=float)
    rule = f"it must be an Allocation or {instance.N} numbers"
    require(tasks.shape == (instance.N,), f"the point {name!r} is", point, rule)
    return tasks


def _coordinates(ax: Any, labels: Sequence[str], most: Floats) -> None:
    for name, label, end in zip(("x", "y", "z"), labels, most, strict=False):
        (text,) = style.fitted([label], 2.4, style.LABEL)
        getattr(ax, f"set_{name}label")(text, fontsize=style.LABEL, labelpad=4.0 if len(labels) == 2 else 10.0)
        getattr(ax, f"set_{name}lim")(0, 1.05 * end)
    ax.tick_params(labelsize=style.SMALL)
    if len(labels) == 2:
        style.tidy(ax, "both")
    else:
        ax.locator_params(nbins=4)
        ax.computed_zorder = False  # lines and points stand before the areas
        ax.view_init(elev=22, azim=35)
        ax.set_box_aspect(None, zoom=0.76)


def _region(ax: Any, vertices: Floats) -> Any:
    from scipy.spatial import ConvexHull

    look = {"facecolor": style.COLOURS[5], "edgecolor": style.COLOURS[0]}
    if vertices.shape[1] == 2:
        corners = ConvexHull(vertices / vertices.max(axis=0)).vertices
        return ax.fill(*vertices[corners].T, **look, alpha=0.3, label="feasible")[0]
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    return ax.add_collection3d(Poly3DCollection(_facets(vertices), **look, linewidth=0.8, alpha=0.12, zorder=1, label="feasible"))


def _facets(vertices: Floats) -> list[Floats]:
    """The polygons around a polytope in space: triangles of the hull in one plane are one facet."""
    from scipy.spatial import ConvexHull

    size = vertices.max(axis=0)
    hull = ConvexHull(vertices / size)
    same = np.abs(hull.equations[:, None] - hull.equations).max(axis=2) <= FLAT
    planes = [np.unique(hull.simplices[row]) for k, row in enumerate(same) if np.argmax(row) == k]
    return [_around(vertices[members] / size) * size for members in planes]


def _around(places: Floats) -> Floats:
    """The vertices of a plane polygon in order."""
    middle = places - places.mean(axis=0)
    plane = np.linalg.svd(middle)[2][:2]
    angle = np.arctan2(middle @ plane[1], middle @ plane[0])
    return places[np.argsort(angle)]


def _bounds(ax: Any, d: Requests, resources: Sequence[str]) -> list[Any]:
    t, handles = np.linspace(0, 1, 201), []
    for j, (a, b) in [(j, pair) for j, pair in enumerate(d.matrix().T) if any(pair)]:
        line = np.column_stack([t, (1 - a * t) / b] if b > 0 else [np.full(201, 1 / a), t])
        inside = line[(line >= 0).all(axis=1) & (line <= 1).all(axis=1)]
        look = {**style.line(j + 1), "marker": "", "linewidth": 1.2}
        handles += ax.plot(*inside.T, **look, label=f"{resources[j]} is full")
    return handles


def _barrier(d: Requests, x: Floats) -> Floats:
    """F of (D 5) with the dummy resources at points x (.., N); inf outside."""
    spare = np.concatenate([1.0 - x @ d.matrix(), 1.0 - x], axis=-1)
    inside = (spare > 0).all(axis=-1)
    return np.where(inside, -np.log(np.where(spare > 0, spare, 1.0)).sum(axis=-1), np.inf)


def _rays(d: Requests, directions: Floats, level: float) -> Floats:
    """On each ray from the origin the point where f = level, by bisection: f grows along rays."""
    low, high = np.zeros(directions.shape[:-1]), np.full(directions.shape[:-1], 1.0) / directions.max(axis=-1)
    for _ in range(60):
        middle = (low + high) / 2
        below = _barrier(d, middle[..., None] * directions) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low[..., None] * directions


def _level_curve(ax: Any, d: Requests, level: float) -> Any:
    angle = np.linspace(0, np.pi / 2, 181)
    curve = _rays(d, np.column_stack([np.cos(angle), np.sin(angle)]), level)
    label = {"ha": "center", "va": "center", "bbox": {"boxstyle": "square,pad=0.05", "color": "white", "alpha": 0.8}}
    ax.text(*curve[60], f"{level:g}", fontsize=style.SMALL - 1, **label)
    return ax.plot(*curve.T, color="0.4", linewidth=0.8)[0]


def _level_surface(ax: Any, d: Requests, level: float) -> Any:
    one, two = np.meshgrid(np.linspace(0, np.pi / 2, 31), np.linspace(0, np.pi / 2, 31))
    directions = np.stack([np.cos(one) * np.sin(two), np.sin(one) * np.sin(two), np.cos(two)], axis=-1)
    surface = _rays(d, directions, level)
    return ax.plot_surface(surface[..., 0], surface[..., 1], surface[..., 2], color="0.5", alpha=0.15, linewidth=0, zorder=2)


def _solutions(ax: Any, home: Instance, d: Requests) -> Any:
    look = {"color": "k", "linewidth": 3, "marker": "o", "markersize": 5, "zorder": 4, "label": "no justified complaints"}
    handles = []
    for piece in all_answers(home, "njc").pieces:
        points = np.array(piece.vertices, float) / np.array(d.unit, float)
        outline = _around(points) if piece.dimension == 2 else points
        handles += ax.plot(*np.vstack([outline, outline[:1]]).T, **look)
    return handles[0]
