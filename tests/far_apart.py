"""Instances whose weights, demands or capacities are many powers of ten apart, and the right tasks of each user.

    python tests/far_apart.py SEED [INSTANCES [DECADES [MECHANISM ..]]]

solves that many instances of each mechanism at "mid" and exits 1 where an answer that is called "optimal" has a user off by more
than WRONG. tests/solvers/test_far_apart.py does a few of them.

    python tests/far_apart.py rationals SEED [INSTANCES]

certifies and explains rational answers of ps-dsf whose data are fractions and whose weights go to 1e9, and exits 1 where anything
but a FairallocError is raised, or an optimal answer is not certified.

The reference of a linear mechanism is its rational answer. That of nb and fds is tasks to many digits, which are believed only as
far as `proved_error` shows: it is computed here in rationals, from the tasks and prices alone. SETS have
several answers: theirs is the exact answer next to what is called "optimal", found by `certify`.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

import fairalloc as fa
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN
from fairalloc.models.exact.rationals import exact_arcs, global_dominant_share
from fairalloc.solvers.exact.exact import in_rationals, solve_exactly
from fairalloc.solvers.exact.many_digits import many_digits
from fairalloc.solvers.method import Limits, Stopped

WRONG = 1.1e-4

POOLED = ("drf", "asset", "fds", "njc")
"""Defined on one pool, which placement forbids."""

SETS = ("ps-dsf", "njc", "alpha-pf-vds")

FLOORED = ("drfh with floors", "lmmf with floors", "tsf with floors")
"""Where some users have a part of what an equal partition gives them for sure, on the same instances."""

NAMES = ("drf", "drfh", "tsf", "lmmf", "asset", "drf-per-server", "uniform", "nb", "fds", "nested-leximin", *FLOORED, *SETS)


class Found(NamedTuple):
    """What became of an instance, "wrong" and "no reference" among other words; and the largest relative error."""

    outcome: str
    error: float


def instance(rng: np.random.Generator, decades: float, placed: bool) -> fa.Instance:
    """2 to 7 users, 1 to 4 servers, 1 to 3 resources; what is far apart is drawn: weights, demands, capacities, or all."""
    N, K, R = int(rng.integers(2, 8)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    far = {0: "w", 1: "d", 2: "c", 3: "wdc"}[int(rng.integers(4))]

    def drawn(what: str, *shape: int) -> np.ndarray:
        size = decades / 2 if what in far else 0.5
        return (10.0 ** rng.uniform(-size, size, shape)).astype(float)

    demands = drawn("d", N, 1 if rng.random() < 0.5 else R) * 10.0 ** rng.uniform(-0.5, 0.5, (N, R))
    used = rng.random((N, R)) < 0.8
    used[np.arange(N), rng.integers(R, size=N)] = True
    eligible = np.ones((N, K), bool)
    if placed and rng.random() < 0.5:
        eligible = rng.random((N, K)) < 0.6
        eligible[np.arange(N), rng.integers(K, size=N)] = True
    return fa.Instance((demands * used).tolist(), drawn("c", K, R).tolist(), weights=drawn("w", N).tolist(), eligible=eligible)


def proved_error(item: Mechanism, domain: fa.Instance, tasks: tuple[Fraction, ...], prices: tuple[Fraction, ...]) -> float:
    r"""The largest relative error of feasible tasks without limits, proved in rationals; for integer alpha, and for 1/2.

    U_n'(u_n) = q_n for weights that differ by the part e from the given ones. The right tasks u* of these weights have
    y (r - 1)^2 / r <= sum p - sum q u, and the given weights change u* by the order of e.
    """
    arcs, weights = exact_arcs(domain), domain.exact.weights
    costs = arcs.cheapest(prices)
    paid = [q * u for q, u in zip(costs, tasks, strict=True)]
    gap = max(sum(prices) - sum(paid), Fraction(0))
    alpha = Fraction(str(item.parameters.get("alpha", 1.0)))
    share = global_dominant_share(domain) if item.id == "fds" else (Fraction(1),) * domain.N
    level = [s * u / w if item.id == "fds" else u for s, u, w in zip(share, tasks, weights, strict=True)]
    # U' = share level^-alpha, or for nb w / u: compared as powers alpha.denominator, so that rationals are enough
    k, m = alpha.denominator, alpha.numerator
    unit = None
    worst = 0.0
    for q, v, s, w in zip(costs, level, share, weights, strict=True):
        ratio = q**k * v**m / ((s if item.id == "fds" else w) ** k)
        unit = unit or ratio
        worst = max(worst, abs(float(ratio / unit - 1)))
    return worst + max(float(gap / y) for y in paid) ** 0.5 * 4 / min(float(alpha), 1.0)


def right_tasks(item: Mechanism, one: fa.Instance) -> tuple[Fraction, ...] | None:
    """The reference, None where there is none."""
    home, domain = item.home(one), item.domain(one)
    try:
        if item.id not in ("nb", "fds"):
            found = in_rationals(item, one)
            assert found is not None
            return exact_arcs(home).tasks(solve_exactly(*found, Limits()).x)
        answer = many_digits(item, domain, Limits())
    except (Stopped, ArithmeticError):
        return None
    if answer is None or proved_error(item, domain, answer.tasks, answer.prices) > 1e-7:
        return None
    return answer.tasks


def tried(name: str, one: fa.Instance, **parameters: float) -> Found:
    """The answer at "mid" against the reference."""
    item = find_mechanism(name.split()[0]).configure(**parameters)
    answer = fa.solve(one, item.id, **parameters)
    if name in SETS:
        return _near_exact(answer)
    right = right_tasks(item, one)
    if right is None:
        return Found("no reference" if answer.termination == "optimal" else _word(answer), float("nan"))
    tasks = answer.tasks_exact or [Fraction(u) for u in answer.tasks.tolist()] if answer.has_point else None
    alone = np.maximum.reduceat(one.arcs.gamma, one.arcs.first).tolist()  # of which those who get nothing have next to nothing
    units = [t or Fraction(part) / 10**4 for t, part in zip(right, alone, strict=True)]
    apart = [] if tasks is None else [float(abs(u - t) / unit) for u, t, unit in zip(tasks, right, units, strict=True)]
    error = max(apart, default=float("inf"))
    if answer.termination == "optimal" and not error <= WRONG:
        return Found("wrong", error)
    return Found(_word(answer), error)


def _near_exact(answer: fa.Allocation) -> Found:
    if answer.termination != "optimal":
        return Found(_word(answer), float("nan"))
    made = fa.certify(answer, tolerance=WRONG)
    return Found("optimal" if made else "no reference" if "not decided" in str(made) else "wrong", float("nan"))


def _word(answer: fa.Allocation) -> str:
    return "not known" if answer.termination == USER_ERROR_NOT_KNOWN else answer.termination


def cases(seed: int, count: int, decades: float, names: tuple[str, ...]) -> Iterator[tuple[str, fa.Instance, dict[str, float]]]:
    """(mechanism, instance, parameters), each mechanism in turn."""
    for k in range(count):
        for name in names:
            rng = np.random.default_rng([seed, k, *name.encode()])
            alpha = {"alpha": float(rng.choice([0.5, 2.0, 5.0]))} if name in ("fds", "alpha-pf-vds") else {}
            yield name, guaranteed(rng, instance(rng, decades, name not in POOLED), name), alpha


def guaranteed(rng: np.random.Generator, one: fa.Instance, name: str) -> fa.Instance:
    """The instance in two groups of users, with floors, or as it is."""
    if name == "nested-leximin":
        first = rng.permutation(one.N)[: rng.integers(1, one.N)].tolist()
        rest = [n for n in range(one.N) if n not in first]
        groups = {"first": {"users": first, "weight": int(rng.integers(1, 4))}, "rest": rest}
        return one.replace(groups=groups)
    if name not in FLOORED:
        return one
    part = fa.solve(one, "uniform").tasks * rng.choice([0.0, 0.5, 0.9], one.N)
    return one.replace(min_tasks=part.tolist())


def fractions(seed: int, k: int) -> fa.Instance:
    """1 to 4 users, 1 to 3 servers and resources; fractions of small numbers, weights from 1e-3 to 1e9."""
    rng = np.random.default_rng([seed, k])
    N, K, R = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))

    def part() -> Fraction:
        return Fraction(int(rng.integers(1, 12)), int(rng.integers(1, 12)))

    demands = [[part() if r == 0 or rng.random() < 0.8 else 0 for r in range(R)] for _ in range(N)]
    capacities = [[part() for _ in range(R)] for _ in range(K)]
    eligible = rng.random((N, K)) < 0.7
    eligible[np.arange(N), rng.integers(K, size=N)] = True
    weights = [Fraction(10) ** int(rng.integers(-3, 10)) for _ in range(N)]
    counts = rng.integers(1, 4, K).tolist() if rng.random() < 0.5 else [1] * K
    return fa.Instance(demands, capacities, weights=weights, counts=counts, eligible=eligible)


def looked_into(one: fa.Instance) -> str:
    """What becomes of the rational answer of ps-dsf: "certified", why not, or what is wrong."""
    try:
        answer = fa.solve(one, "ps-dsf", "exact", time_limit=20)
        found = fa.certify(answer, time_limit=20)
        fa.explain(answer, time_limit=20)
    except fa.FairallocError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    if answer.termination == "optimal":
        return "certified" if found else "wrong: an optimal answer is not certified"
    return answer.termination


def rationals(seed: int, count: int = 300) -> int:
    """Print how often what came of it; 1 where something is wrong."""
    found = Counter(looked_into(fractions(seed, k)) for k in range(count))
    print(dict(found))
    return int(any(word.startswith("wrong") for word in found))


def main(seed: int, count: int = 100, decades: float = 12.0, *names: str) -> int:
    """Print how often what came of it; 1 where an answer is wrong."""
    counts: dict[str, Counter[str]] = {}
    for name, one, parameters in cases(seed, count, decades, names or NAMES):
        found = tried(name, one, **parameters)
        counts.setdefault(name, Counter())[found.outcome] += 1
        if found.outcome in ("wrong", "no reference"):
            print(name, parameters, found.outcome, f"{found.error:.3g}", one.demands, one.capacities, one.weights, flush=True)
    for name, counter in counts.items():
        print(f"{name:15}", dict(counter), flush=True)
    return int(any(counter["wrong"] for counter in counts.values()))


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[0] == "rationals":
        sys.exit(rationals(*map(int, given[1:])))
    sys.exit(main(int(given[0]), *map(int, given[1:2]), *map(float, given[2:3]), *given[3:]))
