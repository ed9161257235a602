"""Games whose equilibrium is known: built backwards, from the answer and its prices to the instance.

Take any tasks t_ni and demands D_nir of each server. With capacities c_ir = sum_n t_ni D_nir every resource is full; a resource
that shall not be full gets more and the price 0. So y_ni = t_ni / gamma_ni and w_nir are known, and with any prices mu_ir the
share z_ni that (K 29) asks for. Demands on a server may be scaled, D_nir s_ni, without a change of y and w: gamma_ni is free.
From z_ni = x_n / (phi_n gamma_ni) and x_n = sum_i gamma_ni y_ni follows phi_n = sum_i y_ni / z_ni, with x_n free.
"""

from dataclasses import dataclass

import numpy as np

from fairalloc.models import Allocation, Instance


@dataclass
class Planted:
    """An instance, its game's parameters, the equilibrium x (A,) on its arcs and the kappa (K, R) that prove it."""

    instance: Instance
    parameters: dict
    x: np.ndarray
    kappa: np.ndarray

    def allocation(self, x=None, prices=False):
        """The equilibrium, or other tasks, as an allocation, with the prices as a hint or without."""
        hint = self.kappa if prices else None
        return Allocation(self.instance, self.x if x is None else x, prices=hint, parameters=self.parameters)


def planted_game(seed, users=4, servers=3, resources=3, alpha=2.0, A=1.0, B=0.0, absent=0.3, idle=0.3, ties=False):
    """A game with a known equilibrium; `absent` and `idle` are how often an arc does not exist and is not used."""
    rng = np.random.default_rng(seed)
    alpha, A, B = (np.broadcast_to(np.asarray(v, float), (servers,)) for v in (alpha, A, B))
    draw = (lambda *size: rng.integers(1, 3, size).astype(float)) if ties else (lambda *size: rng.uniform(0.2, 2, size))
    D = draw(users, servers, resources) * (rng.random((users, servers, resources)) < 0.7)
    D[..., 0] += (D.sum(axis=2) == 0) * draw(users, servers)
    exists = rng.random((users, servers)) > absent
    exists[np.arange(users), rng.integers(0, servers, users)] = True
    used = exists & (rng.random((users, servers)) > idle)
    for n in np.flatnonzero(~used.any(axis=1)):
        used[n, np.flatnonzero(exists[n])[0]] = True
    t = np.where(used, draw(users, servers), 0.0)
    c = np.einsum("ni,nir->ir", t, D)
    full = (c > 0) & (rng.random(c.shape) < 0.7)
    pays = used[..., None] & (D > 0)  # everyone who is served pays for something
    for n, i in np.argwhere(used & ~(pays & full[None]).any(axis=2)):
        full[i, np.flatnonzero(pays[n, i])[0]] = True
    reach = exists[..., None] & (D > 0)
    for n, i in np.argwhere(exists & ~(reach & full[None]).any(axis=2)):  # no full resource: it cannot be eligible
        exists[n, i] = False
    c = np.where(full, c, 1.7 * c + 1.0)
    with np.errstate(divide="ignore"):
        gamma = np.where(D > 0, c[None] / D, np.inf).min(axis=2)
    w, y = gamma[..., None] * D / c[None], t / gamma
    level = np.where(full, draw(servers, resources) / 2, np.inf)
    z = np.ones((users, servers))
    for i in range(servers):
        for n in range(users):
            z[n, i] = _share(w[n, i], level[i], alpha[i], A[i], B[i]) if exists[n, i] else 1.0
    z = np.where(used, z, z * rng.choice([1.0, 1.0, 1.3, 3.0], (users, servers)))
    weights = (y / z).sum(axis=1)
    tasks = draw(users)
    scale = weights[:, None] * z / tasks[:, None] * gamma  # of the demands: gamma_ni becomes x_n / (phi_n z_ni)
    own = {(n, i): (D * scale[..., None])[n, i] for n, i in np.argwhere(exists).tolist()}
    instance = Instance(
        [own[n, np.flatnonzero(exists[n])[0]] for n in range(users)], c, weights=weights, eligible=exists, demands_on=own
    )
    arcs = instance.arcs
    kappa = np.where(np.isfinite(level), 1 / level, 0.0)
    return Planted(instance, _parameters(alpha, A, B), (y[arcs.user, arcs.server]) * arcs.gamma, kappa)


def _share(w, level, alpha, A, B):
    """The z at which g'(z) = sum_r w_r / level_r^max(alpha, 1), by bisection; the least level for alpha = inf."""
    if np.isinf(alpha):
        return level[w > 0].min()
    with np.errstate(divide="ignore"):
        log_price = np.logaddexp.reduce(np.log(w) - max(alpha, 1.0) * np.log(level))
    low, high = -800.0, 800.0
    for _ in range(200):
        middle = (low + high) / 2
        with np.errstate(divide="ignore"):
            log_g = np.logaddexp(alpha * (np.log(A) - middle), np.log(B) - middle)
        low, high = (middle, high) if log_g > log_price else (low, middle)
    return np.exp(low)


def _parameters(alpha, A, B):
    plain = {"alpha": ["inf" if np.isinf(v) else float(v) for v in alpha]}
    if np.any(A != 1) or np.any(B != 0):
        plain |= {"A": A.tolist(), "B": B.tolist()}
    return plain


TWO_WAYS = [[1, "1/2"], ["1/2", 1]]
"""A user whose two variants run 4/3 as many tasks side by side as one of them alone."""


def game_with_variants(seed, users=5, servers=3, resources=3):
    """Users with one to three variants, some with limits; zero demands, placement, weights, counts."""
    rng = np.random.default_rng(seed)
    draw = (lambda *s: rng.integers(1, 5, s).astype(float)) if seed % 2 else (lambda *s: rng.uniform(0.2, 3, s))

    def vector():
        d = draw(resources) * (rng.random(resources) < 0.7)
        return d if d.any() else np.eye(resources)[0]

    demands = [[vector() for _ in range(rng.integers(1, 4))] for _ in range(users)]
    eligible = rng.random((users, servers)) < 0.7
    eligible[np.arange(users), rng.integers(0, servers, users)] = True
    limits = [float(rng.choice([0.1, 0.5, 1, 2, 4])) if rng.random() < 0.5 else None for _ in range(users)]
    capacities = 3 * draw(servers, resources)
    counts = rng.integers(1, 3, servers)
    return Instance(demands, capacities, weights=draw(users), eligible=eligible, max_tasks=limits, counts=counts)
