"""`interior-point`: the mechanisms of max_min.py and of alpha_fair.py, both by the linear algebra of arrow.py."""

from fairalloc.formulations.fds import FairDominantShares
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.instance import Instance
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairSession
from fairalloc.solvers.interior_point.arrow import InteriorPointOptions
from fairalloc.solvers.interior_point.max_min import MaxMinSession
from fairalloc.solvers.method import Limits, Method, Session


class InteriorPoint(Method):
    """Max-min fairness, each round on its face, Nash bargaining and fds; the trace has a round's `iterations` and `error`."""

    id = "interior-point"
    kind = "interior-point"
    anytime = True
    options = InteriorPointOptions()

    def computes(self, mechanism: Mechanism) -> bool:
        """The max-min mechanisms, nb and fds."""
        return isinstance(mechanism, Leximin | NashBargaining | FairDominantShares)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Not where the dense system is too large."""
        domain = mechanism.domain(instance)
        rows = domain.K * domain.R
        rule = f"{self.id} forms a dense system of servers times resources, at most {self.options.max_rows}, but there are {rows}"
        return rule if rows > self.options.max_rows else ""

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The matrices of the arrow."""
        if isinstance(mechanism, Leximin):
            return MaxMinSession(mechanism, instance, limits)
        assert isinstance(mechanism, NashBargaining | FairDominantShares)
        return AlphaFairSession(mechanism, instance, limits)


methods = (InteriorPoint(),)
