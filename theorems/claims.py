"""Claims of one's own in one call: what is claimed of a mechanism, the search for a violation, and the result with its witness.

    result = claim("LMMF is strategyproof", mechanism="lmmf", property="strategyproofness").search(time_limit=10)
    print(result)       the verdict, and Python code that rebuilds the witness and asserts it

A `Claim` is a `Statement` (statement.py) with the arguments it was made of, so that it goes where the papers' statements go: into
`verify`, the matrix, and `fairalloc theorems verify FILE.py`. `property_matrix` is mechanism x property, also of one's own, each
cell searched for a violation.
"""

import re
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.arguments import Count, Duration, Rule, Seed, checked, is_list
from fairalloc.models.errors import FairallocError, InstanceError, check_name, require, shown
from fairalloc.models.instance import Instance
from fairalloc.models.tables import printable
from fairalloc.theorems.cases import Case
from fairalloc.theorems.cells import row_of
from fairalloc.theorems.checkers.own import ClaimTerms, is_registered, judge_of
from fairalloc.theorems.code import witness_code
from fairalloc.theorems.hypotheses import MOST, Hypotheses
from fairalloc.theorems.matrix import Matrix
from fairalloc.theorems.matrix import matrix as of_findings
from fairalloc.theorems.search.investigate import DIED, Sought
from fairalloc.theorems.search.laboratory import verify
from fairalloc.theorems.search.our_cells import cell_statements, known_cases, with_record
from fairalloc.theorems.search.witnesses import everything, on_record
from fairalloc.theorems.smt.record import sizes_proved
from fairalloc.theorems.statement import Finding, Statement, Status

Text = Annotated[str, Rule(lambda value: bool(value.strip()), "a sentence")]

SECONDS = 10.0
"""Seconds of a search where neither they nor trials are given."""

ENDLESS = 1e8
"""Seconds of a search that trials alone end."""


@checked
def claim(
    text: Text,
    mechanism: str | Mechanism | type[Mechanism],
    property: Any,  # noqa: A002 (the public name of the attribute)
    hypotheses: Any = (),
    *,
    holds: Literal["all", "some"] = "all",
    parameters: Mapping[str, Any] | None = None,
    misreports: Seed | None = None,
    instances: Callable[[np.random.Generator], Instance] | None = None,
    id: str = "",  # noqa: A002 (the public name of the attribute)
) -> "Claim":
    """A claim about a mechanism, to be searched for violations.

    Where a mechanism has several answers, all of them are judged where they can be listed, else the one that its method computes;
    the finding says which (`answers`). Without rational answers a violation is confirmed at the answers of two methods, in
    floating point. The witnesses of the package against the same property are tried first, and count where it finds none.

    Parameters
    ----------
    text : the claim in a sentence
    mechanism : id or alias, or a mechanism of your own: a class with a model, an edit, a rule from a share
    property : a name of `claim_properties()`, where the id of a mechanism is its definition; a mechanism; or a function. The
        definitions of asset, drf, drfh, lmmf, njc, ps-dsf and tsf are judged in rationals, others by a residual.
        f(allocation) and f(case, answer) return a Verdict, a bool, None (not about this case), or a number, positive where it
        is violated; `answer` is the mechanism as a function from instances to allocations. Allocations have `tasks_exact` where
        the mechanism has rational answers; an exact number (Fraction or int) then refutes in rationals
    hypotheses : the assumptions: words separated by commas, such as "positive, everywhere, at least 2 users", an iterable of
        them, or a `Hypotheses`; without words every user has one demand vector, the same on all servers, and no limit
    holds : "all" = the property holds for every case; "some" = a case violates it
    parameters : values that parameters of the mechanism may have, such as {"alpha": (1, 2, 5)}
    misreports : the most users who misreport together; None = what the property is about
    instances : a function of a `numpy.random.Generator` that makes the instances the claim is about; it replaces the package's
        own samples, and a violation is not made smaller
    id : its name; "" = a slug of the text

    Returns
    -------
    the claim; see `Claim.search`

    Raises
    ------
    UnknownName : there is no such mechanism, property or hypothesis
    InstanceError, NotApplicable : an argument that breaks a rule, or a parameter that the mechanism does not have
    FairallocError : the mechanism has no id or no model

    Examples
    --------
    >>> mine = claim("LMMF is strategyproof", mechanism="lmmf", property="strategyproofness", hypotheses="everywhere")
    >>> mine.id, mine.search(trials=500).status.value
    ('lmmf-is-strategyproof', 'refuted')
    """
    item, named = find_mechanism(mechanism), judge_of(property)
    item.check_complete()
    check_name(id, "the id of the claim", empty=True)
    require(not sizes_proved(id), "the id of the claim is", id, "it must not be that of what was proved by machine")
    assumed = _assumed(hypotheses, instances, _several(parameters or {}))
    _check_parameters(item, assumed)
    count = named.misreports if misreports is None else misreports
    name = id or re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].strip("-") or "claim"
    return Claim(name, text.strip(), item, property, assumed, holds, count)


def _assumed(
    given: Any, instances: Callable[[np.random.Generator], Instance] | None, parameters: Mapping[str, Sequence[Any]]
) -> Hypotheses:
    """The hypotheses with their parameters; instances of one's own need satisfy none unless it is given."""
    given = [*given] if is_list(given) else given  # an iterator can be read once
    assumed = Hypotheses.of(given)
    if instances is not None and not isinstance(given, Hypotheses):
        none = {name: False for name in ("one_variant", "same_demands", "unlimited") if not "".join(given).strip(" ,")}
        assumed = replace(assumed, **none)  # type: ignore[arg-type]
    assumed = assumed if instances is None else replace(assumed, instances=instances)
    return replace(assumed, parameters=parameters) if parameters else assumed


def _several(parameters: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Values by name."""
    result = {}
    for name, values in parameters.items():
        if not is_list(values) or not (made := tuple(v.tolist() if isinstance(v, np.ndarray) else v for v in values)):
            raise InstanceError(f"the parameter {name} is {shown(values)}, but it must be several values, such as (1, 2)")
        result[name] = made
    return result


def _check_parameters(item: Mechanism, assumed: Hypotheses) -> None:
    """FairallocError for a value that the mechanism takes on no instance of the claim, with none of the others' values.

    Instances of one's own, which may have any number of users and servers, are left to the search.
    """
    users = range(assumed.users, max(MOST[0], assumed.users) + 1)
    servers = range(assumed.servers, (1 if assumed.one_server else max(MOST[1], assumed.servers)) + 1)
    shapes = product(users, servers) if assumed.parameters and assumed.instances is None else ()
    instances = [Instance([[1]] * N, [[1]] * K) for N, K in shapes]
    instances = [instance for instance in instances if _refused(item, instance) is None]
    taken, why = set[tuple[str, int]](), dict[tuple[str, int], FairallocError]()
    for picked in product(*(range(len(values)) for values in assumed.parameters.values())):
        pairs = [*zip(assumed.parameters, picked, strict=True)]
        error = _refusal(item, {name: assumed.parameters[name][k] for name, k in pairs}, instances)
        if error is None:
            taken.update(pairs)
        else:
            why |= dict.fromkeys(pairs, error)
    for pair, error in why.items():
        if pair not in taken:
            raise error


def _refusal(item: Mechanism, parameters: Mapping[str, Any], instances: Sequence[Instance]) -> FairallocError | None:
    """Why a mechanism takes no such parameters, or takes them on none of some instances; None where it does."""
    try:
        configured = item.configure(**parameters)
    except FairallocError as error:
        return error
    told = ", ".join(f"{name}={shown(value)}" for name, value in parameters.items())
    if {*configured.functions} - {*item.functions}:  # no case and no script can hold them
        return InstanceError(f"{told}, which has functions: make the mechanism fa.mechanism({item.id!r}).configure(...)")
    errors = [_refused(configured, instance) for instance in instances]
    return None if None in errors or not errors else InstanceError(f"no instance of the claim takes {told}: {errors[-1]}")


def _refused(item: Mechanism, instance: Instance) -> FairallocError | None:
    """Why a mechanism is not defined on an instance; None where it is."""
    try:
        item.domain(instance)
    except FairallocError as error:
        return error
    return None


class Claim(ClaimTerms):
    """A claim about a mechanism, as `claim` makes it, with the search for a violation."""

    @checked
    def search(self, time_limit: Duration | None = None, trials: Count | None = None, seed: Seed = 0) -> "ClaimResult":
        """Look for the smallest violation.

        Parameters
        ----------
        time_limit : seconds for all of it; None = 10 where no trials are given, else any. It takes at most 1.2 times as long and
            a second more. The search runs in a child process, which is then ended, so your functions change no memory here
        trials : the most cases, tried or rejected; with seconds to spare the result then depends on the seed alone
        seed : of all random numbers

        Returns
        -------
        the result; after Ctrl-C, with what was found so far

        Raises
        ------
        InstanceError : an argument out of range
        """
        start, asked = time.monotonic(), trials
        if time_limit is None:
            time_limit = SECONDS if trials is None else ENDLESS
        finding, interrupted = self.sought.searched_in_a_child(time_limit, trials, seed)
        finding = replace(finding, searched={**finding.searched, "seconds": time_limit})
        return ClaimResult(self, replace(finding, seconds=time.monotonic() - start), interrupted, asked)

    @property
    def sought(self) -> Sought:
        """The search of the claim in one process, with the proofs on record.

        It begins with the package's witnesses against the same property of the same mechanism with such parameters. A claim
        about instances of one's own has neither: these are not among them.
        """
        alike = is_registered(self.mechanism) and isinstance(self.property, str) and self.hypotheses.instances is None
        cases = known_cases(self.mechanism.id, self.property) if alike else []
        own = self.hypotheses.parameters.keys()
        return Sought(with_record(self.statement), known=[pair for pair in cases if pair[1].parameters.keys() == own])


@dataclass(frozen=True, eq=False)
class ClaimResult:
    """What a search found out about a claim; `print` shows the verdict and the witness as code.

    Attributes
    ----------
    claim : the claim
    finding : the finding with its case, its verdict and what was searched
    interrupted : whether Ctrl-C ended the search
    asked : the trials that were asked for, None = as many as there is time for
    """

    claim: Claim
    finding: Finding
    interrupted: bool = False
    asked: int | None = None

    @property
    def status(self) -> Status:
        """One of "refuted", "proved", "not refuted", "not decided: violated in floating point" and "not decided".

        "refuted" is confirmed in rationals (for alpha-fair in ball arithmetic), and so is "proved" for `holds="some"`; else
        "proved" is by a proof on record, which `sentence` names. With `holds="some"` such a proof says that no case violates it:
        then the claim is refuted, without a case. The fourth is for mechanisms without rational answers.
        """
        return self.finding.status

    @property
    def case(self) -> Case | None:
        """The smallest case that violates the property; None where none was confirmed."""
        return self.finding.case if self.verdict is not None else None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the case, or on all that was searched."""
        return self.finding.verdict

    @property
    def trials(self) -> int:
        """Cases that satisfy the hypotheses and were decided."""
        return self.finding.trials

    @property
    def lacking(self) -> str:
        """How many of the trials asked for were not made, and why; "" where all were, or a case decided before."""
        done = self.trials + sum(int(self.finding.searched.get(name, 0)) for name in ("rejected", "undecided"))
        if self.asked is None or self.case is not None or done >= self.asked:
            return ""
        searched = self.finding.searched
        over = "its process ended" if DIED in searched else f"{searched['seconds']:g} seconds were over"
        return f"{done:,} of {self.asked:,} trials, then {'it was interrupted' if self.interrupted else over}"

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
        found, searched = self.finding, self.finding.searched
        how = f"seed {searched['seed']}{', interrupted' * self.interrupted}" + f"; {self.lacking}" * bool(self.lacking)
        how += f"; {searched.get('source')}" * ("source" in searched)
        if self.verdict is not None:
            proof = "ball arithmetic" if self.verdict.method == "ball arithmetic" else "rationals"
            words = {Status.PROVED: f"confirmed in {proof}", Status.REFUTED: f"refuted in {proof}"}
            word = words.get(self.status, self.status)
            return f"{self.claim.text}: {word}. {found.sentence} ({found.trials:,} cases, {how})"
        if self.status in (Status.PROVED, Status.NOT_REFUTED):
            return f"{self.claim.text}: {found.sentence}{', which is no proof' * (self.status != Status.PROVED)} ({how})"
        word = "refuted" if self.status == Status.REFUTED else "not decided"
        return f"{self.claim.text}: {word}. {found.sentence} ({how})"

    @cached_property
    def code(self) -> str:
        """Python that rebuilds the case and its allocations and asserts the violation; "" where none was confirmed."""
        return "" if self.case is None else witness_code(self.claim, self.case)

    def __str__(self) -> str:
        """The verdict, and with a witness code that runs: the verdict is a comment there."""
        sentence = printable(" ".join(self.sentence.split()))
        return f"# {sentence}\n\n{self.code}" if self.case is not None else sentence

    def __repr__(self) -> str:
        return f"<{self.claim.id}: {self.status}, {self.trials:,} cases>"


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
    mechanisms : ids or mechanisms of your own, which run in this process and end it where they call `os._exit`; None = all
        registered ones
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
