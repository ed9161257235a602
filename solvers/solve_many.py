"""`solve_many`: one mechanism on many instances, small ones of one shape in vectorised steps.

1. Instances of one shape (users, servers, resources) are stacked, where the mechanism is a lexicographic rule or `nb`, everybody
   has one demand vector, and the systems of servers times resources are small.
2. Each stack is solved by the iteration of interior_point/batch.py: `nb`, or the first round of the rule, which is the whole
   answer where the prices of everybody are positive.
3. What an answer's own prices do not prove to the accuracy (judge.py), and what was not stacked, is solved by `solve`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.drfh import DominantResourceFairness
from fairalloc.formulations.drfh_lp import SingleProgram
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.lmmf import LexicographicMaxMin
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation, Times
from fairalloc.models.arguments import Processes, Seconds, checked
from fairalloc.models.errors import FairallocError, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.judge import judged
from fairalloc.solvers.method import Limits, now
from fairalloc.solvers.options import Accuracy, promised
from fairalloc.solvers.running.cpu_time import processor_seconds
from fairalloc.solvers.running.dispatch import is_large, meets
from fairalloc.solvers.running.threads import limited_threads, threads_used
from fairalloc.solvers.running.time_limits import configuring
from fairalloc.solvers.solve import solve

if TYPE_CHECKING:
    from fairalloc.solvers.interior_point.batch import Stack

BLOCK = 128
"""Instances in one stack: more are not faster, and a limit is looked at between two stacks too."""

ROWS = 60
"""Servers times resources up to which instances are stacked: measured; the other methods use their structure on larger ones."""

ARCS = 2_000
"""The same for users times servers."""

STACKED = (NashBargaining, Leximin, DominantResourceFairness, LexicographicMaxMin, MaxMin, SingleProgram)
"""What stacks compute; a class derived from one of these may be about another problem."""


@checked
def solve_many(
    instances: Iterable[Instance],
    mechanism: str | Mechanism | type[Mechanism],
    accuracy: Accuracy = "mid",
    time_limit: Seconds | None = None,
    threads: Processes | None = None,
    **parameters: Any,
) -> list[Allocation]:
    """Compute a mechanism on many instances: thousands of small ones in a few seconds.

    Parameters
    ----------
    instances : of any shapes; those of one shape are solved together
    mechanism : as for `solve`
    accuracy : the residual promised, as for `solve`
    time_limit : seconds for the whole call, None = no limit; later instances have no point and the termination
        "time_limit", after Ctrl-C "interrupted"
    threads : as for `solve`
    parameters : of the mechanism, such as alpha for "fds"

    Returns
    -------
    One Allocation for each instance, in the order given, judged as those of `solve`; `times` of what was solved together is its
    part of the whole

    Raises
    ------
    FairallocError : what `solve` would raise, with the number of the instance, counted from 0
    KeyboardInterrupt : Ctrl-C before there was an answer

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> heavier = wang.replace(weights=[1, 2])
    >>> [allocation.tasks.round(6).tolist() for allocation in solve_many([wang, heavier], "nb")]
    [[10.0, 10.0], [10.0, 10.0]]
    """
    given = list(instances)
    for k, instance in enumerate(given):
        require(isinstance(instance, Instance), f"instances[{k}] is", instance, "it must be an Instance")
    promised(accuracy)
    seconds, found = time_limit or np.inf, find_mechanism(mechanism)
    limits = Limits(accuracy, now() + seconds, threads=threads and int(threads))
    with configuring(found, seconds):
        item = found.configure(**parameters)
    answers: dict[int, Allocation] = {}
    with limited_threads(limits.threads, max((one.A for one in given), default=0)):
        try:
            for k, answer in _found(given, mechanism, item, limits, parameters):
                answers[k] = answer
        except KeyboardInterrupt:
            if not answers:
                raise
    ended, rule = "time_limit" if limits.late else "interrupted", None if isinstance(mechanism, str) else item
    return [answers.get(k) or _unanswered(instance, item, ended).noted(rule=rule) for k, instance in enumerate(given)]


def _found(
    given: list[Instance], asked: str | Mechanism | type[Mechanism], item: Mechanism, limits: Limits, parameters: dict[str, Any]
) -> Iterator[tuple[int, Allocation]]:
    """The number and the answer of each, those of stacks first, until no time is left or Ctrl-C has ended one."""
    single = set(range(len(given)))
    for members in _stacks(given, item, limits.limited):
        if limits.late:
            return
        for k, answer in zip(members, _together([given[k] for k in members], item, limits), strict=True):
            if answer is not None:
                single.remove(k)
                yield k, answer if isinstance(asked, str) else answer.noted(rule=item)
    for k in sorted(single):
        if limits.late:
            return
        seconds = max(limits.deadline - limits.clock(), 1e-3) if limits.limited else None
        try:
            answer = solve(given[k], asked, accuracy=limits.accuracy, time_limit=seconds, threads=limits.threads, **parameters)
        except FairallocError as error:
            raise type(error)(f"instance {k}: {error}") from error
        yield k, answer
        if answer.termination == "interrupted":
            return


def _unanswered(instance: Instance, mechanism: Mechanism, ended: str) -> Allocation:
    said = "there was no time left for it" if ended == "time_limit" else "it was interrupted before it had an answer"
    facts: dict[str, Any] = {"termination": ended, "message": said, "not_judged": f"not judged: {said}"}
    home = instance
    with suppress(FairallocError):  # nobody looks at whether the mechanism is defined there
        home = mechanism.home(instance) if mechanism.is_ours and not is_large(instance) else instance  # it may take seconds
    return Allocation(home, np.full(home.A, np.nan), mechanism.id, parameters=mechanism.parameters, **facts)


def _stacks(instances: list[Instance], mechanism: Mechanism, limited: bool) -> Iterator[list[int]]:
    """Step 1: the numbers of those solved together; functions that may look at no clock keep to `solve` under a limit."""
    if type(mechanism) not in STACKED or (limited and not mechanism.is_ours):
        return
    shapes: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for k, instance in enumerate(instances):
        if _is_stacked(instance, mechanism):
            shapes[instance.N, instance.K, instance.R].append(k)
    for members in (group for group in shapes.values() if len(group) > 1):
        for start in range(0, len(members), BLOCK):
            yield members[start : start + BLOCK]


def _is_stacked(instance: Instance, mechanism: Mechanism) -> bool:
    large = instance.K * instance.R > ROWS or instance.N * instance.K > ARCS
    plain = instance.same_everywhere and instance.single_variant and not (large or instance.has_floors or instance.groups)
    with suppress(FairallocError):  # `solve` says what is wrong
        return plain and mechanism.domain(instance) is instance
    return False


def _together(instances: list[Instance], mechanism: Mechanism, limits: Limits) -> list[Allocation | None]:
    """Steps 2 and 3: the judged answers of instances of one shape; None for what is not proved."""
    from fairalloc.solvers.interior_point.batch import solve_stack

    wall, cpu = now(), processor_seconds()
    stack, tasks, level = _stack_of(instances, mechanism)
    enough = 0.0 if mechanism.unique else 0.01 * limits.promised  # the last digits bound tasks that are unique
    answer = solve_stack(stack, lambda: limits.late, enough)
    share = 1.0 / len(instances)
    wall, cpu = (now() - wall) * share, (processor_seconds() - cpu) * share
    times = Times(solve=wall, wall=wall, cpu=cpu)
    facts: dict[str, Any] = {"mechanism": mechanism.id, "method": "interior-point", "parameters": mechanism.parameters}
    facts |= {"termination": "optimal", "times": times, "threads": threads_used()}
    found: list[Allocation | None] = []
    for k, instance in enumerate(instances):
        arcs, layers = instance.arcs, answer.prices[k : k + 1] * level[k]
        x = (answer.x[k] * tasks[k][:, None])[arcs.user, arcs.server]
        prices = mechanism.model_prices(instance, instance, x, layers)
        found.append(None)
        if np.isfinite(x).all() and np.isfinite(layers).all() and np.isfinite(prices).all():
            rounds = layers if mechanism.takes_rounds else None
            one = Allocation(instance, x, prices=prices, round_prices=rounds, iterations=int(answer.steps[k]), **facts)
            result = judged(mechanism, one, limits, reference=False)
            found[k] = result if meets(result, limits.promised) else None
    return found


def _stack_of(instances: list[Instance], mechanism: Mechanism) -> tuple["Stack", Floats, Floats]:
    """The programs in units of users, (B, N) how many tasks one unit is, and (B,) what one unit of a price is."""
    demand = np.array([instance.vectors.matrix.toarray() for instance in instances])
    pools, weights = (np.array([getattr(instance, name) for instance in instances]) for name in ("pools", "weights"))
    limit = np.array([instance.max_tasks for instance in instances])
    inverse = np.divide(1.0, pools, out=np.zeros_like(pools), where=pools > 0)
    lacking = (demand > 0).astype(float) @ (pools == 0).astype(float).transpose(0, 2, 1)
    is_open = np.array([instance.placement for instance in instances]) & (lacking == 0)
    if isinstance(mechanism, Leximin):  # units of max_min.py
        rate = np.array([mechanism.rate(instance) for instance in instances])
        uniform = np.where(is_open, demand @ inverse.transpose(0, 2, 1), np.inf).min(axis=2)
        level = pools[0].size / (uniform / rate).sum(axis=1)
        tasks, income = level[:, None] / rate, None
    else:  # units of alpha_fair.py
        income, level = weights / weights.sum(axis=1, keepdims=True), weights.sum(axis=1)
        with np.errstate(divide="ignore"):
            alone = np.where(is_open, 1.0 / (demand[:, :, None] * inverse[:, None]).max(axis=3), 0.0)
        tasks = np.minimum(income * alone.sum(axis=2), limit)
    from fairalloc.solvers.interior_point.batch import Stack

    return Stack(demand * tasks[:, :, None], inverse, is_open, limit / tasks, income), tasks, level
