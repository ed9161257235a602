"""Instances and allocations as JSON (schemas fairalloc-instance/2 and fairalloc-allocation/1, files beside this one).

Numbers are JSON numbers, read as the decimals they show, or strings that hold rationals ("1/5").
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import numpy as np

from fairalloc.models.allocation import SAME, Allocation, check_rational
from fairalloc.models.arguments import checked
from fairalloc.models.errors import PATH, FairallocError, InstanceError, check_name, listed, no_such, require, shown
from fairalloc.models.files.writing import write_file
from fairalloc.models.input.validation import Places
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import DECIMAL, Floats, as_json, exact_text, finite, literal, rational

INSTANCE_SCHEMA = "fairalloc-instance/2"
INSTANCE_SCHEMAS = ("fairalloc-instance/1", INSTANCE_SCHEMA)
T = TypeVar("T")

OF_USERS, SINCE_2 = ("name", "demands", "weight", "max_tasks", "eligible", "demands_on"), ("rates", "min_tasks")
"""The fields of a user, and those that fairalloc-instance/1 does not have."""

ALLOCATION_SCHEMA, ARRAYS = "fairalloc-allocation/1", ("prices", "round_prices", "bundles")

LARGEST = 1 << 29
"""The most bytes of a file that are read."""


class NotJson(InstanceError):  # noqa: N818 (the words users read)
    """A text that is no JSON at all."""


def read_json(path: str | Path) -> Any:
    """The JSON value in a file of UTF-8 text; a key given twice, NaN, Infinity and numbers beyond floating point are errors."""
    return _opened(path, parse_json)


def read_text(path: str | Path) -> str:
    """The text in a file of UTF-8."""
    return _opened(path, _decoded)


def _opened(path: str | Path, read: Callable[[bytes, str], T]) -> T:
    """What is read from the bytes of a file, whose name errors tell."""
    require(isinstance(path, str | Path), "the file is", path, "it must be a path")
    try:
        with open(path, "rb") as file:
            return read(read_bytes(file, str(path)), str(path))
    except OSError as error:
        raise InstanceError(f"{str(path) or repr('')} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, FairallocError):
            raise
        raise InstanceError(f"{shown(str(path), PATH)} cannot be read: no file can have this name") from None


def read_bytes(file: BinaryIO, what: str) -> bytes:
    """What is left to read of an open file; InstanceError as soon as it is binary or too much, so that endless files end."""
    pieces, size = [], 0
    while piece := file.read(1 << 20):
        size += len(piece)
        if b"\0" in piece:
            raise InstanceError(f"{what} cannot be read: it is not UTF-8 text")
        if size > LARGEST:
            raise InstanceError(f"{what} cannot be read: it has more than {LARGEST:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InstanceError(f"{what} cannot be read: it is not UTF-8 text") from None


def parse_json(text: str | bytes, what: str) -> Any:
    """The JSON value in a text, with the rules of `read_json`; `what` names it in errors."""
    text = _decoded(text, what) if isinstance(text, bytes) else text
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_number, parse_float=_float)
    except json.JSONDecodeError as error:
        tables = "; tables are given by --users FILE.csv and --servers FILE.csv" if what.endswith(".csv") else ""
        raise NotJson(f"{what} is not JSON: {error.msg} in line {error.lineno}{tables}") from None
    except InstanceError as error:
        raise InstanceError(f"{what} cannot be used: {error}") from None
    except (RecursionError, ValueError):
        raise InstanceError(f"{what} cannot be read: it nests too deeply or holds an integer of thousands of digits") from None


def named_values(texts: Sequence[str], what: str) -> dict[str, Any]:
    """The values of texts such as "alpha=3", in JSON or decimals such as .5; others are texts. `what` names a text in errors."""
    result: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        require(equals and name.isidentifier(), f"{what} is", text, "it must be name=value")
        if name in result:
            raise InstanceError(f"{what} {name} is given twice")
        try:
            read = parse_json(value, f"{what} {name}")
        except NotJson:
            read = finite(value, f"{what} {name}") if DECIMAL.fullmatch(value) else value
        result[name] = int(read) if isinstance(read, float) and read.is_integer() else read
    return result


def write_json(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a document as indented JSON; InstanceError where the file cannot be written."""
    write_file(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


@checked
def read_instance(path: str | Path) -> Instance:
    """The instance in a file of schema fairalloc-instance/2 or fairalloc-instance/1; InstanceError where it is damaged."""
    return parse_instance(read_json(path), f"the instance in {path}")


@checked
def write_instance(instance: Instance, path: str | Path) -> None:
    """Write the instance to a file of schema fairalloc-instance/2, which `read_instance` reads back to the same exact data."""
    write_json(instance_document(instance), path)


def parse_instance(document: Any, what: str = "the instance") -> Instance:
    """The instance in a parsed JSON document, which errors call `what`; an InstanceError names the field that is wrong."""
    known = ("schema", "name", "resources", "servers", "users", "groups")
    _object(document, what, known, required=("schema", "resources", "servers", "users"))
    _check_schema(document, what, INSTANCE_SCHEMAS)
    new = document["schema"] == INSTANCE_SCHEMA
    groups, resources = document.get("groups"), document["resources"]
    require(new or groups is None, "groups are", groups, f"only {INSTANCE_SCHEMA!r} has them")
    require(isinstance(resources, list), "the resources are", resources, "they must be a list of names")
    servers = _objects(document["servers"], "server", ("name", "capacity", "count"), ("name", "capacity"))
    users = _objects(document["users"], "user", OF_USERS + SINCE_2 * new, ("name", "demands"))
    for server in servers:
        _check_server(server)
    for user in users:
        _check_user(user)
    return Instance(
        [u["demands"] for u in users],
        [s["capacity"] for s in servers],
        weights=[u.get("weight", 1) for u in users],
        counts=[s.get("count", 1) for s in servers],
        eligible={n: u.get("eligible") for n, u in enumerate(users)},
        rates={n: u.get("rates") for n, u in enumerate(users)} if any(u.get("rates") for u in users) else None,
        max_tasks=[u.get("max_tasks") for u in users],
        min_tasks=[u.get("min_tasks", 0) for u in users] if any("min_tasks" in u for u in users) else None,
        demands_on={(n, server): v for n, u in enumerate(users) for server, v in u.get("demands_on", {}).items()},
        groups=groups,
        name=document.get("name", ""),
        users=[u["name"] for u in users],
        servers=[s["name"] for s in servers],
        resources=resources,
    )


def _check_schema(document: Mapping[str, Any], what: str, known: Sequence[str]) -> None:
    """InstanceError where a document is not of a known schema, of which the last is the newest."""
    require(document["schema"] in known, f"the schema of {what} is", document["schema"], f"it must be {known[-1]!r}")


def _check_server(server: Mapping[str, Any]) -> None:
    """InstanceError where a field is of a form that `Instance` would read in another way."""
    name, count, capacity = server["name"], server.get("count", 1), server["capacity"]
    require(not isinstance(count, str), f"the count of server {name!r} is", count, "it must be a JSON integer")
    require(not isinstance(capacity, dict), f"the capacity of server {name!r} is", capacity, "it must be a list of numbers")


def _check_user(user: Mapping[str, Any]) -> None:
    """As `_check_server`."""
    who, chosen, rates, on = f"of user {user['name']!r}", user.get("eligible"), user.get("rates"), user.get("demands_on", {})
    require(_vectors(user["demands"]), f"the demands {who} are", user["demands"], "they must be a list of vectors")
    require(chosen is None or isinstance(chosen, list), f"eligible {who} is", chosen, "it must be a list of servers or null")
    rated = rates is None or (isinstance(rates, dict) and rates)
    require(rated, f"rates {who} are", rates, "they must give servers their rates, or be null")
    vectors = isinstance(on, dict) and all(map(_vectors, on.values()))
    require(vectors, f"demands_on {who} is", on, "it must give each server a list of vectors")


def instance_document(instance: Instance) -> dict[str, Any]:
    """The instance as a document that `parse_instance` reads back to the same exact data."""
    exact = instance.exact
    rows = zip(instance.servers, exact.capacities, instance.counts.tolist(), strict=True)
    servers = [{"name": s, "capacity": list(map(literal, c)), "count": q} for s, c, q in rows]
    users: list[dict[str, Any]] = []
    on, rates = defaultdict[int, dict[str, Any]](dict), defaultdict[int, dict[str, Any]](dict)
    for (n, i), vectors in exact.own.items():
        on[n][instance.servers[i]] = [list(map(literal, v)) for v in vectors]
    for (n, i), rate in exact.rates.items():
        rates[n][instance.servers[i]] = literal(rate)
    allowed: list[list[str] | None] = [None] * instance.N  # the servers that placement allows, None for all
    if instance.allowed is not None:
        ends = pairwise(instance.allowed.indptr.tolist())
        lists = [[instance.servers[i] for i in instance.allowed.indices[start:end]] for start, end in ends]
        allowed = [None if len(found) == instance.K else found for found in lists]
    for n, name in enumerate(instance.users):
        limit = exact.max_tasks[n]
        user: dict[str, Any] = {"name": name, "demands": [list(map(literal, d)) for d in exact.demands[n]]}
        user |= {"weight": literal(exact.weights[n]), "max_tasks": None if limit is None else literal(limit)}
        user |= {"min_tasks": literal(exact.min_tasks[n])} if instance.has_floors else {}
        user["eligible"] = allowed[n]
        user |= {"rates": rates[n]} if rates else {}
        users.append(user | ({"demands_on": on[n]} if n in on else {}))
    head = {"schema": INSTANCE_SCHEMA, "name": instance.name, "resources": list(instance.resources)}
    tree = {} if instance.groups is None else {"groups": instance.groups.document(instance.users, literal)}
    return {**head, "servers": servers, "users": users, **tree}


def fingerprint(instance: Instance) -> str:
    """A short hash of the exact data and the names: equal for equal instances, on any machine."""
    digest = hashlib.sha256()
    _feed(digest, (instance.users, instance.servers, instance.resources, instance.content, *_beyond_floats(instance)))
    return digest.hexdigest()[:16]


def _feed(digest: Any, value: Any) -> None:
    """Bytes as they are, tuples part by part, all else as it prints; each with its length."""
    if isinstance(value, tuple):
        digest.update(b"(%d" % len(value))
        for part in value:
            _feed(digest, part)
        return
    data = value if isinstance(value, bytes) else repr(value).encode()
    digest.update(b"%d:" % len(data))
    digest.update(data)


def _beyond_floats(instance: Instance) -> Iterator[tuple[int, Fraction]]:
    """The numbers, by position, that are not the decimals of their floats."""
    if instance.floats_are_exact:
        return
    exact = instance.exact
    own = chain.from_iterable(vectors for _, vectors in sorted(exact.own.items()))
    vectors = chain(chain.from_iterable(exact.demands), own, exact.capacities)
    numbers = chain(chain.from_iterable(vectors), exact.weights, exact.max_tasks, exact.rates.values(), exact.min_tasks)
    for k, number in enumerate(numbers):
        if number and Fraction(repr(float(number))) != number:
            yield k, number


def allocation_document(allocation: Allocation) -> dict[str, Any]:
    """The allocation as a document of schema fairalloc-allocation/1; numbers that are not finite become null."""
    instance = allocation.instance
    return {
        "schema": ALLOCATION_SCHEMA,
        "instance": instance.name,
        "mechanism": allocation.mechanism,
        "method": allocation.method,
        "parameters": as_json(allocation.parameters),
        "termination": allocation.termination,
        "message": allocation.message,
        **({"not_judged": allocation.not_judged} if allocation.not_judged else {}),
        "users": [_user_document(allocation, n) for n in range(instance.N)],
        "values": as_json(allocation.values),
        "residuals": as_json(allocation.residuals),
        **({} if allocation.user_error is None else {"user_error": as_json(allocation.user_error)}),
        "stats": {f"{k}_s": v for k, v in asdict(allocation.times).items()}
        | {"iterations": allocation.iterations, "threads": allocation.threads},
        "versions": dict(allocation.versions),
        **{name: value.tolist() for name in ARRAYS if (value := getattr(allocation, name)) is not None},
        **({"log": list(allocation.log)} if allocation.log else {}),
        **({"trace": as_json(allocation.trace)} if allocation.trace else {}),
    }


@checked
def write_allocation(allocation: Allocation, path: str | Path) -> None:
    """Write the allocation to a file of schema fairalloc-allocation/1."""
    write_json(allocation_document(allocation), path)


def _user_document(allocation: Allocation, n: int) -> dict[str, Any]:
    instance, arcs, exact = allocation.instance, allocation.instance.arcs, allocation.x_exact
    own, servers = range(*arcs.owner.indptr[n : n + 2].tolist()), defaultdict[int, list[int]](list)
    for a in own:
        servers[int(arcs.server[a])].append(a)
    there = {instance.servers[i]: servers[i] for i in sorted(servers)}  # the arcs on each server
    user: dict[str, Any] = {"name": instance.users[n], "tasks": as_json(allocation.tasks[n])}
    user["by_server"] = {server: as_json(sum(allocation.x[a] for a in some)) for server, some in there.items()}
    user["by_variant"] = as_json(allocation.by_variant[n])
    if instance.vectors.counts[n] > 1:
        rational = {} if exact is None else {a: {"tasks_exact": exact_text(exact[a])} for a in own}
        user["by_arc"] = [
            {"server": instance.servers[arcs.server[a]], "variant": int(arcs.variant[a]), "tasks": as_json(allocation.x[a])}
            | rational.get(a, {})
            for a in own
        ]
    if exact is not None:
        user["tasks_exact"] = exact_text(sum((exact[a] for a in own), Fraction(0)))
        parts = {server: sum((exact[a] for a in some), Fraction(0)) for server, some in there.items()}
        user["by_server_exact"] = {server: exact_text(tasks) for server, tasks in parts.items()}
    return user


def parse_allocation(document: Any, instance: Instance, what: str = "the allocation") -> Allocation:
    """The allocation in a document, on the given instance.

    Residuals and values are not read: they are computed from the instance. Nor is what the solve said of itself.
    Only `schema`, `users` and their `name` and `by_server` are needed, of a user with variants `by_arc` too, which then counts
    alone; an arc that is left out has 0 tasks.
    Rationals (`by_server_exact`, or `tasks_exact` in `by_arc`) must be given for all of these tasks or for none, and must agree
    with them.
    `prices` and `round_prices` are hints, from which methods start and residuals are computed; they may be left out, as may
    `bundles`.
    A `trace` comes back with tuples for its lists and nan for its nulls, a `log` line by line.
    """
    _object(document, what, None, required=("schema", "users"))
    _check_schema(document, what, (ALLOCATION_SCHEMA,))
    x, x_exact = _tasks(document["users"], instance)
    parameters, log = document.get("parameters", {}), document.get("log", [])
    require(isinstance(parameters, dict), "the parameters of the allocation are", parameters, "they must be an object")
    lines = isinstance(log, list) and all(isinstance(line, str) for line in log)
    require(lines, "the log of the allocation is", log, "it must be a list of lines")
    return Allocation(
        instance,
        x,
        mechanism=_name(document, "mechanism"),
        method=_name(document, "method"),
        parameters=parameters,
        trace=tuple(
            {key: _fact(fact, f"{key!r} of a trace event") for key, fact in event.items()}
            for event in _objects(document.get("trace", []), "trace event", None, ())
        ),
        log=tuple(log),
        **{field: _numbers(document[field], field) for field in ARRAYS if field in document},
        x_exact=x_exact,
    )


def _tasks(value: Any, instance: Instance) -> tuple[Floats, tuple[Fraction, ...] | None]:
    """(A,) the tasks of all users, 0 where none are given, and the same as rationals, None where there are none.

    InstanceError where a user is missing or stands twice, or where only some tasks have a rational.
    """
    arcs = zip(instance.arcs.user.tolist(), instance.arcs.variant.tolist(), instance.arcs.server.tolist(), strict=True)
    position = {key: a for a, key in enumerate(arcs)}
    users, servers = Places(instance.users, "user"), Places(instance.servers, "server")
    given: dict[int, tuple[float, Fraction | None]] = {}
    seen = set()
    for user in _objects(value, "user", None, ("name", "by_server")):
        n = _position(users, user["name"])
        if n in seen:
            raise InstanceError(f"user {user['name']!r} stands twice in the allocation")
        seen.add(n)
        own = _tasks_of_user(user, n, int(instance.vectors.counts[n]), servers, position)
        total, x = user.get("tasks"), np.array([tasks for tasks, _ in own.values()])
        what = f"the tasks of user {user['name']!r} are"
        same = total is None or abs(finite(total, what) - x.sum()) <= SAME * np.abs(x).sum()
        require(same, what, total, f"its tasks on servers add up to {x.sum():g}")
        given |= own
    for n in sorted(set(range(instance.N)) - seen)[:1]:
        raise InstanceError(f"the allocation has no entry for user {instance.users[n]!r}")
    x = np.zeros(instance.A)
    x[list(given)] = [tasks for tasks, _ in given.values()]
    return x, _all_or_none({a: exact for a, (_, exact) in given.items()}, instance)


def _tasks_of_user(
    user: Mapping[str, Any], n: int, variants: int, servers: Places, position: Mapping[tuple[int, int, int], int]
) -> dict[int, tuple[float, Fraction | None]]:
    """{arc: (tasks, rational or None)} of user n; `position` is {(user, variant, server): arc}."""
    result: dict[int, tuple[float, Fraction | None]] = {}
    for variant, server, tasks, exact in _entries(user, variants):
        where = f"user {user['name']!r} tasks on server {server!r}" + (f" as variant {variant}" if variant else "")
        a = position.get((n, variant, _position(servers, server)))
        if a is None:
            raise InstanceError(f"the allocation gives {where}, where it is not eligible")
        if a in result:
            raise InstanceError(f"the allocation gives {where} twice")
        what = f"the number of tasks of user {user['name']!r} on server {server!r}"
        number = np.nan if tasks is None else finite(tasks, what)
        result[a] = number, None if exact is None else _exactly(exact, number, where)
    return result


def _entries(user: Mapping[str, Any], variants: int) -> list[tuple[int, str, Any, Any]]:
    """(variant, server, tasks, rational or None) of one user: `by_arc` where a user has several variants, else `by_server`."""
    if "by_arc" in user:
        fields = ("server", "variant", "tasks")
        arcs = _objects(user["by_arc"], "arc", (*fields, "tasks_exact"), fields, key="server")
        for arc in arcs:
            if type(arc["variant"]) is not int or not 0 <= arc["variant"] < variants:
                what = f"a variant of user {user['name']!r} is {shown(arc['variant'])}"
                raise InstanceError(f"{what}, but it must be an integer from 0 to {variants - 1}")
        return [(a["variant"], a["server"], a["tasks"], a.get("tasks_exact")) for a in arcs]
    if variants > 1:
        raise InstanceError(f"user {user['name']!r} has {variants} variants, so its tasks must be given in the field 'by_arc'")
    for field in ("by_server", "by_server_exact"):
        given = user.get(field, {})
        require(isinstance(given, dict), f"{field} of user {user['name']!r} is", given, "it must be a JSON object")
    given, exact = user["by_server"], user.get("by_server_exact", {})
    for server in [server for server in exact if server not in given][:1]:
        raise InstanceError(f"by_server_exact of user {user['name']!r} names server {shown(server)}, but by_server does not")
    return [(0, server, tasks, exact.get(server)) for server, tasks in given.items()]


def _exactly(value: Any, tasks: float, where: str) -> Fraction:
    """The rational in a string, which must be the number of tasks beside it."""
    if not isinstance(value, str):
        raise InstanceError(f"the allocation gives {where} exactly as {shown(value)}, but a rational is a string such as '5/7'")
    result = rational(value, f"what the allocation gives {where} exactly")
    check_rational(result, tasks, lambda: where, value)
    return result


def _all_or_none(exact: Mapping[int, Fraction | None], instance: Instance) -> tuple[Fraction, ...] | None:
    """(A,) the rationals {arc: rational}, None where there are none; InstanceError where only some tasks have one."""
    missing, arcs = sorted(a for a, value in exact.items() if value is None), instance.arcs
    if len(missing) == len(exact):
        return None
    for a in missing[:1]:
        user, server = instance.users[arcs.user[a]], instance.servers[arcs.server[a]]
        raise InstanceError(f"user {user!r} has no exact tasks on server {server!r}, but other tasks are given exactly")
    return tuple(exact.get(a) or Fraction(0) for a in range(len(arcs)))


def _name(document: Mapping[str, Any], field: str) -> str:
    name = document.get(field, "")
    check_name(name, f"the {field} of the allocation", empty=True)
    return str(name)


def _numbers(value: Any, what: str) -> Any:
    """Nested lists of finite numbers; `Allocation` looks at their shape."""
    if isinstance(value, list):
        return [_numbers(item, what) for item in value]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    require(number, f"{what} of the allocation holds", value, "it must hold numbers in nested lists")
    return finite(value, f"a number in {what} of the allocation")


def _fact(value: Any, what: str) -> Any:
    require(not isinstance(value, dict), f"{what} is", value, "it must be a number, a string, or a list of these")
    if isinstance(value, list):
        return tuple(_fact(item, what) for item in value)
    return np.nan if value is None else value


def _no_number(text: str) -> float:
    raise InstanceError(f"it holds {text}, which is not a JSON number")


def _float(text: str) -> float:
    if np.isinf(number := float(text)) or (number == 0 and text.lower().split("e")[0].strip("-0.")):
        raise InstanceError(f"it holds {text}, which is out of the range of floating point")
    return number


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result, keys = dict(pairs), [key for key, _ in pairs]
    if len(result) < len(keys):
        raise InstanceError(f"the field {next(k for k in keys if keys.count(k) > 1)!r} is given twice in one JSON object")
    return result


def _object(value: Any, what: str, known: Sequence[str] | None, required: Sequence[str]) -> None:
    require(isinstance(value, dict), f"{what} is", value, "it must be a JSON object")
    for field in [field for field in required if field not in value][:1]:
        raise InstanceError(f"{what} has no field {field!r}")
    for field in [field for field in value if known and field not in known][:1]:
        raise InstanceError(f"{what} has the unknown field {field!r}: the fields are {', '.join(known or ())}")


def _objects(
    value: Any, kind: str, known: Sequence[str] | None, required: Sequence[str], key: str = "name"
) -> list[dict[str, Any]]:
    require(isinstance(value, list), f"the {kind}s are", value, "they must be a list")
    for k, item in enumerate(value):
        label = shown(item[key]) if isinstance(item, dict) and key in item else str(k + 1)
        _object(item, f"{kind} {label}", known, required)
    return cast(list[dict[str, Any]], value)


def _vectors(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, list) for v in value)


def _position(places: Places, name: Any) -> int:
    """That of a name; a number is none, though `Places` knows it."""
    if isinstance(name, str):
        return places(name)
    raise InstanceError(no_such(places.kind, name, places.names, f"the {places.kind}s are {listed(places.names)}"))
