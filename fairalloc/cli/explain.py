"""The commands `explain`, `sensitivity`, `show`, `explore`: why everybody gets what they get, and what would change it."""

import argparse
import json
import time
from typing import Any

from fairalloc.analysis.compare import compare
from fairalloc.analysis.explanations import explain
from fairalloc.analysis.explanations.peers import compared_with_peer
from fairalloc.analysis.explorer import explorer_page
from fairalloc.analysis.sensitivity import sensitivity
from fairalloc.cli import arguments
from fairalloc.cli.output import emit, written
from fairalloc.formulations import Mechanism, mechanism
from fairalloc.models import Allocation, NotApplicable
from fairalloc.models.errors import place_of
from fairalloc.models.examples.schedulers import PEERS
from fairalloc.models.files.writing import check_writable
from fairalloc.models.tables import printable
from fairalloc.solvers import solve
from fairalloc.solvers.model_page import show

MECHANISMS = ("uniform", "drfh", "tsf", "nb", "ps-dsf")
ALPHAS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
PROPERTIES = ("feasibility", "pareto", "envy-freeness", "sharing-incentive", "bottleneck-fairness")


def add_commands(commands: Any) -> None:
    text = "why users get their tasks: the server, resource and price that hold each one back"
    command = commands.add_parser("explain", help=text, run=_explain)
    arguments.add_instance(command)
    arguments.add_mechanism(command)
    command.add_argument("--user", metavar="NAME", help="explain this user alone; default: the first 20")
    peers = ", ".join(PEERS)
    command.add_argument("--peer", metavar="NAME", help=f"say what a scheduler makes of an instance with groups: {peers}")
    arguments.add_method(command)
    arguments.add_parameters(command)
    arguments.add_time_limit(command, "solving and explaining")
    arguments.add_progress(command)
    command.add_argument("--format", default="text", choices=["text", "json"])

    text = "how each user's tasks move with each capacity: derivatives where it grows and where it shrinks"
    command = commands.add_parser("sensitivity", help=text, run=_sensitivity)
    arguments.add_instance(command)
    arguments.add_mechanism(command)
    arguments.add_method(command)
    arguments.add_parameters(command)
    arguments.add_time_limit(command, "solving and deriving")
    arguments.add_progress(command)
    command.add_argument("--format", default="text", choices=["text", "json", "latex"])

    text = "the users and servers of an instance, who may run where, and what each could run alone"
    command = commands.add_parser("show", help=text, run=_show)
    arguments.add_instance(command)
    command.add_argument("--head", type=int, default=20, metavar="N", help="rows of each table, default 20; json has all")
    command.add_argument("--format", default="text", choices=["text", "json"])

    command = commands.add_parser("explore", help="mechanisms compared on one page: shares, prices, properties", run=_explore)
    arguments.add_instance(command)
    usual = f"{', '.join(MECHANISMS)}, and alpha-pf-vds with a slider for alpha"
    arguments.add_mechanism(command, otherwise=usual, several=True)
    command.add_argument("--property", action="append", metavar="ID", help=f"(repeatable) default: {', '.join(PROPERTIES)}")
    arguments.add_accuracy(command)
    arguments.add_time_limit(command, "each answer, and each property of it; default: 60s", 60.0)
    command.add_argument("--output", "-o", type=arguments.a_path, metavar="FILE.html", help="default: standard output")


def _answer(options: argparse.Namespace, user: str | None = None) -> tuple[Allocation, Mechanism, float | None]:
    """The allocation that is asked about, its mechanism, and the seconds left of the limit; NotApplicable where there is none."""
    item, instance = arguments.configured(options), arguments.instance_given(options)
    if user is not None:  # before anything is computed
        place_of(user, instance.users, "user")
    limit, started = options.time_limit, time.perf_counter()
    method, progress = arguments.method_named(options.method), arguments.wants_progress(options)
    allocation = solve(instance, item, method, time_limit=limit, progress=progress)
    if not allocation.has_point or (allocation.termination == "time_limit" and allocation.not_judged):
        first = allocation.not_judged if allocation.has_point else allocation.message
        reason = first or allocation.message or allocation.not_judged or allocation.termination
        raise NotApplicable(f"there is no answer of {item.id!r}: {reason}")
    return allocation, item, None if limit is None else max(limit - (time.perf_counter() - started), 1e-3)


def _explain(options: argparse.Namespace) -> None:
    allocation, item, left = _answer(options, options.user)
    result = explain(allocation, item, options.user, left)
    peer = [] if options.peer is None else compared_with_peer(allocation, options.peer)
    document = result.to_dict() | ({"peer": peer} if peer else {})
    text = "\n".join([str(result), *(f"  {sentence}" for sentence in peer)])
    emit((json.dumps(document, indent=1, allow_nan=False) if options.format == "json" else text) + "\n")


def _sensitivity(options: argparse.Namespace) -> int:
    allocation, item, left = _answer(options)
    result = sensitivity(allocation, item, left)
    if options.format == "json":
        emit(json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n")
    elif options.format == "latex":
        emit(result.grid().latex())
    else:
        emit(f"{printable(str(result))}\n")
    return int(bool(result.reason))


def _show(options: argparse.Namespace) -> None:
    overview = show(arguments.instance_given(options), options.head)
    emit(json.dumps(overview.to_dict(), indent=1, allow_nan=False) + "\n" if options.format == "json" else f"{overview}\n")


def _explore(options: argparse.Namespace) -> None:
    instance = arguments.instance_given(options)
    named = list(map(arguments.mechanism_named, options.mechanism or MECHANISMS))
    if options.output is not None:
        check_writable(options.output)  # now, and not after the answers
    slider = [] if options.mechanism else [mechanism("alpha-pf-vds", alpha=alpha) for alpha in ALPHAS]
    limits = {"accuracy": options.accuracy, "time_limit": options.time_limit}
    found = compare(instance, [*named, *slider], properties=options.property or PROPERTIES, **limits)
    written(explorer_page(found), options.output)
    if options.output is not None:
        emit(printable(f"page: {options.output}\n"))
