"""Ctrl-C while the command line is still being imported: one line and exit code 130 instead of a traceback.

1. In a process that is the command line the package calls `end_quietly` before all its other imports: Ctrl-C then ends it.
2. The command line calls `raise_again` when it is there: from then on Ctrl-C is a KeyboardInterrupt as everywhere.
"""

import os
import signal
import sys
import threading

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def end_quietly() -> None:
    """Let Ctrl-C end this process with one line, where nobody else has decided."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """Let Ctrl-C be a KeyboardInterrupt again, where `end_quietly` had changed it."""
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
