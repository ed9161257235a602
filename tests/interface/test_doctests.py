"""Every example in a docstring runs, on the installed names: a plain --doctest-modules would import each file twice."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import matplotlib.pyplot as plt

PACKAGES = ("fairalloc", *(f"fairalloc.{path.parent.name}" for path in Path(__file__).parents[2].glob("*/__init__.py")))


def modules():
    """Every module of every package; the folders are siblings in the tree, so one walk does not find them."""
    for name in sorted(set(PACKAGES) - {"fairalloc.fairalloc"}):
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(found.name)


def test_docstring_examples():
    tried = 0
    for name, module in {module.__name__: module for module in modules()}.items():
        result = doctest.testmod(module)
        plt.close("all")
        assert result.failed == 0, name
        tried += result.attempted
    assert tried >= 10
