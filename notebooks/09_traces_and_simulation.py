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
# # Traces and simulation
#
# W, K and P evaluate by simulation: jobs arrive, run and end on servers, and mechanisms are compared by what they make of it.
# This notebook runs such simulations: workloads, discrete schedulers, divisible allocation over time, the papers' experiments, and a
# scheduler and a mechanism of your own beside theirs.
#
# Everything here is generated, so that it runs without samples of real traces. With the samples (`fairalloc data FOLDER`) the
# same calls take `"google2011"`, `"google2019"` or `"bitbrains"` instead of `"generated"`.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import fairalloc as fa
from fairalloc.simulation import Cluster, Scheduler, Workload, simulate_fluid, simulate_tasks
from fairalloc.simulation.accounting import account
from fairalloc.simulation.experiments import RunSetting, report, run_experiments
from fairalloc.simulation.metrics import cdf, completion_times, utilisation
from fairalloc.simulation.workloads import fitted, google_intervals, google_servers, google_tasks

plt.rcParams.update(fa.plots.style.FIGURE)

# %% [markdown]
# ## A workload by hand
#
# Two users, three jobs. A job is a number of equal tasks, which arrive together; a task takes its demand of a machine for its
# duration.

# %%
machines = Cluster(["cpu", "memory"], [[1, 1], [0.5, 0.25]], counts=[2, 2])
jobs = Workload(
    ["cpu", "memory"],
    users=["ann", "bob"],
    weights=[1, 1],
    job_user=[0, 1, 0],
    arrival=[0, 10, 30],
    tasks=[6, 4, 2],
    duration=[60, 30, 20],
    demand=[[0.5, 0.2], [0.25, 0.25], [0.5, 0.5]],
)
log = simulate_tasks(jobs, machines, "best-fit-drfh")
for b in np.argsort(log.start, kind="stable"):
    print(
        f"{log.start[b]:5.0f} s: {log.tasks[b]} tasks of job {log.job[b]} on server "
        f"{log.server[b]}, until {log.end[b]:.0f} s"
    )

# %% [markdown]
# An independent accounting uses the log and the data alone. It says whether a server was over capacity, a task was lost or
# run twice, and whether work in = done + left + killed.

# %%
books = account(log)
print(books)

# %% [markdown]
# ## What a workload is made of
#
# The samples of the Google trace have arrivals and run times of all jobs, but neither the tasks of later jobs nor what they use.
# Missing data are generated, and every workload says so.

# %%
made = google_intervals("generated", seed=1)
print(made)

# %% [markdown]
# K Fig. 8 prints four points of two distributions: 38 % of jobs end within 5 minutes, 16 % last over 24 hours; 53 % need under 10
# quanta, 5 % over 10,000. The generators go through these points.

# %%
rng = np.random.default_rng(0)
activity = fitted.values_at(fitted.ACTIVITY, rng.random(20_000))
quanta = fitted.quanta_for(activity, rng)
found = {
    "end within 5 minutes (38 %)": (activity <= 300).mean(),
    "last over 24 hours (16 %)": (activity > 86400).mean(),
    "under 10 quanta (53 %)": (quanta < 10).mean(),
    "over 10,000 quanta (5 %)": (quanta > 1e4).mean(),
}
for name, part in found.items():
    print(f"{name:28} {part:.1%}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 2.8), layout="constrained")
for ax, values, marks, label in zip(
    axes,
    (activity, quanta),
    (((300, 0.38), (86400, 0.84)), ((10, 0.53), (1e4, 0.95))),
    ("seconds of activity", "quanta"),
    strict=True,
):
    ax.semilogx(*cdf(values), "k-")
    ax.plot(*np.array(marks).T, "o", color="C1", label="printed")
    ax.set(xlabel=label, ylabel="part of jobs")
_ = axes[0].legend(frameon=False)

# %% [markdown]
# ## Discrete schedulers
#
# Half an hour of jobs on 20 servers drawn from W Table 1, by three schedulers. A scheduler of your own is a class with a method:
# which server a task starts on. This one takes the server with most room, so that load is spread.


# %%
class MostRoom(Scheduler):
    """DRFH's order of users, and the emptiest server."""

    id = "most-room"

    def server(self, state, job):
        there = state.machines(job)
        return int(there[state.free[there].sum(axis=1).argmax()]) if len(there) else -1


servers = google_servers(20, seed=2)
work = google_tasks("generated", hours=0.5, share=0.02, seed=3).workload
runs = {
    name: simulate_tasks(work, servers, scheduler, until=1800, seed=0)
    for name, scheduler in (
        ("slots", "slots"),
        ("best-fit-drfh", "best-fit-drfh"),
        ("most-room", MostRoom),
    )
}
used = {name: utilisation(run, [0, 1800])[0] for name, run in runs.items()}
for name, run in runs.items():
    done = np.isfinite(completion_times(run)).sum()
    print(
        f"{name:14} CPU {used[name][0]:.1%}, memory {used[name][1]:.1%}, {done} of {len(work)} "
        "jobs completed"
    )

# %% [markdown]
# ## Divisible tasks
#
# `simulate_fluid` solves any mechanism, one of your own too, again whenever something happens. Six minutes of K's quanta on the
# cluster of K Fig. 4, where jobs that are not sensitive to delay may use classes A and B only:

# %%
few = google_intervals("generated", hours=0.1, share=0.01, seed=5)
flows = {
    name: simulate_fluid(few.workload, few.cluster, name, until=360, limited=False)
    for name in ("ps-dsf", "drfh", "utilitarian")
}
for name, flow in flows.items():
    print(
        f"{name:12} {flow.solves} allocations, largest residual {flow.residual:.0e}, CPU "
        f"{utilisation(flow, [0, 360])[0, 0]:.1%}"
    )

# %% [markdown]
# ## The papers' experiments
#
# Each experiment is declared once: the paper's claims, the simulation here, seeds and one figure. Records are
# kept, so a run that is stopped goes on where it was. The smallest versions of two, one of which says what it cannot show:

# %%
with tempfile.TemporaryDirectory() as folder:
    records = Path(folder) / "records.sqlite"
    small = RunSetting("small", workload="generated", jobs=1)
    outcomes = run_experiments(["K.Fig7"], records, small, progress=False)
    outcomes += run_experiments(["P.Table4"], records, RunSetting("small"), progress=False)
for one in outcomes:
    for claim, (name, judged) in zip(one.experiment.claims, one.judged.items(), strict=True):
        print(f"{name}: {claim.text}\n  {judged.word}: {judged.because}\n")

# %%
report.numbers_table(outcomes[1])

# %% [markdown]
# P Table IV prints 58.33 tasks of user 3 under TSF; it is $10560/181 = 58.343$.
#
# ## In the shell
#
# ```sh
# fairalloc simulate --list
# fairalloc simulate K.Fig9 K.Fig10 --jobs 2                    # full size; killed runs resume
# fairalloc simulate K.Fig7 --mechanisms mine.py:Rule           # a mechanism of your own beside K's
# fairalloc simulate W.Fig6 --mechanisms slots mine.py:MostRoom # a scheduler of your own beside slots
# fairalloc simulate --small --format html > experiments.html   # one page that needs no network
# ```
#
# What the full runs found is in docs/EXPERIMENTS.md.
#
# ## Checks

# %% tags=["checks"]
printed = (0.38, 0.16, 0.53, 0.05)
assert not books.violations
assert np.isclose(books.work, books.done)
assert all(abs(part - wanted) < 0.02 for part, wanted in zip(found.values(), printed, strict=True))
assert "everything" in made.generated
assert all(not account(run).violations for run in runs.values())
assert used["best-fit-drfh"].mean() > used["slots"].mean()
assert all(flow.residual < 1e-6 for flow in flows.values())
assert [judged.word for one in outcomes for judged in one.judged.values()] == [
    "cannot be compared",
    "contradicted",
]
assert fa.solve(fa.example("psdsf-fig5").instance, "tsf", "exact").tasks_exact[2] * 181 == 10560
assert (len(jobs.users), len(jobs), servers.counts.sum()) == (2, 3, 20)
assert few.workload.eligible[:, :2].all()
assert {tuple(row) for row in few.workload.eligible[:, 2:]} == {(False, False), (True, True)}
