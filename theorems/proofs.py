"""Proofs in prose: each has a name, and one proof may serve several statements.

    >>> base = Proof("a pool", "With one server nobody can exchange.")
    >>> made = "The shares are the same. " + base + " Nor can two."
    >>> made.name, str(made)
    ('a pool', 'The shares are the same. With one server nobody can exchange. Nor can two.')
    >>> (made.before, made.after)
    ('The shares are the same. ', ' Nor can two.')

A statement of which the proof is used nowhere else has it as a plain text, and it is named like the statement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Proof:
    """A proof that several statements share.

    Attributes
    ----------
    name : what it is called
    text : the proof, with the objects that it is about
    before, after : what a statement adds to it
    """

    name: str
    text: str
    before: str = ""
    after: str = ""

    def __add__(self, more: "str | Proof") -> "Proof":
        return replace(self, after=f"{self.after}{more}")

    def __radd__(self, first: str) -> "Proof":
        return replace(self, before=first + self.before)

    def __str__(self) -> str:
        """All of it."""
        return self.before + self.text + self.after


def served(proofs: Mapping[str, Proof | str]) -> Mapping[str, list[str]]:
    """The ids of the statements that each proof serves, by its name."""
    found: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for key, proof in proofs.items():
        name, text = (proof.name, proof.text) if isinstance(proof, Proof) else (key, proof)
        if not text:
            continue
        if texts.setdefault(name, text) != text:
            raise ValueError(f"two proofs are named {name!r}")
        found.setdefault(name, []).append(key)
    return found
