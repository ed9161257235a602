"""Write the library's manifest: `python -m fairalloc.benchmarks.freeze` adds what is missing in models/examples/library.json.

An instance keeps the hash that it has there, and a mechanism the answer. To freeze another instance, add it to SOURCES.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.models.examples.library import MANIFEST, Frozen
from fairalloc.models.examples.published import EXAMPLES
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.files.writing import write_file
from fairalloc.solvers import solve

SMALL, MIDDLE, LARGE = ({"n_users": n, "n_servers": k, "n_resources": r} for n, k, r in ((20, 5, 2), (100, 20, 3), (300, 100, 4)))

FAMILIES = (
    *("generic", "tied", "zero_demand", "placement", "heavy_tailed", "identical", "racks", "finite", "variants", "badly_scaled"),
    *("degenerate", "planted", "njc"),
)

GENERATED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *((family, size) for family in FAMILIES for size in (SMALL, MIDDLE)),
    *((family, {**size, "decades": 6}) for family in ("weights", "demands") for size in (SMALL, MIDDLE)),
    *(("planted", {**size, "mechanism": "nb"}) for size in (SMALL, MIDDLE)),
    *(("sparse", {**size, "part": 0.1}) for size in (MIDDLE, LARGE)),
    *(("google_mix", {"n_users": n}) for n in (50, 500)),
    *((family, LARGE) for family in ("generic", "zero_demand", "heavy_tailed", "racks")),
)
MARKETS: tuple[Mapping[str, Any], ...] = (
    *({"buyers": n, "goods": k} for n, k in ((5, 8), (20, 50), (100, 200), (100, 1000))),
    {"buyers": 1000, "goods": 100, "density": 0.2},
)
NETWORKS: tuple[Mapping[str, Any], ...] = (
    *({"flows": n, "links": k} for n, k in ((20, 30), (100, 60), (300, 100), (1000, 200))),
    {"flows": 100, "links": 60, "equal": True},
)
TRACES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *(("google2011", given) for given in ({}, {"finite": True}, {"users": 20}, {"users": 100})),
    *(("bitbrains", given) for given in ({}, {"finite": True}, {"seed": 1})),
    *(("alibaba", given) for given in ({}, {"gpuspec": True}, {"pods": 30})),
)

SOURCES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *(("example", {"name": item.name}) for item in EXAMPLES),
    *((family, {**given, "seed": 1}) for family, given in GENERATED),
    *(("market", {**given, "seed": 1}) for given in MARKETS),
    *(("network", {**given, "seed": 1}) for given in NETWORKS),
    *TRACES,
)
"""Source and arguments of each."""

GENERAL = ("drfh", "tsf", "lmmf", "nb", "ps-dsf", "utilitarian")
MECHANISMS: Mapping[str, tuple[str, ...]] = {"market": ("nb",), "network": ("mmf", "lmmf", "nb"), "njc": (*GENERAL, "njc")}
"""What is meaningful, where that is not GENERAL."""


FEW, SECONDS, ENOUGH = 200, 20.0, 1e-10
"""Arcs up to which rationals are asked; of each solve; a residual that is not improved."""

VALUES = ("g", "objective")


def answer(found: Allocation) -> dict[str, float]:
    """What is told of an answer: its value and, where they are unique, all tasks together, to twelve digits; what it proves."""
    item = mechanism(found.mechanism)
    told = {name: value for name, value in item.values(found).items() if name in VALUES}
    if item.unique or not told:
        told["tasks"] = float(found.tasks.sum())
    return {**{name: float(f"{value:.12g}") for name, value in told.items()}, "residual": float(f"{found.residual:.1e}")}


def best(instance: Instance, name: str) -> Allocation | None:
    """In rationals on few arcs where that ends, else by the method that is asked first; None where the mechanism does not fit."""
    answers: list[Allocation] = []
    for method, accuracy in (("exact", "high"), (None, "high"), (None, 1e-10)):
        if method and instance.A > FEW:
            continue
        if answers and answers[-1].residual <= ENOUGH:
            break
        with suppress(NotApplicable):
            answers.append(solve(instance, name, method, accuracy=accuracy, time_limit=SECONDS))
    return min(answers, key=lambda found: found.residual, default=None)


def completed(source: str, arguments: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The row of an instance, with what is known of it."""
    draft = Frozen(str(arguments.get("name", "")), source, arguments, (), "", {})
    instance = draft.made()
    size = [instance.N, instance.K, instance.R, instance.A]
    row = known.get(instance.name, {"hash": fingerprint(instance), "answers": {}})
    answers = dict(row["answers"])
    for name in MECHANISMS.get(source, GENERAL):
        if name not in answers and (found := best(instance, name)) is not None and found.residual <= 1e-6:
            answers[name] = answer(found)
    given = {} if source == "example" else dict(arguments)
    return {"name": instance.name, "source": source, "arguments": given, "size": size, "hash": row["hash"], "answers": answers}


def main() -> None:
    """Go through SOURCES, and write what is known after each."""
    known = {row["name"]: row for row in json.loads(MANIFEST.read_text(encoding="utf-8"))} if MANIFEST.exists() else {}
    rows: dict[str, Any] = {}
    for source, arguments in SOURCES:
        row = completed(source, arguments, known)
        rows[row["name"]] = row
        left = [known[name] for name in known if name not in rows]
        write_file(MANIFEST, "[\n" + ",\n".join(map(json.dumps, [*rows.values(), *left])) + "\n]\n")
        print(row["name"], *row["answers"], flush=True)


if __name__ == "__main__":
    main()
