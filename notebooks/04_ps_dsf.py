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
# # Per-server dominant-share fairness
#
# This notebook works through **P**: Khamse-Ashari, Lambadaris, Kesidis, Urgaonkar, Zhao, *Per-Server Dominant-Share Fairness
# (PS-DSF): A Multi-resource Fair Allocation Mechanism for Heterogeneous Servers* (ICC 2017). It follows the paper's order: why
# one global share is not enough (II-B), the definition (III), its properties (Theorem 2), Algorithm I, the two extensions (IV),
# and the experiment (V). Everything that is rational is computed in fractions.
#
# The letters are the paper's. Server $i$ has the amount $c_{i,r}$ of resource $r$; a task of user $n$ takes $d_{n,r}$; the user
# has the weight $\varphi_n$ and runs $x_{n,i}$ tasks on server $i$, in total $x_n = \sum_i x_{n,i}$; $\delta_{n,i} = 1$ where it
# may use the server.

# %%
import itertools
from fractions import Fraction
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa
from fairalloc.solvers.game.psdsf_distributed import section_v
from fairalloc.theorems.matrix import comparison
from fairalloc.theorems.printed import PRINTED

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## The model, and P Fig. 1
#
# Two servers have CPU, memory and network bandwidth, $c_1 = (9, 12, 100)$ and $c_2 = (12, 12, 0)$. Two users demand
# $d_1 = (1, 2, 10)$ and $d_2 = (1, 2, 0)$. The second server has no bandwidth, so user 1 may use the first one only.

# %%
fig1 = fa.example("psdsf-fig1").instance
print(fig1)
print(fig1.eligible.astype(int))

# %% [markdown]
# What a user could run if a server were its own is the number that everything below is measured in:
#
# $$\gamma_{n,i} = \delta_{n,i} \min_r \frac{c_{i,r}}{d_{n,r}}. \tag{P 8}$$
#
# The next cell reads the paper's letters off an instance, as fractions by name. A row of an instance may stand for several equal
# servers, which count as one of their total size.


# %%
def letters(instance):
    exact, at = instance.exact, range(instance.N)
    p = SimpleNamespace(
        users=instance.users,
        servers=instance.servers,
        resources=instance.resources,
        c={},
        d={},
        gamma={},
    )
    p.phi = {instance.users[n]: exact.weights[n] for n in at}
    for k, i in enumerate(p.servers):
        p.c[i] = {
            r: int(instance.counts[k]) * v
            for r, v in zip(p.resources, exact.capacities[k], strict=True)
        }
        for n in np.flatnonzero(instance.eligible[:, k]).tolist():
            d = dict(zip(p.resources, exact.demands_at(n, k)[0], strict=True))
            p.d[p.users[n], i] = d
            p.gamma[p.users[n], i] = min(p.c[i][r] / d[r] for r in p.resources if d[r])  # (8)
    return p


def show(values):
    print(
        ", ".join(
            f"{' '.join(key) if isinstance(key, tuple) else key}: {value}"
            for key, value in values.items()
        )
    )


p = letters(fig1)
show(p.gamma)

# %% [markdown]
# User 1 needs 2 of the 12 GB for a task, and 1 of 9 cores, and 10 of 100 Mb/s: the memory decides, $\gamma_{1,1} = 6$. Memory
# decides for user 2 on both servers as well. It is what everybody demands most of, wherever they may run.
#
# ## Why not one global share (II-B)
#
# **C-DRFH** takes the servers as one pool with $c = (21, 24, 100)$. Of it a task of user 1 takes
# $\max(1/21, 2/24, 10/100) = 1/10$, the bandwidth, and a task of user 2 takes $1/12$, the memory. Equal global dominant shares
# mean $x_1 / 10 = x_2 / 12$. All memory is used, $2 x_1 + 2 x_2 = 24$, so $x_1 = 60/11$ and $x_2 = 72/11$.
#
# **TSF** compares tasks with what a user could run on all servers, $\gamma_1 = 6$ and $\gamma_2 = 12$: $x_1 / 6 = x_2 / 12$ gives
# $x_1 = 4$, $x_2 = 8$.
#
# **PS-DSF**, defined below, gives both users 6 tasks, that is 12 GB each.

# %%
answers = {name: fa.solve(fig1, name, "exact") for name in ("c-drfh", "tsf", "ps-dsf")}
for name, allocation in answers.items():
    print(f"{name:7}", ", ".join(map(str, allocation.tasks_exact)))

# %% [markdown]
# P prints 5.45 and 6.54 for C-DRFH. The second number is cut off, not rounded: $72/11 = 6.5454\ldots$
#
# P's *bottleneck fairness* says: where every user demands most of the same resource on every server it may use, that resource is
# shared max-min fairly. Here that means 12 GB each. A check answers with a sentence, and where a property fails, with a witness.

# %%
for name, allocation in answers.items():
    print(f"{name:7}", fa.check(allocation, "bottleneck-fairness").sentence)

# %%
figure, axes = plt.subplots(3, 1, figsize=(7, 8.5), layout="constrained")
for ax, (name, allocation) in zip(axes, answers.items(), strict=True):
    fa.plots.allocation(allocation, ax=ax)
    ax.set_title(name, loc="left", pad=16)

# %% [markdown]
# ## The definition (III)
#
# A user has a dominant resource *for each server*, and so a share for each server. The **virtual dominant share** counts all its
# tasks, wherever they run, in what server $i$ alone could run for it:
#
# $$s_{n,i} = \frac{x_n}{\gamma_{n,i}}, \qquad x_n = \sum_j x_{n,j}. \tag{P 12}$$
#
# It may be larger than 1. Each server wants these shares, divided by the weights, to be max-min fair among its users:
#
# > **Definition 2.** $\{x_{n,i}\}$ satisfies PS-DSF if it is feasible and $x_n$ cannot be increased, while maintaining
# > feasibility, without decreasing $x_{m,i}$ for some user $m$ and server $i$ with $s_{m,i} / \varphi_m \le s_{n,i} / \varphi_n$.
#
# Nothing has to be moved to see whether that holds. Resource $r$ is a **bottleneck** of user $n$ at server $i$ (Definition 3) if
# $d_{n,r} > 0$, $r$ is full there, and
#
# $$\frac{s_{n,i}}{\varphi_n} \ge \frac{s_{m,i}}{\varphi_m}
# \quad \text{for all } m \text{ with } x_{m,i} d_{m,r} > 0. \tag{P 13}$$
#
# > **Theorem 1.** A feasible allocation satisfies PS-DSF if and only if every user has a bottleneck at every eligible server.
#
# The definition as code, in fractions:


# %%
def shares(p, x):
    """(12) divided by the weights."""
    total = {n: sum(v for (m, _), v in x.items() if m == n) for n in p.users}
    return {(n, i): total[n] / (p.phi[n] * gamma) for (n, i), gamma in p.gamma.items()}


def used(p, x, i, r):
    return sum(v * p.d[n, j][r] for (n, j), v in x.items() if j == i)


def full(p, x, i):
    return [r for r in p.resources if used(p, x, i, r) == p.c[i][r]]


def bottlenecks(p, x):
    """The bottlenecks of every user at every eligible server (13)."""
    s, found = shares(p, x), {}
    for n, i in p.gamma:
        found[n, i] = [
            r
            for r in full(p, x, i)
            if p.d[n, i][r]
            and all(
                s[n, i] >= s[m, i] for (m, j), v in x.items() if j == i and v * p.d[m, i][r] > 0
            )
        ]
    return found


def tasks_by_name(allocation):
    instance, arcs = allocation.instance, allocation.instance.arcs
    pairs = zip(arcs.user.tolist(), arcs.server.tolist(), allocation.x_exact, strict=True)
    return {(instance.users[n], instance.servers[i]): value for n, i, value in pairs}


# %% [markdown]
# ## P Figs. 2 and 3
#
# The same servers, and four users with $d_1 = (3/2, 1, 10)$, $d_2 = (1, 2, 10)$, $d_3 = (1/2, 1, 0)$, $d_4 = (1, 1/2, 0)$. Users
# 1 and 2 need bandwidth.

# %%
fig2 = fa.example("psdsf-fig2").instance
p = letters(fig2)
show(p.gamma)

# %% [markdown]
# *By hand.* Suppose users 1 and 2 share server 1 and users 3 and 4 share server 2. Equal shares on server 1 mean $x_1 = x_2$; its
# CPU allows $\frac{3}{2} x_1 + x_2 \le 9$, its memory $x_1 + 2 x_2 \le 12$, so the CPU is full first, at $x_1 = x_2 = 18/5$. On
# server 2 $x_3 = x_4$, and CPU and memory are both full at 8. Then $s_{3,1} = 8/12$ and $s_{4,1} = 8/9$ are both above
# $s_{1,1} = s_{2,1} = 3/5$, so the CPU of server 1 is a bottleneck of users 3 and 4 too, although they run nothing there.

# %%
x = {(n, i): Fraction(0) for n, i in p.gamma}
x |= {
    ("u1", "s1"): Fraction(18, 5),
    ("u2", "s1"): Fraction(18, 5),
    ("u3", "s2"): Fraction(8),
    ("u4", "s2"): Fraction(8),
}
show(shares(p, x))
show({pair: " and ".join(found) for pair, found in bottlenecks(p, x).items()})

# %% [markdown]
# P prints $s_{4,1} = 12/12 = 1$. By (8) $\gamma_{4,1} = \min(9/1, 12/\frac{1}{2}) = 9$, so $s_{4,1} = 8/9$. The allocation is
# right.
#
# The toolkit finds the same allocation, and proves it: a certificate is checked with additions and comparisons of fractions,
# without a solver.

# %%
fair = fa.solve(fig2, "ps-dsf", "exact")
certificate = fa.certify(fair)
print(tasks_by_name(fair) == x)
print(certificate)

# %%
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
fa.plots.allocation(fair, ax=ax)
_ = ax.set_title("P Fig. 3", loc="left", pad=16)

# %% [markdown]
# ## Algorithm I, step by step (III-C)
#
# The algorithm starts with DRF on each server as if there were no other. Then the servers take turns with the *server procedure*.
# With $N_i$ the users for whom no bottleneck at server $i$ is known yet:
#
# 1. $S_i^* = \min_{m \in N_i} s_{m,i} / \varphi_m$, (16); $N_i^*$ are the users who attain it; $R_i^*$ are the full resources
#    that somebody in $N_i^*$ demands.
# 2. If for some $r \in R_i^*$ nobody in $N_i$ who uses $r$ has more than $S_i^*$, then $r$ is a bottleneck of all who demand it,
#    and these leave $N_i$, (17).
# 3. Otherwise, for each $r \in R_i^*$, the user $n_r$ with the largest share of those who use $r$, (18), gives up a part $\beta$
#    of its tasks here, and $N_i^*$ rises.
#
# The rounds end when no server changes anything.

# %% [markdown]
# *DRF on one server* is progressive filling: all shares rise together, and who demands a full resource stops.


# %%
def drf(p, i):
    here = {n for n, j in p.gamma if j == i}
    x, free, rising = {(n, i): Fraction(0) for n in here}, dict(p.c[i]), set(here)
    while rising:
        rate = {
            r: sum(p.phi[n] * p.gamma[n, i] * p.d[n, i][r] for n in rising) for r in p.resources
        }
        step = min(free[r] / rate[r] for r in p.resources if rate[r])
        for n in rising:
            x[n, i] += step * p.phi[n] * p.gamma[n, i]
        free = {r: free[r] - step * rate[r] for r in p.resources}
        rising = {n for n in rising if all(free[r] or not p.d[n, i][r] for r in p.resources)}
    return x


def drf_on_each(p):
    start = {pair: Fraction(0) for pair in p.gamma}
    for i in p.servers:
        start |= drf(p, i)
    return start


x = drf_on_each(p)
show(x)

# %% [markdown]
# *Update-Allocation.* If the users $n_r$ gave up all they have here, $f$ would be free, and with
# $D_i^* = \sum_{n \in N_i^*} \varphi_n \gamma_{n,i} d_n$ the least share could rise by $z^* = \min_r f_{i,r} / D_{i,r}^*$. They
# give up the part $\beta \in (0, 1]$ for which the least share does not pass theirs:
#
# $$S_i^* + \beta z^* \le \frac{x_{n_r} - \beta x_{n_r,i}}{\varphi_{n_r} \gamma_{n_r,i}}
# \quad\Longleftrightarrow\quad
# \beta \le \Big(\frac{s_{n_r,i}}{\varphi_{n_r}} - S_i^*\Big)
# \Big/ \Big(z^* + \frac{x_{n_r,i}}{\varphi_{n_r} \gamma_{n_r,i}}\Big).$$
#
# P leaves the choice of $\beta$ open; we take the largest. The box says $f := f + x_{n_r,i} d_{n_r}$ for every $r$, which counts
# a user twice that is $n_r$ for two resources. `once=False` follows the print.


# %%
def update(p, x, i, least, lowest, chosen, once=True):
    s, released = shares(p, x), set(chosen.values()) if once else list(chosen.values())
    f = {
        r: p.c[i][r] - used(p, x, i, r) + sum(x[n, i] * p.d[n, i][r] for n in released)
        for r in p.resources
    }
    D = {r: sum(p.phi[n] * p.gamma[n, i] * p.d[n, i][r] for n in lowest) for r in p.resources}
    z = min(f[r] / D[r] for r in p.resources if D[r])
    part = {n: x[n, i] / (p.phi[n] * p.gamma[n, i]) for n in released}
    beta = min([Fraction(1), *((s[n, i] - least) / (z + part[n]) for n in released)])
    for n in lowest:
        x[n, i] += beta * p.phi[n] * p.gamma[n, i] * z
    for n in set(released):
        x[n, i] *= 1 - beta
    return z, beta


# %% [markdown]
# *The server procedure.* The box takes a maximum over "$n \in N_i$ with $x_{n,i} d_{n,r} > 0$", which may be nobody; then $r$ is
# a bottleneck of all who are left, so an empty maximum counts as passing.


# %%
def server_procedure(p, x, i, say=print):
    left, updates = {n for n, j in p.gamma if j == i}, 0
    while left:
        s = shares(p, x)
        least = min(s[n, i] for n in left)  # (16)
        lowest = sorted(n for n in left if s[n, i] == least)
        saturated = [r for r in full(p, x, i) if any(p.d[n, i][r] for n in lowest)]
        users = {r: [n for n in sorted(left) if x[n, i] * p.d[n, i][r]] for r in saturated}
        passing = [r for r in saturated if all(s[n, i] == least for n in users[r])]
        if passing:
            left -= {n for n in left if p.d[n, i][passing[0]]}  # (17)
            say(
                f"{i}: S* = {least} for {', '.join(lowest)}; {passing[0]} is the bottleneck of "
                "all who demand it"
            )
            continue
        chosen = {r: max(users[r], key=lambda n: s[n, i]) for r in saturated}  # (18)
        z, beta = update(p, x, i, least, lowest, chosen)
        updates += 1
        say(
            f"{i}: S* = {least} for {', '.join(lowest)}; n_r is {', '.join(chosen.values())}; "
            f"z* = {z}, beta = {beta}"
        )
    return updates


# %%
rounds = 0
while True:
    rounds += 1
    print(f"round {rounds}")
    if not sum(server_procedure(p, x, i) for i in p.servers):
        break
show(x)

# %% [markdown]
# On server 1 first user 4 and then user 3 give up everything they had there, because their shares are larger; server 2 had the
# right answer from the start. The same algorithm in floating point is a method of the toolkit, `psdsf-algorithm-1`.

# %%
run = fa.solve(fig2, "ps-dsf", "psdsf-algorithm-1", trace=True)
print(run.tasks.round(9), f"residual {run.residual:.0e}")
print([(event["iteration"], event["updates"]) for event in run.trace])

# %% [markdown]
# ### Where the printed algorithm fails
#
# **It can leave the feasible region.** One server $(1, 1)$, two users who demand $(1, 1)$, and user 1 has just arrived. User 2 is
# $n_r$ for both resources, so $f$ as printed is $(2, 2)$: both run $2/3$ of a task on a server for one.

# %%
two = letters(fa.Instance([[1, 1], [1, 1]], [[1, 1]]))
printed = {("u1", "s1"): Fraction(0), ("u2", "s1"): Fraction(1)}
update(two, printed, "s1", Fraction(0), ["u1"], {"r1": "u2", "r2": "u2"}, once=False)
show(printed)
print("used of r1:", used(two, printed, "s1", "r1"))

# %% [markdown]
# **$S^*$ need not rise.** P chooses $\beta$ "to make sure that $S_i^*$ is monotonically increasing". Within one server procedure
# it is. But a server that takes tasks from $n_r$ lowers the share of $n_r$ at every other server. Two servers of size 1, user 1
# on both, user 2 on the second:

# %%
pair = letters(fa.Instance([[1], [1]], [[1], [1]], eligible=[[1, 1], [0, 1]]))
moved = drf_on_each(pair)
before = shares(pair, moved)["u1", "s1"]
server_procedure(pair, moved, "s2")
after = shares(pair, moved)["u1", "s1"]
print(f"S* at server 1: {before} before, {after} after server 2 took its turn")

# %% [markdown]
# **The rounds need not end.** One resource, two servers of size 1; user 1 on the first, user 2 on both, user 3 on the second. If
# user 2 has $c$ on server 2, server 1 gives it $(1 - c) / 2$, and then server 2 gives it $(1 + c) / 4$. The limit is $c = 1/3$;
# in exact arithmetic it is never reached. In floating point a tolerance ends the rounds.

# %%
chain = letters(fa.Instance([[1], [1], [1]], [[1], [1]], eligible=[[1, 0], [1, 1], [0, 1]]))
parts = drf_on_each(chain)
steps = [parts["u2", "s2"]]
for _ in range(8):
    for i in chain.servers:
        server_procedure(chain, parts, i, say=lambda _: None)
    steps.append(parts["u2", "s2"])
print(", ".join(map(str, steps[:6])), "...")

# %%
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.semilogy([float(abs(c - Fraction(1, 3))) for c in steps], "ko-")
_ = ax.set(xlabel="round", ylabel="distance from 1/3")
# %% [markdown]
# ## Properties: the claims of Theorem 2, and the truth
#
# P's Theorem 2 and Table I claim sharing incentive (SI), strategyproofness (SP), envy-freeness (EF), Pareto optimality (PO)
# and bottleneck fairness (BF) for PS-DSF. The matrix below is P's Table I as the toolkit finds it. Each cell has one symbol,
# the answers that it is about, and the number of a note with the conditions.

# %%
properties = [
    "sharing-incentive",
    "strategyproofness",
    "envy-freeness",
    "pareto",
    "bottleneck-fairness",
]
table = fa.property_matrix(["drfh", "tsf", "ps-dsf"], properties, trials=30)
print(table)

# %% [markdown]
# Three marks of the printed table are wrong: PS-DSF is neither Pareto optimal nor strategyproof, and TSF does not provide sharing
# incentive under placement constraints.
#
# **Pareto optimality.** Definition 2 says that no *one* user can gain. Two users can, by exchanging tasks between servers. Two
# alike servers $(6, 6)$, $d_1 = (2, 1)$, $d_2 = (1, 2)$; all $\gamma_{n,i} = 3$. For every $t \in [0, 1]$ let
#
# $$x_1 = (3 - t,\; 2t), \qquad x_2 = (2t,\; 3 - t).$$
#
# Server 1 has all its CPU in use, $2(3 - t) + 2t = 6$, server 2 all its memory, and all shares are equal. So each of these
# allocations is PS-DSF, with totals from $(3, 3)$ to $(4, 4)$.

# %%
both = fa.example("two-answers").instance
p = letters(both)
for t in (Fraction(0), Fraction(1, 2), Fraction(1)):
    x = {("u1", "s1"): 3 - t, ("u1", "s2"): 2 * t, ("u2", "s1"): 2 * t, ("u2", "s2"): 3 - t}
    print(
        f"t = {t}: totals {3 + t}, bottlenecks "
        f"{[' and '.join(r) for r in bottlenecks(p, x).values()]}"
    )
alone = fa.Allocation(both, [3, 0, 0, 3])
print(fa.check(alone, "pareto").sentence)

# %% [markdown]
# They are half of all: on a few arcs `fa.solution_set` lists every PS-DSF allocation, in rationals, here as two segments of tasks
# $(x_{1,1}, x_{1,2}, x_{2,1}, x_{2,2})$ that meet in the best one.

# %%
everything = fa.solution_set(both, "ps-dsf")
print(everything)
print("most tasks:", *everything.best("tasks").x)

# %%
figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
fa.plots.feasible_region(both, ax=ax)
ax.plot([3, 4], [3, 4], "k-", linewidth=4, solid_capstyle="round", label="PS-DSF")
_ = ax.legend(loc="lower left", frameon=False)
# %% [markdown]
# **Strategyproofness.** The proof ends with a set of users who gain together, which contradicts Definition 2 only if one alone
# gains: the same gap. Four users, two servers, no weights, no placement constraints. By true reports everybody runs one task.
# User 2 needs resource 2 only; it reports that a task takes half as much of resource 1 as well, and runs $8/7$.

# %%
truth = fa.Instance([[0, 1], [0, 1], [1, 1], [1, 0]], [[1, 1], [1, 2]])
reported = fa.Instance([[0, 1], ["1/2", 1], [1, 1], [1, 0]], [[1, 1], [1, 2]])
honest, lying = (fa.solve(system, "ps-dsf", "exact").tasks_exact for system in (truth, reported))
print(*honest)
print(*lying)
for system in (truth, reported):
    print(
        *(
            f"{least} to {most}"
            for least, most in fa.solution_set(system, "ps-dsf", largest=8).totals
        ),
        sep=", ",
    )

# %% [markdown]
# Both allocations are proved to be PS-DSF, and the ranges over all PS-DSF allocations are points. User 2's worst answer after
# the misreport is better than its best one before it, so no choice among answers matters (docs/papers/errata.md, P Theorem 2).
#
# **What holds.** Sharing incentive and bottleneck fairness hold. Envy-freeness holds for what a user may use itself; with the
# totals of another user, wherever they lie, which is (24) to the letter, users of small servers envy those of large ones.

# %%
apart = fa.solve(fa.Instance([[1], [1]], [[1], [2]], eligible=[[1, 0], [0, 1]]), "ps-dsf", "exact")
for name in ("sharing-incentive", "envy-freeness", "total-envy-freeness"):
    print(fa.check(apart, name).sentence)

# %% [markdown]
# ## Extension 1: wireless channels (IV, Fig. 4)
#
# Only $\gamma_{n,i}$ enters the definition, so it may be given directly: two users share three channels, and the *service rate*
# that a user achieves on a channel differs. A task is 1 Mb/s; on channel $i$ it takes user $n$ the part $1 / \gamma_{n,i}$ of the
# time. In an instance that is a demand for each pair of user and server.

# %%
fig4 = fa.example("psdsf-fig4").instance
p = letters(fig4)
show(p.gamma)

# %% [markdown]
# Channel 1 is worth three times as much to user 1, channel 3 twice as much to user 2. If they keep these, $x_1 = 1.2 + 0.6 a$ and
# $x_2 = 0.8 + 0.4 (1 - a)$, with $a$ the part of channel 2 that user 1 has. Equal shares there, $x_1 / 0.6 = x_2 / 0.4$, give
# $a = 1/2$: the printed 1.5 and 1 Mb/s.

# %%
channels = fa.solve(fig4, "ps-dsf", "exact")
x = tasks_by_name(channels)
show(x)
show(shares(p, x))

# %% [markdown]
# The shares at channel 1 are $5/4 < 5/2$, so only user 1 is served there; at channel 3 it is the other way round. The inequality
# that P prints for this example, "$x_m / \gamma_{m,i} \le x_n \gamma_{n,i}$", lacks a division sign. (Which rate belongs to which
# arrow is lost in the text of Fig. 4; with these the printed answer comes out.)
#
# ## Extension 2: co-processors (IV)
#
# A co-processor makes a server faster for some users only. P gives no numbers; take two servers $(8, 8)$ and users with
# $d_1 = (2, 1)$, $d_2 = (1, 1)$. On server 2 a co-processor does three quarters of user 1's computing, so there it demands
# $(1/2, 1)$.

# %%
fig_co = fa.example("psdsf-coprocessor").instance
p = letters(fig_co)
helped = fa.solve(fig_co, "ps-dsf", "exact")
plain = fa.solve(fa.Instance([[2, 1], [1, 1]], [[8, 8], [8, 8]]), "ps-dsf", "exact")
show(p.gamma)
print("with the co-processor   ", *helped.tasks_exact)
print("without the co-processor", *plain.tasks_exact)

# %% [markdown]
# User 1 could run 4 tasks on server 1 and 8 on server 2. With 8 tasks each the shares are $(2, 1)$ at server 1 and $(1, 1)$ at
# server 2, so server 1 serves user 2 alone: everybody is where it is efficient. Without the co-processor a task of user 1 takes 2
# cores anywhere: the CPU is shared equally, and user 1 runs 4 tasks instead of 8.

# %% [markdown]
# ## The experiment (V): Fig. 5, Tables III and IV
#
# 120 servers in four classes A to D with CPU and memory $(1, 1)$, $(1/2, 1/2)$, $(1/2, 1/4)$, $(1/2, 3/4)$; four users with
# weights 2, 2, 1, 1. Users 3 and 4 may use classes C and D only. Table III is (8):

# %%
fig5 = fa.example("psdsf-fig5").instance
p = letters(fig5)
for n in p.users:
    print(n, [str(p.gamma.get((n, i), 0)) for i in p.servers])

# %% [markdown]
# *Table IV by hand.* Suppose A and B serve users 1 and 2, C serves user 3 and D user 4. A and B have $8 + 34 = 42$ units of CPU
# and as many of memory, in the same proportion, so they are one pool. User 1 can run twice as many tasks there as user 2, and the
# weights are equal, so $x_1 = 2 x_2$; the memory allows $\frac{1}{10} x_1 + \frac{1}{5} x_2 = 42$. So $x_2 = 105$, $x_1 = 210$,
# and $x_3 = 165/2$, $x_4 = 55/2$ are $\gamma_{3,C}$ and $\gamma_{4,D}$.

# %%
table4 = {name: fa.solve(fig5, name, "exact") for name in ("ps-dsf", "tsf", "c-drfh")}
for name, allocation in table4.items():
    print(f"{name:7}", [f"{v} = {float(v):.5g}" for v in allocation.tasks_exact])
x = tasks_by_name(table4["ps-dsf"])
show({pair: " and ".join(found) for pair, found in bottlenecks(p, x).items()})

# %% [markdown]
# Class by class, as Table IV has it:

# %%
for name in ("ps-dsf", "tsf"):
    print(name)
    print(table4[name].by_server.round(2))

# %% [markdown]
# The split between A and B is not unique, since the two are alike; their sums are what Table IV prints. For TSF it prints 58.33
# tasks of user 3, which are $10560/181 = 58.343$.
#
# P says that the CPU of classes A and B and the memory of all classes "are fully utilized under any of the allocation
# mechanisms". Of the CPU its own table says otherwise: on class A users 1 and 2 run 40 and 20 tasks with $1/10$ CPU each, 6 of 8.
# The memory is full.

# %%
for name, allocation in table4.items():
    print(f"{name:7} CPU {allocation.load[:, 0].round(4)}  memory {allocation.load[:, 1].round(4)}")

# %% [markdown]
# ## The servers on their own (III-D, Fig. 6)
#
# The server procedure needs the server's own resources and the totals $x_n$ only, so every server can run it by itself, every $T$
# seconds. In P's experiment user 4 is away between 100 and 250 s. `section_v` is that run, with $T$ = 1 s.

# %%
history = section_v()
three = fa.Instance(
    fig5.exact.demands[:3],
    fig5.exact.capacities,
    counts=fig5.counts,
    weights=fig5.exact.weights[:3],
    eligible=fig5.placement[:3],
)
away = {name: fa.solve(three, name, "exact") for name in table4}  # without user 4

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3), sharey=True, layout="constrained")
for ax, server in zip(axes, "CD", strict=True):
    ax.plot(history.times, history.load(server, "cpu"), "k-", label="PS-DSF, distributed")
    i = fig5.servers.index(server)
    for name, style in (("tsf", "C0--"), ("c-drfh", "C1:")):
        here, there = table4[name].load[i, 0], away[name].load[i, 0]
        ax.step([0, 100, 250, 300], [here, there, here, here], style, where="post", label=name)
    ax.set(title=f"CPU of class {server}", xlabel="seconds", ylim=(0, 1.05))
axes[0].set_ylabel("part in use")
_ = axes[0].legend(loc="lower left", frameon=False)
# %% [markdown]
# This is P Fig. 6. Within 10 seconds of each change the servers are at the new PS-DSF allocation. P sees greater utilisation with
# PS-DSF. Over both classes together that is so; but while user 4 is away, PS-DSF leaves a quarter of the CPU of class D, which
# the other two use.

# %%
settled = [history.at(time).tasks for time in (90, 240, 290)]
print(np.array(settled).round(6))
parts = {name: fig5.counts[2:] @ away[name].load[2:, 0] / 44 for name in away}
print(
    "CPU of C and D without user 4:", {name: round(float(part), 4) for name, part in parts.items()}
)

# %% [markdown]
# ## Checks

# %% tags=["checks"]
F = Fraction
assert answers["c-drfh"].tasks_exact == (F(60, 11), F(72, 11))
assert answers["tsf"].tasks_exact == (4, 8)
assert answers["ps-dsf"].tasks_exact == (6, 6)
assert [fa.check(a, "bottleneck-fairness").holds for a in answers.values()] == [False, False, True]
assert fair.tasks_exact == (F(18, 5), F(18, 5), 8, 8)
assert certificate.verify(fig2)
assert "bottleneck-fairness" in str(table)
assert rounds == 2
assert used(two, printed, "s1", "r1") == F(4, 3)
assert (before, after) == (F(3, 2), 1)
assert all((b - F(1, 3)) * 4 == a - F(1, 3) for a, b in itertools.pairwise(steps))
assert fa.check(alone, "ps-dsf").holds
assert not fa.check(alone, "pareto").holds
assert honest == (1, 1, 1, 1)
assert lying == (F(8, 7), F(8, 7), F(5, 7), F(5, 7))
assert channels.tasks_exact == (F(3, 2), 1)
assert helped.tasks_exact == (8, 8)
assert table4["ps-dsf"].tasks_exact == (210, 105, F(165, 2), F(55, 2))
assert table4["tsf"].tasks_exact == (F(93660, 457), F(49140, 457), F(10560, 181), F(6435, 181))
assert np.allclose(table4["ps-dsf"].load[:, 1], 1)
assert np.allclose(table4["ps-dsf"].load[:2, 0], 3 / 4)
assert parts["ps-dsf"] > max(parts["tsf"], parts["c-drfh"])
assert np.isclose(away["ps-dsf"].load[3, 0], 3 / 4)
assert np.allclose(settled[0], [210, 105, 82.5, 27.5])
assert np.allclose(settled[0], settled[2])
assert set(letters(fig1).gamma.values()) == {6}
shown = letters(fig2)
assert shares(shown, tasks_by_name(fair))["u4", "s1"] == F(8, 9)
assert all(
    shown.resources[0] in bottlenecks(shown, tasks_by_name(fair))[n, "s1"] for n in shown.users
)
assert np.allclose(run.tasks, fair.tasks)
assert set(printed.values()) == {F(2, 3)}
marks = comparison(PRINTED["P.Table1"], table.statements, table.findings)
assert sum("DISAGREES" in cell for row in marks.rows for cell in row) == 3
for t in (F(0), F(1, 2), F(1)):
    x = {("u1", "s1"): 3 - t, ("u1", "s2"): 2 * t, ("u2", "s1"): 2 * t, ("u2", "s2"): 3 - t}
    assert all(bottlenecks(letters(both), x).values())
assert len(everything.pieces) == 2
assert all(everything.best("tasks").x in piece.vertices for piece in everything.pieces)
assert everything.best("tasks").x == (2, 2, 2, 2)
assert all(
    least == most
    for system in (truth, reported)
    for least, most in fa.solution_set(system, "ps-dsf", largest=8).totals
)
assert [
    fa.check(apart, name).holds
    for name in ("sharing-incentive", "envy-freeness", "total-envy-freeness")
] == [True, True, False]
rate = letters(fig4).gamma
assert rate["u1", "channel 1"] == 3 * rate["u2", "channel 1"]
assert rate["u2", "channel 3"] == 2 * rate["u1", "channel 3"]
assert plain.tasks_exact[0] == 4
assert [letters(fig_co).gamma["u1", i] for i in fig_co.servers] == [4, 8]
assert fig5.counts.sum() == 120
assert (fig5.counts[:2] @ fig5.capacities[:2]).tolist() == [42, 42]
assert all(np.allclose(a.load[:, 1], 1) for a in table4.values())
assert np.allclose([history.at(time).tasks for time in (10, 110, 260)], settled, rtol=1e-3)
assert all(np.isclose(away[name].load[3, 0], 1) for name in ("tsf", "c-drfh"))
assert all(np.allclose(a.load[:, 1], 1) for a in answers.values())
