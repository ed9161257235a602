"""Tables in every form, and what is escaped there; pages."""

import csv
import io
from html.parser import HTMLParser

import pytest

from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section, page

NASTY = ["a & b", "50 %", "$x_1^2$", "#{1}~\\", "<script>", "[bold]x[/]", "a|b", "two\nlines"]
ROWS = [[text, str(k)] for k, text in enumerate(NASTY)]
GRID = Grid("T <&> 50%\nx", ["name", "value"], ROWS, notes=["a note <n>"], links={(4, 0): "here"}, right=[1])


class Reader(HTMLParser):
    """The text of the cells, the tags, and what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags, self.open, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")
        self.links += [value for name, value in attrs if name == "href"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data


def test_latex_escapes_what_tex_reads():
    text = GRID.latex()
    lines = text.splitlines()
    assert lines[0] == "% T <&> 50% x", "a title stays in its comment"
    assert lines[1] == r"\begin{tabular}{lr}"
    assert lines[4] == r"a \& b & 0 \\"
    assert lines[5] == r"50 \% & 1 \\"
    assert lines[6] == r"\$x\_1\textasciicircum{}2\$ & 2 \\"
    assert lines[7] == r"\#\{1\}\textasciitilde{}\textbackslash{} & 3 \\"
    assert lines[-1] == "% a note <n>"
    assert Grid("", ["✓"], [["✗ ⇒"]]).latex().splitlines()[1:4] == [r"$+$ \\", r"\hline", r"$-$ $\Rightarrow$ \\"]


def test_html_escapes_what_a_browser_reads():
    section = Section("x", ["<b>"], code="if a < b: '\"'", points=["<i>"], anchor="here")
    text = page("<title> & more", [Section(GRID.title, table=GRID), section])
    reader = Reader(text)
    assert reader.open == []
    assert [cell.split("\n")[0] for cell in reader.cells[::2]] == [cell.split("\n")[0] for cell in NASTY]
    assert reader.links == ["#here"]
    assert not {"script", "b", "i", "n"} & set(reader.tags)
    assert "<title>&lt;title&gt; &amp; more</title>" in text
    assert "<pre>if a &lt; b: &#x27;&quot;&#x27;</pre>" in text
    assert '<h3 id="here">' in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_figure_is_put_in_as_it_is_and_nothing_else():
    text = page("t", [Section("f", ["<svg>"], figure="<svg></svg>")])
    assert text.count("<svg></svg>") == 1
    assert "&lt;svg&gt;" in text


def test_markdown_keeps_its_columns():
    lines = GRID.markdown().splitlines()
    assert "| --- | --: |" in lines
    assert "| a\\|b | 6 |" in lines
    assert "| two lines | 7 |" in lines


def test_csv_gives_back_the_cells():
    assert list(csv.reader(io.StringIO(GRID.csv()))) == [["name", "value"], *map(list, GRID.rows)]


def test_text_is_shown_as_it_is_within_100_columns():
    long = Grid("", ["a", "b"], [["x" * 150, "[red]no markup[/red]"]])
    lines = long.text().splitlines()
    assert max(map(len, lines)) <= 100
    assert "[red]no markup[/red]" in lines[1]
    assert "".join(line.split()[0] for line in lines[1:]).count("x") == 150, "it is wrapped, not cut"
    assert Grid("", ["n"], [["1"], ["10"]], right=[0]).text().splitlines() == [" n", " 1", "10"]


@pytest.mark.parametrize(
    ("form", "first"), [("text", "b"), ("markdown", "| b |"), ("latex", r"\begin{tabular}{l}"), ("csv", "b")]
)
def test_a_table_without_a_title_begins_with_its_columns(form, first):
    assert getattr(Grid("", ["b"], [["c"]]), form)().splitlines()[0] == first


@pytest.mark.parametrize("fixed", [0, 1, 2])
def test_a_wide_table_is_cut_where_the_next_column_would_not_fit(monkeypatch, fixed):
    """Each piece has the first columns, all pieces together the others in their order, and no piece could take one more."""
    monkeypatch.setenv("COLUMNS", "60")
    columns = [f"c{k}" + "x" * (k * 7 % 13) for k in range(15)]
    wide = Grid("title", columns, [[str(k) for k in range(15)]], notes=["note"], right=[3])
    pieces = wide.blocks(fixed)
    assert [name for piece in pieces for name in piece.columns[fixed:]] == columns[fixed:]
    assert all([*piece.columns[:fixed]] == columns[:fixed] for piece in pieces)
    assert ["title" in piece.text() for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert ["note" in piece.text() for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        width = sum(len(name) + 2 for name in piece.columns)
        assert width <= 60, "no row is folded"
        assert following is None or width + len(following.columns[fixed]) + 2 > 60
        assert [piece.columns[k] for k in piece.right] == ["c3xxxxxxxx"] * (columns[3] in piece.columns)
