"""Every claim is confirmed by another route than the one that tried it, or has a second implementation here.

Both agree on samples, and each is seen to fail.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from types import SimpleNamespace

import d_in_floats
import endless_rounds
import k_in_floats
import numpy as np
import p_in_floats
import pytest
import w_in_floats
import z_in_floats
from scipy.optimize import brentq
from tolerances import DIFFERENCES, ROUNDING, SHARES

from fairalloc.models import Allocation, FairallocError, Instance, NotApplicable
from fairalloc.models.exact.rationals import as_ball, exact_arcs
from fairalloc.models.examples.published import example
from fairalloc.solvers import solve
from fairalloc.solvers.game.ps_mfa import projected
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers import game
from fairalloc.theorems.checkers.checked import checked
from fairalloc.theorems.papers.d import complaints as complaints_d
from fairalloc.theorems.papers.k import directions, formulas, problem_1, problem_3
from fairalloc.theorems.papers.k import trials as claims_k
from fairalloc.theorems.papers.k.problem_3 import Surd, root
from fairalloc.theorems.papers.p import algorithm_1
from fairalloc.theorems.papers.p import trials as claims_p
from fairalloc.theorems.papers.w import trials as claims_w
from fairalloc.theorems.papers.z import trials as of_z
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.witnesses import packaged, parse_case

F = Fraction
STATEMENTS = all_statements()
CHEAP = [
    "K.T1",
    "K.L1",
    "K.T6",
    "K.5.1.eligible",
    "P.C1",
    "P.A1.feasible",
    "P.A1.rising",
    "P.A1.later",
    "W.S4.5.mean",
    "W.S3.2.non-wasteful",
    "K.5.1.assumption-2",
    "W.S5.2.better",
    "W.S5.2.worse",
    "D.S5.dummies",
    "D.R1",
]
SECOND = k_in_floats.SECOND | w_in_floats.SECOND | p_in_floats.SECOND | z_in_floats.SECOND | d_in_floats.SECOND
EXACT = p_in_floats.OTHER

COUNTS = dict.fromkeys(CHEAP, 200) | {
    "K.E104": 60,
    "K.3.1.concave": 60,
    "K.E23": 60,
    "K.E28": 60,
    "K.E36": 60,
    "K.E98": 60,
    "K.E45": 60,
    "P.II-A.max-min": 30,
    "P.A1.increase": 60,
    "P.III-D.local": 30,
    "K.E105": 60,
    "K.E110": 60,
    "K.E57": 60,
    "K.Fn8.true": 60,
    "K.5.2.rest": 60,
    "K.3.4.mixed.definition": 60,
    "K.3.1.existence": 15,
    "K.T7.bottleneck": 8,
    "K.T8.start": 3,
    "K.5.2": 3,
    "P.A1.defined": 60,
    "P.A1.realizes": 60,
    "P.A1.ends": 60,
    "P.III-D": 60,
    "Z.P2": 20,
    "Z.V.NB.CE": 20,
    "Z.T1.case3": 60,
    "D.E4": 60,
    "D.S5.1.linear-program": 60,
    "D.S5.3.limit": 15,
    "D.S6.minimal-gap": 60,
}
"""Cases that both routes are tried on."""

SOLVED = Case(Instance([[1], [1]], [[2]]), points=((F(1), F(1)),), parameters={"alpha": 2, "price": 1})
"""An equilibrium and its price."""

UNSOLVED = replace(SOLVED, points=((F(1, 2), F(3, 2)),))
NOBODY = Case(Instance([[1, 1], [0, 1]], [[1, 1], [0, 1]]))
"""User 1 is done with r1 of the first server, user 2 is all on the second one."""

LATER = Case(Instance([[1], [1], [1]], [[1], [1]], eligible=[[1, 0], [1, 1], [0, 1]]))
"""Server 2 takes tasks from user 2, whose share is then below that of user 1 on server 1. Rounds do not end."""


def parts(check):
    """What a check is made of: its code with what is bound to it."""
    if isinstance(check, partial):
        return parts(check.func), check.args, check.keywords
    return check.__code__, [cell.cell_contents for cell in check.__closure__ or ()]


def samples(statement, count, seed=0):
    rng, made = np.random.default_rng(seed), []
    while len(made) < count:
        try:
            case = statement.hypotheses.sample(rng, statement.misreports).case()
        except FairallocError:
            continue
        made += [case] if statement.applies_to(case) else []
    return made


def verdict(check, case):
    """What it says; "" where the claim is not about the case."""
    try:
        return check(case).holds
    except FairallocError:
        return ""


def witness(name):
    return parse_case(next(w for w in packaged().witnesses if w["statement"] == name)["case"])


def scaled(factor):
    """Solve, with all tasks multiplied afterwards, and the residual that this makes."""

    def wrong(*args, **kwargs):
        found = solve(*args, **kwargs)
        residuals = {"definition": max(found.residual, 1 - factor)}
        return replace(found, x=found.x * factor, x_exact=None, prices=None, residuals=residuals)

    return wrong


def test_no_statement_is_confirmed_by_what_tried_it():
    again = [s.id for s in STATEMENTS.values() if s.quantifier != "one" and parts(s.trial) == parts(s.confirm)]
    again.remove("K.T7")  # nothing decides it
    assert sorted(again) == sorted(SECOND), "unless it has a second implementation"
    assert parts(checked("K.Fn8")) == parts(checked("K.Fn8")), "it can fail"


@pytest.mark.few(1)
@pytest.mark.parametrize("name", COUNTS)
def test_both_routes_agree(name):
    statement = STATEMENTS[name]
    one, other = (statement.trial, EXACT[name]) if name in EXACT else (SECOND.get(name, statement.trial), statement.confirm)
    said = [(verdict(one, case), verdict(other, case)) for case in samples(statement, COUNTS[name])]
    undecided = name in ("K.T8.start", "K.5.2")
    assert all(tried == sure or (undecided and None in (tried, sure)) for tried, sure in said)
    assert sum(True in pair or False in pair for pair in said) >= min(COUNTS[name] / 4, 3)


BY_SCRIPT = ("checked", "seen_by_script")
CHECKED = [
    s.id for s in STATEMENTS.values() if getattr(s.confirm, "__qualname__", "").startswith(BY_SCRIPT) and s.quantifier != "one"
]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", CHECKED)
def test_what_a_script_confirms_was_tried(name):
    """The check of a script is about some violations alone, and about nothing else."""
    statement = STATEMENTS[name]
    case = statement.printed or witness(name)
    assert seen(name, case) == (False, False)
    said = [seen(name, case) for case in samples(statement, 20)]
    assert all(tried is False for tried, sure in said if sure is False)


# ---- each is seen to fail -----------------------------------------------------------------------------------------------


def seen(name, case):
    """Both verdicts."""
    return verdict(SECOND.get(name, STATEMENTS[name].trial), case), verdict(STATEMENTS[name].confirm, case)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("K.4.4.bounded", witness("K.4.4.bounded"), Case(Instance([[1, 0], [1, 0]], [[1, 1]]))),
        ("K.5.1.eligible", witness("K.5.1.eligible"), Case(Instance([[1], [1]], [[1], [1]]))),
        (
            "P.A1.feasible",
            witness("P.A1.feasible"),
            Case(Instance([[1, 1], [0, 1]], [[1, 1], [1, 1]], eligible=[[1, 1], [0, 1]])),
        ),
        ("P.A1.defined", NOBODY, Case(Instance([[1, 1], [0, 1]], [[1, 1]]))),
        ("P.A1.ends", LATER, Case(Instance([[1], [1]], [[1], [1]]))),
        ("P.A1.later", LATER, Case(Instance([[1], [1]], [[1], [1]]))),
        ("D.R1", witness("D.R1"), Case(Instance([[1]], [[1]]), points=((F(1),),))),
        ("D.R1", witness("D.R1"), Case(Instance([[1]], [[1]]), points=((F(1, 2),),))),
        ("W.S5.2.better", Case(example("wang-fig2").instance), witness("W.S5.2.worse")),
        ("W.S5.2.worse", witness("W.S5.2.worse"), Case(example("wang-fig2").instance)),
    ],
)
def test_violations_are_seen_by_both_routes(name, wrong, right):
    assert seen(name, wrong) == (False, False)
    assert seen(name, right) == (True, True)
    assert STATEMENTS[name].trial(wrong).margin > 0 >= STATEMENTS[name].trial(right).margin


def test_lemma_1_of_k_with_another_merit(monkeypatch):
    assert seen("K.L1", SOLVED) == seen("K.L1", UNSOLVED) == (True, True)
    monkeypatch.setattr(problem_3, "root", lambda _: None)
    monkeypatch.setattr(k_in_floats.MeritPoint, "value", 1.0)
    assert seen("K.L1", SOLVED) == (False, False)
    assert STATEMENTS["K.L1"].trial(SOLVED).margin > 0


def test_theorem_6_of_k_with_another_gradient(monkeypatch):
    assert seen("K.T6", SOLVED) == seen("K.T6", UNSOLVED) == (True, True)
    monkeypatch.setattr(problem_3, "psi_slope", lambda _a, _b: Surd())
    monkeypatch.setattr(k_in_floats.Merit, "gradient", lambda self, y, mu: (0 * y, 0 * mu))
    assert seen("K.T6", UNSOLVED) == (False, False)
    assert seen("K.T6", SOLVED) == (True, True)


def test_lemma_3_of_k_fails_where_only_prices_move_that_psi_does_not_see():
    """In both readings, by both routes; Psi rises along v, and with other prices something descends again."""
    case = directions.LEMMA_3
    for letter in (False, True):
        at = k_in_floats.PsMfaDirection(case, letter)
        assert np.abs(at.v_x).max() <= ROUNDING * 1000
        assert np.abs(at.by_price[at.v_price > 1e-3]).max() <= ROUNDING * 1000, "what moves is what Psi does not see"
        assert seen("K.L3.letter" if letter else "K.L3", case) == (False, False)
    prices = case.parameters["prices"]
    other = replace(case, parameters={"alpha": 3, "prices": tuple(v * F(101, 100) for v in prices)})
    assert seen("K.L3.letter", other) == (True, True)
    wrong = replace(case, parameters={"alpha": 3, "prices": (prices[0],) * len(prices)})
    assert STATEMENTS["K.L3.letter"].confirm(wrong).holds, "a resource with room has a price, against (40)"


def test_prices_of_resources_with_room_move():
    case = witness("K.E48")
    assert seen("K.E48", case) == (False, False)
    full = replace(case, points=((case.instance.exact.capacities[0][0] / case.instance.exact.demands[0][0][0],),))
    assert seen("K.E48", full) == (True, True)


def test_steps_of_proofs_of_k_are_seen_to_fail(monkeypatch):
    assert seen("K.E107", formulas.ALIKE) == (False, False)
    unlike = Case(Instance([[1], [1]], [[1], [2]]), points=((F(1, 3), F(2, 3)) * 2,), parameters={"alpha": 2, "A": 1, "B": 1})
    assert seen("K.E107", unlike) == ("", True), "users do not pay alike"
    assert seen("K.E116", directions.LEMMA_4) == (False, False)
    assert seen("K.E110", UNSOLVED) == (True, True)
    monkeypatch.setattr(problem_3.ExactMeritPoint, "projection", lambda *_: ([Surd.of(1)], [Surd.of(2)]))
    monkeypatch.setattr(k_in_floats, "projected", lambda g, *_: 2 * g)
    assert seen("K.E110", UNSOLVED) == (False, False)
    weighted = Case(Instance([[1]], [[2]], weights=[3]), points=((F(1),),), parameters={"alpha": 2, "A": 1, "B": 1})
    assert [check(weighted).holds for check in (k_in_floats.omega_in_floats, formulas.omega)] == [False, False]


def test_theorem_1_of_k_with_another_utility(monkeypatch):
    case = replace(UNSOLVED, points=(UNSOLVED.points[0], (F(1), F(1))), parameters={"alpha": 2})
    assert seen("K.T1", case) == (True, True)
    slope, risen = problem_1.Reallocation.slope, k_in_floats._risen
    monkeypatch.setattr(problem_1.Reallocation, "slope", lambda self: slope(self) / 8)
    monkeypatch.setattr(k_in_floats, "_risen", lambda *args: 8 * risen(*args))
    assert seen("K.T1", case) == (False, False)
    monkeypatch.setattr(problem_1.Reallocation, "slope", slope)
    monkeypatch.setattr(problem_1.Reallocation, "gained", lambda *_: as_ball(-1))
    monkeypatch.setattr(k_in_floats, "_risen", lambda *_: -1.0)
    assert seen("K.T1", case) == (False, False), "(16) is positive and no move gains"


@pytest.mark.parametrize("alpha", [1, 2, 3, F(1, 2), F(3, 2)])
def test_utilities_and_their_slopes_are_enclosed_for_each_alpha(alpha):
    """Against floats; where everything that a user has is taken, U is -inf for alpha >= 1 alone."""
    z, step, unit, phi = (F(2), F(3, 5)), (F(1, 2), F(-1, 3)), (F(1), F(2)), (F(1), F(3))
    move = problem_1.Reallocation(z, step, unit, phi, F(alpha))

    def utility(part):
        g = np.log if alpha == 1 else lambda s: s ** (1 - float(alpha)) / (1 - float(alpha))
        return sum(float(p) * g(float(s + part * v / o)) for s, v, o, p in zip(z, step, unit, phi, strict=True))

    assert float(move.slope()) == pytest.approx((utility(F(1, 10**6)) - utility(-F(1, 10**6))) / 2e-6, rel=DIFFERENCES)
    for part in (F(1), F(1, 3)):
        assert float(move.gained(part)) == pytest.approx(utility(part) - utility(0), rel=SHARES)
        assert problem_1.sign(lambda part=part: move.gained(part) - move.slope() * as_ball(part)) == -1, "strictly concave"
    assert problem_1.Reallocation(z, (F(0), F(-6, 5)), unit, phi, F(alpha)).ruins() == (alpha >= 1)
    swapped = problem_1.Reallocation((F(1), F(2)), (F(1), F(-1)), (F(1), F(1)), (F(1), F(1)), F(alpha))
    assert problem_1.sign(swapped.gained, problem_1.MOST_BITS) == 0, "shares are exchanged"


@pytest.mark.parametrize("alpha", [0.5, 2, 1.5, "inf"])
def test_a_point_that_is_no_equilibrium_leaves_something(alpha, monkeypatch):
    case = Case(example("khamse-fig3").instance, parameters={"alpha": alpha})
    assert seen("K.3.1.existence", case) == (True, True)
    x = game.rational(case.instance, solve(case.instance, "alpha-pf-vds", accuracy="high", alpha=alpha).x)
    low, high = game.gain_left(case.instance, x, case.parameters)
    assert 0 <= low <= high < 1e-6
    low, high = game.gain_left(case.instance, tuple(v * F(9, 10) for v in x), case.parameters)
    assert 0.09 < low <= high < (0.4 if alpha == "inf" else 0.11)  # of P's gap, what is free by what a user runs
    monkeypatch.setattr(problem_1, "solve", scaled(0.9))
    monkeypatch.setattr(problem_1, "exact_levels", game.rational)
    monkeypatch.setattr(k_in_floats, "solve", scaled(0.9))
    assert seen("K.3.1.existence", case) == (None, None), "existence is not refuted by a point"


def test_steps_that_add_up_to_too_little():
    """Both routes agree; a rule of steps that may pass the end of the bounds refutes nothing."""
    said = Counter()
    for alpha, start, first, shrink in product((1, 2, 3), (F(1, 2), F(3, 4)), (F(1, 2), F(1)), (F(1, 2), F(3, 4))):
        case = replace(directions.RUN, points=((start, start),), parameters={"alpha": alpha, "first": first, "shrink": shrink})
        tried, sure = k_in_floats.small_steps(case), STATEMENTS["K.T8.steps"].confirm(case)
        assert tried.holds == sure.holds == (first > 1 - shrink)
        said[sure.holds] += 1
    assert min(said.values()) > 5
    with pytest.raises(NotApplicable, match="to itself"):
        STATEMENTS["K.T8.steps"].confirm(
            replace(directions.RUN, instance=Instance([[1], [1]], [[2], [1]], eligible=[[1, 0], [0, 1]]))
        )


@pytest.mark.parametrize("name", ["P.A1.realizes", "P.III-D", "K.T8.start", "K.5.2"])
def test_a_run_that_ends_elsewhere_is_seen(name, monkeypatch):
    case = Case(Instance([[1, 2], [2, 1]], [[6, 6]]), parameters={"alpha": 2} if name.startswith("K") else {})
    assert seen(name, case) == (True, True)
    monkeypatch.setattr(game, "solve", scaled(0.9))
    assert seen(name, case) == (False, False)


def test_numbers_of_two_solves_that_differ(monkeypatch):
    case = Case(Instance([[1], [1]], [[2]]), parameters={"alpha": 2, "A": 1, "B": 1})
    assert seen("K.T7.bottleneck", case) == (True, True)
    certified = problem_1.certified
    monkeypatch.setattr(problem_1, "certified", lambda *args: SimpleNamespace(**_halved(certified(*args))))
    found = iter([[1.0, 1.0], [1.0, 1.1]])
    monkeypatch.setattr(k_in_floats, "solve", lambda *_args, **_own: SimpleNamespace(residual=0.0, tasks=np.array(next(found))))
    assert seen("K.T7.bottleneck", case) == (False, False)


def _halved(h):
    """The numbers of an allocation, the first user's tasks halved."""
    x = np.array([h.x[0] / 2, *h.x[1:]], dtype=object)
    return {"x": x, "tasks": x, "weights": h.weights, "gamma": h.gamma}


def test_corollary_1_of_p_is_tried_against_the_definition_of_a_bottleneck(monkeypatch):
    """(15) had been compared with itself."""
    assert verdict(STATEMENTS["P.C1"].confirm, SOLVED) is True
    monkeypatch.setattr(algorithm_1, "is_bottleneck", lambda *_: False)
    assert verdict(STATEMENTS["P.C1"].confirm, SOLVED) is False


def test_corollary_1_of_p_without_its_second_condition(monkeypatch):
    assert seen("P.C1", UNSOLVED) == (True, True)
    monkeypatch.setattr(algorithm_1, "condition_15", lambda *_: True)
    monkeypatch.setattr(p_in_floats, "condition_15", lambda *_: True)
    assert seen("P.C1", UNSOLVED) == (False, False)


def test_minima_that_fall_are_seen(monkeypatch):
    case = next(case for case in samples(STATEMENTS["P.A1.rising"], 200) if _rises(case))
    assert seen("P.A1.rising", case) == (True, True)
    run, exact = p_in_floats.server_procedure, algorithm_1.procedure
    monkeypatch.setattr(p_in_floats, "server_procedure", lambda *args: ((made := run(*args))[0], made[1][::-1]))
    monkeypatch.setattr(algorithm_1, "procedure", lambda *args: list(exact(*args))[::-1])
    assert seen("P.A1.rising", case) == (False, False)


def test_rounds_that_go_on_for_ever():
    """Changes in one ratio are not enough: the script must show that they go on."""
    assert seen("P.A1.ends", LATER) == (False, False)
    assert endless_rounds.ends(LATER).holds is False
    four = Instance([[1], [1], [1], [1]], [[1], [1], [1]], eligible=[[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert algorithm_1.ends(Case(four)).holds is False
    assert seen("P.A1.ends", Case(four)) == (False, None), "one user more than the script is about"
    ended = Case(Instance([[1], [1]], [[1], [1]]))
    assert "ends after" in STATEMENTS["P.A1.ends"].confirm(ended).sentence


def test_rounds_that_go_on_for_ever_are_proved_to():
    """A quarter of the change before; another ratio, or a limit that is reached, is no such proof."""
    rounds = endless_rounds.ExactRounds.of(LATER.instance)
    x = algorithm_1.drf_on_each_server(LATER.instance, rounds.places)
    once, _ = rounds.after(x)
    change = {a: once[a] - x[a] for a in x}
    assert not any(once[a] + change[a] / 3 == v for a, v in rounds.after(once)[0].items() if change[a])
    twice, _ = rounds.after(once)
    change = {a: twice[a] - once[a] for a in once}
    assert rounds.go_on_from(twice, change, F(1, 4))
    assert not rounds.go_on_from(twice, change, F(1, 3))
    ended = Case(Instance([[1], [1]], [[1], [1]]))
    assert "ends after" in endless_rounds.ends(ended).sentence


def test_signs_of_rational_functions_hold_below_the_bound():
    rng = np.random.default_rng(0)
    for _ in range(40):
        bounds = [F(1)]
        e = endless_rounds.Germ.variable(bounds)
        a, b, c, d = (F(int(v)) for v in rng.integers(-4, 5, 4))
        made = (a + b * e) * (e - c) / (1 + e * e * 3) - d * e / (2 + e)
        sign = made.sign()
        small = min(bounds) * F(99, 100)
        value = (a + b * small) * (small - c) / (1 + small * small * 3) - d * small / (2 + small)
        assert sign == (value > 0) - (value < 0)


def _rises(case):
    """Whether some server has two updates in a row in the first round."""
    places = algorithm_1.ServerInRationals.all_of(case.instance)
    x = algorithm_1.drf_on_each_server(case.instance, places)
    return any(len(set(algorithm_1.procedure(place, x))) > 1 for place in places)


def test_a_mean_over_some_ways_only(monkeypatch):
    case = Case(example("wang-fig2").instance)
    assert seen("W.S4.5.mean", case) == (True, True)
    monkeypatch.setattr(w_in_floats, "product", lambda *args, **own: list(product(*args, **own))[1:])
    monkeypatch.setattr(claims_w, "alone", lambda d, a: min(x / y for x, y in zip(a, d, strict=True)) ** 2)
    assert seen("W.S4.5.mean", case) == (False, False)


def test_too_many_steps_and_wrong_prices_are_seen(monkeypatch):
    case = Case(example("zarchy-nb").instance)
    assert seen("Z.P2", case) == (True, True)
    x, prices, steps = z_in_floats.centre_path(case.instance, 1e-6)
    assert steps < 60
    assert z_in_floats.proved_gap(case.instance, x, prices) < 1e-5
    assert z_in_floats.proved_gap(case.instance, x, prices * 1.1) > 1e-3
    assert z_in_floats.proved_gap(case.instance, x * 0.9, prices) > 1e-3
    monkeypatch.setattr(of_z, "STEPS", 5)
    assert seen("Z.P2", case) == seen("Z.V.NB.CE", case) == (False, False)
    monkeypatch.setattr(z_in_floats, "centre_path", lambda *_: (x, prices * 1.1, steps))
    assert verdict(SECOND["Z.P2"], case) is None


def test_without_dummies_somebody_who_has_it_all_complains(monkeypatch):
    case = Case(Instance([[1], [2]], [[4]], max_tasks=[1, 1]), points=((F(1), F(1)),))
    assert seen("D.S5.dummies", case) == (True, True)
    largest = d_in_floats._largest_complaint
    monkeypatch.setattr(complaints_d, "with_dummies", lambda requests: requests)
    monkeypatch.setattr(d_in_floats, "_largest_complaint", lambda x, r, e, content: largest(x, r[:, :1], e, content))
    assert seen("D.S5.dummies", case) == (False, False)


# ---- what exact routes rest on -------------------------------------------------------------------------------------------


def test_roots_are_compared_exactly():
    assert root(F(9, 4)) == F(3, 2)
    assert root(F(2)) is root(F(1, 2)) is None
    assert (Surd.of(1, F(2)) + Surd.of(1, F(8)) - Surd.of(3, F(2))).terms == {}
    assert (Surd.of(1, F(1, 2)) - Surd.of(F(1, 2), F(2))).sign() == 0
    near = Surd.of(1, F(10**40 + 1)) - Surd.of(10**20)
    assert near.sign() == 1
    assert (near * F(-1)).sign() == -1
    rng = np.random.default_rng(0)
    for _ in range(50):
        q, s = rng.integers(-5, 6, 4).tolist(), rng.integers(1, 30, 4).tolist()
        sum_ = sum((Surd.of(a, F(b)) for a, b in zip(q, s, strict=True)), Surd())
        floats = sum(a * b**0.5 for a, b in zip(q, s, strict=True))
        assert sum_.sign() == (0 if abs(floats) < ROUNDING * 100 else np.sign(floats))
        assert float(sum_) == pytest.approx(floats, abs=ROUNDING * 100)


def merit(case, x, price):
    """Psi in floats, in K's letters."""
    arcs, alpha = exact_arcs(case.instance), case.parameters["alpha"]
    tasks, phi = np.bincount(arcs.user, x), case.instance.weights
    total = 0.0
    for a, (n, load) in enumerate(zip(arcs.user, arcs.load, strict=True)):
        gamma = 1 / max(float(p) for _, p in load)
        f = sum(price.get(row, 0.0) * float(p) for row, p in load) - (tasks[n] / (phi[n] * gamma)) ** -alpha / gamma
        total += 0.5 * (np.hypot(x[a], f) - x[a] - f) ** 2
    return total


def test_derivatives_of_the_merit_are_those_of_difference_quotients():
    for case in (c for c in samples(STATEMENTS["K.E111"], 60, 3) if all(exact_arcs(c.instance).tasks(c.points[0]))):
        point = problem_3.ExactMeritPoint.of(case)
        x, price = np.array([float(v) for v in point.x]), {row: float(v) for row, v in point.price.items()}
        scale = 1 + max(float(abs(f)) for f in point.f) ** 2 + max(float(v) for v in point.rise) ** 2
        for a, slope in enumerate(point.by_x()):
            up, down = (merit(case, x + h * np.eye(len(x))[a], price) for h in (1e-6, -1e-6))
            if x[a] > 1e-3 and scale < 1e3:
                assert float(slope) == pytest.approx((up - down) / 2e-6, abs=DIFFERENCES * scale)
        for row, slope in point.by_price().items():
            up, down = (merit(case, x, price | {row: price.get(row, 0.0) + h}) for h in (1e-6, -1e-6))
            assert float(slope) == pytest.approx((up - down) / 2e-6, abs=DIFFERENCES * scale)


def test_the_projection_is_that_of_least_squares():
    rng = np.random.default_rng(1)
    for _ in range(60):
        rows, users = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        normals = {r: [F(int(v)) for v in rng.integers(0, 4, users)] for r in range(rows)}
        normals = {r: d for r, d in normals.items() if any(d)}
        normals = normals or {0: [F(1)] * users}
        price = {r: F(1) for r in normals if rng.random() < 0.5}
        g = [Surd.of(int(a), F(int(b))) for a, b in rng.integers(1, 6, (users, 2)) * [[1, 1]]]
        g = [v * F(int(rng.choice([-1, 1]))) for v in g]
        point = problem_3.ExactMeritPoint((), (), (), (), (), (), tuple(normals), price)
        v = next(point._projections(g, normals))
        d = np.array([[float(x) for x in row] for row in normals.values()]).reshape(-1, users).T
        near = projected(np.array([float(x) for x in g]), d, np.array([r in price for r in normals], dtype=bool))
        assert [float(x) for x in v] == pytest.approx(near.tolist(), abs=ROUNDING * 1e3)


def test_vertices_have_the_optima_of_linear_programs():
    from fairalloc.analysis.linear import maximum

    for case in samples(STATEMENTS["K.5.1.eligible"], 20):
        matrix = case.instance.arcs.load.tocsr()
        for here in game.arcs_of_servers(case.instance):
            worth = np.random.default_rng(0).random(len(here))
            best = max(sum(w * float(v) for w, v in zip(worth, y, strict=True)) for y in game.vertices(case.instance, here))
            assert best == pytest.approx(maximum(worth, matrix[:, here], np.ones(matrix.shape[0]), False).value, rel=SHARES)


TWO, BELOW, MIXED, ISOLATED = (claims_k.cases[name] for name in ("tied", "tied-below", "tied-mixed", "isolated"))
APART = replace(TWO, points=(TWO.points[0], (F(1), F(0), F(0), F(1))))
WEIGHTED = Case(Instance([[1], [1]], [[2]], weights=[1, 2]), points=((F(1), F(1)),), parameters={"alpha": 3, "A": 1, "B": 1})
EMPTY = Case(Instance([[1]], [[1]]), points=((F(0),),))


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("K.3.4.ties", TWO, APART),
        ("K.3.4.ties.below", BELOW, replace(BELOW, points=(BELOW.points[0], (F(0), F(1, 4), F(1, 4), F(0))))),
        ("K.3.4.ties.mixed", MIXED, replace(MIXED, points=(MIXED.points[0], (F(1), F(0), F(0), F(1))))),
        ("K.L2", ISOLATED, replace(ISOLATED, parameters={"alpha": 20, "B": F(1, 2)})),
        ("K.E104", WEIGHTED, replace(WEIGHTED, parameters={"alpha": 3, "A": 1, "B": 0})),
        ("K.Fn8", replace(EMPTY, points=((F(1),),)), None),
    ],
)
def test_formulas_as_printed(name, wrong, right):
    assert seen(name, wrong) == (False, False)
    assert right is None or seen(name, right) == (True, True)


def test_the_penalty_that_is_meant_is_told_from_others(monkeypatch):
    full = replace(EMPTY, points=((F(9, 10),),))
    assert seen("K.Fn8.true", full) == seen("K.Fn8.true", EMPTY) == (True, True)
    monkeypatch.setattr(formulas, "_added", lambda excess: -(excess**2))
    assert verdict(STATEMENTS["K.Fn8.true"].confirm, full) is False


def test_who_rests_with_less_than_its_part_is_seen(monkeypatch):
    """A user who is alone rests at 9/10 of its server for epsilon = 1/4, which is no less than 3/4 of it, but than twice."""
    case = replace(EMPTY, points=((F(9, 10),),), parameters={"epsilon": F(1, 4)})
    assert seen("K.E57", case) == (True, True)
    kept = formulas._kept
    monkeypatch.setattr(formulas, "_kept", lambda shares, _: kept(shares, -1))
    monkeypatch.setattr(k_in_floats, "kept", lambda _: 2)
    assert seen("K.E57", case) == (False, False)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 3])
def test_the_price_of_57_is_bounded_for_any_alpha(alpha):
    """By the proof of K.E57, which was claimed for alpha >= 1 alone; z = x / phi of users who share a resource of capacity 1."""
    phi = np.array([1.0, 3.0])
    bound = 8 * max((1 / (4 * phi)) ** -alpha)

    def load(price):  # where g'(z) = z^-alpha is the price
        return phi.sum() * price ** (-1 / alpha)

    for epsilon in (0.01, 0.001):
        price = brentq(lambda p, e=epsilon: load(p) - 1 + e - e**2 * p, 1e-3, 1e6)
        assert price <= bound
        assert load(price) == pytest.approx(1, abs=epsilon * (1 + epsilon * bound))


def test_an_iteration_that_rests_elsewhere_is_seen(monkeypatch):
    assert seen("K.5.2.rest", SOLVED) == seen("K.5.2.rest", UNSOLVED) == (True, True)
    monkeypatch.setattr(problem_3.ExactMeritPoint, "complementary", lambda _: True)
    monkeypatch.setattr(k_in_floats.MeritPoint, "value", 0.0)
    assert seen("K.5.2.rest", UNSOLVED) == (False, False)


def test_along_an_edge_tasks_rise_together():
    """Between the two equilibria of K.3.4.ties everything is one: the solutions are a polytope, not isolated points."""
    x, y = TWO.points
    for part in (F(1, 3), F(1, 2)):
        between = tuple(a + part * (b - a) for a, b in zip(x, y, strict=True))
        assert game.gain_left(TWO.instance, between, TWO.parameters) == (0, 0)
    assert exact_arcs(TWO.instance).tasks(y) == (F(12, 5), F(12, 5))
    one_end = (*x[:1], *y[1:2], *x[2:])
    assert game.gain_left(TWO.instance, one_end, TWO.parameters)[0] > 0, "one server alone leaves the ratio"


def test_the_induction_of_p_fails_where_somebody_may_use_one_server_alone():
    claim = STATEMENTS["P.E41"]
    assert claim.confirm(claim.printed).margin == pytest.approx(1 / 3 - 5 / 24)
    everywhere = claim.printed.instance.replace(eligible=[[0, 1], [1, 1], [1, 1]])
    assert claim.confirm(Case(everywhere)).holds


def test_the_induction_of_p_fails_where_a_part_is_no_longer_kept():
    claim = STATEMENTS["P.E41.freed"]
    assert claim.confirm(claim.printed).holds is False
    rest = Instance([[2, 1], [1, 2]], [["2/3", "2/3"]])
    tasks = [solve(item, "ps-dsf", "exact").tasks_exact[:2] for item in (rest, claim.printed.instance)]
    assert tasks == [(F(2, 9), F(2, 9)), (F(1, 5), F(1, 5))]
    alike = claim.printed.instance.replace(demands=[[1, 1]] * 3)
    assert claim.confirm(Case(alike)).holds, "each has a third, before and after"


def test_nobody_of_a_coalition_of_all_needs_to_lose():
    """W Proposition 3, case 2, by the solver; with a third user, who reports the truth, somebody loses."""
    claim = STATEMENTS["W.P3.case2"]
    assert claim.confirm(claim.printed).holds is False
    after = solve(claim.printed.reported, "drfh", "exact")
    assert [*after.tasks_exact, *solve(claim.printed.instance, "drfh", "exact").tasks_exact] == [F(3, 4)] * 2 + [F(1, 2)] * 2
    parts = [[v * u for v in row[0]] for row, u in zip(claim.printed.reported.exact.demands, after.tasks_exact, strict=True)]
    needs = [row[0] for row in claim.printed.instance.exact.demands]
    assert [min(b / a for a, b in zip(*pair, strict=True)) for pair in zip(needs, parts, strict=True)] == [F(1, 2)] * 2
    joined = Instance([[1, 1, "1/2"], [1, "1/2", 1], [1, 1, 1]], [[1, 1, 1]])
    assert claim.confirm(replace(claim.printed, instance=joined)).holds, "the coalition is not of all"


def test_a_server_that_goes_to_the_wrong_user_is_seen():
    """User 1 needs twice as much of server 1."""
    case = Case(Instance([[1, 1], [1, 1]], [[1, 2], [2, 4]], demands_on={(0, 0): [[2, 2]]}))
    right, wrong = ((F(0), F(2), F(1), F(0)), (F(1, 2), F(0), F(0), F(2)))
    for x, holds in ((right, True), (wrong, False)):
        made = Allocation(case.instance, np.array([float(v) for v in x]), x_exact=x)
        assert claims_p._one_ratio(case, lambda _, made=made: made).holds is holds
