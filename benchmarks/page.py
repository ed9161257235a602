"""The report as one HTML page: no scripts, no outside references, the same bytes for the same records."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from fairalloc.analysis.plots.profiles import performance_profiles, size, svg_element
from fairalloc.analysis.plots.style import new_figure
from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.report import MethodRow, Summary, percent, rank_table, times
from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section, page

__all__ = ["write_page"]

_TIMES = ("build", "compile", "solve", "read", "wall", "cpu")


def write_page(summary: Summary, path: str | Path) -> None:
    """Write the report of a summary."""
    parts = (_facts, _methods, _layers, _mechanisms, _profile, _references, _failures, _missing, _definitions, _limitations)
    sections = [section for part in parts for section in part(summary)]
    text = page(f"fairalloc benchmark: suite {summary.run.suite}", sections)
    Path(path).write_text(text, encoding="utf-8")


# ---- sections ----------------------------------------------------------------------------------------------------


def _facts(summary: Summary) -> list[Section]:
    details, started = summary.run.details, sorted(r.started for r in summary.rows_of_run)
    here = details["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in details["packages"].items())
    facts = [
        ("measured", f"{started[0]} to {started[-1]}"),
        ("counts", summary.counts),
        ("setting", summary.limits),
        ("machine", f"{here['cpu']}, {here['cores']} cores, {here['system']} (node {here['node']})"),
        ("versions", f"fairalloc {details['fairalloc']}, Python {details['python']}, {packages}"),
    ]
    notes = [summary.note] if summary.note else []
    return [Section("", table=Grid("", ("", ""), facts, notes))]


def _methods(summary: Summary) -> list[Section]:
    titles = ("method", "cases", "solves", "success", "honesty", *(f"{name}, ms" for name in _TIMES), "peak MB", "split")
    text = (
        "Success: the method claims that it solved the case and the residual computed from the instance passes. Honesty: the "
        "claim equals the truth, in both directions. Wall and CPU time are taken around the method, outside it; the phases "
        "only split it, as the method reports them: split is the number of solves in which they are far from our clock. Times "
        "are medians over the solves that returned a point. Methods face different cases here: compare them by mechanism."
    )
    return [Section("Methods", [text], _grid(titles, map(_method_cells, summary.rows)))]


def _method_cells(row: MethodRow) -> Sequence[str]:
    counts = (row.method, str(row.cases), str(row.runs), percent(row.success), percent(row.honesty))
    return (*counts, *times(row), f"{row.peak_mb:,.0f}", str(row.split_badly))


def _layers(summary: Summary) -> list[Section]:
    if not any(row.method == "highs" for row in summary.rows):
        return []
    text = (
        "Seconds before the solver starts (build + compile) in units of the direct build by arrays, which is the method highs: "
        "median over cases and repeats of the ratio on the same case and repeat."
    )
    cells = [(method, f"{ratio:.1f}") for method, ratio in summary.layers.items()]
    table = _grid(("method", "ratio to highs"), cells) if cells else None
    return [Section("Modelling layers", [text], table)]


def _mechanisms(summary: Summary) -> list[Section]:
    sections = []
    for k, item in enumerate(summary.rankings()):
        sections.append(Section("" if k else "By mechanism", [item.sentence], rank_table(item)))
    return sections


def _profile(summary: Summary) -> list[Section]:
    title = "Performance profile"
    if find_spec("matplotlib") is None:
        return [Section(title, ['Not drawn: it needs matplotlib, pip install "fairalloc[plots]".'])]
    text = (
        "The fraction of the cases of a mechanism that a method solves within a factor of the fastest method on that case. "
        "Higher is better; the right end is the fraction solved at all."
    )
    mechanisms = sorted({r.mechanism for r in summary.records})
    panels = {name: metrics.profile(r for r in summary.records if r.mechanism == name) for name in mechanisms}
    width, height = size(panels)
    figure = new_figure(width * len(panels), height)
    performance_profiles(panels, figure.subplots(1, len(panels), squeeze=False)[0])
    return [Section(title, [text], figure=svg_element(figure))]


def _references(summary: Summary) -> list[Section]:
    """How far each method's answers are from the reference, in what is unique."""
    known = summary.references
    if not known:
        return []
    distances: dict[str, list[float]] = defaultdict(list)
    for record in summary.records:
        if record.case in known:
            distances[record.method].append(summary.distance(record))
    rows = [(method, str(len(values)), f"{max(values):.1e}") for method, values in sorted(distances.items())]
    kinds = Counter(item.provenance.partition(",")[0].partition(" of ")[0] for item in known.values())
    text = (
        f"The reference of a case is {', '.join(f'{kind} ({count} cases)' for kind, count in kinds.items())}. Largest distance "
        "of a method's answers from it in what is unique of an answer (shares, totals or the objective), relative; inf: no point."
    )
    return [Section("Reference answers", [text], _grid(("method", "solves", "largest distance"), rows))]


def _failures(summary: Summary) -> list[Section]:
    if not summary.failures:
        return [Section("Failures", ["None."])]
    rows = [
        (f.record.method, f.record.case, f"{f.count} of {f.runs}", f.what, f.record.message, summary.command(f.record))
        for f in summary.failures
    ]
    text = "Every case that a method did not solve in some repeat, or solved without claiming so, and what solves it again."
    return [Section("Failures", [text], Grid("", ("method", "case", "repeats", "what", "message", "command"), rows))]


def _missing(summary: Summary) -> list[Section]:
    title, rows = "Methods not available", list(summary.missing.items())
    if not rows:
        return [Section(title, ["All methods were available."])]
    return [Section(title, ["These were not measured."], Grid("", ("method", "what to install"), rows))]


def _definitions(summary: Summary) -> list[Section]:
    versions = {r.method: r.versions for r in summary.records}
    about = summary.run.details["methods"]
    rows = [(name, about[name]["kind"], versions[name], about[name]["about"]) for name in sorted(versions)]
    return [Section("Method definitions", table=Grid("", ("method", "kind", "versions", "what it is"), rows))]


def _limitations(summary: Summary) -> list[Section]:
    job = summary.run.details["setting"]
    limit, memory = job["time_limit"], job["memory_mb"]
    points = (
        "Times are noisy: trust ratios within one report that are well beyond the spread of repeats, not single milliseconds.",
        "A shifted geometric mean depends on its shift, and rankings can change with it: look at the profile too.",
        "First-order methods are judged by the same tolerance as all others, though they are made for lower accuracy. The "
        "accuracy word asks each solver for what usually meets that residual, in its own options: not for its defaults.",
        "A residual says how far a point is from the mechanism's definition, not how far its tasks are from the exact ones.",
        f"A method is told the time limit of {limit:g} s and its process is ended from outside after "
        f"{1 + 1.1 * limit:g} s, counted from the end of an untimed warm-up on a two-user instance, which has the same limit.",
        f"Memory is limited as address space, {memory:,} MB beyond what the imported packages take, by the operating "
        "system (Linux; macOS may not enforce it). Where a solver ends its process when refused memory, the message says so.",
        "Numerical libraries are asked for one thread by environment variables; a solver that ignores them may use more.",
        "The time that counts is the wall time around the method; the process start, the residuals and the warm-up do not.",
    )
    return [Section("Known limitations", points=points)]


def _grid(columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> Grid:
    """A table whose columns from number `words` on are numbers."""
    return Grid("", columns, list(rows), right=range(words, len(columns)))
