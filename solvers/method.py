"""What a method is: the one interface of every back end and algorithm, its limits, its clock and its answer.

"optimal" is what the solver says here; whether it stands as a claim, the judge decides (judge.py). Time is read off the clock of
`Limits` alone.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np

from fairalloc.formulations.common.modelling import is_installed
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism, several, tell_failures, written_here
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.whole_tasks import WholeTasks
from fairalloc.models.allocation import Times
from fairalloc.models.arguments import ANYTHING, PLAIN, Rule
from fairalloc.models.errors import FairallocError, NotApplicable, shown
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, worst
from fairalloc.solvers.lexicographic.rounds import solve_edited_rounds, solve_nested_rounds, solve_rounds, solve_whole_rounds
from fairalloc.solvers.options import Accuracy, AlgorithmOptions, Judging, promised
from fairalloc.solvers.running.listeners import tell
from fairalloc.solvers.running.solver_log import printed

UNFOUNDED = "its solver says that there is no feasible point, but this mechanism has one on every instance"
"""Said of mechanisms with a residual of their own and of whole tasks: an edit may be infeasible."""

SCALED = "its last point was infeasible and is scaled down"
"""What is said of a point without a claim that did not fit."""

NO_ANSWER = "its solver ended without an answer"
"""What is said of an error of a solver that says nothing itself."""

SLIGHT = 1e-6
"""How far a point may be scaled down without being said to be infeasible, relative."""

T = TypeVar("T")
O = TypeVar("O", bound=AlgorithmOptions)  # noqa: E741


now = time.perf_counter
"""Seconds of the clock of all limits."""


@dataclass(frozen=True)
class Limits:
    """What a call asks of a method besides the mechanism.

    Attributes
    ----------
    accuracy : how exact the answer should be, a word of ACCURACY or the residual itself
    deadline : when to stop, in seconds of the clock; inf = no limit
    trace, log : whether to keep a trace of the algorithm and what the solver prints
    options : of the algorithm; `own` reads them
    solver_options : of the solver behind the method, in its own names, on top of those that the accuracy means
    start, start_prices : (A,) tasks and (K, R) prices to start from, in the units in which the method computes; None = its own
    judging : how the answer is judged
    threads : that linear algebra and solvers may use; None = as the environment says, 1 for solvers with an option of their own
    keep : takes (A,) tasks on large instances, the best so far if the method is ended; `Session.offer` calls it
    clock : gives the seconds now
    """

    accuracy: Accuracy = "mid"
    deadline: float = np.inf
    trace: bool = False
    log: bool = False
    options: AlgorithmOptions = field(default_factory=AlgorithmOptions)
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    start: Floats | None = None
    start_prices: Floats | None = None
    judging: Judging = Judging()
    threads: int | None = None
    keep: Callable[[Floats], None] | None = None
    clock: Callable[[], float] = now

    @cached_property
    def promised(self) -> float:
        """The residual that the accuracy promises."""
        return promised(self.accuracy)

    def own(self, kind: type[O]) -> O:
        """The options of this kind: those that were given, or the defaults where the method's are of another kind."""
        return self.options if isinstance(self.options, kind) else kind()

    @cached_property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.deadline < np.inf

    @property
    def late(self) -> bool:
        """Whether no time is left."""
        return self.clock() >= self.deadline

    @property
    def left(self) -> float:
        """Seconds left; Stopped when there are none."""
        seconds = self.deadline - self.clock()
        if seconds <= 0:
            raise Stopped("time_limit")
        return seconds

    def share(self, part: float) -> "Limits":
        """The same with that part of the time that is left."""
        others = (1.0 - part) * max(self.deadline - self.clock(), 0.0)
        return replace(self, deadline=self.deadline - others) if self.limited else self


class Stopped(Exception):  # noqa: N818 (a signal, not an error)
    """A solve ended without what the next round needs; the point it left, if any, is in the session."""

    def __init__(self, termination: str, message: str = "") -> None:
        super().__init__(message)
        self.termination = termination


@dataclass(frozen=True)
class Answer:
    """What a method returns: tasks on arcs (nan where there is no point), prices as hints, its own report, rationals if any.

    `optimality` is the residual of the model's optimality conditions (common/kkt_residual.py), None where it cannot be told,
    `objective` its objective there, and `doubt` why the model may not be convex (common/convexity.py).
    """

    x: Floats
    prices: Floats | None
    termination: str
    times: Times
    iterations: int | None = None
    message: str = ""
    x_exact: tuple[Fraction, ...] | None = None
    trace: tuple[Mapping[str, Any], ...] = ()
    log: tuple[str, ...] = ()
    optimality: float | None = None
    objective: float | None = None
    doubt: str = ""


@dataclass
class Session:
    """One written model of one back end, with its clock; `solve` may be called for several rounds."""

    mechanism: Mechanism
    instance: Instance
    limits: Limits
    solver: str = ""
    by_phase: dict[str, float] = field(default_factory=dict)
    iterations: int | None = None
    inaccurate: bool = False
    message: str = ""
    x: Floats = field(default_factory=lambda: np.empty(0))
    last_prices: Floats | None = None
    x_exact: tuple[Fraction, ...] | None = None
    trace: list[Mapping[str, Any]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    fairness: Floats | None = None
    optimality: float | None = None
    objective: float | None = None
    doubt: str = ""
    solved: bool = False

    def __post_init__(self) -> None:
        """What a subclass writes at once."""

    @property
    def times(self) -> Times:
        """Seconds by phase so far."""
        return Times(**self.by_phase)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the seconds inside as one of build, compile, solve, read."""
        start = self.limits.clock()
        try:
            yield
        finally:
            spent = self.limits.clock() - start
            self.by_phase[name] = self.by_phase.get(name, 0.0) + spent

    def offer(self, x: Floats, prices: Floats | None = None) -> None:
        """Keep tasks (A,) and prices (K, R) for the case that the method is ended, and hand them to whoever asked for them."""
        self.x, self.last_prices = x, prices
        if self.limits.keep is not None:
            self.limits.keep(x)

    def count(self, iterations: int | None) -> None:
        """Add the iterations of one solve; None, or below 0 as HiGHS says of integer programs = not reported."""
        if iterations is not None and iterations >= 0:
            self.iterations = (self.iterations or 0) + int(iterations)

    def note(self, **facts: Any) -> None:
        """Keep the facts of one event or iteration where a trace or a log is wanted, and tell them where somebody listens."""
        tell(**facts)
        if self.limits.trace:
            self.trace.append(facts)
        if self.limits.log:
            self.log.append(" ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in facts.items()))

    def asked(self, solver: str, call: Callable[[], T]) -> T:
        """What `call` returns; NotApplicable where it fails because of an option that was given in the solver's own name."""
        given = self.limits.solver_options
        try:
            return call()
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            told = [line for line in lines if any(name in line for name in (*given, "option", "Option", "type mismatch"))]
            told = told or (lines[:1] if isinstance(error, TypeError | ValueError | OverflowError) else [])
            if not given or not told:
                raise
            raise NotApplicable(f"{solver} refuses the options {shown(dict(given))}: {told[-1]}") from None

    def logged(self) -> AbstractContextManager[None]:
        """Keep what is printed inside for the log, where one is wanted."""
        return printed(self.limits.log, self.log)

    def solve(self, round: Any) -> tuple[Floats, Floats | None]:  # noqa: A002
        """Solve the model (as the given Round or stage); returns x (A,) and the prices (K, R) or None. May raise Stopped."""
        raise NotImplementedError

    def solve_round(self, round: Any) -> tuple[Floats, Floats]:  # noqa: A002
        """`solve` for the loop over rounds, which needs prices: Stopped where the solver returns none."""
        self.x, prices = self.solve(round)
        return self.x, self._known(prices)

    def solve_fairness(self, round: Round) -> tuple[Floats, Floats, Floats | None]:  # noqa: A002
        """`solve` for edited rounds, which need the dual prices of "fairness": Stopped where the solver returns none."""
        self.x, prices = self.solve(round)
        return self.x, self._known(self.fairness), prices

    def solve_whole(self, stage: Any) -> Floats:
        """`solve` for programs of whole tasks: (A,) rounded."""
        x, _ = self.solve(stage)
        self.x = np.maximum(np.round(x), 0.0)
        return self.x

    def _known(self, duals: Floats | None) -> Floats:
        """The dual prices of a round; Stopped where there are none, or they or the tasks are no numbers."""
        if duals is None:
            raise Stopped("error", "the solver returned no dual prices, which the rounds need")
        if not (np.isfinite(duals).all() and np.isfinite(self.x).all()):
            raise Stopped("error", "the solver returned tasks or dual prices that are no numbers")
        return duals

    def judge_model(self, optimality: float | None) -> None:
        """Keep the worst residual of the model's optimality conditions over the solves; None = it cannot be told, for good."""
        known = self.optimality if self.solved else 0.0
        self.optimality = None if optimality is None or known is None else worst([known, optimality])
        self.solved = True

    def conclude(self, termination: str) -> None:
        """Go on after "optimal" and "inaccurate"; anything else ends the run with the point so far."""
        self.inaccurate = self.inaccurate or termination == "inaccurate"
        if self.doubt and termination in ("infeasible", "unbounded"):
            raise Stopped("error", f"its solver calls the model {termination}, which proves nothing: {self.doubt}")
        if termination not in ("optimal", "inaccurate"):
            raise Stopped(termination, "nothing bounds the objective of the model" * (termination == "unbounded"))


class Iteration(Session):
    """The driver of all iterations: `iterate` takes steps, `keep` has the best point, `solve` starts and ends.

    `done` counts iterations. Where the residual of the kept point is too large, `why` is said and `ended` is the termination.
    """

    why, ended = "its iterations ended", "iteration_limit"

    def __post_init__(self) -> None:
        self.options: Any = self.limits.options
        self.gap, self.done, self.began = np.inf, 0, self.limits.clock()
        self.prices: Floats | None = None

    def iterate(self) -> None:
        """Iterate until the residual is small enough, or Stopped."""
        raise NotImplementedError

    def solve(self, round: Round | None) -> tuple[Floats, Any]:  # noqa: A002, ARG002 (one program)
        """Iterate; success is a residual that keeps the promise of the accuracy."""
        with self.phase("solve"), np.errstate(all="ignore"), suppress(Stopped):  # numbers out of range are seen in the residual
            self.iterate()
        self.iterations = self.done
        if self.gap <= self.limits.promised:
            return self.x, self.prices
        end, why = ("time_limit", "out of time") if self.limits.late else (self.ended, self.why)
        raise Stopped(end, f"{why}: its own residual is {self.gap:.1e}")

    def keep(self, gap: float, x: Floats, prices: Floats | None, **facts: Any) -> float:
        """Keep a point of residual `gap` if it is the best so far; facts go to the trace."""
        if gap < self.gap or not len(self.x):
            self.gap, self.x, self.prices = gap, x, prices
        self.record(residual=gap, **facts)
        return gap

    def record(self, **facts: Any) -> None:
        """Facts of this iteration for the trace and the log."""
        self.note(iteration=self.done, **facts, seconds=self.limits.clock() - self.began)


ASKED: Mapping[str, Rule] = {
    **dict.fromkeys(("computes", "applies", "missing", "is_available", "starts"), ANYTHING),
    **dict.fromkeys(("kinds", "but"), several(lambda value: isinstance(value, type), "classes")),
    "packages": several(lambda value: isinstance(value, str), "texts"),
    "versions": PLAIN[Mapping],
    "configure": Rule(lambda value: isinstance(value, Method), "a Method"),
}
"""What is asked of a method besides an answer, and what it returns."""


class Method:
    """A way to compute mechanisms.

    Attributes
    ----------
    id : public name, "layer:solver"
    kind : "exact" (vertices, events, enumeration), "interior-point", "Newton", "complementarity" (pivots), "iterative" (sweeps
        over servers), "first-order" (gradients and products with a matrix), "own", "other", or
        "approximate". The last is asked only by name, is not ranked, and ends "approximate" unless its residual is as promised
    packages : import names it needs
    install : what to install when they are missing
    kinds, but : classes of the mechanisms that it computes, and of those among them that it does not
    session : what `open` makes of a mechanism, an instance and limits
    options : of the algorithm, with their defaults; `fa.options` lists them
    solver : the solver behind the method, which takes all other options in its own names; "" where there is none
    table : the name under which OPTIONS says what an accuracy means to the solver, where that is not `solver`
    warm : whether it uses a warm start; `starts` may say no for some mechanisms
    faces : whether later rounds of a lexicographic mechanism are written on their face (formulations/lexicographic/rule.py)
    anytime : whether it starts from an equal partition and has a point from then on: worth a try where another ran out of time
    peer : whether it is here to be compared with, and never asked without being named
    canonical : whether it is given instances in canonical units; otherwise in the units of the user
    at_once : whether one call of `Session.solve` computes all rounds of a lexicographic mechanism
    undeclared : why it is not asked for several mechanisms, where it does not say which it computes; "" where it does
    is_ours : whether nothing of it was written outside this package; every class gets it when it is made
    """

    id: str
    kind: str = "own"
    packages: tuple[str, ...] = ()
    install: str = "pip install fairalloc"
    kinds: tuple[type[Mechanism], ...] = ()
    but: tuple[type[Mechanism], ...] = ()
    session: type[Session] = Session
    options: AlgorithmOptions = AlgorithmOptions()
    solver: str = ""
    table: str = ""
    solver_options: Mapping[str, Any] = MappingProxyType({})
    warm: bool = False
    canonical: bool = True
    faces: bool = True
    anytime: bool = False
    peer: bool = False
    at_once: bool = False
    undeclared: str = ""
    is_ours: bool = True

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        tell_failures(cls, Method, ASKED)
        cls.is_ours = written_here(cls)

    def __repr__(self) -> str:
        return f"<method {self.id}: {self.kind}>"

    def configure(self, options: Mapping[str, Any]) -> Self:
        """The method with these options: fields of its own `options`, and names of its solver where it has one.

        Raises
        ------
        UnknownName : the algorithm has no such option, and there is no solver behind it
        InstanceError : a value of a wrong kind
        """
        own = {f.name for f in fields(self.options)}
        theirs = {name: value for name, value in options.items() if name not in own} if self.solver else {}
        result = copy(self)
        result.options = self.options.changed(self.id, {k: v for k, v in options.items() if k not in theirs})
        result.solver_options = {**self.solver_options, **theirs}
        return result

    def computes(self, mechanism: Mechanism) -> bool:
        """Whether the method can compute this mechanism: one of its `kinds`, but none of the kinds `but`."""
        return isinstance(mechanism, self.kinds) and not isinstance(mechanism, self.but)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:  # noqa: ARG002 (for those that are choosy)
        """One sentence on why the method cannot compute this mechanism on this instance, or "" where it can."""
        return ""

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Write the model.

        Parameters
        ----------
        mechanism : the configured mechanism that is asked for
        instance : its domain, in the units that the method wants (`canonical`)
        limits : accuracy and deadline
        """
        limits = limits if isinstance(limits.options, type(self.options)) else replace(limits, options=self.options)
        return self.session(mechanism, instance, limits, self.solver)

    def starts(self, mechanism: Mechanism) -> bool:  # noqa: ARG002 (for those that are choosy)
        """Whether it uses a warm start for this mechanism."""
        return self.warm

    def missing(self) -> str:
        """One sentence on what to install, or "" where the method is available."""
        absent = [name for name in self.packages if not is_installed(name)]
        return f"{self.id} needs {', '.join(absent)}: {self.install}" if absent else ""

    def is_available(self) -> bool:
        """Whether everything the method needs is installed."""
        return not self.missing()

    def versions(self) -> dict[str, str]:
        """Versions of the packages it uses."""
        return {name: found for name in self.packages if (found := version_of(name))}

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """Compute the mechanism; a point is kept unless there is no answer, and what a back end raises ends as "error".

        Parameters
        ----------
        mechanism, instance, limits : as for `open`; the answer is in the units of the instance, nan where there is no point
        """
        if instance.has_floors and not mechanism.keeps_floors:
            raise NotApplicable(f"mechanism {mechanism.id!r} knows no min_tasks, but the instance has some")
        session = Session(mechanism, instance, limits)
        try:
            session = self.open(mechanism, instance, limits)
            session.x, session.last_prices = self.compute(mechanism, session)
            termination, message = "inaccurate" if session.inaccurate else "optimal", session.message
        except Stopped as stop:
            termination, message = stop.termination, str(stop) or session.message or NO_ANSWER * (stop.termination == "error")
        except FairallocError:
            raise
        except KeyboardInterrupt:
            if not len(session.x):
                raise
            termination, message = "interrupted", "interrupted: this is the point so far"
        except Exception as error:  # whatever a back end raises ends this method alone
            absent = f"{self.id} is not available: its packages cannot be imported"
            what = absent if isinstance(error, ImportError) else type(error).__name__
            termination, message = "error", f"{what}: {(str(error).splitlines() or [''])[0]}"
        point, said = session.x if len(session.x) else np.full(instance.A, np.nan), [message]
        if termination in ("optimal", "inaccurate"):
            termination = "approximate" if self.kind == "approximate" else termination
        else:
            session.optimality = None  # that of earlier rounds says nothing of those that are missing
            if not np.allclose(near := scaled_down(instance, point), point, rtol=SLIGHT, atol=0.0, equal_nan=True):
                point, said = near, [message, SCALED]
        if termination == "infeasible" and (mechanism.has_residual or isinstance(mechanism, WholeTasks)):  # 0 tasks are feasible
            termination, said = "inaccurate", [UNFOUNDED, *said]
        elif termination == "infeasible":
            point, said = np.full(instance.A, np.nan), [message]
        if termination == "unbounded" and mechanism.has_residual:  # no answer takes more than the capacities
            termination, said = "error", ["its solver calls a bounded model unbounded", *said]
        told = {name: getattr(session, name) for name in ("times", "iterations", "x_exact", "optimality", "objective", "doubt")}
        told |= {"message": "; ".join(filter(None, said)), "trace": tuple(session.trace), "log": tuple(session.log)}
        return Answer(point, session.last_prices, termination, **told)

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:
        """Tasks and prices from an open session: the rounds of a lexicographic mechanism, else the one program."""
        if self.at_once:
            return session.solve(None)
        if isinstance(mechanism, Edited) and mechanism.takes_rounds:
            return solve_edited_rounds(mechanism, session.instance, session.solve_fairness)
        if isinstance(mechanism, NestedMaxMin):
            return solve_nested_rounds(mechanism, session.instance, session.solve_round, session.limits.promised / 4)
        if isinstance(mechanism, WholeTasks):
            ours = {"mip_abs_gap": 0.0} if self.solver == "HIGHS" else {}  # shares may differ by less than its 1e-6
            session.limits = replace(session.limits, solver_options={**ours, **session.limits.solver_options})
            return solve_whole_rounds(mechanism, session.instance, session.solve_whole)
        if not isinstance(mechanism, Leximin):
            return session.solve(None)
        return solve_rounds(mechanism, session.instance, session.solve_round, session.limits.promised / 4, self.faces)


@cache
def version_of(name: str) -> str:
    """The version of a package, or ""."""
    with suppress(PackageNotFoundError):
        return version("python-flint" if name == "flint" else name)
    return ""
