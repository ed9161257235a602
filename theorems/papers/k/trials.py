"""How the claims of K (alphaPF-VDS) in statements.toml are tried and confirmed, by their ids.

What has a standalone script is confirmed by its check (`checked`). What is decided by one exact route (`once`), at points of
Problems 1 and 3 in rationals and square roots, has a second implementation in the tests. No point refutes existence, so
K.3.1.existence is not refuted or not decided; K.T8.start and K.5.2 are about runs, so both routes run the algorithm, and its
end is judged in two ways. In K.6.2, K.T2.limit and K.C3 the same function judges tasks in floating point and certified ones;
K.3.3.one-server compares both with another solver's floats.
"""

from collections.abc import Sequence
from fractions import Fraction as F
from functools import partial

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers import game
from fairalloc.theorems.checkers.checked import asserted, checked
from fairalloc.theorems.checkers.game import converges
from fairalloc.theorems.checkers.trials import (
    RATIONAL,
    Routes,
    Row,
    certified,
    monopoly,
    once,
    printed_numbers,
    printed_tasks,
)
from fairalloc.theorems.papers.k import directions, formulas, problem_1, problem_3


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
    use = {name: game.utilisation(certified(case.instance, name)) for name in ("ps-dsf", "drfh", "tsf")}
    margin = max(use["drfh"], use["tsf"]) - use["ps-dsf"]
    sentence = "mean used part " + ", ".join(f"{name} {float(v):.4g}" for name, v in use.items())
    return Verdict("utilisation", bool(margin < 0), float(margin), sentence, RATIONAL)


def _fig3_server1(case: Case) -> None:
    """For every alpha server 1 gives users 1 and 2 the share 1/2 each and others nothing.

    Memory is its bottleneck, so it is full and who is served there has the least share t (K.C1). Users 1 and 2 run nowhere else,
    so both have t, and t <= 1/2. If user a of 3 and 4 were served too, it would have at most half of what it runs alone there.
    Then one resource r alone limits server 2 and has a price, and the other user b is served. As b has at least the share of a, a
    task of a is worth gamma_b / gamma_a tasks of b or more, which is more than it costs.
    """
    demands, (first, second) = case.instance.exact.demands, case.instance.exact.capacities
    assert all(d[1] / first[1] == max(q / c for q, c in zip(d, first, strict=True)) for (d,) in demands)
    assert all(monopoly(case.instance, n, 1) == 0 for n in (0, 1))
    for a, b, r in ((3, 2, 1), (2, 3, 0)):
        (mine,), (other,), left = demands[a], demands[b], 1 - r
        most, alone, of_b = monopoly(case.instance, a, 0) / 2, monopoly(case.instance, a, 1), monopoly(case.instance, b, 1)
        beside_none, beside_most = ((second[r] - mine[r] * x) / other[r] for x in (0, most))  # the most that b runs
        assert max(beside_none * other[left], beside_most * other[left] + most * mine[left]) < second[left]
        assert beside_most / of_b >= most / alone
        assert of_b / alone > mine[r] / other[r]


def _fig3_efficient(case: Case) -> None:
    """With users 3 and 4 alone on server 2 (K.3.2.server1) s_3 / s_4 = q is 3/2, 2^(1/3) and 1 for alpha = 1, 3 and inf.

    CPU is full for each. Along its edge memory used and the distance of the shares fall with q. The answer has q^alpha = b / a,
    unless the corner with full memory comes before; a, b and e, f are the parts of CPU and memory that users 3 and 4 take alone.
    """
    rows, (_, room) = [row for (row,) in case.instance.exact.demands[2:]], case.instance.exact.capacities
    gamma = [monopoly(case.instance, n, 1) for n in (2, 3)]
    (a, b), (e, f) = ([g * row[r] / room[r] for g, row in zip(gamma, rows, strict=True)] for r in (0, 1))
    corner = (f - b) / (a - e)
    assert f / e <= corner <= b / a < corner**3, "alpha = 1 at the corner, alpha = 3 on the edge"
    assert b / a > 1, "alpha = 3 before alpha = inf"
    assert e * b > f * a, "memory used falls with q"


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
    return Verdict("proportion", margin < 0, float(margin), words, RATIONAL)


cases: dict[str, Case] = {
    "alike": formulas.ALIKE,
    "flat": Case(Instance([[1]], [[1]]), points=((F(1),),)),
    # An answer for every alpha, and what is left of it when user 1 gives up half of its tasks
    "less": Case(Instance([[1], [1]], [[1]]), points=((F(1, 2), F(1, 2)), (F(1, 4), F(1, 2)))),
    # Mirror images: everybody alone on the server that suits it, or both resources of both servers full
    "isolated": Case(
        Instance([[3, 1], [1, 3]], [[1, 2], [2, 1]]),
        points=((F(0), F(2, 3), F(2, 3), F(0)), (F(1, 8), F(5, 8), F(5, 8), F(1, 8))),
        parameters={"alpha": 20, "B": F(1, 4)},
    ),
    # Two users who are mirror images, as the servers are: 4 x + y <= 8 and x + 4 y <= 4 at server 1, where gamma is 2 and 1
    "tied": Case(
        Instance([[4, 1], [1, 4]], [[8, 4], [4, 8]]),
        points=((F(2), F(0), F(0), F(2)), (F(28, 15), F(8, 15), F(8, 15), F(28, 15))),
        parameters={"alpha": 3},
    ),
    # gamma is 1 for all but user 2 at server 2, where it is 1/4; totals are 1, or (31/32)^2
    "tied-below": Case(
        Instance([[1, 1, 1], [1, 2, 6]], [[1, 2, 6], [1, 1, "3/2"]]),
        points=((F(0), F(1), F(1), F(0)), tuple(F(v, 1024) for v in (189, 772, 835, 126))),
        parameters={"alpha": F(1, 2)},
    ),
    # gamma is 2 for all but user 1 at server 2, where it is 1; totals are 2, or 11/5
    "tied-mixed": Case(
        Instance([[1, 1, 4], [1, 4, 1]], [[2, 8, 8], [3, 8, 4]]),
        points=((F(2), F(0), F(0), F(2)), (F(5, 3), F(8, 15), F(1, 3), F(28, 15))),
        parameters={"alpha": (1, 3, 2)},
    ),
    "lemma-3": directions.LEMMA_3,
    "lemma-4": directions.LEMMA_4,
    "run": directions.RUN,
    # the servers of K Fig. 4, one of each class; its users are not printed
    "cluster": Case(
        Instance(
            [[1, 1], [1, 1]],
            [[1, 1], ["1/2", "1/2"], ["1/2", "1/4"], ["1/2", "3/4"]],
            eligible=[[1, 1, 0, 0], [1, 1, 1, 1]],
            servers=("A", "B", "C", "D"),
            resources=("cpu", "memory"),
            users=("U1", "U2"),
            name="khamse-fig4",
        )
    ),
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
    "K.3.1.existence": once(problem_1.equilibrium_exists),
    "K.3.1.concave": once(problem_1.concave),
    "K.3.2.idle": game.about_equilibria(formulas.all_used),
    "K.E23": once(lambda case: formulas.at_servers(case, formulas.is_best)),
    "K.E28": once(lambda case: formulas.at_servers(case, partial(formulas.solved_by_prices, nu=False))),
    "K.E36": once(formulas.complementary_function),
    "K.E98": once(formulas.signs),
    "K.E45": once(formulas.violates),
    "K.5.2.local": once(formulas.local),
    "K.5.1.assumption-2": once(formulas.assumption_2),
    **dict.fromkeys(("K.T1", "K.3.4.mixed.definition"), once(problem_1.theorem_1)),
    **dict.fromkeys(("K.T2.proportional", "K.3.4.mixed.one"), game.about_equilibria(game.proportional)),
    **dict.fromkeys(("K.T2.limit", "K.3.4.mixed.limit", "K.C3"), game.about_equilibria(game.limit_rate)),
    "K.3.2.server1": once(asserted(_fig3_server1)),
    "K.3.2.Fig3": once(asserted(_fig3_efficient)),
    "K.3.3.one-server": game.about_equilibria(game.same_as_fds),
    "K.T4": game.same_as_ps_dsf(),
    "K.T5": game.same_as_ps_dsf(time_shared),
    "K.L1": once(problem_3.complementary),
    "K.T6": once(problem_3.stationary),
    **{name: once(checked(name)) for name in ("K.L2", "K.4.4.totals", "K.C4", "K.3.4.unique")},
    **{name: once(checked(name)) for name in ("K.3.4.ties", "K.3.4.ties.below", "K.3.4.ties.mixed")},
    "K.T7": once(
        game.missing("neither K's proof nor the one below covers full resources without a price, which may have one near by")
    ),
    "K.E105": once(formulas.omega),
    "K.T7.bottleneck": once(problem_1.unique_by_market),
    "K.E104.equal": once(checked("K.E104")),
    "K.E110": once(problem_3.projection_descends),
    "K.L4.priced": once(problem_3.zero_direction),
    "K.T8.start": converges("alpha-pf-vds", "ps-mfa"),
    "K.5.2": converges("alpha-pf-vds", "vds-distributed"),
    "K.5.2.rest": once(problem_3.rests),
    "K.E57": once(formulas.approximate_prices),
    "K.Fn8.true": once(formulas.penalty),
    "K.6.2.utilisation": game.not_rising_in_alpha(game.utilisation),
    "K.6.2.utilisation.positive": game.not_rising_in_alpha(game.utilisation, (1, 3)),
    "K.6.2.deviation": game.not_rising_in_alpha(lambda h: ps_dsf.values(h.allocation)["deviation"]),
    "K.E58": game.about_ps_dsf(game.least_served),
    "K.6.3.proportional": once(_almost_proportional),
}
