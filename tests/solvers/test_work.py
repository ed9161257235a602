"""The iterations that our own methods take on fixed instances: another number is a change that was meant, or a fault.

Most faults of a start, a step or a limit of these methods leave a right answer, for it is judged; they cost iterations.
"""

import pytest

from fairalloc.models.examples import generators
from fairalloc.solvers import solve

FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "heavy_tailed", "sparse", "identical")

KNOWN = {
    ("interior-point", "drfh", 60, 20, 3): (5, 7, 17, 13, 19, 11, 62, 6),
    ("interior-point", "drfh", 300, 30, 3): (11, 9, 26, 13, 26, 21, 105, 7),
    ("interior-point", "nb", 60, 20, 3): (13, 10, 7, 12, 11, 11, 8, 10),
    ("interior-point", "nb", 300, 30, 3): (15, 10, 9, 13, 13, 23, 7, 9),
    ("interior-point", "mmf", 40, 10, 3): (5, 5, 7, 9, 7, 5, 31, 6),
    ("interior-point", "lmmf", 12, 4, 3): (4, 4, 13, 5, 8, 6, 14, 4),
    ("continuation", "alpha-pf-vds", 12, 6, 3): (29, 23, 28, 28, 31, 29, 27, 29),
    ("continuation", "ps-dsf", 12, 6, 3): (28, 24, 31, 25, 28, 25, 25, 27),
    ("semismooth-newton", "alpha-pf-vds", 8, 4, 3): (20, 10, 27, 17, 21, 15, 11, 28),
    ("josephy-newton", "alpha-pf-vds", 8, 4, 3): (10, 8, 12, 10, 12, 10, 9, 15),
    ("best-response", "alpha-pf-vds", 8, 4, 3): (45, 11, 131, 17, 399, 36, 2, 191),
    ("best-response", "ps-dsf", 8, 4, 3): (40, 4, 35, 40, 96, 40, 2, 18),
    ("psdsf-distributed", "ps-dsf", 8, 4, 3): (38, 4, 29, 24, 155, 36, 1, 17),
    ("psdsf-algorithm-1", "ps-dsf", 8, 4, 3): (40, 3, 28, 43, 157, 43, 1, 16),
    ("pdhg", "nb", 8, 4, 3): (960, 560, 1120, 2080, 1120, 1480, 1040, 1680),
    ("njc-ode", "njc", 6, 1, 3): (232, 268, 292, 280, 232, 232, 268, 220),
}
"""By method, mechanism and size, for each family; alpha is 2."""

EXACT = 10
"""Up to so many iterations are what they are on every machine; of more, a twentieth may be rounding."""


@pytest.mark.few(6)
@pytest.mark.parametrize("run", KNOWN, ids=lambda run: "-".join(map(str, run)))
def test_the_iterations_are_what_they_were(run):
    method, name, *size = run
    alpha = {"alpha": 2} if name == "alpha-pf-vds" else {}
    taken = [solve(getattr(generators, family)(*size, 1), name, method, "mid", **alpha).iterations for family in FAMILIES]
    other = [(f, k, n) for f, k, n in zip(FAMILIES, taken, KNOWN[run], strict=True) if abs(k - n) > (n > EXACT) * max(1, n / 20)]
    assert not other, "family, iterations, iterations before"


GRADIENTS = {
    ("ps-mfa", 50): (0.01372146, 0.47841310, 0.03792628, 0.01969562),
    ("vds-distributed", 600): (0.02166783, 0.02293146, 0.08195590, 0.00468837),
}
"""The residual after so many iterations, for the first four families; to an optimum these methods need thousands."""


@pytest.mark.parametrize(("method", "count"), GRADIENTS)
def test_gradient_methods_are_where_they_were(method, count):
    limit = {"max_iterations": count}
    found = [
        solve(getattr(generators, family)(4, 2, 2, 1), "alpha-pf-vds", method, "low", alpha=2, options=limit)
        for family in FAMILIES[: len(GRADIENTS[method, count])]
    ]
    assert [a.iterations for a in found] == [count] * len(found)
    assert [a.residual for a in found] == pytest.approx(GRADIENTS[method, count], rel=1e-4)
