"""Section V: Lemma 4, the proofs of Theorems 1 and 2, and unused resources that are allocated.

What the cases of the proof of Theorem 1 conclude, that an allocation is not LMMF, does not rest on the other one being LMMF, so
they are tried on any two allocations, where they say something.
"""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import holdings_of, verdict_of
from fairalloc.theorems.checkers.trials import Answer, Routes, once
from fairalloc.theorems.papers.z.utilities import TINY, bundles_of, pivots_of, some_pivots, utilities_of


def _unused(h: Holdings) -> Any:
    return np.maximum(h.pools - h.bundles.sum(axis=0), 0)


def lemma_4(wasteful: bool, case: Case, answer: Answer) -> Verdict:
    """u_i(Y_i) >= u'_i(Y_i), with D' the reported demands: Y_i is what i's tasks take, or that and all that is left unused."""
    if case.misreport is None:
        raise NotApplicable("there is no other specification of demands")
    h = holdings_of(answer(case.instance))
    other, left = _dual(case, h.exact), _unused(h) * int(wasteful)
    gaps = [(other.utilities(n, h.bundles[n : n + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
    return verdict_of(h, "lemma", max(gaps), "the other demands pack more tasks into the same resources")


def _dual(case: Case, exact: bool) -> Holdings:
    """What users can run by the reported demands."""
    return Holdings(Allocation(case.reported, np.zeros(len(case.reported.arcs))), exact)


def envy(leftovers: bool, case: Case, answer: Answer) -> Verdict:
    """Nobody prefers another's resources, or these and all unused ones, which Definition 1 allows to give to one user.

    A weight w_n stands for f_n(u) = u / w_n, and is not asked here.
    """
    h = holdings_of(answer(case.reported))
    left, pairs = _unused(h) * int(leftovers), permutations(range(h.instance.N), 2)
    gaps = [(h.utilities(n, h.bundles[m : m + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n, m in pairs]
    return verdict_of(h, "envy-freeness", max(gaps), "somebody would run more tasks with what another user is given")


def misreporting_with_leftovers(case: Case, answer: Answer) -> Verdict:
    """A misreport where the user can also use what is unused after it; before it no unused resource helps anybody."""
    assert case.misreport is not None, "the statement is about misreports"
    h, reported = holdings_of(answer(case.instance)), holdings_of(answer(case.reported))
    bundles = reported.bundles + _unused(reported)
    gains = [(h.utilities(n, bundles[n : n + 1])[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
    words = "a misreporting user runs more with its bundle and the unused resources"
    return verdict_of(h, "strategyproofness", min(gains), words)


class Manipulation:
    """Y, of what tasks take by the true demands D, and Y', of what they take by the report D' of user i; any such allocations.

    h, dual : what users can run by D and by D'
    first, second : Y and Y', (N, 1, R)
    by_truth, by_report : utilities u in Y and in Y', and u' in Y' and in Y
    """

    def __init__(self, case: Case) -> None:
        """Y is the first point of a case. In Y' user i runs its tasks of the second point by its report, and all that fits."""
        if case.misreport is None:
            raise NotApplicable("nobody misreports")
        (self.i,) = case.misreport.users
        (self.h, (self.first, second)), self.dual = bundles_of(case), _dual(case, True)
        rows = self.dual.demand[self.dual.own(self.i)]
        second[self.i] = second[self.i].sum() * rows.sum(axis=0) / len(rows)
        spare = [c / u for c, u in zip(self.h.pools[0], second.sum(axis=0)[0], strict=True) if u > c]
        self.second = second * min(spare, default=1)
        self.by_truth = utilities_of(self.h, self.first), utilities_of(self.h, self.second)
        self.by_report = utilities_of(self.dual, self.second), utilities_of(self.dual, self.first)

    @property
    def pivots(self) -> tuple[list[int], list[int]]:
        """theta(Y, Y') and theta(Y', Y), by u."""
        u, v = self.by_truth
        return some_pivots(u, v), pivots_of(v, u)

    @property
    def rise(self) -> Any:
        """What the pivots of Y' have in Y' beyond what those of Y have in Y."""
        (u, v), ((q, *_), (other, *_)) = self.by_truth, self.pivots
        return v[other] - u[q]

    @property
    def gain(self) -> Any:
        """What user i has more in Y' than in Y."""
        u, v = self.by_truth
        return v[self.i] - u[self.i]

    def refutes_first(self) -> bool:
        """Whether Y is not LMMF for D, by a step to Y'."""
        return improved(self.h, self.first, self.second)

    def refutes_second(self) -> bool:
        """Whether Y' is not LMMF for D', by a step to Y."""
        return improved(self.dual, self.second, self.first)


def improved(h: Holdings, start: Any, end: Any) -> bool:
    """Whether a tiny step leads to a larger allocation."""
    return is_larger(utilities_of(h, start * (1 - TINY) + end * TINY), utilities_of(h, start))


def is_larger(one: list[Any], other: list[Any]) -> bool:
    """Lexicographically, by counting: at the least level where the counts of users with at most that differ, `one` has fewer."""
    for level in sorted({*one, *other}):
        ours, theirs = (sum(bool(value <= level) for value in values) for values in (one, other))
        if ours != theirs:
            return ours < theirs
    return False


def step_of_theorem_1(check: Callable[[Manipulation], bool]) -> Routes:

    def decide(case: Case) -> Verdict:
        at = Manipulation(case)
        holds, (u, v) = check(at), at.by_truth
        words = f"Y gives {[str(a) for a in u]} and Y' {[str(b) for b in v]}, and user {at.i + 1} misreports"
        return verdict_of(at.h, "theorem 1", -1 if holds else 1, words)

    return once(decide)


def case_1(at: Manipulation) -> bool:
    """The pivots of Y have less than those of Y': Y' is the larger one."""
    if not at.rise > 0:
        raise NotApplicable("the pivots of Y' do not have more")
    u, v = at.by_truth
    return is_larger(v, u)


def case_2(at: Manipulation) -> bool:
    """Both have as much: no pivot is one of both, those of Y have more in Y', and Y is not LMMF."""
    if at.rise != 0:
        raise NotApplicable("the pivots do not have as much")
    (u, v), (first, second) = at.by_truth, at.pivots
    return not {*first} & {*second} and all(v[q] > u[q] for q in first) and at.refutes_first()


def case_3(at: Manipulation) -> bool:
    """The pivots of Y' have less, and user i gains: they are pivots for D' as well, and Y' is not LMMF for D'."""
    if not at.rise < 0 < at.gain:
        raise NotApplicable("the pivots of Y' do not have less, or nobody gains")
    _, second = at.pivots
    return {*second} <= {*pivots_of(*at.by_report)} and at.refutes_second()


def gainer_is_a_pivot(at: Manipulation) -> bool:
    """If user i gains, it is a pivot of Y; else, as the cases say, Y is not LMMF for D or Y' is not for D'."""
    if not at.gain > 0:
        raise NotApplicable("nobody gains")
    return at.i in at.pivots[0] or at.rise > 0 or at.refutes_first() or at.refutes_second()


def nothing_of_a_richer_bundle(case: Case, answer: Answer) -> Verdict:
    """Case 2 of the proof of Theorem 2: if user i has less than user j, what j has is worth nothing to i."""
    h = holdings_of(answer(case.reported))
    same = 0 if h.exact else TOLERANCE
    pairs = [(n, m) for n, m in permutations(range(h.instance.N), 2) if h.tasks[m] - h.tasks[n] > same * h.alone[n]]
    if not pairs:
        raise NotApplicable("all have as much")
    worth, n, m = max((h.utilities(n, h.bundles[m : m + 1])[0] / h.alone[n], n, m) for n, m in pairs)
    words = f"user {n + 1} runs {h.tasks[n]} tasks and user {m + 1} {h.tasks[m]}, whose bundle is worth something to it"
    return verdict_of(h, "theorem 2", worth, words)
