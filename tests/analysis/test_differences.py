"""Derivatives where numbers are far apart, in other units, and where answers next to the allocation do not confirm them."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from tolerances import ROUNDING

import fairalloc as fa
from fairalloc.analysis.differences import Neighbours, moved, slopes
from fairalloc.formulations.common.tasks import cvxpy_tasks
from fairalloc.models import Instance, NotApplicable
from fairalloc.solvers import solve
from fairalloc.solvers.exact.many_digits import many_digits
from fairalloc.solvers.method import Limits

STATED = 1e-3
"""What a derivative in floating point may be off, relative: CHECK of analysis/differences.py."""

FAR = 1e-6
"""What was seen of that where capacities differ 1e8-fold."""

RULES = ["drfh", "lmmf", "tsf", "nb", "ps-dsf", "ps-dsf-tdm", ("alpha-pf-vds", 2), ("alpha-pf-vds", 0.5), "utilitarian"]
ELIGIBLE = [[True, True], [False, True]]


def asked(rule):
    return (rule, {}) if isinstance(rule, str) else (rule[0], {"alpha": rule[1]})


def answer(instance, rule):
    item, parameters = asked(rule)
    return solve(instance, item, accuracy="high", **parameters)


# ---- numbers that are far apart ---------------------------------------------------------------------------------------


@pytest.mark.few(7)
@pytest.mark.parametrize("ratio", [1e-8, 1e4, 1e8])
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "utilitarian"])
def test_capacities_far_apart(rule, ratio):
    """Two users share what the servers have, as long as the server that both may use is the larger one."""
    found = fa.sensitivity(answer(Instance([[1], [1]], [[1], [ratio]], eligible=ELIGIBLE), rule))
    right = [[0.5, 0.5], [0.5, 0.5]] if ratio > 1 else [[1, 0], [0, 1]]
    for side in (found.up, found.down):
        np.testing.assert_allclose(side[:, :, 0], right, atol=FAR)


@pytest.mark.parametrize("rule", ["drfh", "lmmf", "nb", ("alpha-pf-vds", 2)])
def test_counts_far_apart(rule):
    """A unit on each of 10,000 identical servers is 10,000 units."""
    instance = Instance([[1], [1]], [[1], [1]], counts=[1, 10_000], eligible=ELIGIBLE)
    found = fa.sensitivity(answer(instance, rule))
    np.testing.assert_allclose(found.up[:, :, 0], [[0.5, 5000], [0.5, 5000]], rtol=FAR)
    np.testing.assert_allclose(found.down, found.up, rtol=FAR)
    assert "5000" in str(found)


@pytest.mark.few(2)
@pytest.mark.parametrize("ratio", [1e-6, 1e6])
@pytest.mark.parametrize("item", ["nb", "fds"])
def test_weights_and_demands_far_apart(item, ratio):
    """One resource: each user has its part of the money, or for alpha = 2 the part in proportion to the root of the weight."""
    pool = Instance([[1], [ratio]], [[3]], weights=[1, ratio])
    found = fa.sensitivity(answer(pool, ("fds", 2) if item == "fds" else "nb"))
    part = np.array([1, ratio]) / (1 + ratio)
    np.testing.assert_allclose(found.up[:, 0, 0], part / [1, ratio], rtol=STATED)
    np.testing.assert_allclose(found.down, found.up, rtol=STATED)


def test_limits_far_apart():
    """User 1 runs all it asked for, a millionth of what user 2 does."""
    found = fa.sensitivity(answer(Instance([[1], [1]], [[10]], max_tasks=["1/100000", None]), "nb"))
    np.testing.assert_allclose(found.up[:, 0, 0], [0, 1], atol=ROUNDING)


def apart(seed, counted=False):
    """Up to 5 users on up to 3 servers, or kinds of servers, whose numbers differ up to 1e6-fold."""
    rng = np.random.default_rng(seed)
    N, K, R = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    far = float(rng.choice([1, 3, 6])) / 2
    eligible = rng.random((N, K)) < 0.6
    eligible[np.arange(N), rng.integers(0, K, N)] = True
    demands, capacities, weights = (10.0 ** rng.uniform(-far, far, shape) for shape in ((N, R), (K, R), N))
    counts = rng.integers(1, 1000, K).tolist() if counted else None
    return Instance(demands.tolist(), capacities.tolist(), weights=weights.tolist(), eligible=eligible.tolist(), counts=counts)


def pooled(instance):
    return Instance([d[0] for d in instance.demands], instance.capacities[:1], weights=instance.weights)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(16))
def test_what_a_capacity_adds_is_its_price(seed):
    """nb: sum_n w_n du_n / u_n = p dc, and with all capacities t times as large so are all tasks."""
    instance = apart(seed)
    allocation = answer(instance, "nb")
    found = fa.sensitivity(allocation)
    prices = fa.market(allocation).prices
    for side in (found.up, found.down):
        gain = np.einsum("n,nir->ir", instance.weights / allocation.tasks, side)
        allowed = np.einsum("n,nir->ir", instance.weights / allocation.tasks, found.tolerance)
        assert np.all(np.abs(gain - prices) <= allowed)
        np.testing.assert_allclose(np.einsum("ir,nir->n", instance.capacities, side), allocation.tasks, rtol=STATED)


def right_tasks(instance, rule):
    """In rationals, or to 18 digits for nb and fds."""
    item, parameters = asked(rule)
    if item not in ("nb", "fds"):
        return solve(instance, item, "exact").tasks_exact
    return many_digits(fa.mechanism(item).configure(**parameters), instance, Limits()).tasks


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(100, 106))
@pytest.mark.parametrize("rule", ["drfh", "lmmf", "tsf", "ps-dsf", "nb", ("fds", 0.5)])
def test_what_is_stated_is_what_two_answers_in_rationals_show(rule, seed):
    """Every stated derivative, against exact answers at a capacity that is a small part larger or smaller, servers counted."""
    instance = pooled(apart(seed)) if rule[0] == "fds" else apart(seed, counted=True)
    curved = isinstance(rule, tuple) or rule == "nb"  # the quotient is off by about h, and answers to 18 digits need a longer one
    h = Fraction(1, 10**5 if curved else 10**7)
    found, base = fa.sensitivity(answer(instance, rule)), right_tasks(instance, rule)
    stated = 0
    for i, r in np.argwhere(np.isfinite(found.up).all(axis=0) & np.isfinite(found.down).all(axis=0)):
        for side, step in ((found.up, h), (found.down, -h)):
            changed = [list(row) for row in instance.exact.capacities]
            changed[i][r] *= 1 + step
            there = right_tasks(instance.replace(capacities=changed), rule)
            unit = step * instance.exact.capacities[i][r]
            right = np.array([float((v - u) / unit) for u, v in zip(base, there, strict=True)])
            assert np.all(np.abs(side[:, i, r] - right) <= found.tolerance[:, i, r] + STATED * np.abs(right))
            stated += 1
    assert stated


@pytest.mark.few(1)
@pytest.mark.parametrize("rule", [*RULES, ("fds", 2)])
def test_other_units_change_nothing_else(rule):
    """Resources and tasks in other units, and derivatives in these."""
    rng = np.random.default_rng(1)
    instance = apart(7)
    assert (instance.K, instance.R) == (2, 2)
    if rule == ("fds", 2):
        instance = pooled(instance)
    resource = 10.0 ** rng.integers(-4, 5, instance.R)
    task = np.ones(instance.N) if rule in ("lmmf", "utilitarian") else 10.0 ** rng.integers(-4, 5, instance.N)
    demands = np.array([d[0] for d in instance.demands]) * resource / task[:, None]
    other = instance.replace(demands=demands, capacities=instance.capacities * resource)
    one, two = (fa.sensitivity(answer(each, rule)) for each in (instance, other))
    assert np.isfinite(one.up).any()
    for a, b in ((one.up, two.up), (one.down, two.down)):
        unit = (task[:, None] / resource)[:, None]
        np.testing.assert_allclose(b, a * unit, rtol=STATED, atol=0 if isinstance(rule, str) else ROUNDING)


# ---- what answers next to it do not confirm ---------------------------------------------------------------------------


class Capped(fa.Mechanism):
    """As much as possible, but no task beyond a limit of its own: the tasks have a kink there."""

    id = "capped"
    unique = True

    def __init__(self, most):
        self.most = most

    def write_cvxpy(self, instance):
        import cvxpy as cp

        x, constraints = cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [*constraints, x <= self.most])


def test_a_mechanism_of_ones_own_that_is_unique_has_derivatives():
    found = fa.sensitivity(solve(Instance([[2]], [[1]]), Capped(10)))
    assert found.how[0, 0] == "differences"
    np.testing.assert_allclose([found.up[0, 0, 0], found.down[0, 0, 0]], 0.5, rtol=STATED)
    explained = fa.explain(solve(Instance([[2]], [[1]]), Capped(10)))
    assert explained.sentences[-1].kind == "effect"
    assert "u1 by +0.5" in explained.sentences[-1].text


def test_a_kink_is_one_sided():
    found = fa.sensitivity(solve(Instance([[1]], [[1]]), Capped(1)))
    np.testing.assert_allclose([found.up[0, 0, 0], found.down[0, 0, 0]], [0, 1], atol=STATED)
    assert not np.isfinite(found.two_sided).any()
    assert "more" in str(found)
    assert "less" in str(found)


@pytest.mark.parametrize("near", [2e-5, 5e-6])
def test_a_kink_that_is_too_near_is_not_known(near):
    """It is between the capacity and all that is solved: a line through two answers would not see it, a parabola does."""
    found = fa.sensitivity(solve(Instance([[1]], [[1]]), Capped(1 + near)))
    assert np.isnan(found.up[0, 0, 0])
    np.testing.assert_allclose(found.down[0, 0, 0], 1, atol=STATED)
    assert found.reason == "r1 on s1: answers next to the allocation do not confirm one"
    assert "not known" in str(found)
    assert found.to_dict()["capacities"][0]["more"] == {"u1": None}


def test_a_kink_nearer_than_answers_are_known_is_not_seen():
    """The derivative beyond it is stated, within its tolerance."""
    found = fa.sensitivity(solve(Instance([[1]], [[1]]), Capped(1 + 5e-7)))
    np.testing.assert_allclose([found.up[0, 0, 0], found.down[0, 0, 0]], [0, 1], atol=STATED)


@pytest.mark.parametrize("near", ["1e-8", "1e-10", "1e-15"])
def test_a_kink_between_steps_is_seen_in_rationals(near):
    """1e-10 from it 0.025 had been stated, the mean of 0.5 before the kink and 0 behind it, within 5e-9."""
    tied = Instance([[1, 1], [1, 1]], [[2, 2 + Fraction(near)]])
    found = fa.sensitivity(solve(tied, "drfh"))
    np.testing.assert_allclose([found.up[0, 0], found.down[0, 0]], [[0.5, 0], [0.5, 0]], atol=ROUNDING)
    at_it = fa.sensitivity(solve(Instance([[1, 1], [1, 1]], [[2, 2]]), "drfh"))
    np.testing.assert_allclose([at_it.up[0, 0], at_it.down[0, 0]], [[0, 0], [0.5, 0.5]], atol=ROUNDING)


def test_a_mechanism_that_does_not_say_it_is_unique_has_none():
    class Any(Capped):
        unique = False

    found = fa.sensitivity(solve(Instance([[1]], [[1]]), Any(1)))
    assert np.isnan(found.up).all()
    why = "(an edit or a mechanism of one's own may declare unique = True)"
    assert found.reason == f"the tasks of 'capped' are not unique in general {why}"


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_an_edit_has_the_derivatives_of_its_own_program_and_no_certificate(name):
    """Here it is its base with a limit."""

    def cap(problem, instance):
        most = instance.arcs.owner[[0]] @ problem.var_dict["x"] <= 6
        return cp.Problem(problem.objective, [*problem.constraints, most])

    instance = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    capped = fa.mechanism(name).edited("capped", cvxpy=cap)
    capped.unique = True
    allocation = solve(instance, capped)
    own, limited = fa.sensitivity(allocation), fa.sensitivity(solve(instance.replace(max_tasks=[6, None]), name))
    np.testing.assert_allclose([own.up, own.down], [limited.up, limited.down], atol=STATED)
    why = f"it is an edit of {name!r}, and no proof in rationals is about an edited model"
    assert str(fa.certify(allocation)) == f"capped: not certified: {why}"


def test_tasks_that_are_not_the_answer_have_none():
    pool = Instance([[1], [1]], [[4]])
    for item in ("nb", "lmmf"):
        found = fa.sensitivity(fa.Allocation(pool, [2, 1.9]), item)
        assert np.isnan(found.up).all()
        assert found.reason == f"solved again, {item!r} gives user 'u2' 2 tasks instead of 1.9"
    assert not fa.sensitivity(fa.Allocation(pool, [2, 1.999]), "nb").reason


@pytest.mark.parametrize("wrong", [0.0, 1.02, -1.0])
def test_a_wrong_derivative_is_not_confirmed(wrong):
    allocation = answer(Instance([[1, 4], [3, 1]], [[9, 18]]), "nb")
    right = fa.sensitivity(allocation)
    near = Neighbours(allocation, fa.mechanism("nb"), np.inf, False)
    known = np.array([right.up[:, 0, 0], right.down[:, 0, 0]])
    np.testing.assert_array_equal(near.checked_sides(0, known), known)
    assert np.isnan(near.checked_sides(0, wrong * known)).all()


def test_the_mean_of_two_sides_is_not_confirmed():
    allocation = solve(Instance([[1]], [[1]]), Capped(1))
    near = Neighbours(allocation, Capped(1), np.inf, False)
    assert np.isnan(near.checked_sides(0, np.full((2, 1), 0.5))).all()


def test_a_jump_at_a_capacity_of_0_is_said():
    """A share of one's own that counts the servers with memory changes at once."""
    rule = fa.Leximin("by-servers", lambda instance: np.array([1.0, 1.0 + np.count_nonzero(instance.capacities[:, 1])]))
    found = fa.sensitivity(solve(Instance([[1, 0], [1, 0]], [[4, 4], [3, 0]]), rule))
    assert np.isnan(found.up[:, 1, 1]).all()
    assert found.reason == "r2 on s2: the tasks jump, or have no finite derivative, where a capacity of 0 grows"
    with pytest.raises(NotApplicable, match="jump"):
        Neighbours(found.allocation, rule_in_rationals(rule), np.inf, True).exact_sides(3)


def rule_in_rationals(rule):
    from fractions import Fraction

    return fa.Leximin("exact", rule.share, exact_share=lambda instance: tuple(map(Fraction, rule.share(instance).tolist())))


# ---- in words ---------------------------------------------------------------------------------------------------------


def test_an_explanation_has_the_derivatives_of_far_capacities():
    allocation = answer(Instance([[1], [1]], [[1], [10_000]], eligible=ELIGIBLE), "nb")
    effects = [s for s in fa.explain(allocation).sentences if s.kind == "effect"]
    assert [s.text for s in effects] == [
        f"r1 on {server} is full: to first order, a unit more changes u1 by +0.5 and u2 by +0.5 tasks, a unit less the opposite."
        for server in ("s1", "s2")
    ]


def test_prices_of_servers_far_apart_are_named():
    explained = fa.explain(answer(Instance([[1], [1]], [[1], [10**10]], eligible=ELIGIBLE), "nb"))
    assert [p["server"] for p in explained.sentences[0].facts["prices"]] == ["s2", "s1"]


def test_an_explanation_says_what_is_not_known():
    explained = fa.explain(solve(Instance([[1], [1]], [[10]]), "utilitarian"))
    last = explained.to_dict()["sentences"][-1]
    assert last["text"] == (
        "What a little more or less of r1 on s1 changes is not known: "
        "the tasks of 'utilitarian' are not unique here, so they have no derivatives."
    )
    assert last["facts"]["capacities"][0]["changes"] == {u: {"more": None, "less": None} for u in ("u1", "u2")}


# ---- the rules alone, on quotients that are known -----------------------------------------------------------------------


class Curve(Neighbours):
    """Of two users with 2 tasks each and one capacity of 4, whose quotients are a function of the step."""

    def __init__(self, quotients, tasks=2.0):
        self.instance, self.tasks, self.quotients, self.asked = Instance([[1], [1]], [[4]]), np.full(2, tasks), quotients, []

    def _quotient(self, j, part):
        self.asked.append(part)
        return np.array(self.quotients(part), dtype=float)


UNKNOWN = np.full((2, 2), np.nan)


def test_the_limit_of_a_parabola_is_exact():
    found = Curve(lambda h: [0.5 + 3 * h + 2 * h**2, 0.25 - h]).checked_sides(0, UNKNOWN)
    np.testing.assert_allclose(found, [[0.5, 0.25]] * 2, rtol=ROUNDING)
    kink = Curve(lambda h: [0.5 + h, 0.25] if h > 0 else [0.25, 0.5 - h]).checked_sides(0, UNKNOWN)
    np.testing.assert_allclose(kink, [[0.5, 0.25], [0.25, 0.5]], rtol=ROUNDING)


@pytest.mark.parametrize(("off", "confirmed"), [(4e-4, True), (9e-4, True), (1.1e-3, False)])
def test_a_known_derivative_may_be_off_by_the_tolerance_of_two(off, confirmed):
    """By 1e-3 of 1/2 for each side; who is not confirmed does not take the other along."""
    known = np.array([[0.5 + off, 0.5], [0.5 + off, 0.5]])
    found = Curve(lambda h: [0.5 + 40 * h, 0.5]).checked_sides(0, known)
    np.testing.assert_array_equal(found, known if confirmed else [[np.nan, 0.5]] * 2)


def test_a_curve_is_confirmed_by_the_mean_of_its_halves_at_once():
    """A slope of 10 is 20 tolerances in each half; one of 20 is 40, and three quotients of each side are asked for."""
    known = np.full((2, 2), 0.5)
    for slope, count in ((10, 2), (20, 6 + 6)):
        curve = Curve(lambda h, slope=slope: [0.5 + slope * h, 0.5])
        np.testing.assert_array_equal(curve.checked_sides(0, known), known)
        assert len(curve.asked) == count
    off = known + np.array([4.9e-4, 0])
    near = Curve(lambda h: [0.5, 0.5])
    np.testing.assert_array_equal(near.checked_sides(0, off), off)
    assert len(near.asked) == 2
    far = Curve(lambda h: [0.5, 0.5])
    far.checked_sides(0, known + np.array([5.1e-4, 0]))
    assert len(far.asked) > 2, "one user is enough to look again"


@pytest.mark.parametrize(("error", "last", "found"), [(1e-8, 1e-3, True), (1e-7, 1e-2, True), (1e-6, None, False)])
def test_longer_steps_are_tried_where_answers_are_a_little_off(error, last, found):
    """Answers that are off by this part of a capacity make quotients off by it over the step, and the limit by 7 times that."""
    curve = Curve(lambda h: [0.5 + error / abs(h), 0.5])
    side = curve.checked_sides(0, UNKNOWN)[0]
    assert side[1] == 0.5
    assert side[0] == pytest.approx(0.5 + 7 * error / last if found else np.nan, rel=1e-9, nan_ok=True)


def test_steps_that_mean_next_to_nothing_are_left_out():
    """A user with 2e7 tasks, who could run 4 on this server: a step of 1e-3 is 2e-10 of them."""
    curve = Curve(lambda h: [0.5 + h, 0.5], tasks=2e7)
    curve.checked_sides(0, UNKNOWN)
    assert max(map(abs, curve.asked)) == 1e-2
    usual = Curve(lambda h: [0.5 + h, 0.5])
    usual.checked_sides(0, UNKNOWN)
    assert max(map(abs, usual.asked)) == 1e-3


def test_tolerances_of_derivatives_by_hand():
    """User 2 could run 2 of its 16 tasks on the first server, so a unit there means 1/8 of a user's tasks over 4."""
    curve = Curve(lambda h: [0, 0])
    np.testing.assert_allclose(curve.tolerance(0, np.array([0.0, 0.0])), [1e-3 * 2 / 4] * 2, rtol=ROUNDING)
    curve.instance, curve.tasks = Instance([[1], [2]], [[4], [100]]), np.array([2.0, 16.0])
    np.testing.assert_allclose(curve.tolerance(0, np.array([0.0, 3.0])), [1e-3 / 16, 3e-3], rtol=ROUNDING)
    np.testing.assert_allclose(curve.tolerance(1, np.array([0.0, 0.0])), [1e-3 * 2 / 100, 1e-3 * 16 / 100], rtol=ROUNDING)


def test_slopes_of_numbers_by_hand():
    """Of the least of c_1 and c_2 / 2 where both bind, and of 1 / c_1; a capacity of 0 has none, and grows by the largest one."""
    two = Instance([[1, 2]], [[4, 8]])
    up, down = slopes(two, lambda of: np.array([min(of.capacities[0] / [1, 2]), 1 / of.capacities[0, 0]]))
    np.testing.assert_allclose(up, [[0, 0], [-1 / 16, 0]], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(down, [[1, 1 / 2], [-1 / 16, 0]], rtol=1e-7, atol=1e-9)
    none = Instance([[1], [1]], [[4], [0], [6]])
    assert (slopes(none, lambda of: of.capacities.sum(axis=0))[:, 0] == 0).tolist() == [[False, True, False]] * 2
    assert moved(none, 1, 0.5).capacities.tolist() == [[4], [3], [6]]
    assert moved(none, 2, Fraction(-1, 3)).exact.capacities == ((4,), (0,), (4,))
