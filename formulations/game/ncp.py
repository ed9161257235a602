r"""The equilibrium as a nonlinear complementarity problem (K 4.1, (28)-(31)), with Pyomo's `Complementarity` conditions.

**In levels** (`levels=True`, default), in the numbers without units of game.py, for any alpha:

    0 <= kappa_ir        complements   slack_ir = 1 - sum_n w_nir x_ni / gamma_ni >= 0                           (K 28, 30)
    0 <= x_ni            complements   E_ni >= 0,   the logarithm of both sides of (K 29), see merit.py         (K 29, 31)

and for users with limits, with F_ni of merit.py in the place of E_ni,  0 <= sigma_n  complements  1 - u_n / M_n >= 0.

**As printed** (`levels=False`), in tasks and prices, whose terms have the scale of z^-alpha: fit for small alpha.

    0 <= lambda_ir       complements   f_ir(x_i) = c_ir - sum_n x_ni d_nr >= 0                                  (K 28, 30)
    0 <= x_ni            complements   f_ni = sum_r lambda_ir d_nr - g_i'(x_n / (phi_n gamma_ni)) / gamma_ni >= 0   (K 29, 31)

No solver from a wheel takes complementarity conditions as such (`mpec.nl` needs PATH or Knitro). `as_nlp` applies one of Pyomo's
transformations, "mpec.simple_nonlinear" (products at most `bound`), and the result is a nonlinear program for Ipopt without an
objective: `solve_relaxations` in solvers/backends/pyomo.py lowers the bound step by step. Where both sides of a condition are 0
at the solution, a product of at most `bound` determines them to sqrt(bound) only.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.common.tasks import linear_rows
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.merit import (
    StartingPoint,
    excess_pyomo,
    finite_game,
    left_pyomo,
    printed_functions,
    printed_start,
    pyomo_named,
    unlimited_game,
)

if TYPE_CHECKING:
    import pyomo.environ as pyo

__all__ = ["as_nlp", "ncp_pyomo"]


def ncp_pyomo(game: Game, levels: bool = True) -> "pyo.ConcreteModel":
    """Complementarity conditions `prices` (K 28, by server and resource), `users` (K 29, by arc) and `limits`, as in merit.py.

    Variables `x`, `u` (tasks of each user) and `kappa` or `lam`; constraints `capacity`, `tasks`.
    """
    return _levels(finite_game(game)) if levels else _printed(unlimited_game(game))


def _levels(game: Game) -> "pyo.ConcreteModel":
    from pyomo.mpec import Complementarity, complements

    instance, start = game.instance, StartingPoint(game)
    model = pyomo_named(game, kappa=np.exp(start.log_kappa))
    keys = list(model.kappa)
    load = dict(zip(keys, linear_rows(instance.arcs.load, list(model.x.values())), strict=True))
    slack = {key: 1.0 - row for key, row in load.items() if row is not None}
    for key in keys:
        if key not in slack:
            model.kappa[key].fix(0.0)  # nobody uses it there
    unit = np.exp(start.log_kappa)
    power = {}
    for (i, r), key in zip(np.ndindex(unit.shape), keys, strict=True):
        power[i, r] = (model.kappa[key] / float(unit[i, r])) ** float(game.beta[i])
    E = excess_pyomo(game, model, power, start)
    _conditions(model, {key: (model.kappa[key], row) for key, row in slack.items()}, E)
    left = left_pyomo(game, model)
    model.limits = Complementarity(list(left), rule=lambda m, n: complements(m.sigma[n] >= 0, left[n] >= 0))
    return model


def _printed(game: Game) -> "pyo.ConcreteModel":
    model = pyomo_named(game, lam=printed_start(game, StartingPoint(game)))
    f_users, f_prices = printed_functions(game, model)
    _conditions(model, {key: (model.lam[key], row) for key, row in f_prices.items()}, f_users)
    return model


def _conditions(model: Any, pairs: dict[Any, Any], users: list[Any]) -> None:
    import pyomo.environ as pyo
    from pyomo.mpec import Complementarity, complements

    excess = dict(zip(model.x, users, strict=True))
    model.prices = Complementarity(list(pairs), rule=lambda _, *key: complements(pairs[key][0] >= 0, pairs[key][1] >= 0))
    model.users = Complementarity(list(model.x), rule=lambda m, *arc: complements(m.x[arc] >= 0, excess[arc] >= 0))
    model.objective = pyo.Objective(expr=0.0)


def as_nlp(model: "pyo.ConcreteModel", bound: float = 1e-8, transformation: str = "mpec.simple_nonlinear") -> "pyo.ConcreteModel":
    """A copy of a model in which the complementarity conditions are nonlinear constraints.

    Parameters
    ----------
    model : with conditions of `pyomo.mpec`, such as `ncp_pyomo` writes
    bound : the largest product of the two sides of a condition
    transformation : the name of one of Pyomo's transformations

    Returns
    -------
    The nonlinear program; the given model is not changed
    """
    import pyomo.environ as pyo

    result: pyo.ConcreteModel = pyo.TransformationFactory(transformation).create_using(model, mpec_bound=bound)
    return result
