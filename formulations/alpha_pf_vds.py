r"""alphaPF-VDS: alpha-proportional fairness on virtual dominant shares (K 3, Problem 1, Definition 6).

Every server i, given what the others do, solves

    max   sum_n phi_n g_i(x_n / (phi_n gamma_ni))                  over x_ni >= 0, eligible n                  (K 12)
    s.t.  sum_n x_ni d_nr <= c_ir                                                                              (K 13-15)

with x_n = sum_j x_nj and g_i'(z) = (A_i / z)^alpha_i + B_i / z (K 22); A = 1, B = 0 is alpha-fairness. An allocation is an
equilibrium if no server can do better alone. It exists (Rosen); for alpha = 1 it is the nb allocation, for alpha = infinity on
all servers ps-dsf. For alpha != 1 x_n need not be unique (docs/ERRATA.md, K Lemma 2); methods say which equilibrium they take.

With finite tasks (x_n <= M_n) and several variants of a user: game/game.py (L), where servers take min(x_n, M_n) for x_n. For
alpha = 1 the nb allocation is then one of the equilibria, the Pareto optimal one. Variants at alpha = inf: game/max_min.py.

Residual: game.py. Models: the merit problem (merit.py), for finite alpha; where g_i' is a multiple of 1 / z on every server
(alpha = 1 or A = 0) the concave program nb.py. `form` chooses others:
"printed" (game/merit.py) and, in Pyomo, "ncp" and "ncp-printed" (game/ncp.py).

`best_response` is Problem 1 of one server alone, a concave program. It maximises for alpha > 1 an increasing function of (K 12),

    B = 0:   -log(sum_n phi_n z_n^(1 - alpha)) / (alpha - 1),      the power mean; well scaled for every alpha
    B > 0:   (A^alpha exp(s - s0) / (1 - alpha) + B exp(-s0) sum_n phi_n log z_n) / largest coefficient,
             exp(s) >= sum_n phi_n z_n^(1 - alpha),  s0 its logarithm when the server is divided equally
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.merit import merit_cvxpy, merit_pyomo, printed_cvxpy, printed_pyomo
from fairalloc.formulations.game.ncp import ncp_pyomo
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import mechanism as nash_bargaining
from fairalloc.models.errors import InstanceError, NotApplicable, UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, finite, is_vector

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["AlphaPfVds", "best_response", "mechanism"]

NAMES = ("alpha", "A", "B")


class AlphaPfVds(Equilibrium):
    """The equilibrium of Problem 1."""

    id = "alpha-pf-vds"
    title = "alpha-fair on every server by virtual dominant shares; parameters alpha (default 2, inf allowed), A, B"
    source = "K 3.2, Problem 1, (22)"

    def __init__(self, alpha: Any = 2.0, A: Any = 1.0, B: Any = 0.0) -> None:
        self.alpha, self.A, self.B = alpha, A, B

    def configure(self, /, **parameters: Any) -> Mechanism:
        """`alpha` > 0 or "inf", `A`, `B` >= 0: a number, one for each server, or {server: number}."""
        for name in parameters:
            if name not in NAMES:
                raise NotApplicable(f"mechanism {self.id!r} has no parameter {name!r}: it has {', '.join(NAMES)}")
        return AlphaPfVds(**{**{name: getattr(self, name) for name in NAMES}, **parameters})

    @property
    def parameters(self) -> dict[str, Any]:
        """alpha, and A and B where they are not 1 and 0."""
        given = {"alpha": self.alpha, "A": self.A, "B": self.B}
        usual = {"A": 1.0, "B": 0.0}
        return {name: _plain(value) for name, value in given.items() if name == "alpha" or not np.all(value == usual[name])}

    def write_game(self, instance: Instance) -> Game:
        """The game of Problem 1."""
        return Game(instance, self.alpha, self.A, self.B)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether the parameters make it the concave program of nb on every server."""
        return _all(self.alpha, 1) or _all(self.A, 0)

    def is_bargaining(self, instance: Instance) -> bool:
        """Whether g_i' is a multiple of 1 / z on every server: the equilibrium is then the nb allocation (K Theorem 2)."""
        game = self.game(instance)
        return bool(np.all((game.alpha == 1) | (game.A == 0)))

    def unwritten(self, instance: Instance) -> str:
        """The merit problem is for finite alpha."""
        infinite = [server for server, alpha in zip(instance.servers, self.game(instance).alpha, strict=True) if np.isinf(alpha)]
        return f"the merit problem is for finite alpha, but alpha is inf for server {infinite[0]!r}" if infinite else ""

    def write_cvxpy(self, instance: Instance, form: str = "") -> "cp.Problem":
        """The concave program of nb where it is one, else the merit problem; `form` asks for "merit" or "printed"."""
        forms = {"merit": merit_cvxpy, "printed": printed_cvxpy}
        if not form and self.is_bargaining(instance):
            return nash_bargaining.write_cvxpy(instance)
        return _chosen(forms, form or "merit")(self.game(instance))

    def write_pyomo(self, instance: Instance, form: str = "") -> "pyo.ConcreteModel":
        """The same; `form` is "merit", "printed", "ncp" or "ncp-printed"."""
        forms = {
            "merit": merit_pyomo,
            "printed": printed_pyomo,
            "ncp": ncp_pyomo,
            "ncp-printed": lambda game: ncp_pyomo(game, levels=False),
        }
        if not form and self.is_bargaining(instance):
            return nash_bargaining.write_pyomo(instance)
        return _chosen(forms, form or "merit")(self.game(instance))

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:
        """kappa; from nb's duals p, mu = (A_i + B_i) p with A_i^alpha = A_i for alpha = 1, and 0 for A_i = 0.

        Parameters and return value are those of `Mechanism.prices`.
        """
        if "kappa" in values or duals is None:
            return super().prices(instance, duals, values)
        game = self.game(instance)
        result: Floats = (np.maximum(duals, 0.0) * (game.A + game.B)[:, None]) ** (1.0 / game.beta[:, None])
        return result


def best_response(
    instance: Instance, server: str, tasks_elsewhere: Floats, alpha: Any = 2.0, A: Any = 1.0, B: Any = 0.0
) -> "cp.Problem":
    """Problem 1 of one server, given the others (K 12-15): a concave program.

    Parameters
    ----------
    instance : the game's instance; `server` is one of its names
    tasks_elsewhere : (N,) tasks of each user on the other servers, >= 0
    alpha, A, B : of (K 22), as for the mechanism; alpha finite

    Returns
    -------
    Problem with the variable "x" (tasks of the users eligible there, in their order), the parameter "elsewhere" (their tasks on
    the other servers, to be changed and solved again) and the constraint "capacity" (R,), in shares of capacity

    Raises
    ------
    InstanceError : an unknown server or one that nobody may use, wrong tasks, alpha = inf
    """
    import cvxpy as cp

    game, i = Game(instance, alpha, A, B), _place(instance, server)
    here, elsewhere = np.flatnonzero(game.server == i), _elsewhere(instance, tasks_elsewhere)
    if not len(here):
        raise NotApplicable(f"nobody may use server {server!r}")
    if np.any(np.isfinite(instance.max_tasks)) or not instance.single_variant:
        raise NotApplicable("a best response as a program is written for users without limits and with one demand vector")
    if not game.finite[i]:
        raise NotApplicable(f"a best response by maximization is for finite alpha, but alpha is inf for server {server!r}")
    x = cp.Variable(len(here), nonneg=True, name="x")
    x.value = game.gamma[here] / len(here)
    others = cp.Parameter(len(here), nonneg=True, name="elsewhere", value=elsewhere[game.user[here]])
    z = cp.multiply(1.0 / game.unit[here], x + others)
    equal = (x.value + others.value) / game.unit[here]
    phi = instance.weights[game.user[here]]
    objective = _utility(phi, z, equal, float(game.alpha[i]), float(game.A[i]), float(game.B[i]))
    load = (game.w[here] / game.gamma[here, None]).T
    return cp.Problem(cp.Maximize(objective), [(load @ x <= 1).set_label("capacity")])


def _utility(phi: Floats, z: Any, equal: Floats, alpha: float, A: float, B: float) -> Any:
    """An increasing function of sum_n phi_n g(z_n) in CVXPY; `equal` are the z of an equal partition."""
    import cvxpy as cp

    if alpha == 1 or A == 0:
        return phi @ cp.log(z)
    if alpha < 1:
        return phi @ (A**alpha * cp.power(z, 1 - alpha) / (1 - alpha) + B * cp.log(z))
    total = cp.log_sum_exp(np.log(phi) + (1 - alpha) * cp.log(z))
    if B == 0:
        return -total / (alpha - 1)
    s0 = float(np.logaddexp.reduce(np.log(phi) + (1 - alpha) * np.log(equal)))
    powers, logs = alpha * np.log(A) - np.log(alpha - 1), np.log(B) - s0  # logarithms of the coefficients
    top = max(powers, logs)
    return np.exp(logs - top) * (phi @ cp.log(z)) - np.exp(powers - top) * cp.exp(total - s0)


def _place(instance: Instance, server: str) -> int:
    if server not in instance.servers:
        raise UnknownName(no_such("server", server, instance.servers))
    return instance.servers.index(server)


def _elsewhere(instance: Instance, tasks: Any) -> Floats:
    result = np.array([finite(v, "an entry of tasks_elsewhere") for v in tasks] if is_vector(tasks) else np.nan)
    if result.shape != (instance.N,) or not np.all(np.isfinite(result) & (result >= 0)):
        raise InstanceError(
            f"tasks_elsewhere is {tasks!r}, but it must be " + f"one finite number >= 0 for each of the {instance.N} users"
        )
    return result


def _chosen(forms: Mapping[str, Any], form: str) -> Any:
    if form not in forms:
        raise InstanceError(f"form is {form!r}, but it must be one of {', '.join(forms)}")
    return forms[form]


def _all(value: Any, number: float) -> bool:
    """Whether a parameter is this number on every server."""
    entries = list(value.values()) if isinstance(value, Mapping) else np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    return all(entry == number for entry in entries)


def _plain(value: Any) -> Any:
    """The parameter as JSON knows it: floats, lists, and "inf"."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if is_vector(value):
        return [_plain(entry) for entry in value]
    return "inf" if value in ("inf", np.inf) else float(value)


mechanism = AlphaPfVds()
