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
# # Checking theorems
#
# "Mechanism X has property Y." Is that so? The toolkit searches for a counterexample, confirms it in fractions, and makes it
# small. This notebook makes a claim of its own, follows the counterexample by hand, finds the hypothesis that saves the claim,
# and ends with the table of mechanisms and properties.

# %%
from collections import Counter
from fractions import Fraction

import fairalloc as fa
from fairalloc.theorems.matrix import comparison
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.laboratory import verify
from fairalloc.theorems.search.witnesses import changes, on_record, packaged

F = Fraction

# %% [markdown]
# ## A claim of one's own
#
# *More capacity hurts nobody.* If one unit is added to the first resource of the first server, no user should run fewer tasks.
# It sounds harmless. Is it true of dominant resource fairness?
#
# A property is a function of a case and an answer. `case.instance` is the instance; `answer` is the mechanism, a function from
# instances to allocations. The function returns a number that is positive where the property is violated: here the largest loss
# of a user. The tasks are fractions, so a violation is exact.


# %%
def loss_from_growth(case, answer):
    (first, *others), *servers = case.instance.exact.capacities
    larger = case.instance.replace(capacities=[[first + 1, *others], *servers])
    before, after = answer(case.instance).tasks_exact, answer(larger).tasks_exact
    return max(x - y for x, y in zip(before, after, strict=True))


growth = fa.claim(
    "more capacity hurts nobody",
    mechanism="drf",
    property=loss_from_growth,
    hypotheses="one server",
)
found = growth.search(time_limit=60, trials=60)
print(found)

# %% [markdown]
# The search draws cases that satisfy the hypotheses, climbs towards larger violations in floating point, and confirms what it
# finds in fractions. Then it takes out users, servers, resources and digits for as long as the violation stays confirmed. What
# it prints is code that runs by itself:

# %%
exec(found.code)

# %% [markdown]
# ### The witness by hand
#
# One server $(1, 1)$; user 1 demands $(0, 1)$, user 2 demands $(2, 1)$. DRF equalises the dominant shares
# $x_n \max_r d_{n,r} / c_r$.
#
# *Before.* A task of user 1 is $1$ of its dominant resource, the second. A task of user 2 is $\max(2/1, 1/1) = 2$ of the first.
# So $x_1 = 2 x_2$, and resource 2 allows $x_1 + x_2 = 1$: $x = (2/3, 1/3)$.
#
# *After.* With $c = (2, 1)$ a task of user 2 is only $\max(2/2, 1/1) = 1$. So $x_1 = x_2 = 1/2$.
#
# Nobody needed more of resource 1, for a third of it was left. But the addition makes user 2's dominant share smaller. So
# user 2 may have more of resource 2, and user 1 loses a sixth of a task.

# %%
d = ((F(0), F(1)), (F(2), F(1)))


def dominant_shares(x, c):
    return [
        x_n * max(d_r / c_r for d_r, c_r in zip(d_n, c, strict=True))
        for x_n, d_n in zip(x, d, strict=True)
    ]


def in_use(x):
    return [sum(x_n * d_n[r] for x_n, d_n in zip(x, d, strict=True)) for r in range(2)]


before, after = (F(2, 3), F(1, 3)), (F(1, 2), F(1, 2))
print("before: shares", *dominant_shares(before, (1, 1)), " in use", *in_use(before))
print("after:  shares", *dominant_shares(after, (2, 1)), " in use", *in_use(after))

# %% [markdown]
# The claim can be checked on a given case, too. A verdict has a sentence, a margin, and says how it was decided.

# %%
witness = fa.Case(fa.Instance([[0, 1], [2, 1]], [[1, 1]]))
verdict = growth.check(witness)
print(verdict.holds, verdict.sentence, "|", verdict.method)

# %% [markdown]
# ## Which hypothesis saves it?
#
# Does the claim hold for another mechanism, or under another hypothesis? LMMF makes the numbers of tasks lexicographically
# largest. It fails as well: on a server $(1/4, 1)$ users with $(1, 1)$ and $(0, 1)$ run $1/4$ and $3/4$ tasks, and on $(5/4,
# 1)$ half a task each. User 1 can use the addition only together with resource 2.

# %%
lmmf = fa.claim(
    "more capacity hurts nobody",
    mechanism="lmmf",
    property=loss_from_growth,
    hypotheses="one server",
)
quarter = fa.Case(fa.Instance([[1, 1], [0, 1]], [["1/4", 1]]))
print(lmmf.check(quarter).sentence)

# %% [markdown]
# With *positive demands* the search finds nothing:

# %%
positive = fa.claim(
    "more capacity hurts nobody", "lmmf", loss_from_growth, hypotheses="one server, positive"
)
unrefuted = positive.search(time_limit=60, trials=100)
print(unrefuted)

# %% [markdown]
# "Not refuted" is not "proved". Here a proof takes two lines. With one server and positive demands everybody demands the
# resource that is full first, so nobody rises after it, and all $x_n / \varphi_n$ are equal to
#
# $$g = \min_r \frac{c_r}{\sum_n \varphi_n d_{n,r}},$$
#
# which does not fall when a $c_r$ grows. $\square$

# %% [markdown]
# ## A claim about misreports
#
# Names of properties can be used instead of functions; `fa.claim_properties()` lists them, and a mechanism's id is its
# definition.

# %%
print(", ".join(list(fa.claim_properties())[:20]), "...")

# %% [markdown]
# Is LMMF strategyproof? A case now has a *misreport*: what some users say instead of the truth. Their gain is counted in true
# tasks.

# %%
lying = fa.claim(
    "LMMF is strategyproof", mechanism="lmmf", property="strategyproofness", hypotheses="everywhere"
)
caught = lying.search(time_limit=60, trials=100)
print(caught.status, "|", caught.verdict.sentence)
print(caught.case.code())

# %% [markdown]
# *By hand.* One unit of one resource, two users who need one unit for a task: half a task each. If user 1 says that it needs
# two units, LMMF gives both $1/3$ of a *reported* task, $x_1 \cdot 2 + x_2 = 1$. User 1 then holds $2/3$ of a unit, which is
# $2/3$ of a true task. Z Theorem 1 is about demands that sum to 1, and is true for them.

# %%
misreport = fa.Misreport(
    (0,), (((2,),),), (None,)
)  # user 1, one demand vector (2), the true servers
truth = fa.Case(fa.Instance([[1], [1]], [[1]]), misreport)
print(lying.check(truth).sentence)

# %% [markdown]
# ## The papers' claims
#
# Every claim of the five papers is a statement of this kind, with its place, its hypotheses, and a proof where one is known.
# Each has a status. *Proved* means by a proof in prose that somebody else has read, or by a case if the
# claim asserts only that one exists. *Proved by machine* is for all instances of some sizes. *Refuted* means by an exact
# case. The others are *not refuted* in so many trials, and *not decided*.

# %%
statements, record = all_statements(), packaged()
known = {name: on_record(item, record, again=False) for name, item in statements.items()}
for paper in "DKPWZ":
    count = Counter(
        found.status.value for name, found in known.items() if statements[name].paper == paper
    )
    print(f"{paper}: {', '.join(f'{number} {status}' for status, number in count.most_common())}")

# %%
envy = statements["P.T2.envy"]
print(envy.text, f"({envy.place}; {envy.hypotheses})")
print(envy.proof)

# %% [markdown]
# `verify` tries statements until its budget ends, and tells each result as it comes. On the command line it is `fairalloc
# theorems verify`, with `--paper`, `--status`, `--mechanism` and `--property` to choose; `fairalloc theorems show ID` prints
# all that is known of one. Four that are false as printed:

# %%
false = ("K.L3", "K.2.2.tsf.sharing", "P.T2.pareto", "Z.Cor1")
findings = verify(
    [statements[name] for name in false],
    time_limit=30,
    jobs=1,
    trials=10,
    tell=lambda found: print(f"{found.statement:18} {found.status}: {found.sentence}"),
)
news = [*changes(statements, findings, record)]
print("\nOtherwise than on record:", *(news or ["nothing"]))

# %% [markdown]
# ## The matrix
#
# All together: mechanisms against properties, one symbol a cell. `fairalloc matrix` draws it from the record, as text, HTML or
# LaTeX. Here cells of the papers' mechanisms take the papers' statements, with their proofs and with stored counterexamples,
# which are confirmed again first; a property of one's own is searched. Behind a symbol stand of which answers it speaks,
# where there are several, and the number of a note with the conditions.

# %%
table = fa.property_matrix(
    ["drfh", "lmmf"],
    ["sharing-incentive", "envy-freeness", "pareto", "strategyproofness", loss_from_growth],
    trials=40,
)
print(table)

# %% [markdown]
# Each cell names its statement, and behind every ✗, ⊗ and ± is a case. `findings[id].case.code()` rebuilds it.

# %%
cells = {(name, str(column)): cell for (name, column), cell in table.cells.items()}
fair = cells["envy-freeness", "lmmf"]
print(fair.symbol, fair.statement, "|", fair.note)
print(table.findings[fair.statement].case.code())

# %% [markdown]
# A parameter has columns for its families: K claims envy-freeness and sharing incentive of alpha-PF-VDS for $\alpha \ge 1$,
# and below they fail.

# %%
print(fa.property_matrix(["alpha-pf-vds"], ["envy-freeness", "sharing-incentive", "pareto"]))

# %% [markdown]
# A paper's own table beside ours: P's Table I.

# %%
printed = PRINTED["P.Table1"]
checked = fa.property_matrix(printed.mechanisms, printed.properties, trials=20)
print(comparison(printed, checked.statements, checked.findings).text())

# %% [markdown]
# ## A proof of one allocation
#
# A counterexample is only as good as the allocations in it. For mechanisms with rational answers these are proved: a
# certificate holds levels and prices in fractions, and checking it takes additions and comparisons, no solver.

# %%
instance = fa.example("khamse-fig1").instance
certificate = fa.certify(fa.solve(instance, "drfh", "exact"))
print(certificate)
print("verified:", certificate.verify(instance))

# %% [markdown]
# ## Checks

# %% tags=["checks"]
assert found.status == "refuted"
assert found.verdict.margin > 0
assert dominant_shares(before, (1, 1)) == [F(2, 3)] * 2
assert dominant_shares(after, (2, 1)) == [F(1, 2)] * 2
assert in_use(before) == [F(2, 3), 1]
assert in_use(after) == [1, 1]
assert verdict.holds is False
assert abs(verdict.margin - 1 / 6) < 1e-12
assert lmmf.check(quarter).margin == 1 / 4
assert unrefuted.status == "not refuted"
assert caught.status == "refuted"
assert lying.check(truth).holds is False
assert caught.verdict.holds is False
assert fa.solve(truth.instance, "lmmf", "exact").tasks_exact == (F(1, 2), F(1, 2))
assert fa.solve(truth.reported, "lmmf", "exact").tasks_exact == (F(1, 3), F(1, 3))
assert all(finding.status == "refuted" for finding in findings.values())
assert news == []
assert {row[0]: row[1:] for row in table.grid.rows}["loss_from_growth"][0] == "⊗"
assert (fair.symbol, fair.statement, fair.note) == (
    "±",
    "Z.P4",
    "✓ if one server, equal weights, simplex",
)
assert known["P.T2.envy"].status == "proved"
assert certificate.verify(instance)
assert fa.solve(quarter.instance, "lmmf", "exact").tasks_exact == (F(1, 4), F(3, 4))
assert lying.check(truth).margin > 0
assert {statements[name].paper for name in known} == set("DKPWZ")
assert all(
    table.findings[cell.statement].case is not None
    for cell in table.cells.values()
    if cell.symbol in "✗⊗±"
)
