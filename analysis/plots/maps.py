"""Maps of numbers: the prices of servers' resources, and who may run where."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.market import PricedAllocation
from fairalloc.analysis.plots import style
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, without_rounding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERS, CLASSES = 30, 40
"""Up to so many servers have their prices written into the map; up to so many classes are divided by lines."""

LONGEST, LINE = 1.8, 1.25 * style.SMALL / 72
"""Inches that a name beside a map may take, and from one line of text to the next."""

STATES = ("may not run there (placement)", "a demanded resource is missing", "may run there")
SHADES = ("#FFFFFF", "#E69F00", "#0072B2")


@checked
def prices(item: Allocation | PricedAllocation, ax: "Axes | None" = None) -> "Axes":
    """The prices of all servers' (rows) resources (columns), a darker cell for a higher one, blank where there is no capacity.

    Those of an allocation are dual prices of whole capacities, and those of a `market` are for a unit. NotApplicable where there
    are none.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> from fairalloc.solvers import solve
    >>> axes = prices(solve(Instance([[1, 2], [4, 1]], [[8, 8]]), "nb"))
    >>> axes.images[0].get_array().round(3).tolist()
    [[1.667, 0.333]]
    """
    instance, values, what = _priced(item)
    names = min(LONGEST, max(style.text_width(server) for server in instance.servers))
    ax = style.one_axes(ax, 0.6 + names + 0.9 * instance.R, 1.0 + max(0.8, 0.28 * min(instance.K, NUMBERS)))
    shades = np.where(instance.pools > 0, without_rounding(values), np.nan)
    highest = float(np.max(shades, where=instance.pools > 0, initial=0.0))
    image = ax.imshow(shades, cmap="Blues", vmin=0, vmax=highest or 1.0, aspect="auto", interpolation="nearest")
    ax.tick_params(length=0, labelsize=style.SMALL, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.set_xlabel(what, fontsize=style.LABEL)
    rows = np.arange(0, instance.K, -(-instance.K // NUMBERS))
    ax.set_yticks(rows, style.fitted([instance.servers[i] for i in rows], LONGEST), fontsize=style.SMALL)
    if instance.K <= NUMBERS:
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": style.SMALL}
        for (i, r), value in np.ndenumerate(shades):
            text = "-" if np.isnan(value) else f"{value:.3g}"
            ax.text(r, i, text, **look, color="white" if value > 0.55 * highest else "black")
    else:
        ax.figure.colorbar(image, ax=ax).ax.tick_params(labelsize=style.SMALL)
    inches = 0.92 * style.size_of(ax)[0] / instance.R
    ax.set_xticks(np.arange(instance.R), style.fitted(instance.resources, inches), fontsize=style.SMALL)
    return ax


def _priced(item: Allocation | PricedAllocation) -> tuple[Instance, Floats, str]:
    if isinstance(item, PricedAllocation):
        return item.allocation.instance, item.prices, "price of a unit"
    if item.prices is None:
        raise NotApplicable(f"an allocation by {item.method or 'no method'} has no prices: solve by a method that computes them")
    return item.instance, item.prices, "price of the whole capacity"


@checked
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
    below = min(LONGEST, max(style.text_width(server) for server in instance.servers))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    state = np.where(instance.eligible, 2, np.where(instance.placement, 1, 0))
    rows, columns = _classes(state), _classes(state.T)
    wide, high = min(8.0, max(2.0, 0.36 * instance.K)), min(8.2, max(1.6, 0.21 * instance.N))
    ax = style.one_axes(ax, wide + 4.0, high + 0.8 + below)
    state = state[np.concatenate(rows)][:, np.concatenate(columns)]
    ax.imshow(state, cmap=ListedColormap(SHADES), vmin=0, vmax=2, aspect="auto", interpolation="nearest")
    seen = [k for k in (2, 1, 0) if np.any(state == k)]
    style.legend(ax, [Patch(facecolor=SHADES[k], edgecolor=style.DARK) for k in seen], [STATES[k] for k in seen])
    ax.set_xlabel(_count(instance.K, columns, "server"), fontsize=style.LABEL)
    ax.set_ylabel(_count(instance.N, rows, "user"), fontsize=style.LABEL)
    _class_ticks(ax.yaxis, rows, instance.users, style.size_of(ax)[1] - below)
    _class_ticks(ax.xaxis, columns, instance.servers, style.size_of(ax)[0])
    return ax


def _classes(state: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The equal rows together, those with the most servers first."""
    _, of = np.unique(state, axis=0, return_inverse=True)
    members = [np.flatnonzero(of.ravel() == k) for k in range(of.max() + 1)]
    return sorted(members, key=lambda rows: (-int((state[rows[0]] == 2).sum()), tuple(-state[rows[0]])))


def _class_ticks(axis: Any, classes: list[NDArray[np.intp]], names: tuple[str, ...], inches: float) -> None:
    """All names, or those of the classes for which there is room; lines between the classes unless they are many."""
    sizes = np.array([len(rows) for rows in classes])
    ends = np.cumsum(sizes)
    one = inches / ends[-1]
    across = axis.axis_name == "x"
    if one >= LINE:
        at, shown_names = np.arange(ends[-1]), [names[k] for k in np.concatenate(classes)]
    else:
        kept = np.flatnonzero(sizes * one >= LINE)
        more = [f" and {sizes[k] - 1:,} more" if sizes[k] > 1 else "" for k in kept]
        at = ends[kept] - sizes[kept] / 2 - 0.5
        shown_names = [names[classes[k][0]] + text for k, text in zip(kept, more, strict=True)]
    flat = across and one >= LINE and all(style.text_width(name) <= 0.9 * one for name in shown_names)
    axis.set_ticks(at, style.fitted(shown_names, LONGEST), fontsize=style.SMALL)
    axis.set_tick_params(length=0, rotation=90 if across and not flat else 0)
    if len(classes) <= CLASSES:
        for end in ends[:-1]:
            (axis.axes.axvline if across else axis.axes.axhline)(end - 0.5, color=style.DARK, linewidth=0.6)


def _count(count: int, classes: list[NDArray[np.intp]], kind: str) -> str:
    plural = "" if count == 1 else "s"
    return f"{count:,} {kind}{plural} in {len(classes):,} class{'' if len(classes) == 1 else 'es'}"
