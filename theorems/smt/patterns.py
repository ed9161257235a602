"""Patterns of instances: which users may use which servers, and which resources they demand; one of each class of equals.

Every instance of a size has one pattern, and exchanging users, servers or resources changes neither a mechanism nor a property.
So a claim holds for all instances if it holds for one pattern of each class; the users that a violation names keep their places.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import TypeAlias

Size: TypeAlias = tuple[int, int, int]
"""Users, servers, resources."""


@dataclass(frozen=True, order=True)
class InstancePattern:
    """`servers[n]`: where user n may run, placement and what servers lack taken together; `demanded[n]`: what it demands."""

    servers: tuple[tuple[int, ...], ...]
    demanded: tuple[tuple[int, ...], ...]

    @property
    def users(self) -> range:
        return range(len(self.servers))

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """(user, server) for every user and server where it may run."""
        return [(n, i) for n, own in enumerate(self.servers) for i in own]

    def at(self, i: int) -> list[int]:
        return [n for n in self.users if i in self.servers[n]]

    def __str__(self) -> str:
        def rows(parts: tuple[tuple[int, ...], ...]) -> str:
            return " ".join("".join(str(k + 1) for k in part) for part in parts)

        return f"servers {rows(self.servers)}, resources {rows(self.demanded)}"


def subsets(count: int) -> list[tuple[int, ...]]:
    """The nonempty subsets of range(count), the whole first."""
    return [part for size in range(count, 0, -1) for part in combinations(range(count), size)]


def patterns(
    size: Size,
    named: int,
    positive: bool = False,
    everywhere: bool = False,
    fixed: int = 0,
    common: bool = False,
    server: bool = False,
    used: bool = False,
) -> Iterator[InstancePattern]:
    """One pattern of each class."""
    users, servers, resources = size
    places = [tuple(range(servers))] if everywhere else subsets(servers)
    wants = [tuple(range(resources))] if positive else subsets(resources)
    wants = [part for part in wants if 0 in part or not common]
    seen: set[InstancePattern] = set()
    for own in product(places, repeat=users):
        if used and len({i for part in own for i in part}) < servers:
            continue
        for demanded in product(wants, repeat=users):
            pattern = InstancePattern(own, demanded)
            if pattern not in seen:
                seen |= set(_equals(pattern, size, named, max(fixed, int(common)), int(server)))
                yield pattern


def _equals(pattern: InstancePattern, size: Size, named: int, fixed: int, kept: int) -> Iterator[InstancePattern]:
    users, servers, resources = size
    for rest, of_servers, of_resources in product(
        permutations(range(named, users)), permutations(range(kept, servers)), permutations(range(fixed, resources))
    ):
        of_resources, of_servers = (*range(fixed), *of_resources), (*range(kept), *of_servers)
        order = (*range(named), *rest)
        yield InstancePattern(
            tuple(tuple(sorted(of_servers[i] for i in pattern.servers[n])) for n in order),
            tuple(tuple(sorted(of_resources[r] for r in pattern.demanded[n])) for n in order),
        )


def report_patterns(
    truth: InstancePattern, size: Size, liars: int = 1, everywhere: bool = False, positive: bool = False
) -> Iterator[InstancePattern]:
    """What users may report and gain by: each must report what it demands, and a server where it may run."""
    wants = [tuple(range(size[2]))] if positive else subsets(size[2])
    choices = []
    for n in range(liars):
        places = [truth.servers[n]] if everywhere else subsets(size[1])
        useful = [own for own in places if set(own) & set(truth.servers[n])]
        choices.append(product(useful, [demanded for demanded in wants if set(truth.demanded[n]) <= set(demanded)]))
    for reports in product(*choices):
        servers, demanded = zip(*reports, strict=True)
        yield InstancePattern((*servers, *truth.servers[liars:]), (*demanded, *truth.demanded[liars:]))
