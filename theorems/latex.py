r"""Witnesses in LaTeX for a paper: tables by booktabs, long fractions as decimals with the exact ones below, letters defined.

What a letter means is in letters.toml: for all papers, for a paper, or for one statement. `example` writes an environment, in
which every letter of a formula, of the text and of a meaning is said to be something; KeyError where none is known.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fairalloc.models.numbers import exact_text
from fairalloc.models.tables import printable
from fairalloc.theorems.packaged_files import packaged_toml

HEAD = r"% needs amsmath, amssymb, amsthm and booktabs, and \newtheorem{example}{Example}"

LONG = 14
"""Characters of a fraction that is written in full; a longer one is written as a decimal."""

DIGITS = 6

_GREEK = "alpha beta gamma delta epsilon lambda nu rho psi Psi omega eta varsigma partial"
GREEK = {name: rf"\{name}" for name in _GREEK.split()} | {"phi": r"\varphi"}
"""Letters by their names in plain text."""

DATA: Mapping[str, tuple[str, str]] = {
    "demands": ("d", "nr"),
    "reported": ("d'", "nr"),
    "capacities": ("c", "ir"),
    "weights": (r"\varphi", "n"),
    "alpha": (r"\alpha", ""),
    "A": ("A", ""),
    "B": ("B", ""),
    "epsilon": (r"\epsilon", ""),
    "points": ("y", "tni"),
    "tasks": ("x", "ni"),
    **dict.fromkeys(("tasks_after", "other_tasks", "better"), ("x'", "ni")),
    "tasks_at_infinity": (r"x^{\infty}", "ni"),
    "prices": (r"\lambda", "ir"),
    **dict.fromkeys(("other_prices", "prices_after"), (r"\lambda'", "ir")),
    "requests": ("r", "ij"),
    "entitlements": ("e", "i"),
    "x": ("x", "n"),
    **dict.fromkeys(("after", "other"), ("x'", "n")),
    "table": ("T", "kl"),
}
"""The letter and the indices of data by name; data of another depth take the last of the indices."""


class Numbers:
    """Numbers as LaTeX; it keeps the long fractions that were rounded."""

    def __init__(self) -> None:
        self.rounded: dict[str, Fraction] = {}

    def tex(self, value: Any) -> str:
        """A rational as a fraction or a decimal, a list as a row in parentheses."""
        if isinstance(value, list | tuple):
            return rf"({', '.join(map(self.tex, value))})"
        if isinstance(value, Fraction):
            return self._rational(value)
        if isinstance(value, float):
            return rf"{{\approx}}\,{_decimal(value)}"
        if isinstance(value, str):
            escaped = value.replace("{", r"\{").replace("}", r"\}")
            return re.sub(r"-?\d+/\d+", lambda found: self._rational(Fraction(found[0])), escaped)
        return r"\infty" if value is None else str(value)

    def _rational(self, value: Fraction) -> str:
        if len(exact_text(value)) > LONG:
            text = _decimal(value)
            self.rounded[text] = value
            return rf"{{\approx}}\,{text}"
        if value.denominator == 1:
            return str(value.numerator)
        return rf"{'-' * (value < 0)}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"

    def below(self) -> str:
        """What the decimals are exactly, as a sentence; "" where none was written."""
        parts = [rf"${text}$ is {_broken(exact_text(value))}" for text, value in self.rounded.items()]
        return f"Rounded numbers, exactly: {'; '.join(parts)}." if parts else ""


def _decimal(value: Fraction | float) -> str:
    text = f"{float(value):.{DIGITS}g}"
    mantissa, e, power = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if e else text


def _broken(digits: str) -> str:
    """Digits that may be broken into lines after every tenth."""
    return re.sub(r"(\d{10})(?=\d)", r"\1\\allowbreak{}", digits).replace("/", r"\slash{}")


def tabular(letter: str, indices: str, value: Any, numbers: Numbers) -> str:
    """Data as a table of booktabs, or in a line where they have one index or none.

    `letter` and `indices` are as in DATA; of more indices than the data need the last ones count.
    """
    depth = depth_of(value)
    named = indices[-depth:] if depth else ""
    if depth < 2:
        said = rf"({', '.join(f'{letter}_{{{k + 1}}}' for k in range(len(value)))})" if named else letter
        return f"${said} = {numbers.tex(value)}$"
    rows = list(_rows(value))
    wide = max(len(cells) for _, cells in rows)
    lines = [rf"\begin{{tabular}}{{l*{{{wide}}}{{r}}}}", r"\toprule"]
    lines.append(" & ".join([f"${letter}_{{{named}}}$", *(f"${named[-1]} = {k + 1}$" for k in range(wide))]) + r" \\")
    lines.append(r"\midrule")
    for at, cells in rows:
        head = ", ".join(f"{index} = {k + 1}" for index, k in zip(named[:-1], at, strict=True))
        filled = [f"${numbers.tex(cell)}$" for cell in cells] + [""] * (wide - len(cells))
        lines.append(" & ".join([f"${head}$", *filled]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def depth_of(value: Any) -> int:
    return 1 + max((depth_of(part) for part in value), default=0) if isinstance(value, list | tuple) else 0


def _rows(value: Any) -> Any:
    """(indices, cells) of the rows of lists of lists."""
    for k, part in enumerate(value):
        if depth_of(part) > 1:
            yield from (((k, *at), cells) for at, cells in _rows(part))
        else:
            yield (k,), part if isinstance(part, list | tuple) else [part]


def open_servers(places: Sequence[Sequence[int]]) -> str:
    """Who may use which server.

    >>> open_servers([[1, 0], [1, 1]])
    'Every user may use every server, but not user 1 server 2.'
    """
    closed = [(n + 1, i + 1) for n, row in enumerate(places) for i, may in enumerate(row) if not may]
    but = ", but not " + ", ".join(f"user {n} server {i}" for n, i in closed) if closed else ""
    return f"Every user may use every server{but}."


def reported(own: Sequence[str], told: Sequence[str]) -> list[str]:
    """What sentences become where a user misreports; nothing where they stay as they are."""
    return [f"As it is reported: {' '.join(told)}"] if told != own else []


# ---- text and letters -------------------------------------------------------------------------------------------------

_NAMES = "|".join(sorted(GREEK, key=len, reverse=True))
_PARTS = rf"(?P<letter>{_NAMES}|(?:sum|max|min)(?=_)|[A-Za-z])(?P<prime>'?)(?:_(?P<index>\w+'?))?(?P<power>\^-?\w+)?"
_LETTER = re.compile(rf"(?<![\w\\'])(?<![A-Z]-){_PARTS}(?P<star>\*?)(?!\w|'(?!s\b)|\.\w)")
_SPECIAL = {"_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "^": r"\^{}", "<": "$<$", ">": "$>$", "$": r"\$", "{": r"\{"}
_SPECIAL |= {"}": r"\}", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "|": "$|$", "✓": "$+$"}
_SIGNS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "dPsi/dlambda": r"\partial \Psi / \partial \lambda"}
_SIGNS |= {"grad_x Psi": r"\nabla_{x} \Psi", "grad_x": r"\nabla_{x}", "grad Psi": r"\nabla \Psi"}
_SIGNS |= {"dPsi/dx": r"\partial \Psi / \partial x", "df_ni/dx_n": r"\partial f_{ni} / \partial x_{n}"}
_OPERATORS = "|".join(map(re.escape, _SIGNS))

WORDS = ("a", "A", "I")

PAPERS = "KPWZD"
"""Letters that are papers before a number or the name of a theorem."""


def prose(text: str) -> str:
    """Plain text as LaTeX, in which x_ni, phi_n, sum_i and a letter alone are formulas.

    >>> prose("sum_i x_ni <= 5% of all")
    '$\\\\sum_{i}$ $x_{ni}$ $\\\\le$ 5\\\\% of all'
    """
    pieces = re.split(f"({_OPERATORS})", " ".join(text.split()))
    return "".join(f"${_SIGNS[piece]}$" if piece in _SIGNS else _lettered(piece) for piece in pieces)


def _lettered(flat: str) -> str:
    """Text without operators, its letters as formulas."""
    parts, at = [], 0
    for match in _LETTER.finditer(flat):
        if match[0] in WORDS or (match[0] in PAPERS and re.match(r"[ )]*([A-Z(\d]|$)", flat[match.end() :])):
            continue
        parts += [plain(flat[at : match.start()]), _formula(match)]
        at = match.end()
    return "".join([*parts, plain(flat[at:])])


def _formula(match: "re.Match[str]") -> str:
    letter = GREEK.get(match["letter"]) or "\\" * (len(match["letter"]) > 1) + match["letter"]
    name, power = match["index"] or "", (match["power"] or "")[1:]
    name = GREEK.get(name, name if name.islower() or name.isdigit() else rf"\text{{{name}}}")
    power = re.sub(_NAMES, lambda found: GREEK[found[0]], power)
    index, power = f"_{{{name}}}" * bool(match["index"]), f"^{{{power}{match['star']}}}" * bool(power or match["star"])
    return f"${letter}{match['prime']}{index}{power}$"


def plain(text: str) -> str:
    """Plain text as LaTeX without formulas."""
    return "".join(_SPECIAL.get(c, c) for c in printable(text))


def letters_in(tex: str) -> set[str]:
    """The letters, with their primes, in the formulas of a text in LaTeX; words in them are none.

    >>> sorted(letters_in(r"then $x'_{n} < \\tfrac{1}{2} c$"))
    ['c', 'n', "x'"]
    """
    formulas = re.findall(r"\$(.*?)\$|\\\[(.*?)\\\]", tex, re.DOTALL)
    plain = re.sub(r"\\(?:text|begin|end)\{[^{}]*\}", " ", " ".join("".join(part) for part in formulas))
    tokens = re.findall(r"(?:\\[A-Za-z]+|[A-Za-z])'?", plain)
    return {token for token in tokens if not token.startswith("\\") or token.rstrip("'") in GREEK.values()}


def meanings(tex: str, scope: Sequence[str], only: Collection[str] | None = None) -> str:
    """What the letters of a text in LaTeX are, as sentences, and what the letters of these are.

    `scope` names tables of letters.toml, of which the first that has a letter decides; `only` these letters are told, None = all.
    KeyError for a letter without a meaning.
    """
    known: dict[str, str] = {}
    waiting = sorted(letters_in(tex), key=_order)
    while waiting:
        letter = waiting.pop(0)
        if letter in known or (only is not None and letter not in only):
            continue
        found = [table[letter] for name in scope if letter in (table := packaged_toml("letters.toml").get(name, {}))]
        if not found:
            raise KeyError(f"no letter {letter!r} in {', '.join(scope)} of letters.toml")
        known[letter] = found[0]
        waiting += sorted(letters_in(found[0]) - known.keys(), key=_order)
    return "; ".join(dict.fromkeys(known.values()))


COMMON: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "K": ((*"nmirdcxzAB", "g'", r"\varphi", r"\gamma", r"\alpha", r"\lambda", r"\Psi"), ("K", "usual")),
    "P": ((*"nmirdcxz", r"\varphi", r"\gamma"), ("usual",)),
    "D": ((*"ikjresx",), ("requests",)),
}
"""By paper the letters that mean one thing in all of it, and the tables of letters.toml that say what."""


def notation(text: str, paper: str) -> str:
    """What the letters of a plain text are that mean one thing in all of a paper, in plain text.

    >>> notation("x_n >= 1", "P").partition("; ")[0]
    'n is a user'
    """
    only, scope = COMMON.get(paper, ((), ()))
    said = meanings(prose(text), scope, only).replace(r"\varphi", "phi")
    return re.sub(r"[${}\\]", "", said)


def _order(letter: str) -> tuple[str, str]:
    return letter.strip("\\").lower(), letter


def example(title: str, label: str, parts: Sequence[str], scope: Sequence[str], own: bool = False) -> str:
    """An `example` environment with the meanings of all letters at its end.

    Parameters
    ----------
    title, label : of the environment; the label is a plain text
    parts : paragraphs in LaTeX
    scope : tables of letters.toml, as `meanings` takes them
    own : whether the words are those of somebody else, whose letters need not be in the tables
    """
    known = {letter for name in scope for letter in packaged_toml("letters.toml").get(name, {})}
    said = meanings("\n".join([title, *parts]), scope, known if own else None)
    last = [f"Here {said}."] * bool(said)
    body = "\n\n".join([*parts, *last])
    title = title.replace("]", "{]}")  # which would end the argument
    return f"{HEAD}\n\\begin{{example}}[{title}]\\label{{fairalloc:{label}}}\n{body}\n\\end{{example}}\n"
