"""What figures of experiments are made of: bars and curves by competitor, with the spread over seeds."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.panels import Panel
from fairalloc.analysis.plots.profiles import hint
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.experiment import Outcomes

__all__ = ["bars", "curves", "figure"]


def figure(*parts: Callable[[Outcomes], Panel]) -> Callable[[Outcomes], list[Panel]]:
    """What makes these panels of outcomes, each from left to right."""
    return lambda outcomes: [part(outcomes) for part in parts]


def bars(names: Sequence[str], title: str, upwards: str, ticks: Sequence[str] = ()) -> Callable[[Outcomes], Panel]:
    """For each number a mark of each competitor: its mean, and a line from the least to the largest over the seeds.

    The vertical axis shows what `upwards` says; `ticks` stand below the numbers, () = their names.
    """
    return lambda outcomes: Panel(title, tuple(outcomes.labels), partial(_bars, outcomes, names, upwards, ticks or names))


def _bars(outcomes: Outcomes, names: Sequence[str], upwards: str, ticks: Sequence[str], ax: Any) -> None:
    labels = outcomes.labels
    for k, label in enumerate(labels):
        at = np.arange(len(names)) + (k - (len(labels) - 1) / 2) * 0.7 / max(len(labels), 1)
        middle, low, high = np.array([_spread(outcomes.values(label, name)) for name in names]).T
        look = style.line(k)
        told = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, middle, strict=True))
        ax.vlines(at, low, high, color=look["color"], linewidth=1.2)
        ax.plot(at, middle, **{**look, "linestyle": "none", "markersize": 6.5}, gid=hint(f"{label}: {told}"))
    style.tidy(ax)
    ax.set_xlim(-0.5, len(names) - 0.5)
    style.name_ticks(ax, np.arange(len(names)), list(ticks), 1.0)
    ax.set_ylabel(upwards, fontsize=style.LABEL)


def _spread(values: Floats) -> tuple[float, float, float]:
    found = values[np.isfinite(values)]
    return (float(found.mean()), float(found.min()), float(found.max())) if len(found) else (np.nan, np.nan, np.nan)


def curves(
    name: str, title: str, axes: tuple[str, str], scales: tuple[str, str] = ("linear", "linear")
) -> Callable[[Outcomes], Panel]:
    """A curve of each competitor, strong for the first seed and thin for the others; axes and scales go right, then upwards."""

    def panel(outcomes: Outcomes) -> Panel:
        labels = tuple(label for label in outcomes.labels if outcomes.curves(label, name))
        return Panel(title, labels, partial(_curves, outcomes, name, axes, scales))

    return panel


def _curves(outcomes: Outcomes, name: str, axes: tuple[str, str], scales: tuple[str, str], ax: Any) -> None:
    for k, label in enumerate(outcomes.labels):
        look = style.line(k)
        for number, (right, up) in enumerate(outcomes.curves(label, name)):
            if number:
                ax.plot(right, up, color=look["color"], linewidth=0.5, alpha=0.4)
                continue
            ax.plot(right, up, **{**look, "markevery": 0.2}, gid=hint(f"{label}: {up[-1]:.4g} at {right[-1]:.4g}"))
    style.tidy(ax, "both")
    ax.set(xscale=scales[0], yscale=scales[1])
    ax.set_xlabel(axes[0], fontsize=style.LABEL)
    ax.set_ylabel(axes[1], fontsize=style.LABEL)
