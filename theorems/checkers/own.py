"""Claims of one's own: what they say (`ClaimTerms`); what is checked (`judge_of`), a property by name, a mechanism's definition,
or a function as `claim` takes it; and how it is tried and confirmed (`routes`):

1. ps-dsf and alpha-pf-vds as in game.py: of several answers all are judged where they can be listed (answers.py).
2. A mechanism with certificates: rational answers, proved without a solver. What the judge itself computes in floating point is
   said to be no rational number. Functions of one's own see rational answers in the search already.
3. Any other mechanism: floating point. A violation must be above NOISE at the answers of two methods, of different kinds where
   there are such, or of the only one that there is; the verdict says which, and that no answer is in rationals.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from fairalloc.analysis.properties.checks import PROPERTIES, TOLERANCE, check
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES, Property
from fairalloc.analysis.properties.strategyproofness import NOISE
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.formulations import MECHANISMS, Mechanism, as_mechanism
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, UnknownName, callers, no_such, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import as_margin
from fairalloc.runs.objects import ObjectKind, load_objects
from fairalloc.solvers import METHODS
from fairalloc.solvers.catalogue.method_registry import methods_for
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.answers import CHOSEN, gaining_for_every_choice, one_answer, over_answers, with_answers
from fairalloc.theorems.checkers.game import about_several
from fairalloc.theorems.checkers.trials import (
    Answer,
    Judge,
    Routes,
    Undecided,
    about_mechanism,
    answered,
    as_one_pool,
    attempted,
    certified,
    leximin,
    max_min_fair,
    property_judge,
    strict_misreporting,
)
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.standalone.certificates import by_place, given
from fairalloc.theorems.standalone.definitions import fair, per_server
from fairalloc.theorems.statement import FLOATING_POINT, OWN, Statement

MISREPORTS = {"strategyproofness": 1, "group-strategyproofness": 2, "strict-group-strategyproofness": 2}
"""How many users misreport together, for the properties that are about it."""

FURTHER: dict[str, Judge] = {
    "leximin-tasks": leximin,
    "max-min-tasks": max_min_fair,
    "one-pool": as_one_pool,
    "strict-group-strategyproofness": strict_misreporting,
    "uniqueness": one_answer,
}
"""Judges that are neither properties of one allocation nor in check_mechanism."""

_LINES = {
    "leximin-tasks": "Lexicographic max-min fairness of the numbers of tasks (Z Def 1).",
    "population-monotonicity": "Nobody runs fewer tasks when another user leaves and returns its resources (W 3.3).",
    "strategyproofness": "Nobody gains by a misreport of its demands or eligible servers (W 3.3, P III-B, Z II-B, D 4).",
    "group-strategyproofness": "In every coalition that misreports somebody does not gain (W 3.3).",
}


class NamedJudge(NamedTuple):
    """A judge with the name of what it checks, how many users misreport together (0 = it is not about misreports), and whether it
    is a function of one's own.
    """

    name: str
    judge: Judge
    misreports: int = 0
    is_own: bool = False


def claim_properties() -> dict[str, str]:
    """What a claim can be about, by name, with one line each: the names that `claim` takes as `property`.

    The id of a mechanism stands for its definition.

    >>> claim_properties()["pareto"]
    'No feasible allocation gives a user more tasks and none fewer (W 3.3, Z II-B).'
    """
    lines = {name: item.meaning for name, item in PROPERTIES.items()}
    lines |= {name: _LINES.get(name) or Property(name, judge).meaning for name, judge in FURTHER.items()}
    lines |= {name: _LINES[name] for name in MECHANISM_PROPERTIES}
    return lines | {name: f"The definition of {name}: {item.title}." for name, item in MECHANISMS.items()}


def judge_of(given: Any) -> NamedJudge:
    if isinstance(given, str):
        return _by_name(given)
    item = as_mechanism(given)
    named = _of_function(given) if item is None else NamedJudge(item.id, partial(_as_defined, item))
    if is_ours(named.name):
        raise InstanceError(f"the name of the property is {named.name!r}, but that is the name of another property")
    return named


def is_ours(name: str) -> bool:
    """Whether a property of this name comes with the package."""
    return name in FURTHER or name in MECHANISM_PROPERTIES or PROPERTIES.is_ours(name)


def _of_function(given: Any) -> NamedJudge:
    if isinstance(given, Property):
        return NamedJudge(given.name, partial(_of_allocation, partial(_checked, given), given.name), is_own=True)
    if not callable(given):
        raise InstanceError(f"the property is {shown(given)}, but it must be a name, a mechanism or a function")
    name = getattr(given, "__name__", type(given).__name__)
    count = _positional(given)
    if count not in (1, 2):
        raise InstanceError(f"the property {name} takes {count} arguments, but it must be f(allocation) or f(case, answer)")
    return NamedJudge(name, partial(_of_allocation if count == 1 else _of_case, given, name), is_own=True)


def _by_name(name: str) -> NamedJudge:
    """Ours first: installed packages, whose claims may name ours while they are loaded, are asked for other names."""
    ours = name in FURTHER or name in MECHANISM_PROPERTIES
    if not ours and name in PROPERTIES and not PROPERTIES[name].function.__module__.startswith("fairalloc."):
        return _of_function(PROPERTIES[name])
    if ours or name in PROPERTIES:
        return NamedJudge(name, FURTHER.get(name) or property_judge(name), MISREPORTS.get(name, 0))
    aliases = {alias: item.id for item in MECHANISMS.values() for alias in (item.id, *item.aliases)}
    if name not in aliases:
        raise UnknownName(no_such("property", name, claim_properties(), f"the properties are {', '.join(claim_properties())}"))
    return NamedJudge(aliases[name], partial(_as_defined, MECHANISMS[aliases[name]]))


def _positional(function: Callable[..., Any]) -> int:
    """How many arguments without a default a function takes."""
    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in known)


LEXICOGRAPHIC = ("asset", "drf", "drfh", "lmmf", "tsf")
"""Mechanisms of which the definition says how many tasks each user runs in all, and no more of an allocation that fits."""


def _as_defined(item: Mechanism, case: Case, answer: Answer) -> Verdict:
    """Whether it is an answer of this mechanism: by its residual, and in rationals where these decide.

    Tasks that are unique are compared; of PS-DSF and NJC the definition itself is evaluated, and the residual is the margin.
    """
    verdict, allocation = property_judge(item)(case, answer), answer(case.reported)
    tasks, registered = allocation.tasks_exact, is_registered(item)
    if tasks is not None and registered and item.id in LEXICOGRAPHIC:
        pairs = [*zip(tasks, certified(case.reported, item.id).tasks, strict=True)]
        far, n = max((abs(a - b) / (max(a, b) or 1), n) for n, (a, b) in enumerate(pairs))
        words = f"user {case.reported.users[n]!r} runs {pairs[n][0]} tasks, and {pairs[n][1]} by {item.id}"
        return Verdict(item.id, far == 0, float(far), words, "rational arithmetic on a certificate")
    fulfilled = _fulfilled(item, allocation) if tasks is not None and registered else None
    if fulfilled is None:
        return replace(verdict, method=f"{FLOATING_POINT}: {verdict.method}")
    return replace(verdict, holds=fulfilled, method="rational arithmetic: its definition")


def _fulfilled(item: Mechanism, allocation: Allocation) -> bool | None:
    """Whether rational tasks fulfil the definition of PS-DSF or NJC; None for others, and for limits or variants in PS-DSF."""
    instance = allocation.instance
    if item.id == "njc":
        pool = requests(item.domain(instance))
        rows = [[part.get(j, Fraction(0)) for j in range(pool.R)] for part in pool.parts]
        parts = [u / q for u, q in zip(allocation.tasks_exact or (), pool.unit, strict=True)]
        return bool(fair(rows, pool.entitlement, parts))
    limited = any(limit is not None for limit in instance.exact.max_tasks)
    if item.id != "ps-dsf" or limited or instance.exact.demands_on or not instance.single_variant:
        return None
    problem = given(Case(instance))["problem"]
    return bool(per_server(problem, by_place(instance, allocation.x_exact or ())))


# ---- functions of one's own -------------------------------------------------------------------------------------------


def _checked(given: Property, allocation: Allocation) -> Verdict | None:
    """The verdict of a property of one's own, None where it is not defined."""
    verdict = check(allocation, given)
    return None if verdict.holds is None else verdict


def _of_allocation(function: Callable[[Allocation], Any], name: str, case: Case, answer: Answer) -> Verdict:
    allocation = answer(case.reported)
    return _verdict(function(allocation), name, allocation.x_exact is not None)


def _of_case(function: Callable[[Case, Answer], Any], name: str, case: Case, answer: Answer) -> Verdict:
    value, asked = with_answers(function, case, answer)
    return _verdict(value, name, all(one.x_exact is not None for one in asked.values()))


def _verdict(value: Any, name: str, exact: bool) -> Verdict:
    """The verdict that a function of one's own means."""
    if value is None:
        raise NotApplicable(f"{name} says nothing about this case")
    if isinstance(value, Verdict):
        rational = exact and isinstance(value.margin, Fraction | int)
        return value if rational else replace(value, method=f"{FLOATING_POINT}: {value.method}")
    if isinstance(value, bool | np.bool_):
        sentence = f"{name} {'holds' if value else 'does not hold'}"
        return Verdict(name, bool(value), 0.0 if value else 1.0, sentence, f"{FLOATING_POINT}: it says yes or no")
    if not isinstance(value, Real) or value != value:
        raise TypeError(f"{name} returned {shown(value)}, but it must return a Verdict, a bool, a number or None")
    rational = exact and isinstance(value, Fraction | int)
    limit = 0 if rational else TOLERANCE
    holds, (margin, text) = bool(value <= limit), as_margin(value)
    sentence = f"{name} is {'not ' if holds else ''}violated: {text} is {'at most' if holds else 'above'} {limit}"
    return Verdict(name, holds, margin, sentence, "rational arithmetic" if rational else FLOATING_POINT)


# ---- how it is tried and confirmed --------------------------------------------------------------------------------------


def is_registered(item: Mechanism) -> bool:
    """Whether this is the mechanism that its id stands for, and not an object of somebody's own."""
    known = MECHANISMS.get(item.id)
    return known is not None and any(item is one for one in (known, *map(known.called, known.aliases)))


def has_rational_answers(item: Mechanism, parameters: bool = False) -> bool:
    """Whether certificates prove rational answers, or rational bounds, of a mechanism; not of what an objective chooses."""
    if is_registered(item) and item.id == "alpha-pf-vds":
        return True
    if parameters or getattr(item, "objective", None) is not None:
        return False
    others = NashBargaining | NoJustifiedComplaints | HierarchicalDrf
    return METHODS["exact"].computes(item) or isinstance(item, others)


def routes(item: Mechanism, named: NamedJudge, parameters: bool = False) -> Routes:
    """How a claim about a mechanism is tried and confirmed."""
    judge = named.judge
    if is_registered(item) and item.id in CHOSEN and named.name in ("strategyproofness", "group-strategyproofness"):
        judge = partial(gaining_for_every_choice, name=named.name)
    if not has_rational_answers(item, parameters):
        trial, confirm = attempted(item, judge), _by_digits if isinstance(item, AlphaFair) else _by_two
        return Routes(lambda case: _above_noise(trial(case)), partial(confirm, item, judge))
    asked = item.id if is_registered(item) else item  # an answer to an object is that of a rule of one's own
    made = about_several(item.id, judge, named.name) if is_registered(item) else None
    made = made or about_mechanism(asked, over_answers(judge, named.name))
    confirm = partial(_at_rational_answers, made.confirm)
    return Routes(confirm if named.is_own else made.trial, confirm)


def _at_rational_answers(confirm: Callable[[Case], Verdict], case: Case) -> Verdict:
    """What is confirmed; a violation that the judge computed in floating point says so."""
    verdict = confirm(case)
    if verdict.holds is not False or not verdict.method.startswith(FLOATING_POINT):
        return verdict
    sentence = f"violated by {verdict.margin:.2g} in floating point, at rational answers: {verdict.sentence}"
    return replace(verdict, sentence=sentence)


def _above_noise(verdict: Verdict) -> Verdict:
    """The verdict, which does not decide on a margin that answers in floating point cannot bear."""
    return replace(verdict, holds=None) if verdict.holds is False and not verdict.margin > NOISE else verdict


def _by_digits(item: Mechanism, judge: Judge, case: Case) -> Verdict:
    """The verdict, above noise, at tasks that ball arithmetic proves (solvers/exact/many_digits.py): they are irrational."""
    verdict = attempted(item, judge, "many-digits")(case)
    if verdict.holds is None:
        return verdict
    sentence = f"{verdict.sentence} (tasks are irrational, and proved to 18 digits in ball arithmetic)"
    return _above_noise(replace(verdict, sentence=sentence, method="ball arithmetic"))


def _by_two(item: Mechanism, judge: Judge, case: Case) -> Verdict:
    """The verdict at the answers of two methods, of which the smaller margin counts."""
    parameters = tuple(case.parameters.items())
    try:
        verdict, asked = with_answers(judge, case, partial(answered, item, None, parameters))
        verdict = _above_noise(verdict)
        if verdict.holds is not False or not asked:  # where nothing is asked of the mechanism no method matters
            return verdict
        first, other = next(iter(asked.values())).method, None
        if _others(item, parameters, case.instance, first):
            other, asked = with_answers(judge, case, partial(_by_another_method, item, parameters, first))
    except Undecided as reason:
        return undecided(reason, FLOATING_POINT)
    second = next(iter(asked.values())).method
    if other is not None and _above_noise(other).holds is not False:
        return replace(other, holds=None, sentence=f"not decided: {first} violates it, and {second} does not")
    margin = verdict.margin if other is None else min(verdict.margin, other.margin)
    by = f"one method, {first}, for there is no other" if other is None else f"two methods, {first} and {second}"
    sentence = f"violated by {margin:.2g} in floating point by {by}, and no exact method computes it: {verdict.sentence}"
    return replace(verdict, margin=margin, sentence=sentence, method=f"{FLOATING_POINT} by {by}")


def _others(item: Mechanism, parameters: tuple[tuple[str, Any], ...], instance: Instance, known: str) -> list[str]:
    """The other methods that compute a mechanism on an instance, those of another kind first."""
    settled = item.configure(**dict(parameters)).settled(instance)
    others = [method for method in methods_for(settled, instance) if method.id != known]
    return [method.id for method in sorted(others, key=lambda method: method.kind == METHODS[known].kind)]


def _by_another_method(item: Mechanism, parameters: tuple[tuple[str, Any], ...], known: str, instance: Instance) -> Allocation:
    """The answer of the first other method that has one; Undecided where none has."""
    why = ""
    for name in _others(item, parameters, instance, known):
        try:
            return answered(item, name, parameters, instance)
        except (Undecided, FairallocError) as reason:
            why = f"; {name}: {reason}"
    raise Undecided(f"no second method confirms the answer of {known}{why}")


# ---- claims ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClaimTerms:
    """A claim about a mechanism; `Claim` (claims.py) is one that can be searched.

    Attributes
    ----------
    id, text : its name, and the claim in a sentence
    mechanism : the mechanism itself
    property : what is checked of it, as it was given
    hypotheses : what is assumed
    holds : "all" or "some"
    misreports : the most users who misreport together
    """

    id: str
    text: str
    mechanism: Mechanism
    property: Any
    hypotheses: Hypotheses
    holds: Literal["all", "some"]
    misreports: int

    def __repr__(self) -> str:
        return f"<claim {self.id}: {self.text}>"

    def __getstate__(self) -> dict[str, Any]:
        """Without the statement, whose functions a pickle cannot hold."""
        return {key: value for key, value in self.__dict__.items() if key != "statement"}

    @cached_property
    def statement(self) -> Statement:
        named = judge_of(self.property)
        tried = routes(self.mechanism, named, bool(self.hypotheses.parameters))
        return Statement(
            id=self.id,
            text=self.text,
            place=OWN,
            quantifier=self.holds,
            hypotheses=self.hypotheses,
            misreports=self.misreports,
            property=named.name,
            own=not all(map(is_registered, filter(None, (self.mechanism, as_mechanism(self.property))))),
            trial=tried.trial,
            confirm=tried.confirm,
            mechanism=self.mechanism.id,
        )

    def check(self, case: Case) -> Verdict:
        """The verdict of one case, confirmed: in rationals, or in floating point where nothing computes rational answers.

        Raises
        ------
        InstanceError : the case does not satisfy the hypotheses, or a function of one's own fails
        """
        if not self.statement.applies_to(case):
            lacks = ", ".join(self.hypotheses.broken(case)) or "another number of users who misreport"
            raise InstanceError(f"the claim {self.id!r} is not about this case, which does not satisfy: {lacks}")
        with callers(f"the check of the claim {self.id!r}"):
            return self.statement.confirm(case)


def statements_of(given: Any) -> dict[str, Statement]:
    """The statements in a module, a namespace or a collection of claims and statements, by id.

    In the order in which they are found; an object with several names counts once. InstanceError where two have the same id.
    """
    if isinstance(given, ClaimTerms | Statement):
        given = [given]
    named = given if isinstance(given, Mapping) else getattr(given, "__dict__", None)
    values = given if named is None else [value for name, value in named.items() if not name.startswith("__")]
    found: dict[str, Statement] = {}
    for item in _among(values):
        statement = item.statement if isinstance(item, ClaimTerms) else item
        if found.setdefault(statement.id, statement) is not statement:
            raise InstanceError(f"two claims are named {statement.id!r}, but names must be distinct: give one an id")
    return found


def _among(values: Iterable[Any]) -> list[ClaimTerms | Statement]:
    """The claims and statements among values and the entries of lists."""
    given = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    return [item for item in given if isinstance(item, ClaimTerms | Statement)]


CLAIM = ObjectKind("claim", lambda item: item if statements_of([item]) else None)


def statements_in(file: str) -> dict[str, Statement]:
    """The statements of all claims in FILE.py, or of that of FILE.py:NAME, by id."""
    return statements_of(load_objects(file, CLAIM).values())


def claims_in(file: str) -> dict[str, ClaimTerms]:
    """The claims themselves, by id, without statements that were made otherwise."""
    return {item.id: item for item in _among(load_objects(file, CLAIM).values()) if isinstance(item, ClaimTerms)}
