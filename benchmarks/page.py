"""The report as one HTML page: no scripts, no outside references, the same bytes for the same records."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import MethodRow, Summary, mechanism_cells, milliseconds, percent, phases

__all__ = ["write_page"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 } th, td { padding: .25em .7em; text-align: left; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } h1, h2 { line-height: 1.2 }
svg { max-width: 100%; height: auto }
"""
# Colour and dash, which differ without colour too.
_LINES = ("C0-", "C1--", "C2-.", "C3:", "C4-", "C5--", "C6-.", "C7:", "C8-", "C9--")
_PHASES = ("build", "compile", "solve", "read")


def write_page(summary: Summary, path: str | Path) -> None:
    """Write the report of a summary."""
    sections = (_header, _methods, _layers, _mechanisms, _profile, _failures, _missing, _definitions, _limitations)
    body = "\n".join(section(summary) for section in sections)
    # The policy makes a browser refuse to load anything, should a reference ever slip in.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = f'<meta charset=utf-8><meta http-equiv=Content-Security-Policy content="{policy}"><title>{_title(summary)}</title>'
    page = f"<!DOCTYPE html>\n<html lang=en><head>{head}<style>{_STYLE}</style></head><body>\n{body}\n</body></html>\n"
    Path(path).write_text(page, encoding="utf-8")


# ---- sections ----------------------------------------------------------------------------------------------------


def _header(summary: Summary) -> str:
    details, started = summary.details, sorted(r.started for r in summary.records)
    packages = ", ".join(f"{name} {version}" for name, version in details["packages"].items())
    facts = [
        ("measured", f"{started[0]} to {started[-1]}"),
        ("counts", summary.counts),
        ("setting", summary.limits),
        ("machine", f"{details['cpu']}, {details['cores']} cores, {details['system']} (node {details['node']})"),
        ("versions", f"fairalloc {details['fairalloc']} (source {details['source']}), Python {details['python']}, {packages}"),
        ("environment", summary.setting.environment),
    ]
    note = f"<p>{escape(summary.note)}</p>" if summary.note else ""
    return f"<h1>{_title(summary)}</h1>\n{_table(('', ''), facts, numbers=0)}{note}"


def _methods(summary: Summary) -> str:
    titles = ("method", "cases", "solves", "success", "honesty", *(f"{name}, ms" for name in _PHASES), "sgm, ms")
    text = (
        "Success: the method claims that it solved the case and the residual computed from the instance passes. Honesty: the "
        "claim equals the truth, in both directions. Times are medians over the solves that returned a point. sgm: shifted "
        f"geometric mean over cases of the median total, with a shift of {1e3 * metrics.SHIFT:g} ms; a failure costs the time "
        "limit. Methods that compute different mechanisms face different cases here: compare them by mechanism."
    )
    return _section("Methods", text, titles, map(_method_cells, summary.rows))


def _method_cells(row: MethodRow) -> Sequence[str]:
    counts = (row.method, str(row.cases), str(row.runs), percent(row.success), percent(row.honesty))
    return (*counts, *phases(row), milliseconds(row.mean))


def _layers(summary: Summary) -> str:
    if not any(row.method == "highs" for row in summary.rows):
        return ""
    text = (
        "Seconds before the solver starts (build + compile) in units of the direct build by arrays, which is the method highs: "
        "median over cases and repeats of the ratio on the same case and repeat."
    )
    cells = [(method, f"{ratio:.1f}") for method, ratio in summary.layers.items()]
    return _section("Modelling layers", text, ("method", "ratio to highs"), cells)


def _mechanisms(summary: Summary) -> str:
    parts = []
    for name, rows in summary.by_mechanism.items():
        titles = (name, "cases", "success", "honesty", "sgm, ms", "ratio to the best")
        parts.append(_table(titles, mechanism_cells(rows)))
    return "<h2>By mechanism</h2>\n" + "\n".join(parts)


def _profile(summary: Summary) -> str:
    text = (
        "The fraction of the cases of a mechanism that a method solves within a factor of the fastest method on that case. "
        "Higher is better; the right end is the fraction solved at all."
    )
    if find_spec("matplotlib") is None:
        return '<h2>Performance profile</h2>\n<p>Not drawn: it needs matplotlib, pip install "fairalloc[plots]".</p>'
    return f"<h2>Performance profile</h2>\n<p>{text}</p>\n{_profile_svg(summary.records)}"


def _failures(summary: Summary) -> str:
    cells = [(f.record.method, f.record.case, f"{f.count} of {f.runs}", f.what, f.record.message) for f in summary.failures]
    text = "Every case that a method did not solve in some repeat, or solved without claiming so." if cells else "None."
    return _section("Failures", text, ("method", "case", "repeats", "what", "message"), cells, numbers=0)


def _missing(summary: Summary) -> str:
    text = "These were not measured." if summary.missing else "All methods were available."
    return _section("Methods not available", text, ("method", "what to install"), summary.missing.items(), numbers=0)


def _definitions(summary: Summary) -> str:
    versions = {r.method: r.versions for r in summary.records}
    about = summary.details["methods"]
    cells = [(name, about[name]["kind"], versions[name], about[name]["about"]) for name in sorted(versions)]
    return _section("Method definitions", "", ("method", "kind", "versions", "what it is"), cells, numbers=0)


def _limitations(summary: Summary) -> str:
    job = summary.setting
    points = (
        "Times are noisy: trust ratios within one report that are well beyond the spread of repeats, not single milliseconds.",
        "A shifted geometric mean depends on its shift, and rankings can change with it: look at the profile too.",
        "First-order methods are judged by the same tolerance as all others, though they are made for lower accuracy. The "
        "accuracy word asks each solver for what usually meets that residual, in its own options: not for its defaults.",
        "A residual says how far a point is from the mechanism's definition, not how far its tasks are from the exact ones.",
        f"A method is told the time limit of {job.time_limit:g} s and its process is ended from outside after "
        f"{job.deadline:g} s, counted from the end of an untimed warm-up on a two-user instance, which has the same limit.",
        f"Memory is limited as address space, {job.memory_mb:,} MB beyond what the imported packages take, by the operating "
        "system (Linux; macOS may not enforce it). Where a solver ends its process when refused memory, the message says so.",
        "Numerical libraries are asked for one thread by environment variables; a solver that ignores them may use more.",
        "Only the phases build, compile, solve and read count as time; the process start, the residuals and the warm-up do not.",
    )
    return "<h2>Known limitations</h2>\n<ul>" + "".join(f"<li>{escape(point)}</li>" for point in points) + "</ul>"


# ---- pieces ------------------------------------------------------------------------------------------------------


def _title(summary: Summary) -> str:
    return f"fairalloc benchmark: suite {escape(summary.setting.suite)}"


def _section(title: str, text: str, titles: Sequence[str], cells: Iterable[Sequence[str]], numbers: int = 1) -> str:
    rows = list(cells)
    return f"<h2>{title}</h2>\n<p>{escape(text)}</p>\n{_table(titles, rows, numbers) if rows else ''}"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 1) -> str:
    """A table; from column `numbers` on cells are set to the right, 0 for none."""

    def line(tag: str, cells: Sequence[str]) -> str:
        kinds = [" class=n" if 0 < numbers <= k else "" for k in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(c)}</{tag}>" for kind, c in zip(kinds, cells, strict=True)) + "</tr>"

    head = f"<thead>{line('th', titles)}</thead>" if any(titles) else ""
    return f"<table>{head}<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def _profile_svg(records: Sequence[Record]) -> str:
    """One panel a mechanism; the same records give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    mechanisms = sorted({r.mechanism for r in records})
    styles = dict(zip(sorted({r.method for r in records}), cycle(_LINES), strict=False))
    with matplotlib.rc_context({"svg.hashsalt": "fairalloc", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(4.0 * len(mechanisms), 3.6), layout="constrained")
        for axes, name in zip(figure.subplots(1, len(mechanisms), squeeze=False)[0], mechanisms, strict=True):
            axes.set(title=name, xscale="log", ylim=(-0.02, 1.02), xlabel="factor of the fastest", ylabel="cases solved")
            _draw(axes, metrics.profile(r for r in records if r.mechanism == name), styles)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(file.getvalue())


def _draw(axes: Any, ratios: Mapping[str, Sequence[float]], styles: Mapping[str, str]) -> None:
    import numpy as np
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    largest = max((r for values in ratios.values() for r in values if np.isfinite(r)), default=1.0)
    for method, values in sorted(ratios.items()):
        factors = np.append(np.sort([r for r in values if np.isfinite(r)]), 1.2 * largest)
        solved = np.append(np.arange(1, len(factors)), len(factors) - 1) / len(values)
        axes.step(np.append(1.0, factors), np.append(0.0, solved), styles[method], where="post", label=method)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if largest < 100 else (1.0,)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(loc="lower right")


def _inline(svg: str) -> str:
    """The bare svg element: in HTML it needs no declarations, which would name outside addresses."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    return re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", element)
