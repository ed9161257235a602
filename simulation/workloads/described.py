"""A workload with the words that say what of it is real and what is generated."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["DescribedWorkload"]


@dataclass(frozen=True)
class DescribedWorkload:
    """A workload and the cluster on which it was, or may be, run.

    Attributes
    ----------
    workload : the jobs
    cluster : the machines of the trace or of the paper; None where the trace has none
    real : what is taken from the trace, and from which
    generated : what the trace lacks and how it was made, "" where nothing was
    left_out : what of the trace is not in the workload, reason -> count; the reasons are always listed, also with count 0
    """

    workload: Workload
    cluster: Cluster | None
    real: str
    generated: str
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        made = f"; generated: {self.generated}" if self.generated else ""
        return f"<{len(self.workload)} jobs of {len(self.workload.users)} users; real: {self.real or 'nothing'}{made}>"
