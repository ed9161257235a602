"""The problem and the answer: instances, allocations, shares, published examples, generators, traces, JSON."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.models, not as models: it is mapped into fairalloc")

from typing import TYPE_CHECKING

from fairalloc.models.on_demand import on_demand

if TYPE_CHECKING:
    from fairalloc.models.allocation import Allocation, Times
    from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, NotInstalled, UnknownName
    from fairalloc.models.instance import Instance
    from fairalloc.models.overview import Overview

__all__ = [
    "Allocation",
    "FairallocError",
    "Instance",
    "InstanceError",
    "NotApplicable",
    "NotInstalled",
    "Overview",
    "Times",
    "UnknownName",
]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {})
