r"""The equilibrium as a nonlinear complementarity problem in levels, with Pyomo's `Complementarity`; printed.py has K's own.

In the numbers without units of game.py, for any finite alpha:

    0 <= kappa_ir        complements   slack_ir = 1 - sum_n w_nir x_ni / gamma_ni >= 0                           (K 28, 30)
    0 <= x_ni            complements   E_ni >= 0,   the logarithm of both sides of (K 29), see merit.py         (K 29, 31)

and for users with limits, with F_ni of merit.py in the place of E_ni,  0 <= sigma_n  complements  1 - u_n / M_n >= 0.

`pyo.TransformationFactory("mpec.simple_nonlinear").create_using(model, mpec_bound=bound)` makes it a nonlinear program for Ipopt,
with products at most `bound`: lower it step by step, and start each time from the last values.
"""

import numpy as np

from fairalloc.formulations.common.modelling import pyo
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.merit import StartingPoint, excess_pyomo, left_pyomo, pyomo_named


def ncp_pyomo(game: Game) -> "pyo.ConcreteModel":
    """Complementarity conditions `prices` (K 28, by server and resource), `users` (K 29, by arc) and `limits`.

    Variables `x`, `u` (tasks of each user), `kappa` and `sigma`; constraints `capacity`, `tasks`, `limit`.
    """
    from pyomo.mpec import Complementarity, complements

    start = StartingPoint(game)
    model, load = pyomo_named(game, kappa=np.exp(start.log_kappa))
    model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
    slack, keys = {row: 1.0 - load[row] for row in load}, list(model.kappa)
    for key in keys:
        if key not in slack:
            model.kappa[key].fix(0.0)  # nobody uses it there
    unit = np.exp(start.log_kappa)
    each = zip(np.ndindex(unit.shape), keys, strict=True)
    power = {(i, r): (model.kappa[key] / float(unit[i, r])) ** float(game.beta[i]) for (i, r), key in each}
    excess = dict(zip(model.x, excess_pyomo(game, model, power, start), strict=True))
    model.prices = Complementarity(list(slack), rule=lambda m, *row: complements(m.kappa[row] >= 0, slack[row] >= 0))
    model.users = Complementarity(list(model.x), rule=lambda m, *arc: complements(m.x[arc] >= 0, excess[arc] >= 0))
    left = left_pyomo(game, model)
    model.limit = pyo.Constraint(list(left), rule=lambda _, n: left[n] >= 0)
    model.limits = Complementarity(list(left), rule=lambda m, n: complements(m.sigma[n] >= 0, left[n] >= 0))
    model.objective = pyo.Objective(expr=0.0)
    return model
