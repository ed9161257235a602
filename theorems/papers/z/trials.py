"""How the claims of Z (LMMF and NB) in statements.toml are tried and confirmed, by their ids."""

from fractions import Fraction
from functools import partial

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import asserted, checked, seen_by_script
from fairalloc.theorems.checkers.common import about_mechanism, few_rounds, leximin
from fairalloc.theorems.checkers.trials import Routes, once, property_judge
from fairalloc.theorems.papers.z import examples, extensions, printed_mechanisms, simplex_demands, utilities
from fairalloc.theorems.papers.z.examples import MISREPORT6, MISREPORT7
from fairalloc.theorems.papers.z.simplex_demands import step_of_theorem_1
from fairalloc.theorems.papers.z.utilities import of_two_points

F = Fraction

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
    "Z.I.toy": once(asserted(examples.toy)),
    "Z.Fig1": once(checked("Z.Fig1", lambda found: found["value"] - found["printed"] - F(1, 20))),
    "Z.Ex1": once(asserted(examples.example_1)),
    "Z.Ex2": once(asserted(examples.example_2)),
    "Z.III.lp": about_mechanism("lmmf", printed_mechanisms.linear_programs),
    "Z.III.rounds": once(asserted(examples.rounds)),
    "Z.III.procedure.inside": about_mechanism("lmmf", printed_mechanisms.inside_one_allocation),
    "Z.III.endowment": once(asserted(examples.endowment)),
    "Z.III.nb": once(asserted(examples.nb_example)),
    "Z.P1": few_rounds("lmmf"),
    "Z.P2": once(printed_mechanisms.few_steps),
    "Z.D2": once(asserted(examples.pivot_example)),
    "Z.Cor1": about_mechanism("lmmf", partial(utilities.corollary_1, False)),
    "Z.Cor1.all": about_mechanism("lmmf", partial(utilities.corollary_1, True)),
    "Z.P3": about_mechanism("lmmf", printed_mechanisms.as_printed),
    "Z.Ex3": once(asserted(examples.example_3)),
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
    "Z.VI.results.PO": about_mechanism("lmmf", partial(extensions.linear, PARETO, True)),
    "Z.VI.results.CE": extensions.valued_rounds(),
    "Z.VI.results.LMMF": once(checked("Z.VI.results.LMMF")),
    "Z.VI.results.LMMF.true": about_mechanism("lmmf", partial(extensions.linear, leximin, True)),
    "Z.VI.EF": about_mechanism("lmmf", partial(simplex_demands.envy, False)),
    "Z.VI.EF.common": about_mechanism("lmmf", partial(extensions.linear, ENVY, False)),
    "Z.VI.SP": about_mechanism("lmmf", partial(extensions.linear, MISREPORTING, True)),
    "Z.VI.unique": once(extensions.midpoint),
}
