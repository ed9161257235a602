"""The experiments of W: smaller tasks come closer to exact DRFH, and verdicts that follow what was measured."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fairalloc.cli import main
from fairalloc.simulation import Cluster, TaskLog, Workload, simulate_tasks
from fairalloc.simulation.experiments import Trial, TrialResult, all_experiments
from fairalloc.simulation.experiments.measures import w_cluster
from fairalloc.simulation.experiments.measures.w_cluster import _dedicated, system
from fairalloc.simulation.experiments.papers.w_cluster import COVERED, ONE_EACH, TABLE2
from fairalloc.simulation.experiments.papers.w_joining import DOTTED, PHASES, POOL, PRINTED, hundred_servers
from fairalloc.simulation.experiments.runner import compared
from fairalloc.simulation.schedulers import FIFO, BestFitDRFH, FirstFitDRFH
from fairalloc.simulation.workloads.clusters import TABLE1

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
    turns = [{BEST: TrialResult(dict.fromkeys(SHARES, 0.4) | {f"users 2 and 3, user {2 + seed % 2}": 0.37})} for seed in range(6)]
    assert words("W.Fig5", measured("W.Fig5", *turns))["exact"] == "contradicted", (
        "the least share of a seed is that of another user"
    )


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


def test_users_against_dedicated_clouds_by_hand():
    """Of twenty, five each: 0.9 -> 0.5, 0.9 -> 0.6, 0.4 -> 0.7 and 0.8 as before."""
    one = a_day(0.5, users=users((0.5, 0.6, 0.7, 0.8)), alone=np.repeat((0.9, 0.9, 0.4, 0.8), 5).tolist())
    found = measured("W.Fig9", {BEST: one}).by_label[BEST][0]
    assert found.numbers["users with less than in a dedicated cloud"] == 0.5
    assert found.numbers["users with more"] == 0.25
    assert found.numbers["mean ratio, shared"] == pytest.approx(0.65)
    assert found.numbers["mean ratio, dedicated"] == pytest.approx(0.75)
    assert found.numbers["loss of a ratio, mean of these users"] == pytest.approx(0.35)


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


# ---- what is measured ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def joined():
    """Fig. 5 by best-fit, with tasks that are long enough for a quick test."""
    return EXPERIMENTS["W.Fig5"].measure(Trial(BEST, BestFitDRFH(), 0, "", {"mean": 100.0}))


def test_users_that_join_and_leave_have_nearly_the_printed_shares(joined):
    """As in the paper user 1 alone is limited by its tasks' memory; then all have equal dominant shares."""
    printed = {
        "user 1 alone, CPU": 0.4,
        "user 1 alone, memory": 0.62,
        "users 1 and 2, user 1": 0.44,
        "users 1 and 2, user 2": 0.44,
    }
    printed |= {f"all three, user {n}": 0.26 for n in (1, 2, 3)}
    assert {name: joined.numbers[name] for name in printed} == pytest.approx(printed, abs=0.03)
    pair = [joined.numbers[f"users 2 and 3, user {n}"] for n in (2, 3)]
    assert pair[0] == pytest.approx(pair[1], abs=0.02)
    divisible = [joined.numbers[f"{phase}, DRFH of divisible tasks"] for phase in PHASES]
    assert divisible[0] == pytest.approx(1.0)
    assert all(value > 0.3 for value in divisible)
    assert divisible[2] == min(divisible)


def test_shares_over_time_are_of_who_is_there(joined):
    """User 1 from 0 to 1080 s, user 2 from 200 to 1400 s, user 3 from 500 to 1700 s; the dominant share is the largest."""
    times = np.array(joined.curves["user 1, CPU"][0])
    assert times[[0, -1]].tolist() == [20, 1700]
    for n, (join, leave) in enumerate(((0, 1080), (200, 1400), (500, 1700)), 1):
        cpu, memory, most = (np.array(joined.curves[f"user {n}, {name}"][1]) for name in ("CPU", "memory", "dominant share"))
        assert most.tolist() == np.maximum(cpu, memory).tolist()
        there = (times > join) & (times <= leave)
        assert (most[there] > 0).all()
        assert most[~there].max() < 1e-12
    demand = {1: 0.2 / 0.3, 2: 0.5 / 0.1, 3: 0.1 / 0.3}
    for n, ratio in demand.items():
        cpu, memory = (np.array(joined.curves[f"user {n}, {name}"][1]) for name in ("CPU", "memory"))
        assert cpu == pytest.approx(memory * ratio * (51.32 / 52.75), rel=5e-3), "all its tasks have the printed demand"


def test_the_servers_of_fig_5_are_those_of_table_1():
    cluster = hundred_servers(0)
    table = {row[1:] for row in TABLE1}
    assert {tuple(row) for row in cluster.capacities.tolist()} <= table
    assert POOL.tolist() == [52.75, 51.32]


def test_distances_shrink_with_the_size_of_tasks_for_each_number_of_parts():
    """Whole tasks of 1/m: each number is the largest distance of a user's tasks from the exact allocation."""
    item = EXPERIMENTS["W.Granularity"]
    found = item.measure(Trial(BEST, BestFitDRFH(), 1, "", {"users": 3, "machines": 40, "halvings": 3}))
    gaps = [found.numbers[f"largest distance at 1/{m}"] for m in (1, 2, 4, 8)]
    assert found.curves["distance"] == ([1, 1 / 2, 1 / 4, 1 / 8], gaps)
    assert 0 < gaps[-1] < gaps[0] < 0.5


class Recorded:
    """A scheduler's day with a few users, by hand."""

    jobs = Workload(
        ["cpu", "memory"], ["a", "b", "c"], [1] * 3, [0, 1, 1], [0, 0, 1800], [4, 2, 2], [900, 7200, 900], [[0.5, 0.1]] * 3
    )


def test_a_day_of_a_scheduler_by_hand(monkeypatch, tmp_path):
    """On two servers user a is done at 900 s and then b starts; its second job does not start, for the first one fills both."""
    cluster = Cluster(["cpu", "memory"], [[1, 1]], [1])
    monkeypatch.setattr(w_cluster, "system", lambda *_: (Recorded.jobs, cluster))
    monkeypatch.setattr(w_cluster, "_dedicated", lambda workload, cluster, there, tasks, trial: np.array([0.5, 0.25]))
    found = w_cluster.over_a_day(Trial("fifo", FIFO(), 0, "", {"hours": 1.0, "logs": tmp_path}))
    log = simulate_tasks(Recorded.jobs, cluster, "fifo", 3600.0)
    (kept,) = tmp_path.rglob("*.parquet")
    assert kept.name == "fifo seed 0 until 3600.parquet"
    assert TaskLog.load(kept, Recorded.jobs, cluster).end.tolist() == log.end.tolist()
    assert found.numbers["CPU"] == pytest.approx((4 * 900 + 2 * 1800) * 0.5 / 3600)
    assert found.numbers["memory"] == pytest.approx(found.numbers["CPU"] / 5)
    assert found.numbers["tasks that wait at the end"] == log.waiting.sum() == 2
    assert found.numbers["offered CPU"] == pytest.approx((4 * 900 + 2 * 3600 + 2 * 900) * 0.5 / 3600)
    assert (found.numbers["servers"], found.numbers["users"], found.numbers["users that can complete a task"]) == (1, 2, 1)
    assert found.curves["CPU"][0] == pytest.approx([k / 6 for k in range(1, 7)])
    assert found.curves["CPU"][1] == pytest.approx([1] * 6)
    assert found.curves["times"] == ([0], [4], [900], [1800])
    assert found.curves["users"] == ([0, 1], [4, 4], [1, 0], [1, 0.5])
    assert found.curves["alone"] == ([0, 1], [0.5, 0.25])


def test_what_is_left_out_of_a_day_has_no_room_or_was_there_before():
    settings = {"hours": 2.0, "share": 0.1, "machines": 30, "load": None}
    for present in (True, False):
        workload, cluster = system("generated", 2, settings | {"present": present})
        assert cluster.counts.sum() == 30
        assert workload.placeable(cluster).all()
        assert (workload.arrival == 0).any() == present


# ---- where ranges end ------------------------------------------------------------------------------------------------


def test_dotted_lines_stand_in_their_phases_at_printed_values():
    phases = {(begin, end): name for name, (begin, end, _) in PHASES.items()}
    assert set(DOTTED) == {"CPU", "memory", "dominant share"}
    for name, lines in DOTTED.items():
        for begin, end, value in lines:
            phase = phases[begin, end]
            of = {key: share for key, share in PRINTED.items() if key.startswith(phase) and (name in key or "alone" not in key)}
            assert value in of.values() or (name == "dominant share" and value == 0.62)


def test_first_fit_that_is_not_fairly_good_contradicts():
    first, last = "largest distance at 1/1", "largest distance at 1/8"
    found = [{BEST: TrialResult({first: 0.2, last: 0.01}), FIRST: TrialResult({first: 0.3, last: 0.2})}] * 5
    assert words("W.Granularity", measured("W.Granularity", *found)) == {"": "contradicted"}


def test_best_fit_that_uses_a_little_less_in_many_intervals_contradicts():
    def found(less):
        days = {SLOTS: a_day(0.4, 0.3), FIRST: a_day(0.9, 0.5), BEST: a_day(0.95, 0.6)}
        first, best = ([1.0, 2.0, 3.0, 4.0], [0.9] * 4), ([1.0, 2.0, 3.0, 4.0], [0.96, 0.96, 0.96, 0.9 - less])
        days[FIRST] = replace(days[FIRST], curves={**days[FIRST].curves, "CPU": first})
        days[BEST] = replace(days[BEST], curves={**days[BEST].curves, "CPU": best})
        return words("W.Fig6", measured("W.Fig6", *5 * [days]))["more"]

    assert (found(0.0), found(1e-12), found(1e-4)) == ("confirmed", "confirmed", "contradicted")


@pytest.mark.parametrize(("count", "word"), [(0, "contradicted"), (4, "confirmed"), (8, "contradicted")])
def test_around_a_fifth_of_the_users_is_neither_none_nor_two_fifths(count, word):
    """So many of twenty users have all tasks completed under best-fit only."""
    mine = [1.0] * count + [0.7] * (20 - count)
    columns = (np.arange(20.0).tolist(), [8.0] * 20, mine, [1.0] * 20)
    both = {SLOTS: a_day(0.5, users=users((0.5, 0.5, 0.5, 0.5))), BEST: a_day(0.5, users=columns)}
    assert words("W.Fig8", measured("W.Fig8", *5 * [both]))["only"] == word


@pytest.mark.parametrize(("loss", "word"), [(0.05, "confirmed"), (0.3, "contradicted")])
def test_a_loss_against_a_dedicated_cloud_is_slight_or_not(loss, word):
    """Of 300 users twelve lose, which are rare."""
    shared, alone = [0.5] * 300, [0.5 + loss] * 12 + [0.4] * 288
    one = a_day(0.5, users=(np.arange(300.0).tolist(), [8.0] * 300, shared, [1.0] * 300), alone=alone)
    assert words("W.Fig9", measured("W.Fig9", *5 * [{BEST: one}])) == {"fewer": "confirmed", "slightly": word}


def test_numbers_of_users_by_hand():
    """Of twenty, five each: 0.5 -> 1, 1 -> 1, 0.8 -> 0.6 and 0 -> 0.4, of whom the last could not complete more than 0.4."""
    possible = [1.0] * 15 + [0.4] * 5
    slots, best = users((0.5, 1.0, 0.8, 0.4)), users((1.0, 1.0, 0.6, 0.4))
    both = {SLOTS: a_day(0.5, users=(*slots[:3], possible)), BEST: a_day(0.5, users=(*best[:3], possible))}
    one = measured("W.Fig8", both).by_label[BEST][0]
    assert one.numbers["mean completion ratio"] == pytest.approx(0.75)
    assert one.numbers["mean completion ratio, Slots"] == pytest.approx(0.675)
    assert one.numbers["users with more than under Slots"] == one.numbers["users with less than under Slots"] == 0.25
    assert one.numbers["users with more, of those whom Slots leaves short"] == 0.5
    assert one.numbers["users with all tasks completed, but not under Slots"] == 0.25
    assert one.most["users with all tasks completed, but not under Slots"] == 0.5
    assert one.most["users with less than under Slots"] == 1
    assert one.counts["users with more, of those whom Slots leaves short"] == 10
    assert one.curves["bubbles"][:2] == (slots[2], best[2])


def test_reductions_by_hand():
    """Of jobs of 10 tasks half of the time is saved, of 80 a fifth, and 300 take a tenth more; each task runs one second."""
    found = measured("W.Fig7", {SLOTS: a_day(0.5, times=jobs(10, 10, 10)), BEST: a_day(0.5, times=jobs(5, 8, 11))}).by_label[
        BEST
    ][0]
    assert [found.numbers[f"reduction, {name} tasks"] for name in ("1-50", "51-100", "101-500")] == pytest.approx(
        [0.5, 0.2, -0.1]
    )
    assert found.numbers["rise of the reduction with each class"] == pytest.approx(-0.3)
    assert found.numbers["reduction of the largest class of 10"] == pytest.approx(-0.1)
    assert found.numbers["jobs completed by both"] == 36
    assert found.most["reduction, 1-50 tasks"] == found.most["reduction of the largest class of 10"] == pytest.approx(0.9)
    right, up = found.curves["Slots"]
    assert (set(right), up[-1]) == ({10.0}, 1)
