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
# # Quickstart
#
# An instance says what one task of each user takes, and what each server has. Here these are two pandas tables. Lists, arrays
# and dictionaries by name are read too. The notebooks need pandas and more, which come with `pip install ".[notebooks]"`.

# %%
import io

import numpy as np
import pandas as pd

import fairalloc as fa

demands = pd.DataFrame({"cpu": [1, 4, 2], "memory": [4, 1, 2]}, index=["ann", "bob", "eve"])
capacities = pd.DataFrame({"cpu": [16, 40], "memory": [80, 20]}, index=["big memory", "big cpu"])
instance = fa.Instance(demands, capacities)

# %% [markdown]
# `fa.read_instance("own.json")` reads it from a JSON file (`fa.write_instance` writes one). A log of tasks becomes an
# instance in which each user has the tasks that it submitted. `fa.traces` reads the public traces of Google, Alibaba and
# Bitbrains.

# %%
log = pd.read_csv(
    io.StringIO("user,cpu,memory\nann,1,4\nbob,4,1\nann,1,4\neve,2,2\nann,1,4\n")
).groupby("user")
from_log = fa.Instance(log[["cpu", "memory"]].mean(), capacities, max_tasks=log.size())

# %% [markdown]
# The table has each user's tasks under all mechanisms, and how far each answer is proved. A mechanism that does not apply has
# a note with the reason. Gavel's policies need one resource. The limits of the log exclude one mechanism more.

# %%
table, limited = fa.compare(instance, fa.MECHANISMS), fa.compare(from_log, fa.MECHANISMS)
print(*limited.refused.values(), sep="\n")

# %%
table.to_frame().round(2).T

# %%
fa.compare(instance, ["drfh", "nb", "ps-dsf"], properties=["pareto", "envy-freeness"])

# %%
ax = fa.compare(instance, ["drf-per-server", "drfh", "lmmf", "nb", "ps-dsf"]).plot()

# %% [markdown]
# Nash bargaining (`nb`) in detail: who takes what on which server, which other fairness properties hold, and why a user gets
# its tasks.

# %%
fair = table["nb"]
ax = fair.plot()

# %%
for name in ("pareto", "envy-freeness", "sharing-incentive"):
    print(fa.check(fair, name).sentence)

# %%
print(fa.explain(fair, user="eve"))

# %% [markdown]
# ## Placement, weights, counts and whole tasks
#
# Eve may use one kind of server only, bob counts twice, and there are three servers of the first kind. Every other argument
# has its default.

# %%
cluster = instance.replace(
    eligible={"eve": ["big cpu"]},
    weights={"bob": 2},
    counts={"big memory": 3},
)
placed = fa.solve(cluster, "drfh")
placed.to_frame().round(3)

# %% [markdown]
# Mechanisms give fractions of tasks unless `integral=True`. Here each user's tasks on each server are rounded down, which
# always fits. `fairalloc.simulation` hands out whole tasks one by one, in notebook 09.

# %%
whole = np.floor(placed.by_server + 1e-9)
print(pd.DataFrame(whole.astype(int), list(cluster.users), list(cluster.servers)))

# %% tags=["checks"]
assert "big memory" not in placed["eve"]
assert (np.einsum("ni,nr->ir", whole, demands.to_numpy()) <= cluster.pools + 1e-9).all()
assert (whole <= placed.by_server + 1e-9).all()
assert len(table.allocations) + len(table.refused) == len(fa.MECHANISMS)
assert all(allocation.residual < 1e-6 for allocation in table.allocations.values())
assert from_log.max_tasks.tolist() == [3, 1, 1]
assert abs(fa.solve(from_log, "drfh").tasks - [3, 1, 1]).max() < 1e-6
assert abs(3 * table["nb"].tasks - [44, 20, 22]).max() < 1e-4
assert set(limited.refused) - set(table.refused) == {"drf-per-server"}
assert all("one resource" in str(limited.refused[name]) for name in table.refused)
assert (cluster.weights.tolist(), cluster.counts.tolist()) == ([1, 2, 1], [3, 1])
assert all(fa.check(fair, name).holds for name in ("pareto", "envy-freeness", "sharing-incentive"))
