r"""How far an allocation is from an equilibrium of the game: the residual of alpha-pf-vds and ps-dsf, and its bounds.

The largest over the servers of the following, each in [0, 1], with t_n = 1 - x_n / M_n (1 without a limit). A small user
counts as a large one: o_ni = x_ni / x_n is the part of its tasks that it runs here, and s_nr = slack_r gamma_ni / (w_nr x_n) is
how much more it could run by the slack of r, relative to all that it runs; s <= 1. With a utility of one's own a user may rightly
run nothing; there both are parts of a monopoly.
*Finite alpha*: the larger of two numbers, at the best of some prices.
(a) `definition_gap`: the relative gain left by (K 16), 1 - (sum_n y_ni g_i'(z_ni)) / (max over feasible y' of sum_n y'_ni
g_i'(z_ni)), bounded above by weak duality with the prices. Satisfied users count with what they pay, if that is less than g_i'; a
user counts as satisfied up to any t_n, but then (a) is at least t_n.
(b) `level_gap`: how far the levels are from (K 28-29). It is needed because for large alpha a user with a large share has a tiny
g_i' and so hardly changes (a). For an arc: min(t_n, 1 - exp(E)) where E < 0, and min(o, 1 - exp(-D)), D = E - min(0, the least E
of the user's variants there), where D > 0. For an arc and a resource r: the smaller of s_nr and of the min(t_n, 1 - exp(E)) that
results when the prices of r and of all resources with at least as large an s are set to 0. Prices come from the method where it
has any; where they prove too little, a linear program for each server finds its own (`recovered_prices`).
*alpha = infinity*: how far Theorem 1 of P is violated (`bottleneck_gap`), or where a user of the server has several variants P's
Definition 2 (`max_min_gap` of ps_dsf_variants.py, which is the same number for one variant); it needs no prices.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.prices import SERVED_THRESHOLDS, recovered_candidates
from fairalloc.formulations.game.ps_dsf_variants import OneServer, max_min_gap, relative_gains
from fairalloc.models.numbers import Floats

PROVED = 1e-9
"""Where the residual is below this, no linear program looks for better prices."""

SATISFIED_THRESHOLDS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""Up to which t_n a user counts as satisfied in (a); (a) is then at least the largest such t_n."""


def gaps(game: Any, x: Floats, kappa: Floats | None = None) -> Floats:
    """(K,) the residual of each server at feasible tasks x (A,); kappa (K, R) are levels, a hint."""
    if kappa is None or not np.all(np.isfinite(kappa)):
        result = np.where(game.finite, 1.0, infinite_gaps(game, x))
    else:
        result = gaps_at(game, x, kappa)
    for threshold in SERVED_THRESHOLDS:
        open_ = np.flatnonzero(game.finite & (result > PROVED))
        if not len(open_):
            break
        for own in recovered_candidates(game, x, open_, threshold):
            result[open_] = np.minimum(result, _proved(game, x, own))[open_]
    return result


def gaps_at(game: Any, x: Floats, kappa: Floats) -> Floats:
    """(K,) the same with these finite levels alone."""
    result = infinite_gaps(game, x)
    return np.where(game.finite, _proved(game, x, kappa), result) if game.finite.any() else result


def _proved(game: Any, x: Floats, kappa: Floats) -> Floats:
    return np.maximum(definition_gap(game, x, kappa), level_gap(game, x, kappa))


def infinite_gaps(game: Any, x: Floats) -> Floats:
    """(K,) the residual of each server with alpha = infinity at feasible tasks x (A,); 0 for others."""
    result, servers = np.zeros(game.instance.K), np.flatnonzero(~game.finite)
    for i, server in zip(servers, game.at_servers(x, servers), strict=True):
        result[i] = max_min_gap(server) if game.several[i] else _bottlenecks(server)
    return result


def by_server(game: Any, values: Floats, reduce: np.ufunc, start: float) -> Floats:
    """(K,) a reduction of values (A,) over the arcs of each server; `start` for a server without arcs."""
    result = np.full(game.instance.K, start)
    reduce.at(result, game.server, values)
    return result


def definition_gap(game: Any, x: Floats, kappa: Floats) -> Floats:
    """(K,) an upper bound in [0, 1] on the relative gain left by (K 16) at tasks x (A,), proved by prices kappa^beta (K, R).

    Scaled up until they cover every g_i' of users that are not satisfied, prices bound the maximum by their sum, for capacities
    are 1. Every user has tasks; it is 0 for a server without arcs, and says nothing where alpha is infinite.
    """
    wanted = game.wanted(game.tasks(x))[game.user]
    result = _gain_left(game, x, kappa, np.zeros(len(x), bool))
    for threshold in SATISFIED_THRESHOLDS if np.any(np.isfinite(game.limits)) else ():
        satisfied = wanted <= threshold
        still = by_server(game, np.where(satisfied, wanted, 0.0), np.maximum, 0.0)
        result = np.minimum(result, np.maximum(still, _gain_left(game, x, kappa, satisfied)))
    return result


def _gain_left(game: Any, x: Floats, kappa: Floats, satisfied: NDArray[np.bool_]) -> Floats:
    """(K,) `definition_gap` with these arcs (A,) as those of satisfied users; 0 for a server that has no others."""
    log_g = game.log_marginal(game.shares(game.tasks(x)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_mu = game.beta[:, None] * np.log(np.maximum(kappa, 0.0))
        log_p = game.log_price(kappa)
        factor = by_server(game, np.where(satisfied, -np.inf, log_g - log_p), np.maximum, -np.inf)
        worth = np.where(satisfied, np.minimum(log_g, factor[game.server] + game.cheapest(log_p)), log_g)
        top = by_server(game, worth, np.maximum, -np.inf)
        value = by_server(game, game.fractions(x) * np.exp(worth - top[game.server]), np.add, 0.0)
        log_bound = factor + np.logaddexp.reduce(log_mu, axis=1) - top
        gap = 1.0 - value * np.exp(-log_bound)
    some = np.isin(np.arange(game.instance.K), game.server[~satisfied])
    return np.where(some, np.clip(np.where(np.isnan(gap), 1.0, gap), 0.0, 1.0), 0.0)


def level_gap(game: Any, x: Floats, kappa: Floats) -> Floats:
    """(K,) how far the levels kappa (K, R) are from (K 28-29) at tasks x (A,), (b) of the module's docstring, in [0, 1]."""
    tasks = game.tasks(x)
    own, gains = game.own_parts(x), game.gains(x)
    E, wanted = game.excess(tasks, kappa), game.wanted(tasks)[game.user]
    short = np.minimum(wanted, -np.expm1(np.minimum(E, 0.0)))
    with np.errstate(invalid="ignore"):
        dear = np.maximum(np.nan_to_num(E - np.minimum(game.cheapest(E), 0.0), nan=0.0, posinf=np.inf), 0.0)
    arcs = np.where(E < 0, short, 0.0)
    arcs = np.maximum(arcs, np.minimum(own, -np.expm1(-dear)))
    for gain in gains.T:
        fuller = np.where(gains < gain[:, None], kappa[game.server], 0.0)
        lost = np.minimum(wanted, -np.expm1(np.minimum(game.excess(tasks, fuller, of_arcs=True), 0.0)))
        arcs = np.maximum(arcs, np.minimum(gain, lost))
    return by_server(game, arcs, np.maximum, 0.0)


def bottleneck_gap(game: Any, x: Floats, i: int) -> float:
    """How far server i is from Theorem 1 of P at tasks x (A,): a bottleneck resource for every eligible user.

    r is a bottleneck for n if w_nr > 0, r is full, and z_ni >= z_mi for all m with x_mi d_mr > 0 (P 13). The gap is

        max over n  min over r with w_nr > 0  of the larger of s_nr and max over m with w_mr > 0 of min(o_mi, 1 - z_ni / z_mi)

    with t_n in its place where that is less: a satisfied user needs no bottleneck. It has o_mi and not w_mr o_mi: the definition
    changes discontinuously where w_mr becomes 0, so a user with a tiny w_mr is not close to one with w_mr = 0.
    """
    (server,) = game.at_servers(x, np.array([i]))
    return _bottlenecks(server)


def _bottlenecks(server: OneServer) -> float:
    """`bottleneck_gap`, by sorting.

    Of those who use r, nobody counts beside one with a larger o and a larger share. In the order of falling o the others' z rise,
    and so does (1 - o) z. While that is below z_n, min(o, 1 - z_n / z) is 1 - z_n / z and rises; from there on it is o and falls.
    """
    if not len(server.y):
        return 0.0
    w, own, z, gains = server.w, server.own, server.z, relative_gains(server.slack, server.w, server.total)
    worst, wants = np.ones(len(own)), w > 0
    for r in range(w.shape[1]):
        if r == 0 or (wants[:, r] != wants[:, r - 1]).any():
            envied = _envied(own, z, wants[:, r])
        worst = np.where(wants[:, r], np.minimum(worst, np.maximum(gains[:, r], envied)), worst)
    return float(np.minimum(worst, server.wanted).max())


def _envied(own: Floats, z: Floats, wants: NDArray[np.bool_]) -> Floats:
    """(m,) max over m with w_mr > 0 of min(o_mi, 1 - z_ni / z_mi) of each user, at least 0."""
    falling = np.flatnonzero(wants & (own > 0))
    falling = falling[np.lexsort((-z[falling], -own[falling]))]
    most, share = own[falling], z[falling]
    highest = np.maximum.accumulate(share)
    rises = np.ones(len(falling), dtype=bool)
    rises[1:] = highest[1:] > highest[:-1]
    most, share = most[rises], share[rises]
    result = np.zeros(len(own))
    first = np.searchsorted((1.0 - most) * share, z)
    for place in (np.maximum(first - 1, 0), np.minimum(first, len(most) - 1)) if len(most) else ():
        result = np.maximum(result, np.minimum(most[place], 1.0 - z / share[place]))
    return result
