"""The page of a mechanism: `fairalloc model ID` and `fa.show(mechanism)`."""

import inspect

import cvxpy as cp
import pytest
from narrow import ALGORITHMS

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS
from fairalloc.formulations.drfh import DominantResourceFairness
from fairalloc.solvers import METHODS


@pytest.mark.few(8)
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - ALGORITHMS))
def test_a_page_has_formula_code_names_and_methods(name, capsys):
    page = fa.show(fa.mechanism(name))
    assert page.formula.splitlines()[0] in str(page)
    for layer in ("cvxpy", "pyomo"):
        assert "def " in page.code(layer)
        assert "capacity" in page.parts(layer)
    assert main(["model", name]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(page).rstrip("\n")
    assert str(page).splitlines()[-1].startswith("Computed by ")


def test_a_page_names_the_files_of_its_models():
    """A rule that is a share alone had a page that did not say where its model is written."""
    for name, places in (
        ("tsf", "lexicographic/rule.py"),
        ("nested-nb", "nb.py, formulations/nested_nb.py"),
        ("drfh", "drfh.py"),
    ):
        call = f"fa.mechanism({name!r}).pyomo(instance)"
        assert f"The model in Pyomo, {call}, formulations/{places}\n" in str(fa.show(fa.mechanism(name)))
    edited = fa.mechanism("drfh").edited("capped", cvxpy=capped)
    assert f"and the edit, formulations/drfh.py, {__file__}\n" in str(fa.show(edited))


def test_a_page_whose_parameters_have_no_model_has_its_formula_and_code():
    page = fa.show(fa.mechanism("alpha-pf-vds", alpha="inf"))
    assert page.parts("cvxpy") == page.parts("pyomo") == ()
    assert "def " in str(page)


GAMES = [{"alpha": 3}, {"B": 0.5}, {"A": [1, 2]}, {"utility": fa.Utility(lambda z: 1 / z)}]


@pytest.mark.parametrize(("name", "given"), [("njc", {"objective": "sum"}), *(("alpha-pf-vds", given) for given in GAMES)])
def test_the_code_has_the_variables_of_the_model_and_the_page_names_the_parameters(name, given):
    """That of K's problem was shown beside parameters, and edits, that have the model in levels."""
    item, instance = fa.mechanism(name, **given), fa.example("khamse-fig1" if name != "njc" else "dolev-fig2").instance
    for one in (item, item.edited("same", cvxpy=lambda problem, _: problem)):
        page = fa.show(one)
        assert {v for v in one.cvxpy(instance).var_dict if f'"{v}"' not in page.code("cvxpy")} <= {"x"}
        assert all(f"{key}=" in str(page) for key in given if key != "utility")


@pytest.mark.parametrize("alpha", [1, 2])
def test_the_names_are_those_of_the_model_that_an_edit_gets(alpha):
    """For alpha = 1 they had been those of nb, which solve takes where nothing is edited."""
    item, seen = fa.mechanism("alpha-pf-vds", alpha=alpha), []
    fa.solve(fa.example("khamse-fig1").instance, item.edited("same", cvxpy=lambda problem, _: seen.append(problem) or problem))
    assert {v.name() for v in seen[-1].variables()} <= {*fa.show(item).parts("cvxpy")}


def test_whole_tasks_have_their_formula():
    assert "Whole x of lexicographically largest v" in fa.show(fa.mechanism("drfh", integral=True)).formula


def test_the_code_is_the_text_of_the_file():
    page = fa.show(fa.mechanism("drfh"))
    assert "cp.multiply(sigma / phi, arcs.owner @ x) >= g" in page.code("cvxpy")
    assert page.code("cvxpy").split() == inspect.getsource(DominantResourceFairness.write_cvxpy).split()
    assert fa.show(fa.mechanism("drfh-lp")).code("pyomo") == page.code("pyomo"), "the model of W (6) is one"


def capped(problem, instance):
    cap = instance.arcs.owner[[0]] @ problem.var_dict["x"] <= 3
    return cp.Problem(problem.objective, [*problem.constraints, cap.set_label("cap")])


def test_an_edit_has_the_model_of_its_base_and_its_own_source():
    page = fa.show(fa.mechanism("drfh").edited("capped", cvxpy=capped))
    assert page.formula == fa.show(fa.mechanism("drfh")).formula
    sources = map(inspect.getsource, (DominantResourceFairness.write_cvxpy, capped))
    assert page.code("cvxpy").split() == " ".join(sources).split()
    assert page.parts("cvxpy")[-1] == "cap"
    assert page.code("pyomo") == ""
    assert "all rounds respect the edit" in str(page)
    methods = str(page).splitlines()[-1]
    assert {"cvxpy:clarabel,", "cvxpy:highs,", "cvxpy:scs"} <= set(methods.split())
    assert "uno" not in methods


def test_a_row_without_a_name_is_shown_as_it_is_written():
    """It had been a TypeError of Python's, in `show` and `fairalloc model`."""
    edit = fa.mechanism("nb").edited("few", cvxpy=lambda p, _: cp.Problem(p.objective, [*p.constraints, p.var_dict["x"] <= 5]))
    assert fa.show(edit).parts("cvxpy")[-1] == "x <= 5.0"
    assert "capacity, x <= 5.0" in str(fa.show(edit))


def test_an_edit_that_fits_no_example_may_be_computed_by_all():
    def other(problem, instance):
        raise IndexError(17)

    page = str(fa.show(fa.mechanism("drfh").edited("other", cvxpy=other)))
    assert "all rounds respect the edit" in page
    assert "cvxpy:clarabel" in page.splitlines()[-1]
    assert "as far as they take the kind of its model on an instance" in page.splitlines()[-1]


def test_methods_that_are_not_installed_are_named_apart():
    here, _, absent = str(fa.show(fa.mechanism("drfh"))).splitlines()[-1].partition("; not installed are ")
    assert {"highs", "exact"} <= set(here.removeprefix("Computed by ").split(", "))
    assert absent == ", ".join(key for key, one in METHODS.items() if one.computes(fa.mechanism("drfh")) and one.missing())


def test_an_instance_is_shown_as_before_and_an_own_mechanism_too():
    wang = fa.example("wang-fig2").instance
    assert fa.show(wang).user(0)["dominant"] == "memory"
    own = fa.Leximin("equal-tasks", share=lambda instance: [1.0] * instance.N)
    assert str(fa.show(own)).startswith("equal-tasks: of your own")
    unchanged = own.edited("mine", cvxpy=lambda problem, _: problem)
    assert "_rounds.set" not in fa.show(unchanged).code("cvxpy")
    with pytest.raises(fa.FairallocError, match="must be an Instance"):
        fa.show(3)


def test_a_word_that_is_no_mechanism_is_refused(capsys):
    assert main(["model", "drfx"]) == 2
    assert "there is no mechanism 'drfx'" in capsys.readouterr().err
