r"""lmmf (Z II-B) for every instance of one pool, with up to two demand vectors a user; tasks are compared as they are.

**The definition.** Y is lexicographically max-min fair iff no feasible allocation gives some user n more than its v_n tasks
without giving less to some m with v_m <= v_n. Such an allocation is not there, for a step towards it would be lexicographically
larger (Z Lemmas 1 and 2). `exchange` is this at a given allocation.

**Simplex demands** (Z V). Every task takes one unit in all, so what v tasks take holds at most v tasks of any user (Z Lemma 4).
Products of tasks and demands are unknowns of their own, t_nvr, with sum_r t_nvr = v_nv: that is all that is used of them.
"""

from collections.abc import Sequence

import z3

from fairalloc.theorems.definitions.lexicographic import not_raised
from fairalloc.theorems.smt.reals import FORMULAS, Term, real, total


class TaskFormulas:
    """The unknowns of an answer: t_nvr, what user n's tasks of variant v take of resource r; the tag of a report is "'"."""

    def __init__(self, users: int, resources: int, tag: str = "") -> None:
        self.users, self.resources, self.tag = range(users), range(resources), tag
        self.held = [self.packing(f"t{tag}{n}") for n in self.users]
        self.tasks = [total(self.worth(packing)) for packing in self.held]

    def packing(self, name: str) -> list[list[Term]]:
        """What tasks of two variants take of each resource, as unknowns."""
        return [[real(f"{name}{v, r}") for r in self.resources] for v in range(2)]

    def worth(self, packing: Sequence[Sequence[Term]]) -> list[Term]:
        """Tasks of each variant, over simplex demands."""
        return [total(row) for row in packing]

    def simplex(self) -> list[Term]:
        """Nothing that is held is negative; tasks are what they take in all."""
        return [v >= 0 for packing in self.held for row in packing for v in row]

    def more_from(self, n: int, of: "TaskFormulas") -> tuple[Term, list[Term]]:
        """Tasks that user n could truly run with what user m of an answer holds: their number, and that they fit."""
        own = self.packing(f"u{self.tag}{n}")
        fits = [total(row[r] for row in own) <= total(row[r] for row in of.held[n]) for r in self.resources]
        return total(self.worth(own)), [*(v >= 0 for row in own for v in row), *fits]

    def exchange(self, tasks: Sequence[Term]) -> list[Term]:
        """The definition at a feasible allocation with these tasks."""
        return [not_raised(dict(enumerate(self.tasks)), tasks, *FORMULAS)]

    # ---- what would refute a claim

    def too_many(self) -> list[Term]:
        """More tasks than user 1 of this answer runs fit into what it holds (Z Lemma 4)."""
        tasks, fits = self.more_from(0, self)
        return [*fits, tasks > self.tasks[0]]

    def envy(self) -> tuple[list[Term], list[Term], list[Term]]:
        """User 1 could run more with what user 2 has; Z Lemma 4; the definition where it has that, too, and user 2 nothing."""
        tasks, fits = self.more_from(1, self)
        given = [self.tasks[0] + tasks, z3.RealVal(0), *self.tasks[2:]]
        return [*fits, tasks > self.tasks[0]], [tasks <= self.tasks[1]], self.exchange(given)

    def dominated(self) -> tuple[list[Term], list[Term], list[Term]]:
        """Another allocation gives user 1 more tasks and nobody less; no lemma; and the definition there."""
        better = [real(f"better{n}") for n in self.users]
        no_less = [new >= old for new, old in zip(better[1:], self.tasks[1:], strict=True)]
        return [better[0] > self.tasks[0], *no_less], [], self.exchange(better)

    def gain(self, report: "TaskFormulas", liars: int) -> tuple[list[Term], list[Term], list[Term]]:
        """The first users, who misreport, could all run more true tasks with what they are given; Z Lemma 4; and the definitions
        at the other answer, where the misreporting users have what they can use of it, or nothing.
        """
        formulas, runs, lemmas = [], [], []
        for n in range(liars):
            tasks, fits = self.more_from(n, report)
            formulas += [*fits, tasks > self.tasks[n]]
            lemmas.append(tasks <= report.tasks[n])
            runs.append(tasks)
        there = self.exchange([*runs, *report.tasks[liars:]])
        return formulas, lemmas, there + report.exchange([z3.RealVal(0)] * liars + self.tasks[liars:])
