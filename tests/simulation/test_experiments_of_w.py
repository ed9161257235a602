"""The experiments of W: smaller tasks come closer to exact DRFH, and verdicts that follow what was measured."""

import json

import numpy as np
import pytest

from fairalloc.cli import main
from fairalloc.simulation import Cluster, Workload
from fairalloc.simulation.experiments import Trial, TrialResult, all_experiments
from fairalloc.simulation.experiments.measures.w_cluster import _dedicated, system
from fairalloc.simulation.experiments.papers.w_cluster import COVERED, ONE_EACH, TABLE2
from fairalloc.simulation.experiments.papers.w_joining import POOL, hundred_servers
from fairalloc.simulation.experiments.runner import compared
from fairalloc.simulation.schedulers import BestFitDRFH, FirstFitDRFH

EXPERIMENTS = all_experiments()


BEST, SLOTS, FIRST = "best-fit-drfh", "slots per_maximum=14", "first-fit-drfh"

FACTS = dict.fromkeys(("offered CPU", "offered memory", "servers", "users", "users that can complete a task"), 0.9)


def measured(name, *seeds):
    """Made-up results of one variant, seed by seed by label, compared as the experiment does."""
    item = EXPERIMENTS[name]
    return compared(item, item.competitors, dict(enumerate(seeds)))


def words(name, part):
    """What each claim is, by its name."""
    item = EXPERIMENTS[name]
    return {claim.name: claim.judged(part).word for claim in item.claims}


def test_best_fit_approaches_the_exact_shares_as_tasks_get_smaller_and_first_fit_does_not():
    item = EXPERIMENTS["W.Granularity"]
    settings = {"users": 4, "machines": 50, "halvings": 4}
    best, first = (
        item.measure(Trial(kind.id, kind(), 2, "", settings)).curves["distance"] for kind in (BestFitDRFH, FirstFitDRFH)
    )
    assert best[0] == [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]
    assert best[1][-1] < min(0.02, best[1][0] / 5)
    assert first[1][-1] > 2 * best[1][-1]


def test_a_user_alone_completes_its_own_tasks():
    """Of two users with two servers for each, the second has tasks that do not end within the hour."""
    jobs = Workload(["cpu"], ["quick", "slow"], [1, 1], [0, 1], [0, 0], [4, 2], [60, 7200], [[0.5], [0.5]])
    trial = Trial("first-fit-drfh", FirstFitDRFH(), 0, "", {"hours": 1})
    ratios = _dedicated(jobs, Cluster(["cpu"], [[1]], [4]), np.arange(2), np.array([4.0, 2.0]), trial)
    assert ratios.tolist() == [1.0, 0.0]


def test_the_servers_have_the_printed_totals():
    for seed in range(2):
        cluster = hundred_servers(seed)
        assert cluster.counts.sum() == 100
        assert np.abs(cluster.totals - POOL).max() < 0.13
        assert cluster.totals[0] == pytest.approx(POOL[0])


SHARES = {
    "user 1 alone, CPU": 0.4,
    "user 1 alone, memory": 0.62,
    "user 1 alone, DRFH of divisible tasks": 1.0,
    "users 1 and 2, user 1": 0.44,
    "users 1 and 2, user 2": 0.44,
    "users 1 and 2, DRFH of divisible tasks": 0.5,
    "all three, user 1": 0.26,
    "all three, user 2": 0.26,
    "all three, user 3": 0.26,
    "all three, DRFH of divisible tasks": 0.35,
    "users 2 and 3, user 2": 0.45,
    "users 2 and 3, user 3": 0.45,
    "users 2 and 3, DRFH of divisible tasks": 0.6,
}


def shares(**other):
    return [{BEST: TrialResult({name: value + 1e-4 * seed for name, value in (SHARES | other).items()})} for seed in range(5)]


def test_shares_of_fig_5_are_compared_with_the_print_and_with_exact_drfh():
    assert words("W.Fig5", measured("W.Fig5", *shares())) == {"shares": "confirmed", "exact": "contradicted"}
    assert words("W.Fig5", measured("W.Fig5", *shares(**{"all three, user 2": 0.3})))["shares"] == "contradicted"
    assert words("W.Fig5", measured("W.Fig5", *shares(**{"users 2 and 3, user 2": 0.5})))["shares"] == "contradicted"


def test_distances_of_smaller_tasks():
    first, last = "largest distance at 1/1", "largest distance at 1/8"
    good = [{BEST: TrialResult({first: 0.2, last: 0.01}), FIRST: TrialResult({first: 0.2, last: 0.08})} for _ in range(5)]
    assert words("W.Granularity", measured("W.Granularity", *good)) == {"": "confirmed"}
    far = [{BEST: TrialResult({first: 0.2, last: 0.1}), FIRST: TrialResult({first: 0.2, last: 0.08})} for _ in range(5)]
    assert words("W.Granularity", measured("W.Granularity", *far)) == {"": "contradicted"}


def a_day(cpu, memory=0.5, times=((0,), (1,), (1.0,), (1.0,)), users=((0,), (1,), (1.0,), (1.0,)), alone=(1.0,), offered=1.2):
    """One simulation of a scheduler as measures/w_cluster.py gives it."""
    numbers = {
        "CPU": cpu,
        "memory": memory,
        "tasks that wait at the end": 0.0,
        **FACTS,
        "offered CPU": offered,
        "offered memory": offered,
    }
    curves = {"CPU": ([1.0], [cpu]), "memory": ([1.0], [memory]), "times": times, "users": users, "alone": (users[0], alone)}
    return TrialResult(numbers, curves)


def table(best=14, offset=0.0):
    """The ten numbers of Table 2, in both readings; `best` slots use most, and all differ by the offset."""
    found = {}
    for k, (cpu, memory) in TABLE2.items():
        more = 0.02 if k == best else 0.0
        for label in (COVERED[k], ONE_EACH[k]):
            found[label] = a_day(cpu + more + offset, memory + more + offset)
    return found


def test_table_2_is_judged_by_its_best_and_by_its_ten_numbers():
    assert words("W.Table2", measured("W.Table2", *5 * [table()])) == dict.fromkeys(
        ("best", "best-one-each", "numbers"), "confirmed"
    )
    other = words("W.Table2", measured("W.Table2", *5 * [table(16)]))
    assert other == {"best": "contradicted", "best-one-each": "contradicted", "numbers": "confirmed"}
    assert words("W.Table2", measured("W.Table2", *5 * [table(14, 0.1)]))["numbers"] == "contradicted"


def test_use_over_a_day():
    good = [{SLOTS: a_day(0.4, 0.3), FIRST: a_day(0.9, 0.5), BEST: a_day(0.95, 0.6)}] * 5
    assert words("W.Fig6", measured("W.Fig6", *good)) == {"more": "confirmed", "saturated": "confirmed"}
    lower = [{SLOTS: a_day(0.4, 0.3), FIRST: a_day(0.9, 0.5), BEST: a_day(0.8, 0.6)}] * 5
    assert words("W.Fig6", measured("W.Fig6", *lower)) == {"more": "contradicted", "saturated": "contradicted"}
    idle = [{SLOTS: a_day(0.46, 0.46, offered=0.5), FIRST: a_day(0.5, offered=0.5), BEST: a_day(0.5, offered=0.5)}] * 5
    assert words("W.Fig6", measured("W.Fig6", *idle)) == {"more": "cannot be compared", "saturated": "cannot be compared"}


def jobs(*seconds):
    """Twelve completed jobs in each of three classes, of these times; each task runs 1 second."""
    number, tasks = np.arange(36.0), np.repeat([10.0, 80.0, 300.0], 12)
    return tuple(column.tolist() for column in (number, tasks, np.ones(36), np.repeat(seconds, 12)))


def test_completion_times_by_size_of_jobs():
    def found(*seconds):
        return words(
            "W.Fig7",
            measured("W.Fig7", *5 * [{SLOTS: a_day(0.5, times=jobs(10, 10, 10)), BEST: a_day(0.5, times=jobs(*seconds))}]),
        )

    assert found(10, 8, 5) == {"small": "confirmed", "times": "confirmed"}
    assert found(5, 8, 10) == {"small": "contradicted", "times": "contradicted"}


def test_a_class_of_few_jobs_is_not_compared():
    few = tuple(column[:5] for column in jobs(10, 10, 10))
    part = measured("W.Fig7", *5 * [{SLOTS: a_day(0.5, times=few), BEST: a_day(0.5, times=few)}])
    assert words("W.Fig7", part) == {"small": "cannot be compared", "times": "cannot be compared"}
    assert part.by_label[BEST][0].counts["reduction, 1-50 tasks"] == 5


def users(ratios, possible=1.0):
    """Twenty users with these completion ratios, in four groups of five."""
    columns = (np.arange(20.0), np.full(20, 8.0), np.repeat(ratios, 5), np.full(20, possible))
    return tuple(column.tolist() for column in columns)


def test_completion_ratios_of_users():
    def found(slots, best, possible=1.0):
        both = {SLOTS: a_day(0.5, users=users(slots, possible)), BEST: a_day(0.5, users=users(best, possible))}
        return words("W.Fig8", measured("W.Fig8", *5 * [both]))

    assert found((0.5, 0.5, 0.5, 0.6), (0.6, 0.6, 0.6, 1.0)) == {"almost-all": "confirmed", "only": "confirmed"}
    assert found((0.5, 0.5, 0.5, 0.6), (0.6, 0.6, 0.4, 0.7)) == {"almost-all": "contradicted", "only": "contradicted"}
    assert found((0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5), 0.5) == {
        "almost-all": "cannot be compared",
        "only": "cannot be compared",
    }


def test_users_against_dedicated_clouds():
    def found(shared, alone, possible=1.0):
        one = a_day(0.5, users=users(shared, possible), alone=np.repeat(alone, 5).tolist())
        return words("W.Fig9", measured("W.Fig9", *5 * [{BEST: one}]))

    assert found((0.5, 0.6, 0.7, 0.8), (0.4, 0.4, 0.4, 0.4)) == {"fewer": "confirmed", "slightly": "cannot be compared"}
    assert found((0.5, 0.6, 0.7, 0.8), (0.9, 0.9, 0.4, 0.4)) == {"fewer": "contradicted", "slightly": "contradicted"}
    assert found((0, 0, 0, 0), (0, 0, 0, 0), 0.0)["fewer"] == "cannot be compared"


def test_loads_are_those_of_the_variants():
    settings = {"hours": 24.0, "share": 1.0, "present": False, "machines": None}
    for load in (0.5, 1.1):
        workload, cluster = system("generated", 3, settings | {"load": load})
        assert workload.arrival.min() > 0
        seconds = np.clip(86400.0 - workload.arrival, 0.0, workload.duration)
        offered = (workload.tasks * seconds) @ workload.demand[:, 0] / 86400.0
        assert offered / cluster.totals[0] == pytest.approx(load, rel=0.1)


OWN = """\
from fairalloc.simulation import Scheduler


class LastFit(Scheduler):
    id = "last-fit"

    def server(self, state, job):
        there = state.machines(job)
        return there[-1] if len(there) else -1
"""


@pytest.mark.deep
def test_an_own_scheduler_enters_an_experiment_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    words = ["simulate", "W.Granularity", "--small", "--records", str(tmp_path / "r.sqlite"), "--mechanisms", str(file)]
    assert main([*words, "--format", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert [trial["competitor"] for trial in document["trials"]] == [*EXPERIMENTS["W.Granularity"].competitors, "last-fit"]
    assert all(0 <= value < 1 for value in document["trials"][-1]["numbers"].values())
