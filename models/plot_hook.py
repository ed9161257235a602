"""Where `Allocation.plot` finds its figures: this room imports none, and who has some says here how to get at them."""

from collections.abc import Callable, Mapping
from typing import Any

SOURCES: list[Callable[[], Mapping[str, Callable[[Any, Any], Any]]]] = []
"""Each gives {kind: function of an allocation and Axes}, and imports what they need only then."""
