"""Options, accuracies as numbers, logs and warm starts."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import allocations, instances
from tolerances import RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models import InstanceError, NotApplicable, UnknownName
from fairalloc.models.examples import generators
from fairalloc.models.feasibility import scaled_down
from fairalloc.solvers import ACCURACY, METHODS, solve
from fairalloc.solvers.backends.highs_session import HighsSession
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import (
    OPTIONS,
    IterationOptions,
    Judging,
    allowed_user_error,
    at_accuracy,
    promised,
    solver_options,
)
from fairalloc.solvers.running.warm_start import equal_partition, interior

SMALL = generators.generic(6, 3, 2)
WARM = ("alpha-pf-vds", "nb", "ps-dsf", "drfh")
STARTING = [k for k, fits in METHODS.items() if any(fits.starts(m) and fits.computes(m) for m in map(mechanism, WARM))]
OWN = [name for name, method in METHODS.items() if fields(method.options)]


def available(name):
    """The method, or a counted skip."""
    if METHODS[name].missing():
        pytest.skip(METHODS[name].missing())
    return METHODS[name]


def refused(method, item):
    """Whether it does not compute this mechanism on SMALL."""
    return not method.computes(mechanism(item)) or method.applies(mechanism(item), SMALL)


def test_who_takes_the_first_round_depends_on_max_resources():
    """`max_resources` had been read by `interior-point` alone."""
    wide = generators.generic(40, 20, 3)
    few, enough = (solve(wide, "drfh", "highs:leximin", options={"max_resources": most}).iterations for most in (2, 3))
    assert few != enough


# ---- accuracies as numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", OPTIONS)
def test_at_the_words_a_number_means_what_the_word_means(solver):
    for word, residual in ACCURACY.items():
        assert solver_options(solver, residual) == solver_options(solver, word) == dict(OPTIONS[solver][word])


@pytest.mark.parametrize("solver", OPTIONS)
def test_between_the_words_tolerances_are_between_theirs(solver):
    grid = np.geomspace(1e-10, 1e-1, 60)
    for name, tight in OPTIONS[solver]["high"].items():
        values = [solver_options(solver, float(residual))[name] for residual in grid if residual <= ACCURACY["mid"]]
        if isinstance(tight, float):
            assert values == sorted(values) or values == sorted(values, reverse=True)
            assert len(set(values)) > 2 or tight == OPTIONS[solver]["mid"][name]
        else:
            assert all(value in [OPTIONS[solver][word][name] for word in ("mid", "high")] for value in values)


def test_the_line_is_straight_in_logarithms():
    assert at_accuracy({"low": 1e-4, "mid": 1e-10, "high": 1e-12}, 1e-7) == pytest.approx(1e-11, rel=ROUNDING)
    assert at_accuracy({"low": 1e-4, "mid": 1e-10, "high": 1e-12}, 10**-4.5) == pytest.approx(1e-7, rel=1e-9)
    assert at_accuracy({"low": 1e-4, "mid": 1e-10, "high": 1e-12}, 0.5) == 1e-4
    assert at_accuracy({"low": 1e-4, "mid": 1e-10, "high": 1e-12}, 1e-15) == 1e-12


@pytest.mark.few(8)
@pytest.mark.parametrize("method", ["highs", "cvxpy:clarabel", "pyomo:ipopt", "pdhg", "interior-point", "best-response"])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-5, 1e-7])
def test_numbers_promise_themselves(method, accuracy):
    available(method)
    item = next(m for m in ("drfh", "nb", "ps-dsf") if METHODS[method].computes(mechanism(m)))
    allocation = solve(SMALL, item, method, accuracy=accuracy)
    assert allocation.claims_success
    assert allocation.residual <= accuracy


@pytest.mark.parametrize("alpha", [1, 2])
def test_steps_go_on_until_a_strict_promise_is_kept(alpha):
    answer = solve(generators.generic(12, 4, 3, 1), "alpha-pf-vds", "continuation", alpha=alpha, accuracy=1e-13)
    assert answer.claims_success


def test_a_promise_beyond_reach_is_not_claimed():
    allocation = solve(SMALL, "nb", "cvxpy:scs", accuracy=1e-15)
    assert allocation.termination != "optimal"
    assert allocation.residual > 1e-15


@pytest.mark.parametrize("accuracy", [0, 1, -1e-3, np.nan, np.inf, True, None, [1e-3], 10**5000], ids=range(9))
def test_what_is_no_accuracy_is_one_sentence(accuracy):
    with pytest.raises(InstanceError, match="but it must be one of low, mid, high, or a residual between 0 and 1"):
        solve(SMALL, "drfh", accuracy=accuracy)
    with pytest.raises(UnknownName, match="accuracy is 'exact', but it must be one of low, mid, high"):
        solve(SMALL, "drfh", accuracy="exact")
    assert promised(Fraction(1, 1000)) == ACCURACY["low"]


# ---- options of algorithms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_every_option_is_described(name):
    described = fa.options(name)
    assert [option.name for option in described] == [field.name for field in fields(METHODS[name].options)]
    assert all(len(option.about.split()) >= 3 for option in described)
    assert all(getattr(METHODS[name].options, option.name) == option.default for option in described)


def test_algorithms_have_options():
    assert {"pdhg", "continuation", "interior-point", "exact", "best-response", "ps-mfa", "njc-ode", "highs:leximin"} <= set(OWN)
    assert all(0 < len(fa.options(name)) <= 5 for name in OWN), "those that a user can reason about"
    with pytest.raises(UnknownName, match="there is no method 'pdgh'"):
        fa.options("pdgh")


@pytest.mark.parametrize("name", OWN)
def test_an_unknown_option_lists_those_that_there_are(name):
    method = available(name)
    if method.solver:
        assert method.configure({"no_such_option": 1}).solver_options == {"no_such_option": 1}
        return
    with pytest.raises(UnknownName) as error:
        method.configure({"no_such_option": 1})
    assert f"there is no option of {name} 'no_such_option'" in str(error.value)
    assert ", ".join(option.name for option in fa.options(name)) in str(error.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_iterations": 1.5}, "max_iterations is 1.5, but it must be a whole number, 0 or more"),
        ({"max_iterations": True}, "max_iterations is True, but it must be a whole number, 0 or more"),
        ({"max_iterations": -1}, "max_iterations is -1, but it must be a whole number, 0 or more"),
        ({"judge": {"proved": "soon"}}, "proved is 'soon', but it must be a number that is not negative"),
        ({"judge": {"proved": np.nan}}, "proved is nan, but it must be a number that is not negative"),
    ],
)
def test_values_of_a_wrong_kind_are_one_sentence(options, sentence):
    with pytest.raises(InstanceError, match=sentence):
        solve(SMALL, "nb", "pdhg", options=options)


def test_an_option_changes_what_is_done(monkeypatch):
    usual = solve(SMALL, "nb", "pdhg", trace=True)
    assert [look["iteration"] for look in usual.trace][:3] == [0, 40, 80]
    assert solve(SMALL, "nb", "pdhg", options={"max_iterations": 80}).iterations == 80 < usual.iterations
    assert METHODS["pdhg"].options == IterationOptions(max_iterations=100_000)
    monkeypatch.setattr("fairalloc.solvers.nash_bargaining.pdhg.PROGRESS", 0.0)
    monkeypatch.setattr("fairalloc.solvers.nash_bargaining.pdhg.LONG", np.inf)
    assert solve(SMALL, "nb", "pdhg", options={"max_iterations": 4000}).termination == "iteration_limit"


def test_where_an_algorithm_ends_is_told_by_the_accuracy():
    for method, name, params in (("pdhg", "nb", {}), ("semismooth-newton", "alpha-pf-vds", {"alpha": 2})):
        usual, exact = (solve(SMALL, name, method, accuracy, **params) for accuracy in ("low", 1e-13))
        assert usual.iterations <= exact.iterations
        assert exact.residual < usual.residual


def test_options_need_a_method():
    with pytest.raises(NotApplicable, match="options max were given, but options are of one method, which must be named"):
        solve(SMALL, "nb", options={"max": 0.3})


def test_the_judge_has_options():
    assert [option.name for option in fa.options("judge")] == [field.name for field in fields(Judging)]
    assert all(len(option.about.split()) >= 3 for option in fa.options("judge"))
    bare = {"reference_arcs": 0, "proved": 0.0}
    for name in (None, "cvxpy:clarabel"):
        assert solve(SMALL, "nb", name, options={"judge": {}}).residual == solve(SMALL, "nb", name).residual
    far = solve(SMALL, "nb", "pdhg", accuracy="low", options={"max_iterations": 40, "judge": bare})
    near = solve(SMALL, "nb", "pdhg", accuracy="low", options={"max_iterations": 40})
    assert near.residual < far.residual  # the reference's prices prove more

    def without_prices(*_):
        return far.x

    alone = solve(SMALL, "nb", without_prices, accuracy="low", options={"judge": bare})
    assert alone.not_judged
    assert fa.check(alone, "nb", judge=bare).holds is None


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"judge": {"prooved": 1}}, UnknownName, "there is no option of the judge 'prooved'.*proved"),
        ({"judge": {"proved": "well"}}, InstanceError, "proved is 'well', but it must be a number that is not negative"),
        ({"judge": 3}, InstanceError, "the options of the judge are 3, but they must be a mapping of names to values"),
        ([("judge", {})], InstanceError, "options is .*, but it must be a mapping of names to values"),
    ],
)
def test_wrong_options_of_the_judge_are_one_sentence(options, kind, sentence):
    with pytest.raises(kind, match=sentence):
        solve(SMALL, "drfh", options=options)


@pytest.mark.parametrize("method", METHODS)
def test_what_an_accuracy_means_to_a_solver_is_listed(method):
    table = METHODS[method].table or METHODS[method].solver
    listed = {option.name: option.default for option in fa.options(method, 1e-7)[len(fa.options(method)) :]}
    assert listed == solver_options(table, 1e-7)
    assert bool(listed) == (table in OPTIONS)


# ---- options of solvers -----------------------------------------------------------------------------------------------


SOLVERS = [
    ("highs", "drfh", {"simplex_iteration_limit": 0}, "iteration_limit"),
    ("pyomo:highs", "drfh", {"simplex_iteration_limit": 0}, "iteration_limit"),
    ("cvxpy:clarabel", "nb", {"max_iter": 1}, None),
    ("cvxpy:scs", "nb", {"max_iters": 1}, None),
    ("pyomo:ipopt", "nb", {"max_iter": 1}, "iteration_limit"),
    ("cvxpy:ipopt", "nb", {"max_iter": 1}, None),
]


@pytest.mark.parametrize(("method", "item", "options", "termination"), SOLVERS, ids=[row[0] for row in SOLVERS])
def test_solvers_take_their_own_options(method, item, options, termination):
    available(method)
    assert solve(SMALL, item, method).claims_success
    allocation = solve(SMALL, item, method, options=options)
    assert not allocation.claims_success
    assert termination in (None, allocation.termination)


@pytest.mark.parametrize("method", [row[0] for row in SOLVERS])
def test_options_that_a_solver_refuses_are_one_sentence(method):
    available(method)
    with pytest.raises(NotApplicable, match="no_such_option") as error:
        solve(SMALL, "nb" if method not in ("highs", "pyomo:highs") else "drfh", method, options={"no_such_option": 1})
    assert "\n" not in str(error.value)


# ---- logs -------------------------------------------------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("method", "item", "word"),
    [
        ("highs", "drfh", "HiGHS"),
        ("pyomo:highs", "drfh", "HiGHS"),
        ("cvxpy:highs", "drfh", "HiGHS"),
        ("cvxpy:clarabel", "nb", "Clarabel"),
        ("cvxpy:scs", "nb", "SCS"),
        ("pyomo:ipopt", "nb", "Ipopt"),
        ("cvxpy:ipopt", "nb", "Ipopt"),
        ("cvxpy:uno", "alpha-pf-vds", "Uno"),
        ("njc-milp", "njc", "HiGHS"),
        ("pdhg", "nb", "residual="),
        ("best-response", "ps-dsf", "change="),
        ("progressive-filling", "drf", "level="),
    ],
)
def test_logs_are_kept_on_request_and_nothing_is_printed(method, item, word, capfd):
    available(method)
    allocation = solve(SMALL, item, method, log=True)
    assert any(word in line for line in allocation.log)
    assert all("\n" not in line for line in allocation.log)
    assert solve(SMALL, item, method).log == ()
    assert capfd.readouterr() == ("", "")


# ---- warm starts ------------------------------------------------------------------------------------------------------


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("method", "item", "parameters"),
    [
        ("highs", "drfh", {}),
        ("interior-point", "drfh", {}),
        ("interior-point", "nb", {}),
        ("pdhg", "nb", {}),
        ("best-response", "ps-dsf", {}),
        ("best-response", "alpha-pf-vds", {"alpha": 2}),
        ("continuation", "ps-dsf", {}),
        ("continuation", "alpha-pf-vds", {"alpha": 2}),
        ("semismooth-newton", "alpha-pf-vds", {"alpha": 2}),
        ("josephy-newton", "alpha-pf-vds", {"alpha": 2}),
        ("psdsf-algorithm-1", "ps-dsf", {}),
        ("psdsf-distributed", "ps-dsf", {}),
    ],
)
def test_from_its_own_answer_a_method_needs_fewer_iterations(method, item, parameters):
    for seed in range(3):
        instance = generators.placement(8, 4, 3, seed)
        cold = solve(instance, item, method, **parameters)
        warm = solve(instance, item, method, warm_start=cold, **parameters)
        assert warm.claims_success
        assert warm.iterations < cold.iterations
        assert warm.residual <= RESIDUAL


@pytest.mark.few(1)
@pytest.mark.parametrize("method", STARTING)
def test_a_start_far_away_is_no_harm(method):
    """From the answer for other capacities, and from no tasks at all."""
    available(method)
    fits = METHODS[method]
    item = next(m for m in WARM if fits.starts(mechanism(m)) and not refused(fits, m))
    rng = np.random.default_rng(0)
    other = SMALL.replace(capacities=SMALL.capacities * rng.uniform(0.5, 2.0, SMALL.capacities.shape))
    expected = solve(SMALL, item, method, accuracy="low")
    for start in (solve(other, item), fa.Allocation(SMALL, np.zeros(len(SMALL.arcs)))):
        allocation = solve(SMALL, item, method, accuracy="low", warm_start=start)
        assert allocation.claims_success >= expected.claims_success
        assert "warm_start" not in allocation.message


def test_who_takes_no_start_says_so_and_goes_on():
    start = solve(SMALL, "nb")
    allocation = solve(SMALL, "nb", "cvxpy:clarabel", warm_start=start)
    assert allocation.claims_success
    assert allocation.message.endswith("warm_start is not used: cvxpy:clarabel takes no start for nb")
    assert solve(SMALL, "nb", warm_start=start).claims_success


def test_a_start_on_other_arcs_is_one_sentence():
    with pytest.raises(InstanceError, match="warm_start has 6 arcs of 3 users and 2 servers, but it must have the 18 arcs of"):
        solve(SMALL, "nb", warm_start=solve(generators.generic(3, 2, 2), "nb"))
    with pytest.raises(InstanceError, match=r"of \d+ users and 1 servers that answers are given on"):  # not "of this instance"
        solve(SMALL, "drf", warm_start=solve(SMALL, "nb"))
    with pytest.raises(InstanceError, match=r"warm_start is .*, but it must be an Allocation"):
        solve(SMALL, "nb", warm_start=[1.0])
    with pytest.raises(InstanceError, match="warm_start has tasks that are no numbers"):
        solve(SMALL, "nb", warm_start=fa.Allocation(SMALL, np.full(18, np.nan)))


def test_limits_read_the_options_of_their_kind():
    options = METHODS["exact"].options
    assert Limits(options=options).own(type(options)) is options
    assert Limits().own(type(options)) == options


# ---- what the words mean ----------------------------------------------------------------------------------------------


def leaves(value, path=()):
    """(names, number) of all numbers in an option, which may be a mapping of options itself."""
    if isinstance(value, dict):
        return [leaf for name, part in value.items() for leaf in leaves(part, (*path, name))]
    return [(path, value)]


@pytest.mark.parametrize("solver", OPTIONS)
def test_a_solver_is_asked_for_ten_times_what_is_promised_and_more_for_a_stricter_word(solver):
    words = [dict(leaves(dict(OPTIONS[solver][word]))) for word in ("low", "mid", "high")]
    tolerances = [path for path, value in words[2].items() if isinstance(value, float) and value < 0.1]
    assert tolerances
    for path in tolerances:
        low, mid, high = (word[path] for word in words)
        assert low >= mid >= high >= 1e-14
        assert low > high
        assert (low <= 1e-4, mid <= 1e-7, high <= 1e-9) == (True, True, True)


def test_what_a_word_promises_of_every_user():
    """The relative error of a user's tasks: a percent, a hundredth of a percent, a millionth; never more than a percent."""
    errors = [allowed_user_error(promised(word)) for word in ("low", "mid", "high")]
    assert errors == pytest.approx([1e-2, 1e-4, 1e-6], rel=ROUNDING)
    assert allowed_user_error(0.5) == 1e-2


def test_what_the_judge_trusts_is_finer_than_what_it_decides():
    judging = Judging()
    ladder = [judging.rounding, judging.reference_tolerance, judging.proved, judging.trusted, promised("mid")]
    assert ladder == sorted(ladder)
    assert len(set(ladder[:4])) == 4
    assert promised("high") < judging.proved, "an answer at high is judged by more than its own prices"


# ---- where methods start ----------------------------------------------------------------------------------------------


@settings(max_examples=drawn(60))
@given(instances(variants=False, scales=False).flatmap(allocations))
def test_a_start_inside_is_feasible_where_the_tasks_are_and_has_nine_tenths_of_them(allocation):
    instance, arcs = allocation.instance, allocation.instance.arcs
    x = scaled_down(instance, allocation.x)
    start = interior(instance, x)
    assert start.min() > 0
    assert np.all(start >= 0.9 * x * (1 - ROUNDING))
    assert (arcs.load @ start).max() <= 1 + 1e-12
    np.testing.assert_allclose(interior(instance, -x), interior(instance, np.zeros(len(arcs))), rtol=ROUNDING)


@settings(max_examples=drawn(60))
@given(instances(scales=False).flatmap(allocations))
def test_tasks_scaled_down_are_feasible_and_those_that_fit_stay(allocation):
    """One factor for each overloaded server, then one for each user above its limit."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    x = scaled_down(instance, allocation.x)
    assert (arcs.load @ x).max() <= 1 + 1e-12
    assert np.all(arcs.owner @ x <= instance.max_tasks * (1 + 1e-12))
    fitting = [v / max(1.0, allocation.load[i].max()) for v, i in zip(allocation.x, arcs.server, strict=True)]
    totals = [sum(v for v, n in zip(fitting, arcs.user, strict=True) if n == user) for user in range(instance.N)]
    parts = [min(1.0, most / total) if total else 1.0 for most, total in zip(instance.max_tasks, totals, strict=True)]
    np.testing.assert_allclose(x, [v * parts[n] for v, n in zip(fitting, arcs.user, strict=True)], rtol=1e-12)
    np.testing.assert_allclose(scaled_down(instance, np.where(x > 0, x, -1.0)), x, rtol=1e-12)
    number = np.bincount(arcs.server, minlength=instance.K)
    equal = equal_partition(instance.replace(max_tasks=None))
    np.testing.assert_allclose(equal, arcs.gamma / number[arcs.server], rtol=1e-12)


def test_what_is_no_number_is_not_scaled():
    assert np.isnan(scaled_down(SMALL, np.full(SMALL.A, np.nan))).all()


def test_options_in_the_solvers_own_names_hold_in_later_rounds(monkeypatch):
    """The second round of `highs:leximin` had gone on with its own."""
    asked, run = [], HighsSession._run

    def noted(session, again):
        asked.append(session.highs.getOptionValue("simplex_strategy")[1])
        return run(session, again)

    monkeypatch.setattr(HighsSession, "_run", noted)
    instance = fa.Instance([[1, 1], [1, 2], [3, 1]], [[6, 4], [2, 9]], eligible=[[1, 0], [1, 1], [0, 1]])
    assert fa.solve(instance, "lmmf", "highs:leximin", options={"simplex_strategy": 1}).claims_success
    assert len(asked) > 1
    assert set(asked) == {1}
