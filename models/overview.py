"""What an instance or an allocation looks like, as tables.

Rows of an instance that differ in their names alone are one row.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import require
from fairalloc.models.input.groups import Groups
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import linear_program, literal, without_rounding
from fairalloc.models.tables import Grid
from fairalloc.models.transformations.aggregation import alike_servers, alike_users

HEAD = 20
"""Rows of a table where nothing else is asked for, and the most resources that have a column."""


class _Tables:
    """What is shown as two tables, its `grids`."""

    @property
    def grids(self) -> tuple[Grid, Grid]:
        raise NotImplementedError

    def __str__(self) -> str:
        """Both tables, as wide as the terminal."""
        return "\n".join(grid.text() for grid in self.grids).rstrip("\n")

    def _repr_html_(self) -> str:
        return "".join(grid._repr_html_() for grid in self.grids)


@dataclass(frozen=True, eq=False, repr=False)
class Overview(_Tables):
    """The tables of an instance, with `head` rows each in text and HTML; `to_dict` has all."""

    instance: Instance
    head: int = HEAD

    @cached_property
    def users(self) -> list[list[int]]:
        """The users by classes of equal ones, in the order of the first of each."""
        instance = self.instance
        groups = [] if instance.groups is None else [instance.groups.of_user]
        numbers = (instance.weights, instance.max_tasks, instance.min_tasks)
        return _members(alike_users(instance, *(part.tolist() for part in numbers), *groups))

    @cached_property
    def servers(self) -> list[list[int]]:
        """The servers by classes of equal ones."""
        return _members(alike_servers(self.instance, self.instance.counts.tolist()))

    @property
    def eligibility(self) -> dict[str, int]:
        """Pairs of user and server: eligible, not placed, lacking what a task takes; fewest and most servers of a user."""
        instance = self.instance
        placed, able = int(instance.placement.sum()), int(instance.eligible.sum())
        each = instance.eligible.sum(axis=1)
        pairs = {"pairs": able, "not_placed": instance.N * instance.K - placed, "lacking": placed - able}
        return {**pairs, "fewest": int(each.min()), "most": int(each.max())}

    @checked
    def alone(self, n: int) -> float:
        """The tasks that the user could run with all its servers for itself, side by side in the best mixture of its variants."""
        instance, arcs = self.instance, self.instance.arcs
        require(0 <= n < instance.N, "the user is", n, f"users are numbered 0 to {instance.N - 1}")
        first, last = np.searchsorted(arcs.user, [n, n + 1])
        if len(instance.demands[n]) == 1:
            total = float(arcs.gamma[first:last].sum())
        else:
            load, unit = arcs.load[:, first:last].tocsr(), arcs.gamma[first:last]
            load = load[np.diff(load.indptr) > 0] * unit
            total = -float(linear_program(-unit, load, np.ones(load.shape[0])).fun)
        return min(total, float(instance.max_tasks[n]))

    @checked
    def user(self, n: int) -> dict[str, Any]:
        """One user: demands, weight, limit, floor and group where there are any, number of servers, what it runs alone; with one
        demand vector its dominant resource.

        `share` is the part that `alone` tasks take of all there is of the dominant resource.
        """
        alone, instance, vectors = self.alone(n), self.instance, self.instance.demands[n]
        limit = float(instance.max_tasks[n])
        result: dict[str, Any] = {"user": instance.users[n], "demands": vectors.tolist(), "weight": float(instance.weights[n])}
        result |= {"max_tasks": limit if np.isfinite(limit) else None}
        result |= {"min_tasks": float(instance.min_tasks[n])} if instance.has_floors else {}
        if (groups := instance.groups) is not None:
            result["group"] = (*groups.names, None)[groups.of_user[n]]
        result["servers"] = int(instance.eligible[n].sum())
        result |= {"alone": alone, "dominant": None, "share": None}
        if len(vectors) == 1 and instance.rates is None and not any(n == own for own, _ in instance.own):
            parts = np.divide(vectors[0], instance.totals, out=np.zeros(instance.R), where=vectors[0] > 0)
            r = int(parts.argmax())
            result |= {"dominant": instance.resources[r], "share": alone * float(parts[r])}
        return result

    @property
    def grids(self) -> tuple[Grid, Grid]:
        instance = self.instance
        able = instance.eligible.sum(axis=0)
        servers = [
            [_named(instance.servers, same), f"{instance.counts[i]}", *map(_short, instance.capacities[i, :HEAD]), f"{able[i]}"]
            for same in self.servers[: self.head]
            for i in same[:1]
        ]
        columns = ["server", "count", *instance.resources[:HEAD], "users"]
        notes = [*_more(self.servers[self.head :]), *_more_resources(instance)]
        first = Grid(repr(instance), columns, servers, notes, right=range(1, len(columns)))
        rows = [row for same in self.users[: self.head] for row in self._rows(same)]
        given = ["weight", "max tasks", *["min tasks"] * instance.has_floors, *["group"] * (instance.groups is not None)]
        columns = ["user", *given, *instance.resources[:HEAD], "dominant", "servers", "alone", "share alone"]
        right = [k for k, column in enumerate(columns) if k and column not in ("dominant", "group")]
        notes = [*_more(self.users[self.head :]), *_more_resources(instance), *self._notes()]
        return first, Grid("A task takes", columns, rows, notes, right=right)

    def _rows(self, same: list[int]) -> list[list[str]]:
        """A row for each variant of a class of users."""
        facts, instance = self.user(same[0]), self.instance
        numbers = [facts[key] for key in ("weight", "max_tasks", "min_tasks") if key in facts]
        given = ["" if number is None else _short(number) for number in numbers]
        if "group" in facts:
            given.append(facts["group"] or "")
        share = "" if facts["share"] is None else f"{facts['share']:.3g}"
        last = [facts["dominant"] or "", f"{facts['servers']} of {instance.K}", _short(facts["alone"]), share]
        first, *others = [list(map(_short, vector[:HEAD])) for vector in facts["demands"]]
        blank = [["", *[""] * len(given), *vector, "", "", "", ""] for vector in others]
        return [[_named(instance.users, same), *given, *first, *last], *blank]

    def _notes(self) -> list[str]:
        """Who may run where, and what the last columns mean."""
        facts = self.eligibility
        notes = ["Every user may use every server."]
        if facts["not_placed"] or facts["lacking"]:
            pairs = f"{facts['pairs']} of {self.instance.N * self.instance.K} pairs of user and server"
            why = f"{facts['not_placed']} by placement, {facts['lacking']} because the server lacks what a task takes"
            notes = [f"{pairs} are eligible, {facts['fewest']} to {facts['most']} servers for each user.", f"Excluded: {why}."]
        if self.instance.own:
            notes.append(f"Demands differ on the server for {len(self.instance.own)} pairs of user and server.")
        if (rates := self.instance.rates) is not None:
            notes.append(f"Rates go from {rates.data.min():.3g} to {rates.data.max():.3g}: a task takes its demands / rate.")
        notes += self._of_groups()
        notes.append("alone: the tasks that a user could run with all its servers for itself.")
        notes.append("share alone: what these tasks take of all there is of the user's dominant resource.")
        return notes

    def _of_groups(self) -> list[str]:
        """What each group has, below the groups that it is in."""
        groups = self.instance.groups or Groups.none(0)
        rows = zip(groups.names, groups.parent, groups.weights, groups.guarantees, strict=True)
        lines = [
            f"Group {name}{f' in {groups.names[above]}' if above >= 0 else ''}: weight {_short(float(weight))}"
            + f", guarantee {_short(float(part))} of the system" * bool(part)
            + "."
            for name, above, weight, part in rows
        ]
        return lines[: self.head] + [f"... and {len(lines) - self.head} more groups"] * (len(lines) > self.head)

    def __repr__(self) -> str:
        return f"<overview of {self.instance!r}>"

    def to_dict(self) -> dict[str, Any]:
        """All classes of users and servers as a JSON document; `names` has all members of a class."""
        instance = self.instance
        users = [{**self.user(same[0]), "names": [instance.users[n] for n in same]} for same in self.users]
        able = instance.eligible.sum(axis=0)
        servers = [
            {"server": instance.servers[i], "capacity": instance.capacities[i].tolist(), "count": int(instance.counts[i])}
            | {"users": int(able[i]), "names": [instance.servers[j] for j in same]}
            for same in self.servers
            for i in same[:1]
        ]
        sizes = {"users": instance.N, "servers": instance.K, "resources": instance.R, "arcs": instance.A}
        head: dict[str, Any] = {
            "schema": "fairalloc-overview/1",
            "instance": instance.name,
            "resources": list(instance.resources),
        }
        head |= {} if instance.groups is None else {"groups": instance.groups.document(instance.users, literal)}
        return {**head, "sizes": sizes, "eligibility": self.eligibility, "servers": servers, "users": users}


@dataclass(frozen=True, eq=False, repr=False)
class AllocationOverview(_Tables):
    """The tables of an allocation, with `head` rows each."""

    allocation: Allocation
    head: int = HEAD

    @property
    def grids(self) -> tuple[Grid, Grid]:
        """The tasks of the users, and the used part of every capacity, "-" where there is none."""
        allocation, instance = self.allocation, self.allocation.instance
        title = repr(allocation).split("\n")[0].removeprefix("<").removesuffix(">")
        rows = [
            [server, *(f"{part:.1%}" if there > 0 else "-" for part, there in zip(parts[:HEAD], pools[:HEAD], strict=True))]
            for server, parts, pools in zip(instance.servers, without_rounding(allocation.load), instance.pools, strict=True)
        ]
        columns, notes = ["server", *instance.resources[:HEAD]], _more_resources(instance)
        used = Grid("Used", columns, rows, notes, right=range(1, len(columns)))
        return allocation.grid(title, self.head), used.head(self.head)

    def __repr__(self) -> str:
        return f"<overview of {self.allocation!r}>"


def _members(of: NDArray[np.intp]) -> list[list[int]]:
    return [part.tolist() for part in np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])]


def _named(names: tuple[str, ...], same: list[int]) -> str:
    return names[same[0]] + (f" and {len(same) - 1} alike" if len(same) > 1 else "")


def _more(left: list[list[int]]) -> list[str]:
    rows, members = len(left), sum(map(len, left))
    return [f"... and {members} more in {rows} more rows"] if rows else []


def _more_resources(instance: Instance) -> list[str]:
    more = instance.R - HEAD
    return [f"... and {more} more resources"] if more > 0 else []


def _short(value: float) -> str:
    return f"{value:.6g}"
