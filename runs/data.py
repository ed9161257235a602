"""What another process wrote, read as data: numbers, texts, arrays and pairs of numbers, each of which must be what it should be.

Nothing is unpickled, and nothing is made of a name in it.
"""

import base64
import io
import math
from typing import Any

import numpy as np

from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.numbers import Floats


def written(array: Floats | None) -> str | None:
    """An array as the text of a .npy file."""
    if array is None:
        return None
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array, dtype=float), allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()


class Data:
    """A document that may hold anything; InstanceError where it, or what is asked of it, is of another kind."""

    def __init__(self, document: Any) -> None:
        if not isinstance(document, dict):
            raise _wrong("document", document, "a document")
        self._document = document

    def text(self, name: str) -> str:
        """A text; "" where there is none."""
        return self._of(name, str, "a text") or ""

    def number(self, name: str, least: float = 0.0) -> float | None:
        """A finite number that is not less; None where there is none."""
        value = self._of(name, (int, float), "a number")
        if value is not None and (isinstance(value, bool) or not least <= value < math.inf):
            raise _wrong(name, value, f"a finite number of at least {least:g}")
        return None if value is None else float(value)

    def array(self, name: str) -> Floats | None:
        """An array of floats, which may be nan, that `written` wrote; None where there is none."""
        text = self._of(name, str, "an array")
        if text is None:
            return None
        try:
            array: Floats = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
        except (ValueError, EOFError):
            raise _wrong(name, text, "an array") from None
        if array.dtype != float:
            raise _wrong(name, array.dtype, "an array of floats")
        return array

    def texts(self, name: str) -> list[str] | None:
        """A list of texts; None where there is none."""
        found: list[str] | None = self._of(name, list, "a list")
        return found

    def pairs(self, name: str, most: int) -> list[list[float]]:
        """At most so many pairs of numbers."""
        value = (self._of(name, list, "a list") or [])[:most]
        try:
            return [[float(one), float(other)] for one, other in value]
        except (TypeError, ValueError):
            raise _wrong(name, value, "a list of pairs of numbers") from None

    def _of(self, name: str, kind: type | tuple[type, ...], what: str) -> Any:
        value = self._document.get(name)
        if value is not None and not isinstance(value, kind):
            raise _wrong(name, value, what)
        return value


def _wrong(name: str, value: Any, what: str) -> InstanceError:
    return InstanceError(f"the process of the method wrote {name} = {shown(value)}, but it must be {what}")
