r"""DRF: dominant resource fairness on one pool (K Def 1, W section 2; Ghodsi et al., NSDI 2011).

All servers count as one with capacities c_r = sum_i c_ir. The dominant share of user n is s_n = x_n max_r d_nr / c_r, and

    no s_n / phi_n can be raised, within sum_n x_n d_nr <= c_r, without lowering an s_m / phi_m <= s_n / phi_n   (K Def 1)

The pool need not exist; drfh keeps the servers apart.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.transformations.aggregation import pooled

mechanism = Leximin(
    "drf",
    share=global_dominant_share,
    exact_share=rationals.global_dominant_share,
    domain=pooled,
    title="max-min fair dominant shares, all servers as one pool",
    source="K Def 1; W 2",
)
