"""What a mechanism is: a definition that can be written as a model, and that an allocation can be checked against."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.common.reading import read_off
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from collections.abc import Callable

    import cvxpy as cp
    import pyomo.environ as pyo

    from fairalloc.formulations.lexicographic.linear_program import ParametricRound, Round

__all__ = ["NAMES", "Edited", "Mechanism"]

NAMES: "list[Callable[[str], bool]]" = []
"""What says whether a name is that of a mechanism of this package: the registry, which imports this file."""


class Mechanism:
    """A fair allocation mechanism: an id, and a model in CVXPY, in Pyomo, or in both.

    A mechanism of one's own is a subclass with an `id` and `write_cvxpy` or `write_pyomo`. Everything else has a default: what is
    not declared of `linear`, `integer` and `convex` is read off the model, and without a `residual` an answer is judged by the
    optimality conditions of the model itself (common/optimality.py).

    Attributes
    ----------
    id, aliases : its public names
    title : one line for tables
    source : where it is defined, paper key and equation
    linear : whether it is a linear program or a sequence of them; None = read off the model
    integer : whether its model has integer variables (and is linear otherwise); None = read off the model
    convex : whether its model is a concave program; where it is not, solvers may stop at points that mean nothing; None = read
    takes_rounds : whether its models are those of a round (lexicographic/linear_program.py) and take one as second argument
    several_rounds : whether users who can rise no further are fixed and the others go on in another round
    unique : whether its tasks are the only ones that it allows; then they have derivatives (`fa.sensitivity`)
    merges_users, merges_servers : whether identical ones may be solved as one (solvers/merging.py has the proofs)

    Examples
    --------
    >>> from fairalloc.formulations.common.tasks import cvxpy_tasks
    >>> class MostTasks(Mechanism):
    ...     id = "most-tasks"
    ...     def write_cvxpy(self, instance):
    ...         import cvxpy as cp
    ...         x, constraints = cvxpy_tasks(instance)
    ...         return cp.Problem(cp.Maximize(cp.sum(x)), constraints)
    >>> MostTasks().settled(Instance([[1], [2]], [[2]])).linear
    True
    """

    id: str = ""
    aliases: tuple[str, ...] = ()
    title: str = ""
    source: str = ""
    linear: bool | None = None
    integer: bool | None = None
    convex: bool | None = None
    takes_rounds: bool = False
    several_rounds: bool = False
    unique: bool = False
    merges_users: bool = False
    merges_servers: bool = False

    def __repr__(self) -> str:
        given = "".join(f" {name}={value!r}" for name, value in self.parameters.items())
        return f"<mechanism {self.id}{given}>"

    @property
    def layers(self) -> frozenset[str]:
        """The modelling layers that it is written in, of "cvxpy" and "pyomo"."""
        written = {"cvxpy": Mechanism.write_cvxpy, "pyomo": Mechanism.write_pyomo}
        return frozenset(layer for layer, blank in written.items() if getattr(type(self), f"write_{layer}") is not blank)

    @property
    def has_residual(self) -> bool:
        """Whether it says itself how far an allocation is from its definition."""
        return type(self).residual is not Mechanism.residual

    def check_complete(self) -> None:
        """Raise a FairallocError where it has no id or no model."""
        if not (isinstance(self.id, str) and self.id):
            raise FairallocError(f"the id of the mechanism {type(self).__name__} is {self.id!r}, but it must be a name")
        if not self.layers:
            raise FairallocError(f"mechanism {self.id!r} has no model: it must define write_cvxpy or write_pyomo")

    def settled(self, instance: Instance) -> "Mechanism":
        """The mechanism with `linear`, `integer` and `convex` known, read off its model where they are not declared.

        Raises
        ------
        FairallocError : it has no id or no model
        """
        self.check_complete()
        if None not in (self.linear, self.integer, self.convex):
            return self
        read = read_off(self.cvxpy(instance) if "cvxpy" in self.layers else self.pyomo(instance))
        result = copy(self)
        for name, value in read.items():
            if getattr(self, name) is None:
                setattr(result, name, value)
        return result

    def edited(
        self,
        id: str,  # noqa: A002 (the public name of the attribute)
        cvxpy: "Callable[[cp.Problem, Instance], cp.Problem] | None" = None,
        pyomo: "Callable[[pyo.ConcreteModel, Instance], None] | None" = None,
    ) -> "Mechanism":
        """A mechanism of its own whose model is this one's, edited.

        Parameters
        ----------
        id : its name, which must not be that of a mechanism of this package
        cvxpy : `f(problem, instance) -> cp.Problem`
        pyomo : `h(model, instance) -> None`, which changes the model in place; either edit is enough

        Returns
        -------
        The mechanism; see `Edited` for what `solve` makes of it

        Raises
        ------
        FairallocError : the id is a name of one of the mechanisms of this package, or the edit is none
        """
        if isinstance(id, str) and any(is_name(id) for is_name in NAMES):
            raise FairallocError(f"the id of the edit is {id!r}, but that is the name of another mechanism")
        return Edited(self, id, cvxpy, pyomo)

    def configure(self, /, **parameters: Any) -> "Mechanism":
        """The mechanism with these parameters; FairallocError for one that it does not have."""
        for name in parameters:
            raise NotApplicable(f"mechanism {self.id!r} has no parameter {name!r}: it has none")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters it is configured with."""
        return {}

    def domain(self, instance: Instance) -> Instance:
        """The instance the models are written for; FairallocError where the mechanism is not defined."""
        return instance

    def home(self, instance: Instance) -> Instance:
        """The instance an allocation is given on: the domain, unless that is only a way to write the model."""
        return self.domain(instance)

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """The instance in units fit for floating point, and (N,) how many tasks one of its task units is.

        By default the instance itself: only a mechanism knows whether other units of tasks change what it means.
        """
        return instance, np.ones(instance.N)

    def cvxpy(self, instance: Instance, **details: Any) -> "cp.Problem":
        """The CVXPY problem; variable "x" is in tasks on the arcs of `domain(instance)`, constraints carry labels.

        `details` are those of `write_cvxpy`: a lexicographic mechanism takes a `round`.
        """
        return self.write_cvxpy(self.domain(instance), **details)

    def pyomo(self, instance: Instance, **details: Any) -> "pyo.ConcreteModel":
        """The Pyomo model; `x[user, variant, server]` is in tasks, with the names of `domain(instance)`."""
        return self.write_pyomo(self.domain(instance), **details)

    def parametric_round(self, instance: Instance) -> "ParametricRound":  # noqa: ARG002 (for rules with rounds)
        """One CVXPY problem for all rounds, where there are rounds."""
        raise FairallocError(f"mechanism {self.id!r} has no rounds")

    def unwritten(self, instance: Instance) -> str:  # noqa: ARG002 (for those that have no model for some)
        """One sentence on why there is no model for this instance with these parameters, or ""."""
        return ""

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:
        """(K, R) the allocation's prices: the variable "kappa" where the model has it, else the duals of "capacity".

        Parameters
        ----------
        instance : the domain
        duals : (K, R) of "capacity"; None where the solver gave none
        values : the values of the model's variables by name
        """
        return np.asarray(values["kappa"]).reshape(instance.K, instance.R) if "kappa" in values else duals

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002 (for the others)
        """The prices of the model on its domain, from those of the same model in canonical units.

        Parameters
        ----------
        domain : the instance of the model that the user sees
        scaled : `canonical(domain)`, where the model was solved; `domain` itself for methods that take no canonical units
        x : (A,) the tasks on `domain`
        given : (T, K, R) the prices on `scaled`; one layer where there are no rounds

        Returns
        -------
        (K, R) dual prices of the constraints "capacity" of `write_cvxpy(domain)`
        """
        last: Floats = given[-1]
        return last

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":  # noqa: ARG002 (for those without one)
        """The CVXPY problem on an instance that is a domain already."""
        raise FairallocError(f"mechanism {self.id!r} has no CVXPY model: it is written in {' and '.join(sorted(self.layers))}")

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":  # noqa: ARG002 (for those without one)
        """The Pyomo model on an instance that is a domain already."""
        raise FairallocError(f"mechanism {self.id!r} has no Pyomo model: it is written in {' and '.join(sorted(self.layers))}")

    def values(self, allocation: Allocation) -> dict[str, float]:  # noqa: ARG002 (for those that name something)
        """What the mechanism equalises ("g") or maximises ("objective"), at this allocation; {} = the model's objective."""
        return {}

    def marginal(self, allocation: Allocation) -> Floats | None:  # noqa: ARG002 (for programs of utilities)
        """(N,) derivative of the objective by each user's tasks, where optimality is proved by prices; None where it is not."""
        return None

    def residual(self, allocation: Allocation) -> float:
        """How far the allocation is from the definition: dimensionless, 0 when it holds.

        It is computed from the instance and the tasks. Where optimality is proved by prices, it is what the allocation's own
        prices prove; solvers/judge.py looks for better ones where these prove too little.
        """
        raise NotImplementedError(f"mechanism {self.id!r} has no residual of its own")


class Edited(Mechanism):
    r"""The model of another mechanism, with constraints added or its objective replaced.

        capped = fa.mechanism("drfh").edited("capped", cvxpy=lambda problem, instance: ...)

    The edit is applied to the model of every round of a lexicographic mechanism, and the rounds keep the rule's own objective.
    With g the level of a round, the dual prices y_n >= 0 of the constraints "fairness" add up to 1, and a user with y_n > 0 has
    exactly g in every optimal answer of the round, whatever constraints were added, if these are convex (complementary
    slackness). So users with y_n > 0 are fixed at g and the others go on (solvers/lexicographic/edited_rounds.py).

    An edit that replaces the objective, adds integers or takes "fairness" away makes the mechanism one program.

    Edits see the instance and its tasks in the user's own units: an edited model is not brought to canonical units.

    Attributes
    ----------
    base : the mechanism that is edited
    cvxpy_edit, pyomo_edit : the edit in each layer, None where there is none
    """

    def __init__(self, base: Mechanism, id: str, cvxpy: Any, pyomo: Any) -> None:  # noqa: A002
        if not (isinstance(id, str) and id):
            raise FairallocError(f"the id of the edit is {id!r}, but it must be a name")
        for layer, edit in (("cvxpy", cvxpy), ("pyomo", pyomo)):
            if edit is not None and not callable(edit):
                raise FairallocError(f"the {layer} edit of {id!r} is {edit!r}, but it must be a function")
        if cvxpy is None and pyomo is None:
            raise FairallocError(f"the edit {id!r} changes nothing: give a function for cvxpy or for pyomo")
        self.base, self.id, self.cvxpy_edit, self.pyomo_edit = base, id, cvxpy, pyomo
        self.title, self.source = f"{base.id}, edited", base.source
        self._known: tuple[Instance, Edited] | None = None
        self._problem: cp.Problem | None = None
        self._rounds: ParametricRound | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels to another process is what it was made of: a compiled model stays behind."""
        return Edited, (self.base, self.id, self.cvxpy_edit, self.pyomo_edit)

    @property
    def layers(self) -> frozenset[str]:
        """The layers that have an edit and a model."""
        edits = {"cvxpy": self.cvxpy_edit, "pyomo": self.pyomo_edit}
        return frozenset(layer for layer in self.base.layers if edits[layer] is not None)

    def configure(self, /, **parameters: Any) -> Mechanism:
        """The edit of the base with these parameters."""
        if not parameters:
            return self
        return Edited(self.base.configure(**parameters), self.id, self.cvxpy_edit, self.pyomo_edit)

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the base."""
        return self.base.parameters

    def domain(self, instance: Instance) -> Instance:
        """That of the base."""
        return self.base.domain(instance)

    def home(self, instance: Instance) -> Instance:
        """That of the base."""
        return self.base.home(instance)

    def settled(self, instance: Instance) -> Mechanism:
        """With its kind read off the edited model, and whether it still goes by rounds.

        The CVXPY problem is written once for an instance: solving again after a `cp.Parameter` has changed compiles nothing.
        """
        if self.linear is not None:
            return self
        if not self.layers:
            raise FairallocError(f"the edit {self.id!r} is of no layer in which {self.base.id!r} is written")
        if self._known is None or self._known[0] is not instance:
            result = Edited(self.base, self.id, self.cvxpy_edit, self.pyomo_edit)
            result._settle(self.domain(instance))
            self._known = instance, result
        return self._known[1]

    def _settle(self, domain: Instance) -> None:
        kept = self.base.several_rounds and self._rounds_are_kept(domain)
        if not kept:
            self._rounds = None
            self._problem = self._edited_problem(domain) if self.cvxpy_edit is not None else None
        model = self._problem if self._problem is not None else self.write_pyomo(domain)
        kind = read_off(model)
        self.linear, self.integer, self.convex, self.takes_rounds = kind["linear"], kind["integer"], kind["convex"], kept

    def _rounds_are_kept(self, domain: Instance) -> bool:
        """Write the model of the rounds, edited; whether the edit leaves max g, "fairness" and convexity in place."""
        if self.cvxpy_edit is not None:
            self._rounds = self.base.parametric_round(domain)
            model = self._problem = self._applied_to(self._rounds.problem, domain)
        else:
            model = self.write_pyomo(domain)
        kind = read_off(model)
        return kind["convex"] and not kind["integer"] and self._keeps_the_round(model)

    def _keeps_the_round(self, model: Any) -> bool:
        """Whether the objective is still max g and the constraints "fairness" are still there."""
        if self.cvxpy_edit is not None:
            expr = model.objective.expr
            kept = str(expr) == "g" and type(model.objective).__name__ == "Maximize"
            return kept and "fairness" in {c.label for c in model.constraints}
        fair, goals = model.component("fairness"), list(model.component_data_objects(_objectives(), active=True))
        return fair is not None and fair.active and len(goals) == 1 and goals[0].expr is model.component("g")

    def write_cvxpy(self, instance: Instance, round: "Round | None" = None) -> "cp.Problem":  # noqa: A002
        """The base's problem, edited; once it is settled always the same object, set to the round."""
        if self._rounds is not None:
            self._rounds.set(round)
        return self._problem if self._problem is not None else self._edited_problem(instance)

    def _edited_problem(self, instance: Instance) -> "cp.Problem":
        if self.cvxpy_edit is None:
            raise FairallocError(f"the edit {self.id!r} has no function for cvxpy")
        return self._applied_to(self.base.write_cvxpy(instance), instance)

    def _applied_to(self, problem: "cp.Problem", instance: Instance) -> "cp.Problem":
        import cvxpy as cp

        result = self._applied(self.cvxpy_edit, problem, instance)
        if not isinstance(result, cp.Problem):
            raise FairallocError(f"the edit {self.id!r} returned {type(result).__name__}, but it must return a cvxpy.Problem")
        if "x" not in result.var_dict:
            raise FairallocError(f"the edit {self.id!r} left no variable 'x', but the tasks are read from it")
        return result

    def write_pyomo(self, instance: Instance, round: "Round | None" = None) -> "pyo.ConcreteModel":  # noqa: A002
        """The base's model, edited in place."""
        if self.pyomo_edit is None:
            raise FairallocError(f"the edit {self.id!r} has no function for pyomo")
        model = self.base.write_pyomo(instance, *((round,) if self.base.takes_rounds else ()))
        self._applied(self.pyomo_edit, model, instance)
        return model

    def _applied(self, edit: Any, model: Any, instance: Instance) -> Any:
        try:
            return edit(model, instance)
        except FairallocError:
            raise
        except Exception as error:
            raise FairallocError(f"the edit {self.id!r} failed: {type(error).__name__}: {error}") from error

    def values(self, allocation: Allocation) -> dict[str, float]:
        """Those of the base where its rounds are kept; else the model's objective is reported."""
        return self.base.values(allocation) if self.takes_rounds else {}


def _objectives() -> Any:
    import pyomo.environ as pyo

    return pyo.Objective
