"""FILE.py:NAME wherever an id goes: mechanisms, methods, properties and suites, on the command line and in other processes."""

import json
import textwrap
import threading

import pytest
from tolerances import EXACT

from fairalloc import benchmarks
from fairalloc.benchmarks import Setting, Suite, SuiteCase
from fairalloc.cli import main
from fairalloc.formulations import mechanism
from fairalloc.models import InstanceError, UnknownName
from fairalloc.models.examples.published import example
from fairalloc.runs.objects import MECHANISM, METHOD, PROPERTY, load_object, load_objects, packed, unpacked
from fairalloc.solvers import METHODS

OWN = """
    import cvxpy as cp
    import fairalloc as fa
    from fairalloc.benchmarks import Suite, SuiteCase
    from fairalloc.solvers import METHODS
    from own_neighbour import LIMIT

    def cap(problem, instance):
        x = problem.var_dict["x"]
        return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[0]] @ x <= LIMIT])

    capped = fa.mechanism("drfh").edited("capped", cvxpy=cap)

    class Renamed(type(METHODS["cvxpy:highs"])):
        id = "renamed"

        def __init__(self):
            self.__dict__.update(METHODS["cvxpy:highs"].__dict__, id="renamed")

    def at_most_four(allocation):
        return bool(allocation.tasks[0] <= 4 + 1e-6)

    number = 7
    suite = Suite("mine", "one case", (SuiteCase("wang", capped, lambda: fa.example("wang-fig2").instance),))
"""


@pytest.fixture
def own(tmp_path):
    """The file, and its neighbour from which it imports."""
    (tmp_path / "own_neighbour.py").write_text("LIMIT = 4\n")
    file = tmp_path / "own_things.py"
    file.write_text(textwrap.dedent(OWN))
    return file


def test_a_file_is_loaded_once(own):
    first = load_object(f"{own}:capped", MECHANISM)
    assert load_object(str(own), MECHANISM) is first
    assert first.id == "capped"


def test_only_what_a_file_made_is_found_without_a_name(own):
    assert list(load_objects(str(own), PROPERTY)) == ["cap", "at_most_four"]
    assert list(load_objects(str(own), METHOD)) == ["Renamed"]


def test_a_suite_of_files_names_the_edit_and_not_its_function(own, tmp_path):
    suite = benchmarks.suite_of(["a.json", "b.json"], [load_object(f"{own}:capped", MECHANISM)], tmp_path)
    assert suite.words == f"{tmp_path} --mechanism {own}:capped"
    assert suite.cases[0].words.endswith(f"a.json --mechanism {own}:capped")


def test_an_object_travels_by_its_pickle(own):
    again = unpacked(packed(load_object(f"{own}:capped", MECHANISM)))
    instance = example("wang-fig2").instance
    assert again.cvxpy(instance).solve() == pytest.approx(2 / 7, rel=1e-6)
    assert packed("drfh") == unpacked("drfh") == "drfh"
    with pytest.raises(InstanceError, match=r"cannot be sent to another process: TypeError"):
        packed(threading.Lock())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nowhere.py:x", "there is no file 'nowhere.py'"),
        (f"{'n' * 80}.py", f"there is no file '{'n' * 80}.py'"),
        ("{own}:cappd", "there is no object 'cappd' (did you mean 'capped' or 'cap'?): {own} defines "),
        ("{own}:number", "'number' of {own} is 7, but it must be a mechanism"),
        ("{own}:", "there is no object ''"),
        ("{folder}/empty.py", "{folder}/empty.py must define one mechanism, but it defines none"),
        (
            "{folder}/two.py",
            "{folder}/two.py must define one mechanism, but it defines a, b: name one of them as ",
        ),
        ("{folder}/half.py", "{folder}/half.py cannot be loaded: SyntaxError: invalid syntax (line 2)"),
        ("{folder}/fails.py", "{folder}/fails.py cannot be loaded: ZeroDivisionError: division by zero (line 3)"),
        ("{folder}/ends.py", "{folder}/ends.py cannot be loaded: SystemExit: 3 (line 1)"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(own, text, sentence):
    folder = own.parent
    (folder / "empty.py").write_text("")
    (folder / "two.py").write_text(
        "import fairalloc as fa\n"
        "a = fa.mechanism('drfh').edited('a', cvxpy=lambda p, i: p)\nb = fa.mechanism('drfh').edited('b', cvxpy=lambda p, i: p)\n"
    )
    (folder / "half.py").write_text("x = 1\nx = = 2\n")
    (folder / "fails.py").write_text("def f():\n    return 1\nx = f() / 0\n")
    (folder / "ends.py").write_text("raise SystemExit(3)\n")
    with pytest.raises((InstanceError, UnknownName)) as error:
        load_object(text.format(own=own, folder=folder), MECHANISM)
    assert str(error.value).startswith(sentence.format(own=own, folder=folder))
    assert "\n" not in str(error.value)


def test_solve_and_check_take_them(own, capsys):
    assert main(["solve", "wang-fig2", "-m", f"{own}:capped", "--format", "json"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)["users"][0]["tasks"] == pytest.approx(4, rel=1e-6)
    (own.parent / "a.json").write_text(text)
    check = ["check", "wang-fig2", str(own.parent / "a.json"), "--format", "json"]
    assert main([*check, "-m", f"{own}:capped", "--property", f"{own}:at_most_four", "--property", "capped"]) == 0
    assert [row["property"] for row in json.loads(capsys.readouterr().out)] == ["at_most_four", "capped"]
    assert main(check) == 2
    assert "there is no mechanism 'capped'" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [[], ["--time-limit", "60"]])
def test_what_they_print_is_no_part_of_the_answer(tmp_path, capfd, limit):
    """Standard output is a document that the next command reads, also where the method runs in a child."""
    file = tmp_path / "loud.py"
    file.write_text(
        "print('loaded')\n\ndef loud(instance, mechanism, limits):\n    print('asked')\n    return instance.arcs.gamma\n"
    )
    main(["solve", "wang-fig2", "--method", f"{file}:loud", "--format", "json", *limit])
    told = capfd.readouterr()
    assert json.loads(told.out)["method"] == "loud"
    assert told.err.startswith("loaded\nasked\n")


def bench(own, *arguments):
    return main(["bench", "run", *arguments, "--records", str(own.parent / "r.sqlite"), "--repeats", "1"])


@pytest.mark.deep
def test_bench_runs_a_suite_and_a_method_in_a_file(own, capsys):
    assert bench(own, f"{own}:suite", "--method", "cvxpy:highs") == 0
    assert "suite mine: 1 case, 1 method" in capsys.readouterr().out
    own.write_text(own.read_text().replace("number = 7", "number = 8"))
    assert bench(own, str(own), "--method", "cvxpy:highs") == 0
    assert "2 solves" not in capsys.readouterr().out, "what another file gave is not in this report"


@pytest.mark.deep
def test_bench_runs_a_glob_of_instances_under_several_mechanisms(own, capsys, tmp_path):
    from fairalloc.models.files.jsonio import instance_document, write_json

    for name in ("wang-fig2", "wang-pool"):
        write_json(instance_document(example(name).instance), tmp_path / f"{name}.json")
    arguments = ("-m", "drfh", "-m", f"{own}:capped", "--method", "cvxpy:highs")
    assert bench(own, str(tmp_path / "wang-*.json"), *arguments) == 0
    assert "4 cases, 1 method, 1 repeat, 4 solves" in capsys.readouterr().out
    assert bench(own, "first", "-m", "drfh") == 2
    assert "--mechanism is for instances in files" in capsys.readouterr().err


@pytest.mark.deep
def test_suites_and_mechanisms_of_this_process_travel_too(tmp_path):
    limit = 3
    edit = mechanism("drfh").edited(
        "closed-over", cvxpy=lambda p, i: type(p)(p.objective, [*p.constraints, p.var_dict["x"] <= limit])
    )
    suite = Suite("here", "a closure", (SuiteCase("wang", edit, lambda: example("wang-fig2").instance),))
    found = benchmarks.run(suite, tmp_path / "r", methods=[METHODS["cvxpy:highs"]], setting=Setting(repeats=1), progress=False)
    (record,) = found.records
    assert (record.suite, record.mechanism, record.termination) == ("here", "closed-over", "optimal")
    assert record.feasibility <= EXACT
