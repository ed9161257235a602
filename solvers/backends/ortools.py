"""OR-Tools' PDLP, a first-order method for linear programs: sparse arrays handed to it without a modelling layer.

Its duals y of  min c @ z,  l <= A z <= u  are <= 0 where a row is at its upper bound: the prices of  max -c @ z  are -y. It runs
in a process of its own (pdlp_process.py): its wheels and those of highspy carry different libraries of the same name, and
whichever is imported second does not load. Starting it takes about 0.3 s of processor time, which count.
"""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np

from fairalloc.formulations.lexicographic.linear_program import LP, Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.errors import NotApplicable, shown
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends import pdlp_process
from fairalloc.solvers.method import Method, Session, Stopped
from fairalloc.solvers.options import TERMINATION, solver_options


class PdlpSession(Session):
    """One linear program after the other, each in a process of its own."""

    mechanism: Leximin | Utilitarian

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        with self.phase("build"):
            lp = self.mechanism.lp(self.instance, round)
        with self.phase("solve"):
            answer = self._ask(lp)
        self.count(answer["iterations"])
        self.note(seconds=answer["seconds"], cpu=answer["cpu"])
        self.x = np.maximum(answer["primal"][: self.instance.A], 0.0)
        self.conclude(TERMINATION.get(answer["reason"].removeprefix("TERMINATION_REASON_"), "error"))
        rows = self.instance.K * self.instance.R
        return self.x, -answer["dual"][:rows].reshape(self.instance.K, self.instance.R)

    def _ask(self, lp: LP) -> dict[str, Any]:
        given = dict(self.limits.solver_options)
        criteria = solver_options(Pdlp.table, self.limits.accuracy)
        criteria |= {name: given.pop(name) for name in tuple(given) if name in criteria}
        params = {"num_threads": self.limits.threads or 1, "verbosity_level": 2 if self.limits.log else 0, **given}
        left = self.limits.left if self.limits.limited else None
        if left is not None:
            params["termination_criteria"] = {"time_sec_limit": left, **params.get("termination_criteria", {})}
        request: pdlp_process.Request = {**vars(lp), "criteria": criteria, "params": params}
        command = [sys.executable, "-P", pdlp_process.__file__]
        try:
            done = subprocess.run(command, input=pickle.dumps(request), capture_output=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            raise Stopped("time_limit") from None
        said = done.stderr.decode(errors="replace").splitlines()
        if self.limits.log:
            self.log.extend(said)
        if done.returncode:
            last = said[-1] if said else "it said nothing"
            raise Stopped("error", f"its process ended with exit code {done.returncode}: {last}")
        answer: dict[str, Any] = pickle.loads(done.stdout)
        if "refused" in answer:
            raise NotApplicable(f"PDLP refuses the options {shown(dict(self.limits.solver_options))}: {answer['refused']}")
        return answer


class Pdlp(Method):
    """OR-Tools' PDLP on the linear programs of a mechanism."""

    id = "ortools:pdlp"
    kind = "first-order"
    kinds = (Leximin, Utilitarian)
    peer = True
    packages = ("ortools",)
    install = "pip install fairalloc[ortools]"
    solver = "PDLP"
    session = PdlpSession
    table = "PDLP of OR-Tools"


methods = (Pdlp(),)
