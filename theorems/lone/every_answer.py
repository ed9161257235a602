"""Bounds on all PS-DSF allocations of an instance, by cases with factors of their inequalities: against
strategyproofness, Pareto optimality and envy-freeness to the letter (P).

They are found by branch and bound: a case whose linear program in floating point is above the bound is split, by the arc or the
choice of a resource whose cases have the least values together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, rational_answer
from fairalloc.theorems.lone.definitions import alone, every_ps_dsf, fits, ps_dsf_rows
from fairalloc.theorems.lone.properties import better_tasks
from fairalloc.theorems.lone.script import argument, given

__all__ = ["CaseTree"]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]
Known: TypeAlias = tuple[list[tuple[int, int, int]], list[tuple[int, int]], list[tuple[int, int]]]
Split: TypeAlias = tuple[str, int, int]

NOTHING: Known = ([], [], [])
"""What the first case knows."""

ROUNDING = 1e-7
"""Of the values of linear programs in floating point."""


@dataclass(frozen=True)
class CaseTree:
    """The search for the steps of `every_ps_dsf`."""

    demands: Rows
    capacities: Rows
    eligible: Places
    weights: Row
    objective: Row
    most: Fraction

    @cached_property
    def arcs(self) -> list[tuple[int, int]]:
        """Who may run where."""
        places = [(n, i) for n in range(len(self.demands)) for i in range(len(self.capacities))]
        return [(n, i) for n, i in places if self.eligible[n][i] and alone(self.demands[n], self.capacities[i]) > 0]

    def steps(self, known: Known = NOTHING) -> list[str]:
        """The steps of a case."""
        if self.value(known) <= float(self.most) + ROUNDING:
            return [self.leaf(known)]
        split = min(self.splits(known), key=lambda one: sum(self.excess(way) for way in self.ways(one, known)))
        return [" ".join(map(str, split)), *(step for way in self.ways(split, known) for step in self.steps(way))]

    def splits(self, known: Known) -> Iterator[Split]:
        """What a case does not know yet."""
        full, none, used = known
        yield from (("use", n, i) for n, i in self.arcs if (n, i) not in none and (n, i) not in used)
        yield from (("by", n, i) for n, i in self.arcs if (n, i) not in [(m, j) for m, j, _ in full])

    def ways(self, split: Split, known: Known) -> list[Known]:
        """The cases that a split makes of one."""
        (kind, n, i), (full, none, used) = split, known
        if kind == "use":
            return [(full, [*none, (n, i)], used), (full, none, [*used, (n, i)])]
        return [([*full, (n, i, r)], none, used) for r, q in enumerate(self.demands[n]) if q]

    def excess(self, known: Known) -> float:
        """How much the value of a case is above the bound."""
        return max(0.0, self.value(known) - float(self.most))

    def value(self, known: Known) -> float:
        """The largest objective of a case in floating point; -inf where it has no allocation."""
        rows, sides = ps_dsf_rows(self.demands, self.capacities, self.eligible, self.weights, known)
        worth = [float(v) for v in self._worth]
        best = maximum(worth, np.array(rows, dtype=float), np.array(sides, dtype=float), False)
        return -np.inf if best is None else float(best.value)

    @cached_property
    def _worth(self) -> Row:
        return [v for v in self.objective for _ in self.capacities]

    def leaf(self, known: Known) -> str:
        """The factors y >= 0 with y . rows >= objective and y . sides <= most of the least sum, as row:factor."""
        rows, sides = ps_dsf_rows(self.demands, self.capacities, self.eligible, self.weights, known)
        columns = [[-row[k] for row in rows] for k in range(len(self._worth))]
        matrix = np.array([*columns, list(sides)], dtype=object)
        limits = np.array([*(-v for v in self._worth), self.most], dtype=object)
        best = maximum(np.array([F(-1)] * len(rows), dtype=object), matrix, limits, True)
        assert best is not None, "the value of the case is at most the bound"
        return " ".join(f"{k}:{v}" for k, v in enumerate(best.z) if v)


def _at_most_everywhere(case: Case, objective: Row, most: Fraction) -> list[str]:
    """The steps that prove sum_n objective_n x_n <= most for every PS-DSF allocation of a case."""
    data = given(case)
    return CaseTree(data["demands"], data["capacities"], data["eligible"], data["weights"], objective, most).steps()


def _units(size: int) -> Rows:
    return [[F(int(m == n)) for m in range(size)] for n in range(size)]


def _better_than_all(case: Case) -> dict[str, Any]:
    """Feasible tasks, and for each user the steps that prove that no PS-DSF allocation gives it more than the exact one."""
    made, size = better_tasks(case), case.instance.N
    most = [sum(row, F(0)) for row in made["tasks"]]
    steps = [_at_most_everywhere(case, unit, value) for unit, value in zip(_units(size), most, strict=True)]
    return {"most": most, "better": made["better"], "steps": steps}


@argument(
    *("P.T2.pareto", "P.Table1.ps-dsf.pareto", "K.2.3.pareto", "K.Table1.ps-dsf.pareto"),
    answers="all",
    sentence="PS-DSF gives user {user} at most {have} tasks; others that fit give it {more}, and nobody less than PS-DSF does",
    formula=r"x'_{{{user}}} = {more} > {have} \ge x_{{{user}}}, \qquad x'_m \ge x_m \ \text{{for all}}\ m",
    more=_better_than_all,
)
def ps_dsf_without_pareto_optimality(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, most: Row, better: Rows, steps: list[list[str]]
) -> dict[str, Any]:
    """No PS-DSF allocation gives user n more than most_n; other feasible tasks give everybody that or more, and somebody more."""
    users = range(len(demands))
    for n in users:
        unit = [F(int(m == n)) for m in users]
        assert every_ps_dsf(demands, capacities, eligible, weights, unit, most[n], iter(steps[n]), ([], [], []))
    assert fits(demands, capacities, eligible, better)
    gains = [sum(row) - most[n] for n, row in enumerate(better)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"user": n + 1, "have": most[n], "more": sum(better[n])}


def _envied_in_all(case: Case) -> dict[str, Any]:
    """Who envies whom in the exact answer, with the steps for the most that the one has and the least that the other has."""
    data, size = given(case), case.instance.N
    have = [sum(row, F(0)) for row in by_server(case.instance, rational_answer(case.instance, "ps-dsf").x)]
    pairs = [(n, m) for n in range(size) for m in range(size) if n != m]

    def worth(n: int, m: int) -> Fraction:
        scale = data["weights"][n] / data["weights"][m]
        return alone(data["demands"][n], [have[m] * q * scale for q in data["demands"][m]]) / have[n]

    n, m = max(pairs, key=lambda pair: worth(*pair))
    unit = _units(size)
    return {
        "user": n,
        "envied": m,
        "most": have[n],
        "least": have[m],
        "steps_most": _at_most_everywhere(case, unit[n], have[n]),
        "steps_least": _at_most_everywhere(case, [-v for v in unit[m]], -have[m]),
    }


@argument(
    "P.T2.envy.letter",
    answers="all",
    sentence="user {user} runs at most {have} tasks, and {other} or more with the resources of user {envied}, by weight",
    formula=r"x_{{{user}}} \le {have} < {other} \le \min_r "
    r"\tfrac{{\varphi_{{{user}}} x_{{{envied}}} d_{{{envied}r}}}}{{\varphi_{{{envied}}} d_{{{user}r}}}}",
    more=_envied_in_all,
)
def ps_dsf_with_envy(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    user: int,
    envied: int,
    most: F,
    least: F,
    steps_most: list[str],
    steps_least: list[str],
) -> dict[str, Any]:
    """In every PS-DSF allocation one user has at most `most`, and the other at least `least`, wherever that lies."""
    up, down = [F(int(n == user)) for n in range(len(demands))], [F(-int(n == envied)) for n in range(len(demands))]
    assert every_ps_dsf(demands, capacities, eligible, weights, up, most, iter(steps_most), ([], [], []))
    assert every_ps_dsf(demands, capacities, eligible, weights, down, -least, iter(steps_least), ([], [], []))
    other = alone(demands[user], [least * q * weights[user] / weights[envied] for q in demands[envied]])
    assert other > most
    return {"user": user + 1, "envied": envied + 1, "have": most, "other": other}


def _trees(case: Case) -> dict[str, Any]:
    """Cases for the misreporting user; exact answers give it the most of all by the truth, and the least after the misreport."""
    data = given(case)
    (n,) = data["misreporting"]
    size, shared = len(data["demands"]), (data["capacities"], data["eligible"], data["weights"])
    answers = (by_server(instance, rational_answer(instance, "ps-dsf").x)[n] for instance in (case.instance, case.reported))
    before, told = (sum(row, F(0)) for row in answers)
    own = min(a / b for a, b in zip(data["reported"][n], data["demands"][n], strict=True) if b)
    up, down = [F(int(m == n)) for m in range(size)], [F(-int(m == n)) for m in range(size)]
    return {
        "user": n,
        "before": before,
        "after": told * own,
        "steps_before": CaseTree(data["demands"], *shared, up, before).steps(),
        "steps_after": CaseTree(data["reported"], *shared, down, -told).steps(),
    }


@argument(
    *("P.T2.misreports", "P.Table1.ps-dsf.misreports"),
    answers="all",
    sentence="user {user} runs at most {before} tasks by the truth, and at least {after} by its misreport",
    formula=r"\max x_{{{user}}} \le {before} < {after} \le \min x'_{{{user}}}",
    more=_trees,
)
def misreport_that_helps(
    demands: Rows,
    reported: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    user: int,
    before: F,
    after: F,
    steps_before: list[str],
    steps_after: list[str],
) -> dict[str, Any]:
    """In every PS-DSF allocation the user has at most `before` by the truth, and after its misreport it can run `after` or more.

    Of what it is given for a reported task, the least reported / true demand is what it can run of its own.
    """
    up, down = [F(int(n == user)) for n in range(len(demands))], [F(-int(n == user)) for n in range(len(demands))]
    own = min(told / needed for told, needed in zip(reported[user], demands[user]) if needed)
    assert all(reported[n] == d for n, d in enumerate(demands) if n != user)
    assert before < after
    assert every_ps_dsf(demands, capacities, eligible, weights, up, before, iter(steps_before), ([], [], []))
    assert every_ps_dsf(reported, capacities, eligible, weights, down, -after / own, iter(steps_after), ([], [], []))
    return {"user": user + 1, "before": before, "after": after}
