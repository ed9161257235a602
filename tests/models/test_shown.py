"""What users see of objects: short texts, tables in notebooks, data frames, figures."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.models.numbers import without_rounding, worst
from fairalloc.models.tables import Grid

WANG = fa.example("wang-fig2").instance
ANSWER = fa.solve(WANG, "drfh")
MANY = fa.Instance([[1]] * 30, [[30]], users=[f"<b>{n}</b>" for n in range(30)])


def seen():
    pool = fa.example("wang-pool").instance
    return {
        "instance": WANG,
        "allocation": ANSWER,
        "given": fa.Allocation(MANY, [1] * 30),
        "verdict": fa.check(ANSWER, "pareto"),
        "certificate": fa.certify(fa.solve(WANG, "drfh", "exact")),
        "market": fa.market(fa.solve(pool, "nb")),
        "solutions": solution_set(fa.example("dolev-fig3").instance, "njc"),
    }


class Cells(HTMLParser):
    """The texts of the cells of all tables."""

    def __init__(self, text):
        super().__init__()
        self.found, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        assert tag in ("p", "table", "thead", "tbody", "tr", "th", "td")
        self.inside = tag in ("th", "td")
        if self.inside:
            self.found.append("")

    def handle_data(self, data):
        if self.inside:
            self.found[-1] += data

    def handle_endtag(self, tag):
        self.inside = False


@pytest.mark.parametrize("name", list(seen()))
def test_texts_are_short(name):
    text = repr(seen()[name])
    assert len(text.splitlines()) <= 3
    assert len(text) <= 260
    assert " object at 0x" not in text


@pytest.mark.parametrize("name", list(seen()))
def test_notebooks_get_tables_without_foreign_markup(name):
    cells = Cells(seen()[name]._repr_html_()).found
    assert len(cells) >= 4


def test_the_texts_say_what_counts():
    assert repr(ANSWER).splitlines()[1] == " tasks: u1 10, u2 10>"
    assert repr(ANSWER).startswith("<allocation of wang-fig2: drfh by highs:leximin, optimal, residual ")
    assert "fails" in repr(fa.check(fa.Allocation(WANG, [5, 1, 1, 5]), "pareto"))
    assert repr(fa.certify(fa.solve(WANG, "drfh", "exact"))) == "<certificate of drfh: lexicographic max-min fair, rounds at 5/7>"
    assert repr(fa.METHODS["exact"]) == "<method exact: exact>"
    assert "drfh" in repr(fa.mechanism("drfh"))
    assert repr(fa.example("wang-fig2")).startswith("<example wang-fig2: ")


def test_long_tables_are_cut_and_say_so():
    html = fa.Allocation(MANY, [1] * 30)._repr_html_()
    assert "... and 10 more rows" in html
    assert Grid("", ("a",), [("1",)] * 20).head().notes == (), "no rows are left out"
    assert "<b>" not in html
    assert "&lt;b&gt;0&lt;/b&gt;" in html
    assert Cells(ANSWER._repr_html_()).found[-4:] == ["u2", "10", "0", "10"]


def test_data_frames_have_the_names():
    pytest.importorskip("pandas")
    tasks = ANSWER.to_frame()
    assert tasks.loc["u2", WANG.servers[1]] == pytest.approx(10)
    used = ANSWER.to_frame("used")
    assert used.loc[("u1", WANG.servers[0])].tolist() == pytest.approx(ANSWER.used[0, 0].tolist())
    assert ANSWER.to_frame("load").to_numpy() == pytest.approx(ANSWER.load)
    with pytest.raises(fa.UnknownName, match="there is no frame 'loads' "):
        ANSWER.to_frame("loads")
    doubled = fa.Instance(fa.Allocation(WANG, [10, 1, 1, 10]).to_frame(), [[20, 20]])
    assert (doubled.users, doubled.resources) == (WANG.users, WANG.servers), "a table of tasks is a table like any other"


def test_data_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(fa.NotInstalled, match="data frames need pandas: pip install pandas"):
        ANSWER.to_frame()


def test_the_bars_are_the_loads():
    pytest.importorskip("matplotlib")
    bars = ANSWER.plot().patches
    heights = np.array([bar.get_height() for bar in bars]).reshape(WANG.N, WANG.K * WANG.R)
    assert heights.sum(axis=0) == pytest.approx(ANSWER.load.ravel())
    assert fa.plots.allocation(ANSWER).get_ylabel() == "part of the capacity"
    with pytest.raises(fa.InstanceError, match="must be an Allocation"):
        fa.plots.allocation(WANG)


def test_modules_are_there_and_nothing_heavy_comes_with_them():
    code = (
        "import sys, fairalloc as fa; "
        "print(sorted({'matplotlib', 'pandas', 'rich', 'fairalloc.models.examples.traces'} & set(sys.modules))); "
        "print(fa.traces.__name__, fa.generators.__name__, fa.plots.__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\nfairalloc.models.examples.traces fairalloc.models.examples.generators fairalloc.analysis.plots\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fa.nothing  # noqa: B018


def test_dir_lists_the_public_names_and_those_alone():
    assert [name for name in dir(fa) if not name.startswith("__")] == sorted(fa.__all__)
    assert {"generators", "plots", "traces", "__version__"} <= set(dir(fa))


def test_six_users_are_shown_and_that_there_are_more():
    def second_line(users):
        return repr(fa.Allocation(fa.Instance([[1]] * users, [[9]]), range(1, users + 1))).splitlines()[1]

    assert second_line(6) == " tasks: u1 1, u2 2, u3 3, u4 4, u5 5, u6 6>"
    assert second_line(7) == " tasks: u1 1, u2 2, u3 3, u4 4, u5 5, u6 6, ...>"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"x": [1, 2, 3]}, "x has shape (3,), but the instance has 4 arcs"),
        ({"termination": "done"}, "there is no termination 'done': the terminations are optimal, "),
        ({"termination": ["optimal"]}, "there is no termination ['optimal']"),
        ({"x_exact": (1, 2, 3)}, "x_exact is (1, 2, 3), but it must be 4 rationals, one for each arc"),
        ({"prices": [1, 2]}, "prices has shape (2,), but it must be 2 x 2"),
        ({"prices": [[1, 2, 3], [1, 2, 3]]}, "prices has shape (2, 3), but it must be 2 x 2"),
        ({"round_prices": [[1, 2], [3, 4]]}, "round_prices has shape (2, 2), but it must be any x 2 x 2"),
        ({"round_prices": np.ones((3, 1, 2))}, "round_prices has shape (3, 1, 2), but it must be any x 2 x 2"),
        ({"bundles": np.ones((1, 2, 2))}, "bundles has shape (1, 2, 2), but it must be 2 x 2 x 2"),
        ({"prices": [[1, 2], [np.nan, 4]]}, "prices holds a number that is not finite, but all must be"),
        ({"bundles": np.full((2, 2, 2), np.inf)}, "bundles holds a number that is not finite, but all must be"),
    ],
)
def test_what_does_not_fit_an_allocation_is_one_sentence(given, says):
    with pytest.raises(fa.InstanceError) as caught:
        fa.Allocation(**{"instance": WANG, "x": [1, 2, 3, 4], **given})
    assert str(caught.value).startswith(says)


def test_prices_of_any_number_of_rounds_fit():
    shapes = [fa.Allocation(WANG, [1, 2, 3, 4], round_prices=np.ones((k, 2, 2))).round_prices.shape for k in (0, 1, 5)]
    assert shapes == [(0, 2, 2), (1, 2, 2), (5, 2, 2)]


def test_the_outcome_says_what_is_judged():
    given = fa.Allocation(WANG, [10, 0, 0, 10], termination="optimal")
    late = given.noted(not_judged="not judged: it is late", residuals={"definition": 1e-9})
    facts = {"definition": 1e-9, "feasibility": 1e-3}
    assert [given.outcome, late.outcome] == ["optimal", "optimal, not judged"]
    assert given.noted(termination="stationary").outcome == "stationary point, not judged"
    assert late.noted(termination="time_limit").outcome == "time_limit"
    assert [given.claims_success, late.claims_success, given.noted(termination="given").claims_success] == [True, False, False]
    assert [given.residual, late.residual, given.noted(residuals=facts).residual] == [np.inf, np.inf, 1e-3]
    assert given.noted(residuals={"definition": np.nan, "feasibility": 0.5}).residual == np.inf
    assert "not judged" in repr(late)
    assert "residual" not in repr(late)


def test_what_is_next_to_nothing_is_shown_as_nothing():
    assert without_rounding(np.array([-5.0, 1e-8, -1e-8, 4.9e-9, 0.0])).tolist() == [-5.0, 1e-8, -1e-8, 0.0, 0.0]
    assert without_rounding(np.empty(0)).tolist() == []
    assert [worst([]), worst([-1.0]), worst([0.5, 2.0, 1.0]), worst([1.0, np.nan, 2.0])] == [0.0, 0.0, 2.0, np.inf]
    assert [worst(np.array([0.5, 2.0])), worst(np.array([1.0, np.nan])), worst(np.empty(0))] == [2.0, np.inf, 0.0]


def test_a_users_tasks_are_shown_whatever_those_of_others():
    """Two tasks beside two thousand million were shown as none."""
    far = fa.Instance(
        [[10], ["1/1000000000"], [1]], [[6]], users=["ann", "bytes", "bob"], max_tasks=[None, None, "1/10000000000"]
    )
    found = fa.Allocation(far, [0.2, 2e9, 1e-10])
    assert found.shown_tasks.tolist() == [0.2, 2e9, 1e-10]
    assert [row[1] for row in found.grid().rows] == ["0.2", "2e+09", "1e-10"]
    assert "ann 0.2, bytes 2e+09, bob 1e-10" in repr(found)
    assert fa.Allocation(far, [1e-12, 1e-3, 0]).shown_tasks.tolist() == [0, 0, 0], "what solvers leave of 0"
    table = fa.compare(far, ["drfh"])
    assert [row[1] for row in table.grid().rows[:3]] == [f"{u:.6g}" for u in table["drfh"].tasks]
