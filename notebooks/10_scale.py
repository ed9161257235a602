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
# # Scale: from 20 users to a million arcs
#
# An *arc* is a user, a server that it may use, and one of its demand vectors there. A dense instance of 2,000 users and 500
# servers has a million. This notebook shows what such sizes cost, how the cost grows, and where the time goes. It also shows
# what makes large instances small: placement, identical machines, an answer to start from, and many small instances at once.
#
# All seconds are CPU seconds of the method (`allocation.times.cpu`); every answer is judged by the residual computed from the
# instance.

# %%
import os
import signal
import threading

import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa

plt.rcParams.update(fa.plots.style.FIGURE)

rng = np.random.default_rng(0)


def cluster(users, servers, resources=4):
    """Uniform demands and capacities."""
    return fa.Instance(
        rng.uniform(size=(users, resources)), rng.uniform(0.5, 1, size=(servers, resources))
    )


# %% [markdown]
# ## A million arcs

# %%
large = cluster(2000, 500)
million = fa.solve(large, "drfh", "interior-point")
print(
    f"{len(large.arcs):,} arcs: {million.times.cpu:.1f} s, {million.iterations} iterations, "
    f"residual {million.residual:.0e}"
)

# %% [markdown]
# The method `interior-point` eliminates the users and factorises one matrix of servers times resources, here 2,000 rows. With N
# users, K servers and R resources an iteration costs about $N (KR)^2 + (KR)^3 / 3$ multiplications, and few iterations are
# needed. The rest is memory: a handful of vectors with a number for each arc, and the matrix N x K R.

# %%
times = million.times
phases = {"build": times.build, "compile": times.compile, "solve": times.solve, "read": times.read}
print(
    ", ".join(f"{phase} {seconds / sum(phases.values()):.0%}" for phase, seconds in phases.items())
)

# %% [markdown]
#
# ## Growth

# %%
sizes = [(50, 20), (100, 40), (200, 80), (400, 160)]
fa.solve(cluster(5, 3), "nb", "interior-point")  # imports
costs = {"drfh": [], "nb": []}
arcs = []
for users, servers in sizes:
    instance = cluster(users, servers)
    arcs.append(len(instance.arcs))
    for name, seconds in costs.items():
        seconds.append(fa.solve(instance, name, "interior-point").times.cpu)

fits = {
    name: np.polyfit(np.log(arcs), np.log(seconds), 1, cov=True) for name, seconds in costs.items()
}
slopes = {name: (fit[0], 2 * np.sqrt(cov[0, 0])) for name, (fit, cov) in fits.items()}
_, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, seconds in costs.items():
    slope, error = slopes[name]
    axes.loglog(arcs, seconds, "o-", label=f"{name}: arcs^({slope:.2f} ± {error:.2f})")
axes.set(xlabel="arcs", ylabel="CPU seconds")
_ = axes.legend()

# %% [markdown]
# The exponent is a least-squares slope, with twice its standard error behind it. Four sizes, each solved once, tell no more.
#
# From an instance to the next one both N and K R double. The arcs grow four times and the multiplications eight times, so the
# exponent tends to 3/2.
#
# ## Progress, limits and Ctrl-C
#
# A long solve tells where it is: `progress=True` writes a line every second, and a function gets the same facts. A limit holds
# for the whole call. What comes back then is the best point so far, with its residual and the termination "time_limit".

# %%
told = []
hard = cluster(100, 20)
stopped = fa.solve(hard, "nb", "pdhg", accuracy=1e-13, time_limit=3.0, progress=told.append)
print(*told[:2], sep="\n")
print(f"{stopped.termination}: residual {stopped.residual:.0e}")

# %% [markdown]
# Ctrl-C is a limit too. Here an alarm clock presses it at 0.3 s. Where there is no point yet, it is a KeyboardInterrupt as
# everywhere.

# %%
alarm = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
alarm.start()
pressed = fa.solve(hard, "nb", "pdhg", accuracy=1e-13)
alarm.cancel()
print(f"{pressed.termination}: residual {pressed.residual:.0e}, {pressed.message}")

# %% [markdown]
# ## Placement
#
# With few eligible servers for each user, neither the arcs nor the matrix is dense. Demands and eligibility may be given sparse.

# %%
pairs = np.array([(n, i) for n in range(5000) for i in rng.choice(200, 3, replace=False)])
placed = fa.Instance(rng.uniform(0.1, 1, (5000, 3)), rng.uniform(50, 100, (200, 3)), eligible=pairs)
few = fa.solve(placed, "drfh", "interior-point")
print(
    f"{len(placed.arcs):,} arcs of {placed.N * placed.K:,} pairs: {few.times.cpu:.2f} s, "
    f"residual {few.residual:.0e}"
)

# %% [markdown]
# ## Identical users and servers
#
# Identical users and servers are solved as one and split again; the proof is of the instance that was given.

# %%
alike = fa.generators.identical(500, 300, 4)
merged = fa.solve(alike, "drfh")
print(f"{merged.times.cpu:.3f} s, residual {merged.residual:.0e}: {merged.message}")

# %% [markdown]
# ## An answer to start from
#
# After a small change the last answer is a good start: a simulation solves many instances that differ in one user.

# %%
before = cluster(200, 50)
start = fa.solve(before, "drfh", "interior-point")
demands = before.vectors.matrix.toarray()
demands[3] *= 1.1
after = before.replace(demands=demands)
cold = fa.solve(after, "drfh", "interior-point")
warm = fa.solve(after, "drfh", "interior-point", warm_start=start)
print(f"{cold.iterations} iterations without a start, {warm.iterations} with one")

# %% [markdown]
# ## Many small instances
#
# `solve_many` stacks instances of one shape and takes every step for all of them at once.

# %%
many = [fa.generators.generic(20, 5, 2, seed) for seed in range(300)]
answers = list(fa.solve_many(many, "drfh"))
print(f"{len(answers)} instances, largest residual {max(a.residual for a in answers):.0e}")

# %% tags=["checks"]
assert all(error > 0 for _, error in slopes.values())
assert stopped.termination in ("time_limit", "inaccurate", "optimal")
assert pressed.termination in ("interrupted", "inaccurate", "optimal")
assert max(stopped.residual, pressed.residual) < 1
assert len(large.arcs) == 10**6
assert all(a.claims_success for a in (million, few, merged))
assert merged.message.startswith("solved as 10 users")
assert warm.iterations < cold.iterations
assert np.allclose(warm.tasks, cold.tasks, rtol=1e-6)
assert all(a.claims_success for a in answers)
assert large.K * large.R == 2000
assert million.iterations < 20
assert arcs == [1000 * 4**k for k in range(4)]
assert len(placed.arcs) == 15000
