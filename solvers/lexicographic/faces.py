r"""The face of a later round, and prices of the face made into prices that prove the round for every allocation.

Complementary slackness shows the face (formulations/lexicographic/linear_program.py says what it is): a row with a price is
full, and an arc dearer than the cheapest of its user is empty. The prices of a round on its face bound nothing outside the face;
a multiple of the prices of earlier rounds, which cost nothing in the bound (*) of weak_duality.py, makes up for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


@dataclass(frozen=True)
class RoundProof:
    """Prices (K R,) >= 0 that prove a round for all feasible x, and the rows and arcs that they made full and closed."""

    prices: Floats
    full: NDArray[np.bool_]
    closed: NDArray[np.bool_]


def lifted(instance: Instance, prices: Floats, now: Round, proofs: Sequence[RoundProof]) -> Floats:
    """Prices (K R,) >= 0 that prove on all arcs and rows what the prices of a round prove on its face.

    The prices of an earlier round cost nothing in (*): its users are at their level, its rows are full. Enough of them make up
    for negative prices of rows that they filled, and keep the arcs that they closed dearer than the open ones.
    """
    result = np.where(now.at_most, np.maximum(prices, 0.0), np.where(now.full, prices, 0.0))
    closed = now.closed
    for proof in reversed(proofs):
        share = proof.prices > 0
        short = np.divide(-result, proof.prices, out=np.zeros_like(result), where=share & proof.full)
        more = max(0.0, float(short.max()), _lacking(instance, result, proof, closed))
        result = result + more * proof.prices
        closed = closed & ~proof.closed
    return np.maximum(result, 0.0)


def _lacking(instance: Instance, prices: Floats, proof: RoundProof, closed: NDArray[np.bool_]) -> float:
    """How many times the prices of a proof make the arcs that it closed as dear as the open ones of their users."""
    arcs = instance.arcs
    cost, earlier = arcs.costs(prices), arcs.costs(proof.prices)
    least, before = (cheapest(instance, p, closed)[arcs.user] for p in (prices, proof.prices))
    here = proof.closed & (earlier > before)
    return float(((least - cost)[here] / (earlier - before)[here]).max(initial=0.0))


def next_face(instance: Instance, now: Round, x: Floats, prices: Floats, noise: float) -> Round:
    """The next round on the face that the last one's x (A,) and prices (K, R) show, by strict complementarity.

    Prices are measured in the level g they carry; below `noise` they are 0. A row is full when its price exceeds its slack; an
    arc is closed when what the whole server costs above the user's cheapest arc exceeds the part of the server it has. One row
    that the others imply is left out.
    """
    arcs, p = instance.arcs, prices.ravel() / now.level[~now.active].max()
    load = arcs.load @ x
    full = now.at_most & (p > np.maximum(1.0 - load, noise))
    q = cheapest(instance, p, now.closed)
    dear = arcs.costs(p) - q[arcs.user]
    closed = now.closed | (dear * arcs.gamma > np.maximum(x / arcs.gamma, noise))
    # Whoever has an open arc on a priced row pays there, however little: cheap tasks are no noise.
    priced = full | (now.full & (np.abs(p) > noise))
    paying = (arcs.load[priced].sum(axis=0) > 0) & ~closed & now.active[arcs.user]
    implied = now.implied.copy()
    if full.any() and not paying.any():
        implied[np.argmax(np.where(full, p, 0.0))] = True
    return replace(now, closed=closed, full=(now.full | full) & ~implied, implied=implied, on_face=True)
