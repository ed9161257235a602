"""Dynamic DRF against its definition in rationals, its CVXPY model, and what Kash, Procaccia and Shah prove of it."""

from collections.abc import Sequence
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairalloc import Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.simulation import arrival_model, arrivals

Rows = Sequence[Sequence[Q]]

parts = st.sampled_from([Q(0), Q(1, 10), Q(1, 4), Q(1, 3), Q(1, 2), Q(4, 5), Q(1)])
weights = st.sampled_from([Q(1), Q(1), Q(1, 2), Q(3)])


@st.composite
def populations(draw: st.DrawFn) -> tuple[list[list[Q]], list[Q]]:
    n, resources = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    rows = [[draw(parts) for _ in range(resources)] for _ in range(n)]
    for row in rows:
        row[draw(st.integers(0, resources - 1))] = Q(1)
    return rows, [draw(weights) for _ in range(n)]


def instance_of(rows: Rows, phi: Sequence[Q]) -> Instance:
    return Instance([[float(v) for v in row] for row in rows], [[1.0] * len(rows[0])], weights=[float(v) for v in phi])


def fits(rows: Rows, phi: Sequence[Q], s: Sequence[Q], cautious: bool) -> bool:
    """The rows of the program, of the users up to len(s), but for the rounding of shares in floating point."""
    here, rest = sum(phi[: len(s)]), sum(phi[len(s) :])
    for r in range(len(rows[0])):
        taken = [row[r] * share for row, share in zip(rows, s, strict=False)]
        kept = rest * max(t / w for t, w in zip(taken, phi, strict=False)) if cautious else 0
        if sum(taken) + kept > (1 if cautious else here / (here + rest)) * (1 + Q(1, 10**9)):
            return False
    return True


def envied(rows: Rows, phi: Sequence[Q], s: Sequence[Q], slack: Q) -> set[tuple[int, int]]:
    """Pairs (i, j) where i would run more with what j has, by weight."""
    pairs = set()
    for i in range(len(s)):
        for j in range(len(s)):
            own = min(rows[j][r] * s[j] / phi[j] * phi[i] / rows[i][r] for r in range(len(rows[i])) if rows[i][r])
            if own > s[i] * (1 + slack):
                pairs.add((i, j))
    return pairs


@pytest.mark.parametrize("cautious", [False, True])
@given(population=populations())
def test_levels_are_the_largest_and_envy_is_what_is_proved(cautious: bool, population: tuple[list[list[Q]], list[Q]]) -> None:
    rows, phi = population
    had: list[Q] = []
    for k, step in enumerate(arrivals(instance_of(rows, phi), cautious=cautious)):
        assert step.user == k
        assert not step.tasks[k + 1 :].any()
        before, had = [*had, Q(0)], [Q(x) for x in step.tasks[: k + 1].tolist()]
        assert fits(rows, phi, had, cautious)
        higher = min(s / w for s, w in zip(had, phi, strict=False)) * (1 + Q(1, 10**6))
        assert not fits(rows, phi, [max(higher * w, b) for w, b in zip(phi, before, strict=False)], cautious)
        assert all(s >= b for s, b in zip(had, before, strict=True))
        assert all(s >= w / sum(phi) * (1 - Q(1, 10**8)) for s, w in zip(had, phi, strict=False))  # sharing incentive
        pairs = envied(rows, phi, had, Q(1, 10**7))
        assert not pairs if cautious else all(j < i for i, j in pairs)


@pytest.mark.parametrize("cautious", [False, True])
def test_the_model_has_the_same_levels(cautious: bool) -> None:
    rng = np.random.default_rng(3)
    pool = Instance(rng.uniform(0.1, 1.0, (5, 3)), rng.uniform(2.0, 4.0, (1, 3)), weights=rng.uniform(0.5, 2.0, 5))
    before = np.zeros(5)
    for k, step in enumerate(arrivals(pool, [4, 2, 0, 3, 1], cautious=cautious)):
        level = arrival_model(pool, [4, 2, 0, 3, 1][: k + 1], before, cautious=cautious).solve(solver="CLARABEL")
        assert level == pytest.approx(step.level, rel=1e-6)
        before = step.tasks


def test_the_last_step_of_equal_users_is_drf_and_the_first_ones_are_envied() -> None:
    rows = [
        [Q(1), Q(1, 2)],
        [Q(1), Q(1, 2)],
        [Q(1, 2), Q(1)],
        [Q(1, 2), Q(1)],
    ]
    steps = [step.tasks.round(12).tolist() for step in arrivals(instance_of(rows, [Q(1)] * 4))]
    assert steps == [[1 / 4, 0, 0, 0], [1 / 4, 1 / 4, 0, 0], [0.3, 0.3, 0.3, 0], [round(1 / 3, 12)] * 4]


def test_a_weight_that_rounding_loses_beside_others_has_its_part() -> None:
    """The first user may have 1e-20 of the server: its level is 1."""
    pool = Instance([[1.0, 0.5], [0.5, 1.0]], [[1.0, 1.0]], weights=[1e-20, 1])
    first = next(iter(arrivals(pool)))
    assert (first.level, first.tasks.tolist()) == (pytest.approx(1), [pytest.approx(1e-20), 0])


@pytest.mark.parametrize(
    ("given_to", "order", "words"),
    [
        (Instance([[1.0]], [[1.0]], max_tasks=[2]), None, "max_tasks"),
        (Instance([[1.0], [1.0]], [[1.0]]), [0, 0], "order is"),
        (Instance([[1.0], [1.0]], [[1.0]]), [0], "order is"),
        (Instance([[1.0], [1.0]], [[1.0], [1.0]], eligible=[[1, 0], [1, 1]]), None, "pooled"),
        (Instance([[1.0], [1.0]], [[1.0]], min_tasks=[0, 1]), None, "without min_tasks"),
        (Instance([[1.0], [1.0]], [[1.0]], groups={"one": [0]}), None, "without groups"),
    ],
)
def test_what_it_is_not_for_is_said(given_to: Instance, order: list[int] | None, words: str) -> None:
    with pytest.raises(NotApplicable, match=words):
        list(arrivals(given_to, order))
