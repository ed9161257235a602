"""The methods that there are, every one in the lists `methods` of the sub-rooms' files; and the order in which they are asked."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.models.registry import Registry, imported
from fairalloc.solvers.catalogue.installed import installed_methods, other_method
from fairalloc.solvers.catalogue.own import Own, own_method
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import Accuracy, Judging, Option, promised, solver_table

MANY = 2000
"""Arcs from which on `interior-point` is asked before HiGHS's simplex method; below, its iterations cost more than pivots."""

LINKS = 64
"""Resources up to which it is; with as many as a network has links, later rounds take a few pivots each."""

ORDER: Mapping[str, str] = {
    "progressive-filling": "lexicographic.progressive_filling",  # where users have no choice of arcs, nothing is faster
    "highs:leximin": "backends.highs",
    "highs": "backends.highs",
    "interior-point": "interior_point.method",
    "njc-market": "njc.eisenberg_gale",
    "psdsf-enumeration": "exact.ps_dsf_pieces",  # of few arcs, where an objective chooses among the answers of ps-dsf
    "continuation": "game.continuation",
    "josephy-newton": "game.josephy_newton",
    "best-response": "game.best_response",
    "many-digits": "exact.many_digits",  # where its tasks are off, these are known by now
    "njc-milp": "njc.milp",
    "cvxpy:clarabel": "backends.cvxpy",
    "cvxpy:ipopt": "backends.cvxpy_nlp",
    "semismooth-newton": "game.complementarity",
    "exact": "exact.exact",
    "cvxpy:highs": "backends.cvxpy",
    "cvxpy:scs": "backends.cvxpy",
    "pyomo:highs": "backends.pyomo",
    "pyomo:ipopt": "backends.pyomo",
}
"""First those that claim most often, then the faster ones, each with its file, so that no others are loaded.

Methods that are not in the list follow by name.
"""


def order(mechanism: Mechanism, instance: Instance | None) -> tuple[str, ...]:
    """The ids of methods, first those to be asked first; a game's order is one for all sizes, so its answer does not jump.

    Where users have no choice of arcs and filling in floating point is not enough, nothing but filling in rationals is.
    """
    first, *others = ORDER
    if not isinstance(mechanism, Leximin) or instance is None:
        return tuple(ORDER)
    filled = mechanism.several_rounds and (domain := mechanism.domain(instance)).A == domain.N
    rounds_on_links = mechanism.several_rounds and instance.R > LINKS
    then = ("exact",) if filled else ("interior-point",) if instance.A >= MANY and not rounds_on_links else ()
    return tuple(dict.fromkeys((first, *then, *others)))


def _discover() -> list[Method]:
    here = Path(__file__).parents[1]
    rooms = [module.name for module in iter_modules([str(here)]) if module.ispkg]
    files = [f"fairalloc.solvers.{room}.{module.name}" for room in rooms for module in iter_modules([str(here / room)])]
    return sorted((item for file in files for item in getattr(imported(file), "methods", ())), key=lambda item: item.id)


def as_method(item: object) -> Method | None:
    """The method that an object stands for, by the rule of `own_method`; None where it stands for none."""
    try:
        return own_method(item)
    except NotApplicable:
        return None


METHODS: Registry[Method] = Registry("method", "fairalloc.methods", _discover, as_method, lambda item: (item.id,))
"""All methods by id, available or not."""


def methods_for(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> list[Method]:
    """The methods that compute a mechanism, in the order of `order`; approximations are asked only by name.

    Parameters
    ----------
    mechanism : what is to be computed
    instance : where; None = on some instance
    available : whether to leave out methods whose packages are missing, and to end with the solvers of the user that CVXPY or
        Pyomo find (installed.py)
    """
    mechanism = mechanism if instance is None else mechanism.kept(instance).settled(instance)
    return [*candidates(mechanism, instance, available), *(installed_candidates(mechanism, instance) if available else ())]


def find_method(name: str) -> Method:
    """The method with this id: one of METHODS, or of a solver that CVXPY or Pyomo knows, "cvxpy:gurobi" say; else UnknownName."""
    found = METHODS[name] if name in METHODS else other_method(name) if isinstance(name, str) else None
    if found is None:
        raise UnknownName(no_such("method", name, METHODS))
    return found


def method_of(asked: str | Own) -> Method:
    """The method with this id, or the one that an object stands for; UnknownName or NotApplicable where there is none."""
    return find_method(asked) if isinstance(asked, str) else own_method(asked)


@checked
def options(method: str, accuracy: Accuracy | None = None) -> tuple[Option, ...]:
    """The options of a method's algorithm, or of the "judge": names, defaults, and descriptions with units and reasons.

    A method with a solver behind it also takes all options of that solver, in the solver's own names. With an accuracy the list
    includes those that this accuracy sets, with their values.

    >>> [option.name for option in options("pdhg")]
    ['max_iterations']
    >>> [option.name for option in options("judge")][:2]
    ['reference_arcs', 'exact_arcs']
    >>> options("highs", "high")[-1].default
    1e-10
    """
    if method == "judge":
        return Judging().described()
    found = find_method(method)
    if accuracy is None:
        return found.options.described()
    promised(accuracy)
    return found.options.described() + solver_table(found.table or found.solver, accuracy)


def candidates(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> Iterator[Method]:
    """Those of `methods_for` in METHODS, one by one: whoever needs the first only does not ask the others."""
    first = order(mechanism, instance)
    yield from _fitting(filter(None, map(_asked_first, first)), mechanism, instance, available)
    yield from _fitting((METHODS[key] for key in METHODS if key not in first), mechanism, instance, available)


def installed_candidates(mechanism: Mechanism, instance: Instance | None = None) -> Iterator[Method]:
    """Those of `methods_for` beyond METHODS, the solvers of the user: looking for them takes seconds, once in a process."""
    return _fitting((method for method in installed_methods() if method.id not in METHODS), mechanism, instance, True)


def _fitting(methods: Iterable[Method], mechanism: Mechanism, instance: Instance | None, available: bool) -> Iterator[Method]:
    for method in methods:
        right = method.kind != "approximate" and method.computes(mechanism)
        fits = right and (instance is None or not method.applies(mechanism, instance))
        if fits and (not available or method.is_available()):
            yield method


@cache
def _asked_first(key: str) -> Method | None:
    """A method of ORDER; None where its file cannot be loaded."""
    module = imported(f"fairalloc.solvers.{ORDER[key]}")
    return next((method for method in getattr(module, "methods", ()) if method.id == key), None)
