r"""DRFH: dominant resource fairness in heterogeneous systems (W section 4, (6); weights and finite tasks W 5.1).

The global dominant share of a task of user n is what it takes of the resource it needs most of the whole system,

    sigma_n = max_r d_nr / sum_i c_ir                                                                       (W 3, K 5)

and DRFH finds the largest weighted share g that all users can have (W (6), in K's letters):

    max g   s.t.   sum_n x_ni d_nr <= c_ir,    sigma_n sum_i x_ni / phi_n = g                                  (W 6)

The models write `>= g`: the optimal g is the same, and users may hold more than g. Where some users are stuck while others can
rise (K Fig. 1; drfh_lp.py), later rounds keep their levels: `cvxpy_round` and `pyomo_round` of lexicographic/linear_program.py
make them of the models below. With placement constraints P calls it C-DRFH, here an alias.
"""

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_limit, pyomo_arcs, pyomo_limit
from fairalloc.formulations.lexicographic.linear_program import Round, cvxpy_round, pyomo_round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.exact import rationals
from fairalloc.models.instance import Instance
from fairalloc.models.shares import global_dominant_share


class DominantResourceFairness(Leximin):
    """W (6), and the rounds after it."""

    def write_cvxpy(self, instance: Instance, round: Round | None = None) -> "cp.Problem":  # noqa: A002
        """Variables "x" (A,) and "g", constraints "capacity", "fairness" and, where users have limits, "limit" (W 5.1)."""
        arcs, sigma, phi = instance.arcs, global_dominant_share(instance), instance.weights

        x = cp.Variable(len(arcs), nonneg=True, name="x")
        g = cp.Variable(nonneg=True, name="g")
        capacity = (arcs.load @ x <= 1).set_label("capacity")  # sum_n x_ni d_nr / c_ir <= 1
        fairness = (cp.multiply(sigma / phi, arcs.owner @ x) >= g).set_label("fairness")  # sigma_n / phi_n sum_i x_ni >= g

        problem = cp.Problem(cp.Maximize(g), [capacity, fairness, *cvxpy_limit(instance, x)])
        return cvxpy_round(problem, instance, round)

    def write_pyomo(self, instance: Instance, round: Round | None = None) -> "pyo.ConcreteModel":  # noqa: A002
        """Variables `x[user, variant, server]` and `g`, expressions `share[user]`, constraints as in CVXPY, by names."""
        model, load, tasks = pyomo_arcs(instance)  # sum_n x_ni d_nr / c_ir and sum_i x_ni
        sigma, phi = by_user(instance, global_dominant_share(instance)), by_user(instance, instance.weights)

        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        model.share = pyo.Expression(instance.users, rule=lambda _, n: sigma[n] / phi[n] * tasks[n])
        model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
        model.fairness = pyo.Constraint(instance.users, rule=lambda m, n: m.share[n] >= m.g)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)

        return pyomo_round(pyomo_limit(model, instance, tasks), instance, round)


mechanism = DominantResourceFairness(
    "drfh",
    share=global_dominant_share,
    exact_share=rationals.global_dominant_share,
    aliases=("c-drfh",),
    title="max-min fair global dominant shares, capacities per server",
    source="W (6), 5.1; P II-B",
)
