"""With NumPy, SciPy and highspy alone the package is imported, and every mechanism but njc is computed by its default method."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fairalloc as fa

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


WRITTEN = """
from fairalloc.formulations.alpha_pf_vds import best_response
from fairalloc.formulations.lmmf import iterations
found["best_response"] = lambda: best_response(pool, "s1", [0] * 4)
found["iterations"] = lambda: list(iterations(pool))
for item in map(fa.mechanism, fa.MECHANISMS):
    domain = item.domain(jobs if item.id.startswith("gavel-") else pool)
    for layer in item.layers:
        found[f"{item.id} {layer}"] = lambda item=item, layer=layer, domain=domain: getattr(item, f"write_{layer}")(domain)
for name, call in found.items():
    try:
        found[name] = repr(call())
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def found_alone(hidden, asked=ALONE):
    done = subprocess.run(
        [sys.executable, "-c", asked, json.dumps(hidden)], capture_output=True, text=True, cwd=ROOT, check=True, timeout=300
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


WITH_PYOMO = """
import pyomo.environ as pyo

class Most(fa.Mechanism):
    id = "most"
    def write_cvxpy(self, instance):
        x, rows = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), rows)
    def write_pyomo(self, instance):
        model = fa.pyomo_tasks(instance)
        model.objective = pyo.Objective(expr=sum(model.x.values()), sense=pyo.maximize)
        return model

edit = fa.mechanism("drfh").edited("same", cvxpy=lambda problem, _: problem, pyomo=lambda model, _: None)
floors = pool.replace(min_tasks=[1, 0, 0, 0])
whole = fa.mechanism("nb", integral=True)
asked = {"own": (pool, Most), "edit": (pool, edit), "floors": (floors, "lmmf"), "whole": (pool, whole)}
for name, (instance, item) in asked.items():
    found[name] = fa.solve(instance, item).method
    found[name + " judged"] = fa.check(fa.Allocation(instance, fa.solve(instance, item).x), item).holds
found["explained"] = fa.explain(fa.solve(pool, Most)).mechanism
print(json.dumps(found))
"""


def test_models_in_both_layers_are_solved_where_cvxpy_is_not_installed():
    """Their kind was read off the model in CVXPY, also where Pyomo is there: they were refused."""
    found = found_alone(["cvxpy", "clarabel", "scs"], ALONE.partition("for name in fa.MECHANISMS")[0] + WITH_PYOMO)
    assert {method.partition(":")[0] for name, method in found.items() if name in ("own", "edit", "whole")} == {"pyomo"}
    assert all(holds for name, holds in found.items() if name.endswith("judged"))
    assert found["explained"] == "most"


def test_who_writes_a_model_names_the_package_that_it_needs():
    """Models that do not use the tasks of `fa.cvxpy_tasks` had said ModuleNotFoundError."""
    found = found_alone(HIDDEN, ALONE.partition("for name in fa.MECHANISMS")[0] + WRITTEN)
    assert len(found) >= 40
    for name, said in found.items():
        package = "pyomo" if name.endswith("pyomo") else "cvxpy"
        assert said == f"NotInstalled: this needs {package}, which is not installed: pip install fairalloc", name


MISSING = [
    ("solve wang-fig2", "rich", ""),
    ("model drfh", "cvxpy", ""),
    ("explain wang-fig2", "flint", ""),
    ("theorems conflict pareto total-envy-freeness --size 2x2x1 --trials 9", "z3", "[smt]"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("words", "package", "extra"), MISSING[::-1])
def test_a_command_names_the_package_that_it_needs(words, package, extra):
    done = run_without(package, *words.split())
    assert done.returncode == 2
    assert done.stderr == f"fairalloc: this needs {package}, which is not installed: pip install fairalloc{extra}\n"


def test_figures_of_experiments_are_refused_before_the_trials():
    done = run_without("matplotlib", *["simulate", "P.Table4", "--small", "--format", "html"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fairalloc: figures need matplotlib: pip install fairalloc[plots]\n"


def run_without(package, *words):
    code = ALONE.partition("import fairalloc as fa")[0] + "from fairalloc.cli import main; sys.exit(main(sys.argv[2:]))"
    command = [sys.executable, "-c", code, json.dumps([package]), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("cvxpy", "", lambda answer: fa.mechanism("drfh").cvxpy(answer.instance)),
        ("pyomo", "", lambda answer: fa.export(answer.instance, "drfh", "lp")),
        ("flint", "", fa.explain),
        ("z3", r"\[smt\]", lambda answer: fa.conflict(["total-envy-freeness", "pareto"], "2x2x1", trials=9)),
    ],
)
def test_a_function_names_the_package_that_it_needs(package, extra, call, monkeypatch):
    answer = fa.solve(fa.example("wang-fig2").instance, "drfh")
    for name in [name for name in sys.modules if name.startswith("fairalloc.theorems.smt.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fa.NotInstalled, match=f"^this needs {package}, which is not installed: pip install fairalloc{extra}$"):
        call(answer)
