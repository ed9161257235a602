"""The command `export`: the model of a mechanism for other solvers."""

import argparse
from typing import Any

from fairalloc.cli.arguments import a_path, add_instance, add_mechanism, instance_named, mechanism_named, parameters
from fairalloc.cli.output import emit
from fairalloc.models.files import write_file
from fairalloc.solvers.export import FORMATS, export

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add the command to the parser of `fairalloc`."""
    command = commands.add_parser("export", help="write a mechanism's model for other solvers")
    add_instance(command)
    add_mechanism(command)
    command.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter; numbers or JSON lists")
    command.add_argument("--format", default="lp", choices=FORMATS, help="py: a script that solves it with CVXPY")
    command.add_argument("--output", type=a_path, metavar="FILE", help="default: standard output")
    command.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    item = mechanism_named(options.mechanism)
    text = export(instance_named(options.instance), item, options.format, **parameters(options.param))
    if options.output is None:
        emit(text)
    else:
        write_file(options.output, text)
    return 0
