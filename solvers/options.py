"""What an accuracy promises and what it means to each solver in its own option names; the options of the algorithms here.

1. An accuracy is "low", "mid", "high" or a number, the residual that is promised (`promised`).
2. What it means to a solver is a table for the three words (OPTIONS); a number is read between them (`at_accuracy`).
3. An algorithm of this package has a frozen dataclass of options (`AlgorithmOptions`), documented field by field; so has the
   judge of answers (`Judging`), under the name "judge".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from inspect import getdoc
from numbers import Real
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from fairalloc.models.arguments import Tolerance, Whole, check_fields
from fairalloc.models.errors import InstanceError, UnknownName, no_such, shown

Accuracy: TypeAlias = str | float
"""A word of ACCURACY, or the residual itself."""

ACCURACY: Mapping[str, float] = {"low": 1e-3, "mid": 1e-6, "high": 1e-8}
"""The residual each word promises."""

IPOPT: Mapping[str, Any] = {"nlp_scaling_method": "none", "print_level": 0, "sb": "yes"}
"""Models are written in units of order one, which Ipopt's own scaling would undo."""

NEAR: Mapping[str, Any] = {"mu_init": 1e-6, "bound_push": 1e-8, "bound_frac": 1e-8}
"""For Ipopt where it starts near an answer, which its usual barrier and distance from bounds would leave."""

HIGHS = ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance")

TABLE: Mapping[str, Mapping[str, Any]] = {
    "HIGHS": {"mip_rel_gap": (1e-4, 1e-7, 1e-9), **dict.fromkeys(HIGHS, (1e-7, 1e-9, 1e-10))},  # it accepts none below 1e-10
    # without crossover: its gap is the residual, of which rounds use up some digits
    "HIGHS IPM": {"ipm_optimality_tolerance": (1e-6, 1e-9, 1e-11), **dict.fromkeys(HIGHS[:2], (1e-7, 1e-9, 1e-10))},
    "HIGHS PDLP": dict.fromkeys(("pdlp_optimality_tolerance", *HIGHS[:2]), (1e-5, 1e-8, 1e-10)),
    "PDLP of OR-Tools": dict.fromkeys(("eps_optimal_absolute", "eps_optimal_relative"), (1e-5, 1e-8, 1e-10)),
    "CLARABEL": {  # a gap is quadratic in the error of a log program; with its default step fraction 0.99 it stalls earlier
        **dict.fromkeys(("tol_gap_abs", "tol_gap_rel"), (1e-8, 1e-13, 1e-14)),
        "tol_feas": (1e-8, 1e-10, 1e-11),
        "max_step_fraction": (None, 0.9, 0.9),
    },
    "MOREAU": {  # as Clarabel, whose algorithm it has
        "ipm_settings": tuple(
            {"tol_gap_abs": gap, "tol_gap_rel": gap, "tol_feas": feasible, "max_step_fraction": step}
            for gap, feasible, step in ((1e-8, 1e-8, 0.99), (1e-13, 1e-10, 0.9), (1e-14, 1e-11, 0.9))
        )
    },
    "QTQP": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), (1e-6, 1e-9, 1e-11)),
    "SCS": {  # where it succeeds it needs a few thousand iterations; where it does not, a million is no better
        **dict.fromkeys(("eps_abs", "eps_rel"), (1e-5, 1e-10, 1e-11)),
        "max_iters": (100_000, 100_000, 1_000_000),
    },
    "IPOPT": {  # CVXPY sets bound_relax_factor to 0 itself; of a NaN MUMPS crashes, and so does CasADi where it is looked for
        "tol": (1e-7, 1e-12, 1e-13),
        "mu_strategy": "monotone",
        "check_derivatives_for_naninf": "yes",
        **IPOPT,
    },
    "UNO": {  # its preset "ipopt" is the interior-point one, by far the faster here
        "preset": "ipopt",
        "logger": "SILENT",
        **dict.fromkeys(("primal_tolerance", "dual_tolerance"), (1e-7, 1e-11, 1e-12)),
    },
    "IPOPT in CasADi": {"tol": (1e-7, 1e-12, 1e-13), "bound_relax_factor": (1e-8, 1e-12, 1e-12), **IPOPT},
    "PATH": {"convergence_tolerance": (1e-7, 1e-10, 1e-12)},
}
"""What "low", "mid" and "high" mean to each solver: a value for each, None for the solver's default, or one for all three."""


TERMINATION: Mapping[str, str] = {
    "optimal": "optimal",  # CVXPY
    "optimal_inaccurate": "inaccurate",
    "user_limit": "time_limit",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "unbounded": "unbounded",
    "unbounded_inaccurate": "unbounded",
    "convergenceCriteriaSatisfied": "optimal",  # both of Pyomo's interfaces to solvers
    "locallyOptimal": "optimal",
    "globallyOptimal": "optimal",
    "feasible": "inaccurate",
    "maxTimeLimit": "time_limit",
    "iterationLimit": "iteration_limit",
    "maxIterations": "iteration_limit",
    "maxEvaluations": "iteration_limit",
    "provenInfeasible": "infeasible",
    "Solve_Succeeded": "optimal",  # Ipopt
    "Solved_To_Acceptable_Level": "inaccurate",
    "Maximum_WallTime_Exceeded": "time_limit",
    "Maximum_CpuTime_Exceeded": "time_limit",
    "Maximum_Iterations_Exceeded": "iteration_limit",
    "Infeasible_Problem_Detected": "infeasible",
    "Diverging_Iterates": "unbounded",
    "kOptimal": "optimal",  # HiGHS
    "kTimeLimit": "time_limit",
    "kIterationLimit": "iteration_limit",
    "kInfeasible": "infeasible",
    "kUnbounded": "unbounded",
    "kUnboundedOrInfeasible": "infeasible",
    "kUnknown": "inaccurate",  # without crossover where a tolerance is missed by little
    "OPTIMAL": "optimal",  # PDLP of OR-Tools
    "TIME_LIMIT": "time_limit",
    "ITERATION_LIMIT": "iteration_limit",
    "PRIMAL_INFEASIBLE": "infeasible",
    "DUAL_INFEASIBLE": "unbounded",
    "solved": "optimal",  # QTQP
    "almost_solved": "inaccurate",
    "hit_max_iter": "iteration_limit",
    "NormalCompletion": "optimal",  # GAMS
    "IterationInterrupt": "iteration_limit",
    "ResourceInterrupt": "time_limit",
}
"""How solvers call their ends, each in its own words; all else is "error"."""


def _at_word(table: Mapping[str, Any], k: int) -> Mapping[str, Any]:
    values = {name: value[k] if isinstance(value, tuple) else value for name, value in table.items()}
    return {name: value for name, value in values.items() if value is not None}


OPTIONS = {solver: {word: _at_word(table, k) for k, word in enumerate(ACCURACY)} for solver, table in TABLE.items()}
"""The same by solver and word."""


def read_accuracy(text: str) -> Accuracy:
    """The number that a text stands for, else the text, which should be a word."""
    try:
        return float(text)
    except ValueError:
        return text


def promised(accuracy: Accuracy) -> float:
    """The residual that an accuracy promises: what its word stands for, or the number itself; an error for anything else."""
    if isinstance(accuracy, str) and accuracy in ACCURACY:
        return ACCURACY[accuracy]
    if isinstance(accuracy, bool) or not isinstance(accuracy, Real) or not 0 < accuracy < 1:
        words, kind = ", ".join(ACCURACY), UnknownName if isinstance(accuracy, str) else InstanceError
        raise kind(f"accuracy is {shown(accuracy)}, but it must be one of {words}, or a residual between 0 and 1")
    return float(accuracy)


def allowed_user_error(residual: float) -> float:
    """The largest relative error of a user's tasks that goes with a residual: 1e-2 at "low", 1e-4 at "mid", 1e-6 at "high"."""
    return min(100.0 * residual, 1e-2)


def at_accuracy(words: Mapping[str, Any], accuracy: Accuracy) -> Any:
    """What a table for "low", "mid" and "high" means at an accuracy.

    Between two words a tolerance (a positive float in both) is read off the straight line through them in logarithms of
    tolerance and residual. All else is that of the more accurate word. Beyond "low" and "high" the table goes on as there:
    solvers gain nothing from more than "high" asks for, so a smaller residual is a stricter promise, not another setting.

    >>> f"{at_accuracy({'low': 1e-4, 'mid': 1e-12, 'high': 1e-13}, 1e-7):.1e}"
    '3.2e-13'
    """
    if accuracy in ACCURACY:
        return words[str(accuracy)]
    residual = promised(accuracy)
    scale = sorted(ACCURACY, key=ACCURACY.__getitem__)  # the most accurate word first
    tighter = max((w for w in scale if ACCURACY[w] <= residual), key=ACCURACY.__getitem__, default=scale[0])
    looser = min((w for w in scale if ACCURACY[w] >= residual), key=ACCURACY.__getitem__, default=scale[-1])
    if isinstance(words[tighter], Mapping):
        loose = words[looser]
        return {name: _between(value, loose.get(name), tighter, looser, residual) for name, value in words[tighter].items()}
    return _between(words[tighter], words[looser], tighter, looser, residual)


def _between(tight: Any, loose: Any, tighter: str, looser: str, residual: float) -> Any:
    """The value on the line between two words, `tight` where it is no tolerance."""
    if tighter == looser or not (isinstance(tight, float) and isinstance(loose, float) and tight > 0 and loose > 0):
        return tight
    ends = np.log([ACCURACY[tighter], ACCURACY[looser]])
    return float(np.exp(np.interp(np.log(residual), ends, np.log([tight, loose]))))


def solver_options(solver: str, accuracy: Accuracy) -> dict[str, Any]:
    """The options of a solver of OPTIONS at an accuracy, a new dict; none for a solver that is not in the table."""
    return dict(at_accuracy(OPTIONS[solver], accuracy)) if solver in OPTIONS else {}


def solver_table(solver: str, accuracy: Accuracy) -> tuple["Option", ...]:
    """The same as options with a description each: what the three words mean."""
    table = OPTIONS.get(solver, {})

    def about(name: str) -> str:
        words = ", ".join(f"{word} {table[word][name]!r}" for word in table if name in table[word])
        return f"option of {solver}, set by the accuracy: {words}"

    return tuple(Option(name, value, about(name)) for name, value in solver_options(solver, accuracy).items())


class Option(NamedTuple):
    """One option of an algorithm: its name, its default, and what it is, with its unit and reason."""

    name: str
    default: Any
    about: str


@dataclass(frozen=True)
class AlgorithmOptions:
    """The options of an algorithm: fields with defaults, each described under "Attributes" in the docstring of the class."""

    def __post_init__(self) -> None:
        check_fields(self)

    def changed(self, method: str, given: Mapping[str, Any]) -> Self:
        """These options with the given ones; UnknownName for one that there is not, InstanceError for a value of a wrong kind."""
        names = [field.name for field in fields(self)]
        for name in given:
            if name not in names:
                rule = f"its options are {', '.join(names)}" if names else "it has none"
                raise UnknownName(no_such(f"option of {method}", name, names, rule))
        return replace(self, **given) if given else self

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any] | None) -> Self:
        """The default options with the given ones, which are those of `name`; errors as for `changed`."""
        if given is not None and not isinstance(given, Mapping):
            raise InstanceError(f"the options of the {name} are {shown(given)}, but they must be a mapping of names to values")
        return cls().changed(f"the {name}", given or {})

    def described(self) -> tuple[Option, ...]:
        """Every option with its value here, which is the default, and what its docstring says."""
        found: dict[str, str] = {}
        for base in reversed(type(self).__mro__):
            text = (getdoc(base) or "").partition("Attributes\n----------\n")[2]
            found.update(re.findall(r"^(\w+) : (.+(?:\n[ ]+.+)*)", text, flags=re.MULTILINE))
        return tuple(Option(f.name, getattr(self, f.name), " ".join(found.get(f.name, "").split())) for f in fields(self))


@dataclass(frozen=True)
class IterationOptions(AlgorithmOptions):
    """Of an iteration whose steps, sweeps or rounds `Allocation.iterations` counts.

    Attributes
    ----------
    max_iterations : so many of them are done at most
    """

    max_iterations: Whole = 5_000


@dataclass(frozen=True)
class Judging(AlgorithmOptions):
    """Of the judge of answers (judge.py): `solve(..., options={"judge": {"proved": 1e-8}})`.

    Attributes
    ----------
    reference_arcs : arcs up to which an independent reference is asked without being requested
    exact_arcs : arcs up to which the answer is computed in rationals where floats cannot tell
    digits_arcs : arcs up to which the answer of nb, alpha-fair and fds is computed to many digits, which takes about 3 ms an arc
    rounding : relative error of a sum of prices, with what a solver leaves in them
    proved : residual up to which what an allocation's own prices prove needs no reference
    trusted : residual of the reference's own proof above which it is not compared with, for it may be wrong where the method is
    reference_tolerance : feasibility tolerance of the reference's linear programs, which HiGHS takes down to 1e-10, and the
        relative difference up to which two of its levels are one
    """

    reference_arcs: Whole = 5_000
    exact_arcs: Whole = 200
    digits_arcs: Whole = 100
    rounding: Tolerance = 1e-12
    proved: Tolerance = 1e-7
    trusted: Tolerance = 1e-6
    reference_tolerance: Tolerance = 1e-9
