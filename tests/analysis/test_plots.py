"""Figures: the numbers read back from what is drawn, and every text whole, apart from the others, and told apart in grey."""

from itertools import combinations

import numpy as np
import pytest
from figure_texts import crowded
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from tolerances import EXACT, ROUNDING

import fairalloc as fa
from fairalloc.analysis.feasible_set import feasible_vertices
from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.panels import svg_text
from fairalloc.analysis.tradeoff import TradeOff, tradeoff
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.examples import generators
from fairalloc.models.numbers import without_rounding

plt = pytest.importorskip("matplotlib.pyplot", reason="pip install fairalloc[plots]")

WANG = fa.example("wang-fig2").instance
K3 = fa.example("khamse-fig3").instance
BY_SERVER = fa.solve(WANG, "drf-per-server")
DRFH = fa.solve(WANG, "drfh")
LONG = "with a very long name that fits nowhere, number"


def filled(instance, seed=0, **facts):
    """Some allocation that fills a resource of every server."""
    x = np.random.default_rng(seed).random(len(instance.arcs)) * instance.arcs.gamma
    load = (instance.arcs.load @ x).reshape(instance.K, instance.R)
    return fa.Allocation(instance, x / load.max(axis=1)[instance.arcs.server], **facts)


def many(users, servers, kinds=None, resources=3):
    """An instance of this size in which everybody may use server 0; the servers are of so many kinds."""
    random = np.random.default_rng(1)
    of = np.arange(servers) % (kinds or servers)
    allowed = (random.random((7, servers)) < 0.5)[np.arange(users) % 7][:, of] | (of == 0)
    capacities = (9 * random.random((servers, resources)) + 5)[of]
    return fa.Instance(random.random((users, resources)) + 0.1, capacities, eligible=allowed)


def long_names(users):
    random = np.random.default_rng(2)
    names = {kind: [f"{kind} {LONG} {k}" for k in range(count)] for kind, count in (("users", users), ("$ervers$", 4), ("_r", 3))}
    demands, capacities = random.random((users, 3)) + 0.1, 5 * random.random((4, 3)) + 1
    return fa.Instance(demands, capacities, users=names["users"], servers=names["$ervers$"], resources=names["_r"])


ZERO = fa.Instance([[1, 0, 1], [3, 1, 0], [0, 2, 2]], [[9, 0, 4], [4, 4, 0], [3, 9, 7], [0, 0, 0]])


# ---- the numbers are those of the allocation -------------------------------------------------------------------------


def tops(ax):
    """The heights of the stacked bars, those without gaps too."""
    if ax.patches and hasattr(ax.patches[0], "get_data"):
        return np.max([patch.get_data().values for patch in ax.patches], axis=0)
    bars = [[bar.get_y() + bar.get_height() for bar in part] for part in ax.containers]
    return np.max(bars, axis=0)


def there(item):
    """The loads of what the servers have, server by server."""
    return item.load[item.instance.pools > 0]


@pytest.mark.few(1)
@pytest.mark.parametrize("users", [3, 8, 9, 40, 61])
def test_the_bars_of_many_users_end_at_the_loads(users):
    item = filled(many(users, 4))
    ax = fa.plots.allocation(item)
    assert tops(ax) == pytest.approx(there(item))
    assert tops(ax) != pytest.approx(there(filled(item.instance, seed=3))), "another allocation"
    parts = np.array([[bar.get_height() for bar in part] for part in ax.containers])
    used = item.used / item.instance.pools
    if users <= 8:
        assert parts == pytest.approx(used.reshape(users, -1))
    names = [text.get_text() for text in ax.get_legend().get_texts()][::-1]
    assert len(names) == (users if users <= 8 else 8 if users <= 60 else 3)
    if 8 < users <= 60:
        assert names[-1] == f"{users - 7} other users"
        named = [item.instance.users.index(name) for name in names[:-1]]
        assert parts[:-1] == pytest.approx(used[named].reshape(7, -1))
        share = (item.used.sum(axis=1) / item.instance.totals).max(axis=1)
        assert share[named].min() >= np.delete(share, named).max()


def test_thousands_of_users_are_drawn_by_their_dominant_resource():
    item = filled(many(300, 6))
    ax = fa.plots.allocation(item)
    dominant = (item.used.sum(axis=1) / item.instance.totals).argmax(axis=1)
    names = [text.get_text() for text in ax.get_legend().get_texts()][::-1]
    assert names == [f"{np.sum(dominant == r)} users with most of r{r + 1}" for r in range(3)]
    for r, part in enumerate(ax.containers):
        used = item.used[dominant == r].sum(axis=0) / item.instance.pools
        assert [bar.get_height() for bar in part] == pytest.approx(used.ravel())


def test_identical_servers_are_drawn_as_classes():
    item = filled(many(10, 40, kinds=4))
    ax = fa.plots.allocation(item)
    classes = item.load.reshape(10, 4, 3)
    pools = item.instance.pools.reshape(10, 4, 3)
    assert tops(ax) == pytest.approx(((classes * pools).sum(axis=0) / pools.sum(axis=0)).ravel())
    assert [text.get_text() for text in ax.child_axes[0].get_xticklabels()] == [f"s{k} (10)" for k in (1, 2, 3, 4)]


def test_many_different_servers_are_narrow_bars_the_fullest_first():
    item = filled(many(10, 40))
    ax = fa.plots.allocation(item)
    assert len(ax.patches) == 8, "seven users, and the others together"
    bands = tops(ax).reshape(3, 42)
    assert bands[:, :40] == pytest.approx(np.sort(item.load.T)[:, ::-1])
    assert np.all(bands[:, 40:] == 0), "the gap between two resources"
    assert ax.get_xlabel() == "40 servers for each resource, the fullest first"


def test_what_a_server_does_not_have_has_no_bar():
    ax = fa.plots.allocation(filled(ZERO))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["r1", "r3", "r1", "r2", "r1", "r2", "r3"]
    assert [text.get_text() for text in ax.child_axes[0].get_xticklabels()] == ["s1", "s2", "s3"]


def test_dominant_shares_are_those_of_wang():
    ax = fa.plots.dominant_shares({"drfh": DRFH, "alone": BY_SERVER})
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    assert np.array(heights) == pytest.approx(np.array([[5 / 7, 5 / 7], [3 / 7, 3 / 7]]))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["drfh", "alone"]
    assert fa.plots.dominant_shares(DRFH).get_legend() is None
    with pytest.raises(fa.InstanceError, match="the users of 'other' are not those of 'drfh'"):
        fa.plots.dominant_shares({"drfh": DRFH, "other": filled(K3)})
    with pytest.raises(fa.InstanceError, match="it must be an Allocation, or map names to allocations"):
        fa.plots.dominant_shares({})


def test_the_shares_of_many_users_are_sorted_lines():
    item = filled(many(70, 3))
    (line,) = fa.plots.dominant_shares(item).lines
    assert line.get_ydata() == pytest.approx(np.sort((item.used.sum(axis=1) / item.instance.totals).max(axis=1)))


# ---- feasible regions ------------------------------------------------------------------------------------------------


def test_the_region_of_wang_has_its_corners():
    assert feasible_vertices(WANG) == pytest.approx(np.array([[0, 0], [0, 12], [10, 10], [12, 0]]), rel=EXACT)
    ax = fa.plots.feasible_region(WANG, points={"drfh": DRFH, "alone": BY_SERVER, "own": (1, 2)})
    corners = {tuple(np.round(corner, 6)) for corner in ax.patches[0].get_xy()}
    assert corners == {(0, 0), (0, 12), (10, 10), (12, 0)}
    assert [tuple(np.ravel(line.get_data()).round(6)) for line in ax.lines] == [(10, 10), (6, 6), (1, 2)]
    with pytest.raises(fa.InstanceError, match=r"the point 'bad' is .* Allocation or 2 numbers"):
        fa.plots.feasible_region(WANG, points={"bad": (1, 2, 3)})
    with pytest.raises(fa.NotApplicable, match="the instance has 4 users, but a picture has two or three axes"):
        fa.plots.feasible_region(K3)


@pytest.mark.parametrize("users", [2, 3])
def test_several_servers_are_a_sum_of_sets(users):
    """With one variant and no limits the region is the Minkowski sum of those of the servers, exactly."""
    instance = fa.Instance([[1, 2, 1], [3, 1, 0], [1, 1, 5]][:users], [[4, 5, 6], [7, 2, 8]])
    sums = np.zeros((1, users))
    for capacity in instance.exact.capacities:
        rows = [({n: d[0][r] for n, d in enumerate(instance.exact.demands) if d[0][r]}, capacity[r]) for r in range(3)]
        corners = polytope_vertices([0 * capacity[0]] * users, [100 + 0 * capacity[0]] * users, [], rows)
        sums = (sums[:, None] + np.array(corners, dtype=float)).reshape(-1, users)
    assert ConvexHull(feasible_vertices(instance)).volume == pytest.approx(ConvexHull(sums).volume, rel=EXACT)
    assert {tuple(v) for v in feasible_vertices(instance).round(6)} == {
        tuple(v) for v in sums[ConvexHull(sums).vertices].round(6) + 0.0
    }


def test_variants_limits_and_placement_bound_the_region_too():
    instance = fa.Instance(
        [[[1, 2], [2, 1]], [1, 1], [3, 1]], [[4, 6], [8, 3]], max_tasks=[None, 2.5, None], eligible=[[1, 1], [1, 0], [0, 1]]
    )
    vertices, arcs = feasible_vertices(instance), instance.arcs
    rows = np.vstack([arcs.load.toarray(), arcs.owner.toarray()[1:2]])
    for direction in np.random.default_rng(0).random((20, 3)):
        best = linprog(-(arcs.owner.T @ direction), rows, [*np.ones(4), 2.5])
        assert (vertices @ direction).max() == pytest.approx(-best.fun, rel=EXACT)
    assert vertices[:, 1].max() == pytest.approx(2.5)


def test_a_region_of_three_users_is_drawn_by_its_facets():
    instance = fa.Instance([[1], [1], [2]], [[6]])
    ax = fa.plots.feasible_region(instance, points={"middle": (1, 1, 1)})
    (region,) = ax.collections
    assert len(region.get_paths() or region._vec) >= 4 - 1
    assert ax.name == "3d"
    assert (ax.get_xlim()[1], ax.get_zlim()[1]) == pytest.approx((6.3, 3.15))


# ---- sweeps, convergence, rounds -------------------------------------------------------------------------------------

SWEEP = tradeoff(K3, [3, 1, "inf"])


def test_a_sweep_has_alpha_in_order_and_the_quantities_of_the_allocations():
    order = [1, 0, 2]
    for r, line in enumerate(fa.plots.sweep(SWEEP).lines):
        assert line.get_xdata().tolist() == [1, 3, 9]
        assert line.get_ydata() == pytest.approx([SWEEP.allocations[k].utilisation[r] for k in order])
    ax = fa.plots.sweep(SWEEP, "total")
    assert [text.get_text() for text in ax.get_xticklabels()[::-1]] == ["1", "3", "PS-DSF"]
    assert ax.get_xscale() == "log"
    assert ax.lines[0].get_ydata() == pytest.approx([SWEEP.allocations[k].tasks.sum() for k in order])
    mean, largest = fa.plots.sweep(SWEEP, "deviation").lines
    assert (mean.get_ydata() == SWEEP.mean_deviation[order]).all()
    assert (largest.get_ydata() == SWEEP.max_deviation[order]).all()
    assert [line.get_ydata()[2] for line in fa.plots.sweep(SWEEP, "tasks").lines] == pytest.approx(SWEEP.tasks[2])
    shares = [line.get_ydata()[0] for line in fa.plots.sweep(SWEEP, "dominant share").lines]
    assert shares == pytest.approx((SWEEP.allocations[1].used.sum(axis=1) / K3.totals).max(axis=1))
    assert fa.plots.sweep(SWEEP, {"own": [1, 2, 3]}).lines[0].get_ydata().tolist() == [2, 1, 3]


def test_a_sweep_says_what_it_cannot_draw():
    with pytest.raises(fa.UnknownName, match="there is no quantity 'fairness': it must be one of utilisation"):
        fa.plots.sweep(SWEEP, "fairness")
    with pytest.raises(fa.InstanceError, match=r"the line 'own' is .* a number for each of 3 alphas"):
        fa.plots.sweep(SWEEP, {"own": [1, 2]})
    crowd = filled(many(25, 2))
    with pytest.raises(fa.NotApplicable, match="the sweep has 25 lines, but only 24 can be told apart"):
        fa.plots.sweep(TradeOff(crowd.instance, (1.0,), (crowd,)), "tasks")


def test_convergence_shows_the_trace():
    solved = fa.solve(K3, "alpha-pf-vds", "semismooth-newton", trace=True)
    ax = fa.plots.convergence({"newton": solved, "own": [{"change": 0.5}, {"change": 0.0}, {"change": 0.25}]})
    residuals = [entry["residual"] for entry in solved.trace if entry.get("residual", 0) > 0]
    assert ax.lines[0].get_ydata().tolist() == residuals
    assert ax.lines[1].get_data()[0].tolist() == [1, 3], "counted, without the measure that is 0"
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["newton: residual", "own: change"]
    seconds = fa.plots.convergence(solved, against="seconds", measure="merit").lines[0]
    assert seconds.get_ydata().tolist() == [entry["merit"] for entry in solved.trace if entry["merit"] > 0]
    assert np.all(np.diff(seconds.get_xdata()) >= 0)


@pytest.mark.parametrize(
    ("item", "options", "kind", "said"),
    [
        (DRFH, {}, fa.NotApplicable, "'.*' has no trace: solve with trace=True"),
        (fa.Allocation(DRFH.instance, DRFH.x), {}, fa.NotApplicable, "'given' has no trace"),
        ([{"t": 1.0}], {}, fa.NotApplicable, "the trace of 'trace' has none of residual, merit, change, error: it has t"),
        ([{"merit": 1.0}], {"against": "seconds"}, fa.NotApplicable, "the trace of 'trace' has no 'seconds': it has merit"),
        ([{"merit": 1.0}], {"against": "days"}, fa.UnknownName, "no axis 'days': it must be one of iteration, seconds, time"),
        ([{"merit": 1.0}], {"measure": "joy"}, fa.UnknownName, "there is no measure 'joy'"),
        ({"a": 3}, {}, fa.InstanceError, "what is drawn as 'a' is 3, but it must be an Allocation or its trace"),
        ([{"residual": "x"}], {}, fa.InstanceError, "the residual of the trace of 'trace' is .* it must be an array of numbers"),
    ],
)
def test_convergence_says_what_it_cannot_draw(item, options, kind, said):
    with pytest.raises(kind, match=said):
        fa.plots.convergence(item, **options)


def test_rounds_are_the_levels_at_which_users_stop():
    """Of 8 units user 1 gets its limit of 1, and the others share 7: levels 1/8 and 7/16."""
    solved = fa.solve(fa.Instance([[1], [1], [2]], [[8]], max_tasks=[None, 1, None]), "drfh")
    ax = fa.plots.rounds(solved)
    assert [[bar.get_height() for bar in part] for part in ax.containers] == [[pytest.approx(1 / 8)], pytest.approx([7 / 16] * 2)]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["u2", "u1", "u3"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1: 0.125 (1)", "2: 0.4375 (2)"]
    alone = fa.plots.rounds(BY_SERVER)
    assert sum(len(part) for part in alone.containers) == 4, "a user on each server"
    own = fa.plots.rounds(solved, mechanism=fa.Leximin("tasks", lambda instance: np.ones(instance.N)))
    assert [bar.get_height() for part in own.containers for bar in part] == pytest.approx([1, 1.75, 3.5])


def test_many_users_stop_in_steps():
    item = filled(many(50, 2), mechanism="tsf")
    ax = fa.plots.rounds(item)
    (step,) = ax.patches
    share = fa.mechanism("tsf").rate(item.instance) * item.tasks
    assert step.get_data().values == pytest.approx(np.sort(share))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["50 rounds"]


def test_a_figure_of_many_users_has_a_limited_number_of_steps():
    instance = fa.Instance(np.ones((5001, 1)), [[1.0]], weights=np.arange(1, 5002))
    item = fa.Allocation(instance, np.linspace(1, 2, 5001) * 1e-4, mechanism="drfh")
    (stairs,) = fa.plots.rounds(item).patches
    heights, edges, _ = stairs.get_data()
    assert (len(heights), edges[0], edges[-1]) == (2000, -0.5, 5000.5)


def test_rounds_are_those_of_the_mechanism_with_its_parameters():
    """alpha-fair at alpha = inf and rules of one's own were said to have no rounds, and mmf to have two: it has one program."""
    two = fa.Instance([[1], [1], [2]], [[8]], max_tasks=[None, 1, None])
    own = fa.Leximin("mine", lambda instance: np.ones(instance.N))
    for answer in (fa.solve(two, own), fa.solve(two, "alpha-fair", alpha="inf")):
        assert len(fa.plots.rounds(answer).containers) == 2
    with pytest.raises(fa.NotApplicable, match="mechanism 'mmf' has no rounds"):
        fa.plots.rounds(fa.solve(two, "mmf"))


def test_only_lexicographic_mechanisms_have_rounds():
    with pytest.raises(fa.NotApplicable, match="mechanism 'nb' has no rounds: they belong to lexicographic mechanisms"):
        fa.plots.rounds(fa.Allocation(WANG, DRFH.x, mechanism="nb"))
    with pytest.raises(fa.NotApplicable, match="an allocation without a mechanism has no rounds"):
        fa.plots.rounds(fa.Allocation(WANG, DRFH.x))


# ---- maps ------------------------------------------------------------------------------------------------------------


def test_prices_are_written_into_the_map():
    prices = np.array([[0.5, 0, 0.25], [0, 2, 0], [1 / 3, 0, 0], [0, 0, 0]])
    ax = fa.plots.prices(filled(ZERO, prices=prices))
    shown = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert (np.isnan(shown) == (ZERO.pools == 0)).all()
    assert shown[ZERO.pools > 0].tolist() == prices[ZERO.pools > 0].tolist()
    assert [text.get_text() for text in ax.texts[:6]] == ["0.5", "-", "0.25", "0", "2", "-"]
    assert ax.get_xlabel() == "price of the whole capacity"
    market = fa.market(fa.solve(WANG, "nb"))
    ax = fa.plots.prices(market)
    assert (ax.images[0].get_array() == without_rounding(market.prices)).all()
    assert ax.get_xlabel() == "price of a unit"


def test_a_map_of_prices_shows_rounding_as_0_as_tables_do():
    noisy = np.where(ZERO.pools > 0, 8e-11, 0.0)
    noisy[0, 0] = 1.0
    texts = [text.get_text() for text in fa.plots.prices(filled(ZERO, prices=noisy)).texts]
    assert set(texts) <= {"1", "0", "-"}
    assert "0" in texts


def test_prices_of_many_servers_have_a_scale():
    item = filled(many(5, 45), prices=np.random.default_rng(0).random((45, 3)))
    ax = fa.plots.prices(item)
    assert (ax.images[0].get_array() == item.prices).all()
    assert not ax.texts
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"s{k}" for k in range(1, 46, 2)]
    assert len(ax.figure.axes) == 2, "the scale"


def test_prices_say_what_they_need():
    with pytest.raises(fa.NotApplicable, match="an allocation by no method has no prices: solve by a method"):
        fa.plots.prices(filled(WANG))
    with pytest.raises(fa.InstanceError, match="it must be an Allocation or a PricedAllocation"):
        fa.plots.prices(WANG)


def test_eligibility_puts_classes_together():
    placement = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)
    instance = fa.Instance([[1, 0], [1, 1], [1, 0], [1, 1], [0, 1]], [[1, 1], [1, 1], [1, 0]], eligible=placement)
    ax = fa.plots.eligibility(instance)
    users = [instance.users.index(text.get_text()) for text in ax.get_yticklabels()]
    servers = [instance.servers.index(text.get_text()) for text in ax.get_xticklabels()]
    state = ax.images[0].get_array()
    assert ((state == 2) == instance.eligible[users][:, servers]).all()
    assert ((state >= 1) == placement[users][:, servers]).all()
    assert users.index(2) - users.index(0) == 1
    assert users.index(4) - users.index(1) == 1
    assert ax.get_ylabel() == "5 users in 3 classes"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "may run there",
        "a demanded resource is missing",
        "may not run there (placement)",
    ]


def test_a_thousand_users_are_named_by_class():
    instance = many(1000, 200, kinds=8)
    ax = fa.plots.eligibility(instance)
    assert ax.images[0].get_array().shape == (1000, 200)
    assert np.sum(ax.images[0].get_array() == 2) == instance.eligible.sum()
    assert ax.get_ylabel() == "1,000 users in 7 classes"
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(int(name.split(" and ")[1].split()[0]) + 1 for name in names) == [142, 143, 143, 143, 143, 143, 143]


# ---- what every figure keeps -----------------------------------------------------------------------------------------


def test_crowded_texts_are_seen():
    figure, ax = plt.subplots()
    ax.set_axis_off()
    ax.text(0.5, 0.5, "one")
    assert crowded(figure) == []
    ax.text(0.51, 0.51, "two")
    ax.text(1.2, 0.5, "far beyond the edge")
    assert crowded(figure) == ["far beyond the edge", ("one", "two")]


def beside_another(draw, item):
    """Two figures on the Axes of a plain `plt.subplots`."""
    left, right = plt.subplots(1, 2, figsize=(9, 4))[1]
    draw(item, ax=left)
    return draw(item, ax=right)


LONG_2, LONG_3, LONG_5 = (long_names(users) for users in (2, 3, 5))
TEN = generators.placement(10, 4, 3, 1)
FIGURES = {
    "two users": DRFH.plot,
    "ten users": lambda: fa.plots.allocation(filled(TEN)),
    "forty users": lambda: fa.plots.allocation(filled(many(40, 8))),
    "a thousand users": lambda: fa.plots.allocation(filled(many(1000, 60))),
    "classes": lambda: fa.plots.allocation(filled(many(100, 60, kinds=5))),
    "one server": lambda: fa.plots.allocation(filled(many(3, 1))),
    "no capacity": lambda: fa.plots.allocation(filled(ZERO)),
    "long names": lambda: fa.plots.allocation(filled(LONG_5)),
    "shares of ten": lambda: fa.plots.dominant_shares({f"{LONG} {k}": filled(TEN, k) for k in range(4)}),
    "shares of forty": lambda: fa.plots.dominant_shares({f"m{k}": filled(many(40, 3), k) for k in range(2)}),
    "shares of a thousand": lambda: fa.plots.dominant_shares(filled(many(1000, 3))),
    "long names of shares": lambda: fa.plots.dominant_shares(filled(LONG_5)),
    "long region": lambda: fa.plots.feasible_region(LONG_2, points={LONG: (1, 1)}),
    "region in space": lambda: fa.plots.feasible_region(LONG_3),
    "level sets": lambda: fa.plots.solution_set(fa.example("dolev-fig3").instance, levels=(0.5, 1, 2, 4, 8, 16), trajectory=True),
    "levels in space": lambda: fa.plots.solution_set(fa.example("dolev-segment").instance, levels=(1, 4), trajectory=True),
    "sweep": lambda: fa.plots.sweep(SWEEP, "tasks"),
    "many alphas": lambda: fa.plots.sweep(TradeOff(TEN, tuple(range(1, 31)), (filled(TEN),) * 30), "tasks"),
    "server": lambda: fa.plots.server_shares(SWEEP, "s2"),
    "long server": lambda: fa.plots.server_shares(TradeOff(LONG_5, (1, 2, 3, 5, 8), (filled(LONG_5),) * 5), LONG_5.servers[0]),
    "frontier": lambda: fa.plots.frontier(SWEEP)[0],
    "convergence": lambda: fa.plots.convergence({LONG: [{"merit": 10.0**-k} for k in range(9)], "a": [{"error": 1.0}]}),
    "rounds": lambda: fa.plots.rounds(filled(LONG_5, mechanism="drfh")),
    "rounds of forty": lambda: fa.plots.rounds(filled(many(40, 3), mechanism="drfh")),
    "rounds of a thousand": lambda: fa.plots.rounds(filled(many(1000, 3), mechanism="drfh")),
    "beside another": lambda: beside_another(fa.plots.allocation, DRFH),
    "prices": lambda: fa.plots.prices(filled(LONG_5, prices=np.random.default_rng(0).random((4, 3)))),
    "many prices": lambda: fa.plots.prices(filled(many(5, 45), prices=np.ones((45, 3)))),
    "eligibility": lambda: fa.plots.eligibility(LONG_5),
    "eligibility of forty": lambda: fa.plots.eligibility(generators.placement(40, 8, 3, 2)),
    "eligibility of a thousand": lambda: fa.plots.eligibility(many(1000, 200, kinds=12)),
    "profiles": lambda: fa.plots.performance_profiles({"p": {f"{LONG} {k}": [1.0 + k, 2.0, 5.0] for k in range(24)}})[0],
    "data profiles": lambda: fa.plots.data_profiles({"p": {f"{LONG} {k}": [1.0 + k, 2e-4, 5e4] for k in range(24)}})[0],
    "front": lambda: fa.plots.front({f"{LONG} {k}": [(10.0**-k, 10.0**-j) for j in range(k)] for k in range(1, 8)}),
    "memory": lambda: fa.plots.memory({f"{LONG} {k}": (90.0 * k, 1000.0 * k) for k in range(24)}),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", FIGURES)
def test_every_text_is_whole_and_apart(name):
    figure = FIGURES[name]().figure
    assert crowded(figure) == []
    assert max(figure.get_size_inches()) <= 15
    sizes = [item.get_fontsize() for item in figure.findobj(plt.Text) if item.get_text()]
    assert min(sizes) >= 9, "readable at half the size"


def luminance(colour):
    from matplotlib.colors import to_rgb

    return float(np.dot([0.2126, 0.7152, 0.0722], to_rgb(colour)))


def test_areas_differ_also_in_grey():
    for one, two in combinations([style.area(k) for k in range(style.STYLES)], 2):
        differ = abs(luminance(one["facecolor"]) - luminance(two["facecolor"])) >= 0.05
        assert one["hatch"] != two["hatch"] or differ, (one, two)


def test_lines_differ_also_in_grey():
    looks = [style.line(k) for k in range(style.STYLES)]
    assert len({(str(look["linestyle"]), look["marker"]) for look in looks}) == style.STYLES


def test_no_two_users_look_alike():
    ax = fa.plots.allocation(filled(many(8, 2)))
    looks = [(part[0].get_facecolor(), part[0].get_hatch()) for part in ax.containers]
    assert len(set(looks)) == 8


def test_names_are_shortened_as_far_as_needed():
    assert style.fitted(["cpu", "ram"], 1.0) == ["cpu", "ram"]
    (short,) = style.fitted(["a name that is too long for an inch"], 1.0)
    assert short.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert short.startswith("a name")
    assert style.text_width(short) <= 1.0
    names = [f"the same beginning of every name {k}" for k in range(9)]
    cut = style.fitted(names, 1.2)
    assert len(set(cut)) == 9
    assert max(map(style.text_width, cut)) <= 1.2
    assert style.fitted(["$x$", "_y"], 1.0) == [r"\$x\$", "_y"], "no mathematics"
    assert style.fitted(["a\x1b[1m"], 2.0) == [r"a\x1b[1m"], "nothing for which a font has no glyph"


def test_names_are_shown_letter_by_letter():
    instance = WANG.replace(users=["_hidden", "a$b$c"], servers=["$x$", "_s"])
    ax = fa.plots.allocation(fa.Allocation(instance, DRFH.x))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"a\$b\$c", "_hidden"]
    assert crowded(ax.figure) == []


# ---- the interface ---------------------------------------------------------------------------------------------------

DRAWN = {
    "allocation": DRFH,
    "dominant_shares": DRFH,
    "feasible_region": WANG,
    "solution_set": fa.example("dolev-fig3").instance,
    "sweep": SWEEP,
    "convergence": [{"residual": 1.0}],
    "rounds": DRFH,
    "prices": DRFH,
    "eligibility": WANG,
    "front": {"m": [(1.0, 1e-6)]},
    "memory": {"m": (100.0, 120.0)},
}
TWO = {"one": {"m": [1.0]}, "two": {"m": [1.0]}}
PANELS = {"frontier": (SWEEP, 2), "performance_profiles": (TWO, 2), "data_profiles": (TWO, 2)}


def test_the_last_digits_of_a_layout_do_not_change_the_text_of_a_figure():
    texts = []
    for left in (0.1, 0.1 + 1e-15):
        figure = style.new_figure(3.0, 2.0)
        figure.set_layout_engine("none")
        figure.add_axes((left, 0.1, 0.8, 0.8)).plot([1, 2], [1, 2])
        texts.append(svg_text(figure))
    assert texts[0] == texts[1]
    assert "clip-path" in texts[0]


def test_a_method_without_a_residual_has_no_points():
    ax = fa.plots.front({"none": [(0.1, float("inf"))], "one": [(0.1, 1.0)]})
    assert [line.get_label() for line in ax.lines][:1] == ["one"]
    assert len(ax.lines) == 2, "the other is the front"


@pytest.mark.few(6)
@pytest.mark.parametrize("name", DRAWN)
def test_functions_draw_on_the_axes_given(name):
    figure, ax = plt.subplots()
    assert getattr(fa.plots, name)(DRAWN[name], ax=ax) is ax
    assert ax.has_data()
    assert plt.get_fignums() == [figure.number], "no other figure was opened"
    with pytest.raises(fa.InstanceError, match="ax is 3, but it must be Axes of Matplotlib"):
        getattr(fa.plots, name)(DRAWN[name], ax=3)


@pytest.mark.parametrize("name", PANELS)
def test_figures_of_several_panels_take_as_many_axes(name):
    item, count = PANELS[name]
    axes = plt.subplots(1, count)[1]
    assert getattr(fa.plots, name)(item, ax=axes).tolist() == axes.tolist()
    assert all(ax.has_data() for ax in axes)
    assert getattr(fa.plots, name)(item).shape == (count,)
    with pytest.raises(fa.InstanceError, match=f"ax holds 1 Axes, but the figure has {count} panels"):
        getattr(fa.plots, name)(item, ax=axes[:1])


def test_every_function_is_tried_here():
    assert {*DRAWN, *PANELS, "server_shares"} == set(fa.plots.__all__)


def test_space_needs_axes_in_space():
    instance = fa.Instance([[1], [1], [2]], [[6]])
    flat, space = plt.subplots()[1], plt.figure().add_subplot(projection="3d")
    assert fa.plots.feasible_region(instance, ax=space) is space
    with pytest.raises(fa.InstanceError, match="the projection 'rectilinear', but this figure needs three dimensions"):
        fa.plots.feasible_region(instance, ax=flat)
    with pytest.raises(fa.InstanceError, match="the projection '3d', but this figure needs two dimensions"):
        fa.plots.eligibility(instance, ax=space)


def test_an_allocation_draws_itself():
    ax = plt.subplots()[1]
    assert DRFH.plot("prices", ax) is ax
    kinds = {"allocation", "convergence", "dominant_shares", "eligibility", "feasible_region", "prices", "rounds"}
    assert set(fa.plots.OF_ALLOCATIONS) == kinds
    assert [tuple(np.ravel(line.get_data()).round(6)) for line in DRFH.plot("feasible_region").lines] == [(10, 10)]
    assert DRFH.plot("eligibility").images[0].get_array().shape == (2, 2)
    with pytest.raises(fa.UnknownName, match="there is no kind of figure 'pie'"):
        DRFH.plot("pie")


def test_a_sweep_of_what_stays_the_same_shows_no_rounding():
    same = tradeoff(fa.Instance([[1, 2], [2, 1]], [[4, 4]]), [1, 2, "inf"])
    for ax in (fa.plots.sweep(same), *fa.plots.frontier(same)):
        assert ax.get_ylim() == pytest.approx((0, 1.05))


@pytest.mark.parametrize("name", ["allocation", "dominant_shares", "rounds"])
def test_an_allocation_without_tasks_is_not_drawn_as_an_empty_figure(name):
    with pytest.raises(fa.NotApplicable, match="the drfh allocation has no finite tasks, so there is nothing to draw"):
        getattr(fa.plots, name)(fa.Allocation(WANG, np.full(WANG.A, np.nan), "drfh"))


@pytest.mark.parametrize("name", ["front", "performance_profiles", "data_profiles"])
def test_a_method_that_is_not_in_the_order_is_named(name):
    given = DRAWN.get(name) or TWO
    with pytest.raises(fa.UnknownName, match="there is no method 'm': the order is b, c"):
        getattr(fa.plots, name)(given, order=["b", "c"])


@pytest.mark.usefixtures("without_matplotlib")
def test_every_figure_needs_matplotlib():
    for name, item in {**DRAWN, **{name: item for name, (item, _) in PANELS.items()}}.items():
        with pytest.raises(fa.NotInstalled, match=r"^figures need matplotlib: pip install fairalloc\[plots\]$"):
            getattr(fa.plots, name)(item)


def test_a_region_is_drawn_in_any_units():
    ax = fa.plots.feasible_region(fa.Instance([[1e-9, 0], [1e9, 1]], [[3, 2]]))
    assert ax.patches[0].get_xy().max(axis=0) == pytest.approx([3e9, 2 / 1e9 * 1.5])


def test_corners_are_found_in_any_units():
    """Capacities of 1e9 beside demands of 1e-3: the corners are found in units of what runs alone."""
    scaled = WANG.replace(capacities=[[2e9, 12e9], [12e9, 2e9]], demands=[[0.2e-3, 1e-3], [1e-3, 0.2e-3]])
    assert feasible_vertices(scaled) / 1e12 == pytest.approx(np.array([[0, 0], [0, 12], [10, 10], [12, 0]]), abs=ROUNDING * 1e3)


def test_a_residual_of_any_size_is_drawn():
    """A method that answered 1e300 tasks made a benchmark's page tell of an overflow."""
    axes = fa.plots.front({"huge": [(1e-3, 1e300)], "right": [(1e-3, 1e-12)]})
    axes.figure.canvas.draw()
    assert axes.get_ylim()[1] < np.inf
