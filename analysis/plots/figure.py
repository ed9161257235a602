"""The empty figure that all plots start from."""

from typing import TYPE_CHECKING

from fairalloc.models.instance import InstanceError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure"]


def new_figure(width: float, height: float) -> "Figure":
    """A Matplotlib figure of this size in inches, without pyplot; InstanceError where Matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InstanceError("figures need matplotlib: pip install fairalloc[plots]") from None
    return Figure(figsize=(width, height), layout="constrained")
