"""Whole tasks: all of them tried on small instances, two layers, the filling methods, and what is refused."""

from fractions import Fraction
from itertools import pairwise, permutations
from random import Random

import numpy as np
import pytest
from tolerances import EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models import FairallocError, Instance
from fairalloc.solvers.approximate import one_by_one
from fairalloc.solvers.backends.cvxpy import CvxpySession
from fairalloc.solvers.method import NO_ANSWER, Limits, Session

RULES = ("lmmf", "drfh", "tsf", "mmf", "nb", "utilitarian")


def made(seed):
    """Up to 3 users, 2 servers and 2 resources, with weights, limits and placement, on which users run few tasks."""
    random = np.random.default_rng(seed)
    users, servers = random.integers(1, 4), random.integers(1, 3)
    demands = random.integers(1, 5, (users, 2))
    capacities = random.integers(2, 8, (servers, 2))
    limits = [None if random.random() < 0.7 else int(m) for m in random.integers(1, 4, users)]
    open_ = random.random((users, servers)) < 0.8
    open_[np.arange(users), random.integers(0, servers, users)] = True
    return Instance(demands, capacities, weights=random.integers(1, 4, users).tolist(), max_tasks=limits, eligible=open_)


def everything(instance):
    """Every vector of users' whole tasks that some placement allows."""
    arcs, found = instance.arcs, set()
    load = arcs.load.toarray()

    def place(a, free, u):
        if a == instance.A:
            found.add(u)
            return
        n = int(arcs.user[a])
        while free.min() >= -1e-9 and u[n] <= instance.max_tasks[n]:
            place(a + 1, free, u)
            free, u = free - load[:, a], (*u[:n], u[n] + 1, *u[n + 1 :])

    place(0, np.ones(load.shape[0]), (0,) * instance.N)
    return np.array(sorted(found), dtype=float)


def key(name, instance, tasks):
    """What is compared of tasks, the larger the better."""
    w = instance.weights
    if name == "utilitarian":
        return (w @ tasks,)
    if name == "nb":
        some = tasks > 0
        return some.sum(), w[some] @ np.log(tasks[some])
    v = np.sort(mechanism(name).rate(instance) * tasks)
    return tuple(v[:1] if name == "mmf" else v)


def near(one, other):
    return np.allclose(one, other, rtol=SHARES, atol=SHARES)


def best(name, instance):
    keys = [key(name, instance, tasks) for tasks in everything(instance)]
    return max(keys, key=lambda k: tuple(round(float(v), 9) for v in k))


def tried(name, seed, method="cvxpy:highs"):
    instance = made(seed)
    found = fa.solve(instance, name, method, integral=True)
    assert found.claims_success, (seed, found.message)
    np.testing.assert_array_equal(found.x, np.round(found.x))
    assert near(key(name, instance, found.tasks), best(name, instance)), (seed, found.tasks)
    return found


@pytest.mark.parametrize("method", ["cvxpy:highs", "pyomo:highs"])
@pytest.mark.parametrize("name", RULES)
def test_all_placements_are_tried(name, method):
    for seed in range(3):
        tried(name, seed, method)


@pytest.mark.deep
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("start", range(0, 500, 50))
def test_all_placements_are_tried_on_five_hundred(name, start):
    for seed in range(start, start + 50):
        tried(name, seed)


@pytest.mark.deep
@pytest.mark.parametrize("name", RULES)
def test_the_other_layer_has_the_same_values(name):
    for seed in range(40):
        tried(name, seed, "pyomo:highs")


def test_fixing_stuck_users_would_be_wrong():
    """One unit of a server is left: either user may have the second task, and the other then has one, on no face of fractions."""
    one = Instance([[2], [2], [3]], [[7]])
    found = fa.solve(one, "lmmf", integral=True)
    assert sorted(found.tasks) == [1, 1, 1]
    two = Instance([[2], [2]], [[7]])
    assert sorted(fa.solve(two, "lmmf", integral=True).tasks) == [1, 2]
    assert fa.solve(two, "lmmf").tasks == pytest.approx([7 / 4, 7 / 4], rel=EXACT)


def test_the_gap_is_proved_and_another_answer_is_worse():
    found = tried("lmmf", 5)
    assert found.residuals["optimality"] <= RESIDUAL
    assert "proved to a gap" in found.message
    assert all(one >= other for one, other in pairwise(sorted(best("lmmf", made(5)))[::-1]))


@pytest.mark.parametrize("rule", [mechanism("lmmf", integral=True), mechanism("lmmf").edited("same", cvxpy=lambda p, _: p)])
@pytest.mark.parametrize("ended", ["time_limit", "error"])
def test_rounds_that_are_missing_leave_nothing_judged(monkeypatch, rule, ended):
    """The residual of the first rounds had been that of the answer: 0 where six rounds of sixty were solved."""
    optimise, rounds = CvxpySession.optimise, []
    monkeypatch.setattr(CvxpySession, "optimise", lambda self: ended if rounds else rounds.append(0) or optimise(self))
    found = fa.solve(fa.example("khamse-fig1").instance, rule, "cvxpy:highs", isolate=False)
    assert (found.termination, found.residual, found.message) == (ended, np.inf, NO_ANSWER * (ended == "error"))
    assert found.not_judged
    assert found.has_point


@pytest.mark.parametrize("method", ["sequential-minmax", "best-fit"])
def test_filling_fits_and_leaves_no_room(method):
    """At most what fractions reach, and nobody can run one more task."""
    for seed in range(8):
        instance = made(seed)
        found = fa.solve(instance, "drfh", method, integral=True)
        assert found.termination == "approximate"
        assert found.residuals["feasibility"] == 0
        assert "in fractions" in found.message
        assert not (key("drfh", instance, found.tasks) > best("drfh", instance)) or near(
            key("drfh", instance, found.tasks), best("drfh", instance)
        )
        free = 1 - instance.arcs.load @ found.x
        for a in range(instance.A):
            fits = np.all(free >= instance.arcs.load.toarray()[:, a] - 1e-9)
            n = instance.arcs.user[a]
            assert not fits or found.tasks[n] + 1 > instance.max_tasks[n]


def test_what_is_refused():
    one = Instance([[1], [2]], [[5]], counts=[2])
    with pytest.raises(FairallocError, match="whole tasks need servers one by one, but server 's1' stands for 2"):
        fa.solve(one, "lmmf", integral=True)
    with pytest.raises(FairallocError, match="whole tasks are for utilitarian, nb and max-min rules"):
        fa.solve(one, "uniform", integral=True)
    with pytest.raises(FairallocError, match="integral is 1, but it must be true or false"):
        fa.solve(one, "lmmf", integral=1)
    with pytest.raises(FairallocError, match="'lmmf' knows no min_tasks for whole tasks"):
        fa.solve(Instance([[1], [2]], [[5]], min_tasks=[1, 0]), "lmmf", integral=True)
    assert fa.mechanism("lmmf", integral=True).parameters == {"integral": True}
    assert fa.mechanism("lmmf", integral=False) is fa.mechanism("lmmf")


@pytest.mark.parametrize(
    ("tasks", "one", "any_"),
    [([3, 2], True, True), ([4, 1], False, False), ([2.5, 2.5], None, None)],
)
def test_envy_up_to_a_task(tasks, one, any_):
    allocation = fa.Allocation(Instance([[1], [1]], [[5]]), tasks)
    assert fa.check(allocation, "envy-up-to-one-task").holds is one
    assert fa.check(allocation, "envy-up-to-any-task").holds is any_


def envied(instance, x, extreme):
    """The most tasks by which somebody could run more with another's bundles less a task, task by task, in rationals."""
    exact, most = instance.exact, Fraction(0)
    arcs = list(zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), x, strict=True))
    places = {(n, i): v for n, i, v in arcs}
    for (n, w), (m, v) in permutations(enumerate(exact.weights), 2):
        runs = sum(places.get((n, i), 0) for i in range(instance.K))
        left = []
        for taken in [i for i in range(instance.K) if places.get((m, i), 0)]:
            could = 0
            for i in [i for i in range(instance.K) if (n, i) in places]:
                bundle = [(places.get((m, i), 0) - (i == taken)) * d * w / v for d in exact.demands[m][0]]
                could += min(a // d for a, d in zip(bundle, exact.demands[n][0], strict=True) if d)
            limit = exact.max_tasks[n]
            left.append((could if limit is None else min(could, limit)) - runs)
        most = max(most, extreme(left, default=0))
    return most


@pytest.mark.parametrize("seed", range(60))
def test_envy_up_to_a_task_is_that_of_the_definition(seed):
    chance = Random(seed)
    N, K = chance.randint(2, 4), chance.randint(1, 3)
    demands = [[chance.randint(0, 2), chance.randint(1, 3)] for _ in range(N)]
    limits = [chance.choice([None, 1, 3, 6]) for _ in range(N)]
    eligible = [[chance.random() < 0.8 or i == n % K for i in range(K)] for n in range(N)]
    weights = [chance.choice([1, 1, 2]) for _ in range(N)]
    instance = Instance(demands, [[50, 90]] * K, max_tasks=limits, eligible=eligible, weights=weights)
    tasks = [chance.randint(0, 4) for _ in range(instance.A)]
    for name, extreme in (("one", min), ("any", max)):
        verdict = fa.check(fa.Allocation(instance, tasks), f"envy-up-to-{name}-task")
        envy = envied(instance, tasks, extreme)
        assert verdict.holds is (envy <= 0)
        if envy > 0:
            assert verdict.witness["better"] - verdict.witness["tasks"] >= 1


def test_one_task_is_less_than_any():
    """Without the task on the server that the other may use nothing is left for it; without the other task there is one."""
    servers = Instance([[1], [1]], [[1], [1]], eligible=[[1, 1], [1, 0]])
    allocation = fa.Allocation(servers, [1, 1, 0])
    assert fa.check(allocation, "envy-up-to-one-task").holds
    assert not fa.check(allocation, "envy-up-to-any-task").holds


def test_tasks_one_by_one_may_leave_no_room_for_a_large_one():
    """The first task of five sevenths comes too late, and the other user goes on; lexicographic whole tasks have no such envy."""
    two = Instance([[5], [1]], [[7]])
    filled = fa.solve(two, "drfh", "sequential-minmax", integral=True)
    assert filled.tasks.tolist() == [0, 7]
    assert not fa.check(filled, "envy-up-to-one-task").holds
    whole = fa.solve(two, "drfh", integral=True)
    assert whole.tasks.tolist() == [1, 2]
    assert fa.check(whole, "envy-up-to-one-task").holds


def filled(instance, start, ahead):
    """The rule of both filling methods, step by step in rationals: tasks on arcs, by user and server."""
    exact, pairs = instance.exact, list(zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), strict=True))
    takes = {(n, i): [d / c for d, c in zip(exact.demands[n][0], exact.capacities[i], strict=True)] for n, i in pairs}
    x = dict(zip(pairs, map(int, start), strict=True))
    totals = [sum(c) for c in zip(*exact.capacities, strict=True)]
    rates = [
        max(d / c for d, c in zip(vectors[0], totals, strict=True)) / w
        for vectors, w in zip(exact.demands, exact.weights, strict=True)
    ]
    blocked = set()
    while len(blocked) < instance.N:
        tasks = [sum(x[pair] for pair in pairs if pair[0] == n) for n in range(instance.N)]
        n = min((n for n in range(instance.N) if n not in blocked), key=lambda n: (rates[n] * (tasks[n] + ahead), n))
        fits = {}
        for pair in (pair for pair in pairs if pair[0] == n):
            there = [(takes[m, i], count) for (m, i), count in x.items() if i == pair[1]]
            used = [sum(own[r] * count for own, count in there) for r in range(instance.R)]
            left = [1 - u - t for u, t in zip(used, takes[pair], strict=True) if t]
            if min(left) >= 0:
                fits[pair] = sum(left)
        limit = exact.max_tasks[n]
        if not fits or (limit is not None and tasks[n] + 1 > limit):
            blocked.add(n)
        else:
            x[min(fits, key=fits.__getitem__)] += 1
    return [x[pair] for pair in pairs]


@pytest.mark.parametrize("method", ["sequential-minmax", "best-fit"])
def test_filling_is_its_rule_step_by_step(method):
    for seed in range(4):
        random = np.random.default_rng(seed)
        demands, capacities = random.integers(5, 40, (4, 2)), random.integers(60, 140, (3, 2))
        limits = [None, "5/2", None, 3]
        instance = Instance(demands, capacities, weights=[3, 1, "7/5", 2], max_tasks=limits, eligible=made_places(random))
        found = fa.solve(instance, "drfh", method, integral=True)
        fractions = fa.solve(instance, "drfh", accuracy="mid")
        start = np.floor(fractions.x + 1e-9) if method == "best-fit" else np.zeros(instance.A)
        assert found.x.tolist() == filled(instance, start, method == "sequential-minmax")
        values = [fa.mechanism("drfh").values(one)["g"] for one in (found, fractions)]
        assert f"g is {values[0]:.6g}, and {values[1]:.6g} in fractions" in found.message


def made_places(random):
    """Placement where every user has a server."""
    found = random.random((4, 3)) < 0.7
    found[np.arange(4), random.integers(0, 3, 4)] = True
    return found


@pytest.mark.parametrize("name", RULES)
def test_the_definition_is_checked_of_every_allocation(name):
    """Objectives that are not those of the models, and shares in rising order."""
    instance = Instance([[2, 1], [1, 2], [1, 1]], [[3, 3]], weights=[1, 2, 1])
    rule, most = fa.mechanism(name).configure(integral=True), best(name, instance)
    for tasks in everything(instance):
        verdict = fa.check(fa.Allocation(instance, tasks), rule)
        assert verdict.holds == near(key(name, instance, tasks), most), (tasks, verdict)
    assert fa.check(fa.solve(instance, name, integral=True), name).holds
    assert not fa.check(fa.Allocation(instance, [0.5, 0.5, 0.5]), rule).holds, "no whole tasks"


@pytest.mark.parametrize("method", ["sequential-minmax", "best-fit"])
def test_the_answer_in_fractions_has_the_time_that_is_left_and_may_have_none(method, monkeypatch):
    two = Instance([[1, 2], [2, 1]], [[4, 4]])
    asked, nothing = [], fa.Allocation(two, [np.nan, np.nan]).noted(termination="time_limit")
    monkeypatch.setattr(one_by_one, "solve", lambda *_, **given: asked.append(given["time_limit"]) or nothing)
    found = fa.solve(two, "drfh", method, time_limit=50, integral=True)
    assert 0 < asked[0] <= 50
    assert (found.termination, found.has_point) == ("time_limit", False)


def test_whole_tasks_have_no_negative_zeros(monkeypatch):
    """HiGHS' integers may be below 0 by its tolerance."""
    monkeypatch.setattr(Session, "solve", lambda *_: (np.array([-1e-9, 2.0]), None))
    whole = mechanism("utilitarian").configure(integral=True)
    x = Session(whole, Instance([[1]], [[4]]), Limits()).solve_whole(None)
    assert x.tolist() == [0.0, 2.0]
    assert not np.signbit(x).any()


def test_numbers_far_apart_are_no_proof_that_there_is_no_allocation():
    """A share of 1e15 is beyond what the solver tells apart: nobody running any task is always possible."""
    far = Instance([["21/25"], [4], [5750000000]], [["43/5"], ["367/50"]], weights=["5/2", 262, "137/10000000"])
    found = fa.solve(far.replace(max_tasks=[9, None, "1/1000000000"]), "drfh", "pyomo:highs", integral=True)
    assert found.termination != "infeasible"
    assert not found.claims_success


def test_another_solver_gets_no_options_of_highs():
    """Where HiGHS fails another is asked, whose refusal of an option that nobody gave was the answer."""
    pair = Instance([[1], [1]], [[10]], weights=[1, 1e9])
    for method in (None, "cvxpy:scipy"):
        assert fa.solve(pair, "lmmf", method, integral=True).tasks.tolist() == [1, 9]


@pytest.mark.parametrize("capacity", [1e12, 1e20])
@pytest.mark.parametrize("method", [None, "best-fit"])
def test_tasks_too_many_to_be_counted_are_refused(capacity, method):
    """Memory ended at 1e12 tasks, and whoever could run 1e20 got none in an answer that was called optimal."""
    many = Instance([[1, 0], [0, 1]], [[capacity, 4]])
    with pytest.raises(fa.NotApplicable, match=r"counts whole tasks one by one, at most 1,000,000, but users could run 1e\+"):
        fa.solve(many, "nb", method, integral=True)
    assert fa.solve(many.replace(max_tasks=[9, None]), "nb", method, integral=True).tasks.tolist() == [9, 4]
