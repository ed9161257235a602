"""One search of a statement in this process, with seconds, trials and a size, which tells what it has found so far.

Cases that are known to violate the property of the mechanism are confirmed first, so that no limit leaves them out; they count
where the search finds none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from fairalloc.theorems.cases import Case, Draft
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
        known = sorted(self.known, key=lambda pair: measure(Draft.of(pair[1])))
        confirmed = ((name, one) for name, case in known if (one := confirmed_case(self.statement, case)) is not None)
        return next(confirmed, None)
