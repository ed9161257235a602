"""The witness of a claim as Python code that runs by itself: it rebuilds the case, computes the allocations that the verdict is
about, asserts their tasks, and asserts the violation.

Tasks are fractions where the mechanism has exact answers. Mechanisms and functions of one's own are imported from their module,
where they have a name there, and copied from a script, a notebook or a file that was named as FILE.py:NAME (`defined`); else the
code says in a comment which name stands for which object, and why it is not copied.

1. The text of a function or class is asked of Python (`inspect.getsource`); an object without data of its own is its class,
   called.
2. Each global name in the text is defined first: an import, a number or text, or again a function or class of the same script,
   or of a module in the folder of a file that was named as FILE.py:NAME.

Where any name has another value, such as an array or a function without a name, there are no lines: nothing is guessed, and
`defined` says which name it is.
"""

import inspect
import sys
from itertools import zip_longest
from keyword import iskeyword
from pathlib import Path
from symtable import SymbolTable, symtable
from textwrap import dedent, indent
from types import ModuleType
from typing import Any

from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES
from fairalloc.analysis.solution_sets import MULTIVALUED
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations.edited import Edited
from fairalloc.models.errors import FairallocError
from fairalloc.models.files.python_code import instance_code, value_code
from fairalloc.models.instance import Instance
from fairalloc.models.tables import printable
from fairalloc.runs.objects import folders_of_files, is_loaded
from fairalloc.solvers import METHODS, solve
from fairalloc.theorems.cases import Case, rational_code
from fairalloc.theorems.checkers.own import ClaimTerms, is_registered, judge_of

SCRIPT = "__main__"

NEAR = "1e-4"
"""What tasks in floating point may be off, relative and absolute, where the code runs again."""

OURS = ("instance", "misreport", "before", "after", "allocation", "claim", "verdict", "np", "Fraction")
"""The names that the code gives itself."""


def witness_code(claim: ClaimTerms, case: Case) -> str:
    verdict = claim.statement.confirm(case)
    scope = _Scope()
    mechanism = scope.name(claim.mechanism)
    asked = claim_code(claim, scope)
    body = [f"instance = fa.{instance_code(case.instance)}"]
    arguments = ["instance"]
    if case.misreport is not None:
        report = case.misreport
        limits = f", {rational_code(report.max_tasks, True)}" if report.max_tasks else ""
        told = rational_code(report.demands, True)
        body.append(f"misreport = fa.Misreport({report.users!r}, {told}, {report.eligible!r}{limits})")
        arguments.append("misreport=misreport")
    if case.parameters:
        arguments.append(f"parameters={value_code(dict(case.parameters))}")
    for solved in solved_instances(claim, case, verdict):
        body += _computed(claim.mechanism, mechanism, dict(case.parameters), *solved)
    body += ["", asked, f"verdict = claim.check(fa.Case({', '.join(arguments)}))", "assert verdict.holds is False"]
    body.append("print(verdict.sentence)")
    text = "\n".join(body)
    heads = ["from fractions import Fraction", ""] if "Fraction(" in text else []
    heads += ["import numpy as np", ""] if "np." in text else []
    if scope.has_ours:  # in a function, where our names hide nobody's
        text, heads = f"def witness():\n{indent(chr(10).join([*heads, text]), '    ')}\n\n\nwitness()", []
    return "\n".join([*heads, "import fairalloc as fa", *scope.lines, "", text])


def claim_code(claim: ClaimTerms, scope: "_Scope | None" = None) -> str:
    """The call that makes the claim, in which names of the scope stand for objects."""
    scope = scope or _Scope()
    parts = [repr(claim.text), f"mechanism={scope.name(claim.mechanism)}", f"property={scope.name(claim.property)}"]
    assumed = claim.hypotheses
    parts += [f"hypotheses={assumed.spelled!r}"] * bool(assumed.spelled)
    parts += [f"parameters={value_code(dict(assumed.parameters))}"] * bool(assumed.parameters)
    parts += [] if assumed.instances is None else [f"instances={scope.name(assumed.instances)}"]
    parts += [f"holds={claim.holds!r}"] * (claim.holds != "all")
    parts += [f"misreports={claim.misreports}"] * (claim.misreports != judge_of(claim.property).misreports)
    return f"claim = fa.claim({', '.join(parts)})"


def solved_instances(claim: ClaimTerms, case: Case, verdict: Verdict) -> list[tuple[str, str, str, Instance]]:
    """Which allocations a verdict is about: their name, what they are, the code of their instance, and the instance."""
    if case.misreport is not None:
        after = ("after", "to what is reported", "misreport.reported(instance)", case.reported)
        return [("before", "to the true instance", "instance", case.instance), after]
    left = verdict.witness.get("instance")
    if claim.statement.property in MECHANISM_PROPERTIES and isinstance(left, Instance):
        user = f"{verdict.witness['left']} has left"
        return [("before", "with all users", "instance", case.instance), ("after", user, f"fa.{instance_code(left, True)}", left)]
    return [("allocation", "", "instance", case.instance)]


def method_of(item: Mechanism, parameters: dict[str, Any], instance: Instance) -> str | None:
    """The method by which a witness computes a mechanism, with other parameters or none: in rationals where it can."""
    return "exact" if not parameters and METHODS["exact"].computes(item.kept(instance)) else None


def _computed(
    item: Mechanism, mechanism: str, parameters: dict[str, Any], name: str, comment: str, source: str, instance: Instance
) -> list[str]:
    """The lines that compute an allocation, in rationals where the method `exact` does, and assert its tasks."""
    try:
        method = method_of(item, parameters, instance)
        allocation = solve(instance, item, method, **parameters)
    except FairallocError as fault:  # the claim's own function need not ask for this one
        return [f"# no allocation {comment or 'here'}: {printable(' '.join(str(fault).split()))}"]
    given = [
        source,
        mechanism,
        *([repr(method)] if method else []),
        *(f"{key}={value_code(value)}" for key, value in parameters.items()),
    ]
    line = f"{name} = fa.solve({', '.join(given)})" + f"  # {printable(comment)}" * bool(comment)
    tasks = f"np.allclose({name}.tasks, {[round(v, 7) for v in allocation.tasks.tolist()]}, rtol={NEAR}, atol={NEAR})"
    if allocation.tasks_exact is not None:
        tasks = f"{name}.tasks_exact == {rational_code(allocation.tasks_exact, True)}"
    several = ", perhaps one of several answers" * (allocation.mechanism in MULTIVALUED)
    return [line, f"assert {tasks}  # tasks of {printable(', '.join(allocation.instance.users))}{several}"]


class _Scope:
    """The names of objects in the code, and the lines that import them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[int, str] = {}

    def name(self, value: Any) -> str:
        """A text as it is, a registered mechanism by its id, another object by a name."""
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, Mechanism) and is_registered(value):
            return repr(value.id)
        if id(value) not in self._names:
            name = self._named(value)
            self._add([f"own_{name} = {name}"] * (name in OURS))
            self._names[id(value)] = f"own_{name}" if name in OURS else name
        return self._names[id(value)]

    @property
    def has_ours(self) -> bool:
        """Whether a line gives one of our names to something else than our imports do."""
        known = symtable("\n".join(self.lines), "", "exec").get_symbols()
        ours = [one for one in known if one.get_name() in OURS]
        return any(one.is_assigned() or one.get_name() not in ("np", "Fraction") for one in ours)

    def _named(self, value: Any) -> str:
        place = _place(value)
        if place is not None:
            module, name = place
            # another process does not find a script, nor a file that was loaded by its path, by its name
            known = [f"from {module} import {name}"] if module != SCRIPT and not module.startswith("_") else []
            lines = defined(name, value)[0] if is_own(module) else []
            self._add(lines or known or _from_file(module, name, value))
            return name
        plain = getattr(value, "__name__", None) or getattr(value, "id", "") or type(value).__name__
        name = "".join(c if c.isalnum() else "_" for c in plain).strip("_")
        name = name if name.isidentifier() and not iskeyword(name) else f"mine_{name}"
        lines, why = defined(name, value)
        self._add(lines or [f"# {name} is the object that the claim was made with: it cannot be copied, for {why}"])
        return name

    def _add(self, lines: list[str]) -> None:
        """Each definition once: two objects may need the same."""
        self.lines += [line for line in lines if line not in self.lines]


def _place(value: Any) -> tuple[str, str] | None:
    """The module and the name in it of an object that somebody else's module has, None where none has it."""
    own = getattr(value, "__module__", None)
    for module in dict.fromkeys([own, SCRIPT, *sys.modules]):
        known = getattr(sys.modules.get(module or ""), "__dict__", {})
        if module is None or module.partition(".")[0] == "fairalloc":
            continue
        for name, other in list(known.items()):
            if other is value and not name.startswith("_"):
                return module, name
    return None


def _from_file(module: str, name: str, value: Any) -> list[str]:
    """The lines that take a name from the file of a module, or the comment that it is there already, and why it is not copied."""
    file = getattr(sys.modules[module], "__file__", None)
    why = f"it cannot be copied, for {defined(name, value)[1]}"
    if file is None or module == SCRIPT:
        return [f"# {name} is that of the script or notebook in which the claim was made: {why}"]
    return [f"# {name} is taken from its file: {why}", "import runpy", f"{name} = runpy.run_path({str(file)!r})[{name!r}]"]


# ---- definitions of a script, a notebook or a file of one's own ------------------------------------------------------


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
    elif isinstance(value, Mechanism) and type(value) is type(MECHANISMS.get(value.id)):
        lines[name] = f"{name} = {_known(name, value)}"
    else:  # an object whose class, called without arguments, makes another such
        kind = type(value)
        if vars(value) or not (is_own(kind.__module__) or isinstance(value, Mechanism)):
            raise _Unknown(name)
        _define(kind.__name__, kind, lines)
        lines[name] = f"{name} = {kind.__name__}()"


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


def _define_edited(name: str, value: Edited, lines: dict[str, str]) -> None:
    """An edit of a mechanism of the package, by functions that have a name."""
    code = _known(name, value.base)
    for pair in zip_longest(value.cvxpy_edits, value.pyomo_edits):
        edits = {layer: edit for layer, edit in zip(("cvxpy", "pyomo"), pair, strict=True) if edit is not None}
        for edit in edits.values():
            _define(edit.__name__, edit, lines)
        code += f".edited({value.id!r}, {', '.join(f'{layer}={edit.__name__}' for layer, edit in edits.items())})"
    lines[name] = f"{name} = {code}"


def _known(name: str, item: Mechanism) -> str:
    """The code of a mechanism of the package with its parameters."""
    if type(item) is not type(MECHANISMS.get(item.id)) or item.functions:
        raise _Unknown(name)
    return f"fa.mechanism({item.id!r})" + f".configure(**{value_code(dict(item.parameters))})" * bool(item.parameters)
