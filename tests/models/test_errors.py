"""One error tree: each refusal is of the class that says what is wrong, and a misspelt name gets the nearest one."""

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.models import errors
from fairalloc.models.arguments import Count, Seed, check_fields, check_like, checked
from fairalloc.models.errors import (
    FairallocError,
    InstanceError,
    NotApplicable,
    NotInstalled,
    UnknownName,
    callers,
    fault,
    no_such,
    shown,
)
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


# ---- arguments ------------------------------------------------------------------------------------------------------


class Sized:
    """A class with a method and a field of each kind."""

    size: int
    name: str

    def __init__(self, size, name="x"):
        self.size, self.name = size, name

    @checked
    def grown(self, by: int, factor: float = 1.0) -> float:
        return (self.size + by) * factor


@checked
def taken(
    count: Count = 1,
    seed: Seed = 0,
    whole: int = 0,
    numbers: Sequence[float] = (),
    names: Iterable[str] = (),
    ends: tuple[float, float] = (0.0, 1.0),
    parts: Mapping[str, float] = {},
    word: Literal["fast", "exact"] = "fast",
    text: str | None = None,
    size: float | None = None,
    method: str | float = "x",
    made: Sized | None = None,
) -> str:
    return "taken"


NUMBERS, POSITIVE = "a list, each a number", "a positive whole number"


@pytest.mark.parametrize(
    ("argument", "right", "wrong", "rule"),
    [
        ("count", [1, 7, np.int64(3), 2**63 - 1], [0, -1, 1.0, True, "1", None], POSITIVE),
        ("seed", [0, 5], [-1, 0.5], "a whole number, 0 or more"),
        ("whole", [-(2**63) + 1, 2**63 - 1], [2**63, -(2**63), 1.5], "a whole number"),
        (
            "numbers",
            [[], [1, 2.5], (np.float64(1),), np.ones(3), [np.inf]],
            [1, "12", [1, "2"], [[1]], np.nan, [np.nan]],
            NUMBERS,
        ),
        ("names", [[], ["a"], ("a", "b"), {"a"}, {"a": 1}.keys(), iter([1])], ["a", 5, [1], np.ones(2)], "a list, each a text"),
        ("ends", [(0, 1), [0.5, 2]], [(0,), (0, 1, 2), 1, ("a", 1)], r"\(a number, a number\)"),
        ("parts", [{}, {"a": 1}], [[1], {"a": "1"}, {"a": None}], "a mapping of names to values, each a number"),
        ("word", ["fast", "exact"], ["slow", 1, ["fast"]], "one of 'fast', 'exact'"),
        ("text", [None, "", "a"], [1, b"a", ["a"]], "a text or None"),
        ("size", [None, 0, 1e308, np.inf, Fraction(1, 3)], ["1", 1j, [1], np.nan, 10**400, False], "a number or None"),
        ("made", [None, Sized(1)], [Sized, 1], "a Sized or None"),
    ],
)
def test_an_argument_is_checked_by_its_annotation(argument, right, wrong, rule):
    for value in right:
        assert taken(**{argument: value}) == "taken"
    for value in wrong:
        with pytest.raises(InstanceError, match=f"^{argument}.* is .*, but it must be "):
            taken(**{argument: value})
    with pytest.raises(InstanceError, match=f"^{argument} is .*, but it must be {rule}"):
        taken(**{argument: wrong[0]})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: taken(numbers=[1, 2, "3"]), "numbers[2] is '3', but it must be a number"),
        (
            lambda: taken(count=2**63),
            "count is 9223372036854775808, but it must be a positive whole number, and below 2**63 in size",
        ),
        (lambda: taken(whole="1"), "whole is '1', but it must be a whole number"),
        (lambda: taken(size=10**400), f"size is 1{'0' * 56}..., but it must be a number or None, and below 1.8e308 in size"),
        (lambda: taken(cuont=1), "there is no argument 'cuont' (did you mean 'count'?): taken takes"),
        (lambda: Sized(1).grown(), "Sized.grown cannot be called so: missing a required argument: 'by': it takes by, factor"),
        (lambda: Sized(1).grown(1, 2, 3), "Sized.grown cannot be called so: too many positional arguments: it takes by, factor"),
        (lambda: Sized(1).grown(1, size=3), "there is no argument 'size': Sized.grown takes by, factor"),
    ],
)
def test_the_sentence_about_an_argument(call, sentence):
    with pytest.raises(fa.FairallocError) as caught:
        call()
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_what_an_argument_is_not_checked_for():
    assert taken(method=object()) == "taken", "a function says itself which names there are"
    assert Sized(2).grown(3, factor=2) == 10


def test_the_fields_of_an_object_are_checked_by_their_annotations():
    check_fields(Sized(1))
    with pytest.raises(InstanceError, match=r"^size is 1\.5, but it must be a whole number$"):
        check_fields(Sized(1.5))
    with pytest.raises(InstanceError, match=r"^name is 3, but it must be a text$"):
        check_fields(Sized(1, 3))


def test_a_refused_parameter_is_compared_with_the_names_of_arguments():
    """A parameter that no mechanism has may be an argument of the function, misspelt."""
    with pytest.raises(NotApplicable, match=r"\(did you mean the argument 'method'\?\)$"):
        fa.solve(WANG, "drfh", metod="exact")
    with pytest.raises(NotApplicable, match="has no parameter 'alpha'") as caught:
        fa.solve(WANG, "drfh", alpha=2)
    assert "did you mean" not in str(caught.value)


def test_values_are_shown_on_one_line_and_cut():
    assert shown("x" * 58) == repr("x" * 58)
    assert shown("x" * 59) == "'" + "x" * 56 + "..."
    assert shown(np.float64(0.5)) == "0.5"
    assert shown({"a": [1, 2]}) == "{'a': [1, 2]}"
    assert shown(10**5000) == "an integer of thousands of digits"


def test_a_fault_in_a_file_has_the_line_where_it_is_known():
    assert fault(KeyError("a\nb")) == r"KeyError: 'a\nb'"
    assert fault(ValueError("of\ntwo lines"), 7) == "ValueError: of two lines (line 7)"
    assert fault(SyntaxError("bad", ("f", 3, 1, "x")), 3) == "SyntaxError: bad (line 3)"


def test_what_code_of_the_callers_raises_is_one_sentence_of_its_name():
    class Silent(Exception):  # noqa: N818
        def __str__(self):
            raise ValueError

    for error, says in (
        (ZeroDivisionError("1 /\n0"), "ZeroDivisionError: 1 / 0"),
        (Silent(), "Silent: an error that cannot be shown"),
        (SystemExit(3), "SystemExit: 3"),
    ):
        with pytest.raises(InstanceError, match=f"^its code failed: {says}$") as found, callers("its code"):
            raise error
        assert found.value.__cause__ is error
    for error in (UnknownName("as it is"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as found, callers("its code"):
            raise error
        assert found.value is error


def test_a_value_is_like_a_default_or_is_refused():
    """A whole number may become a fraction, a list longer; what is no number, truth value or list may become anything."""
    allowed = ((24, 0.5), (0.5, 3), (None, 2), (None, None), (True, False), ([1, 2], [3]), (np.float64(1), 2), ("a", 3), ({}, []))
    for default, value in (*allowed, ((1.0, 3.0), [0, 5]), (("a", 1.0), ["b", 2]), (Fraction(1, 2), 0.1)):
        check_like("it", value, default)
    refused = ((24, "x"), (24, True), (24, None), (24, np.nan), (None, "x"), (True, 1), ([1], 1), ([1], "x"), ((1.0, 3.0), [1]))
    for default, value in (*refused, ((1.0, 3.0), 1.0), ((1.0, 3.0), ["a", 1])):
        with pytest.raises(InstanceError, match=r"^it is .*, but it must be "):
            check_like("it", value, default)
