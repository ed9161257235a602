"""Every tolerance of the test suite, once, with its reason."""

from fairalloc.solvers import ACCURACY

RESIDUAL = ACCURACY["mid"]
"""What every method promises at accuracy "mid": feasibility and definition residuals, relative."""

SHARES = 1e-6
"""Relative difference of a user's tasks between two methods that both claim success, for every mechanism. In lexicographic
mechanisms the residual bounds what a user misses of its share, so two answers differ by at most about the sum of their residuals.
For nb and fds a residual rho as such promises no more than sqrt(2 rho W / w_n); away from DEGENERATE the tasks are off by a small
multiple of rho, and the methods' options (solvers/options.py) ask for rho around 1e-12."""

BARGAINING = 1e-5
"""Relative difference of a user's tasks between two equilibria of the game that both meet RESIDUAL, where they are unique: a
level may be off by RESIDUAL on every server that the user has."""

DEGENERATE = 1e-5
"""The same for nb where a capacity is full at price 0 (P Fig. 1, D's utilisation example, one in a thousand random instances):
the objective is flat to first order there, so rho = 1e-12 promises sqrt(2 rho W / w_n), a few millionths."""

SILENT = 1 / 3
"""The largest part of a cell (mechanism, family, method) in which a method may fail to claim success: Clarabel stops short of
its own tolerance of 1e-13 on one log program in ten (docs/DESIGN-NOTES.md)."""
EXACT = 1e-9
"""Relative distance from a rational answer for vertex methods: HiGHS tolerances at "mid" are 1e-9."""

PROVED = 1e-9
"""What the prices of `interior-point` prove for nb and fds: the gap of Eisenberg and Gale and the residual, relative."""

ROUNDING = 1e-12
"""Plain double arithmetic on a few hundred numbers of order one."""

SINGLE = 1e-3
"""What single precision leaves of a small system whose condition is at most 10^4."""

MARKET = 1e-7
"""Market residuals at accuracy "high": at most the residual of nb (ACCURACY, 1e-8), where the allocation has prices; ten times it
where they are an LP's, whose rows SciPy's HiGHS meets to 1e-7 of a price."""

GRADIENTS = 1e-2
"""Relative difference of users' tasks where a gradient method for the game kept the promise of "low", or rests at |v| of
epsilon^2 / 10: ten times 1e-3, since what two users of one server miss together a third may have."""

DIFFERENCE = 1e-4
"""A forward difference of 1e-7 in double arithmetic, for second derivatives up to 1e3."""
RECOVERED = 1e-8
"""Residual of a known equilibrium when a linear program has to find its prices: rows are met to 1e-10 of a price, and a row that
is met 1e10-fold counts as met."""

VISIBLE = 0.05
"""Least residual of a known equilibrium in which one user's part of one server is changed by one unit: what is smallest is the
load of a resource of which that user takes 5 percent."""
EQUILIBRIUM = 1e-4
"""Relative difference of users' tasks between two equilibria of residual RESIDUAL: for small alpha, levels hardly tell users
apart that take the same resource, so tasks may be off by a multiple of RESIDUAL / alpha; a hundred times has been enough."""

PRINTED = 1e-5
"""Residual of the merit problem as printed: prices times room may be up to 1e-8 there, and what an inequality's barrier leaves
free is found to the square root of a tolerance of 1e-11."""
DIFFERENCES = 1e-4
"""Difference quotients of smooth functions with steps of 1e-6: truncation and rounding are each below it."""
LEVELSET = 2e-5
"""How far the integrated trajectory of D 5.4 may be from (11) and (12), relative: it asks for rtol = 1e-8 a step, and a spare
part of 1e-3 magnifies the error of x a thousand times."""

TRAJECTORY = 1e-5
"""Distance of the trajectory's end from the market's allocation where every bottleneck has a price: both end at a residual of
1e-6, and bottlenecks that differ little (angles of a tenth) magnify it tenfold."""
PREMISE = 1e-8
"""A residual up to here counts as holding where an implication is tried: ACCURACY["high"]."""

IMPLIED = 1e-3
"""A violation that no residual of PREMISE explains: tasks of nb are off by about sqrt(2 PREMISE W / w_n)."""

LINEAR = 1e-5
"""Tasks of a linear program against another solve: its equations hold to HiGHS' 1e-7, relative to tasks that may be a hundredth
of what runs alone."""

AMPLE = 600.0
"""Seconds that no search or wait of a test comes near: its number of trials, or what is waited for, ends it on any machine."""

DUALS = 1e-4
"""Dual prices, relative to the largest, against those that CVXPY and Ipopt find in the user's own units, where capacities of 1e9
stand beside those of 1: Clarabel is off by 5e-5 there."""
