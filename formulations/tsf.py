r"""TSF: task share fairness, and CDRF, its form without placement constraints (K 2.2, P II-B).

    gamma_n = sum_i min_r c_ir / d_nr           tasks user n could run alone in the whole system, placement ignored
    TSF     : x_n / (phi_n gamma_n) is lexicographically max-min fair over the eligible servers

The shares ignore placement so that nobody gains by hiding servers it could use. CDRF is the same rule where everybody may use
every server, hence an alias. With one server both are DRF.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.shares import task_share

mechanism = Leximin(
    "tsf",
    share=task_share,
    exact_share=rationals.task_share,
    aliases=("cdrf",),
    title="max-min fair task shares x_n / gamma_n, placement ignored in gamma",
    source="K 2.2; P II-B",
)
