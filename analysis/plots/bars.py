"""What each user takes of every server: stacked bars, one for each server and resource."""

from typing import TYPE_CHECKING

import numpy as np

from fairalloc.analysis.plots.figure import new_figure
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["allocation"]

NAMED = 20
"""Up to so many users stand in the legend."""


def allocation(item: Allocation) -> "Figure":
    """Stacked bars of the parts of each capacity that each user takes; also `item.plot()`.

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> figure = allocation(Allocation(Instance([[1, 2]], [[2, 2]]), [1]))
    >>> [float(patch.get_height()) for patch in figure.axes[0].patches]
    [0.5, 1.0]
    """
    if not isinstance(item, Allocation):
        raise InstanceError(f"what is drawn is {shown(item)}, but it must be an Allocation")
    instance = item.instance
    there = np.argwhere(instance.pools > 0)
    parts = item.used[:, there[:, 0], there[:, 1]] / instance.pools[there[:, 0], there[:, 1]]
    at = np.arange(len(there)) + 0.6 * there[:, 0]  # a gap between servers
    figure = new_figure(2.5 + 0.6 * at[-1], 3.6)
    axes = figure.add_subplot()
    bottom = np.zeros(len(there))
    for n, user in enumerate(instance.users):
        axes.bar(at, parts[n], 0.8, bottom, label=user, color=f"C{n % 10}", edgecolor="white")
        bottom += parts[n]
    names = [f"{instance.resources[r]}\n{instance.servers[i]}" for i, r in there]
    axes.set_xticks(at, names, fontsize="small")
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("part of the capacity")
    if instance.N <= NAMED:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


Allocation.drawn_by[:] = [allocation]
