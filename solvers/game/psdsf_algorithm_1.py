r"""`psdsf-algorithm-1`: the PS-DSF Allocation Algorithm, P's Algorithm I (P III-C).

1. Initially allocate by DRF on each server as if there were no other (`drf_alone`).
2. A round: Last-round-flag := 1. For every server i in turn, the *server procedure* (`server_procedure`) with N_i := the
   eligible users; while N_i is not empty:
   a. S* := min over N_i of z_ni (P 16);  N* := the users who attain it;  R* := the saturated resources that somebody in N*
      demands.
   b. If S* = max over n in N_i with x_ni d_nr > 0 of z_ni for some r in R*:  N_i := N_i - {n | d_nr > 0} (P 17).
   c. Else Last-round-flag := 0, and Update-Allocation (`update_allocation`):
      c1. f_r := the free amount of r;  for r in R*:  n_r := argmax of z_ni with x_ni d_nr > 0 (P 18),  f := f + x_nr,i d_nr;
      c2. D* := sum over N* of phi_n gamma_ni d_n,   z* := min_r f_r / D*_r;
      c3. beta in (0, 1] with  S* + beta z* <= (x_nr - beta x_nr,i) / (phi_nr gamma_nr,i)  for r in R*;
      c4. x_ni += beta phi_n gamma_ni z* for n in N*,   x_nr,i := (1 - beta) x_nr,i.
3. Repeat 2 until Last-round-flag = 1 after a round.

Here in the numbers of game.py: y = x / gamma, z = b + y / phi, D*_r = sum over N* of phi_n w_nr, and f as a part of capacity.

**What P does not specify, and what is done here.** Ties in n_r: the first. Which r is tested first: the first that passes.
beta: the largest. "Algorithm II" (III-C) is the Update-Allocation in the box of Algorithm I. Equality tests: TIED, relative; y
<= TIED counts as 0. With this tolerance the rounds end where their changes decrease geometrically.

docs/reference/derivations.md has the corrections of errors in P.
"""

from typing import Any

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.best_response import water_filling
from fairalloc.solvers.game.session import ForFilling, GameSession, ServerArrays
from fairalloc.solvers.options import IterationOptions

TIED = 1e-12
"""Shares and loads closer than this, relative, are equal: a hundred times the rounding of a sum over users."""


def drf_alone(servers: list[ServerArrays], x: Floats) -> None:
    """The initial allocation: DRF on each server as if there were no other, written into x (A,)."""
    for server in servers:
        x[server.arcs] = water_filling(server.w, server.phi, np.zeros(len(server.arcs)))[0] * server.gamma


def server_procedure(server: ServerArrays, b: Floats, y: Floats) -> tuple[Floats, list[float]]:
    """Step 2 for one server: its new y (m,), and S* before every update; b (m,) are its users' shares from elsewhere."""
    y, here = y.copy(), np.ones(len(b), bool)
    minima: list[float] = []
    limit = 20 * (server.w.size + 10)  # every update ties, empties or fills something; rounding must not go on for ever
    while here.any() and len(minima) < limit:
        z = b + y / server.phi  # 2a
        least = z[here].min()
        lowest = here & (z <= least * (1.0 + TIED))
        full = (1.0 - y @ server.w <= TIED) & (server.w[lowest] > 0).any(axis=0)
        uses = (here & (y > TIED))[:, None] & (server.w > 0)
        top = np.where(uses, z[:, None], -np.inf).max(axis=0)
        passing = np.flatnonzero(full & (top <= least * (1.0 + TIED)))
        if len(passing):  # 2b
            here &= ~(server.w[:, passing[0]] > 0)
            continue
        minima.append(float(least))  # 2c
        released = np.unique([np.where(uses[:, r], z, -np.inf).argmax() for r in np.flatnonzero(full)]).astype(int)
        update_allocation(server, z, y, least, lowest, released)
    return y, minima


def update_allocation(server: ServerArrays, z: Floats, y: Floats, least: float, lowest: Any, released: Any) -> None:
    """Step 2c: y (m,) is changed in place; z (m,) are the shares, `least` S*, `lowest` (m,) N*, `released` the n_r."""
    f = np.maximum(1.0 - y @ server.w, 0.0) + y[released] @ server.w[released]  # c1
    D = server.phi[lowest] @ server.w[lowest]
    rise = float((f[D > 0] / D[D > 0]).min())  # c2
    allowed = (z[released] - least) / (rise + y[released] / server.phi[released])
    beta = float(min(1.0, allowed.min(initial=1.0)))  # c3
    y[lowest] += beta * server.phi[lowest] * rise  # c4
    y[released] *= 1.0 - beta


class Algorithm1Session(GameSession):
    def iterate(self) -> None:
        self.x = self.first_point()  # 1
        if not self.x.any():
            drf_alone(self.servers, self.x)
        for count in range(1, self.options.max_iterations + 1):  # 2, 3
            tasks, updates, change = self.game.tasks(self.x), 0, 0.0
            for server in self.servers if not self.limits.late else ():
                b = server.elsewhere(self.x, tasks)
                y, minima = server_procedure(server, b, self.x[server.arcs] / server.gamma)
                change = max(change, float(server.put(y, self.x, tasks)))
                updates += len(minima)
            self.done = count
            self.record(updates=updates, change=change)
            self.rests(change, TIED, "rounds")
            if not updates or change <= TIED or self.limits.late:
                break
        self.gap = self.game.residual(self.x)


class Algorithm1(ForFilling):
    """P's Algorithm I; the trace has `iteration` (round), `updates` (calls of Update-Allocation), `change` and `seconds`."""

    id = "psdsf-algorithm-1"
    session = Algorithm1Session
    options = IterationOptions()


methods = (Algorithm1(),)
