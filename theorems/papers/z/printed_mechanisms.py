"""LMMF by its iterations as printed (III-A), how many steps NB takes (Proposition 2), and its market (Proposition 5)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.dual_solutions import BoundsCertificate
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import holdings_of, most_of, verdict_of
from fairalloc.theorems.checkers.trials import Answer, Undecided, exact_verdict
from fairalloc.theorems.papers.z.utilities import bundles_of, utilities_of

F = Fraction


def as_printed(case: Case, answer: Answer) -> Verdict:
    """III-A to the letter: round t places users who cannot have more without loss of users placed in rounds before t.

    Round 1 protects everybody. A round that places nobody is repeated unchanged without end: a violation of "terminates".
    """
    h = holdings_of(answer(case.reported))
    size, same = h.instance.N, 0 if h.exact else 1e-7
    levels: list[Any] = [None] * size
    for t in range(size):
        level = _next_level(h, levels)
        now = h.array([level if known is None else known for known in levels])
        protected = now if t == 0 else h.array([0 if known is None else known for known in levels])
        placed = [n for n in range(size) if levels[n] is None and most_of(h, n, protected) - level / h.alone[n] <= same]
        if not placed:
            return verdict_of(h, "terminates", 1, f"round {t + 1} places nobody, at {level} tasks")
        for n in placed:
            levels[n] = level
        if None not in levels:
            break
    far = max(abs(a - b) / g for a, b, g in zip(levels, h.tasks, h.alone, strict=True))
    return verdict_of(
        h, "terminates", far, f"it ends with {[str(v) for v in levels]} tasks instead of {[str(v) for v in h.tasks]}"
    )


def _next_level(h: Holdings, levels: Sequence[Any]) -> Any:
    """The largest equal utility of the users without a level: the least utility of these users in the leximin answer."""
    return min(u for u, known in zip(h.tasks, levels, strict=True) if known is None)


def linear_programs(case: Case, answer: Answer) -> Verdict:
    """Footnote 1: iteration t is max a s.t. user n runs a_i tasks if it was placed in iteration i < t, and a if in none.

    The value is the next level of the LMMF answer, and parts of what the tasks take are worth exactly this much to everybody.
    """
    h = holdings_of(answer(case.reported))
    size, same = h.instance.N, 0 if h.exact else TOLERANCE
    levels: list[Any] = [None] * size
    far = []
    while None in levels:
        level = _next_level(h, levels)
        best, bundles = _iteration(h, levels)
        far.append(abs(best - level) / h.alone.min())
        for n in range(size):
            aim, worth = best if levels[n] is None else levels[n], h.utilities(n, bundles[n : n + 1])[0]
            part = aim / worth if aim else 0
            far.append(abs(h.utilities(n, bundles[n : n + 1] * part)[0] - aim) / h.alone[n] + max(part - 1 - same, 0))
        levels = [
            u if known is None and u - level <= same * g else known for u, known, g in zip(h.tasks, levels, h.alone, strict=True)
        ]
    return verdict_of(h, "linear program", max(far), f"an iteration is {float(max(far)):.1e} off its linear program")


def _iteration(h: Holdings, levels: Sequence[Any]) -> tuple[Any, Any]:
    """The largest equal utility a of users without a level, and what the tasks of each user take, (N, 1, R)."""
    size, count = h.instance.N, len(h.instance.arcs)
    run = h.zeros(size, count + 1)
    run[h.instance.arcs.user, np.arange(count)] = h.array(np.ones(count, dtype=int))
    run[:, count] = h.array([-1 if known is None else 0 for known in levels])
    fixed = h.array([0 if known is None else known for known in levels])
    load = h.zeros(h.instance.R, count + 1)
    load[:, :count] = h.demand.T
    only = h.zeros(count + 1)
    only[count] = h.array([1])[0]
    found = maximum(only, np.concatenate([run, -run, load]), np.concatenate([fixed, -fixed, h.pools[0]]), h.exact)
    if found is None:
        raise Undecided("a linear program was not solved")
    bundles = h.zeros(size, 1, h.instance.R)
    for n, x, row in zip(h.instance.arcs.user.tolist(), found.z, h.demand, strict=False):
        bundles[n, 0] = bundles[n, 0] + x * row
    return found.value, bundles


def inside_one_allocation(case: Case, answer: Answer) -> Verdict:
    """The test of iteration 1 inside the case's point Y: who gains nothing from what Y leaves is placed for good."""
    h = holdings_of(answer(case.reported))
    own, (bundles,) = bundles_of(case, h.exact)
    u, least, same = utilities_of(own, bundles), min(h.tasks), 0 if h.exact else 1e-9
    if any(abs(v - least) > same * g for v, g in zip(u, h.alone, strict=True)):
        raise NotApplicable("the point is not an allocation of iteration 1")
    left = np.maximum(h.pools - bundles.sum(axis=0), 0)
    more = [h.utilities(n, bundles[n : n + 1] + left)[0] for n in range(h.instance.N)]
    placed = [n for n, v in enumerate(more) if v - least <= same * h.alone[n]]
    gaps = [((h.tasks[n] - least) / h.alone[n], n) for n in placed]
    if not gaps:
        return verdict_of(h, "leximin", -1, "nobody is placed in iteration 1")
    gap, n = max(gaps)
    words = f"user {h.instance.users[n]!r} is placed at {least} tasks, and is lexicographically max-min fair with {h.tasks[n]}"
    return verdict_of(h, "leximin", gap, words)


STEPS = 100
"""Iterations of an interior-point code that no case of these sizes needs; theory says O(sqrt(size) log(1/accuracy))."""


def few_steps(case: Case) -> Verdict:
    """Iterations of Clarabel, and where these are many, of Ipopt: two independent codes."""
    counts = []
    for method in ("cvxpy:clarabel", "pyomo:ipopt"):
        allocation = solve(case.reported, "nb", method)
        good = allocation.residual <= TOLERANCE and allocation.iterations is not None
        counts.append(allocation.iterations if good and allocation.iterations is not None else 10 * STEPS)
        if counts[-1] <= STEPS:
            break
    return exact_verdict("polynomial-time", min(counts) - STEPS, f"{min(counts)} iterations", "two interior-point codes")


def splits(case: Case, answer: Answer) -> Verdict:
    """With one resource everybody has an equal part of it (in proportion to the weights)."""
    h = holdings_of(answer(case.reported))
    if not h.pools[:, 0].sum():
        raise NotApplicable("there is none of the first resource")
    part = h.bundles[:, :, 0].sum(axis=1) / h.pools[:, 0].sum()
    expected = h.weights / h.weights.sum()
    far = [abs(a - b) for a, b in zip(part, expected, strict=True)]
    n = int(np.argmax([float(f) for f in far]))
    return verdict_of(h, "equal-split", far[n], f"user {h.instance.users[n]!r} has {float(part[n]):.9g} of the resource")


def bought_in_a_market(case: Case) -> Verdict:
    """Rational prices of a certificate: everybody buys its cheapest tasks for its income, what has a price is sold.

    Spending w_n / s_n u_n - 1 is at most sqrt(2 gap / w_n), so this is decided within the gap.
    """
    certificate = certified_answer(case.reported, "nb")
    if not isinstance(certificate, BoundsCertificate):
        return undecided(certificate, "certificate", "market")
    arcs = exact_arcs(case.reported)
    costs = [q + z for q, z in zip(arcs.cheapest(certificate.prices), certificate.limits, strict=True)]
    budgets, tasks = case.reported.exact.weights, arcs.tasks(certificate.x)
    far = max(abs(float(s * u / w - 1)) for s, u, w in zip(costs, tasks, budgets, strict=True))
    allowed = float(10 * (2 * certificate.gap / min(budgets)) ** F(1, 2)) + 1e-12
    return Verdict(
        "market", far <= allowed, far, f"somebody spends {1 + far} of its income", "rational arithmetic on a certificate"
    )
