r"""alphaPF-VDS: alpha-proportional fairness on virtual dominant shares (K 3, Problem 1, Definition 6).

Every server i, given what the others do, solves

    max   sum_n phi_n g_i(x_n / (phi_n gamma_ni))                  over x_ni >= 0, eligible n                  (K 12)
    s.t.  sum_n x_ni d_nr <= c_ir                                                                              (K 13-15)

with x_n = sum_j x_nj and g_i'(z) = (A_i / z)^alpha_i + B_i / z (K 22); A = 1, B = 0 is alpha-fairness. The parameter `utility`
is a g of one's own in its place (game/marginal.py), for all servers, some of them, or each user of one. An allocation is an
equilibrium if no server can do better alone. It exists (Rosen); for alpha = 1 it is the nb allocation, for alpha = infinity on
all servers ps-dsf. For alpha != 1 x_n need not be unique (docs/papers/errata.md, K Lemma 2); methods say which equilibrium they
take.

Limits (x_n <= M_n) and several variants: game/game.py (L), variants at alpha = inf: game/ps_dsf_variants.py. Residual:
game/residual.py. Models, for finite alpha: game/printed.py for A = 1, B = 0, no limits and one demand vector, else
game/merit.py, game/ncp.py, or nb.py (where g_i' is a multiple of 1 / z on every server), which `form` names. An edit gets the
model in levels, game/merit.py, form "bounded". Its rows "capacity" are load + slack = 1, so a reserve is a bound on `slack`.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import USUAL, Game
from fairalloc.formulations.game.marginal import Utility
from fairalloc.formulations.game.merit import merit_cvxpy, merit_pyomo, values_at
from fairalloc.formulations.game.ncp import ncp_pyomo
from fairalloc.formulations.game.printed import covers, printed_cvxpy, printed_functions, printed_ncp, printed_pyomo
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import mechanism as nash_bargaining
from fairalloc.models.errors import InstanceError, NotApplicable, place_of, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, finite, is_vector

NAMES = ("alpha", "A", "B", "utility")


class AlphaPfVds(Equilibrium):
    """The equilibrium of Problem 1."""

    id = "alpha-pf-vds"
    title = "alpha-fair on every server by virtual dominant shares; parameters alpha (default 2, inf allowed), A, B, utility"
    source = "K 3.2, Problem 1, (22)"

    own_objective = (
        "the objective of the model of 'alpha-pf-vds' measures how far a point is from an equilibrium and is no welfare, so it "
        "cannot be replaced: what each server maximises is the parameter utility=fa.Utility(marginal), with its g' (K Problem 1)"
    )
    _form = ""

    def __init__(self, alpha: Any = 2.0, A: Any = 1.0, B: Any = 0.0, utility: Any = None) -> None:
        self.alpha, self.A, self.B, self.utility = alpha, A, B, utility
        for name, usual in USUAL.items() if all(entry is not None for entry in _entries(utility)) else ():
            for entry in [one for one in _entries(getattr(self, name)) if one != usual][:1]:
                what = f"{name} is {shown(entry)}, which is for servers without a utility of one's own"
                raise InstanceError(f"{what}, but utility gives every server one")

    def configure(self, /, **parameters: Any) -> Mechanism:
        """`alpha` > 0 or "inf", `A`, `B` >= 0: a number, one for each server, or {server: number}.

        `utility`: a `Utility`, or one for each server, or {server: one}; for a server None, where alpha, A and B hold, or one for
        each user, or {user: one}. A server with a utility has no alpha, A and B but the default ones. What a document says of a
        utility stands for the one that the mechanism has.
        """
        self.refuse_others(parameters, NAMES)
        if "utility" in parameters and self.utility is not None and parameters["utility"] == _plain(self.utility):
            parameters["utility"] = self.utility
        if isinstance(parameters.get("utility"), str):
            told = "functions are in no document, so name the mechanism itself"
            raise NotApplicable(f"utility is {shown(parameters['utility'])}, but it must be fa.Utility(marginal): {told}")
        given = {name: getattr(self, name) for name in NAMES}
        return type(self)(**{**given, **parameters})._in_form(self._form)

    @property
    def parameters(self) -> dict[str, Any]:
        """alpha, A and B where they are not 1 and 0; with a utility what a document says of it, and alpha where it is not 2."""
        given = {name: getattr(self, name) for name in NAMES}
        usual = {"A": 1.0, "B": 0.0} if self.utility is None else USUAL
        told = {name: _plain(value) for name, value in given.items() if value is not None}
        return {name: value for name, value in told.items() if name not in usual or not np.all(given[name] == usual[name])}

    @property
    def functions(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Those of the utilities of one's own."""
        return tuple(function for one in self._utilities() for function in one.functions)

    def _utilities(self) -> list[Utility]:
        return [one for entry in _entries(self.utility) for one in _entries(entry) if isinstance(one, Utility)]

    @property
    def merges_users(self) -> bool:  # type: ignore[override]
        """Not where a server has one utility for each user."""
        return all(entry is None or isinstance(entry, Utility) for entry in _entries(self.utility))

    def write_game(self, instance: Instance) -> Game:
        return Game(instance, self.alpha, self.A, self.B, self.utility)

    def settled(self, instance: Instance) -> Mechanism:
        """What `solve` takes: the model in levels, and where the concave program of nb gives an equilibrium, that."""
        self.check_complete()
        return self._in_form("nb" if self.is_bargaining(self.domain(instance)) else "levels")

    @property
    def editable(self) -> Mechanism:
        """In levels, with capacities and limits as bounds."""
        return self._in_form("bounded")

    def _in_form(self, form: str) -> "AlphaPfVds":
        result = copy(self)
        result._form, result.convex = form, form == "nb"
        return result

    def is_bargaining(self, instance: Instance) -> bool:
        """Whether g_i' is a multiple of 1 / z on every server: the equilibrium is then the nb allocation (K Theorem 2)."""
        return bool(np.all(self.game(instance).logarithmic))

    def unwritten(self, instance: Instance, layer: str) -> str:
        """The merit problem is for finite alpha, and for utilities that can be applied to expressions."""
        for i in np.flatnonzero(~self.game(instance).finite)[:1]:
            return f"the merit problem is for finite alpha, but alpha is inf for server {instance.servers[i]!r}"
        return next(filter(None, (one.unwritten(layer) for one in self._utilities())), "")

    def write_cvxpy(self, instance: Instance, form: str = "") -> "cp.Problem":
        """K (37)-(40) where K has the game, else the merit in levels; `form` asks for "printed", "levels", "bounded" or "nb".

        In "bounded", the merit in levels, tasks keep capacities and limits also where nothing has the merit 0.
        """
        forms = {"printed": printed_cvxpy, "levels": merit_cvxpy, "bounded": partial(merit_cvxpy, bounded=True)}
        bargaining = {"nb": lambda game: nash_bargaining.write_cvxpy(game.instance)}
        return self._written(forms | bargaining, form, "cvxpy", instance)

    def write_pyomo(self, instance: Instance, form: str = "") -> "pyo.ConcreteModel":
        """The same; `form` is "printed", "levels", "bounded", "ncp-printed" (K 28-31), "ncp" (in levels) or "nb"."""
        forms = {"printed": printed_pyomo, "levels": merit_pyomo, "ncp-printed": printed_ncp, "ncp": ncp_pyomo}
        forms |= {"bounded": partial(merit_pyomo, bounded=True)}
        bargaining = {"nb": lambda game: nash_bargaining.write_pyomo(game.instance)}
        return self._written(forms | bargaining, form, "pyomo", instance)

    def written_by(self, layer: str) -> "tuple[Callable[..., Any], ...]":
        """What writes its model: nb, or K's own problem where alpha is the only parameter, or else the merit in levels."""
        if self._form == "nb":
            return nash_bargaining.written_by(layer)
        if self._form or self.parameters.keys() != {"alpha"}:
            return (merit_cvxpy,) if layer == "cvxpy" else (merit_pyomo,)
        return (printed_cvxpy,) if layer == "cvxpy" else (printed_functions, printed_ncp, printed_pyomo)

    def _written(self, forms: Mapping[str, Any], form: str, layer: str, instance: Instance) -> Any:
        if form and form not in forms:
            raise InstanceError(f"form is {form!r}, but it must be one of {', '.join(forms)}")
        if wrong := self.unwritten(instance, layer):
            raise NotApplicable(wrong)
        game = self.game(instance)
        chosen = form or self._form or ("printed" if covers(game) else "levels")
        for i in np.flatnonzero(~game.logarithmic)[:1] if chosen == "nb" else ():  # where its answer is no equilibrium
            what = "a utility of one's own" if game.own[i] else f"alpha = {game.alpha[i]:g}"
            server = f"server {game.instance.servers[i]!r}"
            raise NotApplicable(f"form 'nb' is for alpha = 1 or A = 0 on every server, but {server} has {what}")
        return forms[chosen](game)

    def first_values(self, instance: Instance, x: Floats, prices: Floats | None) -> Mapping[str, Floats]:
        """Of the models in levels, where the levels are known."""
        if prices is None or self._form not in ("levels", "bounded"):
            return {}
        return values_at(self.game(instance), x, prices)

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:
        """Kappa; from nb's duals p, mu = (A_i + B_i) p with A_i^alpha = A_i for alpha = 1, and 0 for A_i = 0."""
        if "kappa" in values or duals is None:
            return super().prices(instance, duals, values)
        game = self.game(instance)
        return (np.maximum(duals, 0.0) * (game.A + game.B)[:, None]) ** (1.0 / game.beta[:, None])


def best_response(
    instance: Instance, server: str, tasks_elsewhere: Floats, alpha: Any = 2.0, A: Any = 1.0, B: Any = 0.0
) -> "cp.Problem":
    """Problem 1 of one server, given the others (K 12-15): a concave program.

    For alpha > 1 it maximises an increasing function of (K 12),

        B = 0:   -log(sum_n phi_n z_n^(1 - alpha)) / (alpha - 1),      the logarithm of a power mean; well scaled
        B > 0:   (A^alpha exp(s - s0) / (1 - alpha) + B exp(-s0) sum_n phi_n log z_n) / largest coefficient,
                 exp(s) >= sum_n phi_n z_n^(1 - alpha),  s0 its logarithm when the server is divided equally

    Parameters
    ----------
    instance : the game's instance; `server` is one of its names
    tasks_elsewhere : (N,) tasks of each user on the other servers, >= 0
    alpha, A, B : of (K 22), as for the mechanism; alpha finite

    Returns
    -------
    Problem with the variable "x" (tasks of the users eligible there, in their order), the parameter "elsewhere" (their tasks on
    the other servers, to be changed and solved again) and the constraint "capacity" (R,), in shares of capacity. InstanceError
    for an unknown server or one that nobody may use, wrong tasks, alpha = inf
    """
    game = Game(instance, alpha, A, B)
    i, given = place_of(server, instance.servers, "server"), tasks_elsewhere
    here = np.flatnonzero(game.server == i)
    elsewhere = np.array([finite(v, "an entry of tasks_elsewhere") for v in given] if is_vector(given) else np.nan)
    if elsewhere.shape != (instance.N,) or not np.all(np.isfinite(elsewhere) & (elsewhere >= 0)):
        rule = f"it must be one finite number >= 0 for each of the {instance.N} users"
        raise InstanceError(f"tasks_elsewhere is {given!r}, but {rule}")
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


def _entries(value: Any) -> list[Any]:
    """The entries of a parameter: one, one for each name, or {name: entry}."""
    return list(value.values()) if isinstance(value, Mapping) else list(value) if is_vector(value) else [value]


def _plain(value: Any) -> Any:
    """The parameter as JSON knows it: floats, lists, and "inf"; of a utility what stands in a document."""
    if value is None or isinstance(value, Utility):
        return value if value is None else str(value)
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if is_vector(value):
        return [_plain(entry) for entry in value]
    return "inf" if value in ("inf", np.inf) else float(value)


mechanism = AlphaPfVds()
