"""The definitions of what a script, a notebook or a file of one's own defines, as lines of code that run elsewhere.

1. The text of a function or class is asked of Python (`inspect.getsource`); an object without data of its own is its class,
   called.
2. Each global name in the text is defined first: an import, a number or text, or again a function or class of the same script,
   or of a module in the folder of a file that was named as FILE.py:NAME.

Where any name has another value, such as an array or a function without a name, there are no lines: nothing is guessed, and
`defined` says which name it is.
"""

import inspect
import sys
from pathlib import Path
from symtable import SymbolTable, symtable
from textwrap import dedent
from types import ModuleType
from typing import Any

from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations.edited import Edited
from fairalloc.models.files.python_code import value_code
from fairalloc.runs.objects import folders_of_files, is_loaded

SCRIPT = "__main__"


class _Unknown(Exception):  # noqa: N818 (a signal, not an error)
    """A definition cannot be written."""


def defined(name: str, value: Any) -> tuple[list[str], str]:
    """The lines after which `name` is what `value` is, with "", or none with the end of a sentence that says why.

    `import fairalloc as fa` is taken to stand above them.
    """
    lines: dict[str, str] = {}
    try:
        _define(name, value, lines)
    except _Unknown as unknown:
        return [], f"{unknown} is neither a number, a text, a function nor a class with a name of its own"
    except (OSError, TypeError, SyntaxError) as error:
        return [], f"its source is not found ({type(error).__name__})"
    return list(lines.values()), ""


def is_own(module: str) -> bool:
    """Whether a module is the script, a file that was loaded by its path, or lies in the folder of such a file."""
    if module == SCRIPT or is_loaded(module):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and Path(file).resolve().parent in folders_of_files()


def _define(name: str, value: Any, lines: dict[str, str]) -> None:
    if name in lines or (name == "fa" and getattr(value, "__name__", "") == "fairalloc"):
        return
    if isinstance(value, ModuleType):
        lines[name] = f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
    elif isinstance(value, bool | int | float | str) or value is None:
        lines[name] = f"{name} = {value!r}"
    elif inspect.isfunction(value) or inspect.isclass(value):
        _define_text(name, value, lines)
    elif isinstance(value, Edited):
        _define_edited(name, value, lines)
    elif isinstance(value, Mechanism) and not is_own(type(value).__module__):
        lines[name] = f"{name} = {_known(name, value)}"
    else:
        _define_object(name, value, lines)


def _define_text(name: str, value: Any, lines: dict[str, str]) -> None:
    """A function or a class: its import where it is not the script's, else its text."""
    if not is_own(value.__module__):
        own = str(value.__name__)
        found: Any = getattr(sys.modules.get(value.__module__), own, None)
        if found is not value:
            raise _Unknown(name)
        lines[name] = f"from {value.__module__} import {own}" + (f" as {name}" if name != own else "")
        return
    if not value.__qualname__ == value.__name__ == name or not name.isidentifier():
        raise _Unknown(name)
    text = dedent(inspect.getsource(value)).rstrip()
    known = vars(sys.modules[value.__module__])
    lines[name] = ""  # a function may call itself
    for used in sorted(_globals(symtable(text, name, "exec"), top=True)):
        if used != name and used in known:
            _define(used, known[used], lines)
    del lines[name]
    lines[name] = f"\n{text}\n"


def _globals(scope: SymbolTable, top: bool = False) -> set[str]:
    """The names that a text takes from around it."""
    here = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_referenced() and (top or symbol.is_global())}
    return here.union(*(_globals(inner) for inner in scope.get_children()))


def _define_object(name: str, value: Any, lines: dict[str, str]) -> None:
    """An object whose class, called without arguments, makes another such."""
    kind = type(value)
    if vars(value) or not is_own(kind.__module__):
        raise _Unknown(name)
    _define(kind.__name__, kind, lines)
    lines[name] = f"{name} = {kind.__name__}()"


def _define_edited(name: str, value: Edited, lines: dict[str, str]) -> None:
    """An edit of a mechanism of the package, by functions that have a name."""
    base, edits = _known(name, value.base), []
    for layer, edit in (("cvxpy", value.cvxpy_edit), ("pyomo", value.pyomo_edit)):
        if edit is not None:
            _define(edit.__name__, edit, lines)
            edits.append(f"{layer}={edit.__name__}")
    lines[name] = f"{name} = {base}.edited({value.id!r}, {', '.join(edits)})"


def _known(name: str, item: Mechanism) -> str:
    """The code of a mechanism of the package with its parameters."""
    if type(item) is not type(MECHANISMS.get(item.id)) or item.functions:
        raise _Unknown(name)
    return f"fa.mechanism({item.id!r})" + f".configure(**{value_code(dict(item.parameters))})" * bool(item.parameters)
