"""What all certificates share: the class, the outcome of its verification, and the checks that every kind makes.

A certificate is a set of rational numbers. `verify(instance)` compares them with the exact data of the instance by additions,
multiplications and comparisons only, so it does not matter who made the certificate, nor by which method.

Notation of all kinds: prices p >= 0 (K R,) in parts of capacity, q_n(p) the cost of user n's cheapest task, u_n its tasks, T_n
its max_tasks. Every kind first checks that x is feasible.
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models import errors
from fairalloc.models.arguments import checked
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs
from fairalloc.models.files.jsonio import named_values
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import as_json, exact_text, rational
from fairalloc.models.tables import Grid

SCHEMA = "fairalloc-certificate/1"
METHOD = "rational arithmetic, no solver"


class Refuted(Exception):  # noqa: N818 (a finding, not an error)
    """A number of a certificate is wrong, or no certificate could be made; the text says which or why."""


@dataclass(frozen=True)
class Certificate(ABC):
    """A proof for one allocation of one mechanism.

    Attributes
    ----------
    mechanism : its id, with parameters where another mechanism has the id alone: "alpha-fair alpha=0.0 share=tasks"
    x : (A,) the exact tasks on the arcs
    about : what the numbers were compared with when the certificate was made; not part of the proof
    """

    kind: ClassVar[str]
    names_parameters: ClassVar[bool]  # else it is about the id alone: another objective or alpha is not proved
    mechanism: str
    x: Rationals
    about: str = field(default="", compare=False, kw_only=True)

    def __init_subclass__(cls, kind: str, names_parameters: bool = False) -> None:
        cls.kind, cls.names_parameters = kind, names_parameters

    @checked
    def verify(self, instance: Instance, mechanism: Mechanism | None = None) -> Verdict:
        """Check every number against the exact data of the instance; the verdict's sentence names the first that is wrong.

        `mechanism` is the own mechanism whose id the certificate has. NotApplicable where it is not defined there, as where it
        knows no groups.
        """
        name, *parameters = self.mechanism.split() or [""]
        item = mechanism or find_mechanism(name, **named_values(parameters, f"a parameter of {name}"))
        item.check_groups(instance)
        try:
            require(not parameters or self.names_parameters, f"it proves nothing of the parameters of {self.mechanism!r}")
            require(f"{self.mechanism} ".startswith(f"{item.id} ") or mechanism is None, f"it is not of {item.id!r}")
            self._check(item, item.domain(instance))
        except Refuted as fault:
            return Verdict(self.mechanism, False, np.inf, f"the certificate is wrong: {fault}", METHOD)
        return Verdict(self.mechanism, True, 0.0, f"certified: {self.claim}", METHOD)

    @abstractmethod
    def _check(self, item: Mechanism, domain: Instance) -> None:
        """Compare every number with the exact data of `domain`; Refuted names the first that is wrong."""

    @property
    @abstractmethod
    def claim(self) -> str:
        """The proved claim, in words."""

    def document(self) -> dict[str, Any]:
        """The certificate as a JSON document; rationals are strings, users and arcs are numbered as in the instance."""
        return {"schema": SCHEMA, "kind": self.kind, **as_json(asdict(self))}

    def __repr__(self) -> str:
        return f"<certificate of {self}>"

    def _repr_html_(self) -> str:
        cells = [self.mechanism, self.claim, self.about]
        return Grid("", ["mechanism", "proved", "compared with"], [cells])._repr_html_()

    def __str__(self) -> str:
        return f"{self.mechanism}: {self.claim}" + (f"; {self.about}" if self.about else "")


def require(condition: bool, fault: str) -> None:
    """Raise Refuted with the sentence `fault` unless the condition holds."""
    if not condition:
        raise Refuted(fault)


def feasible(domain: Instance, x: Rationals) -> Rationals:
    """(N,) the tasks of every user; Refuted where x (A,) is not feasible."""
    arcs = exact_arcs(domain)
    require(len(x) == len(arcs.user), f"x has {len(x)} entries, but the instance has {len(arcs.user)} arcs")
    require(all(value >= 0 for value in x), "x is negative on an arc")
    require(all(load <= 1 for load in arcs.loads(x)), "a capacity is exceeded")
    tasks = arcs.tasks(x)
    fits = all(limit is None or u <= limit for u, limit in zip(tasks, arcs.limits, strict=True))
    require(fits, "a user runs more than its max_tasks")
    enough = not domain.has_floors or all(u >= floor for u, floor in zip(tasks, domain.exact.min_tasks, strict=True))
    require(enough, "a user runs less than its min_tasks")
    return tasks


def check_prices(arcs: ExactArcs, prices: Rationals) -> None:
    require(len(prices) == arcs.rows, f"there are {len(prices)} prices, but {arcs.rows} capacities")
    require(all(p >= 0 for p in prices), "a price is negative")


def dual_bound(arcs: ExactArcs, prices: Rationals, limits: Rationals) -> tuple[list[Fraction], Fraction]:
    """(N,) costs s_n = q_n + z_n at prices p (K R,) and z (N,), and the bound sum p + sum_n z_n T_n on sum_n s_n u_n."""
    check_prices(arcs, prices)
    require(len(limits) == len(arcs.limits), f"there are {len(limits)} prices of limits, but {len(arcs.limits)} users")
    require(all(z >= 0 for z in limits), "the price of a limit is negative")
    require(not any(z and t is None for z, t in zip(limits, arcs.limits, strict=True)), "a limit that is not there has a price")
    costs = [q + z for q, z in zip(arcs.cheapest(prices), limits, strict=True)]
    return costs, sum(prices, Fraction(0)) + sum(z * t for z, t in zip(limits, arcs.limits, strict=True) if t is not None)


def parse_certificate(document: Any) -> Certificate:
    """The certificate in a JSON document as `document()` writes it; nothing in it is believed before `verify`."""
    kinds = {kind.kind: kind for kind in Certificate.__subclasses__()}
    known = isinstance(document, dict) and document.get("schema") == SCHEMA and document.get("kind") in [*kinds]
    errors.require(known, "the certificate is", document, f"it must be an object of schema {SCHEMA!r} and a known kind")
    return cast(Certificate, _read(kinds[document["kind"]], document))


def _read(kind: Any, value: Any) -> Any:
    """A value of type `kind` from what `document` made of it."""
    about = "a part of the certificate is"
    if kind is Fraction:
        return rational(value, "a number of the certificate")
    if get_origin(kind) is tuple:
        errors.require(isinstance(value, list), about, value, "it must be a list")
        return tuple(_read(get_args(kind)[0], item) for item in value)
    if not is_dataclass(kind):
        errors.require(type(value) is kind, about, value, f"it must be of type {kind.__name__}")
        return value
    types = {f.name: get_type_hints(kind)[f.name] for f in fields(kind)}
    right = isinstance(value, dict) and set(types) <= set(value)
    errors.require(right, about, value, f"it must be an object with {', '.join(types)}")
    return cast(Any, kind)(**{name: _read(part, value[name]) for name, part in types.items()})


def short(value: Fraction) -> str:
    """The rational itself where it is short, else its first digits."""
    text = exact_text(value)
    return text if len(text) <= 16 else f"{rounded(value):.9g}.."


def rounded(value: Fraction) -> float | Decimal:
    """The rational as a number to be written, also beyond the range of floats."""
    return float(value) if abs(value) < 2**1023 else Decimal(value.numerator) / value.denominator
