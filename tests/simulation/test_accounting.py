"""The accounting of simulations: every log of a simulator passes, every perturbed one is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import simulations
from tolerances import ROUNDING

from fairalloc.simulation import SCHEDULERS, Cluster, ServerEvents, Workload, simulate_fluid, simulate_tasks
from fairalloc.simulation.accounting import account
from fairalloc.simulation.log import FINISHED, LOST, OUTCOMES


@pytest.mark.few(3)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@settings(max_examples=drawn(60))
@given(made=simulations())
def test_nothing_is_lost_run_twice_or_over_capacity(scheduler, made):
    workload, cluster, events, until = made
    if scheduler == "slots":  # else a task may be kept from the only machine with slots enough
        workload = replace(workload, eligible=None)
    books = account(simulate_tasks(workload, cluster, scheduler, until, seed=1, events=events))
    assert books.violations == ()
    assert abs(books.work - books.done - books.left - books.killed) <= ROUNDING * books.work


@pytest.mark.parametrize("by_job", [False, True])
@pytest.mark.parametrize("every", [None, 1.5])
@settings(max_examples=drawn(15))
@given(made=simulations())
def test_divisible_work_is_conserved(by_job, every, made):
    workload, cluster, events, until = made
    workload = workload.by_job() if by_job else replace(workload, eligible=None)
    log = simulate_fluid(workload, cluster, "drfh", until, every, events=events)
    books = account(log)
    assert books.violations == ()
    assert abs(books.work - books.done - books.left - books.killed) <= ROUNDING * books.work


JOBS = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1, 0], [0, 1, 4], [4, 2, 1], [2, 3, 1], [[0.5], [1], [0.5]], leave=[9, 6])
CLUSTER = Cluster(["cpu"], [[1]], [2])
EVENTS = ServerEvents([2.5, 5], [1, 1], [False, True])


def log_of_tasks():
    """One machine goes down with a task, and comes up again."""
    log = simulate_tasks(JOBS, CLUSTER, "first-fit-drfh", 20, events=EVENTS)
    assert set(log.outcome.tolist()) == {FINISHED, LOST, 3}
    assert account(log).violations == ()
    return log


def changed(log, field, row, value):
    values = getattr(log, field).copy()
    values[row] = value
    return replace(log, **{field: values})


PERTURBED = [
    ("tasks", 0, 3, "machine 0 holds"),
    ("tasks", 0, 1, "but 3 finished, run, wait or were cancelled"),
    ("tasks", 0, 0, "numbers of tasks below 1"),
    ("server", 0, 1, "machine 1 holds"),
    ("start", 0, -1.0, "starts before its job arrives"),
    ("end", 0, 1.0, "did not run for its duration"),
    ("end", 0, -1.0, "ends before it started"),
    ("outcome", 0, LOST, "but 2 finished, run, wait or were cancelled"),
    ("outcome", 0, 0, "said to run at the end, but ended before"),
    ("waiting", 0, 1, "job 0 has 4 tasks, but 5"),
    ("cancelled", 1, 0, "ended because their user left are not among"),
    ("job", 0, 1, "starts before its job arrives"),
]


@pytest.mark.parametrize(("field", "row", "value", "sentence"), PERTURBED)
def test_a_perturbed_log_is_refused(field, row, value, sentence):
    found = account(changed(log_of_tasks(), field, row, value)).violations
    assert any(sentence in words for words in found), found


def test_a_group_that_is_left_out_or_repeated_is_refused():
    log = log_of_tasks()
    columns = ("job", "server", "tasks", "start", "end", "outcome")
    one_less = replace(log, **{c: getattr(log, c)[1:] for c in columns})
    twice = replace(log, **{c: np.concatenate((getattr(log, c), getattr(log, c)[:1])) for c in columns})
    assert any("job 0 has 4 tasks, but 2" in words for words in account(one_less).violations)
    assert any("6 of them run or have finished" in words for words in account(twice).violations)
    wrong = account(one_less)
    assert abs(wrong.work - wrong.done - wrong.left - wrong.killed) > 1


def test_tasks_on_a_machine_that_is_down_or_not_theirs_or_of_a_user_that_left_are_refused():
    log = log_of_tasks()
    moved = replace(log, events=ServerEvents([0.5, 2], [0, 0], [False, True]))
    assert any("machine 0 from 0 seconds, but it is down then" in words for words in account(moved).violations)
    late = replace(log, events=ServerEvents([1.0], [0], [True]))
    assert any("machine 0 from 0 seconds, but it is down then" in words for words in account(late).violations)
    two = Cluster(["cpu"], [[1], [1]])
    elsewhere = replace(log, cluster=two, workload=replace(JOBS, eligible=[[False, True]] * 3))
    assert any("job 0 runs on machine 0, which may not run it" in words for words in account(elsewhere).violations)
    gone = replace(log, workload=replace(JOBS, leave=[1, 6]))
    assert any("runs after its user left" in words for words in account(gone).violations)
    short = replace(log, until=3.0)
    assert any("ends after the end" in words for words in account(short).violations)
    longer = replace(log, workload=replace(JOBS, duration=[1, 3, 1]))
    assert any("runs longer than its duration" in words for words in account(longer).violations)


def test_a_perturbed_log_of_divisible_tasks_is_refused():
    log = simulate_fluid(JOBS, CLUSTER, "drfh", 20, events=EVENTS)
    assert account(log).violations == ()
    first = log.steps[0]
    cases = {
        "is used, but there is": replace(log, steps=(replace(first, used=first.used * 2), *log.steps[1:])),
        "ends after the next begins": replace(log, steps=(replace(first, end=first.end + 1), *log.steps[1:])),
        "seconds of tasks, but": replace(log, steps=(replace(first, tasks=first.tasks / 2), *log.steps[1:])),
        "the work that was done takes": replace(log, steps=(replace(first, used=first.used / 2), *log.steps[1:])),
        "is completed before it arrives": changed(log, "completed", 2, 3.0),
        "is completed with work left": changed(log, "done", 0, 1.0),
        "is not completed without work left": changed(log, "completed", 0, np.nan),
        "has less than no work left": changed(log, "done", 1, 100.0),
        "had not arrived when it was served": replace(log, until=2.0),
    }
    for sentence, wrong in cases.items():
        found = account(wrong).violations
        assert any(sentence in words for words in found), (sentence, found)


def books_of(log):
    """The books by a loop over the groups of tasks."""
    jobs, found = log.workload, dict.fromkeys(("work", "done", "left", "killed", "lost"), 0.0)
    for j, tasks, start, end, outcome in zip(log.job, log.tasks, log.start, log.end, log.outcome, strict=True):
        kept = OUTCOMES[outcome] in ("finished", "running")
        found["done" if kept else "lost"] += tasks * (end - start)
        found["left"] += tasks * (jobs.duration[j] - (end - start)) if OUTCOMES[outcome] == "running" else 0.0
    for j, seconds in enumerate(jobs.duration):
        found["work"] += seconds * jobs.tasks[j] if jobs.arrival[j] <= log.until else 0.0
        found["left"] += seconds * log.waiting[j]
        found["killed"] += seconds * log.cancelled[j]
    return found


@pytest.mark.parametrize("until", [2, 3, 4.5, 5.5, 20])
def test_the_books_are_sums_over_groups_of_tasks(until):
    log = simulate_tasks(JOBS, CLUSTER, "first-fit-drfh", until, events=EVENTS)
    books = account(log)
    assert {name: getattr(books, name) for name in books_of(log)} == pytest.approx(books_of(log))
    assert books.violations == ()


@pytest.mark.parametrize("until", [3, 5.5, 20])
def test_the_books_of_divisible_tasks(until):
    """Who leaves at 6 had a rate of tasks until then; what is neither done nor cancelled is left."""
    log = simulate_fluid(JOBS, CLUSTER, "drfh", until, events=EVENTS)
    books, arrived = account(log), JOBS.arrival <= until
    done = sum(step.tasks.sum() * (step.end - step.start) for step in log.steps)
    assert (books.work, books.lost) == (JOBS.work[arrived].sum(), 0)
    assert books.done == pytest.approx(done)
    assert (books.killed > 0) == (until > 6)
    assert books.work == pytest.approx(books.done + books.left + books.killed)
    assert books.left == pytest.approx((JOBS.work - log.done - log.cancelled)[arrived].sum())


@pytest.mark.parametrize(("arrival", "unit"), [(0, 1), (0, 1e-12), (1.7e9, 1)])
@pytest.mark.parametrize(("part", "seen"), [(1e-6, True), (1e-12, False)])
def test_more_than_rounding_is_a_violation(part, seen, arrival, unit):
    """Two tasks of a half fill a machine of 1 for 10 seconds; also where times are tiny, and where they are those of Unix."""
    jobs = Workload(["cpu", "gpu"], ["u"], [1], [0], [arrival], [2], [10 * unit], [[0.5, 0]])
    cluster = Cluster(["cpu", "gpu"], [[1, 0]])
    log, fluid = simulate_tasks(jobs, cluster, "fifo"), simulate_fluid(jobs, cluster, "drfh")
    assert account(log).violations == account(fluid).violations == ()
    step, least = fluid.steps[-1], part * 10 * unit
    wrong = {
        "but it has": replace(log, cluster=Cluster(["cpu", "gpu"], [[1 - part, 0], [1e12, 0]])),
        "but did not run for its duration": replace(log, end=log.end - least),
        "runs longer than its duration": replace(log, end=log.end + least, until=2e9),
        "is used, but there is": replace(fluid, steps=(replace(step, used=step.used * (1 + part)),)),
        "the work that was done takes": replace(fluid, steps=(replace(step, used=step.used * (1 - part)),)),
        "seconds of tasks, but": replace(fluid, steps=(replace(step, tasks=step.tasks * (1 - part)),)),
        "is completed with work left": replace(fluid, done=fluid.done * (1 - part)),
        "has less than no work left": replace(fluid, done=fluid.done * (1 + part)),
    }
    for sentence, one in wrong.items():
        assert any(sentence in words for words in account(one).violations) == seen, sentence
