"""The command `solve`: allocations and their residuals, each written as soon as it is there.

A format is a generator: it takes results as they come and yields pieces of text. What goes wrong with one of several instances
stands in its place, and the others are kept.
"""

import argparse
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

from fairalloc.cli import arguments
from fairalloc.cli.figure import write_figure
from fairalloc.cli.output import complain, emit
from fairalloc.formulations import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, InstanceError, said
from fairalloc.models.files.jsonio import allocation_document
from fairalloc.models.instance import Instance
from fairalloc.models.tables import Grid, printable
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers import options as options_of
from fairalloc.solvers.export import read_allocation
from fairalloc.solvers.options import promised
from fairalloc.solvers.running.threads import checked_threads
from fairalloc.solvers.running.time_limits import checked_limit

ROWS = 40
"""Users and events that a table shows."""

NO_POINT = {
    "infeasible": "there is no allocation: nothing satisfies all constraints",
    "unbounded": "there is no allocation: the objective of the model has no bound",
    "time_limit": "there is no allocation: the method had no point at the time limit",
    "error": "there is no allocation: the method failed",
}
"""What stands in place of a table where there is no point, by termination."""


def add_commands(commands: Any) -> None:
    """Add the command to the parser of `fairalloc`."""
    command = commands.add_parser("solve", help="compute an allocation and its residuals")
    arguments.add_instance(command, several=True)
    arguments.add_mechanism(command, several=True)
    arguments.add_method(command)
    arguments.add_accuracy(command)
    arguments.add_time_limit(command, "each instance")
    arguments.add_parameters(command)
    text = "an option of the method, or judge.NAME=VALUE of the judge (repeatable); numbers or JSON lists"
    option = command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)
    arguments.completed(option, _option_names)
    text = "an allocation of the instance to start from, as --format json writes it"
    command.add_argument("--warm-start", metavar="FILE", help=text)
    text = "that linear algebra and solvers may use; default: as the environment says"
    command.add_argument("--threads", type=int, metavar="N", help=text)
    command.add_argument("--log", action="store_true", help="show what the solver prints")
    command.add_argument("--trace", action="store_true", help="show the events or iterations of this package's own algorithms")
    command.add_argument("--format", default="table", choices=list(FORMATS))
    text = "also draw who takes what, a panel for each instance: .svg, .png or .pdf (repeatable)"
    command.add_argument("--plot", action="append", default=[], metavar="FILE", help=text)
    command.set_defaults(run=_solve)


def _option_names(typed: argparse.Namespace) -> list[str]:
    """The options of the method that was typed, and of the judge."""
    own = options_of(typed.method, "mid") if typed.method in METHODS else ()
    return [*(f"{option.name}=" for option in own), *(f"judge.{option.name}=" for option in options_of("judge"))]


def _options(texts: list[str]) -> dict[str, Any]:
    """The options in NAME=VALUE; those of judge.NAME are together under "judge"."""
    judge = [text.removeprefix("judge.") for text in texts if text.startswith("judge.")]
    result = arguments.parameters([text for text in texts if not text.startswith("judge.")], "--option")
    if "judge" in result:
        raise InstanceError("--option judge is given, but options of the judge are given one by one: --option judge.NAME=VALUE")
    return result | ({"judge": arguments.parameters(judge, "--option judge.")} if judge else {})


@dataclass(frozen=True)
class Refused:
    """An instance that has no result, and the sentence why."""

    instance: str
    error: str


Result: TypeAlias = Allocation | Refused


def _solve(options: argparse.Namespace) -> int:
    for word in ("trace", "log"):
        if getattr(options, word) and options.format in ("csv", "latex"):
            raise InstanceError(f"--{word} is shown in the formats table, json and jsonl, but the format is {options.format!r}")
    if options.instances.count("-") > 1:
        raise InstanceError("standard input holds one instance, but - is given twice")
    values, chosen, method = arguments.parameters(options.param), _options(options.option), arguments.method_named(options.method)
    checked_limit(options.time_limit)
    checked_threads(options.threads)
    items = [arguments.mechanism_named(word).configure(**values) for word in options.mechanism or [arguments.DEFAULT]]
    read = lru_cache(maxsize=1)(arguments.instance_named)  # once for all mechanisms, as standard input must be

    def computed(name: str, item: Mechanism) -> Allocation:
        instance = read(name)
        start = None if options.warm_start is None else read_allocation(options.warm_start, instance)
        limits = (options.accuracy, options.time_limit, options.trace, options.log)
        return solve(instance, item, method, *limits, chosen, start, threads=options.threads)

    failures: list[bool] = []
    drawn: list[Allocation] = []
    asked = [(name, partial(computed, name, item)) for name in options.instances for item in items]
    results: Iterator[Any] = _kept(_results(options, asked, failures), drawn)
    if len(items) > 1 and options.format in ("table", "latex"):
        results = _compared(results, options.instances, items, read)
    for piece in FORMATS[options.format](results, len(asked) > 1):
        emit(piece)
    for file in options.plot:
        write_figure(drawn, file)
    if drawn and drawn[-1].termination == "interrupted":
        raise KeyboardInterrupt
    return int(any(failures))


def _kept(results: Iterable[Result], drawn: list[Allocation]) -> Iterator[Result]:
    """The results as they come, while those that can be drawn are put into a list."""
    for result in results:
        if isinstance(result, Allocation) and result.has_point:
            drawn.append(result)
        yield result


def _compared(
    results: Iterator[Result], names: Sequence[str], items: Sequence[Mechanism], read: Callable[[str], Instance]
) -> Iterator[Any]:
    """One comparison for each instance; why there is none where no mechanism has an answer."""
    from fairalloc.analysis.compare import MechanismComparison, labels

    columns = labels(items)
    for name in names:
        group = dict(zip(columns, islice(results, len(columns)), strict=False))  # shorter where it was interrupted
        allocations = {label: one for label, one in group.items() if isinstance(one, Allocation)}
        refused = {label: one for label, one in group.items() if isinstance(one, Refused)}
        if allocations:
            yield MechanismComparison(read(name), allocations, {label: one.error for label, one in refused.items()})
        else:
            yield from {one.error: one for one in refused.values()}.values()


def _results(
    options: argparse.Namespace, asked: Sequence[tuple[str, Callable[[], Allocation]]], failures: list[bool]
) -> Iterator[Result]:
    """The results in the order asked for, up to one that was interrupted; `failures` gets an entry for each."""
    several = len(asked) > 1 or options.format == "jsonl"
    for name, computed in asked:
        result: Result
        try:
            result = computed()
            failures.append(not _is_solved(result, options.accuracy))
            if result.has_point and failures[-1]:
                why = f"residual {result.residual:.1e}, but accuracy {options.accuracy}"
                why = result.not_judged or f"{why} promises {promised(options.accuracy):g}"
                complain(f"{name}: not solved to the accuracy asked: {why}")
        except Exception as error:  # one instance that meets a mistake of this package must not take the others with it
            if not several:
                raise
            result = Refused(name, _sentence(name, error, getattr(options, "debug", False)))
            failures.append(True)
        yield result
        if isinstance(result, Allocation) and result.termination == "interrupted":
            return


def _sentence(name: str, error: Exception, debug: bool) -> str:
    if isinstance(error, FairallocError):
        return str(error)
    if debug:
        complain(f"{name}: the traceback follows")
        traceback.print_exc()
    return f"internal error: {type(error).__name__}: {said(error)}"


def _is_solved(result: Allocation, accuracy: str | float) -> bool:
    """Whether it meets the accuracy, or claims success where the claim stands."""
    return result.has_point and (result.claims_success or result.residual <= promised(accuracy))


# ---- formats ---------------------------------------------------------------------------------------------------------


def _document(result: Result) -> dict[str, Any]:
    return {"instance": result.instance, "error": result.error} if isinstance(result, Refused) else allocation_document(result)


def _jsonl(results: Iterable[Result], _: bool) -> Iterator[str]:
    for result in results:
        yield json.dumps(_document(result), allow_nan=False) + "\n"


def _json(results: Iterable[Result], several: bool) -> Iterator[str]:
    """One document, or a list of them, which is closed also where the command is interrupted."""
    if not several:
        yield from (json.dumps(_document(result), indent=1, allow_nan=False) + "\n" for result in results)
        return
    start = "[\n"
    try:
        for result in results:
            yield start + json.dumps(_document(result), indent=1, allow_nan=False)
            start = ",\n"
    except (Exception, KeyboardInterrupt):
        yield "\n]\n" if start == ",\n" else "[]\n"
        raise
    yield "\n]\n"


def _csv(results: Iterable[Result], _: bool) -> Iterator[str]:
    """A row for each user and server that it may use."""
    columns = ["instance", "mechanism", "method", "user", "server", "tasks", "error"]
    for k, result in enumerate(results):
        text = Grid("", columns, _csv_rows(result)).csv()
        yield text if k == 0 else text.split("\n", 1)[1]


def _csv_rows(result: Result) -> list[list[str]]:
    if isinstance(result, Refused):
        return [[result.instance, "", "", "", "", "", result.error]]
    instance, rows = result.instance, []
    for n, i in zip(*instance.eligible.nonzero(), strict=True):
        label = [instance.name, result.mechanism, result.method, instance.users[n], instance.servers[i]]
        rows.append([*label, repr(float(result.by_server[n, i])), ""])
    return rows


def _latex(results: Iterable[Any], _: bool) -> Iterator[str]:
    for result in results:
        if isinstance(result, Refused):
            yield "% " + _line(f"{result.instance}: {result.error}") + "\n"
        elif isinstance(result, Allocation):
            title = f"{result.instance.name}, {result.mechanism} by {result.method}, residual {result.residual:.1e}"
            yield result.grid(title, result.instance.N).latex()
        else:
            yield result.grid(most=result.instance.N).latex()


def _table(results: Iterable[Any], _: bool) -> Iterator[str]:
    for result in results:
        if isinstance(result, Refused):
            yield f"{_line(f'{result.instance}: {result.error}')}\n\n"
        elif isinstance(result, Allocation):
            yield _tables(result)
        else:
            told = [(label, _printed(one)) for label, one in result.allocations.items()]
            yield "\n".join([str(result), *(line for label, lines in told if lines for line in (f"{label}:", *lines))]) + "\n\n"


def _line(text: str) -> str:
    """The text on one line, with nothing in it that a terminal obeys."""
    return printable(" ".join(text.split("\n")))


def _tables(result: Allocation) -> str:
    t = result.times
    state = result.outcome + (f" ({result.message})" if result.message else "")
    lines = [
        _line(f"{result.instance.name or 'instance'}: {result.mechanism} by {result.method}, {state}"),
        *(_judged(result) if result.has_point else [NO_POINT.get(result.termination, "there is no allocation to show")]),
        f"seconds: build {t.build:.3f}, compile {t.compile:.3f}, solve {t.solve:.3f}, read {t.read:.3f}",
        *(_users(result) if result.has_point else []),
        *_printed(result),
    ]
    return "\n".join(lines) + "\n\n"


def _printed(result: Allocation) -> list[str]:
    """The trace and the log, where they were asked for."""
    return [*_trace(result), *(["log:", *map(_line, result.log)] if result.log else [])]


def _judged(result: Allocation) -> list[str]:
    """What it attains, and how far it is from the definition."""
    told = {key: value for key, value in result.values.items() if key != "deviation"}  # K (58): JSON has it
    values = ", ".join(f"{key} = {value:.9g}" for key, value in told.items())
    return [
        *([f"values: {values}"] if values else []),
        "residuals: " + ", ".join(f"{key} {value:.1e}" for key, value in result.residuals.items()),
        *([f"user error: {_user_error(result.user_error)}"] if result.user_error is not None else []),
        *([_line(result.not_judged)] if result.not_judged else []),
    ]


def _user_error(error: float) -> str:
    return "not known" if error == float("inf") else f"at most {error:.1e} of a user's tasks"


def _users(result: Allocation) -> list[str]:
    users = result.grid(most=result.instance.N)
    more = len(users.rows) - ROWS
    text = replace(users, rows=users.rows[:ROWS]).text().rstrip("\n")
    return [text, *([f"... and {more} more users: --format json or csv shows all"] if more > 0 else [])]


def _trace(allocation: Allocation) -> list[str]:
    events = allocation.trace
    if not events:
        return []
    grid = Grid("", list(events[0]), [[_cell(fact) for fact in event.values()] for event in events[:ROWS]])
    more = len(events) - ROWS
    return ["trace:", grid.text().rstrip("\n"), *([f"... and {more} more events: --format json shows all"] if more > 0 else [])]


def _cell(fact: Any) -> str:
    if isinstance(fact, tuple):
        return ", ".join("/".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in fact)
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


FORMATS: dict[str, Callable[[Iterable[Any], bool], Iterator[str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "latex": _latex,
}
