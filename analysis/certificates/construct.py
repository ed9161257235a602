"""Making certificates: the exact answer of a mechanism, its proof, and how far a given allocation is from it.

1. Find the exact answer: the method `exact`, or, for mechanisms whose answer is not rational, prices that prove a bound.
2. Compare the given allocation, if there is one, with the exact answer.
3. Verify the certificate; only then it is returned. Where any step fails the result is `NotCertified`.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates import dual_solutions, game_certificate
from fairalloc.analysis.certificates.certificate import Certificate, Refuted
from fairalloc.analysis.certificates.pool import FillingCertificate, JustifiedCertificate, justified
from fairalloc.analysis.properties.checks import TOLERANCE, home_of
from fairalloc.formulations import MECHANISMS, mechanism_of
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.common.duality_gap import reference_prices
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.njc import NoJustifiedComplaints, requests
from fairalloc.formulations.utilitarian import Utilitarian, idle
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Seconds, Tolerance, checked
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.exact.proofs import ExactProgram
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_flint, exact_arcs
from fairalloc.models.feasibility import infeasibility, scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, told_apart
from fairalloc.solvers import solve
from fairalloc.solvers.exact.exact import in_rationals, solve_exactly, without_floors
from fairalloc.solvers.exact.ps_dsf import exact_layers, exact_levels, levels
from fairalloc.solvers.judge import proved, user_error
from fairalloc.solvers.method import Limits, Stopped, now
from fairalloc.solvers.njc.pieces import exact_point_near, far_apart
from fairalloc.solvers.options import allowed_user_error
from fairalloc.solvers.running.time_limits import within


@dataclass(frozen=True)
class NotCertified:
    """No certificate could be made, and the reason; it is false as a condition."""

    mechanism: str
    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{self.mechanism}: not certified: {self.reason}"


@checked
def certify(
    allocation: Allocation,
    mechanism: str | Mechanism | type[Mechanism] | None = None,
    tolerance: Tolerance = TOLERANCE,
    time_limit: Seconds | None = None,
) -> Certificate | NotCertified:
    """Prove that an allocation is the mechanism's, or say why that could not be proved.

    Parameters
    ----------
    allocation : the allocation to be certified, on its own instance
    mechanism : whose answer it is, an id or a mechanism; None = that of the allocation, with its parameters
    tolerance : how far the allocation may be from the exact answer, relative; for nb, the largest residual, and the largest
        gap in units of sum w; for alpha-pf-vds with other alpha, the largest bound on the residual
    time_limit : seconds for the whole call, which takes at most 1.2 times as long and a second more; None = no limit

    Returns
    -------
    A verified certificate for the allocation's own rationals where it has any, otherwise for the nearest exact answer;
    or NotCertified, which is false as a condition

    Raises
    ------
    InstanceError : it is no Allocation, or names no mechanism, or the tolerance is negative
    NotApplicable : the mechanism's answers have other arcs, as those of "drf", which are on one pool

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> print(certify(solve(wang, "drfh", "exact")))
    drfh: lexicographic max-min fair, rounds at 5/7
    >>> print(certify(Allocation(wang, [5, 1, 1, 5]), "drfh"))
    drfh: not certified: user 'u1' runs 6 tasks, but 10 in the exact answer, 0.4 away, relative
    """
    item = mechanism_of(allocation, mechanism, "certify")
    return _in_time(item, allocation.instance, allocation, tolerance, time_limit)


@checked
def certified_answer(
    instance: Instance, mechanism: str | Mechanism | type[Mechanism], time_limit: Seconds | None = None
) -> Certificate | NotCertified:
    """The mechanism's own answer with its proof, as of `certify`: in rationals from the start where it has a rational answer."""
    item = find_mechanism(mechanism).kept(instance)
    return _in_time(item, instance, None, TOLERANCE, time_limit)


def _in_time(
    item: Mechanism, instance: Instance, given: Allocation | None, tolerance: float, time_limit: float | None
) -> Certificate | NotCertified:
    seconds = time_limit or np.inf
    late: Certificate | NotCertified = NotCertified(item.id, "the time was not enough")
    limits = Limits(deadline=now() + seconds)
    return within(seconds, lambda _: _certified(item, instance, given, tolerance, limits), late)


def _certified(
    item: Mechanism, instance: Instance, given: Allocation | None, tolerance: float, limits: Limits
) -> Certificate | NotCertified:
    home = item.home(instance) if given is None else home_of(item, instance)  # which on large instances takes long too
    given = given and replace(given, instance=home)
    item = without_floors(item.kept(home))
    if given is not None and not infeasibility(given) <= tolerance:
        return NotCertified(item.id, f"the allocation is infeasible by {infeasibility(given):.3g}")
    try:
        made = _made(item, home, given, limits, tolerance)
    except (Refuted, Stopped) as fault:
        return NotCertified(item.id, str(fault) or "the time was not enough")
    if (best := item.parameters.get("objective")) is not None:
        about = f"nothing proves that it is the best by {best!r}"
        made = replace(made, about=f"{made.about}; {about}" if made.about else about)
    own = made.mechanism == item.id and item.id not in MECHANISMS  # an own mechanism is not found by its id
    verdict = made.verify(home, item if own else None)
    return made if verdict else NotCertified(item.id, verdict.sentence)


def _made(item: Mechanism, home: Instance, given: Allocation | None, limits: Limits, tolerance: float) -> Certificate:
    """Steps 1 and 2: a certificate, not yet verified; Refuted where there is none for this allocation."""
    if isinstance(item, Edited):
        raise Refuted(f"it is an edit of {item.base.id!r}, and no proof in rationals is about an edited model")
    if home.has_floors and not isinstance(item, Leximin | Utilitarian):
        raise Refuted("with floors the lexicographic rules, the max-min programs and 'utilitarian' have proofs")
    if isinstance(item, AlphaFair) and item.alpha == 1.0:
        return _bounded(find_mechanism("nb"), given or solve(home, "nb", time_limit=limits.left), limits, tolerance)
    if isinstance(item, Equilibrium):
        answer = given or solve(home, item.id, accuracy="high", time_limit=limits.left)
        return _of_game(item, home, answer, limits, tolerance)
    if isinstance(item, NoJustifiedComplaints):
        return _justified(given or solve(home, item.id, time_limit=limits.left), limits, tolerance)
    if isinstance(item, HierarchicalDrf):
        return _of_events(item, home, given, tolerance)
    return _of_exact_answer(item, home, given, limits, tolerance)


def _of_events(item: Mechanism, home: Instance, given: Allocation | None, tolerance: float) -> Certificate:
    """h-drf: the certificate of the allocation's own rationals, else of the tasks after the last event where it is near them."""
    arcs, tasks = exact_arcs(home), hierarchical_filling(home)
    if given is not None and given.x_exact is not None:
        return FillingCertificate(item.id, given.x_exact, arcs.tasks(given.x_exact))
    made = FillingCertificate(item.id, tuple(tasks[n] for n in arcs.user), tasks)
    return made if given is None else _near_tasks(made, given, tolerance)


def _of_exact_answer(item: Mechanism, home: Instance, given: Allocation | None, limits: Limits, tolerance: float) -> Certificate:
    """Rules and linear programs: the dual solution of the method `exact`, which proves the allocation's own rationals as well."""
    rule, domain = _as_exact_computes_it(item, home)
    answer = solve_exactly(rule, domain, limits)
    x = answer.x if given is None or given.x_exact is None else given.x_exact
    made = _of_dual_solution(item, rule, home, x, answer.proof)
    if given is None:
        return made
    near = _near_answer(item, made, given, answer.x, tolerance)
    return near if given.x_exact is None else made


def _as_exact_computes_it(item: Mechanism, home: Instance) -> tuple[Mechanism, Instance]:
    """The mechanism and the instance that `solve_exactly` takes; Refuted where it takes none."""
    try:
        found = in_rationals(item, home)
    except NotApplicable as fault:
        raise Refuted(str(fault)) from None
    if found is None:
        whole = "whole tasks are proved by the gap of branch and bound, which is their residual"
        raise Refuted(whole if item.integer else "the method 'exact' does not compute this mechanism")
    return found


def _of_dual_solution(item: Mechanism, rule: Mechanism, home: Instance, x: Rationals, proof: Any) -> Certificate:
    """The certificate of tasks x (A,); `rule` is what `exact` computes for the mechanism, nested-leximin where it has floors."""
    name = " ".join([item.id, *(f"{key}={value}" for key, value in item.parameters.items())])  # as at an end of alpha-fair
    if isinstance(proof, ExactProgram):
        return dual_solutions.ProgramCertificate(name, x, exact_arcs(home).tasks(x), proof)
    if not isinstance(rule, NestedMaxMin):
        return dual_solutions.LeximinCertificate(name, x, proof)
    borrowed = int(rule.compared == "borrowed" and any(rule.first(home).floor))
    return dual_solutions.NestedCertificate(name, x, borrowed, proof[: 1 if isinstance(item, MaxMin) else None])


def _near_answer(item: Mechanism, made: Certificate, given: Allocation, exact: Rationals, tolerance: float) -> Certificate:
    """The certificate, where the allocation is near the exact answer x (A,): in tasks where these are unique, else in value."""
    if item.unique:
        return _near_tasks(made, given, tolerance)
    best = Allocation(given.instance, np.array(exact, dtype=float))
    near = _near_value(made, item.values(given), item.values(best), tolerance)
    if not isinstance(item, Utilitarian):
        return near
    if isinstance(made, dual_solutions.ProgramCertificate) and _is_unique(made, given.instance, tolerance):
        return _near_tasks(made, given, tolerance)
    if (room := idle(given)) > tolerance:  # which a small weight hides in the objective
        raise Refuted(f"a user could have {room:.1e} of its tasks more on what is free")
    return near


def _is_unique(certificate: dual_solutions.ProgramCertificate, instance: Instance, tolerance: float) -> bool:
    """Whether the proof leaves one optimal x: arcs that cost what they are worth are independent in the rows with a price.

    A cost is what a task is worth where it is at most a part `tolerance` of that more: such arcs may be used for each other.
    """
    from flint import fmpq_mat

    arcs, proof = exact_arcs(instance), certificate.proof
    priced = [row for row, price in enumerate((*proof.prices, *proof.limits)) if price]
    columns, most = [], 1 + Fraction(tolerance)
    for n, load in zip(arcs.user, arcs.load, strict=True):
        if sum((part * proof.prices[j] for j, part in load), proof.limits[n]) <= proof.worth[n] * most:
            column = dict(load) | {arcs.rows + n: Fraction(1)}
            columns.append([as_flint(column.get(row, 0)) for row in priced])
    return bool(columns) and fmpq_mat(columns).rank() == len(columns)


def _near_tasks(certificate: Certificate, given: Allocation, tolerance: float, which: str = "") -> Certificate:
    """The certificate, where the allocation has its tasks, which are unique; a user without any is told by what it runs alone."""
    tasks = np.array([float(u) for u in exact_arcs(given.instance).tasks(certificate.x)])
    alone = np.where(tasks > 0, 0.0, given.instance.arcs.alone)
    far = np.abs(given.tasks - tasks) / np.maximum(np.maximum(tasks, given.tasks), alone)
    n = int(np.argmax(far))
    if not far[n] <= tolerance:
        user, (own, right) = given.instance.users[n], told_apart(given.tasks[n], tasks[n])
        raise Refuted(f"user {user!r} runs {own} tasks, but {right} in the exact answer{which}, {far[n]:.3g} away, relative")
    return replace(certificate, about=f"the tasks of the allocation differ by at most {far[n]:.1e}, relative")


def _near_value(made: Certificate, given: Mapping[str, float], right: Mapping[str, float], tolerance: float) -> Certificate:
    """The certificate, where the allocation has its value: the answer of a program need not be unique in tasks."""
    ((name, value),), (best,) = given.items(), right.values()
    far = abs(value - best) / (best or 1.0)
    if not far <= tolerance:
        own, most = told_apart(value, best)
        raise Refuted(f"the {name} of the allocation is {own}, but {most} at the optimum")
    return replace(made, about=f"the {name} of the allocation differs by {far:.1e}, relative")


def _of_game(item: Equilibrium, home: Instance, given: Allocation, limits: Limits, tolerance: float) -> Certificate:
    """An equilibrium: levels or prices for PS-DSF, the bounds of nb where the game is nb, else a bound on the residual.

    The game is nb where g = log on every server and no user has a limit.
    """
    if item.functions:
        raise Refuted("not decided: a utility of one's own is computed in floating point, so there is no proof in rationals")
    if not given.has_point or np.any(given.tasks <= 0):
        raise Refuted("a user has no task")
    if not isinstance(item, AlphaPfVds):
        return _levels(item, home, given, tolerance)
    if item.is_bargaining(home) and not np.any(np.isfinite(home.max_tasks)):
        about = "nb is alpha-pf-vds with g = log on every server (K Theorem 2)"
        return replace(_bounded(item, given, limits, tolerance), about=about)
    game = item.game(home)
    if not game.finite.any():
        return replace(_levels(find_mechanism("ps-dsf"), home, given, tolerance), about="ps-dsf is alpha-pf-vds at infinity")
    return _residual(item, game, given, tolerance)


def _levels(item: Mechanism, home: Instance, given: Allocation, tolerance: float) -> Certificate:
    """PS-DSF: the certificate of the allocation's own rationals, else of the exact answer whose pattern the allocation has.

    A pattern is which resources are full, who runs tasks where, and whose shares are equal: equations that rationals solve.
    """
    domain = item.domain(home)
    x = given.x_exact if given.x_exact is not None else exact_levels(domain, given.x)
    kind: Any = game_certificate.LevelsCertificate if domain.single_variant else game_certificate.PricesCertificate
    prove: Any = levels if domain.single_variant else exact_layers
    proof = None if x is None else prove(domain, x)
    if x is None or proof is None:
        residual = item.residual(given)
        start = "not decided: " if residual <= tolerance else ""
        raise Refuted(f"{start}no exact levels have the pattern of the allocation, whose residual is {residual:.3g}")
    made: Certificate = kind(item.id, x, exact_arcs(domain).tasks(x), proof)
    return made if given.x_exact is not None else _near_tasks(made, given, tolerance, " with its pattern")


def _residual(item: Mechanism, game: Game, given: Allocation, tolerance: float) -> Certificate:
    """The smallest bound proved by the known prices, for the tasks scaled down to be feasible exactly."""
    for i in np.flatnonzero(game.several & ~game.finite)[:1]:
        who = f"server {given.instance.servers[i]!r} has alpha = inf and a user with several variants"
        raise Refuted(f"{who}: its residual comes from linear programs, of which a bound for finite alpha holds no proof")
    residual = item.residual(given)
    if residual > tolerance:
        raise Refuted(f"the residual of the allocation is {residual:.3g}, but {tolerance:.3g} is allowed")
    arcs = exact_arcs(given.instance)
    x = _shrunk(arcs, given.x)
    near = scaled_down(game.instance, given.x)
    alpha = tuple(Fraction(0) if v == np.inf else Fraction(str(v)) for v in game.alpha.tolist())
    A, B = (tuple(Fraction(str(v)) for v in values.tolist()) for values in (game.A, game.B))
    made: list[game_certificate.ResidualCertificate] = []
    for hint in game.prices(near, given.prices):
        seen = game.finite[:, None] & (game.parts(hint) > 10 * float(game_certificate.VISIBLE))
        kappa = tuple(map(Fraction, np.where(seen, hint, 0.0).ravel().tolist()))
        with suppress(Refuted):
            proof = game_certificate.residual_proof(given.instance, x, alpha, A, B, kappa)
            made.append(game_certificate.ResidualCertificate(item.id, x, arcs.tasks(x), alpha, A, B, kappa, *proof))
    if not made:
        raise Refuted("no known prices prove a bound")
    best = min(made, key=lambda one: one.bound)
    if best.bound > tolerance:
        what = f"the residual is {residual:.3g}, but proved to be at most {float(best.bound):.3g} only"
        raise Refuted(f"not decided: {what}, and {tolerance:.3g} is allowed")
    return best


def _justified(given: Allocation, limits: Limits, tolerance: float) -> Certificate:
    """The certificate for the allocation's own rationals, or for the nearest NJC allocation that could be found."""
    if not given.has_point:
        raise Refuted("there is no point")
    instance, x, about = given.instance, given.x_exact, ""
    arcs, d = exact_arcs(instance), requests(instance)
    if x is None:
        part = given.x / np.array([float(q) for q in d.unit])
        found = exact_point_near(d, part, tolerance, limits)
        if found is None:
            residual = NoJustifiedComplaints().residual(given)
            start = "not decided: " if residual <= tolerance else ""
            raise Refuted(f"{start}no NJC allocation was found within {tolerance:.1g} of it, and its residual is {residual:.3g}")
        x = d.tasks(found)
        about = f"the tasks of the allocation differ by at most {far_apart(found, part):.1e}, relative"
    return JustifiedCertificate("njc", x, *justified(arcs, x), d.entitlement, about=about)


def _bounded(item: Mechanism, given: Allocation, limits: Limits, tolerance: float) -> Certificate:
    """nb: the bounds proved by the best known prices, for the allocation scaled down to be feasible exactly."""
    _refuse_what_value_hides(item, given, limits, tolerance)
    instance = given.instance
    arcs, weights = exact_arcs(instance), instance.exact.weights
    x = _shrunk(arcs, given.x)
    tasks = arcs.tasks(x)
    hints = [reference_prices(given, instance.weights / given.tasks), *([] if given.prices is None else [given.prices])]
    found = []
    for proof in (_multipliers(given, np.maximum(prices, 0.0)) for prices in hints):
        with suppress(Refuted):
            found.append((dual_solutions.nb_gap(arcs, weights, tasks, *proof), *proof))
    if not found:
        raise Refuted("no known prices prove a bound")
    gap, prices, rest = min(found)
    part = gap / sum(weights)
    if part > tolerance:
        raise Refuted(f"the bounds on the optimal value are {float(part):.3g} sum w apart, but {tolerance:.3g} is allowed")
    lower = dual_solutions.log_value(weights, tasks)[0] // dual_solutions.STEP * dual_solutions.STEP
    return dual_solutions.BoundsCertificate("nb", x, prices, rest, gap, lower, lower + 2 * dual_solutions.STEP + gap)


def _refuse_what_value_hides(item: Mechanism, given: Allocation, limits: Limits, tolerance: float) -> None:
    """Refuted where a residual or a user's tasks are wrong: a user with 1e-12 of all weights hardly lowers the value."""
    if not given.has_point or np.any(given.tasks <= 0):
        raise Refuted("a user has no task")
    known = proved(item, given, limits)
    if not known.not_judged and known.residual > tolerance:
        raise Refuted(f"the residual of the allocation is {known.residual:.3g}, but {tolerance:.3g} is allowed")
    user = user_error(find_mechanism("nb"), known.proof or given, allowed_user_error(tolerance), limits)
    if user.error is not None and user.error > allowed_user_error(tolerance):
        raise Refuted(user.sentence or "not decided: nothing bounds how far the tasks of each user are from the right ones")


def _shrunk(arcs: ExactArcs, x: Floats) -> Rationals:
    """The floats as rationals, divided by the largest load where that is more than 1."""
    given = [Fraction(max(value, 0.0)) for value in x.tolist()]
    parts = [u / limit for u, limit in zip(arcs.tasks(given), arcs.limits, strict=True) if limit is not None]
    most = max([Fraction(1), *arcs.loads(given), *parts])
    factor = Fraction(math.ceil(most * 2**60), 2**60)
    return tuple(value / factor for value in given)


def _multipliers(given: Allocation, prices: Floats) -> tuple[Rationals, Rationals]:
    """(p, z): prices at which the users below their max_tasks spend their weights, and the prices of the limits of the others."""
    instance, tasks, weights = given.instance, given.tasks, given.instance.weights
    free = tasks < instance.max_tasks * (1 - TOLERANCE)
    spent = float((cheapest(instance, prices) * tasks)[free].sum())
    p = prices.ravel() * (float(weights[free].sum()) / spent if spent > 0 else 0.0)
    z = np.where(free, 0.0, np.maximum(weights / tasks - cheapest(instance, p), 0.0))
    return tuple(map(Fraction, p.tolist())), tuple(map(Fraction, z.tolist()))
