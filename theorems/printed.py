"""The papers' own tables of properties, as they are printed: data to be compared with, never evidence."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PrintedTable:
    """One table: `marks[mechanism, property]` says whether the paper gives the mechanism that property.

    `id` is what a statement's `table` refers to, `place` where it stands, `setting` what it is about.
    """

    id: str
    place: str
    setting: str
    marks: Mapping[tuple[str, str], bool]

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms in the order of the print."""
        return list(dict.fromkeys(mechanism for mechanism, _ in self.marks))

    @property
    def properties(self) -> list[str]:
        """The properties in the order of the print."""
        return list(dict.fromkeys(name for _, name in self.marks))


def _marks(names: str, **rows: str) -> dict[tuple[str, str], bool]:
    """Marks from one string of + and - for each mechanism, in the order of the names of the properties."""
    properties = names.split()
    return {
        (mechanism.replace("_", "-"), name): mark == "+"
        for mechanism, row in rows.items()
        for name, mark in zip(properties, row, strict=True)
    }


_Z = "polynomial-time envy-freeness sharing-incentive pareto leximin strategyproofness"

PRINTED: Mapping[str, PrintedTable] = {
    table.id: table
    for table in (
        PrintedTable(
            "K.Table1",
            "K Table 1",
            "heterogeneous servers, placement constraints",
            _marks(
                "sharing-incentive envy-freeness pareto bottleneck-fairness",
                drfh="-++-",
                tsf="+++-",
                ps_dsf="++-+",
            ),
        ),
        PrintedTable(
            "P.Table1",
            "P Table I",
            "heterogeneous servers, placement constraints",
            _marks(
                "sharing-incentive strategyproofness envy-freeness pareto bottleneck-fairness",
                drfh="-+++-",
                tsf="++++-",
                ps_dsf="+++++",
            ),
        ),
        PrintedTable(
            "W.List",
            "W 4.2-4.6, Propositions 1 to 9",
            "heterogeneous servers, no constraints, positive demands",
            _marks(
                "envy-freeness pareto group-strategyproofness sharing-incentive weak-sharing-incentive "
                "single-server-reduction single-resource-fairness bottleneck-fairness population-monotonicity",
                drfh="+++-+++++",
            ),
        ),
        PrintedTable("Z.Table1", "Z IV", "one pool, several demand vectors", _marks(_Z, lmmf="+--++-", nb="++++--")),
        PrintedTable(
            "Z.Table2",
            "Z V",
            "one pool, several demand vectors, each of sum 1",
            _marks(_Z + " group-strategyproofness", lmmf="++-++++", nb="++++---"),
        ),
    )
}
"""All tables by id. In P's text C-DRFH is `drfh` under placement constraints; which three marks it has is said in P II-B."""
