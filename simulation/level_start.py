r"""A warm start for rules that are lexicographically max-min fair: users whose limits end their rise early are ended together.

The rounds of such a rule (solvers/lexicographic/rounds.py) raise all users by one level g and end where one reaches its own
limit, at cap_n = sigma_n max_tasks_n / phi_n. Most users want little, so there are nearly as many rounds as users, while the
level g_1 at which the first capacity stops anybody hardly moves from one allocation to the next.

1. The level that the allocation before had for the users with less than all they asked for is guessed to be g_1 again, less a
   margin.
2. Those with cap_n below it get the weights phi_n cap_n / c, where c is the largest of these caps: in the changed instance they
   all reach their limits at c, in one round.
3. The answer is judged on the given instance by its own prices (judge.py). What these do not prove is solved without a start.

**The answers agree where c <= g_1.** Up to c nobody is stopped by a capacity in either instance, for what runs at a level up to c
in the changed one is at most what runs at g_1 in the given one. From c on both instances have the same users, with the same
weights, below their limits, and the same others at them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.solvers import judged, solve
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import promised

__all__ = ["LevelStart"]

MARGINS = (0.9, 0.5)  # parts of the level before that are tried in turn

OF_SOLVE = ("method", "accuracy", "time_limit", "options", "reference", "threads", "merge")
"""The options of `solve`; the others are the mechanism's parameters."""


class LevelStart:
    """Solves one instance after the other, with options of `solve`, each from the level of the one before where that helps."""

    def __init__(self, mechanism: str | Mechanism | type[Mechanism], options: Mapping[str, Any]) -> None:
        self.mechanism, self.options = mechanism, dict(options)
        parameters = {name: value for name, value in options.items() if name not in OF_SOLVE}
        item = find_mechanism(mechanism).configure(**parameters)
        self._rule = item if isinstance(item, Leximin) and item.several_rounds else None
        self._level: float | None = None
        self.started = 0
        """How many answers came from a start."""

    def solve(self, instance: Instance) -> Allocation:
        """The judged allocation of the instance."""
        rule = self._rule
        if rule is None or np.isinf(instance.max_tasks).any() or rule.domain(instance) is not instance:
            return solve(instance, self.mechanism, **self.options)
        answer = self._from_level(rule, instance)
        if answer is None:
            answer = solve(instance, self.mechanism, **self.options)
        if answer.has_point:
            short = answer.tasks < instance.max_tasks * (1.0 - 1e-9)
            self._level = float((rule.rate(instance) * answer.tasks)[short].min(initial=np.inf))
        return answer

    def _from_level(self, rule: Leximin, instance: Instance) -> Allocation | None:
        """The answer from the first margin that is proved; None where there is no level before, or none is proved."""
        if self._level is None:
            return None
        cap = rule.rate(instance) * instance.max_tasks
        for margin in MARGINS:
            early = cap <= margin * self._level
            if early.sum() < 2:
                return None
            weights = np.where(early, instance.weights * cap / cap[early].max(), instance.weights)
            found = solve(instance.replace(weights=weights), self.mechanism, **self.options)
            if not found.claims_success:
                continue
            accuracy = self.options.get("accuracy", "mid")
            answer = judged(rule, replace(found, instance=instance, residuals={}), Limits(accuracy), reference=False)
            if answer.claims_success and answer.residual <= promised(accuracy):
                self.started += 1
                return answer
        return None
