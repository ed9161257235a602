r"""The game of K: what alpha-pf-vds, ps-dsf and every algorithm for them share, in numbers without units.

With y_ni = x_ni / gamma_ni (tasks as a fraction of what n could run if server i were its own), w_nir = gamma_ni d_nr / c_ir in
[0, 1] with max_r w_nir = 1, the weighted virtual dominant share z_ni = x_n / (phi_n gamma_ni) (K 9, 16) and the marginal
utility of server i, g_i'(z) = (A_i / z)^alpha_i + B_i / z (K 22) or one's own (marginal.py), x is an equilibrium of Problem 1 iff
there are prices mu_ir = lambda_ir c_ir with (K 28-31, divided by gamma and c)

    0 <= mu_ir  complements  1 - sum_n w_nir y_ni >= 0                                                     (K 28)
    0 <= y_ni   complements  sum_r w_nir mu_ir - g_i'(z_ni) >= 0                                           (K 29)

For large alpha the prices of one server span hundreds of orders of magnitude. Levels kappa_ir = mu_ir^(1 / beta_i), beta_i =
max(alpha_i, 1) (of a utility of one's own its largest elasticity), do not: (K 29) is y_ni complements the *excess*

    E_ni = (log sum_r w_nir kappa_ir^beta_i  -  log g_i'(z_ni)) / beta_i                                   (*)

and for alpha = infinity log z_ni + max over r with w_nir > 0 of log kappa_ir, PS-DSF by levels 1 / kappa_ir (ps_dsf.py). A user
with x_n = M_n tasks is *satisfied*, and (K 29) becomes

    x_n < M_n:   0 <= y_ni  complements  E_ni >= 0                    x_n = M_n:   y_ni > 0  implies  E_ni <= 0               (L)

docs/reference/derivations.md derives (L) and all that is said of several variants, whose arcs (n, v, i) have one gamma_ni.
A row of the instance with count q is one pool: its A_i and B_i are those of one of its servers divided by q.
"""

import math
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.game.marginal import Marginals, OwnPart, Utility
from fairalloc.formulations.game.parameters import by_name, per_server
from fairalloc.formulations.game.prices import SERVED_THRESHOLDS, recovered_candidates
from fairalloc.formulations.game.ps_dsf_variants import OneServer, relative_gains
from fairalloc.formulations.game.residual import gaps
from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.feasibility import scaled_down, slack_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import TEN_DIGITS, Floats, frozen, is_vector, linear_program

USUAL = {"alpha": 2.0, "A": 1.0, "B": 0.0}
"""The parameters of alpha-pf-vds where nobody gives them, and of every server with a utility of one's own."""


def monopolies(instance: Instance) -> Floats:
    """(A,) gamma_ni of each arc: the most tasks that its user could run alone on its server, variants side by side (K 8)."""
    return instance.arcs.gamma if instance.single_variant else _mixtures(instance)


@lru_cache(maxsize=8)
def _mixtures(instance: Instance) -> Floats:
    arcs, load = instance.arcs, instance.arcs.load.tocsc()
    _, pair = np.unique(arcs.user * instance.K + arcs.server, return_inverse=True)
    best = np.zeros(pair.max() + 1)
    np.maximum.at(best, pair, arcs.gamma)
    row = np.repeat(pair, np.diff(load.indptr)) * instance.R + load.indices % instance.R  # each pair has a server of its own
    own = sp.csc_array((load.data, row, load.indptr), shape=(len(best) * instance.R, len(arcs))) @ sp.diags_array(arcs.gamma)
    part = arcs.gamma / best[pair]
    y = linear_program(-part, own, np.ones(own.shape[0]), TEN_DIGITS).x
    return frozen((best * np.bincount(pair, part * y))[pair])


class Game:
    """The arrays of one game. a runs over the arcs (n, v, i), i over servers, r over resources.

    user, server : (A,) int
    gamma, unit : (A,) tasks of a monopoly (K 8), and phi_n gamma_ni
    w : (A, R) part of the resource that gamma_ni tasks on the arc use; the largest is 1 where the user has one variant
    limits : (N,) M_n, inf where there is none
    alpha, beta, A, B : (K,) the exponents (inf allowed), max(alpha, 1), the coefficients of (K 22); where the utility is
        one's own alpha is its largest elasticity
    finite, several : (K,) bool, whether alpha is, and whether a user has several variants there
    own, alike : (K,) bool, whether the server has a utility of one's own, and whether all its users have the same
    marginals : g' on the arcs
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
        own = () if utility is None else self._own(utility, {"alpha": alpha, "A": A, "B": B})
        exponent, A, B = (values[arcs.server] for values in (np.where(np.isfinite(self.alpha), self.alpha, 1.0), self.A, self.B))
        with np.errstate(divide="ignore"):
            self.marginals = Marginals(exponent, np.log(A), np.log(B), own)
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

    def _own(self, utility: Any, parameters: Mapping[str, Any]) -> tuple[OwnPart, ...]:
        """The utilities of one's own with their arcs; their servers get the largest elasticity as alpha.

        InstanceError where alpha, A or B are given for one of these servers.
        """
        found = self._utilities_by_arc(utility)
        for name in [name for name, value in parameters.items() if isinstance(value, Mapping) or is_vector(value)]:
            for i in np.flatnonzero(self.own & (getattr(self, name) != USUAL[name]))[:1]:
                what = f"{name} is {getattr(self, name)[i]:g} for server {self.instance.servers[i]!r}"
                raise InstanceError(f"{what}, but with a utility of one's own it must be {USUAL[name]:g} there")
        most = np.minimum(self.limits, self.tasks(self.gamma))[self.user] / self.unit  # the largest share on each arc
        self.alpha[self.own], self.A[self.own], self.B[self.own] = 0.0, 1.0, 0.0
        result = []
        for one, who, arcs in found:
            at, highest = np.array(arcs), float(most[arcs].max())
            np.maximum.at(self.alpha, self.server[at], one.steepest(highest, who))
            result.append((one, at, one.table(highest)))
        return tuple(result)

    def _utilities_by_arc(self, utility: Any) -> list[tuple[Utility, str, list[int]]]:
        """Each utility of one's own, who has it first, and its arcs; `own` and `alike` say which servers have some."""
        instance, found = self.instance, dict[int, tuple[Utility, str, list[int]]]()
        for i, given in enumerate(by_name(utility, instance.servers, "utility", "server")):
            if given is None:
                continue
            server, here = f"server {instance.servers[i]!r}", self.arcs_of_servers[i]
            several = isinstance(given, Mapping) or is_vector(given)
            each = by_name(given, instance.users, f"utility of {server}", "user") if several else [given] * instance.N
            self.own[i], self.alike[i] = True, len({id(each[n]) for n in self.user[here]}) <= 1
            for a in here:
                one, who = each[self.user[a]], f"user {instance.users[self.user[a]]!r} at " * several + server
                if not isinstance(one, Utility):
                    rule = "it must be fa.Utility(marginal), with g' as marginal"
                    raise InstanceError(f"the utility of {who} is {shown(one)}, but {rule}")
                found.setdefault(id(one), (one, who, []))[2].append(a)
        return list(found.values())

    @property
    def logarithmic(self) -> NDArray[np.bool_]:
        """(K,) whether g_i' is a multiple of 1 / z; of utilities of one's own it is not asked."""
        return np.asarray(~self.own & ((self.alpha == 1) | (self.A == 0)), dtype=bool)

    def fractions(self, x: Floats) -> Floats:
        """(A,) y: tasks as fractions of a monopoly."""
        return x / self.gamma

    def tasks(self, x: Floats) -> Floats:
        """(N,) x_n."""
        return np.bincount(self.user, x, self.instance.N).astype(float)

    def shares(self, tasks: Floats) -> Floats:
        """(A,) weighted virtual dominant shares z_ni of tasks (N,) (K 9)."""
        return tasks[self.user] / self.unit

    def cheapest(self, values: Floats) -> Floats:
        """(A,) the least of values (A,) over the variants of the arc's user on the arc's server."""
        if self.instance.single_variant:
            return values
        least = np.full((self.instance.N, self.instance.K), np.inf)
        np.minimum.at(least, (self.user, self.server), values)
        return least[self.user, self.server]

    def wanted(self, tasks: Floats) -> Floats:
        """(N,) t_n: the part of its limit that each user still wants at tasks (N,); 1 where there is no limit."""
        return np.maximum(1.0 - tasks / self.limits, 0.0)

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

    def own_parts(self, x: Floats) -> Floats:
        """(A,) o: the part of all its tasks that the arc's user runs here; 0 where it runs none.

        With a utility of one's own a user may rightly run none, so there it is the part of a monopoly.
        """
        tasks = self.tasks(x)[self.user]
        own = np.divide(x, tasks, out=np.zeros(len(x)), where=tasks > 0)
        return np.where(self.own[self.server], self.fractions(x), own)

    def gains(self, x: Floats) -> Floats:
        """(A, R) s: how much more its user could run by the slack of r alone, relative to all its tasks; at most 1."""
        load, count = self.load(self.fractions(x)), np.bincount(self.server, minlength=self.instance.K)
        total = np.where(self.own[self.server], 1.0, self.tasks(x)[self.user] / self.gamma)
        return relative_gains(slack_of(load, count[:, None])[self.server], self.w, total)

    def log_price(self, kappa: Floats, of_arcs: bool = False) -> Floats:
        """(A,) log sum_r w_nir kappa_ir^beta_i; for alpha = inf the largest log kappa_ir with w_nir > 0; -inf where all are 0.

        kappa is (K, R), or with `of_arcs` (A, R), where each arc has its own.
        """
        at = kappa if of_arcs else kappa[self.server]
        with np.errstate(divide="ignore"):
            terms = self.beta[self.server, None] * np.log(np.maximum(at, 0.0))
            log_w = np.log(self.w)
        smooth = np.logaddexp.reduce(terms + log_w, axis=1)
        largest = np.where(self.w > 0, terms, -np.inf).max(axis=1)
        return np.asarray(np.where(self.finite[self.server], smooth, largest), dtype=float)

    def excess(self, tasks: Floats, kappa: Floats, of_arcs: bool = False) -> Floats:
        """(A,) E of (*), for tasks (N,) and the kappa of `log_price`."""
        return (self.log_price(kappa, of_arcs) - self.log_marginal(self.shares(tasks))) / self.beta[self.server]

    def residual(self, x: Floats, kappa: Floats | None = None) -> float:
        """How far tasks x (A,), scaled down to be feasible, are from an equilibrium; 1 where it is not `defined`."""
        x = scaled_down(self.instance, x)
        return float(gaps(self, x, kappa).max()) if self.defined(x) else 1.0

    def proves(self, x: Floats, tau: float) -> bool:
        """Whether the residual of every server with alpha = infinity is at most tau at feasible tasks x (A,)."""
        return all(server.proves(tau) for server in self.at_servers(x, np.flatnonzero(~self.finite)))

    @cached_property
    def arcs_of_servers(self) -> list[NDArray[np.intp]]:
        """The arcs of each server, in their order."""
        counts = np.bincount(self.server, minlength=self.instance.K)
        return np.split(np.argsort(self.server, kind="stable"), np.cumsum(counts)[:-1])

    def at_servers(self, x: Floats, servers: NDArray[np.intp]) -> Iterator[OneServer]:
        """The arrays of some servers, one after the other, for ps_dsf_variants.py at tasks x (A,)."""
        tasks, y = self.tasks(x), self.fractions(x)
        z, wanted, total = self.shares(tasks), self.wanted(tasks)[self.user], tasks[self.user] / self.gamma
        for i in servers:
            here = self.arcs_of_servers[i]
            yield OneServer(self.w[here], y[here], z[here], wanted[here], self.user[here], total[here])

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
