"""The model of another mechanism, edited: what `Mechanism.edited` returns."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.convexity import read_off, rises_with
from fairalloc.formulations.common.kkt_residual import active
from fairalloc.formulations.common.modelling import cp, layer_to_read, pyo
from fairalloc.formulations.lexicographic.linear_program import ParametricRound, Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError, NotApplicable, callers, check_name, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

FAIRNESS = 'its constraints "fairness" are not those of the rule'
LEVELS = "a constraint that is not of the rule is about the level g"
NESTED = "only rules without groups keep them"
LEVEL = "its objective is not one that rises with g alone"


Edits: TypeAlias = tuple[Callable[..., Any], ...]
"""What is done to the model of a layer, one after the other; () where the layer has no model."""


class Edited(Mechanism):
    r"""The model of another mechanism, edited in each layer or in one, with constraints added or its objective replaced.

        capped = fa.mechanism("drfh").edited("capped", cvxpy=lambda problem, instance: ...)

    The edit is applied to the model of every round of a lexicographic mechanism, and the rounds keep the rule's own objective.
    Users with positive dual prices of "fairness" are fixed at its level, the others go on (solvers/lexicographic/rounds.py).

    The edit of an edit is one edit after the other. On an instance with floors the model that is edited has them (floors.py).

    An edit makes the mechanism one program, and each answer says so, where it adds integers or what is not proved to be convex,
    changes a constraint "fairness", adds one about g, or has another objective than a g + b with a > 0; so does every edit of
    nested-leximin. Edits see the instance and its tasks in the user's own units: an edited model is not made canonical.
    """

    _known: "tuple[Instance, Edited] | None" = None
    _written: Instance | None = None
    _problem: "cp.Problem | None" = None
    _rounds: "ParametricRound | None" = None

    def __init__(self, base: Mechanism, id: str, cvxpy: Edits, pyomo: Edits) -> None:  # noqa: A002
        self.base, self.id, self.cvxpy_edits, self.pyomo_edits = base, id, cvxpy, pyomo
        self.title, self.source = f"{base.id}, edited", base.source
        self.edits = f"the edit {id!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels to another process is what it was made of: a compiled model stays behind."""
        own = {name: getattr(self, name) for name in ("title", "edits", "keeps_floors", "unique")}
        return type(self), (self.base, self.id, self.cvxpy_edits, self.pyomo_edits), own

    @property
    def layers(self) -> frozenset[str]:
        """The layers that have an edit and a model."""
        edits = {"cvxpy": self.cvxpy_edits, "pyomo": self.pyomo_edits}
        return frozenset(layer for layer in self.base.layers if edits[layer])

    def written_by(self, layer: str) -> tuple[Callable[..., Any], ...]:
        """The functions of the base, then the edits."""
        found, edits = self.base.written_by(layer), self.cvxpy_edits if layer == "cvxpy" else self.pyomo_edits
        return (*found, *edits) if found and edits else ()

    def configure(self, /, **parameters: Any) -> Mechanism:
        """The edit of the base with these parameters, without what was compiled for this one."""
        if not parameters:
            return self
        kind, (_, *given), own = self.__reduce__()
        result: Edited = kind(self.base.configure(**parameters), *given)
        vars(result).update(own)
        return result

    @property
    def parameters(self) -> dict[str, Any]:
        return self.base.parameters

    @property
    def is_ours(self) -> bool:
        return False

    @property
    def knows_groups(self) -> bool:  # type: ignore[override]
        return self.base.knows_groups

    def domain(self, instance: Instance) -> Instance:
        return self.base.domain(instance)

    def home(self, instance: Instance) -> Instance:
        return self.base.home(instance)

    def settled(self, instance: Instance) -> Mechanism:
        """With its kind read off the edited model, and whether it still goes by rounds.

        The edit is read each time. Where its CVXPY problem is as before on this instance, up to values of `cp.Parameter`, the one
        before stays, which is compiled.
        """
        if self.linear is not None:
            return self
        if not self.base.layers:
            self.base.write_cvxpy(instance)  # says that it has none
        if not self.layers:
            raise FairallocError(f"the edit {self.id!r} is of no layer in which {self.base.id!r} is written")
        known, result = self._known, copy(self)
        result._settle(self.canonical(self.domain(instance))[0])
        if known is None or known[0] is not instance or not result._is_written_as(known[1]):
            self._known = known = instance, result
        return known[1]

    def _is_written_as(self, other: "Edited") -> bool:
        """Whether the CVXPY problem is that of the other, up to values of parameters and names that CVXPY gives."""
        mine, theirs = self._problem, other._problem
        if mine is None or theirs is None or self.takes_rounds != other.takes_rounds:
            return False
        paired: dict[int, Any] = {}
        if self._rounds is not None and other._rounds is not None:
            paired = {id(self._rounds.active): other._rounds.active, id(self._rounds.level): other._rounds.level}
        parts, others = ([one.var_dict["x"], one.objective, one.constraints] for one in (mine, theirs))
        return _is_alike(parts, others, paired)

    def _settle(self, domain: Instance) -> None:
        self._written = domain
        lost = self._lost(domain) if self.base.several_rounds else NESTED * isinstance(self.base, NestedMaxMin)
        self.takes_rounds = self.base.several_rounds and not lost
        if lost:
            self.remark = f"the edit makes {self.base.id!r} one program without its later rounds, for {lost}"
        if not self.takes_rounds:
            self._rounds = None
            cvxpy = layer_to_read(self.layers) == "cvxpy"
            self._problem = self._applied_to(self.base.write_cvxpy(domain), domain) if cvxpy else None
        kind = read_off(self._problem if self._problem is not None else self.write_pyomo(domain))
        self.linear, self.integer, self.convex = kind["linear"], kind["integer"], kind["convex"]

    def _lost(self, domain: Instance) -> str:
        """Write the edited model of the rounds; why it cannot be solved in rounds, or ""."""
        if (layer := layer_to_read(self.layers)) == "pyomo":
            model, lost = self._edited_model(domain)
        else:
            self._rounds = ParametricRound.of(domain, self.base.write_cvxpy(domain))
            model, lost = self._edited_rounds(self._rounds.problem, domain)
        kind = read_off(model)
        if kind["integer"] or not kind["convex"]:
            return "the model has integers" if kind["integer"] else "the model is not proved to be convex"
        own = isinstance(self.base, Leximin) and self.base.other_parts(domain, layer)
        return lost or (FAIRNESS if own and "fairness" in own else "")  # the level that rounds keep is read off shares

    def _edited_rounds(self, problem: "cp.Problem", domain: Instance) -> "tuple[cp.Problem, str]":
        """The edited problem of the rounds, which is kept, and why it cannot be solved in rounds, or ""."""
        fairness, g = next(c for c in problem.constraints if c.label == "fairness"), problem.var_dict["g"]
        model = self._problem = self._applied_to(problem, domain)
        found = [c for c in model.constraints if c.label == "fairness"]
        if len(found) != 1 or found[0] is not fairness:
            return model, FAIRNESS
        if any(v is g for c in model.constraints if c is not fairness for v in c.variables()):
            return model, LEVELS
        return model, "" if rises_with(model.objective, g) else LEVEL

    def write_cvxpy(self, instance: Instance, round: "Round | None" = None) -> "cp.Problem":  # noqa: A002
        """The base's problem, edited; once it is settled always the same object, set to the round."""
        if self._problem is None:
            return self._applied_to(self.base.write_cvxpy(instance), instance)
        if instance != self._written:  # where it was settled in other units
            other = copy(self)
            other._settle(instance)
            return other.write_cvxpy(instance, round)
        if self._rounds is not None:
            self._rounds.set(round)
        return self._problem

    def _applied_to(self, problem: "cp.Problem", instance: Instance) -> "cp.Problem":
        if not self.cvxpy_edits:
            raise FairallocError(f"the edit {self.id!r} has no function for cvxpy")
        before, result = problem.objective.expr, problem
        for edit in self.cvxpy_edits:
            with callers(self.edits):
                result = edit(result, instance)
            if not isinstance(result, cp.Problem):
                raise FairallocError(f"the edit {self.id!r} returned {type(result).__name__}, but it must return a cvxpy.Problem")
        if "x" not in result.var_dict:
            raise FairallocError(f"the edit {self.id!r} left no variable 'x', but the tasks are read from it")
        if self.base.own_objective and result.objective.expr is not before:
            raise NotApplicable(self.base.own_objective)
        return result

    def write_pyomo(self, instance: Instance, round: "Round | None" = None) -> "pyo.ConcreteModel":  # noqa: A002
        """The base's model, edited in place."""
        if not self.pyomo_edits:
            raise FairallocError(f"the edit {self.id!r} has no function for pyomo")
        model, lost = self._edited_model(instance, round)
        if self.takes_rounds and lost:
            raise FairallocError(f"the edit {self.id!r} keeps the rounds in cvxpy, but not in pyomo, where {lost}")
        return model

    def _edited_model(self, instance: Instance, round: "Round | None" = None) -> "tuple[pyo.ConcreteModel, str]":  # noqa: A002
        """The edited model, and why it cannot be solved in rounds, or ""."""
        from pyomo.core.expr.visitor import identify_variables

        model = self.base.write_pyomo(instance, *((round,) if self.base.takes_rounds else ()))
        fairness, g = _fairness(model), model.component("g")
        before = [goal.expr for goal in active(model, "Objective")]
        with callers(self.edits):
            for edit in self.pyomo_edits:
                edit(model, instance)
        goals = active(model, "Objective")
        if self.base.own_objective and (len(goals) != 1 or goals[0].expr is not before[0]):
            raise NotApplicable(self.base.own_objective)
        if not self.base.several_rounds:
            return model, ""
        found = _fairness(model)
        if found != fairness:
            return model, FAIRNESS
        others = [row.body for row in active(model, "Constraint") if row.parent_component().local_name != "fairness"]
        if (g.lb, g.ub) != (0.0, None) or any(g is v for body in others for v in identify_variables(body)):
            return model, LEVELS
        return model, "" if len(goals) == 1 and not g.fixed and rises_with(goals[0], g) else LEVEL

    def first_values(self, instance: Instance, x: Floats, prices: Floats | None) -> Mapping[str, Floats]:
        return self.base.first_values(instance, x, prices)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """Those of the base where its rounds are kept; else the model's objective is reported."""
        return self.base.values(allocation) if self.takes_rounds else {}


def edit(base: Mechanism, id: str, cvxpy: Any, pyomo: Any) -> Edited:  # noqa: A002
    """The edit of a mechanism by functions that were given; of an edit, its functions and then these."""
    check_name(id, "the id of the edit")
    for layer, given in (("cvxpy", cvxpy), ("pyomo", pyomo)):
        if given is not None and not callable(given):
            raise FairallocError(f"the {layer} edit of {id!r} is {shown(given)}, but it must be a function")
    if cvxpy is None and pyomo is None:
        raise FairallocError(f"the edit {id!r} changes nothing: give a function for cvxpy or for pyomo")
    if not isinstance(base, Edited):
        return Edited(base, id, *(() if given is None else (given,) for given in (cvxpy, pyomo)))
    before = (base.cvxpy_edits, cvxpy), (base.pyomo_edits, pyomo)
    both = ((*edits, given) if edits and given is not None else () for edits, given in before)
    return Edited(base.base, id, *both)


def _is_alike(mine: Any, theirs: Any, paired: dict[int, Any]) -> bool:
    """Whether parts of two CVXPY problems are compiled alike: the same but for objects, names and values of parameters.

    `paired` has what stands for an expression of either in the other, by `id`; parameters that are not in it must be the same.
    """
    left = [(mine, theirs)]
    while left:
        a, b = left.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, cp.Parameter) and paired.get(id(a), a) is not b:
            return False
        if isinstance(a, cp.Expression) and not (paired.setdefault(id(a), b) is b and paired.setdefault(id(b), a) is a):
            return False
        if isinstance(a, np.ndarray) or sp.issparse(a):
            if a.shape != b.shape or (a != b).sum():
                return False
        elif isinstance(a, list | tuple):
            if len(a) != len(b):
                return False
            left += zip(a, b, strict=True)
        elif (known := _parts(a)) is not None:
            left.append((known, _parts(b)))
        elif a != b:
            return False
    return True


def _parts(part: Any) -> list[Any] | None:
    """What a part of a CVXPY problem is made of; None for what has no parts."""
    if isinstance(part, cp.Constant):
        return [part.shape, part.value]
    if isinstance(part, cp.Variable | cp.Parameter):
        return [part.shape, list(part.attributes.items())]
    if isinstance(part, cp.Constraint):
        return [part.label, part.args, part.get_data()[:-1]]  # the last is its number
    if isinstance(part, cp.Expression | cp.Minimize | cp.Maximize):
        return [part.args, part.get_data()]
    return [part.start, part.stop, part.step] if isinstance(part, slice) else None


def _fairness(model: "pyo.ConcreteModel") -> dict[Any, Any]:
    """The active constraints "fairness" of a round by user, in words, with what they name in full."""
    part = model.component("fairness")
    return {} if part is None else {user: str(row.expr) for user, row in part.items() if row.active}
