"""How the cost of methods grows with the size of instances, from the records of a suite whose cases have families.

1. A solve counts where its answer is verified: a residual of at most 1e-6, computed from the instance. Methods of this package
   that count nearly always prove 1e-8 and better; the largest residual of each stands in the table.
2. The seconds of a method on a case are the least processor time over repeats and accuracies of the solves that count.
3. The exponent of a method in a family is the slope of the least-squares line through log seconds against log arcs, over the
   cases with at least 1,000 arcs; below, calls cost the same whatever the size. Two cases are needed, and the range is told.
4. For each case, the best of other solvers and own methods is compared with the best of this package's methods.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, log10
from statistics import median

import numpy as np

from fairalloc.benchmarks.metrics import grouped
from fairalloc.benchmarks.records import SKIPPED, Record
from fairalloc.benchmarks.report import Summary, decade
from fairalloc.benchmarks.suites.suite import is_ours
from fairalloc.models.tables import Grid

VERIFIED = 1e-6
"""The residual up to which an answer counts."""

FEWEST_ARCS = 1000


@dataclass(frozen=True)
class Growth:
    """One method on one family of one mechanism: seconds by arcs of what counts, the worst residual, why it ended."""

    mechanism: str
    family: str
    method: str
    seconds: Mapping[int, float]
    worst: float
    ended: str

    @property
    def fitted(self) -> list[tuple[float, float]]:
        """(log arcs, log seconds) of the cases that the line goes through."""
        return [(log(arcs), log(spent)) for arcs, spent in sorted(self.seconds.items()) if arcs >= FEWEST_ARCS and spent > 0]

    @property
    def exponent(self) -> float | None:
        """Step 3; None on fewer than two cases."""
        if len(self.fitted) < 2:
            return None
        arcs, spent = np.array(self.fitted).T
        return float(np.polyfit(arcs, spent, 1)[0])

    @property
    def told(self) -> str:
        """The exponent with its range, such as "1.2 (1e3-1e5)"."""
        if self.exponent is None:
            return "-"
        first, last = (exp(self.fitted[k][0]) for k in (0, -1))
        return f"{self.exponent:.2f} ({decade(first)}-{decade(last)})"


def growths(summary: Summary) -> list[Growth]:
    """Every method in every family, by mechanism, family and method; [] where the suite has no families."""
    families = {name: case["family"] for name, case in summary.cases.items() if case["family"]}
    counted = (r for r in summary.records if r.case in families and r.method not in summary.dishonest)
    found = grouped(counted, lambda record: (record.mechanism, families[record.case], record.method))
    return [_growth(key, records) for key, records in sorted(found.items())]


def _growth(key: tuple[str, str, str], records: Sequence[Record]) -> Growth:
    mechanism, family, method = key
    good = [r for r in records if r.residual <= VERIFIED and r.arcs]
    seconds: dict[int, float] = {}
    for r in good:
        seconds[r.arcs] = min(r.cpu, seconds.get(r.arcs, np.inf))
    return Growth(mechanism, family, method, seconds, max((r.residual for r in good), default=np.inf), _ending(records))


def _ending(records: Iterable[Record]) -> str:
    """Why the method ended on the first case where no solve counts, such as "time_limit at 10,000"."""
    for rows in grouped(records, lambda record: record.case).values():
        if not any(r.residual <= VERIFIED for r in rows):
            first = rows[0]
            if first.termination == SKIPPED:
                continue
            shown = f", residual {first.residual:.0e}" if np.isfinite(first.residual) else ""
            return f"{first.termination}{shown} at {first.case.partition('/')[0].rpartition('-')[2]}"
    return ""


def growth_grids(summary: Summary) -> list[Grid]:
    """For each mechanism a table: family and method, CPU seconds by decade of arcs, the exponent and where it ended."""
    grids = []
    for mechanism, items in grouped(growths(summary), lambda item: item.mechanism).items():
        sizes = _sizes(items)
        decades = sorted({k for found in sizes.values() for k in found})
        heads = ["family", "method", *(f"1e{k}" for k in decades), "exponent", "residual", "ended"]
        rows = [_cells(item, [sizes[item.family].get(k, 0) for k in decades]) for item in items if item.seconds or item.ended]
        grids.append(Grid(mechanism, heads, rows, right=range(2, 2 + len(decades))))
    return grids


def medians_by_decade(summary: Summary, mechanism: str) -> dict[str, list[tuple[float, float]]]:
    """For each method (10^k arcs, CPU seconds): the median over families, where no verified answer counts as inf."""
    items = [item for item in growths(summary) if item.mechanism == mechanism]
    sizes, points = _sizes(items), defaultdict[str, list[tuple[float, float]]](list)
    for k in sorted({k for found in sizes.values() for k in found}):
        cases = [(family, found[k]) for family, found in sizes.items() if k in found]
        for method, own in grouped(items, lambda item: item.method).items():
            spent = {item.family: item.seconds for item in own}
            middle = median(spent.get(family, {}).get(arcs, inf) for family, arcs in cases)
            points[method] += [(10.0**k, middle)] * (middle < inf)
    return {method: found for method, found in points.items() if found}


def _sizes(items: Iterable[Growth]) -> dict[str, dict[int, int]]:
    """For each family {k: arcs} of what stands for 10^k arcs: the nearest size with a verified answer."""
    sizes: dict[str, dict[int, int]] = defaultdict(dict)
    for item in items:
        for arcs in item.seconds:
            k = round(log10(arcs))
            sizes[item.family][k] = min(sizes[item.family].get(k, arcs), arcs, key=lambda size: abs(log10(size) - k))
    return sizes


def _cells(item: Growth, sizes: Sequence[int]) -> list[str]:
    spent = [f"{item.seconds[arcs]:.3g}" if arcs in item.seconds else "" for arcs in sizes]
    worst = f"{item.worst:.0e}" if item.seconds else ""
    return [item.family, item.method, *spent, item.told, worst, item.ended]


def speedup_grid(summary: Summary) -> Grid | None:
    """Step 4: for each mechanism, family and size the best of others' and of ours; None where nothing is comparable."""
    places = {name: about["place"] for name, about in summary.run.details["methods"].items()}
    package = {name for name in summary.methods if is_ours(name) and not places[name]}
    best: dict[tuple[str, str, int], dict[bool, tuple[float, str]]] = defaultdict(dict)
    for item in growths(summary):
        for arcs, spent in item.seconds.items():
            here, ours = best[item.mechanism, item.family, arcs], item.method in package
            here[ours] = min(here.get(ours, (np.inf, "")), (spent, item.method))
    rows, ratios = [], defaultdict[str, list[float]](list)
    for (mechanism, family, arcs), here in sorted(best.items()):
        if len(here) == 2:
            ratio = here[False][0] / here[True][0]
            ratios[mechanism].append(ratio)
            shown = [f"{here[ours][0]:.3g}" for ours in (True, False)]
            rows.append([mechanism, family, f"{arcs:,}", here[True][1], shown[0], here[False][1], shown[1], f"{ratio:.2g}"])
    if not rows:
        return None
    heads = ["mechanism", "family", "arcs", "ours", "s", "best of the others", "s", "times faster"]
    means = (f"{name}: {exp(np.log(values).mean()):.2g} times, at least {min(values):.2g}" for name, values in ratios.items())
    only = [sum([*here] == [ours] for here in best.values()) for ours in (True, False)]
    left = [f"Cases left out, since only one side has an answer: {only[0]} of this package, {only[1]} of the others."] * any(only)
    return Grid("", heads, rows, [f"In the geometric mean of these cases, {'; '.join(means)}.", *left], right=(2, 4, 6, 7))
