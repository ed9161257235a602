r"""MMF: max-min fair numbers of tasks (Z (2)).

    max t   s.t.   u_n / phi_n >= t,    u feasible                                                        (Z 2, phi = 1 in Z)

Only the poorest count: the answer need be neither unique nor Pareto optimal (Z Example 2). That of lmmf is Pareto optimal.
"""

from fairalloc.formulations.lexicographic.rule import MaxMin
from fairalloc.models.exact import rationals
from fairalloc.models.shares import count

mechanism = MaxMin(
    "mmf", share=count, exact_share=rationals.count, title="max-min fair numbers of tasks, the poorest user only", source="Z (2)"
)
