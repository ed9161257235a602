"""Outcomes as tables, a document and a page in the style of the benchmark report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.analysis.plots import panels
from fairalloc.models.numbers import as_json
from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section, markdown, page
from fairalloc.simulation.experiments.claims import RULE, Judged
from fairalloc.simulation.experiments.experiment import Experiment, Measured, Outcomes, PaperClaim
from fairalloc.simulation.experiments.figures import SPREAD, lettered
from fairalloc.simulation.experiments.verdicts import kept_verdicts

TITLE = "fairalloc: experiments"

ABOUT = (
    "The evaluations of W 6, K 6 and P V are run again on other samples, because those of the papers are not published. Tables "
    "have means ± standard deviations over seeds, and n is the least number of jobs or users behind a mean. "
    f"Figures have {SPREAD}.",
)


def listing(experiments: Sequence[Experiment]) -> Grid:
    """What there is."""
    rows = []
    for item in experiments:
        seeds = ", ".join(str(len(item.sizes[size].seeds)) if size in item.sizes else "-" for size in ("small", "full"))
        compared, workloads = ", ".join(item.competitors), ", ".join(item.workloads) or "its own"
        rows.append((item.id, item.title, item.kind, compared, workloads, seeds))
    return Grid("", ("id", "title", "of", "compared", "workloads", "seeds: small, full"), rows)


def numbers_table(outcomes: Outcomes) -> Grid:
    """Mean and standard deviation over the seeds of each number, by competitor, or by variant where there are several."""
    by_variant = len(outcomes.variants) > 1
    columns, rows = _by_variant(outcomes) if by_variant else _by_competitor(outcomes)
    least, most = outcomes.counts
    seeds = str(most) if least == most else f"{least} to {most}"
    note = f"mean ± standard deviation over {seeds} of {len(outcomes.seeds)} seeds" if most > 1 else ("no seed", "one seed")[most]
    workload = f", workload {outcomes.workload}" if outcomes.workload else ""
    size = outcomes.experiment.sizes[outcomes.size]
    lacks = [size.lacks] if size.lacks and outcomes.seeds in ((), tuple(size.seeds)) and not outcomes.settings else []
    corner = outcomes.labels[0] if by_variant and len(outcomes.labels) == 1 else ""
    return Grid(
        "", (corner, *columns), rows, [f"{note}; size {outcomes.extent}{workload}", *lacks], right=range(1, len(columns) + 1)
    )


def _by_competitor(outcomes: Outcomes) -> tuple[list[str], list[tuple[str, ...]]]:
    """A column of each competitor, and of what is printed of it."""
    (measured,), item = outcomes.variants.values(), outcomes.experiment
    columns = [(label, kind) for label in measured.labels for kind in ("", *["printed"] * bool(_printed(item, label)))]
    rows = []
    for name in measured.names:
        cells = (_cell_printed(item, label, name) if kind else _cell(measured, label, name) for label, kind in columns)
        rows.append((name, *cells))
    return [kind or label for label, kind in columns], rows


def _by_variant(outcomes: Outcomes) -> tuple[list[str], list[tuple[str, ...]]]:
    """A column of each variant; a row of what is the same for all competitors, and of each of them of what is not."""
    there = {name: part for name, part in outcomes.variants.items() if part.labels}
    names = dict.fromkeys(name for part in there.values() for name in part.names)
    extra = any(map(bool, outcomes.experiment.printed.values()))
    rows = []
    for name in names:
        cells = {label: tuple(_cell(part, label, name) for part in there.values()) for label in outcomes.labels}
        known = {label: values for label, values in cells.items() if set(values) != {"-"}}
        same = _same(known)
        for label, values in ({same: known[same]} if same else known).items():
            printed = [_cell_printed(outcomes.experiment, label, name)] * extra
            rows.append((name if same else f"{label}: {name}", *values, *printed))
    return [*there, *["printed"] * extra], rows


def _same(known: Mapping[str, Sequence[str]]) -> str:
    """The competitor whose cells say what those of all others do that have a number; "" where there is none."""
    for label, row in known.items():
        if all(cell in ("-", told) for other in known.values() for told, cell in zip(row, other, strict=True)):
            return label
    return ""


def _printed(item: Experiment, label: str) -> Mapping[str, float]:
    return {**item.printed.get("", {}), **item.printed.get(label, {})}


def _cell_printed(item: Experiment, label: str, name: str) -> str:
    printed = _printed(item, label)
    return f"{printed[name]:.4g}" if name in printed else ""


def _cell(measured: Measured, label: str, name: str) -> str:
    """A number over seeds, of how many jobs or users it is, and of how many seeds where not all have it.

    A mean has no digit behind the second one of its deviation; seeds that differ by rounding errors alone are told as one number.
    """
    values, count = measured.values(label, name), measured.count(label, name)
    found = values[np.isfinite(values)]
    if not len(found):
        return "-"
    mean, spread = float(found.mean()), float(found.std(ddof=1)) if len(found) > 1 else 0.0
    varies = spread > 1e-9 * max(1.0, abs(mean))
    digits = 2 + np.floor(np.log10(max(abs(mean), spread))) - np.floor(np.log10(spread)) if varies else 4
    text = f"{mean:.{min(int(digits), 4)}g}" + (f"±{spread:.2g}" if varies else "")
    text += f", n={count:.0f}" if np.isfinite(count) else ""
    return text + (f", {len(found)} of {len(values)} seeds" if len(found) < len(values) else "")


def claims_table(found: Sequence[Outcomes]) -> Grid:
    """What each claim is; where no trial is on record, what it was in the run that is kept."""
    kept = kept_verdicts()
    rows = []
    for one in found:
        for claim, name, judged in _claims(one):
            earlier = name in kept and not one.labels
            rows.append((name, f"{kept[name].word}, earlier run" if earlier else judged.word, claim.text))
    return Grid("Outcomes", ("claim", "outcome", "the paper"), rows)


def _claims(outcomes: Outcomes) -> list[tuple[PaperClaim, str, Judged]]:
    return [(claim, name, one) for claim, (name, one) in zip(outcomes.experiment.claims, outcomes.judged.items(), strict=True)]


def _because_table(outcomes: Outcomes) -> Grid:
    """What each claim is on each variant, and because of what."""
    rows: list[tuple[str, str, str]] = []
    for claim, name, judged in _claims(outcomes):
        if len(outcomes.variants) == 1 or claim.reason:
            rows.append((name, judged.word, judged.because))
            continue
        rows.append((name, judged.word, "the variants together"))
        alike: dict[tuple[str, str], list[str]] = {}
        for variant, one in outcomes.by_variant[name].items():
            alike.setdefault((one.word, one.because), []).append(variant)
        rows += [(f"- {'; '.join(variants)}", *said) for said, variants in alike.items()]
    return Grid("", ("claim", "outcome", "because"), rows)


def report_text(found: Sequence[Outcomes]) -> str:
    """For a terminal."""
    parts = []
    for one in found:
        failed = [f"failed: {sentence}" for sentence in one.failed]
        claims = [f"{name}: {judged.word}: {judged.because}" for _, name, judged in _claims(one)]
        texts = [f"The paper: {claim.text}" for claim in one.experiment.claims]
        lines = [f"{one.experiment.id}: {one.experiment.title}", *texts, numbers_table(one).text(), *failed, *claims]
        parts.append("\n".join([*lines, ""]))
    if len(found) > 1:
        parts.append(claims_table(found).text())
    return "\n".join(parts)


def document(found: Sequence[Outcomes]) -> list[dict[str, Any]]:
    """What was measured and judged, as JSON; null stands for numbers that are not finite."""
    result = []
    for one in found:
        trials = [
            {"variant": variant, "competitor": label, "seed": seed}
            | {kind: as_json(getattr(measured, kind)) for kind in ("numbers", "counts", "most", "curves")}
            for variant, part in one.variants.items()
            for label, by_seed in part.by_label.items()
            for seed, measured in by_seed.items()
        ]
        about = {name: getattr(one.experiment, name) for name in ("id", "title", "common", "setting")}
        about |= {name: as_json(getattr(one, name)) for name in ("size", "workload", "command", "failed")}
        claims = {name: {"text": claim.text, "outcome": is_.word, "because": is_.because} for claim, name, is_ in _claims(one)}
        result.append(about | {"claims": claims, "trials": trials})
    return result


def report_page(found: Sequence[Outcomes]) -> str:
    """One page that opens without a network: outcomes, then the numbers and the figure of each experiment."""
    return page(TITLE, _all_sections(found, find_spec("matplotlib") is not None), contents=True)


def report_markdown(found: Sequence[Outcomes], figures: str = "") -> str:
    """The same as Markdown, as in docs/EXPERIMENTS.md, with links to ID.svg in the folder of figures where there is one."""
    return markdown(TITLE, _all_sections(found, drawn=False, figures=figures))


def write_figures(found: Sequence[Outcomes], folder: Path) -> None:
    """Write the figure of each experiment that has outcomes as ID.svg."""
    for one in found:
        if shown := lettered(one.panels):
            panels.write_panels(_order(one, shown), shown, folder / f"{one.experiment.id}.svg")


def _order(outcomes: Outcomes, shown: Sequence[panels.Panel]) -> list[str]:
    """All names of the panels in the order of the styles: competitors, or what the panels name instead."""
    labels = [label for part in outcomes.variants.values() for label in part.by_label]
    names = [name for panel in shown for name in panel.names]
    return list(dict.fromkeys(labels if set(names) <= set(labels) else names))


def _all_sections(found: Sequence[Outcomes], drawn: bool, figures: str = "") -> list[Section]:
    first = Section("Outcomes", ABOUT, replace(claims_table(found), title=""))
    rule = Section("The rule", RULE)
    head = [first, rule] if any(one.experiment.claims for one in found) else []
    told: dict[str, str] = {}
    return [*head, *(section for one in found for section in _sections(one, drawn, figures, told))]


def _sections(outcomes: Outcomes, drawn: bool, figures: str, told: dict[str, str]) -> list[Section]:
    """`told` has, of each common part of a setting that was said, the experiment that said it."""
    item = outcomes.experiment
    before = told.setdefault(item.common, item.id) if item.common else item.id
    here = ". ".join(filter(None, (item.common if before == item.id else f"as in {before}", item.setting)))
    text = [*(f"The paper: {claim.text}" for claim in item.claims), f"Here: {here}."]
    if not outcomes.labels:
        kept = {name: one for name, one in kept_verdicts().items() if name in outcomes.judged}
        rows = [(name, one.word, f"{one.because} ({one.run})") for name, one in kept.items()]
        earlier = Grid("", ("claim, earlier run", "outcome", "because"), rows) if rows else None
        return [Section(f"{item.id}: {item.title}", [*text, "No trial is on record."], earlier, outcomes.command)]
    shown = lettered(outcomes.panels)
    sections = [
        Section(f"{item.id}: {item.title}", text, _because_table(outcomes) if item.claims else None),
        Section("", table=numbers_table(outcomes)),
        Section("", code=outcomes.command, points=[f"failed: {sentence}" for sentence in outcomes.failed]),
    ]
    if figures and shown:
        image = (f"{item.id}: {item.title}", f"{figures}/{item.id}.svg")
        sections += [Section("", image=image), Section("", [_caption(outcomes, shown)])]
    if drawn and shown:
        figure = "\n".join(map(panels.element, shown))
        legend = panels.legend(_order(outcomes, shown), shown)
        sections.append(Section("", [_caption(outcomes, shown)], figure=figure, legend=legend))
    return sections


def _caption(outcomes: Outcomes, shown: Sequence[panels.Panel]) -> str:
    item = outcomes.experiment
    titles = "; ".join(panel.title for panel in shown if panel.title) or item.title
    return ". ".join(filter(None, (f"Figure: {titles}", item.caption))) + "."
