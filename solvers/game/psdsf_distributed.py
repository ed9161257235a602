r"""`psdsf-distributed`: P's Algorithm I executed by the servers themselves (P III-D), while users and servers come and go.

1. At time 0: the events of time 0 happen, then DRF on each active server for the users active there.
2. In every period of T seconds, in the order of time:
   a. an event happens: a user or a server becomes inactive, which ends its tasks at once, or active, with no tasks;
   b. server i executes its server procedure (psdsf_algorithm_1.py) at offset_i, offset_i + T, offset_i + 2 T, ...
3. At the end of the period the tasks are recorded.

A server procedure needs the server's own free resources and the total tasks x_n of its users only, so no participant has to
know all capacities. `simulate` runs the steps for a schedule of events.

**What P does not specify.** The initial allocation: as in Algorithm I. An event happens before the procedures of the same time.
Messages take no time, so servers with the same offset execute one after another, in order. Offsets: spread evenly over (0, T],
in an order drawn from a seed. A server that is inactive has no tasks, a user that is inactive is in no N_i.

docs/reference/derivations.md says what comes out of the experiment of P V (`section_v`), and where P V errs. As a method it runs
without events until no procedure changes anything for a whole period, at most `max_iterations`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.game import Game
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Duration, Seed, checked
from fairalloc.models.errors import InstanceError, NotApplicable, UnknownName, no_such, require
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.psdsf_algorithm_1 import Algorithm1Session, drf_alone, server_procedure
from fairalloc.solvers.game.session import ForFilling, ServerArrays, plain_users, servers_of
from fairalloc.solvers.options import IterationOptions


@dataclass(frozen=True)
class Event:
    """At `time` seconds the user or server of that name becomes active or inactive."""

    time: float
    name: str
    active: bool


@dataclass(frozen=True)
class TaskHistory:
    """What was allocated when.

    Attributes
    ----------
    instance : the system with everybody active
    times : (T,) seconds of the samples
    x : (T, A) tasks on the arcs of the instance
    """

    instance: Instance
    times: Floats
    x: Floats

    def load(self, server: str, resource: str) -> Floats:
        """(T,) used part of a resource of a server over time."""
        for kind, name, names in (("server", server, self.instance.servers), ("resource", resource, self.instance.resources)):
            if name not in names:
                raise UnknownName(no_such(kind, name, names))
        row = self.instance.servers.index(server) * self.instance.R + self.instance.resources.index(resource)
        return np.asarray((self.instance.arcs.load @ self.x.T)[row], dtype=float)

    @checked
    def at(self, time: float) -> Allocation:
        """The allocation of the last sample not after `time` >= 0 seconds."""
        if not time >= 0:
            raise InstanceError(f"time is {time:g} s, but it must not be negative")
        return Allocation(self.instance, self.x[int(np.searchsorted(self.times, time, side="right")) - 1], "ps-dsf")


class ServerSystem:
    """The servers with their present tasks and who is active."""

    def __init__(self, game: Game) -> None:
        self.game, self.servers = game, servers_of(game)
        self.x = np.zeros(len(game.user))
        self.users_on = np.ones(game.instance.N, bool)
        self.servers_on = np.ones(game.instance.K, bool)

    def run_procedure(self, server: ServerArrays) -> None:
        if here := self.present(server):
            tasks = self.game.tasks(self.x)
            y, _ = server_procedure(here, here.elsewhere(self.x, tasks), self.x[here.arcs] / here.gamma)
            here.put(y, self.x, tasks)

    def switch(self, event: Event) -> None:
        """Somebody comes, or goes with all tasks."""
        instance = self.game.instance
        kind = instance.users if event.name in instance.users else instance.servers
        on, owner = (self.users_on, self.game.user) if kind is instance.users else (self.servers_on, self.game.server)
        k = kind.index(event.name)
        on[k] = event.active
        self.x[owner == k] = 0.0

    def present(self, server: ServerArrays) -> ServerArrays | None:
        """The server with its active users only; None where there is nobody."""
        here = self.users_on[server.user] & self.servers_on[server.index]
        if not here.any():
            return None
        parts = (server.arcs, server.user, server.w, server.phi, server.gamma, server.most)
        return ServerArrays(server.index, *(part[here] for part in parts))


@checked
def simulate(
    instance: Instance,
    events: Iterable[Event] = (),
    horizon: Duration = 60.0,
    period: Duration = 1.0,
    offsets: Sequence[float] | None = None,
    seed: Seed = 0,
) -> TaskHistory:
    """Run the servers' procedures over [0, horizon] seconds; the tasks at time 0 and after every whole period.

    Users have one demand vector and no limits. `offsets` (K,), seconds in (0, period], are the servers' first times; None spreads
    them evenly in an order drawn from `seed`.

    Raises
    ------
    InstanceError : an unknown or ambiguous name, a negative time, or a horizon, period or offset out of range
    NotApplicable : a user has a limit or several demand vectors
    """
    timeline = list(events)
    _check(instance, timeline)
    timeline.sort(key=lambda event: event.time)
    if reason := plain_users("the distributed algorithm", instance):
        raise NotApplicable(reason)
    system = ServerSystem(Game(instance, np.inf))
    first = spread(instance.K, period, seed) if offsets is None else np.asarray(offsets, float)
    if first.shape != (instance.K,) or not np.all((first > 0) & (first <= period)):
        raise InstanceError(f"offsets are {offsets!r}, but they must be {instance.K} numbers in (0, {period:g}]")
    while timeline and timeline[0].time <= 0:
        system.switch(timeline.pop(0))
    drf_alone([here for server in system.servers if (here := system.present(server))], system.x)  # 1
    times, points = [0.0], [system.x.copy()]
    for count in range(int(horizon / period * (1.0 + 1e-12))):
        for k in np.argsort(first[[s.index for s in system.servers]], kind="stable"):
            server = system.servers[k]
            while timeline and timeline[0].time <= count * period + first[server.index]:
                system.switch(timeline.pop(0))  # 2a
            system.run_procedure(server)  # 2b
        while timeline and timeline[0].time <= (count + 1) * period:
            system.switch(timeline.pop(0))
        times.append((count + 1) * period)  # 3
        points.append(system.x.copy())
    return TaskHistory(instance, np.array(times), np.array(points))


def spread(count: int, period: float, seed: int) -> Floats:
    """(count,) first times of the servers in seconds, even over (0, period], in an order drawn from the seed."""
    order: NDArray[np.intp] = np.random.default_rng(seed).permutation(count)
    return period * (order + 1.0) / count


def _check(instance: Instance, events: Sequence[Event]) -> None:
    for event in events:
        here, sound = f"of the event of {event.name!r} is", isinstance(event.time, Real) and event.time >= 0
        require(sound, f"the time {here}", event.time, "it must be a number of seconds that is not negative")
        require(isinstance(event.active, bool | np.bool_), f"active {here}", event.active, "it must be true or false")
        known = (event.name in instance.users) + (event.name in instance.servers)
        if known != 1:
            what = "names both a user and a server" if known else "names no user and no server"
            raise InstanceError(f"the event at {event.time:g} s {what}: {event.name!r}")


def cluster() -> Instance:
    """P Fig. 5: 120 servers in four classes, CPU and memory in units of class A, four users; users 3 and 4 on C and D only."""
    return example("psdsf-fig5").instance.replace(users=[f"user {n}" for n in (1, 2, 3, 4)])


def section_v() -> TaskHistory:
    """The experiment of P V over (0, 300) s; `.load("C", "cpu")` and `.load("D", "cpu")` are the PS-DSF curves of P Fig. 6.

    >>> section_v().load("D", "cpu")[[99, 101, 251, 300]].round(3)
    array([1.  , 0.75, 1.  , 1.  ])
    """
    return simulate(cluster(), [Event(100.0, "user 4", False), Event(250.0, "user 4", True)], horizon=300.0)


class DistributedSession(Algorithm1Session):
    """The servers' procedures, period after period, without events: a period is a round in the order of the offsets."""

    @cached_property
    def servers(self) -> list[ServerArrays]:
        offsets = spread(self.instance.K, 1.0, 0)
        return sorted(servers_of(self.game), key=lambda server: offsets[server.index])


class Distributed(ForFilling):
    """P III-D; the trace has `iteration` (period), `updates`, `change` (relative, of tasks) and `seconds`."""

    id = "psdsf-distributed"
    session = DistributedSession
    options = IterationOptions()


methods = (Distributed(),)
