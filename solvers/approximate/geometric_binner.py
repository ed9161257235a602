r"""`geometric-binner`: max-min fair levels by one linear program with geometric bins (Soroush: Namyar et al., NSDI 2024).

The weighted share v_n = sigma_n u_n / phi_n of each user is split into bins, and what is in a lower bin is worth more:

    max   sum_n sum_b  epsilon^(b-1) f_nb
    s.t.  sum_n d_nr x_ni <= c_ir,   sigma_n sum_i x_ni / phi_n = sum_b f_nb,   0 <= f_nb <= U_b - U_(b-1)

with U_0 = 0, U_b = U_1 alpha^(b-1), and a last bin without end. U_1 is the least level of an equal partition, which everybody can
have. A user's bins fill in their order, since their worth falls: the objective is sum_n h(v_n), h concave with slopes epsilon^b.

For a small epsilon the least level is more than a part 1 / alpha of the max-min level. At DECAY or more it can be 0 where levels
are many powers of ten apart. Where levels are a polymatroid each is within alpha of its leximin level:
docs/reference/derivations.md has the proofs, and an example without such a bound.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP, Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.models.arguments import Rule
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.highs import Highs
from fairalloc.solvers.backends.highs_session import HighsSession
from fairalloc.solvers.options import AlgorithmOptions

DECAY = 0.1
"""epsilon, where few bins are needed."""

LEAST = 1e-8
"""The worth of the last bin is not below this: HiGHS takes 1e-9 for 0."""

FINEST = 1.01
"""The least base: levels over eight orders of magnitude have 1,850 bins then, whose worths still differ for HiGHS."""


@dataclass(frozen=True)
class BinnerOptions(AlgorithmOptions):
    """Of the bins; all other options are HiGHS' own.

    Attributes
    ----------
    base : alpha, the end of each bin in units of the one before, from 1.01 on; nearer to 1 is fairer and slower
    """

    base: Annotated[float, Rule(lambda value: FINEST <= value < np.inf, f"at least {FINEST} and finite")] = 2.0


def bins(most: float, base: float) -> tuple[Floats, Floats]:
    """(B + 1,) the ends U_0, .., U_B = inf of bins for levels up to `most`, in units of U_1, and (B,) what they are worth."""
    count = 1 + int(np.ceil(np.log(max(most, base)) / np.log(base)))
    ends = np.concatenate([[0.0], base ** np.arange(count - 1.0), [np.inf]])
    return ends, max(DECAY, LEAST ** (1.0 / (count - 1))) ** np.arange(float(count))


def binned(instance: Instance, rate: Floats, base: float) -> LP:
    """The program in canonical units, where U_1 = 1; `rate` is sigma_n / phi_n. Columns: arcs, then bins by user."""
    arcs, rows = instance.arcs, instance.K * instance.R
    limit = rate * instance.max_tasks
    ends, worth = bins(float(np.minimum(rate * (arcs.owner @ arcs.gamma), limit).max()), base)
    top = np.minimum(limit[:, None], ends)
    own = sp.kron(sp.eye_array(instance.N), -np.ones((1, len(worth))))
    matrix = sp.block_array([[arcs.load, None], [sp.diags_array(rate) @ arcs.owner, own]], format="csc")
    cost = np.concatenate([np.zeros(len(arcs)), np.tile(worth, instance.N)])
    lower = np.concatenate([np.full(rows, -np.inf), np.zeros(instance.N)])
    upper = np.concatenate([np.ones(rows), np.zeros(instance.N)])
    with np.errstate(invalid="ignore"):
        width = np.nan_to_num(top[:, 1:] - top[:, :-1], nan=0.0, posinf=np.inf)
    return LP(cost, matrix, lower, upper, np.concatenate([np.full(len(arcs), np.inf), width.ravel()]))


class BinnerSession(HighsSession):
    """The one program."""

    def lp(self, round: Round | None) -> LP:  # noqa: A002, ARG002
        assert isinstance(self.mechanism, Leximin)
        return binned(self.instance, self.mechanism.rate(self.instance), self.limits.own(BinnerOptions).base).scaled(self.scale)


class GeometricBinner(Highs):
    """An approximation of max-min fair levels by one linear program, as in Soroush."""

    kinds, but = (Leximin,), (MaxMin,)  # max-min alone is one exact program already
    warm = False
    session = BinnerSession
    at_once = True
    options = BinnerOptions()


methods = (GeometricBinner("geometric-binner", "approximate"),)
