"""One search of a statement in this process, with seconds, trials and a size, which tells what it has found so far.

Cases that are known to violate the property of the mechanism are confirmed where the search found none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.hypotheses import MOST
from fairalloc.theorems.search.investigate import concluded, confirmed_case, counts
from fairalloc.theorems.search.search import Limit, Search, Violation, seeded
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.statement import Finding, Statement

OFTEN = 0.5
"""Seconds after which what was found so far is kept again."""

FINDING = 0.9
"""The part of the seconds in which a violation is looked for; the rest is left for making a late one smaller."""


@dataclass(frozen=True)
class Sought:
    """A statement, the most users, servers and resources of the instances in which a violation of it is sought, and a function of
    the known cases, with the ids of the statements that they are witnesses of; it is called where the search found none.
    """

    statement: Statement
    most: tuple[int, int, int] = MOST
    known: Callable[[], Sequence[tuple[str, Case]]] = list

    def searched(
        self,
        seconds: float,
        trials: int | None,
        seeds: tuple[int, ...],
        keep: Callable[[Finding], None] = lambda _: None,
    ) -> tuple[Finding, bool]:
        """The finding of one search in this process, and whether it was interrupted.

        `seeds` has the number of the process where there are several; `keep` gets what was found so far, now and then.
        """
        limit = Limit(inf if trials is None else trials, FINDING * seconds, seconds)
        told: list[Any] = [-inf, None]

        def finding(made: Search, found: Violation | None = None) -> Finding:
            best: Violation | None = min(filter(None, (found, made.smallest)), key=lambda one: measure(one.draft), default=None)
            searched = counts(made, seeds[0], seconds) | {"because": made.because if not made.trials else ""}
            return concluded(self.statement, made, best, searched)

        def tell(made: Search) -> None:
            if limit.elapsed > told[0] + OFTEN or made.smallest is not told[1]:
                told[:] = limit.elapsed, made.smallest
                keep(finding(made))

        made = Search(self.statement, (*seeded(self.statement, seeds[0]), *seeds[1:]), limit, tell, self.most)
        try:
            found = made.run()
            return (self._of_record(made, finding) if found is None and made.smallest is None else finding(made, found)), False
        except KeyboardInterrupt:
            return finding(made), True

    def _of_record(self, made: Search, finding: Callable[[Search, Violation | None], Finding]) -> Finding:
        """The finding with the smallest of the known cases that violate the statement, if there is one."""
        confirmed = ((name, one) for name, case in self.known() if (one := confirmed_case(self.statement, case)) is not None)
        name, best = min(confirmed, key=lambda pair: measure(pair[1].draft), default=("", None))
        found = finding(made, best)
        return found if best is None else replace(found, searched={**found.searched, "source": f"on record for {name}"})
