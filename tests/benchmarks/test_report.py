"""What reports say: comparisons, references, commands, tables, pages and figures, from records made by hand."""

import csv
import html
import io
import json
import math
import os
import re
import shlex
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from figure_texts import crowded
from hand_made import record, summary_of
from matplotlib.backends.backend_agg import FigureCanvasAgg
from rich.console import Console
from tolerances import SHARES

import fairalloc as fa
from fairalloc import benchmarks
from fairalloc.analysis.plots import measured, panels, style
from fairalloc.analysis.plots.panels import ENDINGS
from fairalloc.benchmarks import FIGURES, SUITES, BenchmarkError, SuiteCase, accuracy, figures, metrics, page, print_summary
from fairalloc.benchmarks.accuracy import loss_grids, losses
from fairalloc.benchmarks.ranking import pairwise, pareto, ranking
from fairalloc.benchmarks.records import UNDEFINED, BenchmarkStore
from fairalloc.benchmarks.references import Reference, distance_to, printed_quantities, references, unique_quantities
from fairalloc.benchmarks.report import advice
from fairalloc.cli import _parser, main
from fairalloc.models.errors import InstanceError, NotApplicable, UnknownName
from fairalloc.models.files.jsonio import write_instance


def cases(method, walls, **changes):
    """A success on the cases a, b, .. with these times; None for a failure."""
    return [
        record(method=method, case=case, wall=wall or 10.0, definition=1e-9 if wall else 1.0, claims=bool(wall), **changes)
        for case, wall in zip("abcdefgh", walls, strict=False)
    ]


# ---- comparisons -----------------------------------------------------------------------------------------------------


def test_pairs_are_compared_on_the_cases_of_both():
    records = [*cases("one", [0.09, 0.09, 0.09]), *cases("two", [0.19, 0.19, 0.19]), *cases("some", [0.39, 0.39])]
    found = pairwise(records)
    assert tuple(dict.fromkeys(one for one, _ in found)) == ("one", "two", "some"), "most cases first, then the faster"
    assert found["two", "one"].ratio == pytest.approx(0.19 / 0.09)
    assert found["two", "one"].cases == 3
    assert found["some", "two"].ratio == pytest.approx(0.39 / 0.19)
    assert found["some", "two"].cases == 2
    assert found["one", "two"].ratio * found["two", "one"].ratio == pytest.approx(1.0)
    assert not found["one", "two"].differs, "3 cases tell nothing"
    assert math.isnan(found["one", "two"].low)
    apart = pairwise([*cases("one", 6 * [0.1]), *cases("two", 6 * [0.2])])
    assert apart["one", "two"].differs
    assert apart["one", "two"].low < 1
    mixed = pairwise([*cases("one", 3 * [0.1, 0.3]), *cases("two", 3 * [0.3, 0.1])])
    assert not mixed["one", "two"].differs
    equals = [cases(name, [0.1, 0.11] * 3) for name in "cde"]
    several = pairwise([one for own in (cases("a", 6 * [0.2]), *equals) for one in own])
    assert several["c", "a"].chance == pytest.approx(6 / 3 * 2 / 2**6), "3 of 6 pairs are as far apart"


def test_traces_are_those_of_the_highest_accuracy():
    asked = [("low", 1e-3), ("high", 1e-8), ("mid", 1e-6)]
    rows = [record(accuracy=name, tolerance=end, trace=((0.1, 1.0), (0.2, end))) for name, end in asked]
    (panel,) = figures.panels_of(summary_of(rows), "traces")
    assert panel.draw.args == ({"m": ((0.1, 1.0), (0.2, 1e-8))},)


def test_a_method_has_no_interval_to_itself():
    """Its repeats differ, so two draws of them do too."""
    rows = [replace(r, repeat=k, wall=r.wall * (k + 1)) for k in range(3) for r in cases("m", [0.1] * 6)]
    (rank,) = ranking("drfh", rows).rows
    assert rank.low < rank.mean < rank.high
    assert (rank.to_best.ratio, math.isnan(rank.to_best.low)) == (1.0, True)
    assert " | 1 | - |" in benchmarks.report_text(summary_of(rows), "markdown")


def test_the_front_is_what_no_other_beats_in_time_and_accuracy():
    records = [
        record(method="fast", accuracy="low", wall=0.1, definition=1e-4),
        record(method="fast", accuracy="mid", wall=0.2, definition=1e-7),
        record(method="late", accuracy="mid", wall=0.3, definition=1e-7),
        record(method="sure", accuracy="mid", wall=0.9, definition=1e-12),
        record(method="lost", accuracy="mid", wall=0.01, definition=math.inf),
    ]
    found = {(point.method, point.accuracy): point for point in pareto(records)}
    drawn = measured.front({" ".join(key): [(point.seconds, point.residual)] for key, point in found.items()})
    assert drawn.lines[-1].get_xdata() == pytest.approx([0.1, 0.2, 0.9])
    assert found["fast", "mid"].residual == 1e-7
    assert found["fast", "mid"].seconds == pytest.approx(0.2)
    assert found["lost", "mid"].seconds == pytest.approx(metrics.PENALTY * 10.0)
    assert [point.method for point in pareto([*cases("all", [0.1, 0.1]), *cases("part", [0.1])])] == ["all"]


def test_as_many_other_cases_are_not_the_same_cases():
    """Two methods have a, b and c; a third has b, c and d."""
    one, two = cases("one", [0.1, 0.2, 0.3]), cases("two", [0.4, 0.5, 0.6])
    other = [replace(r, case=case) for r, case in zip(cases("other", [0.01] * 3), "bcd", strict=True)]
    rows = [*one, *two, *other]
    assert [point.method for point in pareto(rows)] == ["one", "two"]
    assert [found.method for found in accuracy.reached(rows)] == ["one", "two"]
    assert [rank.method for rank in ranking("drfh", rows).rows] == ["one", "two"]


def test_methods_are_compared_at_what_they_achieve_and_claims_do_not_count():
    early = [record(method="early", accuracy="low", wall=0.1, definition=1e-4), record(method="early", wall=0.5, definition=1e-7)]
    modest = record(method="modest", wall=0.3, claims=False, definition=1e-8)
    means = {t: {rank.method: rank.mean for rank in ranking("drfh", [*early, modest], t).rows} for t in metrics.TARGETS}
    assert means[1e-3] == pytest.approx({"early": 0.1, "modest": 0.3})
    assert means[1e-6] == pytest.approx({"early": 0.5, "modest": 0.3})
    assert means[1e-8] == pytest.approx({"early": 30.0, "modest": 0.3})


def test_the_report_says_where_one_accuracy_was_asked_for():
    one = summary_of([record(), record(method="n")])
    two = summary_of([record(), record(method="n"), record(accuracy="high"), record(method="n", accuracy="high")])
    assert (one.target, two.target) == (None, 1e-6)
    assert "Every method was asked for the accuracy mid alone" in benchmarks.report_text(one, "markdown")
    assert "Of the accuracies asked for (mid, high) the one that takes least counts." in benchmarks.report_text(two, "markdown")
    assert "wall time to a verified residual of 1e-06" in benchmarks.report_text(two, "markdown")


def test_the_time_to_a_residual_is_the_median_of_the_common_cases():
    """Residuals 1e-2 and 1e-7 at two accuracies; another method has the second on one case of three."""
    two = [("low", 0.1, 1e-2), ("high", 0.4, 1e-7)]
    rows = [record(method="m", case=f"c{k}", accuracy=a, wall=(k + 1) * s, definition=d) for k in range(3) for a, s, d in two]
    rows += [record(method="n", case=f"c{k}", wall=0.2, definition=1e-7 if k == 0 else 1e-3) for k in range(3)]
    rows += [record(method="p", case="c0", wall=0.01)]
    found = {one.method: one for one in accuracy.reached(rows)}
    assert set(found) == {"m", "n"}
    assert [round(spent, 9) for spent in found["m"].seconds] == [0.2, 0.2, *[0.8] * 5, math.inf]
    assert found["n"].seconds == (0.2, 0.2, 0.2, *[math.inf] * 5)
    assert found["m"].points[2] == (0.8, pytest.approx(1e-3))
    assert accuracy.accuracy_grid(accuracy.reached(rows)).rows == [
        ["m", "200", "200", *["800"] * 5, "-"],
        ["n", *["200"] * 3, *["-"] * 5],
    ]


def test_accuracy_against_time_counts_its_own_cases_and_names_who_is_left_out():
    """Of four cases a method has all, another two, and a third has two others."""
    others = [replace(r, case=r.case.upper()) for r in cases("p", [0.1, 0.1])]
    text = benchmarks.report_text(summary_of([*cases("m", [0.1, 0.1, None, None]), *cases("n", [0.1, 0.1]), *others]), "markdown")
    assert "4 cases; asked for: mid; without n, p, which were asked for other or fewer cases." in text
    assert "| m | - | - | - | - | - | - | - | - |" in text
    assert "counts as the slowest, and a dash stands where no more than half of the cases get there." in text


def test_a_failure_is_a_cost_without_an_end():
    assert metrics.data_profile([*cases("m", [0.1, None]), *cases("n", [0.3])]) == {"m": [0.1, math.inf], "n": [0.3, math.inf]}


ADVICE = [
    ({"m": [0.1] * 8, "n": [0.5] * 8}, "drfh: fastest on these 8 cases, and of those that solve all: m (100 ms)."),
    ({"m": [0.1] * 8, "n": [None] * 8}, "drfh: fastest on these 8 cases, and of those that solve all: m (100 ms)."),
    (
        {"m": [0.1, 0.3] * 4, "n": [0.3, 0.1] * 4},
        "drfh: fastest on these 8 cases, and of those that solve all: m (175 ms); not told apart from it: n.",
    ),
    (
        {"m": [0.001] * 7 + [None], "n": [5.0] * 8},
        "drfh: fastest on these 8 cases: m (19.6 ms), which solves 7; fastest that solves all: n (5,000 ms).",
    ),
    ({"m": [0.1, None, 0.1]}, "drfh: fastest on these 3 cases: m (703 ms), which solves 2; no method solves all."),
    ({"m": [None]}, "drfh: no method solves this one case."),
    (
        {"m": [0.1]},
        "drfh: fastest on this one case, and of those that solve all: m (100 ms); too few cases to tell methods apart.",
    ),
]


@pytest.mark.parametrize(("walls", "says"), ADVICE)
def test_the_advice_names_the_method_to_use(walls, says):
    records = [r for method, own in walls.items() for r in cases(method, own)]
    assert advice(ranking("drfh", records)) == says
    assert says in benchmarks.report_text(summary_of(records), "markdown")
    out = io.StringIO()
    print_summary(summary_of(records), Console(file=out, width=100))
    assert says in " ".join(out.getvalue().split())
    assert max(map(len, out.getvalue().splitlines())) <= 100


def test_honesty_is_of_the_solves_that_are_judged():
    """A lie beside claims that nobody can judge, and cases that were not asked; then nothing judged at all."""
    unknown = [record(case=case, feasibility=0.0, definition=math.inf) for case in "bc"]
    skipped = record(case="d", termination="skipped", claims=False, definition=math.inf)
    (row,) = summary_of([record(definition=1e-2), *unknown, skipped]).rows
    assert (row.success, row.honesty) == (0.0, 0.0)
    text = benchmarks.report_text(summary_of(unknown), "markdown")
    assert "| m | 2 | 2 | 0 % | - |" in text


def test_more_solves_than_cores_share_them_and_the_report_says_so():
    made = summary_of([record()])
    made.run.details["setting"]["jobs"] = 3
    assert made.limits.endswith("3 solves at a time on 2 cores, which they share")


def test_what_a_cluster_measured_is_measured_again_there():
    made = summary_of([record()])
    assert "--jobs 1 " in made.again
    made.run.details["setting"] |= {"scheduler": "tcp://127.0.0.1:8786", "jobs": 3}
    words = shlex.split(made.again)
    assert words[words.index("--scheduler") + 1] == "tcp://127.0.0.1:8786"
    assert "--jobs" not in words, "its workers say how many, and both are refused"
    _parser(words[1:]).parse_args(words[1:])


def test_readers_are_told_what_was_measured():
    records = [replace(one, wall=1.0) for one in cases("a", [0.02] * 2)]  # the phases are far below
    out = io.StringIO()
    print_summary(summary_of(records), Console(file=out, width=200))
    assert "a: the reported phases do not add up to the measured time in 2 of 2 solves" in out.getvalue()
    assert not re.search(r"\bour (clock|residual)", out.getvalue() + benchmarks.report_text(summary_of(records), "html"))


def test_names_and_messages_are_no_markup_and_nothing_that_a_terminal_obeys():
    made = summary_of(
        [record(method="[/]"), record(method="m", case=":key:", claims=False, termination="error", message="m raised [x]")]
    )
    undefined = record(case="b", method=UNDEFINED, message="a \x1b[2J [red]")
    rows = (*made.rows_of_run, undefined)
    made = replace(made, path=Path("[b].sqlite"), others=1, run=replace(made.run, suite="[/]"), rows_of_run=rows)
    out = io.StringIO()
    print_summary(made, Console(file=out, width=200))
    for part in (
        "suite [/]: ",
        "m on :key:",
        ": m raised [x]",
        r"not solved: b: a \x1b[2J [red]",
        "[b].sqlite also holds 1 row of",
    ):
        assert part in out.getvalue()


def test_the_accuracies_that_were_asked_for_stand_in_order():
    asked = [
        replace(one, accuracy=word, tolerance=float(word))
        for word in ("0.1", "1e-08", "0.0001")
        for one in cases("a", [0.02] * 2)
    ]
    assert "asked for: 0.1, 0.0001, 1e-08." in benchmarks.report_text(summary_of(asked), "html")


def test_partial_methods_have_their_own_block():
    summary = summary_of([*cases("all", [0.02] * 7 + [0.5]), *cases("part", [0.03, 0.03])])
    text = benchmarks.report_text(summary, "markdown")
    assert "The ratio is to all on the same cases." in text
    first, second = text.index("| all | 8 |"), text.index("| drfh, some cases |")
    assert first < second < text.index("| part | 2 | 2 | 30.0 |")
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=100))
    assert "drfh, some cases" in out.getvalue()


# ---- references ------------------------------------------------------------------------------------------------------

UNIQUE = ("drf", "drfh", "drfh-lp", "drf-per-server", "tsf", "lmmf", "mmf", "nb", "fds", "asset", "utilitarian")


@pytest.mark.parametrize("mechanism", UNIQUE)
def test_a_wrong_answer_is_far_from_the_reference(mechanism):
    instance = fa.generators.generic(4, 2, 2, 1)
    case = SuiteCase("a", mechanism, partial(fa.generators.generic, 4, 2, 2, 1))
    right = fa.solve(instance, mechanism)
    known = Reference(tuple(unique_quantities(case, instance, right)), "", "")
    assert len(known.quantities) > 0
    other = fa.solve(instance, mechanism, "cvxpy:clarabel")
    assert distance_to(known, record(quantities=tuple(unique_quantities(case, instance, other)))) <= SHARES
    half = fa.Allocation(right.instance, right.x / 2, values={name: value / 2 for name, value in right.values.items()})
    assert distance_to(known, record(quantities=tuple(unique_quantities(case, instance, half)))) >= 0.4


def test_what_is_not_unique_has_no_reference():
    instance = fa.generators.generic(4, 2, 2, 1)
    for mechanism in ("ps-dsf", "alpha-pf-vds"):
        assert unique_quantities(SuiteCase("a", mechanism, lambda: instance), instance, fa.solve(instance, mechanism)) == []
    case, no_point = SuiteCase("a", "nb", lambda: instance), fa.Allocation(instance, np.full(len(instance.arcs), math.nan))
    assert unique_quantities(case, instance, no_point) == []
    assert distance_to(Reference((1.0,), "", ""), record()) == math.inf


def test_references_are_printed_or_rational_or_the_best_verified():
    made = [(case, case.build(), fa.mechanism(case.mechanism).configure(**case.parameters)) for case in SUITES["papers"].cases]
    known = {case.name: printed_quantities(case, item.settled(instance), instance) for case, instance, item in made}
    printed = references({name: quantities for name, quantities in known.items() if quantities}, [])
    assert len(printed) > 20
    assert {item.provenance for item in printed.values()} == {"printed in the paper"}
    best = record(method="m", quantities=(1.0,), definition=1e-12)
    loose = record(method="n", quantities=(2.0,), definition=1e-8)
    exact = record(method="exact", quantities=(3.0,), definition=1e-8, rational=True)
    assert references({}, [loose, best])["a"].provenance == "best verified, residual 1e-12 by m"
    assert references({}, [loose, best, exact])["a"] == Reference(
        (3.0,), "the answer of a method in rationals", "certified in rationals by exact"
    )
    text = benchmarks.report_text(summary_of([loose, best]), "markdown")
    assert "| a | best verified, residual 1e-12 by m | n | 1.0e+00 |" in text


def test_what_is_not_verified_is_no_reference():
    wrong = [record(quantities=(1.0,), definition=d) for d in (0.3, math.inf)]
    assert references({}, wrong) == {}


# ---- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_a_failure_has_the_command_that_reproduces_it(tmp_path, monkeypatch, capsys):
    file = tmp_path / "my [1] cases" / "one.json"
    file.parent.mkdir()
    write_instance(fa.generators.generic(3, 2, 2, 1), file)
    own = tmp_path / "own.py"
    own.write_text("def equal(instance, mechanism, limits):\n    return instance.arcs.gamma / instance.N\n")
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "run", str(file), "--method", "own.py:equal", "-m", "nb", "--repeats", "1"]) == 1
    (failure,) = benchmarks.report("results/files.sqlite").failures
    command = benchmarks.report("results/files.sqlite").command(failure.record)
    monkeypatch.chdir(file.parent)
    capsys.readouterr()
    assert main(shlex.split(command)[1:]) == 1
    assert f"equal on one: {failure.what}" in capsys.readouterr().out
    assert (file.parent / "again.sqlite").exists()


def test_names_that_mean_patterns_are_quoted():
    one = record(suite="game", case='alpha=[1, 3, "inf"]-generic', method="best-response")
    words = shlex.split(summary_of([one], place="game").command(one))
    assert words[:4] == ["fairalloc", "bench", "run", "game"]
    assert words[4:8] == ["--case", 'alpha=[[]1, 3, "inf"]-generic', "--method", "best-response"]
    typed_in = record(method="typed_in")
    assert summary_of([typed_in], place="game").command(typed_in) == "-"


# ---- the page --------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Tags, attributes, ids and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.names, self.targets, self.links = set(), set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.targets += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "xlink:href", "src")]


MANY = [f"cvxpy:method-{k:02}" for k in range(24)]


@pytest.fixture(scope="module")
def large():
    """A summary of 24 methods on three cases, four of them on another mechanism too, with traces, a failure and no answer."""
    trace = tuple((0.001 * 2**k, 10.0**-k) for k in range(12))
    rows = [
        record(method=name, case=f"{mechanism}-{case}", mechanism=mechanism, wall=0.01 * (k + 1) * (case + 1), peak_mb=90.0 + k,
               definition=1e-9 / (k + 1) if k < 23 else 1.0, quantities=(1.0,), trace=trace, arcs=10 ** (case + 2))
        for k, name in enumerate(MANY)
        for mechanism in ("drfh", "alpha-pf-vds alpha=3")[: 1 + (k < 4)]
        for case in range(3)
    ]  # fmt: skip
    undefined = record(method=UNDEFINED, case="none", termination="undefined", message="not <defined>")
    return summary_of([*rows, undefined], families={row.case: "generic" for row in rows})


@pytest.fixture(scope="module")
def text(large):
    return benchmarks.report_text(large)


def test_the_page_is_self_contained(text):
    found = Reader(text)
    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not {name for name in found.names if name.startswith("on")}
    assert all(link.startswith("#") for link in found.links)
    assert not re.search(r"https?:|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_the_table_of_contents_leads_everywhere(text):
    found = Reader(text)
    contents = re.search(r"<nav>.*?</nav>", text, re.DOTALL)[0]
    targets = re.findall(r'href="#([^"]*)"', contents)
    assert len(targets) == len(set(targets)) > 10
    assert all(found.targets.count(target) == 1 for target in targets)
    assert set(re.findall(r"<h[23][^>]*>([^<]*)<", text)) == set(re.findall(r">([^<]+)</a>", contents))


def test_every_section_is_there_and_everything_is_escaped(text):
    for part in ("Which method", "Accuracy against time", "Memory", "Pairwise comparisons", "Reference answers", "Failures"):
        assert re.search(rf"<h2[^>]*>{part}</h2>", text), part
    assert "It &lt;solves&gt; it." in text
    assert "not &lt;defined&gt;" in text
    assert "<solves>" not in text
    for part in ("@media print", "@media (max-width", "width=device-width", "overflow-x: auto"):
        assert part in text


def test_numbers_of_lines_are_shown_where_one_points(text):
    hints = re.findall(r"<g>\s*<title>(.*?)</title>", text)
    assert "cvxpy:method-00: solves 3 of 3; half of these within 1 times the fastest, all within 1 times the fastest" in hints
    assert any(hint.startswith("cvxpy:method-23: solves none of 3") for hint in hints)
    assert "cvxpy:method-05: median 95 MB, largest 95 MB" in hints


def test_no_two_methods_look_alike(large):
    shown = figures.panels_of(large, "profile")
    swatches = panels.legend(large.methods, shown)
    assert [name for _, name in swatches] == MANY
    assert len({svg for svg, _ in swatches}) == style.STYLES == len(MANY)
    figure = panels.composed(large.methods, shown)
    for ax, panel in zip(figure.axes, shown, strict=False):
        looks = [(line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern)) for line in ax.lines]
        assert len(set(looks)) == len(panel.names)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", FIGURES)
def test_the_texts_of_figures_are_whole_and_apart(large, name):
    drawn = figures.panels_of(large, name)
    if name == "loss":
        assert not drawn, "none of these methods is approximate"
        return
    figure = panels.composed(large.methods, drawn)
    FigureCanvasAgg(figure)
    assert crowded(figure) == []
    assert figure.get_figwidth() <= 12.5


def test_at_most_three_panels_stand_in_a_row():
    rows = [r for k in range(7) for name in "mn" for r in cases(name, [0.1, 0.2, 0.3], mechanism=f"rule {k}")]
    summary = summary_of(rows)
    figure = panels.composed(summary.methods, figures.panels_of(summary, "profile"))
    assert [ax.get_subplotspec().colspan.start for ax in figure.axes] == [0, 1, 2] * 3
    assert len([ax for ax in figure.axes if ax.axison]) == 7


# ---- approximations ---------------------------------------------------------------------------------------------------


def with_an_approximation():
    """Two cases of an exact method and of one that is approximate, though faster, and claims one of them."""
    here = {"mechanism": "lmmf", "wall": 0.5, "cpu": 0.4}
    exact = [record(**here, method="sure", case=case, quantities=(1.0, 2.0, 4.0)) for case in "ab"]
    found = {"method": "rough", "mechanism": "lmmf", "wall": 0.1, "cpu": 0.1}
    rough = [
        record(**found, case="a", quantities=(0.5, 2.0, 6.0), definition=0.5, claims=False, termination="approximate"),
        record(**found, case="b", quantities=(1.0, 2.0, 4.0)),
    ]
    summary = summary_of([*exact, *rough])
    summary.run.details["methods"]["rough"]["kind"] = "approximate"
    return summary


def test_an_approximation_is_in_no_ranking_and_what_it_loses_is_told():
    summary = with_an_approximation()
    (item,) = summary.rankings()
    assert [rank.method for rank in (*item.rows, *item.partial)] == ["sure"]
    assert not summary.failures
    assert "approximate and not ranked, the report says what they lose: rough" in summary.warnings
    rough, sure = losses(summary, "lmmf")
    assert (rough.method, rough.cases, rough.worst, rough.seconds) == ("rough", 2, 0.5, 0.1)
    assert rough.mean == pytest.approx(((0.5 + 1.0 + 1.5) / 3 + 1.0) / 2)
    assert (sure.worst, sure.mean) == (1.0, 1.0)
    text = benchmarks.report_text(summary, "markdown")
    assert "| rough | approximate | 2 | 0.1 | 50 % | 100 % |" in text
    (panel,) = figures.panels_of(summary, "loss")
    assert panel.names == ("rough", "sure")
    assert losses(summary_of(cases("m", [0.1])), "drfh") == []


def test_an_approximation_without_a_feasible_answer_loses_nothing_and_fails():
    summary = with_an_approximation()
    first, *others = (r for r in summary.rows_of_run if r.method == "rough")
    over = replace(first, quantities=(3.0, 6.0, 12.0), feasibility=2.0)
    exact = (r for r in summary.rows_of_run if r.method == "sure")
    changed = replace(summary, rows_of_run=(*exact, over, *others))
    found = {one.method: one for one in losses(changed, "lmmf")}["rough"]
    assert (found.cases, found.worst, found.mean) == (1, 1.0, 1.0), "three times the exact share is no gain"
    assert [(one.record.method, one.record.case) for one in changed.failures] == [("rough", "a")]


def test_where_no_method_solves_anything_no_ratio_and_no_memory_is_told():
    text = benchmarks.report_text(summary_of([*cases("m", [None]), *cases("n", [None])]), "markdown")
    assert "| m | 1 | 0 | 30,000 | - | - | - |" in text
    assert "| n | 0 | 30,000 | - | 0 | 30,000 | - | 0 | 30,000 | - |" in text
    assert "| m | 1 | 1 | 0 % | 100 % |" in text
    assert "| 10,000 | 0 |" not in text


def test_what_is_approximate_is_no_reference():
    summary = with_an_approximation()
    alone = summary_of([r for r in summary.records if r.method == "rough"])
    alone.run.details["methods"]["rough"]["kind"] = "approximate"
    assert alone.references == {}
    assert loss_grids(alone) == []


# ---- formats ---------------------------------------------------------------------------------------------------------


def test_the_report_says_why_and_how_to_make_it_again(large, text):
    assert "Why: cvxpy:method-00 " in text
    assert "Make this report again" in text
    assert f"<pre>{html.escape(large.again)}</pre>" in text
    words = shlex.split(large.again)
    assert words[:3] == ["fairalloc", "bench", "run"]
    _parser(words[1:]).parse_args(words[1:])
    found = html.unescape(re.search(r"<pre>(\{.*?\})</pre>", text, re.DOTALL)[1])
    assert json.loads(found)["setting"] == large.run.details["setting"]
    assert text.count("cvxpy 1.") <= 1  # versions stand once


@pytest.mark.parametrize(("count", "stars"), [(5, False), (8, True)])
def test_no_star_stands_on_fewer_than_six_cases(count, stars):
    summary = summary_of([*cases("m", [0.9] * count), *cases("n", [0.1] * count)])
    (pairs,) = [section.table for section in page.sections(summary, drawn=False) if section.name == "pairs"]
    assert any("*" in cell for row in pairs.rows for cell in row) == stars


def test_one_table_is_written_for_a_paper(large):
    text = benchmarks.report_text(large, "latex", "accuracy")
    assert text.count(r"\begin{table}") == text.count(r"\caption{Accuracy against time, ") == text.count(r"\toprule") == 2
    labels = re.findall(r"\\label\{(.*?)\}", benchmarks.report_text(large, "latex"))
    assert len(labels) == len(set(labels)) > 8
    assert "### drfh" in benchmarks.report_text(large, "markdown", "ranking")
    with pytest.raises(UnknownName, match="there is no table 'nope': the tables are accuracy, choice, "):
        benchmarks.report_text(large, "latex", "nope")
    with pytest.raises(UnknownName, match="the formats of a table are latex, markdown"):
        benchmarks.report_text(large, "csv", "accuracy")


def test_records_are_read_back_from_csv_and_json(large):
    rows = list(csv.DictReader(io.StringIO(benchmarks.report_text(large, "csv"))))
    assert [(row["method"], row["case"], float(row["wall"])) for row in rows] == [
        (r.method, r.case, r.wall) for r in large.rows_of_run
    ]
    document = json.loads(benchmarks.report_text(large, "json"), parse_constant=pytest.fail)
    assert document["suite"] == "s"
    assert [row["definition"] for row in document["records"]] == [r.definition for r in large.rows_of_run]
    lost = summary_of([record(feasibility=math.inf)])
    lost.run.details["packages"]["numpy"] = math.inf  # no rule holds for the names of packages
    document = json.loads(benchmarks.report_text(lost, "json"))
    assert document["records"][0]["residual"] is document["packages"]["numpy"] is None
    assert '"numpy": null' in benchmarks.report_text(lost, "markdown")


def test_tables_are_written_as_markdown_and_latex(large):
    markdown, latex = (benchmarks.report_text(large, name) for name in ("markdown", "latex"))
    shown = page.sections(large, drawn=False)
    assert markdown.count("\n## ") + markdown.count("\n### ") == sum(bool(item.title) for item in shown)
    assert "| drfh | cases | solved |" in markdown
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == sum(bool(item.table) for item in shown)
    assert all(line.startswith("%") or "&" in line or not line or "\\" in line for line in latex.splitlines())
    assert latex.isascii()


@pytest.mark.few(1)
@pytest.mark.parametrize("ending", ENDINGS)
def test_figures_are_written_by_name(large, tmp_path, ending):
    files = [tmp_path / f"{k}{ending}" for k in range(2)]
    for file in files:
        benchmarks.write_figure(large, "memory", file)
    begin = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[ending]
    assert files[0].read_bytes().startswith(begin)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.deep
def test_what_cannot_be_written_is_one_sentence(large, tmp_path):
    with pytest.raises(UnknownName, match=r"there is no figure 'pie'.*: the figures are accuracy, intervals, profile"):
        benchmarks.write_figure(large, "pie", tmp_path / "a.svg")
    with pytest.raises(InstanceError, match=r"its name must end in \.svg, \.png, \.pdf"):
        benchmarks.write_figure(large, "memory", tmp_path / "a.jpg")
    with pytest.raises(NotApplicable, match="the figure 'traces' has nothing to show for the suite 's'"):
        benchmarks.write_figure(summary_of([record()]), "traces", tmp_path / "a.svg")
    with pytest.raises(InstanceError, match="cannot be written: No such file or directory"):
        benchmarks.write_report(large, tmp_path / "nowhere" / "a.html")
    with pytest.raises(UnknownName, match="there is no format 'pie'"):
        benchmarks.report_text(large, "pie")


@pytest.mark.deep
def test_the_command_line_knows_all_formats_and_figures(tmp_path, monkeypatch, capsys):
    summary = summary_of([*cases("m", [0.1, 0.2]), *cases("n", [0.2, 0.1])])
    monkeypatch.setattr(benchmarks, "report", lambda *_, **__: summary)
    assert main(["bench", "report", "r.sqlite", "--format", "markdown"]) == 0
    assert capsys.readouterr().out == benchmarks.report_text(summary, "markdown")
    assert main(["bench", "report", "r.sqlite", "--figure", "profile", str(tmp_path / "p.svg")]) == 0
    assert "<title>m: solves 2 of 2" in (tmp_path / "p.svg").read_text()
    assert main(["bench", "report", str(tmp_path / "r.sqlite")]) == 0
    assert (tmp_path / "r.html").read_text() == benchmarks.report_text(summary)
    assert main(["bench", "report", "r.sqlite", "--format", "csv", "-o", str(tmp_path / "r.csv")]) == 0
    assert (tmp_path / "r.csv").read_text() == benchmarks.report_text(summary, "csv")
    for wrong in (["--output", "x"], ["--figure", "memory", "m.svg", "--format", "csv"], ["--format", "pie"]):
        assert main(["bench", "report", "r.sqlite", *wrong]) == 2


def test_without_a_file_the_newest_records_are_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    for age, name in enumerate(("theorems", "new", "old")):
        file = Path("results") / f"{name}.sqlite"
        file.touch()
        os.utime(file, (1000 - age, 1000 - age))
    asked = []
    summary = summary_of([*cases("m", [0.1, 0.2]), *cases("n", [0.2, 0.1])])
    monkeypatch.setattr(benchmarks, "report", lambda file, **_: asked.append(file) or summary)
    assert main(["bench", "report", "--format", "json"]) == 0
    assert asked == [Path("results/new.sqlite")]
    assert main(["bench", "report"]) == 0
    assert capsys.readouterr().out.endswith("report:  results/new.html\n")
    assert main(["bench", "report", "--format", "csv", "-o", "results/../results/new.sqlite"]) == 2
    assert Path("results/new.sqlite").read_bytes() == b"", "the report took the place of the records"


def test_solved_means_that_the_median_repeat_is_a_success():
    """Of two repeats one fails; a success that took more than three times the limit is one."""
    half = [record(method="half", repeat=k, wall=0.1, claims=not k) for k in range(2)]
    rows = ranking("drfh", [*half, record(method="late", wall=40.0)]).rows
    assert [(rank.method, rank.solved, round(rank.mean, 9)) for rank in rows] == [("half", 0, 30.0), ("late", 1, 30.0)]
    assert metrics.data_profile(half) == {"half": [math.inf]}


def test_the_page_of_benchmarks_counts_the_solves_of_the_records():
    docs = Path(__file__).parents[2] / "docs"
    solves = re.findall(r"\| ([\d,]+) \|$", (docs / "records" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    told = re.search(r"in ([\d,]+) solves", (docs / "BENCHMARKS.md").read_text(encoding="utf-8"))
    assert sum(int(number.replace(",", "")) for number in solves) == int(told[1].replace(",", ""))


def test_what_limits_a_run_and_what_is_not_there_is_told(tmp_path):
    made = summary_of([record(method=f"m{k}", termination="stationary", claims=False, definition=1.0) for k in range(10)])
    busy = replace(made, run=replace(made.run, details=dict(made.run.details) | {"load": 3.0}))
    assert busy.warnings == ["the machine was busy before the run: a load of 3 on 2 cores"]
    assert made.failures[0].what == "a stationary point of a model that is not proved to be convex"
    out = io.StringIO()
    print_summary(busy, Console(file=out, width=200))
    assert "and 2 more failures, listed in the report\n" in out.getvalue()
    with pytest.raises(NotApplicable, match="the figure 'traces' has nothing to show for the suite 's'"):
        benchmarks.write_figure(made, "traces", tmp_path / "a.svg")
    file = tmp_path / "r.sqlite"
    with BenchmarkStore(file) as store:
        store.add_run("2026-01-01", "s", made.run.details, ["a key"])
    for suite, says in ((None, "has no rows of its run of 's'"), ("other", "has no run of the suite 'other'")):
        with pytest.raises(BenchmarkError, match=says):
            benchmarks.report(file, suite=suite)
