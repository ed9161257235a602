"""Figures, returned as Matplotlib objects and never shown; they need the extra `plots`.

| file | what it draws |
| --- | --- |
| bars.py | an allocation: what each user takes of every server |
| njc.py | two or three users of D: feasible set, level sets, trajectory, all NJC allocations (D Figs. 3 to 6) |
| tradeoff.py | K: shares at one server for several alpha (Fig. 3), utilisation against deviation from PS-DSF (Figs. 9 and 10) |
| profiles.py | performance profiles of solvers (Dolan and More 2002) |
| figure.py | the empty figure all of these start from |
"""

from fairalloc.analysis.plots.bars import allocation
from fairalloc.analysis.plots.njc import paper_figure, picture
from fairalloc.analysis.plots.profiles import performance_profiles
from fairalloc.analysis.plots.tradeoff import frontier, server_shares

__all__ = ["allocation", "frontier", "paper_figure", "performance_profiles", "picture", "server_shares"]
