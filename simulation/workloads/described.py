"""A workload with the words that say what of it is real and what is generated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["DescribedWorkload"]


@dataclass(frozen=True)
class DescribedWorkload:
    """A workload and the cluster of the trace or of the paper, None where the trace has none.

    It says what is real, what the trace lacks and how that was generated, "" where nothing was, and what of the trace is left
    out: reason -> count, also where it is 0.
    """

    workload: Workload
    cluster: Cluster | None
    real: str
    generated: str
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        made = f"; generated: {self.generated}" if self.generated else ""
        return f"<{len(self.workload)} jobs of {len(self.workload.users)} users; real: {self.real or 'nothing'}{made}>"
