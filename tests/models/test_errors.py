"""One error tree: each refusal is of the class that says what is wrong, and a misspelt name gets the nearest one."""

import inspect
import sys
from pathlib import Path

import pytest

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.models import errors
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, NotInstalled, UnknownName, no_such
from fairalloc.theorems.registry import statement

WANG = fa.example("wang-fig2").instance
TWO_WAYS = fa.Instance([[[1, 2], [2, 1]]], [[4, 4]])


def test_every_error_is_a_fairalloc_error_and_public():
    classes = {c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__}
    assert classes == {FairallocError, InstanceError, NotApplicable, NotInstalled, UnknownName}
    assert all(issubclass(c, FairallocError) and getattr(fa, c.__name__) is c for c in classes)
    assert issubclass(FairallocError, ValueError)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: fa.solve(WANG, "drhf"), UnknownName, "(did you mean 'drf' or 'drfh'?)"),
        (lambda: fa.solve(WANG, "drfh", "highs:leximim"), UnknownName, "(did you mean 'highs:leximin'"),
        (lambda: fa.example("wang-fig3"), UnknownName, "(did you mean 'wang-fig"),
        (lambda: statement("W.theorem.99"), UnknownName, "see fairalloc theorems list"),
        (lambda: fa.check_mechanism(WANG, "drfh", "strategy-proofness"), UnknownName, "(did you mean 'strategyproofness'"),
        (lambda: fa.solve(WANG, "drfh", "pdhg"), NotApplicable, "does not compute 'drfh'"),
        (lambda: fa.solve(WANG, "drfh", alpha=2), NotApplicable, "has no parameter 'alpha'"),
        (lambda: fa.solve(TWO_WAYS, "drfh"), NotApplicable, "needs one demand vector"),
        (lambda: fa.solve(WANG, "fds", alpha=-1), InstanceError, "alpha is -1"),
        (lambda: fa.Instance([[1]], [[-1]]), InstanceError, "must not be negative"),
    ],
)
def test_each_refusal_is_of_the_class_that_fits(call, kind, says):
    with pytest.raises(FairallocError) as caught:
        call()
    assert type(caught.value) is kind
    assert says in str(caught.value)


def test_a_missing_package_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.lib", None)
    from fairalloc.models.files.trace_files import parquet_columns

    with pytest.raises(NotInstalled, match="parquet files need pyarrow"):
        parquet_columns(Path("nowhere.parquet"), ("a",))


def test_far_names_get_no_guess():
    assert no_such("server", "zzz", ["s1", "s2"]) == "there is no server 'zzz': the servers are s1, s2"
    assert no_such("server", 5, ["s1"], "see there") == "there is no server 5: see there"


def test_the_command_line_prints_any_of_them_as_one_sentence(capsys):
    for arguments in (["solve", "wang-fig2", "-m", "drhf"], ["solve", "wang-fig2", "-m", "drfh", "--method", "pdhg"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
