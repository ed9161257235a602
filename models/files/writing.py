"""Files that this package writes: each takes the place of the old one only when it is complete."""

import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from fairalloc.models.errors import PATH, InstanceError, shown


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8; where that fails, the old file stays as it was, and the InstanceError says so.

    1. What is no regular file, such as a pipe or /dev/null, is written where it is.
    2. Else the content goes to a new file in the same folder, which gets the mode of the old one.
    3. It takes the place of the old file, or of the file to which a link leads.
    """
    with _in_one_sentence(path):
        data = content.encode() if isinstance(content, str) else content
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        new = _new_file(target)
        try:
            _fill(new, data)
            if target.exists():
                shutil.copymode(target, new)
            os.replace(new, target)
        except BaseException:
            with contextlib.suppress(OSError):
                new.unlink()
            raise


def make_folder(path: str | Path) -> None:
    """Make a folder, and those it is in, where they are not there; InstanceError where that is impossible."""
    with _in_one_sentence(path):
        Path(path).mkdir(parents=True, exist_ok=True)


def check_writable(path: str | Path) -> None:
    """InstanceError where a file cannot be written, for what takes long before it writes; nothing is changed."""
    with _in_one_sentence(path):
        target = Path(os.path.realpath(path))
        if target.is_file() or not target.exists():
            _new_file(target).unlink()
        elif not target.is_fifo():  # opening it would wait for a reader
            target.open("ab").close()


def _new_file(target: Path) -> Path:
    """An empty file beside the target; PermissionError where the target is there and may not be written."""
    if target.exists():
        target.open("ab").close()
    new = target.with_name(f".{target.name[:40]}-{secrets.token_hex(6)}")
    new.open("xb").close()
    return new


def _fill(new: Path, data: bytes) -> None:
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # until the disk has them


def say(line: str) -> None:
    """Write a line to standard error; where that is impossible there is nobody to tell."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Send what is left in the stream's buffer to nothing: it would fail again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):  # a stream that is no file has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def _in_one_sentence(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, TypeError, ValueError) as error:
        raise InstanceError(f"{shown(str(path), PATH)} cannot be written: {getattr(error, 'strerror', None) or error}") from None
