"""The option --plot: allocations as stacked bars in one file, a panel for each instance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, NotApplicable

PANELS = 12
"""So many allocations stand in one figure."""


def write_figure(allocations: Sequence[Allocation], file: str) -> None:
    """Write the allocations, one below the other, as SVG, PNG or PDF; one sentence where that is impossible."""
    from fairalloc.analysis.plots import bars, panels, style

    if Path(file).suffix.lower() not in panels.ENDINGS:
        raise InstanceError(f"--plot is {file!r}, but the name of a figure ends in {', '.join(panels.ENDINGS)}")
    if not 1 <= len(allocations) <= PANELS:
        raise NotApplicable(f"{file} is not written: a figure shows 1 to {PANELS} allocations, but there are {len(allocations)}")
    sizes = [bars.size(allocation) for allocation in allocations]
    heights = [height + 0.4 for _, height in sizes]
    figure = style.new_figure(max(width for width, _ in sizes), sum(heights))
    engine: Any = figure.get_layout_engine()
    engine.set(h_pad=0.12)
    axes = figure.subplots(len(allocations), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, allocation, (width, _) in zip(axes, allocations, sizes, strict=True):
        bars.allocation(allocation, ax)
        (title,) = style.fitted([f"{allocation.instance.name or 'instance'}: {allocation.mechanism}"], width - 1.0, style.LABEL)
        ax.set_title(title, fontsize=style.LABEL, pad=12)
    panels.write_figure(figure, file)
