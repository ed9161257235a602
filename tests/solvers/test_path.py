"""The two ways to PATH: without it one sentence; the conditions hold at an equilibrium; what it answers is judged."""

import os
import stat

import numpy as np
import pytest
from tolerances import RESIDUAL

from fairalloc.formulations import mechanism
from fairalloc.formulations.game.merit import StartingPoint
from fairalloc.models import NotInstalled
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.backends.path import data

ONES = """#!/usr/bin/env python3
# Reads the size of the problem and answers that everything is 1.
import sys
stub = sys.argv[1].removesuffix(".nl")
n, m = (int(v) for v in open(stub + ".nl").read().splitlines()[1].split()[:2])
open(stub + ".sol", "w").write(f"all ones\\n\\nOptions\\n3\\n0\\n1\\n0\\n{m}\\n0\\n{n}\\n{n}\\n" + "1.0\\n" * n + "objno 0 0\\n")
"""
GAME = generators.generic(4, 2, 2, 1)


def test_without_the_executable_it_says_where_to_get_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not METHODS["pyomo:path"].is_available()
    with pytest.raises(NotInstalled, match="pyomo:path needs the solver PATH: put its executable pathampl"):
        solve(GAME, "alpha-pf-vds", "pyomo:path", alpha=3)


def test_what_it_answers_is_judged(monkeypatch, tmp_path):
    program = tmp_path / "pathampl"
    program.write_text(ONES)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    allocation = solve(GAME, "alpha-pf-vds", "pyomo:path", alpha=3)
    assert allocation.has_point
    assert allocation.termination == "inaccurate"
    assert allocation.message.startswith("its answer proves no more than a residual of ")


@pytest.mark.parametrize("method", ["gamspy:path", "pyomo:path"])
def test_it_is_for_finite_alpha(method):
    assert "finite alpha" in METHODS[method].applies(mechanism("alpha-pf-vds").configure(alpha="inf"), GAME)


# ---- gamspy:path ----------------------------------------------------------------------------------------------------


def test_without_gamspy_one_sentence_says_how(monkeypatch):
    monkeypatch.setattr(type(METHODS["gamspy:path"]), "packages", ("no_such_package",))
    says = r"gamspy:path needs no_such_package: pip install fairalloc\[path\], and its licence is yours to accept"
    with pytest.raises(NotInstalled, match=says):
        solve(GAME, "alpha-pf-vds", "gamspy:path", alpha=3)


def test_more_variables_than_the_licence_allows_are_refused():
    fits, large = generators.generic(20, 5, 3, 1), generators.generic(60, 16, 3, 1)
    item = mechanism("alpha-pf-vds").configure(alpha=2)
    assert METHODS["gamspy:path"].applies(item, fits) == ""
    assert METHODS["gamspy:path"].applies(item, large).endswith(f"but here are {60 * 16 + 60 + 48}")


@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"alpha": 3}, {"alpha": 2, "A": 1, "B": 0.5}])
def test_the_conditions_that_gams_gets_hold_at_an_equilibrium_and_nowhere_else(parameters):
    item = mechanism("alpha-pf-vds").configure(**parameters)
    found = solve(GAME, item, "continuation", "high")
    game = item.game(GAME)
    start = StartingPoint(game)
    kappa = found.prices.ravel()
    assert worst(game, start, found.x, kappa) <= RESIDUAL
    assert worst(game, start, start.x, kappa) > RESIDUAL


def worst(game, start, x, kappa):
    """The largest of min(variable, condition) over the conditions that `data` describes, evaluated by NumPy."""
    _, described = data(game, start)
    P = {name: values for name, (_, values) in described.items()}
    used = np.flatnonzero(np.diff(game.instance.arcs.load.tocsr().indptr))
    k = kappa[used] / np.exp(start.log_kappa.ravel()[used])
    log_z = P["owner"].T @ np.log(P["owner"] @ x) - P["log_unit"]
    log_g = P["constant"] - P["slope"] * log_z + np.log(P["mixed"] * np.exp(P["shift"] + P["power"] * log_z) + P["rest"])
    F = (np.log((P["w"] * k ** P["beta"][:, None]).sum(axis=1)) - log_g) / P["beta"] + P["s"]
    return max(np.abs(np.minimum(x, F)).max(), np.abs(np.minimum(k, 1 - P["load"] @ x)).max())


@pytest.mark.skipif(bool(METHODS["gamspy:path"].missing()), reason=METHODS["gamspy:path"].missing())
@pytest.mark.parametrize("limits", [None, [0.3, None, None, None]])
def test_path_by_gamspy_answers_as_the_central_path_does(limits):
    game = generators.generic(4, 2, 2, 1)
    game = game if limits is None else type(game)(game.demands, game.capacities, max_tasks=limits)
    one, other = (solve(game, "alpha-pf-vds", method, alpha=3) for method in ("gamspy:path", "continuation"))
    assert one.claims_success
    assert one.residual <= RESIDUAL
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=RESIDUAL)
