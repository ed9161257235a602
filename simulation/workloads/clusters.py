"""The clusters of the papers: servers of W Table 1, the cluster of P Fig. 5 = K Fig. 4, the data centre of K Fig. 5."""

import numpy as np

from fairalloc.models.arguments import Count, Seed, checked
from fairalloc.models.examples.generators import GOOGLE_MIX
from fairalloc.models.examples.traces import BITBRAINS_SERVERS, BITBRAINS_SPLIT
from fairalloc.simulation.workload import Cluster

TABLE1 = tuple((count, float(cpu), float(memory)) for count, cpu, memory in GOOGLE_MIX)
"""W Table 1 as printed: servers, CPUs and memory in units of the largest server."""

CLASSES = ((8, 1.0, 1.0), (68, 0.5, 0.5), (33, 0.5, 0.25), (11, 0.5, 0.75))
"""P Fig. 5: servers, CPU and memory of the classes A to D. K Fig. 4 has the same classes and as many servers, 120, together."""


@checked
def google_servers(machines: Count | None = None, seed: Seed = 0) -> Cluster:
    """So many machines drawn independently from W Table 1, as W 6 draws them; the whole cell of 12,583 where no number is given.

    >>> int(google_servers(2000).counts.sum()), google_servers().totals.round().tolist()
    (2000, [6659.0, 5922.0])
    """
    counts = np.array([row[0] for row in TABLE1])
    if machines is not None:
        counts = np.random.default_rng(seed).multinomial(machines, counts / counts.sum())
    there = np.flatnonzero(counts)
    names = [f"cpu{TABLE1[k][1]:g}-mem{TABLE1[k][2]:g}" for k in there]
    return Cluster(["cpu", "memory"], [TABLE1[k][1:] for k in there], counts[there], names)  # type: ignore[arg-type]


def four_classes() -> Cluster:
    """The 120 servers of P Fig. 5 and K Fig. 4, classes A to D."""
    return Cluster(["cpu", "memory"], [row[1:] for row in CLASSES], [row[0] for row in CLASSES], list("ABCD"))  # type: ignore[arg-type]


def data_centre() -> Cluster:
    """The data centre of K Fig. 5: for each type of server at each location its CPUs and memory, one disk and one network.

    The 75, 100 and 75 servers of types 1 to 3 have (4 GHz, 12 GB), (8 GHz, 8 GB) and (16 GHz, 4 GB). "Each type of servers at
    each location is connected to a storage device and also is equipped with a network connection", so they are one server of
    this cluster, with the resources cpu (GHz), memory (GB), disk (MB/s), send and receive (Mb/s). The disks have 32 MB/s at
    locations 1 and 3, 100 MB/s at 2. Our choices, for only the drawing says it: how many servers of a type stand at a location
    (BITBRAINS_SPLIT), and that the slower network (100 Mb/s to send and 1 Gb/s to receive) is where the slower disks are and the
    faster one (1 and 2 Gb/s) at location 2.
    """
    inside = BITBRAINS_SPLIT[:, :, None] * BITBRAINS_SERVERS[:, None, :]
    outside = np.tile([[32.0, 100.0, 1000.0], [100.0, 1000.0, 2000.0], [32.0, 100.0, 1000.0]], (3, 1))
    rows = np.column_stack([inside.reshape(9, 2), outside])
    names = [f"type{t + 1}-location{p + 1}" for t in range(3) for p in range(3)]
    return Cluster(["cpu", "memory", "disk", "send", "receive"], rows, names=names)
