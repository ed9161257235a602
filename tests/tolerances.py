"""Every tolerance of the test suite, once, with its reason."""

from fairalloc.solvers import ACCURACY

RESIDUAL = ACCURACY["mid"]
"""What every method promises at accuracy "mid": feasibility and definition residuals, relative."""

SHARES = 1e-6
"""Relative difference of a user's tasks between two methods that both claim success, for every mechanism. In lexicographic
mechanisms the residual bounds what a user misses of its share, so two answers differ by at most about the sum of their residuals.
For nb and fds a residual rho as such promises no more than sqrt(2 rho W / w_n); away from DEGENERATE the tasks are off by a small
multiple of rho, and the methods' options (solvers/accuracy.py) ask for rho around 1e-12."""

DEGENERATE = 1e-5
"""The same for nb where a capacity is full at price 0 (P Fig. 1, D's utilisation example, one in a thousand random instances):
the objective is flat to first order there, so rho = 1e-12 promises sqrt(2 rho W / w_n), a few millionths."""

SILENT = 1 / 3
"""The largest part of a cell (mechanism, family, method) in which a method may fail to claim success: Clarabel stops short of
its own tolerance of 1e-13 on one log program in ten (docs/DESIGN-NOTES.md)."""

EXACT = 1e-9
"""Relative distance from a rational answer for vertex methods: HiGHS tolerances at "mid" are 1e-9."""

ROUNDING = 1e-12
"""Plain double arithmetic on a few hundred numbers of order one."""

MARKET = 1e-7
"""Market residuals at accuracy "high": at most the residual of nb (ACCURACY, 1e-8), where the allocation has prices; ten times it
where they are an LP's, whose rows SciPy's HiGHS meets to 1e-7 of a price."""

PREMISE = 1e-8
"""A residual up to here counts as holding where an implication is tried: ACCURACY["high"]."""

IMPLIED = 1e-3
"""A violation that no residual of PREMISE explains: tasks of nb are off by about sqrt(2 PREMISE W / w_n)."""
