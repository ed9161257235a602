"""The command `explore`: mechanisms compared on a page that needs no network."""

import argparse
from typing import Any

from fairalloc.analysis.compare import compare
from fairalloc.analysis.explorer import explorer_page
from fairalloc.cli import arguments
from fairalloc.cli.output import emit, written
from fairalloc.formulations import mechanism
from fairalloc.models.files.writing import check_writable
from fairalloc.models.tables import printable

MECHANISMS = ("uniform", "drfh", "tsf", "nb", "ps-dsf")
ALPHAS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
PROPERTIES = ("feasibility", "pareto", "envy-freeness", "sharing-incentive", "bottleneck-fairness")


def add_commands(commands: Any) -> None:
    """Add the command to the parser of `fairalloc`."""
    command = commands.add_parser("explore", help="mechanisms compared on one page: shares, prices, properties")
    arguments.add_instance(command)
    usual = f"{', '.join(MECHANISMS)}, and alpha-pf-vds with a slider for alpha"
    arguments.add_mechanism(command, otherwise=usual, several=True)
    command.add_argument("--property", action="append", metavar="ID", help=f"(repeatable) default: {', '.join(PROPERTIES)}")
    arguments.add_accuracy(command)
    arguments.add_time_limit(command, "each answer, and each property of it; default: 60s", 60.0)
    command.add_argument("--output", "-o", type=arguments.a_path, metavar="FILE.html", help="default: standard output")
    command.set_defaults(run=_explore)


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
