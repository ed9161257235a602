"""The papers' own tables of properties: where each stands, and what it has in which order.

A statement with this `table` is the claim that is printed for its mechanism and property. The mark is + where it says that the
mechanism has the property. What is printed is compared with what was found, and is never evidence.
"""

from collections.abc import Mapping
from typing import NamedTuple


class PrintedTable(NamedTuple):
    """One table: its id, where it stands, what it is about, and its mechanisms and properties in the order of the print."""

    id: str
    place: str
    setting: str
    mechanisms: list[str]
    properties: list[str]


_SERVERS = "heterogeneous servers, placement constraints"
_Z = "polynomial-time envy-freeness sharing-incentive pareto leximin strategyproofness"
_W = (
    "envy-freeness pareto group-strategyproofness sharing-incentive weak-sharing-incentive single-server-reduction "
    "single-resource-fairness bottleneck-fairness population-monotonicity"
)

PRINTED: Mapping[str, PrintedTable] = {
    name: PrintedTable(name, place, setting, mechanisms.split(), properties.split())
    for name, place, setting, mechanisms, properties in (
        ("K.Table1", "K Table 1", _SERVERS, "drfh tsf ps-dsf", "sharing-incentive envy-freeness pareto bottleneck-fairness"),
        (
            *("P.Table1", "P Table I", _SERVERS, "drfh tsf ps-dsf"),
            "sharing-incentive strategyproofness envy-freeness pareto bottleneck-fairness",
        ),
        ("W.List", "W 4.2-4.6, Propositions 1 to 9", "heterogeneous servers, no constraints, positive demands", "drfh", _W),
        ("Z.Table1", "Z IV", "one pool, several demand vectors", "lmmf nb", _Z),
        ("Z.Table2", "Z V", "one pool, several demand vectors, each of sum 1", "lmmf nb", f"{_Z} group-strategyproofness"),
    )
}
"""All tables by id. In P's text C-DRFH is `drfh` under placement constraints; which three marks it has is said in P II-B."""
