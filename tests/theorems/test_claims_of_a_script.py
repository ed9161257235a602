"""What a claim about a script's own objects prints runs in a bare interpreter, in another folder, with the package alone."""

import subprocess
import sys
from importlib import import_module

import pytest

import fairalloc as fa
from fairalloc.theorems.checkers.own import claims_in
from fairalloc.theorems.code import defined, witness_code

SCRIPT = '''
import sys

import cvxpy as cp

import fairalloc as fa

LEAST = 1


class Most(fa.Mechanism):
    """As many tasks as possible."""

    id = "most"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


def lacking(allocation):
    return LEAST - allocation.tasks.min()


def idle(allocation):
    return lacking(allocation)


def cap(problem, instance):
    first = instance.arcs.owner[[0]] @ problem.var_dict["x"]
    return cp.Problem(problem.objective, [*problem.constraints, first <= LEAST])


claims = [
    fa.claim("nobody is idle", mechanism=Most(), property=idle, hypotheses="positive, everywhere"),
    fa.claim("a cap wastes nothing", mechanism=fa.mechanism("drfh").edited("capped", cvxpy=cap), property="pareto"),
]
for k, claim in enumerate(claims):
    with open(f"{sys.argv[1]}/{k}.py", "w") as file:
        file.write(str(claim.search(trials=60)))
'''


def run(folder, *command):
    return subprocess.run([sys.executable, "-P", *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.deep
def test_every_result_is_a_program_of_its_own(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "bare").mkdir()
    done = run(tmp_path, "script.py", str(tmp_path / "bare"))
    assert done.returncode == 0, done.stderr
    together = "\n\n".join(file.read_text() for file in sorted((tmp_path / "bare").glob("*.py")))
    assert together.count("verdict.holds is False") == 2
    (tmp_path / "bare" / "together.py").write_text(together)
    done = run(tmp_path / "bare", "together.py")
    assert done.returncode == 0, done.stderr
    assert "could run" in done.stdout


def test_what_cannot_be_written_is_not_guessed():
    def local(allocation):
        return True

    for value in (local, lambda allocation: True, object(), [1.0]):
        assert defined("mine", value)[0] == []
    assert defined("three", 3) == (["three = 3"], "")


def test_a_mechanism_of_a_module_that_can_be_imported_is_made_of_its_class(tmp_path, monkeypatch):
    """The script said that the object cannot be copied, and did not run alone."""
    (tmp_path / "importable.py").write_text("import fairalloc as fa\n\n\nclass Own(fa.Mechanism):\n    id = 'own'\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = import_module("importable").Own()
    assert defined("mine", own) == (["from importable import Own", "mine = Own()"], "")
    own.data = 1
    assert defined("mine", own)[0] == []


MADE = """
import fairalloc as fa

def edit(problem, instance):
    return problem

made = [fa.mechanism("alpha-fair").configure(alpha=3), fa.mechanism("njc").configure(objective="utilisation")]
made += [made[0].edited("once", cvxpy=edit), made[0].edited("once", cvxpy=edit).edited("twice", cvxpy=edit)]
made += [fa.mechanism("drfh").edited("unnamed", cvxpy=lambda problem, instance: problem)]
claims = [fa.claim(item.id, item, "pareto", id=f"c{k}") for k, item in enumerate(made)]
"""


def test_a_mechanism_of_the_package_is_written_with_its_parameters_and_edits(tmp_path):
    """An edit without a name became `cvxpy=<lambda>`, and one of an edit named a mechanism that is none, or was not written."""
    (tmp_path / "made.py").write_text(MADE)
    for claim in claims_in(str(tmp_path / "made.py")).values():
        (lines, why), scope = defined("mine", claim.mechanism), {"fa": fa}
        exec("\n".join(lines), scope)
        assert bool(why) == (claim.id == "c4")
        assert why or (scope["mine"].id, scope["mine"].parameters) == (claim.mechanism.id, claim.mechanism.parameters)


NAMES = """
import fairalloc as fa

before = 1

def instance(allocation):
    return before - allocation.tasks[0]

def Fraction(allocation):
    return before - allocation.tasks[0]

claims = [fa.claim("one", "tsf", instance), fa.claim("two", "tsf", Fraction)]
"""


def test_names_of_the_code_are_not_those_of_its_definitions(tmp_path):
    """A property named `instance` was overwritten by the instance, and a number named `before` by an allocation."""
    (tmp_path / "names.py").write_text(NAMES)
    case = fa.Case(fa.Instance([[1], [1]], [[1]]))
    for claim in claims_in(str(tmp_path / "names.py")).values():
        code = witness_code(claim, case)
        assert "before = 1" in code
        exec(code, {})
