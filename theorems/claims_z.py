"""The claims of Z (LMMF and NB), tried and confirmed."""

from fractions import Fraction

from fairalloc.models.published import example
from fairalloc.theorems.cases import Case, Lie
from fairalloc.theorems.statement import Hypotheses, Statement
from fairalloc.theorems.trials import attempted, envy, lying, proved, sharing

ONE_POOL = Hypotheses(one_server=True, one_variant=False, equal_weights=True, users=2)
"""Z II-A: one pool, several demand vectors, users of equal weight."""

SIMPLEX = Hypotheses(one_server=True, one_variant=False, equal_weights=True, simplex=True, users=2)
"""Z V: linear trade-offs."""

_ONE = Fraction(1)

statements = [
    Statement(
        "Z.P4",
        "LMMF violates envy-freeness.",
        "Z Proposition 4, Example 3",
        "some",
        attempted("lmmf", envy),
        proved("lmmf", envy),
        ONE_POOL,
        printed=Case(example("zarchy-ex3").instance),
        mechanism="lmmf",
        property="envy-freeness",
        table="Z.Table1",
    ),
    Statement(
        "Z.P6",
        "LMMF is not strategyproof.",
        "Z Proposition 6",
        "some",
        attempted("lmmf", lying),
        proved("lmmf", lying),
        ONE_POOL,
        lies=1,
        printed=Case(example("zarchy-ex3").instance, Lie((1,), (((_ONE,),),), (None,))),
        mechanism="lmmf",
        property="strategyproofness",
        table="Z.Table1",
    ),
    Statement(
        "Z.P8",
        "LMMF violates the sharing incentive.",
        "Z Proposition 8",
        "some",
        attempted("lmmf", sharing),
        proved("lmmf", sharing),
        ONE_POOL,
        printed=Case(example("zarchy-prop8").instance),
        mechanism="lmmf",
        property="sharing-incentive",
        table="Z.Table1",
    ),
    Statement(
        "Z.T1",
        "LMMF over simplex demands is strategyproof.",
        "Z Theorem 1",
        "all",
        attempted("lmmf", lying),
        proved("lmmf", lying),
        SIMPLEX,
        lies=1,
        mechanism="lmmf",
        property="strategyproofness",
        table="Z.Table2",
    ),
    Statement(
        "Z.T2",
        "LMMF over simplex demands is envy-free.",
        "Z Theorem 2",
        "all",
        attempted("lmmf", envy),
        proved("lmmf", envy),
        SIMPLEX,
        mechanism="lmmf",
        property="envy-freeness",
        table="Z.Table2",
    ),
]
