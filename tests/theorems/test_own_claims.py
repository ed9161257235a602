"""Claims of one's own: true and false ones, own mechanisms, properties and instances, the witness as code, bad arguments."""

import json
import time
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from tolerances import AMPLE

import fairalloc as fa
from fairalloc.analysis.properties.strategyproofness import NOISE
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS
from fairalloc.models import FairallocError
from fairalloc.runs.processes import isolation_missing
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.checkers import own, trials
from fairalloc.theorems.checkers.own import statements_of
from fairalloc.theorems.code import witness_code
from fairalloc.theorems.hypotheses import Hypotheses, hypothesis_words
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search import investigate, laboratory
from fairalloc.theorems.search import search as engine
from fairalloc.theorems.search.witnesses import on_record, packaged
from fairalloc.theorems.statement import FLOATING_POINT


class MostTasks(fa.Mechanism):
    """The largest number of tasks, whoever runs them."""

    id = "most-tasks"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


MOST = MostTasks()
BY_TASKS = fa.Leximin("by-tasks", lambda i: np.ones(i.N), exact_share=lambda i: (Fraction(1),) * i.N)


def one_task_exactly(allocation):
    """Everybody runs a task, decided in rationals where there are any."""
    return 1 - min(allocation.tasks_exact)


def one_task(allocation):
    return 1 - allocation.tasks.min()


def searched(*arguments, trials=400, seed=0, **more):
    return fa.claim(*arguments, **more).search(time_limit=AMPLE, trials=trials, seed=seed)


def run(code, capsys, **scope):
    """What the code prints; its assertions hold."""
    exec(code, scope)
    return capsys.readouterr().out.strip()


# ---- verdicts and witnesses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("drfh", "strategyproofness", "at least 3 users"), "proved", "proved: P.Table1.drfh.misreports, for one variant, same"),
        (("drf", "strategyproofness", "one server, at least 2 users"), "proved", "proved: K.2.1.misreports, for one server"),
        (("alpha-pf-vds", "envy-freeness", "one server, at least 2 users"), "proved", "proved: K.T3.envy"),
        (("drfh", "pareto"), "proved", "proved: it follows from the definition: a Pareto improvement is"),
        (("drfh", "strategyproofness", "limits"), "not refuted", "proves it under more hypotheses: unlimited, at least 2 users;"),
        (
            ("drfh", "sharing-incentive", "one resource, everywhere, equal weights, at least 2 users"),
            "proved",
            "proved: W.S4.5.slots",
        ),
        (("ps-dsf", "population-monotonicity", "positive, at least 2 users"), "not refuted", "not refuted in"),
        (
            ("drfh", "strategyproofness", "limits, at least 2 users, misreported tasks"),
            "not refuted",
            "hypotheses: no idle server;",
        ),
    ],
)
def test_a_true_claim_is_proved_where_its_hypotheses_are_those_of_a_proof(given, status, said):
    """Else it says which are lacking; a proof of some answers alone is none. It read "not refuted", also of what has a proof."""
    result = searched("mine", *given, trials=36)
    assert (result.status, result.case, result.code) == (status, None, "")
    assert result.trials > 18, "of 36"
    assert said in result.sentence
    assert ("no proof" in result.sentence) == (status == "not refuted")


def test_proofs_are_of_the_package_alone():
    """Not of own mechanisms, properties or instances, nor of other parameters; nor is a case with other parameters a witness."""

    def market(_):
        return True

    one = fa.Instance([[1], [1]], [[2]])
    assert searched("a", "nb", market, "one server, at least 2 users", trials=9).status == "not decided"
    assert searched("b", "nb", "pareto", instances=lambda _: one, trials=9).status == "not decided"
    for values in ((1, 4), (np.array([1.0, 4.0]), 2)):
        four = searched("c", "alpha-pf-vds", "envy-freeness", "everywhere, 2 users", parameters={"alpha": values}, trials=9)
        assert "K.T3.envy proves it under more hypotheses: alpha in 1, 2, 3, 1.5, 10, inf" in four.sentence
    some = searched("d", "drfh", "pareto", holds="some", trials=9)
    assert (some.status, some.case, some.code) == ("refuted", None, "")
    assert "refuted. proved that there is none: it follows from the definition" in some.sentence
    for limit in (AMPLE, 1e-9):
        found = laboratory.verify([fa.claim("e", "drfh", "pareto").statement], limit, jobs=1, trials=9)["e"]
        assert found.status == "proved"
        assert found.sentence.startswith("proved: it follows from the definition"), "also where no time was left to look at it"


@pytest.mark.deep
def test_a_false_claim_is_refuted_by_code_that_runs(capsys):
    """LMMF is not strategyproof (Z Proposition 6)."""
    result = searched("LMMF is strategyproof", mechanism="lmmf", property="strategyproofness", hypotheses="everywhere")
    assert result.status == "refuted"
    assert "refuted in rationals" in str(result)
    assert result.code in str(result)
    assert result.case.misreport is not None
    assert "before = " in result.code
    assert "after = " in result.code
    assert "Fraction(" in result.code
    assert run(result.code, capsys) == result.verdict.sentence


def test_a_case_that_is_not_meant_says_what_it_lacks():
    """Of what is reported, too: where everybody may use every server nobody hides one."""
    claimed = fa.claim("truth pays", mechanism="ps-dsf", property="strategyproofness", hypotheses="everywhere, positive")
    instance = fa.Instance([[1], [1]], [[1], [1]])
    for case, lacks in (
        (fa.Case(instance, misreport=fa.Misreport((0,), (None,), ((True, False),))), "everywhere, as reported"),
        (fa.Case(fa.Instance([[1, 0], [1, 1]], [[1, 1]]), misreport=fa.Misreport((0,), (((1, 2),),), (None,))), "positive"),
        (fa.Case(instance), "another number of users who misreport"),
    ):
        with pytest.raises(fa.InstanceError, match=f"not about this case, which does not satisfy: {lacks}$"):
            claimed.check(case)


@pytest.mark.deep
def test_code_with_other_numbers_fails():
    """Its assertions check the tasks and the violation."""
    code = searched("LMMF is strategyproof", "lmmf", "strategyproofness", "everywhere").code
    line = next(line for line in code.splitlines() if "tasks_exact" in line)
    with pytest.raises(AssertionError):
        exec(code.replace(line, line.replace("Fraction(1, ", "Fraction(1, 1")), {})
    truthful = code.replace("misreport=misreport", "").replace("instance, )", "instance)")
    with pytest.raises(fa.InstanceError, match="not about this case"):
        exec(truthful, {})


@pytest.mark.deep
@pytest.mark.unmeasured
def test_who_leaves_is_in_the_code(capsys):
    result = searched("TSF is population monotone", "tsf", "population-monotonicity", "everywhere, unlimited")
    assert result.status == "refuted"
    assert "has left" in result.code
    assert run(result.code, capsys) == result.verdict.sentence


def test_parameters_are_in_the_code(capsys):
    result = searched(
        "a task for everybody", "fds", one_task, "one server, one resource", parameters={"alpha": (0.25,)}, trials=40
    )
    assert result.status == "refuted"
    assert "alpha=0.25" in result.code
    assert run(result.code, capsys) == result.verdict.sentence


def test_an_infinite_parameter_is_python(capsys):
    """The code had the name `inf`, which nothing defines."""
    case = fa.Case(fa.Instance([["1/2", 1], [1, "1/3"]], [["1/2", "1/2"], [1, "1/2"]]), parameters={"alpha": np.inf})
    claimed = fa.claim("efficient", "alpha-pf-vds", "pareto", parameters={"alpha": (np.inf, 5)})
    assert run(witness_code(claimed, case), capsys).startswith("not Pareto optimal")
    assert eval(case.code(), vars(fa) | {"Case": fa.Case}).parameters == case.parameters


@pytest.mark.deep
def test_somebody_claims_a_violation():
    result = searched("LMMF is not strategyproof", "lmmf", "strategyproofness", "everywhere", holds="some")
    assert result.status == "proved"
    assert "confirmed in rationals" in str(result)
    assert searched("nobody may run", "drfh", "feasibility", holds="some", trials=40).status == "refuted", "it is proved"


# ---- mechanisms of one's own ----------------------------------------------------------------------------------------


@pytest.mark.deep
def test_an_own_mechanism_is_refuted_in_floating_point_and_says_so(capsys):
    result = searched("the most tasks leave nobody envious", MOST, "envy-freeness", "everywhere")
    assert result.status == "not decided: violated in floating point"
    text = str(result)
    assert "in floating point by two methods, cvxpy:clarabel and " in text
    assert "no exact method computes it" in text
    assert "refuted" not in text
    assert "in rationals" not in text
    assert "import MOST" in result.code
    assert run(result.code, capsys) == result.verdict.sentence


def test_an_own_rule_with_exact_shares_is_refuted_in_rationals(capsys):
    result = searched("equal tasks give sharing incentive", BY_TASKS, "sharing-incentive", "everywhere, one server")
    assert result.status == "refuted"
    assert "tasks_exact" in result.code
    assert run(result.code, capsys) == result.verdict.sentence


def test_hierarchical_filling_is_exact():
    found = searched("a", "h-drf", "leximin-tasks", trials=40)
    assert (found.status, found.verdict.method) == ("refuted", "rational arithmetic")
    assert "allocation.tasks_exact == " in found.code


def test_a_mechanism_that_knows_no_groups_has_no_answer_where_there_are_some():
    """Neither to the search nor to the checks."""
    home = fa.Instance([[1, 2], [2, 1], [1, 1]], [[3, 4], [5, 2]], groups={"a": [0], "b": [1, 2]})
    for name in ("drfh", "drf-per-server"):
        with pytest.raises(fa.NotApplicable, match="knows no groups"):
            fa.claim("a", name, "pareto", instances=lambda _: home).check(fa.Case(home))
        with pytest.raises(fa.NotApplicable, match="knows no groups"):
            fa.check(fa.Allocation(home, [0.1] * home.A), name)


def test_a_function_that_asks_for_no_answer_is_judged_without_one():
    """The methods of the answers that it asked for were compared: a StopIteration."""
    verdict = fa.claim("never", MOST, lambda case, answer: False).check(fa.Case(fa.Instance([[1]], [[1]])))
    assert (verdict.holds, verdict.method) == (False, "floating point: it says yes or no")


@pytest.mark.deep
def test_a_single_method_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(own, "_others", lambda *_: [])
    result = searched("the most tasks are shared", MOST, "sharing-incentive", "everywhere, one server, one resource")
    assert result.status == "not decided: violated in floating point"
    assert "by one method, cvxpy:clarabel, for there is no other" in result.verdict.sentence


@pytest.mark.deep
def test_methods_that_disagree_decide_nothing(monkeypatch):
    """The second method gives everybody an equal part, so it violates nothing."""

    def equal(item, parameters, instance, known):
        return fa.solve(instance, "uniform")

    monkeypatch.setattr(own, "_by_another_method", equal)
    result = searched("the most tasks are shared", MOST, "sharing-incentive", "everywhere, one server", trials=60)
    assert (result.status, result.case) == ("not decided", None)
    assert "were not confirmed" in str(result)


def test_a_margin_of_rounding_is_no_violation_in_floating_point():
    small = searched("small", MOST, lambda _: NOISE / 2, trials=40)
    assert (small.status, small.case) == ("not decided", None)
    assert searched("large", MOST, lambda _: NOISE * 2, trials=40).status == "not decided: violated in floating point"


@pytest.mark.deep
def test_an_object_without_a_name_has_one_in_the_code(capsys):
    mine = MostTasks()
    result = searched("nobody is left out", mine, lambda allocation: 1 - allocation.tasks.min(), "everywhere")
    assert "\nmost_tasks = MostTasks()\n" in result.code
    assert run(result.code, capsys, mine_lambda=result.claim.property) == result.verdict.sentence


# ---- properties of one's own ----------------------------------------------------------------------------------------


@pytest.mark.deep
def test_an_own_property_is_as_exact_as_its_numbers(capsys):
    exact = searched("a task for everybody", "drfh", one_task_exactly)
    assert exact.status == "refuted"
    assert run(exact.code, capsys) == exact.verdict.sentence
    floats = searched("a task for everybody", "drfh", one_task)
    assert floats.status == "not decided: violated in floating point"
    assert "in floating point, at rational answers" in floats.verdict.sentence
    assert searched("feasible", "drfh", lambda allocation: bool(allocation.load.max() < 2), trials=60).status == "not refuted"
    assert searched("never", "drfh", lambda _: False, trials=60).status == "not decided: violated in floating point"
    assert searched("never", "drfh", fa.Property("never", lambda _: False), trials=60).verdict.property == "never"


def test_a_verdict_in_rationals_is_taken_as_it_is():
    def starved(allocation):
        least = min(allocation.tasks_exact)
        return fa.Verdict("starved", least > 0, -least, "somebody runs nothing", "comparison")

    assert searched("all run", "drfh", starved, trials=60).status == "not refuted"


@pytest.mark.deep
def test_an_own_judge_sees_the_mechanism(capsys):
    def misreporting_helps(case, answer):
        gains = fa.theorems.checkers.trials.property_judge("strategyproofness")(case, answer)
        return gains.margin

    result = searched("nobody gains", "lmmf", misreporting_helps, "everywhere", misreports=1)
    assert result.status == "not decided: violated in floating point", "the margin of a verdict is a float"
    assert "misreports=1" in result.code
    assert run(result.code, capsys, misreporting_helps=misreporting_helps) == result.verdict.sentence


@pytest.mark.deep
def test_the_definition_of_another_mechanism_is_a_property():
    result = searched("TSF is LMMF", "tsf", "lmmf")
    assert result.status == "refuted", "tasks are unique, and compared in rationals"
    assert searched("TSF is the uniform allocation", "tsf", "uniform").status == "not decided: violated in floating point"
    assert searched("DRFH is itself", "drfh", "drfh", trials=40).status == "not refuted"


def test_what_a_property_cannot_say_is_told():
    silent = searched("nothing", "drfh", lambda _: None, trials=40)
    assert silent.status == "not decided"
    assert "says nothing about this case" in str(silent)
    wrong = searched("wrong", "drfh", lambda _: "yes", trials=40)
    assert "returned 'yes', but it must return a Verdict, a bool, a number or None" in str(wrong)


def test_a_case_of_long_numbers_survives_and_a_wrong_one_is_one_sentence():
    long = Fraction(10**5000 + 1, 3 * 10**5000)
    told = fa.Misreport((0,), (((long,),),), (None,), (long,))
    case = fa.Case(fa.Instance([[1]], [[1]]), told, ((long,),), {"a": (long, 2)})
    again = parse_case(case.document())
    assert (again.misreport, again.points, again.parameters) == (told, case.points, case.parameters)
    nobody = [{"user": "x", "demands": None, "eligible": None}]
    for part in ({"parameters": {"a": {"rational": "x"}}}, {"misreport": nobody}, {"points": [["x"]]}):
        with pytest.raises(fa.InstanceError, match="case"):
            parse_case(case.document() | part)


@pytest.mark.parametrize(("judge", "words"), [(lambda _: "yes", "must return a Verdict"), (lambda _: 1 / 0, "division by zero")])
def test_a_function_that_fails_is_one_sentence_in_a_check(judge, words):
    claimed, case = fa.claim("wrong", "lmmf", judge), fa.Case(fa.Instance([[1]], [[1]]))
    with pytest.raises(fa.InstanceError, match=f"the check of the claim 'wrong' failed: .*{words}"):
        claimed.check(case)


def test_every_judge_has_a_line_and_can_be_asked():
    known = fa.claim_properties()
    assert {*MECHANISMS, "pareto", "population-monotonicity"} <= set(known)
    assert all(line.strip() for line in known.values())
    assert {own.judge_of(name).name for name in known} == set(known)


# ---- cases ----------------------------------------------------------------------------------------------------------


def test_instances_of_ones_own_are_tried_as_they_are(capsys):
    """The weights 1 and 7 of the family are those of the witness, though smaller ones would do."""

    def pairs(rng):
        return fa.Instance([[int(rng.integers(1, 5))], [2]], [[9]], weights=[1, 7], max_tasks=[4, None])

    result = searched("tasks are equal", "lmmf", lambda a: max(a.tasks_exact) - min(a.tasks_exact), instances=pairs)
    assert result.status == "refuted"
    assert result.case.instance.exact.weights == (1, 7)
    assert result.case.instance.exact.max_tasks == (4, None)
    with pytest.raises(fa.InstanceError, match="must return an Instance"):
        searched("wrong", "lmmf", "pareto", instances=lambda _: 3)


def test_a_witness_on_record_is_none_among_instances_of_ones_own():
    """Who is alone envies nobody and gains by no report; with seven users the sentence says seven."""
    alone = fa.claim("a", "lmmf", "strategyproofness", instances=lambda rng: fa.Instance([[int(rng.integers(1, 5))]], [[4]]))
    assert alone.search(time_limit=AMPLE, trials=40).status == "not refuted"
    assert laboratory.verify([alone.statement], AMPLE, jobs=1, trials=40)["a"].case is None
    seven = searched("b", "lmmf", "pareto", instances=lambda _: fa.Instance(7 * [[1, 2]], [[1, 2]]), trials=20)
    assert "20 cases of up to 7 users, 1 server, 2 resources" in seven.sentence


@pytest.mark.parametrize(("what", "size"), [("users", 0), ("servers", 1), ("resources", 2)])
def test_a_least_size_is_kept(what, size, capsys):
    """Samples, smaller cases and the code have at least as many; a case with fewer is not meant."""
    claimed = fa.claim("lmmf", mechanism="lmmf", property="strategyproofness", hypotheses=f"at least 3 {what}")
    found = claimed.search(trials=300, time_limit=60)
    assert found.status == "refuted"
    case = found.case.instance
    assert (case.N, case.K, case.R)[size] == 3
    assert f"at least 3 {what}" in found.code
    exec(found.code, {})
    assert "misreporting" in capsys.readouterr().out
    small = fa.Case(fa.Instance([[1], [1]], [[1]]), misreport=fa.Misreport((0,), (((2,),),), (None,)))
    with pytest.raises(FairallocError, match=f"at least 3 {what}"):
        claimed.check(small)


def test_more_users_than_a_sample_can_have_are_refused():
    with pytest.raises(FairallocError, match="at least 9999 users', but samples have at most 100 users"):
        fa.Hypotheses.of("at least 9999 users")


def test_instances_that_differ_by_floors_alone_are_all_tried():
    """The first instance of a search stood for all others that have the same numbers but for their floors."""

    def made(rng):
        return fa.Instance([[1], [1]], [[1]], min_tasks=[0, (0, "3/4")[rng.integers(2)]])

    found = searched("equal", "lmmf", lambda a: max(a.tasks_exact) - Fraction(1, 2), instances=made, trials=40)
    assert found.status == "refuted"


def test_what_was_searched_has_the_sizes_that_were_tried():
    """It said "3 resources" where there is one."""
    found = fa.claim("fits", "drfh", "feasibility", "at least 6 servers, one resource").search(trials=30)
    assert found.sentence.endswith("of up to 4 users, 6 servers, 1 resource (seed 0)")


def test_at_least_none_is_any_number():
    """The search ended with an IndexError: it drew instances without users."""
    words = "at least 0 users, at least 0 servers, at least 0 resources"
    assert fa.claim("feasible", mechanism="drfh", property="feasibility", hypotheses=words).search(trials=30).trials > 0


def test_no_instance_has_one_server_and_two():
    with pytest.raises(FairallocError, match="no instance has them"):
        Hypotheses.of("one server, at least 2 servers")


def test_words_that_exclude_each_other_are_refused():
    """The last one counted alone, so that a claim was about more or other cases than its words say."""
    for words in ("misreported demands, misreported servers", "one variant, several variants"):
        with pytest.raises(FairallocError, match="no instance has them"):
            Hypotheses.of(words)
    for words in ("at least 3 users, at least 2 users", "2 users, 3 users, positive, positive"):
        assert Hypotheses.of(words).users == 3


def test_a_size_that_no_sample_has_is_no_word():
    with pytest.raises(fa.UnknownName, match="there is no hypothesis 'at least 999"):
        fa.claim("a", "lmmf", "pareto", "at least " + "9" * 5000 + " users")


def test_words_may_come_from_an_iterator():
    """All of them were lost, for the check had read them; without words instances of one's own need satisfy none."""
    assert str(Hypotheses.of(word for word in ("positive", "everywhere"))) == str(Hypotheses.of("positive, everywhere"))
    home = fa.Instance([[1]], [[1]])
    positive, plain, none = (
        fa.claim("a", "drfh", "pareto", words, instances=lambda _: home).hypotheses for words in (iter(["positive"]), "", ())
    )
    assert positive.positive
    assert positive.unlimited
    assert not plain.unlimited
    assert not none.unlimited


def test_every_word_has_a_meaning():
    """Each word of the list is taken, and says something else than all others."""
    words = hypothesis_words()
    assert all(str(Hypotheses.of(word.replace("N", "2"))) for word in words)
    assert len(set(words.values())) == len(words) - 2, "the least numbers are one meaning"


def test_words_make_hypotheses():
    every = "one server, one-resource, several variants, own_demands, everywhere, positive, limits, equal weights, 3 users"
    made = fa.Hypotheses.of(every)
    assert made == fa.Hypotheses.of(made.spelled)
    assert made.users == 3
    assert not made.one_variant
    assert fa.Hypotheses.of(()) == fa.Hypotheses.of("") == fa.Hypotheses()
    assert fa.Hypotheses.of(["positive"]).spelled == "positive"


@pytest.mark.few(1)
@pytest.mark.parametrize("about", ["demands", "servers", "tasks"])
def test_a_misreport_may_be_about_one_thing_alone(about):
    assumed = fa.Hypotheses.of(f"limits, at least 2 users, misreported {about}")
    assert fa.Hypotheses.of(assumed.spelled) == assumed
    assert f"misreported {about}" in assumed.words
    rng, seen = np.random.default_rng(1), 0
    for _ in range(60):
        try:
            case = assumed.sample(rng, 2).case()
        except FairallocError:
            continue
        if case.misreport is None:
            continue
        seen += 1
        parts = {"demands": case.misreport.demands, "servers": case.misreport.eligible, "tasks": case.misreport.max_tasks}
        assert {name for name, part in parts.items() if any(one is not None for one in part)} == {about}
        again = parse_case(json.loads(json.dumps(case.document())))
        assert (again.misreport, again.reported) == (case.misreport, case.reported)
        names = {"Case": fa.Case, "Instance": fa.Instance, "Misreport": fa.Misreport, "Fraction": Fraction}
        assert eval(case.code(), names).misreport == case.misreport
        assert assumed.satisfied_by(case)
        others = {name for name in parts if name != about}
        assert not any(fa.Hypotheses.of(f"limits, at least 2 users, misreported {name}").satisfied_by(case) for name in others)
    assert seen > 5


def test_a_report_of_fewer_tasks_is_what_it_says():
    truth = fa.Instance([[1], [1]], [[4]], max_tasks=[3, 3])
    told = fa.Misreport((1,), (None,), (None,), (Fraction(1),))
    assert told.reported(truth).exact.max_tasks == (3, 1)
    result = searched("drf is strategyproof", "drf", "strategyproofness", "one server, limits, misreported tasks", trials=300)
    assert result.status == "not refuted"
    with pytest.raises(fa.UnknownName, match="misreported weights"):
        fa.Hypotheses.of("misreported weights")
    with pytest.raises(fa.UnknownName):
        fa.Hypotheses.of("servers")


@pytest.mark.deep
@pytest.mark.unmeasured
def test_the_seed_determines_what_is_found():
    def found(seed):
        result = searched("LMMF is strategyproof", "lmmf", "strategyproofness", "one server, everywhere", seed=seed)
        document = result.finding.document()
        return json.dumps({**document, "seconds": 0})

    assert found(3) == found(3)
    assert found(3) != found(4)


# ---- limits ---------------------------------------------------------------------------------------------------------


def test_the_seconds_are_held(monkeypatch):
    """A clock by which every look takes a tenth of a second: finding and shrinking together stay within the limit."""
    now = [0.0]

    def tick():
        now[0] += 0.1
        return now[0]

    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=tick))
    monkeypatch.setattr(investigate, "watched", lambda: True)  # in a child the clock would not be seen
    assert fa.claim("LMMF is strategyproof", "lmmf", "strategyproofness", "everywhere").search(time_limit=40).status == "refuted"
    assert now[0] < 48 + 1
    before = now[0]
    assert fa.claim("DRFH is Pareto optimal", "drfh", "pareto").search(time_limit=10).case is None
    assert 8 < now[0] - before < 12 + 1


def test_an_interrupt_leaves_what_was_found():
    seen, limit = [], 5

    def interrupting(allocation):
        seen.append(allocation)
        if len(seen) > limit:
            raise KeyboardInterrupt
        return 1 - min(allocation.tasks_exact)

    result = fa.claim("a task for everybody", "drfh", interrupting).search(time_limit=AMPLE, trials=400)
    assert result.interrupted
    assert result.status == "refuted"
    assert result.case is not None
    assert "interrupted" in str(result.sentence)
    seen, limit = [], 30
    quiet = fa.claim("never", "drfh", lambda a: interrupting(a) * 0).search(time_limit=AMPLE, trials=400)
    assert (quiet.interrupted, quiet.trials, quiet.case) == (True, 30, None)


def strategyproofness(case, answer):
    return case is None


WRONG = [
    ({"text": ""}, "text is '', but it must be a sentence"),
    ({"text": 3}, "text is 3, but it must be a sentence"),
    ({"mechanism": "tfs"}, "did you mean 'tsf'"),
    ({"mechanism": 7}, "mechanism 7"),
    ({"property": "paretto"}, "did you mean 'pareto'"),
    ({"property": 7}, "the property is 7"),
    ({"property": lambda: True}, "takes 0 arguments"),
    ({"hypotheses": "posotive"}, "did you mean 'positive'"),
    ({"hypotheses": 3}, "the hypotheses are 3"),
    ({"holds": "most"}, "holds is 'most'"),
    ({"parameters": {"alpha": (1, 2)}}, "has no parameter 'alpha'"),
    ({"parameters": (1, 2)}, "parameters is (1, 2), but it must be a mapping"),
    ({"mechanism": "fds", "parameters": {"alpha": 2}}, "several values"),
    ({"misreports": -1}, "misreports is -1"),
    ({"id": "a\x1b[31m"}, "a name has no control characters"),
    ({"id": "K.T3.envy"}, "it must not be that of what was proved by machine"),  # it was "proved by machine" itself
    ({"instances": 3}, "instances is 3"),
    ({"property": strategyproofness}, "the name of the property is 'strategyproofness', but that is"),
    ({"property": fa.Property("pareto", one_task)}, "is 'pareto', but that is the name of another property"),
    ({"property": fa.Leximin("pareto", lambda at: np.ones(at.A))}, "is 'pareto', but that is the name of another property"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"utility": (fa.Utility(np.reciprocal),)}}, "which has functions"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"alpha": (1, -1)}}, "no instance of the claim takes alpha=-1: alpha is -1"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"alpha": ("x",)}}, "no instance of the claim takes alpha='x': alpha is 'x'"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"alpha": ([1] * 4,)}}, "alpha has 4 entries, but there are 3 servers"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"alpha": ({"s1": 1, "s9": 2},)}}, "alpha names server 's9'"),
    ({"mechanism": "alpha-pf-vds", "parameters": {"A": (0,), "B": (0, 1)}}, "takes A=0, B=0"),
    ({"mechanism": "njc", "parameters": {"objective": ("closest",)}}, "'closest' and target come together"),
]


@pytest.mark.parametrize(("changes", "says"), WRONG, ids=[says for _, says in WRONG])
def test_a_wrong_argument_is_one_sentence(changes, says):
    with pytest.raises(FairallocError) as caught:
        fa.claim(**{"text": "mine", "mechanism": "tsf", "property": "pareto"} | changes)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parameters_are_taken_together_and_by_the_instances_of_the_claim():
    game = partial(fa.claim, "mine", "alpha-pf-vds", "pareto")
    assert game(parameters={"alpha": ([1, 2],)})
    assert game("at least 4 servers", parameters={"alpha": ([1, 2, 3, 4],)})
    with pytest.raises(fa.InstanceError, match="alpha has 2 entries, but there are 1 servers"):
        game("one server", parameters={"alpha": ([1, 2],)})
    assert game(parameters={"A": (0, 1), "B": (0, 1)})
    assert game(parameters={"alpha": ([1] * 5,)}, instances=lambda _: fa.Instance([[1]], [[1]] * 5))
    assert fa.claim("mine", "njc", "pareto", parameters={"objective": ("closest",), "target": ([1, 2],)})


def test_the_definition_of_a_mechanism_is_judged_in_rationals_where_its_tasks_are_unique():
    """A claim that PS-DSF is DRFH was "not decided: violated in floating point"."""
    asked = fa.claim("PS-DSF is DRFH", "ps-dsf", "drfh")
    found = asked.check(fa.Case(fa.Instance([[1, 0], [1, 1]], [[1, 0], [1, 1]])))
    assert (found.holds, found.method) == (False, "rational arithmetic on a certificate")
    assert found.sentence == "user 'u2' runs 1 tasks, and 2/3 by drfh"
    assert asked.check(fa.Case(fa.Instance([[1, 2], [2, 1]], [[3, 3]]))).holds
    assert searched("PS-DSF is DRFH", "ps-dsf", "drfh", trials=60).status == "refuted"
    game, pool = fa.claim("DRFH is PS-DSF", "drfh", "ps-dsf"), fa.claim("DRF is NJC", "drf", "njc", "limits")
    uneven = fa.Case(fa.Instance([[1, 0], [1, 1]], [[1, 0], [1, 1]]))
    one = [fa.Case(fa.Instance([[1], [1]], [[1]], max_tasks=limits)) for limits in ([None, None], ["1/4", None])]
    told = [game.check(uneven), game.check(one[0]), *map(pool.check, one)]
    assert [(one.holds, one.method) for one in told] == [(holds, "rational arithmetic: its definition") for holds in (0, 1, 1, 1)]
    short = fa.Case(fa.Instance([[0, 1], [2, 1]], [[2, 2]]))
    assert pool.check(short).holds is False, "user 2 has 2/3 of its request, and a third of the full resource"
    assert game.check(fa.Case(fa.Instance([[1], [1]], [[1]]))).holds
    two = fa.claim("DRFH is DRF on each server", "drfh", "drf-per-server").check(fa.Case(fa.Instance([[1], [1]], [[1], [1]])))
    assert two.method.startswith(FLOATING_POINT), "totals do not say what runs on which server"


def test_a_point_in_an_id_does_not_hide_the_record():
    for name in ("my.claim", "K.mine"):
        found = [searched("mine", "drfh", "pareto", id=name, holds=holds, trials=30).status for holds in ("all", "some")]
        assert found == ["proved", "refuted"]


@pytest.mark.parametrize(
    ("name", "objective", "instance"),
    [
        ("ps-dsf", "tasks", fa.Instance([[2, 1], [1, 2]], [[2, 2], [1, 1]])),
        ("njc", "utilisation", fa.Instance([[1, 1, 3], [1, 0, 2], [2, 0, 0]], [[2, 4, 2]])),
    ],
)
def test_an_objective_is_judged_at_the_answer_that_it_chooses(name, objective, instance):
    def less_than_the_best(allocation):
        return float(fa.solution_set(instance, name).best(objective).value) - allocation.values[objective]

    chosen = fa.mechanism(name).configure(objective=objective)
    asked = fa.claim("best", name, less_than_the_best, parameters={"objective": (objective,)})
    assert asked.check(fa.Case(instance, parameters={"objective": objective})).holds
    assert fa.claim("best", chosen, less_than_the_best).check(fa.Case(instance)).holds


@pytest.mark.parametrize("limits", [{"time_limit": 0}, {"time_limit": "long"}, {"trials": 0}, {"seed": -1}, {"seed": True}])
def test_a_wrong_limit_is_one_sentence(limits):
    ((name, _),) = limits.items()
    with pytest.raises(fa.InstanceError, match=f"^{name} is "):
        fa.claim("mine", "tsf", "pareto").search(**limits)


@pytest.mark.skipif(bool(isolation_missing()), reason="processes cannot be forked here")
def test_a_case_that_hangs_is_ended_and_what_was_found_is_kept():
    calls = []

    def hangs_late(allocation):
        calls.append(allocation)
        if len(calls) > 30:
            time.sleep(3600)
        return True

    result = fa.claim("no end", "drfh", hangs_late).search(time_limit=2)
    assert result.case is None
    assert not result.interrupted
    assert result.trials <= 30


# ---- where claims go ------------------------------------------------------------------------------------------------


def test_two_statements_of_one_name_are_refused_and_one_given_twice_is_looked_at_once():
    """The finding of the first was that of the second."""
    one, other = (fa.claim("it is so", name, "pareto").statement for name in ("lmmf", "drfh"))
    with pytest.raises(fa.InstanceError, match="two claims are named 'it-is-so'"):
        laboratory.verify([one, other], AMPLE, jobs=1, trials=1)
    told = []
    assert [*laboratory.verify([one, one], AMPLE, jobs=1, trials=1, tell=told.append)] == ["it-is-so"]
    assert len(told) == 1


def test_claims_of_a_module_are_found_once():
    first, second = fa.claim("First one.", "tsf", "pareto"), fa.claim("second", "drfh", "pareto", id="K.mine")
    module = SimpleNamespace(first=first, again=first, several=[second], other=3)
    assert list(statements_of(module)) == ["first-one", "K.mine"]
    assert statements_of(first)["first-one"].paper == "own"
    with pytest.raises(fa.InstanceError, match="two claims are named 'first-one'"):
        statements_of([first, fa.claim("first one", "drfh", "pareto")])


@pytest.mark.deep
@pytest.mark.unmeasured
def test_a_matrix_of_ones_own():
    made = fa.property_matrix(
        ["drfh", MOST], ["pareto", "envy-freeness", one_task], "one server, one resource", time_limit=AMPLE, trials=40
    )
    cells = {(row[0], column): cell for row in made.grid.rows for column, cell in zip(made.grid.columns, row, strict=True)}
    assert cells["pareto", "drfh"] == "✓", "the papers' statement has a proof"
    assert cells["envy-freeness", "most-tasks"] == "~"
    assert cells["pareto", "most-tasks"] == "○"
    assert cells["one_task", "drfh"] == "~"
    assert "not confirmed in rationals" in str(made)
    assert ">~</td>" in made._repr_html_()
    assert "trials if one server, one resource" in str(made)
    known = fa.property_matrix(["drfh"], ["pareto"], time_limit=AMPLE)
    assert known.grid.rows == [["pareto", "✓"]]
    with pytest.raises(fa.InstanceError, match="mechanisms is 'drfh', but it must be a list"):
        fa.property_matrix("drfh", ["pareto"])


def test_a_margin_within_the_tolerance_is_compared_with_it():
    """It was said that 5e-07 is at most 0."""
    case = fa.Case(fa.Instance([[1]], [[1]]))
    said = [fa.claim("a", "tsf", lambda _, m=m: m).check(case).sentence for m in (5e-7, 1.0, Fraction(1, 10**7))]
    assert said[0] == "<lambda> is not violated: 5e-07 is at most 1e-06"
    assert said[1].endswith("1.0 is above 1e-06")
    assert said[2].endswith("1/10000000 is above 0")


def test_each_cell_of_a_matrix_has_a_name_of_its_own():
    """Of two functions with one name, or with ids that are the same when cut short, one was lost, or spoke for both."""

    def holds(allocation):
        return True

    def fails(allocation):
        return False

    holds.__name__, fails.__name__ = "a" * 60 + "_1", "a" * 60 + "_2"
    rows = fa.property_matrix(["drfh"], [holds, fails, fails], trials=30).grid.rows
    assert rows == [[holds.__name__, "○"], [fails.__name__, "~"]]
    assert fa.property_matrix(["nb", "ceei"], ["pareto"]).grid.rows == [["pareto", "✓"]]
    holds.__name__ = fails.__name__ = "mine"
    with pytest.raises(fa.InstanceError, match="two of the properties are named 'mine'"):
        fa.property_matrix(["drfh"], [holds, fails])
    with pytest.raises(fa.InstanceError, match="two of the mechanisms are named 'drfh'"):
        fa.property_matrix(["drfh", fa.Leximin("drfh", lambda i: np.ones(i.N))], ["pareto"])


def test_nothing_is_proved_of_an_own_mechanism_with_the_name_of_another():
    """The cell of the largest number of tasks as "tsf" was proved by the definition of tsf."""
    mine = type("Mine", (MostTasks,), {"id": "tsf"})()
    assert fa.property_matrix([mine], ["feasibility"], trials=30).grid.rows == [["feasibility", "○"]]
    assert (
        fa.property_matrix(["utilitarian"], [fa.Leximin("utilitarian", lambda i: np.ones(i.N))], trials=20).grid.rows[0][1] != "✓"
    )


def test_findings_on_record_are_confirmed_again():
    statements, record = all_statements(), packaged()
    refuted = on_record(statements["Z.P6"], record)
    assert refuted.status in ("proved", "refuted")
    assert refuted.case is not None
    assert refuted.verdict.holds is False
    empty = type(record)([], record.searched)
    assert on_record(statements["Z.P6"], empty).status == "not decided", "a violation without a witness is none"
    assert on_record(fa.claim("mine", "tsf", "pareto").statement, record).status == "not decided"


def test_what_floating_point_says_begins_with_these_words():
    assert not any(w["verdict"]["method"].startswith(FLOATING_POINT) for w in packaged().witnesses)


OWN_FILE = """
import fairalloc as fa
import numpy as np
from fractions import Fraction

equal = fa.Leximin("equal", lambda i: np.ones(i.N), exact_share=lambda i: (Fraction(1),) * i.N)

def one_task(allocation):
    return 1 - min(allocation.tasks_exact)

fair = fa.claim("equal tasks are envy-free", equal, "envy-freeness", "one server, one resource, everywhere, equal weights")
fed = fa.claim("everybody runs a task", equal, one_task)
"""


@pytest.fixture
def own_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN_FILE)
    (tmp_path / "empty.py").write_text("x = 1\n")
    return tmp_path


@pytest.mark.deep
def test_claims_in_a_file_are_verified_in_several_processes(own_file, capsys):
    if missing := isolation_missing():
        pytest.skip(missing)
    ask = ["theorems", "verify", "mine.py", "--time-limit", "60s", "--trials", "40", "--format", "json"]
    found = []
    for jobs in ("1", "2"):
        assert main([*ask, "--jobs", jobs]) == 1
        found.append({d["statement"]: (d["status"], d["case"]) for d in json.loads(capsys.readouterr().out)})
    assert found[0] == found[1]
    assert {status for status, _ in found[1].values()} == {"refuted"}
    strangers = statements_of([fa.claim("unknown elsewhere", "drfh", "pareto"), fa.claim("nor this", "drfh", "pareto")])
    with pytest.raises(FairallocError, match="unknown-elsewhere, nor-this are not registered: look at them with jobs=1"):
        laboratory.verify(strangers.values(), time_limit=5, jobs=2)


@pytest.mark.deep
def test_claims_in_a_file_are_verified(own_file, capsys):
    ask = ["--time-limit", "600s", "--trials", "40"]
    assert main(["theorems", "verify", "mine.py", *ask, "--format", "json"]) == 1
    found = {d["statement"]: d["status"] for d in json.loads(capsys.readouterr().out)}
    assert found == {"equal-tasks-are-envy-free": "refuted", "everybody-runs-a-task": "refuted"}
    assert main(["theorems", "verify", "mine.py:fed", *ask]) == 1
    out = capsys.readouterr().out
    assert "own" in out
    assert "everybody-runs-a-task: everybody runs a task" in out
    assert "equal-tasks" not in out
    assert not (own_file / "results").exists(), "nothing is kept"
    code = out[out.index("from fractions import") : out.index("Statements by paper")]
    said = {}
    exec(code.replace("print(verdict.sentence)", "said = verdict.sentence"), said)
    assert said["verdict"].holds is False
    assert said["said"] in out
    assert main(["theorems", "verify", "empty.py"]) == 2
    assert "empty.py defines no claim" in capsys.readouterr().err


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_a_matrix_of_what_is_in_a_file(own_file, capsys, form):
    ask = ["matrix", "-m", "mine.py:equal", "-m", "uniform", "--property", "mine.py:one_task", "--trials", "30"]
    assert main([*ask, "--time-limit", "600s", "--format", form]) == 0
    out = capsys.readouterr().out
    assert "equal" in out
    assert "uniform" in out
    assert "task" in out
    assert (r"\times" if form == "latex" else "✗") in out


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("mmf", {"min_tasks": ["1/2", 0]}),
        ("mmf", {"rates": [[1, 2], [3, 1]]}),
        ("nested-leximin", {"groups": {"g": [0]}}),
        ("gavel-max-min", {"rates": [[1, 2], [3, 1]]}),
    ],
)
def test_instances_of_a_claim_stay_what_they_are(name, more):
    """Floors, groups, rates and names of a family are those that its function made, in every case that is tried."""
    made = fa.Instance([[1], [2]], [[4], [2]], users=["a", "b"], **more)
    home = fa.mechanism(name).home(made)
    found = searched("the same", name, lambda allocation: allocation.instance == home, instances=lambda _: made, trials=30)
    assert found.status == "not refuted", found
    found = searched("another", name, lambda allocation: allocation.instance != home, instances=lambda _: made, trials=30)
    assert found.case.instance == made
    assert f"{next(iter(more))}=" in found.code


def test_what_is_proved_by_digits_is_not_said_to_be_proved_in_rationals():
    result = searched("nobody envies", "alpha-fair", "envy-freeness", parameters={"alpha": [2]}, trials=100)
    assert result.sentence.startswith("nobody envies: refuted in ball arithmetic. ")


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (FairallocError("the model is not that of its share"), "the last draft was rejected: the model is not that of its share"),
        (trials.Undecided("it is a stationary point"), "the last draft was not decided: it is a stationary point"),
    ],
    ids=["refused", "undecided"],
)
@pytest.mark.parametrize("holds", ["all", "some"])
def test_a_claim_that_nothing_decides_says_why(refusal, said, holds, monkeypatch):
    """The matrix and `verify` had said "0 cases" alone of a model that is refused."""

    def refuse(*_):
        raise refusal

    monkeypatch.setattr(own, "attempted", lambda item, judge: lambda case: trials.decided(refuse, case, None, FLOATING_POINT))
    mine = type("Mine", (MostTasks,), {"id": "mine"})()
    asked = fa.claim("mine is feasible", mine, "feasibility", holds=holds)
    assert said in laboratory.verify([asked.statement], AMPLE, jobs=1, trials=30)[asked.id].sentence
    assert said in asked.search(trials=30).sentence
    made = fa.property_matrix([mine], ["feasibility"], trials=30)
    assert made.grid.rows == [["feasibility", "?"]]
    assert said in made.text().replace("\n", " ")


def test_a_matrix_with_hypotheses_of_ones_own_speaks_of_these_instances():
    """A violation by unequal weights was "not examined", or the cell said "holds": the papers' row assumes equal weights."""
    assumed = "everywhere, one server, one resource, at least 2 users"
    made = fa.property_matrix(["drfh", "uniform"], ["sharing-incentive", "weak-sharing-incentive"], assumed, trials=60)
    assert made.grid.rows == [["sharing-incentive", "✓", "✓"], ["weak-sharing-incentive", "✗", "✗"]]
    alike = fa.property_matrix(["uniform"], ["weak-sharing-incentive"], f"{assumed}, equal weights", trials=30)
    assert alike.grid.rows == [["weak-sharing-incentive", "✓"]]


def test_arrows_count_within_the_hypotheses_alone():
    """Same demands were taken for one variant without limits, and instances of one's own for such without floors."""
    several = fa.Instance([[[1, 1], [2, 0]], [[1, 0]]], [[1, 1], [4, 0]])  # the first user's way with less of r1 has one server
    assert fa.check(fa.solve(several, "nb"), "bottleneck-fairness").holds is False
    assert fa.property_matrix(["nb"], ["bottleneck-fairness"], "several variants, bottleneck", trials=9).grid.rows[0][1] != "✓"
    with_floor = fa.Instance([[1], [1]], [[4]], min_tasks=[3, 0])
    assert fa.check(fa.solve(with_floor, "nb"), "envy-freeness").holds is False
    family = Hypotheses(instances=lambda rng: with_floor.replace(min_tasks=[0, 0]))
    assert fa.property_matrix(["nb"], ["envy-freeness"], family, trials=3).grid.rows[0][1] != "✓"
