"""`interior-point`: the mechanisms of max_min.py and of alpha_fair.py, both by the iteration of program.py."""

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.nested_nb import NestedNashBargaining, guarantees, parts
from fairalloc.models.instance import Instance
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairSession
from fairalloc.solvers.interior_point.components import MaxMinSession
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.interior_point.program import why_not
from fairalloc.solvers.method import Limits, Method, Session


class InteriorPoint(Method):
    """Max-min fairness, each round on its face, and alpha-fairness with nb; the trace has a round's `iterations` and `error`."""

    id = "interior-point"
    kind = "interior-point"
    kinds = (Leximin, AlphaFair, NestedNashBargaining)
    anytime = True
    warm = True
    options = InteriorPointOptions()

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Not where every dense system is too large, or groups have guarantees."""
        if isinstance(mechanism, NestedNashBargaining) and len(guarantees(instance)[1]):
            return f"{self.id} knows no guarantees of groups"
        return why_not(self.id, mechanism.domain(instance), self.options)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The matrices of the arrow; nested-nb without guarantees is nb with other weights."""
        if isinstance(mechanism, NestedNashBargaining):
            return AlphaFairSession(NashBargaining(), instance.rescaled(parts(instance)), limits)
        return (MaxMinSession if isinstance(mechanism, Leximin) else AlphaFairSession)(mechanism, instance, limits)


methods = (InteriorPoint(),)
