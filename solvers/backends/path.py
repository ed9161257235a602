r"""The solver PATH (Dirkse and Ferris 1995): `pyomo:path`, where its executable `pathampl` is on the machine, and `gamspy:path`.

GAMSPy's wheels (extra `path`) hold PATH, GAMS and a demonstration licence, which allows LARGEST variables; whoever installs the
extra accepts it.

The conditions of `gamspy:path` are those of formulations/game/ncp.py in levels (K 28-31), with kappa_ir = exp(s_i) k_ir, where
exp(s_i) is the level of server i at the starting point, so that all variables are of order one:

    tasks_n     u_n - sum_a owner_na x_a = 0            complements  u_n, free
    slack_ir    1 - sum_a load_ira x_a >= 0             complements  k_ir >= 0                                      (K 28, 30)
    excess_a    F_a >= 0                                complements  x_a >= 0                                       (K 29, 31)
    left_n      1 - u_n / M_n >= 0                      complements  sigma_n >= 0, for users with limits

    log z_a  =  log u_n - log(phi_n gamma_a)
    log g_a  =  constant_a - slope_a log z_a + log(mixed_a exp(shift_a + power_a log z_a) + rest_a)                     (K 22)
    F_a      =  (log(sum_r w_ar k_ir^beta_i + sigma_n exp(log g_a - beta_i s_i)) - log g_a) / beta_i + s_i

The indices are a for arcs, n for users, and q for the pairs (i, r) that somebody uses.
"""

import shutil
from io import StringIO
from typing import Any

import numpy as np

from fairalloc.formulations.common.modelling import pyo
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.merit import TINY, MarginalTerms, StartingPoint
from fairalloc.formulations.game.ncp import ncp_pyomo
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.pyomo import PyomoSession
from fairalloc.solvers.game.session import finite_alpha
from fairalloc.solvers.method import Method, Session
from fairalloc.solvers.options import TERMINATION, solver_options

EXECUTABLE = "pathampl"


class PathSession(PyomoSession):
    """The conditions in levels; capacities and limits are conditions already."""

    def write(self, round: Round | None) -> "pyo.ConcreteModel":  # noqa: A002, ARG002
        assert isinstance(self.mechanism, Equilibrium)
        model = ncp_pyomo(self.mechanism.game(self.instance))
        model.capacity.deactivate()
        model.limit.deactivate()
        return model

    def optimise(self) -> str:
        """Pyomo writes, PATH solves; it hands over no duals."""
        from pyomo.environ import SolverFactory

        solver = SolverFactory("path")
        limit = {"timelimit": self.limits.left} if self.limits.limited else {}
        with self.phase("solve"):
            results = solver.solve(self.model, **limit)
        return TERMINATION.get(str(results.solver.termination_condition), "error")


class PathMethod(Method):
    """PATH through Pyomo."""

    id = "pyomo:path"
    kind = "complementarity"
    kinds, but = (Equilibrium,), (PsDsf,)
    packages = ("pyomo",)
    session: type[Session] = PathSession

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return finite_alpha(self.id, mechanism, instance)

    def missing(self) -> str:
        if shutil.which(EXECUTABLE):
            return super().missing()
        where = "on the search path, see pages.cs.wisc.edu/~ferris/path"
        return f"{self.id} needs the solver PATH: put its executable {EXECUTABLE} {where}"


LARGEST = 1000
"""Variables that the demonstration licence allows."""

LEAST = 1e-9
"""The lower bound of u_n, relative to its start: its logarithm is taken."""


def data(game: Game, start: StartingPoint) -> tuple[dict[str, int], dict[str, tuple[str, Floats]]]:
    """The sizes of the sets a, n, q, and the parameters of the conditions, each with its indices and values."""
    R, server, marginal = game.instance.R, game.server, MarginalTerms(game)
    used = _used(game)
    mixed, shift, power = np.zeros((3, len(server)))
    rest = np.ones(len(server))
    at = marginal.mixed
    mixed[at], shift[at], power[at], rest[at] = 1.0, marginal.shift, marginal.power, marginal.B
    here = server[:, None] == used // R
    values = {
        "owner": ("na", game.instance.arcs.owner.toarray()),
        "load": ("qa", game.instance.arcs.load.tocsr()[used].toarray()),
        "w": ("aq", np.where(here, game.w[:, used % R], 0.0)),
        "limit": ("n", np.where(np.isfinite(game.limits), game.limits, 0.0)),
        "log_unit": ("a", np.log(game.unit)),
        "beta": ("a", game.beta[server]),
        "s": ("a", start.log_kappa[server, 0]),
        "constant": ("a", marginal.constant),
        "slope": ("a", marginal.slope),
        "mixed": ("a", mixed),
        "shift": ("a", shift),
        "power": ("a", power),
        "rest": ("a", rest),
        "x_start": ("a", start.x),
        "u_start": ("n", start.u),
    }
    return {"a": len(server), "n": game.instance.N, "q": len(used)}, values


def _used(game: Game) -> Any:
    """The pairs (i, r) that somebody uses, as indices into (K R,)."""
    return np.flatnonzero(np.diff(game.instance.arcs.load.tocsr().indptr))


class Conditions:
    """The conditions of a game as a model of GAMSPy of the type MCP, with its variables x, u, k and sigma."""

    def __init__(self, game: Game, start: StartingPoint) -> None:
        import gamspy as gp

        self.home = gp.Container()
        sizes, self._values = data(game, start)
        self._sets = {name: gp.Set(self.home, name, records=[f"{name}{k}" for k in range(size)]) for name, size in sizes.items()}
        self._parameters = {
            name: gp.Parameter(self.home, name, domain=[self._sets[index] for index in over], records=numbers)
            for name, (over, numbers) in self._values.items()
        }
        a, n, q = self._sets.values()
        first = self._parameters
        self.x, self.k, self.sigma = (
            gp.Variable(self.home, name, "positive", domain=over) for name, over in (("x", a), ("k", q), ("sigma", n))
        )
        self.u = gp.Variable(self.home, "u", "free", domain=n)
        self.x.l[a], self.u.l[n], self.k.l[q], self.sigma.l[n] = first["x_start"][a], first["u_start"][n], 1, 0.3
        self.u.lo[n] = LEAST * first["u_start"][n]
        self.model = gp.Model(self.home, "game", problem="MCP", matches=self._matches())

    @property
    def limited(self) -> bool:
        """Whether some user has a limit."""
        return bool(self._values["limit"][1].any())

    def _matches(self) -> dict[Any, Any]:
        import gamspy as gp

        a, n, q = self._sets.values()
        owner, load, limit = (self._parameters[name] for name in ("owner", "load", "limit"))
        tasks, slack, excess, left = (
            gp.Equation(self.home, name, domain=over) for name, over in (("tasks", n), ("slack", q), ("excess", a), ("left", n))
        )
        zero = gp.Number(0)
        tasks[n] = self.u[n] - gp.Sum(a.where[owner[n, a]], self.x[a]) == zero
        slack[q] = 1 - gp.Sum(a.where[load[q, a]], load[q, a] * self.x[a]) >= zero
        excess[a] = self._excess() >= zero
        matches = {tasks: self.u, slack: self.k, excess: self.x}
        if self.limited:
            left[n].where[limit[n]] = 1 - self.u[n] / limit[n] >= zero
            self.sigma.fx[n].where[limit[n] == 0] = 0
            matches[left] = self.sigma
        return matches

    def _excess(self) -> Any:
        import gamspy as gp

        a, n, q = self._sets.values()
        owner, w = self._parameters["owner"], self._parameters["w"]
        log_unit, beta, s, constant, slope, mixed, shift, power, rest = (
            self._parameters[name][a]
            for name in ("log_unit", "beta", "s", "constant", "slope", "mixed", "shift", "power", "rest")
        )
        log_z = gp.Sum(n.where[owner[n, a]], gp.math.log(self.u[n])) - log_unit
        log_g = constant - slope * log_z
        if self._values["mixed"][1].any():
            log_g = log_g + gp.math.log(mixed * gp.math.exp(shift + power * log_z) + rest)
        price = gp.Sum(q.where[w[a, q]], w[a, q] * gp.math.rpower(self.k[q], beta)) + TINY
        if self.limited:
            price = price + gp.Sum(n.where[owner[n, a]], self.sigma[n]) * gp.math.exp(log_g - beta * s)
        return (gp.math.log(price) - log_g) / beta + s


class GamspySession(Session):
    """The conditions of one game."""

    def __post_init__(self) -> None:
        assert isinstance(self.mechanism, Equilibrium)
        with self.phase("build"):
            self.game = self.mechanism.game(self.instance)
            self.start = StartingPoint(self.game)
            self.conditions = Conditions(self.game, self.start)

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002, ARG002
        """GAMSPy writes, PATH solves; the prices are the levels kappa (K, R)."""
        import gamspy as gp

        used, kappa = _used(self.game), np.zeros((self.instance.K, self.instance.R))
        model, said = self.conditions.model, StringIO()
        options = gp.Options(time_limit=self.limits.left) if self.limits.limited else gp.Options()
        asked = {**solver_options("PATH", self.limits.accuracy), **self.limits.solver_options}
        try:
            with self.phase("solve"):
                self.asked("PATH", lambda: model.solve("path", options=options, solver_options=asked, output=said))
            with self.phase("read"):
                kappa.flat[used] = self.conditions.k.toDense() * np.exp(self.start.log_kappa.flat[used])
                self.x, self.last_prices = self.conditions.x.toDense(), kappa
        finally:
            self.conditions.home.close()
        self.count(model.num_iterations)
        if self.limits.log:
            self.log.extend(said.getvalue().splitlines())
        ended = TERMINATION.get(model.solve_status.name, "error")
        self.conclude(ended if ended != "optimal" or model.status.value in SOLVED else "inaccurate")
        return self.x, self.last_prices


SOLVED = (1, 2)
"""GAMS' model statuses of a solution."""


class GamspyPath(PathMethod):
    """PATH through GAMSPy."""

    id = "gamspy:path"
    packages = ("gamspy",)
    install = "pip install fairalloc[path], and its licence is yours to accept"
    solver = "PATH"
    session = GamspySession
    missing = Method.missing

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        if why := super().applies(mechanism, instance):
            return why
        assert isinstance(mechanism, Equilibrium)
        domain = mechanism.domain(instance)
        for i in np.flatnonzero(mechanism.game(domain).own)[:1]:
            return f"{self.id} takes g' of (K 22), but server {instance.servers[i]!r} has a utility of one's own"
        users = domain.N * (2 if np.isfinite(domain.max_tasks).any() else 1)
        size = domain.A + users + domain.K * domain.R
        if size > LARGEST:
            return f"{self.id} has at most {LARGEST} variables by its demonstration licence, but here are {size}"
        return ""


methods = (GamspyPath(), PathMethod())
