"""What the command line writes: answers on standard output, sentences on standard error, and nothing that a terminal obeys."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

from fairalloc.models.errors import FairallocError
from fairalloc.models.files.writing import abandon, say, write_file
from fairalloc.models.tables import printable


class ReaderGone(Exception):  # noqa: N818 (a signal, not an error)
    """The reader of standard output has stopped, as with `| head`."""


def prepare_streams() -> None:
    """Characters that a stream cannot write are written as escapes; FairallocError where standard output is closed.

    Closed standard streams are opened on nothing, so that no file that is opened later gets their numbers.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
        raise FairallocError("standard output is closed, so there is nowhere to write the answer")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


_ANSWERS = ContextVar[TextIO | None]("answers", default=None)


@contextmanager
def answers_alone() -> Iterator[None]:
    """Standard output is for answers: what code of the caller's prints goes to standard error."""
    token = _ANSWERS.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _ANSWERS.reset(token)


def answers() -> TextIO:
    """Where answers are written."""
    return _ANSWERS.get() or sys.stdout


def emit(text: str) -> None:
    """Write a piece of the answer, now."""
    stream = answers()
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        abandon(stream)
        raise ReaderGone from None
    except OSError as error:
        abandon(stream)
        raise FairallocError(f"standard output cannot be written: {error.strerror or error}") from None


def written(text: str, file: Path | None) -> None:
    """Write a text to a file, None = standard output."""
    if file is None:
        emit(text)
    else:
        write_file(file, text)


def complain(sentence: str) -> None:
    """Write one line to standard error."""
    say(printable(" ".join(f"fairalloc: {sentence}".split("\n"))))
