"""Models written for other solvers: HiGHS reads them back, and a script gives the same objective."""

import os
import subprocess
import sys
from pathlib import Path

import highspy
import pytest

import fairalloc
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


@pytest.mark.parametrize(("name", "rule", "more"), [*((*pair, {}) for pair in LINEAR), ("wang-pool", "fds", {"alpha": 3.0})])
def test_the_script_solves_the_same_problem(tmp_path, name, rule, more):
    instance = example(name).instance
    (tmp_path / "model.py").write_text(export(instance, rule, "py", **more))
    places = os.pathsep.join([str(Path(fairalloc.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-P", "model.py"],
        env=os.environ | {"PYTHONPATH": places},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    status, value = done.stdout.splitlines()[0].split()
    assert status == "optimal"
    assert float(value) == pytest.approx(mechanism(rule).configure(**more).cvxpy(instance).solve(), rel=1e-5)
    assert len(done.stdout.splitlines()) == 1 + len(mechanism(rule).domain(instance).arcs)


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
