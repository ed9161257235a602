"""The day: what changes from minute to minute, and what a start from the minute before and derivatives are worth."""

from itertools import pairwise

import numpy as np
import pytest

from fairalloc.analysis.active_set import moves
from fairalloc.benchmarks import SUITES
from fairalloc.benchmarks.suites.day import MINUTES, SWING, at, carried, predicted, resolved
from fairalloc.formulations import mechanism
from fairalloc.models.feasibility import infeasibility
from fairalloc.solvers import solve

DAY = [at(minute) for minute in range(200)]
CHANGED = [k for k in range(1, len(DAY)) if DAY[k].users != DAY[k - 1].users]


def test_the_cases_are_all_minutes_of_both_mechanisms():
    cases = SUITES["day"].cases
    assert len(cases) == 2 * MINUTES
    assert cases[MINUTES + 7].build() == DAY[7]


def test_one_user_at_a_time_comes_or_goes_and_capacities_drift():
    assert 5 < len(CHANGED) < 40
    for now, later in pairwise(DAY):
        assert len(set(now.users) ^ set(later.users)) <= 1
        drift = np.abs(later.capacities / now.capacities - 1.0)
        assert 0 < drift.max() < 2.0 * np.pi * SWING / MINUTES / (1.0 - SWING)
    assert {len(DAY[k].users) - len(DAY[k - 1].users) for k in CHANGED} == {1, -1}


def test_who_comes_has_an_equal_part_and_all_others_what_they_had():
    comes = next(k for k in CHANGED if DAY[k].N > DAY[k - 1].N)
    before, now = solve(DAY[comes - 1], "nb"), DAY[comes]
    start = carried(before, now)
    (who,) = set(now.users) - set(before.instance.users)
    old = dict(zip(before.instance.users, before.tasks, strict=True))
    for user, tasks in zip(now.users, start.tasks, strict=True):
        n = now.users.index(user)
        equal = now.arcs.gamma[now.arcs.user == n].sum() / now.N
        assert tasks == pytest.approx(equal if user == who else old[user] * (1.0 - 1.0 / now.N), rel=1e-12)
    goes = next(k for k in CHANGED if DAY[k].N < DAY[k - 1].N)
    before = solve(DAY[goes - 1], "nb")
    stay = [n for n, user in enumerate(before.instance.users) if user in DAY[goes].users]
    np.testing.assert_array_equal(carried(before, DAY[goes]).tasks, before.tasks[stay])


def test_predictions_are_right_to_first_order():
    """The error of tasks and the residual at half the way are a quarter."""
    item, start = mechanism("nb"), solve(DAY[0], "nb")
    along = moves(start, item)
    errors, residuals = [], []
    for part in (0.5, 1.0):
        near = DAY[0].replace(capacities=DAY[0].capacities + part * (at(9).capacities - DAY[0].capacities))
        guess = predicted(start, along, near)
        assert infeasibility(guess) <= 1e-12
        errors.append(np.abs(guess.tasks / solve(near, "nb").tasks - 1.0).max())
        residuals.append(item.residual(guess))
    assert errors[1] / errors[0] == pytest.approx(4.0, rel=0.25)
    assert residuals[1] / residuals[0] == pytest.approx(4.0, rel=0.25)


def test_half_an_hour_by_the_minute():
    found = resolved("nb", range(30))
    steps = found.steps
    assert [len(steps[way]) for way in ("cold", "warm")] == [29, 29]
    assert len(steps["predicted"]) == 29 - found.changed - 1
    assert max(step.residual for way in ("cold", "warm") for step in steps[way]) <= 1e-6
    assert sum(step.iterations for step in steps["warm"]) < 0.7 * sum(step.iterations for step in steps["cold"])
    assert found.bad == sum(step.residual > 1e-6 for step in steps["predicted"])
    assert 0 < found.bad < len(steps["predicted"])
    assert len(found.derived) == found.changed + found.bad + 1
    text = found.table().blocks(1)[0].text()
    assert f"{found.bad} predictions were bad" in " ".join(text.split())
    loose = resolved("nb", range(10), accuracy="low")
    assert loose.bad == 0
    drfh = resolved("drfh", range(6))
    assert drfh.steps["predicted"] == drfh.derived == []
    assert max(step.residual for step in drfh.steps["warm"]) <= 1e-6
