"""The loop over the rounds of nested max-min fairness (formulations/lexicographic/nested.py)."""

from collections.abc import Callable

import numpy as np

from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.formulations.lexicographic.nested_proof import proved_rounds
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree


def solve_nested_rounds(
    mechanism: NestedMaxMin, instance: Instance, solver: Callable[[NestedRound], tuple[Floats, Floats]], tolerance: float
) -> tuple[Floats, Floats]:
    """All rounds of groups and users: tasks of the last, (rounds, K, R) prices."""
    answers = list(proved_rounds(Tree.of(instance), mechanism.first(instance), solver, tolerance))
    return answers[-1][0], np.array([prices for _, prices in answers])
