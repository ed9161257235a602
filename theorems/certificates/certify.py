"""The certificate of a statement at a size: that on record, where the text is still the same, or one that is searched."""

from collections.abc import Sequence
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates.check_certificate import facts_of
from fairalloc.theorems.certificates.find import CertificateSearch, NoCertificateError
from fairalloc.theorems.certificates.leaf import Fact
from fairalloc.theorems.certificates.store import Text, document, hash_of, stored
from fairalloc.theorems.certificates.text import text_of
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.statement import Statement


def certificate_of(item: Statement, size: Size, seconds: float) -> dict[str, Any]:
    """A certificate on record or found now; InstanceError where none is found for some question in so many seconds each."""
    text = text_of(item, size)
    return stored(hash_of(text)) or certified(text, seconds)


def certified(text: Text, seconds: float) -> dict[str, Any]:
    """The certificate of a text. What shows a lemma may be a question itself: its tree is also one of more facts."""
    found: list[list[Any]] = []
    shown: list[tuple[list[str], Any]] = []
    for name, *parts in text["questions"]:
        assumed, refuting = ([f for k in part for f in facts_of(text["formulas"][k])] for part in parts)
        try:
            found.append(_entry(assumed, refuting, shown, seconds))
        except NoCertificateError as fault:
            raise InstanceError(f"no certificate is found of the question {name!r}: {fault}") from fault
    return document(text, found)


def _entry(assumed: list[Fact], refuting: list[Fact], shown: list[tuple[list[str], Any]], seconds: float) -> list[Any]:
    """The point and the tree of one question; `shown`: facts and trees, to which this one is added."""
    search = CertificateSearch(seconds)
    point = search.point(assumed)
    refuting = [] if point is None else refuting
    names = [repr((sign, p if sign == "or" else sorted(p.items()))) for sign, p in (*assumed, *refuting)]
    place = {name: k for k, name in reversed([*enumerate(names)])}
    for given, tree in shown:
        if place.keys() >= set(given):
            return [point, moved(tree, [place[name] for name in given], len(names))]
    shown.append((names, search.tree(assumed, refuting)))
    return [point, shown[-1][1]]


def moved(tree: Any, places: Sequence[int], many: int) -> list[Any]:
    """A tree of facts that stand at other places among so many."""
    kind, k, parts = tree

    def place(one: int) -> int:
        return places[one] if one < len(places) else one - len(places) + many

    if kind == "leaf":
        return [kind, [[place(one), v] for one, v in k], [[p, [*map(place, keys)]] for p, keys in parts]]
    return [kind, k if kind == "cut" else place(k), [moved(part, places, many) for part in parts]]
