"""How the claims of Z (LMMF and NB) in statements.toml are tried and confirmed, by their ids.

Z.P2 and Z.V.NB.CE count the iterations of two interior-point codes; what confirms are the Newton steps of a third, whose answer
is proved in rationals (newton_steps.py).
"""

from fractions import Fraction

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    about_mechanism,
    few_rounds,
    leximin,
    printed_numbers,
)
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Routes
from fairalloc.theorems.papers.z import examples, extensions, printed_mechanisms, simplex_demands, utilities
from fairalloc.theorems.papers.z.examples import MISREPORT6, MISREPORT7
from fairalloc.theorems.papers.z.simplex_demands import step_of_theorem_1
from fairalloc.theorems.papers.z.utilities import both

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


trials: dict[str, Routes] = {
    "Z.I.toy": printed_numbers(examples.toy),
    "Z.Fig1": printed_numbers(examples.figure_1),
    "Z.Ex1": printed_numbers(examples.example_1),
    "Z.Ex2": printed_numbers(examples.example_2),
    "Z.MMF.pareto": both(utilities.wasteful_mmf),
    "Z.III.lp": about_mechanism("lmmf", printed_mechanisms.linear_programs),
    "Z.III.rounds": printed_numbers(examples.rounds),
    "Z.III.procedure.inside": about_mechanism("lmmf", printed_mechanisms.inside_one_allocation),
    "Z.III.endowment": printed_numbers(examples.endowment),
    "Z.III.nb": printed_numbers(examples.nb_example),
    "Z.P1": few_rounds("lmmf"),
    "Z.P2": Routes(printed_mechanisms.few_steps, printed_mechanisms.few_newton_steps),
    "Z.C1": both(utilities.mixture_fits),
    "Z.L1": both(utilities.concave),
    "Z.L2": both(utilities.continuous),
    "Z.P5.homogeneous": both(utilities.homogeneous),
    "Z.D2": printed_numbers(examples.pivot_example),
    "Z.C2": both(utilities.claim_2),
    "Z.C2.if": both(utilities.claim_2_if),
    "Z.L3": both(utilities.lemma_3),
    "Z.Cor1": about_mechanism("lmmf", utilities.corollary_1(False)),
    "Z.Cor1.all": about_mechanism("lmmf", utilities.corollary_1(True)),
    "Z.P3": about_mechanism("lmmf", printed_mechanisms.as_printed),
    "Z.Ex3": printed_numbers(examples.example_3),
    "Z.P5.CEEI": Routes(printed_mechanisms.market_floats, printed_mechanisms.market_exact),
    "Z.R.split": about_mechanism("nb", printed_mechanisms.splits),
    "Z.P7.numbers": printed_numbers(examples.proposition_7),
    "Z.P8.numbers": printed_numbers(examples.proposition_8),
    "Z.L4": about_mechanism("lmmf", simplex_demands.lemma_4(False)),
    "Z.L4.leftovers": about_mechanism("lmmf", simplex_demands.lemma_4(True)),
    "Z.T1.pivot": step_of_theorem_1(simplex_demands.gainer_is_a_pivot),
    "Z.T1.case1": step_of_theorem_1(simplex_demands.case_1),
    "Z.T1.case2": step_of_theorem_1(simplex_demands.case_2),
    "Z.T1.case3": step_of_theorem_1(simplex_demands.case_3),
    "Z.T2.zero": about_mechanism("lmmf", simplex_demands.nothing_of_a_richer_bundle),
    "Z.T1.leftovers": about_mechanism("lmmf", simplex_demands.misreporting_with_leftovers),
    "Z.T2.leftovers": about_mechanism("lmmf", simplex_demands.envy_with_leftovers),
    "Z.V.LMMF.CE": few_rounds("lmmf"),
    "Z.V.LMMF.LMMF": about_mechanism("lmmf", leximin),
    "Z.V.NB.CE": Routes(printed_mechanisms.few_steps, printed_mechanisms.few_newton_steps),
    "Z.V.NB.LMMF": about_mechanism("nb", leximin),
    "Z.V.NB.SP": about_mechanism("nb", MISREPORTING),
    "Z.VI.results.PO": about_mechanism("lmmf", extensions.linear(PARETO, different=True)),
    "Z.VI.results.CE": extensions.valued_rounds(),
    "Z.VI.results.LMMF": Routes(extensions.least_utility_is_attained_in_floats, extensions.least_utility_is_attained),
    "Z.VI.results.LMMF.true": about_mechanism("lmmf", extensions.linear(leximin, different=True)),
    "Z.VI.EF": about_mechanism("lmmf", extensions.plain_envy),
    "Z.VI.EF.common": about_mechanism("lmmf", extensions.linear(ENVY, different=False)),
    "Z.VI.SP": about_mechanism("lmmf", extensions.linear(MISREPORTING, different=True)),
    "Z.VI.unique": Routes(extensions.midpoint_in_floats, extensions.midpoint),
}
