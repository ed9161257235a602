"""The iterations that our own methods take on fixed instances, and the errors of the first: others are meant, or a fault.

Most faults of a start, a step or a limit of these methods leave a right answer, for it is judged; they cost iterations.
"""

from collections import Counter
from itertools import starmap
from math import log10

import pytest
from planted_games import game_with_variants

from fairalloc.models.examples import generators
from fairalloc.solvers import solve, solve_many
from fairalloc.solvers.game import variants_response
from fairalloc.solvers.game.best_response import ServerDual
from fairalloc.solvers.game.variants_response import ServerTurn
from fairalloc.solvers.running import listeners

FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "heavy_tailed", "sparse", "identical")

KNOWN = {
    ("interior-point", "drfh", 60, 20, 3): ((5, 7, 17, 13, 19, 11, 62, 6), -32.279),
    ("interior-point", "drfh", 300, 30, 3): ((11, 9, 25, 13, 26, 21, 105, 7), -33.699),
    ("interior-point", "nb", 60, 20, 3): ((13, 10, 7, 12, 11, 11, 7, 10), -26.443),
    ("interior-point", "nb", 300, 30, 3): ((15, 10, 9, 13, 13, 24, 7, 9), -20.919),
    ("interior-point", "mmf", 40, 10, 3): ((5, 5, 7, 9, 7, 5, 31, 6), -39.855),
    ("interior-point", "lmmf", 12, 4, 3): ((4, 4, 13, 5, 8, 6, 14, 4), -30.414),
    ("continuation", "alpha-pf-vds", 12, 6, 3): ((29, 23, 28, 28, 31, 29, 27, 29), -46.265),
    ("continuation", "ps-dsf", 12, 6, 3): ((38, 24, 31, 31, 33, 24, 18, None), -41.101),
    ("semismooth-newton", "alpha-pf-vds", 8, 4, 3): ((20, None, 27, 17, 21, 15, 11, None), -21.588),
    ("josephy-newton", "alpha-pf-vds", 8, 4, 3): ((10, 8, 12, 10, None, 10, 9, None), -26.059),
    ("best-response", "alpha-pf-vds", 8, 4, 3): ((45, 11, 131, 17, 399, 36, 2, 191), -26.583),
    ("best-response", "ps-dsf", 8, 4, 3): ((40, 4, 35, 40, 96, 40, 2, 18), -24.223),
    ("psdsf-distributed", "ps-dsf", 8, 4, 3): ((38, 4, 29, 24, 155, 36, 1, 17), -33.73),
    ("psdsf-algorithm-1", "ps-dsf", 8, 4, 3): ((40, 3, 28, 43, 157, 43, 1, 16), -33.137),
    ("pdhg", "nb", 8, 4, 3): ((960, 560, 1120, 2080, 1120, 1480, 1040, 1680), -34.676),
    ("njc-ode", "njc", 6, 1, 3): ((232, 268, 292, 280, 232, 232, 268, 220), 0.0),
}
"""By method, mechanism and size: the iterations for each family, and what `told` sums; alpha is 2.

None: with users alike or ties rounding decides, which is another's on each kind of processor: other numbers come of capacities
that are 1e-15 larger.
"""

EXACT = 10
"""Up to so many iterations are what they are on every machine; of more, a twentieth may be rounding."""

FIRST, LEAST, DRIFT = 5, 1e-3, 2e-3
"""The first so many errors of a method count as far as they are above the second; their logarithms add up to the same
number, up to the third: rounding between machines.
"""


@pytest.fixture
def heard(monkeypatch):
    """What methods tell, by call."""
    calls = []
    monkeypatch.setattr(listeners._Listener, "__init__", lambda self, *_: calls.append([]))
    monkeypatch.setattr(listeners._Listener, "hear", lambda self, facts: calls[-1].append(facts))
    monkeypatch.setattr(listeners._Listener, "tick", lambda self: None)
    return calls


def told(calls):
    """The sum of the logarithms of the first errors, over all calls."""
    errors = [[float(facts[name]) for facts in call for name in listeners.MEASURES if name in facts] for call in calls]
    return sum(log10(error) for call in errors for error in call[:FIRST] if error > LEAST)


def assert_same(taken, heard, before):
    iterations, errors = before
    assert not others(taken, iterations)
    known = [call for call, count in zip(heard, iterations, strict=True) if count is not None]
    assert told(known) == pytest.approx(errors, abs=DRIFT)


def others(taken, before):
    """(place, iterations, iterations before) where these are others."""
    known = [(place, k, n) for place, (k, n) in enumerate(zip(taken, before, strict=True)) if n is not None]
    return [(place, k, n) for place, k, n in known if abs(k - n) > (n > EXACT) * max(1, n / 20)]


@pytest.mark.few(13)
@pytest.mark.parametrize("run", KNOWN, ids=lambda run: "-".join(map(str, run)))
def test_the_iterations_are_what_they_were(run, heard):
    method, name, *size = run
    alpha = {"alpha": 2} if name == "alpha-pf-vds" else {}
    given = [getattr(generators, family)(*size, 1) for family in FAMILIES]
    assert_same([solve(one, name, method, "mid", progress=True, **alpha).iterations for one in given], heard, KNOWN[run])


SETS = {
    "games": (("finite", 12, 6, 3, 1), ("variants", 8, 4, 3, 1), (3,), (4,)),
    "one": ((4,),),
    "two": ((3,), (4,)),
    "limits": (("finite", 60, 20, 3, 1), ("badly_scaled", 40, 12, 3, 1), ("finite", 20, 40, 2, 2), ("planted", 15, 6, 3, 1)),
    "pools": (("generic", 60, 20, 3, 1), ("zero_demand", 60, 20, 3, 1), ("tied", 60, 20, 3, 1), ("generic", 200, 5, 4, 2)),
    "mixed": (("generic", 60, 20, 3, 1), ("finite", 60, 20, 3, 1), ("variants", 40, 12, 3, 1)),
    "small": (("finite", 8, 4, 3, 1), ("variants", 8, 4, 3, 1)),
    "plain": (("generic", 8, 4, 3, 1), ("zero_demand", 8, 4, 3, 1), ("placement", 8, 4, 3, 1), ("finite", 6, 3, 3, 2)),
    "many": tuple((family, 8, 3, 2, 1) for family in (*FAMILIES[:5], "finite")),
}
"""Families and sizes, or the seed of a game with variants: users with limits, with variants, in hostile units."""


def made(family, *size):
    return getattr(generators, family)(*size) if size else game_with_variants(family)


WIDER = {
    ("continuation", "alpha-pf-vds", 0.5, "games"): ((30, 30, 30, 32), -26.592),
    ("continuation", "alpha-pf-vds", 2, "games"): ((31, 32, 28, 34), -28.684),
    ("continuation", "alpha-pf-vds", 20, "games"): ((31, 71, 35, 36), -24.276),
    ("continuation", "alpha-pf-vds", "inf", "one"): ((39,), -4.954),
    ("best-response", "alpha-pf-vds", 0.5, "two"): ((10, 3), -3.969),
    ("best-response", "alpha-pf-vds", 2, "two"): ((4, 3), -2.52),
    ("best-response", "alpha-pf-vds", "inf", "one"): ((5,), -3.873),
    ("interior-point", "nb", None, "limits"): ((13, 12, 12, 8), -7.179),
    ("interior-point", "tsf", None, "limits"): ((12, 10, 7, 6), -22.214),
    ("interior-point", "fds", 0.3, "pools"): ((6, 8, 6, 8), -7.685),
    ("interior-point", "fds", 7.5, "pools"): ((4, 10, 5, 5), -15.722),
    ("interior-point", "alpha-fair", 0.5, "mixed"): ((13, 12, 9), 2.194),
    ("interior-point", "alpha-fair", 3, "mixed"): ((7, 13, 9), -9.921),
    ("pdhg", "nb", None, "small"): ((1280, 680), -13.094),
}
"""The same by method, mechanism, alpha and the set of instances."""


@pytest.mark.parametrize("run", WIDER, ids=lambda run: "-".join(map(str, run)))
def test_so_they_are_with_limits_and_variants(run, heard):
    method, name, alpha, kind = run
    parameters = {} if alpha is None else {"alpha": alpha}
    given = starmap(made, SETS[kind])
    assert_same([solve(one, name, method, "mid", progress=True, **parameters).iterations for one in given], heard, WIDER[run])


STACKED = {"nb": (7, 6, 7, 6, 7, 7), "drfh": (7, 6, 18, 6, 16, 14), "mmf": (5, 4, 5, 5, 5, 5)}


@pytest.mark.parametrize("name", STACKED)
def test_so_they_are_for_many_at_once(name):
    answers = solve_many(list(starmap(made, SETS["many"])), name)
    assert not others([answer.iterations for answer in answers], STACKED[name])


DUAL, PATH = ("newton", "clear_prices"), ("path", "ScaledLU", "least_step")

INNER = {
    (0.5, "plain"): (548, 27),
    (0.5, "two"): (7, 151, 85),
    (2, "plain"): (573, 33),
    (2, "two"): (6, 133, 45),
    (20, "plain"): (737, 162),
    (20, "two"): (6, 136, 88),
}
"""Calls of these by alpha and the set of instances, in the first twelve sweeps."""


@pytest.mark.parametrize(("alpha", "kind"), INNER)
def test_a_servers_answer_takes_as_many_steps_as_it_did(alpha, kind, monkeypatch):
    """Of the dual Newton steps and rounds of clearing; with variants paths, steps along them and steps with a guess."""
    count = Counter()

    def counted(owner, name):
        own = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given: (count.update([name]), own(*given))[1])

    names = DUAL if kind == "plain" else PATH
    for name in names:
        counted(ServerDual if name in DUAL else ServerTurn if name == "path" else variants_response, name)
    for instance in starmap(made, SETS[kind]):
        solve(instance, "alpha-pf-vds", "best-response", "low", alpha=alpha, options={"max_iterations": 12})
    assert not others([count[name] for name in names], INNER[alpha, kind])


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
