"""The interface of the methods: limits, silence, three separate facts, names, and what the private seams rest on."""

import os
import re
import subprocess
import sys
from itertools import count

import cvxpy as cp
import numpy as np
import pytest
from tolerances import RESIDUAL, SHARES

from fairalloc.formulations import MECHANISMS, Mechanism, mechanism
from fairalloc.models import Allocation, NotInstalled
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.transformations.aggregation import expand
from fairalloc.solvers import ACCURACY, METHODS, methods_for, solve
from fairalloc.solvers.backends import cvxpy_nlp
from fairalloc.solvers.backends import highs as backend
from fairalloc.solvers.catalogue import method_registry
from fairalloc.solvers.method import Limits, Method, Stopped
from fairalloc.solvers.options import OPTIONS
from fairalloc.solvers.running import dispatch
from fairalloc.solvers.running.solver_log import captured

CHOOSY = {"progressive-filling"}  # applies to one server alone: tests/solvers/test_algorithms.py
CHOOSY |= {key for key, method in METHODS.items() if method.kind == "approximate"}  # tests/solvers/test_approximations.py
SOLVED = [(m, k) for m in ("drfh", "nb") for k in METHODS if METHODS[k].computes(mechanism(m)) and k not in CHOOSY]


@pytest.fixture
def method(request):
    """The named method; a counted skip where it is not installed."""
    if METHODS[request.param].missing():
        pytest.skip(METHODS[request.param].missing())
    return request.param


@pytest.mark.parametrize(("name", "method"), SOLVED, indirect=["method"])
def test_solvers_print_nothing(name, method, capfd):
    solve(generators.generic(10, 3, 2), name, method)
    assert capfd.readouterr() == ("", "")


@pytest.mark.few(10)
@pytest.mark.parametrize(("name", "method"), SOLVED, indirect=["method"])
def test_times_are_split_and_add_up(name, method, monkeypatch):
    """By a clock that is one second later whenever it is looked at: no second is counted twice."""
    clock = count()
    monkeypatch.setattr(Limits.__init__, "__defaults__", (*Limits.__init__.__defaults__[:-1], lambda: float(next(clock))))
    times = solve(generators.generic(20, 5, 3), name, method).times
    assert min(times.build, times.solve) > 0
    whole = method != "pdhg"  # its matrix is what it iterates on, and its tasks are read meanwhile
    assert (times.compile > 0, times.read > 0) == (whole, whole)
    assert times.total <= next(clock)


@pytest.mark.few(11)
@pytest.mark.parametrize(("name", "method"), SOLVED, indirect=["method"])
def test_no_time_means_time_limit_not_success(name, method):
    """The limit is obeyed and told; whatever point there is is kept and judged, by its definition where time is left for that."""
    large = generators.generic(60, 20, 4)
    fits = not METHODS[method].applies(mechanism(name), large)
    allocation = solve(large if fits else generators.generic(10, 5, 2), name, method, time_limit=1e-4)
    assert allocation.termination == "time_limit"
    assert not allocation.claims_success
    assert "feasibility" in allocation.residuals
    assert "definition" in allocation.residuals or allocation.residual == np.inf


@pytest.mark.few(26)
@pytest.mark.parametrize("word", ACCURACY)
@pytest.mark.parametrize(("name", "method"), SOLVED, indirect=["method"])
def test_accuracy_words_are_kept(name, method, word):
    """What the word promises is what the residual shows, for every back end and its own options."""
    allocation = solve(example("khamse-fig1").instance, name, method, accuracy=word)
    assert allocation.residual <= ACCURACY[word]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_solver_knows_every_accuracy_word(options):
    assert set(options) == set(ACCURACY)


def test_the_default_method_meets_the_accuracy():
    for family in ("generic", "zero_demand", "placement", "finite", "badly_scaled"):
        for name in ("drfh", "nb"):
            allocation = solve(getattr(generators, family)(15, 4, 3, 2), name)
            assert allocation.residual <= RESIDUAL, (family, name)


def test_the_default_method_goes_on_where_a_method_lies(monkeypatch):
    """A first method that claims success with a wrong point is passed over, and where it is named not believed."""
    first = methods_for(mechanism("drfh"), example("wang-fig2").instance)[0]
    honest = type(first).run

    def lie(self, mechanism, instance, limits):
        answer = honest(self, mechanism, instance, limits)
        return type(answer)(answer.x * 0.9, None, "optimal", answer.times)

    monkeypatch.setattr(type(first), "run", lie)
    allocation = solve(example("wang-fig2").instance, "drfh")
    assert allocation.method != first.id
    assert allocation.residual <= RESIDUAL
    liar = solve(example("wang-fig2").instance, "drfh", first.id)
    assert liar.termination == "inaccurate"
    assert liar.residual > 0.05


def test_a_solver_that_calls_a_bounded_model_unbounded_is_in_error(monkeypatch):
    highs = METHODS["highs"]
    monkeypatch.setattr(type(highs), "compute", lambda *_: (_ for _ in ()).throw(Stopped("unbounded")))
    given = solve(example("wang-fig2").instance, "drfh", "highs")
    assert (given.termination, given.message) == ("error", "its solver calls a bounded model unbounded")


def test_a_point_is_kept_when_a_later_round_stops():
    """The second round of K Fig. 1 is cut off: the first round's point is returned and called what it is."""
    highs = METHODS["highs"]
    item = mechanism("drfh")
    scaled, unit = item.canonical(example("khamse-fig1").instance)
    session = highs.open(item, scaled, Limits())
    solve_round, rounds = session.solve, []

    def once(round):
        if rounds:
            raise Stopped("time_limit")
        rounds.append(round)
        return solve_round(round)

    session.solve = once
    answer = OneSession(session).run(item, scaled, Limits())
    assert answer.termination == "time_limit"
    tasks = Allocation(example("khamse-fig1").instance, answer.x * unit[scaled.arcs.user]).tasks
    np.testing.assert_allclose(tasks[:2], [3, 3], rtol=SHARES)


class OneSession(Method):
    """A method that opens a session made beforehand."""

    id, kind = "test:session", "exact"

    def __init__(self, session):
        self.session = session

    def computes(self, mechanism):
        return True

    def open(self, mechanism, instance, limits):
        return self.session


def test_missing_packages_are_named_with_what_installs_them(monkeypatch):
    ipopt = METHODS["cvxpy:ipopt"]
    monkeypatch.setattr(ipopt, "packages", ("cvxpy", "a_package_that_is_absent"))
    assert ipopt.missing() == (
        "cvxpy:ipopt needs a_package_that_is_absent: install the Ipopt library (Debian: coinor-libipopt-dev liblapack-dev "
        "libblas-dev pkg-config), then pip install fairalloc[ipopt]"
    )
    assert ipopt not in methods_for(mechanism("nb"))


def test_the_version_of_each_package_is_known():
    """Records of benchmarks depend on them; python-flint is imported by another name."""
    for method in METHODS.values():
        assert method.missing() or {*method.versions()} == {*method.packages}, method.id


def test_registries_refuse_duplicates(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.backends.highs_session.methods", backend.methods, raising=False)
    assert METHODS.by_id(method_registry._discover())["highs"] is backend.methods[0], "one method may be in two files"
    monkeypatch.setattr(backend, "methods", (*backend.methods, backend.Highs("highs", "exact")))
    with pytest.raises(ValueError, match="two methods are named 'highs'"):
        METHODS.by_id(method_registry._discover())
    twin = type("Twin", (Mechanism,), dict.fromkeys(("write_cvxpy", "write_pyomo", "residual", "values")))()
    twin.id, twin.aliases = "other", ("ceei",)
    with pytest.raises(ValueError, match="two mechanisms are named 'ceei'"):
        MECHANISMS.by_id([mechanism("nb"), twin])


def test_capturing_takes_what_other_code_prints(capfd):
    with captured() as lines:
        os.write(1, b"from c\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    assert lines == ["from c", "from a child"]
    assert capfd.readouterr().out == ""


def test_the_private_names_of_cvxpys_nlp_route_are_there():
    """cvxpy:ipopt splits compile from solve with these; the extras pin the CVXPY versions that have them."""
    from cvxpy.reductions.solvers import nlp_solving_chain
    from cvxpy.reductions.solvers.nlp_solvers.nlp_solver import Oracles

    assert all(map(callable, (nlp_solving_chain._build_nlp_chain, nlp_solving_chain._set_nlp_initial_point, Oracles)))
    assert cp.__version__.startswith(f"{cvxpy_nlp.SEAM}.")


@pytest.mark.parametrize("other", ["1.8.2", "1.10.0", "2.0"])
def test_with_another_cvxpy_only_the_nonlinear_route_is_missing(other, monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.method.is_installed", lambda package: True)
    monkeypatch.setattr("fairalloc.solvers.method.version_of", lambda package: other)
    why = f"uses private names of CVXPY 1.9, but CVXPY {other} is installed: pip install 'cvxpy>=1.9,<1.10'"
    pool = example("wang-pool").instance
    for method in ("cvxpy:ipopt", "cvxpy:uno"):
        assert METHODS[method].missing() == f"{method} {why}"
    with pytest.raises(NotInstalled, match=f"^cvxpy:ipopt {re.escape(why)}$"):
        solve(pool, "nb", "cvxpy:ipopt")
    for method in ("cvxpy:highs", "cvxpy:clarabel"):
        assert solve(pool, "drfh", method).residual <= RESIDUAL


# ---- the Google cell ------------------------------------------------------------------------------------------------


def test_the_whole_google_cell_with_900_users():
    """12,583 machines as 10 classes (W Table 1)."""
    instance = generators.google_mix(900)
    assert instance.counts.sum() == 12_583
    assert solve(instance, "drfh", "highs").residual <= RESIDUAL


@pytest.mark.deep
def test_classes_and_single_servers_give_the_same_shares():
    instance = generators.google_mix(100, 1000)
    single = expand(instance)
    assert single.K == 1000
    one, other = solve(instance, "drfh", "highs"), solve(single, "drfh", "highs")
    assert other.residual <= RESIDUAL
    np.testing.assert_allclose(other.tasks, one.tasks, rtol=SHARES)


# ---- which of two answers is better ---------------------------------------------------------------------------------


def answered(termination, residual):
    return Allocation(
        example("wang-fig2").instance, [10.0, 0.0, 0.0, 10.0], termination=termination, residuals={"definition": residual}
    )


def test_the_better_answer_meets_the_accuracy_then_is_nearer_then_is_called_solved():
    """A claim that does not hold is no better than a nearer point of which nothing is claimed."""
    best_first = [
        answered("optimal", 1e-9),
        answered("inaccurate", 1e-12),  # nearer, but it claims nothing
        answered("time_limit", 1e-4),
        answered("optimal", 1e-3),  # its claim does not hold
        answered("stationary", 1e-2),
        answered("inaccurate", 1e-2),
    ]
    ranks = [dispatch._rank(one, RESIDUAL) for one in best_first]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
