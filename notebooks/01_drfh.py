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
# # DRFH: dominant resource fairness on many servers
#
# This notebook works through **W**: Wang, Liang, Li, *Multi-Resource Fair Allocation in Heterogeneous Cloud Computing
# Systems*. It derives DRFH, reproduces Figs. 1 to 4, proves the optimum by prices, and then follows W to weights, finite
# tasks and classes of servers. The letters are the paper's:
#
# | letter | meaning |
# | --- | --- |
# | $i \in U$, $l \in S$, $r \in R$ | a user, a server, a resource; $n$ users |
# | $c_{lr}$ | capacity of server $l$, as a part of all there is: $\sum_l c_{lr} = 1$ |
# | $D_{ir}$ | what one task of user $i$ takes of resource $r$, as a part of all there is |
# | $r_i^* \in \arg\max_r D_{ir}$ | the global dominant resource of user $i$ |
# | $d_{ir} = D_{ir} / D_{i r_i^*}$ | the normalised demand |
# | $N_i$, $G_i = N_i D_{i r_i^*}$ | tasks and global dominant share of user $i$ |
#
# Instances hold demands and capacities in their own units; the toolkit does the division.

# %%
from fractions import Fraction as F

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import on_record, packaged

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## One pool: DRF
#
# W section 2 starts from the example of Ghodsi et al.: 9 CPUs and 18 GB, tasks of (1 CPU, 4 GB) and of (3 CPUs, 1 GB). A task
# of user 1 takes $\max(1/9, 4/18) = 2/9$ of its dominant resource, memory; a task of user 2 takes $\max(3/9, 1/18) = 1/3$,
# CPU. DRF makes the dominant shares equal, $2 N_1 / 9 = N_2 / 3$, and as large as possible. With $N_1 = 3 N_2 / 2$ the CPU
# allows $N_1 + 3 N_2 = 9 N_2 / 2 \le 9$, so $N = (3, 2)$; the memory allows more.

# %%
pool = fa.example("wang-pool").instance
drf = fa.solve(pool, "drf", "exact")  # "exact" computes in rationals
print("tasks", *drf.tasks_exact)

# %%
left = [
    18 - 4 * drf.tasks_exact[0] - drf.tasks_exact[1],
    9 - drf.tasks_exact[0] - 3 * drf.tasks_exact[1],
]
print(f"left: {left[0]} GB of memory, {left[1]} CPUs")

# %% [markdown]
# W prints "there is 2 GB memory left unallocated". The users hold 12 and 2 of 18 GB, so it is 4 GB. Nothing depends on it.

# %% [markdown]
# ## Fig. 1: the pool does not exist
#
# The same 9 CPUs and 18 GB may be two servers, (1 CPU, 14 GB) and (8 CPUs, 4 GB). Alone on server $l$, user $i$ runs
# $\min_r c_{lr} / D_{ir}$ tasks: user 1 runs $\min(1, 14/4) = 1$ task on the first and $\min(8, 1) = 1$ on the second. DRF
# gives it three, which the servers cannot run.

# %%
two_servers = fa.example("wang-fig1").instance
task = two_servers.exact.demands[0][0]  # of user 1
for l, capacity in enumerate(two_servers.exact.capacities, 1):
    print(
        f"server {l}: user 1 alone runs",
        min(C / D for C, D in zip(capacity, task, strict=True)),
        "task",
    )

# %%
user_1_alone = fa.Allocation(
    two_servers, [1, 1, 0, 0]
)  # tasks on the arcs (user, server): (1, 1), (1, 2), (2, 1), (2, 2)
ax = fa.plots.allocation(user_1_alone)

# %% [markdown]
# ## Fig. 2: the running example
#
# Server 1 has 2 CPUs and 12 GB, server 2 has 12 CPUs and 2 GB. Of 14 CPUs and 14 GB these are $c_1 = (1/7, 6/7)$ and
# $c_2 = (6/7, 1/7)$. A task of user 1 takes 0.2 CPU and 1 GB, one of user 2 takes 1 CPU and 0.2 GB.

# %%
fig2 = fa.example("wang-fig2").instance
totals = [sum(column) for column in zip(*fig2.exact.capacities, strict=True)]
c = [[C / total for C, total in zip(row, totals, strict=True)] for row in fig2.exact.capacities]
D = [
    [amount / total for amount, total in zip(rows[0], totals, strict=True)]
    for rows in fig2.exact.demands
]
d = [[part / max(row) for part in row] for row in D]
for name, rows in (("c", c), ("D", D), ("d", d)):
    print(name, "=", *[f"({row[0]}, {row[1]})" for row in rows])

# %% [markdown]
# ## Fig. 3: DRF on each server alone
#
# On server 1 a task of user 1 takes $\max(0.2/2, 1/12) = 1/10$ of its most demanded resource, and one of user 2 takes
# $\max(1/2, 0.2/12) = 1/2$. Both are CPU: each user gets 1 CPU, that is 5 tasks and 1 task. Server 2 is the mirror image.

# %%
naive = fa.solve(fig2, "drf-per-server", "exact")
print("tasks", *naive.tasks_exact)

# %%
naive.to_frame()

# %% [markdown]
# Both users would rather have a server each, on which they run 10 tasks. So the allocation is not Pareto optimal; the check
# maximises what a user could gain while nobody loses, and returns that as the witness.

# %%
print(fa.check(naive, "pareto").sentence)

# %% [markdown]
# W adds that per-server DRF "may lead to arbitrarily low resource utilization". Take $n$ users, servers and resources. Server
# $i$ has 1 of resource $i$ and 100 of the others; user $i$ needs 1/100 of resource $i$ and 1 of the others. On server $i$
# every user is bound by resource $i$, which DRF divides by $n$. So user $i$ runs $100/n$ tasks where it could run 100, and
# each of the others runs $1/n$ task there.

# %%
counts = (2, 3, 4, 6, 8)
used = {"drf-per-server": [], "drfh": []}
for n in counts:
    demands = [[F(1, 100) if r == i else 1 for r in range(n)] for i in range(n)]
    capacities = [[1 if r == l else 100 for r in range(n)] for l in range(n)]
    wasteful = fa.Instance(demands, capacities)
    for name, values in used.items():
        values.append(fa.solve(wasteful, name, "exact").tasks_exact[0])
print({name: [str(value) for value in values] for name, values in used.items()})

# %%
fig, ax = plt.subplots(figsize=(4.5, 2.8), layout="constrained")
for (name, values), marker in zip(used.items(), "sD", strict=True):
    ax.plot(counts, [float(value) for value in values], marker=marker, label=name)
ax.set(xlabel="users, servers and resources", ylabel="tasks of each user", ylim=(0, None))
legend = ax.legend()

# %% [markdown]
# ## DRFH
#
# DRFH makes the smallest *global* dominant share as large as possible,
#
# $$\max_A \min_{i \in U} G_i(A_i) \quad \text{s.t.} \quad \sum_{i \in U} A_{ilr} \le c_{lr}. \tag{4}$$
#
# An allocation wastes nothing iff it gives every user its resources in proportion to its demand, $A_{il} = g_{il} d_i$ (Lemma
# 1): what exceeds the proportion runs no task. Then $G_i = \sum_l g_{il}$, and (4) is a linear program,
#
# $$\max_{g_{il} \ge 0,\, g} \; g \quad \text{s.t.} \quad \sum_{i \in U} g_{il} d_{ir} \le c_{lr}, \qquad
# \sum_{l \in S} g_{il} = g. \tag{6}$$

# %%
c_, d_ = np.array(c, dtype=float), np.array(d, dtype=float)
g_il, g = cp.Variable((2, 2), nonneg=True), cp.Variable()
capacity = g_il.T @ d_ <= c_
program = cp.Problem(cp.Maximize(g), [capacity, cp.sum(g_il, axis=1) == g])
program.solve(solver=cp.HIGHS)
print("g =", round(g.value.item(), 9), " g_il =", g_il.value.round(6).tolist())

# %% [markdown]
# The toolkit writes the same program in tasks $x_{il} = g_{il} / D_{i r_i^*}$, and with $\ge g$ instead of $= g$, which has
# the same maximum.

# %%
fair = fa.solve(fig2, "drfh", "exact")
print("g =", fair.values["g"], " tasks", *fair.tasks_exact)
print(fa.export(fig2, "drfh", "lp").split("bounds")[0])

# %% [markdown]
# ## Figs. 3 and 4 side by side
#
# DRF on each server runs $6 + 6$ tasks, DRFH $10 + 10$: server 1 for user 1, server 2 for user 2. In both all CPUs of server
# 1 and all memory of server 2 are used.

# %%
fig, axes = plt.subplots(1, 2, figsize=(10.5, 3.4), layout="constrained", sharey=True)
for ax, (title, allocation) in zip(
    axes, {"Fig. 3: DRF per server": naive, "Fig. 4: DRFH": fair}.items(), strict=True
):
    fa.plots.allocation(allocation, ax=ax).set_title(title, pad=26)

# %% [markdown]
# The tasks that the two servers can run at all are a polygon. DRF per server ends inside of it, DRFH on its boundary.

# %%
ax = fa.plots.feasible_region(fig2, points={"DRF per server": naive, "DRFH": fair})

# %% [markdown]
# ## The bottleneck resources and their prices
#
# Why can $g$ not be more than $5/7$? Let $p_{lr} \ge 0$ be multipliers of the capacities and $y_i$ those of the shares. The
# Lagrangian of (6) is
#
# $$g \Big(1 - \sum_i y_i\Big) + \sum_{i, l} g_{il} \Big(y_i - \sum_r d_{ir} p_{lr}\Big) + \sum_{l, r} c_{lr} p_{lr},$$
#
# so its dual is
#
# $$\min_{p \ge 0,\, y} \; \sum_{l, r} c_{lr} p_{lr} \quad \text{s.t.} \quad \sum_i y_i = 1, \qquad
# y_i \le \sum_r d_{ir} p_{lr} \;\; \text{for every server } l.$$
#
# Read $p_{lr}$ as a price. Then $y_i$ is what a unit of share costs user $i$ on its cheapest server, and the value of all
# resources bounds $g$ from above. Any prices give such a bound, whoever computed them.

# %%
proof = fa.certify(fa.solve(fig2, "drfh", "exact"))
print(proof)
(round_1,) = proof.rounds
p = [
    [worth / c[l][r] for r, worth in enumerate(round_1.prices[2 * l : 2 * l + 2])] for l in range(2)
]
print("p =", *[f"({row[0]}, {row[1]})" for row in p])

# %% [markdown]
# These are fractions, and three lines verify the proof by hand: the cheapest unit of share of each user, their sum, and the
# value of all resources.

# %%
y = [min(sum(d[i][r] * p[l][r] for r in range(2)) for l in range(2)) for i in range(2)]
bound = sum(c[l][r] * p[l][r] for l in range(2) for r in range(2))
print("y =", *y, " sum", sum(y), " bound", bound)

# %% [markdown]
# The priced resources, CPU on server 1 and memory on server 2, are the bottlenecks. By complementary slackness they are full,
# and a user has tasks only where its share is cheapest. User 1 pays $y_1 = 1/6$ on server 1 and would pay $25/6$ on server 2.
#
# Prices need not be unique. An interior point solver answers with others, which prove the same bound.

# %%
other = fa.solve(fig2, "drfh", "cvxpy:clarabel").prices / c_
print("other prices", other.round(4).tolist(), " bound", round((other * c_).sum(), 6))

# %% [markdown]
# `explain` says the same in sentences, for prices of whole capacities, and how tasks move with capacities.

# %%
print(fa.explain(fair, user="u1"))

# %% [markdown]
# ## Properties
#
# W 3.3 asks for properties and W 4 proves them for DRFH. Two of the proofs are one line each.
#
# **Envy-freeness.** With the bundle of $j$, user $i$ has
# $G_i(A_j) = \sum_l \min_r g_{jl} d_{jr} / d_{ir} \le \sum_l g_{jl} d_{j r_i^*} \le \sum_l g_{jl} = g$, because
# $d_{i r_i^*} = 1$.
#
# **Pareto optimality.** If $j$ could have more while nobody loses, it could give back $\epsilon d_j$ on one server. All
# demands are positive, so everybody could have a part of that and $g$ would rise.
#
# The checks compute the margin of a violation in rationals; a negative one is slack.

# %%
for name in ("pareto", "envy-freeness", "weak-sharing-incentive", "strong-sharing-incentive"):
    verdict = fa.check(fair, name)
    print(f"{name:25} {verdict.holds!s:6} margin {float(verdict.margin):.3g}")

# %% [markdown]
# ## Proposition 4: no strong sharing incentive
#
# On (1 CPU, 2 GB) and (4 CPUs, 3 GB), with tasks of (1, 1) and (3, 2), DRFH gives both users the share 12/25. With half of
# each server user 2 would have 1/2: it runs 4/5 tasks instead of 5/6.

# %%
prop4 = fa.example("wang-prop4").instance
fair4 = fa.solve(prop4, "drfh", "exact")
print("g =", *[part.level for part in fa.certify(fair4).rounds], " tasks", *fair4.tasks_exact)
print(fa.check(fair4, "strong-sharing-incentive").sentence)

# %% [markdown]
# Proposition 5 saves the weak one: *some* equal partition gives nobody more. The witness is such a partition: what each user
# gets of each server.

# %%
weak = fa.check(fair4, "weak-sharing-incentive")
print(weak.sentence)
for i, rows in enumerate(weak.witness["partition"]):
    print(f"user {i + 1}:", *[f"({row[0]}, {row[1]})" for row in rows])

# %% [markdown]
# ## Misreports
#
# Proposition 3: in no coalition do all members gain. The proof has two cases. If the misreport raises $g$, honest users gain,
# so a member must lose, or the first allocation was not Pareto optimal. If it does not, user $i$ gets $\rho_i g' \le g$ with
# $\rho_i = \min_r d'_{ir} / d_{ir} \le d'_{i r_i^*} \le 1$. The search tries misreports of one and of two users.

# %%
for name in ("strategyproofness", "group-strategyproofness"):
    print(fa.check_mechanism(prop4, "drfh", name, trials=60, method="highs").sentence)

# %% [markdown]
# ## The propositions about DRFH
#
# All nine propositions hold under W's assumptions: positive demands, everybody may run everywhere, unlimited tasks. The
# matrix shows what the toolkit has on record; a cross is a violation confirmed in rationals, and the notes say where the
# property holds.

# %%
fa.property_matrix(["drfh"], PRINTED["W.List"].properties)

# %% [markdown]
# Two of W's sentences do not hold as printed (docs/papers/errata.md).
#
# **Proposition 8**, bottleneck fairness: if all users have the same global dominant resource, the allocation "should be
# reduced to a max-min fair allocation for that resource". It is max-min fair among what the servers allow. But it is not the
# equal division of that resource, as it is on one pool. Below, both resources are globally dominant for both users. Each user
# gets 1 of 3 units, because the other resource of each server is full.

# %%
crossed = fa.Instance([[1, 1], [1, 1]], [[1, 2], [2, 1]])
crossed_fair = fa.solve(crossed, "drfh", "exact")
print("tasks", *crossed_fair.tasks_exact, " of the 3/2 that half of a resource would run")
print(fa.check(crossed_fair, "global-bottleneck-fairness").sentence)

# %% [markdown]
# ## Whole tasks: First-Fit and Best-Fit
#
# **Section 5.2** schedules whole tasks by progressive filling, which serves the user with the least share. First-Fit takes
# the first server that has room. Best-Fit takes the server whose free resources are most like the demand, by
#
# $$H(i, l) = \| D_i / D_{i1} - \bar c_l / \bar c_{l1} \|_1. \tag{9}$$

# %%


def progressive_filling(instance, best_fit):
    """Whole tasks of each user."""
    free = [list(row) for row in instance.exact.capacities]
    demand = [rows[0] for rows in instance.exact.demands]
    share = [
        max(a / total for a, total in zip(row, map(sum, zip(*free, strict=True)), strict=True))
        for row in demand
    ]
    tasks, active = [0] * instance.N, set(range(instance.N))
    while active:
        i = min(active, key=lambda n: (share[n] * tasks[n], n))
        room = [c for c in free if all(a <= b for a, b in zip(demand[i], c, strict=True))]
        if not room:
            active.remove(i)
            continue
        distance = [
            sum(abs(a / demand[i][0] - b / c[0]) for a, b in zip(demand[i], c, strict=True))
            for c in room
        ]
        chosen = room[distance.index(min(distance)) if best_fit else 0]
        chosen[:] = [b - a for a, b in zip(demand[i], chosen, strict=True)]
        tasks[i] += 1
    return tasks


first_fit, best_fit = (progressive_filling(fig2, best_fit) for best_fit in (False, True))
print("First-Fit", first_fit, " Best-Fit", best_fit, " DRFH", *fair.tasks_exact)

# %% [markdown]
# W's footnote 5 says that "progressive filling will lead to a DRFH allocation". On W's own Fig. 2 First-Fit puts the first
# task of user 2 on server 1, where it takes half of the CPU. It ends with 6 and 6 tasks, as DRF per server does. Best-Fit
# reaches 10 and 10. But Best-Fit is not always the better one:

# %%
small = fa.Instance([["1/2", 1], [1, 1]], [["1/2", 2], [1, 1]])
print("First-Fit", progressive_filling(small, False), " Best-Fit", progressive_filling(small, True))

# %% [markdown]
# ## Weights (5.1)
#
# With weights $w_i$, DRFH maximises the smallest $G_i / w_i$. Give user 2 of Fig. 2 the weight 2. Server 2 alone is not
# enough for it: it runs 10 tasks there and $x$ on server 1, where the CPU is the bottleneck: $0.2\, x_1 + x = 2$. Equal
# weighted shares mean $10 + x = 2 x_1$, so $x_1 = 60/11$ and $x = 10/11$.

# %%
weighted = fa.solve(fig2.replace(weights=[1, 2]), "drfh", "exact")
print(
    "tasks",
    *weighted.tasks_exact,
    " G_i / w_i =",
    *[part.level for part in fa.certify(weighted).rounds],
)

# %% [markdown]
# ## Finite tasks (5.1)
#
# A user may have a finite number of tasks. Then DRFH goes on in rounds: raise all active users, fix those who are done or
# cannot rise, go on with the others. Let user 1 have 4 tasks. It is done at the share $4/14 = 2/7$. User 2 goes on: 10 tasks
# on server 2, and on server 1 the CPU that 4 tasks leave, $2 - 0.8 = 1.2$.

# %%
finite = fig2.replace(max_tasks=[4, None])
in_rounds = fa.solve(finite, "drfh", "exact")
rounds = fa.certify(fa.solve(finite, "drfh", "exact")).rounds
for k, part in enumerate(rounds, 1):
    print(
        f"round {k}: users {[i + 1 for i in part.users]} at the share {part.level}, prices",
        *part.prices,
    )
print("tasks", *in_rounds.tasks_exact)

# %% [markdown]
# In round 1 no resource has a price: the limit stops user 1. In round 2 the prices (of whole capacities) prove that user 2
# cannot have more. The single program (6) stops everybody at the level of round 1, which is not Pareto optimal; `drfh-lp` is
# that program.

# %%
single = fa.solve(finite, "drfh-lp", "exact")
print("(6) alone: tasks", *single.tasks_exact)
print(fa.check(single, "pareto").sentence)

# %%
ax = fa.plots.rounds(in_rounds)

# %% [markdown]
# ## Classes of servers
#
# W Table 1 has the 12,583 servers of a Google cluster in ten classes. Servers that are alike act as one pool of their sum:
# any allocation on them adds up to one on the pool, and any on the pool divides evenly. So ten rows with `counts` give the
# answer for all of them. The users are those of W 6.1.

# %%
classes = fa.generators.GOOGLE_MIX  # (number of servers, CPUs, memory)
cluster = fa.Instance(
    demands=[["0.2", "0.3"], ["0.5", "0.1"], ["0.1", "0.3"]],
    capacities=[[cpu, memory] for _, cpu, memory in classes],
    counts=[count for count, _, _ in classes],
    users=["user 1", "user 2", "user 3"],
    servers=list("ABCDEFGHIJ"),
    resources=["CPU", "memory"],
    name="W Table 1",
)
on_cluster = fa.solve(cluster, "drfh", "exact")
print(
    f"{int(cluster.counts.sum()):,} servers, g = {on_cluster.values['g']:.6f}, tasks",
    on_cluster.tasks.round(1),
)

# %%
ax = fa.plots.allocation(on_cluster)

# %% [markdown]
# The same with every server of a sample of 1/50 as a row of its own: `expand` writes the rows, and the shares do not change.

# %%
sample = cluster.replace(counts=[max(1, count // 50) for count, _, _ in classes])
one_by_one = fa.solve(fa.expand(sample), "drfh", "highs:leximin")
print(
    one_by_one.instance.K,
    "servers, largest difference",
    np.abs(one_by_one.tasks - fa.solve(sample, "drfh").tasks).max().round(9),
)

# %% [markdown]
# W's Fig. 5 cannot be repeated, because W does not say which 100 servers were drawn. Its first number can be compared: user 1
# alone is said to get 40 % of the CPU and 62 % of the memory. Whole tasks of (0.2, 0.3) on all of Table 1 get 33 % and 56 %.
# Of the sample's 52.75 CPUs and 51.32 units of memory, 106 tasks would be 40.2 % and 62.0 %.

# %%
whole = sum(
    count * min(int(F(cpu) / F("0.2")), int(F(memory) / F("0.3"))) for count, cpu, memory in classes
)
all_cpu, all_memory = (float(total) for total in cluster.totals)
print(
    f"Table 1: {whole * 0.2 / all_cpu:.1%} of the CPU, {whole * 0.3 / all_memory:.1%} of the memory"
)
print(f"sample:  {106 * 0.2 / 52.75:.1%} of the CPU, {106 * 0.3 / 51.32:.1%} of the memory")

# %% [markdown]
# ## Checks

# %% tags=["checks"]
assert drf.tasks_exact == (3, 2)
assert left == [4, 0]  # W prints 2 GB
assert naive.tasks_exact == (6, 6)
assert used == {"drf-per-server": [F(100 + n - 1, n) for n in counts], "drfh": [100] * len(counts)}
assert d == [[F(1, 5), 1], [1, F(1, 5)]]
assert abs(g.value.item() - 5 / 7) < 1e-9
assert fair.tasks_exact == (10, 10)
assert p == [[F(5, 6), 0], [0, F(25, 6)]]
assert (y, bound) == ([F(1, 6), F(5, 6)], F(5, 7))
assert abs((other * c_).sum() - 5 / 7) < 1e-6
assert fair4.tasks_exact == (F(12, 5), F(4, 5))
assert fa.certify(fair4).rounds[0].level == F(12, 25)
assert fa.check(fair4, "strong-sharing-incentive").witness["better"] == F(5, 6)
assert weak.holds
propositions, record = [all_statements()[f"W.P{k}"] for k in range(1, 10)], packaged()
assert {on_record(item, record).status for item in propositions} == {"proved"}
assert crossed_fair.tasks_exact == (1, 1)
assert (first_fit, best_fit) == ([6, 6], [10, 10])
assert weighted.tasks_exact == (F(60, 11), F(120, 11))
assert [part.level for part in rounds] == [F(2, 7), F(4, 5)]
assert (in_rounds.tasks_exact, single.tasks_exact) == ((4, F(56, 5)), (4, 4))
assert fa.certify(fa.solve(cluster, "drfh", "exact")).rounds[0].level == F(29609, 65877)
assert naive.x_exact == (5, 1, 1, 5)
assert all(a.load[0, 0] == a.load[1, 1] == 1 for a in (naive, fair))
assert [fa.check(a, "pareto").holds for a in (naive, fair)] == [False, True]
assert np.isclose(fair.values["g"], 5 / 7)
assert sum(d[0][r] * p[1][r] for r in range(2)) == F(25, 6)
assert not np.allclose(other, np.array(p, dtype=float), atol=1e-3)
assert min(progressive_filling(small, False)) > min(progressive_filling(small, True))
assert not any(rounds[0].prices)
assert any(rounds[1].prices)
assert not fa.check(single, "pareto").holds
assert (cluster.counts.sum(), cluster.K) == (12583, 10)
assert np.allclose(one_by_one.tasks, fa.solve(sample, "drfh").tasks)
assert fa.check(crossed_fair, "global-bottleneck-fairness").holds
