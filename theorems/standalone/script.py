"""Standalone scripts: a witness as a short Python script that imports nothing but `Fraction`, and as LaTeX.

The argument is one of arguments.py, with data that are made from the record. A script is, in this order:

1. what is claimed and where, what is assumed, and of which answers the script speaks (`_heading`),
2. the data, by the names of the argument's parameters (`_data`),
3. the source of the definitions and functions that it uses and of the argument itself, without annotations (`plain_source`),
4. the call, and one sentence with the numbers that it returned.

The LaTeX form has the same data as tables, the inequality that fails, and the meaning of every letter (latex.py).
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from pprint import pformat
from types import FunctionType
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.writing import make_folder, write_file
from fairalloc.theorems import definitions
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.latex import DATA, Numbers, depth_of, example, open_servers, plain, prose, reported, tabular
from fairalloc.theorems.registry import all_statements, statement
from fairalloc.theorems.search.witnesses import packaged
from fairalloc.theorems.standalone.arguments import ARGUMENTS, Argument
from fairalloc.theorems.standalone.certificates import PROBLEMS
from fairalloc.theorems.standalone.definitions import exact
from fairalloc.theorems.statement import Statement, Status
from fairalloc.theorems.titles import hypotheses_in_words, paper_of, title_of

WIDTH = 118

ANSWERS = {
    "all": "for every answer of the mechanism",
    "some": "for the answer below; a claim about every answer is refuted by one",
    "": "about the numbers below; no mechanism is asked",
}
"""What of the answers of a mechanism a script is about."""

TOLD = {"eligible", "eligible_told", "weights", "rule", "sign", "leftovers", "misreporting", "printed"}
"""Data that LaTeX says in words, or not at all."""


@dataclass(frozen=True)
class StandaloneScript:
    """The witness of one statement with its argument and exact data."""

    about: Statement
    argument: Argument
    data: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, case: Case | None = None) -> "StandaloneScript":
        """The script of a statement, for the case on record or another one."""
        item = statement(name)
        if name not in ARGUMENTS:
            raise InstanceError(
                f"the statement {name!r} has no standalone script; those that have one: {', '.join(sorted(ARGUMENTS))}"
            )
        kept = [one for one in packaged().witnesses if one["statement"] == name and not one["without"]]
        made = ARGUMENTS[name]
        case = case or made.case or (parse_case(kept[0]["case"]) if kept else item.printed)
        if case is None:
            raise InstanceError(f"the statement {name!r} has no witness on record")
        known = made.made(case)
        asked = [key for name in inspect.signature(made.function).parameters for key in (*PROBLEMS.get(name, ()), name)]
        return cls(item, made, {key: known[key] for key in asked})

    def found(self) -> Mapping[str, Any]:
        """What the argument returns; AssertionError where the witness does not refute the claim."""
        return self.argument.found(self.data)

    def python(self) -> str:
        function = self.argument.function
        parts = [plain_source(exact), "\n".join(_data(self.data)), *_used(function), plain_source(function)]
        call = "\n".join(_calling(f"found = {function.__name__}", ", ".join(inspect.signature(function).parameters)))
        said = _said(f"{self.about.id}: {self.argument.sentence}")
        top = f'"""{_heading(self)}\n"""\n\nfrom fractions import Fraction as F'
        return "\n\n\n".join([top, *parts, f"{call}\n{said}\n"])

    def latex(self) -> str:
        """An `example` environment: the claim, the data as tables, the inequality that fails, and what all letters are."""
        item, numbers, found = self.about, Numbers(), self.found()
        formula = self.argument.formula.format(**{key: numbers.tex(value) for key, value in found.items()})
        told = re.sub(r"`(\w+)`", lambda match: str(found.get(match[1], match[1])), inspect.getdoc(self.argument.function) or "")
        usual = "; ".join(hypotheses_in_words(item)) if item.quantifier != "one" and not self.argument.assumed else _assumed(self)
        claim = f"{plain(item.place.rstrip('.'))} says: {prose(item.text)} ({plain(f'{item.paper}: {paper_of(item)}')}.)"
        parts = [f"{claim} Assumed: {prose(usual)}. Shown {prose(ANSWERS[self.argument.answers])}."]
        shown = [name for name in self.data if self._is_shown(name)]
        tables = [tabular(*self._letter(name), self._table(name), numbers) for name in shown]
        flat = [table for table in tables if table.startswith("$")]
        grids = "\n\\quad\n".join(table for table in tables if not table.startswith("$"))
        parts += [f"\\begin{{center}}\\small\n{grids}\n\\end{{center}}"] * bool(grids)
        parts += [" ".join([f"With {', '.join(flat)}."] * bool(flat) + self._trivial())] * bool(flat or self._trivial())
        parts += [prose(told), rf"\[ {formula} \]", *filter(None, [numbers.below()])]
        if self.data.keys() - set(shown) - TOLD - PROBLEMS.keys():
            parts.append(f"The other numbers of the proof are in the script {plain(item.id)}.py.")
        title = prose(title_of(item, Status.PROVED if item.wants_violation else Status.REFUTED))
        return example(title, item.id, parts, (item.id, item.paper, self._kind, "usual"))

    @property
    def _kind(self) -> str:
        """The notation: of requests, as in D, of demands in one pool, as in Z, or on servers."""
        return "requests" if "requests" in self.data else "pool" if self.about.paper == "Z" else "servers"

    def _letter(self, name: str) -> tuple[str, str]:
        """The letter and the indices of data in this notation."""
        letter, indices = DATA[name]
        if self._kind == "requests":
            return ("r'", "ij") if name == "reported" else (letter, "ij" if name == "requests" else "i")
        if indices == "nr" and depth_of(self.data[name]) == 3:
            return letter, "nvr"
        return letter, {"ni": "nv", "tni": "tnv"}.get(indices, indices) if self._kind == "pool" else indices

    def _is_shown(self, name: str) -> bool:
        """Whether data are in LaTeX; weights of 1 are said in words, and the prices of rounds are in the script alone."""
        value = self.data[name]
        if name not in DATA or (self._kind == "requests" and name == "prices"):
            return False
        scalar = DATA[name][1] and not isinstance(value, list | tuple)
        return not (scalar or (name == "weights" and all(part == 1 for part in value)))

    def _table(self, name: str) -> Any:
        """The data as they are shown: of one server, or in one way, without its number."""
        value = self.data[name]
        if name == "points" and len(value) == 1:
            value = value[0]
        if self._kind == "servers" or depth_of(value) < 2 or name in ("demands", "reported", "requests"):
            return value
        if len(value) == 1 and name in ("capacities", "prices", "prices_after", "other_prices"):
            return value[0]
        return [row[0] for row in value] if all(len(row) == 1 for row in value) else value

    def _trivial(self) -> list[str]:
        """What of the data is said in words."""
        said = ["All weights are 1."] * all(part == 1 for part in self.data.get("weights", [0]))
        places, told = self.data.get("eligible"), self.data.get("eligible_told")
        own = [] if places is None else [open_servers(places)]
        return [*said, *own, *([] if told is None else reported(own, [open_servers(told)]))]


def _heading(script: StandaloneScript) -> str:
    """The claim with its place, what is assumed, and what is shown."""
    shown = "confirmed" if script.about.wants_violation else "refuted"
    item, lines = script.about, [f"{script.about.id} is {shown}. It says ({script.about.place}):"]
    lines += ["", *textwrap.wrap(item.text, WIDTH, initial_indent="    ", subsequent_indent="    ")]
    about = f"Assumed: {_assumed(script)}. Shown {ANSWERS[script.argument.answers]}."
    return "\n".join([*lines, "", *textwrap.wrap(about, WIDTH)]).replace("\\", "\\\\")


def _assumed(script: StandaloneScript) -> str:
    item = script.about
    return script.argument.assumed or ("what is printed" if item.quantifier == "one" else str(item.hypotheses))


def _said(sentence: str) -> str:
    """The line that prints it, over several lines where it is long."""
    line = f'print("{sentence}".format(**found))'
    if len(line) <= WIDTH:
        return line
    parts = textwrap.wrap(sentence, WIDTH - 30, drop_whitespace=False)
    return "\n".join(["print(", *(f'    "{part}"' for part in parts[:-1]), f'    "{parts[-1]}".format(**found)', ")"])


def _used(function: Callable[..., Any]) -> list[str]:
    """The source of our functions that a function uses, directly or not, each after those that it uses itself."""
    found, seen = dict[str, str](), {function.__name__, "exact"}

    def look(one: Any) -> None:
        nodes = [node for node in ast.walk(ast.parse(plain_source(one))) if isinstance(node, ast.Name)]
        own = {*inspect.signature(one).parameters, *(node.id for node in nodes if isinstance(node.ctx, ast.Store))}
        for name in dict.fromkeys(node.id for node in nodes if node.id not in own):
            used = one.__globals__.get(name)
            if name == "EXACT":
                found[name] = next(line for line in inspect.getsource(definitions).splitlines() if line.startswith("EXACT ="))
            elif isinstance(used, FunctionType) and used.__module__.startswith("fairalloc.") and name not in seen:
                seen.add(name)
                look(used)
                found[name] = plain_source(used)

    look(function)
    return list(found.values())


def plain_source(function: Callable[..., Any]) -> str:
    """The source of a function without its decorators and annotations."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef), "an argument is a function"
    lines = source.splitlines()[tree.lineno - 1 :]
    shift, first = tree.lineno - 1, tree.body[0].lineno
    defaults = [""] * (len(tree.args.args) - len(tree.args.defaults)) + [f"={ast.unparse(one)}" for one in tree.args.defaults]
    rest = [star + one.arg for star, one in (("*", tree.args.vararg), ("**", tree.args.kwarg)) if one]
    names = ", ".join([*(one.arg + default for one, default in zip(tree.args.args, defaults, strict=True)), *rest])
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            line = lines[node.lineno - 1 - shift]
            lines[node.lineno - 1 - shift] = f"{line[: node.target.end_col_offset]} = {line[node.value.col_offset :]}"
    return "\n".join([*_calling(f"def {tree.name}", names, ":"), *lines[first - 1 - shift :]])


def _calling(name: str, names: str, end: str = "") -> list[str]:
    """A name with parameters, over three lines where it is long."""
    line = f"{name}({names}){end}"
    return [line] if len(line) <= WIDTH else [f"{name}(", f"    {names}", f"){end}"]


def _data(values: Mapping[str, Any]) -> list[str]:
    """An assignment for each: rationals as integers or text, lists over several lines where they are long."""
    lines = []
    for name, value in values.items():
        if name in PROBLEMS:
            lines.append(f"{name} = ({', '.join(PROBLEMS[name])})")
            continue
        head, end = (f"{name} = exact(", ")") if _is_rational(value) else (f"{name} = ", "")
        text = pformat(_plain(value), width=WIDTH - len(head), compact=True).replace("'", '"')
        lines.append(head + text.replace("\n", "\n" + " " * len(head)) + end)
    return lines


def _is_rational(value: Any) -> bool:
    """Whether rationals are in it, and nothing but rationals in lists."""
    if isinstance(value, list | tuple):
        return any(map(_is_rational, value))
    return isinstance(value, Fraction)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    return value


def write_scripts(folder: str | Path) -> None:
    """Write ID.py for every statement that has a script, and take away what has none."""
    made = {f"{name}.py": StandaloneScript.of(name).python() for name in all_statements() if name in ARGUMENTS}
    target = Path(folder)
    make_folder(target)
    for old in target.glob("*.py"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        write_file(target / name, text)
