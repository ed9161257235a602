"""Which statement is which question: by mechanism and property, with the statement's own hypotheses, or by id.

What a question does not use of the hypotheses, such as equal weights, it does not assume: what is proved is then more than is
claimed. A hypothesis that the formulas do not cover, such as limits, is refused. That every server has an eligible user (K 2) is
assumed where the statement does, so that what refutes it satisfies its hypotheses.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, product
from operator import ge
from typing import Any, NamedTuple

import z3

from fairalloc.models.errors import NotApplicable
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.smt.game import GameFormulas, MeritFormulas
from fairalloc.theorems.smt.leximin import LeximinFormulas, TaskFormulas, layers
from fairalloc.theorems.smt.market import MarketFormulas
from fairalloc.theorems.smt.patterns import InstancePattern, Size, patterns, report_patterns, subsets
from fairalloc.theorems.smt.reals import Question, Term, total
from fairalloc.theorems.smt.record import WITHOUT_FORMULAS
from fairalloc.theorems.smt.requests import RequestFormulas
from fairalloc.theorems.statement import Statement

Questions = Iterator[Question]
Assumptions = dict[str, list[Term]]
Violation = list[Term] | tuple[list[Term], ...]
"""Formulas, alone or with steps, and with the definition at other allocations."""


class Kind(NamedTuple):
    """How a claim is asked.

    `covers` says what its questions cover beyond the size; `variants` and `limits`, whether they cover users with two demand
    vectors, and limits; `users` is the only number of users that the claim is about, 0 = any.
    """

    make: Callable[[Hypotheses, Size], Questions]
    covers: str = ""
    variants: bool = False
    limits: bool = False
    users: int = 0


def smallest_size(item: Statement) -> Size:
    """The size that a claim is tried at: 2x2x2, or 3x1x2 where there is one server, with one resource where it says so."""
    kind, h = _kind(item), item.hypotheses
    users, servers = (3, 1) if h.one_server else (2, 2)
    return (kind.users if kind and kind.users else users), servers, 1 if h.one_resource else 2


def _kind(item: Statement) -> Kind | None:
    return BY_ID.get(item.id) or BY_PROPERTY.get((item.mechanism, item.property))


def without_formulas(item: Statement, size: Size) -> str:
    """Why there are no formulas for a statement at a size; "" where there are."""
    kind = _kind(item)
    if kind is None and item.id in WITHOUT_FORMULAS:
        return WITHOUT_FORMULAS[item.id]
    if item.quantifier not in ("all", "some"):
        return "it is about no set of instances"
    return "there are no formulas for it" if kind is None else _unfit(item.hypotheses, kind, size)


def questions(item: Statement, size: Size) -> tuple[Questions, str]:
    """The questions that decide a statement at a size, and what they cover beyond it."""
    kind, reason = _kind(item), without_formulas(item, size)
    if reason or kind is None:
        raise NotApplicable(f"statement {item.id!r} cannot be proved by machine at {size[0]}x{size[1]}x{size[2]}: {reason}")
    covers = "" if kind.variants and item.hypotheses.one_variant else kind.covers
    return kind.make(item.hypotheses, size), covers


def _unfit(h: Hypotheses, kind: Kind, size: Size) -> str:
    if not (h.one_variant or kind.variants) or not (h.unlimited or kind.limits) or not h.same_demands:
        return "the formulas are for one demand vector a user and no limits"
    if size[0] < max(2, h.users) or (kind.users and size[0] != kind.users):
        return f"it is about {kind.users or f'at least {max(2, h.users)}'} users"
    if not all(map(ge, size, h.fewest)):
        return f"it is about {', '.join(h.words)}"
    if (h.one_server and size[1] > 1) or (h.one_resource and size[2] > 1):
        return "it is about one server" + " and one resource" * h.one_resource
    return ""


def _question(name: Any, assumed: Assumptions, violation: Violation, **more: Any) -> Question:
    """Of a violation, with its steps."""
    formulas, steps, *definition = violation if isinstance(violation, tuple) else (violation, [])
    given = assumed | ({"lexicographic": definition[0]} if definition else {})
    return Question(str(name), given, formulas, steps=steps, **more)


# ---- PS-DSF and the game ------------------------------------------------------------------------------------------------

GameViolation = Callable[[GameFormulas], list[Term]]


def _ps_dsf(violation: GameViolation, named: int, users: int = 0) -> Kind:
    """Of PS-DSF; the violation keeps the first `named` users apart."""
    return Kind(partial(_game, violation, named, ""), users=users)


def _equilibria(violation: GameViolation, named: int, rising: bool = True) -> Kind:
    """Of every finite alpha >= 1, or > 0, and of infinity."""
    asked = [(violation, named, "rising" if rising else "any"), (violation, named, "")]
    return _several(asked, EVERY_ALPHA if rising else "every alpha_i > 0 and all A_i, B_i >= 0 of (22), and alpha = inf")


def _several(asked: Sequence[tuple[GameViolation, int, str]], covers: str) -> Kind:
    """Of several questions of the game, one after the other."""
    return Kind(lambda h, size: chain.from_iterable(_game(*one, h, size) for one in asked), covers)


EVERY_ALPHA = "every alpha_i >= 1 and all A_i, B_i >= 0 of (22), and alpha = inf"

BEST: Sequence[tuple[GameViolation, int, str]] = [
    (lambda model: [z3.Not(z3.And(*model.ps_dsf()))], 0, "any"),
    (lambda model: [z3.Not(model.least_served())], 0, ""),
]
"""K Theorem 4: solutions for any falling slopes are PS-DSF allocations; these are best, and so are solutions."""


def _game(violation: GameViolation, named: int, utility: str, h: Hypotheses, size: Size) -> Questions:
    """Of PS-DSF, or of the game where the utility is "rising" (alpha >= 1) or "any"."""
    here = violation is GameFormulas.unfair_at_server
    common = (h.bottleneck or h.one_resource) and not here
    fixed = int(here)
    for pattern in patterns(
        size, named, h.positive, h.everywhere, fixed=fixed, common=common, server=here, used=h.no_idle_server
    ):
        if here and any(0 not in pattern.demanded[n] for n in pattern.at(0)):
            continue
        model = GameFormulas(pattern, size[1], size[2])
        assumed = model.instance()
        lemmas: list[Term] = []
        if utility:
            assumed["equilibrium"], lemmas = model.equilibrium(utility == "rising")
        else:
            assumed["bottlenecks"] = model.ps_dsf()
        if common:
            assumed["one dominant resource"] = model.one_dominant()
        if h.server_bottleneck and not here:
            assumed["a dominant resource at each server"] = model.dominant_everywhere()
        if here:
            assumed["dominant at server 1"] = [model.w[n, 0, 0] == 1 for n in pattern.at(0)]
        same, data = model.same_demands()
        name = f"{pattern}, {'alpha finite' if utility else 'PS-DSF'}"
        yield _question(name, assumed, violation(model), lemmas=lemmas, refine=same, data=data, shape=pattern)


def _in_time(h: Hypotheses, size: Size) -> Questions:
    """K Theorem 5: time is the one resource of each server."""
    return BY_ID["K.T4"].make(replace(h, server_bottleneck=True), (size[0], size[1], 1))


# ---- Problem 3 ----------------------------------------------------------------------------------------------------------


ANY_ALPHA = "every alpha_i > 0 and all A_i, B_i >= 0 of (22)"


def _points(violation: Callable[[MeritFormulas], Violation], solvable: bool = True) -> Kind:
    """At any point of any instance, after what is asked at one arc; `solvable`: Problem 3 is said to have the minimum 0."""

    def make(h: Hypotheses, size: Size) -> Questions:
        model, arc = MeritFormulas(InstancePattern(((0,),), ((0,),)), 1, 1), (0, 0)
        yield Question("one arc, psi", {"root": model.root(arc)}, [z3.Not(model.solved(arc))])
        slopes = {"root": model.root(arc), "derivatives": model.derivatives(arc)}
        yield Question("one arc, signs", slopes, [z3.Not(model.signs(arc))])
        for pattern in patterns(size, 0, used=h.no_idle_server):
            model = MeritFormulas(pattern, size[1], size[2])
            yield from (Question(f"{pattern}: (96) of user {n + 1}", {}, model.wrong_sum(n)) for n in pattern.users)
            yield _question(pattern, {"demands": model.demands()}, violation(model))

    return Kind(make, f"{ANY_ALPHA}, at any point" + ", given that (28)-(29) has a solution" * solvable)


def _still(h: Hypotheses, size: Size) -> Questions:
    """K Lemma 4 under Assumption 1, at a server with any full resources."""
    for pattern in patterns(size, 0, used=h.no_idle_server, server=True):
        model = MeritFormulas(pattern, size[1], size[2])
        for full in subsets(size[2]):
            yield _question(f"{pattern}, full {[r + 1 for r in full]}", {"demands": model.demands()}, model.stuck(full))


# ---- lmmf over simplex demands --------------------------------------------------------------------------------------------

TWO_VARIANTS = "at most two demand vectors a user"


def _tasks(violation: Callable[[TaskFormulas], Violation], lemma: bool = True) -> Kind:
    """Of one answer, after Z Lemma 4 where it is used."""

    def make(_: Hypotheses, size: Size) -> Questions:
        model = TaskFormulas(size[0], size[2])
        assumed = {"simplex demands": model.simplex()}
        yield from [Question("what a user holds, by other demands", assumed, model.too_many())] * lemma
        yield _question("lexicographic answers", assumed, violation(model))

    return Kind(make, TWO_VARIANTS, variants=True)


def _false_tasks(together: bool) -> Kind:
    """Of an answer to the truth and one to a report of one user, and of more where they misreport together."""

    def make(_: Hypotheses, size: Size) -> Questions:
        model, report = TaskFormulas(size[0], size[2]), TaskFormulas(size[0], size[2], "'")
        truth = {"simplex demands": model.simplex()}
        yield Question("what a user holds, by other demands", truth, model.too_many())
        for members in range(1, 1 + (size[0] if together else 1)):
            name = f"{members} of {size[0]} users misreport"
            yield _question(name, truth | {"simplex reports": report.simplex()}, model.gain(report, members))

    return Kind(make, TWO_VARIANTS, variants=True)


# ---- drf, drfh, tsf ---------------------------------------------------------------------------------------------------

LeximinViolation = Callable[[LeximinFormulas], Violation]


def _models(h: Hypotheses, size: Size, named: int) -> Iterator[LeximinFormulas]:
    common = h.bottleneck or h.one_resource
    for pattern in patterns(size, named, h.positive, h.everywhere, common=common, used=h.no_idle_server):
        yield LeximinFormulas(pattern, size[1], size[2])


def _leximin(share: str, violation: LeximinViolation, named: int, h: Hypotheses, size: Size) -> Questions:
    """At answers described by prices, or by bottlenecks with one server."""
    for model in _models(h, size, 2) if violation is LeximinFormulas.envy else ():
        if set(model.pattern.demanded[0]) <= set(model.pattern.demanded[1]):
            assumed = model.data() | {"shares": model.shares(share)}
            yield _question(f"{model.pattern}: a larger demand has a larger share", assumed, model.smaller_share())
    for model in _models(h, size, named):
        yield from _answers(_assumed(h, model, share), model, violation(model), bottlenecks=size[1] == 1)


def _answers(assumed: Assumptions, model: LeximinFormulas, violation: Violation, bottlenecks: bool = False) -> Questions:
    """The question at an answer described by bottlenecks, or by prices in each order of the layers."""
    orders = [None] if bottlenecks else list(layers(len(model.pattern.servers)))
    for order in orders:
        name = str(model.pattern) if order is None else f"{model.pattern}, shares rising by {order}"
        answer = model.bottlenecks() if order is None else [*model.ordered(order), *model.priced(order)]
        yield _question(name, assumed | {"lexicographic": answer}, violation, data=model.numbers(), shape=model.pattern)


def _assumed(h: Hypotheses, model: LeximinFormulas, share: str) -> Assumptions:
    assumed = model.data() | {"shares": model.shares(share), "feasible": model.feasible()}
    assumed |= {"equal weights": [phi == model.phi[0] for phi in model.phi[1:]]} if h.equal_weights else {}
    return assumed | ({"identical servers": [v == model.c[0, r] for (_, r), v in model.c.items()]} if h.identical_servers else {})


def _pareto(share: str, h: Hypotheses, size: Size) -> Questions:
    for model in _models(h, size, 1):
        better, definition = model.dominated()
        yield _question(model.pattern, _assumed(h, model, share) | {"lexicographic": definition}, better)


def _task_sharing(h: Hypotheses, size: Size) -> Questions:
    """Of tsf: by the definition at equal parts of every server where everybody may use them, else by prices."""
    for model in _models(h, size, 1):
        if any(len(own) < size[1] for own in model.pattern.servers):
            yield from _answers(_assumed(h, model, "tsf"), model, model.no_sharing())
            continue
        yield _question(f"{model.pattern}: alone", model.data() | {"shares": model.shares("tsf")}, model.more_than_alone())
        short, definition = model.no_task_sharing()
        yield _question(model.pattern, {"weights": model.data()["weights"], "lexicographic": definition}, short)


def _misreports(share: str, together: bool, strictly: bool, h: Hypotheses, size: Size) -> Questions:
    """Of one user who misreports, and of more where they do it together."""
    for members in range(1, 1 + (size[0] if together else 1)):
        for pattern in patterns(size, members, h.positive, h.everywhere, used=h.no_idle_server):
            for report in report_patterns(pattern, size, members, h.everywhere, h.positive):
                model = LeximinFormulas(pattern, size[1], size[2])
                yield from _gains(h, share, model, LeximinFormulas(report, size[1], size[2], model, members), strictly)


def _gains(h: Hypotheses, share: str, model: LeximinFormulas, reported: LeximinFormulas, strictly: bool) -> Questions:
    data = reported.data()
    assumed = _assumed(h, model, share)
    assumed |= {"report": [*data["demands"], *data["capacities"], *reported.shares(share)]}
    name = f"{model.pattern}; reported {reported.pattern}"
    yield _question(f"{name}: a larger demand has a larger share", assumed, model.larger_share(reported))
    gain, definition = model.gain(reported, strictly)
    yield _question(name, assumed | {"feasible report": reported.feasible(), "lexicographic": definition}, gain)


def _leaving(h: Hypotheses, size: Size) -> Questions:
    """Population monotonicity of drfh where all shares are equal, as the first questions prove, with and without a user."""
    for users in range(max(2, size[0] - 1), size[0] + 1):
        yield from _leximin("drfh", LeximinFormulas.unequal, 2, h, (users, *size[1:]))
    for model in _models(h, size, size[0]):
        rest = InstancePattern(model.pattern.servers[:-1], model.pattern.demanded[:-1])
        fewer = LeximinFormulas(rest, size[1], size[2], model)
        loses, definition = model.loses(fewer)
        equal = [part.tasks[n] == part.tasks[0] for part in (model, fewer) for n in part.pattern.users]
        assumed = _assumed(h, model, "drfh") | {"feasible without": fewer.feasible(), "one round": equal}
        yield _question(model.pattern, assumed | {"lexicographic": definition}, loses)


def _one_server(share: str, h: Hypotheses, size: Size) -> Questions:
    """That the definition and the bottlenecks of one server, which are those of PS-DSF and DRF, are the same."""
    for model in _models(h, size, 1):
        assumed = _assumed(h, model, share)
        yield _question(model.pattern, assumed | {"bottlenecks": model.bottlenecks()}, model.raised())
        yield from _answers(assumed, model, [z3.Not(model.bottlenecks()[0])])


# ---- nb and njc ------------------------------------------------------------------------------------------------------


def _bargaining(violation: Callable[[MarketFormulas], Violation]) -> Kind:
    """At every set of priced resources; users have two demand vectors where several are allowed."""

    def make(h: Hypotheses, size: Size) -> Questions:
        pools = list(product(range(size[1]), range(size[2])))
        for priced in (part for count in range(1, len(pools) + 1) for part in combinations(pools, count)):
            model = MarketFormulas(size[0], 1 if h.one_variant else 2, size[1], size[2], priced)
            assumed = model.instance() | {"prices": model.prices()}
            yield _question(f"prices of {[(i + 1, r + 1) for i, r in priced]}", assumed, violation(model))

    return Kind(make, TWO_VARIANTS, variants=True)


def _complaints(violation: Callable[[RequestFormulas], list[Term]], named: int, common: bool = False, users: int = 0) -> Kind:

    def make(h: Hypotheses, size: Size) -> Questions:
        for pattern in patterns(size, named, h.positive, h.everywhere, common=common):
            model = RequestFormulas(pattern, size[2])
            assumed = model.instance() | {"no complaints": model.fair(model.x)}
            assumed |= {"common dominant resource": model.common()} if common else {}
            yield _question(pattern, assumed, violation(model), data=model.numbers(), shape=pattern)

    return Kind(make, limits=True, users=users)


def _systems(violation: Callable[[RequestFormulas], tuple[list[Term], list[Term]]], named: int, fixed: int) -> Kind:
    """Of a changed system of D 5 and D 5.1; of a resource that keeps its place where `fixed` is 1."""

    def make(h: Hypotheses, size: Size) -> Questions:
        for pattern in patterns(size, named, h.positive, h.everywhere, fixed=fixed):
            model = RequestFormulas(pattern, size[2])
            assumed, refuting = violation(model)
            yield _question(pattern, model.instance() | {"system": assumed}, refuting)

    return Kind(make, limits=True)


# ---- the tables --------------------------------------------------------------------------------------------------------

BY_PROPERTY: dict[tuple[str, str], Kind] = {
    ("ps-dsf", "sharing-incentive"): _ps_dsf(GameFormulas.no_sharing, 1),
    ("ps-dsf", "envy-freeness"): _ps_dsf(GameFormulas.envy, 2),
    ("ps-dsf", "pareto"): _ps_dsf(GameFormulas.dominated, 1),
    ("ps-dsf", "bottleneck-fairness"): _ps_dsf(GameFormulas.unfair, 1),
    ("ps-dsf", "single-resource-fairness"): _ps_dsf(GameFormulas.unfair, 1),
    ("nb", "sharing-incentive"): _bargaining(MarketFormulas.no_sharing),
    ("nb", "envy-freeness"): _bargaining(MarketFormulas.envy),
    ("nb", "pareto"): _bargaining(MarketFormulas.dominated),
    ("nb", "equal-split"): _bargaining(MarketFormulas.not_split),
    ("njc", "pareto"): _complaints(RequestFormulas.dominated, 1),
    ("njc", "sharing-incentive"): _complaints(RequestFormulas.no_sharing, 1),
    ("njc", "envy-freeness"): _complaints(RequestFormulas.envy, 2),
}
for _mechanism, _share in (("drf", "drfh"), ("drfh", "drfh"), ("tsf", "tsf")):
    BY_PROPERTY |= {
        (_mechanism, "sharing-incentive"): Kind(partial(_leximin, _share, LeximinFormulas.no_sharing, 1)),
        (_mechanism, "envy-freeness"): Kind(partial(_leximin, _share, LeximinFormulas.envy, 2)),
        (_mechanism, "pareto"): Kind(partial(_pareto, _share)),
        (_mechanism, "strategyproofness"): Kind(partial(_misreports, _share, False, True)),
        (_mechanism, "group-strategyproofness"): Kind(partial(_misreports, _share, True, True)),
        (_mechanism, "strict-group-strategyproofness"): Kind(partial(_misreports, _share, True, False)),
        (_mechanism, "one-round"): Kind(partial(_leximin, _share, LeximinFormulas.unequal, 2)),
        (_mechanism, "single-server-reduction"): Kind(partial(_one_server, _share)),
    }
BY_PROPERTY["tsf", "sharing-incentive"] = Kind(_task_sharing)

BY_ID: dict[str, Kind] = {
    "K.E58": _ps_dsf(
        lambda m: [z3.Or(*(z3.And(m.y[0, i] > 0, m.g[0, i] < m.g[n, i]) for i in m.pattern.servers[0] for n in m.pattern.at(i)))],
        1,
    ),
    "K.T4": _several(BEST, f"every g_i with a falling slope, so {ANY_ALPHA}"),
    "K.T5": Kind(_in_time, "every g_i with a falling slope, and any number of resources, for time is the one that counts"),
    "K.L1": _points(MeritFormulas.other_solutions),
    "K.T6": _points(MeritFormulas.unstationary),
    "K.5.2.rest": _points(MeritFormulas.wrong_rest, solvable=False),
    "K.L4.priced": Kind(_still, f"{ANY_ALPHA}, at any point"),
    "P.E36": _ps_dsf(GameFormulas.exchanged, 2, users=2),
    "P.E39": _ps_dsf(GameFormulas.no_sharing, 1, users=2),
    **dict.fromkeys(("K.T2.proportional", "K.3.4.mixed.one"), _bargaining(MarketFormulas.not_proportional)),
    "K.T3.pareto": _bargaining(MarketFormulas.dominated),
    **dict.fromkeys(("K.T3.sharing", "K.3.4.mixed.sharing", "K.C2.sharing"), _equilibria(GameFormulas.no_sharing, 1)),
    **dict.fromkeys(("K.T3.envy", "K.3.4.mixed.envy", "K.C2.envy"), _equilibria(GameFormulas.envy, 2)),
    **dict.fromkeys(("K.C1", "K.3.3.max-min"), _equilibria(GameFormulas.unfair_at_server, 1, rising=False)),
    "K.3.3.bottleneck": _equilibria(GameFormulas.unfair, 1, rising=False),
    **dict.fromkeys(("K.2.2.tsf.one-server", "P.II-B.cdrf.one-server"), Kind(partial(_one_server, "tsf"))),
    **dict.fromkeys(("K.2.3.one-server", "P.III-B.reduction"), Kind(partial(_one_server, "drfh"))),
    **dict.fromkeys(("W.P9", "W.S3.4.drf.population-monotonicity"), Kind(_leaving)),
    **dict.fromkeys(("Z.C3", "Z.V.LMMF.PO"), _tasks(TaskFormulas.dominated, lemma=False)),
    "Z.L4": _tasks(TaskFormulas.too_many, lemma=False),
    "Z.T1": _false_tasks(False),
    "Z.T1.GSP": _false_tasks(True),
    "Z.T2": _tasks(TaskFormulas.envy),
    "D.S3.small": _complaints(lambda m: [*m.modest(), m.x[0] < 1], 1),
    "D.S3.no-scarcity": _complaints(lambda m: [*m.feasible([z3.RealVal(1)] * len(m.e)), m.x[0] < 1], 1),
    "D.S3.cut-back": _complaints(RequestFormulas.wrongly_cut, 1),
    "D.S4.only-bottleneck": _complaints(
        lambda m: [z3.Or(*(z3.And(m.load(j, m.x) == 1, m.request(0, j) < m.request(0, 0)) for j in m.resources))], 1, common=True
    ),
    "D.S4.same-dominant.true": _complaints(
        lambda m: [*(m.request(i, 0) >= m.e[i] for i in m.users), m.x[0] * m.request(0, 0) != m.e[0]], 1, common=True
    ),
    "D.S5.dummies": _systems(RequestFormulas.dummies, 0, 0),
    "D.S5.1.ignored": _systems(
        lambda m: ([total(m.request(i, 0) for i in m.users) < 1], [m.fair(m.x, without=0)[0] != m.fair(m.x)[0]]), 0, 1
    ),
    "D.S5.1.dominated": _systems(lambda m: ([*m.fair(m.x, without=0), m.load(0, m.x) <= 1], [z3.Not(*m.fair(m.x))]), 0, 1),
    "D.S5.1.satisfied": _systems(RequestFormulas.removed, 1, 0),
    "D.S5.1.room": _complaints(lambda m: [*m.modest(), z3.Or(*(1 - m.r[0, j] < m.e[1] for j in m.pattern.demanded[0]))], 2),
    "D.S5.2.boundary": _complaints(lambda m: [*(m.load(j, m.x) < 1 for j in m.resources), *(v < 1 for v in m.x)], 0),
    "D.S5.3.unique": _complaints(lambda m: [*m.fair(m.fractions("y")), m.fractions("y")[0] != m.x[0]], 1, users=2),
}
"""Statements whose property has no name, or whose parameters are not those of BY_PROPERTY."""
