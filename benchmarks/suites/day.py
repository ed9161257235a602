r"""The suite `day`: 1,440 re-solves, one a minute, while capacities drift and one user at a time comes or goes.

Its cases are the minutes, which any method solves on its own. `resolved` goes through them in one process, and each is

    cold        solved from a start of the method's own
    warm        solved from the answer a minute ago, in which who comes has an equal part
    predicted   moved from an earlier answer along its derivatives (analysis/active_set.py), scaled to fit, and judged

Nobody is predicted to come or go. A prediction is *bad* where its residual exceeds the accuracy. Then derivatives are new.

    python -m fairalloc.benchmarks.suites.day [MINUTES]
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.active_set import Moves, moves
from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples.generators import generic
from fairalloc.models.feasibility import infeasibility, scaled_down
from fairalloc.models.tables import Grid
from fairalloc.solvers import solve
from fairalloc.solvers.options import promised

MINUTES, USERS, FEWEST, SEED, COMES_OR_GOES, SWING = 1440, 30, 15, 1, 0.1, 0.1
"""All users of the day, the fewest at a time, the seed, the part of the minutes in which one comes or goes, and by which part a
capacity is larger at one time and smaller at another."""

EVERYBODY = generic(USERS, 5, 2, SEED)


@cache
def _present() -> NDArray[np.bool_]:
    """(minutes, users) who is there: two thirds at first, and then one more or one less now and then."""
    rng, here = np.random.default_rng(SEED), np.arange(USERS) < 2 * USERS // 3
    result = np.empty((MINUTES, USERS), bool)
    for minute in range(MINUTES):
        if rng.random() < COMES_OR_GOES:
            who = rng.integers(USERS)
            here[who] ^= not here[who] or here.sum() > FEWEST
        result[minute] = here
    return result


def at(minute: int) -> Instance:
    """What is to be allocated then: each capacity swings once a day, from an hour of its own on."""
    here, hours = _present()[minute], np.random.default_rng(SEED).random(EVERYBODY.capacities.shape)
    capacities = EVERYBODY.capacities * (1.0 + SWING * np.sin(2.0 * np.pi * (minute / MINUTES + hours)))
    users = [EVERYBODY.users[n] for n in np.flatnonzero(here)]
    demands, weights = np.concatenate(EVERYBODY.demands)[here], EVERYBODY.weights[here]
    return Instance(demands, capacities, weights=weights, users=users, name=f"day-{minute:04d}")


def carried(before: Allocation, instance: Instance) -> Allocation:
    """The tasks and prices a minute ago for those who are here now; who comes has an equal part, which the others leave."""
    arcs, row = instance.arcs, {user: n for n, user in enumerate(before.instance.users)}
    own = [before.by_server[row[user]] if user in row else np.full(instance.K, np.nan) for user in instance.users]
    x = np.array(own)[arcs.user, arcs.server]
    comes, equal = np.isnan(x), 1.0 / instance.N
    return Allocation(instance, np.where(comes, equal * arcs.gamma, (1.0 - equal * comes.any()) * x), prices=before.prices)


def predicted(last: Allocation, along: Moves, instance: Instance) -> Allocation:
    """The answer for the same users on other capacities, to first order."""
    old, new = last.instance.capacities, instance.capacities
    x, prices = np.maximum(last.x + along.tasks[0] @ (new - old).ravel(), 0.0), np.array(last.prices).ravel()
    prices[along.rows] += along.prices[0] @ (new - old).ravel()
    return Allocation(instance, scaled_down(instance, x), prices=np.maximum(prices.reshape(new.shape), 0.0) * new / old)


class Step(NamedTuple):
    """One minute one way: processor seconds, iterations (nan for a prediction) and the residual."""

    seconds: float
    iterations: float
    residual: float


@dataclass
class Resolved:
    """The steps of each way, minutes in which a user came or went, bad predictions, and seconds that derivatives took."""

    mechanism: str
    changed: int = 0
    bad: int = 0
    derived: list[float] = field(default_factory=list)
    steps: dict[str, list[Step]] = field(default_factory=lambda: {"cold": [], "warm": [], "predicted": []})

    def table(self) -> Grid:
        """Medians of seconds, means of iterations, and the worst residual of each way."""
        rows = []
        for way, steps in self.steps.items():
            seconds, iterations, residuals = np.array(steps or [Step(0.0, 0.0, 0.0)]).T
            spent, taken = f"{1e3 * np.median(seconds):.2f}", f"{iterations.mean():.1f}".replace("nan", "-")
            rows.append([way, str(len(steps)), spent, taken, f"{residuals.max():.1e}"])
        derived = f"derivatives took {1e3 * np.median(self.derived or [0.0]):.1f} ms each, {len(self.derived)} times"
        notes = [f"A user came or went in {self.changed} minutes; {self.bad} predictions were bad; {derived}."]
        return Grid(f"{self.mechanism} by the minute", ["way", "steps", "ms", "iterations", "worst residual"], rows, notes)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = process_time()
    return work(), process_time() - start


def resolved(mechanism: str, minutes: Sequence[int] = range(MINUTES), accuracy: str = "mid") -> Resolved:
    """These minutes, one after the other; predicted for `nb`, whose active set has derivatives for all capacities at once."""
    item, found, along = find_mechanism(mechanism), Resolved(mechanism), None
    before = last = solve(at(minutes[0]), mechanism, accuracy=accuracy)
    for minute in minutes[1:]:
        instance = at(minute)
        for way, start in (("cold", None), ("warm", carried(before, instance))):
            now, seconds = _timed(partial(solve, instance, mechanism, accuracy=accuracy, warm_start=start))
            found.steps[way].append(Step(seconds, float(now.iterations or 0), now.residual))
        if instance.users != before.instance.users:
            found.changed, along = found.changed + 1, None
        elif along is not None:
            residual, seconds = _timed(partial(_residual, last, along, instance, item))
            found.steps["predicted"].append(Step(seconds, np.nan, residual))
            if residual > promised(accuracy):
                found.bad, along = found.bad + 1, None
        if mechanism == "nb" and along is None:
            last, (along, seconds) = now, _timed(partial(moves, now, item))
            found.derived.append(seconds)
        before = now
    return found


def _residual(last: Allocation, along: Moves, instance: Instance, item: Any) -> float:
    guess = predicted(last, along, instance)
    return max(float(item.residual(guess)), infeasibility(guess))


CASES = [SuiteCase(f"{k:04d}/{name}", name, partial(at, k)) for name in ("drfh", "nb") for k in range(MINUTES)]
SUITE = Suite(id="day", title="1,440 re-solves: capacities drift, one user at a time comes or goes", cases=CASES, repeats=1)


if __name__ == "__main__":
    chosen = range(int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
    print("\n".join(block.text() for name in ("drfh", "nb") for block in resolved(name, chosen).table().blocks(1)))
