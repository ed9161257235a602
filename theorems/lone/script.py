"""Lone scripts: a witness as a short Python script that imports nothing but `Fraction`, and as LaTeX.

An *argument* is a function of exact data, of which every line is an assertion about rationals, and which returns the numbers that
it ends with. What it needs is made here from the record, by any means (`more`); what it proves does not depend on how that was
made. A script is, in this order:

1. what is claimed and where, what is assumed, and of which answers the script speaks (`_heading`),
2. the data, by the names of the argument's parameters (`_data`),
3. the source of the definitions that it uses (definitions.py) and of the argument itself, without annotations (`plain_source`),
4. the call, and one sentence with the numbers that it returned.

The LaTeX form has the same data as tables, the inequality that fails, and the meaning of every letter (latex.py).
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.engine.witnesses import packaged
from fairalloc.theorems.latex import DATA, Numbers, example, plain, prose, tabular
from fairalloc.theorems.lone import definitions
from fairalloc.theorems.lone.certificates import by_server, of_variants
from fairalloc.theorems.registry import statement
from fairalloc.theorems.statement import Statement
from fairalloc.theorems.status import Status
from fairalloc.theorems.titles import hypotheses_in_words, paper_of, title_of

__all__ = ["ANSWERS", "ARGUMENTS", "Argument", "LoneScript", "argument", "given", "plain_source"]

WIDTH = 118

ANSWERS = {
    "all": "for every answer of the mechanism",
    "some": "for the answer below; a claim about every answer is refuted by one",
    "": "about the numbers below; no mechanism is asked",
}
"""What of the answers of a mechanism a script is about."""


@dataclass(frozen=True)
class Argument:
    """How one statement, or several of one kind, is refuted.

    Attributes
    ----------
    function : of exact data -> the numbers for the sentence and the formula
    answers : a key of ANSWERS
    sentence, formula : in English and in LaTeX; {name} stands for a number that the function returned
    more : the case -> data beside those of `given`
    assumed : what is assumed, where it is not what the hypotheses of the statement say of its cases
    case : instead of the witness on record
    """

    function: Callable[..., Mapping[str, Any]]
    answers: str
    sentence: str
    formula: str
    more: Callable[[Case], Mapping[str, Any]]
    assumed: str
    case: Case | None


ARGUMENTS: dict[str, Argument] = {}
"""By the id of the statement."""


def argument(
    *ids: str,
    sentence: str,
    formula: str,
    answers: str = "",
    more: Callable[[Case], Mapping[str, Any]] = lambda case: {},
    assumed: str = "",
    case: Case | None = None,
) -> Callable[[Callable[..., Mapping[str, Any]]], Callable[..., Mapping[str, Any]]]:
    """Register a function as the argument against these statements.

    Parameters
    ----------
    ids : of the statements
    sentence, formula, answers, more, assumed, case : see Argument

    Returns
    -------
    the decorator
    """

    def register(function: Callable[..., Mapping[str, Any]]) -> Callable[..., Mapping[str, Any]]:
        ARGUMENTS.update(dict.fromkeys(ids, Argument(function, answers, sentence, formula, more, assumed, case)))
        return function

    return register


def given(case: Case) -> dict[str, Any]:
    """The data of a case by name: what an argument may ask for without making it.

    demands are vectors; `variants` are lists of them, for users with several. capacities are those of all servers of a class.
    """
    instance, exact = case.instance, case.instance.exact
    counts = instance.counts.tolist()
    found: dict[str, Any] = {
        "variants": [[list(row) for row in rows] for rows in exact.demands],
        "capacities": [[c * count for c in row] for row, count in zip(exact.capacities, counts, strict=True)],
        "eligible": instance.placement.astype(int).tolist(),
        "weights": list(exact.weights),
        "limits": list(exact.max_tasks),
        "points": [_by_place(case, point) for point in case.points],
        **case.parameters,
    }
    found["demands"] = [rows[0] for rows in found["variants"]]
    found["capacity"] = found["capacities"][0]
    if case.misreport is not None:
        told = zip(case.misreport.users, case.misreport.demands, strict=True)
        vectors = {n: [list(row) for row in rows] for n, rows in told if rows is not None}
        found["reported_variants"] = [vectors.get(n, rows) for n, rows in enumerate(found["variants"])]
        found["reported"] = [rows[0] for rows in found["reported_variants"]]
        found["misreporting"] = list(case.misreport.users)
    return found


def _by_place(case: Case, point: Sequence[Fraction]) -> list[list[Fraction]]:
    """Tasks on arcs as rows of users by server, or by variant where there is one server."""
    return (by_server if case.instance.single_variant else of_variants)(case.instance, point)


@dataclass(frozen=True)
class LoneScript:
    """The witness of one statement with its argument and exact data."""

    about: Statement
    argument: Argument
    data: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, case: Case | None = None) -> "LoneScript":
        """The script of a statement, for the case on record or another one.

        Raises
        ------
        InstanceError : there is no argument against it, or no case on record
        """
        item = statement(name)
        if name not in ARGUMENTS:
            raise InstanceError(f"the statement {name!r} has no lone script; those that have one: {', '.join(sorted(ARGUMENTS))}")
        kept = [one for one in packaged().witnesses if one["statement"] == name and not one["without"]]
        made = ARGUMENTS[name]
        case = case or made.case or (parse_case(kept[0]["case"]) if kept else item.printed)
        if case is None:
            raise InstanceError(f"the statement {name!r} has no witness on record")
        known = given(case) | dict(made.more(case))
        return cls(item, made, {key: known[key] for key in inspect.signature(made.function).parameters})

    def found(self) -> Mapping[str, Any]:
        """What the argument returns; AssertionError where the witness does not refute the claim."""
        return self.argument.function(**self.data)

    # ---- Python

    def python(self) -> str:
        """The script."""
        function = self.argument.function
        used = [name for name in definitions.__all__ if name in _used(function)]
        parts = [plain_source(definitions.exact), "\n".join(_data(self.data))]
        parts += [plain_source(getattr(definitions, name)) for name in used]
        parts.append(plain_source(function))
        call = "\n".join(_calling(f"found = {function.__name__}", ", ".join(self.data)))
        said = _said(f"{self.about.id}: {self.argument.sentence}")
        top = f'"""{_heading(self)}\n"""\n\nfrom fractions import Fraction as F'
        return "\n\n\n".join([top, *parts, f"{call}\n{said}\n"])

    # ---- LaTeX

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
        parts += [" ".join(["With", ", ".join([*flat, *self._trivial()]) + ":"])] * bool(flat or self._trivial())
        parts += [prose(told), rf"\[ {formula} \]", *filter(None, [numbers.below()])]
        if self.data.keys() - set(shown) - {"eligible", "weights"}:
            parts.append(f"The other numbers of the proof are in the script {plain(item.id)}.py.")
        title = prose(title_of(item, Status.PROVED if item.wants_violation else Status.REFUTED))
        return example(title, item.id, parts, (item.id, item.paper, self._kind, "usual"))

    @property
    def _kind(self) -> str:
        """The notation: of requests, as in D, or of demands in a pool, or on servers."""
        return "requests" if "requests" in self.data else "pool" if "capacity" in self.data else "servers"

    def _letter(self, name: str) -> tuple[str, str]:
        """The letter and the indices of data in this notation."""
        letter, indices = DATA[name]
        if self._kind == "requests":
            return ("r'", "ij") if name == "reported" else (letter, "ij" if name == "requests" else "i")
        if self._kind == "pool":
            return letter, {"ni": "nv", "tni": "tnv", "ir": "r", "tir": "tr"}.get(indices, indices)
        return letter, indices

    def _is_shown(self, name: str) -> bool:
        """Whether data are in LaTeX; weights of 1 are said in words, and prices for requests are in the script alone."""
        value = self.data[name]
        if self._kind == "requests" and name in ("prices", "rounds"):
            return False
        if name in ("after", "x", "better") and not isinstance(value, list | tuple):
            return False
        return name in DATA and not (name == "weights" and all(part == 1 for part in value))

    def _table(self, name: str) -> Any:
        """The data as they are shown: a single point without its number."""
        value = self.data[name]
        return value[0] if name == "points" and len(value) == 1 else value

    def _trivial(self) -> list[str]:
        """What of the data is said in words."""
        said = ["weights of 1"] * all(part == 1 for part in self.data.get("weights", [0]))
        places = self.data.get("eligible")
        if places is None:
            return said
        if all(all(row) for row in places):
            return [*said, "every user on every server"]
        closed = [(n + 1, i + 1) for n, row in enumerate(places) for i, may in enumerate(row) if not may]
        return [*said, "all users on all servers but " + ", ".join(f"user {n} on server {i}" for n, i in closed)]


def _heading(script: LoneScript) -> str:
    """The claim with its place, what is assumed, and what is shown."""
    item, lines = script.about, [f"{script.about.id} is {_shown(script)}. It says ({script.about.place}):"]
    lines += ["", *textwrap.wrap(item.text, WIDTH, initial_indent="    ", subsequent_indent="    ")]
    about = f"Assumed: {_assumed(script)}. Shown {ANSWERS[script.argument.answers]}."
    return "\n".join([*lines, "", *textwrap.wrap(about, WIDTH)]).replace("\\", "\\\\")


def _shown(script: LoneScript) -> str:
    """What the witness does to the claim."""
    return "confirmed" if script.about.wants_violation else "refuted"


def _assumed(script: LoneScript) -> str:
    """What is assumed, in words."""
    item = script.about
    return script.argument.assumed or ("what is printed" if item.quantifier == "one" else str(item.hypotheses))


def _said(sentence: str) -> str:
    """The line that prints it, over several lines where it is long."""
    line = f'print("{sentence}".format(**found))'
    if len(line) <= WIDTH:
        return line
    parts = textwrap.wrap(sentence, WIDTH - 30, drop_whitespace=False)
    return "\n".join(["print(", *(f'    "{part}"' for part in parts[:-1]), f'    "{parts[-1]}".format(**found)', ")"])


def _used(function: Callable[..., Any]) -> set[str]:
    """The definitions that a function uses, and those that they use."""
    found: set[str] = set()
    waiting = [function]
    while waiting:
        names = {node.id for node in ast.walk(ast.parse(plain_source(waiting.pop()))) if isinstance(node, ast.Name)}
        new = names & set(definitions.__all__) - found
        found |= new
        waiting += [getattr(definitions, name) for name in new]
    return found - {"exact"}


def plain_source(function: Callable[..., Any]) -> str:
    """The source of a function without its decorators and annotations."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef), "an argument is a function"
    lines = source.splitlines()[tree.lineno - 1 :]
    shift, first = tree.lineno - 1, tree.body[0].lineno
    defaults = [""] * (len(tree.args.args) - len(tree.args.defaults)) + [f"={ast.unparse(one)}" for one in tree.args.defaults]
    names = ", ".join(one.arg + default for one, default in zip(tree.args.args, defaults, strict=True))
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            line = lines[node.lineno - 1 - shift]
            lines[node.lineno - 1 - shift] = f"{line[: node.target.end_col_offset]} = {line[node.value.col_offset :]}"
    return "\n".join([*_calling(f"def {tree.name}", names, ":"), *lines[first - 1 - shift :]])


def _calling(name: str, names: str, end: str = "") -> list[str]:
    """A name with parameters, over three lines where it is long."""
    line = f"{name}({names}){end}"
    return [line] if len(line) <= WIDTH else [f"{name}(", f"    {names}", f"){end}"]


# ---- data -----------------------------------------------------------------------------------------------------------------


def _data(values: Mapping[str, Any]) -> list[str]:
    """An assignment for each: rationals as integers or text, rows below each other where they are long."""
    lines = []
    for name, value in values.items():
        literal = _literal(value)
        wrapped = f"exact({literal})" if _is_rational(value) else literal
        line = f"{name} = {wrapped}"
        lines.append(line if len(line) <= WIDTH else f"{name} = {_long(value)}")
    return lines


def _is_rational(value: Any) -> bool:
    """Whether rationals are in it, and nothing but rationals in lists."""
    if isinstance(value, list | tuple):
        return any(map(_is_rational, value))
    return isinstance(value, Fraction)


def _literal(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else f'"{value}"'
    return repr(value)


def _long(value: Any) -> str:
    """A list over several lines: nested lists below each other, others as many parts in a line as fit."""
    inner = "\n".join(_lines(value, "    "))
    return f"exact([\n{inner}\n])" if _is_rational(value) else f"[\n{inner}\n]"


def _lines(parts: Any, indent: str) -> list[str]:
    """The parts of a list."""
    if not any(isinstance(part, list | tuple) for part in parts):
        text = ", ".join(_literal(part).replace(" ", GLUE) for part in parts)
        lines = textwrap.wrap(text + ",", WIDTH - len(indent), break_long_words=False)
        return [f"{indent}{line.replace(GLUE, ' ').rstrip()}" for line in lines]
    lines = []
    for part in parts:
        literal = f"{indent}{_literal(part)},"
        long = len(literal) > WIDTH and isinstance(part, list | tuple)
        lines += [f"{indent}[", *_lines(part, indent + "    "), f"{indent}],"] if long else [literal]
    return lines


GLUE = "\0"
"""Stands for a space at which no line is broken."""
