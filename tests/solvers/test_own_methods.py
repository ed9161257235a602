"""Methods of one's own: functions, objects and classes, what they may return, and what becomes of those that fail."""

import inspect
import os
import re
from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np
import pytest
from tolerances import RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.models import Instance, InstanceError, NotApplicable, NotInstalled
from fairalloc.models.allocation import Times
from fairalloc.models.examples import generators
from fairalloc.solvers.catalogue.own import own_method
from fairalloc.solvers.method import ASKED, Answer, Limits, Session, Stopped
from fairalloc.solvers.running import dispatch

WANG = fa.example("wang-fig2").instance


def right(instance, mechanism, limits):
    """The answer of drfh on K Fig. 2 by hand."""
    return [10.0, 0.0, 0.0, 10.0]


class Mine(fa.Method):
    """Equal parts of every server."""

    id = "mine"
    kind = "own"

    def computes(self, mechanism):
        return mechanism.id == "drfh"

    def open(self, mechanism, instance, limits):
        return Equal(mechanism, instance, limits)


class Equal(Session):
    """Every user gets the same part of every server."""

    def solve(self, round):
        return self.instance.arcs.gamma / self.instance.N, None


class MineAtOnce(Mine):
    """The same in one go, without rounds."""

    def run(self, mechanism, instance, limits):
        return Answer(instance.arcs.gamma / instance.N, None, "optimal", Times(solve=1e6))


@pytest.mark.parametrize(
    "returned",
    [
        [10.0, 0.0, 0.0, 10.0],
        (10, 0, 0, 10),
        np.array([10.0, 0, 0, 10]),
        fa.Allocation(WANG, [10.0, 0, 0, 10]),
        {WANG.users[0]: {WANG.servers[0]: 10}, WANG.users[1]: {WANG.servers[1]: np.float64(10)}},
        {WANG.users[0]: {WANG.servers[0]: Fraction(10)}, WANG.users[1]: {WANG.servers[1]: "20/2"}},
    ],
    ids=["list", "tuple", "array", "allocation", "names", "rationals"],
)
def test_a_function_returns_tasks_in_several_ways(returned):
    seen = []
    allocation = fa.solve(WANG, "drfh", method=lambda *given: seen.append(given) or returned, time_limit=60, isolate=False)
    assert seen[0][0] == WANG
    assert seen[0][1].id == "drfh"
    assert 0 < seen[0][2].left <= 60
    np.testing.assert_array_equal(allocation.x, [10, 0, 0, 10])
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL
    assert allocation.times.solve > 0 == allocation.times.build


@pytest.mark.parametrize("limit", [None, 60])
def test_what_a_function_prints_is_its_log(limit, capfd):
    """It had been said that it prints nothing."""

    def loud(instance, mechanism, limits):
        print("in Python")
        os.write(1, b"in C\n")
        return [10, 0, 0, 10]

    answer = fa.solve(WANG, "drfh", loud, log=True, time_limit=limit)
    assert (answer.log, answer.message, capfd.readouterr().out) == (("in Python", "in C"), "", "")

    def fails(instance, mechanism, limits):
        print("before")
        return 1 / 0

    answer = fa.solve(WANG, "drfh", fails, log=True, time_limit=limit)
    assert (answer.log, answer.message) == (("before",), "fails raised ZeroDivisionError: division by zero")


def test_an_allocation_that_is_returned_keeps_its_trace_and_its_log():
    answer = fa.solve(WANG, "nb", lambda instance, mechanism, limits: fa.solve(instance, mechanism, "pdhg", trace=True, log=True))
    assert answer.trace[0]["iteration"] == 0
    assert "iteration=0" in answer.log[0]


def test_its_name_and_its_clock_are_recorded(monkeypatch):
    ticks = count()
    monkeypatch.setattr(Limits.__init__, "__defaults__", (*Limits.__init__.__defaults__[:-1], lambda: float(next(ticks))))
    allocation = fa.solve(WANG, "drfh", method=right)
    assert allocation.method == "right"
    assert allocation.times.solve == allocation.times.total == 1.0


@pytest.mark.parametrize("mechanism", ["drfh", "nb", "mmf", "ps-dsf", "utilitarian", "nested-leximin"])
@pytest.mark.parametrize("tasks", [[1.0, 0, 0, 10], [11.0, 0, 0, 11]], ids=["too few", "too many"])
def test_a_wrong_claim_is_no_claim_of_the_answer(mechanism, tasks):
    """The word had been left standing beside a residual of 0.9, or tasks that no server can run, with the exit code 0."""
    allocation = fa.solve(WANG, mechanism, method=lambda *_: tasks)
    assert allocation.termination == "inaccurate"
    assert allocation.residual > RESIDUAL


def test_prices_are_held_against_the_claim():
    with_prices = fa.solve(WANG, "drfh", "highs")
    assert fa.solve(WANG, "drfh", method=lambda *_: with_prices).claims_success
    worse = fa.Allocation(WANG, [1.0, 0, 0, 10], prices=with_prices.prices)
    assert fa.solve(WANG, "drfh", method=lambda *_: worse).termination == "inaccurate"


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ([1.0, 2.0], "odd returned an array of shape (2,), but the instance has 4 arcs"),
        ([[1.0, 2, 3, 4]], "odd returned an array of shape (1, 4), but the instance has 4 arcs"),
        ([1.0, np.nan, 3, 4], "odd returned nan for arc 1, but tasks must be finite numbers"),
        ([1.0, 2, 3, np.inf], "odd returned inf for arc 3, but tasks must be finite numbers"),
        (None, "odd returned None, but it must return tasks on the instance's arcs, an Allocation or {user: {server: tasks}}"),
        ("x", "odd returned 'x', but it must return tasks on the instance's arcs, an Allocation or {user: {server: tasks}}"),
        (1j, "odd returned 1j, but it must return tasks on the instance's arcs, an Allocation or {user: {server: tasks}}"),
        (np.array(["2020"], "M8[Y]"), "odd returned array(['2020'], dtype='datetime64[Y]'), but it must return "),
        ({"nobody": {}}, "there is no user 'nobody'"),
        ({"user1": 3}, "by_server of user 'user1' is 3, but it must be a JSON object"),
        ({"user1": {"nowhere": 3}}, "there is no server 'nowhere'"),
        (
            {"user1": {"server1": "3/0"}},
            "the number of tasks of user 'user1' on server 'server1' is '3/0', which is",
        ),
        ({"user1": {"server1": None}}, "odd returned nan for arc 0, but tasks must be finite numbers"),
        ({3: {}}, "there is no user 3"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_sentence(returned, sentence):
    instance = WANG.replace(users=["user1", "user2"], servers=["server1", "server2"])

    def odd(instance, mechanism, limits):
        return returned

    allocation = fa.solve(instance, "drfh", method=odd)
    assert allocation.termination == "error"
    assert allocation.message.startswith(sentence)
    assert not allocation.has_point
    assert allocation.residual == np.inf


def test_users_who_are_not_eligible_and_variants_are_named():
    instance = WANG.replace(eligible=[[1, 0], [1, 1]], users=["a", "b"], servers=["s", "t"])
    told = fa.solve(instance, "drfh", method=lambda *_: {"a": {"t": 1}}).message
    assert told.endswith("the allocation gives user 'a' tasks on server 't', where it is not eligible")
    two = Instance([[[1, 2], [2, 1]]], [[4, 4]], users=["a"], servers=["s"])
    told = fa.solve(two, "lmmf", method=lambda *_: {"a": {"s": 1}}).message
    assert "user 'a' has 2 variants" in told


def test_an_allocation_on_other_arcs_is_refused():
    other = fa.solve(generators.generic(3, 2, 2), "drfh")
    allocation = fa.solve(WANG, "drfh", method=lambda *_: other)
    assert allocation.termination == "error"
    assert allocation.message.startswith("the allocation that <lambda> returned has 6 arcs of 3 users and 2 servers")


def test_what_it_raises_ends_it_alone():
    def broken(instance, mechanism, limits):
        raise KeyError("no such\nthing")

    allocation = fa.solve(WANG, "drfh", method=broken)
    assert allocation.termination == "error"
    assert allocation.message == r"broken raised KeyError: 'no such\nthing'"
    refused = fa.solve(WANG, "drfh", method=lambda i, m, _: fa.solve(i, m, "no-such-method"))
    assert refused.termination == "error"
    assert "there is no method 'no-such-method'" in refused.message

    def stopped(instance, mechanism, limits):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fa.solve(WANG, "drfh", method=stopped)


@pytest.mark.parametrize("given", [MineAtOnce, MineAtOnce()], ids=["class", "object"])
def test_methods_of_ones_own_are_timed_here(given):
    allocation = fa.solve(WANG, "drfh", method=given)
    assert allocation.method == "mine"
    assert 0 < allocation.times.total < 1e6
    assert allocation.residuals["feasibility"] <= ROUNDING


def test_rounds_without_prices_say_so():
    allocation = fa.solve(WANG, "drfh", method=Mine)
    assert allocation.termination == "error"
    assert allocation.message == "the solver returned no dual prices, which the rounds need"


@pytest.mark.parametrize(("tasks", "price"), [(0.1, np.nan), (0.1, np.inf), (np.nan, 1.0)])
def test_rounds_with_numbers_that_are_none_are_an_error(tasks, price):
    """Prices that are no numbers had been left out, and the solver's word "optimal" stood."""

    class Odd(Equal):
        def solve(self, round):
            return np.full(self.instance.A, tasks), np.full((self.instance.K, self.instance.R), price)

    class Rounds(Mine):
        session = Odd
        open = fa.Method.open

    allocation = fa.solve(WANG, "drfh", method=Rounds)
    assert allocation.termination == "error"
    assert allocation.message == "the solver returned tasks or dual prices that are no numbers"


def test_an_object_that_fails_or_answers_nonsense_is_an_error():
    class Raises(Mine):
        def run(self, mechanism, instance, limits):
            raise RuntimeError("boom")

    class Nonsense(Mine):
        def run(self, mechanism, instance, limits):
            return [1, 2, 3]

    assert fa.solve(WANG, "drfh", method=Raises).message == "mine raised RuntimeError: boom"
    assert fa.solve(WANG, "drfh", method=Nonsense()).message == (
        "mine returned no Answer with tasks on the 4 arcs of the instance"
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"prices": "high"}, "could not convert string to float: 'high'"),
        ({"prices": [1.0, 2.0, 3.0]}, "cannot reshape array of size 3 into shape (2,2)"),
        ({"termination": "great"}, "there is no termination 'great'"),
        ({"x": np.ones(3)}, "x has shape (3,), but the instance has 4 arcs"),
        ({"x_exact": (1, 2)}, "x_exact is (1, 2), but it must be 4 rationals, one for each arc"),
        ({"x_exact": (1, 1, 1, 2)}, "the allocation gives user 'u2' tasks on server 's2' as 1.0, but exactly as '2'"),
        ({"x_exact": ("a", 1, 1, 1)}, "an entry of x_exact is 'a', but it must be a Fraction"),
        ({"trace": 3}, "'int' object is not iterable"),
        ({"trace": ({"state": object()},)}, "a value is <object object at "),
        ({"log": 3}, "'int' object is not iterable"),
        ({"iterations": "many"}, "iterations is 'many', but it must be a whole number or None"),
    ],
)
def test_an_answer_with_a_part_that_cannot_be_read_is_an_error(wrong, sentence):
    """A library's exception had ended the whole call."""

    class Odd(Mine):
        canonical = False

        def run(self, mechanism, instance, limits):
            return Answer(
                **{"x": np.ones(4), "prices": None, "termination": "optimal", "times": Times(), "message": None} | wrong
            )

    answer = fa.solve(WANG, "drfh", method=Odd)
    assert (answer.termination, answer.has_point) == ("error", False)
    assert answer.message.startswith(f"mine returned an Answer that cannot be read: {sentence}")


@pytest.mark.parametrize("name", ["mmf", "utilitarian", "ps-dsf"])
def test_rationals_of_others_are_judged_like_their_tasks(name):
    """An equal part of every server, in rationals: it had been "right in rationals" with a residual of 1."""

    class Rational(Mine):
        canonical = False

        def computes(self, mechanism):
            return True

        def run(self, mechanism, instance, limits):
            x = instance.arcs.gamma / (2 * instance.N)
            return Answer(x, None, "optimal", Times(), x_exact=tuple(map(Fraction, x.tolist())))

    answer = fa.solve(fa.example("khamse-fig1").instance, name, Rational)
    assert (answer.termination, answer.claims_success) == ("inaccurate", False)
    assert answer.residual > 0.1
    assert answer.x_exact == tuple(map(Fraction, answer.x.tolist()))


@pytest.mark.parametrize("name", sorted(ASKED))
def test_what_an_own_method_computes_and_fails_is_named(name):
    fails = (lambda self, *given: 1 / 0) if inspect.isfunction(getattr(fa.Method, name)) else property(lambda self: 1 / 0)
    own = type("Own", (Mine,), {"kinds": (fa.Mechanism,), "computes": fa.Method.computes, name: fails})
    with pytest.raises(fa.InstanceError, match=f"^{name} of 'mine' failed: ZeroDivisionError: division by zero$"):
        fa.solve(WANG, "drfh", own, options={"max": 1} if name == "configure" else None, warm_start=fa.solve(WANG, "drfh"))


def test_objects_are_asked_what_they_compute():
    class Missing(Mine):
        def missing(self):
            return "mine needs a thing: buy it"

    with pytest.raises(NotApplicable, match="method 'mine' does not compute 'nb'"):
        fa.solve(WANG, "nb", method=Mine)
    with pytest.raises(NotInstalled, match="mine needs a thing: buy it"):
        fa.solve(WANG, "drfh", method=Missing)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (3, r"there is no method 3: it must be an id, a Method, or a function \(instance, mechanism, limits\) -> tasks"),
        (dict, "there is no method <class 'dict'>: it must be an id"),
        (lambda instance: 1, r"the function <lambda>\(instance\) must take \(instance, mechanism, limits\)"),
        (["highs"], r"there is no method \['highs'\]: it must be an id"),
        (type("Nameless", (Mine,), {"id": ""}), "has no id, but it must be a string that is not empty"),
        (fa.Method, "has no id, but it must be a string that is not empty"),
        (
            type("Asking", (Mine,), {"__init__": lambda self, how: None}),
            "the method class Asking cannot be made without arguments",
        ),
    ],
)
def test_what_is_no_method_is_one_sentence(given, sentence):
    with pytest.raises(NotApplicable, match=sentence):
        fa.solve(WANG, "drfh", method=given)


@pytest.mark.parametrize("name", ["a\x1b[31m", "\ud800"])
def test_names_that_no_terminal_or_figure_should_get_are_refused(name):
    """Matplotlib warned of a glyph that is missing, and a surrogate ended as a UnicodeEncodeError."""
    with pytest.raises(InstanceError, match=r"the id of a method is .*, but a name has no control characters"):
        fa.solve(WANG, "drfh", method=type("Own", (Mine,), {"id": name}))
    with pytest.raises(InstanceError, match=r"the id of the mechanism .* is .*, but a name has no control characters"):
        fa.solve(WANG, type("Own", (fa.Mechanism,), {"id": name, "write_cvxpy": lambda *_: None}))
    with pytest.raises(InstanceError, match=r"the name of a property is .*, but a name has no control characters"):
        fa.Property(name, bool)


def test_a_function_gets_the_warm_start():
    start = fa.solve(WANG, "drfh")
    seen = []
    fa.solve(WANG, "drfh", method=lambda i, m, limits: seen.append(limits.start) or limits.start, warm_start=start)
    np.testing.assert_array_equal(seen[0], start.x)


def test_the_domain_of_a_mechanism_is_what_a_function_gets():
    """For drf the pooled instance, on which the answer is given too."""
    sizes = []
    allocation = fa.solve(WANG, "drf", method=lambda i, m, _: sizes.append(len(i.arcs)) or np.ones(len(i.arcs)))
    assert sizes == [2]
    assert allocation.instance.K == 1


def test_functions_have_no_options():
    with pytest.raises(fa.UnknownName, match="there is no option of right 'speed': it has none"):
        fa.solve(WANG, "drfh", method=right, options={"speed": 3})


def test_limits_tell_what_was_promised():
    assert Limits("low").promised == fa.solvers.ACCURACY["low"]
    assert Limits(1e-7).promised == 1e-7
    with pytest.raises(InstanceError):
        _ = Limits(2.0).promised


@pytest.mark.deep
def test_functions_run_in_benchmarks(tmp_path):
    """Beside ours, in processes of their own, by the same clock."""

    def proportional(instance, mechanism, limits):
        return instance.arcs.gamma / instance.N

    from fairalloc import benchmarks

    suite = benchmarks.Suite("mine", "one case", (benchmarks.SuiteCase("wang", "drfh", partial(fa.Instance, [[1], [1]], [[4]])),))
    asked, setting = [proportional, "highs"], benchmarks.Setting(repeats=1, time_limit=5)
    summary = benchmarks.run(suite, tmp_path / "records.db", methods=asked, setting=setting, progress=False)
    assert {record.method for record in summary.records} == {"proportional", "highs"}
    assert {record.termination for record in summary.records if record.method == "proportional"} == {"optimal"}


def test_a_function_computes_what_it_declares():
    declared = fa.method(mechanisms=["c-drfh", fa.mechanism("tsf")])(right)
    try:
        assert declared is right
        assert fa.solve(WANG, "drfh", method=right).claims_success, "an alias names the same mechanism"
        with pytest.raises(NotApplicable, match="method 'right' does not compute 'nb'"):
            fa.solve(WANG, "nb", method=right)
    finally:
        del right.fairalloc_mechanisms
    assert fa.solve(WANG, "nb", method=right).claims_success, "who declares nothing is asked for what the call names"


@pytest.mark.parametrize(
    ("mechanisms", "function", "says"),
    [
        ([], right, "mechanisms is empty, but a method computes at least one"),
        (["drhf"], right, "there is no mechanism 'drhf'"),
        (["drfh"], len, "the function len"),
        (["drfh"], 5, "there is no method 5"),
        ([5], right, "there is no mechanism 5"),
        (5, right, "there is no mechanism 5"),
    ],
)
def test_a_wrong_declaration_is_one_sentence(mechanisms, function, says):
    with pytest.raises(fa.FairallocError, match=says):
        fa.method(mechanisms)(function)
    assert not hasattr(right, "fairalloc_mechanisms")


@pytest.mark.deep
def test_a_suite_of_several_mechanisms_asks_a_function_for_what_it_declares(tmp_path):
    from fairalloc import benchmarks

    def silent(instance, mechanism, limits):
        raise AttributeError("it was asked")

    @fa.method(mechanisms=["drfh"])
    def declares(instance, mechanism, limits):
        return instance.arcs.gamma / instance.N

    build = partial(fa.Instance, [[1], [1]], [[4]])
    suite = benchmarks.Suite("two", "", tuple(benchmarks.SuiteCase(name, name, build) for name in ("drfh", "nb")))
    asked = {"setting": benchmarks.Setting(repeats=1, time_limit=5), "progress": False}
    summary = benchmarks.run(suite, tmp_path / "r", methods=[silent, declares], **asked)
    assert [(r.method, r.case) for r in summary.records] == [("declares", "drfh")]
    told = "silent fits no case of the suite 'two': a function says what it computes by @fa.method(mechanisms=[...]) above it"
    assert f"not asked: {told}" in summary.warnings
    with pytest.raises(NotApplicable) as caught:
        benchmarks.run(suite, tmp_path / "none", methods=[silent], **asked)
    assert str(caught.value) == told
    named = benchmarks.run(suite, tmp_path / "one", methods=[silent], cases=["nb"], **asked)
    assert [(r.case, r.termination) for r in named.records] == [("nb", "error")], "one mechanism is the one that is meant"


# ---- what a method is told, and what becomes of its answer --------------------------------------------------------------


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, time=0.0):
        self.time = time

    def __call__(self):
        return self.time


def test_the_time_that_is_left_is_that_of_the_clock():
    clock = Clock(90.0)
    limits = Limits(deadline=100.0, clock=clock)
    assert (limits.limited, limits.late, limits.left) == (True, False, 10.0)
    assert limits.share(0.25).deadline == 92.5
    assert limits.share(1.0).deadline == 100.0
    clock.time = 100.0
    assert limits.late
    with pytest.raises(Stopped) as caught:
        limits.left  # noqa: B018 (raises)
    assert caught.value.termination == "time_limit"
    clock.time = 130.0
    assert limits.share(0.25).deadline == 100.0, "nothing is left to share"
    endless = Limits(clock=clock)
    assert (endless.limited, endless.late, endless.left) == (False, False, np.inf)
    assert endless.share(0.25) is endless


@pytest.mark.parametrize("fails", [False, True])
def test_wall_time_is_that_of_the_clock(fails):
    clock = Clock(90.0)

    def slow(instance, mechanism, limits):
        clock.time += 7.0
        return right(instance, mechanism, limits) if not fails else 1 / 0

    answer, times = dispatch._run(fa.mechanism("drfh"), own_method(slow), WANG, Limits(clock=clock))
    assert (answer.termination == "error") == fails
    assert times.wall == 7.0
    assert 0 <= times.cpu < 7.0


def test_a_declaration_without_mechanisms_says_how_it_is_written():
    said = "@fa.method is written @fa.method(mechanisms=['drfh']), with what 'right' computes"
    with pytest.raises(NotApplicable, match=f"^{re.escape(said)}$"):
        fa.method(right)


def test_a_session_counts_seconds_by_phase_iterations_and_facts():
    clock = Clock(5.0)
    session = Session(fa.mechanism("drfh"), WANG, Limits(clock=clock, trace=True, log=True))
    for phase, seconds in (("build", 1.0), ("solve", 2.0), ("solve", 4.0)):
        with session.phase(phase):
            clock.time += seconds
    assert session.times == Times(build=1.0, solve=6.0)
    assert session.iterations is None
    for iterations in (None, 3, -1, 0, 4):
        session.count(iterations)
    assert session.iterations == 7
    session.note(step=1, error=0.25)
    assert (session.trace, session.log) == ([{"step": 1, "error": 0.25}], ["step=1 error=0.25"])
    none = Session(fa.mechanism("drfh"), WANG, Limits())
    none.count(0)
    none.note(step=1)
    assert (none.iterations, none.trace, none.log) == (0, [], [])


def test_the_worst_residual_of_several_models_counts_and_none_stays_none():
    session = Session(fa.mechanism("drfh"), WANG, Limits())
    for known, expected in ((1e-9, 1e-9), (1e-7, 1e-7), (1e-8, 1e-7), (None, None), (1e-9, None)):
        session.judge_model(known)
        assert session.optimality == expected


def judged(termination, residual, promise=1e-6, **facts):
    """An answer of this residual, and whether it meets the promise."""
    answer = fa.Allocation(WANG, [10, 0, 0, 10]).noted(termination=termination, residuals={"definition": residual}, **facts)
    return answer, dispatch.meets(answer, promise)


@pytest.mark.parametrize(
    ("termination", "residual", "facts", "met"),
    [
        ("optimal", 1e-6, {}, True),
        ("optimal", 1.1e-6, {}, False),
        ("optimal, user error not known", 1e-7, {}, True),
        ("optimal, user error not known", 1e-5, {}, False),
        ("inaccurate", 1e-9, {}, False),
        ("stationary", 1e-9, {}, False),
        ("optimal", 1e-3, {"x_exact": (10, 0, 0, 10)}, True),
        ("inaccurate", 1e-3, {"x_exact": (10, 0, 0, 10)}, False),
        ("optimal", 1e-9, {"not_judged": "not judged: it is late"}, False),
        ("optimal", 1e-9, {"x": np.full(4, np.nan)}, False),
    ],
)
def test_an_answer_that_is_enough_claims_success_and_proves_it(termination, residual, facts, met):
    assert judged(termination, residual, **facts)[1] is met


def test_the_better_of_two_answers_proves_more_and_is_called_solved():
    """From the best to the worst."""
    nowhere = {"x": np.full(4, np.nan)}
    unsaid = {"not_judged": "not judged: it is late"}
    ladder = [
        judged("optimal", 1e-8),
        judged("optimal", 1e-7),
        judged("inaccurate", 1e-9),
        judged("stationary", 1e-5),
        judged("iteration_limit", 1e-5),
        judged("optimal", 1e-4),
        judged("stationary", 1e-9, **unsaid),
        judged("time_limit", 1e-9, **unsaid),
        judged("error", 1e-9, **nowhere),
    ]
    ranks = [dispatch._rank(answer, 1e-6) for answer, _ in ladder]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


def test_where_work_is_isolated_follows_from_sizes_and_ratios(monkeypatch):
    monkeypatch.setattr(dispatch, "LARGE", WANG.A * WANG.R)
    assert dispatch.is_large(WANG)
    plain = Instance([[1, 2], [2, 1]], [[6, 6]], weights=[1, 2])
    assert not dispatch.is_large(plain)
    for change in ({"weights": [1, 0.9e8]}, {"demands": [[1, 0.9e8], [2, 1]]}):
        assert not dispatch._is_far_apart(plain.replace(**change))
    for change in ({"weights": [1.1e8, 1]}, {"demands": [[1, 2], [1.1e8, 1]]}):
        assert dispatch._is_far_apart(plain.replace(**change))
    clock = Clock(3.0)
    tight = dispatch.TIGHT * WANG.A * WANG.R
    for seconds, instance, expected in ((0.9, WANG, True), (1.1, WANG, False), (0.9, plain, False), (np.inf, WANG, False)):
        limits = Limits(deadline=3.0 + seconds * tight, clock=clock)
        assert dispatch._is_tight(dispatch.Request(fa.mechanism("drfh"), instance, limits)) is expected


def test_what_a_function_says_of_its_allocation_is_its_claim():
    """One that says that it ended at a limit was told to have claimed the answer, and called dishonest in benchmarks."""
    for given, ended in (("given", "inaccurate"), ("iteration_limit", "iteration_limit"), ("time_limit", "time_limit")):
        returned = fa.Allocation(WANG, [1.0, 0, 0, 1], termination=given)
        assert fa.solve(WANG, "drfh", lambda *_, it=returned: it).termination == ended


def test_an_infeasible_model_proves_something_where_the_mechanism_may_have_no_answer():
    edited = fa.mechanism("nb").edited("edited", cvxpy=lambda problem, _: problem)
    exact, first_order = fa.METHODS["highs"], fa.METHODS["cvxpy:scs"]
    assert (exact.kind == "first-order", first_order.kind) == (False, "first-order")
    nothing = fa.Allocation(WANG, [np.nan] * 4, termination="infeasible")
    proves = dispatch._proves_infeasible
    assert proves(edited, exact, nothing)
    assert not proves(edited, first_order, nothing)
    assert not proves(fa.mechanism("nb"), exact, nothing)
    assert not proves(edited, exact, nothing.noted(termination="error"))


def test_a_method_class_that_says_no_kind_is_own():
    """Its representation, and so a benchmark of it, had been an AttributeError."""
    assert repr(type("Mine", (fa.Method,), {"id": "mine"})()) == "<method mine: own>"
