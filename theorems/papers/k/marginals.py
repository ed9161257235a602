"""What a task is worth at given tasks, for whole alpha_i: h_a = g_i'(x_n / (phi_n gamma_ni)) / gamma_ni at each arc a = (n, i).

g_i'(z) = (A / z)^alpha_i + B / z                                                                                     (K 22)
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.theorems.cases import Case


def alphas(case: Case) -> list[Any]:
    """Alpha of each server."""
    alpha = case.parameters["alpha"]
    return list(alpha) if isinstance(alpha, tuple) else [alpha] * case.instance.K


def totals(instance: Instance, x: Rationals) -> list[Fraction]:
    """(A,) the tasks of each arc's user; NotApplicable where a user has none, for g' is not defined there."""
    arcs = exact_arcs(instance)
    tasks = arcs.tasks(x)
    if not all(tasks):
        raise NotApplicable("a user has no task")
    return [tasks[n] for n in arcs.user]


def worths(
    instance: Instance, x: Rationals, alpha: Sequence[int], A: Fraction = Fraction(1), B: Fraction = Fraction(0)
) -> list[tuple[Fraction, Fraction]]:
    """(A,) both terms of h at tasks x (A,) for alpha of each server; a solution pays their sum for what runs."""
    arcs, phi = exact_arcs(instance), instance.exact.weights
    each = zip(arcs.user, instance.arcs.server.tolist(), unit(instance, arcs), totals(instance, x), strict=True)
    return [((A * one / have) ** int(alpha[i]) * phi[n] / one, B * phi[n] / have) for n, i, one, have in each]
