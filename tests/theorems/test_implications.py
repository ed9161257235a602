"""The arrows of the implication graph on a suite of instances: forwards, backwards, and that each was tried both ways."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
from tolerances import IMPLIED, PREMISE

from fairalloc.analysis.properties import PROPERTIES, check
from fairalloc.analysis.properties.fairness import global_bottlenecks, server_bottlenecks
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models import Allocation, FairallocError
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.transformations.aggregation import pooled
from fairalloc.solvers import solve
from fairalloc.theorems.hypotheses import TESTS, Hypotheses
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, IMPLICATIONS, Implication

WANG = example("wang-fig2").instance


def has(alpha, allocation):
    """Whether it is of alpha-pf-vds with this alpha on all servers, A = 1 and B = 0."""
    given = allocation.parameters.get("alpha", 2.0)
    alphas = list(given.values()) if isinstance(given, dict) else given
    same = bool(np.all(np.array(alphas, dtype=float) == alpha)) and not {"A", "B", "utility"} & set(allocation.parameters)
    return allocation.mechanism == "alpha-pf-vds" and same


WHERE = {
    **{name.replace("_", " "): lambda it, test=test: test(it.instance) for name, test in TESTS.items()},
    "bottleneck of a server": lambda it: bool(server_bottlenecks(it.instance)),
    "global bottleneck": lambda it: bool(global_bottlenecks(it.instance)),
    "alpha = 1": partial(has, 1.0),
    "alpha = inf": partial(has, np.inf),
}
"""The test of each word of an arrow: those of Hypotheses, and others that `follows` is never told."""


def applies(arrow, allocation):
    """Whether the arrow is about this allocation."""
    return allocation.bundles is None and all(WHERE[word](allocation) for word in arrow.words)


def suite():
    """The published examples, and small random instances with ties, zeros, weights and placement of several kinds."""
    found = [e.instance for e in EXAMPLES]
    kinds = [
        Hypotheses(),
        Hypotheses(one_server=True),
        Hypotheses(one_resource=True),
        Hypotheses(server_bottleneck=True),
        Hypotheses(bottleneck=True, equal_weights=True),
        Hypotheses(one_variant=False, one_server=True, unlimited=False),
    ]
    rng = np.random.default_rng(5)
    for kind in kinds:
        found += [kind.sample(rng).case().instance for _ in range(2)]
    return found


def exact(instance, name):
    """The rational allocation, or the most accurate one there is; None where the mechanism is not defined or has no method."""
    try:
        method = "exact" if mechanism(name).linear else None
        return solve(instance, name, method, accuracy="high")
    except (FairallocError, AssertionError):
        return None


def as_game(allocation, alpha):
    """The allocation, claimed to be one of alpha-pf-vds."""
    return replace(allocation, mechanism="alpha-pf-vds", parameters={"alpha": alpha}, prices=None)


def allocations(instance):
    """Answers of mechanisms, mixtures of them, and answers with a little taken from one user."""
    found = [
        exact(instance, name)
        for name in ("drfh", "tsf", "lmmf", "nb", "uniform", "drf-per-server", "utilitarian", "mmf", "asset")
    ]
    found = [a for a in found if a is not None and a.has_point and len(a.instance.arcs) == len(instance.arcs)]
    rational = [a for a in found if a.x_exact is not None]
    found.append(given(instance, [(s + t) / 2 for s, t in zip(rational[0].x_exact, rational[2].x_exact, strict=True)]))
    found.append(given(instance, [Fraction(9, 10) * v if k == 0 else v for k, v in enumerate(rational[0].x_exact)]))
    if instance.single_variant and np.isinf(instance.max_tasks).all():
        found += [as_game(a, alpha) for a in found if a.mechanism in ("nb", "drfh") for alpha in (1.0, "inf")]
        shared = exact(time_shared(instance), "nb")
        found.append(Allocation(instance, shared.x, "ps-dsf-tdm"))
    return found


def given(instance, x):
    return Allocation(instance, [float(v) for v in x], x_exact=tuple(x))


def judged(allocation):
    """Verdicts by name, of what an arrow about this allocation names; what is not defined there is left out."""
    found = {}
    for name in {name for arrow in IMPLICATIONS if applies(arrow, allocation) for name in (arrow.premise, arrow.conclusion)}:
        try:
            found[name] = check(allocation, name)
        except FairallocError:
            continue
    return found


def held(verdict):
    """Whether a premise is known to hold: exactly, or with a residual that leaves no doubt."""
    return verdict.holds is True and (verdict.margin <= PREMISE or "rational" in verdict.method)


def violated(verdict):
    """Whether a conclusion is visibly violated: by more than the premise's residual explains."""
    return verdict.holds is False and verdict.margin > IMPLIED


def cases():
    """Allocations with their verdicts, one after the other."""
    return ((a, judged(a)) for instance in suite() for a in allocations(instance))


def test_premises_and_conclusions_are_properties_that_exist():
    known = {*PROPERTIES, *(name for item in MECHANISMS.values() for name in (item.id, *item.aliases))}
    for arrow in IMPLICATIONS:
        assert {arrow.premise, arrow.conclusion} <= known
        assert len(arrow.why) > 10, "every arrow has a reason"
    pairs = Counter((arrow.premise, arrow.conclusion) for arrow in IMPLICATIONS)
    assert max(pairs.values()) == 1
    premises = {"group-strategyproofness", "sharing-incentive", "bottleneck-fairness"}
    assert {arrow.premise for arrow in BETWEEN_MECHANISM_PROPERTIES} == premises


NEVER_VIOLATED = {"feasibility"}
"""Conclusions that no allocation of the suite violates; tests/analysis/test_properties.py does."""


def tried(cases):
    """How often each arrow was tried forwards and backwards; none is contradicted."""
    forwards, backwards = Counter(), Counter()
    for allocation, known in cases:
        for arrow in IMPLICATIONS:
            if not applies(arrow, allocation) or not {arrow.premise, arrow.conclusion} <= set(known):
                continue
            key, premise, conclusion = (arrow.premise, arrow.conclusion), known[arrow.premise], known[arrow.conclusion]
            message = f"{key} on {allocation.instance!r} by {allocation.mechanism}: {premise} {conclusion}"
            if held(premise):
                forwards[key] += 1
                assert not violated(conclusion), message
            if violated(conclusion):
                backwards[key] += 1
                assert not held(premise), message
    return forwards, backwards


@pytest.mark.deep
def test_no_arrow_is_contradicted_on_the_first_allocations():
    forwards, backwards = tried(islice(cases(), 12))
    assert len(forwards) > 10
    assert len(backwards) > 10


@pytest.mark.deep
@pytest.mark.unmeasured
def test_no_arrow_is_contradicted_and_each_is_tried_both_ways():
    forwards, backwards = tried(cases())
    for arrow in IMPLICATIONS:
        key = (arrow.premise, arrow.conclusion)
        assert forwards[key] > 0, f"{key} was never tried forwards"
        assert backwards[key] > 0 or arrow.conclusion in NEVER_VIOLATED, f"{key} was never tried backwards"


# ---- chains of arrows --------------------------------------------------------------------------------------------------


BEST = Allocation(WANG, [10, 0, 0, 10])


def reached(name, allocation, backwards=False):
    """What follows from a property of an allocation; backwards, what is violated where it is."""
    found, news = {name}, {name}
    arrows = [(a.premise, a.conclusion)[:: -1 if backwards else 1] for a in IMPLICATIONS if applies(a, allocation)]
    while news:
        news = {end for start, end in arrows if start in found} - found
        found |= news
    return found


def test_what_follows_agrees_with_the_checks():
    added = reached("nb", BEST)
    assert added >= {
        "pareto",
        "feasibility",
        "envy-freeness",
        "sharing-incentive",
        "strong-sharing-incentive",
        "weak-sharing-incentive",
    }
    for name in added:
        assert check(BEST, name).holds is True, name


def test_a_violated_conclusion_goes_back_to_every_premise():
    bad = Allocation(WANG, [5, 1, 1, 5])
    assert check(bad, "pareto").holds is False
    known = reached("pareto", bad, backwards=True)
    assert known >= {"nb", "drfh", "lmmf", "tsf", "utilitarian"}
    for name in ("nb", "drfh", "lmmf", "tsf", "utilitarian"):
        assert check(bad, name).holds is False
    assert "envy-freeness" not in known, "envy says nothing about waste, nor waste about envy"


def test_arrows_stay_where_they_are_true():
    """Weights part the two sharing incentives; bundles are outside all proofs; several servers part drfh and drf."""
    weighted = Allocation(WANG.replace(weights=[1, 2]), [10, 0, 0, 10])
    assert "strong-sharing-incentive" in reached("sharing-incentive", BEST)
    assert "strong-sharing-incentive" not in reached("sharing-incentive", weighted)
    assert reached("nb", Allocation(WANG, BEST.x, bundles=BEST.used)) == {"nb"}
    assert "single-server-reduction" not in reached("drfh", BEST)
    pool = pooled(WANG)
    assert "single-server-reduction" in reached("drfh", Allocation(pool, [35 / 3, 35 / 3]))


@pytest.mark.deep
def test_a_wrong_arrow_is_seen():
    """The test of all arrows would reject one that is not true: K Table 1, drfh has no sharing incentive."""
    wrong = Implication("drfh", "sharing-incentive", "it is not true")
    assert any(
        held(known["drfh"]) and violated(known["sharing-incentive"])
        for allocation, known in cases()
        if applies(wrong, allocation) and {"drfh", "sharing-incentive"} <= set(known)
    )
