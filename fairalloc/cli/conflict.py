"""The action `theorems conflict`: which mechanisms have several axioms, and where no allocation can."""

import argparse
import json
from typing import Any

from fairalloc.cli.arguments import add_search, completed
from fairalloc.cli.output import emit
from fairalloc.models.tables import printable
from fairalloc.solvers.running.time_limits import checked_limit


def add_action(actions: Any) -> None:
    """Add the action to the parser of `fairalloc theorems`."""
    command = actions.add_parser("conflict", help="which mechanisms have several axioms, and where no allocation can")
    text = "properties of allocations or of mechanisms, such as envy-freeness, pareto or strategyproofness"
    completed(command.add_argument("axioms", nargs="+", metavar="AXIOM", help=text), _names)
    text = "the most users x servers x resources of an instance; default: 2x2x2"
    command.add_argument("--size", default="2x2x2", metavar="NxKxR", help=text)
    command.add_argument("--format", default="table", choices=["table", "json"])
    add_search(command, "the whole call; default: 60s")
    command.set_defaults(run=_conflict)


def _names() -> tuple[str, ...]:
    from fairalloc.theorems.conflict import NAMES  # only for the shell that completes a word

    return NAMES


def _conflict(options: argparse.Namespace) -> None:
    from fairalloc.theorems.conflict import conflict

    limit = None if options.time_limit is None else checked_limit(options.time_limit)
    found = conflict(options.axioms, options.size, time_limit=limit, trials=options.trials, seed=options.seed or 0)
    emit(json.dumps(found.document(), indent=1) + "\n" if options.format == "json" else f"{printable(str(found))}\n")
