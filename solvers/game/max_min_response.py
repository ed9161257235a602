r"""One server's PS-DSF answer given the others, by linear programs where users have several variants (game/ps_dsf_variants.py).

1. Everybody with tasks left to want is active. Start with no levels.
2. Solve  max g  s.t.  sum_a w_ar y_a <= 1,   sum_v y_nv >= phi_n (g - b_n) for active n, = what it was fixed at for the others,
   g <= the least m_n of an active n (the share at which it has all that it wants).
3. Fix at this g the active users whose row has a price: they cannot have more without less for users of no larger share. Where g
   is somebody's m_n, fix that user too. Repeat from 2 until nobody is active.

Each program fixes somebody, so they are at most as many as users. A user with b_n > g has no row that binds, and is fixed when g
comes to b_n. The y of the last program are max-min fair.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program
from fairalloc.solvers.game.session import ServerArrays

PRICED = 1e-7
"""The part of all prices from which on a row counts as one with a price: they add up to 1."""


def max_min_response(server: ServerArrays, b: Floats) -> tuple[Floats, Floats]:
    """The server's max-min fair y (m,), and the level (R,) at which each resource first had a price, else inf."""
    users, first, place = np.unique(server.user, return_index=True, return_inverse=True)
    phi, most, have = server.phi[first], server.most[first], b[first]
    size, R = len(server.user), server.w.shape[1]
    owner = sp.csr_array((np.ones(size), (place, np.arange(size))), shape=(len(users), size))
    fixed, levels, y = np.where(have >= most, 0.0, np.nan), np.full(R, np.inf), np.zeros(size)
    load = sp.hstack([sp.csr_array(server.w.T), sp.csr_array((R, 1))], format="csr")
    while np.isnan(fixed).any():
        active = np.flatnonzero(np.isnan(fixed))
        done = np.flatnonzero(~np.isnan(fixed))
        rises = sp.hstack([-owner[active], sp.csr_array(phi[active][:, None])], format="csr")
        kept = sp.hstack([owner[done], sp.csr_array((len(done), 1))], format="csr")
        answer = linear_program(
            np.append(np.zeros(size), -1.0),
            sp.vstack([load, rises], format="csr"),
            np.concatenate([np.ones(R), phi[active] * have[active]]),
            TEN_DIGITS,
            A_eq=kept,
            b_eq=fixed[done],
            bounds=[(0.0, None)] * size + [(0.0, float(most[active].min()))],
        )
        if answer.x is None:  # by rounding: what is fixed does not fit any more
            break
        y, g, price = np.maximum(answer.x[:size], 0.0), float(answer.x[size]), -answer.ineqlin.marginals
        levels[(price[:R] > PRICED) & np.isinf(levels)] = g
        paid = price[R:] * phi[active]
        full = (paid > PRICED) | (most[active] <= g * (1.0 + 1e-13))
        full = full if full.any() else paid >= paid.max()
        fixed[active[full]] = phi[active[full]] * np.maximum(np.minimum(g, most[active[full]]) - have[active[full]], 0.0)
    over = max(float((y @ server.w).max(initial=0.0)), 1.0)
    return y / over, levels
