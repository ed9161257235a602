"""Who takes what: stacked bars of every server and resource, and the dominant shares of the users."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, require
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.aggregation import aggregate_allocation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EACH, SERVERS, BARS, NAMED = 8, 12, 60, 60
"""So many users have a colour each. With more servers identical ones are one class; with more bars servers have no names;
more users than the last are drawn by resource."""

USERS = 40
"""Where there are more users than this, their shares are drawn as lines in the order of their size."""


@checked
def allocation(item: Allocation, ax: "Axes | None" = None) -> "Axes":
    """Stacked bars of the parts of each capacity that each user takes (K Fig. 2, W Fig. 4); also `item.plot()`.

    Identical servers are drawn as one class where there are more than 12 servers, and narrow bars, the fullest first, stand for
    more servers than have room for their names. Of more than 8 users, the 7 with the largest dominant shares are drawn each and
    the others together; more than 60 users are drawn by their dominant resource, of which they take the largest part of all.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> axes = allocation(Allocation(Instance([[1, 2]], [[2, 2]]), [1]))
    >>> [float(patch.get_height()) for patch in axes.patches]
    [0.5, 1.0]
    """
    style.require_point(item)
    stack = _stack(item)
    ax = style.one_axes(ax, *stack.size)
    (_bars if len(stack.there) <= BARS else _bands)(ax, stack)
    return ax


def size(item: Allocation) -> tuple[float, float]:
    """Width and height in inches of the figure of an allocation."""
    return _stack(item).size


class _Stack(NamedTuple):
    """What is stacked: the names from below take `used` (names, K, R); `there` (bars, 2) are servers and resources."""

    item: Allocation
    names: list[str]
    used: Floats
    looks: list[dict[str, Any]]
    there: NDArray[np.intp]

    @property
    def at(self) -> Floats:
        """(bars,) their places, with gaps between the servers."""
        return np.arange(len(self.there)) + 0.7 * self.there[:, 0]

    @property
    def size(self) -> tuple[float, float]:
        return style.size_beside(min(1.4 + 0.75 * self.at[-1], 9.0), self.names)


def _stack(item: Allocation) -> _Stack:
    drawn = aggregate_allocation(item) if item.instance.K > SERVERS else item
    return _Stack(drawn, *_parts(drawn), np.argwhere(drawn.instance.pools > 0))


def _parts(item: Allocation) -> tuple[list[str], Floats, list[dict[str, Any]]]:
    """What is stacked: names, what they take (names, K, R), and their styles."""
    users, count = item.instance.users, len(item.instance.users)
    looks = [style.area(k) for k in range(min(count, EACH))]
    if count <= EACH:
        return list(users), item.used, looks
    if count > NAMED:
        return _by_dominant_resource(item)
    order = np.argsort(-dominant_share(item), kind="stable")
    first, rest = np.sort(order[: EACH - 1]), order[EACH - 1 :]
    used = np.vstack([item.used[first], item.used[rest].sum(axis=0)[None]])
    looks[-1] = {**looks[-1], "facecolor": style.GREY, "hatch": ""}
    return [*(users[n] for n in first), f"{len(rest):,} other users"], used, looks


def _by_dominant_resource(item: Allocation) -> tuple[list[str], Floats, list[dict[str, Any]]]:
    """The users together who take their largest part of the same resource."""
    dominant = np.argmax(system_parts(item), axis=1)
    kinds = np.unique(dominant)
    names = [f"{np.sum(dominant == r):,} users with most of {item.instance.resources[r]}" for r in kinds]
    used = np.array([item.used[dominant == r].sum(axis=0) for r in kinds])
    return names, used, [style.area(k) for k in range(len(kinds))]


def _bars(ax: "Axes", stack: _Stack) -> None:
    instance, (server, resource) = stack.item.instance, stack.there.T
    stacked(ax, stack.at, stack.used[:, server, resource] / instance.pools[server, resource], stack.names, stack.looks)
    style.name_ticks(ax, stack.at, [instance.resources[r] for r in resource], 1.0)
    _server_names(ax, stack)


def stacked(
    ax: "Axes", at: Any, parts: Floats, names: list[str], looks: list[dict[str, Any]], y: str = "part of the capacity"
) -> None:
    """Bars of the parts (names, bars) at these places, the first name below, and the legend in the same order."""
    bottom, handles = np.zeros(len(at)), []
    for name, part, look in zip(names, parts, looks, strict=True):
        handles.append(ax.bar(at, part, 0.85, bottom, label=name, **look))
        bottom += part
    _finish(ax, handles, names, y=y)


def _server_names(ax: "Axes", stack: _Stack) -> None:
    """The name of each server above its bars, with the number of servers where it is a class."""
    instance, at, server = stack.item.instance, stack.at, stack.there[:, 0]
    inches = 0.95 * style.size_of(ax)[0] / np.ptp(ax.get_xlim())
    rows = np.unique(server)
    sizes = [f" ({instance.counts[i]:,})" if instance.counts[i] > 1 else "" for i in rows]
    rooms = [inches * (np.ptp(at[server == i]) + 1.5) - style.text_width(size) for i, size in zip(rows, sizes, strict=True)]
    names = style.fitted([instance.servers[i] for i in rows], min(rooms))
    places = [at[server == i].mean() for i in rows]
    style.headings(ax, places, [name + size for name, size in zip(names, sizes, strict=True)])


def _bands(ax: "Axes", stack: _Stack) -> None:
    """The same as a band for each resource, in which every server that has it is a narrow step, the fullest first."""
    instance, used = stack.item.instance, stack.used
    gap = max(1, instance.K // 20)
    edges = np.arange(instance.R * (instance.K + gap) + 1) - 0.5
    order = np.argsort(-stack.item.load, axis=0, kind="stable")
    parts = np.divide(used, instance.pools, out=np.zeros_like(used), where=instance.pools > 0)
    parts = np.take_along_axis(parts, order[None], axis=1)
    tops = np.pad(parts.cumsum(axis=0), ((0, 0), (0, gap), (0, 0))).transpose(0, 2, 1).reshape(len(used), -1)
    handles, bottom = [], np.zeros(len(edges) - 1)
    for top, look in zip(tops, stack.looks, strict=True):
        handles.append(ax.stairs(top, edges, baseline=bottom, fill=True, **look | {"linewidth": 0}))
        bottom = top
    kind = "classes of servers" if instance.counts.max() > 1 else "servers"
    _finish(ax, handles, stack.names, f"{instance.K:,} {kind} for each resource, the fullest first")
    style.name_ticks(ax, np.arange(instance.R) * (instance.K + gap) + (instance.K - 1) / 2, list(instance.resources), instance.K)


def _finish(ax: "Axes", handles: list[Any], names: list[str], x: str = "", y: str = "part of the capacity") -> None:
    style.tidy(ax, x=x, y=y)
    ax.set_ylim(0, 1.05)
    style.legend(ax, handles[::-1], names[::-1])  # in the order of the stack


@checked
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
    items = {item.mechanism or "tasks": item} if isinstance(item, Allocation) else dict(item)
    require(items, "item is", items, "it must be an Allocation, or map names to allocations")
    users = next(iter(items.values())).instance.users
    for name, one in items.items():
        style.require_point(one)
        if one.instance.users != users:
            what = f"the users of {name!r} are not those of {next(iter(items))!r}"
            raise InstanceError(f"{what}, but shares are compared user by user")
    shares = {name: dominant_share(one) for name, one in items.items()}
    many = len(users) > USERS
    wide = 5.0 if many else min(9.0, 1.2 + (0.25 + 0.16 * len(items)) * len(users))
    ax = style.one_axes_beside(ax, wide, list(items)) if len(items) > 1 else style.one_axes(ax, max(wide, 2.5), 4.0)
    handles = (_lines if many else _groups)(ax, np.arange(len(users)), shares)
    label = f"{len(users):,} users in the order of their shares" if many else ""
    style.tidy(ax, x=label, y="dominant share")
    ax.set_ylim(0, 1.05 * max(share.max() for share in shares.values()) or 1.0)
    if len(items) > 1:
        style.legend(ax, handles, list(items))
    if not many:
        style.name_ticks(ax, np.arange(len(users)), list(users), 1.0)
    return ax


def dominant_share(item: Allocation) -> Floats:
    """(N,) the largest part, over the resources, that each user's tasks take of the whole system."""
    return np.asarray(system_parts(item).max(axis=1))


def system_parts(item: Allocation) -> Floats:
    """(N, R) the part of each resource of the whole system that each user's tasks take."""
    used, totals = item.used.sum(axis=1), item.instance.totals
    return np.asarray(np.divide(used, totals, out=np.zeros_like(used), where=totals > 0))


def _groups(ax: "Axes", at: Any, shares: Mapping[str, Floats]) -> list[Any]:
    width, middle = 0.8 / len(shares), (len(shares) - 1) / 2
    one_each = enumerate(shares.items())
    return [ax.bar(at + (k - middle) * width, share, width, label=name, **style.area(k)) for k, (name, share) in one_each]


def _lines(ax: "Axes", at: Any, shares: Mapping[str, Floats]) -> list[Any]:
    handles = []
    for k, (name, share) in enumerate(shares.items()):
        look = {**style.line(k), "markevery": (k / len(shares) / 8, 1 / 8)}
        handles += ax.plot(at + 1, np.sort(share), drawstyle="steps-mid", label=name, **look)
    return handles
