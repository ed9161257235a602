"""Which statement is which question: by mechanism and property, with the statement's own hypotheses, or by id.

What a question does not use of the hypotheses, such as equal weights, it does not assume: what is proved is then more than is
claimed. A hypothesis that the formulas do not cover, such as limits, is refused.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fairalloc.models.errors import NotApplicable
from fairalloc.theorems.machine.game import GameFormulas
from fairalloc.theorems.machine.leximin import LeximinFormulas, layers
from fairalloc.theorems.machine.patterns import InstancePattern, Size, patterns, report_patterns
from fairalloc.theorems.machine.reals import Question, Term
from fairalloc.theorems.statement import Hypotheses, Statement

__all__ = ["Questions", "questions", "smallest_size"]

Questions = Iterator[Question]


@dataclass(frozen=True)
class Kind:
    """How a claim is asked: the questions for a size under hypotheses, and what they cover beyond the size."""

    make: Callable[[Hypotheses, Size], Questions]
    covers: str = ""


def smallest_size(item: Statement) -> Size:
    """The size that a claim is tried at: 2x2x2, or 3x1x2 where there is one server, with one resource where it says so."""
    users, servers = (3, 1) if item.hypotheses.one_server else (2, 2)
    return users, servers, 1 if item.hypotheses.one_resource else 2


def questions(item: Statement, size: Size) -> tuple[Questions, str]:
    """The questions that decide a statement at a size, and what they cover beyond it.

    Raises
    ------
    NotApplicable : there are no formulas for the statement, or not for this size
    """
    about = item.mechanism != "alpha-pf-vds" or item.id in WITHIN_EVERY_ALPHA
    kind = BY_ID.get(item.id) or (BY_PROPERTY.get((item.mechanism, item.property)) if about else None)
    reason = "" if kind else "there are no formulas for it"
    h = item.hypotheses
    if item.quantifier not in ("all", "some"):
        reason = "it is about no set of instances"
    elif not (h.one_variant and h.same_demands and h.unlimited):
        reason = reason or "the formulas are for one demand vector a user and no limits"
    elif size[0] < max(2, h.users):
        reason = reason or f"it is about at least {max(2, h.users)} users"
    elif (h.one_server and size[1] > 1) or (h.one_resource and size[2] > 1):
        reason = reason or "it is about one server" + " and one resource" * h.one_resource
    if reason or kind is None:
        raise NotApplicable(f"statement {item.id!r} cannot be proved by machine at {size[0]}x{size[1]}x{size[2]}: {reason}")
    return kind.make(h, size), kind.covers


def _patterns(h: Hypotheses, size: Size, named: int) -> Iterator[InstancePattern]:
    return patterns(size, named, h.positive, h.everywhere, h.bottleneck or h.one_resource)


# ---- PS-DSF and the game ------------------------------------------------------------------------------------------------


def _ps_dsf(violation: Callable[[GameFormulas], list[Term]], named: int) -> Kind:
    """Of PS-DSF; the violation keeps the first `named` users apart."""
    return Kind(lambda h, size: _game(h, size, violation, named, equilibrium=False))


def _equilibrium(violation: Callable[[GameFormulas], list[Term]], named: int) -> Kind:
    return Kind(lambda h, size: _game(h, size, violation, named, equilibrium=True), EVERY_ALPHA)


EVERY_ALPHA = "every alpha_i >= 1 and all A_i, B_i >= 0 of (22)"


def _game(h: Hypotheses, size: Size, violation: Callable[[GameFormulas], list[Term]], named: int, equilibrium: bool) -> Questions:
    for pattern in _patterns(h, size, named):
        model = GameFormulas(pattern, size[1], size[2])
        assumed = model.instance()
        lemmas: list[Term] = []
        if equilibrium:
            assumed["equilibrium"], lemmas = model.equilibrium()
        else:
            assumed["bottlenecks"] = model.ps_dsf()
        if h.bottleneck or h.one_resource:
            assumed["one dominant resource"] = model.one_dominant()
        same, data = model.same_demands()
        yield Question(str(pattern), assumed, violation(model), lemmas, refine=same, data=data, shape=pattern)


# ---- drf, drfh, tsf ---------------------------------------------------------------------------------------------------


def _lexicographic(kind: str, violation: Callable[[LeximinFormulas], list[Term]], named: int) -> Kind:
    """At answers described by prices, or by bottlenecks with one server."""
    return Kind(lambda h, size: _leximin(h, size, kind, violation, named))


def _leximin(h: Hypotheses, size: Size, kind: str, violation: Callable[[LeximinFormulas], list[Term]], named: int) -> Questions:
    for pattern in _patterns(h, size, named):
        model = LeximinFormulas(pattern, size[1], size[2])
        assumed = _assumed(h, model, kind)
        refuting = violation(model)
        for order in layers(size[0]) if size[1] > 1 else [None]:
            name = str(pattern) if order is None else f"{pattern}, shares rising by {order}"
            answer = model.bottlenecks() if order is None else [*model.ordered(order), *model.priced(order)]
            yield Question(name, assumed | {"lexicographic": answer}, refuting, data=model.numbers(), shape=pattern)


def _assumed(h: Hypotheses, model: LeximinFormulas, kind: str) -> dict[str, list[Term]]:
    assumed = model.data() | {"shares": model.shares(kind), "feasible": model.feasible()}
    assumed |= {"equal weights": model.equal_weights()} if h.equal_weights else {}
    return assumed | ({"identical servers": model.identical_servers()} if h.identical_servers else {})


def _pareto(kind: str) -> Kind:
    def make(h: Hypotheses, size: Size) -> Questions:
        for pattern in _patterns(h, size, 1):
            model = LeximinFormulas(pattern, size[1], size[2])
            better, definition = model.dominated()
            yield Question(str(pattern), _assumed(h, model, kind) | {"lexicographic": definition}, better)

    return Kind(make)


def _misreports(kind: str) -> Kind:
    def make(h: Hypotheses, size: Size) -> Questions:
        for pattern in _patterns(h, size, 1):
            for report in report_patterns(pattern, size, h.everywhere, h.positive):
                model = LeximinFormulas(pattern, size[1], size[2])
                reported = LeximinFormulas(report, size[1], size[2], model)
                name = f"{pattern}; reported {report}"
                asked = _assumed(h, model, kind) | _reported(reported, kind)
                yield Question(f"{name}: a larger demand has a larger share", asked, model.larger_share(reported))
                gain, definition = model.gain(reported)
                answers = {"feasible report": reported.feasible(), "lexicographic": definition}
                yield Question(name, asked | answers, gain)

    return Kind(make)


def _reported(reported: LeximinFormulas, kind: str) -> dict[str, list[Term]]:
    data = reported.data()
    return {"report": [*data["demands"], *data["capacities"], *reported.shares(kind)]}


BY_PROPERTY: dict[tuple[str, str], Kind] = {
    ("ps-dsf", "sharing-incentive"): _ps_dsf(GameFormulas.no_sharing, 1),
    ("ps-dsf", "envy-freeness"): _ps_dsf(GameFormulas.envy, 2),
    ("ps-dsf", "pareto"): _ps_dsf(GameFormulas.dominated, 1),
    ("ps-dsf", "bottleneck-fairness"): _ps_dsf(GameFormulas.unfair, 1),
    ("ps-dsf", "single-resource-fairness"): _ps_dsf(GameFormulas.unfair, 1),
    ("alpha-pf-vds", "sharing-incentive"): _equilibrium(GameFormulas.no_sharing, 1),
    ("alpha-pf-vds", "envy-freeness"): _equilibrium(GameFormulas.envy, 2),
}
for _mechanism, _kind in (("drf", "drfh"), ("drfh", "drfh"), ("tsf", "tsf")):
    BY_PROPERTY |= {
        (_mechanism, "sharing-incentive"): _lexicographic(_kind, LeximinFormulas.no_sharing, 1),
        (_mechanism, "envy-freeness"): _lexicographic(_kind, LeximinFormulas.envy, 2),
        (_mechanism, "pareto"): _pareto(_kind),
        (_mechanism, "strategyproofness"): _misreports(_kind),
    }

BY_ID: dict[str, Kind] = {"K.E58": _ps_dsf(GameFormulas.not_least_served, 1)}
"""Statements whose property has no name, or whose parameters are not those of BY_PROPERTY."""

WITHIN_EVERY_ALPHA = {
    "K.T3.envy",
    "K.T3.sharing",
    "K.3.4.mixed.sharing",
    "K.3.4.mixed.envy",
    "K.C2.sharing",
    "K.C2.envy",
    "K.E41",
}
"""The statements of the game that are about alpha >= 1 alone."""
