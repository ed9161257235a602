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
# # LMMF and Nash bargaining: several ways to run a task
#
# This notebook works through **Z**: Zarchy, Hay, Schapira, *Capturing Resource Tradeoffs in Fair Multi-Resource Allocation*.
# A task may be run in several ways, such as with much CPU and little memory or the other way round. Z compares two
# mechanisms: lexicographic max-min fairness (LMMF) and Nash bargaining (NB). We compute both, reproduce Z's examples and its
# two tables, and show two steps of Z's proofs that fail, with true statements in their place. The letters are the paper's:
#
# | letter | meaning |
# | --- | --- |
# | $j \in N$, $r \in R$ | a user, a resource; $n$ users |
# | $C_r$ | how much there is of resource $r$: one pool |
# | $d_{jm}$, $m = 1, \dots, M_j$ | the demand vector of the $m$-th way to run a task of user $j$ |
# | $\alpha_{jm}$ | how many tasks user $j$ runs in this way |
# | $Y_j$ | the resources given to user $j$ |
# | $u_j(Y_j)$ | its utility: the most tasks it can run with them |

# %%
from fractions import Fraction as F

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa
from fairalloc.theorems.matrix import comparison
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import on_record, packaged

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## Utility: the best packing (Fig. 1)
#
# $$u_j(X) = \max_{\alpha \ge 0} \sum_m \alpha_m \quad \text{s.t.} \quad \sum_m \alpha_m d_{jm} \le X. \tag{1}$$
#
# In Fig. 1 a user has $X = (11, 11, 13)$ and three ways: $(1, 2, 1)$, $(0, 1, 3)$, $(2, 0, 2)$. With one user, the most tasks
# in all are its utility.

# %%
fig1 = fa.example("zarchy-fig1").instance
packing = fa.solve(fig1, "utilitarian", "exact")
print("alpha =", *packing.x_exact, " utility", *packing.tasks_exact)

# %% [markdown]
# Z prints 8.5, with $\alpha = (5, 1, 5/2)$. That packing fits, but 8.75 is possible, and prices prove that no more is. If
# every way costs at least 1 at the prices $p$, the utility is at most the cost of $X$.

# %%
p = [
    value / C
    for value, C in zip(
        fa.certify(fa.solve(fig1, "utilitarian", "exact")).proof.prices, (11, 11, 13), strict=True
    )
]
ways = [(1, 2, 1), (0, 1, 3), (2, 0, 2)]
print("p =", *p)
print("the ways cost", *[sum(a * b for a, b in zip(way, p, strict=True)) for way in ways])
print("X costs", sum(a * b for a, b in zip((11, 11, 13), p, strict=True)))

# %% [markdown]
# ## Max-min fairness, and why it is not enough (Examples 1 and 2)
#
# $$\max \; t \quad \text{s.t.} \quad u_j(Y_j) \ge t \;\; \forall j, \qquad \sum_j Y_j \le C. \tag{2}$$
#
# In Example 1 there are 6 units of three resources; each user has two ways, and both run 3 tasks.

# %%
ex1 = fa.example("zarchy-ex1").instance
both = fa.solve(ex1, "mmf", "exact")
print("alpha of user 1:", *both.x_exact[:2], " of user 2:", *both.x_exact[2:])

# %% [markdown]
# In Example 2 user 1 needs $(1, 0, 0)$ and user 2 needs $(0, 1/2, 1/2)$, of one unit each. User 1 cannot have more than one
# task, so $t = 1$, and (2) is content with one task for user 2, too. LMMF goes on: among the allocations with the largest
# smallest utility it takes those with the largest second smallest, and so on.

# %%
ex2 = fa.example("zarchy-ex2").instance
poor = fa.Allocation(ex2, [1, 1])
for name in ("mmf", "lmmf", "pareto"):
    print(f"{name:7}", fa.check(poor, name).sentence)

# %%
fair2 = fa.solve(ex2, "lmmf", "exact")
print("LMMF: utilities", *fair2.tasks_exact)

# %% [markdown]
# Figs. 2 and 3: what each user gets of each resource.

# %%
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
shown = {
    "Fig. 2: Example 1": both,
    "Fig. 3: Example 2, LMMF": fair2,
    "Fig. 3: Example 2, MMF": poor,
}
for ax, (title, allocation) in zip(axes, shown.items(), strict=True):
    fa.plots.allocation(allocation, ax=ax).set_title(title, pad=26)

# %% [markdown]
# ## The iteration of LMMF (III-A)
#
# Write $\langle Y \rangle$ for the utilities in increasing order. LMMF is the allocation whose $\langle Y \rangle$ is
# lexicographically largest. Z computes it in iterations. In iteration $t$ the users in $p_1, \dots, p_{t-1}$ keep their
# levels, and a linear program raises all others together to $a_t$. Those who cannot have more without taking from others form
# $p_t$.
#
# Each iteration needs two linear programs: the level, and the most a user could have.

# %%


def common_level(instance, level):
    """a_t: users in `level`, {user: utility}, have exactly that; the others are raised together."""
    x, constraints = fa.cvxpy_tasks(instance)
    u, t = instance.arcs.owner @ x, cp.Variable()
    constraints += [u[j] == level.get(j, t) for j in range(instance.N)]
    return cp.Problem(cp.Maximize(t), constraints).solve(solver=cp.HIGHS)


def most(instance, j, least):
    """The largest utility of user j while every user k in `least` has at least least[k]."""
    x, constraints = fa.cvxpy_tasks(instance)
    u = instance.arcs.owner @ x
    constraints += [u[k] >= value for k, value in least.items() if k != j]
    return cp.Problem(cp.Maximize(u[j]), constraints).solve(solver=cp.HIGHS)


def iterate(instance):
    """The iterations of LMMF, with the test that protects everybody."""
    level = {}
    while len(level) < instance.N:
        a = common_level(instance, level)
        now = {j: level.get(j, a) for j in range(instance.N)}
        stopped = [j for j in now if j not in level and most(instance, j, now) <= a + 1e-7]
        print(f"a = {a:.6g}, p = {{{', '.join(str(j + 1) for j in stopped)}}}")
        level |= dict.fromkeys(stopped, a)
    return level


# %% [markdown]
# Z's example has $C = (1, 1, 1, 1)$ and three users with the ways $(1/2, 1/2, 0, 0)$; $(0, 1/2, 1/2, 0)$; and
# $(1/2, 0, 1/2, 0)$ or $(0, 0, 0, 1)$.

# %%
example = fa.example("zarchy-rounds").instance
levels = iterate(example)

# %% [markdown]
# ## Prices of the iterations
#
# Each iteration has a proof by prices. Let user $j$'s cheapest way cost $q_j = \min_m \sum_r p_r d_{jm}^r$. All tasks are
# paid for, so $\sum_j q_j u_j \le \sum_r p_r C_r$ in every feasible allocation. Prices that leave no excess show that a user
# with $q_j > 0$ cannot have more unless somebody with at most its level has less.

# %%
rounds = fa.certify(fa.solve(example, "lmmf", "exact")).rounds
for k, part in enumerate(rounds, 1):
    print(
        f"iteration {k}: a = {part.level}, p = {[j + 1 for j in part.users]}, prices",
        *part.prices,
        " q =",
        *part.worth,
    )

# %% [markdown]
# Iteration 1: resource 2 is the bottleneck. At the price 1 the tasks of users 1 and 2 cost 1/2 each, so
# $u_1 / 2 + u_2 / 2 \le 1$, and they cannot both have more than $a_1 = 1$.
#
# Iteration 2: resources 1 and 4 have the prices 2 and 1. Now $1 \cdot u_1 + 0 \cdot u_2 + 1 \cdot u_3 \le 3$, and with
# $u_1 = 1$ user 3 has at most $a_2 = 2$. The toolkit draws the levels:

# %%
lmmf = fa.solve(example, "lmmf", "exact")
ax = fa.plots.rounds(lmmf)

# %% [markdown]
# ## A slip in the printed iteration
#
# From iteration 2 on Z tests whether a user can have more "without decreasing the utility of users in $p_i$ for $i < t$".
# That protects earlier users alone. With $C = (1, 3)$, user 1 with $(1, 0)$ and users 2 and 3 with $(0, 1)$, iteration 2
# raises users 2 and 3 to 3/2. By the printed test each can still have more, at the cost of the other. Nobody is placed, and
# the iteration repeats for ever.

# %%
shared = fa.Instance([[1, 0], [0, 1], [0, 1]], [[1, 3]])
placed = {0: 1.0}
a_2 = common_level(shared, placed)
by_print = [most(shared, j, placed) for j in (1, 2)]
by_first_test = [most(shared, j, {0: 1.0, 1: a_2, 2: a_2}) for j in (1, 2)]
print(
    "a_2 =",
    a_2,
    " could have by the printed test",
    np.round(by_print, 6),
    " by the test of iteration 1",
    np.round(by_first_test, 6),
)

# %% [markdown]
# With the test of iteration 1, which protects everybody, the iteration ends with LMMF (Proposition 3).

# %%
shared_levels = iterate(shared)

# %% [markdown]
# ## Pivot users: Claim 2 and Corollary 1
#
# A pivot user of $Y$ with respect to $Y'$ has the lowest utility in $Y$ among those whose utility differs. Claim 2 says, for
# pivots $i$ of $Y$ and $j$ of $Y'$,
#
# $$\langle Y' \rangle \succ \langle Y \rangle \iff u_j(Y'_j) > u_i(Y_i).$$
#
# Two users of one resource, $C = 1$, demands 1: the utilities $(1/2, 0)$ and $(0, 1)$. Both pivots have 0, and yet the second
# is lexicographically larger: it has 1 where the first has 1/2.

# %%


def pivots(y, other):
    """The users with the lowest utility in y among those who have another one in `other`."""
    differ = [j for j in range(len(y)) if y[j] != other[j]]
    return [j for j in differ if y[j] == min(y[k] for k in differ)]


y, y_ = (F(1, 2), F(0)), (F(0), F(1))
print("pivots of Y:", [j + 1 for j in pivots(y, y_)], " of Y':", [j + 1 for j in pivots(y_, y)])
print(
    "<Y'> > <Y>:",
    sorted(y_) > sorted(y),
    "  u_j(Y'_j) > u_i(Y_i):",
    y_[pivots(y_, y)[0]] > y[pivots(y, y_)[0]],
)

# %% [markdown]
# Corollary 1 says: if a pivot user of $Y$ has more in $Y'$, then $Y$ is not LMMF. But there may be several pivot users, and
# another one may lose. $Y = (1/2, 1/2)$ is LMMF; in $Y' = (0, 1)$ user 2, a pivot, has more.

# %%
equal, unequal = (F(1, 2), F(1, 2)), (F(0), F(1))
one_resource = fa.Instance([[1], [1]], [[1]])
print(
    "pivots of Y:",
    [j + 1 for j in pivots(equal, unequal)],
    " LMMF is",
    *fa.solve(one_resource, "lmmf", "exact").tasks_exact,
)

# %% [markdown]
# Both cases were found by the toolkit's search for counterexamples, and are on record. True is: a larger pivot makes
# $\langle Y' \rangle$ larger ("if"), and if *all* pivots of $Y$ have more in $Y'$, then $Y$ is not LMMF. Z's Theorem 1 is
# true all the same; `fairalloc theorems show Z.T1` has another proof.

# %%
statements = {name: item for name, item in all_statements().items() if name.startswith("Z.")}
record = packaged()
findings = {
    name: found
    for name, item in statements.items()
    if (found := on_record(item, record)) is not None
}
for name in ("Z.C2", "Z.C2.if", "Z.Cor1", "Z.Cor1.all"):
    print(f"{name:10} {findings[name].status:8} {statements[name].text}")

# %% [markdown]
# ## Nash bargaining
#
# NB maximises the product of the utilities,
#
# $$\max \; \sum_j \log \sum_m \alpha_{jm} \quad \text{s.t.} \quad
# \sum_{j, m} \alpha_{jm} d_{jm} \le C, \quad \alpha \ge 0. \tag{3}$$
#
# This is convex. With prices $p_r \ge 0$ for the capacities, the KKT conditions are
#
# $$\frac{1}{u_j} \le \sum_r p_r d_{jm}^r \quad \text{with equality where } \alpha_{jm} > 0, \qquad
# p_r \Big(C_r - \sum_{j, m} \alpha_{jm} d_{jm}^r\Big) = 0.$$
#
# So $1 / u_j = q_j$, the price of user $j$'s cheapest way. It spends $q_j u_j = 1$, the same for everybody, and runs as many
# tasks as that buys: NB is the market equilibrium from equal incomes (CEEI, Proposition 5).

# %% [markdown]
# In Z's example $C = (8, 8)$, user 1 has $(5, 1)$ or $(2, 2)$, user 2 has $(1, 4)$ or $(2, 2)$. Both take $(2, 2)$ and run
# two tasks.

# %%
bargain = fa.example("zarchy-nb").instance
nash = fa.solve(bargain, "nb")
market = fa.market(nash)
print("alpha =", nash.x.round(6) + 0.0, " utilities", nash.tasks.round(6))
print("prices", market.prices.round(6)[0], " spending", market.spending.round(6))

# %% [markdown]
# The prices are not unique here: $2 p_1 + 2 p_2 = 1/2$, and the other ways must not be cheaper, $5 p_1 + p_2 \ge 1/2$ and
# $p_1 + 4 p_2 \ge 1/2$. So any $1/16 \le p_1 \le 1/6$ will do, with $p_2 = 1/4 - p_1$.
#
# The market proves three properties at once. At these prices all resources cost $n$, one for each user:
#
# * **envy-freeness**: $j$ could buy the bundle of $k$, which costs 1 as well, and buys the best bundle instead;
# * **sharing incentive**: $C / n$ costs 1, too;
# * **Pareto optimality**: the logarithms increase.
#
# LMMF has no such market: it makes utilities equal, whatever they cost.

# %% [markdown]
# ## Proposition 4 (Example 3): LMMF is not envy-free
#
# One resource, $C = 1$; a task of user 1 takes 1, one of user 2 takes 1/2. LMMF gives both 2/3 tasks, so user 1 holds 2/3 and
# user 2 holds 1/3, and user 2 envies user 1. NB divides the resource equally.

# %%
ex3 = fa.example("zarchy-ex3").instance
for name in ("lmmf", "nb"):
    allocation = fa.solve(ex3, name)
    print(f"{name:5}", allocation.tasks.round(6), fa.check(allocation, "envy-freeness").sentence)

# %% [markdown]
# ## Proposition 6: LMMF is not strategyproof
#
# In Example 3 user 2 reports that its tasks take 1. Then the resource is divided equally, and half of it runs 1 of its true
# tasks instead of 2/3.

# %%
lied = fa.solve(fa.Instance([[1], [1]], [[1]]), "lmmf", "exact")
print(
    "user 2 gets",
    lied.tasks_exact[1],
    "of the resource, worth",
    lied.tasks_exact[1] / F(1, 2),
    "true task",
)

# %% [markdown]
# ## Proposition 7: NB is not strategyproof
#
# $C = (1, 1)$; user 1 needs $(2/3, 1/3)$, user 2 needs $(1/4, 3/4)$. Guess that both resources are full:
# $\tfrac23 u_1 + \tfrac14 u_2 = 1$ and $\tfrac13 u_1 + \tfrac34 u_2 = 1$ give $u = (6/5, 4/5)$. The KKT conditions are
# $\tfrac23 p_1 + \tfrac13 p_2 = 5/6$ and $\tfrac14 p_1 + \tfrac34 p_2 = 5/4$, so $p = (1/2, 3/2)$: not negative, so the guess
# is right.

# %%
prop7 = fa.example("zarchy-prop7").instance
truthful = fa.solve(prop7, "nb")
print("utilities", truthful.tasks.round(6), " prices", fa.market(truthful).prices.round(6)[0])
print(fa.certify(truthful))

# %% [markdown]
# In the plane of the two utilities NB is the point of the region where the product is largest; LMMF is on the diagonal.

# %%
ax = fa.plots.feasible_region(prop7, points={"NB": truthful, "LMMF": fa.solve(prop7, "lmmf")})
u_1 = np.linspace(0.7, 1.5, 50)
curve = ax.plot(u_1, truthful.tasks.prod() / u_1, color="black", linewidth=0.8)

# %% [markdown]
# If user 2 reports $(1/3, 2/3)$, it receives $Y_2 = (1/3, 2/3)$. That runs $\min(\tfrac{1/3}{1/4}, \tfrac{2/3}{3/4}) = 8/9$
# of its true tasks, more than 4/5. Z prints 0.83 for 8/9.

# %%
reported = fa.Instance([["2/3", "1/3"], ["1/3", "2/3"]], [[1, 1]])
got = fa.solve(reported, "nb").used[1, 0]
print("user 2 receives", got.round(6), "worth", round(float(min(got / [1 / 4, 3 / 4])), 6), "tasks")

# %% [markdown]
# ## Proposition 8: LMMF has no sharing incentive
#
# $C = (1, 1, 1)$; user 1 needs $(0, 1, 0)$, user 2 needs $(1, 0, 0)$ or $(0, 1/2, 1/2)$. Half of everything is worth
# $1/2 + 1 = 3/2$ tasks to user 2. LMMF gives resource 2 to user 1 and one task to user 2. Z prints $u_2(Y_2) = 1/2$, but
# $Y_2 = (1, 0, 0)$ runs one task. The proposition stands: $1 < 3/2$.

# %%
prop8 = fa.example("zarchy-prop8").instance
kept = fa.solve(prop8, "lmmf", "exact")
no_incentive = fa.check(kept, "sharing-incentive")
print("utilities", *kept.tasks_exact, "-", no_incentive.sentence)

# %% [markdown]
# ## Z's first table: unrestricted demands (IV)
#
# What Z prints, beside what the toolkit has on record: violations confirmed in rationals, proofs, and how many cases a search
# tried where there is no proof. "polynomial-time" is Z's "computationally efficient", "leximin" its last but one column.

# %%
table_1 = comparison(PRINTED["Z.Table1"], statements, findings)
table_1

# %% [markdown]
# ## Z's second table: linear tradeoffs (V)
#
# Let all demand vectors have the sum 1. Then LMMF is envy-free and strategyproof. The reason is Lemma 4: a bundle that is a
# mixture of demand vectors has the sum $u_j(Y_j)$, and nobody can pack more tasks into it than its sum. Example 3 is
# excluded, since $D_2 = \{(1/2)\}$ has the sum 1/2.

# %%
table_2 = comparison(PRINTED["Z.Table2"], statements, findings)
table_2

# %% [markdown]
# ### What the theorems of V assume
#
# Definition 1 looks at utilities alone. So an allocation may be LMMF and give unused resources to somebody, and then Lemma 4
# fails. User 1 needs $(1, 0)$, user 2 needs $(2/5, 3/5)$. Both run 5/7 tasks and 4/7 of resource 2 is left. If user 1 is
# given that, user 2 envies it.

# %%
simplex = fa.Instance([[1, 0], ["2/5", "3/5"]], [[1, 1]])
lean = fa.solve(simplex, "lmmf", "exact")
bundles = lean.used.copy()
bundles[0, 0, 1] += 1 - lean.used[:, 0, 1].sum()
generous = fa.Allocation(simplex, lean.x, bundles=bundles)
print(fa.check(lean, "envy-freeness").sentence)
print(fa.check(generous, "envy-freeness").sentence)

# %% [markdown]
# So Theorems 1 and 2 are about allocations that hand out nothing unused. Two more sentences are too strong. If a manipulator
# gains, "there must exists another manipulator user that is worse off" (after Theorem 1). The results for LMMF "hold even if
# each user has a different function $f$" (VI). The record has their counterexamples as code that builds each case.

# %%
for name in ("Z.T1.GSP.strict", "Z.VI.EF"):
    print(f"{name}: {statements[name].text}\n{findings[name].case.code()}\n")

# %% [markdown]
# ## Checks

# %% tags=["checks"]
assert packing.x_exact == (F(31, 6), F(2, 3), F(35, 12))
assert packing.tasks_exact == (F(35, 4),)  # Z prints 8.5
assert p == [F(1, 4)] * 3
assert both.x_exact == (1, 2, 2, 1)
assert fair2.tasks_exact == (1, 2)
assert fa.check(poor, "mmf").holds
assert not fa.check(poor, "lmmf").holds
assert np.allclose(list(levels.values()), [1, 1, 2])
assert lmmf.tasks_exact == (1, 1, 2)
assert [(part.level, part.prices) for part in rounds] == [(1, (0, 1, 0, 0)), (2, (2, 0, 0, 1))]
assert np.allclose(by_print, 3)
assert np.allclose(by_first_test, a_2)
assert np.allclose(list(shared_levels.values()), [1, 1.5, 1.5])
assert {findings[name].status for name in ("Z.C2", "Z.Cor1", "Z.P3")} == {"refuted"}
assert {findings[name].status for name in ("Z.C2.if", "Z.Cor1.all", "Z.P3.true")} == {"proved"}
assert np.allclose(nash.tasks, 2, atol=1e-6)
assert np.allclose(market.spending, 1, atol=1e-6)
assert fa.solve(ex3, "lmmf", "exact").tasks_exact == (F(2, 3), F(2, 3))
assert np.allclose(fa.solve(ex3, "nb").tasks, [1 / 2, 1])
assert np.allclose(truthful.tasks, [6 / 5, 4 / 5])
assert np.allclose(fa.market(truthful).prices, [[1 / 2, 3 / 2]], atol=1e-5)
assert abs(min(got / [1 / 4, 3 / 4]) - 8 / 9) < 1e-6  # Z prints 0.83
assert (kept.tasks_exact, no_incentive.witness["better"]) == (
    (1, 1),
    F(3, 2),
)  # Z prints 1/2 for user 2
assert not any(
    "DISAGREES" in cell for table in (table_1, table_2) for row in table.rows for cell in row
)
assert lean.tasks_exact == (F(5, 7), F(5, 7))
assert fa.check(lean, "envy-freeness").holds
assert not fa.check(generous, "envy-freeness").holds
assert (np.array([5, 1, 5 / 2]) @ np.array(ways) <= (11, 11, 13)).all()  # Z's packing
assert both.tasks_exact == (3, 3)
assert y_[pivots(y_, y)[0]] == y[pivots(y, y_)[0]] == 0
assert sorted(y_) > sorted(y)
assert 1 in pivots(equal, unequal)
assert fa.solve(one_resource, "lmmf", "exact").tasks_exact == equal
assert findings["Z.T1"].status == "proved"
assert np.allclose(nash.x, [0, 2, 0, 2], atol=1e-5)
assert np.isclose(market.prices.sum(), 1 / 4)
assert 1 / 16 <= market.prices[0, 0] <= 1 / 6
assert [fa.check(fa.solve(ex3, name), "envy-freeness").holds for name in ("lmmf", "nb")] == [
    False,
    True,
]
assert lied.tasks_exact == (F(1, 2), F(1, 2))
assert np.allclose(got, [1 / 3, 2 / 3])
assert np.isclose(1 - lean.used[:, 0, 1].sum(), 4 / 7)
assert {findings[name].status for name in ("Z.T1.GSP.strict", "Z.VI.EF")} == {"refuted"}
assert np.ptp(fa.solve(prop7, "lmmf").tasks) < 1e-6
