r"""FDS: alpha-fairness on dominant shares, one pool (K 3.3 and its reference [2], Joe-Wong et al.; K Problem 1 with one server).

    max   sum_n phi_n G(s_n / phi_n),    G'(z) = z^-alpha,    s_n = x_n max_r d_nr / c_r                        (K 12 with K = 1)
    s.t.  sum_n x_n d_nr <= c_r,    x_n <= max_tasks_n

All servers count as one. This is alpha-fair (alpha_fair.py, which has the models) with the dominant share on that pool: alpha = 1
is weighted proportional fairness, the nb of one pool, alpha = inf is drf, and alpha = 0 the largest sum of dominant shares.
"""

from fairalloc.formulations.alpha_fair import AlphaFair

mechanism = AlphaFair(
    2.0,
    "dominant-share",
    id="fds",
    title="alpha-fair dominant shares, all servers as one pool; parameter alpha, default 2",
    source="K 3.3, [2]",
    pool=True,
)
