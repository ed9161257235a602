r"""Gavel's makespan (Narayanan et al., OSDI 2020, section 4.2): all jobs are done as early as possible.

    min  max_n  steps_n / throughput(n, X)     s.t.  sum_n X_nj z_n <= workers_j,   sum_j X_nj <= 1,   X >= 0

in the letters of gavel_max_min.py; steps_n are the tasks that are left, max_tasks of the instance. With g = 1 / makespan it is

    max  g     s.t.  throughput(n, X) >= g steps_n,

one linear program, where Gavel searches T by bisection. Rates of tasks are shared here, so max_tasks are no limits on them.
Answers are on the instance of `with_own_time` without max_tasks, in which the weight of a job is steps_n, and so is any such
instance read.
"""

from fairalloc.formulations.gavel_max_min import GavelMaxMin
from fairalloc.formulations.gavel_max_min import timed as with_time
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact import rationals
from fairalloc.models.instance import Instance
from fairalloc.models.shares import count
from fairalloc.models.transformations.own_time import own_time


def timed(instance: Instance) -> Instance:
    """The instance with own time, in which the weight of a job is the number of its steps."""
    steps = instance.exact.max_tasks
    if (own_time(instance) >= 0).all() and not any(steps):
        return with_time(instance)
    for n in [n for n, left in enumerate(steps) if left is None][:1]:
        raise NotApplicable(f"gavel-makespan needs the tasks of every job, but user {instance.users[n]!r} has no max_tasks")
    return with_time(instance.replace(weights=steps))


mechanism = GavelMaxMin(
    "gavel-makespan",
    share=count,
    exact_share=rationals.count,
    domain=timed,
    title="Gavel's makespan: all jobs are done as early as possible, with time of jobs' own",
    source="Narayanan et al. 2020, 4.2",
)
