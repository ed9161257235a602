r"""The set of task totals that an instance allows, for few users: a polytope, by its vertices.

    F = {u >= 0 : u <= owner @ x for some x >= 0 with load @ x <= 1, owner @ x <= max_tasks}

Its support function h(a) = max {a u : u in F} is a linear program for a >= 0, and for other a h(max(a, 0)), where u_n = 0 for all
a_n < 0: with a point of F all smaller ones >= 0 are in F.

1. Begin with the origin and the most that each user can run alone. Tasks are measured in that unit from here on.
2. Compute the convex hull, and the support point in the direction of the normal of every facet not yet tried.
3. Add the points that lie beyond their facet. Where there are none, every facet is one of F, and the hull is F.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.analysis.linear import maximum
from fairalloc.models.errors import FairallocError, NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

BEYOND = 1e-8
"""A point is beyond a facet by more than this part of what a user can run alone."""


def feasible_vertices(instance: Instance) -> Floats:
    """(V, N) tasks at the vertices of the feasible set of an instance of 2 or more users.

    Examples
    --------
    >>> feasible_vertices(Instance([[1, 0], [1, 1]], [[3, 2]])).round(6).tolist()
    [[0.0, 0.0], [0.0, 2.0], [1.0, 2.0], [3.0, 0.0]]
    """
    from scipy.spatial import ConvexHull

    for n in np.flatnonzero(instance.min_tasks)[:1]:
        raise NotApplicable(f"feasible sets are listed without floors, but user {instance.users[n]!r} has min_tasks")
    arcs, limited = instance.arcs, np.flatnonzero(np.isfinite(instance.max_tasks))
    tasks = sp.csr_array(arcs.owner * arcs.gamma)  # of y = x / gamma; older SciPy makes it a coo_array, which has no rows
    matrix = sp.vstack([arcs.load * arcs.gamma, tasks[limited] / instance.max_tasks[limited, None]])
    unit = np.asarray(tasks.max(axis=1).todense()).ravel()

    def support(direction: Floats) -> Floats:
        """The support point of F in a direction, in units of tasks."""
        best = maximum(tasks.T @ (np.maximum(direction, 0.0) / unit), matrix, np.ones(matrix.shape[0]), exact=False)
        if best is None:
            raise FairallocError("the feasible set was not found: HiGHS did not solve the linear program of a direction")
        return np.where(direction < 0, 0.0, tasks @ best.z / unit)

    unit = unit * [support(direction)[n] for n, direction in enumerate(np.eye(instance.N))]  # 1
    points = np.vstack([np.zeros(instance.N), np.eye(instance.N)])
    tried: set[tuple[float, ...]] = set()
    while True:  # 2, 3
        hull = ConvexHull(points)
        facets = [facet for facet in hull.equations if tuple(facet.round(9)) not in tried]
        tried.update(tuple(facet.round(9)) for facet in facets)
        found = [support(facet[:-1]) for facet in facets]
        beyond = [p for p, facet in zip(found, facets, strict=True) if p @ facet[:-1] + facet[-1] > BEYOND]
        if not beyond:
            break
        points = np.unique(np.vstack([points[hull.vertices], beyond]).round(12), axis=0)
    result: Floats = points[np.sort(hull.vertices)] * unit
    return result[np.lexsort(result.T[::-1])]
