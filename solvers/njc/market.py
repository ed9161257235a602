r"""`njc-market`: the Eisenberg-Gale program (c) of njc.py, then the exact NJC allocation next to its optimum.

Clarabel gives x and the prices p. In the theorem of njc.py only resources with a price justify anybody, and at a strictly
complementary optimum those have p_j > 0 = slack_j: I = {j: p_j > slack_j} is tried first. P_I holds the exact optimum, which has
no rational coordinates in general, so a rational point of P_I next to it is the answer: an NJC allocation without any tolerance.
"""

from typing import ClassVar

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.rationals import Rationals
from fairalloc.solvers.backends.cvxpy import CvxpySession
from fairalloc.solvers.method import Answer, Limits, Method, Session, Stopped
from fairalloc.solvers.njc.pieces import as_floats, bottleneck_candidates, exact_point_near

__all__ = ["ExactNjcMethod"]

NEAR = 1e-3
"""How far an exact answer may be from the point it is to polish, in fractions of a request."""


class ExactNjcMethod(Method):
    """A method that ends with an exact NJC allocation; what it hands over in floating point otherwise is not claimed."""

    kind = "exact"
    canonical = False
    install = "pip install fairalloc"
    free = False

    def computes(self, mechanism: Mechanism) -> bool:
        """NJC."""
        return isinstance(mechanism, NoJustifiedComplaints)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:  # noqa: ARG002
        """Those who cannot choose take no objective."""
        assert isinstance(mechanism, NoJustifiedComplaints)
        if mechanism.objective is not None and not self.free:
            return f"{self.id} ends at one NJC allocation, so it takes no objective: njc-milp and njc-enumeration do"
        return ""

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """An exact allocation, or the point that could not be polished and why."""
        assert isinstance(mechanism, NoJustifiedComplaints)
        d, in_requests = requests(instance), mechanism.canonical(instance)[0]
        session = self.open(mechanism.in_requests(d), in_requests, limits)
        termination, message, exact, prices = "optimal", "", None, None
        try:
            exact, prices = self.find(mechanism, d, session)
        except Stopped as stop:
            termination, message = stop.termination, str(stop)
        x = session.x if exact is None else as_floats(exact)
        tasks = x * as_floats(d.unit) if len(x) else np.full(instance.N, np.nan)
        facts = (termination, session.times, session.iterations, message or session.message)
        return Answer(tasks, prices, *facts, x_exact=None if exact is None else d.tasks(exact), trace=tuple(session.trace))

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:
        """The exact x, and prices if there are any; Stopped where there is no such x."""
        raise NotImplementedError


class NjcMarket(ExactNjcMethod):
    """Eisenberg-Gale by Clarabel, polished."""

    id = "njc-market"
    packages: ClassVar[tuple[str, ...]] = ("cvxpy", "clarabel", "highspy", "flint")

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:  # noqa: ARG002
        """The nb program on requests and entitlements."""
        return CvxpySession(NashBargaining(), instance, limits, "CLARABEL")

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:  # noqa: ARG002
        """The priced resources are the bottlenecks; where that is not clear, the fullest ones are tried."""
        x, prices = session.solve(None)
        with session.phase("read"):
            slack = 1.0 - session.instance.arcs.load @ x
            p = np.zeros(d.R) if prices is None else prices.ravel()
            priced = frozenset(np.flatnonzero(p > slack).tolist())
            found = exact_point_near(d, x, [priced, *bottleneck_candidates(slack, NEAR)], NEAR, session.limits)
        if found is None:
            raise Stopped("inaccurate", "no exact NJC allocation was found next to the market's")
        return found[0], prices


methods = (NjcMarket(),)
