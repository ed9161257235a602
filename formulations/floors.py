r"""Floors: a mechanism's program or rounds for users who must run at least min_tasks_n tasks.

    the model of the mechanism,  and    u_n = sum of x over the user's arcs >= min_tasks_n    for users with a floor ("floor")

It is an edit of the mechanism (edited.py), which holds in the programs mmf, drfh-lp, utilitarian, nb, alpha-fair and fds, and in
every round of a lexicographic rule: a user stops where it can have no more while the others keep their levels and their floors.
Unlike other edits it is solved in the canonical units of the mechanism, and the optimality conditions of that model judge it.
Where no allocation has all floors, the answer names an irreducible set of them that contradict each other (solvers/iis.py), and
`explain` has their prices, the duals of "floor".
All others refuse. Conditions about one server have no place for a floor of a user's total.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import tasks_of
from fairalloc.formulations.drf_per_server import PerServer
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.gavel_max_min import GavelMaxMin
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.uniform import Uniform
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.feasibility import check_that_all_can_run
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


def in_cvxpy(problem: "cp.Problem", instance: Instance) -> "cp.Problem":
    """The problem with the constraint "floor", u_n >= min_tasks_n."""
    held = np.flatnonzero(instance.min_tasks)
    floor = (instance.arcs.owner[held] @ problem.var_dict["x"] >= instance.min_tasks[held]).set_label("floor")
    return cp.Problem(problem.objective, [*problem.constraints, floor])


def in_pyomo(model: "pyo.ConcreteModel", instance: Instance) -> None:
    """The model with the constraint `floor[n]`, u_n >= min_tasks_n."""
    tasks = tasks_of(model, instance)
    floors = {n: m for n, m in zip(instance.users, instance.min_tasks.tolist(), strict=True) if m}
    model.floor = pyo.Constraint(list(floors), rule=lambda _, n: tasks[n] >= floors[n])


class WithFloors(Edited):
    """A mechanism's model and the floors, in its units and with its prices."""

    keeps_floors = True

    def domain(self, instance: Instance) -> Instance:
        """That of the mechanism; NotApplicable where it gives every user some tasks, and floors leave one nothing."""
        result = self.base.domain(instance)
        if isinstance(self.base, AlphaFair):
            result.once((self.id, "floors"), lambda: self._check(result))
        return result

    def _check(self, instance: Instance) -> None:
        held = np.flatnonzero(instance.min_tasks)
        kept = sp.csr_array((1.0 / instance.min_tasks[held], (np.arange(len(held)), held)), shape=(len(held), instance.N))
        check_that_all_can_run(instance, kept, self.id, "the floors")

    def check_models(self, instance: Instance) -> None:
        """NotApplicable where models of one's own are not what the share of the rule says: `exact` computes with the share."""
        self.base.check_models(instance)

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """The units of the mechanism; those of a mechanism of this package are computed once for an instance."""
        if not self.base.is_ours:
            return self.base.canonical(instance)
        return instance.once((self.base, "canonical"), lambda: self.base.canonical(instance))

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:
        """Prices as for the mechanism; those of a rule with floors are divided by the unit of the level g = sigma_n u_n / phi_n.

        Parameters as in `Mechanism.model_prices`. All users have the same level, so the first one tells the unit.
        """
        if not isinstance(self.base, Leximin):
            return self.base.model_prices(domain, scaled, x, given)
        unit = domain.arcs.gamma[0] / scaled.arcs.gamma[0]
        return np.asarray(given[0] * (self.base.rate(domain)[0] * unit / self.base.rate(scaled)[0]))

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The values of the mechanism."""
        return self.base.values(allocation)


def with_floors(mechanism: Mechanism, instance: Instance) -> Mechanism:
    """The mechanism that keeps the floors of an instance that has some; NotApplicable where it cannot."""
    if mechanism.keeps_floors:
        return mechanism
    if isinstance(mechanism, Edited):
        return _edited_with_floors(mechanism, instance)
    if isinstance(mechanism, Leximin | Utilitarian | AlphaFair) and not isinstance(mechanism, PerServer | Uniform | GavelMaxMin):
        result = WithFloors(mechanism, mechanism.id, (in_cvxpy,), (in_pyomo,))
        result.title, result.edits, result.unique = f"{mechanism.title}, with floors", "the floors", mechanism.unique
        return result
    n = int(np.flatnonzero(instance.min_tasks)[0])
    floor = f"user {instance.users[n]!r} has {instance.min_tasks[n]:g}"
    whole = " for whole tasks" * mechanism.parameters.get("integral", False)
    raise NotApplicable(f"mechanism {mechanism.id!r} knows no min_tasks{whole}, but {floor}")


def _edited_with_floors(mechanism: Edited, instance: Instance) -> Mechanism:
    """The edit of the model with floors, in the layers that have one; NotApplicable where the mechanism that is edited cannot."""
    with_floors(mechanism.base, instance).domain(instance)
    kind, (base, id, cvxpy, pyomo), own = mechanism.__reduce__()  # noqa: A001
    result: Edited = kind(base, id, (in_cvxpy, *cvxpy) if cvxpy else (), (in_pyomo, *pyomo) if pyomo else ())
    vars(result).update(own, keeps_floors=True)
    return result
