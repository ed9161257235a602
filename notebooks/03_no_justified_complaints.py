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
# # No justified complaints
#
# This notebook works through **D**: Dolev, Feitelson, Halpern, Kupferman, Linial, *No Justified Complaints: On Fair Sharing
# of Multiple Resources*. Users are entitled to different parts of a pool and request different amounts of each resource. We
# compute D's allocations: all of them, the one where D's trajectory ends, and the best one by a second criterion. We
# reproduce Figs. 2 to 6. The letters are the paper's:
#
# | letter | meaning |
# | --- | --- |
# | $i = 1, \dots, N$ and $j = 1, \dots, m$ | a user and a resource; every capacity is 1 |
# | $e_i$ | the entitlement of user $i$: $\sum_i e_i = 1$ |
# | $r_{ij}$ | what user $i$ requests of resource $j$ |
# | $x_i$ | the fraction of its request that user $i$ is granted |
#
# In an instance a task with `max_tasks=1` is the full request, and weights are entitlements.

# %%
from fractions import Fraction as F

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.integrate import solve_ivp

import fairalloc as fa
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.analysis.solution_sets.njc_answers import polytopes
from fairalloc.formulations.njc import requests
from fairalloc.solvers.njc.ode import trajectory

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## The definition
#
# An allocation is fair if
#
# $$\sum_i x_i r_{ij} \le 1 \quad \text{for every resource } j, \tag{1}$$
#
# $$x_i = 1 \quad \text{or} \quad x_i r_{ij^*} \ge e_i \text{ for some full resource } j^*,
# \quad \text{for every user } i. \tag{2}$$
#
# A full resource is called a bottleneck. Who has its entitlement of a bottleneck cannot complain: more for it would be less
# for others. Here is (2) in rationals.

# %%


def complaints(instance, x):
    """The users with a justified complaint, by (2)."""
    d = requests(instance)
    full = d.bottlenecks(x)
    return [
        i + 1
        for i, (part, e) in enumerate(zip(d.parts, d.entitlement, strict=True))
        if x[i] < 1 and not any(x[i] * part.get(j, 0) >= e for j in full)
    ]


# %% [markdown]
# ## Fig. 2: not the same as DRF
#
# Three users with equal entitlements request $(1, 0.2)$, $(1, 0.2)$ and $(0.4, 0.8)$. Resource 1 is the only bottleneck, and
# everybody gets 1/3 of it: $x = (1/3, 1/3, 5/6)$. DRF counts what user 3 gets of resource 2, where there is no contention,
# and gives it less.

# %%
fig2 = fa.example("dolev-fig2").instance
njc, drf = fa.solve(fig2, "njc"), fa.solve(fig2, "drf", "exact")
print("NJC: x =", *njc.tasks_exact, "  DRF: x =", *drf.tasks_exact)
print("complaints about the DRF allocation: users", complaints(fig2, drf.tasks_exact))

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
for ax, (title, allocation) in zip(
    axes, {"no justified complaints": njc, "DRF": drf}.items(), strict=True
):
    fa.plots.allocation(allocation, ax=ax).set_title(title, pad=26)

# %% [markdown]
# `explain` names the bottleneck that answers each user.

# %%
print(fa.explain(njc))

# %% [markdown]
# ## Which uses more?
#
# In Fig. 2 the fair allocation uses more than DRF. D 4 gives a counterexample: $r_1 = (1/2, 0, 0, 1)$, $r_2 = (1, 1, 1, 0)$.
# With the four resources that are printed, both use 3/4. One more of the middle resources is needed for a difference.

# %%
used = {}
for middle in (2, 3, 10):
    wide = fa.Instance(
        [["1/2", *[0] * middle, 1], [*[1] * (middle + 1), 0]],
        [[1] * (middle + 2)],
        max_tasks=[1, 1],
    )
    loads = [
        requests(wide).loads(fa.solve(wide, name, method).tasks_exact)
        for name, method in (("njc", None), ("drf", "exact"))
    ]
    used[middle] = [sum(part) / (middle + 2) for part in loads]
    print(f"{middle} middle resources: NJC uses {used[middle][0]}, DRF {used[middle][1]}")

# %% [markdown]
# ## One user after the other does not work (section 3)
#
# D's example has $r_1 = (1/2, 1/2, 2/3)$, $r_2 = (1/2, 5/8, 1/2)$, $r_3 = (1, 1, 1/3)$ and $e = (1/2, 3/8, 1/8)$. Start with
# all for user 1. User 2 can be given 2/3 of its request, until resource 3 is full; then it has a justified complaint. At
# $(3/4, 1, 0)$ neither has one, but user 3 is still to come.

# %%
greedy = fa.example("dolev-greedy").instance
for x in [(1, 0, 0), (1, F(2, 3), 0), (F(3, 4), 1, 0), (F(31, 32), F(5, 8), F(1, 8))]:
    loads = requests(greedy).loads([F(value) for value in x])
    print("x =", *x, " loads", *loads, " complaints", complaints(greedy, [F(value) for value in x]))

# %% [markdown]
# The last line is a solution, which D does not give. We now compute all of them.

# %% [markdown]
# ## Given the bottlenecks, everything is linear (5.2)
#
# Let $I$ be the set of bottlenecks. Some $j \in I$ has $x_i r_{ij} \ge e_i$ if and only if
# $x_i \max_{j \in I} r_{ij} \ge e_i$. So the fair allocations with these bottlenecks are a polytope,
#
# $$P_I: \quad \sum_i x_i r_{ij} = 1 \;\; (j \in I), \qquad \sum_i x_i r_{ij} \le 1 \;\; (\text{all } j), \qquad
# \min\Big(1, \frac{e_i}{\max_{j \in I} r_{ij}}\Big) \le x_i \le 1.$$
#
# The set of all fair allocations is the union of the $P_I$. In Fig. 3 two users request $r_1 = (1/4, 2/3, 1)$ and
# $r_2 = (1, 2/3, 0)$; D prints no entitlements there, and we take $e = (1/2, 1/2)$. Resources 1 to 3 and all their sets:

# %%
fig3 = fa.example("dolev-fig3").instance
found = {chosen: vertices for chosen, _, vertices in polytopes(requests(fig3))}
for chosen in [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
    names = "{" + ", ".join(str(j + 1) for j in chosen) + "}"
    print(
        f"I = {names:10}",
        *[f"({', '.join(map(str, v))})" for v in found.get(chosen, [])] or ["nothing"],
    )

# %% [markdown]
# Only $I = \{2\}$ works: both users get half of resource 2, $x = (3/4, 3/4)$. D's point $(2/3, 11/12)$ is outside of the
# region, since it would take $\tfrac23 \cdot \tfrac14 + \tfrac{11}{12} = \tfrac{13}{12}$ of resource 1.

# %%
over = F(2, 3) * F(1, 4) + F(11, 12)
print("load of resource 1 at (2/3, 11/12):", over)

# %%
ax = fa.plots.solution_set(fig3)
ax.set_title("Fig. 3: bounds by the resources")
mark = ax.plot(2 / 3, 11 / 12, "x", color="black")

# %% [markdown]
# ## Two users: rounding off the boundary (5.3, Fig. 4)
#
# Replace the region by a convex set with a smooth boundary. At a point of it there is one tangent,
# $\nu_1 x_1 + \nu_2 x_2 = 1$, which plays the part of the one full resource. Fairness becomes $\nu_i x_i \ge e_i$; both sides
# have the sum 1, so
#
# $$\nu_i x_i = e_i \quad \text{for every } i.$$
#
# Along the boundary from $x_1 = 0$ to $x_2 = 0$ the ratio $\nu_1 x_1 / \nu_2 x_2$ rises from 0 to $\infty$, so it is
# $e_1 / e_2$ at one point. As the smooth set approaches the region, this point approaches a fair allocation. For two users it
# is the only one.

# %%
ax = fa.plots.solution_set(fig3, levels=(12.0,))
title = ax.set_title("Fig. 4: a level set of f rounds off the corners")

# %% [markdown]
# ## Fig. 5: entitlements along one bound
#
# Two users request 2/3 of one resource each. With $e = (0.4, 0.6)$ the fair allocation is $(0.6, 0.9)$. For other
# entitlements it moves along the bound $\tfrac23 x_1 + \tfrac23 x_2 = 1$, until one user has all it requests. Where
# $e_2 > 2 e_1$, user 2 has $x_2 = 1$, and user 1 has the rest, which is more than its entitlement.

# %%
fig5 = fa.example("dolev-fig5").instance
ratios = [(F(k, 10), 1 - F(k, 10)) for k in range(1, 10)]
along = {e: solution_set(fig5.replace(weights=e), "njc").vertices[0] for e in ratios}
for (e_1, e_2), x in along.items():
    print(f"e = ({e_1}, {e_2})  x = ({x[0]}, {x[1]})")

# %%
ax = fa.plots.solution_set(fig5, entitlements=ratios)
title = ax.set_title("Fig. 5")

# %% [markdown]
# ## Any number of users: a function that grows towards the boundary (5.4, Fig. 6)
#
# Add a dummy resource for each user, which it alone requests: $r_{i, m' + i} = 1$ for $m'$ real resources. It is full where
# $x_i = 1$, so (2) needs no first case any more. With $m = m' + N$ and the slacks $s_j = 1 - \sum_k x_k r_{kj}$, D takes
#
# $$f(x) = - \sum_{j=1}^m \log s_j. \tag{5}$$
#
# Its level sets $f(x) = t$ are smooth, and tend to the boundary as $t$ grows. On each of them D looks for the point with
# $x_i \, \partial f / \partial x_i = c\, e_i$:
#
# $$f(x(t)) = t, \tag{11}$$
#
# $$x_i \sum_j \frac{r_{ij}}{s_j} = c(t)\, e_i. \tag{12}$$

# %%
ax = fa.plots.solution_set(fig3, levels=(0.5, 1.0, 2.0, 4.0, 8.0, 16.0), trajectory=True)
title = ax.set_title("Fig. 6: level sets, and the trajectory")

# %% [markdown]
# ## The differential equation
#
# Let $b_{ij} = r_{ij} / s_j$. The derivatives of (11) and (12) by $t$ are
#
# $$\sum_j \sum_k x_k' b_{kj} = 1, \qquad \sum_j b_{ij} \, x_i' + x_i \sum_j \sum_k b_{ij} b_{kj} \, x_k' = c' e_i. \tag{13}$$
#
# D prints the first without its sum over $j$, and the compact form of (13) with the sums over $k$ to $m$ and over $j$ to $N$;
# it is the other way round. Solve the second for $c' = 1$ and scale $x'$ to fulfil the first. In ten lines:

# %%
d = requests(fig3)
e = np.array(d.entitlement, dtype=float)
r = np.hstack([d.matrix(), np.eye(2)])  # the last two columns are the dummies


def velocity(_, x):
    """dx/dt by (11) and (13)."""
    b = r / (1 - x @ r)
    matrix = np.diag(b.sum(axis=1)) + x[:, None] * (b @ b.T)
    step = np.linalg.solve(matrix, e)
    return step / (b.sum(axis=1) @ step)


way = solve_ivp(velocity, (0, 20), np.zeros(2), method="DOP853", rtol=1e-9, atol=1e-12)
s = 1 - way.y[:, -1] @ r
print(
    "x(20) =",
    way.y[:, -1].round(9),
    " f =",
    -np.log(s).sum().round(6),
    " x_i sum_j r_ij / s_j / e_i =",
    (way.y[:, -1] * (r / s).sum(axis=1) / e).round(1),
)

# %% [markdown]
# The toolkit's integrator stops where the largest complaint is small; it then computes the exact solution next to the end.

# %%
toolkit = trajectory(d, accuracy=1e-6)
polished = fa.solve(fig3, "njc", "njc-ode")
print(toolkit.message)
print("x =", toolkit.x[-1].round(8), " polished", *polished.tasks_exact)

# %% [markdown]
# ## Where the trajectory ends
#
# D shows that a subsequence of $x(t)$ converges to a fair allocation (Lemmas 2 and 3). It leaves open whether all of $x(t)$
# does, and whether a fair allocation can be found in polynomial time. Divide (12) by $c\, x_i$:
#
# $$\frac{e_i}{x_i} = \sum_j p_j r_{ij}, \qquad p_j = \frac{1}{c\, s_j}. \tag{KKT}$$
#
# So $x(t)$ maximises $\sum_i e_i \log x_i + \frac1c \sum_j \log s_j$. It is the central path of the Eisenberg-Gale program
#
# $$\max \; \sum_i e_i \log x_i \quad \text{s.t. (1)}, \qquad x_i \le 1,$$
#
# with the barrier parameter $1/c$. Its optimum is unique, so all of $x(t)$ converges to it, and interior point methods find
# it to any accuracy in polynomial time. It is Nash bargaining, the market equilibrium where user $i$ has the money $e_i$.
#
# **It is fair.** At the optimum, (KKT) times $x_i$, summed over $i$, gives $\sum_j p_j = 1$, because only full resources have
# a price. So $e_i = \sum_j p_j \, x_i r_{ij}$ is an average of the $x_i r_{ij}$ over full resources. They cannot all be less
# than $e_i$. That is (2), and shorter than D's proof.

# %%
c = float((way.y[:, -1] * (r / s).sum(axis=1) / e).mean())
market = fa.market(fa.solve(fig3, "nb"))
p = (
    market.prices[0] / market.budgets.sum()
)  # the weights of the instance are 1 and 1, the money e_i are 1/2 and 1/2
print("prices of the path", (1 / (c * s))[:3].round(4), " of the market", p.round(4))

# %% [markdown]
# D 5.5 expects that weights in $f$ "could lead to other trajectories and other solutions". To other trajectories, yes; to
# other solutions, no: weights change the barrier, not the program.

# %%
segment = fa.example("dolev-segment").instance
ends = [
    trajectory(requests(segment), 1e-6, weighting=np.array([w, 1.0, 1, 1, 1])).x[-1]
    for w in (1, 5, 20)
]
print(np.round(ends, 6).tolist())

# %% [markdown]
# ## Several solutions (5.5)
#
# Here are the three users of 5.5: $r_1 = (1, 1)$, $r_2 = (0, 1)$, $r_3 = (1, 0)$ and $e = (0.5, 0.3, 0.2)$. Every
# $x = (z, 1 - z, 1 - z)$ with $0.5 \le z \le 0.7$ is fair. The trajectory ends at $z = 1/2$.

# %%
solutions = solution_set(segment, "njc")
print(solutions)

# %%
ax = fa.plots.solution_set(segment, trajectory=True)
title = ax.set_title("all fair allocations of three users")

# %% [markdown]
# ## Choosing among solutions
#
# D proposes to "select the specific solution that optimizes some other metric". In the greedy example, also a segment, the
# metrics disagree. The methods for a choice are a mixed-integer program and the enumeration of all $P_I$.

# %%
chosen = {
    name: fa.solve(greedy, "njc", objective=name).tasks_exact
    for name in ("utilisation", "sum", "min")
}
for name, x in chosen.items():
    loads = requests(greedy).loads(x)
    print(
        f"{name:12} x =",
        *x,
        f" mean load {float(sum(loads) / 3):.4f}, sum {float(sum(x)):.4f}, least "
        f"{float(min(x)):.4f}",
    )

# %% [markdown]
# ## The circle: six triangles
#
# Four users and four resources on a circle; user $i$ requests all of its own resource and of its two neighbours', so not that
# opposite. D names the solution $x_i = 1/3$ and "6 additional solutions" with two users at $1/4$ and two at $3/8$.

# %%
circle = fa.example("dolev-circle").instance
all_fair = solution_set(circle, "njc")
print(all_fair)

# %% [markdown]
# There are infinitely many. Let $S = \sum_i x_i$. Each resource is requested by all users but one, so its load is $S - x_k$
# for this user $k$. A full one has the smallest such $x_k = a$: $S = 1 + a$. There must be two such users at least, since one
# alone would request nothing that is full. The other two have $1 - a$ together, and everybody at least $1/4$. For each pair
# that is a triangle: one corner is $1/3$ for all; at the other two, one user has $1/2$ and the others have $1/4$. D's six are
# the midpoints of the far sides.

# %%
print("D's point is fair:", all_fair.contains((F(1, 4), F(1, 4), F(3, 8), F(3, 8))))
print("a corner is fair: ", all_fair.contains((F(1, 4), F(1, 4), F(1, 4), F(1, 2))))

# %% [markdown]
# Four users need four axes. Three are enough if we leave out the direction $(1, 1, 1, 1)$: the four corners are then those of
# a regular tetrahedron, and the triangles join its centre to its edges.

# %%
axes_3d = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
fig = plt.figure(figsize=(5, 4), layout="constrained")
ax = fig.add_subplot(projection="3d")
triangles = [np.array(piece.vertices, dtype=float) @ axes_3d.T for piece in all_fair.pieces]
ax.add_collection3d(Poly3DCollection(triangles, facecolor="C0", edgecolor="black", alpha=0.35))
for i in range(4):
    corner = np.where(np.arange(4) == i, 1 / 2, 1 / 4) @ axes_3d.T
    ax.text(*(1.2 * corner), f"$x_{i + 1} = 1/2$", ha="center")
ax.set(xlim=(-0.12, 0.12), ylim=(-0.12, 0.12), zlim=(-0.12, 0.12), box_aspect=(1, 1, 1))
ax.set_axis_off()
ax.view_init(elev=20, azim=15)

# %% [markdown]
# By utilisation the symmetric solution is the best: all four resources are full. Nearest to a wish for user 1 is a corner.

# %%
best = fa.solve(circle, "njc", objective="utilisation").tasks_exact
wish = fa.solve(circle, "njc", objective="closest", target=[1, 0, 0, 0]).tasks_exact
print("utilisation:", *best, "  closest to (1, 0, 0, 0):", *wish)

# %% [markdown]
# ## Claims of section 4 that are false
#
# **Strategyproofness.** With two users the allocation is unique and is the market's, which a user can manipulate. User 1
# needs $(16, 1)$ per task, user 2 needs $(1, 2)$, and there are 100 of each. User 1 reports $(16, 8)$:

# %%
true, reported = (fa.Instance([first, [1, 2]], [[100, 100]]) for first in ([16, 1], [16, 8]))
((before, _),), ((after, _),) = (
    solution_set(true, "njc").vertices,
    solution_set(reported, "njc").vertices,
)
print("user 1 runs", before, "tasks, and", after, "after the misreport")

# %% [markdown]
# **Envy-freeness.** Three users of one resource with equal entitlements; users 1 and 3 request all of it, user 2 requests
# 1/4. What user 2 leaves of its entitlement may go to user 3 alone. User 1 has its entitlement of a full resource, so no
# justified complaint; but it envies user 3. Where the trajectory ends there is no envy if entitlements are equal, because
# that is a market.

# %%
three = fa.Instance([[1], [1], [1]], [[1]], max_tasks=[None, "1/4", None])
print(solution_set(three, "njc"))
uneven = (F(1, 3), F(1, 4), F(5, 12))
print("fair:", solution_set(three, "njc").contains(uneven))
print(
    fa.check(
        fa.Allocation(three, [float(value) for value in uneven], x_exact=uneven), "envy-freeness"
    ).sentence
)

# %% [markdown]
# **Equivalence with DRF** where all users have the same dominant resource: it needs users who request at least their
# entitlement of it. User 1 requests 1/10 of one resource, users 2 and 3 request all of it.

# %%
little = fa.Instance([["1/10"], [1], [1]], [[1]], max_tasks=[1, 1, 1])
print(
    "NJC, corners:", *[f"({', '.join(map(str, v))})" for v in solution_set(little, "njc").vertices]
)
print("DRF:         ", f"({', '.join(map(str, fa.solve(little, 'drf', 'exact').tasks_exact))})")

# %% [markdown]
# Section 4 is right on the incentive for sharing and, for positive entitlements, on Pareto optimality. docs/papers/errata.md has
# the rest.

# %% [markdown]
# ## Checks

# %% tags=["checks"]
assert njc.tasks_exact == (F(1, 3), F(1, 3), F(5, 6))
assert drf.tasks_exact == (F(2, 5), F(2, 5), F(1, 2))
assert complaints(fig2, drf.tasks_exact) == [3]
assert used == {2: [F(3, 4), F(3, 4)], 3: [F(7, 10), F(11, 15)], 10: [F(7, 12), F(25, 36)]}
assert complaints(greedy, (F(1), F(2, 3), F(0))) == [2, 3]
assert complaints(greedy, (F(3, 4), F(1), F(0))) == [3]
assert solution_set(greedy, "njc").vertices == (
    (F(31, 32), F(5, 8), F(1, 8)),
    (F(59, 60), F(3, 5), F(2, 15)),
)
assert found == {(1,): [(F(3, 4), F(3, 4))]}
assert over == F(13, 12)
assert along[F(2, 5), F(3, 5)] == (F(3, 5), F(9, 10))
assert along[F(1, 10), F(9, 10)] == (F(1, 2), 1)
assert np.allclose(way.y[:, -1], 3 / 4, atol=1e-4)
assert np.abs(toolkit.x[-1] - 3 / 4).max() < 1e-5
assert polished.tasks_exact == (F(3, 4), F(3, 4))
assert np.allclose((1 / (c * s))[:3], p, atol=1e-3)
assert np.abs(np.array(ends) - 1 / 2).max() < 1e-5
assert solutions.vertices == ((F(1, 2), F(1, 2), F(1, 2)), (F(7, 10), F(3, 10), F(3, 10)))
assert chosen["sum"] != chosen["min"] == (F(59, 60), F(3, 5), F(2, 15))
assert (len(all_fair.pieces), all_fair.dimension, best) == (6, 2, (F(1, 3),) * 4)
assert wish == (F(1, 2), F(1, 4), F(1, 4), F(1, 4))
assert (before, after) == (F(100, 31), F(25, 6))
assert solution_set(three, "njc").contains(uneven)
assert solution_set(little, "njc").vertices == ((1, F(1, 3), F(17, 30)), (1, F(17, 30), F(1, 3)))
assert fa.solve(little, "drf", "exact").tasks_exact == (1, F(9, 20), F(9, 20))
assert list(requests(fig2).bottlenecks(njc.tasks_exact)) == [0]
assert njc.load.mean() > drf.load.mean()
assert complaints(greedy, (F(31, 32), F(5, 8), F(1, 8))) == []
assert solution_set(fig3, "njc").vertices == ((F(3, 4), F(3, 4)),)
assert all(sum(x) == F(3, 2) for x in along.values())
assert all(x == (F(1, 2), 1) and x[0] * F(2, 3) > e[0] for e, x in along.items() if e[1] > 2 * e[0])
assert np.isclose(p.sum(), 1)
assert len({chosen[name] for name in chosen}) > 1
assert all_fair.contains((F(1, 4), F(1, 4), F(3, 8), F(3, 8)))
assert {tuple(sorted(v)) for piece in all_fair.pieces for v in piece.vertices} == {
    (F(1, 3),) * 4,
    (F(1, 4), F(1, 4), F(1, 4), F(1, 2)),
}
assert all(len(piece.vertices) == 3 for piece in all_fair.pieces)
assert set(requests(circle).loads(best)) == {1}
assert not fa.check(fa.Allocation(three, [1 / 3, 1 / 4, 5 / 12]), "envy-freeness").holds
assert fa.check(fa.solve(three, "njc"), "envy-freeness").holds
