r"""The family of alpha-fair mechanisms: its parameters, and its two ends, which are a linear program and a lexicographic rule.

    alpha = 0      max  sum_n s_n                        (sum_n phi_n U(s_n / phi_n) with U(z) = z: weights cancel)
    alpha = inf    s_n / phi_n is lexicographically max-min fair

with the shares s_n = sigma_n u_n of alpha_fair.py, which has what lies between.
"""

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.formulations.game.parameters import by_name, number
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism, one_of
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import require
from fairalloc.models.exact import rationals
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, is_vector
from fairalloc.models.shares import count, global_dominant_share, task_share
from fairalloc.models.transformations.aggregation import pooled

SHARES: Mapping[str, tuple[Callable[[Instance], Floats], Callable[[Instance], tuple[Fraction, ...]]]] = {
    "tasks": (count, rationals.count),
    "task-share": (task_share, rationals.task_share),
    "dominant-share": (global_dominant_share, rationals.global_dominant_share),
}
"""sigma_n, the share that one task of a user stands for, in floating point and as rationals."""


class AlphaFamily(Mechanism):
    """A member with finite `alpha` > 0, a number or one for each user.

    by : a name of SHARES
    pool : whether all servers count as one, and there is no parameter `share`
    """

    merges_servers = True

    def __init__(self, alpha: Any, by: str, *, id: str, title: str, source: str, pool: bool = False) -> None:  # noqa: A002
        self.alpha, self.by, self.pool = alpha, by, pool
        self.id, self.title, self.source = id, title, source
        self.share, self.exact_share = SHARES[by]
        self.merges_users = isinstance(alpha, float)
        self.is_mean = isinstance(alpha, float) and alpha > 1  # the models maximise the power mean then

    def configure(self, /, **parameters: Any) -> Mechanism:
        """`alpha`: at least 0, or "inf", or positive numbers for each user or by name; `share`: a name of SHARES."""
        self.refuse_others(parameters, self.parameters)
        given = {**self.parameters, **parameters}
        alpha, by = _checked(given["alpha"]), given.get("share", self.by)
        one_of("share", by, SHARES)
        member = type(self)(alpha, by, id=self.id, title=self.title, source=self.source, pool=self.pool)
        if not isinstance(alpha, float) or 0 < alpha < np.inf:
            return member
        return LexicographicEnd(member) if alpha else LargestSum(member)

    @property
    def parameters(self) -> dict[str, Any]:
        """`alpha` as JSON has it: "inf" where it is."""
        return {"alpha": "inf" if self.alpha == np.inf else self.alpha} | ({} if self.pool else {"share": self.by})

    def alphas(self, instance: Instance) -> Floats | float:
        """One alpha for all users, or (N,) one for each; InstanceError where these do not fit."""
        return self.alpha if isinstance(self.alpha, float) else np.array(by_name(self.alpha, instance.users, "alpha", "user"))

    def domain(self, instance: Instance) -> Instance:
        """The instance, or where all servers are one the pool; FairallocError where shares or alphas are not defined."""
        result = pooled(instance) if self.pool else instance
        self.rate(result)
        self.alphas(result)
        return result

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n: the weighted share of one task."""
        return instance.once(("rate", self.by), lambda: self.share(instance) / instance.weights)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def in_parts(self, allocation: Allocation, of: Floats, power: float) -> Floats | None:
        """(N,) of_n (s_n / phi_n)^(power - alpha_n) in parts of the largest; None where a user has no task."""
        if not allocation.has_point or np.any(allocation.tasks <= 0):
            return None
        v = self.rate(allocation.instance) * allocation.tasks
        logs = np.log(of) + (power - self.alphas(allocation.instance)) * np.log(v)
        return np.asarray(np.exp(logs - logs.max()))


def _checked(given: Any) -> Any:
    """A float, or floats for each user in a tuple or by name; InstanceError for what is no alpha."""
    if isinstance(given, Mapping):
        return dict(zip(given, _checked(list(given.values())), strict=True))
    if not is_vector(given):
        alpha = number(given, "alpha")
        require(alpha >= 0, "alpha is", given, "it must be a number of at least 0, or inf")
        return alpha
    for value in given:
        sound = 0 < number(value, "alpha of a user") <= sys.float_info.max
        require(sound, "alpha of a user is", value, "it must be positive and finite where users have alphas of their own")
    return tuple(map(float, given))


class End(Mechanism):
    """An end of the line: `of` has its name and its parameters."""

    def __init__(self, of: AlphaFamily) -> None:
        self.of, self.id, self.title, self.source = of, of.id, of.title, of.source

    def configure(self, /, **parameters: Any) -> Mechanism:
        return self.of.configure(**parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        return self.of.parameters


class LargestSum(End, Utilitarian):
    """The end alpha = 0: utilitarian on the instance whose weights are the shares of a task."""

    def domain(self, instance: Instance) -> Instance:
        """The instance with these weights, in rationals; the allocation is given on that with its own."""
        home = self.home(instance)

        def made() -> Instance:
            worth = self.exact_worth(home)
            return home if home.exact.weights == worth else home.replace(weights=list(worth))

        return home.once(("largest sum", self.of.by), made)

    def home(self, instance: Instance) -> Instance:
        return self.of.domain(instance)

    def worth(self, instance: Instance) -> Floats:
        return self.of.share(instance)

    def exact_worth(self, instance: Instance) -> tuple[Fraction, ...]:
        return self.of.exact_share(instance)


class LexicographicEnd(End, Leximin):
    """The end alpha = inf: lmmf, tsf or drfh, by the share."""

    def __init__(self, of: AlphaFamily) -> None:
        End.__init__(self, of)
        Leximin.__init__(self, of.id, of.share, exact_share=of.exact_share, title=of.title, source=of.source, domain=of.domain)
