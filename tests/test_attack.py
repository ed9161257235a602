"""The program for the worst weights: its points are answers again, and its weights are at least as bad as the given ones."""

import numpy as np
import pytest
from tolerances import PATTERN

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance, InstanceError
from fairalloc.theorems.attack import Program, heavier
from fairalloc.theorems.cases import Case
from fairalloc.theorems.claims import statement
from fairalloc.theorems.hypotheses import Hypotheses

POINTS = 6


def points(name, parameters, hypotheses):
    """Allocations at random corners of what the program takes for answers, with the residual of each."""
    rng, found = np.random.default_rng(0), []
    while len(found) < POINTS:
        try:
            case = hypotheses.sample(rng).case()
            program = Program(Case(case.instance, parameters=parameters), name)
            answer = program.answer(case.instance)
        except InstanceError:  # users who cannot be pooled
            continue
        goal = rng.normal(size=case.instance.N) @ program.w + rng.normal(size=len(case.instance.arcs)) @ answer.x
        best = program.largest(goal)
        assert best is not None
        weighted = answer.instance.replace(weights=best[1])
        allocation = Allocation(weighted, np.maximum(answer.x.value, 0), name, "program", parameters=parameters)
        found.append(mechanism(name).configure(**parameters).residual(allocation))
    return found


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("drfh", {}),
        ("tsf", {}),
        ("nb", {}),
        ("ps-dsf", {}),
        ("alpha-pf-vds", {"alpha": 3}),
        ("alpha-pf-vds", {"alpha": 0.5}),
        ("njc", {}),
    ],
)
def test_every_point_is_an_answer_again(name, parameters):
    hypotheses = Hypotheses(one_server=True, unlimited=False) if name == "njc" else Hypotheses()
    assert max(points(name, parameters, hypotheses)) < PATTERN


def test_it_is_not_so_where_a_mechanism_looks_at_single_servers():
    """The test above can fail: on two servers the weights of drf-per-server decide on each."""
    assert max(points("drf-per-server", {}, Hypotheses())) > PATTERN


def test_the_weights_are_at_least_as_bad_as_the_given_ones():
    system = Instance([[1, 1], [1, 0]], [[1, 0], [1, 1]], eligible=[[1, 1], [0, 1]])
    claim = statement("K.Table1.tsf.sharing")
    before = claim.confirm(Case(system)).margin
    worse = heavier(Case(system), "tsf", "sharing-incentive")
    assert worse is not None
    assert claim.confirm(worse).margin >= before > 0
    assert heavier(Case(system), "tsf", "a property without a program") is None
    assert heavier(Case(system.replace(max_tasks=[1, None])), "tsf", "sharing-incentive") is None, "limits are not in it"
