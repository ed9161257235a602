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
from fairalloc.models.errors import PATH, FairallocError, InstanceError, check_name, no_such, require, shown
from fairalloc.models.files.writing import write_file
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import DECIMAL, Floats, as_json, exact_text, finite, literal, rational

INSTANCE_SCHEMA = "fairalloc-instance/2"
INSTANCE_SCHEMAS = ("fairalloc-instance/1", INSTANCE_SCHEMA)
T = TypeVar("T")

SINCE_2, RESERVED = ("rates", "min_tasks"), ("user_rows",)
"""The fields of a user that fairalloc-instance/1 does not have, and names that no other field may get."""
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
    about, schema = f"the schema of {what} is", document["schema"]
    require(schema in INSTANCE_SCHEMAS, about, schema, f"it must be {INSTANCE_SCHEMA!r}")
    new = SINCE_2 if document["schema"] == INSTANCE_SCHEMA else ()
    groups = document.get("groups")
    require(new or groups is None, "groups are", groups, f"only {INSTANCE_SCHEMA!r} has them")
    servers = _objects(document["servers"], "server", ("name", "capacity", "count"), ("name", "capacity"))
    fields = ("name", "demands", "weight", "max_tasks", "eligible", "demands_on", *new)
    users = _objects(document["users"], "user", fields, ("name", "demands"))
    names = [s["name"] for s in servers]
    for server in servers:
        count, capacity, name = server.get("count", 1), server["capacity"], server["name"]
        require(not isinstance(count, str), f"the count of server {name!r} is", count, "it must be a JSON integer")
        require(not isinstance(capacity, dict), f"the capacity of server {name!r} is", capacity, "it must be a list of numbers")
    for user in users:
        who, chosen, rates, on = f"of user {user['name']!r}", user.get("eligible"), user.get("rates"), user.get("demands_on", {})
        require(_vectors(user["demands"]), f"the demands {who} are", user["demands"], "they must be a list of vectors")
        listed, served = chosen is None or isinstance(chosen, list), rates is None or (isinstance(rates, dict) and rates)
        require(listed, f"eligible {who} is", chosen, "it must be a list of servers or null")
        require(served, f"rates {who} are", rates, "they must give servers their rates, or be null")
        vectors = isinstance(on, dict) and all(map(_vectors, on.values()))
        require(vectors, f"demands_on {who} is", on, "it must give each server a list of vectors")
    resources, rated = document["resources"], any(u.get("rates") for u in users)
    require(isinstance(resources, list), "the resources are", resources, "they must be a list of names")
    return Instance(
        [u["demands"] for u in users],
        [s["capacity"] for s in servers],
        weights=[u.get("weight", 1) for u in users],
        counts=[s.get("count", 1) for s in servers],
        eligible={n: u.get("eligible") for n, u in enumerate(users)},
        rates={n: u.get("rates") for n, u in enumerate(users)} if rated else None,
        max_tasks=[u.get("max_tasks") for u in users],
        min_tasks=[u.get("min_tasks", 0) for u in users] if any("min_tasks" in u for u in users) else None,
        demands_on={(n, server): v for n, u in enumerate(users) for server, v in u.get("demands_on", {}).items()},
        groups=groups,
        name=document.get("name", ""),
        users=[u["name"] for u in users],
        servers=names,
        resources=resources,
    )


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
    users = [_user_document(allocation, n) for n in range(instance.N)]
    arrays = {name: getattr(allocation, name) for name in ARRAYS}
    return {
        "schema": ALLOCATION_SCHEMA,
        "instance": instance.name,
        "mechanism": allocation.mechanism,
        "method": allocation.method,
        "parameters": dict(allocation.parameters),
        "termination": allocation.termination,
        "message": allocation.message,
        **({"not_judged": allocation.not_judged} if allocation.not_judged else {}),
        "users": users,
        "values": as_json(allocation.values),
        "residuals": as_json(allocation.residuals),
        **({} if allocation.user_error is None else {"user_error": as_json(allocation.user_error)}),
        "stats": {f"{k}_s": v for k, v in asdict(allocation.times).items()}
        | {"iterations": allocation.iterations, "threads": allocation.threads},
        "versions": dict(allocation.versions),
        **{name: value.tolist() for name, value in arrays.items() if value is not None},
        **({"log": list(allocation.log)} if allocation.log else {}),
        **({"trace": as_json(allocation.trace)} if allocation.trace else {}),
    }


@checked
def write_allocation(allocation: Allocation, path: str | Path) -> None:
    """Write the allocation to a file of schema fairalloc-allocation/1."""
    write_json(allocation_document(allocation), path)


def _user_document(allocation: Allocation, n: int) -> dict[str, Any]:
    instance, arcs = allocation.instance, allocation.instance.arcs
    own = range(arcs.owner.indptr[n], arcs.owner.indptr[n + 1])
    by_server = defaultdict[int, float](float)
    for a in own:
        by_server[int(arcs.server[a])] += float(allocation.x[a])
    servers = sorted(by_server)
    user: dict[str, Any] = {"name": instance.users[n], "tasks": as_json(allocation.tasks[n])}
    user["by_server"] = {instance.servers[i]: as_json(by_server[i]) for i in servers}
    user["by_variant"] = as_json(allocation.by_variant[n])
    if instance.vectors.counts[n] > 1:
        user["by_arc"] = [
            {"server": instance.servers[arcs.server[a]], "variant": int(arcs.variant[a]), "tasks": as_json(allocation.x[a])}
            for a in own
        ]
    if allocation.x_exact is not None:
        parts = {instance.servers[i]: Fraction(0) for i in servers}
        for k, a in enumerate(own):
            parts[instance.servers[arcs.server[a]]] += allocation.x_exact[a]
            if "by_arc" in user:
                user["by_arc"][k]["tasks_exact"] = exact_text(allocation.x_exact[a])
        user["tasks_exact"] = exact_text(sum(parts.values(), Fraction(0)))
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
    about, schema = f"the schema of {what} is", document["schema"]
    require(schema == ALLOCATION_SCHEMA, about, schema, f"it must be {ALLOCATION_SCHEMA!r}")
    x = np.zeros(instance.A)
    position = {key: a for a, key in enumerate(zip(instance.arcs.user, instance.arcs.variant, instance.arcs.server, strict=True))}
    x_exact: list[Fraction | None] = [Fraction(0)] * len(x)
    seen, filled, variants = set(), set(), instance.vectors.counts
    for user in _objects(document["users"], "user", None, ("name", "by_server")):
        n = _position(instance.users, user["name"], "user")
        if n in seen:
            raise InstanceError(f"user {user['name']!r} stands twice in the allocation")
        seen.add(n)
        for variant, server, tasks, rational_tasks in _entries(user, int(variants[n])):
            i = _position(instance.servers, server, "server")
            where = f"user {user['name']!r} tasks on server {server!r}" + (f" as variant {variant}" if variant else "")
            if (n, variant, i) not in position:
                raise InstanceError(f"the allocation gives {where}, where it is not eligible")
            if (n, variant, i) in filled:
                raise InstanceError(f"the allocation gives {where} twice")
            filled.add((n, variant, i))
            a = position[n, variant, i]
            what = f"the number of tasks of user {user['name']!r} on server {server!r}"
            x[a] = np.nan if tasks is None else finite(tasks, what)
            x_exact[a] = None if rational_tasks is None else _exactly(rational_tasks, float(x[a]), where)
        _check_sum(user, x[slice(*instance.arcs.owner.indptr[n : n + 2])])
    for n in sorted(set(range(instance.N)) - seen)[:1]:
        raise InstanceError(f"the allocation has no entry for user {instance.users[n]!r}")
    names = {field: document.get(field, "") for field in ("mechanism", "method")}
    for field, name in names.items():
        check_name(name, f"the {field} of the allocation")
    parameters = document.get("parameters", {})
    require(isinstance(parameters, dict), "the parameters of the allocation are", parameters, "they must be an object")
    exact, log = _all_or_none(x_exact, filled, instance), document.get("log", [])
    events = _objects(document.get("trace", []), "trace event", None, ())
    trace = tuple({key: _fact(fact, f"{key!r} of a trace event") for key, fact in event.items()} for event in events)
    lines = isinstance(log, list) and all(isinstance(line, str) for line in log)
    require(lines, "the log of the allocation is", log, "it must be a list of lines")
    arrays = {field: _numbers(document[field], field) for field in ARRAYS if field in document}
    return Allocation(instance, x, parameters=parameters, trace=trace, log=tuple(log), x_exact=exact, **arrays, **names)


def _check_sum(user: Mapping[str, Any], x: Floats) -> None:
    """`tasks` may be left out, but is the sum of the entries x where it is given."""
    given, what = user.get("tasks"), f"the tasks of user {user['name']!r} are"
    same = given is None or abs(finite(given, what) - x.sum()) <= SAME * np.abs(x).sum()
    require(same, what, given, f"its tasks on servers add up to {x.sum():g}")


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
    for server in exact if exact.keys() != given.keys() else ():
        if server not in given:
            raise InstanceError(f"by_server_exact of user {user['name']!r} names server {shown(server)}, but by_server does not")
    return [(0, server, tasks, exact.get(server)) for server, tasks in given.items()]


def _exactly(value: Any, tasks: float, where: str) -> Fraction:
    """The rational in a string, which must be the number of tasks beside it."""
    if not isinstance(value, str):
        raise InstanceError(f"the allocation gives {where} exactly as {shown(value)}, but a rational is a string such as '5/7'")
    result = rational(value, f"what the allocation gives {where} exactly")
    check_rational(result, tasks, lambda: where, value)
    return result


def _all_or_none(x_exact: list[Fraction | None], filled: set[Any], instance: Instance) -> tuple[Fraction, ...] | None:
    """The rationals of all arcs, None where there are none; InstanceError where some tasks have one and others have not."""
    missing, arcs = x_exact.count(None), instance.arcs
    if missing == len(filled):
        return None
    for a in [a for a, value in enumerate(x_exact) if value is None][:1]:
        user, server = instance.users[arcs.user[a]], instance.servers[arcs.server[a]]
        raise InstanceError(f"user {user!r} has no exact tasks on server {server!r}, but other tasks are given exactly")
    return tuple(value for value in x_exact if value is not None)


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
        if field in RESERVED:
            raise InstanceError(f"{what} has the field {field!r}, which is reserved: this version does not read it")
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


def _position(names: Sequence[str], name: Any, kind: str) -> int:
    if name not in names:
        rule = f"the {kind}s are {', '.join(map(str, names[:8]))}"
        raise InstanceError(no_such(kind, name, names, rule))
    return names.index(name)
