r"""Why an own or edited mechanism gives what it gives: the duals of its own model, named constraints included.

1. The model is solved once more, round by round where the edit keeps the rounds, and the duals of all its constraints are kept.
   The answer must be the allocation: its tasks, or, where the model has no other variables, its objective.
2. A constraint with a dual lambda > 0 binds: with b the right-hand side, f(b + d) <= f(b) + lambda d for the objective f of a
   convex maximisation (the level of the round, where there are rounds), in the units in which the constraint is written.
3. By the optimality conditions a task of a user costs sum_k lambda_k da_k / dx, which is what it adds to the objective: the
   constraints with positive terms in this sum hold the user back, those with negative ones, such as its floor, ask for its tasks.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fairalloc.analysis.explanations.costs import NOISE, cleaned
from fairalloc.analysis.explanations.explanation import MOST_NAMES, Sentence, Subject, at_level, by_weight, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import PROVED, refused
from fairalloc.formulations.common.kkt_residual import rows_in_pyomo
from fairalloc.formulations.common.modelling import layer_to_read, pyo
from fairalloc.formulations.common.tasks import variables_of
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.errors import NotApplicable
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import METHODS, find_method
from fairalloc.solvers.backends.cvxpy import CvxpySession
from fairalloc.solvers.backends.pyomo import PyomoSession
from fairalloc.solvers.gap_of_given import distance
from fairalloc.solvers.lexicographic.rounds import POSITIVE, solve_edited_rounds
from fairalloc.solvers.method import Limits, Stopped

OWN = ("fairness", "level", "full", "open", "closed")
"""Constraints of a round that are the rule itself."""

SMALLEST, PART, SAME = 1e-7, 1e-5, 1e-4
"""Solvers leave of 0 duals below the first part of the largest, and those by which every task pays less than the second part
of what it pays most for; answers that differ by less than the third are one."""


class Binding(NamedTuple):
    """One row of a constraint, what it is about, its dual, and (A,) what a task on each arc pays for it."""

    name: str
    place: dict[str, str]
    dual: float
    paid: Floats

    @property
    def facts(self) -> dict[str, Any]:
        return {"constraint": self.name, "dual": self.dual, **self.place}

    def __str__(self) -> str:
        return f"{self.name} ({said(self.dual)})"


class Stage(NamedTuple):
    """One solved model: who stops in it (everybody where there are no rounds), what they have in common, and what binds."""

    users: tuple[int, ...]
    level: float
    bindings: list[Binding]


def explain_duals(subject: Subject) -> tuple[str, list[Sentence]]:
    item = subject.item.settled(subject.instance)
    if item.integer or not item.convex:
        kind = "has integer variables" if item.integer else "is not proved to be convex"
        raise NotApplicable(f"the model of {item.id!r} {kind}, so it has no duals that explain its answers")
    stages = _solved(subject, item)  # 1
    sentences = [_of_stage(subject, stage, k, len(stages), item) for k, stage in enumerate(stages)]  # 2
    stop = {n: k for k, stage in enumerate(stages) for n in stage.users}
    sentences += [_of_user(subject, n, stop[n], stages[stop[n]], item) for n in subject.domain_users]  # 3
    return f"Derived from the duals of the model of {item.id}, solved again.", sentences


def _solved(subject: Subject, item: Mechanism) -> list[Stage]:
    session, domain = _session(subject, item), subject.domain
    stages: list[Stage] = []

    def solve_fairness(one: Round) -> tuple[Floats, Floats, Floats | None]:
        """As `Session.solve_fairness`, and keeps who stops in the round, and what binds."""
        x, fairness, prices = session.solve_fairness(one)
        y = np.where(one.active, fairness, 0.0)
        users = np.flatnonzero(one.active & (y >= POSITIVE * y.max()))
        rate = session.mechanism.base.rate(domain)
        level = float((rate * (domain.arcs.owner @ np.maximum(x, 0.0)))[one.active].min())
        arcs = np.isin(domain.arcs.user, users)
        # what they pay, and floors and the like, which bring others tasks
        held = [b for b in _bindings(session, domain) if np.any(b.paid[arcs] > 0) or np.any(b.paid < 0)]
        stages.append(Stage(tuple(users.tolist()), level, held))
        return x, fairness, prices

    try:
        if item.takes_rounds:
            assert isinstance(item, Edited)
            x, _ = solve_edited_rounds(item, domain, solve_fairness)
        else:
            x, _ = session.solve(None)
            stages.append(Stage(tuple(range(domain.N)), float(session.objective or 0.0), list(_bindings(session, domain))))
    except Stopped as stop:
        why = ": ".join(filter(None, (stop.termination, str(stop))))
        raise refused(subject, f"its model could not be solved again ({why})") from None
    if not _same(subject, item, x):
        raise refused(subject, "its model, solved again, has another answer")
    return stages


def _session(subject: Subject, item: Mechanism) -> Any:
    """A session of the allocation's method where that is a modelling layer, else of a solver that is always there."""
    layer = layer_to_read(item.layers)
    usual = f"{layer}:{'highs' if item.linear else 'clarabel' if layer == 'cvxpy' else 'ipopt'}"
    named = subject.allocation.method
    known = named in METHODS and named.startswith(f"{layer}:") and METHODS[named].computes(item)
    session = find_method(named if known else usual).open(item, subject.domain, Limits("high", subject.deadline))
    if not isinstance(session, CvxpySession | PyomoSession):
        raise refused(subject, f"{usual} has no model to read duals from")
    return session


def _same(subject: Subject, item: Mechanism, x: Floats) -> bool:
    """Whether the answer x of the model is the allocation, in tasks or, of one program, in the objective."""
    allocation = subject.allocation
    arcs = subject.domain.arcs
    tasks, own, alone = arcs.owner @ x, arcs.owner @ allocation.x, arcs.alone
    same = bool(np.all(np.abs(tasks - own) <= np.maximum(SAME * np.maximum(tasks, own), NOISE * alone)))
    proved = infeasibility(allocation) <= PROVED
    if same or item.takes_rounds or not proved:
        return same and proved
    far, _ = distance(item, allocation, Limits(deadline=subject.deadline))  # duals explain every optimal answer
    return far is not None and far <= SAME


def _bindings(session: Any, domain: Instance) -> Iterator[Binding]:
    rows = list(_rows_of_pyomo(session, domain) if isinstance(session, PyomoSession) else _rows_of_cvxpy(session, domain))
    largest = max((row.dual for row in rows), default=0.0)
    dearest = np.max([np.abs(row.paid) for row in rows], axis=0, initial=0.0) if rows else 0.0
    for row in rows:
        if row.dual > SMALLEST * largest and (not row.paid.any() or np.any(np.abs(row.paid) > PART * dearest)):
            yield row


def _rows_of_cvxpy(session: CvxpySession, domain: Instance) -> Iterator[Binding]:
    """The rows of all constraints, those with the dual 0 too."""
    x = session.model.var_dict["x"]
    for c in session.model.constraints:
        if c.label in OWN or type(c).__name__ not in ("Inequality", "Equality") or c.dual_value is None:
            continue
        part = c.expr.grad.get(x)
        if part is None:
            continue
        size = c.expr.size
        slopes = np.asarray(part.toarray() if hasattr(part, "toarray") else part).reshape(x.size, size)
        duals = np.ravel(c.dual_value, order="F") * np.ones(size)
        for k in range(size):
            there = np.flatnonzero(slopes[:, k])
            place = _placed(c.label or str(c)[:60], k, size, domain, there.tolist())
            yield Binding(*place, abs(float(duals[k])), duals[k] * slopes[:, k])


def _placed(label: str, k: int, size: int, domain: Instance, there: list[int]) -> tuple[str, dict[str, str]]:
    """The name of a row number k of `size`, in which tasks on these arcs stand, and what it is about."""
    arcs = domain.arcs
    users, servers = np.unique(arcs.user[there]), np.unique(arcs.server[there])
    for rule, has in (("limit", np.isfinite(domain.max_tasks)), ("floor", domain.min_tasks > 0)):
        if label == rule and size == has.sum():
            return _about(label, domain.users[np.flatnonzero(has)[k]], domain)
    if 1 < size == domain.A and there == [k]:
        user, server = domain.users[arcs.user[k]], domain.servers[arcs.server[k]]
        way = f", variant {arcs.variant[k]}," * bool(arcs.variant[arcs.user == arcs.user[k]].any())
        return f"{label} of {user}{way} on {server}", {"user": user, "server": server}
    of_user = size == domain.N and users.tolist() == [k]  # there may be as many users as capacities
    there_alone = size > 1 and servers.tolist() == [k // domain.R] and not of_user
    if size == domain.K * domain.R and (label == "capacity" or there_alone):
        about, place = _about("capacity", (domain.servers[k // domain.R], domain.resources[k % domain.R]), domain)
        return about if label == "capacity" else f"{label} of {about}", place
    if size > 1 and len(users) == 1:
        user = domain.users[users[0]]
        return f"{label}[{k}] of {user}", {"user": user}
    return label if size == 1 else f"{label}[{k}]", {}


def _rows_of_pyomo(session: PyomoSession, domain: Instance) -> Iterator[Binding]:
    """As `_rows_of_cvxpy`, with the dual's sign such that what is positive is paid."""
    place = {id(v): a for a, v in enumerate(variables_of(session.model, domain))}
    for row in session.model.component_data_objects(pyo.Constraint, active=True):
        label, index = row.parent_component().local_name, row.index()
        if label in OWN or not session.duals or row not in session.duals:
            continue
        slopes = rows_in_pyomo([row.body], place)
        if slopes is None:
            continue
        low, high = (np.inf if side is None else abs(pyo.value(row.body) - pyo.value(side)) for side in (row.lower, row.upper))
        dual = abs(session.duals[row])
        yield Binding(*_about(label, index, domain), dual, (-dual if low < high else dual) * slopes.toarray()[0])


def _about(label: str, index: Any, domain: Instance) -> tuple[str, dict[str, str]]:
    """The name of a row by its constraint and index, which an own model may index otherwise, and what it is about."""
    pair = isinstance(index, tuple) and len(index) == 2 and index[0] in domain.servers and index[1] in domain.resources
    if label == "capacity" and pair:
        return f"{index[1]} on {index[0]}", {"server": index[0], "resource": index[1]}
    name, known = label if index is None else f"{label}[{index}]", label in ("limit", "floor") and index in domain.users
    return f"max_tasks of {index}" if known and label == "limit" else name, {"user": index} if known else {}


def _of_stage(subject: Subject, stage: Stage, k: int, count: int, item: Mechanism) -> Sentence:
    bound = joined(map(str, sorted(stage.bindings, key=lambda b: -b.dual)), 2 * MOST_NAMES) or "nothing"
    users = [subject.domain.users[n] for n in stage.users]
    facts = {"users": users, "level": stage.level, "bindings": [b.facts for b in stage.bindings]}
    if not item.takes_rounds:
        text = f"The objective is {said(stage.level)}. Binding, with their duals: {bound}."
        return Sentence(text, "constraint", "duals", facts)
    assert isinstance(item, Edited)
    level = at_level(said(stage.level), by_weight(item.base, subject.domain))
    text = f"Round {k + 1}: {joined(users)} {'stops' if len(users) == 1 else 'stop'} at the {level}."
    return Sentence(f"{text} Binding, with their duals: {bound}.", "round", "duals", {"round": k + 1, "rounds": count, **facts})


def _of_user(subject: Subject, n: int, k: int, stage: Stage, item: Mechanism) -> Sentence:
    domain = subject.domain
    arcs = np.flatnonzero(domain.arcs.user == n)
    tasks = sum(cleaned(domain, subject.allocation.x)[a] for a in arcs)
    most = max((float(b.paid[arcs].max()) for b in stage.bindings), default=0.0)
    held = [b for b in stage.bindings if float(b.paid[arcs].max()) > PART * most]
    asked = [b for b in stage.bindings if float(b.paid[arcs].min()) < -PART * most]
    user = domain.users[n]
    when = f" and stops in round {k + 1}" if item.takes_rounds else ""
    what, why = (joined(f"{b.name} (dual {said(b.dual)})" for b in some) for some in (held, asked))
    why = f", for which {why} {'asks' if len(asked) == 1 else 'ask'}{',' * bool(when)}" if asked else ""
    text = f"{user} runs {tasks_of(tasks)}{why}{when}: held back by {what or 'nothing that binds'}."
    facts = {"user": user, "tasks": tasks, "held_by": [b.facts for b in held], "asked_by": [b.facts for b in asked]}
    return Sentence(text, "user", "duals", {**facts, **({"round": k + 1} if item.takes_rounds else {})})
