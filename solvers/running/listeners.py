"""What a long call tells while it runs: the seconds so far, the method, its iteration and what it measures.

1. `solve(progress=...)` listens (`listening`). Methods tell facts as they go (`tell`); where nobody listens that is nothing.
2. A child process hands what it is told to its parent through the pipe that answers take (`hand_over`, time_limits.py).
3. While a solver in native code runs in a child, the parent repeats the last facts with the seconds so far (`tick`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from fairalloc.models.files.writing import say

EVERY = 1.0
"""Seconds between two lines, and before the first."""

MEASURES = ("residual", "error", "merit", "change")
"""What methods measure, the most telling first: a residual is what the judge computes, the others are the method's own."""


@dataclass(frozen=True)
class ProgressStep:
    """Where a call is: seconds so far, the method, its iteration, and what it measures there; None = it does not say."""

    seconds: float = 0.0
    method: str = ""
    iteration: int | None = None
    measure: str = ""
    value: float | None = None

    def __str__(self) -> str:
        steps = [] if self.iteration is None else [f"iteration {self.iteration}"]
        steps += [] if self.value is None else [f"{self.measure} {self.value:.1e}"]
        return ", ".join([f"{self.seconds:.1f} s", self.method, *steps])


class _Listener:
    """Keeps what was told last, and passes it on at most every so many seconds."""

    def __init__(self, pass_on: Callable[[ProgressStep], object], every: float) -> None:
        self.pass_on, self.every = pass_on, every
        self.began = self.last = time.perf_counter()
        self.now = ProgressStep()

    def hear(self, facts: dict[str, Any]) -> None:
        """Facts of one step; another method begins anew."""
        new = ProgressStep(method=facts["method"]) if "method" in facts else self.now
        iteration = facts.get("iteration", facts.get("iterations", new.iteration))
        found = next(((name, float(facts[name])) for name in MEASURES if name in facts), (new.measure, new.value))
        self.now = replace(new, iteration=iteration, measure=found[0], value=found[1])
        self.tick()

    def tick(self) -> None:
        """Pass on where the call is, if it is time."""
        now = time.perf_counter()
        if now - self.last >= self.every and self.now.method:
            self.last = now
            self.pass_on(replace(self.now, seconds=now - self.began))


_LISTENER: ContextVar[_Listener | None] = ContextVar("progress", default=None)


def tell(**facts: Any) -> None:
    """Say where a method is: method, iteration or iterations, and one of MEASURES."""
    if (listener := _LISTENER.get()) is not None:
        listener.hear(facts)


def tick(told: ProgressStep | None = None) -> None:
    """Say that time has passed; in the parent also what a child has told."""
    if (listener := _LISTENER.get()) is not None:
        listener.now = told or listener.now
        listener.tick()


@contextmanager
def listening(progress: bool | Callable[[ProgressStep], object]) -> Iterator[None]:
    """Pass on what is told inside: True = a line on standard error every second, else to a function."""
    if progress is False:
        yield
        return
    token = _LISTENER.set(_Listener((lambda step: say(f"fairalloc: {step}")) if progress is True else progress, EVERY))
    try:
        yield
    finally:
        _LISTENER.reset(token)


def hand_over(send: Callable[[ProgressStep], object]) -> None:
    """In a child process, for good: what is told goes to the parent, where somebody listens there."""
    if _LISTENER.get() is not None:
        _LISTENER.set(_Listener(send, 0.0))
