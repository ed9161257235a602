r"""W's single linear program for DRFH (W (6), with weights W 5.1): the model of drfh.py, whose first round is all of it here.

    max g   s.t.   sum_n x_ni d_nr <= c_ir,    sigma_n sum_i x_ni / phi_n >= g,    sigma_n = max_r d_nr / sum_i c_ir      (W 6)

W writes `= g`; with `>=` the optimal g is the same. The LP is the whole of DRFH when demands are positive, tasks unlimited and
every user may use every server (W Prop 2). **It need not be enough** when a demand is zero, a placement constraint binds or a
user reaches its limit: others may then rise when the user with the least share cannot. Use drfh there.
"""

from fairalloc.formulations.drfh import DominantResourceFairness
from fairalloc.formulations.lexicographic.rule import MaxMin
from fairalloc.models.exact import rationals
from fairalloc.models.shares import global_dominant_share


class SingleProgram(MaxMin, DominantResourceFairness):
    """W (6) alone: its models are `DominantResourceFairness.write_cvxpy` and `write_pyomo`."""


mechanism = SingleProgram(
    "drfh-lp",
    share=global_dominant_share,
    exact_share=rationals.global_dominant_share,
    title="W's single LP: the largest equal global dominant share g",
    source="W (6)",
)
