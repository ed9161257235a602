"""Arguments of public functions: one of a wrong kind is one sentence, by the annotation of its parameter.

`checked` reads the annotations when the function is first called. What they do not say, such as how long an array must be, the
function checks itself; names and accuracies (`str` beside other kinds) too, whose sentences give those that exist.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from fairalloc.models.errors import InstanceError, NotApplicable, UnknownName, no_such, not_installed, shown

F = TypeVar("F", bound=Callable[..., Any])

LARGEST = 2**63 - 1
"""The largest whole number that arrays hold."""


class Rule(NamedTuple):
    """Whether a value is of a kind, the words for the kind, the rule of its entries, and below what its numbers must be."""

    fits: Callable[[Any], bool]
    words: str
    each: "Rule | None" = None
    below: str = ""

    def __repr__(self) -> str:
        """For signatures, where `help` and the site show it."""
        return repr(self.words)


def _is_number(value: Any, kind: type[Any] = Real) -> bool:
    """Whether it is a number in the range of floating point, inf among them, or a whole one that arrays hold."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        return False
    try:
        return abs(value) <= LARGEST if kind is Integral else not math.isnan(float(value))
    except OverflowError:
        return False


def is_list(value: Any) -> bool:
    """Whether it has entries, and is no text."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0


Count = Annotated[int, Rule(lambda value: value >= 1, "a positive whole number")]
Processes = Annotated[int, Rule(lambda value: 1 <= value <= 1024, "a whole number from 1 to 1024")]
Whole = Annotated[int, Rule(lambda value: value >= 0, "a whole number, 0 or more")]
Seed = Whole
Tolerance = Annotated[float, Rule(lambda value: value >= 0, "a number that is not negative")]
Duration = Annotated[float, Rule(lambda value: 0 < value < math.inf, "a positive, finite number")]
Seconds = Annotated[float, Rule(lambda value: value > 0, "a positive number")]

PLAIN: Mapping[Any, Rule] = {
    NoneType: Rule(lambda value: value is None, "None"),
    bool: Rule(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    int: Rule(lambda value: _is_number(value, Integral), "a whole number", below="2**63"),
    float: Rule(_is_number, "a number", below="1.8e308"),
    str: Rule(lambda value: isinstance(value, str), "a text"),
    Path: Rule(lambda value: isinstance(value, str | PathLike), "a path"),
    Mapping: Rule(lambda value: isinstance(value, Mapping), "a mapping of names to values"),
    Callable: Rule(callable, "a function"),
    Iterable: Rule(is_list, "a list"),
    Sequence: Rule(lambda value: isinstance(value, Sequence | np.ndarray) and is_list(value), "a list"),
    type: Rule(lambda value: isinstance(value, type), "a class"),
}


ANYTHING = Rule(lambda _: True, "anything")


def checked(function: F) -> F:
    """The function with its arguments checked before it is called.

    UnknownName where an argument has a name that no parameter has; InstanceError where one is missing, or of a kind that the
    annotation does not allow.
    """
    known = signature(function)
    rules = cache(lambda: _rules(function, known))

    def check(arguments: Mapping[str, Any]) -> None:
        for name, rule in rules().items():
            if name in arguments and not rule.fits(arguments[name]):
                raise InstanceError(_wrong(name, arguments[name], rule))

    return _wrapped(function, known, check)


def named(function: F) -> F:
    """The function with the names of its arguments checked: it says itself what is wrong with a value."""
    return _wrapped(function, signature(function), lambda _: None)


def _wrapped(function: F, known: Signature, check: Callable[[Mapping[str, Any]], None]) -> F:
    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            arguments = known.bind(*given, **named).arguments
        except TypeError as error:
            raise _misuse(function.__qualname__.removesuffix(".__init__"), known, named, error) from None
        check(arguments)
        try:
            return function(*given, **named)
        except ModuleNotFoundError as error:
            raise not_installed(error) from None
        except NotApplicable as error:
            said = [name for name in named if repr(name) in str(error)]
            near = [word for name in said for word in get_close_matches(name, known.parameters, 1, 0.75)]
            if not near or near[0] in named:
                raise
            raise NotApplicable(f"{error} (did you mean the argument {near[0]!r}?)") from error.__cause__

    return cast(F, call)


def check_fields(item: Any) -> None:
    """InstanceError where a field of a dataclass is of a kind that its annotation does not allow."""
    made: type = type(item)
    for name, rule in kinds(made).items():
        if not rule.fits(getattr(item, name)):
            raise InstanceError(_wrong(name, getattr(item, name), rule))


def check_like(name: str, value: Any, default: Any) -> None:
    """InstanceError where a value is not of the kind of a default: a number (as None), truth value, list, or tuple of these."""
    rule = _tuple([_kind(one) for one in default]) if isinstance(default, tuple) else _rule(_kind(default))
    if rule is not None and value is not default and not rule.fits(value):
        raise InstanceError(_wrong(name, value, rule))


def _kind(default: Any) -> Any:
    return next((kind for kind in (bool, float, Sequence) if PLAIN[kind].fits(default)), object if default is not None else float)


@cache
def kinds(cls: type) -> Mapping[str, Rule]:
    """The rules of the fields of a class, by their annotations: what a row of a file must hold."""
    hints = get_type_hints(cls, include_extras=True).items()
    return {name: rule for name, hint in hints if (rule := _rule(hint)) is not None}


def _wrong(name: str, value: Any, rule: Rule) -> str:
    """The sentence about a value that does not fit, or about the first entry of a list that does not."""
    if rule.each is not None and isinstance(value, Sequence) and is_list(value):
        for k, entry in enumerate(value):
            if not rule.each.fits(entry):
                return _wrong(f"{name}[{k}]", entry, rule.each)
    large = rule.below and isinstance(value, Integral) and abs(int(value)) > LARGEST
    about = f"the {name}" if name in ("instance", "allocation") else name
    return f"{about} is {shown(value)}, but it must be {rule.words}" + (f", and below {rule.below} in size" if large else "")


def _misuse(function: str, known: Signature, named: Mapping[str, Any], error: TypeError) -> InstanceError | UnknownName:
    names = [name for name, item in known.parameters.items() if item.kind is not Parameter.VAR_KEYWORD and name != "self"]
    strange = [name for name in named if name not in names]
    if strange and "unexpected" in str(error):
        return UnknownName(no_such("argument", strange[0], names, f"{function} takes {', '.join(names) or 'none'}"))
    return InstanceError(f"{function} cannot be called so: {error}: it takes {', '.join(names) or 'no arguments'}")


def _rules(function: Callable[..., Any], known: Signature) -> dict[str, Rule]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError:  # a name that only tools that read types import
        hints = {name: item.annotation for name, item in known.parameters.items()}
    return {name: rule for name in known.parameters if (rule := _rule(hints.get(name, Any))) is not None}


def _rule(hint: Any) -> Rule | None:
    """The rule of an annotation; None where anything goes, or the function says it better."""
    if isinstance(hint, str) or hint is Any:
        return None
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind, more = cast(Rule, _rule(parts[0])), cast(Rule, parts[1])
        return Rule(lambda value: kind.fits(value) and more.fits(value), more.words, below=kind.below)
    if origin is Literal:
        return Rule(lambda value: isinstance(value, str) and value in parts, f"one of {', '.join(map(repr, parts))}")
    if origin in (Union, UnionType):
        return _any_of(parts)
    if origin is tuple and Ellipsis not in parts:
        return _tuple(parts)
    if origin in (Mapping, Iterable, Sequence) and (each := _rule(parts[-1])) is not None:
        return _filled(PLAIN[origin], each)
    plain = PLAIN.get(origin or hint)
    if plain is not None or not isinstance(hint, type) or hint.__module__ in ("builtins", "numpy"):
        return plain
    return Rule(lambda value: isinstance(value, hint), f"{'an' if hint.__name__[0] in 'AEIOU' else 'a'} {hint.__name__}")


def _filled(whole: Rule, each: Rule) -> Rule:
    """The rule of a container whose entries have a rule; what can be read once only is not looked into."""

    def fits(value: Any) -> bool:
        if not whole.fits(value):
            return False
        if isinstance(value, np.ndarray):
            return each.words != PLAIN[str].words and all(map(each.fits, value.tolist()))
        entries = value.values() if isinstance(value, Mapping) else value if isinstance(value, Sequence) else ()
        return all(map(each.fits, entries))

    return Rule(fits, f"{whole.words}, each {each.words}", None if whole is PLAIN[Mapping] else each)


def _tuple(parts: Sequence[Any]) -> Rule:
    each = [_rule(part) or ANYTHING for part in parts]

    def fits(value: Any) -> bool:
        long_enough = isinstance(value, tuple | list) and len(value) == len(each)
        return long_enough and all(rule.fits(one) for rule, one in zip(each, value, strict=True))

    return Rule(fits, f"({', '.join(rule.words for rule in each)})")


def _any_of(parts: Sequence[Any]) -> Rule | None:
    rest = [part for part in parts if part is not str] if Path in parts else list(parts)
    if str in rest and len(rest) > 1 and set(rest) != {str, NoneType}:
        return None
    if None in (rules := [_rule(part) for part in rest]):
        return None
    known = cast(list[Rule], rules)
    words, below = " or ".join(rule.words for rule in known), max(rule.below for rule in known)
    return Rule(lambda value: any(rule.fits(value) for rule in known), words, below=below)
