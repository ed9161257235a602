"""Floors: by hand on one resource, two layers, conflicts, prices, files, and refusals where a mechanism has no place for them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from tolerances import DEGENERATE, EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.analysis.certificates.certificate import parse_certificate
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.formulations.edited import Edited
from fairalloc.models import Allocation, FairallocError, Instance
from fairalloc.models.examples import generators
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.files.jsonio import fingerprint, instance_document, parse_instance
from fairalloc.solvers.catalogue.method_registry import methods_for
from fairalloc.solvers.judge import judged
from fairalloc.solvers.method import Limits

KEEPING = ("mmf", "drfh-lp", "utilitarian", "nb", "alpha-fair", "fds", "drfh", "lmmf", "tsf", "drf", "asset")
PAIR = Instance([[1], [4]], [[1]], min_tasks=[0, "1/8"])


def made(seed):
    """A small instance with floors that some allocation has: parts of what an equal partition runs."""
    random = np.random.default_rng(seed)
    one = getattr(generators, ("generic", "tied", "zero_demand", "placement")[seed % 4])(4, 2, 2, seed)
    part = fa.solve(one, "uniform").tasks * random.choice([0.0, 0.5, 0.9], one.N)
    scarce = random.integers(0, one.N)
    part[scarce] = 1.1 * fa.solve(one, "uniform").tasks[scarce]
    part[np.arange(one.N) != scarce] *= 0.8
    return one.replace(min_tasks=part.round(6).tolist(), weights=random.integers(1, 4, one.N).tolist())


@pytest.mark.parametrize(
    ("name", "given", "right"),
    [
        ("utilitarian", {}, [1 / 2, 1 / 8]),
        ("lmmf", {}, [1 / 5, 1 / 5]),
        ("drfh", {}, [1 / 2, 1 / 8]),
        ("alpha-fair", {"alpha": 0.5}, [1 / 2, 1 / 8]),
        ("alpha-fair", {"alpha": 2}, [1 / 3, 1 / 6]),
        ("alpha-fair", {"alpha": 0}, [1 / 2, 1 / 8]),
    ],
)
def test_a_floor_of_an_eighth(name, given, right):
    found = fa.solve(PAIR, name, **given)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, right, rtol=DEGENERATE)
    less = replace(found, x=found.x * np.array([1.0, 0.5]))
    assert infeasibility(less) == pytest.approx(1 - 4 * right[1], abs=1e-4), "half of it is below the floor"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "alpha"), [("lmmf", np.inf), ("nb", 1.0), ("alpha-fair", 2.0)])
def test_one_resource_is_divided_by_one_number(name, alpha, seed):
    """u_n = max(w_n / (lambda d_n)^(1 / alpha) up to a factor, floor): lambda by bisection."""
    random = np.random.default_rng(seed)
    d, w = random.uniform(0.5, 3, 5), random.integers(1, 4, 5).astype(float)
    floors = np.where(random.random(5) < 0.6, random.uniform(0.05, 0.2, 5) / d, 0.0)

    def tasks(level):
        return np.maximum(w * level * d ** (-1 / alpha), floors)

    level = brentq(lambda g: d @ tasks(g) - 1, 1e-6, 10)
    one = Instance(d[:, None], [[1]], weights=w, min_tasks=floors)
    found = fa.solve(one, name)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, tasks(level), rtol=1e-4)


def agree(name, seed):
    """CVXPY and Pyomo, with other solvers: for unique tasks these, else the objective; False where one claims nothing."""
    one, item = made(seed), mechanism(name)
    first, second = ("cvxpy:highs", "pyomo:highs") if item.linear else ("cvxpy:clarabel", "pyomo:ipopt")
    found, other = fa.solve(one, name, first), fa.solve(one, name, second)
    if not (found.claims_success and other.claims_success):
        return False
    assert infeasibility(found) <= RESIDUAL
    if item.unique:
        np.testing.assert_allclose(found.tasks, other.tasks, rtol=2e-3 if not item.linear else SHARES, err_msg=str(seed))
    assert item.values(found) == pytest.approx(item.values(other), rel=SHARES)
    return True


@pytest.mark.parametrize("name", ["utilitarian", "nb", "drfh"])
def test_two_layers_agree(name):
    assert agree(name, 1)


@pytest.mark.deep
@pytest.mark.parametrize("name", KEEPING)
def test_two_layers_agree_on_many(name):
    """Clarabel ends one program of fds at a residual of 1.02e-6, which it does not call optimal."""
    seeds = [seed for seed in range(60) if name not in ("fds", "drf") or made(seed).allowed is None]
    unclaimed = [seed for seed in seeds if not agree(name, seed)]
    assert len(unclaimed) <= (name == "fds"), unclaimed


@pytest.mark.parametrize("name", ["utilitarian", "nb", "drfh"])
def test_floors_that_nobody_can_have_are_named(name):
    """Of three floors two are too much together, and the third is in nobody's way."""
    one = Instance([[1, 0], [4, 0], [0, 1]], [[1, 1]], users=["ann", "bob", "eve"], min_tasks=[0.5, 0.2, 0.9])
    found = fa.solve(one, name)
    assert found.termination == "infeasible"
    assert "floor[ann], floor[bob]" in found.message
    assert "eve" not in found.message
    assert fa.solve(one.replace(min_tasks=[0.5, 0.1, 0.9]), name).claims_success


def test_explain_has_the_prices_of_floors():
    """One more task of the dear user costs four of the cheap one and brings one."""
    explained = fa.explain(fa.solve(PAIR, "utilitarian"))
    assert "floor[u2] (3)" in str(explained)
    assert [b["user"] for b in explained.sentences[0].facts["bindings"] if b["constraint"].startswith("floor")] == ["u2"]


def test_a_round_names_the_floor_that_leaves_others_without_tasks():
    """The floor of u3 takes all of r1 on s1 and of r2 on s2; nobody has more at s1, but u3, so it is no slack that is missed."""
    taken = Instance([["1/5", 1], [1, "1/5"], [1, 1]], [[2, 12], [12, 2]], min_tasks=[0, 0, 4])
    found = fa.solve(taken, "drfh", "cvxpy:highs")
    first = fa.explain(found).sentences[0]
    assert first.text.startswith("Round 1: u1 and u2 stop at the share 0.")
    duals = {b["constraint"]: b["dual"] for b in first.facts["bindings"]}
    assert duals["floor[u3]"] == pytest.approx((duals["r1 on s1"] + duals["r2 on s2"]) / 4, rel=RESIDUAL), (
        "what a task of u3 costs"
    )
    assert fa.check(found, "server-bottleneck-fairness").holds is None


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - set(KEEPING)))
def test_others_refuse_in_one_sentence(name):
    with pytest.raises(FairallocError, match=f"mechanism '{name}' knows no min_tasks, but user 'u2' has 0.125"):
        fa.solve(PAIR, name)


def test_a_floor_is_never_left_out():
    """Not in models, not by a method, not in certificates, nor by what judges an allocation."""
    assert [c.label for c in mechanism("nb").cvxpy(PAIR).constraints] == ["capacity", "floor"]
    assert [*mechanism("nb").pyomo(PAIR).floor] == ["u2"]
    with pytest.raises(FairallocError, match="does not compute 'nb' with floors:"):
        fa.solve(PAIR, "nb", "interior-point")
    with pytest.raises(FairallocError, match="knows no min_tasks"):
        mechanism("ps-dsf").cvxpy(PAIR)
    assert isinstance(mechanism("nb").kept(PAIR), Edited)
    assert len(fa.solve_many([PAIR, PAIR], "lmmf")) == 2
    np.testing.assert_allclose(fa.solve_many([PAIR, PAIR], "drfh")[1].tasks, [0.5, 0.125], rtol=EXACT)


CERTIFIED = [name for name in KEEPING if name not in ("nb", "alpha-fair", "fds")]


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", CERTIFIED)
def test_answers_with_floors_are_proved_in_rationals(name, seed):
    """The answer by a solver is the one in rationals, whose certificate knows floors and no other instance."""
    instance = made(seed)
    if name == "drf":
        instance = instance.replace(eligible=None)
    allocation = fa.solve(instance, name)
    found = fa.certify(allocation)
    assert found, str(found)
    assert parse_certificate(found.document()).verify(instance)
    more = instance.replace(min_tasks=(allocation.tasks * 1.01 + 0.01).tolist())
    assert not found.verify(more), "an allocation below a floor is certified"


@pytest.mark.parametrize("name", ["lmmf", "mmf", "utilitarian"])
def test_a_certificate_with_a_wrong_number_is_refused(name):
    right = fa.certify(fa.solve(PAIR, name))
    assert right.verify(PAIR)
    lower = replace(right, x=(right.x[0] * Fraction(9, 10), right.x[1]))
    assert not lower.verify(PAIR), "the first user misses a tenth"
    without = fa.certify(fa.solve(PAIR.replace(min_tasks=None), "utilitarian"))
    assert not without.verify(PAIR), "nothing is left for the floor"


def test_a_certificate_of_a_max_min_program_proves_no_more_than_that():
    """Rounds after the first were not read, and made it the certificate of a lexicographic answer."""
    instance = fa.Instance([[1], [1], [1]], [[10]], min_tasks=[6, 0, 0], max_tasks=[None, None, 1])
    right = fa.certify(fa.solve(instance, "mmf"))
    (part,) = right.rounds
    assert right.verify(instance)
    for rounds in ((part, replace(part, nodes=(0, 1, 2))), (part, part), (replace(part, nodes=()),)):
        assert not replace(right, rounds=rounds).verify(instance)


def test_a_rule_with_floors_has_an_answer_in_rationals():
    found = fa.solve(PAIR, "lmmf", "exact")
    assert found.tasks_exact == (Fraction(1, 5), Fraction(1, 5))
    assert found.termination == "optimal"
    assert found.residual < EXACT
    wrong = judged(mechanism("lmmf"), replace(found, x=found.x * np.array([0.9, 1.0]), x_exact=None), Limits())
    assert wrong.residual > 0.05


@pytest.mark.parametrize("claim", ["infeasible", "unbounded"])
def test_what_a_solver_calls_impossible_is_looked_at_in_rationals(claim):
    """Where an allocation has all floors the word is an error, where none has it stays."""
    for instance, word in ((PAIR, "error"), (PAIR.replace(min_tasks=[1, 1]), claim)):
        said = Allocation(instance, np.full(2, np.nan), mechanism="nb", method="cvxpy:scs", termination=claim)
        assert judged(mechanism("nb"), said, Limits()).termination == word


def test_numbers_far_apart_do_not_hide_a_wrong_user():
    """A task of u3 costs the others next to nothing, so the program hardly sees that it has too many."""
    million, least = 10**6, Fraction(1, 10**6)
    far = Instance([[million] * 3, [million, 1, million], [least, 1, least]], [[1, 1, 8], [2, 9, 3]], min_tasks=[0, 0, "1/10"])
    found = fa.solve(far, "lmmf")
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, [1.49999995e-6, 1.49999995e-6, 0.1], rtol=1e-6)
    more = replace(found, x=found.x * np.array([1, 1, 1, 1, 1.9, 1.9]), x_exact=None, method="cvxpy:clarabel")
    assert not judged(mechanism("lmmf"), more, Limits()).claims_success


def test_derivatives_where_a_floor_does_not_bind_are_those_without_it():
    """The tasks of a rule with floors are unique, too."""
    one = Instance([[1, 2], [1, 1]], [[10, 10]])
    found, free = (fa.sensitivity(fa.solve(each, "drfh", accuracy="high")) for each in (one.replace(min_tasks=[2, 1]), one))
    np.testing.assert_allclose(found.up, free.up, atol=1e-4)
    np.testing.assert_allclose(found.up[:, 0, 1], [0.375, 0.25], atol=1e-4)


def test_nb_with_floors_has_no_certificate_and_says_so():
    assert "with floors" in fa.certify(fa.solve(PAIR, "nb")).reason


def test_floors_in_instances_and_files():
    assert PAIR.min_tasks.tolist() == [0, 0.125]
    assert parse_instance(instance_document(PAIR)) == PAIR
    plain = PAIR.replace(min_tasks=None)
    assert plain != PAIR
    assert fingerprint(plain) != fingerprint(PAIR)
    assert "min_tasks" not in str(instance_document(plain))
    assert Instance({"ann": [1], "bob": [2]}, [[3]], min_tasks={"bob": 1}).min_tasks.tolist() == [0, 1]
    assert PAIR.rescaled(PAIR.weights, np.array([1.0, 0.5])).min_tasks.tolist() == [0, 0.25]
    with pytest.raises(FairallocError, match="min_tasks of user 'u1' is -1, but it must not be negative"):
        PAIR.replace(min_tasks=[-1, 0])
    with pytest.raises(FairallocError, match="min_tasks of user 'u2' is 3, but it must be at most max_tasks, 2"):
        PAIR.replace(min_tasks=[0, 3], max_tasks=[1, 2])


def test_floors_beside_rates_do_not_ask_for_rationals():
    """Where the first method missed the accuracy, the second was `exact`, whose refusal was the end of the solve."""
    rates = [[2, 0, 1], [0, 2, 1], ["1/2", 1, "1/2"], [1, 0, 2], [2, 2, 1], [2, "1/2", "1/2"], [1, "1/2", 0]]
    demands, floors = [["1/5"], [3], [1], [1], [1], [3], ["1/5"]], [0, "20/3", 0, 0, 24, "64/9", 0]
    eligible = [[1, 1, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]
    weights = [2, 3, 2, 1, "1/2", "1/2", 3]
    one = Instance(demands, [[12], [20], [60]], weights=weights, rates=rates, eligible=eligible, min_tasks=floors)
    assert "exact" not in [method.id for method in methods_for(mechanism("lmmf"), one)]
    with pytest.raises(fa.NotApplicable, match="with floors, proofs need one demand vector for each user, the same on all"):
        fa.solve(one, "lmmf", "exact")
    found, other = (fa.solve(one, "lmmf", method) for method in (None, "pyomo:highs"))
    assert found.claims_success
    assert found.tasks == pytest.approx(other.tasks, abs=1e-5)


@pytest.mark.parametrize("name", ["utilitarian", "nb", "drfh"])
def test_floors_that_miss_a_capacity_by_little_are_named(name):
    """A point that a solver called inaccurate was taken for one that has all floors, and none was named."""
    over = "23900239/1600000"  # 1e-5 more than there is
    close = Instance(
        [[3, 0, 1], [2, "5/2", "1/5"], ["1/5", 2, 1], [1, 0, 2], [2, 3, 3], [1, 2, "5/2"]],
        [[4, 4, 9], [9, 12, 12], [6, 0, 6]],
        counts=[1, 5, 2],
        weights=["1/2", 3, "1/2", 1, 1, "1/2"],
        max_tasks=[2, "1/2", None, 1, 1, None],
        min_tasks=[2, "1/2", over, 1, 1, over],
    )
    found = fa.solve(close, name)
    assert found.termination == "infeasible"
    assert "these constraints contradict each other: floor[u2], floor[u3], floor[u5], floor[u6]; without" in found.message


def test_rationals_say_of_floors_that_contradict_each_other_what_others_say():
    """It was an error about guarantees of groups, which nobody gave."""
    for name in ("drfh", "utilitarian"):
        found = fa.solve(Instance([[1], [4], [1]], [[1]], min_tasks=[0.5, 0.2, 0]), name, "exact")
        assert found.termination == "infeasible"
        assert "these constraints contradict each other: floor[u1], floor[u2]" in found.message


@pytest.mark.parametrize(
    ("name", "right"), [("mmf", [2e9 / 9, 2e9 / 9, 2e9 / 9]), ("drfh-lp", [8e8 / 3, 2e8, 2e8]), ("utilitarian", [4e8, 4e8, 0])]
)
def test_programs_with_floors_have_an_answer_where_servers_are_far_apart(name, right):
    """No solver in floating point has one."""
    small, large = [[0.003, 0.002, 0.001, 0.004], ["3e-8", "3e-8", "1e-8", "2e-7"]], [2e9, 2e9, 4e9, 2e9]
    far = Instance([[1, 3, 4, 3], [4, 1, 2, 2], [2, 1, 4, 4]], [*small, large], min_tasks=["1/12000", 0, 0])
    found = fa.solve(far, name)
    assert found.claims_success
    assert found.tasks == pytest.approx(right)


@pytest.mark.parametrize("name", ["mmf", "drfh-lp", "utilitarian"])
def test_programs_with_floors_in_rationals_are_those_of_other_methods(name):
    one = Instance([[1, 3], [400, 100], [2, 2]], [[10, 20], [5, 5]], weights=[1, 2, 3], min_tasks=[0, 0.005, 0.1])
    exact, other = (fa.solve(one, name, method, accuracy="high") for method in ("exact", "cvxpy:clarabel"))
    assert (exact.termination, exact.user_error) == ("optimal", None)
    assert exact.x_exact is not None
    assert exact.residual < EXACT
    assert exact.values == pytest.approx(other.values)
    np.testing.assert_allclose(exact.prices, other.prices, atol=1e-9)


@pytest.mark.parametrize("name", ["nb", "alpha-fair", "fds"])
def test_floors_that_leave_a_user_nothing_are_refused_by_rules_that_give_everybody_some(name):
    """One answer of nb was "optimal" with 4e-8 tasks, and other calls tried every method in turn."""
    sentence = f"{name} gives every user some tasks, but beside the floors user 'u2' can have none"
    full = fa.Instance([[1], [2], [1]], [[4]], min_tasks=[1, 0, 3])
    with pytest.raises(fa.NotApplicable, match=sentence):
        fa.solve(full, name)
    assert fa.solve(full, "mmf").tasks == pytest.approx([1, 0, 3])
    assert fa.solve(full.replace(min_tasks=[1, 0, 2.99]), name).tasks[1] > 1e-3
    assert fa.solve(full.replace(min_tasks=[1, 0, 4]), name).termination == "infeasible"
    for alpha in (0, "inf") if name != "nb" else ():  # at its ends a family does not
        assert fa.solve(full, name, alpha=alpha).tasks == pytest.approx([1, 0, 3])


@pytest.mark.parametrize("floors", [[0, 0], ["0", "0"], np.zeros(2)], ids=str)
def test_floors_of_nothing_are_none(floors):
    instance = fa.Instance([[1], [2]], [[4], [4]], min_tasks=floors)
    assert fa.solve(instance, "drf-per-server").tasks == pytest.approx([4, 2])


FAR = 10**11


@pytest.mark.parametrize("accuracy", ["low", "mid"])
@pytest.mark.parametrize(
    ("name", "weights", "right"),
    [
        ("drfh-lp", [1, 1, 1], [1 / 15, FAR * 2 / 3, 2 / 3]),
        ("drfh", [1, 1, 1], [1 / 15, FAR * 2 / 3, 2 / 3]),
        ("mmf", [1, FAR, 1], [1 / 6, FAR / 6, 1 / 6]),
        ("nb", [1, 1, 1], [1 / 15, FAR * 2 / 3, 2 / 3]),
        ("utilitarian", [1, 1, 1], [0, FAR * 1.9, 0.1]),
    ],
)
def test_units_of_tasks_far_apart_are_no_matter(name, weights, right, accuracy):
    """One user counts its tasks by the byte: drfh-lp and mmf called (0, 1, 0.1) optimal, and drfh (0.1, 1.9, 1)."""
    one = Instance([[10], [Fraction(1, FAR)], [1]], [[2]], weights=weights, min_tasks=[0, 1, 0.1])
    found = fa.solve(one, name, accuracy=accuracy)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, right, rtol=1e-3, atol=1e-6)
    assert fa.check(found, name, tolerance=1e-3)
    lower = Allocation(one, np.where(np.arange(3) == np.argmax(right), 0.5, 1.0) * found.x)
    assert fa.check(lower, name).holds is False


@pytest.mark.parametrize("first", [0, 1e-3, 0.5])
def test_a_level_that_tasks_do_not_have_is_seen(first):
    """1e-9 of a large number of tasks is no small part of a small one."""
    one = Instance([[1], [Fraction(1, 10**9)]], [[2]], weights=[1, 10**9], min_tasks=[0, 1])
    for item in ("mmf", mechanism("mmf").edited("same", cvxpy=lambda problem, _: problem)):
        instance = one if item == "mmf" else one.replace(min_tasks=None)
        assert fa.check(Allocation(instance, [first, 1e9]), item).holds is False
    assert fa.check(Allocation(one, [1, 1e9]), "mmf")


def test_weights_far_apart_do_not_hide_a_level_that_is_missed():
    """No user without tasks beside a level of 1e-9: rows of the model are violated by less than rounding of the largest tasks."""
    weights = [600, "1/250", 4000000, "1/12500"]
    one = Instance(
        [["9/10", 3000, "1/250"], [5000, "3/10", "3/500"], [600, "1/25", "1/200"], [9000, 50, 5000]],
        [[7, "1/2", "1/1000"]],
        weights=weights,
        max_tasks=["3/500", "2/5", "1/250", None],
        min_tasks=[0, 0, 0, "1/10000030"],
    )
    for method in ("cvxpy:highs", "pyomo:highs", "cvxpy:clarabel"):
        found = fa.solve(one, "mmf", method, accuracy="low")
        assert found.values["g"] == pytest.approx(1e-9, rel=1e-3) or not found.claims_success


@pytest.mark.parametrize(("weight", "tasks", "holds"), [(1e-9, 2.0, None), (1e-3, 3.998, False), (1e-3, 4.0, True)])
def test_a_small_weight_hides_no_user_in_the_objective(weight, tasks, holds):
    """Each user is alone on its resource: half of its tasks changed the objective by 1e-9, and was said to be right."""
    apart = Instance([[1, 0], [0, 1]], [[4, 4]], weights=[1, weight], min_tasks=[1, 0])
    assert fa.check(Allocation(apart, [4, tasks]), "nb").holds is holds


def test_nothing_is_left_free_for_a_user_with_a_small_weight():
    """It ran 3.1 tasks of 4 that nobody else needs, and this was called optimal."""
    apart = Instance([[1, 0], [0, 1]], [[4, 4]], weights=[1, 1e-12], min_tasks=[1, 0])
    found = fa.solve(apart, "utilitarian")
    assert found.claims_success
    assert found.tasks == pytest.approx([4, 4])
    assert fa.check(found, "utilitarian")
    assert not fa.check(Allocation(apart, [4, 2]), "utilitarian")


@pytest.mark.parametrize("name", ["mmf", "drfh", "utilitarian", "nb", "alpha-fair"])
def test_prices_with_floors_are_those_of_the_users_model(name):
    one = Instance([[1, 3], [400, 100], [2, 2]], [[10, 20], [5, 5]], weights=[1, 2, 3], min_tasks=[0, 0.005, 0.1])
    item = mechanism(name).kept(one)
    found = fa.solve(one, name, accuracy="high")
    problem = item.cvxpy(one)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11, tol_feas=1e-11)
    duals = next(c.dual_value for c in problem.constraints if c.label == "capacity")
    assert found.prices is not None
    np.testing.assert_allclose(found.prices.ravel(), duals, atol=1e-5 * np.abs(duals).max())
