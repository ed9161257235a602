"""The dominant shares of the users, side by side for several mechanisms."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.analysis.plots import style
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USERS = 40
"""Where there are more users than this, their shares are drawn as lines in the order of their size."""


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
    if not items:
        raise InstanceError("item is {}, but it must be an Allocation, or map names to allocations")
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
    result: Floats = np.divide(used, totals, out=np.zeros_like(used), where=totals > 0)
    return result


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
