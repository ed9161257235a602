"""How the claims of K (alphaPF-VDS) in statements.toml are tried and confirmed, by their ids.

Each claim is confirmed by another route than the one that tries it: points of Problems 1 and 3 in rationals and square roots
(problem_1.py, problem_3.py, several_equilibria.py, directions.py). Exceptions: no point refutes existence, so
K.3.1.existence is not refuted or not decided; K.T8.start and K.5.2 are about runs, so both routes run the algorithm, and its
end is judged in two ways. In K.6.2, K.T2.limit and K.C3 the same function judges tasks in floating point and certified ones;
K.3.3.one-server compares both with another solver's floats.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import Row, certified, monopoly, printed_numbers, printed_tasks
from fairalloc.theorems.judges.convergence import converges, converges_exactly
from fairalloc.theorems.judges.game import (
    about_equilibria,
    about_ps_dsf,
    least_served,
    limit_rate,
    limit_rate_of_servers,
    missing,
    not_rising_in_alpha,
    proportional,
    same_as_fds,
    same_as_ps_dsf,
    utilisation,
)
from fairalloc.theorems.judges.trials import Routes, once
from fairalloc.theorems.papers.k import directions, problem_3, sentences, small_steps, theorem_7
from fairalloc.theorems.papers.k import problem_3_in_floats as floats
from fairalloc.theorems.papers.k.printed_formulas import (
    approximate_prices,
    approximate_prices_in_floats,
    one_equilibrium,
    one_equilibrium_in_floats,
    penalty,
    penalty_in_floats,
    price_by_104,
    price_by_104_in_floats,
)
from fairalloc.theorems.papers.k.problem_1 import (
    bounded_multipliers,
    bounded_multipliers_exactly,
    equilibrium_exists,
    projection_in_floats,
    theorem_1_by_program,
    theorem_1_by_vertices,
    unique_by_market,
)
from fairalloc.theorems.papers.k.several_equilibria import two_solutions, two_solutions_exactly
from fairalloc.theorems.status import FLOATING_POINT

F = Fraction
_Judge = Callable[[bool], Callable[[Case], Verdict]]


FIG1, FIG3 = (Case(example(f"khamse-{name}").instance) for name in ("fig1", "fig3"))
CLUSTER = Case(
    Instance(
        [[1, 1], [1, 1]],
        [[1, 1], ["1/2", "1/2"], ["1/2", "1/4"], ["1/2", "3/4"]],
        eligible=[[1, 1, 0, 0], [1, 1, 1, 1]],
        servers=("A", "B", "C", "D"),
        resources=("cpu", "memory"),
        users=("U1", "U2"),
        name="khamse-fig4",
    )
)
"""The servers of K Fig. 4, one of each class; its users are not printed."""

TIED = Case(
    Instance([[4, 1], [1, 4]], [[8, 4], [4, 8]]),
    points=((F(2), F(0), F(0), F(2)), (F(28, 15), F(8, 15), F(8, 15), F(28, 15))),
    parameters={"alpha": 3},
)
"""Two users who are mirror images, as the servers are: 4 x + y <= 8 and x + 4 y <= 4 at server 1, where gamma is 2 and 1."""


# ---- 2.2 and 2.3 ----------------------------------------------------------------------------------------------------


def _fig1(case: Case) -> Sequence[Row]:
    alone = [sum((monopoly(case.instance, n, i) for i in range(2)), F(0)) for n in range(4)]
    return [(f"gamma_{n + 1}", printed, alone[n]) for n, printed in enumerate(("4", "12", "20", "20"))]


def _fig3_alone(case: Case) -> Sequence[Row]:
    printed = {(1, 1): "4", (2, 1): "12", (3, 1): "4", (4, 1): "8", (3, 2): "16", (4, 2): "8"}
    return [(f"gamma_{n}{i}", text, monopoly(case.instance, n - 1, i - 1)) for (n, i), text in printed.items()]


def _fig3_shares(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "ps-dsf")
    printed = {(1, 1): "0.5", (2, 1): "0.5", (3, 1): "8/3", (4, 1): "2/3", (3, 2): "2/3", (4, 2): "2/3"}
    return [(f"s_{n}{i}", text, h.tasks[n - 1] / monopoly(case.instance, n - 1, i - 1)) for (n, i), text in printed.items()]


def _fig2(case: Case) -> Verdict:
    """Used parts of every capacity under PS-DSF, DRFH and TSF."""
    use = {name: utilisation(certified(case.instance, name)) for name in ("ps-dsf", "drfh", "tsf")}
    margin = max(use["drfh"], use["tsf"]) - use["ps-dsf"]
    sentence = "mean used part " + ", ".join(f"{name} {float(v):.4g}" for name, v in use.items())
    return Verdict("utilisation", bool(margin < 0), float(margin), sentence, "rational arithmetic")


def _fig3_server1(case: Case) -> Verdict:
    """Users 1 and 2 for several alpha, and that nobody else is on server 1."""
    worst = 0.0
    for alpha in (0.3, 0.5, 1, 2, 3, 10, 100, "inf"):
        found = solve(case.instance, "alpha-pf-vds", accuracy="high", alpha=alpha)
        here = np.where(case.instance.arcs.server == 0, found.x, 0.0)
        tasks = np.bincount(case.instance.arcs.user, here, 4)
        worst = max(worst, float(np.abs(tasks - [2, 6, 0, 0]).max()))
    return Verdict(
        "printed numbers",
        worst <= 1e-6,
        worst - 1e-6,
        f"server 1 is off (2, 6, 0, 0) by {worst:.1e}",
        f"{FLOATING_POINT}: eight solves",
    )


def _fig3_efficient(case: Case) -> Verdict:
    """Utilisation falls and the dominant shares of users 3 and 4 on server 2 come closer, for alpha = 1, 3, infinity."""
    use, apart = [], []
    for alpha in (1, 3, "inf"):
        found = solve(case.instance, "alpha-pf-vds", accuracy="high", alpha=alpha)
        use.append(float(utilisation(Holdings(found, False))))
        apart.append(abs(found.tasks[2] / 16 - found.tasks[3] / 8))
    margin = max(use[1] - use[0], use[2] - use[1], apart[1] - apart[0], apart[2] - apart[1])
    sentence = (
        f"mean used part {use[0]:.4f}, {use[1]:.4f}, {use[2]:.4f}, shares apart {apart[0]:.4f}, {apart[1]:.4f}, {apart[2]:.4f}"
    )
    return Verdict("trade-off", margin < 0, margin, sentence, f"{FLOATING_POINT}: three solves")


COUNTS = (8, 68, 33, 11)
"""Servers of the classes of Fig. 4, by P Fig. 5."""


def _almost_proportional(case: Case) -> Verdict:
    """CPU to memory of each class against that of all servers."""
    rows = case.instance.exact.capacities
    total = [sum((q * row[r] for q, row in zip(COUNTS, rows, strict=True)), F(0)) for r in range(2)]
    ratio = [row[0] / row[1] * total[1] / total[0] for row in rows]
    far = [max(v, 1 / v) - 1 for v in ratio]
    margin = max(far[:2]) - min(F(1, 10), *far[2:])
    words = "the ratios of CPU to memory, in parts of that of all servers, are " + ", ".join(map(str, ratio))
    return Verdict("proportion", margin < 0, float(margin), words, "rational arithmetic")


# ---- 3.1: Problem 1 -------------------------------------------------------------------------------------------------


def _equilibrium_found(case: Case) -> Verdict:
    """An equilibrium is found."""
    found = solve(case.instance, "alpha-pf-vds", alpha=case.parameters["alpha"])
    margin = found.residual - 1e-6
    holds = True if margin <= 0 else None
    return Verdict("existence", holds, margin, f"an equilibrium with the residual {found.residual:.1e}", found.method)


# ---- 4.4: uniqueness ------------------------------------------------------------------------------------------------


def _unique_in_floats(case: Case) -> Verdict:
    """Two methods find the same x_n; a difference refutes uniqueness, agreement does not prove it."""
    own = {name: case.parameters[name] for name in ("alpha", "A", "B") if name in case.parameters}
    first = solve(case.instance, "alpha-pf-vds", "continuation", "high", **own)
    second = solve(case.instance, "alpha-pf-vds", "semismooth-newton", "high", time_limit=1.0, **own)
    if not max(first.residual, second.residual) <= 1e-8:
        return Verdict("uniqueness", None, np.nan, "not decided: a method did not end", "two solves")
    off = float((np.abs(first.tasks - second.tasks) / np.maximum(first.tasks, second.tasks)).max())
    return Verdict(
        "uniqueness", off <= 1e-3, off - 1e-3, f"the tasks of two equilibria differ by {off:.1e}, relative", "two solves"
    )


def _projection_exactly(case: Case) -> Verdict:
    """(46) in R^N at a server with one full resource and lambda = 0, for the gradient (-1 for who is eligible, 0 for others)."""
    instance = case.instance
    for i in range(instance.K):
        for r in range(instance.R):
            d = [exact[0][r] for exact in instance.exact.demands]
            here = [int(n) for n in instance.arcs.user[instance.arcs.server == i]]
            push = sum((d[n] for n in here), F(0))
            moved = [n for n in range(instance.N) if n not in here and d[n] and push]
            if moved:
                who, where = instance.users[moved[0]], instance.servers[i]
                sentence = f"where {instance.resources[r]!r} is full at {where!r}, v lowers the tasks of {who!r}, who is "
                sentence += "not eligible there"
                return Verdict("feasibility", False, 1.0, sentence, "rational arithmetic")
    return Verdict("feasibility", True, -1.0, "everybody who demands a resource is eligible where it is", "rational arithmetic")


# ---- 6 --------------------------------------------------------------------------------------------------------------


def _deviation(h: Holdings) -> float:
    """The weighted mean of D_n (K 58)."""
    each = deviation(h.instance, h.allocation.x)
    return float(h.instance.weights @ each / h.instance.weights.sum())


cases: dict[str, Case] = {
    "alike": theorem_7.ALIKE,
    "tied": TIED,
    "lemma-3": directions.LEMMA_3,
    "lemma-4": directions.LEMMA_4,
    "run": small_steps.RUN,
    "cluster": CLUSTER,
}


trials: dict[str, Routes] = {
    "K.2.2.Fig1.ps-dsf": printed_tasks("ps-dsf", "2", "6", "8", "8"),
    "K.2.2.Fig1.drfh": printed_tasks("drfh", "3", "3", "8", "8"),
    "K.2.2.Fig1.gamma": printed_numbers(_fig1),
    "K.2.2.Fig1.tsf": printed_tasks("tsf", "5/3", "5", "25/3", "25/3"),
    "K.2.3.gamma": printed_numbers(_fig3_alone),
    "K.2.3.tasks": printed_tasks("ps-dsf", "2", "6", "32/3", "16/3"),
    "K.2.3.shares": printed_numbers(_fig3_shares),
    "K.2.3.Fig2": once(_fig2),
    "K.3.1.existence": Routes(_equilibrium_found, equilibrium_exists),
    "K.3.1.concave": Routes(sentences.concave_in_floats, sentences.concave),
    "K.3.2.idle": about_equilibria(sentences.all_used),
    "K.E23": Routes(sentences.multipliers_in_floats, sentences.multipliers),
    "K.E28": Routes(sentences.solved_for_nu_in_floats, sentences.solved_for_nu),
    "K.E36": Routes(sentences.complementary_function_in_floats, sentences.complementary_function),
    "K.E98": Routes(sentences.signs_in_floats, sentences.signs),
    "K.E45": Routes(sentences.violates_in_floats, sentences.violates),
    "K.5.2.local": Routes(sentences.local_in_floats, sentences.local),
    "K.5.1.assumption-2": Routes(sentences.assumption_2_in_arrays, sentences.assumption_2),
    "K.T1": Routes(theorem_1_by_program, theorem_1_by_vertices),
    "K.T2.proportional": about_equilibria(proportional),
    "K.T2.limit": about_equilibria(limit_rate),
    "K.3.2.server1": once(_fig3_server1),
    "K.3.2.Fig3": once(_fig3_efficient),
    "K.3.3.one-server": about_equilibria(same_as_fds),
    "K.T4": same_as_ps_dsf(),
    "K.T5": same_as_ps_dsf(time_shared),
    "K.3.4.mixed.definition": Routes(theorem_1_by_program, theorem_1_by_vertices),
    "K.3.4.mixed.limit": about_equilibria(limit_rate_of_servers),
    "K.3.4.mixed.one": about_equilibria(proportional),
    "K.C3": about_equilibria(limit_rate),
    "K.L1": Routes(floats.complementary, problem_3.complementary),
    "K.T6": Routes(floats.stationary, problem_3.stationary),
    "K.4.4.bounded": Routes(bounded_multipliers, bounded_multipliers_exactly),
    "K.L2": Routes(two_solutions, two_solutions_exactly),
    "K.4.4.totals": Routes(two_solutions, two_solutions_exactly),
    "K.C4": Routes(two_solutions, two_solutions_exactly),
    "K.T7": Routes(
        undecided := missing(
            "neither K's proof nor the one below covers full resources without a price, which may have one near by"
        ),
        undecided,
    ),
    "K.E105": Routes(theorem_7.omega_in_floats, theorem_7.omega),
    "K.E107": Routes(theorem_7.rank_in_floats, theorem_7.rank),
    "K.T7.bottleneck": Routes(_unique_in_floats, unique_by_market),
    "K.3.4.unique": Routes(two_solutions, two_solutions_exactly),
    "K.3.4.ties": Routes(one_equilibrium_in_floats, one_equilibrium),
    "K.E104": Routes(price_by_104_in_floats, price_by_104),
    "K.E104.equal": Routes(price_by_104_in_floats, price_by_104),
    "K.L3": Routes(floats.descends(False), directions.descends(False)),
    "K.L3.letter": Routes(floats.descends(True), directions.descends(True)),
    "K.E110": Routes(floats.projection_descends, problem_3.projection_descends),
    "K.E116": Routes(directions.factors_in_floats, directions.factors),
    "K.E111": Routes(floats.descent_by_price, problem_3.descent_by_price),
    "K.E48": Routes(floats.stay_complementary, problem_3.stay_complementary),
    "K.L4": Routes(floats.stops(False), directions.stops(False)),
    "K.L4.letter": Routes(floats.stops(True), directions.stops(True)),
    "K.L4.priced": Routes(floats.zero_direction, problem_3.zero_direction),
    "K.T8": Routes(floats.stops(False), directions.stops(False)),
    "K.T8.letter": Routes(floats.stops(True), directions.stops(True)),
    "K.T8.steps": Routes(small_steps.tried, small_steps.confirmed),
    "K.T8.start": Routes(converges("alpha-pf-vds", "ps-mfa"), converges_exactly("alpha-pf-vds", "ps-mfa")),
    "K.5.2": Routes(converges("alpha-pf-vds", "vds-distributed"), converges_exactly("alpha-pf-vds", "vds-distributed")),
    "K.5.2.rest": Routes(floats.rests, problem_3.rests),
    "K.E57": Routes(approximate_prices_in_floats, approximate_prices),
    "K.Fn8": Routes(penalty_in_floats(printed=True), penalty(printed=True)),
    "K.Fn8.true": Routes(penalty_in_floats(printed=False), penalty(printed=False)),
    "K.6.2.utilisation": not_rising_in_alpha(utilisation),
    "K.6.2.utilisation.positive": not_rising_in_alpha(utilisation, (1, 3)),
    "K.6.2.deviation": not_rising_in_alpha(_deviation),
    "K.E58": about_ps_dsf(least_served),
    "K.5.1.eligible": Routes(projection_in_floats, _projection_exactly),
    "K.6.3.proportional": once(_almost_proportional),
}
