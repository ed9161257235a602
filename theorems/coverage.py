"""Coverage by sentence: what each sentence of the papers is, without their text.

A table of a paper (coverage/K.csv) has a row for each sentence and class: the section, the number of the sentence, the beginning
of a hash of its letters and digits, the class and its detail. The text stays with readers who have a copy of the paper.
"""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.jsonio import read_text
from fairalloc.theorems.packaged_files import packaged_text

CLASSES = ("statement", "missing", "definition", "about the literature", "no claim")
"""A statement has its id as the detail, a missing one the id that is proposed, and what makes no claim a reason."""

_DROPPED = re.compile(r"<\|[^|>]*\|>|</?su[bp]>|!\[[^\]]*\]\([^)]*\)")
_REFERENCES = re.compile(r"^[#* ]*(?:\d+\.? +)?REFERENCES[* ]*$.*?(?=^[#* ]*APPENDIX|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(
    r"#+ .*|(?:\d+(?:\.\d+)+\.?) .{3,80}|(?:\d+|[IVX]+\.|[A-D]\.) [A-Z][^.]{2,80}|[IVX]+\.|[*]*[A-Z][A-Z -]{6,60}[*]*|\d{1,3}",
)
_ITEM = re.compile(r"[•|]|- |\* |\d+[.)] |\([a-z0-9]\) |(?:Fig\.|Figure|TABLE|Table|Algorithm) [0-9IVX]+[.:]?(?: |$)")
_OPENING = re.compile(r"[*_\[(“\"]*[A-Z][a-z]+[ ,.:-]|[*_]*[A-Z]-|[*_]*(?:A|I|[A-Z]{3,}) [a-z]")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Figs?|Eqs?|Secs?|Sect|Thm|Prop|Def|Cor|Alg|No|vol|pp|cf|vs|resp|al|viz|approx|i\.e|e\.g|w\.r\.t|s\.t|w\.l\.o\.g|Dr)"
    r"|\b(?:Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Problem|Example|Remark|Claim|Property|Step)s? \**[0-9IVX]+"
    r")\.[*_)]*$"
)
_END = re.compile(r"[.?!][\"”’')\]*_$]* +(?!\(\d+\)|\\(?:end|quad|tag|\\))(?=[\"“‘'(\[*_$\\]*[A-Z0-9αβγφΨ$\\\[])")


@dataclass(frozen=True)
class Row:
    """A sentence and one of its classes; a sentence that is several statements has as many rows."""

    section: str
    sentence: int
    hash: str
    kind: str
    detail: str


def sentences(text: str) -> list[str]:
    """The sentences of a plain text in its order, without headings, references and fragments that are no words.

    A displayed formula belongs to the sentence around it; an item of a list, a caption and a row of a table stand alone.
    """
    text = _REFERENCES.sub("", _DROPPED.sub(" ", text))
    found = [part for block in _blocks(text) for part in _split(block)]
    return [part for part in found if len(re.findall(r"[^\W\d_]{3,}", part)) > 1]


def _blocks(text: str) -> list[str]:
    """Lines joined to blocks: a block starts after a heading, with an item, and with a capital after an empty line."""
    blocks, open_, blank = [""], False, False
    for line in map(str.strip, text.splitlines()):
        if not line:
            blank = True
        elif _HEADING.fullmatch(line):
            open_ = False
        else:
            starts = not open_ or _ITEM.match(line) or "\t" in line or (blank and _OPENING.match(line))
            blocks += [""] if starts else []
            blocks[-1] = _joined(blocks[-1], line)
            open_, blank = "\t" not in line, False
    return blocks


def _joined(block: str, line: str) -> str:
    """A word that a hyphen parts at the end of a line is one word."""
    if re.search(r"[a-z]-$", block) and line[0].islower():
        return block[:-1] + line
    return f"{block} {line}".strip()


def _split(block: str) -> list[str]:
    """Parts that end with a full stop, a question or exclamation mark before what can open a sentence."""
    block = re.sub(r"\s+", " ", block)
    ends = [end.end() for end in _END.finditer(block) if not _ABBREVIATED.search(block[: end.end()].rstrip())]
    return [block[start:end].strip() for start, end in zip([0, *ends], [*ends, len(block)], strict=True)]


def sentence_hash(sentence: str) -> str:
    """The beginning of the SHA-256 of the letters and digits, in lower case."""
    letters = "".join(sign for sign in unicodedata.normalize("NFKC", sentence).casefold() if sign.isalnum())
    return sha256(letters.encode()).hexdigest()[:10]


def read_table(paper: str) -> list[Row]:
    text = packaged_text(f"coverage/{paper}.csv")
    lines = csv.reader(text.splitlines()[1:])
    return [Row(section, int(number), digest, kind, detail) for section, number, digest, kind, detail in lines]


def by_sentence(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row.sentence, []).append(row)
    return found


def counts(rows: Sequence[Row]) -> Counter[str]:
    """How many sentences have each class; a sentence of two classes counts in both, and one without any under ""."""
    return Counter(kind for kind, _ in {(row.kind, row.sentence) for row in rows})


def spans(numbers: Sequence[int]) -> str:
    """Increasing numbers as text.

    >>> spans([3, 5, 6, 7])
    '3, 5-7'
    """
    starts = [k for k in numbers if k - 1 not in numbers]
    ends = [k for k in numbers if k + 1 not in numbers]
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


def read_paper(path: Path) -> str:
    """The text of a reader's own copy; InstanceError where the file is none."""
    try:
        return read_text(path)
    except InstanceError as fault:
        raise InstanceError(f"{fault}; a paper is read as the text that pdftotext makes of it") from None
