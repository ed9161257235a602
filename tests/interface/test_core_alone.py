"""With NumPy, SciPy and highspy alone the package is imported, and every mechanism but njc is computed by its default method."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

HIDDEN = [
    *("casadi", "clarabel", "cloudpickle", "cvxpy", "flint", "jinja2", "markupsafe", "pyomo", "rich", "scs", "threadpoolctl"),
    *("cyipopt", "matplotlib", "pandas", "pyarrow", "z3", "distributed", "argcomplete"),
]

ALONE = """
import json, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

hidden = json.loads(sys.argv[1])
sys.meta_path.insert(0, Hidden())
import fairalloc as fa
pool = fa.Instance([[1, 2], [3, 1], [2, 2], [1, 1]], [[9, 18]], weights=[1, 1, 2, 1])
jobs = fa.example("gavel-three-jobs").instance
found = {}
for name in fa.MECHANISMS:
    try:
        found[name] = fa.solve(jobs if name.startswith("gavel-") else pool, name).termination
    except fa.FairallocError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


def found_alone(hidden):
    done = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(hidden)], capture_output=True, text=True, cwd=ROOT, check=True, timeout=300
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_every_mechanism_but_njc_is_computed_by_numpy_scipy_and_highspy():
    found = found_alone(HIDDEN)
    assert found.pop("njc") == "no method that is installed computes 'njc' on this instance"
    assert set(found.values()) == {"optimal"}
    assert len(found) >= 15


@pytest.mark.deep
def test_njc_needs_rational_arithmetic_alone():
    assert found_alone([name for name in HIDDEN if name != "flint"])["njc"] == "optimal"


def test_what_is_hidden_is_not_there():
    assert set(found_alone([*HIDDEN, "highspy"]).values()) != {"optimal"}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "package"), [("solve wang-fig2", "rich"), ("model drfh", "cvxpy"), ("explain wang-fig2", "flint")]
)
def test_a_command_names_the_package_that_it_needs(words, package):
    code = ALONE.partition("import fairalloc as fa")[0] + "from fairalloc.cli import main; sys.exit(main(sys.argv[2:]))"
    command = [sys.executable, "-c", code, json.dumps([package]), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 2
    assert done.stderr == f"fairalloc: this command needs {package}, which is not installed: pip install fairalloc\n"
