"""Every number of a certificate changed, one at a time: none may pass."""

from fractions import Fraction

from fairalloc.analysis.certificates import parse_certificate


def numbers(part, path=()):
    """Every number of a certificate document, with its place."""
    if isinstance(part, dict):
        items = ((key, item) for key, item in part.items() if key not in ("schema", "kind", "mechanism", "about"))
    else:
        items = enumerate(part) if isinstance(part, list) else ()
    leaf = isinstance(part, int | str)
    yield from [(path, part)] if leaf else (found for key, item in items for found in numbers(item, (*path, key)))


def changed(document, path, new):
    """The document with one number replaced."""
    if not path:
        return new
    copy = document.copy()
    copy[path[0]] = changed(document[path[0]], path[1:], new)
    return copy


TINY = Fraction(1, 10**60)
"""Next to nothing."""

TINY_OF_BOUNDS = Fraction(1, 10**16)
"""A gap whose terms are rounded up to 64 bits does not tell of much less."""


def variations(old, tiny=TINY):
    """By 1, by next to nothing, to 0, to the other sign; an index to its neighbours."""
    if isinstance(old, int):
        return [old + 1, old - 1]
    exact = Fraction(old)
    return [str(v) for v in (exact + 1, exact - 1, exact + tiny, exact - tiny, Fraction(0), -exact) if v != exact]


def assert_that_no_number_can_be_changed(certificate, instance, tiny=TINY):
    document = certificate.document()
    assert parse_certificate(document) == certificate
    assert certificate.verify(instance)
    places = list(numbers(document))
    assert len(places) > len(certificate.x)
    for path, old in places:
        for new in variations(old, tiny):
            verdict = parse_certificate(changed(document, path, new)).verify(instance)
            assert verdict.holds is False, (path, old, new)
            assert verdict.sentence.startswith("the certificate is wrong: ")
