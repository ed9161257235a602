"""The errors of the package: each is one sentence that names the thing, its value and the rule.

All are `FairallocError`s, which is a ValueError; the command line prints the sentence and ends with code 2.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import numpy as np

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class FairallocError(ValueError):
    """The base of all errors of this package, whose message is one sentence."""


class InstanceError(FairallocError):
    """Bad data: one sentence that names the thing, its value and the rule."""


class UnknownName(FairallocError):  # noqa: N818 (the words users read)
    """An unknown name; the sentence gives similar names, and all that exist or where they are listed."""


class NotInstalled(FairallocError):  # noqa: N818 (the words users read)
    """A package or a solver that is missing; the sentence says what installs it."""


class NotApplicable(FairallocError):  # noqa: N818 (the words users read)
    """A mechanism that is not defined on the instance, or a method or parameter that does not fit it."""


PATH = 4096
"""Characters of the longest name of a file, of which a message cuts nothing."""


def shown(value: Any, most: int = 60) -> str:
    """The value as it stands in a message: at most so long, on one line, a NumPy scalar as the plain number."""
    try:
        text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    except ValueError:  # Python writes no integer of more than 4300 digits
        return "an integer of thousands of digits"
    except RecursionError:
        return "a value that nests too deeply to be shown"
    except Exception:  # a `__repr__` of the caller's
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def require(holds: object, about: str, value: Any, rule: str) -> None:
    """InstanceError "`about` value, but `rule`" where something does not hold."""
    if not holds:
        raise InstanceError(f"{about} {shown(value)}, but {rule}")


def said(error: BaseException) -> str:
    """The text of an error, of which code of the caller's may have made the class."""
    try:
        return str(error)
    except Exception:
        return "an error that cannot be shown"


EXTRAS = {"z3": "smt", "matplotlib": "plots", "pyarrow": "traces", "distributed": "cluster", "argcomplete": "completion"}
"""The extras of this package that bring packages it does not need in general."""


def not_installed(error: ModuleNotFoundError) -> NotInstalled | ModuleNotFoundError:
    """What says which package is missing; the error itself where that is a part of this package."""
    name = (error.name or "fairalloc").partition(".")[0]
    extra = f"[{EXTRAS[name]}]" if name in EXTRAS else ""
    sentence = f"this needs {name}, which is not installed: pip install fairalloc{extra}"
    return error if name == "fairalloc" else NotInstalled(sentence)


def fault(error: BaseException, line: int | None = None) -> str:
    """The class and the text of an error on one line, with the line of a file where it is known."""
    what = error.msg if isinstance(error, SyntaxError) else said(error)
    return " ".join(f"{type(error).__name__}: {what}".split()) + (f" (line {line})" if line else "")


@contextmanager
def callers(what: str, how: str = "failed") -> Iterator[None]:
    """InstanceError "`what` failed: .." where code of the caller's raises what is no error of this package, or SystemExit."""
    try:
        yield
    except FairallocError:
        raise
    except (Exception, SystemExit) as error:
        raise InstanceError(f"{what} {how}: {fault(error)}") from error


def unprintable(text: str) -> bool:
    """Whether a text has control characters or lone surrogates, which no terminal or file should get."""
    return _UNPRINTABLE.search(text) is not None


def check_name(name: Any, what: str, empty: bool = False) -> None:
    """InstanceError where a name is no text, a text that is `unprintable`, or an empty one that may not be `empty`."""
    require(isinstance(name, str), f"{what} is", name, "it must be a string")
    require(name or empty, f"{what} is", name, "it must be a name")
    require(not unprintable(name), f"{what} is", name, "a name has no control characters or surrogates")


def no_such(kind: str, name: Any, known: Iterable[str], rule: str = "", most: int = 60) -> str:
    """The sentence about an unknown name of a kind such as "mechanism"; `rule` ends it, by default all the names known.

    `most` : the characters of the name that it shows.

    >>> no_such("method", "higs", ["highs", "exact"])
    "there is no method 'higs' (did you mean 'highs'?): the methods are highs, exact"
    """
    names = [str(item) for item in known]
    lower = {item.lower(): item for item in names}
    near = [lower[item] for item in get_close_matches(name.lower(), lower, 2)] if isinstance(name, str) else []
    guess = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return f"there is no {kind} {shown(name, most)}{guess}: {rule or f'the {kind}s are ' + ', '.join(names)}"


def listed(names: Sequence[Any], most: int = 8) -> str:
    """The first names, with commas."""
    return ", ".join(map(str, names[:most])) + ", ..." * (len(names) > most)


def place_of(name: Any, names: Sequence[str], kind: str) -> int:
    """The position of a name among all of a kind such as "server"; UnknownName where it is none."""
    if name not in names:
        raise UnknownName(no_such(kind, name, names[:1000], f"the {kind}s are {listed(names)}"))
    return names.index(name)
