"""How the claims of Z (LMMF and NB) in statements.toml are tried and confirmed, by their ids; printed examples by assertions."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import asserted, checked, seen_by_script
from fairalloc.theorems.checkers.common import about_mechanism, certified, few_rounds, is_nash_bargain, leximin
from fairalloc.theorems.checkers.trials import Routes, once, property_judge
from fairalloc.theorems.papers.z import printed_mechanisms, simplex_demands, utilities
from fairalloc.theorems.papers.z.simplex_demands import step_of_theorem_1
from fairalloc.theorems.papers.z.utilities import of_two_points, pivots_of

F = Fraction

MISREPORT6 = Misreport((1,), (((F(1),),),), (None,))
MISREPORT7 = Misreport((1,), (((F(1, 3), F(2, 3)),),), (None,))
"""Those of Propositions 6 and 7."""


def worth(case: Case, n: int, *bundle: Any) -> Any:
    return certified(case.instance, "lmmf").utilities(n, np.array([[[F(v) for v in bundle]]], dtype=object))[0]


def fair(case: Case, *utilities: Any) -> None:
    """LMMF gives these utilities."""
    found = certified(case.instance, "lmmf").tasks
    assert list(found) == [F(v) for v in utilities], f"LMMF gives {', '.join(map(str, found))}"


def toy(case: Case) -> None:
    """Section I with epsilon = 1/10: both ways together fit once each, one way fits once and not twice."""
    fair(case, 2)
    single = Instance([case.instance.exact.demands[0][0]], case.instance.exact.capacities)
    assert certified(single, "lmmf").tasks[0].__floor__() == 1


def example_1(case: Case) -> None:
    """The largest least utility is 3, as of (2, 3, 4) and (4, 3, 2), and LMMF gives it."""
    fair(case, 3, 3)
    assert min(certified(case.instance, "mmf").tasks) == 3
    assert worth(case, 0, 2, 3, 4) == worth(case, 1, 4, 3, 2) == 3


def example_2(case: Case) -> None:
    """LMMF gives (1, 0, 0) and (0, 1, 1), and the largest least utility is 1."""
    assert min(certified(case.instance, "mmf").tasks) == 1
    assert certified(case.instance, "lmmf").bundles[:, 0].tolist() == [[1, 0, 0], [0, 1, 1]]


def example_3(case: Case) -> None:
    """LMMF gives 2/3 and 1/3 of the resource, worth 2/3 each; after the misreport of Proposition 6 user 2 has a half."""
    fair(case, "2/3", "2/3")
    assert certified(case.instance, "lmmf").bundles[:, 0, 0].tolist() == [F(2, 3), F(1, 3)]
    assert certified(MISREPORT6.reported(case.instance), "lmmf").bundles[1, 0, 0] == F(1, 2)


def rounds(case: Case) -> None:
    """LMMF gives 1, 1 and 2 to the first three."""
    assert list(certified(case.instance, "lmmf").tasks[:3]) == [1, 1, 2]


def nb_example(case: Case) -> None:
    """(4, 4) each: prices of 1 for the capacity of each resource prove that two tasks each are the Nash bargain."""
    assert is_nash_bargain(case.instance, (F(0), F(2), F(0), F(2)), (F(1), F(1)))


def endowment(case: Case) -> None:
    """Half of everything is worth 1/2, and each user gets its resource under NB."""
    assert [worth(case, n, "1/2", "1/2") for n in (0, 1)] == [F(1, 2)] * 2
    assert is_nash_bargain(case.instance, (F(1), F(1)), (F(1), F(1)))


def pivot_example(_: Case) -> None:
    """Section IV-B: <Y> = (2, 3, 5, 7) for users 1 to 4, <Y'> = (1, 3, 5, 6) for users 4, 2, 3, 1."""
    y, other = [2, 3, 5, 7], [6, 3, 5, 1]
    assert pivots_of(y, other) == [0], "the pivot of Y"
    assert pivots_of(other, y) == [3], "the pivot of Y'"
    assert len(pivots_of([2, 2, 5, 7], other)) == 2, "pivots when the second coordinate is 2"


ENVY, PARETO = property_judge("envy-freeness"), property_judge("pareto")
MISREPORTING = property_judge("group-strategyproofness")

EX3 = Case(example("zarchy-ex3").instance)
PROP7 = Case(example("zarchy-prop7").instance)
HELPING = Case(
    Instance([[[1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [["1/2", 0, "1/2"], [0, "1/2", "1/2"]]], [[2, 3, "1/2"]]),
    Misreport((1, 2), (((F(0), F(1), F(0)),), ((F(1, 2), F(0), F(1, 2)),)), (None, None)),
)
"""User 3 runs one task by either report, on resources of user 1 instead of user 2; both conceal a way that they have."""

REPEATING = Case(Instance([[1, 0], [0, "1/4"], [0, "1/4"]], [[1, 1]]))
"""User 1 is placed in round 1; users 2 and 3 share resource 2, and each could have more at the cost of the other."""

INSIDE = Case(
    Instance([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0]], [[0, 0, 1]]], [[2, 1, 1]]),
    points=((F(1), F(0), F(1), F(1)),),
)
"""Everybody runs one task, users 1 and 2 on resource 1; user 1 could move to resource 2."""

LEAPING = Case(Instance([[1, 1], [0, 1]], [[1, 1]]))
"""What user 1 needs to have anything, user 2 lacks; the less it is the better."""


cases: dict[str, Case] = {
    "i-toy": Case(Instance([[["9/10", "1/10"], ["1/10", "9/10"]]], [[1, 1]])),
    "mmf-pareto": Case(example("zarchy-ex2").instance, points=((F(1), F(1)),)),
    "inside": INSIDE,
    "repeating": REPEATING,
    "p6": Case(EX3.instance, MISREPORT6),
    "p7": Case(PROP7.instance, MISREPORT7),
    "helping": HELPING,
    "v-nb-sp": Case(PROP7.instance, MISREPORT7),
    "vi-leap": LEAPING,
    "v-nb-gsp": Case(PROP7.instance, MISREPORT7),
}


POINTS = {
    "Z.C1": utilities.mixture_fits,
    "Z.L1": utilities.concave,
    "Z.L2": utilities.continuous,
    "Z.P5.homogeneous": utilities.homogeneous,
    "Z.C2.if": utilities.claim_2_if,
    "Z.L3": utilities.lemma_3,
}

trials: dict[str, Routes] = {
    **{name: once(of_two_points(check)) for name, check in POINTS.items()},
    "Z.MMF.pareto": Routes(utilities.wasteful_mmf, seen_by_script(utilities.wasteful_mmf, "Z.MMF.pareto")),
    "Z.C2": once(checked("Z.C2")),
    "Z.I.toy": once(asserted(toy)),
    "Z.Fig1": once(checked("Z.Fig1", lambda found: found["value"] - found["printed"] - F(1, 20))),
    "Z.Ex1": once(asserted(example_1)),
    "Z.Ex2": once(asserted(example_2)),
    "Z.III.lp": about_mechanism("lmmf", printed_mechanisms.linear_programs),
    "Z.III.rounds": once(asserted(rounds)),
    "Z.III.procedure.inside": about_mechanism("lmmf", printed_mechanisms.inside_one_allocation),
    "Z.III.endowment": once(asserted(endowment)),
    "Z.III.nb": once(asserted(nb_example)),
    "Z.P1": few_rounds("lmmf"),
    "Z.P2": once(printed_mechanisms.few_steps),
    "Z.D2": once(asserted(pivot_example)),
    "Z.Cor1": about_mechanism("lmmf", partial(utilities.corollary_1, False)),
    "Z.Cor1.all": about_mechanism("lmmf", partial(utilities.corollary_1, True)),
    "Z.P3": about_mechanism("lmmf", printed_mechanisms.as_printed),
    "Z.Ex3": once(asserted(example_3)),
    "Z.P5.CEEI": once(printed_mechanisms.bought_in_a_market),
    "Z.R.split": about_mechanism("nb", printed_mechanisms.splits),
    "Z.P7.numbers": once(checked("Z.P7.numbers", lambda found: found["worth"] - F("0.835"))),
    "Z.P8.numbers": once(checked("Z.P8.numbers", lambda found: found["worth"] - F(1, 2))),
    "Z.L4": about_mechanism("lmmf", partial(simplex_demands.lemma_4, False)),
    "Z.L4.leftovers": about_mechanism("lmmf", partial(simplex_demands.lemma_4, True)),
    "Z.T1.pivot": step_of_theorem_1(simplex_demands.gainer_is_a_pivot),
    "Z.T1.case1": step_of_theorem_1(simplex_demands.case_1),
    "Z.T1.case2": step_of_theorem_1(simplex_demands.case_2),
    "Z.T1.case3": step_of_theorem_1(simplex_demands.case_3),
    "Z.T2.zero": about_mechanism("lmmf", simplex_demands.nothing_of_a_richer_bundle),
    "Z.T1.leftovers": about_mechanism("lmmf", simplex_demands.misreporting_with_leftovers),
    "Z.T2.leftovers": about_mechanism("lmmf", partial(simplex_demands.envy, True)),
    "Z.V.LMMF.CE": few_rounds("lmmf"),
    "Z.V.LMMF.LMMF": about_mechanism("lmmf", leximin),
    "Z.V.NB.CE": once(printed_mechanisms.few_steps),
    "Z.V.NB.LMMF": about_mechanism("nb", leximin),
    "Z.V.NB.SP": about_mechanism("nb", MISREPORTING),
    "Z.VI.results.PO": about_mechanism("lmmf", partial(utilities.linear, PARETO, True)),
    "Z.VI.results.CE": utilities.valued_rounds(),
    "Z.VI.results.LMMF": once(checked("Z.VI.results.LMMF")),
    "Z.VI.results.LMMF.true": about_mechanism("lmmf", partial(utilities.linear, leximin, True)),
    "Z.VI.EF": about_mechanism("lmmf", partial(simplex_demands.envy, False)),
    "Z.VI.EF.common": about_mechanism("lmmf", partial(utilities.linear, ENVY, False)),
    "Z.VI.SP": about_mechanism("lmmf", partial(utilities.linear, MISREPORTING, True)),
    "Z.VI.unique": once(utilities.midpoint),
}
