"""What stands on the command line, as objects: instances, documents, parameters, mechanisms and methods."""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from fairalloc.formulations import MECHANISMS, Mechanism, mechanism
from fairalloc.models.arguments import Processes, Seconds, checked
from fairalloc.models.errors import PATH, FairallocError, InstanceError, UnknownName, no_such
from fairalloc.models.examples.published import EVERY_EXAMPLE, example
from fairalloc.models.files.csv_tables import OF_SERVERS, OF_USERS, read_csv
from fairalloc.models.files.jsonio import named_values, parse_instance, parse_json, read_bytes, read_json
from fairalloc.models.instance import Instance
from fairalloc.runs.objects import MECHANISM, METHOD, is_in_file, load_object
from fairalloc.solvers import ACCURACY, METHODS, find_method
from fairalloc.solvers.options import promised, read_accuracy
from fairalloc.solvers.running.time_limits import configuring

UNITS = {"s": 1, "m": 60, "h": 3600}

DEFAULT = "drfh"
"""The mechanism where none is named."""


@checked
def limit_of(time_limit: Seconds | None, threads: Processes | None = None) -> float:  # noqa: ARG001 (which is checked)
    """The seconds of a time limit, inf where there is none."""
    return time_limit or math.inf


def add_instance(command: argparse.ArgumentParser, several: bool = False) -> None:
    """The argument INSTANCE, or some of them, and the two tables that may take its place."""
    how: dict[str, Any] = {"dest": "instances", "nargs": "*"} if several else {"dest": "instance", "nargs": "?"}
    text = "a JSON file, - for standard input, or a published name"
    completed(command.add_argument(**how, metavar="INSTANCE", help=text), _examples, files=True)
    for kind, more in (("users", ", ".join(OF_USERS)), ("servers", ", ".join(OF_SERVERS))):
        text = f"instead of INSTANCE a table of CSV: names, a column for each resource, and if wanted {more}"
        completed(command.add_argument(f"--{kind}", metavar="FILE.csv", help=text), list, files="csv")


class Tables(NamedTuple):
    """An instance in two files of CSV."""

    users: str
    servers: str

    def __str__(self) -> str:
        return self.users


def instances_given(options: argparse.Namespace) -> list[Any]:
    """What INSTANCE names, or the two tables; InstanceError where it is neither or both."""
    one = getattr(options, "instance", None)
    named = getattr(options, "instances", [] if one is None else [one])
    given = {"--users": options.users, "--servers": options.servers}
    there = [option for option, file in given.items() if file is not None]
    if len(there) == 1:
        raise InstanceError(f"{there[0]} is given alone, but an instance in tables has both --users and --servers")
    if named and there:
        raise InstanceError(f"the instance is {named[0]!r}, but --users and --servers name one too")
    if not named and not there:
        for what in ("allocation", "certificate"):
            if file := getattr(options, what, None):
                raise InstanceError(f"{file!r} is given alone, but an instance and its {what} are needed, in this order")
        raise InstanceError("no instance is named: give INSTANCE, or --users FILE.csv and --servers FILE.csv")
    return named or [Tables(options.users, options.servers)]


def instance_given(options: argparse.Namespace) -> Instance:
    """The instance that is asked for; where there are tables and an only word, that is the document behind INSTANCE."""
    after = "allocation" if "allocation" in options else "certificate"
    if options.users is not None and options.instance is not None and getattr(options, after, "") is None:
        setattr(options, after, options.instance)
        options.instance = None
    return instance_named(instances_given(options)[0])


def add_mechanism(
    command: argparse.ArgumentParser, default: str | None = DEFAULT, otherwise: str = DEFAULT, several: bool = False
) -> None:
    """The option --mechanism, or several in a list that is empty at first; the help calls the default `otherwise`."""
    how: dict[str, Any] = {"action": "append", "default": []} if several else {"default": default}
    text = "(repeatable) " * several + f"see: fairalloc list mechanisms; or FILE.py:NAME; default: {otherwise}"
    action = command.add_argument("--mechanism", "-m", **how, metavar="ID", help=text)
    completed(action, MECHANISMS.all_names, files="py")


def add_method(command: argparse.ArgumentParser) -> None:
    text = "see: fairalloc list methods; or FILE.py:NAME; default: the fastest that is exact enough"
    completed(command.add_argument("--method", metavar="ID", help=text), lambda: METHODS, files="py")


def add_parameters(command: argparse.ArgumentParser) -> None:
    text = "(repeatable) a parameter; numbers or JSON lists"
    completed(command.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=text), _parameter_names)


def _parameter_names(typed: argparse.Namespace) -> list[str]:
    words = typed.mechanism if isinstance(typed.mechanism, list) else [typed.mechanism]
    return [f"{name}=" for word in words or [DEFAULT] for name in mechanism_named(word).parameters]


def add_time_limit(command: argparse.ArgumentParser, what: str, default: float | None = None) -> None:
    """The option --time-limit in seconds; the help says of what."""
    text = f"limit for {what}; in seconds, or such as 90s, 10m or 1h"
    command.add_argument("--time-limit", type=_seconds, default=default, metavar="TIME", help=text)


def add_search(command: argparse.ArgumentParser, what: str, default: float | None = None) -> None:
    """The options of a search: its time, the seed of all its random numbers, None = 0, and the cases that it tries."""
    add_time_limit(command, what, default)
    command.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers; default: 0")
    command.add_argument("--trials", type=int, metavar="N", help="the most cases of one search")


def add_progress(command: argparse.ArgumentParser) -> None:
    text = "write time, iteration and residual to standard error every second, as on a terminal"
    command.add_argument("--progress", action="store_true", help=text)


def wants_progress(options: argparse.Namespace) -> bool:
    """Whether a long solve tells where it is."""
    return bool(options.progress or sys.stderr.isatty())


def _seconds(text: str) -> float:
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    try:
        return float(number) * UNITS[unit]
    except ValueError:
        raise argparse.ArgumentTypeError(f"it is {text!r}, but it must be a time such as 90s, 10m or 1h") from None


def a_path(text: str) -> Path:
    """The path that a word of the command line is; an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("it is '', but it must name a file or a folder")
    return Path(text)


def completed(action: argparse.Action, names: Callable[..., Iterable[str]], files: bool | str = False) -> None:
    """Say what the shell completes an argument to: names, and files too, or those whose names end in a text.

    The names are asked for when they are needed; they may depend on the words so far, a namespace that is called `typed`.
    """

    def complete(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
        given = names(typed=parsed_args) if "typed" in signature(names).parameters else names()
        found = [name for name in given if name.startswith(prefix)]
        if not files:
            return found
        files_of = import_module("argcomplete.completers").FilesCompleter
        return [*found, *files_of((files,) if isinstance(files, str) else ())(prefix)]

    action.completer = complete  # type: ignore[attr-defined] # where argcomplete looks for it


def _examples() -> list[str]:
    return [item.name for item in EVERY_EXAMPLE]


def document(name: str) -> Any:
    """The JSON value in a file, or in standard input for "-"."""
    if name != "-":
        return read_json(name)
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise InstanceError("standard input is closed, so nothing can be read from it")
    try:
        data = read_bytes(stream.buffer, "standard input")
    except OSError as error:
        raise InstanceError(f"standard input cannot be read: {error.strerror or error}") from None
    return parse_json(data, "standard input")


def told(kind: str, name: str) -> str:
    """A document in words, for errors."""
    return f"the {kind} in {'standard input' if name == '-' else name}"


def instance_named(name: str | Tables) -> Instance:
    """The instance in a file, in two tables or in standard input, or the published one of that name."""
    if isinstance(name, Tables):
        try:
            return read_csv(name.users, name.servers)
        except InstanceError as error:
            if name.users in str(error) or name.servers in str(error):
                raise
            raise InstanceError(f"--users {name.users} and --servers {name.servers} are no instance: {error}") from None
    if name == "-" or os.path.exists(name):
        return parse_instance(document(name), told("instance", name))
    if name in _examples():
        return example(name).instance
    raise UnknownName(no_such("file and no published example", name, _examples(), "see fairalloc list examples", PATH))


def mechanism_named(name: Any) -> Mechanism:
    """The mechanism with this id or alias, or that of FILE.py:NAME."""
    if isinstance(name, str) and is_in_file(name):
        found: Mechanism = load_object(name, MECHANISM)
        return found
    return mechanism(name)


def configured(options: argparse.Namespace, word: str | None = None) -> Mechanism:
    """The mechanism of the option --mechanism, or of one of its words, with its parameters; FairallocError at the time limit."""
    values, item = named_values(options.param, "--param"), mechanism_named(word or options.mechanism)
    seconds = limit_of(getattr(options, "time_limit", None))
    with configuring(item, seconds):
        return item.configure(**values)


def method_named(name: str | None) -> Any:
    """The method with this id, or that of FILE.py:NAME; None = the fastest that is exact enough."""
    if name is not None and is_in_file(name):
        return load_object(name, METHOD)
    if name is not None:
        find_method(name)
    return name


def add_accuracy(command: argparse.ArgumentParser, several: str = "") -> None:
    """The option --accuracy: a word, or a residual; it may repeat where `several` says what that means."""
    text = f"{', '.join(ACCURACY)}, or the residual itself, such as 1e-7; {several or 'default: mid'}"
    how: dict[str, Any] = {"action": "append"} if several else {"default": "mid"}
    completed(command.add_argument("--accuracy", type=_accuracy, metavar="WORD", help=text, **how), lambda: ACCURACY)


def _accuracy(text: str) -> str | float:
    accuracy = read_accuracy(text)
    try:
        promised(accuracy)
    except FairallocError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return accuracy
