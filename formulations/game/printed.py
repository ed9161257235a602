r"""The equilibrium as K prints it: the complementarity conditions (28)-(31) and the merit problem (37)-(40).

    0 <= lambda_ir  complements  f_ir(x) = c_ir - sum_n x_ni d_nr >= 0                                          (K 28, 30)
    0 <= x_ni       complements  f_ni(x, lambda) = sum_r lambda_ir d_nr - g_i'(x_n / (phi_n gamma_ni)) / gamma_ni >= 0  (K 29, 31)

    min  Psi = sum_ni psi(x_ni, f_ni),    psi(a, b) = (sqrt(a^2 + b^2) - a - b)^2 / 2                            (K 35-37)
    s.t. f_ir >= 0,    lambda_ir >= 0,    lambda_ir f_ir = 0                                                     (K 38-40)

with g_i'(z) = z^-alpha_i (K 22 for A = 1, B = 0). Of the points with (38)-(40) exactly the equilibria have Psi = 0. The models
deviate in three points: x_n is a variable `u`, which keeps the Hessian sparse, (K 38) is divided by c_ir, and (K 40) is
lambda_ir f_ir <= `relaxation` (1e-8), for no point is interior where it is 0. With `form="printed"` g_i' is that of
other A and B, or of a utility of one's own.

f_ni has the scale of z^-alpha, so this is fit for small alpha; merit.py and ncp.py are the same in levels, scaled.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, pyomo_arcs, server_resources
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.merit import StartingPoint, log_marginal_cvxpy, log_marginal_pyomo
from fairalloc.models.errors import NotApplicable
from fairalloc.models.numbers import Floats

RELAXATION = 1e-8


def printed_cvxpy(game: Game) -> "cp.Problem":
    """Variables "x", "u", "lam" (K, R), parameter "relaxation"; constraints "capacity", "tasks", "saturated"."""
    instance, arcs, n, i = unlimited(game).instance, game.instance.arcs, game.user, game.server
    gamma, phi, alpha, c = game.gamma, instance.weights, game.alpha, instance.pools.ravel()
    d = sp.diags_array(c) @ arcs.load  # (i r) x (n i): what a task takes of the resource

    x = cp.Variable(len(arcs), name="x")
    x_n = cp.Variable(instance.N, pos=True, name="u")
    lam = cp.Variable((instance.K, instance.R), nonneg=True, name="lam")  # (39)
    relaxation = cp.Parameter(nonneg=True, value=RELAXATION, name="relaxation")

    z = cp.multiply(1 / (phi[n] * gamma), x_n[n])
    g = cp.exp(-cp.multiply(alpha[i], cp.log(z))) if is_alpha_fair(game) else cp.exp(log_marginal_cvxpy(game, x_n))
    f_r = c - d @ x  # (30)
    f_n = d.T @ cp.vec(lam, order="C") - cp.multiply(1 / gamma, g)  # (31)
    psi = cp.square(cp.power(cp.square(x) + cp.square(f_n), 0.5) - x - f_n) / 2  # (35), (36)

    capacity = (arcs.load @ x <= 1).set_label("capacity")  # (38)
    tasks = (arcs.owner @ x - x_n == 0).set_label("tasks")
    saturated = (cp.multiply(cp.vec(lam, order="C"), f_r) <= relaxation).set_label("saturated")  # (40)
    start = StartingPoint(game)
    x.value, x_n.value, lam.value = start.x, start.u, first_prices(game, start)
    return cp.Problem(cp.Minimize(cp.sum(psi)), [capacity, tasks, saturated])  # (37)


def printed_ncp(game: Game) -> "pyo.ConcreteModel":
    """Variables `x`, `u`, `lam`; complementarity conditions `prices` (28) and `users` (29), constraints `capacity`, `tasks`."""
    from pyomo.mpec import Complementarity, complements

    model, f_r, f_n = printed_functions(game)
    model.prices = Complementarity(list(f_r), rule=lambda m, *ir: complements(m.lam[ir] >= 0, f_r[ir] >= 0))  # (28)
    model.users = Complementarity(list(f_n), rule=lambda m, *ni: complements(m.x[ni] >= 0, f_n[ni] >= 0))  # (29)
    model.objective = pyo.Objective(expr=0.0)
    return model


def printed_pyomo(game: Game) -> "pyo.ConcreteModel":
    """Variables `x`, `u`, `lam`, parameter `relaxation`; constraints `capacity`, `tasks`, `saturated`."""
    model, f_r, f_n = printed_functions(game)
    for variable in model.x.values():
        variable.domain = pyo.Reals
    psi = {ni: ((x**2 + f_n[ni] ** 2) ** 0.5 - x - f_n[ni]) ** 2 / 2 for ni, x in model.x.items()}  # (35), (36)
    model.relaxation = pyo.Param(initialize=RELAXATION, mutable=True)
    model.saturated = pyo.Constraint(list(f_r), rule=lambda m, *ir: m.lam[ir] * f_r[ir] <= m.relaxation)  # (40)
    model.objective = pyo.Objective(expr=sum(psi.values()))  # (37)
    return model


def printed_functions(game: Game) -> "tuple[pyo.ConcreteModel, dict[Any, Any], dict[Any, Any]]":
    """A model with `x`, `u`, `lam`, `capacity` (38), `tasks`, and the f_ir (30) and f_ni (31), by names."""
    instance, start = unlimited(game).instance, StartingPoint(game)
    model, load, tasks = pyomo_arcs(instance)
    rows = server_resources(instance)
    c, first = (dict(zip(rows, v.ravel().tolist(), strict=True)) for v in (instance.pools, first_prices(game, start)))
    gamma, alpha = (dict(zip(model.x, v.tolist(), strict=True)) for v in (game.gamma, game.alpha[game.server]))
    phi, u = by_user(instance, instance.weights), by_user(instance, start.u)
    demand = dict(zip(model.x, instance.arcs.demand.tolist(), strict=True))
    d = {ni: {r: d_nr for r, d_nr in zip(instance.resources, one, strict=True) if d_nr > 0} for ni, one in demand.items()}

    model.u = pyo.Var(instance.users, domain=pyo.PositiveReals, initialize=u)  # x_n
    model.lam = pyo.Var(rows, domain=pyo.NonNegativeReals, initialize=first)
    for ir in set(rows) - set(load):
        model.lam[ir].fix(0.0)  # (28): nobody uses it
    model.capacity = pyo.Constraint(list(load), rule=lambda _, *ir: load[ir] <= 1)
    model.tasks = pyo.Constraint(instance.users, rule=lambda m, n: tasks[n] - m.u[n] == 0)

    if is_alpha_fair(game):
        g = {(n, v, i): (model.u[n] / (phi[n] * gamma[n, v, i])) ** -alpha[n, v, i] for n, v, i in model.x}
    else:
        g = {ni: pyo.exp(log_g) for ni, log_g in zip(model.x, log_marginal_pyomo(game, model), strict=True)}
    f_r = {ir: c[ir] * (1 - load[ir]) for ir in load}  # (30)
    f_n = {ni: sum(model.lam[ni[2], r] * d[ni][r] for r in d[ni]) - g[ni] / gamma[ni] for ni in model.x}  # (31)
    return model, f_r, f_n


def covers(game: Game) -> bool:
    """Whether K has this game: alpha finite, A = 1, B = 0, no limits, one demand vector for each user."""
    return bool(game.instance.single_variant and not np.isfinite(game.limits).any() and game.finite.all() and is_alpha_fair(game))


def is_alpha_fair(game: Game) -> bool:
    """Whether g_i' = z^-alpha_i on every server."""
    return bool(np.all(game.A == 1) and np.all(game.B == 0) and not game.own.any())


def unlimited(game: Game) -> Game:
    """The game itself, of finite alpha; NotApplicable where a user has a limit."""
    for n in np.flatnonzero(np.isfinite(game.limits))[:1]:
        user, limit = game.instance.users[n], game.limits[n]
        raise NotApplicable(f"the models as printed have no limits, but user {user!r} has max_tasks {limit:g}")
    return game


def first_prices(game: Game, start: StartingPoint) -> Floats:
    """(K, R) lambda at the start."""
    with np.errstate(divide="ignore"):
        result: Floats = np.exp(game.beta[:, None] * start.log_kappa) / game.instance.pools
    return np.where(np.isfinite(result), result, 0.0)
