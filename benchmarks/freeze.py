"""Write the library's manifest: `python -m fairalloc.benchmarks.freeze` adds what is missing in models/examples/library.json.

An instance keeps the hash that it has there, and a mechanism the answer. Two words freeze another instance: a family or a trace,
and what it is given as JSON, such as `generic '{"n_users": 20, "n_servers": 5, "n_resources": 2, "seed": 1}'`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
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


def completed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of an instance, with what is known of it."""
    instance = Frozen(row["name"], row["source"], row["arguments"], (), "", {}).made()
    answers = dict(row.get("answers", {}))
    for name in MECHANISMS.get(row["source"], GENERAL):
        if name not in answers and (found := best(instance, name)) is not None and found.residual <= 1e-6:
            answers[name] = answer(found)
    size, made = [instance.N, instance.K, instance.R, instance.A], row.get("hash") or fingerprint(instance)
    return {**row, "name": instance.name, "size": size, "hash": made, "answers": answers}


def main(words: Sequence[str] = ()) -> None:
    """Go through all instances, and write what is known after each."""
    rows: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    given = [("example", {"name": item.name}) for item in EXAMPLES]
    given += [(source, json.loads(arguments)) for source, arguments in zip(words[::2], words[1::2], strict=True)]
    for source, arguments in given:
        row = {"name": arguments.pop("name", ""), "source": source, "arguments": arguments}
        if not any(row | {"name": row["name"] or one["name"]} == {key: one[key] for key in row} for one in rows):
            rows.append(row)
    for k, row in enumerate(rows):
        rows[k] = completed(row)
        write_file(MANIFEST, "[\n" + ",\n".join(json.dumps(one) for one in rows if "hash" in one) + "\n]\n")
        print(rows[k]["name"], *rows[k]["answers"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
