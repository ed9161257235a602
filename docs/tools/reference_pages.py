"""The reference: the public names in groups, the text of every module, the command line, the JSON schemas."""

import argparse
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pkgutil import walk_packages
from textwrap import dedent

from docstrings import restructured
from links import plain

import fairalloc
from fairalloc.cli import _parser

GROUPS = {
    "data": (
        "Instances",
        "Instance read_instance read_csv write_instance show Overview ModelPage Example example EXAMPLES Frozen library "
        "generators traces aggregate expand with_own_time",
    ),
    "solving": (
        "Solving",
        "solve solve_many solution_set SolutionSet options Method method METHODS Allocation read_allocation write_allocation "
        "export",
    ),
    "mechanisms": ("Mechanisms", "mechanism MECHANISMS Mechanism Leximin Utility cvxpy_tasks pyomo_tasks"),
    "judging": (
        "Properties, proofs and explanations",
        "check check_mechanism Property Verdict certify Certificate NotCertified explain Explanation market PricedAllocation "
        "sensitivity Sensitivity compare MechanismComparison explorer_page plots",
    ),
    "claims": (
        "Claims",
        "claim Claim ClaimResult Case Hypotheses Misreport claim_properties property_matrix Matrix conflict Conflict",
    ),
    "benchmarks": (
        "Benchmarks",
        "benchmarks.run benchmarks.report benchmarks.compare benchmarks.Suite benchmarks.SuiteCase benchmarks.SUITES "
        "benchmarks.find_suite benchmarks.suite_of benchmarks.Setting benchmarks.Summary benchmarks.report_text "
        "benchmarks.write_report benchmarks.write_figure",
    ),
    "simulation": (
        "Simulation",
        "simulation.Cluster simulation.Workload simulation.simulate_fluid simulation.simulate_tasks simulation.Memory "
        "simulation.arrivals simulation.workloads.google_files simulation.workloads.google_machines "
        "simulation.workloads.bitbrains_files "
        "simulation.accounting.account simulation.metrics.utilisation simulation.metrics.dominant_shares simulation.metrics.jain",
    ),
    "errors": ("Errors", "FairallocError InstanceError UnknownName NotInstalled NotApplicable"),
}
"""The pages of the public names; each name is on exactly one. What is no name of the package itself has its module before it."""

ROOMS = {
    "models": "instances, allocations, shares, files: no optimization",
    "formulations": "the papers' pages as models, and their definitions as residuals",
    "solvers": "what computes an allocation, and how it is judged",
    "analysis": "what can be said of an allocation",
    "runs": "processes, stores and pages that experiments share",
    "simulation": "clusters over time, and the papers' experiments",
    "theorems": "the papers' statements, and the search for counterexamples",
    "benchmarks": "the comparison of methods",
}


def reference_pages() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the pages below reference/."""
    for page, (title, names) in GROUPS.items():
        yield f"reference/{page}.md", _names(title, names.split())
    for room, what in ROOMS.items():
        yield f"reference/modules/{room}.md", _modules(room, what)
    yield "reference/command-line.md", _command_line()
    yield "reference/schemas.md", _schemas()


# ---- names and modules -----------------------------------------------------------------------------------------------


def _names(title: str, names: list[str]) -> str:
    return f"# {title}\n\n```{{eval-rst}}\n" + "\n".join(_directive(name) for name in names) + "```\n"


def _directive(name: str) -> str:
    """What autodoc shows a name with."""
    module, _, last = f"fairalloc.{name}".rpartition(".")
    value = getattr(import_module(module), last)
    if isinstance(value, type):
        end = next(base.__name__ for base in value.__mro__[1:] if base.__name__ in fairalloc.__all__ or not _is_ours(base))
        return f".. autoclass:: fairalloc.{name}\n   :members:\n   :inherited-members: {end}\n"
    if hasattr(value, "__path__") or type(value).__name__ == "module":
        return f".. automodule:: {value.__name__}\n   :members:\n"
    if callable(value) and f"fairalloc.{name}" in sys.modules:  # a module of that name has its text on another page
        return f".. autofunction:: fairalloc.{name}\n   :no-index:\n"
    return f".. autofunction:: fairalloc.{name}\n" if callable(value) else f".. autodata:: fairalloc.{name}\n   :no-value:\n"


def _is_ours(item: type) -> bool:
    return item.__module__.startswith("fairalloc.")


def _modules(room: str, what: str) -> str:
    package = getattr(fairalloc, room)
    found = sorted(part.name for part in walk_packages(package.__path__, f"{package.__name__}."))
    elsewhere = {"fairalloc.models.examples.generators", "fairalloc.models.examples.traces", "fairalloc.analysis.plots"}
    parts = [f"# {room}\n\nThe texts of the modules of `{room}/`: {what}.\n"]
    for name in [package.__name__, *found]:
        if name not in elsewhere:
            title = name.removeprefix("fairalloc.")
            told = restructured((import_module(name).__doc__ or "").splitlines())
            directive = "\n".join([f".. py:module:: {name}", "", *told])
            parts.append(f"## {title.removeprefix(f'{room}.')}\n\n```{{eval-rst}}\n{directive}\n```\n")
    return "\n".join(parts)


# ---- command line ----------------------------------------------------------------------------------------------------


def _command_line() -> str:
    parser = _parser()
    parts = ["# Command line\n\n[Error messages](messages.md) has the exit codes. `--help` after a command says what is below.\n"]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}
            parts += [_command(name, command, told.get(name, "")) for name, command in action.choices.items()]
    return "\n".join(parts)


def _command(name: str, command: argparse.ArgumentParser, told: str, level: str = "##") -> str:
    lines = [f"{level} fairalloc {name}\n", f"{plain(told)}.\n" if told else "", f"```text\n{_usage(command)}\n```\n"]
    rows = []
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = {choice.dest: choice.help or "" for choice in action._choices_actions}
            lines += [_command(f"{name} {key}", part, inner.get(key, ""), level + "#") for key, part in action.choices.items()]
        elif action.dest not in ("help", "debug") and action.help is not argparse.SUPPRESS:
            rows.append(f"| {_argument(action)} | {plain(_help(action))} |")
    table = ["| argument | what it is |", "| --- | --- |", *rows, ""] if rows else []
    return "\n".join([*lines[:3], *table, *lines[3:]])


def _usage(command: argparse.ArgumentParser) -> str:
    return dedent("       " + command.format_usage().removeprefix("usage: ")).strip()


def _argument(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    metavar = action.metavar if isinstance(action.metavar, str) else choices or (action.dest.upper() if action.nargs != 0 else "")
    return f"{names} {plain(metavar)}".strip().replace("|", r"\|") if names else f"`{metavar or action.dest}`"


def _help(action: argparse.Action) -> str:
    told = action.help or ""
    return told % {"default": action.default, "prog": "fairalloc"} if "%" in told else told


# ---- schemas ---------------------------------------------------------------------------------------------------------


def _schemas() -> str:
    parts = ["# JSON schemas\n\nWhat `read_instance` and `read_allocation` read and the commands write.\n"]
    for kind in ("instance", "allocation"):
        text = files("fairalloc.models.files").joinpath(f"{kind}.schema.json").read_text(encoding="utf-8")
        schema = json.loads(text)
        parts += [
            f"## {schema.get('title', kind)}\n",
            f"{plain(schema.get('description', ''))}\n",
            f"```json\n{text.rstrip()}\n```\n",
        ]
    return "\n".join(parts)
