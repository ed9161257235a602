"""What stands in a report: the sections of its page, the same for the same records."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from statistics import median

from fairalloc.analysis.plots.panels import Panel, element, legend
from fairalloc.benchmarks import figures, metrics
from fairalloc.benchmarks.accuracy import accuracy_grid, loss_grids, reached
from fairalloc.benchmarks.growth import FEWEST_ARCS, VERIFIED, growth_grids, speedup_grid
from fairalloc.benchmarks.ranking import Comparison, Ranking, pairwise
from fairalloc.benchmarks.report import HEADS, Summary, advice, behind, decade, factor, milliseconds, percent, ranked, why
from fairalloc.models.numbers import as_json
from fairalloc.models.tables import Grid
from fairalloc.runs.pages import Section
from fairalloc.runs.processes import START

LOOK_FIRST = (
    '"Accuracy against time" compares the methods of a mechanism. "Which method" says what to use, and "By mechanism" how sure '
    'that is: intervals, cases and accuracy. "Failures" has what was not solved, with commands that solve it again.'
)


def title(summary: Summary) -> str:
    """The heading of the report."""
    return f"fairalloc benchmark: suite {summary.run.suite}"


def sections(summary: Summary, drawn: bool = True) -> list[Section]:
    """The report of a summary; `drawn` says whether with figures."""
    drawn = drawn and find_spec("matplotlib") is not None
    before = (_choice, _methods)
    after = (_growth, _pairs, _layers, _references, _failures, _undefined, _missing, _definitions, _limitations, _again)
    return [
        *_facts(summary),
        *_accuracy(summary, drawn),
        *(section for part in before for section in part(summary)),
        *_mechanisms(summary, drawn),
        *_only_drawn(summary, drawn),
        *_loss(summary, drawn),
        *(section for part in after for section in part(summary)),
    ]


def _facts(summary: Summary) -> list[Section]:
    details, started = summary.run.details, sorted(r.started for r in summary.rows_of_run)
    here = details["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in details["packages"].items() if version != "not installed")
    facts = [
        ("measured", f"{started[0]} to {started[-1]}"),
        ("counts", summary.counts),
        ("setting", summary.limits),
        ("machine", f"{here['cpu']}, {here['cores']} cores, {here['system']} (node {here['node']})"),
        ("versions", f"fairalloc {details['fairalloc']}, Python {details['python']}, {packages}"),
    ]
    notes = [*summary.warnings, *filter(None, [summary.note])]
    return [Section("", [LOOK_FIRST], Grid("", ("", ""), facts, notes))]


def _choice(summary: Summary) -> list[Section]:
    """One row for each mechanism: what to use."""
    text = (
        "On the cases that the compared methods of a mechanism have in common: the method with the least mean time, in which a "
        f"failure costs {metrics.PENALTY:g} times the limit, and the one with the least mean time of those that solve every case."
    )
    columns = ("mechanism", "cases", "fastest", "ms", "solves", "fastest that solves all", "ms")
    rows = []
    for item in summary.rankings(summary.target):
        fast = (one.method, milliseconds(one.mean), str(one.solved)) if (one := item.fastest) else ("none", "-", "0")
        safe = (one.method, milliseconds(one.mean)) if (one := item.safest) else ("none", "-")
        rows.append((item.mechanism, str(item.cases), *fast, *safe))
    return [Section("Which method", [text], Grid("", columns, rows, right=(1, 3, 4, 6)), name="choice")]


def _methods(summary: Summary) -> list[Section]:
    heads = [f"{name}, ms" for name in HEADS]
    titles = ("method", "cases", "solves", "success", "honesty", *heads, "peak MB", "phases differ")
    text = (
        "Success: the method claims that it solved the case and the residual computed from the instance passes. Honesty: of the "
        "judged solves, the claim, solved or not, agrees with the residual. Wall and CPU time are measured around the method. "
        "The phases are those that the method reports. The last column counts the solves in which they do not add up to the "
        "measured time. Times are medians over the solves that returned a point. A solve that was not asked after a failure "
        "counts as a failure. Methods face different cases here: compare them by mechanism."
    )
    counts = {r.method: [str(r.cases), str(r.runs), percent(r.success), percent(r.honesty)] for r in summary.rows}
    rows = [[r.method, *counts[r.method], *map(milliseconds, r.times), r.peak, str(r.split_badly)] for r in summary.rows]
    return [Section("Methods", [text], _grid(titles, rows), name="methods")]


def _mechanisms(summary: Summary, drawn: bool) -> list[Section]:
    """For each mechanism its ranking, the times to achieved accuracies, and its figures."""
    about = (
        "Methods of one mechanism are compared on the same cases; under each table stands what it compares. Figures need two "
        "cases and two methods. In the front, lower and further left is better, in profiles higher. There a case that a method "
        "was not asked for counts as not solved. The numbers of a line are shown where one points at it."
    )
    found = [Section("By mechanism", [about])]
    by_target = [summary.rankings(target) for target in metrics.TARGETS]
    for k, item in enumerate(summary.rankings(summary.target)):
        (table, about), *partial = ranked(item)
        told = [advice(item), why(item, summary.by_mechanism[item.mechanism])]
        found += [Section(item.mechanism, told, table, anchor=f"mechanism-{k + 1}", name="ranking"), Section("", [about])]
        found += [section for table, about in partial for section in (Section("", table=table), Section("", [about]))]
        found += _achieved(summary, [rankings[k] for rankings in by_target])
        if drawn and min(item.total, len(item.rows)) > 1:
            found.append(_drawn(summary, figures.panels_of(summary, "intervals", item.mechanism)))
            panels = [(figures.panels_of(summary, name, item.mechanism), heading) for name, heading in _HEADINGS.items()]
            found.append(_drawn(summary, [replace(panel, title=heading) for own, heading in panels for panel in own]))
    return found


def _achieved(summary: Summary, rankings: Sequence[Ranking]) -> list[Section]:
    """The times to each of TARGETS, in one table."""
    order = [rank.method for rank in rankings[1].rows]
    cells = [{rank.method: (str(rank.solved), milliseconds(rank.mean), behind(rank)) for rank in item.rows} for item in rankings]
    rows = [(name, *(cell for own in cells for cell in own[name])) for name in order]
    heads = [(f"{decade(target)}: solved", "ms", "to best") for target in metrics.TARGETS]
    columns = ("achieved residual", *(head for three in heads for head in three))
    asked = ", ".join(dict.fromkeys(r.accuracy for r in summary.by_mechanism[rankings[0].mechanism]))
    only = (
        f" Every method was asked for the accuracy {asked} alone: one that could stop earlier for less is shown slower than it "
        "could be, and one that could go on for more counts as failed."
    )
    least = f" Of the accuracies asked for ({asked}) the one that takes least counts."
    text = (
        f"{rankings[0].mechanism}: time to a residual that was achieved, as computed from the instance, whatever the method "
        f"claims, on the cases and with the means of the table above.{least if ', ' in asked else only}"
    )
    return [Section("", table=_grid(columns, rows), name="achieved"), Section("", [text])]


def _drawn(summary: Summary, panels: Sequence[Panel], title: str = "", about: Sequence[str] = ()) -> Section:
    """Some panels and one legend."""
    return Section(title, about, figure="\n".join(map(element, panels)), legend=legend(summary.methods, panels))


_HEADINGS = {
    "profile": "Performance profile",
    "data-profile": "Data profile",
    "pareto": "Time and accuracy, with the front",
}


def _accuracy(summary: Summary, drawn: bool) -> list[Section]:
    """For each mechanism the time to each residual."""
    text = (
        "Milliseconds of a solve whose residual, computed from the instance, is at most that of the column: the median over the "
        "cases that all methods of a table were asked for. A case that does not get there counts as the slowest, and a dash "
        "stands where no more than half of the cases get there. A solve ends at the accuracy it was asked for or at its limit, "
        "and may get there earlier. If a method was asked for several accuracies, its fastest solve that gets there counts."
    )
    found = [Section("Accuracy against time", [text])]
    for k, (mechanism, records) in enumerate(summary.by_mechanism.items()):
        compared = reached(records)
        without = ", ".join(sorted(dict.fromkeys(r.method for r in records).keys() - {one.method for one in compared}))
        asked = ", ".join(dict.fromkeys(r.accuracy for r in sorted(records, key=lambda r: -r.tolerance)))
        told = f"{(cases := compared[0].cases)} case{'s' * (cases > 1)}; asked for: {asked}"
        told += f"; without {without}, which were asked for other or fewer cases" if without else ""
        found.append(Section(mechanism, [f"{told}."], accuracy_grid(compared), anchor=f"accuracy-{k + 1}", name="accuracy"))
        if drawn:
            found.append(_drawn(summary, figures.panels_of(summary, "accuracy", mechanism)))
    return found


_BY_FIGURE = {
    "traces": "What iterative algorithms measure while they run: their residual, merit or change. Measures of two algorithms "
    "need not be the same. For each mechanism stands one case, that with the traces of the most methods, at the highest "
    "accuracy.",
    "memory": "Peak resident memory of the process of a solve, imported packages and instance included: median and largest "
    "over the solves that lived to tell, on the cases that each method has. Look at differences: processes share what they "
    "start with.",
}


def _only_drawn(summary: Summary, drawn: bool) -> list[Section]:
    """What has a figure and no table; nothing of traces where the suite keeps none."""
    found = {name: figures.panels_of(summary, name) for name in _BY_FIGURE if drawn}
    return [_drawn(summary, panels, name.capitalize(), [_BY_FIGURE[name]]) for name, panels in found.items() if panels]


def _loss(summary: Summary, drawn: bool) -> list[Section]:
    """What approximations lose, where some were asked."""
    grids = loss_grids(summary)
    if not grids:
        return []
    text = (
        "Approximations are in no ranking. Worst: the least part of its exact share (of nb: tasks) that a user has, over the "
        "cases with a feasible answer. Mean: over users and these. Seconds are of the processor, the median over these."
    )
    tables = (Section(grid.title, table=replace(grid, title=""), name="loss") for grid in grids)
    found = [Section("Approximations", [text]), *tables]
    return [*found, _drawn(summary, figures.panels_of(summary, "loss"))] if drawn else found


def _growth(summary: Summary) -> list[Section]:
    """How methods grow, where the suite has families of growing cases."""
    grids = growth_grids(summary)
    if not grids:
        return []
    text = (
        f"CPU seconds of solves whose residual is at most {VERIFIED:g}, of each family at its size nearest to 1e2 arcs, 1e3, "
        "and so on, and the largest residual of all sizes. The "
        f"exponent is the least-squares slope of log seconds against log arcs from {FEWEST_ARCS:,} arcs on, with their range. A "
        "method that ran out of time or memory is not asked on larger cases."
    )
    ahead = speedup_grid(summary)
    compared = [Section("This package and the other solvers", table=ahead, name="speedup")] if ahead else []
    tables = (Section(grid.title, table=replace(grid, title=""), name="growth") for grid in grids)
    return [Section("Growth", [text]), *tables, *compared]


def _pairs(summary: Summary) -> list[Section]:
    """For each mechanism the matrix of ratios."""
    at = "the accuracy that was asked for" if summary.target is None else f"a verified residual of {summary.target:g}"
    text = (
        f"The mean time of the method of the row, divided by that of the column, to {at}, on the cases of both (their number in "
        f"parentheses where it is not all), on {metrics.FEWEST} cases and more with a 95 % bootstrap interval over cases and "
        "repeats; * where a test of signs over cases, corrected for all pairs of the table (Benjamini and Hochberg), finds a "
        f"difference at {100 * metrics.LEVEL:g} %. Below 1 the row is faster. Mechanisms with one case are left out."
    )
    found = []
    for k, (mechanism, records) in enumerate(summary.by_mechanism.items()):
        compared = pairwise(records, summary.target)
        if (most := max((one.cases for one in compared.values()), default=0)) > 1:
            pairs, methods = {key: _pair(one, most) for key, one in compared.items()}, dict.fromkeys(one for one, _ in compared)
            rows = [(one, *(pairs.get((one, other), "") for other in methods)) for one in methods]
            table = _grid(("row / column", *methods), rows)
            found.append(Section(f"{mechanism}, {most} cases", table=table, anchor=f"pairs-{k + 1}", name="pairs"))
    return [Section("Pairwise comparisons", [text]), *found] if found else []


def _pair(found: Comparison, most: int) -> str:
    if not found.cases:
        return "-"
    count = f" ({found.cases})" if found.cases < most else ""
    between = f" [{factor(found.low)}, {factor(found.high)}]" if found.cases >= metrics.FEWEST else ""
    return f"{factor(found.ratio)}{'*' if found.differs else ''}{between}{count}"


def _layers(summary: Summary) -> list[Section]:
    if not any(row.method == "highs" for row in summary.rows):
        return []
    text = (
        "Seconds before the solver starts (build + compile) in units of the direct build by arrays, which is the method highs: "
        "median over cases and repeats of the ratio on the same case and repeat."
    )
    cells = [(method, f"{ratio:.1f}") for method, ratio in summary.layers.items()]
    table = _grid(("method", "ratio to highs"), cells) if cells else None
    return [Section("Modelling layers", [text], table, name="layers")]


def _references(summary: Summary) -> list[Section]:
    """How far each method's answers are from the reference, in what is unique."""
    known = summary.references
    if not known:
        return []
    by_method: dict[str, list[float]] = defaultdict(list)
    by_case: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for record in summary.records:
        if record.case in known:
            distance = summary.distance(record)
            by_method[record.method].append(distance)
            if metrics.succeeded(record):
                by_case[record.case].append((distance, record.method))
    kinds = Counter(item.kind for item in known.values())
    text = (
        f"References: {', '.join(f'{kind} (cases: {count})' for kind, count in kinds.items())}. The distance is the largest "
        "difference in what is unique of an answer (shares, totals or objective), relative to the reference's largest number. "
        "Games and njc have many answers, so they have none."
    )
    rows = []
    for method, values in sorted(by_method.items()):
        there = [value for value in values if math.isfinite(value)]
        numbers = [f"{of(there):.1e}" for of in (median, max)] if there else ["-", "-"]
        rows.append((method, str(len(values)), str(len(values) - len(there)), *numbers))
    found = _grid(("method", "solves", "without a point", "median distance", "largest distance"), rows)
    far = {case: max(found) for case, found in by_case.items()}
    farthest = {case: (method, f"{distance:.1e}") for case, (distance, method) in far.items()}
    cells = [(case, item.provenance, *farthest.get(case, ("none", "-"))) for case, item in known.items()]
    table = Grid("", ("case", "reference", "farthest success", "its distance"), cells, right=(3,))
    return [Section("Reference answers", [text], found, name="references"), Section("", table=table, name="distances")]


def _failures(summary: Summary) -> list[Section]:
    rows = [
        (f.record.method, f.record.case, f"{f.count} of {f.runs}", f.what, f.record.message, summary.command(f.record))
        for f in summary.failures
    ]
    text = "Every case that a method did not solve in some repeat, or solved without claiming so, and what solves it again."
    return _listed("Failures", text, ("method", "case", "repeats", "what", "message", "command"), rows, "None.")


def _undefined(summary: Summary) -> list[Section]:
    rows = [(r.case, r.mechanism, r.message) for r in summary.undefined]
    text = "These cannot be built here, or their mechanism is not defined on them; they count nowhere."
    return _listed("Cases without solves", text, ("case", "mechanism", "why"), rows) if rows else []


def _missing(summary: Summary) -> list[Section]:
    rows = list(summary.missing.items())
    heads, none = ("method", "what to install"), "All methods were available."
    return _listed("Methods not available", "These were not measured.", heads, rows, none)


def _listed(title: str, text: str, heads: Sequence[str], rows: Sequence[Sequence[str]], none: str = "") -> list[Section]:
    """A table below a sentence; only another one where there are no rows."""
    return [Section(title, [text], Grid("", heads, rows), name=title.lower().split()[0]) if rows else Section(title, [none])]


def _definitions(summary: Summary) -> list[Section]:
    about = summary.run.details["methods"]
    rows = [(name, about[name]["kind"], about[name]["about"]) for name in summary.methods]
    return [Section("Method definitions", table=Grid("", ("method", "kind", "what it is"), rows), name="definitions")]


def _again(summary: Summary) -> list[Section]:
    """What makes the report again."""
    details = {name: value for name, value in summary.run.details.items() if name not in ("cases", "place", "words", "methods")}
    configuration = json.dumps(as_json(details), indent=1, sort_keys=True, allow_nan=False)
    text = "The command measures again, and writes the same report of what it measures. Below stands the configuration as JSON."
    return [Section("Make this report again", [text], code=summary.again), Section("", code=configuration)]


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
        f"{1 + 1.1 * limit:g} s, counted from the end of an untimed warm-up on a two-user instance, which "
        f"may take as long, or {START:g} s if the limit is below that: it also imports packages.",
        "A method gets the instance after its warm-up, answers tasks and prices, and is judged in a process in which it never "
        "ran. No promise is made against code that attacks that process, as by a debugger, or keeps answers between solves.",
        f"Memory is limited as address space, {memory:,} MB beyond what the imported packages take, by the operating "
        "system (Linux; macOS may not enforce it). Where a solver ends its process when refused memory, the message says so.",
        "Numerical libraries are asked for one thread by environment variables; a solver that ignores them may use more.",
        "The time that counts is the wall time around the method; the process start, the residuals and the warm-up do not.",
    )
    return [Section("Known limitations", points=points)]


def _grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Grid:
    """A table of numbers but for its first column."""
    return Grid("", columns, list(rows), right=range(1, len(columns)))
