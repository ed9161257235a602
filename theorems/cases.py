"""A case: what a claim is tried on, as an object, a JSON document, Python code, and a draft whose numbers can be edited."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from fairalloc.analysis.properties.misreport import Misreport, Vectors
from fairalloc.models.errors import FairallocError, InstanceError, shown
from fairalloc.models.files.jsonio import instance_document, parse_instance
from fairalloc.models.files.python_code import instance_code, value_code
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import exact_text, rational


@dataclass(frozen=True, eq=False)
class Case:
    """The data on which a statement is tried.

    Attributes
    ----------
    instance : the truth
    misreport : what some users report instead
    points : feasible allocations, exact tasks on the arcs of `instance`, for claims about any allocation
    parameters : of the mechanism, such as {"alpha": 2}

    Examples
    --------
    >>> case = Case(Instance([[1], ["1/2"]], [[1]]), Misreport((1,), (((Fraction(1),),),), (None,)))
    >>> case.reported.exact.demands[1]
    ((Fraction(1, 1),),)
    >>> print(case.code())
    Case(
        Instance([[[1]], [['1/2']]], [[1]]),
        misreport=Misreport((1,), (((Fraction(1, 1),),),), (None,)),
    )
    """

    instance: Instance
    misreport: Misreport | None = None
    points: Vectors = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def reported(self) -> Instance:
        """The instance as reported: the truth where nobody misreports."""
        return self.instance if self.misreport is None else self.misreport.reported(self.instance)

    def document(self) -> dict[str, Any]:
        """The case as a JSON document that `parse_case` reads back to the same exact data."""
        result: dict[str, Any] = {"instance": instance_document(self.instance)}
        if self.misreport is not None:
            result["misreport"] = [
                {"user": n, "demands": None if d is None else _texts(d), "eligible": None if e is None else list(e)}
                | ({} if most is None else {"max_tasks": exact_text(rational(most, "a limit"))})
                for n, d, e, most in self.misreport.of_each
            ]
        if self.points:
            result["points"] = _texts(self.points)
        if self.parameters:
            result["parameters"] = {name: _plain(value) for name, value in self.parameters.items()}
        return result

    def code(self) -> str:
        """Python code that rebuilds the case."""
        lines = [f"    {instance_code(self.instance)},"]
        if self.misreport is not None:
            told = self.misreport
            parts = [told.users, told.demands, told.eligible, *([told.max_tasks] if told.max_tasks else [])]
            lines.append(f"    misreport=Misreport({', '.join(map(rational_code, parts))}),")
        lines += [f"    points={rational_code(self.points)},"] if self.points else []
        lines += [f"    parameters={value_code(dict(self.parameters))},"] if self.parameters else []
        return "\n".join(["Case(", *lines, ")"])


def rational_code(value: Any, whole: bool = False) -> str:
    """`repr` of nested tuples of rationals with any number of digits; `whole` = integers in place of those that are whole."""
    if isinstance(value, tuple):
        return f"({', '.join(rational_code(part, whole) for part in value)}{',' * (len(value) == 1)})"
    if not isinstance(value, Fraction):
        return repr(value)
    # Python neither writes nor reads decimal integers of more than 4,300 digits
    parts = [str(part) if part.bit_length() < 14_000 else hex(part) for part in value.as_integer_ratio()]
    return parts[0] if whole and value.denominator == 1 else f"Fraction({', '.join(parts)})"


def parse_case(document: Any) -> Case:
    """The case in a JSON document as `Case.document` writes it."""
    if not isinstance(document, dict) or "instance" not in document:
        raise InstanceError(f"a case is {shown(document)}, but it must be an object with an instance")
    instance = parse_instance(document["instance"])
    try:
        misreport = _parse_misreport(document["misreport"]) if document.get("misreport") else None
        points = _vectors(document.get("points", []))
        parameters = {name: _read(value) for name, value in document.get("parameters", {}).items()}
    except FairallocError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InstanceError(f"a case is {shown(document)}, but its misreport, points or parameters cannot be read") from None
    if misreport is not None and not set(misreport.users) <= set(range(instance.N)):
        raise InstanceError(f"a misreport of the case names the users {misreport.users}, but there are {instance.N} from 0 on")
    if any(len(point) != len(instance.arcs) for point in points):
        raise InstanceError(f"a point of the case does not have one number for each of the {len(instance.arcs)} arcs")
    return Case(instance, misreport, points, parameters)


def _parse_misreport(items: Any) -> Misreport:
    users = tuple(int(item["user"]) for item in items)
    demands = tuple(None if item["demands"] is None else _vectors(item["demands"]) for item in items)
    eligible = tuple(None if item["eligible"] is None else tuple(bool(e) for e in item["eligible"]) for item in items)
    limits = tuple(rational(item["max_tasks"], "a number of the case") if "max_tasks" in item else None for item in items)
    return Misreport(users, demands, eligible, limits if any(most is not None for most in limits) else ())


def _vectors(rows: Any) -> Vectors:
    return tuple(tuple(rational(v, "a number of the case") for v in row) for row in rows)


def _texts(rows: Vectors) -> list[list[str]]:
    return [[exact_text(rational(v, "a number of the case")) for v in row] for row in rows]


def _plain(value: Any) -> Any:
    """Fractions as {"rational": text}, tuples as lists, so that `_read` gives the same objects back."""
    if isinstance(value, Fraction):
        return {"rational": exact_text(value)}
    return [_plain(v) for v in value] if isinstance(value, tuple | list) else value


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return rational(value["rational"], "a number of the case")
    return tuple(_read(v) for v in value) if isinstance(value, list) else value


# ---- drafts ---------------------------------------------------------------------------------------------------------

Row: TypeAlias = list[Fraction]

REPORTED = ("reported", "reported_placement", "reported_limit")


@dataclass
class DraftUser:
    """One user of a draft; `points[k]` maps (variant, server) to its tasks in the k-th point."""

    demands: list[Row]
    weight: Row
    limit: list[Fraction | None]
    placement: list[bool]
    own: dict[int, list[Row]] = field(default_factory=dict)
    reported: list[Row] | None = None
    reported_placement: list[bool] | None = None
    reported_limit: Row | None = None
    points: list[dict[tuple[int, int], Fraction]] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All its demand vectors: true, reported, and of its own on servers."""
        return [*self.demands, *(self.reported or []), *(row for part in self.own.values() for row in part)]

    def at(self, i: int) -> list[Row]:
        """Its demand vectors on a server."""
        return self.own.get(i, self.demands)

    @property
    def misreports(self) -> bool:
        """Whether the user reports something else than the truth."""
        return any(getattr(self, name) is not None for name in REPORTED)


@dataclass(frozen=True)
class Slot:
    """One number of a draft: `holder[key]`; `kind` is demand, capacity, weight, limit, reported or point."""

    kind: str
    holder: Any
    key: Any

    @property
    def value(self) -> Fraction:
        result: Fraction = self.holder[self.key]
        return result

    def set(self, value: Fraction) -> None:
        self.holder[self.key] = value


@dataclass
class Draft:
    """A case as plain lists: every number, user, server, resource and variant can be changed or taken out.

    With a `truth` its instance is that one, whatever the lists say, and only what is reported can be changed.
    """

    users: list[DraftUser]
    capacities: list[Row]
    counts: list[int]
    parameters: dict[str, Any] = field(default_factory=dict)
    truth: Instance | None = None

    @classmethod
    def of(cls, case: Case) -> "Draft":
        exact, arcs = case.instance.exact, case.instance.arcs
        rows = zip(exact.demands, exact.weights, exact.max_tasks, case.instance.placement.tolist(), strict=True)
        users = [DraftUser([[*row] for row in own], [weight], [limit], allowed) for own, weight, limit, allowed in rows]
        for (n, i), own in exact.demands_on.items():
            users[n].own[i] = [[*row] for row in own]
        if case.misreport is not None:
            for n, demands, allowed, most in case.misreport.of_each:
                users[n].reported = None if demands is None else [list(row) for row in demands]
                users[n].reported_placement = None if allowed is None else list(allowed)
                users[n].reported_limit = None if most is None else [most]
        for point in case.points:
            for user in users:
                user.points.append({})
            for n, v, i, value in zip(arcs.user.tolist(), arcs.variant.tolist(), arcs.server.tolist(), point, strict=True):
                users[n].points[-1][v, i] = value
        return cls(users, [list(c) for c in exact.capacities], case.instance.counts.tolist(), dict(case.parameters))

    def case(self, truth: Instance | None = None) -> Case:
        """The case; InstanceError where the instance or the reported one is invalid;
        `truth` = the instance, where it is known.
        """
        instance = truth or self.truth or self._instance()
        case = Case(instance, self._misreport(), self._points(instance), dict(self.parameters))
        if case.misreport is not None:
            _ = case.reported
        return case

    def same_truth(self, other: "Draft") -> bool:
        """Whether the two differ by misreports, points and parameters only."""
        mine, theirs = ([(u.demands, u.weight, u.limit, u.placement, u.own) for u in d.users] for d in (self, other))
        alike = (self.capacities, self.counts, mine) == (other.capacities, other.counts, theirs)
        return alike and self.truth is other.truth  # floors, groups, rates and names are in no list

    def _instance(self) -> Instance:
        return Instance(
            [user.demands for user in self.users],
            self.capacities,
            weights=[user.weight[0] for user in self.users],
            counts=self.counts,
            eligible=np.array([user.placement for user in self.users], dtype=bool).reshape(len(self.users), -1),
            max_tasks=[user.limit[0] for user in self.users],
            demands_on={(n, i): rows for n, user in enumerate(self.users) for i, rows in user.own.items()},
        )

    def _misreport(self) -> Misreport | None:
        liars = {n: user for n, user in enumerate(self.users) if user.misreports}
        demands = tuple(None if u.reported is None else tuple(map(tuple, u.reported)) for u in liars.values())
        eligible = tuple(None if u.reported_placement is None else tuple(u.reported_placement) for u in liars.values())
        limits = tuple(None if u.reported_limit is None else u.reported_limit[0] for u in liars.values())
        told = limits if any(most is not None for most in limits) else ()
        return Misreport(tuple(liars), demands, eligible, told) if liars else None

    def _points(self, instance: Instance) -> Vectors:
        arcs = list(zip(instance.arcs.user.tolist(), instance.arcs.variant.tolist(), instance.arcs.server.tolist(), strict=True))
        count = len(self.users[0].points)
        return tuple(tuple(self.users[n].points[k].get((v, i), Fraction(0)) for n, v, i in arcs) for k in range(count))

    def copy(self) -> "Draft":
        return deepcopy(self, {id(self.truth): self.truth})

    @property
    def size(self) -> tuple[int, int, int]:
        return len(self.users), len(self.capacities), len(self.capacities[0])

    @property
    def rows(self) -> list[Row]:
        """All rows with an entry for each resource."""
        return [*self.capacities, *(row for user in self.users for row in user.rows)]

    def slots(self) -> Iterator[Slot]:
        """Every number, in a fixed order."""
        for row in self.capacities:
            yield from (Slot("capacity", row, r) for r in range(len(row)))
        for user in self.users:
            for row in [*user.demands, *(row for i in sorted(user.own) for row in user.own[i])]:
                yield from (Slot("demand", row, r) for r in range(len(row)))
            for row in user.reported or []:
                yield from (Slot("reported", row, r) for r in range(len(row)))
            if user.reported_limit is not None:
                yield Slot("reported", user.reported_limit, 0)
            yield Slot("weight", user.weight, 0)
            if user.limit[0] is not None:
                yield Slot("limit", user.limit, 0)
            for point in user.points:
                yield from (Slot("point", point, key) for key in sorted(point))

    def without_user(self, n: int) -> "Draft":
        result = self.copy()
        del result.users[n]
        return result

    def without_server(self, i: int) -> "Draft":
        result = self.copy()
        del result.capacities[i], result.counts[i]
        for user in result.users:
            del user.placement[i]
            if user.reported_placement is not None:
                del user.reported_placement[i]
            user.own = {j - (j > i): rows for j, rows in user.own.items() if j != i}
            user.points = [{(v, j - (j > i)): x for (v, j), x in point.items() if j != i} for point in user.points]
        return result

    def without_resource(self, r: int) -> "Draft":
        result = self.copy()
        for row in result.rows:
            del row[r]
        return result

    def without_variant(self, n: int, v: int) -> "Draft":
        result = self.copy()
        user = result.users[n]
        for rows in (user.demands, *user.own.values()):
            del rows[v]
        user.points = [{(w - (w > v), i): x for (w, i), x in point.items() if w != v} for point in user.points]
        return result

    def make_bottlenecks(self, same: bool) -> None:
        """Each server has as much of the other resources as makes its first resource, or its own one, the bottleneck."""
        made = []
        for k, capacity in enumerate(self.capacities):
            r, rows = 0 if same else k % len(capacity), [row for user in self.users if user.placement[k] for row in user.at(k)]
            made.append((capacity, r, rows))
            for row in (capacity, *rows):
                row[r] = row[r] or Fraction(1)
        for capacity, r, rows in made:
            for s in range(len(capacity)):
                capacity[s] = max([capacity[s], *(capacity[r] * row[s] / row[r] for row in rows)])

    def open_every_server(self) -> None:
        """The first user may use a server that nobody can use, and finds there what it demands."""
        for k, capacity in enumerate(self.capacities):
            if not any(self._can_run(user, v, k) for user in self.users for v in range(len(user.demands))):
                self.users[0].placement[k] = True
                capacity[:] = [c or Fraction(int(d > 0)) for c, d in zip(capacity, self.users[0].at(k)[0], strict=True)]

    def _can_run(self, user: DraftUser, v: int, i: int) -> bool:
        """Whether a variant of a user may use a server and finds there what it demands."""
        return user.placement[i] and all(c or not d for c, d in zip(self.capacities[i], user.at(i)[v], strict=True))

    def shrink_points(self) -> None:
        """Points are shrunk until they fit; tasks where nothing can run are dropped."""
        for k in range(len(self.users[0].points)):
            most, loads = [Fraction(1)], defaultdict[tuple[int, int], Fraction](Fraction)
            for user in self.users:
                point = user.points[k] = {key: x for key, x in user.points[k].items() if self._can_run(user, *key)}
                for (v, i), x in point.items():
                    for r, d in enumerate(user.at(i)[v]):
                        loads[i, r] += x * d / (self.capacities[i][r] * self.counts[i]) if d else 0
                if user.limit[0]:  # no instance has a limit of 0
                    most.append(sum(point.values()) / user.limit[0])
            scale = max([*most, *loads.values()])
            for user in self.users:
                user.points[k] = {key: x / scale for key, x in user.points[k].items()}
