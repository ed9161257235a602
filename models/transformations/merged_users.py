"""Users taken together as one, whose tasks are those of its members, each counted by its worth."""

from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.input.demand_matrix import Vectors
from fairalloc.models.input.validation import NumberedNames
from fairalloc.models.instance import NOTHING_GIVEN, Instance
from fairalloc.models.instance_data import Arcs
from fairalloc.models.numbers import Floats, frozen


def merged_users(
    instance: Instance, of: NDArray[np.intp], worth: Floats, weights: Floats, arcs: NDArray[np.intp]
) -> tuple[Instance, NDArray[np.intp]]:
    """The instance with one user for each label and some arcs alone, and which arc of the given one each of its arcs is.

    Parameters
    ----------
    of : (N,) labels 0, 1, ..; every label has a user
    worth : (N,) > 0, a task of a member is so many tasks of the one
    weights : of each label
    arcs : some arcs of every label, in rising order
    """
    given, count = instance.arcs, len(weights)
    order = arcs[np.argsort(of[given.user[arcs]], kind="stable")]
    user, member, size = of[given.user[order]], given.user[order], len(order)
    start = np.concatenate(([0], np.cumsum(np.bincount(user, minlength=count))))
    unit = 1.0 / worth[member]
    time = given.time[order] if given.time.ndim else 1.0
    vectors = sp.csr_array(sp.diags_array(unit * time) @ given.vectors[given.row[order]])
    owner = sp.csr_array((np.ones(size), np.arange(size), start), shape=(count, size))
    load = sp.csc_array(given.load[:, order] @ sp.diags_array(unit))
    variant, one = np.arange(size) - start[user], frozen(np.ones(()))
    limits = np.bincount(of, weights=worth * instance.max_tasks, minlength=count)
    data = {
        "_users": NumberedNames("u", count),
        "vectors": Vectors.of_sparse(vectors, start),
        "weights": frozen(weights),
        "max_tasks": frozen(limits),
        "min_tasks": frozen(np.zeros(count)),
        "_eligible": None,
        "_rates": None,
        "groups": None,
        "own": MappingProxyType({}),
        "_given": NOTHING_GIVEN,
        "arcs": Arcs(user, variant, given.server[order], load, owner, given.gamma[order] / unit, vectors, np.arange(size), one),
    }
    kept = {"name", "_servers", "_resources", "capacities", "counts", "K", "R", "pools", "totals"}
    return instance._changed(data, instance.__dict__.keys() - kept), order
