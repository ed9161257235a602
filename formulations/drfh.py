r"""DRFH: dominant resource fairness in heterogeneous systems (W section 4, (6); weights and finite tasks W 5.1).

The global dominant share of a task of user n is what it takes of the resource it needs most of the whole system,

    sigma_n = max_r d_nr / sum_i c_ir                                                                       (W 3, K 5)

and DRFH equalises the weighted shares g as far up as the servers allow:

    max g   s.t.   sum_n x_ni d_nr <= c_ir,    sigma_n sum_i x_ni / phi_n = g                                  (W 6)

W's single LP is the whole answer when demands are positive, tasks unlimited and every user may use every server. Otherwise
some users cannot be raised any more while others can (K Fig. 1), and the answer is the lexicographic one of rule.py. With
placement constraints P and K call it C-DRFH: the same shares, which ignore the constraints, on fewer arcs; here that is an alias.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models import rationals
from fairalloc.models.shares import global_dominant_share

mechanism = Leximin(
    "drfh",
    share=global_dominant_share,
    exact_share=rationals.global_dominant_share,
    aliases=("c-drfh",),
    title="max-min fair global dominant shares, capacities per server",
    source="W (6), 5.1; P II-B",
)
