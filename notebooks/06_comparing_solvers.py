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
# # Comparing solvers
#
# A mechanism is a definition; a *method* computes it. This notebook compares the claims of methods, the truth, and how long
# they take. It adds a solver of your own, and summarises many runs without misleading the reader.

# %%
import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from scipy.optimize import linprog

import fairalloc as fa
from fairalloc import benchmarks
from fairalloc.solvers import methods_for

# %% [markdown]
# ## One instance, every method
#
# Three facts about an answer are kept apart:
#
# - the **claim**: why the method stopped, `termination`;
# - the **truth**: `residual`, how infeasible the tasks are and how far from the mechanism's definition, computed from the
#   instance;
# - the **time**: of writing the model, compiling it, solving, and reading the answer; here the median of three solves.

# %%
servers = fa.example("khamse-fig1").instance
for method in methods_for(fa.mechanism("drfh"), servers):
    runs = [fa.solve(servers, "drfh", method.id) for _ in range(3)]
    milliseconds = 1000 * median(run.times.total for run in runs)
    found = runs[0]
    print(
        f"{method.id:17} {found.termination:11} residual {found.residual:.0e}  "
        f"{milliseconds:8.2f} ms"
    )

# %% [markdown]
# A method that stops early and says so is no failure of honesty, as long as its claim and its residual agree.
#
# ## A solver of your own
#
# A method is a function of an instance, a mechanism and limits. It returns tasks on the arcs `instance.arcs`, the pairs of a
# user and a server that it may use. This one solves the linear program that defines DRFH in W (6) with SciPy. With the global
# dominant share $\sigma_n = \max_r d_{nr} / \sum_i c_{ir}$ of a task,
#
# $$\max\; g \quad \text{s.t.} \quad \sum_n d_{nr} x_{ni} \le c_{ir},
# \qquad \frac{\sigma_n}{\varphi_n} \sum_i x_{ni} \ge g, \qquad x \ge 0.$$


# %%
@fa.method(mechanisms=["drfh"])
def one_program(instance, mechanism, limits):  # noqa: ARG001
    arcs = instance.arcs
    sigma = np.array([max(d[0] / instance.totals) for d in instance.demands])
    rising = -(sigma / instance.weights)[:, None] * arcs.owner.toarray()
    rows = np.vstack(
        [
            np.c_[arcs.load.toarray(), np.zeros(instance.K * instance.R)],
            np.c_[rising, np.ones(instance.N)],
        ]
    )
    sides = np.r_[np.ones(instance.K * instance.R), np.zeros(instance.N)]
    return linprog(np.r_[np.zeros(len(arcs)), -1.0], A_ub=rows, b_ub=sides).x[:-1]


# %% [markdown]
# On W Fig. 2 it is right. On K Fig. 1 it is not: there DRFH needs a second round, in which users 3 and 4 go on where users 1 and
# 2 cannot. The residual decides, not the function.

# %%
wang = fa.example("wang-fig2").instance
right, wrong = fa.solve(wang, "drfh", one_program), fa.solve(servers, "drfh", one_program)
for found in (right, wrong):
    print(found.tasks.round(4), found.termination, f"residual {found.residual:.0e}")

# %% [markdown]
# And here is a method that does nothing but claim success: everybody gets an equal part of every server.


# %%
@fa.method(mechanisms=["drfh"])
def too_soon(instance, mechanism, limits):  # noqa: ARG001
    return instance.arcs.gamma / instance.N


# %% [markdown]
# ## A suite
#
# A suite is a list of cases: a name, a mechanism, and a function that builds the instance. `run` solves every case with every
# method that computes its mechanism. Each solve has its own process, with limits on time and memory. Repeats are interleaved,
# so that a slow minute of the machine meets all methods. Every solve is a record, written before the next one starts, and a
# stopped run goes on where it was.

# %%
cases = [
    benchmarks.SuiteCase(f"{family.__name__}-{size}", mechanism, partial(family, size, 3, 2, seed))
    for seed, (mechanism, family, size) in enumerate(
        [
            ("drfh", fa.generators.generic, 8),
            ("drfh", fa.generators.placement, 12),
            ("drfh", fa.generators.racks, 16),
            ("nb", fa.generators.tied, 12),
        ]
    )
]
suite = benchmarks.Suite("mine", "four small cases", tuple(cases))
methods = ["highs:leximin", "cvxpy:clarabel", "cvxpy:scs", "pdhg", one_program, too_soon]
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "mine.sqlite"
    summary = benchmarks.run(
        suite,
        file,
        methods=methods,
        setting=benchmarks.Setting(repeats=2, time_limit=10.0),
        progress=False,
    )
records = summary.records
print(len(records), "records of", len({record.case for record in records}), "cases")

# %% [markdown]
# (`fa.method` says which mechanisms a function of your own computes, so `one_program` is not asked for Nash bargaining.)
#
# ## Success and honesty
#
# A run **succeeds** if the method claims so and the residual passes what the accuracy promises. It is **honest** if the claim
# equals the truth. The two rates say different things: a method that gives up and says so is honest.


# %%
def passes(record):
    return record.residual <= record.tolerance


def succeeded(record):
    return record.claims and passes(record)


by_method = defaultdict(list)
for record in records:
    by_method[record.method].append(record)
rates = {
    name: (np.mean([succeeded(r) for r in runs]), np.mean([r.claims == passes(r) for r in runs]))
    for name, runs in by_method.items()
}
for name, (success, honesty) in rates.items():
    cases_of = len({record.case for record in by_method[name]})
    print(f"{name:15} {cases_of} cases   success {success:4.0%}   honest {honesty:4.0%}")

# %% [markdown]
# ## Means over common cases only
#
# Not every method computes every case: `highs:leximin` has no Nash bargaining, `pdhg` has nothing else. A mean over the cases
# that each happens to compute compares different things. So two methods are compared on the cases that both compute. The mean is
# the *shifted geometric mean* with the shift $s$,
#
# $$\exp\Big(\frac1C \sum_c \log(t_c + s)\Big) - s,$$
#
# where $t_c$ is the median over the repeats, and a failure costs three times the time limit. The shift must fit the times: with
# $s$ = 10 s, as is usual for large programs, times of milliseconds would not count at all. Here $s$ = 10 ms.


# %%
def cost(record):
    return record.wall if succeeded(record) else 3 * record.time_limit


costs = {
    name: {case: median(cost(r) for r in runs if r.case == case) for case in {r.case for r in runs}}
    for name, runs in by_method.items()
}


def mean(values, shift=0.010):
    return float(np.exp(np.mean(np.log(np.array(values) + shift))) - shift)


for name in ("highs:leximin", "cvxpy:scs", "pdhg"):
    common = sorted(costs[name].keys() & costs["cvxpy:clarabel"].keys())
    own, clarabel = (mean([costs[m][case] for case in common]) for m in (name, "cvxpy:clarabel"))
    print(
        f"{name:14} against cvxpy:clarabel on {len(common)} common cases: {1000 * own:7.1f} ms "
        f"and {1000 * clarabel:7.1f} ms"
    )

# %% [markdown]
# ## Performance profiles
#
# A mean hides how often a method is how much slower. Let $r_{m,c} = t_{m,c} / \min_{m'} t_{m',c}$, and $\infty$ for a
# failure. The performance profile of method $m$ (Dolan and More 2002) is the part of the cases that it solves within a factor
# $f$ of the fastest:
#
# $$\rho_m(f) = \frac{1}{C} \big|\{c : r_{m,c} \le f\}\big|.$$
#
# At $f = 1$ it says how often the method is fastest, on the right how often it succeeds. It is about cases that all compute: drfh
# here.

# %%
drfh_cases = [case.name for case in suite.cases if case.mechanism == "drfh"]
able = [name for name in costs if set(drfh_cases) <= costs[name].keys()]
limit = records[0].time_limit
best = {case: min(costs[name][case] for name in able) for case in drfh_cases}
ratios = {
    name: [
        costs[name][case] / best[case] if costs[name][case] < limit else np.inf
        for case in drfh_cases
    ]
    for name in able
}
axes = fa.plots.performance_profiles({"drfh": ratios})
# %% [markdown]
# ## Accuracy against time
#
# An iterative method has an answer at any time. With `trace=True` the algorithms of this package keep what they measured on the
# way. `pdhg` (primal-dual hybrid gradient, for Nash bargaining) keeps its proved bound on the residual:

# %%
traced = {
    f"{family.__name__} {n} x 4 x 3": fa.solve(family(n, 4, 3, 1), "nb", "pdhg", trace=True)
    for family, n in (
        (fa.generators.generic, 12),
        (fa.generators.tied, 12),
        (fa.generators.generic, 30),
    )
}
ax = fa.plots.convergence(traced, against="seconds")


# %% [markdown]
# The time to reach a residual is read off the trace. A factor of 1,000 in accuracy costs a method of first order a multiple of
# its time; an interior-point method a few more steps.


# %%
def seconds_to(trace, residual):
    return next((event["seconds"] for event in trace if event["residual"] <= residual), np.inf)


reached = {
    name: [seconds_to(run.trace, level) for level in (1e-3, 1e-6, 1e-8)]
    for name, run in traced.items()
}
for name, (low, mid, high) in reached.items():
    print(f"{name:20} 1e-3 in {low:.3f} s, 1e-6 in {mid:.3f} s, 1e-8 in {high:.3f} s")

# %% [markdown]
# ## The Pareto front of time and accuracy
#
# Methods that are asked for the same accuracy reach different ones. So they are compared at what they *achieved*: each is asked
# for several accuracies on the same three instances. A point is the median time and the largest verified residual. A method is
# worth its time where no other is both faster and more accurate.

# %%
common = [fa.generators.generic(20, 5, 3, seed) for seed in (2, 3, 4)]
points = {}
for method in ("cvxpy:clarabel", "cvxpy:scs", "pdhg", "pyomo:ipopt"):
    for accuracy in (1e-3, 1e-5, 1e-7):
        runs = [fa.solve(instance, "nb", method, accuracy=accuracy) for instance in common]
        points[method, accuracy] = (
            median(run.times.total for run in runs),
            max(run.residual for run in runs),
        )
front = {
    key
    for key, (t, r) in points.items()
    if not any(u <= t and s <= r and (u, s) != (t, r) for u, s in points.values())
}

# %%
drawn = defaultdict(list)
for (method, _), point in points.items():
    drawn[method].append(point)
axes = fa.plots.front(drawn)
# %% [markdown]
# ## In the shell
#
# The same for whole suites, with a page of tables and figures that needs no network:
#
# ```sh
# # published examples, generated families, real workloads
# fairalloc bench run first
# fairalloc bench run 'cases/*.json' -m drfh --method mine.py:one_program --method highs:leximin
# fairalloc bench report results/first.sqlite --format html --output first.html
# ```
#
# ## Checks
#
# Times are facts about a machine, so nothing is asserted about them but what holds by definition.

# %% tags=["checks"]
assert np.allclose(right.tasks, 10)
assert right.residual < 1e-6
assert right.claims_success > wrong.claims_success
assert wrong.residual > 1e-3
assert rates["highs:leximin"] == (1, 1)
assert rates["cvxpy:clarabel"] == (1, 1)
assert rates["too_soon"] == (0, 0)
assert rates["one_program"][1] == rates["one_program"][0] < 1
assert all(min(ratios[name][k] for name in able) == 1 for k in range(len(drfh_cases)))
assert all(low <= mid <= high for low, mid, high in reached.values())
assert all(run.residual < 1e-6 for run in traced.values())
assert front
assert min(r for _, r in points.values()) in {points[key][1] for key in front}
assert costs["highs:leximin"].keys() == costs["one_program"].keys() == set(drfh_cases)
assert costs["pdhg"].keys() == {case.name for case in cases} - set(drfh_cases)
assert len(records) == 2 * sum(len(by_case) for by_case in costs.values())
