"""Explanations are right: what each sentence says of a capacity is compared with another solve, or with its certificate."""

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from narrow import JOBS
from profiles import drawn
from strategies import instances
from tolerances import RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.analysis.explanations import duals, programs, rounds
from fairalloc.analysis.explanations.costs import Costs, cleaned
from fairalloc.analysis.explanations.explanation import Explanation, said
from fairalloc.analysis.explanations.peers import compared_with_peer
from fairalloc.models import Allocation, Instance, InstanceError, NotApplicable, UnknownName
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES
from fairalloc.models.examples.schedulers import SCHEDULER_EXAMPLES
from fairalloc.solvers import solve
from fairalloc.solvers.judge import UserError

STEP = Fraction(1, 10**8)
"""The relative step of a re-solve in rationals."""

QUOTIENT = 1e-6
"""What such a quotient may be off for a whole capacity, relative to tasks: a step times a curvature of order one."""

ROUGH = 1e-3
"""The same in floating point with a step of 1e-4."""

UNIQUE = ("drfh", "tsf", "lmmf", "asset", "drf", "drf-per-server", "uniform")
"""Mechanisms with unique tasks and rational answers."""

FAMILIES = ("generic", "tied", "zero_demand", "placement", "finite")

GAMES = ("ps-dsf", "ps-dsf-tdm", "alpha-pf-vds")


FROM_0 = Fraction(1, 10**6)
"""The step for a capacity of 0, a part of the largest of its resource."""


def moved(instance, part, places):
    """The instance with these capacities larger by this part of them, exactly."""
    capacities = [list(row) for row in instance.exact.capacities]
    for i, r in places:
        capacities[i][r] += part * size(instance, i, r)
    return instance.replace(capacities=capacities)


def size(instance, i, r):
    """A capacity; where it is 0, the largest of its resource."""
    return instance.exact.capacities[i][r] or max(row[r] for row in instance.exact.capacities)


def place(instance, facts):
    return instance.servers.index(facts["server"]), instance.resources.index(facts["resource"])


def predictions(explanation):
    """(user, (server, resource), right?, derivative) of every sentence that says what a capacity changes."""
    instance = explanation.allocation.instance
    for sentence in explanation.sentences:
        if sentence.kind != "effect":
            continue
        facts = sentence.facts
        named = facts.get("capacities", [facts])
        users = facts.get("users") or facts["changes"]
        for capacity in named:
            for user in users:
                sides = facts["changes"][user] if "changes" in facts else {"more": 0.0, "less": 0.0}
                i, r = place(instance, capacity)
                for side, right in (("more", True), ("less", False))[: 2 if instance.capacities[i, r] else 1]:
                    yield instance.users.index(user), (i, r), right, sides[side]


def wrong(explanation, step=STEP, allowed=QUOTIENT, **asked):
    """The predictions that another solve does not bear out, and how many there are."""
    allocation = explanation.allocation
    instance, item = allocation.instance, fa.mechanism(explanation.mechanism).configure(**allocation.parameters)

    def tasks(of):
        found = solve(of, item, **asked)
        return found.tasks_exact if found.tasks_exact is not None else found.tasks.tolist()

    here, known, bad, count = tasks(instance), {}, [], 0
    for n, (i, r), right, predicted in predictions(explanation):
        sign = 1 if right else -1
        none = not instance.capacities[i, r]
        part, within = (max(step, FROM_0), ROUGH) if none else (step, allowed)
        if (i, r, sign) not in known:
            known[i, r, sign] = tasks(moved(instance, sign * part, [(i, r)]))
        by = sign * part * size(instance, i, r)
        found = float((known[i, r, sign][n] - here[n]) / (by if isinstance(here[n], Fraction) else float(by)))
        count += 1
        if abs(found - predicted) * float(size(instance, i, r)) > within * max(map(float, here)):
            bad.append((n, (i, r), right, predicted, found))
    return bad, count


def examples(*mechanisms):
    return [(item, e.name) for item in mechanisms for e in EXAMPLES if item in e.answers]


# ---- effects ----------------------------------------------------------------------------------------------------------


@pytest.mark.few(8)
@pytest.mark.parametrize(("item", "name"), examples(*UNIQUE))
def test_effects_on_the_papers_examples(item, name):
    explanation = fa.explain(solve(fa.example(name).instance, item))
    bad, count = wrong(explanation, method="exact")
    assert bad == []
    assert count


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("item", "family"), [*(("drfh", f) for f in FAMILIES), *((item, f) for item in UNIQUE[1:] for f in ("tied", "finite"))]
)
def test_effects_on_generated_instances(item, family):
    instance = getattr(generators, family)(4, 2, 2, 1)
    if item == "drf-per-server" and family == "finite":
        with pytest.raises(NotApplicable):
            solve(instance, item)
        return
    bad, count = wrong(fa.explain(solve(instance, item)), method="exact")
    assert bad == []
    assert count >= 4


@given(instances(variants=False, overrides=False, rates=False, scales=False))
@settings(max_examples=drawn(6))
def test_effects_on_any_instance(instance):
    """Ties, zeros, weights, limits and placement."""
    allocation = solve(instance, "drfh", "exact")
    bad, _ = wrong(fa.explain(allocation), method="exact")
    assert bad == []


@pytest.mark.parametrize(("item", "name"), [*examples("nb")[:2], ("fds", "wang-pool")])
def test_effects_of_concave_programs(item, name):
    explanation = fa.explain(solve(fa.example(name).instance, item, accuracy="high"))
    bad, count = wrong(explanation, Fraction(1, 10**4), ROUGH, accuracy="high")
    assert bad == []
    assert count or any(s.kind == "note" for s in explanation.sentences)


def test_a_wrong_effect_is_seen():
    explanation = fa.explain(solve(fa.example("wang-fig2").instance, "drfh"))
    k, sentence = next((k, s) for k, s in enumerate(explanation.sentences) if s.kind == "effect")
    changes = {user: {"more": sides["more"] + 0.1, "less": sides["less"]} for user, sides in sentence.facts["changes"].items()}
    altered = replace(sentence, facts={**sentence.facts, "changes": changes})
    sentences = (*explanation.sentences[:k], altered, *explanation.sentences[k + 1 :])
    bad, _ = wrong(replace(explanation, sentences=sentences), method="exact")
    assert {n for n, *_ in bad} == {0, 1}
    capacities = [{"server": "s1", "resource": "cpu"}]
    idle = replace(sentence, facts={"capacities": capacities, "users": ["u1"]})
    bad, _ = wrong(replace(explanation, sentences=(idle,)), method="exact")
    assert len(bad) == 2


# ---- rounds -----------------------------------------------------------------------------------------------------------


def faults_of_rounds(explanation):
    """What is wrong in sentences on rounds, users and servers, by the allocation's rationals."""
    allocation = explanation.allocation
    item = fa.mechanism(explanation.mechanism) if isinstance(explanation.mechanism, str) else explanation.mechanism
    domain = item.domain(allocation.instance)
    arcs, rate, faults = exact_arcs(domain), item.exact_rate(domain), []
    loads, tasks = arcs.loads(allocation.x_exact), arcs.tasks(allocation.x_exact)
    v = [r * u for r, u in zip(rate, tasks, strict=True)]
    active = set(range(domain.N))
    for sentence in explanation.sentences:
        facts = sentence.facts
        for capacity in [*facts.get("prices", []), *({**one, **facts} for one in facts.get("held_by", []))]:
            i, r = place(domain, capacity)
            if loads[i * domain.R + r] != 1 or not capacity.get("price", 1) > 0:
                faults.append(sentence.text)
        if sentence.kind == "round" and facts["round"] == facts["last_round"]:
            faults += [sentence.text for user in facts["users"] if v[domain.users.index(user)] != facts["level"]]
            y = worth(domain, arcs, rate, facts["prices"])
            kept = sum(one * min(w, facts["level"]) for one, w in zip(y, v, strict=True))
            faults += [sentence.text] * (sum(p["price"] for p in facts["prices"]) != kept)
            faults += [sentence.text] * (bool(facts["prices"]) and sum(y[n] for n in active) != 1)
        if sentence.kind == "round":
            active -= {domain.users.index(user) for user in facts["users"]}
        if sentence.kind == "user":
            n = domain.users.index(facts["user"])
            faults += [sentence.text] * ((facts["tasks"], facts["share"]) != (tasks[n], v[n]))
            faults += [sentence.text] * (facts["limited"] != (tasks[n] == arcs.limits[n]))
        if sentence.kind == "server" and "server" in facts:
            faults += [sentence.text] * (not facts["held_by"] or facts["cost"] < facts["cheapest"])
            faults += [sentence.text] * bool(facts["tasks"] and facts["cost"] != facts["cheapest"])
    return faults


def worth(domain, arcs, rate, named):
    """(N,) what a unit of each user's share costs at the named prices."""
    prices = [Fraction(0)] * arcs.rows
    for p in named:
        i, r = place(domain, p)
        prices[i * domain.R + r] = p["price"]
    return [q / one for q, one in zip(arcs.cheapest(prices), rate, strict=True)]


@pytest.mark.few(3)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("item", ["drfh", "tsf", "lmmf"])
def test_rounds_are_what_their_certificate_says(item, family):
    for seed in range(2):
        explanation = fa.explain(solve(getattr(generators, family)(5, 3, 2, seed), item, "exact"))
        assert faults_of_rounds(explanation) == []
        assert {s.source for s in explanation.sentences if s.kind in ("round", "user", "server")} == {"certificate"}


@given(instances(overrides=False, rates=False, scales=False))
@settings(max_examples=drawn(6))
def test_rounds_of_any_instance(instance):
    explanation = fa.explain(solve(instance, "lmmf", "exact"))
    assert faults_of_rounds(explanation) == []
    assert_prices_bound_the_first_level(explanation)
    assert_nothing_else_helps(explanation)


def assert_prices_bound_the_first_level(explanation):
    """1 % more or less of any capacity: the least share is at most g + p d, with p = 0 where no price is named."""
    instance = explanation.allocation.instance
    rounds_ = [s for s in explanation.sentences if s.kind == "round"]
    if rounds_[0].facts["last_round"] != 1:
        return
    facts = rounds_[0].facts
    prices = {place(instance, p): p["price"] for p in facts["prices"]}
    for i, r in np.argwhere(instance.capacities > 0).tolist():
        for d in (Fraction(1, 100), Fraction(-1, 100)):
            tasks = solve(moved(instance, d, [(i, r)]), "lmmf", "exact").tasks_exact
            least = min(u / w for u, w in zip(tasks, instance.exact.weights, strict=True))
            assert least <= facts["level"] + prices.get((i, r), 0) * d or least == facts["level"]


def assert_nothing_else_helps(explanation):
    """With 1 % more of everything that no round names, everybody runs what it ran: shares of lmmf do not depend on capacities."""
    instance = explanation.allocation.instance
    named = {place(instance, p) for s in explanation.sentences if s.kind == "round" for p in s.facts["prices"]}
    others = [key for key in map(tuple, np.argwhere(instance.capacities > 0).tolist()) if key not in named]
    again = solve(moved(instance, Fraction(1, 100), others), "lmmf", "exact")
    assert again.tasks_exact == explanation.allocation.tasks_exact


def test_a_wrong_round_is_seen():
    explanation = fa.explain(solve(fa.example("khamse-fig1").instance, "drfh", "exact"))
    assert faults_of_rounds(explanation) == []
    for k, sentence in enumerate(explanation.sentences):
        if sentence.kind == "round":
            (price, *more) = sentence.facts["prices"]
            altered = {**sentence.facts, "prices": [{**price, "price": price["price"] * 2}, *more]}
            other = {**sentence.facts, "prices": [{**price, "resource": "cpu"}, *more]}
            for facts in (altered, other):
                sentences = (*explanation.sentences[:k], replace(sentence, facts=facts), *explanation.sentences[k + 1 :])
                assert faults_of_rounds(replace(explanation, sentences=sentences))


@pytest.mark.parametrize("family", FAMILIES)
def test_prices_say_the_same_as_rationals(family, monkeypatch):
    """Where there are too many arcs for rationals: the same rounds, and every resource that holds somebody back is full."""
    allocation = solve(getattr(generators, family)(5, 3, 2, 1), "drfh")
    exact = fa.explain(allocation)
    monkeypatch.setattr(rounds, "EXACT", 0)
    monkeypatch.setattr(sys.modules["fairalloc.analysis.explanations.explain"], "ARCS", 0)
    floats = fa.explain(allocation)
    users = [[(s.facts["user"], s.facts["limited"]) for s in e.sentences if s.kind == "user"] for e in (exact, floats)]
    assert users[0] == users[1]
    shares = [[float(s.facts["share"]) for s in e.sentences if s.kind == "user"] for e in (exact, floats)]
    np.testing.assert_allclose(shares[0], shares[1], rtol=SHARES)
    load = allocation.load
    held = [(s.facts["server"], one["resource"]) for s in floats.sentences for one in s.facts.get("held_by", [])]
    assert held
    for server, resource in held:
        i, r = place(allocation.instance, {"server": server, "resource": resource})
        assert load[i, r] >= 1 - SHARES
    assert {s.source for s in floats.sentences if s.kind == "server"} == {"prices"}


def test_who_runs_all_its_tasks_gains_from_no_capacity():
    instance = Instance([[1, 1], [1, 2], [2, 1]], [[10, 10]], max_tasks=[1, None, 2])
    for item in ("drfh", "nb", "utilitarian", "ps-dsf", "alpha-pf-vds", "njc", "uniform", "mmf"):
        explanation = fa.explain(solve(instance, item))
        limited = [s.facts["user"] for s in explanation.sentences if s.kind == "user" and s.facts["limited"]]
        assert "u1" in limited, item
        for r in range(2):
            tasks = solve(moved(instance, Fraction(1, 10), [(0, r)]), item).tasks
            assert all(tasks[instance.users.index(u)] <= instance.max_tasks[instance.users.index(u)] + SHARES for u in limited)


# ---- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("item", ["utilitarian", "mmf"])
def test_prices_bound_the_value_of_a_program(item, family):
    instance = getattr(generators, family)(4, 2, 2, 2)
    explanation = fa.explain(solve(instance, item, "exact"))
    facts = next(s.facts for s in explanation.sentences if s.kind == "prices")
    prices = {place(instance, p): p["price"] for p in facts["prices"]}
    weights = instance.exact.weights

    def value(of):
        tasks = solve(of, item, "exact").tasks_exact
        pairs = zip(tasks, weights, strict=True)
        return sum(u * w for u, w in pairs) if item == "utilitarian" else min(u / w for u, w in pairs)

    assert value(instance) == facts["value"]
    for i, r in np.argwhere(instance.capacities > 0).tolist():
        for d in (Fraction(1, 100), Fraction(-1, 100)):
            assert value(moved(instance, d, [(i, r)])) <= facts["value"] + prices.get((i, r), 0) * d
    largest = max(prices, key=prices.get)
    assert value(moved(instance, Fraction(-1, 100), [largest])) < facts["value"]  # a price of 0 would be wrong


@pytest.mark.parametrize("item", ["utilitarian", "mmf"])
def test_prices_of_a_program_in_any_units_say_the_same(item, monkeypatch):
    """The floating point way gives the value's own units, whatever the units of the prices that came with the allocation."""
    allocation = solve(generators.generic(4, 2, 2, 2), item)
    exact = fa.explain(allocation)
    monkeypatch.setattr(rounds, "EXACT", 0)
    for factor in (1.0, 7.0):
        floats = fa.explain(replace(allocation, prices=allocation.prices * factor))
        known = [next(s.facts for s in e.sentences if s.kind == "prices") for e in (exact, floats)]
        total = [sum(float(p["price"]) for p in facts["prices"]) for facts in known]
        assert total[0] == pytest.approx(total[1], rel=SHARES)
        assert float(known[0]["value"]) == pytest.approx(known[1]["value"], rel=SHARES)
        assert total[1] == pytest.approx(known[1]["value"], rel=SHARES)  # strong duality, no limits


@pytest.mark.parametrize("item", ["utilitarian", "mmf"])
def test_both_ways_say_who_is_held_by_its_limit(item, monkeypatch):
    """User 1 alone, whether a certificate or prices in floating point prove the answer."""
    allocation = solve(Instance([[1], [2]], [[10]], max_tasks=[2, None]), item)
    for exact in (rounds.EXACT, 0):
        monkeypatch.setattr(rounds, "EXACT", exact)
        said = [s.facts["limited"] for s in fa.explain(allocation).sentences if s.kind == "user"]
        assert said == [True, False], exact


def test_what_solvers_leave_of_0_is_0_in_sentences(monkeypatch):
    """u2 was said to bound the least share, of which it has more, and to pay 2e-12 for what is free."""
    monkeypatch.setattr(rounds, "EXACT", 0)
    apart = Instance([[1], [1]], [[2], [9]], eligible=[[1, 0], [0, 1]])
    assert fa.explain(solve(apart, "mmf", "cvxpy:clarabel")).sentences[0].facts["bound_by"] == ["u1"]
    told = fa.explain(solve(apart.replace(max_tasks=[None, 3]), "nb"), user="u2").sentences[1].text
    assert "runs all that it asked for, 3 tasks at the cost 0, and keeps" in told
    shared = Instance([[1], [1]], [[4]], max_tasks=["17/9", None])
    told = fa.explain(solve(shared, "nb"), user="u1").sentences[1].text
    assert "has the budget 1, runs all that it asked for, 1.88889 tasks at the cost 0.894737, and keeps the rest" in told


@pytest.mark.parametrize("item", ["nb", "alpha-fair", "utilitarian", "mmf", "drfh", "lmmf"])
def test_where_limits_alone_hold_users_back_nothing_has_a_price(item, monkeypatch):
    allocation = solve(Instance([[1], [2]], [[10]], max_tasks=[2, 2]), item)
    for exact in (rounds.EXACT, 0):
        monkeypatch.setattr(rounds, "EXACT", exact)
        explanation = fa.explain(allocation)
        assert not any(s.facts.get("prices") for s in explanation.sentences)
        assert ": ." not in str(explanation)
        assert " ".join(str(explanation).split()).count("made larger, gives it more tasks") == 2


@pytest.mark.parametrize("item", ["nb", "utilitarian"])
def test_a_user_near_its_limit_still_sets_the_unit_of_prices(item, monkeypatch):
    """At four fifths of its limit the one user is not held by it: it spends 1 on what is full, in whatever unit prices came."""
    monkeypatch.setattr(rounds, "EXACT", 0)
    allocation = solve(Instance([[1]], [[8]], max_tasks=[10]), item)
    explanation = fa.explain(replace(allocation, prices=allocation.prices * 7))
    (price,) = next(s.facts for s in explanation.sentences if s.kind == "prices")["prices"]
    assert price["price"] == pytest.approx({"nb": 1, "utilitarian": 8}[item])


def test_prices_that_leave_a_gain_open_are_looked_for_again():
    allocation = solve(generators.generic(4, 2, 2, 2), "nb")
    explanation = fa.explain(replace(allocation, prices=allocation.prices * (1 + 1e-5 * np.arange(4).reshape(2, 2))))
    residual = re.search(r"up to a residual of (\S+?)\.? ", " ".join(str(explanation).split()))
    assert float(residual[1]) <= 1e-7


def test_what_is_not_full_of_a_part_holds_nobody_back():
    explanation = fa.explain(solve(Instance([[10, 8], [1, 1]], [[20, 20]]), "uniform"))
    held = {s.facts["user"]: s.facts["held_by"] for s in explanation.sentences if s.kind == "server"}
    assert held == {"u1": ["r1"], "u2": ["r1", "r2"]}


def test_worth_and_cost_of_a_task():
    instance = Instance([[1], [2]], [[10]])
    explanation = fa.explain(solve(instance, "utilitarian", "exact"))
    first, second = (s.facts for s in explanation.sentences if s.kind == "user")
    assert (first["worth"], first["cheapest"]) == (1, 1)
    assert (second["worth"], second["cheapest"]) == (1, 2)
    assert "costs 2 where it is cheapest" in str(explanation)


# ---- prices, levels, bottlenecks --------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize(("item", "name"), [*examples("nb"), ("fds", "wang-pool"), ("fds", "zarchy-ex3")])
def test_prices_and_budgets(item, name):
    allocation = solve(fa.example(name).instance, item, accuracy="high")
    explanation = fa.explain(allocation)
    instance, loads = allocation.instance, allocation.load
    for p in next(s.facts["prices"] for s in explanation.sentences if s.kind == "prices"):
        if p["price"] > SHARES:
            assert loads[place(instance, p)] == pytest.approx(1, abs=1e-5)
    for facts in (s.facts for s in explanation.sentences if s.kind == "user"):
        if not facts["limited"]:
            assert facts["tasks"] * facts["cheapest"] == pytest.approx(facts["budget"], rel=1e-5)


def faults_of_servers(explanation):
    """What is wrong in sentences on servers of a game, by the tasks: the bottleneck that each cites, or its level."""
    allocation = explanation.allocation
    item = fa.mechanism(explanation.mechanism).configure(**allocation.parameters)
    domain, faults = item.domain(allocation.instance), []
    x, arcs = np.maximum(allocation.x, 0.0), domain.arcs
    tasks, load = np.bincount(arcs.user, x, domain.N), (arcs.load @ x).reshape(domain.K, domain.R)
    gamma = np.zeros((domain.N, domain.K))
    gamma[arcs.user, arcs.server] = arcs.gamma
    by_server = np.zeros((domain.N, domain.K))
    np.add.at(by_server, (arcs.user, arcs.server), x)
    for s in explanation.sentences:
        if s.kind != "server" or "server" not in s.facts:
            continue
        facts = s.facts
        n, i = domain.users.index(facts["user"]), domain.servers.index(facts["server"])
        share, level = tasks[n] / (domain.weights[n] * gamma[n, i]), float(facts["level"])
        good = share == pytest.approx(float(facts["share"]), rel=SHARES) and share >= level * (1 - SHARES)
        good &= not facts["tasks"] > SHARES * gamma[n, i] or share <= level * (1 + SHARES)
        good &= bool(facts["held_by"])
        for resource in facts["full"]:
            good &= load[i, domain.resources.index(resource)] >= 1 - SHARES
        if "serves" in facts and facts["held_by"]:
            r = domain.resources.index(facts["held_by"][0]["resource"])
            takes = [m for m in range(domain.N) if by_server[m, i] > SHARES * gamma[m, i] and demand(domain, m, i)[r] > 0]
            good &= facts["serves"] == [domain.users[m] for m in takes] and demand(domain, n, i)[r] > 0
            good &= all(tasks[m] / (domain.weights[m] * gamma[m, i]) <= level * (1 + SHARES) for m in takes)
        faults += [] if good else [s.text]
    return faults


def demand(instance, n, i):
    return instance.demands_on.get((n, i), instance.demands[n])[0]


@pytest.mark.few(9)
@pytest.mark.parametrize(("item", "name"), examples(*GAMES))
def test_levels_of_the_papers_examples(item, name):
    explanation = fa.explain(solve(fa.example(name).instance, item))
    assert faults_of_servers(explanation) == []
    assert any(s.kind == "server" for s in explanation.sentences)


@pytest.mark.few(8)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("item", "parameters"), [("ps-dsf", {}), ("ps-dsf-tdm", {}), ("alpha-pf-vds", {"alpha": 3})])
def test_levels_of_generated_games(item, parameters, family, monkeypatch):
    allocation = solve(getattr(generators, family)(5, 3, 2, 3), item, **parameters)
    assert faults_of_servers(fa.explain(allocation)) == []

    monkeypatch.setattr(rounds, "EXACT", 0)
    floats = fa.explain(allocation)
    assert faults_of_servers(floats) == []
    assert {s.source for s in floats.sentences} == {"levels"}


def test_a_wrong_level_is_seen():
    explanation = fa.explain(solve(fa.example("khamse-fig1").instance, "ps-dsf"))
    for k, s in enumerate(explanation.sentences):
        if s.kind != "server":
            continue
        for change in ({"level": s.facts["level"] * 5}, {"serves": ["u1"]}, {"full": ["cpu"]}, {"held_by": []}):
            sentences = (*explanation.sentences[:k], replace(s, facts={**s.facts, **change}), *explanation.sentences[k + 1 :])
            assert faults_of_servers(replace(explanation, sentences=sentences)), change


@pytest.mark.parametrize("item", ["ps-dsf-tdm", "alpha-pf-vds"])
def test_who_is_at_a_level_without_tasks_is_not_said_to_be_above_it(item):
    allocation = replace(solve(Instance([[1], [1]], [[2], [2]]), item), x=np.array([2.0, 0.0, 0.0, 2.0]), prices=None)
    texts = [s.text for s in fa.explain(allocation).sentences if s.kind == "server"]
    assert len([text for text in texts if "which is where the server serves it" in text]) == len(texts) == 4


def test_servers_that_are_put_together_have_no_common_reason():
    small = [[2, 2]] * 6  # cpu and memory hold u2 back, on the last server cpu alone
    allocation = solve(Instance([[1, 0], [1, 2]], [*small, [2, 2], [2, 9]]), "ps-dsf")
    texts = [s.text for s in fa.explain(allocation, user="u2").sentences if "servers" in s.facts]
    assert [text.split(": ")[1] for text in texts] == ["held back on each by what is full there"]


def faults_of_complaints(explanation):
    """Users whose cited bottleneck is not full, or gives them another part or less than their entitlement."""
    allocation, faults = explanation.allocation, []
    instance = allocation.instance
    entitled = instance.weights / instance.weights.sum()
    for s in explanation.sentences:
        if s.kind == "user" and not s.facts["limited"]:
            n, (i, r) = instance.users.index(s.facts["user"]), place(instance, s.facts)
            part = allocation.tasks[n] * instance.demands[n][0, r] / instance.pools[i, r]
            good = allocation.load[i, r] >= 1 - RESIDUAL and part == pytest.approx(float(s.facts["part"]), rel=SHARES)
            good &= float(s.facts["entitled"]) == pytest.approx(entitled[n]) and part >= entitled[n] - RESIDUAL
            faults += [] if good else [s.text]
        elif s.kind == "user":
            n = instance.users.index(s.facts["user"])
            faults += [] if allocation.tasks[n] >= instance.max_tasks[n] * (1 - RESIDUAL) else [s.text]
    return faults


@pytest.mark.parametrize("name", ["dolev-fig2", "dolev-fig3", "dolev-utilisation", "dolev-circle", "wang-pool"])
def test_bottlenecks_of_njc(name):
    explanation = fa.explain(solve(fa.example(name).instance, "njc"))
    assert faults_of_complaints(explanation) == []
    k, s = next((k, s) for k, s in enumerate(explanation.sentences) if s.kind == "user" and not s.facts["limited"])
    altered = replace(s, facts={**s.facts, "part": s.facts["part"] / 2})
    sentences = (*explanation.sentences[:k], altered, *explanation.sentences[k + 1 :])
    assert faults_of_complaints(replace(explanation, sentences=sentences)) == [s.text]


LIMITED = Instance([[1, 1], [1, 2], [2, 1]], [[10, 10]], max_tasks=[1, None, 2], weights=[1, 2, 3])
NEARLY = Instance([[1, 3], [2, 1]], [[10, 12]], max_tasks=[4, None], resources=["cpu", "memory"])
"""Its memory is not full, and user 1 runs not quite all its tasks."""


@pytest.mark.parametrize("instance", [LIMITED, NEARLY, *(fa.example(name).instance for name in ("dolev-fig2", "wang-pool"))])
def test_complaints_in_floats_are_those_of_the_certificate(instance, monkeypatch):
    """Where there are too many arcs for rationals, and none come with the answer."""
    allocation = solve(instance, "njc")
    exact = fa.explain(allocation)
    monkeypatch.setattr(rounds, "EXACT", 0)
    floats = fa.explain(replace(allocation, x_exact=None))
    assert {s.source for s in exact.sentences} == {"certificate"}
    assert {s.source for s in floats.sentences} == {"levels"}
    assert faults_of_complaints(floats) == []
    full = [r for r, load in zip(instance.resources, allocation.load[0], strict=True) if load >= 1 - SHARES]
    assert exact.sentences[0].facts["full"] == floats.sentences[0].facts["full"] == full
    for one, other in zip(exact.sentences, floats.sentences, strict=True):
        assert one.facts.keys() == other.facts.keys()
        for name, value in one.facts.items():
            same = float(value) if isinstance(value, Fraction) else value
            assert other.facts[name] == (same if isinstance(same, (str, list, bool)) else pytest.approx(same, rel=SHARES))
    with pytest.raises(NotApplicable, match=r"somebody's complaint is justified by 0\.[12]"):
        fa.explain(replace(allocation, x=allocation.x * 0.9, x_exact=None))


@pytest.mark.parametrize(
    ("item", "parameters", "words"),
    [
        ("mmf", {}, "2, the least share / weight."),
        ("drfh-lp", {}, "2/5, the least dominant share / weight."),
        ("alpha-fair", {"alpha": 0, "share": "dominant-share"}, "4/3, the sum of shares."),
        ("utilitarian", {}, "10, the sum of weighted tasks."),
    ],
)
def test_a_value_is_named_as_it_is_computed(item, parameters, words):
    """User 1 has twice the weight, and twice the tasks of user 2 by mmf: it has not the least number of tasks."""
    weighted = Instance([[1, 2], [2, 1]], [[10, 10]], weights=[2, 1])
    sentences = fa.explain(solve(weighted, item, **parameters)).sentences
    assert sentences[0].text.startswith(f"No allocation has a larger value than {words} ")


@pytest.mark.parametrize("item", ["mmf", "lmmf", "ps-dsf", "ps-dsf-tdm", "alpha-pf-vds", "nb"])
def test_what_is_said_to_be_full_is_full_up_to_what_is_left_open(item):
    """Scaled down by more than 1e-3 an answer is refused: it was said to be full, with room, and held back by nothing."""
    answer = solve(Instance([[1, 2], [2, 1]], [[5, 5], [3, 9]]), item)
    less = replace(answer, x=answer.x * (1 - 3e-4), x_exact=None)
    if item != "lmmf":  # of which an answer with other shares has no proof
        text = " ".join(str(fa.explain(less)).split())
        assert "no proof" in text
        assert not re.search("share inf|nothing that has a price|has room|held back by (;|on|$)", text)
    with pytest.raises(NotApplicable, match="cannot be explained"):
        fa.explain(replace(less, x=answer.x * (1 - 5e-3)))


def test_floors_of_users_with_one_server_each_are_those_of_users():
    """There are as many floors as pairs of user and server, of which they were said to be."""
    explanation = fa.explain(solve(Instance([[1, 1], [1, 1]], [[10, 10]], min_tasks=[2, 7]), "mmf"))
    assert any("floor[u2]" in s.text for s in explanation.sentences)
    assert not any("floor of u2 on s1" in s.text for s in explanation.sentences)


@pytest.mark.parametrize("item", ["mmf", "utilitarian"])
def test_a_user_runs_what_its_floor_asks_for(item):
    """It was said to be held back alone. The tasks of mmf are not unique, and its own answer was refused as another one."""
    instance = Instance([[1], [2], [1]], [[10], [2]], min_tasks=[0, 3, 0], max_tasks=[None, None, 1])
    allocation = solve(instance, item, "cvxpy:clarabel")
    texts = {s.facts["user"]: s.text for s in fa.explain(allocation).sentences if s.kind == "user"}
    if item == "utilitarian":
        assert texts["u2"].startswith("u2 runs 3 tasks, for which floor[u2] (dual 1) asks: held back by r1 on s1 (dual 10)")
    assert len(texts) == 3
    assert not any(" asks" in texts[user] for user in ("u1", "u3"))


@pytest.mark.parametrize(
    ("item", "told"),
    [("uniform", ["on s1, 4 tasks: "]), ("ps-dsf", ["on s1 as variant 0, 2 tasks, ", "on s1 as variant 1, 2 tasks, "])],
)
def test_variants_on_one_server_are_told_apart_or_added_up(item, told):
    """User 1 runs 4 tasks on the server, half of them in each way; "on s1, 2 tasks" was said twice."""
    instance = Instance([[[1, 0], [0, 1]], [[1, 1]]], [[4, 4]])
    explanation = fa.explain(solve(instance, item), user="u1")
    texts = sorted(s.text for s in explanation.sentences if s.kind == "server")
    assert len(texts) == len(told)
    assert all(text.startswith(start) for text, start in zip(texts, told, strict=True))


# ---- groups -----------------------------------------------------------------------------------------------------------


QUEUES = {
    "A": {"users": ["a1", "a2"], "guarantee": "1/2"},
    "B": {"users": ["b"], "guarantee": "1/4"},
    "C": {"users": ["c"], "guarantee": "1/8"},
}
QUEUED = {"users": ["a1", "a2", "b", "c"], "resources": ["cpu"], "groups": QUEUES, "max_tasks": [1, None, 5, "3/4"]}


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        ("nested-leximin", "and more would take from a node with no more, a guarantee, or from its group's other users"),
        ("nested-nb", "where weights and guarantees decide"),
    ],
)
def test_groups_by_hand(item, rule):
    """Of 8 units A has its 4, C wants 3/4 of its 1, and B gets the other 3.25, of which it borrows 1.25."""
    allocation = solve(Instance([[1]] * 4, [[8]], **QUEUED), item)
    assert [s.text for s in fa.explain(allocation).sentences] == [
        "Group A, 0.333333 of the system by weights, has the share 0.5, its guarantee, and borrows nothing.",
        "Group B, 0.333333 of the system by weights, has the share 0.40625: its guarantee 0.25, and 0.15625 that it borrows.",
        "Group C, 0.333333 of the system by weights, has the share 0.09375, "
        "all that it asks for of its guarantee 0.125: the rest is lent.",
        "a1 runs 1 task, all that it asked for.",
        f"a2 runs 3 tasks: its tasks need cpu, which is full, {rule}.",
        f"b runs 3.25 tasks: its tasks need cpu, which is full, {rule}.",
        "c runs 0.75 tasks, all that it asked for.",
        "cpu on s1 is full: to first order, a unit more changes a2 by +0.5 and b by +0.5 tasks, a unit less the opposite.",
    ]
    for part in (0.5, 0.98):
        with pytest.raises(NotApplicable, match=r"a residual of .* is proved"):
            fa.explain(replace(allocation, x=allocation.x * part))


def test_h_drf_takes_from_who_has_more():
    """B has all of r1, so its share is 1; then r2 fills up by A, whose share is 1/2, and by B's other user."""
    instance = Instance([[0, 2, 1], [4, 0, 1], [0, 3, 1]], [[12] * 3], users=["a", "b", "c"], groups={"A": [0], "B": [1, 2]})
    told = fa.explain(solve(instance, "h-drf")).sentences
    assert {one.source for one in told} == {"events", "derivatives"}, "it has no prices"
    texts = [s.text for s in told]
    assert [text.split("has the ")[1] for text in texts[:2]] == ["share 0.5.", "share 1."]
    rule = "and no user who needs a full resource is given another task"
    assert texts[2] == f"a runs 3 tasks: its tasks need r2, which is full, {rule}."


@pytest.mark.parametrize("item", ["nested-leximin", "nested-nb"])
def test_full_resources_of_several_servers_are_named(item):
    """On the first server the CPU is full, on the second the memory; what is not full, or not needed, is not named."""
    servers = {"resources": ["cpu", "memory"], "servers": ["s", "t"], "eligible": [[1, 1], [1, 0], [0, 1]]}
    instance = Instance(
        [[1, 1], [1, 0], [0, 1]], [[4, 9], [6, 2]], users=["u", "v", "w"], groups={"A": [0, 1], "B": [2]}, **servers
    )
    sentences = fa.explain(solve(instance, item)).sentences
    full = {s.facts["user"]: s.facts["full"] for s in sentences if s.kind == "user"}
    assert full == {"u": ["cpu on s", "memory on t"], "v": ["cpu on s"], "w": ["memory on t"]}
    assert [s.text for s in sentences if s.kind == "group"] == [
        "Group A, 0.5 of the system by weights, has the share 0.4.",
        "Group B, 0.5 of the system by weights, has the share 0.181818.",
    ]


def test_what_peers_make_of_groups_by_hand():
    """1.25 units are beyond guarantees, half of them for A; by what is deserved it gets 2/3 of the 7.25 that C leaves."""
    allocation = solve(Instance([[1]] * 4, [[8]], **QUEUED), "nested-leximin")
    for peer in ("kueue", "kai"):
        assert compared_with_peer(allocation, peer)[1:] == [
            "By that rule group A has the share 0.578125, here 0.5.",
            "By that rule group B has the share 0.328125, here 0.40625.",
            "By that rule group C has the same share, 0.09375.",
        ]
    assert compared_with_peer(allocation, "volcano")[1:] == [
        "By that rule group A has the share 0.604167, here 0.5.",
        "By that rule group B has the share 0.302083, here 0.40625.",
        "By that rule group C has the same share, 0.09375.",
    ]
    free = Instance([[1]] * 4, [[8]], **QUEUED | {"groups": {**QUEUES, "B": {"users": ["b"]}}})
    allocation = solve(free, "nested-leximin")
    with pytest.raises(NotApplicable, match="volcano divides by what queues deserve, but group 'B' has no guarantee"):
        compared_with_peer(allocation, "volcano")


def test_what_a_peer_documents_is_said_of_its_own_examples():
    for item in [one for one in SCHEDULER_EXAMPLES if one.peer == "kueue"][:3]:
        allocation = solve(item.instance, "nested-leximin", compared="borrowed")
        first, *_ = compared_with_peer(allocation, "kueue")
        assert first.startswith("kueue documents ")
        assert (": reproduced." in first, ": not reproduced: " in first) == (not item.difference, bool(item.difference))
        assert compared_with_peer(allocation, "kai")[0].startswith("KAI gives deserved quotas first")


# ---- own mechanisms ---------------------------------------------------------------------------------------------------


def capped_at(most):
    def edit(problem, instance):
        cap = (instance.arcs.owner[[3]] @ problem.var_dict["x"] <= most).set_label("cap")
        return cp.Problem(problem.objective, [*problem.constraints, cap])

    def edit_pyomo(model, instance):
        import pyomo.environ as pyo

        model.cap = pyo.Constraint(expr=sum(v for key, v in model.x.items() if key[0] == instance.users[3]) <= most)

    return edit, edit_pyomo


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_named_constraints_of_an_edited_rule(layer):
    """The dual of the added constraint says how far the level of its round moves."""
    instance = fa.example("khamse-fig1").instance

    def edited(most):
        edit, edit_pyomo = capped_at(most)
        return fa.mechanism("drfh").edited("capped", **{layer: edit if layer == "cvxpy" else edit_pyomo})

    item = edited(3)
    allocation = solve(instance, item)
    explanation = fa.explain(allocation, item)
    held = {s.facts["user"]: [b["constraint"] for b in s.facts["held_by"]] for s in explanation.sentences if s.kind == "user"}
    assert held["u4"] == ["cap"]
    assert "cap" not in held["u1"] + held["u2"] + held["u3"]
    (facts,) = (s.facts for s in explanation.sentences if s.kind == "round" and s.facts["users"] == ["u4"])
    (binding,) = facts["bindings"]
    rate = fa.mechanism("drfh").rate(instance)[3]
    for step in (0.1, -0.1):
        moved_to = solve(instance, edited(3 + step)).tasks[3] * rate
        assert moved_to - facts["level"] == pytest.approx(binding["dual"] * step, rel=1e-4)
    for s in explanation.sentences:
        for b in s.facts.get("held_by", []):
            if "server" in b:
                assert allocation.load[place(instance, b)] >= 1 - 1e-5
    with pytest.raises(NotApplicable, match="solved again, has another answer"):
        fa.explain(allocation, edited(2))


def test_rows_that_an_own_model_indexes_otherwise_are_not_taken_for_those_of_mechanisms():
    """An own "capacity" by number was a TypeError, and an own "limit" by server was the max_tasks of a user."""
    import pyomo.environ as pyo

    def edit(model, instance):
        model.limit = pyo.Constraint(list(instance.servers), rule=lambda m, _: sum(m.x.values()) <= 2)

    class Mine(fa.Mechanism):
        id, title, linear, integer, convex = "mine", "mine", True, False, True

        def write_pyomo(self, instance):
            model, load = pyo.ConcreteModel(), instance.arcs.load.toarray()
            model.x = pyo.Var(range(instance.A), bounds=(0, None))
            rows = range(len(load))
            model.capacity = pyo.Constraint(rows, rule=lambda m, j: sum(load[j, a] * v for a, v in m.x.items()) <= 1)
            model.objective = pyo.Objective(expr=sum(model.x.values()), sense=pyo.maximize)
            return model

    instance = Instance([[1, 2], [3, 1], [1, 1]], [[6, 8]])
    for item, name in ((fa.mechanism("utilitarian").edited("two", pyomo=edit), "limit[s1]"), (Mine(), "capacity[0]")):
        (binding,) = fa.explain(solve(instance, item), item).sentences[0].facts["bindings"]
        assert (binding["constraint"], set(binding)) == (name, {"constraint", "dual"})


def test_what_answers_next_to_it_leave_open_is_no_change():
    """At its floor a user was said to run 1.6e-7 tasks more with a unit less, and -0 in the table."""
    allocation = solve(Instance([[1, 2], [3, 1], [1, 1]], [[6, 8]], min_tasks=[2, 0, 2], max_tasks=[None, 1, None]), "nb")
    (text,) = (s.text for s in fa.explain(allocation).sentences if s.text.startswith("r1 on s1 is full"))
    assert text.endswith("a unit less u2 by -0.333 tasks.")
    assert "-0 " not in str(fa.sensitivity(allocation))


@pytest.mark.parametrize("edit", ["arc", "load"])
def test_a_level_and_rows_of_an_edit_are_named(edit):
    """The edit stops b on both servers before a capacity does: by 1 task on each, or by an eighth of the second resource."""
    names = {"users": ["a", "b", "c"], "servers": ["s", "t"], "resources": ["cpu", "memory"]}
    instance = Instance([[1, 0], [1, 1], [1, 1]], [[8, 4], [8, 4]], weights=[2, 1, 1], **names)

    def third(problem, instance):
        x, part = problem.var_dict["x"], instance.arcs.load.multiply(instance.arcs.user == 1).tocsc()
        rows = x - 100 * (instance.arcs.user == 0) <= 1 if edit == "arc" else part @ x <= 0.125
        return cp.Problem(problem.objective, [*problem.constraints, rows.set_label("third")])

    item = fa.mechanism("drfh").edited("third", cvxpy=third)
    sentences = fa.explain(solve(instance, item), item).sentences
    explained = " ".join(s.text for s in sentences)
    held = next(s.text for s in sentences if s.kind == "user" and s.facts["user"] == "b")
    for server in "st":
        row = f"third of {'b' if edit == 'arc' else 'memory'} on {server}"
        assert f"{row} (dual " in held.partition(": held back by ")[2]
        assert row in explained
    plain = fa.explain(solve(instance, "drfh")).sentences[0].text
    for text in (explained, plain):
        assert re.search(r"at the level \S+ \(dominant share / weight\)", text)


class MostTasksOfAll(fa.Mechanism):
    id = "most-tasks-of-all"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


def test_duals_of_an_own_program_bound_its_objective():
    instance, item = fa.example("khamse-fig1").instance, MostTasksOfAll()
    allocation = solve(instance, item)
    explanation = fa.explain(allocation, item)
    facts = next(s.facts for s in explanation.sentences if s.kind == "constraint")
    duals = {place(instance, b): b["dual"] for b in facts["bindings"]}
    for key in map(tuple, np.argwhere(instance.capacities > 0).tolist()):
        for d in (Fraction(1, 10), Fraction(-1, 10)):
            value = solve(moved(instance, d, [key]), item).values["objective"]
            assert value <= facts["level"] + duals.get(key, 0.0) * float(d) + 1e-5
    with pytest.raises(NotApplicable, match="solved again, has another answer"):
        fa.explain(replace(allocation, x=allocation.x * 0.9), item)


def test_own_models_without_duals_are_refused():
    def whole(problem, instance):
        return cp.Problem(problem.objective, [*problem.constraints, cp.Variable(integer=True, name="k") <= 3])

    item = fa.mechanism("utilitarian").edited("whole", cvxpy=whole)
    instance = Instance([[1]], [[4]])
    with pytest.raises(NotApplicable, match="has integer variables, so it has no duals"):
        fa.explain(fa.Allocation(instance, [4.0]), item)


def test_rows_of_users_are_no_capacities_where_there_are_as_many():
    """Two users with two variants on one server with two resources: both rows of the edit were named by a resource."""

    def capped(problem, instance):
        rows = (instance.arcs.owner @ problem.var_dict["x"] <= 1).set_label("cap")
        return cp.Problem(problem.objective, [*problem.constraints, rows])

    instance = Instance([[[1, 2], [2, 1]], [[1, 1], [2, 2]]], [[9, 9]])
    item = fa.mechanism("nb").edited("capped", cvxpy=capped)
    users = [s.text for s in fa.explain(solve(instance, item), item).sentences if s.kind == "user"]
    for k, (text, user) in enumerate(zip(users, instance.users, strict=True)):
        assert text.startswith(f"{user} runs 1 task: held back by cap[{k}] of {user} (dual ")


@pytest.mark.parametrize("exact", [True, False])
def test_costs_of_tasks_by_hand(exact):
    """The first resource is full on both servers, and a task of user 1 costs 3/40 and 1/8, one of user 2 3/20 and 1/4."""
    instance = Instance([[1, 2], [2, 1]], [[4, 8], [4, 4]])
    number = Fraction if exact else float
    known = Costs(instance, [number(v) for v in (2, 0, 1, 2)], exact)
    prices = [number(Fraction(v)) for v in ("3/10", "0", "1/2", "0")]
    assert [float(known.cost(a, prices)) for a in range(4)] == pytest.approx([0.075, 0.125, 0.15, 0.25], rel=1e-12)
    assert [known.tasks(n) for n in range(2)] == [2, 3]
    low, high = ("3/10", "1/2") if exact else ("0.3", "0.5")
    assert list(map(str, known.priced(prices))) == [f"r1 on s2 ({high})", f"r1 on s1 ({low})"]
    assert list(map(str, known.priced(prices, [0, 1]))) == [f"r1 on s1 ({low})"]
    free = [number(Fraction(v)) for v in ("3/10", "2/5", "1/2", "0")]
    assert [p.resource for p in known.priced(free)] == (["r1", "r2", "r1"] if exact else ["r1", "r1"]), "5/8 of it is used"
    here, there = ("3/40", "1/8") if exact else ("0.075", "0.125")
    first, second = (known.on_servers(n, prices, "prices", {}) for n in range(2))
    assert [s.text for s in first] == [
        f"on s1, 2 tasks: held back by r1 (full, price {low})",
        f"on s2, no tasks: held back by r1 (full, price {high}); a task costs {there} here, {here} where it is cheapest",
    ]
    assert [s.text for s in second] == [
        f"on s1, 1 task: held back by r1 (full, price {low})",
        f"on s2, 2 tasks: held back by r1 (full, price {high})",
    ]
    assert cleaned(instance, np.array([2, 1e-12, 1, 1e-6])) == [2, 0, 1, 1e-6]


TWO_WAYS = Instance(
    [[[1, 2], [2, 1]], [1, 1], [3, 1]], [[6, 5], [4, 7]], max_tasks=[None, 2, 3], eligible=[[1, 1], [1, 1], [0, 1]]
)
"""Its arcs: user 1 by variant 0 on both servers, then by variant 1; user 2 on both; user 3 on server 2."""


@pytest.mark.parametrize(
    ("label", "k", "size", "arcs", "name", "about"),
    [
        ("capacity", 2, 4, [0], "r1 on s2", {"server": "s2", "resource": "r1"}),
        ("spare", 2, 4, [1, 3], "spare of r1 on s2", {"server": "s2", "resource": "r1"}),
        ("spare", 0, 4, [1, 3], "spare[0] of u1", {"user": "u1"}),
        ("spare", 0, 4, [1, 6], "spare[0]", {}),
        ("cap", 3, 7, [3], "cap of u1, variant 1, on s2", {"user": "u1", "server": "s2"}),
        ("cap", 5, 7, [5], "cap of u2 on s2", {"user": "u2", "server": "s2"}),
        ("cap", 5, 7, [4], "cap[5] of u2", {"user": "u2"}),
        ("limit", 0, 2, [4, 5], "max_tasks of u2", {"user": "u2"}),
        ("limit", 1, 2, [6], "max_tasks of u3", {"user": "u3"}),
        ("limit", 1, 3, [6], "limit[1] of u3", {"user": "u3"}),
        ("other", 1, 2, [4, 6], "other[1]", {}),
        ("mine", 0, 1, [0, 1], "mine", {}),
    ],
)
def test_rows_of_arrays_are_named_by_what_stands_in_them(label, k, size, arcs, name, about):
    assert duals._placed(label, k, size, TWO_WAYS, arcs) == (name, about)


def test_a_rule_of_ones_own_by_its_prices():
    item = fa.Leximin("plain-tasks", share=lambda instance: [1.0] * instance.N)
    explanation = fa.explain(solve(fa.example("khamse-fig1").instance, item), item)
    levels = [s.facts["level"] for s in explanation.sentences if s.kind == "round"]
    np.testing.assert_allclose(levels, [3, 8], rtol=SHARES)
    assert explanation.sentences[-1].kind == "effect"  # it has derivatives without rational shares


# ---- all mechanisms, forms and errors ---------------------------------------------------------------------------------


@pytest.mark.few(8)
@pytest.mark.parametrize("item", sorted(set(fa.MECHANISMS) - JOBS))
def test_every_mechanism_is_explained(item):
    explanation = fa.explain(solve(fa.example("wang-pool").instance, item))
    document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert [s["text"] for s in document["sentences"]] == [s.text for s in explanation.sentences]
    named = {s["facts"]["user"] for s in document["sentences"] if s["kind"] == "user"}
    assert named == ({"u1 on s1", "u2 on s1"} if item == "drf-per-server" else {"u1", "u2"})
    assert explanation.proof.startswith("Proved by")
    assert str(explanation).startswith(f"wang-pool: {item} explained.")
    assert explanation._repr_html_().count("<li>") == len(explanation.sentences)
    assert repr(explanation) == f"<explanation of wang-pool: {item}, {len(explanation.sentences)} sentences>"


@pytest.mark.parametrize("item", sorted(set(fa.MECHANISMS) - {"ps-dsf", "alpha-pf-vds", "ps-dsf-tdm"} - JOBS))
def test_what_is_not_the_answer_is_refused(item):
    allocation = solve(fa.example("wang-pool").instance, item)
    for x in (allocation.x * 0.9, allocation.x * 1.1, allocation.x[::-1] * 0.5):
        with pytest.raises(NotApplicable, match="cannot be explained by"):
            fa.explain(replace(allocation, x=x, x_exact=None))


@pytest.mark.parametrize("item", GAMES)
def test_what_is_no_equilibrium_is_refused(item):
    allocation = solve(fa.example("psdsf-fig1").instance, item)
    for factor in ([0.5, 1, 1], [1, 1, 0.5]):
        with pytest.raises(NotApplicable, match="cannot be explained by"):
            fa.explain(replace(allocation, x=allocation.x * factor, x_exact=None))


def test_one_user_or_the_first_twenty():
    instance = generators.generic(30, 8, 2)
    allocation = solve(instance, "drfh")
    explanation = fa.explain(allocation)
    users = [s.facts["user"] for s in explanation.sentences if s.kind == "user"]
    assert users == list(instance.users[:20])
    assert "10 more users" in str(explanation)
    one = fa.explain(allocation, user="u25")
    assert [s.facts["user"] for s in one.sentences if s.kind == "user"] == ["u25"]
    assert len(str(one).splitlines()) < 30
    with pytest.raises(UnknownName, match="there is no user 'u99'"):
        fa.explain(allocation, user="u99")


def test_what_is_said_of_one_user_is_not_said_of_others():
    """More of a full capacity with a price helps somebody, here the second user, though not the third."""
    shared = solve(Instance([[1, 4], [4, 1], [2, 2]], [[16, 80], [40, 20]]), "nb")
    (alone,) = [part.text for part in fa.explain(shared, user="u3").sentences if part.text.startswith("r1 on s2")]
    (together,) = [part.text for part in fa.explain(shared).sentences if part.text.startswith("r1 on s2")]
    assert alone.startswith("r1 on s2 is full, but more of it alone does not help u3: ")
    assert together.startswith("r1 on s2 is full: ")
    assert "u2 by +0.3333" in together


def test_many_rounds_and_limits_are_put_together():
    users = 25
    instance = Instance([[1]] * users, [[10**6]], max_tasks=[k + 1 for k in range(users)])
    explanation = fa.explain(solve(instance, "drfh"))
    (only,) = (s for s in explanation.sentences if s.kind == "round")
    assert (only.facts["round"], only.facts["last_round"]) == (1, users)
    assert len(only.facts["limited"]) == users


def test_bad_calls_are_one_sentence():
    instance = Instance([[1]], [[4]])
    with pytest.raises(InstanceError, match="must be an Allocation"):
        fa.explain([1.0])
    with pytest.raises(InstanceError, match="explain needs an allocation with a point"):
        fa.explain(fa.Allocation(instance, [np.nan]))
    with pytest.raises(InstanceError, match="names no mechanism"):
        fa.explain(fa.Allocation(instance, [4.0]))
    with pytest.raises(InstanceError, match="user is 3, but it must be a text or None"):
        fa.explain(fa.Allocation(instance, [4.0]), "lmmf", user=3)
    assert isinstance(fa.explain(fa.Allocation(instance, [4.0]), "lmmf"), Explanation)
    with pytest.raises(NotApplicable, match="it has no prices that prove its shares"):
        fa.explain(fa.Allocation(instance, [4.0]), fa.Leximin("one", share=lambda of: [1.0] * of.N))


def test_who_could_run_more_is_not_said_to_be_held_back():
    """What is left open of an allocation near the answer: nothing that users need is full, and no limit holds them."""
    pool = Instance([[2, 1], [1, 2], [1, 1]], [[6, 6]])
    groups = pool.replace(groups={"a": [0, 1], "b": [2]})
    for instance, name in ((pool, "nb"), (pool, "alpha-fair"), (groups, "h-drf")):
        near = Allocation(instance, solve(instance, name).x * (1 - 5e-3))
        with pytest.raises(NotApplicable, match=r"a gain of 0\.005 open|a residual of 0\.005 is proved"):
            fa.explain(near, name)
    light = Instance([[1], [1]], [[10]], weights=[1, 1e-9], max_tasks=[1, None])  # who could run 9 tasks weighs nothing
    with pytest.raises(NotApplicable, match="user 'u2' could run more: nothing with a price is full"):
        fa.explain(Allocation(light, [1, 5]), "nb")
    near = Allocation(groups, solve(groups, "h-drf").x * (1 - 1e-4))
    assert "up to a residual of 1.0e-04. That much is left open, so this is no proof." in fa.explain(near, "h-drf").proof


def test_a_capacity_that_is_full_at_price_0_holds_nobody_back():
    """By hand: prices 0 and 4 of the whole; solvers leave 1e-6 of the first, for tasks are known to 1e-6 there."""
    floors = Instance([[2, 1], [1, 2], [1, 1]], [[6, 6]], min_tasks=[1, 0, 0], weights=[1, 2, 1])
    found = fa.explain(solve(floors, "nb", "cvxpy:clarabel"))
    held = [part["resource"] for one in found.sentences if one.kind == "user" for part in one.facts["held_by"]]
    assert held == ["r2"] * 3
    (bound,) = (one.facts["bindings"] for one in found.sentences if one.kind == "constraint")
    assert [part["resource"] for part in bound] == ["r2"]


def test_a_resource_with_some_room_is_not_said_to_be_full():
    """The second resource has 0.07 % of room: it was said to be full, for a unit more of it changes shares."""
    answer = solve(Instance([[1, 2], [2, 1]], [[10, "10.01"]]), "drf")
    (text,) = (s.text for s in fa.explain(answer).sentences if s.text.startswith("r2"))
    assert text.startswith("r2 on pool is 99.93% used: to first order, a unit more changes u1 by +0.2221 and u2 by -0.111 tasks")


def test_a_resource_with_some_room_is_not_sold_out():
    """The second resource has 0.04 % of room: it was said to be sold out at a price that the proof does not need."""
    answer = Allocation(Instance([[1, 2], [2, 1]], [[10, "12.505"]]), [5, 2.5], prices=[[2, 3e-9]])
    sold = fa.explain(answer, "nb").sentences[0].facts["prices"]
    assert [(one["resource"], one["price"]) for one in sold] == [("r1", pytest.approx(2))]


def test_a_rational_of_nine_characters_is_said_as_it_is():
    assert [said(value) for value in (Fraction(1234, 5679), Fraction(12345, 5678), 1 / 3)] == ["1234/5679", "2.17418", "0.333333"]


def test_a_part_of_a_price_is_not_rounded_to_all_or_nothing():
    """It was said to be r1 (100% of its price) and r2 (0% of its price)."""
    pool = Instance([[1, "1/1000"], ["1/1000", 1]], [[1, 1]])
    text = fa.explain(solve(pool, "alpha-pf-vds", alpha=2)).sentences[1].text
    assert "r1 (more than 99% of its price) and r2 (less than 1% of its price)" in text


@pytest.mark.parametrize("item", ["nb", "lmmf", "utilitarian", "alpha-pf-vds"])
def test_who_misses_a_part_of_its_limit_that_is_left_open_runs_all_its_tasks(item):
    """u1 had met the budget 1 with a cost of 2/3, and users of lmmf had stopped at the median of their shares, nothing full."""
    known = solve(Instance([[1, 0], [0, 1], [0, 1]], [[3, 60]], max_tasks=[None, 1, 2]), item)
    short = replace(known, x=np.array([3.0, 1.0, 2.0]) * (1 - 1e-4), x_exact=None)
    of = {one.facts["user"]: one.facts for one in fa.explain(short).sentences if one.kind == "user"}
    assert [of[user]["limited"] for user in ("u1", "u2", "u3")] == [False, True, True]
    if item == "nb":
        assert of["u1"]["cheapest"] * of["u1"]["tasks"] == pytest.approx(1, rel=1e-3)


def test_costs_that_are_said_alike_are_not_set_against_each_other(monkeypatch):
    """Prices that are some 1e-6 apart: a task was worth 1, but cost 1, and another cost 1 here, 1 where it is cheapest."""
    monkeypatch.setattr(rounds, "EXACT", 0)
    apart = Instance([[1]] * 4, [[1]] * 3, eligible=[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    prices = [[1 + 4e-6], [1 + 2e-6], [1 - 6e-6]]
    told = fa.explain(Allocation(apart, [1, 1, 1, 0, 0], mechanism="utilitarian", prices=prices)).sentences
    assert not [s.text for s in told if "but costs" in s.text or "1 here" in s.text]


@pytest.mark.parametrize("unit", [1, 10**9])
def test_of_several_answers_the_one_that_was_given_is_explained(unit):
    """It had been said that u1 runs 10 tasks and u2 none, as in the exact optimum of the same value; another has 1e9 tasks."""
    demands, weights = [[1, 0], [1, 0], [1, 0], [0, Fraction(1, unit)]], [1, 1, 0.5, Fraction(1, unit)]
    pool = Instance(demands, [[10, 1]], weights=weights)
    told = fa.explain(Allocation(pool, [4, 6, 6e-14, unit], mechanism="utilitarian"))
    tasks = [one.facts["tasks"] for one in told.sentences if one.kind in ("user", "server")]
    assert tasks == [4, 4, 6, 6, 0, 0, unit, unit]
    assert told.sentences[0].source == "certificate"


@pytest.mark.parametrize("name", ["mmf", "drfh-lp"])
def test_an_edit_with_many_answers_explains_each_of_them(name):
    """At the accuracy "high" the model has another answer: the one that `solve` gave was refused in 25 of 60 draws."""
    servers = fa.example("khamse-fig1").instance

    def capped(problem, instance):
        cap = (instance.arcs.owner[[0]] @ problem.var_dict["x"] <= 1).set_label("cap")
        return cp.Problem(problem.objective, [*problem.constraints, cap])

    mine = fa.mechanism(name).edited("mine", cvxpy=capped)
    found = solve(servers, mine)
    assert "held back by cap" in str(fa.explain(found, user="u1"))
    fewer = replace(found, x=0.9 * found.x)
    with pytest.raises(NotApplicable, match="its model, solved again, has another answer"):
        fa.explain(fewer)


def test_a_light_user_near_its_limit_sets_no_price():
    """It misses 5e-5 of its limit, of which the sum leaves 5e-8 open: it had spent its budget at prices 500 times as high."""
    light = Instance([[1, 0], [0, 1]], [[3, 600]], max_tasks=[None, 1], weights=[1, 1e-3])
    told = fa.explain(Allocation(light, [3, 1 - 5e-5], mechanism="nb")).sentences
    of = {one.facts["user"]: one.facts for one in told if one.kind == "user"}
    assert of["u2"]["limited"]
    assert of["u1"]["cheapest"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("item", "parameters", "weights"), [("alpha-fair", {"alpha": 8}, [1, 1]), ("nb", {}, [1, 1e-6])])
def test_who_hardly_counts_in_the_sum_is_not_explained_with_wrong_tasks(item, parameters, weights):
    """u2 could run 0.5 tasks more of its own resource: prices proved the allocation up to 5e-8."""
    apart = Instance([[1, 0], [0, 1]], [[1, 10]], weights=weights)
    right, wrong = (Allocation(apart, [1, tasks], mechanism=item, parameters=parameters) for tasks in (10, 9.5))
    assert fa.explain(right).proof == "Proved by prices, up to a residual of 0.0e+00."
    with pytest.raises(NotApplicable, match=r"user 'u2' runs 9\.5 tasks, but 10 are right"):
        fa.explain(wrong)


def test_what_is_not_known_of_the_tasks_of_each_user_is_said(monkeypatch):
    monkeypatch.setattr(programs, "user_error", lambda *_: UserError(np.inf))
    proof = fa.explain(solve(Instance([[1], [2]], [[10]]), "nb")).proof
    assert proof.endswith(" How far each user's tasks are from the right ones is not known.")


@pytest.mark.parametrize("name", ["uniform", "mmf", "utilitarian", "drfh", "nb", "ps-dsf"])
def test_every_server_of_a_user_is_named(name):
    """Beyond six servers one sentence has the rest; of uniform it was missing."""
    instance = generators.generic(2, 9, 2, 1)
    sentences = fa.explain(solve(instance, name), user="u1").sentences
    told = [sentence.facts for sentence in sentences if sentence.kind == "server"]
    assert sorted(server for facts in told for server in facts.get("servers", [facts.get("server")])) == sorted(instance.servers)
    tasks = float(solve(instance, name).tasks[0])
    assert sum(float(facts["tasks"]) for facts in told) == pytest.approx(tasks, rel=SHARES)
