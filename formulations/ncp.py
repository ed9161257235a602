r"""The equilibrium as a nonlinear complementarity problem (K 4.1, (28)-(31)), with Pyomo's `Complementarity` conditions.

**In levels** (`levels=True`, default), in the numbers without units of game.py, for any alpha:

    0 <= kappa_ir        complements   room_ir = 1 - sum_n w_nir x_ni / gamma_ni >= 0                           (K 28, 30)
    0 <= x_ni            complements   E_ni >= 0,   the logarithm of both sides of (K 29), see merit.py         (K 29, 31)

**As printed** (`levels=False`), in tasks and prices, whose terms have the scale of z^-alpha: fit for small alpha.

    0 <= lambda_ir       complements   f_ir(x_i) = c_ir - sum_n x_ni d_nr >= 0                                  (K 28, 30)
    0 <= x_ni            complements   f_ni = sum_r lambda_ir d_nr - g_i'(x_n / (phi_n gamma_ni)) / gamma_ni >= 0   (K 29, 31)

No solver from a wheel takes complementarity conditions as such (`mpec.nl` needs PATH or Knitro). `as_nlp` applies one of Pyomo's
transformations, "mpec.simple_nonlinear" (products at most `bound`), and what comes out is a nonlinear program for Ipopt, without
an objective: `follow` in solvers/through_pyomo.py lowers the bound step by step. A product of at most `bound` leaves a condition of
which both sides vanish uncertain to sqrt(bound).
"""

from typing import TYPE_CHECKING, Any

from fairalloc.formulations.game import Game
from fairalloc.formulations.merit import Start, excess_pyomo, finite_game, printed_functions, pyomo_levels, pyomo_printed

if TYPE_CHECKING:
    import pyomo.environ as pyo

__all__ = ["as_nlp", "ncp_pyomo"]


def ncp_pyomo(game: Game, levels: bool = True) -> "pyo.ConcreteModel":
    """Complementarity conditions `prices` (K 28, by server and resource) and `users` (K 29, by arc); the names are those of merit.py.

    With `levels` also the constraints `rooms`, `tasks` and `levels`; the capacity rows stand in `capacity` in both.
    """
    return _levels(finite_game(game)) if levels else _printed(finite_game(game))


def _levels(game: Game) -> "pyo.ConcreteModel":
    import pyomo.environ as pyo

    start = Start(game)
    model = pyomo_levels(game, start)
    keys = list(model.kappa)
    for key in keys:
        model.room[key].domain = model.kappa[key].domain = pyo.NonNegativeReals
    load = {key: row.body for key, row in model.capacity.items()}
    model.del_component(model.capacity)
    model.capacity = pyo.Constraint(keys, rule=lambda m, *key: load.get(key, 0.0) + m.room[key] == 1)
    E = excess_pyomo(game, model, start)
    _conditions(model, [(model.kappa[key], model.room[key]) for key in keys], keys, E)
    return model


def _printed(game: Game) -> "pyo.ConcreteModel":
    model = pyomo_printed(game)
    f_users, f_prices = printed_functions(game, model)
    _conditions(model, [(model.lam[key], row) for key, row in f_prices.items()], list(f_prices), f_users)
    return model


def _conditions(model: Any, prices: list[Any], keys: list[Any], users: list[Any]) -> None:
    import pyomo.environ as pyo
    from pyomo.mpec import Complementarity, complements

    pairs = dict(zip(keys, prices, strict=True))
    excess = dict(zip(model.x, users, strict=True))
    model.prices = Complementarity(keys, rule=lambda _, *key: complements(pairs[key][0] >= 0, pairs[key][1] >= 0))
    model.users = Complementarity(list(model.x), rule=lambda m, *arc: complements(m.x[arc] >= 0, excess[arc] >= 0))
    model.objective = pyo.Objective(expr=0.0)


def as_nlp(model: "pyo.ConcreteModel", bound: float = 1e-8, transformation: str = "mpec.simple_nonlinear") -> "pyo.ConcreteModel":
    """A copy with the conditions as nonlinear rows, by the transformation of Pyomo's with this name."""
    import pyomo.environ as pyo

    result: pyo.ConcreteModel = pyo.TransformationFactory(transformation).create_using(model, mpec_bound=bound)
    return result
