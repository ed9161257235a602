"""Several mechanisms on one instance, side by side: who runs how much under which rule, and what is known of each answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any

import numpy as np

from fairalloc.analysis.plots.bars import dominant_share, dominant_shares
from fairalloc.analysis.properties import check
from fairalloc.analysis.properties.checks import asked_property, name_of
from fairalloc.analysis.verdict import WORDS, Verdict, undecided
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Count, Seconds, checked
from fairalloc.models.errors import FairallocError, NotApplicable, UnknownName, no_such, require, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, without_rounding
from fairalloc.models.tables import Grid, pandas
from fairalloc.solvers import solve
from fairalloc.solvers.options import promised

MEASURES = {"tasks": lambda one: one.tasks, "shares": dominant_share}
SHOWN = {"tasks": lambda one: one.shown_tasks, "shares": lambda one: without_rounding(dominant_share(one))}


@dataclass(frozen=True, eq=False, repr=False)
class MechanismComparison:
    """Answers of several mechanisms on one instance; `comparison[label]` is an allocation.

    Attributes
    ----------
    instance : the problem
    allocations : {label: allocation}; a label is the id of a mechanism, with its parameters where the id stands twice
    refused : {label: sentence} of mechanisms without an answer, such as those that are not defined here
    verdicts : {property: {label: verdict}} of the properties that were asked for
    """

    instance: Instance
    allocations: Mapping[str, Allocation]
    refused: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[str, Verdict]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept, refused = dict[str, Allocation](), dict(self.refused)
        for label, one in self.allocations.items():
            if one.instance.users == self.instance.users:
                kept[label] = one
            else:
                refused[label] = f"its users are {shown([*one.instance.users])}, not those of the instance"
        object.__setattr__(self, "allocations", kept)
        object.__setattr__(self, "refused", refused)

    @property
    def without_answer(self) -> list[str]:
        """A sentence on each mechanism that has no answer, or none with a point."""
        without = {label: one.message or one.outcome for label, one in self.allocations.items() if not one.has_point}
        return [f"{label} has no answer: {sentence}" for label, sentence in {**without, **self.refused}.items()]

    @checked
    def grid(self, what: str = "tasks", most: Count = 20) -> Grid:
        """The table: the first `most` users, then residuals, user errors ("-" = there is no bound), terminations, properties.

        `what` is "tasks" or "shares": the largest part of a resource of all servers that a user's tasks take (W 3.1).
        """
        values, answers = self._values(what, SHOWN), self.allocations.values()
        rows = [[user, *(f"{value:.6g}" for value in row)] for user, row in zip(self.instance.users[:most], values, strict=False)]
        rows.append(["residual", *(error_text(one.residual) for one in answers)])
        rows.append(["user error", *("-" if one.user_error is None else error_text(one.user_error) for one in answers)])
        rows.append(["termination", *(one.outcome for one in answers)])
        rows += [[name, *(WORDS[found[label].holds] for label in self.allocations)] for name, found in self.verdicts.items()]
        K, R = self.instance.K, self.instance.R  # fewer servers with other resources, as of Gavel's policies, are no pool
        pooled = ", ".join(name for name, one in self.allocations.items() if one.instance.K < K and one.instance.R == R)
        notes = [f"... and {self.instance.N - most} more users"] if most < self.instance.N else []
        notes += [f"On all servers as one pool, whose tasks may not fit the servers: {pooled}."] if pooled else []
        notes += self.without_answer
        columns = ["user", *self.allocations]
        title = f"{self.instance.name or 'instance'}: {'tasks' if what == 'tasks' else 'dominant shares'}"
        return Grid(title, columns, rows, notes, right=range(1, len(columns)))

    @checked
    def to_frame(self, what: str = "tasks") -> Any:
        """A DataFrame of pandas, users x mechanisms, of "tasks" or "shares"; NotInstalled where it is missing."""
        return pandas().DataFrame(self._values(what), list(self.instance.users), list(self.allocations))

    @checked
    def plot(self, ax: Any = None) -> Any:
        """Axes with the dominant shares side by side (`plots.dominant_shares`); NotInstalled where Matplotlib is missing."""
        return dominant_shares({label: one for label, one in self.allocations.items() if one.has_point}, ax)

    def __getitem__(self, label: str) -> Allocation:
        if label in self.allocations:
            return self.allocations[label]
        raise UnknownName(no_such("answer", label, self.allocations, self.refused.get(label, "")))

    def __str__(self) -> str:
        return "\n".join(piece.text() for piece in self.grid().blocks(1)).rstrip("\n")

    def __repr__(self) -> str:
        return f"<comparison of {', '.join(self.allocations)} on {self.instance.name or 'instance'}>"

    def _repr_html_(self) -> str:
        return self.grid()._repr_html_()

    def _values(self, what: str, measures: Mapping[str, Callable[[Allocation], Floats]] = MEASURES) -> Any:
        """(N, M) the measure of each user in each answer; nan where there is no point."""
        if what not in MEASURES:
            raise UnknownName(no_such("measure", what, MEASURES))
        return np.array([measures[what](one) for one in self.allocations.values()]).reshape(-1, self.instance.N).T


@checked
def compare(
    instance: Instance,
    mechanisms: Iterable[str | Mechanism | type[Mechanism]],
    *,
    properties: Iterable[Any] = (),
    accuracy: str | float = "mid",
    time_limit: Seconds | None = None,
) -> MechanismComparison:
    """Solve an instance by several mechanisms, for one table: `str`, `grid()` (Markdown, LaTeX, HTML), `to_frame()`, `plot()`.

    Parameters
    ----------
    instance : the problem
    mechanisms : ids or aliases, or mechanisms, such as `fa.mechanism("fds", alpha=2)`; one that is not defined here gets a note
    properties : what else is asked of each answer, as `check` takes it
    accuracy : as `solve` takes it
    time_limit : seconds for each answer, and for each property of it; None = no limit

    Raises
    ------
    UnknownName, InstanceError : there is no such mechanism or property; no mechanism is named, or one twice; or a property twice

    Examples
    --------
    >>> compare(Instance([[1, 4], [3, 1]], [[9, 18]]), ["drfh", "asset"]).grid().rows[0]  # W section 2
    ['u1', '3', '2.52']
    """
    promised(accuracy)  # what is wrong for all mechanisms is said once
    allocations, refused = dict[str, Allocation](), dict[str, str]()
    for label, item in labels([find_mechanism(one) for one in mechanisms]).items():
        try:
            allocations[label] = solve(instance, item, accuracy=accuracy, time_limit=time_limit)
        except FairallocError as error:  # it is not defined here, or its numbers are out of range: the others are kept
            refused[label] = str(error)
    wanted, nothing = list(properties), Allocation(instance, np.zeros(instance.A))
    for asked in [one for one in wanted if not allocations and one not in list(refused)]:  # else `check` refuses wrong names
        asked_property(asked, nothing)
    verdicts: dict[str, dict[str, Verdict]] = {}
    for asked, (label, one) in product(wanted, allocations.items()):
        name = name_of(asked_property(asked, one))
        try:
            verdict = check(one, asked, time_limit=time_limit) if one.has_point else undecided("there is no answer", name=name)
        except NotApplicable as error:  # such as "drf" of an answer on several servers
            verdict = undecided(error, name=name)
        once = label not in verdicts.setdefault(name, {})
        require(once, "two properties are called", name, "each row needs a name of its own")
        verdicts[name][label] = verdict
    return MechanismComparison(instance, allocations, refused, verdicts)


def labels(items: Sequence[Mechanism]) -> dict[str, Mechanism]:
    """The mechanisms by id, with parameters where the id stands twice; InstanceError where there are none, or two alike."""
    ids = [item.id for item in items]
    told = [[item.id, *(f"{name}={value}" for name, value in item.parameters.items())] for item in items]
    named = {" ".join(words if ids.count(words[0]) > 1 else words[:1]): item for words, item in zip(told, items, strict=True)}
    require(0 < len(ids) == len(named), "the mechanisms are", ids, "there must be at least one, and each once")
    return named


def error_text(value: float) -> str:
    """A residual or a user error in a table."""
    return "not known" if value == inf else f"{value:.1e}"
