"""Certificates of the game: exact levels, proved residuals, and that no number of them can be changed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from changed_certificates import TINY_OF_BOUNDS, assert_that_no_number_can_be_changed
from planted_games import planted_game
from tolerances import RECOVERED, RESIDUAL, ROUNDING

from fairalloc.analysis.certificates import NotCertified, certify
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.game_certificate import ResidualCertificate
from fairalloc.analysis.explanations import explain
from fairalloc.analysis.properties import check
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError, NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.solvers import residual, solve
from fairalloc.solvers.exact.ps_dsf import exact_levels, levels

K3 = example("khamse-fig3").instance
K3_TASKS = {"u1": {"s1": 2}, "u2": {"s1": 6}, "u3": {"s2": Fraction(32, 3)}, "u4": {"s2": Fraction(16, 3)}}
TWO = example("two-answers").instance


def tasks_on(instance, by_user):
    """(A,) rationals from {user: {server: tasks}}."""
    pairs = zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), strict=True)
    return tuple(Fraction(by_user.get(instance.users[n], {}).get(instance.servers[i], 0)) for n, i in pairs)


def given(instance, x, **more):
    return Allocation(instance, [float(v) for v in x], **more)


# ---- PS-DSF ---------------------------------------------------------------------------------------------------------

BY_SERVER = {
    "khamse-fig1": {"u1": {"s1": 2}, "u2": {"s1": 6}, "u3": {"s2": 8}, "u4": {"s2": 8}},
    "khamse-fig3": K3_TASKS,
    "psdsf-fig1": {"u1": {"s1": 6}, "u2": {"s2": 6}},
    "psdsf-fig2": {"u1": {"s1": "18/5"}, "u2": {"s1": "18/5"}, "u3": {"s2": 8}, "u4": {"s2": 8}},
    "psdsf-fig4": {"u1": {"channel 1": "6/5", "channel 2": "3/10"}, "u2": {"channel 2": "1/5", "channel 3": "4/5"}},
    "psdsf-coprocessor": {"u1": {"s2": 8}, "u2": {"s1": 8}},
    "psdsf-fig5": {"u1": {"A": 40, "B": 170}, "u2": {"A": 20, "B": 85}, "u3": {"C": "165/2"}, "u4": {"D": "55/2"}},
}
"""Where the papers (for the co-processor, we) say that the tasks run; for P Fig. 5 this is Table IV."""


def test_every_example_with_ps_dsf_is_here():
    assert set(BY_SERVER) == {e.name for e in EXAMPLES if "ps-dsf" in e.answers}


def test_a_claim_gives_no_bottleneck_to_those_who_run_all_they_want():
    enough = Instance([[1, 1], [1, 1]], [[2, 2]], max_tasks=[0.5, 0.25])
    for rule in ("ps-dsf", "ps-dsf-tdm"):
        claim = certify(solve(enough, rule)).claim
        assert "0 resources are full and every user below its limit has a bottleneck" in claim
    for capacities, full in (([1, 2], "one resource is"), ([1, 1], "2 resources are")):
        assert f"{full} full" in certify(solve(Instance([[1, 1]], [capacities]), "ps-dsf")).claim


def far_weights(seed):
    """Small rational numbers with ties, and weights over 12 decades."""
    rng = np.random.default_rng(seed)
    N, K, R = (int(v) for v in rng.integers(1, [6, 4, 4]))
    demands, capacities = (
        [[Fraction(*map(int, rng.integers(1, 5, 2))) for _ in range(R)] for _ in range(size)] for size in (N, K)
    )
    weights = [float(f"{w:.1e}") for w in 10.0 ** rng.uniform(-6, 6, N)]
    return Instance(demands, capacities, weights=weights, counts=rng.integers(1, 4, K).tolist())


FAR_WEIGHTS = [
    Instance([[1], [1]], [[1]], weights=[1, 10**9]),
    Instance([[4], ["4/3"], ["1/5"]], [["1/4"]], counts=[2], weights=[1e-3, 1e6, 1e4]),
    *(far_weights(seed) for seed in range(20)),
]


@pytest.mark.deep
@pytest.mark.parametrize("item", ["ps-dsf", "ps-dsf-tdm"])
def test_weights_over_twelve_decades_are_certified(item):
    """A user with a billionth of what it could run alone is served: the pattern is read in units of each user's own tasks."""
    certified = []
    for instance in FAR_WEIGHTS:
        certificate = certify(solve(instance, item))
        certified.append(bool(certificate))
        if certificate:
            assert certificate.verify(instance).holds
            assert min(certificate.tasks) > 0
        else:  # the answer gives a user with 1e-11 of all weights a share that is not its own
            assert certificate.reason.startswith("not decided: no exact levels have the pattern of the allocation")
    assert certified[:2] == [True, True]
    assert sum(certified) >= len(certified) - 1


def test_an_explanation_shows_the_tasks_of_small_users():
    """A billionth of a task is not none, in rationals and in levels of floats."""
    instance = FAR_WEIGHTS[0]
    sentences = explain(solve(instance, "ps-dsf")).sentences
    assert sentences[1].text.startswith("on s1, 1e-09 tasks, the virtual dominant share")
    assert sentences[1].facts["serves"] == ["u1", "u2"]


def test_no_exact_answer_has_the_pattern_of_a_user_without_tasks():
    assert exact_levels(FAR_WEIGHTS[0], np.array([0.0, 1.0])) is None


@pytest.mark.parametrize("name", BY_SERVER)
def test_published_ps_dsf_is_certified_exactly(name):
    """Floats are enough: the pattern gives the rationals back."""
    item = example(name)
    x = tasks_on(item.instance, BY_SERVER[name])
    certificate = certify(given(item.instance, x), "ps-dsf")
    assert certificate.tasks == item.answers["ps-dsf"]
    assert mechanism("ps-dsf").residual(given(item.instance, x)) <= 10 * ROUNDING
    assert_that_no_number_can_be_changed(certificate, item.instance)
    assert certificate.verify(item.instance.replace(weights=[3 * w for w in item.instance.exact.weights])).holds is False


def test_table_iv_needs_two_digits_only():
    """The printed TSF row is TSF up to its rounding, and PS-DSF is not TSF."""
    instance = example("psdsf-fig5").instance
    row = {"u1": {"A": 35, "B": 170}, "u2": {"A": 22.5, "B": 85}, "u3": {"C": 58.33}, "u4": {"C": 8.05, "D": 27.5}}
    printed = given(instance, tasks_on(instance, row))
    exact = np.array([float(v) for v in example("psdsf-fig5").answers["tsf"]])
    np.testing.assert_allclose(printed.tasks, exact, rtol=5e-4)
    assert residual(mechanism("tsf"), printed) < 1e-3 < mechanism("ps-dsf").residual(printed)


@pytest.mark.parametrize("part", ["1/1", "1/3", "0", "2/7"])
def test_both_ends_and_the_middle_of_two_answers_are_ps_dsf(part):
    """Each user has 3 tasks on its own server and none on the other (part 0), 2 on both (part 1), or something between."""
    s = Fraction(part)
    other = 2 * s
    own = 3 - other / 2
    x = (own, other, other, own)
    certificate = certify(given(TWO, x, x_exact=x), "ps-dsf")
    assert certificate.tasks == (3 + s, 3 + s)
    assert_that_no_number_can_be_changed(certificate, TWO)


def test_what_is_not_ps_dsf_is_not_certified():
    x = list(tasks_on(K3, K3_TASKS))
    x[-1] -= Fraction(1, 1000)
    refused = certify(given(K3, x), "ps-dsf")
    assert isinstance(refused, NotCertified)
    assert not refused
    assert levels(K3, x) is None
    assert not certify(given(K3, x, x_exact=tuple(x)), "ps-dsf")
    assert "a user has no task" in str(certify(Allocation(TWO, [3, 3, 0, 0]), "ps-dsf"))
    assert "infeasible" in str(certify(Allocation(TWO, [3, 3, 3, 3]), "ps-dsf"))


def test_the_exact_answer_must_be_near():
    """A pattern that is one, with numbers that are off: certified with a loose tolerance only."""
    x = [float(v) for v in tasks_on(K3, K3_TASKS)]
    x[-1] *= 1 - 1e-7
    assert certify(Allocation(K3, x), "ps-dsf")
    assert "away, relative" in str(certify(Allocation(K3, x), "ps-dsf", tolerance=1e-9))


@pytest.mark.parametrize("name", ["nb", "drfh"])
def test_a_tolerance_may_be_infinite_and_not_negative(name):
    answer = solve(TWO, name)
    assert certify(answer, tolerance=np.inf)
    with pytest.raises(InstanceError, match=r"tolerance is -1.0, but it must be a number that is not negative"):
        certify(answer, tolerance=-1.0)


def test_time_shared_answers_are_certified_exactly():
    item = example("khamse-fig3")
    by_user = {"u1": {"s1": 2}, "u2": {"s1": 6}, "u3": {"s2": 8}, "u4": {"s2": 4}}
    certificate = certify(given(K3, tasks_on(K3, by_user)), "ps-dsf-tdm")
    assert certificate.tasks == item.answers["ps-dsf-tdm"]
    assert_that_no_number_can_be_changed(certificate, K3)
    assert not certify(given(K3, tasks_on(K3, K3_TASKS)), "ps-dsf-tdm")


@pytest.mark.parametrize("seed", range(6))
def test_an_exact_pattern_survives_rounding_and_free_splits(seed):
    """Two classes of alike servers: the split between them is free, x_n is not."""
    rng = np.random.default_rng(seed)
    instance = example("psdsf-fig5").instance
    move = float(rng.uniform(0, 40))  # of user 1's tasks from A to B, against half as many of user 2's
    by_user = {**BY_SERVER["psdsf-fig5"], "u1": {"A": 40 - move, "B": 170 + move}, "u2": {"A": 20 + move / 2, "B": 85 - move / 2}}
    x = np.array([float(v) for v in tasks_on(instance, by_user)])
    found = exact_levels(instance, x * (1 + 1e-11 * rng.uniform(-1, 1, len(x))))
    assert exact_arcs(instance).tasks(found) == example("psdsf-fig5").answers["ps-dsf"]


# ---- finite alpha ---------------------------------------------------------------------------------------------------


def certified(game, **more):
    allocation = replace(game.allocation(), mechanism="alpha-pf-vds")
    return certify(allocation, "alpha-pf-vds", **more)


@pytest.mark.parametrize("alpha", [0.5, 2, 3, 50, 1000, [1, 50, np.inf]], ids=str)
def test_the_residual_of_a_planted_game_is_proved(alpha):
    for seed in range(2):
        game = planted_game(seed, alpha=alpha)
        certificate = certified(game)
        assert isinstance(certificate, ResidualCertificate)
        assert 0 < certificate.bound <= RECOVERED
        assert certificate.verify(game.instance)


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_numbers_beyond_the_range_of_floats_are_said(huge):
    instance = planted_game(0, alpha=3).instance
    far = replace(certify(solve(instance, "nb")), lower=Fraction(huge), upper=Fraction(2 * huge))
    assert "e+400" in far.claim
    assert not far.verify(instance)
    assert "e+400" in replace(certified(planted_game(0, alpha=3)), bounds=(Fraction(abs(huge)),)).claim


def test_a_bound_for_one_alpha_is_no_proof_of_ps_dsf():
    """The numbers hold whatever they are called; a certificate that is called ps-dsf must prove that."""
    game = planted_game(0, alpha=3)
    verdict = replace(certified(game), mechanism="ps-dsf").verify(game.instance)
    assert not verdict
    assert "not about a game with parameters" in verdict.sentence


@pytest.mark.deep
@pytest.mark.few(2)
@pytest.mark.parametrize("alpha", [0.5, 3, 50, [1, 2, np.inf]], ids=str)
def test_no_number_of_a_proved_residual_can_be_changed(alpha):
    game = planted_game(1, users=3, servers=3, resources=2, alpha=alpha)
    assert_that_no_number_can_be_changed(certified(game), game.instance)


def test_the_wider_family_is_certified():
    game = planted_game(2, users=3, servers=2, resources=2, alpha=3.0, A=[2, 0.5], B=[0.5, 0])
    assert_that_no_number_can_be_changed(certified(game), game.instance)
    claim = "an equilibrium for alpha = 3 (A = 1/2, B = 0), 3 (A = 2, B = 1/2) up to a residual"
    assert certified(game).claim.startswith(claim)  # of the same alpha there are other games


def test_a_certificate_for_other_parameters_claims_these():
    """One resource is fair for every alpha: 1.999999 had been told as 2. On the second server nobody may run."""
    alone = Instance([[5], [5]], [[6], [2]], eligible=[[True, False], [True, False]], max_tasks=[2, None])
    certificate = certify(solve(alone, "alpha-pf-vds", alpha=2))
    other = replace(certificate, alpha=(Fraction("1.999999"), Fraction(2)))
    assert other.verify(alone).sentence.startswith("certified: an equilibrium for alpha = 1.999999, 2 up to a residual of")
    priced = replace(certificate, kappa=(certificate.kappa[0], Fraction(99)))
    assert priced.verify(alone).sentence == "the certificate is wrong: a server that nobody may use has a price"


@pytest.mark.parametrize(("item", "more"), [("ps-dsf", "objective=tasks"), ("njc", "objective=sum"), ("alpha-pf-vds", "alpha=7")])
def test_a_certificate_proves_nothing_of_parameters_that_are_written_beside_its_mechanism(item, more):
    """It had been certified as the best by tasks, and that of alpha = 7 as an equilibrium for alpha = 2."""
    pool = Instance([[2, 1], [1, 2]], [[6, 6]])
    certificate = certify(solve(pool, item))
    assert certificate.verify(pool)
    verdict = replace(certificate, mechanism=f"{item} {more}").verify(pool)
    assert verdict.sentence == f"the certificate is wrong: it proves nothing of the parameters of '{item} {more}'"


def test_the_proved_bound_is_the_residual():
    """Away from an equilibrium both say the same, one in doubles and one in rationals."""
    game = planted_game(4, alpha=2.0)
    game.x = game.x * np.linspace(0.8, 1, len(game.x))
    item = mechanism("alpha-pf-vds").configure(**game.parameters)
    certificate = certified(game, tolerance=1.0)
    assert float(certificate.bound) == pytest.approx(item.residual(game.allocation()), rel=1e-6)
    refused = certified(game)
    assert not refused
    assert "but 1e-06 is allowed" in str(refused)


def test_alpha_1_is_certified_as_nb():
    game = planted_game(3, alpha=1.0)
    certificate = certified(game)
    assert certificate.mechanism == "nb"
    assert certificate.gap <= RESIDUAL
    assert_that_no_number_can_be_changed(certificate, game.instance, TINY_OF_BOUNDS)


def test_alpha_infinity_is_certified_as_ps_dsf():
    x = tasks_on(K3, K3_TASKS)
    allocation = given(K3, x, mechanism="alpha-pf-vds", parameters={"alpha": "inf"})
    certificate = certify(allocation, "alpha-pf-vds")
    assert certificate.mechanism == "ps-dsf"
    assert certificate.tasks == example("khamse-fig3").answers["ps-dsf"]


def test_the_parameters_are_those_of_the_allocation():
    """(2, 6, 96/7, 32/7) is right for alpha = 3/2 and wrong for the default alpha = 2."""
    by_user = {**K3_TASKS, "u3": {"s2": "96/7"}, "u4": {"s2": "32/7"}}
    x = tasks_on(K3, by_user)
    right = certify(given(K3, x, mechanism="alpha-pf-vds", parameters={"alpha": 1.5}), "alpha-pf-vds")
    assert right.alpha == (Fraction(3, 2),) * 2
    assert not certify(given(K3, x), "alpha-pf-vds")


def test_a_certificate_is_about_its_instance():
    game = planted_game(1, alpha=3.0)
    certificate = certified(game)
    assert not certificate.verify(game.instance.replace(weights=game.instance.weights[::-1]))
    assert not certificate.verify(Instance([[1]], [[3]]))
    assert not replace(certificate, mechanism="nb").verify(game.instance)
    assert not replace(certify(given(K3, tasks_on(K3, K3_TASKS)), "ps-dsf"), mechanism="alpha-pf-vds").verify(K3)


# ---- arcs in another order -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [certify, check, explain])
def test_arcs_are_told_by_their_servers_and_not_by_their_number(asked):
    """A user with one way on each server has as many arcs as its best mixtures, which stand in the order of the servers."""
    instance = Instance([[[0, 1], [1, 0]]], [[4, 0], [0, 6]])
    for x in ([6, 4], [4, 4]):
        with pytest.raises(NotApplicable, match=r"2 servers, 2 resources and 2 arcs, .* have 2, 2 and 2, in another order"):
            asked(Allocation(instance, x), "ps-dsf-tdm")
    pool = Instance([[[1, 2], [2, 1]]], [[4, 4]])
    with pytest.raises(NotApplicable, match=r"1 servers, 2 resources and 2 arcs, .* have 1, 2 and 1"):
        asked(Allocation(pool, [1, 1]), "ps-dsf-tdm")


# ---- whose certificate it is ---------------------------------------------------------------------------------------


def test_a_mechanism_that_is_given_keeps_its_parameters():
    """The allocation is that of alpha = 3, and no proof for 50; an id takes the allocation's parameters."""
    instance = Instance([[1, 2], [2, 1]], [[5, 5], [3, 9]])
    allocation = solve(instance, "alpha-pf-vds", alpha=3)
    assert certify(allocation, "alpha-pf-vds").alpha == (3, 3)
    assert isinstance(certify(allocation, mechanism("alpha-pf-vds", alpha=50)), NotCertified)


@pytest.mark.parametrize(("part", "digits"), [("alpha", 400), ("A", 400), ("kappa", 400), ("alpha", 300)])
def test_numbers_out_of_range_are_refused(part, digits):
    """They ended with OverflowError, or ValueError of what is no ball."""
    instance = Instance([[1, 2], [2, 1]], [[5, 5], [3, 9]])
    certificate = certify(solve(instance, "alpha-pf-vds", alpha=3))
    wrong = replace(certificate, **{part: (Fraction(10**digits), *getattr(certificate, part)[1:])})
    assert wrong.verify(instance).holds is False


@pytest.mark.parametrize(
    ("instance", "rule", "part"),
    [
        (Instance([[1, 2], [2, 1]], [[6, 6]]), "alpha-pf-vds", "bounds"),
        (Instance([[1, 2], [2, 1]], [[6, 6]], min_tasks=[1, 0]), "lmmf", "rounds"),
    ],
)
def test_a_certificate_of_nothing_is_shown_and_refused(instance, rule, part):
    """Printing it raised ValueError and IndexError."""
    empty = replace(certify(solve(instance, rule)), **{part: ()})
    assert str(empty).startswith(rule)
    assert empty.verify(instance).holds is False


def test_a_certificate_is_of_no_other_mechanism_than_the_one_it_names():
    """It was certified by its own name, and the rules of another."""
    instance = Instance([[1, 2], [2, 1]], [[6, 6]])
    right = certify(solve(instance, "lmmf", "exact"))
    assert right.verify(instance, mechanism("lmmf"))
    assert not replace(right, mechanism="drfh").verify(instance, mechanism("lmmf"))


def test_a_value_out_of_the_range_of_numbers_is_told():
    """It ended with OverflowError."""
    found = certified_answer(Instance([[1], [1]], [["1e200"]], weights=["1e200", 1]), "utilitarian")
    assert found.claim == "optimal, the value is 1.00000000e+400.."


@pytest.mark.parametrize("name", ["", "alpha-fair alpha", "alpha-fair alpha=1..2", "nested-leximin compared=x y"])
def test_a_certificate_of_a_name_that_is_none_is_refused(name):
    """float() and an empty list raised ValueError."""
    instance = Instance([[1]], [[1]])
    with pytest.raises(FairallocError):
        replace(certify(solve(instance, "drfh", "exact")), mechanism=name).verify(instance)
