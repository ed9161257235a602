"""Requests that are answered on the workers of a dask cluster, as `processes.Pool` answers them here (extra `cluster`).

1. At the start every worker says what it has: a hash of the source of fairalloc, and the versions of Python and the packages that
   compute; a worker with other ones is refused with a sentence.
2. As many tasks as there are workers are with the scheduler at a time. A worker hands each to a pool of its own of one server,
   so that limits on time and memory hold there as here, and solves one at a time however many threads it has.
3. What was with a worker that dies is given to another one, by dask. Workers that join later are not used.
4. At the end the workers end their pools.

Files that requests name must be on the workers under the same path. Dask unpickles what the other side sends: whoever answers
at the address can run code here, and whoever reaches the port can there (docs/guides/trust.md).
"""

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairalloc.models.errors import FairallocError, NotInstalled, fault
from fairalloc.runs.machine import describe_software
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task, isolation_missing

CONNECT = 20.0  # seconds to wait for the scheduler and its first worker
GLANCE = 5.0  # seconds after which it is looked again whether any worker is left
_POOLS: dict[str, Pool] = {}
_ONE_AT_A_TIME = threading.Lock()


def cluster_missing() -> str:
    """What to install, as a sentence; "" where nothing is missing."""
    return "" if find_spec("distributed") else "a cluster needs distributed: pip install fairalloc[cluster]"


@cache
def installed() -> Document:
    """What this process has: versions, a hash of the source of fairalloc, and what its system lacks for processes with limits."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(root.glob("*.py")) + sorted(file for room in root.glob("*/") for file in room.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + file.read_bytes())
    software = describe_software()
    packages: Document = software.pop("packages")
    return software | packages | {"source": digest.hexdigest()[:16], "lacks": isolation_missing()}


class RemotePool(contextlib.AbstractContextManager["RemotePool"]):
    """The workers of a scheduler at "tcp://HOST:PORT", or "tls://HOST:PORT" with the certificate of dask's configuration.

    Use it in a `with` statement, which ends what they started. NotInstalled is raised where distributed is not there,
    FairallocError where no scheduler answers, it has no workers, or one of them has other versions.
    """

    def __init__(self, address: str, handler: str) -> None:
        if missing := cluster_missing():
            raise NotInstalled(missing)
        import distributed

        self.address, self._handler = address, handler
        try:
            self._client = distributed.Client(address, timeout=CONNECT)
        except (OSError, TypeError, ValueError, TimeoutError) as error:  # TypeError: TLS without a certificate
            raise FairallocError(f"no scheduler of dask answers at {address!r}: {error}") from None
        try:
            self.workers = self._checked_workers()
        except BaseException:
            self._client.close()
            raise

    def _checked_workers(self) -> list[str]:
        """Step 1: the addresses of the workers."""
        try:
            self._client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise FairallocError(f"the scheduler at {self.address!r} has no workers") from None
        here = installed()
        for worker, there in self._client.run(installed, on_error="return").items():
            what = f"the worker {worker} of {self.address!r}"
            if isinstance(there, BaseException):
                raise FairallocError(f"{what} is refused, because it cannot import this fairalloc {here['fairalloc']}: {there}")
            if there["lacks"]:
                raise FairallocError(f"{what} is refused: {there['lacks']}")
            other = [name for name in here if there.get(name) != here[name]]
            has, own = (", ".join(f"{name} {it.get(name)}" for name in other) for it in (there, here))
            if other:
                raise FairallocError(f"{what} is refused, because it has {has}, but here is {own}")
        return sorted(self._present())

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # a worker may be gone
            self._client.run(_end, self._handler, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=CONNECT)

    def told(self, ask: Callable[[], Document]) -> dict[str, Document]:
        """What a function of a module that workers have returns on each of them, by worker."""
        return dict(self._client.run(ask, workers=self.workers))

    def answers(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Document | NoAnswer]]:
        """Each task with its answer, in the order in which they are answered; no more are taken than there are workers."""
        waiting, sent = iter(tasks), dict[Any, Task]()
        try:
            while True:
                while len(sent) < len(self.workers) and (task := next(waiting, None)) is not None:
                    given = (self._handler, json.dumps(task._asdict()))
                    sent[self._client.submit(_answer, *given, workers=self.workers, pure=False)] = task
                if not sent:
                    return
                for future in self._done(list(sent)):
                    yield sent.pop(future), _result(future)
        except OSError as error:
            raise FairallocError(f"the scheduler of dask at {self.address!r} is gone: {error}") from None
        finally:
            with contextlib.suppress(Exception):
                self._client.cancel(list(sent), force=True)

    def _done(self, futures: list[Any]) -> list[Any]:
        """Those that have ended, once some have."""
        import distributed

        while True:
            with contextlib.suppress(TimeoutError):
                done = list(distributed.wait(futures, timeout=GLANCE, return_when="FIRST_COMPLETED").done)
                if any(future.cancelled() for future in done):
                    raise FairallocError(f"the scheduler of dask at {self.address!r} is gone")
                return done
            if not set(self.workers) & self._present():
                raise FairallocError(f"no worker of the scheduler at {self.address!r} is left")

    def _present(self) -> set[str]:
        return set(self._client.scheduler_info(n_workers=-1)["workers"])


def _result(future: Any) -> Document | NoAnswer:
    """What a worker returned; a task whose workers died again and again is an error, as in a pool."""
    error = future.exception()
    if error is not None:
        return NoAnswer("error", f"its worker failed: {fault(error)}")
    found: Document = json.loads(future.result())
    return found["answer"] if "answer" in found else NoAnswer(**found)


# ---- on a worker ----------------------------------------------------------------------------------------------------


def _answer(handler: str, given: str) -> str:
    """The answer of this worker's own pool, as JSON."""
    with _ONE_AT_A_TIME:
        if handler not in _POOLS:
            _POOLS[handler] = Pool(handler)
        answer = _POOLS[handler].ask(Task(**json.loads(given)))
    return json.dumps(answer._asdict() if isinstance(answer, NoAnswer) else {"answer": answer})


def _end(handler: str) -> None:
    """End this worker's pool, also while it answers: nobody waits for that any more."""
    if (pool := _POOLS.pop(handler, None)) is not None:
        pool.__exit__()
