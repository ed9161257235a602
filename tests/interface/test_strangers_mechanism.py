"""A mechanism and a property of one's own, as a person who knows nothing of the package writes them: as a class, by any name."""

import pickle
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import fairalloc as fa
from fairalloc import benchmarks
from fairalloc.cli import main
from fairalloc.formulations import Mechanism
from fairalloc.formulations.common.tasks import cvxpy_tasks
from tests import tolerances

WANG = fa.example("wang-fig2").instance

MINE = """
import cvxpy as cp
from fairalloc.formulations import Mechanism
from fairalloc.formulations.common.tasks import cvxpy_tasks

class Most(Mechanism):
    id = "most"

    def write_cvxpy(self, instance):
        x, constraints = cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)

def spread(allocation):
    return float(allocation.tasks.max() - allocation.tasks.min()) - 1
"""


class Most(Mechanism):
    id = "most"

    def write_cvxpy(self, instance):
        x, constraints = cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


class AtMost(Most):
    id = "at-most"

    def __init__(self, limit):
        self.limit = limit


class Failing(Most):
    def __init__(self):
        raise RuntimeError("no data")


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


# ---- a class where a mechanism goes ------------------------------------------------------------------------------------


def test_a_class_that_needs_no_arguments_is_a_mechanism():
    allocation = fa.solve(WANG, Most)
    assert allocation.mechanism == "most"
    assert allocation.tasks.sum() == pytest.approx(fa.solve(WANG, Most()).tasks.sum(), abs=tolerances.LINEAR)
    assert fa.check(allocation, Most).holds
    assert fa.explain(allocation, Most).mechanism == "most"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (AtMost, "AtMost is a class of mechanisms that needs limit: write AtMost(limit=...)"),
        (Failing, "the mechanism Failing() cannot be made: RuntimeError: no data"),
        (int, "mechanism is <class 'int'>, but it must be an id or a Mechanism"),
    ],
)
def test_other_classes_are_refused_in_a_sentence(given, sentence):
    with pytest.raises(fa.FairallocError) as caught:
        fa.solve(WANG, given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("place", ["{}:Most", "{}"])
def test_the_command_line_takes_a_class(mine, capsys, place):
    assert main(["solve", "wang-fig2", "-m", place.format(mine)]) == 0
    assert "most by" in capsys.readouterr().out


def test_the_matrix_and_the_benchmark_take_a_class(mine, tmp_path, capsys):
    assert main(["matrix", "-m", f"{mine}:Most", "--property", "pareto", "--trials", "2", "--time-limit", "5"]) in (0, 1)
    assert "most" in capsys.readouterr().out
    fa.write_instance(WANG, tmp_path / "wang.json")
    suite = benchmarks.suite_of([tmp_path / "wang.json"], [Most])
    assert suite.cases[0].label == "most"


# ---- what a residual or a function of instances returns or raises ----------------------------------------------------------


@pytest.mark.parametrize("value", ["far", None, [1.0, 2.0], True, -1.0, -np.inf, ZeroDivisionError("no data")])
def test_what_is_no_residual_is_named(value):
    """`check` said it in a traceback, and below 0 it held; `solve` keeps the answer, which is not judged."""

    class Own(Most):
        id = "own"

        def residual(self, _):
            if isinstance(value, Exception):
                raise value
            return value

    allocation = fa.solve(WANG, Own())
    assert allocation.has_point
    assert not allocation.claims_success
    words = "no data" if isinstance(value, Exception) else "its residual is .*, but it must be a number of at least 0"
    with pytest.raises(fa.InstanceError, match=f"the residual of 'own' failed: .*{words}"):
        fa.check(allocation, Own())


def test_a_residual_may_be_any_number():
    for value in (0, Fraction(0), np.float64(0), -1e-16, np.array(0.0), np.array([0.0])):
        own = type("Own", (Most,), {"id": "own", "residual": lambda self, _, value=value: value})()
        assert fa.check(fa.solve(WANG, own), own).holds


def test_a_function_of_instances_that_raises_is_named():
    def made(rng):
        raise ZeroDivisionError("no data")

    claimed = fa.claim("all is well", mechanism="drfh", property="pareto", instances=made)
    with pytest.raises(fa.InstanceError, match="the function of instances failed: ZeroDivisionError: no data"):
        claimed.search(trials=5)


# ---- names of edits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nb", "ceei"])
def test_an_edit_has_a_name_of_its_own(name):
    with pytest.raises(fa.FairallocError) as caught:
        fa.mechanism("drfh").edited(name, cvxpy=lambda problem, _: problem)
    assert str(caught.value) == f"the id of the edit is {name!r}, but that is the name of another mechanism"


# ---- numbers as properties ---------------------------------------------------------------------------------------------


def gap(allocation):
    return float(allocation.tasks.max() - allocation.tasks.min())


def exact_gap(allocation):
    return max(allocation.tasks_exact) - min(allocation.tasks_exact)


def test_a_number_is_the_margin_of_a_property_positive_where_it_is_violated():
    far = fa.Allocation(WANG, [5, 0, 0, 10])
    verdict = fa.check(far, gap)
    assert (verdict.holds, verdict.margin) == (False, 5.0)
    assert verdict.sentence == "gap is violated: 5.0 is above 1e-06"
    assert fa.check(far, gap, tolerance=6).holds
    assert fa.check(fa.Allocation(WANG, [5, 0, 0, 5]), gap).holds
    assert fa.check(far, fa.Property("minus", lambda a: -gap(a))).margin == -5.0


def test_an_exact_number_refutes_in_rationals():
    tiny = Fraction(1, 10**9)
    near = fa.Allocation(WANG, [5 + float(tiny), 0, 0, 5], x_exact=(5 + tiny, Fraction(0), Fraction(0), Fraction(5)))
    assert not fa.check(near, exact_gap).holds
    assert fa.check(near, gap).holds


def test_not_a_number_is_refused():
    with pytest.raises(fa.InstanceError, match="returned nan, but it must be a Verdict, True or False, or a number"):
        fa.check(fa.Allocation(WANG, [5, 0, 0, 5]), fa.Property("none", lambda _: float("nan")))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_beyond_the_range_of_floats_decides(sign):
    """Of 401 digits, and of 5001, which Python does not write."""
    for value in (sign * 10**400, Fraction(sign * 10**5000, 3)):
        own = fa.Property("own", lambda _, value=value: value)
        verdict = fa.check(fa.Allocation(WANG, [5, 0, 0, 5]), own)
        assert (verdict.holds, verdict.margin) == (sign < 0, sign * np.inf)
        assert "violated: " + "-" * (sign < 0) in verdict.sentence
        found = fa.claim("own", mechanism="drfh", property=lambda _, value=value: value).search(time_limit=60, trials=40)
        assert found.status == ("refuted" if sign > 0 else "not refuted")


def test_the_command_line_checks_a_number(mine, tmp_path, capsys):
    fa.write_allocation(fa.Allocation(WANG, [5, 0, 0, 10]), tmp_path / "far.json")
    assert main(["check", "wang-fig2", str(tmp_path / "far.json"), "--property", f"{mine}:spread"]) == 1
    assert "spread is violated: 4.0 is above" in capsys.readouterr().out


# ---- an allocation knows the mechanism it was solved for ---------------------------------------------------------------


def test_an_allocation_remembers_a_mechanism_of_ones_own():
    allocation = fa.solve(WANG, Most())
    assert fa.explain(allocation).mechanism == "most"
    assert fa.check(allocation, "most").holds
    assert "rule" not in repr(allocation)
    assert fa.solve(WANG, "drfh").rule is None
    edit = fa.mechanism("drfh").edited("capped", cvxpy=lambda problem, _: problem)
    assert fa.explain(fa.solve(WANG, edit)).mechanism == "capped"
    with pytest.raises(fa.UnknownName):
        fa.check(allocation, "capped")


def test_sensitivity_and_certificates_know_it_too():
    rule = fa.Leximin("own-shares", lambda instance: [1.0] * instance.N)
    allocation = fa.solve(WANG, rule)
    assert fa.sensitivity(allocation).up.shape[0] == WANG.N
    assert fa.certify(allocation, "own-shares").mechanism == "own-shares"


def test_it_travels_with_the_allocation():
    allocation = fa.solve(WANG, fa.mechanism("drfh").edited("capped", cvxpy=lambda problem, _: problem))
    again = pickle.loads(pickle.dumps(allocation))
    assert (again.x == allocation.x).all()
    assert fa.explain(again).mechanism == "capped"


def test_the_command_line_checks_an_allocation_of_an_unknown_mechanism(mine, tmp_path, capsys):
    fa.write_allocation(fa.solve(WANG, Most), tmp_path / "own.json")
    assert main(["check", "wang-fig2", str(tmp_path / "own.json"), "--property", f"{mine}:spread"]) in (0, 1)
    assert "spread is" in capsys.readouterr().out
    assert main(["check", "wang-fig2", str(tmp_path / "own.json")]) == 2
    assert "one of your own is named by -m FILE.py:NAME" in capsys.readouterr().err
    assert main(["check", "wang-fig2", str(tmp_path / "own.json"), "-m", f"{mine}:Most"]) == 0


# ---- explanations are about the given split ----------------------------------------------------------------------------


def test_an_explanation_is_about_the_split_that_it_is_given():
    instance = fa.Instance([[1], [1]], [[3], [3]])
    for x in ([3, 0, 0, 3], [0, 3, 3, 0], [1, 2, 2, 1]):
        allocation = fa.Allocation(instance, x, "drfh")
        said = [s.facts for s in fa.explain(allocation).sentences if s.kind == "server"]
        tasks = {(f["user"], f["server"]): f["tasks"] for f in said}
        wanted = {
            (u, s): allocation.by_server[n, i] for n, u in enumerate(instance.users) for i, s in enumerate(instance.servers)
        }
        assert {key: float(value) for key, value in tasks.items()} == pytest.approx(wanted)
        assert len({type(value) for value in tasks.values()} - {int}) == 1
