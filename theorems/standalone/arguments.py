"""The arguments of standalone scripts, as arguments.toml has them: a check of exact data, and what makes its data of a case.

A *check* is a function of exact data, of which every line is an assertion about rationals, and which returns the numbers that it
ends with; one function serves all statements of its kind. What it needs is made of the case, by any means (`make`); what it
proves does not depend on how that was made.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fairalloc.models.instance import Instance
from fairalloc.models.registry import naming_the_file
from fairalloc.theorems.cases import Case
from fairalloc.theorems.packaged_files import packaged_toml
from fairalloc.theorems.standalone.certificates import given
from fairalloc.theorems.standalone.definitions import exact


@dataclass(frozen=True)
class Argument:
    """How one statement, or several of one kind, is refuted, as arguments.toml has it.

    Attributes
    ----------
    check : MODULE.FUNCTION of this folder
    make : those that make what the case does not say, separated by spaces; "" = the answer of a rule, where the check asks for
        its `rounds`, else nothing
    data : constants of both
    answers : a key of ANSWERS
    sentence, formula : in English and in LaTeX; {name} stands for a number that the check returned
    assumed : what is assumed, where it is not what the hypotheses of the statement say of its cases
    case : instead of the witness on record
    """

    check: str
    make: str
    data: Mapping[str, Any]
    answers: str
    sentence: str
    formula: str
    assumed: str
    case: Case | None

    @property
    def function(self) -> Callable[..., Any]:
        return _loaded(self.check)

    def made(self, case: Case) -> Mapping[str, Any]:
        """All data of a case by name."""
        known = given(case)
        usual = "lexicographic.make_answer" * ("rounds" in inspect.signature(self.function).parameters)
        for make in map(_loaded, (self.make or usual).split()):
            names = [name for name in inspect.signature(make).parameters if name in self.data]
            known |= make(case, **{name: self.data[name] for name in names})
        return known | dict(self.data)

    def found(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the check returns; AssertionError where these data do not refute the claim."""
        found: Mapping[str, Any] = self.function(*(data[name] for name in inspect.signature(self.function).parameters))
        return found


def _loaded(name: str) -> Callable[..., Any]:
    """MODULE.FUNCTION, imported when it is asked for, as modules use files of the papers."""
    module, _, function = name.partition(".")
    with naming_the_file(f"fairalloc.theorems.standalone.{module}"):
        found: Callable[..., Any] = getattr(import_module(f"fairalloc.theorems.standalone.{module}"), function)
    return found


def _arguments() -> dict[str, Argument]:
    """Those of arguments.toml by the id of the statement."""
    found: dict[str, Argument] = {}
    for names, item in packaged_toml("standalone/arguments.toml").items():
        own = item.get("case", {})
        parts = {name: own[name] for name in ("demands", "capacities", "weights", "max_tasks") if name in own}
        case = Case(Instance(**parts), parameters={name: own[name] for name in own if name not in parts}) if own else None
        data = {"statement": names.split()[0]} if item.get("make") == "complaints.make_shown" else {}
        data |= item.get("data", {}) | {name: exact(value) for name, value in item.get("exact", {}).items()}
        answers, assumed = item.get("answers", ""), item.get("assumed", "")
        made = Argument(item["check"], item.get("make", ""), data, answers, item["sentence"], item["formula"], assumed, case)
        found |= dict.fromkeys(names.split(), made)
    return found


ARGUMENTS = _arguments()
