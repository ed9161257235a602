"""Shared by the papers' algorithms for the game: the arrays of one server, and the users and alphas that a method is for.

With b_n the share z_ni that user n has from the other servers alone, the share at server i is z_n = b_n + y_n / phi_n, so a
server sees of the rest of the system nothing but b. All numbers are those of formulations/game/game.py, without units.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Answer, Iteration, Limits, Method


@dataclass(frozen=True)
class ServerArrays:
    """The m arcs of one server; floats, or objects holding `fractions.Fraction`.

    index : its row i
    arcs, user : (m,) int
    w : (m, R) part of the resource that a monopoly uses
    phi, gamma : (m,) weights, and tasks of a monopoly (K 8)
    most : (m,) the share z at which a user has all the tasks that it wants, inf where there is no limit
    """

    index: int
    arcs: NDArray[np.intp]
    user: NDArray[np.intp]
    w: Any
    phi: Any
    gamma: Any
    most: Any

    def elsewhere(self, x: Any, tasks: Any) -> Any:
        """(m,) b_n of tasks x (A,) on arcs with totals tasks (N,)."""
        here = tasks * 0
        np.add.at(here, self.user, x[self.arcs])
        rest = (tasks - here)[self.user]
        return np.maximum(rest, rest * 0) / (self.phi * self.gamma)

    def put(self, y: Any, x: Any, tasks: Any) -> Any:
        """Write new y (m,) into tasks x (A,) on arcs and tasks (N,) of users; the largest relative change of a user's tasks."""
        change = y * self.gamma - x[self.arcs]
        x[self.arcs] += change
        before = tasks.copy()
        np.add.at(tasks, self.user, change)
        moved = self.user[tasks[self.user] != before[self.user]]
        return np.max(np.abs(tasks - before)[moved] / np.maximum(tasks, before)[moved], initial=0)


def servers_of(game: Game) -> list[ServerArrays]:
    """The servers that have arcs, in order."""
    return server_arrays(game, game.w, game.instance.weights, game.gamma, game.limits)


def server_arrays(game: Game, w: Any, weights: Any, gamma: Any, limits: Any) -> list[ServerArrays]:
    """The same with w (A, R), weights (N,), gamma (A,) and limits (N,) in floats or rationals."""
    most, users = limits[game.user] / (weights[game.user] * gamma), game.user
    each = enumerate(game.arcs_of_servers)
    return [ServerArrays(i, a, users[a], w[a], weights[users[a]], gamma[a], most[a]) for i, a in each if len(a)]


class GameSession(Iteration):
    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.mechanism, Equilibrium)
        with self.phase("build"):
            self.game = self.mechanism.game(self.instance)

    def rests(self, change: float, least: float, what: str) -> None:
        """Say whether tasks changed by at most `least`, relative, in the last of the sweeps or rounds: then more do not help."""
        rest = change <= least
        self.why, self.ended = f"{'' if rest else 'not '}at rest after {self.done} {what}", "inaccurate" if rest else self.ended

    @cached_property
    def servers(self) -> "list[ServerArrays]":
        return servers_of(self.game)

    def first_point(self) -> Floats:
        """(A,) tasks to start at: the warm start, scaled down to fit, else none."""
        start = self.limits.start
        return np.zeros(len(self.game.user)) if start is None else scaled_down(self.instance, start)


class GameMethod(Method):
    """A method whose `session` computes a game, any alpha, without a choice among its answers."""

    kind = "iterative"
    kinds: tuple[type[Mechanism], ...] = (Equilibrium,)
    warm = True

    def computes(self, mechanism: Mechanism) -> bool:
        return super().computes(mechanism) and not getattr(mechanism, "chooses", False)

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """As every method, without the variants that nobody needs: with sizes far apart these make a path long."""
        if (needed := needed_variants(instance)) is None:
            return super().run(mechanism, instance, limits)
        given = instance.exact.demands
        few = instance.replace(demands=[[*compress(d, mask)] for d, mask in zip(given, needed, strict=True)])
        arcs = instance.arcs
        kept = np.concatenate(needed)[instance.vectors.first[arcs.user] + arcs.variant]

        def whole(x: Any, zero: Any = 0.0) -> NDArray[Any]:
            result = np.full(len(kept), zero)
            result[kept] = x
            return result

        keep, start = limits.keep, None if limits.start is None else limits.start[kept]
        answer = super().run(mechanism, few, replace(limits, start=start, keep=keep and (lambda x: keep(whole(x)))))
        exact = None if answer.x_exact is None else tuple(whole(answer.x_exact, Fraction(0)))
        return replace(answer, x=whole(answer.x), x_exact=exact)


def needed_variants(instance: Instance) -> list[NDArray[np.bool_]] | None:
    """For each user the variants that no other one beats in all resources; None where that is all, or pairs have their own."""
    if instance.own or instance.vectors.matrix.shape[0] == instance.N:
        return None
    needed = [np.array([not any(np.all(e <= one) and np.any(e < one) for e in d) for one in d]) for d in instance.demands]
    return None if all(mask.all() for mask in needed) else needed


class ForFiniteAlpha(GameMethod):
    """For Problem 1 where alpha is finite; users have one demand vector and no limits, as in K."""

    kind = "first-order"
    kinds: tuple[type[Mechanism], ...] = (AlphaPfVds,)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return plain_users(self.id, mechanism.domain(instance)) or finite_alpha(self.id, mechanism, instance)


class ForFilling(GameMethod):
    """For games in which every server fills: alpha = inf everywhere, or one resource; in units of the user; users as in P."""

    canonical = False

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        game = game_of(mechanism, instance)
        if reason := plain_users(self.id, game.instance):
            return reason
        for i in np.flatnonzero(game.finite)[:1] if game.instance.R > 1 or not game.alike.all() else ():  # K Theorem 5
            what = "a utility of one's own" if game.own[i] else f"{game.alpha[i]:g}"
            return f"{self.id} needs alpha = inf on every server, but it is {what} on server {instance.servers[i]!r}"
        return ""


def plain_users(method: str, instance: Instance) -> str:
    """Why a method for users with one demand vector and without limits does not apply; else ""."""
    for user, demand in zip(instance.users, instance.demands, strict=True):
        if len(demand) > 1:
            return f"{method} needs one demand vector for each user, but user {user!r} has {len(demand)}"
    for n in np.flatnonzero(np.isfinite(instance.max_tasks))[:1]:
        return f"{method} is for users without limits, but user {instance.users[n]!r} has max_tasks {instance.max_tasks[n]:g}"
    return ""


def game_of(mechanism: Mechanism, instance: Instance) -> Game:
    """The game of an instance in the units of the user."""
    assert isinstance(mechanism, Equilibrium)
    return mechanism.game(mechanism.domain(instance))


def finite_alpha(method: str, mechanism: Mechanism, instance: Instance) -> str:
    """Why a method for finite alpha does not apply; else ""."""
    for i in np.flatnonzero(~game_of(mechanism, instance).finite)[:1]:
        return f"{method} needs finite alpha, but it is inf on server {instance.servers[i]!r}"
    return ""
