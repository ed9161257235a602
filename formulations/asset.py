r"""Asset fairness: equal shares of everything added up (D section 4; Ghodsi et al., NSDI 2011).

    sigma_n = sum_r d_nr / sum_i c_ir,    sigma_n x_n / phi_n lexicographically max-min fair

Example: a user with 20 % of the CPU, 7 % of the disk and 37 % of the network counts as having 64/300.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.shares import asset_share

mechanism = Leximin(
    "asset", share=asset_share, exact_share=rationals.asset_share, title="max-min fair sums of resource shares", source="D 4"
)
