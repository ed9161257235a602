r"""The game of K: what alpha-pf-vds, ps-dsf and every algorithm for them share, in numbers without units.

With y_ni = x_ni / gamma_ni (tasks as a fraction of what n could run if server i were its own), w_nir = gamma_ni d_nr / c_ir in
[0, 1] with max_r w_nir = 1, the weighted virtual dominant share z_ni = x_n / (phi_n gamma_ni) (K 9, 16) and the marginal
utility of server i (K 22)

    g_i'(z) = (A_i / z)^alpha_i + B_i / z            (A = 1, B = 0: z^-alpha, K 3.2)

or that of a utility of one's own (marginal.py), whose largest elasticity then takes the place of alpha_i.
x is an equilibrium of Problem 1 iff there are prices mu_ir = lambda_ir c_ir with (K 28-31, divided by gamma and c)

    0 <= mu_ir  complements  1 - sum_n w_nir y_ni >= 0                                                     (K 28)
    0 <= y_ni   complements  sum_r w_nir mu_ir - g_i'(z_ni) >= 0                                           (K 29)

For large alpha the prices of one server span hundreds of orders of magnitude. Levels do not: with beta_i = max(alpha_i, 1) and
kappa_ir = mu_ir^(1 / beta_i), (K 29) is y_ni complements the *excess*

    E_ni = (log sum_r w_nir kappa_ir^beta_i  -  log g_i'(z_ni)) / beta_i                                   (*)

the logarithm of z_ni divided by the share at which server i starts to serve user n. For alpha -> infinity it becomes
log z_ni + max over r with w_nir > 0 of log kappa_ir, which is PS-DSF by levels l_ir = 1 / kappa_ir (ps_dsf.py).

**Finite tasks** (not in K and P). A user that runs its x_n = M_n tasks is *satisfied*: more tasks are worth nothing to it, so
server i maximises (K 12) with min(x_n, M_n) for x_n. Given the others it gives user n at most M_n - sum over j != i of x_nj. Its
multiplier eta_ni of that belongs to server i alone, and where it is eliminated (K 29) becomes

    x_n < M_n:   0 <= y_ni  complements  E_ni >= 0                    x_n = M_n:   y_ni > 0  implies  E_ni <= 0               (L)

A satisfied user complains nowhere, and no server gives it tasks that are worth less to the server than they cost. For alpha =
infinity (L) is P's Definition 2 with x_n <= M_n among the constraints: only users below their limits need a bottleneck, while
every user who has tasks somewhere counts as envied (P 13).
*Without limits* nobody is satisfied and (L) is (K 29). An equilibrium without limits stays one under limits that it obeys.
*Existence.* With the others fixed, server i maximises a strictly concave function of (x_ni)_n over a polytope that does not
depend on them, up to min(., M_n); the least maximiser gives nobody more than it wants. It is unique, and continuous in the
others' tasks (Berge; for alpha >= 1 the function is -inf where a share is 0, so shares stay positive. For alpha = infinity it is
the max-min fair point, and a direction in which a limit point z could be improved is feasible at all points near z of the same
polytope, so it would improve these too). So a fixed point exists (Brouwer), and in it x_n <= M_n: who gives a user tasks gives at
most what the others left.
*Whose multiplier.* The total x_n <= M_n is a constraint that the servers share. If they had to have one multiplier eta_n (a
normalised equilibrium, Rosen 1965), multiplying one server's objective by 2 would change the answer, though it changes nothing
that the server wants: users 1 and 2 alone on servers 1 and 2 of capacity 1, user 3 on both with M_3 = 1/2, all demands 1, alpha =
1. A common eta gives user 3 its tasks half from each server; with U_1 doubled, rho = 2, eta = rho (2 - 1 / (1 - x_31)) = 2 - 1 /
(1 - x_32) gives another answer. (L) has no such weights, but many answers: here every x_31 + x_32 = 1/2 with x_31, x_32 >= 0.
The multipliers eta_ni = sigma_n g_i'(z_ni) with one sigma_n in [0, 1] for all servers are a choice among them that does not
depend on the scale of the objectives. Then E_ni + h_n, h_n = -log(1 - sigma_n) / beta, replaces E_ni in (K 29), which for
alpha-fair servers with one alpha >= 1 says: *the equilibrium without limits in which the users at their limits have smaller
weights, phi_n exp(-h_n)*. For alpha = 1 it is the nb allocation with limits (eta_ni = sigma_n phi_n gamma_ni / x_n is in
proportion to gamma_ni, and so is the multiplier of nb's row x_n <= M_n in the condition for x_ni), so K's Theorem 2 holds for
this choice, and Pareto optimality with it; for (L) alone it does not. `continuation` and the merit problem compute this choice.

**Several variants** (not in K and P), finite alpha. gamma_ni are the most tasks that user n can run alone on server i, variants
side by side (a linear program; the best single variant would change when a mixture of two variants is added as a third). Server i
maximises (K 12) over its x_nvi, so everything above holds for arcs (n, v, i) with w_nvir = gamma_ni d_nvr / c_ir and the same
g_i'(z_ni) for every v; the variants of a satisfied user have one eta_ni, so those it uses are its cheapest; w may exceed 1, but
not on a best mixture. With one variant this is K. Existence as above: (x_ni)_n is unique and continuous, and it lies in a
polytope.
*alpha = infinity with variants*: levels say too little there. P's Definition 2 has a price vector for each user in the place of
each bottleneck; max_min.py derives it, and proves that it is P's Theorem 1 for one variant, that answers exist, and that limits
of equilibria for alpha -> infinity are among them.

**Residual.** The largest over the servers of the following, each in [0, 1], with t_n = 1 - x_n / M_n (1 without a limit).
*Finite alpha*: the larger of two numbers.
(a) The relative gain left by (K 16), 1 - (sum_n y_ni g_i'(z_ni)) / (max over feasible y' of sum_n y'_ni g_i'(z_ni)), bounded
above by weak duality with the prices. Satisfied users count with what they pay, if that is less than g_i'; a user counts as
satisfied up to any t_n, but then (a) is at least t_n.
(b) How far the levels are from (K 28-29). It is needed because for large alpha a user with a large share has a tiny g_i' and so
hardly changes (a). For an arc: min(t_n, 1 - exp(E)) where E < 0, and min(y, 1 - exp(-D)), D = E - min(0, the least E of the
user's variants there), where D > 0. For a resource r: the smaller of its slack and of the largest min(t_n, 1 - exp(E)) that
results when the prices of r and of all resources with at least as much slack are set to 0. Prices come from the method where it
has any; where they prove too little, a linear program for each server finds its own (`recovered_prices`).
*alpha = infinity*: how far Theorem 1 of P is violated (`bottleneck_gap`), or where a user of the server has several variants P's
Definition 2 (`max_min_gap` of max_min.py, which is the same number for one variant); it needs no prices.

A row of the instance with count q is one pool: splitting server i into q equal ones turns z_ni into q z_ni, so A_i and B_i become
q A_i and q B_i there, and a pool's parameters are those of one of its servers divided by q.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.marginal import Marginals, OwnPart, Utility
from fairalloc.formulations.game.max_min import OneServer, max_min_gap
from fairalloc.formulations.game.parameters import by_name, per_server
from fairalloc.formulations.game.prices import SERVED_THRESHOLDS, recovered_candidates
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen, is_vector

__all__ = ["Game", "bottleneck_gap", "definition_gap", "level_gap", "monopolies"]

PROVED = 1e-9
"""Where the residual is below this, no linear program looks for better prices."""


SATISFIED_THRESHOLDS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""Up to which t_n a user counts as satisfied in (a) of the residual; (a) is then at least the largest such t_n."""


@lru_cache(maxsize=8)
def monopolies(instance: Instance) -> Floats:
    """(A,) gamma_ni of each arc: the most tasks that its user could run alone on its server, variants side by side (K 8)."""
    from scipy.optimize import linprog

    arcs, result = instance.arcs, instance.arcs.gamma.copy()
    if instance.single_variant:
        return frozen(result)
    load = arcs.load.tocsc()
    pair = arcs.user * instance.K + arcs.server
    order = np.argsort(pair, kind="stable")
    for here in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1):
        if len(here) > 1:
            unit = arcs.gamma[here]
            rows = load[:, here].toarray()[arcs.server[here[0]] * instance.R :][: instance.R] * unit
            result[here] = -linprog(-unit, A_ub=rows, b_ub=np.ones(instance.R), method="highs-ds").fun
    return frozen(result)


class Game:
    """The arrays of one game. a runs over the arcs (n, v, i), i over servers, r over resources.

    Attributes
    ----------
    user, server : (A,) int
    gamma, unit : (A,) tasks of a monopoly (K 8), and phi_n gamma_ni
    w : (A, R) part of the resource that gamma_ni tasks on the arc use; the largest is 1 where the user has one variant
    limits : (N,) M_n, inf where there is none
    alpha, beta, A, B : (K,) the exponents (inf allowed), max(alpha, 1), the coefficients of (K 22); where the utility is
        one's own alpha is its largest elasticity
    finite : (K,) bool, whether alpha is
    own, alike : (K,) bool, whether the server has a utility of one's own, and whether all its users have the same
    marginals : g' on the arcs
    several : (K,) bool, whether a user has several variants there
    """

    def __init__(self, instance: Instance, alpha: Any, A: Any = 1.0, B: Any = 0.0, utility: Any = None) -> None:
        arcs = instance.arcs
        self.instance, self.user, self.server, self.gamma = instance, arcs.user, arcs.server, monopolies(instance)
        self.unit = instance.weights[arcs.user] * self.gamma
        self.limits = instance.max_tasks
        self.w = np.zeros((len(arcs), instance.R))
        load = arcs.load.tocoo()
        self.w[load.col, load.row % instance.R] = load.data * self.gamma[load.col]
        self.alpha = per_server(alpha, instance, "alpha")
        self.A, self.B = per_server(A, instance, "A"), per_server(B, instance, "B")
        self._check()
        self.own, self.alike = np.zeros(instance.K, dtype=bool), np.ones(instance.K, dtype=bool)
        self.marginals = self._marginals(() if utility is None else self._own(utility))
        self.finite = np.isfinite(self.alpha)
        self.beta = np.where(self.finite, np.maximum(self.alpha, 1.0), 1.0)
        self.several: NDArray[np.bool_] = np.zeros(instance.K, dtype=bool)
        if not instance.single_variant:
            pair, ways = np.unique(self.user * instance.K + self.server, return_counts=True)
            self.several[pair[ways > 1] % instance.K] = True

    def _check(self) -> None:
        for i, server in enumerate(self.instance.servers):
            alpha, A, B = float(self.alpha[i]), float(self.A[i]), float(self.B[i])
            if not alpha > 0:
                raise InstanceError(f"alpha is {alpha:g} for server {server!r}, but it must be positive or inf")
            if not (A >= 0 and B >= 0 and A + B > 0 and math.isfinite(A + B)):
                raise InstanceError(f"A, B are {A:g}, {B:g} for server {server!r}, but they must be >= 0, finite and not both 0")
            if math.isinf(alpha) and (A, B) != (1.0, 0.0):
                raise InstanceError(f"A, B are {A:g}, {B:g} for server {server!r}, but with alpha = inf they must be 1 and 0")

    def _own(self, utility: Any) -> tuple[OwnPart, ...]:
        """The utilities of one's own with their arcs; their servers get the largest elasticity as alpha.

        Raises
        ------
        InstanceError : what was given is no `Utility` for each server or for each of its users, or g is no concave utility
        """
        instance = self.instance
        found: dict[int, tuple[Utility, str, list[int]]] = {}
        for i, given in enumerate(by_name(utility, instance.servers, "utility", "server")):
            server, here = f"server {instance.servers[i]!r}", self.arcs_of_servers[i]
            if given is None:
                continue
            several = isinstance(given, Mapping) or is_vector(given)
            each = by_name(given, instance.users, f"utility of {server}", "user") if several else [given] * instance.N
            self.own[i], self.alike[i] = True, len({id(each[n]) for n in self.user[here]}) <= 1
            for a in here:
                one, who = each[self.user[a]], f"user {instance.users[self.user[a]]!r} at " * several + server
                if not isinstance(one, Utility):
                    raise InstanceError(
                        f"the utility of {who} is {shown(one)}, but it must be fa.Utility(marginal), with g' as marginal"
                    )
                found.setdefault(id(one), (one, who, []))[2].append(a)
        most = np.minimum(self.limits, self.tasks(self.gamma))[self.user] / self.unit
        self.alpha[self.own], self.A[self.own], self.B[self.own] = 0.0, 1.0, 0.0
        result = []
        for one, who, arcs in found.values():
            at, highest = np.array(arcs), float(most[arcs].max())
            np.maximum.at(self.alpha, self.server[at], one.steepest(highest, who))
            result.append((one, at, one.table(highest)))
        return tuple(result)

    def _marginals(self, own: tuple[OwnPart, ...]) -> Marginals:
        i, alpha = self.server, np.where(np.isfinite(self.alpha), self.alpha, 1.0)
        family = Marginals.family(alpha[i], self.A[i], self.B[i], len(i))
        return replace(family, own=own)

    @property
    def logarithmic(self) -> NDArray[np.bool_]:
        """(K,) whether g_i' is a multiple of 1 / z; of utilities of one's own it is not asked."""
        result: NDArray[np.bool_] = ~self.own & ((self.alpha == 1) | (self.A == 0))
        return result

    def fractions(self, x: Floats) -> Floats:
        """(A,) y: tasks as fractions of a monopoly."""
        result: Floats = x / self.gamma
        return result

    def tasks(self, x: Floats) -> Floats:
        """(N,) x_n."""
        result: Floats = np.bincount(self.user, x, self.instance.N).astype(float)
        return result

    def shares(self, tasks: Floats) -> Floats:
        """(A,) weighted virtual dominant shares z_ni of tasks (N,) (K 9)."""
        result: Floats = tasks[self.user] / self.unit
        return result

    def cheapest(self, values: Floats) -> Floats:
        """(A,) the least of values (A,) over the variants of the arc's user on the arc's server."""
        if self.instance.single_variant:
            return values
        least = np.full((self.instance.N, self.instance.K), np.inf)
        np.minimum.at(least, (self.user, self.server), values)
        result: Floats = least[self.user, self.server]
        return result

    def wanted(self, tasks: Floats) -> Floats:
        """(N,) t_n: the part of its limit that each user still wants at tasks (N,); 1 where there is no limit."""
        result: Floats = np.maximum(1.0 - tasks / self.limits, 0.0)
        return result

    def load(self, y: Floats) -> Floats:
        """(K, R) used fraction of each capacity."""
        result = np.zeros((self.instance.K, self.instance.R))
        np.add.at(result, self.server, self.w * y[:, None])
        return result

    def log_marginal(self, z: Floats) -> Floats:
        """(A,) log g_i'(z) (K 22); for alpha = inf -log z, its limit divided by alpha."""
        with np.errstate(divide="ignore"):
            return self.marginals.log(np.log(z))

    def elasticity(self, z: Floats) -> Floats:
        """(A,) -d log g_i' / d log z."""
        log_z = np.log(z)
        return self.marginals.elasticity(log_z, self.marginals.log(log_z))

    def defined(self, x: Floats) -> bool:
        """Whether every user has tasks at x (A,), or a finite g' on its servers without any."""
        tasks = self.tasks(x)
        return bool(np.all(tasks > 0) or (self.own.any() and np.all(np.isfinite(self.log_marginal(self.shares(tasks))))))

    def log_price(self, kappa: Floats) -> Floats:
        """(A,) log sum_r w_nir kappa_ir^beta_i; for alpha = inf the largest log kappa_ir with w_nir > 0; -inf where all are 0."""
        with np.errstate(divide="ignore"):
            terms = self.beta[self.server, None] * np.log(np.maximum(kappa, 0.0))[self.server]
            log_w = np.log(self.w)
        finite = self.finite[self.server]
        smooth = np.logaddexp.reduce(terms + log_w, axis=1)
        largest = np.where(self.w > 0, terms, -np.inf).max(axis=1)
        result: Floats = np.where(finite, smooth, largest)
        return result

    def excess(self, tasks: Floats, kappa: Floats) -> Floats:
        """(A,) E of (*), for tasks (N,) and kappa (K, R)."""
        result: Floats = (self.log_price(kappa) - self.log_marginal(self.shares(tasks))) / self.beta[self.server]
        return result

    def residual(self, allocation: Allocation) -> float:
        """The residual of the module's docstring; 1 where a user has no task or there is no point."""
        if not allocation.has_point:
            return 1.0
        x = self.shrunk(np.maximum(allocation.x, 0.0))
        if not self.defined(x):
            return 1.0
        hint = allocation.prices
        return float(self.gaps(x, hint).max())

    def gaps(self, x: Floats, kappa: Floats | None = None) -> Floats:
        """(K,) the residual of each server at a feasible x, with kappa (K, R) as a hint."""
        result = np.where(self.finite, 1.0, self.infinite_gaps(x))
        if kappa is not None and np.all(np.isfinite(kappa)):
            proved = np.maximum(definition_gap(self, x, kappa), level_gap(self, x, kappa))
            result = np.where(self.finite, proved, result)
        for threshold in SERVED_THRESHOLDS:
            open_ = np.flatnonzero(self.finite & (result > PROVED))
            if not len(open_):
                break
            for own in recovered_candidates(self, x, open_, threshold):
                proved = np.maximum(definition_gap(self, x, own), level_gap(self, x, own))
                result[open_] = np.minimum(result, proved)[open_]
        return result

    def infinite_gaps(self, x: Floats) -> Floats:
        """(K,) the residual of each server with alpha = infinity at feasible tasks x (A,); 0 for others."""
        result, servers = np.zeros(self.instance.K), np.flatnonzero(~self.finite)
        for i, server in zip(servers, self.at_servers(x, servers), strict=True):
            result[i] = max_min_gap(server) if self.several[i] else _bottlenecks(server)
        return result

    def proves(self, x: Floats, tau: float) -> bool:
        """Whether the residual of every server with alpha = infinity is at most tau at feasible tasks x (A,)."""
        return all(server.proves(tau) for server in self.at_servers(x, np.flatnonzero(~self.finite)))

    @cached_property
    def arcs_of_servers(self) -> list[NDArray[np.intp]]:
        """The arcs of each server, in their order."""
        counts = np.bincount(self.server, minlength=self.instance.K)
        return np.split(np.argsort(self.server, kind="stable"), np.cumsum(counts)[:-1])

    def at_servers(self, x: Floats, servers: NDArray[np.intp]) -> Iterator[OneServer]:
        """The arrays of some servers, one after the other, for max_min.py at tasks x (A,)."""
        tasks, y = self.tasks(x), self.fractions(x)
        z, wanted = self.shares(tasks), self.wanted(tasks)[self.user]
        for i in servers:
            here = self.arcs_of_servers[i]
            yield OneServer(self.w[here], y[here], z[here], wanted[here], self.user[here])

    def prices(self, x: Floats, kappa: Floats | None = None) -> list[Floats]:
        """Candidates for the kappa (K, R) at tasks x: the hint, and what `recovered_prices` finds."""
        hints = [] if kappa is None or not np.all(np.isfinite(kappa)) else [np.maximum(kappa, 0.0)]
        servers = np.flatnonzero(self.finite)
        return hints + [own for cut in SERVED_THRESHOLDS for own in recovered_candidates(self, x, servers, cut)]

    def parts(self, kappa: Floats) -> Floats:
        """(K, R) the largest part that a resource has of what a user would pay at the server."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log_mu = self.beta[self.server, None] * np.log(np.maximum(kappa, 0.0))[self.server] + np.log(self.w)
            part = np.exp(log_mu - np.logaddexp.reduce(log_mu, axis=1)[:, None])
        result = np.zeros((self.instance.K, self.instance.R))
        np.maximum.at(result, self.server, np.nan_to_num(part))
        return result

    def shrunk(self, x: Floats) -> Floats:
        """(A,) the tasks with overloaded servers, then users above their limits, scaled down: bounds need a feasible point."""
        over = np.maximum(self.load(self.fractions(x)).max(axis=1), 1.0)
        x = x / over[self.server]
        result: Floats = x / np.maximum(self.tasks(x) / self.limits, 1.0)[self.user]
        return result


def by_server(game: Game, values: Floats, reduce: np.ufunc, start: float) -> Floats:
    """(K,) a reduction of values over the arcs of each server.

    Parameters
    ----------
    game : with A arcs
    values : (A,)
    reduce : a NumPy function of two arguments, such as np.maximum
    start : the value for a server without arcs
    """
    result = np.full(game.instance.K, start)
    reduce.at(result, game.server, values)
    return result


def definition_gap(game: Game, x: Floats, kappa: Floats) -> Floats:
    """(K,) an upper bound on the relative gain left by (K 16), proved by prices kappa^beta.

    Scaled up until they cover every g_i' of users that are not satisfied, prices bound the maximum by their sum, for capacities
    are 1.

    Parameters
    ----------
    game : with finite alpha where the result is used
    x : (A,) feasible tasks; every user has some
    kappa : (K, R) prices as levels, >= 0

    Returns
    -------
    (K,) in [0, 1]; 0 for a server without arcs, 1 where the prices prove nothing
    """
    wanted = game.wanted(game.tasks(x))[game.user]
    result = _gain_left(game, x, kappa, np.zeros(len(x), bool))
    for threshold in SATISFIED_THRESHOLDS if np.any(np.isfinite(game.limits)) else ():
        satisfied = wanted <= threshold
        still = by_server(game, np.where(satisfied, wanted, 0.0), np.maximum, 0.0)
        result = np.minimum(result, np.maximum(still, _gain_left(game, x, kappa, satisfied)))
    return result


def _gain_left(game: Game, x: Floats, kappa: Floats, satisfied: NDArray[np.bool_]) -> Floats:
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
    result: Floats = np.where(some, np.clip(np.where(np.isnan(gap), 1.0, gap), 0.0, 1.0), 0.0)
    return result


def level_gap(game: Game, x: Floats, kappa: Floats) -> Floats:
    """(K,) how far the levels are from (K 28-29), as in the module's docstring.

    Parameters
    ----------
    game : with finite alpha where the result is used
    x : (A,) feasible tasks; every user has some
    kappa : (K, R) prices as levels, >= 0

    Returns
    -------
    (K,) in [0, 1]; 0 for a server without arcs
    """
    y, tasks = game.fractions(x), game.tasks(x)
    E, wanted = game.excess(tasks, kappa), game.wanted(tasks)[game.user]
    short = np.minimum(wanted, -np.expm1(np.minimum(E, 0.0)))
    with np.errstate(invalid="ignore"):
        dear = np.maximum(np.nan_to_num(E - np.minimum(game.cheapest(E), 0.0), nan=0.0, posinf=np.inf), 0.0)
    arcs = np.where(E < 0, short, 0.0)
    arcs = np.maximum(arcs, np.minimum(y, -np.expm1(-dear)))
    result = by_server(game, arcs, np.maximum, 0.0)
    slack = np.maximum(1.0 - game.load(y), 0.0)
    for r in range(game.instance.R):
        fuller = np.where(slack < slack[:, r, None], kappa, 0.0)
        lost = np.minimum(wanted, -np.expm1(np.minimum(game.excess(tasks, fuller), 0.0)))
        result = np.maximum(result, np.minimum(slack[:, r], by_server(game, lost, np.maximum, 0.0)))
    return result


def bottleneck_gap(game: Game, x: Floats, i: int) -> float:
    """How far server i is from Theorem 1 of P: a bottleneck resource for every eligible user.

    r is a bottleneck for n if w_nr > 0, r is full, and z_ni >= z_mi for all m with x_mi d_mr > 0 (P 13). The gap is

        max over n  min over r with w_nr > 0  of the larger of slack_r and max over m with w_mr > 0 of min(y_mi, 1 - z_ni / z_mi)

    with t_n in its place where that is less: a satisfied user needs no bottleneck. It has y_mi and not w_mr y_mi: the definition
    changes discontinuously where w_mr becomes 0, so a user with a large y_mi and a
    tiny w_mr is not close to one with w_mr = 0.

    Parameters
    ----------
    game : with A arcs
    x : (A,) feasible tasks; every user has some
    i : the index of the server

    Returns
    -------
    The gap, in [0, 1]; 0 for a server without arcs
    """
    (server,) = game.at_servers(x, np.array([i]))
    return _bottlenecks(server)


def _bottlenecks(server: OneServer) -> float:
    """`bottleneck_gap`, by sorting.

    Of those who use r, nobody counts beside one with more tasks and a larger share. In the order of falling y the others' z rise,
    and so does (1 - y) z. While that is below z_n, min(y, 1 - z_n / z) is 1 - z_n / z and rises; from there on it is y and falls.
    """
    if not len(server.y):
        return 0.0
    w, y, z = server.w, server.y, server.z
    slack = np.maximum(1.0 - y @ w, 0.0)
    worst = np.ones(len(y))
    for r in range(w.shape[1]):
        wants = w[:, r] > 0
        falling = np.flatnonzero(wants)[np.lexsort((-z[wants], -y[wants]))]
        rises = np.diff(np.maximum.accumulate(z[falling]), prepend=0.0) > 0
        most, share = y[falling[rises]], z[falling[rises]]
        first = np.searchsorted((1.0 - most) * share, z)
        before, after = np.maximum(first - 1, 0), np.minimum(first, len(most) - 1)
        envied = np.zeros(len(y))
        for place in (before, after) if len(most) else ():
            envied = np.maximum(envied, np.minimum(most[place], 1.0 - z / share[place]))
        worst = np.where(wants, np.minimum(worst, np.maximum(slack[r], envied)), worst)
    return float(np.minimum(worst, server.wanted).max())
