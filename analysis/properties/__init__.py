"""Properties of allocations and of mechanisms; every check returns a verdict, with a witness where the property fails.

`PROPERTIES` lists the properties of an allocation, `MECHANISM_PROPERTIES` those that only a mechanism can have.
"""

from fairalloc.analysis.properties.checks import BASIC, PROPERTIES, check
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES, Property
from fairalloc.analysis.properties.strategyproofness import check_mechanism

__all__ = ["BASIC", "MECHANISM_PROPERTIES", "PROPERTIES", "Misreport", "Property", "check", "check_mechanism"]
