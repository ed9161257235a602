"""All experiments: those that the files of papers/ declare in EXPERIMENTS, nothing is listed by hand; and one's own in files."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.registry import naming_the_file
from fairalloc.runs.objects import ObjectKind, is_in_file, load_objects
from fairalloc.simulation.experiments.experiment import Experiment

OWN = ObjectKind("experiment", lambda item: item if isinstance(item, Experiment) else None)
_FOLDER = "fairalloc.simulation.experiments.papers"


@cache
def all_experiments() -> dict[str, Experiment]:
    """By id, paper by paper and in the order of the paper."""
    found: dict[str, Experiment] = {}
    with naming_the_file(_FOLDER):
        names = [f"{_FOLDER}.{module.name}" for module in iter_modules(import_module(_FOLDER).__path__)]
    for name in names:
        with naming_the_file(name):
            for item in import_module(name).EXPERIMENTS:
                if found.setdefault(item.id, item) is not item:
                    raise ValueError(f"two experiments have the id {item.id!r}")
    in_order = sorted(found, key=lambda name: [int(w) if w.isdigit() else w for w in re.split("([0-9]+)", name)])  # 10 after 9
    return {name: found[name] for name in in_order}


def find_experiments(wanted: Sequence[str | Experiment]) -> list[Experiment]:
    """The experiments with these ids, or whose ids begin with one and a point: "K" stands for all of K; () = all.

    FILE.py or FILE.py:NAME stands for one's own. UnknownName is raised where there is none of a name, InstanceError where
    one's own has the id of another one.
    """
    known = all_experiments()
    found: dict[str, Experiment] = {}
    for name in wanted or known:
        if isinstance(name, Experiment):
            fit = {name.id: name}
        elif is_in_file(name):
            own = [replace(item, file=name) for item in load_objects(name, OWN).values()]
            fit = {item.id: item for item in own}
            for taken in [item.id for item in own if item.id in known or fit[item.id] is not item][:1]:
                raise InstanceError(f"an experiment of {name} has the id {taken!r}, but another one has it")
        else:
            fit = {key: item for key, item in known.items() if key == name or key.startswith(f"{name}.")}
        if not fit:
            raise UnknownName(no_such("experiment", str(name), known, "see fairalloc simulate --list"))
        found |= fit
    return list(found.values())
