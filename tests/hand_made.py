"""Records of benchmarks made by hand, and the summary of a run that has them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fairalloc.benchmarks.records import Record, RecordedRun
from fairalloc.benchmarks.report import Summary


def record(**changes: Any) -> Record:
    """A success of 0.1 s but for the changes."""
    job = {"suite": "s", "case": "a", "fingerprint": "f", "mechanism": "drfh", "method": "m", "accuracy": "mid", "code": "c"}
    limits = {"time_limit": 10.0, "memory_mb": 100, "repeat": 0, "jobs": 1, "threads": 1, "machine": "e"}
    outcome = {"started": "2026-01-01", "tolerance": 1e-6, "termination": "optimal", "claims": True}
    residuals = {"feasibility": 0.0, "definition": 1e-9, "solve": 0.1, "wall": 0.1}
    values: dict[str, Any] = job | limits | outcome | residuals | changes
    return Record(**values)


def summary_of(records: list[Record], place: str = "nosuch", families: Mapping[str, str] = MappingProxyType({})) -> Summary:
    """The summary of a run with these records, of a suite at that place, whose cases are of these families."""
    here = {"cpu": "a processor", "cores": 2, "system": "Linux", "node": "n"}
    setting = {"accuracies": ["mid"], "time_limit": 10.0, "memory_mb": 100, "repeats": 1, "jobs": 1, "threads": 1}
    told = {r.method: {"kind": "exact", "missing": "", "about": "It <solves> it.", "place": ""} for r in records}
    details = {"machine": here, "setting": setting, "title": "by hand", "place": place, "methods": told}
    details |= {"fairalloc": "1", "python": "3", "packages": {"numpy": "2"}}
    details["cases"] = {r.case: {"family": families.get(r.case, ""), "words": "", "printed": []} for r in records}
    run = RecordedRun(1, "2026-01-01", "s", details, tuple(r.key for r in records))
    return Summary(Path("r.sqlite"), run, tuple(records), 0)
