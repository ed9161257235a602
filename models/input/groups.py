r"""Groups of users: a tree with weights and guarantees, such as departments, Kueue's cohorts, the queues of KAI and Volcano.

The nodes are the groups, parents before children, and after them the users. Children of one node share by their weights:

    phi_k = product of  weight_j / sum of the weights of j and its siblings   over k and the groups above it

A user's weight is that of the instance. Users in no group are children of the root. A guarantee is a part of the system: the sum
of the members' shares is at least that, or all that they ask for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, check_name, require, shown
from fairalloc.models.input.validation import Places
from fairalloc.models.numbers import finite, is_vector, rational

ROOT, DEEPEST = -1, 100
FIELDS = ("users", "groups", "weight", "guarantee")

LEAST = Fraction(1, 10**300)
"""The least phi, whose inverse is a float."""


@dataclass(frozen=True)
class Groups:
    """A tree of groups above the users of an instance.

    Attributes
    ----------
    names : (G,) parents before children
    parent : (G,) the group that each is in, -1 = the root
    weights, guarantees : (G,) rationals; 0 = no guarantee
    of_user : (N,) the group of each user, -1 = the root
    """

    names: tuple[str, ...]
    parent: tuple[int, ...]
    weights: tuple[Fraction, ...]
    guarantees: tuple[Fraction, ...]
    of_user: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def none(cls, users: int) -> "Groups":
        """No groups: so many users are children of the root."""
        return cls((), (), (), (), (ROOT,) * users)

    @cached_property
    def above(self) -> tuple[int, ...]:
        """(G + N,) the group that each node is in."""
        return self.parent + self.of_user

    @cached_property
    def depth(self) -> NDArray[np.intp]:
        """(G + N,) 1 for children of the root."""
        result = np.ones(len(self.above), dtype=np.intp)
        for k, group in enumerate(self.above):  # parents come before children
            result[k] += result[group] if group != ROOT else 0
        return result

    @cached_property
    def children(self) -> Mapping[int, tuple[int, ...]]:
        """The nodes in each group, and in the root."""
        found: dict[int, list[int]] = {ROOT: []}
        for k, group in enumerate(self.above):
            found.setdefault(group, []).append(k)
        return {group: tuple(nodes) for group, nodes in found.items()}

    @cached_property
    def members(self) -> sp.csr_array:
        """((G + N) x N) sparse 0/1: the users of each node; of a user, itself."""
        rows: list[int] = []
        columns: list[int] = []
        for n, group in enumerate(self.of_user):
            rows.append(len(self) + n)
            while group != ROOT:
                rows.append(group)
                group = self.parent[group]
            columns += [n] * (len(rows) - len(columns))
        return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(self.above), len(self.of_user)))

    def parts(self, user_weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """(G + N,) phi of each node; InstanceError where one is out of the range of floating point."""
        weights, result = (*self.weights, *user_weights), [Fraction(1)] * len(self.above)
        total = {group: sum(weights[k] for k in nodes) for group, nodes in self.children.items()}
        for k, group in enumerate(self.above):
            result[k] = weights[k] / total[group] * (1 if group == ROOT else result[group])
        for k in [k for k, part in enumerate(result) if part < LEAST][:1]:
            who = f"group {self.names[k]!r}" if k < len(self) else f"user {k - len(self) + 1}"
            raise InstanceError(f"by weights {who} has less than 1e-300 of everything, which is out of range: change weights")
        return tuple(result)

    def chosen(self, users: Sequence[int]) -> "Groups | None":
        """The tree above some users, without the groups that have none of them; None where no group is left."""
        kept = np.flatnonzero(np.diff(self.members[: len(self), list(users)].indptr)).tolist()
        place = {ROOT: ROOT} | {k: j for j, k in enumerate(kept)}
        if not kept:
            return None
        parent, of_user = (tuple(place[above[k]] for k in own) for above, own in ((self.parent, kept), (self.of_user, users)))
        weights, guarantees = (tuple(own[k] for k in kept) for own in (self.weights, self.guarantees))
        return Groups(tuple(self.names[k] for k in kept), parent, weights, guarantees, of_user)

    def document(self, users: Sequence[Any], number: Callable[[Fraction], Any] = lambda value: value) -> dict[str, Any]:
        """The tree as `groups` of an instance takes it."""
        nodes: dict[int, dict[str, Any]] = {ROOT: {}}
        for k, name in enumerate(self.names):
            own = [users[n] for n, group in enumerate(self.of_user) if group == k]
            nodes[k] = {"weight": number(self.weights[k]), "guarantee": number(self.guarantees[k]), "users": own}
            above = nodes[self.parent[k]]
            (above if self.parent[k] == ROOT else above.setdefault("groups", {}))[name] = nodes[k]
        return nodes[ROOT]


def read_groups(value: Any, users: Sequence[str]) -> Groups | None:
    """The tree that a mapping describes; None where there are no groups.

    A group is a list of users, by name or number, or a mapping with some of `users`, `groups`, `weight` (default 1) and
    `guarantee` (from 0 to 1, default 0). InstanceError names what is wrong.
    """
    if value is None or isinstance(value, Groups):
        return _fitting(value, users)
    require(isinstance(value, Mapping), "groups are", value, "they must be a mapping of names to groups")
    place, of_user = Places(users, "user"), [ROOT] * len(users)
    found: dict[str, tuple[int, Fraction, Fraction]] = {}
    for k, (name, group, parent) in enumerate(_walk(value)):
        check_name(name, "the name of a group", empty=True)
        require(name not in found, "a group is named", name, "the names of groups must be distinct")
        require(name not in place.names, "a group is named", name, "a user has this name")
        own = group.get("users", []) if isinstance(group, Mapping) else group  # the users that it lists itself
        require(is_vector(own), f"the users of group {name!r} are", own, "they must be a list of users")
        found[name] = (parent, *_numbers(name, group))
        for n in map(place, own):
            if of_user[n] != ROOT:
                both = f"{[*found][of_user[n]]!r} and {name!r}"
                raise InstanceError(f"user {users[n]!r} is in the groups {both}, but may be in one")
            of_user[n] = k
    if not found:
        return None
    parents, weights, guarantees = zip(*found.values(), strict=True)
    result = Groups(tuple(found), parents, weights, guarantees, tuple(of_user))
    for k in np.flatnonzero(np.diff(result.members.indptr) == 0)[:1]:
        raise InstanceError(f"group {result.names[k]!r} has no users, but it must have at least one")
    return result


def _fitting(groups: Groups | None, users: Sequence[str]) -> Groups | None:
    """The tree, which was read before; InstanceError where it is about other users, or a group and a user have one name."""
    if groups is None:
        return None
    require(len(groups.of_user) == len(users), "groups are", groups, f"they must be about {len(users)} users")
    for name in sorted({*users}.intersection(groups.names))[:1]:
        raise InstanceError(f"a group is named {name!r}, but a user has this name")
    return groups


def _walk(value: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, int]]:
    """Names, groups and the numbers of their parents, parents first."""
    found = [(name, group, ROOT, 1) for name, group in value.items()]
    for k, (name, group, parent, depth) in enumerate(found):  # which grows
        require(depth <= DEEPEST, "groups are nested", f"more than {DEEPEST} deep", f"they may be at most {DEEPEST} deep")
        yield name, group, parent
        inner = group.get("groups", {}) if isinstance(group, Mapping) else {}
        require(isinstance(inner, Mapping), f"groups in {shown(name)} are", inner, "they must be a mapping of names to groups")
        found += [(child, one, k, depth + 1) for child, one in inner.items()]


def _numbers(name: str, group: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(group, Mapping):
        return Fraction(1), Fraction(0)
    for field in [field for field in group if field not in FIELDS][:1]:
        raise InstanceError(f"group {name!r} has the unknown field {shown(field)}: the fields are {', '.join(FIELDS)}")
    weight = rational(group.get("weight", 1), f"the weight of group {name!r}")
    guarantee = rational(group.get("guarantee", 0), f"the guarantee of group {name!r}")
    require(weight > 0, f"the weight of group {name!r} is", group.get("weight"), "it must be positive")
    finite(group.get("weight", 1), f"the weight of group {name!r}")
    require(0 <= guarantee <= 1, f"the guarantee of group {name!r} is", group.get("guarantee"), "it must be from 0 to 1")
    return weight, guarantee
