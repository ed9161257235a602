"""Models written for other solvers: HiGHS reads them back, and a script gives the same objective."""

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import highspy
import numpy as np
import pytest

import fairalloc
import fairalloc as fa
from fairalloc import NotApplicable, UnknownName, example, export, mechanism, solve
from fairalloc.cli import main

LINEAR = [("wang-fig2", "drfh"), ("wang-fig2", "utilitarian"), ("zarchy-rounds", "mmf"), ("khamse-fig1", "tsf")]


@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize(("name", "rule"), LINEAR)
def test_highs_reads_back_the_same_program(tmp_path, name, rule, kind):
    path = tmp_path / f"model.{kind}"
    assert main(["export", name, "-m", rule, "--format", kind, "--output", str(path)]) == 0
    highs = highspy.Highs()
    highs.silent()
    highs.readModel(str(path))
    highs.run()
    wanted = mechanism(rule).cvxpy(example(name).instance).solve()
    assert highs.getInfo().objective_function_value == pytest.approx(wanted, rel=1e-7)


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "rule", "more"), [*((*pair, {}) for pair in LINEAR), ("wang-pool", "fds", {"alpha": 3.0})])
def test_the_script_solves_the_same_problem(tmp_path, name, rule, more):
    instance = example(name).instance
    (tmp_path / "model.py").write_text(export(instance, rule, "py", **more))
    done = run_script(tmp_path, "model.py")
    status, value = done.stdout.splitlines()[0].split()
    assert status == "optimal"
    assert float(value) == pytest.approx(mechanism(rule).configure(**more).cvxpy(instance).solve(), rel=1e-5)
    assert len(done.stdout.splitlines()) == 1 + len(mechanism(rule).domain(instance).arcs)


ODD = fa.Instance(
    [[["1/3", 1], [1, "1/7"]], [[2, 0]], [[1, 1]]],
    [[3, 4], [2, 5]],
    weights=[1, "1/3", 2.5],
    counts=[2, 1],
    max_tasks=[1, None, "3/2"],
    eligible=[[1, 1], [1, 0], [1, 1]],
    demands_on={(2, 1): [[1, 2]]},
    name='"""\\',
    users=['"""; exit(3) #', "\\N{x", "\u202e\u2028'\uffff"],
    servers=["{0}%s", "\\"],
    resources=["a\\", '"'],
)
PLAIN = ODD.replace(demands=[["1/3", 1], [2, 0], [1, 1]], demands_on={(2, 1): [1, 2]}, max_tasks=[1, None, None])
NARROW = fa.Instance([[1, 2], [3, 1]], [[9, 8]], weights=[1, 3], max_tasks=[2, None], name="$'\\\\")
JOBS = example("gavel-three-jobs").instance
GIVEN = ({}, {"alpha": 1}, {"alpha": 3}, {"alpha": "inf"}, {"alpha": [1, 2]}, {"A": 0, "B": 1}, {"objective": "utilisation"})
GIVEN = (*GIVEN, {"objective": "closest", "target": [1, 1]})


@pytest.mark.deep
def test_every_script_that_is_written_runs(tmp_path):
    written, refused = [], []
    for rule, instance, more in product(fa.MECHANISMS, (example("wang-fig2").instance, PLAIN, ODD, NARROW, JOBS), GIVEN):
        try:
            text = export(instance, rule, "py", **more)
        except fa.FairallocError as error:
            refused.append(str(error))
            continue
        written.append(f"model_{rule}_{len(written)}.py")
        (tmp_path / written[-1]).write_text(text, encoding="utf-8")
    (tmp_path / "run.py").write_text(RUN_ALL)
    done = run_script(tmp_path, "run.py")
    assert done.returncode == 0, done.stderr[-2000:]
    assert not any("\n" in sentence for sentence in refused)
    assert sorted(re.findall("ran (.*)", done.stdout)) == sorted(written)
    assert done.stdout.count("optimal") == len(written)
    assert {name.split("_")[1] for name in written} >= set(fa.MECHANISMS) - {"alpha-pf-vds", "h-drf"}


RUN_ALL = """
import pathlib, runpy
for file in sorted(pathlib.Path().glob("model_*.py")):
    runpy.run_path(str(file), run_name="__main__")
    print("ran", file)
"""


def run_script(folder, name):
    places = os.pathsep.join([str(Path(fairalloc.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {"PYTHONPATH": places, "PYTHONUTF8": "1"}
    return subprocess.run([sys.executable, "-P", name], env=env, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_what_cvxpy_alone_cannot_solve_is_refused():
    with pytest.raises(NotApplicable, match=r"'alpha-pf-vds' with {'alpha': 3.0} is not convex, .*: write nl"):
        export(example("wang-fig2").instance, "alpha-pf-vds", "py", alpha=3)


def test_a_nonlinear_model_is_written_as_nl(capsys):
    assert main(["export", "wang-pool", "-m", "nb", "--format", "nl"]) == 0
    assert capsys.readouterr().out.startswith("g3 ")
    assert solve(example("wang-pool").instance, "nb").has_point


def test_what_cannot_be_written_is_one_sentence():
    instance = example("wang-pool").instance
    with pytest.raises(NotApplicable, match="the model of 'nb' cannot be written as lp: Model objective"):
        export(instance, "nb", "lp")
    with pytest.raises(UnknownName, match="there is no format 'gms'"):
        export(instance, "nb", "gms")
    own = mechanism("drfh").edited("capped", cvxpy=lambda problem, _: problem)
    with pytest.raises(NotApplicable, match="'capped' has no Pyomo model, from which lp is written: write py"):
        export(instance, own, "lp")
    with pytest.raises(NotApplicable, match="'capped' is not one that a script can find by its id"):
        export(instance, own, "py")


def test_a_script_is_of_what_the_package_configures_and_of_no_rule_of_ones_own(capsys):
    """A rule of one's own called "tsf" was written as that of the package; alpha = inf and whole tasks were refused."""
    instance = example("wang-fig2").instance
    with pytest.raises(NotApplicable, match="'tsf' is not one that a script can find by its id"):
        export(instance, fa.Leximin("tsf", lambda one: np.ones(one.N)), "py")
    for parameters in ({"alpha": "inf"}, {"alpha": 0}):
        exec(export(instance, "alpha-fair", "py", **parameters), {"__name__": "script"})
    exec(export(instance, "lmmf", "py", integral=True), {"__name__": "script"})
    assert capsys.readouterr().out.count("optimal ") == 3
