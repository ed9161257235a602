"""The page of a mechanism: its formula, its models as code, where they are edited, and what computes it."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent
from typing import overload

from fairalloc.formulations import Mechanism, mechanism
from fairalloc.formulations.common.convexity import title
from fairalloc.formulations.common.modelling import pyo
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.mechanism import written_here
from fairalloc.formulations.whole_tasks import WholeTasks
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import FairallocError
from fairalloc.models.examples.published import EVERY_EXAMPLE
from fairalloc.models.instance import Instance
from fairalloc.models.overview import HEAD, AllocationOverview, Overview
from fairalloc.solvers.catalogue.method_registry import METHODS

LAYERS = {"cvxpy": "CVXPY", "pyomo": "Pyomo"}


@dataclass(frozen=True)
class ModelPage:
    """The page of a mechanism that `fairalloc model ID` prints."""

    mechanism: Mechanism

    @property
    def formula(self) -> str:
        """The opening text of its file, of whole tasks that of theirs too, or of one's own class; an edit's is its base's."""
        item = self._base
        file = sys.modules.get(f"fairalloc.formulations.{item.id.replace('-', '_')}")
        whole = [sys.modules[type(item).__module__]] if isinstance(item, WholeTasks) else []
        texts = map(inspect.getdoc, [type(item) if file is None else file, *whole])
        return "\n\n".join(text for text in texts if text and text != inspect.getdoc(Mechanism))  # which a class inherits

    def code(self, layer: str) -> str:
        """The functions that write its model in "cvxpy" or "pyomo"; after them the edit, where it is one."""
        return "\n".join(filter(None, map(_source, self.mechanism.written_by(layer))))

    def parts(self, layer: str) -> tuple[str, ...]:
        """The names of variables and constraints that an edit gets, on a published example; () for mechanisms of one's own."""
        item, instance = self._settled[0].editable, self._settled[1]
        if instance is not None and layer in item.layers and not item.unwritten(instance, layer):
            model = getattr(item, layer)(instance)
            if layer == "cvxpy":
                return (*(v.name() for v in model.variables()), *map(title, model.constraints))
            from pyomo.mpec import Complementarity

            kinds = pyo.Var, pyo.Constraint, Complementarity
            return tuple(part.local_name for part in model.component_objects(kinds) if len(part))
        return ()

    @property
    def _base(self) -> Mechanism:
        return self.mechanism.base if isinstance(self.mechanism, Edited) else self.mechanism

    @property
    def _called(self) -> str:
        """The mechanism, or the one that is edited, as a line of Python names it."""
        item, words = self._base, [f"{name}={value!r}" for name, value in self._base.parameters.items()]
        return f"fa.mechanism({', '.join([repr(item.id), *words])})" if item.is_ours else "mechanism"

    @cached_property
    def _settled(self) -> tuple[Mechanism, Instance | None]:
        """The mechanism with its kind, and the first published example on which it is read off, or None."""
        for example in EVERY_EXAMPLE:
            if self._base.id in example.answers:
                with suppress(FairallocError):  # an edit may be of another instance
                    return self.mechanism.settled(example.instance), example.instance
        return self.mechanism, None

    def _lines(self) -> Iterator[str]:
        item = self.mechanism
        with_edit = ", and the edit" if isinstance(item, Edited) else ""
        source = f" ({item.source})" if item.source else ""
        yield f"{item.id}: {item.title or 'of your own'}{source}\n\n{self.formula}\n"
        for layer, name in LAYERS.items():
            if code := self.code(layer):
                head = f"The model in {name}, {self._called}.{layer}(instance){with_edit}"
                yield ", ".join(dict.fromkeys(filter(None, [head, *map(_file, item.written_by(layer))]))) + f"\n\n{code}"
        if item.layers:
            yield from self._edits()
        yield self._methods()

    def _edits(self) -> Iterator[str]:
        """What an edit can be of, or what this one leaves of the rounds."""
        yield f"Edited by {self._called}.edited(id, cvxpy=f, pyomo=h), f(problem, instance) and h(model, instance)\n"
        for layer, name in LAYERS.items():
            if parts := self.parts(layer):
                yield f"    {name}: {', '.join(parts)}"
        base, item = self._base, self._settled[0]
        rounds = "all rounds respect the edit; another objective makes it one program" if base.several_rounds else ""
        yield f"    {base.own_objective or item.remark or rounds or 'one program: constraints, objective and parameters'}\n"

    def _methods(self) -> str:
        item, instance = self._settled
        able = {key: method.is_available() for key, method in METHODS.items() if method.computes(item)}
        here, absent = (", ".join(key for key, found in able.items() if found is wanted) for wanted in (True, False))
        where = f" (as its model is on {instance.name})" if instance is not None and item is not self.mechanism else ""
        known = None not in (item.linear, item.integer, item.convex) or not item.layers
        kind = where if known else ", as far as they take the kind of its model on an instance"
        return f"Computed by {here}{kind}" + (f"; not installed are {absent}" if absent else "")

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__


def _file(function: object) -> str:
    """Where a function is written: below the clone, or its own file; "" where there is none."""
    module = str(getattr(function, "__module__", ""))
    if written_here(function):
        return module.removeprefix("fairalloc.").replace(".", "/") + ".py"
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _source(function: object) -> str:
    with suppress(OSError, TypeError):
        return dedent(inspect.getsource(function))  # type: ignore[arg-type]
    return ""


@overload
def show(what: Instance, head: int = HEAD) -> Overview: ...


@overload
def show(what: Allocation, head: int = HEAD) -> AllocationOverview: ...


@overload
def show(what: Mechanism | type[Mechanism], head: int = HEAD) -> ModelPage: ...


@checked
def show(
    what: Instance | Allocation | Mechanism | type[Mechanism], head: Count = HEAD
) -> Overview | AllocationOverview | ModelPage:
    """What an instance or an allocation looks like, in tables; or what a mechanism is: formula, models as code, methods.

    Parameters
    ----------
    what : an instance, an allocation or a mechanism
    head : rows of each table

    Examples
    --------
    >>> from fairalloc.formulations import mechanism
    >>> print(str(show(mechanism("drfh-lp"))).splitlines()[0])
    drfh-lp: W's single LP: the largest equal global dominant share g (W (6))
    """
    if isinstance(what, Instance):
        return Overview(what, head)
    return AllocationOverview(what, head) if isinstance(what, Allocation) else ModelPage(mechanism(what))
