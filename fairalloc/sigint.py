"""Ctrl-C while the command line is still being imported: one line and exit code 130 instead of a traceback."""

import os
import signal
import sys
import threading

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def end_quietly() -> None:
    """Let Ctrl-C end this process with one line, where nobody else has decided; the package calls it before its other imports."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again, where `end_quietly` had changed it; the command line calls it when it is there."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_command_line() -> bool:
    """Whether this is `python -m fairalloc`, while that is found, or the console script."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        words = sys.orig_argv
        return "-m" in words and words[words.index("-m") + 1 :][:1] == ["fairalloc"]
    return os.path.splitext(os.path.basename(program))[0] == "fairalloc"


def _end(*_: object) -> None:
    os.write(2, b"fairalloc: interrupted\n")
    os._exit(INTERRUPTED)
