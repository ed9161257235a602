"""Maps of numbers: the prices of servers' resources, and who may run where."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.market import PricedAllocation
from fairalloc.analysis.plots import style
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, NotApplicable, shown
from fairalloc.models.instance import Instance, as_instance
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["eligibility", "prices"]

NUMBERS = 30
"""Up to so many servers have their prices written into the map."""

CLASSES = 60
"""Up to so many classes of users, and of servers, are divided by lines."""

STATES = ("may not run there (placement)", "a demanded resource is missing", "may run there")
SHADES = ("#FFFFFF", "#E69F00", "#0072B2")


def prices(item: Allocation | PricedAllocation, ax: "Axes | None" = None) -> "Axes":
    """The prices of all servers' resources, a darker cell for a higher one; what a server does not have is left blank.

    Parameters
    ----------
    item : an allocation with dual prices, which are for the whole of a capacity; or a `market`, with prices for a unit
    ax : Axes to draw on, None = a new figure

    Returns
    -------
    Axes; servers are rows, resources columns

    Raises
    ------
    NotApplicable : where the allocation has no prices

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> from fairalloc.solvers import solve
    >>> axes = prices(solve(Instance([[1, 2], [4, 1]], [[8, 8]]), "nb"))
    >>> axes.images[0].get_array().round(3).tolist()
    [[1.667, 0.333]]
    """
    instance, values, what = _priced(item)
    numbers = instance.K <= NUMBERS
    names = max(style.text_width(server) for server in instance.servers)
    ax = style.one_axes(ax, 1.2 + min(names, 1.6) + 0.8 * instance.R, 1.0 + max(0.8, 0.28 * min(instance.K, NUMBERS)))
    shades = np.where(instance.pools > 0, values, np.nan)
    image = ax.imshow(shades, cmap="Blues", vmin=0, vmax=max(1e-300, np.nanmax(shades)), aspect="auto", interpolation="nearest")
    ax.set_xticks(np.arange(instance.R), style.fitted(instance.resources, style.width_of(ax) / instance.R), fontsize=style.SMALL)
    ax.tick_params(length=0, labelsize=style.SMALL, top=False, labeltop=True, bottom=False, labelbottom=False)
    if numbers:
        ax.set_yticks(np.arange(instance.K), style.fitted(instance.servers, 1.6), fontsize=style.SMALL)
        _write(ax, shades)
    else:
        ax.set_ylabel(f"{instance.K:,} servers", fontsize=style.SMALL + 1)
        ax.figure.colorbar(image, ax=ax)
    ax.set_xlabel(what, fontsize=style.SMALL + 1)
    return ax


def _priced(item: Any) -> tuple[Instance, Floats, str]:
    """The instance, its prices and what they are."""
    if isinstance(item, PricedAllocation):
        return item.allocation.instance, item.prices, "price of a unit"
    if not isinstance(item, Allocation):
        raise InstanceError(f"what is drawn is {shown(item)}, but it must be an Allocation or a market")
    if item.prices is None:
        raise NotApplicable(f"an allocation by {item.method or 'no method'} has no prices: solve by a method that computes them")
    return item.instance, item.prices, "price of the whole capacity"


def _write(ax: "Axes", values: Floats) -> None:
    """The number in each cell, in white on dark ones."""
    middle = 0.55 * np.nanmax(values)
    for (i, r), value in np.ndenumerate(values):
        text = "-" if np.isnan(value) else f"{value:.3g}"
        ax.text(r, i, text, ha="center", va="center", fontsize=style.SMALL, color="white" if value > middle else "black")


# ---- eligibility -----------------------------------------------------------------------------------------------------


def eligibility(instance: Instance, ax: "Axes | None" = None) -> "Axes":
    """Which users may run on which servers, users and servers of one class side by side, for up to thousands of users.

    A class are the users with the same servers, or the servers with the same users; larger classes have the names of their first
    members and their sizes.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> axes = eligibility(Instance([[1, 0], [1, 1]], [[3, 2], [3, 0]]))
    >>> axes.images[0].get_array().tolist()
    [[2, 2], [2, 1]]
    """
    state = np.where(as_instance(instance).eligible, 2, np.where(instance.placement, 1, 0))
    rows, columns = _classes(state), _classes(state.T)
    wide, high = min(8.0, max(2.0, 0.3 * instance.K)), min(7.0, max(1.6, 0.22 * instance.N))
    ax = style.one_axes(ax, wide + 3.4, high + 1.0)
    _picture(ax, state[np.concatenate(rows)][:, np.concatenate(columns)])
    across = _class_names(columns, instance.servers)
    down = _class_names(rows, instance.users)
    height = style.width_of(ax) * high / wide
    _class_ticks(ax.xaxis, columns, across, style.width_of(ax))
    _class_ticks(ax.yaxis, rows, down, height)
    ax.set_xlabel(_count(instance.K, columns, "server"), fontsize=style.SMALL + 1)
    ax.set_ylabel(_count(instance.N, rows, "user"), fontsize=style.SMALL + 1)
    return ax


def _classes(state: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The equal rows together, those with the most servers first."""
    _, of = np.unique(state, axis=0, return_inverse=True)
    members = [np.flatnonzero(of.ravel() == k) for k in range(of.max() + 1)]
    return sorted(members, key=lambda rows: (-int((state[rows[0]] == 2).sum()), tuple(-state[rows[0]])))


def _picture(ax: "Axes", state: NDArray[Any]) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    ax.imshow(state, cmap=ListedColormap(SHADES), vmin=0, vmax=2, aspect="auto", interpolation="nearest")
    seen = [k for k in (2, 1, 0) if np.any(state == k)]
    style.legend(ax, [Patch(facecolor=SHADES[k], edgecolor=style.DARK) for k in seen], [STATES[k] for k in seen])


def _class_names(classes: list[NDArray[np.intp]], names: tuple[str, ...]) -> list[str]:
    return [names[rows[0]] + (f" and {len(rows) - 1:,} more" if len(rows) > 1 else "") for rows in classes]


def _class_ticks(axis: Any, classes: list[NDArray[np.intp]], names: list[str], inches: float) -> None:
    """The names of the classes for which there is room, and lines between the classes unless they are many."""
    sizes = np.array([len(rows) for rows in classes])
    ends = np.cumsum(sizes)
    room = sizes * inches / ends[-1]
    kept = np.flatnonzero(room >= 1.3 * style.SMALL / 72)
    axis.set_ticks(ends[kept] - sizes[kept] / 2 - 0.5, style.fitted([names[k] for k in kept], 1.4), fontsize=style.SMALL)
    axis.set_tick_params(length=0, rotation=90 if axis.axis_name == "x" else 0)
    if len(classes) <= CLASSES:
        for end in ends[:-1]:
            (axis.axes.axvline if axis.axis_name == "x" else axis.axes.axhline)(end - 0.5, color=style.DARK, linewidth=0.6)


def _count(count: int, classes: list[NDArray[np.intp]], kind: str) -> str:
    plural = "" if count == 1 else "s"
    return f"{count:,} {kind}{plural} in {len(classes):,} class{'' if len(classes) == 1 else 'es'}"
