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
    "numbers": ("statements = EXPERIMENTS = [1]\n", "AttributeError: 'int' object has no attribute 'id'"),
}


@pytest.fixture(autouse=True)
def modules_are_forgotten():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.rpartition(".")[2] in ("papers_of_a_test", "statements", *FAULTS):
            del sys.modules[name]


def one_sentence(end, file, words):
    code, out, said = end
    assert (code, out) == (2, "")
    assert said.startswith(f"fairalloc: {file} cannot be loaded: {words}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", FAULTS)
def test_statements(name, run, tmp_path, monkeypatch):
    text, words = FAULTS[name]
    folder = tmp_path / "papers_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "statements.py").write_text(text)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    monkeypatch.setattr(registry._STATEMENTS, "_own", None)
    for command in (["theorems", "show", "Z.P4"], ["theorems", "list"]):
        one_sentence(run(*command), folder / "statements.py", words)


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
    (tmp_path / "papers_of_a_test.py").write_text("statements = [1]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with naming_the_file("papers_of_a_test"):
        made = __import__("papers_of_a_test")
    assert made.statements == [1]
