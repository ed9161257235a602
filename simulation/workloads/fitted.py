"""Distributions that have the printed marginals, and what is drawn from them.

Where a paper prints points of a distribution function, the distribution here goes through them exactly and is straight between
them over the logarithm; its two ends are of our choice.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from fairalloc.models.numbers import Floats


def values_at(points: Sequence[tuple[float, float]], part: Sequence[float] | Floats) -> Floats:
    """The values below which these parts are, through points (value, part below it), straight over the logarithm of the value.

    >>> values_at(((1.0, 0.0), (10.0, 0.5), (1000.0, 1.0)), [0.25, 0.75]).round(3).tolist()
    [3.162, 100.0]
    """
    values, parts = np.array(points).T
    return np.asarray(np.exp(np.interp(np.asarray(part, dtype=float), parts, np.log(values))))


DAY = 86400.0

ACTIVITY = (1.0, 0.0), (300.0, 0.38), (DAY, 0.84), (29 * DAY, 1.0)
"""Seconds that a job is active. K Fig. 8: 38 % end within 5 minutes, 16 % last over 24 hours; the ends are ours: 1 s, 29 days."""

QUANTA = (0.01, 0.0), (10.0, 0.53), (1e4, 0.95), (2.5e6, 1.0)
"""Quanta of a job over 24 hours. K Fig. 8: 53 % need under 10, 5 % over 10,000; the ends are ours: 0.01 and 2.5 million."""

DEPENDENCE = 0.9  # correlation of the normal scores of activity and quanta: ours, for the paper prints the marginals only

TASKS = (
    *((1.0, 0.55), (2.0, 0.65), (3.0, 0.75), (5.0, 0.8), (10.0, 0.85)),
    *((25.0, 0.9), (100.0, 0.95), (520.0, 0.99), (3879.0, 1.0)),
)
"""Tasks of a job: quantiles of the 1,145 jobs at the start of the Google 2011 trace."""

REQUEST = np.array([-3.46, -4.01]), np.array([1.30, 1.31]), 0.61
"""Mean and standard deviation of the logarithms of CPU and memory that a task of these jobs requests, and their correlation.

They are in units of the largest server. What is drawn is logarithmic normal, cut off at half of it.
"""


def quanta_for(activity: Floats, rng: np.random.Generator) -> Floats:
    """(J,) quanta with the marginal of K Fig. 8, more for jobs that are active for longer (DEPENDENCE)."""
    count = len(activity)
    order = np.empty(count)
    order[np.lexsort((rng.random(count), activity))] = (np.arange(count) + 0.5) / max(count, 1)
    score = DEPENDENCE * ndtri(order) + np.sqrt(1 - DEPENDENCE**2) * rng.standard_normal(count)
    return values_at(QUANTA, ndtr(score))
