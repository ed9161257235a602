"""Files: the model of a mechanism on an instance, written for other solvers as .lp, .mps, .nl or a script; allocations, read.

The files are Pyomo's, with the names of users, servers and resources as symbols. A lexicographic mechanism is written as its
first round: where nobody is stuck before the others, that is all of it; else the rounds after it need its answer.
The script rebuilds instance and mechanism through the public names of this package, and solves the problem with CVXPY alone.
"""

import tempfile
from pathlib import Path
from typing import Any

from fairalloc.formulations import MECHANISMS, Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, UnknownName, no_such
from fairalloc.models.files.jsonio import parse_allocation, read_json
from fairalloc.models.files.python_code import argument_lines
from fairalloc.models.instance import Instance
from fairalloc.models.tables import printable
from fairalloc.solvers.running.solver_log import unlogged

FORMATS = ("lp", "mps", "nl", "py")
"""What a model can be written as."""

SCRIPT = '''\
"""The model of {id} on {name}, written by fairalloc: edit it, and solve it with any solver of CVXPY."""

import fairalloc as fa

instance = fa.Instance(
{arguments})
mechanism = fa.mechanism({id!r}).configure(**{parameters!r})
problem = mechanism.cvxpy(instance)
problem.solve()
print(problem.status, problem.value)

domain = mechanism.domain(instance)
arcs, x = domain.arcs, problem.var_dict["x"].value
for a, tasks in enumerate(x if x is not None else ()):
    print(domain.users[arcs.user[a]], int(arcs.variant[a]), domain.servers[arcs.server[a]], tasks)
'''


@checked
def export(instance: Instance, mechanism: str | Mechanism | type[Mechanism], format: str = "lp", **parameters: Any) -> str:  # noqa: A002
    """The text of a mechanism's model, for a solver or a person.

    Parameters
    ----------
    instance : the problem
    mechanism : id or alias, or a mechanism itself
    format : "lp", "mps", "nl", or "py" for a script
    parameters : of the mechanism

    Returns
    -------
    The text of the file

    Raises
    ------
    UnknownName : there is no such format or mechanism
    NotApplicable : the mechanism has no model here that can be written so
    """
    if format not in FORMATS:
        raise UnknownName(no_such("format", format, FORMATS))
    item = find_mechanism(mechanism).configure(**parameters)
    if reason := item.unwritten(instance, "cvxpy" if format == "py" else "pyomo"):
        raise NotApplicable(reason)
    return _script(instance, item) if format == "py" else _written(instance, item, format)


def _script(instance: Instance, item: Mechanism) -> str:
    if "cvxpy" not in item.layers:
        raise NotApplicable(f"mechanism {item.id!r} has no CVXPY model, which the script would solve")
    if item.id not in MECHANISMS or not item.is_ours or item.functions:
        raise NotApplicable(f"mechanism {item.id!r} is not one that a script can find by its id: write lp, mps or nl")
    if not item.cvxpy(instance).is_dcp():
        raise NotApplicable(
            f"the model of {item.id!r} with {item.parameters} is not convex, so CVXPY alone cannot solve it: write nl"
        )
    name = " ".join(printable(instance.name or "an instance").replace("\\", " ").replace('"', "'").split())
    return SCRIPT.format(id=item.id, name=name, arguments=argument_lines(instance), parameters=item.parameters)


def _written(instance: Instance, item: Mechanism, format: str) -> str:  # noqa: A002
    """By Pyomo's writers, which choose the kind of file by its ending."""
    if "pyomo" not in item.layers:
        raise NotApplicable(f"mechanism {item.id!r} has no Pyomo model, from which {format} is written: write py")
    model = item.pyomo(instance)
    with tempfile.TemporaryDirectory() as folder, unlogged():
        path = Path(folder) / f"model.{format}"
        try:
            model.write(str(path), io_options={"symbolic_solver_labels": True})
        except Exception as error:  # each writer has its own
            reason = " ".join(str(error).split())
            raise NotApplicable(f"the model of {item.id!r} cannot be written as {format}: {reason[:200]}") from error
        return path.read_text(encoding="utf-8")


@checked
def read_allocation(
    path: str | Path, instance: Instance, mechanism: str | Mechanism | type[Mechanism] | None = None
) -> Allocation:
    """The allocation in a file of schema fairalloc-allocation/1; its residuals are left to be computed.

    Parameters
    ----------
    path : the file, as `write_allocation` or `fairalloc solve --format json` writes it
    instance : the instance that was solved; the allocation of a mechanism for one pool, such as "drf", comes on that pool
    mechanism : whose allocation it is; None = the one that the file names

    Raises
    ------
    InstanceError : the file is damaged, or is about other users or servers
    UnknownName : there is no such mechanism
    """
    document = read_json(path)
    named = document.get("mechanism") if isinstance(document, dict) else None
    known = {key for item in MECHANISMS.values() for key in (item.id, *item.aliases)}
    if mechanism is None and isinstance(named, str) and named in known:
        mechanism = named
    item = None if mechanism is None else find_mechanism(mechanism)
    found = parse_allocation(document, instance if item is None else item.home(instance), f"the allocation in {path}")
    own = item is not None and not isinstance(mechanism, str) and item.id == found.mechanism
    return found.noted(rule=item) if own else found
