"""The command `model`: a mechanism's formula, its models as code, where they are edited, and what computes it."""

import argparse
from typing import Any

from fairalloc.cli.arguments import add_parameters, mechanism_named, parameters
from fairalloc.cli.output import emit
from fairalloc.solvers.model_page import ModelPage


def add_commands(commands: Any) -> None:
    """Add the command to the parser of `fairalloc`."""
    command = commands.add_parser("model", help="a mechanism's formula and its models as code")
    command.add_argument("mechanism", help="an id, as `fairalloc list` shows them, or FILE.py:NAME")
    add_parameters(command)
    command.set_defaults(run=_model)


def _model(options: argparse.Namespace) -> int:
    emit(f"{ModelPage(mechanism_named(options.mechanism).configure(**parameters(options.param)))}\n")
    return 0
