"""The commands `check`, `certify` and `verify`: what is true of an allocation; the exit code is 1 where the answer is no."""

import argparse
import json
import math
import time
from collections.abc import Sequence
from typing import Any

from fairalloc.analysis.certificates import NotCertified, certify, parse_certificate
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.properties import BASIC, PROPERTIES, Property, check
from fairalloc.analysis.verdict import WORDS
from fairalloc.cli import arguments
from fairalloc.cli.output import complain, emit
from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, UnknownName
from fairalloc.models.files.jsonio import parse_allocation
from fairalloc.models.numbers import as_json
from fairalloc.models.tables import Grid, printable
from fairalloc.runs.objects import PROPERTY, is_in_file, load_object

OWN = "the allocation's own"


def add_commands(commands: Any) -> None:
    command = commands.add_parser("check", help="check properties of an allocation; exit 1 if one fails", run=_check)
    arguments.add_instance(command)
    command.add_argument("allocation", metavar="ALLOCATION", help="a JSON file as written by solve --format json, or -")
    usual = f"{', '.join(BASIC)} and the allocation's mechanism"
    text = f"(repeatable) an id, 'all' or FILE.py:NAME; default: {usual}"
    action = command.add_argument("--property", action="append", metavar="ID", help=text)
    arguments.completed(action, lambda: ("all", *PROPERTIES, *MECHANISMS), files="py")
    arguments.add_mechanism(command, None, OWN)
    arguments.add_time_limit(command, "all of it; a verdict that is not decided then says so")
    command.add_argument("--format", default="table", choices=["table", "json"])

    text = "prove an allocation, or the answer, in rationals; exit 1 if that fails"
    command = commands.add_parser("certify", help=text, run=_certify)
    arguments.add_instance(command)
    command.add_argument("allocation", nargs="?", metavar="ALLOCATION", help="a JSON file, or -; default: the mechanism's answer")
    arguments.add_mechanism(command, None, f"{OWN}, else drfh")
    arguments.add_time_limit(command, "all of it")
    command.add_argument("--format", default="table", choices=["table", "json"], help="json: the certificate, for verify")

    text = "verify a certificate for an instance, without a solver; exit 1 if it is wrong"
    command = commands.add_parser("verify", help=text, run=_verify)
    arguments.add_instance(command)
    command.add_argument("certificate", metavar="CERTIFICATE", help="a JSON file as written by certify --format json, or -")


def _once(*names: str | None) -> None:
    if names.count("-") > 1:
        raise InstanceError("standard input holds one document, but - is given twice")


def _own_mechanism(options: argparse.Namespace, given: Any, asked: Sequence[str] = ()) -> Mechanism | None:
    """The mechanism that was asked for, else the one that the allocation's document names, which loads no file.

    None where it names none, or one that is not known here, and the properties that are asked for need none.
    """
    if options.mechanism:
        return arguments.mechanism_named(options.mechanism)
    name = given.get("mechanism") if isinstance(given, dict) else None
    try:
        return find_mechanism(name) if name else None
    except UnknownName as error:
        if isinstance(name, str) and asked and all(is_in_file(word) or word in PROPERTIES for word in asked):
            return None
        raise UnknownName(f"{error}; one of your own is named by -m FILE.py:NAME") from None


def _as_solved(item: Mechanism, allocation: Allocation) -> Mechanism:
    """The mechanism with the parameters of its allocation."""
    return item.configure(**allocation.parameters) if item.id == allocation.mechanism else item


def _check(options: argparse.Namespace) -> int:
    _once(options.instance, options.allocation)
    end = time.perf_counter() + arguments.limit_of(options.time_limit)
    instance = arguments.instance_given(options)
    given = arguments.document(options.allocation)
    own = _own_mechanism(options, given, options.property or ())
    instance = own.home(instance) if own else instance
    allocation = parse_allocation(given, instance, arguments.told("allocation", options.allocation))
    own = own and _as_solved(own, allocation)
    verdicts = []
    for item in _properties(options.property, own, options.mechanism is not None):
        verdicts.append(check(allocation, item, time_limit=None if end == math.inf else max(end - time.perf_counter(), 1e-3)))
    if options.format == "json":
        rows = [{"property": v.property, "holds": v.holds, "margin": as_json(v.margin), "sentence": v.sentence} for v in verdicts]
        emit(json.dumps(rows, indent=1, allow_nan=False) + "\n")
    else:
        cells = [[v.property, WORDS[v.holds], f"{v.margin:.1e}", v.sentence] for v in verdicts]
        emit(Grid("", ["property", "holds", "margin", "finding"], cells).text())
    return int(any(v.holds is False for v in verdicts))


def _properties(words: list[str] | None, own: Mechanism | None, named: bool) -> list[str | Mechanism | Property]:
    """What is checked, each once: "all" are the properties of any allocation and its mechanism's definition, as it is `named`."""
    mine: dict[str, str | Mechanism | Property] = {own.id: own} if own else {}
    asked = [*(words or BASIC), *(mine if named or not words else ())]
    names = [name for word in asked for name in ((*PROPERTIES, *mine) if word == "all" else (word,))]
    return [load_object(name, PROPERTY) if is_in_file(name) else mine.get(name, name) for name in dict.fromkeys(names)]


def _certify(options: argparse.Namespace) -> int:
    _once(options.instance, options.allocation)
    instance = arguments.instance_given(options)
    given = arguments.document(options.allocation) if options.allocation else None
    item = _own_mechanism(options, given) or arguments.mechanism_named("drfh")
    if given is None:
        result = certified_answer(instance, item, options.time_limit)
    else:
        read = parse_allocation(given, item.home(instance), arguments.told("allocation", options.allocation))
        result = certify(read, _as_solved(item, read), time_limit=options.time_limit)
    if options.format == "json" and not isinstance(result, NotCertified):
        emit(json.dumps(result.document(), indent=1) + "\n")
    elif options.format == "json":
        complain(str(result))
    else:
        emit(printable(str(result)) + "\n")
    return int(not result)


def _verify(options: argparse.Namespace) -> int:
    _once(options.instance, options.certificate)
    instance = arguments.instance_given(options)
    verdict = parse_certificate(arguments.document(options.certificate)).verify(instance)
    emit(printable(f"{verdict.property}: {verdict.sentence}") + "\n")
    return int(not verdict)
