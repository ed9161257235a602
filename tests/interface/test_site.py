"""What the site is made of: pages load nothing from elsewhere, links of the repository lead to pages, docstrings become markup.

The site itself is built by `make docs`, which looks at every page and in which warnings are errors.
"""

import importlib.util
import inspect
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import packaged

ROOT = Path(__file__).parents[2]


def tool(name):
    """A module of docs/tools, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.append(str(ROOT / "docs" / "tools"))  # its modules import each other
links, docstrings, offline = tool("links"), tool("docstrings"), tool("offline")


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/a.js"></script>',
        "<link rel=stylesheet href='//cdn.example/a.css'>",
        '<p><img alt="" src="http://example/a.png"></p>',
        '<iframe src="https://example"></iframe>',
    ],
)
def test_what_a_page_loads_from_elsewhere_is_seen(page):
    assert len(offline.loaded_from_elsewhere(page)) == 1


def test_signatures_have_no_addresses_and_short_names_of_arrays():
    array = "~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.float64]]"
    given = f"(x: {array}, f: str = <function A.<lambda>>, y: int = <factory>)"
    assert docstrings.readable(given) == "(x: ~numpy.typing.NDArray[~numpy.float64], f: str = ..., y: int = ...)"
    public = [value for name in fa.__all__ if callable(value := getattr(fa, name)) and not isinstance(value, type)]
    assert [value for value in public if " at 0x" in str(inspect.signature(value))] == []


def test_links_that_readers_follow_are_not_loaded():
    page = '<a href="https://example">there</a><link rel="canonical" href="https://example"><script src="_static/a.js"></script>'
    assert offline.loaded_from_elsewhere(page) == []


def test_what_a_style_sheet_loads_is_seen():
    assert offline.style_loads('@import "https://a/b.css"; p { background: url(//c/d.png) }') == ["https://a/b.css", "//c/d.png"]
    assert offline.style_loads('p { background: url("data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org%27") }') == []


def test_a_site_with_a_fault_is_refused(tmp_path):
    (tmp_path / "a.html").write_text('<script src="https://cdn.example/a.js"></script>')
    assert list(offline.faults(tmp_path)) == ["a.html loads https://cdn.example/a.js"]


def test_pages_lose_what_browsers_do_not_show():
    page = "<p>\n   one  two\n\n  three </p>\n <pre>\n   x = 1\n\n  y</pre>\n   <script>\n  a\n</script>\n"
    assert offline.without_indentation(page) == (
        "<p>\none  two\nthree </p>\n<pre>\n   x = 1\n\n  y</pre>\n<script>\n  a\n</script>\n"
    )


def test_links_within_the_site_lead_somewhere(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a> <a href="#here">a</a> <a href="?paper=K">a</a>')
    (tmp_path / "b.html").write_text('<h2 id="there">b</h2> <a href="c.html">c</a> <a href="a.html#nowhere">a</a>')
    assert list(offline.faults(tmp_path)) == [
        "b.html leads to a.html#nowhere, which is not there",
        "b.html leads to c.html, which is not there",
    ]


@pytest.mark.deep
def test_every_file_of_records_has_its_report():
    reports = tool("benchmark_reports")
    names = list(reports.record_names())
    assert len(names) >= 7
    assert all(f'href="reports/{name}.html"' in reports.report_links() for name in names)
    named = re.findall(r"^\| ([a-z0-9-]+) \| `", (ROOT / "docs" / "records" / "index.md").read_text(), re.MULTILINE)
    assert {"layers", "lexicographic", "njc", "papers"} <= set(named) <= set(names)
    assert reports.with_way_back("<body>\n<h1>a</h1><h1>b</h1>") == (
        '<body>\n<p><a href="../BENCHMARKS.html">Benchmarks</a></p>\n<h1>a</h1><h1>b</h1>'
    )


def test_links_of_the_repository_lead_to_pages():
    text = "[a](../GLOSSARY.md#symbols) [b](../../README.md) [c](https://example) [d](../../notebooks/01_drfh.ipynb) [e](#here)"
    assert links.led_to_pages(text, "docs/guides") == (
        "[a](/GLOSSARY.md#symbols) [b](/index.md) [c](https://example) [d](/tutorials/01_drfh.md) [e](#here)"
    )
    for code in ("```python\nx[a](b.md)\n```\n", "as in `[a](../b.md)`, and `c`"):
        assert links.led_to_pages(code) == code


def test_links_to_modules_lead_to_their_texts():
    text = "[formulations/nb.py](../../formulations/nb.py), [a](../../simulation) and [the matrix](../../theorems/matrix.py)"
    assert links.led_to_pages(text, "docs/theory") == (
        "{py:mod}`formulations/nb.py <fairalloc.formulations.nb>`, {py:mod}`a <fairalloc.simulation>` "
        "and [the matrix](/statements/matrix.md)"
    )
    assert links.led_to_pages("[a](../TEMPLATE.py)", "docs/guides") == "{download}`a </TEMPLATE.py>`"


@pytest.mark.parametrize("before", ["`study` of", "`f()` in", "`f()`, then", "`f()`."])
def test_a_link_between_two_code_spans_of_a_line_is_no_code(before):
    text = links.led_to_pages(f"{before} [study.py](../../simulation/study.py), for `run`", "docs/guides")
    assert text == f"{before} {{py:mod}}`study.py <fairalloc.simulation.study>`, for `run`"


def test_an_index_has_the_pages_that_it_leads_to():
    made = tool("assemble").contents("[a](/guides/b.md) [c](/guides/a.md) [b](/guides/b.md#d) [e](/theory/e.md)", "guides")
    assert made == "\n```{toctree}\n:hidden:\n\nb\na\n```\n"


def test_ids_of_statements_lead_to_their_pages():
    text = "### A claim [K.T3], and `K.T9`\n\n```python\na[K.T3]\n```\n"
    assert links.led_to_statements(text, {"K.T3"}) == text.replace("claim [K.T3]", "claim [K.T3](/statements/K.T3.md)")
    assert links.led_to_statements("(`K.T3`) [K.T3](there)", {"K.T3"}) == "([K.T3](/statements/K.T3.md)) [K.T3](there)"


def test_the_source_of_a_function_beside_a_module_of_its_name_is_the_function():
    """Only of the package of this tree: of another tree, or of a wheel, nothing has a source here."""
    source_of = tool("source_links").source_of
    assert Path(fa.__file__).resolve().is_relative_to(ROOT.resolve()), f"the package that is tested is {fa.__file__}"
    for module, name in (
        ("fairalloc.simulation", "arrivals"),
        ("fairalloc.benchmarks", "report"),
        ("fairalloc", "Instance.replace"),
    ):
        first = int(re.search(r"#L(\d+)-", source_of(module, name))[1])
        assert first > 0  # a module's lines begin at 0


def test_pictures_of_the_pages_are_there():
    docs = ROOT / "docs"
    pages = [*docs.glob("*.md"), ROOT / "README.md"]
    shown = {match for page in pages for match in re.findall(r"!\[[^]]*\]\((?:docs/)?([^)]+)\)", page.read_text())}
    assert shown == {f"figures/{file.name}" for file in (docs / "figures").iterdir()}


def test_docstrings_become_markup():
    text = "Rise, as `x_n` <= M_n:\n\n    max g\n\n- one\n  thing\n\nParameters\n----------\nx : tasks\n    of users\n"
    assert [line for line in docstrings.restructured(text.splitlines()) if line] == [
        "Rise, as ``x_n`` <= M\\_n:",
        ".. code-block:: none",
        "    max g",
        "- one thing",
        "**Parameters**",
        "``x``",
        "    tasks of users",
    ]


def test_arguments_are_terms_whether_their_text_stands_beside_or_below_them():
    text = "Parameters\n----------\nsuite\n    a name,\n    or two\nx : tasks\n\nRaises\n------\nNothing at all.\n"
    assert [line for line in docstrings.restructured(text.splitlines()) if line] == [
        "**Parameters**",
        "``suite``",
        "    a name, or two",
        "``x``",
        "    tasks",
        "**Raises**",
        "Nothing at all.",
    ]


def test_every_public_name_is_on_one_page_of_the_reference():
    grouped = [name for _, names in tool("reference_pages").GROUPS.values() for name in names.split()]
    assert sorted(name for name in grouped if "." not in name) == sorted(fa.__all__)
    assert len(set(grouped)) == len(grouped)


def test_every_public_name_of_a_guide_has_its_signature():
    """Names of `fa`, and what code on the pages imports from the package's rooms."""
    grouped = {name for _, names in tool("reference_pages").GROUPS.values() for name in names.split()}
    modules, used = {"generators", "traces", "plots", "benchmarks", "simulation", "theorems", "analysis"}, set()
    for page in [*(ROOT / "docs" / "guides").glob("*.md"), ROOT / "README.md", *(ROOT / "docs" / "theory").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        used |= set(re.findall(r"\bfa\.(\w+)", text)) - modules
        used |= set(re.findall(r"\bbenchmarks\.(?!md|html)(\w+)\(", text))
        for module, names in re.findall(r"^from fairalloc\.?([\w.]*) import (.+)$", text, re.MULTILINE):
            used |= {f"{module}.{name}".lstrip(".") for name in names.split(", ")}
    assert len(used) > 30
    assert {name for name in used if name not in grouped and f"benchmarks.{name}" not in grouped} == set()


def test_the_gallery_shows_figures_with_the_code_that_draws_them():
    gallery = tool("gallery")
    title, code = gallery.FIGURES["eligibility"]
    assert b"<svg" in gallery.drawn(code)
    assert title
    named = set(re.findall(r"plots\.(\w+)", "".join(code for _, code in gallery.FIGURES.values())))
    assert named <= set(fa.plots.__all__)


@pytest.mark.deep
def test_every_figure_of_the_gallery_is_drawn():
    pages = dict(tool("gallery").gallery_pages())
    pictures = {name for name, content in pages.items() if isinstance(content, bytes) and b"<svg" in content}
    assert set(re.findall(r"\]\((gallery/[\w-]+\.svg)\)", pages["gallery.md"])) == pictures
    assert len(pictures) >= 9


@cache
def pages_of_statements():
    return {name: page for name, page in tool("statement_pages").statement_pages() if name.startswith("statements/")}


def test_the_sidebar_of_statements_lists_those_of_the_paper_by_titles():
    script = tool("statement_pages").statement_list()
    listed = json.loads(script.removeprefix("const STATEMENTS = ").removesuffix(";\n"))
    assert [name for pairs in listed.values() for name, _ in pairs] == list(all_statements())
    assert {name.split(".")[0] for name, _ in listed["P"]} == {"P"}
    assert ["P.T2.pareto", "PS-DSF is not Pareto optimal"] in listed["P"]


@pytest.mark.deep
def test_every_statement_has_a_page_with_its_claim_and_proof():
    pages = pages_of_statements()
    for item in all_statements().values():
        page = pages[f"statements/{item.id}.md"]
        assert links.plain(item.text) in re.sub(r"\[([^\]]*)\]\(/[^)]*\)", r"\1", page)
        assert ("## Proof\n" in page) == bool(item.proof)
        assert f"[{item.id}](/statements/{item.id}.md)" in pages["statements/index.md"]


@pytest.mark.deep
def test_a_page_of_the_site_is_what_the_command_shows_with_links():
    for name in ("P.T2.envy", "K.L3", "Z.P4", "K.6.2.Fig9"):
        page = pages_of_statements()[f"statements/{name}.md"].partition("---\n\n")[2]
        unlinked = re.sub(r"(?<!\\)\[((?:\\.|[^\]])*)\]\(/[^)]*\)", r"\1", page)
        unlinked = re.sub(r"\\([\\*_<>\[\]$|#~])", r"\1", re.sub(r"<a [^>]*>([^<]*)</a>", r"\1", unlinked))
        shown = statement_page(all_statements()[name], packaged())
        assert [line for line in unlinked.splitlines() if "true instead" not in line] == [
            line for line in shown.splitlines() if "true instead" not in line
        ]


@pytest.mark.deep
def test_links_between_pages_of_statements_lead_somewhere():
    pages = pages_of_statements()
    led = {link for page in pages.values() for link in re.findall(r"\(/(statements/[^)]*)\)", page)}
    assert led <= pages.keys()
    assert len(led) >= len(all_statements())


@pytest.mark.deep
def test_every_cell_of_the_matrix_leads_to_a_page():
    page = pages_of_statements()["statements/matrix.md"]
    led = re.findall(r'href="([^"]*)"', page)
    assert len([name for name in led if not name.startswith("..")]) > 100
    for name in led:
        folder, _, file = name.rpartition("/")
        file, _, anchor = file.partition("#")
        shown = pages_of_statements().get(f"statements/{file.removesuffix('.html')}.md", "")
        known = bool(shown) and (not anchor or f"({anchor})=\n" in shown)
        assert known if not folder else (ROOT / "docs" / "theory" / file.replace(".html", ".md")).exists(), name


@pytest.mark.deep
def test_the_code_of_every_witness_rebuilds_its_case():
    codes = {name: re.findall(r"```python\n(.*?)\n```", page, re.DOTALL) for name, page in pages_of_statements().items()}
    found = [code for name in codes for code in codes[name] if not code.startswith("def ")]  # a definition has no case
    assert len(found) >= len(packaged().witnesses) > 100
    for code in found:
        scope = {}
        exec(code, scope)
        assert scope["case"].document()["instance"]["users"]


def test_the_page_of_implications_says_where_each_is_so():
    """With weights the two sharing incentives differ: without the column the page said that one is the other."""
    lines = tool("statement_pages")._implications().splitlines()
    (row,) = [line for line in lines if line.startswith("| sharing-incentive | strong-sharing-incentive |")]
    assert row.split(" | ")[2] == "equal weights"
