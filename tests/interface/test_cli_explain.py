"""`fairalloc explain` and `fairalloc show`, as a person uses them."""

import json

import pytest

from fairalloc.models.examples import generators
from fairalloc.models.files.jsonio import instance_document, write_json
from fairalloc.solvers.running import time_limits


@pytest.fixture
def racks(tmp_path):
    path = tmp_path / "racks.json"
    write_json(instance_document(generators.racks(60, 10, 2)), path)
    return path


def test_why_did_i_get_this(run):
    code, out, _ = run("explain", "wang-fig2", "-m", "drfh", "--user", "u1")
    assert code == 0
    assert "u1 runs 10 tasks, the share 5/7, and stops in round 1" in out
    assert "held back by cpu (full, price" in out
    assert "u2 runs" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_json_has_the_same_sentences(run):
    _, text, _ = run("explain", "khamse-fig1", "-m", "ps-dsf")
    code, out, _ = run("explain", "khamse-fig1", "-m", "ps-dsf", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert (document["schema"], document["mechanism"]) == ("fairalloc-explanation/1", "ps-dsf")
    words = " ".join(text.split())
    assert all(" ".join(sentence["text"].split()) in words for sentence in document["sentences"])


def test_parameters_methods_and_files(run, racks, tmp_path):
    code, out, _ = run("explain", racks, "-m", "alpha-pf-vds", "--param", "alpha=3", "--user", "u2", "--time-limit", 60)
    assert code == 0
    assert "virtual dominant share" in out
    code, out, _ = run("explain", racks, "-m", "tsf", "--method", "interior-point", "--user", "u2", "--format", "json")
    assert code == 0
    assert "the prices of interior-point" in json.loads(out)["proof"]
    own = tmp_path / "own.py"
    own.write_text("import fairalloc as fa\nequal = fa.Leximin('equal', share=lambda instance: [1.0] * instance.N)\n")
    code, out, _ = run("explain", "wang-fig2", "-m", f"{own}:equal")
    assert code == 0
    assert "wang-fig2: equal explained." in out


def test_show(run, racks):
    code, out, _ = run("show", racks, "--head", 5)
    assert code == 0
    assert "... and 55 more in 55 more rows" in out
    assert max(map(len, out.splitlines())) <= 100
    code, out, _ = run("show", racks, "--format", "json")
    assert code == 0
    assert len(json.loads(out)["users"]) == 60


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["explain", "wang-fig2", "--user", "u3"], "there is no user 'u3': the users are u1, u2"),
        (["explain", "nope"], "there is no file and no published example 'nope'"),
        (["explain", "wang-fig2", "-m", "nope"], "there is no mechanism 'nope'"),
        (["explain", "wang-fig2", "--param", "alpha=2"], "mechanism 'drfh' has no parameter 'alpha'"),
        (
            ["explain", "wang-fig2", "--time-limit", "0"],
            "--time-limit is 0.0, but it must be a positive number or None",
        ),
        (["explain", "zarchy-ex1", "-m", "drfh"], "needs one demand vector for each user"),
        (["explain", "wang-fig2", "--method", "pdhg"], "method 'pdhg' does not compute 'drfh'"),
        (["explain", "wang-fig2", "-m", "alpha-pf-vds", "--param", "alpha=-1"], "alpha is -1"),
        (["show", "nope"], "there is no file and no published example 'nope'"),
        (["show", "wang-fig2", "--head", "0"], "head is 0, but it must be a positive whole number"),
    ],
)
def test_errors_are_one_sentence_and_code_2(run, arguments, sentence):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_an_answer_that_is_missing_is_told_with_its_reason(run, tmp_path):
    """It had been "to explain: not judged: there is no point", for sensitivity too, and "by ," for a method that is not known."""
    text = "import os\nimport fairalloc as fa\nclass Ends(fa.Mechanism):\n    id = 'ends'\n"
    (tmp_path / "own.py").write_text(f"{text}    def write_cvxpy(self, instance):\n        os._exit(3)\n")
    asked = ("wang-fig2", "-m", tmp_path / "own.py", "--time-limit", 60)
    for command in ("explain", "sensitivity"):
        code, _, err = run(command, *asked)
        assert (code, err) == (2, "fairalloc: there is no answer of 'ends': its process ended with exit code 3\n")
    assert run("solve", *asked)[1].startswith("wang-fig2: ends, error (its process ended with exit code 3)\n")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "fairalloc-instance/2"}', '{"schema": 3, "users": []}', "\x00"])
@pytest.mark.parametrize("command", ["explain", "show"])
def test_what_is_no_instance_is_one_sentence(run, command, text, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    code, out, err = run(command, path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
