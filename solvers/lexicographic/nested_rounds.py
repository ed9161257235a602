"""The rounds of nested max-min fairness: as sparse arrays, and the loop over them (formulations/lexicographic/nested.py)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.lexicographic.nested import NestedRound, proved_rounds
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree


def solve_nested_rounds(
    mechanism: NestedMaxMin, instance: Instance, solver: Callable[[NestedRound], tuple[Floats, Floats]], tolerance: float
) -> tuple[Floats, Floats]:
    """All rounds of groups and users: tasks of the last, (rounds, K, R) prices."""
    rounds = proved_rounds(Tree.of(instance), mechanism.first(instance), solver, tolerance)
    answers = [(x, prices) for x, prices, _ in rounds]
    return answers[-1][0], np.array([prices for _, prices in answers])


def nested_lp(instance: Instance, now: NestedRound, inside: Any = slice(None)) -> LP:
    """A round as sparse arrays, on all arcs or those `inside`: capacity rows, kept nodes, active nodes, limits; g is last."""
    arcs, capped = instance.arcs, np.isfinite(instance.max_tasks)
    user, shares = arcs.user[inside], Tree.of(instance).shares.tocsc()
    V, owner = shares[:, user].tocsr(), sp.eye_array(instance.N, format="csc")[:, user].tocsr()
    parts = [arcs.load.tocsc()[:, inside], V[now.kept], V[now.active], owner[capped]]
    matrix = sp.vstack(parts, format="csr")
    first = sum(part.shape[0] for part in parts[:2])
    rows = np.arange(first, first + parts[2].shape[0])
    g = sp.csr_array((-np.ones(len(rows)), (rows, np.zeros(len(rows), int))), shape=(matrix.shape[0], 1))
    free, limits = np.full(parts[0].shape[0], np.inf), instance.max_tasks[capped]
    lower = [-free, now.floor[now.kept], now.base[now.active], np.full(len(limits), -np.inf)]
    upper = [np.ones(len(free)), np.full(first - len(free) + len(rows), np.inf), limits]
    cost, whole = np.append(np.zeros(len(user)), 1.0), sp.hstack([matrix, g], format="csc")
    return LP(cost, whole, np.concatenate(lower), np.concatenate(upper), np.full(len(cost), np.inf))
