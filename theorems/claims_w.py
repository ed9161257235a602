"""The claims of W (DRFH), tried and confirmed."""

from fairalloc.models.published import example
from fairalloc.theorems.cases import Case
from fairalloc.theorems.statement import Hypotheses, Statement
from fairalloc.theorems.trials import attempted, envy, lying, proved, sharing

BASIC = Hypotheses(everywhere=True, positive=True, equal_weights=True, users=2)
"""W 3.1: positive demands, everybody may run everywhere, unlimited tasks, equal weights."""

statements = [
    Statement(
        "W.P1",
        "The DRFH allocation is envy-free.",
        "W Proposition 1",
        "all",
        attempted("drfh", envy),
        proved("drfh", envy),
        BASIC,
        mechanism="drfh",
        property="envy-freeness",
        table="W.List",
    ),
    Statement(
        "W.P3",
        "DRFH is group strategyproof: of a coalition that misreports, somebody does not gain.",
        "W Proposition 3",
        "all",
        attempted("drfh", lying),
        proved("drfh", lying),
        BASIC,
        lies=2,
        mechanism="drfh",
        property="group-strategyproofness",
        table="W.List",
    ),
    Statement(
        "W.P4",
        "DRFH does not satisfy strong sharing incentive.",
        "W Proposition 4",
        "some",
        attempted("drfh", sharing),
        proved("drfh", sharing),
        BASIC,
        printed=Case(example("wang-prop4").instance),
        mechanism="drfh",
        property="sharing-incentive",
        table="W.List",
    ),
]
