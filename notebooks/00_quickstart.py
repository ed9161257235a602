# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Quickstart: solve, look, edit, compare
#
# Two users share two servers (Wang, Liang, Li, *Multi-Resource Fair Allocation in Heterogeneous Cloud Computing Systems*,
# Fig. 2). User 1 needs memory, user 2 needs CPU; server 1 has memory, server 2 has CPU.

# %%
import cvxpy as cp
import numpy as np

import fairalloc as fa
from fairalloc.solvers import methods_for

instance = fa.Instance(
    demands=[["1/5", 1], [1, "1/5"]],
    capacities=[[2, 12], [12, 2]],
    users=["memory-bound", "cpu-bound"],
    servers=["high-memory", "high-cpu"],
    resources=["cpu", "memory"],
)
print(instance)

# %% [markdown]
# ## Solve
#
# DRFH equalises the global dominant shares as far up as the servers allow.

# %%
allocation = fa.solve(instance, "drfh")
print("tasks      ", dict(zip(instance.users, allocation.tasks.round(6).tolist(), strict=True)))
print("g          ", allocation.values["g"])
print("residuals  ", dict(allocation.residuals))
print("utilisation", dict(zip(instance.resources, allocation.utilisation.round(4).tolist(), strict=True)))

# %% [markdown]
# ## Look
#
# The model is a CVXPY problem with named variables and labelled constraints; the duals of `capacity` price the resources.

# %%
problem = fa.mechanism("drfh").cvxpy(instance)
problem.solve(solver=cp.CLARABEL)
print(problem)
prices = next(c for c in problem.constraints if c.label == "capacity").dual_value.reshape(instance.K, instance.R)
print("prices of a whole server's cpu and memory:", prices.round(4).tolist())

# %% [markdown]
# ## Edit
#
# What if the second server must be kept for the CPU-bound user? Close one arc, solve again, and ask whether the result is still
# the DRFH allocation, and whether anybody could do better for free.

# %%
x = problem.var_dict["x"]
arcs = instance.arcs
moved = np.flatnonzero((arcs.user == 0) & (arcs.server == 1))
edited = cp.Problem(problem.objective, [*problem.constraints, x[moved] == 0, x[np.flatnonzero(arcs.server == 0)] <= 8])
edited.solve(solver=cp.CLARABEL)
compromise = fa.Allocation(instance, np.maximum(x.value, 0))
print("tasks", compromise.tasks.round(4), "at most 8 tasks of a user on the first server")
for name in ("feasibility", "pareto", "drfh"):
    print(fa.check(compromise, name).sentence)

# %% [markdown]
# ## Compare solvers
#
# The same mechanism by every method that computes it; the residuals say who kept its word. (`fairalloc bench run first` does this
# for a whole suite, in separate processes, with repeats.)

# %%
for method in methods_for(fa.mechanism("drfh"), instance):
    result = fa.solve(instance, "drfh", method.id)
    print(f"{method.id:15} {result.termination:10} residual {result.residual:.1e}  {1000 * result.times.total:7.2f} ms")

# %% tags=["checks"]
assert np.allclose(allocation.tasks, 10)
assert abs(allocation.values["g"] - 5 / 7) < 1e-9
assert fa.check(allocation, "drfh").holds
assert not fa.check(compromise, "drfh").holds
assert np.allclose(compromise.tasks[0], 8, atol=1e-5)
