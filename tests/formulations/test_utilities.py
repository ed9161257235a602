"""Utilities of one's own in the game of K: what they are checked for, and what they give."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tolerances import EXACT, RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.formulations.game.marginal import Marginals

AGREE = {"rtol": 1e-6, "atol": 1e-9}
"""Two routes at "high"."""

POOL = fa.Instance([[1], [1]], [[1]])
LOG, LOG1P, SQUARE = fa.Utility(lambda z: 1 / z), fa.Utility(lambda z: 1 / (1 + z)), fa.Utility(lambda z: 1 / (1 + z) ** 2)
FALLING = fa.Utility(lambda z: np.exp(-2 * z), lambda z: -2 * np.exp(-2 * z))
FIG3 = fa.example("khamse-fig3").instance


def game(utility, **others):
    return fa.mechanism("alpha-pf-vds", utility=utility, **others)


def generated(seed, users=5, servers=2):
    return fa.generators.generic(users, servers, 2, seed)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("utility", "same"),
    [
        (LOG, {"alpha": 1}),
        (fa.Utility(lambda z: z**-3.0), {"alpha": 3}),
        (fa.Utility(lambda z: 7 * z**-0.5), {"alpha": 0.5}),
        (fa.Utility(lambda z: (0.5 / z) ** 4 + 0.3 / z), {"alpha": 4, "A": 0.5, "B": 0.3}),
        ([LOG, fa.Utility(lambda z: z**-3.0)], {"alpha": [1, 3]}),
        ({"s2": fa.Utility(lambda z: z**-2.0 + 0.5 / z), "s1": None}, {"alpha": [3, 2], "B": [0, 0.5]}),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_family_given_as_one_s_own_has_the_answers_of_the_family(utility, same, seed):
    instance = generated(seed)
    expected = fa.solve(instance, "alpha-pf-vds", "continuation", "high", **same).tasks
    own = game(utility, alpha=3 if isinstance(utility, dict) else 2)
    for method in ("continuation", "best-response", "josephy-newton"):
        found = fa.solve(instance, own, method, "high")
        assert found.claims_success, method
        assert found.residual <= RESIDUAL
        np.testing.assert_allclose(found.tasks, expected, **AGREE)


@pytest.mark.few(3)
@pytest.mark.parametrize("utility", [LOG1P, FALLING, [SQUARE, None], [[LOG, SQUARE, LOG1P, FALLING, SQUARE], LOG1P]])
@pytest.mark.parametrize("seed", range(3))
def test_two_routes_agree_on_other_utilities_and_the_residual_sees_another_point(utility, seed):
    instance, own = generated(seed), game(utility)
    first, second = (fa.solve(instance, own, method, "high") for method in ("continuation", "best-response"))
    np.testing.assert_allclose(first.tasks, second.tasks, **AGREE)
    for found in (first, second):
        assert found.residual <= RESIDUAL
        bare = replace(found, prices=None)
        assert own.residual(bare) <= 1e-6  # by the prices that linear programs find
        assert own.residual(replace(bare, x=0.99 * bare.x)) > 1e-3
    assert fa.check(first, own).holds


def test_the_models_take_what_operators_can_write():
    own = game([SQUARE, LOG1P])
    expected = fa.solve(FIG3, own, "continuation", "high").tasks
    for method in ("pyomo:ipopt", "cvxpy:uno"):
        if fa.METHODS[method].is_available():
            np.testing.assert_allclose(fa.solve(FIG3, own, method).tasks, expected, **AGREE)
    for model in (own.pyomo(FIG3, form="ncp"), own.pyomo(FIG3, form="printed"), own.cvxpy(FIG3, form="printed")):
        assert model is not None
    with pytest.raises(fa.NotApplicable, match=r"an expression of Pyomo \(it raised TypeError\): write it with \+"):
        game(FALLING).pyomo(FIG3)
    with pytest.raises(fa.NotApplicable, match="an expression of CVXPY"):
        game(FALLING).cvxpy(FIG3)
    with pytest.raises(fa.NotApplicable, match="an expression of Pyomo"):
        fa.solve(FIG3, game(FALLING), "pyomo:ipopt")
    assert fa.solve(FIG3, game(FALLING)).claims_success


@pytest.mark.parametrize("method", ["continuation", "best-response", "josephy-newton", "semismooth-newton"])
def test_users_with_utilities_of_their_own_on_one_server(method):
    """Max log y_1 + 4 log y_2 and max log(1 + y_1) + 10 log(1 + y_2), y_1 + y_2 <= 1: (1/5, 4/5), and (0, 1), for 10 / 2 > 1."""
    four = fa.solve(POOL, game([[LOG, fa.Utility(lambda z: 4 / z)]]), method, "high")
    np.testing.assert_allclose(four.tasks, [0.2, 0.8], **AGREE)
    own = game([{"u1": LOG1P, "u2": fa.Utility(lambda z: 10 / (1 + z))}])
    found = fa.solve(POOL, own, method, "high")
    np.testing.assert_allclose(found.tasks, [0, 1], atol=1e-6)
    assert found.residual <= RESIDUAL
    assert own.residual(fa.Allocation(POOL, [0, 1])) <= ROUNDING
    assert own.residual(fa.Allocation(POOL, [0.2, 0.8])) > 0.1
    assert game(LOG).residual(fa.Allocation(POOL, [0, 1])) == 1.0  # log 0


def test_with_one_resource_one_utility_for_all_users_is_as_good_as_any():
    instance = fa.Instance([[1], [2], [3]], [[4], [5]], weights=[1, 2, 3], eligible=[[1, 0], [1, 1], [0, 1]])
    expected = fa.solve(instance, "ps-dsf", "exact").tasks
    for method in ("best-response", "continuation"):
        np.testing.assert_allclose(fa.solve(instance, game(LOG1P), method, "high").tasks, expected, **AGREE)


def test_limits_and_several_variants():
    instance = fa.Instance([[[1, 2], [2, 1]], [1, 1], [3, 1]], [[6, 5], [4, 7]], max_tasks=[np.inf, 0.5, np.inf])
    first, second = (fa.solve(instance, game([SQUARE, LOG1P]), method, "high") for method in ("continuation", "best-response"))
    assert max(first.residual, second.residual) <= RESIDUAL
    assert first.tasks[1] == pytest.approx(0.5)


def test_the_inverse_is_one():
    log_z = np.linspace(-12, 1, 40)
    for utility in (LOG, LOG1P, SQUARE, FALLING, fa.Utility(lambda z: z**-20.0)):
        marginals = Marginals(np.ones(40), np.zeros(40), np.full(40, -np.inf), ((utility, np.arange(40), utility.table(3.0)),))
        log_g = marginals.log(log_z)
        np.testing.assert_allclose(marginals.log(marginals.inverse(log_g)), log_g, atol=EXACT)


@pytest.mark.parametrize("function", [lambda z: 1 / z, lambda z: 1 / (1 + z), lambda z: np.exp(-2 * z), lambda z: z**-20.0])
def test_the_inverse_is_newton_s_method(function):
    """It calls g' a few dozen times, where halving alone would take hundreds, and ends within the table."""
    calls = []
    utility = fa.Utility(lambda z: calls.append(z) or function(z))
    table, log_z = utility.table(3.0), np.linspace(-12, np.log(6.0), 40)
    assert table[0, -1] == pytest.approx(np.log(6.0), rel=ROUNDING), "up to twice the share"
    assert np.all(np.diff(table[0]) > 0)
    log_g = utility.log_marginal(log_z)
    calls.clear()
    found = utility.inverse(log_g, table)
    assert len(calls) <= 45
    np.testing.assert_allclose(utility.log_marginal(found), log_g, rtol=1e-15, atol=1e-15)
    assert utility.inverse(log_g[-1:] - 1, table)[0] == table[0, -1], "at most the last"
    assert utility.inverse(utility.log_marginal(np.array([-99.0])) + 1, table)[0] == -np.inf, "where g'(0) is less"


@pytest.mark.parametrize("own", [False, True])
def test_the_elasticity_is_the_slope_of_the_logarithm(own):
    """Of both terms of (K 22), one of them or one's own, also with other exponents; and the inverse is one there."""
    alpha, A, B = np.array([0.5, 3, 2, 4, 1.5]), np.array([2, 0.5, 1, 0, 3]), np.array([1, 0.3, 0, 2, 0.7])
    with np.errstate(divide="ignore"):
        family = Marginals(alpha, np.log(A), np.log(B))
    if own:
        at = np.array([1, 3])
        family = replace(family, own=((LOG1P, at, LOG1P.table(4.0)),))
    log_z, step = np.log([0.3, 1.2, 0.7, 2.0, 3.0]), 1e-6
    z = np.exp(log_z)
    terms = (A / z) ** alpha + B / z
    right = np.where([False, own, False, own, False], 1 / (1 + z), terms)
    log_g = family.log(log_z)
    np.testing.assert_allclose(log_g, np.log(right), rtol=0, atol=ROUNDING)
    for other in (None, alpha * [1, 2, 0.5, 3, 1]):
        slope = (family.log(log_z + step, other) - family.log(log_z - step, other)) / (2 * step)
        np.testing.assert_allclose(family.elasticity(log_z, family.log(log_z, other), other), -slope, rtol=1e-7)
    np.testing.assert_allclose(family.inverse(log_g), log_z, rtol=0, atol=1e-9 if own else 1e-14)
    few = np.array([4, 1, 1])
    np.testing.assert_allclose(family.of(few).log(log_z[few]), log_g[few], rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("most", [1e-3, 1.0, 50.0])
def test_what_is_seen_of_a_utility_is_seen_at_every_scale(most):
    """A jump by a part in 1000 and a slope that is wrong by a part in 100, wherever they are."""
    place = 0.37 * most

    def jumps(z):
        return np.where(z < place, 1.001, 1.0) / z

    with pytest.raises(fa.InstanceError, match=r"log g' falls by 0\.0009995 at"):
        fa.Utility(jumps, lambda z: -jumps(z) / z).steepest(most, "u1")
    with pytest.raises(fa.InstanceError, match="is not the derivative of g'"):
        fa.Utility(lambda z: 1 / z, lambda z: -np.where(z < place, 1.0, 1.01) / z**2).steepest(most, "u1")
    bent = fa.Utility(lambda z: np.where(z < place, 1 / z, place / z**2))  # differentiable but at one share
    assert bent.steepest(most, "u1") == pytest.approx(2.0, rel=1e-6)
    assert fa.Utility(lambda z: 1 / z, lambda z: -1.0001 / z**2).steepest(most, "u1") == pytest.approx(1.0001, rel=1e-6)


def test_a_utility_with_one_arc_is_written_in_cvxpy():
    """CVXPY makes a number of 1 / z where z has one entry."""
    one = fa.Instance([[1], [1]], [[1], [1]], eligible=[[1, 1], [0, 1]])
    for form in ("levels", "printed"):
        same = [
            game([utility, None], alpha=2).cvxpy(one, form=form).objective.value
            for utility in (fa.Utility(lambda z: z**-1.0), LOG)
        ]
        assert same[0] == pytest.approx(same[1], rel=ROUNDING)


@pytest.mark.parametrize(
    ("utility", "said"),
    [
        (fa.Utility(lambda z: z), r"server 's1': g'\(.*\) is .*, no less than for the share before, but g' must decrease"),
        (fa.Utility(lambda z: 1 + 0 * z), "g' must decrease"),
        (fa.Utility(lambda z: 1 - z), r"g'\(1\) is 0, but it must be positive"),
        (fa.Utility(lambda z: np.full_like(z, np.nan)), "must be positive"),
        (fa.Utility(lambda z: np.where(z < 0.3, 2, 1) / z, lambda z: -np.where(z < 0.3, 2, 1) / z**2), "log g' falls by 0.693"),
        (fa.Utility(lambda z: 1 / z, lambda z: -1 / z), "is not the derivative of g'; give its derivative"),
        (fa.Utility(lambda z: np.abs(z) ** -1.0), "is not the derivative of g'"),
        (fa.Utility(lambda z: 1 / z[0]), r"made shape \(\) of shares of shape"),
        (fa.Utility(lambda _: 1 / 0), "must take an array of shares, but it raised ZeroDivisionError"),
        ([LOG, LOG], "utility has 2 entries, but there are 1 servers"),
        ({"s2": LOG}, "utility names server 's2'"),
        ([[LOG]], "utility of server 's1' has 1 entries, but there are 2 users"),
        ([[LOG, None]], "user 'u2' at server 's1' is None, but it must be fa.Utility"),
        (abs, "server 's1' is <built-in function abs>, but it must be fa.Utility"),
    ],
)
def test_what_is_no_concave_utility_is_refused_in_one_sentence(utility, said):
    with pytest.raises(fa.FairallocError, match=said):
        fa.solve(POOL, game(utility))
    with pytest.raises(fa.InstanceError, match="the marginal of a utility is 3"):
        fa.Utility(3)


@pytest.mark.parametrize(
    ("utility", "given", "said"),
    [
        (
            LOG,
            {"alpha": 7},
            "alpha is 7, which is for servers without a utility of one's own, but utility gives every",
        ),
        (LOG, {"alpha": "inf"}, "alpha is 'inf', which is for servers without"),
        ([LOG, [LOG1P] * 5], {"A": 2}, "A is 2, which is for servers without"),
        ({"s1": LOG, "s2": LOG}, {"B": [0, 1]}, "B is 1, which is for servers without"),
        ([None, LOG], {"alpha": [3, 5]}, "alpha is 5 for server 's2', but with a utility of one's own it must be 2 there"),
        ([None, LOG], {"A": {"s1": 3, "s2": 4}}, "A is 4 for server 's2', but"),
    ],
)
def test_no_parameter_of_a_server_with_a_utility_is_lost(utility, given, said):
    with pytest.raises(fa.InstanceError, match=said):
        game(utility, **given).game(generated(0))
    assert game([None, LOG], alpha=[7, 2]).parameters["alpha"] == [7, 2]


def test_documents_hold_no_functions(tmp_path):
    found = fa.solve(POOL, "alpha-pf-vds", utility=LOG1P, time_limit=60)
    assert fa.check(found, "alpha-pf-vds").holds
    assert fa.check(found, found.rule).holds
    fa.write_allocation(found, tmp_path / "a.json")
    told = json.loads((tmp_path / "a.json").read_text())["parameters"]
    assert told == {"utility": "a utility of one's own, marginal <lambda>: not stored"}
    again = fa.read_allocation(tmp_path / "a.json", POOL)
    with pytest.raises(fa.NotApplicable, match="functions are in no document, so name the mechanism itself"):
        fa.solve(POOL, "alpha-pf-vds", **again.parameters)
    assert found.rule.configure(**again.parameters).utility is LOG1P


def test_a_utility_in_a_file_on_the_command_line(tmp_path, capsys):
    (tmp_path / "own.py").write_text(
        "import fairalloc as fa\n\n\ndef marginal(z):\n    return 1 / (1 + z) ** 2\n\n\n"
        'mine = fa.mechanism("alpha-pf-vds", utility=fa.Utility(marginal))\n'
    )
    assert main(["solve", "khamse-fig3", "-m", f"{tmp_path}/own.py:mine", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parameters"] == {"utility": "a utility of one's own, marginal marginal: not stored"}
    expected = fa.solve(FIG3, game(SQUARE)).tasks
    np.testing.assert_allclose([user["tasks"] for user in document["users"]], expected, **AGREE)


def test_what_cannot_be_done_with_a_utility_is_said():
    own = game(LOG1P)
    found = fa.solve(POOL, own)
    assert "computed in floating point, so there is no proof in rationals" in str(fa.certify(found, own))
    with pytest.raises(fa.NotApplicable, match="with a utility of one's own equilibria are irrational"):
        fa.solution_set(POOL, own)
    with pytest.raises(fa.NotApplicable, match="write lp, mps or nl"):
        fa.export(POOL, own, "py")
    with pytest.raises(fa.NotApplicable, match="is for alpha = 1 or A = 0 on every server, but server 's1' has a utility"):
        own.cvxpy(POOL, form="nb")
    assert not game([[LOG, LOG]]).merges_users
    assert game([LOG]).merges_users
    assert "u1" in str(fa.explain(found))


def test_the_largest_elasticity_is_that_of_the_curve():
    """Of 1 / z^3 it is 3; of 1 / (1 + z) it rises to 1, of exp(-2 z) with z."""
    for utility, most, largest in ((fa.Utility(lambda z: z**-3.0), 10.0, 3.0), (LOG1P, 9.0, 0.9), (FALLING, 5.0, 10.0)):
        assert utility.steepest(most, "u1") == pytest.approx(largest, rel=1e-3)
