"""The system from which nothing is eliminated: its steps are those of the other one, which takes over where rows lack much."""

import importlib

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.models.examples import generators
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairArrow
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.interior_point.program import ArrowProgram
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.interior_point.whole import WholeSystem, whole_matrix
from fairalloc.solvers.kkt.schur import NEGLIGIBLE
from fairalloc.solvers.method import Limits

module = importlib.import_module("fairalloc.solvers.interior_point.whole")


@pytest.mark.parametrize("family", ["generic", "finite", "placement", "variants"])
@pytest.mark.parametrize("name", ["nb", "fds"])
def test_steps_are_those_of_the_system_with_users_eliminated(family, name):
    item = fa.mechanism(name).configure(**({"alpha": 2} if name == "fds" and family != "variants" else {}))
    if family == "variants" and name == "fds":
        pytest.skip("fds has one demand vector for each user")
    scaled, _ = item.canonical(getattr(generators, family)(8, 3, 2, 1))
    arrow = AlphaFairArrow(item, scaled).compile(InteriorPointOptions())
    now = arrow.start(Limits())
    lack, over = arrow.residuals(now), arrow.towards(now)
    whole = WholeSystem(arrow, whole_matrix(scaled, arrow.tasks), now).step(now, lack, over)
    other = ArrowSystem(arrow, now, Way(arrow.plan, refined=True, negligible=NEGLIGIBLE)).step(now, lack, over)
    for part in ("primal", "dual"):
        one, two = getattr(whole, part), getattr(other, part)
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(two).max())
    then = arrow.residuals(now.after(whole, 1.0, 1.0))
    assert max(np.abs(part).max() for part in (then.rows, then.users, then.limits, then.arcs)) <= 1e-12


def test_large_matrices_are_not_formed():
    small, large = generators.generic(20, 5, 2, 1), generators.generic(60, 20, 3, 1)
    assert whole_matrix(small, np.ones(20)).shape == (30, 100)
    assert whole_matrix(large, np.ones(60)) is None


def test_where_rows_lack_too_much_users_are_eliminated(monkeypatch):
    taken, solved, system = [], module.solved, ArrowProgram._predicted

    def roughly(factor, right):
        return solved(factor, right) * (1.0 + 1e-2)

    def noted(self, *iterate):
        found = system(self, *iterate)
        taken.append(type(found[0]))
        return found

    expected = fa.solve(generators.generic(20, 5, 2, 3), "nb", "interior-point")
    monkeypatch.setattr(ArrowProgram, "_predicted", noted)
    fa.solve(expected.instance, "nb", "interior-point")
    assert WholeSystem in taken
    taken.clear()
    monkeypatch.setattr(module, "solved", roughly)
    found = fa.solve(expected.instance, "nb", "interior-point")
    assert taken[-1] is ArrowSystem
    assert WholeSystem not in taken[taken.index(ArrowSystem) :]
    assert found.termination == "optimal"
    np.testing.assert_allclose(found.tasks, expected.tasks, rtol=1e-9)
