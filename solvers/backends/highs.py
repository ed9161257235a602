"""HiGHS without a modelling layer: sparse arrays handed to highspy, the floor for build time.

`highs` passes every round as a new model and lets HiGHS choose; `highs:ipx`, `highs:hipo` and `highs:pdlp` say which of its
algorithms. `highs:leximin` keeps one model over the rounds: fixing a user changes its row's bounds and takes g out of the row, so
the last basis stays primal feasible. Where users have many servers to choose from, the first round is degenerate; the
interior-point method of interior_point/max_min.py is asked first, and HiGHS where that does not reach its gap.
"""

from collections.abc import Mapping
from typing import Any

from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.instance import Instance
from fairalloc.solvers.backends.highs_session import HighsSession
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.method import Limits, Method, Session

ALONE: Mapping[str, Any] = {"run_crossover": "choose", "presolve": "off"}
"""For one algorithm of HiGHS alone: what presolve leaves of duals without a basis proves no round (docs/DESIGN-NOTES.md)."""


class Highs(Method):
    """Direct HiGHS, a new model for each round or one that is kept over all rounds."""

    packages: tuple[str, ...] = ("highspy",)
    kinds: tuple[type[Mechanism], ...] = (Leximin, Utilitarian, NestedMaxMin)
    solver = "HiGHS"
    table = "HIGHS"
    warm = True
    keep_model = False
    session: type[HighsSession] = HighsSession
    chosen: Mapping[str, Any] | None = None
    """Options of HiGHS besides those that the accuracy means."""

    def __init__(self, id: str, kind: str) -> None:  # noqa: A002
        self.id, self.kind = id, kind

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Nothing is passed to HiGHS before the first round."""
        kind = self.session
        if isinstance(mechanism, NestedMaxMin) and not self.chosen:  # columns are priced by simplex bases
            from fairalloc.solvers.backends.highs_columns import ColumnsSession  # few instances need it

            kind = ColumnsSession
        session = kind(mechanism, instance, limits)
        session.keep_model, session.table, session.chosen = self.keep_model, self.table, self.chosen
        return session


class HighsLeximin(Highs):
    """Direct HiGHS with one model over all rounds, which pays for sequences only."""

    kinds, but = (Leximin,), (MaxMin,)
    anytime = True  # on large instances by the interior-point method
    keep_model = True
    options = InteriorPointOptions()


class HighsAlgorithm(Highs):
    """Direct HiGHS by one of its algorithms, with crossover to a vertex only where that ends too early."""

    warm = False
    peer = True

    def __init__(self, name: str, kind: str, table: str, packages: tuple[str, ...] = ("highspy",), extra: str = "") -> None:
        super().__init__(f"highs:{name}", kind)
        self.table, self.chosen = table, {"solver": name, **ALONE}
        self.packages = packages
        self.install = f"pip install fairalloc{extra}"


methods = (
    Highs("highs", "exact"),
    HighsLeximin("highs:leximin", "exact"),
    HighsAlgorithm("ipx", "interior-point", "HIGHS IPM"),
    HighsAlgorithm("hipo", "interior-point", "HIGHS IPM", ("highspy", "highspy_extras"), "[hipo]"),
    HighsAlgorithm("pdlp", "first-order", "HIGHS PDLP"),
)
