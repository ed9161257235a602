"""Figures of K's trade-off between efficiency and fairness (K Figs. 3, 9 and 10)."""

from typing import TYPE_CHECKING

import numpy as np

from fairalloc.analysis.plots.figure import new_figure
from fairalloc.analysis.tradeoff import TradeOff
from fairalloc.models.errors import UnknownName, no_such

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["frontier", "server_shares"]


def server_shares(item: TradeOff, server: str) -> "Figure":
    """K Fig. 3: what each user takes of each resource of one server, as stacked bars, one group of bars for each alpha."""
    instance = item.instance
    if server not in instance.servers:
        raise UnknownName(no_such("server", server, instance.servers))
    i = instance.servers.index(server)
    there = np.flatnonzero(instance.pools[i] > 0)
    users = np.flatnonzero(instance.eligible[:, i])
    figure = new_figure(2.2 + 1.1 * len(item.alphas) * len(there) / 2, 3.6)
    axes = figure.add_subplot()
    width = 0.8 / len(there)
    for k, r in enumerate(there):
        at = np.arange(len(item.alphas)) + (k - (len(there) - 1) / 2) * width
        bottom = np.zeros(len(item.alphas))
        for n in users:
            part = np.array([allocation.used[n, i, r] / instance.pools[i, r] for allocation in item.allocations])
            label = instance.users[n] if k == 0 else None
            axes.bar(at, part, 0.9 * width, bottom, label=label, color=f"C{n % 10}", edgecolor="white")
            bottom += part
        for x, height in zip(at, bottom, strict=True):
            axes.annotate(instance.resources[r], (x, height), ha="center", va="bottom", fontsize="small")
    axes.set_xticks(np.arange(len(item.alphas)), [_alpha(value) for value in item.alphas])
    axes.set_ylim(0, 1.15)
    axes.set_ylabel(f"part of {server}")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def frontier(item: TradeOff) -> "Figure":
    """Utilisation against deviation from PS-DSF (K 58), mean and largest, one point for each alpha and resource."""
    figure = new_figure(7.0, 3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, values, name in ((left, item.mean_deviation, "mean deviation"), (right, item.max_deviation, "largest deviation")):
        for r in np.flatnonzero(item.instance.totals > 0):
            axes.plot(values, item.utilisation[:, r], "o-", label=item.instance.resources[r])
        for alpha, x, y in zip(item.alphas, values, item.utilisation.max(axis=1), strict=True):
            axes.annotate(_alpha(alpha), (x, y), xytext=(0, 6), textcoords="offset points", ha="center", fontsize="small")
        axes.set_xlabel(f"{name} from PS-DSF")
        axes.margins(0.12)
    left.set_ylabel("utilisation")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def _alpha(value: float) -> str:
    return "PS-DSF" if np.isinf(value) else f"$\\alpha$ = {value:g}"
