"""Bad values of every argument of every public function, made from the signatures: each works, or is refused in one sentence.

A public function is whatever `fairalloc.__all__` and the modules in it name, with the methods of public classes. A new one is
found by itself; what it needs besides, by the names of its parameters, is in `GOOD`.
"""

import inspect
import shutil
import signal
import traceback
import types
from collections.abc import Callable, Mapping
from fractions import Fraction

import matplotlib.pyplot as figures
import numpy as np
import pytest

import fairalloc as fa
from fairalloc import benchmarks, simulation
from fairalloc.analysis.tradeoff import tradeoff
from fairalloc.models.examples import traces
from fairalloc.simulation import accounting, files, metrics, over_time, workloads

SECONDS = 5.0
"""Seconds of computing after which a call has hung."""


class Mute:
    """A value that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no words")


POOL = [
    *(
        None,
        True,
        -1,
        0,
        2.5,
        1e308,
        float("nan"),
        float("inf"),
        10**400,
        -(10**400),
        Fraction(1, 3),
        "",
        "x",
        "\ud800",
        "a\0b",
        b"x",
    ),
    *([], {}, [None], [10**400], [Mute()], {"x": Mute()}, {1: 2}, range(3), int, lambda: 0, Mute(), object()),
    *(np.zeros(0), np.full(4, np.nan), np.zeros((2, 2), object), np.dtype(object), np.array("x"), np.float64("nan"), np.int8(-3)),
]

WANG = fa.example("wang-fig2").instance
POOLED = fa.example("wang-pool").instance
ANSWER = fa.solve(WANG, "drfh")


def wang():
    return WANG


NB = fa.solve(WANG, "nb")
CLAIM = fa.claim("tasks are tasks", "drf", lambda allocation: True)
TRADEOFF = tradeoff(fa.example("khamse-fig3").instance, [1, "inf"])
CLUSTER = simulation.Cluster(("cpu",), np.array([[1.0]]))
SUITE = benchmarks.Suite("one", "one case", (benchmarks.SuiteCase("wang", "drfh", wang),), ("highs",), repeats=1)
WORKLOAD = simulation.Workload(("cpu",), ("u",), [1.0], [0], [0.0], [1], [1.0], [[0.1]])
LOG = simulation.simulate_tasks(WORKLOAD, CLUSTER, "first-fit-drfh")

GOOD = {
    "layer": "cvxpy",
    "alias": "drfh",
    "instance": WANG,
    "instances": [WANG],
    "allocation": ANSWER,
    "mechanism": "drfh",
    "property": "pareto",
    "demands": [[1]],
    "capacities": [[1]],
    "x": ANSWER.x,
    "text": "a claim",
    "name": "drfh",
    "id": "mine",
    "method": "highs",
    "format": "lp",
    "n_users": 2,
    "n_servers": 2,
    "n_resources": 2,
    "trials": 1,
    "mechanisms": ["drf"],
    "properties": ["pareto"],
    "path": "nowhere",
    "folder": "nowhere",
    "table": "machine_events",
    "workload": WORKLOAD,
    "cluster": CLUSTER,
    "scheduler": "first-fit-drfh",
    "objective": "sum",
    "answer": ANSWER,
    "n": 0,
    "share": lambda instance: np.ones(instance.N),
    "given": "",
    "item": ANSWER,
    "panels": {"one": {"a method": [1.0, 2.0]}},
    "points": {"a method": [(1.0, 2.0)]},
    "traces": {"a method": [(1.0, 2.0)]},
    "peaks": {"a method": (1.0, 2.0)},
    "server": "s1",
    "suite": SUITE,
    "records": "records.sqlite",
    "methods": ["highs"],
    "before": "records.sqlite",
    "now": "records.sqlite",
    "paths": ["one.json"],
    "file": "figure.svg",
    "source": "example",
    "arguments": {},
    "hash": "",
    "answers": {},
    "axioms": ["pareto"],
    "buyers": 2,
    "goods": 2,
    "flows": 2,
    "links": 4,
    "users": "users.csv",
    "servers": "servers.csv",
    "comparison": fa.compare(WANG, ["drfh"]),
    "there": [0, 1],
    "log": LOG,
    "times": [0.0, 1.0],
    "shares": np.ones(2),
    "values": np.ones(2),
    "texts": ("user",),
    "missing": {},
    "files": ["vm.csv"],
    "task_events": ["tasks.csv"],
    "machine_events": ["machines.csv"],
    "known": ["generated"],
}
"""A good value for each parameter that has no default, and for those whose default takes long."""

ALWAYS = {"trials", "mechanisms", "properties"}
OWN = {
    "mechanism": {"name": "drfh"},
    "Utility": {"marginal": lambda z: 1 / z},
    "example": {"name": "wang-fig2"},
    "show": {"what": WANG},
    "Suite": {"id": "one", "title": "one case", "cases": SUITE.cases},
    "SuiteCase": {"build": wang},
    "run": {"progress": False},
    "find_suite": {"name": "first"},
    "suite_of": {"mechanisms": ["drfh"]},
    "search": {"time_limit": 0.05},
    "property_matrix": {"time_limit": 0.05},
    "market": {"allocation": NB},
    "Frozen": {"size": (2, 2, 2, 4)},
    "Conflict": {"size": (1, 1, 1), "mechanisms": {}, "profile": []},
    "conflict": {"size": "1x1x1", "time_limit": 0.05},
    "arrival_model": {"before": [0.0, 0.0]},
    "Workload": {name: getattr(WORKLOAD, name) for name in ("resources", "users", "arrival", "tasks", "duration", "demand")}
    | {"weights": [1.0], "job_user": [0]},
    "Cluster": {"resources": ["cpu"], "capacities": [[1.0]]},
    "Memory": {"half_life": 1.0},
    "planted": {"mechanism": "drfh"},
    "solution_set": {"instance": POOLED, "mechanism": "njc"},
    "convergence": {"item": [{"iteration": 1, "residual": 0.1}]},
    **{name: {"item": TRADEOFF} for name in ("frontier", "server_shares", "sweep")},
    **{name: {"source": "generated"} for name in ("google_tasks", "google_intervals", "bitbrains_instant")},
}
"""Good values of single functions."""

HOOKS = {
    "Mechanism": "check_complete check_groups kept settled domain home canonical unwritten prices model_prices"
    " values marginal residual user_errors measured cvxpy pyomo write_cvxpy write_pyomo refuse_others first_values",
    "Leximin": "domain rate exact_rate canonical model_prices proofs write_cvxpy write_pyomo lp values residual",
    "Method": "computes applies open compile starts missing is_available versions run compute",
    "Property": "verdict",
    "Instance": "chosen rescaled",
    "Hypotheses": "sample impose satisfied_by broken",
}
"""Methods that the package calls, with arguments that it has checked."""

RECORDS = {"Case", "Certificate", "Claim", "ClaimResult", "Explanation", "Matrix", "Mechanism", "Method", "Misreport"}
RECORDS |= {"NotCertified", "PricedAllocation", "Property", "Sensitivity", "SolutionSet", "Verdict", "Overview"}
RECORDS |= {"Example", "MechanismComparison", "Summary", "Comparisons", "CostChange"}
RECORDS |= {"Arrival", "FluidLog", "FluidStep", "Scheduler", "TaskLog"}
"""Classes that the package makes, or that are subclassed: what is put into them is not read before it is used."""


def functions():
    """(name, function, good values) of everything that a user may call."""
    modules = {
        "fa": fa,
        "generators": fa.generators,
        "plots": fa.plots,
        "traces": traces,
        "simulation": simulation,
        "workloads": workloads,
        "benchmarks": benchmarks,
        **{f"simulation.{module.__name__.rpartition('.')[2]}": module for module in (accounting, files, metrics, over_time)},
    }
    for place, module in modules.items():
        defined = [name for name, item in vars(module).items() if inspect.isfunction(item) and item.__module__ == module.__name__]
        for name in getattr(module, "__all__", [name for name in defined if not name.startswith("_")]):
            item = getattr(module, name)
            if inspect.isclass(item):
                if place in ("fa", "benchmarks", "simulation") and not issubclass(item, BaseException) and name not in RECORDS:
                    yield f"{place}.{name}", item
            elif callable(item) and name != "pod_name" and not isinstance(item, Mapping | types.ModuleType):
                yield f"{place}.{name}", item
    samples = [WANG, ANSWER, fa.mechanism("fds"), CLAIM, fa.Hypotheses(), fa.show(WANG), fa.certify(ANSWER)]
    samples += [fa.compare(WANG, ["drfh"])]
    samples += [fa.solution_set(POOLED, "njc"), fa.sensitivity(ANSWER), fa.explain(ANSWER)]
    samples += [fa.property_matrix(["drf"], ["pareto"], trials=1)]
    for sample in samples:
        for kind in type(sample).__mro__:
            if kind.__module__.startswith("fairalloc") and kind.__name__ in fa.__all__:
                for name in vars(kind):
                    called = getattr(sample, name)
                    plain = inspect.ismethod(called) and not name.startswith("_")
                    if plain and name not in HOOKS.get(kind.__name__, "").split() and inspect.signature(called).parameters:
                        yield f"{kind.__name__}.{name}", called


CALLS = dict(functions())


def is_function(parameter):
    hint = parameter.annotation
    return getattr(hint, "__origin__", None) is Callable


def good(name, parameters):
    """Arguments with which the function works."""
    own = OWN.get(name.rpartition(".")[2], {})
    given = {}
    for parameter, item in parameters.items():
        needed = item.default is inspect.Parameter.empty and item.kind is not inspect.Parameter.VAR_KEYWORD
        if parameter in own:
            given[parameter] = own[parameter]
        elif needed or parameter in ALWAYS:
            given[parameter] = GOOD[parameter]
    return given


def fault_of(function, parameters, arguments):
    """What is wrong with how the function takes these arguments, or ""."""
    first = [arguments.pop(name) for name, item in parameters.items() if item.kind is inspect.Parameter.POSITIONAL_ONLY]
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        function(*first, **arguments)
    except fa.FairallocError as error:
        return "" if "\n" not in str(error) and len(str(error)) < 1000 else f"no sentence: {error}"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        figures.close("all")
    return ""


class Hung(BaseException):
    """A call did not end."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with the records of two runs, and a file with an instance."""
    folder = tmp_path_factory.mktemp("measured")
    fa.write_instance(WANG, folder / "one.json")
    for _ in range(2):
        summary = benchmarks.run(SUITE, folder / "records.sqlite", progress=False)
    GOOD.update(summary=summary, record=summary.records[0])
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if "[benchmarks." in request.node.name:
        shutil.copytree(request.getfixturevalue("measured"), tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def stop(*_):
        raise Hung

    before = signal.signal(signal.SIGPROF, stop)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.deep) if n.startswith("benchmarks.") else n for n in CALLS])
def test_every_argument_of_every_function(name):
    """A value of the pool in place of each argument, one after the other."""
    function = CALLS[name]
    parameters = inspect.signature(function).parameters
    wrong = []
    for parameter, item in parameters.items():
        place = "nonsense" if item.kind is inspect.Parameter.VAR_KEYWORD else parameter
        for k, value in enumerate(POOL):
            if callable(value) and is_function(item):
                continue  # what a function of the caller raises is the caller's
            if fault := fault_of(function, parameters, good(name, parameters) | {place: value}):
                wrong.append(f"{parameter} = POOL[{k}]: {fault}")
    assert not wrong, "\n".join(wrong)
