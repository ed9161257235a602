"""Arrays as texts in what processes write to each other: nothing is unpickled, and nothing is made of a name in them."""

import base64
import io

import numpy as np

from fairalloc.models.errors import require
from fairalloc.models.numbers import Floats


def written(array: Floats | None) -> str | None:
    """An array as the text of a .npy file."""
    if array is None:
        return None
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array, dtype=float), allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()


def array_in(text: str | None, name: str) -> Floats | None:
    """The array of floats, which may be nan, that `written` wrote, None for None; InstanceError where a text is none."""
    if text is None:
        return None
    try:
        array: Floats = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    except (ValueError, EOFError):
        array = np.empty(0, dtype=object)
    require(array.dtype == float, f"{name} is", text, "it must be an array of floats")
    return array
