"""The solver of formulas over the reals: one query, its limit, the names of what it needed, and a second judge.

1. A `Question` is the negation of a claim for one pattern: named assumptions, and the violation. Unsatisfiable = the claim holds.
2. It is given to z3 with a limit, in a context of its own: what z3 does depends on the formulas made before in the same one.
3. Lemmas are consequences of the assumptions that the solver is told, each with its reason where it is written.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import eq, ge
from typing import Any, Literal

import z3

from fairalloc.models.errors import NotInstalled
from fairalloc.solvers.method import now
from fairalloc.theorems.smt.patterns import InstancePattern

Term = Any
"""A formula or a number of z3, which has no types."""

Outcome = Literal["unsat", "sat", "unknown"]


@dataclass(frozen=True)
class Question:
    """The negation of a claim, for one pattern.

    Attributes
    ----------
    pattern : the pattern in words
    assumptions : formulas by the name of what they say, for the core
    violation : formulas that say what would refute the claim
    lemmas : consequences of the assumptions
    steps : consequences of the assumptions and the violation
    refine : what the instance satisfies beside the assumptions; asked where these alone do not decide
    data : {name: number} that `prove` makes an instance of
    shape : the pattern itself, for that instance
    """

    pattern: str
    assumptions: Mapping[str, Sequence[Term]]
    violation: Sequence[Term]
    lemmas: Sequence[Term] = ()
    steps: Sequence[Term] = ()
    refine: Sequence[Term] = ()
    data: Mapping[Any, Term] = field(default_factory=dict)
    shape: InstancePattern | None = None


@dataclass(frozen=True)
class Reply:
    """Of one question: the outcome, the numbers of `data` where it is satisfiable, and the assumptions that were needed."""

    outcome: Outcome
    values: Mapping[Any, Any] = field(default_factory=dict)
    core: frozenset[str] = frozenset()


def real(name: str) -> Term:
    return z3.Real(name)


def total(terms: Iterable[Term]) -> Term:
    """The sum; 0 of nothing."""
    return z3.Sum(z3.RealVal(0), *terms)


def _joined(join: Any, decisive: bool, parts: Iterable[Term]) -> Term:
    """All of these, or one of them at least; what is decided without the solver is a truth value."""
    left = [part for part in parts if part is not (not decisive)]
    return z3.BoolVal(decisive) if any(part is decisive for part in left) else join(*left)


FORMULAS = (partial(_joined, z3.And, False), partial(_joined, z3.Or, True), z3.Implies, ge, eq)
"""The logic with which a definition builds formulas."""


def version() -> str:
    return f"z3 {z3.get_version_string()}"


def ask(question: Question, deadline: float, core: bool = False) -> Reply:
    found = _query(question, deadline - now(), core)
    if found.outcome == "unsat" or not question.refine:
        return found
    refined = {**question.assumptions, "same demands on every server": question.refine}
    return _query(replace(question, assumptions=refined), deadline - now(), core)


def _query(question: Question, seconds: float, core: bool) -> Reply:
    if seconds <= 0:
        return Reply("unknown")
    context = z3.Context()
    solver = z3.Solver(ctx=context) if core else z3.SolverFor("QF_NRA", ctx=context)
    solver.set("timeout", max(1, int(1000 * seconds)))
    for name, given in question.assumptions.items():
        formulas = _alone(context, given)
        if core and formulas:
            solver.assert_and_track(z3.And(*formulas), name)
        else:
            solver.add(*formulas)
    solver.add(*_alone(context, [*question.lemmas, *question.steps, *question.violation]))
    result = str(solver.check())
    if result == "unsat":
        return Reply("unsat", core=frozenset(map(str, solver.unsat_core())) if core else frozenset())
    if result == "sat":
        model = solver.model()
        numbers = {key: _alone(context, [term])[0] for key, term in question.data.items()}
        return Reply("sat", {key: _rational(model.eval(term, model_completion=True)) for key, term in numbers.items()})
    return Reply("unknown")


def _alone(context: Term, formulas: Iterable[Term]) -> list[Term]:
    """The formulas in a context of their own; truth values are in none."""
    return [f if isinstance(f, bool) else f.translate(context) for f in formulas]


def _rational(value: Term) -> Any:
    """The number of a model; an algebraic one to 20 digits, for the instance is checked anew."""
    return (value.approx(20) if z3.is_algebraic_value(value) else value).as_fraction()


def second_opinion(question: Question, seconds: float) -> tuple[Outcome, str]:
    try:
        import cvc5
    except ImportError as error:
        raise NotInstalled("a second judge needs the solver cvc5: pip install cvc5") from error
    context = z3.Context()
    asked = z3.Solver(ctx=context)
    formulas = [f for part in question.assumptions.values() for f in part]
    formulas += [*question.lemmas, *question.steps, *question.violation]
    asked.add(*map(z3.simplify, _alone(context, formulas)))  # without sums of one term, which cvc5 does not read
    solver = cvc5.Solver()
    solver.setLogic("QF_NRA")
    solver.setOption("tlimit-per", str(max(1, int(1000 * seconds))))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, asked.to_smt2().replace("(check-sat)", ""), "question")
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, parser.getSymbolManager())
    result = solver.checkSat()
    outcome: Outcome = "unsat" if result.isUnsat() else "sat" if result.isSat() else "unknown"
    return outcome, f"cvc5 {cvc5.__version__}"
