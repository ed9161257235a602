"""Who takes what: stacked bars of every server and resource, and the dominant shares of the users."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.models.aggregation import aggregate_allocation
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["allocation", "as_allocation", "by_name", "dominant_share", "dominant_shares", "name_ticks"]

SERVERS = 12
"""Where there are more servers than this, identical ones are drawn as one class."""

BARS = 60
"""Where there are more servers and resources than this, there are no gaps between the bars and the servers have no names."""

USERS = 40
"""Where there are more users than this, their shares are drawn as lines in the order of their size."""

NAMED = 60
"""Where there are more users than this, bars show the users by dominant resource."""


def allocation(item: Allocation, ax: "Axes | None" = None) -> "Axes":
    """Stacked bars of the parts of each capacity that each user takes (K Fig. 2, W Fig. 4); also `item.plot()`.

    Identical servers are drawn as one class where there are more than 12 servers, and narrow bars, the fullest first, stand for
    more servers than have room for their names. Of more than 24 users, the 23 with the largest dominant shares are drawn each and
    the others together; more than 60 users are drawn by their dominant resource, of which they take the largest part of all.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> axes = allocation(Allocation(Instance([[1, 2]], [[2, 2]]), [1]))
    >>> [float(patch.get_height()) for patch in axes.patches]
    [0.5, 1.0]
    """
    drawn = as_allocation(item)
    drawn = aggregate_allocation(drawn) if drawn.instance.K > SERVERS else drawn
    instance = drawn.instance
    names, used, looks = _parts(drawn)
    there = np.argwhere(instance.pools > 0)
    if len(there) > BARS:
        return _bands(one_axes_for(ax, 9.0, names), drawn, names, used, looks)
    parts = used[:, there[:, 0], there[:, 1]] / instance.pools[there[:, 0], there[:, 1]]
    at = np.arange(len(there)) + 0.7 * there[:, 0]  # a gap between servers
    ax = one_axes_for(ax, min(1.5 + 0.45 * at[-1], 9.0), names)
    bottom = np.zeros(len(there))
    handles = []
    for name, part, look in zip(names, parts, looks, strict=True):
        handles.append(ax.bar(at, part, 0.85, bottom, label=name, **look))
        bottom += part
    _finish(ax, handles, names)
    name_ticks(ax, at, [instance.resources[r] for r in there[:, 1]], 1.0)
    _server_names(ax, drawn, at, there[:, 0])
    return ax


def one_axes_for(ax: Any, width: float, names: list[str]) -> "Axes":
    """The Axes given, or new ones beside a legend, and high enough for it.

    Parameters
    ----------
    ax : Axes or None
    width : of new Axes, in inches
    names : in the legend
    """
    beside = min(style.WIDEST, max(style.text_width(name) for name in names)) + 0.8
    return style.one_axes(ax, max(width, 2.5) + beside, max(4.0, 0.7 + 0.22 * len(names)))


def _parts(item: Allocation) -> tuple[list[str], Floats, list[dict[str, Any]]]:
    """What is stacked: names, what they take (names, K, R), and their styles."""
    users, count = item.instance.users, len(item.instance.users)
    looks = [style.area(k) for k in range(min(count, style.STYLES))]
    if count <= style.STYLES:
        return list(users), item.used, looks
    if count > NAMED:
        return _by_dominant_resource(item)
    order = np.argsort(-dominant_share(item), kind="stable")
    first, rest = np.sort(order[: style.STYLES - 1]), order[style.STYLES - 1 :]
    used = np.vstack([item.used[first], item.used[rest].sum(axis=0)[None]])
    looks[-1] = {**looks[-1], "facecolor": style.GREY, "hatch": ""}
    return [*(users[n] for n in first), f"{len(rest):,} other users"], used, looks


def _by_dominant_resource(item: Allocation) -> tuple[list[str], Floats, list[dict[str, Any]]]:
    """The users together who take their largest part of the same resource."""
    instance = item.instance
    dominant = np.argmax(_system_parts(item), axis=1)
    kinds = np.unique(dominant)
    names = [f"{np.sum(dominant == r):,} users with most of {instance.resources[r]}" for r in kinds]
    used = np.array([item.used[dominant == r].sum(axis=0) for r in kinds])
    return names, used, [style.area(k) for k in range(len(kinds))]


def _server_names(ax: "Axes", item: Allocation, at: Floats, server: NDArray[np.intp]) -> None:
    """The name of each server above its bars, with the number of servers where it is a class."""
    instance = item.instance
    inches = style.size_of(ax)[0] / np.ptp(ax.get_xlim())
    rows = np.unique(server)
    sizes = [f" ({instance.counts[i]:,})" if instance.counts[i] > 1 else "" for i in rows]
    rooms = [0.95 * inches * (np.ptp(at[server == i]) + 1.5) - style.text_width(size) for i, size in zip(rows, sizes, strict=True)]
    names = style.fitted([instance.servers[i] for i in rows], min(rooms))
    for i, name, size in zip(rows, names, sizes, strict=True):
        ax.text(at[server == i].mean(), 1.06, name + size, ha="center", va="bottom", fontsize=style.SMALL)


def _bands(ax: "Axes", item: Allocation, names: list[str], used: Floats, looks: list[dict[str, Any]]) -> "Axes":
    """The same as a band for each resource, in which every server that has it is a narrow step, the fullest first."""
    instance = item.instance
    gap = max(1, instance.K // 20)
    edges = np.arange(instance.R * (instance.K + gap) + 1) - 0.5
    order = np.argsort(-item.load, axis=0, kind="stable")
    parts = np.divide(used, instance.pools, out=np.zeros_like(used), where=instance.pools > 0)
    parts = np.take_along_axis(parts, order[None], axis=1)
    tops = np.pad(parts.cumsum(axis=0), ((0, 0), (0, gap), (0, 0))).transpose(0, 2, 1).reshape(len(names), -1)
    handles, bottom = [], np.zeros(len(edges) - 1)
    for top, look in zip(tops, looks, strict=True):
        handles.append(ax.stairs(top, edges, baseline=bottom, fill=True, **look | {"linewidth": 0}))
        bottom = top
    kind = "classes of servers" if instance.counts.max() > 1 else "servers"
    ax.set_xlabel(f"{instance.K:,} {kind} for each resource, the fullest first", fontsize=style.LABEL)
    _finish(ax, handles, names)
    name_ticks(ax, np.arange(instance.R) * (instance.K + gap) + (instance.K - 1) / 2, list(instance.resources), instance.K)
    return ax


def name_ticks(ax: "Axes", at: Any, names: list[str], room: float) -> None:
    """Names below the axis, upright where they are wider than `room` in units of the axis, and shortened beyond an inch.

    Parameters
    ----------
    ax : where
    at : places on the axis
    names : one for each place
    room : width of a place
    """
    inches = 0.92 * room * style.size_of(ax)[0] / np.ptp(ax.get_xlim())
    flat = all(style.text_width(name) <= inches for name in names)
    ax.set_xticks(at, style.fitted(names, inches if flat else 1.0), fontsize=style.SMALL, rotation=0 if flat else 90)
    ax.tick_params(axis="x", length=0)


def _finish(ax: "Axes", handles: list[Any], names: list[str]) -> None:
    style.tidy(ax)
    ax.set_ylim(0, 1.05)
    ax.set_ylabel("part of the capacity", fontsize=style.LABEL)
    style.legend(ax, handles[::-1], names[::-1])  # in the order of the stack


# ---- dominant shares -------------------------------------------------------------------------------------------------


def dominant_shares(item: Allocation | Mapping[str, Allocation], ax: "Axes | None" = None) -> "Axes":
    """The dominant share of each user: grouped bars for several allocations of the same users, {name: allocation}.

    It is the largest part, over the resources, that the user's tasks take of the whole system (W 3.1). More than 40 users are
    drawn as lines, each in the order of its own shares.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> axes = dominant_shares(Allocation(Instance([[1, 2], [4, 1]], [[8, 8]]), [1, 1]))
    >>> [float(patch.get_height()) for patch in axes.patches]
    [0.25, 0.5]
    """
    items = by_name(item)
    users = next(iter(items.values())).instance.users
    for name, one in items.items():
        if one.instance.users != users:
            raise InstanceError(
                f"the users of {name!r} are not those of {next(iter(items))!r}, but shares are compared user by user"
            )
    shares = {name: dominant_share(one) for name, one in items.items()}
    many = len(users) > USERS
    wide = 5.0 if many else min(9.0, 1.2 + (0.25 + 0.16 * len(items)) * len(users))
    ax = one_axes_for(ax, wide, list(items)) if len(items) > 1 else style.one_axes(ax, max(wide, 2.5), 4.0)
    handles = (_lines if many else _groups)(ax, users, shares)
    style.tidy(ax)
    ax.set_ylim(0, 1.05 * max(1e-12, *(share.max() for share in shares.values())))
    ax.set_ylabel("dominant share", fontsize=style.LABEL)
    if len(items) > 1:
        style.legend(ax, handles, list(items))
    if not many:
        name_ticks(ax, np.arange(len(users)), list(users), 1.0)
    return ax


def dominant_share(item: Allocation) -> Floats:
    """(N,) the largest part, over the resources, that each user's tasks take of the whole system."""
    result: Floats = _system_parts(item).max(axis=1)
    return result


def _system_parts(item: Allocation) -> Floats:
    """(N, R) the part of each resource of the whole system that each user's tasks take."""
    used, totals = item.used.sum(axis=1), item.instance.totals
    result: Floats = np.divide(used, totals, out=np.zeros_like(used), where=totals > 0)
    return result


def by_name(item: Any) -> dict[str, Allocation]:
    """{name: allocation}; one allocation alone has its mechanism's name."""
    if isinstance(item, Allocation):
        return {item.mechanism or "tasks": item}
    if not isinstance(item, Mapping) or not item:
        raise InstanceError(f"what is drawn is {shown(item)}, but it must be an Allocation, or map names to allocations")
    return {str(name): as_allocation(one) for name, one in item.items()}


def as_allocation(item: Any) -> Allocation:
    """The value, which must be an Allocation."""
    if not isinstance(item, Allocation):
        raise InstanceError(f"what is drawn is {shown(item)}, but it must be an Allocation")
    return item


def _groups(ax: "Axes", users: tuple[str, ...], shares: Mapping[str, Floats]) -> list[Any]:
    width = 0.8 / len(shares)
    at = np.arange(len(users))
    places = [at + (k - (len(shares) - 1) / 2) * width for k in range(len(shares))]
    return [
        ax.bar(x, shares[name], width, label=name, **style.area(k))
        for k, (x, name) in enumerate(zip(places, shares, strict=True))
    ]


def _lines(ax: "Axes", users: tuple[str, ...], shares: Mapping[str, Floats]) -> list[Any]:
    handles = []
    for k, (name, share) in enumerate(shares.items()):
        look = {**style.line(k), "markevery": (k / len(shares) / 8, 1 / 8)}
        handles += ax.plot(np.arange(1, len(users) + 1), np.sort(share), drawstyle="steps-mid", label=name, **look)
    ax.set_xlabel(f"{len(users):,} users in the order of their shares", fontsize=style.LABEL)
    return handles
