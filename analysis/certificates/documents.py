"""Reading certificates from JSON; `Certificate.document()` writes them."""

from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, cast, get_args, get_origin, get_type_hints

from fairalloc.analysis.certificates.certificate import SCHEMA, Certificate
from fairalloc.analysis.certificates.filling import FillingCertificate
from fairalloc.analysis.certificates.game_certificate import LevelsCertificate, ResidualCertificate
from fairalloc.analysis.certificates.justified import JustifiedCertificate
from fairalloc.analysis.certificates.leximin import LeximinCertificate
from fairalloc.analysis.certificates.nash_bargaining import BoundsCertificate
from fairalloc.analysis.certificates.nested import NestedCertificate
from fairalloc.analysis.certificates.prices import PricesCertificate
from fairalloc.analysis.certificates.program import ProgramCertificate
from fairalloc.models.errors import require
from fairalloc.models.numbers import rational

_EXACT = (LeximinCertificate, NestedCertificate, ProgramCertificate, JustifiedCertificate, LevelsCertificate, PricesCertificate)
_OTHERS = (FillingCertificate, BoundsCertificate, ResidualCertificate)
KINDS: dict[str, type[Certificate]] = {cls.kind: cls for cls in (*_EXACT, *_OTHERS)}
"""The classes by the field "kind" of a document."""


def parse_certificate(document: Any) -> Certificate:
    """The certificate in a JSON document as `document()` writes it; nothing in it is believed before `verify`."""
    known = isinstance(document, dict) and document.get("schema") == SCHEMA and document.get("kind") in [*KINDS]
    require(known, "the certificate is", document, f"it must be an object of schema {SCHEMA!r} and a known kind")
    return cast(Certificate, _read(KINDS[document["kind"]], document))


def _read(kind: Any, value: Any) -> Any:
    """A value of type `kind` from what `_plain` made of it."""
    about = "a part of the certificate is"
    if kind is Fraction:
        return rational(value, "a number of the certificate")
    if get_origin(kind) is tuple:
        require(isinstance(value, list), about, value, "it must be a list")
        return tuple(_read(get_args(kind)[0], item) for item in value)
    if not is_dataclass(kind):
        require(type(value) is kind, about, value, f"it must be of type {kind.__name__}")
        return value
    types = {f.name: get_type_hints(kind)[f.name] for f in fields(kind)}
    right = isinstance(value, dict) and set(types) <= set(value)
    require(right, about, value, f"it must be an object with {', '.join(types)}")
    return cast(Any, kind)(**{name: _read(part, value[name]) for name, part in types.items()})
