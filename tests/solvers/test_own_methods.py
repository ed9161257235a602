"""Methods of one's own: functions, objects and classes, what they may return, and what becomes of those that fail."""

from functools import partial
from itertools import count

import numpy as np
import pytest
from tolerances import RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.models import Instance, InstanceError, NotApplicable, NotInstalled
from fairalloc.models.allocation import Times
from fairalloc.models.examples import generators
from fairalloc.solvers.method import Answer, Limits, Session

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
    ],
    ids=["list", "tuple", "array", "allocation", "names"],
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


def test_its_name_and_its_clock_are_recorded(monkeypatch):
    ticks = count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(ticks)))
    allocation = fa.solve(WANG, "drfh", method=right)
    assert allocation.method == "right"
    assert allocation.times.solve == allocation.times.total == 1.0


def test_a_wrong_claim_stands_as_a_word_beside_the_residual():
    allocation = fa.solve(WANG, "drfh", method=lambda *_: [1.0, 0, 0, 10])
    assert allocation.termination == "optimal"
    assert allocation.residuals["definition"] > 0.1
    nothing = fa.solve(WANG, "nb", method=lambda *_: [0.1, 0, 0, 10])
    assert nothing.termination == "optimal"
    assert nothing.residuals["definition"] > 0.1


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
        (None, "odd returned an array of shape (), but the instance has 4 arcs"),
        ("x", "odd returned 'x', but it must return tasks on the instance's arcs, an Allocation or {user: {server: tasks}}"),
        ({"nobody": {}}, "odd returned tasks of 'nobody', but the users are user1, user2"),
        ({"user1": 3}, "odd returned 3 for user 'user1', but it must be a mapping of servers to tasks"),
        ({"user1": {"nowhere": 3}}, "odd returned tasks on 'nowhere', but the servers are server1, server2"),
        ({"user1": {"server1": "3"}}, "odd returned '3' tasks of 'user1' on 'server1', but tasks must be finite numbers"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_sentence(returned, sentence):
    instance = WANG.replace(users=["user1", "user2"], servers=["server1", "server2"])

    def odd(instance, mechanism, limits):
        return returned

    allocation = fa.solve(instance, "drfh", method=odd)
    assert allocation.termination == "error"
    assert allocation.message == sentence
    assert not allocation.has_point
    assert allocation.residual == np.inf


def test_users_who_are_not_eligible_and_variants_are_named():
    instance = WANG.replace(eligible=[[1, 0], [1, 1]], users=["a", "b"], servers=["s", "t"])
    told = fa.solve(instance, "drfh", method=lambda *_: {"a": {"t": 1}}).message
    assert told == "<lambda> returned tasks of 'a' on 't', but the user is not eligible there"
    two = Instance([[[1, 2], [2, 1]]], [[4, 4]], users=["a"], servers=["s"])
    told = fa.solve(two, "lmmf", method=lambda *_: {"a": {"s": 1}}).message
    assert told == "<lambda> returned tasks of 'a' on 's', but the user has 2 variants there, so arcs are needed"


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
        (fa.Method, "the method class Method cannot be made without arguments"),
    ],
)
def test_what_is_no_method_is_one_sentence(given, sentence):
    with pytest.raises(NotApplicable, match=sentence):
        fa.solve(WANG, "drfh", method=given)


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
