"""All experiments: those that the files of papers/ declare in EXPERIMENTS; nothing is listed by hand."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from fairalloc.models.errors import UnknownName, no_such
from fairalloc.models.registry import naming_the_file
from fairalloc.simulation.experiments.experiment import Experiment

__all__ = ["all_experiments", "find_experiments"]

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
    return dict(sorted(found.items(), key=lambda pair: _place(pair[0])))


def _place(name: str) -> tuple[str, str, int]:
    """K.Fig10 after K.Fig9."""
    paper, _, rest = name.partition(".")
    word = rest.rstrip("0123456789")
    return paper, word, int(rest.removeprefix(word) or 0)


def find_experiments(wanted: Sequence[str]) -> list[Experiment]:
    """The experiments with these ids, or whose ids begin with one and a point: "K" stands for all of K; () = all.

    UnknownName is raised where there is none of a name.
    """
    known = all_experiments()
    found: dict[str, Experiment] = {}
    for name in wanted or known:
        fit = {key: item for key, item in known.items() if key == name or key.startswith(f"{name}.")}
        if not fit:
            raise UnknownName(no_such("experiment", name, known, "see fairalloc simulate --list"))
        found |= fit
    return list(found.values())
