"""The numbered examples of the papers as instances with exact answers, and the place where each stands.

`answers` gives the tasks of each user as rationals for each mechanism. Where a paper prints a rounded or wrong number, the
right one is here and a comment says so; a "derived" answer is not printed but follows from the definition by hand.
"""

from collections.abc import Mapping
from fractions import Fraction

from fairalloc.models.arguments import checked
from fairalloc.models.errors import UnknownName, no_such
from fairalloc.models.examples.example import Example, given, tasks_in
from fairalloc.models.examples.schedulers import SCHEDULER_EXAMPLES


def _answers(tasks: Mapping[str, str]) -> dict[str, tuple[Fraction, ...]]:
    """From {mechanisms: tasks of each user}, both separated by spaces."""
    return {mechanism: tasks_in(text) for mechanisms, text in tasks.items() for mechanism in mechanisms.split()}


GAME = "ps-dsf alpha-pf-vds nb ps-dsf-tdm"
"""Where every server has one bottleneck resource, all of these agree (K Theorems 4 and 5)."""

_CPU = ("cpu", "memory")
_NET = (*_CPU, "network")
_KHAMSE = [[1, 1, 5], ["1/2", "1/3", 5], ["1/4", 1, 0]]

EXAMPLES: tuple[Example, ...] = (
    # ---- W: DRFH
    Example(
        given("wang-pool", [[1, 4], [3, 1]], [[9, 18]], resources=_CPU),
        "W section 2, the example of Ghodsi et al.",
        _answers({"drf drfh tsf": "3 2", "asset": "63/25 54/25", "nb": "45/11 18/11"}),
        # tsf, asset (as in Ghodsi et al.) and nb derived: for nb both resources are full, a cpu costs 1/5 and a GB 1/90
    ),
    Example(
        given("wang-fig1", [[1, 4], [3, 1]], [[1, 14], [8, 4]], resources=_CPU),
        "W Fig. 1",
        _answers({"drf": "3 2"}),
        # drf allocates a pool that the two servers cannot realise: user 1 alone runs at most 2 tasks there
    ),
    Example(
        given("wang-fig2", [["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], resources=_CPU),
        "W Figs. 2 and 4",
        _answers(
            {"drfh drfh-lp": "10 10", "drf-per-server uniform": "6 6", "drf": "35/3 35/3", "nb alpha-fair utilitarian": "10 10"}
        ),
        # g = 5/7; drf-per-server is W 3.4 and Fig. 3; uniform, drf, nb, alpha-fair and utilitarian derived
    ),
    Example(
        given("wang-prop4", [[1, 1], [3, 2]], [[1, 2], [4, 3]], resources=_CPU),
        "W Proposition 4",
        _answers({"drfh drfh-lp": "12/5 4/5", "uniform": "2 5/6"}),
        # the global dominant share is 12/25 for both, and 1/2 for user 2 in the equal partition of each server
    ),
    # ---- K and P: servers of their own
    Example(
        given("khamse-fig1", [*_KHAMSE, ["1/4", 1, 0]], [[12, 4, 75], [8, 16, 0]], resources=_NET),
        "K Fig. 1 and section 2.2",
        _answers({"drfh": "3 3 8 8", "tsf": "5/3 5 25/3 25/3", GAME: "2 6 8 8"}),
        # the figure's demands are not in the text: these are consistent with every number printed there and in 2.3; memory is the
        # bottleneck of both servers, so (2, 6, 8, 8), printed for PS-DSF, holds for every alpha
    ),
    Example(
        given("khamse-fig3", [*_KHAMSE, [1, "1/2", 0]], [[12, 4, 75], [8, 16, 0]], resources=_NET),
        "K section 2.3 and Figs. 2 and 3: Fig. 1 with d_4 = [1, 0.5, 0]",
        _answers({"ps-dsf": "2 6 32/3 16/3", "nb": "2 6 96/7 32/7", "ps-dsf-tdm": "2 6 8 4"}),
        # printed for ps-dsf, with s_31 = 8/3, s_41 = 2/3; the others derived. On server 2 y_3 = t y_4 and y_4 = 1 / (1 + t / 2),
        # t = min(2^(1 / alpha), 3/2): cpu is full for all alpha, memory too for alpha <= 1 / log2(3/2) = 1.7095; for alpha = 3
        # x_3 = 12.3676227061, x_4 = 4.90809432349
        (
            ("alpha-pf-vds", {"alpha": 1}, tasks_in("2 6 96/7 32/7")),
            ("alpha-pf-vds", {"alpha": 1.5}, tasks_in("2 6 96/7 32/7")),
            ("alpha-pf-vds", {"alpha": "inf"}, tasks_in("2 6 32/3 16/3")),
        ),
    ),
    Example(
        given("psdsf-fig1", [[1, 2, 10], [1, 2, 0]], [[9, 12, 100], [12, 12, 0]], resources=_NET),
        "P Fig. 1 and section II-B",
        _answers({"drfh": "60/11 72/11", "tsf": "4 8", GAME: "6 6"}),
        # drfh printed as 5.45 and 6.54, the second cut off instead of rounded; (6, 6) printed for ps-dsf, the others derived
    ),
    Example(
        given(
            "psdsf-fig2", [["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, "1/2", 0]], [[9, 12, 100], [12, 12, 0]], resources=_NET
        ),
        "P Figs. 2 and 3",
        _answers({"ps-dsf": "18/5 18/5 8 8", "nb": "3 17/4 17/2 8", "ps-dsf-tdm": "3 3 6 6"}),
        # s_41 is printed as 12/12 = 1, but gamma_41 = 9 and s_41 = 8/9; nb and ps-dsf-tdm derived
        (("alpha-pf-vds", {"alpha": 1}, tasks_in("3 17/4 17/2 8")),),
    ),
    Example(
        given(
            "psdsf-fig4",
            [[1], [1]],
            [[1], [1], [1]],
            demands_on={
                (n, i): [1 / Fraction(rate)]
                for n, rates in enumerate([("1.2", "0.6", "0.4"), ("0.4", "0.4", "0.8")])
                for i, rate in enumerate(rates)
            },
            servers=("channel 1", "channel 2", "channel 3"),
            resources=("time",),
        ),
        "P Fig. 4: two users on three wireless channels, tasks are Mb/s",
        _answers({GAME: "3/2 1"}),
        # which rate belongs to which arrow is lost in the text: this way to read it gives the printed 1.5 and 1 with the second
        # channel shared equally
    ),
    Example(
        given("psdsf-coprocessor", [[2, 1], [1, 1]], [[8, 8], [8, 8]], demands_on={(0, 1): ["1/2", 1]}, resources=_CPU),
        "P section IV, scenario 2, with numbers of our own",
        _answers({GAME: "8 8"}),
        # a co-processor of server 2 does three quarters of user 1's computing: user 1 gets that server and user 2 the other
    ),
    Example(
        given(
            "psdsf-fig5",
            [["1/10", "1/10"], ["1/10", "1/5"], ["1/5", "1/10"], ["1/5", "3/10"]],
            [[1, 1], ["1/2", "1/2"], ["1/2", "1/4"], ["1/2", "3/4"]],
            counts=[8, 68, 33, 11],
            weights=[2, 2, 1, 1],
            eligible=[[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]],
            servers=("A", "B", "C", "D"),
            resources=_CPU,
        ),
        "P Fig. 5 and Tables III and IV",
        _answers({GAME: "210 105 165/2 55/2", "tsf": "93660/457 49140/457 10560/181 6435/181"}),
        # per class, ps-dsf is printed as A (40, 20), B (170, 85), C user 3, D user 4; only sums over A and B are unique, for
        # these classes are alike. tsf is printed with two to four digits: (205, 107.5, 58.33, 35.55). The text says that cpu is
        # full in A and B, but by the table class A uses 6 of 8
    ),
    Example(
        given("two-answers", [[2, 1], [1, 2]], [[6, 6], [6, 6]], resources=_CPU),
        "ours: the smallest system whose PS-DSF allocation is not unique",
        _answers({"nb alpha-pf-vds drfh": "4 4", "ps-dsf-tdm": "3 3"}),
        # ps-dsf: every (x, x) with 3 <= x <= 4. If each user has a server to itself, (3, 3), nobody can have more without taking
        # from one whose share is 1 like its own, yet (4, 4) is better for both and ps-dsf too: P Theorem 2 claims Pareto
        # optimality, K 2.3 is right that PS-DSF lacks it
        configured=(("ps-dsf", {"objective": "tasks"}, tasks_in("4 4")),),
    ),
    # ---- Z: Nash bargaining
    Example(
        given("zarchy-nb", [[[5, 1], [2, 2]], [[1, 4], [2, 2]]], [[8, 8]]),
        "Z III-B, the (8, 8) example",
        _answers({"nb": "2 2"}),
    ),
    Example(
        given("zarchy-endowment", [[1, 0], [0, 1]], [[1, 1]]),
        "Z III-B, the two users with nothing in common",
        _answers({"nb drf drfh": "1 1"}),
    ),
    Example(
        given("zarchy-ex2", [[1, 0, 0], [0, "1/2", "1/2"]], [[1, 1, 1]]),
        "Z Example 2",
        _answers({"lmmf drf drfh nb": "1 2"}),
        # printed for lmmf; the others derived; mmf has many answers here, which is the point of the example
    ),
    Example(
        given("zarchy-ex3", [[1], ["1/2"]], [[1]]),
        "Z Example 3 and the remark after Proposition 5",
        _answers({"lmmf mmf": "2/3 2/3", "nb fds drf drfh": "1/2 1"}),
        # Proposition 4: lmmf is not envy-free; nb splits a single resource equally; fds and drf derived
    ),
    Example(
        given("zarchy-prop7", [["2/3", "1/3"], ["1/4", "3/4"]], [[1, 1]]),
        "Z Proposition 7, truthful",
        _answers({"nb": "6/5 4/5"}),
    ),
    Example(
        given("zarchy-prop7-misreport", [["2/3", "1/3"], ["1/3", "2/3"]], [[1, 1]]),
        "Z Proposition 7, user 2 misreports",
        _answers({"nb drf drfh": "1 1"}),
        # drf derived
    ),
    Example(
        given("zarchy-ex1", [[[2, 3, 0], [0, 0, 2]], [[2, 0, 1], [0, 3, 0]]], [[6, 6, 6]]),
        "Z Example 1 and Fig. 2",
        _answers({"mmf lmmf": "3 3"}),
    ),
    Example(
        given(
            "zarchy-rounds",
            [[["1/2", "1/2", 0, 0]], [[0, "1/2", "1/2", 0]], [["1/2", 0, "1/2", 0], [0, 0, 0, 1]]],
            [[1, 1, 1, 1]],
        ),
        "Z III-A, the three users",
        _answers({"lmmf": "1 1 2"}),
    ),
    Example(
        given("zarchy-prop8", [[0, 1, 0], [[1, 0, 0], [0, "1/2", "1/2"]]], [[1, 1, 1]]),
        "Z Proposition 8",
        _answers({"lmmf": "1 1"}),
        # printed with u_2 = 1/2, but Y_2 = (1, 0, 0) runs one task; 1 < 3/2 still violates the sharing incentive
    ),
    Example(
        given("zarchy-fig1", [[[1, 2, 1], [0, 1, 3], [2, 0, 2]]], [[11, 11, 13]]),
        "Z Fig. 1 and section II-A",
        _answers({"utilitarian lmmf nb": "35/4"}),
        # printed as 17/2 with packing (5, 1, 5/2), but (31/6, 2/3, 35/12) packs 35/4 into (11, 11, 13)
    ),
    # ---- D: comparison with DRF
    Example(
        given("dolev-fig2", [[1, "1/5"], [1, "1/5"], ["2/5", "4/5"]], [[1, 1]], max_tasks=[1, 1, 1]),
        "D Fig. 2 and section 4",
        _answers({"drf drfh": "2/5 2/5 1/2", "nb njc": "1/3 1/3 5/6"}),
        # nb derived: only resource 1 is full, so it is split equally, as D's own allocation does
    ),
    Example(
        given("dolev-utilisation", [["1/2", 0, 0, 1], [1, 1, 1, 0]], [[1, 1, 1, 1]], max_tasks=[1, 1]),
        "D section 4, the counter-example on utilisation",
        _answers({"drf drfh": "2/3 2/3", "nb njc": "1 1/2"}),
        # printed for drf; nb derived, equal to D's own allocation
    ),
    # ---- D: no justified complaints
    Example(
        given("dolev-fig3", [["1/4", "2/3", 1], [1, "2/3", 0]], [[1, 1, 1]], max_tasks=[1, 1]),
        "D Figs. 3, 4 and 6",
        _answers({"njc nb": "3/4 3/4"}),
        # no entitlements are printed, here they are equal; answers derived: resource 2 alone is full
    ),
    Example(
        given("dolev-fig5", [["2/3"], ["2/3"]], [[1]], weights=["2/5", "3/5"], max_tasks=[1, 1]),
        "D Fig. 5, the entitlements 0.4 and 0.6",
        _answers({"njc nb alpha-fair": "3/5 9/10"}),
        # alpha-fair derived: demands are equal, so that tasks are in proportion to entitlements
    ),
    Example(
        given(
            "dolev-greedy",
            [["1/2", "1/2", "2/3"], ["1/2", "5/8", "1/2"], [1, 1, "1/3"]],
            [[1, 1, 1]],
            weights=["1/2", "3/8", "1/8"],
            max_tasks=[1, 1, 1],
        ),
        "D section 3, where one user after the other does not work",
        _answers({"drf": "6/7 24/35 1/7"}),
        # D gives no solution: all of them are the segment from (31/32, 5/8, 1/8) to (59/60, 3/5, 2/15); drf derived
    ),
    Example(
        given("dolev-segment", [[1, 1], [0, 1], [1, 0]], [[1, 1]], weights=["1/2", "3/10", "1/5"], max_tasks=[1, 1, 1]),
        "D section 5.5, N = 3 and m = 2",
        _answers({"nb": "1/2 1/2 1/2"}),
        # njc: the segment from (1/2, 1/2, 1/2) to (7/10, 3/10, 3/10), as printed; nb, where the trajectory ends, derived
    ),
    Example(
        given("dolev-circle", [[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]], [[1, 1, 1, 1]], max_tasks=[1, 1, 1, 1]),
        "D section 5.5, N = m = 4",
        _answers({"nb drf": "1/3 1/3 1/3 1/3"}),
        # printed as 1/3 for all and 6 more with two users at 1/4 and two at 3/8; all of njc are 6 triangles, with the vertex 1/3
        # for all and two of those where one user has 1/2 and the others 1/4; the printed 6 are midpoints of their far sides
    ),
)

EVERY_EXAMPLE: tuple[Example, ...] = (*EXAMPLES, *SCHEDULER_EXAMPLES)
"""Those of the papers and of schedulers."""


@checked
def example(name: str) -> Example:
    """The published example with this name, of the papers or of a scheduler; UnknownName for another one."""
    known = {item.name: item for item in EVERY_EXAMPLE}
    if name in known:
        return known[name]
    raise UnknownName(no_such("published example", name, known, f"the examples are {', '.join(known)}"))
