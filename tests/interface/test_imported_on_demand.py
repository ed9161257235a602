"""What is not asked for is not imported: importing the package is cheap, and so is a small solve."""

import ast
import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc import cli, models
from fairalloc.formulations.common.modelling import cp

ROOT = Path(__file__).resolve().parents[2]

SOLVERS = {"cvxpy", "pyomo", "casadi", "clarabel", "scs", "flint", "cyipopt"}

OTHERS = {
    *("scipy.optimize", "scipy.spatial", "scipy.special", "scipy.stats", "scipy.sparse.linalg"),
    *("matplotlib", "pandas", "pyarrow", "jsonschema", "jinja2", "cloudpickle", "multiprocessing", "distributed"),
}

ROOMS = {"fairalloc.analysis", "fairalloc.theorems", "fairalloc.benchmarks"}

HEAVY = SOLVERS | OTHERS | ROOMS


def loaded(code):
    """The modules of a fresh interpreter after running the code, which coverage, itself with imports, does not measure."""
    code += "\nimport sys; sys.stderr.write(chr(10) + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stderr.split("\n")[-1].split())


def test_importing_the_package_imports_no_library():
    there = loaded("import fairalloc")
    assert "fairalloc" in there
    assert there & (HEAVY | {"numpy", "scipy", "highspy", "rich"}) == set()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "code",
    [
        "import fairalloc as fa; fa.solve(fa.example('wang-fig2').instance, 'drfh')",
        "from fairalloc.cli import main; assert main(['solve', 'wang-fig2']) == 0",
    ],
)
def test_a_small_solve_imports_what_it_needs_alone(code):
    there = loaded(code)
    assert "highspy" in there
    assert there & HEAVY == set()


def test_help_reads_no_files_of_the_papers():
    """So it is there where one of them has an error."""
    there = loaded("from fairalloc.cli import main\ntry: main(['theorems', '--help'])\nexcept SystemExit: pass")
    assert "fairalloc.cli.theorems" in there
    assert [name for name in there if ".papers." in name] == []


def test_a_heavy_module_would_be_seen():
    assert loaded("import fairalloc; fairalloc.check; import scipy.optimize") & HEAVY >= {"fairalloc.analysis", "scipy.optimize"}


@pytest.mark.parametrize("package", [fa, models])
def test_names_on_demand_are_those_that_tools_read(package):
    tree = ast.parse(Path(package.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    told = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module.startswith("fairalloc.")]
    assert {alias.name for node in told for alias in node.names} == set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_a_package_on_demand_is_copied_and_pickled_by_its_name():
    """An answer lost the rule of one's own that asked `cp`: reading its pickle never ended."""
    assert pickle.loads(pickle.dumps(deepcopy(cp))).Variable is cp.Variable


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"^module 'fairalloc' has no attribute 'slove'$"):
        fa.slove  # noqa: B018


def test_every_command_is_found_in_its_module():
    """The table of modules by command names each command of the parser once."""
    assert set(cli._parser()._subparsers._group_actions[0].choices) == {*cli.COMMANDS, "list", "doctor"}
    for word in cli.COMMANDS:
        assert set(cli._parser([word])._subparsers._group_actions[0].choices) >= {word, "list", "doctor"}
