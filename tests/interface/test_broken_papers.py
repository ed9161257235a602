"""A file of the papers with an error ends the commands that read it with one sentence, which names the file and what is wrong."""

import sys

import pytest

from fairalloc.models.errors import InstanceError
from fairalloc.models.registry import naming_the_file
from fairalloc.simulation.experiments import papers as experiments
from fairalloc.simulation.experiments.registry import all_experiments
from fairalloc.theorems import papers, registry

FAULTS = {
    "no_python": ("x = 1\ndef (\n", "SyntaxError: invalid syntax (line 2)"),
    "unknown_name": ("x = 1\ny = X\n", "NameError: name 'X' is not defined (line 2)"),
    "refused": ("from fairalloc import Instance\nInstance([[1]], [[0]])\n", "InstanceError: "),
    "ends": ("raise SystemExit('now')\n", "SystemExit: now (line 1)"),
    "nothing": ("x = 1\n", "AttributeError: module 'fairalloc."),
    "no_experiments": ("EXPERIMENTS = [1]\n", "AttributeError: "),
}


@pytest.fixture(autouse=True)
def modules_are_forgotten():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if {"papers_of_a_test", *FAULTS} & set(name.split(".")):
            del sys.modules[name]


def one_sentence(end, file, words):
    code, out, said = end
    assert (code, out) == (2, "")
    assert said.startswith(f"fairalloc: {file} cannot be loaded: {words}")
    assert said.count("\n") == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("name", FAULTS)
def test_statements(name, run, tmp_path, monkeypatch):
    text, words = FAULTS[name]
    folder = a_paper(tmp_path, monkeypatch, text, "")
    for command in (["theorems", "show", "Z.P4"], ["theorems", "list"]):
        one_sentence(run(*command), folder / "trials.py", words)


def a_paper(tmp_path, monkeypatch, trials, statements):
    """The folder of a sixth paper with these two files."""
    folder = tmp_path / "papers_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "trials.py").write_text(trials)
    (folder / "statements.toml").write_text(statements)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    monkeypatch.setattr(registry._STATEMENTS, "_own", None)
    return folder


STATEMENT = """
[statement."Z.new"]
place = "Z 9"
text = "nb is envy-free."
mechanism = "nb"
property = "envy-freeness"
"""
MISPRINT = """
[misprint."Z.slip"]
place = "Z 9"
printed = "Section 8"
meant = "Section 9"
note = "It has no Section 8."
"""
TEXTS = {
    "a misprint's key": (
        MISPRINT + "says = 1",
        "misprint 'Z.slip': ValueError: 'says' is no key, or lacking: the keys are id, ",
    ),
    "a misprint without its meaning": (MISPRINT.replace("meant", "#"), "misprint 'Z.slip': ValueError: 'meant' is no key, or"),
    "a long quotation": (
        MISPRINT.replace('8"', '8 9 10 11 12 13 14 15 16 17 18 19"', 1),
        "misprint 'Z.slip': ValueError: printed has 13",
    ),
    "no TOML": ("[[statement]\n", "it: TOMLDecodeError: "),
    "two of a name": (STATEMENT + STATEMENT, "it: TOMLDecodeError: Cannot declare"),
    "a key of the file": (
        "hypothesis = 'positive'" + STATEMENT,
        "it: ValueError: 'hypothesis' is no key, but",
    ),
    "no names": ("[[statement]]\ntext = 'x'\n", "it: ValueError: "),
    "another name": (STATEMENT + "id = 'Z.other'", "statement 'Z.new': TypeError: "),
    "a key": (STATEMENT + "says = 1", "statement 'Z.new': ValueError: 'says' is no key, but the keys are id, "),
    "no text": (STATEMENT.replace("text", "note"), "statement 'Z.new': ValueError: it has no text"),
    "hypotheses": (STATEMENT + "hypotheses = 'positiv'", "statement 'Z.new': UnknownName: there is no"),
    "a number": (STATEMENT + "parameters = { alpha = ['x'] }", "statement 'Z.new': ValueError: "),
    "a case": (STATEMENT + "printed = 'fig9'", "statement 'Z.new': UnknownName: there is no published example 'fig9'"),
    "a proof": (STATEMENT + "proof = '[[none]]'", "statement 'Z.new': UnknownName: there is no proof 'none'"),
    "a judge": (STATEMENT + "judge = 'envy'", "statement 'Z.new': UnknownName: there is no property 'envy'"),
    "a table": ('[tables]\n"Z.Table1" = "Z.no"\n' + STATEMENT, "it: ValueError: 'Z.no' is in a table, but is no statement"),
    "no trial": (
        STATEMENT.replace('property = "envy-freeness"', ""),
        "statement 'Z.new': ValueError: it has no trial",
    ),
    "no case": (STATEMENT + "quantifier = 'one'", "statement 'Z.new': ValueError: statement 'Z.new' is about one printed case"),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", TEXTS)
def test_texts(name, run, tmp_path, monkeypatch):
    text, words = TEXTS[name]
    folder = a_paper(tmp_path, monkeypatch, "cases, trials = {}, {}\n", text)
    code, out, said = run("theorems", "list")
    assert (code, out) == (2, "")
    assert said.startswith(f"fairalloc: {folder / 'statements.toml'} cannot be read: {words}")
    assert said.count("\n") == 1


def test_a_text_without_faults_and_a_trial_without_text(run, tmp_path, monkeypatch):
    folder = a_paper(tmp_path, monkeypatch, "cases, trials = {}, {}\n", STATEMENT)
    assert "Z.new" in run("theorems", "list")[1]
    (folder / "trials.py").write_text("cases, trials = {}, {'Z.other': 1}\n")
    monkeypatch.setattr(registry._STATEMENTS, "_own", None)
    del sys.modules["fairalloc.theorems.papers.papers_of_a_test.trials"]
    code, _, said = run("theorems", "list")
    assert (code, said) == (2, f"fairalloc: {folder / 'trials.py'} tries 'Z.other', but statements.toml has no such statement\n")


def test_misprints(run, tmp_path, monkeypatch):
    folder = a_paper(tmp_path, monkeypatch, "cases, trials = {}, {}\n", STATEMENT + MISPRINT)
    listed = run("theorems", "list", "--status", "misprint")[1]
    assert "Z.slip" in listed
    assert "Z.new" not in listed
    assert "Meant: Section 9." in run("theorems", "show", "Z.slip")[1]
    (folder / "statements.toml").write_text(STATEMENT + MISPRINT.replace("Z.slip", "Z.new"))
    assert run("theorems", "list")[2] == "fairalloc: two claims or misprints are named 'Z.new', but names must be distinct\n"


@pytest.mark.parametrize("name", FAULTS)
def test_experiments(name, run, tmp_path, monkeypatch):
    text, words = FAULTS[name]
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(tmp_path)])
    all_experiments.cache_clear()
    one_sentence(run("simulate", "--list"), tmp_path / f"{name}.py", words)


@pytest.mark.parametrize("name", ["no_python", "unknown_name", "ends"])
def test_a_file_that_is_imported_is_the_one_that_is_named(name, tmp_path, monkeypatch):
    text, words = FAULTS[name]
    (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "papers_of_a_test.py").write_text(f"import {name}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InstanceError) as raised, naming_the_file("papers_of_a_test"):
        __import__("papers_of_a_test")
    assert str(raised.value) == f"{tmp_path / f'{name}.py'} cannot be loaded: {words}"


def test_what_has_no_error_is_loaded(tmp_path, monkeypatch):
    (tmp_path / "papers_of_a_test.py").write_text("trials = [1]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with naming_the_file("papers_of_a_test"):
        made = __import__("papers_of_a_test")
    assert made.trials == [1]
