# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Groups and guarantees: departments, quotas and borrowing
#
# You run a cluster for two departments and look for a rule. Physics trains on GPUs, Biology runs many jobs on CPUs and a few on
# GPUs. Physics has a quota of 60 % of the system: it may use that at any time, and lends it while it does not.
#
# This notebook describes the cluster, compares the rules, lends a quota and takes it back, and asks what Kueue would do.

# %%
import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa
from fairalloc.analysis.explanations.peers import compared_with_peer

demands = {
    "train": {"cpu": 4, "gpu": 1, "memory": 32},
    "tune": {"cpu": 2, "gpu": 1, "memory": 16},
    "align": {"cpu": 8, "gpu": 0, "memory": 16},
    "fold": {"cpu": 4, "gpu": 1, "memory": 64},
}
servers = {
    "gpu node": {"cpu": 64, "gpu": 8, "memory": 512},
    "cpu node": {"cpu": 128, "gpu": 0, "memory": 512},
}
departments = {
    "Physics": {"users": ["train", "tune"], "weight": 3, "guarantee": "3/5"},
    "Biology": {"users": ["align", "fold"], "weight": 2},
}
cluster = fa.Instance(
    demands,
    servers,
    counts={"gpu node": 4, "cpu node": 2},
    groups=departments,
    name="two departments",
)
cluster

# %% [markdown]
# ## The rules beside each other
#
# A rule that knows no departments refuses such an instance. Asked without them, it shares between the four users.

# %%
try:
    fa.solve(cluster, "drfh")
except fa.NotApplicable as refused:
    print(refused)

flat = cluster.replace(groups=None)
rules = {
    "drfh, no departments": fa.solve(flat, "drfh"),
    "nested-leximin": fa.solve(cluster, "nested-leximin"),
    "nested-leximin, borrowed": fa.solve(cluster, "nested-leximin", compared="borrowed"),
    "nested-nb": fa.solve(cluster, "nested-nb"),
}
for name, allocation in rules.items():
    tasks = ", ".join(
        f"{user} {u:.1f}" for user, u in zip(cluster.users, allocation.tasks, strict=True)
    )
    print(f"{name:26} {tasks}")

# %% [markdown]
# `nested-leximin` compares the departments' sums of dominant shares. So a department is served where its share is cheapest: one
# of its users may have nothing, and a guarantee inside the department is the remedy. `nested-nb` leaves nobody out.

# %%
figure, axes = plt.subplots(figsize=(8, 3))
for k, (name, allocation) in enumerate(rules.items()):
    axes.bar([n + 0.2 * k for n in range(cluster.N)], allocation.tasks, 0.2, label=name)
axes.set_xticks([n + 0.3 for n in range(cluster.N)], cluster.users)
axes.set_ylabel("tasks")
axes.legend()
plt.show()

# %% [markdown]
# ## Inside a department
#
# A group may have groups. Biology promises a tenth of the system to each of its two users:

# %%
inside = {
    "alignment": {"users": ["align"], "guarantee": "1/10"},
    "folding": {"users": ["fold"], "guarantee": "1/10"},
}
promised = cluster.replace(
    groups={"Physics": departments["Physics"], "Biology": {"weight": 2, "groups": inside}}
)
kept = fa.solve(promised, "nested-leximin")
print({name: round(value, 3) for name, value in kept.values.items()})

# %% [markdown]
# ## Lent, and taken back
#
# At night Physics asks for few tasks. What it does not use of its quota goes to Biology, and comes back in the morning.

# %%
night = cluster.replace(max_tasks={"train": 2, "tune": 2})
for name, one in (("day", cluster), ("night", night)):
    answer = fa.solve(one, "nested-leximin")
    shares = {group: round(answer.values[f"share of {group}"], 3) for group in departments}
    print(name, shares)

# %% [markdown]
# Quotas that cannot be kept together are refused, with an irreducible set of them that cannot:

# %%
greedy = {
    "Physics": {"users": ["train", "tune"], "guarantee": 1},
    "Biology": {"users": ["fold"], "guarantee": "1/2"},
}
try:
    fa.solve(cluster.replace(groups=greedy), "nested-leximin")
except fa.NotApplicable as refused:
    conflict = str(refused)
    print(conflict)

# %% [markdown]
# ## Why, and what Kueue would do

# %%
print(fa.explain(rules["nested-nb"]))

# %%
for sentence in compared_with_peer(rules["nested-leximin"], "kueue"):
    print(sentence)

# %% [markdown]
# ## Is it fair?

# %%
for name in ("group-sharing-incentive", "sibling-envy-freeness", "hierarchical-share-guarantee"):
    print(
        name,
        {
            rule: fa.check(allocation, name).holds
            for rule, allocation in rules.items()
            if rule != "drfh, no departments"
        },
    )

# %% tags=["checks"]
assert all(allocation.claims_success for allocation in rules.values())
assert rules["nested-leximin"].values["share of Physics"] >= 0.6 - 1e-6
assert rules["nested-nb"].tasks.min() > 0
assert "cannot be kept" in conflict
assert (
    fa.solve(night, "nested-leximin").values["share of Biology"]
    > rules["nested-leximin"].values["share of Biology"]
)
assert np.isclose(rules["nested-leximin"].tasks, 0, atol=1e-6).any()
assert min(kept.values["share of alignment"], kept.values["share of folding"]) >= 0.1 - 1e-6
assert fa.solve(night, "nested-leximin").values["share of Physics"] < 0.6
