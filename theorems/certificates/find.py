"""The search of certificates: cases of a question's alternatives, each led to a contradiction.

1. z3 is asked whether the facts that are no alternatives are possible together. If not, its core names the few that are enough,
   and a linear program makes a leaf of these (leaf.py).
2. Otherwise it gives a point. An alternative that is false there is divided into its cases, the one with the fewest first.
3. A case whose tree does not use its own facts stands for all cases.

`certificate_of` has the certificate of a statement at a size: that on record, where the text is still the same, or one that is
searched so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, count, product
from time import process_time as now
from typing import Any

import z3

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates.check_certificate import facts_of, inserted, plus, times
from fairalloc.theorems.certificates.leaf import Fact, leaf, lemmas
from fairalloc.theorems.certificates.store import Text, document, hash_of, stored
from fairalloc.theorems.certificates.text import text_of
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.statement import Statement

NUMBERS = "0123456789_~"
LETTERS = "abcdefghijklmnopqrstuvwxyzCDMS~"
"""Of the names of unknowns."""

WORK = 400_000
"""What z3 may do on one query, in its own units."""

Tree = tuple[Any, frozenset[Any]]

Shown = tuple[Any, Fact, Any, Tree]
"""A fact that is not given: its key, the fact, the key of its contrary, and the tree with that."""


class NoCertificateError(Exception):
    """Why a question has no certificate here."""


class CertificateSearch:
    def __init__(self, seconds: float) -> None:
        self.end, self.keys = now() + seconds, count()
        self.context, self.made = z3.Context(), dict[Any, Any]()

    def tree(self, assumed: Sequence[Fact], refuting: Sequence[Fact] = ()) -> list[Any]:
        """The tree of facts in their order, those that would refute the claim last."""
        facts = {next(self.keys): f for f in (*assumed, *refuting)}
        if self._outcome(list(facts.values())) == "sat":
            raise NoCertificateError("satisfiable")
        found, _ = self._after_lemmas(facts, dict(list(facts.items())[len(assumed) :]))
        return _numbered(found, {k: n for n, k in enumerate(facts)}, len(facts))

    def _after_lemmas(self, facts: dict[Any, Fact], refuting: Mapping[Any, Fact]) -> Tree:
        """The tree of a question, with the lemmas that have one."""
        shown: list[Shown] = []
        for p, enough in lemmas(facts, refuting):
            contrary = next(self.keys)
            tried = enough | {contrary: (">", plus({}, p, -1))}
            if self._outcome(list(tried.values())) == "unsat":
                with suppress(NoCertificateError):
                    found = self._node(tried, _alternatives(tried))
                    shown.append((next(self.keys), (">=", p), contrary, found))
        return _cited(self._node(facts | {key: fact for key, fact, *_ in shown}, _alternatives(facts)), shown)

    def _node(self, facts: dict[Any, Fact], asked: frozenset[Any]) -> Tree:
        """A tree and the facts that it uses; `asked`: alternatives that are enough."""
        if now() > self.end:
            raise NoCertificateError("the time was not enough")
        known = {k: f for k, f in facts.items() if f[0] != "or"}
        needed = self._enough(facts, asked)
        implied = {name: f for k in sorted(needed) for name, f in self._implied(k, facts).items()}
        if all(any(name[0] == k for name in implied) for k in needed):
            found = self._closed(facts, known, implied, last=not needed)
            if found is not None:
                return found
        if not needed:
            return self._halved(facts)
        chosen = min(sorted(needed), key=lambda k: (bool(self._implied(k, facts)), self._cases(facts, k)))
        rest = {k: f for k, f in facts.items() if k != chosen}
        return self._by_cases(("or", chosen), list(map(facts_of, facts[chosen][1])), rest, frozenset(needed) - {chosen})

    def _closed(self, facts: Mapping[Any, Fact], known: dict[Any, Fact], implied: dict[Any, Fact], last: bool) -> Tree | None:
        """A leaf of what is known and implied; where it is the last try, also of differences with a sign that has a leaf."""
        found, shown = self._leaf(known | implied, 6 if last else 4), list[Shown]()
        if found is None and last:
            shown = self._differences(known | implied)
            found = self._leaf(known | implied | {key: fact for key, fact, *_ in shown}) if shown else None
        if found is None:
            return None
        tree, used = _cited(found, shown)
        return _cited((tree, used), [self._shown(name, implied[name], facts) for name in used & implied.keys()])

    def _leaf(self, facts: Mapping[Any, Fact], tries: int = 6) -> Tree | None:
        core = set(self._core(facts))
        few = {k: f for k, f in facts.items() if k in core}
        names = {v for _, p in few.values() for m in p for v in m}
        signs = {k: f for k, f in facts.items() if f[0] != "=" and len(f[1]) == 1 and {v for m in f[1] for v in m} <= names}
        for given, degree in [(few, 1), (few, 2), (few | signs, 2), (few, 3), (few | signs, 3), (facts, 2)][:tries]:
            if (found := leaf(given, degree)) is not None:
                lets, terms = found
                return ("leaf", lets, terms), frozenset(k for k, _ in lets) | {k for _, keys in terms for k in keys}
        return None

    def _differences(self, known: Mapping[Any, Fact]) -> list[Shown]:
        """Differences of two unknowns of one kind, and unknowns, that have a sign, with a leaf."""
        shown: list[Shown] = []
        for p in _compared(known):
            if now() > self.end:
                break
            given = dict(known) | {key: fact for key, fact, *_ in shown}
            for q, (sign, contrary) in product((p, plus({}, p, -1)), ((">", ">="), (">=", ">"))):
                key = next(self.keys)
                tried = given | {key: (contrary, plus({}, q, -1))}
                if self._outcome(list(tried.values())) == "unsat" and (found := self._leaf(tried, 4)) is not None:
                    shown.append((next(self.keys), (sign, q), key, found))
                    break
        return shown

    # ---- what alternatives of equations imply: that a product is 0, or >= 0

    def _implied(self, k: Any, facts: Mapping[Any, Fact]) -> dict[Any, Fact]:
        """From a = 0 or b = 0, a b = 0; from a = 0 or q >= 0, q >= 0 where a = 0 says so, else a q >= 0."""
        options = [facts_of(option) for option in facts[k][1]]
        if any(len(option) > 1 or option[0][0] == "or" for option in options) or len(options) > 3:
            return {}
        equations = [p for ((sign, p),) in options if sign == "="]
        other = [p for ((sign, p),) in options if sign != "="]
        if len(other) > 1 or (other and len(equations) != 1):
            return {}
        signs = [self._sign(p, facts) for p in equations]
        whole: Any = {(): 1}
        for p, sign in zip(equations, signs, strict=True):
            whole = times(whole, plus({}, p, sign if all(signs) else 1))
        if other:
            there = self._is_there(equations[0], other[0], facts)
            found = other if there else [times(other[0], whole)] * all(signs)
        else:
            ends = (-1,) if all(signs) else (1, -1)
            found = [plus({}, whole, end) for end in ends] if len(whole) <= 40 else []
        return {(k, n): (">=", p) for n, p in enumerate(found)}

    def _is_there(self, a: Any, q: Any, facts: Mapping[Any, Fact]) -> bool:
        """Whether q >= 0 is known where an unknown a is 0."""
        if len(a) != 1 or len(next(iter(a))) != 1:
            return False
        left = inserted(q, [(next(iter(a))[0], {})])
        return not left or self._sign(left, facts) == 1

    @staticmethod
    def _sign(p: Any, facts: Mapping[Any, Fact]) -> int:
        """1 or -1 where p or -p is known to be >= 0, else 0."""
        known = [f[1] for f in facts.values() if f[0] in (">", ">=")]
        return next((factor for factor in (1, -1) if plus({}, p, factor) in known), 0)

    def _shown(self, name: Any, fact: Fact, facts: Mapping[Any, Fact]) -> Shown:
        """What an alternative implies, by the cases of this."""
        contrary, (k, _) = next(self.keys), name
        known = {one: f for one, f in facts.items() if f[0] != "or"} | {contrary: (">", plus({}, fact[1], -1))}
        return name, fact, contrary, self._by_cases(("or", k), list(map(facts_of, facts[k][1])), known, frozenset())

    def _halved(self, facts: dict[Any, Fact]) -> Tree:
        """By the sign of an unknown without one: the one of which there is a square, or that is in most products."""
        core = [facts[k] for k in self._core(facts) if facts[k][0] != "or"]
        products = [m for _, p in core for m in p if len(m) > 1]
        often = Counter(v for m in products for v in set(m) - _signed(facts.values()))
        if not often:
            raise NoCertificateError("no leaf of this degree")
        p = {(min(often, key=lambda v: ((v, v) not in products, -often[v], v)),): 1}
        return self._by_cases(("cut", p), [[(">=", p)], [(">", plus({}, p, -1))]], facts, frozenset())

    def _by_cases(self, head: Any, cases: Sequence[list[Fact]], rest: dict[Any, Fact], needed: frozenset[Any]) -> Tree:
        """The tree of what has so many cases, or that of one in which its own facts are not used."""
        parts, used = [], frozenset[Any](head[1:] if head[0] == "or" else ())
        for case in cases:
            new = {next(self.keys): f for f in case}
            below, own = self._node(rest | new, needed | _alternatives(new))
            if not own & new.keys():
                return below, own
            parts.append((list(new), below))
            used |= own - new.keys()
        return (*head, parts), used

    def _cases(self, facts: Mapping[Any, Fact], k: Any) -> int:
        """The cases of an alternative that are not excluded by the contrary itself."""
        signs: dict[Any, set[str]] = {}
        for sign, p in (f for f in facts.values() if f[0] != "or"):
            signs.setdefault(frozenset(p.items()), set()).add(sign)
            if sign == "=":
                signs.setdefault(frozenset(plus({}, p, -1).items()), set()).add(sign)
        return sum(not any(_contrary(f, signs) for f in facts_of(option)) for option in facts[k][1])

    def point(self, facts: Sequence[Fact]) -> Any:
        """Values at which facts hold, None where there are none."""
        solver = self._solver(facts)
        result = str(solver.check())
        if result == "unknown":
            raise NoCertificateError("no point was found")
        if result == "unsat":
            return None
        model = solver.model()
        values = {d.name(): model[d] for d in model.decls() if d.arity() == 0}
        if any(z3.is_algebraic_value(v) for v in values.values()):
            raise NoCertificateError("the point is not rational")
        return {name: str(v.as_fraction()) for name, v in sorted(values.items())}

    def _solver(self, facts: Iterable[Fact], work: int = WORK) -> Any:
        solver = z3.SolverFor("QF_NRA", ctx=self.context)
        solver.set("rlimit", work)
        solver.add(*map(self._formula, facts))
        return solver

    def _number(self, p: Mapping[Any, Any]) -> Any:
        c = self.context
        parts = [z3.Product([z3.RealVal(str(v), c), *(z3.Real(name, c) for name in m)]) for m, v in p.items()]
        return z3.Sum(parts) if parts else z3.RealVal(0, c)

    def _formula(self, f: Fact) -> Any:
        """A fact as z3 takes it, made once."""
        name = (f[0], id(f[1]) if f[0] == "or" else frozenset(f[1].items()))
        if name not in self.made:
            self.made[name] = self._make(f)
        return self.made[name]

    def _make(self, f: Fact) -> Any:
        if f[0] == "or":
            parts = [z3.And([z3.BoolVal(True, self.context), *map(self._formula, facts_of(option))]) for option in f[1]]
            return z3.Or([z3.BoolVal(False, self.context), *parts])
        p = self._number(f[1])
        return p >= 0 if f[0] == ">=" else p > 0 if f[0] == ">" else p == 0

    def _enough(self, facts: Mapping[Any, Fact], asked: frozenset[Any]) -> list[Any]:
        """Alternatives that are enough, without those that z3 does not need."""
        known = {k: f for k, f in facts.items() if f[0] != "or"}
        order = sorted(asked, key=lambda k: (len(str(facts[k])), k), reverse=True)
        needed, step = order, len(order)
        while step:
            for start in range(0, len(order), step):
                fewer = [k for k in needed if k not in order[start : start + step]]
                if len(fewer) < len(needed) and self._outcome([*known.values(), *(facts[k] for k in fewer)]) == "unsat":
                    needed = fewer
            step //= 2
        return needed

    def _outcome(self, facts: Sequence[Fact]) -> str:
        return str(self._solver(facts).check())

    def _core(self, facts: Mapping[Any, Fact]) -> list[Any]:
        """Facts that are impossible together, by z3; all where it does not say so."""
        solver = self._solver((), WORK // 4)
        for k, f in facts.items():
            solver.assert_and_track(self._formula(f), f"{k}")
        if str(solver.check()) != "unsat":
            return list(facts)
        named = {str(k): k for k in facts}
        return [named[str(name)] for name in solver.unsat_core()]


def _signed(facts: Iterable[Fact]) -> set[str]:
    return {v for sign, p in facts if sign in (">", ">=") and len(p) == 1 for m in p if len(m) == 1 for v in m}


def _compared(known: Mapping[Any, Fact]) -> Iterator[Any]:
    """Unknowns without a sign, and differences of two unknowns that are named alike."""
    names = sorted({v for _, p in known.values() for m in p for v in m}, key=lambda v: v.replace("~", ""))
    yield from ({(v,): 1} for v in names if v not in _signed(known.values()))
    for one, other in combinations(names, 2):
        if one.strip(NUMBERS) == other.strip(NUMBERS) or one.strip(LETTERS) == other.strip(LETTERS):
            yield {(one,): 1, (other,): -1}


def _alternatives(facts: Mapping[Any, Fact]) -> frozenset[Any]:
    return frozenset(k for k, f in facts.items() if f[0] == "or")


def _cited(found: Tree, shown: Sequence[Shown]) -> Tree:
    """A tree in which facts that were shown are used, after these."""
    tree, used = found
    for key, (sign, p), contrary, (below, needed) in reversed(shown):
        if key in used:
            parts = [([key], tree), ([contrary], below)]
            tree = ("cut", p, parts) if sign == ">=" else ("cut", plus({}, p, -1), parts[::-1])
            used = (used - {key}) | needed - {contrary}
    return tree, used


def _contrary(f: Fact, signs: Mapping[Any, set[str]]) -> bool:
    """Whether a fact is the contrary of a known one."""
    if f[0] == "or":
        return False
    same, other = signs.get(frozenset(f[1].items()), set()), signs.get(frozenset(plus({}, f[1], -1).items()), set())
    if f[0] == "=":
        return ">" in same | other
    return bool(other or "=" in same) if f[0] == ">" else ">" in other


def _numbered(tree: Any, place: Mapping[Any, int], many: int) -> list[Any]:
    """A tree with the places of its facts."""
    kind, k, parts = tree
    if kind == "leaf":
        lets = [[place[one], v] for one, v in k]
        return ["leaf", lets, [[_written(p), [place[one] for one in keys]] for p, keys in parts]]
    below = []
    for new, part in parts:
        below.append(_numbered(part, {**place, **{one: many + n for n, one in enumerate(new)}}, many + len(new)))
    return [kind, _written(k) if kind == "cut" else place[k], below]


def _written(p: Any) -> Any:
    if not isinstance(p, dict):
        return int(p)
    return {" ".join(m): int(c) if c == int(c) else str(c) for m, c in p.items()}


# ---- of a statement at a size ------------------------------------------------------------------------------------------


def certificate_of(item: Statement, size: Size, seconds: float) -> dict[str, Any]:
    """A certificate on record or found now; InstanceError where none is found for some question in so many seconds each."""
    text = text_of(item, size)
    return stored(hash_of(text)) or certified(text, seconds)


def certified(text: Text, seconds: float) -> dict[str, Any]:
    """The certificate of a text. What shows a lemma may be a question itself: its tree is also one of more facts."""
    found: list[list[Any]] = []
    shown: list[tuple[list[str], Any]] = []
    for name, *parts in text["questions"]:
        assumed, refuting = ([f for k in part for f in facts_of(text["formulas"][k])] for part in parts)
        try:
            found.append(_entry(assumed, refuting, shown, seconds))
        except NoCertificateError as fault:
            raise InstanceError(f"no certificate is found of the question {name!r}: {fault}") from fault
    return document(text, found)


def _entry(assumed: list[Fact], refuting: list[Fact], shown: list[tuple[list[str], Any]], seconds: float) -> list[Any]:
    """The point and the tree of one question; `shown`: facts and trees, to which this one is added."""
    search = CertificateSearch(seconds)
    point = search.point(assumed)
    refuting = [] if point is None else refuting
    names = [repr((sign, p if sign == "or" else sorted(p.items()))) for sign, p in (*assumed, *refuting)]
    place = {name: k for k, name in reversed([*enumerate(names)])}
    for given, tree in shown:
        if place.keys() >= set(given):
            return [point, moved(tree, [place[name] for name in given], len(names))]
    shown.append((names, search.tree(assumed, refuting)))
    return [point, shown[-1][1]]


def moved(tree: Any, places: Sequence[int], many: int) -> list[Any]:
    """A tree of facts that stand at other places among so many."""
    kind, k, parts = tree

    def place(one: int) -> int:
        return places[one] if one < len(places) else one - len(places) + many

    if kind == "leaf":
        return [kind, [[place(one), v] for one, v in k], [[p, [*map(place, keys)]] for p, keys in parts]]
    return [kind, k if kind == "cut" else place(k), [moved(part, places, many) for part in parts]]
