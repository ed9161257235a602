"""Derivatives of tasks by capacities, against differences of answers on both sides."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import ROUNDING

import fairalloc as fa
from fairalloc.analysis import active_set, differences
from fairalloc.analysis.active_set import derivatives_by_active_set
from fairalloc.models import Allocation, Instance, InstanceError
from fairalloc.models.examples import generators
from fairalloc.solvers import solve
from fairalloc.solvers.running import time_limits

QUOTIENT = 1e-6
"""What a quotient in rationals with a step of 1e-7 may be off, relative to tasks: a step times a curvature of order one."""

ROUGH = 1e-3
"""What a quotient in floating point with a step of 1e-4 may be off: that times the curvature, and 1e-8 of rounding over 1e-4."""

FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "finite", "badly_scaled")


POOLED = tuple(family for family in FAMILIES if family not in ("placement", "racks"))
CONCAVE = [("nb", {}, f) for f in FAMILIES] + [("fds", {"alpha": a}, f) for a in (2, 0.5) for f in POOLED]


def moved(instance, i, r, part):
    """The instance with one capacity times 1 + part, exactly."""
    capacities = [list(row) for row in instance.exact.capacities]
    capacities[i][r] *= 1 + part
    return instance.replace(capacities=capacities)


def quotients(allocation, i, r, sign, step=Fraction(1, 10**7), follow=False, **asked):
    """(N,) changes of tasks over the change of a capacity, from answers of their own; None where there is no exact one.

    With `follow` from the answer next to the given one.
    """
    instance, item = allocation.instance, fa.mechanism(allocation.mechanism).configure(**allocation.parameters)
    start = {"warm_start": allocation} if follow else {}
    here = allocation if follow else solve(instance, item, **asked)
    there = solve(moved(instance, i, r, sign * step), item, **asked, **start)
    if asked.get("method") == "exact":
        if here.tasks_exact is None or there.tasks_exact is None:
            return None
        by = sign * step * instance.exact.capacities[i][r]
        return np.array([float((b - a) / by) for a, b in zip(here.tasks_exact, there.tasks_exact, strict=True)])
    return (there.tasks - here.tasks) / (sign * float(step) * instance.capacities[i, r])


def largest_error(allocation, found, **asked):
    """The largest error of a side in tasks for a whole capacity, relative to the largest tasks, and how many were compared."""
    compared, worst = 0, 0.0
    for i, r in zip(*np.nonzero(allocation.instance.capacities), strict=True):
        for side, sign in ((found.up, 1), (found.down, -1)):
            if not np.isfinite(side[:, i, r]).all():
                continue
            expected = quotients(allocation, i, r, sign, **asked)
            if expected is None:
                continue
            error = np.abs(expected - side[:, i, r]).max() * allocation.instance.capacities[i, r]
            worst, compared = max(worst, error / np.abs(allocation.tasks).max()), compared + 1
    return worst, compared


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("item", ["drfh", "tsf", "lmmf"])
def test_lexicographic_rules(item, family):
    for seed in range(4):
        allocation = solve(getattr(generators, family)(4, 2, 2, seed), item)
        found = fa.sensitivity(allocation)
        worst, compared = largest_error(allocation, found, method="exact", step=Fraction(1, 10**8))
        assert worst <= QUOTIENT
        assert compared >= 2 * np.count_nonzero(allocation.instance.capacities) - 2
        assert not found.reason or "capacity of 0" in found.reason


@pytest.mark.few(1)
@pytest.mark.parametrize(("item", "parameters", "family"), CONCAVE)
def test_concave_programs(item, parameters, family):
    for seed in range(4):
        allocation = solve(getattr(generators, family)(4, 2, 2, seed), item, accuracy="high", **parameters)
        found = fa.sensitivity(allocation)
        if not (found.how == "active set").all():
            assert found.reason or (found.how == "differences").any()
            continue
        worst, compared = largest_error(allocation, found, accuracy="high", step=Fraction(1, 10**4))
        assert worst <= ROUGH
        assert compared >= 4


def test_by_hand():
    """One resource: the weighted shares are equal, so users move with their weights; the other resource moves nobody."""
    pool = Instance([[1, 0], [1, 0], [0, 1]], [[6, 4]], weights=[1, 2, 1])
    found = fa.sensitivity(solve(pool, "lmmf"))
    np.testing.assert_allclose(found.up[:, 0], [[1 / 3, 0], [2 / 3, 0], [0, 1]], atol=ROUNDING)
    np.testing.assert_allclose(found.down, found.up, atol=ROUNDING)
    np.testing.assert_allclose(found.two_sided, found.up, atol=ROUNDING)
    assert (found.how == "rationals").all()


def test_where_two_resources_are_full_at_once_the_sides_differ():
    """One user who needs both: more of one alone is no use, less of it is."""
    found = fa.sensitivity(solve(Instance([[1, 1]], [[4, 4]]), "lmmf"))
    np.testing.assert_allclose(found.up, 0, atol=ROUNDING)
    np.testing.assert_allclose(found.down, 1, atol=ROUNDING)
    assert (found.how == "rationals").all()
    assert np.isnan(found.two_sided).all()
    assert found.grid().rows[0][3:] == ["more", "0"]
    assert found.grid().rows[1][3:] == ["less", "1"]
    assert "0% two-sided" in repr(found)


def test_nb_where_a_capacity_is_full_at_price_0():
    """Two users, one resource each, and a third resource that is just full: less of it hurts, more does not help."""
    pool = Instance([[1, 0, 1], [0, 1, 1]], [[1, 1, 2]])
    found = fa.sensitivity(solve(pool, "nb"))
    third = found.up[:, 0, 2], found.down[:, 0, 2]
    assert found.how[0, 2] == "differences"
    np.testing.assert_allclose(third[0], 0, atol=ROUGH)
    np.testing.assert_allclose(third[1], 0.5, atol=ROUGH)
    assert not np.isfinite(found.two_sided[:, 0, 2]).any()


def test_a_user_at_its_limit_does_not_move():
    pool = Instance([[1], [1]], [[10]], max_tasks=[2, 100])
    for item in ("lmmf", "nb"):
        found = fa.sensitivity(solve(pool, item, accuracy="high"))
        np.testing.assert_allclose(found.up[:, 0, 0], [0, 1], atol=ROUGH)


@pytest.mark.parametrize("rule", ["nested-leximin", "nested-nb", "h-drf"])
def test_tasks_of_rules_with_groups_have_derivatives(rule):
    """They had been said not to be unique: of a unit more the group of two has a half, and each of its users a quarter."""
    found = fa.sensitivity(solve(Instance([[1]] * 3, [[12]], groups={"A": [0, 1]}), rule))
    for side in (found.up, found.down):
        np.testing.assert_allclose(side[:, 0, 0], [0.25, 0.25, 0.5], atol=ROUGH)


def test_the_title_names_the_mechanism_that_is_asked():
    """It had named that of the allocation, or nothing."""
    pool = Instance([[1, 2], [2, 1]], [[9, 9]])
    for allocation in (solve(pool, "drfh"), Allocation(pool, [3, 3])):
        found = fa.sensitivity(allocation, "nb")
        assert (found.grid().title, found.to_dict()["mechanism"]) == ("tasks of nb a unit of capacity", "nb")


def test_linear_programs_where_tasks_are_unique_and_where_not():
    unique = Instance([[1], [2]], [[10]])
    found = fa.sensitivity(solve(unique, "utilitarian"))
    np.testing.assert_allclose(found.up[:, 0, 0], [1, 0], atol=ROUNDING)
    several = fa.sensitivity(solve(Instance([[1], [1]], [[10]]), "utilitarian"))
    assert np.isnan(several.up).all()
    assert several.reason == "the tasks of 'utilitarian' are not unique here, so they have no derivatives"
    assert "not known" in str(several)
    assert several.to_dict()["capacities"][0]["more"] == {"u1": None, "u2": None}


@pytest.mark.parametrize("item", ["drf-per-server", "uniform"])
def test_rules_on_other_domains_are_solved_again(item):
    allocation = solve(generators.generic(3, 2, 2), item)
    found = fa.sensitivity(allocation)
    worst, compared = largest_error(allocation, found, method="exact", step=Fraction(1, 10**8))
    assert compared == 8
    assert worst <= QUOTIENT


# ---- the game ---------------------------------------------------------------------------------------------------------


@pytest.mark.deep
@settings(max_examples=drawn(20))
@given(
    st.sampled_from([("ps-dsf", {}), ("alpha-pf-vds", {"alpha": 2}), ("alpha-pf-vds", {"alpha": 0.5})]),
    st.sampled_from(FAMILIES),
    st.integers(0, 60),
)
def test_the_game(asked, family, seed):
    """Every derivative that is given, against the equilibrium next to it that is reached from here."""
    item, parameters = asked
    allocation = solve(getattr(generators, family)(4, 2, 2, seed), item, accuracy="high", **parameters)
    found = fa.sensitivity(allocation)
    worst, compared = largest_error(allocation, found, accuracy="high", step=Fraction(1, 10**4), follow=True)
    assert worst <= ROUGH
    told = np.isfinite(found.up[0]).sum() + np.isfinite(found.down[0]).sum()
    assert compared <= told
    assert found.reason or told == 8 - np.count_nonzero(allocation.instance.capacities == 0)


def test_the_game_by_hand():
    """PS-DSF with one user on each server of its own and one on both: levels are 1 / 2 of what each server has."""
    both = Instance([[1], [1], [1]], [[3], [5]], eligible=[[True, False], [False, True], [True, True]])
    found = fa.sensitivity(solve(both, "ps-dsf", accuracy="high"))
    assert (found.how == "active set").all()
    assert not found.reason
    np.testing.assert_allclose(found.up.sum(axis=0), 1.0, atol=ROUGH)  # everything is used
    np.testing.assert_allclose(found.up, found.down, atol=ROUGH)


def test_an_answer_among_others_has_no_derivatives():
    """Two methods give two PS-DSF allocations of this instance, with other tasks for everybody."""
    instance = generators.generic(4, 2, 2, 1)
    one, other = (solve(instance, "ps-dsf", method, accuracy="high") for method in ("continuation", "best-response"))
    assert max(one.residual, other.residual) <= ROUNDING
    assert np.abs(one.tasks - other.tasks).max() > ROUGH
    for allocation in (one, other):
        found = fa.sensitivity(allocation)
        assert np.isnan(found.up).all()
        assert found.reason == "there are other answers of 'ps-dsf' next to this one, so its tasks have no derivatives"


def test_a_user_at_its_limit_with_a_choice_of_servers_leaves_the_others_free():
    """That of game/game.py: user 3 may take its 1/2 from server 1 or 2, and users 1 and 2 get the rest."""
    shared = Instance(
        [[1], [1], [1]], [[1], [1]], max_tasks=[None, None, "1/2"], eligible=[[True, False], [False, True], [True, True]]
    )
    found = fa.sensitivity(solve(shared, "alpha-pf-vds", accuracy="high", alpha=1))
    assert found.reason == "user 'u3' is at its limit and could run its tasks on several servers, so tasks are not unique"
    assert np.isnan(found.up).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_time_shared_servers(family):
    """By levels on the instance whose one resource is time, against answers next to it."""
    for seed in range(2):
        allocation = solve(getattr(generators, family)(4, 2, 2, seed), "ps-dsf-tdm", accuracy="high")
        found = fa.sensitivity(allocation)
        worst, compared = largest_error(allocation, found, accuracy="high", step=Fraction(1, 10**4), follow=True)
        assert worst <= ROUGH
        assert compared >= 4 or found.reason


def test_time_shared_servers_by_hand():
    """Half of the time each, whatever a task takes: only what is dominant moves its user."""
    found = fa.sensitivity(solve(Instance([[1, 2], [3, 1]], [[6, 6]]), "ps-dsf-tdm", accuracy="high"))
    np.testing.assert_allclose(found.up[:, 0], [[0, 1 / 4], [1 / 6, 0]], atol=ROUGH)
    np.testing.assert_allclose(found.down, found.up, atol=ROUGH)


# ---- rules of one's own -----------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["drfh", "tsf", "lmmf"])
def test_a_rule_of_ones_own_needs_no_rational_shares(name):
    """Floats are rationals too: the same derivatives as those of the rule that has exact shares."""
    rule = fa.mechanism(name)
    own = fa.Leximin("own", rule.share)
    for family in ("generic", "tied", "finite"):
        allocation = solve(getattr(generators, family)(4, 2, 2, 1), name)
        given, found = fa.sensitivity(allocation), fa.sensitivity(allocation, own)
        np.testing.assert_allclose(found.up, given.up, atol=ROUGH * np.abs(given.up).max())
        np.testing.assert_allclose(found.down, given.down, atol=ROUGH * np.abs(given.down).max())
    assert own.exact_share is None


# ---- no justified complaints ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dolev-fig3", "dolev-circle"])
def test_njc_moves_as_its_market(name):
    instance = fa.example(name).instance
    found = fa.sensitivity(solve(instance, "njc", accuracy="high"))
    market = fa.sensitivity(solve(instance, "nb", accuracy="high"))
    np.testing.assert_allclose(found.up, market.up, atol=ROUGH)
    worst, compared = largest_error(solve(instance, "njc", accuracy="high"), found, accuracy="high", step=Fraction(1, 10**4))
    assert worst <= ROUGH
    assert compared > 0 or found.reason


def test_njc_apart_from_its_market_says_so():
    circle = fa.example("dolev-circle").instance
    best = solve(circle, "njc", objective="min")
    other = solve(circle, "njc", objective="closest", target=(np.arange(circle.N) % 2).tolist())
    for allocation in (best, other):
        found = fa.sensitivity(allocation, fa.mechanism("njc"))
        apart = solve(circle, "njc").tasks - allocation.tasks
        assert np.isnan(found.up).all() == bool(np.abs(apart).max() > ROUGH)
        assert ("at that of its market (nb) alone" in found.reason) == bool(np.abs(apart).max() > ROUGH)


def test_njc_with_an_objective_does_not_move_as_its_market():
    """Users 2 and 3 run 1 and 3 tasks; for a unit less the largest sum takes 1/3 and 0 of them, the market 1/6 and 1/2."""
    pool = Instance([[2, 0], [0, 3], [0, 1]], [[6, 6]], max_tasks=[None, None, 3])
    chosen = solve(pool, "njc", objective="sum")
    np.testing.assert_allclose(fa.sensitivity(chosen, fa.mechanism("njc")).down[:, 0, 1], [0, 1 / 6, 1 / 2], atol=ROUGH)
    less = solve(pool.replace(capacities=[[6, 5]]), "njc", objective="sum")
    np.testing.assert_allclose(chosen.tasks - less.tasks, [0, 1 / 3, 0], atol=ROUGH)
    assert np.isnan(fa.sensitivity(chosen).down).all()


# ---- capacities of 0 --------------------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("item", "parameters"), [("lmmf", {}), ("drfh", {}), ("nb", {}), ("ps-dsf", {}), ("alpha-pf-vds", {"alpha": 2})]
)
def test_a_capacity_of_0_has_a_right_derivative(item, parameters):
    """A server that only user 1 would use: its share of what is added is one task for each unit."""
    instance = Instance([[1, 1], [1, 0]], [[4, 4], [3, 0]], eligible=[[True, True], [True, False]])
    allocation = solve(instance, item, accuracy="high", **parameters)
    found = fa.sensitivity(allocation)
    assert not found.reason
    assert np.isnan(found.down[:, 1, 1]).all()
    more = instance.replace(capacities=[[4, 4], [3, 1e-4]])
    moved = solve(more, item, accuracy="high", **parameters)
    np.testing.assert_allclose(found.up[:, 1, 1], (moved.tasks - allocation.tasks) / 1e-4, atol=ROUGH)
    assert found.up[0, 1, 1] > 0


def test_steps_from_0_are_short_beside_what_is_there():
    """By hand: u2 runs (1 + c) / (2 + c) tasks. A step of 1e-4 of the 1,000 of a server of u3 alone was taken for a jump."""
    instance = Instance([[1, "1/2", 0, 0], [1, 0, 0, "1/2"], [1, 0, 1, 0]], [[1, 1, 0, 1], [0, 1, 0, 0], [1000, 0, 1000, 0]])
    found = fa.sensitivity(solve(instance, "tsf"))
    assert np.all(np.abs(found.up[:, 1, 0] - [3 / 4, 1 / 4, 0]) <= found.tolerance[:, 1, 0])


def test_a_basis_that_is_singular_in_rationals_is_not_taken_for_many_answers():
    instance = Instance(
        [[9], [1], ["12/7"]], [[0], ["3/7"]], counts=[2, 2], weights=[2, 4, "9/2"], eligible=[[1, 1], [0, 1], [1, 1]]
    )
    np.testing.assert_allclose(fa.sensitivity(solve(instance, "utilitarian")).up[:, 0, 0], [0, 0, 7 / 6], rtol=ROUGH)


def test_what_jumps_at_0_is_said():
    """With any memory at all, user 1 could use the pool alone: its share, and so its tasks, change at once."""
    instance = Instance([[1, 1], [1, 0]], [[4, 4], [9, 0]])
    found = fa.sensitivity(solve(instance, "tsf"))
    assert np.isfinite(found.up[:, 1, 1]).all() or "jump" in found.reason
    assert np.isnan(found.down[:, 1, 1]).all()


def test_capacities_too_small_for_the_coefficients_of_a_solver():
    found = fa.sensitivity(solve(Instance([[1, 2], [2, 1]], [["9e-200", "9e-200"]]), "utilitarian"))
    np.testing.assert_allclose(found.up[:, 0], np.array([[-1, 2], [2, -1]]) / 3)


def test_a_frame_and_a_table():
    pytest.importorskip("pandas")
    allocation = solve(generators.generic(3, 2, 2), "drfh")
    found = fa.sensitivity(allocation)
    frame = found.to_frame()
    names = allocation.instance
    assert frame.loc[names.servers[1], names.resources[0], names.users[2]]["up"] == found.up[2, 1, 0]
    assert set(frame["how"]) == {"rationals"}
    assert all(name in str(found) for name in (*names.users, *names.servers, "rationals"))


def test_bad_calls_are_one_sentence():
    pool = Instance([[1]], [[4]])
    with pytest.raises(InstanceError, match="must be an Allocation"):
        fa.sensitivity([1.0])
    with pytest.raises(InstanceError, match="sensitivity needs an allocation with a point"):
        fa.sensitivity(fa.Allocation(pool, [np.nan]))
    with pytest.raises(InstanceError, match="the allocation names no mechanism"):
        fa.sensitivity(fa.Allocation(pool, [4.0]))
    assert fa.sensitivity(fa.Allocation(pool, [4.0]), "lmmf").up[0, 0, 0] == pytest.approx(1)


@pytest.mark.skipif(not time_limits.AVAILABLE, reason="no child processes here")
def test_what_is_known_at_the_time_limit_is_kept(monkeypatch):
    """Linear algebra and rationals look at no clock: a limit of 1 s took 28 s on 471 users and 67 servers."""
    pool = solve(Instance([[1, 0], [0, 1]], [[6, 4]]), "lmmf")
    first, endless = differences.Neighbours.exact_sides, iter(int, 1)
    monkeypatch.setattr(
        differences.Neighbours, "exact_sides", lambda self, j, *more: any(endless) if j else first(self, j, *more)
    )
    found = fa.sensitivity(pool, time_limit=0.5)
    assert found.up[:, 0, 0].tolist() == [1, 0]
    assert np.isnan(found.up[:, 0, 1]).all()
    assert "Not all derivatives are known: the work was ended before." in str(found)


def test_no_time_is_said():
    found = fa.sensitivity(solve(Instance([[1, 1]], [[4, 4]]), "lmmf"), time_limit=1e-9)
    assert np.isnan(found.up).all()
    assert found.reason


def test_no_number_is_broken_where_there_are_many_users(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = fa.sensitivity(solve(Instance([[1, 2 + k / 7] for k in range(12)], [[9, 12]]), "nb"))
    text = str(found)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line for line in lines if line.startswith("server")]
    assert len(heads) > 1
    assert " ".join(heads).split().count("u12") == 1
    assert {word for line in lines if line.startswith("s1") for word in line.split()} >= {f"{found.up[11, 0, 1]:.4g}"}
    assert "e-1" not in text


# ---- the active set alone ---------------------------------------------------------------------------------------------


ACTIVE = [
    ("nb", {}, {"weights": [1, 2, 3, 1]}),
    ("nb", {}, {"max_tasks": [1, None, None, None]}),
    ("fds", {"alpha": 2}, {}),
    ("alpha-fair", {"alpha": 0.5, "share": "dominant-share"}, {}),
    ("alpha-pf-vds", {"alpha": 3}, {"weights": [1, 2, 3, 1]}),
    ("alpha-pf-vds", {"alpha": 0.5, "B": 1}, {}),
    ("ps-dsf-tdm", {}, {"weights": [1, 2, 3, 1]}),
]


@pytest.mark.parametrize(("item", "parameters", "changed"), ACTIVE)
def test_the_active_set_alone_gives_the_derivatives(item, parameters, changed):
    """On both sides, without the answers next to it that would confirm or replace them."""
    allocation = solve(generators.generic(4, 2, 2, 2).replace(**changed), item, accuracy="high", **parameters)
    found, home = derivatives_by_active_set(allocation, fa.mechanism(item, **parameters)), allocation.instance
    for j, capacity in enumerate(home.capacities.ravel()):
        for side, sign in zip(found, (1, -1), strict=True):
            expected = quotients(allocation, *divmod(j, home.R), sign, Fraction(1, 10**4), follow=True, accuracy="high")
            assert np.abs(side[:, j] - expected).max() * capacity <= ROUGH * allocation.tasks.max()


@pytest.mark.parametrize(("item", "parameters"), [("nb", {}), ("alpha-pf-vds", {"alpha": 2}), ("ps-dsf", {}), ("ps-dsf-tdm", {})])
def test_the_active_set_by_hand(item, parameters):
    """Of one resource, users below their limits share what is added by weight; a limit that costs nothing leaves it open."""
    own, pool = fa.mechanism(item, **parameters), Instance([[1], [2], [1]], [[10]], weights=[1, 3, 4], max_tasks=[None, None, 1])
    found = derivatives_by_active_set(solve(pool, own, accuracy="high"), own)
    np.testing.assert_allclose(found[:, :, 0], [[1 / 4, 3 / 8, 0]] * 2, atol=ROUGH**2)
    at_once = pool.replace(max_tasks=[None, None, 5])  # its part, without the limit
    assert derivatives_by_active_set(solve(at_once, own, accuracy="high"), own) is None


def test_what_errors_of_answers_leave_of_0_is_0():
    """u2 is held by the last capacity alone; its tasks are known to 1e-6, and solved again with floors to 1e-9."""
    held = Instance([[[0, 1, 3], [2, 1, 3]], [[1, 0, 1]]], [[1, 1, 2], [1, 0, 0]])
    found = fa.sensitivity(solve(fa.with_own_time(held), "nb"))
    assert found.up[:, 0, 0].tolist() == [0, 0]
    assert found.up[1, 0, 2] == 0
    np.testing.assert_allclose(found.up[0, 0, 2], 1 / 3, rtol=1e-3)
    floors = Instance([[3, 2, 0], [3, 1, 2]], [[2, 4, 6], [3, 2, 2]], min_tasks=[0, "1/4"])
    found = fa.sensitivity(solve(floors, "nb"))
    known = np.abs(found.up[np.isfinite(found.up)])
    assert known.max() > 0.1
    assert not np.any((known > 0) & (known < 1e-5))


@pytest.mark.parametrize(("how", "shown"), [("differences", "1"), ("active set", "0.9996"), ("rationals", "0.9996")])
def test_differences_have_no_digits_behind_their_tolerance(how, shown):
    known = fa.sensitivity(solve(Instance([[1, 0], [0, 1]], [[6, 4]]), "lmmf"))
    same = {name: np.full(known.up.shape, value) for name, value in (("up", 0.99962), ("down", 0.99962), ("tolerance", 1e-3))}
    found = replace(known, **same, how=np.full(known.how.shape, how))
    assert {cell for row in found.grid().rows for cell in row[4:]} == {shown}


def test_what_a_solver_leaves_of_no_tasks_is_none():
    """Clarabel gives u2, who runs nothing, 1e-13 tasks."""
    instance = Instance([[1, 4], [3, 1], [2, 2]], [[9, 18], [5, 6]])
    found, exact = (fa.sensitivity(solve(instance, "utilitarian", method)) for method in ("cvxpy:clarabel", "exact"))
    np.testing.assert_array_equal(found.up, exact.up)
    assert not found.reason


def test_the_id_of_an_answer_stands_for_its_parameters_everywhere():
    """`explain` and `sensitivity` read those of the default, as `check` and `certify` did not: alpha = 2 has other tasks."""
    answer = fa.solve(fa.example("khamse-fig3").instance, "alpha-pf-vds", alpha=3)
    assert fa.explain(answer, "alpha-pf-vds").to_dict() == fa.explain(answer).to_dict()
    np.testing.assert_array_equal(fa.sensitivity(answer, "alpha-pf-vds").up, fa.sensitivity(answer).up)
    assert fa.certify(answer, "alpha-pf-vds")
    assert fa.check(answer, "alpha-pf-vds")
    with pytest.raises(fa.NotApplicable, match="cannot be explained by 'alpha-pf-vds': the residual"):
        fa.explain(answer, fa.mechanism("alpha-pf-vds"))


@pytest.mark.parametrize("name", ["nb", "ps-dsf"])
def test_large_active_sets_are_left_to_differences(monkeypatch, name):
    allocation = solve(generators.generic(5, 2, 2, 1), name)
    known = fa.sensitivity(allocation)
    monkeypatch.setattr(active_set, "LARGEST", 1)
    found = fa.sensitivity(allocation)
    if name == "nb":
        assert (set(known.how.flat), set(found.how.flat)) == ({"active set"}, {"differences"})
        np.testing.assert_allclose(found.up, known.up, atol=ROUGH)
    else:
        assert "too large" in found.reason


def test_the_text_of_many_derivatives_has_the_first_and_says_how_many_are_left_out():
    """120,000 derivatives took 79 s and 24,120 lines."""
    pool = Instance(np.ones((30, 1)), np.ones((25, 1)), users=[f"ann{n}" for n in range(30)])
    found = fa.sensitivity(fa.Allocation(pool, np.ones(750) / 30), "lmmf", time_limit=1e-9)
    text = str(found)
    assert "ann19" in text
    assert "ann20" not in text
    assert "... and 10 more users: to_dict and --format json have all" in text
    assert "... and 5 more rows" in text
    assert len(found.to_dict()["capacities"][24]["more"]) == len(found.grid().columns) - 4 == 30
