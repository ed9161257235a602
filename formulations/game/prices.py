"""Prices (K 28-29) recovered from tasks alone, by one linear program for each server, for residual.py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program

SERVED_THRESHOLDS = (1e-10, 1e-7, 1e-4)
"""Below which part of the server's largest o_ni a user counts as not served when prices are computed. Which small ones are
rounding errors is unknown; the prices for each threshold prove a bound, and the least bound is the residual."""


def recovered_candidates(game: Any, x: Floats, servers: NDArray[np.intp], threshold: float) -> list[Floats]:
    """`recovered_prices`, and if these charge for a resource that is not full, with full resources only.

    An idle user may need a price of 1e-15 of what others pay: below its tolerance the LP solver may charge for slack.
    """
    first = recovered_prices(game, x, servers, threshold)
    full = game.load(game.fractions(x)) >= 1.0 - threshold
    if not np.any(first[~full] > 0):
        return [first]
    return [first, recovered_prices(game, x, servers, threshold, full)]


def recovered_prices(
    game: Any,
    x: Floats,
    servers: NDArray[np.intp],
    threshold: float = SERVED_THRESHOLDS[0],
    allowed: NDArray[np.bool_] | None = None,
) -> Floats:
    """(K, R) kappa from tasks (A,) alone: for each of the servers, of finite alpha, the prices that violate (K 28-29) least.

    With mu in units in which (K 29) is  sum_r B_nr nu_r >= 1,  B_nr = w_nir / g_i'(z_ni) up to a scale for each r, the program

        min  sum_r slack_r nu_r + sum_n y_n (sum_r B_nr nu_r - 1)     s.t.  B nu >= 1,  nu >= 0

    is the dual of (K 16) with every user's row counted alike. Its value is 0 iff the prices prove an equilibrium. A satisfied
    user (t_n <= threshold) has sum_r B_nr nu_r + eta_n >= 1 with an eta_n >= 0, the same for all its variants, which is free.
    Users with o <= threshold, in parts of the largest o there, have no part in the cost, nor in the scale: for large alpha one
    whose o is a rounding error would put a price hundreds of magnitudes too low. Where `allowed` (K, R) is given, only its
    resources have prices.
    """
    y, own, tasks = game.fractions(x), game.own_parts(x), game.tasks(x)
    log_g, satisfied = game.log_marginal(game.shares(tasks)), game.wanted(tasks)[game.user] <= threshold
    kappa = np.zeros((game.instance.K, game.instance.R))
    some = np.ones_like(kappa, bool) if allowed is None else allowed
    for i in servers:
        most = own[game.arcs_of_servers[i]].max(initial=np.finfo(float).tiny)  # a server may be small for all its users
        part = own / most
        kappa[i] = _least_violating(game, i, np.where(part > threshold, part, 0.0), y, log_g, satisfied, some[i])
    return kappa


def _least_violating(
    game: Any, i: int, served: Floats, y: Floats, log_g: Floats, satisfied: NDArray[np.bool_], allowed: NDArray[np.bool_]
) -> Floats:
    """(R,) kappa of server i, 0 for resources that are not allowed (R,); the other arrays are (A,)."""
    w, served, y, log_g, satisfied, user = (
        part[game.arcs_of_servers[i]] for part in (game.w, served, y, log_g, satisfied, game.user)
    )
    kappa = np.zeros(w.shape[1])
    priced = (w * served[:, None] > 0).any(axis=0) & allowed
    if not priced.any() or satisfied.all():
        return kappa
    with np.errstate(divide="ignore"):
        log_b = np.log(w[:, priced]) - log_g[:, None]
    scale = np.where(served[:, None] > 0, log_b, -np.inf).max(axis=0)
    b = np.exp(np.minimum(log_b - scale, 23.0))  # a row met 1e10-fold is met
    slack = np.maximum(1.0 - y @ w[:, priced], 0.0)
    own = user[:, None] == np.unique(user[satisfied])  # whose eta an arc has
    cost = np.concatenate([slack + served @ b, served @ own])
    rows, sides = -np.hstack([b, own]), -np.ones(len(b))
    answer = linear_program(cost, rows, sides, TEN_DIGITS)
    if answer.x is not None:
        with np.errstate(divide="ignore", over="ignore"):
            kappa[priced] = np.exp((np.log(np.maximum(answer.x[: priced.sum()], 0.0)) - scale) / game.beta[i])
    return kappa
