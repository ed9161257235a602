r"""The marginal utilities g_ni' of the game's servers: the family (K 22), and utilities of one's own (K Problem 1).

K's server i maximises sum_n phi_n g_i(z_ni) for any increasing, strictly concave, twice differentiable g_i. Of g_i nothing but

    g_i'(z) > 0, decreasing,      and      e_i(z) = -d log g_i' / d log z = -z g_i''(z) / g_i'(z) > 0, its elasticity

is in the conditions (K 28-31) and in their derivatives, so a `Utility` is g', and everything else is computed from `Marginals`,
which holds log g' and its elasticity as functions of log z on arcs. Here g may also differ by user (g_ni); K's Theorems 4 and 5
need one g for all users of a server.

Where g'(0) is finite, log(1 + z) for example, a user may have no tasks in an equilibrium.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.models.errors import InstanceError, fault, shown
from fairalloc.models.numbers import Floats

GRID, SMALLEST = 400, 1e-6
"""Shares at which a utility is checked, evenly in their logarithm, and the least of them in units of the largest that can
occur."""

DIFFERENCE, AGREEMENT = 1e-5, 1e-3
"""The relative step of the differences that g'' is compared with, and how much it may differ from them, relative."""

ROUNDING = 4e-16
"""Where g' is inverted no further, relative."""

Function = Callable[[Any], Any]
OwnPart: TypeAlias = "tuple[Utility, NDArray[np.intp], Floats]"


@dataclass(frozen=True)
class Utility:
    """A concave utility g of one's own, by its derivative: an increasing, strictly concave, twice differentiable function.

    Attributes
    ----------
    marginal : g', a function of an array of shares z > 0 to an array of the same shape, positive and decreasing. Where it uses
        operators only (+, -, *, /, **), the CVXPY and Pyomo models are written with it too
    slope : g'', negative; None = by a complex step through `marginal`, which NumPy functions of real or complex numbers allow

    Examples
    --------
    >>> Utility(lambda z: 1 / (1 + z)).slope_at(np.array([0.0, 1.0]))  # g = log(1 + z)
    array([-1.  , -0.25])
    """

    marginal: Function
    slope: Function | None = None

    def __post_init__(self) -> None:
        for name, function in (("marginal", self.marginal), ("slope", self.slope)):
            if not callable(function) and not (name == "slope" and function is None):
                raise InstanceError(f"the {name} of a utility is {shown(function)}, but it must be a function of shares")

    def __str__(self) -> str:
        """What a document says of it, which holds no functions."""
        return f"a utility of one's own, marginal {getattr(self.marginal, '__name__', type(self.marginal).__name__)}: not stored"

    @property
    def functions(self) -> tuple[Function, ...]:
        """What was written elsewhere."""
        return (self.marginal, *(() if self.slope is None else (self.slope,)))

    def unwritten(self, layer: str) -> str:
        """One sentence on why g' cannot be applied to expressions of a modelling layer, or ""."""
        try:
            if layer == "cvxpy":
                made = cp.log(self.marginal(cp.Variable(2, pos=True) / 2.0))
                said = "" if made.shape == (2,) else f"it made the shape {made.shape}"
            else:
                model = pyo.ConcreteModel()
                model.z = pyo.Var(domain=pyo.PositiveReals, initialize=1.0)
                said, _ = "", pyo.log(self.marginal(model.z / 2.0))
        except Exception as error:
            said = f"it raised {type(error).__name__}"
        rule = "write it with +, -, *, / and ** alone, or solve without a model"
        name = {"cvxpy": "CVXPY", "pyomo": "Pyomo"}[layer]
        return f"the marginal of a utility cannot be applied to an expression of {name} ({said}): {rule}" if said else ""

    def slope_at(self, z: Floats) -> Floats:
        """g''(z)."""
        with np.errstate(all="ignore"):
            if self.slope is not None:
                return np.asarray(self.slope(z), dtype=float)
            step = 1e-20 * z + 1e-290
            return np.asarray(np.imag(self.marginal(z + 1j * step)) / step, dtype=float)

    def log_marginal(self, log_z: Floats) -> Floats:
        """Log g'."""
        with np.errstate(all="ignore"):
            return np.asarray(np.log(np.asarray(self.marginal(np.exp(log_z)), dtype=float)), dtype=float)

    def elasticity(self, log_z: Floats) -> Floats:
        """-z g'' / g', 0 where z is and g' is finite."""
        z = np.exp(log_z)
        with np.errstate(all="ignore"):
            result: Floats = -z * self.slope_at(z) / np.asarray(self.marginal(z), dtype=float)
        return np.where(z > 0, result, 0.0)

    def table(self, most: float) -> Floats:
        """(2, GRID) log z up to twice the share `most`, rising, and log g' there: where `inverse` looks first."""
        log_z = np.log(2.0 * most) + np.linspace(np.log(SMALLEST), 0.0, GRID)
        log_z[0] -= 60.0
        return np.array([log_z, self.log_marginal(log_z)])

    def inverse(self, log_q: Floats, table: Floats) -> Floats:
        """The log z at which log g' is log_q: -inf where g'(0) is less, at most the last of the table; Newton in a bracket."""
        grid, falling = table
        place = np.clip(np.searchsorted(-falling, -log_q), 1, len(grid) - 1)
        low, high = grid[place - 1], grid[place]
        none, all_ = falling[0] <= log_q, falling[-1] >= log_q
        log_z, done = 0.5 * (low + high), none | all_
        with np.errstate(all="ignore"):
            for turn in range(200):
                more = self.log_marginal(log_z) - log_q
                step = more / self.elasticity(log_z)
                done |= (np.abs(more) <= ROUNDING * (1.0 + np.abs(log_q))) | (np.abs(step) <= ROUNDING * (1.0 + np.abs(log_z)))
                if np.all(done):
                    break
                low, high = np.where(more > 0, log_z, low), np.where(more > 0, high, log_z)
                new = log_z + step
                inside = (low <= new) & (new <= high) & (turn % 8 < 7)
                log_z = np.where(done, log_z, np.where(inside, new, 0.5 * (low + high)))
        return np.where(none, -np.inf, np.where(all_, grid[-1], log_z))

    def steepest(self, most: float, whose: str) -> float:
        """The largest elasticity on shares up to `most`; InstanceError at the first one where g is not what a utility must be."""
        z = np.geomspace(SMALLEST * most, most, GRID)
        g = _tried(self.marginal, z, whose, "marginal", "its marginal must take an array of shares, but it raised {}")
        _refuse(whose, z, ~(g > 0), g, "g'({z}) is {value}, but it must be positive")
        seen = np.isfinite(g)
        z, g = z[seen], g[seen]  # near 0 it may be too large for a float
        if len(z) < 2:
            raise InstanceError(f"the utility of {whose}: g' is not finite for shares up to {most:g}, but it must be")
        _refuse(
            whose, z[1:], ~(np.diff(g) < 0), g[1:], "g'({z}) is {value}, no less than for the share before, but g' must decrease"
        )
        self._refuse_jump(z, whose)
        return self._largest_elasticity(z, g, whose)

    def _refuse_jump(self, z: Floats, whose: str) -> None:
        """Halve every interval of the grid towards the larger fall of log g': a fall that stays is a jump."""
        low, high = np.log(z[:-1]), np.log(z[1:])
        for _ in range(36):
            middle = 0.5 * (low + high)
            at = [self.log_marginal(part) for part in (low, middle, high)]
            left = at[0] - at[1] > at[1] - at[2]
            low, high = np.where(left, low, middle), np.where(left, middle, high)
        fall = self.log_marginal(low) - self.log_marginal(high)
        _refuse(whose, np.exp(low), fall > 1e-6, fall, "log g' falls by {value} at {z}, but g' must be differentiable")

    def _largest_elasticity(self, z: Floats, g: Floats, whose: str) -> float:
        wrong = "give its derivative: fa.Utility(marginal, slope)"
        slope = _tried(self.slope_at, z, whose, "slope", "g'' could not be computed ({}); " + wrong)
        step = DIFFERENCE * z
        with np.errstate(all="ignore"):
            differences = (np.asarray(self.marginal(z + step), float) - np.asarray(self.marginal(z - step), float)) / (2.0 * step)
            far = np.abs(slope - differences) - AGREEMENT * np.abs(differences) - 1e-9 * g / z
            e = -z * slope / g
        told = np.isfinite(differences) & np.isfinite(slope)
        text = "g''({z}) is {value}, which is not the derivative of g'; " + wrong
        _refuse(whose, z, told & (far > 0), slope, text)
        _refuse(whose, z, told & ~(slope < 0), slope, "g''({z}) is {value}, but it must be negative")
        return float(e[told].max())


def _tried(function: Function, z: Floats, whose: str, name: str, failed: str) -> Floats:
    """What a function makes of shares; InstanceError where it cannot."""
    try:
        with np.errstate(all="ignore"):
            made = np.array(function(z.copy()), dtype=float)
    except Exception as error:
        raise InstanceError(f"the utility of {whose}: {failed.format(fault(error))}") from error
    if made.shape != z.shape:
        raise InstanceError(f"the utility of {whose}: its {name} made shape {made.shape} of shares of shape {z.shape}")
    return made


def _refuse(whose: str, z: Floats, wrong: NDArray[np.bool_], values: Floats, text: str) -> None:
    for k in np.flatnonzero(wrong)[:1]:
        raise InstanceError(f"the utility of {whose}: " + text.format(z=f"{z[k]:.6g}", value=f"{values[k]:.6g}"))


@dataclass(frozen=True, eq=False)
class Marginals:
    """Log g' and its elasticity on m arcs, as functions of log z.

    alpha : (m,) the exponent, 1 where it is infinite; where the utility is one's own, the largest elasticity at the server
    log_a, log_b : (m,) of (K 22), -inf for 0; 0 and -inf where the utility is one's own
    own : each utility of one's own, its arcs, and its `table` up to the largest share that they need
    """

    alpha: Floats
    log_a: Floats
    log_b: Floats
    own: "tuple[OwnPart, ...]" = ()

    @cached_property
    def mixed(self) -> bool:
        """Whether some B is positive."""
        return bool(np.isfinite(self.log_b).any())

    def of(self, arcs: NDArray[np.intp]) -> "Marginals":
        """On these arcs, which may be named several times."""
        own = [(utility, np.flatnonzero(np.isin(arcs, at)), table) for utility, at, table in self.own]
        some = tuple(part for part in own if len(part[1]))
        return Marginals(self.alpha[arcs], self.log_a[arcs], self.log_b[arcs], some)

    def log(self, log_z: Floats, alpha: Floats | None = None) -> Floats:
        """(m,) log g'; with other exponents alpha (m,) that of one's own utility is multiplied by their quotient."""
        exponent = self.alpha if alpha is None else alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            result: Floats = exponent * (self.log_a - log_z)
            if self.mixed:
                result = np.logaddexp(result, self.log_b - log_z)
        for utility, at, _ in self.own:
            result[at] = utility.log_marginal(log_z[at]) * (exponent[at] / self.alpha[at])
        return result

    def elasticity(self, log_z: Floats, log_g: Floats, alpha: Floats | None = None) -> Floats:
        """(m,) -d log g' / d log z where `log` is log_g; of (K 22) it is between min(1, alpha) and max(1, alpha)."""
        exponent = self.alpha if alpha is None else alpha
        result = np.array(exponent)
        if self.mixed:
            result = exponent + (1.0 - exponent) * np.exp(self.log_b - log_z - log_g)
        for utility, at, _ in self.own:
            result[at] = utility.elasticity(log_z[at]) * (exponent[at] / self.alpha[at])
        return result

    def inverse(self, log_q: Floats) -> Floats:
        """(m,) log z at which log g' is log_q (m,): inf where that is -inf; for (K 22) with A, B > 0 Newton's method.

        Log g' is convex and decreasing in log z there, and the start lies on the left.
        """
        with np.errstate(invalid="ignore"):
            log_z = np.where(np.isneginf(self.log_a), self.log_b - log_q, self.log_a - log_q / self.alpha)
        if self.mixed:
            at = np.flatnonzero(np.isfinite(self.log_a) & np.isfinite(self.log_b) & np.isfinite(log_q))
            log_z[at] = self.of(at)._newton(log_q[at])
        for utility, at, table in self.own:
            log_z[at] = utility.inverse(log_q[at], table)
        return log_z

    def _newton(self, log_q: Floats) -> Floats:
        log_z = np.maximum(self.log_a - log_q / self.alpha, self.log_b - log_q)
        for _ in range(30):
            log_g = self.log(log_z)
            step = (log_g - log_q) / self.elasticity(log_z, log_g)
            log_z = log_z + step
            if np.all(np.abs(step) <= 1e-15 * (1.0 + np.abs(log_z))):
                break
        return log_z
