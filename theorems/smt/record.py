"""What was proved by machine: record.json beside this file, written by `fairalloc theorems prove ID --keep FILE`.

It is read without any solver: for the status of a statement, the matrix, `fairalloc theorems show ID` and the pages.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.theorems.cases import Case
from fairalloc.theorems.packaged_files import packaged_text

SCHEMA = "fairalloc/machine-proofs-1"

_IN_ALPHA = "it is about a limit in alpha, and formulas over the reals have alpha in no exponent that grows"
_LOGARITHMS = "it is about a trajectory defined by logarithms, for which the solver has no decision procedure"
_DEFINED_SO = "it is how the formulas define the mechanism"

WITHOUT_FORMULAS: Mapping[str, str] = {
    "K.T2.limit": _IN_ALPHA,
    "K.C3": _IN_ALPHA,
    "K.3.4.mixed.limit": _IN_ALPHA,
    "K.T7": "it is about no set of instances, but about what is near a solution, for real exponents alpha_i",
    "K.T7.bottleneck": "two solutions at once stay unknown after 20 s; that all solutions are PS-DSF allocations is K.T4",
    "K.3.1.existence": "it says that a solution exists, for which the solver would have to eliminate a quantifier",
    "D.T1": "it says that an allocation exists, for which the solver would have to eliminate a quantifier",
    "W.P5": "it says that an equal partition exists, for which the solver would have to eliminate a quantifier",
    "D.L4": _LOGARITHMS,
    "D.L2": _LOGARITHMS,
    "D.L2.true": _LOGARITHMS,
    "D.L3": _LOGARITHMS,
    "Z.P3.true": _DEFINED_SO,
    "Z.V.LMMF.LMMF": _DEFINED_SO,
    "Z.P1": "it is about the number of linear programs, not about an answer",
}


@dataclass(frozen=True)
class MachineVerdict:
    """What the machine says of a statement at a size, in a word and a sentence.

    It is proved for all instances of the size, refuted by `case`, which exact answers confirm, or unknown. So many `patterns`
    were decided; `covers` says what is covered beyond the size, such as parameters; `needed` are the assumptions in an
    unsatisfiable core of some pattern, where asked.
    """

    statement: str
    size: tuple[int, int, int]
    verdict: Literal["proved", "refuted", "unknown"]
    sentence: str
    patterns: int = 0
    seconds: float = 0.0
    solvers: tuple[str, ...] = ()
    covers: str = ""
    needed: tuple[str, ...] = ()
    case: Case | None = field(default=None, compare=False)


def document(verdict: MachineVerdict) -> dict[str, Any]:
    kept = {one.name: getattr(verdict, one.name) for one in fields(verdict)}
    kept |= {"size": list(verdict.size), "seconds": round(verdict.seconds, 2), "solvers": list(verdict.solvers)}
    kept |= {"needed": list(verdict.needed), "case": None if verdict.case is None else verdict.case.document()}
    return {name: value for name, value in kept.items() if value or name not in ("covers", "needed", "case")}


def kept_proofs(path: str | Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The verdicts in a file by statement and size, none where there is no file; InstanceError where it holds something else."""
    found: Any = read_json(path) if Path(path).exists() else {"schema": SCHEMA, "proofs": []}
    with suppress(KeyError, TypeError, ValueError):  # of what has another shape
        if found["schema"] == SCHEMA:
            return {(str(item["statement"]), *map(int, item["size"])): item for item in found["proofs"]}
    raise InstanceError(f"{path} holds no verdicts of schema {SCHEMA!r}")


def keep(verdicts: Iterable[MachineVerdict], path: str | Path) -> None:
    """Put verdicts into a file, in the place of those of the same statements and sizes."""
    known = kept_proofs(path) | {(verdict.statement, *verdict.size): document(verdict) for verdict in verdicts}
    write_json({"schema": SCHEMA, "proofs": [known[key] for key in sorted(known)]}, path)


@lru_cache(maxsize=1)
def recorded() -> Mapping[str, list[dict[str, Any]]]:
    """The committed verdicts by statement."""
    text = packaged_text("smt/record.json")
    found: dict[str, list[dict[str, Any]]] = {}
    for item in json.loads(text)["proofs"]:
        found.setdefault(item["statement"], []).append(item)
    return found


def sizes_proved(name: str) -> list[str]:
    """The sizes for all instances of which the machine proved a statement, the smallest first, such as ["2x2x2", "3x2x2"]."""
    sizes = sorted(item["size"] for item in recorded().get(name, ()) if item["verdict"] == "proved")
    return ["x".join(map(str, size)) for size in sizes]


def machine_line(kept: Mapping[str, Any]) -> str:
    covers = f", for {kept['covers']}" if "covers" in kept else ""
    needed = f"; needed: {', '.join(kept['needed'])}" if "needed" in kept else ""
    solvers = ", ".join(kept["solvers"])
    patterns = f"{kept['patterns']} pattern{'s' * (kept['patterns'] != 1)}, " if kept["verdict"] == "proved" else ""
    return f"{kept['sentence']}{covers} ({patterns}{kept['seconds']:.2f} s, {solvers}){needed}"
