"""Proofs in prose: each has a name, and one proof may serve several statements.

    >>> str(Proof("a pool", "With one server nobody can exchange.", before="The shares are the same. "))
    'The shares are the same. With one server nobody can exchange.'

A statement of which the proof is used nowhere else has it as a plain text, and it is named like the statement.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A proof that several statements share; a statement may add something `before` and `after` it."""

    name: str
    text: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        """All of it."""
        return self.before + self.text + self.after
