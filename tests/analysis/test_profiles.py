"""Performance profiles: the curve by hand, and figures whose bytes are the same twice."""

import numpy as np
import pytest

from fairalloc.analysis.plots.measured import performance_profiles, steps
from fairalloc.analysis.plots.panels import svg_element

PANELS = {"a <mechanism>": {"one": [1.0, 4.0, np.inf], "two": [1.0, 2.0, 1.0]}, "nobody": {"one": [np.inf]}}


def test_a_curve_rises_by_a_case_at_its_ratio_and_failures_never_count():
    factors, solved = steps([4.0, np.inf, 1.0, 2.0], end=8.0)
    assert factors.tolist() == [1.0, 1.0, 2.0, 4.0, 8.0]
    assert solved.tolist() == [0.0, 0.25, 0.5, 0.75, 0.75]


def test_a_figure_has_a_panel_and_a_curve_for_each():
    pytest.importorskip("matplotlib")
    panels = performance_profiles(PANELS)
    assert [axes.get_title() for axes in panels] == list(PANELS)
    assert [[line.get_label() for line in axes.lines] for axes in panels] == [["one", "two"], ["one"]]
    assert panels[0].lines[0].get_ydata()[-1] == pytest.approx(2 / 3)


def test_a_title_is_shown_letter_by_letter_and_a_method_without_cases_solves_none():
    (ax,) = performance_profiles({"cost $5_ or $6^": {"none": []}})
    assert ax.get_title() == r"cost \$5_ or \$6^"
    assert ax.lines[0].get_ydata().tolist() == [0.0, 0.0]
    ax.figure.draw_without_rendering()


def test_the_element_is_the_same_twice_and_names_no_address():
    pytest.importorskip("matplotlib")
    first, second = (svg_element(performance_profiles(PANELS)[0].figure) for _ in range(2))
    assert first == second
    assert first.startswith("<svg")
    assert first.rstrip().endswith("</svg>")
    assert "http" not in first
    assert "a &lt;mechanism&gt;" in first


def test_a_figure_that_was_written_is_as_it_was_before():
    pytest.importorskip("matplotlib")
    figure = performance_profiles(PANELS)[0].figure
    figure.set_dpi(90)
    before = figure.canvas
    svg_element(figure)
    assert figure.canvas is before
    assert figure.dpi == 90
