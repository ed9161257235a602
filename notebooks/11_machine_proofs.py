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
# # Proofs by machine
#
# A search that finds no counterexample proves nothing. A solver of formulas over the reals can. The formula says "this is an
# instance of two users, two servers and two resources, this is the mechanism's answer, and the property is violated". Every
# number is an unknown. If the formula is unsatisfiable, the property holds for **all** instances of this size. This notebook
# proves some claims, writes one such formula by hand, lets the solver refute a claim, and shows what such a proof is worth.
#
# It needs the solver z3: `pip install 'fairalloc[smt]'`.

# %%
from fairalloc.solvers.method import now
from fairalloc.theorems.registry import all_statements, statement
from fairalloc.theorems.smt.claims import questions, smallest_size
from fairalloc.theorems.smt.prove import prove
from fairalloc.theorems.smt.reals import Question, ask, real
from fairalloc.theorems.smt.record import machine_line, recorded

# %% [markdown]
# ## A claim, proved
#
# *PS-DSF provides sharing incentive* (P Theorem 2), for all demands, zeros among them, all capacities, weights and placement
# constraints. On the command line this is `fairalloc theorems prove P.T2.sharing --size 2x2x2`.

# %%
sharing = prove(statement("P.T2.sharing"), (2, 2, 2), time_limit=30)
print(sharing.sentence, f"({sharing.patterns} patterns, {', '.join(sharing.solvers)})")

# %% [markdown]
# A *pattern* says who may run where and who demands what; there are 25 of two users, servers and resources, up to the names of
# servers and resources. For each the solver was asked once.
#
# Which assumptions were needed? The unsatisfiable core names them.

# %%
core = prove(statement("P.T2.sharing"), (2, 2, 2), time_limit=30, core=True)
print(core.needed)

# %% [markdown]
# ## The formula by hand
#
# One server and two users of one resource are enough to see how it is written. What makes such formulas easy or hopeless is the
# choice of units. Count the tasks of user $n$ so that $x_n = \varphi_n$, and let $g_n = \gamma_n$ be the tasks that it could run
# alone, $y_n = x_n / \gamma_n$ the part of the server that it has. Then its share is $x_n / (\varphi_n \gamma_n) = 1 / g_n$, and
#
# $$g_n y_n = \varphi_n, \qquad y_1 + y_2 \le 1.$$
#
# PS-DSF: the resource is full, and nobody who uses it has a larger share. User 1 has less than its part of the server if
# $g_1 > \varphi_1 + \varphi_2$.

# %%
g, y, phi = ([real(f"{letter}{n}") for n in (1, 2)] for letter in ("g", "y", "phi"))
instance = [v > 0 for v in (*g, *y, *phi)] + [g[n] * y[n] == phi[n] for n in range(2)]
full, equal_shares, less = [y[0] + y[1] == 1], [g[0] == g[1]], [g[0] > phi[0] + phi[1]]

by_hand = ask(
    Question("", {"instance": instance, "full": full, "equal shares": equal_shares}, less),
    now() + 10,
)
print(by_hand.outcome)

# %% [markdown]
# Without $g_1 = g_2$, that is without equal shares, there is an instance:

# %%
numbers = {str(v): v for v in (*g, *y, *phi)}
without = ask(Question("", {"instance": instance, "full": full}, less, data=numbers), now() + 10)
print(without.outcome, {name: str(value) for name, value in without.values.items()})

# %% [markdown]
# The package writes the formula of any pattern in the same letters (theorems/smt/game.py).

# %%
asked, _ = questions(statement("P.T2.sharing"), smallest_size(statement("P.T2.sharing")))
question = next(asked)
print(question.pattern)
for name, formulas in question.assumptions.items():
    print(f"{name}: {len(formulas)} formulas, such as {' '.join(str(formulas[0]).split())[:90]}")
print("violation:", question.violation)

# %% [markdown]
# ## All $\alpha$ at once
#
# K Theorem 3 is about $\alpha \ge 1$. A power $g^\alpha$ is no polynomial. But all that the proof needs of $f(g) = A^\alpha
# g^\alpha + B g$ is that it rises, and that $f(g) / g$ does not fall. With that in the place of powers, one proof serves every
# $\alpha_i \ge 1$ and all $A_i$, $B_i$, different ones for each server.

# %%
every_alpha = prove(statement("K.C2.envy"), time_limit=30)
print(every_alpha.sentence, "for", every_alpha.covers)

# %% [markdown]
# ## Misreports
#
# Two answers now: to the truth and to the report, with any other demands and any other servers.

# %%
misreports = prove(statement("P.II-A.misreports"), time_limit=30)
print(misreports.sentence)

# %% [markdown]
# ## A claim, refuted
#
# DRFH does not provide sharing incentive (W Proposition 4). The formula is satisfiable; its solution is an instance, and the
# instance counts only because the package's own exact answer violates the property there.

# %%
refuted = prove(statement("W.P4"), time_limit=30)
print(refuted.sentence)
print(refuted.case.code())

# %% [markdown]
# ## What a proof is worth
#
# A set of assumptions that contradict each other proves everything. So the assumptions alone must be satisfiable, and a proof
# must break when one that it needs is left out.

# %%
alone = ask(Question("", question.assumptions, []), now() + 10)
rest = {name: formulas for name, formulas in question.assumptions.items() if name != "bottlenecks"}
unproved = ask(Question("", rest, question.violation), now() + 10)
print("assumptions alone:", alone.outcome, "| violation without bottlenecks:", unproved.outcome)

# %% [markdown]
# And it is a proof for one size. Larger sizes are other proofs; a proof in words is for all. That the statement's own proof and
# the machine agree, on the sizes that both cover, is a check of both.
#
# ## The record
#
# All that was proved is kept with its time; `fairalloc theorems show ID` prints it beside the statement.

# %%
statements = all_statements()
kept = {
    name: items
    for name, items in recorded().items()
    if any(item["verdict"] == "proved" for item in items)
}
print(
    len(kept),
    "statements are proved by machine, of these",
    sum(bool(statements[name].proof) for name in kept),
    "in words, too",
)
for name in ("K.T3.sharing", "P.II-B.tsf.misreports", "W.P3", "Z.P5.EF", "D.S5.3.unique"):
    for item in kept[name]:
        print(f"{name}: {statements[name].text}\n    {machine_line(item)}")

# %% [markdown]
# ## Checks

# %% tags=["checks"]
assert sharing.verdict == every_alpha.verdict == misreports.verdict == "proved"
assert sharing.patterns == 25
assert "bottlenecks" in core.needed
assert by_hand.outcome == "unsat"
assert without.outcome == "sat"
assert without.values["g1"] > without.values["phi1"] + without.values["phi2"]
assert refuted.verdict == "refuted"
assert statement("W.P4").violated(refuted.case).holds is False
assert alone.outcome == unproved.outcome == "sat"
assert len(kept) >= 40
assert all(statements[name].quantifier == "all" for name in kept)
assert len([*questions(statement("P.T2.sharing"), (2, 2, 2))[0]]) == 25
