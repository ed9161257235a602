"""Utilisation, deviation and the figures of K: numbers by hand, and what the figures show."""

import numpy as np
import pytest
from tolerances import BARGAINING

from fairalloc.analysis.plots.tradeoff import frontier, server_shares
from fairalloc.analysis.tradeoff import TradeOff, tradeoff
from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.models import Allocation, Instance, InstanceError, NotInstalled, UnknownName
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example

K3 = example("khamse-fig3").instance


def by_hand(alpha):
    """K Fig. 3 in closed form: tests/formulations/test_game_residual.py."""
    ratio = min(2 ** (1 / float(alpha)), 1.5)
    y4 = 1 / (1 + ratio / 2)
    values = {(0, 0): 2, (1, 0): 6, (2, 1): 16 * ratio * y4, (3, 1): 8 * y4}
    pairs = zip(K3.arcs.user.tolist(), K3.arcs.server.tolist(), strict=True)
    return Allocation(K3, [values.get(pair, 0) for pair in pairs], residuals={"feasibility": 0.0, "definition": 0.0})


HAND = TradeOff(K3, (1.0, 3.0, np.inf), tuple(by_hand(alpha) for alpha in (1, 3, np.inf)))


def test_what_p_says_of_the_servers_in_fig_5():
    fig5 = example("psdsf-fig5").instance
    x = np.zeros(len(fig5.arcs))
    table = {(0, 0): 40, (0, 1): 170, (1, 0): 20, (1, 1): 85, (2, 2): 82.5, (3, 3): 27.5}
    for a, pair in enumerate(zip(fig5.arcs.user.tolist(), fig5.arcs.server.tolist(), strict=True)):
        x[a] = table.get(pair, 0)
    load = Allocation(fig5, x).load  # P V says that cpu is full in A and B
    np.testing.assert_allclose(load, [[6 / 8, 1], [25.5 / 34, 1], [1, 1], [1, 1]])


def test_utilisation_of_all_servers_is_the_mean_by_capacity():
    instance = generators.placement(6, 4, 3, 1)
    allocation = Allocation(instance, instance.arcs.gamma / 9)
    np.testing.assert_allclose(np.average(allocation.load[:, 0], weights=instance.pools[:, 0]), allocation.utilisation[0])


def test_deviation_by_hand():
    """K (58): at PS-DSF nobody deviates; at alpha = 1 user 3 has 6/7 where user 4 has 4/7."""
    np.testing.assert_allclose(deviation(K3, HAND.allocations[2].x), 0, atol=1e-12)
    np.testing.assert_allclose(deviation(K3, HAND.allocations[0].x), [0, 0, 0.5, 0], atol=1e-12)
    np.testing.assert_allclose(HAND.mean_deviation, [0.125, (2 ** (1 / 3) - 1) / 4, 0], atol=1e-12)
    np.testing.assert_allclose(HAND.max_deviation, [0.5, 2 ** (1 / 3) - 1, 0], atol=1e-12)


def test_no_point_has_no_deviation():
    assert np.all(np.isnan(deviation(K3, np.full(len(K3.arcs), np.nan))))
    x = HAND.allocations[0].x.copy()
    x[0] = 0
    assert np.isnan(deviation(K3, x)[0])


def test_weights_count_in_the_mean_deviation():
    instance = Instance([[1, 0], [1, 1]], [[4, 2]], weights=[3, 1])
    item = TradeOff(instance, (1.0,), (Allocation(instance, [2, 2]),))
    z = np.array([2 / 4 / 3, 2 / 2 / 1])
    np.testing.assert_allclose(item.deviation[0], z / z.min() - 1)
    np.testing.assert_allclose(item.mean_deviation, (z[1] / z[0] - 1) / 4)


@pytest.mark.parametrize("alphas", [[1, 3, "inf"], (1.5,)])
def test_the_sweep_of_khamse_figure_3(alphas):
    item = tradeoff(K3, alphas)
    assert max(one.residual for one in item.allocations) <= 1e-6
    np.testing.assert_allclose(item.tasks, [by_hand(alpha).tasks for alpha in alphas], rtol=BARGAINING)
    assert np.all(np.diff(item.utilisation, axis=0) <= BARGAINING)  # K: smaller alpha, more use
    assert np.all(np.diff(item.mean_deviation) <= BARGAINING)


def test_a_sweep_needs_an_alpha():
    with pytest.raises(InstanceError, match=r"alphas is \[\], but a trade-off needs at least one alpha"):
        tradeoff(K3, [])
    with pytest.raises(InstanceError, match="alpha is 3, but a trade-off takes all of them as alphas"):
        tradeoff(K3, [1], alpha=3)  # it was Python's TypeError
    with pytest.raises(InstanceError, match="alpha is -1 for server 's1'"):
        tradeoff(K3, [-1])
    with pytest.raises(InstanceError, match="alphas is None, but it must be a list"):
        tradeoff(K3, None)
    with pytest.raises(InstanceError, match=r"alpha is \[1, 2\], but it must be a number"):
        tradeoff(K3, [[1, 2]])  # one for each server, as `solve` takes it, has no place on the axis: it was a TypeError


def test_figure_3_shows_what_each_user_takes():
    axes = server_shares(HAND, "s2")
    bars = [bar.get_height() for group in axes.containers for bar in group]
    heights = np.reshape(bars, (2, 3, 2)).transpose(2, 0, 1)  # resource, user, alpha
    cpu, memory = heights.sum(axis=1)
    np.testing.assert_allclose(cpu, 1)
    np.testing.assert_allclose(memory, [1, 0.9264, 40 / 3 / 16], atol=1e-4)
    np.testing.assert_allclose(heights[0, 0], [3 / 7, 0.38649, 1 / 3], atol=1e-4)  # cpu of user 3
    assert [t.get_text() for t in axes.child_axes[0].get_xticklabels()] == [r"$\alpha$ = 1", r"$\alpha$ = 3", "PS-DSF"]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["u4", "u3"], "in the order of the stack"
    with pytest.raises(UnknownName, match="there is no server 'x'"):
        server_shares(HAND, "x")


def test_the_frontier_has_a_point_for_each_alpha_and_resource(tmp_path):
    panels = frontier(HAND)
    for axes, values in zip(panels, (HAND.mean_deviation, HAND.max_deviation), strict=True):
        assert len(axes.lines) == 3
        for line, r in zip(axes.lines, range(3), strict=True):
            np.testing.assert_allclose(line.get_xdata(), values)
            np.testing.assert_allclose(line.get_ydata(), HAND.utilisation[:, r])
    panels[0].figure.savefig(tmp_path / "frontier.png")
    assert (tmp_path / "frontier.png").stat().st_size > 1000


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_one_sentence_says_what_to_install():
    with pytest.raises(NotInstalled, match=r"figures need matplotlib: pip install fairalloc\[plots\]"):
        frontier(HAND)
