"""A page on which mechanisms are compared: one file that opens without a network and can be printed.

Mechanisms are columns. Answers of one mechanism that differ in one parameter, such as alpha, are one column with a slider; every
answer is in the page already.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from itertools import chain, groupby
from string import Template
from typing import NamedTuple

import numpy as np

from fairalloc.analysis.compare import MechanismComparison, error_text
from fairalloc.analysis.plots.bars import dominant_share
from fairalloc.analysis.plots.style import COLOURS, DARK_COLOURS
from fairalloc.analysis.verdict import WORDS, Verdict
from fairalloc.formulations import MECHANISMS
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import without_rounding
from fairalloc.models.transformations.aggregation import aggregate_allocation

COLOURED, USERS, SERVERS = 8, 40, 12
"""Users with colours of their own, users with rows, servers with rows: of more servers identical ones are one class."""

HATCHES = ("", "M0 8L8 0", "M2 4h1M6 4h1", "M0 0L8 8", "M0 8L8 0M0 0L8 8", "M0 4H8", "M4 0V8", "M0 4H8M4 0V8")
"""Lines in a square of 8, so that users differ without colour."""

WIDTH, HIGH, LEFT, LETTER = 160.0, 16.0, 80.0, 5.2
"""Of a server's bars: all, the height of one, the most for the names of resources, and the width of a letter."""

SWATCH = "<svg viewBox='0 0 16 10'><rect width=16 height=10 fill='url(#u{})' stroke='#333' stroke-width=.5 /></svg>"


class _Column(NamedTuple):
    """A mechanism: its answers by label, and what stands above; several answers have a slider with a value for each."""

    title: str
    answers: Mapping[str, Allocation]
    parameter: str = ""


@checked
def explorer_page(comparison: MechanismComparison) -> str:
    """The page, as text of HTML.

    Parameters
    ----------
    comparison : what `compare` returns; its properties are those that the page shows

    Raises
    ------
    InstanceError : no mechanism of it has an answer
    """
    answered = {label: one for label, one in comparison.allocations.items() if one.has_point}
    if not answered:
        why = "".join(f"; {sentence}" for sentence in comparison.without_answer[:1])
        raise InstanceError(f"the comparison has no answer, but a page shows at least one{why}")
    return _Page(comparison, list(_columns(answered))).text()


def _columns(answers: Mapping[str, Allocation]) -> Iterator[_Column]:
    """Neighbours of one mechanism that differ in one parameter, a number, are one column."""
    for name, neighbours in groupby(answers.items(), key=lambda item: item[1].mechanism):
        group = dict(neighbours)
        given = [dict(one.parameters) for one in group.values()]
        free = [key for key in dict.fromkeys(chain(*given)) if any(own.get(key) != given[0].get(key) for own in given)]
        if len(free) == 1 and all(isinstance(a := own.get(free[0]), int | float) or a == "inf" for own in given):
            yield _Column(name, group, free[0])
        else:
            yield from (_Column(label, {label: one}) for label, one in group.items())


class _Page:
    """The parts of the page; users with colours of their own are those with the largest dominant shares, in their order."""

    def __init__(self, comparison: MechanismComparison, columns: Sequence[_Column]) -> None:
        self.comparison, self.columns, self.instance = comparison, columns, comparison.instance
        answers = {label: one for column in columns for label, one in column.answers.items()}
        most = np.max([dominant_share(one) for one in answers.values()], axis=0)
        coloured = sorted(np.argsort(-most, kind="stable")[:COLOURED].tolist())
        self.answers = {label: _Answer(one, coloured) for label, one in answers.items()}

    def text(self) -> str:
        template = Template((files("fairalloc.analysis") / "templates" / "explorer.html").read_text(encoding="utf-8"))
        names = next(iter(self.answers.values())).names
        return template.substitute(
            title=escape(f"Who gets what: {self.instance.name or 'an instance'}"),
            patterns="".join(map(_pattern, range(COLOURED + 1))),
            intro=self._intro(),
            legend="".join(f"<li>{SWATCH.format(k)}{escape(name)}</li>" for k, name in names),
            heads="".join(self._head(k, column) for k, column in enumerate(self.columns)),
            rows="\n".join(self._rows()),
            wide=f"{8 + 10 * len(self.columns)}em",
        )

    def _intro(self) -> str:
        here = self.instance
        size = f"{here.N:,} users share {int(here.counts.sum()):,} servers with {', '.join(here.resources)}."
        read = "A bar is all of a resource of a server; its parts are what users take. Pointing at a part shows its numbers."
        return "".join(f"<p>{escape(text)}</p>" for text in (f"{size} {read}", *self.comparison.without_answer))

    def _head(self, k: int, column: _Column) -> str:
        about = next(iter(column.answers.values())).mechanism
        told = f"<p class=small>{escape(MECHANISMS[about].title)}</p>" if about in MECHANISMS else ""
        if column.parameter:
            most, name, label = len(column.answers) - 1, column.parameter, escape(column.parameter)
            told += f"<input type=range min=0 max={most} value=0 data-of={k} aria-label='{label}'>"
            told += _steps(k, [escape(f"{name} = {float(one.parameters[name]):g}") for one in column.answers.values()])
        return f"<th scope=col>{escape(column.title)}{told}</th>"

    def _rows(self) -> Iterator[str]:
        here = max((one.drawn for one in self.answers.values()), key=lambda instance: instance.K)
        yield self._row("answer", _Answer.outcome)
        yield self._part("What users take of every server")
        for i in range(min(here.K, SERVERS)):
            count = f" ({here.counts[i]:,})" if here.counts[i] > 1 else ""
            yield self._row(here.servers[i] + count, partial(_Answer.of_server, i=i, several=here.K > 1))
        yield from self._more(here.K - SERVERS, "servers")
        yield self._part("Tasks of every user, and the largest part of a resource of all servers that they take")
        for n, user in list(enumerate(self.instance.users))[:USERS]:
            yield self._row(user, partial(_Answer.of_user, n=n))
        yield from self._more(self.instance.N - USERS, "users")
        yield self._part("Prices of each resource, as parts of the sum of all (of several rounds the first; -: none)")
        for i, server in list(enumerate(self.instance.servers))[:SERVERS]:
            yield self._row(server, partial(_Answer.prices, i=i, several=self.instance.K > 1))
        yield from self._more(self.instance.K - SERVERS, "servers")
        yield self._part("Properties of these answers (a mechanism may allow others), and what violates them")
        for name, found in self.comparison.verdicts.items():
            yield self._cells(name, {label: _verdict(found[label]) if label in found else "" for label in self.answers})

    def _more(self, count: int, what: str) -> Iterator[str]:
        if count > 0:
            yield self._part(f"... and {count:,} more {what}")

    def _part(self, title: str) -> str:
        return f"<tr class=part><th colspan={len(self.columns) + 1}>{escape(title)}</th></tr>"

    def _row(self, head: str, cell: Callable[["_Answer"], str]) -> str:
        return self._cells(head, {label: cell(one) for label, one in self.answers.items()})

    def _cells(self, head: str, cells: Mapping[str, str]) -> str:
        found = ([cells[label] for label in column.answers] for column in self.columns)
        told = (_steps(k, inner) if len(inner) > 1 else inner[0] for k, inner in enumerate(found))
        return f"<tr><th scope=row>{escape(head)}</th>{''.join(f'<td>{one}</td>' for one in told)}</tr>"


def _steps(column: int, inner: Sequence[str]) -> str:
    """What stands in a column for each place of its slider, the first of them shown."""
    hidden = ("", *[" hidden"] * len(inner))
    return "".join(f"<div data-column={column} data-step={j}{hidden[j]}>{own}</div>" for j, own in enumerate(inner))


class _Answer:
    def __init__(self, one: Allocation, coloured: Sequence[int]) -> None:
        self.one, self.tasks, self.shares = one, one.shown_tasks, without_rounding(dominant_share(one))
        shown = aggregate_allocation(one) if one.instance.K > SERVERS else one
        self.drawn: Instance = shown.instance
        rest = np.setdiff1d(np.arange(self.drawn.N), coloured)
        others = [shown.used[rest].sum(axis=0)] if len(rest) else []
        self.used = np.array([*shown.used[list(coloured)], *others])
        self.names = [(k, self.drawn.users[n]) for k, n in enumerate(coloured)]
        self.names += [(COLOURED, f"{len(rest):,} other users")] if len(rest) else []
        self.left = min(LETTER * max(map(len, self.drawn.resources)) + 4, LEFT)

    def outcome(self) -> str:
        return escape(f"{self.one.outcome} by {self.one.method}, residual {error_text(self.one.residual)}")

    def of_user(self, n: int) -> str:
        """Tasks and dominant share of user n."""
        share = float(self.shares[n])
        bar = f"<rect y=1 width={100 * min(share, 1.0):.1f} height=4 fill='#0072B2' />"
        drawn = f"<svg viewBox='0 0 100 6' preserveAspectRatio=none style='height:6px'>{bar}</svg>"
        return f"<span class=number>{float(self.tasks[n]):.6g} ({100 * share:.1f} %)</span>{drawn}"

    def _pool(self, several: bool) -> str:
        """What is said of the one pool that stands in the row of the first of several servers."""
        return "<span class=small>all servers as one pool: </span>" if several and self.one.instance.K == 1 else ""

    def prices(self, i: int, several: bool) -> str:
        """Those of server i."""
        prices = self.one.prices
        if prices is None or i >= self.one.instance.K or not (np.isfinite(prices).all() and prices.sum() > 0):
            return "-"
        parts = zip(self.one.instance.resources, 100 * prices[i] / prices.sum(), strict=True)
        told = [f"{resource} {part:.1f} %" for resource, part in parts if part >= 0.05]
        return f"{self._pool(several)}<span class=number>{escape(', '.join(told) or '0 %')}</span>"

    def of_server(self, i: int, several: bool) -> str:
        """Its resources, one bar below the other."""
        here = self.drawn
        if i >= here.K:
            return "in the pool above"
        there = np.flatnonzero(here.pools[i] > 0)
        parts = self.used[:, i, there] / here.pools[i, there]
        bars = "".join(self._bar(1 + row * HIGH, here.resources[r], parts[:, row]) for row, r in enumerate(there))
        return f"{self._pool(several)}<svg viewBox='0 0 {WIDTH:g} {HIGH * len(there) + 2:g}' role=img>{bars}</svg>"

    def _bar(self, y: float, resource: str, parts: Sequence[float]) -> str:
        all_of_it, box, most = WIDTH - self.left - 2, f"y={y:g} height={HIGH - 3:g}", int(self.left / LETTER)
        short = resource if len(resource) <= most else resource[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
        pieces = [_letters(0, y, short, "start")]
        pieces.append(f"<rect x={self.left:g} {box} width={all_of_it:g} fill=none stroke='#888' stroke-width=.6 />")
        x = self.left
        for (k, name), part in zip(self.names, parts, strict=True):
            wide = float(part) * all_of_it
            if wide > 0.05:
                title = f"<title>{escape(f'{name}: {100 * part:.1f} % of {resource}')}</title>"
                fill = f"fill='url(#u{k})' stroke='#333' stroke-width=.4"
                pieces.append(f"<rect x={x:.2f} {box} width={wide:.2f} {fill}>{title}</rect>")
            if len(name) * LETTER + 4 < wide:
                pieces.append(_letters(x + wide / 2, y, name, "middle"))
            x += wide
        return "".join(pieces)


def _letters(x: float, y: float, text: str, anchor: str) -> str:
    return f"<text x={x:.2f} y={y + 10:g} text-anchor={anchor}>{escape(text)}</text>"


def _pattern(k: int) -> str:
    """The fill of user number k; the last one is that of all others."""
    colour = "#DDDDDD" if k == COLOURED else COLOURS[(k + k // len(COLOURS)) % len(COLOURS)]
    lines, ink = "" if k == COLOURED else HATCHES[k % len(HATCHES)], "#fff" if colour in DARK_COLOURS else "#333"
    area = f"<rect width=8 height=8 fill='{colour}' /><path d='{lines}' stroke='{ink}' stroke-width=.8 fill=none />"
    return f"<pattern id=u{k} width=8 height=8 patternUnits=userSpaceOnUse>{area}</pattern>"


def _verdict(found: Verdict) -> str:
    if found.holds:
        return "yes"
    look = "small" if found.holds is None else "no"
    return f"<span class={look}>{WORDS[found.holds]}</span><p class=small>{escape(found.sentence)}</p>"
