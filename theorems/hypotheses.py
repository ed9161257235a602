"""What a claim assumes of an instance: a test in rationals, a generator of small degenerate instances, and variants without
one assumption.

Samples are small and made of few numbers, so that ties, zeros, equal servers and equal users are frequent: claims fail where a
maximum is attained twice or a resource is not demanded at all. `impose` changes a draft so that it satisfies the assumptions;
samples, moves of the search and steps of shrinking all pass through it, and `satisfied_by` then decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.arguments import checked, is_list
from fairalloc.models.errors import FairallocError, InstanceError, UnknownName, no_such, shown
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case, Draft, DraftUser

MOST = (4, 3, 3)
"""The most users, servers and resources of a sample."""

POOLS: tuple[tuple[Fraction, ...], ...] = tuple(
    tuple(Fraction(v) for v in pool)
    for pool in ((1, 2), (1, 2, 3, 4), ("1/2", 1, 2, 3), (1, 2, 3, 5, 8, 12), ("1/10", 1, 10), ("1/3", "1/2", "2/3", 1, "3/2"))
)
"""A sample draws all its numbers from one of these."""

FACTORS = tuple(Fraction(v) for v in (0, "1/10", "1/2", "9/10", "10/9", 2, 10))
"""By which a misreport changes a number; a demand of 0 becomes this part of the user's largest demand."""


@dataclass(frozen=True)
class Hypotheses:
    """Assumptions on a case; False = not assumed.

    Attributes
    ----------
    one_server, one_resource : K = 1, R = 1
    one_variant : one demand vector for each user
    same_demands : nobody has demands of its own for a server (no demands_on)
    everywhere : no placement constraints, and every server has what every user demands
    no_idle_server : every server has a user who may use it and finds there what it demands (K 2: N_i is not empty)
    outsiders : for every server and resource somebody who may not use the server demands it (K Assumption 2)
    positive : every user demands every resource
    unlimited : no max_tasks
    equal_weights : all weights are 1
    simplex : the demands of a task sum to 1 (Z V)
    bottleneck : one resource is dominantly requested by all users at all servers (K Def 2)
    server_bottleneck : each server has a resource that its eligible users dominantly request (K 3.3)
    identical_servers : all servers are alike
    users : the fewest users the claim is about
    parameters : what a parameter of the mechanism may be, the simplest first, such as {"alpha": (1, 2, 5)}
    points : how many feasible allocations a case holds
    reports : what a misreport is about: "demands", "servers" or "tasks" alone; "" = demands, eligible servers, or both
    instances : a function of random numbers that makes the instances, where the claim is about these alone; they are tried as
        they are made, so that a violation is not made smaller
    """

    one_server: bool = False
    one_resource: bool = False
    one_variant: bool = True
    same_demands: bool = True
    everywhere: bool = False
    no_idle_server: bool = False
    outsiders: bool = False
    positive: bool = False
    unlimited: bool = True
    equal_weights: bool = False
    simplex: bool = False
    bottleneck: bool = False
    server_bottleneck: bool = False
    identical_servers: bool = False
    users: int = 1
    parameters: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    points: int = 0
    reports: str = ""
    instances: Callable[[np.random.Generator], Instance] | None = None

    @classmethod
    @checked
    def of(cls, given: Any) -> "Hypotheses":
        """Hypotheses from words, such as "positive, identical servers, at least 2 users".

        Parameters
        ----------
        given : words separated by commas, an iterable of them, or Hypotheses. The words are the assumptions above, "several
            variants", "own demands" and "limits" for what is not assumed then, "misreported servers" (or
            demands, or tasks) for what reports are about, and "at least N users"

        Returns
        -------
        the hypotheses; without a word one demand vector for each user, the same on all servers, and no limits

        Raises
        ------
        UnknownName : for another word

        Examples
        --------
        >>> str(Hypotheses.of("positive, several variants, at least 2 users"))
        'same demands, positive, unlimited, at least 2 users'
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str) and not (is_list(given) and all(isinstance(word, str) for word in given)):
            raise InstanceError(f"the hypotheses are {shown(given)}, but they must be Hypotheses or words such as 'positive'")
        words = [word for part in ([given] if isinstance(given, str) else given) for word in part.split(",") if word.strip()]
        return cls(**dict(map(_assumption, words)))

    def sample(self, rng: np.random.Generator, misreports: int = 0, most: tuple[int, int, int] = MOST) -> Draft:
        """A small draft with small numbers, made to satisfy the assumptions.

        Parameters
        ----------
        rng : random numbers
        misreports : the most users who misreport together; 0 = nobody does
        most : the most users, servers and resources

        Returns
        -------
        a draft that `impose` has changed; it need not be a valid case
        """
        if self.instances is not None:
            draft = self._of_the_family(rng)
            self.draw_misreports(rng, draft, misreports)
            return draft
        draft = _Sampler(self, rng).draft(most)
        self.draw_misreports(rng, draft, misreports)
        return draft

    def draw_misreports(self, rng: np.random.Generator, draft: Draft, misreports: int) -> None:
        """Give some users new misreports, and the others none; then make the draft satisfy the assumptions.

        Parameters
        ----------
        rng : random numbers
        draft : changed in place
        misreports : the most users who misreport together
        """
        chosen = _random_users(rng, len(draft.users), misreports)
        for n, user in enumerate(draft.users):
            user.reported = user.reported_placement = user.reported_limit = None
            if n in chosen:
                self.draw_misreport(rng, draft, n)
        self.impose(draft)

    def draw_misreport(self, rng: np.random.Generator, draft: Draft, n: int) -> None:
        """Give a user a new misreport: about demands, eligible servers where these matter, or both; or as `reports` says.

        Parameters
        ----------
        rng : random numbers
        draft : changed in place, without `impose`
        n : the user
        """
        sampler, user = _Sampler(self, rng), draft.users[n]
        others = [other.demands for other in draft.users if other.demands != user.demands]
        about = rng.choice((1, 1, 2, 3)) if not self.everywhere and len(draft.capacities) > 1 else 1
        about = _ABOUT.get(self.reports, about)
        user.reported = sampler.reported(user, others) if about & 1 else None
        user.reported_placement = sampler.reported_placement(user) if about & 2 else None
        user.reported_limit = [sampler.number()] if about & 4 and user.limit[0] is not None else None

    def impose(self, draft: Draft) -> None:
        """Change the draft so that it satisfies the assumptions, where that can be done by changing numbers."""
        if self.instances is not None:
            return
        for user in draft.users:
            for rows in _demand_rows(user):
                _valid_demands(rows, self)
            user.weight[0] = Fraction(1) if self.equal_weights else user.weight[0]
            user.limit[0] = None if self.unlimited else user.limit[0]
            user.placement = [True] * len(user.placement) if self.everywhere else user.placement
            user.reported_placement = None if self.everywhere else user.reported_placement
            user.reported_limit = None if user.limit[0] is None else user.reported_limit
        if self.outsiders:
            N, K = len(draft.users), len(draft.capacities)
            for n, user in enumerate(draft.users):
                user.placement = [k % N != n and (may or k == (n + 1) % K) for k, may in enumerate(user.placement)]
                user.demands = [[v or Fraction(1) for v in row] for row in user.demands]
        if self.bottleneck or self.server_bottleneck:
            _bottlenecks(draft, same=self.bottleneck)
        if self.identical_servers:
            draft.capacities = [list(draft.capacities[0]) for _ in draft.capacities]
            draft.counts = [draft.counts[0]] * len(draft.counts)
        if self.everywhere:
            _every_resource_on_servers(draft)
        elif self.no_idle_server:
            _a_user_for_every_server(draft)
        _feasible(draft)

    def _of_the_family(self, rng: np.random.Generator) -> Draft:
        assert self.instances is not None
        made = self.instances(rng)
        if not isinstance(made, Instance):
            raise InstanceError(f"the function of instances returned {shown(made)}, but it must return an Instance")
        parameters = {name: values[int(rng.integers(len(values)))] for name, values in self.parameters.items()}
        return Draft.of(Case(made, parameters=parameters))

    def satisfied_by(self, case: Case) -> bool:
        """Whether the case satisfies the assumptions, and the reported one does, but for bottlenecks; decided in rationals."""
        instance = case.instance
        fits = len(case.points) == self.points and all(_is_feasible(instance, point) for point in case.points)
        fits = fits and all(case.parameters.get(name) in values for name, values in self.parameters.items())
        if not fits or not self._holds(instance):
            return False
        if case.misreport is None:
            return True
        try:
            return self._is_about(case.misreport) and self._of_reports()._holds(case.reported)
        except FairallocError:
            return False

    def _is_about(self, misreport: Misreport) -> bool:
        told = zip(_ABOUT, (misreport.demands, misreport.eligible, misreport.max_tasks), strict=True)
        about = {name for name, parts in told if any(part is not None for part in parts)}
        return about <= ({self.reports} if self.reports else {"demands", "servers"})

    def _holds(self, instance: Instance) -> bool:
        return self.users <= instance.N and all(test(instance) for name, test in TESTS.items() if getattr(self, name))

    def _of_reports(self) -> "Hypotheses":
        """The assumptions on a reported instance: a report need not keep a bottleneck resource, nor a server's only user."""
        return replace(self, bottleneck=False, server_bottleneck=False, no_idle_server=False)

    def dropped(self) -> Mapping[str, "Hypotheses"]:
        """The variants with one assumption less, by the name of what is dropped."""
        return {name: replace(self, **{name: False}) for name in self._flags}  # type: ignore[arg-type]

    @property
    def _flags(self) -> list[str]:
        """The names of the assumptions that say something: where everybody may use everything no server is idle."""
        implied = {"no_idle_server"} if self.everywhere or self.one_server else set()
        return [f.name for f in fields(self) if getattr(self, f.name) is True and f.name not in implied]

    @property
    def words(self) -> list[str]:
        """Each assumption in words."""
        names = [name.replace("_", " ") for name in self._flags]
        counts = [f"at least {self.users} users"] if self.users > 1 else []
        family = [] if self.instances is None else [f"instances of {getattr(self.instances, '__name__', 'a function')}"]
        return [*names, *counts, *([f"misreported {self.reports}"] if self.reports else []), *self.ranges, *family]

    @property
    def ranges(self) -> list[str]:
        """What each parameter may be, in words."""
        return [f"{name} in {', '.join(map(str, values))}" for name, values in self.parameters.items()]

    @property
    def spelled(self) -> str:
        """The words that `of` makes these from, "" where it needs none; parameters, points and instances are not said."""
        usual = Hypotheses()
        flags = {name: bool(getattr(self, name)) for name in TESTS if getattr(self, name) != getattr(usual, name)}
        opposite = {name: word for word, name in _OPPOSITE.items()}
        words = [name.replace("_", " ") if holds else opposite[name] for name, holds in flags.items()]
        words += [f"at least {self.users} users"] if self.users > 1 else []
        return ", ".join([*words, *([f"misreported {self.reports}"] if self.reports else [])])

    def __str__(self) -> str:
        return ", ".join(self.words) or "any instance"


_ABOUT = {"demands": 1, "servers": 2, "tasks": 4}
"""Bits of what a misreport may be about."""

_OPPOSITE = {"several variants": "one_variant", "own demands": "same_demands", "limits": "unlimited"}
"""Words for what is not assumed then."""


def _assumption(word: str) -> tuple[str, Any]:
    """The field of Hypotheses that a word sets, and the value."""
    plain = " ".join(word.replace("_", " ").replace("-", " ").split())
    if match := re.fullmatch(r"(?:at least )?(\d+) users?", plain):
        return "users", int(match[1])
    if plain in _OPPOSITE:
        return _OPPOSITE[plain], False
    if match := re.fullmatch(f"misreported ({'|'.join(_ABOUT)})", plain):
        return "reports", match[1]
    if plain.replace(" ", "_") in TESTS:
        return plain.replace(" ", "_"), True
    known = [
        *(name.replace("_", " ") for name in TESTS),
        *_OPPOSITE,
        *(f"misreported {name}" for name in _ABOUT),
        "at least N users",
    ]
    raise UnknownName(no_such("hypothesis", word.strip(), known, f"the words are {', '.join(known)}"))


# ---- tests in rationals ---------------------------------------------------------------------------------------------


def _is_everywhere(instance: Instance) -> bool:
    pairs = {(n, v, i) for n, v, i in zip(instance.arcs.user, instance.arcs.variant, instance.arcs.server, strict=True)}
    return bool(instance.placement.all()) and len(pairs) == instance.K * sum(len(d) for d in instance.demands)


def _has_outsiders(instance: Instance) -> bool:
    demands, placement = instance.exact.demands, instance.placement
    out = ([n for n in range(instance.N) if not placement[n, i]] for i in range(instance.K))
    return all(any(demands[n][0][r] for n in users) for users in out for r in range(instance.R))


def _vectors(instance: Instance) -> list[tuple[Fraction, ...]]:
    exact = instance.exact
    return [row for rows in (*exact.demands, *exact.demands_on.values()) for row in rows]


def _dominant(instance: Instance) -> list[set[int]]:
    """(K,) the resources that every arc of the server dominantly requests (K 6)."""
    arcs, common = exact_arcs(instance), [set(range(instance.R)) for _ in range(instance.K)]
    for load in arcs.load:
        most = max(part for _, part in load)
        common[load[0][0] // instance.R] &= {row % instance.R for row, part in load if part == most}
    return common


TESTS: Mapping[str, Callable[[Instance], bool]] = {
    "one_server": lambda instance: instance.K == 1,
    "one_resource": lambda instance: instance.R == 1,
    "one_variant": lambda instance: instance.single_variant,
    "same_demands": lambda instance: not instance.demands_on,
    "everywhere": _is_everywhere,
    "no_idle_server": lambda instance: len(set(instance.arcs.server.tolist())) == instance.K,
    "outsiders": _has_outsiders,
    "positive": lambda instance: all(v > 0 for row in _vectors(instance) for v in row),
    "unlimited": lambda instance: all(limit is None for limit in instance.exact.max_tasks),
    "equal_weights": lambda instance: all(w == 1 for w in instance.exact.weights),
    "simplex": lambda instance: all(sum(row) == 1 for row in _vectors(instance)),
    "bottleneck": lambda instance: bool(set.intersection(*_dominant(instance))),
    "server_bottleneck": lambda instance: all(_dominant(instance)),
    "identical_servers": lambda instance: len(set(zip(instance.exact.capacities, instance.counts.tolist(), strict=True))) == 1,
}
"""The test of each assumption, by its name."""


def _is_feasible(instance: Instance, point: Sequence[Fraction]) -> bool:
    arcs = exact_arcs(instance)
    within = all(limit is None or u <= limit for u, limit in zip(arcs.tasks(point), arcs.limits, strict=True))
    return within and all(x >= 0 for x in point) and all(load <= 1 for load in arcs.loads(point))


# ---- making drafts satisfy the assumptions --------------------------------------------------------------------------


def _demand_rows(user: DraftUser) -> list[list[list[Fraction]]]:
    return [user.demands, *user.own.values(), *([user.reported] if user.reported is not None else [])]


def _valid_demands(rows: list[list[Fraction]], hypotheses: Hypotheses) -> None:
    """Demands that are not zero, positive or of sum 1 where that is assumed."""
    for row in rows:
        if hypotheses.positive:
            row[:] = [v or Fraction(1) for v in row]
        if not any(row):
            row[0] = Fraction(1)
        if hypotheses.simplex:
            total = sum(row)
            row[:] = [v / total for v in row]


def _bottlenecks(draft: Draft, same: bool) -> None:
    """Each server has as much of the other resources as makes its first resource with capacity the bottleneck."""
    for k, capacity in enumerate(draft.capacities):
        r = 0 if same else k % len(capacity)
        capacity[r] = capacity[r] or Fraction(1)
        for user in draft.users:
            rows = user.own.get(k, user.demands)
            if not user.placement[k]:
                continue
            for row in rows:
                row[r] = row[r] or Fraction(1)
    for k, capacity in enumerate(draft.capacities):
        r = 0 if same else k % len(capacity)
        rows = [row for user in draft.users if user.placement[k] for row in user.own.get(k, user.demands)]
        for s in range(len(capacity)):
            need = max((capacity[r] * row[s] / row[r] for row in rows), default=Fraction(0))
            capacity[s] = max(capacity[s], need)


def _every_resource_on_servers(draft: Draft) -> None:
    """Every server has some of what anybody demands."""
    rows = [row for user in draft.users for part in _demand_rows(user) for row in part]
    for r in range(len(draft.capacities[0])):
        if any(row[r] for row in rows):
            for capacity in draft.capacities:
                capacity[r] = capacity[r] or Fraction(1)


def _a_user_for_every_server(draft: Draft) -> None:
    """The first user may use a server that nobody can use, and finds there what it demands."""
    for k, capacity in enumerate(draft.capacities):
        rows = [row for user in draft.users if user.placement[k] for row in user.own.get(k, user.demands)]
        if any(all(c or not d for c, d in zip(capacity, row, strict=True)) for row in rows):
            continue
        user = draft.users[0]
        user.placement[k] = True
        for r, d in enumerate(user.own.get(k, user.demands)[0]):
            capacity[r] = capacity[r] or Fraction(int(d > 0))


def _feasible(draft: Draft) -> None:
    """Points are shrunk until they fit; tasks where nothing can run are dropped."""
    for k in range(len(draft.users[0].points)):
        most = Fraction(1)
        loads: dict[tuple[int, int], Fraction] = {}
        for user in draft.users:
            point = user.points[k]
            for (v, i), x in list(point.items()):
                row = user.own.get(i, user.demands)[v]
                if not user.placement[i] or any(d and not c for d, c in zip(row, draft.capacities[i], strict=True)):
                    del point[v, i]
                    continue
                for r, d in enumerate(row):
                    if d:
                        part = x * d / (draft.capacities[i][r] * draft.counts[i])
                        loads[i, r] = loads.get((i, r), Fraction(0)) + part
            if user.limit[0]:  # no instance has a limit of 0
                most = max(most, sum(point.values()) / user.limit[0])
        most = max([most, *loads.values()])
        for user in draft.users:
            user.points[k] = {key: x / most for key, x in user.points[k].items()}


# ---- samples --------------------------------------------------------------------------------------------------------


def _random_users(rng: np.random.Generator, count: int, most: int) -> list[int]:
    """Between one and `most` of `count`; none where most is 0."""
    size = int(rng.integers(1, min(most, count) + 1)) if most else 0
    return sorted(rng.permutation(count)[:size].tolist())


class _Sampler:
    """Draws one draft; all its numbers come from one pool, and zeros have one frequency."""

    def __init__(self, hypotheses: Hypotheses, rng: np.random.Generator) -> None:
        self.hypotheses, self.rng = hypotheses, rng
        self.pool = POOLS[rng.integers(len(POOLS))]
        self.zeros = 0.0 if hypotheses.positive else float(rng.choice([0.0, 0.2, 0.5]))
        self.large = self.chance(0.5)

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def number(self) -> Fraction:
        return self.pool[self.rng.integers(len(self.pool))]

    def count(self, least: int, most: int) -> int:
        """Small counts more often, or in every second draft large ones: the two at that end three times as often as any other."""
        counts = np.arange(least, max(least, most) + 1)
        chances = np.where(counts >= most - 1 if self.large else counts <= least + 1, 3.0, 1.0)
        return int(self.rng.choice(counts, p=chances / chances.sum()))

    def vector(self, length: int, zeros: float) -> list[Fraction]:
        row = [Fraction(0) if self.chance(zeros) else self.number() for _ in range(length)]
        if not any(row):
            row[self.rng.integers(length)] = self.number()
        return row

    def draft(self, most: tuple[int, int, int]) -> Draft:
        h = self.hypotheses
        n_users = self.count(h.users, most[0])
        n_servers = 1 if h.one_server else self.count(1, most[1])
        n_resources = 1 if h.one_resource else self.count(1, most[2])
        lacking = 0.0 if h.everywhere else float(self.rng.choice([0.0, 0.3, 0.6]))
        capacities = [self.vector(n_resources, lacking) for _ in range(n_servers)]
        home = int(self.rng.integers(n_servers))  # a server that has everything and is open to everybody
        capacities[home] = [c or self.number() for c in capacities[home]]
        weighted, placed, limited = self.chance(0.4), not h.everywhere and self.chance(0.6), self.chance(0.5)
        users = []
        for _ in range(n_users):
            ways = 1 if h.one_variant else int(self.rng.integers(1, 4))
            user = DraftUser(
                [self.vector(n_resources, self.zeros) for _ in range(ways)],
                [self.number() if weighted else Fraction(1)],
                [self.number() if limited and self.chance(0.5) else None],
                [i == home or not (placed and self.chance(0.4)) for i in range(n_servers)],
            )
            if not h.same_demands and self.chance(0.3):
                user.own[int(self.rng.integers(n_servers))] = [self.vector(n_resources, self.zeros) for _ in range(ways)]
            user.points = [self.point(ways, n_servers) for _ in range(h.points)]
            users.append(user)
        if n_users > 1 and self.chance(0.2):
            users[-1].demands = [list(row) for row in users[0].demands]
            users[-1].own = {}
            users[-1].points = [self.point(len(users[-1].demands), n_servers) for _ in range(h.points)]
        parameters = {name: values[int(self.rng.integers(len(values)))] for name, values in h.parameters.items()}
        classes = not h.one_server and self.chance(0.1)
        counts = [int(self.rng.integers(1, 4)) if classes else 1 for _ in range(n_servers)]
        return Draft(users, capacities, counts, parameters)

    def point(self, ways: int, n_servers: int) -> dict[tuple[int, int], Fraction]:
        keys = [(v, i) for v in range(ways) for i in range(n_servers)]
        return {key: Fraction(0) if self.chance(0.4) else self.number() for key in keys}

    def reported(self, user: DraftUser, others: Sequence[list[list[Fraction]]]) -> list[list[Fraction]]:
        """Other demands: new ones, those of another user, or the true ones with one number changed."""
        ways = 1 if self.hypotheses.one_variant else int(self.rng.integers(1, 4))
        if self.chance(0.25):
            return [self.vector(len(user.demands[0]), self.zeros) for _ in range(ways)]
        if others and self.chance(0.2):
            return [list(row) for row in others[int(self.rng.integers(len(others)))]]
        rows = [list(row) for row in user.demands]
        row = rows[self.rng.integers(len(rows))]
        r = int(self.rng.integers(len(row)))
        factor = FACTORS[self.rng.integers(len(FACTORS))]
        row[r] = self.number() if self.chance(0.4) else factor * (row[r] or max(row))
        return rows

    def reported_placement(self, user: DraftUser) -> list[bool]:
        """Other eligible servers: any, or the true ones but for one."""
        if self.chance(0.5):
            return [self.chance(0.7) for _ in user.placement]
        i = int(self.rng.integers(len(user.placement)))
        return [allowed != (k == i) for k, allowed in enumerate(user.placement)]
