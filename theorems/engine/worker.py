"""The process in which statements are looked at: one request a line, one finding a line."""

import json
import os
import sys
import threading
import time
from typing import Any

from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.investigate import investigate
from fairalloc.theorems.registry import all_statements

__all__ = ["serve"]


def serve() -> None:
    """Answer requests from standard input until it ends."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a solver prints is not an answer
    statements = all_statements()
    for line in sys.stdin:
        answers.write(json.dumps(_answer(statements, json.loads(line))) + "\n")
        answers.flush()


def _end_with(parent: int) -> None:
    """End when the parent has been killed: nobody waits for the answer, which may take minutes."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _answer(statements: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    try:
        known = {name: [parse_case(case) for case in cases] for name, cases in request["known"].items()}
        limits = {"seed": request["seed"], "seconds": request["seconds"], "trials": request["trials"] or float("inf")}
        return investigate(statements[request["statement"]], known=known, **limits).document()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
