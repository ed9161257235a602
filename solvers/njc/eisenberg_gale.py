r"""`njc-market`: the Eisenberg-Gale program (c) of njc.py, then the exact NJC allocation next to its optimum.

1. Solve the Eisenberg-Gale program by Clarabel: x and the prices p.
2. Guess the bottlenecks, resources with a price: I = {j: p_j > slack_j}.
3. Compute the point of P_I nearest to x in rational arithmetic (pieces.py). Where P_I has none within NEAR, repeat with the
   sets of the fullest resources. (The exact optimum is in P_I but irrational in general.)
"""

from dataclasses import replace

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.cvxpy import CvxpySession
from fairalloc.solvers.exact.simplex import SimplexOptions
from fairalloc.solvers.method import Answer, Limits, Method, Session, Stopped
from fairalloc.solvers.njc.pieces import exact_point_near

NEAR = 1e-2
"""The largest relative distance of the exact answer from the floating-point one."""


class ExactNjcMethod(Method):
    """A method that ends with an exact NJC allocation; a floating-point answer without one is not called optimal."""

    kind = "exact"
    kinds = (NoJustifiedComplaints,)
    canonical = False
    options = SimplexOptions()
    free = False

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:  # noqa: ARG002
        """Methods that compute one particular NJC allocation take no objective."""
        if getattr(mechanism, "objective", None) is not None and not self.free:
            return f"{self.id} ends at one NJC allocation, so it takes no objective: njc-milp and njc-enumeration do"
        return ""

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """An exact allocation, or the floating-point one and why no exact one was found next to it."""
        assert isinstance(mechanism, NoJustifiedComplaints)
        d, (item, own) = requests(instance), mechanism.in_requests(instance)
        answer = super().run(item, own, limits)
        exact = None if answer.x_exact is None else d.tasks(answer.x_exact)
        prices = None if answer.prices is None else mechanism.model_prices(instance, own, answer.x, answer.prices[None])
        return replace(answer, x=answer.x * np.array(d.unit, float), x_exact=exact, prices=prices)

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:
        """In fractions of full requests."""
        assert isinstance(mechanism, NoJustifiedComplaints)
        session.x_exact, prices = self.find(mechanism, requests(session.instance), session)
        session.inaccurate = False  # whatever its solver said
        return np.array(session.x_exact, float), prices

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:
        """The exact x (N,) in fractions of full requests, and prices (K, R) if there are any; Stopped where none was found."""
        raise NotImplementedError

    def near(self, d: Requests, session: Session, x: Floats, prices: Floats | None) -> tuple[Rationals, Floats | None]:
        """The same next to x (N,) and prices (R,)."""
        with session.phase("read"):
            found = exact_point_near(d, x, NEAR, session.limits, prices)
        if found is None:
            raise Stopped("inaccurate", "; ".join(filter(None, (session.message, "no exact NJC allocation was found near by"))))
        return found, None if prices is None else prices[None]


class NjcMarket(ExactNjcMethod):
    """Eisenberg-Gale by Clarabel, then an exact allocation next to it."""

    id = "njc-market"
    packages = ("cvxpy", "clarabel", "highspy", "flint")
    solver = "CLARABEL"

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:  # noqa: ARG002
        """The nb program on requests and entitlements."""
        return CvxpySession(NashBargaining(), instance, limits, "CLARABEL")

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:  # noqa: ARG002
        """The priced resources are the bottlenecks; where that is not clear, the fullest ones are tried."""
        x, prices = session.solve(None)  # 1
        return self.near(d, session, x, None if prices is None else prices.ravel())  # 2, 3


methods = (NjcMarket(),)
