"""The empty figure that all plots start from."""

from typing import TYPE_CHECKING

from fairalloc.models.errors import NotInstalled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure"]


def new_figure(width: float, height: float) -> "Figure":
    """A Matplotlib figure of this size in inches, without pyplot; NotInstalled where Matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotInstalled("figures need matplotlib: pip install fairalloc[plots]") from None
    return Figure(figsize=(width, height), layout="constrained")
