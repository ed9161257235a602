"""Outcomes as tables, a document and a page in the style of the benchmark report."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from fairalloc.analysis.plots import panels
from fairalloc.models.numbers import Floats, as_json
from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section, markdown, page
from fairalloc.simulation.experiments.experiment import Experiment, Outcomes

__all__ = ["command", "document", "listing", "numbers_table", "report_markdown", "report_page", "report_text", "verdicts_table"]

TITLE = "fairalloc: experiments of the papers"

ABOUT = (
    "The evaluations of W 6, K 6 and P V, run again on other samples, for those of the papers are not published. Each experiment "
    "says what the paper found, what is simulated here and what of it is generated, and whether the finding is ours too: "
    "confirmed, not confirmed, or cannot be compared, and because of what. Numbers are means ± standard deviations over seeds.",
)


def listing(experiments: Sequence[Experiment]) -> Grid:
    """What there is."""
    rows = []
    for item in experiments:
        seeds = ", ".join(str(len(item.sizes[size].seeds)) for size in ("small", "full"))
        compared, workloads = ", ".join(item.competitors), ", ".join(item.workloads) or "its own"
        rows.append((item.id, item.title, item.kind, compared, workloads, seeds))
    return Grid("", ("id", "title", "of", "compared", "workloads", "seeds: small, full"), rows)


def command(outcomes: Outcomes) -> str:
    """What runs it again."""
    words = ["fairalloc", "simulate", outcomes.experiment.id, *(["--small"] if outcomes.size == "small" else [])]
    return shlex.join([*words, *(["--workload", outcomes.workload] if outcomes.workload else [])])


def numbers_table(outcomes: Outcomes) -> Grid:
    """Mean and standard deviation over the seeds of each number, by competitor."""
    labels = outcomes.labels
    rows = [(name, *(told(outcomes.values(label, name)) for label in labels)) for name in outcomes.names]
    count = max((len(outcomes.measured[label]) for label in labels), default=0)
    note = f"mean ± standard deviation over {count} seeds" if count > 1 else "one seed"
    workload = f", workload {outcomes.workload}" if outcomes.workload else ""
    return Grid("", ("", *labels), rows, [f"{note}; size {outcomes.size}{workload}"], right=range(1, len(labels) + 1))


def told(values: Floats) -> str:
    """Numbers over seeds as text; those that differ by rounding errors alone as one number."""
    found = values[np.isfinite(values)]
    if not len(found):
        return "-"
    mean, spread = float(found.mean()), float(found.std(ddof=1)) if len(found) > 1 else 0.0
    if spread <= 1e-9 * max(1.0, abs(mean)):
        return f"{mean:.4g}"
    return f"{mean:.4g} ± {spread:.2g}"


def verdicts_table(found: Sequence[Outcomes]) -> Grid:
    """The verdict on each experiment."""
    rows = [(one.experiment.id, (judged := one.judged).word, judged.because) for one in found]
    return Grid("Verdicts", ("experiment", "verdict", "because"), rows)


def report_text(found: Sequence[Outcomes]) -> str:
    """For a terminal."""
    parts = []
    for one in found:
        item, judged, failed = one.experiment, one.judged, [f"failed: {sentence}" for sentence in one.failed]
        lines = [f"{item.id}: {item.title}", f"The paper: {item.finding}", numbers_table(one).text(), *failed]
        parts.append("\n".join([*lines, f"{judged.word}: {judged.because}\n"]))
    if len(found) > 1:
        parts.append(verdicts_table(found).text())
    return "\n".join(parts)


def document(found: Sequence[Outcomes]) -> list[dict[str, Any]]:
    """What was measured and judged, as JSON; null stands for numbers that are not finite."""
    return [_one(outcomes) for outcomes in found]


def _one(outcomes: Outcomes) -> dict[str, Any]:
    item, judged = outcomes.experiment, outcomes.judged
    trials = [
        {"competitor": label, "seed": seed, "numbers": as_json(measured.numbers), "curves": as_json(measured.curves)}
        for label, by_seed in outcomes.measured.items()
        for seed, measured in by_seed.items()
    ]
    about = {name: getattr(item, name) for name in ("id", "title", "finding", "setting")}
    run = {"size": outcomes.size, "workload": outcomes.workload, "command": command(outcomes), "failed": list(outcomes.failed)}
    return about | run | {"verdict": judged.word, "because": judged.because, "trials": trials}


def report_page(found: Sequence[Outcomes]) -> str:
    """One page that opens without a network: verdicts, then the numbers and the figure of each experiment."""
    return page(TITLE, _all_sections(found, find_spec("matplotlib") is not None), contents=True)


def report_markdown(found: Sequence[Outcomes], figures: str = "") -> str:
    """The same as Markdown, as in docs/EXPERIMENTS.md, with links to ID.svg in the folder of figures where there is one."""
    return markdown(TITLE, _all_sections(found, drawn=False, figures=figures))


def _all_sections(found: Sequence[Outcomes], drawn: bool, figures: str = "") -> list[Section]:
    first = Section("Verdicts", ABOUT, replace(verdicts_table(found), title=""))
    return [first, *(section for one in found for section in _sections(one, drawn, figures))]


def _sections(outcomes: Outcomes, drawn: bool, figures: str) -> list[Section]:
    item, judged = outcomes.experiment, outcomes.judged
    text = [f"The paper: {item.finding}", f"Here: {item.setting}", f"{judged.word.capitalize()}: {judged.because}"]
    sections = [
        Section(f"{item.id}: {item.title}", text, numbers_table(outcomes)),
        Section("", code=command(outcomes), points=[f"failed: {sentence}" for sentence in outcomes.failed]),
    ]
    if figures and item.panels(outcomes):
        sections.append(Section("", image=(f"{item.id}: {item.title}", f"{figures}/{item.id}.svg")))
    if drawn and (shown := item.panels(outcomes)):
        figure = "\n".join(map(panels.element, shown))
        sections.append(Section("", figure=figure, legend=panels.legend(outcomes.labels, shown)))
    return sections
