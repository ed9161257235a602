"""What the tests of figures look for: text that is cut off at the edge of a figure, and text that overlaps."""

from itertools import combinations

import pytest

plt = pytest.importorskip("matplotlib.pyplot", reason="pip install fairalloc[plots]")


def texts(figure):
    """(text, its box) of every text that is drawn."""
    figure.canvas.draw()
    found = [item for item in figure.findobj(plt.Text) if item.get_visible() and item.get_text().strip()]
    every = [axis for ax in figure.findobj(plt.Axes) for axis in ax._axis_map.values()]
    ticks = {label for axis in every for label in axis.get_ticklabels(which="both")}
    flat = [axis for axis in every if axis.axes.name != "3d"]  # in space, ticks have their places only while they are drawn
    shown = [tick for axis in flat for tick in axis._update_ticks()]
    drawn = {label for tick in shown for label in (tick.label1, tick.label2) if label.get_visible()}
    return [(item.get_text(), item.get_window_extent()) for item in found if item not in ticks or item in drawn]


def crowded(figure):
    """What is cut off at the edge of the figure, and what overlaps by more than a pixel."""
    boxes = texts(figure)
    width, height = figure.bbox.width, figure.bbox.height
    cut = [text for text, box in boxes if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1]
    return cut + [(one, two) for (one, a), (two, b) in combinations(boxes, 2) if a.padded(-1).overlaps(b.padded(-1))]
