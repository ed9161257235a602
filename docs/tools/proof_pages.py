"""How each statement is proved: printed, in prose, by SMT solvers, by a certificate, or refuted; and how many are."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from links import plain
from statement_pages import status_of

from fairalloc.theorems.certificates.store import index
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.smt.record import recorded
from fairalloc.theorems.statement import Statement, Status

MEANING = """
A certificate is a file that `check_certificate.py`, 120 lines of Python without any import beyond `fractions`, `json` and
`sys`, accepts or refuses: it proves the formulas of a statement for every instance of a size, by cases and sums of products
of what is assumed, in rational numbers. A lemma that it uses is a question of the same file. The command
`fairalloc theorems prove ID --certificate FILE` writes it, and the page of the statement says which text it proves.
"""


def proof_pages() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the table, and of its counts for the front page."""
    rows = {item.id: _row(item) for item in all_statements().values()}
    counts = Counter(column for row in rows.values() for column in _columns(row))
    yield "parts/proofs.md", "\n".join(["| statements | number |", "| --- | --- |", *_counted(counts), ""])
    head = ["| statement | printed | prose, read by | SMT | certificate | refuted |", "| --- " * 6 + "|"]
    lines = [
        f"| [{name}](/statements/{name}.md) | {' | '.join(plain(cell) for cell in row.values())} |" for name, row in rows.items()
    ]
    yield (
        "statements/proofs.md",
        "\n".join(["---\norphan: true\n---\n", "# Proofs", MEANING, "```{include} /parts/proofs.md\n```\n", *head, *lines, ""]),
    )


def _row(item: Statement) -> dict[str, str]:
    """The cells of a statement."""
    proved = [kept for kept in recorded().get(item.id, ()) if kept["verdict"] == "proved"]
    found = [entry for entry in index().get(item.id, ()) if "sha256" in entry]
    read = item.proof_read or "its author alone"
    return {
        "printed": item.place,
        "prose": read if item.proof else "",
        "smt": "; ".join(f"{_size(kept)} by {' and '.join(one.split()[0] for one in kept['solvers'])}" for kept in proved),
        "certificate": ", ".join(_size(entry) for entry in found) + ", not every size" * (0 < len(found) < len(proved)),
        "refuted": "refuted" * (status_of(item.id) == Status.REFUTED),
    }


def _size(kept: Any) -> str:
    return "x".join(map(str, kept["size"]))


def _columns(row: dict[str, str]) -> Iterator[str]:
    """The lines of the counts that a statement is in."""
    yield "all"
    yield from [name for name in ("prose", "smt", "certificate", "refuted") if row[name]]
    yield from ["read"] * (bool(row["prose"]) and "author alone" not in row["prose"])
    yield from ["two"] * ("cvc5" in row["smt"])
    yield from ["alone"] * (bool(row["smt"]) and not row["certificate"] and "cvc5" not in row["smt"])


def _counted(counts: Counter[str]) -> list[str]:
    words = {
        "all": "printed in the papers",
        "prose": "proved in prose",
        "read": "of these read by somebody else than the author of the proof",
        "smt": "proved by an SMT solver for every instance of a size",
        "two": "of these by two solvers",
        "certificate": "with a certificate that a stranger checks",
        "alone": "proved for sizes by one solver's word alone",
        "refuted": "refuted by an exact witness",
    }
    return [f"| {text} | {counts[name]} |" for name, text in words.items()]
