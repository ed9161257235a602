"""The command `solve`: allocations and their residuals, each written as soon as it is there.

What goes wrong with one of several instances stands in its place, and the others are kept.
"""

import argparse
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fairalloc.cli import arguments
from fairalloc.cli.output import complain, emit
from fairalloc.formulations import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, fault
from fairalloc.models.files.jsonio import allocation_document, named_values
from fairalloc.models.files.writing import check_writable
from fairalloc.models.instance import Instance
from fairalloc.models.tables import Grid, csv_text, printable
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers import options as options_of
from fairalloc.solvers.export import read_allocation
from fairalloc.solvers.options import promised

ROWS = 40
"""Users and events that a table shows."""

PANELS = 12
"""So many allocations stand in one figure."""

NO_POINT = {
    "infeasible": "there is no allocation: nothing satisfies all constraints",
    "unbounded": "there is no allocation: the objective of the model has no bound",
    "time_limit": "there is no allocation: the method had no point at the time limit",
    "error": "there is no allocation: the method failed",
}
"""What stands in place of a table where there is no point, by termination."""


def add_commands(commands: Any) -> None:
    command = commands.add_parser("solve", help="compute an allocation and its residuals", run=_solve)
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
    text = "threads of linear algebra and solvers; default: as the environment says"
    command.add_argument("--threads", type=int, metavar="N", help=text)
    arguments.add_progress(command)
    command.add_argument("--log", action="store_true", help="show what the solver prints")
    command.add_argument("--trace", action="store_true", help="show the events or iterations of this package's own algorithms")
    command.add_argument("--format", default="table", choices=list(FORMATS))
    text = "also draw who takes what, a panel for each answer: .svg, .png or .pdf (repeatable)"
    command.add_argument("--plot", action="append", default=[], metavar="FILE", help=text)


def _option_names(typed: argparse.Namespace) -> list[str]:
    own = options_of(typed.method, "mid") if typed.method in METHODS else ()
    return [*(f"{option.name}=" for option in own), *(f"judge.{option.name}=" for option in options_of("judge"))]


def _options(texts: list[str]) -> dict[str, Any]:
    """The options in NAME=VALUE; those of judge.NAME are together under "judge"."""
    judge = [text.removeprefix("judge.") for text in texts if text.startswith("judge.")]
    result = named_values([text for text in texts if not text.startswith("judge.")], "--option")
    if "judge" in result:
        raise InstanceError("--option judge is given, but options of the judge are given one by one: --option judge.NAME=VALUE")
    return result | ({"judge": named_values(judge, "--option judge.")} if judge else {})


class Refused(NamedTuple):
    """An instance that has no result by a mechanism, and the sentence why."""

    instance: str
    mechanism: str
    error: str


Result: TypeAlias = Allocation | Refused


def _solve(options: argparse.Namespace) -> int:
    for word in ("trace", "log"):
        if getattr(options, word) and options.format in ("csv", "latex"):
            raise InstanceError(f"--{word} is shown in the formats table, json and jsonl, but the format is {options.format!r}")
    named = arguments.instances_given(options)
    if named.count("-") > 1:
        raise InstanceError("standard input holds one instance, but - is given twice")
    chosen = _options(options.option)
    method = arguments.method_named(options.method)
    if set(chosen) - {"judge"} and method is None:
        raise InstanceError(f"--option {next(iter(chosen))} is of one method, but no --method is named")
    arguments.limit_of(options.time_limit, options.threads)
    items = [arguments.configured(options, word) for word in options.mechanism or [arguments.DEFAULT]]
    for file in options.plot:  # now, and not after the solves
        _check_figure(file)
    read = lru_cache(maxsize=1)(arguments.instance_named)  # once for all mechanisms, as standard input must be

    def computed(name: Any, item: Mechanism) -> Allocation:
        instance = read(name)
        start = None if options.warm_start is None else read_allocation(options.warm_start, instance)
        limits = (options.accuracy, options.time_limit, options.trace, options.log)
        asked = {"threads": options.threads, "progress": arguments.wants_progress(options)}
        return solve(instance, item, method, *limits, chosen, start, **asked)

    told: list[Result] = []
    asked = [(partial(_label, read, name), item.id, partial(computed, name, item)) for name in named for item in items]
    results: Iterator[Any] = _results(options, asked, told)
    if len(items) > 1 and options.format in ("table", "latex"):
        results = _compared(results, named, items, read)
    for piece in FORMATS[options.format](results, [label for label, *_ in asked]):
        emit(piece)
    for file in options.plot:
        write_figure([one for one in told if isinstance(one, Allocation) and one.has_point], file)
    if told and _is_interrupted(told[-1]):
        raise KeyboardInterrupt
    return int(not all(_is_solved(one, options.accuracy) for one in told))


def _compared(
    results: Iterator[Result], names: Sequence[Any], items: Sequence[Mechanism], read: Callable[[Any], Instance]
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
    options: argparse.Namespace, asked: Sequence[tuple[Callable[[], str], str, Callable[[], Allocation]]], told: list[Result]
) -> Iterator[Result]:
    """The results in the order asked for, up to one that was interrupted; the list gets them too."""
    for label, mechanism, computed in asked:
        try:
            result: Result = computed()
        except Exception as error:  # one instance that meets a mistake of this package must not take the others with it
            if len(asked) == 1 and options.format != "jsonl":
                raise
            name = label()
            result = Refused(name, mechanism, _sentence(name, error, getattr(options, "debug", False)))
        told.append(result)
        if isinstance(result, Allocation) and result.has_point and not _is_solved(result, options.accuracy):
            why = f"residual {result.residual:.1e}, but accuracy {options.accuracy} promises {promised(options.accuracy):g}"
            complain(f"{label()}: not solved to the accuracy asked: {result.not_judged or why}")
        yield result
        if _is_interrupted(result):
            return


def _label(read: Callable[[Any], Instance], name: Any) -> str:
    """The instance's own name, under which its answers stand; what was typed where it has none, or cannot be read."""
    try:
        return read(name).name or str(name)
    except Exception:
        return str(name)


def _is_interrupted(result: Result) -> bool:
    return isinstance(result, Allocation) and result.termination == "interrupted"


def _sentence(name: str, error: Exception, debug: bool) -> str:
    if isinstance(error, FairallocError):
        return str(error)
    if debug:
        complain(f"{name}: the traceback follows")
        traceback.print_exc()
    return f"internal error: {fault(error)}"


def _is_solved(result: Result, accuracy: str | float) -> bool:
    """Whether it meets the accuracy, or claims success where the claim stands."""
    if isinstance(result, Refused) or not result.has_point:
        return False
    return result.claims_success or result.residual <= promised(accuracy)


def _document(result: Result) -> dict[str, Any]:
    return result._asdict() if isinstance(result, Refused) else allocation_document(result)


def _json(results: Iterable[Result], labels: Sequence[Callable[[], str]]) -> Iterator[str]:
    """One document, or a list of them, which is closed also where the command is interrupted."""
    if len(labels) == 1:
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


def _with_reason(result: Any) -> Any:
    """A result, or in the place of an answer without a point why there is none."""
    if not isinstance(result, Allocation) or result.has_point:
        return result
    why = NO_POINT.get(result.termination, "there is no allocation to show") + (f" ({result.message})" if result.message else "")
    return Refused(result.instance.name, result.mechanism, why)


def _csv(results: Iterable[Result], labels: Sequence[Callable[[], str]]) -> Iterator[str]:
    yield csv_text([["instance", "mechanism", "method", "termination", "user", "server", "tasks", "error"]])
    for label, result in zip(labels, map(_with_reason, results), strict=False):  # fewer where it was interrupted
        if isinstance(result, Refused):
            yield csv_text([[label(), result.mechanism, *[""] * 5, result.error]])
            continue
        here, start = result.instance, [label(), result.mechanism, result.method, result.termination]
        pairs = zip(*here.eligible.nonzero(), strict=True)
        yield csv_text([[*start, here.users[n], here.servers[i], repr(float(result.by_server[n, i])), ""] for n, i in pairs])


def _latex(results: Iterable[Any], _: object) -> Iterator[str]:
    for result in map(_with_reason, results):
        if isinstance(result, Refused):
            yield "% " + _line(f"{result.instance}: {result.error}") + "\n"
        elif isinstance(result, Allocation):
            judged = result.not_judged or f"residual {result.residual:.1e}"
            title = f"{result.instance.name}, {result.mechanism} by {result.method}, {judged}"
            yield result.grid(title, result.instance.N).latex()
        else:
            yield result.grid(most=result.instance.N).latex()


def _table(results: Iterable[Any], _: object) -> Iterator[str]:
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
    t, more = result.times, "users: --format json or csv shows all"
    state = result.outcome + (f" ({result.message})" if result.message else "")
    lines = [
        _line(f"{result.heading}, {state}"),
        *(_judged(result) if result.has_point else [NO_POINT.get(result.termination, "there is no allocation to show")]),
        f"seconds: build {t.build:.3f}, compile {t.compile:.3f}, solve {t.solve:.3f}, read {t.read:.3f}",
        *([result.grid(most=result.instance.N).head(ROWS, more).text().rstrip("\n")] if result.has_point else []),
        *_printed(result),
    ]
    return "\n".join(lines) + "\n\n"


def _printed(result: Allocation) -> list[str]:
    """The trace and the log, where they were asked for."""
    log = ["log:", *map(_line, result.log)] if result.log else []
    if not result.trace:
        return log
    grid = Grid("", list(result.trace[0]), [[_cell(fact) for fact in event.values()] for event in result.trace])
    return ["trace:", grid.head(ROWS, "events: --format json shows all").text().rstrip("\n"), *log]


def _judged(result: Allocation) -> list[str]:
    values = ", ".join(f"{k} = {value:.9g}" for k, value in result.values.items() if k != "deviation")  # K (58): JSON has it
    lines = [f"values: {values}"] if values else []
    lines.append("residuals: " + ", ".join(f"{key} {value:.1e}" for key, value in result.residuals.items()))
    if (error := result.user_error) is not None:
        lines.append("user error: " + ("not known" if error == float("inf") else f"at most {error:.1e} of a user's tasks"))
    return [*lines, *([_line(result.not_judged)] if result.not_judged else [])]


def _cell(fact: Any) -> str:
    if isinstance(fact, tuple):
        return ", ".join("/".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in fact)
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


FORMATS: dict[str, Callable[[Iterable[Any], Sequence[Callable[[], str]]], Iterator[str]]] = {
    "table": _table,
    "json": _json,
    "jsonl": lambda results, _: (json.dumps(_document(result), allow_nan=False) + "\n" for result in results),
    "csv": _csv,
    "latex": _latex,
}


def _check_figure(file: str) -> None:
    from fairalloc.analysis.plots.panels import ENDINGS

    if Path(file).suffix.lower() not in ENDINGS:
        raise InstanceError(f"--plot is {file!r}, but the name of a figure ends in {', '.join(ENDINGS)}")
    check_writable(file)


def write_figure(allocations: Sequence[Allocation], file: str) -> None:
    """Write the allocations, a panel for each, as SVG, PNG or PDF; one sentence where that is impossible."""
    from fairalloc.analysis.plots import bars, panels

    if not 1 <= len(allocations) <= PANELS:
        raise NotApplicable(f"{file} is not written: a figure shows 1 to {PANELS} allocations, but there are {len(allocations)}")
    made = []
    for item in allocations:
        width, height = bars.size(item)
        title = f"{item.instance.name or 'instance'}: {item.mechanism}"
        made.append(panels.Panel(title, (), partial(bars.allocation, item), height + 0.4, width))
    panels.write_panels((), made, file)
