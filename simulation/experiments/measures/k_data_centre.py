"""K 6.2 and 6.3 with the Bitbrains workload on the data centre of K Fig. 5: one allocation, and the distributed algorithm."""

from functools import cache

import numpy as np

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.formulations.game.game import Game
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.trial import Trial, TrialResult, thinned
from fairalloc.simulation.workloads import bitbrains_instant
from fairalloc.solvers import solve
from fairalloc.solvers.game.ps_mfa import Merit

__all__ = ["RESOURCES", "converges", "utilisation"]

RESOURCES = ("cpu", "memory", "disk", "send", "receive")

_instance = cache(bitbrains_instant)


def utilisation(trial: Trial) -> TrialResult:
    instance = _instance(trial.workload, trial.seed, trial.settings["users"])
    answer = solve(instance, trial.competitor)
    used = answer.load.mean(axis=0)  # K: "averaged over different servers"
    total = instance.capacities.sum(axis=0)
    overall = (answer.load * instance.capacities).sum(axis=0) / total
    each = deviation(instance, answer.x)
    numbers = {name: used[r] for r, name in enumerate(RESOURCES)}
    numbers |= {f"{name}, of all": overall[r] for r, name in enumerate(RESOURCES)}
    return TrialResult(numbers | {"mean": used.mean(), "mean deviation": each.mean(), "residual": answer.residual})


def converges(trial: Trial) -> TrialResult:
    """(K 55)-(57) with one epsilon: the merit Psi (K 37) and the largest direction after each step of all servers."""
    instance = _instance(trial.workload, trial.seed, trial.settings["users"])
    epsilon, steps = trial.settings["epsilon"], trial.settings["steps"]
    merit = Merit(Game(instance, trial.competitor.parameters["alpha"]))
    game = merit.game
    stiff = np.array([np.linalg.norm(game.w[game.server == i], 2) ** 2 for i in range(instance.K)]) / epsilon**2
    everywhere = np.bincount(game.user, game.gamma, instance.N)[game.user]
    y = merit.start(np.zeros(len(game.user)))
    merits: list[float] = []
    for _ in range(steps):
        prices = np.maximum(game.load(y) - 1.0 + epsilon, 0.0) / epsilon**2
        g, slope = merit.marginal(y)
        f = merit.cost(prices) - g
        merits.append(float(0.5 * ((np.hypot(y, f) - y - f) ** 2).sum()))
        bend = np.zeros(instance.K)
        np.maximum.at(bend, game.server, slope * everywhere)
        following = np.maximum(y - np.where((y > 0) | (f < 0), f, 0.0) / (stiff + bend)[game.server], 0.0)
        y = following if merit.feasible(following) else np.maximum(following, 0.5 * y)
    return _convergence(np.array(merits), float(game.load(y).max()))


def _convergence(merits: Floats, load: float) -> TrialResult:
    """How straight the logarithm of the merit is over the second half of the steps in which it falls, and how steep."""
    logs = np.log10(np.maximum(merits, 1e-300))
    low = float(logs.min())
    last = int(np.argmax(logs <= low + 0.5))
    rows = np.arange(last // 2, last + 1)
    steep, fit = 0.0, 0.0
    if len(rows) > 2:
        steep, level = np.polyfit(rows, logs[rows], 1)
        off = logs[rows] - (steep * rows + level)
        fit = 1.0 - float(off.var() / max(float(logs[rows].var()), 1e-300))
    numbers = {
        "log10 of Psi at the start": logs[0],
        "log10 of Psi at the end": low,
        "steps per digit": -1.0 / steep if steep < 0 else np.inf,
        "straightness, 1 is a line": fit,
        "largest load at the end": load,
    }
    return TrialResult(numbers, {"Psi": thinned(np.arange(len(merits)), merits)})
