"""The commands `export` and `model`: the model of a mechanism for other solvers, and as formula and code."""

import argparse
from typing import Any

from fairalloc.cli import arguments
from fairalloc.cli.output import emit, written
from fairalloc.models.files.jsonio import named_values
from fairalloc.solvers.export import FORMATS, export
from fairalloc.solvers.model_page import ModelPage


def add_commands(commands: Any) -> None:
    command = commands.add_parser("export", help="write a mechanism's model for other solvers", run=_export)
    arguments.add_instance(command)
    arguments.add_mechanism(command)
    arguments.add_parameters(command)
    command.add_argument("--format", default="lp", choices=FORMATS, help="py: a script that solves it with CVXPY")
    command.add_argument("--output", type=arguments.a_path, metavar="FILE", help="default: standard output")
    command = commands.add_parser("model", help="a mechanism's formula and its models as code", run=_model)
    command.add_argument("mechanism", help="an id, as `fairalloc list` shows them, or FILE.py:NAME")
    arguments.add_parameters(command)


def _export(options: argparse.Namespace) -> None:
    item = arguments.mechanism_named(options.mechanism)
    text = export(arguments.instance_given(options), item, options.format, **named_values(options.param, "--param"))
    written(text, options.output)


def _model(options: argparse.Namespace) -> None:
    emit(f"{ModelPage(arguments.configured(options))}\n")
