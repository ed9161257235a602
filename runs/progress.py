"""How far a run is, on the error stream: a bar where a terminal can draw one, else a line now and then."""

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fairalloc.models.files.writing import say

EVERY = 10.0  # seconds between two lines where there is no terminal


class Progress:
    """Use it in a `with` statement; `what` the steps are stands in the plural, and `clock` gives the seconds now."""

    def __init__(self, shown: bool = True, clock: Callable[[], float] = time.monotonic, what: str = "solves") -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description:42.42}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        self._shown, self._clock, self._terminal = shown, clock, console.is_terminal and not console.is_dumb_terminal
        self._bar = Bar(*columns, console=console, transient=True, disable=not (shown and self._terminal))
        self._task: TaskID | None = None
        self._done, self._total, self._what = 0, 0, what
        self._said = self._began = clock()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._bar.disable:  # rich before 14.3 ends a line all the same
            self._bar.stop()

    def begin(self, total: int) -> None:
        """There will be this many steps."""
        self._total, self._task = total, self._bar.add_task("", total=total)

    def step(self, what: str) -> None:
        """One more is done."""
        self._done += 1
        if self._task is not None:
            self._bar.update(self._task, description=what, advance=1)
        now = self._clock()
        if now - self._said >= EVERY:
            left = (now - self._began) / self._done * (self._total - self._done)
            self.say(f"{self._done} of {self._total} {self._what}, about {told(left)} left: {what}")

    def say(self, line: str) -> None:
        """A line where there is no terminal."""
        if self._shown and not self._terminal:
            say(line)
        self._said = self._clock()


def told(seconds: float) -> str:
    """A length of time in words.

    >>> told(40), told(600), told(9000)
    ('40 s', '10 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
