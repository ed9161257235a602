"""What was asked for and not done is said, and what code from a file does while it is loaded is one sentence."""

import json

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import explain as cli_explore
from fairalloc.cli import main
from fairalloc.runs import objects

WANG = fa.example("wang-fig2").instance


def holds(allocation):
    return True


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_several_mechanisms_are_all_solved(capsys, kind):
    assert main(["solve", "wang-fig2", "wang-pool", "-m", "drfh", "-m", "nb", "--format", kind]) == 0
    out = capsys.readouterr().out
    found = json.loads(out) if kind == "json" else list(map(json.loads, out.splitlines()))
    assert [(one["instance"], one["mechanism"]) for one in found] == [
        (instance, item) for instance in ("wang-fig2", "wang-pool") for item in ("drfh", "nb")
    ]


@pytest.mark.parametrize(
    "words",
    [
        "explain wang-fig2 -m drfh -m nb",
        "certify wang-fig2 --mechanism drfh -m nb",
        "solve wang-fig2 --method highs --method exact",
        "solve wang-fig2 --accuracy low --accuracy high",
        "simulate K.Fig9 --workload a --workload b --list",
    ],
)
def test_an_option_with_one_value_is_not_given_twice(capsys, words):
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    assert "it is given twice, the second time as" in capsys.readouterr().err


def test_a_claim_makes_all_trials_where_no_seconds_are_given():
    found = fa.claim("tasks are tasks", "drf", holds).search(trials=300)
    assert found.trials + found.finding.searched["rejected"] == 300
    assert (found.asked, found.lacking) == (300, "")


@pytest.mark.deep
def test_trials_that_were_not_made_are_said():
    found = fa.claim("tasks are tasks", "drfh", "pareto").search(trials=10**6, time_limit=3)
    done = found.trials + found.finding.searched["rejected"]
    assert 0 < done < 10**6
    assert found.lacking == f"{done:,} of 1,000,000 trials, then 3 seconds were over"
    assert found.lacking in str(found)


@pytest.mark.parametrize(("option", "sentence"), [("trace", "there is no trace"), ("log", "there is no log")])
def test_a_trace_or_log_that_a_method_does_not_keep_is_said(option, sentence):
    def nothing(instance, mechanism, limits):
        return np.zeros(len(instance.arcs))

    assert sentence in fa.solve(WANG, "drfh", nothing, **{option: True}).message
    assert sentence not in fa.solve(WANG, "drfh", "highs", **{option: True}).message or option == "trace"


def test_a_page_that_cannot_be_written_is_refused_before_the_answers(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli_explore, "compare", lambda *_, **__: pytest.fail("it was computed"))
    assert main(["explore", "wang-fig2", "-o", str(tmp_path / "none" / "page.html")]) == 2
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def test_a_name_that_is_nearly_an_argument_is_named():
    with pytest.raises(fa.NotApplicable, match=r"no parameter 'timelimit'.*did you mean the argument 'time_limit'\?"):
        fa.solve(WANG, "drfh", timelimit=3)
    with pytest.raises(fa.UnknownName, match=r"there is no mechanism 'DRFH' \(did you mean 'drfh'"):
        fa.solve(WANG, "DRFH")
    with pytest.raises(fa.InstanceError, match=r"read_allocation cannot be called so: .*'instance'"):
        fa.read_allocation("nowhere.json")


def test_tasks_near_the_end_of_floating_point():
    instance = fa.Instance([[1], [1]], [[2]], max_tasks=[1e308, 1e308])
    assert fa.solve(instance, "drfh").tasks.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("while True:\n    pass\n", "cannot be loaded: it does not end within 0.5 seconds"),
        ("import time\ntime.sleep(60)\n", "cannot be loaded: it does not end within 0.5 seconds"),
        ("import sys\nsys.exit(3)\n", "cannot be loaded: SystemExit: 3 (line 2)"),
        ("raise KeyboardInterrupt\n", "cannot be loaded: KeyboardInterrupt: (line 1)"),
        ("raise BaseException('x')\n", "cannot be loaded: BaseException: x (line 1)"),
        (
            "class E(Exception):\n    def __str__(self):\n        raise E\nraise E\n",
            "cannot be loaded: E: an error that cannot be shown",
        ),
    ],
)
def test_code_that_does_not_let_itself_be_loaded(tmp_path, monkeypatch, capsys, text, sentence):
    monkeypatch.setattr(objects, "LOADING", 0.5)
    (tmp_path / "own.py").write_text(text)
    assert main(["solve", "wang-fig2", "-m", f"{tmp_path / 'own.py'}:x"]) == 2
    assert sentence in capsys.readouterr().err


def test_a_method_from_a_file_that_ends_the_program(tmp_path, capsys):
    (tmp_path / "own.py").write_text("def mine(instance, mechanism, limits):\n    raise SystemExit(0)\n")
    assert main(["solve", "wang-fig2", "--method", f"{tmp_path / 'own.py'}:mine"]) == 1
    assert "SystemExit" in capsys.readouterr().out
