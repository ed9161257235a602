"""What trials of K and P measure, against the same numbers computed another way."""

import numpy as np
import pytest

from fairalloc import solve
from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.models.errors import InstanceError
from fairalloc.simulation import simulate_fluid
from fairalloc.simulation.experiments import Trial, all_experiments
from fairalloc.simulation.experiments.competitors import competitor
from fairalloc.simulation.experiments.measures import k_cluster
from fairalloc.simulation.experiments.papers import p_cluster
from fairalloc.simulation.metrics import utilisation
from fairalloc.simulation.workloads import bitbrains_instant, google_intervals, google_tasks
from fairalloc.solvers.game.psdsf_distributed import cluster

EXPERIMENTS = all_experiments()


def measure(name, label, **settings):
    """One trial with seed 0 of what is generated."""
    item = EXPERIMENTS[name]
    found = competitor(label, item.kind)
    return item.measure(Trial(label, found, 0, "generated", settings))


def test_fig_6_of_p_by_a_mechanism_has_the_use_with_user_4_and_without():
    """Away after 100 and up to 250 s; the first numbers are means over times before, the others from 10 s after the change on."""
    found = measure("P.Fig6", "tsf")
    with_all = solve(cluster(), "tsf").load
    kept = {name: getattr(cluster(), name)[:3] for name in ("demands", "weights", "users")}
    without = solve(cluster().replace(**kept, eligible=cluster().placement[:3], max_tasks=None), "tsf").load
    for i, name in ((2, "C"), (3, "D")):
        times, use = (np.array(column) for column in found.curves[f"CPU of {name}"])
        assert times.tolist() == [*range(301)]
        assert use[[0, 100, 251, 300]] == pytest.approx([with_all[i, 0]] * 4)
        assert use[[101, 250]] == pytest.approx([without[i, 0]] * 2)
        assert found.numbers[f"CPU of {name}, all active"] == pytest.approx(with_all[i, 0])
        assert found.numbers[f"CPU of {name}, user 4 away"] == pytest.approx(without[i, 0])
    assert found.numbers["seconds to rest"] == 0


def test_ps_dsf_by_the_servers_comes_to_rest_where_it_is_solved_to():
    found = measure("P.Fig6", "ps-dsf")
    exact = solve(cluster(), "ps-dsf").load
    for i, name in ((2, "C"), (3, "D")):
        times, use = (np.array(column) for column in found.curves[f"CPU of {name}"])
        assert use[times == 99] == pytest.approx(exact[i, 0], abs=1e-6)
        inside = (times > 110) & (times <= 250)
        assert found.numbers[f"CPU of {name}, user 4 away"] == pytest.approx(use[inside].mean())
        assert found.numbers[f"CPU of {name}, all active"] == pytest.approx(use[times < 100].mean())
    assert 1 <= found.numbers["seconds to rest"] < 10


def test_seconds_to_rest_are_counted_from_the_last_change():
    """The tasks move until 3 s after the start, until 7 s after the first change and not after the second one."""
    times = np.arange(301.0)
    x = np.where(times < 3, 1.0, 2.0) + np.where((times >= 100) & (times < 107), 1.0, 0.0) + np.where(times >= 250, 5.0, 0.0)
    assert p_cluster._seconds_to_rest(np.column_stack([x, np.ones(301)]), times) == 7
    slow = x + np.where((times >= 250) & (times < 290), 1e-3, 0.0)
    assert p_cluster._seconds_to_rest(slow[:, None], times) == 40
    assert p_cluster._seconds_to_rest(np.ones((301, 2)) + 1e-9 * times[:, None], times) == 0


def test_use_of_five_resources_is_a_mean_over_servers_and_of_their_totals():
    found = measure("K.Fig7", "drfh", users=12).numbers
    instance = bitbrains_instant("generated", 0, 12)
    answer = solve(instance, "drfh")
    used, every = np.zeros(5), np.zeros(5)
    for capacities, load in zip(instance.capacities, answer.load, strict=True):
        used, every = used + load * capacities, every + capacities
    for r, name in enumerate(("cpu", "memory", "disk", "send", "receive")):
        assert found[name] == pytest.approx(np.mean([load[r] for load in answer.load]), abs=1e-6)
        assert found[f"{name}, of all"] == pytest.approx(used[r] / every[r], abs=1e-6)
    assert found["mean"] == pytest.approx(np.mean([found[name] for name in ("cpu", "memory", "disk", "send", "receive")]))
    assert found["mean deviation"] == pytest.approx(deviation(instance, answer.x).mean(), abs=1e-6)


def test_the_distributed_steps_end_near_the_equilibrium_with_loads_below_one():
    """Where Psi is small, loads are those of the answer of the game but for epsilon."""
    found = measure("K.Fig6", "alpha-pf-vds alpha=3", users=6, steps=3000, epsilon=0.1)
    exact = solve(bitbrains_instant("generated", 0, 6), "alpha-pf-vds", alpha=3).load.max()
    merits = np.array(found.curves["Psi"][1])
    assert merits[-1] < 1e-6 * merits[0]
    assert found.numbers["log10 of Psi at the start"] == pytest.approx(np.log10(merits[0]))
    assert exact - 0.1 - 1e-3 < found.numbers["largest load at the end"] < exact
    assert found.numbers["log10 of Psi at the end"] <= np.log10(merits.min()) + 1e-9


def test_straightness_is_the_square_of_a_correlation():
    """Over the second half of the steps up to the first that is within half a digit of the least merit."""
    found = measure("K.Fig6", "alpha-pf-vds alpha=3", users=6, steps=250, epsilon=0.1)
    steps, merits = (np.array(column) for column in found.curves["Psi"])
    assert steps.tolist() == [*range(250)]
    logs = np.log10(merits)
    last = min(k for k in range(250) if logs[k] <= logs.min() + 0.5)
    rows = steps[last // 2 : last + 1]
    correlation = np.corrcoef(rows, logs[rows])[0, 1]
    assert found.numbers["straightness, 1 is a line"] == pytest.approx(correlation**2)
    assert found.numbers["steps per digit"] == pytest.approx(-np.std(rows) / (correlation * np.std(logs[rows])))
    assert found.numbers["log10 of Psi at the end"] == pytest.approx(logs.min())


def test_parts_of_jobs_of_fig_8_are_counted():
    """Of the jobs and of the quanta that are generated with the same seed."""
    found = measure("K.Fig8", "measured", share=0.02).numbers
    jobs, made = google_tasks("generated", share=0.02).workload, google_intervals("generated", share=0.02).workload
    ends = zip(jobs.arrival, jobs.arrival + jobs.duration, strict=True)
    assert found["in one interval"] == np.mean([begin // 300 == end // 300 for begin, end in ends])
    assert found["end within 300 s"] == np.mean([seconds <= 300 for seconds in jobs.duration])
    assert found["over 24 hours"] == np.mean([seconds > 86400 for seconds in jobs.duration])
    quanta = [made.work[made.job_user == n].sum() * 0.01 for n in range(len(made.users))]
    assert found["under 10 quanta"] == np.mean([value < 10 for value in quanta])
    assert found["over 10,000 quanta"] == np.mean([value > 10_000 for value in quanta])
    assert found["jobs"] == len(jobs)


def test_use_and_deviation_over_time_are_means_by_the_length_of_steps():
    """Of the same simulation: all servers, classes A and B, and of jobs with less than a quantum the delay."""
    settings, end = {**EXPERIMENTS["K.Fig9"].sizes["small"].settings, "hours": 0.01}, 36.0
    found = measure("K.Fig9", "ps-dsf", **settings)
    jobs, machines = k_cluster.system("generated", 0, settings)
    of = {"deviation": lambda answer: deviation(answer.instance, answer.x)}
    log = simulate_fluid(jobs, machines, "ps-dsf", end, limited=False, measures=of)
    parts, counts = utilisation(log, [0, end], by_class=True)[0], machines.counts
    for r, name in enumerate(("cpu", "memory")):
        for group, rows in (("all", [0, 1, 2, 3]), ("A and B", [0, 1]), ("C and D", [2, 3]), ("C", [2])):
            mean = sum(counts[k] * parts[k, r] for k in rows) / sum(counts[k] for k in rows)
            assert found.numbers[f"{name}, {group}"] == pytest.approx(mean)
    assert found.numbers["mean, all"] == pytest.approx((found.numbers["cpu, all"] + found.numbers["memory, all"]) / 2)
    spans = [(step.end - step.start, step.measures.get("deviation", np.zeros(1))) for step in log.steps]
    largest = sum(span * np.nanmax(values) for span, values in spans) / sum(span for span, _ in spans)
    assert found.numbers["maximum deviation"] == pytest.approx(largest)
    short = []
    for j, n in enumerate(jobs.job_user):
        if np.isfinite(log.completed[j]) and jobs.work[jobs.job_user == n].sum() * 0.01 < 1:
            short.append((log.completed[j] - jobs.arrival[j]) / (jobs.work[j] * 0.01))
    assert found.numbers["delay of short jobs, mean"] == pytest.approx(np.mean(short))
    assert found.numbers["delay of short jobs, std"] == pytest.approx(np.std(short))
    assert found.counts["delay of short jobs, mean"] == len(short) > 0
    assert found.numbers["jobs"] == len(jobs.users)
    assert found.numbers["offered cpu"] == pytest.approx(jobs.work @ jobs.demand[:, 0] / (machines.totals[0] * end))


def test_use_over_time_is_smoothed_over_a_sixth_of_the_time():
    """Sixty instants a window apart by a tenth; the middle of the first window is at a twelfth of the time."""
    found = measure("K.Fig13", "drfh", **EXPERIMENTS["K.Fig13"].sizes["small"].settings)
    hours, use = (np.array(column) for column in found.curves["cpu"])
    assert len(hours) == 51
    assert hours[[0, -1]] == pytest.approx([180 / 12 / 3600, 180 * 11 / 12 / 3600])
    assert use[[0, 10, 20, 30, 40, 50]].mean() == pytest.approx(found.numbers["cpu, all"], rel=1e-6)


def test_a_load_that_no_draw_has_is_told(monkeypatch):
    monkeypatch.setattr(k_cluster, "DRAWS", 2)
    settings = EXPERIMENTS["K.Fig9"].sizes["small"].settings | {"load": [1e6, 2e6]}
    with pytest.raises(InstanceError, match=r"none of 2 draws offers 1000000\.0 to 2000000\.0 of the CPU"):
        k_cluster.system("generated", 0, settings)
