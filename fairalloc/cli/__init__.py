"""The command line. Whatever goes wrong is one sentence on standard error; docs/reference/messages.md has the exit codes."""

import argparse
import os
import platform
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from fairalloc import __version__
from fairalloc.cli.output import ReaderGone, answers_alone, complain, emit, prepare_streams
from fairalloc.models.errors import FairallocError, fault, not_installed, shown
from fairalloc.models.tables import Grid
from fairalloc.sigint import INTERRUPTED, raise_again

COMMANDS = {
    "solve": "solve",
    **dict.fromkeys(("explain", "sensitivity", "show", "explore"), "explain"),
    **dict.fromkeys(("check", "certify", "verify"), "judge"),
    **dict.fromkeys(("export", "model"), "export"),
    **dict.fromkeys(("bench", "data"), "bench"),
    **dict.fromkeys(("theorems", "matrix"), "theorems"),
    "simulate": "simulate",
}
"""The module of each command, whose `add_commands` adds it to the parser: where it is the first word, no other is imported."""

INTERNAL = 70
"""The exit code for a mistake of this package (EX_SOFTWARE of sysexits.h)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    start = time.monotonic() - (time.process_time() if arguments is None else 0.0)  # with the start of the interpreter
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = argparse.Namespace()
    try:
        raise_again()
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            prepare_streams()
            parser = _parser(words)
            if "_ARGCOMPLETE" in os.environ:  # the shell asks for the rest of a word, and argcomplete answers and ends
                argcomplete = import_module("argcomplete")
                argcomplete.safe_actions.update((Once, Each))
                argcomplete.autocomplete(parser)
            options = parser.parse_args(words, argparse.Namespace(start=start))
            return _run(options)
    except ReaderGone:
        return 0
    except KeyboardInterrupt:
        complain("interrupted; results that were already written to a file remain there")
        return INTERRUPTED
    except MemoryError:
        complain("the memory of this machine does not suffice")
        return 2
    except Exception as error:
        return _failed(error, "--debug" in words, options)


def _run(options: argparse.Namespace) -> int:
    """The exit code, 0 where the command says none; code of the caller's that ends the program is an error of its own."""
    try:
        with answers_alone():
            return int(options.run(options) or 0)
    except SystemExit as stop:
        raise FairallocError(f"code from a file ended the program: SystemExit({shown(stop.code)})") from stop


def _failed(error: Exception, debug: bool, options: argparse.Namespace) -> int:
    error = not_installed(error) if isinstance(error, ModuleNotFoundError) else error
    refused = _refusal(error, debug, options)
    if debug and (refused is None or error.__cause__ is not None):  # the cause is in code of the caller's
        traceback.print_exc()
    hint = "" if debug else " (run with --debug for the traceback)"
    complain(f"internal error: {fault(error)}{hint}" if refused is None else refused)
    return INTERNAL if refused is None else 2


def _refusal(error: Exception, debug: bool, options: argparse.Namespace) -> str | None:
    """What is wrong with the command, its files or this machine; None where it is a mistake of this package."""
    if isinstance(error, FairallocError):
        return _with_option(str(error), getattr(options, "_given", {}))
    if isinstance(error, OSError) and error.errno is not None and not debug:  # a file that cannot be read or written
        return f"{error.filename or 'a file'} cannot be used: {error.strerror}"
    if isinstance(error, ValueError) and "null byte" in str(error):
        return "a file cannot be used: no name of a file holds a null character"
    return None


def _with_option(sentence: str, given: Mapping[str, tuple[str, list[str]]]) -> str:
    """The sentence with the option that it is about: what is called `time_limit` in Python is `--time-limit` here.

    `given` has for each name the option and the words that were given for it.
    """
    inner = {word.partition("=")[0]: f"{option} " for option, words in given.values() for word in words if "=" in word}
    if (found := re.match(r"(?:the )?(?:option )?(\w+) is ", sentence)) and found[1] in {*inner, *given}:
        name = found[1]
        return (inner[name] + name if name in inner else given[name][0]) + sentence[found.end(1) :]
    about = sentence.partition(": ")[0]
    places = {option: max((_place(word, about) for word in words), default=-1) for option, words in given.values()}
    last = max(places, key=places.__getitem__, default="")
    return f"{last}: {sentence}" if last and places[last] >= 0 and "--" not in about else sentence


def _place(word: str, sentence: str) -> int:
    """Where a sentence names last what was given; -1 where it does not."""
    name = word.partition("=")[0]
    return max(sentence.rfind(repr(name)), sentence.rfind(name) if len(name) > 2 and not name.isdigit() else -1)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """One line for what concerns the user; what is for developers is left to their tools."""
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | ImportWarning | ResourceWarning):
        complain(f"warning: {message}")


class _Noted(argparse.Action):
    """An option that keeps, for errors, with which words it was given."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if option_string is not None:
            option, known = max(self.option_strings, key=len), getattr(namespace, "_given", {})
            more = [*map(str, values)] if isinstance(values, list) else [str(values)]
            namespace._given = {**known, self.dest: (option, [*known.get(self.dest, (option, []))[1], *more])}
        super().__call__(parser, namespace, values, option_string)


class Once(_Noted, argparse._StoreAction):
    """An option with one value, which is not given twice: the first one would be dropped."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if option_string is not None and self.dest in getattr(namespace, "_given", {}):
            raise argparse.ArgumentError(self, f"it is given twice, the second time as {values!r}, but it takes one value")
        super().__call__(parser, namespace, values, option_string)


class Each(_Noted, argparse._AppendAction):
    """An option that may repeat."""


class CommandParser(argparse.ArgumentParser):
    """A parser that has --debug everywhere and whose errors are one sentence; `run` is what its command does."""

    def __init__(self, run: Callable[[argparse.Namespace], int | None] | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._between = False
        if run is not None:
            self.set_defaults(run=run)
        for name, kind in ((None, Once), ("store", Once), ("append", Each)):
            self.register("action", name, kind)
        text = "show the traceback of an internal error"
        self.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=text)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Words that are no options may stand between options, as in `theorems export --format latex W.T1`."""
        if self._between or self._subparsers is not None or "--" in (args or ()):  # after -- there are no options
            return super().parse_known_args(args, namespace)
        self._between = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._between = False

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see: {self.prog} --help)")
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            emit(message) if file in (None, sys.stdout) else complain(message)


def _parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the command that these words begin with; of all where they begin with none, for help and for errors."""
    parser = CommandParser(prog="fairalloc", description="Multi-resource fair allocation.")
    parser.add_argument("--version", action="version", version=f"fairalloc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    text = "mechanisms, methods, examples, library, properties, hypotheses or suites"
    command = commands.add_parser("list", help=text, run=_list)
    command.add_argument("what", nargs="?", default="mechanisms", choices=list(LISTS))
    asked = COMMANDS.get(words[0]) if words else None
    for module in dict.fromkeys(COMMANDS.values()) if asked is None else (asked,):
        import_module(f"fairalloc.cli.{module}").add_commands(commands)
    commands.add_parser("doctor", help="installed packages and available methods", run=_doctor)
    return parser


LISTS: dict[str, tuple[list[str], Callable[[Any], list[list[str]]]]] = {
    "mechanisms": (
        ["id", "aliases", "title", "source"],
        lambda fa: [[m.id, ", ".join(m.aliases), m.title, m.source] for m in fa.MECHANISMS.values()],
    ),
    "methods": (
        ["id", "kind", "computes", "available"],
        lambda fa: [
            [m.id, m.kind, import_module("fairalloc.method_table").computed(m), "yes" if m.is_available() else "no"]
            for m in fa.METHODS.values()
        ],
    ),
    "examples": (
        ["name", "size", "answers", "place"],
        lambda _: [
            [e.name, f"{e.instance.N}x{e.instance.K}x{e.instance.R}", ", ".join(e.told), e.place]
            for e in import_module("fairalloc.models.examples.published").EVERY_EXAMPLE
        ],
    ),
    "library": (
        ["name", "size", "hash", "answers"],
        lambda fa: [
            [f.name, "x".join(map(str, f.size[:3])), f.hash, ", ".join(f.answers)] for f in map(fa.library, fa.library())
        ],
    ),
    "properties": (
        ["id", "meaning"],
        lambda fa: [[key, words] for key, words in fa.claim_properties().items() if key not in fa.MECHANISMS],
    ),
    "hypotheses": (
        ["words", "meaning"],
        lambda _: [[*pair] for pair in import_module("fairalloc.theorems.hypotheses").hypothesis_words().items()],
    ),
    "suites": (["id", "cases", "title"], lambda fa: [[s.id, str(len(s.cases)), s.title] for s in fa.benchmarks.SUITES.values()]),
}
"""Heads and rows of each list, from the package, which imports a name where it is first used."""


def _list(options: argparse.Namespace) -> None:
    columns, rows = LISTS[options.what]
    others = ["Besides: cvxpy:<any installed solver> and pyomo:<any installed solver>."] if options.what == "methods" else []
    emit(Grid("", columns, rows(import_module("fairalloc")), others).text())


PACKAGES = (
    *("numpy", "scipy", "cvxpy", "pyomo", "highspy", "clarabel", "scs", "casadi"),
    *("python-flint", "cyipopt", "pyarrow", "matplotlib"),
)


def _doctor(_: argparse.Namespace) -> None:
    from fairalloc.runs.machine import installed_version
    from fairalloc.solvers import METHODS

    emit(f"fairalloc {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}\n")
    emit(Grid("", ["package", "version"], [[name, installed_version(name)] for name in PACKAGES]).text())
    rows = [[method.id, method.missing() or "available"] for method in METHODS.values()]
    emit(Grid("", ["method", "state"], rows).text())
