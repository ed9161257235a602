"""Processes that serve requests, one JSON line each, from the runners of benchmarks and of theorems."""

import json
import os
import subprocess
import sys
from typing import IO

__all__ = ["start_server"]

# One thread, so that times of methods compare and do not depend on what else runs.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {} import serve; serve()"


def start_server(module: str, log: IO[bytes]) -> "subprocess.Popen[str]":
    """A process that runs `serve()` of a module: requests to its standard input, answers from its standard output.

    It imports the same packages as its parent whatever the working folder. It gets a session of its own, so that Ctrl-C stops the
    parent first, which then closes it.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START.format(module), json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=os.environ | _ONE_THREAD,
        start_new_session=True,
        text=True,
    )
