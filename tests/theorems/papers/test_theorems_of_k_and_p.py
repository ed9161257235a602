"""The theorems of K and P on the game, numerically and, where it can be, in rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import BARGAINING, RECOVERED, RESIDUAL

from fairalloc.analysis.properties import check
from fairalloc.formulations import mechanism
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models import Allocation, Instance
from fairalloc.models.exact.rationals import as_flint, exact_arcs
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.solvers import residual, solve
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.solvers.exact.simplex import RationalProgram, optimal_basic_solution
from fairalloc.solvers.method import Limits
from fairalloc.theorems.cases import Case
from fairalloc.theorems.registry import all_statements

FAMILIES = ["generic", "tied", "zero_demand", "placement"]
PUBLISHED = [item.instance for item in EXAMPLES if "ps-dsf-tdm" in item.answers]
GENERATED = [getattr(generators, family)(6, 3, 3, seed) for family in FAMILIES for seed in range(2)]
SUITE = [*PUBLISHED, *GENERATED]


def equilibrium(instance, alpha):
    """The default method's answer, checked by the definition."""
    allocation = solve(instance, "alpha-pf-vds", alpha=alpha)
    assert allocation.residual <= 10 * RESIDUAL
    return allocation


def one_bottleneck(seed, users=5, servers=3, resources=3):
    """Every server has one resource of which every task takes the largest part, not the same one everywhere (K Theorem 4)."""
    rng = np.random.default_rng(seed)
    demands = rng.uniform(0.1, 1, (users, resources))
    capacities = rng.uniform(1, 3, (servers, resources))
    eligible = rng.random((users, servers)) < 0.7
    eligible[np.arange(users), rng.integers(0, servers, users)] = True
    most = rng.integers(0, resources, servers)
    for i, r in enumerate(most):  # c_ir so small that d_nr / c_ir leads for everybody
        capacities[i, r] = 0.9 * (capacities[i] * (demands[:, [r]] / demands)).min()
    return Instance(demands, capacities, weights=rng.uniform(0.5, 2, users), eligible=eligible), most


# ---- K --------------------------------------------------------------------------------------------------------------


@pytest.mark.few(8)
@pytest.mark.parametrize("instance", SUITE, ids=lambda i: i.name)
def test_theorem_2_of_k_alpha_1_is_nb(instance):
    fair, nash = equilibrium(instance, 1), solve(instance, "nb", accuracy="high")
    np.testing.assert_allclose(fair.tasks, nash.tasks, rtol=10 * BARGAINING)
    assert residual(mechanism("nb"), fair) <= 10 * RESIDUAL
    assert check(fair, "pareto", tolerance=10 * BARGAINING)  # K Theorem 3


@pytest.mark.few(4)
@pytest.mark.parametrize("instance", GENERATED, ids=lambda i: i.name)
def test_theorem_2_of_k_large_alpha_comes_near_ps_dsf(instance):
    """Shares at a server differ by w^(1/alpha) at most, so the gap of Theorem 1 of P falls like 1 / alpha."""
    ps_dsf = mechanism("ps-dsf")
    gaps = [ps_dsf.residual(equilibrium(instance, alpha)) for alpha in (2, 20, 200)]
    smallest = np.log(exact_smallest(instance))
    assert gaps[2] <= -smallest / 200 + 10 * RESIDUAL
    assert gaps[2] <= gaps[0] + 10 * RESIDUAL


def exact_smallest(instance):
    """The smallest positive w_nir."""
    load = instance.arcs.load.tocoo()
    return float((load.data * instance.arcs.gamma[load.col]).min())


@pytest.mark.parametrize("seed", range(4))
def test_theorem_4_of_k_one_bottleneck_a_server_and_every_alpha_agree(seed):
    instance, most = one_bottleneck(seed)
    expected = solve(instance, "ps-dsf")
    assert expected.residual <= RESIDUAL
    for alpha in (0.5, 1, 4, [0.7, 2, "inf"]):
        allocation = equilibrium(instance, alpha)
        np.testing.assert_allclose(allocation.tasks, expected.tasks, rtol=BARGAINING)
        assert mechanism("ps-dsf").residual(allocation) <= 10 * RESIDUAL
    full = expected.load[np.arange(3), most]
    np.testing.assert_allclose(full, 1, rtol=BARGAINING)  # Corollary 1: max-min for that resource


def test_corollary_1_of_k_is_about_one_server():
    """Only server 1 of khamse-fig3 has a bottleneck resource: there alpha does not matter, on server 2 it does (K 3.2)."""
    fig3 = example("khamse-fig3").instance
    tasks = np.array([equilibrium(fig3, alpha).tasks for alpha in (0.3, 1, 3, "inf")])
    np.testing.assert_allclose(tasks[:, :2], [[2, 6]] * 4, rtol=BARGAINING)
    np.testing.assert_allclose(tasks[:, 2] / tasks[:, 3] / 2, [3 / 2, 3 / 2, 2 ** (1 / 3), 1], rtol=BARGAINING)
    statements = [all_statements()[name] for name in ("K.3.2.server1", "K.3.2.Fig3")]
    said = [item.confirm(Case(fig3)) for item in statements]
    assert [(one.holds, one.method) for one in said] == [(True, "rational arithmetic")] * 2  # of all alpha
    less = fig3.replace(capacities=[[12, 4, 75], [2, 16, 0]])  # so little CPU that user 4 comes to server 1
    assert equilibrium(less, 1).tasks[0] < 1.9
    assert [item.confirm(Case(less)).holds for item in statements] == [False, False]


@pytest.mark.few(5)
@pytest.mark.parametrize("instance", SUITE, ids=lambda i: i.name)
def test_theorem_5_of_k_time_shared_servers_do_not_depend_on_g(instance):
    shared = time_shared(instance)
    expected = solve(instance, "ps-dsf-tdm", accuracy="high").tasks
    for alpha in (0.5, 1, 4):
        np.testing.assert_allclose(equilibrium(shared, alpha).tasks, expected, rtol=10 * BARGAINING)
    np.testing.assert_allclose(solve(shared, "ps-dsf").tasks, expected, rtol=10 * BARGAINING)


@pytest.mark.parametrize("instance", SUITE, ids=lambda i: i.name)
def test_time_sharing_needs_no_more_than_there_is(instance):
    """y_n w_nr <= y_n: what (K 17) allows fits the capacities (K 13) of a divisible server."""
    assert solve(instance, "ps-dsf-tdm").load.max() <= 1 + RESIDUAL


# ---- P --------------------------------------------------------------------------------------------------------------


def could_grow(instance, x, n):
    """Definition 2 of P: how much x_n can grow while no x_mi with z_mi <= z_ni falls; an exact linear program."""
    arcs = exact_arcs(instance)
    user, server = instance.arcs.user.tolist(), instance.arcs.server.tolist()
    tasks = arcs.tasks(x)
    share = {
        (m, i): tasks[m] * max(part for _, part in load) / instance.exact.weights[m]
        for m, i, load in zip(user, server, arcs.load, strict=True)
    }
    kept = [v if share[m, i] <= share.get((n, i), -1) else Fraction(0) for v, m, i in zip(x, user, server, strict=True)]
    columns = [{row: as_flint(part) for row, part in load} for load in arcs.load]
    cost = [as_flint(Fraction(int(m == n))) for m in user]
    lp = RationalProgram.of_rows(cost, columns, [as_flint(1 - load) for load in arcs.loads(kept)])
    best, _ = optimal_basic_solution(lp, range(len(columns), len(lp.columns)), Limits())
    grown = sum(Fraction(int(v.numerator), int(v.denominator)) for a, v in best.values.items() if a < len(x) and user[a] == n)
    return arcs.tasks(kept)[n] + grown - tasks[n]


def satisfies_definition_2(instance, x):
    return all(could_grow(instance, x, n) <= 0 for n in range(instance.N))


@st.composite
def small(draw):
    """Few users, servers and resources with demands of 0, 1 or 2: ties are the rule."""
    users, servers, resources = (draw(st.integers(1, 3)) for _ in range(3))
    vectors = st.lists(st.sampled_from([0, 1, 1, 2]), min_size=resources, max_size=resources).filter(any)
    return Instance(
        [draw(vectors) for _ in range(users)],
        [draw(st.lists(st.sampled_from([2, 4]), min_size=resources, max_size=resources)) for _ in range(servers)],
        weights=[draw(st.sampled_from([1, 2])) for _ in range(users)],
    )


@settings(max_examples=drawn(60))
@given(small(), st.data())
def test_theorem_1_of_p_for_any_allocation(instance, data):
    x = tuple(Fraction(data.draw(st.sampled_from(["0", "1/2", "1", "1", "2"]))) for _ in instance.arcs.user)
    arcs = exact_arcs(instance)
    assume(max(arcs.loads(x)) <= 1 and min(arcs.tasks(x)) > 0)
    assert satisfies_definition_2(instance, x) == (levels(instance, x) is not None)


@settings(max_examples=drawn(25))
@given(small(), st.data())
def test_theorem_1_of_p_at_and_next_to_ps_dsf(instance, data):
    """Both hold at an exact answer, and both fail when one user loses a bit of what it has."""
    allocation = solve(instance, "ps-dsf", "exact")
    assume(allocation.x_exact is not None)
    x = list(allocation.x_exact)
    assert satisfies_definition_2(instance, x)
    a = data.draw(st.sampled_from([a for a, v in enumerate(x) if v]))
    x[a] *= Fraction(9, 10)
    assert satisfies_definition_2(instance, x) == (levels(instance, x) is not None)


def test_ps_dsf_is_not_pareto_optimal():
    """Against P Theorem 2 (K 2.3 says so): (3, 3) is PS-DSF by Definition 2 itself, and (4, 4) is better for both users."""
    instance = example("two-answers").instance
    alone, together = (Fraction(3), Fraction(0), Fraction(0), Fraction(3)), (Fraction(2),) * 4
    for x, most in ((alone, 3), (together, 4)):
        assert satisfies_definition_2(instance, x)
        assert exact_arcs(instance).tasks(x) == (most, most)
    verdict = check(Allocation(instance, [3, 0, 0, 3]), "pareto")
    assert verdict.holds is False


def test_ps_dsf_is_drf_on_one_server():
    """P III-B: with one server the share is the dominant share."""
    for seed in range(3):
        pool = generators.zero_demand(6, 1, 3, seed)
        np.testing.assert_allclose(solve(pool, "ps-dsf").tasks, solve(pool, "drf").tasks, rtol=BARGAINING)


def test_alpha_pf_vds_is_fds_on_one_server():
    """K 3.3: with one server it is alpha-fairness on dominant shares, which is a program with another residual."""
    pool = generators.generic(6, 1, 3, 2)
    for alpha in (0.5, 2):
        np.testing.assert_allclose(
            equilibrium(pool, alpha).tasks, solve(pool, "fds", alpha=alpha, accuracy="high").tasks, rtol=10 * BARGAINING
        )
    assert residual(mechanism("fds").configure(alpha=2), equilibrium(pool, 2)) <= 100 * RECOVERED + RESIDUAL
