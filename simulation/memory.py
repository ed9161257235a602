r"""Weights that remember what users have had: past use, halved every `half_life` seconds, lowers a user's weight.

With s_n(t) the dominant share that user n has of the cluster at time t and h the half-life,

    U_n(t) = integral of s_n(u) 2^(-(t - u) / h) du         past use
    u_n = U_n / sum_m U_m,   w_n = phi_n / sum_m phi_m       parts of past use and of weights

    "exponential"    phi'_n = phi_n max(LEAST, 2^(-k u_n / w_n))            Slurm's fair-share factor (classic), k = 1 / damping
    "linear"         phi'_n = phi_n max(LEAST, 1 + k (w_n - u_n) / w_n)     the rule of KAI's time-based fair share

Both leave weights as they are where past use is as weights say up to a common factor. An allocation at time t uses phi'(t).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairalloc.models.arguments import Duration, check_fields
from fairalloc.models.numbers import Floats

LEAST = 1e-3
"""The smallest factor of a weight: a user with weight 0 would have no share to compare."""


@dataclass(frozen=True)
class Memory:
    """How past use lowers weights.

    Attributes
    ----------
    half_life : h, seconds
    rule : "exponential" or "linear"
    strength : k
    """

    half_life: Duration
    rule: Literal["exponential", "linear"] = "exponential"
    strength: Duration = 1.0

    def __post_init__(self) -> None:
        check_fields(self)

    def after(self, use: Floats, shares: Floats, seconds: float) -> Floats:
        """(N,) past use U after some seconds with the same dominant shares.

        Parameters
        ----------
        use : (N,) past use U before
        shares : (N,) dominant shares in this time
        seconds : how long it is
        """
        rate = np.log(2.0) / self.half_life
        return np.asarray(use * np.exp(-rate * seconds) - shares * np.expm1(-rate * seconds) / rate)

    def weights(self, phi: Floats, use: Floats) -> Floats:
        """(N,) phi' for weights and past use; phi where nobody has used anything."""
        if not use.any():
            return phi
        ratio = (use / use.sum()) / (phi / phi.sum())
        factor = 2.0 ** (-self.strength * ratio) if self.rule == "exponential" else 1.0 + self.strength * (1.0 - ratio)
        return np.asarray(phi * np.maximum(factor, LEAST))
