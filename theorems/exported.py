"""What `fairalloc theorems export` writes: the witness of a statement or of a claim of one's own as Python or LaTeX, and an entry
for BibTeX.

The witness of a claim is searched; its Python is code.py, with mechanisms and properties of one's own in it.
"""

import re
import sys
from typing import Any

from fairalloc.analysis.solution_sets import MULTIVALUED
from fairalloc.models.errors import FairallocError, InstanceError
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import exact_text
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.claims import Claim, ClaimResult
from fairalloc.theorems.code import method_of, solved_instances
from fairalloc.theorems.latex import Numbers, example, open_servers, plain, prose, reported, tabular
from fairalloc.theorems.standalone.certificates import by_place
from fairalloc.theorems.standalone.script import StandaloneScript
from fairalloc.theorems.statement import Statement, Status, with_reading
from fairalloc.theorems.titles import hypotheses_in_words, paper_of, title_of

ANSWERS = {"for all": "This is so for all answers of the mechanism.", "for some": "This is so for some answers of the mechanism."}


def statement_text(item: Statement, status: Status, form: str) -> str:
    """A statement as "python", "latex" or "bibtex".

    InstanceError where it has no standalone script, which Python and LaTeX need.
    """
    if form == "bibtex":
        return _entry(item, status)
    script = StandaloneScript.of(item.id)
    return script.python() if form == "python" else script.latex()


def claim_text(claim: Claim, form: str, time_limit: float, trials: int | None, seed: int) -> str:
    """A claim of one's own as "python", "latex" or "bibtex".

    InstanceError where the search for its witness finds no violation.
    """
    found = claim.search(time_limit=time_limit, trials=trials, seed=seed)
    if form == "bibtex":
        return _entry(claim.statement, found.status)
    if found.case is None:
        raise InstanceError(f"the claim {claim.id!r} has no witness to export: {found.sentence}")
    return f"{found}\n" if form == "python" else _latex(found)


def _entry(item: Statement, status: Status) -> str:
    """An entry: the title in words, and in a note the id, what is known, and the place."""
    paper = f"; {item.place.rstrip('.')}, where {item.paper} is {paper_of(item)}" if paper_of(item) else ""
    known = with_reading(item, status) if paper else status.value
    fields = {
        "author": "{The fairalloc developers}",
        "title": f"{{{prose(title_of(item, status))}}}",
        "note": f"fairalloc {sys.modules['fairalloc'].__version__}, statement {plain(item.id)}: {plain(known)}{plain(paper)}",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    lines = [line.replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}") for line in lines]  # BibTeX counts all
    return "\n".join([f"@misc{{fairalloc:{_key(item)},", *lines, "}"]) + "\n"


def _key(item: Statement) -> str:
    """The id without what ends a label of LaTeX or a key of BibTeX."""
    return re.sub(r"[^\w.:+-]", "-", item.id)


def _latex(found: ClaimResult) -> str:
    """An `example` environment: the claim, the instance as tables, the tasks, and what is violated."""
    claim, case, verdict, numbers = found.claim, found.case, found.verdict, Numbers()
    assert case is not None
    assert verdict is not None
    item = claim.statement
    assumed = "; ".join([*hypotheses_in_words(item), *item.hypotheses.ranges]) or "any instance"
    exact, counts = case.instance.exact, case.instance.counts.tolist()
    pools = [[q * c for c in row] for q, row in zip(counts, exact.capacities, strict=True)]
    grids = [_demands("d", case.instance, numbers), tabular("c", "ir", pools, numbers)]
    grids += [_demands("d'", case.reported, numbers)] * (case.reported.exact.demands != exact.demands)
    values = ((k, rf"\text{{{plain(v)}}}" if isinstance(v, str) else v) for k, v in case.parameters.items())
    with_ = (f"With ${prose(k).strip('$')} = {v}$." for k, v in values)
    parts = [f"Claim: {prose(claim.text)}. Assumed: {prose(assumed)}.".replace("..", "."), _centred(grids)]
    parts.append(" ".join([*_words(case), *with_]))
    if "answer" in verdict.witness:
        tasks = [list(row) for row in _by_server(case.instance, verdict.witness["answer"])]
        parts.append(f"The answer that violates it:\n\n{_centred([tabular('x', 'ni', tasks, numbers)])}")
    for prime, (_, said, _, instance) in zip(("", "'"), solved_instances(claim, case, verdict), strict=False):
        parts += _tasks(found, instance, prime, said, numbers)
    answers = ANSWERS.get(verdict.answers, f"This is {verdict.answers}." * bool(verdict.answers))
    parts.append(f"{_sentence(verdict.sentence, case.instance)} ({plain(verdict.method)}). {answers}".strip())
    parts.append(numbers.below())
    return example(prose(title_of(item, found.status)), _key(item), [part for part in parts if part], ("usual",), own=True)


def _centred(grids: list[str]) -> str:
    return "\\begin{center}\\small\n" + "\n\\quad\n".join(grids) + "\n\\end{center}"


def _by_server(instance: Instance, x: Any) -> list[list[Any]]:
    """(N, K) tasks of users on servers, for the tasks of arcs."""
    return [[sum(row[i :: instance.K]) for i in range(instance.K)] for row in by_place(instance, x)]


def _demands(letter: str, instance: Instance, numbers: Numbers) -> str:
    """A table of demands, of all vectors where a user has several."""
    rows = [[list(row) for row in rows] for rows in instance.exact.demands]
    if instance.single_variant:
        return tabular(letter, "nr", [own[0] for own in rows], numbers)
    return tabular(letter, "nvr", rows, numbers)


def _words(case: Case) -> list[str]:
    """Weights, and what a misreport may change beside the table of demands, as sentences."""
    weights = case.instance.exact.weights
    equal = all(w == 1 for w in weights)
    said = "All weights are 1." if equal else f"With {tabular(chr(92) + 'varphi', 'n', list(weights), Numbers())}."
    own, told = _places_and_limits(case.instance), _places_and_limits(case.reported)
    return [said, *own, *reported(own, told)]


def _places_and_limits(instance: Instance) -> list[str]:
    """Eligible servers, demands of one's own there, limits, floors and groups as sentences."""
    exact, rows = instance.exact, Numbers()
    said = [open_servers(instance.placement.tolist())]
    for (n, i), own in exact.demands_on.items():
        said.append(f"On server {i + 1} a task of user {n + 1} takes {' or '.join(f'${rows.tex(row)}$' for row in own)}.")
    said += [f"User {n} has {exact_text(most)} tasks at most." for n, most in enumerate(exact.max_tasks, 1) if most is not None]
    said += [f"User {n} has {exact_text(least)} tasks at least." for n, least in enumerate(exact.min_tasks, 1) if least]
    tree = {} if instance.groups is None else instance.groups.document(range(1, instance.N + 1), str)
    return said + [f"The groups are {plain(str(tree))}."] * bool(tree)


def _tasks(found: ClaimResult, instance: Instance, prime: str, said: str, numbers: Numbers) -> list[str]:
    """The tasks of an answer that the verdict is about."""
    case, item = found.case, found.claim.mechanism
    assert case is not None
    try:
        allocation = solve(instance, item, method_of(item, dict(case.parameters), instance), **case.parameters)
    except FairallocError:  # the claim's own function need not ask for this answer
        return []
    exact = allocation.tasks_exact
    row = tabular(f"x{prime}", "n", allocation.tasks.tolist() if exact is None else list(exact), numbers)
    answer = "One of perhaps several answers" if allocation.mechanism in MULTIVALUED else "An answer"
    lines = [f"{answer}{f' {plain(said)}' if said else ''}: {row}."]
    if allocation.x_exact is not None and allocation.instance.K > 1:
        there = tabular(f"x{prime}", "ni", _by_server(allocation.instance, allocation.x_exact), numbers)
        lines.append(f"On the servers:\n\n{_centred([there])}")
    return lines


def _sentence(text: str, instance: Instance) -> str:
    """A sentence in which users have numbers and fractions are formulas."""
    made = plain(text)
    for n, user in enumerate(instance.users, 1):
        made = made.replace(plain(f"user {user!r}"), f"user ${n}$")
    made = made[:1].upper() + made[1:]
    return re.sub(r"(?<![\w.])(\d+)/(\d+)(?![\w.]\d)", r"$\\tfrac{\1}{\2}$", made)
