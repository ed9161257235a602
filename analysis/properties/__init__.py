"""Properties of allocations and of mechanisms; every check returns a verdict, with a witness where the property fails.

| property | file |
| --- | --- |
| feasibility, non-wastefulness, Pareto optimality, the definition of each mechanism | checks.py, with `check` |
| envy up to one task, of whole tasks | whole_tasks.py |
| envy-freeness, sharing incentives, bottleneck fairness, reductions to one resource or one server | fairness.py |
| sharing incentive of groups, envy between siblings, hierarchical share guarantee | group_fairness.py |
| strategyproofness, group strategyproofness, population monotonicity | strategyproofness.py, with `check_mechanism` |
| the class `Property`, and functions of one's own | property.py |
| the class `Misreport`: what users report in place of the true demands | misreport.py |

`PROPERTIES` lists the properties of an allocation, `MECHANISM_PROPERTIES` those that only a mechanism can have.
"""

from fairalloc.analysis.properties.checks import BASIC, PROPERTIES, check
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES, Property
from fairalloc.analysis.properties.strategyproofness import check_mechanism

__all__ = ["BASIC", "MECHANISM_PROPERTIES", "PROPERTIES", "Misreport", "Property", "check", "check_mechanism"]
