"""The solvers that are here to be compared with: HiGHS' algorithms by name, OR-Tools' PDLP, QTQP and Moreau."""

import numpy as np
import pytest
from tolerances import RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.models.examples.generators import racks
from fairalloc.solvers import METHODS

RACKS = racks(60, 12, 3, 1)
PEERS = ("highs:ipx", "highs:pdlp", "ortools:pdlp", "qtqp", "cvxpy:moreau")


@pytest.mark.parametrize("method", PEERS)
def test_it_solves_several_rounds_and_counts_its_iterations(method):
    if METHODS[method].missing():
        pytest.skip(METHODS[method].missing())
    found = fa.solve(RACKS, "drfh", method, accuracy="high" if "pdlp" in method else "mid")
    assert found.residual <= 10 * RESIDUAL
    np.testing.assert_allclose(found.tasks, fa.solve(RACKS, "drfh", "highs").tasks, rtol=SHARES)
    assert found.iterations > len(found.round_prices)


@pytest.mark.parametrize("method", PEERS)
def test_it_refuses_an_option_that_its_solver_does_not_have(method):
    if METHODS[method].missing():
        pytest.skip(METHODS[method].missing())
    with pytest.raises(fa.NotApplicable, match=r"refuses the options .*no_such_option"):
        fa.solve(RACKS, "drfh", method, options={"no_such_option": 1})


@pytest.mark.parametrize(
    ("method", "extra"),
    [("highs:hipo", "hipo"), ("ortools:pdlp", "ortools"), ("qtqp", "qtqp"), ("cvxpy:moreau", "moreau")],
)
def test_what_is_missing_is_one_sentence_that_says_what_to_install(method, extra, monkeypatch):
    monkeypatch.setattr(METHODS[method], "packages", ("no_such_package",))
    with pytest.raises(fa.NotInstalled, match=rf"^{method} needs no_such_package: pip install fairalloc\[{extra}\]$"):
        fa.solve(RACKS, "drfh", method)


def test_a_process_that_fails_ends_the_method_with_what_it_said(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.backends.ortools.pdlp_process.__file__", "/no/such/file.py")
    monkeypatch.setattr(METHODS["ortools:pdlp"], "packages", ())
    found = fa.solve(RACKS, "drfh", "ortools:pdlp")
    assert found.termination == "error"
    assert "its process ended with exit code 2" in found.message


def test_moreau_solves_a_market():
    if METHODS["cvxpy:moreau"].missing():
        pytest.skip(METHODS["cvxpy:moreau"].missing())
    market = fa.generators.market(10, 6, seed=1)
    found = fa.solve(market, "nb", "cvxpy:moreau")
    assert found.residual <= RESIDUAL
    np.testing.assert_allclose(found.tasks, fa.solve(market, "nb").tasks, rtol=SHARES)
