"""Two profiles of the tests: `quick`, which `make test` and a plain pytest run, and `deep`, which `make test-deep` runs.

A test is deep by its marks:

- `deep`: all its cases are, or the one that has the mark,
- `few(n)`: n of its cases, which differ in as many parameters as can be, are quick, and the others deep,
- of Hypothesis: the quick profile draws a part of its examples (`drawn`), the deep profile draws all.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

QUICK, ALL = 25, 100
"""Of 100 examples of a Hypothesis test, those of the two profiles."""
LEAST = 4
"""A test draws so many examples, where it asks for more."""
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
"""Seconds are those of the machine: a slow one fails no test."""
REPEATED = {"derandomize": True, "print_blob": True}
"""In CI: the same examples in every run, and a blob for `@reproduce_failure`."""

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
for name, most in {"quick": QUICK, "deep": ALL}.items():
    settings.register_profile(name, max_examples=most, **UNTIMED, **(REPEATED if IN_CI else {}))
settings.load_profile("quick")


def drawn(count):
    """How many of so many examples are drawn in the profile that runs."""
    return max(min(LEAST, count), count * settings.default.max_examples // ALL)


def representatives(cases, count):
    """The numbers of `count` cases, sets of values: each adds as many new values as can be, far from those before it."""
    apart, chosen, seen = dict.fromkeys(range(len(cases)), len(cases)), [], set()  # how far each is from those chosen
    while apart and len(chosen) < count:
        best = max(apart, key=lambda k: (len(cases[k] - seen), apart[k]))
        chosen.append(best)
        seen |= cases[best]
        apart = {k: min(far, abs(k - best)) for k, far in apart.items() if k != best}
    return chosen


class Profiles:
    """Marks what is deep, and counts what was left out."""

    def __init__(self, config):
        self.config, self.left_out = config, 0
        self.deep = config.option.markexpr != "not deep"
        settings.load_profile("deep" if self.deep else "quick")

    def pytest_report_header(self):
        return f"tests and examples: {'deep' if self.deep else 'quick'}{', repeated as in CI' if IN_CI else ''}"

    @pytest.hookimpl(tryfirst=True)  # before pytest leaves out by marks
    def pytest_collection_modifyitems(self, items):
        families = {}
        for item in items:
            if item.get_closest_marker("few") and not item.get_closest_marker("deep"):
                families.setdefault(item.nodeid.partition("[")[0], []).append(item)
            if self.deep and getattr(item.obj, "is_hypothesis_test", False):
                item.add_marker("deep")
        for family in families.values():
            kept = representatives(
                [set(item.callspec.indices.items()) for item in family], family[0].get_closest_marker("few").args[0]
            )
            for number in {*range(len(family))} - {*kept}:
                family[number].add_marker("deep")

    def pytest_deselected(self, items):
        self.left_out += sum(item.get_closest_marker("deep") is not None for item in items)
        if hasattr(self.config, "workeroutput"):  # a process of pytest-xdist
            self.config.workeroutput["left_out"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.left_out = getattr(node, "workeroutput", {}).get("left_out", self.left_out)

    def pytest_terminal_summary(self, terminalreporter):
        if self.left_out:
            terminalreporter.write_line(f"{self.left_out} deep tests were left out: make test-deep runs them")
