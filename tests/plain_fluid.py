"""Divisible tasks over time in plain Python: every user, job and class of machines is looked at each time something happens.

The oracle of simulation/fluid.py with users as parties. It shares no code with it but `solve`, which gives it rational answers.
"""

import math

from fairalloc import Instance, solve

NOTHING = 1e-9
"""Parts of a job's work that are rounding."""


class PlainFluid:
    """The work that is left of each job, and who shares the machines that are up."""

    def __init__(self, workload, cluster, events):
        self.workload, self.cluster, self.events = workload, cluster, events
        self.jobs = range(len(workload))
        self.left = [float(t * d) for t, d in zip(workload.tasks, workload.duration, strict=True)]
        self.completed = [math.nan] * len(workload)

    def machines(self, time):
        """How many of each class are up."""
        up = {}
        for t, s, turn in zip(self.events.time, self.events.server, self.events.up, strict=True):
            if s not in up or t <= time:
                up[s] = bool(turn) if t <= time else not turn
        counts = [0] * len(self.cluster.counts)
        for s, k in enumerate(self.cluster.server_class):
            counts[k] += up.get(s, True)
        return counts

    def active(self, time):
        """The unfinished jobs of each user that is there."""
        jobs = {}
        for j in self.jobs:
            n = int(self.workload.job_user[j])
            if self.left[j] > 0 and self.workload.arrival[j] <= time < self.workload.leave[n]:
                jobs.setdefault(n, []).append(j)
        return jobs

    def rates(self, time):
        """Tasks that each job runs, by an allocation to the users that have some machine which can run their mean task."""
        counts = self.machines(time)
        classes = [k for k, count in enumerate(counts) if count]
        users = {}
        for n, jobs in self.active(time).items():
            total = sum(int(self.workload.tasks[j]) for j in jobs)
            columns = zip(*(self.workload.demand[j] * self.workload.tasks[j] for j in jobs), strict=True)
            mean = [math.fsum(column) / total for column in columns]
            if any(all(c > 0 for d, c in zip(mean, self.cluster.capacities[k], strict=True) if d) for k in classes):
                users[n] = (mean, total, jobs)
        if not users:
            return {}
        instance = Instance(
            [mean for mean, _, _ in users.values()],
            self.cluster.capacities[classes],
            counts=[counts[k] for k in classes],
            weights=[self.workload.weights[n] for n in users],
            max_tasks=[total for _, total, _ in users.values()],
        )
        tasks = solve(instance, "drfh", "exact").tasks
        return {
            j: x * self.workload.tasks[j] / total for x, (_, total, jobs) in zip(tasks, users.values(), strict=True) for j in jobs
        }

    def run(self, until):
        """Work done of each job, and when each was completed."""
        time, fixed = 0.0, {*self.workload.arrival, *self.workload.leave, *self.events.time, until}
        while time < until:
            rates = self.rates(time)
            ends = [time + self.left[j] / rate for j, rate in rates.items() if rate > 0]
            following = min([t for t in fixed if t > time] + ends, default=until)
            for j, rate in rates.items():
                self.left[j] -= rate * (following - time)
                if self.left[j] <= NOTHING * self.workload.tasks[j] * self.workload.duration[j]:
                    self.left[j], self.completed[j] = 0.0, following
            time = following
        done = [t * d - left for t, d, left in zip(self.workload.tasks, self.workload.duration, self.left, strict=True)]
        return done, self.completed
