r"""The equilibrium as the minimum of a merit function, in levels: well scaled for every alpha; printed.py has K's own.

With the Fischer-Burmeister function psi_FB(a, b) = sqrt(a^2 + b^2) - a - b (K 35), zero iff a, b >= 0 and a b = 0, both
conditions of game.py are in the merit:

    min   SCALE (sum_ni psi_FB(x_ni / gamma_ni, E_ni)^2 / 2  +  sum_ir psi_FB(kappa_ir / k_i, slack_ir)^2 / 2)
    s.t.  load_ir + slack_ir = 1,     u_n = sum_i x_ni,     kappa_ir = exp(level_ir)

    E_ni = (log sum_r w_nir exp(beta_i level_ir)  -  log g_i'(u_n / (phi_n gamma_ni))) / beta_i                 (game.py *)

A user with a limit M_n has the multiplier sigma_n, the part of g_i' that its limit pays for on every server:

    F_ni = (log(sum_r w_nir exp(beta_i level_ir) + sigma_n g_i')  -  log g_i') / beta_i    in the place of E_ni, and in the merit
    SCALE sum_n psi_FB(sigma_n, 1 - u_n / M_n)^2 / 2

u and slack keep the Hessian sparse; k_i is the level of server i at an equal partition, where the variables start. x and slack
have no sign constraints: psi_FB = 0 implies their signs. `TINY` keeps the logarithm finite where all prices underflow, which
happens for alpha above about 50. A stationary point need not be an equilibrium.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_limit, pyomo_arcs, server_resources
from fairalloc.formulations.game.game import Game
from fairalloc.models.numbers import Floats

SCALE = 1e2
"""The factor of the smooth merit: solvers stop at absolute tolerances, so it decides how small the merit gets."""

TINY = 1e-250

SMALL = 1e-5
"""The part of a start that prices and tasks of 0 become: with 1e-8 Ipopt ended elsewhere in 7 of 16 solves."""


class StartingPoint:
    """Where every nonlinear model starts: tasks x (A,), u (N,), levels log_kappa (K, R), slack (K, R).

    It is the equal partition, with the tasks of users above 0.7 of their limits scaled down to that. A user with variants has its
    part for each of them, so slack may be below 0.
    """

    def __init__(self, game: Game) -> None:
        instance = game.instance
        x = instance.arcs.gamma / instance.N
        self.x = x * np.minimum(1.0, 0.7 * game.limits / game.tasks(x))[game.user]
        self.u = game.tasks(self.x)
        self.slack = 1.0 - game.load(game.fractions(self.x))
        wanted = game.log_marginal(game.shares(self.u)) / game.beta[game.server]
        users = np.maximum(np.bincount(game.server, minlength=instance.K), 1)
        mean = np.bincount(game.server, wanted, instance.K) / users
        self.log_kappa = np.repeat(mean[:, None], instance.R, axis=1)


def values_at(game: Game, x: Floats, kappa: Floats) -> dict[str, Floats]:
    """Values of the variables at tasks x (A,) and levels kappa (K, R): an answer of the game has the merit 0 there.

    Levels and tasks of 0 have no logarithm and become a small part (`SMALL`) of those of `StartingPoint`.
    """
    start, instance = StartingPoint(game), game.instance
    kappa = np.maximum(kappa, SMALL * np.exp(start.log_kappa))
    u = np.maximum(game.tasks(x), SMALL * start.u)
    paid = np.full(instance.N, np.inf)
    np.minimum.at(paid, game.user, game.beta[game.server] * game.excess(u, kappa))
    sigma = np.maximum(-np.expm1(paid), 0.0)[np.isfinite(game.limits)]
    slack = np.maximum(1.0 - game.load(game.fractions(x)), 0.0)
    return {"x": x, "u": u, "kappa": kappa, "level": np.log(kappa), "slack": slack, "sigma": sigma}


class MarginalTerms:
    """log g_i'(z) = constant - slope log z + [mixed] log(exp(shift + (1 - alpha) log z) + B), on the arcs (K 22).

    mixed : the arcs (as indices) whose server has A > 0 and B > 0; on the others g_i' is one power of z
    own : utilities of one's own with their arcs, where constant and slope are 0 and log g' is added
    """

    def __init__(self, game: Game) -> None:
        alpha, A, B = (values[game.server] for values in (game.alpha, game.A, game.B))
        both, own = (A > 0) & (B > 0), game.own[game.server]
        self.mixed, self.own = np.flatnonzero(both), [(utility, arcs) for utility, arcs, _ in game.marginals.own]
        with np.errstate(divide="ignore"):
            self.slope = np.where(own, 0.0, np.where(both | (A == 0), 1.0, alpha))
            self.constant = np.where(both | own, 0.0, np.where(A == 0, np.log(B), alpha * np.log(A)))
            self.shift = (alpha * np.log(A))[self.mixed]
        self.power, self.B = 1.0 - alpha[self.mixed], B[self.mixed]


def merit_cvxpy(game: Game, bounded: bool = False) -> "cp.Problem":
    """Variables "x", "u" (tasks of each user), "kappa", "level", "slack" (K, R); constraints "capacity", "tasks", "levels".

    Where users have limits also the variable "sigma", one for each of these users. Where it is `bounded`, x and slack have signs
    and users their limits, "limit": an edit may leave no tasks of merit 0, and without these the best ones exceed capacities.
    """
    instance, arcs, start = game.instance, game.instance.arcs, StartingPoint(game)
    x, u = cp.Variable(len(arcs), nonneg=bounded, name="x"), cp.Variable(instance.N, pos=True, name="u")
    shape = (instance.K, instance.R)
    kappa, level = (cp.Variable(shape, name=name) for name in ("kappa", "level"))
    slack = cp.Variable(shape, nonneg=bounded, name="slack")
    x.value, u.value, slack.value = start.x, start.u, np.maximum(start.slack, 0.0) if bounded else start.slack
    level.value, kappa.value = start.log_kappa, np.exp(start.log_kappa)

    limited = np.flatnonzero(np.isfinite(game.limits))
    sigma = cp.Variable(len(limited), nonneg=True, name="sigma", value=np.full(len(limited), 0.3)) if len(limited) else None
    E = _excess_cvxpy(game, u, level, start, sigma)
    k = np.exp(-start.log_kappa)
    fb_users = _fb(cp.multiply(1.0 / game.gamma, x), E)
    fb_prices = _fb(cp.multiply(k, kappa), slack)
    objective = SCALE / 2 * (cp.sum(cp.square(fb_users)) + cp.sum(cp.square(fb_prices)))
    if sigma is not None:
        fb_limits = _fb(sigma, 1 - cp.multiply(1.0 / game.limits[limited], u[limited]))
        objective += SCALE / 2 * cp.sum(cp.square(fb_limits))
    constraints = [
        *(cvxpy_limit(instance, x) if bounded else ()),
        (arcs.load @ x + cp.vec(slack, order="C") == 1).set_label("capacity"),
        (arcs.owner @ x - u == 0).set_label("tasks"),
        (cp.multiply(k, kappa) - cp.exp(level - start.log_kappa) == 0).set_label("levels"),
    ]
    return cp.Problem(cp.Minimize(objective), constraints)


def _excess_cvxpy(game: Game, u: Any, level: Any, start: StartingPoint, sigma: Any) -> Any:
    """F (A,) in u (N,), level (K, R) and, where users have limits, their sigma; it is E without limits."""
    instance, beta = game.instance, game.beta[game.server]
    at = sp.csr_array((np.ones(len(beta)), (np.arange(len(beta)), game.server)), shape=(len(beta), instance.K))
    powers = cp.exp(cp.multiply(np.repeat(game.beta[:, None], instance.R, axis=1), level - start.log_kappa))
    log_g = log_marginal_cvxpy(game, u)
    own = start.log_kappa[game.server, 0]
    price = cp.sum(cp.multiply(game.w, at @ powers), axis=1) + TINY
    if sigma is not None:
        limited = np.isfinite(game.limits)
        arcs = np.flatnonzero(limited[game.user])
        pick = sp.csr_array(sp.eye_array(len(beta)))[arcs]
        price += pick.T @ cp.multiply(sigma[(np.cumsum(limited) - 1)[game.user[arcs]]], cp.exp(pick @ (log_g - beta * own)))
    return cp.multiply(1.0 / beta, cp.log(price) - log_g) + own


def log_marginal_cvxpy(game: Game, u: Any) -> Any:
    """Log g_i'(z_ni) (A,), of the variable u (N,)."""
    owner, marginal = game.instance.arcs.owner.T, MarginalTerms(game)
    log_z = owner @ cp.log(u) - np.log(game.unit)
    log_g, each = marginal.constant - cp.multiply(marginal.slope, log_z), sp.csr_array(sp.eye_array(len(game.unit)))
    if len(marginal.mixed):
        pick = each[marginal.mixed]
        log_g += pick.T @ cp.log(cp.exp(marginal.shift + cp.multiply(marginal.power, pick @ log_z)) + marginal.B)
    for utility, arcs in marginal.own:
        z = cp.multiply(1.0 / game.unit[arcs], (each[arcs] @ owner) @ u)
        log_g += each[arcs].T @ cp.log(cp.vec(utility.marginal(z), order="C"))  # CVXPY makes a number of 1 / z with one entry
    return log_g


def merit_pyomo(game: Game, bounded: bool = False) -> "pyo.ConcreteModel":
    """Variables `x`, `u`, `kappa`, `level`, `slack`, `sigma`, constraints `capacity`, `tasks`, `levels`, as in CVXPY."""
    start = StartingPoint(game)
    shift = start.log_kappa
    model, load = pyomo_named(game, signed=True, kappa=np.exp(shift), level=shift, slack=start.slack)
    x, keys = list(model.x.values()), list(model.kappa)
    s = dict(zip(keys, shift.ravel().tolist(), strict=True))
    k = {key: model.kappa[key] * float(np.exp(-s[key])) for key in keys}  # kappa_ir / k_i
    model.levels = pyo.Constraint(keys, rule=lambda m, *key: k[key] - pyo.exp(m.level[key] - s[key]) == 0)
    model.capacity = pyo.Constraint(keys, rule=lambda m, *key: load.get(key, 0.0) + m.slack[key] == 1)
    each = zip(np.ndindex(shift.shape), keys, strict=True)
    power = {(i, r): pyo.exp(float(game.beta[i]) * (model.level[key] - s[key])) for (i, r), key in each}
    E = excess_pyomo(game, model, power, start)
    users = sum(_fb(x[a] / float(game.gamma[a]), E[a]) ** 2 for a in range(len(x)))
    prices = sum(_fb(k[key], model.slack[key]) ** 2 for key in keys)
    left = left_pyomo(game, model)
    limits = sum(_fb(model.sigma[n], part) ** 2 for n, part in left.items())
    if bounded:
        model.limit = pyo.Constraint(list(left), rule=lambda _, n: left[n] >= 0)
        for variable in (*model.x.values(), *model.slack.values()):
            variable.setlb(0.0)
    model.objective = pyo.Objective(expr=SCALE / 2 * (users + prices + limits))
    return model


def left_pyomo(game: Game, model: "pyo.ConcreteModel") -> dict[str, Any]:
    """1 - u_n / M_n, one expression for each user with a limit, by its name."""
    limits = by_user(game.instance, game.limits)
    return {n: 1 - model.u[n] / limits[n] for n in model.sigma}


def _fb(a: Any, b: Any) -> Any:
    """psi_FB, of expressions of either layer."""
    return (a**2 + b**2) ** 0.5 - a - b


def pyomo_named(game: Game, signed: bool = False, **prices: Floats) -> "tuple[pyo.ConcreteModel, dict[Any, Any]]":
    """A model with `x`, `u`, `tasks`, `sigma` (of users with limits) and the variables `prices`; the loads by (server, resource).

    `prices` are {name: (K, R) starting values}; x and these may be negative where `signed`.
    """
    instance, start = game.instance, StartingPoint(game)
    (model, load, tasks), keys = pyomo_arcs(instance), server_resources(instance)
    model.u = pyo.Var(instance.users, domain=pyo.PositiveReals, initialize=by_user(instance, start.u))
    limited = [n for n, limit in by_user(instance, game.limits).items() if np.isfinite(limit)]
    model.sigma = pyo.Var(limited, bounds=(0, None), initialize=0.3)
    for name, values in prices.items():
        first = dict(zip(keys, values.ravel().tolist(), strict=True))
        model.add_component(name, pyo.Var(keys, domain=pyo.Reals if signed else pyo.NonNegativeReals, initialize=first))
    for variable in model.x.values() if signed else ():
        variable.domain = pyo.Reals
    model.tasks = pyo.Constraint(instance.users, rule=lambda m, n: tasks[n] - m.u[n] == 0)
    return model, load


def excess_pyomo(game: Game, model: "pyo.ConcreteModel", power: Mapping[tuple[int, int], Any], start: StartingPoint) -> list[Any]:
    """F, which is E where users have no limits, for each arc; the model gets the expressions `power`, `log_u` and `excess`.

    `power` is {(i, r): an expression for (kappa_ir / k_i)^beta_i}.
    """
    model.power = pyo.Expression(list(power), rule=lambda _, i, r: power[i, r])  # named expressions are written once
    log_g, place = log_marginal_pyomo(game, model), {arc: a for a, arc in enumerate(model.x)}
    users, result = game.instance.users, []
    for a, i in enumerate(game.server.tolist()):
        price = sum(float(game.w[a, r]) * model.power[i, r] for r in np.flatnonzero(game.w[a]).tolist())
        beta, own, n = float(game.beta[i]), float(start.log_kappa[i, 0]), users[game.user[a]]
        if n in model.sigma:
            price = price + model.sigma[n] * pyo.exp(log_g[a] - beta * own)
        result.append((pyo.log(price + TINY) - log_g[a]) / beta + own)
    model.excess = pyo.Expression(list(model.x), rule=lambda _, *arc: result[place[arc]])
    return list(model.excess.values())


def log_marginal_pyomo(game: Game, model: "pyo.ConcreteModel") -> list[Any]:
    """Log g_i'(z_ni), one expression for each arc."""
    users = game.instance.users
    model.log_u = pyo.Expression(users, rule=lambda m, n: pyo.log(m.u[n]))
    marginal = MarginalTerms(game)
    extra = dict(zip(marginal.mixed.tolist(), zip(marginal.shift, marginal.power, marginal.B, strict=True), strict=True))
    own, result = {a: utility for utility, arcs in marginal.own for a in arcs.tolist()}, []
    for a, n in enumerate(game.user.tolist()):
        if a in own:
            result.append(pyo.log(own[a].marginal(model.u[users[n]] / float(game.unit[a]))))
            continue
        log_z = model.log_u[users[n]] - float(np.log(game.unit[a]))
        expression = float(marginal.constant[a]) - float(marginal.slope[a]) * log_z
        if a in extra:
            shift, power, B = map(float, extra[a])
            expression = expression + pyo.log(pyo.exp(shift + power * log_z) + B)
        result.append(expression)
    return result
