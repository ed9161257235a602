"""What a claim assumes of an instance: a test in rationals, a generator of small instances, variants with one assumption less.

Samples are small and made of few numbers, so that ties, zeros, equal servers and equal users are frequent: claims fail where a
maximum is attained twice or a resource is not demanded at all. `impose` changes a draft so that it satisfies the assumptions;
samples, moves of the search and steps of shrinking all pass through it, and `satisfied_by` then decides.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from inspect import getdoc
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis.properties.fairness import server_bottlenecks, whole_bottlenecks
from fairalloc.models.arguments import checked, is_list
from fairalloc.models.errors import FairallocError, InstanceError, UnknownName, callers, no_such, require, shown
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.transformations.own_time import own_time
from fairalloc.theorems.cases import Case, Draft, DraftUser

MOST = (4, 3, 3)
"""The most users, servers and resources of a sample."""

POOLS = tuple(
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
    one_server : there is one server
    one_resource : there is one resource
    one_variant : each user has one demand vector
    same_demands : a user's demands are the same on all servers
    everywhere : every user may use every server, and every server has what every user demands
    no_idle_server : every server has a user who may use it and finds there what it demands
    outsiders : for every server and resource somebody who may not use the server demands it (K Assumption 2)
    positive : every user demands every resource
    unlimited : users have any number of tasks
    equal_weights : all weights are 1
    simplex : the demands of a task sum to 1
    bottleneck : one resource is dominantly requested by all users at all servers (K Definition 2)
    server_bottleneck : each server has a resource that its eligible users dominantly request (K 3.3)
    identical_servers : all servers are alike
    users, servers, resources : the fewest that the claim is about
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
    servers: int = 1
    resources: int = 1
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
        given : words of `hypothesis_words` separated by commas, an iterable of them, or Hypotheses. "several variants", "own
            demands" and "limits" drop what is assumed without a word: one demand vector, the same on all servers, no limits

        Raises
        ------
        UnknownName : for another word
        InstanceError : for words that exclude each other, such as one server and at least two

        Examples
        --------
        >>> str(Hypotheses.of("positive, several variants, at least 2 users"))
        'same demands, positive, unlimited, at least 2 users'
        """
        if isinstance(given, cls):
            return given
        parts = [*given] if is_list(given) else [given]
        rule = "they must be Hypotheses or words such as 'positive'"
        require(all(isinstance(part, str) for part in parts), "the hypotheses are", given, rule)
        pairs = {_assumption(word) for part in parts for word in part.split(",") if word.strip()}
        result = cls(**dict(sorted(pairs, key=lambda pair: pair[1] if pair[0] in COUNTED else 0)))  # the largest counts
        flags = [name for name, _ in pairs if name not in COUNTED]
        if len({*flags}) < len(flags) or result.one_server * result.servers > 1 or result.one_resource * result.resources > 1:
            raise InstanceError(f"the hypotheses are {shown(', '.join(parts))}, but no instance has them")
        return result

    def sample(self, rng: np.random.Generator, misreports: int = 0, most: tuple[int, int, int] = MOST) -> Draft:
        """A small draft with small numbers, made to satisfy the assumptions by `impose`; it need not be a valid case.

        Parameters
        ----------
        rng : random numbers
        misreports : the most users who misreport together; 0 = nobody does
        most : the most users, servers and resources
        """
        if self.instances is None:
            draft = _Sampler(self, rng).draft(most)
        else:
            with callers("the function of instances"):
                made = self.instances(rng)
            require(isinstance(made, Instance), "the function of instances returned", made, "it must return an Instance")
            draft = Draft.of(Case(made, parameters=_drawn(self, rng)))
            draft.truth = made
        draw_misreports(self, rng, draft, misreports)
        return draft

    def impose(self, draft: Draft) -> None:
        """Change the draft so that it satisfies the assumptions, where that can be done by changing numbers."""
        if self.instances is not None:
            return
        for user in draft.users:
            for row in user.rows:
                row[:] = self._demands(row)
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
            draft.make_bottlenecks(same=self.bottleneck)
        if self.identical_servers:
            draft.capacities = [list(draft.capacities[0]) for _ in draft.capacities]
            draft.counts = [draft.counts[0]] * len(draft.counts)
        if self.everywhere:  # every server has some of what anybody demands
            asked = [any(column) for column in zip(*(row for user in draft.users for row in user.rows), strict=True)]
            draft.capacities = [[c or Fraction(int(a)) for c, a in zip(row, asked, strict=True)] for row in draft.capacities]
        elif self.no_idle_server:
            draft.open_every_server()
        draft.shrink_points()

    def _demands(self, row: Sequence[Fraction]) -> list[Fraction]:
        """Demands that are not zero, positive or of sum 1 where that is assumed."""
        made = [v or Fraction(1) for v in row] if self.positive else list(row)
        made[0] = made[0] if any(made) else Fraction(1)
        return [v / sum(made) for v in made] if self.simplex else made

    def satisfied_by(self, case: Case) -> bool:
        """Whether the case satisfies the assumptions, and the reported one does, but for bottlenecks; decided in rationals."""
        return next(self.broken(case), None) is None

    def broken(self, case: Case) -> Iterator[str]:
        """In words the assumptions that the case, or what is reported in it, does not satisfy."""
        instance, told = case.instance, case.misreport
        if len(case.points) != self.points or not all(_is_feasible(instance, point) for point in case.points):
            yield f"{self.points} feasible allocations"
        ranges = zip(self.ranges, self.parameters.items(), strict=True)
        yield from (said for said, (name, values) in ranges if case.parameters.get(name) not in values)
        yield from self._broken_by(instance)
        if told is None:
            return
        # a report need not keep a bottleneck resource, nor a server's only user
        fewer = replace(self, bottleneck=False, server_bottleneck=False, no_idle_server=False)
        parts = zip(REPORTS, (told.demands, told.eligible, told.max_tasks), strict=True)
        told_of = [name for name, part in parts if any(own is not None for own in part)]
        allowed = (self.reports,) if self.reports else ("demands", "servers")
        yield from (f"no report of {name}" for name in told_of if name not in allowed)
        try:
            yield from (f"{word}, as reported" for word in fewer._broken_by(case.reported))
        except FairallocError:
            yield "a report that can be an instance"

    def _broken_by(self, instance: Instance) -> Iterator[str]:
        sizes = zip(COUNTED, self.fewest, (instance.N, instance.K, instance.R), strict=True)
        yield from (f"at least {least} {what}" for what, least, size in sizes if least > size)
        yield from (name.replace("_", " ") for name, test in TESTS.items() if getattr(self, name) and not test(instance))

    def dropped(self) -> Mapping[str, "Hypotheses"]:
        """The variants with one assumption less, by the name of the dropped assumption."""
        return {name: replace(self, **{name: False}) for name in self._flags}  # type: ignore[arg-type]

    @property
    def _flags(self) -> list[str]:
        """The names of the assumptions that say something: where everybody may use everything no server is idle."""
        implied = {"no_idle_server"} if self.everywhere or self.one_server else set()
        return [f.name for f in fields(self) if getattr(self, f.name) is True and f.name not in implied]

    @property
    def words(self) -> list[str]:
        """Each assumption in words."""
        family = [f"instances of {getattr(self.instances, '__name__', 'a function')}"] * (self.instances is not None)
        return [*(name.replace("_", " ") for name in self._flags), *self._counted(), *self.ranges, *family]

    def _counted(self) -> list[str]:
        counted = [f"at least {least} {what}" for what, least in zip(COUNTED, self.fewest, strict=True) if least > 1]
        return counted + [f"misreported {self.reports}"] * bool(self.reports)

    @property
    def fewest(self) -> tuple[int, int, int]:
        """The fewest users, servers and resources."""
        return self.users, self.servers, self.resources

    @property
    def ranges(self) -> list[str]:
        """What each parameter may be, in words."""
        return [f"{name} in {', '.join(map(str, values))}" for name, values in self.parameters.items()]

    @property
    def spelled(self) -> str:
        """The words that `of` makes these from, "" where it needs none; parameters, points and instances are not said."""
        usual, word_of = Hypotheses(), {pair: word for word, pair in _words().items()}
        words = [word_of[name, bool(getattr(self, name))] for name in TESTS if getattr(self, name) != getattr(usual, name)]
        return ", ".join([*words, *self._counted()])

    def __str__(self) -> str:
        return ", ".join(self.words) or "any instance"


COUNTED = ("users", "servers", "resources")
"""What there may be at least so many of."""

LARGEST = 100
"""The largest of these numbers; a sample has no more than is asked for, and exact answers take long."""

REPORTS = {"demands": "demands", "servers": "eligible servers", "tasks": "finite numbers of tasks"}
"""What a misreport may be about, and in words."""


def _words() -> dict[str, tuple[str, Any]]:
    """The field of Hypotheses that a word sets, and the value."""
    opposite = {"several variants": "one_variant", "own demands": "same_demands", "limits": "unlimited"}
    words = {name.replace("_", " "): (name, True) for name in TESTS} | {word: (name, False) for word, name in opposite.items()}
    return {**words, **{f"misreported {name}": ("reports", name) for name in REPORTS}}


def hypothesis_words() -> dict[str, str]:
    """Each word that `Hypotheses.of` takes, and what it assumes.

    >>> hypothesis_words()["positive"]
    'every user demands every resource'
    """
    told = re.findall(r"^([a-z_, ]+) : (.+(?:\n {4}.+)*)", getdoc(Hypotheses) or "", re.MULTILINE)
    meaning = {name: " ".join(text.split()) for names, text in told for name in names.split(", ")}
    known = {word: meaning[name] if value else f"not: {meaning[name]}" for word, (name, value) in _words().items()}
    told_of = {f"misreported {name}": f"{what} alone are misreported" for name, what in REPORTS.items()}
    return known | told_of | {f"at least N {what}": meaning[what] for what in COUNTED}


def _assumption(word: str) -> tuple[str, Any]:
    """The field of Hypotheses that a word sets, and the value."""
    plain, words = " ".join(word.replace("_", " ").replace("-", " ").split()), _words()
    if match := re.fullmatch(r"(?:at least )?(\d{1,4}) (user|server|resource)s?", plain):
        require(int(match[1]) <= LARGEST, "the hypothesis is", word.strip(), f"samples have at most {LARGEST} {match[2]}s")
        return f"{match[2]}s", int(match[1])
    if plain not in words:
        known = hypothesis_words()
        raise UnknownName(no_such("hypothesis", word.strip(), known, f"the words are {', '.join(known)}"))
    return words[plain]


def _vectors(instance: Instance) -> list[tuple[Fraction, ...]]:
    return [row for rows in (*instance.exact.demands, *instance.exact.demands_on.values()) for row in rows]


def _is_positive(instance: Instance) -> bool:
    """Whether every user demands every resource; where all have time of their own, every user can run on every server."""
    if (own_time(instance) >= 0).all():
        return all(len(rows) == instance.R - instance.N for rows in instance.exact.demands)
    return all(v > 0 for row in _vectors(instance) for v in row)


TESTS: Mapping[str, Callable[[Instance], bool]] = {
    "one_server": lambda it: it.K == 1,
    "one_resource": lambda it: it.R == 1,
    "one_variant": lambda it: it.single_variant,
    "same_demands": lambda it: not it.demands_on,
    "everywhere": lambda it: bool(it.placement.all()) and len(it.arcs) == it.K * sum(map(len, it.demands)),
    "no_idle_server": lambda it: len(set(it.arcs.server.tolist())) == it.K,
    "outsiders": lambda it: all(
        any(it.exact.demands[n][0][r] for n in np.flatnonzero(out)) for out in ~it.placement.T for r in range(it.R)
    ),
    "positive": _is_positive,
    "unlimited": lambda it: all(limit is None for limit in it.exact.max_tasks),
    "equal_weights": lambda it: all(w == 1 for w in it.exact.weights),
    "simplex": lambda it: all(sum(row) == 1 for row in _vectors(it)),
    "bottleneck": lambda it: bool(whole_bottlenecks(it)),
    "server_bottleneck": lambda it: server_bottlenecks(it).keys() == {*it.arcs.server.tolist()},
    "identical_servers": lambda it: len(set(zip(it.exact.capacities, it.counts.tolist(), strict=True))) == 1,
}


def _is_feasible(instance: Instance, point: Sequence[Fraction]) -> bool:
    arcs = exact_arcs(instance)
    within = all(limit is None or u <= limit for u, limit in zip(arcs.tasks(point), arcs.limits, strict=True))
    return within and all(x >= 0 for x in point) and all(load <= 1 for load in arcs.loads(point))


def _drawn(assumed: Hypotheses, rng: np.random.Generator) -> dict[str, Any]:
    return {name: values[int(rng.integers(len(values)))] for name, values in assumed.parameters.items()}


def draw_misreports(assumed: Hypotheses, rng: np.random.Generator, draft: Draft, misreports: int) -> None:
    """Give some users, at most so many, new misreports, and the others none; then make the draft satisfy the assumptions."""
    size = int(rng.integers(1, min(misreports, len(draft.users)) + 1)) if misreports else 0
    chosen = rng.permutation(len(draft.users))[:size].tolist()
    for n, user in enumerate(draft.users):
        user.reported = user.reported_placement = user.reported_limit = None
        if n in chosen:
            draw_misreport(assumed, rng, draft, n)
    assumed.impose(draft)


def draw_misreport(assumed: Hypotheses, rng: np.random.Generator, draft: Draft, n: int) -> None:
    """Give user n a new misreport: about demands, eligible servers where these matter, or both; or as `reports` says."""
    sampler, user = _Sampler(assumed, rng), draft.users[n]
    others = [other.demands for other in draft.users if other.demands != user.demands]
    both = not assumed.everywhere and len(draft.capacities) > 1
    about = {"demands": 1, "servers": 2, "tasks": 4}.get(assumed.reports, rng.choice((1, 1, 2, 3)) if both else 1)  # bits
    timed = draft.truth is not None and own_time(draft.truth)[n] >= 0
    user.reported = (sampler.rates(user) if timed else sampler.reported(user, others)) if about & 1 else None
    user.reported_placement = sampler.reported_placement(user) if about & 2 else None
    user.reported_limit = [sampler.number()] if about & 4 and user.limit[0] is not None else None


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

    def ways(self) -> int:
        return 1 if self.hypotheses.one_variant else int(self.rng.integers(1, 4))

    def count(self, least: int, most: int) -> int:
        """Small counts more often, or in every second draft large ones: the two at that end three times as often as any other."""
        counts = np.arange(max(least, 1), max(least, most, 1) + 1)
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
        n_servers = 1 if h.one_server else self.count(h.servers, most[1])
        n_resources = 1 if h.one_resource else self.count(h.resources, most[2])
        lacking = 0.0 if h.everywhere else float(self.rng.choice([0.0, 0.3, 0.6]))
        capacities = [self.vector(n_resources, lacking) for _ in range(n_servers)]
        home = int(self.rng.integers(n_servers))  # a server that has everything and is open to everybody
        capacities[home] = [c or self.number() for c in capacities[home]]
        weighted, placed, limited = self.chance(0.4), not h.everywhere and self.chance(0.6), self.chance(0.5)
        users = []
        for _ in range(n_users):
            ways = self.ways()
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
            users[-1].demands, users[-1].own = [list(row) for row in users[0].demands], {}
            users[-1].points = [self.point(len(users[-1].demands), n_servers) for _ in range(h.points)]
        parameters, classes = _drawn(h, self.rng), not h.one_server and self.chance(0.1)
        counts = [int(self.rng.integers(1, 4)) if classes else 1 for _ in range(n_servers)]
        return Draft(users, capacities, counts, parameters)

    def point(self, ways: int, n_servers: int) -> dict[tuple[int, int], Fraction]:
        return {key: Fraction(0) if self.chance(0.4) else self.number() for key in product(range(ways), range(n_servers))}

    def reported(self, user: DraftUser, others: Sequence[list[list[Fraction]]]) -> list[list[Fraction]]:
        """Other demands: new ones, those of another user, or the true ones with one number changed."""
        ways = self.ways()
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

    def rates(self, user: DraftUser) -> list[list[Fraction]]:
        """Another rate on one server, where tasks take everything in proportion, or one server less."""
        rows = [list(row) for row in user.demands]
        v = int(self.rng.integers(len(rows)))
        if len(rows) > 1 and self.chance(0.25):
            return rows[:v] + rows[v + 1 :]
        factor = self.number() if self.chance(0.4) else FACTORS[self.rng.integers(1, len(FACTORS))]
        rows[v] = [value * factor for value in rows[v]]
        return rows

    def reported_placement(self, user: DraftUser) -> list[bool]:
        """Other eligible servers: any, or the true ones but for one."""
        if self.chance(0.5):
            return [self.chance(0.7) for _ in user.placement]
        i = int(self.rng.integers(len(user.placement)))
        return [allowed != (k == i) for k, allowed in enumerate(user.placement)]
