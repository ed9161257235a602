"""Bad commands whose sentence is worth reading, one of several, streams that take nothing, and mistakes of the package.

That every other word and file ends in one sentence, test_bad_files.py tries at random.
"""

import copy
import errno
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import fairalloc
from fairalloc.cli import INTERNAL, main
from fairalloc.cli import solve as cli_solve

SECONDS = 5.0
"""Seconds of computing after which an input has hung."""

LONGEST = 120
"""Seconds by the clock after which an input waits for something; other processes may keep this one waiting."""

DEEP = "[" * 50_000 + "]" * 50_000

BASE = {
    "schema": "fairalloc-instance/2",
    "name": "base",
    "resources": ["cpu", "memory"],
    "servers": [{"name": "s1", "capacity": [2, 12]}, {"name": "s2", "capacity": [12, 2]}],
    "users": [{"name": "u1", "demands": [["1/5", 1]]}, {"name": "u2", "demands": [[1, "1/5"]]}],
}

TASKS = [{"name": "u1", "by_server": {"s1": 10, "s2": 0}}, {"name": "u2", "by_server": {"s1": 0, "s2": 10}}]

PYTHON = {
    "broken.py": "x = 1\ndef (\n",
    "fails.py": "x = 1\nx = x / 0\n",
    "binary.py": "\0",
    "suite.py": "import fairalloc as fa\nsuite = fa.benchmarks.SUITES['smoke']\n",
    "things.py": """
        import fairalloc as fa

        seven = 7

        def word(allocation):
            return "yes"

        def raises(allocation):
            raise KeyError("x")

        capped = fa.mechanism("drfh").edited("capped", cvxpy=lambda p, i: p)
    """,
    "claims.py": """
        import fairalloc as fa

        mine = fa.claim("tasks are tasks", "drf", "pareto")
    """,
}

COMMANDS = [
    (["solve", "wang-fig2", "--nope"], "unrecognized arguments: --nope"),
    (["solve", "a\x1b[31mb"], "there is no file and no published example 'a\\x1b[31mb'"),
    (["solve", f"{'n' * 80}.json"], f"there is no file and no published example '{'n' * 80}.json'"),
    (["solve", "wang-fig3"], "there is no file and no published example 'wang-fig3' (did you mean 'wang-fig2' or"),
    (["solve", "-", "-"], "standard input holds one instance, but - is given twice"),
    (["solve", "wang-fig2", "-m", "drhf"], "there is no mechanism 'drhf' (did you mean 'drf' or 'drfh'?)"),
    (["solve", "wang-fig2", "-m", "\x1b[2J"], "there is no mechanism '\\x1b[2J'"),
    (["solve", "wang-fig2", "-m", "{f}/broken.py"], "{f}/broken.py cannot be loaded: SyntaxError: invalid syntax (line 2)"),
    (["solve", "wang-fig2", "-m", "{f}/broken.py:x"], "{f}/broken.py cannot be loaded: SyntaxError: invalid syntax (line 2)"),
    (
        ["solve", "wang-fig2", "-m", "{f}/fails.py:x"],
        "{f}/fails.py cannot be loaded: ZeroDivisionError: division by zero (line 2)",
    ),
    (["solve", "wang-fig2", "-m", "{f}/things.py:seven"], "'seven' of {f}/things.py is 7, but it must be a mechanism"),
    (
        ["solve", "wang-fig2", "-m", "{f}/things.py:nine"],
        "there is no object 'nine': {f}/things.py defines seven, word, raises, capped",
    ),
    (
        ["solve", "wang-fig2", "--method", "pdhg"],
        "method 'pdhg' does not compute 'drfh': the methods that do are progressive-filling, highs:leximin,",
    ),
    (
        ["solve", "wang-fig2", "--trace", "--format", "csv"],
        "--trace is shown in the formats table, json and jsonl, but the format is 'csv'",
    ),
    (
        ["solve", "wang-fig2", "--trace", "--format", "latex"],
        "--trace is shown in the formats table, json and jsonl, but the format is 'latex'",
    ),
    (["solve", "wang-fig2", "--param", "alpha"], "--param is 'alpha', but it must be name=value"),
    (["solve", "wang-fig2", "--param", "=3"], "--param is '=3', but it must be name=value"),
    (["solve", "wang-fig2", "--param", "alpha=2"], "mechanism 'drfh' has no parameter 'alpha'"),
    (["solve", "wang-fig2", "--param", "method=highs"], "mechanism 'drfh' has no parameter 'method'"),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=" + DEEP],
        "--param alpha cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", "alpha=" + "7" * 5000],
        "--param alpha cannot be read: it nests too deeply or holds an integer of thousands of",
    ),
    (
        ["solve", "wang-pool", "-m", "fds", "--param", 'alpha={"a": 1, "a": 2}'],
        "--param alpha cannot be used: the field 'a' is given twice in one JSON object",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "target=3"],
        "objective is None and target is 3, but 'closest' and target come together",
    ),
    (
        ["solve", "dolev-circle", "-m", "njc", "--param", "objective=closest"],
        "objective is 'closest' and target is None, but 'closest' and target come together",
    ),
    (["solve", "zarchy-nb", "-m", "drfh"], "the dominant share needs one demand vector for each user, but user 'u1' has 2"),
    (["check", "khamse-fig1", "{f}/good.json"], "the allocation gives user 'u1' tasks on server 's2', where it is not eligible"),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "{f}/things.py:word"],
        "the property 'word' returned 'yes', but it must be a Verdict, True or False, or a number",
    ),
    (
        ["check", "wang-fig2", "{f}/good.json", "--property", "{f}/things.py:raises"],
        "the property 'raises' failed: KeyError: 'x'",
    ),
    (["list", "mechanisms", "methods"], "unrecognized arguments: methods"),
    (["bench", "run", "{f}/nothing"], "'{f}/nothing' holds no instances: there is no file that ends in .json"),
    (["bench", "run", "{f}/*.jsn"], "'{f}/*.jsn' holds no instances: there is no file that ends in .json"),
    (
        ["bench", "run", "first", "-m", "nb"],
        "--mechanism is for instances in files, but the suite 'first' has its own mechanisms",
    ),
    (["bench", "run", "{f}/[s]uite.py"], "there is no file '{f}/[s]uite.py'"),
    (["bench", "compare", "", "r.sqlite"], "argument A: it is '', but it must name a file or a folder"),
    (["bench", "report", "--table", "ranking", "--figure", "pareto", "x.svg"], "--figure writes figures alone, but --format"),
    (["bench", "run", "{f}/suite.py", "-m", "nb"], "but the suite '{f}/suite.py' has its own mechanisms"),
    (["bench", "run", "first", "--records", "{f}"], "{f} cannot be used as a records file: unable to open database file"),
    (
        ["bench", "run", "first", "--records", "{f}/png.json"],
        "{f}/png.json cannot be used as a records file: file is not a database",
    ),
    (["bench", "run", "smoke", "--records", "{f}/r.html"], "the file of the records is '{f}/r.html', but the report would take"),
    *(
        (["theorems", "prove", "Z.C3", "--certificate", "{f}/c.json", *more], "goes without --keep, --core, --judge and --format")
        for more in (["--format", "json"], ["--core"], ["--judge", "cvc5"])
    ),
    (["simulate", "--list", "--format", "json"], "--format is 'json', but --list writes a table"),
    (["simulate", "--list", "--seeds", "3"], "--seeds is about trials, but --list makes none"),
    (["simulate", "--list", "--small"], "--small is about trials, but --list makes none"),
    (
        ["simulate", "--workload", "w.csv", "--cluster", "a.csv", "--set", "cluster=b.csv"],
        "--cluster is 'a.csv', but --set names a cluster too",
    ),
    (["theorems", "export", "Z.C3", "--coq", "--format", "bibtex"], "argument --format: not allowed with argument --coq"),
    (["theorems", "export", "{f}/claims.py", "--paper", "W"], "--paper chooses statements of the papers, but only"),
    (["theorems", "export", "P.T2.pareto", "--seed", "3"], "--seed is about claims of your own: name one as FILE.py:NAME"),
    (["solve", "wang-fig2", "--plot", "x.txt"], "--plot is 'x.txt', but the name of a figure ends in .svg, .png, .pdf"),
    (["solve", "wang-fig2", "--plot", "{f}/none/x.svg"], "'{f}/none/x.svg' cannot be written: No such file or directory"),
    (["theorems", "show", "--keep", "{f}"], "unrecognized arguments: --keep"),
    (["theorems", "export", "W.P4", "--size", ""], "unrecognized arguments: --size"),
    (["theorems", "verify", "--core"], "unrecognized arguments: --core"),
    (["theorems"], "the following arguments are required: ACTION"),
    (["theorems", "list", "Q"], "there is no statement 'Q': see fairalloc theorems list"),
    (["bench", "report"], "results/ holds no records: name a file, or make one by fairalloc bench run SUITE"),
    (
        ["solve", "wang-fig2", "-m", "drf", "-m", "drf"],
        "the mechanisms are ['drf', 'drf'], but there must be at least one, and each",
    ),
    (
        ["solve", "wang-fig2", "--time-limit", "soon"],
        "argument --time-limit: it is 'soon', but it must be a time such as 90s, 10m",
    ),
    (["theorems", "verify", "--id", "Z.P4", "--paper", "K"], "none of these statements fits --paper 'K'"),
    (["theorems", "verify", "--time-limit", "0"], "--time-limit is 0.0, but it must be a positive number or None"),
    (
        ["theorems", "verify", "--time-limit", "soon"],
        "argument --time-limit: it is 'soon', but it must be a time such as 90s, 10m or 1h",
    ),
    (
        ["theorems", "verify", "--seed", "-1"],
        "seed is -1, but it must be a whole number, 0 or more",
    ),
    (
        ["theorems", "verify", "--jobs", "0"],
        "jobs is 0, but it must be a whole number from 1 to 1024 or None",
    ),
    (["theorems", "verify", "--store", "{f}"], "{f} cannot be used as a file of findings: unable to open database file"),
    (
        ["theorems", "verify", "--store", "{f}/png.json"],
        "{f}/png.json cannot be used as a file of findings: file is not a database",
    ),
    (["matrix", "--time-limit", "9s"], "--time-limit is about cells that are searched: name them by --mechanism or --property"),
    (["show", "wang-fig2", "--head", "0"], "head is 0, but it must be a positive whole number"),
    (["explain", "wang-fig2", "--method", "pdhg"], "method 'pdhg' does not compute 'drfh'"),
    (["data", ""], "argument FOLDER: it is '', but it must name a file or a folder"),
    (["bench", "report", ""], "argument FILE: it is '', but it must name a file or a folder"),
    (["export", "wang-fig2", "--output", "a\x00b"], "cannot be"),
    (["solve", "wang-fig2", "--option", "x=1"], "--option x is of one method, but no --method is named"),
    (["solve", "wang-fig2", "--method", "highs", "--option", "x=\ud800"], "HiGHS refuses the options {'x': '\\ud800'}: 'x'"),
    (
        ["solve", "wang-fig2", "--method", "cvxpy:clarabel", "--option", "max_iter=-1"],
        "CLARABEL refuses the options {'max_iter': -1}: out of range",
    ),
    (["solve", "wang-fig2", "--option", "judge.nope=1"], "there is no option of the judge 'nope'"),
    *(
        ([*command.split(), value], f"{command.rpartition('--')[2]} is {value}, but it must be a whole number from 1 to {most}")
        for command, most in {
            "solve wang-fig2 --threads": "1024 or None",
            "bench run smoke --threads": "1024",
            "bench run smoke --jobs": "1024",
            "bench run smoke --repeats": "1,000 or None",
            "simulate K.Fig9 --small --jobs": "1024",
            "theorems verify --id K.T1 --jobs": "1024 or None",
        }.items()
        for value in ("1000000000", "-1", "0")
    ),
    (["bench", "run", "smoke", "--memory", "9" * 13], "--memory is 9999999999999, but it must be a whole number from 1 to"),
    *(
        ([*command.split(), "1" + 30 * "0"], f"is 1{30 * '0'}, but it must be a {words}, and below 2**63 in size")
        for command, words in {
            "matrix -m drf --property pareto --trials": "positive whole number or None",
            "matrix -m drf --property pareto --trials 1 --seed": "whole number, 0 or more",
            "theorems verify --id K.T1 --trials": "positive whole number or None",
            "theorems verify --id K.T1 --seed": "whole number, 0 or more",
            "show wang-fig2 --head": "positive whole number",
        }.items()
    ),
    (["simulate", "K.Fig9", "--small", "--seeds", "0-999999999999"], "but there must be at most 10,000 seeds"),
    (["solve", "wang-fig2", "--log", "--format", "csv"], "--log is shown in the formats table, json and jsonl"),
]

TEXTS = {
    "empty": ("", "{f}/empty.json is not JSON: Expecting value in line 1"),
    "list": ("[]", "the instance in {f}/list.json is [], but it must be a JSON object"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x01", "{f}/png.json cannot be read: it is not UTF-8 text"),
    "utf16": ('{"a": 1}'.encode("utf-16"), "{f}/utf16.json cannot be read: it is not UTF-8 text"),
    "nan": ('{"a": NaN}', "{f}/nan.json cannot be used: it holds NaN, which is not a JSON number"),
    "twice": ('{"a": 1, "a": 2}', "{f}/twice.json cannot be used: the field 'a' is given twice in one JSON object"),
    "deep": ("[" * 100_000, "{f}/deep.json cannot be read: it nests too deeply or holds an integer of thousands of"),
    "digits": ("7" * 5000, "{f}/digits.json cannot be read: it nests too deeply or holds an integer of thousands"),
}
"""Content of a file that is given as an instance."""


class Hung(BaseException):
    """An input was not answered in time."""


@pytest.fixture(autouse=True)
def _guard():
    """End what hangs, by the seconds that it computes or waits."""

    def stop(*_):
        raise Hung

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands name."""
    place = tmp_path_factory.mktemp("bad")
    for name, text in PYTHON.items():
        (place / name).write_text(textwrap.dedent(text))
    for name, (content, _) in TEXTS.items():
        (place / f"{name}.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    good = {"schema": "fairalloc-allocation/1", "users": TASKS}
    for name, document in (("good", good), ("good-instance", BASE)):
        (place / f"{name}.json").write_text(json.dumps(document))
    for name in ("folder.py", "nothing"):
        (place / name).mkdir()
    (place / "dangling").symlink_to("nowhere")
    (place / "loop").symlink_to("loop")
    return place


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command that must end with code 2, one line on standard error and nothing on standard output."""
    monkeypatch.chdir(folder)

    def run(arguments, sentence):
        try:
            code = main([word.replace("{f}", str(folder)) for word in arguments])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert err.startswith("fairalloc: ")
        assert err.endswith("\n")
        assert err.rstrip("\n").isprintable(), "one line, with nothing in it that a terminal obeys"
        assert sentence.replace("{f}", str(folder)) in err

    return run


@pytest.mark.parametrize(("arguments", "sentence"), COMMANDS, ids=lambda value: ascii(value)[:60])
def test_a_bad_command(refused, arguments, sentence):
    refused(arguments, sentence)


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_file(refused, name):
    refused(["solve", f"{{f}}/{name}.json"], TEXTS[name][1])


@pytest.mark.parametrize("kind", ["table", "json", "jsonl", "csv", "latex"])
@pytest.mark.parametrize("name", ["png", "nan", "list", "empty"])
def test_one_of_several_ends_with_code_1_and_the_others_are_kept(folder, capsys, kind, name):
    path = str(folder / f"{name}.json")
    assert main(["solve", "wang-fig2", path, "wang-pool", "--format", kind]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out.index("wang-fig2") < out.index(path) < out.index("wang-pool")
    if kind == "json":
        assert len(json.loads(out)) == 3


def test_a_mistake_of_the_package_is_one_sentence_and_one_of_several_keeps_the_others(monkeypatch, capsys):
    def fails(instance, *_, **__):
        raise KeyError("what is\nwrong")

    monkeypatch.setattr(cli_solve, "solve", fails)
    assert main(["solve", "wang-fig2"]) == INTERNAL == 70
    _, err = capsys.readouterr()
    assert err == "fairalloc: internal error: KeyError: 'what is\\nwrong' (run with --debug for the traceback)\n"
    assert main(["solve", "wang-fig2", "--debug"]) == INTERNAL
    assert "Traceback (most recent call last)" in capsys.readouterr().err
    assert main(["--debug", "solve", "wang-fig2", "wang-pool"]) == 1
    out, err = capsys.readouterr()
    assert "internal error: KeyError" in out
    assert err.count("Traceback") == 2


@pytest.mark.parametrize(
    ("error", "code", "sentence"), [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 2, "the memory of")]
)
def test_what_ends_the_program_is_one_sentence(monkeypatch, capsys, error, code, sentence):
    def ends(*_, **__):
        raise error

    monkeypatch.setattr(cli_solve, "solve", ends)
    assert main(["solve", "wang-fig2"]) == code
    assert capsys.readouterr().err.startswith(f"fairalloc: {sentence}")


def test_an_interrupted_list_is_still_json(monkeypatch, capsys):
    solve, calls = cli_solve.solve, []

    def interrupted(*arguments, **parameters):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return solve(*arguments, **parameters)

    monkeypatch.setattr(cli_solve, "solve", interrupted)
    assert main(["solve", "wang-fig2", "wang-pool", "--format", "json"]) == 130
    (kept,) = json.loads(capsys.readouterr().out)
    assert kept["instance"] == "wang-fig2"


def test_a_byte_order_mark_and_standard_input_are_read(tmp_path, monkeypatch, capsys):
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(BASE).encode())
    assert main(["solve", str(tmp_path / "bom.json")]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(BASE).encode())))
    assert main(["solve", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == first.splitlines()[1:3]


def test_all_and_another_property_are_each_checked_once(folder, capsys):
    arguments = ["check", "wang-fig2", str(folder / "good.json"), "--format", "json"]
    assert main([*arguments, "--property", "all", "--property", "pareto"]) in (0, 1)
    names = [row["property"] for row in json.loads(capsys.readouterr().out)]
    assert len(names) == len(set(names)) > 10


def test_names_are_escaped_in_latex_and_csv(tmp_path, capsys):
    document = copy.deepcopy(BASE)
    for user, name in zip(document["users"], ("50% & _a_ #1 {x} ~ ^ \\", "[2cm]"), strict=True):
        user["name"] = name
    (tmp_path / "names.json").write_text(json.dumps(document))
    assert main(["solve", str(tmp_path / "names.json"), "--format", "latex"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[4].startswith(r"50\% \& \_a\_ \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} & ")
    assert rows[5].startswith("{[}2cm] & ")


@pytest.mark.parametrize("kind", ["csv", "latex"])
def test_where_there_is_no_answer_csv_and_latex_say_why(tmp_path, capsys, kind):
    document = copy.deepcopy(BASE)
    document["users"][0]["min_tasks"] = 1000
    (tmp_path / "none.json").write_text(json.dumps(document))
    assert main(["solve", str(tmp_path / "none.json"), "--format", kind]) == 1
    out = capsys.readouterr().out
    assert "there is no allocation: nothing satisfies all constraints (no allocation satisfies the floors" in out
    assert "nan" not in out


def test_tables_are_as_wide_as_the_terminal(monkeypatch, capsys):
    widths = []
    for columns in ("60", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        main(["list", "mechanisms"])
        widths.append(max(map(len, capsys.readouterr().out.splitlines())))
    assert widths[0] <= 60 < 100 < widths[1] <= 160


def shell(command, **more):
    """A line of the shell, in which `fairalloc` is this package's."""
    own = [str(Path(fairalloc.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    places = os.pathsep.join([*own, more.pop("PYTHONPATH", "")])
    code = "import sys; from fairalloc.cli import main; sys.exit(main())"
    line = f"fairalloc() {{ '{sys.executable}' -P -c '{code}' \"$@\"; }}; {command}"
    environment = os.environ | {"PYTHONPATH": places} | more
    return subprocess.run(["bash", "-c", line], env=environment, capture_output=True, timeout=LONGEST, check=False)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        ("fairalloc solve wang-fig2 > /dev/full", 2, os.strerror(errno.ENOSPC)),
        ("fairalloc --help > /dev/full", 2, os.strerror(errno.ENOSPC)),
        ("fairalloc solve wang-fig2 >&-", 2, "standard output is closed, so there is nowhere to write the answer"),
        ("fairalloc solve - <&-", 2, "standard input is closed, so nothing can be read from it"),
        ("fairalloc solve - < /dev/null", 2, "standard input is not JSON: Expecting value in line 1"),
        ("head -c 100 /dev/urandom | fairalloc solve -", 2, "standard input cannot be read: it is not UTF-8 text"),
        ("fairalloc solve nope 2> /dev/full", 2, ""),
        ("fairalloc solve nope 2>&-", 2, ""),
        ("fairalloc export wang-fig2 --output /dev/full", 2, "No space left on device"),
        ("fairalloc export wang-fig2 --output /nowhere/x.lp", 2, "'/nowhere/x.lp' cannot be written: No such file or directory"),
        ("fairalloc solve wang-fig2 wang-pool --format jsonl | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_a_stream_that_takes_nothing(command, code, sentence):
    done = shell(command)
    assert done.returncode == code
    assert sentence in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == bool(sentence)


def test_a_broken_package_takes_nothing_else_with_it(tmp_path):
    (tmp_path / "highspy.py").write_text("raise RuntimeError('a broken\\ninstall')")
    done = shell("fairalloc solve wang-fig2", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"drfh by interior-point, optimal" in done.stdout


def test_a_terminal_that_knows_ascii_only_gets_escapes(tmp_path):
    document = copy.deepcopy(BASE)
    document["users"][0]["name"] = "Zoë"
    (tmp_path / "names.json").write_text(json.dumps(document))
    done = shell(f"fairalloc solve '{tmp_path / 'names.json'}'", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"Zo\xeb" in done.stdout


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (("bench", "report", "records.sqlite", "--output"), "--output is"),
        (("bench", "report", "records.sqlite", "--table"), "--table is"),
        (("simulate", "--workload", "jobs.csv", "--cluster"), "--cluster: the file of a workload is"),
        (("solve", "wang-fig2", "--plot"), "--plot is"),
    ],
)
def test_names_of_files_are_told_in_full(run, tmp_path, monkeypatch, words, begin):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text("user,arrival,tasks,duration,cpu\nann,0,1,1,1\n")
    name = "n" * 70
    assert run(*words, name)[2].startswith(f"fairalloc: {begin} '{name}', but ")
