"""The README's Python runs and prints exactly the text shown; its tables name what exists; files and scripts of guides work."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from ast import literal_eval
from math import inf
from pathlib import Path

import pytest
from tolerances import SHARES

import fairalloc
from fairalloc.analysis.compare import compare
from fairalloc.analysis.plots.panels import write_figure
from fairalloc.benchmarks.metrics import succeeded
from fairalloc.benchmarks.records import BenchmarkStore
from fairalloc.cli import _parser, main
from fairalloc.formulations import MECHANISMS
from fairalloc.method_table import APPROXIMATE, MARK, method_table
from fairalloc.models import FairallocError
from fairalloc.models.examples.published import example
from fairalloc.models.files.jsonio import parse_instance, parse_json
from fairalloc.solvers import METHODS, solve

ROOT = Path(__file__).parents[2]
README, NOTEBOOKS = (ROOT / "README.md").read_text(), ROOT / "notebooks"
ROUTES = (ROOT / "docs" / "reference" / "methods.md").read_text()
INSTANCE, SUITE = ((ROOT / "docs" / "guides" / f"{name}.md").read_text() for name in ("instance", "suite"))


def run_readme():
    """(code, shown, printed, scope) of the blocks of Python, in turn; "" is shown where there is no text below."""
    scope: dict[str, object] = {}
    for code, shown in re.findall(r"```python\n(.*?)```\n+(?:```text\n(.*?)```)?", README, re.DOTALL):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, scope)
        yield code, shown, out.getvalue(), scope


def test_code_prints_what_the_readme_shows(monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("COLUMNS", "100")  # texts are as wide as the terminal
    monkeypatch.chdir(tmp_path)
    cluster = example("khamse-fig1").instance
    demands = [ways[0] for ways in cluster.demands]
    for file, names, rows in (("vms", cluster.users, demands), ("nodes", cluster.servers, cluster.capacities)):
        cells = [["name", *cluster.resources], *([name, *row] for name, row in zip(names, rows, strict=True))]
        Path(f"{file}.csv").write_text("\n".join(",".join(map(str, row)) for row in cells))
    ran = list(run_readme())
    assert len(ran) == README.count("```python") == 2
    assert all(said == shown for _, shown, said, _ in ran if shown)
    assert [line.split() for line in ran[-1][2].splitlines()[1:3]] == [
        ["user", "drf-per-server", "drfh", "tsf", "ps-dsf"],
        ["u1", "1", "3", "1.66667", "2"],
    ]
    solved, explored = re.findall(r"`fairalloc (\w+ --users [^`]*)`", README)
    assert main(shlex.split(solved)) == 0
    assert Path("shares.svg").exists()
    arguments = _parser(shlex.split(explored)).parse_args(shlex.split(explored))
    assert (arguments.users, arguments.servers, arguments.output) == ("vms.csv", "nodes.csv", Path("page.html"))


def json_instance():
    (text,) = re.findall(r"```json ours.json\n(.*?)```", INSTANCE, re.DOTALL)
    return parse_instance(parse_json(text, "the README"))


def test_the_instance_in_json_is_read():
    instance = json_instance()
    assert (instance.counts.tolist(), instance.weights.tolist(), instance.max_tasks.tolist()) == ([1, 3], [2, 1], [inf, 20])
    assert instance.eligible.tolist() == [[True, True], [False, True]]


def test_several_ways_are_for_the_mechanisms_that_are_named():
    (named,) = re.findall(r"Users with several ways to run a task are for (.*?)\.", INSTANCE, re.DOTALL)
    solved, instance = [], json_instance()
    for name in MECHANISMS:
        with contextlib.suppress(FairallocError):
            assert solve(instance, name).residual < SHARES
            solved.append(name)
    assert sorted(solved) == re.findall(r"`([^`]+)`", named)


@pytest.mark.deep
def test_the_benchmark_example_runs_in_an_empty_folder(tmp_path):
    block = "".join(re.findall(r"```sh elsewhere\n(.*?)```", SUITE, re.DOTALL))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(["sh", "-e", "-c", block], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with BenchmarkStore(tmp_path / "results" / "files.sqlite") as store:
        solved = {(record.method, record.case) for record in store.records() if succeeded(record)}
        claimed = {(record.method, record.case) for record in store.records() if record.claims}
    by_method = {method: {case for key, case in solved if key == method} for method in ("equal_split", "one_program")}
    assert len(solved & {("highs:leximin", case) for _, case in claimed}) == 10
    assert len([case for method, case in claimed if method == "equal_split"]) == 10 > len(by_method["equal_split"]) == 0
    assert {case.partition("-")[0] for case in by_method["one_program"]} == {"everywhere", "placement"}
    assert len(by_method["one_program"]) == 7
    assert (tmp_path / "results" / "files.html").exists()
    assert r"equal\_split" in (tmp_path / "tables.tex").read_text()


def test_the_picture_is_what_the_comparison_draws(tmp_path):
    """The same words, numbers and colours are in it; outlines may differ between versions of Matplotlib."""
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    (named,) = re.findall(r"^mechanisms = (\[.*\])", README, re.MULTILINE)
    write_figure(compare(example("khamse-fig1").instance, literal_eval(named)).plot().figure, tmp_path / "drawn.svg")
    figures = ((tmp_path / "drawn.svg").read_text(), (ROOT / picture).read_text())
    drawn, kept = (re.findall(r"<text[^>]*>([^<]*)</text>", figure) for figure in figures)
    assert drawn == kept
    colours, shown = (set(re.findall(r"#[0-9a-f]{6}", figure)) for figure in figures)
    assert colours == shown
    assert {"u1", "tsf", "dominant share"} <= set(drawn)


def test_the_readme_is_short_and_names_the_wheel_of_this_version():
    assert len(README.splitlines()) <= 120
    assert f'"fairalloc-{fairalloc.__version__}-py3-none-any.whl[plots]"' in README


def test_every_notebook_has_a_line():
    listed = re.findall(r"\(\.\./\.\./notebooks/(\w+)\.ipynb\)", (ROOT / "docs" / "tutorials" / "index.md").read_text())
    assert listed == sorted(file.stem for file in NOTEBOOKS.glob("*.py"))


def table(heading, text=README):
    """First cells of the table below a heading, as lists of ids."""
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`([^`]+)`", row.split("|")[1]), row) for row in rows]


def test_mechanisms_are_those_that_exist():
    rows = [names for names, _ in table("Mechanisms")]
    assert sorted(names[0] for names in rows) == sorted(MECHANISMS)
    for names in rows:
        assert set(names[1:]) == set(MECHANISMS[names[0]].aliases)


def test_every_solver_is_listed_with_its_route():
    rows = [row for _, row in table("How each works", ROUTES) if row.count("|") == 5]
    listed = {re.findall(r"`([^`]+)`", row.split("|")[1])[0]: row.split("|")[3].strip() for row in rows}
    assert sorted(listed) == sorted(METHODS)
    for key, file in listed.items():
        assert file.removesuffix(".py").split("/") == type(METHODS[key]).__module__.split(".")[2:], key


def test_the_marks_are_what_the_methods_compute():
    lines = [line for line in ROUTES.split("## Which computes what\n")[1].splitlines() if line.startswith("| ")]
    heads = [cell.strip().split(", ") for cell in lines[0].split("|")[2:-1]]
    assert sorted(name for names in heads for name in names) == sorted(MECHANISMS)
    marked = {}
    for line in lines[2 : 2 + len(METHODS)]:
        method, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        mark = APPROXIMATE if METHODS[method].kind == "approximate" else MARK
        marked[method] = {name for names, cell in zip(heads, cells, strict=True) if cell == mark for name in names}
    assert marked == {key: {m.id for m in MECHANISMS.values() if method.computes(m)} for key, method in METHODS.items()}


def test_the_marks_are_as_the_package_writes_them():
    written = [line for line in method_table().markdown().splitlines() if line.startswith("|")]
    assert "\n".join(written) in ROUTES
