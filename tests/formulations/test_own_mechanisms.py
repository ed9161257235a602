"""Mechanisms that are not in the package: own models, shares alone, edits of every round; and how they are judged."""

import inspect
import re
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import instances
from tolerances import EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.formulations.common.convexity import read_off
from fairalloc.formulations.common.kkt_residual import optimality_of_cvxpy
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.shares import global_dominant_share

KHAMSE = example("khamse-fig1").instance  # drfh needs two rounds here


class MostTasks(Mechanism):
    """Linear, in CVXPY alone."""

    id = "most-tasks"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


class Spread(Mechanism):
    """Concave and not linear, in Pyomo alone."""

    id = "spread"

    def write_pyomo(self, instance):
        model = fa.pyomo_tasks(instance)
        model.goal = pyo.Objective(expr=sum(pyo.log(1 + x) for x in model.x.values()), sense=pyo.maximize)
        return model


class InCvxpy(Mechanism):
    """The same in CVXPY alone."""

    id = "spread-in-cvxpy"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(cp.log(1 + x))), constraints)


class Whole(Mechanism):
    """Integers."""

    id = "whole"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        whole = cp.Variable(x.shape, integer=True)
        return cp.Problem(cp.Maximize(cp.sum(x)), [*constraints, x == whole])


def capped_cvxpy(problem, instance):
    cap = (instance.arcs.owner[[3]] @ problem.var_dict["x"] <= 3).set_label("cap")
    return cp.Problem(problem.objective, [*problem.constraints, cap])


def capped_pyomo(model, instance):
    model.cap = pyo.Constraint(expr=sum(x for key, x in model.x.items() if key[0] == instance.users[3]) <= 3)


CAPPED = fa.mechanism("drfh").edited("capped", cvxpy=capped_cvxpy, pyomo=capped_pyomo)
METHODS = ("cvxpy:highs", "cvxpy:clarabel", "pyomo:highs", None)


@pytest.mark.parametrize("own", [MostTasks(), Spread(), InCvxpy()], ids=lambda m: m.id)
def test_an_own_mechanism_is_solved_and_judged_by_its_own_model(own):
    allocation = fa.solve(KHAMSE, own)
    assert allocation.claims_success
    assert not allocation.not_judged
    assert set(allocation.residuals) == {"feasibility", "optimality"}
    assert allocation.residual <= RESIDUAL
    assert allocation.values["objective"] > 0


class Powers(Mechanism):
    id, own_parameters = "powers", ("power", "marginal")

    def __init__(self, power=0.5, marginal=None):
        self.power, self.marginal = power, marginal

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(cp.power(instance.arcs.owner @ x, self.power))), constraints)


def test_numbers_among_own_parameters_tell_mechanisms_apart():
    """They were left out: two were "each once" in no table, and no answer said which it was of."""
    table = fa.compare(KHAMSE, [Powers(0.3, marginal=abs), Powers(0.7)])
    assert list(table.allocations) == ["powers power=0.3", "powers power=0.7"]
    assert [one.parameters for one in table.allocations.values()] == [{"power": 0.3}, {"power": 0.7}]
    assert fa.show(Powers).formula == "", "the text of Mechanism is not its formula"


@pytest.mark.parametrize(("power", "code"), [(0.3, 0), (0.7, 1)])
def test_a_document_is_checked_by_the_parameters_that_it_names(tmp_path, capsys, power, code):
    """They were left out, so an answer for 0.3 was checked as one for the default."""
    place = str(tmp_path / "own.py")
    text = f"import cvxpy as cp\nimport fairalloc as fa\nfrom fairalloc import Mechanism\n\n{inspect.getsource(Powers)}"
    Path(place).write_text(text)
    assert main(["solve", "khamse-fig1", "-m", place, "--param", "power=0.3", "--format", "json"]) == 0
    document = capsys.readouterr().out
    assert '"power": 0.3' in document
    (tmp_path / "a.json").write_text(document.replace('"power": 0.3', f'"power": {power}'))
    assert main(["check", "khamse-fig1", str(tmp_path / "a.json"), "-m", place]) == code
    assert ("this is an allocation of powers" in capsys.readouterr().out) == (code == 0)


def test_a_parameter_that_no_document_holds_is_named(tmp_path):
    """It was a TypeError of Python's."""
    kind = type("Told", (Powers,), {"parameters": property(lambda self: {"power": self.power, "marginal": self.marginal})})
    answer = fa.solve(KHAMSE, kind(np.float64(0.3), marginal=np.ones(2)))
    fa.write_allocation(answer, tmp_path / "a.json")
    assert fa.read_allocation(tmp_path / "a.json", KHAMSE).parameters == {"power": 0.3, "marginal": [1, 1]}
    read = fa.read_allocation(tmp_path / "a.json", KHAMSE, answer.rule)
    assert fa.check(read, "powers").holds
    assert fa.explain(read).mechanism == "powers", "it is asked of the mechanism that was given"
    with pytest.raises(fa.InstanceError, match="a value is <built-in function abs>, but a document holds numbers"):
        fa.write_allocation(fa.solve(KHAMSE, kind(marginal=abs)), tmp_path / "b.json")


def test_two_layers_of_one_program_agree():
    np.testing.assert_allclose(fa.solve(KHAMSE, Spread()).tasks, fa.solve(KHAMSE, InCvxpy()).tasks, rtol=SHARES)


def test_the_kind_of_a_model_is_read_off():
    assert read_off(MostTasks().cvxpy(KHAMSE)) == {"linear": True, "integer": False, "convex": True}
    assert read_off(InCvxpy().cvxpy(KHAMSE)) == {"linear": False, "integer": False, "convex": True}
    assert read_off(Spread().pyomo(KHAMSE))["linear"] is False
    assert read_off(Whole().cvxpy(KHAMSE))["integer"] is True
    assert read_off(fa.mechanism("drfh").pyomo(KHAMSE)) == {"linear": True, "integer": False, "convex": True}


def test_what_cannot_be_judged_says_so_and_never_looks_right(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.backends.cvxpy._bound", lambda *_: None)  # a solver that gives no bound
    allocation = fa.solve(KHAMSE, Whole())
    assert not allocation.claims_success
    assert allocation.outcome == "optimal, not judged"
    assert "not judged" in allocation.not_judged
    assert allocation.residual == np.inf
    assert np.allclose(allocation.x, np.round(allocation.x), atol=RESIDUAL)


@pytest.mark.parametrize("shift", [1e-3, -1e-3])
def test_the_optimality_conditions_see_a_wrong_point(shift):
    """Half a thousandth of a task moved, or a dual price changed: no longer optimal."""
    problem = InCvxpy().cvxpy(KHAMSE)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert optimality_of_cvxpy(problem) <= RESIDUAL
    x = problem.var_dict["x"]
    right = x.value.copy()
    x.value = right * (1 + shift * (np.arange(len(right)) % 2))
    assert optimality_of_cvxpy(problem) > 1e-4
    x.value = right
    capacity = next(c for c in problem.constraints if c.label == "capacity")
    capacity.save_dual_value(capacity.dual_value * (1 + shift))
    assert optimality_of_cvxpy(problem) > 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_an_edit_holds_in_every_round(method):
    """A cap on user 4 alone: the third user goes on in a later round, as with max_tasks."""
    allocation = fa.solve(KHAMSE, CAPPED, method)
    limited = fa.solve(KHAMSE.replace(max_tasks=[None, None, None, 3]), "drfh")
    np.testing.assert_allclose(allocation.tasks, limited.tasks, rtol=SHARES)
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL


@settings(max_examples=drawn(40))
@given(instances(), st.sampled_from(["drfh", "tsf", "lmmf"]), st.sampled_from(METHODS[:3]))
def test_an_edit_that_changes_nothing_gives_the_rule(instance, name, method):
    """The rounds by dual prices of "fairness" against the rounds by the bound (*): two unrelated tests of who is fixed."""
    try:
        expected = fa.solve(instance, name)
    except fa.FairallocError:
        return
    nothing = fa.mechanism(name).edited("nothing", cvxpy=lambda problem, _: problem, pyomo=lambda model, _: None)
    allocation = fa.solve(instance, nothing, method)
    if allocation.residual <= RESIDUAL:
        np.testing.assert_allclose(allocation.tasks, expected.tasks, rtol=1e-4)
    assert allocation.has_point


def test_an_edit_of_the_objective_makes_it_one_program():
    pool = example("wang-pool").instance
    greedy = fa.mechanism("drfh").edited(
        "greedy", cvxpy=lambda problem, _: cp.Problem(cp.Maximize(cp.sum(problem.var_dict["x"])), problem.constraints)
    )
    allocation = fa.solve(pool, greedy)
    assert allocation.values["objective"] == pytest.approx(fa.solve(pool, "utilitarian").values["objective"], rel=EXACT)
    assert allocation.residual <= RESIDUAL


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_an_infeasible_edit_names_the_constraints_that_conflict(layer):
    def in_cvxpy(problem, _):
        x = problem.var_dict["x"]
        much, little, harmless = (x[0] >= 2).set_label("much"), (x[0] <= 1).set_label("little"), (x[1] <= 1).set_label("harmless")
        return cp.Problem(problem.objective, [*problem.constraints, much, harmless, little])

    def in_pyomo(model, _):
        first, second = list(model.x.values())[:2]
        model.much, model.harmless = pyo.Constraint(expr=first >= 2), pyo.Constraint(expr=second <= 1)
        model.little = pyo.Constraint(expr=first <= 1)

    edit = {"cvxpy": in_cvxpy, "pyomo": in_pyomo}[layer]
    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("torn", **{layer: edit}))
    assert allocation.termination == "infeasible"
    assert not allocation.residual <= RESIDUAL
    assert "much, little" in allocation.message
    assert "harmless" not in allocation.message


def test_a_parameter_of_an_edit_is_changed_without_compiling_again(monkeypatch):
    most = cp.Parameter(value=3.0)

    def edit(problem, instance):
        return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[3]] @ problem.var_dict["x"] <= most])

    edited = fa.mechanism("drfh").edited("parametric", cvxpy=edit)
    first = fa.solve(KHAMSE, edited, "cvxpy:clarabel")
    from cvxpy.reductions.solvers.solving_chain import SolvingChain

    monkeypatch.setattr(SolvingChain, "apply", lambda *_: pytest.fail("the model was compiled again"))
    for value, expected in ((2.0, [3, 3, 14, 2]), (1.0, [3, 3, 15, 1]), (3.0, first.tasks)):
        most.value = value
        np.testing.assert_allclose(fa.solve(KHAMSE, edited, "cvxpy:clarabel").tasks, expected, rtol=SHARES)


def test_an_allocation_is_checked_against_an_edit():
    allocation = fa.solve(KHAMSE, CAPPED)
    assert fa.check(allocation, CAPPED).holds is True
    assert fa.check(fa.solve(KHAMSE, "drfh"), CAPPED).holds is False
    assert fa.check(allocation, "drfh").holds is False
    less = fa.Allocation(KHAMSE, allocation.x * 0.99, "capped")
    assert fa.check(less, CAPPED).holds is False


def test_an_allocation_is_checked_against_an_own_program():
    best = fa.solve(KHAMSE, MostTasks())
    assert fa.check(best, MostTasks()).holds is True
    assert fa.check(fa.solve(KHAMSE, "drfh"), MostTasks()).holds is False
    assert fa.check(best, Whole()).holds is True, "28 tasks are the most, in whole numbers too"
    assert fa.check(fa.Allocation(KHAMSE, best.x * 0.99), Whole()).holds is not True


def heaviest(instance):
    return np.array([float(rows[0].max()) for rows in instance.demands])


def heaviest_exactly(instance):
    return tuple(max(rows[0]) for rows in instance.exact.demands)


def test_a_rule_from_its_share_alone():
    rule = fa.Leximin("heaviest", heaviest)
    allocation = fa.solve(KHAMSE, rule)
    assert allocation.residual <= RESIDUAL
    assert fa.check(allocation, rule).holds is True
    assert not fa.certify(allocation), "without an exact share nothing is certified"
    exact = fa.Leximin("heaviest", heaviest, exact_share=heaviest_exactly)
    np.testing.assert_allclose([float(u) for u in fa.solve(KHAMSE, exact, "exact").tasks_exact], allocation.tasks, rtol=SHARES)
    assert fa.certify(fa.solve(KHAMSE, exact, "exact"))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ([1, 2], "shape (2,)"),
        ([0, 1, 1, 1], "is 0.0"),
        ([1, -1, 1, 1], "is -1.0"),
        ([np.nan] * 4, "is nan"),
        ([np.inf] * 4, "is inf"),
    ],
)
def test_a_share_that_is_none_is_refused_in_one_sentence(share, words):
    with pytest.raises(fa.FairallocError) as raised:
        fa.solve(KHAMSE, fa.Leximin("bad", lambda _: share))
    assert words in str(raised.value)
    assert "'bad'" in str(raised.value)


def test_bad_mechanisms_are_refused_in_one_sentence():
    class Nameless(Mechanism):
        def write_cvxpy(self, instance):
            return MostTasks().write_cvxpy(instance)

    class Empty(Mechanism):
        id = "empty"

    class NoTasks(Mechanism):
        id = "no-tasks"

        def write_cvxpy(self, instance):
            return cp.Problem(cp.Maximize(-cp.square(cp.Variable(name="y"))))

    for item, words in ((Nameless(), "the id"), (Empty(), "no model")):
        with pytest.raises(fa.FairallocError) as raised:
            fa.solve(KHAMSE, item)
        assert words in str(raised.value)
    assert "no variable 'x'" in fa.solve(KHAMSE, NoTasks()).message
    for layer, rule in (("cvxpy", r"a cvxpy\.Problem"), ("pyomo", "a ConcreteModel")):
        forgets = type("Forgets", (Mechanism,), {"id": "forgets", f"write_{layer}": lambda *_: None})
        with pytest.raises(fa.FairallocError, match=f"'forgets' returned NoneType, but it must return {rule}"):
            fa.solve(KHAMSE, forgets())
    for edit in (None, 3):
        with pytest.raises(fa.FairallocError):
            fa.mechanism("drfh").edited("bad", cvxpy=edit)
    broken = fa.mechanism("drfh").edited("broken", cvxpy=lambda problem, _: problem.var_dict["nothing"])
    with pytest.raises(fa.FairallocError, match="'broken' failed: KeyError"):
        fa.solve(KHAMSE, broken)
    with pytest.raises(fa.FairallocError, match=r"must return a cvxpy\.Problem"):
        fa.solve(KHAMSE, fa.mechanism("drfh").edited("none", cvxpy=lambda *_: None))


@pytest.mark.parametrize("name", ["ps-dsf", "ps-dsf-tdm", "alpha-pf-vds"])
def test_a_copy_of_the_model_of_a_game_is_not_solved_as_ours(name):
    """Methods and residuals read the game alone: a copy of ps_dsf.py with another capacity was called optimal as ps-dsf."""
    own = {"__name__": "copied"}
    exec(inspect.getsource(inspect.getmodule(type(fa.mechanism(name)))), own)
    for method in (None, "continuation", "cvxpy:highs"):
        with pytest.raises(fa.FairallocError, match="has another model than Equilibrium, whose methods it inherits"):
            fa.solve(KHAMSE, own["mechanism"], method)


@pytest.mark.parametrize("name", ["ps-dsf", "ps-dsf-tdm", "alpha-pf-vds", "njc", "nested-leximin", "nb"])
def test_a_class_that_changes_a_model_of_ours_is_not_solved_as_ours(name):
    """It had been solved by the fast methods of nb, or given up for our class as soon as its parameters were set."""
    ours = type(fa.mechanism(name))
    instance = fa.Instance([[1, 2], [2, 1]], [[4, 4]], groups={"both": [0, 1]} if name == "nested-leximin" else None)

    class Other(ours):
        def write_cvxpy(self, instance):
            return MostTasks().write_cvxpy(instance)

    class Renamed(ours):
        title = "the same model"

    for method in (None, "cvxpy:clarabel", "cvxpy:highs"):
        with pytest.raises(fa.FairallocError, match=f"Other has another model than {ours.__name__}, whose methods it inherits"):
            fa.solve(instance, Other(), method)
    assert type(Renamed().configure()) is Renamed
    assert fa.solve(instance, Renamed()).claims_success


@pytest.mark.parametrize(
    ("layer", "old", "new", "part"),
    [
        ("cvxpy", "cp.multiply(sigma / phi,", "cp.multiply(sigma / phi**2,", "fairness"),
        ("cvxpy", "arcs.load @ x <= 1)", "arcs.load @ x <= 0.9)", "capacity"),
        ("cvxpy", "[capacity, fairness,", "[capacity, fairness, (x[0] <= 1).set_label('mine'),", "mine"),
        ("cvxpy", "cp.Maximize(g)", "cp.Maximize(cp.sum(x))", "objective"),
        ("cvxpy", 'nonneg=True, name="x"', 'nonneg=True, integer=True, name="x"', "x"),
        ("cvxpy", 'nonneg=True, name="g"', 'bounds=[0, 0.05], name="g"', "g"),
        ("cvxpy", "arcs.owner @ x) >= g", "arcs.owner @ x) + cp.Variable(bounds=[0, 1], name='slack') >= g", "slack"),
        ("pyomo", "return pyomo_round(", "model.x[next(iter(model.x))].fix(0)\n        return pyomo_round(", "x"),
        ("pyomo", "sigma[n] / phi[n] * tasks[n]", "sigma[n] / phi[n] ** 2 * tasks[n]", "fairness"),
        ("pyomo", "load[row] <= 1", "load[row] <= 0.9", "capacity"),
        ("pyomo", "sense=pyo.maximize", "sense=pyo.minimize", "objective"),
    ],
)
def test_a_copy_of_the_model_of_drfh_whose_share_stays_is_not_solved_as_drfh(layer, old, new, part):
    """Fast methods had solved the share's model, and called that optimal. Methods of the layer take the text (test_pages.py)."""
    source = inspect.getsource(inspect.getmodule(type(fa.mechanism("drfh"))))
    assert old in source
    for text, other in ((source, False), (source.replace(old, new), True)):
        own = {"__name__": "copied"}
        exec(text.replace('"drfh"', '"my-drfh"').replace('("c-drfh",)', "()"), own)
        weighted = KHAMSE.replace(weights=[1, 2, 3, 4], max_tasks=[3, None, None, None])
        floored = weighted.replace(min_tasks=[1, 0, 0, 0])
        reads_the_text = f"{layer}:{'clarabel' if layer == 'cvxpy' else 'highs'}"
        if other:
            assert f"'{part}' differs" in fa.compare(weighted, [own["mechanism"], "nb"]).refused["my-drfh"]
            if part == "mine":  # tasks had been counted in units of the canonical instance
                assert fa.solve(KHAMSE, own["mechanism"], reads_the_text).x[0] == pytest.approx(1, abs=1e-6)
        for method in (None, "highs:leximin", *([] if other else [reads_the_text])):
            if other:
                with pytest.raises(fa.FairallocError, match=f"in {layer} is not that of its share: '{part}' differs"):
                    fa.solve(floored, own["mechanism"], None if method is None else "exact")
                with pytest.raises(fa.FairallocError, match=f"in {layer} is not that of its share: '{part}' differs"):
                    fa.solve(weighted, own["mechanism"], method)
            else:
                found = fa.solve(weighted, own["mechanism"], method)
                assert found.claims_success
                np.testing.assert_allclose(found.tasks, fa.solve(weighted, "drfh").tasks, rtol=SHARES)


def test_a_model_whose_rows_are_scaled_is_that_of_its_share():
    class Scaled(fa.Leximin):
        def write_cvxpy(self, instance, round=None):
            x, constraints = fa.cvxpy_tasks(instance)
            g = cp.Variable(nonneg=True, name="g")
            fairness = (cp.multiply(3 / instance.weights, instance.arcs.owner @ x) >= 3 * g).set_label("fairness")
            return cp.Problem(cp.Maximize(g), [constraints[0], fairness, *constraints[1:]])

    class Nothing(Scaled):
        def write_cvxpy(self, instance, round=None):
            return None

    class WithoutLevel(Scaled):
        def write_cvxpy(self, instance, round=None):
            return MostTasks().write_cvxpy(instance)

    for own, sentence in ((Nothing, "returned NoneType, but it must return a cvxpy.Problem"), (WithoutLevel, "'g' differs")):
        with pytest.raises(fa.FairallocError, match=sentence):
            fa.solve(KHAMSE, own("own", share=lambda instance: np.ones(instance.N)))
    scaled = Scaled("scaled", share=lambda instance: np.ones(instance.N))
    weighted = KHAMSE.replace(weights=[1, 2, 3, 4])
    np.testing.assert_allclose(fa.solve(weighted, scaled).tasks, fa.solve(weighted, "lmmf").tasks, rtol=SHARES)


def test_generated_instances_agree_between_an_own_model_and_ours():
    """Utilitarian once more, as a stranger writes it."""
    for seed in range(20):
        instance = generators.placement(6, 3, 2, seed)
        instance = instance.replace(weights=None)
        ours, own = fa.solve(instance, "utilitarian"), fa.solve(instance, MostTasks())
        assert own.values["objective"] == pytest.approx(ours.values["objective"], rel=SHARES)


# ---- edits that keep the rounds, and edits that do not --------------------------------------------------------------


def objective_in_cvxpy(goal):
    return lambda problem, _: cp.Problem(goal(problem.var_dict["g"]), problem.constraints)


def objective_in_pyomo(goal, sense=pyo.maximize):
    def edit(model, _):
        model.objective.deactivate()
        model.mine = pyo.Objective(expr=goal(model.g), sense=sense)

    return edit


SLOPE = cp.Parameter(value=2.0)
SAME = {
    "once": {"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(1 * g))},
    "twice and three": {"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(2 * g + 3))},
    "less of minus": {"cvxpy": objective_in_cvxpy(lambda g: cp.Minimize(1 - g / 7))},
    "sum": {"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(cp.sum(g)))},
    "parameter": {"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(SLOPE * g))},
    "twice in pyomo": {"pyomo": objective_in_pyomo(lambda g: 2 * g)},
    "and nothing in pyomo": {"pyomo": objective_in_pyomo(lambda g: g + 0)},
    "less of minus in pyomo": {"pyomo": objective_in_pyomo(lambda g: 5 - g, pyo.minimize)},
}


@pytest.mark.parametrize("name", SAME)
def test_a_level_written_otherwise_keeps_the_rounds(name):
    edited = fa.mechanism("drfh").edited(name, **SAME[name])
    for method in [None] if "cvxpy" in SAME[name] else ["pyomo:highs", "pyomo:ipopt"]:
        allocation = fa.solve(KHAMSE, edited, method)
        np.testing.assert_allclose(allocation.tasks, [3, 3, 8, 8], rtol=SHARES)
        assert not allocation.message
        assert allocation.claims_success
        assert allocation.prices.min() >= -RESIDUAL, "whatever the sense of the objective"


def loose(problem, instance):
    """A constraint of the same name."""
    x, g = problem.var_dict["x"], problem.var_dict["g"]
    return cp.Problem(problem.objective, [problem.constraints[0], (instance.arcs.owner @ x / 40 >= g).set_label("fairness")])


def without_one(model, instance):
    model.fairness[instance.users[0]].deactivate()


def with_another(model, instance):
    model.fairness[instance.users[0]].set_value(model.x["u1", 0, "s1"] / 10 >= model.g)


def replaced(model, instance):
    model.del_component(model.fairness)
    tasks = {user: sum(x for key, x in model.x.items() if key[0] == user) for user in instance.users}
    model.fairness = pyo.Constraint(instance.users, rule=lambda m, user: tasks[user] >= m.g)


def curved(problem, _):
    return cp.Problem(problem.objective, [*problem.constraints, cp.square(problem.var_dict["x"][0]) >= 1])


def whole(problem, instance):
    tasks = cp.Variable(instance.N, integer=True)
    return cp.Problem(problem.objective, [*problem.constraints, tasks == instance.arcs.owner @ problem.var_dict["x"]])


FAIRNESS = '"fairness" are not those of the rule'
LOST = {
    "falling": ({"cvxpy": objective_in_cvxpy(cp.Minimize)}, "rises with g alone"),
    "nothing": ({"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(0 * g))}, "rises with g alone"),
    "logarithm": ({"cvxpy": objective_in_cvxpy(lambda g: cp.Maximize(cp.log(g)))}, "rises with g alone"),
    "falling in pyomo": ({"pyomo": objective_in_pyomo(lambda g: -g)}, "rises with g alone"),
    "square in pyomo": ({"pyomo": objective_in_pyomo(lambda g: -((1 - g) ** 2))}, "rises with g alone"),
    "fixed in pyomo": ({"pyomo": lambda model, _: model.g.fix(0.1)}, "rises with g alone"),
    "loose": ({"cvxpy": loose}, FAIRNESS),
    "without one": ({"pyomo": without_one}, FAIRNESS),
    "with another": ({"pyomo": with_another}, FAIRNESS),
    "replaced": ({"pyomo": replaced}, FAIRNESS),
    "bounded": (
        {"cvxpy": lambda problem, _: cp.Problem(problem.objective, [*problem.constraints, problem.var_dict["g"] <= 0.1])},
        "about the level g",
    ),
    "bounded in pyomo": ({"pyomo": lambda model, _: model.g.setub(0.1)}, "about the level g"),
    "curved": ({"cvxpy": curved}, "not proved to be convex"),
    "whole": ({"cvxpy": whole}, "has integers"),
}


@pytest.mark.few(7)
@pytest.mark.parametrize("name", LOST)
def test_an_edit_that_drops_the_rounds_says_so(name):
    edit, words = LOST[name]
    edited = fa.mechanism("drfh").edited(name, **edit)
    allocation = fa.solve(KHAMSE, edited)
    assert "the edit makes 'drfh' one program without its later rounds" in allocation.message
    assert words in allocation.message
    assert fa.check(allocation, edited).holds is not False, "it is an answer of what it says it is"


def test_the_sign_of_a_parameter_decides_at_every_solve():
    slope = cp.Parameter(value=2.0)
    edited = fa.mechanism("drfh").edited("signed", cvxpy=objective_in_cvxpy(lambda g: cp.Maximize(slope * g)))
    for value in (2.0, -1.0, 3.0, 0.0):
        slope.value = value
        allocation = fa.solve(KHAMSE, edited)
        assert bool(allocation.message) is (value <= 0)
        if value > 0:
            np.testing.assert_allclose(allocation.tasks, [3, 3, 8, 8], rtol=SHARES)


def test_an_edit_that_keeps_the_rounds_in_one_layer_alone_is_refused_in_the_other():
    edited = fa.mechanism("drfh").edited("torn", cvxpy=lambda problem, _: problem, pyomo=without_one)
    np.testing.assert_allclose(fa.solve(KHAMSE, edited, "cvxpy:highs").tasks, [3, 3, 8, 8], rtol=SHARES)
    with pytest.raises(fa.FairallocError, match="keeps the rounds in cvxpy, but not in pyomo"):
        fa.solve(KHAMSE, edited, "pyomo:highs")


def test_a_convex_constraint_in_pyomo_holds_in_every_round():
    def cap(model, instance):
        model.cap = pyo.Constraint(expr=sum(x for key, x in model.x.items() if key[0] == instance.users[3]) ** 2 <= 9)

    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("curved cap", pyomo=cap))
    np.testing.assert_allclose(allocation.tasks, [3, 3, 13, 3], rtol=SHARES)
    assert allocation.claims_success


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_tasks_are_one_number_for_each_arc(layer):
    class Odd(Mechanism):
        id = "odd"

    class InPairs(Odd):
        def write_cvxpy(self, instance):
            x = cp.Variable((instance.N, instance.K), nonneg=True, name="x")
            return cp.Problem(cp.Maximize(cp.sum(x)), [x <= 1])

    class InTwo(Odd):
        def write_pyomo(self, instance):
            model = pyo.ConcreteModel()
            model.x = pyo.Var(range(2), bounds=(0, 1))
            model.goal = pyo.Objective(expr=model.x[0] + model.x[1], sense=pyo.maximize)
            return model

    item, shape = (InPairs(), r"\(4, 2\)") if layer == "cvxpy" else (InTwo(), r"\(2,\)")
    found = fa.solve(KHAMSE, item)
    assert found.termination == "error"
    assert re.search(rf"'x' of the model of 'odd' has the shape {shape}, but it must be \({KHAMSE.A},\)", found.message)


def test_one_variable_x_that_the_model_does_not_use_has_the_wrong_shape():
    """HiGHS leaves it out, so it has no value either."""

    def alone(model, _):
        model.del_component("x")
        model.x = pyo.Var()

    found = fa.solve(KHAMSE, fa.mechanism("utilitarian").edited("alone", pyomo=alone), "pyomo:highs")
    assert found.termination == "error"
    assert f"has the shape (1,), but it must be ({KHAMSE.A},)" in found.message


def test_names_of_prices_may_be_those_of_something_else():
    """In Pyomo "capacity" by numbers, and in CVXPY "kappa" of another size, are no prices."""

    class ByNumber(Spread):
        def write_pyomo(self, instance):
            model = super().write_pyomo(instance)
            rows = [row.body for row in model.capacity.values()]
            model.del_component("capacity")
            model.capacity = pyo.Constraint(range(len(rows)), rule=lambda _, k: rows[k] <= 1)
            return model

    class WithKappa(MostTasks):
        def write_cvxpy(self, instance):
            problem = super().write_cvxpy(instance)
            return cp.Problem(problem.objective, [*problem.constraints, cp.Variable(3, name="kappa") == 1])

    class WithBlock(Spread):
        def write_pyomo(self, instance):
            model = super().write_pyomo(instance)
            model.part = pyo.Block()
            model.part.x = pyo.Var(bounds=(0, 1))
            model.part.least = pyo.Constraint(expr=model.part.x >= 0.5)
            return model

    for item in (ByNumber(), WithKappa(), WithBlock()):
        assert fa.solve(KHAMSE, item).claims_success


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ([1, 2, 1j, 4], r"is \[1, 2, 1j, 4\], but it must be an array of numbers"),
        (["a"] * 4, r"is \['a', .*\], but it must be an array of numbers"),
        (1.0, r"has shape \(\), but it must be \(4,\), one a user"),
        ([1, 2, np.nan, 4], "for user 'u3' is nan, but it must be positive"),
    ],
)
def test_shares_of_ones_own_are_positive_numbers(share, words):
    with pytest.raises(fa.FairallocError, match=f"the share of 'mine' {words}"):
        fa.solve(KHAMSE, fa.Leximin("mine", lambda _: share))


@pytest.mark.parametrize("floors", [None, [0.2, 0, 0, 0]])
def test_a_share_is_asked_each_time(floors):
    """What it read from outside the first time stayed with the instance: the answer to other numbers was "optimal" as it was."""
    weight = {"first": 1.0}
    instance = generators.generic(4, 2, 2, 1).replace(min_tasks=floors)

    def share(one):
        return global_dominant_share(one) / np.array([weight["first"], *[1.0] * (one.N - 1)])

    mine = fa.Leximin("mine", share, exact_share=lambda one: tuple(Fraction(float(s)) for s in share(one)))
    before = fa.solve(instance, mine).tasks
    weight["first"] = 2.0
    for method in (None, "highs:leximin", "exact"):
        after = fa.solve(instance, mine, None if floors else method)
        assert after.tasks[0] > 1.1 * before[0]
        assert fa.check(after, mine).holds
    np.testing.assert_allclose(fa.solve_many([instance, generators.generic(4, 2, 2, 2)], mine)[0].tasks, after.tasks, rtol=SHARES)
