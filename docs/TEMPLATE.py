"""A solver and a mechanism of your own: copy this file, change the bodies, and run it.

    python TEMPLATE.py
    fairalloc solve wang-fig2 -m TEMPLATE.py:HalfFair --method TEMPLATE.py:barrier
    fairalloc bench run 'cases/*.json' -m TEMPLATE.py:HalfFair --method TEMPLATE.py:barrier --method cvxpy:clarabel

Both get an instance in the user's units. The unknowns are tasks x[a] on arcs a = (user, variant, server):

    x >= 0,   load @ x <= 1,   owner @ x <= max_tasks

    instance.N, .K, .R, .A     users, servers, resources, arcs
    instance.arcs.load         (K R, A) sparse: the fraction of each resource of each server that one task on an arc takes
    instance.arcs.owner        (N, A) sparse: 1 where an arc is the user's, so that owner @ x are the tasks of each user
    instance.arcs.user         (A,) the user of each arc;  .server  (A,) its server;  .gamma  (A,) the most tasks on it alone
    instance.weights           (N,);  instance.max_tasks  (N,), inf = no limit
"""

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import vstack

import fairalloc as fa

# ---- a mechanism: an id and a model --------------------------------------------------------------------------------------


class HalfFair(fa.Mechanism):
    """Tasks that maximise sum_n w_n sqrt(u_n), with u_n the tasks of user n: alpha-fair tasks for alpha = 1/2."""

    id = "half-fair"  # its name in tables, records and documents
    title = "alpha-fair tasks, alpha = 1/2"
    unique = True  # no two answers have other tasks, so derivatives exist (fa.sensitivity); leave it out if you do not know

    def write_cvxpy(self, instance):
        """The model. It is enough where a solver gives dual prices: the optimality conditions of the model judge the answer."""
        x, constraints = fa.cvxpy_tasks(instance)  # tasks on arcs, and the three rows above
        u = instance.arcs.owner @ x
        return cp.Problem(cp.Maximize(instance.weights @ cp.sqrt(u)), constraints)

    def residual(self, allocation):
        """How far any tasks are from the definition, 0 where it holds: needed to judge solvers that give no prices.

        Here it is the most that the objective could gain to first order, in units of itself: a linear program.
        """
        if not allocation.has_point:
            return np.inf
        instance, x = allocation.instance, np.maximum(allocation.x, 0.0)
        worth = instance.weights / np.sqrt(np.maximum(instance.arcs.owner @ x, 1e-300)) @ instance.arcs.owner
        rows, limits = rows_of(instance)
        best = linprog(-worth, rows, limits, method="highs")
        return max(-best.fun - worth @ x, 0.0) / (worth @ x)


def rows_of(instance):
    """The rows and right-hand sides of the constraints on tasks: capacities, then the limits of users."""
    limited = np.isfinite(instance.max_tasks)
    rows = vstack([instance.arcs.load, instance.arcs.owner.tocsr()[np.flatnonzero(limited)]]).tocsr()
    return rows, np.concatenate([np.ones(instance.arcs.load.shape[0]), instance.max_tasks[limited]])


# A rule that raises the least share first needs no model but its share per task, and has rounds and proofs of its own:
EQUAL_TASKS = fa.Leximin("equal-tasks", share=lambda instance: np.ones(instance.N))


# ---- a solver: a function of an instance, a mechanism and limits ---------------------------------------------------------


@fa.method(mechanisms=[HalfFair, "nb"])  # what it computes; it refuses every other mechanism
def barrier(instance, mechanism, limits):
    """Newton steps on sum_n f(u_n) + mu (sum log x + sum log(1 - rows @ x)) while mu falls, in dense matrices.

    `limits.left` are the seconds left, `limits.promised` the residual asked for, `limits.start` tasks to start from or None.
    Return (A,) tasks on the arcs, or {user: {server: tasks}}. What you return is your claim: the residual is computed elsewhere.
    """
    power = 1.0 if mechanism.id == "nb" else 0.5  # f' = w u ** -power
    owner, w = instance.arcs.owner.toarray(), instance.weights
    rows, sides = rows_of(instance)
    rows = rows.toarray() / sides[:, None]
    x = instance.arcs.gamma / instance.N  # an equal partition, half of which is strictly inside
    x = 0.5 * x / max(1.0, float((rows @ x).max()))
    mu = float(w.max())
    while mu > 1e-4 * limits.promised and limits.left > 0:
        u, slack = owner @ x, 1.0 - rows @ x
        own, row = owner * x, rows * x / slack[:, None]  # x in units of itself, so that steps are of order one
        gradient = own.T @ (w * u**-power) + mu - mu * row.sum(axis=0)
        hessian = own.T @ np.diag(power * w * u ** (-power - 1)) @ own + mu * (np.eye(len(x)) + row.T @ row)
        step = np.linalg.lstsq(hessian, gradient)[0]
        shrink = max(1.0, float((-step).max() / 0.9), float((row @ step).max() / 0.9))  # it stays inside
        x = x * (1.0 + step / shrink)
        mu *= 0.5 if shrink == 1.0 else 0.9
    return x


if __name__ == "__main__":
    example = fa.example("wang-fig2").instance
    print(fa.solve(example, HalfFair, barrier))
    print(fa.compare(example, [HalfFair, EQUAL_TASKS, "nb"], properties=["pareto", "envy-freeness"]))
