"""Our own claims for the matrix: every mechanism has every property of ROWS, where no paper decides it.

All are made by one loop over the columns and rows. What is known of them is beside this file: ours.toml has the proofs, ours.json
the cases that were found and how many were tried. A search for one that is not refuted tries each case in exact arithmetic.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.transformations.own_time import with_own_time
from fairalloc.theorems.cases import Case
from fairalloc.theorems.cells import AT_TWO, FAMILIES, JOBS, MISREPORTED, SCOPE, Column, scope
from fairalloc.theorems.checkers.answers import gaining_for_every_choice
from fairalloc.theorems.checkers.own import judge_of, routes
from fairalloc.theorems.checkers.trials import about_mechanism
from fairalloc.theorems.hypotheses import POOLS, REPORTS, Hypotheses
from fairalloc.theorems.packaged_files import joined, packaged_toml
from fairalloc.theorems.statement import Proof, Statement

ROWS = (*SCOPE, *MISREPORTED)

OF_JOBS = {*SCOPE} - {"bottleneck-fairness", "single-resource-fairness", "single-server-reduction"}
"""The rows that speak of jobs with time of their own, too."""

ALPHAS: Mapping[str, tuple[Any, ...]] = {
    "alpha < 1": (Fraction(1, 2), Fraction(1, 4)),
    "alpha > 1": (2, 3, 10),
    "alpha by server": ((1, 3, 2), (2, 1, 5), (10, 20, 15)),
}
"""The values with which alpha-pf-vds is tried; alpha = 1 has the tasks of nb, and alpha = inf is ps-dsf."""

HIDDEN = Misreport((0, 1), (None, None), ((True, False), (False, True)))
"""The first user leaves the second server, and the second user the first."""

LEFT = replace(HIDDEN, eligible=((False, True), (True, False)))
"""The first user leaves the first server, and the second user the second."""

RAISED = [tuple(map(Fraction, row)) for row in ((2, 4, 0, 1), (1, 0, 4, 2))]

ALIKE = Case(Instance([[3, 1], [3, 1], [1, 3]], [[3, 3]]))
"""By NJC one of two alike users may have its entitlement of the first resource, and the other all else that is left of it."""

CASES: Mapping[str, Case] = {
    "ours.alpha-fair.group-strategyproofness-in-servers": Case(
        Instance(
            2 * [[1, 1, 1], [0, 1, 1], [2, 1, 0]],
            2 * [[1, 2, 1], [2, 2, 2]],
            eligible=3 * [[1, 1, 0, 0]] + 3 * [[0, 0, 1, 1]],
        ),
        Misreport((2, 5), (None, None), ((False, True, False, False), (False, False, False, True))),
    ),
    "ours.drf-per-server.group-strategyproofness": Case(Instance([[2, 1], [1, 2]], [[2, 1], [1, 2]]), HIDDEN),
    "ours.drf-per-server.group-strategyproofness-in-demands": Case(
        Instance([[2, 0, 0, 1], [1, 0, 0, 2]], [[1, 1, 9, 9], [9, 9, 1, 1]]),
        Misreport((0, 1), tuple((row,) for row in RAISED), (None, None)),
    ),
    **dict.fromkeys(("ours.njc.envy-freeness", "ours.njc.uniqueness.positive"), ALIKE),
    "ours.ps-dsf.strategyproofness-in-servers": Case(
        Instance([[1, 1], [3, 1], [3, 1]], [[5, 3], [3, 2]], eligible=[[1, 1], [1, 1], [1, 0]]),
        Misreport((0,), (None,), ((True, False),)),
    ),
    "ours.utilitarian.group-strategyproofness-in-servers": Case(
        Instance([[2, 0, 1, 1], [1, 1, 0, 2], [0, 1, 1, 0]], [[1, 1, 3, 3], [3, 3, 1, 1]], weights=["3/2", "3/2", 1]), LEFT
    ),
}
"""Cases with which a search begins, by hand: each of two users gives up tasks on the server on which the other gains more, or
gains alone where the other is not.
"""

SLUGS = {"alpha < 1": "below", "alpha > 1": "above", "alpha by server": "mix"}


@cache
def our_columns() -> tuple[Column, ...]:
    """The columns of the table: all mechanisms, with the families of alpha-pf-vds apart."""
    return tuple(
        Column(name, family) for name in sorted(MECHANISMS) for family in (FAMILIES if name == "alpha-pf-vds" else ("",))
    )


@cache
def ours() -> Mapping[str, Statement]:
    """The claims by id, such as "ours.lmmf.pareto" and "ours.lmmf.pareto.positive"."""
    given = packaged_toml("ours.toml").items()
    told: dict[str, dict[str, Any]] = {}
    for name, one in given:
        proved = {"proof": Proof(name, joined(one["proof"])), "answers": one.get("answers", "")}
        told |= {key: proved for line in one["cells"] for key in ids_of(line)}
    made = (_claim(column, name, positive) for column in our_columns() for name in ROWS for positive in (False, True))
    return {item.id: replace(item, **told.get(item.id, {})) for item in made if item is not None}


def jobs(rng: np.random.Generator) -> Instance:
    """Jobs with one resource, rates, and time of their own, all of which each has with any bundle (gavel_max_min.py).

    They are small; in half of the draws jobs do not run on all kinds of workers.
    """
    N, K = rng.choice((2, 2, 2, 3, 4)), rng.choice((1, 2, 2, 3))
    pool = POOLS[rng.integers(len(POOLS))]
    rates = np.array(pool, dtype=object)[rng.integers(len(pool), size=(N, K))]
    rates[(rng.random((N, K)) < rng.choice((0.0, 0.4))) & (np.arange(K) != rng.integers(K, size=(N, 1)))] = 0
    weights = rng.integers(1, 4, N) if rng.random() < 0.4 else np.ones(N)
    return with_own_time(Instance(rng.integers(1, 4, (N, 1)), rng.integers(1, 5, (K, 1)), rates=rates, weights=weights))


def _claim(column: Column, name: str, positive: bool) -> Statement | None:
    """The claim of a cell; None for a family that is another mechanism's, or a row that does not speak of jobs."""
    is_job = column.mechanism in JOBS
    if (column.family and column.family not in ALPHAS) or (is_job and name not in OF_JOBS):
        return None
    title, _, reports = name.partition("-in-")
    words = [*scope(column.mechanism, name), "no idle server", "at least 2 users", *["positive"] * positive]
    words += ["limits"] * (reports == "tasks")
    alphas = ALPHAS.get(column.family)
    assumed = replace(Hypotheses.of(words), parameters={"alpha": alphas} if alphas else {})
    assumed = replace(assumed, one_variant=False, instances=jobs) if is_job else assumed
    item, named = mechanism("alpha-pf-vds" if column.mechanism == "fds" else column.mechanism), judge_of(title)
    made = routes(item, named, column.mechanism in ("alpha-pf-vds", "fds"))
    if (column.mechanism, reports) == ("ps-dsf", "tasks"):  # P's Algorithm I knows no limits
        made = about_mechanism(item, gaining_for_every_choice)
    key = key_of(column, name, positive)
    text = f"{column}{', alpha = 2' * (column.mechanism in AT_TWO)} has {title}"
    text += f" where {REPORTS.get(reports)} alone are misreported" * bool(reports)
    text += " where all demands are positive" * positive + "."
    more = {"printed": CASES.get(key), "mechanism": column.mechanism, "property": title, "reading": "ours"}
    return Statement(key, text, "ours", "all", made.trial, made.confirm, assumed, named.misreports, **more)  # type: ignore[arg-type]


def key_of(column: Column, name: str, positive: bool = False) -> str:
    family = [SLUGS.get(column.family, column.family)] * bool(column.family)
    return ".".join(["ours", column.mechanism, *family, name, *["positive"] * positive])


def ids_of(line: str) -> Iterator[str]:
    """The ids in a line such as "asset drf-per-server.positive: pareto", of mechanisms and properties."""
    mechanisms, names = (part.split() for part in line.split(":"))
    for one, name in product(mechanisms, names):
        start, positive, _ = one.partition(".positive")
        yield f"ours.{start}.{name}{positive}"
