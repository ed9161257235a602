"""The README's Python runs, in order, and prints exactly the text shown; its tables name what exists."""

import contextlib
import io
import re
from pathlib import Path

from fairalloc.formulations import MECHANISMS
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.solvers import METHODS

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_code_prints_what_the_readme_shows():
    scope: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == README.count("```python") >= 3
    for code, shown in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, scope)
        assert out.getvalue() == shown


def table(heading):
    """First cells of the table below a heading, as lists of ids."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`([^`]+)`", row.split("|")[1]), row) for row in rows]


def test_done_mechanisms_are_those_that_exist():
    done = [names for names, row in table("Mechanisms") if "| done |" in row]
    assert sorted(names[0] for names in done) == sorted(MECHANISMS)
    for names in done:
        assert set(names[1:]) == set(MECHANISMS[names[0]].aliases)


def test_every_solver_is_in_the_table_with_what_it_computes():
    linear = {m.id for m in MECHANISMS.values() if m.linear}
    games = {m.id for m in MECHANISMS.values() if isinstance(m, Equilibrium)}
    words = {
        "linear": linear,
        "linear or integer": {m.id for m in MECHANISMS.values() if m.linear or m.integer},
        "without integers": {m.id for m in MECHANISMS.values() if not m.integer},
        "nonlinear": {m.id for m in MECHANISMS.values() if not (m.linear or m.integer)},
        "convex": {m.id for m in MECHANISMS.values() if m.convex and not m.integer},
        "max-min": {m.id for m in MECHANISMS.values() if isinstance(m, Leximin)},
        "games": games,
        "finite games": games - {"ps-dsf"},
        "rational": linear | games - {"alpha-pf-vds"},
        "sequences": {m.id for m in MECHANISMS.values() if isinstance(m, Leximin) and not isinstance(m, MaxMin)},
    }
    rows = {names[0]: row.split("|")[3].strip() for names, row in table("Solvers")}
    assert set(rows) == set(METHODS)
    for method, shown in rows.items():
        assert {m.id for m in MECHANISMS.values() if METHODS[method].computes(m)} == words.get(shown, {shown.strip("`")}), method
