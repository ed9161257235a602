"""The command line. Errors are one sentence and exit code 2; a check or certificate that fails exits 1."""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fairalloc import __version__, cli_theorems
from fairalloc.analysis import BASIC, PROPERTIES, Failure, certify, check, parse_certificate
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, InstanceError, UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.models.jsonio import allocation_document, parse_allocation, read_instance, read_json
from fairalloc.models.published import EXAMPLES, example
from fairalloc.runs.tables import Grid
from fairalloc.solvers import ACCURACY, METHODS, solve

ROWS = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except FairallocError as error:
        print(f"fairalloc: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fairalloc: interrupted; what was kept is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone, as with `| head`
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fairalloc", description="Multi-resource fair allocation.")
    parser.add_argument("--version", action="version", version=f"fairalloc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="mechanisms, methods, examples, properties, suites or statements")
    command.add_argument("what", nargs="?", default="mechanisms", choices=list(LISTS))
    command.set_defaults(run=_list)

    command = commands.add_parser("solve", help="compute an allocation and its residuals")
    command.add_argument("instances", nargs="+", metavar="INSTANCE", help="a JSON file or a published name")
    command.add_argument("--mechanism", "-m", required=True, metavar="ID", help="see: fairalloc list mechanisms")
    command.add_argument("--method", metavar="ID", help="see: fairalloc list methods; default: the fastest that is exact enough")
    command.add_argument("--accuracy", default="mid", choices=list(ACCURACY))
    command.add_argument("--time-limit", type=float, metavar="S", help="seconds for each instance")
    command.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter; numbers or JSON lists")
    command.add_argument("--trace", action="store_true", help="show the events or iterations of this package's own algorithms")
    command.add_argument("--format", default="table", choices=list(FORMATS))
    command.set_defaults(run=_solve)

    command = commands.add_parser("check", help="check properties of an allocation; exit 1 if one fails")
    command.add_argument("instance", metavar="INSTANCE", help="a JSON file or a published name")
    command.add_argument("allocation", metavar="ALLOCATION", help="a JSON file as written by solve --format json")
    usual = f"{', '.join(BASIC)} and the allocation's own mechanism"
    command.add_argument("--property", action="append", metavar="ID", help=f"'all' or one of them; default: {usual}")
    command.add_argument("--format", default="table", choices=["table", "json"])
    command.set_defaults(run=_check)

    command = commands.add_parser("certify", help="prove an allocation, or the answer, in rationals; exit 1 if that fails")
    command.add_argument("instance", metavar="INSTANCE", help="a JSON file or a published name")
    command.add_argument("allocation", nargs="?", metavar="ALLOCATION", help="a JSON file; default: the mechanism's answer")
    command.add_argument("--mechanism", "-m", metavar="ID", help="default: the allocation's own")
    command.add_argument("--time-limit", type=float, metavar="S", help="seconds for solving")
    command.add_argument("--format", default="table", choices=["table", "json"], help="json: the certificate, for verify")
    command.set_defaults(run=_certify)

    command = commands.add_parser("verify", help="verify a certificate for an instance, without a solver; exit 1 if it is wrong")
    command.add_argument("instance", metavar="INSTANCE", help="a JSON file or a published name")
    command.add_argument("certificate", metavar="CERTIFICATE", help="a JSON file as written by certify --format json")
    command.set_defaults(run=_verify)

    bench = commands.add_parser("bench", help="compare solvers on a suite").add_subparsers(required=True, metavar="ACTION")
    command = bench.add_parser("run", help="run a suite; a killed run resumes where it was")
    command.add_argument("suite", metavar="SUITE", help="see: fairalloc list suites")
    command.add_argument("--records", type=Path, metavar="FILE", help="default: results/SUITE.sqlite")
    command.add_argument("--method", action="append", metavar="ID", help="only these methods")
    command.add_argument("--accuracy", default="mid", choices=list(ACCURACY))
    command.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="seconds for each solve")
    command.add_argument("--memory", type=int, default=4096, metavar="MB", help="limit for each solve")
    command.add_argument("--repeats", type=int, default=3, metavar="N")
    command.set_defaults(run=_bench_run)
    command = bench.add_parser("report", help="the table and the HTML page of recorded runs")
    command.add_argument("records", type=Path, metavar="FILE")
    command.add_argument("--html", type=Path, metavar="FILE", help="default: beside the records")
    command.set_defaults(run=_bench_report)

    cli_theorems.add_commands(commands)

    command = commands.add_parser("doctor", help="what is installed, which methods are available")
    command.set_defaults(run=_doctor)
    return parser


# ---- list -----------------------------------------------------------------------------------------------------------


def _mechanism_rows() -> list[list[str]]:
    return [[m.id, ", ".join(m.aliases), m.title, m.source] for m in MECHANISMS.values()]


def _method_rows() -> list[list[str]]:
    able = {k: ", ".join(m.id for m in MECHANISMS.values() if method.computes(m)) for k, method in METHODS.items()}
    return [[k, m.kind, able[k], "yes" if m.is_available() else "no"] for k, m in METHODS.items()]


def _example_rows() -> list[list[str]]:
    return [[e.name, f"{e.instance.N}x{e.instance.K}x{e.instance.R}", ", ".join(e.answers), e.place] for e in EXAMPLES]


def _property_rows() -> list[list[str]]:
    return [[key, item.meaning] for key, item in PROPERTIES.items()]


def _suite_rows() -> list[list[str]]:
    from fairalloc.benchmarks import all_suites

    return [[suite.id, str(len(suite.cases)), suite.title] for suite in all_suites().values()]


LISTS = {
    "mechanisms": (["id", "aliases", "title", "source"], _mechanism_rows),
    "methods": (["id", "kind", "computes", "available"], _method_rows),
    "examples": (["name", "size", "answers", "place"], _example_rows),
    "properties": (["id", "meaning"], _property_rows),
    "suites": (["id", "cases", "title"], _suite_rows),
    "statements": (["id", "quantifier", "place", "text"], cli_theorems.statement_rows),
}


def _list(options: argparse.Namespace) -> int:
    columns, rows = LISTS[options.what]
    _print(Grid("", columns, rows()))
    return 0


# ---- solve ----------------------------------------------------------------------------------------------------------


def load(name: str) -> Instance:
    """The instance in a file, or the published one of that name."""
    if Path(name).exists():
        return read_instance(name)
    if name in [e.name for e in EXAMPLES]:
        return example(name).instance
    raise UnknownName(no_such("file and no published example", name, [e.name for e in EXAMPLES], "see fairalloc list examples"))


def _solve(options: argparse.Namespace) -> int:
    parameters = dict(_parameter(text) for text in options.param)
    mechanism(options.mechanism).configure(**parameters)
    if options.method is not None and options.method not in METHODS:
        raise UnknownName(no_such("method", options.method, METHODS))
    if options.trace and options.format in ("csv", "latex"):
        raise InstanceError(f"--trace is shown in the formats table, json and jsonl, but the format is {options.format!r}")
    several = len(options.instances) > 1 or options.format == "jsonl"
    failed = False
    results: list[Allocation | dict[str, str]] = []
    for name in options.instances:
        try:
            limits = (options.accuracy, options.time_limit, options.trace)
            answer = solve(load(name), options.mechanism, options.method, *limits, **parameters)
            result: Allocation | dict[str, str] = answer
            failed = failed or not answer.has_point
        except FairallocError as error:
            if not several:
                raise
            result = {"instance": name, "error": str(error)}
            failed = True
        results.append(result)
        if options.format == "jsonl":  # one line at a time, as they come
            _show_jsonl([result])
    if options.format != "jsonl":
        FORMATS[options.format](results)
    return int(failed)


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InstanceError(f"--param is {text!r}, but it must be name=value")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


Results = Sequence[Allocation | dict[str, str]]


def _document(result: Allocation | dict[str, str]) -> dict[str, Any]:
    return dict(result) if isinstance(result, dict) else allocation_document(result)


def _show_jsonl(results: Results) -> None:
    for result in results:
        print(json.dumps(_document(result), allow_nan=False), flush=True)


def _show_json(results: Results) -> None:
    documents = [_document(r) for r in results]
    print(json.dumps(documents[0] if len(documents) == 1 else documents, indent=1, allow_nan=False))


def _show_csv(results: Results) -> None:
    columns = ["instance", "mechanism", "method", "user", "server", "tasks", "error"]
    sys.stdout.write(Grid("", columns, [row for result in results for row in _csv_rows(result)]).csv())


def _csv_rows(result: Allocation | dict[str, str]) -> list[list[str]]:
    """A row for each user and server that it may use."""
    if isinstance(result, dict):
        return [[result["instance"], "", "", "", "", "", result["error"]]]
    instance, rows = result.instance, []
    for n, i in zip(*instance.eligible.nonzero(), strict=True):
        label = [instance.name, result.mechanism, result.method, instance.users[n], instance.servers[i]]
        rows.append([*label, repr(float(result.by_server[n, i])), ""])
    return rows


def _show_latex(results: Results) -> None:
    for result in results:
        if isinstance(result, dict):
            print(f"% {result['instance']}: {result['error']}")
            continue
        title = f"{result.instance.name}, {result.mechanism} by {result.method}, residual {result.residual:.1e}"
        sys.stdout.write(_users(result, title).latex())


def _show_table(results: Results) -> None:
    for result in results:
        if isinstance(result, dict):
            print(f"{result['instance']}: {result['error']}\n")
            continue
        t = result.times
        state = result.termination + (f" ({result.message})" if result.message else "")
        print(f"{result.instance.name or 'instance'}: {result.mechanism} by {result.method}, {state}")
        print("values: " + ", ".join(f"{key} = {value:.9g}" for key, value in result.values.items()))
        print("residuals: " + ", ".join(f"{key} {value:.1e}" for key, value in result.residuals.items()))
        print(f"seconds: build {t.build:.3f}, compile {t.compile:.3f}, solve {t.solve:.3f}, read {t.read:.3f}")
        users = _users(result)
        _print(replace(users, rows=users.rows[:ROWS]))
        if len(users.rows) > ROWS:
            print(f"... and {len(users.rows) - ROWS} more users: --format json or csv shows all")
        _show_trace(result)
        print()


def _show_trace(allocation: Allocation) -> None:
    events = allocation.trace
    if events:
        print("trace:")
        _print(Grid("", list(events[0]), [[_cell(fact) for fact in event.values()] for event in events[:ROWS]]))
    if len(events) > ROWS:
        print(f"... and {len(events) - ROWS} more events: --format json shows all")


def _cell(fact: Any) -> str:
    if isinstance(fact, tuple):
        return ", ".join("/".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in fact)
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _users(allocation: Allocation, title: str = "") -> Grid:
    """User, tasks, and tasks by server where the servers fit on a page."""
    instance = allocation.instance
    servers = instance.servers if 1 < instance.K <= 6 else ()
    rows = []
    for n, user in enumerate(instance.users):
        spread = [f"{allocation.by_server[n, i]:.6g}" if instance.eligible[n, i] else "-" for i in range(len(servers))]
        rows.append([user, f"{allocation.tasks[n]:.6g}", *spread])
    columns = ["user", "tasks", *(f"on {s}" for s in servers)]
    return Grid(title, columns, rows, right=range(1, len(columns)))


def _print(grid: Grid) -> None:
    sys.stdout.write(grid.text())


FORMATS = {"table": _show_table, "json": _show_json, "jsonl": _show_jsonl, "csv": _show_csv, "latex": _show_latex}


# ---- check, certify, verify, doctor ---------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    document = read_json(options.allocation)
    own = document.get("mechanism") if isinstance(document, dict) else None
    instance = load(options.instance)
    instance = mechanism(own).home(instance) if own else instance
    allocation = parse_allocation(document, instance)
    asked = {None: BASIC, ("all",): tuple(PROPERTIES)}.get(options.property and tuple(options.property))
    properties = options.property if asked is None else [*asked, *([own] if own else [])]
    verdicts = [check(allocation, name) for name in properties]
    if options.format == "json":
        rows = [{"property": v.property, "holds": v.holds, "margin": v.margin, "sentence": v.sentence} for v in verdicts]
        print(json.dumps(rows, indent=1))
    else:
        words = {True: "yes", False: "NO", None: "?"}
        cells = [[v.property, words[v.holds], f"{v.margin:.1e}", v.sentence] for v in verdicts]
        _print(Grid("", ["property", "holds", "margin", "finding"], cells))
    return int(any(v.holds is False for v in verdicts))


def _certify(options: argparse.Namespace) -> int:
    document = read_json(options.allocation) if options.allocation else None
    name = options.mechanism or (document.get("mechanism") if isinstance(document, dict) else None)
    if not name:
        raise InstanceError("certify needs --mechanism, because no allocation names one")
    instance = load(options.instance)
    allocation = parse_allocation(document, mechanism(name).home(instance)) if options.allocation else None
    result = certify(instance, name, allocation, time_limit=options.time_limit)
    if options.format == "json" and not isinstance(result, Failure):
        print(json.dumps(result.document(), indent=1))
    else:
        print(result, file=sys.stdout if options.format == "table" else sys.stderr)
    return int(not result)


def _verify(options: argparse.Namespace) -> int:
    verdict = parse_certificate(read_json(options.certificate)).verify(load(options.instance))
    print(f"{verdict.property}: {verdict.sentence}")
    return int(not verdict)


def _doctor(_: argparse.Namespace) -> int:
    print(f"fairalloc {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}")
    packages = (
        "numpy",
        "scipy",
        "cvxpy",
        "pyomo",
        "highspy",
        "clarabel",
        "scs",
        "casadi",
        "python-flint",
        "cyipopt",
        "pyarrow",
        "matplotlib",
    )
    _print(Grid("", ["package", "version"], [[name, _version(name)] for name in packages]))
    rows = [[method.id, method.missing() or "available"] for method in METHODS.values()]
    _print(Grid("", ["method", "state"], rows))
    return 0


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


# ---- bench ----------------------------------------------------------------------------------------------------------


def _bench_run(options: argparse.Namespace) -> int:
    from fairalloc import benchmarks

    records = options.records or Path("results") / f"{options.suite}.sqlite"
    summary = benchmarks.run(
        options.suite,
        records=records,
        methods=options.method,
        accuracy=options.accuracy,
        time_limit=options.time_limit,
        memory_mb=options.memory,
        repeats=options.repeats,
        progress=sys.stderr.isatty(),
    )
    page = records.with_suffix(".html")
    benchmarks.print_summary(summary)
    benchmarks.write_page(summary, page)
    print(f"records: {records}\nreport:  {page}")
    return 0


def _bench_report(options: argparse.Namespace) -> int:
    from fairalloc import benchmarks

    page = options.html or options.records.with_suffix(".html")
    benchmarks.print_summary(benchmarks.report(options.records, html=page))
    print(f"report:  {page}")
    return 0
