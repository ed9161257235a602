"""Names of any characters are text in everything that is written: figures, scripts, tables."""

import ast
import csv
import io
import re
from xml.etree import ElementTree

import pytest
from hand_made import record, summary_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from profiles import drawn

import fairalloc as fa
from fairalloc import benchmarks
from fairalloc.benchmarks import report_text
from fairalloc.cli.solve import write_figure
from fairalloc.models.errors import unprintable
from fairalloc.models.tables import Grid, csv_text, markdown_text, printable, tex, tex_comment
from fairalloc.runs.pages import Section, latex, markdown
from fairalloc.theorems.code import witness_code

NASTY = [
    *('"""', "'''", '"', "'", "\\", "\\N{", "{0}", "%s", "$x^$", "$", "--", "-->", "<b>", "&amp;", "&", "]]>", "|", "`", "```"),
    *(
        "*",
        "_",
        "[a](b)",
        "#",
        "~",
        "^",
        "=1+1",
        "+1",
        "-1.5",
        "-",
        "-a",
        "@a",
        "＝1",
        "\ufffe",
        "\uffff",
        "\u2028",
        "\u202e",
        "\u0301",
    ),
    *("\U0001f600", "\U000e0001", "א", "\u200f", "\ufeff", "\u00ad", " a ", "1/2", ",", ";", "\\\\"),
]
PIECES = st.sampled_from(NASTY) | st.text(min_size=1, max_size=6)
TEXTS = st.lists(PIECES, min_size=1, max_size=3).map("".join)
NAMES = st.lists(TEXTS.filter(lambda name: not unprintable(name)), min_size=9, max_size=9, unique=True)
SOME = settings(max_examples=drawn(6))


def named(names):
    """An instance with these nine names."""
    servers, resources = names[4:6], names[6:8]
    demands, capacities = [["1/5", 1], [1, "1/5"], [1, 1], [2, 1]], [[2, 12], [12, 2]]
    return fa.Instance(demands, capacities, name=names[8], users=names[:4], servers=servers, resources=resources)


def shown(root):
    """The text of every element."""
    return {element.text for element in root.iter() if element.text}


@pytest.mark.deep
@given(NAMES)
@example(NASTY[:9])
@example(NASTY[9:18])
@example(NASTY[18:27])
@example(NASTY[27:36])
@pytest.mark.filterwarnings("ignore:Glyph")
@settings(max_examples=2)
def test_figures_are_well_formed(tmp_path_factory, names):
    folder = tmp_path_factory.mktemp("figures")
    write_figure([fa.solve(named(names), "drfh")], str(folder / "a.svg"))
    root = ElementTree.fromstring((folder / "a.svg").read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    if all(re.fullmatch("[ -~]{1,4}", name) and name == name.strip() for name in names[:4]):
        assert set(names[:4]) <= shown(root)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_figure_of_benchmarks_is_well_formed(tmp_path):
    benchmarks.write_figure(summary_of([record(method=name) for name in NASTY]), "profile", tmp_path / "b.svg")
    assert set("*_~") <= shown(ElementTree.fromstring((tmp_path / "b.svg").read_bytes()))


def keywords(code, call):
    """The keyword arguments of the call in the code that are literals."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call) and ast.unparse(node.func) == call]
    return {item.arg: ast.literal_eval(item.value) for item in calls[0].keywords}


@pytest.mark.deep
@given(NAMES)
@example(NASTY[:9])
@example(NASTY[27:36])
@SOME
def test_scripts_hold_names_as_literals(names):
    instance = named(names)
    code = fa.export(instance, "drfh", "py")
    arguments = keywords(code, "fa.Instance")
    assert (arguments["name"], arguments["users"], arguments["servers"]) == (names[8], names[:4], names[4:6])
    plain = keywords(fa.export(named([f"n{k}" for k in range(9)]), "drfh", "py"), "fa.Instance")
    assert plain.keys() == arguments.keys()
    assert [type(node) for node in ast.parse(code).body] == SCRIPT


SCRIPT = [ast.Expr, ast.Import, ast.Assign, ast.Assign, ast.Assign, ast.Expr, ast.Expr, ast.Assign, ast.Assign, ast.For]


@given(NAMES)
@example(NASTY[:9])
@SOME
def test_the_code_of_a_witness_is_code_whatever_the_names(names):
    claim = fa.claim("nobody envies anybody", mechanism="utilitarian", property="envy-freeness")
    case = fa.Case(named(names))
    assert claim.check(case).holds is False
    code = witness_code(claim, case)
    body = ast.parse(code).body
    assert len(body) == len(ast.parse(witness_code(claim, fa.Case(named([f"n{k}" for k in range(9)])))).body)


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@SUM(1)", "\n=1", "＝1", "-1.5x", "--1"])
def test_a_formula_is_a_text_in_csv(text):
    assert next(csv.reader(io.StringIO(csv_text([[text]]), newline=""))) == [f"'{text}"]


@pytest.mark.parametrize("text", ["-1.5", "+3", "-1e-300", "-inf", "-", "1/3", "a=b", "", "\t=1"])
def test_numbers_and_other_texts_stay_in_csv(text):
    assert next(csv.reader(io.StringIO(csv_text([[text, -1.5, None]])))) == [printable(text), "-1.5", ""]


@given(st.lists(st.lists(st.text(max_size=8) | TEXTS, min_size=2, max_size=2), min_size=1, max_size=6))
def test_tables_hold_any_text(rows):
    grid = Grid("a", ["x", "y"], [["a" + cell for cell in row] for row in rows])
    cells = [[printable(cell) for cell in row] for row in grid.rows]
    assert list(csv.reader(io.StringIO(grid.csv(), newline="")))[1:] == cells
    found = [token for token in MarkdownIt("commonmark").enable("table").parse(grid.markdown()) if token.type == "inline"][3:]
    assert {child.type for token in found for child in token.children} <= {"text", "text_special"}
    said = ["".join(child.content for child in token.children) for token in found]
    assert said == [cell.replace("\n", " ").strip() for row in cells for cell in row]
    assert grid.latex().count(r"\\" + "\n") == 1 + len(rows)


@given(st.text(max_size=12) | TEXTS)
def test_lines_of_markdown_and_latex_hold_any_text(text):
    page = markdown(text, [Section(text, [f"a{text}"], code=text, points=[f"a{text}"])])
    tokens = MarkdownIt("commonmark").parse(page)
    inside = [child.type for token in tokens if token.type == "inline" for child in token.children]
    assert set(inside) <= {"text", "text_special"}
    assert [token.type for token in tokens if token.type in ("fence", "list_item_open")] == ["fence"] * bool(text) + [
        "list_item_open"
    ]
    assert "\n" not in markdown_text(text) + tex(text) + tex_comment(text)
    left = re.sub(r"\\[&%$#_{}]|\\(textbackslash|textasciitilde|textasciicircum){}|\$(\\Rightarrow|[-+<>|])\$", "", tex(text))
    left = re.sub(r"^{[*[]}", "", left)
    assert not set(left) & set("\\&%$#_{}~^<>|")
    assert all(line.startswith("%") for line in latex(text, [Section(text, [text], Grid("", ["a"], []))]).split("\n")[:1])


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("markdown", "\\<b\\>"),
        ("latex", "$<$b$>$"),
        ("csv", ",'=1+1,"),
        ("json", '"<b>"'),
        pytest.param("html", "&lt;b&gt;", marks=pytest.mark.deep),  # draws figures of every name
    ],
)
def test_a_report_holds_odd_names(form, written):
    text = report_text(summary_of([record(method=name, case=name, mechanism=name) for name in NASTY]), form)
    assert written in text
    assert form in ("csv", "json", "latex") or "<b>" not in text


def test_text_of_a_table_has_no_colours_where_a_notebook_forces_them(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as Jupyter's kernels do: the text may go to a file or a page
    assert "\x1b" not in Grid("", ["user", "tasks"], [["u1", "2"]]).text()
