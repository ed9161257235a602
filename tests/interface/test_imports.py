"""Imports go one way: between the rooms, between the parts of a room, and never in a circle between files.

The import statements are read from the syntax trees, so that those inside functions and under TYPE_CHECKING count too, as does
`import_module` of a literal name. A file imports what it names; that Python also runs the `__init__` of the folders above is not
counted.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ROOMS = ("models", "formulations", "solvers", "analysis", "runs", "simulation", "theorems", "benchmarks", "fairalloc")
"""Each may import from those before it."""

PARTS = {
    "models": (
        *(
            "errors",
            "arguments",
            "numbers",
            "tables",
            "input.demand_matrix",
            "input.validation",
            "input.groups",
            "input.named_input",
        ),
        *("instance_data", "instance", "shares", "exact.rationals", "*", "__init__"),
    ),
    "formulations": (
        *(
            "common",
            "game.ps_dsf_variants",
            "game.parameters",
            "game.marginal",
            "game.prices",
            "game.residual",
            "game.game",
            "lexicographic.linear_program",
            "mechanism",
            "lexicographic",
            "game",
            "utilitarian",
            "alpha_family",
            "alpha_fair",
            "__init__",
            "*",
        ),
    ),
    "solvers": (
        *("options", "running.solver_log", "running.threads", "running.warm_start", "running.listeners"),
        *("lexicographic.faces", "lexicographic.rounds", "method"),
        *("lexicographic", "kkt", "interior_point", "nash_bargaining", "game", "backends", "exact", "njc", "*"),
        *("catalogue.method_registry", "judge", "running.dispatch", "solve", "solve_many"),
        *("approximate", "gap_of_given", "export", "model_page", "__init__"),
    ),
    "analysis": (
        "verdict",
        "linear",
        "differences",
        "active_set",
        "*",
        "properties",
        "certificates",
        "plots",
        "compare",
        "explorer",
        "explanations",
        "__init__",
    ),
    "runs": ("__init__", "*"),
    "simulation": (
        "workload",
        "files",
        "log",
        "state",
        "schedulers",
        "tasks",
        "memory",
        "arrivals",
        "fluid",
        "accounting",
        "metrics",
        "*",
        "__init__",
    ),
    "theorems": (
        *(
            "__init__",
            "packaged_files",
            "certificates.check_certificate",
            "certificates.store",
            "certificates.written",
            "cases",
            "hypotheses",
            "smt.record",
            "statement",
            "printed",
            "implications",
            "definitions",
            "standalone.definitions",
            "standalone.certificates",
            "standalone.arguments",
            "standalone.merit",
            "checkers",
            "papers",
        ),
        *(
            "registry",
            "*",
            "smt",
            "certificates",
            "cells",
            "titles",
            "ours",
            "matrix",
            "search",
            "numbers",
            "standalone",
            "claims",
            "axioms",
            "conflict",
            "pages",
            "exported",
        ),
    ),
    "benchmarks": (
        *("suites", "records", "references", "worker", "*"),
        *(
            "runner",
            "metrics",
            "ranking",
            "compare",
            "report",
            "accuracy",
            "growth",
            "figures",
            "page",
            "formats",
            "__init__",
        ),
    ),
    "fairalloc": ("sigint", "__init__", "*", "cli", "__main__"),
}
"""Inside a room, files and folders in the order in which they may import; "*" stands for all that are not named."""


def modules(root):
    """{module name: file} of all rooms below `root`."""
    files = {}
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            parts = parts if parts[0] == "fairalloc" else ("fairalloc", *parts)
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imported(name, file, files):
    """(line, module of ours) for every import in the file."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text())):
        for target in targets(node, package):
            while target and target not in files:  # a name inside a module
                target = target.rpartition(".")[0]
            if target and target != name:
                yield node.lineno, target


def targets(node, package):
    """The dotted names that a node imports, as far as the text says."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            base = resolve_name("." * node.level + (node.module or ""), package)
            return [f"{base}.{alias.name}" for alias in node.names]
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(named)), *_],
        ):
            return [resolve_name(named, package)]
    return []


def room_of(name):
    """Index in ROOMS and the rest of the dotted name."""
    parts = name.split(".")
    if len(parts) > 1 and parts[1] in ROOMS:
        return ROOMS.index(parts[1]), ".".join(parts[2:]) or "__init__"
    return ROOMS.index("fairalloc"), ".".join(parts[1:]) or "__init__"


def place(room, rest):
    """Position of a file in the declared order of its room: that of the longest entry which names it or a folder above it."""
    order = PARTS[ROOMS[room]]
    found = [entry for entry in order if rest == entry or rest.startswith(f"{entry}.")]
    return order.index(max(found, key=len, default="*"))


def runs_back(name, target):
    """Whether the target stands to the right of the file that imports it."""
    (room, rest), (other, other_rest) = room_of(name), room_of(target)
    if room != other:
        return other > room
    return place(other, other_rest) > place(room, rest)


@cache
def arrows(root):
    """What each file imports, with the line."""
    files = modules(root)
    return {name: [*imported(name, file, files)] for name, file in files.items()}


def arrows_back(root):
    """Every arrow that runs back, as "file:line -> module"."""
    files = modules(root)
    return {
        f"{file.relative_to(root)}:{line} -> {target}"
        for name, file in files.items()
        for line, target in arrows(root)[name]
        if runs_back(name, target)
    }


def cycle(root):
    """The files of one circle of imports, or []."""
    try:
        TopologicalSorter({name: {target for _, target in found} for name, found in arrows(root).items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_imports_go_one_way_and_in_no_circle():
    assert arrows_back(ROOT) == set()
    assert cycle(ROOT) == []


def test_every_name_in_the_order_exists():
    """A renamed file must not fall silently under "*"."""
    there = {room_of(name) for name in modules(ROOT)}
    for room, parts in PARTS.items():
        held = {rest for number, rest in there if number == ROOMS.index(room)}
        for part in set(parts) - {"*"}:
            assert part in held, (room, part)


UPWARD = [
    "from fairalloc.solvers import solve",
    "import fairalloc.solvers as s",
    "from fairalloc import solvers",
    "from fairalloc import __version__",
    "from ..solvers.method import Limits",
    "def f():\n    from fairalloc.solvers.method import Limits",
    "if TYPE_CHECKING:\n    from fairalloc.solvers.method import Limits",
    "importlib.import_module('fairalloc.solvers.method')",
    "import_module('..solvers', __package__)",
    "from fairalloc.formulations.nb import mechanism",
]


@pytest.fixture
def small(tmp_path):
    """Two rooms with a file each, and one in the right direction."""
    for file in ("formulations/__init__", "formulations/mechanism", "formulations/nb", "solvers/__init__", "solvers/method"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / f"{file}.py").write_text("import numpy\n")
    (tmp_path / "fairalloc").mkdir()
    (tmp_path / "fairalloc/__init__.py").write_text("__version__ = '1'\n")
    (tmp_path / "solvers/method.py").write_text("from fairalloc.formulations.mechanism import Mechanism\n")
    return tmp_path


def test_the_right_direction_is_no_arrow_back(small):
    assert arrows_back(small) == set()
    assert cycle(small) == []


@pytest.mark.parametrize("statement", UPWARD)
def test_a_planted_upward_import_is_named(small, statement):
    (small / "formulations/mechanism.py").write_text(statement + "\n")
    (arrow,) = arrows_back(small)
    assert arrow.startswith("formulations/mechanism.py:")
    target = arrow.split(" -> ")[1]
    assert target in {"fairalloc", "fairalloc.solvers", "fairalloc.solvers.method", "fairalloc.formulations.nb"}


def test_a_circle_is_named(small):
    (small / "formulations/nb.py").write_text("from fairalloc.formulations import fds\n")
    (small / "formulations/fds.py").write_text("def f():\n    from .nb import x\n")
    assert arrows_back(small) == set()
    assert set(cycle(small)) == {"fairalloc.formulations.nb", "fairalloc.formulations.fds"}
