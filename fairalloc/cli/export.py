"""The command `export`: the model of a mechanism for other solvers."""

import argparse
from typing import Any

from fairalloc.cli import arguments
from fairalloc.cli.output import emit
from fairalloc.models.files.writing import write_file
from fairalloc.solvers.export import FORMATS, export


def add_commands(commands: Any) -> None:
    """Add the command to the parser of `fairalloc`."""
    command = commands.add_parser("export", help="write a mechanism's model for other solvers")
    arguments.add_instance(command)
    arguments.add_mechanism(command)
    arguments.add_parameters(command)
    command.add_argument("--format", default="lp", choices=FORMATS, help="py: a script that solves it with CVXPY")
    command.add_argument("--output", type=arguments.a_path, metavar="FILE", help="default: standard output")
    command.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    item = arguments.mechanism_named(options.mechanism)
    text = export(arguments.instance_named(options.instance), item, options.format, **arguments.parameters(options.param))
    if options.output is None:
        emit(text)
    else:
        write_file(options.output, text)
    return 0
