"""The command line, as a person or a script uses it."""

import csv
import io
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from tolerances import EXACT

import fairalloc as fa
from fairalloc import __version__, cli
from fairalloc.analysis.properties import PROPERTIES
from fairalloc.cli import main
from fairalloc.cli import solve as cli_solve
from fairalloc.models import Allocation
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.files.jsonio import instance_document, write_json
from fairalloc.runs.progress import Progress
from fairalloc.solvers import METHODS, solve


def test_the_first_promise(run):
    """`fairalloc solve wang-fig2 --mechanism drfh --format json`: 10 tasks each, g = 5/7; valid by the schema."""
    code, out, _ = run("solve", "wang-fig2", "--mechanism", "drfh", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert [u["tasks"] for u in document["users"]] == pytest.approx([10, 10], rel=EXACT)
    assert document["values"]["g"] == pytest.approx(5 / 7, rel=EXACT)
    schema = json.loads(files("fairalloc.models.files").joinpath("allocation.schema.json").read_text())
    jsonschema.validate(document, schema)


def test_the_second_promise(run):
    code, out, _ = run("solve", "zarchy-nb", "--mechanism", "nb", "--format", "json")
    assert code == 0
    assert [u["tasks"] for u in json.loads(out)["users"]] == pytest.approx([2, 2], rel=1e-6)


def test_an_allocation_of_no_method_is_written_as_the_schema_says(run, tmp_path):
    schema = json.loads(files("fairalloc.models.files").joinpath("allocation.schema.json").read_text())
    fa.write_allocation(fa.Allocation(example("wang-fig2").instance, [10, 0, 0, 10]), tmp_path / "given.json")
    assert jsonschema.Draft202012Validator(schema).is_valid(json.loads((tmp_path / "given.json").read_text()))


@pytest.mark.parametrize("what", ["mechanisms", "methods", "examples", "library", "properties", "hypotheses", "suites"])
def test_lists_fit_the_page(run, what):
    code, out, _ = run("list", what)
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= 100
    assert len(out.splitlines()) > 2
    assert ("population-monotonicity" in out) == (what == "properties"), "matrix takes it, whose help names this list"


def test_tables_fit_the_page_and_say_what_they_leave_out(run, tmp_path):
    path = tmp_path / "many.json"
    write_json(instance_document(generators.generic(60, 6, 2)), path)
    code, out, _ = run("solve", path, "-m", "drfh")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "... and 20 more users" in out


def test_several_instances_one_line_each_in_order_errors_in_place(run):
    names = ["wang-fig2", "no-such-thing", "zarchy-nb"]
    code, out, _ = run("solve", *names, "-m", "drfh", "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [line["instance"] for line in lines] == names
    assert lines[0]["users"][0]["tasks"] == pytest.approx(10, rel=EXACT)
    assert "no file and no published example 'no-such-thing'" in lines[1]["error"]
    assert "needs one demand vector for each user" in lines[2]["error"]
    assert lines[2]["mechanism"] == "drfh"


@pytest.mark.parametrize("command", ["check", "certify"])
def test_an_allocation_is_judged_with_the_parameters_it_was_solved_with(run, tmp_path, command):
    """`certify` read no parameters: "user 'u3' runs 1 tasks, but 2 in the exact answer" was said of a right one."""
    groups = {"A": {"users": [0, 1], "guarantee": "4/5"}, "B": [2]}
    files = tmp_path / "instance.json", tmp_path / "allocation.json"
    fa.write_instance(fa.Instance([[1]] * 3, [[10]], groups=groups), files[0])
    files[1].write_text(run("solve", files[0], "-m", "nested-leximin", "--param", "compared=borrowed", "--format", "json")[1])
    assert run(command, *files)[0] == 0


def test_answers_and_refusals_of_an_instance_stand_under_its_own_name(run, tmp_path):
    """In one table rows with an answer had the name of the instance, and others that of its file."""
    file = tmp_path / "file.json"
    fa.write_instance(fa.Instance([[1], [4]], [[1]], min_tasks=[0, "1/8"], name="own"), file)
    code, out, _ = run("solve", file, "-m", "drfh", "-m", "ps-dsf", "--format", "csv")
    assert code == 1
    assert {row["instance"] for row in csv.DictReader(io.StringIO(out))} == {"own"}
    fa.write_instance(fa.Instance([[1], [4]], [[1]]), file)
    _, out, _ = run("solve", file, "nowhere", "--format", "csv")
    assert {row["instance"] for row in csv.DictReader(io.StringIO(out))} == {str(file), "nowhere"}, "of none what was typed"


@pytest.mark.parametrize("kind", ["table", "json", "csv", "latex"])
def test_several_instances_in_every_format(run, kind):
    code, out, _ = run("solve", "wang-fig2", "nope", "wang-prop4", "-m", "drfh", "--format", kind)
    assert code == 1
    assert "wang-fig2" in out
    assert "wang-prop4" in out
    assert "there is no file and no published example 'nope'" in out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("solve {file}", "the instance in {file} has no field 'schema'"),
        ("check {file} {file}", "the instance in {file} has no field 'schema'"),
        ("check wang-fig2 {file}", "the allocation in {file} has no field 'schema'"),
        ("certify wang-fig2 {file} -m drfh", "the allocation in {file} has no field 'schema'"),
        ("solve wang-fig2 --warm-start {file}", "the allocation in {file} has no field 'schema'"),
    ],
)
def test_a_document_of_another_kind_is_named(run, tmp_path, command, said):
    (tmp_path / "empty.json").write_text("{}")
    code, _, err = run(*command.format(file=tmp_path / "empty.json").split())
    assert code == 2
    assert said.format(file=tmp_path / "empty.json") in err


def test_csv_has_a_row_for_each_user_and_server(run):
    _, out, _ = run("solve", "khamse-fig1", "-m", "drfh", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert " ".join(f"{r['user']}-{r['server']}" for r in rows) == "u1-s1 u2-s1 u3-s1 u3-s2 u4-s1 u4-s2"
    total = sum(float(r["tasks"]) for r in rows if r["user"] in ("u3", "u4"))
    assert total == pytest.approx(16, rel=EXACT)
    assert {r["termination"] for r in rows} == {"optimal"}


def test_csv_tells_answers_apart_that_are_not_right(run):
    code, out, _ = run("solve", "khamse-fig1", "-m", "lmmf", "--method", "cvxpy:scs", "--accuracy", "1e-13", "--format", "csv")
    assert code == 1
    assert {row["termination"] for row in csv.DictReader(io.StringIO(out))} == {"inaccurate"}


def test_100_small_instances_in_one_call_start_no_process(run, monkeypatch):
    """One start-up serves all, and each instance is solved once."""
    solved = []

    def counted(*arguments, **parameters):
        solved.append(arguments)
        return solve(*arguments, **parameters)

    monkeypatch.setattr(cli_solve, "solve", counted)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    code, out, _ = run("solve", *["wang-fig2"] * 100, "-m", "drfh", "--format", "jsonl")
    assert code == 0
    assert len(out.splitlines()) == 100
    assert len(solved) == 100


def test_a_trace_is_shown_where_it_is_asked_for(run):
    arguments = ("solve", "wang-pool", "-m", "drf", "--method", "progressive-filling")
    _, out, _ = run(*arguments, "--trace", "--format", "json")
    (event,) = json.loads(out)["trace"]
    assert event["level"] == pytest.approx(2 / 3, rel=EXACT)
    assert event["stopped"] == ["u1", "u2"]
    _, table, _ = run(*arguments, "--trace")
    assert table.splitlines()[-2].split() == ["0.666667", "pool/cpu", "u1,", "u2"]
    assert "trace" not in run(*arguments)[1]
    _, long, _ = run("solve", "zarchy-nb", "-m", "nb", "--method", "pdhg", "--accuracy", "high", "--trace")
    assert "iteration" in long


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["wang-fig2", "-m", "nb", "--trace", "--format", "csv"], "--trace is shown in the formats table, json and jsonl, but"),
        (["nope", "-m", "drfh"], "there is no file and no published example 'nope': see fairalloc list examples"),
        (
            ["wang-fig2", "-m", "nope"],
            "--mechanism: there is no mechanism 'nope': the mechanisms are alpha-fair, alpha-pf-vds, asset, drf,",
        ),
        (
            ["wang-fig2", "-m", "nb", "--method", "highs"],
            "--mechanism: method 'highs' does not compute 'nb': the methods that do are",
        ),
        (["wang-fig2", "-m", "nb", "--param", "alpha=3"], "--param: mechanism 'nb' has no parameter 'alpha'"),
        (["wang-fig2", "-m", "nb", "--param", "alpha"], "--param is 'alpha', but it must be name=value"),
        (
            ["wang-fig2", "-m", "nb", "--time-limit", "-1"],
            "--time-limit is -1.0, but it must be a positive number or None",
        ),
    ],
)
def test_errors_are_one_sentence_and_code_2(run, arguments, sentence):
    code, out, err = run("solve", *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith(f"fairalloc: {sentence}")
    assert len(err.splitlines()) == 1


def test_a_mistyped_command_exits_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["sovle"])
    assert stop.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


def test_check_passes_what_solve_wrote_and_fails_what_was_changed(run, tmp_path):
    _, out, _ = run("solve", "wang-fig2", "-m", "drfh", "--format", "json")
    path = tmp_path / "allocation.json"
    path.write_text(out)
    assert run("check", "wang-fig2", path)[0] == 0
    document = json.loads(out)
    document["users"][0]["by_server"]["s1"] -= 0.01
    path.write_text(json.dumps(document))
    assert "but its tasks on servers add up to 9.99" in run("check", "wang-fig2", path)[2]
    del document["users"][0]["tasks"]
    path.write_text(json.dumps(document))
    code, out, _ = run("check", "wang-fig2", path, "--format", "json")
    verdicts = {v["property"]: v["holds"] for v in json.loads(out)}
    assert code == 1
    assert verdicts == {"feasibility": True, "non-wastefulness": True, "pareto": False, "drfh": False}


def test_check_all_takes_every_property_that_is_about_the_instance(run, tmp_path):
    _, out, _ = run("solve", "wang-prop4", "-m", "drfh", "--method", "exact", "--format", "json")
    path = tmp_path / "allocation.json"
    path.write_text(out)
    code, out, _ = run("check", "wang-prop4", path, "--property", "all", "--format", "json")
    verdicts = {v["property"]: v["holds"] for v in json.loads(out)}
    assert code == 1
    assert set(verdicts) == {*PROPERTIES, "drfh"}
    assert {name for name, holds in verdicts.items() if holds is False} == {"sharing-incentive", "strong-sharing-incentive"}
    assert verdicts["single-resource-fairness"] is None
    assert run("check", "wang-prop4", path)[0] == 0, "what nobody asked for is not checked"


def test_check_takes_the_mechanism_that_is_named_beside_the_properties(run, tmp_path):
    path = tmp_path / "allocation.json"
    path.write_text(run("solve", "khamse-fig1", "-m", "drfh", "--format", "json")[1])
    code, out, _ = run("check", "khamse-fig1", path, "-m", "nb", "--property", "pareto", "--format", "json")
    assert (code, {v["property"]: v["holds"] for v in json.loads(out)}) == (1, {"pareto": True, "nb": False})
    assert run("check", "khamse-fig1", path, "--property", "pareto")[0] == 0


NOT_PARETO = {"drf-per-server", "uniform", "mmf", "drfh-lp", "ps-dsf-tdm"}
"""W 3.4, Z Example 2: their answers can be improved for free; time sharing leaves idle what divisible servers would use."""


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [e.name for e in EXAMPLES])
def test_check_accepts_every_published_answer(run, tmp_path, name):
    for mechanism in example(name).answers:
        _, out, _ = run("solve", name, "-m", mechanism, "--format", "json")
        (tmp_path / "a.json").write_text(out)
        wanted = ["feasibility", mechanism] if mechanism in NOT_PARETO else []
        code, out, _ = run("check", name, tmp_path / "a.json", *(f"--property={p}" for p in wanted))
        assert code == 0, out


def test_doctor_names_every_method(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert f"fairalloc {__version__}" in out
    for method in METHODS:
        assert method in out


def test_the_installed_command_works_from_anywhere(tmp_path):
    """The console script beside this interpreter, from an empty folder, with a reader that stops early."""
    script = Path(sys.executable).parent / "fairalloc"
    done = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"fairalloc {__version__}\n"
    piped = subprocess.run(
        f"{script} list examples | head -1", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert piped.stderr == ""


def test_options_accuracies_logs_and_starts_are_taken(run, tmp_path):
    command = ("solve", "zarchy-nb", "-m", "nb", "--method", "pdhg", "--format", "json")
    cold = json.loads(run(*command, "--log", "--accuracy", "1e-7")[1])
    assert any(line.startswith("iteration=0 ") for line in cold["log"])
    assert cold["residuals"]["definition"] <= 1e-7
    (tmp_path / "cold.json").write_text(json.dumps(cold))
    warm = json.loads(run(*command, "--warm-start", str(tmp_path / "cold.json"), "--option", "max_iterations=900")[1])
    assert warm["stats"]["iterations"] < cold["stats"]["iterations"]
    assert "log" not in warm
    _, table, _ = run("solve", "wang-fig2", "--method", "highs", "--log")
    assert "log:" in table.splitlines()
    assert "HiGHS" in table
    (tmp_path / "own.py").write_text("def blind(instance, mechanism, limits):\n    return [0.001] * len(instance.arcs)\n")
    own = ("solve", "zarchy-nb", "-m", "nb", "--method", f"{tmp_path / 'own.py'}:blind", "--format", "json")
    hidden = run(*own, "--option", "judge.reference_arcs=0")  # it has no prices
    assert json.loads(hidden[1])["residuals"]["definition"] is None


def test_a_warm_start_from_a_file_has_prices(run, tmp_path):
    """Without prices pdhg started from 1.66."""
    command = ("solve", "wang-pool", "-m", "nb", "--method", "pdhg", "--format", "json", "--log")
    text = run(*command)[1]
    (tmp_path / "cold.json").write_text(text)
    warm = json.loads(run(*command, "--warm-start", str(tmp_path / "cold.json"))[1])
    assert len(warm["log"]) == 1 < len(json.loads(text)["log"])


def test_a_point_that_was_interrupted_is_printed_with_code_130(run, monkeypatch):
    """And nothing is begun after it."""

    def interrupted(instance, *arguments, **parameters):
        return Allocation(instance, [0.0] * len(instance.arcs), termination="interrupted", residuals={"feasibility": 0.0})

    monkeypatch.setattr(cli_solve, "solve", interrupted)
    code, text, said = run("solve", "wang-fig2", "wang-pool", "--format", "json")
    assert code == 130
    assert [item["termination"] for item in json.loads(text)] == ["interrupted"]
    assert said.startswith("fairalloc: interrupted; ")


@pytest.mark.parametrize("words", [["-m", "fairalloc", "list"], ["/somewhere/bin/fairalloc", "list"]])
def test_ctrl_c_during_the_imports_is_one_line(words):
    """The signal comes as soon as the package has begun to be imported."""
    program = f"""
import os, signal, sys
sys.argv, sys.orig_argv = {words[-2:]!r} if {words[0]!r} != "-m" else ["-m"], ["python", *{words!r}]
class Interrupting:
    def find_spec(self, name, *_):
        if name == "fairalloc.models":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
import fairalloc
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "fairalloc: interrupted\n")


def test_an_answer_that_misses_the_accuracy_has_code_1(run):
    code, text, said = run(
        *(
            "solve",
            "wang-pool",
            "-m",
            "nb",
            "--method",
            "pdhg",
            "--accuracy",
            "1e-9",
            "--option",
            "max_iterations=1",
            "--format",
            "json",
        )
    )
    residual = json.loads(text)["residuals"]["definition"]
    assert residual > 1e-9
    assert code == 1
    assert (
        said
        == f"fairalloc: wang-pool: not solved to the accuracy asked: residual {residual:.1e}, but accuracy 1e-09 promises 1e-09\n"
    )


def test_no_point_is_a_sentence_instead_of_a_table(run, tmp_path):
    """No numbers are printed where there are none."""
    own = "def nothing(instance, mechanism, limits):\n    raise RuntimeError('it broke')\n"
    (tmp_path / "own.py").write_text(own)
    code, text, _ = run("solve", "zarchy-nb", "-m", "nb", "--method", f"{tmp_path / 'own.py'}:nothing")
    assert code == 1
    assert "there is no allocation: the method failed" in text
    assert "nan" not in text
    assert "values:" not in text
    broken = Allocation(example("zarchy-nb").instance, [float("nan")] * 4, termination="infeasible", message="u1 asks too much")
    assert repr(broken).endswith("infeasible\n no tasks: u1 asks too much>")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--option", "max"], "--option is 'max', but it must be name=value"),
        (["--option", "max=1", "--option", "max=2"], "--option max is given twice"),
        (["--option", "nope=1"], "there is no option of pdhg 'nope'"),
        (["--option", "judge.nope=1"], "there is no option of the judge 'nope'"),
        (["--option", "judge=1"], "options of the judge are given one by one: --option judge.NAME=VALUE"),
        (["--warm-start", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
        (["--log", "--format", "csv"], "--log is shown in the formats table, json and jsonl, but the format is 'csv'"),
    ],
)
def test_options_that_cannot_be_taken_are_one_sentence(run, arguments, sentence):
    code, _, said = run("solve", "zarchy-nb", "-m", "nb", "--method", "pdhg", *arguments)
    assert code == 2
    assert sentence in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", [["solve", "wang-fig2"], ["bench", "run", "first"]])
@pytest.mark.parametrize("accuracy", ["exact", "0", "nan", "2"])
def test_accuracies_are_words_or_residuals(capsys, command, accuracy):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--accuracy", accuracy])
    assert ended.value.code == 2
    assert "accuracy is" in capsys.readouterr().err


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fairalloc so", ["solve"]),
        ("fairalloc solve wang-fig2 --acc", ["--accuracy"]),
        ("fairalloc solve wang-fig2 --accuracy ", ["low", "mid", "high"]),
        ("fairalloc solve wang-f", ["wang-fig1", "wang-fig2"]),
        ("fairalloc solve wang-fig2 -m ps", ["ps-dsf", "ps-dsf-tdm"]),
        ("fairalloc solve wang-fig2 --method njc-m", ["njc-market", "njc-milp"]),
        ("fairalloc check wang-fig2 a.json --property par", ["pareto"]),
        ("fairalloc bench run lay", ["layers"]),
    ],
)
def test_the_shell_completes_names(tmp_path, line, words):
    pytest.importorskip("argcomplete")
    asked = {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }
    places = os.pathsep.join([str(Path(fa.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    code = "import sys; from fairalloc.cli import main; sys.exit(main())"
    environment = os.environ | asked | {"PYTHONPATH": places, "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "words")}
    subprocess.run([sys.executable, "-P", "-c", code], env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert (tmp_path / "words").read_text().split("\n") == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fairalloc bench run first --method njc-m", ["njc-market", "njc-milp"]),
        ("fairalloc solve wang-fig2 -m nb --method pdhg --option max", ["max_iterations="]),
        ("fairalloc solve wang-fig2 --option judge.re", ["judge.reference_arcs=", "judge.reference_tolerance="]),
        ("fairalloc solve wang-fig2 -m fds --param a", ["alpha="]),
        ("fairalloc solve wang-fig2 -m min", ["mine.py"]),
        ("fairalloc matrix --property par", ["pareto"]),
        ("fairalloc theorems verify --id D.S4.drf-inc", ["D.S4.drf-incremental"]),
        ("fairalloc theorems verify mi", ["mine.py"]),
    ],
)
def test_every_name_can_be_completed(tmp_path, monkeypatch, line, words):
    """In this process, by argcomplete's own finder."""
    argcomplete = pytest.importorskip("argcomplete")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    typed = line.split()
    argcomplete.safe_actions.update((cli.Once, cli.Each))  # as `main` does
    found = argcomplete.CompletionFinder(cli._parser(), always_complete_options=False)
    assert [word.strip() for word in found._get_completions(typed[:-1], typed[-1], "", None)] == words


def test_a_folder_leaves_out_what_is_no_instance_and_names_what_no_method_computes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    one = fa.Instance([[1]], [[2]])
    fa.write_instance(one, "one.json")
    Path("old.json").write_text(Path("one.json").read_text().replace("fairalloc-instance/2", "fairalloc-instance/1"))
    Path("wrong.json").write_text(Path("one.json").read_text().replace('"weight": 1', '"weight": -1'))
    fa.write_allocation(fa.solve(one, "drfh"), "answer.json")
    Path("answer.json").write_text("\ufeff" + Path("answer.json").read_text(), encoding="utf-8")
    ask = ["bench", "run", ".", "-m", "drfh", "-m", "nb", "--method", "highs", "--repeats", "1", "--records", "r.sqlite"]
    steps: list[int] = []
    monkeypatch.setattr(Progress, "begin", lambda _, total: steps.append(total))
    assert main(ask) == 0
    assert steps == [2], "a case without an instance is no step"
    said = capsys.readouterr()
    assert "answer.json is left out: its schema is 'fairalloc-allocation/1', not 'fairalloc-instance/2'" in said.err
    assert "not asked: no case of nb fits highs" in " ".join(said.out.split())
    assert {record.case for record in fa.benchmarks.report("r.sqlite").records} >= {"one-drfh", "old-drfh"}
    assert "answer-drfh" not in said.out
    asked = f"fairalloc bench run {tmp_path} --mechanism drfh --mechanism nb --method highs "
    assert fa.benchmarks.report("r.sqlite").again.startswith(asked)


def test_an_edit_is_not_said_to_be_solved_by_no_method(tmp_path, monkeypatch):
    """Its kind is read off its model on the case."""
    monkeypatch.chdir(tmp_path)
    fa.write_instance(fa.Instance([[1]], [[2]]), "one.json")
    edit = fa.mechanism("drfh").edited("mine", cvxpy=lambda problem, _: problem)
    suite = fa.benchmarks.suite_of(["one.json"], [edit, "drfh"])
    told = "not asked: no case of mine fits highs:leximin"
    setting = fa.benchmarks.Setting(repeats=1)
    for methods, said in (["highs:leximin"], [told]), (["cvxpy:clarabel", "highs:leximin"], []):
        found = fa.benchmarks.run(suite, f"{len(methods)}.sqlite", methods, setting=setting, progress=False)
        assert [warning for warning in found.warnings if "no case" in warning] == said


def test_words_may_stand_between_options(run):
    code, out, _ = run("theorems", "export", "--format", "latex", "W.L1.step")
    assert code == 0
    assert out.split("\n")[1].startswith(r"\begin{example}[Refuted: Where $A_{il}$")
    code, out, _ = run("solve", "wang-fig2", "-m", "drfh", "khamse-fig1", "--format", "jsonl")
    assert code == 0
    assert [json.loads(line)["instance"] for line in out.splitlines()] == ["wang-fig2", "khamse-fig1"]
    assert run("solve", "-m", "drfh")[::2] == (
        2,
        "fairalloc: no instance is named: give INSTANCE, or --users FILE.csv and --servers FILE.csv\n",
    )
    assert "there is no file and no published example '-x.json'" in run("solve", "-m", "drfh", "--", "-x.json")[2]
