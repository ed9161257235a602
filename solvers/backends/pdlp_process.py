"""OR-Tools' PDLP on one linear program, in a process that this file is the program of.

It reads a pickled request from its standard input and writes a pickled answer to its standard output; what PDLP prints goes to
its standard error. It imports nothing of this package, so that it starts quickly.
"""

import os
import pickle
import sys
from typing import Any

Request = dict[str, Any]
"""cost, matrix, lower, upper, most : of the linear program; criteria, params : fields of OR-Tools' messages."""


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(pickle.dumps(_answer(pickle.load(sys.stdin.buffer))))
    answers.close()


def _answer(request: Request) -> dict[str, Any]:
    """The point, the duals, why it stopped and the iterations; or {"refused": sentence} for parameters that there are not."""
    import time

    import numpy as np
    from google.protobuf.json_format import ParseDict, ParseError
    from ortools.pdlp import solve_log_pb2, solvers_pb2
    from ortools.pdlp.python import pdlp

    params = solvers_pb2.PrimalDualHybridGradientParams()
    try:
        ParseDict(request["params"], params)
        ParseDict(request["criteria"], params.termination_criteria.simple_optimality_criteria)
    except ParseError as error:
        return {"refused": str(error)}
    program = pdlp.QuadraticProgram()
    program.resize_and_initialize(len(request["most"]), len(request["lower"]))
    parts = {
        "objective_vector": -request["cost"],
        "constraint_matrix": request["matrix"],
        "constraint_lower_bounds": request["lower"],
        "constraint_upper_bounds": request["upper"],
        "variable_lower_bounds": np.zeros(len(request["most"])),
        "variable_upper_bounds": request["most"],
    }
    for name, value in parts.items():
        setattr(program, name, value)
    start, busy = time.perf_counter(), time.process_time()
    result = pdlp.primal_dual_hybrid_gradient(program, params)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - busy,
        "primal": np.array(result.primal_solution),
        "dual": np.array(result.dual_solution),
        "reason": solve_log_pb2.TerminationReason.Name(result.solve_log.termination_reason),
        "iterations": int(result.solve_log.iteration_count),
    }


if __name__ == "__main__":
    main()
