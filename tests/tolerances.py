"""Every tolerance of the test suite, once, with its reason."""

from fairalloc.solvers import ACCURACY

RESIDUAL = ACCURACY["mid"]
"""What every method promises at accuracy "mid": feasibility and definition residuals, relative."""

SHARES = 1e-6
"""Relative difference of users' tasks between two methods that both meet RESIDUAL, for lexicographic shares: the residual is a
bound on what a user misses of its share, so two answers differ by at most about the sum of their residuals."""

BARGAINING = 1e-5
"""The same for nb. Its residual rho bounds the objective gap, and the objective is only quadratic in the tasks: along a face
of equal prices the tasks may be off by more than rho. 1e-5 is ten times RESIDUAL and far below sqrt(2 RESIDUAL)."""

DEGENERATE = 2e-3
"""The same where a capacity is full at price 0 (P Fig. 1, D's utilisation example): the objective is flat to first order there,
and all that a residual of RESIDUAL promises is sqrt(2 RESIDUAL) = 1.4e-3."""

EXACT = 1e-9
"""Relative distance from a rational answer for vertex methods: HiGHS tolerances at "mid" are 1e-9."""

ROUNDING = 1e-12
"""Plain double arithmetic on a few hundred numbers of order one."""

MARKET = 1e-7
"""Market residuals at accuracy "high": at most the residual of nb (ACCURACY, 1e-8), where the allocation has prices; ten times it
where they are an LP's, whose rows SciPy's HiGHS meets to 1e-7 of a price."""

LEVELSET = 2e-5
"""How far the integrated trajectory of D 5.4 may be from (11) and (12), relative: it asks for rtol = 1e-8 a step, and a spare
part of 1e-3 magnifies the error of x a thousand times."""

TRAJECTORY = 1e-5
"""Distance of the trajectory's end from the market's allocation where every bottleneck has a price: both end at a residual of
1e-6, and bottlenecks that differ little (angles of a tenth) magnify it tenfold."""
