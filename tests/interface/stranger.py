"""What somebody outside the package writes: a mechanism, an edit, a method, a property, a suite and a claim, in one file."""

import cvxpy as cp
import numpy as np

import fairalloc as fa
from fairalloc.benchmarks import Suite, SuiteCase

KHAMSE = fa.example("khamse-fig1").instance


class MostTasks(fa.Mechanism):
    """As many tasks as possible, whoever runs them."""

    id = "most-tasks"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


def cap(problem, instance):
    """The last user runs at most 3 tasks."""
    most = (instance.arcs.owner[[instance.N - 1]] @ problem.var_dict["x"] <= 3).set_label("cap")
    return cp.Problem(problem.objective, [*problem.constraints, most])


most_tasks = MostTasks()
capped = fa.mechanism("drfh").edited("capped", cvxpy=cap)


@fa.method(mechanisms=["drfh"])
def equal_parts(instance, mechanism, limits):
    """A method: every user runs an N-th of what each of its servers could run for it alone."""
    return instance.arcs.gamma / instance.N


def nobody_is_idle(allocation):
    """A property: everybody runs something."""
    return bool(np.all(allocation.tasks > 1e-9))


SUITE = Suite(
    "stranger",
    "three cases of mine",
    (
        SuiteCase("own", most_tasks, lambda: KHAMSE),
        SuiteCase("edited", capped, lambda: KHAMSE),
        SuiteCase("drfh", "drfh", lambda: KHAMSE),
    ),
)

claim = fa.claim("With the most tasks nobody is idle", mechanism=most_tasks, property=nobody_is_idle, hypotheses="everywhere")
