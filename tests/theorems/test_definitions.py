"""Definitions against the computed mechanisms and separately written code, on 500 instances (quick: 125); mutants disagree."""

import ast
import random
from fractions import Fraction
from functools import cache
from inspect import getsource
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from profiles import drawn

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import check
from fairalloc.formulations.njc import NoJustifiedComplaints, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.theorems import definitions
from fairalloc.theorems.cases import Case
from fairalloc.theorems.definitions import EXACT, bottleneck, ps_dsf, undominated
from fairalloc.theorems.pages import statement_page
from fairalloc.theorems.registry import all_statements, statement
from fairalloc.theorems.search.witnesses import packaged
from fairalloc.theorems.standalone.certificates import by_place, given
from fairalloc.theorems.standalone.definitions import arcs, tables, unit
from fairalloc.theorems.standalone.script import plain_source

F = Fraction
COUNT = drawn(500)


def generated(seed):
    """An instance of up to 3 users, 2 servers and 2 resources; weights 1 to 3."""
    chance = random.Random(seed)
    users, servers, resources = chance.randint(2, 3), chance.randint(1, 2), chance.randint(1, 2)
    demands = [[chance.randint(0, 3) for _ in range(resources)] for _ in range(users)]
    demands = [d if any(d) else [1] * resources for d in demands]
    capacities = [[chance.randint(1, 4) for _ in range(resources)] for _ in range(servers)]
    return Instance(demands, capacities, weights=[chance.randint(1, 3) for _ in range(users)])


@cache
def points(seed):
    """An instance, the exact answers of three mechanisms, and these and three that nothing asks for as points.

    At the last one every user has tasks on one server alone, where nobody can have more.
    """
    instance = generated(seed)
    named = {name: certified_answer(instance, name).x for name in ("drfh", "tsf", "ps-dsf")}
    chance = random.Random(-seed)
    own = [[i == n % instance.K for i in range(instance.K)] for n in range(instance.N)]
    kept = iter(certified_answer(instance.replace(eligible=own), "ps-dsf").x)
    more = ([v * F(9, 10) for v in named["drfh"]], [v * chance.choice([F(1), F(1, 2)]) for v in named["tsf"]])
    return instance, named, [*named.values(), *more, [next(kept) if there else F(0) for row in own for there in row]]


def of_definitions(instance, x):
    """Need, room, and tasks by arc."""
    problem = given(Case(instance))["problem"]
    table, need = by_place(instance, x), arcs(problem)
    return problem, need, tables(problem[1]), {a: table[a[0]][a[1]] for a in need}


def witnesses(need, room, x, worth, cheap, free):
    """Prices that are best for the answer, and others of which one condition is left out.

    Only full resources have a price, a task costs its worth or more, is cheapest where it runs for `cheap`, and costs nothing for
    `free`; the capacities cost as little as possible. The last prices are of the tasks of one user.
    """
    full = [key for key, c in room.items() if sum(x[a] * d.get(key[1], 0) for a, d in need.items() if a[-1] == key[0]) == c]
    usual, first = (full, cheap, free, worth), {a: w for a, w in worth.items() if a[0] == min(worth)[0]}
    others = (list(room), cheap, free, worth), (full, [], free, worth), (full, cheap, [], worth), (full, cheap, free, first)
    for keys, some, none, paid in (usual, *others):
        cost = {a: [d.get(r, F(0)) if i == a[-1] else F(0) for i, r in keys] for a, d in need.items()}
        pairs = [(a, b) for a in some for b in need if b[0] == a[0] and x[a]]
        rows = [([-v for v in cost[a]], -w) for a, w in paid.items()]
        rows += [([p - q for p, q in zip(cost[a], cost[b], strict=True)], F(0)) for a, b in pairs]
        rows += [(cost[a], F(0)) for a in none if x[a]]
        if keys:
            matrix, sides = (np.array(part, dtype=object) for part in zip(*rows, strict=True))
            best = maximum(np.array([-room[key] for key in keys], dtype=object), matrix, sides, True)
            if best is not None:
                yield dict.fromkeys(room, F(0)) | dict(zip(keys, best.z, strict=True))


# ---- cases: what a definition is asked, each with every witness, and what other code says --------------------------------------


def ps_dsf_cases():
    for seed in range(COUNT):
        instance, _, found = points(seed)
        for x in found:
            problem, need, room, at = of_definitions(instance, x)
            have = [sum(v for a, v in at.items() if a[0] == n) for n in range(instance.N)]
            if all(have):
                gamma = {a: min(room[a[-1], r] / q for r, q in d.items()) for a, d in need.items()}
                share = {a: have[a[0]] / (problem[3][a[0]] * gamma[a]) for a in need}
                yield [[("ps_dsf", need, room, share, at)]], levels(instance, tuple(x)) is not None


def lexicographic_cases():
    """Totals of a lexicographic answer are unique, so other totals are none; users with one share make a round."""
    for seed in range(COUNT):
        instance, named, found = points(seed)
        rule, others = ("drfh", "tsf")[seed % 2], ("tsf", "drfh")[seed % 2]
        answer = exact_arcs(instance).tasks(named[rule])
        for x in (named[rule], (named[others], *found[2:])[seed % 4]):
            problem, need, room, at = of_definitions(instance, x)
            tasks, rounds = exact_arcs(instance).tasks(x), []
            share = {n: u / one for n, (u, one) in enumerate(zip(tasks, unit(rule, problem), strict=True))}
            for level in sorted(set(share.values())):
                users, low = [n for n in share if share[n] == level], [a for a in need if share[a[0]] <= level]
                worth = {a: F(1) for a in need if a[0] in users}
                prices = witnesses(need, room, at, worth, low, [a for a in need if a not in low])
                rounds.append([("keeps", need, room, share, at, users, p) for p in prices])
            yield rounds, tuple(tasks) == tuple(answer)


def pareto_cases():
    """The last point keeps the first user alone from more."""
    pairs = [(instance, x) for instance, _, found in map(points, range(COUNT)) for x in found[2:5]]
    for instance, x in [*pairs, (Instance([[1, 0], [0, 1]], [[1, 1]]), [F(1), F(1, 2)])]:
        _, need, room, at = of_definitions(instance, x)
        same = dict.fromkeys(range(instance.N), 0)
        prices = witnesses(need, room, at, dict.fromkeys(need, F(1)), list(need), [])
        point = Allocation(instance, np.array([float(v) for v in x]), x_exact=tuple(x))
        true = bool(check(point, "pareto", exact=True).holds)
        yield [[("keeps", need, room, same, at, list(same), p) for p in prices]], true


def bargaining_cases():
    """Of two users on one server of at most two resources the bargain is rational: simple fractions next to the computed one."""
    for seed in range(COUNT):
        exact = generated(seed).exact
        instance = Instance(exact.demands[:2], exact.capacities[:1], weights=exact.weights[:2])
        best = [F(float(v)).limit_denominator(300) for v in solve(instance, "nb", accuracy="high").x]
        (first, second), capacity = (rows[0] for rows in instance.exact.demands), instance.exact.capacities[0]
        rest = min((c - best[0] / 2 * p) / q for p, q, c in zip(first, second, capacity, strict=True) if q)
        for x, true in ((best, True), ([v * F(9, 10) for v in best], False), ([best[0] / 2, rest], False)):
            problem, need, room, at = of_definitions(instance, x)
            worth = {a: problem[3][a[0]] / at[a] for a in need}
            yield [[("equilibrium", need, room, worth, at, p) for p in witnesses(need, room, at, worth, [], [])]], true
    instance = Instance([[1, 3], [3, 1]], [[1, 3], [3, 1]])  # elsewhere a task costs three times as much
    assert np.allclose(solve(instance, "nb", accuracy="high").tasks, [1, 1])
    _, need, room, at = of_definitions(instance, [F(1), F(0), F(0), F(1)])
    prices = {(0, 0): F(1), (0, 1): F(0), (1, 0): F(0), (1, 1): F(1)}
    yield [[("equilibrium", need, room, dict.fromkeys(need, F(1)), at, prices)]], True


def complaint_cases():
    chance = random.Random(7)
    for seed in range(COUNT):
        exact = generated(seed).exact
        limits = [chance.choice([None, F(1, 2)]) for _ in exact.demands]
        instance = Instance(exact.demands, exact.capacities[:1], weights=exact.weights, max_tasks=limits)
        d = requests(NoJustifiedComplaints().domain(instance))
        need, room = {(n, 0): dict(part) for n, part in enumerate(d.parts)}, {(0, j): F(1) for j in range(d.R)}
        answer = [u / q for u, q in zip(certified_answer(instance, "njc").x, d.unit, strict=True)]
        level = 1 / max(sum(part.get(j, F(0)) for part in d.parts) for j in range(d.R))
        for x in (
            answer,
            [min(F(1), level)] * instance.N,
            [v * F(9, 10) for v in answer],
            [chance.choice([v, v, F(1), F(6, 5), F(0)]) for v in answer],
        ):
            yield [[("no_complaint", need, room, d.entitlement, {(n, 0): v for n, v in enumerate(x)})]], d.fair(x)


def property_cases():
    """Against plain arithmetic: does it fit, is it more, does it dominate."""
    for seed in range(COUNT):
        instance, _, found = points(seed)
        tasks = [exact_arcs(instance).tasks(x) for x in found]
        chance = random.Random(seed)
        for k, x in enumerate(found):
            _, need, room, at = of_definitions(instance, x)
            at = {a: v * chance.choice([F(1), F(1), F(1), F(11, 10), F(-1)]) for a, v in at.items()}
            loads = {key: sum((v * need[a].get(key[1], 0) for a, v in at.items() if a[-1] == key[0]), F(0)) for key in room}
            fits = min(at.values()) >= 0 and all(loads[key] <= c for key, c in room.items())
            had, own = tasks[k - 1], sum(at.values())
            now = [sum(v for a, v in at.items() if a[0] == n) for n in range(instance.N)]
            better = all(a >= b for a, b in zip(now, had, strict=True)) and now != list(had)
            yield [[("feasible", need, room, at)]], fits
            yield [[("content", need, room, at, own, sum(had))]], not (fits and own > sum(had))
            yield [[("undominated", need, room, at, now, dict(enumerate(had)))]], not (fits and better)


def exchange_cases():
    """Against loops, at any shares."""
    for seed in range(COUNT):
        chance = random.Random(seed)
        share, other = ([F(chance.randint(0, 3)) for _ in range(3)] for _ in range(2))
        raised = [n for n in range(3) if other[n] > share[n] and not any(other[m] < share[m] <= share[n] for m in range(3))]
        yield [[("not_raised", dict(enumerate(share)), other)]], not raised


CASES = {
    "properties": property_cases,
    "keeps": lexicographic_cases,
    "pareto": pareto_cases,
    "equilibrium": bargaining_cases,
    "no_complaint": complaint_cases,
    "not_raised": exchange_cases,
    "ps_dsf": ps_dsf_cases,
}


@cache
def cases_of(name):
    """All cases, made once."""
    return list(CASES[name]())


def says(module, asked):
    """Whether every part is true with one of its witnesses."""
    return all(any(bool(getattr(module, call[0])(*call[1:], *EXACT)) for call in part) for part in asked)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", CASES)
def test_a_definition_is_the_computed_mechanism(name):
    cases = cases_of(name)
    assert len(cases) >= COUNT
    assert {true for _, true in cases} == {True, False}
    assert [says(definitions, asked) for asked, _ in cases] == [true for _, true in cases]


def test_the_page_of_a_statement_shows_its_definitions():
    """As they stand in the scripts: of the mechanism, then of the property."""
    page = statement_page(statement("P.T2.pareto"), packaged())
    texts = [plain_source(function) for function in (bottleneck, ps_dsf, undominated)]
    assert all(text in page for text in texts)
    assert texts[0] in (Path(__file__).parents[2] / "docs" / "witnesses" / "P.A1.defined.py").read_text(encoding="utf-8")
    assert "## Definition" not in statement_page(statement("W.Fig5.numbers"), packaged())


def test_the_page_of_a_printed_case_shows_it():
    """Unless nothing was decided; experiments have samples."""
    for item in all_statements().values():
        if item.quantifier == "one" and not item.experiment:
            page = statement_page(item, packaged())
            assert ("Instance(" in page) != ("Status: **not decided**" in page), item.id
    assert statement("P.II-B.eligible").mechanism == "", "shares of the eligible servers are not those of drfh"


# ---- mutants ------------------------------------------------------------------------------------------------------------------

TARGETS = {
    "bottleneck": "ps_dsf",
    "ps_dsf": "ps_dsf",
    "keeps": "keeps",
    "equilibrium": "equilibrium",
    "justified": "no_complaint",
    "no_complaint": "no_complaint",
    "content": "properties",
    "undominated": "properties",
    "feasible": "properties",
    "not_raised": "not_raised",
}

SAME = {
    "ge(p, 0)": "no witness of the tests has a negative price",
    "eq(share[n], level)": "users of a round have one share",
}
"""What every witness of the tests has; that scripts need it is seen in test_standalone_scripts.py."""


class Mutation(ast.NodeTransformer):
    """One call of a connective, the k-th, as another one."""

    def __init__(self, k):
        self.left, self.said = k, ""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in ("ge", "eq", "all_", "any_") or ast.unparse(node) in SAME:
            return node
        self.left -= 1
        if self.left != -1:
            return node
        self.said = ast.unparse(node)
        if name == "ge":
            return ast.Call(node.func, node.args[::-1], [])
        if name == "eq":
            return ast.Constant(True)
        return ast.Call(ast.Name("any" if name == "all_" else "all", ast.Load()), node.args, [])


def mutants(name):
    """Modules in which one connective of a definition is changed, and what it was."""
    source = getsource(definitions)
    for k in range(20):
        tree, change = ast.parse(source), Mutation(k)
        for number, part in enumerate(tree.body):
            if isinstance(part, ast.FunctionDef) and part.name == name:
                tree.body[number] = change.visit(part)
        if not change.said:
            return
        yield module_of(ast.fix_missing_locations(tree)), change.said


def module_of(code):
    made = ModuleType("mutant")
    exec(compile(code, "mutant", "exec"), made.__dict__)
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize("name", TARGETS)
def test_a_mutant_of_a_definition_disagrees(name):
    found = list(mutants(name))
    assert found
    for module, said in found:
        assert any(says(module, asked) != true for asked, true in cases_of(TARGETS[name])), said


FEWER = [
    ("pareto", "for a in need if a[0] in users]", "for a in need if a[0] == users[0]]"),
    ("ps_dsf", "for r in need[a]]) for a in need])", "for _, r in room]) for a in need])"),
    ("ps_dsf", "for r in need[a]]) for a in need])", "for r in need[a]]) for a in need if x[a]])"),
    ("no_complaint", "ge(x[a] * need[a].get(j, 0), ", "ge(x[a], "),
    ("no_complaint", "eq(x[a], 1), *(", "*("),
]
"""Cases, and what of a definition is replaced: whom or what it asks about."""


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "text", "other"), FEWER)
def test_a_definition_that_asks_about_others_disagrees(name, text, other):
    source = getsource(definitions)
    assert source.count(text) == 1
    module = module_of(source.replace(text, other))
    assert any(says(module, asked) != true for asked, true in cases_of(name))
