"""Nested max-min fairness in rationals: the rounds of formulations/lexicographic/nested.py by the rational simplex method.

A node is fixed where the dual value of its row of the round is positive: by complementary slackness it has exactly the level of
the round in every optimal answer. These values add up to 1, so every round fixes a node.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.exact.proofs import ExactNestedRound
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_flint, as_fraction
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.instance import Instance
from fairalloc.models.tree import Tree
from fairalloc.solvers.exact.simplex import BasicSolution, Flint, RationalProgram


class SessionInRationals(Protocol):
    """What the rounds need of `ExactSession` (exact.py)."""

    mechanism: Mechanism
    instance: Instance
    original: Instance
    arcs: ExactArcs
    limited: list[int]

    def right_side(self, middle: Sequence[Flint]) -> list[Flint]:
        """Of all rows: capacities, those between, limits."""
        ...

    def basic_solution(self, program: RationalProgram, now: Any) -> BasicSolution:
        """The optimal one, from the basis in floats of this round."""
        ...


def nested_rounds(session: SessionInRationals) -> tuple[Rationals, tuple[ExactNestedRound, ...]]:
    """(A,) tasks, and the dual solution of every round."""
    item, tree = session.mechanism, ExactTree.of(session.original)
    assert isinstance(item, NestedMaxMin)
    nodes, floors = range(len(tree.depth)), list(tree.floors)
    base = tree.floors if item.compared == "borrowed" else (Fraction(0),) * len(nodes)
    now, rounds = item.first(session.instance), list[ExactNestedRound]()
    while now.active.any():
        active, kept = np.flatnonzero(now.active).tolist(), [k for k in nodes if floors[k] > 0]
        now = replace(now, floor=np.array(floors, dtype=float))
        solution = _round(session, tree, floors, base, active, kept, now)
        x = tuple(as_fraction(solution.values.get(a, 0)) for a in range(len(session.arcs.user)))
        level = as_fraction(solution.values.get(len(x), 0))
        rounds.append(_proof(session, solution, level, active, kept, len(floors)))
        for k in rounds[-1].nodes:
            floors[k] = base[k] + level
        fixed = np.isin(nodes, rounds[-1].nodes)
        now = now.after(Tree.of(session.instance), fixed, np.array(floors, dtype=float))
    return x, tuple(rounds)


def _round(
    session: SessionInRationals,
    tree: ExactTree,
    floors: list[Fraction],
    base: Rationals,
    active: list[int],
    kept: list[int],
    now: NestedRound,
) -> BasicSolution:
    """Rows: capacities, kept nodes, active nodes, limits, as in `NestedMaxMin.lp`."""
    rows = session.arcs.rows
    row_of = {k: rows + j for j, k in enumerate(kept)}
    rises = {k: rows + len(kept) + j for j, k in enumerate(active)}
    cap = {n: rows + len(kept) + len(active) + j for j, n in enumerate(session.limited)}
    columns: list[dict[int, Flint]] = []
    for n, load in zip(session.arcs.user, session.arcs.load, strict=True):
        column: dict[int, Flint] = {row: as_flint(part) for row, part in load}
        for k, share in tree.above[n].items():
            column |= {own[k]: as_flint(-share) for own in (row_of, rises) if k in own}
        columns.append(column | ({cap[n]: as_flint(1)} if n in cap else {}))
    columns.append({row: as_flint(1) for row in rises.values()})
    cost = [as_flint(0)] * (len(columns) - 1) + [as_flint(1)]
    middle = [as_flint(-floors[k]) for k in kept] + [as_flint(-base[k]) for k in active]
    return session.basic_solution(RationalProgram.of_rows(cost, columns, session.right_side(middle)), now)


def _proof(
    session: SessionInRationals, solution: BasicSolution, level: Fraction, active: list[int], kept: list[int], count: int
) -> ExactNestedRound:
    duals, rows = [as_fraction(value) for value in solution.dual_values], session.arcs.rows
    prices, rest = duals[:rows], duals[rows:]
    floors, rising, limits = ([Fraction(0)] * size for size in (count, count, len(session.arcs.limits)))
    for own, where in ((floors, kept), (rising, active), (limits, session.limited)):
        for k, value in zip(where, rest, strict=False):
            own[k] = value
        rest = rest[len(where) :]
    nodes = tuple(k for k in active if rising[k])
    return ExactNestedRound(level, nodes, *map(tuple, (prices, limits, rising, floors)))
