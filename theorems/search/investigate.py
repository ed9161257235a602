"""The investigation of one statement.

1. Stored and printed cases, and those of related statements, are confirmed again.
2. The search looks for a violation, or for a smaller one than those.
3. The smallest confirmed violation decides; without one
4. each hypothesis is left out in turn, and a violation without it shows that it is needed.
"""

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

from fairalloc.models.errors import InstanceError
from fairalloc.solvers.running.time_limits import AVAILABLE, alarm, end_of, isolated, watched
from fairalloc.theorems.cases import Case, Draft
from fairalloc.theorems.hypotheses import MOST, Hypotheses
from fairalloc.theorems.search.search import Limit, Search, Violation, seeded
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.statement import (
    FAILED,
    UNFINISHED,
    Finding,
    Statement,
    Status,
    answers_known,
    parse_finding,
    status_by_case,
    status_of,
    weakest,
)

ENOUGH = 20
"""With fewer decided cases the finding is "not decided", unless there is a proof."""

DIED = "died"
"""What was searched until a check ended the process has this, with a sentence."""

RELATED = "related"
"""Key of known cases that violate the same property of the same mechanism, found for another statement."""

Known: TypeAlias = Mapping[str, Sequence[Case]]
"""Cases by the hypothesis that they do without, "" for none, or under RELATED."""

MAIN = 0.6
"""Part of the time for the claim as it stands; the rest is for its hypotheses, left out one at a time."""


def investigate(
    statement: Statement,
    seed: int = 0,
    seconds: float = 10.0,
    trials: float = inf,
    known: Known | None = None,
    ends: float = inf,
) -> Finding:
    """Find out whether a statement holds.

    `seconds` are for all of it, and `trials` for each of its searches. `known` has cases that violated the property before, by
    the hypothesis they do without ("" = none), and those of other statements under RELATED. What is under way `ends` seconds
    from now is stopped, and what was found until then counts.
    """
    start = time.monotonic()
    with alarm(ends) as rung:
        try:
            if statement.quantifier == "one":
                finding = _printed(statement)
            else:
                finding = _searched(statement, seed, seconds, trials, known or {}, rung)
        except KeyboardInterrupt:
            if not rung[0]:
                raise
            finding = unfinished(statement, "stopped")
    return replace(finding, seconds=time.monotonic() - start)


def unfinished(statement: Statement, why: str) -> Finding:
    """What is known of a statement that was stopped or not begun: a proof counts all the same."""
    status = status_of(statement, Status.NOT_DECIDED)
    return Finding(statement.id, status, _naming_proof(statement, status, f"{why} when the budget ended"), 0, {UNFINISHED: why})


def _naming_proof(statement: Statement, status: Status, sentence: str) -> str:
    named = {Status.PROVED: "proved", Status.REFUTED: "proved that there is none"}.get(status)
    return f"{named}: {statement.proof_name}; {sentence}" if named else sentence


def _printed(statement: Statement) -> Finding:
    """The verdict of the printed case, which is all the statement is about."""
    assert statement.printed is not None, "statements about one case have it"
    verdict = statement.confirm(statement.printed)
    status = status_by_case(statement, verdict)
    if statement.experiment:  # about a sample, which is no case
        return Finding(statement.id, status, verdict.sentence, 1, {"source": statement.experiment}, None, verdict)
    searched = {"source": "the printed case"}
    return Finding(statement.id, status, verdict.sentence, 1, searched, statement.printed, verdict, answers=verdict.answers)


def _searched(statement: Statement, seed: int, seconds: float, trials: float, known: Known, rung: Sequence[bool]) -> Finding:
    """The finding of a search; after the alarm has rung, with what was found until then."""
    end = time.monotonic() + seconds
    droppable = statement.hypotheses.dropped() if statement.quantifier in ("all", "run") else {}
    droppable = {} if statement.hypotheses.instances is not None else droppable
    main = Search(statement, seeded(statement, seed), Limit(trials, MAIN * seconds if droppable else seconds, seconds))
    found: list[tuple[str, Violation]] = []
    needed: dict[str, Case] = {}
    failed, stopped = 0, False
    try:
        # 1.
        failed = _confirm_known(statement, known, found)
        # 2.
        if found:  # only a smaller violation is of interest, as far as the time reaches
            main.limit = Limit(trials, seconds / 2, seconds)
        if (new := main.run()) is not None:
            found.insert(0, ("search", new))
        found = [(name, main.shrunk(made) if name in ("printed", "related") else made) for name, made in found]
        # 4.
        for name, case in () if found else _needed(statement, droppable, known, seeded(statement, seed), trials, end):
            needed[name] = case
    except KeyboardInterrupt:
        if not rung[0]:
            raise
        found += [] if main.smallest is None else [("search", main.smallest)]
        stopped = not found
    # 3.
    source, best = min(found, key=lambda pair: measure(pair[1].draft), default=("", None))
    searched = counts(main, seed, seconds) | {"source": source, "not confirmed": failed}
    finding = concluded(statement, main, best, searched, needed)
    if not stopped:
        return finding
    sentence = f"{finding.sentence}; stopped when the budget ended"
    return replace(finding, sentence=sentence, searched={**finding.searched, UNFINISHED: "stopped"})


def _confirm_known(statement: Statement, known: Known, found: list[tuple[str, Violation]]) -> int:
    """Add the known cases that are violations to `found`, each with its source; how many stored or printed ones are none.

    The smallest of related statements counts where no other is a violation, unless the claim is about instances of its own.
    """
    given = [("stored", case) for case in known.get("", ())]
    given += [("printed", case) for case in [statement.printed] if case is not None]
    for name, case in given:
        made = confirmed_case(statement, case)
        found += [] if made is None else [(name, made)]
    failed = len(given) - len(found)
    strangers = () if found or statement.hypotheses.instances is not None else known.get(RELATED, ())
    related = smallest(statement, strangers)
    found += [] if related is None else [("related", related)]
    return failed


def _needed(
    statement: Statement, droppable: Mapping[str, Hypotheses], known: Known, seed: tuple[int, ...], trials: float, end: float
) -> Iterator[tuple[str, Case]]:
    """The hypotheses that cannot be dropped, each with a confirmed case; the searches share the time until the end."""
    for k, (name, fewer) in enumerate(droppable.items()):
        left = max(0.0, end - time.monotonic())
        variant = replace(statement, hypotheses=fewer)
        if (stored := smallest(variant, known.get(name, ()))) is not None:
            yield name, stored.case
            continue
        without = Search(variant, (*seed, k + 1), Limit(trials, left / (len(droppable) - k), left))
        if (violation := without.run()) is not None:
            yield name, violation.case


def concluded(
    statement: Statement,
    main: Search,
    best: Violation | None,
    searched: dict[str, Any],
    needed: Mapping[str, Case] | None = None,
) -> Finding:
    """The finding of a search.

    `best` is the smallest confirmed violation, `needed` has the hypotheses that cannot be dropped, each with a confirmed case.
    Where a violation was confirmed in floating point alone, the status says so.
    """
    if best is None:
        return _without_violation(statement, main, searched, dict(needed or {}))
    status = status_by_case(statement, best.verdict)
    answers = best.verdict.answers
    sentence = f"{_sizes([best.draft.size])}: {best.verdict.sentence}" + f" ({answers})" * bool(answers)
    smaller = sum(count for size, count in main.sizes.items() if size < best.draft.size)
    searched = searched | {"trial": best.trial, "smaller": smaller}
    return Finding(statement.id, status, sentence, main.trials, searched, best.case, best.verdict, answers=answers)


def _without_violation(statement: Statement, main: Search, searched: dict[str, Any], needed: dict[str, Case]) -> Finding:
    largest = _sizes(main.sizes)
    tried = f"{main.trials} case{'s' * (main.trials != 1)}" + f" of up to {largest}" * bool(largest)
    tried += f", and {main.undecided} more were not decided" * bool(main.undecided)
    why = f"; the last draft was {searched.get('because')}" * ("because" in searched)
    known = f"{statement.note}; " * bool(statement.paper == "own" and statement.note)
    if statement.wants_violation:
        status = status_of(statement, Status.NOT_DECIDED)
        sentence = _naming_proof(statement, status, f"{known}no violation found in {tried}{why}")
        return Finding(statement.id, status, sentence, main.trials, searched, needed=needed)
    few = main.trials < ENOUGH
    doubtful = bool(main.failed or main.unconfirmed) or few
    status = status_of(statement, Status.NOT_DECIDED if doubtful else Status.NOT_REFUTED)
    decided = status != Status.NOT_DECIDED
    doubts = [f"{FAILED} on {len(main.failed)}: {main.failed[0][1]}"] if main.failed else []
    doubts = doubts or [f"{len(main.unconfirmed)} violations in floating point were not confirmed"] * bool(main.unconfirmed)
    doubts = doubts or [f"fewer than {ENOUGH} decide nothing"] * (few and not decided)
    sentence = f"{known}not refuted in {tried}" + f", but {', '.join(doubts)}" * bool(doubts) + why
    sentence = _naming_proof(statement, status, sentence)
    case = None if decided else next(iter([*(broke for broke, _ in main.failed), *main.unconfirmed]), None)
    answers = answers_known(statement, status, None, weakest(main.answers))
    sentence += f" ({answers})" * bool(answers)
    return Finding(statement.id, status, sentence, main.trials, searched, case, needed=needed, answers=answers)


def confirmed_case(statement: Statement, case: Case) -> Violation | None:
    """The violation that a case is, None where it is none."""
    try:
        verdict = statement.violated(case)
    except (Exception, SystemExit):  # a check that fails confirms nothing, and must not end the others
        return None
    return None if verdict is None else Violation(Draft.of(case), case, verdict, 0)


def smallest(statement: Statement, cases: Iterable[Case]) -> Violation | None:
    ordered = sorted(cases, key=lambda case: measure(Draft.of(case)))
    return next(filter(None, (confirmed_case(statement, case) for case in ordered)), None)


def counts(made: Search, seed: int, seconds: float) -> dict[str, Any]:
    """What was searched, for the finding."""
    return {
        "seed": seed,
        "seconds": seconds,
        "sizes": [list(size) for size in sorted(made.sizes)],
        "rejected": made.rejected,
        "undecided": made.undecided,
        "unconfirmed": len(made.unconfirmed),
        "failed": len(made.failed),
        "time over": made.limit.elapsed >= made.limit.seconds,
    } | ({"because": made.because} if made.because and not made.trials else {})


def _sizes(sizes: Iterable[tuple[int, int, int]]) -> str:
    """The largest numbers of users, servers and resources, in words; "" where nothing was tried."""
    largest = map(max, zip(*sizes, strict=True))
    return ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in zip(largest, ("user", "server", "resource"), strict=False))


OFTEN = 0.5
"""Seconds after which what was found so far is kept again."""

FINDING = 0.9
"""The part of the seconds in which a violation is looked for; the rest is left for making a late one smaller."""


@dataclass(frozen=True)
class Sought:
    """A statement, the most users, servers and resources of the instances in which a violation of it is sought, and the known
    cases, with the ids of the statements that they are witnesses of.

    Its one search tells what it has found so far: in this process, or in a child that is ended at its limit whatever it computes.
    Known cases are confirmed first, so that no limit leaves them out; they count where the search finds none.
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
            searched = counts(made, seed, seconds)
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
            if (found := smallest(self.statement, [case for _, case in self.known])) is not None:
                recorded = next(name for name, case in self.known if case is found.case), found
            return finding(made, made.run()), False
        except KeyboardInterrupt:
            return finding(made), True

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
        if interrupted is None:  # it was ended by force, or a check ended it
            died = {DIED: outcome.death} if outcome.ending == "died" else {}
            why = died.get(DIED, "the last case did not end by itself")
            finding = replace(finding, sentence=f"{finding.sentence}; {why}", searched={**finding.searched, **died})
        return finding, outcome.ending == "interrupted" or (bool(interrupted) and outcome.ending == "done")


def _sendable(finding: Finding) -> Finding:
    """The finding; without what cannot be pickled, such as an object of the user's in a witness."""
    try:
        pickle.dumps(finding)
    except Exception:
        return parse_finding(finding.document())
    return finding
