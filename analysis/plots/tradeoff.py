"""Sweeps over alpha: any quantity, and K's figures of efficiency against fairness (K Figs. 3, 9 and 10)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.bars import dominant_share, stacked
from fairalloc.analysis.tradeoff import TradeOff
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, UnknownName, no_such, place_of, require
from fairalloc.models.numbers import Floats, floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTITIES = {
    "utilisation": "utilisation",
    "total": "tasks of all users",
    "tasks": "tasks",
    "dominant share": "dominant share",
    "deviation": "deviation from PS-DSF",
}
"""What `sweep` draws, with the label of the axis."""


@checked
def sweep(item: TradeOff, quantity: str | Mapping[str, Sequence[float]] = "utilisation", ax: "Axes | None" = None) -> "Axes":
    """A quantity over alpha on a logarithmic axis, at whose right end PS-DSF stands (alpha = inf).

    UnknownName for another quantity, NotApplicable for more lines than can be told apart.

    Parameters
    ----------
    item : the allocations, as `tradeoff(instance, alphas)` gives them
    quantity : "utilisation", a line for each resource; "total", the tasks of all users; "tasks" or "dominant share", a line for
        each user; "deviation", the mean and the largest D_n (K 58); or own lines {name: (T,) numbers}, in the order of the alphas
    ax : Axes to draw on, None = a new figure

    Examples
    --------
    >>> from fairalloc.analysis.tradeoff import tradeoff
    >>> from fairalloc.models.examples.published import example
    >>> axes = sweep(tradeoff(example("khamse-fig3").instance, [1, "inf"]), "total")
    >>> axes.lines[0].get_ydata().round(3).tolist()
    [26.286, 24.0]
    """
    lines = _lines(item, quantity)
    _require_few(len(lines), f"the sweep has {len(lines)} lines")
    ax = style.one_axes_beside(ax, 5.0, list(lines)) if len(lines) > 1 else style.one_axes(ax, 5.4, 3.6)
    order = np.argsort(item.alphas, kind="stable")
    alphas = np.array(item.alphas)[order]
    far = 3.0 * np.max(alphas, where=np.isfinite(alphas), initial=1.0)  # where inf stands
    at = np.where(np.isinf(alphas), far, alphas)
    handles = [ax.plot(at, values[order], label=name, **style.line(k))[0] for k, (name, values) in enumerate(lines.items())]
    style.tidy(ax, x=r"$\alpha$", y=QUANTITIES[quantity] if isinstance(quantity, str) else "")
    ax.set_xscale("log")
    style.steady(ax)
    if len(lines) > 1:
        style.legend(ax, handles, list(lines))
    _alpha_ticks(ax, at, alphas)
    return ax


def _require_few(count: int, what: str) -> None:
    if count > style.STYLES:
        raise NotApplicable(f"{what}, but only {style.STYLES} can be told apart")


def _lines(item: TradeOff, quantity: Any) -> dict[str, Floats]:
    instance = item.instance
    if isinstance(quantity, Mapping):
        return {str(name): _own(item, name, values) for name, values in quantity.items()}
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        raise UnknownName(no_such("quantity", quantity, QUANTITIES, f"it must be one of {', '.join(QUANTITIES)}"))
    if quantity == "utilisation":
        return {instance.resources[r]: item.utilisation[:, r] for r in np.flatnonzero(instance.totals > 0)}
    if quantity == "total":
        return {"all users": item.tasks.sum(axis=1)}
    if quantity == "deviation":
        return {"mean": item.mean_deviation, "largest": item.max_deviation}
    values = item.tasks if quantity == "tasks" else np.array([dominant_share(allocation) for allocation in item.allocations])
    return dict(zip(instance.users, values.T, strict=True))


def _own(item: TradeOff, name: Any, values: Any) -> Floats:
    result = floats(values, f"the line {name!r}")
    rule = f"it must have a number for each of {len(item.alphas)} alphas"
    require(result.shape == (len(item.alphas),), f"the line {name!r} is", values, rule)
    return result


def _alpha_ticks(ax: "Axes", at: Floats, alphas: NDArray[Any]) -> None:
    from matplotlib.ticker import NullLocator

    ax.xaxis.set_minor_locator(NullLocator())
    names = ["PS-DSF" if np.isinf(alpha) else f"{alpha:g}" for alpha in alphas]
    inches = style.size_of(ax)[0] / max(1e-9, np.ptp(np.log(at))) * 0.9
    kept = _apart(-inches * np.log(at), names, 0.06)
    ax.set_xticks(at[kept], [names[k] for k in kept], fontsize=style.SMALL)


def _apart(places: Floats, names: Sequence[str], gap: float) -> list[int]:
    """The names in the middle of these places, in inches, that do not touch: the first one, and what fits after it."""
    kept: list[int] = []
    end = -np.inf
    for k in np.argsort(places, kind="stable").tolist():
        half = style.text_width(names[k].strip("$").replace(r"\infty", "oo")) / 2
        if places[k] - half >= end:
            kept.append(k)
            end = places[k] + half + gap
    return kept


@checked
def server_shares(item: TradeOff, server: str, ax: "Axes | None" = None) -> "Axes":
    """K Fig. 3: what each user takes of each resource of one server, as stacked bars, one group of bars for each alpha.

    Parameters
    ----------
    item : the allocations for T values of alpha
    server : its name
    ax : Axes to draw on, None = a new figure
    """
    instance = item.instance
    i = place_of(server, instance.servers, "server")
    there = np.flatnonzero(instance.pools[i] > 0)
    users = np.flatnonzero(instance.eligible[:, i])
    _require_few(len(users), f"{len(users)} users may use {server!r}")
    names = [instance.users[n] for n in users]
    ax = style.one_axes_beside(ax, min(0.6 + 0.62 * len(item.alphas) * (len(there) + 0.7), 9.0), names)
    groups = np.arange(len(item.alphas))[:, None] * (len(there) + 0.7)
    at = (groups + np.arange(len(there))).ravel()
    parts = np.hstack([allocation.used[users, i][:, there] / instance.pools[i, there] for allocation in item.allocations])
    (name,) = style.fitted([server], 2.0, style.LABEL)
    stacked(ax, at, parts, names, [style.area(k) for k in range(len(users))], f"part of {name}")
    alphas = ["PS-DSF" if np.isinf(value) else f"$\\alpha$ = {value:g}" for value in item.alphas]
    style.headings(ax, groups[:, 0] + (len(there) - 1) / 2, alphas)
    style.name_ticks(ax, at, [instance.resources[r] for r in there] * len(item.alphas), 1.0)
    return ax


@checked
def frontier(item: TradeOff, ax: "Sequence[Axes] | NDArray[Any] | None" = None) -> NDArray[Any]:
    """Utilisation against deviation from PS-DSF (K 58), mean and largest, one point for each alpha and resource: two Axes."""
    left, right = axes = style.several_axes(ax, 2, 4.6, 4.0)
    there = np.flatnonzero(item.instance.totals > 0)
    for one, values, name in ((left, item.mean_deviation, "mean deviation"), (right, item.max_deviation, "largest deviation")):
        handles = []
        for k, r in enumerate(there):
            handles += one.plot(values, item.utilisation[:, r], label=item.instance.resources[r], **style.line(k))
        style.tidy(one, x=f"{name} from PS-DSF", y=r"utilisation (numbers: $\alpha$)" if one is left else "")
        one.margins(0.12)
        style.steady(one)
    style.legend(right, handles, [item.instance.resources[r] for r in there])
    for one, values in ((left, item.mean_deviation), (right, item.max_deviation)):
        _write_alphas(one, item.alphas, values, item.utilisation.max(axis=1))
    return axes


def _write_alphas(ax: "Axes", alphas: Sequence[float], x: Floats, y: Floats) -> None:
    """Each alpha above its highest point, as long as they do not touch."""
    names = [r"$\infty$" if np.isinf(alpha) else f"{alpha:g}" for alpha in alphas]
    inches = style.size_of(ax)[0] / np.ptp(ax.get_xlim())
    near: dict[str, Any] = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "fontsize": style.SMALL}
    for k in _apart(x * inches, names, 0.04):
        ax.annotate(names[k], (x[k], y[k]), **near)
