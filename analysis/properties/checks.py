"""Properties of an allocation, checked in floating point or in rationals, and each mechanism's own definition.

Every margin is signed and dimensionless: positive = violation, negative = slack. In floating point a violation up to a tolerance
is taken for rounding; in rationals every violation counts, however small.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fairalloc.analysis.holdings import FEW, Holdings, Unsolved, ratio
from fairalloc.analysis.linear import DECIDED_BY, maximum
from fairalloc.analysis.market import equilibrium
from fairalloc.analysis.properties import fairness, group_fairness
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES, Property, as_property
from fairalloc.analysis.verdict import Verdict, by_margin, undecided
from fairalloc.formulations import MECHANISMS, Mechanism, as_mechanism, mechanism_of
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Seconds, Tolerance, checked
from fairalloc.models.errors import InstanceError, NotApplicable, UnknownName, no_such, shown
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import told_apart, worst
from fairalloc.models.registry import Registry
from fairalloc.solvers.gap_of_given import distance
from fairalloc.solvers.method import Limits, now
from fairalloc.solvers.options import Judging, allowed_user_error
from fairalloc.solvers.running.time_limits import within

TOLERANCE = 1e-6
"""A violation up to here counts as rounding: the residual that accuracy "mid" promises."""

SMALLEST = 10**9
"""A user's own tasks are kept where they are more than such a part of what it could run alone."""

Check: TypeAlias = Callable[[Holdings, float], Verdict]


@checked
def check(
    allocation: Allocation,
    property: str | Mechanism | type[Mechanism] | Property | Callable[..., Any],  # noqa: A002
    tolerance: Tolerance = TOLERANCE,
    exact: bool | None = None,
    reference: bool | None = None,
    judge: Mapping[str, Any] | None = None,
    time_limit: Seconds | None = None,
) -> Verdict:
    """Check a property of an allocation, on its own instance.

    Parameters
    ----------
    allocation : tasks on arcs, and bundles where more was handed out than is used; as `solve`, `read_allocation` or
        `Allocation(instance, x)` give it
    property : a name in PROPERTIES, "market", a mechanism or its id, whose definition is then checked, or a function.
        The function takes an allocation and returns a Verdict, True or False, or a number. A number above `tolerance` is a
        violation (property.py)
    tolerance : the largest violation that counts as rounding; not used in rationals
    exact : whether to compute in rationals; None = where the allocation has them. Without x_exact floats are read as decimals.
        Definitions of mechanisms are checked in floating point, and in rationals where that cannot tell: `certify` proves them
    reference : for the definition of a mechanism, whether an independent reference is asked where the allocation's own prices
        prove too little; None = on instances of at most 5,000 arcs (the judge's `reference_arcs`)
    judge : options of the judge of definitions by name, see `fa.options("judge")`
    time_limit : seconds for the whole call, which takes at most 1.2 times as long and a second more. A verdict that
        is not decided then says so. With a limit the check runs in a child process; None = no limit

    Returns
    -------
    Verdict; `holds` is None where the property is not defined on this instance or not decided, and the sentence says why

    Raises
    ------
    UnknownName : there is no such property
    NotApplicable : `exact` for the definition of a mechanism
    InstanceError : the allocation is no Allocation, or the property is neither a name nor an object that can be checked

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> check(Allocation(wang, [5, 1, 1, 5]), "pareto").sentence
    "not Pareto optimal: user 'u1' could run 10 tasks instead of 6 while nobody runs fewer"
    >>> check(Allocation(wang, [10, 0, 0, 10]), "envy-freeness", exact=True).margin
    -0.8
    """
    asked = asked_property(property, allocation)
    name = name_of(asked)
    if exact and not isinstance(asked, Property):
        raise NotApplicable(f"{name!r} is checked in floating point only: certify proves definitions in rationals")
    seconds = time_limit or np.inf
    limits = Limits(deadline=now() + seconds, judging=Judging.of("judge", judge))

    def work(_: object) -> Verdict:
        if isinstance(asked, Property):
            return _checked(asked, allocation, tolerance, allocation.x_exact is not None if exact is None else exact)
        if asked == "market":
            return equilibrium(allocation, tolerance)
        return _definition(allocation, asked, tolerance, reference, limits)

    return within(seconds, work, undecided("the time was not enough", "not decided", name))


def asked_property(given: Any, allocation: Allocation) -> str | Mechanism | Property:
    """The property, the mechanism, or the name of a mechanism, or "market"; UnknownName where there is none."""
    if isinstance(given, Property):
        return given
    if (own := as_mechanism(given)) is not None:
        return own
    if isinstance(given, str):
        names = [*PROPERTIES, "market", *MECHANISMS.all_names()]
        if given in names:
            return PROPERTIES.get(given, given)
        if allocation.rule is not None and given == allocation.rule.id:
            return mechanism_of(allocation)
        if given in MECHANISM_PROPERTIES:
            raise UnknownName(f"there is no property {given!r} of one allocation: check_mechanism checks it of a mechanism")
        raise UnknownName(no_such("property", given, names, f"the properties are {', '.join(names)}"))
    if callable(given):
        return Property(getattr(given, "__name__", type(given).__name__), given)
    raise InstanceError(f"the property is {shown(given)}, but it must be a name, a mechanism or a function of an allocation")


def name_of(asked: str | Mechanism | Property) -> str:
    """What verdicts on it are called."""
    return asked if isinstance(asked, str) else asked.name if isinstance(asked, Property) else asked.id


def _checked(asked: Property, allocation: Allocation, tolerance: float, exact: bool) -> Verdict:
    name = asked.name
    if infeasibility(replace(allocation, bundles=None)) == np.inf:
        point, method = allocation.has_point, "direct computation in floating point"
        why = "the tasks are out of the range of numbers" if point else "there is no point"
        if name == "feasibility" or asked in FEASIBLE or not (point or name == "non-wastefulness"):
            return Verdict(name, False, np.inf, f"not feasible: {why}", method)
        return undecided(why, method, name)
    h = Holdings(allocation, exact)
    try:
        found = asked.verdict(h, tolerance)
    except Unsolved as reason:
        return undecided(str(reason), DECIDED_BY[exact], name)
    defined = found.holds is not None
    if defined and asked in FEASIBLE and (basic := PROPERTIES["feasibility"].verdict(h, tolerance)).holds is False:
        return replace(basic, property=name, margin=np.inf)
    return found


def _feasibility(h: Holdings, tolerance: float) -> Verdict:
    """No capacity, limit, floor or sign is violated (K 10, W 3.2); with bundles, nor is more handed out than there is."""
    alone = np.minimum(h.gamma, h.limits[h.instance.arcs.user])
    where = {"capacity": ratio(h.used, h.pools) - 1, "sign": -h.x / alone, "limit": h.tasks / h.limits - 1}
    where["floor"] = np.where(h.floors > 0, 1 - ratio(h.tasks, h.floors), -1)
    rule = max(where, key=lambda key: where[key].max())
    margin = where[rule].max()
    place = np.unravel_index(int(np.argmax(where[rule])), where[rule].shape)
    witness, sentence = _broken(rule, h, *map(int, place))
    method = "rational arithmetic" if h.exact else "direct computation in floating point"
    return by_margin(margin, tolerance, "feasible", f"not feasible: {sentence}", method, witness)


def _broken(rule: str, h: Holdings, k: int, r: int = 0) -> tuple[dict[str, object], str]:
    """The witness and the sentence of a user's limit or floor, of a negative number on an arc, or of a capacity."""
    users, servers = h.instance.users, h.instance.servers
    if rule in ("limit", "floor"):
        tasks, bound = told_apart(h.tasks[k], (h.limits if rule == "limit" else h.floors)[k])
        sentence = f"user {users[k]!r} runs {tasks} tasks and has {'the floor ' * (rule == 'floor')}{bound}"
        return {"user": users[k], "tasks": h.tasks[k]}, sentence
    if rule == "sign":
        user, server = users[h.instance.arcs.user[k]], servers[h.instance.arcs.server[k]]
        witness = {"user": user, "server": server, "tasks": h.x[k]}
        return witness, f"user {user!r} has {float(h.x[k]):g} tasks on server {server!r}"
    resource, used, capacity = h.instance.resources[r], h.used[k, r], h.pools[k, r]
    witness = {"server": servers[k], "resource": resource, "used": used, "capacity": capacity}
    given, has = told_apart(used, capacity)
    return witness, f"server {servers[k]!r} gives {given} of {resource!r} and has {has}"


def _non_wastefulness(h: Holdings, tolerance: float) -> Verdict:
    """No user holds resources that its tasks do not use (W Definition 1): bundle <= tasks times demand, in shares of capacity."""
    method = "comparison of bundles with what the tasks use"
    if h.allocation.bundles is None:
        return Verdict("", True, 0.0, "non-wasteful: bundles are exactly what the tasks use", method)
    spare = h.array(h.allocation.bundles) - replace(h, allocation=replace(h.allocation, bundles=None)).bundles
    waste = ratio(np.maximum(spare, 0), h.pools)
    n, i, r = np.unravel_index(int(np.argmax(waste)), waste.shape)
    user, server, resource = h.instance.users[n], h.instance.servers[i], h.instance.resources[r]
    held = f"user {user!r} holds {float(spare[n, i, r]):g} of {resource!r} on server {server!r}"
    witness = {"user": user, "server": server, "resource": resource, "unused": spare[n, i, r]}
    broken = f"wasteful: {held} that its tasks do not use"
    return by_margin(waste[n, i, r], tolerance, "non-wasteful", broken, method, witness)


def _pareto(h: Holdings, tolerance: float) -> Verdict:
    """No feasible allocation gives a user more tasks and none fewer (W 3.3, Z II-B).

    LP: max sum_n u'_n / gamma_n with u'_n >= u_n, u' feasible; gamma_n is the most tasks one server runs for n, or FEW times its
    max_tasks where that is less. The margin is the largest (u'_n - u_n) / gamma_n of one optimum: at most the largest that is
    possible at all, and at least 1 / N of that. With these differences as variables HiGHS took six times as long.
    """
    instance, arcs, unit = h.instance, h.instance.arcs, np.minimum(h.alone, FEW * h.limits)
    x = np.maximum(h.x, 0)  # a negative entry frees capacity for others
    near = replace(h, allocation=Allocation(instance, x.astype(float), x_exact=tuple(x) if h.exact else None))
    keep = near.tasks / max(1, ratio(near.used, near.pools).max(), (near.tasks / h.limits).max())
    capped = np.isfinite(instance.max_tasks)
    own = np.minimum(h.gamma, FEW * h.limits[arcs.user])
    answer = maximum(*_improvements(h, keep, capped, unit, own), h.exact)
    if answer is None and not h.exact and len(arcs) <= Judging().exact_arcs:
        return _pareto(replace(h, exact=True), tolerance)
    if answer is None:
        raise Unsolved("the linear program was not solved")
    better_x = answer.z * own
    gain = (np.add.reduceat(better_x, arcs.first) - keep) / unit
    n = int(np.argmax(gain))
    if not gain[n] > tolerance:
        return Verdict("", True, float(gain[n]), "Pareto optimal", DECIDED_BY[h.exact])
    user, (before, after) = instance.users[n], told_apart(h.tasks[n], keep[n] + gain[n] * unit[n])
    sentence = f"not Pareto optimal: user {user!r} could run {after} tasks instead of {before} while nobody runs fewer"
    better = {"user": user, "x": tuple(better_x.tolist())}
    method = f"{DECIDED_BY[h.exact]}; the better allocation is the witness"
    return Verdict("", False, float(gain[n]), sentence, method, better)


def _improvements(h: Holdings, keep: Any, capped: Any, unit: Any, own: Any) -> tuple[Any, Any, Any]:
    """Cost, rows and sides of the linear program of `_pareto`; keep (N,) tasks, capped (N,) limited.

    Its unknowns are in units `own` (A,), since servers may be 1e24 times as large as others, and tasks of users in `least` (N,).
    """
    arcs, rows = h.instance.arcs, h.instance.K * h.instance.R
    least = np.where(keep > 0, np.maximum(np.minimum(unit, FEW * keep), unit / SMALLEST), unit)
    cost, counted = own / unit[arcs.user], own / least[arcs.user]
    sides = np.concatenate([h.array([1] * rows), -keep / least, (h.limits / least)[capped]])
    if not h.exact:
        share, load = arcs.owner @ sp.diags_array(counted), arcs.load @ sp.diags_array(own)
        return cost, sp.vstack([load, -share, share[capped]], format="csc"), sides
    share, load = h.array(arcs.owner.toarray().astype(int)) * counted, h.array(exact_arcs(h.instance).matrix()) * own
    return cost, np.concatenate([load, -share, share[capped]]), sides


def _definition(
    allocation: Allocation, asked: str | Mechanism, tolerance: float, reference: bool | None, limits: Limits
) -> Verdict:
    """Whether the residual of the mechanism's definition is at most the tolerance, and every user error what goes with it."""
    item = mechanism_of(allocation, asked)
    name = asked if isinstance(asked, str) else item.id
    home_of(item, allocation.instance)
    basic = _checked(PROPERTIES["feasibility"], allocation, tolerance, exact=False)
    far, method = distance(item, allocation, limits, reference, (tolerance, allowed_user_error(tolerance)))
    if far is None and basic.holds is not False:
        return Verdict(name, None, np.nan, method, "by comparison")
    margin = worst([basic.margin] if far is None else [basic.margin, far])
    if margin <= tolerance:
        best = item.parameters.get("objective") if item.has_residual else None  # an edit is compared by its own objective
        if not isinstance(asked, str) and best:
            return undecided(f"it is an allocation of {name}, but nothing proves that it is the best by {best!r}", method, name)
        return Verdict(name, True, margin, f"this is an allocation of {name}", method)
    sentence = basic.sentence if basic.holds is False else f"not an allocation of {name}: its residual is {margin:.3g}"
    return Verdict(name, False, margin, sentence, method, basic.witness)


def home_of(item: Mechanism, own: Instance) -> Instance:
    """The instance of the mechanism's answers; NotApplicable where its arcs are not those of `own`, in the same order."""
    home, order = item.home(own), ""
    if (home.K, home.R, home.A) == (own.K, own.R, own.A):
        if all(np.array_equal(getattr(home.arcs, part), getattr(own.arcs, part)) for part in ("user", "server")):
            return home
        order = ", in another order"
    sizes = f"but those of {item.id!r} have {home.K}, {home.R} and {home.A}{order}"
    raise NotApplicable(f"the allocation has {own.K} servers, {own.R} resources and {own.A} arcs, {sizes}")


_FUNCTIONS: list[Check] = [_feasibility, _non_wastefulness, _pareto]
_FUNCTIONS += [fairness.envy_freeness, fairness.total_envy_freeness, fairness.envy_up_to_one_task, fairness.envy_up_to_any_task]
_FUNCTIONS += [fairness.sharing_incentive, fairness.strong_sharing_incentive, fairness.weak_sharing_incentive]
_FUNCTIONS += [fairness.bottleneck_fairness, fairness.server_bottleneck_fairness, fairness.global_bottleneck_fairness]
_FUNCTIONS += [fairness.single_resource_fairness, fairness.single_server_reduction]
_FUNCTIONS += [group_fairness.group_sharing_incentive, group_fairness.sibling_envy_freeness]
_FUNCTIONS += [group_fairness.hierarchical_share_guarantee]
_OURS = {(name := function.__name__.strip("_").replace("_", "-")): Property(name, function) for function in _FUNCTIONS}
PROPERTIES: Registry[Property] = Registry(
    "property", "fairalloc.properties", _OURS.values, as_property, lambda item: (item.name,)
)
"""The properties of any allocation by name; every mechanism id is one too, and "market" for allocations of nb."""

BASIC = ("feasibility", "non-wastefulness", "pareto")
"""The properties that the command line checks by default; the others are goals of some mechanisms only."""

FEASIBLE = frozenset(item for name, item in _OURS.items() if "bottleneck" in name or "single" in name or name == "pareto")
"""The properties that only a feasible allocation can have."""
