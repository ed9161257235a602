"""What figures of experiments are made of: bars, curves and bubbles with the spread over seeds and printed values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.panels import Panel, hint
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.experiment import Measured
from fairalloc.simulation.experiments.trial import Columns

SPREAD = "means over seeds, with a line or band from the least to the largest"

POINTS = 200
"""Of a curve over which seeds are averaged."""

PRINTED: Mapping[str, Any] = {"color": style.DARK, "linestyle": (0, (1, 1)), "linewidth": 1.6}

Part = Callable[[Measured], Panel]
"""What makes a panel of what was measured of a variant."""


def figure(*parts: Part) -> Callable[[Measured, str], list[Panel]]:
    """What makes these panels, each from left to right, whose titles name the variant."""
    return lambda measured, variant: [
        replace(panel, title=", ".join(filter(None, (panel.title, variant)))) for panel in (part(measured) for part in parts)
    ]


def lettered(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with letters before their titles; a single one as it is."""
    if len(panels) < 2:
        return list(panels)
    return [replace(panel, title=f"({k}) {panel.title}") for k, panel in zip(ascii_lowercase, panels, strict=False)]


def bars(
    names: Sequence[str],
    title: str,
    upwards: str,
    ticks: Sequence[str] = (),
    printed: Mapping[str, Mapping[str, float]] | None = None,
) -> Part:
    """For each number a mark of each competitor: its mean, and a line from the least to the largest over the seeds.

    The vertical axis shows what `upwards` says; `ticks` stand below the numbers, () = their names. What is `printed`, by label,
    "" for all, and name, is a dotted line at the mark.
    """

    def draw(measured: Measured, ax: Any) -> None:
        labels, number = measured.labels, list(measured.by_label)
        width = 0.7 / max(len(labels), 1)
        for place, label in enumerate(labels):
            at, look = np.arange(len(names)) + (place - (len(labels) - 1) / 2) * width, style.line(number.index(label))
            middle, low, high = np.array([_spread(measured.values(label, name)) for name in names]).T
            told = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, middle, strict=True))
            ax.vlines(at, low, high, color=look["color"], linewidth=1.2)
            ax.plot(at, middle, **{**look, "linestyle": "none", "markersize": 6.5}, gid=hint(f"{label}: {told}"))
            known = {**(printed or {}).get("", {}), **(printed or {}).get(label, {})}
            for mark, name in zip(at, names, strict=True):
                if name in known:
                    ax.hlines(known[name], mark - width / 2, mark + width / 2, **PRINTED)
        style.tidy(ax, y=upwards)
        ax.set_xlim(-0.5, len(names) - 0.5)
        style.name_ticks(ax, np.arange(len(names)), list(ticks or names), 1.0)

    return lambda measured: Panel(title, tuple(measured.labels), partial(draw, measured))


def _spread(values: Floats) -> tuple[float, float, float]:
    found = values[np.isfinite(values)]
    return (float(found.mean()), float(found.min()), float(found.max())) if len(found) else (np.nan, np.nan, np.nan)


def curves(
    names: str | Mapping[str, str],
    title: str,
    axes: tuple[str, str],
    scales: tuple[str, str] = ("linear", "linear"),
    printed: Sequence[tuple[float, float, float]] = (),
) -> Part:
    """A curve of each competitor, or, where names are given by what the legend says, these of the first competitor with any.

    It is the mean over seeds, with a band from the least to the largest. Axes and scales go right, then upwards. What is
    `printed`, (from, to, value), is a dotted line.
    """

    def draw(found: Mapping[str, Sequence[Columns]], ax: Any) -> None:
        for k, (label, seeds) in enumerate(found.items()):
            if seeds:
                look, (right, up) = style.line(k), _averaged(seeds, *scales)
                middle = np.exp(np.log(up).mean(axis=0)) if scales[1] == "log" else up.mean(axis=0)
                if len(up) > 1:
                    ax.fill_between(right, up.min(axis=0), up.max(axis=0), color=look["color"], alpha=0.18, linewidth=0)
                ax.plot(right, middle, **{**look, "markevery": 0.2}, gid=hint(f"{label}: {middle[-1]:.4g} at {right[-1]:.4g}"))
        for begin, end, value in printed:
            ax.hlines(value, begin, end, zorder=3, **PRINTED)
        style.tidy(ax, "both", *axes)
        ax.set(xscale=scales[0], yscale=scales[1])

    def panel(measured: Measured) -> Panel:
        if isinstance(names, str):
            found = {label: measured.curves(label, names) for label in measured.by_label}
        else:
            every = {shown: [measured.curves(label, name) for label in measured.labels] for shown, name in names.items()}
            found = {shown: next(filter(None, each), []) for shown, each in every.items()}
        return Panel(title, tuple(filter(found.get, found)), partial(draw, found))

    return panel


def _averaged(seeds: Sequence[Columns], across: str, upwards: str) -> tuple[Floats, Floats]:
    """(P,) numbers to the right, those of the seeds or so many between their ends, and (S, P) upwards."""
    every = [np.array(columns, dtype=float) for columns in seeds]
    right = np.unique(np.concatenate([one[0] for one in every]))
    if len(right) > POINTS:
        low, high = right[0], right[-1]
        right = np.geomspace(low, high, POINTS) if across == "log" else np.linspace(low, high, POINTS)
    up = np.array([np.interp(right, *one) for one in every])
    return right, np.maximum(up, 1e-300) if upwards == "log" else up


def bubbles(name: str, label: str, title: str, axes: tuple[str, str]) -> Part:
    """A bubble for each user of the first seed, whose radius grows with the logarithm of its tasks; below the line it loses.

    The columns of the name are numbers to the right, numbers upwards, and tasks.
    """

    def draw(seeds: Sequence[Columns], ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=1.2)
        for right, up, tasks in seeds:
            look = {"facecolor": style.INKS[0], "alpha": 0.35, "edgecolor": style.DARK, "linewidth": 0.3}
            ax.scatter(right, up, s=8.0 * (1.0 + np.log10(np.maximum(tasks, 1.0))) ** 2, **look)
        style.tidy(ax, "both", *axes)
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))

    return lambda measured: Panel(title, (), partial(draw, measured.curves(label, name)[:1]), 4.0, 4.0)
