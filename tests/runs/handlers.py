"""A handler for pools, whose answers go wrong in the way the request names; the pool finds it under the name of this file."""

import os
import subprocess
import sys
import time

_PREPARED: list[int] = []


def prepare(request):
    if "prepare" in request:
        _MISBEHAVIOURS[request["prepare"]](request)
    _PREPARED.append(os.getpid())


def answer(request, restart):
    if "restart" in request:
        time.sleep(request["restart"])
        restart()
    return _MISBEHAVIOURS[request["do"]](request)


def _echo(request):
    return {"said": request["say"], "pid": os.getpid(), "parent": os.getppid(), "prepared": len(_PREPARED)}


def _hang(request):
    if "child" in request:
        subprocess.Popen(["sleep", request["child"]])
    time.sleep(600)


def _abort(_):
    os.abort()


def _exit(_):
    os._exit(7)


def _raise(_):
    raise ValueError("a & b <c>")


def _eat(_):
    return {"length": len(bytearray(2**28))}


def _eat_and_die(_):
    print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
    os.abort()


def _print(_):
    print('{"answer": {"said": "a lie"}}', flush=True)
    os.write(1, b"\x00\xff garbage \n")
    return {"said": "the truth"}


def _garbage(_):
    """To every open file, also to the pipe of answers, as a library that closed the wrong file would."""
    for file in range(3, 64):
        try:
            os.write(file, b"\x00\xff no answer\n")
        except OSError:
            continue
    time.sleep(600)


def _no_document(_):
    return {"set": {1}}


def _import(_):
    """A package that the server has not imported."""
    new = "wave" not in sys.modules
    import wave  # noqa: F401

    return {"new": new}


_MISBEHAVIOURS = {name.removeprefix("_"): function for name, function in list(globals().items()) if callable(function)}
