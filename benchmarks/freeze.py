"""Write the library's manifest: `python -m fairalloc.benchmarks.freeze` adds what is missing in models/examples/library.json.

An instance keeps the hash that it has there, and a mechanism the answer. Two words freeze another instance: a family or a trace,
and what it is given as JSON, such as `generic '{"n_users": 20, "n_servers": 5, "n_resources": 2, "seed": 1}'`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import NotApplicable
from fairalloc.models.examples.library import MANIFEST, Frozen
from fairalloc.models.examples.published import EXAMPLES
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.files.writing import write_file
from fairalloc.models.numbers import rounded
from fairalloc.solvers import solve
from fairalloc.solvers.judge import right_tasks
from fairalloc.solvers.method import Limits, now
from fairalloc.solvers.options import Judging

GENERAL = ("drfh", "tsf", "lmmf", "nb", "ps-dsf", "utilitarian")
MECHANISMS: Mapping[str, tuple[str, ...]] = {"market": ("nb",), "network": ("mmf", "lmmf", "nb"), "njc": (*GENERAL, "njc")}
"""What is meaningful, where that is not GENERAL."""


FEW, SOME, SECONDS, ENOUGH = 200, 4000, 20.0, 1e-10
"""Arcs up to which rationals are asked, and for tasks; of each solve; a residual that is not improved."""

VALUES = ("g", "objective")


DIGITS = 12
"""Of what is told, at most."""


def answer(found: Allocation) -> dict[str, float]:
    """What is told, to the digits that are proved: its value, and all tasks together where they are unique; its residual."""
    item, residual = mechanism(found.mechanism), proved(found)
    values = {name: value for name, value in item.values(found).items() if name in VALUES}
    gain = found.instance.weights.sum() if item.id == "nb" else None  # of a sum of logarithms (docs/theory/residuals.md)
    told = {name: written(value, residual * (abs(value) if gain is None else gain)) for name, value in values.items()}
    if item.unique or not told:
        tasks, error = right(found) if item.unique else (found.tasks.sum(), 0.0)
        told |= {"tasks": written(tasks, error * tasks)} if error < 1.0 else {}
    return {**told, "residual": float(f"{residual:.1e}")}


def written(value: float, error: float) -> float:
    """The digits of a number that are proved."""
    return float(f"{rounded(value, error):.{DIGITS}g}")


def right(found: Allocation) -> tuple[float, float]:
    """All tasks together and a bound on their relative error: in rationals or many digits where these end, else of the answer."""
    limits = Limits(deadline=now() + SECONDS, judging=Judging(exact_arcs=SOME, digits_arcs=SOME))
    known = right_tasks(mechanism(found.mechanism), found.instance, limits)
    if known is not None:
        return float(sum(known.tasks)), known.error
    return found.tasks.sum(), np.inf if found.user_error is None else found.user_error


def proved(found: Allocation) -> float:
    """The residual, 0 of an answer that is right in rationals."""
    return 0.0 if found.x_exact is not None and found.user_error == 0.0 else found.residual


def best(instance: Instance, name: str) -> Allocation | None:
    """In rationals or with many digits on few arcs, else by the method that is asked first; None where none fits."""
    answers: list[Allocation] = []
    for method, accuracy in (("exact", "high"), ("many-digits", "high"), (None, "high"), (None, 1e-10)):
        if method and instance.A > FEW:
            continue
        if answers and proved(answers[-1]) <= ENOUGH:
            break
        with suppress(NotApplicable):
            answers.append(solve(instance, name, method, accuracy=accuracy, time_limit=SECONDS))
    return min(answers, key=proved, default=None)


def completed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of an instance, with what is known of it."""
    instance = Frozen(row["name"], row["source"], row["arguments"], (), "", {}).made()
    answers = dict(row.get("answers", {}))
    for name in MECHANISMS.get(row["source"], GENERAL):
        if name not in answers and (found := best(instance, name)) is not None and proved(found) <= 1e-6:
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
