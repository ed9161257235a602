"""The command `simulate`: the experiments of the papers, with their mechanisms and schedulers and with one's own; own jobs."""

import argparse
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairalloc.cli.arguments import a_path, add_time_limit, completed
from fairalloc.cli.output import complain, emit
from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import InstanceError, require
from fairalloc.models.files.jsonio import named_values
from fairalloc.models.files.writing import check_writable, make_folder
from fairalloc.models.tables import printable

SEEDS = 10_000
"""The most seeds of a run."""

STORE = Path("results/simulation.sqlite")


def add_commands(commands: Any) -> None:
    text = "rerun the experiments of the papers (exit code 1 where a trial failed); a killed run resumes"
    command = commands.add_parser("simulate", help=text, run=_simulate)
    text = "such as K.Fig9, or K for all of paper K; see --list; default: all; or FILE.py, FILE.py:NAME of one's own"
    completed(command.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=text), lambda: _names()[0])
    command.add_argument("--list", action="store_true", help="list the experiments")
    command.add_argument("--small", action="store_true", help="the smallest version of each experiment")
    command.add_argument("--format", default="table", choices=["table", "json", "html", "markdown"])
    text = "where the jobs come from; see --list; default: the first one of the experiment whose samples are there; or a FILE of"
    text += " jobs, .csv, .parquet or .swf, on which schedulers and mechanisms are compared (fairalloc.simulation.files)"
    completed(command.add_argument("--workload", default="", metavar="ID", help=text), lambda: _names()[1])
    command.add_argument("--cluster", metavar="FILE", help="the machines of a workload that is a FILE: .csv or .parquet")
    text = "mechanisms or schedulers to compare: ids with parameters, such as 'alpha-pf-vds alpha=3', instead of the experiment's"
    text += " own; or FILE.py:NAME; where all are in files, beside the experiment's own"
    action = command.add_argument("--mechanisms", nargs="+", default=[], metavar="ID", help=text)
    completed(action, MECHANISMS.all_names, files="py")
    command.add_argument("--seeds", nargs="+", default=[], metavar="N", help="numbers, or ranges such as 0-9")
    text = "other values of settings, such as hours=6 or logs=FOLDER; of a FILE of jobs until=SECONDS, too"
    command.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help=text)
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="trials at the same time")
    text = "run trials on the workers of a dask cluster, tcp://HOST:PORT (extra cluster)"
    add_time_limit(command, "all trials: later ones are not begun, and those on record are shown; default: none")
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help=text)
    command.add_argument("--records", type=a_path, default=STORE, metavar="FILE", help=f"default: {STORE}")
    text = "also write the figure of each experiment into this folder, as ID.svg, to which markdown then has links"
    command.add_argument("--figures", type=a_path, metavar="FOLDER", help=text)
    command.add_argument("--keep", type=a_path, metavar="FILE", help="put the outcomes of claims into this JSON file")


def _names() -> tuple[Iterable[str], Iterable[str]]:
    from fairalloc.simulation.experiments import all_experiments
    from fairalloc.simulation.workloads import WORKLOADS

    return all_experiments(), WORKLOADS


def _simulate(options: argparse.Namespace) -> int:
    from fairalloc.analysis.plots.style import pyplot
    from fairalloc.simulation.experiments import RunSetting, find_experiments, report, run_experiments
    from fairalloc.simulation.experiments.verdicts import keep_verdicts, kept_verdicts
    from fairalloc.simulation.files import is_file
    from fairalloc.simulation.study import study

    if options.list:
        require(options.format == "table", "--format is", options.format, "--list writes a table")
        given = [option for name, (option, _) in getattr(options, "_given", {}).items() if name != "format"]
        if others := [*given, *["--small"] * options.small]:
            raise InstanceError(f"{others[0]} is about trials, but --list makes none")
        emit(report.listing(find_experiments(options.experiments)).text())
        return 0
    if options.keep is not None:
        check_writable(options.keep)  # now, and not after the trials
        kept_verdicts(options.keep)
    if options.figures is not None:
        make_folder(options.figures)
    if options.figures is not None or options.format == "html":
        pyplot()
    settings = named_values(options.set, "--set")
    if options.cluster is not None:
        require("cluster" not in settings, "--cluster is", options.cluster, "--set names a cluster too")
        settings["cluster"] = options.cluster
    wanted: list[Any] = options.experiments
    if is_file(options.workload):
        require(not wanted, "experiments are", wanted, "with a file of jobs there must be none")
        positive = type(until := settings.get("until", 1)) in (int, float) and 0 < until < math.inf
        require(positive, "until is", until, "it must be a positive, finite number of seconds")
        wanted = [study(options.workload, str(settings.get("cluster", "")))]
    setting = RunSetting(
        size="small" if options.small else "full",
        workload=options.workload,
        competitors=tuple(options.mechanisms),
        seeds=_seeds(options.seeds),
        jobs=options.jobs,
        scheduler=options.scheduler,
        time_limit=options.time_limit,
        settings=settings,
    )
    found = run_experiments(wanted, options.records, setting)
    emit(_FORMATS[options.format](report, found, "" if options.figures is None else options.figures.as_posix()))
    if options.figures is not None:
        report.write_figures(found, options.figures)
    if options.keep is not None:
        keep_verdicts(found, options.keep)
    failed = [sentence for outcomes in found for sentence in outcomes.failed]
    for sentence in failed if options.format != "table" else ():
        complain(f"failed: {sentence}")
    return int(bool(failed))


_FORMATS: Mapping[str, Callable[[Any, Any, str], str]] = {
    "table": lambda report, found, _: printable(report.report_text(found)),
    "json": lambda report, found, _: json.dumps(report.document(found), indent=1, allow_nan=False) + "\n",
    "html": lambda report, found, _: str(report.report_page(found)),
    "markdown": lambda report, found, figures: str(report.report_markdown(found, figures)),
}


def _seeds(texts: Sequence[str]) -> tuple[int, ...]:
    """Numbers, and ranges with both ends."""
    found: list[int] = []
    for text in texts:
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", text)
        seeds = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        require(seeds, "--seeds is", text, "it must be a number such as 3, or a range such as 0-9")
        require(seeds[-1] - seeds[0] + len(found) < SEEDS, "--seeds is", text, f"there must be at most {SEEDS:,} seeds")
        found += seeds
    return tuple(dict.fromkeys(found))
