"""Who is compared: mechanisms or schedulers by id and parameters, or objects of one's own in a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.files.jsonio import named_values
from fairalloc.runs.objects import MECHANISM, ObjectKind, is_in_file, load_object, packed, place_of, unpacked
from fairalloc.simulation.schedulers import SCHEDULERS, as_scheduler, find_scheduler


def _either(name: str, **parameters: Any) -> Any:
    if name in SCHEDULERS:
        return find_scheduler(name, **parameters)
    known = [*SCHEDULERS, *MECHANISMS.all_names()]
    if name not in known:
        raise UnknownName(no_such("scheduler or mechanism", name, known, f"there are {', '.join(known)}"))
    return mechanism(name, **parameters)


KINDS: Mapping[str, tuple[Callable[..., Any], ObjectKind]] = {
    "either": (_either, ObjectKind("scheduler or mechanism", lambda item: as_scheduler(item) or MECHANISM.read(item))),
    "mechanism": (mechanism, MECHANISM),
    "none": (str, ObjectKind("competitor of an experiment that compares nobody", lambda _: None)),
    "scheduler": (find_scheduler, ObjectKind("scheduler", as_scheduler)),
}
"""What an experiment may compare: what finds one by its id and parameters, and what reads one from a file."""


@dataclass(frozen=True)
class Competitor:
    """One that takes part: its label in tables, that from which another process makes it, and whether it is one's own."""

    label: str
    sent: Any
    is_own: bool = False


def competitor(sent: Any, kind: str) -> Any:
    """The object that another process is sent: an id with parameters, or what was packed.

    >>> competitor("alpha-pf-vds alpha=3", "mechanism").parameters
    {'alpha': 3.0}
    """
    if not isinstance(sent, str):
        return unpacked(sent)
    name, *given = sent.split() or [""]
    return KINDS[kind][0](name, **named_values(given, f"a parameter of {name}"))


def competitors(declared: Sequence[str], wanted: Sequence[Any], kind: str) -> list[Competitor]:
    """Who takes part: what is wanted, as ids with parameters, FILE.py:NAME or objects; () = those that the experiment declares.

    Where all are one's own they take part beside those declared, else instead of them. UnknownName is raised where there is none
    of a name, InstanceError where two have the same label.
    """
    asked = [_asked(item, kind) for item in wanted]
    if all(one.is_own for one in asked):
        asked = [_asked(item, kind) for item in declared] + asked
    labels = [one.label for one in asked]
    for label in [label for label in labels if labels.count(label) > 1][:1]:
        raise InstanceError(f"two competitors are named {label!r}, but names must be distinct: give one of them another id")
    return asked


def _asked(item: Any, kind: str) -> Competitor:
    if isinstance(item, str) and not is_in_file(item):
        competitor(item, kind)  # an unknown name is told now
        return Competitor(" ".join(item.split()), item)
    own = KINDS[kind][1]
    found = load_object(item, own) if isinstance(item, str) else own.read(item)
    if found is None:
        raise InstanceError(f"{item!r} is no {own.word}")
    name = str(getattr(found, "id", "") or place_of(found).rpartition(":")[2])
    return Competitor(name, packed(found), True)
