"""The table of solvers/choice.py from the records of the suite `choose`.

A method's seconds on a case are the least, over the repeats, of its processor time; it counts where it claimed its answer and the
answer proved what the accuracy promises, in every repeat.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fairalloc.benchmarks.metrics import succeeded
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import Summary
from fairalloc.benchmarks.suites.suite import SUITES, BenchmarkError, SuiteCase
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.solvers.choice import features_of

__all__ = ["choice_document", "choice_text"]


def choice_document(*summaries: Summary, table: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What choice.json holds: where and when it was measured, and every case with its features and seconds.

    Where a method is in several runs on a case, the last of them counts: a changed method can be measured alone. A `table` as
    choice.json holds it comes before all runs, so a new mechanism or method needs no records but its own.

    Raises
    ------
    BenchmarkError : the suite of the runs is none of this package
    """
    rows: dict[str, dict[str, list[Record]]] = defaultdict(dict)
    for summary in summaries:
        found: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in summary.records:
            found[record.case, record.method].append(record)
        for (case, method), records in found.items():
            rows[case][method] = records
    suite = SUITES.get(summaries[-1].run.details["place"])
    if suite is None:
        asked = summaries[-1].run.suite
        raise BenchmarkError(f"the suite {asked!r} of the records is none of this package, but its instances are needed")
    made = [*(table["made"] if table else ()), *map(_made, summaries)]
    kept = {case["case"]: case for case in (table["cases"] if table else ())}
    measured = {case.name: _case(case, rows[case.name], kept.get(case.name)) for case in suite.cases if case.name in rows}
    return {"made": made, "cases": [(kept | measured)[case.name] for case in suite.cases if case.name in kept | measured]}


def _made(summary: Summary) -> dict[str, Any]:
    """When, where and with what a run measured."""
    told = {name: summary.run.details[name] for name in ("setting", "machine", "python", "packages")}
    return {"started": summary.run.started, "suite": summary.run.suite, "methods": list(summary.methods), **told}


def _case(case: SuiteCase, by_method: Mapping[str, Sequence[Record]], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """One case: the features of its instance, the seconds of who claimed it, and who did not; other methods as `before`."""
    instance = case.build()
    item = find_mechanism(case.mechanism).configure(**case.parameters).settled(instance)
    seen = features_of(item, instance)
    claimed = {method: min(r.cpu for r in rows) for method, rows in by_method.items() if all(map(succeeded, rows))}
    silent = set(by_method) - set(claimed)
    if before is not None:
        claimed |= {method: seconds for method, seconds in before["seconds"].items() if method not in by_method}
        silent |= set(before["silent"]) - set(by_method)
    return {
        "case": case.name,
        "mechanism": item.id,
        "arcs": seen.arcs,
        "rows": seen.rows,
        "density": round(seen.density, 4),
        "zeros": seen.zeros,
        "alpha": None if seen.alpha is None else str(seen.alpha),
        "seconds": {method: float(f"{claimed[method]:.3g}") for method in sorted(claimed, key=claimed.__getitem__)},
        "silent": sorted(silent),
    }


def choice_text(document: dict[str, Any]) -> str:
    """The document with a line for each case."""
    cases = ",\n".join(f"  {json.dumps(case)}" for case in document["cases"])
    return f'{{\n "made": {json.dumps(document["made"], sort_keys=True)},\n "cases": [\n{cases}\n ]\n}}\n'
