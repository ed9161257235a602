"""What a mechanism is: a definition that can be written as a model, and that an allocation can be checked against."""

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from copy import copy
from dataclasses import Field
from functools import cached_property, wraps
from typing import Any

import numpy as np

from fairalloc.formulations.common.convexity import read_off
from fairalloc.formulations.common.modelling import cp, layer_to_read, pyo
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import ANYTHING, PLAIN, Rule, kinds, named
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, callers, check_name, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, plain
from fairalloc.models.registry import imported


def one_of(name: str, value: Any, words: Collection[str]) -> None:
    """InstanceError where a parameter is none of these words."""
    require(isinstance(value, str) and value in words, f"{name} is", value, f"it must be one of {', '.join(words)}")


def written_here(*places: Any) -> bool:
    """Whether these classes and functions are all of this package."""
    return {str(getattr(place, "__module__", None)).partition(".")[0] for place in places} == {"fairalloc"}


def several(fits: Callable[[Any], bool], words: str) -> Rule:
    """That something is a tuple of these."""
    return Rule(lambda value: isinstance(value, tuple) and all(map(fits, value)), f"a tuple of {words}")


def _model(module: str, name: str, words: str) -> Rule:
    """That something is of this class of a package, which is imported where a model is written."""
    return Rule(lambda value: isinstance(value, getattr(sys.modules.get(module), name, ())), words)


def _is_rescaled(value: Any) -> bool:
    """Whether it is an instance with (N,) positive numbers."""
    if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Instance) and plain(value[1])):
        return False
    return value[1].shape == (value[0].N,) and bool(np.isfinite(value[1]).all() and (value[1] > 0).all())


ASKED: Mapping[str, Rule] = {
    **dict.fromkeys(("configure", "kept", "settled"), Rule(lambda value: isinstance(value, Mechanism), "a Mechanism")),
    **dict.fromkeys(("domain", "home"), Rule(lambda value: isinstance(value, Instance), "an Instance")),
    **dict.fromkeys(("cvxpy", "write_cvxpy"), _model("cvxpy", "Problem", "a cvxpy.Problem")),
    **dict.fromkeys(("pyomo", "write_pyomo"), _model("pyomo.environ", "ConcreteModel", "a ConcreteModel")),
    **dict.fromkeys(("check_complete", "check_groups", "check_models"), ANYTHING),
    "unwritten": PLAIN[str],
    "canonical": Rule(_is_rescaled, "(an Instance, its N positive numbers)"),
    "model_prices": Rule(plain, "an array of numbers"),
    "rate": Rule(plain, "an array of numbers"),
    "prices": Rule(lambda value: value is None or plain(value), "an array of numbers or None"),
    "functions": several(callable, "functions"),
    "layers": Rule(lambda value: isinstance(value, AbstractSet) and value <= {"cvxpy", "pyomo"}, "a set of 'cvxpy' and 'pyomo'"),
    "parameters": PLAIN[Mapping],
    **dict.fromkeys(("is_ours", "has_residual"), PLAIN[bool]),
}
"""What is asked of a mechanism around a solve, and what it must be or return: one sentence says where the caller's code fails."""

SHAPED = {"prices": "KR", "model_prices": "KR", "rate": "N"}
"""The sizes of the instance that is the first argument, which are the shape of what is returned."""


def tell_failures(cls: type, base: type, asked: Mapping[str, Rule]) -> None:
    """Wrap what a class of the caller's overrides, so that each failure of its code is one sentence with the name and the id.

    A method or property that raises, or returns what breaks its rule, is an InstanceError when it is called. A plain attribute
    that breaks its rule is one at once. The rules are those `asked`, and the annotations of the base. Classes of this package
    stay as they are.
    """
    rules = {} if written_here(cls) else {**kinds(base), **asked}
    for name, rule in rules.items():
        places = [c for c in cls.__mro__ if name in vars(c)]
        known = [c for c in places if c is not cls and issubclass(c, base)]
        if not known or places[0] is known[0]:  # else it is new in this class, or in one beside the base
            continue
        made, is_method = vars(places[0])[name], inspect.isfunction(getattr(known[0], name))
        if isinstance(made, property):
            setattr(cls, name, made.getter(_told(name, made.fget, rule)))
        elif isinstance(made, cached_property):
            made.func = _told(name, made.func, rule)
        elif is_method and not written_here(made):
            setattr(cls, name, _told(name, made, rule))
        elif not is_method and name != "id":  # a descriptor, as slots are, or what a dataclass replaces, gives something else
            plain_value = inspect.isfunction(made) or not (isinstance(made, Field) or hasattr(type(made), "__get__"))
            require(not plain_value or rule.fits(made), f"{name} of {cls.__name__} is", made, f"it must be {rule.words}")


def _told(name: str, function: Any, rule: Rule) -> Callable[..., Any]:
    """The method of any kind, as a function; InstanceError where it fails, or returns what breaks the rule."""
    bound = getattr(type(function), "__get__", lambda *_: function)  # an object that is called binds nothing

    @wraps(function)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        what = f"{name} of {type(self).__name__ if name == 'id' else repr(self.id)}"
        with callers(what):
            result = bound(function, self, type(self))(*given, **named)
        if not rule.fits(result):
            raise InstanceError(f"{what} returned {type(result).__name__}, but it must return {rule.words}")
        if name in SHAPED and given and result is not None:
            shape = tuple(getattr(given[0], axis) for axis in SHAPED[name])
            require(result.shape == shape, f"{what} returned an array of shape", result.shape, f"it must be {shape}")
        return result

    return call


class Mechanism:
    """A fair allocation mechanism: an id, and a model in CVXPY, in Pyomo, or in both.

    A mechanism of one's own is a subclass with an `id` and `write_cvxpy` or `write_pyomo`. Everything else has a
    default. `linear`, `integer` and `convex` are read off the model if they are not declared. Without a `residual` the optimality
    conditions of the model judge an answer (common/kkt_residual.py).

    Attributes
    ----------
    id, aliases : its public names
    title : one line for tables
    source : where it is defined, paper key and equation
    linear : whether it is a linear program but for integers, or a sequence of them; None = read off the model
    integer : whether its model has integer variables; None = read off the model
    convex : whether its model is a concave program; otherwise solvers may stop at points that are no answers; None = read.
        Without a `residual` it is read off the model also where it is declared
    remark : a sentence that every answer adds to `message`
    takes_rounds : whether its models are those of a round (lexicographic/linear_program.py) and take one as second argument
    several_rounds : whether users who can rise no further are fixed and the others go on in another round
    keeps_floors : whether its own models keep the floors of the instance, min_tasks; else floors.py adds them or refuses
    unique : whether its tasks are the only ones that it allows; then they have derivatives (`fa.sensitivity`)
    knows_groups : whether it shares by the groups of an instance; others refuse an instance that has groups
    merges_users, merges_servers : whether identical ones may be solved as one (solvers/symmetry.py has the proofs)
    own_objective : one sentence on what to do instead where an edit may not replace the objective, or ""
    own_parameters : what its class is called with, by name, and has as attributes; numbers and words are its `parameters`
    functions : functions that were given to it and may have been written elsewhere

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
    keeps_floors: bool = False
    unique: bool = False
    knows_groups: bool = False
    merges_users: bool = False
    merges_servers: bool = False
    own_objective: str = ""
    own_parameters: tuple[str, ...] = ()
    functions: tuple[Callable[..., Any], ...] = ()

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        tell_failures(cls, Mechanism, ASKED)

    def __repr__(self) -> str:
        given = "".join(f" {name}={value!r}" for name, value in self.parameters.items())
        return f"<mechanism {self.id}{given}>"

    @property
    def layers(self) -> frozenset[str]:
        """The modelling layers that it is written in, of "cvxpy" and "pyomo"."""
        written = {"cvxpy": Mechanism.write_cvxpy, "pyomo": Mechanism.write_pyomo}
        return frozenset([layer for layer, blank in written.items() if getattr(type(self), f"write_{layer}") is not blank])

    def written_by(self, layer: str) -> tuple[Callable[..., Any], ...]:
        """The functions that say what its model in "cvxpy" or "pyomo" is, for readers."""
        return (getattr(type(self), f"write_{layer}"),) if isinstance(layer, str) and layer in self.layers else ()

    @property
    def is_ours(self) -> bool:
        """Whether nothing of it was written outside this package."""
        return written_here(type(self), *self.functions, getattr(self, "share", type(self)))

    @property
    def has_residual(self) -> bool:
        """Whether it says itself how far an allocation is from its definition."""
        return type(self).residual is not Mechanism.residual

    def check_complete(self) -> None:
        """Raise a FairallocError where it has no id or no model, or methods and a residual that are another model's."""
        check_name(self.id, f"the id of the mechanism {type(self).__name__}")
        if not self.layers:
            raise FairallocError(f"mechanism {self.id!r} has no model: it must define write_cvxpy or write_pyomo")
        models = {"write_cvxpy", "write_pyomo"}  # those of an Equilibrium read its game, and so do its methods
        writers = [c for c in type(self).__mro__ if models & vars(c).keys() or c.__name__ == "Equilibrium"]
        ours = next(c for c in writers if written_here(c))
        if ours is not writers[0] and ours.__name__ not in ("Mechanism", "Leximin"):  # a rule is what its share says
            what = f"{type(self).__name__} has another model than {ours.__name__}"
            raise FairallocError(f"{what}, whose methods it inherits: derive it from Mechanism, or edit that model with `edited`")

    def settled(self, instance: Instance) -> "Mechanism":
        """The mechanism with `linear`, `integer` and `convex` known, read off its model where they are not declared.

        That it is convex is read off also where that is declared, unless it has a residual of its own, which needs no convexity.
        FairallocError where it has no id or no model.
        """
        self.check_complete()
        claimed = bool(self.convex) and not self.has_residual
        if None not in (self.linear, self.integer, self.convex) and not claimed:
            return self
        read, result = read_off(getattr(self, layer_to_read(self.layers))(instance)), copy(self)
        for name, value in read.items():
            if getattr(self, name) is None:
                with callers(f"reading {name} of {self.id!r} off its model"):  # of a property
                    object.__setattr__(result, name, value)  # of a frozen dataclass too
        if claimed and not read["convex"]:
            result.remark = f"{self.id!r} is declared to be convex, which is not proved"
            with suppress(AttributeError):  # a property
                object.__setattr__(result, "convex", False)
        return result

    def check_models(self, instance: Instance) -> None:
        """NotApplicable where methods that do not read its models would compute something else than these say."""

    def edited(
        self,
        id: str,  # noqa: A002 (the public name of the attribute)
        cvxpy: "Callable[[cp.Problem, Instance], cp.Problem] | None" = None,
        pyomo: "Callable[[pyo.ConcreteModel, Instance], None] | None" = None,
    ) -> "Mechanism":
        """A mechanism of its own whose model is this one's, edited; see `Edited` for what `solve` makes of it.

        Parameters
        ----------
        id : its name, which must not be that of a mechanism of this package
        cvxpy : `f(problem, instance) -> cp.Problem`
        pyomo : `h(model, instance) -> None`, which changes the model in place; either edit is enough

        Raises
        ------
        FairallocError : the id is a name of one of the mechanisms of this package, or the edit is none
        """
        if isinstance(id, str) and imported("fairalloc.formulations").MECHANISMS.is_ours(id):
            raise FairallocError(f"the id of the edit is {id!r}, but that is the name of another mechanism")
        edited: Mechanism = imported("fairalloc.formulations.edited").edit(self.editable, id, cvxpy, pyomo)  # a subclass of this
        return edited

    @property
    def editable(self) -> "Mechanism":
        """The mechanism in the form whose model an edit gets."""
        return self

    def configure(self, /, **parameters: Any) -> "Mechanism":
        """The mechanism with these parameters, others as they are; FairallocError for one that it does not have.

        `integral` is one of utilitarian, nb and the max-min rules: whether tasks are whole (whole_tasks.py).
        """
        if self.own_parameters:
            self.refuse_others(parameters, self.own_parameters)
            return type(self)(**({name: getattr(self, name) for name in self.own_parameters} | parameters))
        integral = parameters.pop("integral", False)
        require(isinstance(integral, bool), "integral is", integral, "it must be true or false")
        self.refuse_others(parameters, ())
        if not integral:
            return self
        whole: Mechanism = imported("fairalloc.formulations.whole_rounds").whole_tasks(self)
        return whole

    def refuse_others(self, given: Iterable[str], known: Collection[str]) -> None:
        """NotApplicable where a parameter is given that is none of the known ones."""
        for name in [name for name in given if name not in known][:1]:
            told = f": it has {(', ' if len(known) > 2 else ' and ').join(known)}" if known else ""
            raise NotApplicable(f"mechanism {self.id!r} has no parameter {name!r}{told}")

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters it is configured with, by default the numbers and words of `own_parameters`."""
        given = {name: getattr(self, name) for name in self.own_parameters}
        return {name: value for name, value in given.items() if isinstance(value, int | float | str)}

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

    def check_groups(self, instance: Instance) -> None:
        """NotApplicable where the instance has groups of which the mechanism knows nothing."""
        if instance.groups is None or self.knows_groups:
            return
        rule = "instance.replace(groups=None) leaves them out; nested-leximin, nested-nb and h-drf share by them"
        raise NotApplicable(f"mechanism {self.id!r} knows no groups, but the instance has {len(instance.groups)}: {rule}")

    @named
    def cvxpy(self, instance: Instance, **details: Any) -> "cp.Problem":
        """The CVXPY problem: "x" in tasks on the arcs of `domain(instance)`, labelled constraints, `details` of `write_cvxpy`."""
        return self.kept(instance).write_cvxpy(self.domain(instance), **details)

    @named
    def pyomo(self, instance: Instance, **details: Any) -> "pyo.ConcreteModel":
        """The Pyomo model; `x[user, variant, server]` is in tasks, with the names of `domain(instance)`."""
        return self.kept(instance).write_pyomo(self.domain(instance), **details)

    def called(self, alias: str) -> "Mechanism":  # noqa: ARG002 (for those of which an alias says more)
        """Itself under one of its aliases."""
        return self

    def kept(self, instance: Instance) -> "Mechanism":
        """Itself, or with the floors of the instance; NotApplicable where it knows no floors or groups, and there are some."""
        self.check_groups(instance)
        if not instance.has_floors:
            return self
        kept: Mechanism = imported("fairalloc.formulations.floors").with_floors(self, instance)  # of subclasses of this one
        return kept

    def unwritten(self, instance: Instance, layer: str) -> str:  # noqa: ARG002 (for those that have no model for some)
        """One sentence on why there is no model in "cvxpy" or "pyomo" for this instance with these parameters, or ""."""
        return ""

    def first_values(self, instance: Instance, x: Floats, prices: Floats | None) -> Mapping[str, Floats]:  # noqa: ARG002
        """Values of all variables of the model, by name, from which solvers start; {} where they are not known.

        Parameters
        ----------
        instance : that of the model
        x, prices : (A,) tasks and (K, R) prices of an allocation, None where it has none
        """
        return {}

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:
        """(K, R) the allocation's prices: the variable "kappa" where the model has it, else the duals of "capacity".

        Parameters
        ----------
        instance : the domain
        duals : (K, R) of "capacity"; None where the solver gave none
        values : the values of the model's variables by name
        """
        shape = instance.K, instance.R
        known = "kappa" in values and np.size(values["kappa"]) == np.prod(shape)
        return np.reshape(values["kappa"], shape) if known else duals

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002 (for the others)
        """(K, R) dual prices of the constraints "capacity" of `write_cvxpy(domain)`, from those of the model in canonical units.

        Parameters
        ----------
        domain : the instance of the model that the user sees
        scaled : `canonical(domain)`, where the model was solved; `domain` itself for methods that take no canonical units
        x : (A,) the tasks on `domain`
        given : (T, K, R) the prices on `scaled`; one layer where there are no rounds
        """
        return np.asarray(given[0])

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """The CVXPY problem on an instance that is a domain already."""
        raise self._no_model("CVXPY", instance)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The Pyomo model on an instance that is a domain already."""
        raise self._no_model("Pyomo", instance)

    def _no_model(self, layer: str, instance: Instance) -> NotApplicable:
        why = self.unwritten(instance, layer.lower()) or f"it is written in {' and '.join(self.layers) or 'no layer'}"
        return NotApplicable(f"mechanism {self.id!r} has no {layer} model: {why}")

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
