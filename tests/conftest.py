"""Every test asserts; what is skipped because a solver is not there is counted; profiles.py says which tests run.

The assertions that pass in an item are counted, and an item in which none ran fails. What counts: `assert` in tests/ (pytest
rewrites other packages too, such as Hypothesis: theirs do not), `pytest.raises`, `pytest.warns`, and numpy.testing's comparisons
of arrays that have an entry. A test whose assertions run elsewhere, such as in another process, says where:
`@pytest.mark.asserts_elsewhere("in the notebook")`.

Coverage multiplies the time of Python code by two. What is not measured can only lower it:

- a forked child, which ends by os._exit: what it would have measured is never written,
- the processes that tests start, but those of tests/runs: they run what is tested in one process too,
- a test that is marked `unmeasured`, with its fixtures: it repeats at length what quicker tests run,
- a test of many seeds, from the fourth seed on: it runs the same code on another instance.

Nothing is counted with `-o enable_assertion_pass_hook=false`: a Hypothesis test that fails shrinks several times faster so,
because pytest need not put into words what Hypothesis asserts.
"""

import contextlib
import functools
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from _pytest.assertion import util
from profiles import Profiles

TESTS = Path(__file__).parent
ROOT = TESTS.parent
HELPERS = ("changed_certificates", "figure_texts", "hand_made", "plain_judges", "planted_games", "strategies", "tolerances")
SEEDS = 3
"""Coverage is measured for so many values of a parameter `seed`, each with all other parameters."""
BETWEEN = {"_pytest", "pluggy"}
"""The packages whose frames stand between an assertion and the hook that reports it."""

os.environ.setdefault("MPLBACKEND", "Agg")  # figures open no windows

pytest.register_assert_rewrite(*HELPERS)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=functools.partial(sys.settrace, None))


@pytest.fixture
def without_matplotlib(monkeypatch):
    """No module of Matplotlib can be imported, whichever were before."""
    for name in ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(autouse=True)
def no_figures_stay_open():
    """Matplotlib's pyplot keeps what it has opened, and says so from the twentieth figure on."""
    yield
    if "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib.pyplot"] is not None:
        sys.modules["matplotlib.pyplot"].close("all")


@contextlib.contextmanager
def measured(item):
    """Coverage of what the item runs and starts, or of less."""
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        if item.path.parent != TESTS / "runs":
            patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        if item.get_closest_marker("unmeasured"):
            stack.callback(sys.settrace, sys.gettrace())
            sys.settrace(None)
        yield


def pytest_collection_modifyitems(items):
    """Of each test with a parameter `seed` its later values are not measured."""
    seeded = [item for item in items if hasattr(item, "callspec") and "seed" in item.callspec.params]
    seeds = {(item.path, item.originalname): set() for item in seeded}
    for item in seeded:
        seeds[item.path, item.originalname].add(item.callspec.params["seed"])
    for item in seeded:
        if item.callspec.params["seed"] not in sorted(seeds[item.path, item.originalname])[:SEEDS]:
            item.add_marker("unmeasured")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    # A shell's background job ignores it, and libraries in C leave handlers: tests of Ctrl-C would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with measured(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with measured(item):
        return (yield)


class Assertions:
    """The assertions that passed in the item that runs; an item that ends without any fails."""

    def __init__(self):
        self.passed = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        self.passed = 0
        result = yield
        if not self.passed and not item.get_closest_marker("asserts_elsewhere"):
            pytest.fail("no assertion ran in this test", pytrace=False)
        return result

    def pytest_assertion_pass(self):
        self.passed += in_tests(sys._getframe(1))
        if self.passed:  # one is enough: pytest need not put the others of this item into words, which costs most of its time
            util._assertion_pass = None

    def counted(self, function, seen=lambda *_: True):
        """The function, which also counts as an assertion where it has seen something."""

        @functools.wraps(function)
        def counting(*args, **kwargs):
            self.passed += seen(*args)
            return function(*args, **kwargs)

        return counting


def in_tests(frame):
    """Whether the innermost frame that is not pytest's own runs code of tests/."""
    while frame.f_globals["__name__"].partition(".")[0] in BETWEEN:
        frame = frame.f_back
    return TESTS in Path(frame.f_code.co_filename).parents


def has_entries(actual, *_):
    """Whether a comparison of arrays compares anything."""
    return np.size(actual) > 0


def pytest_configure(config):
    config.pluginmanager.register(Profiles(config), "profiles")
    if not config.getini("enable_assertion_pass_hook"):
        return
    forget_uncounted_code()
    assertions = Assertions()
    config.pluginmanager.register(assertions, "assertions")
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for name in ("raises", "warns"):
        patch.setattr(pytest, name, assertions.counted(getattr(pytest, name)))
    for name in ("assert_allclose", "assert_array_equal"):
        patch.setattr(np.testing, name, assertions.counted(getattr(np.testing, name), has_entries))


def forget_uncounted_code():
    """Remove compiled tests that are older than the settings: they may not report their assertions."""
    changed = (ROOT / "pyproject.toml").stat().st_mtime
    for compiled in TESTS.rglob("*-pytest-*.pyc"):
        if compiled.stat().st_mtime < changed:
            compiled.unlink(missing_ok=True)


def pytest_terminal_summary(terminalreporter):
    elsewhere = sum("asserts_elsewhere" in report.keywords for report in terminalreporter.getreports("passed"))
    if elsewhere:
        terminalreporter.write_line(f"{elsewhere} tests assert elsewhere")
    reasons = (report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    missing = Counter(reason for reason in reasons if " needs " in reason)
    for reason, count in sorted(missing.items()):
        method, _, needed = reason.partition(" needs ")
        terminalreporter.write_line(f"{count} tests of {method} were skipped: it needs {needed}")
