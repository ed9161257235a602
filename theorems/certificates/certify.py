"""The certificate of a statement at a size: that on record, where the text is still the same, or one that is searched."""

from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates.check_certificate import facts_of
from fairalloc.theorems.certificates.find import CertificateSearch, NoCertificateError
from fairalloc.theorems.certificates.store import Text, document, hash_of, stored
from fairalloc.theorems.certificates.text import text_of
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.statement import Statement


def certificate_of(item: Statement, size: Size, seconds: float) -> dict[str, Any]:
    """A certificate on record or found now; InstanceError where none is found for some question in so many seconds each."""
    text = text_of(item, size)
    return stored(hash_of(text)) or certified(text, seconds)


def certified(text: Text, seconds: float) -> dict[str, Any]:
    """The certificate of a text."""
    found = []
    for name, assumed, refuting in text["questions"]:
        try:
            found.append(entry(text["formulas"], assumed, refuting, seconds))
        except NoCertificateError as fault:
            raise InstanceError(f"no certificate is found of the question {name!r}: {fault}") from fault
    return document(text, found)


def entry(formulas: Any, assumed: Any, refuting: Any, seconds: float) -> list[Any]:
    """The point and the tree of one question."""
    search = CertificateSearch(seconds)
    facts = [f for k in assumed for f in facts_of(formulas[k])]
    point = search.point(facts)
    more = [] if point is None else [f for k in refuting for f in facts_of(formulas[k])]
    return [point, search.tree(facts, more)]
