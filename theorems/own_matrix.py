"""`fa.property_matrix`: mechanism x property, also of one's own, each cell searched for a violation."""

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from typing import Any

from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.arguments import Count, Duration, Seed, checked, is_list
from fairalloc.models.errors import InstanceError, shown
from fairalloc.theorems.cells import row_of
from fairalloc.theorems.checkers.own import is_registered, judge_of
from fairalloc.theorems.claims import ENDLESS, claim
from fairalloc.theorems.matrix import Matrix
from fairalloc.theorems.matrix import matrix as of_findings
from fairalloc.theorems.search.laboratory import verify
from fairalloc.theorems.search.our_cells import cell_statements
from fairalloc.theorems.search.witnesses import everything, on_record
from fairalloc.theorems.statement import Statement
from fairalloc.theorems.status import Status

ROWS = ("pareto", "envy-freeness", "sharing-incentive", "strategyproofness", "population-monotonicity")
"""The properties of a matrix for which none are given."""


@checked
def property_matrix(
    mechanisms: Iterable[str | Mechanism] | None = None,
    properties: Iterable[Any] | None = None,
    hypotheses: Any = None,
    *,
    time_limit: Duration | None = None,
    trials: Count | None = None,
    seed: Seed = 0,
) -> Matrix:
    """Look for violations of properties by mechanisms.

    Cells of registered mechanisms take what the papers and our own claims say of them, with the proofs and the findings on
    record, whose witnesses are confirmed again; other cells, and all where hypotheses are given, are claims of their own and
    searched.

    Parameters
    ----------
    mechanisms : ids or mechanisms of your own; None = all registered ones
    properties : as `claim` takes them; None = Pareto optimality, envy-freeness, sharing incentive, strategyproofness and
        population monotonicity
    hypotheses : as `claim` takes them; None = those of the papers' statements, else any
    time_limit : seconds for all cells together, None = 60 where no trials are given, else any; what one does not need the
        others get
    trials : the most cases of one search; with enough time the result then does not depend on the machine
    seed : of all random numbers

    Returns
    -------
    the matrix

    Raises
    ------
    UnknownName : there is no such mechanism, property or hypothesis
    InstanceError : an argument that breaks a rule, or two mechanisms or properties of one name
    """
    limit = float(time_limit or (60.0 if trials is None else ENDLESS))
    items = _by_name("mechanisms", MECHANISMS if mechanisms is None else mechanisms, find_mechanism, lambda item: item.id)
    asked = _by_name("properties", ROWS if properties is None else properties, lambda one: one, lambda one: judge_of(one).name)
    chosen: dict[str, Statement] = {}
    for item in items.values():
        for name, given in asked.items():
            chosen |= _about(item, given, name, hypotheses, chosen)
    told = {key: on_record(one, everything()) for key, one in chosen.items()}
    known = {key: found for key, found in told.items() if found.status != Status.NOT_DECIDED}
    left = [one for key, one in chosen.items() if key not in known]
    findings = {**known, **verify(left, limit, seed, 1, trials=trials)}
    return of_findings(chosen, findings, items, map(row_of, chosen.values()))


def _by_name(what: str, given: Any, read: Callable[[Any], Any], name_of: Callable[[Any], str]) -> dict[str, Any]:
    """What is given by its name; InstanceError where two have one name, since their cells would be one."""
    if not is_list(given) or not (made := [read(one) for one in given]):
        raise InstanceError(f"the {what} are {shown(given)}, but they must be a list of at least one")
    found: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for one, said in zip(made, given, strict=True):
        known, text = found.setdefault(name := name_of(one), one), first.setdefault(name, said)
        if known is not one and not (isinstance(text, str) and isinstance(said, str)):  # two may be aliases
            raise InstanceError(f"two of the {what} are named {name!r}, but names must be distinct")
    return found


def _about(item: Mechanism, given: Any, name: str, hypotheses: Any, others: Container[str]) -> dict[str, Statement]:
    """The papers' statements about a cell, or a claim made for it, by id; it is not that of another."""
    if hypotheses is None and is_registered(item) and isinstance(given, str):
        known = {key: one for key, one in cell_statements().items() if (one.mechanism, row_of(one)) == (item.id, name)}
        if known:
            return known
    made = claim(f"{item.id}: {name}", item, given, () if hypotheses is None else hypotheses).statement
    while made.id in others:  # ids are short, and of small letters
        made = replace(made, id=f"{made.id}-2")
    return {made.id: made}
