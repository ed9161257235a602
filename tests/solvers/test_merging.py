"""Identical users and servers solved as one: the answers of the given instance, proved there, for all that allow it."""

from importlib import import_module

import numpy as np
import pytest
from tolerances import EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models import Instance
from fairalloc.solvers import symmetry
from fairalloc.solvers.method import Limits
from fairalloc.solvers.running import dispatch
from fairalloc.solvers.running.dispatch import Request
from fairalloc.solvers.symmetry import classes_of

WORDS = "which stand for identical ones"
RULES = ["drfh", "tsf", "lmmf", "asset", "mmf", "drfh-lp"]
GAMES = [("alpha-pf-vds", {"alpha": 1}), ("alpha-pf-vds", {"alpha": 5}), ("ps-dsf", {}), ("ps-dsf-tdm", {})]
SEVERAL_ANSWERS = ("alpha-pf-vds", "ps-dsf")
POOLED = [("drf", {}), ("fds", {"alpha": 0.5}), ("fds", {"alpha": 1}), ("fds", {})]
ALL = [*((rule, {}) for rule in RULES), ("nb", {}), *GAMES, *POOLED, ("drf-per-server", {})]


@pytest.fixture(autouse=True)
def _small_instances_too(monkeypatch):
    monkeypatch.setattr(symmetry, "FEWEST", 0)


def repeated(placement=True, limits=True, variants=False, seed=1, users=5, servers=3, times=4):
    """Every user and every server several times, in a random order; weights differ, limits are proportional to them."""
    rng = np.random.default_rng(seed)
    demands = rng.uniform(0.1, 1, (users, 1 + variants, 3)).round(2)
    capacities, weights = rng.uniform(5, 20, (servers, 3)).round(1), rng.uniform(0.5, 2, users).round(2)
    allowed = rng.random((users, servers)) < 0.7
    allowed[:, 0] = True
    most = np.where(np.arange(users) < 2, 3.0, np.inf)
    user, server = (rng.permutation(np.repeat(np.arange(size), times)) for size in (users, servers))
    part = rng.uniform(0.1, 1, len(user)) * weights[user]
    return Instance(
        demands[user] if variants else demands[user, 0],
        capacities[server],
        weights=part,
        counts=rng.integers(1, 4, len(server)),
        max_tasks=most[user] * part if limits else None,
        eligible=allowed[user][:, server] if placement else None,
    )


def of(name):
    """The features that the mechanism takes."""
    pools = name in ("drf", "fds")
    return {"placement": not pools, "limits": name != "drf-per-server", "variants": name in ("lmmf", "nb", "mmf")}


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "parameters"), ALL)
def test_the_answer_is_that_of_the_given_instance(name, parameters):
    instance = repeated(**of(name), times=2 if (name, parameters) in GAMES else 4)
    merged = fa.solve(instance, name, **parameters)
    apart = fa.solve(instance, name, merge=False, **parameters)
    assert WORDS in merged.message
    assert WORDS not in apart.message
    assert merged.claims_success
    assert max(merged.residual, apart.residual) <= RESIDUAL
    rule = mechanism(name).configure(**parameters)
    assert merged.instance == rule.home(instance)
    assert rule.residual(merged) <= RESIDUAL
    if name in ("mmf", "drfh-lp"):
        assert merged.values["g"] == pytest.approx(apart.values["g"], rel=EXACT)
    elif name not in SEVERAL_ANSWERS:
        np.testing.assert_allclose(merged.tasks, apart.tasks, rtol=SHARES)


def test_of_the_utilitarian_answer_only_servers_are_merged():
    instance = repeated()
    merged, apart = fa.solve(instance, "utilitarian"), fa.solve(instance, "utilitarian", merge=False)
    assert merged.message == f"solved as {instance.N} users and 3 servers, {WORDS}"
    assert merged.values["objective"] == pytest.approx(apart.values["objective"], rel=EXACT)
    assert merged.residual <= RESIDUAL


@pytest.mark.parametrize("name", ["gavel-max-min", "gavel-makespan"])
def test_jobs_with_time_of_their_own_are_not_one_job(name):
    """Identical jobs of large instances were merged without their own time: an IndexError."""
    jobs = Instance([[1]] * 4, [[3], [3]], rates=[[2, 1]] * 4, max_tasks=[1] * 4)
    assert fa.solve(jobs, name).values["g"] == pytest.approx(fa.solve(jobs, name, merge=False).values["g"], rel=EXACT)


def test_prices_are_those_of_the_model_on_the_given_instance():
    """Eisenberg-Gale prices are unique here: a row of a class has its part of the prices of the class."""
    instance = repeated(limits=False)
    merged, apart = (fa.solve(instance, "nb", accuracy="high", merge=merge) for merge in (True, False))
    np.testing.assert_allclose(merged.prices, apart.prices, atol=SHARES * apart.prices.max())


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_users_in_two_parts_and_servers_in_two_parts_change_nothing(name):
    plain = repeated(times=1)
    parts = np.random.default_rng(2).uniform(0.1, 0.9, plain.N)
    weights, limits = (np.concatenate([given * parts, given * (1 - parts)]) for given in (plain.weights, plain.max_tasks))
    twice = Instance(
        np.concatenate([plain.demands, plain.demands])[:, 0],
        np.concatenate([plain.capacities, plain.capacities]),
        weights=weights,
        max_tasks=limits * 2,
        counts=np.tile(plain.counts, 2),
        eligible=np.tile(plain.placement, (2, 2)),
    )
    found, expected = fa.solve(twice, name), fa.solve(plain, name)
    assert WORDS in found.message
    np.testing.assert_allclose(found.tasks[: plain.N] + found.tasks[plain.N :], 2 * expected.tasks, rtol=SHARES)
    np.testing.assert_allclose(found.tasks[: plain.N], 2 * parts * expected.tasks, rtol=SHARES)


def classes(instance, name="lmmf"):
    """(users, servers) that are left, None where nothing is merged."""
    found = classes_of(mechanism(name), instance)
    return None if found is None else (found.merged.N, found.merged.K)


PAIR = Instance([[1, 2], [1, 2], [2, 1], [2, 1]], [[3, 4], [3, 4]])


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({}, (2, 1)),
        ({"weights": [1, 2, 3, 4]}, (2, 1)),
        ({"counts": [1, 5]}, (2, 1)),
        ({"max_tasks": [1, 1, None, None]}, (2, 1)),
        ({"max_tasks": ["1/10", "3/10", 7, 7], "weights": ["1/5", "3/5", 1, 1]}, (2, 1)),
        ({"max_tasks": [1, 2, None, None]}, (3, 1)),
        ({"max_tasks": [1, None, None, None]}, (3, 1)),
        ({"eligible": [[1, 1], [0, 1], [1, 1], [1, 1]]}, (3, 2)),
        ({"eligible": [[0, 1], [0, 1], [1, 1], [1, 1]]}, (2, 2)),
        ({"demands_on": {(0, 0): [1, 3]}}, (3, 2)),
        ({"demands_on": {(0, 0): [1, 3], (1, 0): [1, 3]}}, (2, 2)),
        ({"demands_on": {(n, i): [1, 3] for n in (0, 1) for i in (0, 1)}}, (2, 1)),
        ({"demands": [[1, 2], [2, 1], [1, 3], [1, 2.5]], "capacities": [[3, 4], [4, 3]]}, None),
        ({"demands": [[[1, 2], [2, 1]], [[2, 1], [1, 2]], [1, 2], [2, 1]]}, (4, 1)),
    ],
)
def test_who_is_identical(change, left):
    assert classes(PAIR.replace(**change)) == left


def test_what_is_merged_has_the_sums():
    merged = classes_of(mechanism("nb"), PAIR.replace(weights=[1, 2, 3, 4], counts=[1, 5], max_tasks=[1, 2, None, None])).merged
    assert merged == Instance(
        [[1, 2], [2, 1]], [[3, 4]], weights=[3, 7], counts=[6], max_tasks=[3, None], users=["u1", "u3"], servers=["s1"]
    )


def test_mechanisms_that_do_not_allow_it_and_small_instances_are_left_alone(monkeypatch):
    assert classes(PAIR, "uniform") is classes(PAIR, "njc") is None
    assert classes(PAIR, "ps-dsf") == (2, 2)
    own = fa.mechanism("drfh").edited("own", cvxpy=lambda problem, _: problem)
    assert WORDS not in fa.solve(PAIR, own).message
    assert WORDS not in fa.solve(PAIR, "drfh", trace=True).message
    assert WORDS not in fa.solve(PAIR, "drfh", "interior-point").message
    assert WORDS in fa.solve(PAIR, "drfh", "interior-point", merge=True).message
    monkeypatch.setattr(symmetry, "FEWEST", 1000)
    assert WORDS not in fa.solve(PAIR, "drfh").message


def test_what_is_not_proved_on_the_given_instance_is_solved_again(monkeypatch):
    """Were two users who differ taken for one, the residual would not allow it."""
    monkeypatch.setattr(symmetry, "alike_users", lambda instance, *_: np.zeros(instance.N, dtype=np.intp))
    instance = Instance([[1, 2], [2, 1]], [[4, 4]])
    answer = fa.solve(instance, "drfh")
    assert WORDS not in answer.message
    np.testing.assert_allclose(answer.tasks, fa.solve(instance, "drfh", merge=False).tasks, rtol=EXACT)


@pytest.mark.parametrize("when", ["solving", "judging"])
def test_ctrl_c_ends_a_merged_solve_with_its_point(monkeypatch, when):
    """It had gone on with all users and servers, and what had been found was lost."""
    module = import_module("fairalloc.solvers.solve")
    asked = []

    def ended(request, *others):
        asked.append(request.instance.A)
        answer = best_attempt(request, *others)
        return answer.noted(termination="interrupted") if when == "solving" else answer

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    best_attempt = dispatch.best_attempt
    monkeypatch.setattr(dispatch, "best_attempt", ended)
    if when == "judging":
        monkeypatch.setattr(module, "judged", interrupted)
    answer = fa.solve(PAIR, "drfh")
    assert (asked, answer.termination, answer.has_point) == ([2], "interrupted", True)


def test_a_merged_point_is_not_lost_where_time_is_over(monkeypatch):
    """The given instance was asked without time left, and its answer without a point was returned."""
    module, kept, asked = import_module("fairalloc.solvers.solve"), [], []

    def late(request, methods, keep, later):
        asked.append(request.instance.A)
        found = fa.Allocation(request.instance, [1, 1], termination="time_limit")
        keep(found)
        return found

    monkeypatch.setattr(dispatch, "best_attempt", late)
    answer = module._solved(Request(mechanism("drfh"), PAIR, Limits(deadline=0.0), merge=True), {}, kept.append)
    assert (asked, answer.termination) == ([2], "time_limit")
    np.testing.assert_allclose(answer.tasks, 0.5)
    assert {(found.instance.A, found.not_judged) for found in kept} == {(8, "not judged: there was no time left to judge it")}
    assert WORDS in kept[0].message


def test_the_better_of_a_merged_answer_and_the_others_counts(monkeypatch):
    module = import_module("fairalloc.solvers.solve")
    best_attempt, before = dispatch.best_attempt, []
    monkeypatch.setattr(dispatch, "best_attempt", lambda *given: before.append(given[4:]) or best_attempt(*given))
    monkeypatch.setattr(
        module, "judged", lambda rule, found, *_, **__: found.noted(termination="inaccurate", residuals={"definition": 1})
    )
    assert fa.solve(PAIR, "drfh").claims_success
    assert [len(given) for given in before] == [0, 1]
    assert before[1][0].termination == "inaccurate"
