"""The two ways to PATH: without it one sentence; the conditions hold at an equilibrium; what it answers is judged."""

import os
import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tolerances import RESIDUAL

from fairalloc.formulations import mechanism
from fairalloc.formulations.game.merit import StartingPoint
from fairalloc.models import NotInstalled
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.backends.path import Conditions, data

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


AXES = "anq"


class Index(str):
    """A set of GAMS; `a.where[mask]` is the part of it over which a sum goes."""

    where = property(lambda self: Part(self))


class Part(str):
    def __getitem__(self, mask):
        return self, mask


class Table:
    """Numbers over sets: as an array with the axes a, n and q they multiply and add as the expressions of GAMS do."""

    def __init__(self, over, values):
        axes = sorted(range(len(over)), key=lambda k: AXES.index(over[k]))
        sizes = dict(zip(over, values.shape, strict=True))
        self.array = values.transpose(axes).reshape([sizes.get(axis, 1) for axis in AXES])

    def __getitem__(self, over):
        return self.array


def total(part, values):
    axis, mask = part
    return np.where(mask, values, 0.0).sum(axis=AXES.index(axis), keepdims=True)


GAMS = SimpleNamespace(Sum=total, math=SimpleNamespace(log=np.log, exp=np.exp, rpower=np.power))


@pytest.mark.parametrize("limits", [None, [0.3, None, None, None]])
@pytest.mark.parametrize("parameters", [{"alpha": 0.5}, {"alpha": 3}, {"alpha": 2, "A": 1, "B": 0.5}])
def test_the_conditions_that_gams_gets_hold_at_an_equilibrium_and_nowhere_else(monkeypatch, parameters, limits):
    monkeypatch.setitem(sys.modules, "gamspy", GAMS)
    item = mechanism("alpha-pf-vds").configure(**parameters)
    found = solve(GAME.replace(max_tasks=limits), item, "continuation", "high")
    game = item.game(found.instance)
    start = StartingPoint(game)
    kappa = found.prices.ravel()
    assert worst(game, start, found.x, kappa) <= RESIDUAL
    assert worst(game, start, start.x, kappa) > RESIDUAL
    assert worst(game, start, found.x, 1.01 * kappa) > RESIDUAL


def worst(game, start, x, kappa):
    """The largest of min(variable, condition) over the conditions that GAMS gets.

    A user at its limit has the sigma that its arc with most tasks asks for, and its other arcs must agree.
    """
    model = object.__new__(Conditions)
    _, model._values = data(game, start)
    model._sets = {name: Index(name) for name in AXES}
    model._parameters = {name: Table(*given) for name, given in model._values.items()}
    P = {name: values for name, (_, values) in model._values.items()}
    used = np.flatnonzero(np.diff(game.instance.arcs.load.tocsr().indptr))
    k, u, sigma = kappa[used] / np.exp(start.log_kappa.ravel()[used]), P["owner"] @ x, np.zeros(game.instance.N)
    model.u, model.k = Table("n", u), Table("q", k)
    for n in [*np.flatnonzero(P["limit"]), None]:
        model.sigma = Table("n", sigma)
        excess = model._excess().ravel()
        if n is not None:
            a = np.argmax(P["owner"][n] * x)
            sigma[n] = max(0.0, 1.0 - np.exp(P["beta"][a] * excess[a]))
    left = np.where(P["limit"] > 0, 1.0 - u / np.where(P["limit"] > 0, P["limit"], 1.0), 0.0)
    pairs = ((x, excess), (k, 1 - P["load"] @ x), (sigma, left))
    return max(np.abs(np.minimum(one, other)).max() for one, other in pairs)


@pytest.mark.skipif(bool(METHODS["gamspy:path"].missing()), reason=METHODS["gamspy:path"].missing())
@pytest.mark.parametrize("limits", [None, [0.3, None, None, None]])
def test_path_by_gamspy_answers_as_the_central_path_does(limits):
    game = generators.generic(4, 2, 2, 1)
    game = game if limits is None else type(game)(game.demands, game.capacities, max_tasks=limits)
    one, other = (solve(game, "alpha-pf-vds", method, alpha=3) for method in ("gamspy:path", "continuation"))
    assert one.claims_success
    assert one.residual <= RESIDUAL
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=RESIDUAL)
