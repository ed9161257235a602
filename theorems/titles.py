"""Titles of statements in words: "PS-DSF is not strategyproof", from mechanism, property and status where a phrase says it, else
from the statement's own words; and what its mechanism, property and hypotheses mean, each in a line.
"""

import inspect
from collections.abc import Iterable
from functools import cache

from fairalloc.analysis.verdict import FOR_SOME
from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cells import FAMILIES, MISREPORTED, families_of
from fairalloc.theorems.checkers.own import claim_properties
from fairalloc.theorems.hypotheses import hypothesis_words
from fairalloc.theorems.statement import Statement, Status

_AUTHORS = "Khamse-Ashari, Lambadaris, Kesidis, Urgaonkar, Zhao"

PAPERS_IN_FULL = {
    "K": f"{_AUTHORS}, An Efficient and Fair Multi-Resource Allocation Mechanism for Heterogeneous Servers",
    "P": f"{_AUTHORS}, Per-Server Dominant-Share Fairness",
    "W": "Wang, Liang, Li, Multi-Resource Fair Allocation in Heterogeneous Cloud Computing Systems",
    "Z": "Zarchy, Hay, Schapira, Capturing Resource Tradeoffs in Fair Multi-Resource Allocation",
    "D": "Dolev, Feitelson, Halpern, Kupferman, Linial, No Justified Complaints: On Fair Sharing of Multiple Resources",
}
"""Authors and title of each paper."""

NAMES = {
    "alpha-pf-vds": "alpha-PF-VDS",
    "asset": "Asset fairness",
    "drf-per-server": "DRF on each server",
    "drfh-lp": "The answer of W's program (6)",
    "ps-dsf-tdm": "PS-DSF with time sharing",
    "uniform": "The uniform allocation",
    "utilitarian": "The utilitarian allocation",
}
"""Mechanisms that are not called by their id in capitals."""

PHRASES = {
    "sharing-incentive": ("provides", "provide", "the sharing incentive"),
    "weak-sharing-incentive": ("provides", "provide", "the weak sharing incentive"),
    "envy-freeness": ("is", "be", "envy-free"),
    "total-envy-freeness": ("is", "be", "envy-free by totals"),
    "pareto": ("is", "be", "Pareto optimal"),
    "bottleneck-fairness": ("is", "be", "bottleneck fair"),
    "strategyproofness": ("is", "be", "strategyproof"),
    "group-strategyproofness": ("is", "be", "group strategyproof"),
    "strict-group-strategyproofness": ("is", "be", "group strategyproof in the strict sense"),
    "population-monotonicity": ("is", "be", "population monotonic"),
    "single-resource-fairness": ("is", "be", "max-min fair with a single resource"),
    "single-server-reduction": ("is", "be", "DRF with one server"),
    "identical-servers-reduction": ("is", "be", "DRF with identical servers"),
    "leximin": ("is", "be", "lexicographically max-min fair in tasks"),
}
"""A property as verb, infinitive and complement."""

CONDITIONS = {
    "one server": "with one server",
    "one resource": "with one resource",
    "everywhere": "without placement constraints",
    "outsiders": "under K's Assumption 2",
    "positive": "for positive demands",
    "equal weights": "with equal weights",
    "simplex": "for demands that sum to 1",
    "server bottleneck": "with a bottleneck at every server",
    "identical servers": "with identical servers",
    "misreported demands": "if demands alone are misreported",
    "misreported servers": "if eligible servers alone are misreported",
    "misreported tasks": "if finite numbers of tasks alone are misreported",
}
"""Hypotheses as ends of titles."""

IMPLIED = {"single-server-reduction": {"one server"}, "single-resource-fairness": {"one resource"}}
IMPLIED["identical-servers-reduction"] = {"identical servers"}
"""Hypotheses that the phrase of a property says already."""

WORDS = {
    "K.3.3.max-min": "Where every server has a bottleneck resource, the equilibrium is max-min fair on it",
    "D.S3.pareto-zero": "NJC allocations are Pareto optimal also where entitlements are 0",
    "D.S4.same-dominant.true": "DRF and NJC are equivalent if all request at least their entitlement of one dominant resource",
    "D.S5.dummies-zero": "Dummy resources stand for x_i = 1 also where entitlements are 0",
    "D.S5.1.all.true": "Entitlements of the users who remain can be renormalised where all are entitled to something",
    "D.S5.3.unique-zero": "With two users the solution is unique also where entitlements are 0",
}
"""Claims whose own words need those of the claim before."""

LONGEST = 110
"""Characters of a title."""


def named(mechanism: str) -> str:
    """What a mechanism is called in a sentence.

    >>> named("ps-dsf")
    'PS-DSF'
    """
    return NAMES.get(mechanism, mechanism.upper() if mechanism in MECHANISMS else mechanism)


def title_of(item: Statement, status: Status) -> str:
    """The title of a statement of which this is known.

    It is true where the statement is decided, and a question where it is not.
    """
    # W means bottleneck fairness of the whole system
    other = item.property == "bottleneck-fairness" and "bottleneck" not in item.hypotheses.words
    phrase = PHRASES.get(item.property) if item.mechanism and not other else None
    if phrase is None:
        known = f"{status.partition(':')[0].capitalize()}: " * (status not in (Status.PROVED, Status.BY_MACHINE))
        return known + shortened(WORDS.get(item.id, item.text.rstrip(".")), LONGEST)
    verb, infinitive, what = phrase
    who, violated = named(item.mechanism), (status == Status.REFUTED) != item.wants_violation
    if status not in (Status.PROVED, Status.BY_MACHINE, Status.REFUTED):
        asked = f"Is {who} {what}" if verb == "is" else f"Does {who} {infinitive} {what}"
        return f"{' '.join([asked, *_conditions(item)])}?"
    if violated:
        negated = f"is not {what}" if verb == "is" else f"does not {infinitive} {what}"
        return " ".join([who, negated, *_conditions(item, {"simplex", "identical servers", *MISREPORTED.values()})])
    return " ".join([who, verb, what, *_conditions(item), *["by some answers"] * (item.answers == FOR_SOME)])


@cache
def is_of_one_pool(mechanism: str) -> bool:
    """Whether a registered mechanism takes all servers as one pool, so that its answers need not fit several servers."""
    item = MECHANISMS.get(mechanism)
    try:
        return item is not None and item.home(Instance([[1], [1]], [[1], [1]])).K == 1
    except NotApplicable:  # it needs data that this instance lacks, such as limits
        return False


def _conditions(item: Statement, only: Iterable[str] | None = None) -> list[str]:
    """The hypotheses of a claim as ends of its title, at most two of them; those named, and alpha, where `only` is given."""
    words = [word for word in item.hypotheses.words if word in CONDITIONS and word not in IMPLIED.get(item.property, ())]
    words = [word for word in words if word != "everywhere" or "one server" not in words]
    words = [word for word in words if word != "one server" or not is_of_one_pool(item.mechanism)]
    phrases = [CONDITIONS[word] for word in words if only is None or word in only]
    return [_alpha(item)] * bool(_alpha(item)) + [", ".join(phrases)] * bool(phrases)


def _alpha(item: Statement) -> str:
    """The values of alpha, by their family."""
    if "alpha" not in item.hypotheses.parameters:
        return ""
    found = families_of(item)
    if FAMILIES[4] in found:
        return "for an alpha of each server"
    known: dict[tuple[str, ...], str] = {(FAMILIES[0],): "< 1", (FAMILIES[1],): "= 1", (FAMILIES[3],): "= inf"}
    below = FAMILIES[0] in found and len(found) > 1
    return "" if below else f"for alpha {known.get(tuple(found), '> 1' if FAMILIES[1] not in found else '>= 1')}"


def shortened(text: str, most: int) -> str:
    """The text, cut at the end of a word where it is longer.

    >>> shortened("one two three", 9)
    'one two…'
    """
    if len(text) <= most:
        return text
    cut = text[: max(1, most - 1)]
    words = cut.rsplit(" ", 1)[0] if " " in cut and text[len(cut)] != " " else cut
    return f"{words.rstrip(' ,;:')}…"


def explained(item: Statement) -> tuple[str, str]:
    """What the mechanism and the property of a statement are, "" where it has none or it is somebody's own."""
    mechanism = MECHANISMS.get(item.mechanism) if not item.own else None
    meaning = "" if mechanism is None else f"{mechanism.title} ({mechanism.source})"
    return meaning, claim_properties().get(item.property, "") if item.property not in MECHANISMS else ""


def hypotheses_in_words(item: Statement) -> list[str]:
    """Each assumption of a claim as a sentence, without the values of parameters."""
    family = item.hypotheses.instances
    about = "" if family is None else (inspect.getdoc(family) or "").split(".\n")[0].rstrip(".")
    told, meanings = [word for word in item.hypotheses.words if word not in {*item.hypotheses.ranges}], hypothesis_words()
    entitled = ["all are entitled to something"] * (item.paper == "D" and "unentitled" not in item.hypotheses.parameters)
    return [about or word if word.startswith("instances of") else meanings.get(word, word) for word in told] + entitled


def paper_of(item: Statement) -> str:
    """Authors and title of the paper of a statement; "" for a claim of one's own."""
    return PAPERS_IN_FULL.get(item.paper, "")
