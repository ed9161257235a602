r"""Steps of the proof of K Theorem 7: (105) with (106), and the column rank of (107).

    (104)  d_n lambda_i = A^alpha (phi gamma)^alpha / (x^alpha gamma) + B phi / x =: h,   printed without phi in the last term
    (105)  d_n dlambda_i + omega_ni dx_n = 0   for x_ni > 0,   omega_ni = alpha h / x + B (1 - alpha) / x^2                  (106)
    (107)  these equations as a matrix [D | V], a column for each server and for each user

(105) is linear in the changes and holds to first order iff -omega_ni is the derivative of h by x_n. K infers from N + S or more
rows that the rank of [D | V] is N + S, since no column of V is a combination of columns of D, nor the other way round. But a
combination of columns of both may be 0: two alike users at two alike servers, d = gamma = phi = A = B = 1, alpha = 2 and x = 1/2
everywhere have h = 2 and omega = 3, and dlambda = -3, dx = 1 solves (105). That (102) then fails is not in (107).
"""

from fractions import Fraction

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import as_flint, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k.marginals import alphas, totals, worths

F = Fraction
ALIKE = Case(Instance([[1], [1]], [[1], [1]]), points=((F(1, 2),) * 4,), parameters={"alpha": 2, "A": 1, "B": 1})
"""The example of the docstring."""


class _Point:
    """Tasks of the case's point: both terms of h and omega of each arc, and d_n of the first resource."""

    def __init__(self, case: Case) -> None:
        instance, self.x, self.alpha = case.instance, case.points[0], int(case.parameters["alpha"])
        A, B = (F(str(case.parameters[name])) for name in "AB")
        self.user, self.server = exact_arcs(instance).user, instance.arcs.server.tolist()
        self.have, self.parts = totals(instance, self.x), worths(instance, self.x, alphas(case), A, B)
        self.omega = [
            self.alpha * sum(parts) / x + B * (1 - self.alpha) / x**2 for parts, x in zip(self.parts, self.have, strict=True)
        ]
        self.demands = [instance.exact.demands[n][0][0] for n in self.user]

    def matrix(self, case: Case) -> list[list[Fraction]]:
        """[D | V]; NotApplicable where this is no solution with one resource that every server's users pay for."""
        instance, prices = case.instance, dict[int, Fraction]()
        full = [load == 1 for load in exact_arcs(instance).loads(self.x)]
        costs = [sum(parts) / d if d else None for parts, d in zip(self.parts, self.demands, strict=True)]
        for i, x, cost in zip(self.server, self.x, costs, strict=True):
            if x and (cost is None or prices.setdefault(i, cost) != cost):
                raise NotApplicable("the users of a server do not pay alike for its first resource")
        if instance.R > 1 or not all(full) or any(prices[i] < c for i, c in zip(self.server, costs, strict=True) if c):
            raise NotApplicable("this is not a solution with one resource")
        rows = []
        for n, i, x, d, omega in zip(self.user, self.server, self.x, self.demands, self.omega, strict=True):
            row = [F(0)] * (instance.K + instance.N)
            row[i], row[instance.K + n] = d, omega
            rows += [row] * bool(x)
        if len(rows) < instance.K + instance.N:
            raise NotApplicable("fewer than N + S users and servers are in the equations")
        return rows


def rank(case: Case) -> Verdict:
    """(107) has column rank N + S, in rationals."""
    from flint import fmpq_mat

    rows = _Point(case).matrix(case)
    found = int(fmpq_mat(len(rows), len(rows[0]), [as_flint(v) for row in rows for v in row]).rank())
    missing = len(rows[0]) - found
    words = f"the matrix has rank {found} and {len(rows[0])} columns"
    return Verdict("rank", not missing, float(missing or -1), words, "rational arithmetic")


def omega(case: Case) -> Verdict:
    """(106) is the derivative of -h, in rationals: alpha first / x + second / x for the terms of h."""
    at = _Point(case)
    true = [(at.alpha * first + second) / x for (first, second), x in zip(at.parts, at.have, strict=True)]
    off = max(abs(printed / right - 1) for printed, right in zip(at.omega, true, strict=True))
    return Verdict("formula", not off, float(off or -1), f"(106) is off by {float(off):.3g}, relative", "rational arithmetic")
