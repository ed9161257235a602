"""What a mechanism is: a definition that can be written as a model, and that an allocation can be checked against."""

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.common.convexity import is_refuted
from fairalloc.formulations.common.reading import read_off, rises_with
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, NotApplicable, said, shown
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
    convex : whether its model is a concave program; where it is not, solvers may stop at points that mean nothing; None = read.
        Without a `residual` it is read off the model also where it is declared
    remark : what every answer says besides in `message`
    takes_rounds : whether its models are those of a round (lexicographic/linear_program.py) and take one as second argument
    several_rounds : whether users who can rise no further are fixed and the others go on in another round
    unique : whether its tasks are the only ones that it allows; then they have derivatives (`fa.sensitivity`)
    merges_users, merges_servers : whether identical ones may be solved as one (solvers/merging.py has the proofs)
    own_objective : one sentence on what to do instead where an edit may not replace the objective, or ""
    functions : what was given to it and may have been written elsewhere

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
    remark: str = ""
    takes_rounds: bool = False
    several_rounds: bool = False
    unique: bool = False
    merges_users: bool = False
    merges_servers: bool = False
    own_objective: str = ""
    functions: "tuple[Callable[..., Any], ...]" = ()

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

        That it is convex is read off also where that is declared, unless it has a residual of its own, which needs no convexity.

        Raises
        ------
        FairallocError : it has no id or no model
        """
        self.check_complete()
        claimed = bool(self.convex) and not self.has_residual
        if None not in (self.linear, self.integer, self.convex) and not claimed:
            return self
        layer = "cvxpy" if "cvxpy" in self.layers else "pyomo"
        model: Any = getattr(self, layer)(instance)
        if not hasattr(model, "is_dcp" if layer == "cvxpy" else "component_data_objects"):
            rule = "a cvxpy.Problem" if layer == "cvxpy" else "a Pyomo model"
            raise FairallocError(f"write_{layer} of {self.id!r} returned {type(model).__name__}, but it must return {rule}")
        read = read_off(model)
        result = copy(self)
        for name, value in read.items():
            if getattr(self, name) is None:
                setattr(result, name, value)
        if claimed and not read["convex"]:
            known = "which is false" if is_refuted(model, self.domain(instance)) else "which is not proved"
            result.remark = f"{self.id!r} is declared to be convex, {known}"
            with suppress(AttributeError):  # a property
                result.convex = False
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

    def unwritten(self, instance: Instance, layer: str) -> str:  # noqa: ARG002 (for those that have no model for some)
        """One sentence on why there is no model in "cvxpy" or "pyomo" for this instance with these parameters, or ""."""
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

    def user_errors(self, allocation: Allocation) -> Floats | None:  # noqa: ARG002 (for those whose tasks are unique)
        """(N,) bounds on the relative errors of the users' tasks, inf where not known; None where right tasks are not unique."""
        return None

    def measured(self, allocation: Allocation) -> tuple[float, Floats | None]:
        """The residual and the user errors, which some mechanisms compute together."""
        return self.residual(allocation), self.user_errors(allocation)

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

    An edit makes the mechanism one program, and each answer says so, where it adds integers or what is not proved to be convex,
    changes a constraint "fairness", adds one about g, or has another objective than a g + b with a > 0.

    Edits see the instance and its tasks in the user's own units: an edited model is not brought to canonical units.

    Attributes
    ----------
    base : the mechanism that is edited
    cvxpy_edit, pyomo_edit : the edit in each layer, None where there is none
    """

    def __init__(self, base: Mechanism, id: str, cvxpy: Any, pyomo: Any) -> None:  # noqa: A002
        if not (isinstance(id, str) and id):
            raise FairallocError(f"the id of the edit is {shown(id)}, but it must be a name")
        for layer, edit in (("cvxpy", cvxpy), ("pyomo", pyomo)):
            if edit is not None and not callable(edit):
                raise FairallocError(f"the {layer} edit of {id!r} is {shown(edit)}, but it must be a function")
        if cvxpy is None and pyomo is None:
            raise FairallocError(f"the edit {id!r} changes nothing: give a function for cvxpy or for pyomo")
        self.base, self.id, self.cvxpy_edit, self.pyomo_edit = base, id, cvxpy, pyomo
        self.title, self.source = f"{base.id}, edited", base.source
        self._known: tuple[Instance, Edited] | None = None
        self._problem: cp.Problem | None = None
        self._rounds: ParametricRound | None = None
        self._goal: tuple[Any, Any] | None = None

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
        if self._known is None or self._known[0] is not instance or self._known[1]._has_turned():
            result = Edited(self.base, self.id, self.cvxpy_edit, self.pyomo_edit)
            result._settle(self.domain(instance))
            self._known = instance, result
        return self._known[1]

    def _settle(self, domain: Instance) -> None:
        lost = self._lost(domain) if self.base.several_rounds else ""
        self.takes_rounds = self.base.several_rounds and not lost
        if lost:
            self.remark = f"the edit makes {self.base.id!r} one program without its later rounds, for {lost}"
        if not self.takes_rounds:
            self._rounds = None
            self._problem = self._edited_problem(domain) if self.cvxpy_edit is not None else None
        kind = read_off(self._problem if self._problem is not None else self.write_pyomo(domain))
        self.linear, self.integer, self.convex = kind["linear"], kind["integer"], kind["convex"]

    def _lost(self, domain: Instance) -> str:
        """Write the model of the rounds, edited; what the edit takes from it that rounds need, "" where it leaves all."""
        if self.cvxpy_edit is None:
            model, lost = self._edited_model(domain)
        else:
            self._rounds = self.base.parametric_round(domain)
            model, lost = self._edited_rounds(self._rounds.problem, domain)
        kind = read_off(model)
        if kind["integer"] or not kind["convex"]:
            self._goal = None
            return "the model has integers" if kind["integer"] else "the model is not proved to be convex"
        return lost

    def _edited_rounds(self, problem: "cp.Problem", domain: Instance) -> "tuple[cp.Problem, str]":
        """The problem of the rounds, edited and kept, and what it lacks then."""
        fairness, g = next(c for c in problem.constraints if c.label == "fairness"), problem.var_dict["g"]
        model = self._problem = self._applied_to(problem, domain)
        found = [c for c in model.constraints if c.label == "fairness"]
        if len(found) != 1 or found[0] is not fairness:
            return model, FAIRNESS
        if any(v is g for c in model.constraints if c is not fairness for v in c.variables()):
            return model, LEVELS
        self._goal = model.objective, g  # whose parameters may change
        return model, "" if rises_with(*self._goal) else LEVEL

    def _has_turned(self) -> bool:
        """Whether a parameter of the objective has changed so that it rises with g no more, or does again."""
        return self._goal is not None and rises_with(*self._goal) != self.takes_rounds

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

        before = problem.objective.expr
        result = self._applied(self.cvxpy_edit, problem, instance)
        if not isinstance(result, cp.Problem):
            raise FairallocError(f"the edit {self.id!r} returned {type(result).__name__}, but it must return a cvxpy.Problem")
        if "x" not in result.var_dict:
            raise FairallocError(f"the edit {self.id!r} left no variable 'x', but the tasks are read from it")
        if self.base.own_objective and result.objective.expr is not before:
            raise NotApplicable(self.base.own_objective)
        return result

    def write_pyomo(self, instance: Instance, round: "Round | None" = None) -> "pyo.ConcreteModel":  # noqa: A002
        """The base's model, edited in place."""
        if self.pyomo_edit is None:
            raise FairallocError(f"the edit {self.id!r} has no function for pyomo")
        model, lost = self._edited_model(instance, round)
        if self.takes_rounds and lost:
            raise FairallocError(f"the edit {self.id!r} keeps the rounds in cvxpy, but not in pyomo, where {lost}")
        return model

    def _edited_model(self, instance: Instance, round: "Round | None" = None) -> "tuple[pyo.ConcreteModel, str]":  # noqa: A002
        """The model, edited, and what it lacks of a round."""
        from pyomo.core.expr.visitor import identify_variables

        model = self.base.write_pyomo(instance, *((round,) if self.base.takes_rounds else ()))
        own, fairness, g = set(map(id, _rows(model))), _fairness(model), model.component("g")
        before = [goal.expr for goal in _goals(model)]
        self._applied(self.pyomo_edit, model, instance)
        goals = _goals(model)
        if self.base.own_objective and (len(goals) != 1 or goals[0].expr is not before[0]):
            raise NotApplicable(self.base.own_objective)
        if not self.base.several_rounds:
            return model, ""
        found = _fairness(model)
        if found.keys() != fairness.keys() or any(found[user] is not row for user, row in fairness.items()):
            return model, FAIRNESS
        added = [row.body for row in _rows(model) if id(row) not in own]
        if (g.lb, g.ub) != (0.0, None) or any(g is v for body in added for v in identify_variables(body)):
            return model, LEVELS
        return model, "" if len(goals) == 1 and not g.fixed and rises_with(goals[0], g) else LEVEL

    def _applied(self, edit: Any, model: Any, instance: Instance) -> Any:
        try:
            return edit(model, instance)
        except FairallocError:
            raise
        except Exception as error:
            raise FairallocError(f"the edit {self.id!r} failed: {type(error).__name__}: {said(error)}") from error

    def values(self, allocation: Allocation) -> dict[str, float]:
        """Those of the base where its rounds are kept; else the model's objective is reported."""
        return self.base.values(allocation) if self.takes_rounds else {}


FAIRNESS = 'its constraints "fairness" are not those of the rule'
LEVELS = "a constraint that is not of the rule is about the level g"
LEVEL = "its objective is not one that rises with g alone"


def _fairness(model: "pyo.ConcreteModel") -> dict[Any, Any]:
    """The active constraints "fairness" of a round by user, as expressions."""
    part = model.component("fairness")
    return {} if part is None else {user: row.expr for user, row in part.items() if row.active}


def _rows(model: "pyo.ConcreteModel") -> list[Any]:
    """The active constraints, each by itself."""
    import pyomo.environ as pyo

    return list(model.component_data_objects(pyo.Constraint, active=True))


def _goals(model: Any) -> list[Any]:
    import pyomo.environ as pyo

    return list(model.component_data_objects(pyo.Objective, active=True))
