"""One search of a statement, with seconds, trials and a size, which tells what it has found so far: in this process, or in a
child that is ended at its limit whatever it computes.

Cases that are known to violate the property of the mechanism are confirmed first, so that no limit leaves them out; they count
where the search finds none.
"""

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.solvers.running.time_limits import AVAILABLE, alarm, end_of, isolated, watched
from fairalloc.theorems.cases import Case
from fairalloc.theorems.hypotheses import MOST
from fairalloc.theorems.search.investigate import concluded, counts, smallest
from fairalloc.theorems.search.search import Limit, Search, Violation, seeded
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.statement import Finding, Statement, parse_finding

OFTEN = 0.5
"""Seconds after which what was found so far is kept again."""

FINDING = 0.9
"""The part of the seconds in which a violation is looked for; the rest is left for making a late one smaller."""


@dataclass(frozen=True)
class Sought:
    """A statement, the most users, servers and resources of the instances in which a violation of it is sought, and the known
    cases, with the ids of the statements that they are witnesses of.
    """

    statement: Statement
    most: tuple[int, int, int] = MOST
    known: Sequence[tuple[str, Case]] = ()

    def searched(
        self,
        seconds: float,
        trials: int | None,
        seed: int,
        keep: Callable[[Finding], None] = lambda _: None,
    ) -> tuple[Finding, bool]:
        """The finding of one search in this process, and whether it was interrupted; `keep` gets what was found, now and then."""
        limit = Limit(inf if trials is None else trials, FINDING * seconds, seconds)
        told: list[Any] = [-inf, None]
        recorded: tuple[str, Violation] | None = None

        def finding(made: Search, found: Violation | None = None) -> Finding:
            best: Violation | None = min(filter(None, (found, made.smallest)), key=lambda one: measure(one.draft), default=None)
            searched = counts(made, seed, seconds) | {"because": made.because if not made.trials else ""}
            if best is None and recorded is not None:
                name, best = recorded
                searched["source"] = f"on record for {name}"
            return concluded(self.statement, made, best, searched)

        def tell(made: Search) -> None:
            if limit.elapsed > told[0] + OFTEN or made.smallest is not told[1]:
                told[:] = limit.elapsed, made.smallest
                keep(finding(made))

        made = Search(self.statement, seeded(self.statement, seed), limit, tell, self.most)
        try:
            keep(finding(made))  # a case on record may be the last that this process looks at
            recorded = self._recorded()
            return finding(made, made.run()), False
        except KeyboardInterrupt:
            return finding(made), True

    def _recorded(self) -> tuple[str, Violation] | None:
        """The smallest of the known cases that violate the statement, with the id of the statement that it is a witness of."""
        found = smallest(self.statement, [case for _, case in self.known])
        return None if found is None else (next(name for name, case in self.known if case is found.case), found)

    def searched_in_a_child(self, seconds: float, trials: int | None, seed: int) -> tuple[Finding, bool]:
        """The same in a child process."""
        end = end_of(time.perf_counter(), seconds)
        if watched() or not AVAILABLE:
            with alarm(end - time.perf_counter()) as rung:
                finding, interrupted = self.searched(seconds, trials, seed)
            return finding, interrupted and not rung[0]

        def work(send: Callable[[Any], None]) -> None:
            def keep(finding: Finding, interrupted: bool | None = None) -> None:
                send((_sendable(finding), interrupted))

            keep(*self.searched(seconds, trials, seed, keep))

        outcome = isolated(work, end, time.perf_counter)
        if not outcome.messages:
            raise KeyboardInterrupt if outcome.ending == "interrupted" else InstanceError("the process of the search has died")
        finding, interrupted = outcome.messages[-1]
        if interrupted is None:  # it was ended by force
            finding = replace(finding, sentence=f"{finding.sentence}; the last case did not end by itself")
        return finding, outcome.ending == "interrupted" or (bool(interrupted) and outcome.ending == "done")


def _sendable(finding: Finding) -> Finding:
    """The finding; without what cannot be pickled, such as an object of the user's in a witness."""
    try:
        pickle.dumps(finding)
    except Exception:
        return parse_finding(finding.document())
    return finding
