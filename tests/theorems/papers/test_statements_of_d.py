"""What the statements of D rest on: two ways to all NJC allocations, margins that can fail, derivatives, trajectories."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import d_in_floats
import numpy as np
import pytest
from tolerances import LEVELSET, ROUNDING

from fairalloc.models import FairallocError, Instance, NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.solvers.method import Limits
from fairalloc.solvers.njc import ode as njc_ode
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d import complaints, regions, trajectories
from fairalloc.theorems.papers.d.complaints import ONE, ZERO, all_fair, complaint, data, domain_vertices
from fairalloc.theorems.papers.d.trajectories import along, inside
from fairalloc.theorems.papers.d.trials import rationals
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import investigate

STATEMENTS = {name: item for name, item in all_statements().items() if item.paper == "D"}
USERS, POINT = (STATEMENTS[name].hypotheses for name in ("D.S4.strategyproof", "D.R3"))


def cases(hypotheses, count, seed=0):
    """Cases of D: one pool."""
    rng, made = np.random.default_rng(seed), []
    while len(made) < count:
        try:
            case = hypotheses.sample(rng).case()
            _ = inside(case) if hypotheses.points else data(case)
        except FairallocError:
            continue
        made.append(case)
    return made


def test_both_ways_find_the_same_allocations():
    """Solutions of equations need not be vertices of a P_I, but every vertex is one; and so for all feasible allocations."""
    for case in cases(USERS, 40):
        d = data(case)
        vertices, found = all_fair(d), d_in_floats.by_equations(d)
        assert set(vertices) <= set(found)
        for axis in range(len(d.parts)):
            assert [f({x[axis] for x in vertices}) for f in (min, max)] == [f({x[axis] for x in found}) for f in (min, max)]
        assert domain_vertices(d) == d_in_floats.domain_vertices(d)


def test_a_complaint_is_seen_in_every_allocation_that_is_perturbed():
    for case in cases(USERS, 30, seed=1):
        d = data(case)
        for x in all_fair(d):
            assert complaint(d, x) == 0 == max(0, complaint(d, x))
            assert d.fair(x)
            for i, value in enumerate(x):
                for changed in (value * Fraction(99, 100), value * Fraction(101, 100)):
                    y = (*x[:i], changed, *x[i + 1 :])
                    assert (complaint(d, y) > 0) == (not d.fair(y))
            less = tuple(value * Fraction(99, 100) for value in x)
            assert complaint(d, less) > 0, "nothing is full any more"


def test_nobody_without_an_entitlement_complains_at_a_bottleneck():
    """D Theorem 1 allows e_i = 0."""
    d = data(Case(Instance([[1, 0], [0, 1]], [[1, 1]]), parameters={"unentitled": 1}))
    assert d.entitlement == (ONE, ZERO)
    assert all_fair(d) == [(ONE, ZERO), (ONE, ONE)]
    assert complaint(d, (ONE, ZERO)) == 0
    assert complaint(d, (ONE / 2, ZERO)) > 0
    with pytest.raises(NotApplicable, match="somebody must be entitled"):
        data(Case(Instance([[1]], [[1]]), parameters={"unentitled": 1}))


TWINS = Instance([[1, 0], [1, 0], [0, 1]], [[1, 1]], max_tasks=[1, 1, 1])
CROSSED = Instance([[1], [1]], [[1]], max_tasks=[1, 1])
SMALL = Instance([["1/10"], [1]], [[1]], max_tasks=[1, 1])


@pytest.mark.parametrize(
    ("gap", "instance", "right", "wrong"),
    [
        (complaints.pareto, TWINS, ("1/3", "2/3", 1), ("1/3", "2/3", "99/100")),
        (complaints.envy, TWINS, ("1/2", "1/2", 1), ("49/100", "51/100", 1)),
        (complaints.exact_entitlement, TWINS, ("1/3", "1/3", "1/3"), ("1/3", "2/3", "1/3")),
        (complaints.small_requests, SMALL, (1, "9/10"), ("99/100", "9/10")),
        (complaints.no_scarcity, SMALL.replace(capacities=[[2]]), (1, 1), (1, "99/100")),
        (complaints.cut_back, SMALL, (1, "9/10"), ("99/100", "901/1000")),
        (complaints.on_boundary, TWINS, ("1/3", "2/3", 0), ("1/3", "65/100", 0)),
        (complaints.linear, TWINS, ("1/3", "2/3", 1), ("33/100", "67/100", 1)),
        (complaints.common_bottleneck, SMALL, (1, "9/10"), None),
        (complaints.less_elsewhere, CROSSED, ("1/2", "1/2"), ("2/5", "3/5")),
    ],
)
def test_margins_can_fail(gap, instance, right, wrong):
    d = data(Case(instance))
    assert not gap(d, rationals(*right))[0] > 0
    if wrong is not None:
        margin, words = gap(d, rationals(*wrong))
        assert margin > 0
        assert words


def test_a_resource_that_is_not_dominant_for_all_is_seen():
    d = data(Case(Instance([[1, "1/2"], ["1/2", 1]], [[1, 1]], max_tasks=[1, 1])))
    assert complaints.common_bottleneck(d, rationals("2/3", "2/3"))[0] > 0


def test_the_matrix_of_13_is_what_power_series_give():
    for case in cases(POINT, 15):
        at = inside(case)
        columns = [along(at, unit)[1] for unit in at.units]
        assert [list(row) for row in zip(*columns, strict=True)] == at.matrix
        assert sum(along(at, at.velocity())[0]) == 1
        other = replace(at, x=tuple(v * Fraction(9, 10) for v in at.x))
        assert other.matrix != at.matrix


def test_two_routes_to_points_of_the_trajectory():
    """Newton's method finds the point next to that of the integrator with the same c; a perturbed one misses (12)."""
    for case in cases(USERS, 10, seed=2):
        d = data(case)
        path = njc_ode.TrajectoryEquations(d, Limits())
        for x in trajectories.trajectory(d, 1e-3).x[2::6]:
            assert d_in_floats.central(d, path.scale(x)) == pytest.approx(x, rel=LEVELSET)
        x = d_in_floats.central(d, 10.0)
        assert trajectories.fulfils_12(d, path, x) < ROUNDING * 1e3
        assert trajectories.fulfils_12(d, path, x * np.linspace(0.99, 1, len(x))) > 1e-3


@pytest.mark.few(9)
@pytest.mark.parametrize("name", [name for name, item in STATEMENTS.items() if item.quantifier == "one"])
def test_printed_examples(name):
    """Each fact is so, or the statement is one of those that docs/papers/errata.md lists."""
    wrong = {"D.S5.5.weights", "D.S5.5.circle-all"}
    finding = investigate(STATEMENTS[name])
    assert finding.status == ("refuted" if name in wrong else "proved"), finding.sentence


def test_a_printed_number_that_is_changed_is_refuted():
    item = STATEMENTS["D.S5.3.fig5"]
    other = Case(example("dolev-fig5").instance.replace(weights=[1, 1]))
    finding = investigate(replace(item, printed=other))
    assert finding.status == "refuted"
    assert finding.sentence.startswith("false: (0.6, 0.9)")


def test_ghodsis_misreport():
    """D 4 claims that misreporting does not help; Ghodsi et al. show that it does for the market, which is NJC for two users."""
    from fairalloc.analysis.properties.misreport import Misreport

    misreport = Misreport((0,), (((Fraction(16), Fraction(8)),),), (None,))
    verdict = STATEMENTS["D.S4.strategyproof"].violated(Case(Instance([[16, 1], [1, 2]], [[100, 100]]), misreport))
    assert verdict is not None
    gain = (Fraction(2, 3) - Fraction(16, 31)) * Fraction(100, 16)
    assert f"user 'u1' runs {gain} tasks more in its worst allocation than in its best before" in verdict.sentence


def test_the_errata_run():
    """Every block of docs/papers/errata.md about D, one after the other; each asserts."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "papers" / "errata.md").read_text(encoding="utf-8")
    section = re.split(r"^## D$", page, flags=re.MULTILINE)[1]
    blocks = re.findall(r"```python\n(.*?)```", re.split(r"^## ", section, flags=re.MULTILINE)[0], re.DOTALL)
    assert len(blocks) > 8
    assert all("assert" in block for block in blocks[1:])
    scope = {}
    for block in blocks:
        exec(block, scope)
    with pytest.raises(AssertionError):
        exec(blocks[1].replace("F(25, 6)", "F(26, 6)"), scope)
    named = set(re.findall(r"D\.[A-Z][\w.-]*\w", re.sub(r"\[[^\]]*\.py\]\([^)]*\)", "", section)))
    assert named <= set(STATEMENTS)


# ---- sections 5.1 to 5.3, Remark 2, section 6 -----------------------------------------------------------------------

TWO = Case(Instance([[1], [1]], [[1]], max_tasks=["2/3", "2/3"], weights=[2, 3]), points=((ONE / 3, ONE / 2), (ONE / 4, ONE / 4)))
"""Fig. 5 of D, with two allocations in tasks, of which the claims take the half."""


def both(name, case=TWO):
    """What the second implementation and the one of the package say."""
    return d_in_floats.SECOND[name](case).holds, STATEMENTS[name].confirm(case).holds


SEEN = ["D.S5.1.linear-program", "D.S5.2.family", "D.E4", "D.S5.2.normal", "D.S5.3.slopes.true", "D.S5.3.smooth"]
SEEN += ["D.S5.3.limit", "D.S5.3.point", "D.R2", "D.S6.minimal-gap"]


@pytest.mark.few(4)
@pytest.mark.parametrize("name", SEEN)
def test_claims_of_5_hold_of_figure_5_and_not_of_another_function(name, monkeypatch):
    """Each is seen to fail where a part of what it compares is another one."""
    case = replace(TWO, points=TWO.points[: STATEMENTS[name].hypotheses.points])
    assert both(name, case) == (True, True)
    perturb(name, monkeypatch)
    assert both(name, case) == (False, False)


def perturb(name, monkeypatch):
    tangent, slope = regions.tangent, d_in_floats._tangent_in_floats
    vertices, loss, through = regions.domain_vertices, regions.loss, regions.through
    changes = {
        "D.S5.1.linear-program": [
            (regions, "_dominated", lambda *_: True),
            (d_in_floats, "domain_vertices", lambda d: [(ZERO,) * len(d.parts)]),
        ],
        "D.S5.2.family": [(regions, "PARTS", (Fraction(1, 8), Fraction(1, 2)))],
        "D.E4": [
            (regions, "tangent", lambda *_: [2 * v for v in tangent(*_)]),
            (d_in_floats, "_tangent_in_floats", lambda d, x: 2 * slope(d, x)),
        ],
        "D.S5.2.normal": [
            (regions, "along", lambda at, v: ([v[0] + 1], [], [])),
            (d_in_floats, "_tangent_in_floats", lambda d, x: slope(d, x) * [1.001, 1]),
        ],
        "D.S5.3.slopes.true": [
            (regions, "domain_vertices", lambda *_: [*vertices(*_), (ONE / 4, ONE * 2)]),
            (d_in_floats, "domain_vertices", lambda *_: [*vertices(*_), (ONE / 4, ONE * 2)]),
        ],
        "D.S5.3.smooth": [
            (trajectories.TrajectoryPoint, "b", np.array([[ONE, ONE * 2], [ONE, ONE * 2]])),
            (d_in_floats, "_height", lambda d, first, level: 1.0),
        ],
        "D.S5.3.limit": [(regions, "loss", lambda *_: loss(*_) + 1)],
        "D.S5.3.point": [
            (d_in_floats, "_tangent_in_floats", lambda d, x: slope(d, x) * 1.01),
            (regions, "through", lambda d, x: replace(through(d, x), e=[v + ONE / 100 for v in through(d, x).e][::-1])),
        ],
        "D.R2": [
            (d_in_floats, "barrier_value", lambda d, x: -100.0),
            (regions, "prod", lambda factors: 2),
        ],
        "D.S6.minimal-gap": [
            (complaints, "complaint", lambda *_: 1),
            (d_in_floats, "_largest_complaint", lambda *_: 1.0),
        ],
    }
    for place, part, other in changes[name]:
        monkeypatch.setattr(place, part, other)


def test_a_level_line_of_the_boundary_is_seen():
    whole = replace(TWO, instance=Instance([[1], [1]], [[1]]), points=())
    assert both("D.S5.3.slopes") == (False, False)
    assert both("D.S5.3.slopes", whole) == (True, True)
    with pytest.raises(NotApplicable, match="two users"):
        both("D.S5.3.slopes", Case(TWINS))


def test_halving_finds_the_point_of_the_market():
    """On a low level, and near the boundary: (3/5, 9/10) for entitlements of 2/5 and 3/5."""
    d = data(TWO)
    x = regions.equal_on_level(d, Fraction(1, 2**40))
    assert [float(v) for v in x] == pytest.approx([0.6, 0.9], rel=LEVELSET)
    assert [float(v) for v in regions.through(d, x).e] == pytest.approx([0.4, 0.6], rel=LEVELSET)
