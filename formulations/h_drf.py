r"""H-DRF: hierarchical dominant resource fairness (Bhattacharya, Culler, Friedman, Ghodsi, Shenker, Stoica, SoCC 2013), by steps.

It is an algorithm and no program: the share of a node is s_k = max_r sum over its users n of d_nr u_n / c_r. On one pool:

1. A user is blocked if a resource that it needs is full, or all its tasks run; a group, if all its children are.
2. Upwards: M = min of s_j / weight_j over children that are not blocked. Their vectors are rescaled to the share M weight_j,
   those of blocked children stay, and a group has the sum. Its share is the largest part of a resource that is not full.
3. Downwards: of the children that are not blocked, those with the least s_j / weight_j get more, until everybody is blocked.

The algorithm gives tasks one by one, as `task-by-task` (solvers/lexicographic) does; here tasks are divisible and children with
the same least level rise together, by their weights (models/exact/hierarchical_filling.py). Residual: the largest relative
difference of a user's tasks from those of the last event.
"""

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import worst
from fairalloc.models.shares import one_vector
from fairalloc.models.transformations.aggregation import pooled


class HierarchicalDrf(Mechanism):
    """The algorithm; it has no model."""

    id = "h-drf"
    title = "hierarchical DRF: dominant shares of groups, then of the users in each, on one pool; an algorithm"
    source = "Bhattacharya et al. 2013"
    linear, integer, convex = False, False, False
    knows_groups = unique = True

    def check_complete(self) -> None:
        """It has no model, and needs none."""

    def unwritten(self, instance: Instance, layer: str) -> str:  # noqa: ARG002 (whatever these are)
        return "h-drf is an algorithm: the share of a group is a maximum of sums, and that it is at least g is not convex"

    def domain(self, instance: Instance) -> Instance:
        """One pool; NotApplicable for several variants or guarantees, of which the algorithm knows nothing."""
        one_vector(instance, "h-drf")
        groups = instance.groups
        for k in [k for k, g in enumerate(groups.guarantees) if g][:1] if groups else ():
            raise NotApplicable(f"h-drf knows weights alone, but group {groups.names[k]!r} has a guarantee")  # type: ignore[union-attr]
        return pooled(instance)

    def residual(self, allocation: Allocation) -> float:
        """The largest relative difference of a user's tasks from those after the last event."""
        if not allocation.has_point:
            return 1.0
        right = np.array(hierarchical_filling(allocation.instance), dtype=float)
        most = np.maximum(right, allocation.tasks)  # 0 where the tasks of a user are too few for a float
        return worst(np.divide(np.abs(allocation.tasks - right), most, out=np.zeros_like(most), where=most != 0))


mechanism = HierarchicalDrf()
