"""Progressive filling in plain Python: every waiting task and every machine is looked at for each task that starts.

The oracle of simulation/tasks.py: it shares no code with it, and is to start the same tasks at the same times and places.
"""

import math
from fractions import Fraction

import numpy as np

SEED = 7
"""Of what `two-choice-drfh` draws: one pair of the machines with room for each task that starts."""

BASELINES = ("fifo", "shortest-job-first", "least-attained-service", "finish-time-fair")


def exact(value):
    """The decimal that a float prints as."""
    return Fraction(repr(float(value)))


def kept(value, largest):
    """The decimal that is printed, as far as the largest machine has 15 digits."""
    unit = Fraction(10) ** (math.floor(math.log10(largest)) - 14)
    return math.floor(exact(value) / unit) * unit


class PlainCluster:
    """Machines as lists of rationals, tasks one by one."""

    def __init__(self, workload, cluster, rule, events):
        self.workload, self.cluster, self.rule = workload, cluster, rule
        classes = [k for k, count in enumerate(cluster.counts) for _ in range(count)]
        demand, capacities = self.counted()
        largest = [max(c[q] for c in capacities) or 1.0 for q in range(len(capacities[0]))]
        whole = [[kept(c, top) for c, top in zip(row, largest, strict=True)] for row in capacities]
        self.size = [[kept(d, top) for d, top in zip(row, largest, strict=True)] for row in demand]
        self.fits = workload.fitting(cluster)
        self.class_of, self.whole = classes, [whole[k] for k in classes]
        self.total = [sum(row[q] for row in self.whole) for q in range(len(largest))]
        first = dict(reversed(list(zip(events.server, events.up, strict=True))))
        self.up = [not first.get(s, False) for s in range(len(classes))]
        self.tasks = []  # dictionaries: job, server, start, end, outcome
        self.waiting = [0] * len(workload)
        self.gone = set()
        self.time = -1.0
        self.rng = np.random.default_rng(SEED)
        self.drawn = self.rng.permutation(len(workload)).tolist() if rule == "random" else None

    def counted(self):
        """What the rule counts: resources, or slots."""
        demand, capacities = self.workload.demand.tolist(), self.cluster.capacities.tolist()
        if not self.rule.startswith("slots"):
            return demand, capacities
        slots = int(self.rule.split()[1])
        top = [max(c[r] for c in capacities) / slots for r in range(len(capacities[0]))]
        held = [math.floor(min(v / t for v, t in zip(c, top, strict=True)) + 1e-9) for c in capacities]
        if self.rule.endswith("each"):
            return [[*row, 1] for row in demand], [[*row, h] for row, h in zip(capacities, held, strict=True)]
        need = [max(1, math.ceil(max(v / t for v, t in zip(d, top, strict=True)) - 1e-9)) for d in demand]
        for j, d in enumerate(demand):
            fitting = [h for c, h in zip(capacities, held, strict=True) if all(v <= most for v, most in zip(d, c, strict=True))]
            need[j] = max(1, min(need[j], max(fitting)))
        return [[n] for n in need], [[h] for h in held]

    def running(self):
        return [task for task in self.tasks if task["outcome"] == "running"]

    def free(self, s):
        here = [self.size[task["job"]] for task in self.running() if task["server"] == s]
        return [c - sum(size[q] for size in here) for q, c in enumerate(self.whole[s])]

    def has_room(self, s, j):
        room = self.free(s)
        return self.up[s] and self.fits[j, self.class_of[s]] and all(a <= b for a, b in zip(self.size[j], room, strict=True))

    def turn(self, j):
        """By this the jobs of a user go first; ties as they arrive."""
        if self.rule == "random":
            return self.drawn.index(j)
        return self.work(j) if self.rule == "shortest-job-first" else j

    def work(self, j):
        return exact(self.workload.duration[j]) * int(self.workload.tasks[j])

    def priority(self, j, s):
        """Of the user of a job with this job on a machine."""
        n = self.workload.job_user[j]
        if self.rule in ("fifo", "random", "shortest-job-first"):
            return self.turn(j), j
        if self.rule == "least-attained-service":
            return self.attained(n), n
        if self.rule == "finish-time-fair":
            return self.arrived(j) / self.alone(j), n
        return self.share(n, s), n

    def attained(self, n):
        """All units times seconds of the user's tasks, the largest part of a resource, / weight."""
        taken = [Fraction(0)] * len(self.total)
        for task in self.tasks:
            if self.workload.job_user[task["job"]] == n:
                seconds = min(exact(task["end"]), exact(self.time)) - exact(task["start"])
                taken = [a + seconds * d for a, d in zip(taken, self.size[task["job"]], strict=True)]
        most = max(a / t if t else 0 for a, t in zip(taken, self.total, strict=True))
        return most / exact(self.workload.weights[n])

    def arrived(self, j):
        return exact(self.workload.arrival[j]) - exact(self.time)

    def alone(self, j):
        """Seconds of a job on the part of all machines that its user's weight gives, with as many tasks at a time as fill it."""
        weights = [exact(w) for w in self.workload.weights]
        part = weights[self.workload.job_user[j]] / sum(weights)
        tasks = min(part * t / d for d, t in zip(self.size[j], self.total, strict=True) if d)
        count = int(self.workload.tasks[j])
        return exact(self.workload.duration[j]) * max(1, count / tasks)

    def share(self, n, s):
        mine = [task["job"] for task in self.running() if self.workload.job_user[task["job"]] == n]
        used = [sum(self.size[j][q] for j in mine) for q in range(len(self.total))]
        if self.rule.startswith("slots"):
            value = used[-1]
        elif self.rule == "best-fit-ps-dsf":
            shapes = {}
            for shape in ((*self.size[j], *self.fits[j]) for j in mine):
                shapes[shape] = shapes.get(shape, 0) + 1
            value = sum(self.part(shape[: len(used)], s) * count for shape, count in shapes.items())
        else:
            value = max(u / t if t else 0 for u, t in zip(used, self.total, strict=True))
        return value / exact(self.workload.weights[n])

    def part(self, size, s):
        return max((d / c if c else math.inf) for d, c in zip(size, self.whole[s], strict=True) if d)

    def misfit(self, j, s):
        """H(i, l) of W (9)."""
        size, room = self.size[j], self.free(s)
        q = next(q for q, d in enumerate(size) if d)
        value = Fraction(0)
        for r in range(len(size)):
            if r != q and self.total[r]:
                scale = self.total[q] / self.total[r]
                value += abs(size[r] / size[q] * scale - room[r] / room[q] * scale)
        return value

    def fill(self):
        """Start tasks until none has room."""
        while True:
            there = [(j, s) for j, tasks in enumerate(self.waiting) if tasks for s in range(len(self.up)) if self.has_room(s, j)]
            if not there:
                return
            user = self.workload.job_user
            first = {}
            for j, _ in sorted(there, key=lambda pair: (self.turn(pair[0]), pair[0])):
                first.setdefault(user[j], j)
            pairs = [(j, s) for j, s in there if first[user[j]] == j]
            fit = self.rule.startswith("best") or self.rule in BASELINES
            j, s = min(pairs, key=lambda p: (*self.priority(*p), self.misfit(*p) if fit else 0.0, p[1]))
            if self.rule == "random":
                servers = [server for job, server in pairs if job == j]
                s = servers[self.rng.integers(len(servers))]
            if self.rule == "two-choice-drfh":
                servers = [server for job, server in pairs if job == j]
                s = min((servers[k] for k in self.rng.integers(len(servers), size=2)), key=lambda server: self.misfit(j, server))
            self.waiting[j] -= 1
            end = float(exact(self.time) + exact(self.workload.duration[j]))
            self.tasks.append({"job": j, "server": s, "start": self.time, "end": end, "outcome": "running"})

    def stop(self, task, outcome):
        task["outcome"], task["end"] = outcome, self.time


def plain_simulation(workload, cluster, rule, until, events):
    """The tasks that ran, sorted: (start, job, server, end, outcome); and those that wait."""
    sim = PlainCluster(workload, cluster, rule, events)
    fixed = {*workload.arrival.tolist(), *workload.leave.tolist(), *events.time.tolist()}
    while True:
        later = {task["end"] for task in sim.running()} | {t for t in fixed if t > sim.time}
        t = min(later, default=math.inf)
        if t > until or t == math.inf:
            break
        sim.time = t
        happen(sim, events)
        sim.fill()
    for task in sim.running():
        task["end"] = min(until, task["end"])
    rows = [(float(t["start"]), t["job"], t["server"], float(t["end"]), t["outcome"]) for t in sim.tasks]
    return sorted(rows), sim.waiting


def happen(sim, events):
    """All that happens at one time, before tasks start."""
    workload, t = sim.workload, sim.time
    for task in sim.running():
        if task["end"] == t:
            sim.stop(task, "finished")
    for time, s, up in zip(events.time, events.server, events.up, strict=True):
        if time == t:
            sim.up[s] = bool(up)
            for task in sim.running():
                if task["server"] == s and not up:
                    sim.stop(task, "lost")
                    sim.waiting[task["job"]] += 1
    for n in range(len(workload.users)):
        if workload.leave[n] == t:
            sim.gone.add(n)
            for task in sim.running():
                if workload.job_user[task["job"]] == n:
                    sim.stop(task, "left")
            sim.waiting = [0 if workload.job_user[j] == n else tasks for j, tasks in enumerate(sim.waiting)]
    for j in range(len(workload)):
        if workload.arrival[j] == t and workload.job_user[j] not in sim.gone:
            sim.waiting[j] += int(workload.tasks[j])
