"""K 6.2 and 6.3 with the Bitbrains workload on the data centre of K Fig. 5: Figs. 6, 7 and 12."""

from functools import cache, partial
from itertools import pairwise

import numpy as np

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.formulations.game.game import Game
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.experiment import Experiment, Judged, Outcomes, Size, Trial, TrialResult, larger, thinned
from fairalloc.simulation.experiments.figures import bars, curves, figure
from fairalloc.simulation.workloads import bitbrains_instant
from fairalloc.solvers import solve
from fairalloc.solvers.game.ps_mfa import Merit

__all__ = ["EXPERIMENTS"]

RESOURCES = ("cpu", "memory", "disk", "send", "receive")

ALPHAS = ("alpha-pf-vds alpha=1", "alpha-pf-vds alpha=3", "ps-dsf")  # K's variants; PS-DSF is that for alpha = infinity

HERE = (
    "a set of VMs for each seed, those of Bitbrains Rnd that used CPU in a drawn hour, each with the most it ever used of five "
    "resources. Drawn by us, for the paper does not say: the hours, and the location of each VM. Of our choice: how many servers "
    "of a type stand at a location, and which location has which network. Tasks are divisible and unlimited"
)


_instance = cache(bitbrains_instant)


def _utilisation(trial: Trial) -> TrialResult:
    instance = _instance(trial.workload, trial.seed, trial.settings["users"])
    answer = solve(instance, trial.competitor)
    used = answer.load.mean(axis=0)  # K: "averaged over different servers"
    total = instance.capacities.sum(axis=0)
    overall = (answer.load * instance.capacities).sum(axis=0) / total
    each = deviation(instance, answer.x)
    numbers = {name: used[r] for r, name in enumerate(RESOURCES)}
    numbers |= {f"{name}, of all": overall[r] for r, name in enumerate(RESOURCES)}
    return TrialResult(numbers | {"mean": used.mean(), "mean deviation": each.mean(), "residual": answer.residual})


def _falls_with_alpha(outcomes: Outcomes) -> Judged:
    means = {name: [outcomes.mean(label, name) for label in ALPHAS] for name in (*RESOURCES, "mean")}
    against = [name for name in RESOURCES if any(after > before + 1e-6 for before, after in pairwise(means[name]))]
    one, three, infinite = means["mean"]
    said = f"mean over resources {one:.1%} for alpha = 1, {three:.1%} for 3 and {infinite:.1%} for infinity"
    gains = ", ".join(f"{name} {means[name][0] - means[name][2]:+.1%}" for name in RESOURCES)
    text = f"{said}; from infinity to 1: {gains}"
    return Judged.whether(not against, f"{text}; not in this order: {', '.join(against)}" if against else text)


def _above_the_others(outcomes: Outcomes) -> Judged:
    best = {name: _better_of_others(outcomes, name) for name in RESOURCES}
    gains = {name: outcomes.mean("ps-dsf", name) - best[name] for name in RESOURCES}
    overall = {
        name: outcomes.mean("ps-dsf", f"{name}, of all") - _better_of_others(outcomes, f"{name}, of all") for name in RESOURCES
    }
    less = [name for name in RESOURCES if any(larger(outcomes, other, "ps-dsf", name, 1e-6) for other in ("drfh", "tsf"))]
    relative = max(outcomes.mean("ps-dsf", name) / max(best[name], 1e-12) - 1 for name in RESOURCES)
    told, of_all = (", ".join(f"{name} {gain:+.1%}" for name, gain in values.items()) for values in (gains, overall))
    text = (
        f"PS-DSF against the better of DRFH and TSF, mean over servers: {told}; at most {relative:+.0%} of what the better one "
        f"uses. Of all servers together, which does not depend on where DRFH and TSF place the tasks: {of_all}"
    )
    return Judged.whether(not less, f"the mean over servers is less for {' and '.join(less)}. {text}" if less else text)


def _better_of_others(outcomes: Outcomes, name: str) -> float:
    return max(outcomes.mean(other, name) for other in ("drfh", "tsf"))


def _converges(trial: Trial) -> TrialResult:
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


def _linear(outcomes: Outcomes) -> Judged:
    label = "alpha-pf-vds alpha=3"
    fall = outcomes.values(label, "log10 of Psi at the start") - outcomes.values(label, "log10 of Psi at the end")
    fit, steps = (outcomes.values(label, name) for name in ("straightness, 1 is a line", "steps per digit"))
    line = f"its logarithm is a straight line up to {1 - fit.min():.1%} of its variance at most"
    digits = f"{np.median(steps):.0f} steps for each digit (median of {len(fall)} seeds)"
    text = f"Psi falls by {fall.min():.1f} digits or more; over the last half of the steps of its fall {line}, with {digits}"
    return Judged.whether(bool((fall >= 3).all() and (fit >= 0.9).all()), text)


OF_FIVE_RESOURCES = partial(
    Experiment,
    setting=HERE,
    kind="mechanism",
    sizes={"small": Size((0,), {"users": 24}), "full": Size(tuple(range(100)), {"users": None})},
    measure=_utilisation,
    panels=figure(bars(RESOURCES, "mean over servers", "part in use")),
    workloads=("bitbrains", "generated"),
)

EXPERIMENTS = (
    Experiment(
        "K.Fig6",
        "convergence of the distributed algorithm for alpha = 3",
        "The distributed algorithm converges to an optimal solution of Problem 3, where Psi is 0, linearly.",
        f"{HERE}. The penalty has one epsilon for all steps; steps are scaled at each server as vds_distributed.py says, for the "
        "paper does not give them; Psi is counted with tasks in parts of a monopoly",
        "mechanism",
        ("alpha-pf-vds alpha=3",),
        {
            "small": Size((0,), {"users": 12, "steps": 1500, "epsilon": 0.1}),
            "full": Size(tuple(range(10)), {"users": None, "steps": 40_000, "epsilon": 0.1}),
        },
        _converges,
        _linear,
        figure(curves("Psi", "merit of Problem 3", ("step of all servers", "Psi"), ("linear", "log"))),
        ("bitbrains", "generated"),
    ),
    OF_FIVE_RESOURCES(
        "K.Fig7",
        "utilisation of five resources by alpha",
        "alpha-PF-VDS uses more of the resources for smaller alpha, significantly from infinity to 1 (100 runs).",
        competitors=ALPHAS,
        judge=_falls_with_alpha,
    ),
    OF_FIVE_RESOURCES(
        "K.Fig12",
        "utilisation of five resources by PS-DSF, DRFH and TSF",
        "PS-DSF uses more of the resources than DRFH and TSF, up to 20 % for some (100 runs).",
        competitors=("ps-dsf", "drfh", "tsf"),
        judge=_above_the_others,
    ),
)
