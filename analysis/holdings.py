r"""Bundles of resources in floating point or in rationals, and the number of tasks a user can run with a bundle.

The worth of a bundle (K, R) to user n is the number of tasks that n can run with it,

    U_n(a) = min(max_tasks_n, sum over the servers n may use of  max sum_v alpha_v  s.t.  sum_v alpha_v d_nvr <= a_ir)

(K 1 and W 3.2 on every server; Z (1) for several variants). A user's own time (`with_own_time`) is in no bundle: it has all of it
with any bundle.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import rational
from fairalloc.models.transformations.own_time import own_time

FEW = 100
"""A tolerance allows so many times itself of a user's own tasks, as a residual does (`allowed_user_error`)."""


class Unsolved(FairallocError):  # noqa: N818 (a finding, not an error)
    """A linear program was not solved, so the property is not decided."""


@dataclass(frozen=True)
class Holdings:
    """An allocation and what follows from it; arrays hold Fractions where `exact`.

    In rationals `x_exact` is used; an allocation without it is read as the decimals that its floats print as.
    """

    allocation: Allocation
    exact: bool

    @property
    def instance(self) -> Instance:
        return self.allocation.instance

    def array(self, values: Any) -> Any:
        """The values as floats, or as Fractions where `exact`."""
        if not self.exact:
            return np.array(values, dtype=float)
        result = np.array(values, dtype=object)
        result.flat[:] = [rational(v, "a number") for v in result.ravel()]
        return result

    def zeros(self, *shape: int) -> Any:
        return np.full(shape, Fraction(0), dtype=object) if self.exact else np.zeros(shape)

    @cached_property
    def x(self) -> Any:
        """(A,) tasks."""
        own = self.allocation.x_exact
        return self.array(self.allocation.x if own is None or not self.exact else own)

    @cached_property
    def demand(self) -> Any:
        """(A, R)."""
        arcs, exact = self.instance.arcs, self.instance.exact
        if not self.exact:
            return arcs.demand
        keys = zip(arcs.user.tolist(), arcs.variant.tolist(), arcs.server.tolist(), strict=True)
        return np.array([exact.demands_at(n, i)[v] for n, v, i in keys], dtype=object)

    @cached_property
    def pools(self) -> Any:
        """(K, R) capacities of all servers of a row."""
        if not self.exact:
            return self.instance.pools
        return np.array(self.instance.exact.capacities, dtype=object) * self.instance.counts.astype(object)[:, None]

    @cached_property
    def weights(self) -> Any:
        """(N,); with groups the parts phi of the users, of which weights say something among siblings alone."""
        exact, groups = self.instance.exact, self.instance.groups
        if groups is not None:
            return self.array(groups.parts(exact.weights)[len(groups) :])
        return self.array(exact.weights) if self.exact else self.instance.weights

    @cached_property
    def limits(self) -> Any:
        """(N,) max_tasks, inf = unlimited."""
        if not self.exact:
            return self.instance.max_tasks
        return np.array([np.inf if t is None else t for t in self.instance.exact.max_tasks], dtype=object)

    @cached_property
    def floors(self) -> Any:
        """(N,) min_tasks."""
        return self.array(self.instance.exact.min_tasks) if self.exact else self.instance.min_tasks

    @cached_property
    def gamma(self) -> Any:
        """(A,) tasks the arc could run alone (K 8)."""
        if not self.exact:
            return self.instance.arcs.gamma
        return 1 / ratio(self.demand, self.pools[self.instance.arcs.server]).max(axis=1)

    @cached_property
    def alone(self) -> Any:
        """(N,) tasks that the best arc of each user could run alone: the unit of margins."""
        return np.maximum.reduceat(self.gamma, self.instance.arcs.first)

    def gains(self, before: Any, after: Any) -> Any:
        """(N,) after - before, both tasks, in units of `alone`, or of FEW times `after` where that is less.

        So a user is not overlooked that is due a small part of what it could run alone, by its weight or its max_tasks.
        """
        return (after - before) / np.where(after > 0, np.minimum(self.alone, FEW * after), self.alone)

    @cached_property
    def tasks(self) -> Any:
        """(N,) tasks of each user."""
        return np.add.reduceat(self.x, self.instance.arcs.first)

    @cached_property
    def bundles(self) -> Any:
        """(N, K, R) the resources of each user: what its tasks take, or what was handed out where that is more."""
        result = self.zeros(self.instance.N, self.instance.K, self.instance.R)
        np.add.at(result, (self.instance.arcs.user, self.instance.arcs.server), self.x[:, None] * self.demand)
        given = self.allocation.bundles
        return result if given is None else np.maximum(result, self.array(given))

    @cached_property
    def used(self) -> Any:
        """(K, R) the resources of all users together; sparse data stay so where nothing but tasks was handed out."""
        if self.exact or self.allocation.bundles is not None:
            return self.bundles.sum(axis=0)
        return (self.instance.arcs.load @ self.x).reshape(self.pools.shape) * self.pools

    @cached_property
    def worth(self) -> Any:
        """(N,) U_n of each user's own bundle: its tasks, or more where they are not its best packing or negative on an arc."""
        if self.allocation.bundles is None and self.instance.single_variant:
            return np.minimum(np.add.reduceat(np.maximum(self.x, 0), self.instance.arcs.first), self.limits)
        return np.array([self.utilities(n, self.bundles[n : n + 1])[0] for n in range(self.instance.N)], dtype=self.x.dtype)

    def own(self, n: int) -> Any:
        """The arcs of user n."""
        return np.arange(*self.instance.arcs.owner.indptr[n : n + 2])

    def scaled(self, n: int, bundles: Any) -> Any:
        """The bundles (N, ...) of all users, scaled by phi_n / phi_m, which may be beyond the range of numbers."""
        return bundles * np.nan_to_num(self.weights[n] / self.weights).reshape(-1, *[1] * (bundles.ndim - 1))

    def utilities(self, n: int, bundles: Any) -> Any:
        """(M,) U_n of bundles (M, K, R)."""
        bundles = self._with_own_time(n, bundles)
        worth, arcs = self.zeros(len(bundles)), self.own(n)
        server = self.instance.arcs.server[arcs]
        for i in dict.fromkeys(server.tolist()):
            worth = worth + self._packed(self.demand[arcs[server == i]], bundles[:, i])
        return np.minimum(worth, self.limits[n])

    def pooled_utilities(self, n: int, bundles: Any) -> Any:
        """(M,) what user n could run with bundles (M, R) if all lay on one server, in its usual variants."""
        bundles = self._with_own_time(n, bundles)
        rows = self.array(self.instance.exact.demands[n] if self.exact else self.instance.demands[n])
        return np.minimum(self._packed(rows, bundles), self.limits[n])

    @cached_property
    def own_time(self) -> Any:
        """(N,) the resource that is a user's own time, -1 = none."""
        return own_time(self.instance)

    def _with_own_time(self, n: int, bundles: Any) -> Any:
        """The bundles (..., R) with all of the user's own time in each: it is nobody else's to share."""
        r = self.own_time[n]
        if r < 0:
            return bundles
        result = bundles.copy()
        result[..., r] = self.pools[0, r]
        return result

    def _packed(self, rows: Any, bundles: Any) -> Any:
        """(M,) the most tasks of the variants `rows` that bundles (M, R) can run; 0 where an entry of a bundle is negative."""
        if len(rows) == 1:
            taken = rows[0] > 0
            return np.maximum((bundles[:, taken] / rows[0][taken]).min(axis=1), 0)
        return np.array([self._best(rows, bundle) for bundle in bundles], dtype=self.x.dtype)

    def _best(self, rows: Any, bundle: Any) -> Any:
        """The largest sum alpha  s.t.  sum_v alpha_v row_v <= bundle, alpha >= 0."""
        rows = rows[~((rows > 0) & (bundle <= 0)).any(axis=1)]
        if len(rows) == 0:
            return self.zeros(1)[0]
        load = ratio(rows, bundle)
        gamma = 1 / load.max(axis=1)
        sides = self.array(np.ones(len(bundle), dtype=int))
        best = maximum(gamma / gamma.max(), (load * gamma[:, None]).T, sides, self.exact)
        if best is None:
            raise Unsolved("the best packing of a bundle was not found")
        return best.value * gamma.max()


def ratio(part: Any, whole: Any) -> Any:
    """The ratio of parts to nonnegative wholes; where there is no whole: 0, or inf for a positive part."""
    out = np.where(part > 0, np.inf, 0.0).astype(part.dtype)
    if part.dtype == object:
        out[out == 0] = Fraction(0)
    return np.divide(part, whole, out=out, where=whole > 0)
