"""`objective` of ps-dsf: the best of all answers by the list of all, by two mixed-integer programs, and who computes it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import RESIDUAL, VISIBLE

from fairalloc.analysis.certificates import certify
from fairalloc.analysis.properties import check
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.cli import main
from fairalloc.formulations import mechanism
from fairalloc.formulations.ps_dsf import LINEAR_OBJECTIVES, linear_objective
from fairalloc.models import Allocation, Instance, InstanceError, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.solvers import methods_for, solve
from fairalloc.solvers.exact import ps_dsf_pieces

TWO = example("two-answers").instance
PROGRAMS = ("cvxpy:highs", "pyomo:highs")
ROWS = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any), min_size=2, max_size=2)


@settings(max_examples=3)
@given(demands=ROWS, capacities=st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=2), min_size=2, max_size=2))
def test_the_list_of_all_answers_and_the_programs_agree(demands, capacities):
    instance = Instance(demands, capacities)
    for objective in LINEAR_OBJECTIVES:
        best = solve(instance, "ps-dsf", objective=objective)
        assert best.method == "psdsf-enumeration"
        assert best.residual <= RESIDUAL
        expected = solution_set(instance, "ps-dsf").best(objective)
        assert best.x_exact == expected.x
        assert best.values[objective] == pytest.approx(float(expected.value), rel=RESIDUAL)
        for method in PROGRAMS:
            assert solve(instance, "ps-dsf", method, objective=objective).values[objective] == pytest.approx(
                best.values[objective], rel=RESIDUAL
            )


def test_a_server_has_as_few_choices_as_sets_that_do_not_hold_each_other(monkeypatch):
    """Each of 6 users may have any of 8 resources as its bottleneck: 8^6 ways, which had been listed one by one."""
    seen, least = [], ps_dsf_pieces._least
    monkeypatch.setattr(ps_dsf_pieces, "_least", lambda found: seen.append(len(found)) or least(found))
    instance = Instance([[1 + (n * r) % 5 for r in range(8)] for n in range(6)], [[9] * 8])
    assert len(ps_dsf_pieces.ps_dsf_pieces(instance)) == 1
    assert max(seen) < 1000


def test_another_answer_is_worse():
    """What the methods without an objective end at need not be the best, and its value says so."""
    worst = min(solution_set(TWO, "ps-dsf").vertices, key=sum)
    cost = linear_objective(TWO, "tasks")
    value = float(sum(c * v for c, v in zip(cost, worst, strict=True)))
    assert value <= solve(TWO, "ps-dsf", objective="tasks").values["tasks"] - VISIBLE


def test_the_best_answer_has_a_certificate():
    best = solve(TWO, "ps-dsf", objective="utilisation")
    assert str(certify(best, "ps-dsf")).endswith("nothing proves that it is the best by 'utilisation'")
    assert best.parameters == {"objective": "utilisation"}


def test_another_answer_is_not_said_to_be_the_best():
    worst = min(solution_set(TWO, "ps-dsf").vertices, key=sum)
    given = Allocation(TWO, [float(v) for v in worst])
    assert check(given, "ps-dsf").sentence == "this is an allocation of ps-dsf"
    verdict = check(given, mechanism("ps-dsf", objective="tasks"))
    assert verdict.holds is None
    assert verdict.sentence.endswith("an allocation of ps-dsf, but nothing proves that it is the best by 'tasks'")


def test_larger_instances_go_to_the_mixed_integer_program():
    instance = generators.racks(8, 3, 2)
    best, any_one = solve(instance, "ps-dsf", objective="utilisation"), solve(instance, "ps-dsf")
    assert best.method in PROGRAMS
    assert best.residual <= RESIDUAL
    assert best.values["utilisation"] >= float(any_one.load.mean()) - RESIDUAL
    with pytest.raises(NotApplicable, match="10 arcs"):
        solve(instance, "ps-dsf", "psdsf-enumeration", objective="utilisation")


def test_who_computes_it():
    chosen = mechanism("ps-dsf").configure(objective="tasks")
    assert next(m.id for m in methods_for(chosen, TWO)) == "psdsf-enumeration"
    assert {"continuation", "best-response", "exact", "psdsf-algorithm-1"} & {m.id for m in methods_for(chosen)} == set()
    assert "psdsf-enumeration" not in {m.id for m in methods_for(mechanism("ps-dsf"))}
    with pytest.raises(NotApplicable, match="'continuation' does not compute 'ps-dsf' with the objective 'tasks'"):
        solve(TWO, "ps-dsf", "continuation", objective="tasks")
    with pytest.raises(InstanceError, match="objective is 'speed'"):
        solve(TWO, "ps-dsf", objective="speed")
    with pytest.raises(NotApplicable, match="one demand vector"):
        solve(Instance([[[1, 2], [2, 1]], [1, 1]], [[4, 4]]), "ps-dsf", objective="tasks")


def test_on_the_command_line(capsys):
    assert main(["solve", "two-answers", "-m", "ps-dsf", "--param", "objective=tasks", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["method"] == "psdsf-enumeration"
    assert said["values"]["tasks"] == 8
