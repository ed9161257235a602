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
# # Edit a formulation
#
# Every mechanism is an optimization model that can be read and changed: a CVXPY problem and a Pyomo model with named parts.
# This notebook changes an objective, adds a constraint that all rounds of a lexicographic mechanism respect, and writes
# mechanisms of its own. They go wherever an id goes: into checks, claims, the matrix and benchmarks.

# %%
import tempfile
from pathlib import Path

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
import pyomo.environ as pyo

import fairalloc as fa
from fairalloc import benchmarks

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## Read the model
#
# K Fig. 1: two servers, four users, of whom users 1 and 2 may use server 1 only. Tasks $x_{n,i}$ live on *arcs*, the pairs of a
# user and a server that it may use.

# %%
servers = fa.example("khamse-fig1").instance
arcs = servers.arcs
print(
    [
        f"{servers.users[n]} on {servers.servers[i]}"
        for n, i in zip(arcs.user, arcs.server, strict=True)
    ]
)

# %% [markdown]
# DRFH maximises the least global dominant share $g$, in rounds. The model of the first round, with
# $\sigma_n = \max_r d_{n,r} / \sum_i c_{i,r}$:
#
# $$\max g \quad \text{s.t.} \quad \sum_n \frac{d_{n,r}}{c_{i,r}} x_{n,i} \le 1 \;\;\text{("capacity")}, \qquad
# \frac{\sigma_n}{\varphi_n} \sum_i x_{n,i} \ge g \;\;\text{("fairness")}.$$
#
# Two parts of `arcs` are all that edits need: `arcs.load @ x` is the used part of every capacity, `arcs.owner @ x` the tasks of
# every user.

# %%
problem = fa.mechanism("drfh").cvxpy(servers)
print("variables  ", list(problem.var_dict))
print("constraints", [constraint.label for constraint in problem.constraints])
print("capacity   ", arcs.load.shape, " owner", arcs.owner.shape)

# %% [markdown]
# ## Change an objective
#
# Nash bargaining maximises $\sum_n \varphi_n \log x_n$. What if the logarithm becomes a square root? An edit is a function of the
# problem and the instance that returns the new problem; `edited` makes it a mechanism with a name.


# %%
def with_roots(problem, instance):
    x = problem.var_dict["x"]
    tasks = instance.arcs.owner @ x
    return cp.Problem(cp.Maximize(instance.weights @ cp.sqrt(tasks)), problem.constraints)


roots = fa.mechanism("nb").edited("roots", cvxpy=with_roots)
rooted, bargaining = fa.solve(servers, roots), fa.solve(servers, "nb")
print("logarithms:", bargaining.tasks.round(4))
print(
    "roots:     ",
    rooted.tasks.round(4),
    "residuals",
    {name: f"{value:.0e}" for name, value in rooted.residuals.items()},
)

# %% [markdown]
# *By hand.* On server 1 the memory is full, $x_1 + x_2 / 3 = 4$. With logarithms $1 / x_1 : 1 / x_2 = 1 : \frac13$, so
# $x_2 = 3 x_1$ and $(2, 6)$. With roots $x_1^{-1/2} : x_2^{-1/2} = 1 : \frac13$, so $x_2 = 9 x_1$ and $(1, 9)$.
#
# Nobody has told the toolkit what this mechanism is, so it is judged by the optimality conditions of its own model, computed from
# the answer.

# %%
print(fa.check(rooted, roots).sentence)
print(fa.check(rooted, "nb").sentence)

# %% [markdown]
# ## Add a constraint that all rounds respect
#
# User 4 may run at most 3 tasks. The first round alone is not enough. DRFH fixes the users who can rise no further and goes
# on with the others, and each of these rounds must obey. `edited` adds the constraint to all rounds.


# %%
def capped(problem, instance):
    x = problem.var_dict["x"]
    cap = (instance.arcs.owner[[3]] @ x <= 3).set_label("cap")
    return cp.Problem(problem.objective, [*problem.constraints, cap])


mine = fa.mechanism("drfh").edited("capped", cvxpy=capped)
free, bounded = fa.solve(servers, "drfh"), fa.solve(servers, mine)
print("DRFH  ", free.tasks.round(6))
print("capped", bounded.tasks.round(6), "|", fa.check(bounded, mine).sentence)

# %% [markdown]
# *By hand.* A task of users 1 and 2 is $5/75$ of the network, a task of users 3 and 4 is $1/20$ of the memory.
#
# 1. User 4 is stopped first, by the cap, at the share $3/20$.
# 2. Users 1 and 2 are stopped by the memory of server 1, at $3 \cdot 5/75 = 1/5$.
# 3. User 3 takes the rest of server 2: 13 tasks, the share $13/20$.

# %%
ax = fa.plots.dominant_shares({"drfh": free, "capped": bounded})

# %% [markdown]
# An edit may do more than add constraints. One that replaces the objective of a lexicographic mechanism, adds integers or takes
# "fairness" away makes it a single program, for rounds would mean nothing then.
#
# The same edit in Pyomo changes the model in place. The parts have the names of the instance: `model.x["u1", 0, "s1"]` are the
# tasks of user u1, in the first of its ways to run a task, on server s1.


# %%
def capped_in_pyomo(model, instance):
    user = instance.users[3]
    model.cap = pyo.Constraint(expr=sum(model.x[arc] for arc in model.x if arc[0] == user) <= 3)


by_pyomo = fa.solve(servers, fa.mechanism("drfh").edited("capped-in-pyomo", pyomo=capped_in_pyomo))
print(by_pyomo.tasks.round(6), by_pyomo.method)

# %% [markdown]
# ## Change a number, solve again
#
# A number that will change is a `cp.Parameter`. The problem is compiled once.

# %%
limit = cp.Parameter(nonneg=True, value=3)


def adjustable(problem, instance):
    cap = (instance.arcs.owner[[3]] @ problem.var_dict["x"] <= limit).set_label("cap")
    return cp.Problem(problem.objective, [*problem.constraints, cap])


swept = fa.mechanism("drfh").edited("adjustable", cvxpy=adjustable)
limits, tasks = np.arange(1, 11), []
for value in limits:
    limit.value = value
    tasks.append(fa.solve(servers, swept).tasks)
tasks = np.array(tasks)

# %%
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for n, style in enumerate(("o-", "s--", "^-.", "D:")):
    ax.plot(limits, tasks[:, n], style, label=servers.users[n])
ax.set(xlabel="most tasks of u4", ylabel="tasks")
_ = ax.legend(frameon=False, ncols=2)

# %% [markdown]
# From 8 on the cap does not bind.
#
# ## An edit that asks too much
#
# If no allocation satisfies an edit, the answer names added constraints that conflict, none of which can be left out.


# %%
def too_much(problem, instance):
    tasks = instance.arcs.owner @ problem.var_dict["x"]
    wishes = [
        (tasks[0] >= 3).set_label("u1 runs 3"),
        (tasks[1] >= 6).set_label("u2 runs 6"),
        (tasks[2] >= 1).set_label("u3 runs 1"),
    ]
    return cp.Problem(problem.objective, [*problem.constraints, *wishes])


refused = fa.solve(servers, fa.mechanism("drfh").edited("too much", cvxpy=too_much))
print(refused.termination, "|", refused.message)

# %% [markdown]
# Three tasks of user 1 and six of user 2 take 5 GB of memory, and server 1 has 4. The third wish does no harm.

# %% [markdown]
# ## A rule of one's own: only the share
#
# A lexicographic mechanism is determined by what a task counts. Suppose users should have equal *bills* at given prices of the
# resources. The share of a task is then its price:

# %%
prices = np.array([1, 1 / 2, 1 / 10])
bills = fa.Leximin(
    "equal-bills",
    share=lambda instance: [float(d[0] @ prices[: instance.R]) for d in instance.demands],
)
billed = fa.solve(servers, bills)
print(billed.tasks.round(6), billed.method, f"residual {billed.residual:.0e}")

# %% [markdown]
# *By hand.* Tasks cost $2$, $7/6$, $3/4$, $3/4$. On server 1 equal bills $2 x_1 = \frac76 x_2$ and the memory $x_1 + x_2 / 3 = 4$
# give $x_1 = 28/11$, $x_2 = 48/11$, a bill of $56/11 = 5.09$. Users 3 and 4 go on to 8 tasks each and pay 6.
#
# ## A mechanism of one's own
#
# A mechanism needs an id and a model. This one maximises the number of tasks, but guarantees to everybody what an equal part of
# every server would give:
#
# $$\max \sum_n x_n \quad \text{s.t. capacities}, \qquad x_n \ge \frac{\varphi_n}{\sum_m \varphi_m} \sum_i \gamma_{n,i}.$$
#
# `cvxpy_tasks` gives the tasks with the capacities and limits. Whether the model is linear or convex is read off it.


# %%
class Guaranteed(fa.Mechanism):
    id = "guaranteed"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        tasks = instance.arcs.owner @ x
        part = instance.weights / instance.weights.sum()
        least = (tasks >= part * (instance.arcs.owner @ instance.arcs.gamma)).set_label("guarantee")
        return cp.Problem(cp.Maximize(cp.sum(tasks)), [*constraints, least])


busy = fa.solve(servers, Guaranteed())
print(
    busy.tasks.round(6),
    f"{busy.values['objective']:.6f} tasks, optimality {busy.residuals['optimality']:.0e}",
)

# %% [markdown]
# *By hand.* $\gamma = (4, 12, 20, 20)$ on all servers, so the guarantees are $(1, 3, 5, 5)$. On server 1 a task of user 2 takes a
# third of the memory of any other: user 1 gets its guarantee of 1, user 2 the rest, 9. On server 2 users 3 and 4 run 16 tasks
# together. That is 26; how 16 is split is left open by the objective.
#
# ### Its properties

# %%
for name in ("pareto", "sharing-incentive", "envy-freeness"):
    print(f"{name:18} {fa.check(busy, name).sentence}")

# %% [markdown]
# Sharing incentive holds by construction, Pareto optimality because all tasks count. Envy-freeness fails. That was one instance;
# the matrix searches for violations. The answers of a model of one's own are floating point, so two methods must agree on a
# violation.

# %%
table = fa.property_matrix(
    ["drfh", Guaranteed()], ["pareto", "sharing-incentive", "envy-freeness"], trials=25
)
print(table)

# %% [markdown]
# The witness of a cell is code:

# %%
envious = fa.claim(
    "nobody envies",
    mechanism=Guaranteed(),
    property="envy-freeness",
    hypotheses="positive, one server",
)
result = envious.search(time_limit=60, trials=25)
print(result)

# %% [markdown]
# ### In a benchmark
#
# Mechanisms and edits go into suites as they are. Every method that computes such a model is compared, in processes of its own.

# %%
cases = (
    benchmarks.SuiteCase("guaranteed", Guaranteed(), lambda: fa.generators.generic(12, 4, 3, 1)),
    benchmarks.SuiteCase("capped", mine, lambda: fa.example("khamse-fig1").instance),
)
suite = benchmarks.Suite("edits", "a mechanism of one's own and an edit", cases)
with tempfile.TemporaryDirectory() as folder:
    summary = benchmarks.run(
        suite,
        Path(folder) / "edits.sqlite",
        methods=["cvxpy:highs", "cvxpy:clarabel"],
        setting=benchmarks.Setting(repeats=1),
        progress=False,
    )
for record in summary.records:
    print(
        f"{record.case:11} {record.method:15} {record.termination:8} residual {record.residual:.0e}"
    )

# %% [markdown]
# In the shell, with the mechanism in a file `mine.py`:
#
# ```sh
# fairalloc solve khamse-fig1 -m mine.py:Guaranteed
# fairalloc matrix -m mine.py:Guaranteed -m drfh --property pareto
# fairalloc bench run 'cases/*.json' -m mine.py:Guaranteed
# ```
#
# ## Checks

# %% tags=["checks"]
assert np.allclose(bargaining.tasks, [2, 6, 8, 8], atol=1e-4)
assert np.allclose(rooted.tasks, [1, 9, 8, 8], atol=1e-4)
assert rooted.residual < 1e-6
assert not fa.check(rooted, "nb").holds
assert np.allclose(free.tasks, [3, 3, 8, 8])
assert np.allclose(bounded.tasks, [3, 3, 13, 3], atol=1e-5)
assert np.allclose(by_pyomo.tasks, bounded.tasks, atol=1e-5)
assert fa.check(bounded, mine).holds
assert not fa.check(bounded, "drfh").holds
assert np.allclose(tasks[:, 3], np.minimum(limits, 8), atol=1e-5)
assert np.allclose(tasks[:, 2:].sum(axis=1), 16, atol=1e-5)
assert refused.termination == "infeasible"
assert "u1 runs 3" in refused.message
assert "u2 runs 6" in refused.message
assert "u3" not in refused.message
assert np.allclose(billed.tasks, [28 / 11, 48 / 11, 8, 8])
assert np.allclose(busy.tasks[:2], [1, 9], atol=1e-5)
assert np.isclose(busy.tasks.sum(), 26)
assert [
    fa.check(busy, name).holds for name in ("pareto", "sharing-incentive", "envy-freeness")
] == [True, True, False]
assert result.status == "not decided: violated in floating point"
assert all(record.residual < 1e-6 for record in summary.records)
assert np.allclose(bounded.tasks * [1 / 15, 1 / 15, 1 / 20, 1 / 20], [0.2, 0.2, 0.65, 0.15])
assert np.allclose([d[0] @ prices for d in servers.demands], [2, 7 / 6, 3 / 4, 3 / 4])
kept = swept.settled(servers)
limit.value = 2
assert swept.settled(servers) is kept
