"""Allocations in files, on the instance that their mechanism gives them on."""

from pathlib import Path

from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.files.jsonio import parse_allocation, read_json
from fairalloc.models.instance import Instance

__all__ = ["read_allocation"]


@checked
def read_allocation(
    path: str | Path, instance: Instance, mechanism: str | Mechanism | type[Mechanism] | None = None
) -> Allocation:
    """The allocation in a file of schema fairalloc-allocation/1; its residuals are left to be computed.

    Parameters
    ----------
    path : the file, as `write_allocation` or `fairalloc solve --format json` writes it
    instance : the instance that was solved; the allocation of a mechanism for one pool, such as "drf", comes on that pool
    mechanism : whose allocation it is; None = the one that the file names

    Raises
    ------
    InstanceError : the file is damaged, or is about other users or servers
    UnknownName : there is no such mechanism
    """
    document = read_json(path)
    named = document.get("mechanism") if isinstance(document, dict) else None
    known = {key for item in MECHANISMS.values() for key in (item.id, *item.aliases)}
    if mechanism is None and isinstance(named, str) and named in known:
        mechanism = named
    return parse_allocation(document, instance if mechanism is None else find_mechanism(mechanism).home(instance))
