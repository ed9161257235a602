"""Implications between the definitions of mechanisms and properties of one allocation, with proofs.

An implication says that every allocation with the premise has the conclusion, on the instances where `when` is true. Premises and
conclusions are names that `check` takes. Each arrow has a proof in a sentence, or a source, and is used in both directions:
forwards, and a violated conclusion shows that the premise is violated. tests/theorems/test_implications.py tries both.

Notation: z_ni = x_n / (phi_n gamma_ni); bundles are what tasks use (allocations with larger bundles are not covered).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairalloc.analysis.properties.fairness import global_bottlenecks, server_bottlenecks, whole_bottlenecks
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance


class Contradiction(ValueError):  # noqa: N818 (what it is)
    """Two verdicts that contradict an implication."""


@dataclass(frozen=True)
class About:
    """The condition that the instance of an allocation passes all tests."""

    tests: tuple[Callable[[Instance], bool], ...] = ()

    def __call__(self, allocation: Allocation) -> bool:
        return all(test(allocation.instance) for test in self.tests)


ALWAYS = About()
"""No condition."""


@dataclass(frozen=True)
class Implication:
    """If `premise` holds then so does `conclusion`, for allocations of which `when` is true; `why` is the proof or source."""

    premise: str
    conclusion: str
    why: str
    when: Callable[[Allocation], bool] = ALWAYS

    def applies(self, allocation: Allocation) -> bool:
        """Whether the arrow is about this allocation."""
        return allocation.bundles is None and self.when(allocation)


def complete(verdicts: Mapping[str, Verdict], allocation: Allocation) -> dict[str, Verdict]:
    """The verdicts and all that follow from them for this allocation.

    Raises
    ------
    Contradiction : a premise holds and its conclusion is violated: one of the checks is wrong, or its tolerance too coarse

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> known = {"nb": Verdict("nb", True, 0.0, "this is the nb allocation", "residual")}
    >>> sorted(name for name, v in complete(known, Allocation(wang, [10, 0, 0, 10])).items() if v.holds)[:3]
    ['envy-freeness', 'feasibility', 'nb']
    """
    result = dict(verdicts)
    arrows = [arrow for arrow in IMPLICATIONS if arrow.applies(allocation)]
    news = True
    while news:
        news = False
        for arrow in arrows:
            for name, verdict in _followed(arrow, result):
                result[name], news = verdict, True
    return result


def follows(mechanism: str, name: str, words: Iterable[str] = ()) -> str:
    """Why every answer of a mechanism has a property, "" where no chain of arrows says so.

    Parameters
    ----------
    mechanism, name : its id, and the property
    words : of Hypotheses, what is known of the instances: arrows whose conditions are among TOLD count
    """
    told = {test for word in words for test in TOLD.get(word, ())}
    reached, news = {mechanism: ""}, {mechanism: ""}
    while news:
        known = [arrow for arrow in IMPLICATIONS if isinstance(arrow.when, About) and told.issuperset(arrow.when.tests)]
        arrows = [arrow for arrow in known if arrow.premise in news]
        news = {a.conclusion: "; ".join(filter(None, (news[a.premise], a.why))) for a in arrows if a.conclusion not in reached}
        reached |= news
    return reached.get(name, "")


def _followed(arrow: Implication, known: Mapping[str, Verdict]) -> Iterator[tuple[str, Verdict]]:
    """What one arrow adds."""
    premise, conclusion = known.get(arrow.premise), known.get(arrow.conclusion)
    if premise is not None and premise.holds is True:
        if conclusion is not None and conclusion.holds is False:
            raise Contradiction(f"{arrow.premise} holds and {arrow.conclusion} does not, but: {arrow.why}")
        if conclusion is None or conclusion.holds is None:
            yield arrow.conclusion, _implied(arrow.conclusion, True, f"follows from {arrow.premise}", arrow, premise)
    if conclusion is not None and conclusion.holds is False and (premise is None or premise.holds is None):
        yield arrow.premise, _implied(arrow.premise, False, f"else {arrow.conclusion} would hold", arrow, conclusion)


def _implied(name: str, holds: bool, sentence: str, arrow: Implication, source: Verdict) -> Verdict:
    word = "holds" if holds else "violated"
    return Verdict(name, holds, np.nan, f"{word}: {sentence}", f"implication: {arrow.why}", source.witness)


# ---- when -----------------------------------------------------------------------------------------------------------


def _about(*tests: Callable[[Instance], bool]) -> About:
    return About(tests)


def _equal_weights(instance: Instance) -> bool:
    return len(set(instance.exact.weights)) == 1


def _unlimited(instance: Instance) -> bool:
    return bool(np.isinf(instance.max_tasks).all())


def _plain(instance: Instance) -> bool:
    """One demand vector a user, the same on all servers."""
    return instance.single_variant and not instance.demands_on


def _one_server(instance: Instance) -> bool:
    return instance.K == 1


def _one_kind(instance: Instance) -> bool:
    return instance.R == 1


def _one_pool(instance: Instance) -> bool:
    return instance.K == 1 and _plain(instance)


def _one_resource(instance: Instance) -> bool:
    return instance.R == 1 and _plain(instance)


def _game(instance: Instance) -> bool:
    """What the game of K knows: one demand vector a user and no limits."""
    return instance.single_variant and _unlimited(instance)


def _server_bottleneck(instance: Instance) -> bool:
    return instance.single_variant and bool(server_bottlenecks(instance))


def _global_bottleneck(instance: Instance) -> bool:
    return bool(global_bottlenecks(instance))


def _bottleneck(instance: Instance) -> bool:
    """K Definition 2, and demands that are the same on all servers."""
    return _plain(instance) and bool(whole_bottlenecks(instance))


def _plain_game(instance: Instance) -> bool:
    return _game(instance) and _plain(instance)


def _has(value: float) -> Callable[[Allocation], bool]:
    """alpha-pf-vds with this alpha on all servers, A = 1 and B = 0."""

    def test(allocation: Allocation) -> bool:
        given: Mapping[str, Any] = allocation.parameters
        alphas = given.get("alpha", 2.0)
        alphas = list(alphas.values()) if isinstance(alphas, Mapping) else alphas
        same = bool(np.all(np.array(alphas, dtype=float) == value)) and not {"A", "B", "utility"} & set(given)
        return allocation.mechanism == "alpha-pf-vds" and same and _game(allocation.instance)

    return test


TOLD: Mapping[str, tuple[Callable[[Instance], bool], ...]] = {
    "same demands": (_plain, _game, _plain_game, _unlimited),
    "equal weights": (_equal_weights,),
    "one resource": (_one_kind, _one_resource, _bottleneck, _server_bottleneck),
    "one server": (_one_server, _one_pool),
    "bottleneck": (_bottleneck, _server_bottleneck),
}
"""The tests that words of Hypotheses fulfil, where users have one demand vector and no limits."""

# ---- the arrows -----------------------------------------------------------------------------------------------------

LEXIMIN = ("drfh", "tsf", "lmmf", "asset")

_LEXIMIN_PARETO = "a Pareto improvement is lexicographically better for any positive shares"
_DRF = "with one pool all these shares are multiples of the dominant share, which has one leximin allocation of tasks"
_MAXMIN = "with one resource every share is the amount of it by weight, and max-min fair amounts are unique (P Theorem 2)"
_ENVY = (
    "if m's scaled bundle ran more than x_n, d_m >= q d_n with q phi_n x_m / phi_m > x_n; where m runs and n may, m uses n's "
    "bottleneck, so z_n >= z_m there, while gamma_m <= gamma_n / q: together x_n >= q phi_n x_m / phi_m (P Theorem 2)"
)
_SHARE = (
    "n's bottleneck at server i is full, so 1 <= sum over its users of x_mi / gamma_mi = sum of phi_m z_mi x_mi / x_m, at "
    "most z_ni sum of phi_m x_mi / x_m; times gamma_ni, over all servers: sum_i gamma_ni <= (x_n / phi_n) sum phi (P Theorem 2)"
)

IMPLICATIONS: tuple[Implication, ...] = (
    # ---- between properties
    Implication("pareto", "feasibility", "only feasible allocations are compared"),
    Implication(
        "strong-sharing-incentive", "weak-sharing-incentive", "equal parts of every server are an equal partition (W 4.5)"
    ),
    Implication("weak-sharing-incentive", "strong-sharing-incentive", "one pool has one equal partition", _about(_one_server)),
    Implication("sharing-incentive", "strong-sharing-incentive", "phi_n / sum phi is 1 / N", _about(_equal_weights)),
    Implication("strong-sharing-incentive", "sharing-incentive", "phi_n / sum phi is 1 / N", _about(_equal_weights)),
    Implication("total-envy-freeness", "envy-freeness", "a sum of minima is at most the minimum of sums", _about(_plain)),
    Implication("bottleneck-fairness", "feasibility", "by definition"),
    Implication("server-bottleneck-fairness", "feasibility", "by definition"),
    Implication("single-resource-fairness", "feasibility", "by definition"),
    Implication("single-server-reduction", "feasibility", "by definition"),
    Implication("single-resource-fairness", "bottleneck-fairness", "the one resource is the bottleneck", _about(_one_kind)),
    Implication("bottleneck-fairness", "single-resource-fairness", "the one resource is the bottleneck", _about(_one_kind)),
    Implication("single-server-reduction", "pareto", "the leximin allocation of DRF; " + _LEXIMIN_PARETO, _about(_one_pool)),
    Implication(
        "single-server-reduction",
        "envy-freeness",
        "if n envied m, m would use n's bottleneck, and more than phi_m z_n of n's dominant resource: z_m > z_n (Ghodsi et al.)",
        _about(_one_pool),
    ),
    Implication(
        "single-server-reduction",
        "sharing-incentive",
        "n's bottleneck is full, so 1 <= sum over its users of phi_m z_m <= z_n sum phi (Ghodsi et al.)",
        _about(_one_pool),
    ),
    # ---- optima
    Implication("utilitarian", "pareto", "a Pareto improvement raises the weighted sum"),
    Implication("nb", "pareto", "a Pareto improvement raises the sum of logarithms (Z Prop 5)"),
    *(Implication(name, "pareto", _LEXIMIN_PARETO) for name in LEXIMIN),
    Implication("drf", "pareto", _LEXIMIN_PARETO),
    Implication("fds", "pareto", "a Pareto improvement raises the sum of alpha-fair utilities"),
    Implication("lmmf", "mmf", "the first entry of the lexicographic maximum is the max-min value (Z 1)"),
    Implication("drfh", "drfh-lp", "the first level of the lexicographic maximum is the g of W (6)"),
    Implication("drf-per-server", "feasibility", "by definition"),
    Implication("mmf", "feasibility", "by definition"),
    Implication("drfh-lp", "feasibility", "by definition"),
    Implication("uniform", "feasibility", "parts of servers add up to servers"),
    # ---- one pool, one resource
    *(Implication(name, "single-server-reduction", _DRF, _about(_one_pool)) for name in ("drf", "drfh", "tsf")),
    *(Implication("single-server-reduction", name, _DRF, _about(_one_pool)) for name in ("drf", "drfh", "tsf")),
    Implication(
        "ps-dsf", "single-server-reduction", "both are a bottleneck for every user of the one server (P)", _about(_one_pool)
    ),
    *(Implication(name, "single-resource-fairness", _MAXMIN, _about(_one_resource)) for name in ("drfh", "tsf")),
    *(Implication("single-resource-fairness", name, _MAXMIN, _about(_one_resource)) for name in ("drfh", "tsf")),
    Implication("drfh", "global-bottleneck-fairness", "shares of one resource (W Prop 8)", _about(_global_bottleneck)),
    # ---- markets
    Implication("nb", "envy-freeness", "at nb's prices m's bundle costs at most phi_m, so n could buy it scaled (Z Prop 5)"),
    Implication("nb", "sharing-incentive", "everything costs at most sum phi, so n could buy its part of it (Z Prop 9)"),
    Implication(
        "nb",
        "server-bottleneck-fairness",
        "who runs on i has z_mi = 1 / sum_r p_ir c_ir there, as all pay for the bottleneck, and nobody has less (K Theorem 4)",
        _about(_game, _server_bottleneck),
    ),
    # ---- parts of servers
    Implication("uniform", "sharing-incentive", "it is the uniform allocation"),
    Implication("uniform", "envy-freeness", "m's scaled bundle on a server lies within n's own part of it"),
    Implication("drf-per-server", "sharing-incentive", "DRF has it on every server, and parts and tasks add up (W 4.5)"),
    Implication("drf-per-server", "envy-freeness", "DRF has it on every server, and utilities of bundles add up"),
    # ---- the game
    Implication("alpha-pf-vds", "nb", "(K 16) summed over servers is the optimality of nb (K Theorem 2)", _has(1.0)),
    Implication("nb", "alpha-pf-vds", "the optimality of nb, server by server (K Theorem 2)", _has(1.0)),
    Implication("alpha-pf-vds", "ps-dsf", "the definition at alpha = inf", _has(np.inf)),
    Implication("ps-dsf", "envy-freeness", _ENVY, _about(_plain_game)),
    Implication("ps-dsf", "sharing-incentive", _SHARE, _about(_game)),
    Implication(
        "ps-dsf",
        "server-bottleneck-fairness",
        "tasks take no larger part of n's bottleneck than of the dominant resource, so that is full too, by the same users",
        _about(_game, _server_bottleneck),
    ),
    Implication(
        "ps-dsf",
        "bottleneck-fairness",
        "amounts compare like z_ni at each server (P Theorem 2)",
        _about(_game, _bottleneck),
    ),
    Implication("ps-dsf-tdm", "feasibility", "time sharing never needs more than a divisible server has"),
    Implication("ps-dsf-tdm", "sharing-incentive", "as for ps-dsf, with time as the one resource", _about(_game)),
    Implication("ps-dsf-tdm", "envy-freeness", "as for ps-dsf, with time as the bottleneck", _about(_plain_game)),
    Implication(
        "server-bottleneck-fairness",
        "bottleneck-fairness",
        "with one resource for all servers z_ni is the amount by weight over c_ir",
        _about(_bottleneck),
    ),
)
"""All arrows between properties of one allocation."""

BETWEEN_MECHANISM_PROPERTIES: tuple[Implication, ...] = (
    Implication("group-strategyproofness", "strategyproofness", "a single user who misreports is a coalition of one"),
    Implication(
        "sharing-incentive", "weak-sharing-incentive", "with equal weights, equal parts of servers are a partition (W 4.5)"
    ),
    Implication("bottleneck-fairness", "single-resource-fairness", "with one resource, that is the bottleneck"),
)
"""The same between properties of mechanisms, each on all instances that it is about, which `complete` does not use."""

BETWEEN_MISREPORTS: tuple[Implication, ...] = (
    *(
        Implication(name, f"{part}-in-{reports}", "who may misreport both, and in groups, may misreport less, and alone")
        for name, parts in (("group-strategyproofness", ("group-", "")), ("strategyproofness", ("",)))
        for part in (f"{one}strategyproofness" for one in parts)
        for reports in ("demands", "servers")
    ),
    *(
        Implication(f"group-strategyproofness-in-{reports}", f"strategyproofness-in-{reports}", "a coalition may be of one")
        for reports in ("demands", "servers", "tasks")
    ),
)
"""The same between the rows about misreports (cells.py)."""
