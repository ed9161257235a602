r"""All equilibria of alpha-pf-vds, where they are rational and theory says which tasks they give (K 3).

A server is *indifferent to alpha* where some resource is the one that every eligible user needs most, w_nr = 1: only that
resource limits it, so whatever alpha_i, A_i and B_i are, its condition is to be full and to serve those with the least share,
which is P's Theorem 1 (K Theorem 4 and its proof, server by server). Of the other servers,

(a) all have alpha = inf, or there are none: the equilibria are the PS-DSF allocations (solvers/exact/ps_dsf_pieces.py).
(b) all have alpha = 1 or A = 0: the equilibria are the optima of the program of nb, with unique totals u. A guess u is proved by

        max sum_n phi_n y_n / u_n over all feasible totals y  =  sum_n phi_n                                       (K 62, one LP)

(c) nobody may use two servers: there is one equilibrium. A guess x is proved for whole alpha_i, and for every alpha_i where all
    served shares are equal, by P's Theorem 1 for alpha_i = inf and else by

        max sum_n y_n g_i'(z_ni) / gamma_ni over what fits server i  =  sum_n x_n g_i'(z_ni) / gamma_ni            (K 16, one LP)

A guess is the simplest fractions next to the numbers of a method; all is proved in rationals. **Otherwise** totals need not be
unique and are irrational in general, so the set is not listed (docs/reference/derivations.md). Users have one variant and no
limits.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.game.game import Game
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import LinearRow, Piece, capacity_rows, full_rows, polytope_vertices
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, rational
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.solvers.exact.ps_dsf_pieces import ps_dsf_pieces

LARGEST, LARGEST_DENOMINATOR = 10, 10**4
"""Arcs in (b), whose polytope is cut out of a box; of a guess: next to 10 digits there is one such fraction at most."""

ZERO, ONE = Fraction(0), Fraction(1)


def equilibrium_pieces(item: AlphaPfVds, instance: Instance, largest: int) -> tuple[Piece, ...]:
    """All equilibria as a union of polytopes; NotApplicable where they cannot be listed. `largest` limits the arcs in (a)."""
    if not instance.single_variant or any(limit is not None for limit in instance.exact.max_tasks):
        raise NotApplicable("all equilibria are found for users with one variant and no limit on their tasks")
    game = item.game(instance)
    if game.own.any():
        raise NotApplicable("with a utility of one's own equilibria are irrational in general, so they are not listed")
    others = [i for i in range(instance.K) if not _indifferent(instance, i)]
    if all(np.isinf(game.alpha[i]) for i in others):
        return ps_dsf_pieces(instance, largest)  # (a)
    if game.logarithmic[others].all():
        return (_bargains(instance),)  # (b)
    if one_server_each(instance):
        return (_one_by_one(item, game, instance),)  # (c)
    first = next(i for i in others if not game.logarithmic[i])
    where = f"with alpha = {game.alpha[first]:g} at server {instance.servers[first]!r}"
    why = "tasks of equilibria need not be unique, and they are irrational in general, so they are not listed"
    raise NotApplicable(f"{where} {why}")


def one_server_each(instance: Instance) -> bool:
    """Whether nobody may use two servers, nor has two variants on one."""
    return len(set(instance.arcs.user.tolist())) == instance.A


def _indifferent(instance: Instance, i: int) -> bool:
    """Whether one resource of server i is what every eligible user needs most of there."""
    loads = [load for load, server in zip(exact_arcs(instance).load, instance.arcs.server, strict=True) if server == i]
    most = [{row for row, part in load if part == max(p for _, p in load)} for load in loads]
    return not most or bool(set.intersection(*most))


def _bargains(instance: Instance) -> Piece:
    """All optima of the program of nb; NotApplicable where its totals are not rational, or there are too many arcs."""
    arcs, weights = exact_arcs(instance), instance.exact.weights
    if len(arcs.user) > LARGEST:
        raise NotApplicable(f"the instance has {len(arcs.user)} arcs, but all nb allocations are found for at most {LARGEST}")
    u = _guess(solve(instance, "nb", accuracy="high").tasks)
    piece = _with_totals(instance, u)
    if not piece.vertices or _most(arcs, [weights[n] / u[n] for n in arcs.user], range(len(arcs.user))) != sum(weights, ZERO):
        raise NotApplicable(_irrational("these are the nb allocations"))
    return piece


def _with_totals(instance: Instance, u: Rationals) -> Piece:
    """The polytope of all x with the totals u > 0; without vertices where these do not fit, or somebody has none."""
    arcs, gamma = exact_arcs(instance), exact_monopolies(instance)
    totals: list[LinearRow] = [({a: ONE for a, user in enumerate(arcs.user) if user == n}, u[n]) for n in range(instance.N)]
    loads = capacity_rows(arcs)
    found = polytope_vertices([ZERO] * len(gamma), gamma, totals, loads.values()) if all(u) else []
    vertices = tuple(sorted(found))
    signs: list[LinearRow] = [({a: -ONE}, ZERO) for a in range(len(gamma))]
    return Piece(full_rows(loads, vertices), tuple(totals), (*loads.values(), *signs), vertices)


def _one_by_one(item: AlphaPfVds, game: Game, instance: Instance) -> Piece:
    """The one equilibrium of servers that share no user; NotApplicable where it is not rational."""
    arcs, units = exact_arcs(instance), unit(instance, exact_arcs(instance))
    near = solve(instance, item, accuracy="high")
    x = _guess(near.x)
    z = [value / one for value, one in zip(x, units, strict=True)]
    piece = _with_totals(instance, arcs.tasks(x))
    of_servers = [np.flatnonzero(instance.arcs.server == i).tolist() for i in range(instance.K)]
    best = piece.vertices and all(_best_there(game, i, here, x, z) for i, here in enumerate(of_servers) if here)
    if not best:
        raise NotApplicable(_irrational("nobody may use two servers, so there is one equilibrium"))
    return piece


def _best_there(game: Game, i: int, here: list[int], x: Rationals, z: Sequence[Fraction]) -> bool:
    """Whether server i, with the arcs `here`, cannot do better, exactly; x (A,) are tasks that fit, z their users' shares."""
    arcs, gamma = exact_arcs(game.instance), exact_monopolies(game.instance)
    if np.isinf(game.alpha[i]):
        loads = arcs.loads(x)
        users = {row: [a for a in here if row in dict(arcs.load[a])] for a in here for row, _ in arcs.load[a]}
        return all(any(loads[row] == 1 and all(z[m] <= z[a] for m in users[row]) for row, _ in arcs.load[a]) for a in here)
    worth = [_marginal(game, i, z[a], z[here[0]]) for a in here]
    if None in worth:
        return False
    value = {a: w / gamma[a] for a, w in zip(here, worth, strict=True) if w is not None}
    now = sum((value[a] * x[a] for a in here), ZERO)
    return _most(arcs, [value.get(a, ZERO) for a in range(len(x))], here) == now


def _marginal(game: Game, i: int, z: Fraction, first: Fraction) -> Fraction | None:
    """g_i'(z) up to a factor of the server, 1 where z is the share of its first user; None where it is not rational."""
    alpha = float(game.alpha[i])
    if z == first:
        return ONE
    if not alpha.is_integer():
        return None
    A, B = (rational(float(part[i]), "A or B") for part in (game.A, game.B))
    here, there = ((A / share) ** int(alpha) + B / share for share in (z, first))
    return here / there


def _guess(values: Floats) -> Rationals:
    """The simplest fractions next to some numbers; zeros, which are no guess, where a method had no point."""
    known = values if np.all(np.isfinite(values)) else np.zeros(len(values))
    return tuple(Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in known)


def _irrational(what: str) -> str:
    fractions = f"no fractions with denominators up to {LARGEST_DENOMINATOR:,}"
    return f"{what}, but {fractions} are its tasks, which are irrational in general"


def _most(arcs: ExactArcs, worth: Sequence[Fraction], here: Sequence[int]) -> Fraction | None:
    """Max sum_a worth_a y_a over what fits the servers, y >= 0 on the arcs `here`; None where the program was not solved."""
    value, load = np.array([worth[a] for a in here], dtype=object), np.array(arcs.matrix(), dtype=object)[:, list(here)]
    best = maximum(value, load, np.array([ONE] * arcs.rows, dtype=object), exact=True)
    return None if best is None else best.value
