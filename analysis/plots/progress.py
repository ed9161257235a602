"""How an answer came about: the residuals of an iteration, and the rounds of a lexicographic mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.bars import USERS
from fairalloc.formulations import mechanism_of
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, UnknownName, no_such, require
from fairalloc.models.numbers import Floats, floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES, TIMES = ("residual", "merit", "change", "error"), ("iteration", "seconds", "time")
"""What a trace tells of an iteration, the first that it has."""

LEVELS, STEPS = 12, 2000
"""So many rounds have a style each; so many steps of one style are drawn: a file of a million has 50 MB."""


@checked
def convergence(item: Any, ax: "Axes | None" = None, *, against: str = "iteration", measure: str | None = None) -> "Axes":
    """How far each iterate of a method is from the answer, on a logarithmic axis, by the method's own measure.

    Parameters
    ----------
    item : an allocation that was computed with `trace=True`, else NotApplicable, its trace, or {name: either of them}
    ax : Axes to draw on, None = a new figure
    against : "iteration" or "seconds" (or "time", the simulated one of distributed methods); where a trace has no iterations,
        its entries are counted
    measure : "residual", "merit", "change" or "error"; None = for each trace the first of these that it has; 0 is left out

    Examples
    --------
    >>> axes = convergence([{"iteration": 1, "residual": 0.1}, {"iteration": 2, "residual": 0.001}])
    >>> axes.lines[0].get_ydata().tolist()
    [0.1, 0.001]
    """
    if against not in TIMES:
        raise UnknownName(no_such("axis", against, TIMES, f"it must be one of {', '.join(TIMES)}"))
    if measure is not None and measure not in MEASURES:
        raise UnknownName(no_such("measure", measure, MEASURES))
    traces = _traces(item)
    kinds = {name: measure or _measure(name, trace) for name, trace in traces.items()}
    names = [f"{name}: {kinds[name]}" for name in traces] if len(set(kinds.values())) > 1 else list(traces)
    ax = style.one_axes_beside(ax, 5.0, names) if len(names) > 1 else style.one_axes(ax, 5.4, 3.6)
    handles = []
    for k, (name, trace) in enumerate(traces.items()):
        at, values = _column(name, trace, against), _column(name, trace, kinds[name])
        handles += ax.plot(at[values > 0], values[values > 0], label=name, **style.line(k), markevery=0.1)
    style.tidy(ax, x=against, y=" or ".join(sorted(set(kinds.values()))))
    ax.set_yscale("log")
    if len(names) > 1:
        style.legend(ax, handles, names)
    return ax


def _traces(item: Any) -> dict[str, Sequence[Mapping[str, Any]]]:
    given = item if isinstance(item, Mapping) else {getattr(item, "method", "trace") or "given": item}
    result = {str(name): one.trace if isinstance(one, Allocation) else one for name, one in given.items()}
    for name, trace in result.items():
        right = isinstance(trace, Sequence) and all(isinstance(entry, Mapping) for entry in trace)
        require(right, f"what is drawn as {name!r} is", trace, "it must be an Allocation or its trace")
        if not trace:
            raise NotApplicable(f"{name!r} has no trace: solve with trace=True, by a method that keeps one")
    return result


def _measure(name: str, trace: Sequence[Mapping[str, Any]]) -> str:
    for key in MEASURES:
        if any(key in entry for entry in trace):
            return key
    raise NotApplicable(f"the trace of {name!r} has none of {', '.join(MEASURES)}: it has {', '.join(trace[0])}")


def _column(name: str, trace: Sequence[Mapping[str, Any]], key: str) -> Floats:
    """(entries,) the values of one key, nan where an entry has none."""
    if not any(key in entry for entry in trace):
        if key == "iteration":
            return np.arange(1.0, len(trace) + 1)
        raise NotApplicable(f"the trace of {name!r} has no {key!r}: it has {', '.join(trace[0])}")
    return floats([entry.get(key, np.nan) for entry in trace], f"the {key} of the trace of {name!r}")


@checked
def rounds(item: Allocation, ax: "Axes | None" = None, *, mechanism: Leximin | None = None) -> "Axes":
    """The weighted shares of a lexicographic mechanism, users in the order in which they stop: one step for each round.

    In each round the share g of all users who are still active grows until some of them cannot get more (Z III-A). So a step's
    height is the g of its round, and its width shows the users who stop there.

    Parameters
    ----------
    item : an allocation of drfh, lmmf, tsf or another lexicographic mechanism, else NotApplicable
    ax : Axes to draw on, None = a new figure
    mechanism : whose shares these are; None = that of the allocation

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> from fairalloc.solvers import solve
    >>> axes = rounds(solve(Instance([[1], [1], [2]], [[8]], max_tasks=[1, None, None]), "drfh"))
    >>> [float(patch.get_height().round(4)) for patch in axes.patches]
    [0.125, 0.4375, 0.4375]
    """
    rule = mechanism_of(item, mechanism) if mechanism or item.mechanism else None
    if not (isinstance(rule, Leximin) and rule.several_rounds):
        what = f"mechanism {item.mechanism!r}" if item.mechanism else "an allocation without a mechanism"
        raise NotApplicable(f"{what} has no rounds: they belong to lexicographic mechanisms, such as drfh and lmmf")
    style.require_point(item)
    home = replace(item, instance=rule.domain(item.instance))
    share = rule.rate(home.instance) * home.tasks
    number = _numbers(share)
    order = np.argsort(number, kind="stable")
    count = int(number.max()) + 1
    rows = [share[number == t] for t in range(count if count <= LEVELS else 0)]
    labels = [f"{t}: {row.max():.4g} ({len(row):,})" for t, row in enumerate(rows, start=1)] or [f"{count:,} rounds"]
    many = len(share) > USERS
    ax = style.one_axes_beside(ax, 5.4 if many else min(9.0, 1.2 + 0.4 * len(share)), labels)
    handles = (_stairs if many or count > LEVELS else _bars)(ax, share[order], number[order] if count <= LEVELS else 0 * number)
    style.tidy(ax, x=f"{len(share):,} users in the order in which they stop" if many else "", y="weighted share")
    ax.set_ylim(0, 1.05 * float(share.max()) or 1.0)
    style.legend(ax, handles, labels, "round: g (users)" if count <= LEVELS else "")
    if not many:
        style.name_ticks(ax, np.arange(len(share)), [home.instance.users[n] for n in order], 1.0)
    return ax


def _bars(ax: "Axes", share: Floats, number: NDArray[np.intp]) -> list[Any]:
    rows = [np.flatnonzero(number == t) for t in range(number[-1] + 1)]
    return [ax.bar(here, share[here], 1.0, **style.area(t)) for t, here in enumerate(rows)]


def _stairs(ax: "Axes", share: Floats, number: NDArray[np.intp]) -> list[Any]:
    """A step for each user, in the style of its round; of more than STEPS users in a round neighbours share one."""
    handles = []
    for t in range(number[-1] + 1):
        first, end = np.searchsorted(number, [t, t + 1])
        edges = np.linspace(first, end, min(end - first, STEPS) + 1).astype(np.intp)
        handles.append(ax.stairs(share[edges[:-1]], edges - 0.5, fill=True, **style.area(t)))
    return handles


def _numbers(share: Floats) -> NDArray[np.intp]:
    """(N,) the round in which each user stops, from 0."""
    order = np.argsort(share, kind="stable")
    higher = np.diff(share[order]) > style.SAME * share[order][1:]
    result = np.empty(len(share), dtype=np.intp)
    result[order] = np.concatenate([[0], np.cumsum(higher)])
    return result
