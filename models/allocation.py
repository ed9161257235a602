"""The answer: tasks on arcs, what follows from them, and what the method said about them.

Why a method stopped (`termination`), whether it returned a point (`x`) and how far that point is from the definition
(`residuals`) are three separate facts. Everything else is computed again from the instance and x, never read from a solver.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from sys import modules
from typing import Any

import numpy as np

from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import InstanceError, UnknownName, no_such, place_of, require, shown
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, exact_text, floats, frozen, without_rounding, worst
from fairalloc.models.tables import Grid, pandas

USER_ERROR_NOT_KNOWN = "optimal, user error not known"
"""The termination of an answer whose residual meets the accuracy, and whose tasks nothing bounds for each user."""

SAME = 1e-9
"""Largest relative difference between tasks and the rational or the sum given beside them: people round to ten digits."""

TERMINATIONS = (
    *("optimal", USER_ERROR_NOT_KNOWN, "stationary", "approximate", "inaccurate", "time_limit", "iteration_limit"),
    *("interrupted", "infeasible", "unbounded", "error", "given"),
)


@dataclass(frozen=True)
class Times:
    """Seconds of a method: its own report by phase, and around it.

    build, compile, solve, read : write the model, hand it to the solver's form, solve, read the answer
    wall, cpu : around the whole method, taken outside it by `solve`: on the clock, and of all its threads and child processes
    """

    build: float = 0.0
    compile: float = 0.0
    solve: float = 0.0
    read: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0

    @property
    def total(self) -> float:
        """The sum of the four phases."""
        return self.build + self.compile + self.solve + self.read


def check_rational(exact: Fraction | int, tasks: float, where: Callable[[], str], given: str = "") -> None:
    """InstanceError where a rational, which may be `given` as a text, is not the number of tasks beside it."""
    try:
        number = float(exact)
    except OverflowError:
        number = np.inf
    if not abs(number - tasks) <= SAME * abs(tasks):
        told = shown(given or exact_text(Fraction(exact)))
        raise InstanceError(f"the allocation gives {where()} as {tasks!r}, but exactly as {told}")


@dataclass(frozen=True, eq=False)
class Allocation:
    """Tasks x[a] >= 0 for the arcs of an instance.

    Attributes
    ----------
    instance : the instance the tasks live on (for `drf` the pooled one)
    x : (A,) tasks on each arc of `instance.arcs`
    mechanism, method, parameters : what was asked and how it was computed
    termination : why the method stopped, one of TERMINATIONS; "stationary" where the solver calls its point optimal but the model
        is not proved to be convex, "approximate" where its method computes an approximation, "given" where no method ran
    prices : (K, R) dual prices of the constraints "capacity" in the user's model, `mechanism.cvxpy(instance)`, in units of its
        objective for the whole of a capacity; `prices / instance.pools` are for a unit of it. A lexicographic mechanism has those
        of its first round, a game the levels kappa. A hint for the residuals
    round_prices : (T, K, R) what proves the rounds of a lexicographic mechanism, each layer in a scale of its own
    values : what the mechanism equalises or maximises at x: "g" for shares, "objective" for programs
    residuals : {"feasibility", "definition"}, dimensionless, computed from the instance alone. "optimality" replaces "definition"
        if the optimality conditions of the mechanism's own model judge it, "stationarity" if that model is not proved convex
    user_error : a bound on the relative error of every user's tasks, where the right tasks are unique; inf where nothing bounds
        it by what the accuracy allows, None where tasks are not unique, nothing was judged or the residual alone judges them
    not_judged : one sentence on why nothing is known of its distance from the definition; "" where a residual says it
    times, iterations, trace, versions, message : what the method reported about its run
    threads : that linear algebra was allowed to use; None where no method ran to its end
    log : the lines that the method's solver printed, where they were asked for
    bundles : (N, K, R) resource handed out where that is more than the tasks use, else None
    x_exact : (A,) the same tasks as rationals, where the method computes in rationals, else None
    rule : the mechanism itself with its parameters, where `solve` was given one and not its id; it is in no document, and travels
        to other processes where it can be pickled

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> Allocation(wang, [10, 0, 0, 10]).tasks
    array([10., 10.])
    """

    instance: Instance
    x: Floats
    mechanism: str = ""
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    termination: str = "given"
    prices: Floats | None = None
    round_prices: Floats | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    residuals: Mapping[str, float] = field(default_factory=dict)
    user_error: float | None = None
    not_judged: str = ""
    times: Times = Times()
    iterations: int | None = None
    trace: tuple[Mapping[str, Any], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    threads: int | None = None
    message: str = ""
    log: tuple[str, ...] = ()
    bundles: Floats | None = None
    x_exact: tuple[Fraction, ...] | None = None
    rule: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        made = isinstance(self.instance, Instance)
        require(made, "the instance of the allocation is", self.instance, "it must be an Instance")
        arcs = self.instance.A
        x = floats(self.x, "x")
        require(x.shape == (arcs,), "x has shape", x.shape, f"the instance has {arcs} arcs")
        if not isinstance(self.termination, str) or self.termination not in TERMINATIONS:
            known = ", ".join(TERMINATIONS)
            raise InstanceError(f"there is no termination {shown(self.termination)}: the terminations are {known}")
        exact = self.x_exact is None or (isinstance(self.x_exact, tuple) and len(self.x_exact) == arcs)
        require(exact, "x_exact is", self.x_exact, f"it must be {arcs} rationals, one for each arc")
        for a, (value, tasks) in enumerate(zip(self.x_exact or (), x.tolist(), strict=False)):
            require(isinstance(value, Fraction | int), "an entry of x_exact is", value, "it must be a Fraction")
            check_rational(value, tasks, partial(self._place, a))
        object.__setattr__(self, "x", frozen(x))
        pools = self.instance.K, self.instance.R
        for name, shape in (("prices", pools), ("round_prices", (-1, *pools)), ("bundles", (self.instance.N, *pools))):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(_shaped(floats(value, name), name, shape)))
                if not np.isfinite(getattr(self, name)).all():
                    raise InstanceError(f"{name} holds a number that is not finite, but all must be")

    def _place(self, a: int) -> str:
        """The tasks of an arc, in words."""
        instance, arcs = self.instance, self.instance.arcs
        where = f"user {instance.users[arcs.user[a]]!r} tasks on server {instance.servers[arcs.server[a]]!r}"
        return where + f" as variant {arcs.variant[a]}" * bool(arcs.variant[a])

    def noted(self, **facts: Any) -> "Allocation":
        """The same point with other facts about it, such as residuals: nothing is checked or derived again."""
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__, **facts)
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "rule": _moved(self.rule, "dumps")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, rule=_moved(state["rule"], "loads"))

    @property
    def heading(self) -> str:
        """Its instance, its mechanism, and the method where one is known."""
        return f"{self.instance.name or 'instance'}: {self.mechanism or 'tasks'}{' by ' + self.method if self.method else ''}"

    def __repr__(self) -> str:
        what = self.heading
        if not self.has_point:
            return f"<allocation of {what}, {self.outcome}\n no tasks{': ' + self.message if self.message else ''}>"
        judged = f", residual {self.residual:.1e}" if self.residuals and not self.not_judged else ""
        some = [f"{u} {tasks:.6g}" for u, tasks in zip(self.instance.users[:6], self.shown_tasks, strict=False)]
        more = ", ..." if self.instance.N > 6 else ""
        return f"<allocation of {what}, {self.outcome}{judged}\n tasks: {', '.join(some)}{more}>"

    @checked
    def __getitem__(self, user: str) -> dict[str, float]:
        """{server: tasks} of the user of this name, on the servers that it may use."""
        n = place_of(user, self.instance.users, "user")
        return {self.instance.servers[i]: float(self.by_server[n, i]) for i in np.flatnonzero(self.instance.eligible[n])}

    def _repr_html_(self) -> str:
        """For notebooks: what the first line of the text says, and the table of tasks."""
        return self.grid(repr(self).split("\n")[0].removeprefix("<"))._repr_html_()

    @checked
    def grid(self, title: str = "", most: Count = 20) -> Grid:
        """The tasks of each user, also by server where there are 2 to 6: the first `most` users."""
        instance, tasks = self.instance, self.shown_tasks
        servers = instance.servers if 1 < instance.K <= 6 else ()
        by_server, rows = without_rounding(self.by_server, self._unit[:, None]) if servers else np.empty((0, 0)), []
        for n, user in enumerate(instance.users[:most]):
            spread = [f"{by_server[n, i]:.6g}" if instance.eligible[n, i] else "-" for i in range(len(servers))]
            rows.append([user, f"{tasks[n]:.6g}", *spread])
        columns = ["user", "tasks", *(f"on {s}" for s in servers)]
        more = instance.N - len(rows)
        return Grid(title, columns, rows, [f"... and {more} more rows"] if more else [], right=range(1, len(columns)))

    @checked
    def to_frame(self, what: str = "tasks") -> Any:
        """A DataFrame of pandas; NotInstalled where it is missing.

        `what` is "tasks", users x servers; "used", resource that each user takes on each server, (user, server) x resources; or
        "load", used parts of the capacities, servers x resources.
        """
        pd, users = pandas(), self.instance.users
        servers, resources = pd.Index(self.instance.servers, name="server"), pd.Index(self.instance.resources, name="resource")
        if what == "tasks":
            return pd.DataFrame(self.by_server, pd.Index(users, name="user"), servers)
        if what == "used":
            index = pd.MultiIndex.from_product([users, servers], names=["user", "server"])
            return pd.DataFrame(self.used.reshape(-1, len(resources)), index, resources)
        if what == "load":
            return pd.DataFrame(self.load, servers, resources)
        raise UnknownName(no_such("frame", what, ("tasks", "used", "load")))

    @checked
    def plot(self, kind: str = "allocation", ax: Any = None) -> Any:
        """A figure of this allocation on Matplotlib Axes, which are returned; None = new ones. NotInstalled without Matplotlib.

        `kind` is "allocation", "dominant_shares", "feasible_region" (with the allocation in it), "convergence", "rounds",
        "prices" or "eligibility", the function of that name in `plots`.
        """
        kinds = modules["fairalloc"].plots.OF_ALLOCATIONS  # imported on demand
        if kind not in kinds:
            raise UnknownName(no_such("kind of figure", kind, kinds, f"the kinds are {', '.join(kinds)}"))
        return kinds[kind](self, ax)

    @cached_property
    def has_point(self) -> bool:
        """Whether x is a point at all: every entry is a number."""
        return bool(np.all(np.isfinite(self.x)))

    @property
    def claims_success(self) -> bool:
        """Whether the method claims to have solved the problem; never where nothing is judged or the user error is not known."""
        return self.termination == "optimal" and self.has_point and not self.not_judged

    @property
    def outcome(self) -> str:
        """The termination in words, and whether what it says is judged."""
        if self.termination == "stationary":
            return "stationary point, not judged"
        return f"{self.termination}, not judged" if self.termination == "optimal" and self.not_judged else self.termination

    @property
    def residual(self) -> float:
        """The largest residual; inf where none was computed, one is no number, there is no point, or nothing was judged."""
        values = list(self.residuals.values()) if self.has_point and not self.not_judged else []
        return worst(values) if values else np.inf

    @cached_property
    def tasks(self) -> Floats:
        """(N,) tasks of each user, x_n = sum over its arcs (K 5, W 1); u_n in Z."""
        return frozen(self.instance.arcs.totals(self.x))

    @cached_property
    def shown_tasks(self) -> Floats:
        """(N,) the tasks for tables: 0 for what is rounding beside what the user could run, whatever the tasks of others."""
        return frozen(without_rounding(self.tasks, self._unit))

    @property
    def _unit(self) -> Floats:
        """(N,) what the best arc of each user could run alone, at most its max_tasks."""
        return np.minimum(self.instance.arcs.alone, self.instance.max_tasks)

    @cached_property
    def tasks_exact(self) -> tuple[Fraction, ...] | None:
        """(N,) the tasks as rationals, where x_exact is known."""
        return None if self.x_exact is None else exact_arcs(self.instance).tasks(self.x_exact)

    @cached_property
    def by_server(self) -> Floats:
        """(N, K) tasks of each user on each server, x[n, i]."""
        result = np.zeros((self.instance.N, self.instance.K))
        np.add.at(result, (self.instance.arcs.user, self.instance.arcs.server), self.x)
        return frozen(result)

    @cached_property
    def by_variant(self) -> tuple[Floats, ...]:
        """For each user (V_n,) tasks run in each way, the alpha_m of Z (1)."""
        arcs, vectors = self.instance.arcs, self.instance.vectors
        tasks = np.bincount(vectors.first[arcs.user] + arcs.variant, weights=self.x, minlength=int(vectors.first[-1]))
        return tuple(frozen(part) for part in np.split(tasks, vectors.first[1:-1]))

    @cached_property
    def used(self) -> Floats:
        """(N, K, R) resource the tasks of each user take on each server, A[i, l, r] of W 3.2."""
        arcs, result = self.instance.arcs, np.zeros((self.instance.N, self.instance.K, self.instance.R))
        np.add.at(result, (arcs.user, arcs.server), self.x[:, None] * arcs.demand)
        return frozen(result)

    @cached_property
    def load(self) -> Floats:
        """(K, R) used fraction of each capacity."""
        return frozen((self.instance.arcs.load @ self.x).reshape(self.instance.K, self.instance.R))

    @property
    def utilisation(self) -> Floats:
        """(R,) used fraction of each resource over all servers; 0 where there is none of it."""
        totals, used = self.instance.totals, (self.load * self.instance.pools).sum(axis=0)
        return frozen(np.divide(used, totals, out=np.zeros_like(used), where=totals > 0))


def _moved(rule: Any, how: str) -> Any:
    """The pickle of a mechanism by "dumps", or the mechanism by "loads"; None where there is none, or its author's code fails."""
    if rule is None:
        return None
    import cloudpickle

    try:
        return getattr(cloudpickle, how)(rule)
    except Exception:
        return None


def _shaped(value: Floats, what: str, shape: tuple[int, ...]) -> Floats:
    if len(value.shape) != len(shape) or [own for size, own in zip(shape, value.shape, strict=True) if 0 <= size != own]:
        sizes = " x ".join("any" if size < 0 else str(size) for size in shape)
        raise InstanceError(f"{what} has shape {value.shape}, but it must be {sizes}")
    return value
